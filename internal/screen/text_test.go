package screen

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// problems returns a table like that of an answer about what is wrong.
func problems(rows ...Row) *Table {
	return &Table{Columns: []Column{{Head: "PROBLEM"}, {Head: "NODES", Wrap: true}, {Head: "FOR"}}, Rows: rows}
}

func deadNodes() *Screen {
	nodes := []string{"rack-14-07", "rack-14-15", "rack-14-22"}
	s := &Screen{Headline: Headline{Verdict: "STUCK", Tone: Bad, Subject: "kube-system/node-agent", Text: "0 of 24 pods updated; 3 nodes are NotReady"}}
	s.Add(Status, &Table{
		Columns: []Column{{Head: "DESIRED", Right: true}, {Head: "CURRENT", Right: true}, {Head: "READY", Right: true}},
		Rows:    []Row{{Cells: Cells("24", "24", "21")}},
	}, Text("DESIRED 24 = all 24 nodes (its pods tolerate NotReady)"))
	s.Add(Impact, Names{Before: "3 of 24 nodes have no available pod:", Names: nodes, After: "; the other 21 run revision 1 undisturbed"})
	s.Add(Limit, Text("maxUnavailable 10% of 24 nodes = 3 (2.4, rounded up), and 3 are unavailable, so the controller replaces no further pod"))
	s.Add(Body, problems(Row{
		Cells:  []Cell{{Lines: []string{"TerminatingOnDeadNode"}, Tone: Bad}, {Names: nodes}, {Lines: []string{"5h"}}},
		Detail: []Block{Text("the kubelet does not answer; the pod's deletion stays pending")},
	}))
	s.Add(Outlook, Text("without a fix: stays at 0 of 24"))
	s.Add(Then,
		Text("repair the nodes; the rollout then continues by itself"),
		Text("or, for a node that is gone for good:"), Indent{Command{"kubectl delete node", Placeholder("NODE")}},
		Text("or, to update the other 21 pods now (3 at a time beside the 3 lost):"),
		Indent{
			Command{"kubectl patch daemonset", "-n kube-system", "node-agent", "--type=merge", "-p", Quote(`{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":6}}}}`)},
			Text("(afterwards set it back to 10%)"),
		})
	s.Add(Fault, Text("")) // empty
	return s
}

// TestText checks the form of all screens: the gutter, the order of the labels, separate tables,
// and commands broken with backslashes.
func TestText(t *testing.T) {
	got := text(t, deadNodes(), Terminal{Width: 80})
	want := `
STUCK  kube-system/node-agent: 0 of 24 pods updated; 3 nodes are NotReady

Impact    3 of 24 nodes have no available pod: rack-14-07, rack-14-15,
          rack-14-22; the other 21 run revision 1 undisturbed

  PROBLEM                NODES                               FOR
  TerminatingOnDeadNode  rack-14-07, rack-14-15, rack-14-22  5h
      the kubelet does not answer; the pod's deletion stays pending

Outlook   without a fix: stays at 0 of 24
Then      repair the nodes; the rollout then continues by itself
          or, for a node that is gone for good:
            kubectl delete node <NODE>
          or, to update the other 21 pods now (3 at a time beside the 3 lost):
            kubectl patch daemonset -n kube-system node-agent --type=merge -p \
            '{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":6}}}}'
            (afterwards set it back to 10%)

Status    DESIRED  CURRENT  READY
               24       24     21
          DESIRED 24 = all 24 nodes (its pods tolerate NotReady)
Limit     maxUnavailable 10% of 24 nodes = 3 (2.4, rounded up), and 3 are
          unavailable, so the controller replaces no further pod
`
	if diff := cmp.Diff(want[1:], got); diff != "" {
		t.Error(diff)
	}
}

// TestPart checks that parts come after the tables and before the entries about the whole answer,
// with their labels in order.
func TestPart(t *testing.T) {
	s := &Screen{Headline: Headline{Verdict: "STUCK", Tone: Bad, Subject: "a/b", Text: "two things are wrong"}}
	s.Add(Then, Text("of the whole"))
	s.Part("1. First\x1b (2 nodes)")
	s.Add(Then, Text("repair it"))
	s.Add(Fault, Text("a node"))
	s.Part("2. Second <b>")
	s.Add(Check, Command{"kubectl get pods"})
	s.Part("")
	s.Add(Outlook, Text("it stays"))
	s.Add(Body, Text("a table"))
	want := `
STUCK  a/b: two things are wrong

  a table

Outlook   it stays

1. First\u001b (2 nodes)
Fault     a node
Then      repair it

2. Second <b>
Check     kubectl get pods

Then      of the whole
`
	if diff := cmp.Diff(want[1:], text(t, s, Terminal{Width: 80})); diff != "" {
		t.Error(diff)
	}
	var b strings.Builder
	if err := s.Markdown(&b, false); err != nil {
		t.Fatal(err)
	}
	want = `
### STUCK <code>a/b</code>: two things are wrong

a table

**Outlook:** it stays

#### 1. First&#92;u001b (2 nodes)

**Fault:** a node

**Then:** repair it

#### 2. Second &lt;b&gt;

**Check:**

~~~sh
kubectl get pods
~~~

**Then:** of the whole
`
	if diff := cmp.Diff(strings.ReplaceAll(want[1:], "~", "`"), b.String()); diff != "" {
		t.Error(diff)
	}
}

// TestFurther checks that without --all a last line counts and names what is omitted, once for the
// answer and its parts.
func TestFurther(t *testing.T) {
	s := &Screen{Headline: Headline{Text: "two things"}}
	s.Part("1. First")
	s.Add(Fault, Text("a node"))
	s.Add(Other, Text("one way"), Text("another way"))
	s.Part("2. Second")
	s.Add(Other, Text("a third way"))
	s.Part("")
	s.Add(Limit, Text("maxUnavailable 1"))
	s.Further(Other, Limit, WhatIf)
	want := "two things\n\n1. First\nFault     a node\n\n2. Second\n\nMore      --all adds 4 lines: other fixes, limit\n"
	if diff := cmp.Diff(want, text(t, s, Terminal{Width: 80})); diff != "" {
		t.Error(diff)
	}
	want = "two things\n\n1. First\nFault     a node\n\n2. Second\n\nLimit     maxUnavailable 1\nOr        one way\n          another way\n          a third way\n"
	if diff := cmp.Diff(want, text(t, s, Terminal{Width: 80, All: true})); diff != "" {
		t.Error(diff)
	}
	var b strings.Builder
	if err := s.Markdown(&b, false); err != nil {
		t.Fatal(err)
	}
	folded := "<details><summary>More</summary>\n\n**Limit:** maxUnavailable 1\n\n</details>\n"
	if !strings.HasSuffix(b.String(), folded) || strings.Count(b.String(), "<details>") != 3 {
		t.Error(b.String())
	}
}

func text(t *testing.T, s *Screen, term Terminal) string {
	t.Helper()
	var b strings.Builder
	if err := s.Text(&b, term); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestParts checks the effect of width, pipes, colors and --all on blocks.
func TestParts(t *testing.T) {
	nodes := func(n int) []string {
		var names []string
		for i := range n {
			names = append(names, "worker-"+strconv.Itoa(101+i))
		}
		return names
	}
	table := func(flush bool) *Table {
		return &Table{
			Flush:   flush,
			Columns: []Column{{Head: "VERDICT"}, {Head: "DAEMONSET"}, {Head: "FOR", Drop: 2}, {Head: "UPDATED", Right: true, Drop: 1}, {Head: "CAUSE", Wrap: true}},
			Rows: []Row{
				{Cells: Cells("STUCK", "logging/fluent-bit", "14m", "3 of 12", "3 new pods crash, and none of the old")},
				{Cells: []Cell{{Lines: []string{"HEALTHY"}, Tone: Good}, {Lines: []string{"a", "b"}}}},
			},
		}
	}
	tests := []struct {
		why   string
		label Label
		block Block
		term  Terminal
		want  string
	}{
		{"a pipe gets a paragraph on one line", Note, Text("one two three four five six seven eight nine ten eleven twelve thirteen"), Terminal{}, `
Note      one two three four five six seven eight nine ten eleven twelve thirteen`},
		{"a terminal breaks it, right of the gutter", Note, Text("one two three four five six"), Terminal{Width: 24}, `
Note      one two three
          four five six`},
		{"a word that is too long stays whole", Note, Text("one registry.example.org/agent two"), Terminal{Width: 24}, `
Note      one
          registry.example.org/agent
          two`},
		{"wide characters take two columns", Note, Text("日本語 日本語"), Terminal{Width: 22}, `
Note      日本語
          日本語`},
		{"what a terminal would obey is shown", Note, Text("a\x1b[31mb\u202ec\nd"), Terminal{Width: 80}, `
Note      a\u001b[31mb\u202ec d`},
		{"names take three lines, then there is only how many more", Impact, Names{Before: "without:", Names: nodes(100), After: "; the others have one"}, Terminal{Width: 40}, `
Impact    without: worker-101,
          worker-102, worker-103,
          worker-104 +96 more; the
          others have one`},
		{"no name is left out for a line that would hold it", Impact, Names{Names: nodes(6)}, Terminal{Width: 40}, `
Impact    worker-101, worker-102,
          worker-103, worker-104,
          worker-105, worker-106`},
		{"--all shows every name", Impact, Names{Names: nodes(7)}, Terminal{Width: 40, All: true}, `
Impact    worker-101, worker-102,
          worker-103, worker-104,
          worker-105, worker-106,
          worker-107`},
		{"a name is never cut", Impact, Names{Names: []string{strings.Repeat("n", 63), "m"}}, Terminal{Width: 20}, `
Impact    ` + strings.Repeat("n", 63) + `,
          m`},
		{"a command breaks between its words only", Then, Command{"kubectl rollout undo", "-n logging", "daemonset/fluent-bit", "--to-revision=1"}, Terminal{Width: 50}, `
Then      kubectl rollout undo -n logging \
            daemonset/fluent-bit --to-revision=1`},
		{"a pipe gets a command on one line", Then, Command{"kubectl rollout undo", "-n logging", "daemonset/fluent-bit", "--to-revision=1"}, Terminal{}, `
Then      kubectl rollout undo -n logging daemonset/fluent-bit --to-revision=1`},
		{"a value of a command is quoted", Then, Command{"kubectl get pods", Quote("it's")}, Terminal{}, `
Then      kubectl get pods 'it'\''s'`},
		{"a command that cannot be pasted is none", Then, Command{"kubectl get pods", Quote("a\x1bb")}, Terminal{}, ``},
		{"blanks of lines count", Note, Lines{{"spec:", Plain}, {"  a:\tb", Plain}}, Terminal{Width: 12}, `
Note      spec:
            a:\u0009b`},
		{"a table has room", Body, table(false), Terminal{Width: 100}, `
  VERDICT  DAEMONSET           FOR  UPDATED  CAUSE
  STUCK    logging/fluent-bit  14m  3 of 12  3 new pods crash, and none of the old
  HEALTHY  a
           b`},
		{"its cells that may wrap give first", Body, table(true), Terminal{Width: 76}, `
VERDICT  DAEMONSET           FOR  UPDATED  CAUSE
STUCK    logging/fluent-bit  14m  3 of 12  3 new pods crash, and none of the
                                           old
HEALTHY  a
         b`},
		{"then columns, in their order, and the rest has the room", Body, table(true), Terminal{Width: 46}, `
VERDICT  DAEMONSET           CAUSE
STUCK    logging/fluent-bit  3 new pods crash,
                             and none of the
                             old
HEALTHY  a
         b`},
		{"numbers stand to the right", Status, &Table{Columns: []Column{{Head: "DESIRED", Right: true}, {Head: "READY", Right: true}}, Rows: []Row{{Cells: Cells("12", "9")}}}, Terminal{Width: 80}, `
Status    DESIRED  READY
               12      9`},
		{"what does not fit into the height is the end", Note, Lines{{"a", Plain}, {"b", Plain}, {"c", Plain}}, Terminal{Width: 20, Height: 3}, `
Note      a
          b`},
		{"with a height what is wider than the terminal goes on in the next line, colors not counted", Note, Lines{{"12345678", Bad}, {"123456789", Bad}, {"日本語", Plain}, {"日本日本語", Plain}}, Terminal{Width: 18, Height: 9, Color: true}, `
[1mNote[22m      [31;1m12345678[0;22m
          [31;1m12345678[0;22m
          [31;1m9[0;22m
          日本語
          日本日本
          語`},
		{"nor one of several parts", Note, &Table{Columns: []Column{{}, {}}, Rows: []Row{{Cells: Cells("1234", "12")}, {Cells: Cells("12", "1234")}, {Cells: Cells("12", "12")}}}, Terminal{Width: 16, Height: 9}, `
Note      1234
          12
          12
          1234
          12
          12`},
		{"a command that the height would cut is left out with its words", Then, Group{Text("if so:"), Indent{Command{"kubectl rollout undo", "-n logging", "daemonset/fluent-bit"}}}, Terminal{Width: 40, Height: 2}, ``},
		{"a part of a command that has no room begins further to the left", Then, Command{"kubectl get events", "--field-selector involvedObject.name=a"}, Terminal{Width: 32, Height: 9}, `
Then      kubectl get events \
            --field-selector \
           involvedObject.name=a`},
		{"a command with a part that is wider than the terminal is left out", Then, Command{"kubectl get events", "--field-selector involvedObject.name=a-daemonset"}, Terminal{Width: 30, Height: 9}, `
Then      (command left out:
          it needs 31 columns)`},
		{"a word of a paragraph that has no room begins further to the left", Impact, Text("on worker-101.example.org, too"), Terminal{Width: 26, Height: 9}, `
Impact    on
   worker-101.example.org,
          too`},
		{"a cell that has no room stands below its row, and the others have the room", Body, &Table{
			Columns: []Column{{Head: "PROBLEM"}, {Head: "NODE", Under: true}, {Head: "FOR", Drop: 1}},
			Rows:    []Row{{Cells: Cells("NotReady", "worker-101.example.org", "2h")}, {Cells: Cells("", "+2 more", "")}},
		}, Terminal{Width: 30, Height: 9}, `
  PROBLEM   FOR
  NotReady  2h
    worker-101.example.org
    +2 more`},
		{"color repeats labels, heads and tones", Status, &Table{Columns: []Column{{Head: "A"}, {Head: "B"}}, Rows: []Row{{Cells: []Cell{{Lines: []string{"x"}, Tone: Bad}, {Lines: []string{"y"}}}}}}, Terminal{Color: true}, `
[1mStatus[22m    [1mA[22m  [1mB[22m
          [31;1mx[0;22m  y`},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			var s Screen
			s.Add(tt.label, tt.block)
			got := strings.ReplaceAll(strings.TrimRight(text(t, &s, tt.term), "\n"), "\x1b", "")
			if diff := cmp.Diff(strings.TrimPrefix(tt.want, "\n"), strings.TrimLeft(got, "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestWords checks that phrases are aligned with the second one unless one of them does not fit
// there.
func TestWords(t *testing.T) {
	for _, tt := range []struct {
		parts Words
		width int
		want  string
		why   string
	}{
		{Words{"READY 10 = 12", "- 1 (Starting)", "- 1 (NotReady)"}, 60, "Status    READY 10 = 12 - 1 (Starting) - 1 (NotReady)\n", "one line holds all"},
		{Words{"READY 10 = 12", "- 1 (Starting)", "- 1 (NotReady)"}, 45, "Status    READY 10 = 12 - 1 (Starting)\n                        - 1 (NotReady)\n", "the sign stands below the sign"},
		{Words{"READY 10 = 12", "- 1 (Starting)", "- 1 (InsufficientResources)"}, 45, "Status    READY 10 = 12 - 1 (Starting)\n            - 1 (InsufficientResources)\n", "a part that is too wide for that is set in"},
		{Words{"READY 10 = 12"}, 45, "Status    READY 10 = 12\n", "a single part"},
		{Words{"READY 10 = 12", "- 1 (Starting)", "- 1 (InsufficientResources)"}, 0, "Status    READY 10 = 12 - 1 (Starting) - 1 (InsufficientResources)\n", "not a terminal: nothing is broken"},
	} {
		s := &Screen{}
		s.Add(Status, tt.parts)
		if diff := cmp.Diff(tt.want, strings.TrimLeft(text(t, s, Terminal{Width: tt.width}), "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
}

// TestKeep checks that the first blocks of an entry are kept, also in parts.
func TestKeep(t *testing.T) {
	s := &Screen{Headline: Headline{Verdict: "STUCK", Subject: "a/b", Text: "two things are wrong", Clock: "12:00:00"}, Dense: true, Corner: "(Ctrl-C ends)"}
	for range 2 {
		s.Add(Then, Group{Command{"kubectl x"}, Text("(an effect)"), Text("")})
		s.Add(Body, Rows{{{"a ", Plain}, {"b", Bad}}})
	}
	for _, title := range []string{"1. First", "2. Second"} {
		s.Part(title)
		s.Add(Check, Text("one"), Text("two"))
	}
	s.Keep(Then, 1)
	s.Keep(Check, 1)
	s.KeepParts(1, Check)
	want := `
STUCK  a/b: two things are wrong        12:00:00

  a b
  a b

1. First
Check     one

Then      kubectl x
          (an effect)
`
	if diff := cmp.Diff(want[1:], text(t, s, Terminal{Width: 48})); diff != "" {
		t.Error(diff)
	}
	if n := s.Height(Terminal{Width: 48}); n != 10 {
		t.Errorf("it needs %d lines", n)
	}
}

// TestClock checks that the clock takes columns only from the first line of the headline, and that
// a narrow terminal shows none.
func TestClock(t *testing.T) {
	s := &Screen{Headline: Headline{Verdict: "STUCK", Subject: "a/b", Text: "6 of 12 pods updated; no progress for a long time", Clock: "12:00:00"}}
	for width, want := range map[int]string{
		40: "STUCK  a/b: 6 of 12 pods        12:00:00\n  updated; no progress for a long time\n",
		39: "STUCK  a/b: 6 of 12 pods updated; no\n  progress for a long time\n",
		0:  "STUCK  a/b: 6 of 12 pods updated; no progress for a long time  12:00:00\n",
	} {
		if diff := cmp.Diff(want, text(t, s, Terminal{Width: width})); diff != "" {
			t.Errorf("%d columns (-want +got):\n%s", width, diff)
		}
	}
}

// TestKeepParts checks that parts with an entry of the label are kept first.
func TestKeepParts(t *testing.T) {
	for most, want := range map[int]string{0: "", 1: "2. b", 2: "1. a 2. b", 3: "1. a 2. b 3. c"} {
		s := &Screen{}
		for _, title := range []string{"1. a", "2. b", "3. c"} {
			s.Part(title)
			s.Add(map[bool]Label{true: Then, false: Check}[title == "2. b"], Text("x"))
		}
		s.KeepParts(most, Then)
		var kept []string
		for _, p := range s.parts {
			kept = append(kept, p.title)
		}
		if got := strings.Join(kept, " "); got != want {
			t.Errorf("%d: %s, want %s", most, got, want)
		}
	}
}
