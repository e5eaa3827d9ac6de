package oracle

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
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

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// tick is the step of a trace's clock. It is shorter than most minReadySeconds, so that there are
// pods that are ready but not yet available.
const tick = 5 * time.Second

// script is the changes that people make to a DaemonSet and its nodes during a trace. It depends
// only on the seed.
type script struct {
	seed    int64
	changes []change // sorted by time
}

// change is a change that somebody makes.
type change struct {
	after time.Duration // since the start of the trace
	kind  changeKind
	draw  int // which node or pod, or how much
}

type changeKind string

const (
	newTemplate    changeKind = "new template"
	brokenTemplate changeKind = "broken template"
	rollback       changeKind = "rollback"
	newLimit       changeKind = "another limit"
	onDelete       changeKind = "OnDelete"
	rollingAgain   changeKind = "RollingUpdate again"
	deletedPod     changeKind = "pod deleted"
	addedNode      changeKind = "node added"
	removedNode    changeKind = "node removed"
	taintedNode    changeKind = "node tainted"
	untaintedNode  changeKind = "node untainted"
	relabelledNode changeKind = "node relabelled"
	cordonedNode   changeKind = "node cordoned"
)

// changeKinds lists every changeKind.
var changeKinds = []changeKind{
	newTemplate, brokenTemplate, rollback, newLimit, onDelete, rollingAgain, deletedPod,
	addedNode, removedNode, taintedNode, untaintedNode, relabelledNode, cordonedNode,
}

// newScript draws a script. Half of the scripts change the template. Some of these templates are
// broken, so that their pods never become ready, and most of those are rolled back.
func newScript(seed int64) script {
	r := rand.New(rand.NewPCG(uint64(seed), 0x7472616365))
	s := script{seed: seed}
	chance := func(percent int) bool { return r.IntN(100) < percent }
	add := func(at int, kind changeKind) int {
		s.changes = append(s.changes, change{time.Duration(at) * tick, kind, r.IntN(1 << 20)})
		return at
	}
	switch {
	case chance(35):
		at := add(1+r.IntN(10), newTemplate)
		if chance(25) {
			at = add(at+1+r.IntN(8), newTemplate)
		}
		if chance(35) {
			add(at+2+r.IntN(12), rollback)
		}
	case chance(10):
		if at := add(1+r.IntN(10), brokenTemplate); chance(60) {
			add(at+5+r.IntN(20), rollback)
		}
	case chance(15):
		add(1+r.IntN(10), rollback)
	}
	if chance(15) {
		add(1+r.IntN(15), newLimit)
	}
	if chance(10) {
		at := add(1+r.IntN(10), onDelete)
		add(at+1, deletedPod)
		if chance(70) {
			add(at+2+r.IntN(10), rollingAgain)
		}
	}
	if chance(40) {
		kinds := []changeKind{addedNode, removedNode, taintedNode, taintedNode, untaintedNode, relabelledNode, cordonedNode, deletedPod}
		for range 1 + r.IntN(3) {
			add(1+r.IntN(15), kinds[r.IntN(len(kinds))])
		}
	}
	slices.SortStableFunc(s.changes, func(a, b change) int { return int(a.after - b.after) })
	return s
}

// brokenImage is the image of pods that never become ready.
const brokenImage = "example/agent:broken"

func isBroken(s *corev1.PodSpec) bool { return s.Containers[0].Image == brokenImage }

// cluster is the environment of a trace. The scheduler, the kubelets, the garbage collector and the
// people of the script act when the clock advances, and the controller through wrote. It is
// simplified: the scheduler binds every pod whose node exists, kubelets lose no pods, and no
// request is rejected.
type cluster struct {
	store
	start   time.Time
	script  script
	changes []change            // future changes
	pods    map[string]upcoming // by pod
	holds   map[string]time.Time
}

// upcoming is the next event of a pod, unless something else happens to it before.
type upcoming struct {
	event event
	at    time.Time
}

type event string

const (
	nothing  event = ""
	bound    event = "bound"    // by the scheduler
	started  event = "started"  // running and ready
	failed   event = "failed"   // for example, evicted by the kubelet
	finished event = "finished" // gone at the end of its termination
	freed    event = "freed"    // gone because its finalizers are
	// Deleted by the garbage collector or a person, because its node is gone or it has ended.
	collected event = "collected"
)

// newCluster returns the cluster at the beginning of a trace: a copy of the state with what an API
// server adds.
func newCluster(s *snapshot.Snapshot, sc script) *cluster {
	c := &cluster{store: store{now: *copyOf(s)}, start: s.TakenAt.Truncate(time.Second), script: sc, changes: sc.changes, pods: map[string]upcoming{}, holds: map[string]time.Time{}}
	c.now.TakenAt = c.start
	ds := c.now.DaemonSet
	if u := &ds.Spec.UpdateStrategy; u.Type == appsv1.RollingUpdateDaemonSetStrategyType && u.RollingUpdate == nil {
		one, zero := intstr.FromInt32(1), intstr.FromInt32(0)
		u.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &one, MaxSurge: &zero}
	}
	c.plan()
	return c
}

// advance advances the clock to a time, performs all events that are due, and returns the changes
// made.
func (c *cluster) advance(to time.Time) []changeKind {
	var made []changeKind
	for {
		at, ok := c.next()
		if !ok || at.After(to) {
			break
		}
		c.now.TakenAt = at
		for len(c.changes) > 0 && !c.start.Add(c.changes[0].after).After(at) {
			ch := c.changes[0]
			c.changes = c.changes[1:]
			if c.make(ch) {
				made = append(made, ch.kind)
			}
		}
		c.plan()
		for _, name := range slices.Sorted(maps.Keys(c.pods)) {
			if u := c.pods[name]; !u.at.After(at) {
				delete(c.pods, name)
				c.happen(name, u.event)
			}
		}
		c.releaseRevisions(at)
		c.plan()
	}
	c.now.TakenAt = to
	return made
}

// next returns the time of the next event, if any.
func (c *cluster) next() (at time.Time, ok bool) {
	note := func(t time.Time) {
		if !ok || t.Before(at) {
			at, ok = t, true
		}
	}
	if len(c.changes) > 0 {
		note(c.start.Add(c.changes[0].after))
	}
	for _, u := range c.pods {
		note(u.at)
	}
	for _, t := range c.holds {
		note(t)
	}
	return at, ok
}

// pending returns the time of the next event, or when a pod next becomes available.
func (c *cluster) pending() (at time.Time, ok bool) {
	at, ok = c.next()
	wait := time.Duration(c.now.DaemonSet.Spec.MinReadySeconds) * time.Second
	for i := range c.now.Pods {
		since, ready := readySince(&c.now.Pods[i])
		if t := since.Add(wait); ready && !t.Before(c.now.TakenAt) && (!ok || t.Before(at)) {
			at, ok = t, true
		}
	}
	return at, ok
}

func readySince(p *corev1.Pod) (since time.Time, ready bool) {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time, true
		}
	}
	return time.Time{}, false
}

// plan sets the next event of every pod. An event that is already set and still possible stays.
func (c *cluster) plan() {
	exists := map[string]bool{}
	for i := range c.now.Nodes {
		exists[c.now.Nodes[i].Name] = true
	}
	planned := map[string]upcoming{}
	for i := range c.now.Pods {
		p := &c.now.Pods[i]
		e, from, to := c.fate(p, exists)
		switch old, ok := c.pods[p.Name]; {
		case e == nothing:
		case ok && old.event == e:
			planned[p.Name] = old
		default:
			ticks := from + c.draw(p.Name, string(e), to-from+1)
			planned[p.Name] = upcoming{e, c.now.TakenAt.Add(time.Duration(ticks) * tick)}
		}
	}
	c.pods = planned
	for i := range c.now.Revisions {
		r := &c.now.Revisions[i]
		if _, ok := c.holds[r.Name]; r.DeletionTimestamp != nil && !ok {
			c.holds[r.Name] = c.now.TakenAt.Add(time.Duration(3+c.draw(r.Name, "hold", 5)) * tick)
		}
	}
}

// fate returns the next event of a pod, and the minimum and maximum number of ticks until it.
func (c *cluster) fate(p *corev1.Pod, exists map[string]bool) (e event, from, to int) {
	since, ready := readySince(p)
	node := p.Spec.NodeName
	if node == "" {
		node = affinityNode(p)
	}
	switch {
	case p.DeletionTimestamp != nil && len(p.Finalizers) > 0:
		return freed, 4, 8
	case p.DeletionTimestamp != nil:
		return finished, 1, 3
	case p.Spec.NodeName != "" && !exists[node]:
		return collected, 4, 8
	case ended(p):
		return collected, 300, 600 // the controller has time to delete it, even after a back-off
	case p.Spec.NodeName == "" && exists[node]:
		return bound, 1, 1
	case p.Spec.NodeName == "", isBroken(&p.Spec):
		return nothing, 0, 0
	case p.Status.Phase == corev1.PodRunning && ready && !since.IsZero():
		return nothing, 0, 0
	case strings.HasPrefix(p.Name, dstest.Name+"-") && c.fails(p):
		return failed, 1, 3
	case strings.HasPrefix(p.Name, dstest.Name+"-"):
		return started, 1, 3
	}
	return started, 1, 8 // from the state at the beginning of the trace
}

// fails reports whether the kubelet rejects a new pod. On a few nodes this happens repeatedly, so
// that the controller backs off.
func (c *cluster) fails(p *corev1.Pod) bool {
	sick := c.draw(p.Spec.NodeName, "sick", 100) < 3
	return sick && c.draw(p.Name, "fails", 100) < 85
}

func ended(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded
}

// affinityNode returns the node that a pod was created for.
func affinityNode(p *corev1.Pod) string {
	a := p.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return ""
	}
	for _, t := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, f := range t.MatchFields {
			if f.Key == metav1.ObjectNameField && f.Operator == corev1.NodeSelectorOpIn && len(f.Values) == 1 {
				return f.Values[0]
			}
		}
	}
	return ""
}

// draw returns a number below n that depends only on the seed and the words, so that the order of
// calls does not matter.
func (c *cluster) draw(name, what string, n int) int {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d/%s/%s", c.script.seed, name, what)
	return int((h.Sum64() >> 16) % uint64(n))
}

// happen performs the next event of a pod.
func (c *cluster) happen(name string, e event) {
	i := c.indexOf(name)
	p := &c.now.Pods[i]
	switch e {
	case bound:
		p.Spec.NodeName = affinityNode(p)
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}}
	case started:
		since, ready := readySince(p)
		if !ready || since.IsZero() {
			since = c.second().Time
		}
		p.Status.Phase = corev1.PodRunning
		p.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(since)},
		}
	case failed:
		p.Status.Phase = corev1.PodFailed
	case finished, freed:
		c.now.Pods = slices.Delete(c.now.Pods, i, i+1)
	case collected:
		c.now.Pods[i].Finalizers = nil
		c.now.Pods = slices.Delete(c.now.Pods, i, i+1)
	}
}

func (c *cluster) releaseRevisions(at time.Time) {
	c.now.Revisions = slices.DeleteFunc(c.now.Revisions, func(r appsv1.ControllerRevision) bool {
		until, ok := c.holds[r.Name]
		if !ok || until.After(at) {
			return false
		}
		delete(c.holds, r.Name)
		return true
	})
}

// make makes a change and reports whether there was anything to change.
func (c *cluster) make(ch change) bool {
	ds := c.now.DaemonSet
	switch ch.kind {
	case newTemplate:
		return c.setTemplate(withImage(&ds.Spec.Template, "example/agent:next"+strconv.Itoa(ch.draw)))
	case brokenTemplate:
		return c.setTemplate(withImage(&ds.Spec.Template, brokenImage))
	case rollback:
		return c.setTemplate(c.earlierTemplate(ch.draw))
	case newLimit:
		return c.setLimit(ch.draw)
	case onDelete:
		changed := ds.Spec.UpdateStrategy.Type != appsv1.OnDeleteDaemonSetStrategyType
		ds.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
		ds.Generation++
		return changed
	case rollingAgain:
		one, zero := intstr.FromInt32(int32(1+ch.draw%3)), intstr.FromInt32(0)
		ds.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{
			Type: appsv1.RollingUpdateDaemonSetStrategyType, RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &one, MaxSurge: &zero},
		}
		ds.Generation++
		return true
	case deletedPod:
		if len(c.now.Pods) == 0 {
			return false
		}
		c.delete(c.now.Pods[ch.draw%len(c.now.Pods)].Name)
		return true
	}
	return c.changeNodes(ch)
}

func withImage(t *corev1.PodTemplateSpec, image string) *corev1.PodTemplateSpec {
	t = t.DeepCopy()
	t.Spec.Containers[0].Image = image
	return t
}

// setTemplate changes the template as the API server does it, which also changes the template
// generation if the annotation contains a number.
func (c *cluster) setTemplate(t *corev1.PodTemplateSpec) bool {
	if t == nil {
		return false
	}
	ds := c.now.DaemonSet
	ds.Spec.Template = *t
	ds.Generation++
	if n, err := strconv.Atoi(ds.Annotations[appsv1.DeprecatedTemplateGeneration]); err == nil {
		ds.Annotations[appsv1.DeprecatedTemplateGeneration] = strconv.Itoa(n + 1)
	}
	return true
}

// earlierTemplate returns the template of an old revision, or nil.
func (c *cluster) earlierTemplate(draw int) *corev1.PodTemplateSpec {
	var found []*corev1.PodTemplateSpec
	for i := range c.now.Revisions {
		var data struct {
			Spec struct {
				Template corev1.PodTemplateSpec `json:"template"`
			} `json:"spec"`
		}
		if err := json.Unmarshal(c.now.Revisions[i].Data.Raw, &data); err != nil || len(data.Spec.Template.Spec.Containers) == 0 {
			continue
		}
		t := &data.Spec.Template
		if image := t.Spec.Containers[0].Image; image != brokenImage && image != c.now.DaemonSet.Spec.Template.Spec.Containers[0].Image {
			found = append(found, t)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return found[draw%len(found)]
}

// setLimit changes the limit of the rolling update in use.
func (c *cluster) setLimit(draw int) bool {
	ru := c.now.DaemonSet.Spec.UpdateStrategy.RollingUpdate
	if ru == nil {
		return false
	}
	limit := []intstr.IntOrString{
		intstr.FromInt32(1), intstr.FromInt32(2), intstr.FromInt32(5), intstr.FromString("10%"), intstr.FromString("50%"), intstr.FromString("100%"),
	}[draw%6]
	if ru.MaxSurge != nil && ru.MaxSurge.String() != "0" && ru.MaxSurge.String() != "0%" {
		ru.MaxSurge = &limit
	} else {
		ru.MaxUnavailable = &limit
	}
	c.now.DaemonSet.Generation++
	return true
}

// changeNodes changes the nodes.
func (c *cluster) changeNodes(ch change) bool {
	if len(c.now.Nodes) == 0 {
		return false
	}
	i := ch.draw % len(c.now.Nodes)
	n := &c.now.Nodes[i]
	taint := func(key string, effect corev1.TaintEffect) bool {
		if slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == key && t.Effect == effect }) {
			return false
		}
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Effect: effect})
		return true
	}
	switch ch.kind {
	case addedNode:
		added := n.DeepCopy()
		c.created++
		added.Name = fmt.Sprintf("added%d", c.created)
		added.CreationTimestamp = c.second()
		added.Labels = maps.Clone(n.Labels)
		if _, ok := added.Labels[corev1.LabelHostname]; ok {
			added.Labels[corev1.LabelHostname] = added.Name
		}
		c.now.Nodes = append(c.now.Nodes, *added)
	case removedNode:
		if len(c.now.Nodes) == 1 {
			return false
		}
		c.now.Nodes = slices.Delete(c.now.Nodes, i, i+1)
	case taintedNode:
		return taint("example.com/trouble", []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute}[ch.draw/16%2])
	case untaintedNode:
		for j := range c.now.Nodes {
			c.now.Nodes[j].Spec.Taints = nil
		}
	case relabelledNode:
		n.Labels = maps.Clone(n.Labels)
		if n.Labels == nil {
			n.Labels = map[string]string{}
		}
		n.Labels["example.com/pool"] = []string{"a", "b"}[ch.draw/16%2]
	case cordonedNode:
		n.Spec.Unschedulable = true
		return taint(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule)
	default:
		panic("no such change: " + string(ch.kind))
	}
	return true
}
