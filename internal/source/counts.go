package source

import (
	"bytes"
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

// counted are the kinds that decide about an answer, and the version of each
// that is read. What only looks like one of them is refused: numbers would be
// wrong without it.
var counted = map[string]string{
	"DaemonSet": "apps/v1", "ControllerRevision": "apps/v1", "Node": "v1", "Pod": "v1", "Event": "v1",
	"PodDisruptionBudget": "policy/v1",
	snapshot.Kind:         snapshot.APIVersion,
}

func isCounted(kind, apiVersion string) bool { return apiVersion != "" && counted[kind] == apiVersion }

// nearField returns the field of a kind that counts that is written nearly as the
// last one of a path, or "".
func nearField(kind, path string) string {
	t := heldTypes[metav1.TypeMeta{APIVersion: counted[kind], Kind: kind}]
	names := strings.Split(path, ".")
	for i, name := range names {
		for t != nil && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice) {
			t = t.Elem()
		}
		switch {
		case t == nil || t.Kind() != reflect.Struct:
			return ""
		case i == len(names)-1:
			return nearName(name, fieldTypes(t))
		}
		t = fieldTypes(t)[name].Type
	}
	return ""
}

// mistaken returns what is wrong with a kind that looks like one that counts,
// or like a list of one, and is not. It returns nil for all others, among them
// a kind of somebody's own group, which may be called Node.
func mistaken(k metav1.TypeMeta) error {
	group, _, _ := strings.Cut(k.APIVersion, "/")
	if foreign(k) || heldTypes[k] != nil || heldTypes[itemKind(k)] != nil {
		return nil
	}
	kind, isList := strings.CutSuffix(k.Kind, "List")
	want, known := counted[kind]
	switch {
	case group == "meta.k8s.io" && k.Kind == "Table":
		return &fieldError{"kind", errTable}
	case group == "meta.k8s.io" && kind == "PartialObjectMetadata":
		return &fieldError{"kind", fmt.Errorf("a %s %w", k.Kind, errPartialObject)}
	case k.Kind == "List", group == "meta.k8s.io", k.APIVersion == want && known, kind == snapshot.Kind &&
		group == snapshotGroup:
		return nil
	case !known && ofAnyGroup(kind):
		return nil
	case !known:
		return misspelled(k.Kind)
	case k.APIVersion == "":
		return &fieldError{"apiVersion", fmt.Errorf("missing: a %s has %s", k.Kind, want)}
	case gone(k) && !isList:
		return &fieldError{"apiVersion", fmt.Errorf("%w a %s of %s: use %s", errGone, k.Kind, k.APIVersion, want)}
	}
	return &fieldError{"apiVersion", fmt.Errorf("there is no %s of %s: use %s", k.Kind, k.APIVersion, want)}
}

// What a server writes in the place of objects when it is asked to.
var (
	errTable         = errors.New("a Table has columns of objects, not the objects")
	errPartialObject = errors.New("has only the metadata of objects")
)

// ofAnyGroup reports whether Kubernetes has a kind of that name in some group.
func ofAnyGroup(kind string) bool {
	for _, kinds := range kindsByVersion() {
		if slices.Contains(kinds, kind) {
			return true
		}
	}
	return false
}

// gone reports whether a kind is a DaemonSet, or a list of them, as servers before v1.16 had it.
func gone(k metav1.TypeMeta) bool {
	group, version, _ := strings.Cut(k.APIVersion, "/")
	return strings.TrimSuffix(k.Kind, "List") == "DaemonSet" &&
		(group == "extensions" || group == "apps" && strings.HasPrefix(version, "v1beta"))
}

// errGone says that an object is of a version that servers had before v1.16.
var errGone = errors.New("no server since v1.16 has")

// foreign reports whether a kind is of a group in which its name means something else.
func foreign(k metav1.TypeMeta) bool {
	group, _, _ := strings.Cut(k.APIVersion, "/")
	return strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io") || group == "audit.k8s.io"
}

// misspelled returns an error for an unknown kind whose name is nearly one that
// counts.
func misspelled(kind string) error {
	letters := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, kind) // without what nobody sees
	for _, right := range append(slices.Sorted(maps.Keys(counted)), "") {
		for _, right := range []string{right, right + "List"} {
			near := max(1, len(right)/4)
			if right != "" && (strings.EqualFold(letters, right) || snapshot.Distance(kind, right) <= near) {
				return &fieldError{"kind", fmt.Errorf("there is no %q: did you mean %s?", kind, right)}
			}
		}
	}
	return nil
}

// strange reports whether Kubernetes, as far as this program knows it, has no
// such kind though the apiVersion is one of its own, or missing.
func strange(k metav1.TypeMeta) bool {
	_, own := kindsByVersion()[k.APIVersion]
	return (k.APIVersion == "" || own) && !slices.Contains(kindsByVersion()[k.APIVersion], k.Kind)
}

// kindsByVersion returns the kinds of Kubernetes' own API groups, by apiVersion.
var kindsByVersion = sync.OnceValue(func() map[string][]string {
	of := map[string][]string{}
	for line := range strings.Lines(allKinds) {
		words := strings.Fields(line)
		of[words[0]] = words[1:]
	}
	return of
})

// sound returns what is wrong with an object that a Snapshot would hold. Files
// and servers are held to the same.
func sound(o metav1.Object) error {
	_, bare := o.(*metav1.PartialObjectMetadata) // of a kind that it does not say
	switch {
	case o.GetName() == "":
		return &fieldError{"metadata.name", errMissing}
	case bare:
		return nil
	case ofCluster(o) && o.GetNamespace() != "":
		return &fieldError{"metadata.namespace", fmt.Errorf("a %s has no namespace", reflect.TypeOf(o).Elem().Name())}
	case !ofCluster(o) && o.GetNamespace() == "":
		return &fieldError{"metadata.namespace", errMissing}
	}
	if ds, ok := o.(*appsv1.DaemonSet); ok {
		if ds.Spec.Selector == nil {
			return &fieldError{"spec.selector", errMissing}
		}
		if _, err := metav1.LabelSelectorAsSelector(ds.Spec.Selector); err != nil {
			return &fieldError{"spec.selector", err}
		}
	}
	return nil
}

// ofCluster reports whether an object is of a kind that has no namespace.
func ofCluster(o metav1.Object) bool {
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

// noStatus reports whether a DaemonSet lacks its status, or a part of it that
// every one has: the API server writes these numbers even where they are 0, and
// the controller no number without the generation that it is of.
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

// coreEvent returns an Event of events.k8s.io as a server has it in v1.
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

// passedOver returns what a person should know of an object that counts for
// nothing, or "".
func passedOver(raw []byte, kind metav1.TypeMeta) string {
	if kind == (metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}) {
		var s metav1.Status
		if json.Unmarshal(raw, &s) == nil && s.Message != "" {
			return "an error of the API server instead of an object: " + oneLine(s.Message)
		}
	}
	found := each(inside(raw))
	if len(found) == 0 {
		return ""
	}
	said := found[len(found)-1]
	if rest := found[:len(found)-1]; len(rest) > 0 {
		said = strings.Join(rest, ", ") + " and " + said
	}
	return fmt.Sprintf("a %s contains %s: objects inside another object are not read", kind.Kind, said)
}

// inside counts, by kind, the objects that count and that stand inside an
// object of another kind, where nothing reads them.
func inside(raw []byte) map[string]int {
	if bytes.Count(raw, []byte(`"kind"`)) < 2 {
		return nil
	}
	var all any
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	found := map[string]int{}
	countInside(all, found)
	return found
}

func countInside(value any, found map[string]int) {
	switch v := value.(type) {
	case []any:
		for _, e := range v {
			countInside(e, found)
		}
	case map[string]any:
		kind, _ := v["kind"].(string)
		apiVersion, _ := v["apiVersion"].(string)
		_, whole := v["metadata"].(map[string]any) // else it is a reference
		items, _ := v["items"].([]any)
		switch one, isList := strings.CutSuffix(kind, "List"); {
		case whole && isCounted(kind, apiVersion):
			found[kind]++
		case isList && isCounted(one, apiVersion):
			found[one] += len(items)
		default:
			for _, e := range v {
				countInside(e, found)
			}
		}
	}
}

// each returns how many there are of each kind: "1 Node", "2 Pod".
func each(found map[string]int) []string {
	var all []string
	for _, kind := range slices.Sorted(maps.Keys(found)) {
		all = append(all, fmt.Sprintf("%d %s", found[kind], kind))
	}
	return all
}
