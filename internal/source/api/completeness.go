package api

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// reading identifies the pages of one list, which have the same kind and resourceVersion. The pages may be in several
// documents and files.
type reading struct {
	list    metav1.TypeMeta
	version string
}

// Readings holds the pages of all Lists of an input. The key of a page is the continue token in its metadata.
type Readings map[reading]map[string]object.Page

func (r Readings) Add(list metav1.TypeMeta, p object.Page) {
	of := reading{list, p.Version}
	if r[of] == nil {
		r[of] = map[string]object.Page{}
	}
	if old, known := r[of][p.Next]; p.Next == "" && known { // two complete short Lists can have the same version
		p.Items += old.Items
		p.Remaining = max(p.Remaining, old.Remaining)
	}
	r[of][p.Next] = p
}

// Partial returns a message if a List that may contain objects of kind is incomplete, otherwise "". A List of kind
// "List" may contain objects of any kind.
func (r Readings) Partial(kind string) string {
	order := func(a, b reading) int {
		return cmp.Or(cmp.Compare(a.list.Kind, b.list.Kind), cmp.Compare(a.version, b.version))
	}
	for _, of := range slices.SortedFunc(maps.Keys(r), order) {
		if of.list.Kind != "List" && object.KindName(object.ItemKind(of.list)) != kind {
			continue
		}
		if missing := missingPages(r[of], of.list.Kind); missing != "" {
			return missing
		}
	}
	return ""
}

// missingPages returns a message if the pages of a List are not exactly its objects, otherwise "". kind is the kind
// of the List.
func missingPages(pages map[string]object.Page, kind string) string {
	held, total, last := 0, 0, false
	for _, p := range pages {
		held += p.Items
		if p.Remaining > 0 {
			total = max(total, p.Items+p.Remaining)
		}
		last = last || p.Next == "" && p.Remaining == 0
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
