package explain

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// problems returns everything that is wrong, cause before consequence, and
// within one code the more severe and the larger groups first.
func (b *builder) problems(e *Explanation) []Problem {
	p := &cause.Problems{}
	b.nodeProblems(p)
	b.podProblems(p)
	b.ownProblems(p, e)
	b.compareRevisions(p)
	out, all := p.Sorted(problemOrder), b.causes.RevisionFails()
	for i := range out {
		out[i].Origin = b.origin(&out[i], all)
	}
	return out
}

// nodeProblems are those of nodes that should run the pod or use up budget.
func (b *builder) nodeProblems(p *cause.Problems) {
	silent := b.silent()
	for i := range b.st.Nodes {
		n := &b.st.Nodes[i]
		c := b.causes.Of(n.Name)
		if n.Membership().Misscheduled && !misscheduledByIt(n, c) {
			f := daemonset.Facts{"because": string(n.ShouldRun.Reason), "stays": n.MayStay.OK}
			if !slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool { return !p.Terminating }) {
				f["terminating"] = true
			}
			maps.Copy(f, n.ShouldRun.Facts)
			m := &cause.Cause{Code: Misscheduled, Severity: cause.SeverityInfo, Pod: n.Pods[0].Name, Facts: f}
			if down := cause.Down(n, b.at); down != nil && downFor(f) {
				m.Since = down.Since
				if message, known := down.Facts["message"]; known {
					f["message"] = message
				}
			}
			p.Add(n.Name, m)
		}
		if c == nil || n.Exists && !n.ShouldRun.OK && !b.st.Holds(n) || c.Code == cause.NoPod && b.st.DaemonSet.DeletionTimestamp != nil {
			continue
		}
		if silent && c.Code == cause.NoPod {
			c = &cause.Cause{Code: ControllerSilent, Severity: cause.SeverityError, Since: cause.Written(b.st.DaemonSet, "status"), Facts: daemonset.Facts{}}
		}
		p.Add(n.Name, c)
	}
}

// misscheduledByIt reports whether a node that is down is misscheduled for
// nothing else: the taint comes and goes with the node's condition.
func misscheduledByIt(n *daemonset.Node, c *cause.Cause) bool {
	if c == nil || c.Code != cause.NodeNotReady && c.Code != cause.TerminatingOnDeadNode {
		return false
	}
	key, others := n.ShouldRun.Facts["key"], n.ShouldRun.Facts["others"]
	return (key == corev1.TaintNodeNotReady || key == corev1.TaintNodeUnreachable) && others == nil
}

// silent reports whether the controller had the time to act and did nothing: it
// last wrote the status longer ago than expectations or a start can explain,
// and nothing holds up the status alone.
// Without events that cannot be told from creations that are refused.
func (b *builder) silent() bool {
	written := cause.Written(b.st.DaemonSet, "status")
	return written != nil && b.at.Sub(*written) > cause.Patience && b.causes.Settled() && b.causes.Refusal() == nil && b.heldUpBy == "" && !b.s.Lacks(snapshot.Events)
}

// owes reports whether the controller has something to do that no backoff can
// hold up.
func owes(next *daemonset.Step) bool {
	failed := 0
	for _, i := range next.Deletes.Certain {
		if i.Reason == daemonset.FailedPod {
			failed++
		}
	}
	for _, c := range next.Deletes.Choices {
		if c.Reason == daemonset.FailedPod {
			failed += c.Count
		}
	}
	return next.Creates.Len()+next.Deletes.Len() > failed
}

// podProblems are those of pods that are in the wrong place or hands.
func (b *builder) podProblems(p *cause.Problems) {
	for i := range b.st.Nodes {
		n := &b.st.Nodes[i]
		if n.Slot == daemonset.SlotExcess || n.Slot == daemonset.SlotBoth && b.st.Budget.MaxSurge == 0 {
			p.Add(n.Name, &cause.Cause{Code: daemonset.Duplicate, Severity: cause.SeverityWarning, Facts: daemonset.Facts{}})
		}
		if b.onDelete() && n.Membership().Current && !n.Membership().Updated {
			p.Add(n.Name, &cause.Cause{Code: OnDeleteOutdated, Severity: cause.SeverityInfo, Pod: n.Pods[0].Name, Facts: b.revisionFacts(&n.Pods[0])})
		}
		for _, pod := range slices.Concat(n.Pods, n.Ignored) {
			b.handsProblem(p, n.Name, &pod)
		}
	}
	for i := range b.st.Unmapped {
		pod := &b.st.Unmapped[i]
		b.handsProblem(p, pod.Object.Spec.NodeName, pod)
		if pod.Ignored == daemonset.NoTargetNode {
			p.Add("", &cause.Cause{Code: daemonset.NoTargetNode, Severity: cause.SeverityWarning, Pod: pod.Name, Facts: daemonset.Facts{}})
		}
	}
	for _, o := range b.st.Foreign {
		owner := ""
		for _, ref := range o.OwnerReferences {
			if ref.Controller != nil && *ref.Controller {
				owner = ref.Kind + "/" + ref.Name
			}
		}
		p.Add(o.Spec.NodeName, &cause.Cause{Code: Foreign, Severity: cause.SeverityWarning, Pod: o.Name, Facts: daemonset.Facts{"owner": owner}})
	}
}

// handsProblem is a pod that the next sync adopts or releases.
func (b *builder) handsProblem(p *cause.Problems, node string, pod *daemonset.Pod) {
	switch pod.Claim {
	case daemonset.Adopt:
		p.Add(node, &cause.Cause{Code: Adopt, Severity: cause.SeverityInfo, Pod: pod.Name, Facts: daemonset.Facts{}})
	case daemonset.Release:
		p.Add(node, &cause.Cause{Code: daemonset.ReleasedPod, Severity: cause.SeverityWarning, Pod: pod.Name, Facts: daemonset.Facts{}})
	}
}

// revisionFacts names the revision of a pod, with its number where there is
// one.
func (b *builder) revisionFacts(p *daemonset.Pod) daemonset.Facts {
	f := daemonset.Facts{"revision": p.Revision}
	for i := range b.st.History.Revisions {
		if r := &b.st.History.Revisions[i]; r.Name == p.Revision {
			f["number"] = int(r.Number)
		}
	}
	return f
}

// ownProblems are those of the DaemonSet itself.
func (b *builder) ownProblems(p *cause.Problems, e *Explanation) {
	ds := b.st.DaemonSet
	if t := ds.DeletionTimestamp; t != nil {
		f := daemonset.Facts{}
		if len(ds.Finalizers) > 0 {
			f["finalizers"] = ds.Finalizers
		}
		p.Add("", &cause.Cause{Code: Deleting, Severity: cause.SeverityInfo, Since: timeOf(t.Time), Facts: f})
	}
	if b.st.NotObserved() {
		c := &cause.Cause{Code: GenerationNotObserved, Severity: cause.SeverityWarning, Since: cause.Written(b.st.DaemonSet, ""), Facts: b.heldUp(daemonset.Facts{"generation": int(ds.Generation), "observed": int(ds.Status.ObservedGeneration)})}
		if c.Since != nil && b.at.Sub(*c.Since) > cause.Patience {
			c.Severity = cause.SeverityError
		}
		p.Add("", c)
	}
	if none := cause.NoneEligible(b.st, b.outlook.Lost); none != nil {
		cause.SinceRevision(none, b.s, b.st)
		p.Add("", none)
	}
	if next := b.outlook.Stall; next != nil {
		f := daemonset.Facts{"reason": string(next.Reason), "replaced": next.Replaced, "replaces": next.Of, "holders": len(next.Nodes) + next.Further, "field": b.st.Budget.Kind.Field(), "limit": b.st.Limit()}
		if next.AtWorst {
			f["atWorst"] = true
		}
		if next.Working {
			f["working"] = true
		}
		stalls := &cause.Cause{Code: cause.NextRolloutStalls, Severity: cause.SeverityWarning, Facts: f}
		for _, node := range next.Nodes {
			p.Add(node, stalls)
		}
		if len(next.Nodes) == 0 {
			p.Add("", stalls)
		}
	}
	if err := e.Next.Error; err != nil {
		p.Add(err.Node, &cause.Cause{Code: err.Code, Severity: cause.SeverityError, Pod: err.Pod, Facts: daemonset.Facts{"field": err.Field}})
	}
	if r := &e.Next.Revisions; b.st.History.Merged && len(r.Current) > 0 {
		f := daemonset.Facts{"revisions": duplicates(r.Remove) + 1, "relabelled": len(r.Relabel), "number": int(r.Number)}
		p.Add("", &cause.Cause{Code: DuplicateRevisions, Severity: cause.SeverityWarning, Facts: f})
	}
	if b.silent() && owes(&e.Next) {
		p.Add("", &cause.Cause{Code: ControllerSilent, Severity: cause.SeverityError, Since: cause.Written(b.st.DaemonSet, "status"), Facts: daemonset.Facts{}})
	}
	if ports := cause.HostPorts(&ds.Spec.Template.Spec); len(ports) > 0 && b.st.Budget.MaxSurge > 0 {
		p.Add("", &cause.Cause{Code: SurgeHostPort, Severity: cause.SeverityWarning, Facts: daemonset.Facts{"ports": ports}})
	}
	if ds.DeletionTimestamp == nil && !b.onDelete() && b.oldNodes() > 0 {
		b.ignoredBudgets(p)
	}
	if len(e.Status.Differences) > 0 && e.Status.Differences[0].Reason == StaleStatus {
		fields := []string{}
		for _, d := range e.Status.Differences {
			fields = append(fields, d.Field)
		}
		p.Add("", &cause.Cause{Code: StaleStatus, Severity: cause.SeverityWarning, Since: e.Status.WrittenAt, Facts: b.heldUp(daemonset.Facts{"fields": fields})})
	}
}

// ignoredBudgets are the PodDisruptionBudgets that somebody may trust in while
// a rollout deletes the pods that they select: only evictions heed them.
func (b *builder) ignoredBudgets(p *cause.Problems) {
	for i := range b.s.PodDisruptionBudgets {
		pdb := &b.s.PodDisruptionBudgets[i]
		f := daemonset.Facts{"name": pdb.Name}
		if v := pdb.Spec.MinAvailable; v != nil {
			f["minAvailable"] = v.String()
		}
		if v := pdb.Spec.MaxUnavailable; v != nil {
			f["maxUnavailable"] = v.String()
		}
		p.Add("", &cause.Cause{Code: DisruptionBudgetIgnored, Severity: cause.SeverityInfo, Facts: f})
	}
}

func duplicates(removals []daemonset.Removal) int {
	count := 0
	for _, r := range removals {
		if r.Reason == daemonset.Duplicate {
			count++
		}
	}
	return count
}

// compareRevisions adds to each problem of containers how many of the new and
// of the old pods have it: that tells a bad revision from a bad node.
func (b *builder) compareRevisions(p *cause.Problems) {
	for key, t := range b.causes.RevisionFailsBy(cause.KeyOf) {
		if g := p.Of(key); g != nil {
			maps.Copy(g.Facts, t.Facts())
		}
	}
}
