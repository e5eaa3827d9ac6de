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

// Which is one template: the live one, a revision by number, or so many rows
// back from the newest revision.
type Which struct {
	Number int64 // 1 and more: a revision; negative: rows back, -1 is the one before the latest
	Live   bool
}

// Find returns the row that a Which names, of two with one number the first by
// name; nil for the live template. It fails with an Error where there is none.
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
		return nil, none(h, fmt.Sprintf("%d before the latest", -w.Number))
	}
	return nil, none(h, strconv.FormatInt(w.Number, 10))
}

// Error is a question that cannot be put.
type Error struct {
	Code      ErrorCode
	Namespace string       // of the DaemonSet
	Why       snapshot.Why // for NotReadable: why the revisions could not be read
	message   string
}

// ErrorCode says why a question cannot be put.
type ErrorCode string

const (
	NoSuchRevision ErrorCode = "NoSuchRevision" // there is no such revision
	NoneBefore     ErrorCode = "NoneBefore"     // it is the oldest one, and what is asked for comes before it
	NotReadable    ErrorCode = "NotReadable"    // the revisions could not be read
	NoTemplate     ErrorCode = "NoTemplate"     // the revision holds no template
)

func (e *Error) Error() string { return e.message }

// none says that there is no such revision, and which there are.
func none(h *History, which string) *Error {
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

// Template returns the whole template of a row, or the live one where that is
// nil, with every literal value that it has. The live one is that of the revision
// that holds it, as it is in a Diff. It fails with an Error where the revision
// cannot be read.
func Template(h *History, s *snapshot.Snapshot, row *Revision) (template.Content, error) {
	if row == nil {
		row = holder(h)
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

// holder returns the row that holds the live template, nil for none.
func holder(h *History) *Revision {
	for i := range h.Revisions {
		if row := &h.Revisions[i]; row.Current && row.Name != "" {
			return row
		}
	}
	return nil
}

// Object returns the DaemonSet with the template of a row, nil for the live one,
// for kubectl apply: without status and without what the API server and kubectl
// write themselves. All but the template is as it is now. What the API types of
// this program do not know is in it: the API server may know it.
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
