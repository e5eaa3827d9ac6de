// Package explain turns a State into an Explanation: why each node does or does
// not count in each column, which nodes use the budget of a rollout, what is
// wrong, whose fault it is, and a verdict. It contains no prose.
package explain

import (
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/managed"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
)

// Kind and ListKind are the kinds of the documents of this package.
const (
	Kind     = "Explanation"
	ListKind = "ExplanationList"
)

// Explanation says why the numbers of a DaemonSet are what they are. It is a
// stable JSON document: docs/output.md documents every field.
type Explanation struct {
	daemonset.Header `json:",inline"`
	Verdict          Verdict `json:"verdict"` // the answer in one word
	Story            *Story  `json:"story"`   // the beginning of the answer; nil if nothing is wrong

	// the eligible nodes without an available pod; nil if nodes or pods could
	// not be read
	Impact  *Impact `json:"impact"`
	Rollout Rollout `json:"rollout"` // the rollout of the current revision

	// the difference between the revision of most old pods and the live template; nil if there is no old pod,
	// or if one of the two cannot be read
	Change *history.Diff `json:"change"`

	// the tools that write the DaemonSet and revert manual changes, in the order of the table of
	// [tools](#tools)
	ManagedBy []managed.Manager `json:"managedBy"`

	// the first actions, one piece of advice for each kind of problem; empty if there is nothing to do, or if
	// too little could be read
	Advice []Advice `json:"advice"`

	// the possible actions, the best first. Each was simulated, except `Refresh`, and `RemoveNode` if the
	// DaemonSet is being deleted. A rollback and a higher limit are listed even if they do not help
	Remedies []remedy.Remedy `json:"remedies"`

	// the numbers at the time when nothing more changes by itself; nil if there is nothing to wait for, or if
	// they are unknown
	Outlook *Outlook `json:"outlook"`
	Status  Status   `json:"status"` // the numbers that the controller reported, and those that its rules compute now

	// the columns of kubectl (DESIRED, CURRENT, READY, UP-TO-DATE and AVAILABLE) and MISSCHEDULED. If the
	// pods could not be read, only DESIRED. If only the status of the pods could not be read, all but READY
	// and AVAILABLE. If the nodes could not be read, none
	Columns []Column `json:"columns"`

	// revisions that hold the live template or that a pod runs, the latest first; then the hashes of pods
	// that have no ControllerRevision, sorted
	Revisions []Revision `json:"revisions"`

	// the limit of the rolling update, whether or not a rollout is in progress
	Budget BudgetUse `json:"budget"`

	// the problems, causes before consequences: in the order of the table of [problems](#problems); within
	// one code, the more severe first, then the one with more nodes
	Problems []Problem `json:"problems"`

	// the API server's answer when the controller creates a pod of the current template; nil if it rejected
	// no pod, or if no object that decides the answer was read
	Admission *admission.Verdict `json:"admission"`

	// the actions of the controller in its next sync, after it has seen this state
	Next daemonset.Step `json:"next"`

	// the nodes of the cluster, and deleted nodes to which a pod is assigned, sorted by name. With `--node`,
	// only the requested nodes. If the nodes could not be read, only the nodes to which a pod is assigned
	Nodes []Node `json:"nodes"`

	// pods of the DaemonSet that do not belong to a node, sorted by name: they name no node, or the
	// controller ignores them and their node was deleted
	Unmapped []Pod `json:"unmapped"`
}

// List holds several Explanations, worst first.
type List struct {
	APIVersion string `json:"apiVersion"` // `kubectl-ds/v1alpha1`
	Kind       string `json:"kind"`       // of the document

	// one for each DaemonSet. Without names, they are in the order of the table of [verdicts](#verdicts), the
	// worst first, then by namespace and name. With names, they are in the given order
	Items []*Explanation `json:"items"`
}

// VerdictCode sums up a DaemonSet.
// Facts: basis, desired, updated, available, unavailable, limit, oldNodes,
// used, holders, without, stillCounted, newPods, newFailing, oldPods,
// oldFailing
type VerdictCode string

const (
	Healthy        VerdictCode = "Healthy"        // every eligible node has an available pod of the current revision
	BeingDeleted   VerdictCode = "BeingDeleted"   // the DaemonSet is being deleted
	NotObserved    VerdictCode = "NotObserved"    // the controller has not observed the newest generation
	AwaitingDelete VerdictCode = "AwaitingDelete" // old pods stay until you delete them (OnDelete)
	Stuck          VerdictCode = "Stuck"          // a rollout cannot continue by itself
	// Degraded: no rollout is in progress, but pods are rejected, failing or missing
	Degraded VerdictCode = "Degraded"
	// Progressing: something is unfinished and continues by itself, as far as the input shows
	Progressing VerdictCode = "Progressing"
	Unknown     VerdictCode = "Unknown" // a gap hides the answer
)

// VerdictCodes lists every VerdictCode, worst first.
var VerdictCodes = []VerdictCode{Stuck, Degraded, Unknown, NotObserved, Progressing, AwaitingDelete,
	BeingDeleted, Healthy}

// Verdict is the answer in one word, with the numbers that decided it.
type Verdict struct {
	Code  VerdictCode     `json:"code"`  // the verdict
	Facts daemonset.Facts `json:"facts"` // the numbers that decided it
}

// Status compares the reported numbers with those that the controller's rules
// compute. Reported, Computed and Agrees are nil if a gap hides them.
type Status struct {
	// the numbers in the DaemonSet's status; nil if the input lacks the status
	Reported *daemonset.Counts `json:"reported"`

	// the numbers according to the controller's rules; nil if the nodes, the pods or the status of the pods
	// could not be read
	Computed *daemonset.Counts `json:"computed"`

	// all seven numbers are equal; nil if `reported` or `computed` is
	Agrees *bool `json:"agrees"`

	// when the status was last written, according to the object's managed fields; nil if they do not show
	// this, as on servers before v1.25
	WrittenAt *time.Time `json:"writtenAt"`

	// numbers that differ, in the order desired, current, ready, updated, available, unavailable, misscheduled
	Differences []Difference `json:"differences"`
}

// Difference is a number in which the reported and the computed status differ.
type Difference struct {
	Field    string `json:"field"`    // the name of the field, as in `status.reported`
	Reported int    `json:"reported"` // the number in the status
	Computed int    `json:"computed"` // the number by the controller's rules

	// why they may differ; all differences have the same reason
	// Codes: Differences
	Reason daemonset.Reason `json:"reason"`
}

// Column is one of kubectl's columns, with the nodes that count and those that
// do not, by reason. The counted groups add up to the computed number.
type Column struct {
	Name string `json:"name"` // as kubectl names it

	// groups of nodes with the same reason: the counted groups first, then the larger groups. The groups of
	// DESIRED contain all nodes of the cluster, those of MISSCHEDULED the nodes that are not eligible, and
	// those of the other columns the eligible nodes
	Groups []ColumnGroup `json:"groups"`
}

// ColumnGroup is a group of nodes of one column that share a reason. Facts
// holds the facts that all of them share.
type ColumnGroup struct {
	// the column counts these nodes; the counted groups add up to the computed number
	Counted bool `json:"counted"`

	// why they count or do not count. In DESIRED, and for the nodes that MISSCHEDULED counts, the code is
	// from placement
	// Codes: Placement, Columns, Problems
	Reason daemonset.Reason `json:"reason"`
	Count  int              `json:"count"` // how many nodes
	Nodes  []string         `json:"nodes"` // their names, sorted

	// the facts that all of these nodes share; `message` is from the first node
	Facts daemonset.Facts `json:"facts"`
}

// Revision is a ControllerRevision of the DaemonSet, or a hash of pods without
// one, with the nodes whose oldest pod has that hash. Current marks the
// revision of the live template.
type Revision struct {
	Number int64  `json:"revision"` // its number; 0 for a hash without a ControllerRevision
	Name   string `json:"name"`     // the name of the ControllerRevision; empty for a hash without one
	Hash   string `json:"hash"`     // the value of the label `controller-revision-hash`

	// when the ControllerRevision was created; nil for a hash without one
	Created *time.Time `json:"createdAt"`

	// it holds the live template. If the next sync creates a revision, no revision holds it. Several
	// revisions may hold it until the controller merges them
	Current bool `json:"current"`

	// nodes whose first pod has this hash, sorted, including deleted nodes and nodes that are not eligible
	Nodes []string `json:"nodes"`

	// pods with this hash that are not terminating; with maxSurge a node has two for a while
	Pods      int `json:"pods"`
	Available int `json:"available"` // how many of these pods are available

	// pods with this hash that are terminating
	Terminating int `json:"terminating"`

	// how many of `nodes` have a first pod that counts as updated: by its hash, or by the label
	// `pod-template-generation`
	Updated int `json:"updated"`
}

// BudgetUse is the limit of the rolling update, and the nodes that use it.
type BudgetUse struct {
	daemonset.Budget `json:",inline"`

	// how many nodes use up the limit, which may be exceeded; nil if the pods could not be read
	Used *int `json:"used"`
	Free *int `json:"free"` // the limit minus `used`, never below 0; nil if `used` is

	// the nodes that use up the limit, sorted by name; there are `used` of them
	Holders []BudgetHolder `json:"holders"`
}

// BudgetHolder is a node that uses one unit of the budget.
type BudgetHolder struct {
	Node string `json:"node"` // its name
	Pod  string `json:"pod"`  // the most important pod there; empty if there is none

	// what is wrong there
	// Codes: Problems
	Reason daemonset.Reason `json:"reason"`
	Since  *time.Time       `json:"since"` // when it began; nil if unknown

	// whether it began before the controller created the current revision; nil if one of the times is
	// unknown, or after a rollback
	BeforeRevision *bool `json:"beforeRevision"`
	// the facts of the problem, and `slot`
	// Facts: slot
	Facts daemonset.Facts `json:"facts"`
}

// Problem is something that is wrong.
type Problem = cause.Problem

// Node is one node as the controller sees it. ShouldRun and MayStay are nil if
// the nodes could not be read. Checks, Changes and Fit are set only for nodes
// that Options name.
type Node struct {
	Name string `json:"name"` // its name

	// false for a deleted node. If the nodes could not be read, every node to
	// which a pod is assigned is assumed to exist
	Exists bool `json:"exists"`

	// whether the node is eligible; nil if the nodes could not be read
	ShouldRun *daemonset.Verdict `json:"shouldRun"`

	// whether a pod that is on the node may stay. If a rule fails, it may stay only if the rule is a
	// NoSchedule taint; nil if the nodes could not be read
	MayStay *daemonset.Verdict `json:"mayStay"`
	Slot    daemonset.Slot     `json:"slot"` // the node's pods in one word

	// the most important problem on this node; nil if there is none
	Problem *cause.Cause `json:"problem"`

	// the pods in the controller's order: bound pods first, then the oldest, then by name; the pods that the
	// controller ignores are last
	Pods []Pod `json:"pods"`

	// only with `--node`, otherwise absent: every rule of placement in the controller's order: nodeName, each
	// key of nodeSelector, node affinity, then each NoSchedule and NoExecute taint, with the taints of node
	// conditions (`node.kubernetes.io/…`) last
	Checks []daemonset.Check `json:"checks,omitempty"`

	// only with `--node`, otherwise absent: the smallest set of changes that makes the node eligible, or the
	// reason why no change is sensible; absent if the node is eligible
	Changes []daemonset.Remedy `json:"changes,omitempty"`

	// only with `--node`, otherwise absent: whether a pod would fit on the node now. Also absent if the node
	// is not eligible, or if it already has a pod that does not wait for the scheduler. If more than ten
	// nodes are requested, some are not checked, and it is absent for these
	Fit *cause.Room `json:"fit,omitempty"`
}

// Pod is one pod of the DaemonSet. Ignored says why no rule counts it.
type Pod struct {
	Name string `json:"name"` // its name

	// `Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`, as the pod has it
	Phase       string `json:"phase"`
	Terminating bool   `json:"terminating"` // it has a deletionTimestamp

	// the ControllerRevision with the pod's hash; empty if there is none
	Revision  string              `json:"revision"`
	Updated   bool                `json:"updated"`   // it counts as a pod of the live template
	UpdatedBy daemonset.UpdatedBy `json:"updatedBy"` // the reason why it counts as updated; empty if it does not
	Ready     bool                `json:"ready"`     // its Ready condition is True
	Available bool                `json:"available"` // ready for minReadySeconds; a terminating pod can be available

	// when it became available, or when it becomes available if it stays ready; nil if it is not ready, or if
	// its Ready time is unknown
	AvailableAt *time.Time      `json:"availableAt"`
	Claim       daemonset.Claim `json:"claim"` // who owns it

	// why the controller ignores it; absent if it does not
	// Codes: Pods that the controller ignores
	Ignored daemonset.Reason `json:"ignored,omitempty"`
}

// Options narrow an Explanation.
type Options struct {
	Nodes []string // if not empty, Explanation.Nodes holds only these nodes, with every rule of placement
	// Brief leaves Explanation.Nodes and Unmapped empty. A brief Explanation
	// shares no memory with the State.
	Brief bool
	// Outlook is the result of a simulation of the rollout: plan.Look of the
	// same State, which costs about as much as a plan. Without it,
	// Explanation.Outlook is nil, there are no Remedies, and NextRolloutStalls
	// is not reported.
	Outlook remedy.Outlook
}

// Explain returns the Explanation of a DaemonSet. It shares memory with the
// State: do not modify either.
func Explain(st *daemonset.State, o Options) *Explanation {
	g := newGiven(st, o.Outlook)
	status, budget := g.status(), g.budget()
	problems, verdict := g.problems(&status), g.verdict(&status, &budget)
	e := &Explanation{
		Header:    daemonset.NewHeader(Kind, st),
		Verdict:   verdict,
		Impact:    g.impact(),
		Rollout:   Rollout{UnderWay: g.oldNodes() > 0, Since: g.causes.RolloutBegan()},
		Change:    g.change(problems),
		ManagedBy: managed.By(st.DaemonSet),
		Outlook:   g.outlookFor(verdict.Code, &status),
		Status:    status,
		Columns:   g.columns(),
		Revisions: g.revisions(),
		Budget:    budget,
		Problems:  problems,
		Admission: g.admission(),
		Next:      g.next,
		Nodes:     []Node{},
		Unmapped:  []Pod{},
	}
	if !o.Brief {
		e.Nodes, e.Unmapped = g.nodes(o.Nodes), pods(st.Unmapped)
	}
	e.Remedies = append([]remedy.Remedy{}, o.Outlook.Remedies...)
	e.Story, e.Advice = e.story(), e.advice()
	return e
}

// admission returns what the API server answers to the next pod, or nil if it
// has not rejected any.
func (g *given) admission() *admission.Verdict {
	if g.causes.Refusal() == nil {
		return nil
	}
	return g.causes.Admission()
}
