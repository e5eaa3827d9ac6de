package source

import (
	"context"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Reading is how far a list of nodes or pods was read.
type Reading struct {
	List int64 // tells the lists of a Cluster apart
	What snapshot.What
	Read int  // objects that came
	Of   int  // how many there are, as far as it is known; 0 where it is not
	Done bool // it was read to its end, or cannot be read
}

// OnReading has tell called when a list of nodes or pods begins, with each page of it, and when it ends; from any
// goroutine. Nobody is told until it is called, and it must be called before the first request.
func (c *Cluster) OnReading(tell func(Reading)) { c.told.tell = tell }

// told tells how far lists were read.
type told struct {
	tell  func(Reading)
	lists atomic.Int64
}

// telling returns a lister that does what ask does, and tells how far it came. So many objects
// are expected where the server does not say how many there are, as of a list with a selector.
func telling[T any](l *told, what snapshot.What, expected int, ask lister[T]) lister[T] {
	if l.tell == nil {
		return ask
	}
	r := Reading{List: l.lists.Add(1), What: what}
	return func(ctx context.Context, o metav1.ListOptions, each func(*T) error) (metav1.ListMeta, error) {
		if o.Continue == "" { // else the page before may be being read still
			r.Read, r.Of = 0, expected
			l.tell(r)
		}
		page, err := ask(ctx, o, func(obj *T) error {
			r.Read++
			return each(obj)
		})
		if left := page.RemainingItemCount; left != nil {
			r.Of = r.Read + int(*left)
		}
		_, again := expired(err)
		switch r.Done = !again && (err != nil || page.Continue == ""); {
		case r.Done:
			r.Of = r.Read
		case r.Read > r.Of:
			r.Of = 0
		}
		l.tell(r)
		return page, err
	}
}
