package cause

import (
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Needs are the objects that an answer reads in addition to those that every Snapshot has. The caller adds them to the
// Snapshot and computes the State again.
type Needs struct {
	Admission bool     // what the API server reads when a pod is created
	Nodes     []string // nodes whose other pods decide whether a pod fits there, sorted
	Claims    []string // claims whose volumes decide whether the pod fits on these nodes, or starts where it is, sorted

	Controller bool // the Lease of the DaemonSet controller
}

// mostPending is the number of nodes with an unscheduled pod for which the other pods are read. More are not necessary,
// because an answer names only a few.
const mostPending = 10

// Few limits the needs of several answers to the other pods of ten nodes in total, so that a list costs no more than
// one answer. The first answers have priority.
func Few(all []Needs) []Needs {
	out, nodes := slices.Clone(all), []string(nil)
	for i := range out {
		had := len(out[i].Nodes) > 0
		out[i].Nodes = slices.DeleteFunc(slices.Clone(out[i].Nodes), func(n string) bool {
			known := slices.Contains(nodes, n)
			if !known && len(nodes) < mostPending {
				nodes, known = append(nodes, n), true
			}
			return !known
		})
		if had && len(out[i].Nodes) == 0 {
			out[i].Claims = nil
		}
	}
	return out
}

// Watched returns what is needed to explain why pods are rejected now, and why the scheduler reports that it cannot
// place others. It ignores what was read before, because that may be outdated.
func Watched(st *daemonset.State) (n Needs) {
	cs := Find(st.Reading(st.Snapshot.Admitting(nil, nil).Holding(nil, nil).Reaching(nil, nil)))
	n.Admission = cs.asksAdmission()
	for i := range st.Nodes {
		d := &st.Nodes[i]
		c := cs.Of(d.Name)
		if c == nil || !d.Exists || len(n.Nodes) == mostPending || c.Facts.Text("message") == "" ||
			!slices.Contains([]daemonset.Reason{InsufficientResources, HostPortConflict,
				PendingUnschedulable}, c.Code) {
			continue
		}
		n.Nodes = append(n.Nodes, d.Name)
		for j := range d.Pods {
			if p := &d.Pods[j]; unscheduled(*p) {
				n.Claims = append(n.Claims, snapshot.ClaimsOf(p.Name, &p.Object.Spec)...)
			}
		}
	}
	return Needs{}.And(n)
}

// NeedsOf returns what is needed to explain why pods are rejected, why pods are not scheduled, and why volumes cannot
// be attached or mounted, and to find out whether an inactive controller is running.
func NeedsOf(st *daemonset.State) Needs {
	cs := Find(st)
	n, unmounted := Needs{Admission: cs.asksAdmission(), Controller: cs.AsksController()}, 0
	for i := range st.Nodes {
		for j := range st.Nodes[i].Pods {
			if p := &st.Nodes[i].Pods[j]; unmounted < mostPending && cs.unmounted(p) {
				unmounted++
				// the Snapshot does not keep the volumes of a bound pod
				n.Claims = append(n.Claims, snapshot.ClaimsOf(p.Name, &st.DaemonSet.Spec.Template.Spec)...)
			}
		}
		if len(n.Nodes) < mostPending && st.Nodes[i].Exists && slices.ContainsFunc(st.Nodes[i].Pods, unscheduled) {
			n.Nodes = append(n.Nodes, st.Nodes[i].Name)
			for j := range st.Nodes[i].Pods {
				if p := &st.Nodes[i].Pods[j]; unscheduled(*p) {
					n.Claims = append(n.Claims, snapshot.ClaimsOf(p.Name, &p.Object.Spec)...)
				}
			}
		}
	}
	return Needs{}.And(n)
}

// asksAdmission reports whether the API server rejects or has rejected pods, or a node has had no pod for longer than
// Patience for no known reason.
func (cs *Causes) asksAdmission() bool {
	if cs.Refusal() != nil || cs.Lifted() != nil {
		return true
	}
	return slices.ContainsFunc(cs.st.Nodes, func(n daemonset.Node) bool {
		c := cs.nodes[n.Name]
		return c != nil && c.Code == NoPod && c.Severity == SeverityError && n.ShouldRun.OK
	})
}

// NeedsOn returns what is needed to decide whether the next pod would fit on the given nodes. It considers only
// eligible nodes without a pod, or with one that waits for the scheduler, and at most ten of them.
func NeedsOn(st *daemonset.State, nodes []string) (n Needs) {
	for i := range st.Nodes {
		if d := &st.Nodes[i]; len(n.Nodes) < mostPending && slices.Contains(nodes, d.Name) && wantsPod(d) {
			n.Nodes = append(n.Nodes, d.Name)
			n.Admission = n.Admission || waitingPod(d) == nil
		}
	}
	if len(n.Nodes) > 0 {
		n.Claims = snapshot.ClaimsOf("", &st.DaemonSet.Spec.Template.Spec)
	}
	return Needs{}.And(n)
}

// unscheduled reports whether the scheduler has not bound a pod to a node.
func unscheduled(p daemonset.Pod) bool {
	return !p.Terminating && p.Object.Spec.NodeName == ""
}

// unmounted reports whether an event says that a volume of a pod could not be attached or mounted.
func (cs *Causes) unmounted(p *daemonset.Pod) bool {
	return !p.Terminating && !p.Ready && p.Object.Spec.NodeName != "" &&
		cs.newestEvent(p.Object, "FailedAttachVolume", "FailedMount") != nil
}

// And returns the union of both needs.
func (n Needs) And(m Needs) Needs {
	return Needs{
		Admission: n.Admission || m.Admission, Controller: n.Controller || m.Controller,
		Nodes: union(n.Nodes, m.Nodes), Claims: union(n.Claims, m.Claims),
	}
}

func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
