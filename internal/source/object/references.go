package object

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// referredOf returns the parts of a ConfigMap, Secret or claim that matter to the pods that refer to it. It returns
// nil for other objects, and for an object that cannot be decoded.
func referredOf(kind metav1.TypeMeta, raw []byte) *InNamespace {
	of := snapshot.ReferredKind(kind.Kind)
	if kind.APIVersion != "v1" || !slices.Contains(snapshot.ReferredKinds, of) {
		return nil
	}
	var is struct {
		Metadata   struct{ Namespace, Name string } `json:"metadata"`
		Data       map[string]any                   `json:"data"`
		BinaryData map[string]any                   `json:"binaryData"`
		// only in manifests; the API server moves it into data
		StringData map[string]any `json:"stringData"`
	}
	if json.Unmarshal(raw, &is) != nil || is.Metadata.Name == "" {
		return nil
	}
	keys := slices.AppendSeq(slices.Collect(maps.Keys(is.Data)), maps.Keys(is.StringData))
	slices.Sort(keys)
	return ReferredAs(of, is.Metadata.Namespace, is.Metadata.Name, slices.Compact(keys),
		slices.Sorted(maps.Keys(is.BinaryData)))
}

// ReferredAs returns an object that pods can refer to. keys and binary must be sorted.
func ReferredAs(of snapshot.ReferredKind, namespace, name string, keys, binary []string) *InNamespace {
	o := &InNamespace{namespace, snapshot.Referred{Kind: of, Name: name, Exists: true}}
	if of != snapshot.Claim {
		o.Keys, o.BinaryKeys = keys, binary
		o.KeysRead = len(keys)+len(binary) > 0 // a dump may omit secret values
	}
	return o
}

// InNamespace is an object that the pods of its namespace can refer to.
type InNamespace struct {
	Namespace string
	snapshot.Referred
}
