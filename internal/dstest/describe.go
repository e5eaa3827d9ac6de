package dstest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Describe returns a Snapshot as text for the output of failing tests: the strategy, the placement,
// and a line for each revision, node and pod. The text cannot be parsed.
func Describe(s *snapshot.Snapshot) string {
	var b strings.Builder
	ds := s.DaemonSet
	fmt.Fprintf(&b, "%s, %s\ndaemonset", s.KubernetesVersion, s.TakenAt.Format(time.RFC3339Nano))
	fmt.Fprintf(&b, " generation %d/%d annotations %v selector %s", ds.Generation, ds.Status.ObservedGeneration, ds.Annotations, metav1.FormatLabelSelector(ds.Spec.Selector))
	if ds.DeletionTimestamp != nil {
		b.WriteString(" terminating")
	}
	fmt.Fprintf(&b, "\n  strategy %s", ds.Spec.UpdateStrategy.Type)
	if ru := ds.Spec.UpdateStrategy.RollingUpdate; ru != nil {
		fmt.Fprintf(&b, " maxUnavailable %v maxSurge %v", ru.MaxUnavailable, ru.MaxSurge)
	}
	fmt.Fprintf(&b, " minReadySeconds %d", ds.Spec.MinReadySeconds)
	if l := ds.Spec.RevisionHistoryLimit; l != nil {
		fmt.Fprintf(&b, " revisionHistoryLimit %d", *l)
	}
	spec := ds.Spec.Template.Spec
	fmt.Fprintf(&b, "\n  nodeName %q nodeSelector %v hostNetwork %t tolerations %v\n", spec.NodeName, spec.NodeSelector, spec.HostNetwork, spec.Tolerations)
	fmt.Fprintf(&b, "  %s\n", describeAffinity(spec.Affinity))
	for _, r := range s.Revisions {
		fmt.Fprintf(&b, "revision %s number %d labels %v %s%s data %.300s\n", r.Name, r.Revision, r.Labels, describeOwner(&r), describeDeletion(&r), r.Data.Raw)
	}
	for _, n := range s.Nodes {
		fmt.Fprintf(&b, "node %s labels %v taints", n.Name, n.Labels)
		for _, t := range n.Spec.Taints {
			fmt.Fprintf(&b, " %s=%s:%s", t.Key, t.Value, t.Effect)
		}
		b.WriteByte('\n')
	}
	pods := slices.Clone(s.Pods)
	slices.SortFunc(pods, func(x, y corev1.Pod) int {
		return strings.Compare(x.Spec.NodeName+"/"+x.Name, y.Spec.NodeName+"/"+y.Name)
	})
	for _, p := range pods {
		node := "on " + p.Spec.NodeName
		if p.Spec.NodeName == "" {
			node = "not bound, " + describeAffinity(p.Spec.Affinity)
		}
		fmt.Fprintf(&b, "pod %s %s %s labels %v created %s %s%s", p.Name, node, p.Status.Phase, p.Labels, ageOf(s, p.CreationTimestamp), describeOwner(&p), describeDeletion(&p))
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodReady {
				fmt.Fprintf(&b, " ready %s since %s", c.Status, ageOf(s, c.LastTransitionTime))
			}
		}
		b.WriteByte('\n')
	}
	const most = 100
	if lines := strings.SplitAfter(b.String(), "\n"); len(lines) > most {
		return strings.Join(lines[:most], "") + fmt.Sprintf("… %d lines more\n", len(lines)-most)
	}
	return b.String()
}

func ageOf(s *snapshot.Snapshot, t metav1.Time) string {
	if t.IsZero() {
		return "never"
	}
	return s.TakenAt.Sub(t.Time).String() + " ago"
}

func describeOwner(o metav1.Object) string {
	ref := metav1.GetControllerOf(o)
	switch {
	case ref == nil:
		return "orphan"
	case ref.UID == uid:
		return "owned"
	}
	return "of " + ref.Kind + " " + string(ref.UID)
}

func describeDeletion(o metav1.Object) string {
	if o.GetDeletionTimestamp() == nil {
		return ""
	}
	return fmt.Sprintf(" terminating %v", o.GetFinalizers())
}

func describeAffinity(a *corev1.Affinity) string {
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return "no required affinity"
	}
	var terms []string
	for _, t := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		var parts []string
		for _, e := range t.MatchExpressions {
			parts = append(parts, fmt.Sprintf("%s %s %q", e.Key, e.Operator, e.Values))
		}
		for _, e := range t.MatchFields {
			parts = append(parts, fmt.Sprintf("field %s %s %q", e.Key, e.Operator, e.Values))
		}
		terms = append(terms, "("+strings.Join(parts, " and ")+")")
	}
	return "affinity " + strings.Join(terms, " or ")
}
