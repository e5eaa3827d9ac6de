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

// Error is a change that cannot be made as it was asked.
type Error struct {
	Message string
	Instead *Change // a part that could be asked in place of what was; nil where none is known

	// Nodes is set where the change names nodes of which there are none.
	Nodes *NoNodesError
}

func (e *Error) Error() string { return e.Message }

// Invalid is the API server's refusal of a DaemonSet, in its words.
type Invalid struct {
	Name    string
	Errors  field.ErrorList
	Instead *Change // what would make a refused update strategy a valid one; nil where nothing is known to
}

func (e *Invalid) Error() string {
	return apierrors.NewInvalid(schema.GroupKind{Group: appsv1.GroupName, Kind: "DaemonSet"}, e.Name, e.Errors).Error()
}

// NoNodesError is a name, a pattern or a selector of nodes that no node matches.
type NoNodesError struct {
	Which    string   // as it was asked
	Selector bool     // Which is a label selector
	Near     []string // names that may have been meant
}

// EditError is a change of nodes that cannot be made.
type EditError struct {
	Said string // as it was asked
	Err  error  // why not
}

func (e *EditError) Error() string { return e.Said + ": " + e.Err.Error() }

// Unwrap returns why not.
func (e *EditError) Unwrap() error { return e.Err }

// LackingError is a change that rests on what could not be read.
type LackingError struct {
	What snapshot.What
	Gap  *snapshot.Gap
	Of   string // the namespace of what was not read; empty for nodes
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
