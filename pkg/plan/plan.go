// Package plan predicts what a rollout does: the controller's next step exactly, and every later step until the rollout
// completes or stalls, under named assumptions. A what-if is a plan of the State that a whatif.Change produces. The
// package produces codes and facts, not prose.
package plan

import (
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan/timing"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// Kind and ListKind are the kinds of the documents of this package.
const (
	Kind     = "RolloutPlan"
	ListKind = "RolloutPlanList"
)

// Plan is the plan for one DaemonSet. It is a JSON contract: docs/output.md documents every field.
type Plan struct {
	daemonset.Header `json:",inline"`
	Subject          Subject         `json:"subject"` // what the plan is about
	Change           *whatif.Summary `json:"change"`  // the requested change; nil if there is none
	// parts of the change that the API server accepts, but that may not do what you want
	Warnings []Warning `json:"warnings"`
	Desired  Desired   `json:"desired"` // the number of nodes that should run the pod

	// the counts of the status after the change and before the first step; all 0 if they cannot be computed
	Now daemonset.Counts `json:"now"`

	// nodes that gain or lose a pod immediately because the change makes them eligible or not eligible. This
	// does not depend on the strategy and the limit. The lists do not contain nodes that the change adds or
	// removes
	Placement Placement `json:"placement"`

	// nodes that have a pod now but none at the end, because they are not eligible; sorted by name. These are
	// the nodes of `placement.lose` and the nodes whose old pod the rollout deletes without replacement.
	// Without a change, these are also the nodes whose pod may not stay. If the rollout stalls, the list
	// includes nodes that it does not reach. It does not include nodes that the change removes
	Lost []PlacementNode `json:"lost"`

	// the nodes of `lost` whose pod may stay until the rollout deletes it without replacement, because the node has a
	// NoSchedule taint that the pod does not tolerate. Sorted by name
	Stranded []StrandedNode `json:"stranded"`

	// nodes on which a new pod does not fit and preemption makes no room, sorted by name. If the other pods of a node
	// were not read, the node is listed only if the pod would not fit on the empty node
	Unfit []Holder `json:"unfit"`

	// nodes on which the scheduler preempts pods of lower priority to make room for the new pod, sorted by name
	Preempts []Preempt `json:"preempts"`

	// the API server's answer when the controller creates a pod of the current template; nil if no pod is
	// created, or if no object that decides the answer was read
	Admission *admission.Verdict `json:"admission"`

	Next daemonset.Step `json:"next"` // the actions of the controller in its next sync

	// only with `--group-by`, otherwise empty: the worst effect of one step on the nodes that share a value
	// of the label, the most affected first
	Groups   []Group `json:"groups"`
	Forecast `json:",inline"`

	// the effect of a change to the template. It is present only if nothing is in progress, and if no change
	// was requested or only a change of nodes that leaves pods until the next rollout (`placement.keep`).
	// Otherwise nil; also nil if the API server would reject any change
	IfTemplateChanged *Forecast `json:"ifTemplateChanged"`
}

// Desired is the number of nodes that should run the pod, before and after a change. Without a change, both numbers are
// the same.
type Desired struct {
	Before int `json:"before"` // before the change; 0 for a new DaemonSet

	// after the change. If the number decreases by more nodes than `lost` has, some pods stay on nodes that
	// are no longer eligible. The next rollout deletes these pods without replacement
	After int `json:"after"`
}

// List is a list of Plans.
type List struct {
	APIVersion string `json:"apiVersion"` // `kubectl-ds/v1alpha1`
	Kind       string `json:"kind"`       // of the document

	// one for each DaemonSet. With manifests or names, the plans are in their order. Otherwise, only
	// DaemonSets with work to do, or with nodes that stay without an available pod, have one. The order is
	// then Stalls, RemovesAllPods, Unknown, MayComplete, Completes, NotRolling, NothingToDo, then by
	// namespace and name. May be empty
	Items []*Plan `json:"items"`

	// the effect of all changes at the same time. Only if flags change the DaemonSets and none is named; otherwise
	// nil
	Together *Together `json:"together"`

	// DaemonSets without a plan, because the API server would reject the change. Empty if DaemonSets are named, because then
	// the first such error ends the command
	Errors []ListError `json:"errors"`
}

// ListError is a DaemonSet of a List that has no Plan.
type ListError struct {
	Namespace string `json:"namespace"` // of the DaemonSet
	Name      string `json:"name"`      // of the DaemonSet
	Message   string `json:"message"`   // why there is no plan
}

// Subject is what a Plan is about.
type Subject string

const (
	// SubjectNothing: no change was requested, and nothing is in progress: see `ifTemplateChanged`
	SubjectNothing Subject = "Nothing"
	// SubjectRollout: the rollout in progress, or the creation and deletion of pods in progress. If a change
	// was requested, it has no effect on this
	SubjectRollout Subject = "Rollout"
	SubjectChange  Subject = "Change" // a requested change
	SubjectNew     Subject = "New"    // a DaemonSet that is not in the cluster yet
)

// Warning is something that the API server accepts but that may not do what you want.
type Warning struct {
	// what the warning says
	// Codes: Warnings of a plan
	Code  daemonset.Reason `json:"code"`
	Facts daemonset.Facts  `json:"facts"` // the evidence for the warning
}

// Placement lists the nodes that gain or lose a pod because a change makes them eligible or not eligible: immediately,
// regardless of strategy and limit, and also under OnDelete. The lists are sorted by name. Nodes that are added or
// removed are in none of them.
type Placement struct {
	// nodes that the change makes eligible and that have no pod, sorted by name
	Gain []PlacementNode `json:"gain"`

	// nodes with a pod that may stay before the change but not after it; the verdict gives the reason. Sorted by name
	Lose []PlacementNode `json:"lose"`

	// nodes that are eligible only before the change, and keep their pod until a rollout deletes it without
	// replacement; the verdict gives the reason. Sorted by name
	Keep []PlacementNode `json:"keep"`
}

// PlacementNode is a node whose verdict changes.
type PlacementNode struct {
	Node string `json:"node"` // its name

	// whether the node is eligible after the change; for a node that loses its pod, whether the pod may stay
	Verdict daemonset.Verdict `json:"verdict"`
}

// StrandedNode is a node that loses its pod because of a taint that is newer than the pod, with the changes that would
// keep the pod there.
type StrandedNode struct {
	Node string `json:"node"` // its name

	// the taint that makes the node not eligible; `others` is the number of other such taints
	Verdict daemonset.Verdict `json:"verdict"`

	// the fewest changes that make the node eligible, so that the rollout replaces the pod: one for each taint. There
	// is no toleration for taints that announce a shutdown or a fault
	Changes []daemonset.Remedy `json:"changes"`
}

// Group is the worst that one step can do to the nodes that share a value of a label.
type Group struct {
	Key     string `json:"key"`     // the label
	Value   string `json:"value"`   // its value; empty for the nodes without the label
	Nodes   int    `json:"nodes"`   // eligible nodes of the group
	Down    int    `json:"down"`    // how many of these nodes have no available pod now
	Step    int    `json:"step"`    // how many more of these nodes one step of the rollout can take down
	AtWorst int    `json:"atWorst"` // the sum of `down` and `step`
}

// Forecast is the course of a rollout until it completes or stalls.
type Forecast struct {
	Budget Budget `json:"budget"` // the limit of the rolling update

	// old pods that the controller replaces or would replace, because a new pod follows or is already on the
	// node. If the rollout stalls, the number includes pods that it does not reach. With OnDelete, it
	// includes only failed and succeeded pods
	Replaces int `json:"replaces"`

	// old pods that the rollout deletes or would delete without replacement, because their nodes are not
	// eligible, although the pods may stay until then. `replaces` does not include them
	Drops int `json:"drops"`

	// rolling-update steps, each with the manage steps that recreate its pods. Consecutive equal steps share
	// one entry
	Waves   []Wave  `json:"waves"`
	Outcome Outcome `json:"outcome"` // how the rollout ends

	// the same rollout with common limits (1, 5%, 10%, 25%, 33%) instead of its own; empty if nothing is replaced
	Limits []Limit `json:"limits"`
}

// Budget is the number of nodes that may be unavailable, or surge, at a time.
type Budget struct {
	Kind  daemonset.BudgetKind `json:"kind"`  // what limits the rolling update
	Limit int                  `json:"limit"` // how many nodes may be unavailable, or surge, at a time

	// the value that sets the limit, as written; empty if there is none
	Spec string `json:"spec"`
}

// Wave is a rolling-update step with the manage steps that recreate its pods. It has counts, not names. Consecutive
// waves that create and delete the same numbers of pods are folded into one: Count is their number, and At and Last are
// when the first and the last begin.
type Wave struct {
	// seconds from now until the first of them begins, if the rollout takes `outcome.duration.expected`; nil if the
	// start time of a pod is unknown
	At *float64 `json:"at"`

	// seconds from now until the last of them begins; nil if `at` is nil
	Last    *float64         `json:"last"`
	Count   int              `json:"count"`   // how many equal steps this entry stands for
	Creates int              `json:"creates"` // pods that each step creates
	Deletes int              `json:"deletes"` // pods that each step deletes
	Counts  daemonset.Counts `json:"counts"`  // the counts of the status after the last of these steps
}

// OutcomeCode is how a rollout ends.
type OutcomeCode string

const (
	NothingToDo OutcomeCode = "NothingToDo" // no pod is created, deleted or replaced
	Completes   OutcomeCode = "Completes"   // no old pod is left, and every eligible node has a pod
	// MayComplete: it completes if the new pods work, which is unknown, and stalls if they fail: see `unknown`
	MayComplete OutcomeCode = "MayComplete"
	// Stalls: the rollout stops before it is complete and does not continue by itself; or no kubelet starts
	// the new pods; or every pod is deleted, no node runs a pod, and the deletions never finish
	Stalls     OutcomeCode = "Stalls"
	NotRolling OutcomeCode = "NotRolling" // old pods stay, because nothing replaces them by itself
	Unknown    OutcomeCode = "Unknown"    // a gap hides the answer, or the rollout never ends

	// RemovesAllPods: no node is eligible, and no node runs the pod at the end, although at least one node
	// runs it now
	RemovesAllPods OutcomeCode = "RemovesAllPods"
)

// OutcomeCodes lists every OutcomeCode, worst first.
var OutcomeCodes = []OutcomeCode{Stalls, RemovesAllPods, Unknown, MayComplete, Completes, NotRolling, NothingToDo}

// Outcome is how a rollout ends under the assumptions.
type Outcome struct {
	Code OutcomeCode `json:"code"` // how it ends

	// why it does not complete; empty if it completes, or if there is nothing to do
	// Codes: Why a rollout does not complete
	Reason daemonset.Reason `json:"reason"`
	Steps  int              `json:"steps"` // rolling-update steps until the end

	// the part of `replaces` that is done at the end. It includes a pod that the controller deletes on a node
	// whose kubelet does not answer, although that pod never terminates
	Replaced int `json:"replaced"`
	Dropped  int `json:"dropped"` // the part of `drops` that is done at the end

	// only for a rollout that stalls: whether `replaced`, `dropped` and `left` are for the worst order of the
	// nodes. The controller picks the order at random, and may get further
	AtWorst     bool `json:"atWorst"`
	Left        int  `json:"left"`        // old pods at the end that are not terminating
	Terminating int  `json:"terminating"` // old pods that are still terminating at the end

	// only for a rollout that stalls: nodes that use up the limit now, but have no problem, or one that may
	// resolve by itself
	UnderWay int `json:"underWay"`

	// the most nodes whose pods are replaced at the same time. It can exceed `budget.limit`, because the
	// controller deletes unavailable pods regardless of the limit
	Largest int `json:"largest"`

	// how many pods the limit allows at a time: `largest` without the nodes of `atOnce`
	AtATime int `json:"atATime"`

	// nodes that have no available pod even before their replacement: the controller deletes their pods
	// immediately, regardless of the limit
	AtOnce int `json:"atOnce"`
	Worst  int `json:"worst"` // the most eligible nodes without an available pod at a time

	// how long the rollout takes to complete; nil if the start time of a pod is unknown, or if the rollout
	// does not end. If there are pods in `late`, the duration is valid only if they become ready. This is
	// expected within five times the slowest start
	Duration *Duration `json:"duration"`

	// pods that are assumed to become ready, although they have taken longer than any other pod of the DaemonSet.
	// Sorted by node
	Late []Holder `json:"late"`

	// nodes whose current pod fails for a reason that the new template may remove. It is unknown whether the
	// next pod fails, and the plan assumes that it works. Empty if the rollout has the same outcome in both
	// cases. Sorted by node
	Unknown []Holder `json:"unknown"`

	// other possible outcomes, if pods that are not ready do not behave as assumed; empty if the outcome would be the
	// same
	Alternatives []Alternative `json:"alternatives"`

	// nodes that use up the limit, and eligible nodes without an available pod, if they stay as they are;
	// sorted by name
	Holders []Holder `json:"holders"`

	// the problems of the nodes of `holders`, `late` and `unknown`, grouped by cause; the worst and most
	// frequent first
	Problems []*cause.Problem `json:"problems"`

	// how many more nodes end in the same state as the holders; the controller picks them at random
	FurtherHolders int `json:"furtherHolders"`

	// the possible actions, the best first. Each was simulated, except `Refresh`, and `RemoveNode` if the
	// DaemonSet is being deleted
	Remedies []remedy.Remedy `json:"remedies"`
}

// Duration is a range of time.
type Duration = remedy.Duration

// Holder is a node that uses up the limit or has no available pod.
type Holder struct {
	Node         string `json:"node"` // its name
	Pod          string `json:"pod"`  // the pod concerned; empty for a pod that does not exist yet
	*cause.Cause `json:",inline"`
}

// ProblemsOf groups the causes of holders into problems by what they have in common, the worst and most frequent first.
func ProblemsOf(holders []Holder) []*cause.Problem {
	var found []cause.On
	for _, h := range holders {
		c := cause.Cause{Code: daemonset.NotReady, Severity: cause.SeverityError, Facts: daemonset.Facts{}}
		if h.Cause != nil { // absent in a handwritten document
			c = *h.Cause
		}
		c.Pod = h.Pod
		found = append(found, cause.On{Node: h.Node, Cause: &c})
	}
	var out []*cause.Problem
	for _, p := range cause.Problems(found, nil) {
		out = append(out, &p)
	}
	return out
}

// Limit is the course of the rollout with another limit.
type Limit struct {
	Limit string `json:"limit"` // as a number or a percentage: `1`, `10%`
	Nodes int    `json:"nodes"` // the limit as a number of nodes

	// as `outcome.atATime`; less than `nodes` if broken nodes use up part of the limit
	AtATime int `json:"atATime"`
	Steps   int `json:"steps"` // rolling-update steps

	// whether it equals the limit before the change; a percentage is of the nodes after the change
	Current bool `json:"current"`
	Planned bool `json:"planned"` // whether it equals the limit of this plan
	// how long the rollout takes to complete; nil in the same cases as in `outcome`
	Duration *Duration   `json:"duration"`
	Code     OutcomeCode `json:"code"` // how it ends
}

// Options are settings that override what a plan would measure or assume.
type Options struct {
	// times from creation to Ready, above 0, in any order; a single value holds for all pods; empty: measured
	Starts       []time.Duration
	Termination  *time.Duration // from deletion until the pod is gone; nil: measured, or else the grace period
	RequestRate  float64        // requests per second that the controller may send; 0: 20
	RequestBurst int            // 0: 30
	GroupBy      string         // the label to group nodes by
	Fit          bool           // check whether new pods fit on every node that gets one; see NeedsOf

	Warnings []Warning // warnings from whoever read or would store the manifest; they come first

	// ShowValues includes literal values of environment variables, which may be secret, in the fields of a change.
	ShowValues bool
}

// Given returns the times that the options set.
func (o Options) Given() timing.Given {
	return timing.Given{Starts: o.Starts, Termination: o.Termination, RequestRate: o.RequestRate,
		RequestBurst: o.RequestBurst}
}
