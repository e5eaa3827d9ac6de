package view

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// Two values of a field are shown whole where that is short. Else what differs is
// shown, and what is equal is cut out of both: "…" stands for it. What differs is
// cut itself only where it is long, and then what is left tells the two apart.

// sides returns the two values of a field that changed, which are JSON, as short as
// they tell what differs. They are the same only if nobody could tell them apart.
func (s *screen) sides(path, old, new string) (before, after string) {
	short := 70
	if tolerationPath.MatchString(path) {
		short = 300 // they are not cut where there are few
	}
	before, after = s.fieldText(path, old), s.fieldText(path, new)
	if before == after && old != new {
		before, after = exactValue(old), exactValue(new)
	}
	if width(before) <= short && width(after) <= short {
		return before, after
	}
	from, to := piecesOf(old), piecesOf(new)
	if tolerationWords(path, old) != "" && tolerationWords(path, new) != "" {
		from, to = pieces{strings.Split(before, ", "), ", ", false}, pieces{strings.Split(after, ", "), ", ", false}
	}
	if from.list != to.list {
		return s.brief(before, short), s.brief(after, short)
	}
	if a, b := s.apart(from, to); a != b {
		return a, b
	}
	return lettersApart(before, after) // blanks alone
}

// fieldText writes a JSON value whole: a plain string without its quotes, and
// tolerations as --toleration takes them.
func (s *screen) fieldText(path, raw string) string {
	if words := tolerationWords(path, raw); words != "" {
		return words
	}
	return wholeValue(raw)
}

// pieces are what a value is made of: the members of a list, the lines of a text,
// its words, or the parts of one word.
type pieces struct {
	all    []string
	joiner string
	list   bool
}

// wordEnds are the signs at which a word such as an image or an address has parts.
var wordEnds = regexp.MustCompile(`[^/:@,;&=?#]*[/:@,;&=?#]*`)

func piecesOf(raw string) pieces {
	var list []json.RawMessage
	if json.Unmarshal([]byte(raw), &list) == nil && list != nil {
		p := pieces{joiner: ", ", list: true}
		for _, member := range list {
			p.all = append(p.all, clean(string(member)))
		}
		return p
	}
	return piecesOfText(plainText(raw))
}

func piecesOfText(text string) pieces {
	var p pieces
	if lines := strings.Split(strings.TrimRight(text, "\n"), "\n"); len(lines) > 1 {
		p.joiner = " "
		for _, l := range lines {
			p.all = append(p.all, clean(l))
		}
		return p
	}
	if words := strings.Fields(text); len(words) > 1 {
		p.joiner = " "
		for _, w := range words {
			p.all = append(p.all, clean(w))
		}
		return p
	}
	for _, part := range wordEnds.FindAllString(text, -1) {
		if part != "" {
			p.all = append(p.all, clean(part))
		}
	}
	return p
}

// apart returns two values by the pieces that differ, with the one before each.
func (s *screen) apart(old, new pieces) (before, after string) {
	const most, room = 6, 70 // pieces that differ on one side; columns of each
	changed := replacements(strings.Join(append(old.all, ""), "\n"), strings.Join(append(new.all, ""), "\n"))
	var from, to []string
	add := func(side *[]string, piece string) {
		if n := len(*side); piece == elided && n > 0 && (*side)[n-1] == elided {
			return
		}
		*side = append(*side, piece)
	}
	at, shown, left := 0, 0, 0
	for _, r := range changed {
		was := old.all[r.from:r.to]
		if n := max(len(was), len(r.with)); shown >= most && !s.All {
			left += n
			continue
		}
		if r.from-at > 1 {
			add(&from, elided)
			add(&to, elided)
		}
		if r.from > at {
			add(&from, s.piece(old.all[r.from-1], room))
			add(&to, s.piece(old.all[r.from-1], room))
		}
		for i := range max(len(was), len(r.with)) {
			if shown++; shown > most && !s.All {
				left++
				continue
			}
			a, b := "", ""
			if i < len(was) {
				a = was[i]
			}
			if i < len(r.with) {
				b = r.with[i]
			}
			if a != "" && b != "" && max(width(a), width(b)) > room/2 {
				a, b = s.within(a, b)
			}
			if i < len(was) {
				add(&from, s.piece(a, room))
			}
			if i < len(r.with) {
				add(&to, s.piece(b, room))
			}
		}
		at = r.to
	}
	if at < len(old.all) || left > 0 {
		add(&from, elided)
		add(&to, elided)
	}
	before, after = strings.Join(from, old.joiner), strings.Join(to, new.joiner)
	if old.list {
		before, after = "["+before+"]", "["+after+"]"
	}
	if left > 0 {
		after += fmt.Sprintf(" (+%d more, with --all)", left)
	}
	return before, after
}

// elided stands for what is equal, and is left out.
const elided = "…"

// piece shortens one that is long.
func (s *screen) piece(text string, room int) string {
	if text == elided {
		return text
	}
	return s.brief(text, room)
}

// within returns two pieces by the parts of them that differ: by their own pieces,
// and if they have none, by their letters.
func (s *screen) within(old, new string) (string, string) {
	const quote = `"`
	if quoted := func(s string) bool { return len(s) > 1 && strings.HasPrefix(s, quote) && strings.HasSuffix(s, quote) }; quoted(old) && quoted(new) {
		before, after := s.within(old[1:len(old)-1], new[1:len(new)-1])
		return quote + before + quote, quote + after + quote
	}
	a, b := piecesOfText(old), piecesOfText(new)
	if len(a.all) > 1 || len(b.all) > 1 {
		return s.apart(a, b)
	}
	return lettersApart(old, new)
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
