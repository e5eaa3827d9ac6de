package plan

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// Alternative is an outcome other than the expected one, and the condition for it.
type Alternative struct {
	// the event that leads to this outcome, and that does not happen in the expected course
	// Codes: Conditions of other ends
	Condition Condition   `json:"condition"`
	Nodes     []string    `json:"nodes"`    // the nodes whose pods the condition is about, sorted by name
	Code      OutcomeCode `json:"code"`     // how the rollout ends then
	Replaced  int         `json:"replaced"` // as in `outcome`
	Updated   int         `json:"updated"`  // nodes whose pod is updated at the end
	Unserved  int         `json:"unserved"` // nodes that stay without an available pod, or use up the limit

	// how long the rollout takes to complete, for `PodsBecomeReady` from the time when the pods become ready;
	// nil if that is unknown, or if the rollout does not end
	Duration *Duration `json:"duration"`
}

// Condition is what must happen for an Alternative.
type Condition string

const (
	// PodsStayUnready: the pods of `outcome.late`, which are expected to become ready, do not become ready
	PodsStayUnready Condition = "PodsStayUnready"
	// PodsBecomeReady: pods that fail, and are expected to continue to fail, become ready
	PodsBecomeReady Condition = "PodsBecomeReady"
	// NextPodsFail: the next pods on the nodes of `outcome.unknown` fail for the same reason as the current ones
	NextPodsFail Condition = "NextPodsFail"
)

// Conditions lists every Condition.
var Conditions = []Condition{NextPodsFail, PodsStayUnready, PodsBecomeReady}

// alternatives returns the outcomes that differ from o: if late pods do not become ready, if the next pods fail that
// may fail, or if failing pods become ready. If o completes only because pods work that may fail, its code becomes
// MayComplete.
func (sc *scenario) alternatives(o *Outcome) []Alternative {
	out := []Alternative{}
	if unknown := sc.unknown(); len(unknown) > 0 && o.ends() {
		if alt, end := sc.worst().alternative(NextPodsFail, unknown); alt.Code != o.Code ||
			end.Unserved() > o.Unserved() {
			out, o.Unknown = append(out, alt), sc.unknownHolders()
			if alt.Code == Stalls && o.Code == Completes {
				o.Code = MayComplete
			}
		}
	}
	if len(sc.a.late) > 0 && o.ends() {
		nodes := Nodes(sc.a.late)
		other := sc.assuming(nodes, func(f *assumedNode, n *daemonset.Node, c *cause.Cause) { f.fail(n, c) })
		if alt, end := other.alternative(PodsStayUnready, nodes); alt.Code != o.Code || end.Unserved() > o.Unserved() {
			out = append(out, alt)
		}
	}
	if nodes := sc.curable(); len(nodes) > 0 && (o.Code == Stalls || o.Unserved() > 0) {
		other := sc.assuming(nodes, func(f *assumedNode, _ *daemonset.Node, _ *cause.Cause) { f.recover() })
		if alt, end := other.alternative(PodsBecomeReady, nodes); alt.Code == Completes &&
			(o.Code == Stalls || end.Unserved() < o.Unserved()) {
			out = append(out, alt)
		}
	}
	return out
}

// unknownHolders returns the nodes whose next pod may or may not fail.
func (sc *scenario) unknownHolders() []Holder {
	out := []Holder{}
	for i := range sc.st.Nodes {
		if c := sc.a.nodes[i].unknown; c != nil {
			out = append(out, Holder{Node: sc.st.Nodes[i].Name, Cause: c})
		}
	}
	return out
}

// alternative simulates the scenario and returns its outcome as an Alternative.
func (sc *scenario) alternative(on Condition, nodes []string) (Alternative, *Outcome) {
	run := sc.simulate()
	o, counts := sc.outcome(run), run.tally.Counts()
	if o.ends() {
		sc.spread(&o)
	}
	slices.Sort(nodes)
	return Alternative{on, nodes, o.Code, o.Replaced, counts.Updated, o.Unserved(), o.Duration}, &o
}

// assuming returns the scenario after edit has changed the assumptions about some nodes.
func (sc *scenario) assuming(nodes []string, edit func(*assumedNode, *daemonset.Node, *cause.Cause)) *scenario {
	a := *sc.a
	a.nodes, a.late = slices.Clone(a.nodes), nil
	on := sets.New(nodes...)
	for i := range sc.st.Nodes {
		if n := &sc.st.Nodes[i]; on.Has(n.Name) {
			a.nodes[i].pods = maps.Clone(a.nodes[i].pods)
			edit(&a.nodes[i], n, sc.a.causes.Of(n.Name))
		}
	}
	return &scenario{st: sc.st, a: &a, m: sc.m, buffers: sc.buffers}
}

// fail assumes that the pod of the current revision does not become ready.
func (f *assumedNode) fail(n *daemonset.Node, c *cause.Cause) {
	if c == nil {
		c = &cause.Cause{Code: daemonset.NotReady, Severity: cause.SeverityError, Facts: daemonset.Facts{}}
	}
	if f.pods == nil {
		f.pods = map[string]*cause.Cause{}
	}
	for j := range n.Pods {
		if p := &n.Pods[j]; p.Updated && !p.Terminating && !p.Ready {
			f.pods[p.Name] = c
			return
		}
	}
	f.never = c // the late pod has another revision with the same containers
}

// recover assumes that failing pods become ready immediately.
func (f *assumedNode) recover() { f.cured, f.pods = true, nil }

// curable returns the nodes on which a pod of the current revision fails only because of its containers. It returns nil
// if the revision itself fails.
func (sc *scenario) curable() (nodes []string) {
	if sc.a.fails != nil || sc.a.failing != nil {
		return nil
	}
	for i := range sc.st.Nodes {
		n, f := &sc.st.Nodes[i], &sc.a.nodes[i]
		for j := range n.Pods {
			p := &n.Pods[j]
			if c := f.pods[p.Name]; c != nil && p.Updated && !f.stays() &&
				(cause.OfContainer(c.Code) || c.Code == daemonset.NotReady) {
				nodes = append(nodes, n.Name)
				break
			}
		}
	}
	return nodes
}
