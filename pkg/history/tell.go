package history

import (
	"slices"
	"strconv"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// Inferred reports whether there are no ControllerRevisions to go by.
func (h *History) Inferred() bool { return h.Lacks(snapshot.Revisions) }

// Current returns the current revisions: there may be none, or several.
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

// Named returns the revision of a name, or nil if there is none.
func (h *History) Named(name string) *Revision {
	if i := slices.IndexFunc(h.Revisions, func(r Revision) bool { return r.Name == name && name != "" }); i >= 0 {
		return &h.Revisions[i]
	}
	return nil
}

// Kept returns how many ControllerRevisions there are.
func (h *History) Kept() (n int) {
	for i := range h.Revisions {
		n += b2i(h.Revisions[i].Name != "")
	}
	return n
}

// Note returns the first note of a code, or nil if there is none.
func (h *History) Note(code NoteCode) *Note { return h.noteAbout(code, nil) }

// noteAbout returns the first note of a code about a revision, about any where that is
// nil, or nil if there is none.
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

// SameAs returns the revision whose content the one of a row has again, or nil if
// there is none.
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

// byNumber reports whether a number is enough to ask for a revision: it can be
// read, and no other has its number.
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

// Compares returns the two revisions to look at first, the current one and the one
// before it; nil where there are none, or the next sync decides on the revisions.
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

// RollsBackTo returns the revision that a rollback would go to: of those that are
// not current the one that most pods are on, else the one before the current one.
// It is nil where there is none, where its number does not tell it, and where the
// next sync decides on the revisions.
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

// RollsBackToOneOf returns the first of some revisions that kubectl rolls back to, or
// nil if it does to none. Any may be nil.
func (h *History) RollsBackToOneOf(revisions ...*Revision) *Revision {
	if i := slices.IndexFunc(revisions, h.CanRollBack); i >= 0 {
		return revisions[i]
	}
	return nil
}

// CanRollBack reports whether kubectl rolls back to a revision: it is not current,
// it is the DaemonSet's own, and its number tells it.
func (h *History) CanRollBack(r *Revision) bool {
	return h.byNumber(r) && !r.Current && r.Claim == daemonset.Owned && h.Rollout.Acts()
}

// Pending reports whether the next sync creates, renumbers or merges revisions.
func (h *History) Pending() bool {
	return !h.Inferred() && (h.Next.Cut || h.Next.RaisedFrom > 0 || len(h.Next.Relabel) > 0)
}

// String returns the Side as a Which is asked for: its number, or live.
func (s Side) String() string {
	if s.Live {
		return "live"
	}
	return strconv.FormatInt(s.Revision, 10)
}

// Newest returns the row of the revision that is current, or will be once the next
// sync has created it; nil if there is none.
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

// UpdatedElsewhere counts the nodes that are not on a current revision, and those
// of them whose pod counts as updated all the same.
func (h *History) UpdatedElsewhere() (updated, nodes int) {
	for _, r := range h.Revisions {
		if !r.Current && r.Updated != nil {
			updated, nodes = updated+*r.Updated, nodes+*r.Nodes
		}
	}
	return updated, nodes
}

// Writers returns who wrote what the newest change set: the managers of its fields,
// else whoever wrote the template when the current revision began. There may be none
// that are known.
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

// writersOf returns the managers of what somebody set, each once: the last that it wrote.
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

// OnlyMetadata reports whether all that somebody set are labels and annotations of
// the pods: they are replaced for it, and run what they ran before.
func OnlyMetadata(changes []FieldChange) bool {
	_, only := template.OnlyMetadata(Differences(changes, FieldSet))
	return only
}

// Differences returns the fields of some changes: those of the kinds that are given, or
// all where none is.
func Differences(changes []FieldChange, kinds ...FieldKind) (fields []template.Difference) {
	for _, c := range changes {
		if len(kinds) == 0 || slices.Contains(kinds, c.Kind) {
			fields = append(fields, c.Difference)
		}
	}
	return fields
}

// Row is a row of the table of revisions. Its Revision is never nil: that of a
// pending one is empty.
type Row struct {
	*Revision
	Is     RowKind
	Number int64 // that the row is about; 0 for a hash
	From   int64 // the number that it is compared with; 0 if there is none
	Kind   ChangeKind
	Change []FieldChange
	Last   *Row // of RowsAlike: the last of the rows that it stands for; otherwise nil
}

// RowKind says what a Row is about.
type RowKind int

const (
	RowRevision   RowKind = iota // a ControllerRevision, by its number
	RowRenumbered                // one, by a number that it had before
	RowPending                   // one that the next sync creates
	RowHash                      // pods whose hash no revision has
	RowsAlike                    // neighbors that all changed the same: from this one to Last
	RowsFolded                   // several that were left out: Number says how many
)

// Empty reports whether a row can be left out before others: it is not current, and
// no pods are known to be on it.
func (r *Row) Empty() bool {
	return r.Is == RowRenumbered || r.Is != RowPending && !r.Current && (r.Pods == nil || *r.Pods == 0)
}

// Stands returns how many rows a row stands for: 1, unless it is RowsAlike or RowsFolded.
func (r *Row) Stands() int64 {
	switch r.Is {
	case RowsAlike:
		return r.Number - r.Last.Number + 1
	case RowsFolded:
		return r.Number
	}
	return 1
}

// FoldAlike returns rows: one row stands for revisions that follow one another by number, are
// Empty, and are alike: the caller says which two are.
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

// follows reports whether two rows of revisions without pods may stand in one: no number is between them.
func follows(a, b *Row) bool {
	above := a.Number
	if a.Is == RowsAlike {
		above = a.Last.Number
	}
	revisions := (a.Is == RowRevision || a.Is == RowsAlike) && b.Is == RowRevision
	return revisions && a.Empty() && b.Empty() && above == b.Number+1
}

// Fold returns rows of which the first so many stand, and of the others those that
// are not Empty: a row stands for those left out between them. One more is no reason
// to leave any out.
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

// Partial reports whether the change of a row is not all of its own, as a number
// between the two is nobody's.
func (r *Row) Partial() bool { return r.From > 0 && r.From < r.Number-1 }

// Told says what there is to say of the change of a Row.
type Told int

const (
	ToldFields       Told = iota // the fields that differ
	ToldLive                     // it is the live template, which is compared with nothing
	ToldFirst                    // it is the first revision
	ToldOldest                   // it is the oldest one that is kept
	ToldSame                     // it has the content of the one before
	ToldUnreadable               // it holds no template
	ToldImages                   // what its pods run; what changed is not known
	ToldBelow                    // the one before could not be read
	ToldNoRevision               // no revision has the hash of the pods
	ToldWithoutAHash             // nor have the pods one
	ToldNothing                  // nothing is known
)

// Told returns what there is to say of the change of a row.
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

// rule is an answer where a condition holds.
type rule[T any] struct {
	holds  bool
	answer T
}

// firstOf returns the answer of the first rule that holds, of which there must be one.
func firstOf[T any](rules []rule[T]) T {
	return rules[slices.IndexFunc(rules, func(r rule[T]) bool { return r.holds })].answer
}

// Rows returns the revisions, the highest number first: with the one that the next
// sync creates, and with the numbers that they had before; then the hashes that no
// revision has.
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

// Began is when a revision got the number of a row, or when its pods were created.
type Began struct {
	How   BeganHow
	At    *time.Time // nil if unknown
	To    *time.Time // of pods: when the last one was created
	After bool       // all that is known is that it was after At
	Was   int64      // of a restored one: the number that it had at first; 0 if that is not certain
}

// BeganHow says how a revision got a number.
type BeganHow int

const (
	BeganUnknown  BeganHow = iota // nothing tells
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
