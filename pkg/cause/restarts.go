package cause

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

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
