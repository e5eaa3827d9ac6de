package history

import (
	"slices"
	"strconv"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// Inferred reports whether the ControllerRevisions could not be read.
func (h *History) Inferred() bool { return h.Lacks(snapshot.Revisions) }

// Current returns the current revisions; there may be none, or several.
func (h *History) Current() (current []*Revision) {
	for i := range h.Revisions {
		if h.Revisions[i].Current {
			current = append(current, &h.Revisions[i])
		}
	}
	return current
}

// Latest returns the current revision, or nil unless there is exactly one.
func (h *History) Latest() *Revision {
	if current := h.Current(); len(current) == 1 {
		return current[0]
	}
	return nil
}

// Named returns the revision with a name, or nil if there is none.
func (h *History) Named(name string) *Revision {
	if i := slices.IndexFunc(h.Revisions, func(r Revision) bool { return r.Name == name && name != "" }); i >= 0 {
		return &h.Revisions[i]
	}
	return nil
}

// Kept returns the number of ControllerRevisions.
func (h *History) Kept() (n int) {
	for i := range h.Revisions {
		n += b2i(h.Revisions[i].Name != "")
	}
	return n
}

// Note returns the first note with a code, or nil if there is none.
func (h *History) Note(code NoteCode) *Note { return h.noteAbout(code, nil) }

// noteAbout returns the first note with a code about a revision, or about any
// if r is nil. It returns nil if there is none.
func (h *History) noteAbout(code NoteCode, r *Revision) *Note {
	about := func(n Note) bool { return r == nil || r.Name != "" && slices.Contains(n.Revisions, r.Name) }
	if i := slices.IndexFunc(h.Notes, func(n Note) bool { return n.Code == code && about(n) }); i >= 0 {
		return &h.Notes[i]
	}
	return nil
}

// Below returns the revision in the row below, or nil if there is none.
func (h *History) Below(r *Revision) *Revision {
	for i := 1; i < len(h.Revisions); i++ {
		if below := &h.Revisions[i]; r.Name != "" && h.Revisions[i-1].Name == r.Name && below.Name != "" {
			return below
		}
	}
	return nil
}

// SameAs returns the earlier revision with the content of the row's revision,
// or nil if there is none.
func (h *History) SameAs(r *Row) *Revision {
	if r.Is == RowRenumbered {
		return nil
	}
	if n := h.noteAbout(SameContent, r.Revision); n != nil {
		return h.Named(n.Facts.Text("name"))
	}
	if below := h.Below(r.Revision); r.Kind == ChangeNone && below != nil && below.Revision == r.From {
		return below
	}
	return nil
}

// byNumber reports whether its number identifies a revision: the revision can
// be decoded, and no other has the number.
func (h *History) byNumber(r *Revision) bool {
	return r != nil && r.Revision > 0 && !slices.Contains(r.Notes, Unreadable) && !h.Shared(r)
}

// Shared reports whether another revision has the same number.
func (h *History) Shared(r *Revision) bool {
	return slices.ContainsFunc(h.Revisions, func(o Revision) bool {
		return o.Name != r.Name &&
			o.Revision == r.Revision
	})
}

// Compares returns the two revisions to compare first, the current one and the
// one before it. It returns nil if they do not exist, or if the next sync
// changes the revisions.
func (h *History) Compares() (from, to *Revision) {
	current := h.Latest()
	if h.Pending() || current == nil || !h.Rollout.Acts() {
		return nil, nil
	}
	if below := h.Below(current); h.byNumber(current) && h.byNumber(below) {
		return below, current
	}
	return nil, nil
}

// RollsBackTo returns the revision that a rollback would go to: of the
// revisions that are not current, the one that most pods run, or else the one
// before the current one. It returns nil if there is none, if its number does
// not identify it, or if the next sync changes the revisions.
func (h *History) RollsBackTo() *Revision {
	current := h.Latest()
	if h.Pending() || current == nil || !h.Rollout.Acts() {
		return nil
	}
	to := h.Below(current)
	for i := range h.Revisions {
		r := &h.Revisions[i]
		if !r.Current && r.Name != "" && r.Pods != nil && *r.Pods > 0 && (to == nil || *r.Pods > *to.Pods) {
			to = r
		}
	}
	return h.RollsBackToOneOf(to)
}

// RollsBackToOneOf returns the first of the revisions that kubectl can roll
// back to, or nil if there is none. Elements may be nil.
func (h *History) RollsBackToOneOf(revisions ...*Revision) *Revision {
	if i := slices.IndexFunc(revisions, h.CanRollBack); i >= 0 {
		return revisions[i]
	}
	return nil
}

// CanRollBack reports whether kubectl can roll back to a revision: it is not
// current, the DaemonSet owns it, and its number identifies it.
func (h *History) CanRollBack(r *Revision) bool {
	return h.byNumber(r) && !r.Current && r.Claim == daemonset.Owned && h.Rollout.Acts()
}

// Pending reports whether the next sync creates, renumbers or merges revisions.
func (h *History) Pending() bool {
	return !h.Inferred() && (h.Next.Cut || h.Next.RaisedFrom > 0 || len(h.Next.Relabel) > 0)
}

// String returns the notation for the Side in a Which: its number, or live.
func (s Side) String() string {
	if s.Live {
		return "live"
	}
	return strconv.FormatInt(s.Revision, 10)
}

// Newest returns the row of the current revision, or of the one that the next
// sync creates. It returns nil if there is none.
func (h *History) Newest() *Row {
	rows := h.Rows()
	if i := slices.IndexFunc(rows, func(r Row) bool {
		return r.Is == RowPending || r.Current &&
			r.Is != RowRenumbered
	}); i >= 0 {
		return &rows[i]
	}
	return nil
}

// UpdatedElsewhere returns the number of nodes that are not on a current
// revision and, of these, how many have a pod that counts as updated anyway.
func (h *History) UpdatedElsewhere() (updated, nodes int) {
	for _, r := range h.Revisions {
		if !r.Current && r.Updated != nil {
			updated, nodes = updated+*r.Updated, nodes+*r.Nodes
		}
	}
	return updated, nodes
}

// Writers returns who made the newest change: the managers of its fields, or
// else whoever wrote the template when the current revision began. The list is
// empty if that is unknown.
func (h *History) Writers() (writers []Manager) {
	var changes []FieldChange
	switch current := h.Latest(); {
	case h.Uncut != nil:
		changes = h.Uncut.Change
	case current != nil:
		changes = current.Change
	}
	if writers = h.writersOf(changes); len(writers) > 0 || h.CurrentSince == nil || h.Uncut != nil {
		return writers
	}
	for _, m := range h.Managers {
		if m.Template && m.Time != nil && m.Time.Sub(*h.CurrentSince).Abs() <= second {
			writers = append(writers, m)
		}
	}
	return writers
}

// writersOf returns the managers of the fields that somebody set, each once,
// with its last write.
func (h *History) writersOf(changes []FieldChange) (writers []Manager) {
	for _, m := range h.Managers {
		said := slices.ContainsFunc(writers, func(w Manager) bool { return w.Manager == m.Manager })
		if !said && m.Template &&
			slices.ContainsFunc(changes, func(c FieldChange) bool {
				return c.Kind != FieldDefault &&
					slices.Contains(c.Managers, m.Manager)
			}) {
			writers = append(writers, m)
		}
	}
	return writers
}

// OnlyMetadata reports whether all fields that somebody set are labels and
// annotations of the pods: the pods are replaced, but run the same as before.
func OnlyMetadata(changes []FieldChange) bool {
	_, only := template.OnlyMetadata(Differences(changes, FieldSet))
	return only
}

// Differences returns the fields of changes of the given kinds, or of all
// changes if no kind is given.
func Differences(changes []FieldChange, kinds ...FieldKind) (fields []template.Difference) {
	for _, c := range changes {
		if len(kinds) == 0 || slices.Contains(kinds, c.Kind) {
			fields = append(fields, c.Difference)
		}
	}
	return fields
}

// Row is a row of the table of revisions. Its Revision is never nil; that of a
// pending row is empty.
type Row struct {
	*Revision
	Is     RowKind
	Number int64 // the number of the row's revision; 0 for a hash
	From   int64 // the number that it is compared with; 0 if there is none
	Kind   ChangeKind
	Change []FieldChange
	Last   *Row // of RowsAlike: the last of the rows that it combines; otherwise nil
}

// RowKind says what a Row contains.
type RowKind int

const (
	RowRevision   RowKind = iota // a ControllerRevision, by its number
	RowRenumbered                // a ControllerRevision, by a number that it had before
	RowPending                   // a revision that the next sync creates
	RowHash                      // pods whose hash no revision has
	RowsAlike                    // consecutive revisions with the same change, from this one to Last
	RowsFolded                   // several omitted rows; Number says how many
)

// Empty reports whether a row can be omitted first: it is not current, and no
// pods are known to run its revision.
func (r *Row) Empty() bool {
	return r.Is == RowRenumbered || r.Is != RowPending && !r.Current && (r.Pods == nil || *r.Pods == 0)
}

// Stands returns how many rows a row combines: 1, unless it is RowsAlike or
// RowsFolded.
func (r *Row) Stands() int64 {
	switch r.Is {
	case RowsAlike:
		return r.Number - r.Last.Number + 1
	case RowsFolded:
		return r.Number
	}
	return 1
}

// FoldAlike combines neighboring rows into one if their revisions have
// consecutive numbers, are Empty, and alike returns true for them.
func FoldAlike(rows []Row, alike func(a, b *Row) bool) (out []Row) {
	for i := range rows {
		r, n := rows[i], len(out)-1
		if n < 0 || !follows(&out[n], &r) || !alike(&out[n], &r) {
			out = append(out, r)
			continue
		}
		out[n].Is, out[n].Last = RowsAlike, &r
	}
	return out
}

// follows reports whether two neighboring rows without pods have consecutive
// numbers.
func follows(a, b *Row) bool {
	above := a.Number
	if a.Is == RowsAlike {
		above = a.Last.Number
	}
	revisions := (a.Is == RowRevision || a.Is == RowsAlike) && b.Is == RowRevision
	return revisions && a.Empty() && b.Empty() && above == b.Number+1
}

// Fold keeps the first most rows and all others that are not Empty. One row
// replaces each group of omitted rows. Fold omits nothing if there are at most
// most+1 rows.
func Fold(rows []Row, most int) (out []Row) {
	for i, r := range rows {
		last := len(out) - 1
		switch {
		case i < most || len(rows) <= most+1 || !r.Empty():
			out = append(out, r)
		case last >= 0 && out[last].Is == RowsFolded:
			out[last].Number += r.Stands()
		default:
			out = append(out, Row{Revision: &Revision{}, Is: RowsFolded, Number: r.Stands()})
		}
	}
	return out
}

// Partial reports whether the change of a row may include changes of other
// revisions, because a number between the two is missing.
func (r *Row) Partial() bool { return r.From > 0 && r.From < r.Number-1 }

// Told says what a screen can say about the change of a Row.
type Told int

const (
	ToldFields       Told = iota // the fields that differ
	ToldLive                     // the live template, which is not compared with anything
	ToldFirst                    // it is the first revision
	ToldOldest                   // it is the oldest revision that is kept
	ToldSame                     // it has the content of the previous revision
	ToldUnreadable               // it holds no template
	ToldImages                   // only the images of its pods are known
	ToldBelow                    // the previous revision could not be decoded
	ToldNoRevision               // no revision has the hash of its pods
	ToldWithoutAHash             // its pods have no hash
	ToldNothing                  // nothing is known
)

// Told returns what a screen can say about the change of a row.
func (h *History) Told(r *Row) Told {
	hash, strays, images := r.Is == RowHash, r.Is == RowHash && !h.Inferred(), len(r.Images) > 0
	first, unknown := r.Kind == ChangeFirst, r.Kind == ChangeUnknown
	return firstOf([]rule[Told]{
		{strays && r.Hash == "", ToldWithoutAHash},
		{strays, ToldNoRevision},
		{r.Is == RowPending && len(r.Change) == 0, ToldLive},
		{hash && len(r.Change) == 0 && images, ToldImages},
		{first && r.Number == 1, ToldFirst},
		{first, ToldOldest},
		{r.Kind == ChangeNone, ToldSame},
		{slices.Contains(r.Notes, Unreadable), ToldUnreadable},
		{unknown && images, ToldImages},
		{unknown && r.From > 0, ToldBelow},
		{unknown, ToldNothing},
		{true, ToldFields},
	})
}

// rule is an answer with its condition.
type rule[T any] struct {
	holds  bool
	answer T
}

// firstOf returns the answer of the first rule that holds. One of them must
// hold.
func firstOf[T any](rules []rule[T]) T {
	return rules[slices.IndexFunc(rules, func(r rule[T]) bool { return r.holds })].answer
}

// Rows returns the rows of the table: revisions with the highest number first,
// including the one that the next sync creates and their former numbers, and
// then hashes without a revision.
func (h *History) Rows() (rows []Row) {
	if u := h.Uncut; h.Next.Cut && !h.Inferred() {
		rows = append(rows, Row{Revision: &Revision{}, Is: RowPending, Number: h.Next.Number, Kind: ChangeUnknown})
		if u != nil {
			rows[0].From, rows[0].Kind, rows[0].Change = u.From.Revision, u.Kind, u.Change
		}
	}
	renumbered := h.Renumbered
	for i := range h.Revisions {
		r := &h.Revisions[i]
		for len(renumbered) > 0 && (r.Name == "" || renumbered[0].Revision > r.Revision) {
			rows, renumbered = append(rows, h.row(&renumbered[0])), renumbered[1:]
		}
		is := RowRevision
		if r.Name == "" {
			is = RowHash
		}
		rows = append(rows, Row{r, is, r.Revision, r.From, r.Kind, r.Change, nil})
	}
	for i := range renumbered {
		rows = append(rows, h.row(&renumbered[i]))
	}
	return rows
}

func (h *History) row(was *Renumbered) Row {
	return Row{h.Named(was.Name), RowRenumbered, was.Revision, was.From, was.Kind, was.Change, nil}
}

// RowOf returns the row of a revision.
func (h *History) RowOf(r *Revision) Row {
	return Row{r, RowRevision, r.Revision, r.From, r.Kind, r.Change, nil}
}

// Began is when a revision got the number of a row, or when its pods were
// created.
type Began struct {
	How   BeganHow
	At    *time.Time // nil if unknown
	To    *time.Time // for pods: when the last one was created
	After bool       // it happened after At; the exact time is unknown
	Was   int64      // for a restored revision: its first number; 0 if that is not certain
}

// BeganHow says how a revision got its number.
type BeganHow int

const (
	BeganUnknown  BeganHow = iota // unknown
	BeganCreated                  // the controller created it with that number
	BeganRestored                 // a rollback gave it that number
	BeganPods                     // pods without a revision were created
	BeganPending                  // the next sync creates it
)

// Began returns when the revision of a row got its number.
func (h *History) Began(r *Row) Began {
	switch n := h.noteAbout(TakenUpAgain, r.Revision); {
	case r.Is == RowPending:
		return Began{How: BeganPending}
	case r.Is == RowHash && r.OldestPodAt != nil:
		return Began{How: BeganPods, At: r.OldestPodAt, To: r.NewestPodAt}
	case n != nil && r.Is == RowRevision:
		b := Began{How: BeganRestored, At: r.TakenUpAt, Was: int64(n.Facts.Int("was"))}
		if after, err := time.Parse(time.RFC3339, n.Facts.Text("after")); err == nil && b.At == nil {
			b.At, b.After = &after, true
		}
		return b
	case r.CreatedAt != nil:
		return Began{How: BeganCreated, At: r.CreatedAt}
	}
	return Began{}
}
