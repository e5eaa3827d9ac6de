package object

import (
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	OfOperators = metav1.TypeMeta{APIVersion: "config.openshift.io/v1", Kind: "ClusterOperator"}
	OfLeases    = metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"}
	OfStatus    = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
)

// KindName returns the kind for a message. It adds the apiVersion if a Snapshot holds no kinds with that apiVersion.
func KindName(k metav1.TypeMeta) string {
	if HeldTypes[k] != nil {
		return k.Kind
	}
	switch k.APIVersion {
	case "v1", "apps/v1", "policy/v1", snapshot.APIVersion:
		return k.Kind
	case "":
		return k.Kind + " (no apiVersion)"
	}
	return k.Kind + " (" + k.APIVersion + ")"
}

// Resources maps the names of resources to their kinds. It includes the short names in files of collectors.
var Resources = map[string]metav1.TypeMeta{
	"daemonsets": {APIVersion: "apps/v1", Kind: "DaemonSet"}, "controllerrevisions": {APIVersion: "apps/v1",
		Kind: "ControllerRevision"},
	"nodes": {APIVersion: "v1", Kind: "Node"}, "pods": {APIVersion: "v1", Kind: "Pod"},
	"events":               {APIVersion: "v1", Kind: "Event"},
	"poddisruptionbudgets": {APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
	"namespaces":           OfNamespaces, "serviceaccounts": OfAccounts, "resourcequotas": OfQuotas,
	"resourcequota": OfQuotas, "limitranges": OfLimits,
	"priorityclasses": OfPriorityClasses, "runtimeclasses": OfRuntimeClasses, "persistentvolumes": OfVolumes,
	"pvs":                    OfVolumes,
	"persistentvolumeclaims": OfClaims, "pvcs": OfClaims, "csinodes": OfCSINodes, "leases": OfLeases,
}

// OneOfEach names, for each kind, the object that identifies a cluster. Few dumps contain namespaces. The output of
// "kubectl cluster-info dump" contains Services.
var OneOfEach = map[metav1.TypeMeta]string{OfNamespaces: "namespace kube-system",
	OfServices: "service default/kubernetes"}

// identifiesCluster reports whether the UID of the object identifies its cluster.
func identifiesCluster(kind metav1.TypeMeta, namespace, name string) bool {
	switch kind {
	case OfNamespaces:
		return name == metav1.NamespaceSystem
	case OfServices:
		return namespace == metav1.NamespaceDefault && name == "kubernetes"
	}
	return false
}
