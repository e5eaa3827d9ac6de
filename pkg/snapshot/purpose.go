package snapshot

import (
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Purposes are the conditions of a node that is down on purpose (KEP-5683), the
// clearest first. Administrators or their tools set them.
var Purposes = []corev1.NodeConditionType{"MaintenanceInProgress", "GracefulNodeShutdownInProgress", "DrainInProgress",
	"Drained", "MaintenancePlanned"}

// ConditionFields decodes the conditions among the managed fields of an object.
type ConditionFields struct {
	Status struct {
		Conditions map[string]struct{} `json:"f:conditions"`
	} `json:"f:status"`
}

// Has reports whether the fields contain a condition.
func (f *ConditionFields) Has(condition corev1.NodeConditionType) bool {
	_, has := f.Status.Conditions[conditionKey(condition)]
	return has
}

func conditionKey(condition corev1.NodeConditionType) string {
	return `k:{"type":"` + string(condition) + `"}`
}

// setPurposes returns the managed fields entries that set Purposes of a node,
// without their other fields, or nil if the node has none.
func setPurposes(n *corev1.Node) (set []metav1.ManagedFieldsEntry) {
	isPurpose := func(c corev1.NodeCondition) bool { return slices.Contains(Purposes, c.Type) }
	if !slices.ContainsFunc(n.Status.Conditions, isPurpose) {
		return nil
	}
	for _, m := range n.ManagedFields {
		var fields, kept ConditionFields
		if m.FieldsV1 == nil || json.Unmarshal(m.FieldsV1.GetRawBytes(), &fields) != nil {
			continue
		}
		kept.Status.Conditions = map[string]struct{}{}
		for _, p := range Purposes {
			if fields.Has(p) {
				kept.Status.Conditions[conditionKey(p)] = struct{}{}
			}
		}
		if len(kept.Status.Conditions) == 0 {
			continue
		}
		raw, err := json.Marshal(kept)
		if err != nil {
			continue
		}
		m.FieldsV1 = metav1.NewFieldsV1(string(raw))
		set = append(set, m)
	}
	return set
}
