package daemonset

import (
	"encoding/json"
	"slices"
)

// Reason is the stable code for a decision. It is never empty in a Verdict.
type Reason string

// Facts are the values behind a Reason. The comment of each Reason lists its
// keys, and FactKeys documents them. Values are strings, numbers, booleans, or
// lists of strings; times are strings in RFC 3339 format.
type Facts map[string]any

// Text returns a fact that is a string, or "" if it is absent.
func (f Facts) Text(key string) string { s, _ := f[key].(string); return s }

// Int returns a fact that is a number, or 0 if it is absent.
func (f Facts) Int(key string) int { n, _ := f[key].(int); return n }

// Yes reports whether a fact is present and true.
func (f Facts) Yes(key string) bool { b, _ := f[key].(bool); return b }

// List returns a fact that is a list, or nil if it is absent.
func (f Facts) List(key string) []string { l, _ := f[key].([]string); return l }

// MarshalJSON encodes nil as an empty object.
func (f Facts) MarshalJSON() ([]byte, error) {
	if f == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(map[string]any(f))
}

// Verdict is an answer with its reason. A positive answer has a reason too.
type Verdict struct {
	OK bool `json:"ok"` // whether the answer is yes

	// the first rule that fails, in the order of `nodes[].checks`; `Eligible`
	// if none does
	// Codes: Placement
	Reason Reason `json:"reason"`
	Facts  Facts  `json:"facts"` // the facts that decide the answer
}

// Placement: why a node is or is not eligible.
const (
	Eligible Reason = "Eligible" // every rule passes

	// NodeName: the template's nodeName is that of another node
	// Facts: want, others
	NodeName Reason = "NodeName"
	// NodeSelector: one key of the template's nodeSelector: the node has another value for the label, or lacks it
	// Facts: key, want, present, got, others, nodesWith
	NodeSelector Reason = "NodeSelector"
	// NodeAffinity: the template's required node affinity: no term matches the node. The facts are about the first
	// failing requirement of the term with the fewest of them
	// Facts: terms, term, key, operator, values, isField, valid, got, others
	NodeAffinity Reason = "NodeAffinity"
	// TaintNotTolerated: neither the template nor the tolerations that the
	// controller adds tolerate a NoSchedule or NoExecute taint of the node. In
	// `checks` also for a taint that is tolerated
	// Facts: taint, taints, key, value, effect, automatic, others
	TaintNotTolerated Reason = "TaintNotTolerated"
	// NamespaceNodeSelector: on OpenShift: every other rule passes, and the
	// node selector of the namespace does not match. In `checks` also if
	// another rule fails
	// Facts: selector, annotation, valid
	NamespaceNodeSelector Reason = "NamespaceNodeSelector"
	// NodesNotRead: unknown: the nodes could not be read. Not in an
	// Explanation, whose `shouldRun` is then null
	NodesNotRead Reason = "NodesNotRead"
	NodeGone     Reason = "NodeGone" // the node no longer exists
)

// Pods: why one is or is not available.
const (
	Available       Reason = "Available"       // its first pod is available
	NotReady        Reason = "NotReady"        // its first pod is not ready, and nothing says why
	NotYetAvailable Reason = "NotYetAvailable" // its first pod is ready, but not yet for minReadySeconds
)

// Steps: why a sync creates, deletes, or does neither.
const (
	Missing Reason = "Missing" // create: the node is eligible and has no pod
	Surge   Reason = "Surge"   // create: a new pod beside an available old one, within maxSurge
	// Forced: delete: the old pod is not available, so the limit does not apply. With maxSurge create: a new pod beside
	// it
	Forced           Reason = "Forced"
	WithinBudget     Reason = "Budget"           // delete: an available old pod, within maxUnavailable
	NoLongerEligible Reason = "NoLongerEligible" // delete: the node is no longer eligible
	// Sunset: delete: an available old pod on such a node under maxSurge, while more pods are available than desired
	Sunset       Reason = "Sunset"
	Superseded   Reason = "Superseded"   // delete: the new pod beside it is available, or this one is not ready
	Duplicate    Reason = "Duplicate"    // delete: another pod of the node is kept
	FailedPod    Reason = "FailedPod"    // delete: its phase is Failed; one per node, because of the back-off
	SucceededPod Reason = "SucceededPod" // delete: its phase is Succeeded
	NodeMissing  Reason = "NodeMissing"  // delete: it was never bound, and its node is deleted
	// a choice among several reasons, named at its members, that the limit of 250 cuts
	Burst Reason = "Burst"

	StepBeingDeleted Reason = "BeingDeleted" // the DaemonSet is being deleted, and its controller does nothing
	StepSelectsAll   Reason = "SelectsAll"   // the selector is empty, and the controller ignores the DaemonSet
	StepOnDelete     Reason = "OnDelete"     // the strategy replaces no pod
	StepUpToDate     Reason = "UpToDate"     // every pod is updated
	StepBudgetSpent  Reason = "BudgetSpent"  // old pods are left, and the limit is used up
	// StepWaiting: old pods are left that cannot be replaced until other pods on their nodes are gone or become
	// available
	StepWaiting     Reason = "Waiting"
	StepFails       Reason = "StepFails"   // the step fails: see `next.error`
	StepPlacement   Reason = "Placement"   // Manage acts
	StepReplacing   Reason = "Replacing"   // RollingUpdate acts
	StepPodsNotRead Reason = "PodsNotRead" // unknown: the pods could not be read
)

// Waits, revisions and errors.
const (
	Backoff             Reason = "Backoff"             // up to 15 minutes between two failed pods of one node
	CleanUp             Reason = "CleanUp"             // it is beyond revisionHistoryLimit, and no pod has its hash
	InvalidBudget       Reason = "InvalidBudget"       // maxUnavailable or maxSurge cannot be resolved
	VanishedNodeInSurge Reason = "VanishedNodeInSurge" // an old pod is alone on a deleted node
	TerminalTerminating Reason = "TerminalTerminating" // it has ended and is terminating, so it blocks nothing
	ReleasedPod         Reason = "Release"             // its labels no longer match the selector
	NoTargetNode        Reason = "NoTargetNode"        // it is not bound to a node, and its node affinity names none
)

// PlacementReasons lists why a node is or is not eligible.
var PlacementReasons = []Reason{Eligible, NodeName, NodeSelector, NodeAffinity, TaintNotTolerated,
	NamespaceNodeSelector, NodeGone, NodesNotRead}

// StepReasons lists why a sync acts or does not.
var StepReasons = []Reason{StepPlacement, StepReplacing, StepUpToDate, StepBudgetSpent, StepWaiting, StepOnDelete,
	StepFails, StepBeingDeleted, StepSelectsAll, StepPodsNotRead}

// BatchReasons lists why a pod is created or deleted.
var BatchReasons = []Reason{Missing, Surge, Forced, WithinBudget, NoLongerEligible, Sunset, Superseded, Duplicate,
	FailedPod, SucceededPod, NodeMissing, Burst}

// WaitReasons lists what a sync may wait for, and why its step fails.
var WaitReasons = []Reason{Backoff, InvalidBudget, VanishedNodeInSurge}

// RemovalReasons lists why a sync deletes a ControllerRevision.
var RemovalReasons = []Reason{
	// it also holds the live template, and another revision is kept
	Duplicate,
	CleanUp,
}

// IgnoredReasons lists why the controller ignores a pod.
var IgnoredReasons = []Reason{TerminalTerminating, ReleasedPod, NoTargetNode}

// Reasons lists every Reason of this package.
var Reasons = distinct(PlacementReasons, []Reason{Available, NotReady, NotYetAvailable}, BatchReasons, StepReasons,
	WaitReasons, RemovalReasons, IgnoredReasons)

// distinct returns the members of several lists without duplicates.
func distinct(lists ...[]Reason) []Reason {
	var out []Reason
	for _, r := range slices.Concat(lists...) {
		if !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}
