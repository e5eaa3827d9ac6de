package snapshot

import (
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// Admission is what the API server looks at when the controller asks it to create
// a pod, in the namespace of the DaemonSet. It is read where a plan creates pods,
// and where creation is refused. What of it could not be read has a Gap; an empty
// list without one says that there is none.
//
// Objects hold what the rules read of them: see StripNamespace and its like.
type Admission struct {
	// with its labels; null if it could not be read, or does not exist
	Namespace *corev1.Namespace `json:"namespace"`
	// those that the template can name, and the default of the cluster, by name
	PriorityClasses []schedulingv1.PriorityClass `json:"priorityClasses"`
	// the one that the template names, if it exists
	RuntimeClasses []nodev1.RuntimeClass `json:"runtimeClasses"`
	// the one that the template names, if it exists
	ServiceAccounts []corev1.ServiceAccount `json:"serviceAccounts"`
	ResourceQuotas  []corev1.ResourceQuota  `json:"resourceQuotas"` // those of the namespace, by name
	LimitRanges     []corev1.LimitRange     `json:"limitRanges"`    // those of the namespace, by name

	// webhooks and admission policies that match the creation of a pod in the namespace; they are not run. By kind and
	// name
	Hooks []AdmissionHook `json:"hooks"`

	// DryRun is what the API server answered to the next pod in a dry run; nil if it was not asked. It is of one
	// question, and in no document.
	DryRun *PodDryRun `json:"-"`
}

// PodDryRun is what the API server answered when the user who asks created the pod
// that the controller would create next, with dryRun=All.
type PodDryRun struct {
	Of      *corev1.PodTemplateSpec // the template of the pod; nil for whichever
	Answer  DryRunAnswer
	Message string // the API server's words; empty for DryRunCreated
	// DryRunCreated: what of the pod, as webhooks and policies made it, decides where it fits; else nil
	Spec *corev1.PodSpec
}

// DryRunAnswer says what a PodDryRun came to.
type DryRunAnswer string

const (
	DryRunCreated  DryRunAnswer = "Created"  // the API server admits the pod
	DryRunRejected DryRunAnswer = "Rejected" // it rejects the pod, whoever creates it
	// DryRunUnknown: the answer is not about the pod: the user may not create pods, or a webhook does not support dry
	// runs, or did not answer
	DryRunUnknown DryRunAnswer = "Unknown"
)

// For returns what the API server looks at when a pod of this template is created: without
// what it answered to that of another.
func (a *Admission) For(t *corev1.PodTemplateSpec) *Admission {
	if a == nil || a.DryRun == nil || a.DryRun.Of == nil || equality.Semantic.DeepEqual(a.DryRun.Of, t) {
		return a
	}
	c := *a
	c.DryRun = nil
	return &c
}

// Tried returns a copy of the Snapshot with what the API server answered in a dry run. The
// Snapshot has an Admission.
func (s *Snapshot) Tried(d *PodDryRun) *Snapshot {
	c, a := *s, *s.Admission
	a.DryRun, c.Admission = d, &a
	return &c
}

// AdmissionHook is a webhook, or the binding of an admission policy, that may
// reject or change a pod.
type AdmissionHook struct {
	Kind    HookKind `json:"kind"`    // what it is
	Name    string   `json:"name"`    // of its configuration, or of the policy
	Webhook string   `json:"webhook"` // which one of the configuration; empty for a policy
}

// HookKind is the kind of the object that an AdmissionHook stands in.
type HookKind string

const (
	ValidatingWebhook HookKind = "ValidatingWebhookConfiguration" // a webhook that may reject the pod
	MutatingWebhook   HookKind = "MutatingWebhookConfiguration"   // a webhook that may change or reject it
	ValidatingPolicy  HookKind = "ValidatingAdmissionPolicy"      // a policy that may reject it
	MutatingPolicy    HookKind = "MutatingAdmissionPolicy"        // a policy that may change it
)

// HookKinds lists every HookKind.
var HookKinds = []HookKind{ValidatingWebhook, MutatingWebhook, ValidatingPolicy, MutatingPolicy}
