// Package snapshot defines the input of all calculations as one value: a
// DaemonSet with its ControllerRevisions, pods, nodes and events, the time at
// which they were read, and what could not be read.
//
// New or a reader of clusters or files makes a Snapshot; nobody modifies it
// afterwards. A what-if is another Snapshot. daemonset.StateOf returns the
// State that a sync of the controller would see. From a State, explain.Explain,
// plan.Make and history.Make return the documents of kubectl ds -o json, and
// whatif.Make returns the State after a change, for plan.MakeChanged. All of
// them are safe for concurrent use.
package snapshot

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/version"
)

// APIVersion is the version of every document that kubectl ds writes.
const APIVersion = "kubectl-ds/v1alpha1"

// Kind is the kind of an encoded Snapshot.
const Kind = "Snapshot"

// Snapshot is the input of every calculation for one DaemonSet. Several
// Snapshots of one reading share their Nodes.
//
// Objects lack the fields that no rule and no screen reads: see the Strip
// functions. An empty list means that there is none, unless a Gap names the
// list. Missing PodDisruptionBudgets, as in a dump without any, are not a Gap,
// because no number depends on them. TakenAt is the API server's clock if the
// Snapshot is from a cluster.
type Snapshot struct {
	TakenAt time.Time `json:"takenAt"` // the clock of every calculation
	// the version of the controller; it decides the rules. Empty if it is unknown
	KubernetesVersion string            `json:"kubernetesVersion"`
	VersionSource     VersionSource     `json:"versionSource"` // where the version comes from
	Gaps              []Gap             `json:"gaps"`          // what could not be read
	DaemonSet         *appsv1.DaemonSet `json:"daemonSet"`     // the DaemonSet; never null
	// the revisions that the DaemonSet owns or selects, sorted by name
	Revisions []appsv1.ControllerRevision `json:"revisions"`
	Nodes     []corev1.Node               `json:"nodes"` // all nodes of the cluster, by name

	// the pods that the DaemonSet selects, sorted by name; from a dump, also pods that it owns but does not
	// select
	Pods []corev1.Pod `json:"pods"`

	// events about the DaemonSet, and about its pods that are not ready or are terminating; sorted by name.
	// Events about pods are warnings and, for each container, the newest `Pulling`, `Pulled` and `Killing`.
	// These three are missing with `--watch`, in older files, and if the namespace has thousands of them
	Events []corev1.Event `json:"events"`

	// the PodDisruptionBudgets that select the labels of the template, sorted by name, with a status of
	// zeros; absent in older files
	PodDisruptionBudgets []policyv1.PodDisruptionBudget `json:"podDisruptionBudgets"`

	// `Digest` if digests replace the literal values of environment variables,
	// otherwise empty; absent in older files
	EnvValues string `json:"envValues"`

	// the additional input of OpenShift's controller; absent on other clusters,
	// if the nodes could not be read, and in older files
	OpenShift *OpenShift `json:"openShift,omitempty"`

	// `StandIns` if stand-ins replace names and user-supplied text; absent in
	// any other file
	Names string `json:"names,omitempty"`

	// the pods of other workloads on the nodes, to decide whether pods fit;
	// absent if that was not needed, and in older files
	OtherPods *OtherPods `json:"otherPods,omitempty"`

	// the objects that the API server reads when it creates a pod; absent if they were not needed, and in
	// older files
	Admission *Admission `json:"admission,omitempty"`

	// the objects that a pod needs to start; absent if they were not needed, and in older files
	References *References `json:"references,omitempty"`

	// the volumes that decide whether pods fit; absent if that was not needed,
	// and in older files
	Volumes *Volumes `json:"volumes,omitempty"`

	// who runs the DaemonSet controller; absent if that was not needed, and in
	// older files
	Controller *ControllerLease `json:"controllerLease,omitempty"`
}

// StandIns is the Names of a Snapshot in which stand-ins replace names: see
// redact.Names.
const StandIns = "StandIns"

// VersionSource says where a Kubernetes version comes from.
type VersionSource string

const (
	// VersionServer: `/version` of the API server; kube-controller-manager can be older or newer during an upgrade
	VersionServer VersionSource = "Server"
	VersionFlag   VersionSource = "Flag" // `--kubernetes-version`
	VersionDump   VersionSource = "Dump" // the dump says it
	// VersionKubelet: the highest kubelet of a dump that does not say the version: the control plane is not older
	VersionKubelet VersionSource = "Kubelet"
	VersionDefault VersionSource = "Default" // unknown: the newest known version
)

// Gap is a part that could not be read. A gap never means "none".
type Gap struct {
	What    What   `json:"what"`    // the part that could not be read
	Why     Why    `json:"why"`     // why it could not be read
	Message string `json:"message"` // the message of the server or of the reader of the input
	// Of: the namespace or the DaemonSet that lacks this part; absent if the whole input lacks it
	Of string `json:"of,omitempty"`
}

// What names a part of the input.
type What string

const (
	Nodes What = "nodes" // the nodes of the cluster
	Pods  What = "pods"  // the pods of the DaemonSet
	// Revisions: the ControllerRevisions that the DaemonSet owns or would adopt. If a dump has none, it lacks
	// this part, unless the controller has not observed the DaemonSet
	Revisions What = "controllerrevisions"
	Events    What = "events" // the events of the DaemonSet and of its pods
	// PodDisruptionBudgets: the PodDisruptionBudgets that select its pods. If a dump or a Snapshot has none,
	// that is not a gap, because no number depends on them
	PodDisruptionBudgets What = "poddisruptionbudgets"
	// PodsOfOthers: the other pods on the nodes; read only to decide whether
	// pods fit
	PodsOfOthers What = "otherpods"
	// BudgetsOfOthers: the PodDisruptionBudgets that select the other pods on the nodes
	BudgetsOfOthers What = "otherpoddisruptionbudgets"
	// PersistentVolumes: the PersistentVolumes of the pods' claims, and these
	// claims; read only to decide whether pods fit
	PersistentVolumes What = "persistentvolumes"
	// CSINodes: how many volumes the CSI drivers of the nodes attach; read only
	// if the pods have such volumes
	CSINodes What = "csinodes"

	// NamespaceNodeSelector: the node selector of the DaemonSet's namespace; read only on OpenShift, because
	// only its controller uses the selector
	NamespaceNodeSelector What = "namespaces/node-selector"
	// DefaultNodeSelector: the default node selector of OpenShift's controller; read only if the namespace
	// has no node selector
	DefaultNodeSelector What = "kubecontrollermanagers"

	Version What = "version" // the Kubernetes version of the controller
	// Clock: the time in the cluster; for a dump, the earliest time that is
	// consistent with the times in its objects and the reported numbers
	Clock What = "clock"

	DaemonSetStatus What = "daemonsets/status" // the DaemonSet lacks its status or a part of it, as in a backup
	NodeStatus      What = "nodes/status"      // a node lacks its conditions
	// PodStatus: a pod of the DaemonSet lacks its status: `phase`, `ready`,
	// `available` and `slot` are then meaningless
	PodStatus What = "pods/status"

	// Namespaces: the namespace of the DaemonSet, with its labels. This part and the next ones are read only
	// to decide whether pods can be created
	Namespaces      What = "namespaces"
	ServiceAccounts What = "serviceaccounts" // the ServiceAccount that the template names
	// the PriorityClass that the template names, and the default of the cluster
	PriorityClasses What = "priorityclasses"
	RuntimeClasses  What = "runtimeclasses" // the RuntimeClass that the template names
	LimitRanges     What = "limitranges"    // the LimitRanges of the namespace
	ResourceQuotas  What = "resourcequotas" // the ResourceQuotas of the namespace
	Webhooks        What = "webhooks"       // the webhooks and admission policies that match the creation of its pods

	ConfigMaps What = "configmaps"             // the ConfigMaps that the template refers to
	Secrets    What = "secrets"                // the Secrets that the template refers to
	Claims     What = "persistentvolumeclaims" // the PersistentVolumeClaims that the template names

	// Leases: the Lease of kube-controller-manager; read only if the controller
	// does not act
	Leases What = "leases"

	// DaemonSets: the DaemonSets of a namespace or a cluster, in an answer about all of them. If you name a
	// DaemonSet that cannot be read, that is an error
	DaemonSets What = "daemonsets"
)

// Whats lists every What, in the order in which gaps are reported.
var Whats = []What{
	DaemonSets, DaemonSetStatus, Nodes, NodeStatus, NamespaceNodeSelector, DefaultNodeSelector, Pods, PodStatus,
	Revisions, Events, PodDisruptionBudgets,
	PodsOfOthers, BudgetsOfOthers, PersistentVolumes, CSINodes,
	Namespaces, ServiceAccounts, PriorityClasses, RuntimeClasses, LimitRanges, ResourceQuotas, Webhooks,
	ConfigMaps, Secrets, Claims, Leases,
	Version, Clock,
}

// FitWhats are the parts that OtherPods contains.
var FitWhats = []What{PodsOfOthers, BudgetsOfOthers}

// ReferenceWhats are the parts that References contains.
var ReferenceWhats = []What{ConfigMaps, Secrets, Claims}

// AdmissionWhats are the parts that Admission contains.
var AdmissionWhats = []What{
	Namespaces, ServiceAccounts, PriorityClasses, RuntimeClasses, LimitRanges, ResourceQuotas, Webhooks,
}

// Why says why a part of the input could not be read.
type Why string

const (
	Forbidden Why = "Forbidden" // you have no permission to read it
	NotGiven  Why = "NotGiven"  // the dump does not have it, or the server does not say
	// Partial: the dump lacks some pages of a List, according to `metadata.continue` or `remainingItemCount`,
	// or `--keep-going` left out damaged objects. Nothing is computed from the remaining objects, but a
	// remaining event counts
	Partial Why = "Partial"
	Failed  Why = "Failed" // the request failed
	// Moved: it changed while it was read, so its parts may be from several moments
	Moved Why = "Moved"
)

// Consequence says what a gap removes from an answer.
type Consequence string

const (
	// DaemonSetsUnknown: the list may lack DaemonSets, and `--fail-on` cannot be evaluated
	// Of: daemonsets
	DaemonSetsUnknown Consequence = "DaemonSetsUnknown"
	// PlacementUnknown: DESIRED is not computed, `shouldRun` and `mayStay` are null, and there are no columns
	// Of: nodes
	PlacementUnknown Consequence = "PlacementUnknown"
	// PodsUnknown: only the placement and the reported numbers are left
	// Of: pods
	PodsUnknown Consequence = "PodsUnknown"
	// ReportedUnknown: no reported numbers, and whether the controller has observed the newest generation is unknown
	// Of: daemonsets/status
	ReportedUnknown Consequence = "ReportedUnknown"
	// NodeConditionsUnknown: only the taints of a node show whether it is NotReady
	// Of: nodes/status
	NodeConditionsUnknown Consequence = "NodeConditionsUnknown"
	// EveryNodeSelected: the placement is computed as if every node were selected
	// Of: namespaces/node-selector, kubecontrollermanagers
	EveryNodeSelected Consequence = "EveryNodeSelected"
	// PodStatesUnknown: READY and AVAILABLE are not computed, no cause is named, and there is no forecast
	// Of: pods/status
	PodStatesUnknown Consequence = "PodStatesUnknown"
	// RevisionInferred: the labels of the pods show which pods are updated
	// Of: controllerrevisions
	RevisionInferred Consequence = "RevisionInferred"
	// CausesReduced: rejected creates, and the messages of the scheduler and the kubelet, are missing
	// Of: events
	CausesReduced Consequence = "CausesReduced"
	// DisruptionBudgetsUnknown: `DisruptionBudgetIgnored` is missing
	// Of: poddisruptionbudgets
	DisruptionBudgetsUnknown Consequence = "DisruptionBudgetsUnknown"
	// AdmissionUnchecked: a rule by which the API server may reject a new pod
	// is not checked
	// Of: namespaces, serviceaccounts, priorityclasses, runtimeclasses,
	// limitranges, resourcequotas
	AdmissionUnchecked Consequence = "AdmissionUnchecked"
	// WebhooksUnknown: the webhooks and admission policies that may change or reject a new pod are not named
	// Of: webhooks
	WebhooksUnknown Consequence = "WebhooksUnknown"
	// FitUnknown: it is unknown whether another pod fits on its node, because
	// the pods there were not read
	// Of: otherpods
	FitUnknown Consequence = "FitUnknown"
	// VictimsAssumed: preemption is computed as if no PodDisruptionBudget
	// protected any pod
	// Of: otherpoddisruptionbudgets
	VictimsAssumed Consequence = "VictimsAssumed"
	// VolumesUnchecked: the volumes of a pod are not checked; they may keep it
	// off its node
	// Of: persistentvolumes, csinodes
	VolumesUnchecked Consequence = "VolumesUnchecked"
	// ReferencesUnchecked: the objects that a new pod refers to are not
	// checked; they may not exist
	// Of: configmaps, secrets, persistentvolumeclaims
	ReferencesUnchecked Consequence = "ReferencesUnchecked"
	// ControllerUnknown: it is unknown whether a controller runs
	// Of: leases
	ControllerUnknown Consequence = "ControllerUnknown"
	// RulesAssumed: the rules of the highest kubelet's version are used, or of
	// the newest known version if no kubelet is known
	// Of: version
	RulesAssumed Consequence = "RulesAssumed"
	// ClockAssumed: ages and availability are measured with another clock
	// Of: clock
	ClockAssumed Consequence = "ClockAssumed"
	// SeveralMoments: nothing is missing, but a number may combine values from different times
	// Of: any part that `Moved`
	SeveralMoments Consequence = "SeveralMoments"
)

// Consequence returns what the gap removes from an answer.
func (g Gap) Consequence() Consequence {
	if g.Why == Moved {
		return SeveralMoments
	}
	return consequences[g.What]
}

var consequences = map[What]Consequence{
	DaemonSets: DaemonSetsUnknown, DaemonSetStatus: ReportedUnknown, Nodes: PlacementUnknown,
	NodeStatus: NodeConditionsUnknown, NamespaceNodeSelector: EveryNodeSelected, DefaultNodeSelector: EveryNodeSelected,
	Pods: PodsUnknown, PodStatus: PodStatesUnknown,
	Revisions: RevisionInferred, Events: CausesReduced, PodDisruptionBudgets: DisruptionBudgetsUnknown,
	Namespaces: AdmissionUnchecked, ServiceAccounts: AdmissionUnchecked, PriorityClasses: AdmissionUnchecked,
	RuntimeClasses: AdmissionUnchecked, LimitRanges: AdmissionUnchecked,
	ResourceQuotas: AdmissionUnchecked, Webhooks: WebhooksUnknown, Version: RulesAssumed, Clock: ClockAssumed,
	PodsOfOthers: FitUnknown, BudgetsOfOthers: VictimsAssumed, PersistentVolumes: VolumesUnchecked,
	CSINodes:   VolumesUnchecked,
	ConfigMaps: ReferencesUnchecked, Secrets: ReferencesUnchecked, Claims: ReferencesUnchecked,
	Leases: ControllerUnknown,
}

// Lacks reports whether a gap hides all of a part, or so much of it that
// nothing can be counted. A part that changed while it was read is not lacking.
func (s *Snapshot) Lacks(what What) bool { return s.Gap(what) != nil }

// Gap returns the first gap that hides a part (see Lacks), or nil.
func (s *Snapshot) Gap(what What) *Gap {
	if i := slices.IndexFunc(s.Gaps, func(g Gap) bool { return g.What == what && g.Why != Moved }); i >= 0 {
		return &s.Gaps[i]
	}
	return nil
}

// RevisionData returns the data of the ControllerRevision with a name in the
// DaemonSet's namespace, or nil if there is none.
func (s *Snapshot) RevisionData(name string) []byte {
	for i := range s.Revisions {
		if r := &s.Revisions[i]; r.Name == name && r.Namespace == s.DaemonSet.Namespace {
			return r.Data.Raw
		}
	}
	return nil
}

// Holding returns a copy of the Snapshot with o as its OtherPods, which may be
// nil. The gaps for FitWhats replace the existing ones.
func (s *Snapshot) Holding(o *OtherPods, gaps []Gap) *Snapshot {
	c := *s
	c.OtherPods, c.Gaps = o, replaced(s.Gaps, FitWhats, gaps)
	return &c
}

// Admitting returns a copy of the Snapshot with a as its Admission, which may
// be nil. The gaps for AdmissionWhats replace the existing ones.
func (s *Snapshot) Admitting(a *Admission, gaps []Gap) *Snapshot {
	c := *s
	c.Admission, c.Gaps = a, replaced(s.Gaps, AdmissionWhats, gaps)
	return &c
}

// replaced returns gaps, in order, with the gaps of some parts replaced by
// others.
func replaced(gaps []Gap, parts []What, others []Gap) []Gap {
	is := func(g Gap) bool { return slices.Contains(parts, g.What) }
	out := slices.DeleteFunc(slices.Clone(gaps), is)
	for _, g := range others {
		if is(g) && !slices.Contains(out, g) {
			out = append(out, g)
		}
	}
	slices.SortStableFunc(out, func(a, b Gap) int { return slices.Index(Whats, a.What) - slices.Index(Whats, b.What) })
	return out
}

// At returns a copy of the Snapshot with another clock.
func (s *Snapshot) At(now time.Time) *Snapshot {
	c := *s
	c.TakenAt = now
	return &c
}

// TellsWrites reports whether the time of a managed fields entry is that of the
// manager's last write. Before v1.25 the API server updates it only if the
// write adds a field to the entry, not if it changes a value (#110058). An
// unknown version counts as the newest.
func (s *Snapshot) TellsWrites() bool {
	v, err := version.ParseGeneric(s.KubernetesVersion)
	return err != nil || v.AtLeast(version.MajorMinor(1, 25))
}

// Under returns a copy of the Snapshot with another Kubernetes version.
func (s *Snapshot) Under(version string, source VersionSource) *Snapshot {
	c := *s
	c.KubernetesVersion, c.VersionSource = version, source
	return &c
}
