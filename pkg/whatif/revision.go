package whatif

import (
	"fmt"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// revisionTemplate returns the template of a revision as kubectl rollout undo
// and the API server make it: with the server's defaults, which the revision
// may predate. If the live template lacks some defaults, it is from no server,
// and none are added.
func revisionTemplate(st *daemonset.State, number int64,
	live *corev1.PodTemplateSpec) (*corev1.PodTemplateSpec, error) {
	s := st.Snapshot
	if s.Lacks(snapshot.Revisions) {
		return nil, lacking(s, snapshot.Revisions, "what a rollback goes back to")
	}
	r, err := findRevision(s.DaemonSet, st.History, number)
	if err != nil {
		return nil, err
	}
	t, err := template.Patched(live, s.RevisionData(r.Name))
	if err != nil {
		return nil, fmt.Errorf("revision %d, controllerrevision %s: %w", r.Number, r.Name, err)
	}
	served := live.DeepCopy()
	if template.Default(served, s.KubernetesVersion); apiequality.Semantic.DeepEqual(served, live) {
		template.Default(t, s.KubernetesVersion)
	}
	return t, nil
}

// findRevision returns the revision with a number among those that the
// DaemonSet already owns. If two share it, it returns the first by name. 0
// means the second highest number.
func findRevision(ds *appsv1.DaemonSet, h *daemonset.History, number int64) (*daemonset.Revision, error) {
	var owned []daemonset.Revision // newest first
	for _, r := range h.Revisions {
		if r.Claim == daemonset.Owned {
			owned = append(owned, r)
		}
	}
	if number == 0 && len(owned) > 1 {
		return &owned[1], nil
	}
	var found *daemonset.Revision
	numbers := make([]string, 0, len(owned))
	for i := range slices.Backward(owned) {
		r := &owned[i]
		if r.Number == number && number > 0 && (found == nil || r.Name < found.Name) {
			found = r
		}
		numbers = append(numbers, strconv.FormatInt(r.Number, 10))
	}
	if found != nil {
		return found, nil
	}
	if i := slices.IndexFunc(h.Revisions, func(r daemonset.Revision) bool {
		return r.Number == number &&
			r.Claim == daemonset.Adopt
	}); i >= 0 && number > 0 {
		return nil, &Error{Message: fmt.Sprintf("revision %d, controllerrevision %s, has no owner yet: kubectl does "+
			"not see it until the next sync has adopted it", number, h.Revisions[i].Name)}
	}
	name, have := ds.Namespace+"/"+ds.Name, listNames(slices.Compact(numbers))
	switch {
	case number == 0:
		return nil, &Error{Message: fmt.Sprintf("daemonset %s has no revision before the current one: %s", name, have)}
	case len(owned) > 1:
		return nil, &Error{Message: fmt.Sprintf("daemonset %s has no revision %d: %s", name, number, have),
			Instead: &Change{ToRevision: &owned[1].Number}}
	}
	return nil, &Error{Message: fmt.Sprintf("daemonset %s has no revision %d: %s", name, number, have)}
}

// revisionNote compares the history before and after a change.
func revisionNote(before, after *daemonset.History) RevisionNote {
	n := RevisionNote{Number: after.Number, New: after.Cut}
	if r := current(before); r != nil {
		n.From = r.Number
	}
	if r := current(after); r != nil {
		n.Name, n.Was = r.Name, r.Number
	}
	return n
}

// current returns the revision that the next sync keeps, or nil if there is
// none or it is unknown.
func current(h *daemonset.History) *daemonset.Revision {
	for i := range h.Revisions {
		if r := &h.Revisions[i]; len(h.Current) > 0 && r.Name == h.Current[0] {
			return r
		}
	}
	return nil
}
