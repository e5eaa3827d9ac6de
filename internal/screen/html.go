package screen

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Page is an HTML file with one or several Screens and their figures. It loads nothing from
// elsewhere.
type Page struct {
	Title   string   // title of the window and, if there are several Screens, the heading
	About   []string // what it was made from and when
	Missing []string // what could not be read
	Footer  string
	Screens []*Screen
}

//go:embed page
var pageFiles embed.FS

var (
	pageTemplate = sync.OnceValue(func() *template.Template {
		return template.Must(template.ParseFS(pageFiles,
			"page/page.gohtml"))
	})
	pageStyle  = pageFile("page/page.css")
	pageScript = pageFile("page/page.js")
	pagePolicy = fmt.Sprintf("default-src 'none'; style-src %s; script-src %s; img-src data:; base-uri 'none'; "+
		"form-action 'none'", pageHash(pageStyle), pageHash(pageScript))
)

func pageFile(name string) string {
	text, err := pageFiles.ReadFile(name)
	if err != nil {
		panic(err) // the file is embedded
	}
	return string(text)
}

// pageHash returns the hash of a text for a Content-Security-Policy.
func pageHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// HTML writes the Page. Texts are escaped.
func (p *Page) HTML(w io.Writer) error {
	page := htmlPage{
		Policy: pagePolicy, Style: template.CSS(pageStyle), Script: template.JS(pageScript),
		Title: Clean(p.Title), Footer: Clean(p.Footer), Several: len(p.Screens) != 1,
	}
	page.About, page.Missing = cleaned(p.About), cleaned(p.Missing)
	b := &htmlBuilder{level: 1}
	if page.Several {
		b.level = 2
	}
	for _, s := range p.Screens {
		page.Screens = append(page.Screens, b.screen(s))
	}
	return pageTemplate().ExecuteTemplate(w, "page", page)
}

// Data of the template. All texts are Clean.
type (
	htmlPage struct {
		Policy, Title, Footer string
		Style                 template.CSS
		Script                template.JS
		About, Missing        []string
		Several               bool
		Screens               []htmlScreen
	}
	htmlScreen struct {
		ID, Tone, Verdict, Subject, Text, Notice string
		Level                                    int
		Colon, Beside                            bool
		Entries                                  []htmlEntry
		Figures                                  []any
	}
	htmlHeading struct {
		ID, Class, Text string
		Level           int
	}
	htmlEntry struct {
		Part    bool
		Heading htmlHeading
		Entries []htmlEntry
		Blocks  []htmlBlock
	}
	htmlBlock struct {
		Text   string
		Words  []string // not broken: names after Text, or a command
		After  string   // text after Words
		Shell  bool     // Words are a command
		Names  []string // all names, if Words are not all
		Lines  []htmlLine
		Table  *htmlTable
		Blocks []htmlBlock
		Indent bool
	}
	htmlLine  struct{ Text, Tone string }
	htmlTable struct {
		ID, Caption, Folded string
		Sorts               bool
		Parts               bool // a row has details or stays at the end when sorted
		Columns             []Column
		Heads               []htmlHead
		Rows                []htmlRow
	}
	htmlHead struct{ Text, Class string }
	htmlRow  struct {
		Last   bool
		Cells  []htmlCell
		Detail []htmlBlock
	}
	htmlCell struct {
		Class  string
		Header bool
		Span   int
		Lines  []string
		Words  []string // names
		Names  []string // all names, if Words are not all
	}
)

// toneClasses maps tones to classes of the style sheet.
var toneClasses = map[Tone]string{Bad: "bad", Warn: "warn", Good: "good", Title: "title", Added: "added",
	Removed: "removed"}

// htmlBuilder builds the data of the template. It assigns unique ids.
type htmlBuilder struct {
	ids     int
	level   int    // heading level of the headlines
	subject string // of the current Screen
	label   string // of the current entry
}

func (b *htmlBuilder) id() string {
	b.ids++
	return "i" + strconv.Itoa(b.ids)
}

func (b *htmlBuilder) heading(below int, class, text string) htmlHeading {
	return htmlHeading{ID: b.id(), Class: class, Text: Clean(text), Level: b.level + below}
}

func (b *htmlBuilder) screen(s *Screen) htmlScreen {
	h := &s.Headline
	b.subject = Clean(h.Subject)
	out := htmlScreen{
		ID: b.id(), Level: b.level, Tone: toneClasses[h.Tone], Verdict: h.Verdict, Subject: b.subject,
		Text: Clean(h.Text), Notice: Clean(s.Notice),
		Colon: h.Subject != "" && h.Text != "",
	}
	cells := 0
	for _, f := range s.figures {
		cells += f.cells()
	}
	out.Beside = len(s.figures) > 0 && cells <= fewCells
	for l, blocks := range s.entries {
		if Label(l) == parting {
			for i := range s.parts {
				out.Entries = append(out.Entries, b.part(&s.parts[i]))
			}
		}
		out.Entries = b.entry(out.Entries, Label(l), blocks, 1)
	}
	for _, f := range s.figures {
		switch f := f.(type) {
		case *Grid:
			out.Figures = append(out.Figures, b.grid(f))
		case *Timeline:
			out.Figures = append(out.Figures, b.timeline(f))
		}
	}
	return out
}

func (b *htmlBuilder) part(p *part) htmlEntry {
	out := htmlEntry{Part: true, Heading: b.heading(1, "", p.title)}
	for l, blocks := range p.entries {
		out.Entries = b.entry(out.Entries, Label(l), blocks, 2)
	}
	return out
}

// entry appends an entry with its label as a heading, below levels under the headline.
func (b *htmlBuilder) entry(to []htmlEntry, l Label, blocks []Block, below int) []htmlEntry {
	if len(blocks) == 0 {
		return to
	}
	b.label = l.String()
	e := htmlEntry{Blocks: b.blocks(blocks)}
	if b.label != "" {
		e.Heading = b.heading(below, "label", b.label)
	}
	return append(to, e)
}

func (b *htmlBuilder) blocks(all []Block) (out []htmlBlock) {
	for _, block := range all {
		if block != nil && !block.empty() {
			out = append(out, b.block(block))
		}
	}
	return out
}

func (b *htmlBuilder) block(block Block) htmlBlock {
	switch block := block.(type) {
	case Words:
		return htmlBlock{Text: Clean(strings.Join(block, " "))}
	case Names:
		before, names, after := block.parts(Terminal{}, 0)
		out := htmlBlock{Text: spaced(before, " "), Words: names, After: spaced(after, "")}
		if len(after) > 0 {
			out.After = " " + out.After
		}
		if len(names) != len(block.Names) {
			out.Names = cleaned(block.Names)
		}
		return out
	case Command:
		return htmlBlock{Words: block.words(0), Shell: true}
	case Lines:
		out := htmlBlock{}
		for _, l := range block {
			out.Lines = append(out.Lines, htmlLine{Escape(l.Text), toneClasses[l.Tone]})
		}
		return out
	case Rows:
		out := htmlBlock{}
		for _, row := range block {
			text := ""
			for _, l := range row {
				text += Escape(l.Text)
			}
			out.Lines = append(out.Lines, htmlLine{Text: text})
		}
		return out
	case Group:
		return htmlBlock{Blocks: b.blocks(block)}
	case Indent:
		return htmlBlock{Blocks: b.blocks(block), Indent: true}
	case *Table:
		return htmlBlock{Table: b.table(block)}
	}
	return htmlBlock{Text: Clean(string(block.(Text)))}
}

// spaced joins words and appends behind, or returns "" if there are none.
func spaced(words []string, behind string) string {
	if len(words) == 0 {
		return ""
	}
	return strings.Join(words, " ") + behind
}

func cleaned(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = Clean(w)
	}
	return out
}

// manyRows is the maximum number of rows of a table that is not folded.
const manyRows = 60

func (b *htmlBuilder) table(t *Table) *htmlTable {
	out := &htmlTable{ID: b.id(), Columns: t.Columns, Sorts: len(t.Rows) > 2}
	var heads []string
	for _, c := range t.Columns {
		h := htmlHead{Text: c.Head}
		if c.Right {
			h.Class = "num"
		}
		if c.Head != "" {
			heads = append(heads, c.Head)
		}
		out.Heads = append(out.Heads, h)
	}
	if len(heads) == 0 {
		out.Heads, out.Sorts, heads = nil, false, []string{b.label}
	}
	out.Caption = strings.Join(append([]string{b.subject}, heads...), ", ")
	if len(t.Rows) > manyRows && !t.Flush {
		out.Folded = fmt.Sprintf("%s: %d rows", heads[0], len(t.Rows))
	}
	for _, r := range t.Rows {
		row := htmlRow{Detail: b.blocks(r.Detail), Last: len(r.Cells) < len(t.Columns)}
		out.Parts = out.Parts || len(row.Detail) > 0 || row.Last
		for i, c := range r.Cells {
			if i < len(t.Columns) {
				row.Cells = append(row.Cells, b.cell(t, i, c))
			}
		}
		if n := len(row.Cells); n > 0 {
			row.Cells[n-1].Span = 1 + len(t.Columns) - n
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

func (b *htmlBuilder) cell(t *Table, column int, c Cell) htmlCell {
	of := t.Columns[column]
	out := htmlCell{Header: column == 0, Span: 1, Class: toneClasses[c.Tone],
		Lines: Cell{Lines: c.Lines}.lines(Terminal{}, 0, false)}
	classes := []string{out.Class}
	if of.Right {
		classes = append(classes, "num")
	}
	if out.Header && of.Wrap {
		classes = append(classes, "wrap")
	}
	out.Class = strings.Join(slices.DeleteFunc(classes, func(class string) bool { return class == "" }), " ")
	if len(c.Names) > 0 {
		most := nameLines
		if of.Short {
			most = 1
		}
		if out.Words = fold(c.Names, Terminal{}, 0, nil, most); len(out.Words) != len(c.Names) {
			out.Names = cleaned(c.Names)
		}
	}
	return out
}

// Figures with up to fewCells cells are shown next to the text, and others below it with smaller
// cells. Figures with up to namedCells cells show the name of each cell.
const (
	fewCells   = 400
	namedCells = 60
)

type (
	htmlGrid struct {
		Grid    bool
		Class   string
		Heading htmlHeading
		Note    string
		Kinds   []htmlKind
		Groups  []htmlGroup
		Table   *htmlTable
	}
	htmlKind struct {
		Kind
		Count string
	}
	htmlGroup struct {
		Heading htmlHeading
		Words   string
		Cells   []htmlGridCell
	}
	htmlGridCell struct {
		Shade             Shade
		Sign, Name, Words string
	}
)

func (b *htmlBuilder) grid(g *Grid) htmlGrid {
	out := htmlGrid{Grid: true, Heading: b.heading(1, "", g.Title), Note: Clean(g.Note)}
	switch n := g.cells(); {
	case n > fewCells:
		out.Class = "small"
	case n <= namedCells:
		out.Class = "named"
	}
	count := make([]int, len(g.Kinds))
	for _, group := range g.Groups {
		to := htmlGroup{Words: Clean(group.Words)}
		if group.Name != "" {
			to.Heading = b.heading(2, "", group.Name)
		}
		for _, c := range group.Cells {
			k := g.Kinds[c.Kind]
			count[c.Kind]++
			cell := htmlGridCell{Shade: k.Shade, Sign: k.Sign, Words: Clean(c.Name + ": " + c.Words)}
			if out.Class == "named" {
				cell.Name, cell.Words = Clean(c.Name), Clean(c.Words)
			}
			to.Cells = append(to.Cells, cell)
		}
		out.Groups = append(out.Groups, to)
	}
	for i, k := range g.Kinds {
		k.Words = Clean(k.Words)
		out.Kinds = append(out.Kinds, htmlKind{k, strconv.Itoa(count[i])})
	}
	if b.label = g.Title; !g.Table.empty() {
		out.Table = b.table(g.Table)
		out.Table.Folded = g.Title + ", as a table"
	}
	return out
}

type (
	htmlTimeline struct {
		Grid          bool
		Heading       htmlHeading
		Note          string
		Described     string
		Width, Height int
		Lanes         []htmlLane
		Ticks         []htmlMark
		Table         *htmlTable
	}
	htmlLane struct {
		Title            string
		TitleY           int
		Shade            Shade
		Area, Edge, Axis string
		Limit, Now       string
		Marks            []htmlMark
	}
	htmlMark struct {
		X, Y                string
		Anchor, Class, Text string
	}
)

// Layout of a timeline, in units that scale with the width of the page.
const (
	lineWidth  = 360
	lineLeft   = 38 // left margin, for numbers
	laneTitle  = 16
	laneHeight = 56
	laneGap    = 18
)

func (b *htmlBuilder) timeline(t *Timeline) htmlTimeline {
	out := htmlTimeline{Heading: b.heading(1, "", t.Title), Note: Clean(t.Note), Described: b.id(), Width: lineWidth}
	x := func(at float64) float64 {
		return lineLeft + (lineWidth-lineLeft-2)*(min(max(at, t.From), t.To)-t.From)/(t.To-t.From)
	}
	top := 0
	for _, l := range t.Lanes {
		zero := float64(top + laneTitle + laneHeight)
		y := func(n int) float64 { return zero - laneHeight*float64(n)/float64(max(1, l.Top)) }
		lane := htmlLane{Title: Clean(l.Title), TitleY: top + 11, Shade: l.Shade,
			Axis: fmt.Sprintf("M%d %.1fH%d", lineLeft, zero, lineWidth)}
		lane.Edge, lane.Area = stairs(l, x, y, zero)
		mark, below := l.Top, 8. // the number that shows the scale of the lane
		if l.Limit > 0 && l.Limit <= l.Top {
			lane.Limit = fmt.Sprintf("M%d %.1fH%d", lineLeft, y(l.Limit), lineWidth)
			if 4*l.Limit > l.Top { // otherwise it would cover the 0
				mark, below = l.Limit, 4
			}
		}
		lane.Marks = []htmlMark{at(lineLeft-4, zero, "end", "", "0"),
			at(lineLeft-4, y(mark)+below, "end", "", strconv.Itoa(mark))}
		if lane.Limit != "" {
			lane.Marks = append(lane.Marks, at(lineWidth, float64(top+11), "end", "limits", l.Words))
		}
		if t.From < t.Now && t.Now < t.To {
			lane.Now = fmt.Sprintf("M%.1f %.1fV%d", x(t.Now), zero, top+laneTitle)
		}
		out.Lanes = append(out.Lanes, lane)
		top = int(zero) + laneGap
	}
	for _, k := range t.Ticks {
		anchor := "middle"
		if px := x(k.At); px > lineWidth-24 {
			anchor = "end"
		} else if px < lineLeft+16 {
			anchor = "start"
		}
		out.Ticks = append(out.Ticks, at(x(k.At), float64(top-laneGap+14), anchor, "", k.Name))
	}
	out.Height = top - laneGap + 20
	if b.label = t.Title; !t.Table.empty() {
		out.Table = b.table(t.Table)
		out.Table.Folded = t.Title + ", as a table"
	}
	return out
}

func at(x, y float64, anchor, class, text string) htmlMark {
	return htmlMark{fmt.Sprintf("%.1f", x), fmt.Sprintf("%.1f", y), anchor, class, Clean(text)}
}

// stairs returns the line of a lane's steps and the area below it, as SVG paths.
func stairs(l Lane, x func(float64) float64, y func(int) float64, zero float64) (edge, area string) {
	if len(l.Steps) == 0 {
		return "", ""
	}
	var b strings.Builder
	first := l.Steps[0]
	fmt.Fprintf(&b, "M%.1f %.1f", x(first.At), y(first.Value))
	for i, s := range l.Steps[1:] {
		if s.Value != l.Steps[i].Value {
			fmt.Fprintf(&b, "H%.1fV%.1f", x(s.At), y(s.Value))
		}
	}
	fmt.Fprintf(&b, "H%.1f", x(l.Until))
	return b.String(), fmt.Sprintf("%sV%.1fH%.1fZ", b.String(), zero, x(first.At))
}
