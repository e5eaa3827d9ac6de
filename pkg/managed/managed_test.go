package managed

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// kept is the part of a DaemonSet's metadata that a row sets.
type kept map[string]string

func wrote(manager, operation, fields string) metav1.ManagedFieldsEntry {
	m := metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationType(operation)}
	if fields != "" {
		m.FieldsV1 = metav1.NewFieldsV1(fields)
	}
	return m
}

func at(m metav1.ManagedFieldsEntry, minute int) metav1.ManagedFieldsEntry {
	m.Time = &metav1.Time{Time: time.Date(2026, 3, 1, 11, minute, 0, 0, time.UTC)}
	return m
}

func TestManagedBy(t *testing.T) {
	const spec = `{"f:spec":{}}`
	yes := true
	tool := func(tool Tool, by, evidence string) Manager { return Manager{tool, by, evidence} }
	flux := kept{"helm.toolkit.fluxcd.io/name": "agent", "helm.toolkit.fluxcd.io/namespace": "flux-system"}
	helm := kept{"meta.helm.sh/release-name": "agent", "meta.helm.sh/release-namespace": "kube-system"}
	applied := kept{corev1.LastAppliedConfigAnnotation: "{}"}
	subresource := wrote("helm", "Update", spec)
	subresource.Subresource = "status"
	for _, tt := range []struct {
		labels, annotations kept
		managers            []metav1.ManagedFieldsEntry
		owners              []metav1.OwnerReference
		want                []Manager
		why                 string
	}{
		{want: nil, why: "nothing tells"},
		{
			owners: []metav1.OwnerReference{{Kind: "ClusterPolicy", Name: "gpu", Controller: &yes}},
			want:   []Manager{tool(Operator, "ClusterPolicy/gpu", "metadata.ownerReferences")}, why: "an operator's object controls it",
		},
		{owners: []metav1.OwnerReference{{Kind: "ClusterPolicy", Name: "gpu"}}, why: "an owner that is no controller has it deleted, and writes nothing"},
		{
			annotations: kept{"objectset.rio.cattle.io/owner-gvk": "example.io/v1, Kind=Cluster", "objectset.rio.cattle.io/owner-name": "c1"},
			want:        []Manager{tool(Operator, "Cluster/c1", "metadata.annotations[objectset.rio.cattle.io/owner-gvk]")}, why: "one of Rancher's",
		},
		{
			annotations: kept{"objectset.rio.cattle.io/owner-gvk": "k3s.cattle.io/v1, Kind=Addon", "objectset.rio.cattle.io/owner-name": "agent"},
			want:        []Manager{tool(Operator, "Addon/agent", "metadata.annotations[objectset.rio.cattle.io/owner-gvk]")}, why: "an addon of k3s, by the object that its server makes of the file",
		},
		{annotations: kept{"objectset.rio.cattle.io/id": "default-agent"}, why: "an identity names nobody"},

		{
			annotations: kept{"argocd.argoproj.io/tracking-id": "monitoring:apps/DaemonSet:kube-system/agent"},
			want:        []Manager{tool(ArgoCD, "monitoring", "metadata.annotations[argocd.argoproj.io/tracking-id]")}, why: "Argo CD by its annotation",
		},
		{annotations: kept{"argocd.argoproj.io/tracking-id": "monitoring:apps/DaemonSet:kube-system/other"}, why: "one that was copied from another object"},
		{annotations: kept{"argocd.argoproj.io/tracking-id": ":apps/DaemonSet:kube-system/agent"}, why: "one of no application"},
		{
			labels: kept{"argocd.argoproj.io/instance": "monitoring"},
			want:   []Manager{tool(ArgoCD, "monitoring", "metadata.labels[argocd.argoproj.io/instance]")}, why: "by the label that some choose",
		},
		{labels: kept{"app.kubernetes.io/instance": "monitoring", "app.kubernetes.io/managed-by": "Helm"}, why: "labels that every chart has"},
		{
			managers: []metav1.ManagedFieldsEntry{wrote("argocd-controller", "Apply", spec)},
			want:     []Manager{tool(ArgoCD, "", "metadata.managedFields[manager=argocd-controller]")}, why: "by what it wrote",
		},
		{
			managers: []metav1.ManagedFieldsEntry{wrote("argocd-application-controller", "Update", "")},
			want:     []Manager{tool(ArgoCD, "", "metadata.managedFields[manager=argocd-application-controller]")}, why: "where the fields were left out, its name will do",
		},
		{managers: []metav1.ManagedFieldsEntry{wrote("argocd-controller", "Update", `{"f:metadata":{}}`), subresource}, why: "who wrote no field of the spec does not matter"},

		{
			labels: kept{"kustomize.toolkit.fluxcd.io/name": "infra", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"},
			want:   []Manager{tool(FluxKustomization, "flux-system/infra", "metadata.labels[kustomize.toolkit.fluxcd.io/name]")}, why: "Flux, with a Kustomization",
		},
		{
			managers: []metav1.ManagedFieldsEntry{wrote("kustomize-controller", "Apply", spec)},
			want:     []Manager{tool(FluxKustomization, "", "metadata.managedFields[manager=kustomize-controller]")}, why: "by what it wrote",
		},
		{
			labels: flux, annotations: helm, managers: []metav1.ManagedFieldsEntry{wrote("helm-controller", "Update", spec)},
			want: []Manager{tool(FluxHelmRelease, "flux-system/agent", "metadata.labels[helm.toolkit.fluxcd.io/name]")}, why: "Flux with a HelmRelease: Helm is its means",
		},
		{
			annotations: helm, managers: []metav1.ManagedFieldsEntry{wrote("helm", "Update", spec)},
			want: []Manager{tool(HelmRelease, "kube-system/agent", "metadata.annotations[meta.helm.sh/release-name]")}, why: "Helm, named once",
		},
		{
			managers: []metav1.ManagedFieldsEntry{wrote("helm", "Update", spec)},
			want:     []Manager{tool(HelmRelease, "", "metadata.managedFields[manager=helm]")}, why: "by what it wrote",
		},
		{
			labels: kept{"addonmanager.kubernetes.io/mode": "Reconcile"},
			want:   []Manager{tool(AddonManager, "", "metadata.labels[addonmanager.kubernetes.io/mode]")}, why: "an addon that is kept as it is",
		},
		{labels: kept{"addonmanager.kubernetes.io/mode": "EnsureExists", "kubernetes.io/cluster-service": "true"}, why: "an addon that anybody may edit"},
		{annotations: applied, want: []Manager{tool(KubectlApply, "", "metadata.annotations["+corev1.LastAppliedConfigAnnotation+"]")}, why: "kubectl apply"},
		{
			managers: []metav1.ManagedFieldsEntry{wrote("kubectl", "Apply", spec)},
			want:     []Manager{tool(KubectlApply, "", "metadata.managedFields[manager=kubectl]")}, why: "or server-side",
		},
		{managers: []metav1.ManagedFieldsEntry{wrote("kubectl", "Update", spec), wrote("kubectl-rollout", "Update", spec)}, why: "what a person did with kubectl nothing undoes"},
		{
			managers: []metav1.ManagedFieldsEntry{at(wrote("older", "Apply", spec), 1), at(wrote("deployer", "Apply", spec), 3), at(wrote("labeller", "Apply", `{"f:metadata":{}}`), 4), at(wrote("other", "Apply", spec), 2)},
			want:     []Manager{tool(ServerSideApply, "deployer", "metadata.managedFields[manager=deployer]")}, why: "somebody whom only the API server knows: the last",
		},
		{
			managers: []metav1.ManagedFieldsEntry{wrote("agent-operator", "Update", spec), wrote("kubectl-edit", "Update", spec)},
			want:     []Manager{tool(Program, "agent-operator", "metadata.managedFields[manager=agent-operator]")}, why: "a program that updates the spec",
		},
		{annotations: applied, managers: []metav1.ManagedFieldsEntry{wrote("agent-operator", "Update", spec)}, want: []Manager{tool(KubectlApply, "", "metadata.annotations["+corev1.LastAppliedConfigAnnotation+"]")}, why: "not where it is applied"},
		{
			annotations: applied, labels: kept{"argocd.argoproj.io/instance": "monitoring"}, managers: []metav1.ManagedFieldsEntry{wrote("argocd-controller", "Apply", spec)},
			want: []Manager{tool(ArgoCD, "monitoring", "metadata.labels[argocd.argoproj.io/instance]")}, why: "a tool that applies as kubectl does is not kubectl",
		},
		{
			annotations: kept{"meta.helm.sh/release-name": "agent"}, labels: kept{"kapp.k14s.io/app": "1", "argocd.argoproj.io/instance": "monitoring"},
			want: []Manager{
				tool(ArgoCD, "monitoring", "metadata.labels[argocd.argoproj.io/instance]"),
				tool(HelmRelease, "agent", "metadata.annotations[meta.helm.sh/release-name]"),
			}, why: "several, the one that is soonest first",
		},
	} {
		t.Run(tt.why, func(t *testing.T) {
			ds := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{
				Namespace: "kube-system", Name: "agent", Labels: tt.labels, Annotations: tt.annotations, ManagedFields: tt.managers, OwnerReferences: tt.owners,
			}}
			if diff := cmp.Diff(tt.want, By(ds), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
