package scheduler

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kubectl-ds/kubectl-ds/test/scheduler/wire"
)

// Versions returns the Kubernetes versions whose scheduler can be built, oldest first.
func Versions() ([]string, error) {
	files, err := filepath.Glob("program/versions/*.mod")
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, errors.New("no version in program/versions: run this in test/scheduler")
	}
	versions := make([]string, 0, len(files))
	for _, f := range files {
		versions = append(versions, strings.TrimSuffix(filepath.Base(f), ".mod"))
	}
	slices.SortFunc(versions, compareVersions)
	return versions, nil
}

// compareVersions compares two versions; the older one is less.
func compareVersions(a, b string) int {
	return cmp.Or(slices.Compare(versionNumbers(a), versionNumbers(b)), strings.Compare(a, b))
}

func versionNumbers(v string) []int {
	var numbers []int
	for part := range strings.SplitSeq(strings.TrimPrefix(v, "v"), ".") {
		n, _ := strconv.Atoi(part) // what is not a number comes first
		numbers = append(numbers, n)
	}
	return numbers
}

// Build compiles the program of a version, such as "v1.37.1", into dir and returns its path.
func Build(version, dir string) (string, error) {
	path := filepath.Join(dir, version)
	if out, err := exec.Command("program/build.sh", version, path).CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the scheduler of %s: %w\n%s", version, err, out)
	}
	return path, nil
}

// Program is a running scheduler of one version. It answers one question at a time and is safe for
// concurrent use.
type Program struct {
	lock     sync.Mutex
	cmd      *exec.Cmd
	requests *json.Encoder
	answers  *json.Decoder
	stop     func() error
	stderr   tail
}

// Start runs a program that Build compiled.
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

// Ask returns the decision of the real scheduler about a state.
func (p *Program) Ask(s *State, orders int, seed int64) (wire.Answer, error) {
	state, err := json.Marshal(s)
	if err != nil {
		return wire.Answer{}, err
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if err := p.requests.Encode(wire.Request{State: state, Orders: orders, Seed: seed}); err != nil {
		return wire.Answer{}, fmt.Errorf("ask the scheduler: %w\n%s", err, &p.stderr)
	}
	var a wire.Answer
	if err := p.answers.Decode(&a); err != nil {
		return wire.Answer{}, fmt.Errorf("the scheduler's answer: %w\n%s", err, &p.stderr)
	}
	if a.Failed != "" {
		return wire.Answer{}, fmt.Errorf("the scheduler's program: %s", a.Failed)
	}
	return a, nil
}

// Stop ends the program.
func (p *Program) Stop() error {
	p.lock.Lock()
	defer p.lock.Unlock()
	if err := p.stop(); err != nil {
		return fmt.Errorf("stop the scheduler: %w", err)
	}
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("the scheduler's program: %w\n%s", err, &p.stderr)
	}
	return nil
}

// tail keeps the end of what is written to it, because the scheduler logs a lot and only its last lines matter.
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
