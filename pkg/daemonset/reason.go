package daemonset

import "encoding/json"

// Reason is the stable code of why something is as it is. The zero Reason
// means that somebody forgot to give one; a test looks for it.
type Reason string

// Facts are what a Reason was decided on. The keys of each Reason stand in
// docs/output.md. Values are strings, numbers, booleans, or lists of strings.
type Facts map[string]any

// MarshalJSON writes no facts as an empty object, never as null.
func (f Facts) MarshalJSON() ([]byte, error) {
	if f == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(map[string]any(f))
}

// Verdict is an answer with its reason; a yes has one as much as a no.
type Verdict struct {
	OK     bool   `json:"ok"`
	Reason Reason `json:"reason"`
	Facts  Facts  `json:"facts"`
}

// Placement: why a node should or should not run the pod.
const (
	Eligible          Reason = "Eligible"
	NodeName          Reason = "NodeName"
	NodeSelector      Reason = "NodeSelector"
	NodeAffinity      Reason = "NodeAffinity"
	TaintNotTolerated Reason = "TaintNotTolerated"
	NodesNotRead      Reason = "NodesNotRead" // not a no: a gap hides the node
	NodeGone          Reason = "NodeGone"
)

// Pods: why one is or is not available or up to date.
const (
	Available       Reason = "Available"
	NotReady        Reason = "NotReady"
	NotYetAvailable Reason = "NotYetAvailable"
)

// Steps: why a sync creates, deletes, or does neither.
const (
	Missing          Reason = "Missing"
	Surge            Reason = "Surge"
	Forced           Reason = "Forced"
	WithinBudget     Reason = "Budget"
	NoLongerEligible Reason = "NoLongerEligible"
	Sunset           Reason = "Sunset"
	Superseded       Reason = "Superseded"
	Duplicate        Reason = "Duplicate"
	FailedPod        Reason = "FailedPod"
	SucceededPod     Reason = "SucceededPod"
	NodeMissing      Reason = "NodeMissing"
	Burst            Reason = "Burst" // a class of several reasons, cut at the burst

	StepBeingDeleted Reason = "BeingDeleted"
	StepSelectsAll   Reason = "SelectsAll"
	StepOnDelete     Reason = "OnDelete"
	StepUpToDate     Reason = "UpToDate"
	StepBudgetSpent  Reason = "BudgetSpent"
	StepWaiting      Reason = "Waiting"
	StepFails        Reason = "StepFails"
	StepPlacement    Reason = "Placement" // manage acts
	StepReplacing    Reason = "Replacing" // rollingUpdate acts
	StepPodsNotRead  Reason = "PodsNotRead"
)

// Waits, revisions and errors.
const (
	Backoff             Reason = "Backoff"
	CleanUp             Reason = "CleanUp"
	InvalidBudget       Reason = "InvalidBudget"
	VanishedNodeInSurge Reason = "VanishedNodeInSurge"
	TerminalTerminating Reason = "TerminalTerminating"
	ReleasedPod         Reason = "Release"
	NoTargetNode        Reason = "NoTargetNode"
)

// Reasons lists every Reason of this package.
var Reasons = []Reason{
	Eligible, NodeName, NodeSelector, NodeAffinity, TaintNotTolerated, NodesNotRead, NodeGone,
	Available, NotReady, NotYetAvailable,
	Missing, Surge, Forced, WithinBudget, NoLongerEligible, Sunset, Superseded, Duplicate, FailedPod, SucceededPod, NodeMissing, Burst,
	StepBeingDeleted, StepSelectsAll, StepOnDelete, StepUpToDate, StepBudgetSpent, StepWaiting, StepFails, StepPlacement, StepReplacing, StepPodsNotRead,
	Backoff, CleanUp, InvalidBudget, VanishedNodeInSurge, TerminalTerminating, ReleasedPod, NoTargetNode,
}
