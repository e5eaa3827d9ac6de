package source

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// mostReferred is of how many objects AddReferences asks.
const mostReferred = 20

// AddReferences returns the Snapshot with its References: of the wanted objects of its
// namespace whether each exists, and where its keys are wanted their names. It sends a
// GET for each, side by side, for its metadata alone where no key is wanted; no value
// is kept. It asks for twenty objects at most.
//
// What could not be read is a Gap of its kind, and is not among the References.
func (c *Cluster) AddReferences(ctx context.Context, s *snapshot.Snapshot,
	wanted []snapshot.Wanted) (*snapshot.Snapshot, error) {
	ctx = silent(ctx)
	found, gaps := make([]*snapshot.Referred, len(wanted)), make([]snapshot.Gap, len(wanted))
	g, ctx := newGroup(ctx)
	for i, w := range wanted {
		if i >= mostReferred {
			gaps[i] = snapshot.Gap{What: w.Kind.What(), Why: snapshot.NotGiven,
				Message: fmt.Sprintf("the pods refer to %d objects, and at most %d are asked for", len(wanted),
					mostReferred)}
			continue
		}
		g.Go(func() (err error) {
			if found[i], err = c.referred(ctx, s.DaemonSet.Namespace, w); err != nil {
				gaps[i], err = c.gap(ctx, w.Kind.What(), err)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return referring(s, found, gaps), nil
}

// referring returns the Snapshot with what was found, and with the gaps in place of the rest.
func referring(s *snapshot.Snapshot, found []*snapshot.Referred, gaps []snapshot.Gap) *snapshot.Snapshot {
	r := &snapshot.References{}
	for _, o := range found {
		if o != nil {
			r.Objects = append(r.Objects, *o)
		}
	}
	slices.SortFunc(r.Objects, snapshot.CompareReferred)
	return s.Referring(r, object.Ordered(gaps))
}

// metadataOnly asks for nothing of an object but its metadata.
const metadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

// referred asks for one object. That there is none is an answer.
func (c *Cluster) referred(ctx context.Context, namespace string, w snapshot.Wanted) (*snapshot.Referred, error) {
	o := &snapshot.Referred{Kind: w.Kind, Name: w.Name, Exists: true, KeysRead: w.Keys}
	var err error
	switch {
	case !w.Keys:
		is := &metav1.PartialObjectMetadata{}
		err = about(w.Name, is, c.api[corev1.SchemeGroupVersion].Get().Namespace(namespace).Resource(string(w.Kind.What())).Name(w.Name).SetHeader("Accept", metadataOnly).Do(ctx).Into(is))
	case w.Kind == snapshot.ConfigMap:
		is, failed := c.api.ConfigMaps(namespace).Get(ctx, w.Name, metav1.GetOptions{})
		if err = about(w.Name, is, failed); err == nil {
			o.Keys, o.BinaryKeys = slices.Sorted(maps.Keys(is.Data)), slices.Sorted(maps.Keys(is.BinaryData))
		}
	default:
		is, failed := c.api.Secrets(namespace).Get(ctx, w.Name, metav1.GetOptions{})
		if err = about(w.Name, is, failed); err == nil {
			o.Keys = slices.Sorted(maps.Keys(is.Data))
		}
	}
	if apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) {
		return &snapshot.Referred{Kind: w.Kind, Name: w.Name}, nil
	}
	if err != nil {
		return nil, err
	}
	return o, nil
}

// referable are the objects of a dump that a pod can refer to, by namespace, without
// any value.
type referable map[string][]snapshot.Referred

// AddReferences does what that of a Cluster does, of the objects that the input holds.
// Where it has none of a kind, or not all of them, one that is not there is unknown, and
// so is one that a recorded Snapshot does not have.
func (d *Dump) AddReferences(_ context.Context, s *snapshot.Snapshot,
	wanted []snapshot.Wanted) (*snapshot.Snapshot, error) {
	found, gaps := make([]*snapshot.Referred, len(wanted)), make([]snapshot.Gap, len(wanted))
	recorded := d.snapshots[Ref{s.DaemonSet.Namespace, s.DaemonSet.Name}]
	for i, w := range wanted {
		if recorded != nil {
			found[i], gaps[i] = recordedReferred(recorded, w)
		} else {
			found[i], gaps[i] = d.referred(s.DaemonSet.Namespace, w)
		}
	}
	return referring(s, found, gaps), nil
}

// referred returns an object of a dump, or why it is unknown.
func (d *Dump) referred(namespace string, w snapshot.Wanted) (*snapshot.Referred, snapshot.Gap) {
	kind, of := string(w.Kind), d.referable[namespace]
	partial := d.partial(kind)
	i := slices.IndexFunc(of, func(o snapshot.Referred) bool { return o.Kind == w.Kind && o.Name == w.Name })
	ofKind := func(o snapshot.Referred) bool { return o.Kind == w.Kind }
	lacks := func(why snapshot.Why, message, of string) (*snapshot.Referred, snapshot.Gap) {
		return nil, snapshot.Gap{What: w.Kind.What(), Why: why, Message: message, Of: of}
	}
	switch {
	case i >= 0 && w.Keys && !of[i].KeysRead:
		return lacks(snapshot.NotGiven, fmt.Sprintf("the input holds no keys of %s %s", w.Kind,
			Ref{namespace, w.Name}), "")
	case i >= 0:
		return &of[i], snapshot.Gap{}
	case partial != "":
		return lacks(snapshot.Partial, partial, "")
	case d.kinds[kind] == 0:
		return lacks(snapshot.NotGiven, "the input holds no "+kind, "")
	case !slices.ContainsFunc(of, ofKind): // it may be of other namespaces only
		return lacks(snapshot.NotGiven, "the input holds no "+kind+" of namespace "+namespace, "namespace "+namespace)
	}
	return &snapshot.Referred{Kind: w.Kind, Name: w.Name}, snapshot.Gap{}
}

// recordedReferred returns an object that was recorded with a Snapshot, or why it is
// unknown.
func recordedReferred(from *snapshot.Snapshot, w snapshot.Wanted) (*snapshot.Referred, snapshot.Gap) {
	if o := from.References.Find(w.Kind, w.Name); o != nil && (!w.Keys || o.KeysRead || !o.Exists) {
		return o, snapshot.Gap{}
	}
	if g := from.Gap(w.Kind.What()); g != nil {
		return nil, *g
	}
	return nil, snapshot.Gap{What: w.Kind.What(), Why: snapshot.NotGiven,
		Message: fmt.Sprintf("the snapshot was recorded without %s %s", w.Kind, w.Name)}
}
