package api

import (
	"context"
	"sync/atomic"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reading is how far a list of nodes or pods was read.
type Reading struct {
	List int64 // tells the lists of a Cluster apart
	What snapshot.What
	Read int  // objects that came
	Of   int  // how many there are, as far as it is known; 0 where it is not
	Done bool // it was read to its end, or cannot be read
}

// Told reports how far lists have been read.
type Told struct {
	Tell  func(Reading)
	lists atomic.Int64
}

// Telling returns a lister that calls ask and reports its progress. expected is the number of objects if the server
// does not send one, as for a list with a selector.
func Telling[T any](l *Told, what snapshot.What, expected int, ask Lister[T]) Lister[T] {
	if l.Tell == nil {
		return ask
	}
	r := Reading{List: l.lists.Add(1), What: what}
	return func(ctx context.Context, o metav1.ListOptions, each func(*T) error) (metav1.ListMeta, error) {
		if o.Continue == "" { // else the page before may be being read still
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
