package snapshot

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// Volumes decide whether pods fit on nodes, and start there, because of their
// volumes. They are read for pods with PersistentVolumeClaims to decide whether
// these fit, and if volumes of pods cannot be attached or mounted.
type Volumes struct {
	// the requested claims in the DaemonSet's namespace that could be read, by
	// name
	Claims []ClaimRow `json:"claims"`

	AllNodes bool     `json:"allNodes"` // the CSI drivers of all nodes were read
	Nodes    []string `json:"nodes"`    // otherwise, the nodes whose drivers were read, sorted

	// drivers of these claims' volumes that limit how many volumes they attach
	// to a node; by node and name
	Drivers []DriverRow `json:"drivers"`
}

// ClaimRow is what the scheduler reads of a PersistentVolumeClaim.
type ClaimRow struct {
	Name   string `json:"name"`             // its name
	Exists bool   `json:"exists"`           // false: there is no such claim
	OnePod bool   `json:"onePod,omitempty"` // it has the access mode ReadWriteOncePod; otherwise absent

	// the access modes in its status or, until it is bound, those that it
	// requests; absent if unknown, and in older files
	AccessModes []corev1.PersistentVolumeAccessMode `json:"accessModes,omitempty"`

	// the PersistentVolume that it is bound to; null if it is not bound, or if
	// the volume could not be read or does not exist
	Volume *VolumeRow `json:"volume"`
}

// VolumeRow is what the scheduler reads of a PersistentVolume.
type VolumeRow struct {
	Name string `json:"name"` // its name

	// the nodes that can reach it; absent if all can
	NodeAffinity *corev1.VolumeNodeAffinity `json:"nodeAffinity,omitempty"`

	// its labels for zones and regions; absent if it has none
	Zones  map[string]string `json:"zones,omitempty"`
	Driver string            `json:"driver,omitempty"` // its CSI driver; absent if it has none
	Handle string            `json:"handle,omitempty"` // its name for the driver; absent if it has none
}

// DriverRow is a CSI driver on a node.
type DriverRow struct {
	Node  string `json:"node"`  // the node
	Name  string `json:"name"`  // the driver
	Limit int    `json:"limit"` // how many volumes it attaches, according to the CSINode

	// how many volumes it has there, according to `status.volumesAttached` and
	// `status.volumesInUse` of the node
	Attached int `json:"attached"`
	// the attached volumes that the claims are bound to, sorted; absent if none
	Handles []string `json:"handles,omitempty"`
}

// Of reports whether the CSI drivers of a node were read.
func (v *Volumes) Of(node string) bool {
	return v != nil && (v.AllNodes || slices.Contains(v.Nodes, node))
}

// Claim returns a claim, or nil if it was not read.
func (v *Volumes) Claim(name string) *ClaimRow {
	if v == nil {
		return nil
	}
	if i := slices.IndexFunc(v.Claims, func(c ClaimRow) bool { return c.Name == name }); i >= 0 {
		return &v.Claims[i]
	}
	return nil
}

// VolumeWhats are the parts that Volumes contains.
var VolumeWhats = []What{PersistentVolumes, CSINodes}

// Reaching returns a copy of the Snapshot with v as its Volumes, which may be
// nil. The gaps for VolumeWhats replace the existing ones.
func (s *Snapshot) Reaching(v *Volumes, gaps []Gap) *Snapshot {
	c := *s
	c.Volumes, c.Gaps = v, replaced(s.Gaps, VolumeWhats, gaps)
	return &c
}

// ClaimsOf returns the names of a pod's PersistentVolumeClaims, in the order of
// its volumes. Ephemeral claims are included only if the pod has a name.
func ClaimsOf(pod string, spec *corev1.PodSpec) (names []string) {
	for i := range spec.Volumes {
		switch v := &spec.Volumes[i]; {
		case v.PersistentVolumeClaim != nil:
			names = append(names, v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil && pod != "":
			names = append(names, pod+"-"+v.Name)
		}
	}
	return names
}

// bindCompleted is the annotation of a bound claim. Without it, the claim's
// volume may still change.
const bindCompleted = "pv.kubernetes.io/bind-completed"

// ClaimRowOf returns what the scheduler reads of a claim, without its volume,
// and the name of the volume, which is empty if the claim is not bound.
func ClaimRowOf(c *corev1.PersistentVolumeClaim) (row ClaimRow, volume string) {
	if _, bound := c.Annotations[bindCompleted]; bound {
		volume = c.Spec.VolumeName
	}
	row = ClaimRow{Name: c.Name, Exists: true, AccessModes: c.Status.AccessModes}
	row.OnePod = slices.Contains(c.Spec.AccessModes, corev1.ReadWriteOncePod)
	if len(row.AccessModes) == 0 {
		row.AccessModes = c.Spec.AccessModes
	}
	return row, volume
}

// zoneLabels are the labels of a PersistentVolume that the scheduler compares
// with those of a node.
var zoneLabels = []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion, corev1.LabelFailureDomainBetaZone,
	corev1.LabelFailureDomainBetaRegion}

// VolumeRowOf returns what the scheduler reads of a PersistentVolume.
func VolumeRowOf(v *corev1.PersistentVolume) *VolumeRow {
	row := &VolumeRow{Name: v.Name, NodeAffinity: v.Spec.NodeAffinity}
	for _, label := range zoneLabels {
		if value, has := v.Labels[label]; has {
			if row.Zones == nil {
				row.Zones = map[string]string{}
			}
			row.Zones[label] = value
		}
	}
	if csi := v.Spec.CSI; csi != nil {
		row.Driver, row.Handle = csi.Driver, csi.VolumeHandle
	}
	return row
}

// DriversOf returns the CSI drivers of a node that limit the volumes of these
// claims, by name, with no volumes attached: see Attach.
func DriversOf(n *storagev1.CSINode, claims []ClaimRow) (out []DriverRow) {
	for _, d := range n.Spec.Drivers {
		if d.Allocatable != nil && d.Allocatable.Count != nil && len(handlesOf(d.Name, claims)) > 0 {
			out = append(out, DriverRow{Node: n.Name, Name: d.Name, Limit: int(*d.Allocatable.Count)})
		}
	}
	slices.SortFunc(out, CompareDrivers)
	return out
}

// handlesOf returns the handles of the claims' volumes that belong to a driver.
func handlesOf(driver string, claims []ClaimRow) (handles []string) {
	for _, c := range claims {
		if v := c.Volume; v != nil && v.Driver == driver {
			handles = append(handles, v.Handle)
		}
	}
	return handles
}

// Attach counts the driver's volumes among the attached ones, which AttachedOf
// returns for its node.
func (d *DriverRow) Attach(attached []string, claims []ClaimRow) {
	handles := handlesOf(d.Name, claims)
	for _, name := range attached {
		handle, is := strings.CutPrefix(name, d.Name+"^")
		if !is {
			continue
		}
		d.Attached++
		if slices.Contains(handles, handle) {
			d.Handles = append(d.Handles, handle)
		}
	}
}

// CompareDrivers orders drivers by node and name.
func CompareDrivers(a, b DriverRow) int {
	if a.Node != b.Node {
		return strings.Compare(a.Node, b.Node)
	}
	return strings.Compare(a.Name, b.Name)
}

// AttachedOf returns the CSI volumes that the status of a node reports as
// attached or in use, as "driver^handle", sorted and without duplicates. The
// volumes of a pod that was just bound may be missing.
func AttachedOf(n *corev1.Node) (out []string) {
	add := func(name corev1.UniqueVolumeName) {
		if csi, is := strings.CutPrefix(string(name), "kubernetes.io/csi/"); is {
			out = append(out, csi)
		}
	}
	for _, v := range n.Status.VolumesAttached {
		add(v.Name)
	}
	for _, name := range n.Status.VolumesInUse {
		add(name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
