package part

import (
	"fmt"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// MaxReferred is the maximum number of objects that AddReferences requests.
const MaxReferred = 20

// Referring returns s with the found objects as its References, and with the gaps.
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

// MetadataOnly is the media type that requests only the metadata of an object.
const MetadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

// Referable holds the objects of a dump that a pod can refer to, by namespace. It holds no values.
type Referable map[string][]snapshot.Referred

// RecordedReferred returns an object recorded with a Snapshot, or a Gap that says why it is
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
