package oracle

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

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/oracle/controller/wire"
)

// Versions returns the Kubernetes versions that have a program, oldest first.
func Versions() ([]string, error) {
	files, err := filepath.Glob("program/versions/*.mod")
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, errors.New("no version in program/versions: run this in test/oracle")
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
		return "", fmt.Errorf("build the controller of %s: %w\n%s", version, err, out)
	}
	return path, nil
}

// Program is a running controller of one version. It answers one question at a time and is safe for
// concurrent use.
type Program struct {
	lock     sync.Mutex
	cmd      *exec.Cmd
	requests *json.Encoder
	answers  *json.Decoder
	stop     func() error
	stderr   tail
}

// Start runs a program that Build compiled, with feature gates such as "Name=true".
func Start(path string, gates ...string) (*Program, error) {
	p := &Program{cmd: exec.Command(path, gates...)}
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

// Ask returns what the real controller does with a state, in several runs. If runs is 0, it returns
// only the placement. If burst is 0, the controller's own limit applies.
func (p *Program) Ask(s *snapshot.Snapshot, runs int, seed int64, burst int) (wire.Answer, error) {
	return p.exchange(s, wire.Request{Runs: runs, Seed: seed, Burst: burst})
}

// Measured returns the time and allocations of one sync of the real controller, run several times
// without a real PodControl.
func (p *Program) Measured(s *snapshot.Snapshot, runs int) ([]wire.Run, error) {
	a, err := p.exchange(s, wire.Request{Runs: runs, NoPods: true})
	return a.Runs, err
}

// Refused returns what the real controller does in one sync if the API server rejects every create
// and delete of a pod.
func (p *Program) Refused(s *snapshot.Snapshot) (wire.Run, error) {
	a, err := p.exchange(s, wire.Request{Runs: 1, Refuse: true})
	if err != nil {
		return wire.Run{}, err
	}
	return a.Runs[0], nil
}

var errTooSlow = errors.New(wire.TooSlow)

// Follow returns what the real controller of a trace does in its next sync.
func (p *Program) Follow(s *snapshot.Snapshot, how wire.Trace) (wire.Answer, error) {
	return p.exchange(s, wire.Request{Trace: how})
}

func (p *Program) exchange(s *snapshot.Snapshot, r wire.Request) (wire.Answer, error) {
	var err error
	if r.State, err = snapshot.Encode(s); err != nil {
		return wire.Answer{}, err
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if err := p.requests.Encode(r); err != nil {
		return wire.Answer{}, fmt.Errorf("ask the controller: %w\n%s", err, &p.stderr)
	}
	var a wire.Answer
	if err := p.answers.Decode(&a); err != nil {
		return wire.Answer{}, fmt.Errorf("the controller's answer: %w\n%s", err, &p.stderr)
	}
	if a.Failed == wire.TooSlow {
		return wire.Answer{}, errTooSlow
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

// tail keeps the end of what is written to it, because the controller logs much and only its last
// lines matter.
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
