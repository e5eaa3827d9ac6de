package snapshot

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RuleOf parses "CREATE,UPDATE apps v1 pods,pods/status Namespaced". core
// stands for the group without a name; the scope is optional.
func RuleOf(text string) admissionv1.RuleWithOperations {
	words := strings.Fields(text)
	var r admissionv1.RuleWithOperations
	for _, o := range strings.Split(words[0], ",") {
		r.Operations = append(r.Operations, admissionv1.OperationType(o))
	}
	r.APIGroups = strings.Split(strings.ReplaceAll(words[1], "core", ""), ",")
	r.APIVersions, r.Resources = strings.Split(words[2], ","), strings.Split(words[3], ",")
	if len(words) > 4 {
		scope := admissionv1.ScopeType(words[4])
		r.Scope = &scope
	}
	return r
}

// selectorOf parses a selector in kubectl's notation. "none" is a nil selector,
// "?" an invalid one.
func selectorOf(t *testing.T, text string) *metav1.LabelSelector {
	switch text {
	case "none":
		return nil
	case "?":
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "k", Operator: "Is"}}}
	}
	s, err := metav1.ParseToLabelSelector(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var (
	inProd = map[string]string{"env": "prod"}
	aPod   = &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "agent"}}}
)

func TestHooksOfRules(t *testing.T) {
	for _, tt := range []struct {
		rules string // of one webhook, separated by ";"
		want  bool
		why   string
	}{
		{"CREATE core v1 pods", true, "exactly that"},
		{"* * * *", true, "everything, but for subresources"},
		{"* * * */*", true, "everything"},
		{"CREATE core v1 pods/*", true, "pods with their subresources"},
		{"UPDATE core v1 pods; CREATE core v1 pods", true, "one of two rules will do"},
		{"UPDATE,CREATE apps,core v1beta1,v1 deployments,pods", true, "one of each list"},
		{"CREATE core v1 pods Namespaced", true, "pods have a namespace"},
		{"CREATE core v1 pods *", true, "any scope"},
		{"CREATE core v1 pods Cluster", false, "pods have a namespace"},
		{"UPDATE,DELETE,CONNECT core v1 pods", false, "another operation"},
		{"CREATE apps v1 pods", false, "another group"},
		{"CREATE core v1beta1 pods", false, "another version"},
		{"CREATE core v1 services", false, "another resource"},
		{"CREATE core v1 pods/exec", false, "a subresource"},
		{"CREATE core v1 */exec", false, "a subresource of anything"},
		{"CREATE apps v1 pods; UPDATE core v1 pods", false, "two rules do not add up"},
	} {
		var rules []admissionv1.RuleWithOperations
		var named []admissionv1.NamedRuleWithOperations
		for _, r := range strings.Split(tt.rules, ";") {
			rules = append(rules, RuleOf(r))
			named = append(named, admissionv1.NamedRuleWithOperations{RuleWithOperations: RuleOf(r)})
		}
		all := &Configurations{
			Validating:         []admissionv1.ValidatingWebhookConfiguration{{ObjectMeta: metav1.ObjectMeta{Name: "v"}, Webhooks: []admissionv1.ValidatingWebhook{{Name: "h", Rules: rules}}}},
			Mutating:           []admissionv1.MutatingWebhookConfiguration{{ObjectMeta: metav1.ObjectMeta{Name: "m"}, Webhooks: []admissionv1.MutatingWebhook{{Name: "h", Rules: rules}}}},
			ValidatingBindings: []admissionv1.ValidatingAdmissionPolicyBinding{{Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "p", ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}}}},
			MutatingBindings:   []admissionv1.MutatingAdmissionPolicyBinding{{Spec: admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: "q"}}},
			ValidatingPolicies: []admissionv1.ValidatingAdmissionPolicy{{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: admissionv1.ValidatingAdmissionPolicySpec{MatchConstraints: &admissionv1.MatchResources{ResourceRules: named}}}},
			MutatingPolicies:   []admissionv1.MutatingAdmissionPolicy{{ObjectMeta: metav1.ObjectMeta{Name: "q"}, Spec: admissionv1.MutatingAdmissionPolicySpec{MatchConstraints: &admissionv1.MatchResources{ResourceRules: named}}}},
		}
		var want []AdmissionHook
		if tt.want {
			want = []AdmissionHook{{ValidatingWebhook, "v", "h"}, {MutatingWebhook, "m", "h"}, {ValidatingPolicy, "p", ""}, {MutatingPolicy, "q", ""}}
		}
		if diff := cmp.Diff(want, HooksOf(all, "ns", inProd, aPod)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", tt.rules, tt.why, diff)
		}
	}
}

func TestHooksOfSelectors(t *testing.T) {
	for _, tt := range []struct {
		byNamespace, byObject string
		unknown               bool // the labels of the namespace are unknown
		want                  bool
		why                   string
	}{
		{"none", "none", false, true, "no selector holds for all"},
		{"", "", false, true, "and so does an empty one"},
		{"env=prod", "app=agent", false, true, "both hold"},
		{"env=test", "", false, false, "another namespace"},
		{"", "app=web", false, false, "another pod"},
		{"env notin (prod)", "", false, false, "all namespaces but this one"},
		{"kubernetes.io/metadata.name=ns", "", false, true, "the namespace by its name, which its labels need not have"},
		{"kubernetes.io/metadata.name notin (ns)", "", false, false, "all but this name"},
		{"", "controller-revision-hash", false, true, "the controller labels its pods"},
		{"", "!pod-template-generation", false, false, "so that this is none of it"},
		{"?", "?", false, true, "what cannot be parsed keeps nothing out"},
		{"env=test", "", true, true, "unknown labels may be anything"},
		{"kubernetes.io/metadata.name=ns,env=test", "", true, true, "but for the name"},
		{"kubernetes.io/metadata.name=other", "", true, false, "which is not this one"},
		{"", "app=web", true, false, "and those of the pod are known"},
	} {
		labels := inProd
		if tt.unknown {
			labels = nil
		}
		rules := []admissionv1.RuleWithOperations{RuleOf("CREATE core v1 pods")}
		byNamespace, byObject := selectorOf(t, tt.byNamespace), selectorOf(t, tt.byObject)
		resources := &admissionv1.MatchResources{NamespaceSelector: byNamespace, ObjectSelector: byObject}
		all := &Configurations{
			Validating: []admissionv1.ValidatingWebhookConfiguration{{ObjectMeta: metav1.ObjectMeta{Name: "v"}, Webhooks: []admissionv1.ValidatingWebhook{
				{Name: "h", Rules: rules, NamespaceSelector: byNamespace, ObjectSelector: byObject},
			}}},
			Mutating: []admissionv1.MutatingWebhookConfiguration{{ObjectMeta: metav1.ObjectMeta{Name: "m"}, Webhooks: []admissionv1.MutatingWebhook{
				{Name: "h", Rules: rules, NamespaceSelector: byNamespace, ObjectSelector: byObject},
			}}},
			ValidatingBindings: []admissionv1.ValidatingAdmissionPolicyBinding{{Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
				PolicyName: "p", MatchResources: resources, ValidationActions: []admissionv1.ValidationAction{admissionv1.Audit, admissionv1.Deny},
			}}},
			MutatingBindings: []admissionv1.MutatingAdmissionPolicyBinding{{Spec: admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: "q", MatchResources: resources}}},
		}
		var want []AdmissionHook
		if tt.want {
			want = []AdmissionHook{{ValidatingWebhook, "v", "h"}, {MutatingWebhook, "m", "h"}, {ValidatingPolicy, "p", ""}, {MutatingPolicy, "q", ""}}
		}
		if diff := cmp.Diff(want, HooksOf(all, "ns", labels, aPod)); diff != "" {
			t.Errorf("%q %q: %s (-want +got):\n%s", tt.byNamespace, tt.byObject, tt.why, diff)
		}
	}
}

// TestHooksOfPolicies tests bindings together with their policies.
func TestHooksOfPolicies(t *testing.T) {
	ofPods := admissionv1.NamedRuleWithOperations{RuleWithOperations: RuleOf("CREATE core v1 pods")}
	ofJobs := admissionv1.NamedRuleWithOperations{RuleWithOperations: RuleOf("CREATE batch v1 jobs")}
	ofOne := ofPods
	ofOne.ResourceNames = []string{"one"}
	type rules = []admissionv1.NamedRuleWithOperations
	resources := func(include, exclude rules) *admissionv1.MatchResources {
		return &admissionv1.MatchResources{ResourceRules: include, ExcludeResourceRules: exclude}
	}
	for _, tt := range []struct {
		binding, policy *admissionv1.MatchResources
		unread, missing bool // the policies were not read; this one does not exist
		actions         string
		want            bool
		why             string
	}{
		{nil, resources(rules{ofPods}, nil), false, false, "Deny", true, "a binding without resources holds for all that its policy is about"},
		{nil, resources(rules{ofJobs}, nil), false, false, "Deny", false, "which is not pods"},
		{resources(rules{ofJobs}, nil), resources(rules{ofPods}, nil), false, false, "Deny", false, "a binding for others"},
		{resources(nil, nil), resources(rules{ofPods}, nil), false, false, "Deny", true, "one without rules does not restrict"},
		{resources(nil, rules{ofPods}), resources(rules{ofPods}, nil), false, false, "Deny", false, "one that excludes pods does"},
		{nil, resources(rules{ofPods}, rules{ofPods}), false, false, "Deny", false, "what is excluded comes first"},
		{nil, resources(rules{ofOne}, nil), false, false, "Deny", false, "a pod that the controller creates has no name yet"},
		{nil, resources(rules{ofPods}, rules{ofOne}), false, false, "Deny", true, "so that none is excluded by its name"},
		{nil, nil, true, false, "Deny", true, "a policy that was not read may be about pods"},
		{resources(rules{ofJobs}, nil), nil, true, false, "Deny", false, "unless its binding is not"},
		{nil, nil, false, true, "Deny", false, "a binding without its policy does nothing"},
		{nil, resources(rules{ofPods}, nil), false, false, "Warn,Audit", false, "what only warns and audits rejects nothing"},
	} {
		all := &Configurations{ValidatingBindings: []admissionv1.ValidatingAdmissionPolicyBinding{
			{Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "p", MatchResources: tt.binding}},
		}}
		for _, a := range strings.Split(tt.actions, ",") {
			b := &all.ValidatingBindings[0].Spec
			b.ValidationActions = append(b.ValidationActions, admissionv1.ValidationAction(a))
		}
		if !tt.unread {
			all.ValidatingPolicies = []admissionv1.ValidatingAdmissionPolicy{}
			if !tt.missing {
				all.ValidatingPolicies = append(all.ValidatingPolicies, admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: admissionv1.ValidatingAdmissionPolicySpec{MatchConstraints: tt.policy}})
			}
		}
		all.ValidatingBindings = append(all.ValidatingBindings, all.ValidatingBindings[0]) // still one hook
		var want []AdmissionHook
		if tt.want {
			want = []AdmissionHook{{ValidatingPolicy, "p", ""}}
		}
		if diff := cmp.Diff(want, HooksOf(all, "ns", inProd, aPod)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
}
