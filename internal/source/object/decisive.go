package object

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Counted lists the decisive kinds, without which an answer may be wrong. It maps each kind to the apiVersion that
// the program reads. An object that only looks like a decisive kind is an error, because numbers would be wrong
// without it.
var Counted = map[string]string{
	"DaemonSet": "apps/v1", "ControllerRevision": "apps/v1", "Node": "v1", "Pod": "v1", "Event": "v1",
	"PodDisruptionBudget": "policy/v1",
	snapshot.Kind:         snapshot.APIVersion,
}

func IsCounted(kind, apiVersion string) bool { return apiVersion != "" && Counted[kind] == apiVersion }

// NearField returns the field of a decisive kind whose name is similar to the last name of path, or "".
func NearField(kind, path string) string {
	t := HeldTypes[metav1.TypeMeta{APIVersion: Counted[kind], Kind: kind}]
	names := strings.Split(path, ".")
	for i, name := range names {
		for t != nil && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice) {
			t = t.Elem()
		}
		switch {
		case t == nil || t.Kind() != reflect.Struct:
			return ""
		case i == len(names)-1:
			return NearName(name, FieldTypes(t))
		}
		t = FieldTypes(t)[name].Type
	}
	return ""
}

// Mistaken returns an error if k looks like a decisive kind, or like a list of one, but is not. It returns nil for
// all other kinds, such as a Node of a custom API group.
func Mistaken(k metav1.TypeMeta) error {
	group, _, _ := strings.Cut(k.APIVersion, "/")
	if Foreign(k) || HeldTypes[k] != nil || HeldTypes[ItemKind(k)] != nil {
		return nil
	}
	kind, isList := strings.CutSuffix(k.Kind, "List")
	want, known := Counted[kind]
	switch {
	case group == "meta.k8s.io" && k.Kind == "Table":
		return &FieldError{"kind", ErrTable}
	case group == "meta.k8s.io" && kind == "PartialObjectMetadata":
		return &FieldError{"kind", fmt.Errorf("a %s %w", k.Kind, ErrPartialObject)}
	case k.Kind == "List", group == "meta.k8s.io", k.APIVersion == want && known, kind == snapshot.Kind &&
		group == snapshotGroup:
		return nil
	case !known && OfAnyGroup(kind):
		return nil
	case !known:
		return Misspelled(k.Kind)
	case k.APIVersion == "":
		return &FieldError{"apiVersion", fmt.Errorf("missing: a %s has %s", k.Kind, want)}
	case Gone(k) && !isList:
		return &FieldError{"apiVersion", fmt.Errorf("%w a %s of %s: use %s", ErrGone, k.Kind, k.APIVersion, want)}
	}
	return &FieldError{"apiVersion", fmt.Errorf("there is no %s of %s: use %s", k.Kind, k.APIVersion, want)}
}

// Errors for output formats without the objects. A server returns them on request.
var (
	ErrTable         = errors.New("a Table has columns of objects, not the objects")
	ErrPartialObject = errors.New("has only the metadata of objects")
)

// OfAnyGroup reports whether any API group of Kubernetes has a kind of that name.
func OfAnyGroup(kind string) bool {
	for _, kinds := range kindsByVersion() {
		if slices.Contains(kinds, kind) {
			return true
		}
	}
	return false
}

// Gone reports whether k is a DaemonSet, or a list of them, in an apiVersion that v1.16 removed.
func Gone(k metav1.TypeMeta) bool {
	group, version, _ := strings.Cut(k.APIVersion, "/")
	return strings.TrimSuffix(k.Kind, "List") == "DaemonSet" &&
		(group == "extensions" || group == "apps" && strings.HasPrefix(version, "v1beta"))
}

// ErrGone says that an object has an apiVersion that v1.16 removed.
var ErrGone = errors.New("no server since v1.16 has")

// Foreign reports whether k belongs to an API group in which the names of kinds have another meaning.
func Foreign(k metav1.TypeMeta) bool {
	group, _, _ := strings.Cut(k.APIVersion, "/")
	return strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io") || group == "audit.k8s.io"
}

// Misspelled returns an error if kind is unknown and similar to the name of a decisive kind, otherwise nil.
func Misspelled(kind string) error {
	letters := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, kind) // drop invisible characters
	for _, right := range append(slices.Sorted(maps.Keys(Counted)), "") {
		for _, right := range []string{right, right + "List"} {
			near := max(1, len(right)/4)
			if right != "" && (strings.EqualFold(letters, right) || snapshot.Distance(kind, right) <= near) {
				return &FieldError{"kind", fmt.Errorf("there is no %q: did you mean %s?", kind, right)}
			}
		}
	}
	return nil
}

// Strange reports whether Kubernetes, as far as this program knows it, has no such kind. It returns false if the
// apiVersion is set and not one of Kubernetes' own.
func Strange(k metav1.TypeMeta) bool {
	_, own := kindsByVersion()[k.APIVersion]
	return (k.APIVersion == "" || own) && !slices.Contains(kindsByVersion()[k.APIVersion], k.Kind)
}

// allKinds lists the kinds of Kubernetes' own API groups, one line per apiVersion.
//
//go:embed kinds.txt
var allKinds string

// kindsByVersion returns the kinds of Kubernetes' own API groups, by apiVersion.
var kindsByVersion = sync.OnceValue(func() map[string][]string {
	of := map[string][]string{}
	for line := range strings.Lines(allKinds) {
		words := strings.Fields(line)
		of[words[0]] = words[1:]
	}
	return of
})

// Validate returns an error if a Snapshot cannot hold o. It applies to objects from files and from servers.
func Validate(o metav1.Object) error {
	_, bare := o.(*metav1.PartialObjectMetadata) // its metadata does not have the kind of the object
	switch {
	case o.GetName() == "":
		return &FieldError{"metadata.name", ErrMissing}
	case bare:
		return nil
	case isClusterScoped(o) && o.GetNamespace() != "":
		return &FieldError{"metadata.namespace", fmt.Errorf("a %s has no namespace", reflect.TypeOf(o).Elem().Name())}
	case !isClusterScoped(o) && o.GetNamespace() == "":
		return &FieldError{"metadata.namespace", ErrMissing}
	}
	if ds, ok := o.(*appsv1.DaemonSet); ok {
		if ds.Spec.Selector == nil {
			return &FieldError{"spec.selector", ErrMissing}
		}
		if _, err := metav1.LabelSelectorAsSelector(ds.Spec.Selector); err != nil {
			return &FieldError{"spec.selector", err}
		}
	}
	return nil
}

// isClusterScoped reports whether o is of a kind that has no namespace.
func isClusterScoped(o metav1.Object) bool {
	switch o.(type) {
	case *corev1.Node, *corev1.Namespace, *corev1.PersistentVolume, *storagev1.CSINode, *schedulingv1.PriorityClass,
		*nodev1.RuntimeClass,
		*admissionv1.ValidatingWebhookConfiguration, *admissionv1.MutatingWebhookConfiguration,
		*admissionv1.ValidatingAdmissionPolicy, *admissionv1.ValidatingAdmissionPolicyBinding,
		*admissionv1.MutatingAdmissionPolicy, *admissionv1.MutatingAdmissionPolicyBinding:
		return true
	}
	return false
}

// noStatus reports whether a DaemonSet lacks its status or a part that every status has. The API server writes these
// numbers even if they are 0, and the controller writes numbers only together with observedGeneration.
func noStatus(raw []byte) bool {
	var o struct {
		Status struct {
			Desired      *int `json:"desiredNumberScheduled"`
			Current      *int `json:"currentNumberScheduled"`
			Misscheduled *int `json:"numberMisscheduled"`
			Ready        *int `json:"numberReady"`
			Observed     int  `json:"observedGeneration"`
		} `json:"status"`
	}
	if json.Unmarshal(raw, &o) != nil {
		return true
	}
	s := &o.Status
	return s.Desired == nil || s.Current == nil || s.Misscheduled == nil || s.Ready == nil || s.Observed == 0 &&
		*s.Desired > 0
}

// coreEvent converts an Event of events.k8s.io to v1.
func coreEvent(e *eventsv1.Event) *corev1.Event {
	out := &corev1.Event{
		ObjectMeta: e.ObjectMeta, InvolvedObject: e.Regarding, Related: e.Related, Type: e.Type, Reason: e.Reason,
		Action: e.Action, Message: e.Note,
		EventTime: e.EventTime, ReportingController: e.ReportingController, ReportingInstance: e.ReportingInstance,
		Source: e.DeprecatedSource, FirstTimestamp: e.DeprecatedFirstTimestamp,
		LastTimestamp: e.DeprecatedLastTimestamp, Count: e.DeprecatedCount,
	}
	if s := e.Series; s != nil {
		out.Series = &corev1.EventSeries{Count: s.Count, LastObservedTime: s.LastObservedTime}
	}
	return out
}

// ignoredNote returns a note for the user about an object that the program ignores, or "" if there is nothing to say.
func ignoredNote(raw []byte, kind metav1.TypeMeta) string {
	if kind == (metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}) {
		var s metav1.Status
		if json.Unmarshal(raw, &s) == nil && s.Message != "" {
			return "an error of the API server instead of an object: " + OneLine(s.Message)
		}
	}
	found := Each(nestedKinds(raw))
	if len(found) == 0 {
		return ""
	}
	said := found[len(found)-1]
	if rest := found[:len(found)-1]; len(rest) > 0 {
		said = strings.Join(rest, ", ") + " and " + said
	}
	return fmt.Sprintf("a %s contains %s: objects inside another object are not read", kind.Kind, said)
}

// nestedKinds counts, by kind, the decisive objects that are nested in an object of another kind. They are not read.
func nestedKinds(raw []byte) map[string]int {
	if bytes.Count(raw, []byte(`"kind"`)) < 2 {
		return nil
	}
	var all any
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	found := map[string]int{}
	countNested(all, found)
	return found
}

func countNested(value any, found map[string]int) {
	switch v := value.(type) {
	case []any:
		for _, e := range v {
			countNested(e, found)
		}
	case map[string]any:
		kind, _ := v["kind"].(string)
		apiVersion, _ := v["apiVersion"].(string)
		_, whole := v["metadata"].(map[string]any) // without metadata, it is a reference
		items, _ := v["items"].([]any)
		switch one, isList := strings.CutSuffix(kind, "List"); {
		case whole && IsCounted(kind, apiVersion):
			found[kind]++
		case isList && IsCounted(one, apiVersion):
			found[one] += len(items)
		default:
			for _, e := range v {
				countNested(e, found)
			}
		}
	}
}

// Each formats the count of each kind, such as "1 Node" and "2 Pod".
func Each(found map[string]int) []string {
	var all []string
	for _, kind := range slices.Sorted(maps.Keys(found)) {
		all = append(all, fmt.Sprintf("%d %s", found[kind], kind))
	}
	return all
}
