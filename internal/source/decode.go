package source

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	kjson "k8s.io/apimachinery/pkg/util/json"
	sjson "sigs.k8s.io/json"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// object is one decoded object, stripped.
type object struct {
	kind     metav1.TypeMeta
	is       metav1.Object // of a kind of which a Snapshot holds objects
	snapshot *snapshot.Snapshot
	newest   time.Time         // the newest time in the object
	bare     bool              // it lacks its status, which every live object has
	again    bool              // it is the same, word for word, as one that was read before
	asked    metav1.Object     // of a kind of admissionTypes
	cluster  string            // the UID of one that tellsCluster
	operator []byte            // of a ClusterOperator, all of it
	damage   error             // why such an object cannot be read
	failed   error             // why it cannot be read at all, in a list that was read as a whole
	kinds    []metav1.TypeMeta // what it may be, then
	note     string            // what a person should know of it, said of "it"

	referred *inNamespace // what is kept of a kind that pods refer to
	manager  *manager     // of an object of ofManagers
	lease    *leaseRead   // of a Lease in the namespace of kube-controller-manager
	attached []string     // of a node: its CSI volumes

	list     bool   // the end of a list of this kind, and no object
	page     page   // of a list
	manifest []byte // of a DaemonSet that decodeManifest read
	document int    // where it stands in its file, counted from 1
	path     string // items[3] in a list
	repeats  []Repeat
	byFields bool     // it says no kind: its fields show it
	twice    bool     // a key may stand twice in it: whether and where, repeats says later
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
	begun := beginning(raw)
	o := object{kind: begun, is: fewerRead(raw, begun)}
	if o.is == nil {
		var err error
		if o, err = kindOf(raw, list); err != nil {
			return o, err
		}
		if o.kind != begun {
			o.is = fewerRead(raw, o.kind)
		}
	}
	t := heldTypes[o.kind]
	if t == nil {
		return other(raw, o)
	}
	if o.is == nil {
		o.is = reflect.New(t).Interface().(metav1.Object)
		if err := o.decodeInto(raw, o.is); err != nil {
			return o, err
		}
	}
	switch is := o.is.(type) {
	case *appsv1.DaemonSet:
		o.bare = noStatus(raw)
	case *corev1.Node:
		o.bare, o.attached = len(is.Status.Conditions) == 0, snapshot.AttachedOf(is)
	case *corev1.Pod:
		o.bare = is.Status.Phase == ""
	case *appsv1.ControllerRevision:
		if first := firstByte(is.Data.Raw); first != 0 && first != '{' && first != 'n' {
			return o, &fieldError{"data", fmt.Errorf("must be an object, not %s", kindOfJSON(first))}
		}
		is.Data.Raw = compact(is.Data.Raw)
	case *eventsv1.Event:
		o.is = coreEvent(is)
	case *policyv1.PodDisruptionBudget:
		if s := is.Spec.Selector; o.kind.APIVersion == "policy/v1beta1" && s != nil &&
			s.Size() == new(metav1.LabelSelector).Size() {
			is.Spec.Selector = nil // an empty one selected nothing
		}
	}
	if err := sound(o.is); err != nil {
		return o, err
	}
	o.saw(reflect.ValueOf(o.is))
	if b, ok := o.is.(*policyv1.PodDisruptionBudget); ok {
		whole(b)
	} else {
		strip(o.is)
	}
	for _, m := range o.is.GetManagedFields() {
		if m.FieldsV1 != nil {
			m.FieldsV1.SetRawBytes(compact(m.FieldsV1.GetRawBytes()))
		}
	}
	return o, nil
}

// heldTypes are those of the objects that a Snapshot holds.
var heldTypes = map[metav1.TypeMeta]reflect.Type{
	{APIVersion: "apps/v1", Kind: "DaemonSet"}:                  reflect.TypeFor[appsv1.DaemonSet](),
	{APIVersion: "apps/v1", Kind: "ControllerRevision"}:         reflect.TypeFor[appsv1.ControllerRevision](),
	{APIVersion: "v1", Kind: "Node"}:                            reflect.TypeFor[corev1.Node](),
	{APIVersion: "v1", Kind: "Pod"}:                             reflect.TypeFor[corev1.Pod](),
	{APIVersion: "v1", Kind: "Event"}:                           reflect.TypeFor[corev1.Event](),
	{APIVersion: "events.k8s.io/v1", Kind: "Event"}:             reflect.TypeFor[eventsv1.Event](),
	{APIVersion: "events.k8s.io/v1beta1", Kind: "Event"}:        reflect.TypeFor[eventsv1.Event](),
	{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"}:      reflect.TypeFor[policyv1.PodDisruptionBudget](),
	{APIVersion: "policy/v1beta1", Kind: "PodDisruptionBudget"}: reflect.TypeFor[policyv1.PodDisruptionBudget](),
}

// admissionTypes are those of the objects that a question about admission, or about
// volumes, needs. One
// that cannot be read is no damage to any other answer.
var admissionTypes = map[metav1.TypeMeta]reflect.Type{
	ofNamespaces:         reflect.TypeFor[corev1.Namespace](),
	ofAccounts:           reflect.TypeFor[corev1.ServiceAccount](),
	ofQuotas:             reflect.TypeFor[corev1.ResourceQuota](),
	ofLimits:             reflect.TypeFor[corev1.LimitRange](),
	ofPriorityClasses:    reflect.TypeFor[schedulingv1.PriorityClass](),
	ofRuntimeClasses:     reflect.TypeFor[nodev1.RuntimeClass](),
	ofValidatingWebhooks: reflect.TypeFor[admissionv1.ValidatingWebhookConfiguration](),
	ofMutatingWebhooks:   reflect.TypeFor[admissionv1.MutatingWebhookConfiguration](),
	ofValidatingPolicies: reflect.TypeFor[admissionv1.ValidatingAdmissionPolicy](),
	ofValidatingBindings: reflect.TypeFor[admissionv1.ValidatingAdmissionPolicyBinding](),
	ofMutatingPolicies:   reflect.TypeFor[admissionv1.MutatingAdmissionPolicy](),
	ofMutatingBindings:   reflect.TypeFor[admissionv1.MutatingAdmissionPolicyBinding](),
	ofClaims:             reflect.TypeFor[corev1.PersistentVolumeClaim](),
	ofVolumes:            reflect.TypeFor[corev1.PersistentVolume](),
	ofCSINodes:           reflect.TypeFor[storagev1.CSINode](),
}

var (
	ofNamespaces         = metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}
	ofServices           = metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}
	ofAccounts           = metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}
	ofQuotas             = metav1.TypeMeta{APIVersion: "v1", Kind: "ResourceQuota"}
	ofLimits             = metav1.TypeMeta{APIVersion: "v1", Kind: "LimitRange"}
	ofPriorityClasses    = metav1.TypeMeta{APIVersion: "scheduling.k8s.io/v1", Kind: "PriorityClass"}
	ofRuntimeClasses     = metav1.TypeMeta{APIVersion: "node.k8s.io/v1", Kind: "RuntimeClass"}
	ofValidatingWebhooks = metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1",
		Kind: "ValidatingWebhookConfiguration"}
	ofMutatingWebhooks = metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1",
		Kind: "MutatingWebhookConfiguration"}
	ofValidatingPolicies = metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1",
		Kind: "ValidatingAdmissionPolicy"}
	ofValidatingBindings = metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1",
		Kind: "ValidatingAdmissionPolicyBinding"}
	ofMutatingPolicies = metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1",
		Kind: "MutatingAdmissionPolicy"}
	ofMutatingBindings = metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1",
		Kind: "MutatingAdmissionPolicyBinding"}
	ofClaims   = metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}
	ofVolumes  = metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"}
	ofCSINodes = metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "CSINode"}
)

// other reads a recorded Snapshot. Of any other kind it keeps what a person should
// know, and its times: a Lease, for one, is renewed by a kubelet every 10 seconds.
func other(raw []byte, o object) (object, error) {
	if group, _, _ := strings.Cut(o.kind.APIVersion, "/"); o.kind.Kind == snapshot.Kind && group == snapshotGroup {
		o.twice = !jsontext.Value(raw).IsValid() // perhaps
		var err error
		if o.snapshot, err = snapshot.Decode(raw); err == nil {
			stripRecorded(o.snapshot)
		}
		return o, err
	}
	o.note, o.referred = passedOver(raw, o.kind), referredOf(o.kind, raw)
	o.manager, o.lease = managerOf(o.kind, raw), leaseOf(o.kind, raw)
	if o.kind == ofOperators {
		o.operator = bytes.Clone(raw)
	}
	var timed struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
		Spec     struct {
			RenewTime metav1.MicroTime `json:"renewTime"`
		} `json:"spec"`
	}
	if json.Unmarshal(raw, &timed) == nil { // one that cannot be read has none
		if o.kind != ofLeases {
			timed.Spec.RenewTime = metav1.MicroTime{}
		}
		o.saw(reflect.ValueOf(timed))
		if tellsCluster(o.kind, timed.Metadata.Namespace, timed.Metadata.Name) {
			o.cluster = string(timed.Metadata.UID)
		}
	}
	if t := admissionTypes[o.kind]; t != nil {
		o.asked = reflect.New(t).Interface().(metav1.Object)
		if _, err := sjson.UnmarshalStrict(raw, o.asked, sjson.DisallowUnknownFields); err != nil {
			o.damage = explain(raw, o.asked, err)
		} else if o.damage = sound(o.asked); o.damage == nil {
			strip(o.asked)
		}
	}
	return o, nil
}

// kindOf reads what an object is. What only looks like one that counts is an error.
func kindOf(raw []byte, list metav1.TypeMeta) (object, error) {
	var o object
	if first := firstByte(raw); first != '{' {
		return o, fmt.Errorf("%w: it is %s", errNotKubernetes, kindOfJSON(first))
	}
	var plain bool
	if o.kind, plain = headOf(raw); !plain {
		o.kind = metav1.TypeMeta{}
		odd, err := sjson.UnmarshalStrict(raw, &o.kind, sjson.DisallowDuplicateFields)
		if err != nil {
			return o, explain(raw, &o.kind, err)
		}
		o.twice = len(odd) > 0
	}
	if o.kind.Kind == "" {
		o.kind = itemKind(list)
	}
	if o.kind.Kind == "" {
		return o, errNoKind
	}
	return o, mistaken(o.kind)
}

var (
	ofSnapshot          = metav1.TypeMeta{APIVersion: snapshot.APIVersion, Kind: snapshot.Kind}
	snapshotGroup, _, _ = strings.Cut(snapshot.APIVersion, "/")
)

// compact returns JSON as the API server sends it: without a file's
// indentation.
func compact(raw []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// saw notes the newest time in v: of an object, when it was made, written, asked
// to go and seen in a state. Its deletionTimestamp lies later than that by the
// grace period.
func (o *object) saw(v reflect.Value) {
	note := func(t time.Time) {
		if t.After(o.newest) {
			o.newest = t.UTC()
		}
	}
	switch v.Type() {
	case reflect.TypeFor[metav1.Time]():
		note(v.Interface().(metav1.Time).Time)
		return
	case reflect.TypeFor[metav1.MicroTime]():
		note(v.Interface().(metav1.MicroTime).Time)
		return
	case reflect.TypeFor[metav1.ObjectMeta]():
		m := v.Interface().(metav1.ObjectMeta)
		note(m.CreationTimestamp.Time)
		if m.DeletionTimestamp != nil && m.DeletionGracePeriodSeconds != nil {
			note(m.DeletionTimestamp.Add(-time.Duration(*m.DeletionGracePeriodSeconds) * time.Second))
		}
		v = reflect.ValueOf(m.ManagedFields)
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			o.saw(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			o.saw(v.Field(i))
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Struct {
			for i := range v.Len() {
				o.saw(v.Index(i))
			}
		}
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

// decodeInto reads raw as a type of the API, and notes the fields that it does not have,
// and whether one may stand there twice.
func (o *object) decodeInto(raw []byte, into any) error {
	odd, err := sjson.UnmarshalStrict(raw, into)
	if err != nil || len(odd) == 0 {
		return explain(raw, into, err)
	}
	o.twice = true
	odd, _ = sjson.UnmarshalStrict(raw, reflect.New(reflect.TypeOf(into).Elem()).Interface(),
		sjson.DisallowUnknownFields)
	for _, e := range odd {
		f := (sjson.FieldError)(nil)
		if !errors.As(e, &f) {
			continue
		}
		if field := inAnyItem().ReplaceAllString(f.FieldPath(), ""); !slices.Contains(o.unknown, field) {
			o.unknown = append(o.unknown, field)
		}
	}
	return nil
}

var inAnyItem = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[\d+\]`)
})

// explain finds the field that cannot be decoded, for the JSON decoder names
// it only sometimes, and never the place in a list. No error stays none.
func explain(raw []byte, into any, err error) error {
	if err == nil {
		return nil
	}
	field, found := locate(raw, reflect.TypeOf(into).Elem())
	if found == nil {
		return err
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
	for _, m := range members(raw, t) {
		if m.t == nil {
			continue
		}
		if field, err := locate(m.raw, m.t); err != nil {
			return join(m.name, field), err
		}
	}
	return "", fmt.Errorf("must be %s, not %s", template.Wanted(t), kindOfJSON(firstByte(raw)))
}

// member is a field, or an item of a list, of JSON that a type of the API reads.
type member struct {
	name string // or [0], or [key] of a map
	raw  json.RawMessage
	t    reflect.Type // nil: the type has no such field
	key  string       // of a list: the field by which the API tells its items apart
}

// members returns what is in raw, in order, as far as type t reads it.
func members(raw []byte, t reflect.Type) []member {
	var all []member
	if t.Kind() == reflect.Slice && firstByte(raw) == '[' {
		var items []json.RawMessage
		_ = json.Unmarshal(raw, &items)
		for i, item := range items {
			all = append(all, member{fmt.Sprintf("[%d]", i), item, t.Elem(), ""})
		}
		return all
	}
	fields := map[string]json.RawMessage{}
	if t.Kind() == reflect.Struct || t.Kind() == reflect.Map {
		_ = json.Unmarshal(raw, &fields)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if t.Kind() == reflect.Map {
			all = append(all, member{"[" + name + "]", fields[name], t.Elem(), ""})
			continue
		}
		f := fieldTypes(t)[name]
		all = append(all, member{name, fields[name], f.Type, f.Tag.Get("patchMergeKey")})
	}
	return all
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

// kindOfJSON says what a value is that begins so.
func kindOfJSON(first byte) string {
	if first >= '0' && first <= '9' {
		first = '-'
	}
	return cmp.Or(kindsOfJSON[first], "nothing")
}

var kindsOfJSON = map[byte]string{
	'{': "an object", '[': "a list", '"': "text", 't': "true or false", 'f': "true or false", 'n': "null",
	'-': "a number",
}
