package source

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Labeled is an object that a command line can name, with its labels.
type Labeled struct {
	Name   string
	Labels map[string]string
}

// DaemonSets returns the DaemonSets of the namespace, or of all namespaces if it is
// empty, by namespace and name.
func (c *Cluster) DaemonSets(ctx context.Context, namespace string) ([]appsv1.DaemonSet, error) {
	return c.daemonSets(silent(ctx), Filter{Namespace: namespace})
}

// Nodes returns the nodes, by name. Of the nodes only the metadata is asked for: that of
// 5,000 is a tenth of their status.
func (c *Cluster) Nodes(ctx context.Context) ([]Labeled, error) { return c.labeled(ctx, "nodes") }

// Namespaces returns the names of the namespaces, sorted. Only their metadata is asked for.
func (c *Cluster) Namespaces(ctx context.Context) ([]string, error) {
	all, err := c.labeled(ctx, "namespaces")
	if err != nil {
		return nil, err
	}
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Name
	}
	return names, nil
}

// Revisions returns the ControllerRevisions of a DaemonSet, the highest number first, and
// the time of the answer.
func (c *Cluster) Revisions(ctx context.Context, ref Ref) ([]appsv1.ControllerRevision, time.Time, error) {
	ctx = silent(ctx)
	ds, at, err := c.daemonSet(ctx, ref)
	if err != nil {
		return nil, at, err
	}
	r, err := object.Relate(ds)
	if err != nil {
		return nil, at, err
	}
	at, _ = c.now(at)
	all, _, err := readPages(ctx, c.allowed, metav1.ListOptions{LabelSelector: r.Selector.String()},
		c.api.ControllerRevisions(ref.Namespace).List, r.Takes)
	if err != nil {
		return nil, at, c.refused(ctx, "controllerrevisions of namespace "+ref.Namespace,
			"kubectl auth can-i list controllerrevisions.apps -n "+ref.Namespace, err)
	}
	return latestFirst(all), at, nil
}

// latestFirst sorts revisions by their numbers.
func latestFirst(all []appsv1.ControllerRevision) []appsv1.ControllerRevision {
	slices.SortStableFunc(all, func(a, b appsv1.ControllerRevision) int { return int(b.Revision - a.Revision) })
	return all
}

// labeled reads the metadata of all objects of a resource of the core group, by name.
func (c *Cluster) labeled(ctx context.Context, resource string) ([]Labeled, error) {
	made := func(o *metav1.PartialObjectMetadata) (Labeled, bool) { return Labeled{o.Name, o.Labels}, true }
	ask := func(ctx context.Context, o metav1.ListOptions,
		each func(*metav1.PartialObjectMetadata) error) (metav1.ListMeta, error) {
		return readMetadata(ctx, c.api[corev1.SchemeGroupVersion].Get().Resource(resource).VersionedParams(&o,
			apiParameters()), labeledWire, each)
	}
	all, _, err := readPagesAs(silent(ctx), c.allowed, metav1.ListOptions{}, ask, made,
		func(l *Labeled) string { return l.Name }, 0)
	if err != nil {
		return nil, c.refused(ctx, resource, "kubectl auth can-i list "+resource, err)
	}
	slices.SortFunc(all, func(a, b Labeled) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// DaemonSets returns the DaemonSets of the namespace, or of all namespaces if it is
// empty, by namespace and name.
func (d *Dump) DaemonSets(_ context.Context, namespace string) ([]appsv1.DaemonSet, error) {
	var all []appsv1.DaemonSet
	for _, r := range d.refs() {
		if namespace != "" && r.Namespace != namespace {
			continue
		}
		if s := d.snapshots[r]; s != nil {
			all = append(all, *s.DaemonSet)
			continue
		}
		all = append(all, d.daemonSets.items[d.daemonSets.at[r.Namespace+"/"+r.Name]])
	}
	return all, nil
}

// Nodes returns the nodes, by name.
func (d *Dump) Nodes(context.Context) ([]Labeled, error) {
	found := map[string]map[string]string{}
	for i := range d.nodes.items {
		found[d.nodes.items[i].Name] = d.nodes.items[i].Labels
	}
	for _, s := range d.snapshots {
		for i := range s.Nodes {
			found[s.Nodes[i].Name] = s.Nodes[i].Labels
		}
	}
	var all []Labeled
	for _, name := range slices.Sorted(maps.Keys(found)) {
		all = append(all, Labeled{name, found[name]})
	}
	return all, nil
}

// Namespaces returns the names of the namespaces with a DaemonSet, sorted.
func (d *Dump) Namespaces(context.Context) ([]string, error) {
	var names []string
	for _, r := range d.refs() {
		names = append(names, r.Namespace)
	}
	return slices.Compact(names), nil
}

// Revisions returns the ControllerRevisions of a DaemonSet, the highest number first, and
// when the Dump was taken.
func (d *Dump) Revisions(ctx context.Context, ref Ref) ([]appsv1.ControllerRevision, time.Time, error) {
	s, err := d.Read(ctx, ref)
	if err != nil {
		return nil, time.Time{}, err
	}
	return latestFirst(slices.Clone(s.Revisions)), s.TakenAt, nil
}
