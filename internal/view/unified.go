package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// hunks returns how the new lines differ from the old ones, with so many equal
// lines around. What they hold and where they begin in the old text is right; where
// they begin in the new one, the library miscounts. Any parts without a line end are
// lines.
func hunks(old, new []string, around int) []*udiff.Hunk {
	text := func(lines []string) string { return strings.Join(append(slices.Clip(lines), ""), "\n") }
	before := text(old)
	diff, err := udiff.ToUnifiedDiff("", "", before, udiff.Lines(before, text(new)), around)
	if err != nil {
		panic(err) // its own edits fit
	}
	return diff.Hunks
}

// unified returns the lines of what diff -u writes below the names of its files.
func unified(old, new []string) (lines []string) {
	signs := map[udiff.OpKind]string{udiff.Insert: "+", udiff.Equal: " "}
	ahead := 0 // by how many lines the new text is
	for _, h := range hunks(old, new, 3) {
		n, body := map[udiff.OpKind]int{}, []string{}
		for _, l := range h.Lines {
			n[l.Kind]++
			body = append(body, cmp.Or(signs[l.Kind], "-")+l.Content[:len(l.Content)-1])
		}
		before, after := len(body)-n[udiff.Insert], n[udiff.Equal]+n[udiff.Insert]
		lines = append(append(lines, fmt.Sprintf("@@ -%s +%s @@", lineRange(h.FromLine, before), lineRange(h.FromLine+ahead, after))), body...)
		ahead += after - before
	}
	return lines
}

// lineRange is so many lines from a number on, as the header of a hunk has it: one
// goes without its number, and none are behind the line that is named.
func lineRange(from, n int) string {
	if n == 1 {
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d,%d", from-max(0, 1-n), n)
}
