package timing

import (
	"math"
	"slices"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// endings returns how long old pods took to end, by the pace of the rollout under way, or of the last rollout before
// the first pod of this one exists; empty if the pace does not show it.
//
// Without surge, the controller deletes a pod when maxUnavailable has room for it, and creates the new one when the old
// one is gone. At first there are maxUnavailable rooms, and each pod that the controller counts as available makes
// another. The n-th created pod takes the n-th room, which is right on average. Times that are impossible, as after a
// pause, do not count, nor do pods that were all created in the second of their room.
//
// With surge, nothing waits for the end of a pod: see besides.
func endings(st *daemonset.State) (t Times, source string) {
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
			t = known(seconds).within(GracePeriod(st) + endSlack)
		}
	}
	return t, source
}

// isFirst reports whether a revision is the first one of a DaemonSet. Its pods replaced none.
func isFirst(st *daemonset.State, hash string) bool {
	return slices.ContainsFunc(st.History.Revisions, func(r daemonset.Revision) bool {
		return r.Hash == hash &&
			r.Number == 1
	})
}

// rolledOut returns the hash of the current revision if it has pods, otherwise that of the revision that all pods run,
// or "" if there is none.
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

// paced returns how long pods took to end, by the pace of the rollout to a revision.
func paced(st *daemonset.State, of string) []float64 {
	created, ready := births(st, of)
	rooms := counted(created, ready, float64(max(0, st.DaemonSet.Spec.MinReadySeconds)))
	if began, ok := beganAt(st, of, created); ok {
		rooms = append(slices.Repeat([]float64{began}, st.Limit()), rooms...)
	} else {
		created = created[min(st.Limit(), len(created)):]
	}
	longest, off := GracePeriod(st)+endSlack, 0
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

// besides returns how long old pods take to end in a rollout with surge, where the controller deletes an old pod once
// the new one on its node is available. A pod that is gone took at most the time since then; one that is still there
// takes longer. The result is empty if no pod bounds the time.
//
// The prior: a third of the pods end at once, a third ignore SIGTERM and use the whole grace period, and for the others
// any time is as likely as one twice as long.
func besides(st *daemonset.State) Times {
	gone, there := sides(st)
	tells := func(seconds float64) bool { return seconds < GracePeriod(st) }
	if len(there) == 0 && !slices.ContainsFunc(gone, tells) {
		return Times{}
	}
	const steps = 40
	to := math.Log(max(1, GracePeriod(st)) + 1)
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
		return Times{}
	}
	middle := 0
	for seen := likely[0] / sum; seen < 0.5; seen += likely[middle] / sum {
		middle++
	}
	off := 0.
	for i := range likely {
		off += likely[i] / sum * (at(i) - at(middle)) * (at(i) - at(middle))
	}
	return logNormal(at(middle), spread(middle), math.Sqrt(off)).within(GracePeriod(st) + 1)
}

// sides returns, in seconds, the longest time that each old pod which is gone can have taken to end, and for how long
// each pod that is still there has been terminating.
func sides(st *daemonset.State) (gone, there []float64) {
	for i := range st.Nodes {
		alone, since := true, math.Inf(1)
		for j := range st.Nodes[i].Pods {
			p := &st.Nodes[i].Pods[j]
			switch {
			case p.Updated && p.Available.OK && !p.Terminating:
				if ready := ReadySince(p.Object); ready != nil {
					since = st.At.Sub(ready.Time).Seconds() - float64(max(0, st.DaemonSet.Spec.MinReadySeconds))
				}
			case p.Terminating:
				alone, there = false, append(there, DeletedFor(p, st.At))
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

// DeletedFor returns for how many seconds a pod has been terminating.
func DeletedFor(p *daemonset.Pod, at time.Time) float64 {
	asked := p.Object.DeletionTimestamp.Time
	if g := p.Object.DeletionGracePeriodSeconds; g != nil {
		asked = asked.Add(-time.Duration(*g) * time.Second)
	}
	return at.Sub(asked).Seconds()
}

// endSlack is how many seconds a pod may exist after its grace period: the kubelet has to remove its sandbox, and the
// API rounds times down to seconds.
const endSlack = 10

// births returns when the pods of a revision were created and became Ready, in seconds relative to the Snapshot, each
// sorted. For a rollout that is over, both are empty unless all of its pods exist and are Ready, because a missing pod
// would shift the others to a wrong room.
func births(st *daemonset.State, of string) (created, ready []float64) {
	over := of != st.History.Hash
	for i := range st.Nodes {
		for j := range st.Nodes[i].Pods {
			p := &st.Nodes[i].Pods[j]
			since := ReadySince(p.Object)
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

// counted returns when the controller counted each pod as available, sorted: at its first sync after that moment. The
// controller syncs when a pod is created or becomes Ready, and again minReadySeconds after it saw a pod that was Ready
// but not available; its queue keeps the earlier of two such times.
func counted(created, ready []float64, wait float64) []float64 {
	if wait == 0 {
		return ready
	}
	news := slices.Sorted(slices.Values(slices.Concat(created, ready)))
	var out []float64
	look, seen := 0., false // seen: another sync follows
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

// beganAt returns when the rollout to a revision began, in seconds relative to the Snapshot. ok is false unless the
// revision was created for this rollout, shortly before the first pod.
func beganAt(st *daemonset.State, of string, created []float64) (at float64, ok bool) {
	i := slices.IndexFunc(st.History.Revisions, func(r daemonset.Revision) bool { return r.Hash == of })
	if i < 0 || len(created) == 0 {
		return 0, false
	}
	began := st.History.Revisions[i].Created
	at = began.Sub(st.At).Seconds()
	return at, !began.IsZero() && at <= created[0] && created[0]-at <= GracePeriod(st)+endSlack
}
