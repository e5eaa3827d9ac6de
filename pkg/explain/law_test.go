package explain_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

const seeds = 100

// TestNothingFollowsFromAMissingStatus checks that a DaemonSet without its
// status is explained as if the status were up to date, and that pods without
// theirs have only a node and a revision.
func TestNothingFollowsFromAMissingStatus(t *testing.T) {
	verdicts := map[explain.VerdictCode]int{}
	for seed := range cases.Of(int64(seeds)) {
		s := troubled(seed)
		if len(s.Gaps) > 0 {
			continue
		}
		st, _ := explanation(t, s, explain.Options{})
		computed, _ := st.Counts()
		s.DaemonSet = s.DaemonSet.DeepCopy()
		s.DaemonSet.Status.ObservedGeneration = s.DaemonSet.Generation
		report(&s.DaemonSet.Status, computed)
		_, whole := explanation(t, s, explain.Options{})

		without := *s
		dstest.Stripped(&without, 1)
		_, e := explanation(t, &without, explain.Options{})
		verdicts[e.Verdict.Code]++
		if diff := cmp.Diff([]any{whole.Verdict, whole.Columns, whole.Budget, whole.Problems, whole.Next}, []any{e.Verdict, e.Columns, e.Budget, e.Problems, e.Next}); diff != "" {
			t.Fatalf("seed %d (-with a status +without):\n%s", seed, diff)
		}

		without = *s
		dstest.Stripped(&without, 4)
		if _, e = explanation(t, &without, explain.Options{}); e.Verdict.Code != explain.Unknown && e.Verdict.Code != explain.BeingDeleted || e.Budget.Used != nil || e.Status.Computed != nil || e.Next.Kind != daemonset.StepNone {
			t.Fatalf("seed %d: without the status of pods: %s, used %v, computed %v, next %s", seed, e.Verdict.Code, e.Budget.Used, e.Status.Computed, e.Next.Kind)
		}
		for _, p := range e.Problems {
			if p.Severity == cause.SeverityError && p.Code != explain.StaleStatus && p.Code != cause.ControllerSilent {
				t.Fatalf("seed %d: without the status of pods: %s", seed, p.Code)
			}
		}
	}
	for _, code := range []explain.VerdictCode{explain.Healthy, explain.Stuck, explain.Degraded, explain.Progressing} {
		if verdicts[code] < cases.Least(1) {
			t.Errorf("no state is %s", code)
		}
	}
}

// report stores the numbers in a status.
func report(s *appsv1.DaemonSetStatus, c daemonset.Counts) {
	s.DesiredNumberScheduled, s.CurrentNumberScheduled, s.NumberMisscheduled = int32(c.Desired), int32(c.Current), int32(c.Misscheduled)
	s.NumberReady, s.UpdatedNumberScheduled, s.NumberAvailable, s.NumberUnavailable = int32(c.Ready), int32(c.Updated), int32(c.Available), int32(c.Unavailable)
}

func explanation(t *testing.T, s *snapshot.Snapshot, o explain.Options) (*daemonset.State, *explain.Explanation) {
	t.Helper()
	st := stateOf(t, s)
	return st, explain.Explain(st, o)
}

// looked returns an Explanation that includes a simulation.
func looked(t *testing.T, s *snapshot.Snapshot) (*daemonset.State, *explain.Explanation) {
	t.Helper()
	st := stateOf(t, s)
	return st, explain.Explain(st, explain.Options{Outlook: plan.Look(st)})
}

func stateOf(t *testing.T, s *snapshot.Snapshot) *daemonset.State {
	t.Helper()
	st, err := daemonset.StateOf(s)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// TestLaws checks what is true of every Explanation, with random states.
func TestLaws(t *testing.T) {
	laws := []struct {
		why  string
		hold func(*daemonset.State, *explain.Explanation) error
	}{
		{"the groups of a column partition its nodes, and the counted ones add up to the computed number", columnsPartition},
		{"the holders of the budget are the nodes that use it", holdersUse},
		{"problems stand in their documented order, each with what it says of itself", problemsOrdered},
		{"the verdict speaks of the computed numbers, and of the reported ones only where nothing could be computed", verdictTotals},
		{"a verdict does not contradict what is said below it", verdictAgrees},
		{"a revision's nodes are each of one revision", revisionsPartition},
		{"what nodes have in common goes with whose fault it is, and with what to do", commonAgrees},
	}
	answers := randomAnswers(t)
	for _, law := range laws {
		t.Run(law.why, func(t *testing.T) {
			for seed, a := range answers {
				if err := law.hold(a.st, a.e); err != nil {
					t.Fatalf("state %d: %v\n%s", seed, err, dstest.Describe(a.st.Snapshot))
				}
			}
		})
	}
}

// troubled returns a random state; every seventh is of OpenShift.
func troubled(seed int64) *snapshot.Snapshot {
	if seed%7 == 6 {
		return dstest.RandomOpenShift(seed)
	}
	return dstest.RandomTrouble(seed)
}

type answer struct {
	st *daemonset.State
	e  *explain.Explanation
}

// busy adds signs of progress: the Lease of a running controller, and an image
// pull for each waiting container.
func busy(s *snapshot.Snapshot) {
	s.Controller = &snapshot.ControllerLease{Exists: true, Holder: "a", DurationSeconds: 15, RenewedAt: s.TakenAt.Add(-time.Second)}
	for i := range s.Pods {
		p := &s.Pods[i]
		for _, c := range p.Status.ContainerStatuses {
			if w := c.State.Waiting; w != nil && w.Reason == "ContainerCreating" {
				s.Events = append(s.Events, corev1.Event{
					Reason: "Pulling", Message: "Pulling image", LastTimestamp: metav1.NewTime(s.TakenAt),
					InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: p.Name, UID: p.UID},
				})
			}
		}
	}
}

// rareSeeds are those of RandomTrouble with what few states have: a toleration that helps, a
// lack of memory and an image that is being pulled, a vanished node in a surge, labels to compare.
var rareSeeds = []int64{109, 168, 177, 221}

var (
	allAnswers     []answer
	explainAnswers sync.Once
)

// randomAnswers explains every random state, once for all laws.
func randomAnswers(t *testing.T) []answer {
	t.Helper()
	explainAnswers.Do(func() { allAnswers = explainedRandom(t) })
	return allAnswers
}

func explainedRandom(t *testing.T) []answer {
	t.Helper()
	var out []answer
	all := slices.Clone(rareSeeds)
	for seed := range cases.Of(int64(seeds)) {
		all = append(all, seed)
	}
	for _, seed := range all {
		s := dstest.RandomTrouble(seed)
		if seed%3 == 0 {
			busy(s)
		}
		st, e := looked(t, s)
		out = append(out, answer{st, e})
	}
	for seed := range cases.Of(int64(seeds / 3)) {
		st, e := looked(t, dstest.RandomOpenShift(seed))
		out = append(out, answer{st, e})
	}
	for seed := range cases.Of(int64(seeds / 5)) {
		st, e := looked(t, dstest.RandomCommon(seed))
		out = append(out, answer{st, e})
	}
	for seed := range cases.Of(int64(seeds / 3)) {
		st, e := looked(t, dstest.RandomBlame(seed))
		out = append(out, answer{st, e})
	}
	return out
}

func columnsPartition(st *daemonset.State, e *explain.Explanation) error {
	counts, computed := st.Counts()
	if computed != (e.Status.Computed != nil) || computed && counts != *e.Status.Computed {
		return fmt.Errorf("status.computed is %v, the controller's rules give %v %t", e.Status.Computed, counts, computed)
	}
	of := map[string]func(*daemonset.Node) bool{
		"DESIRED":      func(n *daemonset.Node) bool { return n.Exists },
		"MISSCHEDULED": func(n *daemonset.Node) bool { return n.Exists && !n.Membership().Desired },
	}
	total := map[string]int{
		"DESIRED": counts.Desired, "CURRENT": counts.Current, "READY": counts.Ready,
		"UP-TO-DATE": counts.Updated, "AVAILABLE": counts.Available, "MISSCHEDULED": counts.Misscheduled,
	}
	want := map[bool]int{true: 6, false: 0}[computed]
	switch {
	case st.NodesRead && !st.PodsListed:
		want = 1
	case st.NodesRead && !st.PodsRead:
		want = 4
	}
	if len(e.Columns) != want {
		return fmt.Errorf("%d columns, want %d", len(e.Columns), want)
	}
	for _, c := range e.Columns {
		belongs := of[c.Name]
		if belongs == nil {
			belongs = func(n *daemonset.Node) bool { return n.Exists && n.Membership().Desired }
		}
		var wanted, named []string
		for i := range st.Nodes {
			if belongs(&st.Nodes[i]) {
				wanted = append(wanted, st.Nodes[i].Name)
			}
		}
		counted, groups := 0, map[string]bool{}
		for _, g := range c.Groups {
			if g.Count != len(g.Nodes) || g.Count == 0 || !slices.IsSorted(g.Nodes) {
				return fmt.Errorf("%s: %s counts %d, and names %v", c.Name, g.Reason, g.Count, g.Nodes)
			}
			said := fmt.Sprint(g.Counted, g.Reason, g.Facts)
			if g.Reason == "" || groups[said] {
				return fmt.Errorf("%s: a group %s without a reason, or twice", c.Name, said)
			}
			groups[said] = true
			if g.Counted {
				counted += g.Count
			}
			named = append(named, g.Nodes...)
		}
		slices.Sort(named)
		if diff := cmp.Diff(wanted, named); diff != "" {
			return fmt.Errorf("%s: nodes (-in the column +in its groups):\n%s", c.Name, diff)
		}
		if computed && counted != total[c.Name] {
			return fmt.Errorf("%s: %d nodes in counted groups, computed %d", c.Name, counted, total[c.Name])
		}
	}
	return nil
}

func holdersUse(st *daemonset.State, e *explain.Explanation) error {
	b := e.Budget
	if !st.PodsRead {
		if b.Used != nil || b.Free != nil || len(b.Holders) > 0 {
			return fmt.Errorf("without pods, used %v, free %v, holders %v", b.Used, b.Free, b.Holders)
		}
		return nil
	}
	if *b.Used != st.Used() || len(b.Holders) != st.Used() {
		return fmt.Errorf("used %d, %d holders, the controller's rules give %d", *b.Used, len(b.Holders), st.Used())
	}
	if want := max(0, st.Limit()-st.Used()); *b.Free != want {
		return fmt.Errorf("free %d, want %d", *b.Free, want)
	}
	for _, h := range b.Holders {
		if n := st.Node(h.Node); n == nil || !st.Holds(n) {
			return fmt.Errorf("%s holds nothing", h.Node)
		}
		if h.Reason == "" || h.Since == nil && h.BeforeRevision != nil {
			return fmt.Errorf("%s: %+v", h.Node, h)
		}
	}
	for _, r := range e.Fixes() {
		if value, err := strconv.Atoi(r.Value); r.Smallest != "" && (err != nil || value <= st.Used() || *b.Free > 0) {
			return fmt.Errorf("%+v with %d used, %d free", r, *b.Used, *b.Free)
		}
	}
	return nil
}

func problemsOrdered(_ *daemonset.State, e *explain.Explanation) error {
	known := slices.Concat(daemonset.Reasons, explain.Reasons)
	last := -1
	for _, p := range e.Problems {
		i := slices.Index(explain.ProblemOrder, p.Code)
		if i < last {
			return fmt.Errorf("%s stands too late", p.Code)
		}
		last = i
		switch {
		case i < 0 || !slices.Contains(known, p.Code):
			return fmt.Errorf("%q is no code of a problem", p.Code)
		case p.Count != len(p.Nodes) || !slices.IsSorted(p.Nodes) || len(slices.Compact(slices.Clone(p.Nodes))) != p.Count:
			return fmt.Errorf("%s counts %d, and names %v", p.Code, p.Count, p.Nodes)
		case !slices.Contains([]cause.Severity{cause.SeverityError, cause.SeverityWarning, cause.SeverityInfo}, p.Severity):
			return fmt.Errorf("%s has severity %q", p.Code, p.Severity)
		case p.Since != nil && p.Latest.Before(*p.Since):
			return fmt.Errorf("%s: since %v, latest %v", p.Code, p.Since, p.Latest)
		}
	}
	return nil
}

func verdictTotals(_ *daemonset.State, e *explain.Explanation) error {
	counts, basis := e.Status.Reported, "Reported"
	if e.Status.Computed != nil {
		counts, basis = e.Status.Computed, "Computed"
	}
	f := e.Verdict.Facts
	if counts == nil {
		if e.Verdict.Code != explain.Unknown && e.Verdict.Code != explain.BeingDeleted || f["desired"] != nil {
			return fmt.Errorf("no number is known, and yet %s with %v", e.Verdict.Code, f)
		}
		return nil
	}
	want := daemonset.Facts{"basis": basis, "desired": counts.Desired, "updated": counts.Updated, "available": counts.Available, "unavailable": counts.Unavailable}
	for k := range want {
		if f[k] != want[k] {
			return fmt.Errorf("%s is %v, want %v", k, f[k], want[k])
		}
	}
	if e.Budget.Used == nil {
		return nil
	}
	if f["used"] != *e.Budget.Used || f["holders"] != len(e.Budget.Holders) {
		return fmt.Errorf("used %v by %v, the budget has %d by %d", f["used"], f["holders"], *e.Budget.Used, len(e.Budget.Holders))
	}
	if f["newFailing"].(int) > f["newPods"].(int) || f["oldFailing"].(int) > f["oldPods"].(int) {
		return fmt.Errorf("more pods fail than there are: %v", f)
	}
	return nil
}

func verdictAgrees(st *daemonset.State, e *explain.Explanation) error {
	old := e.Verdict.Facts["oldNodes"]
	ds := st.DaemonSet
	switch e.Verdict.Code {
	case explain.Healthy:
		if old != 0 || e.Next.Kind != daemonset.StepNone || ds.DeletionTimestamp != nil {
			return fmt.Errorf("healthy, with %v old nodes and a step %s", old, e.Next.Kind)
		}
		if c := e.Status.Computed; c != nil && c.Available < c.Desired {
			return fmt.Errorf("healthy, with %d of %d available", c.Available, c.Desired)
		}
		for _, p := range e.Problems {
			if p.Severity == cause.SeverityError && p.Code != explain.StaleStatus && slices.ContainsFunc(p.Nodes, func(n string) bool { return st.Node(n).ShouldRun.OK }) {
				return fmt.Errorf("healthy, with %s on %v", p.Code, p.Nodes)
			}
		}
	case explain.AwaitingDelete:
		if ds.Spec.UpdateStrategy.Type != appsv1.OnDeleteDaemonSetStrategyType || old == 0 {
			return fmt.Errorf("awaits deletes under %s with %v old nodes", ds.Spec.UpdateStrategy.Type, old)
		}
	case explain.Stuck:
		if old == 0 || ds.Spec.UpdateStrategy.Type != appsv1.RollingUpdateDaemonSetStrategyType {
			return fmt.Errorf("stuck with %v old nodes under %s", old, ds.Spec.UpdateStrategy.Type)
		}
	case explain.BeingDeleted:
		if ds.DeletionTimestamp == nil {
			return fmt.Errorf("not being deleted")
		}
	}
	return nil
}

func revisionsPartition(st *daemonset.State, e *explain.Explanation) error {
	var named, wanted []string
	for _, r := range e.Revisions {
		named = append(named, r.Nodes...)
	}
	slices.Sort(named)
	for i := range st.Nodes {
		if len(st.Nodes[i].Pods) > 0 {
			wanted = append(wanted, st.Nodes[i].Name)
		}
	}
	if diff := cmp.Diff(wanted, named); diff != "" {
		return fmt.Errorf("nodes (-with pods +of revisions):\n%s", diff)
	}
	return nil
}

// commonAgrees checks that a problem has a common property of its nodes if and
// only if that is at fault, that most of the nodes have it, that remedies for
// such nodes exist only then, and that the revision is not blamed.
func commonAgrees(st *daemonset.State, e *explain.Explanation) error {
	common := false
	for _, p := range e.Problems {
		if p.Code == cause.VirtualNode { // known from a label, not from a comparison
			common = true
			continue
		}
		if is := p.Blame != nil && p.Blame.Who == cause.WhoNodeProperty; is != (p.Common != nil && cause.OfContainer(p.Code)) {
			return fmt.Errorf("%s: blame %v, in common %v", p.Code, p.Blame, p.Common)
		} else if is {
			common = true
		}
		if p.Common == nil {
			continue
		}
		with, working := 0, 0
		for i := range st.Nodes {
			n := &st.Nodes[i]
			switch has := n.Object != nil && p.Common.Has(n.Object); {
			case has && slices.Contains(p.Nodes, n.Name):
				with++
			case has && n.ShouldRun.OK && len(n.Pods) == 1 && n.Pods[0].Available.OK && (n.Pods[0].Updated || p.Common.Compared == cause.ComparedOld):
				working++
			}
		}
		if 2*with <= len(p.Nodes) || working > p.Common.Healthy.With {
			return fmt.Errorf("%s: %d of %d nodes have %+v, and %d on which pods work", p.Code, with, len(p.Nodes), p.Common, working)
		}
	}
	for i, r := range e.Fixes() {
		about := r.Code == remedy.PublishImage || r.Code == remedy.ExcludeNodes
		if about && !common && e.Has(cause.PodOSNotSupported) == nil && e.Has(cause.ExcludedButCounted) == nil {
			return fmt.Errorf("remedy %+v", r)
		}
		if current := e.Current(); about && current != nil && current.Available > 0 && slices.ContainsFunc(e.Fixes()[:i], func(r remedy.Remedy) bool { return r.Code == remedy.RollBack }) {
			return fmt.Errorf("remedy %s behind a rollback that replaces pods that work", r.Code)
		}
	}
	for _, a := range e.Advice {
		for _, code := range a.Problems {
			if p := e.Has(code); a.Code == explain.AdviseRollBack && p.Common != nil && cause.OfContainer(code) && !slices.ContainsFunc(e.Problems, func(p explain.Problem) bool { return p.Code == code && p.Common == nil }) {
				return fmt.Errorf("the revision is blamed: %+v", *p)
			}
		}
	}
	return nil
}

// nullable are the fields that docs/output.md allows to be null.
var nullable = []string{
	"story", "fault", "admission", "impact", "change", "outlook", "duration", "next", "otherwise", "blame", "common", "beforeRollout", // besides beforeRevision and others below
	"reported", "computed", "agrees", "writtenAt", "createdAt", "used", "free", "since", "latest", "beforeRevision", "notBefore", "error", "shouldRun", "mayStay", "problem", "availableAt",
}

// TestDocument checks the JSON of random states.
func TestDocument(t *testing.T) {
	var walk func(path string, v any) error
	walk = func(path string, v any) error {
		name := path[strings.LastIndexByte(path, '.')+1:]
		switch v := v.(type) {
		case nil:
			if !slices.Contains(nullable, name) {
				return fmt.Errorf("%s is null", path)
			}
		case string:
			if v == "" && (name == "reason" || name == "code") && !strings.Contains(path, ".facts.") {
				return fmt.Errorf("%s is empty: somebody forgot the reason", path)
			}
		case []any:
			for i := range v {
				if err := walk(path+"[]", v[i]); err != nil {
					return err
				}
			}
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				if err := walk(path+"."+k, v[k]); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for seed := range cases.Of(int64(seeds / 6)) {
		s := troubled(seed)
		o := explain.Options{Outlook: plan.Look(stateOf(t, s))}
		if seed%3 == 0 && len(s.Nodes) > 0 {
			o.Nodes = []string{s.Nodes[0].Name}
		}
		_, e := explanation(t, s, o)
		var v any
		if err := json.Unmarshal(encode(t, e), &v); err != nil {
			t.Fatal(err)
		}
		if err := walk("", v); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, dstest.Describe(s))
		}
	}
}

func encode(t *testing.T, e *explain.Explanation) []byte {
	t.Helper()
	raw, err := json.MarshalIndent(e, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestOrderOfInputDoesNotMatter(t *testing.T) {
	for seed := range cases.Of(int64(seeds / 4)) {
		s := troubled(seed)
		_, e := looked(t, s)
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		shuffled := *s
		shuffled.Nodes, shuffled.Pods = shuffle(r, s.Nodes), shuffle(r, s.Pods)
		shuffled.Revisions, shuffled.Events = shuffle(r, s.Revisions), shuffle(r, s.Events)
		_, again := looked(t, &shuffled)
		if diff := cmp.Diff(string(encode(t, e)), string(encode(t, again))); diff != "" {
			t.Fatalf("seed %d: (-as read +shuffled):\n%s\n%s", seed, diff, dstest.Describe(s))
		}
	}
}

func shuffle[T any](r *rand.Rand, list []T) []T {
	out := slices.Clone(list)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func TestInputIsNotChanged(t *testing.T) {
	for seed := range cases.Of(int64(seeds / 5)) {
		s := troubled(seed)
		before, err := snapshot.Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		looked(t, s)
		after, err := snapshot.Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(before), string(after)); diff != "" {
			t.Fatalf("seed %d: (-before +after):\n%s", seed, diff)
		}
	}
}

// TestRandomReachesAll checks that the random states reach every verdict and
// every problem, so that the laws are not vacuous.
func TestRandomReachesAll(t *testing.T) {
	missing := map[string]bool{}
	for _, v := range explain.VerdictCodes {
		missing["verdict "+string(v)] = true
	}
	for _, c := range explain.ProblemOrder {
		missing["problem "+string(c)] = true
	}
	for _, c := range explain.AdviceCodes {
		missing["advice "+string(c)] = true
	}
	for _, a := range randomAnswers(t) {
		for _, d := range a.e.Advice {
			delete(missing, "advice "+string(d.Code))
		}
		delete(missing, "verdict "+string(a.e.Verdict.Code))
		for _, p := range a.e.Problems {
			delete(missing, "problem "+string(p.Code))
		}
	}
	delete(missing, "problem "+string(cause.DoesNotFit))        // only in a plan
	delete(missing, "problem "+string(cause.WaitingForRoom))    // see TestWaitingForRoom
	delete(missing, "problem "+string(cause.NextRolloutStalls)) // needs an Outlook: see TestOutlook
	delete(missing, "advice "+string(explain.AdviseLookAhead))  // needs an Outlook: see TestAdvice
	delete(missing, "advice "+string(explain.AdviseAwaitNodes)) // see TestFacts of internal/cli
	if len(missing) > 0 && cases.Least(1) > 0 {
		t.Errorf("no random state has %v", slices.Sorted(maps.Keys(missing)))
	}
}
