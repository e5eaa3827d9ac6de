package part

import (
	"fmt"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// MostReferred is of how many objects AddReferences asks.
const MostReferred = 20

// Referring returns the Snapshot with what was found, and with the gaps in place of the rest.
func Referring(s *snapshot.Snapshot, found []*snapshot.Referred, gaps []snapshot.Gap) *snapshot.Snapshot {
	r := &snapshot.References{}
	for _, o := range found {
		if o != nil {
			r.Objects = append(r.Objects, *o)
		}
	}
	slices.SortFunc(r.Objects, snapshot.CompareReferred)
	return s.Referring(r, object.Ordered(gaps))
}

// MetadataOnly asks for nothing of an object but its metadata.
const MetadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

// Referable are the objects of a dump that a pod can refer to, by namespace, without
// any value.
type Referable map[string][]snapshot.Referred

// RecordedReferred returns an object that was recorded with a Snapshot, or why it is
// unknown.
func RecordedReferred(from *snapshot.Snapshot, w snapshot.Wanted) (*snapshot.Referred, snapshot.Gap) {
	if o := from.References.Find(w.Kind, w.Name); o != nil && (!w.Keys || o.KeysRead || !o.Exists) {
		return o, snapshot.Gap{}
	}
	if g := from.Gap(w.Kind.What()); g != nil {
		return nil, *g
	}
	return nil, snapshot.Gap{What: w.Kind.What(), Why: snapshot.NotGiven,
		Message: fmt.Sprintf("the snapshot was recorded without %s %s", w.Kind, w.Name)}
}
