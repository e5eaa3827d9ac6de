package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const head = `package p

type Profile struct {
	Version string
	New     bool
}

type T struct{ OK bool }

func less(a, b int) int { return 0 }
func known() bool       { return T{}.OK }

`

// TestCandidates passes a line of code through the whole program and compares all changes.
func TestCandidates(t *testing.T) {
	for _, tt := range []struct{ code, want, why string }{
		{`var _ = a < b`, "comparison <=, comparison >=", "a boundary is shifted, and the whole negated"},
		{`var _ = a >= b`, "comparison >, comparison <", "either way"},
		{`var _ = a == nil`, "comparison !=", "equality is negated"},
		{`var _ = a == b && c.D() && !e`, "logic ||, logic c.D() && !e, logic a == b && !e, logic a == b && c.D(), logic ||, comparison !=, boolean !c.D(), boolean e", "each part of a condition is left out, and negated"},
		{`func f() { if x.y { g() } }`, "boolean !x.y", "a condition is a boolean whatever its type"},
		{`func f() bool { return known() }`, "boolean !known()", "so is what has the type"},
		{`var _ = T{OK: true}`, "boolean false", "a field"},
		{`func f() { var ok bool; ok = g(); h(ok) }`, "boolean !ok", "not what is assigned to"},
		{`func f() { ok := known(); _ = ok == (len(s) > 0) }`, "boolean !known(), comparison !=, comparison >=, comparison <=, number 1", "not the sides of a comparison"},
		{`func f() { intstr.GetScaledValueFromIntOrPercent(v, n, true) }`, "rounding false", "the direction of rounding"},
		{`var _ = n + 1`, "arithmetic -, number 2, number 0", "one more or less"},
		{`var _ = "n" + s + t`, "", "texts are not added"},
		{`const limit = 250`, "number 251, number 249", "a limit"},
		{`var first = -1`, "number 0", "a number that stands for none, up only"},
		{`func f() { n++; m -= 2 }`, "arithmetic --, arithmetic +=, number 3, number 1", "steps"},
		{`var _ = make([]int, 0, 2+n)`, "arithmetic -", "a capacity decides nothing"},
		{`var _ = strconv.FormatInt(x+1, 10)`, "arithmetic -, number 2, number 0", "nor a base"},
		{`var _ = min(1, n)`, "min, max max, number 2, number 0", "min and max"},
		{`var _ = strings.Compare(a, b)`, "sort key b, a", "a key the other way round"},
		{`var _ = less(a, b)`, "sort key b, a", "also of a function of ours"},
		{`var _ = t.Before(&u.v)`, "sort key u.v.Before(&t)", "also of two times"},
		{`var _ = cmp.Or(a, b)`, "sort key b, sort key a, sort key b, a", "keys left out, and in another order"},
		{`func f() { slices.Sort(x); slices.SortFunc(y, less) }`, "sort key (none), sort key (none), sort key func(a, b int) int { return less(b, a) }", "no sorting at all"},
		{`func f() { slices.SortFunc(x, func(a, b int) int { if c { return -1 }; return 1 }) }`, "sort key (none), boolean !c, sort key 1, sort key -1", "and of an order only the sign counts"},
		{`func f() { for range slices.Backward(x) {} }`, "sort key slices.All", "the other end first"},
		{`func f() { for range x { switch y { case a, b: g(); case c: default: h() } } }`, "branch (none), branch b, branch a, branch (none), branch (none)", "cases"},
		{`func f() { switch y { case a: g(); case c: } }`, "branch (none)", "not one that does what its absence does"},
		{`func f() { switch { case a: case b: g() } }`, "branch (none), branch (none), boolean !a, boolean !b", "but one that keeps the next from being asked"},
		{`func f() { for range x { if a { continue }; g() } }`, "boolean !a, branch (none)", "a continue"},
		{`func f(p Profile) { g(p.New, !p.New, p.Version) }`, `profile New !p.New, profile New p.New, profile Version ""`, "uses of a Profile"},
		{`var rules = []struct { f func(*Profile) *bool; since []version }{{func(p *Profile) *bool { return &p.New }, []version{{21, 0}}}}`, "profile New 22, profile New 20, profile New 1", "the versions of a row"},
		{`var _ = Profile{New: minor > 3}`, "profile New >=, profile New <=, profile New 4, profile New 2", "what a field is set to"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s, err := parse(map[string][]byte{"x.go": []byte(head + tt.code + "\n")})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range s.candidates() {
				if m.line <= strings.Count(head, "\n") {
					continue
				}
				text := m.text
				if text == "" {
					text = "(none)"
				}
				if m.field != "" {
					text = m.field + " " + text
				}
				got = append(got, fmt.Sprintf("%s %s", m.kind, text))
			}
			if got := strings.Join(got, ", "); got != tt.want {
				t.Errorf("%s\n got %s\nwant %s", tt.code, got, tt.want)
			}
		})
	}
}

// TestInstrument compares a whole file with two mutants.
func TestInstrument(t *testing.T) {
	const before = `package p

const limit = 250

func (t *T) f(a int, more ...int) bool {
	return a < limit
}

func g() { h(true) }
`
	const want = `package p

var limit = 250

func (t *T) f(a int, more ...int) bool { switch mutant__ { case 2: return t.f__2(a, more...); case 3: return t.f__3(a, more...); };
	return a < limit
}

func g() { switch mutant__ { case 5: g__5(); return; }; h(true) }

//line mutant1:1
var limit__1 = 251

func init() { if mutant__ == 1 { limit = limit__1 } }

//line mutant2:1
func (t *T) f__2(a int, more ...int) bool {
	return a <= limit
}

//line mutant3:1
func (t *T) f__3(a int, more ...int) bool {
	return a >= limit
}

//line mutant5:1
func g__5() { h(false) }
`
	s, err := parse(map[string][]byte{"x.go": []byte(before)})
	if err != nil {
		t.Fatal(err)
	}
	all := s.candidates()
	files := s.instrument(map[int]mutant{1: all[0], 2: all[2], 3: all[3], 5: all[4]}, "/the/number")
	if got := string(files["x.go"]); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := string(files["mutants__.go"]); len(files) != 2 || !strings.Contains(got, `os.ReadFile("/the/number")`) {
		t.Errorf("of %d files, the switchboard is\n%s", len(files), got)
	}
}

// TestTargets checks the packages themselves: everything in them can be mutated, and every
// equivalent exists.
func TestTargets(t *testing.T) {
	// Number of fields of Profile and of other groups.
	least := map[string]int{"pkg/daemonset": 10, "pkg/fit": 3, "pkg/admission": 0}
	for _, target := range targets {
		s, err := read("../..", target.rules)
		if err != nil {
			t.Fatal(err)
		}
		all := s.candidates()
		if _, err := claims(all, target.equivalents); err != nil {
			t.Error(err)
		}
		needs := s.needs()
		if n, known := least[target.rules]; !known || len(s.profile) < n || len(needs) < len(s.profile)+n {
			t.Errorf("%s: of Profile %v, in all %d groups", target.rules, s.profile, len(needs))
		}
		for _, n := range needs {
			if !slices.ContainsFunc(all, n.has) {
				t.Errorf("%s: no candidate for %s", target.rules, n.name)
			}
		}
		for _, m := range all {
			if m.from == m.to {
				t.Errorf("%s: %s changes nothing", target.rules, m)
			}
		}
	}
}

func TestChoose(t *testing.T) {
	s, err := read("../..", "pkg/daemonset")
	if err != nil {
		t.Fatal(err)
	}
	all := s.candidates()
	bad, equal := map[int]bool{}, map[int]equivalent{}
	for i := range all {
		switch {
		case all[i].file != "place.go":
		case i%3 == 0:
			bad[i+1] = true
		case i%3 == 1:
			equal[i] = equivalent{}
		}
	}
	drawn := func(o options) []int {
		d := &draw{source: s, all: all, bad: bad, equal: equal}
		if err := d.choose(o); err != nil {
			t.Fatal(err)
		}
		return d.drawn
	}
	one := drawn(options{seed: 1, n: 60})
	count := 0
	for _, i := range one {
		if _, equal := equal[i]; !equal {
			count++
		}
		if bad[i+1] {
			t.Errorf("%s does not compile, and is drawn", all[i])
		}
	}
	if count != 60 {
		t.Errorf("%d mutants", count)
	}
	for _, n := range s.needs() {
		if !slices.ContainsFunc(one, func(i int) bool { return n.has(all[i]) }) {
			t.Errorf("none of %s", n.name)
		}
	}
	if !slices.Equal(one, drawn(options{seed: 1, n: 60})) {
		t.Error("the same seed draws others")
	}
	if slices.Equal(one, drawn(options{seed: 2, n: 60})) {
		t.Error("another seed draws the same")
	}
	if len(drawn(options{seed: 1, n: 1})) < len(s.needs())/2 {
		t.Error("a few are not one of each")
	}
	for _, i := range drawn(options{seed: 1, n: 20, only: "place.go"}) {
		if all[i].file != "place.go" {
			t.Errorf("of place.go only: %s", all[i])
		}
	}
	if got, want := len(drawn(options{all: true})), len(all)-len(bad); got != want {
		t.Errorf("all are %d, want %d", got, want)
	}
	if err := (&draw{source: s, all: all}).choose(options{at: "place.go:1"}); err == nil {
		t.Error("a line without any has one")
	}
	if err := (&draw{source: s, all: all, bad: map[int]bool{1: true}, equal: map[int]equivalent{0: {}}}).choose(options{n: 60}); err == nil {
		t.Error("an equivalent that does not compile is one")
	}
}

func TestClaims(t *testing.T) {
	s, err := parse(map[string][]byte{"x.go": []byte("package p\n\nfunc f() bool { return a < b }\n\nfunc g() bool { if c { return a < b }; return a < b }\n")})
	if err != nil {
		t.Fatal(err)
	}
	entry := func(function, why string) []equivalent {
		return []equivalent{{"x.go", function, "return a < b", "return a <= b", why}}
	}
	if of, err := claims(s.candidates(), entry("f", "never equal")); err != nil || len(of) != 1 {
		t.Errorf("a candidate: %v, %v", of, err)
	}
	for _, wrong := range [][]equivalent{entry("f", ""), entry("g", "two of them"), entry("h", "there is none")} {
		if of, err := claims(s.candidates(), wrong); err == nil {
			t.Errorf("%+v is about %v", wrong, of)
		}
	}
}

func TestFailure(t *testing.T) {
	for _, tt := range []struct{ out, want string }{
		{"--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/why (0.00s)\n--- FAIL: TestB (0.00s)\n", "TestA/why"},
		{"--- FAIL: TestA (0.00s)\npanic: index out of range [recovered]\n", "TestA, panic"},
		{"exit\n  status 3", "exit status 3"},
	} {
		if got := failure(tt.out); got != tt.want {
			t.Errorf("failure(%q) = %q, want %q", tt.out, got, tt.want)
		}
	}
	if got, want := slow("--- PASS: TestA (0.01s)\n--- PASS: TestLaw (1.50s)\n    --- PASS: TestA/b (9.00s)\n"), "^(none|TestLaw)$"; got != want {
		t.Errorf("slow tests %s, want %s", got, want)
	}
}
