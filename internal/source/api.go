package source

import (
	"sync"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/rest"
)

// known are the API groups that this program asks for. client-go's own clients and
// its scheme know 57, and whoever imports one of them links the types of all.
var known = []struct {
	schema.GroupVersion
	add func(*runtime.Scheme) error
}{
	{corev1.SchemeGroupVersion, corev1.AddToScheme}, {appsv1.SchemeGroupVersion, appsv1.AddToScheme}, {policyv1.SchemeGroupVersion, policyv1.AddToScheme},
	{schedulingv1.SchemeGroupVersion, schedulingv1.AddToScheme}, {nodev1.SchemeGroupVersion, nodev1.AddToScheme},
	{storagev1.SchemeGroupVersion, storagev1.AddToScheme}, {admissionv1.SchemeGroupVersion, admissionv1.AddToScheme},
}

// apiScheme has the types of the known groups; apiCodecs decode them, apiParameters
// writes the options of a request. All are made when they are needed: who asks for help
// asks no server.
var (
	apiScheme     = sync.OnceValue(newScheme)
	apiCodecs     = sync.OnceValue(func() serializer.CodecFactory { return serializer.NewCodecFactory(apiScheme()) })
	apiParameters = sync.OnceValue(func() runtime.ParameterCodec { return runtime.NewParameterCodec(apiScheme()) })
)

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	metav1.AddToGroupVersion(s, schema.GroupVersion{Version: "v1"})
	s.AddKnownTypes(metav1.SchemeGroupVersion, &metav1.PartialObjectMetadata{}, &metav1.PartialObjectMetadataList{})
	for _, g := range known {
		if err := g.add(s); err != nil {
			panic(err) // two types of one name
		}
	}
	return s
}

// api makes requests, by group.
type api map[schema.GroupVersion]*rest.RESTClient

type (
	oneOf[T any] interface {
		*T
		runtime.Object
		metav1.Object
	}
	manyOf[L any] interface {
		*L
		runtime.Object
	}
)

// of returns what asks for the objects of a resource, in a namespace, or in all if
// that is empty.
func of[T, L any, P oneOf[T], Q manyOf[L]](a api, g schema.GroupVersion, resource, namespace string) *gentype.ClientWithList[P, Q] {
	return gentype.NewClientWithList(resource, rest.Interface(a[g]), apiParameters(), namespace, func() P { return new(T) }, func() Q { return new(L) }, gentype.PrefersProtobuf[P]())
}

func (a api) Pods(namespace string) *gentype.ClientWithList[*corev1.Pod, *corev1.PodList] {
	return of[corev1.Pod, corev1.PodList](a, corev1.SchemeGroupVersion, "pods", namespace)
}

func (a api) Nodes() *gentype.ClientWithList[*corev1.Node, *corev1.NodeList] {
	return of[corev1.Node, corev1.NodeList](a, corev1.SchemeGroupVersion, "nodes", "")
}

func (a api) Events(namespace string) *gentype.ClientWithList[*corev1.Event, *corev1.EventList] {
	return of[corev1.Event, corev1.EventList](a, corev1.SchemeGroupVersion, "events", namespace)
}

func (a api) Namespaces() *gentype.ClientWithList[*corev1.Namespace, *corev1.NamespaceList] {
	return of[corev1.Namespace, corev1.NamespaceList](a, corev1.SchemeGroupVersion, "namespaces", "")
}

func (a api) ServiceAccounts(namespace string) *gentype.ClientWithList[*corev1.ServiceAccount, *corev1.ServiceAccountList] {
	return of[corev1.ServiceAccount, corev1.ServiceAccountList](a, corev1.SchemeGroupVersion, "serviceaccounts", namespace)
}

func (a api) LimitRanges(namespace string) *gentype.ClientWithList[*corev1.LimitRange, *corev1.LimitRangeList] {
	return of[corev1.LimitRange, corev1.LimitRangeList](a, corev1.SchemeGroupVersion, "limitranges", namespace)
}

func (a api) ResourceQuotas(namespace string) *gentype.ClientWithList[*corev1.ResourceQuota, *corev1.ResourceQuotaList] {
	return of[corev1.ResourceQuota, corev1.ResourceQuotaList](a, corev1.SchemeGroupVersion, "resourcequotas", namespace)
}

func (a api) ConfigMaps(namespace string) *gentype.ClientWithList[*corev1.ConfigMap, *corev1.ConfigMapList] {
	return of[corev1.ConfigMap, corev1.ConfigMapList](a, corev1.SchemeGroupVersion, "configmaps", namespace)
}

func (a api) Secrets(namespace string) *gentype.ClientWithList[*corev1.Secret, *corev1.SecretList] {
	return of[corev1.Secret, corev1.SecretList](a, corev1.SchemeGroupVersion, "secrets", namespace)
}

func (a api) PersistentVolumeClaims(namespace string) *gentype.ClientWithList[*corev1.PersistentVolumeClaim, *corev1.PersistentVolumeClaimList] {
	return of[corev1.PersistentVolumeClaim, corev1.PersistentVolumeClaimList](a, corev1.SchemeGroupVersion, "persistentvolumeclaims", namespace)
}

func (a api) PersistentVolumes() *gentype.ClientWithList[*corev1.PersistentVolume, *corev1.PersistentVolumeList] {
	return of[corev1.PersistentVolume, corev1.PersistentVolumeList](a, corev1.SchemeGroupVersion, "persistentvolumes", "")
}

func (a api) DaemonSets(namespace string) *gentype.ClientWithList[*appsv1.DaemonSet, *appsv1.DaemonSetList] {
	return of[appsv1.DaemonSet, appsv1.DaemonSetList](a, appsv1.SchemeGroupVersion, "daemonsets", namespace)
}

func (a api) ControllerRevisions(namespace string) *gentype.ClientWithList[*appsv1.ControllerRevision, *appsv1.ControllerRevisionList] {
	return of[appsv1.ControllerRevision, appsv1.ControllerRevisionList](a, appsv1.SchemeGroupVersion, "controllerrevisions", namespace)
}

func (a api) PodDisruptionBudgets(namespace string) *gentype.ClientWithList[*policyv1.PodDisruptionBudget, *policyv1.PodDisruptionBudgetList] {
	return of[policyv1.PodDisruptionBudget, policyv1.PodDisruptionBudgetList](a, policyv1.SchemeGroupVersion, "poddisruptionbudgets", namespace)
}

func (a api) PriorityClasses() *gentype.ClientWithList[*schedulingv1.PriorityClass, *schedulingv1.PriorityClassList] {
	return of[schedulingv1.PriorityClass, schedulingv1.PriorityClassList](a, schedulingv1.SchemeGroupVersion, "priorityclasses", "")
}

func (a api) RuntimeClasses() *gentype.ClientWithList[*nodev1.RuntimeClass, *nodev1.RuntimeClassList] {
	return of[nodev1.RuntimeClass, nodev1.RuntimeClassList](a, nodev1.SchemeGroupVersion, "runtimeclasses", "")
}

func (a api) CSINodes() *gentype.ClientWithList[*storagev1.CSINode, *storagev1.CSINodeList] {
	return of[storagev1.CSINode, storagev1.CSINodeList](a, storagev1.SchemeGroupVersion, "csinodes", "")
}

func (a api) ValidatingWebhookConfigurations() *gentype.ClientWithList[*admissionv1.ValidatingWebhookConfiguration, *admissionv1.ValidatingWebhookConfigurationList] {
	return of[admissionv1.ValidatingWebhookConfiguration, admissionv1.ValidatingWebhookConfigurationList](a, admissionv1.SchemeGroupVersion, "validatingwebhookconfigurations", "")
}

func (a api) MutatingWebhookConfigurations() *gentype.ClientWithList[*admissionv1.MutatingWebhookConfiguration, *admissionv1.MutatingWebhookConfigurationList] {
	return of[admissionv1.MutatingWebhookConfiguration, admissionv1.MutatingWebhookConfigurationList](a, admissionv1.SchemeGroupVersion, "mutatingwebhookconfigurations", "")
}

func (a api) ValidatingAdmissionPolicies() *gentype.ClientWithList[*admissionv1.ValidatingAdmissionPolicy, *admissionv1.ValidatingAdmissionPolicyList] {
	return of[admissionv1.ValidatingAdmissionPolicy, admissionv1.ValidatingAdmissionPolicyList](a, admissionv1.SchemeGroupVersion, "validatingadmissionpolicies", "")
}

func (a api) MutatingAdmissionPolicies() *gentype.ClientWithList[*admissionv1.MutatingAdmissionPolicy, *admissionv1.MutatingAdmissionPolicyList] {
	return of[admissionv1.MutatingAdmissionPolicy, admissionv1.MutatingAdmissionPolicyList](a, admissionv1.SchemeGroupVersion, "mutatingadmissionpolicies", "")
}

func (a api) ValidatingAdmissionPolicyBindings() *gentype.ClientWithList[*admissionv1.ValidatingAdmissionPolicyBinding, *admissionv1.ValidatingAdmissionPolicyBindingList] {
	return of[admissionv1.ValidatingAdmissionPolicyBinding, admissionv1.ValidatingAdmissionPolicyBindingList](a, admissionv1.SchemeGroupVersion, "validatingadmissionpolicybindings", "")
}

func (a api) MutatingAdmissionPolicyBindings() *gentype.ClientWithList[*admissionv1.MutatingAdmissionPolicyBinding, *admissionv1.MutatingAdmissionPolicyBindingList] {
	return of[admissionv1.MutatingAdmissionPolicyBinding, admissionv1.MutatingAdmissionPolicyBindingList](a, admissionv1.SchemeGroupVersion, "mutatingadmissionpolicybindings", "")
}
