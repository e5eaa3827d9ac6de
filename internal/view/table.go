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
	widths := t.widths()
	right := make([]bool, len(t.head))
	head := make([]string, len(t.head))
	for i, h := range t.head {
		head[i], right[i] = strings.CutPrefix(h, " ")
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

// widths returns how wide each column is: as its head, or as its widest cell.
func (t *table) widths() []int {
	widths := make([]int, len(t.head))
	for i, h := range t.head {
		widths[i] = width(strings.TrimPrefix(h, " "))
	}
	for _, r := range t.rows {
		for i, c := range r {
			if i < len(widths) {
				widths[i] = max(widths[i], width(c))
			}
		}
	}
	return widths
}

// rows adds a table. A last column of words is cut where the terminal ends, but
// not to less than its head, and not with -o wide or --all. Nothing before it is
// cut: names are to be pasted, and numbers were asked for. So a line may be
// longer than the terminal.
func (s *lineScreen) rows(t *table) {
	last := len(t.head) - 1
	words := !strings.HasPrefix(t.head[last], " ")
	least := width(t.head[last])
	for _, w := range t.widths()[:last] {
		least += w + 2
	}
	style := s.Style
	style.Width = max(style.Width, least)
	for _, l := range t.lines(s.Style) {
		if words && s.Width > 0 && !s.Wide {
			l = style.cut(l)
		}
		s.whole(l)
	}
}
