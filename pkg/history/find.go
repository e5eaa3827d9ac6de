package history

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// Which identifies a template: the live one, a revision by its number, or a row
// counted back from the newest revision.
type Which struct {
	Number int64 // 1 or more: a revision; negative: rows back, -1 is the one before the latest
	Live   bool
}

// Find returns the row that w identifies, or nil for the live template. If two
// revisions share a number, it returns the first by name. It returns an *Error
// if there is no such row.
func Find(h *History, w Which) (*Revision, error) {
	if w.Live {
		return nil, nil
	}
	var found *Revision
	for i := range h.Revisions[:h.Kept()] {
		if row := &h.Revisions[i]; (row.Revision == w.Number || w.Number < 0 && i == int(-w.Number)) &&
			(found == nil || row.Name < found.Name) {
			found = row
		}
	}
	switch {
	case found != nil:
		return found, nil
	case w.Number < 0:
		return nil, noSuchRevision(h, fmt.Sprintf("%d before the latest", -w.Number))
	}
	return nil, noSuchRevision(h, strconv.FormatInt(w.Number, 10))
}

// Error is a request that cannot be answered.
type Error struct {
	Code      ErrorCode
	Namespace string       // of the DaemonSet
	Why       snapshot.Why // for NotReadable: why the revisions could not be read
	message   string
}

// ErrorCode says why a request cannot be answered.
type ErrorCode string

const (
	NoSuchRevision ErrorCode = "NoSuchRevision" // there is no such revision
	NoneBefore     ErrorCode = "NoneBefore"     // there is no revision before the oldest one
	NotReadable    ErrorCode = "NotReadable"    // the revisions could not be read
	NoTemplate     ErrorCode = "NoTemplate"     // the revision holds no template
)

func (e *Error) Error() string { return e.message }

// noSuchRevision returns the error for a revision that does not exist, with those that
// do.
func noSuchRevision(h *History, which string) *Error {
	name := h.DaemonSet.Namespace + "/" + h.DaemonSet.Name
	if i := slices.IndexFunc(h.Snapshot.Gaps, func(g daemonset.Gap) bool {
		return g.What == snapshot.Revisions &&
			g.Why != snapshot.Moved
	}); i >= 0 {
		g := h.Snapshot.Gaps[i]
		return &Error{NotReadable, h.DaemonSet.Namespace, g.Why,
			fmt.Sprintf("the revisions of daemonset %s could not be read: %s", name, cmp.Or(g.Message, string(g.Why)))}
	}
	var numbers []string
	for _, row := range h.Revisions[:h.Kept()] {
		numbers = append(numbers, strconv.FormatInt(row.Revision, 10))
	}
	has := cmp.Or(strings.Join(slices.Compact(numbers), ", "), "none yet")
	return &Error{NoSuchRevision, h.DaemonSet.Namespace, "", fmt.Sprintf("daemonset %s has no revision %s: it has %s",
		name, which, has)}
}

func oldest(h *History, row *Revision) *Error {
	return &Error{NoneBefore, h.DaemonSet.Namespace, "",
		fmt.Sprintf("revision %d is the oldest that is kept: there is none before it", row.Revision)}
}

func unreadable(h *History, row *Revision, message string) *Error {
	return &Error{NoTemplate, h.DaemonSet.Namespace, "", fmt.Sprintf("revision %d, controllerrevision %s: %s",
		row.Revision, row.Name, message)}
}

// Template returns the whole template of a row, including all literal values.
// If row is nil, it returns the live template, which is that of the revision
// that holds it, as in a Diff. It returns an *Error if the revision cannot be
// decoded.
func Template(h *History, s *snapshot.Snapshot, row *Revision) (template.Content, error) {
	if row == nil {
		row = liveRow(h)
	}
	if row == nil {
		live, err := template.Of(&s.DaemonSet.Spec.Template, false)
		return live.Plain(), err
	}
	content, err := template.Fitting(s.RevisionData(row.Name))
	if err != nil {
		return nil, unreadable(h, row, err.Error())
	}
	return content.Plain(), nil
}

// liveRow returns the row of the revision that holds the live template, or nil.
func liveRow(h *History) *Revision {
	for i := range h.Revisions {
		if row := &h.Revisions[i]; row.Current && row.Name != "" {
			return row
		}
	}
	return nil
}

// Object returns the DaemonSet with the template of a row, or the live one if
// row is nil, as input for kubectl apply: without its status and the fields
// that the API server and kubectl set. Everything else is unchanged. It
// includes fields that this program's API types lack, because the API server
// may know them.
func Object(h *History, s *snapshot.Snapshot, row *Revision) (map[string]any, error) {
	t, err := Template(h, s, row)
	if err != nil {
		return nil, err
	}
	live := s.DaemonSet
	ds := &appsv1.DaemonSet{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"},
		ObjectMeta: metav1.ObjectMeta{Namespace: live.Namespace, Name: live.Name, Labels: live.Labels,
			Annotations: maps.Clone(live.Annotations)},
		Spec: live.Spec,
	}
	delete(ds.Annotations, corev1.LastAppliedConfigAnnotation)
	delete(ds.Annotations, appsv1.DeprecatedTemplateGeneration)
	object, err := t.Within(ds)
	delete(object, "status")
	return object, err
}
