package explain

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// patience is how long a pod may take to start, or a terminating one beyond
// its grace period to go, before that is no longer taken for the normal
// course of things.
const patience = 5 * time.Minute

// nodeCause returns what is wrong on a node that should run the pod or holds
// one; nil if nothing is. The node's own state comes before that of its pods.
func (b *builder) nodeCause(n *daemonset.Node) *Cause {
	p := concern(n)
	switch {
	case p == nil && !n.ShouldRun.OK:
		return nil
	case p == nil:
		return b.noPod()
	}
	wrong := b.podCause(p)
	if wrong == nil {
		return nil
	}
	wrong.Pod = p.Name
	if !n.Exists {
		return &Cause{Code: daemonset.NodeGone, Severity: Warning, Pod: p.Name, Since: wrong.Since, Facts: daemonset.Facts{}}
	}
	if down := nodeDown(n, b.at); down != nil && wrong.Code != daemonset.NotYetAvailable && !imagePullOrCrash(wrong.Code) {
		down.Pod = p.Name
		if p.Terminating {
			down.Code = TerminatingOnDeadNode
			down.Facts["deletionAsked"] = timeFact(p.Object.DeletionTimestamp.Add(-grace(p.Object)))
		}
		return down
	}
	return wrong
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

// nodeDown returns the cause that a node which is not ready is, else nil.
func nodeDown(n *daemonset.Node, at time.Time) *Cause {
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
		down := &Cause{Code: NodeNotReady, Severity: Error, Since: timeOf(c.LastTransitionTime.Time), Facts: f}
		if c.Status == corev1.ConditionFalse && at.Sub(c.LastTransitionTime.Time) < patience {
			down.Severity = Warning // its kubelet is there, and may only have restarted
		}
		return down
	}
	return nil
}

// imagePullOrCrash tells whether a cause was seen by a kubelet and does not
// come from the node going down.
func imagePullOrCrash(code daemonset.Reason) bool {
	return code == ImagePull || code == CrashLoop || code == OOMKilled
}

// noPod is the cause of a node that should run the pod and has none. A create
// that is owed for longer than patience does not come by itself.
func (b *builder) noPod() *Cause {
	if r := b.refusal; r != nil {
		return &Cause{Code: CreateRefused, Severity: Error, Facts: r.Facts, Since: r.Since}
	}
	c := &Cause{Code: NoPod, Severity: Warning, Facts: daemonset.Facts{"eventsRead": !b.s.Lacks(snapshot.Events)}}
	if b.settled() {
		c.Severity, c.Since = Error, timeOf(b.changed)
	}
	return c
}

// podCause returns why a pod is not available, or nil if it is.
func (b *builder) podCause(p *daemonset.Pod) *Cause {
	o := p.Object
	switch {
	case p.Terminating:
		return b.terminating(o)
	case o.Status.Phase == corev1.PodFailed:
		return b.failed(o)
	case o.Status.Phase == corev1.PodSucceeded:
		return &Cause{Code: daemonset.SucceededPod, Severity: Warning, Facts: daemonset.Facts{}}
	case p.Available.OK:
		return nil
	case p.Ready:
		return b.notYetAvailable(p)
	case o.Spec.NodeName == "":
		return b.pending(o)
	}
	if c := b.worstContainer(o); c != nil {
		return c
	}
	return b.notReady(o)
}

// worstContainer returns the first of the most severe causes among the pod's
// containers, init containers first: one that is still starting does not hide
// one that crashes.
func (b *builder) worstContainer(o *corev1.Pod) *Cause {
	var worst *Cause
	see := func(statuses []corev1.ContainerStatus, init bool) {
		for i := range statuses {
			c := b.containerCause(o, &statuses[i], init)
			if c != nil && (worst == nil || severityRank[c.Severity] < severityRank[worst.Severity]) {
				worst = c
			}
		}
	}
	see(o.Status.InitContainerStatuses, true)
	see(o.Status.ContainerStatuses, false)
	return worst
}

func (b *builder) terminating(o *corev1.Pod) *Cause {
	asked := o.DeletionTimestamp.Add(-grace(o))
	c := &Cause{Code: Terminating, Severity: Info, Since: &asked, Facts: daemonset.Facts{"overdue": false}}
	if len(o.Finalizers) > 0 {
		c.Facts["finalizers"] = o.Finalizers
	}
	if b.at.Sub(o.DeletionTimestamp.Time) > patience {
		c.Severity, c.Facts["overdue"] = Error, true
	}
	return c
}

// grace is how long before its deletionTimestamp the pod's deletion was asked
// for.
func grace(o *corev1.Pod) time.Duration {
	if o.DeletionGracePeriodSeconds != nil {
		return time.Duration(*o.DeletionGracePeriodSeconds) * time.Second
	}
	return 0
}

func (b *builder) failed(o *corev1.Pod) *Cause {
	c := b.evictLoop(o)
	if c == nil {
		c = &Cause{Code: daemonset.FailedPod, Severity: Warning, Facts: daemonset.Facts{}}
	}
	c.Facts["reason"] = o.Status.Reason
	setMessage(c.Facts, o.Status.Message)
	return c
}

// evictLoop is the cause of a node on which the controller found failed pods
// several times, and lately; nil where it did not.
func (b *builder) evictLoop(o *corev1.Pod) *Cause {
	const several, lately = 3, 20 * time.Minute // the controller waits up to 15 minutes between two
	f := b.failures[o.Spec.NodeName]
	if f == nil || f.count < several || b.at.Sub(f.last) > lately {
		return nil
	}
	return &Cause{Code: EvictLoop, Severity: Error, Since: timeOf(f.first), Facts: daemonset.Facts{"failures": f.count}}
}

func (b *builder) notYetAvailable(p *daemonset.Pod) *Cause {
	c := &Cause{Code: daemonset.NotYetAvailable, Severity: Info, Facts: daemonset.Facts{"minReadySeconds": int(b.st.DaemonSet.Spec.MinReadySeconds)}}
	if p.AvailableAt != nil {
		c.Facts["availableAt"] = timeFact(*p.AvailableAt)
		since := p.AvailableAt.Add(-time.Duration(b.st.DaemonSet.Spec.MinReadySeconds) * time.Second)
		c.Since = &since
		if ahead := since.Sub(b.at); ahead > clockJitter {
			c.Severity, c.Facts["clockSkew"] = Warning, int(ahead.Round(time.Second).Seconds())
		}
	}
	return c
}

// clockJitter is by how much a node's clock may be ahead without a word: times
// in the API are whole seconds.
const clockJitter = 2 * time.Second

// pending is the cause of a pod that no node has taken yet.
func (b *builder) pending(o *corev1.Pod) *Cause {
	c := &Cause{Code: PendingUnschedulable, Severity: Error, Since: timeOf(o.CreationTimestamp.Time), Facts: daemonset.Facts{}}
	message, reason := "", ""
	for i := range o.Status.Conditions {
		if s := &o.Status.Conditions[i]; s.Type == corev1.PodScheduled && s.Status == corev1.ConditionFalse {
			message, reason = s.Message, s.Reason
			c.Since = timeOf(cmp.Or(s.LastTransitionTime.Time, o.CreationTimestamp.Time))
		}
	}
	if e := b.event(o, "FailedScheduling"); message == "" && e != nil {
		message, reason = e.Message, "Unschedulable"
	}
	if message == "" && reason == "" {
		if b.at.Sub(o.CreationTimestamp.Time) < patience {
			return b.starting(o, o.CreationTimestamp.Time)
		}
		return c // no scheduler feels responsible, or none runs
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
			lacking = append(lacking, strings.Fields(resource)[0])
		}
		if strings.HasPrefix(words, "Too many pods") {
			lacking = append(lacking, "pods")
		}
		if strings.Contains(words, "free ports") {
			c.Code = HostPortConflict
		}
	}
	if len(lacking) > 0 {
		c.Code, c.Facts["resources"] = InsufficientResources, lacking
	}
	return c
}

// schedulerWords returns what the scheduler says of the one node that a pod
// of a DaemonSet is for: its count per reason, without the nodes that the
// pod's affinity excludes anyway, and without the preemption summary.
func schedulerWords(message string) []string {
	_, list, found := strings.Cut(message, "nodes are available: ")
	if !found {
		if message == "" {
			return nil
		}
		return []string{message}
	}
	list, _, _ = strings.Cut(list, ". ") // what follows is of preemption
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

// otherNodes is what schedulers of all versions say of the nodes that the
// pod's affinity excludes.
var otherNodes = []string{"[NodeAffinity]", "didn't match Pod's node affinity", "didn't match node selector", "didn't match node affinity"}

// containerCause returns what is wrong with one container, nil if nothing is
// or if it only waits for others.
func (b *builder) containerCause(o *corev1.Pod, s *corev1.ContainerStatus, init bool) *Cause {
	f := daemonset.Facts{"container": s.Name, "init": init}
	c := &Cause{Severity: Error, Facts: f, Since: readySince(o)}
	last := s.LastTerminationState.Terminated
	if t := s.State.Terminated; t != nil {
		if t.ExitCode == 0 && (init || s.RestartCount == 0) {
			return nil
		}
		last = t
	}
	if r := s.State.Running; r != nil && !r.StartedAt.IsZero() && b.at.Sub(r.StartedAt.Time) > 2*patience {
		last = nil // it outlived the kubelet's longest wait, so it is no crash loop any more
	}
	switch w := s.State.Waiting; {
	case w != nil && isImagePull(w.Reason):
		c.Code, f["image"], f["reason"] = ImagePull, s.Image, w.Reason
		setMessage(f, w.Message)
		return c
	case w != nil && (w.Reason == "ContainerCreating" || w.Reason == "PodInitializing" || last == nil && w.Reason != "CrashLoopBackOff"):
		return b.containerWaits(o, w, c)
	case w != nil && strings.Contains(w.Reason, "Error"): // CreateContainerConfigError, RunContainerError, …
		c.Code, f["reason"] = ContainerConfig, w.Reason
		setMessage(f, w.Message)
		return c
	case w != nil && w.Reason == "CrashLoopBackOff", last != nil && !s.Ready && (last.ExitCode != 0 || s.State.Terminated != nil):
		return crash(c, s, last)
	case s.State.Running != nil && !s.Ready && !init:
		return b.runsUnready(o, s, c)
	case s.State.Running != nil && init && (s.Started == nil || !*s.Started) && !initialized(o):
		return b.initRuns(o, s, c)
	}
	return nil
}

func isImagePull(reason string) bool {
	switch reason {
	case "ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed":
		return true
	}
	return false
}

// crash is the cause of a container that ended; last is nil where it is not
// known how.
func crash(c *Cause, s *corev1.ContainerStatus, last *corev1.ContainerStateTerminated) *Cause {
	c.Code, c.Facts["restarts"] = CrashLoop, int(s.RestartCount)
	if last == nil {
		return c
	}
	if last.Reason == "OOMKilled" {
		c.Code = OOMKilled
	}
	c.Facts["exitCode"], c.Facts["reason"] = int(last.ExitCode), last.Reason
	setMessage(c.Facts, last.Message)
	return c
}

// containerWaits is the cause of a container that was never started.
func (b *builder) containerWaits(o *corev1.Pod, w *corev1.ContainerStateWaiting, c *Cause) *Cause {
	if w.Reason == "PodInitializing" && len(o.Status.InitContainerStatuses) > 0 && !initialized(o) {
		return nil // it waits for the init containers, which came first
	}
	c.Facts["reason"] = w.Reason
	if strings.HasSuffix(w.Reason, "Error") {
		c.Code = ContainerConfig
		setMessage(c.Facts, w.Message)
		return c
	}
	young := b.at.Sub(o.CreationTimestamp.Time) < patience
	if ev := b.newestEvent(o, slices.Sorted(maps.Keys(kubeletEvents))...); ev != nil {
		c.Code = kubeletEvents[ev.Reason]
		if young {
			c.Severity = Warning // often only that something else is not there yet
		}
		setMessage(c.Facts, ev.Message)
		return c
	}
	if young {
		return b.starting(o, o.CreationTimestamp.Time)
	}
	c.Code = ContainerCreating
	setMessage(c.Facts, w.Message)
	return c
}

// kubeletEvents say why a pod's containers are not created.
var kubeletEvents = map[string]daemonset.Reason{
	"FailedCreatePodSandBox": SandboxFailed, "NetworkNotReady": SandboxFailed, "FailedMount": FailedMount, "FailedAttachVolume": FailedMount,
}

// initRuns is the cause of a pod whose init container has not ended.
func (b *builder) initRuns(o *corev1.Pod, s *corev1.ContainerStatus, c *Cause) *Cause {
	started := s.State.Running.StartedAt.Time
	if b.at.Sub(started) < patience {
		return b.starting(o, started)
	}
	c.Code, c.Since = InitRunning, timeOf(started)
	return c
}

func initialized(o *corev1.Pod) bool {
	for i := range o.Status.Conditions {
		if c := &o.Status.Conditions[i]; c.Type == corev1.PodInitialized {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// runsUnready is the cause of a container that runs and is not ready: a probe
// that fails, if an event says so or it had the time to start.
func (b *builder) runsUnready(o *corev1.Pod, s *corev1.ContainerStatus, c *Cause) *Cause {
	if started := s.State.Running.StartedAt.Time; !started.IsZero() {
		c.Facts["startedAt"] = timeFact(started)
		if ev := b.event(o, "Unhealthy"); ev == nil && b.at.Sub(started) < patience {
			return b.starting(o, started)
		}
	}
	c.Code = ProbeFailing
	c.Facts["restarts"] = int(s.RestartCount)
	if s.RestartCount == 0 && b.at.Sub(s.State.Running.StartedAt.Time) < patience {
		c.Severity = Warning // probes often fail while a container starts
	}
	if ev := b.event(o, "Unhealthy"); ev != nil {
		setMessage(c.Facts, ev.Message)
	}
	return c
}

// notReady is the cause of a pod whose containers say nothing: no kubelet has
// seen it yet, or a readiness gate is closed.
func (b *builder) notReady(o *corev1.Pod) *Cause {
	if b.at.Sub(o.CreationTimestamp.Time) < patience {
		return b.starting(o, o.CreationTimestamp.Time)
	}
	c := &Cause{Code: daemonset.NotReady, Severity: Error, Since: readySince(o), Facts: daemonset.Facts{}}
	open := map[corev1.PodConditionType]bool{}
	for i := range o.Status.Conditions {
		s := &o.Status.Conditions[i]
		open[s.Type] = s.Status == corev1.ConditionTrue
		if s.Type != corev1.PodReady {
			continue
		}
		if s.Reason != "" {
			c.Facts["reason"] = s.Reason
		}
		setMessage(c.Facts, s.Message)
	}
	var closed []string
	for _, g := range b.st.DaemonSet.Spec.Template.Spec.ReadinessGates {
		if !open[g.ConditionType] {
			closed = append(closed, string(g.ConditionType))
		}
	}
	if len(closed) > 0 {
		c.Facts["conditions"] = closed
	}
	return c
}

// starting is a pod that takes its time within patience, and says nothing of
// a failure. It, or the container that it waits for, began at the time given.
func (b *builder) starting(o *corev1.Pod, began time.Time) *Cause {
	if c := b.evictLoop(o); c != nil {
		return c
	}
	return &Cause{Code: Starting, Severity: Info, Since: timeOf(began), Facts: daemonset.Facts{}}
}

// readySince is when the pod's Ready condition last changed, else when the
// pod was created.
func readySince(o *corev1.Pod) *time.Time {
	for i := range o.Status.Conditions {
		if c := &o.Status.Conditions[i]; c.Type == corev1.PodReady && !c.LastTransitionTime.IsZero() {
			return timeOf(c.LastTransitionTime.Time)
		}
	}
	return timeOf(o.CreationTimestamp.Time)
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
