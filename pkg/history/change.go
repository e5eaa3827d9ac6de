package history

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// changes compares each row with the revision before it: the row below, or one that
// had a number between the two until a rollback gave it another one.
func (b *builder) changes() {
	for i := range b.kept() {
		row := &b.h.Revisions[i]
		if back := b.h.RolledBack(row); back != nil && back.Was > 0 {
			b.h.Renumbered = append(b.h.Renumbered, Renumbered{Revision: back.Was, Name: row.Name, Now: row.Revision})
		}
	}
	slices.SortFunc(b.h.Renumbered, func(a, b Renumbered) int { return cmp.Compare(b.Revision, a.Revision) })
	rows := b.h.Rows()
	rows = slices.DeleteFunc(rows, func(r Row) bool { return r.Is == RowPending })
	renumbered := b.h.Renumbered
	for i, row := range rows {
		var from int64
		kind, change := ChangeFirst, []Change{}
		if i+1 < len(rows) && row.Name != "" && rows[i+1].Name != "" {
			below := rows[i+1]
			from = below.Number
			kind, change = b.between(b.contents[below.Name], b.contents[row.Name], row.Current && row.Is == RowRevision)
		}
		switch {
		case row.Is == RowRenumbered:
			renumbered[0].From, renumbered[0].Kind, renumbered[0].Change = from, kind, change
			renumbered = renumbered[1:]
		case row.Is == RowRevision:
			row.Revision.From, row.Revision.Kind, row.Revision.Change = from, kind, change
		case b.st.History.Inferred != "": // else what its template was is not known
			b.inferChange(i)
		}
	}
}

// between compares two templates, of which nil could not be read. Who owns what
// changed is told where the second is the live one.
func (b *builder) between(from, to template.Content, live bool) (ChangeKind, []Change) {
	if from == nil || to == nil {
		return ChangeUnknown, []Change{}
	}
	found := template.Diff(from, to, template.At)
	isDefault := template.Defaulted(found, from, to, template.At)
	if !b.show {
		found = template.Hide[corev1.PodTemplateSpec](found, template.At)
	}
	out := []Change{}
	for i, d := range found {
		c := Change{Difference: d, Kind: FieldSet, Managers: []string{}}
		switch {
		case d.Path.Equal(template.RestartedAt) && isRestart(d):
			c.Kind = FieldRestart
		case isDefault[i]:
			c.Kind = FieldDefault
		}
		if live && !d.New.Absent() {
			c.Managers = b.ownersOf(d)
		}
		out = append(out, c)
	}
	return kindOf(out), out
}

// isRestart reports whether the restart annotation came, or got later. kubectl
// writes the time of the place where it runs.
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

// kindOf sums up what changed. Defaults that come with a restart are part of it:
// the API server fills them in with the next write, whatever that is.
func kindOf(changes []Change) ChangeKind {
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

// inferChange compares the images of pods with those of the row below. What
// else changed is not known.
func (b *builder) inferChange(i int) {
	rows := b.h.Revisions
	if i+1 == len(rows) {
		rows[i].Kind = ChangeFirst
		return
	}
	kind, changes := b.between(b.ofPods[rows[i+1].Hash], b.ofPods[rows[i].Hash], false)
	if kind == ChangeNone {
		kind = ChangeUnknown
	}
	rows[i].Kind, rows[i].Change = kind, changes
}

// ofPod returns a template that has the images of a pod and nothing else.
func ofPod(p *corev1.Pod) template.Content {
	spec := map[string]any{}
	for key, containers := range map[string][]corev1.Container{"containers": p.Spec.Containers, "initContainers": p.Spec.InitContainers} {
		var list []any
		for _, c := range containers {
			list = append(list, map[string]any{"name": c.Name, "image": c.Image})
		}
		if list != nil {
			spec[key] = list
		}
	}
	return template.Content{"spec": spec}
}

// uncut compares the live template with the newest revision where no revision
// holds it.
func (b *builder) uncut() {
	rows := b.h.Revisions
	if !b.h.Next.Cut || len(rows) == 0 || rows[0].Name == "" {
		return
	}
	d := b.sides(&rows[0], nil)
	b.h.Uncut = &d
}

// FromRevision returns the difference from a revision to the live template; nil
// where either cannot be read.
func FromRevision(s *snapshot.Snapshot, st *daemonset.State, number int64) *Diff {
	live, err := template.Of(&s.DaemonSet.Spec.Template, false)
	if err != nil {
		return nil
	}
	b := &builder{s: s, st: st, live: live.Plain(), contents: map[string]template.Content{}, keys: map[string]string{}, h: &History{Header: header(s, st)}}
	b.revisions()
	if b.diff(Between{From: &Which{Number: number}, To: &Which{Live: true}}) != nil {
		return nil
	}
	return b.h.Diff
}

// diff answers what was asked.
func (b *builder) diff(asked Between) error {
	to, err := b.asked(*asked.To)
	if err != nil {
		return err
	}
	var from *Revision
	if asked.From != nil {
		from, err = b.asked(*asked.From)
	} else {
		from, err = b.before(to)
	}
	if err != nil {
		return err
	}
	d := b.sides(from, to)
	b.h.Diff = &d
	return nil
}

// asked returns a row whose template can be read, nil for the live one.
func (b *builder) asked(w Which) (*Revision, error) {
	row, err := Find(b.h, w)
	if row == nil {
		return nil, err
	}
	return b.readable(row)
}

func (b *builder) readable(row *Revision) (*Revision, error) {
	if message := b.broken[row.Name]; message != "" {
		return nil, unreadable(row, message)
	}
	return row, nil
}

// before returns the row below. Below the live template is the newest revision,
// unless that holds it: then the one below that.
func (b *builder) before(row *Revision) (*Revision, error) {
	rows := b.kept()
	i := slices.IndexFunc(rows, func(r Revision) bool { return row != nil && r.Name == row.Name })
	if row == nil && len(rows) > 0 && rows[0].Current {
		i = 0
	}
	switch {
	case len(rows) == 0:
		return nil, none(b.h, "before the live template")
	case i+1 >= len(rows):
		return nil, &Error{fmt.Sprintf("revision %d is the oldest that is kept: there is none before it", rows[i].Revision), "kubectl ds history lists them"}
	}
	return b.readable(&rows[i+1])
}

// sides compares two rows, nil for the live template.
func (b *builder) sides(from, to *Revision) Diff {
	d := Diff{From: sideOf(from), To: sideOf(to)}
	d.Kind, d.Change = b.between(b.contentOf(from), b.contentOf(to), to == nil || to.Current)
	return d
}

// contentOf returns the content of a row. The live one is that of the revision
// that holds it, if there is one: it also has what this program's API types do not
// know.
func (b *builder) contentOf(row *Revision) template.Content {
	if row == nil {
		row = holder(b.h)
	}
	if row == nil {
		return b.live
	}
	return b.contents[row.Name]
}

func sideOf(row *Revision) Side {
	if row == nil {
		return Side{Live: true}
	}
	return Side{Revision: row.Revision, Name: row.Name}
}

// owners are the paths that field managers own in the live template.
type owners map[string]*paths

// paths are those of one manager. What it owns as a whole, such as a list
// without a merge key, are the leaves; ways are the leaves, and what they are in.
type paths struct{ ways, leaves map[string]bool }

func newPaths() *paths { return &paths{ways: map[string]bool{}, leaves: map[string]bool{}} }

// ownersOf returns who owns a field, or something in it; else who owns all that it
// is in. A whole that is nobody's in part cannot be told from one that is empty.
func (b *builder) ownersOf(d template.Difference) []string {
	if b.owners == nil {
		b.owners = ownersIn(b.s.DaemonSet)
	}
	own, whole := []string{}, []string{}
	for _, name := range slices.Sorted(maps.Keys(b.owners)) {
		switch p := b.owners[name]; {
		case p.ways[d.Path.String()]:
			own = append(own, name)
		case p.within(d.Path):
			whole = append(whole, name)
		}
	}
	if len(own) > 0 {
		return own
	}
	return whole
}

// within reports whether a path is of something in a leaf.
func (p *paths) within(path template.Path) bool {
	for i := 1; i < len(path); i++ {
		if p.leaves[path[:i].String()] {
			return true
		}
	}
	return false
}

func ownersIn(ds *appsv1.DaemonSet) owners {
	out := owners{}
	for _, m := range ds.ManagedFields {
		if m.Subresource != "" {
			continue
		}
		if out[m.Manager] == nil {
			out[m.Manager] = newPaths()
		}
		out[m.Manager].addAll(m.FieldsV1)
	}
	return out
}

// addAll adds the fields of one entry, of which there may be none; none of one
// that cannot be read.
func (p *paths) addAll(owned *metav1.FieldsV1) {
	var fields map[string]any
	if json.Unmarshal(owned.GetRawBytes(), &fields) == nil {
		p.add(nil, fields)
	}
}

// add goes through managed fields: f: is a field, k: a member of a list by its
// keys, of which any may be the one in a Difference's path.
func (p *paths) add(path template.Path, fields map[string]any) {
	p.ways[path.String()] = true
	if len(fields) == 0 {
		p.leaves[path.String()] = true
	}
	for key, v := range fields {
		inner, _ := v.(map[string]any)
		kind, rest, _ := strings.Cut(key, ":")
		switch kind {
		case "f":
			p.add(path.With(template.Step{Name: rest}), inner)
		case "k":
			var keys map[string]any
			if json.Unmarshal([]byte(rest), &keys) == nil {
				for k, value := range keys {
					p.add(path.With(template.Step{Kind: template.Member, Name: k, Value: fmt.Sprint(value)}), inner)
				}
			}
		}
	}
}

// managers returns who wrote the DaemonSet, the last first.
func managers(ds *appsv1.DaemonSet) []Manager {
	out := []Manager{}
	for _, m := range ds.ManagedFields {
		if m.Subresource != "" {
			continue
		}
		one := Manager{Manager: m.Manager, Operation: string(m.Operation)}
		if m.Time != nil {
			t := m.Time.UTC()
			one.Time = &t
		}
		p := newPaths()
		p.addAll(m.FieldsV1)
		one.Template = p.ways[template.At.String()]
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b Manager) int {
		return cmp.Or(timeOf(b.Time).Compare(timeOf(a.Time)), strings.Compare(a.Manager, b.Manager), strings.Compare(a.Operation, b.Operation))
	})
	return out
}

// timeOf returns a time, of none the zero one, which is before all others.
func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}
