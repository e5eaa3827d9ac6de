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

// nodeCause returns what is wrong on a node that is eligible or has a pod, or nil if nothing is. Problems of the node
// itself take precedence over those of its pods.
func (cs *Causes) nodeCause(n *daemonset.Node) *Cause {
	p := relevantPod(n)
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
	cs.addAmounts(n, p, wrong)
	cs.addSelectorLabels(n, p, wrong)
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

// providesNetwork reports whether the pods of the template install a network plugin (CNI) on their nodes, that is,
// mount the directory of its configuration.
func (cs *Causes) providesNetwork() bool {
	return slices.ContainsFunc(cs.st.DaemonSet.Spec.Template.Spec.Volumes, func(v corev1.Volume) bool {
		return v.HostPath != nil && strings.Contains(v.HostPath.Path+"/", "/cni/net.d/")
	})
}

// relevantPod returns the most relevant pod of a node: the new pod, otherwise a pod that is not terminating, otherwise
// the first; nil if the node has no pod.
func relevantPod(n *daemonset.Node) *daemonset.Pod {
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

// Down returns why the node is not ready, or nil if it is ready.
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
		if c.Status == corev1.ConditionFalse { // otherwise the message is the node controller's
			setMessage(f, c.Message)
		}
		if c.Status == corev1.ConditionFalse && at.Sub(c.LastTransitionTime.Time) < Patience {
			down.Severity = SeverityWarning // the kubelet is running, and may only have restarted
		}
		addPurpose(n.Object, down)
		return down
	}
	if len(n.Object.Status.Conditions) == 0 {
		return taintedDown(n.Object)
	}
	return nil
}

// joining reports whether a NotReady node joined the cluster less than Patience ago and has never been Ready. Its
// kubelet is running, and something else is still missing, such as the network. Its pods are late by the same rule as
// others.
func (cs *Causes) joining(n *daemonset.Node, down *Cause) bool {
	joined := n.Object.CreationTimestamp.Time
	return n.ShouldRun.OK && down.Severity == SeverityWarning && cs.at.Sub(joined) < Patience &&
		down.Since != nil && down.Since.Sub(joined) < soonestLate
}

// taintedDown returns why a node without conditions is not ready, according to the taints that mirror the Ready
// condition, or nil if it has none.
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

// SeenByKubelet reports whether a kubelet observed the cause, so that the node's failure did not cause it.
func SeenByKubelet(code daemonset.Reason) bool {
	return code == ImagePullBackOff || code == CrashLoopBackOff || code == OOMKilled
}

// longestBackoff is the longest time that the controller waits before a retry. The rate limiter of its work queue
// doubles the wait up to 1,000 seconds.
const longestBackoff = 1000 * time.Second

// retries reports whether the controller may still be waiting to retry after a rejection that no longer holds. Its
// event can be up to Patience older than the last attempt, because such events are limited to one in five minutes.
func (cs *Causes) retries() bool {
	if cs.lifted == nil {
		return false
	}
	last, err := time.Parse(time.RFC3339, cs.lifted.Facts.Text("last"))
	return err == nil && cs.at.Sub(last) <= longestBackoff+Patience
}

// noPod returns the cause of an eligible node without a pod. A create that has been pending for longer than Patience
// does not happen by itself, unless the controller waits to retry.
func (cs *Causes) noPod(n *daemonset.Node) *Cause {
	if cs.refusal != nil {
		return cs.refusal
	}
	c := &Cause{Code: NoPod, Severity: SeverityWarning,
		Facts: daemonset.Facts{"eventsRead": !cs.s.Lacks(snapshot.Events)}}
	switch {
	case cs.retries():
		c.Facts["lifted"], c.Facts["last"], c.Since = true, cs.lifted.Facts["last"], cs.lifted.Since
	case n.Object != nil && cs.at.Sub(n.Object.CreationTimestamp.Time) < soonestFirst: // the node has just joined
		c.Severity = SeverityInfo
	case cs.Settled():
		c.Severity, c.Since = SeverityError, timeOf(cs.changed())
	}
	return c
}

// excluded returns the cause if the rolling update counts a node without a pod that only its namespace excludes, which
// happens only on OpenShift. Otherwise it returns nil.
func (cs *Causes) excluded(n *daemonset.Node) *Cause {
	if !n.StillRolled || !cs.st.Holds(n) {
		return nil
	}
	c := &Cause{Code: ExcludedButCounted, Severity: SeverityInfo, Facts: maps.Clone(n.ShouldRun.Facts)}
	delete(c.Facts, "valid") // an invalid selector excludes nothing
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

// OutOfServiceSoon is how long it takes at most until the pod garbage collector force-deletes terminating pods on an
// out-of-service node: it runs every 20 seconds.
const OutOfServiceSoon = 20 * time.Second

// OutOfService is the taint that marks a node whose machine is off.
var OutOfService = corev1.Taint{Key: corev1.TaintNodeOutOfService, Value: "nodeshutdown",
	Effect: corev1.TaintEffectNoExecute}

// CollectsOutOfService reports whether the pod garbage collector of a Kubernetes version force-deletes terminating pods
// on NotReady nodes with the out-of-service taint: from 1.26 on, where the feature gate NodeOutOfServiceVolumeDetach is
// on by default.
func CollectsOutOfService(kubernetesVersion string) bool {
	v, err := version.ParseGeneric(kubernetesVersion)
	return err == nil && (v.Major() > 1 || v.Minor() >= 26)
}

// Collected reports whether the terminating pods of a node are about to be force-deleted: the node is NotReady and has
// had the out-of-service taint for less than Patience.
func (cs *Causes) Collected(n *daemonset.Node) bool {
	if n.Object == nil || Down(n, cs.at) == nil || !CollectsOutOfService(cs.st.Profile.Version) {
		return false
	}
	return slices.ContainsFunc(n.Object.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == corev1.TaintNodeOutOfService && (t.TimeAdded == nil || cs.at.Sub(t.TimeAdded.Time) < Patience)
	})
}

// addPurpose adds facts that show that a node is down on purpose: a condition of KEP-5683, with its reason and who set
// it, or that the node is cordoned. Anything set more than Patience after the node went down is ignored.
func addPurpose(n *corev1.Node, down *Cause) {
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

// setBy returns the field manager that set a condition of a node; empty if it is unknown.
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

// OnPurpose reports whether the nodes of the problem are down on purpose, according to a condition, so that nobody has
// to repair or delete them.
func (p *Problem) OnPurpose() bool { return p.Facts["purpose"] != nil }

// OtherSystem returns the cause if the kubelet of a node rejects every pod of a template because of the operating
// system. The kubelet compares the node's system with spec.os.name and with the label kubernetes.io/os (from 1.24 on;
// before, the API server drops spec.os). Such a pod fails, and the controller deletes and recreates it. OtherSystem
// returns nil if the kubelet accepts the pod, or if the node does not report its system. It ignores nodeSelectors; see
// daemonset.Placement.
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

// virtualLabels are the labels of nodes without a machine and kubelet: AWS Fargate and Virtual Kubelet. Such nodes run
// only pods that they were created for, and no DaemonSet pods.
var virtualLabels = map[string]string{"eks.amazonaws.com/compute-type": "fargate", "type": "virtual-kubelet"}

// VirtualLabel returns the label that marks a node as virtual; empty for other nodes.
func VirtualLabel(n *corev1.Node) (key, value string) {
	for key, value := range virtualLabels {
		if n != nil && n.Labels[key] == value {
			return key, value
		}
	}
	return "", ""
}

// virtual returns the cause if a node is virtual but eligible, so that its pod never runs. It returns nil for other
// nodes, and if a pod is available there.
func (cs *Causes) virtual(n *daemonset.Node) *Cause {
	key, value := VirtualLabel(n.Object)
	if key == "" || !n.ShouldRun.OK || n.Membership().Available {
		return nil
	}
	return &Cause{Code: VirtualNode, Severity: SeverityError, Facts: daemonset.Facts{"key": key, "want": value}}
}
