package manifest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// Method says how Overlay determined which fields the manifest removes.
type Method string

const (
	// MethodNew: there is no live object, so nothing is removed.
	MethodNew Method = "New"
	// MethodLastApplied: the annotation of kubectl apply contains the previous manifest. Fields
	// that are in it but not in the manifest are removed.
	MethodLastApplied Method = "LastApplied"
	// MethodManagedFields: the API server recorded who set which field. Fields that only the
	// applier owns and that are not in the manifest are removed.
	MethodManagedFields Method = "ManagedFields"
	// MethodOverlay: nothing is known about previous manifests. No field is removed, even if an
	// earlier manifest set it.
	MethodOverlay Method = "Overlay"
)

// Applying says how a manifest is applied. The zero value applies it the way the live object was
// applied before, with the same field manager.
type Applying struct {
	ServerSide bool   // use server-side apply, however the object was applied before
	Force      bool   // take over fields that other managers own with other values
	Manager    string // the field manager; empty: the previous applier, or kubectl's default
}

// Field managers of kubectl apply.
const (
	KubectlServerSide = "kubectl"
	KubectlClientSide = "kubectl-client-side-apply"
)

// Applied is the result of applying a manifest to the live DaemonSet.
type Applied struct {
	DaemonSet *appsv1.DaemonSet
	Method    Method
	Manager   string   // the field manager of a server-side apply, else empty
	Warnings  []string // warnings of the API server after a dry run, without duplicates
}

// Overlay returns the DaemonSet that results from applying the manifest to live, as the API server
// would store it: merged, with removed fields as far as they can be determined, and with defaults.
// live is nil if the DaemonSet does not exist. kubernetesVersion is the server's version; empty
// stands for the newest.
//
// Only labels, annotations and spec differ from live. Annotations in which tools keep records stay,
// generation does not change, and nothing is validated. Webhooks and fields unknown to this program
// are not considered; Cluster.DryRun asks the server instead.
//
// A conflict of a server-side apply that is not forced is a [*source.ConflictError]. Any other
// error is a [*source.InputError] that names the manifest.
func Overlay(live *appsv1.DaemonSet, m Manifest, kubernetesVersion string) (*Applied, error) {
	if live == nil {
		made, err := decodeDaemonSet(m.Raw)
		if err != nil {
			return nil, m.Fail(err)
		}
		made.TypeMeta, made.Namespace = metav1.TypeMeta{}, m.Namespace
		template.DefaultDaemonSet(made, kubernetesVersion)
		return &Applied{DaemonSet: made, Method: MethodNew}, nil
	}
	merged, p, method, err := Merge(live, m, kubernetesVersion)
	if err != nil {
		return nil, m.Fail(err)
	}
	template.DefaultDaemonSet(merged, kubernetesVersion)
	KeepToolRecords(live, merged)

	out := live.DeepCopy()
	out.Labels, out.Annotations = merged.Labels, merged.Annotations
	if !equality.Semantic.DeepEqual(live.Spec, merged.Spec) {
		out.Spec = merged.Spec
	}
	if equality.Semantic.DeepEqual(live.Spec.Template, merged.Spec.Template) {
		out.Spec.Template = *live.Spec.Template.DeepCopy()
	}
	return &Applied{DaemonSet: out, Method: method, Manager: p.Applier()}, nil
}

// Merge returns the merged object without defaults, and the patch that produces it.
func Merge(live *appsv1.DaemonSet, m Manifest, kubernetesVersion string) (*appsv1.DaemonSet, Patch, Method, error) {
	by := ApplierOf(live)
	switch {
	case m.As.ServerSide:
		method := MethodManagedFields
		if len(live.ManagedFields) == 0 {
			method = MethodOverlay
		}
		merged, p, err := ApplyAs(live, cmp.Or(m.As.Manager, KubectlServerSide), m)
		return merged, p, method, err
	case m.As.Force && !AppliedServerSide(live, by):
		return nil, Patch{}, "", errForceClientSide
	}
	if last, ok := live.Annotations[corev1.LastAppliedConfigAnnotation]; ok {
		if object.FirstByte([]byte(last)) != '{' || !json.Valid([]byte(last)) {
			return nil, Patch{}, "", fmt.Errorf("the annotation %s of the live daemonset is not JSON",
				corev1.LastAppliedConfigAnnotation)
		}
		merged, p, err := patchThreeWay(live, m, []byte(last), KubectlClientSide)
		if err != nil {
			err = fmt.Errorf("%w and what kubectl apply left in its annotation %s", err,
				corev1.LastAppliedConfigAnnotation)
		}
		return merged, p, MethodLastApplied, err
	}
	if by < 0 {
		merged, p, err := patchThreeWay(live, m, nil, KubectlClientSide)
		return merged, p, MethodOverlay, err
	}
	manager := live.ManagedFields[by].Manager
	if AppliedServerSide(live, by) {
		merged, p, err := ApplyAs(live, cmp.Or(m.As.Manager, manager), m)
		return merged, p, MethodManagedFields, err
	}
	last, err := lastUpdate(live, by, m, kubernetesVersion)
	if err != nil {
		return nil, Patch{}, "", err
	}
	merged, p, err := patchThreeWay(live, m, last, manager)
	return merged, p, MethodManagedFields, err
}

// AppliedServerSide reports whether the applier, given by its index in live's managedFields, used
// server-side apply.
func AppliedServerSide(live *appsv1.DaemonSet, by int) bool {
	_, clientSide := live.Annotations[corev1.LastAppliedConfigAnnotation]
	return !clientSide && by >= 0 && live.ManagedFields[by].Operation == metav1.ManagedFieldsOperationApply
}

var errForceClientSide = errors.New("--force-conflicts is for server-side apply, and this daemonset was applied " +
	"client-side")

// isToolRecord reports whether an annotation is a record of a tool, which manifests neither set nor remove:
// of kubectl, the API server, or Helm, which adds annotations to the output of helm template.
func isToolRecord(annotation string) bool {
	return annotation == corev1.LastAppliedConfigAnnotation || annotation == appsv1.DeprecatedTemplateGeneration ||
		strings.HasPrefix(annotation, "meta.helm.sh/")
}

// helmLabel is the label that helm install sets to Helm even if the template does not.
const helmLabel = "app.kubernetes.io/managed-by"

// KeepToolRecords copies the records of tools from live to merged.
func KeepToolRecords(live, merged *appsv1.DaemonSet) {
	for k, v := range live.Annotations {
		if isToolRecord(k) {
			metav1.SetMetaDataAnnotation(&merged.ObjectMeta, k, v)
		}
	}
	if _, ok := merged.Labels[helmLabel]; !ok && live.Labels[helmLabel] == "Helm" {
		metav1.SetMetaDataLabel(&merged.ObjectMeta, helmLabel, "Helm")
	}
}

// Object returns the manifest as a JSON object with the given namespace.
func (m Manifest) Object(namespace string) map[string]any {
	o := mapOf(m.Raw)
	o["metadata"].(map[string]any)["namespace"] = namespace
	return o
}

func toDaemonSet(o runtime.Object) (*appsv1.DaemonSet, error) {
	return decodeDaemonSet(object.Encoded(o))
}

func decodeDaemonSet(raw []byte) (*appsv1.DaemonSet, error) {
	ds := &appsv1.DaemonSet{}
	return ds, new(object.Object).DecodeInto(raw, ds)
}

// withKind returns a copy of ds with apiVersion and kind, as in the API's JSON, and without
// managedFields.
func withKind(ds *appsv1.DaemonSet) *appsv1.DaemonSet {
	ds = ds.DeepCopy()
	ds.TypeMeta = metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"}
	ds.ManagedFields = nil
	return ds
}
