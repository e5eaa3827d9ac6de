package document

import (
	"fmt"
)

// Position is where an object stands in the input.
type Position struct {
	File     string
	Document int
	Path     string // items[3] in a list
}

func (p Position) String() string {
	s := fmt.Sprintf("%s, document %d", p.File, p.Document)
	if p.Path != "" {
		s += ", " + p.Path
	}
	return s
}
