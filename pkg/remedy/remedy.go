// Package remedy holds what a person can do about a DaemonSet whose pods fail or are missing,
// and what becomes of its rollout. Package plan makes these values, package explain shows
// them. It holds no prose.
package remedy

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// Remedy is one thing that a person can do. Those that plan.Weigh has simulated have a Worth and
// an Effect.
type Remedy struct {
	Code  Code   `json:"code"`  // what to do
	Worth Worth  `json:"worth"` // whether it helps, as a simulation shows
	Value string `json:"value"` // the number, the revision, the node or the label; empty if the code says all

	// the problems that it ends; empty for a way around them
	// Codes: Problems
	Problems []daemonset.Reason `json:"problems"`
	Ends     []cause.Subject    `json:"ends"`  // what the pods fail on that it removes
	Nodes    []string           `json:"nodes"` // the nodes concerned, sorted by name; empty if it is about none
	Pods     []string           `json:"pods"`  // the pods to delete; otherwise empty

	// to add to the template, no wider than the taints that they are for; otherwise empty
	Tolerations []corev1.Toleration `json:"tolerations"`

	// how many pods a ResourceQuota has to allow; 0 if the quota limits something else, and for another remedy
	Needs    int    `json:"needs"`
	Smallest string `json:"smallest"` // the smallest limit that would do, for a higher limit; otherwise empty
	Effect   Effect `json:"effect"`   // what it does
}

// Effect is what a Remedy does, beside what it is for.
type Effect struct {
	Left    []string `json:"left"`    // eligible nodes that have no available pod at the end, sorted by name
	Unknown []string `json:"unknown"` // nodes whose next pod may or may not fail, sorted by name
	// nodes that have a pod now and none at the end, as they are not eligible; sorted by name
	Loses     []string  `json:"loses"`
	Worst     int       `json:"worst"`     // the most eligible nodes without an available pod at one time
	Replaces  int       `json:"replaces"`  // pods that it replaces
	Available int       `json:"available"` // of them, those that are available now
	Updated   int       `json:"updated"`   // nodes whose pod is updated at the end
	Desired   int       `json:"desired"`   // nodes that should run the pod at the end
	Duration  *Duration `json:"duration"`  // how long it takes until then; nil where that is not known
}

// Code names what a Remedy does.
type Code string

const (
	// RollBack: go back to this revision
	// Value: a revision
	RollBack Code = "RollBack"
	// DeletePods: delete pods, which the controller then replaces: under OnDelete, or one that is left over from a
	// deleted node
	DeletePods Code = "DeletePods"
	// CreateObject: create the object that does not exist, or add the key
	CreateObject Code = "CreateObject"
	// PublishImage: publish the image for the architecture and the operating system of the failing nodes, too
	// Value: the platform, such as `linux/arm64`; empty if the nodes have several
	PublishImage Code = "PublishImage"
	// ExcludeNodes: add this label to the template's nodeSelector, which keeps the pod off the nodes on which alone it
	// fails, whose kubelet rejects it, or which only the rolling update counts
	// Value: `KEY=VALUE`; `KEY!=VALUE` for a label that the node affinity has to exclude, several with commas
	ExcludeNodes Code = "ExcludeNodes"
	// RepairNodes: repair the nodes, or delete those that are gone for good. How long that takes is unknown
	// Value: how many
	RepairNodes Code = "RepairNodes"
	// FreeDisk: free what the node lacks: disk, memory or process IDs
	// Value: the condition of the node
	FreeDisk Code = "FreeDisk"
	// NoSurge: maxSurge 0, and this maxUnavailable, because the old pod on the node has what the new one needs
	// Value: a number
	NoSurge Code = "NoSurge"
	// MakeRoom: make room on nodes where the pod does not fit, or free the port that it needs
	MakeRoom Code = "MakeRoom"
	// FreePort: the other pod, or this one, uses another host port, or runs on another node
	FreePort Code = "FreePort"
	// LowerRequest: request less of the resource in the template
	LowerRequest Code = "LowerRequest"
	// CorrectTemplate: correct the field of the template that the pods fail on
	CorrectTemplate Code = "CorrectTemplate"
	// AskOwner: ask the owner of what rejects the pods, or adds to them what fails
	AskOwner Code = "AskOwner"
	// Refresh: write an annotation of the DaemonSet, so that a controller that runs looks at it again
	Refresh Code = "Refresh"
	// RaiseQuota: have its owner raise a ResourceQuota
	// Value: the quota
	RaiseQuota Code = "RaiseQuota"
	// Tolerate: add tolerations to the template, so that a rollout does not delete the pods of these nodes for good
	Tolerate Code = "Tolerate"
	// RaiseMaxUnavailable: raise maxUnavailable to the limit plus the nodes that are broken, until these are repaired
	// Value: a number
	RaiseMaxUnavailable Code = "RaiseMaxUnavailable"
	// RaiseMaxSurge: raise maxSurge likewise
	// Value: a number
	RaiseMaxSurge Code = "RaiseMaxSurge"
	// OutOfService: give the nodes the taint node.kubernetes.io/out-of-service, so that their terminating pods are
	// force-deleted: only where the machine is off
	OutOfService Code = "OutOfService"
	// RemoveNode: delete the Node object of a node whose machine no longer exists
	// Value: the node; where pods hold up the deletion of the DaemonSet, several with commas
	RemoveNode Code = "RemoveNode"
)

// Codes lists every Code, the safest first: of several that help as much, the first is offered first.
var Codes = []Code{
	CreateObject, DeletePods, RollBack, PublishImage, ExcludeNodes, RepairNodes, FreeDisk, NoSurge, FreePort, MakeRoom,
	LowerRequest, RaiseQuota, AskOwner, Refresh, CorrectTemplate, Tolerate, RaiseMaxUnavailable, RaiseMaxSurge,
	OutOfService, RemoveNode,
}

// Worth is whether a Remedy helps.
type Worth string

const (
	// Helps: even at worst the rollout completes, or it ends with fewer nodes without an available pod, and on the way
	// there are never more of them than now and the limit
	Helps Worth = "Helps"
	// MayHelp: it helps if the new pods work, which is unknown
	MayHelp Worth = "MayHelp"
	// Useless: it changes nothing for the better
	Useless Worth = "Useless"
	// Harms: it leaves more nodes without an available pod
	Harms Worth = "Harms"
)

// Worths lists every Worth, best first.
var Worths = []Worth{Helps, MayHelp, Useless, Harms}

// New returns a Remedy without what its code does not need.
func New(code Code, value string, nodes ...string) Remedy {
	nodes = append([]string{}, nodes...)
	slices.Sort(nodes)
	return Remedy{
		Code: code, Value: value, Nodes: slices.Compact(nodes), Problems: []daemonset.Reason{}, Ends: []cause.Subject{},
		Pods: []string{}, Tolerations: []corev1.Toleration{},
		Effect: Effect{Left: []string{}, Unknown: []string{}, Loses: []string{}},
	}
}

// Label returns the label that ExcludeNodes adds to the nodeSelector.
func (r *Remedy) Label() (key, value string) {
	key, value, _ = strings.Cut(r.Value, "=")
	return key, value
}

// Without returns the labels whose nodes ExcludeNodes keeps the pod off, as key and value; none where it
// selects the nodes that stay.
func (r *Remedy) Without() (labels [][2]string) {
	for _, one := range strings.Split(r.Value, ",") {
		if key, value, not := strings.Cut(one, "!="); not {
			labels = append(labels, [2]string{key, value})
		}
	}
	return labels
}

// Find returns the first Remedy with a code, or nil if there is none.
func Find(all []Remedy, code Code) *Remedy {
	if i := slices.IndexFunc(all, func(r Remedy) bool { return r.Code == code }); i >= 0 {
		return &all[i]
	}
	return nil
}

// Offered returns the remedies that help, in their order.
func Offered(all []Remedy) []Remedy {
	return slices.DeleteFunc(slices.Clone(all), func(r Remedy) bool { return r.Worth != Helps })
}
