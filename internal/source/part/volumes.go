package part

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	corev1 "k8s.io/api/core/v1"
)

// VolumeReader reads the Volumes of a Snapshot with two functions that get an object by name.
type VolumeReader struct {
	snapshot.Volumes
	Gaps   []snapshot.Gap
	Claim  func(context.Context, string) (*corev1.PersistentVolumeClaim, []snapshot.Gap, error)
	Volume func(context.Context, string) (*corev1.PersistentVolume, []snapshot.Gap, error)
}

// Read reads the claims with these names and the volumes bound to them. It reads at most
// MaxReferred claims.
func (r *VolumeReader) Read(ctx context.Context, names []string) error {
	if len(names) > MaxReferred {
		r.Gaps = append(r.Gaps, snapshot.Gap{What: snapshot.PersistentVolumes, Why: snapshot.NotGiven,
			Message: fmt.Sprintf("the pods have %d claims, and at most %d are asked for", len(names), MaxReferred)})
		names = names[:MaxReferred]
	}
	rows, gaps := make([]*snapshot.ClaimRow, len(names)), make([][]snapshot.Gap, len(names))
	g, ctx := source.NewGroup(ctx)
	for i, name := range names {
		g.Go(func() error {
			claim, unread, err := r.Claim(ctx, name)
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
			volume, unread, err := r.Volume(ctx, bound)
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
		if r.Gaps = append(r.Gaps, gaps[i]...); row != nil {
			r.Claims = append(r.Claims, *row)
		}
	}
	return nil
}

// Attaches reports whether any of the volumes is attached by a CSI driver.
func (r *VolumeReader) Attaches() bool {
	return slices.ContainsFunc(r.Claims, func(c snapshot.ClaimRow) bool {
		return c.Volume != nil &&
			c.Volume.Driver != ""
	})
}

// SetNodes sets the nodes whose drivers are read.
func (r *VolumeReader) SetNodes(names []string) {
	r.Nodes = Few(names)
	r.AllNodes = r.Nodes == nil
}

// Add adds the drivers of a node, given the volumes attached to it.
func (r *VolumeReader) Add(rows []snapshot.DriverRow, attached []string) {
	for _, row := range rows {
		row.Attach(attached, r.Claims)
		r.Drivers = append(r.Drivers, row)
	}
}

// AttachedTo holds the CSI volumes in the status of a node.
type AttachedTo struct {
	Node    string
	Volumes []string
}

// ForNodes calls ask concurrently for each name and returns the results for which ask returns true.
func ForNodes[T any](ctx context.Context, names []string, ask func(context.Context, string) (T, bool, []snapshot.Gap,
	error)) (out []T, gaps []snapshot.Gap, err error) {
	all, kept, unread := make([]T, len(names)), make([]bool, len(names)), make([][]snapshot.Gap, len(names))
	g, ctx := source.NewGroup(ctx)
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

// Distinct returns names, sorted and without duplicates.
func Distinct(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return slices.Compact(names)
}

// RecordedVolumes returns s with the volumes recorded in from. What was not recorded becomes a Gap.
func RecordedVolumes(s, from *snapshot.Snapshot, claims, nodes []string) *snapshot.Snapshot {
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
	if v != nil && (&VolumeReader{Volumes: *v}).Attaches() &&
		(nodes == nil && !v.AllNodes || slices.ContainsFunc(nodes, func(n string) bool { return !v.Of(n) })) {
		lacks(snapshot.CSINodes, "the snapshot was recorded with those of some nodes only")
	}
	return s.Reaching(v, object.Ordered(gaps))
}
