package view

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/difftext"
	"github.com/kubectl-ds/kubectl-ds/pkg/hide"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// TestPairs compares random pairs of templates. It checks that the two sides of a difference look different on every
// screen, that a changed argument is complete or has the name of its flag, and that --all shortens nothing.
func TestPairs(t *testing.T) {
	looked, args, long := 0, 0, 0
	for seed := range cases.Of(int64(400)) {
		p := dstest.Templates(seed)
		shown := template.Diff(p.Old, p.New)
		for _, d := range append(shown, hide.Differences(shown)...) {
			about := func() string {
				return fmt.Sprintf("seed %d %v, %s:\n%s\n%s", seed, p.Edits, d.Path, d.Old, d.New)
			}
			for _, all := range []bool{false, true} {
				s := difftext.Style{All: all}
				words := s.Lines([]template.Difference{d}, nil)[0]
				_, sides, _ := strings.Cut(words, ": ")
				before, after, both := strings.Cut(sides, " -> ")
				said := difftext.Style{Brief: true}.Lines([]template.Difference{d}, nil)[0]
				_, sides, _ = strings.Cut(said, ": ")
				from, to, told := strings.Cut(sides, " -> ")
				if words != screen.Clean(words) || said != screen.Clean(said) {
					t.Fatalf("%s\nhas more than a reader sees: %q, %q", about(), words, said)
				}
				if d.Old.Equal(d.New) {
					continue
				}
				if both && looksLike(before, after) || told && looksLike(from, to) {
					t.Fatalf("%s\nlook the same: %q, %q", about(), words, said)
				}
				if d.Old.Absent() || d.New.Absent() ||
					slices.Contains([]template.What{template.WhatOrder, template.WhatImage}, d.Path.What()) {
					continue
				}
				looked++
				before, after = s.Sides(&d)
				if !all {
					n, m := showsArguments(t, about, before, d.Old.String(), d.New.String())
					args, long = args+n, long+m
					n, m = showsArguments(t, about, after, d.New.String(), d.Old.String())
					args, long = args+n, long+m
				} else if strings.Contains(before+after, "…") && !strings.Contains(d.Old.String()+d.New.String(), "…") {
					t.Fatalf("%s\nis shortened with --all: %s, %s", about(), before, after)
				}
			}
		}
	}
	if looked < cases.Least(340) || args < cases.Least(55) || long < cases.Least(2) {
		t.Errorf("only %d differences, %d arguments, %d long ones", looked, args, long)
	}
}

// looksLike reports whether two texts look alike if all whitespace is equal.
func looksLike(a, b string) bool {
	return strings.Join(strings.Fields(a), " ") == strings.Join(strings.Fields(b), " ")
}

// showsArguments checks one side of a list of texts against the texts that only this side has. It returns how many
// texts these are, and how many of them are long.
func showsArguments(t *testing.T, about func() string, side, raw, other string) (all, long int) {
	t.Helper()
	var list, others []string
	if json.Unmarshal([]byte(raw), &list) != nil || json.Unmarshal([]byte(other), &others) != nil ||
		strings.Contains(side, "with --all") {
		return 0, 0
	}
	count := map[string]int{}
	for _, o := range others {
		count[o]++
	}
	gone := 0
	for _, arg := range list {
		if count[arg]--; count[arg] < 0 {
			gone++
		}
	}
	for _, arg := range list {
		if count[arg] >= 0 || gone > 6 {
			continue
		}
		all++
		whole := template.ValueOf(arg)
		want := difftext.Written(whole, difftext.AsJSONText)
		if screen.Width(difftext.Written(whole, difftext.AsASCII)) > difftext.Room ||
			slices.ContainsFunc(others, func(o string) bool {
				return screen.Width(difftext.Written(template.ValueOf(o), difftext.AsASCII)) > difftext.Room
			}) {
			name, _, isFlag := strings.Cut(want, "=")
			if !isFlag || !strings.HasPrefix(name, `"--`) || strings.Contains(name, " ") {
				continue
			}
			want = name[:min(len(name), difftext.Head)]
			long++
		}
		if !strings.Contains(side, want) && !strings.Contains(side, difftext.Written(whole, difftext.AsASCII)) {
			t.Fatalf("%s\n%s is not in %s", about(), want, side)
		}
	}
	return all, long
}

// TestOrders checks that all screens describe a changed order in the same words, using the members that both lists
// have.
func TestOrders(t *testing.T) {
	for _, tt := range []struct{ old, new, want, why string }{
		{`["a","b"]`, `["b","a"]`, "a, b -> b, a", "two members"},
		{`["80","443"]`, `["443","80"]`, "80, 443 -> 443, 80", "ports"},
		{`["a","b","gone"]`, `["new","b","a"]`, "a, b -> b, a", "a member that comes or goes is another difference"},
		{`["a, b","c"]`, `["c","a, b"]`, "a, b, c -> c, a, b", "a name with a comma"},
		{
			`["VARIABLE_NUMBER_ONE","VARIABLE_NUMBER_TWO","VARIABLE_NUMBER_THREE","VARIABLE_NUMBER_FOUR","VARIABLE_NUMBER_FIVE"]`, `["VARIABLE_NUMBER_ONE","VARIABLE_NUMBER_THREE","VARIABLE_NUMBER_FOUR","VARIABLE_NUMBER_TWO","VARIABLE_NUMBER_FIVE"]`,
			"VARIABLE_NUMBER_ONE, VARIABLE_NUMBER_TWO, …, VARIABLE_NUMBER_FOUR, … -> VARIABLE_NUMBER_ONE, …, " +
				"VARIABLE_NUMBER_FOUR, VARIABLE_NUMBER_TWO, …", "of many the one that moved, with its neighbors",
		},
	} {
		d := differs("spec.template.spec.containers[name=a].env[name]", tt.old, tt.new)
		if got := (difftext.Style{}).Lines([]template.Difference{d},
			nil)[0]; got != "order of env of container a: "+tt.want {
			t.Errorf("%s: got %s\nwant %s", tt.why, got, tt.want)
		}
	}
}
