package cause

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"

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

// excluded returns that the rolling update counts a node without a pod that only its
// namespace excludes; nil if it does not, as outside of OpenShift.
func (cs *Causes) excluded(n *daemonset.Node) *Cause {
	if !n.StillRolled || !cs.st.Holds(n) {
		return nil
	}
	c := &Cause{Code: ExcludedButCounted, Severity: SeverityInfo, Facts: maps.Clone(n.ShouldRun.Facts)}
	delete(c.Facts, "valid") // or it would exclude nothing
	if key, value, one := cs.st.Placement.NamespaceLabel(); one {
		c.Facts["key"], c.Facts["want"] = key, value
	}
	old := func(n daemonset.Node) bool {
		return slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool { return !p.Updated && !p.Terminating })
	}
	if slices.ContainsFunc(cs.st.Nodes, old) {
		c.Severity = SeverityError
	}
	return c
}

// OutOfServiceSoon is within how long the pod garbage collector force-deletes what is terminating on a
// node that is out of service: it looks every 20 seconds.
const OutOfServiceSoon = 20 * time.Second

// OutOfService is the taint by which a person says that the machine of a node is off.
var OutOfService = corev1.Taint{Key: corev1.TaintNodeOutOfService, Value: "nodeshutdown",
	Effect: corev1.TaintEffectNoExecute}

// CollectsOutOfService reports whether the pod garbage collector of a Kubernetes version force-deletes the
// terminating pods of nodes that are NotReady and out of service: from 1.26 on, where the feature
// NodeOutOfServiceVolumeDetach is on by default.
func CollectsOutOfService(kubernetesVersion string) bool {
	v, err := version.ParseGeneric(kubernetesVersion)
	return err == nil && (v.Major() > 1 || v.Minor() >= 26)
}

// Collected reports whether the terminating pods of a node are force-deleted: it is NotReady and out
// of service, for less than the time that this takes at most.
func (cs *Causes) Collected(n *daemonset.Node) bool {
	if n.Object == nil || Down(n, cs.at) == nil || !CollectsOutOfService(cs.st.Profile.Version) {
		return false
	}
	return slices.ContainsFunc(n.Object.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == corev1.TaintNodeOutOfService && (t.TimeAdded == nil || cs.at.Sub(t.TimeAdded.Time) < Patience)
	})
}

// purposely adds to the facts of a node that is down what says that this is on purpose: a condition
// of KEP-5683, with its reason and who set it, and that the node is cordoned. What came more than
// Patience after the fault is no sign.
func purposely(n *corev1.Node, down *Cause) {
	sign := func(at time.Time) bool { return down.Since == nil || !at.After(down.Since.Add(Patience)) }
	for _, condition := range snapshot.Purposes {
		i := slices.IndexFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == condition })
		if i < 0 {
			continue
		}
		c := &n.Status.Conditions[i]
		if c.Status != corev1.ConditionTrue || c.LastTransitionTime.IsZero() || !sign(c.LastTransitionTime.Time) {
			continue
		}
		down.Facts["purpose"], down.Facts["purposeSince"] = string(condition), timeFact(c.LastTransitionTime.Time)
		if c.Reason != "" {
			down.Facts["purposeReason"] = c.Reason
		}
		if by := setBy(n, condition); by != "" {
			down.Facts["setBy"] = by
		}
		return
	}
	cordon := slices.IndexFunc(n.Spec.Taints,
		func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnschedulable })
	switch {
	case cordon >= 0 && n.Spec.Taints[cordon].TimeAdded != nil:
		if at := n.Spec.Taints[cordon].TimeAdded.Time; sign(at) {
			down.Facts["cordoned"], down.Facts["cordonedSince"] = true, timeFact(at)
		}
	case n.Spec.Unschedulable:
		down.Facts["cordoned"] = true
	}
}

// setBy returns the field manager that set a condition of a node; empty if that is not known.
func setBy(n *corev1.Node, condition corev1.NodeConditionType) (by string) {
	var last time.Time
	for _, m := range n.ManagedFields {
		var fields snapshot.ConditionFields
		if m.FieldsV1 == nil || json.Unmarshal(m.FieldsV1.GetRawBytes(), &fields) != nil || !fields.Has(condition) {
			continue
		}
		if at := m.Time; by == "" || at != nil && at.After(last) {
			by = m.Manager
			if at != nil {
				last = at.Time
			}
		}
	}
	return by
}

// OnPurpose reports whether a problem is that nodes are down on purpose, by a condition of theirs:
// nobody has to repair or to delete them.
func (p *Problem) OnPurpose() bool { return p.Facts["purpose"] != nil }

// OtherSystem returns that the kubelet of a node rejects every pod of a template, since
// the template is for another operating system: spec.os.name is not the one that the
// node runs, or its label kubernetes.io/os, which a kubelet compares too (from 1.24 on;
// before, the API server drops spec.os). Such a pod fails, the controller deletes it and
// creates the next one. It returns nil if the kubelet does not, and where the node does
// not say what it runs. A nodeSelector is none of its business: see Placement.
func OtherSystem(n *daemonset.Node, t *corev1.PodTemplateSpec) *Cause {
	if n.Object == nil {
		return nil
	}
	runs, want := cmp.Or(n.Object.Status.NodeInfo.OperatingSystem, n.Object.Labels[corev1.LabelOSStable]),
		t.Labels[corev1.LabelOSStable]
	if t.Spec.OS != nil && (want == "" || want == runs) {
		want = string(t.Spec.OS.Name)
	}
	if runs == "" || want == "" || want == runs {
		return nil
	}
	return &Cause{Code: PodOSNotSupported, Severity: SeverityError,
		Facts: daemonset.Facts{"want": want, "platform": runs}}
}

// virtualLabels are the labels of nodes behind which no machine with a kubelet is: AWS Fargate, and
// nodes of Virtual Kubelet. They run single pods for which they were made, and none of DaemonSets.
var virtualLabels = map[string]string{"eks.amazonaws.com/compute-type": "fargate", "type": "virtual-kubelet"}

// VirtualLabel returns the label that says that a node is virtual; empty for others.
func VirtualLabel(n *corev1.Node) (key, value string) {
	for key, value := range virtualLabels {
		if n != nil && n.Labels[key] == value {
			return key, value
		}
	}
	return "", ""
}

// virtual returns that a node is virtual and should run the pod all the same, which it
// never will; nil for others, and where a pod is available there.
func (cs *Causes) virtual(n *daemonset.Node) *Cause {
	key, value := VirtualLabel(n.Object)
	if key == "" || !n.ShouldRun.OK || n.Membership().Available {
		return nil
	}
	return &Cause{Code: VirtualNode, Severity: SeverityError, Facts: daemonset.Facts{"key": key, "want": value}}
}
