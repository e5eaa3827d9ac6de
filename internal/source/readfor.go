package source

import (
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// ReadFor takes the Snapshot of a DaemonSet that the cluster does not have:
// the one given, with the nodes, and with the pods and revisions that its
// selector already matches.
func (c *Cluster) ReadFor(ctx context.Context, ds *appsv1.DaemonSet) (*snapshot.Snapshot, error) {
	ctx = silent(ctx)
	r, err := relate(ds)
	if err != nil {
		return nil, err
	}
	version, err := c.version(ctx)
	if err != nil {
		return nil, err
	}
	p, err := c.parts(ctx, r, nil)
	if err != nil {
		return nil, err
	}
	dated, at := withSlot[date](ctx)
	if _, err := c.apps.DaemonSets(ds.Namespace).Get(dated, ds.Name, metav1.GetOptions{}); err != nil && ctx.Err() != nil { // asked for the time alone
		return nil, ctx.Err()
	}
	return c.assemble(ds, p, version, at.Time, nil)
}

// ReadFor returns the Snapshot of a DaemonSet that the input does not hold: the
// one given, with the nodes, and with the pods and revisions that its selector
// matches. That there are none is no gap. Where the input is recorded
// Snapshots, the nodes are those of the one that was taken last.
func (d *Dump) ReadFor(_ context.Context, ds *appsv1.DaemonSet) (*snapshot.Snapshot, error) {
	rel, err := relate(ds)
	if err != nil {
		return nil, err
	}
	s := d.assemble(rel)
	if last := d.last(); last != nil && len(s.Nodes) == 0 {
		s.Nodes, s.TakenAt, s.KubernetesVersion, s.VersionSource, s.Gaps = last.Nodes, last.TakenAt, last.KubernetesVersion, last.VersionSource, slices.Clone(last.Gaps)
	}
	s.Gaps = ordered(slices.DeleteFunc(s.Gaps, func(g snapshot.Gap) bool {
		return g.Why != snapshot.Partial && slices.Contains([]snapshot.What{snapshot.Pods, snapshot.Revisions, snapshot.Events}, g.What)
	}))
	order(s)
	return s, snapshot.Validate(s)
}

// last returns the recorded Snapshot that was taken last; nil if there is none.
func (d *Dump) last() *snapshot.Snapshot {
	var last *snapshot.Snapshot
	for _, r := range d.refs() {
		if s := d.snapshots[r]; s != nil && (last == nil || s.TakenAt.After(last.TakenAt)) {
			last = s
		}
	}
	return last
}
