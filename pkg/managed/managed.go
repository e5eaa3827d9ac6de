// Package managed determines, from the metadata of a DaemonSet, who else writes
// it and will revert manual changes of its spec. It contains no prose.
package managed

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Tool names a writer of a DaemonSet, other than people who edit it.
type Tool string

const (
	// Operator: the controller of another object, from which it makes the
	// DaemonSet
	// By: `Kind/name` of that object
	// Found by: the owner reference that is the controller; the annotation
	// `objectset.rio.cattle.io/owner-gvk`
	Operator Tool = "Operator"
	// ArgoCD: an application of Argo CD
	// By: its name
	// Found by: the annotation `argocd.argoproj.io/tracking-id`, if it is about this object; the label
	// `argocd.argoproj.io/instance`; the field managers `argocd-controller` and `argocd-application-controller`
	ArgoCD Tool = "ArgoCD"
	// FluxKustomization: Flux, by its kustomize-controller
	// By: `namespace/name`
	// Found by: the label `kustomize.toolkit.fluxcd.io/name`; the field manager `kustomize-controller`
	FluxKustomization Tool = "FluxKustomization"
	// FluxHelmRelease: Flux, by its helm-controller
	// By: `namespace/name`
	// Found by: the label `helm.toolkit.fluxcd.io/name`; the field manager `helm-controller`
	FluxHelmRelease Tool = "FluxHelmRelease"
	// AddonManager: kube-addon-manager
	// Found by: the label `addonmanager.kubernetes.io/mode: Reconcile`
	AddonManager Tool = "KubernetesAddonManager"
	// HelmRelease: Helm; not listed together with `FluxHelmRelease`, which uses Helm
	// By: `namespace/name`
	// Found by: the annotation `meta.helm.sh/release-name`; the field manager `helm`
	HelmRelease Tool = "HelmRelease"
	// ServerSideApply: a field manager that applies the spec server-side; only
	// if none of the above is found
	// By: the field manager
	// Found by: the last one that applied fields of the spec
	ServerSideApply Tool = "ServerSideApply"
	// KubectlApply: kubectl apply; only if none of the above is found
	// Found by: the annotation
	// `kubectl.kubernetes.io/last-applied-configuration`; the field manager
	// `kubectl` that applied
	KubectlApply Tool = "KubectlApply"
	// Program: a program that updates the spec, such as an operator; only if
	// none of the above is found
	// By: the field manager
	// Found by: the last one that updated fields of the spec, unless people use
	// it
	Program Tool = "Program"
)

// Reverts reports whether the tool reverts manual changes by itself: nobody has
// to run it, and it does not wait for a new version.
func (t Tool) Reverts() bool {
	return slices.Contains([]Tool{Operator, ArgoCD, FluxKustomization, FluxHelmRelease, AddonManager}, t)
}

// Manager is a writer of a DaemonSet.
type Manager struct {
	Tool Tool `json:"tool"` // what writes it

	// the object of the tool from which the DaemonSet is made; empty if unknown
	By string `json:"by"`

	// the field of the DaemonSet that shows it:
	// `metadata.labels[helm.toolkit.fluxcd.io/name]`
	Evidence string `json:"evidence"`
}

// By returns who writes a DaemonSet, each tool once, the one that reverts
// changes soonest first. It cannot know whether the tool still runs, or whether
// it is configured to ignore a field.
func By(ds *appsv1.DaemonSet) []Manager {
	out := []Manager{}
	for _, s := range signs {
		told := slices.ContainsFunc(out, func(m Manager) bool {
			return m.Tool == s.tool || s.tool == HelmRelease && m.Tool == FluxHelmRelease // it uses Helm
		})
		// the others also write in these ways
		unnamed := s.tool == ServerSideApply || s.tool == KubectlApply || s.tool == Program
		if told || unnamed && len(out) > 0 {
			continue
		}
		if by, evidence := s.find(ds); evidence != "" {
			out = append(out, Manager{s.tool, by, evidence})
		}
	}
	return out
}

// Marks returns the keys of labels and annotations, and the field managers, by
// which By recognizes tools.
func Marks() (keys, managers []string) {
	for _, s := range signs {
		if s.key != "" {
			keys = append(keys, s.key)
		}
		if s.manager != "" {
			managers = append(managers, s.manager)
		}
	}
	return append(keys, objectSetName, "kustomize.toolkit.fluxcd.io/namespace", "helm.toolkit.fluxcd.io/namespace",
		"meta.helm.sh/release-namespace"), managers
}

// A sign recognizes a tool.
type sign struct {
	// find returns the object of the tool, if known, and the field that shows
	// the tool; the field is empty if the tool was not found.
	find func(*appsv1.DaemonSet) (by, evidence string)

	key, manager string // of the label or annotation; of the managed fields
}

// signs recognize the tools in their order, the best sign of each first. They
// do not include what several tools or people may write:
// app.kubernetes.io/instance, and app.kubernetes.io/managed-by=Helm, which is
// in manifests of charts even without Helm.
var signs = []struct {
	tool Tool
	sign
}{
	{Operator, sign{find: controller}},
	{Operator, metadata("annotations", "objectset.rio.cattle.io/owner-gvk", objectSet)},
	{ArgoCD, metadata("annotations", "argocd.argoproj.io/tracking-id", application)},
	{ArgoCD, metadata("labels", "argocd.argoproj.io/instance", itself)},
	{ArgoCD, manager("argocd-controller", "")},
	{ArgoCD, manager("argocd-application-controller", "")},
	{FluxKustomization, metadata("labels", "kustomize.toolkit.fluxcd.io/name",
		inNamespace("kustomize.toolkit.fluxcd.io/namespace"))},
	{FluxKustomization, manager("kustomize-controller", "")},
	{FluxHelmRelease, metadata("labels", "helm.toolkit.fluxcd.io/name",
		inNamespace("helm.toolkit.fluxcd.io/namespace"))},
	{FluxHelmRelease, manager("helm-controller", "")},
	{AddonManager, metadata("labels", "addonmanager.kubernetes.io/mode", isReconcile)},
	{HelmRelease, metadata("annotations", "meta.helm.sh/release-name", inNamespace("meta.helm.sh/release-namespace"))},
	{HelmRelease, manager("helm", "")},
	{ServerSideApply, sign{find: applier}},
	{KubectlApply, metadata("annotations", corev1.LastAppliedConfigAnnotation, nobody)},
	// its other writes have other manager names, and are updates
	{KubectlApply, manager("kubectl", metav1.ManagedFieldsOperationApply)},
	{Program, sign{find: program}},
}

// metadata returns the sign of a label or an annotation whose value names the
// object.
func metadata(kind, key string, who func(ds *appsv1.DaemonSet, value string) (by string, is bool)) sign {
	return sign{key: key, find: func(ds *appsv1.DaemonSet) (by, evidence string) {
		value, there := map[string]map[string]string{"labels": ds.Labels, "annotations": ds.Annotations}[kind][key]
		if by, is := who(ds, value); there && is && value != "" {
			return by, "metadata." + kind + "[" + key + "]"
		}
		return "", ""
	}}
}

func itself(_ *appsv1.DaemonSet, value string) (string, bool) { return value, true }

func nobody(*appsv1.DaemonSet, string) (string, bool) { return "", true }

// isReconcile reports whether the mode is Reconcile. In the other mode,
// EnsureExists, the addon manager does not revert changes.
func isReconcile(_ *appsv1.DaemonSet, mode string) (string, bool) { return "", mode == "Reconcile" }

// inNamespace returns the reader of a name whose namespace is in another label or
// annotation.
func inNamespace(namespaceAt string) func(*appsv1.DaemonSet, string) (string, bool) {
	return func(ds *appsv1.DaemonSet, name string) (string, bool) {
		return strings.TrimPrefix(cmp.Or(ds.Labels[namespaceAt], ds.Annotations[namespaceAt])+"/"+name, "/"), true
	}
}

// application parses APPLICATION:GROUP/KIND:NAMESPACE/NAME. If it names another
// object, the annotation was copied with a manifest, and Argo CD ignores it.
func application(ds *appsv1.DaemonSet, tracking string) (string, bool) {
	app, object, _ := strings.Cut(tracking, ":")
	return app, app != "" && object == "apps/DaemonSet:"+ds.Namespace+"/"+ds.Name
}

// objectSet returns the object from which Rancher, k3s or RKE2 made this one.
func objectSet(ds *appsv1.DaemonSet, owner string) (string, bool) {
	_, kind, found := strings.Cut(owner, "Kind=")
	return kind + "/" + ds.Annotations[objectSetName], found
}

// objectSetName is the annotation with the name of that object.
const objectSetName = "objectset.rio.cattle.io/owner-name"

func controller(ds *appsv1.DaemonSet) (by, evidence string) {
	if o := metav1.GetControllerOfNoCopy(ds); o != nil {
		return o.Kind + "/" + o.Name, "metadata.ownerReferences"
	}
	return "", ""
}

// manager returns the sign of a field manager that wrote the spec with an
// operation, or with any operation if it is empty.
func manager(name string, operation metav1.ManagedFieldsOperationType) sign {
	return sign{manager: name, find: func(ds *appsv1.DaemonSet) (by, evidence string) {
		for _, m := range ds.ManagedFields {
			if m.Manager == name && (operation == "" || m.Operation == operation) && writesSpec(&m) {
				return "", managerAt(name)
			}
		}
		return "", ""
	}}
}

func managerAt(name string) string { return "metadata.managedFields[manager=" + name + "]" }

// writesSpec reports whether an entry has fields of the spec. An entry without
// fields may have.
func writesSpec(m *metav1.ManagedFieldsEntry) bool {
	fields := m.FieldsV1.GetRawBytes()
	return m.Subresource == "" && (len(fields) == 0 || bytes.Contains(fields, []byte(`"f:spec"`)))
}

// applier returns who last applied the DaemonSet server-side, except kubectl.
func applier(ds *appsv1.DaemonSet) (by, evidence string) {
	return lastWriter(ds, metav1.ManagedFieldsOperationApply, func(name string) bool { return name != "kubectl" })
}

// program returns who last updated the DaemonSet, except tools that people use
// and Kubernetes itself.
func program(ds *appsv1.DaemonSet) (by, evidence string) {
	return lastWriter(ds, metav1.ManagedFieldsOperationUpdate, func(name string) bool {
		return !strings.HasPrefix(name, "kubectl") && !slices.Contains(peopleManagers, name)
	})
}

// peopleManagers are the field managers of tools with which people edit objects, and
// meaningless ones.
var peopleManagers = []string{
	"", "oc", "k9s", "Mozilla", "dashboard", "headlamp-server", "node-fetch", "unknown", "before-first-apply",
	"kube-controller-manager", "k3s",
}

// lastWriter returns the last of the matching field managers that wrote the
// spec with an operation.
func lastWriter(ds *appsv1.DaemonSet, by metav1.ManagedFieldsOperationType, is func(manager string) bool) (name,
	evidence string) {
	var last *metav1.ManagedFieldsEntry
	for i := range ds.ManagedFields {
		m := &ds.ManagedFields[i]
		if m.Operation == by && is(m.Manager) && writesSpec(m) && (last == nil || last.Time.Before(m.Time)) {
			last = m
		}
	}
	if last == nil {
		return "", ""
	}
	return last.Manager, managerAt(last.Manager)
}
