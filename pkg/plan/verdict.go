package plan

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/managed"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// The methods in this file answer questions about a Plan whose answers depend on several of its fields.

// OfChange reports whether the plan is for a change that has not been made yet.
func (p *Plan) OfChange() bool { return p.Subject == SubjectChange || p.Subject == SubjectNew }

// SetsStrategy reports whether the change sets a field of the update strategy, such as its limit.
func (p *Plan) SetsStrategy() bool {
	return p.Change != nil && slices.ContainsFunc(p.Change.Fields, func(f whatif.FieldDiff) bool {
		_, below := f.Path.Below(template.Fields("spec", "updateStrategy"))
		return below
	})
}

// ByHand reports whether the change edits the DaemonSet without a manifest and is more than a restart. A restart does
// not count because no tool undoes it.
func (p *Plan) ByHand() bool {
	return p.Change != nil && p.Change.Method == "" &&
		slices.ContainsFunc(p.Change.Fields,
			func(f whatif.FieldDiff) bool { return !f.Path.Equal(template.RestartedAt) })
}

// Verdict is how a plan ends and, for a rollout in progress, also where it stands.
type Verdict string

const (
	VerdictNothing    Verdict = "Nothing"    // no pod is created, deleted or replaced
	VerdictUncompared Verdict = "Uncompared" // as Nothing, unless a value that could not be compared differs
	// as Nothing, for a rollback to the revision of all pods, which ends the rollout
	VerdictEnds Verdict = "Ends"
	// as Nothing, but nodes stay without an available pod: explain reports Degraded
	VerdictDegraded  Verdict = "Degraded"
	VerdictCompletes Verdict = "Completes" // the rollout completes
	// it completes if late pods become ready, or if pods work that may fail
	VerdictLate          Verdict = "Late"
	VerdictUndone        Verdict = "Undone"        // it completes, and then a tool undoes it
	VerdictRemoves       Verdict = "Removes"       // nodes lose their pod, and nothing else happens
	VerdictRemovesAll    Verdict = "RemovesAll"    // no node runs the pod at the end
	VerdictStalls        Verdict = "Stalls"        // it continues, and then stalls
	VerdictStaysStuck    Verdict = "StaysStuck"    // the rollout in progress does not move, and stays that way
	VerdictStaysDegraded Verdict = "StaysDegraded" // as StaysStuck, without old pods
	VerdictWaits         Verdict = "Waits"         // it waits for a person to delete pods
	VerdictBeingDeleted  Verdict = "BeingDeleted"  // the DaemonSet is being deleted
	VerdictIgnored       Verdict = "Ignored"       // the controller ignores the DaemonSet
	VerdictUnknown       Verdict = "Unknown"       // the end is unknown
)

// Verdict returns the verdict of the plan.
func (p *Plan) Verdict() Verdict {
	o := &p.Outcome
	completes, stalls, stays := o.ReachesEnd(), o.Code == Stalls, o.Code == NotRolling
	for _, row := range []struct {
		is      bool
		verdict Verdict
	}{
		{o.Code == NothingToDo && p.Subject == SubjectNothing && o.Unserved() > 0, VerdictDegraded},
		{o.Code == NothingToDo && !p.TemplateKnown(), VerdictUncompared},
		{o.Code == NothingToDo && p.Kept() > 0, VerdictEnds},
		{o.Code == NothingToDo, VerdictNothing},
		{completes && len(p.Placement.Lose) > 0 && len(p.Placement.Gain) == 0 && p.Old() == 0, VerdictRemoves},
		{completes && p.UndoneBy() != nil, VerdictUndone},
		{completes && len(o.Late) > 0 || o.Code == MayComplete, VerdictLate},
		{completes, VerdictCompletes},
		{o.Code == RemovesAllPods, VerdictRemovesAll},
		{stalls && (p.Subject != SubjectRollout || len(p.Waves) > 0 || o.UnderWay > 0 && p.Old() > 0), VerdictStalls},
		{stalls && p.Old() == 0, VerdictStaysDegraded},
		{stalls, VerdictStaysStuck},
		{stays && o.Reason == daemonset.StepBeingDeleted, VerdictBeingDeleted},
		{stays && o.Reason == daemonset.StepSelectsAll, VerdictIgnored},
		{stays, VerdictWaits},
	} {
		if row.is {
			return row.verdict
		}
	}
	return VerdictUnknown
}

// Quality is how good the end of a plan is.
type Quality int

const (
	EndsWell    Quality = iota // every eligible node has an available pod, and nothing is lost or left to do
	EndsInDoubt                // it waits for a person, is undone, is unknown, or leaves nodes without a pod
	EndsBadly                  // it stalls, or nodes lose their pod immediately
)

// Quality returns how good the end of the plan is.
func (p *Plan) Quality() Quality {
	o := &p.Outcome
	switch {
	case o.Code == Stalls, o.Code == RemovesAllPods, len(p.Placement.Lose) > 0:
		return EndsBadly
	case p.Nowhere(), o.Unserved() > 0, len(p.Losses()) > 0,
		!slices.Contains([]Verdict{VerdictNothing, VerdictEnds, VerdictCompletes}, p.Verdict()):
		return EndsInDoubt
	}
	return EndsWell
}

// Nowhere reports whether it is known that no node should run the pod.
func (p *Plan) Nowhere() bool { return p.Desired.After == 0 && p.Next.Exact }

// AtEnd returns the counts of the status at the end of the plan.
func (p *Plan) AtEnd() daemonset.Counts {
	if n := len(p.Waves); n > 0 {
		return p.Waves[n-1].Counts
	}
	return p.Now
}

// Losses returns the nodes that lose their pod, immediately or during the rollout. It returns nil if the rollout does
// not complete, or if the verdict already says so.
func (p *Plan) Losses() []PlacementNode {
	if !p.Outcome.ReachesEnd() || p.Verdict() == VerdictRemoves {
		return nil
	}
	return p.Lost
}

// LostLater returns the nodes that lose their pod during the rollout, without those that lose it immediately.
func (p *Plan) LostLater() []PlacementNode {
	at := sets.New(Nodes(p.Placement.Lose)...)
	return slices.DeleteFunc(slices.Clone(p.Lost), func(n PlacementNode) bool { return at.Has(n.Node) })
}

// LostOtherwise returns the nodes of LostLater that are not stranded by a taint.
func (p *Plan) LostOtherwise() []PlacementNode {
	return slices.DeleteFunc(p.LostLater(), func(n PlacementNode) bool {
		return slices.ContainsFunc(p.Stranded, func(s StrandedNode) bool { return s.Node == n.Node })
	})
}

// StrandedGroups returns the stranded nodes, grouped by taint, the largest group first.
func (p *Plan) StrandedGroups() []PlacementGroup {
	var nodes []PlacementNode
	for _, n := range p.Stranded {
		nodes = append(nodes, PlacementNode{n.Node, n.Verdict})
	}
	return ByVerdict(nodes)
}

// KeptByTolerations returns the stranded nodes on which tolerations keep the pods, and these tolerations, as narrow as
// possible. It leaves out nodes that have to be repaired or that are shutting down.
func (p *Plan) KeptByTolerations() (nodes []string, tolerations []corev1.Toleration) {
	for _, n := range p.Stranded {
		if len(n.Changes) == 0 ||
			slices.ContainsFunc(n.Changes, func(c daemonset.Remedy) bool { return c.Toleration == nil }) {
			continue
		}
		nodes = append(nodes, n.Node)
		for _, c := range n.Changes {
			tolerations = append(tolerations, *c.Toleration)
		}
	}
	return nodes, daemonset.Fewest(tolerations)
}

// KeptBeforeTaint returns the tolerations, as narrow as possible, that keep the pods on the nodes that the change
// taints. It returns nil if other rules also exclude one of these nodes.
func (p *Plan) KeptBeforeTaint() (tolerations []corev1.Toleration) {
	taints := func(n whatif.NodeChange) bool { return n.Kind == whatif.NodeTaint }
	if p.Change == nil || !slices.ContainsFunc(p.Change.Nodes, taints) {
		return nil
	}
	for _, n := range p.Placement.Lose {
		f := n.Verdict.Facts
		if n.Verdict.Reason != daemonset.TaintNotTolerated || f.Int("others") > 0 {
			return nil
		}
		r := daemonset.TaintRemedy(f)
		if r.Toleration == nil {
			return nil
		}
		tolerations = append(tolerations, *r.Toleration)
	}
	return daemonset.Fewest(tolerations)
}

// KeptByRepair returns the nodes that lose their pod during the rollout only because they are not ready. They keep the
// pod if they are repaired first. Nodes that are down only by assumption (see Supposed) are not included.
func (p *Plan) KeptByRepair() []string {
	nodes := Nodes(slices.DeleteFunc(p.LostLater(), func(n PlacementNode) bool {
		key := n.Verdict.Facts.Text("key")
		return key != corev1.TaintNodeNotReady && key != corev1.TaintNodeUnreachable
	}))
	nodes, _ = p.SplitDown(nodes)
	return nodes
}

// Answering returns the nodes that lose their pod during the rollout because they are NotReady although their kubelet
// still answers, so that it terminates the pod.
func (p *Plan) Answering() []string {
	return Nodes(slices.DeleteFunc(p.LostLater(),
		func(n PlacementNode) bool { return n.Verdict.Facts["key"] != corev1.TaintNodeNotReady }))
}

// Supposed reports whether the plan was asked to assume that all of these nodes are down. It returns false if no node
// is given.
func (p *Plan) Supposed(nodes ...string) bool {
	if p.Change == nil || len(nodes) == 0 {
		return false
	}
	isDown := func(name string) bool {
		return slices.ContainsFunc(p.Change.Nodes, func(c whatif.NodeChange) bool {
			_, is := slices.BinarySearch(c.Nodes, name)
			return is && c.Kind == whatif.NodeDown
		})
	}
	return !slices.ContainsFunc(nodes, func(name string) bool { return !isDown(name) })
}

// SplitDown splits nodes into those that are really down and those that the plan was asked to assume are down.
func (p *Plan) SplitDown(nodes []string) (real, supposed []string) {
	for _, n := range nodes {
		if p.Supposed(n) {
			supposed = append(supposed, n)
		} else {
			real = append(real, n)
		}
	}
	return real, supposed
}

// Hypothetical returns the nodes that the plan was asked to assume are down, if nothing else was asked. Such a plan is
// not for a change that anybody would make.
func (p *Plan) Hypothetical() (nodes []string) {
	if p.Change == nil || len(p.Change.Fields) > 0 {
		return nil
	}
	for _, c := range p.Change.Nodes {
		if c.Kind != whatif.NodeDown && len(c.Nodes) > 0 {
			return nil
		}
		nodes = append(nodes, c.Nodes...)
	}
	return nodes
}

// SetAside returns the nodes with a pod that the plan was asked to assume are down and that are not eligible then. No
// count of the plan includes them.
func (p *Plan) SetAside() (nodes []string) {
	for _, n := range p.Lost {
		if p.Supposed(n.Node) {
			nodes = append(nodes, n.Node)
		}
	}
	return nodes
}

// Regardless reports whether the next sync deletes all old pods regardless of the limit, because none is available.
func (p *Plan) Regardless() bool {
	forced := 0
	for _, i := range p.Next.Deletes.Certain {
		forced += b2i(i.Reason == daemonset.Forced)
	}
	return p.Old() > 0 && max(p.Outcome.AtOnce, forced) >= p.Old()
}

// KeepsNone reports whether there are available pods now, and at some time during the rollout there is none. It returns
// false for a single node, where nearly every rollout does that.
func (p *Plan) KeepsNone() bool {
	o := &p.Outcome
	return (o.ReachesEnd() || o.Code == Stalls) && p.Now.Available > 0 && p.Desired.After > 1 &&
		o.Worst >= p.Desired.After &&
		len(p.Lost) == 0 && p.Now.Misscheduled == 0
}

// OneOfManyOrders reports whether the course depends on the order in which the controller picks nodes: some pods are
// replaced, others only deleted, and not all at once.
func (p *Plan) OneOfManyOrders() bool {
	return p.Replaces > 0 && p.Drops > 0 && len(p.Waves) > 1 && p.Outcome.AtOnce < p.Old()
}

// Kept returns how many pods a rollback keeps because they are already of its target revision; 0 if the change is not
// such a rollback.
func (p *Plan) Kept() int {
	if p.Change == nil || !p.Change.TemplateChanged || p.Change.Revision.Was == 0 ||
		p.Replaces+p.Now.Updated != p.AtEnd().Desired {
		return 0
	}
	return p.Now.Updated
}

// WarningsBeside returns how many warnings of a change its verdict does not express itself.
func (p *Plan) WarningsBeside() int {
	if !p.OfChange() {
		return 0
	}
	said := func(w Warning) bool { return w.Code == ManagedByTool && p.Verdict() == VerdictUndone }
	return len(slices.DeleteFunc(slices.Clone(p.Warnings), said))
}

// HasToDo reports whether something happens, nodes stay without an available pod, pods stay although no node is
// eligible, or values that could not be compared decide whether anything happens. A change that leaves no node eligible
// counts even if there is no pod.
func (p *Plan) HasToDo() bool {
	staying, none := p.NoneEligible()
	moves := p.Next.Kind != daemonset.StepNone || len(p.Placement.Gain)+len(p.Placement.Lose) > 0
	return !p.TemplateKnown() || none && (staying > 0 || p.Change != nil && p.Desired.Before > 0) || moves ||
		p.Outcome.Unserved() > 0 || p.OfChange() && p.Verdict() == VerdictWaits ||
		p.Subject != SubjectNothing && p.Outcome.Code != NothingToDo && p.Outcome.Code != NotRolling
}

// WorstFirst compares two Plans by outcome, worst first, then by namespace and name.
func WorstFirst(a, b *Plan) int {
	return cmp.Or(slices.Index(OutcomeCodes, a.Outcome.Code)-slices.Index(OutcomeCodes, b.Outcome.Code),
		strings.Compare(a.DaemonSet.Namespace, b.DaemonSet.Namespace),
		strings.Compare(a.DaemonSet.Name, b.DaemonSet.Name))
}

// EndBadly returns how many of the plans end badly.
func (l *List) EndBadly() (n int) {
	for _, p := range l.Items {
		n += b2i(p.Quality() == EndsBadly)
	}
	return n
}

// UndoneBy returns the tool that undoes the change by itself, or nil if no such tool is known.
func (p *Plan) UndoneBy() *managed.Manager {
	for _, w := range p.Warnings {
		m := managed.Manager{Tool: managed.Tool(w.Facts.Text("tool")), By: w.Facts.Text("by"),
			Evidence: w.Facts.Text("evidence")}
		if w.Code == ManagedByTool && m.Tool.Reverts() {
			return &m
		}
	}
	return nil
}

// IfChanged returns the forecast for a change to the template as a Plan, or nil if there is none.
func (p *Plan) IfChanged() *Plan {
	if p.IfTemplateChanged == nil {
		return nil
	}
	return &Plan{Header: p.Header, Subject: SubjectChange, Change: p.Change, Desired: p.Desired, Now: p.Now,
		Forecast: *p.IfTemplateChanged}
}

// MinReadySeconds returns minReadySeconds if it decides how long a step takes: pods are created, and it is longer than
// the slowest start. Otherwise it returns 0.
func (p *Plan) MinReadySeconds() int {
	wait, start := 0., 0.
	for _, a := range p.Assumptions {
		switch a.Code {
		case AssumeMinReadySeconds:
			wait, _ = strconv.ParseFloat(a.Value, 64)
		case AssumeStart, AssumeStartSlow:
			d, _ := time.ParseDuration(a.Value)
			start = max(start, d.Seconds())
		}
	}
	if creates, _ := p.Moved(); creates == 0 || wait <= start {
		return 0
	}
	return int(wait)
}

// Old returns how many old pods a rollout replaces or only deletes.
func (f *Forecast) Old() int { return f.Replaces + f.Drops }

// Moved returns how many pods all waves create and delete.
func (f *Forecast) Moved() (creates, deletes int) {
	for _, w := range f.Waves {
		creates, deletes = creates+w.Count*w.Creates, deletes+w.Count*w.Deletes
	}
	return creates, deletes
}

// AtATime returns how many pods are replaced at a time if at most that many nodes may be without theirs. If the limit
// decides about no pod, it returns the number of all old pods.
func (f *Forecast) AtATime(nodes int) int {
	if f.Outcome.AtOnce >= f.Old() {
		return f.Old()
	}
	return min(nodes, f.Old()-f.Outcome.AtOnce)
}

// Stage is a row of the course: a Wave and the number of its first step, or the number of waves that are left out.
type Stage struct {
	Wave
	First, LeftOut int
}

// Course returns the waves in order. If there are many, and all is false, it returns only the first five and the last
// two.
func (f *Forecast) Course(all bool) (out []Stage) {
	const head, tail = 5, 2
	first, left := 1, len(f.Waves)-head-tail
	for i, w := range f.Waves {
		switch hidden := !all && left > 1 && i >= head && i < head+left; {
		case hidden && i == head:
			out = append(out, Stage{LeftOut: left})
		case !hidden:
			out = append(out, Stage{Wave: w, First: first})
		}
		first += w.Count
	}
	return out
}

// OtherLimits returns the limits with which the rollout completes in another course than the planned one. Of the limits
// with the same course it returns the first. Unless all is true, it returns at most two. It returns nil if no limit
// decides.
func (f *Forecast) OtherLimits(all bool) []Limit {
	if f.Outcome.AtOnce >= f.Old() {
		return nil
	}
	said := map[int]bool{} // by number of pods replaced at a time
	for _, l := range f.Limits {
		if l.Planned && l.Code != Stalls {
			said[f.AtATime(l.AtATime)] = true
		}
	}
	var out []Limit
	for _, l := range f.Limits {
		if n := f.AtATime(l.AtATime); !said[n] && !l.Planned && (l.Code == Completes || l.Code == MayComplete) {
			said[n], out = true, append(out, l)
		}
	}
	if !all {
		out = out[:min(2, len(out))]
	}
	return out
}

// Slower returns the first two consecutive limits where the higher takes at least a second longer than the lower, which
// minReadySeconds can cause. It returns nil if there are none, or if minReadySeconds does not decide.
func (p *Plan) Slower() (lower, higher *Limit) {
	for i := 1; i < len(p.Limits) && p.MinReadySeconds() > 0; i++ {
		lower, higher = &p.Limits[i-1], &p.Limits[i]
		if lower.Duration != nil && higher.Duration != nil && higher.Duration.Expected >= lower.Duration.Expected+1 {
			return lower, higher
		}
	}
	return nil, nil
}

// Unserved returns how many nodes stay without an available pod or use up the limit.
func (o *Outcome) Unserved() int { return len(o.Holders) + o.FurtherHolders }

// LimitHelps reports whether a higher limit helps.
func (o *Outcome) LimitHelps() bool {
	return slices.ContainsFunc(o.Remedies, func(r remedy.Remedy) bool {
		return r.Smallest != "" &&
			r.Worth == remedy.Helps
	})
}

// ofPlan lists the remedies that a plan can simulate.
var ofPlan = []remedy.Code{
	remedy.RollBack, remedy.ExcludeNodes, remedy.RepairNodes, remedy.NoSurge, remedy.RaiseMaxUnavailable,
	remedy.RaiseMaxSurge, remedy.OutOfService, remedy.RemoveNode,
}

// Ways returns the ways out of a stall, the repair of nodes first. Unless all is true, it returns only the first remedy
// of each code, and no higher limit that leaves nodes behind if the pod can be excluded from the nodes where it fails.
// It leaves out remedies for nodes that are down only by assumption (see Supposed).
func (p *Plan) Ways(all bool) (out []remedy.Remedy) {
	if p.Outcome.Code != Stalls {
		return nil
	}
	offered := remedy.Offered(p.Outcome.Remedies)
	for _, u := range offered {
		switch same := func(v remedy.Remedy) bool { return v.Code == u.Code }; {
		case p.Supposed(u.Nodes...), !slices.Contains(ofPlan, u.Code):
		case !all && u.Smallest != "" && len(u.Effect.Left) > 0 && remedy.Find(offered, remedy.ExcludeNodes) != nil:
		case u.Code == remedy.RepairNodes:
			out = slices.Insert(out, 0, u)
		case all || !slices.ContainsFunc(out, same):
			out = append(out, u)
		}
	}
	return out
}

// Raised returns the remedy that raises maxUnavailable before the change and lowers it afterwards. It returns nil if
// another remedy comes first, or if the change sets the limit itself.
func (p *Plan) Raised() *remedy.Remedy {
	for _, u := range p.Ways(false) {
		switch {
		case u.Code == remedy.RepairNodes:
		case u.Code == remedy.RaiseMaxUnavailable && !p.SetsStrategy():
			return &u
		default:
			return nil
		}
	}
	return nil
}

// Price returns the nodes that lose their pod with the remedy of Raised, or with the only way out.
func (p *Plan) Price() []string {
	u, ways := p.Raised(), p.Ways(false)
	if u == nil && len(ways) == 1 {
		u = &ways[0]
	}
	if u == nil {
		return nil
	}
	return p.LosesBy(u)
}

// LosesBy returns the nodes that lose their pod with a remedy, without those that lose it immediately because of the
// change.
func (p *Plan) LosesBy(u *remedy.Remedy) []string {
	return slices.DeleteFunc(slices.Clone(u.Effect.Loses), sets.New(Nodes(p.Placement.Lose)...).Has)
}

// Down returns the nodes with a problem whose kubelet does not answer or reports NotReady.
func Down(problems []*cause.Problem) (nodes []string) {
	for _, p := range problems {
		if p.Code == cause.TerminatingOnDeadNode || p.Code == cause.NodeNotReady {
			nodes = append(nodes, p.Nodes...)
		}
	}
	return nodes
}

// Nodes returns the node names of Holders or PlacementNodes.
func Nodes[T interface{ name() string }](of []T) (names []string) {
	for _, n := range of {
		names = append(names, n.name())
	}
	return names
}

func (h Holder) name() string        { return h.Node }
func (n PlacementNode) name() string { return n.Node }

// PlacementGroup is a group of nodes that gain or lose a pod for the same reason.
type PlacementGroup struct {
	daemonset.Verdict
	Nodes []string
}

// ByVerdict groups nodes for which the same rule fails, with the facts that all of them share, the largest group first.
func ByVerdict(nodes []PlacementNode) []PlacementGroup {
	var groups []PlacementGroup
	place := map[string]int{} // index of a group, by its key
	for _, n := range nodes {
		key := cause.Key(n.Verdict.Reason, n.Verdict.Facts)
		i, known := place[key]
		if !known {
			i = len(groups)
			place[key], groups = i, append(groups, PlacementGroup{Verdict: n.Verdict})
			groups[i].Facts = maps.Clone(n.Verdict.Facts)
		}
		cause.Share(groups[i].Facts, n.Verdict.Facts)
		groups[i].Nodes = append(groups[i].Nodes, n.Node)
	}
	slices.SortStableFunc(groups, func(a, b PlacementGroup) int { return len(b.Nodes) - len(a.Nodes) })
	return groups
}

// TemplateKnown reports whether it is known which template the pods get. It is unknown if the API server may know
// fields of a revision that this program does not (whatif.AssumeUnknownFields). It is also unknown if literal values of
// a manifest could not be compared (whatif.AssumeEnvValues) and the template otherwise equals an existing one: with
// another value it would be a new template, and every pod would be old. That also holds if only an
// annotation's copy of the values could not be compared.
func (p *Plan) TemplateKnown() bool {
	if p.Change == nil || p.assumes(whatif.AssumeUnknownFields) {
		return p.Change == nil
	}
	return p.Change.TemplateChanged && p.Change.Revision.New || !p.assumes(whatif.AssumeEnvValues)
}

func (p *Plan) assumes(code daemonset.AssumptionCode) bool {
	return slices.ContainsFunc(p.Assumptions, func(a daemonset.Assumption) bool { return a.Code == code })
}
