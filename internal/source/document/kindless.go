package document

import (
	"encoding/json"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// KindByFields returns the kind of an object that a server has made and that does not say what it is: a program in Go
// that writes what its typed client has read leaves kind and apiVersion out. Each kind is known by a field that the
// API server always writes. It returns nothing where no kind fits, or where another one is stated.
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
			DaemonSetHash json.RawMessage `json:"daemonSetHash"` // of OpenKruise's own DaemonSet
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

// kindless returns the object of a text that does not say its kind, and errNoKind where its fields do not show it.
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
