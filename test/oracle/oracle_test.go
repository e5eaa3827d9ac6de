package oracle

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// number returns the number in an environment variable, or a default.
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

// perVersion returns the number of cases for a version from the variables NAME and NAME_OTHERS.
func perVersion(t *testing.T, version, name string, newest, others int64) int {
	t.Helper()
	if version == dstest.Newest {
		return int(number(t, name, newest))
	}
	return int(number(t, name+"_OTHERS", min(number(t, name, others), others)))
}

// usual are the default of ORACLE_VERSIONS: one version for each kind of rolling update, and the
// newest.
const usual = "v1.17.4 v1.22.17 v1.30.14 " + dstest.Newest

// versions returns the versions of ORACLE_VERSIONS: "all", or a list, which may include programs of
// ORACLE_PROGRAMS.
func versions(t *testing.T) []string {
	t.Helper()
	known, err := Versions()
	if err != nil {
		t.Fatal(err)
	}
	asked := cmp.Or(os.Getenv("ORACLE_VERSIONS"), usual)
	if asked == "all" {
		return known
	}
	for v := range strings.FieldsSeq(asked) {
		if _, err := os.Stat(filepath.Join(os.Getenv("ORACLE_PROGRAMS"), v)); !slices.Contains(known, v) && err != nil {
			t.Fatalf("ORACLE_VERSIONS=%q: there is no program of %s, only of %v", asked, v, known)
		}
	}
	return strings.Fields(asked)
}

// eachVersion runs a test for every requested version.
func eachVersion(t *testing.T, test func(t *testing.T, version string)) {
	t.Helper()
	for _, v := range versions(t) {
		t.Run(v, func(t *testing.T) { test(t, v) })
	}
}

var built struct {
	dir    string
	lock   sync.Mutex
	byName map[string]string
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "oracle")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	built.dir, built.byName = dir, map[string]string{}
	if keep := os.Getenv("ORACLE_PROGRAMS"); keep != "" {
		built.dir = keep
	}
	code := m.Run()
	fmt.Print(&results)
	if path := os.Getenv("ORACLE_COVERAGE"); path != "" {
		if err := os.WriteFile(path, []byte(coverage.Report()), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// program returns the path of a version's program. It builds the program first, unless
// ORACLE_PROGRAMS contains it.
func program(t testing.TB, version string) string {
	t.Helper()
	built.lock.Lock()
	defer built.lock.Unlock()
	if path := built.byName[version]; path != "" {
		return path
	}
	path := filepath.Join(built.dir, version)
	if _, err := os.Stat(path); err != nil {
		if path, err = Build(version, built.dir); err != nil {
			t.Fatal(err)
		}
	}
	built.byName[version] = path
	return path
}

// start starts count controllers of a version, with the feature gates that its Profile assumes.
func start(t testing.TB, version string, count int) []*Program {
	t.Helper()
	path := program(t, version)
	profile, err := daemonset.ForVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	var gates []string
	if profile.TolerationComparison {
		gates = append(gates, "TaintTolerationComparisonOperators=true")
	}
	var programs []*Program
	for range count {
		p, err := Start(path, gates...)
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

// each calls do for every number below n, on one goroutine for each program.
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

// coverage is what all compared states exercised.
var coverage Coverage

// results is printed at the end of the run: what was compared for each version.
var results report

type report struct {
	lock sync.Mutex
	of   map[string]map[string]int // by version and column
}

// columns are the columns of the report, in order.
var columns = []string{"states", "syncs", "choices run 60 times", "rollouts", "their syncs", "what-ifs", "differences"}

func (r *report) add(version, column string, n int) {
	if !slices.Contains(columns, column) {
		panic(column)
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.of == nil {
		r.of = map[string]map[string]int{}
	}
	if r.of[version] == nil {
		r.of[version] = map[string]int{}
	}
	r.of[version][column] += n
}

func (r *report) String() string {
	r.lock.Lock()
	defer r.lock.Unlock()
	if len(r.of) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n| version | %s |\n| --- |%s\n", strings.Join(columns, " | "), strings.Repeat(" ---: |", len(columns)))
	for _, v := range slices.SortedFunc(maps.Keys(r.of), compareVersions) {
		fmt.Fprintf(&b, "| %s |", strings.TrimPrefix(v, "v"))
		for _, c := range columns {
			fmt.Fprintf(&b, " %d |", r.of[v][c])
		}
		b.WriteByte('\n')
	}
	return b.String()
}
