package daemonset

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// namespaceRule is the rule of placement that OpenShift's controller has besides those of
// Kubernetes.
type namespaceRule struct {
	annotation string // of the namespace; empty for the controller's default
	text       string
	selector   labels.Selector // nil where the text cannot be parsed
	always     bool            // asked also where another rule fails
}

// In returns the placement rules of a DaemonSet in a namespace of OpenShift; nil leaves
// them as they are.
//
// The controller of OpenShift asks, of 4.5 (1.18) and later only where every rule of
// Kubernetes passes, for the node selector of the namespace: its annotation
// scheduler.alpha.kubernetes.io/node-selector, else openshift.io/node-selector, else the
// default of its own configuration. One that cannot be parsed is ignored, and an empty
// annotation selects every node. That it cannot find the namespace, which then selects
// none, is not mirrored.
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

// NamespaceLabel returns the label that the namespace asks for, and whether it asks for one
// and for nothing else.
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

// check applies the rule to a node. Where another rule has failed, this one is not asked,
// and lets a pod stay.
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

// term returns the rule as a term of a node affinity, which matches the same labels.
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

// affinityOperators are the operators of a label selector as a node affinity has them.
var affinityOperators = map[selection.Operator]corev1.NodeSelectorOperator{
	selection.Equals: corev1.NodeSelectorOpIn, selection.DoubleEquals: corev1.NodeSelectorOpIn,
	selection.In:        corev1.NodeSelectorOpIn,
	selection.NotEquals: corev1.NodeSelectorOpNotIn, selection.NotIn: corev1.NodeSelectorOpNotIn,
	selection.Exists: corev1.NodeSelectorOpExists, selection.DoesNotExist: corev1.NodeSelectorOpDoesNotExist,
	selection.GreaterThan: corev1.NodeSelectorOpGt, selection.LessThan: corev1.NodeSelectorOpLt,
}

// excludedAlone reports whether a verdict on shouldRun is that the namespace alone keeps the
// pod off the node: the rules of Kubernetes pass.
func (v Verdict) excludedAlone() bool { return v.Reason == NamespaceNodeSelector }
