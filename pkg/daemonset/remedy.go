package daemonset

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// RemedyKind names a Remedy.
type RemedyKind string

const (
	// RepairNode: repair the node: its taint `key` comes and goes with a node condition
	RepairNode  RemedyKind = "RepairNode"
	SetLabel    RemedyKind = "SetLabel"    // set the node's label `key` to `value`
	RemoveLabel RemedyKind = "RemoveLabel" // remove the node's label `key`
	// SelectEveryNode: set the annotation `key` of the namespace to an empty
	// value, which selects every node
	SelectEveryNode RemedyKind = "SelectEveryNode"
	AddToleration   RemedyKind = "AddToleration" // add `toleration` to the template
	// AddAffinityTerm: add a term to the template's required node affinity that names the node
	AddAffinityTerm RemedyKind = "AddAffinityTerm"
	RemoveNodeName  RemedyKind = "RemoveNodeName" // remove nodeName from the template
	// NoSensibleChange: no change is sensible: the label `key` describes the
	// node (its operating system, role, zone or hardware), or the taint `key`
	// says that it is being removed or runs no DaemonSet. It is then the only
	// change
	NoSensibleChange RemedyKind = "NoSensibleChange"
)

// kindsByHarm lists the kinds of changes that can be made, the least harmful first:
// changes of one node, then of the namespace, then of the template, which
// replaces every pod.
var kindsByHarm = []RemedyKind{RepairNode, SetLabel, RemoveLabel, SelectEveryNode, AddToleration, AddAffinityTerm,
	RemoveNodeName}

// Remedy is one change to a node, its namespace or the template that may make
// the node eligible.
type Remedy struct {
	Kind RemedyKind `json:"kind"` // what to change
	// the key of the label, the annotation or the taint; absent for other changes
	Key        string             `json:"key,omitempty"`
	Value      string             `json:"value,omitempty"`      // the value of the label; absent if there is none
	Toleration *corev1.Toleration `json:"toleration,omitempty"` // the toleration to add; absent for other changes
}

// OfTemplate reports whether the change is one of the template, which starts a
// rollout of all pods.
func (r Remedy) OfTemplate() bool {
	return r.Kind == AddToleration || r.Kind == AddAffinityTerm || r.Kind == RemoveNodeName
}

// ownedDomains are the domains of the labels that Kubernetes, a cloud or an
// autoscaler sets on nodes. Such a label describes the node, and is restored if
// somebody edits it.
var ownedDomains = []string{"kubernetes.io", "k8s.io", "eks.amazonaws.com", "cloud.google.com", "kubernetes.azure.com",
	"karpenter.sh", "karpenter.k8s.aws"}

// owned reports whether a label is not for people to change: the operating
// system, the zone, the role, or a detected property of the hardware.
func owned(label string) bool {
	domain, _, found := strings.Cut(label, "/")
	if !found || domain == "node-restriction.kubernetes.io" { // the domain reserved for administrators
		return false
	}
	return slices.ContainsFunc(ownedDomains,
		func(o string) bool { return domain == o || strings.HasSuffix(domain, "."+o) })
}

// Fewest returns the tolerations, in order, without those that another one
// covers: an equal one, or one for the same key and effect that accepts any
// value.
func Fewest(tolerations []corev1.Toleration) (out []corev1.Toleration) {
	for i, t := range tolerations {
		included := func(by corev1.Toleration) bool {
			return by.Key == t.Key && by.Effect == t.Effect && by.Operator == corev1.TolerationOpExists &&
				t.Operator != corev1.TolerationOpExists
		}
		if !slices.ContainsFunc(tolerations, included) && !slices.Contains(tolerations[:i], t) {
			out = append(out, t)
		}
	}
	return out
}

// Remedies returns the smallest set of changes that makes the node eligible,
// the least harmful first. It returns nil if the node already is.
//
// It prefers repairing or relabeling the node to changing the template: all nodes share the template, and a change to
// it replaces every pod. If an obstacle should not be removed, Remedies returns only NoSensibleChange.
func (p *Placement) Remedies(n *corev1.Node) []Remedy {
	var changes []Remedy
	for _, c := range p.Checks(n) {
		key := c.Facts.Text("key")
		switch {
		case c.OK, c.Rule == RuleNodeAffinity, c.Rule == RuleNamespaceSelector: // handled below
		case c.Rule == RuleNodeName:
			changes = append(changes, Remedy{Kind: RemoveNodeName})
		case c.Rule == RuleTaint:
			if change := TaintRemedy(c.Facts); change.Toleration != nil || !slices.Contains(changes, change) {
				changes = append(changes, change)
			}
		case owned(key):
			changes = append(changes, Remedy{Kind: NoSensibleChange, Key: key})
		default:
			changes = append(changes, Remedy{Kind: SetLabel, Key: key, Value: p.selector[key]})
		}
	}
	byLabels := p.affinityRemedies(n)
	if p.namespace != nil {
		byLabels = p.dropNeedless(n, append(byLabels, p.namespaceRemedies(n, byLabels)...))
	}
	return sensibleOnly(append(changes, byLabels...))
}

// sensibleOnly returns the changes sorted by harm. If some are NoSensibleChange, it
// returns only those.
func sensibleOnly(changes []Remedy) []Remedy {
	senseless := func(c Remedy) bool { return c.Kind == NoSensibleChange }
	if slices.ContainsFunc(changes, senseless) {
		return slices.DeleteFunc(changes, func(c Remedy) bool { return !senseless(c) })
	}
	slices.SortStableFunc(changes,
		func(a, b Remedy) int { return slices.Index(kindsByHarm, a.Kind) - slices.Index(kindsByHarm, b.Kind) })
	return changes
}

// affinityRemedies returns the smallest set of label changes that meets one
// term of the affinity, given the labels that the nodeSelector requires. If
// there is none, it returns a new term for this node, unless every term fails
// for an owned label.
func (p *Placement) affinityRemedies(n *corev1.Node) []Remedy {
	if !p.hasAffinity {
		return nil
	}
	labeled := relabeled(n, p.selector, nil)
	var best []Remedy
	found, byOwned, others := false, "", 0
	for i := range p.terms {
		changes, key, ok := p.terms[i].labelRemedies(labeled, p.selector)
		switch {
		case ok && (!found || len(changes) < len(best)):
			best, found = changes, true
		case key == "":
			others++
		case byOwned == "":
			byOwned = key
		}
	}
	switch {
	case found:
		return best
	case byOwned != "" && others == 0:
		return []Remedy{{Kind: NoSensibleChange, Key: byOwned}}
	}
	return []Remedy{{Kind: AddAffinityTerm}}
}

// namespaceRemedies returns the changes that make the namespace select the
// node, in addition to the changes in beside and the labels that the
// nodeSelector requires: the smallest set of label changes or, if no label
// should be changed, a change of the namespace.
func (p *Placement) namespaceRemedies(n *corev1.Node, beside []Remedy) []Remedy {
	labeled, settled := relabeled(n, p.selector, beside), map[string]string{}
	maps.Copy(settled, p.selector)
	for _, c := range beside {
		settled[c.Key] = c.Value
	}
	if p.namespace.check(labeled, false).OK {
		return nil
	}
	if changes, _, ok := p.namespace.term().labelRemedies(labeled, settled); ok {
		// The affinity may require a label that the changes remove.
		if after := relabeled(labeled, nil, changes); !p.hasAffinity || p.checkAffinity(after).OK ||
			!p.checkAffinity(labeled).OK {
			return changes
		}
	}
	return []Remedy{{Kind: SelectEveryNode,
		Key: cmp.Or(p.namespace.annotation, snapshot.ProjectNodeSelectorAnnotation)}}
}

// dropNeedless removes each change that the others make unnecessary: a label that the
// namespace requires can also meet another term of the affinity.
func (p *Placement) dropNeedless(n *corev1.Node, changes []Remedy) []Remedy {
	has := func(in []Remedy, kind RemedyKind) bool {
		return slices.ContainsFunc(in, func(c Remedy) bool { return c.Kind == kind })
	}
	met := func(by []Remedy) bool {
		labeled := relabeled(n, p.selector, by)
		return (!p.hasAffinity || has(by, AddAffinityTerm) || p.checkAffinity(labeled).OK) &&
			(has(by, SelectEveryNode) || p.namespace.check(labeled, false).OK)
	}
	for i := 0; i < len(changes); {
		if fewer := slices.Delete(slices.Clone(changes), i, i+1); met(fewer) {
			changes = fewer
		} else {
			i++
		}
	}
	return changes
}

// relabeled returns a copy of the node with the labels in set and the changes
// applied.
func relabeled(n *corev1.Node, set map[string]string, changes []Remedy) *corev1.Node {
	out := n.DeepCopy()
	if out.Labels == nil {
		out.Labels = map[string]string{}
	}
	maps.Copy(out.Labels, set)
	for _, c := range changes {
		switch c.Kind {
		case SetLabel:
			out.Labels[c.Key] = c.Value
		case RemoveLabel:
			delete(out.Labels, c.Key)
		}
	}
	return out
}

// labelRemedies returns label changes that make the node meet the term. It does
// not change the keys in fixed. If the term needs a change of an owned label,
// ok is false and byOwned is the first such key.
func (t term) labelRemedies(n *corev1.Node, fixed map[string]string) (changes []Remedy, byOwned string, ok bool) {
	if len(t) == 0 {
		return nil, "", false
	}
	ok = true
	for _, r := range t {
		key := r.expr.Key
		if r.meets(n) || slices.ContainsFunc(changes, func(c Remedy) bool { return c.Key == key }) {
			continue
		}
		if !r.field && owned(key) {
			return nil, key, false
		}
		_, isFixed := fixed[key]
		c, possible := t.labelRemedy(n, key)
		if ok = ok && possible && !isFixed; possible && !isFixed {
			changes = append(changes, c)
		}
	}
	return changes, "", ok
}

// labelRemedy returns a change of one label that meets every requirement of the
// term on that key: removing the label, or setting it to a value that a
// requirement names or to one next to it. A negative number is not a label
// value, and no label meets a requirement on a field.
func (t term) labelRemedy(n *corev1.Node, key string) (Remedy, bool) {
	candidates := []Remedy{{Kind: RemoveLabel, Key: key}, {Kind: SetLabel, Key: key, Value: "true"}}
	for _, r := range t {
		if r.field || r.expr.Key != key {
			continue
		}
		for _, v := range r.expr.Values {
			candidates = append(candidates, Remedy{Kind: SetLabel, Key: key, Value: v})
			if number, err := strconv.ParseInt(v, 10, 64); err == nil {
				candidates = append(candidates,
					Remedy{Kind: SetLabel, Key: key, Value: strconv.FormatInt(number+1, 10)},
					Remedy{Kind: SetLabel, Key: key, Value: strconv.FormatInt(number-1, 10)})
			}
		}
	}
	trial := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name}}
	for _, c := range candidates {
		if len(validation.IsValidLabelValue(c.Value)) > 0 {
			continue
		}
		trial.Labels = nil
		if c.Kind == SetLabel {
			trial.Labels = map[string]string{key: c.Value}
		}
		if !slices.ContainsFunc(t, func(r requirement) bool { return r.expr.Key == key && !r.meets(trial) }) {
			return c, true
		}
	}
	return Remedy{}, false
}
