package screen

import (
	"regexp"
	"strings"
)

// Word is an element of a Command, quoted for a shell. It is not broken at its blanks.
type Word string

// Quote returns a value as a Word.
func Quote(value string) Word {
	if plainWord.MatchString(value) {
		return Word(value)
	}
	return Word("'" + strings.ReplaceAll(value, "'", `'\''`) + "'")
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9._:/=@,%+-]+$`)

// Placeholder returns a Word that the reader must replace. A shell rejects it.
func Placeholder(name string) Word { return Word("<" + name + ">") }

// String returns the command on one line.
func (c Command) String() string {
	words := make([]string, len(c))
	for i, w := range c {
		words[i] = string(w)
	}
	return strings.Join(words, " ")
}

// words returns the Words of a command. Words without quotes that are wider than columns are split
// at their blanks. If columns is 0, none is split.
func (c Command) words(columns int) (words []string) {
	for _, w := range c {
		if text := string(w); columns > 0 && Width(text) > columns && !strings.ContainsAny(text, `'"`) {
			words = append(words, strings.Fields(text)...)
			continue
		}
		words = append(words, string(w))
	}
	return words
}

// lines breaks a command into lines of at most columns, with backslashes and room for the
// indentation of the following lines. If columns is 0, it does not break. Words are split only if
// they are wider than whole; 0 splits none.
func (c Command) lines(columns, whole int) []string {
	if columns <= 0 || Width(c.String()) <= columns {
		return []string{c.String()}
	}
	words := c.words(max(0, whole-len(` \`)))
	lines, line := []string(nil), words[0]
	for _, w := range words[1:] {
		if Width(line)+1+Width(w)+len(` \`)+indent*min(1, len(lines)) > columns {
			lines, line = append(lines, line+` \`), w
			continue
		}
		line += " " + w
	}
	return append(lines, line)
}
