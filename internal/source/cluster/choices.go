package cluster

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/api"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/internal/source/part"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DaemonSets returns the DaemonSets of a namespace, or of all namespaces if it is empty, sorted by
// namespace and name.
func (c *Cluster) DaemonSets(ctx context.Context, namespace string) ([]appsv1.DaemonSet, error) {
	return c.daemonSets(withoutLogs(ctx), source.Filter{Namespace: namespace})
}

// Nodes returns the names and labels of all nodes, sorted by name. It requests only their metadata.
func (c *Cluster) Nodes(ctx context.Context) ([]part.Labeled, error) { return c.labeled(ctx, "nodes") }

// Namespaces returns the sorted names of all namespaces. It requests only their metadata.
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

// Revisions returns the ControllerRevisions of a DaemonSet by descending number, and the time of
// the response.
func (c *Cluster) Revisions(ctx context.Context, ref source.Ref) ([]appsv1.ControllerRevision, time.Time, error) {
	ctx = withoutLogs(ctx)
	ds, at, err := c.daemonSet(ctx, ref)
	if err != nil {
		return nil, at, err
	}
	r, err := object.Relate(ds)
	if err != nil {
		return nil, at, err
	}
	at, _ = c.now(at)
	all, _, err := ReadPages(ctx, c.allowed, metav1.ListOptions{LabelSelector: r.Selector.String()},
		api.Of[appsv1.ControllerRevision](c.Clients, ref.Namespace).List, r.Takes)
	if err != nil {
		return nil, at, c.Refused(ctx, "controllerrevisions of namespace "+ref.Namespace,
			"kubectl auth can-i list controllerrevisions.apps -n "+ref.Namespace, err)
	}
	return part.LatestFirst(all), at, nil
}

// labeled returns the names and labels of all objects of a resource of the core group, sorted by
// name.
func (c *Cluster) labeled(ctx context.Context, resource string) ([]part.Labeled, error) {
	made := func(o *metav1.PartialObjectMetadata) (part.Labeled, bool) {
		return part.Labeled{Name: o.Name, Labels: o.Labels}, true
	}
	ask := func(ctx context.Context, o metav1.ListOptions,
		each func(*metav1.PartialObjectMetadata) error) (metav1.ListMeta, error) {
		return readMetadata(ctx, c.Clients[corev1.SchemeGroupVersion].Get().Resource(resource).VersionedParams(&o,
			api.APIParameters()), api.LabeledMask, each)
	}
	all, _, err := readPagesAs(withoutLogs(ctx), c.allowed, metav1.ListOptions{}, ask, made,
		func(l *part.Labeled) string { return l.Name }, 0)
	if err != nil {
		return nil, c.Refused(ctx, resource, "kubectl auth can-i list "+resource, err)
	}
	slices.SortFunc(all, func(a, b part.Labeled) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}
