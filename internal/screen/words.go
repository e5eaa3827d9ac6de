package screen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"
)

// Width returns the number of terminal columns of a text.
func Width(text string) int { return runewidth.StringWidth(text) }

// Cut returns text shortened to columns, with an ellipsis if something is missing.
func Cut(text string, columns int) string { return runewidth.Truncate(text, columns, "…") }

// words returns the words of a text, cleaned. A number belongs to the word before it, as in
// "revision 7".
func words(text string) []string {
	var out []string
	joined := false // the last word ends with a number
	for _, w := range strings.Fields(Clean(text)) {
		if n := len(out) - 1; n >= 0 && !joined && w[0] >= '0' && w[0] <= '9' {
			out[n] += " " + w
			joined = true
			continue
		}
		out, joined = append(out, w), false
	}
	return out
}

// layout tracks the position in a paragraph.
type layout struct {
	columns int // width of a line; 0: lines are not broken
	lines   int
	at      int
	empty   bool // nothing is on the line yet
}

// put advances by a word and reports whether the word begins a new line.
func (l *layout) put(word string) (begins bool) {
	w := Width(word)
	switch {
	case l.empty:
		l.at, l.empty = l.at+w, false
		return false
	case l.columns > 0 && l.at+1+w > l.columns:
		l.lines, l.at = l.lines+1, w
		return true
	}
	l.at += 1 + w
	return false
}

// wrap joins words into lines of at most columns. taken columns of the first line are in use, and
// the other lines have less columns fewer. If columns is 0, it returns one line. A word that is too
// long is not broken.
func wrap(words []string, columns, taken, less int) []string {
	at := layout{columns: columns, at: taken, empty: taken == 0}
	lines := []string{""}
	for _, w := range words {
		if at.put(w) {
			lines, at.at = append(lines, w), at.at+less
			continue
		}
		last := &lines[len(lines)-1]
		if *last != "" {
			*last += " "
		}
		*last += w
	}
	return lines
}

const (
	nameLines = 3   // maximum number of lines with names
	unbroken  = 100 // assumed width if lines are not broken
)

// words returns the words of the paragraph, with as many names as fit but at least one.
func (n Names) words(t Terminal, columns int) []string {
	before, names, after := n.parts(t, columns)
	return slices.Concat(before, names, after)
}

// parts returns these words in three parts: before the names, the names, and after them.
func (n Names) parts(t Terminal, columns int) (before, names, after []string) {
	before, after = words(n.Before), words(n.After)
	most := nameLines
	if n.Short {
		most = 2 // the rest of the current line and one more
	}
	last := &before
	if len(n.Names) > 0 {
		names = fold(n.Names, t, columns, before, most)
		last = &names
	}
	if len(*last) > 0 && len(after) > 0 && !strings.HasPrefix(n.After, " ") { // join "a, b" and "; c"
		(*last)[len(*last)-1] += after[0]
		after = after[1:]
	}
	return before, names, after
}

// fold returns the names as words, shortened if they would take more than most lines. before are
// the words in front of them.
func fold(names []string, t Terminal, columns int, before []string, most int) []string {
	if columns == 0 {
		columns = unbroken
	}
	at := layout{columns: columns, lines: 1, empty: true}
	for _, w := range before {
		at.put(w)
	}
	limit := at.lines - 1 + most
	var list []string
	best := 1
	for i, name := range names {
		name = Clean(name)
		if i < len(names)-1 {
			name += ","
		}
		list = append(list, name)
		if at.put(name); t.All {
			continue
		}
		if at.lines > limit {
			break
		}
		with := at // the number of the others must fit, too
		with.put(more(len(names) - i - 1))
		if i == len(names)-1 || with.lines <= limit {
			best = i + 1
		}
	}
	if t.All || best == len(names) {
		return list
	}
	list = list[:best]
	list[best-1] = strings.TrimSuffix(list[best-1], ",")
	return append(list, more(len(names)-best))
}

// more returns one word, which wrap does not break.
func more(n int) string { return fmt.Sprintf("+%d more", n) }
