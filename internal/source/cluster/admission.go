package cluster

import (
	"context"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/api"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/internal/source/part"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// AddAdmission returns the Snapshots of the creations, in the given order, with their Admission.
//
// For one namespace it sends at most ten requests, concurrently: for the Namespace, its
// ResourceQuotas and LimitRanges, the ServiceAccount and the RuntimeClass of the templates,
// PriorityClasses, webhook configurations, and bindings of admission policies. Each further
// namespace takes four more. Policies are listed if a binding matches the pods and requests are
// left; otherwise the binding stands in for its policy.
//
// What cannot be read is a Gap. An API that the server does not have is not. Admission policies are
// read as v1: since v1.30 for validating and v1.36 for mutating policies, which were off by default
// before.
func (c *Cluster) AddAdmission(ctx context.Context, all ...part.Creation) ([]*snapshot.Snapshot, error) {
	if len(all) == 0 {
		return nil, nil
	}
	r := admissionReader{c: c, all: all, in: map[string]*part.NamespaceParts{}}
	if err := r.read(withoutLogs(ctx)); err != nil {
		return nil, err
	}
	out := make([]*snapshot.Snapshot, len(all))
	for i, one := range all {
		out[i] = r.parts(one).Add(one)
	}
	return out, nil
}

// admissionReader reads the objects that the creations need.
type admissionReader struct {
	c   *Cluster
	all []part.Creation
	in  map[string]*part.NamespaceParts

	// cluster-wide objects
	priorityClasses []schedulingv1.PriorityClass
	runtimeClasses  []nodev1.RuntimeClass
	hooks           snapshot.Configurations
	gaps            [6][]snapshot.Gap // by request
}

func (r *admissionReader) read(ctx context.Context) error {
	runtimeClasses := part.NamesOf(r.all, part.Creation.RuntimeClass)
	accounts := map[string][]part.Creation{}
	for _, one := range r.all {
		accounts[one.Namespace()] = append(accounts[one.Namespace()], one)
	}
	g, gctx := source.NewGroup(ctx)
	for namespace, creations := range accounts {
		n := &part.NamespaceParts{}
		if o := creations[0].Of.OpenShift; o != nil {
			n.Namespace = o.Namespace // already read
		}
		r.in[namespace] = n
		r.ofNamespace(gctx, g, n, namespace, part.NamesOf(creations, part.Creation.ServiceAccount))
	}
	c, hooks := r.c, &r.hooks
	g.Go(func() (err error) {
		r.priorityClasses, r.gaps[0], err = list[schedulingv1.PriorityClass](gctx, c, snapshot.PriorityClasses,
			metav1.ListOptions{}, api.Of[schedulingv1.PriorityClass](c.Clients, "").List, nil)
		return err
	})
	if len(runtimeClasses) > 0 {
		g.Go(func() (err error) {
			r.runtimeClasses, r.gaps[1], err = byName(gctx, c, snapshot.RuntimeClasses, runtimeClasses,
				api.Of[nodev1.RuntimeClass](c.Clients, "").Get, api.Of[nodev1.RuntimeClass](c.Clients, "").List)
			return err
		})
	}
	g.Go(func() (err error) {
		hooks.Validating, r.gaps[2], err = list[admissionv1.ValidatingWebhookConfiguration](gctx, c, snapshot.Webhooks,
			metav1.ListOptions{}, api.Of[admissionv1.ValidatingWebhookConfiguration](c.Clients, "").List, nil)
		return err
	})
	g.Go(func() (err error) {
		hooks.Mutating, r.gaps[3], err = list[admissionv1.MutatingWebhookConfiguration](gctx, c, snapshot.Webhooks,
			metav1.ListOptions{}, api.Of[admissionv1.MutatingWebhookConfiguration](c.Clients, "").List, nil)
		return err
	})
	g.Go(func() (err error) {
		hooks.ValidatingBindings, r.gaps[4], err = served[admissionv1.ValidatingAdmissionPolicyBinding](gctx, c,
			snapshot.Webhooks, api.Of[admissionv1.ValidatingAdmissionPolicyBinding](c.Clients, "").List)
		return err
	})
	g.Go(func() (err error) {
		hooks.MutatingBindings, r.gaps[5], err = served[admissionv1.MutatingAdmissionPolicyBinding](gctx, c,
			snapshot.Webhooks, api.Of[admissionv1.MutatingAdmissionPolicyBinding](c.Clients, "").List)
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	left := part.MaxRequests - 9
	if len(runtimeClasses) > 0 {
		left--
	}
	return r.policies(ctx, left)
}

// ofNamespace starts the requests for the parts of a namespace.
func (r *admissionReader) ofNamespace(ctx context.Context, g source.Group, n *part.NamespaceParts, namespace string,
	accounts []string) {
	core := r.c.Clients
	namespaces, ofAccounts := api.Of[corev1.Namespace](core, ""), api.Of[corev1.ServiceAccount](core, namespace)
	if n.Namespace == nil {
		g.Go(func() error {
			found, gaps, err := byName(ctx, r.c, snapshot.Namespaces, []string{namespace}, namespaces.Get,
				namespaces.List)
			if n.Gaps[0] = gaps; len(found) > 0 {
				n.Namespace = &found[0]
			}
			return err
		})
	}
	g.Go(func() (err error) {
		n.Accounts, n.Gaps[1], err = byName(ctx, r.c, snapshot.ServiceAccounts, accounts,
			ofAccounts.Get, ofAccounts.List)
		return err
	})
	g.Go(func() (err error) {
		n.Quotas, n.Gaps[2], err = list[corev1.ResourceQuota](ctx, r.c, snapshot.ResourceQuotas, metav1.ListOptions{},
			api.Of[corev1.ResourceQuota](core, namespace).List, nil)
		return err
	})
	g.Go(func() (err error) {
		n.Limits, n.Gaps[3], err = list[corev1.LimitRange](ctx, r.c, snapshot.LimitRanges, metav1.ListOptions{},
			api.Of[corev1.LimitRange](core, namespace).List, nil)
		return err
	})
}

// policies lists the policies that have a matching binding, with at most left requests. A policy
// that is not read is no Gap: its binding stands in for it.
func (r *admissionReader) policies(ctx context.Context, left int) error {
	bound := map[snapshot.HookKind]bool{}
	for _, one := range r.all {
		p := r.parts(one)
		for _, h := range snapshot.HooksOf(p.Hooks, one.Namespace(), p.Labels(), one.PodTemplate()) {
			bound[h.Kind] = true
		}
	}
	if bound[snapshot.ValidatingPolicy] && left > 0 {
		left--
		got, gaps, err := list[admissionv1.ValidatingAdmissionPolicy](ctx, r.c, snapshot.Webhooks, metav1.ListOptions{},
			api.Of[admissionv1.ValidatingAdmissionPolicy](r.c.Clients, "").List, nil)
		if err != nil {
			return err
		}
		if len(gaps) == 0 {
			r.hooks.ValidatingPolicies = append([]admissionv1.ValidatingAdmissionPolicy{}, got...)
		}
	}
	if bound[snapshot.MutatingPolicy] && left > 0 {
		got, gaps, err := list[admissionv1.MutatingAdmissionPolicy](ctx, r.c, snapshot.Webhooks, metav1.ListOptions{},
			api.Of[admissionv1.MutatingAdmissionPolicy](r.c.Clients, "").List, nil)
		if err != nil {
			return err
		}
		if len(gaps) == 0 {
			r.hooks.MutatingPolicies = append([]admissionv1.MutatingAdmissionPolicy{}, got...)
		}
	}
	return nil
}

// parts returns what was read for a Creation.
func (r *admissionReader) parts(of part.Creation) *part.AdmissionParts {
	n := r.in[of.Namespace()]
	return &part.AdmissionParts{
		Namespace: n.Namespace, PriorityClasses: r.priorityClasses, RuntimeClasses: r.runtimeClasses,
		Accounts: n.Accounts, Quotas: n.Quotas, Limits: n.Limits, Hooks: &r.hooks,
		Gaps: slices.Concat(slices.Concat(r.gaps[:]...), slices.Concat(n.Gaps[:]...)),
	}
}

// byName reads the objects with these names with one request: a get for one name, else a list. An
// object that does not exist is missing from the result and is no Gap.
func byName[T any](ctx context.Context, c *Cluster, what snapshot.What, names []string,
	get func(context.Context, string, metav1.GetOptions) (*T, error), all api.Lister[T],
) ([]T, []snapshot.Gap, error) {
	if len(names) != 1 {
		return list[T](ctx, c, what, metav1.ListOptions{}, all,
			func(o metav1.Object) bool { return slices.Contains(names, o.GetName()) })
	}
	o, err := get(ctx, names[0], metav1.GetOptions{})
	if err == nil {
		err = api.About(names[0], object.MetaOf(o), nil)
	}
	switch {
	case err == nil:
		object.Strip(o)
		return []T{*o}, nil, nil
	case apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
		return nil, nil, nil
	}
	g, err := c.gap(ctx, what, err)
	return nil, []snapshot.Gap{g}, err
}

// served does what list does, but returns no objects and no Gap if the server does not have the
// API.
func served[T any](ctx context.Context, c *Cluster, what snapshot.What, ask api.Lister[T]) ([]T,
	[]snapshot.Gap, error) {
	missing := false
	got, gaps, err := list(ctx, c, what, metav1.ListOptions{}, func(ctx context.Context, o metav1.ListOptions,
		each func(*T) error) (metav1.ListMeta, error) {
		page, err := ask(ctx, o, each)
		missing = missing || apierrors.IsNotFound(err)
		return page, err
	}, nil)
	if missing && err == nil {
		return nil, nil, nil
	}
	return got, gaps, err
}
