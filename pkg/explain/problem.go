package explain

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause/eligible"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// problems returns everything that is wrong, causes before consequences.
// Problems with the same code are sorted by severity, then by the number of
// nodes.
func (g *given) problems(s *Status) []Problem {
	out := cause.Problems(slices.Concat(g.nodeProblems(), g.podProblems(), g.daemonSetProblems(s)), problemOrder)
	g.causes.Judge(out)
	for i := range out {
		out[i].Blame = g.blame(&out[i])
	}
	return out
}

// nodeProblems returns the problems of nodes that should run the pod or that use the
// budget. The facts of a container problem say how many new and how many old
// pods have it, which distinguishes a bad revision from a bad node.
func (g *given) nodeProblems() (found []cause.On) {
	silent, tallies := g.causes.Silent(&g.next), g.causes.RevisionFailsBy(cause.KeyOf)
	for i := range g.st.Nodes {
		n := &g.st.Nodes[i]
		if n.Membership().Misscheduled && !misscheduledByIt(n, g.causes.Of(n.Name)) {
			found = append(found, cause.On{Node: n.Name, Cause: g.misscheduled(n)})
		}
	}
	for _, on := range g.causes.Now() {
		c := on.Cause
		if silent && c.Code == cause.NoPod {
			c = g.silentController()
		}
		if t, is := tallies[cause.KeyOf(c)]; is {
			with := *c
			with.Facts = maps.Clone(c.Facts)
			maps.Copy(with.Facts, t.Facts())
			c = &with
		}
		found = append(found, cause.On{Node: on.Node, Cause: c})
	}
	return found
}

// silentController returns the cause for a controller that does not act.
func (g *given) silentController() *cause.Cause {
	return &cause.Cause{Code: cause.ControllerSilent, Severity: cause.SeverityError,
		Since: cause.Written(g.st, "status"), Facts: g.causes.AddLease(daemonset.Facts{})}
}

// misscheduled returns the cause for a node that is not eligible and has a pod.
func (g *given) misscheduled(n *daemonset.Node) *cause.Cause {
	f := daemonset.Facts{"because": string(n.ShouldRun.Reason), "stays": n.MayStay.OK}
	if !slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool { return !p.Terminating }) {
		f["terminating"] = true
	}
	maps.Copy(f, n.ShouldRun.Facts)
	c := &cause.Cause{Code: cause.Misscheduled, Severity: cause.SeverityInfo, Pod: n.Pods[0].Name, Facts: f}
	if by := g.strandedBy(n); by != "" {
		f["strandedBy"] = by
		// Otherwise NoEligibleNode reports it, or the node has to change.
		if by != ByDeletion && g.st.Desired > 0 && len(g.missingTolerations(n)) > 0 {
			c.Severity = cause.SeverityWarning
		}
	}
	if down := cause.Down(n, g.st.At); down != nil && downFor(f) {
		c.Since = down.Since
		for _, key := range []string{"message", "purpose", "purposeReason", "purposeSince", "setBy"} {
			if value, known := down.Facts[key]; known {
				f[key] = value
			}
		}
	}
	return c
}

// strandedBy returns what deletes the pods of a node without replacement
// because of a taint that was added after they started. It returns "" if
// nothing does.
func (g *given) strandedBy(n *daemonset.Node) string {
	old := func(p daemonset.Pod) bool { return !p.Terminating && !p.Updated }
	switch {
	case !n.MayStay.OK, g.st.DaemonSet.DeletionTimestamp != nil,
		!slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool { return !p.Terminating }):
		return ""
	case g.onDelete():
		return ByDeletion
	case slices.ContainsFunc(n.Pods, old):
		return RolloutUnderWay
	}
	return RolloutNext
}

// missingTolerations returns the tolerations that make a node eligible, or nil if
// anything else has to change, or nothing should.
func (g *given) missingTolerations(n *daemonset.Node) (tolerations []corev1.Toleration) {
	if n.Object == nil {
		return nil
	}
	for _, c := range g.st.Placement.Remedies(n.Object) {
		if c.Toleration == nil {
			return nil
		}
		tolerations = append(tolerations, *c.Toleration)
	}
	return tolerations
}

// misscheduledByIt reports whether a node that is down is misscheduled only
// because of that: the taint comes and goes with the node's condition.
func misscheduledByIt(n *daemonset.Node, c *cause.Cause) bool {
	return c != nil && (c.Code == cause.NodeNotReady || c.Code == cause.TerminatingOnDeadNode) &&
		downFor(n.ShouldRun.Facts) && n.ShouldRun.Facts["others"] == nil
}

// leftoverPod returns the cause for a pod that does not terminate in time although
// its successor exists, or nil for other pods.
func (g *given) leftoverPod(n *daemonset.Node, p *daemonset.Pod) *cause.Cause {
	if c := g.causes.OfPod(p); p.Terminating && g.causes.Of(n.Name) == nil && c != nil && c.Facts.Yes("overdue") {
		c.Severity = cause.SeverityInfo
		return c
	}
	return nil
}

// podProblems returns the problems of pods with a wrong node or owner.
func (g *given) podProblems() (found []cause.On) {
	add := func(node, pod string, code daemonset.Reason, severity cause.Severity, f daemonset.Facts) {
		found = append(found, cause.On{Node: node, Cause: &cause.Cause{Code: code, Severity: severity,
			Pod: pod, Facts: f}})
	}
	hands := func(node string, p *daemonset.Pod) { // a pod that the next sync adopts or releases
		switch p.Claim {
		case daemonset.Adopt:
			add(node, p.Name, Adopt, cause.SeverityInfo, nil)
		case daemonset.Release:
			add(node, p.Name, daemonset.ReleasedPod, cause.SeverityWarning, nil)
		}
	}
	for i := range g.st.Nodes {
		n := &g.st.Nodes[i]
		if n.Slot == daemonset.SlotExcess || n.Slot == daemonset.SlotBoth && g.st.Budget.MaxSurge == 0 {
			add(n.Name, "", daemonset.Duplicate, cause.SeverityWarning, nil)
		}
		if m := n.Membership(); g.onDelete() && m.Current && !m.Updated {
			add(n.Name, n.Pods[0].Name, OnDeleteOutdated, cause.SeverityInfo, g.revisionFacts(&n.Pods[0]))
		}
		for _, pod := range slices.Concat(n.Pods, n.Ignored) {
			hands(n.Name, &pod)
			if left := g.leftoverPod(n, &pod); left != nil {
				found = append(found, cause.On{Node: n.Name, Cause: left})
			}
		}
	}
	for i := range g.st.Unmapped {
		pod := &g.st.Unmapped[i]
		hands(pod.Object.Spec.NodeName, pod)
		if pod.Ignored == daemonset.NoTargetNode {
			add("", pod.Name, daemonset.NoTargetNode, cause.SeverityWarning, nil)
		}
	}
	for _, o := range g.st.Foreign {
		owner := ""
		if ref := metav1.GetControllerOfNoCopy(o); ref != nil {
			owner = ref.Kind + "/" + ref.Name
		}
		add(o.Spec.NodeName, o.Name, Foreign, cause.SeverityWarning, daemonset.Facts{"owner": owner})
	}
	return found
}

// revisionFacts returns the revision of a pod and, if there is one, its number.
func (g *given) revisionFacts(p *daemonset.Pod) daemonset.Facts {
	f := daemonset.Facts{"revision": p.Revision}
	for _, r := range g.st.History.Revisions {
		if r.Name == p.Revision {
			f["number"] = int(r.Number)
		}
	}
	return f
}

// daemonSetProblems returns the problems of the DaemonSet itself.
func (g *given) daemonSetProblems(s *Status) (found []cause.On) {
	add := func(code daemonset.Reason, severity cause.Severity, since *time.Time, f daemonset.Facts) {
		found = append(found, cause.On{Cause: &cause.Cause{Code: code, Severity: severity, Since: since, Facts: f}})
	}
	ds := g.st.DaemonSet
	if t := ds.DeletionTimestamp; t != nil {
		f := daemonset.Facts{}
		if len(ds.Finalizers) > 0 {
			f["finalizers"] = ds.Finalizers
		}
		pods := 0
		for i := range g.st.Nodes {
			pods += len(g.st.Nodes[i].Pods)
		}
		if cause.InForeground(ds) && pods > 0 {
			f["pods"] = pods
		}
		add(Deleting, cause.SeverityInfo, timeOf(t.Time), f)
	}
	if g.st.NotObserved() {
		severity, since := cause.SeverityWarning, cause.Written(g.st, "")
		if since != nil && g.st.At.Sub(*since) > cause.Patience {
			severity = cause.SeverityError
		}
		add(GenerationNotObserved, severity, since,
			g.causes.AddLease(g.addHeldUp(daemonset.Facts{"generation": int(ds.Generation),
				"observed": int(ds.Status.ObservedGeneration)})))
	}
	if none := eligible.None(g.st, g.outlook.Lost); none != nil {
		facts, since := eligible.NoneSince(g.st)
		maps.Copy(none.Facts, facts)
		maps.Copy(none.Facts, eligible.NearestFacts(g.st))
		none.Since = since
		found = append(found, cause.On{Cause: none})
	}
	found = append(found, g.taintedButSelected()...)
	found = append(found, g.nextRollout()...)
	if err := g.next.Error; err != nil {
		found = append(found, cause.On{Node: err.Node,
			Cause: &cause.Cause{Code: err.Code, Severity: cause.SeverityError, Pod: err.Pod,
				Facts: daemonset.Facts{"field": err.Field}}})
	}
	if r := &g.next.Revisions; g.st.History.Merged && len(r.Current) > 0 {
		equal := 1
		for _, removal := range r.Remove {
			equal += b2i(removal.Reason == daemonset.Duplicate)
		}
		add(DuplicateRevisions, cause.SeverityWarning, nil,
			daemonset.Facts{"revisions": equal, "relabelled": len(r.Relabel), "number": int(r.Number)})
	}
	if g.causes.Silent(&g.next) && cause.Owes(&g.next) {
		found = append(found, cause.On{Cause: g.silentController()})
	}
	if ports := cause.HostPorts(&ds.Spec.Template.Spec); len(ports) > 0 && g.st.Budget.MaxSurge > 0 {
		add(SurgeHostPort, cause.SeverityWarning, nil, daemonset.Facts{"ports": ports})
	}
	if ds.DeletionTimestamp == nil && !g.onDelete() && g.oldNodes() > 0 { // only evictions respect them
		for i := range g.s.PodDisruptionBudgets {
			add(DisruptionBudgetIgnored, cause.SeverityInfo, nil, budgetFacts(&g.s.PodDisruptionBudgets[i]))
		}
	}
	if len(s.Differences) > 0 && s.Differences[0].Reason == StaleStatus {
		fields := []string{}
		for _, d := range s.Differences {
			fields = append(fields, d.Field)
		}
		f := g.causes.AddLease(g.addHeldUp(daemonset.Facts{"fields": fields}))
		if f["lease"] == cause.LeaseAlive && g.causes.MissedWakeUp() && cause.Misses(fields) {
			f["missed"] = true
		}
		add(StaleStatus, cause.SeverityWarning, s.WrittenAt, f)
	}
	return found
}

// taintedButSelected returns the nodes without a pod that the template selects
// by label and whose taint it does not tolerate.
func (g *given) taintedButSelected() (found []cause.On) {
	selects := g.st.Placement.Selects()
	if len(selects) == 0 || g.st.Desired == 0 || g.st.DaemonSet.DeletionTimestamp != nil {
		return nil
	}
	for i := range g.st.Nodes {
		n := &g.st.Nodes[i]
		if !n.Exists || len(n.Pods) > 0 || n.ShouldRun.Reason != daemonset.TaintNotTolerated {
			continue
		}
		if slices.Contains(controlPlane, n.ShouldRun.Facts.Text("key")) || len(g.missingTolerations(n)) == 0 {
			continue
		}
		f := maps.Clone(n.ShouldRun.Facts)
		f["selects"] = selects
		found = append(found, cause.On{Node: n.Name, Cause: &cause.Cause{Code: TaintedButSelected,
			Severity: cause.SeverityInfo, Facts: f}})
	}
	return found
}

// controlPlane are the keys of the taints that keep workloads off control plane
// nodes.
var controlPlane = []string{"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"}

// nextRollout returns the problem that the next rollout would stall, for each
// node that stops it.
func (g *given) nextRollout() (found []cause.On) {
	stall := g.outlook.Stall
	if stall == nil {
		return nil
	}
	f := daemonset.Facts{
		"reason": string(stall.Reason), "replaced": stall.Replaced, "replaces": stall.Of, "holders": len(stall.Nodes) +
			stall.Further, "field": g.st.Budget.Kind.Field(), "limit": g.st.Limit(),
	}
	other := func(node string) bool {
		c := g.causes.Of(node)
		return c == nil || c.Code != cause.ExcludedButCounted
	}
	excluded := stall.Further == 0 && len(stall.Nodes) > 0 && !slices.ContainsFunc(stall.Nodes, other)
	for key, is := range map[string]bool{"atWorst": stall.AtWorst, "working": stall.Working, "excluded": excluded} {
		if is {
			f[key] = true
		}
	}
	c := &cause.Cause{Code: cause.NextRolloutStalls, Severity: cause.SeverityWarning, Facts: f}
	for _, node := range stall.Nodes {
		found = append(found, cause.On{Node: node, Cause: c})
	}
	if len(found) == 0 {
		return []cause.On{{Cause: c}}
	}
	return found
}

// budgetFacts returns the facts of a PodDisruptionBudget that the controller
// ignores.
func budgetFacts(b *policyv1.PodDisruptionBudget) daemonset.Facts {
	f := daemonset.Facts{"name": b.Name}
	for key, v := range map[string]*intstr.IntOrString{"minAvailable": b.Spec.MinAvailable,
		"maxUnavailable": b.Spec.MaxUnavailable} {
		if v != nil {
			f[key] = v.String()
		}
	}
	return f
}

// downFor reports whether a node is not eligible because it is NotReady or
// unreachable.
func downFor(f daemonset.Facts) bool {
	return f["key"] == corev1.TaintNodeNotReady || f["key"] == corev1.TaintNodeUnreachable
}
