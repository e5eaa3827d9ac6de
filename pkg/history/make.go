package history

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/hide"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// Make returns the History of a DaemonSet. It does not depend on nodes, events
// and PodDisruptionBudgets, and has no Gap for them.
//
// Make returns an *Error if the options name a revision that does not exist or
// cannot be decoded.
func Make(st *daemonset.State, o Options) (*History, error) {
	g, err := newGiven(st, o.ShowValues)
	if err != nil {
		return nil, err
	}
	rows, ofPods := g.withPods(g.kept())
	next := st.Revisions()
	numbers := g.numbersOf(rows, next.Release)
	taken := numbers.renumberings()
	rows, renumbered := g.compared(rows, ofPods, taken)
	h := &History{
		Header: header(st), Revisions: rows, CurrentSince: numbers.currentSince(taken), Renumbered: renumbered,
		Limit: daemonset.HistoryLimit(st.DaemonSet), Next: next, Managers: managers(st.DaemonSet, g.s.TellsWrites()),
	}
	h.Uncut = g.uncutDiff(h)
	h.Notes = g.notes(h, numbers, taken)
	for i := range rows {
		rows[i].Notes = notesAbout(&rows[i], h.Notes)
	}
	h.Rollout = g.rollout(h)
	if o.Diff == nil {
		return h, nil
	}
	if h.Diff, err = g.diff(h, *o.Diff); err != nil {
		return nil, err
	}
	return h, nil
}

// FromRevision returns the difference from a revision to the live template, or
// nil if either cannot be decoded.
func FromRevision(st *daemonset.State, number int64) *Diff {
	g, err := newGiven(st, false)
	if err != nil {
		return nil
	}
	d, err := g.diff(&History{Header: header(st), Revisions: g.kept()},
		Between{From: &Which{Number: number}, To: &Which{Live: true}})
	if err != nil {
		return nil
	}
	return d
}

// given holds the inputs of all parts of a History. It is not modified.
type given struct {
	s       *snapshot.Snapshot
	st      *daemonset.State
	show    bool
	live    template.Content // with all values
	objects map[string]*appsv1.ControllerRevision
	stored  map[string]content // by the name of the revision
	owners  owners
}

// content is the template of a revision, with all values, or why it cannot be
// decoded. The keys of equal templates are equal.
type content struct {
	template.Content
	key, broken string
}

func newGiven(st *daemonset.State, show bool) (*given, error) {
	s := st.Snapshot
	live, err := template.Of(&s.DaemonSet.Spec.Template, false)
	if err != nil {
		return nil, err
	}
	g := &given{s: s, st: st, show: show, live: live.Plain(), objects: map[string]*appsv1.ControllerRevision{},
		stored: map[string]content{}, owners: ownersIn(s.DaemonSet)}
	for i := range s.Revisions {
		if r := &s.Revisions[i]; r.Namespace == s.DaemonSet.Namespace {
			g.objects[r.Name] = r
		}
	}
	for _, r := range st.History.Revisions {
		stored, err := template.Fitting(g.objects[r.Name].Data.Raw)
		if err != nil {
			g.stored[r.Name] = content{broken: err.Error()}
			continue
		}
		plain := stored.Plain()
		g.stored[r.Name] = content{Content: plain, key: plain.Key()}
	}
	return g, nil
}

// NotRead are the parts of the input that no History depends on.
var NotRead = []snapshot.What{snapshot.DaemonSetStatus, snapshot.Nodes, snapshot.NodeStatus,
	snapshot.NamespaceNodeSelector, snapshot.DefaultNodeSelector, snapshot.Events, snapshot.PodDisruptionBudgets}

// header returns the header without gaps and assumptions that do not affect a
// History.
func header(st *daemonset.State) daemonset.Header {
	h := daemonset.NewHeader(Kind, st)
	h.Snapshot.Gaps = slices.DeleteFunc(h.Snapshot.Gaps,
		func(g daemonset.Gap) bool { return slices.Contains(NotRead, g.What) })
	h.Assumptions = slices.DeleteFunc(h.Assumptions, func(a daemonset.Assumption) bool {
		return slices.Contains([]daemonset.AssumptionCode{daemonset.AssumeMayStay, daemonset.AssumeNodesReady,
			daemonset.AssumeEveryNodeSelected, daemonset.AssumeTolerationComparison}, a.Code)
	})
	return h
}

// kept returns the rows of the ControllerRevisions.
func (g *given) kept() []Revision {
	rows := []Revision{}
	for _, r := range g.st.History.Revisions {
		row := Revision{
			Revision: r.Number, Name: r.Name, Hash: r.Hash, Claim: r.Claim, ChangeCause: g.causeOf(r.Name),
			Current: slices.Contains(g.st.History.Current, r.Name), Images: imagesOf(g.stored[r.Name].Content),
			OnNodes: []string{}, Change: []FieldChange{}, Notes: []NoteCode{},
		}
		if created := r.Created.UTC(); !created.IsZero() {
			row.CreatedAt = &created
		}
		rows = append(rows, row)
	}
	return rows
}

// changeCause is the annotation that kubectl rollout history prints. The
// controller copies it from the DaemonSet when it creates a revision.
const changeCause = "kubernetes.io/change-cause"

// causeOf returns the change-cause, or template.Hidden if it is a command that
// sets variables and values are not shown.
func (g *given) causeOf(revision string) string {
	cause := g.objects[revision].Annotations[changeCause]
	if !g.show && hide.MayHoldValues(changeCause, cause) {
		return template.Hidden
	}
	return cause
}

// imagesOf returns the images of the containers in a template.
func imagesOf(c template.Content) []Image {
	out := []Image{}
	spec, _ := c["spec"].(map[string]any)
	for _, key := range []string{"containers", "initContainers"} {
		list, _ := spec[key].([]any)
		for _, member := range list {
			container, _ := member.(map[string]any)
			name, _ := container["name"].(string)
			image, _ := container["image"].(string)
			out = append(out, Image{name, image})
		}
	}
	return out
}

// ofPod returns a template that has only the images of a pod.
func ofPod(p *corev1.Pod) template.Content {
	spec := map[string]any{}
	for key, containers := range map[string][]corev1.Container{"containers": p.Spec.Containers,
		"initContainers": p.Spec.InitContainers} {
		var list []any
		for _, c := range containers {
			list = append(list, map[string]any{"name": c.Name, "image": c.Image})
		}
		if list != nil {
			spec[key] = list
		}
	}
	return template.Content{"spec": spec}
}

// withPods adds pods and nodes to the rows, and rows for pods whose hash has no
// revision, the newest first. It also returns, by hash, the template of such a
// row as far as its newest pod shows it.
func (g *given) withPods(rows []Revision) ([]Revision, map[string]template.Content) {
	ofPods := map[string]template.Content{}
	if !g.st.PodsListed {
		return rows, ofPods
	}
	byRevision, byHash := g.groups()
	for i, row := range rows {
		rows[i] = cmp.Or(byRevision[row.Name], &group{}).addTo(row)
	}
	for _, of := range slices.SortedFunc(maps.Values(byHash), func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.generation, a.generation),
			b.newest.CreationTimestamp.Compare(a.newest.CreationTimestamp.Time), strings.Compare(a.hash, b.hash))
	}) {
		ofPods[of.hash] = ofPod(of.newest)
		rows = append(rows, of.addTo(Revision{
			Hash: of.hash, Inferred: true, Images: imagesOf(ofPods[of.hash]), OnNodes: []string{}, Kind: ChangeUnknown,
			Change: []FieldChange{}, Notes: []NoteCode{},
			Current: g.st.History.Inferred != "" && of.hash == g.st.History.Hash,
		}))
	}
	if g.s.Lacks(snapshot.PodStatus) {
		for i := range rows {
			rows[i].Available = nil
		}
	}
	return rows, ofPods
}

// group is the pods of one row.
type group struct {
	hash            string
	nodes           []string // the nodes whose first pod is in the group
	available, pods int
	updated         int
	oldest, newest  *corev1.Pod
	generation      int64 // the highest template generation of its pods
}

// groups returns the pods by the name of their revision and, if they have none,
// by their hash. It includes pods that no rule counts, but not those that the
// next sync releases.
func (g *given) groups() (byRevision, byHash map[string]*group) {
	byRevision, byHash = map[string]*group{}, map[string]*group{}
	of := func(p *daemonset.Pod) *group {
		groups, key := byRevision, p.Revision
		if key == "" {
			groups, key = byHash, p.Hash
		}
		if groups[key] == nil {
			groups[key] = &group{hash: p.Hash, oldest: p.Object, newest: p.Object}
		}
		return groups[key]
	}
	for p := range g.pods() {
		of(p).add(p.Object)
	}
	for _, n := range g.st.Nodes {
		if len(n.Pods) > 0 {
			p := &n.Pods[0] // the pod that decides in the status
			in := of(p)
			in.nodes = append(in.nodes, n.Name)
			in.available += b2i(p.Available.OK)
			in.updated += b2i(p.Updated)
		}
	}
	return byRevision, byHash
}

// pods yields all pods that the next sync does not release, including those
// that no rule counts.
func (g *given) pods() iter.Seq[*daemonset.Pod] {
	return func(yield func(*daemonset.Pod) bool) {
		var lists [][]daemonset.Pod
		for _, n := range g.st.Nodes {
			lists = append(lists, n.Pods, n.Ignored)
		}
		for _, pods := range append(lists, g.st.Unmapped) {
			for i := range pods {
				if p := &pods[i]; p.Claim != daemonset.Release && !yield(p) {
					return
				}
			}
		}
	}
}

// generationLabel is the deprecated pod label for the template generation; it
// shows which of two hashes is newer.
const generationLabel = "pod-template-generation"

func (g *group) add(p *corev1.Pod) {
	g.pods++
	if p.CreationTimestamp.Before(&g.oldest.CreationTimestamp) {
		g.oldest = p
	}
	if g.newest.CreationTimestamp.Before(&p.CreationTimestamp) {
		g.newest = p
	}
	if n, err := strconv.ParseInt(p.Labels[generationLabel], 10, 64); err == nil {
		g.generation = max(g.generation, n)
	}
}

// addTo returns a copy of a row with the numbers of the group.
func (g *group) addTo(row Revision) Revision {
	nodes := len(g.nodes)
	row.Nodes, row.Updated, row.Pods, row.Available, row.OnNodes = &nodes, &g.updated, &g.pods, &g.available,
		append(row.OnNodes, g.nodes...)
	if g.pods > 0 {
		oldest, newest := g.oldest.CreationTimestamp.UTC(), g.newest.CreationTimestamp.UTC()
		row.OldestPodAt, row.NewestPodAt = &oldest, &newest
	}
	return row
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
