package screen

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMarkdown(t *testing.T) {
	s := deadNodes()
	s.Notice = "Plan only: nothing has been changed."
	s.Add(Change, Text("image: a|b @team #1 <b> https://example.org -> `c`"))
	s.Add(Change, Text("1. - a :heart_eyes: :1:2:"), Text("- --- +"))
	s.Add(Note, Lines{{" a", Plain}, {"-```", Removed}})
	var b strings.Builder
	if err := s.Markdown(&b, false); err != nil {
		t.Fatal(err)
	}
	want := `
### STUCK <code>kube-system/node-agent</code>: 0 of 24 pods updated; 3 nodes are NotReady

*Plan only: nothing has been changed.*

**Change:** image: a&#124;b &#64;<!-- -->team &#35;<!-- -->1 &lt;b&gt; https&#58;<!-- -->//example.org -&gt; &#96;c&#96;

1&#46; - a :<!-- -->heart&#95;eyes: :<!-- -->1:<!-- -->2:

&#45; --- +

**Impact:** 3 of 24 nodes have no available pod: rack-14-07, rack-14-15, rack-14-22; the other 21 run revision 1 undisturbed

| PROBLEM | NODES | FOR |
| --- | --- | --- |
| TerminatingOnDeadNode | rack-14-07, rack-14-15, rack-14-22 | 5h |

**TerminatingOnDeadNode:** the kubelet does not answer; the pod's deletion stays pending

**Outlook:** without a fix: stays at 0 of 24

**Then:** repair the nodes; the rollout then continues by itself

or, for a node that is gone for good:

~~~sh
kubectl delete node <NODE>
~~~

or, to update the other 21 pods now (3 at a time beside the 3 lost):

~~~sh
kubectl patch daemonset -n kube-system node-agent --type=merge -p '{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":6}}}}'
~~~

(afterwards set it back to 10%)

**Note:**

~~~~diff
 a
-~~~
~~~~

**Status:**

| DESIRED | CURRENT | READY |
| ---: | ---: | ---: |
| 24 | 24 | 21 |

<details><summary>Status in detail</summary>

DESIRED 24 = all 24 nodes (its pods tolerate NotReady)

</details>

**Limit:** maxUnavailable 10% of 24 nodes = 3 (2.4, rounded up), and 3 are unavailable, so the controller replaces no further pod
`
	if diff := cmp.Diff(strings.ReplaceAll(want[1:], "~", "`"), b.String()); diff != "" {
		t.Error(diff)
	}
}

// TestMarkdownOfDetails checks that details name their row once and that empty details are omitted.
func TestMarkdownOfDetails(t *testing.T) {
	var s Screen
	s.Headline.Text = "two"
	s.Add(Body, &Table{Columns: []Column{{Head: "PROBLEM"}}, Rows: []Row{
		{Cells: Cells("Crash"), Detail: []Block{Text(""), Text("exits with code 1"), Text("oops")}},
		{Cells: Cells("Late"), Detail: []Block{Text("")}},
	}})
	var b strings.Builder
	if err := s.Markdown(&b, false); err != nil {
		t.Fatal(err)
	}
	want := "### two\n\n| PROBLEM |\n| --- |\n| Crash |\n| Late |\n\n**Crash:** exits with code 1\n\noops\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

// TestMarkdownFolds checks that long blocks are folded and that no name is missing if all are
// requested.
func TestMarkdownFolds(t *testing.T) {
	var names, lines []string
	for i := range 30 {
		names = append(names, fmt.Sprintf("worker-%02d.example", i))
	}
	var s Screen
	s.Headline = Headline{Subject: "3 DaemonSets", Counts: true, Text: "none"}
	s.Add(Impact, Names{Before: "without a pod:", Names: names, Short: true})
	rows := &Table{Columns: []Column{{Head: "STEP"}}}
	for i := range longTable + 1 {
		rows.Row(strconv.Itoa(i))
	}
	s.Add(Body, rows, &Table{Columns: []Column{{Head: "PROBLEM"}, {Head: "NODES", Short: true}}, Rows: []Row{{Cells: []Cell{{Lines: []string{"Crash"}}, {Names: names}}}}})
	manifest := make(Lines, longLines+1)
	s.Add(Note, manifest)
	s.Add(Rests, Text("one"), Names{Before: "nodes", Names: names[:2]}, Text("two"), Text("@all"))
	for _, l := range rows.Rows {
		lines = append(lines, "| "+l.Cells[0].Lines[0]+" |")
	}
	four, eight, all := strings.Join(names[:4], ", "), strings.Join(names[:8], ", "), strings.Join(names, ", ")
	want := func(impact, problem string) string {
		return `
### 3 DaemonSets: none

**Impact:** without a pod: ` + impact + `
<details><summary>STEP: 16 rows</summary>

| STEP |
| --- |
` + strings.Join(lines, "\n") + `

</details>

| PROBLEM | NODES |
| --- | --- |
| Crash | ` + four + ` +26 more |

` + problem + `**Note:**

<details><summary>21 lines</summary>

~~~
` + strings.Repeat("\n", longLines) + `
~~~

</details>

<details><summary>Assumed</summary>

- one

nodes worker-00.example, worker-01.example

- two
- &#64;<!-- -->all

</details>
`
	}
	for _, tt := range []struct {
		why  string
		all  bool
		want string
	}{
		{"as many names as a few lines hold", false, want(eight+" +22 more\n", "")},
		{"all names, folded", true, want(eight+" +22 more\n\n<details><summary>all 30 names</summary>\n\n"+all+"\n\n</details>\n", "<details><summary>Crash: all 30 names</summary>\n\n"+all+"\n\n</details>\n\n")},
	} {
		var b strings.Builder
		if err := s.Markdown(&b, tt.all); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.ReplaceAll(tt.want[1:], "~", "`"), b.String()); diff != "" {
			t.Errorf("%s: %s", tt.why, diff)
		}
	}
}
