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

// numbers is how the revisions came by theirs.
type numbers struct {
	used map[int64]bool // which ones revisions have, those that the next sync lets go among them
	rows []dated        // the highest number first
}

// dated is a revision with what tells how it came by its number.
type dated struct {
	*Revision
	number   int64
	created  time.Time // zero if unknown
	given    time.Time // when the controller last wrote the number, by managed fields; zero if they do not tell
	restored bool      // somebody else than the controller made it: it has no creation time of the controller's
	adopted  bool      // it is older than the DaemonSet
}

// second is how exact the times of the API are.
const second = time.Second

// later reports whether the controller wrote the number later than it made the
// revision.
func (n *dated) later() bool { return !n.given.IsZero() && n.given.Sub(n.created) > second }

// numbersOf returns how revisions came by their numbers. Of the managed fields of a
// revision only those that own the number are in a Snapshot, and one manager has one
// entry for what it updates.
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

// controllerManager is who gives revisions their numbers, in managed fields.
const controllerManager = "kube-controller-manager"

// controllers returns the names that the controller has in managed fields: that of
// the program, and of whoever writes the DaemonSet's status, too, as a distribution
// with all in one program has its own. That is a subresource there since v1.22, and
// its fields are not in a Snapshot.
func controllers(ds *appsv1.DaemonSet) []string {
	out := []string{controllerManager}
	for _, m := range ds.ManagedFields {
		if m.Subresource == "status" || pathsOf(m.FieldsV1).ways["status"] {
			out = append(out, m.Manager)
		}
	}
	return out
}

// taking is that a rollback gave a revision its number.
type taking struct {
	was   int64     // the first number; 0 if that is not certain
	told  string    // how that is known
	after time.Time // by the order: it was after this; zero if that does not tell
	at    time.Time // by managed fields: when; zero if they do not tell
}

// taken finds the revisions that are older than their number, by their name. Such a
// revision has left a number below, which is missing.
//
// The order tells: one with a lower number that was made later. So do the
// managed fields: the controller wrote the revision's number later than it made
// the revision. The time of that entry also moves when the controller adopts a
// revision: one that is older than the DaemonSet was adopted, and its time counts
// only if another was adopted before. A revision that somebody else wrote, such
// as a backup tool, tells nothing.
// Where no managed fields tell who wrote them, the order of revisions that are
// older than the DaemonSet tells nothing either: they may have been restored.
func (ns *numbers) taken() map[string]taking {
	out := map[string]taking{}
	for i := range ns.rows {
		n := &ns.rows[i]
		if n.created.IsZero() || n.restored || !ns.missingBelow(n.number) {
			continue
		}
		var t taking
		if last := ns.lastBelow(n); !last.IsZero() && (n.given.IsZero() || n.later()) {
			t.told, t.after = "Order", last
		}
		if n.later() && ns.raisedThen(n) {
			t.told, t.at = "ManagedFields", n.given
		}
		if t.told != "" {
			t.was = ns.first(n)
			out[n.Name] = t
		}
	}
	return out
}

// raisedThen reports whether the later time of the controller's entry can be that of
// a new number: not if the revision was adopted then, nor if it contradicts the
// order in which numbers are given.
func (ns *numbers) raisedThen(n *dated) bool {
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
			adopted = false // the others were adopted before that
		}
	}
	return !adopted
}

// lastBelow returns when the last of the revisions with a lower number was
// made, if that is later than this one; else the zero time.
func (ns *numbers) lastBelow(n *dated) (last time.Time) {
	for _, other := range ns.rows {
		counts := !other.restored && !(n.given.IsZero() && other.adopted)
		if counts && other.number < n.number && other.created.After(n.created) && other.created.After(last) {
			last = other.created
		}
	}
	return last
}

// missingBelow reports whether a number below is no revision's.
func (ns *numbers) missingBelow(number int64) bool {
	below := int64(0)
	for n := range ns.used {
		below += int64(b2i(n > 0 && n < number))
	}
	return below < number-1
}

// first returns the number that a revision was made with, 0 if that is not
// certain: it is above those that were made before and have theirs still,
// below those that were made after, and nobody's now.
//
// What was raised to a number came from one that is lower by two or more, so a
// revision has its first number still if none below that is missing.
func (ns *numbers) first(n *dated) int64 {
	above, below := int64(0), n.number
	for _, other := range ns.rows {
		still := !ns.missingBelow(other.number-1) || !other.given.IsZero() && !other.later()
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

// currentSince returns when the one current revision became that; nil if
// nothing tells. Without managed fields that say so, it may be older than its
// number whenever one below is missing: even if clean-up explains that.
func (ns *numbers) currentSince(taken map[string]taking) *time.Time {
	current := slices.DeleteFunc(slices.Clone(ns.rows), func(n dated) bool { return !n.Current })
	if len(current) != 1 {
		return nil
	}
	n := &current[0]
	t, again := taken[n.Name]
	switch {
	case !t.at.IsZero():
		return &t.at
	case again, (n.given.IsZero() || n.later()) && ns.missingBelow(n.number):
		return nil
	}
	return n.CreatedAt
}

// missing returns notes about the numbers that no revision has, but for the oldest
// where history clean-up explains that.
func (ns *numbers) missing(limit int, taken map[string]taking) (notes []Note) {
	if len(ns.rows) == 0 {
		return nil
	}
	first, old := map[int64]bool{}, 0
	for _, t := range taken {
		first[t.was] = true
	}
	for _, n := range ns.rows {
		old += b2i(!n.Current)
	}
	highest, lowest := ns.rows[0].number, ns.rows[len(ns.rows)-1].number
	const most = 10_000 // numbers that somebody made up
	var moved, unknown []int64
	for n := max(1, highest-most); n < highest; n++ {
		switch {
		case ns.used[n]:
		case first[n]:
			moved = append(moved, n)
		case n > lowest || old < limit: // else clean-up may have taken it
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

// ranges writes ascending numbers as "3", "5-7".
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
