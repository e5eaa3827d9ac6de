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

// This file holds what a reader of a Plan asks and the document leaves to be
// found in several fields.

// OfChange reports whether the plan is of what has not been done yet.
func (p *Plan) OfChange() bool { return p.Subject == SubjectChange || p.Subject == SubjectNew }

// SetsStrategy reports whether the change is also one of the update strategy, such as
// its limit.
func (p *Plan) SetsStrategy() bool {
	return p.Change != nil && slices.ContainsFunc(p.Change.Fields, func(f whatif.FieldDiff) bool {
		_, below := f.Path.Below(template.Fields("spec", "updateStrategy"))
		return below
	})
}

// ByHand reports whether the change writes the DaemonSet without a manifest, and more
// than a restart, which nobody undoes.
func (p *Plan) ByHand() bool {
	return p.Change != nil && p.Change.Method == "" &&
		slices.ContainsFunc(p.Change.Fields,
			func(f whatif.FieldDiff) bool { return !f.Path.Equal(template.RestartedAt) })
}

// Verdict says how a plan ends, and of what is under way also where it stands.
type Verdict string

const (
	VerdictNothing    Verdict = "Nothing"    // no pod is created, deleted or replaced
	VerdictUncompared Verdict = "Uncompared" // the same, unless a value that could not be compared differs
	// the same, for a rollback to the revision of all pods: it ends the rollout
	VerdictEnds Verdict = "Ends"
	// the same, and nodes stay without an available pod: explain says Degraded
	VerdictDegraded  Verdict = "Degraded"
	VerdictCompletes Verdict = "Completes" // the outcome's code
	// it completes if late pods become ready, or if pods work that may fail
	VerdictLate          Verdict = "Late"
	VerdictUndone        Verdict = "Undone"        // it completes, and then a tool undoes it
	VerdictRemoves       Verdict = "Removes"       // all that happens is that nodes lose their pod
	VerdictRemovesAll    Verdict = "RemovesAll"    // no node runs the pod in the end
	VerdictStalls        Verdict = "Stalls"        // it goes on, and then stalls
	VerdictStaysStuck    Verdict = "StaysStuck"    // what is under way stands still, and stays so
	VerdictStaysDegraded Verdict = "StaysDegraded" // the same, and no pod is old
	VerdictWaits         Verdict = "Waits"         // it waits for a person who deletes pods
	VerdictBeingDeleted  Verdict = "BeingDeleted"  // the DaemonSet is being deleted
	VerdictIgnored       Verdict = "Ignored"       // the controller ignores the DaemonSet
	VerdictUnknown       Verdict = "Unknown"       // nobody knows
)

// Verdict returns how it ends.
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

// Quality says how good the end of a plan is.
type Quality int

const (
	EndsWell    Quality = iota // every eligible node has an available pod, and nothing is lost or left to do
	EndsInDoubt                // it waits for somebody, is undone, is unknown, or leaves nodes without a pod
	EndsBadly                  // it stalls, or nodes lose their pod at once
)

// Quality returns how good its end is.
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

// AtEnd returns the numbers of the status when it ends.
func (p *Plan) AtEnd() daemonset.Counts {
	if n := len(p.Waves); n > 0 {
		return p.Waves[n-1].Counts
	}
	return p.Now
}

// Losses returns the nodes that lose their pod in a rollout that completes,
// whether at once or in its course, where the verdict does not say it.
func (p *Plan) Losses() []PlacementNode {
	if !p.Outcome.ReachesEnd() || p.Verdict() == VerdictRemoves {
		return nil
	}
	return p.Lost
}

// LostLater returns the nodes that lose their pod in the course of the rollout,
// without those that do so at once for the change.
func (p *Plan) LostLater() []PlacementNode {
	at := sets.New(Nodes(p.Placement.Lose)...)
	return slices.DeleteFunc(slices.Clone(p.Lost), func(n PlacementNode) bool { return at.Has(n.Node) })
}

// LostOtherwise returns those of LostLater that are not stranded by a taint.
func (p *Plan) LostOtherwise() []PlacementNode {
	return slices.DeleteFunc(p.LostLater(), func(n PlacementNode) bool {
		return slices.ContainsFunc(p.Stranded, func(s StrandedNode) bool { return s.Node == n.Node })
	})
}

// StrandedGroups returns the nodes that are stranded, together with those of the same
// taint, the largest group first.
func (p *Plan) StrandedGroups() []PlacementGroup {
	var nodes []PlacementNode
	for _, n := range p.Stranded {
		nodes = append(nodes, PlacementNode{n.Node, n.Verdict})
	}
	return ByVerdict(nodes)
}

// KeptByTolerations returns the tolerations, no wider than they have to be, that keep
// the pods on nodes that are stranded, and these nodes. It returns none where a node
// has to be repaired, or goes away.
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

// KeptBeforeTaint returns the tolerations, no wider than they have to be, with which the pods stay on the nodes that
// the change taints. It returns none where other rules exclude such a node, too.
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

// KeptByRepair returns the nodes that lose their pod in the course of the rollout
// only because they are not ready: those that are repaired before keep it. Nodes
// that the plan was asked to take for down are not among them.
func (p *Plan) KeptByRepair() []string {
	nodes := Nodes(slices.DeleteFunc(p.LostLater(), func(n PlacementNode) bool {
		key := n.Verdict.Facts.Text("key")
		return key != corev1.TaintNodeNotReady && key != corev1.TaintNodeUnreachable
	}))
	nodes, _ = p.SplitDown(nodes)
	return nodes
}

// Answering returns the nodes that lose their pod in the course of the rollout
// although they are NotReady, and whose kubelet still answers, so that it ends the
// pod.
func (p *Plan) Answering() []string {
	return Nodes(slices.DeleteFunc(p.LostLater(),
		func(n PlacementNode) bool { return n.Verdict.Facts["key"] != corev1.TaintNodeNotReady }))
}

// Supposed reports whether the plan was asked to take all of these nodes for
// down; of no node, it was not.
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

// SplitDown splits nodes that are down into those that are, and those that the plan was asked
// to take for down.
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

// Hypothetical returns the nodes that the plan was asked to take for down, where that is all that
// was asked: nobody would make such a change.
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

// SetAside returns the nodes with a pod that the plan was asked to take for down and
// that are not eligible then: no number of the plan counts them.
func (p *Plan) SetAside() (nodes []string) {
	for _, n := range p.Lost {
		if p.Supposed(n.Node) {
			nodes = append(nodes, n.Node)
		}
	}
	return nodes
}

// Regardless reports whether the limit decides about no old pod: the next sync deletes
// all of them, as none is available.
func (p *Plan) Regardless() bool {
	forced := 0
	for _, i := range p.Next.Deletes.Certain {
		forced += b2i(i.Reason == daemonset.Forced)
	}
	return p.Old() > 0 && max(p.Outcome.AtOnce, forced) >= p.Old()
}

// KeepsNone reports whether nodes have available pods now, and at some time on the way none has. Of a single node
// that is so with nearly every rollout.
func (p *Plan) KeepsNone() bool {
	o := &p.Outcome
	return (o.ReachesEnd() || o.Code == Stalls) && p.Now.Available > 0 && p.Desired.After > 1 &&
		o.Worst >= p.Desired.After &&
		len(p.Lost) == 0 && p.Now.Misscheduled == 0
}

// OneOfManyOrders reports whether another choice of the controller would give another
// course: some of the pods are replaced, others only deleted, and not all at once.
func (p *Plan) OneOfManyOrders() bool {
	return p.Replaces > 0 && p.Drops > 0 && len(p.Waves) > 1 && p.Outcome.AtOnce < p.Old()
}

// Kept returns how many pods a rollback leaves as they are, since they are of the
// revision that it goes back to; 0 for what is none.
func (p *Plan) Kept() int {
	if p.Change == nil || !p.Change.TemplateChanged || p.Change.Revision.Was == 0 ||
		p.Replaces+p.Now.Updated != p.AtEnd().Desired {
		return 0
	}
	return p.Now.Updated
}

// WarningsBeside returns how many warnings of a change there are that its verdict
// does not say itself.
func (p *Plan) WarningsBeside() int {
	if !p.OfChange() {
		return 0
	}
	said := func(w Warning) bool { return w.Code == ManagedByTool && p.Verdict() == VerdictUndone }
	return len(slices.DeleteFunc(slices.Clone(p.Warnings), said))
}

// HasToDo reports whether anything happens, nodes stay without an available pod, or
// pods stay although no node is eligible, or whether anything happens rests on values
// that could not be compared. A change that leaves no node eligible counts also where
// there is no pod.
func (p *Plan) HasToDo() bool {
	staying, none := p.NoneEligible()
	moves := p.Next.Kind != daemonset.StepNone || len(p.Placement.Gain)+len(p.Placement.Lose) > 0
	return !p.TemplateKnown() || none && (staying > 0 || p.Change != nil && p.Desired.Before > 0) || moves ||
		p.Outcome.Unserved() > 0 ||
		p.Subject != SubjectNothing && p.Outcome.Code != NothingToDo && p.Outcome.Code != NotRolling
}

// WorstFirst compares two Plans by how they end, then by namespace and name.
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

// UndoneBy returns the tool that undoes the change by itself, or nil if none is
// known to.
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

// IfChanged returns what a change of the template would do as a plan of its own,
// or nil if the plan does not tell.
func (p *Plan) IfChanged() *Plan {
	if p.IfTemplateChanged == nil {
		return nil
	}
	return &Plan{Header: p.Header, Subject: SubjectChange, Change: p.Change, Desired: p.Desired, Now: p.Now,
		Forecast: *p.IfTemplateChanged}
}

// MinReadySeconds returns minReadySeconds where it decides how long a step
// takes: pods are created, and no pod takes as long to become ready. It returns 0
// otherwise.
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

// Old returns how many old pods a rollout has to deal with: it replaces them, or
// only deletes them.
func (f *Forecast) Old() int { return f.Replaces + f.Drops }

// Moved returns how many pods all waves create and delete.
func (f *Forecast) Moved() (creates, deletes int) {
	for _, w := range f.Waves {
		creates, deletes = creates+w.Count*w.Creates, deletes+w.Count*w.Deletes
	}
	return creates, deletes
}

// AtATime returns how many pods are replaced at a time, of nodes of which at most
// so many wait for theirs; where none is left for a limit to decide about, all.
func (f *Forecast) AtATime(nodes int) int {
	if f.Outcome.AtOnce >= f.Old() {
		return f.Old()
	}
	return min(nodes, f.Old()-f.Outcome.AtOnce)
}

// Stage is a row of the course: a Wave and which step its first is, or how many
// waves are left out.
type Stage struct {
	Wave
	First, LeftOut int
}

// Course returns the waves in their order; of many, unless all are asked for, the
// first five and the last two.
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

// OtherLimits returns the limits with which the rollout would complete in
// another course than the planned one, of those with the same course the first;
// the first two, unless all are asked for. It returns none where no limit decides.
func (f *Forecast) OtherLimits(all bool) []Limit {
	if f.Outcome.AtOnce >= f.Old() {
		return nil
	}
	said := map[int]bool{} // by how many pods are replaced at a time
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

// Slower returns the first two limits of which the higher takes a second longer
// than the lower, as minReadySeconds may make it. It returns nil if none does, or
// where minReadySeconds does not decide.
func (p *Plan) Slower() (lower, higher *Limit) {
	for i := 1; i < len(p.Limits) && p.MinReadySeconds() > 0; i++ {
		lower, higher = &p.Limits[i-1], &p.Limits[i]
		if lower.Duration != nil && higher.Duration != nil && higher.Duration.Expected >= lower.Duration.Expected+1 {
			return lower, higher
		}
	}
	return nil, nil
}

// Unserved returns how many nodes stay without an available pod, or hold the
// budget.
func (o *Outcome) Unserved() int { return len(o.Holders) + o.FurtherHolders }

// LimitHelps reports whether a higher limit helps.
func (o *Outcome) LimitHelps() bool {
	return slices.ContainsFunc(o.Remedies, func(r remedy.Remedy) bool {
		return r.Smallest != "" &&
			r.Worth == remedy.Helps
	})
}

// ofPlan are the remedies of which a plan is a plan, or that it can plan itself.
var ofPlan = []remedy.Code{
	remedy.RollBack, remedy.ExcludeNodes, remedy.RepairNodes, remedy.NoSurge, remedy.RaiseMaxUnavailable,
	remedy.RaiseMaxSurge, remedy.OutOfService, remedy.RemoveNode,
}

// Ways returns the ways out of a stall: the repair of nodes first, then the
// others in their order; unless all are asked for, of nodes that may be deleted only the
// first, and no higher limit where the pod can be kept off the nodes on which it fails.
// Nodes that the plan was asked to take for down are neither repaired nor deleted.
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

// Raised returns the way out of a stall that is to raise maxUnavailable before the
// change and lower it after, or nil where another one comes first, or the change sets the limit itself.
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

// Price returns the nodes that lose their pod with the way out of Raised, or with the
// only way out that there is.
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

// LosesBy returns the nodes that lose their pod with a way out, without those that do
// so at once for the change.
func (p *Plan) LosesBy(u *remedy.Remedy) []string {
	return slices.DeleteFunc(slices.Clone(u.Effect.Loses), sets.New(Nodes(p.Placement.Lose)...).Has)
}

// Down returns the nodes whose kubelet does not answer, of some problems.
func Down(problems []*cause.Problem) (nodes []string) {
	for _, p := range problems {
		if p.Code == cause.TerminatingOnDeadNode || p.Code == cause.NodeNotReady {
			nodes = append(nodes, p.Nodes...)
		}
	}
	return nodes
}

// Nodes returns the names of the nodes of Holders or PlacementNodes.
func Nodes[T interface{ name() string }](of []T) (names []string) {
	for _, n := range of {
		names = append(names, n.name())
	}
	return names
}

func (h Holder) name() string        { return h.Node }
func (n PlacementNode) name() string { return n.Node }

// PlacementGroup is nodes that gain or lose a pod for one reason.
type PlacementGroup struct {
	daemonset.Verdict
	Nodes []string
}

// ByVerdict puts nodes together for which the same rule fails, with the facts
// that all of them share, the largest group first.
func ByVerdict(nodes []PlacementNode) []PlacementGroup {
	var groups []PlacementGroup
	place := map[string]int{} // of a group, by its key
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

// TemplateKnown reports whether it is known which revision's template the pods get.
// It is not where the API server may know fields of a revision that this program
// does not (whatif.AssumeUnknownFields). Nor is it where literal values of a manifest could
// not be compared (whatif.AssumeEnvValues) and it is otherwise a template that there is:
// with another value it would be a new one, and every pod old. That an annotation's
// copy of the values is all that could not be compared is not told from that.
func (p *Plan) TemplateKnown() bool {
	if p.Change == nil || p.assumes(whatif.AssumeUnknownFields) {
		return p.Change == nil
	}
	return p.Change.TemplateChanged && p.Change.Revision.New || !p.assumes(whatif.AssumeEnvValues)
}

func (p *Plan) assumes(code daemonset.AssumptionCode) bool {
	return slices.ContainsFunc(p.Assumptions, func(a daemonset.Assumption) bool { return a.Code == code })
}
