package explain

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
)

// Current returns the revision that holds the live template, or nil if there is
// none.
func (e *Explanation) Current() *Revision {
	if i := slices.IndexFunc(e.Revisions, func(r Revision) bool { return r.Current }); i >= 0 {
		return &e.Revisions[i]
	}
	return nil
}

// ServedBy returns the old revision of all available pods, or nil if they are
// of several revisions or of the current one.
func (e *Explanation) ServedBy() *Revision {
	without := sets.Set[string]{}
	if e.Impact != nil {
		without = sets.New(e.Impact.Without...)
	}
	var on *Revision
	for i := range e.Revisions {
		r := &e.Revisions[i]
		if !slices.ContainsFunc(r.Nodes, func(n string) bool { return !without.Has(n) }) {
			continue
		}
		if r.Current || on != nil {
			return nil
		}
		on = r
	}
	return on
}

// revision returns the revision with a name, or nil if there is none.
func (e *Explanation) revision(name any) *Revision {
	if i := slices.IndexFunc(e.Revisions, func(r Revision) bool { return r.Name != "" && r.Name == name }); i >= 0 {
		return &e.Revisions[i]
	}
	return nil
}

// RevisionOf returns the revision of a pod, or nil if it has none.
func (e *Explanation) RevisionOf(p Pod) *Revision { return e.revision(p.Revision) }

// Waiting returns how many pods of the current revision are Ready and only wait
// for minReadySeconds, and when the last of them becomes available.
func (e *Explanation) Waiting() (pods int, until time.Time) {
	for i := range e.Nodes {
		for _, p := range e.Nodes[i].Pods {
			if !p.Updated || !p.Ready || p.Available || p.Terminating || p.AvailableAt == nil {
				continue
			}
			if pods++; p.AvailableAt.After(until) {
				until = *p.AvailableAt
			}
		}
	}
	return pods, until
}

// Running returns the revisions that pods run. It also includes a current revision without pods if no earlier revision
// has pods.
func (e *Explanation) Running() (out []*Revision) {
	for i := range e.Revisions {
		if r := &e.Revisions[i]; r.Pods+r.Terminating > 0 || r.Current && len(out) == 0 {
			out = append(out, r)
		}
	}
	return out
}

// RunBoth returns how many nodes run both an old and a new pod, as with
// maxSurge.
func (e *Explanation) RunBoth() (n int) {
	for _, on := range e.Nodes {
		has := func(updated bool) bool {
			return slices.ContainsFunc(on.Pods, func(p Pod) bool { return !p.Terminating && p.Updated == updated })
		}
		n += b2i(has(false) && has(true))
	}
	return n
}
