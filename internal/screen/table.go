package screen

import (
	"cmp"
	"slices"
	"strings"
)

// Table is rows under a head, or without one.
type Table struct {
	Columns []Column
	Rows    []Row
	Flush   bool // at the left margin: the table is the answer
}

// Column is one of a Table. A terminal too narrow for all columns first loses
// those with the highest Drop, then breaks the cells of those that may Wrap. If that
// does not do, the cells of those that are Under stand below their rows.
type Column struct {
	Head  string
	Right bool // numbers
	Wrap  bool
	Short bool // lists of names take one line
	Least int  // how narrow it may become by that; 0: leastWrap
	Drop  int  // 0: never dropped
	Under bool
}

// Row is one of a Table, with what stands under it.
type Row struct {
	Cells  []Cell
	Detail []Block
}

// Cell is a few lines, or names of which a narrow column shows some.
type Cell struct {
	Lines []string
	Names []string
	Tone  Tone
}

// Cells makes cells of a line each.
func Cells(lines ...string) []Cell {
	cells := make([]Cell, len(lines))
	for i, l := range lines {
		cells[i] = Cell{Lines: []string{l}}
	}
	return cells
}

// Row adds a row of cells of a line each, and returns it.
func (t *Table) Row(words ...string) *Row {
	t.Rows = append(t.Rows, Row{Cells: Cells(words...)})
	return &t.Rows[len(t.Rows)-1]
}

func (t *Table) empty() bool { return t == nil || len(t.Rows) == 0 }

const (
	between   = 2  // blanks from column to column
	leastWrap = 12 // a column is not made narrower by breaking its cells, if it does not say
)

// fit returns which columns are shown in so many columns of a terminal, and how
// wide each is. 0 has room for all.
func (t *Table) fit(term Terminal, room int) (shown, widths []int) {
	least := make([]int, len(t.Columns)) // of those that may wrap; the others have their width
	widths = make([]int, len(t.Columns))
	for i, c := range t.Columns {
		widths[i], least[i] = Width(c.Head), max(cmp.Or(c.Least, leastWrap), Width(c.Head))
		for _, r := range t.Rows {
			if i < len(r.Cells) {
				whole, word := r.Cells[i].width(term, c.Short)
				widths[i], least[i] = max(widths[i], whole), max(least[i], word)
			}
		}
		if least[i] = min(widths[i], least[i]); !c.Wrap {
			least[i] = widths[i]
		}
		shown = append(shown, i)
	}
	if room == 0 {
		return shown, widths
	}
	under := slices.DeleteFunc(slices.Clone(shown), func(i int) bool { return t.Columns[i].Under })
	shown = t.drop(shown, least, room)
	if across(shown, least) > room {
		shown = t.drop(under, least, room)
	}
	for across(shown, widths) > room { // the widest gives first
		widest := slices.MaxFunc(shown, func(a, b int) int {
			return cmp.Compare(widths[a]*min(1, widths[a]-least[a]), widths[b]*min(1, widths[b]-least[b]))
		})
		if widths[widest] == least[widest] {
			break
		}
		widths[widest]--
	}
	return shown, widths
}

// drop leaves the columns for which some columns of a terminal have room, and those
// that are never dropped.
func (t *Table) drop(shown, widths []int, room int) []int {
	for across(shown, widths) > room {
		drop := slices.MaxFunc(shown, func(a, b int) int { return cmp.Compare(t.Columns[a].Drop, t.Columns[b].Drop) })
		if t.Columns[drop].Drop == 0 {
			break
		}
		shown = slices.DeleteFunc(shown, func(i int) bool { return i == drop })
	}
	return shown
}

// across is how many columns of a terminal those of a table take.
func across(shown, widths []int) int {
	sum := -between
	for _, i := range shown {
		sum += widths[i] + between
	}
	return sum
}

// said reports whether a cell of some lines says something.
func said(lines []string) bool { return strings.Join(lines, "") != "" }

// width is how wide a cell is when none of its lines is broken, and how wide its
// longest word is, which no line can break.
func (c Cell) width(t Terminal, short bool) (whole, word int) {
	for _, l := range c.lines(t, 0, short) {
		whole = max(whole, Width(l))
		for _, w := range words(l) {
			word = max(word, Width(w))
		}
	}
	return whole, word
}

// lines breaks a cell to so many columns; 0 breaks nothing.
func (c Cell) lines(t Terminal, columns int, short bool) []string {
	var lines []string
	for _, l := range c.Lines {
		lines = append(lines, wrap(words(l), columns, 0, 0)...)
	}
	if most := nameLines; len(c.Names) > 0 {
		if short {
			most = 1
		}
		lines = append(lines, wrap(fold(c.Names, t, columns, nil, most), columns, 0, 0)...)
	}
	return lines
}
