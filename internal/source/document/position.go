package document

import (
	"fmt"
)

// Position is the place of an object in the input.
type Position struct {
	File     string
	Document int
	Path     string // path in a list, such as items[3]
}

func (p Position) String() string {
	s := fmt.Sprintf("%s, document %d", p.File, p.Document)
	if p.Path != "" {
		s += ", " + p.Path
	}
	return s
}
