package daemonset

import (
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Header is what every answer begins with: of which DaemonSet it is, by whose
// rules, from what, and what was assumed.
type Header struct {
	APIVersion  string       `json:"apiVersion"`
	Kind        string       `json:"kind"`
	DaemonSet   Ref          `json:"daemonSet"`
	Controller  Controller   `json:"controller"`
	Snapshot    Reading      `json:"snapshot"`
	Assumptions []Assumption `json:"assumptions"`
}

// Ref names a DaemonSet and its generation.
type Ref struct {
	Namespace          string `json:"namespace"`
	Name               string `json:"name"`
	UID                string `json:"uid"`
	Generation         int64  `json:"generation"`
	ObservedGeneration int64  `json:"observedGeneration"`
	Strategy           string `json:"strategy"`
}

// Controller says whose rules were used.
type Controller struct {
	KubernetesVersion string                 `json:"kubernetesVersion"`
	Source            snapshot.VersionSource `json:"source"`
}

// Reading says when the input was read, and what could not be.
type Reading struct {
	TakenAt time.Time `json:"takenAt"`
	Gaps    []Gap     `json:"gaps"`
}

// Gap is a snapshot.Gap with what it costs.
type Gap struct {
	snapshot.Gap
	Consequence snapshot.Consequence `json:"consequence"`
}

// Assumption is something that was taken for true without being read.
type Assumption struct {
	Code   AssumptionCode `json:"code"`
	Value  string         `json:"value"`
	Source string         `json:"source"`
}

// AssumptionCode names an assumption.
type AssumptionCode string

const (
	// AssumeControllerVersion: kube-controller-manager runs the version that was told for the cluster.
	AssumeControllerVersion AssumptionCode = "ControllerVersion"
	// AssumeNewestRules: a version that is newer than Newest has Newest's rules.
	AssumeNewestRules AssumptionCode = "NewestRules"
	// AssumeCurrentRevision: the current revision's hash was inferred, without revisions.
	AssumeCurrentRevision AssumptionCode = "CurrentRevisionInferred"
	// AssumeMayStay: every node that a pod is for still exists and may keep it, without nodes.
	AssumeMayStay AssumptionCode = "PodsMayStay"
	// AssumeNodesReady: a node whose status is not there is Ready, unless a taint says that it is not.
	AssumeNodesReady AssumptionCode = "NodesReady"
	// AssumeTolerationComparison: the controller's feature gate for tolerations with Lt and Gt is on, because the
	// template has one, which the API server takes only if its own gate is.
	AssumeTolerationComparison AssumptionCode = "TolerationComparison"
	// AssumeGeneration: so many pods run the live template, by their template generation alone: their hash is not that of
	// a revision that holds it. The controller goes by either.
	AssumeGeneration AssumptionCode = "UpdatedByGeneration"
	// AssumeNewHash: the revision that the next sync creates does not get a hash that pods have already. A revision that
	// somebody deleted gets its own again, and its pods count as updated then.
	AssumeNewHash AssumptionCode = "NewRevisionHash"
)

const comparisonGate = "TaintTolerationComparisonOperators"

// Assumptions lists every AssumptionCode.
var Assumptions = []AssumptionCode{AssumeControllerVersion, AssumeNewestRules, AssumeCurrentRevision, AssumeMayStay, AssumeNodesReady, AssumeTolerationComparison, AssumeGeneration, AssumeNewHash}

// NewHeader returns the header of an answer of the given kind.
func NewHeader(kind string, s *snapshot.Snapshot, st *State) Header {
	ds := s.DaemonSet
	h := Header{
		APIVersion: snapshot.APIVersion,
		Kind:       kind,
		DaemonSet: Ref{
			Namespace: ds.Namespace, Name: ds.Name, UID: string(ds.UID),
			Generation: ds.Generation, ObservedGeneration: ds.Status.ObservedGeneration,
			Strategy: string(ds.Spec.UpdateStrategy.Type),
		},
		Controller:  Controller{KubernetesVersion: st.Profile.Version, Source: s.VersionSource},
		Snapshot:    Reading{TakenAt: s.TakenAt.UTC(), Gaps: []Gap{}},
		Assumptions: []Assumption{},
	}
	for _, g := range s.Gaps {
		h.Snapshot.Gaps = append(h.Snapshot.Gaps, Gap{g, g.Consequence()})
	}
	assume := func(code AssumptionCode, value, source string) {
		h.Assumptions = append(h.Assumptions, Assumption{code, value, source})
	}
	if s.VersionSource != snapshot.VersionFlag {
		assume(AssumeControllerVersion, st.Profile.Version, string(s.VersionSource))
	}
	if st.Profile.Beyond {
		assume(AssumeNewestRules, Newest, string(s.VersionSource))
	}
	if st.History.Inferred != "" {
		hash := ""
		if st.History.CurrentKnown() {
			hash = st.History.Hash
		}
		assume(AssumeCurrentRevision, hash, st.History.Inferred)
	}
	if !st.NodesRead {
		assume(AssumeMayStay, "", string(snapshot.Pods))
	}
	if st.NodesRead && s.Lacks(snapshot.NodeStatus) {
		assume(AssumeNodesReady, "", string(snapshot.NodeStatus))
	}
	if st.Placement.compares() {
		assume(AssumeTolerationComparison, comparisonGate, "spec.template.spec.tolerations")
	}
	byGeneration, strays := st.doubtful()
	if byGeneration > 0 {
		assume(AssumeGeneration, strconv.Itoa(byGeneration), templateGenerationLabel)
	}
	if st.History.Cut && len(strays) > 0 {
		assume(AssumeNewHash, strings.Join(strays, ", "), appsv1.DefaultDaemonSetUniqueLabelKey)
	}
	return h
}

// doubtful returns how many pods of nodes are updated by their template generation
// alone, and the hashes of pods that are not updated and of no revision. Pods that
// are terminating do not matter any more.
func (st *State) doubtful() (byGeneration int, strays []string) {
	for i := range st.Nodes {
		for _, p := range st.Nodes[i].Pods {
			switch {
			case p.Terminating:
			case p.UpdatedBy == ByGeneration:
				byGeneration++
			case !p.Updated && p.Revision == "" && p.Hash != "":
				strays = append(strays, p.Hash)
			}
		}
	}
	slices.Sort(strays)
	return byGeneration, slices.Compact(strays)
}
