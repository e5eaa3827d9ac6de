package document

import (
	"encoding/json"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// KindByFields returns the kind of an object from a server, if the object does not state it. A Go program that writes
// the objects of its typed client omits kind and apiVersion. KindByFields recognizes each kind by a field that the
// API server always writes. It returns an empty TypeMeta if no kind matches, or if the object states another
// apiVersion.
func KindByFields(raw []byte) metav1.TypeMeta {
	var o struct {
		APIVersion string `json:"apiVersion"`
		Metadata   struct {
			UID      string `json:"uid"`
			SelfLink string `json:"selfLink"` // before v1.24
		} `json:"metadata"`
		Spec struct {
			Containers []json.RawMessage `json:"containers"`
			Template   json.RawMessage   `json:"template"`
		} `json:"spec"`
		Status struct {
			NodeInfo      json.RawMessage `json:"nodeInfo"`
			Desired       json.RawMessage `json:"desiredNumberScheduled"`
			DaemonSetHash json.RawMessage `json:"daemonSetHash"` // only OpenKruise's DaemonSet has this field
		} `json:"status"`
		Revision json.RawMessage `json:"revision"`
		Data     json.RawMessage `json:"data"`
		Involved json.RawMessage `json:"involvedObject"`
	}
	if json.Unmarshal(raw, &o) != nil || o.Metadata.UID == "" {
		return metav1.TypeMeta{}
	}
	resource := ""
	switch s := o.Status; {
	case s.NodeInfo != nil:
		resource = "nodes"
	case s.Desired != nil && s.DaemonSetHash == nil && o.Spec.Template != nil:
		resource = "daemonsets"
	case len(o.Spec.Containers) > 0 && o.Spec.Template == nil:
		resource = "pods"
	case o.Revision != nil && o.Data != nil:
		resource = "controllerrevisions"
	case o.Involved != nil:
		resource = "events"
	}
	kind := object.Resources[resource]
	if o.APIVersion != "" && o.APIVersion != kind.APIVersion {
		return metav1.TypeMeta{}
	}
	link := o.Metadata.SelfLink
	if link != "" && !(strings.Contains(link, kind.APIVersion+"/") && strings.Contains(link, "/"+resource+"/")) {
		return metav1.TypeMeta{}
	}
	return kind
}

// kindless decodes an object without a kind. It returns ErrNoKind if the fields do not show the kind.
func (d *Documents) kindless(it Item) ([]object.Object, error) {
	raw, _, err := it.JSON()
	if err != nil || d.Tolerant == nil {
		return nil, object.ErrNoKind
	}
	kind := KindByFields(raw)
	if kind.Kind == "" {
		return nil, object.ErrNoKind
	}
	objects, err := d.Objects(it, metav1.TypeMeta{APIVersion: kind.APIVersion, Kind: kind.Kind + "List"})
	for i := range objects {
		objects[i].ByFields = true
	}
	return objects, err
}
