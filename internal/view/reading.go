package view

import (
	"fmt"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Reading is how much has been read of a part of the input.
type Reading struct {
	What snapshot.What
	Read int
	Of   int // how many there are; 0 where that is not known
}

// ReadingLine says how far reading has come, in one line of a terminal of this width. It is empty
// where nothing is read.
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

// readingWords are as short as can be: they share a line.
func readingWords(what snapshot.What) string {
	if what == snapshot.PodsOfOthers {
		return "other pods"
	}
	return string(what)
}
