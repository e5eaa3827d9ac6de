package dump

import (
	"context"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// lease notes a Lease. Of two of kube-controller-manager the one that was renewed last counts.
func (d *Dump) lease(o *object.LeaseRead) {
	d.leases.System = true
	switch old := d.leases.Controller; {
	case o.Is != nil && (old == nil || !old.RenewedAt.After(o.Is.RenewedAt)):
		d.leases.Controller = o.Is
	case o.Damage != nil:
		d.leases.Damage = o.Damage
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
	switch partial := d.Partial(kind); {
	case d.leases.Controller != nil:
		return d.leases.Controller, nil
	case d.leases.Damage != nil:
		return lacks(snapshot.Failed, source.InWords(d.leases.Damage), "")
	case partial != "":
		return lacks(snapshot.Partial, partial, "")
	case d.Kinds[kind] == 0 && !d.lists[kind]:
		return lacks(snapshot.NotGiven, "the input holds no "+object.OfLeases.Kind, "")
	case !d.leases.System: // they may be of other namespaces only
		const of = "namespace " + metav1.NamespaceSystem
		return lacks(snapshot.NotGiven, "the input holds no "+object.OfLeases.Kind+" of "+of, of)
	}
	return &snapshot.ControllerLease{}, nil
}
