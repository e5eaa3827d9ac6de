package api

import (
	"context"
	"sync/atomic"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reading is the progress of reading one list of nodes or pods.
type Reading struct {
	List int64 // the number of the list within its Cluster
	What snapshot.What
	Read int  // objects read so far
	Of   int  // objects of the whole list; 0 if that is unknown
	Done bool // the list was read completely, or cannot be read
}

// Told reports the progress of lists to Tell.
type Told struct {
	Tell  func(Reading)
	lists atomic.Int64
}

// Telling returns a lister that calls ask and reports its progress to l. expected is the number of objects in the
// list if the server sends no count, as for a list with a selector.
func Telling[T any](l *Told, what snapshot.What, expected int, ask Lister[T]) Lister[T] {
	if l.Tell == nil {
		return ask
	}
	r := Reading{List: l.lists.Add(1), What: what}
	return func(ctx context.Context, o metav1.ListOptions, each func(*T) error) (metav1.ListMeta, error) {
		if o.Continue == "" { // otherwise the page before may still be being read
			r.Read, r.Of = 0, expected
			l.Tell(r)
		}
		page, err := ask(ctx, o, func(obj *T) error {
			r.Read++
			return each(obj)
		})
		if left := page.RemainingItemCount; left != nil {
			r.Of = r.Read + int(*left)
		}
		_, again := Expired(err)
		switch r.Done = !again && (err != nil || page.Continue == ""); {
		case r.Done:
			r.Of = r.Read
		case r.Read > r.Of:
			r.Of = 0
		}
		l.Tell(r)
		return page, err
	}
}
