package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	kjson "k8s.io/apimachinery/pkg/util/json"
	sjson "sigs.k8s.io/json"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// object is one decoded object, stripped: one of the pointers is set when its
// kind is one that a Snapshot holds.
type object struct {
	kind     metav1.TypeMeta
	ds       *appsv1.DaemonSet
	node     *corev1.Node
	pod      *corev1.Pod
	revision *appsv1.ControllerRevision
	event    *corev1.Event
	budget   *policyv1.PodDisruptionBudget
	snapshot *snapshot.Snapshot
	newest   time.Time // the newest time in the object
	bare     bool      // it lacks its status, which every live object has
	note     string    // what a person should know of it, said of "it"

	list     bool   // the end of a list of this kind, and no object
	page     page   // of a list
	manifest []byte // of a DaemonSet that decodeManifest read, instead of all these
	document int    // where it stands in its file, counted from 1
	path     string // items[3] in a list
	repeats  []Repeat
	twice    bool     // a key stands twice in it: where, repeats says later
	unknown  []string // fields that the kind does not have, as far as this program knows it
}

var (
	errNotKubernetes = errors.New("not a Kubernetes object")
	// errNoKind says that neither an object nor its list has a kind.
	errNoKind = fmt.Errorf("%w: no kind", errNotKubernetes)
)

// fieldError says which field of an object is wrong.
type fieldError struct {
	field string // as spec.taints[0].key
	err   error
}

func (e *fieldError) Error() string { return e.field + ": " + e.err.Error() }

func (e *fieldError) Unwrap() error { return e.err }

// decode reads an object from JSON. list is the kind of the list that it
// stands in: it decides when the object itself has none. Unknown fields are
// named and passed over: the object may be of a newer version.
func decode(raw []byte, list metav1.TypeMeta) (object, error) {
	o, err := kindOf(raw, list)
	if err != nil {
		return o, err
	}
	if err := mistaken(o.kind); err != nil {
		return o, err
	}
	var meta metav1.Object
	switch o.kind {
	case metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"}:
		if o.ds, err = decodeNoting[appsv1.DaemonSet](raw, &o); err != nil {
			return o, err
		}
		meta, o.bare = o.ds, noStatus(raw)
		for _, c := range o.ds.Status.Conditions {
			o.saw(c.LastTransitionTime)
		}
	case metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}:
		if o.node, err = decodeNoting[corev1.Node](raw, &o); err != nil {
			return o, err
		}
		meta, o.bare = o.node, len(o.node.Status.Conditions) == 0
		for _, c := range o.node.Status.Conditions {
			o.saw(c.LastHeartbeatTime, c.LastTransitionTime)
		}
		for _, t := range o.node.Spec.Taints {
			o.sawPtr(t.TimeAdded)
		}
	case metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}:
		if o.pod, err = decodeNoting[corev1.Pod](raw, &o); err != nil {
			return o, err
		}
		meta, o.bare = o.pod, o.pod.Status.Phase == ""
		o.sawPtr(o.pod.Status.StartTime)
		for _, c := range o.pod.Status.Conditions {
			o.saw(c.LastProbeTime, c.LastTransitionTime)
		}
		for _, c := range slices.Concat(o.pod.Status.InitContainerStatuses, o.pod.Status.ContainerStatuses) {
			for _, s := range []corev1.ContainerState{c.State, c.LastTerminationState} {
				if s.Running != nil {
					o.saw(s.Running.StartedAt)
				}
				if s.Terminated != nil {
					o.saw(s.Terminated.StartedAt, s.Terminated.FinishedAt)
				}
			}
		}
	case metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ControllerRevision"}:
		if o.revision, err = decodeNoting[appsv1.ControllerRevision](raw, &o); err != nil {
			return o, err
		}
		if first := firstByte(o.revision.Data.Raw); first != 0 && first != '{' && first != 'n' {
			return o, &fieldError{"data", fmt.Errorf("must be an object, not %s", kindOfJSON(first))}
		}
		meta = o.revision
	case metav1.TypeMeta{APIVersion: "v1", Kind: "Event"}, metav1.TypeMeta{APIVersion: "events.k8s.io/v1", Kind: "Event"}, metav1.TypeMeta{APIVersion: "events.k8s.io/v1beta1", Kind: "Event"}:
		if o.event, err = decodeEvent(raw, &o); err != nil {
			return o, err
		}
		meta = o.event
		o.saw(o.event.FirstTimestamp, o.event.LastTimestamp, metav1.Time(o.event.EventTime))
		if s := o.event.Series; s != nil {
			o.saw(metav1.Time(s.LastObservedTime))
		}
	case metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"}, metav1.TypeMeta{APIVersion: "policy/v1beta1", Kind: "PodDisruptionBudget"}:
		if o.budget, err = decodeBudget(raw, &o); err != nil {
			return o, err
		}
		meta = o.budget
		for _, c := range o.budget.Status.Conditions {
			o.saw(c.LastTransitionTime)
		}
	default:
		if group, _, _ := strings.Cut(o.kind.APIVersion, "/"); o.kind.Kind == snapshot.Kind && group == snapshotGroup {
			o.twice = len(repeatsInJSON(raw, 0)) > 0
			if o.snapshot, err = snapshot.Decode(raw); err == nil {
				stripRecorded(o.snapshot)
			}
			return o, err
		}
		o.note = passedOver(raw, o.kind)
		o.sawOther(raw)
		return o, nil
	}
	if err := sound(meta); err != nil {
		return o, err
	}
	o.sawMeta(meta)
	o.strip()
	return o, nil
}

// kindOf reads what an object is.
func kindOf(raw []byte, list metav1.TypeMeta) (object, error) {
	var o object
	if first := firstByte(raw); first != '{' {
		return o, fmt.Errorf("%w: it is %s", errNotKubernetes, kindOfJSON(first))
	}
	odd, err := sjson.UnmarshalStrict(raw, &o.kind, sjson.DisallowDuplicateFields)
	if err != nil {
		return o, explain(raw, &o.kind, err)
	}
	o.twice = len(odd) > 0
	if o.kind.Kind == "" {
		o.kind = itemKind(list)
	}
	if o.kind.Kind == "" {
		return o, errNoKind
	}
	return o, nil
}

var snapshotGroup, _, _ = strings.Cut(snapshot.APIVersion, "/")

func (o *object) strip() {
	switch {
	case o.ds != nil:
		stripDaemonSet(o.ds)
		for i := range o.ds.ManagedFields {
			if f := o.ds.ManagedFields[i].FieldsV1; f != nil {
				f.SetRawBytes(compact(f.GetRawBytes()))
			}
		}
	case o.node != nil:
		o.node.TypeMeta = metav1.TypeMeta{}
		snapshot.StripNode(o.node)
	case o.pod != nil:
		o.pod.TypeMeta = metav1.TypeMeta{}
		snapshot.StripPod(o.pod)
	case o.revision != nil:
		o.revision.TypeMeta = metav1.TypeMeta{}
		snapshot.StripRevision(o.revision)
		o.revision.Data.Raw = compact(o.revision.Data.Raw)
	case o.event != nil:
		o.event.TypeMeta = metav1.TypeMeta{}
		snapshot.StripEvent(o.event)
	case o.budget != nil:
		o.budget.TypeMeta = metav1.TypeMeta{}
		snapshot.StripPodDisruptionBudget(o.budget)
	}
}

// compact returns JSON as the API server sends it: without a file's
// indentation.
func compact(raw []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

func (o *object) saw(times ...metav1.Time) {
	for _, t := range times {
		if t.After(o.newest) {
			o.newest = t.UTC()
		}
	}
}

// sawMeta notes when an object was made, written and asked to go. Its
// deletionTimestamp lies later than that by the grace period.
func (o *object) sawMeta(m metav1.Object) {
	o.saw(m.GetCreationTimestamp())
	for _, f := range m.GetManagedFields() {
		o.sawPtr(f.Time)
	}
	if at, grace := m.GetDeletionTimestamp(), m.GetDeletionGracePeriodSeconds(); at != nil && grace != nil {
		o.saw(metav1.NewTime(at.Add(-time.Duration(*grace) * time.Second)))
	}
}

// sawOther notes the times of an object that counts for nothing else, as a Lease,
// which a kubelet renews every 10 seconds. One that cannot be read has none.
func (o *object) sawOther(raw []byte) {
	var other struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
		Spec     struct {
			RenewTime metav1.MicroTime `json:"renewTime"`
		} `json:"spec"`
	}
	if json.Unmarshal(raw, &other) == nil {
		o.sawMeta(&other.Metadata)
		o.saw(metav1.Time(other.Spec.RenewTime))
	}
}

func (o *object) sawPtr(t *metav1.Time) {
	if t != nil {
		o.saw(*t)
	}
}

// itemKind returns what the items of a typed list are: Node of a NodeList. A
// plain List does not tell.
func itemKind(list metav1.TypeMeta) metav1.TypeMeta {
	kind, ok := strings.CutSuffix(list.Kind, "List")
	if !ok || kind == "" {
		return metav1.TypeMeta{}
	}
	return metav1.TypeMeta{APIVersion: list.APIVersion, Kind: kind}
}

func decodeAs[T any](raw []byte) (*T, error) { return decodeNoting[T](raw, &object{}) }

// decodeNoting returns the object of raw, and notes the fields that its type does
// not have, and whether one stands there twice.
func decodeNoting[T any](raw []byte, note *object) (*T, error) {
	o := new(T)
	odd, err := sjson.UnmarshalStrict(raw, o)
	if err != nil {
		return nil, explain(raw, o, err)
	}
	if len(odd) > 0 {
		twice, _ := sjson.UnmarshalStrict(raw, new(T), sjson.DisallowDuplicateFields)
		note.twice = note.twice || len(twice) > 0
		odd, _ = sjson.UnmarshalStrict(raw, new(T), sjson.DisallowUnknownFields)
	}
	for _, e := range odd {
		f := (sjson.FieldError)(nil)
		if !errors.As(e, &f) {
			continue
		}
		if field := inAnyItem.ReplaceAllString(f.FieldPath(), ""); !slices.Contains(note.unknown, field) {
			note.unknown = append(note.unknown, field)
		}
	}
	return o, nil
}

var inAnyItem = regexp.MustCompile(`\[\d+\]`)

// explain finds the field that cannot be decoded, for the JSON decoder names
// it only sometimes, and never the place in a list.
func explain(raw []byte, into any, err error) error {
	if !json.Valid(raw) {
		return err
	}
	field, found := locate(raw, reflect.TypeOf(into).Elem())
	if found == nil {
		return err
	}
	if field == "" {
		return found
	}
	return &fieldError{field, found}
}

// locate returns the deepest field of raw that does not fit type t, and why
// it does not; no error when everything fits.
func locate(raw []byte, t reflect.Type) (string, error) {
	err := kjson.Unmarshal(raw, reflect.New(t).Interface())
	if err == nil {
		return "", nil
	}
	if t.Kind() == reflect.Pointer {
		return locate(raw, t.Elem())
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		switch t {
		case reflect.TypeFor[intstr.IntOrString]():
			err = fmt.Errorf("must be a whole number or text, not %s", kindOfJSON(firstByte(raw)))
		case reflect.TypeFor[resource.Quantity]():
			err = fmt.Errorf("must be a quantity such as 250m or 64Mi, not %s", raw)
		case reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime]():
			err = errors.New("must be a time such as 2026-01-31T15:04:05Z")
			if first := firstByte(raw); first != '"' {
				err = fmt.Errorf("%w, not %s", err, kindOfJSON(first))
			}
		}
		return "", err
	}
	switch first := firstByte(raw); {
	case t.Kind() == reflect.Struct && first == '{':
		members := map[string]json.RawMessage{}
		if json.Unmarshal(raw, &members) != nil {
			return "", err
		}
		types := fieldTypes(t)
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if ft, known := types[name]; known {
				if field, err := locate(members[name], ft.Type); err != nil {
					return join(name, field), err
				}
			}
		}
	case t.Kind() == reflect.Map && first == '{':
		members := map[string]json.RawMessage{}
		if json.Unmarshal(raw, &members) != nil {
			return "", err
		}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if field, err := locate(members[name], t.Elem()); err != nil {
				return join("["+name+"]", field), err
			}
		}
	case t.Kind() == reflect.Slice && first == '[':
		var elements []json.RawMessage
		if json.Unmarshal(raw, &elements) != nil {
			return "", err
		}
		for i, e := range elements {
			if field, err := locate(e, t.Elem()); err != nil {
				return join(fmt.Sprintf("[%d]", i), field), err
			}
		}
	}
	return "", fmt.Errorf("must be %s, not %s", template.Wanted(t), kindOfJSON(firstByte(raw)))
}

// fieldTypes returns a struct's fields by their JSON names.
func fieldTypes(t reflect.Type) map[string]reflect.StructField {
	types := map[string]reflect.StructField{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			maps.Copy(types, fieldTypes(f.Type))
		case name != "" && name != "-":
			types[name] = f
		}
	}
	return types
}

// join returns the path of a field or an item in what stands at another path.
func join(outer, inner string) string {
	if outer == "" || inner == "" || inner[0] == '[' {
		return outer + inner
	}
	return outer + "." + inner
}

func firstByte(raw []byte) byte {
	if raw = bytes.TrimLeft(raw, " \t\r\n"); len(raw) > 0 {
		return raw[0]
	}
	return 0
}

func kindOfJSON(first byte) string {
	switch {
	case first == '{':
		return "an object"
	case first == '[':
		return "a list"
	case first == '"':
		return "text"
	case first == 't', first == 'f':
		return "true or false"
	case first == 'n':
		return "null"
	case first == '-', first >= '0' && first <= '9':
		return "a number"
	}
	return "nothing"
}
