package plan

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause/eligible"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/refer"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
	"github.com/kubectl-ds/kubectl-ds/pkg/validate"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// weighing compares remedies with the rollout as it is.
type weighing struct {
	*scenario
	stalled  *simulation     // the rollout without a remedy
	ends     *Outcome        // its outcome
	served   map[string]bool // nodes with an available pod whose kubelet answers
	without  int             // number of eligible nodes without an available pod
	problems []cause.Problem
	out      []remedy.Remedy
}

// remedies returns what a person can do about the rollout, or about failing pods if there is no rollout, the best
// first. Each remedy was simulated, except remedy.Refresh. A rollback and a higher limit are included even if they do
// not help. If nothing is wrong, it returns an empty slice.
func (sc *scenario) remedies(stalled *simulation, o *Outcome) []remedy.Remedy {
	g := &weighing{scenario: sc, stalled: stalled, ends: o, served: sc.served(), out: []remedy.Remedy{}}
	g.without = sc.unserved(g.served)
	g.problems = g.found()
	if sc.st.DaemonSet.DeletionTimestamp != nil || o.Code == Unknown {
		return g.out
	}
	g.deletePods()
	g.tolerate()
	g.refresh()
	if nowhere := eligible.None(sc.st, nil) != nil; len(g.problems)+len(g.problemNodes()) > 0 ||
		o.Code == Stalls || nowhere {
		g.acts()
		g.rollBack()
		g.excludeFailing()
		g.changeStrategy()
		g.fixNodes()
	}
	slices.SortStableFunc(g.out, func(a, b remedy.Remedy) int {
		return cmp.Or(
			cmp.Compare(slices.Index(remedy.Worths, a.Worth), slices.Index(remedy.Worths, b.Worth)),
			cmp.Compare(byMachine(a.Code), byMachine(b.Code)), // it is unknown whether the machine is gone
			cmp.Compare(len(a.Effect.Left), len(b.Effect.Left)),
			cmp.Compare(a.Effect.Available, b.Effect.Available),
			cmp.Compare(slices.Index(remedy.Codes, a.Code), slices.Index(remedy.Codes, b.Code)))
	})
	return g.out
}

// ofDeletion returns the pods that hold up the deletion of a DaemonSet, as problems, and the remedies for them: for a
// node whose kubelet does not answer, deleting the Node. The remedies are not simulated, because there is no rollout.
func ofDeletion(causes *cause.Causes, st *daemonset.State) (problems []*cause.Problem, remedies []remedy.Remedy) {
	var found []cause.On
	for i := range st.Nodes {
		if n := &st.Nodes[i]; causes.HoldsDeletion(n) {
			found = append(found, cause.On{Node: n.Name, Cause: causes.Of(n.Name)})
		}
	}
	all := cause.Problems(found, nil)
	causes.Judge(all)
	problems, remedies = []*cause.Problem{}, []remedy.Remedy{}
	r := remedy.New(remedy.RemoveNode, "")
	for i := range all {
		p := &all[i]
		if problems = append(problems, p); p.Code == cause.TerminatingOnDeadNode &&
			p.Facts["status"] == string(corev1.ConditionUnknown) && !p.OnPurpose() {
			r.Nodes, r.Ends = append(r.Nodes, p.Nodes...), append(r.Ends, p.Subject)
		}
	}
	if len(r.Nodes) > 0 {
		slices.Sort(r.Nodes)
		r.Value, r.Worth, r.Problems = strings.Join(r.Nodes, ","), remedy.Helps,
			[]daemonset.Reason{cause.TerminatingOnDeadNode}
		remedies = append(remedies, r)
	}
	return problems, remedies
}

// byMachine sorts remedies last that are only for a machine that is off or gone.
func byMachine(c remedy.Code) int {
	return b2i(c == remedy.OutOfService) + 2*b2i(c == remedy.RemoveNode)
}

// found returns the problems of pods and nodes that do not resolve by themselves.
func (g *weighing) found() []cause.Problem {
	var found []cause.On
	for i := range g.st.Nodes {
		n, f := &g.st.Nodes[i], &g.a.nodes[i]
		c := g.a.causes.Of(n.Name)
		urgent := func(c *cause.Cause) bool {
			return c != nil && (c.Severity == cause.SeverityError || c.Facts.Yes("late") &&
				c.Code != cause.PullingImage) && cause.StageOf(c.Code) != cause.StageNone
		}
		switch {
		case n.Exists && !n.ShouldRun.OK && !g.st.Holds(n):
		case urgent(c):
			found = append(found, cause.On{Node: n.Name, Cause: c})
		case f.down && urgent(f.never) && g.ends.Code == Stalls:
			found = append(found, cause.On{Node: n.Name, Cause: f.never})
		}
	}
	if c := g.a.causes.RefusesSurge(); c != nil {
		found = append(found, cause.On{Cause: c})
	}
	if c := g.a.failing; c != nil && g.ends.Code == Stalls &&
		!slices.ContainsFunc(found, func(o cause.On) bool { return o.Code == c.Code }) {
		found = append(found, cause.On{Cause: c}) // no existing pod has the problem yet
	}
	problems := cause.Problems(found, nil)
	g.a.causes.Judge(problems)
	return problems
}

// try simulates a change and adds the remedy with its effect. It adds nothing if the change cannot be made.
func (g *weighing) try(r remedy.Remedy, c whatif.Change) {
	made, err := whatif.Make(g.st, &c)
	if err != nil {
		return
	}
	g.weigh(r, g.after(made.State), true)
}

// weigh adds a remedy with its effect, which it takes from a simulation of then. timed sets the duration; for an act
// outside the cluster it is false, because its time is unknown.
func (g *weighing) weigh(r remedy.Remedy, then *scenario, timed bool) {
	run := then.simulate()
	o, counts, loses := then.outcome(run), run.tally.Counts(), run.loses()
	helps := g.helps(&r, then, run, &o)
	r.Effect.Left, r.Effect.Loses = append([]string{}, Nodes(o.Holders)...), append([]string{}, loses...)
	r.Effect.Worst, r.Effect.Updated, r.Effect.Desired = run.end.worst, counts.Updated, counts.Desired
	if then.spread(&o); timed {
		r.Effect.Duration = o.Duration
	}
	r.Worth = remedy.Useless
	switch unknown := then.unknown(); {
	case helps && len(unknown) > 0:
		r.Effect.Unknown = unknown
		worst := then.worst()
		run := worst.simulate()
		o := worst.outcome(run)
		sure := r
		if r.Worth = remedy.MayHelp; g.helps(&sure, worst, run, &o) {
			r, r.Worth = sure, remedy.Helps
		}
	case helps:
		r.Worth = remedy.Helps
	case o.FurtherHolders+len(o.Holders) > g.without && run.end.worst > g.without:
		r.Worth = remedy.Harms
	}
	if r.Worth == remedy.Useless || r.Worth == remedy.Harms {
		r.Problems, r.Ends = []daemonset.Reason{}, []cause.Subject{}
	}
	g.out = append(g.out, r)
}

// around lists the remedies that need not end a problem: with them the rollout continues despite it.
var around = []remedy.Code{remedy.OutOfService, remedy.RaiseMaxUnavailable, remedy.RaiseMaxSurge, remedy.RemoveNode,
	remedy.ExcludeNodes, remedy.NoSurge}

// doingWithout lists the remedies that give no node a pod.
var doingWithout = []remedy.Code{remedy.RemoveNode, remedy.ExcludeNodes}

// notRevertible lists who may be to blame for a problem that a rollback never ends.
var notRevertible = []cause.Who{cause.WhoNode, cause.WhoOtherWorkload, cause.WhoStrategy}

// revertible lists who may be to blame for a problem that a rollback can end while new pods surge beside old ones. Such
// a rollback creates no pod, so the simulation cannot show whether the next pod has the problem.
var revertible = []cause.Who{cause.WhoChange, cause.WhoTemplate, cause.WhoNodeProperty, cause.WhoUnknown}

// reverted reports whether a rollback can end a problem with this Blame.
func (g *weighing) reverted(b *cause.Blame) bool {
	switch {
	case b == nil:
		return true
	case g.st.Budget.MaxSurge > 0:
		return slices.Contains(revertible, b.Who) && !b.NotChange
	}
	return !slices.Contains(notRevertible, b.Who)
}

// helps reports whether a remedy leads to a good end, or at least to a better one than now, without ever leaving more
// nodes without an available pod than now plus the limit. It sets r.Problems and r.Ends to the problems that end.
func (g *weighing) helps(r *remedy.Remedy, then *scenario, run *simulation, o *Outcome) bool {
	left, there := sets.New(Nodes(o.Holders)...), false
	r.Problems, r.Ends = []daemonset.Reason{}, []cause.Subject{}
	for i := range g.problems {
		p := &g.problems[i]
		if slices.ContainsFunc(p.Nodes, left.Has) || o.FurtherHolders > 0 || r.Code == remedy.RollBack &&
			!g.reverted(p.Blame) {
			continue
		}
		if of := sets.New(r.Nodes...); of.Len() > 0 && len(p.Nodes) > 0 && !of.HasAny(p.Nodes...) {
			continue
		}
		if len(p.Nodes) == 0 && o.Code != NothingToDo && then.meets(p) {
			continue
		}
		there = there || len(p.Pods) > 0
		if !slices.Contains(r.Problems, p.Code) {
			r.Problems = append(r.Problems, p.Code)
		}
		if !slices.Contains(r.Ends, p.Subject) {
			r.Ends = append(r.Ends, p.Subject)
		}
	}
	if r.Code == remedy.RollBack && g.st.History.Cut && !there { // no pod of the revision exists yet
		r.Problems, r.Ends = []daemonset.Reason{}, []cause.Subject{}
	}
	if eligible.None(g.st, nil) != nil && len(left)+o.FurtherHolders < run.st.Desired {
		r.Problems = append(r.Problems, cause.NoEligibleNode)
	}
	if r.Code == remedy.RepairNodes &&
		slices.ContainsFunc(r.Nodes, func(name string) bool {
			n := g.st.Node(name)
			return n != nil &&
				n.Membership().Misscheduled
		}) {
		r.Problems = append(r.Problems, cause.Misscheduled)
	}
	if r.Code == remedy.Tolerate && g.st.Desired > 0 && !left.HasAny(r.Nodes...) { // the nodes then keep a pod
		r.Problems = append(r.Problems, cause.Misscheduled)
	}
	for n := range left {
		if g.served[n] {
			return false
		}
	}
	completes := o.Code == Completes || o.Code == NothingToDo && (len(left) == 0 && run.st.Desired > 0)
	ending := completes || len(left) < g.without && !slices.Contains(doingWithout, r.Code)
	// the remedy may make more nodes eligible
	limit, without := max(g.st.Limit(), 1), max(g.without, (&scenario{st: run.st, a: g.a}).unserved(g.served))
	return ending && o.FurtherHolders == 0 && (len(r.Problems) > 0 || slices.Contains(around, r.Code)) &&
		run.end.worst <= without+limit
}

// meets reports whether new pods run into a problem of the DaemonSet as a whole.
func (sc *scenario) meets(p *cause.Problem) bool {
	if p.Code == cause.FailedCreate {
		return sc.a.rejects != nil
	}
	return sc.a.failing != nil
}

// unknown returns the nodes whose next pod may or may not fail.
func (sc *scenario) unknown() (nodes []string) {
	for i := range sc.st.Nodes {
		if sc.a.nodes[i].unknown != nil {
			nodes = append(nodes, sc.st.Nodes[i].Name)
		}
	}
	return nodes
}

// worst returns the scenario in which every pod fails that may fail.
func (sc *scenario) worst() *scenario {
	a := *sc.a
	a.nodes = slices.Clone(a.nodes)
	for i := range a.nodes {
		if f := &a.nodes[i]; f.unknown != nil && f.never == nil {
			f.never, f.down = f.unknown, true
		}
	}
	return &scenario{st: sc.st, a: &a, m: sc.m, buffers: sc.buffers}
}

// deletePods adds the pods that a person has to delete: under OnDelete the old pods, the failing ones first, or
// otherwise a pod that is left over from a deleted node and fails every step.
func (g *weighing) deletePods() {
	r := remedy.New(remedy.DeletePods, "")
	r.Worth = remedy.Helps
	if err := g.st.Sync().Error; err != nil && err.Pod != "" {
		r.Pods, r.Nodes, r.Problems = []string{err.Pod}, []string{err.Node}, []daemonset.Reason{err.Code}
		g.out = append(g.out, r)
		return
	}
	if g.st.DaemonSet.Spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		return
	}
	fail := remedy.New(remedy.DeletePods, "")
	fail.Worth = remedy.Helps
	for i := range g.st.Nodes {
		n := &g.st.Nodes[i]
		for j := range n.Pods {
			p := &n.Pods[j]
			if p.Updated || p.Terminating {
				continue
			}
			r.Pods, r.Nodes = append(r.Pods, p.Name), append(r.Nodes, n.Name)
			next := g.a.causes.Next(n, g.a.evidence)
			if g.a.nodes[i].pods[p.Name] != nil && next == (cause.Prospect{}) && !g.a.nodes[i].stays() {
				fail.Pods, fail.Nodes = append(fail.Pods, p.Name), append(fail.Nodes, n.Name)
				if c := g.a.nodes[i].pods[p.Name]; !slices.Contains(fail.Problems, c.Code) {
					fail.Problems = append(fail.Problems, c.Code)
				}
			}
		}
	}
	switch {
	case len(fail.Pods) > 0:
		g.out = append(g.out, fail)
	case len(r.Pods) > 0 && len(g.problems) == 0:
		g.out = append(g.out, r)
	}
}

// tolerate adds tolerations to the template for the nodes whose taint is newer than their pod, because a rollout would
// delete that pod without replacement. If no node is eligible, it adds them for the nearest nodes instead.
func (g *weighing) tolerate() {
	nodes := g.stranded()
	if eligible.None(g.st, nil) != nil {
		nodes, _ = eligible.NearestFacts(g.st)["nearest"].([]string)
	}
	r := remedy.New(remedy.Tolerate, "")
	for _, name := range nodes {
		var tolerations []corev1.Toleration
		for _, c := range g.st.Placement.Remedies(g.st.Node(name).Object) {
			if c.Toleration == nil {
				tolerations = nil
				break
			}
			tolerations = append(tolerations, *c.Toleration)
		}
		if len(tolerations) > 0 {
			r.Nodes, r.Tolerations = append(r.Nodes, name), append(r.Tolerations, tolerations...)
		}
	}
	if len(r.Nodes) == 0 {
		return
	}
	slices.Sort(r.Nodes)
	r.Tolerations = daemonset.Fewest(r.Tolerations)
	g.try(r, whatif.Change{Tolerations: r.Tolerations})
}

// stranded returns the nodes that are not eligible and keep their pod until a rollout deletes it.
func (g *weighing) stranded() (nodes []string) {
	if g.st.DaemonSet.Spec.UpdateStrategy.Type != appsv1.RollingUpdateDaemonSetStrategyType {
		return nil
	}
	for i := range g.st.Nodes {
		if n := &g.st.Nodes[i]; n.Object != nil && n.Membership().Misscheduled && n.MayStay.OK && running(n) {
			nodes = append(nodes, n.Name)
		}
	}
	return nodes
}

// refersTo reports whether pods of the live template need the object of a problem: some of them fail because of it, or
// the template refers to it. If only old pods need the object, creating it does not affect any new pod.
func (g *weighing) refersTo(p *cause.Problem) bool {
	kind, key := p.Facts.Text("kind"), p.Facts.Text("key")
	isNew := func(pod daemonset.Pod) bool { return pod.Updated && slices.Contains(p.Pods, pod.Name) }
	ofNew := func(node string) bool { n := g.st.Node(node); return n != nil && slices.ContainsFunc(n.Pods, isNew) }
	return kind == "" || len(p.Pods) == 0 || slices.ContainsFunc(p.Nodes, ofNew) ||
		slices.ContainsFunc(refer.Of(&g.st.DaemonSet.Spec.Template.Spec), func(r refer.Reference) bool {
			return string(r.Kind) == kind && r.Name == p.Facts.Text("name") &&
				(key == "" || r.Key == "" || r.Key == key)
		})
}

// noQuota reports whether pods are rejected because no ResourceQuota admits their PriorityClass.
func noQuota(p *cause.Problem) bool {
	return p.Subject.Kind == cause.SubjectQuota && p.Subject.Name == ""
}

// refresh adds a remedy that makes a running controller notice a change that it missed.
func (g *weighing) refresh() {
	f := g.a.causes.AddLease(daemonset.Facts{})
	if f["lease"] != cause.LeaseAlive || !g.a.causes.AsksController() {
		return
	}
	r := remedy.New(remedy.Refresh, "")
	r.Worth = remedy.Helps
	g.out = append(g.out, r)
}

// acts adds what people do outside of the DaemonSet to end a problem. The simulation assumes that its pods then no
// longer fail because of it.
func (g *weighing) acts() {
	act := func(code remedy.Code, value string, needs int, is func(*cause.Problem) bool) {
		var nodes []string
		var ended []*cause.Problem
		for i := range g.problems {
			if p := &g.problems[i]; is(p) {
				nodes, ended = append(nodes, p.Nodes...), append(ended, p)
			}
		}
		if len(ended) == 0 {
			return
		}
		r := remedy.New(code, value, nodes...)
		r.Needs = needs
		g.weigh(r, g.withoutProblems(ended), false)
	}
	who := func(w cause.Who) func(*cause.Problem) bool {
		return func(p *cause.Problem) bool { return p.Blame != nil && p.Blame.Who == w }
	}
	act(remedy.CreateObject, "", 0, func(p *cause.Problem) bool {
		missing := p.Subject.Kind == cause.SubjectReference || who(cause.WhoMissingObject)(p)
		return missing && g.refersTo(p) || noQuota(p)
	})
	for _, pressure := range []corev1.NodeConditionType{corev1.NodeDiskPressure, corev1.NodeMemoryPressure,
		corev1.NodePIDPressure} {
		act(remedy.FreeDisk, string(pressure), 0, func(p *cause.Problem) bool {
			return p.Subject.Kind == cause.SubjectNodeCondition && p.Subject.Name == string(pressure) &&
				cause.StageOf(p.Code) == cause.StageStays ||
				p.Code == cause.OOMKilled && pressure == corev1.NodeMemoryPressure && who(cause.WhoNode)(p) &&
					p.Blame.Certainty == cause.Certain
		})
	}
	act(remedy.MakeRoom, "", 0, func(p *cause.Problem) bool {
		return who(cause.WhoOtherWorkload)(p) && p.Subject.Kind != cause.SubjectHostPort
	})
	act(remedy.FreePort, "", 0, func(p *cause.Problem) bool {
		return p.Subject.Kind == cause.SubjectHostPort &&
			!ofStrategy(*p)
	})
	act(remedy.LowerRequest, "", 0, func(p *cause.Problem) bool {
		return p.Subject.Kind == cause.SubjectNodeResource && p.Subject.Name != "pods" &&
			(p.Facts.Yes("beyond") || who(cause.WhoChange)(p) || who(cause.WhoOtherWorkload)(p) && leavesSome(p))
	})
	act(remedy.AskOwner, "", 0, func(p *cause.Problem) bool {
		return who(cause.WhoInjection)(p) ||
			slices.Contains([]cause.SubjectKind{cause.SubjectWebhook, cause.SubjectPolicy, cause.SubjectSCC,
				cause.SubjectPodSecurityPolicy}, p.Subject.Kind)
	})
	act(remedy.CorrectTemplate, "", 0, func(p *cause.Problem) bool {
		return who(cause.WhoTemplate)(p) && p.Blame.Revision == 0 || noQuota(p) || who(cause.WhoChange)(p) &&
			p.Blame.Certainty == cause.Certain
	})
	g.excludeVirtual()
	for i := range g.problems {
		p := &g.problems[i]
		if p.Code == cause.FailedCreate && p.Subject.Kind == cause.SubjectQuota && !noQuota(p) {
			act(remedy.RaiseQuota, p.Subject.Name, cause.QuotaNeeds(p.Facts.Text("message"), g.lacking()),
				func(of *cause.Problem) bool { return of == p })
		}
		if p.Blame != nil && (p.Common != nil && p.Common.OfPlatform() && p.Blame.Who == cause.WhoNodeProperty ||
			p.Blame.Who == cause.WhoTemplate && p.NotBuilt()) {
			act(remedy.PublishImage, g.a.causes.Platform(p.Nodes), 0, func(of *cause.Problem) bool { return of == p })
		}
	}
}

// leavesSome reports whether other pods are known to leave part of the requested resource free.
func leavesSome(p *cause.Problem) bool {
	free, err := resource.ParseQuantity(p.Facts.Text("free"))
	return err == nil && !free.IsZero()
}

// excludeVirtual adds a remedy that excludes virtual nodes, which run no DaemonSet pods.
func (g *weighing) excludeVirtual() {
	var nodes, labels []string
	t := g.st.DaemonSet.DeepCopy()
	for i := range g.problems {
		if p := &g.problems[i]; p.Code == cause.VirtualNode {
			key, value := p.Facts.Text("key"), p.Facts.Text("want")
			nodes, labels = append(nodes, p.Nodes...), append(labels, key+"!="+value)
			exclude(&t.Spec.Template.Spec,
				corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpNotIn, Values: []string{value}})
		}
	}
	if slices.Sort(labels); len(nodes) > 0 {
		g.try(remedy.New(remedy.ExcludeNodes, strings.Join(labels, ","), nodes...), whatif.Change{DaemonSet: t})
	}
}

// exclude adds a requirement to the required node affinity of a pod.
func exclude(spec *corev1.PodSpec, r corev1.NodeSelectorRequirement) {
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	if spec.Affinity.NodeAffinity == nil {
		spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	a := spec.Affinity.NodeAffinity
	if a.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		a.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}}
	}
	terms := a.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	for i := range terms {
		terms[i].MatchExpressions = append(terms[i].MatchExpressions, r)
	}
}

// lacking counts the eligible nodes without a pod.
func (g *weighing) lacking() (count int) {
	for i := range g.st.Nodes {
		n := &g.st.Nodes[i]
		count += b2i(n.ShouldRun.OK &&
			!slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool { return !p.Terminating }))
	}
	return count
}

// withoutProblems returns the scenario in which some problems have ended: pods no longer fail on the nodes of these
// problems. If one of them is a failure of the revision or a rejection of pods, that ends too.
func (sc *scenario) withoutProblems(ended []*cause.Problem) *scenario {
	a, nodes, all := *sc.a, sets.New[string](), false
	a.nodes, a.late = slices.Clone(a.nodes), nil
	for _, p := range ended {
		nodes.Insert(p.Nodes...)
		all = all || len(p.Nodes) == 0 || a.failing != nil && a.failing.Code == p.Code
		if p.Code == cause.FailedCreate {
			a.refusal, a.rejects, a.room = nil, nil, nil
		}
	}
	if all {
		a.failing, a.fails, a.unmet, a.image = nil, nil, nil, ""
	}
	for i := range a.nodes {
		f := &a.nodes[i]
		if nodes.Has(sc.st.Nodes[i].Name) || all && !f.down {
			f.recover()
			f.never, f.down, f.unknown = nil, false, nil
		}
		f.refused = f.refused && a.refusal != nil
	}
	return &scenario{st: sc.st, a: &a, m: sc.m, buffers: sc.buffers}
}

// rollBack adds a rollback to the previous revision.
func (g *weighing) rollBack() {
	to := g.rollBackTo()
	if none := eligible.None(g.st, nil); none != nil {
		if f, _ := eligible.NoneSince(g.st); f["changed"] == eligible.ChangedTemplate {
			to = int64(f.Int("before"))
		}
	}
	if to == 0 || g.st.History.Cut && len(g.problems) == 0 {
		return
	}
	r := remedy.New(remedy.RollBack, strconv.FormatInt(to, 10))
	for i := range g.st.Nodes {
		for j := range g.st.Nodes[i].Pods {
			if p := &g.st.Nodes[i].Pods[j]; p.Updated && !p.Terminating {
				r.Effect.Replaces++
				r.Effect.Available += b2i(p.Available.OK)
			}
		}
	}
	g.try(r, whatif.Change{ToRevision: &to})
}

// rollBackTo returns the number of the revision to roll back to: the newest other revision with an available pod, or
// else the revision of most old pods, or else, if no pod of the current revision ever worked, the previous one. It
// returns 0 if there is none.
func (g *weighing) rollBackTo() int64 {
	if to := before(g.st); to != 0 {
		return to
	}
	pods := map[string]int{}
	for i := range g.st.Nodes {
		for _, p := range g.st.Nodes[i].Pods {
			if !p.Updated && !p.Terminating {
				pods[p.Revision]++
			}
		}
	}
	var number int64
	most := 0
	for _, r := range g.st.History.Revisions { // newest first
		if n := pods[r.Name]; n > most && !slices.Contains(g.st.History.Current, r.Name) {
			number, most = r.Number, n
		}
	}
	if number == 0 && slices.ContainsFunc(g.problems, ofContainers) {
		return g.a.causes.Untried()
	}
	return number
}

// ofContainers reports whether containers fail and nobody else is known to be at fault.
func ofContainers(p cause.Problem) bool {
	return cause.OfContainer(p.Code) && p.Severity == cause.SeverityError && p.Blame != nil &&
		p.Blame.Who == cause.WhoUnknown
}

// excludeFailing adds remedies that keep the pod off the only nodes where it fails.
func (g *weighing) excludeFailing() {
	with := func(key, value string, nodes []string) {
		g.try(remedy.New(remedy.ExcludeNodes, key+"="+value, nodes...),
			whatif.Change{NodeSelector: map[string]string{key: value}})
	}
	if want, on := g.otherSystem(); want != "" {
		with(corev1.LabelOSStable, want, on)
	}
	// the template then requires the namespace's label itself
	if key, value, one := g.st.Placement.NamespaceLabel(); one && len(g.excludedButCounted()) > 0 {
		with(key, value, g.excludedButCounted())
	}
	if g.a.confined != nil {
		if label := g.a.causes.Elsewhere(g.a.confined); label != nil {
			with(label.Key, label.Value, g.failsOn())
		}
	}
}

// changeStrategy adds another limit, or a rollout without surge, with which a stalled rollout continues.
func (g *weighing) changeStrategy() {
	if g.ends.Code != Stalls || g.hasOtherProblem(g.stalled) || g.st.Desired == 0 {
		return
	}
	if g.st.Budget.MaxSurge > 0 && (g.a.ports || slices.ContainsFunc(g.problems, ofStrategy)) {
		zero, one := intstr.FromInt32(0), intstr.FromInt32(1)
		g.try(remedy.New(remedy.NoSurge, one.String()), whatif.Change{MaxSurge: &zero, MaxUnavailable: &one})
	}
	// leaving nodes out is better than a higher limit
	if r := remedy.Find(g.out, remedy.ExcludeNodes); g.mayRaiseLimit() && (r == nil || r.Worth != remedy.Helps) {
		g.raiseLimit()
	}
}

// ofStrategy reports whether the update strategy is at fault.
func ofStrategy(p cause.Problem) bool { return p.Blame != nil && p.Blame.Who == cause.WhoStrategy }

// mayRaiseLimit reports whether a higher limit may be offered: only nodes or other workloads are at fault. If the
// revision may be at fault, more of its pods would fail.
func (g *weighing) mayRaiseLimit() bool {
	ru := g.st.DaemonSet.Spec.UpdateStrategy.RollingUpdate
	if g.a.ports || g.st.Budget.MaxSurge == 0 && ru != nil && ru.MaxSurge != nil && validate.Amount(*ru.MaxSurge) != 0 {
		return false
	}
	return !slices.ContainsFunc(g.problems, func(p cause.Problem) bool {
		b := p.Blame
		return b != nil && !slices.Contains([]cause.Who{cause.WhoNode, cause.WhoNodeProperty,
			cause.WhoOtherWorkload}, b.Who)
	})
}

// raiseLimit adds a higher limit of the same kind. It leaves room for the nodes that use up the limit permanently and
// for as many pods at a time as now, and keeps at least one node with an available pod.
func (g *weighing) raiseLimit() {
	smallest, left := 0, []string(nil)
	for n, most := g.stalled.tally.Used()+1, len(g.st.Nodes)+1; n <= most; {
		then := g.withLimit(n)
		run := then.simulate()
		o := then.outcome(run)
		if o.Code == Completes && o.FurtherHolders == 0 &&
			!slices.ContainsFunc(Nodes(o.Holders), func(name string) bool { return g.served[name] }) {
			smallest, left = n, Nodes(o.Holders)
			break
		}
		if run.tally.Used() < n {
			return
		}
		n = run.tally.Used() + 1
	}
	if smallest == 0 || g.st.Budget.MaxSurge == 0 && smallest-len(left) >= len(g.served) {
		return
	}
	number := max(smallest, g.stalled.tally.Used()+g.st.Limit())
	for g.st.Budget.MaxSurge == 0 && number > smallest && number-len(left) >= len(g.served) { // keep one pod
		number--
	}
	limit := intstr.FromInt(number)
	code, change := remedy.RaiseMaxUnavailable, whatif.Change{MaxUnavailable: &limit}
	if g.st.Budget.MaxSurge > 0 {
		code, change = remedy.RaiseMaxSurge, whatif.Change{MaxSurge: &limit}
	}
	r := remedy.New(code, limit.String(), left...)
	r.Smallest = strconv.Itoa(smallest)
	g.try(r, change)
}

// fixNodes adds remedies for nodes that are down: repair them, taint them as out of service, or delete them.
func (g *weighing) fixNodes() {
	down := g.downNodes()
	for _, n := range g.problemNodes() {
		if !slices.Contains(down, n) {
			down = append(down, n)
		}
	}
	down = slices.DeleteFunc(down, g.waitsForPod)
	if len(down) == 0 {
		return
	}
	slices.Sort(down)
	purposely := g.onPurpose()
	if down = slices.DeleteFunc(down, purposely.Has); len(down) == 0 {
		return
	}
	if then, err := whatif.Repaired(g.st, down); err == nil {
		g.weigh(remedy.New(remedy.RepairNodes, strconv.Itoa(len(down)), down...), g.after(then), false)
	}
	g.declareOutOfService()
	down = slices.DeleteFunc(down, func(name string) bool {
		n := g.st.Node(name)
		return n == nil || n.Membership().Misscheduled && !g.st.Holds(n)
	})
	// if more than the limit is used up, deleting one node does not let another old pod go
	if g.ends.Code != Stalls || g.hasOtherProblem(g.stalled) || g.stalled.tally.Used() > g.st.Limit() &&
		g.stalled.tally.Old() > 1 {
		return
	}
	const most = 5
	for _, name := range down[:min(most, len(down))] {
		g.try(remedy.New(remedy.RemoveNode, name, name),
			whatif.Change{Nodes: []whatif.NodeEdit{{Kind: whatif.NodeRemove, Which: name}}})
	}
}

// onPurpose returns the nodes that are down on purpose.
func (g *weighing) onPurpose() sets.Set[string] {
	nodes := sets.New[string]()
	for i := range g.st.Nodes {
		if down := cause.Down(&g.st.Nodes[i], g.st.At); down != nil && down.Facts["purpose"] != nil {
			nodes.Insert(g.st.Nodes[i].Name)
		}
	}
	return nodes
}

// declareOutOfService adds the out-of-service taint for nodes with pods that stay Terminating, so that the pod garbage
// collector force-deletes these pods. This is only for machines that are off; a kubelet that reports NotReady itself is
// still running.
func (g *weighing) declareOutOfService() {
	if !cause.CollectsOutOfService(g.st.Profile.Version) {
		return
	}
	var nodes []string
	for i := range g.problems {
		if p := &g.problems[i]; p.Code == cause.TerminatingOnDeadNode &&
			p.Facts["status"] == string(corev1.ConditionUnknown) && !p.Facts.Yes("outOfService") && !p.OnPurpose() {
			nodes = append(nodes, p.Nodes...)
		}
	}
	if len(nodes) == 0 {
		return
	}
	var edits []whatif.NodeEdit
	for _, n := range nodes {
		edits = append(edits, whatif.NodeEdit{Kind: whatif.NodeTaint, Which: n, Taint: &cause.OutOfService})
	}
	g.try(remedy.New(remedy.OutOfService, "", nodes...), whatif.Change{Nodes: edits})
}

// waitsForPod reports whether a node is NotReady because its pod, which installs the network plugin, fails.
func (g *weighing) waitsForPod(name string) bool {
	c := g.a.causes.Of(name)
	return c != nil && c.Facts.Yes("nodeWaits")
}

// problemNodes returns the nodes that are down and have a problem because of that.
func (g *weighing) problemNodes() (nodes []string) {
	for i := range g.problems {
		if p := &g.problems[i]; p.Code == cause.NodeNotReady || p.Code == cause.TerminatingOnDeadNode {
			nodes = append(nodes, p.Nodes...)
		}
	}
	for i := range g.st.Nodes {
		if n := &g.st.Nodes[i]; n.Membership().Misscheduled && downFor(n.ShouldRun.Facts) &&
			cause.Down(n, g.st.At) != nil {
			nodes = append(nodes, n.Name)
		}
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// downFor reports whether a node is not eligible because it is NotReady or unreachable.
func downFor(f daemonset.Facts) bool {
	return f["key"] == corev1.TaintNodeNotReady || f["key"] == corev1.TaintNodeUnreachable
}

// served returns the nodes that have an available pod and whose kubelet answers.
func (sc *scenario) served() map[string]bool {
	out := map[string]bool{}
	for i := range sc.st.Nodes {
		if n := &sc.st.Nodes[i]; hasAvailable(n) && !sc.a.nodes[i].hangs {
			out[n.Name] = true
		}
	}
	return out
}

// unserved counts the eligible nodes that are not in served.
func (sc *scenario) unserved(served map[string]bool) (count int) {
	for i := range sc.st.Nodes {
		count += b2i(sc.st.Nodes[i].ShouldRun.OK && !served[sc.st.Nodes[i].Name])
	}
	return count
}

// otherSystem returns the nodes whose kubelet rejects the pods of the template because of its operating system, and the
// operating system that the template requires. Both are empty if there are no such nodes.
func (sc *scenario) otherSystem() (want string, nodes []string) {
	for i := range sc.st.Nodes {
		if c := sc.a.nodes[i].never; c != nil && c.Code == cause.PodOSNotSupported {
			want, nodes = c.Facts.Text("want"), append(nodes, sc.st.Nodes[i].Name)
		}
	}
	return want, nodes
}

// excludedButCounted returns the nodes that only their namespace excludes, but which the rolling update still counts.
func (sc *scenario) excludedButCounted() (nodes []string) {
	for i := range sc.st.Nodes {
		if n := &sc.st.Nodes[i]; n.StillRolled {
			nodes = append(nodes, n.Name)
		}
	}
	return nodes
}

// hasOtherProblem reports whether a stalled rollout has another problem than its limit.
func (sc *scenario) hasOtherProblem(stalled *simulation) bool {
	return sc.a.fails != nil || sc.a.image != "" || sc.a.unmet != nil || sc.a.silent != "" || sc.a.rejects != nil ||
		stalled.refused || stalled.end.failed != nil || sc.st.Budget.Kind == daemonset.BudgetNone ||
		sc.st.Budget.Invalid != ""
}

// downNodes returns the nodes that are down, and that should run the pod or have one.
func (sc *scenario) downNodes() (names []string) {
	for i := range sc.st.Nodes {
		if n := &sc.st.Nodes[i]; sc.a.nodes[i].stays() && cause.Down(n, sc.st.At) != nil &&
			(n.ShouldRun.OK || len(n.Pods) > 0) {
			names = append(names, n.Name)
		}
	}
	return names
}

// before returns the number of the newest revision, other than the current one, that has an available pod; 0 if there
// is none.
func before(st *daemonset.State) int64 {
	number := map[string]int64{}
	for _, r := range st.History.Revisions {
		if !r.Matches && r.Claim == daemonset.Owned {
			number[r.Name] = r.Number
		}
	}
	var newest int64
	for i := range st.Nodes {
		for j := range st.Nodes[i].Pods {
			if p := &st.Nodes[i].Pods[j]; p.Available.OK && !p.Terminating {
				newest = max(newest, number[p.Revision])
			}
		}
	}
	return newest
}
