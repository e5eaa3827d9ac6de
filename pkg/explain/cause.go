package explain

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
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
		return b.noPod(n)
	}
	wrong := b.podCause(p)
	if wrong == nil {
		return nil
	}
	wrong.Pod = p.Name
	if !n.Exists {
		return &Cause{Code: daemonset.NodeGone, Severity: Warning, Pod: p.Name, Since: wrong.Since, Facts: daemonset.Facts{}}
	}
	if down := nodeDown(n); down != nil && wrong.Code != daemonset.NotYetAvailable && (p.Terminating || !imagePullOrCrash(wrong.Code)) {
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
func nodeDown(n *daemonset.Node) *Cause {
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
		return &Cause{Code: NodeNotReady, Severity: Error, Since: timeOf(c.LastTransitionTime.Time), Facts: f}
	}
	return nil
}

// imagePullOrCrash tells whether a cause was seen by a kubelet and does not
// come from the node going down.
func imagePullOrCrash(code daemonset.Reason) bool {
	return code == ImagePull || code == CrashLoop || code == OOMKilled
}

// noPod is the cause of a node that should run the pod and has none.
func (b *builder) noPod(n *daemonset.Node) *Cause {
	if r := b.refusal; r != nil {
		return &Cause{Code: CreateRefused, Severity: Error, Facts: r.Facts, Since: r.Since}
	}
	return &Cause{Code: NoPod, Severity: Warning, Facts: daemonset.Facts{}}
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
	for _, init := range []bool{true, false} {
		statuses := o.Status.ContainerStatuses
		if init {
			statuses = o.Status.InitContainerStatuses
		}
		for i := range statuses {
			if c := b.containerCause(o, &statuses[i], init); c != nil {
				return c
			}
		}
	}
	return b.notReady(o)
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
	c := &Cause{Code: daemonset.FailedPod, Severity: Warning, Facts: daemonset.Facts{"reason": o.Status.Reason}}
	setMessage(c.Facts, o.Status.Message)
	if b.failures >= 3 {
		c.Code, c.Severity = EvictLoop, Error
		c.Facts["failures"] = b.failures
	}
	return c
}

func (b *builder) notYetAvailable(p *daemonset.Pod) *Cause {
	c := &Cause{Code: daemonset.NotYetAvailable, Severity: Info, Facts: daemonset.Facts{"minReadySeconds": int(b.st.DaemonSet.Spec.MinReadySeconds)}}
	if p.AvailableAt != nil {
		c.Facts["availableAt"] = timeFact(*p.AvailableAt)
		since := p.AvailableAt.Add(-time.Duration(b.st.DaemonSet.Spec.MinReadySeconds) * time.Second)
		c.Since = &since
		if ahead := since.Sub(b.at); ahead > 0 {
			c.Severity, c.Facts["clockSkew"] = Warning, int(ahead.Round(time.Second).Seconds())
		}
	}
	return c
}

// pending is the cause of a pod that no node has taken yet.
func (b *builder) pending(o *corev1.Pod) *Cause {
	c := &Cause{Code: PendingUnschedulable, Severity: Error, Since: timeOf(o.CreationTimestamp.Time), Facts: daemonset.Facts{}}
	message, reason := "", ""
	for i := range o.Status.Conditions {
		if s := &o.Status.Conditions[i]; s.Type == corev1.PodScheduled && s.Status == corev1.ConditionFalse {
			message, reason = s.Message, s.Reason
			c.Since = timeOf(s.LastTransitionTime.Time)
		}
	}
	if e := b.event(o, "FailedScheduling"); message == "" && e != nil {
		message, reason = e.Message, "Unschedulable"
	}
	if message == "" && reason == "" {
		return b.starting(o)
	}
	c.Facts["reason"] = reason
	here := schedulerWords(message)
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
	list, _, _ = strings.Cut(list, " preemption: ")
	list, _, _ = strings.Cut(list, ". ")
	list = strings.TrimRight(list, ". ,")
	var out []string
	for _, part := range strings.Split(list, ", ") {
		count, words, counted := strings.Cut(part, " ")
		if !counted || strings.Trim(count, "0123456789") != "" {
			words = part
		}
		if strings.Contains(words, "[NodeAffinity]") || strings.Contains(words, "didn't match Pod's node affinity") {
			continue
		}
		out = append(out, words)
	}
	return out
}

// containerCause returns what is wrong with one container, nil if nothing is
// or if it only waits for others.
func (b *builder) containerCause(o *corev1.Pod, s *corev1.ContainerStatus, init bool) *Cause {
	f := daemonset.Facts{"container": s.Name, "init": init}
	c := &Cause{Severity: Error, Facts: f, Since: readySince(o)}
	last := s.LastTerminationState.Terminated
	if t := s.State.Terminated; t != nil {
		if t.ExitCode == 0 {
			return nil
		}
		last = t
	}
	switch w := s.State.Waiting; {
	case w != nil && isImagePull(w.Reason):
		c.Code, f["image"], f["reason"] = ImagePull, s.Image, w.Reason
		setMessage(f, w.Message)
		return c
	case w != nil && w.Reason != "CrashLoopBackOff" && last == nil:
		return b.containerWaits(o, w, c)
	case w != nil && strings.Contains(w.Reason, "Error"): // CreateContainerConfigError, RunContainerError, …
		c.Code, f["reason"] = ContainerConfig, w.Reason
		setMessage(f, w.Message)
		return c
	case last != nil && last.ExitCode != 0 && !s.Ready && (w != nil || s.RestartCount > 0 || s.State.Terminated != nil):
		return crash(c, s, last)
	case w != nil && w.Reason == "CrashLoopBackOff": // without a last state
		c.Code, f["restarts"] = CrashLoop, int(s.RestartCount)
		return c
	case s.State.Running != nil && !s.Ready && !init:
		return b.runsUnready(o, s, c)
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

func crash(c *Cause, s *corev1.ContainerStatus, last *corev1.ContainerStateTerminated) *Cause {
	c.Code = CrashLoop
	if last.Reason == "OOMKilled" {
		c.Code = OOMKilled
	}
	c.Facts["exitCode"], c.Facts["restarts"], c.Facts["reason"] = int(last.ExitCode), int(s.RestartCount), last.Reason
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
	for _, e := range []struct {
		reason string
		code   daemonset.Reason
	}{
		{"FailedCreatePodSandBox", SandboxFailed}, {"FailedMount", FailedMount}, {"FailedAttachVolume", FailedMount}, {"NetworkNotReady", SandboxFailed},
	} {
		if ev := b.event(o, e.reason); ev != nil {
			c.Code = e.code
			setMessage(c.Facts, ev.Message)
			return c
		}
	}
	if b.at.Sub(o.CreationTimestamp.Time) < patience {
		return b.starting(o)
	}
	c.Code = ContainerCreating
	setMessage(c.Facts, w.Message)
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
			return b.starting(o)
		}
	}
	c.Code = ProbeFailing
	c.Facts["restarts"] = int(s.RestartCount)
	if ev := b.event(o, "Unhealthy"); ev != nil {
		setMessage(c.Facts, ev.Message)
	}
	return c
}

// notReady is the cause of a pod whose containers say nothing: no kubelet has
// seen it yet, or a readiness gate is closed.
func (b *builder) notReady(o *corev1.Pod) *Cause {
	if b.at.Sub(o.CreationTimestamp.Time) < patience {
		return b.starting(o)
	}
	c := &Cause{Code: daemonset.NotReady, Severity: Error, Since: readySince(o), Facts: daemonset.Facts{}}
	var closed []string
	for i := range o.Status.Conditions {
		switch s := &o.Status.Conditions[i]; s.Type {
		case corev1.PodReady:
			if s.Reason != "" {
				c.Facts["reason"] = s.Reason
			}
			setMessage(c.Facts, s.Message)
		case corev1.PodScheduled, corev1.PodInitialized, corev1.ContainersReady:
		default:
			if s.Status == corev1.ConditionFalse {
				closed = append(closed, string(s.Type))
			}
		}
	}
	if len(closed) > 0 {
		c.Facts["conditions"] = closed
	}
	return c
}

// starting is a pod that takes its time within patience, and says nothing of
// a failure.
func (b *builder) starting(o *corev1.Pod) *Cause {
	return &Cause{Code: Starting, Severity: Info, Since: timeOf(o.CreationTimestamp.Time), Facts: daemonset.Facts{}}
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
