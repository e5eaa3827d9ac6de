package scheduler

import (
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/fit"
	"github.com/kubectl-ds/kubectl-ds/test/scheduler/wire"
)

// Coverage counts the features that the states of one version have.
type Coverage struct {
	states, tried int
	count         map[string]int
}

// features returns the features that states should have, in the order of the table.
func features() (out []string) {
	out = append(out, "fits")
	for _, r := range fit.Reasons {
		out = append(out, string(r))
	}
	for _, r := range []corev1.ResourceName{corev1.ResourcePods, corev1.ResourceCPU, corev1.ResourceMemory,
		corev1.ResourceEphemeralStorage, gpu, pages} {
		out = append(out, "too little: "+string(r))
	}
	out = append(out, "nothing allocatable", "unresolvable by its request")
	for _, o := range fit.Outcomes {
		if o != fit.NotNeeded {
			out = append(out, "preemption: "+string(o))
		}
	}
	out = append(out, "preemption: several victims", "preemption: a budget is violated",
		"preemption: a terminating victim",
		"preemption: higher priority goes, lower is spared", "preemption: uncertain", "preemption: the order mattered")
	for _, t := range traps {
		out = append(out, "decisive: "+t.name)
	}
	return out
}

// absent reports whether states of an older version cannot have a feature.
func absent(feature string, minor int) bool {
	switch feature {
	case "unresolvable by its request", "decisive: requests of the pod as a whole":
		return minor < 34
	case "decisive: ports of sidecars", "decisive: resize under way":
		return minor < 33
	case "decisive: gated nominated pods":
		return minor < 37
	}
	return false
}

func (c *Coverage) add(s *State, v *fit.Verdict, real *wire.Answer, version string) {
	if c.count == nil {
		c.count = map[string]int{}
	}
	c.states++
	has := func(feature string, is bool) {
		if is {
			c.count[feature]++
		}
	}
	has("fits", v.Fits)
	has(string(v.Reason), !v.Fits)
	for _, l := range v.Lacks {
		has("too little: "+string(l.Resource), true)
	}
	p := v.Preemption
	has("nothing allocatable", v.NoAllocatable)
	has("unresolvable by its request", v.Reason == fit.NodeResourcesFit && !v.Resolvable)
	has("preemption: "+string(p.Outcome), true)
	has("preemption: several victims", len(p.Victims) > 1)
	has("preemption: a budget is violated",
		slices.ContainsFunc(p.Victims, func(v fit.Victim) bool { return len(v.Violates) > 0 }))
	has("preemption: a terminating victim",
		slices.ContainsFunc(p.Victims, func(v fit.Victim) bool { return v.Terminating }))
	has("preemption: higher priority goes, lower is spared", passesOver(s, p))
	has("preemption: uncertain", p.Outcome == fit.Possible && !p.Certain)
	has("preemption: the order mattered", varies(real))
	const most = 3000 // states for which every trap is removed, one by one
	if c.states > most {
		return
	}
	c.tried++
	for _, t := range traps {
		other := s.copied()
		t.without(other)
		without := other.verdict(version)
		has("decisive: "+t.name, decision(v) != decision(&without))
	}
}

// passesOver reports whether a pod with a lower priority than a victim stays.
func passesOver(s *State, p fit.Preemption) bool {
	return slices.ContainsFunc(p.Victims, func(v fit.Victim) bool {
		return slices.ContainsFunc(s.Pods, func(pod corev1.Pod) bool {
			return pod.Spec.NodeName == theNode && pod.Status.Phase == corev1.PodRunning &&
				priorityOf(&pod) < v.Priority &&
				!slices.ContainsFunc(p.Victims, func(o fit.Victim) bool {
					return o.Namespace == pod.Namespace &&
						o.Name == pod.Name
				})
		})
	})
}

func priorityOf(p *corev1.Pod) int32 {
	if p.Spec.Priority == nil {
		return 0
	}
	return *p.Spec.Priority
}

func decision(v *fit.Verdict) string {
	return fmt.Sprint(v.Fits, v.Reason, v.Resolvable, v.Preemption.Outcome, v.Preemption.Victims)
}

// traps are parts of a state that can decide the verdict: without one, the verdict may differ.
var traps = []struct {
	name    string
	without func(*State)
}{
	{"nominated pods", dropping(func(p *corev1.Pod) bool { return nominated(p) })},
	{"gated nominated pods", dropping(func(p *corev1.Pod) bool {
		return nominated(p) &&
			len(p.Spec.SchedulingGates) > 0
	})},
	{"terminating nominated pods",
		dropping(func(p *corev1.Pod) bool { return nominated(p) && p.DeletionTimestamp != nil })},
	{"that nominated pods of lower priority do not count", each(func(p *corev1.Pod) {
		if nominated(p) {
			p.Spec.Priority = new(int32(math.MaxInt32))
		}
	})},
	{"that another scheduler's nominations do not count",
		each(func(p *corev1.Pod) { p.Spec.SchedulerName = corev1.DefaultSchedulerName })},
	{"terminating pods", dropping(func(p *corev1.Pod) bool { return !nominated(p) && p.DeletionTimestamp != nil })},
	{"that ended pods do not count", each(func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning })},
	{"victims that still terminate", each(func(p *corev1.Pod) { p.Status.Conditions = nil })},
	{"a policy of Never", func(s *State) { s.Pod.Spec.PreemptionPolicy = nil }},
	{"start times", each(func(p *corev1.Pod) { p.Status.StartTime = nil })},
	{"budgets", func(s *State) { s.PodDisruptionBudgets = nil }},
	{"that a budget with an empty selector protects nothing", func(s *State) {
		for i := range s.PodDisruptionBudgets {
			if b := &s.PodDisruptionBudgets[i]; b.Spec.Selector != nil &&
				len(b.Spec.Selector.MatchLabels)+len(b.Spec.Selector.MatchExpressions) == 0 {
				b.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "nobody", Operator: metav1.LabelSelectorOpDoesNotExist}}}
			}
		}
	}},
	{"that a pod without labels has no budget", each(func(p *corev1.Pod) {
		if len(p.Labels) == 0 {
			p.Labels = map[string]string{"some": "label"}
		}
	})},
	{"evictions that are counted already", func(s *State) {
		for i := range s.PodDisruptionBudgets {
			s.PodDisruptionBudgets[i].Status.DisruptedPods = nil
		}
	}},
	{"addresses of ports", each(func(p *corev1.Pod) { setPorts(p, func(c *corev1.ContainerPort) { c.HostIP = "" }) })},
	{"that :: is no wildcard", each(func(p *corev1.Pod) {
		setPorts(p, func(c *corev1.ContainerPort) {
			if c.HostIP == "::" {
				c.HostIP = ""
			}
		})
	})},
	{"that 0.0.0.0 is one", func(s *State) {
		each(func(p *corev1.Pod) {
			setPorts(p, func(c *corev1.ContainerPort) {
				if c.HostIP == "0.0.0.0" {
					c.HostIP = "10.0.0.9"
				}
			})
		})(s)
	}},
	{"protocols of ports", each(func(p *corev1.Pod) {
		setPorts(p,
			func(c *corev1.ContainerPort) { c.Protocol = "" })
	})},
	{"ports of sidecars", func(s *State) {
		for _, p := range append(pointersTo(s.Pods), s.Pod) {
			for i := range p.Spec.InitContainers {
				p.Spec.InitContainers[i].Ports = nil
			}
		}
	}},
	{"requests of init containers", each(func(p *corev1.Pod) { p.Spec.InitContainers = nil })},
	{"requests of sidecars", each(func(p *corev1.Pod) {
		for i := range p.Spec.InitContainers {
			p.Spec.InitContainers[i].RestartPolicy = nil
		}
	})},
	{"overhead", func(s *State) {
		for _, p := range append(pointersTo(s.Pods), s.Pod) {
			p.Spec.Overhead = nil
		}
	}},
	{"requests of the pod as a whole", func(s *State) {
		for _, p := range append(pointersTo(s.Pods), s.Pod) {
			p.Spec.Resources = nil
		}
	}},
	{"resize under way", each(func(p *corev1.Pod) { p.Status.ContainerStatuses = nil })},
	{"tolerations", func(s *State) { s.Pod.Spec.Tolerations = nil }},
	{"the bound node", func(s *State) { s.Pod.Spec.Affinity = bound(theNode) }},
	{"the node selector", func(s *State) { s.Pod.Spec.NodeSelector = nil }},
	{"volumes", func(s *State) { s.Pod.Spec.Volumes = nil }},
}

func nominated(p *corev1.Pod) bool { return p.Spec.NodeName == "" }

func pointersTo(pods []corev1.Pod) (out []*corev1.Pod) {
	for i := range pods {
		out = append(out, &pods[i])
	}
	return out
}

func dropping(which func(*corev1.Pod) bool) func(*State) {
	return func(s *State) { s.Pods = slices.DeleteFunc(s.Pods, func(p corev1.Pod) bool { return which(&p) }) }
}

func each(change func(*corev1.Pod)) func(*State) {
	return func(s *State) {
		for i := range s.Pods {
			change(&s.Pods[i])
		}
	}
}

func setPorts(p *corev1.Pod, change func(*corev1.ContainerPort)) {
	for _, all := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range all {
			for j := range all[i].Ports {
				change(&all[i].Ports[j])
			}
		}
	}
}

// String returns a table with the number of states that have each feature.
func (c *Coverage) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d states; what was decisive, of the first %d\n", c.states, c.tried)
	for _, f := range features() {
		fmt.Fprintf(&b, "%6d  %s\n", c.count[f], f)
	}
	return b.String()
}

// Missing returns the features that no state has.
func (c *Coverage) Missing(minor int) (out []string) {
	for _, f := range features() {
		if c.count[f] == 0 && !absent(f, minor) {
			out = append(out, f)
		}
	}
	return out
}
