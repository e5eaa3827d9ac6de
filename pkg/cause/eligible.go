package cause

import (
	"encoding/json"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Values of the fact "changed" of NoEligibleNode.
const (
	ChangedTemplate = "Template"    // a change of the template, between two revisions that are kept
	ChangedOther    = "NotTemplate" // a node was eligible with no template that is kept: nodes have changed, or it never was otherwise
	ChangedUnknown  = "Unknown"     // the revisions could not be read
)

// NoneEligible returns that no node of the cluster should run the pod; nil
// where one should, where there is no node, where they could not be read, and
// where the controller leaves the DaemonSet alone.
//
// Facts: how many nodes there are, on how many of them what is under way deletes
// the pod, which lost names, and on how many a pod stays until the next rollout
// deletes it.
func NoneEligible(st *daemonset.State, lost []string) *Cause {
	if !st.NodesRead || st.Desired > 0 || st.DaemonSet.DeletionTimestamp != nil || daemonset.SelectsAll(st.DaemonSet) {
		return nil
	}
	nodes, staying := 0, 0
	for i := range st.Nodes {
		n := &st.Nodes[i]
		if !n.Exists {
			continue
		}
		nodes++
		if n.MayStay.OK && !slices.Contains(lost, n.Name) && slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool { return !p.Terminating }) {
			staying++
		}
	}
	if nodes == 0 {
		return nil
	}
	return &Cause{Code: NoEligibleNode, Severity: SeverityWarning, Facts: daemonset.Facts{"nodes": nodes, "losing": len(lost), "staying": staying}}
}

// NoneEligibleSince returns which change of the template made it so that no node is
// eligible, as facts beside those of NoneEligible, and when: it has the newest
// revision with whose template a node of today would be eligible, and the one after
// it. The time is nil if it is unknown.
func NoneEligibleSince(st *daemonset.State) (daemonset.Facts, *time.Time) {
	unknown := daemonset.Facts{"changed": ChangedUnknown}
	if st.Snapshot.Lacks(snapshot.Revisions) || !st.History.CurrentKnown() && !st.History.Cut {
		return unknown, nil
	}
	after := step{spec: &st.DaemonSet.Spec.Template.Spec, Revision: daemonset.Revision{Number: st.History.Number}}
	for _, r := range st.History.Revisions { // newest first
		if slices.Contains(st.History.Current, r.Name) {
			after.Revision = r
			continue
		}
		before := step{templateOf(st.Snapshot, r.Name), r}
		if before.spec == nil {
			return unknown, nil
		}
		if eligible := before.eligible(st); eligible > 0 {
			var since *time.Time
			if after.Created.After(r.Created) { // else it was made earlier, and a rollback made it current again
				since = timeOf(after.Created)
			}
			return daemonset.Facts{
				"changed": ChangedTemplate, "number": int(after.Number), "before": int(r.Number), "eligible": eligible, "fields": placementFields(before.spec, after.spec),
			}, since
		}
		after = before
	}
	return daemonset.Facts{"changed": ChangedOther}, nil
}

// step is one template in the course of revisions.
type step struct {
	spec *corev1.PodSpec
	daemonset.Revision
}

// eligible counts the nodes that should run a pod of the template.
func (t *step) eligible(st *daemonset.State) int {
	ds := &appsv1.DaemonSet{}
	ds.Spec.Template.Spec = *t.spec
	placement, count := daemonset.NewPlacement(ds, st.Profile).In(st.Snapshot.OpenShift), 0
	for i := range st.Nodes {
		if n := st.Nodes[i].Object; n != nil {
			if should, _ := placement.Decide(n); should.OK {
				count++
			}
		}
	}
	return count
}

// templateOf returns the pod's spec that a revision holds, nil if it cannot
// be read.
func templateOf(s *snapshot.Snapshot, revision string) *corev1.PodSpec {
	for i := range s.Revisions {
		if s.Revisions[i].Name != revision {
			continue
		}
		var data struct {
			Spec struct {
				Template *corev1.PodTemplateSpec `json:"template"`
			} `json:"spec"`
		}
		if json.Unmarshal(s.Revisions[i].Data.Raw, &data) != nil || data.Spec.Template == nil {
			return nil
		}
		return &data.Spec.Template.Spec
	}
	return nil
}

// placementFields names the fields of a pod's spec that decide on placement and
// differ.
func placementFields(a, b *corev1.PodSpec) []string {
	required := func(s *corev1.PodSpec) *corev1.NodeSelector {
		if s.Affinity == nil || s.Affinity.NodeAffinity == nil {
			return nil
		}
		return s.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	out := []string{}
	for _, f := range []struct {
		name  string
		equal bool
	}{
		{"nodeName", a.NodeName == b.NodeName},
		{"nodeSelector", equality.Semantic.DeepEqual(a.NodeSelector, b.NodeSelector)},
		{"affinity", equality.Semantic.DeepEqual(required(a), required(b))},
		{"tolerations", equality.Semantic.DeepEqual(a.Tolerations, b.Tolerations)},
		{"hostNetwork", a.HostNetwork == b.HostNetwork},
	} {
		if !f.equal {
			out = append(out, f.name)
		}
	}
	return out
}
