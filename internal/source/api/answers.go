package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	sjson "sigs.k8s.io/json"
)

// RestClient returns a client for one API group that checks each response; see answer.
func RestClient(config *rest.Config, client *http.Client, gv schema.GroupVersion) (*rest.RESTClient, error) {
	c := rest.CopyConfig(config)
	c.APIPath, c.GroupVersion = "/apis", &gv
	if gv.Group == "" {
		c.APIPath = "/api"
	}
	c.NegotiatedSerializer = answers{
		rest.CodecFactoryForGeneratedClient(APIScheme(), apiCodecs()).WithoutConversion(), NewChanges()}
	return rest.RESTClientForConfigAndClient(c, client)
}

type answers struct {
	runtime.NegotiatedSerializer
	changes *Changes
}

func (a answers) DecoderToVersion(d runtime.Decoder, gv runtime.GroupVersioner) runtime.Decoder {
	return answer{a.NegotiatedSerializer.DecoderToVersion(d, gv), a.changes}
}

// answer decodes one object in a response. It rejects damaged objects and objects of another kind than the requested
// one. client-go's own decoder accepts an object without a kind as any kind. Paged decodes lists.
type answer struct {
	runtime.Decoder
	changes *Changes
}

func (a answer) Decode(raw []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object,
	*schema.GroupVersionKind, error) {
	if into == nil { // the caller expects no type: this is a change from a watch, or an error
		if o, kind := a.changes.Of(raw); o != nil {
			return o, kind, nil
		}
		return a.Decoder.Decode(raw, defaults, into)
	}
	kind, protobuf, raw, err := Described(raw)
	if err != nil {
		return nil, nil, Unusable(err)
	}
	if kind == statusKind {
		status := &metav1.Status{}
		if err := Unpack(raw, status, protobuf); err == nil && status.Status == metav1.StatusFailure {
			return status, nil, nil // client-go turns it into an error
		}
	}
	if err := decodeRequested(raw, kind, protobuf, into); err != nil {
		return nil, nil, Unusable(err)
	}
	into.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // as client-go does
	return into, nil, nil
}

// Changes decodes the nodes and pods in the events of a watch. Objects share equal values. Changes is safe for
// concurrent use.
type Changes struct {
	mutex sync.Mutex
	nodes *wireReader[corev1.Node, *corev1.Node]
	pods  *wireReader[corev1.Pod, *corev1.Pod]
}

// NewChanges returns a decoder for the watches of one client.
func NewChanges() *Changes {
	return &Changes{nodes: NewWireReader[corev1.Node](KeptWire[corev1.Node]()),
		pods: NewWireReader[corev1.Pod](KeptWire[corev1.Pod]())}
}

// Of decodes the kept fields of a node or a pod in protobuf. In a large cluster 17 nodes per second update their
// status, and each update lists all images of the node. Of returns nil for other kinds and for damaged objects.
func (c *Changes) Of(raw []byte) (runtime.Object, *schema.GroupVersionKind) {
	if !bytes.HasPrefix(raw, protobufPrefix) {
		return nil, nil
	}
	kind, _, raw, err := Described(raw)
	if err != nil {
		return nil, nil
	}
	gvk := schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	switch gvk {
	case corev1.SchemeGroupVersion.WithKind("Node"):
		if o := (&corev1.Node{}); c.nodes.Read(raw, o) == nil {
			return o, &gvk
		}
	case corev1.SchemeGroupVersion.WithKind("Pod"):
		if o := (&corev1.Pod{}); c.pods.Read(raw, o) == nil {
			return o, &gvk
		}
	}
	return nil, nil
}

// decodeRequested decodes a response into into. It returns an error if the response is not a complete object of the
// requested kind.
func decodeRequested(raw []byte, kind metav1.TypeMeta, protobuf bool, into runtime.Object) error {
	asked, err := gvkOf(into)
	if err != nil {
		return err
	}
	if err := otherKind(kind, asked); err != nil {
		return err
	}
	if err := Unpack(raw, into, protobuf); err != nil {
		return err
	}
	return object.Validate(into.(metav1.Object))
}

// KindError says that a response has another kind than the requested one.
type KindError struct{ words string }

func (e *KindError) Error() string { return e.words }

// otherKind returns a KindError if the response does not have the requested kind and version, otherwise nil.
func otherKind(is metav1.TypeMeta, asked schema.GroupVersionKind) error {
	switch want := asked.GroupVersion().String(); {
	case is.Kind == "":
		return &KindError{fmt.Sprintf("it has no kind, but a %s was requested", asked.Kind)}
	case is.Kind != asked.Kind:
		return &KindError{fmt.Sprintf("it is a %s, but a %s was requested", object.OneLine(is.Kind), asked.Kind)}
	case is.APIVersion != want:
		return &KindError{fmt.Sprintf("it is a %s of %q, but one of %s was requested", asked.Kind,
			object.OneLine(is.APIVersion), want)}
	}
	return nil
}

// About returns an error if the response is about another object than the requested one. If err is not nil, About
// returns it unchanged.
func About(name string, is metav1.Object, err error) error {
	if err == nil && is.GetName() != name {
		return Unusable(fmt.Errorf("it is about %q", object.OneLine(is.GetName())))
	}
	return err
}

var (
	statusKind     = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"} // a server sends it instead of the object
	protobufPrefix = []byte("k8s\x00")

	errEmptyAnswer = errors.New("it is empty")
	errCutAnswer   = errors.New("it is cut off")
	errDamaged     = errors.New("its protobuf is damaged")
)

// Described returns the kind that a response declares, and its object. It removes the envelope of protobuf.
func Described(raw []byte) (kind metav1.TypeMeta, protobuf bool, obj []byte, err error) {
	if len(raw) == 0 {
		return kind, false, nil, errEmptyAnswer
	}
	if body, ok := bytes.CutPrefix(raw, protobufPrefix); ok {
		var o runtime.Unknown
		obj, err = unwrapped(body, &o)
		return metav1.TypeMeta{APIVersion: o.APIVersion, Kind: o.Kind}, true, obj, err
	}
	err = json.Unmarshal(raw, &kind)
	// the response is not an object, so it has no kind
	if misfit := (*json.UnmarshalTypeError)(nil); errors.As(err, &misfit) {
		err = nil
	}
	return kind, false, raw, NotJSON(err)
}

// unwrapped decodes the envelope of an object in protobuf into around. It returns the object as a subslice of body.
func unwrapped(body []byte, around *runtime.Unknown) (obj []byte, err error) {
	const raw = 2 // number of the field
	var rest []byte
	for left := body; len(left) > 0; {
		number, kind, size := protowire.ConsumeField(left)
		if size < 0 {
			return nil, errDamaged
		}
		if number == raw && kind == protowire.BytesType {
			_, _, tag := protowire.ConsumeTag(left)
			obj, _ = protowire.ConsumeBytes(left[tag:])
		} else {
			rest = append(rest, left[:size]...)
		}
		left = left[size:]
	}
	if around.Unmarshal(rest) != nil {
		return nil, errDamaged
	}
	return obj, nil
}

// Unpack decodes an object. It ignores unknown fields, because the server may have a newer version.
func Unpack(raw []byte, into any, protobuf bool) error {
	if len(raw) > fewParts && partsOf(raw, protobuf) > maxParts {
		return errTooManyParts
	}
	if !protobuf {
		return object.Explain(raw, into, sjson.UnmarshalCaseSensitivePreserveInts(raw, into))
	}
	if into.(interface{ Unmarshal([]byte) error }).Unmarshal(raw) != nil {
		return errDamaged
	}
	return nil
}

// NotJSON returns an error that says why a response is not valid JSON. It returns nil if err is nil.
func NotJSON(err error) error {
	switch {
	case err == nil, isReadError(err):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), err.Error() == "unexpected end of JSON input":
		return errCutAnswer
	}
	return errors.New("it is not JSON")
}

// notProtobuf returns an error that says why a response is not valid protobuf.
func notProtobuf(err error) error {
	switch {
	case isReadError(err), errors.Is(err, errTooLarge):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errCutAnswer
	}
	return errDamaged
}
