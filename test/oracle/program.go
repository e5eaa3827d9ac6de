package oracle

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/oracle/controller/wire"
)

// Build compiles the program of a minor version, "v1.37", into dir and returns
// its path.
func Build(minor, dir string) (string, error) {
	path := filepath.Join(dir, minor)
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Dir = minor
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the controller of %s: %w\n%s", minor, err, out)
	}
	return path, nil
}

// Program is a running controller of one version. It answers one question at
// a time; several goroutines may ask.
type Program struct {
	lock     sync.Mutex
	cmd      *exec.Cmd
	requests *json.Encoder
	answers  *json.Decoder
	stop     func() error
	stderr   tail
}

// Start runs a program that Build made.
func Start(path string) (*Program, error) {
	p := &Program{cmd: exec.Command(path)}
	p.cmd.Stderr = &p.stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	p.requests, p.answers, p.stop = json.NewEncoder(in), json.NewDecoder(bufio.NewReader(out)), in.Close
	return p, nil
}

// Ask returns what the real controller does with a state, over several runs.
// No runs asks for the placement only. A burst of 0 is the controller's own.
func (p *Program) Ask(s *snapshot.Snapshot, runs int, seed int64, burst int) (wire.Answer, error) {
	state, err := snapshot.Encode(s)
	if err != nil {
		return wire.Answer{}, err
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if err := p.requests.Encode(wire.Request{State: state, Runs: runs, Seed: seed, Burst: burst}); err != nil {
		return wire.Answer{}, fmt.Errorf("ask the controller: %w\n%s", err, &p.stderr)
	}
	var a wire.Answer
	if err := p.answers.Decode(&a); err != nil {
		return wire.Answer{}, fmt.Errorf("the controller's answer: %w\n%s", err, &p.stderr)
	}
	if a.Failed != "" {
		return wire.Answer{}, fmt.Errorf("the controller's program: %s", a.Failed)
	}
	return a, nil
}

// Stop ends the program.
func (p *Program) Stop() error {
	p.lock.Lock()
	defer p.lock.Unlock()
	if err := p.stop(); err != nil {
		return fmt.Errorf("stop the controller: %w", err)
	}
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("the controller's program: %w\n%s", err, &p.stderr)
	}
	return nil
}

// tail keeps the end of what is written to it: the controller logs a lot, and
// only its last words matter.
type tail struct {
	lock sync.Mutex
	buf  []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	const most = 1 << 14
	t.buf = append(t.buf, b...)
	if len(t.buf) > most {
		t.buf = bytes.Clone(t.buf[len(t.buf)-most:])
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.lock.Lock()
	defer t.lock.Unlock()
	return string(t.buf)
}
