// Package snapshot holds what the DaemonSet controller looks at as one value:
// a DaemonSet with its ControllerRevisions, pods, nodes and events, the time
// at which they were read, and what could not be read.
//
// A Snapshot is filled once, by internal/source, and never edited after that.
// A what-if is another Snapshot.
package snapshot

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// APIVersion is the version of every document that kubectl ds writes.
const APIVersion = "kubectl-ds/v1alpha1"

// Kind is the kind of an encoded Snapshot.
const Kind = "Snapshot"

// Snapshot is the input of every calculation, for one DaemonSet. Several
// Snapshots of one reading share their Nodes.
//
// Objects lack what no rule and no screen reads: see Strip. An empty list
// means that there is none, unless a Gap names the list; but see
// PodDisruptionBudgets.
type Snapshot struct {
	DaemonSet *appsv1.DaemonSet
	Revisions []appsv1.ControllerRevision
	Nodes     []corev1.Node
	Pods      []corev1.Pod
	Events    []corev1.Event

	// PodDisruptionBudgets are those that select the pods of the live template.
	// A dump without any, and a Snapshot that was written before they were read,
	// have no Gap for it: no number depends on them.
	PodDisruptionBudgets []policyv1.PodDisruptionBudget

	// TakenAt is the clock of every calculation: the API server's when the
	// Snapshot came from a cluster.
	TakenAt time.Time

	// KubernetesVersion is the version whose controller rules apply, as
	// "v1.37.1", or empty when nothing tells. VersionSource says what told.
	KubernetesVersion string
	VersionSource     VersionSource

	Gaps []Gap

	// EnvValues is EnvDigest where Redact has replaced the literal values of
	// environment variables, and else empty.
	EnvValues string
}

// VersionSource says where a Kubernetes version was taken from.
type VersionSource string

const (
	VersionServer  VersionSource = "Server"  // the API server's /version
	VersionFlag    VersionSource = "Flag"    // --kubernetes-version
	VersionDump    VersionSource = "Dump"    // what a dump says of its cluster
	VersionDefault VersionSource = "Default" // nothing told: the newest known
)

// Gap is something that could not be read. It is never an answer of "none".
type Gap struct {
	What    What   `json:"what"`
	Why     Why    `json:"why"`
	Message string `json:"message"` // the reader's own words, for a person
}

// What names a part of the input.
type What string

const (
	Nodes                What = "nodes"
	Pods                 What = "pods"
	Revisions            What = "controllerrevisions"
	Events               What = "events"
	PodDisruptionBudgets What = "poddisruptionbudgets"
	Version              What = "version"
	Clock                What = "clock"

	// The status of objects that are there without it, as in backups and exports:
	// nothing follows from what it lacks.
	DaemonSetStatus What = "daemonsets/status"
	NodeStatus      What = "nodes/status"
	PodStatus       What = "pods/status"

	// DaemonSets is a gap of an answer that is about all DaemonSets there are.
	DaemonSets What = "daemonsets"
)

// Whats lists every What, in the order in which gaps are reported.
var Whats = []What{DaemonSets, DaemonSetStatus, Nodes, NodeStatus, Pods, PodStatus, Revisions, Events, PodDisruptionBudgets, Version, Clock}

// Why says what kept a part of the input from being read.
type Why string

const (
	Forbidden Why = "Forbidden" // the API server refused this user
	NotGiven  Why = "NotGiven"  // the dump does not hold it
	Partial   Why = "Partial"   // the dump holds some pages of a List, and not all
	Failed    Why = "Failed"    // the request, or the parsing, failed
	Moved     Why = "Moved"     // it changed while it was read, or its pages are of several moments
)

// Consequence names what an answer loses by a gap.
type Consequence string

const (
	DaemonSetsUnknown        Consequence = "DaemonSetsUnknown"        // the list may lack DaemonSets
	PlacementUnknown         Consequence = "PlacementUnknown"         // no computed DESIRED, no reasons per node
	PodsUnknown              Consequence = "PodsUnknown"              // only the placement and the reported numbers are left
	ReportedUnknown          Consequence = "ReportedUnknown"          // no reported numbers, and whether the newest generation was handled
	NodeConditionsUnknown    Consequence = "NodeConditionsUnknown"    // that a node is not Ready is seen by its taints alone
	PodStatesUnknown         Consequence = "PodStatesUnknown"         // no computed READY and AVAILABLE, no causes, no forecast
	RevisionInferred         Consequence = "RevisionInferred"         // which pods are up to date is told by their template generation only
	CausesReduced            Consequence = "CausesReduced"            // refused creations and the words of scheduler and kubelet are missing
	DisruptionBudgetsUnknown Consequence = "DisruptionBudgetsUnknown" // whether a PodDisruptionBudget selects the pods is not told
	RulesAssumed             Consequence = "RulesAssumed"             // the rules of the newest known version are used
	ClockAssumed             Consequence = "ClockAssumed"             // ages and availability are measured with another clock
	SeveralMoments           Consequence = "SeveralMoments"           // nothing is missing, but the parts may be of several moments
)

// Consequence returns what the gap costs.
func (g Gap) Consequence() Consequence {
	if g.Why == Moved {
		return SeveralMoments
	}
	switch g.What {
	case DaemonSets:
		return DaemonSetsUnknown
	case Nodes:
		return PlacementUnknown
	case Pods:
		return PodsUnknown
	case DaemonSetStatus:
		return ReportedUnknown
	case NodeStatus:
		return NodeConditionsUnknown
	case PodStatus:
		return PodStatesUnknown
	case Revisions:
		return RevisionInferred
	case Events:
		return CausesReduced
	case PodDisruptionBudgets:
		return DisruptionBudgetsUnknown
	case Version:
		return RulesAssumed
	default:
		return ClockAssumed
	}
}

// Lacks reports whether a gap hides the whole of what, or some of it so that
// nothing can be counted. A part that was read but moved meanwhile is there.
func (s *Snapshot) Lacks(what What) bool {
	return slices.ContainsFunc(s.Gaps, func(g Gap) bool { return g.What == what && g.Why != Moved })
}

// At returns a copy of the Snapshot with another clock.
func (s *Snapshot) At(now time.Time) *Snapshot {
	c := *s
	c.TakenAt = now
	return &c
}

// Under returns a copy of the Snapshot with the rules of another version.
func (s *Snapshot) Under(version string, source VersionSource) *Snapshot {
	c := *s
	c.KubernetesVersion, c.VersionSource = version, source
	return &c
}
