package plan

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/split"
)

// otherPlatforms returns the warnings about eligible nodes whose operating system or
// architecture may not be the one that the images are built for.
//
// Where pods are available, their nodes show what the images are built for; a node of
// another operating system or architecture that has a pod of the template is left to
// what that pod shows. Where none is, several operating systems are too many. Images
// for several architectures are common, those for several operating systems are not: of
// a template that names operating systems nothing is said, as its author knows. What
// a kubelet rejects is no warning.
func otherPlatforms(after *daemonset.State) (out []Warning) {
	if !after.NodesRead || !after.PodsRead || leftAlone(after.DaemonSet) {
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

// rarest returns the platform that the fewest nodes have.
func rarest(nodes map[string][]string) (platform string) {
	for _, p := range slices.Sorted(maps.Keys(nodes)) {
		if platform == "" || len(nodes[p]) < len(nodes[platform]) {
			platform = p
		}
	}
	return platform
}

// platforms returns the names of the eligible nodes by their platform: those with an
// available pod, and those without a pod of the template.
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

// namesSystem reports whether a template says for which operating systems it is.
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
