package manifest

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	smd "sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/api"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/hide"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

var daemonSetMeta = sync.OnceValues(func() (strategicpatch.LookupPatchMeta, error) {
	return strategicpatch.NewPatchMetaFromStruct(appsv1.DaemonSet{})
})

// Patch is the request that applies a manifest. If Kind is empty, it creates the object from Body.
type Patch struct {
	Kind    types.PatchType
	Manager string
	Body    []byte
}

// AsVerb returns the verb that the user needs permission for.
func (p Patch) AsVerb() string {
	if p.Kind == "" {
		return "create"
	}
	return "patch"
}

// Applier returns the field manager of a server-side apply, else "".
func (p Patch) Applier() string {
	if p.Kind != types.ApplyPatchType {
		return ""
	}
	return p.Manager
}

// patchThreeWay returns the merged object and the patch that kubectl apply and Helm 3 send. last is
// the previous manifest; if it is nil, nothing is removed. manager is the default field manager.
func patchThreeWay(live *appsv1.DaemonSet, m Manifest, last []byte, manager string) (*appsv1.DaemonSet, Patch, error) {
	schema, err := daemonSetMeta()
	if err != nil {
		return nil, Patch{}, err
	}
	obj := m.Object(live.Namespace)
	if metadata := obj["metadata"].(map[string]any); metadata["annotations"] == nil {
		// kubectl adds an annotation before it compares, so a manifest without annotations does not
		// remove all
		metadata["annotations"] = map[string]any{}
	}
	body, raw, err := threeWay(last, object.Encoded(obj), object.Encoded(withKind(live)), schema)
	if err != nil {
		return nil, Patch{}, err
	}
	merged, err := decodeDaemonSet(raw)
	return merged, Patch{types.StrategicMergePatchType, cmp.Or(m.As.Manager, manager), body}, err
}

// threeWay returns the patch, and current with the patch applied. Its error contains no values,
// unlike the errors of the library, and it recovers from panics of the library on malformed input.
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

// ApplyAs applies the manifest with the API server's own code for server-side apply, as the named
// field manager. Without managedFields there are no conflicts.
func ApplyAs(live *appsv1.DaemonSet, name string, m Manifest) (*appsv1.DaemonSet, Patch, error) {
	current := withKind(live)
	for _, e := range live.ManagedFields {
		if e.FieldsV1 != nil {
			current.ManagedFields = append(current.ManagedFields, e)
		}
	}
	config := &unstructured.Unstructured{Object: m.Object(live.Namespace)}
	gvk := appsv1.SchemeGroupVersion.WithKind("DaemonSet")
	manager, err := managedfields.NewDefaultFieldManager(typeConverter(), api.APIScheme(), noDefaults{},
		api.APIScheme(), gvk,
		gvk.GroupVersion(), "", nil)
	if err != nil {
		return nil, Patch{}, err
	}
	applied, err := manager.Apply(current, config, name, m.As.Force || len(current.ManagedFields) == 0)
	if found := ConflictsIn(err); len(found) > 0 {
		if found = withoutDigests(found, live); len(found) > 0 {
			return nil, Patch{}, &source.ConflictError{Ref: m.Ref, Manager: name, Conflicts: found}
		}
		applied, err = manager.Apply(current, config, name, true)
	}
	if err != nil {
		return nil, Patch{}, err
	}
	if m.As.ServerSide && Migrate(applied, name) {
		if applied, err = manager.Apply(applied, config, name, true); err != nil {
			return nil, Patch{}, err
		}
	}
	merged, err := toDaemonSet(applied)
	return merged, Patch{types.ApplyPatchType, name, object.Encoded(config)}, err
}

// Migrate does what kubectl apply --server-side does after a successful apply: it transfers the
// fields that kubectl apply owns client-side to the named manager. A second apply then removes the
// fields that are not in the manifest. It reports whether anything changed.
func Migrate(applied runtime.Object, name string) bool {
	book := fieldpath.NewSet(fieldpath.MakePathOrDie("metadata", "annotations", corev1.LastAppliedConfigAnnotation))
	clientSide := sets.New[string]()
	for _, e := range csaupgrade.FindFieldsOwners(applied.(metav1.Object).GetManagedFields(),
		metav1.ManagedFieldsOperationUpdate, book) {
		clientSide.Insert(e.Manager)
	}
	return len(clientSide) > 0 && csaupgrade.UpgradeManagedFields(applied, clientSide, name) == nil
}

// ConflictsIn returns the conflicts in an error of server-side apply, sorted by manager and field.
func ConflictsIn(err error) []source.Conflict {
	var found []source.Conflict
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	for _, c := range status.Status().Details.Causes {
		if c.Type == metav1.CauseTypeFieldManagerConflict {
			found = append(found, source.Conflict{Field: c.Field,
				With: strings.TrimPrefix(c.Message, "conflict with ")})
		}
	}
	slices.SortFunc(found, func(a, b source.Conflict) int {
		return cmp.Or(strings.Compare(a.With, b.With), strings.Compare(a.Field, b.Field))
	})
	return found
}

// withoutDigests returns the conflicts without those about values that live contains only as a
// digest, for which it is unknown whether they differ.
func withoutDigests(found []source.Conflict, live *appsv1.DaemonSet) []source.Conflict {
	spec := &live.Spec.Template.Spec
	unknown := map[string]bool{}
	for list, containers := range map[string][]corev1.Container{"containers": spec.Containers,
		"initContainers": spec.InitContainers} {
		for _, c := range containers {
			for _, v := range c.Env {
				if hide.IsDigest(v.Value) {
					unknown[fmt.Sprintf(".spec.template.spec.%s[name=%q].env[name=%q].value", list, c.Name,
						v.Name)] = true
				}
			}
		}
	}
	for key, value := range live.Annotations {
		if hide.IsDigest(value) {
			unknown[".metadata.annotations."+key] = true
		}
	}
	return slices.DeleteFunc(found, func(c source.Conflict) bool { return unknown[c.Field] })
}

// noDefaults sets no defaults: Overlay sets them once.
type noDefaults struct{}

func (noDefaults) Default(runtime.Object) {}

// ApplierOf returns the index of the applier of the whole object in live's managedFields, or -1.
//
// The applier is the manager that wrote last among those that own the selector. A manager that uses
// server-side apply takes precedence, and kubectl commands that edit are ignored.
func ApplierOf(live *appsv1.DaemonSet) int {
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

// later reports whether a is more likely the applier than b.
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

// daemonSetSchema is the part of the API's schema that server-side apply of a DaemonSet needs.
//
//go:embed daemonset.yaml
var daemonSetSchema smd.YAMLObject

// typeConverter returns a converter for DaemonSets only.
var typeConverter = sync.OnceValue(func() managedfields.TypeConverter {
	parser, err := smd.NewParser(daemonSetSchema)
	if err != nil {
		panic(err) // the file is generated
	}
	return managedfields.NewSchemeTypeConverter(api.APIScheme(), parser)
})

// lastUpdate returns the previous manifest of a client that applies with updates, such as Helm 3,
// as far as the owned fields show it. Such a client is recorded as the owner of defaults, too;
// fields that defaulting would set again are assumed not to have been in the manifest.
func lastUpdate(live *appsv1.DaemonSet, by int, m Manifest, kubernetesVersion string) ([]byte, error) {
	owned, _ := ownedBy(live.ManagedFields[by]) // ApplierOf has read it without an error
	before, err := typeConverter().ObjectToTyped(withKind(live), smd.AllowDuplicates)
	if err != nil {
		return nil, err
	}
	wanted, err := typeConverter().ObjectToTyped(&unstructured.Unstructured{Object: m.Object(live.Namespace)},
		smd.AllowDuplicates)
	if err != nil {
		return nil, err
	}
	asked, err := wanted.ToFieldSet()
	if err != nil {
		return nil, err
	}
	defaulted, err := defaultedFields(before, owned, asked.EnsureNamedFieldsAreMembers(wanted.Schema(),
		wanted.TypeRef()), kubernetesVersion)
	if err != nil {
		return nil, err
	}
	last, err := typeConverter().TypedToObject(before.ExtractItems(owned.Difference(defaulted).Leaves(),
		smd.WithAppendKeyFields()))
	if err != nil {
		return nil, err
	}
	raw := object.Encoded(last) // not decoded as a DaemonSet, which would add fields
	return withoutLiveFields(raw, metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"}), nil
}

// defaultedFields returns the fields that are owned but not asked for and that defaulting would set
// again after their removal.
func defaultedFields(live *smd.TypedValue, owned, asked *fieldpath.Set,
	kubernetesVersion string) (*fieldpath.Set, error) {
	lacking := owned.Difference(asked)
	without, err := typeConverter().TypedToObject(live.RemoveItems(lacking))
	if err != nil {
		return nil, err
	}
	rest, err := toDaemonSet(without)
	if err != nil {
		return nil, err
	}
	// The defaults of RollingUpdate remain when the strategy type changes.
	rest.Spec.UpdateStrategy.Type = appsv1.RollingUpdateDaemonSetStrategyType
	template.DefaultDaemonSet(rest, kubernetesVersion)
	after, err := typeConverter().ObjectToTyped(withKind(rest), smd.AllowDuplicates)
	if err != nil {
		return nil, err
	}
	changed, err := live.Compare(after)
	if err != nil {
		return nil, err
	}
	// The API server sets this field as a copy of serviceAccountName.
	copied := fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "template", "spec", "serviceAccount"))
	return lacking.Difference(changed.Removed.Union(changed.Modified)).Union(copied), nil
}

// SpecPatch returns the strategic merge patch that changes one DaemonSet spec to another, or nil if
// they are equal. It does not contain the order of lists.
func SpecPatch(from, to *appsv1.DaemonSetSpec) ([]byte, error) {
	schema, err := daemonSetMeta()
	if err != nil {
		return nil, err
	}
	spec := func(s *appsv1.DaemonSetSpec) []byte { return object.Encoded(map[string]any{"spec": s}) }
	raw, err := strategicpatch.CreateTwoWayMergePatchUsingLookupPatchMeta(spec(from), spec(to), schema)
	if err != nil {
		return nil, err
	}
	var p map[string]any
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, err
	}
	if withoutOrder(p); len(p) == 0 {
		return nil, nil
	}
	return object.Encoded(p), nil
}

// withoutOrder removes the order of lists from a patch.
func withoutOrder(p any) {
	switch p := p.(type) {
	case map[string]any:
		maps.DeleteFunc(p, func(key string, _ any) bool { return strings.HasPrefix(key, "$setElementOrder/") })
		for _, v := range p {
			withoutOrder(v)
		}
	case []any:
		for _, v := range p {
			withoutOrder(v)
		}
	}
}
