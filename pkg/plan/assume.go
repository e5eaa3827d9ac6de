package plan

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan/timing"
	"github.com/kubectl-ds/kubectl-ds/pkg/refer"
)

// assumedNode is what a plan assumes about a node.
type assumedNode struct {
	never        *cause.Cause            // why no pod becomes available there; nil if pods do
	pods         map[string]*cause.Cause // why existing pods do not become available, by pod; the next pod may
	hangs        bool                    // deleted pods do not terminate there
	hangCause    *cause.Cause            // why a deleted pod does not terminate; nil if that is because of the node
	outOfService bool                    // it has the out-of-service taint: its terminating pods are garbage-collected
	refused      bool                    // the API server rejects its new pods
	unknown      *cause.Cause            // why the next pod may or may not fail; nil if that is known
	gone         bool                    // the node does not exist: its pods are garbage-collected
	down         bool                    // never is about the node itself
	cured        bool                    // failing pods become ready immediately
}

// stays reports whether the node ends up without an available pod if its pod is replaced.
func (f *assumedNode) stays() bool { return f.never != nil || f.hangs }

// next returns the next event of an existing pod, and when it happens, in seconds from the Snapshot. ok is false if
// nothing happens to it.
func (f *assumedNode) next(p *daemonset.Pod, st *daemonset.State, t *pace) (at float64, kind eventKind, ok bool) {
	since := func(then time.Time) float64 { return then.Sub(st.At).Seconds() }
	const soon = 1 // for overdue events
	switch {
	case f.outOfService && p.Terminating:
		return cause.OutOfServiceSoon.Seconds() / 2, podGone, true
	case f.gone && p.Object.Spec.NodeName != "":
		return t.collects, podGone, true
	case p.Terminating && f.hangs:
		return 0, 0, false
	case p.Terminating:
		age, left := timing.DeletedFor(p, st.At), since(p.Object.DeletionTimestamp.Time)
		if t.byGrace && left > 0 && !(t.early && age <= obeysWithin*(age+left)) { // by the pod's own grace period
			return max(soon, left), podGone, true
		}
		return max(soon, t.endOf(age)-age), podGone, true
	case p.Available.OK || timing.IsTerminal(p.Object) || f.hangs || f.pods[p.Name] != nil:
		return 0, 0, false
	case p.Ready && p.AvailableAt != nil:
		return max(soon, since(*p.AvailableAt)), podAvailable, true
	case p.Ready || f.never != nil: // unknown since when it is ready, or it never becomes ready
		return 0, 0, false
	}
	created := since(p.Object.CreationTimestamp.Time)
	if f.cured {
		return soon, podReady, true
	}
	return max(soon, created+t.startOf(-created)), podReady, true
}

// obeysWithin is the part of its grace period within which a pod that handles SIGTERM is assumed to terminate. Most of
// the other pods use all of it.
const obeysWithin = 0.25

// assumed is what a plan assumes about a State.
type assumed struct {
	nodes         []assumedNode // as State.Nodes
	stay          int           // nodes where no pod becomes available
	unfit         int           // nodes where a new pod does not fit
	fails         *cause.Tally
	failing       *cause.Cause            // why the revision fails; nil if it does not
	confined      *cause.Common           // property of the only nodes where it fails; nil if not confined
	confinedCause *cause.Cause            // why it fails there
	image         string                  // the invalid image, if it is why the revision fails
	unmet         *refer.Missing          // the missing object, if it is why the revision fails
	broken        map[string]*cause.Cause // why a pod of the current revision fails, by node
	// nodes whose kubelets report NotReady, and which are assumed to become Ready again
	ready int
	// pods of the current revision that take longer than any other pod, and are assumed to become ready
	late     []Holder
	refusal  *cause.Cause     // why every new pod is rejected; nil if it is not
	rejects  *cause.Cause     // as refusal, but also set if quotas reject only some pods
	room     *room            // that quotas leave for pods; nil if no quota limits them
	silent   daemonset.Reason // why the controller does not act; empty if it acts
	gone     bool             // pods of deleted nodes are assumed to be collected
	evidence *cause.Evidence  // what failing pods indicate about the next pods
	causes   *cause.Causes
	surges   bool
	ports    bool // a surging pod waits for a port that the old pod holds
}

// getsPod reports whether the controller will create a pod on a node: the node has no pod, or only old ones that a
// rolling update replaces.
func getsPod(n *daemonset.Node, st *daemonset.State) bool {
	updated := slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool { return p.Updated && !p.Terminating })
	return n.ShouldRun.OK && n.Object != nil && !updated && (len(n.Pods) == 0 || st.Budget.Kind != daemonset.BudgetNone)
}

func hasAvailable(n *daemonset.Node) bool {
	return slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool { return !p.Terminating && p.Available.OK })
}

// assume returns what a plan assumes about a State: for each node, whether a pod can become available there. Problems
// that do not resolve by themselves stay: nodes that are down, pods that fail.
//
// If no pod of the current revision has become available, and at least half of them fail, all of them are assumed to
// fail.
func assume(st *daemonset.State) *assumed {
	causes := cause.Find(st)
	return assumeBy(st, causes, causes.Evidence())
}

// assumeBy is like assume, but takes what failing pods indicate about the next pods. If evidence is nil, they indicate
// nothing.
func assumeBy(st *daemonset.State, causes *cause.Causes, evidence *cause.Evidence) *assumed {
	a := &assumed{
		nodes: make([]assumedNode, len(st.Nodes)), refusal: causes.Refusal(), broken: map[string]*cause.Cause{},
		surges: st.Budget.MaxSurge > 0, causes: causes,
	}
	a.rejects, a.room = a.refusal, roomOf(st, causes.Admission())
	if a.room != nil && a.refusal != nil && a.refusal.Facts.Text("rule") == string(admission.ResourceQuota) {
		a.refusal = nil
	}
	if a.evidence = evidence; evidence == nil {
		a.evidence = &cause.Evidence{}
	} else if a.confined = causes.Confined(); a.confined != nil {
		a.confinedCause = newFailure(st, causes)
	}
	revisionFails := a.evidence.All.Fails != nil && a.confined == nil
	if revisionFails {
		a.failing, a.fails = a.evidence.All.Fails, &a.evidence.Tally
	}
	if invalid := invalidImages(st); len(invalid) > 0 && !revisionFails {
		a.image, a.failing = invalid[0].Image, &cause.Cause{Code: cause.ImagePullBackOff, Severity: cause.SeverityError,
			Facts: daemonset.Facts{
				"container": invalid[0].Name, "image": invalid[0].Image, "reason": string(InvalidImageName),
			}}
	}
	if unmet := refer.Unmet(&st.DaemonSet.Spec.Template.Spec, st.Snapshot.References); len(unmet) > 0 &&
		a.failing == nil {
		a.unmet, a.failing = &unmet[0], cause.OfReference(&unmet[0])
	}
	for i := range st.Nodes {
		n, f := &st.Nodes[i], &a.nodes[i]
		c := causes.Of(n.Name)
		f.gone, f.refused = !n.Exists, a.refusal != nil
		a.gone = a.gone || f.gone && len(n.Pods) > 0
		down := cause.Down(n, st.At)
		other := otherSystem(n, st)
		f.outOfService = causes.Collected(n)
		// its kubelet neither starts nor terminates pods
		f.hangs = down != nil && !f.outOfService && down.Facts["status"] == string(corev1.ConditionUnknown)
		next := causes.Next(n, a.evidence)
		if a.confined != nil && next == a.evidence.All { // the revision fails only on some nodes
			next = cause.Prospect{}
		}
		switch {
		case c != nil && c.Severity == cause.SeverityError && ofNode(c.Code):
			f.never, f.down = c, true
		case f.hangs || f.outOfService || down != nil && down.Severity == cause.SeverityError && !hasAvailable(n) &&
			!(c != nil && (cause.SeenByKubelet(c.Code) || c.Facts.Yes("nodeWaits"))):
			f.never, f.down = down, true
		case other != nil:
			f.never, f.down = other, true
		case next.Fails != nil && (next != a.evidence.All || a.evidence.Own(n.Name) != nil) &&
			ofNextPod(next.Fails.Code) && (getsPod(n, st) || c == next.Fails):
			f.never, f.down = next.Fails, true
			a.unfit += b2i(next.Fails.Code == cause.DoesNotFit)
		case a.failing != nil:
			f.never = a.failing
		case a.failsOn(n):
			f.never = a.confinedCause
		case next.Fails != nil && getsPod(n, st):
			f.never = next.Fails
		case a.surges && causes.PortsHeld(n):
			a.ports = true
			f.never = &cause.Cause{Code: cause.HostPortConflict, Severity: cause.SeverityError,
				Facts: daemonset.Facts{}}
		case getsPod(n, st):
			f.unknown = next.Unknown
		}
		f.pods = failed(n, causes)
		for j := range n.Pods {
			if p := &n.Pods[j]; p.Terminating {
				if of := causes.OfPod(p); of != nil && of.Severity == cause.SeverityError && !f.outOfService {
					f.hangs, f.hangCause = true, of
				}
			}
		}
		for j := range n.Pods {
			if p := &n.Pods[j]; p.Updated && f.pods[p.Name] != nil && !f.down {
				a.broken[n.Name] = f.pods[p.Name]
			}
		}
		matters := n.ShouldRun.OK || len(n.Pods) > 0
		a.stay += b2i(matters && (f.down && !f.tooSmall() && !n.StillRolled || f.hangs || a.broken[n.Name] != nil))
		a.ready += b2i(c != nil && c.Code == cause.NodeNotReady && !f.stays())
		if c != nil && c.Facts.Yes("late") && !f.stays() && a.sameProgram(n, c.Pod) {
			a.late = append(a.late, Holder{Node: n.Name, Pod: c.Pod, Cause: c})
		}
	}
	return a
}

// otherSystem returns a cause if the kubelet of an eligible node rejects pods of the template because of its operating
// system, else nil.
func otherSystem(n *daemonset.Node, st *daemonset.State) *cause.Cause {
	if !n.ShouldRun.OK || slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool {
		return p.Updated &&
			p.Available.OK
	}) {
		return nil
	}
	return cause.OtherSystem(n, &st.DaemonSet.Spec.Template)
}

// failsOn reports whether the revision fails on nodes like this one, and not on others.
func (a *assumed) failsOn(n *daemonset.Node) bool {
	return a.confined != nil && n.Object != nil && n.ShouldRun.OK && a.confined.Has(n.Object)
}

// dropExpected removes the late pods that are younger than the slowest start that was given or measured.
func (a *assumed) dropExpected(m *timing.Measured, at time.Time) {
	a.late = slices.DeleteFunc(a.late, func(h Holder) bool {
		return len(m.Starts) > 0 && h.Since != nil && at.Sub(*h.Since).Seconds() <= m.Starts[len(m.Starts)-1]
	})
}

// sameProgram reports whether the pod with that name runs the same program as the live template.
func (a *assumed) sameProgram(n *daemonset.Node, pod string) bool {
	return slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool {
		return p.Name == pod && n.ShouldRun.OK &&
			a.causes.SameProgram(&p)
	})
}

// ofNode reports whether a cause belongs to the node itself and so affects every pod there.
func ofNode(code daemonset.Reason) bool {
	return cause.StageOf(code) == cause.StageNode && code != cause.PodOSNotSupported && code != cause.Terminating ||
		code == cause.ExcludedButCounted
}

// ofNextPod reports whether a cause also keeps the next pod of a node from starting.
func ofNextPod(code daemonset.Reason) bool {
	stage := cause.StageOf(code)
	return stage == cause.StageScheduled || stage == cause.StageStays
}

// anyAvailable reports whether of returns true for an available pod that is not terminating.
func anyAvailable(st *daemonset.State, of func(*daemonset.Pod) bool) bool {
	return slices.ContainsFunc(st.Nodes, func(n daemonset.Node) bool {
		return slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool {
			return !p.Terminating &&
				p.Available.OK && of(&p)
		})
	})
}

// newFailure returns why the first failing new pod fails, or nil if none fails.
func newFailure(st *daemonset.State, causes *cause.Causes) *cause.Cause {
	for i := range st.Nodes {
		for j := range st.Nodes[i].Pods {
			p := &st.Nodes[i].Pods[j]
			if c := causes.OfPod(p); causes.SameProgram(p) && !p.Terminating && c != nil &&
				c.Severity == cause.SeverityError {
				return c
			}
		}
	}
	return nil
}

// failed returns the pods of a node that do not become available by themselves, with the cause for each.
func failed(n *daemonset.Node, causes *cause.Causes) map[string]*cause.Cause {
	var out map[string]*cause.Cause
	for j := range n.Pods {
		p := &n.Pods[j]
		if c := causes.OfPod(p); !p.Terminating && c != nil && c.Severity == cause.SeverityError {
			if out == nil {
				out = map[string]*cause.Cause{}
			}
			out[p.Name] = c
		}
	}
	return out
}
