package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/test/oracle/controller/wire"
)

// Compare returns one line for each difference between the real controller and the model. Every run
// must do what the model calls certain, and take the rest from the model's choices with exactly
// their counts.
func Compare(st *daemonset.State, a wire.Answer) []string {
	d := &differences{seen: map[string]bool{}}
	d.placement(st, a.Placement)
	step := st.Sync()
	for i := range a.Runs {
		d.run(st, step, &a.Runs[i])
	}
	return d.lines
}

type differences struct {
	lines []string
	seen  map[string]bool
}

func (d *differences) add(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if !d.seen[line] {
		d.seen[line] = true
		d.lines = append(d.lines, line)
	}
}

// same compares two lists regardless of order.
func (d *differences) same(what string, model, real []string) {
	model, real = slices.Sorted(slices.Values(model)), slices.Sorted(slices.Values(real))
	if !slices.Equal(model, real) {
		d.add("%s: model %v, real %v", what, model, real)
	}
}

func (d *differences) placement(st *daemonset.State, real map[string]wire.Placement) {
	for i := range st.Nodes {
		n := &st.Nodes[i]
		got, exists := real[n.Name]
		if exists != n.Exists {
			d.add("node %s: exists: model %t, real %t", n.Name, n.Exists, exists)
			continue
		}
		model := wire.Placement{ShouldRun: n.ShouldRun.OK, MayStay: n.MayStay.OK}
		if model != got {
			d.add("node %s: model %+v (%s), real %+v", n.Name, model, n.ShouldRun.Reason, got)
		}
	}
}

func (d *differences) run(st *daemonset.State, step daemonset.Step, r *wire.Run) {
	if len(r.Unforeseen) > 0 {
		d.add("the oracle does not know: %v", r.Unforeseen)
	}
	if (step.Error != nil) != (r.Error != "") {
		d.add("error: model %+v, real %q", step.Error, r.Error)
	}
	d.status(st, step, r.Status)

	creates := make([]string, 0, len(r.Creates))
	for _, c := range r.Creates {
		creates = append(creates, c.Node)
	}
	d.batch("creates", step.Creates, creates, func(i daemonset.Item) string { return i.Node })
	d.batch("deletes", step.Deletes, r.Deletes, func(i daemonset.Item) string { return i.Pod })

	d.same("adopted pods", step.Pods.Adopt, r.AdoptedPods)
	d.same("released pods", step.Pods.Release, r.ReleasedPods)
	d.history(st, step, r)
}

// ignored reports whether the controller ignores the DaemonSet.
func ignored(step daemonset.Step) bool {
	return step.Reason == daemonset.StepBeingDeleted || step.Reason == daemonset.StepSelectsAll
}

func (d *differences) status(st *daemonset.State, step daemonset.Step, real *wire.Status) {
	counts, known := st.Counts()
	switch {
	case !known:
		d.add("status: the model does not know it")
	case step.WritesStatus != (real != nil):
		d.add("status: model writes it: %t, real wrote it: %t", step.WritesStatus, real != nil)
	case real != nil:
		model := wire.Status{
			Desired: counts.Desired, Current: counts.Current, Misscheduled: counts.Misscheduled, Ready: counts.Ready,
			Updated: counts.Updated, Available: counts.Available, Unavailable: counts.Unavailable,
			ObservedGeneration: st.DaemonSet.Generation,
		}
		if model != *real {
			d.add("status: model %+v, real %+v", model, *real)
		}
	}
}

// batch checks the creates or deletes of one run: all certain ones, and the right number from each
// choice.
func (d *differences) batch(what string, model daemonset.Batch, real []string, name func(daemonset.Item) string) {
	left := map[string]int{}
	for _, r := range real {
		left[r]++
	}
	take := func(i daemonset.Item) bool {
		if left[name(i)] == 0 {
			return false
		}
		left[name(i)]--
		return true
	}
	for _, i := range model.Certain {
		if !take(i) {
			d.add("%s: the model is certain of %+v, real %v", what, i, brief(real))
		}
	}
	for _, c := range model.Choices {
		if c.Count <= 0 || c.Count >= len(c.From) {
			d.add("%s: any %d of %d is no choice", what, c.Count, len(c.From))
		}
		taken, perNode := 0, map[string]int{}
		for _, i := range c.From {
			if take(i) {
				taken++
				perNode[i.Node]++
			}
		}
		if taken != c.Count {
			d.add("%s: model any %d of %s %v, real %d: %v", what, c.Count, c.Reason, brief(names(c.From, name)), taken, brief(real))
		}
		for node, n := range perNode {
			if c.PerNode > 0 && n > c.PerNode {
				d.add("%s: model at most %d of node %s, real %d", what, c.PerNode, node, n)
			}
		}
	}
	for _, n := range slices.Sorted(maps.Keys(left)) {
		if left[n] > 0 {
			d.add("%s: real %s, of which the model says nothing", what, n)
		}
	}
}

// Deferred compares what a step leaves to later syncs with a run of a controller without a burst
// limit.
func Deferred(step daemonset.Step, unlimited *wire.Run) []string {
	d := &differences{seen: map[string]bool{}}
	check := func(what string, b daemonset.Batch, real int) {
		if got := b.Len() + b.Deferred; got != real {
			d.add("%s: model %d now and %d deferred, real without a burst %d", what, b.Len(), b.Deferred, real)
		}
	}
	check("creates", step.Creates, len(unlimited.Creates))
	check("deletes", step.Deletes, len(unlimited.Deletes))
	return d.lines
}

// history compares the changes of revisions.
func (d *differences) history(st *daemonset.State, step daemonset.Step, r *wire.Run) {
	h := st.History
	if ignored(step) {
		d.same("revisions adopted, though "+string(step.Reason), nil, r.AdoptedRevs)
		d.same("revisions removed, though "+string(step.Reason), nil, r.Removed)
		return
	}
	d.same("adopted revisions", step.Revisions.Adopt, r.AdoptedRevs)
	d.same("released revisions", step.Revisions.Release, r.ReleasedRevs)

	if h.Cut != (len(r.NewRevisions) > 0) {
		d.add("a new revision: model %t, real %+v", h.Cut, r.NewRevisions)
		return
	}
	var hash string
	if h.Cut {
		hash = r.NewRevisions[0].Hash
		if got := r.NewRevisions[0].Number; got != h.Number {
			d.add("number of the new revision: model %d, real %d", h.Number, got)
		}
	} else {
		keeper := d.keeper(h, r)
		hash = keeper.Hash
		d.relabels(st, hash, r)
		d.number(h, keeper, r)
	}
	for _, c := range r.Creates {
		if c.Hash != hash {
			d.add("hash of a created pod: model %q, real %q", hash, c.Hash)
		}
	}
	d.removals(h, step, r)
}

// keeper returns which of the model's current revisions the real controller kept.
func (d *differences) keeper(h *daemonset.History, r *wire.Run) daemonset.Revision {
	var kept []daemonset.Revision
	for _, rev := range h.Revisions {
		if slices.Contains(h.Current, rev.Name) && !slices.Contains(r.Removed, rev.Name) {
			kept = append(kept, rev)
		}
	}
	if len(kept) != 1 {
		d.add("current revision: model one of %v, real removed %v", h.Current, r.Removed)
		return daemonset.Revision{}
	}
	if len(h.Current) == 1 && kept[0].Hash != h.Hash {
		d.add("hash of the current revision: model %q and %q", h.Hash, kept[0].Hash)
	}
	return kept[0]
}

func (d *differences) relabels(st *daemonset.State, hash string, r *wire.Run) {
	want := st.History.Relabel
	if st.History.Merged && hash != st.History.Hash { // equal numbers: it kept another one than the model shows
		want = nil
		for _, p := range claimed(st) {
			if p.Hash != hash {
				want = append(want, p.Name)
			}
		}
	}
	had := map[string]string{}
	for _, p := range claimed(st) {
		had[p.Name] = p.Hash
	}
	var real []string
	for pod, to := range r.RelabelledTo {
		if to != hash {
			d.add("pod %s: model relabelled to %q, real %q", pod, hash, to)
		}
		if to != had[pod] { // back and forth, in a repeated sync
			real = append(real, pod)
		}
	}
	d.same("relabelled pods", want, real)
}

func claimed(st *daemonset.State) []daemonset.Pod {
	var pods []daemonset.Pod
	for _, n := range st.Nodes {
		pods = append(append(pods, n.Pods...), n.Ignored...)
	}
	pods = append(pods, st.Unmapped...)
	return slices.DeleteFunc(pods, func(p daemonset.Pod) bool { return p.Claim == daemonset.Release })
}

// number compares the resulting number of the current revision, and checks that no other number
// changed.
func (d *differences) number(h *daemonset.History, keeper daemonset.Revision, r *wire.Run) {
	number := keeper.Number
	for _, set := range r.SetRevisions {
		if set.Name == keeper.Name {
			number = set.Number
		}
		before := slices.IndexFunc(h.Revisions, func(rev daemonset.Revision) bool { return rev.Name == set.Name })
		switch {
		case before < 0:
			d.add("revision %s: updated, though the model does not have it", set.Name)
		case set.Hash != h.Revisions[before].Hash:
			d.add("revision %s: hash: model %q, real %q", set.Name, h.Revisions[before].Hash, set.Hash)
		case set.Name != keeper.Name && set.Number != h.Revisions[before].Number:
			d.add("revision %s: number: model %d, real %d", set.Name, h.Revisions[before].Number, set.Number)
		}
	}
	if number != h.Number {
		d.add("number of the current revision: model %d, real %d", h.Number, number)
	}
}

// removals compares the removal of duplicates and old revisions. It is undefined which revisions of
// equal number are removed.
func (d *differences) removals(h *daemonset.History, step daemonset.Step, r *wire.Run) {
	numbers := map[string]int64{}
	matches := map[string]bool{}
	for _, rev := range h.Revisions {
		numbers[rev.Name], matches[rev.Name] = rev.Number, rev.Matches
	}
	var model, real [2][]string // not matching the template, matching it
	put := func(to *[2][]string, name string) {
		if matches[name] {
			to[1] = append(to[1], fmt.Sprint("number ", numbers[name]))
			return
		}
		to[0] = append(to[0], fmt.Sprint("number ", numbers[name]))
	}
	for _, rev := range step.Revisions.Remove {
		put(&model, rev.Name)
		if (rev.Reason == daemonset.Duplicate) != matches[rev.Name] {
			d.add("revision %s: removed as %s", rev.Name, rev.Reason)
		}
	}
	for _, name := range r.Removed {
		put(&real, name)
	}
	d.same("duplicates removed", model[1], real[1])
	d.same("history clean-up", model[0], real[0])
}

func names(items []daemonset.Item, name func(daemonset.Item) string) []string {
	out := make([]string, 0, len(items))
	for _, i := range items {
		out = append(out, name(i))
	}
	return out
}

func brief(list []string) string {
	const most = 12
	if len(list) <= most {
		return strings.Join(list, " ")
	}
	return strings.Join(list[:most], " ") + fmt.Sprintf(" … (%d)", len(list))
}

// smallest is the maximum size of a choice that is checked member by member.
const smallest = 6

// smallChoices reports whether Loose has anything to check.
func smallChoices(step daemonset.Step) bool {
	return slices.ContainsFunc(slices.Concat(step.Creates.Choices, step.Deletes.Choices), func(c daemonset.Choice) bool { return len(c.From) <= smallest }) ||
		len(step.Revisions.Current) > 1
}

// Loose returns the members of small choices that every run or no run took, although the model
// calls the choice random. It needs at least 60 runs.
func Loose(step daemonset.Step, runs []wire.Run) []string {
	var out []string
	look := func(what, name string, took func(*wire.Run) bool) {
		times := 0
		for r := range runs {
			if took(&runs[r]) {
				times++
			}
		}
		if times == 0 || times == len(runs) {
			out = append(out, fmt.Sprintf("%s %s: the model calls it random, and real took it in %d of %d runs", what, name, times, len(runs)))
		}
	}
	for _, c := range step.Creates.Choices {
		if len(c.From) > smallest {
			continue
		}
		for _, i := range c.From {
			look("create on", i.Node, func(r *wire.Run) bool {
				return slices.ContainsFunc(r.Creates, func(c wire.Create) bool { return c.Node == i.Node })
			})
		}
	}
	for _, c := range step.Deletes.Choices {
		if len(c.From) > smallest {
			continue
		}
		for _, i := range c.From {
			look("delete of", i.Pod, func(r *wire.Run) bool { return slices.Contains(r.Deletes, i.Pod) })
		}
	}
	if len(step.Revisions.Current) > 1 {
		for _, name := range step.Revisions.Current {
			look("keep of revision", name, func(r *wire.Run) bool { return !slices.Contains(r.Removed, name) })
		}
	}
	return out
}
