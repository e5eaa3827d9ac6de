package oracle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// whatIf is a change in two independent forms: as the input of a plan and as an action in a
// cluster.
type whatIf struct {
	kind   string
	change whatif.Change
	make   func(*cluster) bool // reports whether it was possible
}

// whatIfs are the kinds of changes. Each can be drawn for any state; if the change is impossible,
// the plan must reject it, too.
var whatIfs = []func(*rand.Rand, *snapshot.Snapshot) whatIf{
	imageWhatIf, everyImageWhatIf, restartWhatIf, rollbackWhatIf, previousWhatIf, manifestWhatIf, minReadyWhatIf, unavailableWhatIf, surgeWhatIf,
	onDeleteWhatIf, rollingWhatIf, tolerationWhatIf, selectorWhatIf, noSelectorWhatIf,
	taintWhatIf, untaintWhatIf, labelWhatIf, unlabelWhatIf, cordonWhatIf, uncordonWhatIf, downWhatIf, removeWhatIf, addWhatIf, severalWhatIf,
}

func oneOf[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// writeSpec changes the spec like an update of the object, including what the API server does.
// Templates are compared as text.
func (c *cluster) writeSpec(change func(*appsv1.DaemonSetSpec)) bool {
	ds := c.now.DaemonSet
	text := func(v any) string {
		raw, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		return string(raw)
	}
	spec, template := text(ds.Spec), text(ds.Spec.Template)
	changed := ds.DeepCopy()
	change(&changed.Spec)
	if text(changed.Spec) == spec {
		return true
	}
	if !wellFormed(&changed.Spec) {
		return false
	}
	changedTemplate := changed.Spec.Template
	changed.Spec.Template = ds.Spec.Template
	ds.Spec = changed.Spec
	if text(changedTemplate) != template {
		return c.setTemplate(&changedTemplate)
	}
	ds.Generation++
	return true
}

// wellFormed reports whether the API server accepts the strategy: exactly one of two numbers or
// percentages up to 100% is above 0. It never sees the other states of dstest.
func wellFormed(spec *appsv1.DaemonSetSpec) bool {
	u := spec.UpdateStrategy
	if u.Type != appsv1.RollingUpdateDaemonSetStrategyType {
		return u.Type == appsv1.OnDeleteDaemonSetStrategyType
	}
	above := 0
	for _, v := range []*intstr.IntOrString{u.RollingUpdate.MaxUnavailable, u.RollingUpdate.MaxSurge} {
		if v == nil {
			continue
		}
		n := int(v.IntVal)
		if v.Type == intstr.String {
			digits, percent := strings.CutSuffix(v.StrVal, "%")
			parsed, err := strconv.ParseUint(digits, 10, 32)
			if err != nil || !percent || parsed > 100 {
				return false
			}
			n = int(parsed)
		}
		if n > 0 {
			above++
		}
	}
	return above == 1
}

func (c *cluster) writeTemplate(change func(*corev1.PodTemplateSpec)) bool {
	return c.writeSpec(func(s *appsv1.DaemonSetSpec) { change(&s.Template) })
}

func imageWhatIf(r *rand.Rand, s *snapshot.Snapshot) whatIf {
	container := s.DaemonSet.Spec.Template.Spec.Containers[0].Name
	image := "example/agent:" + oneOf(r, "2", "3", "old", "oldold")
	return whatIf{"image", whatif.Change{Images: []whatif.Image{{Container: container, Image: image}}}, func(c *cluster) bool {
		return c.writeTemplate(func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Image = image })
	}}
}

func everyImageWhatIf(r *rand.Rand, _ *snapshot.Snapshot) whatIf {
	image := fmt.Sprint("example/agent:", r.IntN(9))
	return whatIf{"every image", whatif.Change{Images: []whatif.Image{{Container: "*", Image: image}}}, func(c *cluster) bool {
		return c.writeTemplate(func(t *corev1.PodTemplateSpec) {
			for i := range t.Spec.Containers {
				t.Spec.Containers[i].Image = image
			}
		})
	}}
}

func restartWhatIf(_ *rand.Rand, s *snapshot.Snapshot) whatIf {
	at := s.TakenAt.UTC().Format(time.RFC3339)
	return whatIf{"restart", whatif.Change{Restart: true}, func(c *cluster) bool {
		return c.writeTemplate(func(t *corev1.PodTemplateSpec) {
			t.Annotations = maps.Clone(t.Annotations)
			if t.Annotations == nil {
				t.Annotations = map[string]string{}
			}
			t.Annotations["kubectl.kubernetes.io/restartedAt"] = at
		})
	}}
}

// owned returns the revisions that kubectl rollout undo uses, in the order of the API server.
func (c *cluster) owned() []appsv1.ControllerRevision {
	var owned []appsv1.ControllerRevision
	for _, r := range c.now.Revisions {
		ref := metav1.GetControllerOf(&r)
		selector, err := metav1.LabelSelectorAsSelector(c.now.DaemonSet.Spec.Selector)
		if err == nil && ref != nil && ref.UID == c.now.DaemonSet.UID && selector.Matches(labelSet(r.Labels)) {
			owned = append(owned, r)
		}
	}
	slices.SortFunc(owned, func(a, b appsv1.ControllerRevision) int { return strings.Compare(a.Name, b.Name) })
	return owned
}

type labelSet map[string]string

func (l labelSet) Has(key string) bool              { _, ok := l[key]; return ok }
func (l labelSet) Get(key string) string            { return l[key] }
func (l labelSet) Lookup(key string) (string, bool) { v, ok := l[key]; return v, ok }

// goBack sets the template to that of a revision.
func (c *cluster) goBack(to *appsv1.ControllerRevision) bool {
	var data struct {
		Spec struct {
			Template corev1.PodTemplateSpec `json:"template"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(to.Data.Raw, &data); err != nil {
		return false
	}
	return c.writeTemplate(func(t *corev1.PodTemplateSpec) { *t = data.Spec.Template })
}

func rollbackWhatIf(r *rand.Rand, _ *snapshot.Snapshot) whatIf {
	number := int64(1 + r.IntN(4))
	return whatIf{"rollback", whatif.Change{ToRevision: &number}, func(c *cluster) bool {
		owned := c.owned()
		i := slices.IndexFunc(owned, func(r appsv1.ControllerRevision) bool { return r.Revision == number })
		return i >= 0 && c.goBack(&owned[i])
	}}
}

func previousWhatIf(_ *rand.Rand, s *snapshot.Snapshot) whatIf {
	zero := int64(0)
	return whatIf{"rollback to the one before", whatif.Change{ToRevision: &zero}, func(c *cluster) bool {
		owned := c.owned()
		if len(owned) < 2 {
			return false
		}
		// Of revisions with equal numbers kubectl takes any. The plan names the oldest.
		slices.SortFunc(owned, func(a, b appsv1.ControllerRevision) int {
			return cmp.Or(cmp.Compare(b.Revision, a.Revision), b.CreationTimestamp.Compare(a.CreationTimestamp.Time), strings.Compare(b.Name, a.Name))
		})
		return c.goBack(&owned[1])
	}}
}

// manifestWhatIf is a manifest merged into the live object, with what manifests and tools omit or
// add.
func manifestWhatIf(r *rand.Rand, s *snapshot.Snapshot) whatIf {
	m := s.DaemonSet.DeepCopy()
	m.Status, m.UID, m.Generation, m.Annotations = appsv1.DaemonSetStatus{}, "", 0, nil
	m.Labels = map[string]string{"example.com/of": "a-manifest"}
	edit := func(s *appsv1.DaemonSetSpec) {}
	switch r.IntN(4) {
	case 0:
		edit = func(s *appsv1.DaemonSetSpec) {
			s.Template.Spec.Containers = append(s.Template.Spec.Containers, corev1.Container{Name: "more", Image: "example/more:1"})
		}
	case 1:
		edit = func(s *appsv1.DaemonSetSpec) { s.Template.Spec.Affinity = nil }
	case 2:
		edit = func(s *appsv1.DaemonSetSpec) { limit := int32(1); s.RevisionHistoryLimit = &limit }
	}
	edit(&m.Spec)
	return whatIf{"manifest", whatif.Change{DaemonSet: m, Method: "LastApplied"}, func(c *cluster) bool {
		changed := c.now.DaemonSet.DeepCopy()
		if edit(&changed.Spec); !wellFormed(&changed.Spec) {
			return false
		}
		c.now.DaemonSet.Labels = map[string]string{"example.com/of": "a-manifest"}
		return c.writeSpec(edit)
	}}
}

func minReadyWhatIf(r *rand.Rand, _ *snapshot.Snapshot) whatIf {
	seconds := oneOf(r, int32(0), 5, 60, 7200)
	return whatIf{"minReadySeconds", whatif.Change{MinReadySeconds: &seconds}, func(c *cluster) bool {
		return c.writeSpec(func(s *appsv1.DaemonSetSpec) { s.MinReadySeconds = seconds })
	}}
}

func limitOf(text string) *intstr.IntOrString { v := intstr.Parse(text); return &v }

func unavailableWhatIf(r *rand.Rand, _ *snapshot.Snapshot) whatIf {
	limit := limitOf(oneOf(r, "1", "2", "5", "10%", "50%", "100%", "0"))
	return whatIf{"maxUnavailable", whatif.Change{MaxUnavailable: limit}, func(c *cluster) bool {
		return c.writeSpec(func(s *appsv1.DaemonSetSpec) {
			if s.UpdateStrategy.RollingUpdate == nil { // OnDelete
				s.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{}
			}
			s.UpdateStrategy.RollingUpdate.MaxUnavailable = limit
			c.defaults(&s.UpdateStrategy)
		})
	}}
}

// defaults sets the API server's defaults, which set both limits or none.
func (c *cluster) defaults(u *appsv1.DaemonSetUpdateStrategy) {
	unavailable := limitOf("0")
	if u.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		if unavailable = limitOf("1"); u.RollingUpdate == nil {
			u.RollingUpdate = &appsv1.RollingUpdateDaemonSet{}
		}
	}
	if ru := u.RollingUpdate; ru != nil {
		if ru.MaxUnavailable == nil {
			ru.MaxUnavailable = unavailable
		}
		if ru.MaxSurge == nil && surges(c.now.KubernetesVersion) {
			ru.MaxSurge = limitOf("0")
		}
	}
}

func surges(version string) bool { return compareVersions(version, "v1.22.0") >= 0 }

func surgeWhatIf(r *rand.Rand, _ *snapshot.Snapshot) whatIf {
	limit := limitOf(oneOf(r, "1", "3", "20%", "100%"))
	return whatIf{"maxSurge", whatif.Change{MaxSurge: limit, MaxUnavailable: limitOf("0")}, func(c *cluster) bool {
		return surges(c.now.KubernetesVersion) && c.writeSpec(func(s *appsv1.DaemonSetSpec) {
			s.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: limitOf("0"), MaxSurge: limit}
		})
	}}
}

func onDeleteWhatIf(_ *rand.Rand, _ *snapshot.Snapshot) whatIf {
	return whatIf{"OnDelete", whatif.Change{Strategy: "OnDelete"}, func(c *cluster) bool {
		return c.writeSpec(func(s *appsv1.DaemonSetSpec) { s.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType })
	}}
}

// rollingWhatIf begins with an OnDelete state, of which there are few.
func rollingWhatIf(r *rand.Rand, s *snapshot.Snapshot) whatIf {
	u := &s.DaemonSet.Spec.UpdateStrategy
	if u.Type = appsv1.OnDeleteDaemonSetStrategyType; r.IntN(2) == 0 {
		u.RollingUpdate = nil
	}
	return whatIf{"RollingUpdate", whatif.Change{Strategy: "RollingUpdate"}, func(c *cluster) bool {
		return c.writeSpec(func(s *appsv1.DaemonSetSpec) {
			s.UpdateStrategy.Type = appsv1.RollingUpdateDaemonSetStrategyType
			c.defaults(&s.UpdateStrategy)
		})
	}}
}

func tolerationWhatIf(r *rand.Rand, _ *snapshot.Snapshot) whatIf {
	t := oneOf(r, corev1.Toleration{Operator: corev1.TolerationOpExists}, corev1.Toleration{Key: "dedicated", Operator: corev1.TolerationOpExists},
		corev1.Toleration{Key: "dedicated", Value: "x", Effect: corev1.TaintEffectNoSchedule})
	return whatIf{"toleration", whatif.Change{Tolerations: []corev1.Toleration{t}}, func(c *cluster) bool {
		return c.writeTemplate(func(to *corev1.PodTemplateSpec) {
			for _, have := range to.Spec.Tolerations {
				if have.MatchToleration(&t) && have.TolerationSeconds == nil {
					return
				}
			}
			to.Spec.Tolerations = append(slices.Clone(to.Spec.Tolerations), t)
		})
	}}
}

const poolLabel = "example.com/pool"

func selectorWhatIf(r *rand.Rand, _ *snapshot.Snapshot) whatIf {
	key, value := oneOf(r, poolLabel, corev1.LabelHostname), oneOf(r, "a", "b", "n0")
	return whatIf{"nodeSelector", whatif.Change{NodeSelector: map[string]string{key: value}}, func(c *cluster) bool {
		return c.writeTemplate(func(t *corev1.PodTemplateSpec) {
			selector := map[string]string{key: value}
			for k, v := range t.Spec.NodeSelector {
				if k != key {
					selector[k] = v
				}
			}
			t.Spec.NodeSelector = selector
		})
	}}
}

func noSelectorWhatIf(_ *rand.Rand, _ *snapshot.Snapshot) whatIf {
	return whatIf{"nodeSelector less", whatif.Change{DropSelector: []string{poolLabel}}, func(c *cluster) bool {
		if _, ok := c.now.DaemonSet.Spec.Template.Spec.NodeSelector[poolLabel]; !ok {
			return false
		}
		return c.writeTemplate(func(t *corev1.PodTemplateSpec) {
			t.Spec.NodeSelector = maps.Clone(t.Spec.NodeSelector)
			delete(t.Spec.NodeSelector, poolLabel)
		})
	}}
}

// someNodes draws a selection of nodes and returns the selected nodes.
func someNodes(r *rand.Rand, s *snapshot.Snapshot) (which string, means func(*corev1.Node) bool) {
	n := s.Nodes[r.IntN(len(s.Nodes))]
	pool := n.Labels[poolLabel]
	switch {
	case r.IntN(4) == 0:
		return "n*", func(o *corev1.Node) bool { return strings.HasPrefix(o.Name, "n") }
	case r.IntN(4) == 0:
		return "n[0-4]", func(o *corev1.Node) bool {
			return len(o.Name) == 2 && o.Name[0] == 'n' && o.Name[1] >= '0' && o.Name[1] <= '4'
		}
	case r.IntN(3) == 0 && pool != "":
		return poolLabel + "=" + pool, func(o *corev1.Node) bool { return o.Labels[poolLabel] == pool }
	}
	return n.Name, func(o *corev1.Node) bool { return o.Name == n.Name }
}

// eachNode calls do for the selected nodes and reports whether it changed one of them.
func (c *cluster) eachNode(means func(*corev1.Node) bool, do func(*corev1.Node) bool) (there, done bool) {
	for i := range c.now.Nodes {
		if n := &c.now.Nodes[i]; means(n) {
			there = true
			done = do(n) || done
		}
	}
	return there, done
}

func nodeWhatIf(kind string, e whatif.NodeEdit, make func(*cluster) bool) whatIf {
	return whatIf{kind, whatif.Change{Nodes: []whatif.NodeEdit{e}}, make}
}

func taintWhatIf(r *rand.Rand, s *snapshot.Snapshot) whatIf {
	which, means := someNodes(r, s)
	t := corev1.Taint{
		Key: oneOf(r, "dedicated", "example.com/trouble"), Value: oneOf(r, "", "x", "y"),
		Effect: oneOf(r, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule),
	}
	return nodeWhatIf("taint", whatif.NodeEdit{Kind: whatif.NodeTaint, Which: which, Taint: &t}, func(c *cluster) bool {
		there, _ := c.eachNode(means, func(n *corev1.Node) bool {
			n.Spec.Taints = append(without(n.Spec.Taints, t.Key, t.Effect), t)
			return true
		})
		return there
	})
}

// without returns the taints except those with the key and one of the effects.
func without(taints []corev1.Taint, key string, effects ...corev1.TaintEffect) []corev1.Taint {
	var out []corev1.Taint
	for _, t := range taints {
		if t.Key != key || !slices.Contains(effects, t.Effect) {
			out = append(out, t)
		}
	}
	return out
}

var everyEffect = []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule}

func untaintWhatIf(r *rand.Rand, s *snapshot.Snapshot) whatIf {
	which, means := someNodes(r, s)
	key, effect := "dedicated", oneOf(r, "", corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute)
	effects := []corev1.TaintEffect{effect}
	if effect == "" {
		effects = everyEffect
	}
	return nodeWhatIf("untaint", whatif.NodeEdit{Kind: whatif.NodeUntaint, Which: which, Taint: &corev1.Taint{Key: key, Effect: effect}}, func(c *cluster) bool {
		_, done := c.eachNode(means, func(n *corev1.Node) bool {
			left := without(n.Spec.Taints, key, effects...)
			had := len(n.Spec.Taints) > len(left)
			n.Spec.Taints = left
			return had
		})
		return done
	})
}

func relabel(n *corev1.Node, change func(map[string]string)) {
	labels := map[string]string{}
	maps.Copy(labels, n.Labels)
	change(labels)
	n.Labels = labels
}

func labelWhatIf(r *rand.Rand, s *snapshot.Snapshot) whatIf {
	which, means := someNodes(r, s)
	key, value := oneOf(r, poolLabel, poolLabel, "disk", "gpu"), oneOf(r, "a", "b", "ssd", "")
	return nodeWhatIf("label", whatif.NodeEdit{Kind: whatif.NodeLabel, Which: which, Key: key, Value: value}, func(c *cluster) bool {
		there, _ := c.eachNode(means, func(n *corev1.Node) bool {
			relabel(n, func(l map[string]string) { l[key] = value })
			return true
		})
		return there
	})
}

func unlabelWhatIf(r *rand.Rand, s *snapshot.Snapshot) whatIf {
	which, means := someNodes(r, s)
	key := oneOf(r, poolLabel, poolLabel, "disk")
	return nodeWhatIf("unlabel", whatif.NodeEdit{Kind: whatif.NodeUnlabel, Which: which, Key: key}, func(c *cluster) bool {
		_, done := c.eachNode(means, func(n *corev1.Node) bool {
			_, had := n.Labels[key]
			relabel(n, func(l map[string]string) { delete(l, key) })
			return had
		})
		return done
	})
}

func cordonWhatIf(r *rand.Rand, s *snapshot.Snapshot) whatIf {
	which, means := someNodes(r, s)
	return nodeWhatIf("cordon", whatif.NodeEdit{Kind: whatif.NodeCordon, Which: which}, func(c *cluster) bool {
		there, _ := c.eachNode(means, func(n *corev1.Node) bool {
			n.Spec.Unschedulable = true
			n.Spec.Taints = append(without(n.Spec.Taints, corev1.TaintNodeUnschedulable, everyEffect...), corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
			return true
		})
		return there
	})
}

func uncordonWhatIf(r *rand.Rand, s *snapshot.Snapshot) whatIf {
	which, means := someNodes(r, s)
	return nodeWhatIf("uncordon", whatif.NodeEdit{Kind: whatif.NodeUncordon, Which: which}, func(c *cluster) bool {
		there, _ := c.eachNode(means, func(n *corev1.Node) bool {
			n.Spec.Unschedulable = false
			n.Spec.Taints = without(n.Spec.Taints, corev1.TaintNodeUnschedulable, everyEffect...)
			return true
		})
		return there
	})
}

// downWhatIf is a node that no longer reports, after the node controller has noticed.
func downWhatIf(r *rand.Rand, s *snapshot.Snapshot) whatIf {
	which, means := someNodes(r, s)
	return nodeWhatIf("node down", whatif.NodeEdit{Kind: whatif.NodeDown, Which: which}, func(c *cluster) bool {
		down := map[string]bool{}
		there, _ := c.eachNode(means, func(n *corev1.Node) bool {
			down[n.Name] = true
			for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable, corev1.TaintNodeMemoryPressure, corev1.TaintNodeDiskPressure, corev1.TaintNodePIDPressure} {
				n.Spec.Taints = without(n.Spec.Taints, key, everyEffect...)
			}
			n.Spec.Taints = append(n.Spec.Taints,
				corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoSchedule}, corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute})
			n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}
			return true
		})
		for i := range c.now.Pods {
			p := &c.now.Pods[i]
			for j := range p.Status.Conditions {
				if down[p.Spec.NodeName] && p.Status.Conditions[j].Type == corev1.PodReady {
					p.Status.Conditions[j].Status, p.Status.Conditions[j].LastTransitionTime = corev1.ConditionFalse, c.second()
				}
			}
		}
		return there
	})
}

func removeWhatIf(r *rand.Rand, s *snapshot.Snapshot) whatIf {
	which, means := someNodes(r, s)
	return nodeWhatIf("node removed", whatif.NodeEdit{Kind: whatif.NodeRemove, Which: which}, func(c *cluster) bool {
		var nodes []corev1.Node
		gone := map[string]bool{}
		for _, n := range c.now.Nodes {
			if means(&n) {
				gone[n.Name] = true
				continue
			}
			nodes = append(nodes, n)
		}
		c.now.Nodes = nodes
		var pods []corev1.Pod
		for _, p := range c.now.Pods {
			if p.Spec.NodeName == "" || !gone[p.Spec.NodeName] {
				pods = append(pods, p)
			}
		}
		c.now.Pods = pods
		return len(gone) > 0
	})
}

// ofOneMachine reports whether a taint describes the condition of a node, which a new node does not
// have.
func ofOneMachine(t corev1.Taint) bool {
	return slices.Contains([]string{
		corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable, corev1.TaintNodeMemoryPressure, corev1.TaintNodeDiskPressure,
		corev1.TaintNodePIDPressure, corev1.TaintNodeNetworkUnavailable, corev1.TaintNodeUnschedulable, corev1.TaintNodeOutOfService,
	}, t.Key)
}

func addWhatIf(r *rand.Rand, s *snapshot.Snapshot) whatIf {
	like, count := s.Nodes[r.IntN(len(s.Nodes))].Name, 1+r.IntN(3)
	return nodeWhatIf("nodes added", whatif.NodeEdit{Kind: whatif.NodeAdd, Which: like, Count: count}, func(c *cluster) bool {
		i := slices.IndexFunc(c.now.Nodes, func(n corev1.Node) bool { return n.Name == like })
		for k := range count {
			var n corev1.Node
			n.Name = fmt.Sprintf("%s-new-%d", like, k+1)
			n.CreationTimestamp = c.second()
			relabel(&n, func(l map[string]string) {
				maps.Copy(l, c.now.Nodes[i].Labels)
				if _, ok := l[corev1.LabelHostname]; ok {
					l[corev1.LabelHostname] = n.Name
				}
			})
			for _, t := range c.now.Nodes[i].Spec.Taints {
				if !ofOneMachine(t) {
					n.Spec.Taints = append(n.Spec.Taints, t)
				}
			}
			c.now.Nodes = append(c.now.Nodes, n)
		}
		return true
	})
}

// severalWhatIf changes the template, a limit and the nodes at once. All changes to the DaemonSet
// are one write.
func severalWhatIf(r *rand.Rand, s *snapshot.Snapshot) whatIf {
	limit, image := limitOf(oneOf(r, "2", "30%")), fmt.Sprint("example/agent:", r.IntN(9))
	node := oneOf(r, taintWhatIf, labelWhatIf, removeWhatIf, addWhatIf, downWhatIf)(r, s)
	change := whatif.Change{Images: []whatif.Image{{Container: "*", Image: image}}, MaxUnavailable: limit, Nodes: node.change.Nodes}
	return whatIf{"several", change, func(c *cluster) bool {
		return c.writeSpec(func(s *appsv1.DaemonSetSpec) {
			for i := range s.Template.Spec.Containers {
				s.Template.Spec.Containers[i].Image = image
			}
			if s.UpdateStrategy.RollingUpdate == nil {
				s.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{}
			}
			s.UpdateStrategy.RollingUpdate.MaxUnavailable = limit
			c.defaults(&s.UpdateStrategy)
		}) && node.make(c)
	}}
}
