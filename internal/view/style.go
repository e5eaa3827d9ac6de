// Package view turns answers into text, and encodes them. It is the only
// package that holds prose; it decides nothing.
package view

import (
	"fmt"
	"io"
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

// pluralVerb is "1 node has", "2 nodes have".
func pluralVerb(n int, one, many string) string {
	return fmt.Sprintf("%d %s", n, pluralOf(n, one, many))
}

// pluralOf is the word that goes with a number.
func pluralOf(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// terminal is a Style as renderers take it.
func (s Style) terminal() screen.Terminal {
	return screen.Terminal{Width: s.Width, Color: s.Color, All: s.All}
}

// ago is how long something took or takes, as 45s, 1m40s, 14m, 1h30m, 5h or 2d.
func ago(d time.Duration) string {
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

// write writes one Screen after the other.
func write(w io.Writer, screens []*screen.Screen, style Style) error {
	if style.Form == InHTML {
		return writePage(w, screens, style.Page)
	}
	for i, s := range screens {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := writeOne(w, s, style); err != nil {
			return err
		}
	}
	return nil
}

// writeOne writes a Screen.
func writeOne(w io.Writer, s *screen.Screen, style Style) error {
	switch style.Form {
	case InMarkdown:
		return s.Markdown(w, style.All)
	case InHTML:
		return writePage(w, []*screen.Screen{s}, style.Page)
	}
	return s.Text(w, style.terminal())
}
