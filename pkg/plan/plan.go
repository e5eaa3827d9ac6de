// Package plan says what a rollout will do: the controller's next batch
// exactly, and every later one to the end or to the stall, under named
// assumptions. A what-if is a Change of the Snapshot, planned again. It holds no
// prose.
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

// Plan is the answer for one DaemonSet. It is the JSON contract:
// docs/output.md documents every field.
type Plan struct {
	daemonset.Header `json:",inline"`
	Subject          Subject         `json:"subject"`  // what the plan is about
	Change           *whatif.Summary `json:"change"`   // what was asked; nil if nothing was
	Warnings         []Warning       `json:"warnings"` // what the API server accepts, but may not do what you want
	Desired          Desired         `json:"desired"`  // on how many nodes the pod should run

	// the numbers of the status after the change and before the first step; all 0 if they cannot be computed
	Now daemonset.Counts `json:"now"`

	// nodes that get or lose a pod immediately because the change makes them eligible or not, regardless of strategy
	// and limit, under OnDelete too. Nodes that the change adds or removes are in neither list
	Placement Placement `json:"placement"`

	// nodes that have a pod now and none at the end because they are not eligible: those of `placement.lose`, those
	// whose old pod the rollout deletes without replacement and, without a change, those whose pod may not stay. Of a
	// rollout that stalls also those that it does not reach. Nodes that the change removes are not among them. Sorted
	// by name
	Lost []PlacementNode `json:"lost"`

	// of the nodes `lost`, those whose pod may stay where it is, and which the rollout deletes without replacement: the
	// node has a NoSchedule taint that the pod does not tolerate. Sorted by name
	Stranded []StrandedNode `json:"stranded"`

	// nodes on which a new pod does not fit, and preemption makes no room, sorted by name; where the other pods of a
	// node were not read, only if the pod would not fit there alone
	Unfit []Holder `json:"unfit"`

	// nodes on which pods of lower priority make room for the new pod, sorted by name
	Preempts []Preempt `json:"preempts"`

	// what the API server answers when the controller asks it to create a pod of the current template; nil where no
	// pod is created, and where nothing was read that decides it
	Admission *admission.Verdict `json:"admission"`

	Next daemonset.Step `json:"next"` // what the controller does in its next sync

	// only with `--group-by`, otherwise empty: what one step can do at worst to the nodes that share the label's value;
	// those hit hardest first
	Groups   []Group `json:"groups"`
	Forecast `json:",inline"`

	// what a change of the template would do, if nothing is in progress, and nothing was asked or a change of nodes
	// that leaves pods until the next rollout (`placement.keep`); nil otherwise, and where the API server would reject
	// any change
	IfTemplateChanged *Forecast `json:"ifTemplateChanged"`
}

// Desired is on how many nodes the pod should run, before and after a change;
// without one both are the same.
type Desired struct {
	Before int `json:"before"` // before the change; 0 for a new DaemonSet

	// after the change. Where it falls by more nodes than `lost` has, pods stay on nodes that are no longer eligible
	// until the next rollout deletes them, and are not recreated
	After int `json:"after"`
}

// List is several Plans.
type List struct {
	APIVersion string `json:"apiVersion"` // `kubectl-ds/v1alpha1`
	Kind       string `json:"kind"`       // of the document

	// one for each DaemonSet. With manifests or names in their order. Otherwise those with something to do or with
	// nodes that stay without an available pod: Stalls first, then RemovesAllPods, Unknown, MayComplete, Completes,
	// NotRolling and NothingToDo, then by namespace and name; may be empty
	Items []*Plan `json:"items"`
}

// Subject says what a Plan is about.
type Subject string

const (
	// SubjectNothing: nothing was asked, and nothing is in progress: see `ifTemplateChanged`
	SubjectNothing Subject = "Nothing"
	// SubjectRollout: the rollout in progress, or the creation and deletion of pods in progress; with a change, one
	// that leaves it as it is
	SubjectRollout Subject = "Rollout"
	SubjectChange  Subject = "Change" // a change that was asked for
	SubjectNew     Subject = "New"    // a DaemonSet that is not in the cluster yet
)

// Warning is something that the API accepts and that will not go well.
type Warning struct {
	// what the warning says
	// Codes: Warnings of a plan
	Code  daemonset.Reason `json:"code"`
	Facts daemonset.Facts  `json:"facts"` // what the warning rests on
}

// Placement is which nodes get or lose a pod because a change moves
// eligibility: at once, outside strategy and budget, under OnDelete too. Lists
// are sorted by name. A node that is added or removed itself is in neither.
type Placement struct {
	// nodes that the change makes eligible and that have no pod, sorted by name
	Gain []PlacementNode `json:"gain"`

	// nodes with a pod that may stay before the change and not after it; the verdict says why not. Sorted by name
	Lose []PlacementNode `json:"lose"`

	// nodes that are eligible before the change and not after it, and keep their pod until a rollout deletes it, which
	// creates no new one; the verdict says why not. Sorted by name
	Keep []PlacementNode `json:"keep"`
}

// PlacementNode is a node with the verdict that moved.
type PlacementNode struct {
	Node string `json:"node"` // its name

	// whether the node is eligible after the change; for a node that loses its pod, whether the pod may stay
	Verdict daemonset.Verdict `json:"verdict"`
}

// StrandedNode is a node that loses its pod because a taint came after the pod, with
// what would keep it there.
type StrandedNode struct {
	Node string `json:"node"` // its name

	// the taint that makes the node not eligible; `others` counts further ones
	Verdict daemonset.Verdict `json:"verdict"`

	// the fewest changes by which the node becomes eligible, so that the rollout replaces the pod: one for each taint.
	// For taints that announce an end or a fault no toleration is among them
	Changes []daemonset.Remedy `json:"changes"`
}

// Group is what one step can do at worst to the nodes that share a label's
// value.
type Group struct {
	Key     string `json:"key"`     // the label
	Value   string `json:"value"`   // its value; empty for the nodes without it
	Nodes   int    `json:"nodes"`   // eligible nodes of the group
	Down    int    `json:"down"`    // of them, those without an available pod now
	Step    int    `json:"step"`    // of them, how many more one step of the rollout can take at worst
	AtWorst int    `json:"atWorst"` // `down` and `step` together
}

// Forecast is a rollout to its end, or to where it stalls.
type Forecast struct {
	Budget Budget `json:"budget"` // the limit of the rolling update

	// old pods that the controller replaces or would replace: a new pod follows, or is on the node already. Of a
	// rollout that stalls also those that it does not reach; with OnDelete only those that failed or succeeded
	Replaces int `json:"replaces"`

	// old pods that the rollout deletes or would delete without replacement: their node may keep them but is not
	// eligible. None of them is in `replaces`
	Drops int `json:"drops"`

	// rolling-update steps, each with the manage steps that refill it. Equal steps that follow each other are folded
	// into one
	Waves   []Wave  `json:"waves"`
	Outcome Outcome `json:"outcome"` // how the rollout ends

	// the same rollout with the usual limits (1, 5%, 10%, 25%, 33%) in place of its own; empty if nothing is
	// replaced
	Limits []Limit `json:"limits"`
}

// Budget is how many nodes may be unavailable, or surge, at a time.
type Budget struct {
	Kind  daemonset.BudgetKind `json:"kind"`  // what limits the rolling update
	Limit int                  `json:"limit"` // how many nodes may be unavailable, or surge, at a time

	// the value that decides, as it was written; empty if there is none
	Spec string `json:"spec"`
}

// Wave is a rolling-update step with the manage steps that refill it: numbers,
// no names. Waves that follow each other and create and delete the same are
// folded into one: Count says how many, At and Last are when the first and the
// last of them begin.
type Wave struct {
	// seconds from now until the first of them begins, if the rollout takes `outcome.duration.expected`; nil if the
	// start-up time of a pod is unknown
	At *float64 `json:"at"`

	// seconds from now until the last of them begins; nil if `at` is
	Last    *float64         `json:"last"`
	Count   int              `json:"count"`   // how many steps are folded
	Creates int              `json:"creates"` // pods that each step creates
	Deletes int              `json:"deletes"` // pods that each step deletes
	Counts  daemonset.Counts `json:"counts"`  // the numbers of the status when the last of them is done
}

// OutcomeCode says how a rollout ends.
type OutcomeCode string

const (
	NothingToDo OutcomeCode = "NothingToDo" // no pod is created, deleted or replaced
	Completes   OutcomeCode = "Completes"   // no old pod is left, and every eligible node has a pod
	// MayComplete: it completes if the new pods work, which is unknown, and stalls if they fail: see `unknown`
	MayComplete OutcomeCode = "MayComplete"
	// Stalls: the rollout ends before that and does not continue by itself; or no kubelet starts the pods that it
	// creates; or every pod is deleted, no node runs one, and the deletions never finish
	Stalls     OutcomeCode = "Stalls"
	NotRolling OutcomeCode = "NotRolling" // old pods stay, because nothing replaces them by itself
	Unknown    OutcomeCode = "Unknown"    // a gap hides the answer, or there is no end

	// RemovesAllPods: no node is eligible, and no node runs the pod at the end, although at least one does now
	RemovesAllPods OutcomeCode = "RemovesAllPods"
)

// OutcomeCodes lists every OutcomeCode, worst first.
var OutcomeCodes = []OutcomeCode{Stalls, RemovesAllPods, Unknown, MayComplete, Completes, NotRolling, NothingToDo}

// Outcome is how a rollout ends under the assumptions.
type Outcome struct {
	Code OutcomeCode `json:"code"` // how it ends

	// why it does not complete; empty if it does, or where there is nothing to do
	// Codes: Why a rollout does not complete
	Reason daemonset.Reason `json:"reason"`
	Steps  int              `json:"steps"` // rolling-update steps until the end

	// of `replaces`, how many until the end. On a node whose kubelet does not answer, a pod that was deleted for its
	// replacement counts, though it never ends
	Replaced int `json:"replaced"`
	Dropped  int `json:"dropped"` // of `drops`, how many until the end

	// of a rollout that stalls: `replaced`, `dropped` and `left` are those of the worst order of the nodes. The
	// controller picks them at random, and may get further
	AtWorst     bool `json:"atWorst"`
	Left        int  `json:"left"`        // old pods that stay
	Terminating int  `json:"terminating"` // old pods that are terminating at the end, and do not end

	// of a rollout that stalls: nodes that use up the limit now, and on which nothing is wrong, or what may resolve by
	// itself
	UnderWay int `json:"underWay"`

	// the most nodes whose pods are being replaced at one time; can exceed `budget.limit`, because pods that are not
	// available are deleted regardless of the limit
	Largest int `json:"largest"`

	// `largest` without the nodes of `atOnce`: how many pods the limit allows at a time
	AtATime int `json:"atATime"`

	// of the nodes whose pods are replaced, those without an available pod before: their pods are deleted immediately,
	// regardless of the limit
	AtOnce int `json:"atOnce"`
	Worst  int `json:"worst"` // the most eligible nodes without an available pod at one time

	// how long it takes to complete; nil if the start-up time of a pod is unknown, and where there is no end. With pods
	// in `late` it holds only if these become ready, which is expected within five times the slowest start
	Duration *Duration `json:"duration"`

	// pods that the plan assumes become ready, although they take longer than any other pod of the DaemonSet did.
	// Sorted by node
	Late []Holder `json:"late"`

	// nodes whose next pod may or may not fail on what the pod there fails on, as the template differs in it: the plan
	// assumes that it works. Empty where it ends the same if it fails. Sorted by node
	Unknown []Holder `json:"unknown"`

	// the ends that come if pods that are not ready do otherwise than expected: empty where it then ends the same
	Alternatives []Alternative `json:"alternatives"`

	// nodes that stay as they are: those that use up the limit, and eligible ones without an available pod; sorted by
	// name
	Holders []Holder `json:"holders"`

	// what is wrong with the nodes of `holders`, `late` and `unknown`, by what they have in common; the worst and most
	// frequent first
	Problems []*cause.Problem `json:"problems"`

	// how many more nodes end like the holders; the controller picks them at random
	FurtherHolders int `json:"furtherHolders"`

	// what a person can do, the best first: each was simulated, except `Refresh` and `RemoveNode` where the
	// DaemonSet is being deleted
	Remedies []remedy.Remedy `json:"remedies"`
}

// Duration is a range of time.
type Duration = remedy.Duration

// Holder is a node that holds the budget or has no available pod. Pod is empty
// for one that does not exist yet.
type Holder struct {
	Node         string `json:"node"` // its name
	Pod          string `json:"pod"`  // the pod concerned; empty for a pod that does not exist yet
	*cause.Cause `json:",inline"`
}

// ProblemsOf returns what is wrong with nodes by what they have in common, the worst and most
// frequent first.
func ProblemsOf(holders []Holder) []*cause.Problem {
	var found []cause.On
	for _, h := range holders {
		c := cause.Cause{Code: daemonset.NotReady, Severity: cause.SeverityError, Facts: daemonset.Facts{}}
		if h.Cause != nil { // a document made by hand may lack it
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

// Limit is what the rollout would be with another limit.
type Limit struct {
	Limit string `json:"limit"` // as a number or a percentage: `1`, `10%`
	Nodes int    `json:"nodes"` // the limit as a number of nodes

	// as `outcome.atATime`; less than `nodes` where broken nodes use up part of the limit
	AtATime int `json:"atATime"`
	Steps   int `json:"steps"` // rolling-update steps

	// it equals the limit before the change; a percentage is of the nodes after the change
	Current  bool        `json:"current"`
	Planned  bool        `json:"planned"`  // it equals the limit of this plan
	Duration *Duration   `json:"duration"` // how long it takes to complete; nil as in `outcome`
	Code     OutcomeCode `json:"code"`     // how it ends
}

// Options are what the person who asks knows better.
type Options struct {
	// from creation to Ready, above 0, of several pods in any order; one alone is that of all; none: measured
	Starts       []time.Duration
	Termination  *time.Duration // from deletion to gone; nil: measured, or else the grace period
	RequestRate  float64        // requests a second that the controller may send; 0: 20
	RequestBurst int            // 0: 30
	GroupBy      string         // a label of nodes
	Fit          bool           // whether new pods fit is asked of every node that gets one: see NeedsOf

	Warnings []Warning // of a manifest, by whoever read it or would store it; they come first

	// ShowValues has literal values of environment variables, which may be
	// secret, stand in the fields of a change.
	ShowValues bool
}

// Given returns the times that the options set.
func (o Options) Given() timing.Given {
	return timing.Given{Starts: o.Starts, Termination: o.Termination, RequestRate: o.RequestRate,
		RequestBurst: o.RequestBurst}
}
