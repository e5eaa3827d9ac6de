package cause

import (
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// Blame is who is to blame for a problem, as far as the input shows.
type Blame struct {
	Who       Who       `json:"who"`       // who is to blame
	Certainty Certainty `json:"certainty"` // how certain that is
	// the revision to blame, for `ThisChange`, and for `Template` if a later revision works; otherwise 0
	Revision int64 `json:"revision"`

	// the fields that the revision of the failing pods changed and that the failing step reads. No other
	// field can be the cause. Empty if no such field changed, or if no other revision runs
	Touched []template.Path `json:"touched"`

	// whether the revision of the failing pods is not the cause, because it changed no field that the failing
	// step reads
	NotChange bool `json:"notChange"`

	// other pods with the same values as the failing pods in all fields that the step reads
	Same  Controls `json:"same"`
	Other Controls `json:"other"` // other pods with different values in these fields

	// whether the whole problem existed before the rollout in progress began; nil if there is no rollout, if
	// a time is unknown, or if the two times are less than a minute apart
	BeforeRollout *bool `json:"beforeRollout"`

	// for `Node`: whether the nodes became NotReady before the rollout in progress touched them. Then no pod
	// of the current revision is or was there, and no pod of another revision was deleted before. False if
	// this is unknown
	Untouched bool `json:"untouched"`
}

// Controls are the pods that the failing pods are compared with.
type Controls struct {
	Before int `json:"before"` // pods that passed the step before the failure began, which proves nothing
	Since  int `json:"since"`  // pods that passed the step after the failure began, or are passing it now
	Fails  int `json:"fails"`  // pods that fail for the same reason
}

// Who is a party that may be to blame.
type Who string

const (
	WhoChange   Who = "ThisChange" // the revision of the rollout: it changed what the failing step reads
	WhoTemplate Who = "Template"   // the template, in any revision
	WhoNode     Who = "Node"       // the nodes
	// something that the failing nodes have in common and healthy nodes do not have: see `common`
	WhoNodeProperty  Who = "NodeProperty"
	WhoOtherWorkload Who = "OtherWorkload" // other pods on the node
	WhoMissingObject Who = "MissingObject" // an object that does not exist
	WhoRegistry      Who = "Registry"      // the registry of an image, or the network path to it
	WhoPolicy        Who = "Policy"        // a quota, a policy or a webhook, or otherwise the API server: see `subject`
	// whoever added something to the pod that the template does not have: a container, or a nodeSelector
	WhoInjection  Who = "Injection"
	WhoController Who = "Controller" // kube-controller-manager
	WhoStrategy   Who = "Strategy"   // `spec.updateStrategy`
	WhoPlatform   Who = "Platform"   // the network, the storage or the machines of the cluster
	WhoUnknown    Who = "Unknown"    // the input does not show who
)

// Certainty is how certain a Blame is.
type Certainty string

const (
	Certain Certainty = "Certain" // the input says so
	Likely  Certainty = "Likely"  // the counts or a message suggest it
	Unsure  Certainty = "Unknown" // the input does not show it
)

// revisionOf returns the revision of a pod; empty for the live template. known is false if its template cannot be read.
func (cs *Causes) revisionOf(updated bool, revision string) (name string, known bool) {
	if updated {
		return "", true
	}
	return revision, revision != ""
}

// touched returns the fields in which two revisions differ and that the failing step of a cause reads. An empty name is
// the live template. known is false if a template cannot be read.
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

// differences returns the paths of the fields in which two revisions differ.
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

// difference is the difference between two revisions.
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

// before returns the revision that most old pods run; empty if there are none.
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
