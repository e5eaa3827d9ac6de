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

// Histories writes a row for each DaemonSet in the given order: the state of its rollout, its newest revision, the
// number of pods on it, and what that revision changed.
func Histories(w io.Writer, all []sheet.Past, asked sheet.Asked, style wording.Style) error {
	return sheet.WriteOne(w, historyListScreen(all, asked, style), style)
}

func historyListScreen(all []sheet.Past, asked sheet.Asked, style wording.Style) *screen.Screen {
	t := &screen.Table{Flush: true, Columns: sheet.Columns("VERDICT", "DAEMONSET", "REVISION")}
	t.Columns = append(t.Columns,
		screen.Column{Head: "SINCE", Drop: 2}, screen.Column{Head: "PODS ON IT", Right: true, Drop: 1})
	if style.Wide {
		t.Columns = append(t.Columns, screen.Column{Head: "HASH"},
			screen.Column{Head: "KEPT", Right: true}, screen.Column{Head: "LIMIT", Right: true})
	}
	t.Columns = append(t.Columns, screen.Column{Head: "CHANGE", Wrap: true, Least: 24})
	n := map[history.RolloutCode][]*historyScreen{}
	for _, h := range all {
		p := historyScreenWithVerdict(h, asked, style)
		p.headline()
		n[h.Rollout.Code] = append(n[h.Rollout.Code], p)
		revision, since, hash, lines := p.newest()
		row := t.Row(p.Screen.Headline.Verdict, p.Subject(), revision, since, p.onNewest())
		row.Cells[0].Tone = p.Screen.Headline.Tone
		if style.Wide {
			row.Cells = append(row.Cells, screen.Cells(hash, fmt.Sprint(h.Kept()), fmt.Sprint(h.Limit))...)
		}
		row.Cells = append(row.Cells, screen.Cell{Lines: append(lines, p.extraLines()...)})
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

// newest describes the current or pending revision: its number, its age, its hash and its changes.
func (p *historyScreen) newest() (revision, since, hash string, lines []string) {
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

// onNewest returns how many pods are on the current revision.
func (p *historyScreen) onNewest() string {
	if r := &p.h.Rollout; r.Pods != nil {
		return fmt.Sprintf("%d of %d", *r.Current, *r.Pods)
	}
	return "?"
}

// extraLines returns how many pods on other revisions count as updated, and why the rollout is stuck.
func (p *historyScreen) extraLines() (lines []string) {
	if updated, others := p.h.UpdatedElsewhere(); updated > 0 {
		lines = append(lines, "(on other revisions: "+wording.CountedUpdated(updated, others)+")")
	}
	if p.verdict != nil {
		lines = append(lines, wording.WithPrefix("stuck: ", p.verdict.Why(2)))
	}
	return lines
}

// lookFirst adds the first command of a list. It does nothing if a worse DaemonSet has already added one.
func (p *historyScreen) lookFirst(s *screen.Screen, others bool) {
	words, command := p.act()
	if len(command) == 0 || s.Has(screen.DoNow) {
		return
	}
	if others {
		words = "begin with " + p.Subject() + ": " + words
	}
	s.Add(screen.DoNow, screen.Text(words+" (read-only):"), command)
}

// Template writes one revision, or the live template if r is nil: its age, its nodes, its changes and the complete
// template. It hides literal values of environment variables unless showValues is set.
func Template(
	w io.Writer, h sheet.Past, asked sheet.Asked, r *history.Revision, t template.Content, showValues bool,
	style wording.Style,
) error {
	p := historyScreenWithVerdict(h, asked, style)
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
			p.rollback(p.nextLabel(), r)
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

// onNodes names the nodes that have their oldest pod on the revision.
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

// compared returns a screen with the headline for the difference of two templates.
func compared(h sheet.Past, asked sheet.Asked, style wording.Style) *historyScreen {
	p, d := historyScreenWithVerdict(h, asked, style), h.Diff
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
	whose := func(i int) []string { return fieldOrigin(&d.Change[i]) }
	for _, l := range (difftext.Style{All: style.All}).Lines(fields, whose) {
		p.Add(screen.Change, "%s", l)
	}
	p.rollback(p.nextLabel(), h.RollsBackToOneOf(from, to))
	return sheet.WriteOne(w, &p.Screen, style)
}

// side names a revision with its age, or the live template if r is nil.
func (p *historyScreen) side(r *history.Revision) string {
	switch {
	case r == nil:
		return "the live template"
	case r == p.current:
		return p.name(r) + wording.InBrackets(p.whyCurrent(), p.origin(r))
	}
	return p.name(r) + wording.InBrackets(p.origin(r))
}

// fieldOrigin returns the kind of a changed field, and the field managers that own it.
func fieldOrigin(c *history.FieldChange) []string {
	kind := map[history.FieldKind]string{
		history.FieldDefault: "API default", history.FieldRestart: "kubectl rollout restart",
	}[c.Kind]
	return []string{kind, wording.WithPrefix("by field manager ", screen.Clean(strings.Join(c.Managers, ", ")))}
}

// UnifiedDiff writes the difference of two DaemonSets in the format of diff -u. It compares the YAML that encode.YAML
// writes for history.Object. With showValues, the output is a patch for that YAML. Otherwise, numbers replace hidden
// values. Equal values get the same number, so that changes stay visible. If the two are equal, it writes the headline
// in Markdown or HTML, and nothing in text.
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

// linesIn splits a YAML document into lines.
func linesIn(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// file names one side of a unified diff.
func (p *historyScreen) file(d history.Side) string {
	if r := p.h.Named(d.Name); r != nil {
		return screen.Clean(p.Subject() + " " + p.name(r))
	}
	return screen.Clean(p.Subject() + " live")
}

// unified returns the output of diff -u without the file names.
func unified(old, new []string) (lines []string) {
	signs := map[udiff.OpKind]string{udiff.Insert: "+", udiff.Equal: " "}
	ahead := 0 // number of lines by which the new text is longer at this point
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

// lineRange formats a range of n lines for the header of a hunk. It omits the number if n is 1. For an empty range, it
// names the line before it.
func lineRange(from, n int) string {
	if n == 1 {
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d,%d", from-max(0, 1-n), n)
}
