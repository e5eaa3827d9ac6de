package source

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// page is what a List says of its place among the pages of one reading.
type page struct {
	version   string // resourceVersion, the same for all pages of one reading
	next      string // the token of the page that follows; empty for the last
	items     int    // on this page
	remaining int    // on the pages that follow, where the server has counted them
}

// reading is one reading of the objects of one kind. Its pages may stand in
// several documents and files.
type reading struct {
	list    metav1.TypeMeta
	version string
}

// readings are the pages of all Lists of an input: each once, by the token of
// the page that follows it.
type readings map[reading]map[string]page

func (r readings) add(list metav1.TypeMeta, p page) {
	of := reading{list, p.version}
	if r[of] == nil {
		r[of] = map[string]page{}
	}
	if old, known := r[of][p.next]; p.next == "" && known { // two Lists of a few objects, of one moment
		p.items += old.items
		p.remaining = max(p.remaining, old.remaining)
	}
	r[of][p.next] = p
}

// partial returns what is missing of the objects of a kind, or "" where every
// List that could hold one is whole. A List of anything could hold each kind.
func (r readings) partial(kind string) string {
	order := func(a, b reading) int {
		return cmp.Or(cmp.Compare(a.list.Kind, b.list.Kind), cmp.Compare(a.version, b.version))
	}
	for _, of := range slices.SortedFunc(maps.Keys(r), order) {
		if of.list.Kind != "List" && kindName(itemKind(of.list)) != kind {
			continue
		}
		if missing := missingPages(r[of], of.list.Kind); missing != "" {
			return missing
		}
	}
	return ""
}

// missingPages returns which part of a List of this kind its pages are, or "" where
// they are the whole of it.
func missingPages(pages map[string]page, kind string) string {
	held, total, last := 0, 0, false
	for _, p := range pages {
		held += p.items
		if p.remaining > 0 {
			total = max(total, p.items+p.remaining)
		}
		last = last || p.next == "" && p.remaining == 0
	}
	switch {
	case held < total:
		return fmt.Sprintf("the input holds %d of the %d objects of the %s: its other pages must be given, too", held,
			total, kind)
	case !last:
		return fmt.Sprintf("the input holds %d objects of the %s, and not its last page: the other pages must be "+
			"given, too", held, kind)
	case total > 0 && held > total:
		return fmt.Sprintf("the input holds %d objects on the pages of the %s, which has %d", held, kind, total)
	}
	return ""
}
