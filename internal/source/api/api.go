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
	"k8s.io/apimachinery/pkg/api/meta"
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

// Of returns a client for the objects of a kind in a namespace, or in all namespaces if that is empty.
func Of[T any, P OneOf[T]](a Clients, namespace string) Client[T, P] {
	kind, err := gvkOf(P(new(T)))
	if err != nil {
		panic(err) // its group is not in Known
	}
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	return Client[T, P]{gentype.NewClient(resource.Resource, rest.Interface(a[kind.GroupVersion()]), APIParameters(),
		namespace, func() P { return new(T) }, gentype.PrefersProtobuf[P]()), resource.Resource}
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
