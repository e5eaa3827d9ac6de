package source

import (
	"context"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"k8s.io/apimachinery/pkg/labels"
)

// Ref is the namespace and name of a DaemonSet.
type Ref struct {
	Namespace string // may be empty for a Dump: any namespace
	Name      string
}

func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Name
	}
	return r.Namespace + "/" + r.Name
}

// Filter selects the DaemonSets that ReadAll reads.
type Filter struct {
	Namespace string          // empty: all namespaces
	Names     []string        // nil: all; a name that does not exist is not an error
	Selector  labels.Selector // matches the labels of the DaemonSet itself; nil: all
}

// Matches reports whether the filter selects a DaemonSet by its name and labels. It does not check
// the namespace.
func (f Filter) Matches(name string, l labels.Set) bool {
	return (f.Names == nil || slices.Contains(f.Names, name)) && (f.Selector == nil || f.Selector.Matches(l))
}

// Collect calls read and returns all Snapshots that read passes to its callback.
func Collect(ctx context.Context, f Filter,
	read func(context.Context, Filter, func([]*snapshot.Snapshot) error) error) (all []*snapshot.Snapshot, err error) {
	err = read(ctx, f, func(some []*snapshot.Snapshot) error {
		all = append(all, some...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// SimilarRefs returns at most three refs whose names are similar to name, the most similar first.
func SimilarRefs(name string, refs []Ref) []Ref {
	var names []string
	for _, r := range refs {
		names = append(names, r.Name)
	}
	slices.Sort(names)
	var out []Ref
	for _, near := range snapshot.Near(name, slices.Compact(names)) {
		for _, r := range refs {
			if r.Name == near {
				out = append(out, r)
			}
		}
	}
	const most = 3
	return out[:min(most, len(out))]
}
