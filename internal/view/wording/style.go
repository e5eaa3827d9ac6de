package wording

import (
	"fmt"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
)

// Style describes the output: its format, its width and the options that affect it.
type Style struct {
	Width int  // columns of the terminal; 0 if it is not a terminal, and lines are not cut
	Color bool // colors are allowed
	All   bool // show all nodes and complete messages
	Wide  bool // -o wide
	Form  Form
	Page  Page // set with InHTML
}

// Form is the format of output for a person.
type Form int

const (
	InText     Form = iota // for a terminal
	InMarkdown             // for a comment on a pull request
	InHTML                 // for a browser
)

// Plural returns "1 node" or "2 nodes".
func Plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// PluralVerb returns "1 node has" or "2 nodes have".
func PluralVerb(n int, one, many string) string {
	return fmt.Sprintf("%d %s", n, PluralOf(n, one, many))
}

// PluralOf returns one if n is 1, and many otherwise.
func PluralOf(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Terminal returns the parts of s that renderers need.
func (s Style) Terminal() screen.Terminal {
	return screen.Terminal{Width: s.Width, Color: s.Color, All: s.All}
}

// Ago formats a duration as 45s, 1m40s, 14m, 1h30m, 5h or 2d.
func Ago(d time.Duration) string {
	s := int(max(0, d) / time.Second)
	two := func(n int, unit string, rest int, of string) string {
		if rest == 0 {
			return fmt.Sprintf("%d%s", n, unit)
		}
		return fmt.Sprintf("%d%s%d%s", n, unit, rest, of)
	}
	switch m, h := s/60, s/3600; {
	case m < 1:
		return fmt.Sprintf("%ds", s)
	case m < 10:
		return two(m, "m", s%60, "s")
	case h < 1:
		return fmt.Sprintf("%dm", m)
	case h < 3:
		return two(h, "h", m%60, "m")
	case h < 48:
		return fmt.Sprintf("%dh", h)
	default:
		return fmt.Sprintf("%dd", h/24)
	}
}

// Page holds the text that surrounds the screens of an HTML page.
type Page struct {
	Title   string // the command
	About   []string
	Missing []string
	Program string // name and version
}
