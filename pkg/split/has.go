package split

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Has reports whether a node has the properties of a Split.
func (s *Split) Has(n *corev1.Node) bool {
	return !slices.ContainsFunc(s.Properties, func(p Property) bool { return !p.Has(n) })
}

// Has reports whether a node has a property.
func (p Property) Has(n *corev1.Node) bool {
	if slices.Contains(labels(n), p) || slices.Contains(taints(n), p) {
		return true
	}
	i := slices.IndexFunc(fields, func(f field) bool { return f.kind == p.Kind && f.key == p.Key })
	if i < 0 || fields[i].value(n) == "" {
		return false
	}
	switch v := fields[i].value(n); p.Operator {
	case Is:
		return v == p.Value
	case AtLeast:
		return fields[i].order(v, p.Value) >= 0
	case Below:
		return fields[i].order(v, p.Value) < 0
	}
	return false
}

// PropertyOf returns the property of a kind that a node has: its architecture, its
// operating system. It is nil if the node does not say it.
func PropertyOf(n *corev1.Node, k Kind) *Property {
	for _, p := range labels(n) {
		if p.Kind == k && p.Operator == Is {
			return &p
		}
	}
	for _, f := range fields {
		if v := f.value(n); f.kind == k && !f.only && v != "" {
			return &Property{Kind: k, Key: f.key, Operator: Is, Value: v}
		}
	}
	return nil
}
