package scheduler

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// copied returns a deep copy of the state.
func (s *State) copied() *State {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	var out State
	if err := json.Unmarshal(raw, &out); err != nil {
		panic(err)
	}
	return &out
}

// Smallest returns a state for which differs returns true and from which nothing can be removed.
func Smallest(s *State, differs func(*State) bool) *State {
	for again := true; again; {
		again = false
		for i := 0; ; i++ {
			smaller := s.copied()
			if !smaller.without(i) {
				break
			}
			if differs(smaller) {
				s, again = smaller, true
				i--
			}
		}
	}
	return s
}

// without removes the part with the given number and reports whether it exists.
func (s *State) without(number int) bool {
	var parts []func()
	for i := range s.Pods {
		parts = append(parts, func() { s.Pods = slices.Delete(s.Pods, i, i+1) })
	}
	for i := range s.PodDisruptionBudgets {
		parts = append(parts, func() { s.PodDisruptionBudgets = slices.Delete(s.PodDisruptionBudgets, i, i+1) })
	}
	for i := range s.PodDisruptionBudgets {
		if b := &s.PodDisruptionBudgets[i]; b.Status.DisruptedPods != nil {
			parts = append(parts, func() { b.Status.DisruptedPods = nil })
		}
	}
	if len(s.Volumes) > 0 {
		parts = append(parts, func() { s.Volumes, s.Claims = s.Volumes[1:], s.Claims[1:] })
	}
	if len(s.CSINodes) > 0 {
		parts = append(parts, func() { s.CSINodes = nil })
	}
	if len(s.Node.Spec.Taints) > 0 {
		parts = append(parts, func() { s.Node.Spec.Taints = s.Node.Spec.Taints[1:] })
	}
	if s.Node.Spec.Unschedulable {
		parts = append(parts, func() { s.Node.Spec.Unschedulable = false })
	}
	if len(s.Pod.Spec.Tolerations) > 0 {
		parts = append(parts, func() { s.Pod.Spec.Tolerations = s.Pod.Spec.Tolerations[1:] })
	}
	parts = append(parts, partsOf(s.Pod)...)
	for i := range s.Pods {
		parts = append(parts, partsOf(&s.Pods[i])...)
	}
	if number >= len(parts) {
		return false
	}
	parts[number]()
	return true
}

func partsOf(p *corev1.Pod) (parts []func()) {
	add := func(there bool, leaveOut func()) {
		if there {
			parts = append(parts, leaveOut)
		}
	}
	add(p.Labels != nil, func() { p.Labels = nil })
	add(p.DeletionTimestamp != nil, func() { p.DeletionTimestamp, p.Finalizers = nil, nil })
	add(p.Spec.Priority != nil, func() { p.Spec.Priority = nil })
	add(len(p.Spec.InitContainers) > 0, func() { p.Spec.InitContainers = p.Spec.InitContainers[1:] })
	add(len(p.Spec.Containers) > 1, func() { p.Spec.Containers = p.Spec.Containers[:1] })
	add(p.Spec.Overhead != nil, func() { p.Spec.Overhead = nil })
	add(p.Spec.Resources != nil, func() { p.Spec.Resources = nil })
	add(p.Spec.Affinity != nil, func() { p.Spec.Affinity = nil })
	add(p.Spec.NodeSelector != nil, func() { p.Spec.NodeSelector = nil })
	add(len(p.Spec.SchedulingGates) > 0, func() { p.Spec.SchedulingGates = nil })
	add(p.Spec.PreemptionPolicy != nil, func() { p.Spec.PreemptionPolicy = nil })
	add(len(p.Spec.Volumes) > 0, func() { p.Spec.Volumes = p.Spec.Volumes[1:] })
	add(len(p.Status.Conditions) > 0, func() { p.Status.Conditions = nil })
	add(len(p.Status.ContainerStatuses) > 0, func() { p.Status.ContainerStatuses = nil })
	add(p.Status.StartTime != nil, func() { p.Status.StartTime = nil })
	for _, all := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range all {
			add(len(all[i].Ports) > 0, func() { all[i].Ports = all[i].Ports[1:] })
			for _, name := range slices.Sorted(maps.Keys(all[i].Resources.Requests)) {
				add(true, func() { delete(all[i].Resources.Requests, name) })
			}
		}
	}
	return parts
}

// String returns a readable description of the state.
func (s *State) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "node: %s, labels %v", amounts(s.Node.Status.Allocatable), s.Node.Labels)
	if s.Node.Spec.Unschedulable {
		b.WriteString(", unschedulable")
	}
	for _, t := range s.Node.Spec.Taints {
		fmt.Fprintf(&b, ", taint %s", t.ToString())
	}
	fmt.Fprintf(&b, "\nwanted: %s\n", podText(s.Pod))
	for i := range s.Pods {
		fmt.Fprintf(&b, "pod: %s\n", podText(&s.Pods[i]))
	}
	for _, p := range s.PodDisruptionBudgets {
		selector := "nothing"
		if p.Spec.Selector != nil {
			selector = metav1.FormatLabelSelector(p.Spec.Selector)
		}
		fmt.Fprintf(&b, "budget: %s/%s selects %s, allows %d, disrupted %v\n", p.Namespace, p.Name, selector, p.Status.DisruptionsAllowed, p.Status.DisruptedPods)
	}
	for _, v := range s.Volumes {
		fmt.Fprintf(&b, "volume: %s, labels %v", v.Name, v.Labels)
		if v.Spec.CSI != nil {
			fmt.Fprintf(&b, ", %s of %s", v.Spec.CSI.VolumeHandle, v.Spec.CSI.Driver)
		}
		if v.Spec.NodeAffinity != nil {
			fmt.Fprintf(&b, ", affinity %v", v.Spec.NodeAffinity.Required.NodeSelectorTerms)
		}
		b.WriteString("\n")
	}
	for _, n := range s.CSINodes {
		for _, d := range n.Spec.Drivers {
			fmt.Fprintf(&b, "driver: %s attaches %d\n", d.Name, *d.Allocatable.Count)
		}
	}
	return b.String()
}

func amounts(l corev1.ResourceList) string {
	if len(l) == 0 {
		return "nothing"
	}
	var out []string
	for name, q := range l {
		out = append(out, fmt.Sprintf("%s=%s", name, q.String()))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func podText(p *corev1.Pod) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%s, node %q, nominated %q, phase %s, labels %v", p.Namespace, p.Name, p.Spec.NodeName, p.Status.NominatedNodeName, p.Status.Phase, p.Labels)
	if p.Spec.Priority != nil {
		fmt.Fprintf(&b, ", priority %d", *p.Spec.Priority)
	}
	if p.Status.StartTime != nil {
		fmt.Fprintf(&b, ", started %s", p.Status.StartTime.UTC().Format("15:04:05"))
	}
	if p.DeletionTimestamp != nil {
		b.WriteString(", terminating")
	}
	for _, c := range p.Status.Conditions {
		fmt.Fprintf(&b, ", %s=%s (%s)", c.Type, c.Status, c.Reason)
	}
	for i, all := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for _, c := range all {
			fmt.Fprintf(&b, ", %s%s: %s", []string{"init ", ""}[i], c.Name, amounts(c.Resources.Requests))
			if c.RestartPolicy != nil {
				fmt.Fprintf(&b, " restarts %s", *c.RestartPolicy)
			}
			for _, port := range c.Ports {
				fmt.Fprintf(&b, " port %q:%d/%s", port.HostIP, port.HostPort, port.Protocol)
			}
		}
	}
	for _, c := range p.Status.ContainerStatuses {
		fmt.Fprintf(&b, ", %s allocated %s", c.Name, amounts(c.AllocatedResources))
		if c.Resources != nil {
			fmt.Fprintf(&b, " actual %s", amounts(c.Resources.Requests))
		}
	}
	if p.Spec.Overhead != nil {
		fmt.Fprintf(&b, ", overhead %s", amounts(p.Spec.Overhead))
	}
	if p.Spec.Resources != nil {
		fmt.Fprintf(&b, ", pod level %s", amounts(p.Spec.Resources.Requests))
	}
	if len(p.Spec.SchedulingGates) > 0 {
		b.WriteString(", gated")
	}
	if p.Spec.SchedulerName != corev1.DefaultSchedulerName {
		fmt.Fprintf(&b, ", scheduler %s", p.Spec.SchedulerName)
	}
	if p.Spec.PreemptionPolicy != nil {
		fmt.Fprintf(&b, ", preempts %s", *p.Spec.PreemptionPolicy)
	}
	for _, v := range p.Spec.Volumes {
		fmt.Fprintf(&b, ", volume %s", v.Name)
	}
	if p.Spec.Affinity != nil {
		fmt.Fprintf(&b, ", affinity %v", p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms)
	}
	if p.Spec.NodeSelector != nil {
		fmt.Fprintf(&b, ", selects %v", p.Spec.NodeSelector)
	}
	for _, t := range p.Spec.Tolerations {
		fmt.Fprintf(&b, ", tolerates %s %s %q:%s", t.Key, t.Operator, t.Value, t.Effect)
	}
	return b.String()
}
