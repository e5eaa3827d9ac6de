package snapshot

import (
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// Admission is what the API server reads when the controller creates a pod in
// the DaemonSet's namespace. It is read for a plan that creates pods, and if
// pods are rejected. A part that could not be read has a Gap; an empty list
// without a Gap means that there is none.
//
// The objects hold only the fields that the rules read: see StripNamespace and
// the other Strip functions.
type Admission struct {
	// the namespace with its labels; null if it could not be read, or does not
	// exist
	Namespace *corev1.Namespace `json:"namespace"`
	// the classes that the template can name, and the cluster's default class, sorted by name
	PriorityClasses []schedulingv1.PriorityClass `json:"priorityClasses"`
	// the object that the template names, if it exists
	RuntimeClasses []nodev1.RuntimeClass `json:"runtimeClasses"`
	// the object that the template names, if it exists
	ServiceAccounts []corev1.ServiceAccount `json:"serviceAccounts"`
	ResourceQuotas  []corev1.ResourceQuota  `json:"resourceQuotas"` // all of the namespace, sorted by name
	LimitRanges     []corev1.LimitRange     `json:"limitRanges"`    // all of the namespace, sorted by name

	// webhooks and admission policies that match the creation of a pod in the
	// namespace, by kind and name; they are not run
	Hooks []AdmissionHook `json:"hooks"`

	// DryRun is the answer of the API server to a dry run of the next pod; nil
	// if there was none. It depends on the question, and is not part of any
	// document.
	DryRun *PodDryRun `json:"-"`
}

// PodDryRun is the API server's answer when the user creates, with dryRun=All,
// the pod that the controller would create next.
type PodDryRun struct {
	Of      *corev1.PodTemplateSpec // the template of the pod; nil if it is valid for any template
	Answer  DryRunAnswer
	Message string // the API server's message; empty for DryRunCreated
	// for DryRunCreated, the fields that decide where the pod fits, as changed
	// by webhooks and policies; otherwise nil
	Spec *corev1.PodSpec
}

// DryRunAnswer is the result of a PodDryRun.
type DryRunAnswer string

const (
	DryRunCreated  DryRunAnswer = "Created"  // the API server admits the pod
	DryRunRejected DryRunAnswer = "Rejected" // it rejects the pod, whoever creates it
	// DryRunUnknown: the answer is not about the pod: the user may not create
	// pods, or a webhook does not support dry runs or did not answer
	DryRunUnknown DryRunAnswer = "Unknown"
)

// For returns a for a pod of the given template: without the dry run, if that
// was of another template.
func (a *Admission) For(t *corev1.PodTemplateSpec) *Admission {
	if a == nil || a.DryRun == nil || a.DryRun.Of == nil || equality.Semantic.DeepEqual(a.DryRun.Of, t) {
		return a
	}
	c := *a
	c.DryRun = nil
	return &c
}

// Tried returns a copy of the Snapshot with the answer to a dry run. The
// Snapshot must have an Admission.
func (s *Snapshot) Tried(d *PodDryRun) *Snapshot {
	c, a := *s, *s.Admission
	a.DryRun, c.Admission = d, &a
	return &c
}

// AdmissionHook is a webhook, or a binding of an admission policy, that may
// reject or change a pod.
type AdmissionHook struct {
	Kind    HookKind `json:"kind"`    // what it is
	Name    string   `json:"name"`    // the name of its configuration or policy
	Webhook string   `json:"webhook"` // its name in the configuration; empty for a policy
}

// HookKind is the kind of the object that defines an AdmissionHook.
type HookKind string

const (
	ValidatingWebhook HookKind = "ValidatingWebhookConfiguration" // a webhook that may reject the pod
	MutatingWebhook   HookKind = "MutatingWebhookConfiguration"   // a webhook that may change or reject it
	ValidatingPolicy  HookKind = "ValidatingAdmissionPolicy"      // a policy that may reject it
	MutatingPolicy    HookKind = "MutatingAdmissionPolicy"        // a policy that may change it
)

// HookKinds lists every HookKind.
var HookKinds = []HookKind{ValidatingWebhook, MutatingWebhook, ValidatingPolicy, MutatingPolicy}
