package cause

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/fit"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// withVolumes returns w with the volumes of the pod, as far as they were read.
func (cs *Causes) withVolumes(w fit.Wanted, spec *corev1.PodSpec) fit.Wanted {
	var volumes []fit.Volume
	for _, name := range snapshot.ClaimsOf(w.Name, spec) {
		if c := cs.s.Volumes.Claim(name); c != nil && c.Volume != nil {
			v := c.Volume
			volumes = append(volumes, fit.Volume{Claim: name, Name: v.Name, OnePod: c.OnePod,
				NodeAffinity: v.NodeAffinity, Zones: v.Zones, Driver: v.Driver, Handle: v.Handle})
		}
	}
	return w.WithVolumes(spec, volumes)
}

// drivers returns the CSI drivers of a node that limit the number of attached volumes.
func (cs *Causes) drivers(node string) map[string]fit.Driver {
	if cs.s.Volumes == nil {
		return nil
	}
	out := map[string]fit.Driver{}
	for _, d := range cs.s.Volumes.Drivers {
		if d.Node == node {
			out[d.Name] = fit.Driver{Limit: d.Limit, Used: d.Handles, Attached: d.Attached - len(d.Handles)}
		}
	}
	return out
}

// VolumesUnread reports whether the volumes of the next pod could not be read completely, and may exclude a node.
func (cs *Causes) VolumesUnread() bool { return cs.volumesUnread(&cs.fits().wanted) }

func (cs *Causes) volumesUnread(w *fit.Wanted) bool {
	if slices.Contains(w.Unmodelled, fit.UnboundClaims) && cs.s.Lacks(snapshot.PersistentVolumes) {
		return true
	}
	attaches := slices.ContainsFunc(w.Volumes, func(v fit.Volume) bool { return v.Driver != "" })
	return attaches && cs.s.Lacks(snapshot.CSINodes)
}

// addVolume adds the volume that excludes a node, and the nodes from which it can be reached or the limit of its
// driver.
func (cs *Causes) addVolume(f daemonset.Facts, v *fit.Verdict, n *daemonset.Node) {
	f["claim"], f["persistentVolume"] = v.Volume.Claim, v.Volume.Name
	switch v.Reason {
	case fit.VolumeBinding:
		f["reachable"] = affinityString(v.Volume.NodeAffinity.Required)
	case fit.VolumeZone:
		f["reachable"] = zonesString(v.Volume.Zones)
	case fit.NodeVolumeLimits:
		d := cs.drivers(n.Name)[v.Volume.Driver]
		f["driver"], f["limit"], f["attached"] = v.Volume.Driver, d.Limit, len(d.Used)+d.Attached
	}
}

// affinityString returns the node affinity of a PersistentVolume in the format of selectors, such as
// "topology.kubernetes.io/zone=a", with "or" between terms.
func affinityString(s *corev1.NodeSelector) string {
	var terms []string
	for _, t := range s.NodeSelectorTerms {
		var all []string
		for _, r := range slices.Concat(t.MatchExpressions, t.MatchFields) {
			all = append(all, requirementString(r))
		}
		terms = append(terms, strings.Join(all, ","))
	}
	return strings.Join(terms, " or ")
}

func requirementString(r corev1.NodeSelectorRequirement) string {
	values := "(" + strings.Join(r.Values, ",") + ")"
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		if len(r.Values) == 1 {
			return r.Key + "=" + r.Values[0]
		}
		return r.Key + " in " + values
	case corev1.NodeSelectorOpNotIn:
		return r.Key + " notin " + values
	case corev1.NodeSelectorOpExists:
		return r.Key
	case corev1.NodeSelectorOpDoesNotExist:
		return "!" + r.Key
	}
	return r.Key + map[corev1.NodeSelectorOperator]string{corev1.NodeSelectorOpGt: ">",
		corev1.NodeSelectorOpLt: "<"}[r.Operator] + strings.Join(r.Values, ",")
}

// zonesString returns the zone labels of a PersistentVolume in the format of selectors.
func zonesString(zones map[string]string) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(zones)) {
		if names := strings.Split(zones[key], "__"); len(names) > 1 {
			all = append(all, key+" in ("+strings.Join(names, ",")+")")
		} else {
			all = append(all, key+"="+zones[key])
		}
	}
	return strings.Join(all, ",")
}
