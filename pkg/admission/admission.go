// Package admission returns what the API server answers when the DaemonSet
// controller creates a pod: which of its admission plugins reject the pod, what
// they change in it, and how many such pods the ResourceQuotas of the namespace
// admit. It applies the plugins that are enabled by default. It does not run
// webhooks and admission policies; a Verdict lists them among its assumptions.
// The answer to a dry run overrides all of this.
//
// The rules are those of k8s.io/kubernetes v1.37; where a comment names a
// version that changed a rule, those of older versions too.
package admission

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Verdict is the API server's answer to the creation of one pod.
type Verdict struct {
	// Refusals are in the order in which the API server finds them; it reports only the first. If there are
	// none, the pod is admitted, subject to Unknown and Assumed.
	Refusals []Refusal `json:"refusals"`

	// Passes is the number of such pods that can be created until a quota rejects the next one: 0 if the
	// first is rejected, Unlimited if no quota rejects any.
	Passes int64   `json:"passes"`
	Quotas []Quota `json:"quotas"` // the ResourceQuotas that count the pod, by name

	// Pod is the pod with defaults and with the changes of the plugins, as the
	// scheduler sees it. It lacks the changes of a plugin that rejects it, the
	// volume of the ServiceAccount's token, which takes no resources and has a
	// random name, and the defaults that the API server also sets in pod
	// templates.
	Pod *corev1.Pod `json:"-"`

	Unknown []Unchecked  `json:"unknown"` // rules that were not checked, or only in part, in the order of the rules
	Assumed []Assumption `json:"assumed"` // what was taken as true
}

// Unlimited is the value of Passes if no quota limits it.
const Unlimited int64 = -1

// Admitted reports whether nothing is known to reject the pod.
func (v *Verdict) Admitted() bool { return len(v.Refusals) == 0 }

// Rule names a part of the API server that can reject a pod: an admission
// plugin, or the validation of the pod itself.
type Rule string

const (
	NamespaceLifecycle Rule = "NamespaceLifecycle" // the namespace must exist, and must not be terminating
	ServiceAccount     Rule = "ServiceAccount"     // the ServiceAccount must exist; it brings imagePullSecrets
	// the PriorityClass must exist; it sets priority and preemptionPolicy
	Priority Rule = "Priority"
	// the RuntimeClass must exist; it sets overhead, nodeSelector and tolerations
	RuntimeClass Rule = "RuntimeClass"
	// the pod must be valid with the defaults that a template does not get
	Validation    Rule = "Validation"
	LimitRanger   Rule = "LimitRanger"   // a LimitRange sets defaults, and bounds requests and limits
	PodSecurity   Rule = "PodSecurity"   // the level that the namespace enforces
	ResourceQuota Rule = "ResourceQuota" // number and requests of the pods of the namespace

	// any other rejection in a dry run: by a webhook, an admission policy or another plugin
	APIServer Rule = "APIServer"
)

// Rules lists every Rule that is computed, in the order in which the API server
// applies them. RuntimeClass is applied twice: an overhead without a class is
// rejected after PodSecurity.
var Rules = []Rule{NamespaceLifecycle, ServiceAccount, Priority, RuntimeClass, Validation, LimitRanger, PodSecurity,
	ResourceQuota}

// Reason says why a Rule rejects a pod.
type Reason string

const (
	NamespaceNotFound    Reason = "NamespaceNotFound"    // the namespace does not exist. Rule: NamespaceLifecycle
	NamespaceTerminating Reason = "NamespaceTerminating" // the namespace is being deleted. Rule: NamespaceLifecycle

	ServiceAccountNotFound Reason = "ServiceAccountNotFound" // the ServiceAccount does not exist. Rule: ServiceAccount
	// SecretNotAllowed: the ServiceAccount has the annotation kubernetes.io/enforce-mountable-secrets, and does not
	// list a Secret that the pod refers to. Rule: ServiceAccount
	SecretNotAllowed Reason = "SecretNotAllowed"

	PriorityClassNotFound Reason = "PriorityClassNotFound" // the PriorityClass does not exist. Rule: Priority
	// the template has a different priority than its class. Rule: Priority
	PriorityDiffers Reason = "PriorityDiffers"
	// the template has a different preemptionPolicy than its class. Rule: Priority
	PreemptionPolicyDiffers Reason = "PreemptionPolicyDiffers"

	RuntimeClassNotFound Reason = "RuntimeClassNotFound" // the RuntimeClass does not exist. Rule: RuntimeClass
	// the template has a different overhead than its class. Rule: RuntimeClass
	OverheadDiffers Reason = "OverheadDiffers"
	// the template has an overhead, but no class sets one. Rule: RuntimeClass
	OverheadWithoutClass Reason = "OverheadWithoutClass"
	// template and RuntimeClass require different values of a node label. Of:
	// RuntimeClass
	NodeSelectorConflicts Reason = "NodeSelectorConflicts"

	// with its defaults the pod is invalid, although the template is valid. Rule: Validation
	PodInvalid Reason = "PodInvalid"

	// requests or limits are out of the bounds of a LimitRange. Rule: LimitRanger
	LimitRangeViolated Reason = "LimitRangeViolated"
	// the pod violates the level that the namespace enforces. Rule: PodSecurity
	PodSecurityViolated Reason = "PodSecurityViolated"

	// a quota counts a resource that a container must then request or limit. Rule: ResourceQuota
	QuotaMustSpecify Reason = "QuotaMustSpecify"
	// the controller has not counted the usage of a quota. Rule: ResourceQuota
	QuotaStatusUnknown Reason = "QuotaStatusUnknown"
	QuotaExceeded      Reason = "QuotaExceeded" // a quota has no room for the pod. Rule: ResourceQuota

	// DryRunRejected: the API server rejects the pod in a dry run; `message`
	// says why. Rule: any rule
	DryRunRejected Reason = "DryRunRejected"
)

// Refusal is one reason for which the API server rejects the pod. Fields that
// its Reason does not use are empty.
type Refusal struct {
	Rule   Rule   `json:"rule"`   // which part of the API server rejects the pod
	Reason Reason `json:"reason"` // why

	// Name of the object that is missing or that rejects the pod: the
	// namespace, the class, the ServiceAccount, the LimitRange or the
	// ResourceQuota; empty if the template alone is at fault
	Name string `json:"name"`

	// PodSecurityViolated: the level that is enforced; otherwise absent
	Level string `json:"level,omitempty"`
	// PodSecurityViolated: the version of the level, as the namespace has it: latest or v1.N; otherwise absent
	Version string `json:"version,omitempty"`
	// PodSecurityViolated: what the level forbids; otherwise absent
	Violations []Violation `json:"violations,omitempty"`

	// LimitRangeViolated: the bounds that the pod violates; otherwise absent
	Bounds  []Bound   `json:"bounds,omitempty"`
	Invalid []Invalid `json:"invalid,omitempty"` // PodInvalid: the fields that are invalid; otherwise absent
	// QuotaExceeded: the resources that are exceeded, by name; otherwise absent
	Amounts []Amount `json:"amounts,omitempty"`
	// QuotaMustSpecify, QuotaStatusUnknown: the resources that are missing, by name; otherwise absent
	Missing []Missing `json:"missing,omitempty"`

	// PriorityDiffers, PreemptionPolicyDiffers, OverheadDiffers,
	// OverheadWithoutClass, NodeSelectorConflicts, SecretNotAllowed: the field
	// of the template that is at fault; otherwise absent
	Field string `json:"field,omitempty"`
	Value string `json:"value,omitempty"` // its value; absent if `field` is
	// the required value; absent if `field` is, and for SecretNotAllowed
	Want string `json:"want,omitempty"`

	// the API server's answer to a dry run, word for word; absent if there was
	// none, or if the answer is another refusal
	Message string `json:"message,omitempty"`

	// the remedies. Each alone removes this refusal, except those for one of several Bounds, Amounts, Invalid
	// or Missing
	Remedies []Remedy `json:"remedies"`
}

// Violation is one thing in the pod that a Pod Security level forbids, in the
// words of the library that the API server uses.
type Violation struct {
	What   string `json:"what"`   // such as: host namespaces
	Detail string `json:"detail"` // such as: hostNetwork=true; may be empty
}

// Missing is a resource that containers do not specify, or whose usage a quota
// has not counted.
type Missing struct {
	Resource corev1.ResourceName `json:"resource"` // as the quota names it, such as limits.cpu
	// the containers that do not specify it, by name; empty for QuotaStatusUnknown
	Containers []string `json:"containers"`
}

// Amount is the state of one resource of a quota.
type Amount struct {
	Resource  corev1.ResourceName `json:"resource"`  // as the quota names it, such as requests.cpu
	Requested resource.Quantity   `json:"requested"` // how much one pod requests
	Used      resource.Quantity   `json:"used"`      // how much existing objects use, according to the quota's status
	Hard      resource.Quantity   `json:"hard"`      // the limit, according to the quota's status
}

// Unchecked is a rule whose input could not be read completely.
type Unchecked struct {
	Rule Rule          `json:"rule"` // the rule that was not checked, or only in part
	Lack snapshot.What `json:"lack"` // what could not be read
}

// Assumption is something that the API does not show, or that is not computed.
type Assumption struct {
	What AssumptionCode          `json:"what"`           // what was assumed
	Hook *snapshot.AdmissionHook `json:"hook,omitempty"` // HookAdmits: which one; otherwise absent

	// ControllerAsUser: the rules by which the pod would be rejected; absent if
	// there are none
	Rules   []Rule `json:"rules,omitempty"`
	Message string `json:"message,omitempty"` // DryRunUnanswered: the API server's message; otherwise absent
}

// AssumptionCode says what a Verdict assumes.
type AssumptionCode string

const (
	HookAdmits AssumptionCode = "HookAdmits" // a webhook or an admission policy admits the pod as it is
	// DefaultPodSecurity: the namespace enforces no level, and neither does the cluster's configuration of PodSecurity
	DefaultPodSecurity AssumptionCode = "DefaultPodSecurity"
	// NoPodSecurityExemption: the cluster's configuration of PodSecurity exempts neither the namespace, nor the
	// RuntimeClass, nor the DaemonSet controller
	NoPodSecurityExemption AssumptionCode = "NoPodSecurityExemption"
	// LimitRangeOrder: LimitRanges have different defaults for the same
	// resource, and the first by name is applied first; the API server applies
	// them in any order
	LimitRangeOrder AssumptionCode = "LimitRangeOrder"
	// DefaultPlugins: the API server runs the admission plugins that are enabled by default, and no others, with
	// their default configuration
	DefaultPlugins AssumptionCode = "DefaultPlugins"
	// ControllerAsUser: the API server admitted your pod in a dry run, and will also admit the pod of the
	// DaemonSet controller; replaces all other assumptions
	ControllerAsUser AssumptionCode = "ControllerAsUser"
	// DryRunUnanswered: the answer to a dry run was not about the pod
	DryRunUnanswered AssumptionCode = "DryRunUnanswered"
)

// Check returns what the API server of a version answers when the DaemonSet
// controller creates the pod, which has a namespace, labels and a spec. Check
// does not modify it. A version that cannot be parsed counts as the newest.
//
// lacks reports what could not be read, like snapshot.Snapshot.Lacks; nil means
// that everything was read. Rules that depend on a missing part are Unchecked.
// A nil in means that nothing was read.
func Check(in *snapshot.Admission, pod *corev1.Pod, kubernetesVersion string, lacks func(snapshot.What) bool) Verdict {
	c := newCheck(in, pod, kubernetesVersion, lacks)
	// What the plugins change, in their order.
	c.namespace()
	c.limitRangeDefaults()
	c.serviceAccount()
	c.priority()
	c.defaultTolerations()
	c.runtimeClass()
	// Then the pod itself, then what the plugins validate.
	c.podLevelDefaults()
	c.validate()
	c.limitRanges()
	c.podSecurity()
	c.overhead()
	c.applyDryRun()
	c.quotas()
	c.hooks()
	return c.verdict()
}

// check accumulates a Verdict.
type check struct {
	in      *snapshot.Admission
	version rules
	lacks   func(snapshot.What) bool
	sent    *corev1.Pod // as the controller creates it
	pod     *corev1.Pod // with the changes so far

	out Verdict
}

func newCheck(in *snapshot.Admission, pod *corev1.Pod, kubernetesVersion string,
	lacks func(snapshot.What) bool) *check {
	if in == nil {
		in, lacks = &snapshot.Admission{}, func(snapshot.What) bool { return true }
	}
	if lacks == nil {
		lacks = func(snapshot.What) bool { return false }
	}
	c := &check{in: in, version: rulesOf(kubernetesVersion), lacks: lacks, sent: pod, pod: pod.DeepCopy()}
	setDefaults(c.pod, c.version)
	return c
}

func (c *check) refuse(r Refusal) { c.out.Refusals = append(c.out.Refusals, r) }

// unread reports whether the input of a rule is missing, and records that.
func (c *check) unread(rule Rule, what snapshot.What) bool {
	if !c.lacks(what) {
		return false
	}
	c.out.Unknown = append(c.out.Unknown, Unchecked{rule, what})
	return true
}

func (c *check) assume(a Assumption) { c.out.Assumed = append(c.out.Assumed, a) }

func (c *check) hooks() {
	if c.dryRunPassed() {
		return
	}
	for i := range c.in.Hooks {
		c.assume(Assumption{What: HookAdmits, Hook: &c.in.Hooks[i]})
	}
	c.assume(Assumption{What: DefaultPlugins})
}

func (c *check) verdict() Verdict {
	v := c.out
	v.Refusals, v.Quotas = append([]Refusal{}, v.Refusals...), append([]Quota{}, v.Quotas...) // lists are never null
	v.Unknown, v.Assumed = append([]Unchecked{}, v.Unknown...), append([]Assumption{}, v.Assumed...)
	for i := range v.Refusals {
		v.Refusals[i].Remedies = append([]Remedy{}, v.Refusals[i].Remedies...)
	}
	for i := range v.Quotas {
		v.Quotas[i].Amounts = append([]Amount{}, v.Quotas[i].Amounts...)
	}
	v.Pod = c.pod
	v.Passes = Unlimited
	for _, q := range v.Quotas {
		if q.Passes != Unlimited && (v.Passes == Unlimited || q.Passes < v.Passes) {
			v.Passes = q.Passes
		}
	}
	if !v.Admitted() {
		v.Passes = 0
	}
	return v
}

// namespace checks that the namespace exists and is not terminating.
func (c *check) namespace() {
	if ns := c.in.Namespace; ns != nil {
		if ns.Status.Phase == corev1.NamespaceTerminating {
			c.refuse(Refusal{Rule: NamespaceLifecycle, Reason: NamespaceTerminating, Name: ns.Name})
		}
		return
	}
	if !c.unread(NamespaceLifecycle, snapshot.Namespaces) {
		c.refuse(Refusal{Rule: NamespaceLifecycle, Reason: NamespaceNotFound, Name: c.pod.Namespace,
			Remedies: []Remedy{{Do: CreateNamespace, Name: c.pod.Namespace}}})
	}
}
