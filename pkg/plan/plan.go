// Package plan says what a rollout will do: the controller's next batch
// exactly, and every later one to the end or to the stall, under named
// assumptions. A what-if is a Change of the Snapshot, planned again. It holds no
// prose.
package plan

import (
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// Kind and ListKind are the kinds of the documents of this package.
const (
	Kind     = "RolloutPlan"
	ListKind = "RolloutPlanList"
)

// Plan is the answer for one DaemonSet. It is the JSON contract:
// docs/output.md documents every field.
type Plan struct {
	daemonset.Header `json:",inline"`
	Subject          Subject          `json:"subject"`
	Change           *ChangeSummary   `json:"change"` // nil where nothing was asked
	Warnings         []Warning        `json:"warnings"`
	Desired          Desired          `json:"desired"`
	Now              daemonset.Counts `json:"now"` // the numbers of the status, before the first step and after the change
	Placement        Placement        `json:"placement"`

	// Lost are the nodes that have a pod now and none at the end, as they should
	// not run one: those of Placement.Lose, those whose pod the rollout deletes
	// and does not replace, and, without a change, those whose pod may not stay.
	// Sorted by name; a node that is removed itself is not among them.
	Lost []PlacementNode `json:"lost"`

	Next     daemonset.Step `json:"next"`
	Groups   []Group        `json:"groups"`
	Forecast `json:",inline"`

	// IfTemplateChanged is what a change of the template would do, where nothing
	// was asked and nothing is rolling; else nil.
	IfTemplateChanged *Forecast `json:"ifTemplateChanged"`
}

// Desired is on how many nodes the pod should run, before and after a change;
// without one both are the same.
type Desired struct {
	Before int `json:"before"`
	After  int `json:"after"`
}

// List is several Plans.
type List struct {
	APIVersion string  `json:"apiVersion"`
	Kind       string  `json:"kind"`
	Items      []*Plan `json:"items"`
}

// Subject says what a Plan is about.
type Subject string

const (
	SubjectNothing Subject = "Nothing" // nothing was asked, and nothing is rolling
	SubjectRollout Subject = "Rollout" // the rollout, or the placement of pods, under way
	SubjectChange  Subject = "Change"  // a change that was asked
	SubjectNew     Subject = "New"     // a DaemonSet that is not in the cluster yet
)

// ChangeSummary is what a Change makes of the DaemonSet and of the cluster.
type ChangeSummary struct {
	// Method says how a manifest was laid over the live object: LastApplied,
	// ManagedFields, Overlay, ServerDryRun, New; empty without a manifest.
	Method          string       `json:"method"`
	FieldManager    string       `json:"fieldManager"` // who applies it server-side; empty: it is not applied so
	Fields          []FieldDiff  `json:"fields"`       // of the DaemonSet, in the order of their paths; see Options.ShowValues
	TemplateChanged bool         `json:"templateChanged"`
	Revision        RevisionNote `json:"revision"`
	Nodes           []NodeChange `json:"nodes"` // what was asked of the cluster, in the order asked
}

// FieldDiff is one field that differs.
type FieldDiff = template.Difference

// RevisionNote says which revision the changed DaemonSet is on: one that exists
// and is taken up again, with the number it gets, or a new one.
type RevisionNote struct {
	From   int64  `json:"from"`   // the number of the current revision before; 0 where it is not known
	Number int64  `json:"number"` // the number that the target has after the next sync
	New    bool   `json:"new"`
	Name   string `json:"name"` // of an existing one
	Was    int64  `json:"was"`  // the number that an existing one has now
}

// NodeChange is one change of the cluster that was asked.
type NodeChange struct {
	Kind  NodeChangeKind `json:"kind"`
	Value string         `json:"value"` // the taint, label or node that was given
	Nodes []string       `json:"nodes"` // by name
}

// NodeChangeKind names a change of nodes.
type NodeChangeKind string

const (
	NodeTaint   NodeChangeKind = "Taint"
	NodeUntaint NodeChangeKind = "Untaint"
	NodeLabel   NodeChangeKind = "Label"
	NodeUnlabel NodeChangeKind = "Unlabel"
	NodeCordon  NodeChangeKind = "Cordon"
	NodeUncord  NodeChangeKind = "Uncordon"
	NodeDown    NodeChangeKind = "Down"
	NodeRemove  NodeChangeKind = "Remove"
	NodeAdd     NodeChangeKind = "Add"
)

// Warning is something that the API accepts and that will not go well.
type Warning struct {
	Code  daemonset.Reason `json:"code"`
	Facts daemonset.Facts  `json:"facts"`
}

// Placement is which nodes get or lose a pod because a change moves
// eligibility: at once, outside strategy and budget, under OnDelete too. Lists
// are sorted by name. A node that is added or removed itself is in neither.
type Placement struct {
	Gain []PlacementNode `json:"gain"`
	Lose []PlacementNode `json:"lose"`
}

// PlacementNode is a node with the verdict that moved.
type PlacementNode struct {
	Node    string            `json:"node"`
	Verdict daemonset.Verdict `json:"verdict"` // after the change: mayStay of a loss where it is a no, else shouldRun
}

// Group is what one step can do at worst to the nodes that share a label's
// value.
type Group struct {
	Key     string `json:"key"`
	Value   string `json:"value"` // empty for nodes without the label
	Nodes   int    `json:"nodes"` // that should run the pod
	Down    int    `json:"down"`  // of them without an available pod now
	Step    int    `json:"step"`  // of them that one step of the rollout can take at worst
	AtWorst int    `json:"atWorst"`
}

// Forecast is a rollout to its end, or to where it stalls.
type Forecast struct {
	Budget   Budget  `json:"budget"`
	Replaces int     `json:"replaces"` // old pods that are or would be replaced, also those that a stall keeps from it
	Drops    int     `json:"drops"`    // old pods that are or would be deleted in its course and not replaced, as their node should not run one
	Waves    []Wave  `json:"waves"`
	Outcome  Outcome `json:"outcome"`
	Limits   []Limit `json:"limits"` // what other limits would mean
}

// Budget is how many nodes may be unavailable, or surge, at a time.
type Budget struct {
	Kind  daemonset.BudgetKind `json:"kind"`
	Limit int                  `json:"limit"`
	Spec  string               `json:"spec"` // as it was written; empty where nothing was
}

// Wave is a rolling-update step with the manage steps that refill it: numbers,
// no names. Waves that follow each other and create and delete the same are
// folded into one: Count says how many, At and Last are when the first and the
// last of them begin.
type Wave struct {
	At      *float64         `json:"at"`   // seconds from now; nil where no duration is known
	Last    *float64         `json:"last"` // the same, of the last of them
	Count   int              `json:"count"`
	Creates int              `json:"creates"` // of each
	Deletes int              `json:"deletes"` // of each
	Counts  daemonset.Counts `json:"counts"`  // when the last of them is done
}

// OutcomeCode says how a rollout ends.
type OutcomeCode string

const (
	NothingToDo OutcomeCode = "NothingToDo"
	Completes   OutcomeCode = "Completes"  // every old pod is replaced
	Stalls      OutcomeCode = "Stalls"     // it ends before, by itself for good
	NotRolling  OutcomeCode = "NotRolling" // nothing is replaced by itself: OnDelete, or the DaemonSet is being deleted
	Unknown     OutcomeCode = "Unknown"    // a gap hides it, or there is no end

	// RemovesAllPods: no node is eligible, and no node runs the pod any more,
	// though at least one does now.
	RemovesAllPods OutcomeCode = "RemovesAllPods"
)

// OutcomeCodes lists every OutcomeCode.
var OutcomeCodes = []OutcomeCode{NothingToDo, Completes, RemovesAllPods, Stalls, NotRolling, Unknown}

// Outcome is how a rollout ends under the assumptions.
type Outcome struct {
	Code        OutcomeCode      `json:"code"`
	Reason      daemonset.Reason `json:"reason"`      // of Stalls, NotRolling and Unknown; else empty
	Steps       int              `json:"steps"`       // rolling-update steps until then
	Replaced    int              `json:"replaced"`    // old pods replaced until then, of Replaces
	Dropped     int              `json:"dropped"`     // old pods deleted without replacement until then, of Drops
	AtWorst     bool             `json:"atWorst"`     // Replaced, Dropped and Left are those of the worst order: the controller picks nodes at random
	Left        int              `json:"left"`        // old pods that stay
	Terminating int              `json:"terminating"` // old pods that are on their way out and do not end
	Largest     int              `json:"largest"`     // the most nodes whose pods are being replaced at one time
	AtATime     int              `json:"atATime"`     // the same without AtOnce: as many as the limit lets go
	AtOnce      int              `json:"atOnce"`      // of the nodes whose pods are replaced, those that have no available pod now and get none: whatever the limit says
	Worst       int              `json:"worst"`       // the most nodes without an available pod at one time, of those that should have one

	// Duration is nil where it is not known: no pod tells how long it takes to
	// become ready, or there is no end, or it needs the pods in Late.
	Duration *Duration `json:"duration"`

	// Late are the pods that the outcome takes to become ready although they take
	// longer than any other did: when they do, nothing tells.
	Late []Holder `json:"late"`

	// Holders are the nodes that use up the budget for good, by name; of a
	// rollout that completes, those that stay without an available pod.
	Holders []Holder `json:"holders"`

	// FurtherHolders counts nodes that end like the Holders: which ones is the
	// controller's random choice.
	FurtherHolders int       `json:"furtherHolders"`
	Unblock        []Unblock `json:"unblock"` // single changes, each of which would let it complete
}

// Duration is a range of time.
type Duration = cause.Duration

// Holder is a node that holds the budget or has no available pod. Pod is empty
// for one that does not exist yet.
type Holder struct {
	Node         string `json:"node"`
	Pod          string `json:"pod"`
	*cause.Cause `json:",inline"`
}

// Unblock is one change that would let a stalled rollout complete.
type Unblock struct {
	Code     UnblockCode `json:"code"`
	Value    string      `json:"value"`    // the number, or the node
	Smallest string      `json:"smallest"` // of a limit: the smallest one; else empty
	Left     []string    `json:"left"`     // nodes that have no available pod in the end, as they have none now; by name
}

// UnblockCode names a change.
type UnblockCode string

const (
	RaiseMaxUnavailable UnblockCode = "MaxUnavailable"
	RaiseMaxSurge       UnblockCode = "MaxSurge"
	RemoveNode          UnblockCode = "RemoveNode"
	NoSurge             UnblockCode = "NoSurge"  // maxSurge 0 with that maxUnavailable
	RollBack            UnblockCode = "RollBack" // to the revision of that number: the current one fails
)

// Limit is what the rollout would be with another limit.
type Limit struct {
	Limit    string      `json:"limit"`   // "1", "10%"
	Nodes    int         `json:"nodes"`   // what that comes to
	AtATime  int         `json:"atATime"` // as in Outcome
	Steps    int         `json:"steps"`
	Current  bool        `json:"current"` // it comes to what the limit is now
	Planned  bool        `json:"planned"` // it comes to what the limit is in this plan
	Duration *Duration   `json:"duration"`
	Code     OutcomeCode `json:"code"`
}

// Options are what the person who asks knows better.
type Options struct {
	Starts       []time.Duration // from creation to Ready, of several pods; one alone is that of all
	Termination  *time.Duration  // from deletion to gone
	RequestRate  float64         // requests a second that the controller may send; 0: 20
	RequestBurst int             // 0: 30
	GroupBy      string          // a label of nodes

	// ShowValues has literal values of environment variables, which may be
	// secret, stand in the fields of a change.
	ShowValues bool
}
