package view

import (
	"fmt"
	"io"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// Template writes one revision, or the live template where that is nil: what it
// is in a line, the template whole, and the nodes that are on it. Literal values
// of environment variables are hidden unless showValues is given.
func Template(w io.Writer, h *history.History, r *history.Revision, t template.Content, showValues bool, style Style) error {
	s := &lineScreen{Style: style, now: h.Snapshot.TakenAt}
	of := clean(h.DaemonSet.Namespace) + "/" + clean(h.DaemonSet.Name)
	if r == nil {
		s.line("%s  %s", s.title("LIVE TEMPLATE"), of)
	} else {
		s.line("%s  %s: %s", s.title(revisionTitle(h, r)), of, s.revisionDetail(h, r))
	}
	if !showValues {
		t = t.WithValues(func(string) string { return template.Hidden })
	}
	text, err := yamlText(map[string]any(t))
	if err != nil {
		return err
	}
	s.gap()
	for _, l := range linesIn(text) {
		s.whole(l)
	}
	if r != nil {
		s.gap()
		s.onNodes(r)
	}
	return s.writeTo(w)
}

func revisionTitle(h *history.History, r *history.Revision) string {
	if r.Name == "" {
		return "HASH " + hashWords(r.Hash)
	}
	return "REVISION " + revisionNumber(h, r.Name)
}

// revisionDetail is what a revision is: current or not, its age, what changed.
func (s *lineScreen) revisionDetail(h *history.History, r *history.Revision) string {
	var parts []string
	if r.Current {
		parts = append(parts, "current")
	}
	if a := s.ageCell(h, r); a != "-" {
		if parts = append(parts, "made "+strings.Replace(a, ", up again", " ago, taken up again", 1)); !strings.HasSuffix(a, "up again") {
			parts[len(parts)-1] += " ago"
		}
	}
	if words := s.changeWords(h, r); len(words) > 0 {
		const most = 4
		if n := len(words) - most; n > 1 && !s.All {
			words = append(words[:most:most], fmt.Sprintf("%d more", n))
		}
		parts = append(parts, strings.Join(words, "; "))
	}
	return strings.Join(parts, ", ")
}

// onNodes names the nodes whose oldest pod is of the revision.
func (s *lineScreen) onNodes(r *history.Revision) {
	switch {
	case r.Nodes == nil:
		s.line("%s not known, as the pods could not be read", s.title("NODES"))
	case *r.Nodes == 0:
		s.line("%s none", s.title("NODES"))
	default:
		head := fmt.Sprintf("%s (%d, %s available): ", s.title("NODES"), *r.Nodes, count(r.Available))
		s.line("%s%s", head, s.namesWithin(r.OnNodes, max(0, s.Width-width(head))))
	}
}

// Diff writes the difference of two templates, field by field.
func Diff(w io.Writer, h *history.History, style Style) error {
	s := &lineScreen{Style: style, now: h.Snapshot.TakenAt}
	d := h.Diff
	s.line("%s  %s/%s: %s", s.title(sidesTitle(h, d)), clean(h.DaemonSet.Namespace), clean(h.DaemonSet.Name), s.diffDetail(h, d))
	s.gap()
	var fields []template.Difference
	for i := range d.Change {
		fields = append(fields, d.Change[i].Difference)
	}
	for _, l := range (fieldStyle{all: s.All}).lines(fields, func(i int) []string { return about(&d.Change[i]) }) {
		s.line("  %s", l)
	}
	return s.writeTo(w)
}

func sidesTitle(h *history.History, d *history.Diff) string {
	from, to := sideName(h, d.From), sideName(h, d.To)
	if d.From.Live {
		from = "LIVE TEMPLATE"
	} else {
		from = "REVISION " + from
	}
	if d.To.Live {
		to = "LIVE TEMPLATE"
	}
	return from + " -> " + to
}

// sideName is a revision's number, with its name where several share that, or
// "live".
func sideName(h *history.History, d history.Side) string {
	if d.Live {
		return "live"
	}
	return revisionNumber(h, d.Name)
}

// diffDetail says how many fields differ, and how old the two are.
func (s *lineScreen) diffDetail(h *history.History, d *history.Diff) string {
	words := pluralVerb(len(d.Change), "field differs", "fields differ")
	switch d.Kind {
	case history.ChangeNone:
		return "the same template"
	case history.ChangeRestart:
		words = "a restart only"
	case history.ChangeDefaults:
		words = "API defaults only: " + words
	case history.ChangeTemplate:
		words += ""
	}
	var ages []string
	for _, side := range []history.Side{d.From, d.To} {
		for i := range h.Revisions {
			if r := &h.Revisions[i]; !side.Live && r.Name == side.Name && r.CreatedAt != nil {
				ages = append(ages, fmt.Sprintf("revision %s made %s ago", revisionNumber(h, r.Name), age(s.now, r.CreatedAt)))
			}
		}
	}
	return words + inBrackets(ages...)
}

// about says what kind of field differs, and whose it is.
func about(c *history.Change) []string {
	var out []string
	switch c.Kind {
	case history.FieldDefault:
		out = append(out, "API default")
	case history.FieldRestart:
		out = append(out, "restart")
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
	s := &lineScreen{Style: style, now: h.Snapshot.TakenAt}
	if !showValues {
		number := numbered(old, new)
		old, new = template.WithValues[appsv1.DaemonSet](old, number), template.WithValues[appsv1.DaemonSet](new, number)
	}
	before, err := yamlText(old)
	if err != nil {
		return err
	}
	after, err := yamlText(new)
	if err != nil {
		return err
	}
	if before == after {
		return nil
	}
	s.whole(s.title("--- " + s.sideLabel(h, h.Diff.From)))
	s.whole(s.title("+++ " + s.sideLabel(h, h.Diff.To)))
	for _, l := range unified(linesIn(before), linesIn(after)) {
		switch l[0] {
		case '-':
			l = s.removed(l)
		case '+':
			l = s.added(l)
		}
		s.whole(l)
	}
	return s.writeTo(w)
}

// linesIn are the lines of a YAML document.
func linesIn(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// sideLabel names one side of a unified diff.
func (s *lineScreen) sideLabel(h *history.History, side history.Side) string {
	of := clean(h.DaemonSet.Namespace) + "/" + clean(h.DaemonSet.Name)
	if side.Live {
		return of + " live"
	}
	return of + " revision " + sideName(h, side)
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
	return func(value string) string {
		return fmt.Sprintf("%s %d>", strings.TrimSuffix(template.Hidden, ">"), numbers[value])
	}
}
