package history

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// numbers holds the evidence of how revisions got their numbers.
type numbers struct {
	used map[int64]bool // the numbers of all revisions, including those that the next sync releases
	rows []dated        // the highest number first
}

// dated is a revision with the evidence of how it got its number.
type dated struct {
	*Revision
	number   int64
	created  time.Time // zero if unknown
	given    time.Time // when the controller last wrote the number, according to managed fields; zero if unknown
	restored bool      // something other than the controller created it, so its creation time is not the controller's
	adopted  bool      // it is older than the DaemonSet
}

// second is the precision of the API's times.
const second = time.Second

// raisedLater reports whether the controller wrote the number after it created the
// revision.
func (n *dated) raisedLater() bool { return !n.given.IsZero() && n.given.Sub(n.created) > second }

// numbersOf returns the evidence of how revisions got their numbers. A Snapshot
// keeps only the managed fields that own the number, and all updates of one
// manager share an entry.
func (g *given) numbersOf(rows []Revision, released []string) *numbers {
	controllers := controllers(g.s.DaemonSet)
	isController := func(m metav1.ManagedFieldsEntry) bool { return slices.Contains(controllers, m.Manager) }
	out := &numbers{used: map[int64]bool{}}
	for i := range rows[:len(g.st.History.Revisions)] {
		row := dated{Revision: &rows[i], number: rows[i].Revision}
		out.used[row.number] = true
		fields := g.objects[row.Name].ManagedFields
		row.restored = slices.ContainsFunc(fields, func(m metav1.ManagedFieldsEntry) bool { return !isController(m) })
		if i := slices.IndexFunc(fields, func(m metav1.ManagedFieldsEntry) bool {
			return isController(m) &&
				m.Time != nil
		}); i >= 0 && g.s.TellsWrites() {
			row.given = fields[i].Time.UTC()
		}
		row.created = timeOf(row.CreatedAt)
		row.adopted = row.created.Before(g.s.DaemonSet.CreationTimestamp.Time)
		out.rows = append(out.rows, row)
	}
	for _, name := range released {
		if r := g.objects[name]; r != nil {
			out.used[r.Revision] = true
		}
	}
	return out
}

// controllerManager is the field manager that numbers revisions.
const controllerManager = "kube-controller-manager"

// controllers returns the field manager names of the controller: that of
// kube-controller-manager, and that of whoever writes the DaemonSet's status,
// because a distribution with a single binary uses its own name. Since v1.22
// the status is a subresource there; its fields are not in a Snapshot.
func controllers(ds *appsv1.DaemonSet) []string {
	out := []string{controllerManager}
	for _, m := range ds.ManagedFields {
		if m.Subresource == "status" || pathsOf(m.FieldsV1).ways["status"] {
			out = append(out, m.Manager)
		}
	}
	return out
}

// renumbering describes how a rollback renumbered a revision.
type renumbering struct {
	firstWas int64     // the first number; 0 if it is not certain
	evidence string    // what shows it
	after    time.Time // from the order: it happened after this time; zero if unknown
	at       time.Time // from managed fields: when it happened; zero if unknown
}

// renumberings returns, by name, the revisions that a rollback renumbered. Each of
// them left a lower number behind, which is missing. Two observations show a
// renumbering: a revision with a lower number was created later, or the
// controller wrote the number, according to managed fields, after it created
// the revision.
//
// Revisions that another program, such as a backup tool, restored are no evidence. Revisions older than the DaemonSet
// may have been restored, so without managed fields their order is no evidence either. An adoption also updates the
// time in managed fields, so for a revision older than the DaemonSet it counts only if another one was adopted earlier.
func (ns *numbers) renumberings() map[string]renumbering {
	out := map[string]renumbering{}
	for i := range ns.rows {
		n := &ns.rows[i]
		if n.created.IsZero() || n.restored || !ns.missingBelow(n.number) {
			continue
		}
		var t renumbering
		if last := ns.lastBelow(n); !last.IsZero() && (n.given.IsZero() || n.raisedLater()) {
			t.evidence, t.after = "Order", last
		}
		if n.raisedLater() && ns.raisedAtWrite(n) {
			t.evidence, t.at = "ManagedFields", n.given
		}
		if t.evidence != "" {
			t.firstWas = ns.firstNumber(n)
			out[n.Name] = t
		}
	}
	return out
}

// raisedAtWrite reports whether the controller's later write can be the
// renumbering of the revision. It is not if the revision was adopted then, or
// if the time contradicts the order of the numbers.
func (ns *numbers) raisedAtWrite(n *dated) bool {
	adopted := n.adopted
	for _, other := range ns.rows {
		if other.created.IsZero() {
			continue
		}
		given := other.created
		if !other.given.IsZero() {
			given = other.given
		}
		if other.number > n.number && n.given.Sub(given) > second || other.number < n.number &&
			other.created.Sub(n.given) > second {
			return false
		}
		if other.adopted && n.given.Sub(given) > second {
			adopted = false // the others were adopted earlier
		}
	}
	return !adopted
}

// lastBelow returns the latest creation time of the revisions with a lower
// number that were created after n, or the zero time if there is none.
func (ns *numbers) lastBelow(n *dated) (last time.Time) {
	for _, other := range ns.rows {
		counts := !other.restored && !(n.given.IsZero() && other.adopted)
		if counts && other.number < n.number && other.created.After(n.created) && other.created.After(last) {
			last = other.created
		}
	}
	return last
}

// missingBelow reports whether any lower number belongs to no revision.
func (ns *numbers) missingBelow(number int64) bool {
	below := int64(0)
	for n := range ns.used {
		below += int64(b2i(n > 0 && n < number))
	}
	return below < number-1
}

// firstNumber returns the number that a revision was created with, or 0 if that is
// not certain. The number is unused, above those of revisions that were created
// earlier and still have their first number, and below those of revisions that
// were created later. A revision still has its first number if no number below
// it is missing: a rollback raises a number by at least two.
func (ns *numbers) firstNumber(n *dated) int64 {
	above, below := int64(0), n.number
	for _, other := range ns.rows {
		still := !ns.missingBelow(other.number-1) || !other.given.IsZero() && !other.raisedLater()
		switch {
		case other.created.IsZero(), other.restored:
		case other.created.Before(n.created) && still:
			above = max(above, other.number)
		case other.created.After(n.created):
			below = min(below, other.number)
		}
	}
	was := int64(0)
	for n := above + 1; n < below; n++ {
		switch {
		case ns.used[n]:
		case was != 0:
			return 0
		default:
			was = n
		}
	}
	return was
}

// currentSince returns since when the one current revision has been current, or
// nil if that is unknown. Without managed fields it is unknown whenever a lower
// number is missing, even if clean-up explains that.
func (ns *numbers) currentSince(taken map[string]renumbering) *time.Time {
	current := slices.DeleteFunc(slices.Clone(ns.rows), func(n dated) bool { return !n.Current })
	if len(current) != 1 {
		return nil
	}
	n := &current[0]
	t, again := taken[n.Name]
	switch {
	case !t.at.IsZero():
		return &t.at
	case again, (n.given.IsZero() || n.raisedLater()) && ns.missingBelow(n.number):
		return nil
	}
	return n.CreatedAt
}

// missing returns notes about numbers that no revision has, unless they are the
// lowest and history clean-up explains them.
func (ns *numbers) missing(limit int, taken map[string]renumbering) (notes []Note) {
	if len(ns.rows) == 0 {
		return nil
	}
	first, old := map[int64]bool{}, 0
	for _, t := range taken {
		first[t.firstWas] = true
	}
	for _, n := range ns.rows {
		old += b2i(!n.Current)
	}
	highest, lowest := ns.rows[0].number, ns.rows[len(ns.rows)-1].number
	const most = 10_000 // somebody may have made up a huge number
	var moved, unknown []int64
	for n := max(1, highest-most); n < highest; n++ {
		switch {
		case ns.used[n]:
		case first[n]:
			moved = append(moved, n)
		case n > lowest || old < limit: // otherwise clean-up may have deleted it
			unknown = append(unknown, n)
		}
	}
	if len(moved) > 0 {
		notes = append(notes, note(MissingNumbers,
			daemonset.Facts{"numbers": ranges(moved), "why": string(TakenUpAgain)}))
	}
	if len(unknown) > 0 {
		notes = append(notes, note(MissingNumbers, daemonset.Facts{"numbers": ranges(unknown), "why": "Unknown"}))
	}
	return notes
}

// ranges formats ascending numbers as "3", "5-7".
func ranges(numbers []int64) []string {
	out := []string{}
	for i, j := 0, 0; i < len(numbers); i = j {
		for j = i + 1; j < len(numbers) && numbers[j] == numbers[j-1]+1; j++ {
		}
		text := strconv.FormatInt(numbers[i], 10)
		if j > i+1 {
			text = fmt.Sprintf("%d-%d", numbers[i], numbers[j-1])
		}
		out = append(out, text)
	}
	return out
}
