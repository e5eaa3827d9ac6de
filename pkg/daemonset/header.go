package daemonset

import (
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Header is the beginning of every document: the DaemonSet, the controller's
// version, the input, and the assumptions.
type Header struct {
	APIVersion string `json:"apiVersion"` // `kubectl-ds/v1alpha1`
	Kind       string `json:"kind"`       // of the document

	// the DaemonSet that the document is about; in a plan of a change, with the change
	DaemonSet  Ref        `json:"daemonSet"`
	Controller Controller `json:"controller"` // whose rules were used
	Snapshot   Reading    `json:"snapshot"`   // the input

	// the facts that were assumed and not read, in the order of the table of [assumptions](#assumptions)
	Assumptions []Assumption `json:"assumptions"`
}

// Ref names a DaemonSet and its generation.
type Ref struct {
	Namespace          string `json:"namespace"`          // its namespace
	Name               string `json:"name"`               // its name
	UID                string `json:"uid"`                // its UID; empty if a dump lacks it
	Generation         int64  `json:"generation"`         // the generation of the spec
	ObservedGeneration int64  `json:"observedGeneration"` // the generation that the status is for
	Strategy           string `json:"strategy"`           // `RollingUpdate` or `OnDelete`, as the object has it
}

// Controller names the version of the controller whose rules were used.
type Controller struct {
	// as read: `v1.30.4`, `v1.30.4-gke.12`; `v1.37` if it is unknown
	KubernetesVersion string                 `json:"kubernetesVersion"`
	Source            snapshot.VersionSource `json:"source"` // where the version comes from
}

// Reading says when the input was read, and what could not be read.
type Reading struct {
	// the time for all calculations in the document: the time of the API server, the newest time in a dump,
	// or `--now`
	TakenAt time.Time `json:"takenAt"`

	// the parts that could not be read, in the order of the table of [parts](#parts)
	Gaps []Gap `json:"gaps"`
}

// Lacks reports whether a part of the input could not be read.
func (h *Header) Lacks(what snapshot.What) bool {
	return slices.ContainsFunc(h.Snapshot.Gaps, func(g Gap) bool { return g.What == what && g.Why != snapshot.Moved })
}

// Unread returns the parts that could not be read and that the numbers of the
// status depend on.
func (r *Reading) Unread() (parts []snapshot.What) {
	for _, g := range r.Gaps {
		if g.Why != snapshot.Moved && (g.What == snapshot.Nodes || g.What == snapshot.Pods ||
			g.What == snapshot.PodStatus) {
			parts = append(parts, g.What)
		}
	}
	return parts
}

// Gap is a snapshot.Gap with its consequence for the answer.
type Gap struct {
	snapshot.Gap
	Consequence snapshot.Consequence `json:"consequence"` // the effect on the answer
}

// Assumption is something that was taken as true without being read.
type Assumption struct {
	Code   AssumptionCode `json:"code"`   // what was assumed
	Value  string         `json:"value"`  // the assumed value; empty if the code is sufficient
	Source string         `json:"source"` // the evidence for the assumption
}

// AssumptionCode names an assumption.
type AssumptionCode string

const (
	// AssumeControllerVersion: kube-controller-manager runs this version too; not with `--kubernetes-version`
	// Value: the version
	// Source: a [version source](#version-sources)
	AssumeControllerVersion AssumptionCode = "ControllerVersion"
	// AssumeNewestRules: the cluster is newer than the newest known version,
	// whose rules are used
	// Value: the newest known version
	// Source: a [version source](#version-sources)
	AssumeNewestRules AssumptionCode = "NewestRules"
	// AssumeCurrentRevision: the hash of the current revision is inferred, because the revisions could not be
	// read
	// Value: the hash; `(new)` if it is unknown
	// Source: `TemplateGeneration`: the pods of the live template's generation have it. `Status`: it is the
	// only hash, and the number of pods with it is the number that the status counts as updated. `None`
	AssumeCurrentRevision AssumptionCode = "CurrentRevisionInferred"
	// AssumeMayStay: the nodes could not be read: every node to which a pod is
	// assigned exists, is eligible, and may keep the pod
	// Source: `pods`
	AssumeMayStay AssumptionCode = "PodsMayStay"
	// AssumeNodesReady: the status of the nodes could not be read, so a node counts as Ready unless a taint
	// shows the opposite
	// Source: `nodes/status`
	AssumeNodesReady AssumptionCode = "NodesReady"
	// AssumeEveryNodeSelected: on OpenShift, the node selector of the namespace
	// could not be read: it selects every node
	// Source: `namespaces/node-selector` or `kubecontrollermanagers`
	AssumeEveryNodeSelected AssumptionCode = "EveryNodeSelected"
	// AssumeTolerationComparison: the template has a toleration with the
	// operator Lt or Gt, which the API server accepts only if its feature gate
	// is on: it is assumed to be on in kube-controller-manager too
	// Value: the feature gate
	// Source: `spec.template.spec.tolerations`
	AssumeTolerationComparison AssumptionCode = "TolerationComparison"
	// AssumeGeneration: the controller concludes only from their template generation that this many pods run
	// the live template. No revision that holds the template has their hash
	// Value: the number of pods
	// Source: `pod-template-generation`
	AssumeGeneration AssumptionCode = "UpdatedByGeneration"
	// AssumeNewHash: the next sync creates a revision with a hash that no pod has. If the same revision was
	// deleted before, it gets its old hash again, and the pods with that hash count as updated
	// Value: the hashes of pods that no revision has, separated by commas
	// Source: `controller-revision-hash`
	AssumeNewHash AssumptionCode = "NewRevisionHash"
)

const comparisonGate = "TaintTolerationComparisonOperators"

// Assumptions lists every AssumptionCode.
var Assumptions = []AssumptionCode{AssumeControllerVersion, AssumeNewestRules, AssumeCurrentRevision, AssumeMayStay,
	AssumeNodesReady, AssumeEveryNodeSelected, AssumeTolerationComparison, AssumeGeneration, AssumeNewHash}

// NewHeader returns the header of a document of the given kind.
func NewHeader(kind string, st *State) Header {
	s, ds := st.Snapshot, st.DaemonSet
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
	for _, what := range snapshot.OpenShiftWhats {
		if st.NodesRead && s.Lacks(what) {
			assume(AssumeEveryNodeSelected, "", string(what))
		}
	}
	if st.Placement.compares() {
		assume(AssumeTolerationComparison, comparisonGate, "spec.template.spec.tolerations")
	}
	byGeneration, strays := st.uncertain()
	if byGeneration > 0 {
		assume(AssumeGeneration, strconv.Itoa(byGeneration), templateGenerationLabel)
	}
	if st.History.Cut && len(strays) > 0 {
		assume(AssumeNewHash, strings.Join(strays, ", "), appsv1.DefaultDaemonSetUniqueLabelKey)
	}
	return h
}

// uncertain returns the number of pods on nodes that are updated by their
// template generation alone, and the hashes of pods that are neither updated
// nor of any revision. It ignores terminating pods.
func (st *State) uncertain() (byGeneration int, strays []string) {
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
