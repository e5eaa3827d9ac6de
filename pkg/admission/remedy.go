package admission

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// RemedyCode says what to change.
type RemedyCode string

const (
	CreateNamespace      RemedyCode = "CreateNamespace"      // create the namespace `name`
	CreateServiceAccount RemedyCode = "CreateServiceAccount" // create the ServiceAccount `name`
	// create the PriorityClass `name`, with `value` if running pods show which
	CreatePriorityClass RemedyCode = "CreatePriorityClass"
	CreateRuntimeClass  RemedyCode = "CreateRuntimeClass" // create the RuntimeClass `name`
	ListSecret          RemedyCode = "ListSecret"         // list the Secret `value` in the ServiceAccount `name`
	RemoveField         RemedyCode = "RemoveField"        // remove `field` from the template
	// label the namespace `name` with the Pod Security level `value`
	SetLevel RemedyCode = "SetLevel"
	// set the request of `container` for `resource`, to `amount` if that is
	// known
	SetRequest RemedyCode = "SetRequest"
	// set the limit of `container` for `resource`, to `amount` if that is known
	SetLimit RemedyCode = "SetLimit"
	// raise `resource` of the ResourceQuota `name` to `amount`, enough for one
	// pod
	RaiseQuota RemedyCode = "RaiseQuota"
)

// Remedy is a change that removes a Refusal. Fields that it does not use are
// empty.
type Remedy struct {
	Do    RemedyCode `json:"do"`              // what to change
	Name  string     `json:"name,omitempty"`  // the name of the object; otherwise absent
	Field string     `json:"field,omitempty"` // the field of the template's spec; otherwise absent
	Value string     `json:"value,omitempty"` // to set or to list; otherwise absent
	// of the template; absent with SetRequest and SetLimit for the pod as a whole
	Container string `json:"container,omitempty"`
	// such as cpu; for a quota, as the quota names it; otherwise absent
	Resource corev1.ResourceName `json:"resource,omitempty"`
	Amount   *resource.Quantity  `json:"amount,omitempty"` // to set or to raise to; otherwise absent
}
