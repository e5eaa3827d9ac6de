package eligible_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause/eligible"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// TestNoneEligible checks when no node is eligible, and which change to the template caused it. A revision is written
// as its number and what its template selects; the last one is the live template.
func TestNoneEligible(t *testing.T) {
	for _, tt := range []struct {
		nodes     string // a dstest grid
		revisions []string
		edit      func(*snapshot.Snapshot)
		want      string
		why       string
	}{
		{"- -", []string{"1 a", "2 b"}, nil, "2 nodes, 0 stay; Template 2 after 1, 2 eligible: [nodeSelector], since true", "a typo"},
		{"- -", []string{"1 a", "2 b", "3 c"}, nil, "2 nodes, 0 stay; Template 2 after 1, 2 eligible: [nodeSelector], since true", "two typos: the first made it so"},
		{"- -", []string{"1 a", "2 b", "3 a", "4 b"}, nil, "2 nodes, 0 stay; Template 4 after 3, 2 eligible: [nodeSelector], since true", "corrected between"},
		{"- -", []string{"1 c", "2 b"}, nil, "2 nodes, 0 stay; NotTemplate", "no template that is kept selects a node of today"},
		{"- -", []string{"2 b"}, nil, "2 nodes, 0 stay; NotTemplate", "there is no other template"},
		{"- -", []string{"3 a", "7 b"}, func(s *snapshot.Snapshot) { s.Revisions[1].CreationTimestamp = s.Revisions[0].CreationTimestamp },
			"2 nodes, 0 stay; Template 7 after 3, 2 eligible: [nodeSelector], since false", "a rollback made a revision current that is older than the one before: since when is not known"},
		{"- -", []string{"1 a", "2 b"}, func(s *snapshot.Snapshot) { s.Revisions[0].Data.Raw = []byte("{") }, "2 nodes, 0 stay; Unknown", "the revision before cannot be read"},
		{"- -", []string{"1 a", "2 b"}, func(s *snapshot.Snapshot) {
			s.Revisions, s.Gaps = nil, []snapshot.Gap{{What: snapshot.Revisions, Why: snapshot.Forbidden}}
		}, "2 nodes, 0 stay; Unknown", "no revision can"},
		{"- -", []string{"1 a", "2 b"}, func(s *snapshot.Snapshot) {
			s.DaemonSet.Spec.Template.Spec.NodeSelector, s.DaemonSet.Spec.Template.Spec.NodeName = map[string]string{"pool": "c"}, "x"
		}, "2 nodes, 0 stay; Template 2 after 1, 2 eligible: [nodeSelector], since true", "the live template has no revision yet, and the newest one made it so"},
		{"- -", []string{"1 a"}, func(s *snapshot.Snapshot) { s.DaemonSet.Spec.Template.Spec.NodeName = "x" },
			"2 nodes, 0 stay; Template 2 after 1, 2 eligible: [nodeName], since false", "and here the live one did"},
		{"- -", []string{"1 a"}, func(s *snapshot.Snapshot) {
			spec := &s.DaemonSet.Spec.Template.Spec
			spec.HostNetwork, spec.SchedulerName, spec.Tolerations = true, "other", []corev1.Toleration{{Key: "k", Operator: corev1.TolerationOpExists}}
			spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{}, NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{}}}
		}, "2 nodes, 0 stay; Template 2 after 1, 2 eligible: [affinity tolerations hostNetwork], since false", "of several fields, those that decide on placement"},
		{"!N !-", []string{"1 a"}, nil, "2 nodes, 1 stay; NotTemplate", "a taint, with which a pod stays"},
		{"!N !-", []string{"1 a"}, func(s *snapshot.Snapshot) {
			s.Nodes, s.Gaps = nil, []snapshot.Gap{{What: snapshot.Nodes, Why: snapshot.Forbidden}}
		}, "-", "nodes that could not be read"},
		{"!- -", []string{"1 a"}, nil, "-", "one is eligible"},
		{"~N", []string{"1 a", "2 b"}, nil, "-", "there is no node"},
		{"- -", []string{"1 a", "2 b"}, func(s *snapshot.Snapshot) { now := metav1.NewTime(dstest.Now); s.DaemonSet.DeletionTimestamp = &now }, "-", "it is being deleted"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := dstest.State(tt.nodes)
			for i := range s.Nodes {
				s.Nodes[i].Labels = map[string]string{"pool": "a"}
			}
			setRevisions(t, s, tt.revisions)
			if tt.edit != nil {
				tt.edit(s)
			}
			if diff := cmp.Diff(tt.want, eligibility(t, s)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func eligibility(t *testing.T, s *snapshot.Snapshot) string {
	t.Helper()
	st := newState(t, s)
	c := eligible.None(st, nil)
	if c == nil {
		return "-"
	}
	facts, since := eligible.NoneSince(st)
	maps.Copy(c.Facts, facts)
	c.Since = since
	f := c.Facts
	words := fmt.Sprintf("%v nodes, %v stay; %v", f["nodes"], f["staying"], f["changed"])
	if f["changed"] == eligible.ChangedTemplate {
		words += fmt.Sprintf(" %v after %v, %v eligible: %v, since %t", f["number"], f["before"], f["eligible"], f["fields"], c.Since != nil)
	}
	return words
}

// setRevisions gives a DaemonSet other revisions, a minute apart, and the template of the last one.
func setRevisions(t *testing.T, s *snapshot.Snapshot, all []string) {
	t.Helper()
	like := s.Revisions[1]
	s.Revisions = nil
	for i, text := range all {
		var number int64
		var pool string
		if _, err := fmt.Sscanf(text, "%d %s", &number, &pool); err != nil {
			t.Fatal(err)
		}
		r := *like.DeepCopy()
		r.Name, r.Revision = fmt.Sprintf("agent-%d", number), number
		r.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] = fmt.Sprint("hash", number)
		r.CreationTimestamp = metav1.NewTime(dstest.Now.Add(time.Duration(i-60) * time.Minute))
		var data map[string]any
		if err := json.Unmarshal(like.Data.Raw, &data); err != nil {
			t.Fatal(err)
		}
		spec := data["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
		spec["nodeSelector"] = map[string]any{"pool": pool}
		raw, err := json.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		r.Data.Raw = raw
		s.DaemonSet.Spec.Template.Spec.NodeSelector = map[string]string{"pool": pool}
		s.Revisions = append(s.Revisions, r)
	}
}

// TestNoneEligibleFor checks which nodes come nearest to being eligible, and what excludes them. A node is written as
// its labels, followed by a bar and its taints.
func TestNoneEligibleFor(t *testing.T) {
	selects := func(pairs ...string) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) { s.NodeSelector = labelsOf(t, strings.Join(pairs, " ")) }
	}
	in := func(key string, values ...string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
	}
	anyOf := func(terms ...[]corev1.NodeSelectorRequirement) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) {
			required := &corev1.NodeSelector{}
			for _, term := range terms {
				required.NodeSelectorTerms = append(required.NodeSelectorTerms, corev1.NodeSelectorTerm{MatchExpressions: term})
			}
			s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required}}
		}
	}
	type requirements = []corev1.NodeSelectorRequirement
	for _, tt := range []struct {
		nodes []string
		spec  func(*corev1.PodSpec)
		want  string
		why   string
	}{
		{[]string{"pool=core", "pool=core", "pool=core", "pool=user | own=a:NoSchedule", "pool=user | own=a:NoSchedule"}, selects("pool=user"),
			"[n3 n4] Taint taints [own=a:NoSchedule] selects [nodeSelector]", "a node with the label and a taint is nearer than one without the label"},
		{[]string{" | own=a:NoSchedule", " | gone:NoExecute own=a:NoSchedule"}, selects(), "[n0] Taint taints [own=a:NoSchedule] selects []", "one taint is nearer than two"},
		{[]string{" | a:NoSchedule", " | b:NoSchedule", " | b:NoSchedule"}, selects(), "[n1 n2] Taint taints [b:NoSchedule] selects []", "of two taints that of more nodes"},
		{[]string{"kubernetes.io/os=linux | a:NoSchedule"}, selects("kubernetes.io/os=linux"), "[n0] Taint taints [a:NoSchedule] selects []", "every node has an operating system"},
		{[]string{" | node.kubernetes.io/not-ready:NoSchedule"}, selects(), "[n0] NodeCondition taints [node.kubernetes.io/not-ready:NoSchedule] selects []", "the taint of a node that is not ready"},
		{[]string{" | ToBeDeletedByClusterAutoscaler=1:NoSchedule"}, selects(), "[n0] NodeUnsuitable taints [ToBeDeletedByClusterAutoscaler=1:NoSchedule] selects []", "a node that is being removed"},
		{[]string{" | node.kubernetes.io/unschedulable:NoSchedule a:NoSchedule"}, selects(), "[n0] Taint taints [a:NoSchedule] selects []", "the controller tolerates a cordon"},
		{[]string{"pool=a", ""}, selects("pool=b"), "[n0 n1] NodeSelector labels [pool=b] selects [nodeSelector]", "no node has the label"},
		{[]string{"pool=b", "tier=x"}, selects("pool=b", "tier=x"), "[n0] NodeSelector selects [nodeSelector]", "each label is on a node, and no node has both"},
		{[]string{"", ""}, anyOf(requirements{in("a", "1")}, requirements{in("b", "1", "2")}, requirements{{Key: "c", Operator: corev1.NodeSelectorOpExists}}),
			"[n0 n1] NodeAffinity labels [a=1 b in (1,2) c] selects [affinity]", "one label of each term"},
		{[]string{"x=1", "x=1 | own=a:NoSchedule"}, anyOf(requirements{in("x", "1"), in("a", "1")}), "[n0] NodeAffinity labels [a=1] selects [affinity]", "of a term what no node has"},
		{[]string{"x=1", "y=1"}, anyOf(requirements{in("x", "1"), in("y", "1")}), "[n0 n1] NodeAffinity selects [affinity]", "each label is on a node"},
		{[]string{"x=1"}, anyOf(requirements{{Key: "x", Operator: corev1.NodeSelectorOpDoesNotExist}}), "[n0] NodeAffinity selects []", "no label is lacking: one is too many"},
		{[]string{"x=1"}, anyOf(), "[n0] NodeAffinity selects [affinity]", "an affinity without terms"},
		{[]string{""}, func(s *corev1.PodSpec) { s.NodeName = "x" }, "[n0] NodeName selects []", "the template names another node"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := dstest.State(strings.TrimSpace(strings.Repeat("- ", len(tt.nodes))))
			for i, text := range tt.nodes {
				labels, taints, _ := strings.Cut(text, "|")
				s.Nodes[i].Labels, s.Nodes[i].Spec.Taints = labelsOf(t, labels), nil
				for _, taint := range strings.Fields(taints) {
					name, effect, _ := strings.Cut(taint, ":")
					key, value, _ := strings.Cut(name, "=")
					s.Nodes[i].Spec.Taints = append(s.Nodes[i].Spec.Taints, corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)})
				}
			}
			tt.spec(&s.DaemonSet.Spec.Template.Spec)
			st := newState(t, s)
			if eligible.None(st, nil) == nil {
				t.Fatal("a node is eligible")
			}
			f := eligible.NearestFacts(st)
			got := fmt.Sprint(f["nearest"], " ", f["excludedBy"])
			for _, key := range []string{"taints", "labels", "selects"} {
				if f[key] != nil {
					got += fmt.Sprint(" ", key, " ", f[key])
				}
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// labelsOf parses labels that are written as key=value.
func labelsOf(t *testing.T, text string) map[string]string {
	t.Helper()
	labels := map[string]string{}
	for _, pair := range strings.Fields(text) {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			t.Fatalf("%q is no label", pair)
		}
		labels[key] = value
	}
	return labels
}

func newState(t *testing.T, s *snapshot.Snapshot) *daemonset.State {
	t.Helper()
	st, err := daemonset.StateOf(s)
	if err != nil {
		t.Fatal(err)
	}
	return st
}
