package screen

import (
	"regexp"
	"strings"
)

// Word is a part of a command, as a shell reads it.
type Word string

// Quote returns a value as a Word of a command.
func Quote(value string) Word {
	if plainWord.MatchString(value) {
		return Word(value)
	}
	return Word("'" + strings.ReplaceAll(value, "'", `'\''`) + "'")
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9._:/=@,%+-]+$`)

// Placeholder is a Word that the reader has to replace. A shell refuses it as it
// stands.
func Placeholder(name string) Word { return Word("<" + name + ">") }

// String is the command on one line.
func (c Command) String() string {
	words := make([]string, len(c))
	for i, w := range c {
		words[i] = string(w)
	}
	return strings.Join(words, " ")
}

// words are the Words of a command. One without quotes that is wider than so many
// columns is broken at its blanks; 0 breaks none.
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

// lines breaks a command with backslashes to so many columns, with room to set further
// lines in; 0 breaks nothing. A Word is broken only if it is wider than whole; 0: not at all.
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
