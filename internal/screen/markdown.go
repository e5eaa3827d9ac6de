package screen

import (
	"html"
	"io"
	"slices"
	"strings"
)

// Markdown writes a Screen for a comment on a pull request or an incident note.
// Words of the cluster and of manifests cannot break out of it, and neither
// mention nor link to anything.
func (s *Screen) Markdown(w io.Writer) error {
	m := &markdown{}
	title := mark(s.Headline.Text)
	if s.Headline.Subject != "" {
		title = "<code>" + mark(s.Headline.Subject) + "</code>: " + title
	}
	if s.Headline.Verdict != "" {
		title = s.Headline.Verdict + " " + title
	}
	m.add("### "+title, "")
	if s.Notice != "" {
		m.add("*"+mark(s.Notice)+"*", "")
	}
	for l, blocks := range s.entries {
		if Label(l) == Cause {
			for _, part := range s.parts {
				m.add("#### "+mark(part.title), "")
				for l, blocks := range part.entries {
					m.entry(Label(l), blocks)
				}
			}
		}
		m.entry(Label(l), blocks)
	}
	_, err := io.WriteString(w, strings.TrimRight(strings.Join(m.lines, "\n"), "\n")+"\n")
	return err
}

// markdown collects lines. A label waits for the words behind it.
type markdown struct {
	lines []string
	label string
}

// entry writes what stands beside a label.
func (m *markdown) entry(l Label, blocks []Block) {
	if name := l.String(); len(blocks) > 0 && name != "" {
		m.label = "**" + name + ":** "
	}
	for _, b := range blocks {
		m.block(b)
	}
}

func (m *markdown) add(lines ...string) { m.lines = append(m.lines, lines...) }

func (m *markdown) block(b Block) {
	label := m.label
	m.label = ""
	alone := func() { // a label above what is no paragraph
		if label != "" {
			m.add(strings.TrimRight(label, " "), "")
		}
	}
	switch b := b.(type) {
	case Text:
		m.add(label+mark(string(b)), "")
	case Words:
		m.add(label+mark(strings.Join(b, " ")), "")
	case Names:
		m.add(label+mark(strings.Join(b.words(Terminal{}, 0), " ")), "")
	case Command:
		alone()
		m.fence("sh", b.String())
	case Lines:
		alone()
		lines, kind := make([]string, len(b)), ""
		for i, l := range b {
			lines[i] = Escape(l.Text)
			if l.Tone == Added || l.Tone == Removed {
				kind = "diff"
			}
		}
		m.fence(kind, lines...)
	case Rows:
		alone()
		lines := make([]string, len(b))
		for i, line := range b {
			for _, l := range line {
				lines[i] += Escape(l.Text)
			}
		}
		m.fence("", lines...)
	case Group:
		m.label = label
		m.block(Indent(slices.DeleteFunc(slices.Clone(b), func(inner Block) bool { return inner == nil || inner.empty() })))
	case Indent:
		m.label = label
		for _, inner := range b {
			m.block(inner)
		}
	case *Table:
		alone()
		m.table(b)
	}
}

// fence writes lines as they are, between fences longer than any in them.
func (m *markdown) fence(kind string, lines ...string) {
	fence := "```"
	for _, l := range lines {
		for strings.Contains(l, fence) {
			fence += "`"
		}
	}
	m.add(fence + kind)
	m.add(lines...)
	m.add(fence, "")
}

// table writes rows, each with what stands under it in a row of its own.
func (m *markdown) table(t *Table) {
	head, rule := "|", "|"
	for _, c := range t.Columns {
		head += " " + mark(c.Head) + " |"
		if c.Right {
			rule += " ---: |"
		} else {
			rule += " --- |"
		}
	}
	m.add(head, rule)
	for _, r := range t.Rows {
		row := "|"
		for i, c := range t.Columns {
			var lines []string
			if i < len(r.Cells) {
				for _, l := range r.Cells[i].lines(Terminal{}, 0, c.Short) {
					lines = append(lines, mark(l))
				}
			}
			row += " " + strings.Join(lines, "<br>") + " |"
		}
		m.add(row)
	}
	m.add("")
	for _, r := range t.Rows {
		m.label = "**" + mark(strings.Join(r.Cells[0].lines(Terminal{}, 0, false), " ")) + ":** "
		for _, b := range r.Detail {
			if !b.empty() {
				m.block(b)
			}
		}
	}
	m.label = ""
}

// mark makes words safe in Markdown.
func mark(words string) string {
	// html.EscapeString writes entities with # of its own, so the special characters come after it, apart from those entities.
	words = html.EscapeString(Clean(words))
	words = strings.NewReplacer("&#39;", "'", "&#34;", `"`).Replace(words)
	return special.Replace(words)
}

// special are the characters that Markdown, or GitHub's and GitLab's, read as
// more than themselves.
var special = strings.NewReplacer(
	"|", "&#124;", "`", "&#96;", "*", "&#42;", "_", "&#95;", "~", "&#126;", "[", "&#91;", "]", "&#93;", "@", "&#64;", "#", "&#35;", `\`, "&#92;",
	"!", "&#33;", "$", "&#36;", "://", "&#58;//", "www.", "www&#46;", "^", "&#94;",
)
