package view

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Two values of a field are shown whole where that is short, or all is asked for.
// Else what differs is shown, and what is equal is cut out of both: "…" stands for
// it. What differs is cut itself only where it is long: then what is left tells the
// two apart, and an argument keeps its flag's name.

// sides returns the two values of a field that changed, which are JSON, as short as
// they tell what differs. They never look the same.
func (s *lineScreen) sides(path, old, new string) (before, after string) {
	short := room
	switch {
	case isOrder(path):
		return s.orders(old, new)
	case tolerationPath.MatchString(path):
		short = 300 // they are not cut where there are few
	}
	before, after = s.fieldTexts(path, old, new)
	if s.All || width(before) <= short && width(after) <= short {
		return before, after
	}
	from, to, both := piecesOf(old, new)
	if tolerationWords(path, old) != "" && tolerationWords(path, new) != "" {
		if a, b := strings.Split(before, ", "), strings.Split(after, ", "); !slices.Equal(a, b) {
			from, to, both = pieces{all: a, joiner: ", "}, pieces{all: b, joiner: ", "}, true
		}
	}
	if !both {
		return s.shorten(before, short), s.shorten(after, short)
	}
	if a, b := s.apart(from, to); !alike(a, b) {
		return a, b
	}
	return lettersApart(exact(old, true), exact(new, true))
}

// fieldTexts writes two JSON values whole: texts without their quotes, and
// tolerations as --toleration takes them.
func (s *lineScreen) fieldTexts(path, old, new string) (before, after string) {
	before, after = tolerationWords(path, old), tolerationWords(path, new)
	if before != "" && after != "" && before != after {
		return before, after
	}
	return wholeValues(old, new)
}

// wholeValues writes two JSON values whole, so that they look different if they
// are: in quotes if one of them needs some.
func wholeValues(old, new string) (before, after string) {
	before, after = wholeValue(old), wholeValue(new)
	switch {
	case old == new:
	case alike(before, after):
		return exact(old, true), exact(new, true)
	case isQuoted(before) != isQuoted(after):
		return exact(old, false), exact(new, false)
	}
	return before, after
}

// isQuoted reports whether a text is in quotes and not empty.
func isQuoted(s string) bool { return len(s) > 2 && s[0] == '"' }

// wholeValue writes a JSON value whole: a text without its quotes, if all of it can
// be seen.
func wholeValue(raw string) string {
	var text string
	if json.Unmarshal([]byte(raw), &text) == nil && raw != "null" {
		return seen(text)
	}
	return exact(raw, false)
}

// isOrder reports whether a path is that of the order of a list.
func isOrder(path string) bool { return orderPath.MatchString(path) }

var orderPath = regexp.MustCompile(`\[(` + strings.Join(mergeKeys, "|") + `)\]$`)

// orders returns the keys of a list before and after they changed their order:
// those that both have, since any other is a difference of its own.
func (s *lineScreen) orders(old, new string) (before, after string) {
	one, other := keysOf(old), keysOf(new)
	if !slices.Equal(one, other) {
		all := [2][]string{one, other}
		one = slices.DeleteFunc(slices.Clone(all[0]), func(k string) bool { return !slices.Contains(all[1], k) })
		other = slices.DeleteFunc(slices.Clone(all[1]), func(k string) bool { return !slices.Contains(all[0], k) })
	}
	from, to := pieces{all: one, joiner: ", "}, pieces{all: other, joiner: ", "}
	before, after = from.String(), to.String()
	if !s.All && max(width(before), width(after)) > room {
		before, after = s.apart(from, to)
	}
	return "order " + before, after
}

// keysOf returns the keys of a list, in words; what is no list is one key.
func keysOf(raw string) []string {
	var keys []any
	if json.Unmarshal([]byte(raw), &keys) != nil {
		return []string{wholeValue(raw)}
	}
	var out []string
	for _, k := range keys {
		out = append(out, seen(fmt.Sprint(k)))
	}
	return out
}

// seen returns a text as it is if a reader sees all of it, and else as JSON has it:
// in quotes, with escapes for what is invisible.
func seen(text string) string {
	if text == "" || text != clean(text) || text[0] == '"' || strings.Contains(text, `\u`) || strings.ContainsFunc(text, invisible) {
		return exact(asText(text), false)
	}
	return text
}

func asText(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a text has a form in JSON
	return strings.TrimSuffix(b.String(), "\n")
}

// invisible reports whether a character leaves no mark of its own, or looks like a
// blank.
func invisible(r rune) bool {
	const brailleBlank = '\u2800'
	return obeyed(r) || r != ' ' && unicode.IsSpace(r) || unicode.In(r, unicode.M, unicode.Other_Default_Ignorable_Code_Point) || r == brailleBlank
}

// exact writes a JSON value with all that is in it: an escape stands for what is
// invisible, for a blank that could be overlooked, and, if only ASCII is asked for,
// for what may look like something else.
func exact(raw string, ascii bool) string {
	var b []byte
	r := []rune(raw)
	for i, c := range r {
		overlooked := c == ' ' && (i == 0 || i == len(r)-1 || strings.ContainsRune(` "`, r[i-1]) || r[i+1] == '"')
		if overlooked || invisible(c) || ascii && c > unicode.MaxASCII {
			b = appendEscaped(b, c)
			continue
		}
		b = append(b, string(c)...)
	}
	return string(b)
}

// alike reports whether two texts look the same: they are, or differ only in letters
// of which one may be drawn as the other.
func alike(a, b string) bool {
	if a == b {
		return true
	}
	x, y := []rune(a), []rune(b)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i] != y[i] && (max(x[i], y[i]) <= unicode.MaxASCII || invisible(x[i]) || invisible(y[i])) {
			return false
		}
	}
	return true
}

// tellApart writes two texts so that they look different if they are.
func tellApart(old, new string) (before, after string) {
	return wholeValues(asText(old), asText(new))
}

// pieces are what a value is made of: the members of a list, the lines of a text,
// its words, or the parts of one word.
type pieces struct {
	all    []string
	joiner string
	list   bool // all are JSON
	lines  bool // all are lines, and stand in quotes
	within bool // they stand in quotes already
}

// show writes a piece whole.
func (p pieces) show(piece string) string {
	switch {
	case p.list:
		return exact(piece, false)
	case p.lines, p.within:
		return inQuotes(exact(asText(piece), false))
	}
	return seen(piece)
}

// showBoth writes two pieces whole, so that they look different.
func (p pieces) showBoth(old, new string) (before, after string) {
	if !p.list && !p.lines && !p.within {
		return tellApart(old, new)
	}
	if before, after = p.show(old), p.show(new); !alike(before, after) {
		return before, after
	}
	if p.list {
		return exact(old, true), exact(new, true)
	}
	return inQuotes(exact(asText(old), true)), inQuotes(exact(asText(new), true))
}

// inQuotes returns what stands between quotes.
func inQuotes(text string) string { return text[1 : len(text)-1] }

func (p pieces) String() string {
	text := strings.Join(p.all, p.joiner)
	switch {
	case p.list:
		return "[" + text + "]"
	case p.lines && !p.within:
		return `"` + text + `"`
	}
	return text
}

// piecesOf returns what two values in JSON are made of, and whether they can be
// compared that way.
func piecesOf(old, new string) (from, to pieces, both bool) {
	one, isList := membersOf(old)
	other, areLists := membersOf(new)
	switch {
	case isList != areLists:
		return from, to, false
	case isList:
		return pieces{all: one, joiner: ", ", list: true}, pieces{all: other, joiner: ", ", list: true}, true
	}
	from, to = piecesOfTexts(plainText(old), plainText(new))
	return from, to, true
}

func membersOf(raw string) (members []string, isList bool) {
	var list []json.RawMessage
	if json.Unmarshal([]byte(raw), &list) != nil || list == nil {
		return nil, false
	}
	for _, member := range list {
		members = append(members, string(member))
	}
	return members, true
}

var (
	// wordEnds are the signs at which a word such as an image or an address has parts.
	wordEnds = regexp.MustCompile(`[^/:@,;&=?#]*[/:@,;&=?#]*`)
	words    = regexp.MustCompile(`\S*\s*`)
)

// piecesOfTexts takes two texts apart in the same way.
func piecesOfTexts(old, new string) (from, to pieces) {
	either := func(is func(string) bool) bool { return is(old) || is(new) }
	take := func(split func(string) []string, p pieces) (from, to pieces) {
		from, to = p, p
		from.all, to.all = slices.DeleteFunc(split(old), isEmpty), slices.DeleteFunc(split(new), isEmpty)
		return from, to
	}
	switch {
	case either(func(s string) bool { return strings.Contains(strings.TrimRight(s, "\n"), "\n") }):
		return take(func(text string) []string { return strings.SplitAfter(text, "\n") }, pieces{joiner: " ", lines: true})
	case either(func(s string) bool { return len(strings.Fields(s)) > 1 }):
		return take(wordsOf, pieces{joiner: " "})
	}
	return take(func(text string) []string { return wordEnds.FindAllString(text, -1) }, pieces{})
}

func isEmpty(s string) bool { return s == "" }

// wordsOf returns the words of a text, each with the blanks behind it, if these are
// not just the one that parts two words.
func wordsOf(text string) []string {
	all := words.FindAllString(text, -1)
	for i, w := range all[:max(0, len(all)-1)] {
		if word := strings.TrimSuffix(w, " "); len(strings.Fields(word)) == 1 && strings.TrimSpace(word) == word {
			all[i] = word
		}
	}
	return all
}

// apart returns two values by the pieces that differ.
func (s *lineScreen) apart(old, new pieces) (before, after string) {
	const most, near = 6, 20 // pieces that differ on one side; columns of an equal word before them
	changed := replaced(old.all, new.all)
	withLast := old.joiner == "" || old.isMoved(changed)
	var from, to []string
	add := func(side *[]string, piece string) {
		if n := len(*side); n > 0 && (*side)[n-1] == elided {
			if piece == elided {
				return
			}
			piece = strings.TrimPrefix(piece, elided+" ") // one that is cut itself
		} else if n > 0 && piece == elided && strings.HasSuffix((*side)[n-1], " "+elided) {
			return
		}
		*side = append(*side, piece)
	}
	at, shown, left := 0, 0, 0
	for _, r := range changed {
		was := old.all[r.from:r.to]
		if n := max(len(was), len(r.with)); shown >= most {
			left += n
			continue
		}
		equal := r.from - at
		named := equal > 0 && (withLast || old.isFlagOf(r) || !old.list && width(old.all[r.from-1]) <= near)
		if equal > 1 || equal == 1 && !named {
			add(&from, elided)
			add(&to, elided)
		}
		if named {
			add(&from, s.piece(old, old.all[r.from-1]))
			add(&to, s.piece(old, old.all[r.from-1]))
		}
		for i := range max(len(was), len(r.with)) {
			if shown++; shown > most {
				left++
				continue
			}
			switch {
			case i >= len(r.with):
				add(&from, s.piece(old, was[i]))
			case i >= len(was):
				add(&to, s.piece(old, r.with[i]))
			default:
				a, b := s.within(old, was[i], r.with[i])
				add(&from, a)
				add(&to, b)
			}
		}
		at = r.to
	}
	if at < len(old.all) || left > 0 {
		add(&from, elided)
		add(&to, elided)
	}
	old.all, new.all = from, to
	before, after = old.String(), new.String()
	if left > 0 {
		after += fmt.Sprintf(" (+%d more, with --all)", left)
	}
	return before, after
}

// replaced returns what makes the new pieces of the old ones, in order.
func replaced(old, new []string) []replacement {
	lines := func(all []string) string { // a piece is a line: it has no line end of its own then
		var b strings.Builder
		for _, p := range all {
			b.WriteString(asText(p) + "\n")
		}
		return b.String()
	}
	out := replacements(lines(old), lines(new))
	for i := range out {
		for j, line := range out[i].with {
			out[i].with[j] = plainText(line)
		}
	}
	return out
}

// isMoved reports whether a piece that goes from one place comes at another: then
// its neighbours tell which.
func (p pieces) isMoved(changed []replacement) bool {
	gone := map[string]bool{}
	for _, r := range changed {
		for _, piece := range p.all[r.from:r.to] {
			gone[piece] = true
		}
	}
	return slices.ContainsFunc(changed, func(r replacement) bool {
		return slices.ContainsFunc(r.with, func(piece string) bool { return gone[piece] })
	})
}

// isFlagOf reports whether what changes is the value of a flag that stands before
// it, as an argument or a word of its own.
func (p pieces) isFlagOf(r replacement) bool {
	isFlag := func(piece string) bool { return strings.HasPrefix(strings.TrimPrefix(piece, `"`), "-") }
	if flag := p.all[r.from-1]; !isFlag(flag) || strings.Contains(flag, "=") {
		return false
	}
	return !slices.ContainsFunc(append(slices.Clone(r.with), p.all[r.from:r.to]...), isFlag)
}

// elided stands for what is equal, and is left out.
const elided = "…"

// room is how long a piece that differs may be to be shown whole.
const room = 70

// piece writes one; of a long argument the flag's name, and its value shortened.
func (s *lineScreen) piece(of pieces, text string) string {
	whole := of.show(text)
	if of.joiner == "" {
		return s.shorten(whole, room)
	}
	name := flagName.FindString(whole)
	return name + s.shorten(whole[len(name):], max(room-width(name), room/2))
}

// flagName begins an argument: the name of a flag or a variable that it sets.
var flagName = regexp.MustCompile(`^"?(?:-{1,2}[A-Za-z0-9][\w.-]*[= ]|[A-Za-z_][\w.-]*=)`)

// within returns two pieces whole where they are short, and else by the parts of
// them that differ, behind the name of the flag that they share.
func (s *lineScreen) within(of pieces, old, new string) (before, after string) {
	before, after = of.showBoth(old, new)
	most := room
	if of.joiner == "" {
		most = room / 2
	}
	isShort, areShort := width(before) <= most, width(after) <= most
	if isShort && areShort {
		return before, after
	}
	var a, b string
	if of.joiner == "" {
		a, b = lettersApart(before, after)
	} else if one, other := plainText(old), plainText(new); of.list && one != old && other != new {
		const quote = `"`
		a, b = s.partsOf(one, other, true)
		a, b = quote+a+quote, quote+b+quote
	} else {
		a, b = s.partsOf(old, new, of.within || of.lines)
	}
	if isShort {
		a = before
	}
	if areShort {
		b = after
	}
	return a, b
}

// partsOf returns two long texts by the parts that differ.
func (s *lineScreen) partsOf(old, new string, within bool) (before, after string) {
	name := flagName.FindString(old)
	if strings.HasPrefix(new, name) {
		old, new = old[len(name):], new[len(name):]
	} else {
		name = ""
	}
	from, to := piecesOfTexts(old, new)
	from.within, to.within = within, within
	if max(len(from.all), len(to.all)) > 1 {
		if before, after = s.apart(from, to); !alike(before, after) {
			return name + before, name + after
		}
	}
	before, after = lettersApart(inQuotes(exact(asText(old), true)), inQuotes(exact(asText(new), true)))
	return name + before, name + after
}

// lettersApart shortens two words to where they begin to differ, with a few equal
// letters before.
func lettersApart(old, new string) (string, string) {
	const around, room = 2, 12
	a, b := []rune(old), []rune(new)
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	same = max(0, same-around)
	cut := func(of []rune) string {
		words := ""
		if same > 0 {
			words = elided
		}
		if of = of[same:]; len(of) > around+room {
			return words + string(of[:around+room]) + elided
		}
		return words + string(of)
	}
	return cut(a), cut(b)
}
