package snapshot

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Configurations are the objects that make the API server ask webhooks and
// admission policies.
type Configurations struct {
	Validating         []admissionv1.ValidatingWebhookConfiguration
	Mutating           []admissionv1.MutatingWebhookConfiguration
	ValidatingBindings []admissionv1.ValidatingAdmissionPolicyBinding
	MutatingBindings   []admissionv1.MutatingAdmissionPolicyBinding

	// The policies of the bindings. Where they are nil they were not read, and a binding
	// stands for its policy, which then may be about other objects than pods.
	ValidatingPolicies []admissionv1.ValidatingAdmissionPolicy
	MutatingPolicies   []admissionv1.MutatingAdmissionPolicy
}

// HooksOf returns the webhooks and policies that the API server may ask about a pod
// that the controller creates in a namespace with these labels, by kind and name. A
// nil map of labels says that they are unknown: then only what the name alone tells
// keeps a hook out.
//
// Match conditions are not evaluated. A binding that only warns or audits rejects
// nothing, and is none. Selectors and rules are those of v1.37; v1.16 has them for
// webhooks, v1.30 for validating and v1.36 for mutating policies.
func HooksOf(all *Configurations, namespace string, ofNamespace map[string]string,
	template *corev1.PodTemplateSpec) []AdmissionHook {
	p := newPodCreation(namespace, ofNamespace, template)
	var out []AdmissionHook
	for i := range all.Validating {
		for _, h := range all.Validating[i].Webhooks {
			if p.selectedBy(h.NamespaceSelector, h.ObjectSelector) && anyRule(h.Rules) {
				out = append(out, AdmissionHook{ValidatingWebhook, all.Validating[i].Name, h.Name})
			}
		}
	}
	for i := range all.Mutating {
		for _, h := range all.Mutating[i].Webhooks {
			if p.selectedBy(h.NamespaceSelector, h.ObjectSelector) && anyRule(h.Rules) {
				out = append(out, AdmissionHook{MutatingWebhook, all.Mutating[i].Name, h.Name})
			}
		}
	}
	validating := constraintsOf(all.ValidatingPolicies, func(o *admissionv1.ValidatingAdmissionPolicy) (string,
		*admissionv1.MatchResources) {
		return o.Name, o.Spec.MatchConstraints
	})
	for i := range all.ValidatingBindings {
		b := &all.ValidatingBindings[i].Spec
		if slices.Contains(b.ValidationActions, admissionv1.Deny) &&
			p.bound(b.MatchResources, validating, b.PolicyName) {
			out = append(out, AdmissionHook{ValidatingPolicy, b.PolicyName, ""})
		}
	}
	mutating := constraintsOf(all.MutatingPolicies, func(o *admissionv1.MutatingAdmissionPolicy) (string,
		*admissionv1.MatchResources) {
		return o.Name, o.Spec.MatchConstraints
	})
	for i := range all.MutatingBindings {
		if b := &all.MutatingBindings[i].Spec; p.bound(b.MatchResources, mutating, b.PolicyName) {
			out = append(out, AdmissionHook{MutatingPolicy, b.PolicyName, ""})
		}
	}
	slices.SortFunc(out, func(a, b AdmissionHook) int {
		return cmp.Or(slices.Index(HookKinds, a.Kind)-slices.Index(HookKinds, b.Kind), strings.Compare(a.Name, b.Name),
			strings.Compare(a.Webhook, b.Webhook))
	})
	return slices.Compact(out)
}

// podCreation is what hooks select by.
type podCreation struct {
	ofNamespace labels.Set
	unknown     bool // the labels of the namespace, but for the one that is its name
	ofPod       labels.Set
}

func newPodCreation(namespace string, ofNamespace map[string]string, template *corev1.PodTemplateSpec) podCreation {
	p := podCreation{labels.Set{}, ofNamespace == nil, labels.Set{}}
	maps.Copy(p.ofNamespace, ofNamespace)
	p.ofNamespace[corev1.LabelMetadataName] = namespace // the API server sets it
	maps.Copy(p.ofPod, template.Labels)
	// by the controller, with a value that is not known yet
	for _, added := range []string{appsv1.ControllerRevisionHashLabelKey, "pod-template-generation"} {
		p.ofPod[added] = ""
	}
	return p
}

// selectedBy reports whether both selectors match. Without one, all match. One that
// cannot be parsed, which no server stores, keeps nothing out.
func (p *podCreation) selectedBy(byNamespace, byObject *metav1.LabelSelector) bool {
	if byNamespace != nil {
		if s, err := metav1.LabelSelectorAsSelector(byNamespace); err == nil && !p.inNamespace(s) {
			return false
		}
	}
	if byObject == nil {
		return true
	}
	s, err := metav1.LabelSelectorAsSelector(byObject)
	return err != nil || s.Matches(p.ofPod)
}

func (p *podCreation) inNamespace(s labels.Selector) bool {
	if !p.unknown {
		return s.Matches(p.ofNamespace)
	}
	all, _ := s.Requirements()
	return !slices.ContainsFunc(all, func(r labels.Requirement) bool {
		return r.Key() == corev1.LabelMetadataName && !r.Matches(p.ofNamespace)
	})
}

// constraintsOf returns what each policy is about, by name; nil if there are none to look at.
func constraintsOf[T any](policies []T,
	of func(*T) (string, *admissionv1.MatchResources)) map[string]*admissionv1.MatchResources {
	if policies == nil {
		return nil
	}
	out := map[string]*admissionv1.MatchResources{}
	for i := range policies {
		name, constraints := of(&policies[i])
		out[name] = constraints
	}
	return out
}

// bound reports whether a binding has its policy look at the pod. A binding whose
// policy does not exist does nothing.
func (p *podCreation) bound(binding *admissionv1.MatchResources, constraints map[string]*admissionv1.MatchResources,
	policy string) bool {
	of, found := constraints[policy]
	return p.matches(binding) && (constraints == nil || found && p.matches(of))
}

// matches reports whether resources with these rules and selectors hold the pod.
// Without rules, all do; those that exclude come first.
func (p *podCreation) matches(m *admissionv1.MatchResources) bool {
	if m == nil {
		return true
	}
	anyNamed := func(rules []admissionv1.NamedRuleWithOperations) bool {
		return slices.ContainsFunc(rules, func(r admissionv1.NamedRuleWithOperations) bool {
			return len(r.ResourceNames) == 0 && ofPods(&r.RuleWithOperations) // the pod gets its name later
		})
	}
	return p.selectedBy(m.NamespaceSelector, m.ObjectSelector) && !anyNamed(m.ExcludeResourceRules) &&
		(len(m.ResourceRules) == 0 || anyNamed(m.ResourceRules))
}

func anyRule(rules []admissionv1.RuleWithOperations) bool {
	return slices.ContainsFunc(rules, func(r admissionv1.RuleWithOperations) bool { return ofPods(&r) })
}

// ofPods reports whether a rule is about the creation of pods.
func ofPods(r *admissionv1.RuleWithOperations) bool {
	creates := slices.ContainsFunc(r.Operations, func(o admissionv1.OperationType) bool {
		return o == admissionv1.OperationAll || o == admissionv1.Create
	})
	return creates && (r.Scope == nil || *r.Scope != admissionv1.ClusterScope) &&
		(slices.Contains(r.APIGroups, "*") || slices.Contains(r.APIGroups, "")) &&
		(slices.Contains(r.APIVersions, "*") || slices.Contains(r.APIVersions, "v1")) &&
		slices.ContainsFunc(r.Resources, func(resource string) bool {
			of, sub, _ := strings.Cut(resource, "/")
			return (of == "*" || of == "pods") && (sub == "*" || sub == "")
		})
}
