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

// Configurations are the objects that make the API server call webhooks and
// evaluate admission policies.
type Configurations struct {
	Validating         []admissionv1.ValidatingWebhookConfiguration
	Mutating           []admissionv1.MutatingWebhookConfiguration
	ValidatingBindings []admissionv1.ValidatingAdmissionPolicyBinding
	MutatingBindings   []admissionv1.MutatingAdmissionPolicyBinding

	// The policies of the bindings. If they are nil, they were not read, and
	// each binding counts as its policy, which may not be about pods.
	ValidatingPolicies []admissionv1.ValidatingAdmissionPolicy
	MutatingPolicies   []admissionv1.MutatingAdmissionPolicy
}

// HooksOf returns the webhooks and policies that the API server may consult
// about a pod that the controller creates in a namespace, by kind and name.
// ofNamespace are the labels of the namespace. If it is nil, they are unknown,
// and a hook is excluded only if the name of the namespace excludes it.
//
// HooksOf does not evaluate match conditions. It omits bindings that only warn
// or audit, because they reject nothing. Selectors and rules are those of
// v1.37; webhooks have had them since v1.16, validating policies since v1.30
// and mutating policies since v1.36.
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
	unknown     bool // the labels of the namespace are unknown, except the one with its name
	ofPod       labels.Set
}

func newPodCreation(namespace string, ofNamespace map[string]string, template *corev1.PodTemplateSpec) podCreation {
	p := podCreation{labels.Set{}, ofNamespace == nil, labels.Set{}}
	maps.Copy(p.ofNamespace, ofNamespace)
	p.ofNamespace[corev1.LabelMetadataName] = namespace // set by the API server
	maps.Copy(p.ofPod, template.Labels)
	// The controller sets these labels, to values that are not known yet.
	for _, added := range []string{appsv1.ControllerRevisionHashLabelKey, "pod-template-generation"} {
		p.ofPod[added] = ""
	}
	return p
}

// selectedBy reports whether both selectors match. A nil selector matches
// everything, and so does one that cannot be parsed, which no server stores.
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

// constraintsOf returns the match constraints of each policy by name, or nil if
// policies is nil.
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

// bound reports whether a binding applies its policy to the pod. A binding
// whose policy does not exist does nothing.
func (p *podCreation) bound(binding *admissionv1.MatchResources, constraints map[string]*admissionv1.MatchResources,
	policy string) bool {
	of, found := constraints[policy]
	return p.matches(binding) && (constraints == nil || found && p.matches(of))
}

// matches reports whether the match resources select the pod. Without rules,
// they select every object; exclusions take precedence.
func (p *podCreation) matches(m *admissionv1.MatchResources) bool {
	if m == nil {
		return true
	}
	anyNamed := func(rules []admissionv1.NamedRuleWithOperations) bool {
		return slices.ContainsFunc(rules, func(r admissionv1.NamedRuleWithOperations) bool {
			return len(r.ResourceNames) == 0 && ofPods(&r.RuleWithOperations) // the pod has no name yet
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
