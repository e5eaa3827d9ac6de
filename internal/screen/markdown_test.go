package screen

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMarkdown(t *testing.T) {
	s := deadNodes()
	s.Notice = "Plan only: nothing has been changed."
	s.Add(Change, Text("image: a|b @team #1 <b> https://example.org -> `c`"))
	s.Add(Note, Lines{{" a", Plain}, {"-```", Removed}})
	var b strings.Builder
	if err := s.Markdown(&b); err != nil {
		t.Fatal(err)
	}
	want := `
### STUCK <code>kube-system/node-agent</code>: 0 of 24 pods updated; 3 nodes are NotReady

*Plan only: nothing has been changed.*

**Impact:** 3 of 24 nodes have no available pod: rack-14-07, rack-14-15, rack-14-22; the other 21 run revision 1 undisturbed

**Change:** image: a&#124;b &#64;team &#35;1 &lt;b&gt; https&#58;//example.org -&gt; &#96;c&#96;

**Limit:** maxUnavailable 10% of 24 nodes = 3 (2.4, rounded up), and 3 are unavailable, so the controller replaces no further pod

| PROBLEM | NODES | FOR |
| --- | --- | --- |
| TerminatingOnDeadNode | rack-14-07, rack-14-15, rack-14-22 | 5h |

**TerminatingOnDeadNode:** the kubelet does not answer; the pod's deletion stays pending

**Fix:** repair the nodes; the rollout then continues by itself

or, for a node that is gone for good:

~~~sh
kubectl delete node <NODE>
~~~

or, to update the other 21 pods now (3 at a time beside the 3 lost):

~~~sh
kubectl patch daemonset -n kube-system node-agent --type=merge -p '{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":6}}}}'
~~~

(afterwards set it back to 10%)

**Outlook:** without a fix: stays at 0 of 24

**Note:**

~~~~diff
 a
-~~~
~~~~

**Status:**

| DESIRED | CURRENT | READY |
| ---: | ---: | ---: |
| 24 | 24 | 21 |

DESIRED 24 = all 24 nodes (its pods tolerate NotReady)
`
	if diff := cmp.Diff(strings.ReplaceAll(want[1:], "~", "`"), b.String()); diff != "" {
		t.Error(diff)
	}
}

// TestMarkdownOfDetails: what stands under a row is named once, and nothing is said
// of what says nothing.
func TestMarkdownOfDetails(t *testing.T) {
	var s Screen
	s.Headline.Text = "two"
	s.Add(Body, &Table{Columns: []Column{{Head: "PROBLEM"}}, Rows: []Row{
		{Cells: Cells("Crash"), Detail: []Block{Text(""), Text("exits with code 1"), Text("oops")}},
		{Cells: Cells("Late"), Detail: []Block{Text("")}},
	}})
	var b strings.Builder
	if err := s.Markdown(&b); err != nil {
		t.Fatal(err)
	}
	want := "### two\n\n| PROBLEM |\n| --- |\n| Crash |\n| Late |\n\n**Crash:** exits with code 1\n\noops\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}
