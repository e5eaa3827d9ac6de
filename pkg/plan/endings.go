package plan

import (
	"math"
	"slices"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// endings returns how long the pods took to end that a rollout under way has deleted,
// as its own pace tells; none where it does not. Before its
// first pod is created, it is the pace of the last rollout, whose pods are all there.
//
// Without a surge the controller deletes a pod when the limit has room for it, and
// creates the new one when the old one is gone. So the n-th pod that was created is
// from the n-th room: at first there were as many as the limit says, and each pod that
// the controller counted as available made another. Which create belongs to which
// room does not matter on average. What cannot be so, as after a pause, tells nothing,
// and neither do pods that were all created in the very second of their room.
//
// With a surge nobody waits for the end of a pod: see besides.
func endings(st *daemonset.State) (t times, source string) {
	of, source := rolledOut(st), sourceRollout
	if of != st.History.Hash {
		source = sourceLastRollout
	}
	switch {
	case st.Limit() <= 0 || of == "" || isFirst(st, of):
	case st.Budget.Kind == daemonset.BudgetSurge && source == sourceRollout:
		t = besides(st)
	case st.Budget.Kind == daemonset.BudgetUnavailable:
		if seconds := paced(st, of); len(seconds) > 0 {
			t = known(seconds).within(gracePeriod(st) + endSlack)
		}
	}
	return t, source
}

// isFirst reports whether a revision is the first of a DaemonSet, whose pods replaced none.
func isFirst(st *daemonset.State, hash string) bool {
	return slices.ContainsFunc(st.History.Revisions, func(r daemonset.Revision) bool {
		return r.Hash == hash &&
			r.Number == 1
	})
}

// rolledOut returns the hash of the revision that the last pods were created for: the
// current one, or before it has any, the one of all pods; empty where there is none.
func rolledOut(st *daemonset.State) (hash string) {
	for i := range st.Nodes {
		for j := range st.Nodes[i].Pods {
			switch p := &st.Nodes[i].Pods[j]; {
			case p.Updated:
				return st.History.Hash
			case hash == "":
				hash = p.Hash
			case hash != p.Hash:
				hash = "?"
			}
		}
	}
	return hash
}

// paced returns what the pace of the rollout to a revision tells.
func paced(st *daemonset.State, of string) []float64 {
	created, ready := births(st, of)
	rooms := counted(created, ready, float64(max(0, st.DaemonSet.Spec.MinReadySeconds)))
	if began, ok := beganAt(st, of, created); ok {
		rooms = append(slices.Repeat([]float64{began}, st.Limit()), rooms...)
	} else {
		created = created[min(st.Limit(), len(created)):]
	}
	longest, off := gracePeriod(st)+endSlack, 0
	var out []float64
	for i := range min(len(created), len(rooms)) {
		if took := created[i] - rooms[i]; took < -1 || took > longest {
			off++
		} else {
			out = append(out, max(0, took))
		}
	}
	slices.Sort(out)
	if off > len(out) || len(out) > 0 && out[len(out)-1] == 0 {
		return nil
	}
	return out
}

// besides returns how long old pods take to end beside the new ones, as the controller
// deletes an old pod when the new one on its node is available. Where it is gone, it took
// no longer than that is ago; where it is still there, longer. None where no pod tells.
//
// Before that is known, a third ends at once and a third, which does not obey SIGTERM,
// uses its whole grace period; of the others any time is as likely as one twice as long.
func besides(st *daemonset.State) times {
	gone, there := sides(st)
	tells := func(seconds float64) bool { return seconds < gracePeriod(st) }
	if len(there) == 0 && !slices.ContainsFunc(gone, tells) {
		return times{}
	}
	const steps = 40
	to := math.Log(max(1, gracePeriod(st)) + 1)
	at := func(i int) float64 { return to * float64(i) / steps }
	spread := func(i int) float64 {
		if i == steps {
			return leastSpread
		}
		return usualSpread
	}
	below := func(seconds float64, i int) float64 {
		return 0.5 * math.Erfc((at(i)-math.Log(max(0.5, seconds)))/spread(i)/math.Sqrt2)
	}
	var likely [steps + 1]float64
	sum := 0.
	for i := range likely {
		likely[i] = 1
		if i == 0 || i == steps {
			likely[i] = steps
		}
		for _, s := range gone {
			likely[i] *= below(s, i)
		}
		for _, s := range there {
			likely[i] *= 1 - below(s, i)
		}
		sum += likely[i]
	}
	if sum < 1e-9 { // some end soon and others do not: that is no one time
		return times{}
	}
	middle := 0
	for seen := likely[0] / sum; seen < 0.5; seen += likely[middle] / sum {
		middle++
	}
	off := 0.
	for i := range likely {
		off += likely[i] / sum * (at(i) - at(middle)) * (at(i) - at(middle))
	}
	return logNormal(at(middle), spread(middle), math.Sqrt(off)).within(gracePeriod(st) + 1)
}

// sides returns at most how many seconds each old pod took to end that is gone beside a
// new one, and for how many those have been terminating that are still there.
func sides(st *daemonset.State) (gone, there []float64) {
	for i := range st.Nodes {
		alone, since := true, math.Inf(1)
		for j := range st.Nodes[i].Pods {
			p := &st.Nodes[i].Pods[j]
			switch {
			case p.Updated && p.Available.OK && !p.Terminating:
				if ready := readySince(p.Object); ready != nil {
					since = st.At.Sub(ready.Time).Seconds() - float64(max(0, st.DaemonSet.Spec.MinReadySeconds))
				}
			case p.Terminating:
				alone, there = false, append(there, deletedFor(p, st.At))
			default:
				alone = false
			}
		}
		if alone && !math.IsInf(since, 1) {
			gone = append(gone, since)
		}
	}
	return gone, there
}

// deletedFor returns for how many seconds a pod has been terminating.
func deletedFor(p *daemonset.Pod, at time.Time) float64 {
	asked := p.Object.DeletionTimestamp.Time
	if g := p.Object.DeletionGracePeriodSeconds; g != nil {
		asked = asked.Add(-time.Duration(*g) * time.Second)
	}
	return at.Sub(asked).Seconds()
}

// endSlack is how many seconds after its grace period a pod may still be there: the
// kubelet has to end its sandbox, and times are cut to seconds.
const endSlack = 10

// births returns when the pods of a revision were created and became ready, in seconds
// from the Snapshot, each in order. Of a rollout that is over they are none unless all of
// its pods are there and ready, also those that are terminating: one that is missing
// would have the others belong to other rooms.
func births(st *daemonset.State, of string) (created, ready []float64) {
	over := of != st.History.Hash
	for i := range st.Nodes {
		for j := range st.Nodes[i].Pods {
			p := &st.Nodes[i].Pods[j]
			since := readySince(p.Object)
			switch {
			case over && (p.Hash != of || since == nil):
				return nil, nil
			case !over && (!p.Updated || p.Terminating):
				continue
			}
			created = append(created, p.Object.CreationTimestamp.Sub(st.At).Seconds())
			if since != nil {
				ready = append(ready, since.Sub(st.At).Seconds())
			}
		}
	}
	slices.Sort(created)
	slices.Sort(ready)
	return created, ready
}

// counted returns when the controller counted pods as available, in order: when it
// looked next after that. It looks when a pod becomes ready or is created, and comes
// back minReadySeconds after a look at one that was ready and not yet available; of two
// such times its queue keeps the earlier one.
func counted(created, ready []float64, wait float64) []float64 {
	if wait == 0 {
		return ready
	}
	news := slices.Sorted(slices.Values(slices.Concat(created, ready)))
	var out []float64
	look, seen := 0., false // seen: a look is to come
	for n, i := 0, 0; len(out) < len(ready); {
		at := look
		switch {
		case i < len(news) && (!seen || news[i] <= look):
			at = news[i]
			i++
		case !seen:
			return out
		default:
			seen = false
		}
		for n < len(ready) && ready[n] <= at {
			n++
		}
		for len(out) < n && ready[len(out)]+wait <= at {
			out = append(out, at)
		}
		if len(out) < n && (!seen || at+wait < look) {
			look, seen = at+wait, true
		}
	}
	return out
}

// beganAt returns when the rollout to a revision began, in seconds from the Snapshot,
// where the revision was made for it: soon after it the first pod was created.
func beganAt(st *daemonset.State, of string, created []float64) (at float64, ok bool) {
	i := slices.IndexFunc(st.History.Revisions, func(r daemonset.Revision) bool { return r.Hash == of })
	if i < 0 || len(created) == 0 {
		return 0, false
	}
	began := st.History.Revisions[i].Created
	at = began.Sub(st.At).Seconds()
	return at, !began.IsZero() && at <= created[0] && created[0]-at <= gracePeriod(st)+endSlack
}
