package view

import (
	"strings"
)

// table writes cells in columns. Columns whose head begins with a blank hold
// numbers and are set to the right; the blank is dropped.
type table struct {
	head []string
	rows [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// lines returns the rows, the head first, with two blanks between columns and
// none at the end.
func (t *table) lines(s Style) []string {
	widths := make([]int, len(t.head))
	right := make([]bool, len(t.head))
	head := make([]string, len(t.head))
	for i, h := range t.head {
		head[i], right[i] = strings.CutPrefix(h, " ")
		widths[i] = width(head[i])
	}
	for _, r := range t.rows {
		for i, c := range r {
			if i < len(widths) {
				widths[i] = max(widths[i], width(c))
			}
		}
	}
	var out []string
	for n, r := range append([][]string{head}, t.rows...) {
		var b strings.Builder
		for i, c := range r {
			switch {
			case i > 0 && i < len(head) && head[i] == "": // a note beside the numbers, which just fits 80 columns
				b.WriteString(" ")
			case i > 0:
				b.WriteString("  ")
			}
			pad := ""
			if i < len(widths) {
				pad = strings.Repeat(" ", widths[i]-width(c))
			}
			if n == 0 {
				c = s.title(c)
			}
			if i < len(right) && right[i] {
				b.WriteString(pad + c)
			} else {
				b.WriteString(c + pad)
			}
		}
		out = append(out, strings.TrimRight(b.String(), " "))
	}
	return out
}
