package wording

import (
	"fmt"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
)

// Style is what is known of the place where text goes.
type Style struct {
	Width int  // columns of the terminal; 0: not a terminal, lines are not cut
	Color bool // colour is allowed
	All   bool // show every node and whole messages
	Wide  bool // -o wide
	Form  Form
	Page  Page // with InHTML
}

// Form is how an answer for a person is written.
type Form int

const (
	InText     Form = iota // for a terminal
	InMarkdown             // for a comment
	InHTML                 // for a browser
)

// Plural is "1 node", "2 nodes".
func Plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// PluralVerb is "1 node has", "2 nodes have".
func PluralVerb(n int, one, many string) string {
	return fmt.Sprintf("%d %s", n, PluralOf(n, one, many))
}

// PluralOf is the word that goes with a number.
func PluralOf(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Terminal is a Style as renderers take it.
func (s Style) Terminal() screen.Terminal {
	return screen.Terminal{Width: s.Width, Color: s.Color, All: s.All}
}

// Ago is how long something took or takes, as 45s, 1m40s, 14m, 1h30m, 5h or 2d.
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

// Page is what the screens of a page have in common.
type Page struct {
	Title   string // the command
	About   []string
	Missing []string
	Program string // with its version
}
