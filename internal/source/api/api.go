package api

import (
	"context"
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

// Known lists the API groups that this program uses. client-go's clients and its scheme know 57 groups, and a program
// that imports one of them links the types of all groups.
var Known = []struct {
	schema.GroupVersion
	add func(*runtime.Scheme) error
}{
	{corev1.SchemeGroupVersion, corev1.AddToScheme}, {appsv1.SchemeGroupVersion, appsv1.AddToScheme},
	{policyv1.SchemeGroupVersion, policyv1.AddToScheme},
	{schedulingv1.SchemeGroupVersion, schedulingv1.AddToScheme}, {nodev1.SchemeGroupVersion, nodev1.AddToScheme},
	{storagev1.SchemeGroupVersion, storagev1.AddToScheme}, {admissionv1.SchemeGroupVersion, admissionv1.AddToScheme},
}

// APIScheme has the types of the Known groups. apiCodecs decode these types, and APIParameters encodes the options of
// requests. The program builds each on first use, because commands such as help send no request.
var (
	APIScheme     = sync.OnceValue(newScheme)
	apiCodecs     = sync.OnceValue(func() serializer.CodecFactory { return serializer.NewCodecFactory(APIScheme()) })
	APIParameters = sync.OnceValue(func() runtime.ParameterCodec { return runtime.NewParameterCodec(APIScheme()) })
)

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	metav1.AddToGroupVersion(s, schema.GroupVersion{Version: "v1"})
	s.AddKnownTypes(metav1.SchemeGroupVersion, &metav1.PartialObjectMetadata{}, &metav1.PartialObjectMetadataList{})
	for _, g := range Known {
		if err := g.add(s); err != nil {
			panic(err) // two types have the same name
		}
	}
	return s
}

// Clients holds one client for each API group.
type Clients map[schema.GroupVersion]*rest.RESTClient

// OneOf is a pointer to an API object of type T.
type OneOf[T any] interface {
	*T
	runtime.Object
	metav1.Object
}

// Client sends requests for objects of one kind.
type Client[T any, P OneOf[T]] struct {
	*gentype.Client[P]
	name string
}

// newClient returns a Client for a resource in a namespace, or in all namespaces if namespace is empty.
func newClient[T any, P OneOf[T]](a Clients, g schema.GroupVersion, name, namespace string) Client[T, P] {
	return Client[T, P]{gentype.NewClient(name, rest.Interface(a[g]), APIParameters(), namespace,
		func() P { return new(T) }, gentype.PrefersProtobuf[P]()), name}
}

// Lister requests one page of a list and calls each with its objects; see ReadList.
type Lister[T any] func(ctx context.Context, o metav1.ListOptions, each func(*T) error) (metav1.ListMeta, error)

// List requests a page of the list, and decodes all fields of its objects.
func (c Client[T, P]) List(ctx context.Context, o metav1.ListOptions, each func(*T) error) (metav1.ListMeta, error) {
	return ReadList[T, P](ctx, c.Listing(o), nil, each)
}

// Kept requests a page of the list. It sends the same request as List, and decodes only the fields that KeptWire
// selects.
func (c Client[T, P]) Kept(ctx context.Context, o metav1.ListOptions, each func(*T) error) (metav1.ListMeta, error) {
	return ReadList[T, P](ctx, c.Listing(o), KeptWire[T](), each)
}

// Listing returns the request for a page of the list.
func (c Client[T, P]) Listing(o metav1.ListOptions) *rest.Request {
	return c.GetClient().Get().NamespaceIfScoped(c.GetNamespace(),
		c.GetNamespace() != "").Resource(c.name).VersionedParams(&o, APIParameters())
}

func (a Clients) Pods(namespace string) Client[corev1.Pod, *corev1.Pod] {
	return newClient[corev1.Pod](a, corev1.SchemeGroupVersion, "pods", namespace)
}

func (a Clients) Nodes() Client[corev1.Node, *corev1.Node] {
	return newClient[corev1.Node](a, corev1.SchemeGroupVersion, "nodes", "")
}

func (a Clients) Events(namespace string) Client[corev1.Event, *corev1.Event] {
	return newClient[corev1.Event](a, corev1.SchemeGroupVersion, "events", namespace)
}

func (a Clients) Namespaces() Client[corev1.Namespace, *corev1.Namespace] {
	return newClient[corev1.Namespace](a, corev1.SchemeGroupVersion, "namespaces", "")
}

func (a Clients) ServiceAccounts(namespace string) Client[corev1.ServiceAccount, *corev1.ServiceAccount] {
	return newClient[corev1.ServiceAccount](a, corev1.SchemeGroupVersion, "serviceaccounts", namespace)
}

func (a Clients) LimitRanges(namespace string) Client[corev1.LimitRange, *corev1.LimitRange] {
	return newClient[corev1.LimitRange](a, corev1.SchemeGroupVersion, "limitranges", namespace)
}

func (a Clients) ResourceQuotas(namespace string) Client[corev1.ResourceQuota, *corev1.ResourceQuota] {
	return newClient[corev1.ResourceQuota](a, corev1.SchemeGroupVersion, "resourcequotas", namespace)
}

func (a Clients) ConfigMaps(namespace string) Client[corev1.ConfigMap, *corev1.ConfigMap] {
	return newClient[corev1.ConfigMap](a, corev1.SchemeGroupVersion, "configmaps", namespace)
}

func (a Clients) Secrets(namespace string) Client[corev1.Secret, *corev1.Secret] {
	return newClient[corev1.Secret](a, corev1.SchemeGroupVersion, "secrets", namespace)
}

func (a Clients) PersistentVolumeClaims(namespace string) Client[corev1.PersistentVolumeClaim,
	*corev1.PersistentVolumeClaim] {
	return newClient[corev1.PersistentVolumeClaim](a, corev1.SchemeGroupVersion, "persistentvolumeclaims", namespace)
}

func (a Clients) PersistentVolumes() Client[corev1.PersistentVolume, *corev1.PersistentVolume] {
	return newClient[corev1.PersistentVolume](a, corev1.SchemeGroupVersion, "persistentvolumes", "")
}

func (a Clients) DaemonSets(namespace string) Client[appsv1.DaemonSet, *appsv1.DaemonSet] {
	return newClient[appsv1.DaemonSet](a, appsv1.SchemeGroupVersion, "daemonsets", namespace)
}

func (a Clients) ControllerRevisions(namespace string) Client[appsv1.ControllerRevision, *appsv1.ControllerRevision] {
	return newClient[appsv1.ControllerRevision](a, appsv1.SchemeGroupVersion, "controllerrevisions", namespace)
}

func (a Clients) PodDisruptionBudgets(namespace string) Client[policyv1.PodDisruptionBudget,
	*policyv1.PodDisruptionBudget] {
	return newClient[policyv1.PodDisruptionBudget](a, policyv1.SchemeGroupVersion, "poddisruptionbudgets", namespace)
}

func (a Clients) PriorityClasses() Client[schedulingv1.PriorityClass, *schedulingv1.PriorityClass] {
	return newClient[schedulingv1.PriorityClass](a, schedulingv1.SchemeGroupVersion, "priorityclasses", "")
}

func (a Clients) RuntimeClasses() Client[nodev1.RuntimeClass, *nodev1.RuntimeClass] {
	return newClient[nodev1.RuntimeClass](a, nodev1.SchemeGroupVersion, "runtimeclasses", "")
}

func (a Clients) CSINodes() Client[storagev1.CSINode, *storagev1.CSINode] {
	return newClient[storagev1.CSINode](a, storagev1.SchemeGroupVersion, "csinodes", "")
}

func (a Clients) ValidatingWebhookConfigurations() Client[admissionv1.ValidatingWebhookConfiguration,
	*admissionv1.ValidatingWebhookConfiguration] {
	return newClient[admissionv1.ValidatingWebhookConfiguration](a, admissionv1.SchemeGroupVersion,
		"validatingwebhookconfigurations", "")
}

func (a Clients) MutatingWebhookConfigurations() Client[admissionv1.MutatingWebhookConfiguration,
	*admissionv1.MutatingWebhookConfiguration] {
	return newClient[admissionv1.MutatingWebhookConfiguration](a, admissionv1.SchemeGroupVersion,
		"mutatingwebhookconfigurations", "")
}

func (a Clients) ValidatingAdmissionPolicies() Client[admissionv1.ValidatingAdmissionPolicy,
	*admissionv1.ValidatingAdmissionPolicy] {
	return newClient[admissionv1.ValidatingAdmissionPolicy](a, admissionv1.SchemeGroupVersion,
		"validatingadmissionpolicies", "")
}

func (a Clients) MutatingAdmissionPolicies() Client[admissionv1.MutatingAdmissionPolicy,
	*admissionv1.MutatingAdmissionPolicy] {
	return newClient[admissionv1.MutatingAdmissionPolicy](a, admissionv1.SchemeGroupVersion,
		"mutatingadmissionpolicies", "")
}

func (a Clients) ValidatingAdmissionPolicyBindings() Client[admissionv1.ValidatingAdmissionPolicyBinding,
	*admissionv1.ValidatingAdmissionPolicyBinding] {
	return newClient[admissionv1.ValidatingAdmissionPolicyBinding](a, admissionv1.SchemeGroupVersion,
		"validatingadmissionpolicybindings", "")
}

func (a Clients) MutatingAdmissionPolicyBindings() Client[admissionv1.MutatingAdmissionPolicyBinding,
	*admissionv1.MutatingAdmissionPolicyBinding] {
	return newClient[admissionv1.MutatingAdmissionPolicyBinding](a, admissionv1.SchemeGroupVersion,
		"mutatingadmissionpolicybindings", "")
}
