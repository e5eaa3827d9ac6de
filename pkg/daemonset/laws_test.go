package daemonset

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// lawVersions are the oldest versions of each set of rules.
var lawVersions = versionsOfRules()

func versionsOfRules() []string {
	const patches = 40 // more than any minor version had
	var out []string
	seen := map[Profile]bool{}
	for minor := oldestMinor; minor <= newestMinor; minor++ {
		for patch := range patches {
			v := fmt.Sprintf("v1.%d.%d", minor, patch)
			p, err := ForVersion(v)
			if err != nil {
				panic(err)
			}
			if p.Version = ""; !seen[p] {
				seen[p] = true
				out = append(out, v)
			}
		}
	}
	return out
}

// TestLawVersions checks that lawVersions cover both sides of every rule.
func TestLawVersions(t *testing.T) {
	var profiles []Profile
	for _, v := range lawVersions {
		p, err := ForVersion(v)
		if err != nil {
			t.Fatal(err)
		}
		profiles = append(profiles, p)
	}
	for i, r := range profileRules {
		first, last := *r.field(&profiles[0]), *r.field(&profiles[len(profiles)-1])
		if first || !last {
			t.Errorf("rule %d, %s: %t in %s, %t in %s", i, r.pr, first, profiles[0].Version, last, profiles[len(profiles)-1].Version)
		}
	}
}

// eachRandom calls law with random states of all versions in turn.
func eachRandom(t *testing.T, states int, law func(t *testing.T, s *snapshot.Snapshot, st *State)) {
	t.Helper()
	for seed := range cases.Of(int64(states)) {
		s := dstest.RandomFor(seed, lawVersions[int(seed)%len(lawVersions)])
		law(t, s, state(t, s))
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, dstest.Describe(s))
		}
	}
}

// everything returns the whole State as one text, with times relative to the
// State's clock.
func everything(t *testing.T, st *State) string {
	t.Helper()
	var b strings.Builder
	counts, known := st.Counts()
	fmt.Fprintln(&b, counts, known, st.Budget, st.Used(), st.Limit(), st.Desired, st.NodesRead, st.PodsRead)
	history := *st.History
	history.Revisions = slices.Clone(history.Revisions)
	for i := range history.Revisions {
		r := &history.Revisions[i]
		fmt.Fprintln(&b, r.Name, "made", st.At.Sub(r.Created), "ago")
		r.Created = time.Time{}
	}
	b.WriteString(text(t, st.Sync()) + text(t, history))
	pod := func(p *Pod) {
		at := "never"
		if p.AvailableAt != nil {
			at = p.AvailableAt.Sub(st.At).String()
		}
		fmt.Fprintln(&b, "  ", p.Name, p.Claim, p.Terminating, p.Hash, p.Revision, p.UpdatedBy, p.Updated, p.Ready, p.Available, at, p.Ignored)
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
			fmt.Fprintln(&b, st.Placement.Checks(n.Object), text(t, st.Placement.Remedies(n.Object)))
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

func text(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw) + "\n"
}

// TestInputIsUnchanged checks that no function modifies its Snapshot.
func TestInputIsUnchanged(t *testing.T) {
	encode := func(s *snapshot.Snapshot) string {
		raw, err := snapshot.Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	for seed := range cases.Of(int64(120)) {
		version := lawVersions[int(seed)%len(lawVersions)]
		s := dstest.RandomFor(seed, version)
		st := state(t, s)
		if first, second := everything(t, st), everything(t, st); first != second {
			t.Fatalf("seed %d: the same State says two things:\n%s", seed, cmp.Diff(first, second))
		}
		if before := dstest.RandomFor(seed, version); encode(before) != encode(s) {
			t.Fatalf("seed %d: the Snapshot was changed (-before +after):\n%s", seed, cmp.Diff(before, s))
		}
	}
}

// TestWrittenAndReadIsTheSame checks that a Snapshot survives encoding, field
// by field.
func TestWrittenAndReadIsTheSame(t *testing.T) {
	eachRandom(t, 104, func(t *testing.T, s *snapshot.Snapshot, _ *State) {
		if diff := cmp.Diff(s, writtenAndRead(t, s)); diff != "" {
			t.Errorf("a Snapshot written and read (-before +after):\n%s", diff)
		}
	})
}

func writtenAndRead(t *testing.T, s *snapshot.Snapshot) *snapshot.Snapshot {
	t.Helper()
	raw, err := snapshot.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	back, err := snapshot.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// TestWhatChangesNothing changes a Snapshot in ways that no rule may notice.
func TestWhatChangesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	rows := []struct {
		change func(t *testing.T, s *snapshot.Snapshot)
		why    string
	}{
		{func(_ *testing.T, s *snapshot.Snapshot) {
			shuffle(random, s.Nodes)
			shuffle(random, s.Pods)
			shuffle(random, s.Revisions)
		}, "lists have no order"},
		{func(t *testing.T, s *snapshot.Snapshot) { *s = *writtenAndRead(t, s) }, "a Snapshot that was written and read says the same"},
		{func(_ *testing.T, s *snapshot.Snapshot) { shift(s, 40*24*time.Hour+17*time.Second) }, "only the distance of times matters"},
		{func(_ *testing.T, s *snapshot.Snapshot) {
			for i := range s.Pods[:min(3, len(s.Pods))] { // unshare them
				p := s.Pods[i]
				p.Namespace, p.Name = "another", "another-"+p.Name
				s.Pods = append(s.Pods, p)
			}
		}, "pods of another namespace are none of the DaemonSet's, whatever they say"},
		{func(_ *testing.T, s *snapshot.Snapshot) {
			for _, r := range s.Revisions {
				r.Namespace, r.Revision = "another", r.Revision+7
				s.Revisions = append(s.Revisions, r)
			}
		}, "neither are revisions"},
		{func(_ *testing.T, s *snapshot.Snapshot) {
			for i := range s.Nodes[:min(3, len(s.Nodes))] {
				p := *dstest.State("N").Pods[0].DeepCopy()
				p.Name, p.Spec.NodeName, p.OwnerReferences = "unrelated-"+s.Nodes[i].Name, s.Nodes[i].Name, nil
				p.Labels["app"] = "unrelated"
				s.Pods = append(s.Pods, p)
			}
		}, "a pod that nobody owns and that does not match has nothing to do with it"},
		{func(_ *testing.T, s *snapshot.Snapshot) {
			for _, r := range s.Revisions {
				r.Name, r.OwnerReferences, r.Labels = "unrelated-"+r.Name, nil, map[string]string{"app": "unrelated"}
				s.Revisions = append(s.Revisions, r)
			}
		}, "nor has such a revision"},
		{func(_ *testing.T, s *snapshot.Snapshot) {
			was := s.DaemonSet.Status
			s.DaemonSet.Status = appsv1.DaemonSetStatus{ObservedGeneration: was.ObservedGeneration, DesiredNumberScheduled: 99, NumberAvailable: 99, UpdatedNumberScheduled: 99}
		}, "what the controller wrote last is not what it writes next"},
		{func(_ *testing.T, s *snapshot.Snapshot) {
			for i := range s.Nodes {
				s.Nodes[i].Status.Conditions = nil
				s.Nodes[i].Spec.Unschedulable = !s.Nodes[i].Spec.Unschedulable
			}
		}, "a node that is not ready, or cordoned, says so by its taints alone"},
		{func(_ *testing.T, s *snapshot.Snapshot) {
			s.PodDisruptionBudgets, s.Events = nil, make([]corev1.Event, 3)
		}, "no rule reads events and disruption budgets"},
		{func(_ *testing.T, s *snapshot.Snapshot) {
			for i := range s.Pods {
				s.Pods[i].Spec.Containers = nil
			}
		}, "which pods are old is told by their labels alone"},
	}
	for seed := range cases.Of(int64(132)) {
		version := lawVersions[int(seed)%len(lawVersions)]
		s := dstest.RandomFor(seed, version)
		if len(s.Nodes) > 100 && seed%4 > 0 {
			continue // slow
		}
		before := everything(t, state(t, s))
		for _, row := range rows {
			changed := dstest.RandomFor(seed, version)
			row.change(t, changed)
			if diff := cmp.Diff(before, everything(t, state(t, changed))); diff != "" {
				t.Fatalf("%s: seed %d (-before +after):\n%s\n%s", row.why, seed, diff, dstest.Describe(s))
			}
		}
	}
}

func shuffle[T any](random *rand.Rand, list []T) {
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// shift moves every time of a Snapshot except those in templates, which are
// content.
func shift(s *snapshot.Snapshot, by time.Duration) {
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Struct:
			if !v.CanInterface() {
				return
			}
			switch at := v.Addr().Interface().(type) {
			case *time.Time:
				if !at.IsZero() {
					*at = at.Add(by)
				}
			case *corev1.PodTemplateSpec:
			default:
				for _, f := range v.Fields() {
					walk(f)
				}
			}
		}
	}
	walk(reflect.ValueOf(s))
}

// TestWhatChangesNoPlan changes a Snapshot in ways that affect the State, but
// not the sync.
func TestWhatChangesNoPlan(t *testing.T) {
	plan := func(st *State) string {
		counts, _ := st.Counts()
		return text(t, []any{counts, st.Desired, st.Used(), st.Limit(), st.Sync()})
	}
	eachRandom(t, 300, func(t *testing.T, s *snapshot.Snapshot, st *State) {
		c := *s
		n := dstest.State("#-").Nodes[0]
		n.Name = "unwanted"
		n.Spec.Taints[0].Key = "unwanted"
		if run, _ := st.Placement.Decide(&n); !run.OK {
			c.Nodes = append(slices.Clone(s.Nodes), n)
			if diff := cmp.Diff(plan(st), plan(state(t, &c))); diff != "" {
				t.Errorf("with a node that should not run the pod, and has none:\n%s", diff)
			}
		}
		c = *s
		p := dstest.State("Nx").Pods[0]
		p.Name, p.Spec.NodeName = "foreign", "n0"
		c.Pods = append(slices.Clone(s.Pods), p)
		if diff := cmp.Diff(plan(st), plan(state(t, &c))); diff != "" {
			t.Errorf("with a pod that matches, and is another controller's:\n%s", diff)
		}
	})
}

// TestStrategyChangesNoNumber checks that the strategy does not affect the
// status, and that every strategy without surge includes what OnDelete does.
func TestStrategyChangesNoNumber(t *testing.T) {
	eachRandom(t, 300, func(t *testing.T, s *snapshot.Snapshot, st *State) {
		c := *s
		c.DaemonSet = s.DaemonSet.DeepCopy()
		c.DaemonSet.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
		onDelete := state(t, &c)
		was, _ := st.Counts()
		if counts, _ := onDelete.Counts(); counts != was {
			t.Errorf("under OnDelete the status is %+v, not %+v", counts, was)
		}
		if step := st.Sync(); st.surge || step.Kind == StepRollingUpdate {
			return
		}
		if diff := cmp.Diff(st.Sync().Creates, onDelete.Sync().Creates) + cmp.Diff(st.Sync().Deletes, onDelete.Sync().Deletes); diff != "" {
			t.Errorf("manage does something else under OnDelete:\n%s", diff)
		}
	})
}

// TestLargerLimitsReplaceNoLess gives the rolling update a larger limit.
func TestLargerLimitsReplaceNoLess(t *testing.T) {
	eachRandom(t, 400, func(t *testing.T, s *snapshot.Snapshot, st *State) {
		step := st.Sync()
		limit := st.Limit()
		if step.Kind == StepManage || limit == 0 || s.DaemonSet.Spec.UpdateStrategy.RollingUpdate == nil {
			return
		}
		c := *s
		c.DaemonSet = s.DaemonSet.DeepCopy()
		ru := c.DaemonSet.Spec.UpdateStrategy.RollingUpdate
		more := intstr.FromInt(limit + 1)
		if st.Budget.MaxSurge > 0 {
			ru.MaxSurge = &more
		} else {
			ru.MaxUnavailable = &more
		}
		larger := state(t, &c)
		if larger.Limit() != limit+1 || larger.Used() != st.Used() {
			t.Errorf("limit %d, %d used: %d and %d before", larger.Limit(), larger.Used(), limit, st.Used())
		}
		all := func(b Batch) int { return b.Len() + b.Deferred }
		next := larger.Sync()
		grows := all(next.Creates) + all(next.Deletes) - all(step.Creates) - all(step.Deletes)
		if grows < 0 || grows > 1 {
			t.Errorf("limit %d to %d: %d more", limit, limit+1, grows)
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
		exist := 0
		for i := range st.Nodes {
			exist += b2i(st.Nodes[i].Exists)
		}
		if c := sum; c.Desired < c.Current || c.Current < c.Ready || c.Ready < c.Available || c.Available < 0 || c.Current < c.Updated ||
			c.Unavailable != c.Desired-c.Available || c.Desired+c.Misscheduled > exist {
			t.Errorf("the numbers contradict each other, of %d nodes: %+v", exist, c)
		}
		if counts, _ := st.Counts(); counts != sum || st.Desired != sum.Desired || st.Used() != used {
			t.Errorf("counts %+v, nodes add up to %+v; desired %d; used %d, holders %d", counts, sum, st.Desired, st.Used(), used)
		}
		if st.Limit() < 0 || st.Budget.Kind == BudgetNone && used != 0 {
			t.Errorf("limit %d, used %d of %s", st.Limit(), used, st.Budget.Kind)
		}
	})
}

// TestStepsAreSound checks every step: no item is both certain and a candidate,
// choices are real, nothing appears twice, the burst and the budget hold, and a
// delete names a pod of its node.
func TestStepsAreSound(t *testing.T) {
	eachRandom(t, 1000, func(t *testing.T, _ *snapshot.Snapshot, st *State) {
		step := st.Sync()
		sound(t, st, step, "creates", step.Creates)
		sound(t, st, step, "deletes", step.Deletes)
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

func sound(t *testing.T, st *State, step Step, what string, b Batch) {
	t.Helper()
	if b.Len() > BurstReplicas || b.Deferred < 0 || b.Deferred > 0 && b.Len() < BurstReplicas {
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
		case (i.Pod == "") != (what == "creates"):
			t.Errorf("%s: %+v: a create is of a node, a delete of a pod", what, i)
		case i.Pod == "" && (st.Profile.SunsetInSurge || step.Kind == StepManage) && (!n.Exists || !n.ShouldRun.OK):
			t.Errorf("%s: %+v: the node should not run it", what, i) // before #119317 a surge checks neither
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

// TestFinishedRolloutPlansNothing gives every node that should run the pod an
// available new one, and all other nodes none.
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
		after := state(t, &c)
		if got, want := counts(after), (Counts{Desired: st.Desired, Current: st.Desired, Ready: st.Desired, Updated: st.Desired, Available: st.Desired}); got != want {
			t.Errorf("a finished rollout has the status %+v, want %+v", got, want)
		}
		if after.Used() > 0 {
			t.Errorf("a finished rollout uses %d of its budget", after.Used())
		}
		step := after.Sync()
		fine := []Reason{StepUpToDate, StepOnDelete, StepBeingDeleted}
		if st.Budget.Invalid != "" { // fails whether or not anything is left to do
			fine, step.Error = []Reason{StepFails, StepBeingDeleted}, nil
		}
		if step.Kind != StepNone || !slices.Contains(fine, step.Reason) {
			t.Errorf("a finished rollout: %+v", outcomeOf(step))
		}
		if r := step.Revisions; r.Cut || len(r.Adopt)+len(r.Release)+len(r.Relabel)+len(r.Remove) > 0 {
			t.Errorf("a finished rollout: %+v", r)
		}
		if len(step.Pods.Adopt)+len(step.Pods.Release)+len(step.Waits) > 0 || step.Error != nil {
			t.Errorf("a finished rollout: %+v, waits %+v, error %+v", step.Pods, step.Waits, step.Error)
		}
	})
}

func counts(st *State) Counts { c, _ := st.Counts(); return c }

// TestVerdictsHaveReasons looks for empty reasons and for reasons missing from
// Reasons.
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

// TestPlacementAgreesWithItself applies the remedies of every node that should
// not run the pod. The nested module test/oracle does the same with the real
// controller.
func TestPlacementAgreesWithItself(t *testing.T) {
	for seed := range cases.Of(int64(180)) {
		s := dstest.RandomPlacement(seed)
		profile := Profile{TolerationComparison: true, NamespaceInStatus: true}
		var namespace *snapshot.OpenShift // every other state is of OpenShift
		if seed%2 == 1 {
			namespace = dstest.RandomNamespace(seed, s.DaemonSet.Namespace)
		}
		p := NewPlacement(s.DaemonSet, profile).In(namespace)
		for i := range s.Nodes {
			n := &s.Nodes[i]
			run, stay := p.Decide(n)
			if run.OK && !stay.OK {
				t.Fatalf("seed %d: node %s should run it, and it may not stay", seed, n.Name)
			}
			changes := p.Remedies(n)
			if run.OK != (len(changes) == 0) {
				t.Fatalf("seed %d: node %s: %t, %+v", seed, n.Name, run.OK, changes)
			}
			if slices.ContainsFunc(changes, func(c Remedy) bool { return c.Kind == NoSensibleChange }) {
				if slices.ContainsFunc(changes, func(c Remedy) bool { return c.Kind != NoSensibleChange }) {
					t.Fatalf("seed %d: node %s: %+v", seed, n.Name, changes)
				}
				continue
			}
			ds, node, after := s.DaemonSet.DeepCopy(), n.DeepCopy(), namespace
			spec := &ds.Spec.Template.Spec
			for _, c := range changes {
				switch c.Kind {
				case SelectEveryNode:
					after = &snapshot.OpenShift{Namespace: namespace.Namespace.DeepCopy(), DefaultNodeSelector: namespace.DefaultNodeSelector}
					metav1.SetMetaDataAnnotation(&after.Namespace.ObjectMeta, c.Key, "")
				case RepairNode:
					node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == c.Key })
				case AddToleration:
					spec.Tolerations = append(spec.Tolerations, *c.Toleration)
				case SetLabel:
					node.Labels[c.Key] = c.Value
				case RemoveLabel:
					delete(node.Labels, c.Key)
				case RemoveNodeName:
					spec.NodeName = ""
				case AddAffinityTerm:
					required := spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
					required.NodeSelectorTerms = append(required.NodeSelectorTerms, corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{
						{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{n.Name}},
					}})
				}
			}
			if run, _ := NewPlacement(ds, profile).In(after).Decide(node); !run.OK {
				t.Fatalf("seed %d: node %s: after %+v: %+v", seed, n.Name, changes, run)
			}
		}
	}
}

// TestDecidedOnce checks that the memoized verdicts equal those of Decide.
func TestDecidedOnce(t *testing.T) {
	shared := 0
	for seed := range cases.Of(int64(300)) {
		for _, s := range []*snapshot.Snapshot{dstest.RandomPlacement(seed), dstest.RandomFor(seed, dstest.Newest)} {
			var namespace *snapshot.OpenShift // every third state is of OpenShift
			if seed%3 == 0 {
				namespace = dstest.RandomNamespace(seed, s.DaemonSet.Namespace)
			}
			p := NewPlacement(s.DaemonSet, Profile{TolerationComparison: true, NamespaceInStatus: true}).In(namespace)
			d := p.decisions()
			for i := range s.Nodes {
				n := &s.Nodes[i]
				run, stay := p.Decide(n)
				gotRun, gotStay := d.of(n)
				if diff := cmp.Diff([]Verdict{run, stay}, []Verdict{gotRun, gotStay}); diff != "" {
					t.Fatalf("seed %d, node %s (-alone +once):\n%s", seed, n.Name, diff)
				}
			}
			if !d.readsWholeNode {
				shared += len(s.Nodes) - len(d.known)
			}
		}
	}
	if shared < cases.Least(300) {
		t.Errorf("only %d nodes are like another one", shared)
	}
}
