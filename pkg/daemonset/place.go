package daemonset

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// Placement decides on which nodes the pods of a DaemonSet should run and may
// stay. It is safe for concurrent use.
type Placement struct {
	nodeName    string
	selector    map[string]string
	keys        []string // of selector, sorted
	hasAffinity bool
	terms       []term
	tolerations []toleration
	profile     Profile
	namespace   *namespaceRule // OpenShift's; nil if there is none
}

type term []requirement

type requirement struct {
	expr  corev1.NodeSelectorRequirement
	field bool // about a field of the node, not a label
	match *nodeaffinity.NodeSelector
}

type toleration struct {
	corev1.Toleration
	automatic bool
}

// NewPlacement returns the placement rules of a DaemonSet. In adds the rule of
// its namespace on OpenShift.
func NewPlacement(ds *appsv1.DaemonSet, profile Profile) *Placement {
	spec := &ds.Spec.Template.Spec
	p := &Placement{
		nodeName: spec.NodeName,
		selector: spec.NodeSelector,
		keys:     slices.Sorted(maps.Keys(spec.NodeSelector)),
		profile:  profile,
	}
	for _, t := range spec.Tolerations {
		p.tolerations = append(p.tolerations, toleration{Toleration: t})
	}
	for _, t := range automaticTolerations(spec.HostNetwork) {
		p.tolerations = append(p.tolerations, toleration{Toleration: t, automatic: true})
	}
	if a := spec.Affinity; a != nil && a.NodeAffinity != nil &&
		a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		p.hasAffinity = true
		for _, t := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			p.terms = append(p.terms, newTerm(t))
		}
	}
	return p
}

func newTerm(t corev1.NodeSelectorTerm) term {
	var out term
	for _, e := range t.MatchExpressions {
		out = append(out, newRequirement(corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{e}}, e, false))
	}
	for _, e := range t.MatchFields {
		out = append(out, newRequirement(corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{e}}, e, true))
	}
	return out
}

// newRequirement returns a requirement whose match is nil if the expression
// cannot be parsed: the controller treats it as met by no node.
func newRequirement(alone corev1.NodeSelectorTerm, e corev1.NodeSelectorRequirement, field bool) requirement {
	match, err := nodeaffinity.NewNodeSelector(&corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{alone}})
	if err != nil {
		match = nil
	}
	return requirement{expr: e, field: field, match: match}
}

func (r *requirement) meets(n *corev1.Node) bool { return r.match != nil && r.match.Match(n) }

// automaticTolerations returns the tolerations that the controller adds to
// every pod. It tolerates not-ready and unreachable with the effect NoExecute
// only; a node that is not ready also has NoSchedule taints with these keys,
// which are not tolerated.
func automaticTolerations(hostNetwork bool) []corev1.Toleration {
	tolerate := func(key string, effect corev1.TaintEffect) corev1.Toleration {
		return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect}
	}
	ts := []corev1.Toleration{
		tolerate(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute),
		tolerate(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute),
		tolerate(corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule),
		tolerate(corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule),
		tolerate(corev1.TaintNodePIDPressure, corev1.TaintEffectNoSchedule),
		tolerate(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule),
	}
	if hostNetwork {
		ts = append(ts, tolerate(corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule))
	}
	return ts
}

// Rule names a rule of placement.
type Rule string

const (
	RuleNodeName     Rule = "nodeName"     // the template's nodeName
	RuleNodeSelector Rule = "nodeSelector" // one key of the template's nodeSelector
	RuleNodeAffinity Rule = "nodeAffinity" // the template's required node affinity
	RuleTaint        Rule = "taint"        // one taint of the node
	// RuleNamespaceSelector: the node selector of the namespace, only on OpenShift; the controller checks it
	// if every other rule passes
	RuleNamespaceSelector Rule = "namespaceNodeSelector"
)

// Check is the result of one rule for one node. Stays is false if failing the
// rule also ends a pod that runs on the node. It is true for a NoSchedule
// taint, and for a namespace rule that does not apply because another rule
// fails.
type Check struct {
	Rule Rule `json:"rule"` // the rule that was applied
	OK   bool `json:"ok"`   // whether the node passes

	// whether a pod may stay on the node although the rule fails. True only for a NoSchedule taint, and for
	// `namespaceNodeSelector` if another rule fails too
	Stays bool `json:"stays"`

	// the code of a failure, even if the node passes
	// Codes: Placement
	Reason Reason `json:"reason"`
	Facts  Facts  `json:"facts"` // what the rule compared
}

// Checks returns the result of every rule for the node, in this order: the
// template's nodeName, each key of its nodeSelector, its required node
// affinity, each NoSchedule and NoExecute taint of the node, and the node
// selector of an OpenShift namespace. Taints of node conditions follow other
// taints; that order is not the controller's.
//
// PreferNoSchedule taints, preferred affinity, resources, ports, and the node's
// readiness are not rules of placement.
func (p *Placement) Checks(n *corev1.Node) []Check {
	checks := []Check{}
	if most := b2i(p.nodeName != "") + len(p.keys) + b2i(p.hasAffinity) + len(n.Spec.Taints) +
		b2i(p.namespace != nil); most > 0 {
		checks = make([]Check, 0, most)
	}
	if p.nodeName != "" {
		checks = append(checks, Check{Rule: RuleNodeName, OK: p.nodeName == n.Name, Reason: NodeName,
			Facts: Facts{"want": p.nodeName}})
	}
	for _, k := range p.keys {
		checks = append(checks, p.checkLabel(n, k))
	}
	if p.hasAffinity {
		checks = append(checks, p.checkAffinity(n))
	}
	for _, t := range sortedTaints(n.Spec.Taints) {
		checks = append(checks, p.checkTaint(t))
	}
	if p.namespace != nil {
		failed := slices.ContainsFunc(checks, func(c Check) bool { return !c.OK })
		checks = append(checks, p.namespace.check(n, failed))
	}
	return checks
}

func (p *Placement) checkLabel(n *corev1.Node, key string) Check {
	want := p.selector[key]
	got, present := n.Labels[key]
	f := Facts{"key": key, "want": want, "present": present}
	if present {
		f["got"] = got
	}
	return Check{Rule: RuleNodeSelector, OK: present && got == want, Reason: NodeSelector, Facts: f}
}

// checkAffinity ORs the terms and ANDs the requirements of each. A term without
// requirements matches no node, and so does an affinity without terms. The
// facts describe the term that matches the node, or else the first term with
// the fewest failing requirements.
func (p *Placement) checkAffinity(n *corev1.Node) Check {
	best, fewest := -1, 0
	var failing *requirement
	for i := range p.terms {
		failed, first := p.terms[i].failing(n)
		switch {
		case len(p.terms[i]) == 0:
		case failed == 0:
			return Check{Rule: RuleNodeAffinity, OK: true, Reason: NodeAffinity,
				Facts: Facts{"terms": len(p.terms), "term": i + 1}}
		case best < 0 || failed < fewest:
			best, fewest, failing = i, failed, first
		}
	}
	f := Facts{"terms": len(p.terms)}
	if failing != nil {
		f["term"] = best + 1
		f["key"] = failing.expr.Key
		f["operator"] = string(failing.expr.Operator)
		f["values"] = append([]string{}, failing.expr.Values...) // never null
		f["isField"] = failing.field
		f["valid"] = failing.match != nil
		if got, present := n.Labels[failing.expr.Key]; present && !failing.field {
			f["got"] = got
		}
	}
	return Check{Rule: RuleNodeAffinity, Reason: NodeAffinity, Facts: f}
}

func (t term) failing(n *corev1.Node) (count int, first *requirement) {
	for i := range t {
		if r := &t[i]; !r.meets(n) {
			if count == 0 {
				first = r
			}
			count++
		}
	}
	return count, first
}

func (p *Placement) checkTaint(t corev1.Taint) Check {
	c := Check{
		Rule:   RuleTaint,
		Reason: TaintNotTolerated,
		Stays:  t.Effect == corev1.TaintEffectNoSchedule,
		Facts:  Facts{"taint": TaintString(t), "key": t.Key, "value": t.Value, "effect": string(t.Effect)},
	}
	for _, tol := range p.tolerations {
		if p.tolerates(&tol.Toleration, &t) {
			c.OK = true
			c.Facts["automatic"] = tol.automatic
			return c
		}
	}
	return c
}

// tolerates reports whether the toleration tolerates the taint. It ignores
// tolerationSeconds.
//
// Lt requires the taint's number to be below the toleration's, Gt above it
// (1.35, #134665). A value that is not an integer in canonical form tolerates
// nothing, and neither do these operators before 1.35.
func (p *Placement) tolerates(tol *corev1.Toleration, taint *corev1.Taint) bool {
	if tol.Effect != "" && tol.Effect != taint.Effect || tol.Key != "" && tol.Key != taint.Key {
		return false
	}
	switch tol.Operator {
	case "", corev1.TolerationOpEqual:
		return tol.Value == taint.Value
	case corev1.TolerationOpExists:
		return true
	case corev1.TolerationOpLt, corev1.TolerationOpGt:
		limit, ok := canonicalInt(tol.Value)
		number, isNumber := canonicalInt(taint.Value)
		if !p.profile.TolerationComparison || !ok || !isNumber {
			return false
		}
		return tol.Operator == corev1.TolerationOpLt && number < limit || tol.Operator == corev1.TolerationOpGt &&
			number > limit
	}
	return false
}

// canonicalInt parses an int64 in canonical form: no plus sign, no leading
// zeros, no "-0".
func canonicalInt(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == s
}

// compares reports whether a toleration of the template has an operator that
// the API server accepts only behind a feature gate, in a version that knows
// it.
func (p *Placement) compares() bool {
	return p.profile.TolerationComparison && slices.ContainsFunc(p.tolerations, func(t toleration) bool {
		return t.Operator == corev1.TolerationOpLt || t.Operator == corev1.TolerationOpGt
	})
}

// TaintString returns a taint as kubectl writes it: key=value:effect.
func TaintString(t corev1.Taint) string {
	if t.Value == "" {
		return t.Key + ":" + string(t.Effect)
	}
	return t.Key + "=" + t.Value + ":" + string(t.Effect)
}

// sortedTaints returns the taints that decide on placement, NoSchedule and
// NoExecute. The taints of node conditions come and go, so they are last: the
// first failing taint is then one that stays.
func sortedTaints(taints []corev1.Taint) []corev1.Taint {
	var out []corev1.Taint
	for _, t := range taints {
		if t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b corev1.Taint) int {
		ca, cb := strings.HasPrefix(a.Key, "node.kubernetes.io/"), strings.HasPrefix(b.Key, "node.kubernetes.io/")
		switch {
		case ca != cb && cb:
			return -1
		case ca != cb:
			return 1
		}
		return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Value, b.Value),
			strings.Compare(string(a.Effect), string(b.Effect)))
	})
	return out
}

// Selects returns the fields of the template that select some of the nodes:
// nodeSelector and affinity. It ignores requirements on the operating system
// and the architecture, and affinities that only exclude nodes.
func (p *Placement) Selects() (fields []string) {
	if slices.ContainsFunc(p.keys, func(key string) bool { return !slices.Contains(platformLabels, key) }) {
		fields = append(fields, string(RuleNodeSelector))
	}
	picks := func(r requirement) bool { return r.positive() && !slices.Contains(platformLabels, r.expr.Key) }
	if p.hasAffinity && !slices.ContainsFunc(p.terms, func(t term) bool { return !slices.ContainsFunc(t, picks) }) {
		fields = append(fields, "affinity")
	}
	return fields
}

// platformLabels are the node labels for the operating system and architecture.
var platformLabels = []string{corev1.LabelOSStable, corev1.LabelArchStable, "beta.kubernetes.io/os",
	"beta.kubernetes.io/arch"}

// positive reports whether the requirement asks for a label to be present.
func (r *requirement) positive() bool {
	return r.match != nil && !r.field && r.expr.Operator != corev1.NodeSelectorOpNotIn &&
		r.expr.Operator != corev1.NodeSelectorOpDoesNotExist
}

// Unmet returns, for each term of the required node affinity, the first
// requirement for a label that none of the nodes meets. It returns nil if some
// term has no such requirement.
func (p *Placement) Unmet(nodes []*corev1.Node) (unmet []corev1.NodeSelectorRequirement) {
	for _, t := range p.terms {
		i := slices.IndexFunc(t, func(r requirement) bool {
			return r.positive() && !slices.ContainsFunc(nodes, r.meets)
		})
		if i < 0 {
			return nil
		}
		unmet = append(unmet, t[i].expr)
	}
	return unmet
}

// Decide returns whether the node should run the pod, and whether an existing
// pod may stay (the controller's NodeShouldRunDaemonPod).
//
// A node that fails nodeName, the node selector, the affinity or the selector
// of its namespace neither should run the pod nor lets it stay. A NoSchedule
// taint that is not tolerated only clears shouldRun, and the namespace is then
// not checked; a NoExecute taint clears both. The reason is that of the first
// failing rule in the order of Checks. The fact "others" counts the remaining
// failures, and "taints" lists all taints that are not tolerated, if there are
// several.
func (p *Placement) Decide(n *corev1.Node) (shouldRun, mayStay Verdict) {
	return decide(p.Checks(n))
}

// decisions memoizes Placement.Decide for nodes that agree in everything that
// it reads. Verdicts of such nodes share their facts.
type decisions struct {
	*Placement
	readsWholeNode bool // some rule may read any part of a node, so nothing is memoized
	key            []byte
	known          map[string][2]Verdict
	lastKey        []byte     // the key of the previous node
	lastVerdicts   [2]Verdict // the verdicts for the previous node
}

func (p *Placement) decisions() *decisions {
	ofFields := slices.ContainsFunc(p.terms,
		func(t term) bool { return slices.ContainsFunc(t, func(r requirement) bool { return r.field }) })
	return &decisions{Placement: p, readsWholeNode: p.namespace != nil || ofFields, known: map[string][2]Verdict{}}
}

func (d *decisions) of(n *corev1.Node) (shouldRun, mayStay Verdict) {
	if d.readsWholeNode {
		return d.Decide(n)
	}
	d.key = d.key[:0]
	word := func(text string) { d.key = append(binary.AppendUvarint(d.key, uint64(len(text))), text...) }
	label := func(key string) {
		value, present := n.Labels[key]
		d.key = append(d.key, byte(b2i(present)))
		word(value)
	}
	d.key = append(d.key, byte(b2i(n.Name == d.nodeName)))
	for _, key := range d.keys {
		label(key)
	}
	for _, t := range d.terms {
		for i := range t {
			label(t[i].expr.Key)
		}
	}
	for i := range n.Spec.Taints {
		t := &n.Spec.Taints[i]
		word(t.Key)
		word(t.Value)
		word(string(t.Effect))
	}
	if d.lastKey != nil && bytes.Equal(d.key, d.lastKey) {
		return d.lastVerdicts[0], d.lastVerdicts[1]
	}
	known, is := d.known[string(d.key)]
	if !is {
		known[0], known[1] = d.Decide(n)
		d.known[string(d.key)] = known
	}
	d.lastKey, d.lastVerdicts = append(d.lastKey[:0], d.key...), known
	return known[0], known[1]
}

func decide(checks []Check) (shouldRun, mayStay Verdict) {
	shouldRun = Verdict{OK: true, Reason: Eligible}
	mayStay = shouldRun
	others := 0
	var taints []string
	for _, c := range checks {
		if c.OK {
			continue
		}
		if c.Rule == RuleTaint {
			taints = append(taints, c.Facts.Text("taint"))
		}
		if shouldRun.OK {
			shouldRun = Verdict{Reason: c.Reason, Facts: maps.Clone(c.Facts)}
		} else {
			others++
		}
		if mayStay.OK && !c.Stays {
			mayStay = Verdict{Reason: c.Reason, Facts: c.Facts}
		}
	}
	if others > 0 {
		shouldRun.Facts["others"] = others
	}
	if shouldRun.Reason == TaintNotTolerated && len(taints) > 1 {
		shouldRun.Facts["taints"] = taints
	}
	return shouldRun, mayStay
}
