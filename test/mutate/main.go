// Command mutate changes pkg/daemonset, pkg/fit or pkg/admission at one place and checks whether a
// test or the oracle notices. The exit status is 1 if a mutant survives. README.md describes the
// flags, the candidates and how it works.
//
//	go run ./test/mutate [-seed 1] [-n 60] [-package pkg/fit]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// target is a package that can be mutated.
type target struct {
	rules       string   // the package, relative to the root of the module
	oracle      string   // folder below test of the oracle; empty: none
	programs    string   // environment variable of the oracle for the folder of its programs
	states      []string // environment variables for the number of random states of the newest version
	equivalents []equivalent
}

var targets = []target{
	{"pkg/daemonset", "oracle", "ORACLE_PROGRAMS", []string{"ORACLE_STATES", "ORACLE_PLACEMENTS"}, equivalents},
	{"pkg/fit", "scheduler", "SCHEDULER_PROGRAMS", []string{"SCHEDULER_STATES"}, fitEquivalents},
	{"pkg/admission", "", "", nil, admissionEquivalents},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

type options struct {
	target  target
	seed    uint64
	n       int
	all     bool
	list    bool
	only    string
	at      string
	timeout time.Duration
	oracle  bool
	own     bool
	states  int
}

func parseOptions(args []string) (o options, err error) {
	flags := flag.NewFlagSet("mutate", flag.ContinueOnError)
	broken := flags.String("package", targets[0].rules, "the package that is broken: pkg/daemonset, pkg/fit or pkg/admission")
	flags.Uint64Var(&o.seed, "seed", 1, "which mutants are drawn")
	flags.IntVar(&o.n, "n", 60, "how many, at least")
	flags.BoolVar(&o.all, "all", false, "every candidate")
	flags.BoolVar(&o.list, "list", false, "print the candidates and try none")
	flags.StringVar(&o.only, "only", "", "draw from this file only, as place.go")
	flags.StringVar(&o.at, "at", "", "every candidate of this line, as place.go:178")
	flags.DurationVar(&o.timeout, "timeout", 5*time.Minute, "for the tests of one package; a mutant that takes longer is caught")
	flags.BoolVar(&o.oracle, "oracle", true, "ask the real controllers or schedulers about what no test catches")
	flags.BoolVar(&o.own, "own", false, "ask the tests of the package alone, which takes a fraction of the time")
	flags.IntVar(&o.states, "states", 1000, "how many random states the oracle draws of the newest version")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	i := slices.IndexFunc(targets, func(t target) bool { return t.rules == *broken })
	if i < 0 {
		return o, fmt.Errorf("%q is no package that can be broken here", *broken)
	}
	o.target = targets[i]
	return o, nil
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	s, err := read(".", o.target.rules)
	if err != nil {
		return err
	}
	d := &draw{source: s, all: s.candidates(), result: map[int]verdict{}}
	if o.list {
		for _, m := range d.all {
			fmt.Fprintln(out, m)
		}
		return nil
	}
	if d.equal, err = claims(d.all, o.target.equivalents); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	root, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	began := time.Now()
	fmt.Fprintf(out, "building %d candidates of %s, and what judges them\n", len(d.all), o.target.rules)
	j := &judges{target: o.target, root: root, scratch: scratch, timeout: o.timeout, own: o.own}
	if d.bad, err = j.build(ctx, s, d.all, o.oracle && !o.own && o.target.oracle != "", o.target.env(scratch, o.states)); err != nil {
		return err
	}
	if err := d.choose(o); err != nil {
		return err
	}
	switch v, err := j.try(ctx, 0, true); {
	case err != nil:
		return err
	case v.by != byNobody:
		return fmt.Errorf("unchanged, it fails already: %s: %s", v.by, v.with)
	}
	fmt.Fprintf(out, "%d compile, and unchanged all pass (%s); %d drawn by seed %d\n\n", len(d.all)-len(d.bad), time.Since(began).Round(time.Second), len(d.drawn), o.seed)
	for _, i := range d.drawn {
		_, equal := d.equal[i]
		if d.result[i], err = j.try(ctx, i+1, !equal); err != nil {
			return fmt.Errorf("%s: %w", d.all[i], err)
		}
		d.line(out, i)
	}
	fmt.Fprintln(out)
	return d.report(out, time.Since(began))
}

// env returns the environment for a short run of the oracle that keeps its programs for the next
// mutant. Existing variables take precedence.
func (t target) env(scratch string, states int) []string {
	values := map[string]string{}
	if t.programs != "" {
		values[t.programs] = filepath.Join(scratch, "programs")
	}
	for _, name := range t.states {
		values[name] = strconv.Itoa(states)
	}
	var env []string
	for name, value := range values {
		if os.Getenv(name) == "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// read returns the package of rules in the module at root.
func read(root, rules string) (*source, error) {
	names, err := filepath.Glob(filepath.Join(root, rules, "*.go"))
	if err != nil {
		return nil, err
	}
	text := map[string][]byte{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if text[filepath.Base(name)], err = os.ReadFile(name); err != nil {
			return nil, err
		}
	}
	if len(text) == 0 {
		return nil, fmt.Errorf("no %s here: run it from the top of the module", rules)
	}
	return parse(text)
}

// draw holds the candidates that a run tries and their results, by index.
type draw struct {
	*source
	all    []mutant
	equal  map[int]equivalent
	bad    map[int]bool // numbers of those that do not compile
	drawn  []int
	result map[int]verdict
}

// need is a group of candidates of which a run must try at least one.
type need struct {
	name string
	has  func(mutant) bool
}

// needs returns the groups of every run: the files that contain code, and the fields of Profile.
func (s *source) needs() []need {
	var needs []need
	for _, f := range s.files {
		if name := s.fset.Position(f.Package).Filename; behaves(f) {
			needs = append(needs, need{name, func(m mutant) bool { return m.file == name }})
		}
	}
	for _, name := range s.profile {
		needs = append(needs, need{"Profile." + name, func(m mutant) bool { return m.field == name }})
	}
	return needs
}

// choose draws the mutants in the order given by the seed: the first one for each need, and then as
// many as are missing. Equivalents that come before the last one are drawn in addition.
func (d *draw) choose(o options) error {
	var order []int
	for i, m := range d.all {
		here := o.only == "" || m.file == o.only
		if o.at != "" {
			here = fmt.Sprintf("%s:%d", m.file, m.line) == o.at
		}
		if here && !d.bad[i+1] {
			order = append(order, i)
		}
	}
	for _, i := range sortedKeys(d.equal) {
		if d.bad[i+1] {
			return fmt.Errorf("is on the list of equivalents, and does not compile: %s", d.all[i])
		}
	}
	if len(order) == 0 {
		return fmt.Errorf("no mutant in %s%s", o.only, o.at)
	}
	if o.all || o.at != "" {
		d.drawn = order
		return nil
	}
	r := rand.New(rand.NewPCG(o.seed, 0))
	r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	taken := map[int]bool{}
	count := 0
	take := func(i int) {
		if taken[i] {
			return
		}
		taken[i] = true
		d.drawn = append(d.drawn, i)
		if _, equal := d.equal[i]; !equal {
			count++
		}
	}
	if o.only == "" {
		for _, n := range d.needs() {
			at := slices.IndexFunc(order, func(i int) bool { _, equal := d.equal[i]; return !equal && n.has(d.all[i]) })
			if at < 0 {
				return fmt.Errorf("no mutant for %s", n.name)
			}
			take(order[at])
		}
	}
	for _, i := range order {
		if count < o.n {
			take(i)
		}
	}
	return nil
}

// line prints the result of a mutant.
func (d *draw) line(out io.Writer, i int) {
	m, v := d.all[i], d.result[i]
	by := string(v.by)
	switch _, equal := d.equal[i]; {
	case equal && v.by == byNobody:
		by = "equivalent"
	case equal:
		by = "NOT EQUIVALENT"
	case v.by == byNobody:
		by = "SURVIVED"
	}
	fmt.Fprintf(out, "%-22s %-10s %-14s %s -> %s  %s\n", fmt.Sprintf("%s:%d", m.file, m.line), m.kind, by, short(m.from), short(m.to), v.with)
}

// report prints the totals and returns an error if action is required.
func (d *draw) report(out io.Writer, took time.Duration) error {
	var wrong []string
	count := 0
	for _, i := range d.drawn {
		_, equal := d.equal[i]
		switch v := d.result[i]; {
		case equal && v.by != byNobody:
			wrong = append(wrong, fmt.Sprintf("is on the list of equivalents, and caught by %s: %s", v.with, d.all[i]))
		case !equal && v.by == byNobody:
			wrong = append(wrong, "survived: "+d.all[i].String())
		}
		if !equal {
			count++
		}
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\tMUTANTS\tBY THE TESTS\tONLY BY THE ORACLE\tSURVIVED\t")
	d.sums(w, "all", func(mutant) bool { return true })
	for _, f := range sortedKeys(d.text) {
		d.sums(w, f, func(m mutant) bool { return m.file == f })
	}
	for _, f := range d.profile {
		d.sums(w, "Profile."+f, func(m mutant) bool { return m.field == f })
	}
	for _, k := range []kind{comparison, logic, boolean, sortKey, rounding, arithmetic, number, limit, branch, ofProfile} {
		d.sums(w, string(k), func(m mutant) bool { return m.kind == k })
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%d equivalents are listed, which change nothing:\n", len(d.equal))
	for _, i := range sortedKeys(d.equal) {
		fmt.Fprintf(out, "  %s: %s\n", d.all[i], d.equal[i].why)
	}
	fmt.Fprintf(out, "\n%d mutants, %s\n", count, took.Round(time.Second))
	if len(wrong) > 0 {
		return fmt.Errorf("%d of them:\n  %s", len(wrong), strings.Join(wrong, "\n  "))
	}
	return nil
}

// sums prints a row with the results of the tried mutants of a group, if any.
func (d *draw) sums(w io.Writer, name string, has func(mutant) bool) {
	tried, by := 0, map[catcher]int{}
	for _, i := range d.drawn {
		if _, equal := d.equal[i]; !equal && has(d.all[i]) {
			tried++
			by[d.result[i].by]++
		}
	}
	if tried > 0 {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t\n", name, tried, by[byTests], by[byOracle], by[byNobody])
	}
}
