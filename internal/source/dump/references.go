package dump

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/part"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// AddReferences does what Cluster.AddReferences does, with the objects of the input. If the input
// has no or not all objects of a kind, or a recorded Snapshot lacks an object, that is a Gap.
func (d *Dump) AddReferences(_ context.Context, s *snapshot.Snapshot,
	wanted []snapshot.Wanted) (*snapshot.Snapshot, error) {
	found, gaps := make([]*snapshot.Referred, len(wanted)), make([]snapshot.Gap, len(wanted))
	recorded := d.snapshots[source.Ref{Namespace: s.DaemonSet.Namespace, Name: s.DaemonSet.Name}]
	for i, w := range wanted {
		if recorded != nil {
			found[i], gaps[i] = part.RecordedReferred(recorded, w)
		} else {
			found[i], gaps[i] = d.referred(s.DaemonSet.Namespace, w)
		}
	}
	return part.Referring(s, found, gaps), nil
}

// referred returns an object of a dump, or a Gap that says why it is unknown.
func (d *Dump) referred(namespace string, w snapshot.Wanted) (*snapshot.Referred, snapshot.Gap) {
	kind, of := string(w.Kind), d.Referable[namespace]
	partial := d.Partial(kind)
	i := slices.IndexFunc(of, func(o snapshot.Referred) bool { return o.Kind == w.Kind && o.Name == w.Name })
	ofKind := func(o snapshot.Referred) bool { return o.Kind == w.Kind }
	lacks := func(why snapshot.Why, message, of string) (*snapshot.Referred, snapshot.Gap) {
		return nil, snapshot.Gap{What: w.Kind.What(), Why: why, Message: message, Of: of}
	}
	switch {
	case i >= 0 && w.Keys && !of[i].KeysRead:
		return lacks(snapshot.NotGiven, fmt.Sprintf("the input holds no keys of %s %s", w.Kind,
			source.Ref{Namespace: namespace, Name: w.Name}), "")
	case i >= 0:
		return &of[i], snapshot.Gap{}
	case partial != "":
		return lacks(snapshot.Partial, partial, "")
	case d.Kinds[kind] == 0:
		return lacks(snapshot.NotGiven, "the input holds no "+kind, "")
	case !slices.ContainsFunc(of, ofKind): // the input may be restricted to other namespaces
		return lacks(snapshot.NotGiven, "the input holds no "+kind+" of namespace "+namespace, "namespace "+namespace)
	}
	return &snapshot.Referred{Kind: w.Kind, Name: w.Name}, snapshot.Gap{}
}
