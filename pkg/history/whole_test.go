package history

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

func minute(n int) *time.Time {
	at := began.Add(time.Duration(n) * time.Minute).UTC()
	return &at
}

func ago(minutes int) *time.Time {
	at := dstest.Now.Add(-time.Duration(minutes) * time.Minute).UTC()
	return &at
}

func count(n int) *int { return &n }

func pod(name string, change func(*corev1.Pod)) dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) {
		for i := range s.Pods {
			if s.Pods[i].Name == name {
				change(&s.Pods[i])
			}
		}
	})
}

// madeAgo sets the age of a pod, in minutes.
func madeAgo(minutes int) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(*ago(minutes)) }
}

// TestWholeHistory compares every field of one history: a rollback that has
// reached one of three nodes, and a pod whose revision is gone.
func TestWholeHistory(t *testing.T) {
	s := past(t, "3=a@1+9 2=b@2 a | 2b 2b/3a 3a 0x",
		pod("p0a", madeAgo(300)), pod("p1a", func(p *corev1.Pod) { p.Status.Conditions = nil }), pod("p2a", madeAgo(30)), pod("p3a", madeAgo(500)),
		dstest.Edit(func(s *snapshot.Snapshot) {
			metav1.SetMetaDataAnnotation(&s.Revisions[0].ObjectMeta, "kubernetes.io/change-cause", "back")
			setup := contentOf(s, "b")
			setup.Spec.InitContainers = []corev1.Container{{Name: "setup", Image: "example/setup:1"}}
			s.Revisions[1].Data = storedData(t, &setup, false)
			other := s.Revisions[1]
			other.Namespace, other.Data.Raw = "elsewhere", []byte(`{}`)
			other.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m", Time: &metav1.Time{Time: dstest.Now}}}
			s.Revisions = append([]appsv1.ControllerRevision{other}, s.Revisions...)
			s.Gaps = []snapshot.Gap{
				{What: snapshot.Nodes, Why: snapshot.Forbidden}, {What: snapshot.Events, Why: snapshot.Forbidden},
				{What: snapshot.PodDisruptionBudgets, Why: snapshot.Forbidden}, {What: snapshot.Version, Why: snapshot.Failed, Message: "timeout"},
			}
			s.DaemonSet.Spec.Template.Spec.Tolerations = nil
		}))
	want := &History{
		Header: daemonset.Header{
			APIVersion: snapshot.APIVersion, Kind: Kind,
			DaemonSet:   daemonset.Ref{Namespace: "kube-system", Name: "agent", UID: string(s.DaemonSet.UID), Generation: s.DaemonSet.Generation, ObservedGeneration: s.DaemonSet.Status.ObservedGeneration, Strategy: "RollingUpdate"},
			Controller:  daemonset.Controller{KubernetesVersion: s.KubernetesVersion, Source: snapshot.VersionServer},
			Snapshot:    daemonset.Reading{TakenAt: dstest.Now, Gaps: []daemonset.Gap{{Gap: snapshot.Gap{What: snapshot.Version, Why: snapshot.Failed, Message: "timeout"}, Consequence: snapshot.RulesAssumed}}},
			Assumptions: []daemonset.Assumption{{Code: daemonset.AssumeControllerVersion, Value: s.KubernetesVersion, Source: "Server"}},
		},
		CurrentSince: minute(9),
		Rollout:      Rollout{Code: UnderWay, Pods: count(5), Current: count(2), Available: count(2), NotYetAvailable: count(0), NotReady: count(0), Terminating: count(0)},
		Renumbered:   []Renumbered{{Revision: 1, Name: "agent-3a", Now: 3, Kind: ChangeFirst, Change: []FieldChange{}}},
		Limit:        10,
		Next: daemonset.StepRevisions{
			Current: []string{"agent-3a"}, Number: 3, Adopt: []string{}, Release: []string{}, Relabel: []string{}, Remove: []daemonset.Removal{},
		},
		Managers: []Manager{},
		Revisions: []Revision{
			{
				Revision: 3, Name: "agent-3a", Hash: "3a", Claim: daemonset.Owned, CreatedAt: minute(1), TakenUpAt: minute(9), Current: true, ChangeCause: "back",
				Images: []Image{{"agent", "example/agent:a"}}, Nodes: count(1), Updated: count(1), Pods: count(2), Available: count(1), OnNodes: []string{"n2"}, OldestPodAt: ago(59), NewestPodAt: ago(30),
				From: 2, Kind: ChangeTemplate, Notes: []NoteCode{TakenUpAgain},
				Change: []FieldChange{
					{Difference: template.Difference{Path: template.ParsePath("spec.template.spec.containers[name=agent].image"), Old: template.ValueOf("example/agent:b"), New: template.ValueOf("example/agent:a")}, Kind: FieldSet, Managers: []string{}},
					{Difference: template.Difference{Path: template.ParsePath("spec.template.spec.initContainers"), Old: template.ParseValue(`[{"image":"example/setup:1","name":"setup","resources":{}}]`)}, Kind: FieldSet, Managers: []string{}},
				},
			},
			{
				Revision: 2, Name: "agent-2b", Hash: "2b", Claim: daemonset.Owned, CreatedAt: minute(2),
				Images: []Image{{"agent", "example/agent:b"}, {"setup", "example/setup:1"}}, Nodes: count(2), Updated: count(0), Pods: count(2), Available: count(1), OnNodes: []string{"n0", "n1"},
				OldestPodAt: ago(300), NewestPodAt: ago(60), From: 1, Kind: ChangeTemplate, Notes: []NoteCode{}, // from what is 3 now
				Change: []FieldChange{
					{Difference: template.Difference{Path: template.ParsePath("spec.template.spec.containers[name=agent].image"), Old: template.ValueOf("example/agent:a"), New: template.ValueOf("example/agent:b")}, Kind: FieldSet, Managers: []string{}},
					{Difference: template.Difference{Path: template.ParsePath("spec.template.spec.initContainers"), New: template.ParseValue(`[{"image":"example/setup:1","name":"setup","resources":{}}]`)}, Kind: FieldSet, Managers: []string{}},
				},
			},
			{
				Hash: "0x", Inferred: true, Images: []Image{{"agent", "example/agent:x"}}, Nodes: count(1), Updated: count(0), Pods: count(1), Available: count(1), OnNodes: []string{"n3"},
				OldestPodAt: ago(500), NewestPodAt: ago(500), Kind: ChangeUnknown, Change: []FieldChange{}, Notes: []NoteCode{NoRevision},
			},
		},
		Notes: []Note{
			{TakenUpAgain, []string{"agent-3a"}, daemonset.Facts{"told": "ManagedFields", "was": 1, "after": "2026-02-28T12:02:00Z"}},
			{MissingNumbers, []string{}, daemonset.Facts{"numbers": []string{"1"}, "why": "TakenUpAgain"}},
			{NoRevision, []string{}, daemonset.Facts{"hashes": []string{"0x"}, "pods": 1}},
		},
	}
	if diff := cmp.Diff(want, of(t, s, Options{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestInferredRows tests the rows without revisions: pods by hash, the newest
// first by template generation, then by their newest pod, then by hash.
func TestInferredRows(t *testing.T) {
	generation := func(name, n string) dstest.Option {
		return pod(name, func(p *corev1.Pod) { p.Labels["pod-template-generation"] = n })
	}
	s := past(t, "a | a a b c d e", pod("p0a", madeAgo(90)), pod("p1a", madeAgo(80)), pod("p2a", madeAgo(10)), pod("p3a", madeAgo(75)), pod("p4a", madeAgo(20)), pod("p5a", madeAgo(70)),
		generation("p0a", "7"), generation("p1a", "9"), generation("p2a", "8"), dstest.Edit(lackRevisions))
	type row struct {
		Hash           string
		Oldest, Newest *time.Time
		Inferred       bool
		Current        bool
	}
	var got []row
	for _, r := range of(t, s, Options{}).Revisions {
		got = append(got, row{r.Hash, r.OldestPodAt, r.NewestPodAt, r.Inferred, r.Current})
	}
	want := []row{
		{"a", ago(90), ago(80), true, false}, {"b", ago(10), ago(10), true, false}, {"d", ago(20), ago(20), true, false}, {"e", ago(70), ago(70), true, false}, {"c", ago(75), ago(75), true, false},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTemplate checks that a row's template is what its revision holds, with
// all values, and that nil stands for the live one.
func TestTemplate(t *testing.T) {
	s := past(t, "1=a' 2=b c", dstest.Edit(func(s *snapshot.Snapshot) {
		other := s.Revisions[0]
		other.Namespace, other.Data = "elsewhere", s.Revisions[1].Data
		s.Revisions = append([]appsv1.ControllerRevision{other}, s.Revisions...)
	}))
	h := of(t, s, Options{})
	for number, image := range map[int64]string{1: "a", 2: "b", 0: "c"} {
		row, err := Find(h, Which{Number: number, Live: number == 0})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Template(h, s, row)
		if err != nil {
			t.Fatal(err)
		}
		tmpl := contentOf(s, image)
		want, err := template.Of(&tmpl, false)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.Plain(), got); diff != "" {
			t.Errorf("%d (-want +got):\n%s", number, diff)
		}
	}
	s.Revisions[1].Data.Raw = []byte(`{}`)
	row, err := Find(h, Which{Number: 1})
	if err != nil {
		t.Fatal(err)
	}
	const want = "revision 1, controllerrevision agent-1a: data: not a patch of spec.template alone"
	if _, err := Template(h, s, row); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if _, err := Object(h, s, row); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if _, err := try(s, Options{Diff: &Between{To: &Which{Number: 2}}}); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
