// Package view turns answers into text, and encodes them. It is the only
// package that holds prose; it decides nothing.
package view

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/fatih/color"
	"github.com/mattn/go-runewidth"
	"k8s.io/apimachinery/pkg/util/duration"
)

// Style is what is known of the place where text goes.
type Style struct {
	Width int  // columns of the terminal; 0: not a terminal, lines are not cut
	Color bool // colour is allowed
	All   bool // show every node and whole messages
	Wide  bool // -o wide
}

// The colours of ANSI's first eight are legible on light and dark grounds;
// dim and white are not used. Nothing is said by colour alone.
func (s Style) paint(text string, attributes ...color.Attribute) string {
	if !s.Color {
		return text
	}
	c := color.New(attributes...)
	c.EnableColor()
	return c.Sprint(text)
}

func (s Style) bad(text string) string   { return s.paint(text, color.FgRed, color.Bold) }
func (s Style) warn(text string) string  { return s.paint(text, color.FgYellow, color.Bold) }
func (s Style) good(text string) string  { return s.paint(text, color.FgGreen, color.Bold) }
func (s Style) title(text string) string { return s.paint(text, color.Bold) }

// clean makes words of the cluster safe to print: one line, without control
// codes and invisible marks, which are shown as they would be written in Go.
func clean(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	var b strings.Builder
	for _, r := range s {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Clean makes words of the cluster or of a file safe to print in one line.
func Clean(s string) string { return clean(s) }

// names folds a list: up to five names, then how many more.
func (s Style) names(list []string) string {
	const most = 5
	shown := make([]string, 0, most)
	for i, n := range list {
		if i == most && !s.All {
			return strings.Join(shown, ", ") + fmt.Sprintf(" +%d more", len(list)-most)
		}
		shown = append(shown, clean(n))
	}
	return strings.Join(shown, ", ")
}

// age is how long ago a time was, as kubectl writes it.
func age(now time.Time, then *time.Time) string {
	if then == nil {
		return "unknown"
	}
	return duration.HumanDuration(max(0, now.Sub(*then)))
}

// span is how long ago the earliest and the latest of several times were.
func span(now time.Time, earliest, latest *time.Time) string {
	from, to := age(now, earliest), age(now, latest)
	if latest == nil || from == to {
		return from
	}
	return to + " to " + from
}

// cut shortens a line to the terminal's width, colour codes not counted.
func (s Style) cut(line string) string {
	if s.Width <= 0 || s.All || width(line) <= s.Width {
		return line
	}
	return truncate(line, s.Width-1) + "…"
}

// width is how many columns a text takes, colour codes not counted.
func width(text string) int {
	w := 0
	for _, part := range splitCodes(text) {
		if !part.code {
			w += runewidth.StringWidth(part.text)
		}
	}
	return w
}

func truncate(text string, columns int) string {
	var b strings.Builder
	for _, part := range splitCodes(text) {
		if part.code {
			b.WriteString(part.text)
			continue
		}
		for _, r := range part.text {
			if columns -= runewidth.RuneWidth(r); columns < 0 {
				continue
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}

type part struct {
	text string
	code bool
}

// splitCodes separates our own colour codes, ESC [ … m, from text. Text of
// the cluster holds no ESC: clean has replaced it.
func splitCodes(text string) []part {
	var out []part
	for text != "" {
		i := strings.Index(text, "\x1b[")
		if i < 0 {
			return append(out, part{text: text})
		}
		if i > 0 {
			out = append(out, part{text: text[:i]})
		}
		end := strings.IndexByte(text[i:], 'm')
		if end < 0 {
			return append(out, part{text: text[i:], code: true})
		}
		out = append(out, part{text: text[i : i+end+1], code: true})
		text = text[i+end+1:]
	}
	return out
}

// plural is "1 node", "2 nodes".
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	if strings.HasSuffix(word, "y") {
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(word, "y"))
	}
	return fmt.Sprintf("%d %ss", n, word)
}
