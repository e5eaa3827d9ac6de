package plan

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// usual are the limits that people choose.
var usual = []string{"1", "5%", "10%", "25%", "33%"}

// limits says what the usual limits and that of the DaemonSet itself would mean, the lowest first. With its own it ends
// as now says.
func (w *way) limits(now *Outcome) []Limit {
	out := []Limit{}
	texts := usual
	if own := w.st.Budget.Spec; !slices.Contains(usual, own) {
		texts = append(slices.Clip(usual), own)
	}
	for _, text := range texts {
		v := intstr.Parse(text)
		n, err := intstr.GetScaledValueFromIntOrPercent(&v, w.st.Budget.Of, true)
		if err != nil || n == 0 || alsoCalled(&out, n, text) {
			continue
		}
		o, own := now, n == w.st.Limit()
		if !own {
			with := w.withLimit(n)
			other := with.outcome(with.simulate())
			with.spread(&other)
			o = &other
		}
		out = append(out, Limit{Limit: text, Nodes: n, AtATime: o.AtATime, Steps: o.Steps, Current: own, Planned: own, Duration: o.Duration, Code: o.Code})
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

// out simulates this, and reports whether it is a way out of a stall: it completes,
// which is not to remove all pods, or nothing is left to do, and no node is without an available pod that has
// one now, or that the controller's random choice would pick. It names those that it
// leaves without one.
func (w *way) out(now map[string]bool) (r *simulation, left []string, ok bool) {
	r = w.simulate()
	o := w.outcome(r)
	left = append([]string{}, Nodes(o.Holders)...)
	taken := slices.ContainsFunc(left, func(node string) bool { return now[node] })
	return r, left, !taken && (o.Code == Completes || o.Code == NothingToDo && len(left) == 0 && w.st.Desired > 0) && o.FurtherHolders == 0
}

// ending adds to a way out how it ends.
func (w *way) ending(u Unblock, r *simulation) Unblock {
	counts, loses, o := r.tally.Counts(), r.loses(), w.outcome(r)
	w.spread(&o)
	u.Updated, u.Desired, u.Loses, u.Duration = counts.Updated, counts.Desired, loses, o.Duration
	return u
}

// served are the nodes that have an available pod, and a kubelet that answers
// for it.
func (w *way) served() map[string]bool {
	out := map[string]bool{}
	for i := range w.st.Nodes {
		if n := &w.st.Nodes[i]; hasAvailable(n) && !w.a.nodes[i].hangs {
			out[n.Name] = true
		}
	}
	return out
}

// unblock returns single changes, each of which is a way out of a stall: see
// way.out. Where the revision itself fails, more room would only take down more
// nodes.
func (w *way) unblock(stalled *simulation) []Unblock {
	out, now, st := []Unblock{}, w.served(), w.st
	try := func(u Unblock, then *daemonset.State) {
		after := w.after(then)
		if r, left, ok := after.out(now); ok {
			u.Left = left
			if u = after.ending(u, r); u.Code == RepairNodes {
				u.Duration = nil // nobody knows when they are
			}
			out = append(out, u)
		}
	}
	change := func(u Unblock, c whatif.Change) {
		if r, err := whatif.Make(st, &c); err == nil {
			try(u, r.State)
		}
	}
	back := func() {
		if to := before(st); to != 0 {
			change(Unblock{Code: RollBack, Value: strconv.FormatInt(to, 10), Nodes: []string{}}, whatif.Change{ToRevision: &to})
		}
	}
	switch {
	case w.a.fails != nil, (w.a.image != "" || w.a.unmet != nil) && !st.History.Cut:
		back()
		return out
	case w.roomless(stalled):
		return out
	}
	if want, on := w.otherSystem(); want != "" {
		change(Unblock{Code: ExcludeNodes, Value: corev1.LabelOSStable + "=" + want, Nodes: on}, whatif.Change{NodeSelector: map[string]string{corev1.LabelOSStable: want}})
	}
	if key, value, one := st.Placement.NamespaceLabel(); one && len(w.counted()) > 0 { // the template then says it, too
		change(Unblock{Code: ExcludeNodes, Value: key + "=" + value, Nodes: w.counted()}, whatif.Change{NodeSelector: map[string]string{key: value}})
	}
	if w.a.confined != nil {
		if label := w.a.causes.Elsewhere(w.a.confined); label != nil {
			change(Unblock{Code: ExcludeNodes, Value: label.Key + "=" + label.Value, Nodes: w.failsOn()}, whatif.Change{NodeSelector: map[string]string{label.Key: label.Value}})
		}
		back()
	} else if w.a.unfit > 0 && !st.History.Cut {
		back()
	}
	if st.Budget.MaxSurge > 0 {
		zero, one := intstr.FromInt32(0), intstr.FromInt32(1)
		change(Unblock{Code: NoSurge, Value: one.String(), Nodes: []string{}}, whatif.Change{MaxSurge: &zero, MaxUnavailable: &one})
	}
	if w.a.ports { // more of them would wait
		return out
	}
	if raise := w.raise(stalled); raise != nil {
		u := Unblock{Code: RaiseMaxUnavailable, Value: strconv.Itoa(raise.Number), Nodes: []string{}, Smallest: strconv.Itoa(raise.Smallest.Number), Left: raise.Left}
		if st.Budget.MaxSurge > 0 {
			u.Code = RaiseMaxSurge
		}
		raised := w.withLimit(raise.Number)
		out = append(out, raised.ending(u, raised.simulate()))
	}
	const most = 5
	tried := 0
	if stalled.tally.Used() > st.Limit() && stalled.tally.Old() > 1 { // one node less leaves no room, and an old pod
		tried = most
	}
	for i := range st.Nodes {
		if !stalled.tally.Holds(int32(i)) || tried == most || st.Nodes[i].StillRolled || w.a.failsOn(&st.Nodes[i]) || w.a.nodes[i].tooSmall() {
			continue
		}
		tried++
		name := st.Nodes[i].Name
		change(Unblock{Code: RemoveNode, Value: name, Nodes: []string{name}}, whatif.Change{Nodes: []whatif.NodeEdit{{Kind: whatif.NodeRemove, Which: name}}})
	}
	if down := stalled.downNodes(); len(down) > 0 {
		if then, err := whatif.Repaired(st, down); err == nil {
			try(Unblock{Code: RepairNodes, Value: strconv.Itoa(len(down)), Nodes: down}, then)
		}
	}
	return out
}

// otherSystem returns the nodes whose kubelet rejects the pods of the template, and for
// which operating system that is; none where it is not so.
func (w *way) otherSystem() (want string, nodes []string) {
	for i := range w.st.Nodes {
		if c := w.a.nodes[i].never; c != nil && c.Code == cause.PodOSNotSupported {
			want, nodes = c.Facts.Text("want"), append(nodes, w.st.Nodes[i].Name)
		}
	}
	return want, nodes
}

// counted returns the nodes that only their namespace excludes and that the rolling update
// counts all the same.
func (w *way) counted() (nodes []string) {
	for i := range w.st.Nodes {
		if n := &w.st.Nodes[i]; n.StillRolled {
			nodes = append(nodes, n.Name)
		}
	}
	return nodes
}

// roomless reports whether other than a limit is wrong where a rollout stalls.
func (w *way) roomless(stalled *simulation) bool {
	return w.a.fails != nil || w.a.image != "" || w.a.unmet != nil || w.a.silent != "" || w.a.rejects != nil || stalled.refused || stalled.end.failed != nil || w.st.Budget.Kind == daemonset.BudgetNone || w.st.Budget.Invalid != ""
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

// raise returns a higher limit, of the kind that the DaemonSet has, that is a
// way out of a stall: room for what is used up for good, and for as many pods at
// a time as now. It returns nil if none is, where other than a limit is
// wrong, and where the DaemonSet sets a surge that comes to 0 here, beside which
// the API refuses a maxUnavailable.
func (w *way) raise(stalled *simulation) *cause.Raise {
	b, ru := &w.st.Budget, w.st.DaemonSet.Spec.UpdateStrategy.RollingUpdate
	if w.roomless(stalled) || w.a.ports || b.MaxSurge == 0 && ru != nil && ru.MaxSurge != nil && whatif.Amount(*ru.MaxSurge) != 0 {
		return nil
	}
	now := w.served()
	for n, most := stalled.tally.Used()+1, len(w.st.Nodes)+1; n <= most; {
		r, left, ok := w.withLimit(n).out(now)
		if ok {
			out := &cause.Raise{Amount: cause.AmountOf(n, b.Of), Smallest: cause.AmountOf(n, b.Of), Left: left}
			if as := stalled.tally.Used() + w.st.Limit(); as > n {
				if _, left, ok := w.withLimit(as).out(now); ok {
					out.Amount, out.Left = cause.AmountOf(as, b.Of), left
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
