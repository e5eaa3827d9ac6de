package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// restClient returns a client for one group that takes no answer for what it is
// not: see answer.
func restClient(config *rest.Config, client *http.Client, gv schema.GroupVersion) (*rest.RESTClient, error) {
	c := rest.CopyConfig(config)
	c.APIPath, c.GroupVersion = "/apis", &gv
	if gv.Group == "" {
		c.APIPath = "/api"
	}
	c.NegotiatedSerializer = answers{rest.CodecFactoryForGeneratedClient(apiScheme(), apiCodecs()).WithoutConversion()}
	return rest.RESTClientForConfigAndClient(c, client)
}

type answers struct{ runtime.NegotiatedSerializer }

func (a answers) DecoderToVersion(d runtime.Decoder, gv runtime.GroupVersioner) runtime.Decoder {
	return answer{a.NegotiatedSerializer.DecoderToVersion(d, gv)}
}

// answer decodes what a server answers, and rejects what is not what was asked
// for, or is damaged. client-go's own decoder takes {}, null and an object of
// another kind for an empty list. A server is held to what a file is held to.
type answer struct{ runtime.Decoder }

func (a answer) Decode(raw []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	o, kind, err := a.Decoder.Decode(raw, defaults, into)
	if err != nil || into == nil { // nobody said what is to come: a change of a watch, or an error
		return o, kind, err
	}
	if status, ok := o.(*metav1.Status); ok && status.Status == metav1.StatusFailure {
		return o, kind, nil // client-go makes an error of it
	}
	if err := fits(raw, o, into); err != nil {
		return nil, kind, fmt.Errorf("unusable answer: %w", err)
	}
	return o, kind, nil
}

// fits returns an error unless the answer is what was asked for, and whole.
func fits(raw []byte, o, into runtime.Object) error {
	asked, _, err := apiScheme().ObjectKinds(into)
	if err != nil {
		return err
	}
	said, items := described(raw)
	switch {
	case said.Kind == "":
		return fmt.Errorf("it has no kind, but a %s was requested", asked[0].Kind)
	case o != into || said.Kind != asked[0].Kind:
		return fmt.Errorf("it is a %s, but a %s was requested", said.Kind, asked[0].Kind)
	case !meta.IsListType(o):
		return sound(o.(metav1.Object))
	case items != "":
		return &fieldError{"items", fmt.Errorf("must be a list, not %s", items)}
	}
	i := -1
	return meta.EachListItem(o, func(item runtime.Object) error {
		i++
		if err := sound(item.(metav1.Object)); err != nil {
			return within(fmt.Sprintf("items[%d]", i), err)
		}
		return nil
	})
}

var protobufPrefix = []byte("k8s\x00")

// described returns what an answer says that it is, and what it has in place of
// a list's items; "" where it has items, or where that is not to be seen:
// protobuf has no null.
func described(raw []byte) (kind metav1.TypeMeta, items string) {
	if body, ok := bytes.CutPrefix(raw, protobufPrefix); ok {
		var o runtime.Unknown
		if o.Unmarshal(body) == nil {
			kind = metav1.TypeMeta{APIVersion: o.APIVersion, Kind: o.Kind}
		}
		return kind, ""
	}
	var o struct {
		metav1.TypeMeta
		Items json.RawMessage `json:"items"`
	}
	_ = json.Unmarshal(raw, &o)
	if c := firstByte(o.Items); c != '[' {
		items = kindOfJSON(c)
	}
	return o.TypeMeta, items
}
