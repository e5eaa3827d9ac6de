package whatif

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// moved lists the fields of nodes and pods that differ, one per line.
func moved(t *testing.T, before, after *snapshot.Snapshot) []string {
	t.Helper()
	lines := []string{}
	lines = append(lines, movedObjects(t, "node", before.Nodes, after.Nodes, func(n *corev1.Node) string { return n.Name })...)
	return append(lines, movedObjects(t, "pod", before.Pods, after.Pods, func(p *corev1.Pod) string { return p.Name })...)
}

func movedObjects[T any](t *testing.T, kind string, before, after []T, name func(*T) string) []string {
	t.Helper()
	var lines []string
	old := map[string]*T{}
	for i := range before {
		old[name(&before[i])] = &before[i]
	}
	for i := range after {
		n := name(&after[i])
		was := old[n]
		if delete(old, n); was == nil {
			lines = append(lines, kind+" "+n+" is new")
			continue
		}
		a, err := template.Parse(was)
		if err != nil {
			t.Fatal(err)
		}
		b, err := template.Parse(&after[i])
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range template.Between[T](a, b) {
			lines = append(lines, fmt.Sprintf("%s %s %s: %s -> %s", kind, n, d.Path, d.Old, d.New))
		}
	}
	for n := range old {
		lines = append(lines, kind+" "+n+" is gone")
	}
	slices.Sort(lines)
	return lines
}

const taintedSince = `"timeAdded":"2026-03-01T12:00:00Z"`

func TestNodeEdits(t *testing.T) {
	pressed := dstest.Node("n0", func(n *corev1.Node) {
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue})
		n.Spec.Taints = append(n.Spec.Taints, *dstest.Taint("node.kubernetes.io/disk-pressure:NoSchedule"), *dstest.Taint("node.kubernetes.io/not-ready:NoExecute"), *dstest.Taint("a:NoSchedule"))
	})
	unreachable := `{"effect":"NoSchedule","key":"node.kubernetes.io/unreachable",` + taintedSince + `},{"effect":"NoExecute","key":"node.kubernetes.io/unreachable",` + taintedSince + `}`
	for _, tt := range []struct {
		options []dstest.Option
		edits   []NodeEdit
		want    []NodeChange
		moved   []string
		why     string
	}{
		{nil, []NodeEdit{{Kind: NodeTaint, Which: "n1", Taint: dstest.Taint("a=b:NoExecute")}},
			[]NodeChange{{NodeTaint, "a=b:NoExecute", []string{"n1"}}}, []string{`node n1 spec.taints:  -> [{"effect":"NoExecute","key":"a","value":"b"}]`}, "a taint"},
		{[]dstest.Option{dstest.Tainted("n1", "a=b:NoExecute")}, []NodeEdit{{Kind: NodeTaint, Which: "n*", Taint: dstest.Taint("a=b:NoExecute")}},
			[]NodeChange{{NodeTaint, "a=b:NoExecute", []string{"n0", "n2"}}}, []string{
				`node n0 spec.taints:  -> [{"effect":"NoExecute","key":"a","value":"b"}]`, `node n2 spec.taints:  -> [{"effect":"NoExecute","key":"a","value":"b"}]`,
			}, "by a pattern; one that has it already stays as it is"},
		{[]dstest.Option{dstest.Tainted("n1", "a=b:NoExecute", "a=b:NoSchedule")}, []NodeEdit{{Kind: NodeTaint, Which: "n1", Taint: dstest.Taint("a=c:NoExecute")}},
			[]NodeChange{{NodeTaint, "a=c:NoExecute", []string{"n1"}}}, []string{
				`node n1 spec.taints: [{"effect":"NoExecute","key":"a","value":"b"},{"effect":"NoSchedule","key":"a","value":"b"}] -> [{"effect":"NoExecute","key":"a","value":"c"},{"effect":"NoSchedule","key":"a","value":"b"}]`,
			}, "key and effect are a taint's identity"},
		{[]dstest.Option{dstest.Tainted("n1", "a=b:NoExecute", "a=b:NoSchedule", "b:NoSchedule")}, []NodeEdit{{Kind: NodeUntaint, Which: "n1", Taint: dstest.Taint("a")}},
			[]NodeChange{{NodeUntaint, "a", []string{"n1"}}}, []string{
				`node n1 spec.taints: [{"effect":"NoExecute","key":"a","value":"b"},{"effect":"NoSchedule","key":"a","value":"b"},{"effect":"NoSchedule","key":"b"}] -> [{"effect":"NoSchedule","key":"b"}]`,
			}, "a key without an effect is all of its taints"},
		{[]dstest.Option{dstest.Tainted("n1", "a:NoExecute", "a:NoSchedule")}, []NodeEdit{{Kind: NodeUntaint, Which: "n*", Taint: dstest.Taint("a:NoSchedule")}},
			[]NodeChange{{NodeUntaint, "a:NoSchedule", []string{"n1"}}}, []string{
				`node n1 spec.taints: [{"effect":"NoExecute","key":"a"},{"effect":"NoSchedule","key":"a"}] -> [{"effect":"NoExecute","key":"a"}]`,
			}, "with one, only that; and it is enough that one node has it"},
		{[]dstest.Option{dstest.Tainted("n1", "a:NoExecute")}, []NodeEdit{{Kind: NodeUntaint, Which: "n1", Taint: dstest.Taint("a")}},
			[]NodeChange{{NodeUntaint, "a", []string{"n1"}}}, []string{`node n1 spec.taints: [{"effect":"NoExecute","key":"a"}] -> `}, "the last one"},

		{[]dstest.Option{dstest.Labeled("n1", "pool=a"), dstest.Labeled("n2", "pool=b")}, []NodeEdit{{Kind: NodeLabel, Which: "pool in (a,b)", Key: "pool", Value: "b"}},
			[]NodeChange{{NodeLabel, "pool=b", []string{"n1"}}}, []string{`node n1 metadata.labels.pool: "a" -> "b"`}, "a label, by a selector; a value is replaced without asking"},
		{nil, []NodeEdit{{Kind: NodeLabel, Which: "!pool", Key: "pool", Value: ""}}, []NodeChange{{NodeLabel, "pool=", []string{"n0", "n1", "n2"}}},
			[]string{`node n0 metadata.labels.pool:  -> ""`, `node n1 metadata.labels.pool:  -> ""`, `node n2 metadata.labels.pool:  -> ""`}, "an empty value is one"},
		{[]dstest.Option{dstest.Labeled("n1", "pool=a")}, []NodeEdit{{Kind: NodeUnlabel, Which: "n[!0]", Key: "pool"}}, []NodeChange{{NodeUnlabel, "pool", []string{"n1"}}},
			[]string{`node n1 metadata.labels.pool: "a" -> `}, "a label less, by a pattern with a bang"},

		{nil, []NodeEdit{{Kind: NodeCordon, Which: "n0"}}, []NodeChange{{NodeCordon, "", []string{"n0"}}}, []string{
			`node n0 spec.taints:  -> [{"effect":"NoSchedule","key":"node.kubernetes.io/unschedulable",` + taintedSince + `}]`, `node n0 spec.unschedulable:  -> true`,
		}, "cordon, with the taint that comes with it"},
		{nil, []NodeEdit{{Kind: NodeCordon, Which: "n0"}, {Kind: NodeCordon, Which: "n0"}, {Kind: NodeUncordon, Which: "n[12]"}}, []NodeChange{
			{NodeCordon, "", []string{"n0"}}, {NodeCordon, "", []string{}}, {NodeUncordon, "", []string{}},
		}, []string{
			`node n0 spec.taints:  -> [{"effect":"NoSchedule","key":"node.kubernetes.io/unschedulable",` + taintedSince + `}]`, `node n0 spec.unschedulable:  -> true`,
		}, "one edit after the other; what changes nothing is no error"},

		{nil, []NodeEdit{{Kind: NodeDown, Which: "n0"}}, []NodeChange{{NodeDown, "", []string{"n0"}}}, []string{
			`node n0 spec.taints:  -> [` + unreachable + `]`,
			`node n0 status.conditions[type=Ready].lastTransitionTime:  -> "2026-03-01T12:00:00Z"`,
			`node n0 status.conditions[type=Ready].message:  -> "Kubelet stopped posting node status."`,
			`node n0 status.conditions[type=Ready].reason:  -> "NodeStatusUnknown"`,
			`node n0 status.conditions[type=Ready].status: "True" -> "Unknown"`,
			`pod p0 status.conditions[type=Ready].lastTransitionTime: "2026-02-25T09:00:00Z" -> "2026-03-01T12:00:00Z"`,
			`pod p0 status.conditions[type=Ready].status: "True" -> "False"`,
		}, "a node goes down: unreachable, and its pods not ready"},
		{[]dstest.Option{pressed}, []NodeEdit{{Kind: NodeDown, Which: "n0"}}, []NodeChange{{NodeDown, "", []string{"n0"}}}, []string{
			`node n0 spec.taints: [{"effect":"NoSchedule","key":"node.kubernetes.io/disk-pressure"},{"effect":"NoExecute","key":"node.kubernetes.io/not-ready"},{"effect":"NoSchedule","key":"a"}] -> [{"effect":"NoSchedule","key":"a"},` + unreachable + `]`,
			`node n0 status.conditions[type=DiskPressure].lastTransitionTime:  -> "2026-03-01T12:00:00Z"`,
			`node n0 status.conditions[type=DiskPressure].message:  -> "Kubelet stopped posting node status."`,
			`node n0 status.conditions[type=DiskPressure].reason:  -> "NodeStatusUnknown"`,
			`node n0 status.conditions[type=DiskPressure].status: "True" -> "Unknown"`,
			`node n0 status.conditions[type=Ready].lastTransitionTime:  -> "2026-03-01T12:00:00Z"`,
			`node n0 status.conditions[type=Ready].message:  -> "Kubelet stopped posting node status."`,
			`node n0 status.conditions[type=Ready].reason:  -> "NodeStatusUnknown"`,
			`node n0 status.conditions[type=Ready].status: "True" -> "Unknown"`,
			`pod p0 status.conditions[type=Ready].lastTransitionTime: "2026-02-25T09:00:00Z" -> "2026-03-01T12:00:00Z"`,
			`pod p0 status.conditions[type=Ready].status: "True" -> "False"`,
		}, "what its kubelet said is not known any more, and the taints that came of it go"},
		{nil, []NodeEdit{{Kind: NodeDown, Which: "n2"}, {Kind: NodeDown, Which: "n2"}}, []NodeChange{{NodeDown, "", []string{"n2"}}, {NodeDown, "", []string{}}}, []string{
			`node n2 spec.taints:  -> [` + unreachable + `]`,
			`node n2 status.conditions[type=Ready].lastTransitionTime:  -> "2026-03-01T12:00:00Z"`,
			`node n2 status.conditions[type=Ready].message:  -> "Kubelet stopped posting node status."`,
			`node n2 status.conditions[type=Ready].reason:  -> "NodeStatusUnknown"`,
			`node n2 status.conditions[type=Ready].status: "True" -> "Unknown"`,
		}, "which it can be once"},
		{nil, []NodeEdit{{Kind: NodeRemove, Which: "n[12]"}}, []NodeChange{{NodeRemove, "", []string{"n1", "n2"}}}, []string{
			"node n1 is gone", "node n2 is gone", "pod p1 is gone", "pod p1b is gone",
		}, "a node goes with the pods that are bound to it"},
		{[]dstest.Option{dstest.Pod("p1", func(p *corev1.Pod) { p.Spec.NodeName = "" })}, []NodeEdit{{Kind: NodeRemove, Which: "n1"}}, []NodeChange{{NodeRemove, "", []string{"n1"}}}, []string{
			"node n1 is gone", "pod p1b is gone",
		}, "not with those that are only meant for it"},
		{[]dstest.Option{dstest.Tainted("n1", "a:NoExecute"), dstest.Labeled("n1", "pool=a")}, []NodeEdit{{Kind: NodeAdd, Which: "n1", Count: 2}}, []NodeChange{{NodeAdd, "n1", []string{"n1-new-1", "n1-new-2"}}}, []string{
			"node n1-new-1 is new", "node n1-new-2 is new",
		}, "nodes like one"},
		{nil, []NodeEdit{{Kind: NodeRemove, Which: "n[01]"}, {Kind: NodeAdd, Which: "n1", Count: 1}}, []NodeChange{{NodeRemove, "", []string{"n0", "n1"}}, {NodeAdd, "n1", []string{"n1-new-1"}}}, []string{
			"node n0 is gone", "node n1 is gone", "node n1-new-1 is new", "pod p0 is gone", "pod p1 is gone", "pod p1b is gone",
		}, "a node like one that goes"},
		{nil, []NodeEdit{{Kind: NodeAdd, Which: "n1", Count: 1}, {Kind: NodeAdd, Which: "n1", Count: 1}, {Kind: NodeTaint, Which: "*-new-*", Taint: dstest.Taint("a:NoSchedule")}}, []NodeChange{
			{NodeAdd, "n1", []string{"n1-new-1"}}, {NodeAdd, "n1", []string{"n1-new-2"}}, {NodeTaint, "a:NoSchedule", []string{"n1-new-1", "n1-new-2"}},
		}, []string{
			"node n1-new-1 is new", "node n1-new-2 is new",
		}, "no name is given twice, and later edits see them"},
		{nil, []NodeEdit{
			{Kind: NodeLabel, Which: "n*", Key: "a", Value: "b"}, {Kind: NodeLabel, Which: "n1", Key: "a", Value: "b"}, {Kind: NodeLabel, Which: "n0", Key: "c", Value: "d"},
			{Kind: NodeTaint, Which: "n0", Taint: dstest.Taint("a=b:NoSchedule")}, {Kind: NodeTaint, Which: "n0", Taint: dstest.Taint("a=c:NoExecute")}, {Kind: NodeCordon, Which: "n0"}, {Kind: NodeUncordon, Which: "n1"},
		}, []NodeChange{
			{NodeLabel, "a=b", []string{"n0", "n1", "n2"}}, {NodeLabel, "a=b", []string{}}, {NodeLabel, "c=d", []string{"n0"}},
			{NodeTaint, "a=b:NoSchedule", []string{"n0"}}, {NodeTaint, "a=c:NoExecute", []string{"n0"}}, {NodeCordon, "", []string{"n0"}}, {NodeUncordon, "", []string{}},
		}, []string{
			`node n0 metadata.labels.a:  -> "b"`,
			`node n0 metadata.labels.c:  -> "d"`,
			`node n0 spec.taints:  -> [{"effect":"NoSchedule","key":"a","value":"b"},{"effect":"NoExecute","key":"a","value":"c"},{"effect":"NoSchedule","key":"node.kubernetes.io/unschedulable","timeAdded":"2026-03-01T12:00:00Z"}]`,
			"node n0 spec.unschedulable:  -> true",
			`node n1 metadata.labels.a:  -> "b"`,
			`node n2 metadata.labels.a:  -> "b"`,
		}, "what is said twice, and what is of other keys, effects and nodes, contradicts nothing"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := dstest.State("N N/O -", tt.options...)
			after, sum, err := (&Change{Nodes: tt.edits}).applied(s)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, sum.Nodes); diff != "" {
				t.Errorf("said (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.moved, moved(t, s, after)); diff != "" {
				t.Errorf("done (-want +got):\n%s", diff)
			}
			if after.DaemonSet != s.DaemonSet || len(sum.Fields) > 0 {
				t.Error("a change of nodes is none of the DaemonSet")
			}
		})
	}
}

// TestAddedNode tests what a new node copies from the node that it is modeled
// on.
func TestAddedNode(t *testing.T) {
	s := dstest.State("N", dstest.Tainted("n0", "a=b:NoExecute", "node.kubernetes.io/not-ready:NoSchedule", "node.kubernetes.io/unschedulable:NoSchedule", "node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule"),
		dstest.Labeled("n0", "pool=a"), dstest.Node("n0", func(n *corev1.Node) {
			n.UID, n.Spec.Unschedulable = "some", true
			n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionFalse}, {Type: corev1.NodeMemoryPressure, Status: corev1.ConditionTrue}}
			n.Status.NodeInfo.KubeletVersion = "v1.37.1"
		}))
	after, _, err := (&Change{Nodes: []NodeEdit{{Kind: NodeAdd, Which: "n0", Count: 1}}}).applied(s)
	if err != nil {
		t.Fatal(err)
	}
	got := after.Nodes[1]
	want := corev1.Node{
		Spec: corev1.NodeSpec{Taints: []corev1.Taint{*dstest.Taint("a=b:NoExecute")}},
		Status: corev1.NodeStatus{
			NodeInfo:   corev1.NodeSystemInfo{KubeletVersion: "v1.37.1"},
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: got.CreationTimestamp}},
		},
	}
	want.Name, want.CreationTimestamp = "n0-new-1", got.CreationTimestamp
	want.Labels = map[string]string{"pool": "a", corev1.LabelHostname: "n0-new-1", corev1.LabelOSStable: "linux"}
	if diff := cmp.Diff(want, got); diff != "" || !got.CreationTimestamp.Time.Equal(s.TakenAt) {
		t.Errorf("made at %s (-want +got):\n%s", got.CreationTimestamp, diff)
	}
}

func TestNodeEditsRefuse(t *testing.T) {
	for _, tt := range []struct {
		options    []dstest.Option
		edits      []NodeEdit
		want, hint string
		why        string
	}{
		{nil, []NodeEdit{{Kind: NodeCordon, Which: "n4", Said: "--cordon n4"}}, `--cordon n4: node "n4" not found`, "nodes near n4: n0 n1 n2", "a name that nobody has, and those that are near"},
		{nil, []NodeEdit{{Kind: NodeCordon, Which: "worker-7"}}, `node "worker-7" not found`, "nodes near worker-7:", "with none near"},
		{nil, []NodeEdit{{Kind: NodeCordon, Which: "n"}}, `node "n" not found`, "nodes near n: n0 n1 n2", "a name is no part of one"},
		{nil, []NodeEdit{{Kind: NodeCordon, Which: "w*"}}, `no node has a name that matches "w*"`, "nodes near w*:", "a pattern that matches nothing"},
		{nil, []NodeEdit{{Kind: NodeCordon, Which: "n[0"}}, `pattern "n[0": syntax error in pattern`, "", "a pattern that is none"},
		{nil, []NodeEdit{{Kind: NodeCordon, Which: "pool=a"}}, `no node has labels that match "pool=a"`, "nodes by labels pool=a", "a selector that matches nothing"},
		{nil, []NodeEdit{{Kind: NodeCordon, Which: "=a"}}, `label selector "=a": found '=', expected: !, identifier, or 'end of string'`, "", "a selector that is none"},
		{nil, []NodeEdit{{Kind: NodeCordon}}, `the name of the node is empty`, "", "no node"},
		{nil, []NodeEdit{{Kind: NodeUntaint, Which: "n*", Taint: dstest.Taint("a:NoSchedule"), Said: "--taint n*:a:NoSchedule-"}}, `--taint n*:a:NoSchedule-: taint "a:NoSchedule" not found`, "", "a taint that no node has"},
		{[]dstest.Option{dstest.Tainted("n0", "a:NoExecute")}, []NodeEdit{{Kind: NodeUntaint, Which: "n*", Taint: dstest.Taint("a:NoSchedule")}}, `taint "a:NoSchedule" not found`, "", "with that effect"},
		{nil, []NodeEdit{{Kind: NodeUnlabel, Which: "n0", Key: "pool"}}, `label "pool" not found`, "", "a label that no node has"},
		{nil, []NodeEdit{{Kind: NodeTaint, Which: "n*", Taint: dstest.Taint("a=b:NoSchedule")}, {Kind: NodeTaint, Which: "n1", Taint: dstest.Taint("a=c:NoSchedule")}}, `the taint a:NoSchedule is given twice for node n1`, "", "a taint given twice"},
		{nil, []NodeEdit{{Kind: NodeTaint, Which: "n*", Taint: dstest.Taint("a=b:NoSchedule")}, {Kind: NodeUntaint, Which: "n1", Taint: &corev1.Taint{Key: "a"}, Said: "--taint n1:a-"}}, `--taint n1:a-: the taint a is given to node n1 and taken away`, "", "and one that is given and taken away"},
		{[]dstest.Option{dstest.Tainted("n1", "a=b:NoSchedule")}, []NodeEdit{{Kind: NodeUntaint, Which: "n1", Taint: dstest.Taint("a:NoSchedule")}, {Kind: NodeTaint, Which: "n1", Taint: dstest.Taint("a=c:NoSchedule")}}, `the taint a:NoSchedule is given to node n1 and taken away`, "", "in either order"},
		{nil, []NodeEdit{{Kind: NodeLabel, Which: "n*", Key: "a", Value: "b"}, {Kind: NodeLabel, Which: "n1", Key: "a", Value: "c", Said: "--label n1:a=c"}}, `--label n1:a=c: the label a of node n1 is to be "b" and "c"`, "", "a label with two values"},
		{nil, []NodeEdit{{Kind: NodeLabel, Which: "n1", Key: "a", Value: "b"}, {Kind: NodeUnlabel, Which: "n*", Key: "a"}}, `the label a is given to node n1 and taken away`, "", "one that is given and taken away"},
		{nil, []NodeEdit{{Kind: NodeCordon, Which: "n*"}, {Kind: NodeUncordon, Which: "n1"}}, `node n1 is cordoned and uncordoned`, "", "a node that is to be both"},
		{nil, []NodeEdit{{Kind: NodeTaint, Which: "n0", Taint: dstest.Taint("a=b")}}, `"" is no effect of a taint: NoSchedule, PreferNoSchedule, NoExecute`, "", "a taint without an effect"},
		{nil, []NodeEdit{{Kind: NodeUntaint, Which: "n0", Taint: dstest.Taint("a:Never")}}, `"Never" is no effect of a taint: NoSchedule, PreferNoSchedule, NoExecute`, "", "with one that there is not"},
		{nil, []NodeEdit{{Kind: NodeLabel, Which: "n0", Key: "a", Value: "b c"}}, `"a=b c": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`, "", "a label that cannot be"},
		{nil, []NodeEdit{{Kind: NodeAdd, Which: "n*", Count: 1}}, `"n*" is 3 nodes: name one that the new ones are like`, "", "nodes like several"},
		{nil, []NodeEdit{{Kind: NodeAdd, Which: "n0"}}, `0 nodes cannot be added`, "", "no nodes"},
		{nil, []NodeEdit{{Kind: "Paint", Which: "n0"}}, `"Paint" is no change of nodes`, "", "what is no change"},
		{[]dstest.Option{dstest.Lacks(snapshot.Nodes, snapshot.Forbidden)}, []NodeEdit{{Kind: NodeCordon, Which: "n0"}}, `the nodes could not be read, which tell what there is to change: Forbidden`, "nodes in : Forbidden", "nodes that could not be read"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			_, sum, err := (&Change{Nodes: tt.edits}).applied(dstest.State("N N -", tt.options...))
			if err == nil {
				t.Fatalf("not refused: %+v", sum.Nodes)
			}
			if err.Error() != tt.want {
				t.Errorf("%s\nwant\n%s", err, tt.want)
			}
			if got := offered(err); got != tt.hint {
				t.Errorf("hint %q, want %q", got, tt.hint)
			}
		})
	}
}
