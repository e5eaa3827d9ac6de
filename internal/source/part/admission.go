package part

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Creation describes pods that the controller would create.
type Creation struct {
	Of       *snapshot.Snapshot
	Template *corev1.PodTemplateSpec // template of the pods; nil: the template of the DaemonSet
}

func (c Creation) PodTemplate() *corev1.PodTemplateSpec {
	if c.Template != nil {
		return c.Template
	}
	return &c.Of.DaemonSet.Spec.Template
}

func (c Creation) Namespace() string { return c.Of.DaemonSet.Namespace }

// ServiceAccount returns the name of the ServiceAccount that the pods run as.
func (c Creation) ServiceAccount() string {
	spec := &c.PodTemplate().Spec
	return cmp.Or(spec.ServiceAccountName, spec.DeprecatedServiceAccount, "default")
}

// RuntimeClass returns the name of the RuntimeClass in the template, or "".
func (c Creation) RuntimeClass() string {
	if name := c.PodTemplate().Spec.RuntimeClassName; name != nil {
		return *name
	}
	return ""
}

// MaxRequests is the maximum number of requests for the creations of one namespace.
const MaxRequests = 10

// AdmissionParts holds the objects from which an Admission is built, and the Gaps for what could
// not be read. The lists may hold more objects than a Creation needs.
type AdmissionParts struct {
	Namespace       *corev1.Namespace
	PriorityClasses []schedulingv1.PriorityClass
	RuntimeClasses  []nodev1.RuntimeClass
	Accounts        []corev1.ServiceAccount
	Quotas          []corev1.ResourceQuota
	Limits          []corev1.LimitRange
	Hooks           *snapshot.Configurations
	Gaps            []snapshot.Gap
}

// Add returns the Snapshot of a Creation with its Admission.
func (p *AdmissionParts) Add(of Creation) *snapshot.Snapshot {
	namespace, template := of.Namespace(), of.PodTemplate()
	a := &snapshot.Admission{
		Namespace: withoutAnnotations(p.Namespace), PriorityClasses: p.PriorityClasses,
		RuntimeClasses: object.Filter(p.RuntimeClasses,
			func(o metav1.Object) bool { return o.GetName() == of.RuntimeClass() }),
		ServiceAccounts: object.Filter(p.Accounts,
			func(o metav1.Object) bool { return object.Key(o) == namespace+"/"+of.ServiceAccount() }),
		ResourceQuotas: object.Filter(p.Quotas, func(o metav1.Object) bool { return o.GetNamespace() == namespace }),
		LimitRanges:    object.Filter(p.Limits, func(o metav1.Object) bool { return o.GetNamespace() == namespace }),
		Hooks:          snapshot.HooksOf(p.Hooks, namespace, p.Labels(), template),
	}
	object.SortByName(a.PriorityClasses)
	object.SortByName(a.ResourceQuotas)
	object.SortByName(a.LimitRanges)
	return of.Of.Admitting(a, object.Ordered(p.Gaps))
}

// withoutAnnotations returns n without annotations, which only OpenShift's controller reads.
func withoutAnnotations(n *corev1.Namespace) *corev1.Namespace {
	if n == nil || n.Annotations == nil {
		return n
	}
	c := *n
	c.Annotations = nil
	return &c
}

// Labels returns the labels of the namespace, or nil if they are unknown.
func (p *AdmissionParts) Labels() map[string]string {
	switch {
	case p.Namespace == nil:
		return nil
	case p.Namespace.Labels == nil:
		return map[string]string{}
	}
	return p.Namespace.Labels
}

// NamespaceParts holds the objects read from one namespace.
type NamespaceParts struct {
	Namespace *corev1.Namespace
	Accounts  []corev1.ServiceAccount
	Quotas    []corev1.ResourceQuota
	Limits    []corev1.LimitRange
	Gaps      [4][]snapshot.Gap // by request
}

// NamesOf returns the names that the creations require, sorted and without duplicates and "".
func NamesOf(all []Creation, name func(Creation) string) []string {
	names := map[string]bool{}
	for _, one := range all {
		names[name(one)] = true
	}
	delete(names, "")
	return slices.Sorted(maps.Keys(names))
}

// RecordedAdmission returns the Snapshot of a Creation with the Admission recorded in from. Parts
// that were recorded for another namespace, ServiceAccount or RuntimeClass become Gaps.
func RecordedAdmission(of Creation, from *snapshot.Snapshot) *snapshot.Snapshot {
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
				return what == snapshot.RuntimeClasses && of.RuntimeClass() == ""
			})...)
		return of.Of.Admitting(nil, gaps)
	}
	a, then := *from.Admission, Creation{Of: from}
	if of.Namespace() != from.DaemonSet.Namespace {
		lacks("the snapshot was recorded for namespace "+from.DaemonSet.Namespace, snapshot.Namespaces,
			snapshot.ResourceQuotas, snapshot.LimitRanges,
			snapshot.Webhooks)
		a.Namespace, a.ResourceQuotas, a.LimitRanges, a.Hooks = nil, nil, nil, nil
	}
	if of.Namespace() != from.DaemonSet.Namespace || of.ServiceAccount() != then.ServiceAccount() {
		lacks("the snapshot was recorded for another ServiceAccount", snapshot.ServiceAccounts)
		a.ServiceAccounts = nil
	}
	if name := of.RuntimeClass(); name != then.RuntimeClass() {
		if name != "" {
			lacks("the snapshot was recorded for another RuntimeClass", snapshot.RuntimeClasses)
		}
		a.RuntimeClasses = nil
	}
	return of.Of.Admitting(&a, gaps)
}
