package dump

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/part"
	appsv1 "k8s.io/api/apps/v1"
)

// DaemonSets returns the DaemonSets of a namespace, or of all namespaces if it is empty, sorted by
// namespace and name.
func (d *Dump) DaemonSets(_ context.Context, namespace string) ([]appsv1.DaemonSet, error) {
	var all []appsv1.DaemonSet
	for _, r := range d.Refs() {
		if namespace != "" && r.Namespace != namespace {
			continue
		}
		if s := d.snapshots[r]; s != nil {
			all = append(all, *s.DaemonSet)
			continue
		}
		all = append(all, d.daemonSets.Items[d.daemonSets.index[r.Namespace+"/"+r.Name]])
	}
	return all, nil
}

// Nodes returns the names and labels of all nodes, sorted by name.
func (d *Dump) Nodes(context.Context) ([]part.Labeled, error) {
	found := map[string]map[string]string{}
	for i := range d.HeldNodes.Items {
		found[d.HeldNodes.Items[i].Name] = d.HeldNodes.Items[i].Labels
	}
	for _, s := range d.snapshots {
		for i := range s.Nodes {
			found[s.Nodes[i].Name] = s.Nodes[i].Labels
		}
	}
	var all []part.Labeled
	for _, name := range slices.Sorted(maps.Keys(found)) {
		all = append(all, part.Labeled{Name: name, Labels: found[name]})
	}
	return all, nil
}

// Namespaces returns the sorted names of the namespaces that have a DaemonSet.
func (d *Dump) Namespaces(context.Context) ([]string, error) {
	var names []string
	for _, r := range d.Refs() {
		names = append(names, r.Namespace)
	}
	return slices.Compact(names), nil
}

// Revisions returns the ControllerRevisions of a DaemonSet by descending number, and the time of
// the Dump.
func (d *Dump) Revisions(ctx context.Context, ref source.Ref) ([]appsv1.ControllerRevision, time.Time, error) {
	s, err := d.Read(ctx, ref)
	if err != nil {
		return nil, time.Time{}, err
	}
	return part.LatestFirst(slices.Clone(s.Revisions)), s.TakenAt, nil
}
