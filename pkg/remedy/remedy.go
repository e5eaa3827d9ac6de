// Package remedy defines what a person can do about a DaemonSet whose pods fail
// or are missing, and the outlook of its rollout. Package plan makes these
// values, and package explain shows them. It contains no prose.
package remedy

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// Remedy is one thing that a person can do. Worth and Effect are set if
// plan.Weigh has simulated it.
type Remedy struct {
	Code  Code   `json:"code"`  // what to do
	Worth Worth  `json:"worth"` // whether it helps, according to a simulation
	Value string `json:"value"` // the number, the revision, the node or the label; empty if the code is sufficient

	// the problems that it removes; empty for a workaround
	// Codes: Problems
	Problems []daemonset.Reason `json:"problems"`
	Ends     []cause.Subject    `json:"ends"`  // the subjects of the failures that the remedy removes
	Nodes    []string           `json:"nodes"` // the nodes concerned, sorted by name; empty if there are none
	Pods     []string           `json:"pods"`  // the pods to delete; otherwise empty

	// to add to the template, no wider than the taints; otherwise empty
	Tolerations []corev1.Toleration `json:"tolerations"`

	// how many pods a ResourceQuota has to allow; 0 if the quota limits
	// something else, or for another remedy
	Needs    int    `json:"needs"`
	Smallest string `json:"smallest"` // for a higher limit, the smallest one that is sufficient; otherwise empty
	Effect   Effect `json:"effect"`   // what it does
}

// Effect is the effect of a Remedy.
type Effect struct {
	Left    []string `json:"left"`    // eligible nodes that have no available pod at the end, sorted by name
	Unknown []string `json:"unknown"` // nodes on which it is unknown whether the next pod fails, sorted by name
	// nodes that have a pod now and none at the end, because they are not
	// eligible; sorted by name
	Loses     []string  `json:"loses"`
	Worst     int       `json:"worst"`     // the maximum number of eligible nodes without an available pod at any time
	Replaces  int       `json:"replaces"`  // pods that are replaced
	Available int       `json:"available"` // how many of these pods are available now
	Updated   int       `json:"updated"`   // nodes whose pod is updated at the end
	Desired   int       `json:"desired"`   // nodes that should run the pod at the end
	Duration  *Duration `json:"duration"`  // how long this takes; nil if unknown
}

// Code names what a Remedy does.
type Code string

const (
	// RollBack: roll back to this revision
	// Value: a revision
	RollBack Code = "RollBack"
	// DeletePods: delete pods: under OnDelete, old pods, which the controller then replaces; otherwise, a pod
	// that is left over from a deleted node
	DeletePods Code = "DeletePods"
	// CreateObject: create the object that does not exist, or add the key
	CreateObject Code = "CreateObject"
	// PublishImage: publish the image for the architecture and the operating
	// system of the failing nodes too
	// Value: the platform, such as `linux/arm64`; empty if the nodes have
	// several
	PublishImage Code = "PublishImage"
	// ExcludeNodes: add this label to the template's nodeSelector. This excludes nodes where only this pod
	// fails, where the kubelet rejects it, or which only the rolling update counts
	// Value: `KEY=VALUE`; `KEY!=VALUE` for a label that the node affinity has to exclude, several separated
	// by commas
	ExcludeNodes Code = "ExcludeNodes"
	// RepairNodes: repair the nodes, or delete those that no longer exist. How
	// long that takes is unknown
	// Value: how many
	RepairNodes Code = "RepairNodes"
	// FreeDisk: free what the node lacks: disk, memory or process IDs
	// Value: the condition of the node
	FreeDisk Code = "FreeDisk"
	// NoSurge: set maxSurge to 0 and maxUnavailable to this number, because the old pod on the node uses a
	// resource that the new pod needs
	// Value: a number
	NoSurge Code = "NoSurge"
	// MakeRoom: make room on nodes where the pod does not fit, or free the port that it needs
	MakeRoom Code = "MakeRoom"
	// FreePort: make the other pod, or this one, use another host port or run
	// on another node
	FreePort Code = "FreePort"
	// LowerRequest: lower the request for the resource in the template
	LowerRequest Code = "LowerRequest"
	// CorrectTemplate: correct the field of the template that makes the pods fail
	CorrectTemplate Code = "CorrectTemplate"
	// AskOwner: ask the owner of the object that rejects the pods, or that adds the failing part to them
	AskOwner Code = "AskOwner"
	// Refresh: write an annotation of the DaemonSet, so that a running
	// controller syncs it again
	Refresh Code = "Refresh"
	// RaiseQuota: ask the owner of a ResourceQuota to raise it
	// Value: the quota
	RaiseQuota Code = "RaiseQuota"
	// Tolerate: add tolerations to the template, so that a rollout does not
	// delete the pods of these nodes without replacement
	Tolerate Code = "Tolerate"
	// RaiseMaxUnavailable: raise maxUnavailable to the limit plus the number of
	// broken nodes, until these are repaired
	// Value: a number
	RaiseMaxUnavailable Code = "RaiseMaxUnavailable"
	// RaiseMaxSurge: raise maxSurge in the same way
	// Value: a number
	RaiseMaxSurge Code = "RaiseMaxSurge"
	// OutOfService: add the taint node.kubernetes.io/out-of-service to the
	// nodes, so that their terminating pods are force-deleted; only if the
	// machine is off
	OutOfService Code = "OutOfService"
	// RemoveNode: delete the Node object of a node whose machine no longer
	// exists
	// Value: the node; if pods hold up the deletion of the DaemonSet, several
	// separated by commas
	RemoveNode Code = "RemoveNode"
)

// Codes lists every Code, the safest first. Of several that help equally, the
// first is offered first.
var Codes = []Code{
	CreateObject, DeletePods, RollBack, PublishImage, ExcludeNodes, RepairNodes, FreeDisk, NoSurge, FreePort, MakeRoom,
	LowerRequest, RaiseQuota, AskOwner, Refresh, CorrectTemplate, Tolerate, RaiseMaxUnavailable, RaiseMaxSurge,
	OutOfService, RemoveNode,
}

// Worth is whether a Remedy helps.
type Worth string

const (
	// Helps: even in the worst case, the rollout completes or ends with fewer nodes without an available pod.
	// At no time are there more such nodes than now plus the limit
	Helps Worth = "Helps"
	// MayHelp: it helps if the new pods work, which is unknown
	MayHelp Worth = "MayHelp"
	// Useless: it improves nothing
	Useless Worth = "Useless"
	// Harms: it leaves more nodes without an available pod
	Harms Worth = "Harms"
)

// Worths lists every Worth, best first.
var Worths = []Worth{Helps, MayHelp, Useless, Harms}

// New returns a Remedy with the fields that its code needs.
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

// Without returns the labels, as key and value, of the nodes that ExcludeNodes
// keeps the pod off. It returns none if the remedy selects the remaining nodes
// instead.
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

// Offered returns the remedies that help, in order.
func Offered(all []Remedy) []Remedy {
	return slices.DeleteFunc(slices.Clone(all), func(r Remedy) bool { return r.Worth != Helps })
}
