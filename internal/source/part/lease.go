package part

import (
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Leases are what a dump has of Leases.
type Leases struct {
	Controller *snapshot.ControllerLease // of kube-controller-manager; nil if there is none
	System     bool                      // there is one in its namespace
	Damage     error                     // why that of kube-controller-manager cannot be read
}
