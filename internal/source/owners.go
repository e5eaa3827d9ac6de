package source

import (
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	smd "sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

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

// lastUpdate returns, as far as it can be told from who owns what, the manifest
// that a client which updates applied last: the fields that it owns, but for
// those that it owns because they are defaults.
func lastUpdate(live *appsv1.DaemonSet, by int, m Manifest, kubernetesVersion string) ([]byte, error) {
	owned, _ := ownedBy(live.ManagedFields[by]) // as applierOf has read it
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
	defaulted, err := defaultedFields(before, owned, asked.EnsureNamedFieldsAreMembers(wanted.Schema(), wanted.TypeRef()), kubernetesVersion)
	if err != nil {
		return nil, err
	}
	last, err := typeConverter().TypedToObject(before.ExtractItems(owned.Difference(defaulted).Leaves(), smd.WithAppendKeyFields()))
	if err != nil {
		return nil, err
	}
	raw := encoded(last) // not a DaemonSet, which would say more than was written
	return bare(raw, metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"}), nil
}

// defaultedFields returns of the fields that are owned and not asked for those
// that the API's defaults would give back if they were taken away.
func defaultedFields(live *smd.TypedValue, owned, asked *fieldpath.Set, kubernetesVersion string) (*fieldpath.Set, error) {
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
	template.DefaultDaemonSet(rest, kubernetesVersion)
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
