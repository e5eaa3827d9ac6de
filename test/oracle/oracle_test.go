package oracle

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// number returns an environment variable's number, or another one.
func number(t *testing.T, name string, otherwise int64) int64 {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		t.Fatalf("%s=%q is no number", name, v)
	}
	return n
}

// newest is the folder of the program whose version dstest.Random draws for.
const newest = "v1.37"

var program struct {
	dir  string
	once sync.Once
	path string
	err  error
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "oracle")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	program.dir = dir
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// start runs the real controller so many times for one test, and builds it for
// the first.
func start(t *testing.T, count int) []*Program {
	t.Helper()
	program.once.Do(func() { program.path, program.err = Build(newest, program.dir) })
	if program.err != nil {
		t.Fatal(program.err)
	}
	var programs []*Program
	for range count {
		p, err := Start(program.path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := p.Stop(); err != nil {
				t.Error(err)
			}
		})
		programs = append(programs, p)
	}
	return programs
}

// each calls do for every number below n, on so many goroutines as there are
// programs.
func each(programs []*Program, n int, do func(p *Program, i int)) {
	next := make(chan int)
	var wg sync.WaitGroup
	for _, p := range programs {
		wg.Go(func() {
			for i := range next {
				do(p, i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

func newState(s *snapshot.Snapshot) (*daemonset.State, error) {
	profile, err := daemonset.ForVersion(s.KubernetesVersion)
	if err != nil {
		return nil, err
	}
	return daemonset.New(s, profile)
}

// tally counts, for several goroutines.
type tally struct {
	lock sync.Mutex
	of   map[string]int
}

func (c *tally) add(name string, n int) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.of == nil {
		c.of = map[string]int{}
	}
	c.of[name] += n
}

func (c *tally) String() string {
	c.lock.Lock()
	defer c.lock.Unlock()
	names := slices.SortedFunc(maps.Keys(c.of), func(a, b string) int { return cmp.Or(c.of[b]-c.of[a], strings.Compare(a, b)) })
	parts := make([]string, 0, len(names))
	for _, n := range names {
		parts = append(parts, fmt.Sprintf("%s %d", n, c.of[n]))
	}
	return strings.Join(parts, ", ")
}
