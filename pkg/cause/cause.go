// Package cause finds what keeps a node from having an available pod: the node, the pod, its containers, or an API
// server that rejects it. It also finds who is to blame. The package produces codes and facts, not prose.
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

// Cause is a problem on one node, or of the DaemonSet as a whole.
type Cause struct {
	// what is wrong
	// Codes: Problems
	Code     daemonset.Reason `json:"code"`
	Severity Severity         `json:"severity"` // how bad it is
	Pod      string           `json:"pod"`      // the pod concerned; empty if there is none
	Since    *time.Time       `json:"since"`    // when it began; nil if unknown
	Facts    daemonset.Facts  `json:"facts"`    // the evidence for the cause
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

// Patience is how long a pod may take to start. It is also how long a terminating pod may exceed its grace period.
// After that time, a delay is no longer considered normal.
const Patience = 5 * time.Minute

// Causes are the causes of one DaemonSet at one time.
type Causes struct {
	s         *snapshot.Snapshot
	st        *daemonset.State
	at        time.Time
	podEvent  map[types.UID]map[string]*corev1.Event // newest by reason
	dsEvent   map[string]*corev1.Event               // newest by reason, about the DaemonSet
	failures  map[string]*failures                   // failed pods that the controller's events report, by node
	refusal   *Cause                                 // nil if the API server rejects nothing
	lifted    *Cause                                 // a rejection that no longer holds; nil if there is none
	admission *admission.Verdict                     // for the next pod; nil if it is unknown
	fitting   *fitting                               // see fits
	ports     map[string][]snapshot.HostPort         // by revision: see portsOfRevision
	differ    map[[2]string]difference               // see differences
	changed   func() time.Time                       // see Changed; computed on demand
	unmet     func() []refer.Missing                 // objects that the template refers to and that do not exist; computed on demand
	starts    func() Starts                          // computed on demand, for pods that are not Ready
	nodes     map[string]*Cause                      // by name; absent if nothing is wrong
	hide      func(message string) string            // removes literal values; nil until it is needed
}

// Find returns the causes that a State and the events of its Snapshot show. If the pods could not be read, no node has
// a cause.
func Find(st *daemonset.State) *Causes {
	s := st.Snapshot
	cs := &Causes{
		s: s, st: st, at: st.At, podEvent: map[types.UID]map[string]*corev1.Event{},
		dsEvent:  map[string]*corev1.Event{},
		failures: map[string]*failures{}, ports: map[string][]snapshot.HostPort{}, differ: map[[2]string]difference{},
		nodes: map[string]*Cause{},
	}
	for i := range s.Events {
		cs.indexEvent(&s.Events[i])
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
		if c := cs.hideValues(cs.nodeCause(&st.Nodes[i])); c != nil {
			cs.nodes[st.Nodes[i].Name] = c
		}
	}
	return cs
}

// Of returns what keeps a node from having an available pod, or nil if nothing does.
//
// The cause is about one pod: the new pod if there is one, otherwise a pod that is not terminating. If the node is down
// or deleted, that is the cause, unless the kubelet has reported that an image cannot be pulled or that a container
// fails. A node that is not eligible has a cause only for a pod that it still has.
func (cs *Causes) Of(node string) *Cause { return cs.nodes[node] }

// Now returns the causes on the nodes that are eligible or use up the limit, and the cause of RefusesSurge.
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

// RefusesSurge returns why the API server rejects the pods that a rollout with maxSurge creates beside the old ones. It
// returns nil if no pod is rejected, or if a node lacks a pod and therefore has this cause itself.
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

// HoldsDeletion reports whether a pod on this node holds up the deletion of the DaemonSet and does not terminate by
// itself. In a foreground deletion, the garbage collector waits for the pods.
func (cs *Causes) HoldsDeletion(n *daemonset.Node) bool {
	c := cs.nodes[n.Name]
	return c != nil && c.Severity == SeverityError && (c.Code == Terminating || c.Code == TerminatingOnDeadNode) &&
		InForeground(cs.st.DaemonSet)
}

// InForeground reports whether a DaemonSet is being deleted in the foreground, after its pods.
func InForeground(ds *appsv1.DaemonSet) bool {
	return ds.DeletionTimestamp != nil && slices.Contains(ds.Finalizers, metav1.FinalizerDeleteDependents)
}

// OfPod returns why a pod is not available according to the pod and its containers, or nil if it is available. It does
// not consider whether the node is down or deleted; see Of.
func (cs *Causes) OfPod(p *daemonset.Pod) *Cause {
	c := cs.hideValues(cs.explain(p, cs.podCause(p)))
	if c != nil {
		c.Pod = p.Name
		cs.markLate(p, c)
	}
	return c
}

// hideValues removes literal values of environment variables from the message of a cause, which comes from another
// component.
func (cs *Causes) hideValues(c *Cause) *Cause {
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

// Refusal returns the cause if the API server rejects pods, or nil if it does not. Either an event reports that a pod
// was rejected after the last one was created, or the admission rules predict that the next one will be.
func (cs *Causes) Refusal() *Cause { return cs.refusal }
