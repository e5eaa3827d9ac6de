package daemonset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// lawVersions are one of each kind of rolling update, and the newest.
var lawVersions = []string{"v1.17.4", "v1.22.17", "v1.28.2", "v1.30.5", "v1.37.1"}

// eachRandom calls a law with random states, of every version in turn.
func eachRandom(t *testing.T, states int, law func(t *testing.T, s *snapshot.Snapshot, st *State)) {
	t.Helper()
	for seed := range int64(states) {
		s := dstest.RandomFor(seed, lawVersions[int(seed)%len(lawVersions)])
		law(t, s, state(t, s))
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, dstest.Describe(s))
		}
	}
}

// everything is all that a State says, as one text.
func everything(t *testing.T, st *State) string {
	t.Helper()
	var b strings.Builder
	counts, known := st.Counts()
	fmt.Fprintln(&b, counts, known, st.Budget, st.Used(), st.Limit(), st.Desired)
	for _, v := range []any{st.Sync(), st.History} {
		raw, err := json.MarshalIndent(v, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n", raw)
	}
	pod := func(p *Pod) {
		fmt.Fprintln(&b, "  ", p.Name, p.Claim, p.Terminating, p.Hash, p.Revision, p.UpdatedBy, p.Updated, p.Ready, p.Available, p.AvailableAt, p.Ignored)
	}
	for i := range st.Nodes {
		n := &st.Nodes[i]
		fmt.Fprintln(&b, n.Name, n.Exists, n.ShouldRun, n.MayStay, n.Slot, n.Membership())
		for j := range n.Pods {
			pod(&n.Pods[j])
		}
		for j := range n.Ignored {
			pod(&n.Ignored[j])
		}
		if n.Object != nil {
			fmt.Fprintln(&b, st.Placement.Checks(n.Object), len(st.Placement.SmallestChange(n.Object)))
		}
	}
	for i := range st.Unmapped {
		pod(&st.Unmapped[i])
	}
	for _, p := range st.Foreign {
		fmt.Fprintln(&b, "foreign", p.Name)
	}
	return b.String()
}

func TestInputIsUnchanged(t *testing.T) {
	eachRandom(t, 300, func(t *testing.T, s *snapshot.Snapshot, st *State) {
		before, err := snapshot.Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		again := state(t, s)
		if first, second := everything(t, again), everything(t, again); first != second {
			t.Errorf("the same State says two things:\n%s", cmp.Diff(first, second))
		}
		after, err := snapshot.Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(before, after) {
			t.Errorf("the Snapshot was changed:\n%s", cmp.Diff(string(before), string(after)))
		}
	})
}

func TestOrderOfInputDoesNotMatter(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	eachRandom(t, 500, func(t *testing.T, s *snapshot.Snapshot, st *State) {
		c := *s
		c.Nodes, c.Pods, c.Revisions = slices.Clone(s.Nodes), slices.Clone(s.Pods), slices.Clone(s.Revisions)
		random.Shuffle(len(c.Nodes), func(i, j int) { c.Nodes[i], c.Nodes[j] = c.Nodes[j], c.Nodes[i] })
		random.Shuffle(len(c.Pods), func(i, j int) { c.Pods[i], c.Pods[j] = c.Pods[j], c.Pods[i] })
		random.Shuffle(len(c.Revisions), func(i, j int) { c.Revisions[i], c.Revisions[j] = c.Revisions[j], c.Revisions[i] })
		if diff := cmp.Diff(everything(t, st), everything(t, state(t, &c))); diff != "" {
			t.Errorf("shuffled input (-before +after):\n%s", diff)
		}
	})
}

func TestWrittenAndReadIsTheSame(t *testing.T) {
	eachRandom(t, 300, func(t *testing.T, s *snapshot.Snapshot, st *State) {
		raw, err := snapshot.Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		back, err := snapshot.Decode(raw)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(everything(t, st), everything(t, state(t, back))); diff != "" {
			t.Errorf("a Snapshot written and read (-before +after):\n%s", diff)
		}
	})
}

func TestPartsAddUp(t *testing.T) {
	eachRandom(t, 1000, func(t *testing.T, _ *snapshot.Snapshot, st *State) {
		var sum Counts
		used := 0
		for i := range st.Nodes {
			n := &st.Nodes[i]
			m := n.Membership()
			sum.Desired += b2i(m.Desired)
			sum.Current += b2i(m.Current)
			sum.Misscheduled += b2i(m.Misscheduled)
			sum.Ready += b2i(m.Ready)
			sum.Updated += b2i(m.Updated)
			sum.Available += b2i(m.Available)
			sum.Unavailable += b2i(m.Desired && !m.Available)
			used += b2i(st.Holds(n))
			if m.Desired && m.Misscheduled || (m.Ready || m.Updated) && !m.Current || m.Available && !m.Ready || m.Current && !m.Desired {
				t.Errorf("node %s counts in what excludes each other: %+v", n.Name, m)
			}
			if m.Desired != n.ShouldRun.OK && n.Exists || n.ShouldRun.OK && !n.MayStay.OK {
				t.Errorf("node %s: should run %+v, may stay %+v, counted %+v", n.Name, n.ShouldRun, n.MayStay, m)
			}
		}
		if counts, _ := st.Counts(); counts != sum || st.Desired != sum.Desired || st.Used() != used {
			t.Errorf("counts %+v, nodes add up to %+v; desired %d; used %d, holders %d", counts, sum, st.Desired, st.Used(), used)
		}
		if st.Limit() < 0 || st.Budget.Kind == BudgetNone && used != 0 {
			t.Errorf("limit %d, used %d of %s", st.Limit(), used, st.Budget.Kind)
		}
	})
}

// TestStepsAreSound is about every step: what is certain is in no choice,
// choices leave something to choose, nothing stands there twice, the burst and
// the budget hold, and a delete names a pod of its node.
func TestStepsAreSound(t *testing.T) {
	eachRandom(t, 1000, func(t *testing.T, _ *snapshot.Snapshot, st *State) {
		step := st.Sync()
		sound(t, st, "creates", step.Creates)
		sound(t, st, "deletes", step.Deletes)
		if acts := step.Creates.Len()+step.Deletes.Len() > 0; acts != (step.Kind != StepNone) || step.Reason == "" || acts && step.Error != nil {
			t.Errorf("step %s %s, error %v, acts %t", step.Kind, step.Reason, step.Error, acts)
		}
		spent := ofReason(step.Deletes, WithinBudget) + ofReason(step.Creates, Surge)
		if left := max(0, st.Limit()-st.Used()); spent > left {
			t.Errorf("%d beyond what the budget has left, %d", spent, left)
		}
		raw, err := json.Marshal(step)
		if err != nil {
			t.Fatal(err)
		}
		for null := range strings.SplitSeq(strings.NewReplacer(`"notBefore":null`, "", `"error":null`, "").Replace(string(raw)), ",") {
			if strings.HasSuffix(null, ":null") {
				t.Errorf("null in the JSON: %s", null)
			}
		}
	})
}

func sound(t *testing.T, st *State, what string, b Batch) {
	t.Helper()
	if b.Len() > burstReplicas || b.Deferred < 0 || b.Deferred > 0 && b.Len() < burstReplicas {
		t.Errorf("%s: %d now, %d deferred", what, b.Len(), b.Deferred)
	}
	seen := map[Item]bool{}
	item := func(i Item) {
		i.Reason = ""
		if seen[i] {
			t.Errorf("%s: %+v twice", what, i)
		}
		seen[i] = true
		n := st.Node(i.Node)
		switch {
		case n == nil:
			t.Errorf("%s: %+v: there is no such node", what, i)
		case i.Pod == "" && st.Profile.SunsetInSurge && !n.ShouldRun.OK:
			t.Errorf("%s: %+v: the node should not run it", what, i)
		case i.Pod != "" && !slices.ContainsFunc(n.Pods, func(p Pod) bool { return p.Name == i.Pod }):
			t.Errorf("%s: %+v: the node has no such pod", what, i)
		}
	}
	for _, i := range b.Certain {
		if item(i); i.Reason == "" {
			t.Errorf("%s: %+v has no reason", what, i)
		}
	}
	for _, c := range b.Choices {
		if c.Count < 1 || c.Count >= len(c.From) || c.Reason == "" {
			t.Errorf("%s: any %d of %d, reason %q", what, c.Count, len(c.From), c.Reason)
		}
		for _, i := range c.From {
			item(i)
		}
	}
}

func ofReason(b Batch, r Reason) int {
	n := 0
	for _, i := range b.Certain {
		n += b2i(i.Reason == r)
	}
	for _, c := range b.Choices {
		if c.Reason == r {
			n += c.Count
		}
	}
	return n
}

// TestFinishedRolloutPlansNothing gives every node that should run the pod one
// that is up to date and available, and no other.
func TestFinishedRolloutPlansNothing(t *testing.T) {
	eachRandom(t, 300, func(t *testing.T, s *snapshot.Snapshot, st *State) {
		c := *s
		c.Pods = nil
		c.Revisions = dstest.State("", dstest.Version(s.KubernetesVersion), dstest.Edit(func(fresh *snapshot.Snapshot) {
			fresh.DaemonSet = s.DaemonSet
		}), dstest.AddRevision("now", 9, "")).Revisions[2:]
		for i := range st.Nodes {
			if n := &st.Nodes[i]; n.ShouldRun.OK {
				p := dstest.State("N").Pods[0]
				p.Name, p.Spec.NodeName = "p-"+n.Name, n.Name
				p.Labels["controller-revision-hash"] = "now"
				c.Pods = append(c.Pods, p)
			}
		}
		step := state(t, &c).Sync()
		if step.Kind != StepNone || step.Reason != StepUpToDate && step.Reason != StepOnDelete && step.Reason != StepBeingDeleted {
			t.Errorf("a finished rollout: %+v", outcomeOf(step))
		}
		if step.Revisions.Cut || len(step.Revisions.Remove) > 0 {
			t.Errorf("a finished rollout: %+v", step.Revisions)
		}
	})
}

// TestVerdictsHaveReasons looks for the zero Reason and for codes that are not
// in the list of all.
func TestVerdictsHaveReasons(t *testing.T) {
	known := map[Reason]bool{}
	for _, r := range Reasons {
		if r == "" || known[r] {
			t.Errorf("reason %q is empty, or stands there twice", r)
		}
		known[r] = true
	}
	eachRandom(t, 500, func(t *testing.T, _ *snapshot.Snapshot, st *State) {
		check := func(what string, v Verdict) {
			if !known[v.Reason] {
				t.Errorf("%s: reason %q", what, v.Reason)
			}
		}
		for i := range st.Nodes {
			n := &st.Nodes[i]
			check(n.Name, n.ShouldRun)
			check(n.Name, n.MayStay)
			if !slices.Contains(Slots, n.Slot) {
				t.Errorf("%s: slot %q", n.Name, n.Slot)
			}
			for _, p := range slices.Concat(n.Pods, n.Ignored) {
				check(p.Name, p.Available)
				if p.Ignored != "" && !known[p.Ignored] {
					t.Errorf("%s: ignored for %q", p.Name, p.Ignored)
				}
			}
			if n.Object == nil {
				continue
			}
			for _, c := range st.Placement.Checks(n.Object) {
				check(n.Name+" "+string(c.Rule), Verdict{Reason: c.Reason})
			}
		}
		step := st.Sync()
		check("step", Verdict{Reason: step.Reason})
		for _, i := range slices.Concat(step.Creates.Certain, step.Deletes.Certain) {
			check(i.Node, Verdict{Reason: i.Reason})
		}
		for _, c := range slices.Concat(step.Creates.Choices, step.Deletes.Choices) {
			check("choice", Verdict{Reason: c.Reason})
		}
	})
}

// TestPlacementAgreesWithItself applies the smallest change of every node that
// should not run the pod; the nested module test/oracle asks the real
// controller the same.
func TestPlacementAgreesWithItself(t *testing.T) {
	for seed := range int64(300) {
		s := dstest.RandomPlacement(seed)
		p := NewPlacement(s.DaemonSet)
		for i := range s.Nodes {
			n := &s.Nodes[i]
			run, stay := p.Decide(n)
			if run.OK && !stay.OK {
				t.Fatalf("seed %d: node %s should run it, and it may not stay", seed, n.Name)
			}
			changes := p.SmallestChange(n)
			if run.OK != (len(changes) == 0) {
				t.Fatalf("seed %d: node %s: %t, %+v", seed, n.Name, run.OK, changes)
			}
			ds, node := s.DaemonSet.DeepCopy(), n.DeepCopy()
			spec := &ds.Spec.Template.Spec
			for _, c := range changes {
				switch c.Kind {
				case AddToleration:
					spec.Tolerations = append(spec.Tolerations, *c.Toleration)
				case SetLabel:
					node.Labels[c.Key] = c.Value
				case RemoveLabel:
					delete(node.Labels, c.Key)
				case RemoveNodeName:
					spec.NodeName = ""
				case RemoveNodeSelector:
					delete(spec.NodeSelector, c.Key)
				case AddAffinityTerm:
					required := spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
					required.NodeSelectorTerms = append(required.NodeSelectorTerms, corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{
						{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{n.Name}},
					}})
				}
			}
			if run, _ := NewPlacement(ds).Decide(node); !run.OK {
				t.Fatalf("seed %d: node %s: after %+v: %+v", seed, n.Name, changes, run)
			}
		}
	}
}
