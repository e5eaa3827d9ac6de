package dump

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/source/document"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// store holds the objects of one kind, without duplicates.
type store[T any] struct {
	Items        []T                 // after compact
	fresh        object.Chunks[T]    // objects behind Items
	positions    []document.Position // position of each object
	index        map[string]int      // index by namespace and name
	perNamespace map[string]int      // number of objects by namespace
	noStatus     map[string]bool     // objects without a status, by namespace and name
}

// without looks at the objects for which keep returns true. It returns, in words, how many of them have no status, or
// "" if all have one.
func (s *store[T]) without(keep func(metav1.Object) bool) string {
	n, all := 0, 0
	for i := range s.Items {
		if o := object.MetaOf(&s.Items[i]); keep(o) {
			if all++; s.noStatus[object.Key(o)] {
				n++
			}
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d have none", n, all)
}

// compact appends the buffered objects to Items. If between is true, more objects may follow, and it
// does so only if many objects are buffered. Otherwise it discards the positions.
func (s *store[T]) compact(between bool) {
	if !between {
		s.positions = nil
	}
	if s.fresh.Size == 0 || between && s.fresh.Size < len(s.Items)/2 {
		return
	}
	all := make([]T, 0, len(s.Items)+s.fresh.Size)
	all = snapshot.Append(all, s.Items)
	s.Items = nil
	for i, piece := range s.fresh.Parts {
		all = snapshot.Append(all, piece)
		s.fresh.Parts[i] = nil // frees memory for the next one
	}
	s.Items, s.fresh = all, object.Chunks[T]{}
}

// object returns the object with index i, in the order of put.
func (s *store[T]) object(i int) *T {
	if i < len(s.Items) {
		return &s.Items[i]
	}
	return s.fresh.At(i - len(s.Items))
}

// DirectItems is the number of objects that a store appends to Items before it buffers them.
const DirectItems = 2048

// put adds an object. Of two objects with the same name, it keeps the one with a status, or else
// the one with the higher resourceVersion. If neither decides, it keeps o and returns how the
// copies clash and the position of the other one.
func (s *store[T]) put(o metav1.Object, noStatus bool, at document.Position) (clash, document.Position) {
	if s.index == nil {
		s.index, s.perNamespace, s.noStatus = map[string]int{}, map[string]int{}, map[string]bool{}
	}
	name, new := object.Key(o), any(o).(*T)
	i, known := s.index[name]
	if !known {
		s.index[name] = len(s.positions)
		s.perNamespace[o.GetNamespace()]++
		s.setNoStatus(name, noStatus)
		if s.positions = append(s.positions, at); len(s.Items) < max(DirectItems, cap(s.Items)) {
			s.Items = append(s.Items, *new)
		} else {
			s.fresh.Add(*new)
		}
		return "", document.Position{}
	}
	held, from := s.object(i), s.positions[i]
	old := object.MetaOf(held)
	a, aErr := strconv.ParseUint(old.GetResourceVersion(), 10, 64)
	b, bErr := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	versions := aErr == nil && bErr == nil
	why := clash("")
	switch sameUID := old.GetUID() == o.GetUID(); {
	case s.noStatus[name] != noStatus && (sameUID || old.GetUID() == "" || o.GetUID() == ""):
		if noStatus {
			return "", document.Position{}
		}
	case !sameUID:
		why = otherUID
	case versions && b < a:
		return "", document.Position{}
	case versions && b > a, equalObjects(*held, *new):
	case versions && isEvent(*new): // the same event, read from two API groups
	case versions:
		why = sameVersion
	default:
		why = noVersion
	}
	*held, s.positions[i] = *new, at
	s.setNoStatus(name, noStatus)
	return why, from
}

func (s *store[T]) setNoStatus(name string, noStatus bool) {
	if noStatus {
		s.noStatus[name] = true
	} else {
		delete(s.noStatus, name)
	}
}

// clash says why it is unknown which of two copies of an object is newer.
type clash string

const (
	otherUID    clash = "is of another UID"
	sameVersion clash = "differs, though it is of the same resourceVersion"
	noVersion   clash = "differs, and no resourceVersion says which is newer"
)

func isEvent(o any) bool {
	_, is := o.(corev1.Event)
	return is
}

// equalObjects reports whether two objects are equal except for managedFields, which kubectl omits.
func equalObjects[T any](a, b T) bool {
	object.MetaOf(&a).SetManagedFields(nil)
	object.MetaOf(&b).SetManagedFields(nil)
	return equality.Semantic.DeepEqual(a, b)
}

// putter is a store of any type.
type putter interface {
	put(o metav1.Object, noStatus bool, at document.Position) (clash, document.Position)
	compact(between bool)
}
