package cause

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/fit"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// podCause returns why a pod is not available, or nil if it is.
func (cs *Causes) podCause(p *daemonset.Pod) *Cause {
	o := p.Object
	switch {
	case p.Terminating:
		return cs.terminating(o)
	case o.Status.Phase == corev1.PodFailed:
		return cs.failed(o)
	case o.Status.Phase == corev1.PodSucceeded:
		return &Cause{Code: daemonset.SucceededPod, Severity: SeverityWarning, Facts: daemonset.Facts{}}
	case p.Available.OK:
		return cs.restarting(o)
	case p.Ready:
		return cs.notYetAvailable(p)
	case o.Spec.NodeName == "":
		return cs.pending(o)
	}
	if c := cs.worstContainer(o); c != nil {
		return c
	}
	return cs.notReady(o)
}

func (cs *Causes) terminating(o *corev1.Pod) *Cause {
	asked := o.DeletionTimestamp.Add(-grace(o))
	c := &Cause{Code: Terminating, Severity: SeverityInfo, Since: &asked, Facts: daemonset.Facts{"overdue": false}}
	if len(o.Finalizers) > 0 {
		c.Facts["finalizers"] = o.Finalizers
	}
	if cs.at.Sub(o.DeletionTimestamp.Time) > Patience {
		c.Severity, c.Facts["overdue"] = SeverityError, true
	}
	if e := cs.event(o, "FailedKillPod"); e != nil {
		setMessage(c.Facts, messageOf(e))
	}
	return c
}

// DeletionAsked returns when the deletion of a pod was requested; nil if it was not.
func DeletionAsked(o *corev1.Pod) *time.Time {
	if o.DeletionTimestamp == nil {
		return nil
	}
	at := o.DeletionTimestamp.Add(-grace(o))
	return &at
}

// grace returns the time between the request to delete a pod and its deletionTimestamp.
func grace(o *corev1.Pod) time.Duration {
	if o.DeletionGracePeriodSeconds != nil {
		return time.Duration(*o.DeletionGracePeriodSeconds) * time.Second
	}
	return 0
}

func (cs *Causes) failed(o *corev1.Pod) *Cause {
	c := cs.evictLoop(o)
	if c == nil {
		c = &Cause{Code: daemonset.FailedPod, Severity: SeverityWarning, Facts: daemonset.Facts{}}
	}
	c.Facts["reason"] = o.Status.Reason
	setMessage(c.Facts, o.Status.Message)
	return c
}

// evictLoop returns the cause if the controller has found failed pods on the node several times, and recently.
// Otherwise it returns nil.
func (cs *Causes) evictLoop(o *corev1.Pod) *Cause {
	const several, lately = 3, 20 * time.Minute // the controller waits up to 15 minutes between two deletions
	f := cs.failures[o.Spec.NodeName]
	if f == nil || f.count < several || cs.at.Sub(f.last) > lately {
		return nil
	}
	return &Cause{Code: EvictLoop, Severity: SeverityError, Since: timeOf(f.first),
		Facts: daemonset.Facts{"failures": f.count}}
}

func (cs *Causes) notYetAvailable(p *daemonset.Pod) *Cause {
	c := &Cause{Code: daemonset.NotYetAvailable, Severity: SeverityInfo,
		Facts: daemonset.Facts{"minReadySeconds": int(cs.st.DaemonSet.Spec.MinReadySeconds)}}
	if p.AvailableAt != nil {
		c.Facts["availableAt"] = timeFact(*p.AvailableAt)
		since := p.AvailableAt.Add(-time.Duration(cs.st.DaemonSet.Spec.MinReadySeconds) * time.Second)
		c.Since = &since
		if ahead := since.Sub(cs.at); ahead > clockJitter {
			c.Severity, c.Facts["clockSkew"] = SeverityWarning, int(ahead.Round(time.Second).Seconds())
		}
	}
	return c
}

// clockJitter is how far ahead a node's clock may be without being reported. Times in the API are whole seconds.
const clockJitter = 2 * time.Second

// pending returns the cause of a pod that is not bound to a node.
func (cs *Causes) pending(o *corev1.Pod) *Cause {
	if c := cs.waiting(o); c != nil {
		return c
	}
	c := &Cause{Code: PendingUnschedulable, Severity: SeverityError, Since: timeOf(o.CreationTimestamp.Time),
		Facts: daemonset.Facts{}}
	message, reason := "", ""
	if s := condition(o, corev1.PodScheduled); s != nil && s.Status == corev1.ConditionFalse {
		message, reason = s.Message, s.Reason
		c.Since = timeOf(cmp.Or(s.LastTransitionTime.Time, o.CreationTimestamp.Time))
	}
	if e := cs.event(o, "FailedScheduling"); message == "" && e != nil {
		message, reason = messageOf(e), "Unschedulable"
	}
	if message == "" && reason == "" {
		if !cs.stays(o, o.CreationTimestamp.Time, false) {
			return cs.starting(o, o.CreationTimestamp.Time)
		}
		return c // no scheduler handles the pod, or none is running
	}
	c.Facts["reason"] = reason
	here := schedulerWords(message)
	if len(here) == 0 && message != "" {
		here = []string{message}
	}
	setMessage(c.Facts, strings.Join(here, ", "))
	var lacking []string
	for _, words := range here {
		if resource, ok := strings.CutPrefix(words, "Insufficient "); ok {
			if names := strings.Fields(resource); len(names) > 0 {
				lacking = append(lacking, names[0])
			}
		}
		if strings.HasPrefix(words, "Too many pods") {
			lacking = append(lacking, "pods")
		}
		if strings.Contains(words, "free ports") {
			c.Code = HostPortConflict
			if ports := HostPorts(&o.Spec); len(ports) > 0 {
				c.Facts["ports"] = ports
			}
		}
	}
	if len(lacking) > 0 {
		c.Code, c.Facts["resources"] = InsufficientResources, lacking
	}
	return c
}

// addAmounts adds details to the scheduler's message about a pod, if the computed decision agrees with it: how much the
// node has, which pod uses the port, or which volume cannot be attached. If the node is too small even without other
// pods, these need not have been read.
func (cs *Causes) addAmounts(n *daemonset.Node, p *daemonset.Pod, c *Cause) {
	if n.Object == nil || p.Object.Spec.NodeName != "" {
		return
	}
	w := cs.withVolumes(fit.Of(p.Object), &p.Object.Spec)
	v, known := cs.decide(&w, n, cs.besideOf(n, p.Name))
	same := map[fit.Reason]bool{
		fit.NodeResourcesFit: c.Code == InsufficientResources, fit.NodePorts: c.Code == HostPortConflict,
		fit.NodeVolumeLimits: ofVolumes(c), fit.VolumeBinding: ofVolumes(c), fit.VolumeZone: ofVolumes(c),
	}
	if !known || v.Fits || !same[v.Reason] {
		return
	}
	for key, value := range cs.fitFacts(&v, n) {
		c.Facts[key] = value
	}
	if v.Preemption.Outcome != fit.NothingLower {
		return
	}
	w.Priority = nodeCritical
	if above, known := cs.decide(&w, n, cs.besideOf(n, p.Name)); known && above.Preemption.Outcome == fit.Possible {
		if pods, victims := VictimsOf(&above.Preemption); victims.Certain {
			c.Facts["evicts"] = pods
		}
	}
}

// addSelectorLabels adds to the facts the labels in the nodeSelector of an unscheduled pod that neither its template
// nor its node has. They were added at admission.
func (cs *Causes) addSelectorLabels(n *daemonset.Node, p *daemonset.Pod, c *Cause) {
	t := cs.madeFrom(p)
	if c.Code != PendingUnschedulable || t == nil || n.Object == nil {
		return
	}
	var labels []string
	for key, value := range p.Object.Spec.NodeSelector {
		in, asked := t.Spec.NodeSelector[key]
		has, is := n.Object.Labels[key]
		if (!asked || in != value) && (!is || has != value) {
			labels = append(labels, key+"="+value)
		}
	}
	if len(labels) == 0 {
		return
	}
	slices.Sort(labels)
	c.Facts["added"] = labels
	annotation, text := cs.namespaceSelector()
	switch selects := selectsAll(text, labels); {
	case selects && annotation != "":
		c.Facts["annotation"], c.Facts["selector"] = annotation, text
	case annotation != "":
		c.Facts["annotation"], c.Facts["again"] = annotation, false
	case cs.s.OpenShift != nil && cs.s.OpenShift.Namespace != nil: // an annotation overrides the cluster's default
		c.Facts["annotation"] = snapshot.ProjectNodeSelectorAnnotation
	}
}

// namespaceSelector returns the node selector of the namespace and the annotation that sets it. Both are empty if there
// is none, or if the namespace could not be read.
func (cs *Causes) namespaceSelector() (annotation, selector string) {
	o := cs.s.OpenShift
	if a := cs.s.Admission; o == nil && a != nil {
		o = &snapshot.OpenShift{Namespace: a.Namespace}
	}
	return o.NodeSelector()
}

// selectsAll reports whether a selector requires all of these labels.
func selectsAll(selector string, labels []string) bool {
	asked := strings.FieldsFunc(selector, func(r rune) bool { return r == ',' || r == ' ' })
	return !slices.ContainsFunc(labels, func(l string) bool { return !slices.Contains(asked, l) })
}

// ofVolumes reports whether the scheduler says that volumes exclude the node of a pod.
func ofVolumes(c *Cause) bool {
	message := c.Facts.Text("message")
	return c.Code == PendingUnschedulable &&
		(strings.Contains(message, "olume ") || strings.Contains(message, "PersistentVolume"))
}

// schedulerWords returns the scheduler's reasons for the one node that a DaemonSet pod is for, without the reasons for
// nodes that the pod's affinity excludes and without the preemption summary.
func schedulerWords(message string) []string {
	_, list, found := strings.Cut(message, "nodes are available: ")
	switch {
	case message == "":
		return nil
	case !found:
		return []string{message}
	}
	list, _, _ = strings.Cut(list, ". ") // a summary of preemption follows
	list = strings.TrimRight(list, ". ,")
	var out []string
	for _, part := range strings.Split(list, ", ") {
		count, words, counted := strings.Cut(part, " ")
		if !counted || strings.Trim(count, "0123456789") != "" {
			words = part
		}
		if !slices.ContainsFunc(otherNodes, func(s string) bool { return strings.Contains(words, s) }) {
			out = append(out, words)
		}
	}
	return out
}

// otherNodes are phrases of schedulers of all versions about nodes that the pod's affinity excludes.
var otherNodes = []string{"[NodeAffinity]", "didn't match Pod's node affinity", "didn't match node selector",
	"didn't match node affinity"}

// notReady returns the cause of a pod whose containers show no problem: no kubelet has seen it yet, or a readiness gate
// is not met.
func (cs *Causes) notReady(o *corev1.Pod) *Cause {
	if !cs.stays(o, o.CreationTimestamp.Time, false) {
		return cs.starting(o, o.CreationTimestamp.Time)
	}
	c := &Cause{Code: daemonset.NotReady, Severity: SeverityError, Since: readySince(o), Facts: daemonset.Facts{}}
	if s := condition(o, corev1.PodReady); s != nil {
		if s.Reason != "" {
			c.Facts["reason"] = s.Reason
		}
		setMessage(c.Facts, s.Message)
	}
	var closed []string
	for _, g := range cs.gatesOf(o) {
		if s := condition(o, g.ConditionType); s == nil || s.Status != corev1.ConditionTrue {
			closed = append(closed, string(g.ConditionType))
		}
	}
	if len(closed) > 0 {
		c.Facts["conditions"] = closed
	}
	return c
}

// gatesOf returns the readiness gates of a pod or, if it has none, those of the template that it was created from.
func (cs *Causes) gatesOf(o *corev1.Pod) []corev1.PodReadinessGate {
	if len(o.Spec.ReadinessGates) > 0 {
		return o.Spec.ReadinessGates
	}
	if t := cs.templateOf(o); t != nil {
		return t.Spec.ReadinessGates
	}
	return cs.st.DaemonSet.Spec.Template.Spec.ReadinessGates
}

// starting returns the cause of a pod that is starting without a sign of failure. began is when the pod, or the
// container that it waits for, began to start.
func (cs *Causes) starting(o *corev1.Pod, began time.Time) *Cause {
	if c := cs.evictLoop(o); c != nil {
		return c
	}
	return &Cause{Code: Starting, Severity: SeverityInfo, Since: timeOf(began), Facts: daemonset.Facts{}}
}

// readySince returns when the pod's Ready condition last changed, or when the pod was created if it has no such
// condition.
func readySince(o *corev1.Pod) *time.Time {
	if c := condition(o, corev1.PodReady); c != nil && !c.LastTransitionTime.IsZero() {
		return timeOf(c.LastTransitionTime.Time)
	}
	return timeOf(o.CreationTimestamp.Time)
}

// condition returns the pod's condition of a type, or nil if it has none.
func condition(o *corev1.Pod, of corev1.PodConditionType) *corev1.PodCondition {
	if i := slices.IndexFunc(o.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == of }); i >= 0 {
		return &o.Status.Conditions[i]
	}
	return nil
}

func timeOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func timeFact(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func setMessage(f daemonset.Facts, message string) {
	if message = strings.TrimSpace(message); message != "" {
		f["message"] = message
	}
}
