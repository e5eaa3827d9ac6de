package screen

import (
	"fmt"
	"html"
	"io"
	"regexp"
	"slices"
	"strings"
)

// Markdown writes a Screen for a comment on a pull request or an incident note: the verdict is the
// heading, and details are folded. If all is set, lists of names are complete. Texts are escaped;
// they cannot create mentions or links.
func (s *Screen) Markdown(w io.Writer, all bool) error {
	m := &markdown{all: all}
	title := Mark(s.Headline.Text)
	switch subject := Mark(s.Headline.Subject); {
	case s.Headline.Counts:
		title = subject + ": " + title
	case subject != "":
		title = "<code>" + subject + "</code>: " + title
	}
	if s.Headline.Verdict != "" {
		title = s.Headline.Verdict + " " + title
	}
	m.add("### "+title, "")
	if s.Notice != "" {
		m.add("*"+Mark(s.Notice)+"*", "")
	}
	for l, blocks := range s.entries {
		if Label(l) == parting {
			for _, part := range s.parts {
				m.add("#### "+Mark(part.title), "")
				m.entries(part.entries, s.leaves)
			}
		}
		if all || !s.leaves[l] {
			m.entry(Label(l), blocks)
		}
	}
	m.folded(s.entries, s.leaves)
	_, err := io.WriteString(w, strings.TrimRight(strings.Join(m.lines, "\n"), "\n")+"\n")
	return err
}

// markdown collects lines. A label is written with the block that follows it.
type markdown struct {
	lines []string
	label string
	all   bool
}

const (
	longTable = 15 // maximum number of rows of a table that is not folded
	longLines = 20 // maximum number of lines of a text that is not folded
)

// entries writes the entries of a part, with those that only --all shows folded at the end.
func (m *markdown) entries(of [labels][]Block, leaves [labels]bool) {
	for l, blocks := range of {
		if m.all || !leaves[l] {
			m.entry(Label(l), blocks)
		}
	}
	m.folded(of, leaves)
}

// folded writes the entries that only --all shows, folded.
func (m *markdown) folded(of [labels][]Block, leaves [labels]bool) {
	left := false
	for l := range of {
		left = left || leaves[l] && len(of[l]) > 0
	}
	if m.all || !left {
		return
	}
	m.fold(further.String(), func() {
		for l, blocks := range of {
			switch {
			case !leaves[l] || len(blocks) == 0:
			case Label(l) == Rests: // elsewhere, it is folded separately
				m.add("**"+Rests.String()+":**", "")
				m.list(blocks)
			default:
				m.entry(Label(l), blocks)
			}
		}
	})
}

// entry writes an entry. Rests is folded, and so is Status except for its first block.
func (m *markdown) entry(l Label, blocks []Block) {
	switch name := l.String(); {
	case len(blocks) == 0:
	case l == Rests:
		m.fold(name, func() { m.list(blocks) })
	case l == Status:
		m.label = "**" + name + ":** "
		m.block(blocks[0])
		if len(blocks) > 1 {
			m.fold(name+" in detail", func() { m.blocks(blocks[1:]) })
		}
	default:
		if name != "" {
			m.label = "**" + name + ":** "
		}
		m.blocks(blocks)
	}
}

func (m *markdown) blocks(all []Block) {
	for _, b := range all {
		m.block(b)
	}
}

// list writes blocks, with paragraphs as list items.
func (m *markdown) list(all []Block) {
	points := false
	for _, b := range all {
		words, point := b.(Text)
		if points && !point {
			m.add("")
		}
		if points = point; point {
			m.add("- " + Mark(string(words)))
			continue
		}
		m.block(b)
	}
	if points {
		m.add("")
	}
}

// fold writes lines that are folded under a summary.
func (m *markdown) fold(summary string, write func()) {
	m.add("<details><summary>"+Mark(summary)+"</summary>", "")
	write()
	m.add("</details>", "")
}

func (m *markdown) add(lines ...string) { m.lines = append(m.lines, lines...) }

func (m *markdown) block(b Block) {
	label := m.label
	m.label = ""
	alone := func() { // writes the label above a block that is not a paragraph
		if label != "" {
			m.add(strings.TrimRight(label, " "), "")
		}
	}
	switch b := b.(type) {
	case Text:
		m.paragraph(label, string(b))
	case Words:
		m.paragraph(label, strings.Join(b, " "))
	case Names:
		words := strings.Join(b.words(Terminal{}, 0), " ")
		m.paragraph(label, words)
		if whole := strings.Join(b.words(Terminal{All: true}, 0), " "); m.all && whole != words {
			m.names("", b.Names)
		}
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
		m.text(kind, lines)
	case Rows:
		alone()
		lines := make([]string, len(b))
		for i, line := range b {
			for _, l := range line {
				lines[i] += Escape(l.Text)
			}
		}
		m.text("", lines)
	case Group:
		m.label = label
		m.block(Indent(b))
	case Indent:
		m.label = label
		for _, inner := range b {
			if inner != nil && !inner.empty() {
				m.block(inner)
			}
		}
	case *Table:
		alone()
		if n := len(b.Rows); n > longTable && !b.Flush {
			m.fold(fmt.Sprintf("%s: %d rows", b.Columns[0].Head, n), func() { m.table(b) })
			return
		}
		m.table(b)
	}
}

// paragraph writes words after a label. Without a label, it prevents that they begin a list, a
// heading or a rule.
func (m *markdown) paragraph(label, words string) {
	words = Mark(words)
	if n := len(blockMark.FindString(words)); label == "" && n > 0 {
		words = fmt.Sprintf("%s&#%d;%s", words[:n-1], words[n-1], words[n:])
	}
	m.add(label+words, "")
}

// blockMark matches what would make a line a list item, a heading or a rule.
var blockMark = regexp.MustCompile(`^([0-9]{1,9}[.)]|[-+=])`)

// names writes all names of a list, folded.
func (m *markdown) names(of string, names []string) {
	m.fold(fmt.Sprintf("%sall %d names", of, len(names)), func() {
		m.paragraph("", strings.Join(names, ", "))
	})
}

// text writes lines unchanged, folded if there are many.
func (m *markdown) text(kind string, lines []string) {
	if len(lines) > longLines {
		m.fold(fmt.Sprintf("%d lines", len(lines)), func() { m.fence(kind, lines...) })
		return
	}
	m.fence(kind, lines...)
}

// fence writes lines unchanged, between fences longer than any in the lines.
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

// table writes a Table, followed by the details of its rows.
func (m *markdown) table(t *Table) {
	head, rule := "|", "|"
	for _, c := range t.Columns {
		head += " " + Mark(c.Head) + " |"
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
					lines = append(lines, Mark(l))
				}
			}
			row += " " + strings.Join(lines, "<br>") + " |"
		}
		m.add(row)
	}
	m.add("")
	for _, r := range t.Rows {
		m.label = "**" + Mark(strings.Join(r.Cells[0].lines(Terminal{}, 0, false), " ")) + ":** "
		for i, c := range r.Cells {
			whole := Cell{Names: c.Names}.lines(Terminal{All: true}, 0, false)
			if m.all && len(c.Names) > 0 &&
				!slices.Equal(whole, Cell{Names: c.Names}.lines(Terminal{}, 0, t.Columns[i].Short)) {
				m.names(strings.Join(r.Cells[0].Lines, " ")+": ", c.Names)
			}
		}
		for _, b := range r.Detail {
			if !b.empty() {
				m.block(b)
			}
		}
	}
	m.label = ""
}

// Mark returns words escaped for Markdown.
func Mark(words string) string {
	// html.EscapeString writes entities that contain #, so it comes first, and these entities are
	// undone.
	words = html.EscapeString(Clean(words))
	words = strings.NewReplacer("&#39;", "'", "&#34;", `"`).Replace(words)
	words = special.Replace(words)
	for range 2 { // two may share a colon
		words = emoji.ReplaceAllString(words, ":"+nothing+"$1")
	}
	return words
}

// nothing separates characters from which GitHub makes a link, a mention or an emoji after it has
// decoded character references, so that references alone do not prevent it.
const nothing = "<!-- -->"

// special escapes the characters that are special in Markdown or in the dialects of GitHub and
// GitLab.
var special = strings.NewReplacer(
	"|", "&#124;", "`", "&#96;", "*", "&#42;", "_", "&#95;", "~", "&#126;", "[", "&#91;", "]", "&#93;", "@",
	"&#64;"+nothing, "#", "&#35;"+nothing, `\`, "&#92;",
	"!", "&#33;", "$", "&#36;", "://", "&#58;"+nothing+"//", "www.", "www&#46;"+nothing, "^", "&#94;",
)

// emoji matches a word between colons, such as :100:. The group is the part after the first colon.
var emoji = regexp.MustCompile(`:((?:[a-z0-9+-]|&#95;)+:)`)
