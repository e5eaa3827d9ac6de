package fit

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// overLimit returns the first volume with which its driver would attach too
// many volumes, or nil. A volume that a pod of the node uses needs no
// attachment; one that is attached but not used counts in addition.
func (s *room) overLimit() *Volume {
	further := map[string][]string{} // handles to attach, by driver
	for i := range s.wanted.Volumes {
		v := &s.wanted.Volumes[i]
		d, limited := s.node.Drivers[v.Driver]
		if !limited || v.Handle == "" || slices.Contains(d.Used, v.Handle) {
			continue
		}
		if !slices.Contains(further[v.Driver], v.Handle) {
			further[v.Driver] = append(further[v.Driver], v.Handle)
		}
		if len(d.Used)+d.Attached+len(further[v.Driver]) > d.Limit {
			return v
		}
	}
	return nil
}

// volumesMatter reports whether the limit of a driver may reject the pod after
// other pods are removed: the limit is already exceeded, which rejects only
// volumes that no remaining pod uses.
func (s *room) volumesMatter() bool {
	return s.overLimit() != nil || slices.ContainsFunc(s.wanted.Volumes, func(v Volume) bool {
		d, limited := s.node.Drivers[v.Driver]
		return limited && v.Handle != "" && len(d.Used)+d.Attached > d.Limit
	})
}

// outOfReach returns the first volume that cannot be reached from the node, or
// nil.
func (s *room) outOfReach() *Volume {
	for i := range s.wanted.Volumes {
		v := &s.wanted.Volumes[i]
		if v.NodeAffinity == nil || v.NodeAffinity.Required == nil {
			continue
		}
		if ok, err := nodeaffinity.NewLazyErrorNodeSelector(v.NodeAffinity.Required).Match(s.node.Node); err != nil || !ok {
			return v
		}
	}
	return nil
}

// zoneLabels are the labels for the zone and region of volumes and nodes, each
// with the label that replaced it.
var zoneLabels = []struct{ name, now string }{
	{corev1.LabelFailureDomainBetaZone, corev1.LabelTopologyZone},
	{corev1.LabelFailureDomainBetaRegion, corev1.LabelTopologyRegion},
	{corev1.LabelTopologyZone, corev1.LabelTopologyZone}, {corev1.LabelTopologyRegion, corev1.LabelTopologyRegion},
}

// outOfZone returns the first volume whose labels name another zone or region
// than the node's, or nil. A node without such labels accepts all volumes.
func (s *room) outOfZone() *Volume {
	node := s.node.Node.Labels
	if !slices.ContainsFunc(zoneLabels,
		func(l struct{ name, now string }) bool { _, says := node[l.name]; return says }) {
		return nil
	}
	for i := range s.wanted.Volumes {
		for _, l := range zoneLabels {
			zones := strings.Split(s.wanted.Volumes[i].Zones[l.name], "__")
			at, says := node[l.name]
			if !says {
				at = node[l.now]
			}
			if !slices.Contains(zones, "") && !slices.Contains(zones, at) {
				return &s.wanted.Volumes[i]
			}
		}
	}
	return nil
}
