// Package explain turns a State and the status that the controller reported
// into an Explanation: each column with the nodes that do and do not count and
// why, who holds the budget of a rollout, what is wrong, and a verdict. It
// holds no prose.
package explain

import (
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/managed"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Kind and ListKind are the kinds of the documents of this package.
const (
	Kind     = "Explanation"
	ListKind = "ExplanationList"
)

// Explanation answers why a DaemonSet's numbers are what they are. It is the
// JSON contract: docs/output.md documents every field.
type Explanation struct {
	daemonset.Header `json:",inline"`
	Verdict          Verdict           `json:"verdict"`
	Impact           *Impact           `json:"impact"`
	Rollout          Rollout           `json:"rollout"`
	Change           *history.Diff     `json:"change"`
	ManagedBy        []managed.Manager `json:"managedBy"` // who else writes the DaemonSet, and undoes what is changed by hand
	Fixes            []Fix             `json:"fixes"`
	Outlook          *Outlook          `json:"outlook"`
	Status           Status            `json:"status"`
	Columns          []Column          `json:"columns"`
	Revisions        []Revision        `json:"revisions"`
	Budget           Budget            `json:"budget"`
	Problems         []Problem         `json:"problems"`
	Next             daemonset.Step    `json:"next"`
	Nodes            []Node            `json:"nodes"`
	Unmapped         []Pod             `json:"unmapped"`
}

// List is several Explanations, worst first.
type List struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Items      []*Explanation `json:"items"`
}

// VerdictCode sums up a DaemonSet.
type VerdictCode string

const (
	Healthy        VerdictCode = "Healthy"
	BeingDeleted   VerdictCode = "BeingDeleted"
	NotObserved    VerdictCode = "NotObserved"    // the newest generation is not handled yet
	AwaitingDelete VerdictCode = "AwaitingDelete" // OnDelete with outdated pods
	Stuck          VerdictCode = "Stuck"          // a rollout that cannot go on by itself
	Degraded       VerdictCode = "Degraded"       // nothing left to roll, and pods refused, failing or missing
	Progressing    VerdictCode = "Progressing"    // otherwise unfinished
	Unknown        VerdictCode = "Unknown"        // a gap hides it
)

// VerdictCodes lists every VerdictCode, worst first.
var VerdictCodes = []VerdictCode{Stuck, Degraded, Unknown, NotObserved, Progressing, AwaitingDelete, BeingDeleted, Healthy}

// Verdict is the answer in one word, with the numbers it was decided on.
type Verdict struct {
	Code  VerdictCode     `json:"code"`
	Facts daemonset.Facts `json:"facts"`
}

// Status compares what the controller reported with what its rules give now.
// Each of Reported, Computed and Agrees is nil where a gap makes it unknowable.
type Status struct {
	Reported    *daemonset.Counts `json:"reported"`
	Computed    *daemonset.Counts `json:"computed"`
	Agrees      *bool             `json:"agrees"`
	WrittenAt   *time.Time        `json:"writtenAt"` // when the controller wrote it last, if the object tells
	Differences []Difference      `json:"differences"`
}

// Difference is a number in which reported and computed differ.
type Difference struct {
	Field    string           `json:"field"`
	Reported int              `json:"reported"`
	Computed int              `json:"computed"`
	Reason   daemonset.Reason `json:"reason"` // NotObserved, Moving, NodeGone, StaleStatus
}

// Column is one of kubectl's columns: the nodes that count in it and those
// that do not, by reason. The counted groups add up to the computed number.
type Column struct {
	Name   string  `json:"name"`
	Groups []Group `json:"groups"`
}

// Group is nodes of one column that share a reason. Facts are those that all
// of them share.
type Group struct {
	Counted bool             `json:"counted"`
	Reason  daemonset.Reason `json:"reason"`
	Count   int              `json:"count"`
	Nodes   []string         `json:"nodes"`
	Facts   daemonset.Facts  `json:"facts"`
}

// Revision is a ControllerRevision of the DaemonSet, or a hash that pods carry
// without one, with the nodes that count for it: those whose oldest pod is of
// it. Current marks the live template's.
type Revision struct {
	Number    int64      `json:"revision"`
	Name      string     `json:"name"`
	Hash      string     `json:"hash"`
	Created   *time.Time `json:"createdAt"`
	Current   bool       `json:"current"`
	Nodes     []string   `json:"nodes"`
	Pods      int        `json:"pods"`      // on all nodes that nobody has asked to end; with maxSurge a node has two for a while
	Available int        `json:"available"` // of these
	Updated   int        `json:"updated"`   // of the nodes, those whose pod counts as updated: by its hash or its template generation
}

// Budget is the limit of the rolling update, and who uses it up.
type Budget struct {
	Kind           daemonset.BudgetKind `json:"kind"`
	MaxUnavailable int                  `json:"maxUnavailable"`
	MaxSurge       int                  `json:"maxSurge"`
	Spec           string               `json:"spec"`
	Scaled         string               `json:"scaled"`
	Of             int                  `json:"of"`
	OfSource       string               `json:"ofSource"` // Computed, Reported, Unknown
	Fallback       bool                 `json:"fallback"`
	Invalid        string               `json:"invalid"`
	Used           *int                 `json:"used"` // nil where the pods could not be read, as Free
	Free           *int                 `json:"free"`
	Holders        []Holder             `json:"holders"`
	Unblock        *cause.Raise         `json:"unblock"` // what would let the rollout complete; nil where no limit would, or none is needed: see Options.Outlook
}

// Holder is a node that uses up one of the budget. BeforeRevision tells
// whether that was so before the current revision existed; nil where either
// time is not known.
type Holder struct {
	Node           string           `json:"node"`
	Pod            string           `json:"pod"`
	Reason         daemonset.Reason `json:"reason"`
	Since          *time.Time       `json:"since"`
	BeforeRevision *bool            `json:"beforeRevision"`
	Facts          daemonset.Facts  `json:"facts"`
}

// Problem is something that is wrong. Problems stand in the order cause before
// consequence.
type Problem = cause.Problem

// Node is one node as the controller sees it. ShouldRun and MayStay are nil
// where the nodes could not be read. Checks and Changes are given for nodes
// that were asked for.
type Node struct {
	Name      string             `json:"name"`
	Exists    bool               `json:"exists"`
	ShouldRun *daemonset.Verdict `json:"shouldRun"`
	MayStay   *daemonset.Verdict `json:"mayStay"`
	Slot      daemonset.Slot     `json:"slot"`
	Problem   *cause.Cause       `json:"problem"` // what concerns this node most; nil where nothing is wrong
	Pods      []Pod              `json:"pods"`
	Checks    []daemonset.Check  `json:"checks,omitempty"`
	Changes   []daemonset.Change `json:"changes,omitempty"`
}

// Pod is one pod of the DaemonSet. Ignored says why no rule counts it.
type Pod struct {
	Name        string              `json:"name"`
	Phase       string              `json:"phase"`
	Terminating bool                `json:"terminating"`
	Revision    string              `json:"revision"`
	Updated     bool                `json:"updated"`
	UpdatedBy   daemonset.UpdatedBy `json:"updatedBy"`
	Ready       bool                `json:"ready"`
	Available   bool                `json:"available"`
	AvailableAt *time.Time          `json:"availableAt"`
	Claim       daemonset.Claim     `json:"claim"`
	Ignored     daemonset.Reason    `json:"ignored,omitempty"`
}

// Options narrow an Explanation.
type Options struct {
	Nodes   []string      // if any: only these in Explanation.Nodes, with every rule of placement
	Outlook cause.Outlook // what a simulation says (plan.Look); without it no way out is named, and no rollout to come
}

// Explain returns the Explanation of a DaemonSet.
func Explain(s *snapshot.Snapshot, st *daemonset.State, o Options) *Explanation {
	b := newBuilder(s, st)
	b.outlook = o.Outlook
	e := &Explanation{
		Header:    daemonset.NewHeader(Kind, s, st),
		Next:      st.Sync(),
		Revisions: b.revisions(),
		Columns:   b.columns(),
		Nodes:     b.nodes(o.Nodes),
		Unmapped:  pods(st.Unmapped),
	}
	b.heldUpBy = b.holdsUp(&e.Next)
	e.Status = b.status()
	e.Budget = b.budget()
	e.Problems = b.problems(e)
	e.Verdict = b.verdict(e)
	e.Impact = b.impact()
	e.Rollout = Rollout{UnderWay: b.oldNodes() > 0, Since: b.rolloutBegan()}
	e.Change = b.change()
	e.ManagedBy = managed.By(st.DaemonSet)
	e.Fixes = b.fixes(e)
	e.Outlook = b.willBe(e)
	return e
}
