// Package cause says what keeps a node from having an available pod: the
// node, the pod, its containers, or an API server that refuses it. It holds no
// prose.
package cause

import (
	"cmp"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/refer"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Cause is what is wrong on one node, or with the DaemonSet as a whole.
type Cause struct {
	// what is wrong
	// Codes: Problems
	Code     daemonset.Reason `json:"code"`
	Severity Severity         `json:"severity"` // how bad it is
	Pod      string           `json:"pod"`      // the pod concerned; empty if it is about none
	Since    *time.Time       `json:"since"`    // when it began; nil if unknown
	Facts    daemonset.Facts  `json:"facts"`    // what the answer rests on
}

// Severity ranks causes.
type Severity string

const (
	SeverityError   Severity = "Error"   // it does not resolve by itself
	SeverityWarning Severity = "Warning" // it may resolve by itself, or does harm only later
	SeverityInfo    Severity = "Info"    // worth knowing
)

// Compare orders severities, worst first.
func (s Severity) Compare(other Severity) int {
	worst := []Severity{SeverityError, SeverityWarning, SeverityInfo}
	return cmp.Compare(slices.Index(worst, s), slices.Index(worst, other))
}

// Patience is how long a pod may take to start, or a terminating one beyond
// its grace period to go, before that is no longer taken for the normal
// course of things.
const Patience = 5 * time.Minute

// Causes are those of one DaemonSet at one time.
type Causes struct {
	s         *snapshot.Snapshot
	st        *daemonset.State
	at        time.Time
	podEvent  map[types.UID]map[string]*corev1.Event // newest by reason
	dsEvent   map[string]*corev1.Event               // newest by reason, about the DaemonSet
	failures  map[string]*failures                   // by node: failed pods that the controller found, by its events
	refusal   *Cause                                 // nil if the API server refuses nothing
	lifted    *Cause                                 // a refusal that no longer holds; nil if there is none
	admission *admission.Verdict                     // about the next pod; nil if it is not known
	fitting   *fitting                               // see fits
	ports     map[string][]snapshot.HostPort         // by revision: see portsOfRevision
	differ    map[[2]string]difference               // of two revisions: see differences
	changed   func() time.Time                       // see Changed; computed where it is asked for
	unmet     func() []refer.Missing                 // what the template refers to and does not exist; likewise
	starts    func() Starts                          // likewise; where a pod is not Ready
	nodes     map[string]*Cause                      // by name; none where nothing is wrong
	hide      func(message string) string            // takes literal values out; nil until there is a message
}

// Find returns the causes that a State and the events of its Snapshot show.
// Where the pods could not be read, no node has one.
func Find(st *daemonset.State) *Causes {
	s := st.Snapshot
	cs := &Causes{
		s: s, st: st, at: st.At, podEvent: map[types.UID]map[string]*corev1.Event{},
		dsEvent:  map[string]*corev1.Event{},
		failures: map[string]*failures{}, ports: map[string][]snapshot.HostPort{}, differ: map[[2]string]difference{},
		nodes: map[string]*Cause{},
	}
	for i := range s.Events {
		cs.note(&s.Events[i])
	}
	cs.admission = admissionOf(st)
	cs.refusal, cs.lifted = cs.refusals()
	cs.changed = sync.OnceValue(cs.lastChange)
	cs.starts = sync.OnceValue(func() Starts { return StartsOf(st) })
	cs.unmet = sync.OnceValue(func() []refer.Missing {
		return refer.Unmet(&st.DaemonSet.Spec.Template.Spec,
			s.References)
	})
	if !st.PodsRead {
		return cs
	}
	for i := range st.Nodes {
		if c := cs.quotable(cs.nodeCause(&st.Nodes[i])); c != nil {
			cs.nodes[st.Nodes[i].Name] = c
		}
	}
	return cs
}

// Of returns what keeps a node from having an available pod; nil if nothing does. It
// is about one pod: a new one if there is one, else one that is not terminating. That
// the node is gone or down stands for what is wrong with the pod, unless an image
// cannot be pulled or a container fails, which the kubelet has told. A node that
// should not run the pod has a cause only for a pod that it still holds.
func (cs *Causes) Of(node string) *Cause { return cs.nodes[node] }

// Now returns what is wrong on the nodes that should run the pod or use up the limit.
func (cs *Causes) Now() (found []On) {
	for i := range cs.st.Nodes {
		n := &cs.st.Nodes[i]
		c := cs.nodes[n.Name]
		switch {
		case c == nil, n.Exists && !n.ShouldRun.OK && !cs.st.Holds(n) && !cs.HoldsDeletion(n):
		case c.Code == NoPod && cs.st.DaemonSet.DeletionTimestamp != nil:
		default:
			found = append(found, On{Node: n.Name, Cause: c})
		}
	}
	if c := cs.RefusesSurge(); c != nil {
		found = append(found, On{Cause: c})
	}
	return found
}

// RefusesSurge returns why the API server refuses the pods that a rollout with maxSurge creates beside
// the old ones; nil if it refuses none, or if a node lacks a pod, whose cause it then is.
func (cs *Causes) RefusesSurge() *Cause {
	if cs.refusal == nil || cs.st.Budget.MaxSurge == 0 || !cs.st.PodsRead {
		return nil
	}
	for _, c := range cs.nodes {
		if c == cs.refusal {
			return nil
		}
	}
	if next := cs.st.Sync(); next.Creates.Len() == 0 {
		return nil
	}
	return cs.refusal
}

// HoldsDeletion reports whether the DaemonSet cannot be deleted before a pod on this node has ended, which
// it does not by itself: in a foreground deletion, the garbage collector waits for the pods.
func (cs *Causes) HoldsDeletion(n *daemonset.Node) bool {
	c := cs.nodes[n.Name]
	return c != nil && c.Severity == SeverityError && (c.Code == Terminating || c.Code == TerminatingOnDeadNode) &&
		InForeground(cs.st.DaemonSet)
}

// InForeground reports whether a DaemonSet is being deleted after its pods.
func InForeground(ds *appsv1.DaemonSet) bool {
	return ds.DeletionTimestamp != nil && slices.Contains(ds.Finalizers, metav1.FinalizerDeleteDependents)
}

// OfPod returns why a pod is not available, by what it and its containers say;
// nil if it is. That its node is down or gone it does not say: see Of.
func (cs *Causes) OfPod(p *daemonset.Pod) *Cause {
	c := cs.quotable(cs.named(p, cs.podCause(p)))
	if c != nil {
		c.Pod = p.Name
		cs.late(p, c)
	}
	return c
}

// quotable returns a cause whose message, somebody else's words, holds no literal
// value of an environment variable.
func (cs *Causes) quotable(c *Cause) *Cause {
	if c == nil {
		return nil
	}
	if message, ok := c.Facts["message"].(string); ok {
		if cs.hide == nil {
			cs.hide = cs.s.Values().Hide
		}
		c.Facts["message"] = cs.hide(message)
	}
	return c
}

// Refusal returns that the API server refuses pods: since the last one that was
// created, with the words of the newest FailedCreate event, or from the next one on,
// as its rules say. It is nil if the API server does not, or if neither tells.
func (cs *Causes) Refusal() *Cause { return cs.refusal }
