package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/encode"
	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/difftext"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/hide"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// Histories writes a row per DaemonSet, in the order given: where its rollout
// stands, how many pods are on which revision, since when, and what that changed.
func Histories(w io.Writer, all []sheet.Past, asked sheet.Asked, style wording.Style) error {
	return sheet.WriteOne(w, histories(all, asked, style), style)
}

func histories(all []sheet.Past, asked sheet.Asked, style wording.Style) *screen.Screen {
	t := &screen.Table{Flush: true, Columns: sheet.Columns("VERDICT", "DAEMONSET", "REVISION")}
	t.Columns = append(t.Columns,
		screen.Column{Head: "SINCE", Drop: 2}, screen.Column{Head: "PODS ON IT", Right: true, Drop: 1})
	if style.Wide {
		t.Columns = append(t.Columns, screen.Column{Head: "HASH"},
			screen.Column{Head: "KEPT", Right: true}, screen.Column{Head: "LIMIT", Right: true})
	}
	t.Columns = append(t.Columns, screen.Column{Head: "CHANGE", Wrap: true, Least: 24})
	n := map[history.RolloutCode][]*past{}
	for _, h := range all {
		p := judged(h, asked, style)
		p.headline()
		n[h.Rollout.Code] = append(n[h.Rollout.Code], p)
		revision, since, hash, lines := p.newest()
		row := t.Row(p.Screen.Headline.Verdict, p.Subject(), revision, since, p.onNewest())
		row.Cells[0].Tone = p.Screen.Headline.Tone
		if style.Wide {
			row.Cells = append(row.Cells, screen.Cells(hash, fmt.Sprint(h.Kept()), fmt.Sprint(h.Limit))...)
		}
		row.Cells = append(row.Cells, screen.Cell{Lines: append(lines, p.besides()...)})
	}
	s := screen.Screen{Headline: screen.Headline{Counts: true, Subject: wording.Plural(len(all), "DaemonSet")}}
	s.Add(screen.Body, t)
	var words []string
	for _, is := range stages {
		of := n[is.code]
		if len(of) == 0 {
			continue
		}
		words = append(words, wording.PluralVerb(len(of), is.one, is.many))
		for _, p := range of {
			p.lookFirst(&s, len(all) > 1)
		}
	}
	s.Headline.Text = strings.Join(words, ", ")
	return &s
}

// newest is the revision that is current, or will be: its number, since when it is, its hash, and what it changed.
func (p *past) newest() (revision, since, hash string, lines []string) {
	r := p.h.Newest()
	switch {
	case r == nil && p.h.Inferred():
		return "-", "-", "-", []string{"the revisions could not be read"}
	case r == nil:
		return "-", "-", "-", []string{"no revision holds the live template"}
	case r.Is == history.RowPending:
		revision = fmt.Sprint(r.Number)
	case p.h.Inferred():
		revision = "hash " + r.Hash
	default:
		revision = p.number(r.Name)
	}
	return revision, p.since(r), cmp.Or(r.Hash, "-"), p.changes(r, 2)
}

// onNewest is how many pods are on a current revision.
func (p *past) onNewest() string {
	if r := &p.h.Rollout; r.Pods != nil {
		return fmt.Sprintf("%d of %d", *r.Current, *r.Pods)
	}
	return "?"
}

// besides says how many pods on other revisions count as updated, and why the rollout is stuck.
func (p *past) besides() (lines []string) {
	if updated, others := p.h.UpdatedElsewhere(); updated > 0 {
		lines = append(lines, "(on other revisions: "+wording.CountedUpdated(updated, others)+")")
	}
	if p.verdict != nil {
		lines = append(lines, wording.Behind("stuck: ", p.verdict.Why(2)))
	}
	return lines
}

// lookFirst adds to a list what to look at first, unless that is a worse DaemonSet than this one.
func (p *past) lookFirst(s *screen.Screen, others bool) {
	words, command := p.act()
	if len(command) == 0 || s.Has(screen.DoNow) {
		return
	}
	if others {
		words = "begin with " + p.Subject() + ": " + words
	}
	s.Add(screen.DoNow, screen.Text(words+" (read-only):"), command)
}

// Template writes one revision, or the live template where that is nil: what it
// is, the nodes that are on it, what it changed, and the template whole. Literal
// values of environment variables are hidden unless showValues is given.
func Template(
	w io.Writer, h sheet.Past, asked sheet.Asked, r *history.Revision, t template.Content, showValues bool,
	style wording.Style,
) error {
	p := judged(h, asked, style)
	if p.Screen.Headline.Text = p.side(r); r != nil {
		p.Screen.Add(screen.Rollout, onNodes(r))
		row := h.RowOf(r)
		for _, l := range p.changes(&row, 4) {
			p.Add(screen.Change, "%s", l)
		}
		if h.CanRollBack(r) {
			if live := p.Again("history",
				sheet.Flag{Name: "diff", Value: fmt.Sprintf("%d,live", r.Revision)}); len(live) > 0 {
				p.look(screen.DoNow, "see what differs from the live template", live)
			}
			p.rollback(p.free(), r)
		}
	}
	if !showValues {
		t = hide.Replace[corev1.PodTemplateSpec](t, func(string) string { return template.Hidden })
	}
	text, err := encode.YAML(map[string]any(t))
	if err != nil {
		return err
	}
	p.Screen.Add(screen.Body, sheet.PlainLines(linesIn(text)))
	return sheet.WriteOne(w, &p.Screen, style)
}

// onNodes says which nodes are on a revision: those whose oldest pod is.
func onNodes(r *history.Revision) screen.Block {
	switch {
	case r.Nodes == nil:
		return screen.Text("unknown: on which nodes (pods could not be read)")
	case *r.Nodes == 0:
		return screen.Text("on no node")
	}
	before := "on " + wording.Plural(*r.Nodes, "node") + ", " + wording.Count(r.Available) + " available:"
	return screen.Names{Before: before, Names: r.OnNodes}
}

// compared is a screen of the difference of two templates that has its headline so far.
func compared(h sheet.Past, asked sheet.Asked, style wording.Style) *past {
	p, d := judged(h, asked, style), h.Diff
	from, to := p.side(h.Named(d.From.Name)), p.side(h.Named(d.To.Name))
	differ := wording.Plural(len(d.Change), "change") + " from " + from + " to " + to
	switch {
	case d.Kind == history.ChangeNone:
		differ = "the same template in " + from + " and " + to
	case d.Kind == history.ChangeRestart:
		differ += ": kubectl rollout restart, nothing else"
	case d.Kind == history.ChangeDefaults:
		differ += ": API defaults only"
	case history.OnlyMetadata(d.Change):
		differ += ": metadata only"
	}
	p.Screen.Headline.Text = differ
	return p
}

// Diff writes the difference of two templates, field by field.
func Diff(w io.Writer, h sheet.Past, asked sheet.Asked, style wording.Style) error {
	p, d, fields := compared(h, asked, style), h.Diff, history.Differences(h.Diff.Change)
	from, to := h.Named(d.From.Name), h.Named(d.To.Name)
	if h.Rollout.InProgress() && p.current != nil && slices.Contains([]*history.Revision{from, to}, p.current) {
		words, command := p.act()
		p.look(screen.DoNow, words, command)
	}
	whose := func(i int) []string { return about(&d.Change[i]) }
	for _, l := range (difftext.Style{All: style.All}).Lines(fields, whose) {
		p.Add(screen.Change, "%s", l)
	}
	p.rollback(p.free(), h.RollsBackToOneOf(from, to))
	return sheet.WriteOne(w, &p.Screen, style)
}

// side names a revision, with its age; nil is the live template.
func (p *past) side(r *history.Revision) string {
	switch {
	case r == nil:
		return "the live template"
	case r == p.current:
		return p.name(r) + wording.InBrackets(p.latest(), p.made(r))
	}
	return p.name(r) + wording.InBrackets(p.made(r))
}

// about says what kind of field differs, and whose it is.
func about(c *history.FieldChange) []string {
	kind := map[history.FieldKind]string{
		history.FieldDefault: "API default", history.FieldRestart: "kubectl rollout restart",
	}[c.Kind]
	return []string{kind, wording.Behind("by field manager ", screen.Clean(strings.Join(c.Managers, ", ")))}
}

// UnifiedDiff writes the difference of two DaemonSets as diff -u would of their
// YAML, as history.Object returns them and encode.YAML writes them: with the values it
// can be applied to that. Without, what is hidden has numbers, the same for equal
// values, so that one that changed is still seen to. Of two that are the same it
// writes nothing but, where it is no text, the headline.
func UnifiedDiff(w io.Writer, h sheet.Past, old, new map[string]any, showValues bool, style wording.Style) error {
	p := compared(h, sheet.Asked{}, style)
	sides := []map[string]any{old, new}
	if !showValues {
		sides = hide.Numbered[appsv1.DaemonSet](sides...)
	}
	before, err := encode.YAML(sides[0])
	if err != nil {
		return err
	}
	after, err := encode.YAML(sides[1])
	if err != nil || before == after && style.Form == wording.InText {
		return err
	}
	lines := screen.Lines{
		{Text: "--- " + p.file(h.Diff.From), Tone: screen.Title},
		{Text: "+++ " + p.file(h.Diff.To), Tone: screen.Title},
	}
	tones := map[byte]screen.Tone{'-': screen.Removed, '+': screen.Added}
	for _, l := range unified(linesIn(before), linesIn(after)) {
		lines = append(lines, screen.Line{Text: l, Tone: tones[l[0]]})
	}
	if style.Form == wording.InText {
		return lines.Text(w, style.Terminal())
	}
	if before != after {
		p.Screen.Add(screen.Change, lines)
	}
	return sheet.WriteOne(w, &p.Screen, style)
}

// linesIn are the lines of a YAML document.
func linesIn(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// file names one side of a unified diff.
func (p *past) file(d history.Side) string {
	if r := p.h.Named(d.Name); r != nil {
		return screen.Clean(p.Subject() + " " + p.name(r))
	}
	return screen.Clean(p.Subject() + " live")
}

// unified returns the lines of what diff -u writes below the names of its files.
func unified(old, new []string) (lines []string) {
	signs := map[udiff.OpKind]string{udiff.Insert: "+", udiff.Equal: " "}
	ahead := 0 // by how many lines the new text is
	for _, h := range difftext.Hunks(old, new, 3) {
		n, body := map[udiff.OpKind]int{}, []string{}
		for _, l := range h.Lines {
			n[l.Kind]++
			body = append(body, cmp.Or(signs[l.Kind], "-")+l.Content[:len(l.Content)-1])
		}
		before, after := len(body)-n[udiff.Insert], n[udiff.Equal]+n[udiff.Insert]
		lines = append(lines, fmt.Sprintf("@@ -%s +%s @@", lineRange(h.FromLine, before),
			lineRange(h.FromLine+ahead, after)))
		lines = append(lines, body...)
		ahead += after - before
	}
	return lines
}

// lineRange is so many lines from a number on, as the header of a hunk has it: one
// goes without its number, and none are behind the line that is named.
func lineRange(from, n int) string {
	if n == 1 {
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d,%d", from-max(0, 1-n), n)
}
