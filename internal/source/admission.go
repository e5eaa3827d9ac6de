package source

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Creation is a question about the pods that the controller would create.
type Creation struct {
	Of       *snapshot.Snapshot
	Template *corev1.PodTemplateSpec // of these pods; nil: that of the DaemonSet
}

func (c Creation) template() *corev1.PodTemplateSpec {
	if c.Template != nil {
		return c.Template
	}
	return &c.Of.DaemonSet.Spec.Template
}

func (c Creation) namespace() string { return c.Of.DaemonSet.Namespace }

// serviceAccount returns the one that the pods run as.
func (c Creation) serviceAccount() string {
	spec := &c.template().Spec
	return cmp.Or(spec.ServiceAccountName, spec.DeprecatedServiceAccount, "default")
}

// runtimeClass returns the one that the template names, or "".
func (c Creation) runtimeClass() string {
	if name := c.template().Spec.RuntimeClassName; name != nil {
		return *name
	}
	return ""
}

// mostRequests is up to how many requests are sent for the creations of one namespace.
const mostRequests = 10

// AddAdmission returns the Snapshots of the creations, in their order, with their
// Admission. It sends at most ten requests for a namespace, side by side: for the
// Namespace, its ResourceQuotas and LimitRanges, the ServiceAccount and the
// RuntimeClass that the templates name, and for the PriorityClasses, the
// configurations of webhooks and the bindings of admission policies of the cluster.
// Further namespaces cost four requests each. The policies themselves are asked for
// where a binding holds for the pods and a request is left; else a binding is named
// for its policy.
//
// What could not be read is a Gap, each part its own. An API that the server does not
// have is none: it has no objects. Of admission policies v1 is asked for, which is
// v1.30 for validating ones and v1.36 for mutating ones; before, they are off by
// default.
func (c *Cluster) AddAdmission(ctx context.Context, all ...Creation) ([]*snapshot.Snapshot, error) {
	if len(all) == 0 {
		return nil, nil
	}
	r := admissionReader{c: c, all: all, in: map[string]*namespaceParts{}}
	if err := r.read(silent(ctx)); err != nil {
		return nil, err
	}
	out := make([]*snapshot.Snapshot, len(all))
	for i, one := range all {
		out[i] = r.parts(one).add(one)
	}
	return out, nil
}

// admissionParts are what an Admission is made of, with what of it could not be read.
// Lists may hold more than one creation asks for.
type admissionParts struct {
	namespace       *corev1.Namespace
	priorityClasses []schedulingv1.PriorityClass
	runtimeClasses  []nodev1.RuntimeClass
	accounts        []corev1.ServiceAccount
	quotas          []corev1.ResourceQuota
	limits          []corev1.LimitRange
	hooks           *snapshot.Configurations
	gaps            []snapshot.Gap
}

// add returns the Snapshot of a creation with its Admission.
func (p *admissionParts) add(of Creation) *snapshot.Snapshot {
	namespace, template := of.namespace(), of.template()
	a := &snapshot.Admission{
		Namespace: withoutAnnotations(p.namespace), PriorityClasses: p.priorityClasses,
		RuntimeClasses: object.Filter(p.runtimeClasses,
			func(o metav1.Object) bool { return o.GetName() == of.runtimeClass() }),
		ServiceAccounts: object.Filter(p.accounts,
			func(o metav1.Object) bool { return object.Key(o) == namespace+"/"+of.serviceAccount() }),
		ResourceQuotas: object.Filter(p.quotas, func(o metav1.Object) bool { return o.GetNamespace() == namespace }),
		LimitRanges:    object.Filter(p.limits, func(o metav1.Object) bool { return o.GetNamespace() == namespace }),
		Hooks:          snapshot.HooksOf(p.hooks, namespace, p.labels(), template),
	}
	object.SortByName(a.PriorityClasses)
	object.SortByName(a.ResourceQuotas)
	object.SortByName(a.LimitRanges)
	return of.Of.Admitting(a, object.Ordered(p.gaps))
}

// withoutAnnotations returns a Namespace without what only OpenShift's controller looks at.
func withoutAnnotations(n *corev1.Namespace) *corev1.Namespace {
	if n == nil || n.Annotations == nil {
		return n
	}
	c := *n
	c.Annotations = nil
	return &c
}

// labels returns those of the namespace, nil where they are not known.
func (p *admissionParts) labels() map[string]string {
	switch {
	case p.namespace == nil:
		return nil
	case p.namespace.Labels == nil:
		return map[string]string{}
	}
	return p.namespace.Labels
}

// admissionReader reads what is asked for by creations.
type admissionReader struct {
	c   *Cluster
	all []Creation
	in  map[string]*namespaceParts

	// Of the cluster.
	priorityClasses []schedulingv1.PriorityClass
	runtimeClasses  []nodev1.RuntimeClass
	hooks           snapshot.Configurations
	gaps            [6][]snapshot.Gap // of each request
}

// namespaceParts are what is read of one namespace.
type namespaceParts struct {
	namespace *corev1.Namespace
	accounts  []corev1.ServiceAccount
	quotas    []corev1.ResourceQuota
	limits    []corev1.LimitRange
	gaps      [4][]snapshot.Gap // of each request
}

func (r *admissionReader) read(ctx context.Context) error {
	runtimeClasses := namesOf(r.all, Creation.runtimeClass)
	accounts := map[string][]Creation{}
	for _, one := range r.all {
		accounts[one.namespace()] = append(accounts[one.namespace()], one)
	}
	g, gctx := newGroup(ctx)
	for namespace, creations := range accounts {
		n := &namespaceParts{}
		if o := creations[0].Of.OpenShift; o != nil {
			n.namespace = o.Namespace // it was read
		}
		r.in[namespace] = n
		r.ofNamespace(gctx, g, n, namespace, namesOf(creations, Creation.serviceAccount))
	}
	c, hooks := r.c, &r.hooks
	g.Go(func() (err error) {
		r.priorityClasses, r.gaps[0], err = list[schedulingv1.PriorityClass](gctx, c, snapshot.PriorityClasses,
			metav1.ListOptions{}, c.api.PriorityClasses().List, nil)
		return err
	})
	if len(runtimeClasses) > 0 {
		g.Go(func() (err error) {
			r.runtimeClasses, r.gaps[1], err = byName(gctx, c, snapshot.RuntimeClasses, runtimeClasses,
				c.api.RuntimeClasses().Get, c.api.RuntimeClasses().List)
			return err
		})
	}
	g.Go(func() (err error) {
		hooks.Validating, r.gaps[2], err = list[admissionv1.ValidatingWebhookConfiguration](gctx, c, snapshot.Webhooks,
			metav1.ListOptions{}, c.api.ValidatingWebhookConfigurations().List, nil)
		return err
	})
	g.Go(func() (err error) {
		hooks.Mutating, r.gaps[3], err = list[admissionv1.MutatingWebhookConfiguration](gctx, c, snapshot.Webhooks,
			metav1.ListOptions{}, c.api.MutatingWebhookConfigurations().List, nil)
		return err
	})
	g.Go(func() (err error) {
		hooks.ValidatingBindings, r.gaps[4], err = served[admissionv1.ValidatingAdmissionPolicyBinding](gctx, c,
			snapshot.Webhooks, c.api.ValidatingAdmissionPolicyBindings().List)
		return err
	})
	g.Go(func() (err error) {
		hooks.MutatingBindings, r.gaps[5], err = served[admissionv1.MutatingAdmissionPolicyBinding](gctx, c,
			snapshot.Webhooks, c.api.MutatingAdmissionPolicyBindings().List)
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	left := mostRequests - 9
	if len(runtimeClasses) > 0 {
		left--
	}
	return r.policies(ctx, left)
}

// ofNamespace reads the parts of a namespace.
func (r *admissionReader) ofNamespace(ctx context.Context, g group, n *namespaceParts, namespace string,
	accounts []string) {
	core := r.c.api
	if n.namespace == nil {
		g.Go(func() error {
			found, gaps, err := byName(ctx, r.c, snapshot.Namespaces, []string{namespace}, core.Namespaces().Get,
				core.Namespaces().List)
			if n.gaps[0] = gaps; len(found) > 0 {
				n.namespace = &found[0]
			}
			return err
		})
	}
	g.Go(func() (err error) {
		n.accounts, n.gaps[1], err = byName(ctx, r.c, snapshot.ServiceAccounts, accounts,
			core.ServiceAccounts(namespace).Get, core.ServiceAccounts(namespace).List)
		return err
	})
	g.Go(func() (err error) {
		n.quotas, n.gaps[2], err = list[corev1.ResourceQuota](ctx, r.c, snapshot.ResourceQuotas, metav1.ListOptions{},
			core.ResourceQuotas(namespace).List, nil)
		return err
	})
	g.Go(func() (err error) {
		n.limits, n.gaps[3], err = list[corev1.LimitRange](ctx, r.c, snapshot.LimitRanges, metav1.ListOptions{},
			core.LimitRanges(namespace).List, nil)
		return err
	})
}

// policies reads the policies whose bindings hold for any of the pods, as long as
// requests are left. Without them, which is no gap, bindings stand for them.
func (r *admissionReader) policies(ctx context.Context, left int) error {
	bound := map[snapshot.HookKind]bool{}
	for _, one := range r.all {
		p := r.parts(one)
		for _, h := range snapshot.HooksOf(p.hooks, one.namespace(), p.labels(), one.template()) {
			bound[h.Kind] = true
		}
	}
	if bound[snapshot.ValidatingPolicy] && left > 0 {
		left--
		got, gaps, err := list[admissionv1.ValidatingAdmissionPolicy](ctx, r.c, snapshot.Webhooks, metav1.ListOptions{},
			r.c.api.ValidatingAdmissionPolicies().List, nil)
		if err != nil {
			return err
		}
		if len(gaps) == 0 {
			r.hooks.ValidatingPolicies = append([]admissionv1.ValidatingAdmissionPolicy{}, got...)
		}
	}
	if bound[snapshot.MutatingPolicy] && left > 0 {
		got, gaps, err := list[admissionv1.MutatingAdmissionPolicy](ctx, r.c, snapshot.Webhooks, metav1.ListOptions{},
			r.c.api.MutatingAdmissionPolicies().List, nil)
		if err != nil {
			return err
		}
		if len(gaps) == 0 {
			r.hooks.MutatingPolicies = append([]admissionv1.MutatingAdmissionPolicy{}, got...)
		}
	}
	return nil
}

// parts returns what was read for a creation.
func (r *admissionReader) parts(of Creation) *admissionParts {
	n := r.in[of.namespace()]
	return &admissionParts{
		n.namespace, r.priorityClasses, r.runtimeClasses, n.accounts, n.quotas, n.limits, &r.hooks,
		slices.Concat(slices.Concat(r.gaps[:]...), slices.Concat(n.gaps[:]...)),
	}
}

// namesOf returns the names that creations ask for, sorted, each once, without "".
func namesOf(all []Creation, name func(Creation) string) []string {
	names := map[string]bool{}
	for _, one := range all {
		names[name(one)] = true
	}
	delete(names, "")
	return slices.Sorted(maps.Keys(names))
}

// byName reads the objects of these names, with one request: a list of all where there
// are several. One that does not exist is not among them, and is no gap.
func byName[T any](ctx context.Context, c *Cluster, what snapshot.What, names []string,
	get func(context.Context, string, metav1.GetOptions) (*T, error), all lister[T],
) ([]T, []snapshot.Gap, error) {
	if len(names) != 1 {
		return list[T](ctx, c, what, metav1.ListOptions{}, all,
			func(o metav1.Object) bool { return slices.Contains(names, o.GetName()) })
	}
	o, err := get(ctx, names[0], metav1.GetOptions{})
	if err == nil {
		err = about(names[0], object.MetaOf(o), nil)
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

// served does what list does, and takes an API that the server does not have for one
// without objects.
func served[T any](ctx context.Context, c *Cluster, what snapshot.What, ask lister[T]) ([]T, []snapshot.Gap, error) {
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

// admissionStores hold the objects of a dump that a question about admission, or about
// volumes, needs.
type admissionStores struct {
	namespaces         store[corev1.Namespace]
	accounts           store[corev1.ServiceAccount]
	quotas             store[corev1.ResourceQuota]
	limits             store[corev1.LimitRange]
	priorityClasses    store[schedulingv1.PriorityClass]
	runtimeClasses     store[nodev1.RuntimeClass]
	validatingWebhooks store[admissionv1.ValidatingWebhookConfiguration]
	mutatingWebhooks   store[admissionv1.MutatingWebhookConfiguration]
	validatingPolicies store[admissionv1.ValidatingAdmissionPolicy]
	validatingBindings store[admissionv1.ValidatingAdmissionPolicyBinding]
	mutatingPolicies   store[admissionv1.MutatingAdmissionPolicy]
	mutatingBindings   store[admissionv1.MutatingAdmissionPolicyBinding]

	// For a question about fit.
	claims   store[corev1.PersistentVolumeClaim]
	volumes  store[corev1.PersistentVolume]
	csiNodes store[storagev1.CSINode]

	damaged map[metav1.TypeMeta]string // why an object of a kind cannot be read
}

func (s *admissionStores) put(o object.Object, at position) {
	if o.Damage != nil {
		if s.damaged == nil {
			s.damaged = map[metav1.TypeMeta]string{}
		}
		s.damaged[o.Kind] = fmt.Sprintf("%s: %s", at, inWords(o.Damage))
		return
	}
	s.stores()[o.Kind].put(o.Asked, false, at)
}

func (s *admissionStores) stores() map[metav1.TypeMeta]putter {
	return map[metav1.TypeMeta]putter{
		object.OfNamespaces: &s.namespaces, object.OfAccounts: &s.accounts, object.OfQuotas: &s.quotas,
		object.OfLimits:          &s.limits,
		object.OfPriorityClasses: &s.priorityClasses, object.OfRuntimeClasses: &s.runtimeClasses,
		object.OfValidatingWebhooks: &s.validatingWebhooks, object.OfMutatingWebhooks: &s.mutatingWebhooks,
		object.OfClaims: &s.claims, object.OfVolumes: &s.volumes, object.OfCSINodes: &s.csiNodes,
		object.OfValidatingPolicies: &s.validatingPolicies, object.OfValidatingBindings: &s.validatingBindings,
		object.OfMutatingPolicies: &s.mutatingPolicies, object.OfMutatingBindings: &s.mutatingBindings,
	}
}

// AddAdmission does what Cluster.AddAdmission does, with the objects that the input
// holds. Of a kind of which it has none, and no list either, it does not say whether
// there are any: that is a Gap. So it is if the namespace, or any ServiceAccount of
// it, is not among those that it has.
//
// Of a recorded Snapshot it gives back what was recorded: its hooks are those for the
// template of then. That another ServiceAccount or RuntimeClass is asked for is a Gap.
func (d *Dump) AddAdmission(_ context.Context, all ...Creation) ([]*snapshot.Snapshot, error) {
	out := make([]*snapshot.Snapshot, len(all))
	for i, one := range all {
		if from := d.recorded(one.Of); from != nil {
			out[i] = recordedAdmission(one, from)
		} else {
			out[i] = d.admissionOf(one).add(one)
		}
	}
	return out, nil
}

func (d *Dump) admissionOf(of Creation) *admissionParts {
	s, namespace := &d.admission, of.namespace()
	p := &admissionParts{
		priorityClasses: slices.Clone(s.priorityClasses.items), runtimeClasses: s.runtimeClasses.items,
		accounts: s.accounts.items, quotas: s.quotas.items, limits: s.limits.items,
		hooks: &snapshot.Configurations{
			Validating: s.validatingWebhooks.items, Mutating: s.mutatingWebhooks.items,
			ValidatingBindings: s.validatingBindings.items, MutatingBindings: s.mutatingBindings.items,
			ValidatingPolicies: s.validatingPolicies.items, MutatingPolicies: s.mutatingPolicies.items,
		},
	}
	lacks := func(what snapshot.What, why snapshot.Why, message, of string) {
		p.gaps = append(p.gaps, snapshot.Gap{What: what, Why: why, Message: message, Of: of})
	}
	if found := object.Filter(s.namespaces.items,
		func(o metav1.Object) bool { return o.GetName() == namespace }); len(found) > 0 {
		p.namespace = &found[0]
	}
	for _, part := range []struct {
		what   snapshot.What
		kind   metav1.TypeMeta
		lacked bool // though the cluster must have one
		asked  bool
	}{
		{snapshot.Namespaces, object.OfNamespaces, p.namespace == nil, true},
		{snapshot.PriorityClasses, object.OfPriorityClasses, false, true},
		{snapshot.RuntimeClasses, object.OfRuntimeClasses, false, of.runtimeClass() != ""},
		{snapshot.ServiceAccounts, object.OfAccounts, s.accounts.in[namespace] == 0, true},
		{snapshot.ResourceQuotas, object.OfQuotas, false, true},
		{snapshot.LimitRanges, object.OfLimits, false, true},
		{snapshot.Webhooks, object.OfValidatingWebhooks, false, true},
		{snapshot.Webhooks, object.OfMutatingWebhooks, false, true},
		{snapshot.Webhooks, object.OfValidatingBindings, false, true},
		{snapshot.Webhooks, object.OfMutatingBindings, false, true},
	} {
		name := object.KindName(part.kind)
		partial, damaged := d.partial(name), s.damaged[part.kind]
		switch given := d.kinds[name] > 0 || d.lists[name]; {
		case !part.asked:
		case partial != "":
			lacks(part.what, snapshot.Partial, partial, "")
		case damaged != "":
			lacks(part.what, snapshot.Failed, damaged, "")
		case !given:
			lacks(part.what, snapshot.NotGiven, "the input holds no "+part.kind.Kind, "")
		case part.lacked:
			lacks(part.what, snapshot.NotGiven, "the input holds no "+part.kind.Kind+" of namespace "+namespace,
				"namespace "+namespace)
		}
	}
	return p
}

// recordedAdmission returns the Snapshot of a creation with what was recorded with
// another one, of whose namespace it is or is not.
func recordedAdmission(of Creation, from *snapshot.Snapshot) *snapshot.Snapshot {
	gaps := slices.Clone(from.Gaps)
	lacks := func(message string, parts ...snapshot.What) {
		for _, what := range parts {
			if from.Gap(what) == nil {
				gaps = append(gaps, snapshot.Gap{What: what, Why: snapshot.NotGiven, Message: message})
			}
		}
	}
	if from.Admission == nil {
		lacks("the snapshot was recorded without it", slices.DeleteFunc(slices.Clone(snapshot.AdmissionWhats),
			func(what snapshot.What) bool {
				return what == snapshot.RuntimeClasses && of.runtimeClass() == ""
			})...)
		return of.Of.Admitting(nil, gaps)
	}
	a, then := *from.Admission, Creation{Of: from}
	if of.namespace() != from.DaemonSet.Namespace {
		lacks("the snapshot was recorded for namespace "+from.DaemonSet.Namespace, snapshot.Namespaces,
			snapshot.ResourceQuotas, snapshot.LimitRanges,
			snapshot.Webhooks)
		a.Namespace, a.ResourceQuotas, a.LimitRanges, a.Hooks = nil, nil, nil, nil
	}
	if of.namespace() != from.DaemonSet.Namespace || of.serviceAccount() != then.serviceAccount() {
		lacks("the snapshot was recorded for another ServiceAccount", snapshot.ServiceAccounts)
		a.ServiceAccounts = nil
	}
	if name := of.runtimeClass(); name != then.runtimeClass() {
		if name != "" {
			lacks("the snapshot was recorded for another RuntimeClass", snapshot.RuntimeClasses)
		}
		a.RuntimeClasses = nil
	}
	return of.Of.Admitting(&a, gaps)
}
