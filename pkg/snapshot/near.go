package snapshot

import (
	"cmp"
	"slices"
	"strings"
)

// Near returns at most three of the names that are similar to name, the nearest
// first: those that differ in at most a third of their letters and, from three
// letters on, those that contain name or are contained in it. The result does
// not depend on the order of names.
func Near(name string, names []string) []string {
	type candidate struct {
		name string
		off  int
	}
	var found []candidate
	for _, n := range names {
		off := Distance(name, n)
		contains := len(name) >= 3 && strings.Contains(n, name) || len(n) >= 3 && strings.Contains(name, n)
		if off <= max(1, len(name)/3) || contains {
			found = append(found, candidate{n, off})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.off, b.off), strings.Compare(a.name, b.name))
	})
	var out []string
	for _, c := range found[:min(3, len(found))] {
		out = append(out, c.name)
	}
	return out
}

// Distance returns the minimum number of bytes to insert, remove or replace to
// turn a into b.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
