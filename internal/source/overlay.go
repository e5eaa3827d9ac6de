package source

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	smd "sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Method is how Overlay knew what the manifest removes.
type Method string

const (
	// MethodNew: there is no live object, so that there is nothing to remove.
	MethodNew Method = "New"
	// MethodLastApplied: kubectl apply left the manifest before this one in an
	// annotation. What was there and is not here is removed.
	MethodLastApplied Method = "LastApplied"
	// MethodManagedFields: the API server recorded who set which field. What the
	// one who applied the object owns alone, and is not here, is removed.
	MethodManagedFields Method = "ManagedFields"
	// MethodOverlay: neither is known. Nothing is removed, so that a field which
	// stood in the manifest once, and does no more, stays.
	MethodOverlay Method = "Overlay"
)

// Applying is how a manifest is applied. The zero value leaves it to the live
// object: whoever applied it before applies it again, in the same way.
type Applying struct {
	ServerSide bool   // server-side, however the object was applied before
	Force      bool   // take over the fields that other managers own with other values
	Manager    string // the field manager; empty: the one who applied before, or kubectl's own
}

// The field managers of kubectl apply.
const (
	kubectlServerSide = "kubectl"
	kubectlClientSide = "kubectl-client-side-apply"
)

// Applied is what a manifest makes of the live DaemonSet.
type Applied struct {
	DaemonSet *appsv1.DaemonSet
	Method    Method
	Manager   string   // the field manager of a server-side apply; empty for any other
	Warnings  []string // of the API server, where it was asked, in its words: each once
}

// Overlay returns what the live DaemonSet becomes when the manifest is applied,
// as the API server stores it: merged, with what the manifest no longer has
// removed as far as that can be known, and with the API's defaults. live is nil
// when there is none. kubernetesVersion is the server's, as in a Snapshot; empty
// stands for the newest.
//
// Only labels, annotations and spec differ from live, and what is equal in
// meaning is live's own: the manifest that is live already gives an equal spec.
// Annotations in which tools keep their books are live's, too. generation is not
// raised, and nothing is validated: not the selector, which is immutable, and not
// the strategy. Webhooks and fields that this program does not know yet are
// beyond it; Cluster.DryRun asks the server instead.
//
// A server-side apply in which other managers own fields with other values fails
// with a [*ConflictError], unless it is forced.
//
// For ManagedFields the one who applies is taken to be who wrote last of those
// that own the selector, a server-side applier before others, and never a
// kubectl command that edits. A client that updates (Helm 3) is recorded as the
// owner of defaults as well: of an object that the manifest lacks and that holds
// nothing but defaults it is assumed that the manifest never had it.
//
// Any other error is an [*InputError] that names the manifest.
func Overlay(live *appsv1.DaemonSet, m Manifest, kubernetesVersion string) (*Applied, error) {
	rules := defaultsOf(kubernetesVersion)
	if live == nil {
		made, err := decodeAs[appsv1.DaemonSet](m.raw)
		if err != nil {
			return nil, m.fail(err)
		}
		made.TypeMeta, made.Namespace = metav1.TypeMeta{}, m.Namespace
		rules.set(made)
		return &Applied{DaemonSet: made, Method: MethodNew}, nil
	}
	merged, p, method, err := merge(live, m, rules)
	if err != nil {
		return nil, m.fail(err)
	}
	rules.set(merged)
	keepBooks(live, merged)

	out := live.DeepCopy()
	out.Labels, out.Annotations = merged.Labels, merged.Annotations
	if !equality.Semantic.DeepEqual(live.Spec, merged.Spec) {
		out.Spec = merged.Spec
	}
	if equality.Semantic.DeepEqual(live.Spec.Template, merged.Spec.Template) {
		out.Spec.Template = *live.Spec.Template.DeepCopy()
	}
	return &Applied{DaemonSet: out, Method: method, Manager: p.applier()}, nil
}

// merge returns the merged object without defaults, and the patch that makes it.
func merge(live *appsv1.DaemonSet, m Manifest, rules defaults) (*appsv1.DaemonSet, patch, Method, error) {
	by := applierOf(live)
	switch {
	case m.As.ServerSide:
		method := MethodManagedFields
		if len(live.ManagedFields) == 0 {
			method = MethodOverlay
		}
		merged, p, err := applyAs(live, cmp.Or(m.As.Manager, kubectlServerSide), m)
		return merged, p, method, err
	case m.As.Force && !appliedServerSide(live, by):
		return nil, patch{}, "", errForceClientSide
	}
	if last, ok := live.Annotations[corev1.LastAppliedConfigAnnotation]; ok {
		if firstByte([]byte(last)) != '{' || !json.Valid([]byte(last)) {
			return nil, patch{}, "", fmt.Errorf("the annotation %s of the live daemonset is not JSON", corev1.LastAppliedConfigAnnotation)
		}
		merged, p, err := patchThreeWay(live, m, []byte(last), kubectlClientSide)
		if err != nil {
			err = fmt.Errorf("%w and what kubectl apply left in its annotation %s", err, corev1.LastAppliedConfigAnnotation)
		}
		return merged, p, MethodLastApplied, err
	}
	if by < 0 {
		merged, p, err := patchThreeWay(live, m, nil, kubectlClientSide)
		return merged, p, MethodOverlay, err
	}
	manager := live.ManagedFields[by].Manager
	if appliedServerSide(live, by) {
		merged, p, err := applyAs(live, cmp.Or(m.As.Manager, manager), m)
		return merged, p, MethodManagedFields, err
	}
	last, err := lastUpdate(live, by, m, rules)
	if err != nil {
		return nil, patch{}, "", err
	}
	merged, p, err := patchThreeWay(live, m, last, manager)
	return merged, p, MethodManagedFields, err
}

// appliedServerSide reports whether the one who applied live, by its number in
// the managedFields, did so server-side.
func appliedServerSide(live *appsv1.DaemonSet, by int) bool {
	_, clientSide := live.Annotations[corev1.LastAppliedConfigAnnotation]
	return !clientSide && by >= 0 && live.ManagedFields[by].Operation == metav1.ManagedFieldsOperationApply
}

var errForceClientSide = errors.New("--force-conflicts is for server-side apply, and this daemonset was applied client-side")

// kept reports whether an annotation is somebody's book-keeping, which a manifest
// neither sets nor removes: kubectl's, the API server's, and Helm's, which helm
// install adds to what helm template prints.
func kept(annotation string) bool {
	return annotation == corev1.LastAppliedConfigAnnotation || annotation == appsv1.DeprecatedTemplateGeneration ||
		strings.HasPrefix(annotation, "meta.helm.sh/")
}

// helmLabel is what helm install sets to Helm, and no template need to.
const helmLabel = "app.kubernetes.io/managed-by"

// keepBooks gives merged the book-keeping of live.
func keepBooks(live, merged *appsv1.DaemonSet) {
	for k, v := range live.Annotations {
		if kept(k) {
			metav1.SetMetaDataAnnotation(&merged.ObjectMeta, k, v)
		}
	}
	if _, ok := merged.Labels[helmLabel]; !ok && live.Labels[helmLabel] == "Helm" {
		metav1.SetMetaDataLabel(&merged.ObjectMeta, helmLabel, "Helm")
	}
}

var daemonSetMeta = sync.OnceValues(func() (strategicpatch.LookupPatchMeta, error) {
	return strategicpatch.NewPatchMetaFromStruct(appsv1.DaemonSet{})
})

// patch is what is sent to the API server to apply a manifest: without a kind the
// whole object, to create it.
type patch struct {
	kind    types.PatchType
	manager string
	body    []byte
}

// verb is the right that sending it takes.
func (p patch) verb() string {
	if p.kind == "" {
		return "create"
	}
	return "patch"
}

// applier returns the field manager of a server-side apply; empty for any other.
func (p patch) applier() string {
	if p.kind != types.ApplyPatchType {
		return ""
	}
	return p.manager
}

// patchThreeWay makes the patch that kubectl apply and Helm 3 send, and applies
// it. last is the manifest before this one; without it nothing is removed.
// manager is whose patch it is, where none was asked for.
func patchThreeWay(live *appsv1.DaemonSet, m Manifest, last []byte, manager string) (*appsv1.DaemonSet, patch, error) {
	fail := func(err error) (*appsv1.DaemonSet, patch, error) { return nil, patch{}, err }
	schema, err := daemonSetMeta()
	if err != nil {
		return fail(err)
	}
	current, err := json.Marshal(kinded(live))
	if err != nil {
		return fail(err)
	}
	object := m.object(live.Namespace)
	if metadata := object["metadata"].(map[string]any); metadata["annotations"] == nil {
		metadata["annotations"] = map[string]any{} // kubectl adds one before it compares: that there are none is no wish to remove all
	}
	modified, err := json.Marshal(object)
	if err != nil {
		return fail(err)
	}
	body, raw, err := threeWay(last, modified, current, schema)
	if err != nil {
		return fail(err)
	}
	merged, err := decodeAs[appsv1.DaemonSet](raw)
	return merged, patch{types.StrategicMergePatchType, cmp.Or(m.As.Manager, manager), body}, err
}

// threeWay returns the patch and what current becomes with it. Its error quotes
// nothing: those of the library hold whole members of lists, values included, and
// some odd input makes it panic.
func threeWay(last, modified, current []byte, schema strategicpatch.LookupPatchMeta) (body, merged []byte, err error) {
	unfit := errors.New("cannot be merged with the live daemonset")
	defer func() {
		if recover() != nil {
			err = unfit
		}
	}()
	if body, err = strategicpatch.CreateThreeWayMergePatch(last, modified, current, schema, true); err != nil {
		return nil, nil, unfit
	}
	if merged, err = strategicpatch.StrategicMergePatchUsingLookupPatchMeta(current, body, schema); err != nil {
		return nil, nil, unfit
	}
	return body, merged, nil
}

// applierOf returns which of live's managedFields is that of the one who applies
// the whole object, or -1.
func applierOf(live *appsv1.DaemonSet) int {
	best := -1
	selector := fieldpath.MakePathOrDie("spec", "selector")
	for i, e := range live.ManagedFields {
		byKubectl := e.Manager == "kubectl" || strings.HasPrefix(e.Manager, "kubectl-")
		if e.APIVersion != "apps/v1" || e.Operation != metav1.ManagedFieldsOperationApply && byKubectl {
			continue
		}
		owned, err := ownedBy(e)
		if err != nil || !owned.Has(selector) && owned.WithPrefix(selector[0]).WithPrefix(selector[1]).Empty() {
			continue
		}
		if best < 0 || later(e, live.ManagedFields[best]) {
			best = i
		}
	}
	return best
}

// later reports whether a is rather than b who applies.
func later(a, b metav1.ManagedFieldsEntry) bool {
	if a.Operation != b.Operation {
		return a.Operation == metav1.ManagedFieldsOperationApply
	}
	return b.Time == nil || a.Time != nil && !a.Time.Before(b.Time)
}

func ownedBy(e metav1.ManagedFieldsEntry) (*fieldpath.Set, error) {
	s := fieldpath.NewSet()
	if e.FieldsV1 == nil {
		return s, nil
	}
	return s, s.FromJSON(e.FieldsV1.GetRawReader())
}

var typeConverter = sync.OnceValue(func() managedfields.TypeConverter { return applyconfigurations.NewTypeConverter(scheme.Scheme) })

// applyAs has the API server's own code apply the manifest server-side, in the
// name of a manager. Without managedFields nobody knows what conflicts, and so
// nothing does.
func applyAs(live *appsv1.DaemonSet, name string, m Manifest) (*appsv1.DaemonSet, patch, error) {
	fail := func(err error) (*appsv1.DaemonSet, patch, error) { return nil, patch{}, err }
	current := kinded(live)
	for _, e := range live.ManagedFields {
		if e.FieldsV1 != nil {
			current.ManagedFields = append(current.ManagedFields, e)
		}
	}
	config := &unstructured.Unstructured{Object: m.object(live.Namespace)}
	body, err := json.Marshal(config)
	if err != nil {
		return fail(err)
	}
	gvk := appsv1.SchemeGroupVersion.WithKind("DaemonSet")
	manager, err := managedfields.NewDefaultFieldManager(typeConverter(), scheme.Scheme, noDefaults{}, scheme.Scheme, gvk, gvk.GroupVersion(), "", nil)
	if err != nil {
		return fail(err)
	}
	applied, err := manager.Apply(current, config, name, m.As.Force || len(current.ManagedFields) == 0)
	if found := conflictsIn(err); len(found) > 0 {
		if found = withoutDigests(found, live); len(found) > 0 {
			return fail(&ConflictError{Ref: m.Ref, Manager: name, Conflicts: found})
		}
		applied, err = manager.Apply(current, config, name, true)
	}
	if err != nil {
		return fail(err)
	}
	if m.As.ServerSide && migrate(applied, name) {
		if applied, err = manager.Apply(applied, config, name, true); err != nil {
			return fail(err)
		}
	}
	merged, err := toDaemonSet(applied)
	return merged, patch{types.ApplyPatchType, name, body}, err
}

// migrate does what kubectl apply --server-side does once it was accepted: what
// kubectl apply owned client-side becomes the manager's, so that the same apply,
// sent once more, removes what the manifest no longer has. It reports whether
// anything was to do.
func migrate(applied runtime.Object, name string) bool {
	o, err := meta.Accessor(applied)
	if err != nil {
		return false
	}
	book := fieldpath.NewSet(fieldpath.MakePathOrDie("metadata", "annotations", corev1.LastAppliedConfigAnnotation))
	clientSide := sets.New[string]()
	for _, e := range csaupgrade.FindFieldsOwners(o.GetManagedFields(), metav1.ManagedFieldsOperationUpdate, book) {
		clientSide.Insert(e.Manager)
	}
	return len(clientSide) > 0 && csaupgrade.UpgradeManagedFields(applied, clientSide, name) == nil
}

// conflictsIn returns the conflicts that an error of the API server, or of its
// code, tells of, by manager and field.
func conflictsIn(err error) []Conflict {
	var found []Conflict
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	for _, c := range status.Status().Details.Causes {
		if c.Type == metav1.CauseTypeFieldManagerConflict {
			found = append(found, Conflict{Field: c.Field, With: strings.TrimPrefix(c.Message, "conflict with ")})
		}
	}
	slices.SortFunc(found, func(a, b Conflict) int {
		return cmp.Or(strings.Compare(a.With, b.With), strings.Compare(a.Field, b.Field))
	})
	return found
}

// withoutDigests returns the conflicts but for those at values of which live
// has only the digest: whether they differ is not known.
func withoutDigests(found []Conflict, live *appsv1.DaemonSet) []Conflict {
	spec := &live.Spec.Template.Spec
	unknown := map[string]bool{}
	for list, containers := range map[string][]corev1.Container{"containers": spec.Containers, "initContainers": spec.InitContainers} {
		for _, c := range containers {
			for _, v := range c.Env {
				if snapshot.IsDigest(v.Value) {
					unknown[fmt.Sprintf(".spec.template.spec.%s[name=%q].env[name=%q].value", list, c.Name, v.Name)] = true
				}
			}
		}
	}
	for key, value := range live.Annotations {
		if snapshot.IsDigest(value) {
			unknown[".metadata.annotations."+key] = true
		}
	}
	return slices.DeleteFunc(found, func(c Conflict) bool { return unknown[c.Field] })
}

// noDefaults leaves the defaults to Overlay, which sets them once.
type noDefaults struct{}

func (noDefaults) Default(runtime.Object) {}

// lastUpdate returns, as far as it can be told from who owns what, the manifest
// that a client which updates applied last: the fields that it owns, but for
// those that it owns because they are defaults.
func lastUpdate(live *appsv1.DaemonSet, by int, m Manifest, rules defaults) ([]byte, error) {
	owned, err := ownedBy(live.ManagedFields[by])
	if err != nil {
		return nil, err
	}
	before, err := typeConverter().ObjectToTyped(kinded(live), smd.AllowDuplicates)
	if err != nil {
		return nil, err
	}
	wanted, err := typeConverter().ObjectToTyped(&unstructured.Unstructured{Object: m.object(live.Namespace)}, smd.AllowDuplicates)
	if err != nil {
		return nil, err
	}
	asked, err := wanted.ToFieldSet()
	if err != nil {
		return nil, err
	}
	defaulted, err := defaultedFields(before, owned, asked.EnsureNamedFieldsAreMembers(wanted.Schema(), wanted.TypeRef()), rules)
	if err != nil {
		return nil, err
	}
	last, err := typeConverter().TypedToObject(before.ExtractItems(owned.Difference(defaulted).Leaves(), smd.WithAppendKeyFields()))
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(last) // not a DaemonSet, which would say more than was written
	if err != nil {
		return nil, err
	}
	return bare(raw, metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"})
}

// defaultedFields returns of the fields that are owned and not asked for those
// that the API's defaults would give back if they were taken away.
func defaultedFields(live *smd.TypedValue, owned, asked *fieldpath.Set, rules defaults) (*fieldpath.Set, error) {
	lacking := owned.Difference(asked)
	without, err := typeConverter().TypedToObject(live.RemoveItems(lacking))
	if err != nil {
		return nil, err
	}
	rest, err := toDaemonSet(without)
	if err != nil {
		return nil, err
	}
	// The defaults of a rolling update stay where they are when the strategy changes.
	rest.Spec.UpdateStrategy.Type = appsv1.RollingUpdateDaemonSetStrategyType
	rules.set(rest)
	after, err := typeConverter().ObjectToTyped(kinded(rest), smd.AllowDuplicates)
	if err != nil {
		return nil, err
	}
	changed, err := live.Compare(after)
	if err != nil {
		return nil, err
	}
	// The API server writes this one itself, as a copy of serviceAccountName.
	copied := fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "template", "spec", "serviceAccount"))
	return lacking.Difference(changed.Removed.Union(changed.Modified)).Union(copied), nil
}

// object returns the manifest as a patch has it.
func (m Manifest) object(namespace string) map[string]any {
	var o map[string]any
	if err := kjson.Unmarshal(m.raw, &o); err != nil {
		panic(err) // decodeManifest encoded it
	}
	o["metadata"].(map[string]any)["namespace"] = namespace
	return o
}

func toDaemonSet(o runtime.Object) (*appsv1.DaemonSet, error) {
	raw, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	return decodeAs[appsv1.DaemonSet](raw)
}

// kinded returns a copy that says what it is, as all JSON of the API does.
func kinded(ds *appsv1.DaemonSet) *appsv1.DaemonSet {
	ds = ds.DeepCopy()
	ds.TypeMeta = metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"}
	ds.ManagedFields = nil
	return ds
}
