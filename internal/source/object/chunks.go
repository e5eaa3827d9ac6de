package object

import (
	"slices"
)

// Chunks is a list that grows without copying its elements. The length of a list is unknown until its end, and each
// object takes about a kilobyte.
type Chunks[T any] struct {
	Parts    [][]T
	Size     int
	Expected int64 // number of objects to come; 0 if unknown
}

// mostExpected limits the number of objects for which Add reserves memory, whatever a server announces.
const mostExpected = 50_000

func (p *Chunks[T]) Add(o T) {
	const least, most = 8, 512 // capacity of a part
	last := len(p.Parts) - 1
	if last < 0 || len(p.Parts[last]) == cap(p.Parts[last]) {
		room := min(max(least, p.Size), most)
		// keep all objects in one part, so that All copies nothing
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

// At returns the object at index i.
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
