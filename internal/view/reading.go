package view

import (
	"fmt"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Reading is the progress of reading one part of the input.
type Reading struct {
	What snapshot.What
	Read int
	Of   int // total number of objects; 0 if unknown
}

// ReadingLine returns the progress of reading in one line of a terminal with this width. It returns "" if nothing is
// being read.
func ReadingLine(parts []Reading, width int) string {
	var said []string
	for _, p := range parts {
		words := fmt.Sprintf("%s %d", readingWords(p.What), p.Read)
		if p.Of > 0 {
			words += fmt.Sprintf(" of %d", p.Of)
		}
		said = append(said, words)
	}
	if len(said) == 0 {
		return ""
	}
	return screen.Cut("reading: "+strings.Join(said, ", "), width)
}

// readingWords returns a short name for a part, because several parts share a line.
func readingWords(what snapshot.What) string {
	if what == snapshot.PodsOfOthers {
		return "other pods"
	}
	return string(what)
}
