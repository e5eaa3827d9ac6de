package cluster

import (
	"context"
	"encoding/json"
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-ds/kubectl-ds/internal/source/api"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// AddController returns the Snapshots, in the given order, with their Controller: the Lease of
// kube-controller-manager, which is read once. A Lease that cannot be read is a Gap. A Lease that
// does not exist is not.
func (c *Cluster) AddController(ctx context.Context, all []*snapshot.Snapshot) ([]*snapshot.Snapshot, error) {
	if len(all) == 0 {
		return nil, nil
	}
	lease, err := c.lease(withoutLogs(ctx))
	var gaps []snapshot.Gap
	if err != nil {
		g, err := c.gap(ctx, snapshot.Leases, err)
		if err != nil {
			return nil, err
		}
		gaps = []snapshot.Gap{g}
	}
	out := make([]*snapshot.Snapshot, len(all))
	for i, s := range all {
		out[i] = s.ControlledBy(lease, gaps)
	}
	return out, nil
}

// lease returns the Lease, which is empty if it does not exist.
func (c *Cluster) lease(ctx context.Context) (*snapshot.ControllerLease, error) {
	get := c.Clients[corev1.SchemeGroupVersion].Get().AbsPath(object.LeasePath)
	answer := get.SetHeader("Accept", runtime.ContentTypeJSON).Do(ctx)
	raw, err := answer.Raw()
	switch err := answer.Error(); {
	case apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
		return &snapshot.ControllerLease{}, nil
	case err != nil:
		return nil, err // with the server's message
	}
	if err != nil {
		return nil, err
	}
	is := object.LeaseObject{}
	if err := json.Unmarshal(raw, &is); err != nil {
		return nil, api.Unusable(api.NotJSON(err))
	}
	if !is.Controllers() {
		return nil, api.Unusable(errors.New("it is about another object"))
	}
	return is.Lease(), nil
}
