package plan

import (
	"cmp"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
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

// limits says what the usual limits and that of the DaemonSet itself would mean,
// the lowest first.
func limits(st *daemonset.State, a *assumed, m *measured) []Limit {
	out := []Limit{}
	texts := usual
	if own := st.Budget.Spec; !slices.Contains(usual, own) {
		texts = append(slices.Clip(usual), own)
	}
	for _, text := range texts {
		v := intstr.Parse(text)
		n, err := intstr.GetScaledValueFromIntOrPercent(&v, st.Desired, true)
		if err != nil || n == 0 {
			continue
		}
		if alsoCalled(&out, n, text) {
			continue
		}
		with := withLimit(st, n)
		o := outcome(with, simulate(with, a.nodes, m.typical(a.refusal != nil)), a)
		d, _ := o.spread(with, a, m)
		l := Limit{Limit: text, Nodes: n, AtATime: o.AtATime, Steps: o.Steps, Current: n == st.Limit(), Planned: n == st.Limit(), Code: o.Code}
		if o.ends() {
			l.Duration = d
		}
		out = append(out, l)
	}
	slices.SortStableFunc(out, func(a, b Limit) int { return a.Nodes - b.Nodes })
	return out
}

// alsoCalled adds another name of a limit that comes to so many nodes, and
// reports whether there is one.
func alsoCalled(limits *[]Limit, nodes int, text string) bool {
	i := slices.IndexFunc(*limits, func(l Limit) bool { return l.Nodes == nodes })
	if i < 0 {
		return false
	}
	same := (*limits)[i]
	same.Limit = text
	*limits = append(*limits, same)
	return true
}

// way is a State in which a rollout may complete, and what is assumed of it.
type way struct {
	st *daemonset.State
	a  *assumed
	m  *measured
}

// simulate steps the rollout to its end.
func (w *way) simulate() *simulation {
	return simulate(w.st, w.a.nodes, w.m.typical(w.a.refusal != nil))
}

// withLimit returns the same with another limit.
func (w *way) withLimit(n int) *way { return &way{withLimit(w.st, n), w.a, w.m} }

// out reports whether a simulation of this is a way out of a stall: it
// completes, which is not to remove all pods, and no node is without an
// available pod that has one now, or that the controller's random choice would
// pick. It names those that it leaves without one.
func (w *way) out(r *simulation, now map[string]bool) (left []string, ok bool) {
	o := outcome(w.st, r, w.a)
	left = []string{}
	for _, h := range o.Holders {
		left = append(left, h.Node)
		if now[h.Node] {
			return nil, false
		}
	}
	return left, o.Code == Completes && o.FurtherHolders == 0
}

// ending adds to a way out how it ends.
func (w *way) ending(u Unblock, r *simulation) Unblock {
	counts := r.tally.Counts()
	u.Updated, u.Desired, u.Loses = counts.Updated, counts.Desired, r.loses()
	o := outcome(w.st, r, w.a)
	u.Duration, _ = o.spread(w.st, w.a, w.m)
	return u
}

// served are the nodes that have an available pod, and a kubelet that answers
// for it.
func (a *assumed) served(st *daemonset.State) map[string]bool {
	out := map[string]bool{}
	for i := range st.Nodes {
		if n := &st.Nodes[i]; hasAvailable(n) && !a.nodes[i].hangs {
			out[n.Name] = true
		}
	}
	return out
}

// unblock returns single changes, each of which is a way out of a stall: see
// way.out. Where the revision itself fails, more room would only take down more
// nodes.
func unblock(st *daemonset.State, a *assumed, m *measured, r *simulation) []Unblock {
	out, now := []Unblock{}, a.served(st)
	try := func(u Unblock, then *daemonset.State, err error) {
		if err != nil {
			return
		}
		w, ok := &way{then, a.after(st, then), m}, false
		r := w.simulate()
		if u.Left, ok = w.out(r, now); ok {
			u = w.ending(u, r)
			if u.Code == RepairNodes {
				u.Duration = nil // nobody knows when they are
			}
			out = append(out, u)
		}
	}
	change := func(u Unblock, c whatif.Change) {
		if r, err := whatif.Make(st, &c); err == nil {
			try(u, r.State, nil)
		}
	}
	switch {
	case a.fails != nil, a.image != "" && !st.History.Cut:
		if to := before(st); to != 0 {
			change(Unblock{Code: RollBack, Value: strconv.FormatInt(to, 10), Nodes: []string{}}, whatif.Change{ToRevision: &to})
		}
		return out
	case a.image != "" || a.refusal != nil || r.end.failed != nil || st.Budget.Kind == daemonset.BudgetNone || st.Budget.Invalid != "":
		return out
	}
	if st.Budget.MaxSurge > 0 {
		zero, one := intstr.FromInt32(0), intstr.FromInt32(1)
		change(Unblock{Code: NoSurge, Value: one.String(), Nodes: []string{}}, whatif.Change{MaxSurge: &zero, MaxUnavailable: &one})
	}
	if a.ports { // more of them would wait
		return out
	}
	if raise := raise(st, a, m, r); raise != nil {
		w := (&way{st, a, m}).withLimit(raise.Number)
		out = append(out, w.ending(Unblock{Code: limitOf(st), Value: strconv.Itoa(raise.Number), Nodes: []string{}, Smallest: strconv.Itoa(raise.Smallest.Number), Left: raise.Left}, w.simulate()))
	}
	const most = 5
	tried := 0
	for i := range r.slots {
		if !r.tally.Holds(int32(i)) || tried == most {
			continue
		}
		tried++
		name := r.st.Nodes[i].Name
		change(Unblock{Code: RemoveNode, Value: name, Nodes: []string{name}}, whatif.Change{Nodes: []whatif.NodeEdit{{Kind: whatif.NodeRemove, Which: name}}})
	}
	if down := r.downNodes(); len(down) > 0 {
		then, err := whatif.Repaired(st, down)
		try(Unblock{Code: RepairNodes, Value: strconv.Itoa(len(down)), Nodes: down}, then, err)
	}
	return out
}

// downNodes returns the nodes that are down, and should run the pod or have one.
func (r *simulation) downNodes() (names []string) {
	for i := range r.slots {
		if n := &r.st.Nodes[i]; r.nodes[i].stays() && cause.Down(n, r.st.At) != nil && (n.ShouldRun.OK || len(n.Pods) > 0) {
			names = append(names, n.Name)
		}
	}
	return names
}

// limitOf is the limit that the budget of a DaemonSet has.
func limitOf(st *daemonset.State) UnblockCode {
	if st.Budget.MaxSurge > 0 {
		return RaiseMaxSurge
	}
	return RaiseMaxUnavailable
}

// raise returns a higher limit, of the kind that the DaemonSet has, that is a
// way out of a stall: room for what is used up for good, and for as many pods at
// a time as now. It returns nil if none is, where other than a limit is
// wrong, and where the DaemonSet sets a surge that comes to 0 here, beside which
// the API refuses a maxUnavailable.
func raise(st *daemonset.State, a *assumed, m *measured, stalled *simulation) *cause.Raise {
	ru := st.DaemonSet.Spec.UpdateStrategy.RollingUpdate
	switch {
	case a.fails != nil, a.image != "", a.refusal != nil, a.ports, stalled.end.failed != nil, st.Budget.Kind == daemonset.BudgetNone, st.Budget.Invalid != "":
		return nil
	case st.Budget.MaxSurge == 0 && ru != nil && ru.MaxSurge != nil && whatif.Amount(*ru.MaxSurge) != 0:
		return nil
	}
	now, today := a.served(st), &way{st, a, m}
	for n, most := stalled.tally.Used()+1, len(st.Nodes)+1; n <= most; {
		w := today.withLimit(n)
		r := w.simulate()
		if left, ok := w.out(r, now); ok {
			out := &cause.Raise{Amount: cause.AmountOf(n, st.Budget.Of), Smallest: cause.AmountOf(n, st.Budget.Of), Left: left}
			if w := today.withLimit(stalled.tally.Used() + st.Limit()); w.st.Limit() > n {
				if left, ok := w.out(w.simulate(), now); ok {
					out.Amount, out.Left = cause.AmountOf(w.st.Limit(), st.Budget.Of), left
				}
			}
			return out
		}
		if r.tally.Used() < n {
			return nil
		}
		n = r.tally.Used() + 1
	}
	return nil
}

// after returns what is assumed of a State that a further change makes of one.
func (a *assumed) after(st, then *daemonset.State) *assumed {
	out := assume(then)
	if sameContainers(st.DaemonSet, then.DaemonSet) { // as MakeChanged has it
		out.inherit(cmp.Or(a.inherited, a), then)
	}
	return &out
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
