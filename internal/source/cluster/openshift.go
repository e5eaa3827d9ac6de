package cluster

import (
	"context"
	"errors"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/api"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/internal/source/part"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// openShift returns what OpenShift's controller reads for the namespaces, or nil if the nodes are
// not from OpenShift. It gets each Namespace and, if one of them has no node selector of its own,
// the controller's configuration.
func (c *Cluster) openShift(ctx context.Context, nodes []corev1.Node, namespaces ...string) (part.OpenShift, error) {
	if !snapshot.OnOpenShift(nodes) {
		return nil, nil
	}
	slices.Sort(namespaces)
	out, lock := part.OpenShift{}, sync.Mutex{}
	g, gctx := source.NewGroup(ctx)
	g.SetLimit(maxConcurrent)
	for _, name := range slices.Compact(namespaces) {
		g.Go(func() error {
			o, gaps, err := c.namespace(gctx, name)
			lock.Lock()
			defer lock.Unlock()
			out[name] = part.Selecting{Of: o, Gaps: gaps}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return out, c.addDefault(ctx, out)
}

// namespace reads one Namespace. If it does not exist, that is a Gap.
func (c *Cluster) namespace(ctx context.Context, name string) (*snapshot.OpenShift, []snapshot.Gap, error) {
	n, err := api.Of[corev1.Namespace](c.Clients, "").Get(ctx, name, metav1.GetOptions{})
	if err == nil && n.Name != name {
		err = errors.New("unusable answer: it is about another namespace")
	}
	if err != nil {
		g, err := c.gap(ctx, snapshot.NamespaceNodeSelector, err)
		return &snapshot.OpenShift{}, []snapshot.Gap{g}, err
	}
	object.Strip(n)
	return &snapshot.OpenShift{Namespace: n}, nil, nil
}

// addDefault adds the controller's default node selector to the namespaces for which it matters. A
// cluster without the configuration object, such as MicroShift or a hosted control plane, has no
// default.
func (c *Cluster) addDefault(ctx context.Context, all part.OpenShift) error {
	needed := false
	for _, s := range all {
		needed = needed || s.Of.NeedsDefault()
	}
	if !needed {
		return nil
	}
	selector, err := c.defaultNodeSelector(ctx)
	var gaps []snapshot.Gap
	if err != nil && !apierrors.IsNotFound(err) {
		g, err := c.gap(ctx, snapshot.DefaultNodeSelector, err)
		if err != nil {
			return err
		}
		gaps = []snapshot.Gap{g}
	}
	for name, s := range all {
		if s.Of.NeedsDefault() {
			s.Of.DefaultNodeSelector = selector
			all[name] = part.Selecting{Of: s.Of, Gaps: gaps}
		}
	}
	return nil
}

// defaultNodeSelector returns the controller's default node selector.
func (c *Cluster) defaultNodeSelector(ctx context.Context) (string, error) {
	answer := c.Clients[corev1.SchemeGroupVersion].Get().AbsPath(object.ManagerPath).SetHeader("Accept",
		runtime.ContentTypeJSON).Do(ctx)
	raw, err := answer.Raw()
	if err != nil {
		return "", answer.Error() // with the server's message
	}
	name, selector, err := object.DefaultNodeSelector(raw)
	switch {
	case err != nil:
		return "", err
	case name != object.ManagerName:
		return "", errors.New("unusable answer: it is about another object")
	}
	return selector, nil
}
