package difftext

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/aymanbagabas/go-udiff"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// If the two values of a field are short, or Style.All is set, both are shown completely. Otherwise, each is split into
// the members of a list or the words of a text, and "…" replaces the common parts.

const (
	elided = "…"
	Room   = 70 // the maximum length of a complete value, or of a complete part of one
	Head   = 45 // the length of the beginning of a longer value that is shown,
	tail   = 24 // and of its end or its different part
)

// apart returns two different values, shortened to their differences. The two results never look the same.
func (s Style) apart(old, new template.Value) (before, after string) {
	before, after = distinctPair(old, new)
	if old.List() != nil && new.List() != nil && !s.fits(before, after) {
		return s.twoLists(old, new)
	}
	return s.twoTexts(before, after)
}

func (s Style) fits(texts ...string) bool {
	return s.All || !slices.ContainsFunc(texts, func(t string) bool { return screen.Width(t) > Room })
}

// twoLists is apart for lists.
func (s Style) twoLists(old, new template.Value) (before, after string) {
	how := AsJSONText
	if alike(Written(old, how), Written(new, how)) {
		how = AsASCII
	}
	before, after = s.shortenPair(membersIn(old.List(), how), membersIn(new.List(), how), ", ")
	return "[" + before + "]", "[" + after + "]"
}

// twoTexts is apart for texts that are already formatted.
func (s Style) twoTexts(old, new string) (before, after string) {
	if s.fits(old, new) {
		return old, new
	}
	if a, b := strings.Split(old, " "), strings.Split(new, " "); len(a)+len(b) > 2 {
		return s.shortenPair(a, b, " ")
	}
	return cutWords(old, new)
}

// shortenPair returns the different parts of two lists.
func (s Style) shortenPair(old, new []string, joiner string) (before, after string) {
	before, after = strings.Join(old, joiner), strings.Join(new, joiner)
	if s.fits(before, after) {
		return before, after
	}
	from, to := s.changedParts(old, new, joiner, false)
	if alike(from, to) { // a part has moved
		from, to = s.changedParts(old, new, joiner, true)
	}
	switch {
	case len(old) > 0 && s.fits(before):
		return before, to
	case len(new) > 0 && s.fits(after):
		return from, after
	}
	return from, to
}

// isFlag reports whether an argument, in JSON, is a flag. The next argument may be its value.
func isFlag(argument string) bool { return len(argument) > 2 && argument[:2] == `"-` }

// changedParts joins the parts that differ. A word follows the word before it, and an argument follows its flag. If
// near is set, every part follows its predecessor.
func (s Style) changedParts(old, new []string, joiner string, near bool) (before, after string) {
	const most = 6 // maximum number of different parts
	from, to := map[int]string{}, map[int]string{}
	n, ahead := 0, 0 // number of parts by which the new list is longer at this point
	for _, h := range Hunks(old, new, 0) {
		var was, is []string
		for _, l := range h.Lines {
			if part := l.Content[:len(l.Content)-1]; l.Kind == udiff.Insert {
				is = append(is, part)
			} else {
				was = append(was, part)
			}
		}
		at := h.FromLine - 1
		if at > 0 && n < most && (near || joiner == " " || isFlag(old[at-1]) &&
			!slices.ContainsFunc(slices.Concat(was, is), isFlag)) {
			from[at-1] = s.shorten(old[at-1])
			to[at+ahead-1] = from[at-1]
		}
		for i := range max(len(was), len(is)) {
			switch n++; {
			case n > most:
			case i >= len(is):
				from[at+i] = s.shorten(was[i])
			case i >= len(was):
				to[at+ahead+i] = s.shorten(is[i])
			default:
				from[at+i], to[at+ahead+i] = s.twoTexts(was[i], is[i])
			}
		}
		ahead += len(is) - len(was)
	}
	shown := func(all []string, some map[int]string) string { // replaces all other parts with "…"
		var out []string
		for i := range all {
			if part, isShown := some[i]; isShown {
				out = append(out, part)
			} else if len(out) == 0 || out[len(out)-1] != elided {
				out = append(out, elided)
			}
		}
		return strings.Join(out, joiner)
	}
	before, after = shown(old, from), shown(new, to)
	if n > most {
		after += fmt.Sprintf(" (+%d more, with --all)", n-most)
	}
	return before, after
}

// cutWords shortens two long words to their beginnings and the text around their first difference.
func cutWords(old, new string) (before, after string) {
	const around = 8
	a, b := []rune(old), []rune(new)
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	cut := func(of []rune) string {
		words, begin, end := "", 0, min(max(same, Head)+tail, len(of))
		if same-around > Head {
			words, begin = string(of[:Head])+elided, same-around
		}
		switch {
		case len(of) <= Room:
			return string(of)
		case end < len(of):
			return words + string(of[begin:end]) + elided
		}
		return words + string(of[begin:])
	}
	return cut(a), cut(b)
}

// shorten removes the middle of a single value.
func (s Style) shorten(text string) string {
	if r := []rune(text); !s.fits(text) && len(r) > Head+tail {
		return string(r[:Head]) + elided + string(r[len(r)-tail:])
	}
	return text
}

// membersIn formats the members of a list.
func membersIn(list []template.Value, how writing) (out []string) {
	for _, m := range list {
		out = append(out, Written(m, how))
	}
	return out
}

// writing is a way to format a value.
type writing int

const (
	asRead     writing = iota // without quotes, if all of the text is visible
	AsJSONText                // with quotes, and with escapes for invisible characters
	AsASCII                   // with escapes also for characters that may look like others
)

// Written formats a value.
func Written(v template.Value, how writing) string {
	if text, isText := v.Text(); isText && how == asRead && isSeen(text) {
		return text
	}
	return escapedJSON(v.String(), how == AsASCII)
}

// distinctPair formats two complete values. Different values look different.
func distinctPair(old, new template.Value) (before, after string) {
	one, isText := old.Text()
	other, areTexts := new.Text()
	for how := asRead; how <= AsASCII; how++ {
		before, after = Written(old, how), Written(new, how)
		mixed := how == asRead && isText && areTexts && one != "" && other != "" && isSeen(one) != isSeen(other)
		if !mixed && !alike(before, after) || old.Equal(new) {
			break
		}
	}
	return before, after
}

// isSeen reports whether all of a text is visible and the text does not look like JSON.
func isSeen(text string) bool {
	return text != "" && text == screen.Clean(text) && text[0] != '"' && !strings.Contains(text, `\u`) &&
		!strings.ContainsFunc(text, invisible)
}

// invisible reports whether a character has no glyph of its own, or looks like a space.
func invisible(r rune) bool {
	const brailleBlank = '\u2800'
	return screen.Obeyed(r) || r != ' ' && unicode.IsSpace(r) ||
		unicode.In(r, unicode.M, unicode.Other_Default_Ignorable_Code_Point) || r == brailleBlank
}

// escapedJSON formats a JSON value without loss. It escapes invisible characters and spaces that a reader could miss.
// If ascii is set, it also escapes all characters outside ASCII.
func escapedJSON(raw string, ascii bool) string {
	var b []byte
	r := []rune(raw)
	for i, c := range r {
		overlooked := c == ' ' && (i == 0 || i == len(r)-1 || r[i-1] == ' ' || r[i-1] == '"' || r[i+1] == '"')
		if overlooked || invisible(c) || ascii && c > unicode.MaxASCII {
			b = screen.AppendEscaped(b, c)
			continue
		}
		b = append(b, string(c)...)
	}
	return string(b)
}

// alike reports whether two texts look the same. It assumes that a visible character outside ASCII looks like any other
// visible character.
func alike(a, b string) bool {
	return slices.EqualFunc([]rune(a), []rune(b), func(x, y rune) bool {
		return x == y || max(x, y) > unicode.MaxASCII && !invisible(x) && !invisible(y)
	})
}

// Hunks returns the differences between old and new lines, with the given number of equal lines around them. Rely on
// their content and their positions in the old text. Their positions in the new text are wrong because the library
// miscounts. A line is any text without a newline.
func Hunks(old, new []string, around int) []*udiff.Hunk {
	text := func(lines []string) string { return strings.Join(append(slices.Clip(lines), ""), "\n") }
	before := text(old)
	diff, err := udiff.ToUnifiedDiff("", "", before, udiff.Lines(before, text(new)), around)
	if err != nil {
		panic(err) // cannot happen: the edits are computed from the same text
	}
	return diff.Hunks
}
