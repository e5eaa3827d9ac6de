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
	// SelectEveryNode: set the annotation `key` of the namespace to nothing, which has it select every node
	SelectEveryNode RemedyKind = "SelectEveryNode"
	AddToleration   RemedyKind = "AddToleration" // add `toleration` to the template
	// AddAffinityTerm: add a term to the template's required node affinity that names the node
	AddAffinityTerm RemedyKind = "AddAffinityTerm"
	RemoveNodeName  RemedyKind = "RemoveNodeName" // remove nodeName from the template
	// NoSensibleChange: there is none: the label `key` says what the node is (its operating system, role, zone or
	// hardware), or the taint `key` says that it is going away or runs no DaemonSet. It is then the only change
	NoSensibleChange RemedyKind = "NoSensibleChange"
)

// byHarm are the changes that can be made, the least harmful first: of this
// node alone, then of the namespace, then of the template, which rolls every pod.
var byHarm = []RemedyKind{RepairNode, SetLabel, RemoveLabel, SelectEveryNode, AddToleration, AddAffinityTerm,
	RemoveNodeName}

// Remedy is one change, of the node, its namespace or the template, by which a node may
// become eligible.
type Remedy struct {
	Kind RemedyKind `json:"kind"` // what to change
	// of the label, the annotation or the taint; absent if it is about none
	Key        string             `json:"key,omitempty"`
	Value      string             `json:"value,omitempty"`      // of the label; absent if there is none
	Toleration *corev1.Toleration `json:"toleration,omitempty"` // the toleration to add; absent for other changes
}

// OfTemplate reports whether a change is one of the template, which starts a
// rollout of all pods.
func (r Remedy) OfTemplate() bool {
	return r.Kind == AddToleration || r.Kind == AddAffinityTerm || r.Kind == RemoveNodeName
}

// ownedDomains are those of labels that Kubernetes, a cloud or an autoscaler
// gives to a node: they say what the node is, and come back when they are edited.
var ownedDomains = []string{"kubernetes.io", "k8s.io", "eks.amazonaws.com", "cloud.google.com", "kubernetes.azure.com",
	"karpenter.sh", "karpenter.k8s.aws"}

// owned reports whether a label is not a person's to set: the operating system,
// the zone, the role, what was found out about the hardware.
func owned(label string) bool {
	domain, _, found := strings.Cut(label, "/")
	if !found || domain == "node-restriction.kubernetes.io" { // the domain that is left to administrators
		return false
	}
	return slices.ContainsFunc(ownedDomains,
		func(o string) bool { return domain == o || strings.HasSuffix(domain, "."+o) })
}

// Fewest returns tolerations without those that another one of them includes: the same,
// or one of the same key and effect that takes any value. The order stays.
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

// Remedies returns the fewest changes that together make the node one
// that should run the pod, the least harmful first; none when it is already.
//
// A node is repaired, a label of the node is changed rather than the template,
// which all nodes share and whose change rolls every pod. Where something stands
// in the way that a careful person would not change, that alone is returned: see
// NoSensibleChange.
func (p *Placement) Remedies(n *corev1.Node) []Remedy {
	var changes []Remedy
	for _, c := range p.Checks(n) {
		key := c.Facts.Text("key")
		switch {
		case c.OK, c.Rule == RuleNodeAffinity, c.Rule == RuleNamespaceSelector: // which are below
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
		byLabels = p.needed(n, append(byLabels, p.namespaceRemedies(n, byLabels)...))
	}
	return sensible(append(changes, byLabels...))
}

// sensible returns the changes by harm, or, where one of them is none that makes
// sense, only such.
func sensible(changes []Remedy) []Remedy {
	senseless := func(c Remedy) bool { return c.Kind == NoSensibleChange }
	if slices.ContainsFunc(changes, senseless) {
		return slices.DeleteFunc(changes, func(c Remedy) bool { return !senseless(c) })
	}
	slices.SortStableFunc(changes,
		func(a, b Remedy) int { return slices.Index(byHarm, a.Kind) - slices.Index(byHarm, b.Kind) })
	return changes
}

// affinityRemedies returns the fewest label changes that meet one term, with
// the labels that the selector wants in place; else a term for this node,
// unless the node fails every term for a label that says what the node is.
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

// namespaceRemedies returns what has the namespace select the node, beside these changes of
// its labels and those that the template's selector wants: the fewest further ones or, where
// there are none that a person makes, a change of the namespace.
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
		// a label that it takes away may be one that the affinity needs
		if after := relabeled(labeled, nil, changes); !p.hasAffinity || p.checkAffinity(after).OK ||
			!p.checkAffinity(labeled).OK {
			return changes
		}
	}
	return []Remedy{{Kind: SelectEveryNode,
		Key: cmp.Or(p.namespace.annotation, snapshot.ProjectNodeSelectorAnnotation)}}
}

// needed returns the changes without those that the others make needless: a label for the
// namespace can meet another term of the affinity.
func (p *Placement) needed(n *corev1.Node, changes []Remedy) []Remedy {
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

// relabeled returns a copy of the node with these labels and changes of labels.
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

// labelRemedies returns the label changes that make a node meet the term, key
// by key, leaving alone the keys that are fixed, and those that are owned, the
// first of which it names.
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

// labelRemedy returns a change of one label after which every requirement of the
// term on that key is met: its absence, or one of the values that the
// requirements name or border on. A negative number is no label value. A field
// that the node does not meet is met by no label.
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
