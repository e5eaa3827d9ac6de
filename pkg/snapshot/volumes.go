package snapshot

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// Volumes are what decides by the volumes of pods whether these fit on nodes, and start
// there. They are read only for a question about fit, of pods that name
// PersistentVolumeClaims, and where volumes of pods cannot be attached or mounted.
type Volumes struct {
	// the claims in the namespace of the DaemonSet that were asked for and could be read, by name
	Claims []ClaimRow `json:"claims"`

	AllNodes bool     `json:"allNodes"` // the CSI drivers of all nodes were read
	Nodes    []string `json:"nodes"`    // otherwise, the nodes whose drivers were read, sorted

	// those that limit how many volumes they attach to a node, of the volumes of these claims; by node and name
	Drivers []DriverRow `json:"drivers"`
}

// ClaimRow is what the scheduler asks of a PersistentVolumeClaim.
type ClaimRow struct {
	Name   string `json:"name"`             // its name
	Exists bool   `json:"exists"`           // false: there is no such claim
	OnePod bool   `json:"onePod,omitempty"` // it has the access mode ReadWriteOncePod; absent if not

	// how nodes can have it, by its status, or what it asks for until it is bound; absent if nothing says so, and in
	// older files
	AccessModes []corev1.PersistentVolumeAccessMode `json:"accessModes,omitempty"`

	// the PersistentVolume that it is bound to; null if it is bound to none, and if that could not be
	// read or does not exist
	Volume *VolumeRow `json:"volume"`
}

// VolumeRow is what the scheduler asks of a PersistentVolume.
type VolumeRow struct {
	Name string `json:"name"` // its name

	// from which nodes it can be reached; absent: from all
	NodeAffinity *corev1.VolumeNodeAffinity `json:"nodeAffinity,omitempty"`

	// those of its labels that name zones and regions; absent if none does
	Zones  map[string]string `json:"zones,omitempty"`
	Driver string            `json:"driver,omitempty"` // its CSI driver; absent if it has none
	Handle string            `json:"handle,omitempty"` // its name for the driver; absent if it has none
}

// DriverRow is a CSI driver on a node.
type DriverRow struct {
	Node  string `json:"node"`  // the node
	Name  string `json:"name"`  // the driver
	Limit int    `json:"limit"` // how many volumes it attaches, by the CSINode

	// how many volumes it has there, by `status.volumesAttached` and `status.volumesInUse` of the node
	Attached int      `json:"attached"`
	Handles  []string `json:"handles,omitempty"` // those of them that the claims are bound to, sorted; absent if none
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

// VolumeWhats are the parts that Volumes hold.
var VolumeWhats = []What{PersistentVolumes, CSINodes}

// Reaching returns a copy of the Snapshot with these Volumes or, where they are nil,
// without any, and with the gaps of VolumeWhats that are among these.
func (s *Snapshot) Reaching(v *Volumes, gaps []Gap) *Snapshot {
	c := *s
	c.Volumes, c.Gaps = v, replaced(s.Gaps, VolumeWhats, gaps)
	return &c
}

// ClaimsOf returns the names of the PersistentVolumeClaims that a pod has, in the order
// of its volumes. Those that are made for the pod alone are among them only where it has
// a name.
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

// bindCompleted is the annotation of a claim that is bound: until then its volume may
// be another.
const bindCompleted = "pv.kubernetes.io/bind-completed"

// ClaimRowOf returns what the scheduler asks of a claim, without its volume, and the
// name of that; empty if it is not bound.
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

// zoneLabels are those of a PersistentVolume that the scheduler compares with a node's.
var zoneLabels = []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion, corev1.LabelFailureDomainBetaZone,
	corev1.LabelFailureDomainBetaRegion}

// VolumeRowOf returns what the scheduler asks of a PersistentVolume.
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

// DriversOf returns the CSI drivers of a node that limit the volumes of these claims, by
// name, as if no volume was attached: see Attach.
func DriversOf(n *storagev1.CSINode, claims []ClaimRow) (out []DriverRow) {
	for _, d := range n.Spec.Drivers {
		if d.Allocatable != nil && d.Allocatable.Count != nil && len(handlesOf(d.Name, claims)) > 0 {
			out = append(out, DriverRow{Node: n.Name, Name: d.Name, Limit: int(*d.Allocatable.Count)})
		}
	}
	slices.SortFunc(out, CompareDrivers)
	return out
}

// handlesOf returns the volumes of the claims that a driver attaches.
func handlesOf(driver string, claims []ClaimRow) (handles []string) {
	for _, c := range claims {
		if v := c.Volume; v != nil && v.Driver == driver {
			handles = append(handles, v.Handle)
		}
	}
	return handles
}

// Attach counts the volumes of a driver among those that the status of its node reports,
// as AttachedOf returns them.
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

// AttachedOf returns the CSI volumes that the status of a node reports as attached or in
// use, as `driver^handle`, sorted, each once. One of a pod that was placed a moment ago
// is not among them.
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
