package cause

import (
	"encoding/json"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// purposely adds to the facts of a node that is down what says that this is on purpose: a condition
// of KEP-5683, with its reason and who set it, and that the node is cordoned. What came more than
// Patience after the fault is no sign.
func purposely(n *corev1.Node, down *Cause) {
	sign := func(at time.Time) bool { return down.Since == nil || !at.After(down.Since.Add(Patience)) }
	for _, condition := range snapshot.Purposes {
		i := slices.IndexFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == condition })
		if i < 0 {
			continue
		}
		c := &n.Status.Conditions[i]
		if c.Status != corev1.ConditionTrue || c.LastTransitionTime.IsZero() || !sign(c.LastTransitionTime.Time) {
			continue
		}
		down.Facts["purpose"], down.Facts["purposeSince"] = string(condition), timeFact(c.LastTransitionTime.Time)
		if c.Reason != "" {
			down.Facts["purposeReason"] = c.Reason
		}
		if by := setBy(n, condition); by != "" {
			down.Facts["setBy"] = by
		}
		return
	}
	cordon := slices.IndexFunc(n.Spec.Taints,
		func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnschedulable })
	switch {
	case cordon >= 0 && n.Spec.Taints[cordon].TimeAdded != nil:
		if at := n.Spec.Taints[cordon].TimeAdded.Time; sign(at) {
			down.Facts["cordoned"], down.Facts["cordonedSince"] = true, timeFact(at)
		}
	case n.Spec.Unschedulable:
		down.Facts["cordoned"] = true
	}
}

// setBy returns the field manager that set a condition of a node; empty if that is not known.
func setBy(n *corev1.Node, condition corev1.NodeConditionType) (by string) {
	var last time.Time
	for _, m := range n.ManagedFields {
		var fields snapshot.ConditionFields
		if m.FieldsV1 == nil || json.Unmarshal(m.FieldsV1.GetRawBytes(), &fields) != nil || !fields.Has(condition) {
			continue
		}
		if at := m.Time; by == "" || at != nil && at.After(last) {
			by = m.Manager
			if at != nil {
				last = at.Time
			}
		}
	}
	return by
}

// OnPurpose reports whether a problem is that nodes are down on purpose, by a condition of theirs:
// nobody has to repair or to delete them.
func (p *Problem) OnPurpose() bool { return p.Facts["purpose"] != nil }
