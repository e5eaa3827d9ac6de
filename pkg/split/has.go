package split

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Has reports whether a node has all properties of a Split.
func (s *Split) Has(n *corev1.Node) bool {
	return !slices.ContainsFunc(s.Properties, func(p Property) bool { return !p.Has(n) })
}

// Has reports whether a node has the property.
func (p Property) Has(n *corev1.Node) bool {
	if value, ok := label(n, p.Key); ok && p.Kind == cmp.Or(kindOf[p.Key], Label) &&
		(p.Operator == Exists && p.Value == "" || p.Operator == Is && p.Value == value) {
		return true
	}
	if p.Kind == Taint {
		return slices.Contains(taints(n), p)
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

// PropertyOf returns the property of a kind that a node has, such as its
// architecture, or nil if the node does not report it.
func PropertyOf(n *corev1.Node, k Kind) *Property {
	for key, of := range kindOf {
		if of != k {
			continue
		}
		if value, ok := label(n, key); ok {
			return &Property{Kind: k, Key: key, Operator: Is, Value: value}
		}
	}
	for i := range fields {
		f := &fields[i]
		if f.kind != k || f.rangesOnly {
			continue
		}
		if v := f.value(n); v != "" {
			return &Property{Kind: k, Key: f.key, Operator: Is, Value: v}
		}
	}
	return nil
}
