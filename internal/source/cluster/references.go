package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/api"
	"github.com/kubectl-ds/kubectl-ds/internal/source/part"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// AddReferences returns the Snapshot with its References: for each wanted object of its namespace,
// whether it exists and, if its keys are wanted, their names. It gets at most 20 objects,
// concurrently. If no keys are wanted, it requests only metadata. It keeps no values.
//
// An object that cannot be read is a Gap of its kind and is not among the References.
func (c *Cluster) AddReferences(ctx context.Context, s *snapshot.Snapshot,
	wanted []snapshot.Wanted) (*snapshot.Snapshot, error) {
	ctx = withoutLogs(ctx)
	found, gaps := make([]*snapshot.Referred, len(wanted)), make([]snapshot.Gap, len(wanted))
	g, ctx := source.NewGroup(ctx)
	for i, w := range wanted {
		if i >= part.MaxReferred {
			gaps[i] = snapshot.Gap{What: w.Kind.What(), Why: snapshot.NotGiven,
				Message: fmt.Sprintf("the pods refer to %d objects, and at most %d are asked for", len(wanted),
					part.MaxReferred)}
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
	return part.Referring(s, found, gaps), nil
}

// referred reads one object. If it does not exist, that is a result and not an error.
func (c *Cluster) referred(ctx context.Context, namespace string, w snapshot.Wanted) (*snapshot.Referred, error) {
	o := &snapshot.Referred{Kind: w.Kind, Name: w.Name, Exists: true, KeysRead: w.Keys}
	var err error
	switch {
	case !w.Keys:
		is := &metav1.PartialObjectMetadata{}
		err = c.Clients[corev1.SchemeGroupVersion].Get().Namespace(namespace).Resource(string(w.Kind.What())).
			Name(w.Name).SetHeader("Accept", part.MetadataOnly).Do(ctx).Into(is)
		err = api.About(w.Name, is, err)
	case w.Kind == snapshot.ConfigMap:
		is, failed := api.Of[corev1.ConfigMap](c.Clients, namespace).Get(ctx, w.Name, metav1.GetOptions{})
		if err = api.About(w.Name, is, failed); err == nil {
			o.Keys, o.BinaryKeys = slices.Sorted(maps.Keys(is.Data)), slices.Sorted(maps.Keys(is.BinaryData))
		}
	default:
		is, failed := api.Of[corev1.Secret](c.Clients, namespace).Get(ctx, w.Name, metav1.GetOptions{})
		if err = api.About(w.Name, is, failed); err == nil {
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
