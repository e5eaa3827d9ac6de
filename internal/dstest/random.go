package dstest

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Newest is the Kubernetes version of the states that Random returns.
const Newest = "v1.37.1"

// Random returns a random state of version Newest; see RandomFor. The same seed always gives the
// same state.
func Random(seed int64) *snapshot.Snapshot { return RandomFor(seed, Newest) }

// RandomFor returns a random state for a Kubernetes version such as "v1.30.4". It uses only fields
// that the API of that version has. The same arguments always give the same state.
//
// In most states every node has the right pods, so that the controller reaches the rolling update
// with part of the budget in use. In others it must create and delete pods first. A few states have
// hundreds of nodes, and a few are invalid: a budget that the API rejects, or tolerations of a
// later version.
func RandomFor(seed int64, version string) *snapshot.Snapshot {
	minor, patch := parseVersion(version)
	g := &generator{
		Rand:      rand.New(rand.NewPCG(uint64(seed), 0x6b7562656374646c^uint64(minor)<<32^uint64(patch))),
		nullTime:  !atLeast(version, 34),
		surges:    atLeast(version, 21),
		defaulted: !atLeast(version, 21),
		lenient:   !atLeast(version, 20),
	}
	g.properties()
	g.s = newSnapshot(newDaemonSet(), version)
	if g.chance(10) {
		g.s.TakenAt = g.s.TakenAt.Add(300 * time.Millisecond)
	}
	g.daemonSet()
	g.revisions()
	g.nodes()
	g.pods()
	g.fitBudget()
	g.Shuffle(len(g.s.Pods), func(i, j int) { g.s.Pods[i], g.s.Pods[j] = g.s.Pods[j], g.s.Pods[i] })
	if g.chance(10) {
		one := intstr.FromInt32(1)
		g.s.PodDisruptionBudgets = []policyv1.PodDisruptionBudget{{
			ObjectMeta: metav1.ObjectMeta{Namespace: g.s.DaemonSet.Namespace, Name: "budget"},
			Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &one, Selector: g.s.DaemonSet.Spec.Selector},
		}}
	}
	return g.s
}

func atLeast(version string, minor int) bool {
	n, _ := parseVersion(version)
	return n >= minor
}

// parseVersion returns the minor and patch numbers of a version such as "v1.30.4" or
// "v1.30.4-gke.12". A missing patch number is 0.
func parseVersion(version string) (minor, patch int) {
	release, _, _ := strings.Cut(version, "-")
	parts := strings.Split(release, ".")
	if len(parts) < 2 {
		panic(fmt.Sprintf("%q is not a Kubernetes version such as %s", version, Newest))
	}
	minor, err := strconv.Atoi(parts[1])
	if err == nil && len(parts) > 2 {
		patch, err = strconv.Atoi(parts[2])
	}
	if err != nil {
		panic(fmt.Sprintf("%q is not a Kubernetes version such as %s", version, Newest))
	}
	return minor, patch
}

// role is the intended role of a node for the DaemonSet. Random placement may change it.
type role int

const (
	eligible   role = iota
	tainted         // should not run the pod, but may keep it
	ineligible      // should not run the pod and may not keep it
	vanished        // does not exist
)

type generator struct {
	*rand.Rand
	s         *snapshot.Snapshot
	nullTime  bool // the controller stores "creationTimestamp": null
	surges    bool // the API has maxSurge
	defaulted bool // a rollingUpdate block is required
	lenient   bool // percentages may lack the percent sign
	surge     bool // this state uses maxSurge
	fixed     bool // the budget must not be redrawn
	usesPool  bool
	levels    bool // a toleration compares the taint "level"

	// Properties of the whole state. Numbers are percentages.
	crowd      bool // hundreds of nodes
	progress   int  // pods that are new
	health     int  // pods that are ready
	disorder   int  // nodes with arbitrary pods
	emptiness  int  // nodes without pods
	strictness int  // tainted nodes
	unplaced   int  // never bound, of the pods of vanished nodes
	misplaced  bool // old pods on nodes that should not run them, and some nodes that lack a ready pod

	roles     map[string]role
	order     []string // keys of roles
	hashes    []string // hashes of updated pods
	oldHashes []string
	podNumber int
	down      int // approximate number of unavailable nodes
	doubled   int // approximate number of surged nodes
}

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func pick[T any](g *generator, of ...T) T { return of[g.IntN(len(of))] }

// properties draws the properties of the whole state.
func (g *generator) properties() {
	g.progress, g.health = pick(g, 0, 20, 50, 50, 80, 100), pick(g, 40, 80, 90, 100, 100)
	g.strictness = 8
	g.surge = g.chance(40) && g.surges
	switch {
	case g.chance(25):
		g.disorder = pick(g, 20, 50, 100)
	case g.surge && g.chance(25):
		g.misplaced, g.strictness, g.health, g.progress = true, 45, 100, pick(g, 0, 0, 30, 60)
	}
	if !g.chance(5) {
		return
	}
	g.crowd, g.disorder = true, 0
	switch g.IntN(7) {
	case 0:
		g.emptiness = 97
	case 1, 6:
		g.strictness, g.health, g.progress = 0, 3, 3
	case 2:
		g.strictness, g.health, g.progress = 0, 100, 3
	case 3:
		g.disorder = 100
	case 4:
		g.strictness, g.health, g.progress = 95, 100, 3
	case 5:
		g.unplaced, g.disorder = 95, pick(g, 5, 50)
	}
}

// daemonSet draws the strategy and the template.
func (g *generator) daemonSet() {
	ds := g.s.DaemonSet
	g.strategy()
	if g.chance(40) {
		ds.Spec.MinReadySeconds = pick(g, int32(1), 10, 30, 3600)
	}
	limit := pick(g, int32(0), 1, 2, 3, 10)
	ds.Spec.RevisionHistoryLimit = &limit
	if g.chance(10) {
		ds.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{Name, "agent2"}},
			{Key: "not-mine", Operator: metav1.LabelSelectorOpDoesNotExist},
		}}
	}
	switch {
	case g.chance(12):
		ds.Annotations = nil
	case g.chance(3):
		ds.Annotations[appsv1.DeprecatedTemplateGeneration] = pick(g, "two", "02", "2.0", "")
	}
	if g.chance(20) {
		ds.Generation = 3
		ds.Status.ObservedGeneration = pick(g, int64(2), 3)
	}
	if g.chance(10) {
		n := int32(1)
		ds.Status.CollisionCount = &n
	}
	if g.chance(50) { // an earlier version of it
		ds.Status.DesiredNumberScheduled, ds.Status.CurrentNumberScheduled = g.Int32N(13), g.Int32N(13)
		ds.Status.NumberAvailable, ds.Status.UpdatedNumberScheduled = g.Int32N(13), g.Int32N(13)
	}
	if g.chance(3) {
		now := ago(time.Second)
		ds.DeletionTimestamp, ds.Finalizers = &now, []string{metav1.FinalizerDeleteDependents}
	}
	g.placement(&ds.Spec.Template.Spec)
	if g.crowd && g.chance(8) { // hundreds of pods to delete
		ds.Spec.Template.Spec.NodeName = "n0"
	}
	g.content(&ds.Spec.Template)
}

func (g *generator) strategy() {
	u := &g.s.DaemonSet.Spec.UpdateStrategy
	zero := func() *intstr.IntOrString {
		v := pick(g, intstr.FromInt32(0), intstr.FromString("0%"))
		return &v
	}
	switch {
	case g.chance(6):
		g.surge = false
		*u = appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
	case g.chance(2) && !g.defaulted:
		g.surge = false
		u.RollingUpdate = nil // as in a file that the API has not defaulted
	case g.surge:
		u.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxSurge: g.limit(0), MaxUnavailable: zero()}
	default:
		u.RollingUpdate.MaxUnavailable = g.limit(0)
		if g.chance(10) {
			u.RollingUpdate.MaxSurge = nil // written before maxSurge existed
		}
	}
	ru := u.RollingUpdate
	if ru == nil {
		return
	}
	if !g.surges {
		ru.MaxSurge = nil
	}
	switch {
	case g.chance(4):
		g.fixed, g.surge, ru.MaxUnavailable = true, false, zero()
		if ru.MaxSurge != nil {
			ru.MaxSurge = zero()
		}
	case g.chance(4):
		g.fixed = true
		g.invalidate(ru)
	}
}

// invalidate makes the budget invalid, as in a file that the API has not validated.
func (g *generator) invalidate(ru *appsv1.RollingUpdateDaemonSet) {
	no := pick(g, intstr.FromString("some"), intstr.FromString("3"), intstr.FromString("x%"))
	if g.lenient {
		no = intstr.FromString("some")
	}
	switch {
	case ru.MaxSurge != nil && g.chance(40):
		ru.MaxSurge = &no
	case g.chance(50):
		ru.MaxUnavailable = nil
	default:
		ru.MaxUnavailable = &no
	}
}

// limit returns a limit of at least 1 or 1%, which is often slightly above used.
func (g *generator) limit(used int) *intstr.IntOrString {
	v := intstr.FromInt(1 + pick(g, 0, used, used, used) + pick(g, 0, 0, 0, 1, 1, 2, 3, 20))
	switch {
	case g.chance(30):
		v = intstr.FromString(fmt.Sprintf("%d%%", max(1, pick(g, 1, 5, 10, 25, 34, 50, 99, 100, g.IntN(101)))))
	case g.crowd:
		v = pick(g, intstr.FromString("100%"), intstr.FromInt32(260), intstr.FromInt32(30))
	}
	return &v
}

// fitBudget redraws the limit of most states, so that the budget is partly used.
func (g *generator) fitBudget() {
	ru := g.s.DaemonSet.Spec.UpdateStrategy.RollingUpdate
	switch {
	case ru == nil || g.fixed || g.chance(30):
	case g.surge:
		ru.MaxSurge = g.limit(g.doubled)
	default:
		ru.MaxUnavailable = g.limit(g.down)
	}
}

// content draws template content that encoders write differently: unusual numbers and characters.
func (g *generator) content(t *corev1.PodTemplateSpec) {
	if g.chance(10) {
		t.Spec.Containers[0].Args = []string{"--from=<a>&b", "\u2028 \"é\""}
	}
	if g.chance(5) {
		id := pick(g, int64(1000), 1<<53+1, 1<<62+1)
		t.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: &id}
	}
	if g.chance(3) {
		t.CreationTimestamp = ago(900 * time.Hour)
	}
	if g.chance(10) {
		t.Annotations = map[string]string{"example.com/restarted": "2026-03-01T11:00:00Z"}
	}
}

// revisions draws the ControllerRevisions and the hashes that pods can have.
func (g *generator) revisions() {
	t := &g.s.DaemonSet.Spec.Template
	add := func(r appsv1.ControllerRevision) *appsv1.ControllerRevision {
		g.s.Revisions = append(g.s.Revisions, r)
		return &g.s.Revisions[len(g.s.Revisions)-1]
	}
	newest := int64(0)
	for i := range g.IntN(5) {
		hash := OldHash
		if i > 0 {
			hash += strconv.Itoa(i)
		}
		newest = int64(i + 1)
		g.oldHashes = append(g.oldHashes, hash)
		g.revisionOddity(add(newRevision(hash, newest, withImage(t, "example/agent:old"+hash), g.nullTime)))
	}
	if len(g.oldHashes) == 0 {
		g.oldHashes = []string{OldHash}
	}
	g.hashes = []string{NewHash}
	current := func(hash string, number int64) *appsv1.ControllerRevision {
		return add(newRevision(hash, number, t, g.nullTime))
	}
	switch {
	case g.chance(75):
		current(NewHash, newest+1)
	case g.chance(25): // none matches
		if g.chance(50) {
			add(newRevision("form", newest+1, t, !g.nullTime)) // as a controller of another version stored it
			g.hashes = append(g.hashes, "form")
		}
	case g.chance(30): // a rollback
		current(NewHash, g.Int64N(newest+1))
	case g.chance(50): // duplicates
		current(NewHash, newest+1)
		current("twin", newest+1-g.Int64N(min(2, newest+1)))
		g.hashes = append(g.hashes, "twin")
		if g.chance(30) {
			current("triplet", g.Int64N(newest+2))
		}
	case g.chance(50):
		g.revisionOddity(current(NewHash, newest+1))
	default: // the label of the current revision
		r := current(NewHash, newest+1)
		if g.chance(50) {
			delete(r.Labels, hashLabel)
			g.hashes = []string{r.Name}
		} else {
			r.Labels[hashLabel] = ""
			g.hashes = []string{NewHash, ""}
		}
	}
}

// revisionOddity turns one in five revisions into something other than an owned revision.
func (g *generator) revisionOddity(r *appsv1.ControllerRevision) {
	if !g.chance(20) {
		return
	}
	switch g.IntN(8) {
	case 0:
		r.OwnerReferences = nil
	case 1:
		r.OwnerReferences = nil
		r.DeletionTimestamp, r.Finalizers = &metav1.Time{Time: Now.Add(-time.Minute)}, []string{"example.com/hold"}
	case 2:
		r.OwnerReferences[0].UID = "another"
	case 3:
		r.Labels["app"] = "other"
	case 4:
		r.DeletionTimestamp, r.Finalizers = &metav1.Time{Time: Now.Add(-time.Minute)}, []string{"example.com/hold"}
	case 5:
		delete(r.Labels, hashLabel)
	case 6:
		r.Labels[hashLabel] = ""
	case 7:
		r.Revision += g.Int64N(3)
	}
}

// nodes draws the nodes and their roles.
func (g *generator) nodes() {
	count := 1 + g.IntN(12)
	if g.crowd {
		count = 300 + g.IntN(100) + 2*g.disorder
	}
	g.roles = map[string]role{}
	add := func(name string, f role) {
		g.roles[name] = f
		g.order = append(g.order, name)
	}
	for i := range count {
		f := eligible
		switch {
		case g.chance(g.strictness):
			f = tainted
		case g.chance(6):
			f = ineligible
		}
		n := newNode(fmt.Sprintf("n%d", i))
		g.place(&n, f)
		g.s.Nodes = append(g.s.Nodes, n)
		add(n.Name, f)
	}
	gone := 0
	switch {
	case g.unplaced > 0:
		gone = 200 + g.IntN(200)
	case g.surge && g.chance(15), !g.surge && g.chance(20):
		gone = 1 + g.IntN(2)
	}
	for i := range gone {
		add(fmt.Sprintf("gone%d", i), vanished)
	}
}

// pods draws the pods of all nodes, and some without a node.
func (g *generator) pods() {
	for _, node := range g.order {
		first := len(g.s.Pods)
		switch {
		case g.chance(g.emptiness):
		case g.chance(g.disorder):
			for range g.IntN(4) {
				g.anyPod(node)
			}
		default:
			g.calmPods(node, g.roles[node])
		}
		g.survey(g.s.Pods[first:])
	}
	if g.chance(10) {
		g.strangers()
	}
}

// survey estimates how the pods of a node count for the budget.
func (g *generator) survey(pods []corev1.Pod) {
	ready := 0
	for i := range pods {
		for _, c := range pods[i].Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue && pods[i].DeletionTimestamp == nil {
				ready++
			}
		}
	}
	switch {
	case len(pods) > 0 && ready == 0:
		g.down++
	case len(pods) > ready:
		g.doubled++
	}
}

// calmPods adds pods to a node that the controller leaves as they are before the rolling update.
func (g *generator) calmPods(node string, f role) {
	if g.chance(4) { // ended, and held by a finalizer
		p := g.pod(node)
		p.Status.Phase = pick(g, corev1.PodFailed, corev1.PodSucceeded)
		g.terminate(p)
	}
	switch {
	case f == eligible && !g.surge && g.chance(6):
		g.terminate(g.pod(node))
		return
	case f == ineligible:
		if g.chance(20) {
			g.terminate(g.pod(node))
		}
		return
	case f == tainted && g.strictness < 20 && g.chance(40):
		return
	case f == vanished:
		g.abandoned(node)
		return
	}
	if g.surge && g.chance(20) { // an old and a new pod
		g.label(g.pod(node), false)
		g.ready(&g.s.Pods[len(g.s.Pods)-1], corev1.ConditionTrue)
		second := g.pod(node)
		g.label(second, true)
		if !g.chance(20) {
			g.ready(second, corev1.ConditionFalse)
		}
		return
	}
	p := g.pod(node)
	if g.misplaced && f == eligible && g.chance(35) {
		g.label(p, true)
		g.ready(p, corev1.ConditionFalse)
	}
	if g.chance(5) {
		g.unbind(p)
	}
	if g.chance(3) {
		p.OwnerReferences = nil
	}
	if g.chance(5) {
		g.terminate(g.pod(node))
	}
}

// abandoned adds pods that remain on a vanished node.
func (g *generator) abandoned(node string) {
	p := g.pod(node)
	switch {
	case g.chance(g.unplaced):
		g.unbind(p)
	case g.chance(50):
		g.terminate(p)
	}
	if g.chance(30) {
		p.Status.Phase = pick(g, corev1.PodFailed, corev1.PodSucceeded)
	}
	switch {
	case g.chance(20): // an old and a new pod
		g.label(p, false)
		p.DeletionTimestamp, p.Finalizers = nil, nil
		second := g.pod(node)
		g.label(second, true)
	case g.chance(30):
		g.pod(node)
	}
}

// pod adds a running pod to a node, with a revision and readiness according to the properties of
// the state.
func (g *generator) pod(node string) *corev1.Pod {
	g.podNumber++
	p := newPod(fmt.Sprintf("p%d", g.podNumber), node, "", "")
	p.CreationTimestamp = ago(pick(g, 100*time.Hour, 50*time.Hour, time.Hour, time.Minute))
	g.s.Pods = append(g.s.Pods, p)
	added := &g.s.Pods[len(g.s.Pods)-1]
	g.label(added, g.chance(g.progress))
	status := corev1.ConditionTrue
	if !g.chance(g.health) {
		status = pick(g, corev1.ConditionFalse, corev1.ConditionFalse, corev1.ConditionUnknown)
	}
	g.ready(added, status)
	return added
}

// label makes a pod new or old: usually both by hash and by generation, sometimes by only one of
// them.
func (g *generator) label(p *corev1.Pod, isNew bool) {
	set := func(key, value string) {
		delete(p.Labels, key)
		if value != "" || g.chance(50) {
			p.Labels[key] = value
		}
	}
	hash, generation := pick(g, g.oldHashes...), OldGeneration
	if isNew {
		hash, generation = pick(g, g.hashes...), NewGeneration
	}
	if g.chance(8) {
		generation = pick(g, "", OldGeneration, NewGeneration, "02")
	}
	if g.chance(8) {
		hash = pick(g, "", "unknown", NewHash, pick(g, g.hashes...), pick(g, g.oldHashes...))
	}
	set(hashLabel, hash)
	set(generationLabel, generation)
}

// ready sets the Ready condition, with a transition time for which minReadySeconds matters.
func (g *generator) ready(p *corev1.Pod, status corev1.ConditionStatus) {
	wait := time.Duration(g.s.DaemonSet.Spec.MinReadySeconds) * time.Second
	since := ago(99 * time.Hour)
	if wait > 0 && g.chance(40) || g.chance(5) {
		since = pick(g,
			ago(wait), ago(wait-time.Second), ago(wait+time.Second),
			ago(0), ago((wait / 2).Truncate(time.Second)), ago(-time.Minute), metav1.Time{},
		)
	}
	p.Status.Conditions = readyCondition(status, since)
	if status != corev1.ConditionTrue && g.chance(20) {
		p.Status.Conditions = p.Status.Conditions[:1]
	}
}

func (g *generator) terminate(p *corev1.Pod) {
	grace := int64(30)
	at := ago(pick(g, time.Hour, time.Second, -20*time.Second))
	p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &at, &grace
	if g.chance(50) || isDone(p) {
		p.Finalizers = []string{"example.com/hold"}
	}
}

func isDone(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded
}

// unbind turns a pod into one that has not been scheduled.
func (g *generator) unbind(p *corev1.Pod) {
	p.Spec.NodeName = ""
	p.Status.Phase = corev1.PodPending
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse}}
	if g.chance(15) { // another term before the one that names the node
		required := p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		other := targeting("elsewhere")
		field := &other.MatchFields[0]
		switch g.IntN(6) {
		case 0, 1:
			field.Operator = corev1.NodeSelectorOpNotIn
		case 2:
			field.Key = "metadata.namespace"
		case 3:
			other = corev1.NodeSelectorTerm{}
		case 4:
			other = corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{"n0"}}}}
		case 5: // names two nodes, which counts as none
			field.Values = []string{"n0", "n1"}
		}
		required.NodeSelectorTerms = append([]corev1.NodeSelectorTerm{other}, required.NodeSelectorTerms...)
	}
}

// anyPod adds a pod to a node in an arbitrary state.
func (g *generator) anyPod(node string) {
	p := g.pod(node)
	switch g.IntN(10) {
	case 0, 1:
		g.unbind(p)
	case 2, 3:
		p.Status.Phase = corev1.PodFailed
	case 4:
		p.Status.Phase = corev1.PodSucceeded
	case 5:
		p.Status.Phase = pick(g, corev1.PodPending, corev1.PodUnknown)
	}
	if isDone(p) && g.chance(80) {
		g.ready(p, corev1.ConditionFalse)
	}
	if g.chance(20) {
		g.terminate(p)
	}
	g.disown(p, 12)
}

// disown changes, with a probability of percent, the owner or the labels of a pod.
func (g *generator) disown(p *corev1.Pod, percent int) {
	if !g.chance(percent) {
		return
	}
	switch g.IntN(5) {
	case 0, 1:
		p.OwnerReferences = nil
	case 2:
		p.OwnerReferences = []metav1.OwnerReference{ownerOf("ReplicaSet", "web", "another")}
	case 3:
		// A DaemonSet of the same name that was deleted.
		p.OwnerReferences = []metav1.OwnerReference{ownerOf("DaemonSet", Name, types.UID("before"))}
	case 4:
		p.Labels["app"] = "other"
	}
}

// strangers adds pods that have no target node or do not belong to the DaemonSet.
func (g *generator) strangers() {
	for range 1 + g.IntN(3) {
		p := g.pod("nowhere")
		g.unbind(p)
		switch g.IntN(5) {
		case 0:
			p.Spec.Affinity = pick(g, nil, &corev1.Affinity{}, &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}, nodeAffinity())
		case 1:
			p.Spec.Affinity = nodeAffinity(targeting("n0", "n1"))
		case 2:
			p.Spec.Affinity = nodeAffinity(corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{"n0"}},
			}})
		case 3:
			p.Spec.NodeName, p.Spec.Affinity = "n0", nil
			p.Labels = map[string]string{"app": "other"}
			p.OwnerReferences = nil
		case 4: // preferred, not required
			p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
				PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 1, Preference: targeting("n0")}},
			}}
		}
		g.disown(p, 40)
		if g.chance(20) {
			g.terminate(p)
		}
	}
}
