package object

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

// Object is one decoded object without the fields that Strip drops, or the end of a list.
type Object struct {
	Kind     metav1.TypeMeta
	Is       metav1.Object // the object, if a Snapshot holds its kind
	Snapshot *snapshot.Snapshot
	Newest   time.Time         // the newest time in the object
	Bare     bool              // the object lacks its status, which every live object has
	Again    bool              // the object is byte for byte equal to one that was read before
	Asked    metav1.Object     // the object, if its kind is in AdmissionTypes
	Cluster  string            // UID of the object, if it identifies the cluster
	Operator []byte            // the whole JSON of a ClusterOperator
	Damage   error             // why Asked cannot be decoded
	Failed   error             // why the object cannot be read, in a list that was read as a whole
	Kinds    []metav1.TypeMeta // the kinds that the object may have, if Failed is set
	Note     string            // a note for the user, whose subject is "it"

	Referred *InNamespace // for a kind that pods refer to
	Manager  *Manager     // for an object of kind OfManagers
	Lease    *LeaseRead   // for a Lease in the namespace of kube-controller-manager
	Attached []string     // CSI volumes of a node

	List     bool   // this is the end of a list of this kind, not an object
	Page     Page   // of a list
	Manifest []byte // the manifest of a DaemonSet, if a manifest was read
	Document int    // position of the document in its file, from 1
	Path     string // path in a list, such as items[3]
	Repeats  []Repeat
	ByFields bool     // the object has no kind, and its fields show it
	Twice    bool     // a key may appear twice; Repeats has the keys and lines, and is set later
	Unknown  []string // fields that the kind does not have, as far as this program knows it
}

var (
	ErrNotKubernetes = errors.New("not a Kubernetes object")
	// ErrNoKind says that neither an object nor its list has a kind.
	ErrNoKind = fmt.Errorf("%w: no kind", ErrNotKubernetes)
)

// FieldError says which field of an object is wrong.
type FieldError struct {
	Field string // such as spec.taints[0].key
	Err   error
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Err.Error() }

func (e *FieldError) Unwrap() error { return e.Err }

// Decode decodes an object from JSON. list is the kind of the list around it, and is used if the object has no kind.
// Decode ignores unknown fields, because the object may have a newer version, and lists their names in Unknown.
func Decode(raw []byte, list metav1.TypeMeta) (Object, error) {
	begun := LeadingKind(raw)
	o := Object{Kind: begun, Is: decodeMasked(raw, begun)}
	if o.Is == nil {
		var err error
		if o, err = KindOf(raw, list); err != nil {
			return o, err
		}
		if o.Kind != begun {
			o.Is = decodeMasked(raw, o.Kind)
		}
	}
	t := HeldTypes[o.Kind]
	if t == nil {
		return decodeOther(raw, o)
	}
	if o.Is == nil {
		o.Is = reflect.New(t).Interface().(metav1.Object)
		if err := o.DecodeInto(raw, o.Is); err != nil {
			return o, err
		}
	}
	switch is := o.Is.(type) {
	case *appsv1.DaemonSet:
		o.Bare = noStatus(raw)
	case *corev1.Node:
		o.Bare, o.Attached = len(is.Status.Conditions) == 0, snapshot.AttachedOf(is)
	case *corev1.Pod:
		o.Bare = is.Status.Phase == ""
	case *appsv1.ControllerRevision:
		if first := FirstByte(is.Data.Raw); first != 0 && first != '{' && first != 'n' {
			return o, &FieldError{"data", fmt.Errorf("must be an object, not %s", KindOfJSON(first))}
		}
		is.Data.Raw = compact(is.Data.Raw)
	case *eventsv1.Event:
		o.Is = coreEvent(is)
	case *policyv1.PodDisruptionBudget:
		if s := is.Spec.Selector; o.Kind.APIVersion == "policy/v1beta1" && s != nil &&
			s.Size() == new(metav1.LabelSelector).Size() {
			is.Spec.Selector = nil // in v1beta1, an empty selector selects no pods
		}
	}
	if err := Validate(o.Is); err != nil {
		return o, err
	}
	o.noteTimes(reflect.ValueOf(o.Is))
	if b, ok := o.Is.(*policyv1.PodDisruptionBudget); ok {
		Whole(b)
	} else {
		Strip(o.Is)
	}
	Share(o.Is)
	for _, m := range o.Is.GetManagedFields() {
		if m.FieldsV1 != nil {
			m.FieldsV1.SetRawBytes(compact(m.FieldsV1.GetRawBytes()))
		}
	}
	return o, nil
}

// HeldTypes maps the kinds that a Snapshot holds to their Go types.
var HeldTypes = map[metav1.TypeMeta]reflect.Type{
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

// AdmissionTypes maps the kinds that the program needs for admission and for volumes to their Go types. If such an
// object cannot be read, all other answers remain valid.
var AdmissionTypes = map[metav1.TypeMeta]reflect.Type{
	OfNamespaces:         reflect.TypeFor[corev1.Namespace](),
	OfAccounts:           reflect.TypeFor[corev1.ServiceAccount](),
	OfQuotas:             reflect.TypeFor[corev1.ResourceQuota](),
	OfLimits:             reflect.TypeFor[corev1.LimitRange](),
	OfPriorityClasses:    reflect.TypeFor[schedulingv1.PriorityClass](),
	OfRuntimeClasses:     reflect.TypeFor[nodev1.RuntimeClass](),
	OfValidatingWebhooks: reflect.TypeFor[admissionv1.ValidatingWebhookConfiguration](),
	OfMutatingWebhooks:   reflect.TypeFor[admissionv1.MutatingWebhookConfiguration](),
	OfValidatingPolicies: reflect.TypeFor[admissionv1.ValidatingAdmissionPolicy](),
	OfValidatingBindings: reflect.TypeFor[admissionv1.ValidatingAdmissionPolicyBinding](),
	OfMutatingPolicies:   reflect.TypeFor[admissionv1.MutatingAdmissionPolicy](),
	OfMutatingBindings:   reflect.TypeFor[admissionv1.MutatingAdmissionPolicyBinding](),
	OfClaims:             reflect.TypeFor[corev1.PersistentVolumeClaim](),
	OfVolumes:            reflect.TypeFor[corev1.PersistentVolume](),
	OfCSINodes:           reflect.TypeFor[storagev1.CSINode](),
}

var (
	OfNamespaces         = metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}
	OfServices           = metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}
	OfAccounts           = metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}
	OfQuotas             = metav1.TypeMeta{APIVersion: "v1", Kind: "ResourceQuota"}
	OfLimits             = metav1.TypeMeta{APIVersion: "v1", Kind: "LimitRange"}
	OfPriorityClasses    = metav1.TypeMeta{APIVersion: "scheduling.k8s.io/v1", Kind: "PriorityClass"}
	OfRuntimeClasses     = metav1.TypeMeta{APIVersion: "node.k8s.io/v1", Kind: "RuntimeClass"}
	OfValidatingWebhooks = metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1",
		Kind: "ValidatingWebhookConfiguration"}
	OfMutatingWebhooks = metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1",
		Kind: "MutatingWebhookConfiguration"}
	OfValidatingPolicies = metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1",
		Kind: "ValidatingAdmissionPolicy"}
	OfValidatingBindings = metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1",
		Kind: "ValidatingAdmissionPolicyBinding"}
	OfMutatingPolicies = metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1",
		Kind: "MutatingAdmissionPolicy"}
	OfMutatingBindings = metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1",
		Kind: "MutatingAdmissionPolicyBinding"}
	OfClaims   = metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}
	OfVolumes  = metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"}
	OfCSINodes = metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "CSINode"}
)

// decodeOther decodes a recorded Snapshot. For other kinds it keeps the newest time, a note for the user, and the parts
// that the program uses. A Lease matters for its time, because a kubelet renews it every 10 seconds.
func decodeOther(raw []byte, o Object) (Object, error) {
	if group, _, _ := strings.Cut(o.Kind.APIVersion, "/"); o.Kind.Kind == snapshot.Kind && group == snapshotGroup {
		o.Twice = !jsontext.Value(raw).IsValid() // Repeats decides later
		var err error
		if o.Snapshot, err = snapshot.Decode(raw); err == nil {
			StripRecorded(o.Snapshot)
		}
		return o, err
	}
	o.Note, o.Referred = ignoredNote(raw, o.Kind), referredOf(o.Kind, raw)
	o.Manager, o.Lease = managerOf(o.Kind, raw), leaseOf(o.Kind, raw)
	if o.Kind == OfOperators {
		o.Operator = bytes.Clone(raw)
	}
	var timed struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
		Spec     struct {
			RenewTime metav1.MicroTime `json:"renewTime"`
		} `json:"spec"`
	}
	if json.Unmarshal(raw, &timed) == nil { // an object that cannot be decoded has no times
		if o.Kind != OfLeases {
			timed.Spec.RenewTime = metav1.MicroTime{}
		}
		o.noteTimes(reflect.ValueOf(timed))
		if identifiesCluster(o.Kind, timed.Metadata.Namespace, timed.Metadata.Name) {
			o.Cluster = string(timed.Metadata.UID)
		}
	}
	if t := AdmissionTypes[o.Kind]; t != nil {
		o.Asked = reflect.New(t).Interface().(metav1.Object)
		if _, err := sjson.UnmarshalStrict(raw, o.Asked, sjson.DisallowUnknownFields); err != nil {
			o.Damage = Explain(raw, o.Asked, err)
		} else if o.Damage = Validate(o.Asked); o.Damage == nil {
			Strip(o.Asked)
		}
	}
	return o, nil
}

// KindOf returns an Object with only its kind. It returns an error if the kind only looks like a decisive kind.
func KindOf(raw []byte, list metav1.TypeMeta) (Object, error) {
	var o Object
	if first := FirstByte(raw); first != '{' {
		return o, fmt.Errorf("%w: it is %s", ErrNotKubernetes, KindOfJSON(first))
	}
	var plain bool
	if o.Kind, plain = PeekKind(raw); !plain {
		o.Kind = metav1.TypeMeta{}
		odd, err := sjson.UnmarshalStrict(raw, &o.Kind, sjson.DisallowDuplicateFields)
		if err != nil {
			return o, Explain(raw, &o.Kind, err)
		}
		o.Twice = len(odd) > 0
	}
	if o.Kind.Kind == "" {
		o.Kind = ItemKind(list)
	}
	if o.Kind.Kind == "" {
		return o, ErrNoKind
	}
	return o, Mistaken(o.Kind)
}

var (
	OfSnapshot          = metav1.TypeMeta{APIVersion: snapshot.APIVersion, Kind: snapshot.Kind}
	snapshotGroup, _, _ = strings.Cut(snapshot.APIVersion, "/")
)

// compact removes the whitespace from JSON, so that it is as the API server sends it.
func compact(raw []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// noteTimes sets Newest to the newest time in v, if that is newer. It looks at the times of creation, of writes, of the
// deletion request and of states. A deletionTimestamp is later than the deletion request by the grace period, which
// noteTimes subtracts.
func (o *Object) noteTimes(v reflect.Value) {
	note := func(t time.Time) {
		if t.After(o.Newest) {
			o.Newest = t.UTC()
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
			o.noteTimes(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			o.noteTimes(v.Field(i))
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Struct {
			for i := range v.Len() {
				o.noteTimes(v.Index(i))
			}
		}
	}
}

// ItemKind returns the kind of the items of a typed list, such as Node for a NodeList. It returns an empty TypeMeta
// for a plain List.
func ItemKind(list metav1.TypeMeta) metav1.TypeMeta {
	kind, ok := strings.CutSuffix(list.Kind, "List")
	if !ok || kind == "" {
		return metav1.TypeMeta{}
	}
	return metav1.TypeMeta{APIVersion: list.APIVersion, Kind: kind}
}

// DecodeInto decodes raw into a value of an API type. It adds fields that the type does not have to Unknown, and sets
// Twice if a key may appear twice.
func (o *Object) DecodeInto(raw []byte, into any) error {
	odd, err := sjson.UnmarshalStrict(raw, into)
	if err != nil || len(odd) == 0 {
		return Explain(raw, into, err)
	}
	o.Twice = true
	odd, _ = sjson.UnmarshalStrict(raw, reflect.New(reflect.TypeOf(into).Elem()).Interface(),
		sjson.DisallowUnknownFields)
	for _, e := range odd {
		f := (sjson.FieldError)(nil)
		if !errors.As(e, &f) {
			continue
		}
		if field := inAnyItem().ReplaceAllString(f.FieldPath(), ""); !slices.Contains(o.Unknown, field) {
			o.Unknown = append(o.Unknown, field)
		}
	}
	return nil
}

var inAnyItem = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[\d+\]`)
})

// Explain replaces err by a FieldError that names the field that cannot be decoded. The JSON decoder names the field
// only sometimes, and never its position in a list. Explain returns nil if err is nil.
func Explain(raw []byte, into any, err error) error {
	if err == nil {
		return nil
	}
	field, found := locate(raw, reflect.TypeOf(into).Elem())
	if found == nil {
		return err
	}
	return &FieldError{field, found}
}

// locate returns the path of the deepest field of raw that does not fit type t, and why. It returns no error if raw
// fits.
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
			err = fmt.Errorf("must be a whole number or text, not %s", KindOfJSON(FirstByte(raw)))
		case reflect.TypeFor[resource.Quantity]():
			err = fmt.Errorf("must be a quantity such as 250m or 64Mi, not %s", raw)
		case reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime]():
			err = errors.New("must be a time such as 2026-01-31T15:04:05Z")
			if first := FirstByte(raw); first != '"' {
				err = fmt.Errorf("%w, not %s", err, KindOfJSON(first))
			}
		}
		return "", err
	}
	for _, m := range Members(raw, t) {
		if m.T == nil {
			continue
		}
		if field, err := locate(m.Raw, m.T); err != nil {
			return Join(m.Name, field), err
		}
	}
	return "", fmt.Errorf("must be %s, not %s", template.Wanted(t), KindOfJSON(FirstByte(raw)))
}

// member is a field or a list item in JSON, with its Go type.
type member struct {
	Name string // field name, [0] for an item, or [key] for a map
	Raw  json.RawMessage
	T    reflect.Type // nil if the type has no such field
	Key  string       // for a list: the field that identifies its items
}

// Members returns the fields or items of raw in order. t is the Go type of raw.
func Members(raw []byte, t reflect.Type) []member {
	var all []member
	if t.Kind() == reflect.Slice && FirstByte(raw) == '[' {
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
		f := FieldTypes(t)[name]
		all = append(all, member{name, fields[name], f.Type, f.Tag.Get("patchMergeKey")})
	}
	return all
}

// FieldTypes returns a struct's fields by their JSON names.
func FieldTypes(t reflect.Type) map[string]reflect.StructField {
	types := map[string]reflect.StructField{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			maps.Copy(types, FieldTypes(f.Type))
		case name != "" && name != "-":
			types[name] = f
		}
	}
	return types
}

// Join joins the path of an outer field and the path of a field or an item within it.
func Join(outer, inner string) string {
	if outer == "" || inner == "" || inner[0] == '[' {
		return outer + inner
	}
	return outer + "." + inner
}

// FirstByte returns the first byte of raw that is not whitespace, or 0 if there is none.
func FirstByte(raw []byte) byte {
	if raw = bytes.TrimLeft(raw, " \t\r\n"); len(raw) > 0 {
		return raw[0]
	}
	return 0
}

// KindOfJSON returns the JSON type of the value that starts with this byte, in words.
func KindOfJSON(first byte) string {
	if first >= '0' && first <= '9' {
		first = '-'
	}
	return cmp.Or(kindsOfJSON[first], "nothing")
}

var kindsOfJSON = map[byte]string{
	'{': "an object", '[': "a list", '"': "text", 't': "true or false", 'f': "true or false", 'n': "null",
	'-': "a number",
}

// Encoded returns o as JSON. It panics if that fails.
func Encoded(o any) []byte {
	raw, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return raw
}

// Warns reports whether the event is a warning about the DaemonSet, or about a pod with a name that starts with the
// DaemonSet's.
func (r Relation) Warns(o metav1.Object) bool {
	e := o.(*corev1.Event)
	const longest = 63 - 5 // length of the prefix of a generated name
	name := r.Ds.Name + "-"
	return e.Type == corev1.EventTypeWarning &&
		(r.Concerns(e) || e.InvolvedObject.Kind == "Pod" &&
			strings.HasPrefix(e.InvolvedObject.Name, name[:min(len(name), longest)]))
}

// Repeat is a key that appears twice in an object of a file. The later value is used.
type Repeat struct {
	Line int    // of the later key, in the file, from 1
	Key  string // empty if the key is not a plain word
}

// Whole strips a PodDisruptionBudget, but keeps the parts of its status that Strip drops.
func Whole(b *policyv1.PodDisruptionBudget) (policyv1.PodDisruptionBudget, bool) {
	status := b.Status
	Strip(b)
	b.Status.DisruptionsAllowed, b.Status.DisruptedPods = status.DisruptionsAllowed, status.DisruptedPods
	return *b, true
}
