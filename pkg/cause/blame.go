package cause

import (
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// Blame is whose fault a problem is, as far as the input shows.
type Blame struct {
	Who       Who       `json:"who"`       // whose fault it is
	Certainty Certainty `json:"certainty"` // how certain that is
	// the revision at fault, for `ThisChange`, and for `Template` where a later one works; otherwise 0
	Revision int64 `json:"revision"`

	// the fields that the revision of the failing pods changed, of those that the failing step reads: what is not among
	// them cannot be the cause. Empty where nothing of them changed, and where no other revision runs
	Touched []template.Path `json:"touched"`

	// the revision of the failing pods changed nothing that the failing step reads, so it is not the cause
	NotChange bool `json:"notChange"`

	// other pods whose template equals that of the failing ones in all that the step reads
	Same  Controls `json:"same"`
	Other Controls `json:"other"` // other pods whose template differs in it

	// all of it was there before the rollout in progress began; nil if there is none, where either time is unknown, and
	// where the two are less than a minute apart, which is no evidence
	BeforeRollout *bool `json:"beforeRollout"`

	// for `Node`: the rollout in progress had done nothing on these nodes when they became NotReady. No pod of the
	// current revision is or was there, and no pod of another one was deleted before; false also where this is unknown
	Untouched bool `json:"untouched"`
}

// Controls are the pods to compare failing ones with.
type Controls struct {
	Before int `json:"before"` // pods that passed the step before the failure began: they say nothing about it
	Since  int `json:"since"`  // pods that passed the step after the failure had begun, or are passing it now
	Fails  int `json:"fails"`  // pods that fail on the same
}

// Who is who may be at fault.
type Who string

const (
	WhoChange   Who = "ThisChange" // the rollout's revision: it changed what the failing step reads
	WhoTemplate Who = "Template"   // the template, whatever the revision
	WhoNode     Who = "Node"       // the nodes
	// something that the failing nodes have in common, and healthy ones do not: see `common`
	WhoNodeProperty  Who = "NodeProperty"
	WhoOtherWorkload Who = "OtherWorkload" // other pods on the node
	WhoMissingObject Who = "MissingObject" // an object that does not exist
	WhoRegistry      Who = "Registry"      // the registry of an image, or the way to it
	WhoPolicy        Who = "Policy"        // a quota, a policy or a webhook, or else the API server: see `subject`
	// whoever added to the pod what the template does not have: a container, or a nodeSelector
	WhoInjection  Who = "Injection"
	WhoController Who = "Controller" // kube-controller-manager
	WhoStrategy   Who = "Strategy"   // `spec.updateStrategy`
	WhoPlatform   Who = "Platform"   // the network, the storage or the machines of the cluster
	WhoUnknown    Who = "Unknown"    // the input does not show it
)

// Certainty is how sure a Blame is.
type Certainty string

const (
	Certain Certainty = "Certain" // the input says so
	Likely  Certainty = "Likely"  // the numbers or a message suggest it
	Unsure  Certainty = "Unknown" // the input does not show it
)

// revisionOf returns the revision of a pod; empty for the live template's. known is false
// where its template cannot be read.
func (cs *Causes) revisionOf(updated bool, revision string) (name string, known bool) {
	if updated {
		return "", true
	}
	return revision, revision != ""
}

// touched returns the fields in which two revisions differ, of those that the step reads that
// a cause is about; empty names are the live template. known is false where a template
// cannot be read.
func (cs *Causes) touched(c *Cause, from, to string) (paths []template.Path, known bool) {
	if from == to {
		return nil, true
	}
	all, known := cs.differences(from, to)
	for _, p := range all {
		if reads(c, p) {
			paths = append(paths, p)
		}
	}
	return paths, known
}

// differences returns the paths in which two revisions differ.
func (cs *Causes) differences(from, to string) ([]template.Path, bool) {
	key := [2]string{from, to}
	if d, ok := cs.differ[key]; ok {
		return d.paths, d.known
	}
	d := difference{}
	if a, b, ok := cs.contents(from, to); ok {
		d.known = true
		for _, x := range template.Diff(a, b) {
			d.paths = append(d.paths, x.Path)
		}
	}
	cs.differ[key] = d
	return d.paths, d.known
}

// difference is how two revisions differ.
type difference struct {
	paths []template.Path
	known bool
}

func (cs *Causes) contents(from, to string) (a, b template.Content, known bool) {
	of := func(name string) (template.Content, error) {
		if name == "" {
			return template.Of(&cs.st.DaemonSet.Spec.Template, false)
		}
		return template.Stored(cs.s.RevisionData(name))
	}
	a, errA := of(from)
	b, errB := of(to)
	return a, b, errA == nil && errB == nil
}

// before returns the revision that most old pods run; empty where there is none.
func (cs *Causes) before() string {
	pods := map[string]int{}
	for i := range cs.st.Nodes {
		for j := range cs.st.Nodes[i].Pods {
			if p := &cs.st.Nodes[i].Pods[j]; !p.Updated && !p.Terminating && p.Revision != "" {
				pods[p.Revision]++
			}
		}
	}
	name, most := "", 0
	for _, r := range cs.st.History.Revisions { // newest first
		if n := pods[r.Name]; n > most && !slices.Contains(cs.st.History.Current, r.Name) {
			name, most = r.Name, n
		}
	}
	return name
}
