package part

import (
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Leases holds what a dump contains about Leases.
type Leases struct {
	Controller *snapshot.ControllerLease // nil if the dump does not contain the Lease of kube-controller-manager
	System     bool                      // whether the dump contains any Lease of kube-system
	Damage     error                     // why the Lease of kube-controller-manager cannot be read
}
