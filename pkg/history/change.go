package history

import (
	"cmp"
	"slices"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/hide"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// compared sets in each row the difference from the revision before it: that of
// the row below, or of a revision that had a number between the two until a
// rollback renumbered it. It also returns these former numbers.
func (g *given) compared(rows []Revision, ofPods map[string]template.Content, taken map[string]renumbering) ([]Revision,
	[]Renumbered) {
	rows, renumbered := slices.Clone(rows), []Renumbered{}
	for i := range rows {
		row := &rows[i]
		t := taken[row.Name]
		if !t.at.IsZero() {
			row.TakenUpAt = &t.at
		}
		if t.firstWas > 0 {
			renumbered = append(renumbered, Renumbered{Revision: t.firstWas, Name: row.Name, Now: row.Revision})
		}
	}
	slices.SortFunc(renumbered, func(a, b Renumbered) int { return cmp.Compare(b.Revision, a.Revision) })
	table, left := (&History{Revisions: rows, Renumbered: renumbered}).Rows(), renumbered
	for i, row := range table {
		var from int64
		kind, change := ChangeFirst, []FieldChange{}
		if i+1 < len(table) && row.Name != "" && table[i+1].Name != "" {
			from = table[i+1].Number
			kind, change = g.compareTemplates(g.stored[table[i+1].Name].Content, g.stored[row.Name].Content,
				row.Current && row.Is == RowRevision)
		}
		switch {
		case row.Is == RowRenumbered:
			left[0].From, left[0].Kind, left[0].Change = from, kind, change
			left = left[1:]
		case row.Is == RowRevision:
			row.Revision.From, row.Revision.Kind, row.Revision.Change = from, kind, change
		case g.st.History.Inferred == "": // its template is unknown
		case i+1 == len(rows):
			rows[i].Kind = ChangeFirst
		default: // only their images are known
			kind, change = g.compareTemplates(ofPods[rows[i+1].Hash], ofPods[rows[i].Hash], false)
			if kind == ChangeNone {
				kind = ChangeUnknown
			}
			rows[i].Kind, rows[i].Change = kind, change
		}
	}
	return rows, renumbered
}

// compareTemplates compares two templates; nil is one that could not be read. If live is
// true, to is the live template, and the owners of the changed fields are set.
func (g *given) compareTemplates(from, to template.Content, live bool) (ChangeKind, []FieldChange) {
	if from == nil || to == nil {
		return ChangeUnknown, []FieldChange{}
	}
	found := template.Diff(from, to)
	isDefault := template.Defaulted(found, from, to)
	if !g.show {
		found = hide.Differences(found)
	}
	out := []FieldChange{}
	for i, d := range found {
		c := FieldChange{Difference: d, Kind: FieldSet, Managers: []string{}}
		switch {
		case d.Path.Equal(template.RestartedAt) && isRestart(d):
			c.Kind = FieldRestart
		case isDefault[i]:
			c.Kind = FieldDefault
		}
		if live && !d.New.Absent() {
			c.Managers = g.owners.ownersOf(d)
		}
		out = append(out, c)
	}
	return kindOf(out), out
}

// isRestart reports whether the restart annotation was added or has a later
// time. kubectl writes the local time, so offsets can differ.
func isRestart(d template.Difference) bool {
	to, isTime := restartTime(d.New)
	from, wasTime := restartTime(d.Old)
	return isTime && (!wasTime || from.Before(to))
}

func restartTime(v template.Value) (time.Time, bool) {
	text, _ := v.Text()
	t, err := time.Parse(time.RFC3339, text)
	return t, err == nil
}

// kindOf returns the kind of a change. Defaults that appear together with a
// restart are part of it, because the API server adds them in the next write of
// any kind.
func kindOf(changes []FieldChange) ChangeKind {
	has := map[FieldKind]bool{}
	for _, c := range changes {
		has[c.Kind] = true
	}
	switch {
	case has[FieldSet]:
		return ChangeTemplate
	case has[FieldRestart]:
		return ChangeRestart
	case has[FieldDefault]:
		return ChangeDefaults
	}
	return ChangeNone
}

// uncutDiff returns the difference from the newest revision to the live template,
// or nil if a revision holds the live template.
func (g *given) uncutDiff(h *History) *Diff {
	if !h.Next.Cut || len(h.Revisions) == 0 || h.Revisions[0].Name == "" {
		return nil
	}
	return g.compareRows(h, &h.Revisions[0], nil)
}

// diff returns the difference between the two templates that were requested.
func (g *given) diff(h *History, asked Between) (*Diff, error) {
	to, err := g.asked(h, *asked.To)
	if err != nil {
		return nil, err
	}
	var from *Revision
	if asked.From != nil {
		from, err = g.asked(h, *asked.From)
	} else {
		from, err = g.before(h, to)
	}
	if err != nil {
		return nil, err
	}
	return g.compareRows(h, from, to), nil
}

// asked returns a row whose template can be decoded, or nil for the live
// template.
func (g *given) asked(h *History, w Which) (*Revision, error) {
	row, err := Find(h, w)
	if row == nil {
		return nil, err
	}
	return g.readable(h, row)
}

func (g *given) readable(h *History, row *Revision) (*Revision, error) {
	if message := g.stored[row.Name].broken; message != "" {
		return nil, unreadable(h, row, message)
	}
	return row, nil
}

// before returns the row below. Below the live template is the newest revision,
// or the one after it if the newest revision holds the live template.
func (g *given) before(h *History, row *Revision) (*Revision, error) {
	rows := h.Revisions[:len(g.st.History.Revisions)]
	i := slices.IndexFunc(rows, func(r Revision) bool { return row != nil && r.Name == row.Name })
	if row == nil && len(rows) > 0 && rows[0].Current {
		i = 0
	}
	switch {
	case len(rows) == 0:
		return nil, noSuchRevision(h, "before the live template")
	case i+1 >= len(rows):
		return nil, oldest(h, &rows[i])
	}
	return g.readable(h, &rows[i+1])
}

// compareRows compares two rows; nil stands for the live template.
func (g *given) compareRows(h *History, from, to *Revision) *Diff {
	d := &Diff{From: sideOf(from), To: sideOf(to)}
	d.Kind, d.Change = g.compareTemplates(g.contentOf(h, from), g.contentOf(h, to), to == nil || to.Current)
	return d
}

// contentOf returns the content of a row. For the live template it prefers the
// revision that holds it, which also has fields that this program's API types
// lack.
func (g *given) contentOf(h *History, row *Revision) template.Content {
	if row == nil {
		row = liveRow(h)
	}
	if row == nil {
		return g.live
	}
	return g.stored[row.Name].Content
}

func sideOf(row *Revision) Side {
	if row == nil {
		return Side{Live: true}
	}
	return Side{Revision: row.Revision, Name: row.Name}
}
