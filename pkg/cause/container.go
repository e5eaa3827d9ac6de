package cause

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

// worstContainer returns the first of the most severe causes among the pod's
// containers, init containers first, then those of the earliest stage: one that is still
// starting, or not Ready, does not hide one that crashes.
func (cs *Causes) worstContainer(o *corev1.Pod) *Cause {
	var worst *Cause
	worse := func(c *Cause, init bool) bool {
		bySeverity := c.Severity.Compare(worst.Severity)
		return bySeverity < 0 || bySeverity == 0 && !init && !worst.Facts.Yes("init") &&
			StageOf(c.Code) < StageOf(worst.Code)
	}
	see := func(statuses []corev1.ContainerStatus, init bool) {
		for i := range statuses {
			c := cs.containerCause(o, &statuses[i], init)
			if c != nil && (worst == nil || worse(c, init)) {
				worst = c
			}
		}
	}
	see(o.Status.InitContainerStatuses, true)
	see(o.Status.ContainerStatuses, false)
	return worst
}

// containerCause returns what is wrong with one container, nil if nothing is
// or if it only waits for others.
func (cs *Causes) containerCause(o *corev1.Pod, s *corev1.ContainerStatus, init bool) *Cause {
	f := daemonset.Facts{"container": s.Name, "init": init}
	c := &Cause{Severity: SeverityError, Facts: f, Since: readySince(o)}
	last := s.LastTerminationState.Terminated
	if t := s.State.Terminated; t != nil {
		if t.ExitCode == 0 && (init || s.RestartCount == 0) {
			return nil
		}
		last = t
	}
	if r := s.State.Running; r != nil && !r.StartedAt.IsZero() && cs.at.Sub(r.StartedAt.Time) > 2*Patience {
		last = nil // it outlived the kubelet's longest wait, so it is no crash loop any more
	}
	switch w := s.State.Waiting; {
	case w != nil && slices.Contains(imagePulls, w.Reason):
		c.Code, f["image"], f["reason"] = ImagePullBackOff, s.Image, w.Reason
		setMessage(f, cs.pullFails(o, s, w.Message))
		return c
	case w != nil && (w.Reason == "ContainerCreating" || w.Reason == "PodInitializing" || last == nil &&
		w.Reason != "CrashLoopBackOff"):
		return cs.containerWaits(o, s, w, c)
	case w != nil && strings.Contains(w.Reason, "Error"): // CreateContainerConfigError, RunContainerError, …
		c.Code, f["reason"] = ContainerConfig, w.Reason
		setMessage(f, w.Message)
		return c
	case last != nil && !s.Ready && slices.Contains(neverStarted, last.Reason) && s.State.Running == nil:
		c.Code, f["reason"] = ContainerConfig, last.Reason
		setMessage(f, last.Message)
		return c
	case w != nil && w.Reason == "CrashLoopBackOff", last != nil && !s.Ready &&
		(last.ExitCode != 0 || s.State.Terminated != nil):
		c = crash(c, s, last)
		cs.memory(o, c)
		cs.killed(o, s, last, c)
		return c
	case s.State.Running != nil && !s.Ready && !init:
		return cs.runsUnready(o, s, c)
	case s.State.Running != nil && init && (s.Started == nil || !*s.Started) && !initialized(o):
		return cs.initRuns(o, s, c)
	}
	return nil
}

// neverStarted are the reasons of a container that its runtime could not start: of containerd, and of Docker.
var neverStarted = []string{"StartError", "ContainerCannotRun"}

// imagePulls are the kubelet's reasons of a container whose image it does not get.
var imagePulls = []string{
	"ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError",
	"RegistryUnavailable", "SignatureValidationFailed",
}

// pullFails returns why an image cannot be pulled: what the kubelet says beside its back-off, or
// else what the newest event of the pod says about this image.
func (cs *Causes) pullFails(o *corev1.Pod, s *corev1.ContainerStatus, message string) string {
	e := cs.event(o, failedToPull)
	if !strings.HasPrefix(message, "Back-off pulling image") || strings.Contains(message, `": `) || e == nil ||
		!strings.Contains(e.Message, `"`+s.Image+`"`) {
		return message
	}
	return messageOf(e)
}

// crash is the cause of a container that ended; last is nil if it is not
// known how.
func crash(c *Cause, s *corev1.ContainerStatus, last *corev1.ContainerStateTerminated) *Cause {
	c.Code, c.Facts["restarts"] = CrashLoopBackOff, int(s.RestartCount)
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

// killed turns a crash into a failing probe if the newest event about an end of the container says that
// the kubelet ended it for that probe: the exit code then says nothing. It reports whether that is so.
func (cs *Causes) killed(o *corev1.Pod, s *corev1.ContainerStatus, last *corev1.ContainerStateTerminated,
	c *Cause) bool {
	e := cs.event(o, "Killing")
	if c.Code == OOMKilled || e == nil || last != nil && eventTime(e).Before(last.StartedAt.Time) {
		return false
	}
	for _, probe := range killingProbes {
		if !strings.Contains(messageOf(e), "Container "+s.Name+" failed "+strings.ToLower(probe)+" probe") {
			continue
		}
		delete(c.Facts, "exitCode")
		delete(c.Facts, "reason")
		c.Code, c.Facts["probe"] = ProbeFailing, strings.ToLower(probe)
		setMessage(c.Facts, messageOf(cmp.Or(cs.event(o, unhealthy+probe), e)))
		return true
	}
	return false
}

// killingProbes are those for which a kubelet ends a container.
var killingProbes = []string{"Startup", "Liveness"}

// containerWaits is the cause of a container that was never started.
func (cs *Causes) containerWaits(o *corev1.Pod, s *corev1.ContainerStatus, w *corev1.ContainerStateWaiting,
	c *Cause) *Cause {
	if w.Reason == "PodInitializing" && waitsForOthers(o, s.Name) {
		return nil
	}
	c.Facts["reason"] = w.Reason
	if strings.HasSuffix(w.Reason, "Error") {
		c.Code = ContainerConfig
		setMessage(c.Facts, w.Message)
		return c
	}
	if ev := cs.newestEvent(o, slices.Sorted(maps.Keys(kubeletEvents))...); ev != nil {
		if c.Code = kubeletEvents[ev.Reason]; c.Code == FailedCreatePodSandBox {
			cs.withoutNetwork(o.Spec.NodeName, c)
		}
		if !cs.stays(o, o.CreationTimestamp.Time, true) {
			c.Severity = SeverityInfo // often only that something else is not there yet; see late
		}
		setMessage(c.Facts, messageOf(ev))
		return c
	}
	if began := cs.pulling(o); began != nil {
		c.Code, c.Severity, c.Since, c.Facts["image"] = PullingImage, SeverityInfo, began, s.Image
		return c
	}
	if !cs.stays(o, o.CreationTimestamp.Time, false) {
		return cs.starting(o, o.CreationTimestamp.Time)
	}
	c.Code = ContainerCreating
	setMessage(c.Facts, w.Message)
	return c
}

// waitsForOthers reports whether a container waits for an init container. The first one waits for none: until
// the pod has a sandbox and its volumes, the kubelet calls that PodInitializing too.
func waitsForOthers(o *corev1.Pod, container string) bool {
	if len(o.Status.InitContainerStatuses) == 0 || initialized(o) {
		return false
	}
	i := slices.IndexFunc(o.Status.InitContainerStatuses, func(s corev1.ContainerStatus) bool {
		ended := s.State.Terminated != nil && s.State.Terminated.ExitCode == 0
		sidecar := s.Started != nil && *s.Started && isSidecar(o, s.Name)
		return !ended && !sidecar
	})
	return i < 0 || o.Status.InitContainerStatuses[i].Name != container
}

// withoutNetwork adds to the facts of a pod without a network whether that of its node is not set up,
// by the condition NetworkUnavailable.
func (cs *Causes) withoutNetwork(node string, c *Cause) {
	n := cs.st.Node(node)
	if n == nil || n.Object == nil {
		return
	}
	for _, condition := range n.Object.Status.Conditions {
		if condition.Type == corev1.NodeNetworkUnavailable && condition.Status == corev1.ConditionTrue {
			c.Facts["noRoutes"] = true
			if condition.Reason != "" {
				c.Facts["networkReason"] = condition.Reason
			}
		}
	}
}

// pulling returns since when a kubelet pulls an image of a pod, by its events; nil if it does not.
func (cs *Causes) pulling(o *corev1.Pod) *time.Time {
	pulling := cs.event(o, "Pulling")
	if last := cs.newestEvent(o, "Pulling", "Pulled", "Failed", "BackOff", "Killing"); pulling == nil ||
		last != pulling {
		return nil
	}
	return timeOf(eventTime(pulling))
}

// kubeletEvents say why a pod's containers are not created.
var kubeletEvents = map[string]daemonset.Reason{
	"FailedCreatePodSandBox": FailedCreatePodSandBox, "NetworkNotReady": FailedCreatePodSandBox,
	"FailedMount": FailedMount, "FailedAttachVolume": FailedMount,
}

// initRuns is the cause of a pod whose init container has not ended.
func (cs *Causes) initRuns(o *corev1.Pod, s *corev1.ContainerStatus, c *Cause) *Cause {
	started := s.State.Running.StartedAt.Time
	if isSidecar(o, s.Name) {
		c.Facts["sidecar"] = true
		return cs.runsUnready(o, s, c)
	}
	if !cs.stays(o, started, false) {
		return cs.starting(o, started)
	}
	c.Code, c.Since = InitRunning, timeOf(started)
	return c
}

func initialized(o *corev1.Pod) bool {
	c := condition(o, corev1.PodInitialized)
	return c != nil && c.Status == corev1.ConditionTrue
}

// runsUnready is the cause of a container that runs and is not ready: a probe
// that fails, if an event says so or it had the time to start.
func (cs *Causes) runsUnready(o *corev1.Pod, s *corev1.ContainerStatus, c *Cause) *Cause {
	if started := s.State.Running.StartedAt.Time; !started.IsZero() {
		c.Facts["startedAt"] = timeFact(started)
		if ev := cs.event(o, unhealthy); ev == nil && !cs.stays(o, started, false) {
			return cs.starting(o, started)
		}
	}
	c.Code, c.Facts["restarts"] = ProbeFailing, int(s.RestartCount)
	if last := s.LastTerminationState.Terminated; last != nil && cs.killed(o, s, last, c) {
		delete(c.Facts, "startedAt")
		return c
	}
	if s.RestartCount == 0 && !cs.stays(o, s.State.Running.StartedAt.Time, true) {
		c.Severity = SeverityInfo // probes often fail while a container starts; see late
	}
	if ev := cs.event(o, unhealthy); ev != nil {
		setMessage(c.Facts, messageOf(ev))
		for _, probe := range killingProbes {
			if strings.HasPrefix(messageOf(ev), probe+" probe") {
				c.Facts["probe"] = strings.ToLower(probe)
			}
		}
	}
	return c
}

// isSidecar reports whether an init container of a pod keeps running beside the others.
func isSidecar(o *corev1.Pod, name string) bool {
	return slices.ContainsFunc(o.Spec.InitContainers, func(c corev1.Container) bool {
		return c.Name == name && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	})
}

// A pod that is available keeps failing if a container of it restarted as often as this, the last
// time as lately as this.
const (
	fewestRestarts = 3
	latelyRestart  = 30 * time.Minute
)

// restarting returns that a pod which is available at the moment keeps failing: a container of it
// has restarted several times, and lately. Nil if none has.
func (cs *Causes) restarting(o *corev1.Pod) *Cause {
	var worst *Cause
	for _, statuses := range [][]corev1.ContainerStatus{o.Status.InitContainerStatuses, o.Status.ContainerStatuses} {
		for i := range statuses {
			s := &statuses[i]
			last := s.LastTerminationState.Terminated
			if int(s.RestartCount) < fewestRestarts || last == nil || last.FinishedAt.IsZero() ||
				cs.at.Sub(last.FinishedAt.Time) > latelyRestart {
				continue
			}
			f := daemonset.Facts{"container": s.Name, "init": false, "ready": true}
			c := crash(&Cause{Facts: f}, s, last)
			cs.memory(o, c)
			c.Severity, c.Since = SeverityWarning, timeOf(o.CreationTimestamp.Time)
			if worst == nil {
				worst = c
			}
		}
	}
	return worst
}

// memory adds to a cause whether the container that ran out of memory has a limit.
func (cs *Causes) memory(o *corev1.Pod, c *Cause) {
	if c.Code != OOMKilled {
		return
	}
	t := cs.templateOf(o)
	if t == nil {
		return
	}
	for _, list := range [][]corev1.Container{t.Spec.InitContainers, t.Spec.Containers} {
		if i := slices.IndexFunc(list,
			func(x corev1.Container) bool { return x.Name == c.Facts.Text("container") }); i >= 0 {
			limit, limited := list[i].Resources.Limits[corev1.ResourceMemory]
			if !limited && limitRanged(o, list[i].Name) {
				c.Facts["limitRange"] = true
				return
			}
			if !limited && changedMemory(o, &list[i]) {
				return
			}
			if c.Facts["limited"] = limited; limited {
				c.Facts["memoryLimit"] = limit.String()
			}
		}
	}
}

// limitRanged reports whether a container has its memory limit from a LimitRange. The annotation reads
// "LimitRanger plugin set: cpu, memory request for container a; memory limit for container a".
func limitRanged(o *corev1.Pod, container string) bool {
	_, all, _ := strings.Cut(o.Annotations[snapshot.LimitRanged], "set: ")
	return slices.ContainsFunc(strings.Split(all, "; "), func(set string) bool {
		resources, of, found := strings.Cut(set, " limit for ")
		return found && strings.HasSuffix(of, "container "+container) &&
			slices.Contains(strings.Split(resources, ", "), "memory")
	})
}

// changedMemory reports whether a pod requests other memory for a container than its template: then a
// LimitRange, or something else at its admission, may have set a limit too.
func changedMemory(o *corev1.Pod, of *corev1.Container) bool {
	for _, list := range [][]corev1.Container{o.Spec.InitContainers, o.Spec.Containers} {
		if i := slices.IndexFunc(list, func(c corev1.Container) bool { return c.Name == of.Name }); i >= 0 {
			is, asked := list[i].Resources.Requests[corev1.ResourceMemory], of.Resources.Requests[corev1.ResourceMemory]
			return is.Cmp(asked) != 0
		}
	}
	return false
}

// templateOf returns the template that a pod was created from; nil if it is not known.
func (cs *Causes) templateOf(o *corev1.Pod) *corev1.PodTemplateSpec {
	hash := o.Labels["controller-revision-hash"]
	for _, r := range cs.st.History.Revisions {
		if r.Hash == hash {
			return cs.st.TemplateOf(r.Name)
		}
	}
	return nil
}

// madeFrom returns the template that a pod was created from: that of the DaemonSet for one of the current revision.
func (cs *Causes) madeFrom(p *daemonset.Pod) *corev1.PodTemplateSpec {
	if p.Updated {
		return &cs.st.DaemonSet.Spec.Template
	}
	return cs.templateOf(p.Object)
}
