package cli

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// read returns the Snapshots that were chosen.
func (in *input) read(ctx context.Context) ([]*snapshot.Snapshot, error) {
	r, namespace, err := in.open(ctx)
	if err != nil {
		return nil, err
	}
	if len(in.names) == 0 {
		if in.allNamespaces {
			namespace = ""
		}
		return r.ReadAll(ctx, source.Filter{Namespace: namespace, Selector: in.selector})
	}
	found, err := readNames(ctx, r, within(namespace, in.names), orOfKind)
	return found, in.meant(err)
}

// within returns the refs with the namespace for those that have none.
func within(namespace string, refs []source.Ref) []source.Ref {
	var out []source.Ref
	for _, ref := range refs {
		if ref.Namespace = cmp.Or(ref.Namespace, namespace); !slices.Contains(out, ref) {
			out = append(out, ref)
		}
	}
	return out
}

// readNames returns the Snapshots of these DaemonSets, in their order. What several of
// a namespace share is read once. missing says what the error of reading one comes to;
// where that is nil, so is its Snapshot.
func readNames(ctx context.Context, r reader, refs []source.Ref, missing func(source.Ref, error) error) ([]*snapshot.Snapshot, error) {
	byNamespace := map[string][]string{}
	for _, ref := range refs {
		byNamespace[ref.Namespace] = append(byNamespace[ref.Namespace], ref.Name)
	}
	read := map[source.Ref][]*snapshot.Snapshot{}
	for _, namespace := range slices.Sorted(maps.Keys(byNamespace)) {
		names := byNamespace[namespace]
		if len(names) == 1 {
			continue
		}
		all, err := r.ReadAll(ctx, source.Filter{Namespace: namespace, Names: names})
		if err != nil {
			return nil, err
		}
		for _, s := range all {
			ref := source.Ref{Namespace: namespace, Name: s.DaemonSet.Name}
			read[ref] = append(read[ref], s)
		}
	}
	out := make([]*snapshot.Snapshot, len(refs))
	for i, ref := range refs {
		if found := read[ref]; len(found) == 1 {
			out[i] = found[0]
			continue
		}
		s, err := r.Read(ctx, ref) // it knows why: there is none, or one in several namespaces
		if err != nil {
			if err = missing(ref, err); err != nil {
				return nil, err
			}
		}
		out[i] = s
	}
	return out, nil
}
