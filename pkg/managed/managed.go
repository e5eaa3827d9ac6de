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
	// ConfigSync: Config Sync
	// By: `namespace/name` of the RootSync or RepoSync
	// Found by: the annotation `configmanagement.gke.io/managed: enabled`, unless `configsync.gke.io/resource-id` is
	// about another object
	ConfigSync Tool = "ConfigSync"
	// Fleet: Rancher Fleet
	// Found by: the field manager `fleetagent`
	Fleet Tool = "Fleet"
	// K3sAddon: the manifests on a server of k3s or RKE2
	// By: the name of the addon
	// Found by: the annotation `objectset.rio.cattle.io/owner-gvk: k3s.cattle.io/v1, Kind=Addon`
	K3sAddon Tool = "K3sAddon"
	// AddonManager: kube-addon-manager
	// Found by: the label `addonmanager.kubernetes.io/mode: Reconcile`
	AddonManager Tool = "KubernetesAddonManager"
	// Kops: an addon of kOps
	// By: its name
	// Found by: the label `addon.kops.k8s.io/name`
	Kops Tool = "Kops"
	// Kapp: kapp, or kapp-controller
	// By: the identifier of the app
	// Found by: the label `kapp.k14s.io/app`
	Kapp Tool = "Kapp"
	// HelmRelease: Helm; not beside `FluxHelmRelease` and `Fleet`, which use it
	// By: `namespace/name`
	// Found by: the annotation `meta.helm.sh/release-name`; the field manager `helm`
	HelmRelease Tool = "HelmRelease"
	// Terraform: Terraform
	// Found by: the field managers `Terraform` and `HashiCorp`
	Terraform Tool = "Terraform"
	// ServerSideApply: a field manager that applies the spec server-side, where nothing above is found
	// By: the field manager
	// Found by: the last one that applied fields of the spec
	ServerSideApply Tool = "ServerSideApply"
	// KubectlApply: kubectl apply, where nothing above is found
	// Found by: the annotation `kubectl.kubernetes.io/last-applied-configuration`; the field manager `kubectl` that
	// applied
	KubectlApply Tool = "KubectlApply"
)

// Tools lists every Tool, the one that undoes a change soonest first.
var Tools = []Tool{
	Operator, ArgoCD, FluxKustomization, FluxHelmRelease, ConfigSync, Fleet, K3sAddon, AddonManager, Kops, Kapp, HelmRelease, Terraform, ServerSideApply, KubectlApply,
}

// Reverts reports whether the tool undoes a change by hand by itself: nobody has
// to run it, and it does not wait for a new version.
func (t Tool) Reverts() bool {
	return !slices.Contains([]Tool{"", Kops, Kapp, HelmRelease, Terraform, ServerSideApply, KubectlApply}, t)
}

// Manager is one who writes a DaemonSet.
type Manager struct {
	Tool Tool `json:"tool"` // what writes it

	// the object of the tool from which the DaemonSet is made; empty if unknown
	By string `json:"by"`

	// the field of the DaemonSet that tells: `metadata.labels[kapp.k14s.io/app]`
	Evidence string `json:"evidence"`
}

// means are the tools that work by another one: what tells the latter then says
// nothing more.
var means = map[Tool][]Tool{HelmRelease: {FluxHelmRelease, Fleet}}

// unnamed are what is only told where nothing better is known: the tools above
// apply in these ways, too.
var unnamed = []Tool{ServerSideApply, KubectlApply}

// By returns who writes a DaemonSet: each tool once, in the order of Tools. It
// does not know whether that tool still runs, or whether it was told to leave a
// field alone.
func By(ds *appsv1.DaemonSet) []Manager {
	out := []Manager{}
	is := func(tools ...Tool) bool {
		return slices.ContainsFunc(out, func(m Manager) bool { return slices.Contains(tools, m.Tool) })
	}
	for _, tool := range Tools {
		if slices.Contains(unnamed, tool) && len(out) > 0 || is(means[tool]...) {
			continue
		}
		for _, tells := range signs[tool] {
			if by, evidence := tells(ds); evidence != "" {
				out = append(out, Manager{tool, by, evidence})
				break
			}
		}
	}
	return out
}

// A sign returns who of a tool it is, where that is told, and the field that
// tells it; no field where it is not there.
type sign func(*appsv1.DaemonSet) (by, evidence string)

// signs are what tells a tool, the best sign first. What several tools, or
// nobody, may have written is none: app.kubernetes.io/instance, or
// app.kubernetes.io/managed-by=Helm, which a chart's manifest has without Helm.
var signs = map[Tool][]sign{
	Operator:          {controller, objectSet},
	ArgoCD:            {argoTracking, label("argocd.argoproj.io/instance"), manager("argocd-controller"), manager("argocd-application-controller")},
	FluxKustomization: {fluxLabel("kustomize.toolkit.fluxcd.io/"), manager("kustomize-controller")},
	FluxHelmRelease:   {fluxLabel("helm.toolkit.fluxcd.io/"), manager("helm-controller")},
	ConfigSync:        {configSync},
	Fleet:             {manager("fleetagent")},
	K3sAddon:          {k3sAddon},
	AddonManager:      {addonManager},
	Kops:              {label("addon.kops.k8s.io/name")},
	Kapp:              {label("kapp.k14s.io/app")},
	HelmRelease:       {helmRelease, manager("helm")},
	Terraform:         {manager("Terraform"), manager("HashiCorp")},
	ServerSideApply:   {applier},
	KubectlApply:      {lastApplied, kubectlApply},
}

func labelAt(key string) string      { return "metadata.labels[" + key + "]" }
func annotationAt(key string) string { return "metadata.annotations[" + key + "]" }
func managerAt(name string) string   { return "metadata.managedFields[manager=" + name + "]" }

// label is a sign whose value names who it is.
func label(key string) sign {
	return func(ds *appsv1.DaemonSet) (string, string) {
		if by := ds.Labels[key]; by != "" {
			return by, labelAt(key)
		}
		return "", ""
	}
}

// fluxLabel is a pair of labels, one with a name and one with its namespace.
func fluxLabel(prefix string) sign {
	return func(ds *appsv1.DaemonSet) (string, string) {
		if name := ds.Labels[prefix+"name"]; name != "" {
			return in(ds.Labels[prefix+"namespace"], name), labelAt(prefix + "name")
		}
		return "", ""
	}
}

func in(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// manager is a field manager that wrote something of the spec.
func manager(name string) sign {
	return func(ds *appsv1.DaemonSet) (string, string) {
		if slices.ContainsFunc(ds.ManagedFields, func(m metav1.ManagedFieldsEntry) bool { return m.Manager == name && writesSpec(&m) }) {
			return "", managerAt(name)
		}
		return "", ""
	}
}

// writesSpec reports whether an entry is about fields of the spec, as far as it
// says what it is about.
func writesSpec(m *metav1.ManagedFieldsEntry) bool {
	return m.Subresource == "" && (m.FieldsV1 == nil || len(m.FieldsV1.GetRawBytes()) == 0 || bytes.Contains(m.FieldsV1.GetRawBytes(), []byte(`"f:spec"`)))
}

// applier is whoever applied the DaemonSet server-side last, but for kubectl.
func applier(ds *appsv1.DaemonSet) (by, evidence string) {
	var last *metav1.ManagedFieldsEntry
	for i := range ds.ManagedFields {
		m := &ds.ManagedFields[i]
		if m.Operation == metav1.ManagedFieldsOperationApply && m.Manager != "kubectl" && writesSpec(m) && (last == nil || last.Time.Before(m.Time)) {
			last = m
		}
	}
	if last == nil {
		return "", ""
	}
	return last.Manager, managerAt(last.Manager)
}

func controller(ds *appsv1.DaemonSet) (by, evidence string) {
	if o := metav1.GetControllerOfNoCopy(ds); o != nil {
		return o.Kind + "/" + o.Name, "metadata.ownerReferences"
	}
	return "", ""
}

// argoTracking reads APPLICATION:GROUP/KIND:NAMESPACE/NAME. One that speaks of
// another object was copied with the manifest, and Argo CD ignores it.
func argoTracking(ds *appsv1.DaemonSet) (by, evidence string) {
	const key = "argocd.argoproj.io/tracking-id"
	app, object, _ := strings.Cut(ds.Annotations[key], ":")
	if app == "" || object != "apps/DaemonSet:"+ds.Namespace+"/"+ds.Name {
		return "", ""
	}
	return app, annotationAt(key)
}

// Of objects that k3s, RKE2 and Rancher make of another one.
const (
	objectSetKind = "objectset.rio.cattle.io/owner-gvk"
	objectSetName = "objectset.rio.cattle.io/owner-name"
)

const k3sAddonKind = "k3s.cattle.io/v1, Kind=Addon"

func k3sAddon(ds *appsv1.DaemonSet) (by, evidence string) {
	if ds.Annotations[objectSetKind] != k3sAddonKind {
		return "", ""
	}
	return ds.Annotations[objectSetName], annotationAt(objectSetKind)
}

func objectSet(ds *appsv1.DaemonSet) (by, evidence string) {
	owner := ds.Annotations[objectSetKind]
	_, kind, found := strings.Cut(owner, "Kind=")
	if !found || owner == k3sAddonKind {
		return "", ""
	}
	return kind + "/" + ds.Annotations[objectSetName], annotationAt(objectSetKind)
}

// configSync reads what Config Sync calls managed: enabled, and by an identity
// that is the object's own.
func configSync(ds *appsv1.DaemonSet) (by, evidence string) {
	const key = "configmanagement.gke.io/managed"
	id := ds.Annotations["configsync.gke.io/resource-id"]
	if ds.Annotations[key] != "enabled" || id != "" && id != "apps_daemonset_"+ds.Namespace+"_"+ds.Name {
		return "", ""
	}
	const prefix = "configmanagement.gke.io/sync-"
	of := func(what string) string { return cmp.Or(ds.Labels[prefix+what], ds.Annotations[prefix+what]) }
	if name := of("name"); name != "" {
		by = in(of("namespace"), name)
	}
	return by, annotationAt(key)
}

// addonManager: in the other mode, EnsureExists, it leaves changes alone.
func addonManager(ds *appsv1.DaemonSet) (by, evidence string) {
	const key = "addonmanager.kubernetes.io/mode"
	if ds.Labels[key] != "Reconcile" {
		return "", ""
	}
	return "", labelAt(key)
}

func helmRelease(ds *appsv1.DaemonSet) (by, evidence string) {
	const key = "meta.helm.sh/release-name"
	if ds.Annotations[key] == "" {
		return "", ""
	}
	return in(ds.Annotations["meta.helm.sh/release-namespace"], ds.Annotations[key]), annotationAt(key)
}

// kubectlApply is kubectl apply --server-side. What else kubectl writes it writes
// by other names, and as updates.
func kubectlApply(ds *appsv1.DaemonSet) (by, evidence string) {
	if slices.ContainsFunc(ds.ManagedFields, func(m metav1.ManagedFieldsEntry) bool {
		return m.Manager == "kubectl" && m.Operation == metav1.ManagedFieldsOperationApply && writesSpec(&m)
	}) {
		return "", managerAt("kubectl")
	}
	return "", ""
}

func lastApplied(ds *appsv1.DaemonSet) (by, evidence string) {
	if _, ok := ds.Annotations[corev1.LastAppliedConfigAnnotation]; !ok {
		return "", ""
	}
	return "", annotationAt(corev1.LastAppliedConfigAnnotation)
}
