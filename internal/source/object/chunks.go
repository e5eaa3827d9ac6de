package object

import (
	"slices"
)

// Chunks is a slice that grows without being copied. The length of a list is not known before its end, and its objects
// take a kilobyte each.
type Chunks[T any] struct {
	Parts    [][]T
	Size     int
	Expected int64 // how many more are to come; 0 where that is not known
}

// mostExpected is for how many objects there is room before they have come, whatever a server says.
const mostExpected = 50_000

func (p *Chunks[T]) Add(o T) {
	const least, most = 8, 512 // of a part
	last := len(p.Parts) - 1
	if last < 0 || len(p.Parts[last]) == cap(p.Parts[last]) {
		room := min(max(least, p.Size), most)
		// all in one part, and nothing to copy at the end
		if more := int(min(p.Expected, mostExpected)); more > room && p.Size <= most {
			p.Parts = [][]T{append(make([]T, 0, p.Size+more), p.All()...)}
		} else {
			p.Parts = append(p.Parts, make([]T, 0, room))
		}
		last, p.Expected = len(p.Parts)-1, 0
	}
	p.Parts[last] = append(p.Parts[last], o)
	p.Size++
}

// At returns one of those that were added.
func (p *Chunks[T]) At(i int) *T {
	part := 0
	for ; i >= len(p.Parts[part]); part++ {
		i -= len(p.Parts[part])
	}
	return &p.Parts[part][i]
}

func (p *Chunks[T]) All() []T {
	if len(p.Parts) == 1 {
		return p.Parts[0]
	}
	return slices.Concat(p.Parts...)
}
