package cluster

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/source/api"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/internal/source/part"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// AddVolumes returns the Snapshot with its Volumes: the PersistentVolumeClaims with these names in
// the DaemonSet's namespace, the PersistentVolumes bound to them, and how many volumes the given
// nodes, or all nodes if nodes is nil, can attach.
//
// It gets each claim and each volume by name, concurrently, and at most 20 claims. If one of them
// is a CSI volume, it reads the CSINodes: by name for up to ten nodes, else with one list. If a
// driver has a limit, it reads these nodes again, because only their status lists the attached
// volumes and Snapshots do not contain it.
//
// What cannot be read is a Gap for one of VolumeWhats.
func (c *Cluster) AddVolumes(ctx context.Context, s *snapshot.Snapshot, claims,
	nodes []string) (*snapshot.Snapshot, error) {
	ctx = withoutLogs(ctx)
	r := part.VolumeReader{
		Claim: func(ctx context.Context, name string) (*corev1.PersistentVolumeClaim, []snapshot.Gap, error) {
			return one(ctx, c, snapshot.PersistentVolumes, name,
				api.Of[corev1.PersistentVolumeClaim](c.Clients, s.DaemonSet.Namespace).Get)
		},
		Volume: func(ctx context.Context, name string) (*corev1.PersistentVolume, []snapshot.Gap, error) {
			return one(ctx, c, snapshot.PersistentVolumes, name, api.Of[corev1.PersistentVolume](c.Clients, "").Get)
		},
	}
	if err := r.Read(ctx, part.Distinct(claims)); err != nil {
		return nil, err
	}
	if r.Attaches() {
		r.SetNodes(nodes)
		if err := c.drivers(ctx, &r); err != nil {
			return nil, err
		}
	}
	return s.Reaching(&r.Volumes, object.Ordered(r.Gaps)), nil
}

// one returns the object with a name, or nil if it does not exist.
func one[T any](ctx context.Context, c *Cluster, what snapshot.What, name string,
	get func(context.Context, string, metav1.GetOptions) (*T, error)) (*T, []snapshot.Gap, error) {
	found, gaps, err := byName(ctx, c, what, []string{name}, get, nil)
	if len(found) == 0 {
		return nil, gaps, err
	}
	return &found[0], gaps, err
}

// drivers adds the drivers that have a limit, of the reader's nodes.
func (c *Cluster) drivers(ctx context.Context, r *part.VolumeReader) error {
	limited, gaps, err := c.limited(ctx, r)
	if err != nil || len(limited) == 0 {
		r.Gaps = append(r.Gaps, gaps...)
		return err
	}
	attached, more, err := c.attached(ctx, r, limited)
	if r.Gaps = append(r.Gaps, append(gaps, more...)...); err != nil {
		return err
	}
	for _, rows := range limited {
		i, _ := slices.BinarySearchFunc(attached, rows[0].Node,
			func(n part.AttachedTo, name string) int { return strings.Compare(n.Node, name) })
		if i < len(attached) && attached[i].Node == rows[0].Node {
			r.Add(rows, attached[i].Volumes)
		}
	}
	slices.SortFunc(r.Drivers, snapshot.CompareDrivers)
	return nil
}

// limited returns, for each node, its drivers that have a limit.
func (c *Cluster) limited(ctx context.Context, r *part.VolumeReader) ([][]snapshot.DriverRow, []snapshot.Gap, error) {
	csi := api.Of[storagev1.CSINode](c.Clients, "")
	if r.AllNodes {
		return listAs(ctx, c, snapshot.CSINodes, metav1.ListOptions{}, csi.List,
			func(n *storagev1.CSINode) ([]snapshot.DriverRow, bool) {
				rows := snapshot.DriversOf(n, r.Claims)
				return rows, len(rows) > 0
			}, func(rows *[]snapshot.DriverRow) string { return (*rows)[0].Node }, 0)
	}
	return part.ForNodes(ctx, r.Nodes, func(ctx context.Context, name string) ([]snapshot.DriverRow, bool,
		[]snapshot.Gap, error) {
		n, gaps, err := one(ctx, c, snapshot.CSINodes, name, csi.Get)
		if n == nil {
			return nil, false, gaps, err
		}
		rows := snapshot.DriversOf(n, r.Claims)
		return rows, len(rows) > 0, gaps, err
	})
}

// attached returns the volumes attached to the nodes in limited, sorted by node.
func (c *Cluster) attached(ctx context.Context, r *part.VolumeReader,
	limited [][]snapshot.DriverRow) (out []part.AttachedTo,
	gaps []snapshot.Gap, err error) {
	var names []string
	for _, rows := range limited {
		names = append(names, rows[0].Node)
	}
	slices.Sort(names)
	if r.AllNodes {
		out, gaps, err = listAs(ctx, c, snapshot.CSINodes, metav1.ListOptions{},
			api.Of[corev1.Node](c.Clients, "").List,
			func(n *corev1.Node) (part.AttachedTo, bool) {
				_, asked := slices.BinarySearch(names, n.Name)
				return part.AttachedTo{Node: n.Name, Volumes: snapshot.AttachedOf(n)}, asked
			}, func(n *part.AttachedTo) string { return n.Node }, 0)
	} else {
		out, gaps, err = part.ForNodes(ctx, names, func(ctx context.Context, name string) (part.AttachedTo, bool,
			[]snapshot.Gap, error) {
			n, err := api.Of[corev1.Node](c.Clients, "").Get(ctx, name, metav1.GetOptions{})
			if err = api.About(name, n, err); err != nil {
				g, err := c.gap(ctx, snapshot.CSINodes, err)
				return part.AttachedTo{}, false, []snapshot.Gap{g}, err
			}
			return part.AttachedTo{Node: name, Volumes: snapshot.AttachedOf(n)}, true, nil, nil
		})
	}
	slices.SortFunc(out, func(a, b part.AttachedTo) int { return strings.Compare(a.Node, b.Node) })
	return out, gaps, err
}
