// Package managed tells who else writes a DaemonSet, and will undo what somebody
// changes of its spec by hand, by its metadata. It holds no prose.
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

// Tool names what writes a DaemonSet, besides whoever changes it by hand.
type Tool string

const (
	// Operator: the controller of another object, from which the DaemonSet is made
	// By: `Kind/name` of that object
	// Found by: the owner reference that is the controller; the annotation `objectset.rio.cattle.io/owner-gvk`
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
	// HelmRelease: Helm; not beside `FluxHelmRelease`, which uses it
	// By: `namespace/name`
	// Found by: the annotation `meta.helm.sh/release-name`; the field manager `helm`
	HelmRelease Tool = "HelmRelease"
	// ServerSideApply: a field manager that applies the spec server-side, where nothing above is found
	// By: the field manager
	// Found by: the last one that applied fields of the spec
	ServerSideApply Tool = "ServerSideApply"
	// KubectlApply: kubectl apply, where nothing above is found
	// Found by: the annotation `kubectl.kubernetes.io/last-applied-configuration`; the field manager `kubectl` that
	// applied
	KubectlApply Tool = "KubectlApply"
	// Program: a program that updates the spec, such as an operator, where nothing above is found
	// By: the field manager
	// Found by: the last one that updated fields of the spec, unless people use it
	Program Tool = "Program"
)

// Reverts reports whether the tool undoes a change by hand by itself: nobody has
// to run it, and it does not wait for a new version.
func (t Tool) Reverts() bool {
	return slices.Contains([]Tool{Operator, ArgoCD, FluxKustomization, FluxHelmRelease, AddonManager}, t)
}

// Manager is one who writes a DaemonSet.
type Manager struct {
	Tool Tool `json:"tool"` // what writes it

	// the object of the tool from which the DaemonSet is made; empty if unknown
	By string `json:"by"`

	// the field of the DaemonSet that tells: `metadata.labels[helm.toolkit.fluxcd.io/name]`
	Evidence string `json:"evidence"`
}

// By returns who writes a DaemonSet: each tool once, the one that undoes a change
// soonest first. It does not know whether that tool still runs, or whether it was
// told to leave a field alone.
func By(ds *appsv1.DaemonSet) []Manager {
	out := []Manager{}
	for _, s := range signs {
		told := slices.ContainsFunc(out, func(m Manager) bool {
			return m.Tool == s.tool || s.tool == HelmRelease && m.Tool == FluxHelmRelease // which works by Helm
		})
		// in these ways the others apply, too
		unnamed := s.tool == ServerSideApply || s.tool == KubectlApply || s.tool == Program
		if told || unnamed && len(out) > 0 {
			continue
		}
		if by, evidence := s.tells(ds); evidence != "" {
			out = append(out, Manager{s.tool, by, evidence})
		}
	}
	return out
}

// Marks returns the keys of labels and annotations, and the names of field managers, by
// which By knows a tool.
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

// A sign is what tells a tool.
type sign struct {
	// tells returns who of the tool it is, where that is told, and the field that tells it;
	// no field where it is not there.
	tells func(*appsv1.DaemonSet) (by, evidence string)

	key, manager string // of the label or annotation, or of the managed fields
}

// signs are what tells the tools, in their order, the best sign of each first. What
// several tools, or nobody, may have written is none: app.kubernetes.io/instance, or
// app.kubernetes.io/managed-by=Helm, which a chart's manifest has without Helm.
var signs = []struct {
	tool Tool
	sign
}{
	{Operator, sign{tells: controller}},
	{Operator, metadata("annotations", "objectset.rio.cattle.io/owner-gvk", objectSet)},
	{ArgoCD, metadata("annotations", "argocd.argoproj.io/tracking-id", application)},
	{ArgoCD, metadata("labels", "argocd.argoproj.io/instance", itself)},
	{ArgoCD, manager("argocd-controller", "")},
	{ArgoCD, manager("argocd-application-controller", "")},
	{FluxKustomization, metadata("labels", "kustomize.toolkit.fluxcd.io/name",
		in("kustomize.toolkit.fluxcd.io/namespace"))},
	{FluxKustomization, manager("kustomize-controller", "")},
	{FluxHelmRelease, metadata("labels", "helm.toolkit.fluxcd.io/name", in("helm.toolkit.fluxcd.io/namespace"))},
	{FluxHelmRelease, manager("helm-controller", "")},
	{AddonManager, metadata("labels", "addonmanager.kubernetes.io/mode", reconciled)},
	{HelmRelease, metadata("annotations", "meta.helm.sh/release-name", in("meta.helm.sh/release-namespace"))},
	{HelmRelease, manager("helm", "")},
	{ServerSideApply, sign{tells: applier}},
	{KubectlApply, metadata("annotations", corev1.LastAppliedConfigAnnotation, nobody)},
	// what else it writes it writes by other names, and as updates
	{KubectlApply, manager("kubectl", metav1.ManagedFieldsOperationApply)},
	{Program, sign{tells: program}},
}

// metadata is a label or an annotation with a value that tells who it is.
func metadata(kind, key string, who func(ds *appsv1.DaemonSet, value string) (by string, is bool)) sign {
	return sign{key: key, tells: func(ds *appsv1.DaemonSet) (by, evidence string) {
		value, there := map[string]map[string]string{"labels": ds.Labels, "annotations": ds.Annotations}[kind][key]
		if by, is := who(ds, value); there && is && value != "" {
			return by, "metadata." + kind + "[" + key + "]"
		}
		return "", ""
	}}
}

func itself(_ *appsv1.DaemonSet, value string) (string, bool) { return value, true }

func nobody(*appsv1.DaemonSet, string) (string, bool) { return "", true }

// reconciled: in the other mode, EnsureExists, it leaves changes alone.
func reconciled(_ *appsv1.DaemonSet, mode string) (string, bool) { return "", mode == "Reconcile" }

// in is a name whose namespace stands beside it.
func in(namespaceAt string) func(*appsv1.DaemonSet, string) (string, bool) {
	return func(ds *appsv1.DaemonSet, name string) (string, bool) {
		return strings.TrimPrefix(cmp.Or(ds.Labels[namespaceAt], ds.Annotations[namespaceAt])+"/"+name, "/"), true
	}
}

// application reads APPLICATION:GROUP/KIND:NAMESPACE/NAME. One that speaks of
// another object was copied with the manifest, and Argo CD ignores it.
func application(ds *appsv1.DaemonSet, tracking string) (string, bool) {
	app, object, _ := strings.Cut(tracking, ":")
	return app, app != "" && object == "apps/DaemonSet:"+ds.Namespace+"/"+ds.Name
}

// objectSet is the object of which Rancher, k3s or RKE2 made this one.
func objectSet(ds *appsv1.DaemonSet, owner string) (string, bool) {
	_, kind, found := strings.Cut(owner, "Kind=")
	return kind + "/" + ds.Annotations[objectSetName], found
}

// objectSetName is the annotation that has the name of that object.
const objectSetName = "objectset.rio.cattle.io/owner-name"

func controller(ds *appsv1.DaemonSet) (by, evidence string) {
	if o := metav1.GetControllerOfNoCopy(ds); o != nil {
		return o.Kind + "/" + o.Name, "metadata.ownerReferences"
	}
	return "", ""
}

// manager is a field manager that wrote something of the spec, by an operation
// where one is given.
func manager(name string, operation metav1.ManagedFieldsOperationType) sign {
	return sign{manager: name, tells: func(ds *appsv1.DaemonSet) (by, evidence string) {
		for _, m := range ds.ManagedFields {
			if m.Manager == name && (operation == "" || m.Operation == operation) && writesSpec(&m) {
				return "", managerAt(name)
			}
		}
		return "", ""
	}}
}

func managerAt(name string) string { return "metadata.managedFields[manager=" + name + "]" }

// writesSpec reports whether an entry is about fields of the spec, as far as it
// says what it is about.
func writesSpec(m *metav1.ManagedFieldsEntry) bool {
	fields := m.FieldsV1.GetRawBytes()
	return m.Subresource == "" && (len(fields) == 0 || bytes.Contains(fields, []byte(`"f:spec"`)))
}

// applier is whoever applied the DaemonSet server-side last, but for kubectl.
func applier(ds *appsv1.DaemonSet) (by, evidence string) {
	return lastWriter(ds, metav1.ManagedFieldsOperationApply, func(name string) bool { return name != "kubectl" })
}

// program is whoever updated the DaemonSet last, but for what people use, and Kubernetes itself.
func program(ds *appsv1.DaemonSet) (by, evidence string) {
	return lastWriter(ds, metav1.ManagedFieldsOperationUpdate, func(name string) bool {
		return !strings.HasPrefix(name, "kubectl") && !slices.Contains(ofPeople, name)
	})
}

// ofPeople are field managers of tools by which people edit objects, and those that say nothing.
var ofPeople = []string{
	"", "oc", "k9s", "Mozilla", "dashboard", "headlamp-server", "node-fetch", "unknown", "before-first-apply",
	"kube-controller-manager", "k3s",
}

// lastWriter is the last of some field managers that wrote the spec by an operation.
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
