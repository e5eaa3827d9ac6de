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
	KubectlServerSide = "kubectl"
	KubectlClientSide = "kubectl-client-side-apply"
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
	KeepBooks(live, merged)

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

// Merge returns the merged object without defaults, and the patch that makes it.
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

// AppliedServerSide reports whether the one who applied live, by its number in
// the managedFields, did so server-side.
func AppliedServerSide(live *appsv1.DaemonSet, by int) bool {
	_, clientSide := live.Annotations[corev1.LastAppliedConfigAnnotation]
	return !clientSide && by >= 0 && live.ManagedFields[by].Operation == metav1.ManagedFieldsOperationApply
}

var errForceClientSide = errors.New("--force-conflicts is for server-side apply, and this daemonset was applied " +
	"client-side")

// kept reports whether an annotation is somebody's book-keeping, which a manifest
// neither sets nor removes: kubectl's, the API server's, and Helm's, which helm
// install adds to what helm template prints.
func kept(annotation string) bool {
	return annotation == corev1.LastAppliedConfigAnnotation || annotation == appsv1.DeprecatedTemplateGeneration ||
		strings.HasPrefix(annotation, "meta.helm.sh/")
}

// helmLabel is what helm install sets to Helm, and no template need to.
const helmLabel = "app.kubernetes.io/managed-by"

// KeepBooks gives merged the book-keeping of live.
func KeepBooks(live, merged *appsv1.DaemonSet) {
	for k, v := range live.Annotations {
		if kept(k) {
			metav1.SetMetaDataAnnotation(&merged.ObjectMeta, k, v)
		}
	}
	if _, ok := merged.Labels[helmLabel]; !ok && live.Labels[helmLabel] == "Helm" {
		metav1.SetMetaDataLabel(&merged.ObjectMeta, helmLabel, "Helm")
	}
}

// Object returns the manifest as a patch has it.
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

// kinded returns a copy that says what it is, as all JSON of the API does.
func kinded(ds *appsv1.DaemonSet) *appsv1.DaemonSet {
	ds = ds.DeepCopy()
	ds.TypeMeta = metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"}
	ds.ManagedFields = nil
	return ds
}
