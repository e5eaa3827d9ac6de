package timing

import (
	"slices"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Learnt collects how long pods take while they are followed.
type Learnt struct {
	created, deleted map[types.UID]time.Time
	Starts, Ends     []float64 // seconds, in the order seen
}

// NewLearnt returns an empty Learnt.
func NewLearnt() Learnt {
	return Learnt{created: map[types.UID]time.Time{}, deleted: map[types.UID]time.Time{}}
}

// mostLearnt bounds the samples; the newest stay.
const mostLearnt = 500

// See takes the state of a pod at a moment. A pod that restarted before it became Ready does not count, nor does one
// whose creation was not seen.
func (l *Learnt) See(at time.Time, p *corev1.Pod, gone, fresh bool) {
	keep := func(of []float64, took time.Duration) []float64 {
		of = append(of, took.Seconds())
		return of[max(0, len(of)-mostLearnt):]
	}
	created, starting := l.created[p.UID]
	deleted, ending := l.deleted[p.UID]
	switch {
	case gone:
		if ending {
			l.Ends = keep(l.Ends, at.Sub(deleted))
		}
		delete(l.created, p.UID)
		delete(l.deleted, p.UID)
	case fresh:
		l.created[p.UID] = at
	case p.DeletionTimestamp != nil && !ending:
		l.deleted[p.UID] = at
		delete(l.created, p.UID)
	case p.DeletionTimestamp == nil && starting && (HasRestarted(p) || isReady(p)):
		if !HasRestarted(p) {
			l.Starts = keep(l.Starts, at.Sub(created))
		}
		delete(l.created, p.UID)
	}
}

// Teach replaces measured times in m by the times that were seen, if these are enough.
func (l *Learnt) Teach(m *Measured) *Measured {
	again := m.Again
	m.Again = func(other *daemonset.State) *Measured { return l.Teach(again(other)) }
	// A single sample is better than an upper bound.
	if len(l.Ends) >= Fewest || len(l.Ends) > 0 && m.EndSource == SourceGracePeriod {
		m.Ends, m.EndSource = slices.Sorted(slices.Values(l.Ends)), sourceWatch
		m.End = known(m.Ends)
	}
	if len(l.Starts) >= Fewest {
		m.Starts, m.StartSource = levelled(slices.Sorted(slices.Values(l.Starts))), sourceWatch
		m.Start = known(m.Starts)
	}
	return m
}
