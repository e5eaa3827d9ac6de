package scheduler

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/fit"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// State is a pod to be scheduled, with the relevant part of its cluster.
type State struct {
	Pod                  *corev1.Pod                    `json:"pod"`
	Node                 *corev1.Node                   `json:"node"` // the only node
	Pods                 []corev1.Pod                   `json:"pods"`
	PodDisruptionBudgets []policyv1.PodDisruptionBudget `json:"podDisruptionBudgets"`
	Volumes              []corev1.PersistentVolume      `json:"volumes"`
	Claims               []corev1.PersistentVolumeClaim `json:"claims"`
	CSINodes             []storagev1.CSINode            `json:"csiNodes"`
}

// verdict returns the verdict of pkg/fit on the state.
func (s *State) verdict(version string) fit.Verdict {
	w := fit.Of(s.Pod).WithVolumes(&s.Pod.Spec, s.volumesOf(s.Pod))
	n := fit.Node{Node: s.Node, Drivers: s.drivers()}
	var labels []map[string]string
	for i := range s.Pods {
		if row, ok := snapshot.RowOf(&s.Pods[i]); ok && row.Node == s.Node.Name {
			n.Pods, labels = append(n.Pods, row), append(labels, s.Pods[i].Labels)
		}
	}
	n.Budgets = snapshot.BudgetsOf(n.Pods, labels, s.PodDisruptionBudgets)
	return fit.ProfileOf(version).On(&w, &n)
}

// volumesOf returns the bound claims of a pod, in the order of its volumes.
func (s *State) volumesOf(p *corev1.Pod) (out []fit.Volume) {
	for _, v := range p.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		c := slices.IndexFunc(s.Claims, func(c corev1.PersistentVolumeClaim) bool {
			return c.Namespace == p.Namespace && c.Name == v.PersistentVolumeClaim.ClaimName
		})
		if c < 0 {
			continue
		}
		if i := slices.IndexFunc(s.Volumes, func(pv corev1.PersistentVolume) bool { return pv.Name == s.Claims[c].Spec.VolumeName }); i >= 0 {
			pv := &s.Volumes[i]
			volume := fit.Volume{Claim: s.Claims[c].Name, NodeAffinity: pv.Spec.NodeAffinity, Zones: pv.Labels}
			if pv.Spec.CSI != nil {
				volume.Driver, volume.Handle = pv.Spec.CSI.Driver, pv.Spec.CSI.VolumeHandle
			}
			out = append(out, volume)
		}
	}
	return out
}

// drivers returns the limits and the attached volumes of the node's CSI drivers.
func (s *State) drivers() map[string]fit.Driver {
	out := map[string]fit.Driver{}
	for _, n := range s.CSINodes {
		for _, d := range n.Spec.Drivers {
			if n.Name == s.Node.Name && d.Allocatable != nil && d.Allocatable.Count != nil {
				out[d.Name] = fit.Driver{Limit: int(*d.Allocatable.Count)}
			}
		}
	}
	for i := range s.Pods {
		if p := &s.Pods[i]; p.Spec.NodeName == s.Node.Name && p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
			for _, v := range s.volumesOf(p) {
				if d, limited := out[v.Driver]; limited && !slices.Contains(d.Used, v.Handle) {
					d.Used = append(d.Used, v.Handle)
					out[v.Driver] = d
				}
			}
		}
	}
	return out
}

// words returns the sorted messages of the scheduler for a verdict. Some contain the taint.
func words(v *fit.Verdict, minor int) (out []string) {
	switch v.Reason {
	case fit.NodeUnschedulable:
		out = append(out, "node(s) were unschedulable")
	case fit.TaintToleration:
		out = append(out, "node(s) had untolerated taint(s)")
		if minor < 34 {
			out = []string{fmt.Sprintf("node(s) had untolerated taint {%s: %s}", v.Taint.Key, v.Taint.Value)}
		}
	case fit.NodeAffinity:
		out = append(out, "node(s) didn't match Pod's node affinity/selector")
	case fit.NodePorts:
		out = append(out, "node(s) didn't have free ports for the requested pod ports")
	case fit.NodeVolumeLimits:
		out = append(out, "node(s) exceed max volume count")
	case fit.VolumeBinding:
		out = append(out, "node(s) didn't match PersistentVolume's node affinity")
		if minor < 33 {
			out = []string{"node(s) had volume node affinity conflict"}
		}
	}
	if v.Reason == fit.VolumeZone {
		out = append(out, "node(s) had no available volume zone")
	}
	for _, l := range v.Lacks {
		if l.Resource == corev1.ResourcePods {
			out = append(out, "Too many pods")
		} else {
			out = append(out, "Insufficient "+string(l.Resource))
		}
	}
	slices.Sort(out)
	return out
}

func victims(p fit.Preemption) (names []string, violations int) {
	for _, v := range p.Victims {
		names = append(names, v.Namespace+"/"+v.Name)
		if len(v.Violates) > 0 {
			violations++
		}
	}
	slices.SortFunc(names, strings.Compare)
	return names, violations
}
