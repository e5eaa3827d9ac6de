package dstest

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// pool is the label that implements the roles of nodes.
const pool = "example.com/pool"

// placement draws the placement constraints of the template. Unless the placement is wild, nodes of
// pool "a" meet them.
func (g *generator) placement(spec *corev1.PodSpec) {
	spec.HostNetwork = g.chance(30)
	spec.Tolerations = g.tolerations()
	if g.chance(40) {
		g.usesPool = true
		spec.NodeSelector = map[string]string{pool: "a"}
		if g.chance(30) {
			spec.NodeSelector[corev1.LabelOSStable] = "linux"
		}
	}
	switch {
	case g.chance(40):
		terms := []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: pool, Operator: corev1.NodeSelectorOpIn, Values: []string{"a", "c"}},
		}}}
		for range g.IntN(3) {
			terms = append(terms, g.term())
		}
		g.Shuffle(len(terms), func(i, j int) { terms[i], terms[j] = terms[j], terms[i] })
		spec.Affinity = nodeAffinity(terms...)
	case g.chance(8):
		g.wildPlacement(spec)
	}
	if g.chance(10) {
		if spec.Affinity == nil {
			spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}
		}
		spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.PreferredSchedulingTerm{{Weight: 1, Preference: g.term()}}
	}
}

// wildPlacement draws arbitrary constraints, which may exclude all nodes.
func (g *generator) wildPlacement(spec *corev1.PodSpec) {
	if g.chance(20) {
		spec.NodeName = pick(g, "n0", "n1", "gone0")
	}
	if g.chance(60) {
		var terms []corev1.NodeSelectorTerm
		for range pick(g, 0, 1, 1, 2, 2, 3, 3) {
			terms = append(terms, g.term())
		}
		spec.Affinity = nodeAffinity(terms...)
	}
	for range g.IntN(3) {
		if spec.NodeSelector == nil {
			spec.NodeSelector = map[string]string{}
		}
		key := g.labelKey()
		spec.NodeSelector[key] = g.labelValue(key)
	}
}

func (g *generator) labelKey() string {
	return pick(g, "disk", "size", "gpu", pool, corev1.LabelTopologyZone, corev1.LabelOSStable, corev1.LabelHostname)
}

func (g *generator) labelValue(key string) string {
	switch key {
	case "disk":
		return pick(g, "ssd", "hdd", "")
	case "size":
		return pick(g, "0", "1", "5", "007", "10", "big")
	case "gpu":
		return pick(g, "", "true")
	case pool:
		return pick(g, "a", "b", "c")
	case corev1.LabelTopologyZone:
		return pick(g, "z1", "z2")
	case corev1.LabelOSStable:
		return pick(g, "linux", "windows")
	default:
		return "n" + strconv.Itoa(g.IntN(5))
	}
}

// term returns a random node selector term. It is sometimes empty, and some expressions are
// invalid.
func (g *generator) term() corev1.NodeSelectorTerm {
	var t corev1.NodeSelectorTerm
	if g.chance(10) {
		return t
	}
	for range pick(g, 0, 1, 1, 1, 2, 3) {
		t.MatchExpressions = append(t.MatchExpressions, g.expression())
	}
	if len(t.MatchExpressions) == 0 || g.chance(10) {
		t.MatchFields = []corev1.NodeSelectorRequirement{{
			Key: metav1.ObjectNameField, Operator: pick(g, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn), Values: []string{"n" + strconv.Itoa(g.IntN(5))},
		}}
		if g.chance(10) {
			t.MatchFields = append(t.MatchFields, t.MatchFields[0])
		}
	}
	return t
}

func (g *generator) expression() corev1.NodeSelectorRequirement {
	if g.chance(4) {
		return pick(g,
			corev1.NodeSelectorRequirement{Key: "disk", Operator: corev1.NodeSelectorOpIn, Values: []string{"not a value"}},
			corev1.NodeSelectorRequirement{Key: "size", Operator: corev1.NodeSelectorOpGt, Values: []string{"big"}},
			corev1.NodeSelectorRequirement{Key: "size", Operator: corev1.NodeSelectorOpGt, Values: []string{"-5"}},
			corev1.NodeSelectorRequirement{Key: "size", Operator: corev1.NodeSelectorOpLt, Values: []string{"1.5"}},
		)
	}
	e := corev1.NodeSelectorRequirement{
		Key: g.labelKey(),
		Operator: pick(g, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn,
			corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt),
	}
	switch e.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		for range 1 + g.IntN(2) {
			e.Values = append(e.Values, g.labelValue(e.Key))
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		e.Key, e.Values = "size", []string{pick(g, "0", "1", "5", "007")}
	}
	return e
}

func (g *generator) tolerations() []corev1.Toleration {
	var out []corev1.Toleration
	for range pick(g, 0, 0, 0, 1, 2) {
		seconds := int64(300)
		out = append(out, pick(g,
			corev1.Toleration{Operator: corev1.TolerationOpExists, Effect: pick(g, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, "")},
			corev1.Toleration{Key: "dedicated", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
			corev1.Toleration{Key: "dedicated", Operator: corev1.TolerationOpEqual, Value: pick(g, "x", "y"), Effect: corev1.TaintEffectNoExecute},
			corev1.Toleration{Key: "dedicated", Value: pick(g, "x", "y", "")},
			corev1.Toleration{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds},
			corev1.Toleration{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
			corev1.Toleration{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists},
			corev1.Toleration{Key: "dedicated", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectPreferNoSchedule},
		))
	}
	if g.chance(6) { // since v1.35, behind a feature gate
		g.levels = true
		out = append(out, corev1.Toleration{
			Key: "level", Operator: pick(g, corev1.TolerationOpGt, corev1.TolerationOpLt), Value: pick(g, "5", "5", "0", "-1", "9223372036854775807"),
			Effect: pick(g, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, ""),
		})
	}
	return out
}

// place gives a node the labels and taints of its role, and some random ones.
func (g *generator) place(n *corev1.Node, f role) {
	n.Labels[pool] = "a"
	for range g.IntN(3) {
		if key := pick(g, "disk", "size", "gpu", corev1.LabelTopologyZone); !g.chance(10) {
			n.Labels[key] = g.labelValue(key)
		}
	}
	taint := func(key, value string, e corev1.TaintEffect) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Value: value, Effect: e})
	}
	if g.chance(10) {
		n.Spec.Unschedulable = true
		taint(corev1.TaintNodeUnschedulable, "", corev1.TaintEffectNoSchedule)
	}
	if g.chance(8) {
		taint(pick(g, corev1.TaintNodeDiskPressure, corev1.TaintNodeMemoryPressure, corev1.TaintNodePIDPressure), "", corev1.TaintEffectNoSchedule)
	}
	if g.chance(5) {
		taint("dedicated", "x", corev1.TaintEffectPreferNoSchedule)
	}
	if g.chance(3) {
		taint(pick(g, corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable), "", corev1.TaintEffectNoExecute)
	}
	if g.levels && g.chance(40) {
		taint("level", pick(g, "3", "5", "7", "7", "0", "007", "high", "", "9223372036854775808"), pick(g, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute))
	}
	switch f {
	case tainted:
		switch g.IntN(4) {
		case 0:
			key := pick(g, corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable)
			n.Status.Conditions[0].Status = corev1.ConditionUnknown
			taint(key, "", corev1.TaintEffectNoSchedule)
			taint(key, "", corev1.TaintEffectNoExecute)
		case 1:
			taint("dedicated", pick(g, "x", "y", ""), corev1.TaintEffectNoSchedule)
		case 2:
			taint(corev1.TaintNodeNetworkUnavailable, "", corev1.TaintEffectNoSchedule)
		case 3:
			taint("reserved", pick(g, "3", "7", "high"), corev1.TaintEffectNoSchedule)
		}
	case ineligible:
		switch {
		case g.usesPool && g.chance(60):
			n.Labels[pool] = "b"
			if g.chance(50) {
				delete(n.Labels, pool)
			}
		case g.chance(50):
			taint("dedicated", pick(g, "x", "y", ""), corev1.TaintEffectNoExecute)
		default:
			taint(corev1.TaintNodeOutOfService, "nodeshutdown", corev1.TaintEffectNoExecute)
		}
	}
}

// RandomPlacement returns a random state without pods, with arbitrary constraints in the template
// and arbitrary labels and taints of nodes. The same seed always gives the same state.
func RandomPlacement(seed int64) *snapshot.Snapshot {
	g := &generator{Rand: rand.New(rand.NewPCG(uint64(seed), 0x706c616365))}
	g.s = newSnapshot(newDaemonSet(), Newest)
	spec := &g.s.DaemonSet.Spec.Template.Spec
	spec.HostNetwork = g.chance(30)
	spec.Tolerations = g.tolerations()
	if g.chance(80) {
		g.wildPlacement(spec)
	}
	for i := range 5 {
		n := newNode(fmt.Sprintf("n%d", i))
		g.place(&n, pick(g, eligible, eligible, tainted, ineligible))
		g.s.Nodes = append(g.s.Nodes, n)
	}
	return g.s
}
