package dump

import (
	"context"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// lease records a Lease. Of two Leases of kube-controller-manager, the one renewed later is kept.
func (d *Dump) lease(o *object.LeaseRead) {
	d.leases.System = true
	switch old := d.leases.Controller; {
	case o.Is != nil && (old == nil || !old.RenewedAt.After(o.Is.RenewedAt)):
		d.leases.Controller = o.Is
	case o.Damage != nil:
		d.leases.Damage = o.Damage
	}
}

// AddController does what Cluster.AddController does, with the objects of the input. If the input
// contains no Lease of kube-system, or a recorded Snapshot was recorded without it, that is a Gap.
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

// controllerLease returns the Lease in the input, or a Gap that says why it is unknown.
func (d *Dump) controllerLease() (*snapshot.ControllerLease, []snapshot.Gap) {
	lacks := func(why snapshot.Why, message, of string) (*snapshot.ControllerLease, []snapshot.Gap) {
		return nil, []snapshot.Gap{{What: snapshot.Leases, Why: why, Message: message, Of: of}}
	}
	kind := object.KindName(object.OfLeases)
	switch partial := d.Partial(kind); {
	case d.leases.Controller != nil:
		return d.leases.Controller, nil
	case d.leases.Damage != nil:
		return lacks(snapshot.Failed, source.InWords(d.leases.Damage), "")
	case partial != "":
		return lacks(snapshot.Partial, partial, "")
	case d.Kinds[kind] == 0 && !d.lists[kind]:
		return lacks(snapshot.NotGiven, "the input holds no "+object.OfLeases.Kind, "")
	case !d.leases.System: // the input may be restricted to other namespaces
		const of = "namespace " + metav1.NamespaceSystem
		return lacks(snapshot.NotGiven, "the input holds no "+object.OfLeases.Kind+" of "+of, of)
	}
	return &snapshot.ControllerLease{}, nil
}
