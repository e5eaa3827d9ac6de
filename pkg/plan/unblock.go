package plan

import (
	"strconv"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// withLimit returns the State with another limit of the kind that its budget
// has.
func withLimit(st *daemonset.State, n int) *daemonset.State {
	c := *st
	c.Budget.Fallback = false
	if c.Budget.MaxSurge > 0 {
		c.Budget.MaxSurge = n
	} else {
		c.Budget.MaxUnavailable = n
	}
	return &c
}

// usual are the limits that people choose.
var usual = []string{"1", "5%", "10%", "25%", "33%"}

// limits says what the usual limits would mean.
func limits(st *daemonset.State, a *assumed, m *measured) []Limit {
	out := []Limit{}
	for _, text := range usual {
		v := intstr.Parse(text)
		n, err := intstr.GetScaledValueFromIntOrPercent(&v, st.Desired, true)
		if err != nil || n == 0 {
			continue
		}
		if last := len(out) - 1; last >= 0 && out[last].Nodes == n {
			same := out[last]
			same.Limit = text
			out = append(out, same)
			continue
		}
		r := simulate(withLimit(st, n), a.fates, m.typical(a.refusal != nil))
		l := Limit{Limit: text, Nodes: n, Steps: r.end.steps, Current: n == st.Limit(), Code: outcome(st, r, a).Code}
		if l.Code == Completes {
			l.Duration, _ = new(Outcome).spread(withLimit(st, n), a, m)
		}
		out = append(out, l)
	}
	return out
}

// unblock returns single changes after each of which the rollout completes,
// the simulation being asked about each. Where the revision itself fails, more
// room would only take down more nodes.
func unblock(s *snapshot.Snapshot, st *daemonset.State, a *assumed, m *measured, r *simulation) []Unblock {
	out := []Unblock{}
	pace := func() *pace { return m.typical(a.refusal != nil) }
	completes := func(st *daemonset.State, a *assumed) bool {
		return outcome(st, simulate(st, a.fates, pace()), a).Code == Completes
	}
	try := func(u Unblock, c *Change) {
		if st, a, err := after(s, a, c); err == nil && completes(st, a) {
			out = append(out, u)
		}
	}
	switch {
	case a.fails != nil:
		if to := before(st); to != 0 {
			try(Unblock{RollBack, strconv.FormatInt(to, 10)}, &Change{ToRevision: &to})
		}
		return out
	case a.refusal != nil || r.end.failed != nil || st.Budget.Kind == daemonset.BudgetNone || st.Budget.Invalid != "":
		return out
	}
	if st.Budget.MaxSurge > 0 {
		zero, one := intstr.FromInt32(0), intstr.FromInt32(1)
		try(Unblock{NoSurge, one.String()}, &Change{MaxSurge: &zero, MaxUnavailable: &one})
	}
	if a.ports { // more of them would wait
		return out
	}
	for n, most := r.used+1, len(st.Nodes)+1; n <= most; {
		higher := simulate(withLimit(st, n), a.fates, pace())
		if outcome(st, higher, a).Code == Completes {
			out = append(out, raise(st, n)...)
			break
		}
		if higher.used < n {
			break
		}
		n = higher.used + 1
	}
	const most = 5
	tried := 0
	for i := range r.slots {
		if !r.slots[i].rolling.Holds || tried == most {
			continue
		}
		tried++
		name := r.slots[i].node.Name
		try(Unblock{RemoveNode, name}, &Change{Nodes: []NodeEdit{{Kind: NodeRemove, Which: name}}})
	}
	return out
}

// raise is a higher limit, of the kind that the DaemonSet has: none where it
// sets a surge that comes to 0 here, beside which the API refuses any other.
func raise(st *daemonset.State, n int) []Unblock {
	ru := st.DaemonSet.Spec.UpdateStrategy.RollingUpdate
	switch {
	case st.Budget.MaxSurge > 0:
		return []Unblock{{RaiseMaxSurge, strconv.Itoa(n)}}
	case ru != nil && ru.MaxSurge != nil && amount(*ru.MaxSurge) != 0:
		return nil
	}
	return []Unblock{{RaiseMaxUnavailable, strconv.Itoa(n)}}
}

// after returns the State after a further Change, and what is assumed of it.
func after(s *snapshot.Snapshot, before *assumed, c *Change) (*daemonset.State, *assumed, error) {
	changed, _, err := c.Apply(s)
	if err != nil {
		return nil, nil, err
	}
	st, err := state(changed)
	if err != nil {
		return nil, nil, err
	}
	a := assume(changed, st)
	a.inherit(before.heritage, st)
	return st, &a, nil
}

// before returns the number of the newest revision besides the current one
// that an available pod is of; 0 if there is none.
func before(st *daemonset.State) int64 {
	number := map[string]int64{}
	for _, r := range st.History.Revisions {
		if !r.Matches && r.Claim == daemonset.Owned {
			number[r.Name] = r.Number
		}
	}
	var newest int64
	for i := range st.Nodes {
		for j := range st.Nodes[i].Pods {
			if p := &st.Nodes[i].Pods[j]; p.Available.OK && !p.Terminating {
				newest = max(newest, number[p.Revision])
			}
		}
	}
	return newest
}
