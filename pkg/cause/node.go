package cause

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// nodeCause returns what is wrong on a node that should run the pod or holds
// one; nil if nothing is. The node's own state comes before that of its pods.
func (cs *Causes) nodeCause(n *daemonset.Node) *Cause {
	p := concern(n)
	if c := cs.virtual(n); c != nil {
		if p != nil {
			c.Pod, c.Since = p.Name, timeOf(p.Object.CreationTimestamp.Time)
		}
		return c
	}
	switch {
	case p == nil && !n.ShouldRun.OK:
		return cs.excluded(n)
	case p == nil:
		return cmp.Or(OtherSystem(n, &cs.st.DaemonSet.Spec.Template), cs.noPod(n))
	}
	wrong := cs.OfPod(p)
	if wrong == nil {
		return nil
	}
	cs.arithmetic(n, p, wrong)
	cs.added(n, p, wrong)
	if !n.Exists {
		return &Cause{Code: daemonset.NodeGone, Severity: SeverityWarning, Pod: p.Name, Since: wrong.Since,
			Facts: daemonset.Facts{}}
	}
	down := Down(n, cs.at)
	if down != nil && !p.Terminating && lacksNetwork(down) && cs.providesNetwork() {
		wrong.Facts["nodeWaits"] = true
		return wrong
	}
	if down != nil && wrong.Severity == SeverityInfo && cs.joining(n, down) {
		return wrong
	}
	if down != nil && wrong.Code != daemonset.NotYetAvailable && !SeenByKubelet(wrong.Code) {
		down.Pod = p.Name
		if p.Terminating {
			down.Code = TerminatingOnDeadNode
			down.Facts["deletionAsked"] = timeFact(p.Object.DeletionTimestamp.Add(-grace(p.Object)))
			if cs.Collected(n) {
				down.Severity, down.Facts["outOfService"] = SeverityWarning, true
			}
		}
		return down
	}
	if other := OtherSystem(n, &cs.st.DaemonSet.Spec.Template); other != nil && p.Updated && !p.Terminating {
		other.Pod, other.Since = p.Name, wrong.Since
		return other
	}
	return wrong
}

// lacksNetwork reports whether a node is NotReady because no network plugin works there.
func lacksNetwork(down *Cause) bool {
	message := strings.ToLower(down.Facts.Text("message"))
	return strings.Contains(message, "cni") || strings.Contains(message, "network plugin") ||
		strings.Contains(message, "networkpluginnotready")
}

// providesNetwork reports whether the pods of the template install a network plugin (CNI) on their nodes: they mount
// the directory of its configuration.
func (cs *Causes) providesNetwork() bool {
	return slices.ContainsFunc(cs.st.DaemonSet.Spec.Template.Spec.Volumes, func(v corev1.Volume) bool {
		return v.HostPath != nil && strings.Contains(v.HostPath.Path+"/", "/cni/net.d/")
	})
}

// concern returns the pod of a node that matters most for its health: a new
// one if there is one, else any that is not terminating, else the first.
func concern(n *daemonset.Node) *daemonset.Pod {
	var living *daemonset.Pod
	for i := range n.Pods {
		p := &n.Pods[i]
		switch {
		case p.Terminating:
		case p.Updated:
			return p
		case living == nil:
			living = p
		}
	}
	if living == nil && len(n.Pods) > 0 {
		return &n.Pods[0]
	}
	return living
}

// Down returns the cause that a node which is not ready is, else nil.
func Down(n *daemonset.Node, at time.Time) *Cause {
	if n.Object == nil {
		return nil
	}
	for i := range n.Object.Status.Conditions {
		c := &n.Object.Status.Conditions[i]
		if c.Type != corev1.NodeReady || c.Status == corev1.ConditionTrue {
			continue
		}
		f := daemonset.Facts{"status": string(c.Status), "reason": c.Reason}
		if !c.LastHeartbeatTime.IsZero() {
			f["lastHeartbeat"] = timeFact(c.LastHeartbeatTime.Time)
		}
		down := &Cause{Code: NodeNotReady, Severity: SeverityError, Since: timeOf(c.LastTransitionTime.Time), Facts: f}
		if c.Status == corev1.ConditionFalse { // else the words are the node controller's: the kubelet has stopped
			setMessage(f, c.Message)
		}
		if c.Status == corev1.ConditionFalse && at.Sub(c.LastTransitionTime.Time) < Patience {
			down.Severity = SeverityWarning // its kubelet is there, and may only have restarted
		}
		purposely(n.Object, down)
		return down
	}
	if len(n.Object.Status.Conditions) == 0 {
		return taintedDown(n.Object)
	}
	return nil
}

// joining reports whether a node that is NotReady joined the cluster less than Patience ago and was never Ready: its
// kubelet runs, and something is still missing, such as the network. Its pods are late by the same rule as others.
func (cs *Causes) joining(n *daemonset.Node, down *Cause) bool {
	joined := n.Object.CreationTimestamp.Time
	return n.ShouldRun.OK && down.Severity == SeverityWarning && cs.at.Sub(joined) < Patience &&
		down.Since != nil && down.Since.Sub(joined) < soonestLate
}

// taintedDown returns the cause that a node without conditions is not ready, by
// the taint that mirrors the condition; nil if it has none.
func taintedDown(n *corev1.Node) *Cause {
	var down *Cause
	for _, t := range n.Spec.Taints {
		status := map[string]corev1.ConditionStatus{corev1.TaintNodeNotReady: corev1.ConditionFalse,
			corev1.TaintNodeUnreachable: corev1.ConditionUnknown}[t.Key]
		if status == "" || down != nil && status == corev1.ConditionFalse {
			continue
		}
		down = &Cause{Code: NodeNotReady, Severity: SeverityError, Facts: daemonset.Facts{"status": string(status),
			"reason": ""}}
		if t.TimeAdded != nil {
			down.Since = timeOf(t.TimeAdded.Time)
		}
	}
	return down
}

// SeenByKubelet reports whether a cause was seen by a kubelet and does not
// come from the node going down.
func SeenByKubelet(code daemonset.Reason) bool {
	return code == ImagePullBackOff || code == CrashLoopBackOff || code == OOMKilled
}

// longestBackoff is how long the controller waits at most before it tries again what failed: the
// rate limiter of its work queue doubles the wait up to 1,000 seconds.
const longestBackoff = 1000 * time.Second

// retries reports whether the controller still waits to try again after a refusal that no longer
// holds. That its event is written can take Patience longer: events are limited to one in five minutes.
func (cs *Causes) retries() bool {
	if cs.lifted == nil {
		return false
	}
	last, err := time.Parse(time.RFC3339, cs.lifted.Facts.Text("last"))
	return err == nil && cs.at.Sub(last) <= longestBackoff+Patience
}

// noPod is the cause of a node that should run the pod and has none. A create
// that is owed for longer than Patience does not come by itself, unless the controller waits to try
// again.
func (cs *Causes) noPod(n *daemonset.Node) *Cause {
	if cs.refusal != nil {
		return cs.refusal
	}
	c := &Cause{Code: NoPod, Severity: SeverityWarning,
		Facts: daemonset.Facts{"eventsRead": !cs.s.Lacks(snapshot.Events)}}
	switch {
	case cs.retries():
		c.Facts["lifted"], c.Facts["last"], c.Since = true, cs.lifted.Facts["last"], cs.lifted.Since
	case n.Object != nil && cs.at.Sub(n.Object.CreationTimestamp.Time) < soonestFirst: // it has joined
		c.Severity = SeverityInfo
	case cs.Settled():
		c.Severity, c.Since = SeverityError, timeOf(cs.changed())
	}
	return c
}
