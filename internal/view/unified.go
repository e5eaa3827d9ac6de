package view

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// replacement is some lines of the old text, which may be none, and the lines
// that the new one has in their place.
type replacement struct {
	from, to int // the first line, and the one behind the last, counted from 0
	with     []string
}

// replacements returns what makes the new text of the old one, in order. The
// library knows that well; it miscounts only when it writes it down.
func replacements(before, after string) []replacement {
	var out []replacement
	at, line := 0, 0
	for _, e := range udiff.Lines(before, after) {
		from := line + strings.Count(before[at:e.Start], "\n")
		line = from + strings.Count(before[e.Start:e.End], "\n")
		at = e.End
		out = append(out, replacement{from, line, linesOf(e.New)})
	}
	return out
}

// linesOf returns the lines of a text that ends with a line end, or is empty.
func linesOf(text string) []string {
	return strings.Split(text, "\n")[:strings.Count(text, "\n")]
}

// unified returns the lines of what diff -u writes below the names of its files,
// for two texts that end with a line end, or are empty.
func unified(before, after string) []string {
	const around = 3 // equal lines before and behind what changes
	old, all := linesOf(before), replacements(before, after)
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
