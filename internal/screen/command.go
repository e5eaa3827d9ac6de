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

// lines breaks a command with backslashes to so many columns, further lines set
// in; 0 breaks nothing.
func (c Command) lines(columns int) []string {
	if columns <= 0 || Width(c.String()) <= columns {
		return []string{c.String()}
	}
	var lines []string
	line := string(c[0])
	for _, w := range c[1:] {
		if Width(line)+1+Width(string(w))+2 > columns {
			lines, line = append(lines, line+` \`), "  "+string(w)
			continue
		}
		line += " " + string(w)
	}
	return append(lines, line)
}
