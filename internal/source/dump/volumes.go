package dump

import (
	"context"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/internal/source/part"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AddVolumes does what Cluster.AddVolumes does, with the objects of the input. If the input has no
// object of a kind, or a recorded Snapshot lacks a part, that is a Gap.
func (d *Dump) AddVolumes(ctx context.Context, s *snapshot.Snapshot, claims,
	nodes []string) (*snapshot.Snapshot, error) {
	if from := d.recorded(s); from != nil {
		return part.RecordedVolumes(s, from, part.Distinct(claims), part.Few(nodes)), nil
	}
	kept, namespace := &d.admission, s.DaemonSet.Namespace
	r := part.VolumeReader{
		Claim: func(_ context.Context, name string) (*corev1.PersistentVolumeClaim, []snapshot.Gap, error) {
			return lookUp(d, snapshot.PersistentVolumes, object.OfClaims, &kept.claims, namespace, name)
		},
		Volume: func(_ context.Context, name string) (*corev1.PersistentVolume, []snapshot.Gap, error) {
			return lookUp(d, snapshot.PersistentVolumes, object.OfVolumes, &kept.volumes, "", name)
		},
	}
	if err := r.Read(ctx, part.Distinct(claims)); err != nil {
		return nil, err
	}
	if r.Attaches() {
		if r.SetNodes(nodes); d.lacking(snapshot.CSINodes, object.OfCSINodes) != nil {
			r.Gaps = append(r.Gaps, *d.lacking(snapshot.CSINodes, object.OfCSINodes))
		}
		for i := range kept.csiNodes.Items {
			if n := &kept.csiNodes.Items[i]; r.Of(n.Name) {
				r.Add(snapshot.DriversOf(n, r.Claims), d.attached[n.Name])
			}
		}
		slices.SortFunc(r.Drivers, snapshot.CompareDrivers)
	}
	return s.Reaching(&r.Volumes, object.Ordered(r.Gaps)), nil
}

// lookUp returns an object of a dump: nil if it does not exist, and a Gap if that is unknown.
func lookUp[T any](d *Dump, what snapshot.What, kind metav1.TypeMeta, of *store[T], namespace, name string) (*T,
	[]snapshot.Gap, error) {
	if i, found := of.index[namespace+"/"+name]; found {
		return &of.Items[i], nil, nil
	}
	if g := d.lacking(what, kind); g != nil {
		return nil, []snapshot.Gap{*g}, nil
	}
	if of.perNamespace[namespace] == 0 && len(of.Items) > 0 { // the input may be restricted to other namespaces
		return nil, []snapshot.Gap{{What: what, Why: snapshot.NotGiven, Message: "the input holds no " + kind.Kind +
			" of namespace " + namespace, Of: "namespace " + namespace}}, nil
	}
	return nil, nil, nil
}

// lacking returns a Gap if the input may lack objects of a kind, else nil.
func (d *Dump) lacking(what snapshot.What, kind metav1.TypeMeta) *snapshot.Gap {
	name := object.KindName(kind)
	partial, damaged := d.Partial(name), d.admission.damaged[kind]
	switch {
	case partial != "":
		return &snapshot.Gap{What: what, Why: snapshot.Partial, Message: partial}
	case damaged != "":
		return &snapshot.Gap{What: what, Why: snapshot.Failed, Message: damaged}
	case d.Kinds[name] == 0 && !d.lists[name]:
		return &snapshot.Gap{What: what, Why: snapshot.NotGiven, Message: "the input holds no " + kind.Kind}
	}
	return nil
}
