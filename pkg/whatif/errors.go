package whatif

import (
	"cmp"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Error reports that a change cannot be made as requested.
type Error struct {
	Message string
	Instead *Change // a part that could be requested instead; nil if none is known

	// Nodes is set if the change names nodes that do not exist.
	Nodes *NoNodesError
}

func (e *Error) Error() string { return e.Message }

// Invalid reports that the API server rejects a DaemonSet, with its messages.
type Invalid struct {
	Name    string
	Errors  field.ErrorList
	Instead *Change // makes a rejected update strategy valid; nil if none is known
}

func (e *Invalid) Error() string {
	return apierrors.NewInvalid(schema.GroupKind{Group: appsv1.GroupName, Kind: "DaemonSet"}, e.Name, e.Errors).Error()
}

// NoNodesError reports that no node matches a name, a pattern or a selector.
type NoNodesError struct {
	Which    string   // as requested
	Selector bool     // Which is a label selector
	Near     []string // names that may have been meant
}

// EditError reports that a change of nodes cannot be made.
type EditError struct {
	Said string // as requested
	Err  error  // the reason
}

func (e *EditError) Error() string { return e.Said + ": " + e.Err.Error() }

// Unwrap returns e.Err.
func (e *EditError) Unwrap() error { return e.Err }

// LackingError reports that a change depends on a part that could not be read.
type LackingError struct {
	What snapshot.What
	Gap  *snapshot.Gap
	Of   string // the namespace of the part; empty for nodes
	tell string
}

func (e *LackingError) Error() string {
	words := fmt.Sprintf("the %s could not be read, which tell %s", e.What, e.tell)
	return words + ": " + cmp.Or(e.Gap.Message, string(e.Gap.Why))
}

func lacking(s *snapshot.Snapshot, what snapshot.What, tell string) *LackingError {
	e := &LackingError{What: what, Gap: s.Gap(what), tell: tell}
	if what != snapshot.Nodes {
		e.Of = s.DaemonSet.Namespace
	}
	return e
}
