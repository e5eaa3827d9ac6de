package screen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"
)

// Width is how many columns of a terminal a text takes.
func Width(text string) int { return runewidth.StringWidth(text) }

// Cut returns what of a text takes so many columns, with a mark where something is left out.
func Cut(text string, columns int) string { return runewidth.Truncate(text, columns, "…") }

// words splits a text at its blanks, without what a terminal would obey. A number
// stays with the word before it: revision 7.
func words(text string) []string {
	var out []string
	joined := false // the last word has a number behind it
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

// layout is where a paragraph stands that is broken into lines of some columns.
type layout struct {
	columns int // 0: never broken
	lines   int
	at      int
	empty   bool // nothing stands on it yet
}

// put moves on by a word, and reports whether it begins a line.
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

// wrap joins words to lines of so many columns, of which the first has some
// taken, and the others some less; 0 columns never break. A word that is too
// long stays whole.
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
	nameLines = 3   // lines of names, before there are only how many more
	unbroken  = 100 // columns of such a line where none is broken
)

// words are those of a paragraph with as many names as its lines hold, at least
// one.
func (n Names) words(t Terminal, columns int) []string {
	before, names, after := n.parts(t, columns)
	return slices.Concat(before, names, after)
}

// parts are those words: before the names, the names, and after them.
func (n Names) parts(t Terminal, columns int) (before, names, after []string) {
	before, after = words(n.Before), words(n.After)
	most := nameLines
	if n.Short {
		most = 2 // the rest of this one, and one more
	}
	last := &before
	if len(n.Names) > 0 {
		names = fold(n.Names, t, columns, before, most)
		last = &names
	}
	if len(*last) > 0 && len(after) > 0 && !strings.HasPrefix(n.After, " ") { // "a, b" and "; c"
		(*last)[len(*last)-1] += after[0]
		after = after[1:]
	}
	return before, names, after
}

// fold returns the words of a list of names behind some others, shortened where
// it takes more than so many lines.
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
		with := at // with how many more, it must still fit
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

// more is one word, so that it is not broken.
func more(n int) string { return fmt.Sprintf("+%d more", n) }
