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

// worstContainer returns the most severe cause among the pod's containers. Of equally severe causes, those of init
// containers come first, then those of the earliest stage, so that a container that is still starting does not hide one
// that crashes.
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

// containerCause returns what is wrong with a container, or nil if nothing is wrong or it only waits for other
// containers.
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
		last = nil // it has run longer than the kubelet's longest back-off, so it is not in a crash loop
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
		cs.addMemoryLimit(o, c)
		cs.blameProbe(o, s, last, c)
		return c
	case s.State.Running != nil && !s.Ready && !init:
		return cs.runsUnready(o, s, c)
	case s.State.Running != nil && init && (s.Started == nil || !*s.Started) && !initialized(o):
		return cs.initRuns(o, s, c)
	}
	return nil
}

// neverStarted are the reasons that containerd and Docker set for a container that they could not start.
var neverStarted = []string{"StartError", "ContainerCannotRun"}

// imagePulls are the reasons that the kubelet sets for a container whose image it cannot get.
var imagePulls = []string{
	"ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError",
	"RegistryUnavailable", "SignatureValidationFailed",
}

// pullFails returns why an image cannot be pulled: the message of the container status if it says more than that the
// kubelet backs off, otherwise the newest event of the pod about this image.
func (cs *Causes) pullFails(o *corev1.Pod, s *corev1.ContainerStatus, message string) string {
	e := cs.event(o, failedToPull)
	if !strings.HasPrefix(message, "Back-off pulling image") || strings.Contains(message, `": `) || e == nil ||
		!strings.Contains(e.Message, `"`+s.Image+`"`) {
		return message
	}
	return messageOf(e)
}

// crash turns c into the cause of a terminated container. last is nil if its termination is unknown.
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

// blameProbe turns a crash into a failing probe if the newest event about a termination of the container says that the
// kubelet killed it because of that probe. The exit code is then meaningless. It reports whether it changed the
// cause.
func (cs *Causes) blameProbe(o *corev1.Pod, s *corev1.ContainerStatus, last *corev1.ContainerStateTerminated,
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

// killingProbes are the probes for which the kubelet kills a container.
var killingProbes = []string{"Startup", "Liveness"}

// containerWaits returns the cause of a container that has never started.
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
			cs.addNetworkReason(o.Spec.NodeName, c)
		}
		if !cs.stays(o, o.CreationTimestamp.Time, true) {
			c.Severity = SeverityInfo // often only because another object does not exist yet; see late
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

// waitsForOthers reports whether a container waits for an init container. The first init container does not: until the
// pod has a sandbox and its volumes, the kubelet reports PodInitializing for it too.
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

// addNetworkReason adds a fact if the pod has no network because the network of its node is not set up, according to
// the condition NetworkUnavailable.
func (cs *Causes) addNetworkReason(node string, c *Cause) {
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

// pulling returns since when the kubelet has been pulling an image of a pod, according to its events, or nil if it is
// not pulling.
func (cs *Causes) pulling(o *corev1.Pod) *time.Time {
	pulling := cs.event(o, "Pulling")
	if last := cs.newestEvent(o, "Pulling", "Pulled", "Failed", "BackOff", "Killing"); pulling == nil ||
		last != pulling {
		return nil
	}
	return timeOf(eventTime(pulling))
}

// kubeletEvents are the reasons of events that explain why the containers of a pod are not created.
var kubeletEvents = map[string]daemonset.Reason{
	"FailedCreatePodSandBox": FailedCreatePodSandBox, "NetworkNotReady": FailedCreatePodSandBox,
	"FailedMount": FailedMount, "FailedAttachVolume": FailedMount,
}

// initRuns returns the cause of a pod whose init container has not finished.
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

// runsUnready returns the cause of a container that runs but is not ready: a failing probe if an event reports one or
// the container has had enough time to start.
func (cs *Causes) runsUnready(o *corev1.Pod, s *corev1.ContainerStatus, c *Cause) *Cause {
	if started := s.State.Running.StartedAt.Time; !started.IsZero() {
		c.Facts["startedAt"] = timeFact(started)
		if ev := cs.event(o, unhealthy); ev == nil && !cs.stays(o, started, false) {
			return cs.starting(o, started)
		}
	}
	c.Code, c.Facts["restarts"] = ProbeFailing, int(s.RestartCount)
	if last := s.LastTerminationState.Terminated; last != nil && cs.blameProbe(o, s, last, c) {
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

// isSidecar reports whether an init container of a pod is a sidecar, which keeps running beside the other containers.
func isSidecar(o *corev1.Pod, name string) bool {
	return slices.ContainsFunc(o.Spec.InitContainers, func(c corev1.Container) bool {
		return c.Name == name && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	})
}

// An available pod keeps failing if a container has restarted at least this often, the last time at most this long ago.
const (
	fewestRestarts = 3
	latelyRestart  = 30 * time.Minute
)

// restarting returns the cause of an available pod that keeps failing, because one of its containers has restarted
// several times, the last time recently. It returns nil if there is none.
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
			cs.addMemoryLimit(o, c)
			c.Severity, c.Since = SeverityWarning, timeOf(o.CreationTimestamp.Time)
			if worst == nil {
				worst = c
			}
		}
	}
	return worst
}

// addMemoryLimit adds to a cause whether the container that ran out of memory has a memory limit, and the limit.
func (cs *Causes) addMemoryLimit(o *corev1.Pod, c *Cause) {
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

// limitRanged reports whether a container has its memory limit from a LimitRange. The annotation has the form
// "LimitRanger plugin set: cpu, memory request for container a; memory limit for container a".
func limitRanged(o *corev1.Pod, container string) bool {
	_, all, _ := strings.Cut(o.Annotations[snapshot.LimitRanged], "set: ")
	return slices.ContainsFunc(strings.Split(all, "; "), func(set string) bool {
		resources, of, found := strings.Cut(set, " limit for ")
		return found && strings.HasSuffix(of, "container "+container) &&
			slices.Contains(strings.Split(resources, ", "), "memory")
	})
}

// changedMemory reports whether the memory request of a container in a pod differs from its template. Then a
// LimitRange, or another admission plugin, may have set a limit too.
func changedMemory(o *corev1.Pod, of *corev1.Container) bool {
	for _, list := range [][]corev1.Container{o.Spec.InitContainers, o.Spec.Containers} {
		if i := slices.IndexFunc(list, func(c corev1.Container) bool { return c.Name == of.Name }); i >= 0 {
			is, asked := list[i].Resources.Requests[corev1.ResourceMemory], of.Resources.Requests[corev1.ResourceMemory]
			return is.Cmp(asked) != 0
		}
	}
	return false
}

// templateOf returns the template that a pod was created from; nil if it is unknown.
func (cs *Causes) templateOf(o *corev1.Pod) *corev1.PodTemplateSpec {
	hash := o.Labels["controller-revision-hash"]
	for _, r := range cs.st.History.Revisions {
		if r.Hash == hash {
			return cs.st.TemplateOf(r.Name)
		}
	}
	return nil
}

// madeFrom returns the template that a pod was created from. For a pod of the current revision, that is the template of
// the DaemonSet.
func (cs *Causes) madeFrom(p *daemonset.Pod) *corev1.PodTemplateSpec {
	if p.Updated {
		return &cs.st.DaemonSet.Spec.Template
	}
	return cs.templateOf(p.Object)
}
