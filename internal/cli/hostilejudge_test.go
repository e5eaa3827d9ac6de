package cli_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestJudge checks that judge finds each kind of fault.
func TestJudge(t *testing.T) {
	const secret = "qwrtzpsdfghjklmn"
	for _, tt := range []struct {
		why  string
		r    result
		want string
	}{
		{"what is right", result{args: []string{"explain"}, out: "HEALTHY Zürich\n\tx\n", errs: "note: x\n"}, ""},
		{"a panic", result{args: []string{"explain"}, panicked: "index"}, "panic: "},
		{"one that was caught", result{args: []string{"explain"}, status: 1, errs: "error: this is a bug in kubectl ds: x\n"}, "panic, recovered"},
		{"Go's exit status of a signal", result{args: []string{"explain"}, status: 130}, "exit status 130"},
		{"an error without a word", result{args: []string{"explain"}, status: 1}, "exit status 1 without"},
		{"an escape sequence", result{args: []string{"explain"}, out: "a\x1b[2Jb"}, "standard output has"},
		{"a byte", result{args: []string{"explain"}, errs: "a\x9bb"}, "standard error has"},
		{"a mark that turns", result{args: []string{"explain"}, out: "a\u202eb"}, "standard output has"},
		{"a carriage return", result{args: []string{"explain"}, errs: "a\rb"}, "standard error has"},
		{"our colors, where they are asked for", result{args: []string{"explain", "--color", "always"}, out: "\x1b[31;1mSTUCK\x1b[0;22m"}, ""},
		{"our colors, where they are not", result{args: []string{"explain"}, out: "\x1b[31;1mSTUCK\x1b[0;22m"}, "standard output has"},
		{"others", result{args: []string{"explain", "--color", "always"}, out: "\x1b[8mx"}, "standard output has"},
		{"a value", result{args: []string{"history", "--diff", "1"}, out: "x " + secret}, "standard output shows the value"},
		{"a value in an error", result{args: []string{"explain"}, status: 1, errs: "error: " + secret}, "standard error shows the value"},
		{"a value that was asked for", result{args: []string{"history", "--show-values"}, out: secret}, ""},
		{"a value that was asked for in other words", result{args: []string{"history", "--show-values=true"}, out: secret}, ""},
		{"a revision to apply", result{args: []string{"history", "--revision", "1", "-o", "yaml"}, out: secret}, ""},
		{"a revision to read", result{args: []string{"history", "--revision", "1"}, out: secret}, "standard output shows the value"},
		{"Go's words", result{args: []string{"explain"}, status: 1, errs: "error: cannot unmarshal 5 into Go value of type string"}, "standard error has the words"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			faults := judge(&tt.r, []string{secret})
			if tt.want == "" && len(faults) > 0 || tt.want != "" && (len(faults) != 1 || !strings.HasPrefix(faults[0], tt.want)) {
				t.Errorf("%q, want %q", faults, tt.want)
			}
		})
	}
}

// TestDifferent checks that different notices a missing object of each essential kind.
func TestDifferent(t *testing.T) {
	isolate(t, t.TempDir())
	for _, kind := range []string{"Node", "Pod", "ControllerRevision"} {
		b := bases()[slices.IndexFunc(bases(), func(b *base) bool { return b.title == "stuck-rollout.json" })]
		i := slices.IndexFunc(b.objects, func(o object) bool { return o["kind"] == kind })
		less := &input{base: b, objects: slices.Delete(slices.Clone(b.objects), i, i+1)}
		if d := different(whole(b), less.serialize("List in JSON", nil).explain(t.TempDir()), nil); d == "" {
			t.Errorf("a %s less makes no difference", kind)
		}
	}
	b := bases()[0]
	if d := different(whole(b), (&input{base: b, objects: b.objects}).serialize("List in YAML", nil).explain(t.TempDir()), nil); d != "" {
		t.Error(d)
	}
}

// TestCutInLog checks that the program warns about a file that ends inside a log, at any position.
func TestCutInLog(t *testing.T) {
	isolate(t, t.TempDir())
	b := bases()[0]
	r := rand.New(rand.NewPCG(1, 1))
	f := (&input{base: b, objects: b.objects}).serialize("cluster-info dump", r)
	text, tried := f.parts[0].text, 0
	for _, i := range cuts(text) {
		if f.parts[0].text = text[:i]; !insideLog(f.parts[0].text) {
			continue
		}
		tried++
		if r := f.explain(t.TempDir()); r.status == 0 && !strings.Contains(r.errs, "may be cut off") {
			t.Errorf("cut behind %q, and not a word about it: %s", text[max(0, i-40):i], r.errs)
		}
	}
	if tried == 0 {
		t.Error("no cut is inside a log")
	}
}
