package dump

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/document"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/internal/source/part"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// admissionStores holds the objects for questions about admission and volumes.
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

	// for questions about fit
	claims   store[corev1.PersistentVolumeClaim]
	volumes  store[corev1.PersistentVolume]
	csiNodes store[storagev1.CSINode]

	damaged map[metav1.TypeMeta]string // why an object of a kind cannot be read
}

func (s *admissionStores) put(o object.Object, at document.Position) {
	if o.Damage != nil {
		if s.damaged == nil {
			s.damaged = map[metav1.TypeMeta]string{}
		}
		s.damaged[o.Kind] = fmt.Sprintf("%s: %s", at, source.InWords(o.Damage))
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

// AddAdmission does what Cluster.AddAdmission does, with the objects of the input. If the input has
// neither an object nor a list of a kind, that is a Gap. A missing Namespace or ServiceAccount is a
// Gap, too.
//
// For a recorded Snapshot it returns the recorded Admission, with the hooks for the template of
// that time. Another ServiceAccount or RuntimeClass than the recorded one is a Gap.
func (d *Dump) AddAdmission(_ context.Context, all ...part.Creation) ([]*snapshot.Snapshot, error) {
	out := make([]*snapshot.Snapshot, len(all))
	for i, one := range all {
		if from := d.recorded(one.Of); from != nil {
			out[i] = part.RecordedAdmission(one, from)
		} else {
			out[i] = d.admissionOf(one).Add(one)
		}
	}
	return out, nil
}

func (d *Dump) admissionOf(of part.Creation) *part.AdmissionParts {
	s, namespace := &d.admission, of.Namespace()
	p := &part.AdmissionParts{
		PriorityClasses: slices.Clone(s.priorityClasses.Items), RuntimeClasses: s.runtimeClasses.Items,
		Accounts: s.accounts.Items, Quotas: s.quotas.Items, Limits: s.limits.Items,
		Hooks: &snapshot.Configurations{
			Validating: s.validatingWebhooks.Items, Mutating: s.mutatingWebhooks.Items,
			ValidatingBindings: s.validatingBindings.Items, MutatingBindings: s.mutatingBindings.Items,
			ValidatingPolicies: s.validatingPolicies.Items, MutatingPolicies: s.mutatingPolicies.Items,
		},
	}
	lacks := func(what snapshot.What, why snapshot.Why, message, of string) {
		p.Gaps = append(p.Gaps, snapshot.Gap{What: what, Why: why, Message: message, Of: of})
	}
	if found := object.Filter(s.namespaces.Items,
		func(o metav1.Object) bool { return o.GetName() == namespace }); len(found) > 0 {
		p.Namespace = &found[0]
	}
	for _, piece := range []struct {
		what   snapshot.What
		kind   metav1.TypeMeta
		lacked bool // although every cluster has one
		asked  bool
	}{
		{snapshot.Namespaces, object.OfNamespaces, p.Namespace == nil, true},
		{snapshot.PriorityClasses, object.OfPriorityClasses, false, true},
		{snapshot.RuntimeClasses, object.OfRuntimeClasses, false, of.RuntimeClass() != ""},
		{snapshot.ServiceAccounts, object.OfAccounts, s.accounts.perNamespace[namespace] == 0, true},
		{snapshot.ResourceQuotas, object.OfQuotas, false, true},
		{snapshot.LimitRanges, object.OfLimits, false, true},
		{snapshot.Webhooks, object.OfValidatingWebhooks, false, true},
		{snapshot.Webhooks, object.OfMutatingWebhooks, false, true},
		{snapshot.Webhooks, object.OfValidatingBindings, false, true},
		{snapshot.Webhooks, object.OfMutatingBindings, false, true},
	} {
		name := object.KindName(piece.kind)
		partial, damaged := d.Partial(name), s.damaged[piece.kind]
		switch given := d.Kinds[name] > 0 || d.lists[name]; {
		case !piece.asked:
		case partial != "":
			lacks(piece.what, snapshot.Partial, partial, "")
		case damaged != "":
			lacks(piece.what, snapshot.Failed, damaged, "")
		case !given:
			lacks(piece.what, snapshot.NotGiven, "the input holds no "+piece.kind.Kind, "")
		case piece.lacked:
			lacks(piece.what, snapshot.NotGiven, "the input holds no "+piece.kind.Kind+" of namespace "+namespace,
				"namespace "+namespace)
		}
	}
	return p
}
