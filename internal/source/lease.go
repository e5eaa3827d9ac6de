package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// The Lease of kube-controller-manager.
const (
	leasePath = "/apis/coordination.k8s.io/v1/namespaces/" + metav1.NamespaceSystem + "/leases/" + leaseName
	leaseName = "kube-controller-manager"
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
	get := c.api[corev1.SchemeGroupVersion].Get().AbsPath(leasePath)
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
	is := leaseObject{}
	if err := json.Unmarshal(raw, &is); err != nil {
		return nil, unusable(notJSON(err))
	}
	if !is.controllers() {
		return nil, unusable(errors.New("it is about another object"))
	}
	return is.lease(), nil
}

// leaseObject is what is read of a Lease.
type leaseObject struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		HolderIdentity       string           `json:"holderIdentity"`
		LeaseDurationSeconds int              `json:"leaseDurationSeconds"`
		AcquireTime          metav1.MicroTime `json:"acquireTime"`
		RenewTime            metav1.MicroTime `json:"renewTime"`
	} `json:"spec"`
}

// controllers reports whether it is that of kube-controller-manager.
func (o *leaseObject) controllers() bool {
	return o.Metadata.Namespace == metav1.NamespaceSystem && o.Metadata.Name == leaseName
}

func (o *leaseObject) lease() *snapshot.ControllerLease {
	return &snapshot.ControllerLease{
		Exists: true, Holder: o.Spec.HolderIdentity, DurationSeconds: max(o.Spec.LeaseDurationSeconds, 0),
		AcquiredAt: o.Spec.AcquireTime.UTC(), RenewedAt: o.Spec.RenewTime.UTC(),
	}
}

// leases are what a dump has of Leases.
type leases struct {
	controller *snapshot.ControllerLease // of kube-controller-manager; nil if there is none
	system     bool                      // there is one in its namespace
	damage     error                     // why that of kube-controller-manager cannot be read
}

// lease notes a Lease. Of two of kube-controller-manager the one that was renewed last counts.
func (d *Dump) lease(o *leaseRead) {
	d.leases.system = true
	switch old := d.leases.controller; {
	case o.is != nil && (old == nil || !old.RenewedAt.After(o.is.RenewedAt)):
		d.leases.controller = o.is
	case o.damage != nil:
		d.leases.damage = o.damage
	}
}

// leaseRead is what is kept of a Lease of a dump.
type leaseRead struct {
	is     *snapshot.ControllerLease // if it is that of kube-controller-manager
	damage error                     // why it cannot be read
}

// leaseOf returns what is kept of a Lease in the namespace of kube-controller-manager; nil for any other
// object. Nearly all Leases are those of nodes.
func leaseOf(kind metav1.TypeMeta, raw []byte) *leaseRead {
	if kind != ofLeases || !bytes.Contains(raw, []byte(metav1.NamespaceSystem)) {
		return nil
	}
	var name struct {
		Metadata struct{ Namespace, Name string } `json:"metadata"`
	}
	if json.Unmarshal(raw, &name) != nil || name.Metadata.Namespace != metav1.NamespaceSystem {
		return nil
	}
	out, is := &leaseRead{}, leaseObject{}
	if name.Metadata.Name == leaseName {
		if out.damage = explain(raw, &is, json.Unmarshal(raw, &is)); out.damage == nil {
			out.is = is.lease()
		}
	}
	return out
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
	kind := kindName(ofLeases)
	switch partial := d.partial(kind); {
	case d.leases.controller != nil:
		return d.leases.controller, nil
	case d.leases.damage != nil:
		return lacks(snapshot.Failed, inWords(d.leases.damage), "")
	case partial != "":
		return lacks(snapshot.Partial, partial, "")
	case d.kinds[kind] == 0 && !d.lists[kind]:
		return lacks(snapshot.NotGiven, "the input holds no "+ofLeases.Kind, "")
	case !d.leases.system: // they may be of other namespaces only
		const of = "namespace " + metav1.NamespaceSystem
		return lacks(snapshot.NotGiven, "the input holds no "+ofLeases.Kind+" of "+of, of)
	}
	return &snapshot.ControllerLease{}, nil
}
