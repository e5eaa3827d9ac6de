package cause

import (
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Needs is what an answer looks at besides what a Snapshot holds anyway. Whoever
// reads the input adds it to the Snapshot, and makes the State again.
type Needs struct {
	Admission bool     // what the API server looks at when it is asked to create a pod
	Nodes     []string // whose other pods decide whether a pod fits there, sorted
	Claims    []string // whose volumes decide whether it fits on these nodes, or starts where it is, sorted

	Controller bool // who runs the DaemonSet controller
}

// mostPending is of how many nodes the other pods are needed that have a pod which is not
// scheduled: an answer names few.
const mostPending = 10

// Few leaves of the needs of several answers the other pods of ten nodes in all, of the
// first that need some. So a list costs no more than one answer does.
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

// Watched returns what says why pods are refused now, and why the scheduler says that it
// cannot place others. Of what was read before, it looks at nothing: that may no longer
// hold.
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

// NeedsOf returns what says why pods are refused, why others are not scheduled, why the
// volumes of others cannot be attached or mounted, and whether a controller runs that does nothing.
func NeedsOf(st *daemonset.State) Needs {
	cs := Find(st)
	n, unmounted := Needs{Admission: cs.asksAdmission(), Controller: cs.AsksController()}, 0
	for i := range st.Nodes {
		for j := range st.Nodes[i].Pods {
			if p := &st.Nodes[i].Pods[j]; unmounted < mostPending && cs.unmounted(p) {
				unmounted++
				// a bound pod's own volumes are not kept
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

// asksAdmission reports whether the API server rejects pods, or rejected some before, or a node has had no pod for
// longer than Patience and nothing says why.
func (cs *Causes) asksAdmission() bool {
	if cs.Refusal() != nil || cs.Lifted() != nil {
		return true
	}
	return slices.ContainsFunc(cs.st.Nodes, func(n daemonset.Node) bool {
		c := cs.nodes[n.Name]
		return c != nil && c.Code == NoPod && c.Severity == SeverityError && n.ShouldRun.OK
	})
}

// NeedsOn returns what says whether the next pod would fit on those of the nodes that
// should have a pod and have none, or one that waits; on ten of them at most.
func NeedsOn(st *daemonset.State, nodes []string) (n Needs) {
	for i := range st.Nodes {
		if d := &st.Nodes[i]; len(n.Nodes) < mostPending && slices.Contains(nodes, d.Name) && wants(d) {
			n.Nodes = append(n.Nodes, d.Name)
			n.Admission = n.Admission || waiter(d) == nil
		}
	}
	if len(n.Nodes) > 0 {
		n.Claims = snapshot.ClaimsOf("", &st.DaemonSet.Spec.Template.Spec)
	}
	return Needs{}.And(n)
}

// unscheduled reports whether the scheduler has not found room for a pod.
func unscheduled(p daemonset.Pod) bool {
	return !p.Terminating && p.Object.Spec.NodeName == ""
}

// unmounted reports whether a volume of a pod could not be attached or mounted, as an event says.
func (cs *Causes) unmounted(p *daemonset.Pod) bool {
	return !p.Terminating && !p.Ready && p.Object.Spec.NodeName != "" &&
		cs.newestEvent(p.Object, "FailedAttachVolume", "FailedMount") != nil
}

// And returns both.
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
