package screen

import (
	"io"
	"strings"
	"sync"

	"github.com/fatih/color"
)

// Terminal is what is known of the place where text goes.
type Terminal struct {
	Width int  // columns; 0: not a terminal, so no line is broken
	Color bool // colour is allowed
	All   bool // no list of names is shortened
}

const (
	gutter = 10 // columns of the labels
	indent = 2
)

// Text writes a Screen for a terminal.
func (s *Screen) Text(w io.Writer, t Terminal) error {
	p := &printer{Terminal: t}
	p.headline(&s.Headline)
	p.block(Text(s.Notice), 0)
	p.gap()
	for l, blocks := range s.entries {
		switch l := Label(l); {
		case len(blocks) == 0:
		case l == Body:
			for _, b := range blocks {
				p.gap()
				p.block(b, indent)
			}
			p.gap()
		default:
			if l == Status {
				p.gap()
			}
			p.entry(l, blocks)
		}
	}
	_, err := io.WriteString(w, strings.TrimRight(strings.Join(p.lines, "\n"), "\n")+"\n")
	return err
}

// Text writes lines without a margin, and with the blanks at their ends: a diff,
// which is piped into patch.
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
	lines []string
}

func (p *printer) add(left int, text string, tone Tone) {
	if text = strings.TrimRight(text, " "); text != "" {
		text = strings.Repeat(" ", left) + p.Paint(text, tone)
	}
	p.lines = append(p.lines, text)
}

// gap leaves an empty line, but never two.
func (p *printer) gap() {
	if n := len(p.lines); n > 0 && p.lines[n-1] != "" {
		p.lines = append(p.lines, "")
	}
}

// headline writes the verdict in its colour, and the rest behind it.
func (p *printer) headline(h *Headline) {
	subject := Clean(h.Subject)
	if subject != "" && h.Text != "" {
		subject += ":"
	}
	verdict, taken := "", 0
	if h.Verdict != "" {
		verdict, taken = p.Paint(h.Verdict, h.Tone)+strings.Repeat(" ", between), width(h.Verdict)+between-1
	}
	for i, l := range wrap(words(subject+" "+h.Text), p.Width, taken, indent) {
		if i == 0 {
			p.add(0, verdict+l, Plain)
			continue
		}
		p.add(indent, l, Plain)
	}
}

// entry writes blocks to the right of the gutter, and their label beside the
// first line.
func (p *printer) entry(l Label, blocks []Block) {
	first := len(p.lines)
	for _, b := range blocks {
		p.block(b, gutter)
	}
	if first < len(p.lines) {
		name := l.String()
		p.lines[first] = p.Paint(name, Title) + p.lines[first][len(name):]
	}
}

func (p *printer) block(b Block, left int) {
	switch b := b.(type) {
	case Text:
		if b != "" {
			p.paragraph(words(string(b)), left)
		}
	case Words:
		p.paragraph(b.clean(), left)
	case Names:
		p.paragraph(b.words(p.Terminal, p.room(left)), left)
	case Command:
		for _, l := range b.lines(p.room(left)) {
			p.add(left, l, Plain)
		}
	case Lines:
		for _, l := range b {
			p.add(left, Escape(l.Text), l.Tone)
		}
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

// room is how many columns are left of a line; 0 where lines are not broken.
func (p *printer) room(left int) int {
	if p.Width <= 0 {
		return 0
	}
	return max(1, p.Width-left)
}

func (p *printer) paragraph(words []string, left int) {
	for _, l := range wrap(words, p.room(left), 0, 0) {
		p.add(left, l, Plain)
	}
}

// table writes rows, each as high as its highest cell.
func (p *printer) table(t *Table, left int) {
	shown, widths := t.fit(p.Terminal, p.room(left))
	line := func(cell func(column int) (text string, tone Tone)) {
		var b strings.Builder
		for n, i := range shown {
			text, tone := cell(i)
			pad := strings.Repeat(" ", max(0, widths[i]-width(text)))
			if n > 0 {
				b.WriteString(strings.Repeat(" ", between))
			}
			if text = p.Paint(text, tone); t.Columns[i].Right {
				text = pad + text
			} else {
				text += pad
			}
			b.WriteString(text)
		}
		p.add(left, b.String(), Plain)
	}
	if t.hasHead() {
		line(func(i int) (string, Tone) { return t.Columns[i].Head, Title })
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
			line(func(i int) (string, Tone) {
				if n < len(cells[i]) {
					return cells[i][n], r.Cells[i].Tone
				}
				return "", Plain
			})
		}
		for _, b := range r.Detail {
			p.block(b, left+2*indent)
		}
	}
}

// tones are the colours. ANSI's first eight are legible on light and dark
// grounds; dim and white are not used.
var tones = map[Tone][]color.Attribute{
	Bad: {color.FgRed, color.Bold}, Warn: {color.FgYellow, color.Bold}, Good: {color.FgGreen, color.Bold}, Title: {color.Bold},
	Added: {color.FgGreen}, Removed: {color.FgRed},
}

// Paint writes a text in the colour of a tone, where colour is allowed.
func (t Terminal) Paint(text string, tone Tone) string {
	if !t.Color || text == "" || tone == Plain {
		return text
	}
	c := color.New(tones[tone]...)
	c.EnableColor()
	return c.Sprint(text)
}

// Codes returns what Paint writes before a text and behind it, for every tone.
var Codes = sync.OnceValue(func() []string {
	var codes []string
	for tone := range tones {
		before, after, _ := strings.Cut(Terminal{Color: true}.Paint("|", tone), "|")
		codes = append(codes, before, after)
	}
	return codes
})
