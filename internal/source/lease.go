package source

import (
	"context"
	"encoding/json"
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// AddController returns the Snapshots, in their order, with their Controller: the Lease of
// kube-controller-manager, which it reads once. A Lease that cannot be read is a Gap; one that does
// not exist is not.
func (c *Cluster) AddController(ctx context.Context, all []*snapshot.Snapshot) ([]*snapshot.Snapshot, error) {
	if len(all) == 0 {
		return nil, nil
	}
	lease, err := c.lease(silent(ctx))
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

// lease reads the Lease; nil with an error.
func (c *Cluster) lease(ctx context.Context) (*snapshot.ControllerLease, error) {
	get := c.api[corev1.SchemeGroupVersion].Get().AbsPath(object.LeasePath)
	answer := get.SetHeader("Accept", runtime.ContentTypeJSON).Do(ctx)
	raw, err := answer.Raw()
	switch err := answer.Error(); {
	case apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
		return &snapshot.ControllerLease{}, nil
	case err != nil:
		return nil, err // in the server's words
	}
	if err != nil {
		return nil, err
	}
	is := object.LeaseObject{}
	if err := json.Unmarshal(raw, &is); err != nil {
		return nil, unusable(notJSON(err))
	}
	if !is.Controllers() {
		return nil, unusable(errors.New("it is about another object"))
	}
	return is.Lease(), nil
}

// leases are what a dump has of Leases.
type leases struct {
	controller *snapshot.ControllerLease // of kube-controller-manager; nil if there is none
	system     bool                      // there is one in its namespace
	damage     error                     // why that of kube-controller-manager cannot be read
}

// lease notes a Lease. Of two of kube-controller-manager the one that was renewed last counts.
func (d *Dump) lease(o *object.LeaseRead) {
	d.leases.system = true
	switch old := d.leases.controller; {
	case o.Is != nil && (old == nil || !old.RenewedAt.After(o.Is.RenewedAt)):
		d.leases.controller = o.Is
	case o.Damage != nil:
		d.leases.damage = o.Damage
	}
}

// AddController does what that of a Cluster does, of what the input holds. Where it has no Lease of
// the namespace, whether there is one is unknown: that is a Gap. So it is where a recorded Snapshot was
// recorded without it.
func (d *Dump) AddController(_ context.Context, all []*snapshot.Snapshot) ([]*snapshot.Snapshot, error) {
	const without = "the snapshot was recorded without it"
	out := make([]*snapshot.Snapshot, len(all))
	for i, s := range all {
		from := d.recorded(s)
		switch {
		case from == nil:
			out[i] = s.ControlledBy(d.controllerLease())
		case from.Controller == nil && from.Gap(snapshot.Leases) == nil:
			out[i] = s.ControlledBy(nil,
				[]snapshot.Gap{{What: snapshot.Leases, Why: snapshot.NotGiven, Message: without}})
		default:
			out[i] = s.ControlledBy(from.Controller, from.Gaps)
		}
	}
	return out, nil
}

// controllerLease returns the Lease that the input holds, or why it is unknown.
func (d *Dump) controllerLease() (*snapshot.ControllerLease, []snapshot.Gap) {
	lacks := func(why snapshot.Why, message, of string) (*snapshot.ControllerLease, []snapshot.Gap) {
		return nil, []snapshot.Gap{{What: snapshot.Leases, Why: why, Message: message, Of: of}}
	}
	kind := object.KindName(object.OfLeases)
	switch partial := d.partial(kind); {
	case d.leases.controller != nil:
		return d.leases.controller, nil
	case d.leases.damage != nil:
		return lacks(snapshot.Failed, inWords(d.leases.damage), "")
	case partial != "":
		return lacks(snapshot.Partial, partial, "")
	case d.kinds[kind] == 0 && !d.lists[kind]:
		return lacks(snapshot.NotGiven, "the input holds no "+object.OfLeases.Kind, "")
	case !d.leases.system: // they may be of other namespaces only
		const of = "namespace " + metav1.NamespaceSystem
		return lacks(snapshot.NotGiven, "the input holds no "+object.OfLeases.Kind+" of "+of, of)
	}
	return &snapshot.ControllerLease{}, nil
}
