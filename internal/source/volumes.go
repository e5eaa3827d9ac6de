package source

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// AddVolumes returns the Snapshot with its Volumes: the PersistentVolumeClaims of these
// names in the namespace of the DaemonSet, the PersistentVolumes that they are bound to,
// and how many volumes the nodes that are named, or all where nodes is nil, can attach.
//
// It asks for each claim and each volume by name, side by side, twenty claims at most.
// Only if one is a CSI volume it asks for the CSINodes: for up to ten nodes one by one,
// for more in one list. Where a driver has a limit, it asks for these nodes once more:
// what is attached to them is in their status, of which no Snapshot keeps it.
//
// What could not be read is a Gap of VolumeWhats.
func (c *Cluster) AddVolumes(ctx context.Context, s *snapshot.Snapshot, claims,
	nodes []string) (*snapshot.Snapshot, error) {
	ctx = silent(ctx)
	r := volumeReader{
		claim: func(ctx context.Context, name string) (*corev1.PersistentVolumeClaim, []snapshot.Gap, error) {
			return one(ctx, c, snapshot.PersistentVolumes, name,
				c.api.PersistentVolumeClaims(s.DaemonSet.Namespace).Get)
		},
		volume: func(ctx context.Context, name string) (*corev1.PersistentVolume, []snapshot.Gap, error) {
			return one(ctx, c, snapshot.PersistentVolumes, name, c.api.PersistentVolumes().Get)
		},
	}
	if err := r.read(ctx, distinct(claims)); err != nil {
		return nil, err
	}
	if r.attaches() {
		r.nodes(nodes)
		if err := c.drivers(ctx, &r); err != nil {
			return nil, err
		}
	}
	return s.Reaching(&r.Volumes, object.Ordered(r.gaps)), nil
}

// one reads the object of a name, which is nil where there is none.
func one[T any](ctx context.Context, c *Cluster, what snapshot.What, name string,
	get func(context.Context, string, metav1.GetOptions) (*T, error)) (*T, []snapshot.Gap, error) {
	found, gaps, err := byName(ctx, c, what, []string{name}, get, nil)
	if len(found) == 0 {
		return nil, gaps, err
	}
	return &found[0], gaps, err
}

// volumeReader reads Volumes by two calls.
type volumeReader struct {
	snapshot.Volumes
	gaps   []snapshot.Gap
	claim  func(context.Context, string) (*corev1.PersistentVolumeClaim, []snapshot.Gap, error)
	volume func(context.Context, string) (*corev1.PersistentVolume, []snapshot.Gap, error)
}

// read reads the claims of these names, and their volumes.
func (r *volumeReader) read(ctx context.Context, names []string) error {
	if len(names) > mostReferred {
		r.gaps = append(r.gaps, snapshot.Gap{What: snapshot.PersistentVolumes, Why: snapshot.NotGiven,
			Message: fmt.Sprintf("the pods have %d claims, and at most %d are asked for", len(names), mostReferred)})
		names = names[:mostReferred]
	}
	rows, gaps := make([]*snapshot.ClaimRow, len(names)), make([][]snapshot.Gap, len(names))
	g, ctx := newGroup(ctx)
	for i, name := range names {
		g.Go(func() error {
			claim, unread, err := r.claim(ctx, name)
			if gaps[i] = unread; err != nil || claim == nil {
				if len(unread) == 0 {
					rows[i] = &snapshot.ClaimRow{Name: name}
				}
				return err
			}
			row, bound := snapshot.ClaimRowOf(claim)
			rows[i] = &row
			if bound == "" {
				return nil
			}
			volume, unread, err := r.volume(ctx, bound)
			if gaps[i] = unread; volume != nil {
				row.Volume = snapshot.VolumeRowOf(volume)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i, row := range rows {
		if r.gaps = append(r.gaps, gaps[i]...); row != nil {
			r.Claims = append(r.Claims, *row)
		}
	}
	return nil
}

// attaches reports whether a volume is one that a CSI driver attaches.
func (r *volumeReader) attaches() bool {
	return slices.ContainsFunc(r.Claims, func(c snapshot.ClaimRow) bool {
		return c.Volume != nil &&
			c.Volume.Driver != ""
	})
}

// nodes notes of which nodes the drivers are read.
func (r *volumeReader) nodes(names []string) {
	r.Nodes = few(names)
	r.AllNodes = r.Nodes == nil
}

// add adds the drivers of a node.
func (r *volumeReader) add(rows []snapshot.DriverRow, attached []string) {
	for _, row := range rows {
		row.Attach(attached, r.Claims)
		r.Drivers = append(r.Drivers, row)
	}
}

// drivers reads the drivers of the reader's nodes that have a limit.
func (c *Cluster) drivers(ctx context.Context, r *volumeReader) error {
	limited, gaps, err := c.limited(ctx, r)
	if err != nil || len(limited) == 0 {
		r.gaps = append(r.gaps, gaps...)
		return err
	}
	attached, more, err := c.attached(ctx, r, limited)
	if r.gaps = append(r.gaps, append(gaps, more...)...); err != nil {
		return err
	}
	for _, rows := range limited {
		i, _ := slices.BinarySearchFunc(attached, rows[0].Node,
			func(n attachedTo, name string) int { return strings.Compare(n.node, name) })
		if i < len(attached) && attached[i].node == rows[0].Node {
			r.add(rows, attached[i].volumes)
		}
	}
	slices.SortFunc(r.Drivers, snapshot.CompareDrivers)
	return nil
}

// limited reads the drivers of each node that have a limit.
func (c *Cluster) limited(ctx context.Context, r *volumeReader) ([][]snapshot.DriverRow, []snapshot.Gap, error) {
	csi := c.api.CSINodes()
	if r.AllNodes {
		return listAs(ctx, c, snapshot.CSINodes, metav1.ListOptions{}, csi.List,
			func(n *storagev1.CSINode) ([]snapshot.DriverRow, bool) {
				rows := snapshot.DriversOf(n, r.Claims)
				return rows, len(rows) > 0
			}, func(rows *[]snapshot.DriverRow) string { return (*rows)[0].Node }, 0)
	}
	return ofNodes(ctx, r.Nodes, func(ctx context.Context, name string) ([]snapshot.DriverRow, bool,
		[]snapshot.Gap, error) {
		n, gaps, err := one(ctx, c, snapshot.CSINodes, name, csi.Get)
		if n == nil {
			return nil, false, gaps, err
		}
		rows := snapshot.DriversOf(n, r.Claims)
		return rows, len(rows) > 0, gaps, err
	})
}

// attachedTo are the CSI volumes that the status of a node reports.
type attachedTo struct {
	node    string
	volumes []string
}

// attached reads what is attached to the nodes whose drivers have a limit, by name.
func (c *Cluster) attached(ctx context.Context, r *volumeReader, limited [][]snapshot.DriverRow) (out []attachedTo,
	gaps []snapshot.Gap, err error) {
	var names []string
	for _, rows := range limited {
		names = append(names, rows[0].Node)
	}
	slices.Sort(names)
	if r.AllNodes {
		out, gaps, err = listAs(ctx, c, snapshot.CSINodes, metav1.ListOptions{}, c.api.Nodes().List,
			func(n *corev1.Node) (attachedTo, bool) {
				_, asked := slices.BinarySearch(names, n.Name)
				return attachedTo{n.Name, snapshot.AttachedOf(n)}, asked
			}, func(n *attachedTo) string { return n.node }, 0)
	} else {
		out, gaps, err = ofNodes(ctx, names, func(ctx context.Context, name string) (attachedTo, bool,
			[]snapshot.Gap, error) {
			n, err := c.api.Nodes().Get(ctx, name, metav1.GetOptions{})
			if err = about(name, n, err); err != nil {
				g, err := c.gap(ctx, snapshot.CSINodes, err)
				return attachedTo{}, false, []snapshot.Gap{g}, err
			}
			return attachedTo{name, snapshot.AttachedOf(n)}, true, nil, nil
		})
	}
	slices.SortFunc(out, func(a, b attachedTo) int { return strings.Compare(a.node, b.node) })
	return out, gaps, err
}

// ofNodes asks for something of each node, side by side, and returns what is kept of it.
func ofNodes[T any](ctx context.Context, names []string, ask func(context.Context, string) (T, bool, []snapshot.Gap,
	error)) (out []T, gaps []snapshot.Gap, err error) {
	all, kept, unread := make([]T, len(names)), make([]bool, len(names)), make([][]snapshot.Gap, len(names))
	g, ctx := newGroup(ctx)
	for i, name := range names {
		g.Go(func() (err error) {
			all[i], kept[i], unread[i], err = ask(ctx, name)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, nil, err
	}
	for i := range names {
		if gaps = append(gaps, unread[i]...); kept[i] {
			out = append(out, all[i])
		}
	}
	return out, gaps, nil
}

// distinct returns names, sorted, each once.
func distinct(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return slices.Compact(names)
}

// AddVolumes does what that of a Cluster does, of the objects that the input holds. Of a
// kind of which it has none, it does not say whether there are any: that is a Gap. So is
// what a recorded Snapshot does not have.
func (d *Dump) AddVolumes(ctx context.Context, s *snapshot.Snapshot, claims,
	nodes []string) (*snapshot.Snapshot, error) {
	if from := d.recorded(s); from != nil {
		return recordedVolumes(s, from, distinct(claims), few(nodes)), nil
	}
	kept, namespace := &d.admission, s.DaemonSet.Namespace
	r := volumeReader{
		claim: func(_ context.Context, name string) (*corev1.PersistentVolumeClaim, []snapshot.Gap, error) {
			return given(d, snapshot.PersistentVolumes, object.OfClaims, &kept.claims, namespace, name)
		},
		volume: func(_ context.Context, name string) (*corev1.PersistentVolume, []snapshot.Gap, error) {
			return given(d, snapshot.PersistentVolumes, object.OfVolumes, &kept.volumes, "", name)
		},
	}
	if err := r.read(ctx, distinct(claims)); err != nil {
		return nil, err
	}
	if r.attaches() {
		if r.nodes(nodes); d.lacking(snapshot.CSINodes, object.OfCSINodes) != nil {
			r.gaps = append(r.gaps, *d.lacking(snapshot.CSINodes, object.OfCSINodes))
		}
		for i := range kept.csiNodes.items {
			if n := &kept.csiNodes.items[i]; r.Of(n.Name) {
				r.add(snapshot.DriversOf(n, r.Claims), d.attached[n.Name])
			}
		}
		slices.SortFunc(r.Drivers, snapshot.CompareDrivers)
	}
	return s.Reaching(&r.Volumes, object.Ordered(r.gaps)), nil
}

// given returns an object of a dump, or nil if there is none, or why that is unknown.
func given[T any](d *Dump, what snapshot.What, kind metav1.TypeMeta, of *store[T], namespace, name string) (*T,
	[]snapshot.Gap, error) {
	if i, found := of.at[namespace+"/"+name]; found {
		return &of.items[i], nil, nil
	}
	if g := d.lacking(what, kind); g != nil {
		return nil, []snapshot.Gap{*g}, nil
	}
	if of.in[namespace] == 0 && len(of.items) > 0 { // they may be of other namespaces only
		return nil, []snapshot.Gap{{What: what, Why: snapshot.NotGiven, Message: "the input holds no " + kind.Kind +
			" of namespace " + namespace, Of: "namespace " + namespace}}, nil
	}
	return nil, nil, nil
}

// lacking returns why the input may lack objects of a kind of admissionTypes; nil if it
// has them.
func (d *Dump) lacking(what snapshot.What, kind metav1.TypeMeta) *snapshot.Gap {
	name := object.KindName(kind)
	partial, damaged := d.partial(name), d.admission.damaged[kind]
	switch {
	case partial != "":
		return &snapshot.Gap{What: what, Why: snapshot.Partial, Message: partial}
	case damaged != "":
		return &snapshot.Gap{What: what, Why: snapshot.Failed, Message: damaged}
	case d.kinds[name] == 0 && !d.lists[name]:
		return &snapshot.Gap{What: what, Why: snapshot.NotGiven, Message: "the input holds no " + kind.Kind}
	}
	return nil
}

// recordedVolumes returns a Snapshot with the volumes that were recorded.
func recordedVolumes(s, from *snapshot.Snapshot, claims, nodes []string) *snapshot.Snapshot {
	v, gaps := from.Volumes, slices.Clone(from.Gaps)
	lacks := func(what snapshot.What, message string) {
		if from.Gap(what) == nil {
			gaps = append(gaps, snapshot.Gap{What: what, Why: snapshot.NotGiven, Message: message})
		}
	}
	switch i := slices.IndexFunc(claims, func(name string) bool { return v.Claim(name) == nil }); {
	case v == nil || from.DaemonSet.Namespace != s.DaemonSet.Namespace:
		v = nil
		lacks(snapshot.PersistentVolumes, "the snapshot was recorded without them")
	case i >= 0:
		lacks(snapshot.PersistentVolumes, "the snapshot was recorded without PersistentVolumeClaim "+claims[i])
	}
	if v != nil && (&volumeReader{Volumes: *v}).attaches() &&
		(nodes == nil && !v.AllNodes || slices.ContainsFunc(nodes, func(n string) bool { return !v.Of(n) })) {
		lacks(snapshot.CSINodes, "the snapshot was recorded with those of some nodes only")
	}
	return s.Reaching(v, object.Ordered(gaps))
}
