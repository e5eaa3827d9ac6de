package screen

import (
	"cmp"
	"slices"
	"strings"
)

// Table is a block of rows with an optional head.
type Table struct {
	Columns []Column
	Rows    []Row
	Flush   bool // at the left margin, for a table that is the whole answer
}

// Column is a column of a Table. If the terminal is too narrow, columns are dropped by descending
// Drop, then cells of columns with Wrap are broken. If this is not enough, cells of columns with
// Under are shown below their rows.
type Column struct {
	Head  string
	Right bool // right-aligned, for numbers
	Wrap  bool
	Short bool // lists of names take one line
	Least int  // minimum width with Wrap; 0: leastWrap
	Drop  int  // 0: never dropped
	Under bool
}

// Row is a row of a Table. Detail is shown below it.
type Row struct {
	Cells  []Cell
	Detail []Block
}

// Cell holds lines, or names. A narrow column shows only some of the names.
type Cell struct {
	Lines []string
	Names []string
	Tone  Tone
}

// Cells returns cells with one line each.
func Cells(lines ...string) []Cell {
	cells := make([]Cell, len(lines))
	for i, l := range lines {
		cells[i] = Cell{Lines: []string{l}}
	}
	return cells
}

// Row adds a row of cells with one line each and returns it.
func (t *Table) Row(words ...string) *Row {
	t.Rows = append(t.Rows, Row{Cells: Cells(words...)})
	return &t.Rows[len(t.Rows)-1]
}

func (t *Table) empty() bool { return t == nil || len(t.Rows) == 0 }

const (
	between   = 2  // blanks between columns
	leastWrap = 12 // default minimum width of a column with Wrap
)

// fit returns the columns to show in a width of room, and the width of each. If room is 0, all
// columns fit.
func (t *Table) fit(term Terminal, room int) (shown, widths []int) {
	least := make([]int, len(t.Columns)) // minimum widths
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
	for across(shown, widths) > room { // the widest column shrinks first
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

// drop removes droppable columns until the others fit in room.
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

// across returns the total width of the columns.
func across(shown, widths []int) int {
	sum := -between
	for _, i := range shown {
		sum += widths[i] + between
	}
	return sum
}

// said reports whether any line of a cell is not empty.
func said(lines []string) bool { return strings.Join(lines, "") != "" }

// width returns the width of a cell with unbroken lines, and that of its longest word.
func (c Cell) width(t Terminal, short bool) (whole, word int) {
	for _, l := range c.lines(t, 0, short) {
		whole = max(whole, Width(l))
		for _, w := range words(l) {
			word = max(word, Width(w))
		}
	}
	return whole, word
}

// lines returns the lines of a cell, broken at columns. If columns is 0, they are not broken.
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
