package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// Histories writes a row per DaemonSet, in the order given: how many pods are on
// which revision, since when, and what that changed.
func Histories(w io.Writer, l *history.List, asked Asked, style Style) error {
	t := &screen.Table{Flush: true, Columns: []screen.Column{{Head: "DAEMONSET"}, {Head: "REVISION"}, {Head: "SINCE", Drop: 2}, {Head: "PODS ON IT", Right: true, Drop: 1}}}
	if style.Wide {
		t.Columns = append(t.Columns, screen.Column{Head: "HASH"}, screen.Column{Head: "KEPT", Right: true}, screen.Column{Head: "LIMIT", Right: true})
	}
	t.Columns = append(t.Columns, screen.Column{Head: "CHANGE", Wrap: true})
	behind, settled, pending := 0, 0, 0
	var first *past
	for _, h := range l.Items {
		p := newPast(h, asked, style)
		revision, since, hash := "-", "-", "-"
		lines := []string{"no revision holds the live template"}
		if p.inferred() {
			lines[0] = "the revisions could not be read"
		}
		if len(p.current) > 0 {
			c := p.current[0]
			revision, hash, lines = p.number(c.Name), cmp.Or(c.Hash, "-"), p.changes(c, 2)
			if p.inferred() {
				revision = "hash " + c.Hash
			} else if h.CurrentSince != nil {
				since = p.ago(h.CurrentSince)
			}
		}
		if h.Next.Cut && !p.inferred() {
			pending++
			revision, hash, since, lines = fmt.Sprintf("%d (pending)", h.Next.Number), "-", "-", []string{}
			if h.Uncut != nil {
				lines = append(lines, few(p.fields(p.several()).changeLines(h.Uncut.Change), 2, "more change", style)...)
			}
		}
		on := screen.Cell{Lines: []string{"?"}}
		if p.known {
			on.Lines[0] = fmt.Sprintf("%d of %d", p.on, p.pods)
		}
		switch {
		case !p.known, p.inferred() && len(p.current) == 0:
		case p.on == p.pods:
			settled++
		default:
			if behind++; first == nil {
				first = p
			}
			on.Tone = screen.Warn
		}
		if n, others := p.updatedElsewhere(); n > 0 {
			lines = append(lines, "(on other revisions: "+countedUpdated(n, others)+")")
		}
		cells := []screen.Cell{{Lines: []string{p.subject()}}, {Lines: []string{revision}}, {Lines: []string{since}}, on}
		if style.Wide {
			kept := 0
			for _, r := range h.Revisions {
				if r.Name != "" {
					kept++
				}
			}
			cells = append(cells, screen.Cells(hash, fmt.Sprint(kept), fmt.Sprint(h.Limit))...)
		}
		t.Rows = append(t.Rows, screen.Row{Cells: append(cells, screen.Cell{Lines: lines})})
	}
	var words []string
	say := func(n int, one, many string) {
		if n > 0 {
			words = append(words, pluralVerb(n, one, many))
		}
	}
	say(behind, "has pods on other revisions than the latest", "have pods on other revisions than the latest")
	say(settled, "has all pods on the latest", "have all pods on the latest")
	say(len(l.Items)-behind-settled, "is unknown", "are unknown")
	say(pending, "new revision is pending", "new revisions are pending")
	var s screen.Screen
	s.Headline = screen.Headline{Subject: plural(len(l.Items), "DaemonSet"), Text: strings.Join(words, ", ")}
	s.Add(screen.Body, t)
	if first != nil {
		s.Add(screen.Check, first.again("history"))
	}
	return s.Text(w, style.terminal())
}

// Template writes one revision, or the live template where that is nil: what it
// is, the nodes that are on it, what it changed, and the template whole. Literal
// values of environment variables are hidden unless showValues is given.
func Template(w io.Writer, h *history.History, r *history.Revision, t template.Content, showValues bool, style Style) error {
	p := newPast(h, Asked{}, style)
	p.s.Headline.Text = "the live template"
	if r != nil {
		p.s.Headline.Text = p.described(r)
		p.onNodes(r)
		for _, l := range p.changes(r, 4) {
			p.add(screen.Change, "%s", l)
		}
	}
	if !showValues {
		t = t.WithValues(func(string) string { return template.Hidden })
	}
	text, err := yamlText(map[string]any(t))
	if err != nil {
		return err
	}
	var lines screen.Lines
	for _, l := range linesIn(text) {
		lines = append(lines, screen.Line{Text: l})
	}
	p.s.Add(screen.Body, lines)
	return p.s.Text(w, style.terminal())
}

// described is a revision with its age, and whether it is the latest.
func (p *past) described(r *history.Revision) string {
	words := p.name(r)
	if len(p.current) == 1 && r.Current {
		words += " (the latest)"
	}
	return strings.Join(slices.DeleteFunc([]string{words, p.made(r)}, func(w string) bool { return w == "" }), ", ")
}

// made is when a revision was created, or a rollback restored it; empty where
// that is unknown.
func (p *past) made(r *history.Revision) string {
	switch {
	case r.TakenUpAt != nil, p.rolledBack(r) != nil:
		return "restored " + cmp.Or(p.restored(r), "by a rollback")
	case r.CreatedAt == nil:
		return ""
	}
	return "created " + p.ago(r.CreatedAt)
}

// onNodes names the nodes whose oldest pod is of the revision.
func (p *past) onNodes(r *history.Revision) {
	switch {
	case r.Nodes == nil:
		p.add(screen.Rollout, "unknown: on which nodes (pods could not be read)")
	case *r.Nodes == 0:
		p.add(screen.Rollout, "on no node")
	default:
		p.s.Add(screen.Rollout, screen.Names{Before: fmt.Sprintf("on %s, %s available:", plural(*r.Nodes, "node"), count(r.Available)), Names: r.OnNodes})
	}
}

// Diff writes the difference of two templates, field by field.
func Diff(w io.Writer, h *history.History, asked Asked, style Style) error {
	p := newPast(h, asked, style)
	d := h.Diff
	var fields, set []template.Difference
	for i := range d.Change {
		fields = append(fields, d.Change[i].Difference)
		if d.Change[i].Kind == history.FieldSet {
			set = append(set, d.Change[i].Difference)
		}
	}
	words := plural(len(d.Change), "change") + " from %s to %s"
	switch _, metadata := template.OnlyMetadata(set, template.At); {
	case d.Kind == history.ChangeNone:
		words = "the same template in %s and %s"
	case d.Kind == history.ChangeRestart:
		words += ": kubectl rollout restart, nothing else"
	case d.Kind == history.ChangeDefaults:
		words += ": API defaults only"
	case metadata:
		words += ": metadata only"
	}
	p.s.Headline.Text = fmt.Sprintf(words, p.side(d.From), p.side(d.To))
	for _, l := range (fieldStyle{all: style.All}).lines(fields, func(i int) []string { return about(&d.Change[i]) }) {
		p.add(screen.Change, "%s", l)
	}
	return p.s.Text(w, style.terminal())
}

// side names one side of a difference, with its age.
func (p *past) side(d history.Side) string {
	for i := range p.h.Revisions {
		if r := &p.h.Revisions[i]; !d.Live && r.Name == d.Name {
			return "revision " + p.number(r.Name) + inBrackets(p.made(r))
		}
	}
	return "the live template"
}

// about says what kind of field differs, and whose it is.
func about(c *history.Change) []string {
	var out []string
	switch c.Kind {
	case history.FieldDefault:
		out = append(out, "API default")
	case history.FieldRestart:
		out = append(out, "kubectl rollout restart")
	}
	if len(c.Managers) > 0 {
		out = append(out, "by "+clean(strings.Join(c.Managers, ", ")))
	}
	return out
}

// UnifiedDiff writes the difference of two DaemonSets as diff -u would of their
// YAML, as history.Object returns them and Encode writes them: with the values it
// can be applied to that. Without, what is hidden has numbers, the same for equal
// values, so that one that changed is still seen to. Of two that are the same it
// writes nothing.
func UnifiedDiff(w io.Writer, h *history.History, old, new map[string]any, showValues bool, style Style) error {
	p := newPast(h, Asked{}, style)
	if !showValues {
		number := numbered(old, new)
		old, new = template.WithValues[appsv1.DaemonSet](old, number), template.WithValues[appsv1.DaemonSet](new, number)
	}
	before, err := yamlText(old)
	if err != nil {
		return err
	}
	after, err := yamlText(new)
	if err != nil || before == after {
		return err
	}
	lines := screen.Lines{{Text: "--- " + p.file(h.Diff.From), Tone: screen.Title}, {Text: "+++ " + p.file(h.Diff.To), Tone: screen.Title}}
	tones := map[byte]screen.Tone{'-': screen.Removed, '+': screen.Added}
	for _, l := range unified(linesIn(before), linesIn(after)) {
		lines = append(lines, screen.Line{Text: l, Tone: tones[l[0]]})
	}
	return lines.Text(w, style.terminal())
}

// linesIn are the lines of a YAML document.
func linesIn(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// file names one side of a unified diff.
func (p *past) file(d history.Side) string {
	if d.Live {
		return clean(p.subject() + " live")
	}
	return clean(p.subject() + " revision " + p.number(d.Name))
}

// numbered returns what stands for a literal value: a number, in the order in
// which the values occur.
func numbered(objects ...map[string]any) func(string) string {
	numbers := map[string]int{}
	note := func(value string) string {
		if numbers[value] == 0 {
			numbers[value] = len(numbers) + 1
		}
		return value
	}
	for _, o := range objects {
		template.WithValues[appsv1.DaemonSet](o, note)
	}
	return func(value string) string { return fmt.Sprintf("<hidden %d>", numbers[value]) }
}
