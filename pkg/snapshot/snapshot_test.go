package snapshot

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestConsequence(t *testing.T) {
	for _, tt := range []struct {
		gap  Gap
		want Consequence
		why  string
	}{
		{Gap{What: Nodes, Why: Forbidden}, PlacementUnknown, "a part that was refused is missing"},
		{Gap{What: Pods, Why: Failed}, PodsUnknown, "so is one that could not be read"},
		{Gap{What: Revisions, Why: NotGiven}, RevisionInferred, "and one that a dump lacks"},
		{Gap{What: DaemonSetStatus, Why: NotGiven}, ReportedUnknown, "what the status of the daemonset says"},
		{Gap{What: NodeStatus, Why: NotGiven}, NodeConditionsUnknown, "what the status of nodes says"},
		{Gap{What: PodStatus, Why: NotGiven}, PodStatesUnknown, "what the status of pods says"},
		{Gap{What: Pods, Why: Moved}, SeveralMoments, "a part that moved is there"},
		{Gap{What: Nodes, Why: Moved}, SeveralMoments, "whichever it is"},
	} {
		if got := tt.gap.Consequence(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.why, got, tt.want)
		}
		if s := (&Snapshot{Gaps: []Gap{tt.gap}}); s.Lacks(tt.gap.What) == (tt.want == SeveralMoments) {
			t.Errorf("%s: Lacks says otherwise", tt.why)
		}
	}
}

// TestHolding checks that the gaps of a part are those of its last reading, and
// that other gaps stay.
func TestHolding(t *testing.T) {
	gap := func(what What, message string) Gap { return Gap{What: what, Why: Failed, Message: message} }
	s := &Snapshot{Gaps: []Gap{gap(Nodes, "a"), gap(PodsOfOthers, "old"), gap(Webhooks, "old"), gap(Clock, "a")}}
	news := []Gap{gap(Clock, "new"), gap(Webhooks, "new"), gap(BudgetsOfOthers, "new"), gap(BudgetsOfOthers, "new"), gap(Namespaces, "new")}
	for _, tt := range []struct {
		got  *Snapshot
		want []Gap
		why  string
	}{
		{s.Holding(&OtherPods{}, news), []Gap{gap(Nodes, "a"), gap(BudgetsOfOthers, "new"), gap(Webhooks, "old"), gap(Clock, "a")}, "of a question about fit, each once"},
		{s.Admitting(&Admission{}, news), []Gap{gap(Nodes, "a"), gap(PodsOfOthers, "old"), gap(Namespaces, "new"), gap(Webhooks, "new"), gap(Clock, "a")}, "of one about admission"},
	} {
		if diff := cmp.Diff(tt.want, tt.got.Gaps); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
	if s.Holding(&OtherPods{}, nil).OtherPods == nil || s.Admitting(&Admission{}, nil).Admission == nil || len(s.Gaps) != 4 {
		t.Error("a part is lost, or the Snapshot was changed")
	}
}

// TestDecodeWhatIsOlder decodes a file without PodDisruptionBudgets, from
// before they were read.
func TestDecodeWhatIsOlder(t *testing.T) {
	s := &Snapshot{DaemonSet: &appsv1.DaemonSet{}, TakenAt: time.Unix(1_800_000_000, 0).UTC()}
	s.DaemonSet.Name, s.DaemonSet.Spec.Selector = "agent", &metav1.LabelSelector{}
	raw, err := Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	older := bytes.Replace(raw, []byte(`,"podDisruptionBudgets":[]`), nil, 1)
	if len(older) == len(raw) {
		t.Fatalf("no empty list of PodDisruptionBudgets in %s", raw)
	}
	got, err := Decode(older)
	if diff := cmp.Diff(s, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}

	s.PodDisruptionBudgets = []policyv1.PodDisruptionBudget{{ObjectMeta: metav1.ObjectMeta{Name: "b"}}}
	if raw, err = Encode(s); err != nil {
		t.Fatal(err)
	}
	got, err = Decode(raw)
	if diff := cmp.Diff(s, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestTellsWrites(t *testing.T) {
	for _, tt := range []struct {
		version string
		want    bool
		why     string
	}{
		{"v1.24.17", false, "the last that keeps the time when a value changes"},
		{"v1.25.0", true, "the first that does not"},
		{"v1.24.17-eks-1234567", false, "of a distribution"},
		{"v1.37.1", true, "the newest"},
		{"", true, "unknown: the newest"},
	} {
		if got := (&Snapshot{KubernetesVersion: tt.version}).TellsWrites(); got != tt.want {
			t.Errorf("%s: %q: got %t", tt.why, tt.version, got)
		}
	}
}
