package source

import (
	"context"
	"errors"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// openShift is what OpenShift's controller looks at, and what of it could not be read, by
// namespace. It is empty for any other cluster.
type openShift map[string]selecting

type selecting struct {
	of   *snapshot.OpenShift
	gaps []snapshot.Gap
}

// in returns the Snapshot with what there is for its namespace.
func (o openShift) in(s *snapshot.Snapshot, namespace string) *snapshot.Snapshot {
	if o == nil {
		return s
	}
	return s.Selecting(o[namespace].of, o[namespace].gaps)
}

// openShift reads what OpenShift's controller looks at for these namespaces, where the nodes
// are of OpenShift: each Namespace, and once the configuration of the controller where one of
// them does not say which nodes it selects. For any other cluster it asks for nothing.
func (c *Cluster) openShift(ctx context.Context, nodes []corev1.Node, namespaces ...string) (openShift, error) {
	if !snapshot.OnOpenShift(nodes) {
		return nil, nil
	}
	slices.Sort(namespaces)
	out, lock := openShift{}, sync.Mutex{}
	g, gctx := newGroup(ctx)
	g.SetLimit(concurrent)
	for _, name := range slices.Compact(namespaces) {
		g.Go(func() error {
			o, gaps, err := c.namespace(gctx, name)
			lock.Lock()
			defer lock.Unlock()
			out[name] = selecting{o, gaps}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return out, c.addDefault(ctx, out)
}

// namespace reads one Namespace. That it does not exist is a Gap too: its DaemonSet did.
func (c *Cluster) namespace(ctx context.Context, name string) (*snapshot.OpenShift, []snapshot.Gap, error) {
	n, err := c.api.Namespaces().Get(ctx, name, metav1.GetOptions{})
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

// addDefault adds the default of the controller to the namespaces that it decides for. A
// cluster without such an object has none: MicroShift, and hosted control planes, which set
// it to nothing.
func (c *Cluster) addDefault(ctx context.Context, all openShift) error {
	needed := false
	for _, s := range all {
		needed = needed || s.of.NeedsDefault()
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
		if s.of.NeedsDefault() {
			s.of.DefaultNodeSelector = selector
			all[name] = selecting{s.of, gaps}
		}
	}
	return nil
}

// defaultNodeSelector reads it.
func (c *Cluster) defaultNodeSelector(ctx context.Context) (string, error) {
	answer := c.api[corev1.SchemeGroupVersion].Get().AbsPath(object.ManagerPath).SetHeader("Accept",
		runtime.ContentTypeJSON).Do(ctx)
	raw, err := answer.Raw()
	if err != nil {
		return "", answer.Error() // in the server's words
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

// openShift returns what OpenShift's controller looks at for a namespace, where the nodes are
// of OpenShift. That a dump does not hold it is a Gap.
func (d *Dump) openShift(namespace string) selecting {
	if !snapshot.OnOpenShift(d.nodes.items) {
		return selecting{}
	}
	s := selecting{of: &snapshot.OpenShift{}}
	lacks := func(what snapshot.What, why snapshot.Why, message, of string) selecting {
		s.gaps = append(s.gaps, snapshot.Gap{What: what, Why: why, Message: message, Of: of})
		return s
	}
	for i := range d.admission.namespaces.items {
		if n := &d.admission.namespaces.items[i]; n.Name == namespace {
			s.of.Namespace = n
		}
	}
	kind := object.KindName(object.OfNamespaces)
	switch partial, damaged := d.partial(kind), d.admission.damaged[object.OfNamespaces]; {
	case s.of.Namespace != nil:
	case partial != "":
		return lacks(snapshot.NamespaceNodeSelector, snapshot.Partial, partial, "")
	case damaged != "":
		return lacks(snapshot.NamespaceNodeSelector, snapshot.Failed, damaged, "")
	case d.kinds[kind] == 0:
		return lacks(snapshot.NamespaceNodeSelector, snapshot.NotGiven, "the input holds no "+kind, "")
	default:
		return lacks(snapshot.NamespaceNodeSelector, snapshot.NotGiven, "the input holds no namespace "+namespace,
			"namespace "+namespace)
	}
	switch m := d.manager; {
	case !s.of.NeedsDefault():
	case m == nil:
		return lacks(snapshot.DefaultNodeSelector, snapshot.NotGiven, "the input holds no "+object.OfManagers.Kind, "")
	case m.Damage != nil:
		return lacks(snapshot.DefaultNodeSelector, snapshot.Failed, inWords(m.Damage), "")
	default:
		s.of.DefaultNodeSelector = m.Selector
	}
	return s
}

// selected returns a recorded Snapshot with a Gap where it is of OpenShift, and was recorded
// without what its controller looks at, or for another namespace.
func selected(s *snapshot.Snapshot, recordedFor string) *snapshot.Snapshot {
	lacks := func(why string) *snapshot.Snapshot {
		return s.Selecting(&snapshot.OpenShift{},
			[]snapshot.Gap{{What: snapshot.NamespaceNodeSelector, Why: snapshot.NotGiven,
				Message: "the snapshot was recorded " + why}})
	}
	switch {
	case !snapshot.OnOpenShift(s.Nodes):
		return s
	case s.OpenShift == nil:
		return lacks("without it")
	case s.DaemonSet.Namespace != recordedFor:
		return lacks("for namespace " + recordedFor)
	}
	return s
}
