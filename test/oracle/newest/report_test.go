package main

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// tested returns the output of go test -json for lines "ACTION TEST OUTPUT", where - stands for no
// test.
func tested(lines ...string) []byte {
	var b strings.Builder
	for _, line := range lines {
		parts := append(strings.SplitN(line, " ", 3), "", "")
		e := event{Action: parts[0], Test: strings.Trim(parts[1], "-")}
		if parts[2] != "" {
			e.Output = parts[2] + "\n"
		}
		raw, err := json.Marshal(e)
		if err != nil {
			panic(err)
		}
		b.Write(append(raw, '\n'))
	}
	return []byte(b.String())
}

var v1371 = release{37, 1}

func TestJudged(t *testing.T) {
	const head, row = "output - | version | states | syncs | differences |", "output - | 1.37.1 | 1500 | 9000 | 1 |"
	counts := map[string]int{"states": 1500, "syncs": 9000, "differences": 1}
	for _, tt := range []struct {
		output []byte
		ok     bool
		want   compared
		why    string
	}{
		{tested("run TestSync", "output TestSync/v1.37.1 fine", "pass TestSync", head, row, "pass -"), true, compared{counts: counts}, "all passed"},
		{tested(head, "output - | 1.30.14 | 7 | 8 | 0 |", row), true, compared{counts: counts}, "the row of this release, not of another"},
		{
			tested("output TestSync === RUN   TestSync", "output TestSync/v1.37.1 === RUN   TestSync/v1.37.1", "output TestSync/v1.37.1 seed 17 differs:", "output TestSync/v1.37.1 smallest:",
				"fail TestSync/v1.37.1", "fail TestSync", "pass TestTraces", head, row, "fail -"),
			false, compared{counts: counts, differ: []difference{{"TestSync/v1.37.1", "seed 17 differs:\nsmallest:\n"}}}, "a test that differs, and not also the one around it",
		},
		{tested("output TestNamed nothing"), false, compared{counts: map[string]int{}, broken: ""}, "it ended without a word"},
		{append([]byte("# oracle\nx.go:1: undefined: y\n"), tested("output - FAIL oracle [build failed]", "fail -")...), false,
			compared{counts: map[string]int{}, broken: "# oracle\nx.go:1: undefined: y\nFAIL oracle [build failed]\n"}, "the tests themselves do not build"},
	} {
		if got := judged(tt.output, v1371, tt.ok); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", tt.why, got, tt.want)
		}
	}
}

func TestReport(t *testing.T) {
	counts := map[string]int{"states": 1500, "syncs": 9000, "rollouts": 50, "their syncs": 1200, "what-ifs": 40}
	ran := func(minor, patch int, differ ...difference) finding {
		r := release{minor, patch}
		return finding{release: r, libraries: r, compared: compared{counts: counts, differ: differ}}
	}
	notBuilds := finding{release: release{37, 2}, failed: []string{"with the libraries v0.37.2: no such module", "with the libraries v0.37.1: undefined: y"}}
	neighbour := finding{release: release{36, 5}, libraries: release{36, 4}, compared: compared{counts: counts}}
	stopped := ran(36, 6)
	stopped.broken = "panic: no"
	for _, tt := range []struct {
		all    []finding
		title  string
		has    []string
		status int
		why    string
	}{
		{nil, "Kubernetes: nothing is newer than v1.37.1", []string{"no release"}, agrees, "nothing is new"},
		{[]finding{ran(38, 0)}, "Kubernetes v1.38.0 agrees with the model", []string{"| v1.38.0 | yes | 1500 | 9000 | 50 | 1200 | 40 | 0 |"}, agrees, "a new minor that agrees"},
		{[]finding{ran(38, 0, difference{"TestSync/v1.38.0", "seed 17 differs:\n"})}, "Kubernetes v1.38.0 differs from the model",
			[]string{"| v1.38.0 | yes | 1500 | 9000 | 50 | 1200 | 40 | 1 |", "## v1.38.0: TestSync/v1.38.0\n\n```text\nseed 17 differs:\n```\n"}, differs, "one that differs, with what differs"},
		{[]finding{notBuilds}, "Kubernetes v1.37.2 does not build",
			[]string{"| v1.37.2 | does not build | | | | | | |", "with the libraries v0.37.2: no such module", "with the libraries v0.37.1: undefined: y"}, notBuilt, "none builds: why, for each of the libraries"},
		{[]finding{notBuilds, ran(37, 1)}, "Kubernetes v1.37.2 does not build; v1.37.1 agrees with the model", nil, agrees, "the one before it is built"},
		{[]finding{ran(37, 2), ran(37, 1)}, "Kubernetes v1.37.2, v1.37.1 agree with the model", nil, agrees, "two of one minor"},
		{[]finding{notBuilds, ran(36, 5)}, "Kubernetes v1.37.2 does not build; v1.36.5 agrees with the model", nil, notBuilt, "one of another minor says nothing about it"},
		{[]finding{notBuilds, ran(36, 5, difference{"T", ""})}, "Kubernetes v1.36.5 differs from the model; v1.37.2 does not build", nil, differs, "a difference weighs more"},
		{[]finding{neighbour}, "Kubernetes v1.36.5 agrees with the model", []string{"| v1.36.5 | with the libraries v0.36.4 |"}, agrees, "with a neighbour's libraries"},
		{[]finding{stopped}, "Kubernetes v1.36.6 stops the oracle", []string{"| unknown |", "panic: no"}, notBuilt, "the tests ended before they said anything"},
	} {
		text := report(tt.all, v1371)
		if first, _, _ := strings.Cut(text, "\n"); first != "# "+tt.title {
			t.Errorf("%s: the title is %q", tt.why, first)
		}
		for _, words := range tt.has {
			if !strings.Contains(text, words) {
				t.Errorf("%s: no %q in\n%s", tt.why, words, text)
			}
		}
		if got := status(tt.all); got != tt.status {
			t.Errorf("%s: status %d, want %d", tt.why, got, tt.status)
		}
	}
}

// The output of a test may be long and contain anything; an issue holds 65,536 characters.
func TestQuoted(t *testing.T) {
	if got := quoted("a\n```\nb\n", 100); got != "````text\na\n```\nb\n````\n" {
		t.Errorf("got %q", got)
	}
	long := strings.Repeat("é", mostOutput)
	got := quoted("first\n"+long+"\nlast", 1000)
	if len(got) > 1100 || !strings.Contains(got, "```text\nfirst\n") || !strings.Contains(got, "\nlast\n```\n") || !strings.Contains(got, "bytes left out") {
		t.Errorf("%d bytes: %.40q … %q", len(got), got, got[len(got)-20:])
	}
	var all []finding
	for minor := range 4 {
		for patch := range tries {
			all = append(all, finding{release: release{34 + minor, patch}, failed: []string{long}})
		}
	}
	if n := len(report(all, v1371)); n > 65536 {
		t.Errorf("a report of %d releases that do not build has %d bytes", len(all), n)
	}
}
