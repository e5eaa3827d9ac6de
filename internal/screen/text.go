package screen

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/fatih/color"
	"github.com/mattn/go-runewidth"
)

// Terminal describes the destination of text.
type Terminal struct {
	Width int  // columns; 0: not a terminal, so lines are not broken
	Color bool // colors are allowed
	All   bool // lists of names are not shortened

	// Height is the number of lines; 0: unlimited. A Screen that needs more is cut at the end, but
	// not within a command. Lines that are wider than the terminal are broken, and commands with a
	// Word wider than it are omitted.
	Height int
}

const (
	gutter = 10 // columns for the labels
	indent = 2
)

// Text writes a Screen for a terminal.
func (s *Screen) Text(w io.Writer, t Terminal) error { return s.print(t).write(w) }

// Height returns the number of lines that a Screen needs.
func (s *Screen) Height(t Terminal) int { return len(s.print(t).lines) }

// print renders a Screen to lines, without empty lines at the end.
func (s *Screen) print(t Terminal) *printer {
	p := &printer{Terminal: t, dense: s.Dense}
	p.headline(&s.Headline)
	p.block(Text(s.Notice), 0)
	p.gap()
	p.left = &leftOut{of: s.leaves}
	var rest [labels][]Block // shown only with --all, after everything else
	for l, blocks := range s.entries {
		if t.All && s.leaves[l] {
			rest[l] = append(rest[l], blocks...)
			continue
		}
		if Label(l) == parting {
			for i := range s.parts {
				p.part(&s.parts[i], s.apart(&s.parts[i], t, &rest))
			}
			if len(s.parts) > 0 {
				p.gap()
			}
		}
		p.entry(Label(l), blocks)
	}
	p.entry(further, []Block{p.left.text()})
	p.gap()
	for l, blocks := range rest {
		p.entry(Label(l), blocks)
	}
	p.trim()
	// not on a line of a command, which would be copied with it
	if n := len(p.lines) - 1; n >= 0 && !slices.ContainsFunc(p.whole, func(e extent) bool { return e.to > n }) {
		p.atRight(n, s.Corner)
	}
	return p
}

// apart returns the entries of a part that are shown in it. It moves those that only --all shows to
// rest.
func (s *Screen) apart(of *part, t Terminal, rest *[labels][]Block) (entries [labels][]Block) {
	entries = of.entries
	for l, blocks := range entries {
		if t.All && s.leaves[l] {
			rest[l], entries[l] = append(rest[l], blocks...), nil
		}
	}
	return entries
}

// Text writes the lines without a margin and with trailing blanks, as patch expects of a diff.
func (l Lines) Text(w io.Writer, t Terminal) error {
	var b strings.Builder
	for _, line := range l {
		b.WriteString(t.Paint(Escape(line.Text), line.Tone) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// printer collects lines.
type printer struct {
	Terminal
	dense bool
	left  *leftOut
	lines [][]span
	whole []extent // ranges that are shown as a whole or not at all
}

// extent is a range of lines; to is exclusive.
type extent struct{ from, to int }

// span is a part of a line with one tone.
type span struct {
	text string
	tone Tone
}

// add adds a line without trailing blanks.
func (p *printer) add(left int, spans ...span) {
	line := trimmed(append([]span{{text: strings.Repeat(" ", left)}}, spans...))
	if left >= p.Width {
		left = 0
	}
	for p.Height > 0 && p.Width > 0 {
		first, rest := split(line, p.Width)
		if len(rest) == 0 {
			break
		}
		p.lines = append(p.lines, trimmed(first))
		line = append([]span{{text: strings.Repeat(" ", left)}}, rest...)
	}
	p.lines = append(p.lines, line)
}

// trimmed returns a line without trailing blanks.
func trimmed(line []span) []span {
	for n := len(line) - 1; n >= 0; n-- {
		if line[n].text = strings.TrimRight(line[n].text, " "); line[n].text != "" {
			break
		}
		line = line[:n]
	}
	return line
}

// split splits a line after a number of columns.
func split(line []span, columns int) (first, rest []span) {
	for i, s := range line {
		w := Width(s.text)
		if w > columns {
			head := runewidth.Truncate(s.text, columns, "")
			return append(line[:i:i], span{head, s.tone}), append([]span{{s.text[len(head):], s.tone}}, line[i+1:]...)
		}
		columns -= w
	}
	return line, nil
}

// gap adds an empty line unless the last line is empty.
func (p *printer) gap() {
	if n := len(p.lines); n > 0 && len(p.lines[n-1]) > 0 {
		p.lines = append(p.lines, nil)
	}
}

// trim removes the empty lines at the end.
func (p *printer) trim() {
	for n := len(p.lines); n > 0 && len(p.lines[n-1]) == 0; n-- {
		p.lines = p.lines[:n-1]
	}
}

// write writes the lines that fit in Height, without empty lines at the end.
func (p *printer) write(w io.Writer) error {
	if end := p.Height; end > 0 && end < len(p.lines) {
		for _, e := range p.whole {
			if e.from < p.Height && p.Height < e.to {
				end = min(end, e.from)
			}
		}
		p.lines = p.lines[:end]
	}
	p.trim()
	var b strings.Builder
	for _, line := range p.lines {
		for _, s := range line {
			b.WriteString(p.Paint(s.text, s.tone))
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// leastClock is the minimum width of a terminal that shows the clock of a headline.
const leastClock = 40

// headline writes the headline, with the verdict in its tone.
func (p *printer) headline(h *Headline) {
	subject := Clean(h.Subject)
	if subject != "" && h.Text != "" {
		subject += ":"
	}
	verdict := span{h.Verdict, h.Tone}
	blanks, taken := span{}, 0
	if h.Verdict != "" {
		blanks.text = strings.Repeat(" ", between)
		taken = Width(h.Verdict) + between - 1
	}
	clock := h.Clock
	if p.Width > 0 && p.Width < leastClock {
		clock = ""
	}
	if clock != "" {
		taken += between + Width(clock) // on the first line only
	}
	for i, l := range wrap(words(subject+" "+h.Text), p.Width, taken, indent) {
		if i == 0 {
			p.add(0, verdict, blanks, span{text: l})
			p.atRight(0, clock)
			continue
		}
		p.add(indent, span{text: l})
	}
}

// atRight adds words at the right end of a line if they fit. If lines are not broken, it appends
// them.
func (p *printer) atRight(n int, words string) {
	taken := 0
	for _, s := range p.lines[n] {
		taken += Width(s.text)
	}
	blanks := between
	if p.Width > 0 {
		blanks = p.Width - taken - Width(words)
	}
	if words != "" && blanks >= between {
		p.lines[n] = append(p.lines[n], span{text: strings.Repeat(" ", blanks) + words})
	}
}

// entry writes blocks to the right of the gutter, with the label next to the first line.
func (p *printer) entry(l Label, blocks []Block) {
	if len(blocks) == 0 {
		return
	}
	if p.left.leaves(l, p.Terminal) {
		all := &printer{Terminal: p.Terminal, left: &leftOut{}}
		all.entry(l, blocks)
		all.trim()
		p.left.add(l, len(all.lines))
		return
	}
	if l.tables() {
		for i, b := range blocks {
			if i == 0 || !p.dense {
				p.gap()
			}
			p.block(b, indent)
		}
		p.gap()
		return
	}
	if l == Status {
		p.gap()
	}
	first := len(p.lines)
	for _, b := range blocks {
		p.block(b, gutter)
	}
	if first < len(p.lines) {
		name := l.String()
		p.lines[first][0].text = p.lines[first][0].text[len(name):]
		p.lines[first] = append([]span{{name, Title}}, p.lines[first]...)
	}
}

// leftOut describes what a Screen omits without --all.
type leftOut struct {
	of    [labels]bool
	lines int
	names []string
}

func (m *leftOut) leaves(l Label, t Terminal) bool { return m.of[l] && !t.All }

func (m *leftOut) add(l Label, lines int) {
	m.lines += lines
	name := strings.ToLower(l.String())
	switch l {
	case Other:
		name = "other fixes"
	case Ways:
		name = "ways out"
	case Steps:
		name = "steps"
	case Rules:
		name = "rules"
	case States:
		name = "states"
	case Rests:
		name = "assumptions"
	case Notes:
		name = "notes"
	}
	if !slices.Contains(m.names, name) {
		m.names = append(m.names, name)
	}
}

// text returns a line about what is omitted, or "".
func (m *leftOut) text() Text {
	if m.lines == 0 {
		return ""
	}
	line := "lines"
	if m.lines == 1 {
		line = "line"
	}
	return Text(fmt.Sprintf("--all adds %d %s: %s", m.lines, line, strings.Join(m.names, ", ")))
}

// part writes the entries of a part below its title. Parts without entries are not separated by
// empty lines.
func (p *printer) part(of *part, entries [labels][]Block) {
	said := slices.ContainsFunc(entries[:], func(blocks []Block) bool { return len(blocks) > 0 })
	if said {
		p.gap()
	}
	for i, l := range wrap(words(of.title), p.room(0), 0, indent) {
		p.add(indent*min(1, i), span{l, Title})
	}
	for l, blocks := range entries {
		p.entry(Label(l), blocks)
	}
	if said {
		p.gap()
	}
}

func (p *printer) block(b Block, left int) {
	from := len(p.lines)
	switch b := b.(type) {
	case Text:
		if b != "" {
			p.paragraph(words(string(b)), left)
		}
	case Words:
		p.parts(b, left)
	case Names:
		p.paragraph(b.words(p.Terminal, p.room(left)), left)
	case Command:
		p.command(b, left)
		p.whole = append(p.whole, extent{from, len(p.lines)})
	case Lines:
		for _, l := range b {
			p.add(left, span{Escape(l.Text), l.Tone})
		}
	case Rows:
		for _, line := range b {
			spans := make([]span, len(line))
			for i, l := range line {
				spans[i] = span{Escape(l.Text), l.Tone}
			}
			p.add(left, spans...)
		}
	case Group:
		for _, inner := range b {
			if inner != nil && !inner.empty() {
				p.block(inner, left)
			}
		}
		p.whole = append(p.whole, extent{from, len(p.lines)})
	case Indent:
		for _, inner := range b {
			p.block(inner, left+indent)
		}
	case *Table:
		if b.Flush {
			left = 0
		}
		p.table(b, left)
	}
}

// room returns the number of columns right of left, or 0 if lines are not broken.
func (p *printer) room(left int) int {
	if p.Width <= 0 {
		return 0
	}
	return max(1, p.Width-left)
}

// command writes a command. A line that does not fit is moved to the left. If a line does not fit
// even there, the command is replaced by a note.
func (p *printer) command(c Command, left int) {
	fixed := 0
	if p.Height > 0 {
		fixed = p.Width
	}
	lines := c.lines(p.room(left), fixed)
	needs := left + Width(lines[0]) // the label is in front of the first line
	for _, l := range lines[1:] {
		needs = max(needs, Width(l))
	}
	if fixed > 0 && needs > fixed {
		p.paragraph(words(fmt.Sprintf("(command left out: it needs %d columns)", needs)), left)
		return
	}
	for i, l := range lines {
		p.further(i, left+indent*min(1, i), l)
	}
}

func (p *printer) paragraph(words []string, left int) {
	for i, l := range wrap(words, p.room(left), 0, 0) {
		p.further(i, left, l)
	}
}

// leastIndent is the minimum indentation of a line that is moved to the left.
const leastIndent = 4

// further adds a line. Unless it is the first, next to the label, it is moved to the left if it is
// too wide.
func (p *printer) further(n, left int, text string) {
	least := leastIndent
	if p.Height > 0 {
		least = 0
	}
	if room := p.Width - Width(text); n > 0 && p.Width > 0 && room >= least {
		left = min(left, room)
	}
	p.add(left, span{text: text})
}

// parts writes unbroken phrases. Further lines are aligned with the second phrase if all of them
// fit there.
func (p *printer) parts(of Words, left int) {
	var parts []string
	for _, part := range of {
		parts = append(parts, Clean(part))
	}
	under, room := Width(parts[0])+1, p.room(left)
	if slices.ContainsFunc(parts[1:], func(w string) bool { return under+Width(w) > room }) {
		under = indent
	}
	for i, l := range wrap(parts, room, 0, under) {
		p.add(left+min(i, 1)*under, span{text: l})
	}
}

// table writes a Table. A row is as high as its highest cell.
func (p *printer) table(t *Table, left int) {
	shown, widths := t.fit(p.Terminal, p.room(left))
	line := func(cell func(column int) span) {
		var spans []span
		for n, i := range shown {
			words := cell(i)
			pad := span{text: strings.Repeat(" ", max(0, widths[i]-Width(words.text)))}
			if n > 0 {
				spans = append(spans, span{text: strings.Repeat(" ", between)})
			}
			if t.Columns[i].Right {
				words, pad = pad, words
			}
			spans = append(spans, words, pad)
		}
		p.add(left, spans...)
	}
	if slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Head != "" }) {
		line(func(i int) span { return span{t.Columns[i].Head, Title} })
	}
	for _, r := range t.Rows {
		cells, height := make([][]string, len(t.Columns)), 1
		for _, i := range shown {
			if i < len(r.Cells) {
				cells[i] = r.Cells[i].lines(p.Terminal, widths[i], t.Columns[i].Short)
				height = max(height, len(cells[i]))
			}
		}
		for n := range height {
			if n == 0 && !slices.ContainsFunc(cells, said) {
				break // all cells are below the row
			}
			line(func(i int) span {
				if n < len(cells[i]) {
					return span{cells[i][n], r.Cells[i].Tone}
				}
				return span{}
			})
		}
		for i, column := range t.Columns {
			if column.Under && i < len(r.Cells) && !slices.Contains(shown, i) {
				for _, l := range r.Cells[i].lines(p.Terminal, p.room(left+indent), column.Short) {
					p.add(left+indent, span{l, r.Cells[i].Tone})
				}
			}
		}
		for _, b := range r.Detail {
			p.block(b, left+2*indent)
		}
	}
}

// tones maps tones to colors. They are legible on light and dark backgrounds; dim and white are not
// used.
var tones = map[Tone][]color.Attribute{
	Bad: {color.FgRed, color.Bold}, Warn: {color.FgYellow, color.Bold}, Good: {color.FgGreen, color.Bold},
	Title: {color.Bold},
	Added: {color.FgGreen}, Removed: {color.FgRed},
}

// Paint returns text in the color of a tone, or unchanged if colors are not allowed.
func (t Terminal) Paint(text string, tone Tone) string {
	if !t.Color || text == "" || tone == Plain {
		return text
	}
	c := color.New(tones[tone]...)
	c.EnableColor()
	return c.Sprint(text)
}

// Codes returns the escape sequences that Paint writes before and after a text, for all tones.
var Codes = sync.OnceValue(func() []string {
	var codes []string
	for tone := range tones {
		before, after, _ := strings.Cut(Terminal{Color: true}.Paint("|", tone), "|")
		codes = append(codes, before, after)
	}
	return codes
})
