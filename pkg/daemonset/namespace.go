package daemonset

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// namespaceRule is the placement rule that only OpenShift's controller has.
type namespaceRule struct {
	annotation string // of the namespace; empty for the controller's default
	text       string
	selector   labels.Selector // nil if the text cannot be parsed
	always     bool            // applies even if another rule fails
}

// In returns the placement rules of a DaemonSet in a namespace of OpenShift. It
// returns p itself if the namespace does not restrict nodes.
//
// OpenShift's controller also applies the node selector of the namespace; from
// 4.5 (1.18) on, only if every rule of Kubernetes passes. The selector is the
// annotation scheduler.alpha.kubernetes.io/node-selector, else
// openshift.io/node-selector, else the default of the controller's
// configuration. A selector that cannot be parsed is ignored, and an empty
// annotation selects every node. In does not mirror the case that the
// controller cannot find the namespace and therefore selects no node.
func (p *Placement) In(o *snapshot.OpenShift) *Placement {
	annotation, text := o.NodeSelector()
	if strings.TrimSpace(text) == "" {
		return p
	}
	rule := &namespaceRule{annotation: annotation, text: text, always: !p.profile.NamespaceInStatus}
	if selector, err := labels.Parse(text); err == nil {
		rule.selector = selector
	}
	out := *p
	out.namespace = rule
	return &out
}

// NamespaceLabel returns the label that the namespace requires. The last result
// is false unless it requires exactly one label and nothing else.
func (p *Placement) NamespaceLabel() (key, value string, one bool) {
	if p.namespace == nil || p.namespace.selector == nil {
		return "", "", false
	}
	t := p.namespace.term()
	if len(t) != 1 || t[0].expr.Operator != corev1.NodeSelectorOpIn || len(t[0].expr.Values) != 1 {
		return "", "", false
	}
	return t[0].expr.Key, t[0].expr.Values[0], true
}

// check applies the rule to a node. If another rule has failed, the controller
// skips this one unless it always applies, and a pod may stay.
func (r *namespaceRule) check(n *corev1.Node, failed bool) Check {
	f := Facts{"selector": r.text, "valid": r.selector != nil}
	if r.annotation != "" {
		f["annotation"] = r.annotation
	}
	return Check{
		Rule: RuleNamespaceSelector, OK: r.selector == nil || r.selector.Matches(labels.Set(n.Labels)),
		Stays: failed && !r.always, Reason: NamespaceNodeSelector, Facts: f,
	}
}

// term returns the rule as a node affinity term that matches the same labels.
func (r *namespaceRule) term() term {
	var t corev1.NodeSelectorTerm
	requirements, _ := r.selector.Requirements()
	for _, of := range requirements {
		t.MatchExpressions = append(t.MatchExpressions, corev1.NodeSelectorRequirement{
			Key: of.Key(), Operator: affinityOperators[of.Operator()], Values: of.Values().List(),
		})
	}
	return newTerm(t)
}

// affinityOperators maps the operators of a label selector to those of a node
// affinity.
var affinityOperators = map[selection.Operator]corev1.NodeSelectorOperator{
	selection.Equals: corev1.NodeSelectorOpIn, selection.DoubleEquals: corev1.NodeSelectorOpIn,
	selection.In:        corev1.NodeSelectorOpIn,
	selection.NotEquals: corev1.NodeSelectorOpNotIn, selection.NotIn: corev1.NodeSelectorOpNotIn,
	selection.Exists: corev1.NodeSelectorOpExists, selection.DoesNotExist: corev1.NodeSelectorOpDoesNotExist,
	selection.GreaterThan: corev1.NodeSelectorOpGt, selection.LessThan: corev1.NodeSelectorOpLt,
}

// excludedAlone reports whether only the namespace keeps the pod off the node:
// every rule of Kubernetes passes.
func (v Verdict) excludedAlone() bool { return v.Reason == NamespaceNodeSelector }
