package view

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// replacement is some lines of the old text, which may be none, and the lines
// that the new one has in their place. Any parts without a line end are lines.
type replacement struct {
	from, to int // the first line, and the one behind the last, counted from 0
	with     []string
}

// replacements returns what makes the new lines of the old ones, in order. The
// library knows that well; it miscounts only when it writes it down.
func replacements(old, new []string) []replacement {
	joined := func(lines []string) (text string, at map[int]int) { // and which line begins where
		var b strings.Builder
		at = map[int]int{0: 0}
		for i, l := range lines {
			b.WriteString(l + "\n")
			at[b.Len()] = i + 1
		}
		return b.String(), at
	}
	before, at := joined(old)
	after, _ := joined(new)
	var out []replacement
	grown := 0 // by how many lines the new text is ahead
	for _, e := range udiff.Lines(before, after) {
		from, to := at[e.Start], at[e.End]
		begin := from + grown
		end := begin
		for n := 0; n < len(e.New); end++ {
			n += len(new[end]) + 1
		}
		out = append(out, replacement{from, to, new[begin:end]})
		grown = end - to
	}
	return out
}

// unified returns the lines of what diff -u writes below the names of its files.
func unified(old, new []string) []string {
	const around = 3 // equal lines before and behind what changes
	all := replacements(old, new)
	var out []string
	shift := 0 // by how many lines the new text is ahead
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].from-all[n-1].to <= 2*around {
			n++
		}
		from, to := max(0, all[0].from-around), min(len(old), all[n-1].to+around)
		var body []string
		add := func(sign string, lines []string) {
			for _, l := range lines {
				body = append(body, sign+l)
			}
		}
		at, grown := from, 0
		for _, r := range all[:n] {
			add(" ", old[at:r.from])
			add("-", old[r.from:r.to])
			add("+", r.with)
			at, grown = r.to, grown+len(r.with)-(r.to-r.from)
		}
		add(" ", old[at:to])
		out = append(out, fmt.Sprintf("@@ -%s +%s @@", lineRange(from, to-from), lineRange(from+shift, to-from+grown)))
		out = append(out, body...)
		shift += grown
		all = all[n:]
	}
	return out
}

// lineRange is so many lines behind a number of them, as the header of a hunk has
// it: one goes without its number, and none are behind the line that is named.
func lineRange(behind, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", behind)
	case 1:
		return fmt.Sprint(behind + 1)
	}
	return fmt.Sprintf("%d,%d", behind+1, n)
}
