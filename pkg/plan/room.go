package plan

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// room is what the ResourceQuotas of the namespace leave for pods: for each limited resource the free amount, and the
// amounts of a new pod and of each existing pod.
type room struct {
	free []int64
	cost []int64            // amounts of a new pod
	held map[string][]int64 // amounts of existing pods, by name; a quota counts a pod until it is gone
}

// roomOf returns what the quotas leave according to a Verdict about the current template. It returns nil if no quota
// counts its pods, or if they are rejected for another reason than an exceeded quota.
func roomOf(st *daemonset.State, v *admission.Verdict) *room {
	if v == nil || len(v.Refusals) > 0 && v.Refusals[0].Reason != admission.QuotaExceeded {
		return nil
	}
	r, of := &room{held: map[string][]int64{}}, limitsOf(v)
	for _, l := range of {
		r.free, r.cost = append(r.free, l.free), append(r.cost, l.requested)
	}
	if len(of) == 0 {
		return nil
	}
	byRevision := map[string][]int64{}
	for i := range st.Nodes {
		for j := range st.Nodes[i].Pods {
			p := &st.Nodes[i].Pods[j]
			held, known := byRevision[p.Revision]
			if !known {
				held = heldBy(st, p, of)
				byRevision[p.Revision] = held
			}
			r.held[p.Name] = held
		}
	}
	return r
}

// quotaLimit is a resource that a quota counts. Amounts are in thousandths.
type quotaLimit struct {
	quota           string
	resource        corev1.ResourceName
	free, requested int64
}

func limitsOf(v *admission.Verdict) (out []quotaLimit) {
	for _, q := range v.Quotas {
		for _, a := range q.Amounts {
			out = append(out, quotaLimit{q.Name, a.Resource, a.Hard.MilliValue() - a.Used.MilliValue(),
				a.Requested.MilliValue()})
		}
	}
	return out
}

// heldBy returns the amounts that an existing pod takes of each limit, according to the template of its revision, or
// the current template if that is unknown.
func heldBy(st *daemonset.State, p *daemonset.Pod, of []quotaLimit) []int64 {
	pod := st.PodFor("")
	if old := st.TemplateOf(p.Revision); old != nil && !p.Updated {
		pod.Spec = old.Spec
	}
	in := *st.Snapshot.Admission
	in.DryRun = nil // it is for the new pod
	v := admission.Check(&in, pod, st.Snapshot.KubernetesVersion, st.Snapshot.Lacks)
	out := make([]int64, len(of))
	for _, l := range limitsOf(&v) {
		for i := range of {
			if of[i].quota == l.quota && of[i].resource == l.resource {
				out[i] = l.requested
			}
		}
	}
	return out
}

// passes returns how many new pods the quotas admit.
func (r *room) passes() int {
	most := math.MaxInt
	for i, cost := range r.cost {
		if cost > 0 {
			most = min(most, int(max(0, r.free[i]/cost)))
		}
	}
	return most
}

// take subtracts a new pod.
func (r *room) take() { r.add(r.cost, -1) }

// give adds back the amounts of a pod that is gone.
func (r *room) give(p *daemonset.Pod) {
	if p.Object == simulated {
		r.add(r.cost, 1)
		return
	}
	r.add(r.held[p.Name], 1)
}

func (r *room) add(what []int64, by int64) {
	for i, n := range what {
		r.free[i] += by * n
	}
}

// copied returns a copy for one simulation to use up, or nil if no quota limits pods.
func (r *room) copied() *room {
	if r == nil {
		return nil
	}
	c := *r
	c.free = slices.Clone(r.free)
	return &c
}

// admit limits the creates of a sync to those that the quotas admit, and sets r.refused if there are more. The
// controller retries when a pod is gone.
func (r *simulation) admit(a *daemonset.Act) {
	r.refused = false
	if r.room == nil {
		return
	}
	if n := r.room.passes(); n < len(a.Creates) {
		a.Creates, r.refused = a.Creates[:n], true
	}
}
