package plan

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/split"
)

// otherPlatforms returns warnings about eligible nodes whose operating system or architecture may differ from what the
// images are built for.
//
// Nodes with an available pod show what the images are built for. A node of another platform that has a pod of the
// template is not reported, because that pod shows whether it works. If no pod is available, nodes of several operating
// systems are reported. Images for several architectures are common, so several architectures are not. A template that
// names operating systems gets no warning about them. Nodes whose kubelet rejects the pod get none either.
func otherPlatforms(after *daemonset.State) (out []Warning) {
	if !after.NodesRead || !after.PodsRead || ignored(after.DaemonSet) {
		return nil
	}
	spec := &after.DaemonSet.Spec.Template.Spec
	for _, is := range []struct {
		kind  split.Kind
		code  daemonset.Reason
		named bool
	}{{split.OperatingSystem, OtherOperatingSystem, namesSystem(spec)},
		{split.Architecture, OtherArchitecture, false}} {
		if is.named {
			continue
		}
		works, without := platforms(after, is.kind)
		switch known := slices.Sorted(maps.Keys(works)); {
		case len(known) > 0:
			for _, other := range slices.Sorted(maps.Keys(without)) {
				if len(works[other]) == 0 {
					out = append(out, Warning{is.code, daemonset.Facts{"platform": other, "platforms": known,
						"onNodes": without[other]}})
				}
			}
		case is.kind == split.OperatingSystem && len(without) > 1:
			out = append(out, Warning{MixedOperatingSystems,
				daemonset.Facts{"platforms": slices.Sorted(maps.Keys(without)), "onNodes": without[rarest(without)]}})
		}
	}
	return out
}

// rarest returns the platform with the fewest nodes.
func rarest(nodes map[string][]string) (platform string) {
	for _, p := range slices.Sorted(maps.Keys(nodes)) {
		if platform == "" || len(nodes[p]) < len(nodes[platform]) {
			platform = p
		}
	}
	return platform
}

// platforms returns the eligible nodes by platform: those with an available pod, and those without a pod of the
// template.
func platforms(st *daemonset.State, k split.Kind) (works, without map[string][]string) {
	works, without = map[string][]string{}, map[string][]string{}
	for i := range st.Nodes {
		n := &st.Nodes[i]
		if n.Object == nil {
			continue
		}
		p := split.PropertyOf(n.Object, k)
		switch {
		case p == nil:
		case hasAvailable(n):
			works[p.Value] = append(works[p.Value], n.Name)
		case n.ShouldRun.OK && !slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool {
			return p.Updated &&
				!p.Terminating
		}):
			without[p.Value] = append(without[p.Value], n.Name)
		}
	}
	return works, without
}

// namesSystem reports whether a template specifies operating systems.
func namesSystem(spec *corev1.PodSpec) bool {
	if spec.OS != nil || spec.NodeSelector[corev1.LabelOSStable] != "" {
		return true
	}
	a := spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	terms := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	return len(terms) > 0 && !slices.ContainsFunc(terms, func(t corev1.NodeSelectorTerm) bool {
		return !slices.ContainsFunc(t.MatchExpressions,
			func(r corev1.NodeSelectorRequirement) bool { return r.Key == corev1.LabelOSStable })
	})
}
