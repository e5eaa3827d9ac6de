package history

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// Make returns the History of a DaemonSet. It needs no nodes, events and
// PodDisruptionBudgets, and has no Gap for them.
//
// It fails with an Error where the options name a revision that is not there,
// or that cannot be read.
func Make(s *snapshot.Snapshot, st *daemonset.State, o Options) (*History, error) {
	live, err := template.Of(&s.DaemonSet.Spec.Template, false)
	if err != nil {
		return nil, err
	}
	b := &builder{
		s: s, st: st, show: o.ShowValues, live: live.Plain(), contents: map[string]template.Content{}, keys: map[string]string{},
		h: &History{
			Header: header(s, st), Limit: daemonset.HistoryLimit(s.DaemonSet), Next: st.Revisions(),
			Managers: managers(s.DaemonSet), Renumbered: []Renumbered{}, Notes: []Note{},
		},
	}
	b.revisions()
	b.pods()
	b.uncut()
	b.notes()
	b.rollout()
	if o.Diff != nil {
		if err := b.diff(*o.Diff); err != nil {
			return nil, err
		}
	}
	return b.h, nil
}

// builder fills a History, one part after the other.
type builder struct {
	s    *snapshot.Snapshot
	st   *daemonset.State
	show bool
	h    *History

	live     template.Content            // plain
	contents map[string]template.Content // plain, by the revision's name; nil for one that cannot be read
	keys     map[string]string           // equal where two contents are
	broken   map[string]string           // why a revision cannot be read, by its name
	ofPods   map[string]template.Content // what the newest pod of a hash tells, without revisions
	owners   owners

	numbers     map[int64]bool // that revisions have
	controllers []string       // by managed fields
}

// header leaves out what no revision and no count depends on.
func header(s *snapshot.Snapshot, st *daemonset.State) daemonset.Header {
	h := daemonset.NewHeader(Kind, s, st)
	h.Snapshot.Gaps = slices.DeleteFunc(h.Snapshot.Gaps, func(g daemonset.Gap) bool {
		return slices.Contains([]snapshot.What{snapshot.DaemonSetStatus, snapshot.Nodes, snapshot.NodeStatus, snapshot.Events, snapshot.PodDisruptionBudgets}, g.What)
	})
	h.Assumptions = slices.DeleteFunc(h.Assumptions, func(a daemonset.Assumption) bool {
		return a.Code == daemonset.AssumeMayStay || a.Code == daemonset.AssumeNodesReady || a.Code == daemonset.AssumeTolerationComparison
	})
	return h
}

// revisions makes the rows of the ControllerRevisions.
func (b *builder) revisions() {
	objects := map[string]*appsv1.ControllerRevision{}
	for i := range b.s.Revisions {
		if r := &b.s.Revisions[i]; r.Namespace == b.s.DaemonSet.Namespace {
			objects[r.Name] = r
		}
	}
	b.h.Revisions, b.broken = []Revision{}, map[string]string{}
	for _, r := range b.st.History.Revisions {
		object := objects[r.Name]
		row := Revision{
			Revision: r.Number, Name: r.Name, Hash: r.Hash, Claim: r.Claim, ChangeCause: b.causeOf(object),
			Current: slices.Contains(b.st.History.Current, r.Name), Images: []Image{}, OnNodes: []string{}, Change: []Change{}, Notes: []NoteCode{},
		}
		if !r.Created.IsZero() {
			created := r.Created.UTC()
			row.CreatedAt = &created
		}
		content, err := readable(object.Data.Raw)
		if err != nil {
			b.broken[r.Name] = err.Error()
		} else {
			content = content.Plain()
			b.contents[r.Name], b.keys[r.Name], row.Images = content, content.Key(), imagesOf(content)
		}
		b.h.Revisions = append(b.h.Revisions, row)
	}
}

// readable returns the template that a revision holds, if it is one of the API's.
func readable(data []byte) (template.Content, error) {
	content, err := template.Stored(data)
	if err != nil {
		return nil, err
	}
	var ds appsv1.DaemonSet
	if err := json.Unmarshal(data, &ds); err != nil {
		return nil, fmt.Errorf("data: %w", template.Misfit(err))
	}
	return content, nil
}

// changeCause is the annotation that kubectl rollout history prints. The
// controller copies it from the DaemonSet when it makes a revision.
const changeCause = "kubernetes.io/change-cause"

// causeOf returns the change-cause, unless it is a command that sets variables.
func (b *builder) causeOf(r *appsv1.ControllerRevision) string {
	cause := r.Annotations[changeCause]
	if !b.show && snapshot.MayHoldValues(changeCause, cause) {
		return template.Hidden
	}
	return cause
}

// imagesOf returns the images of a template's containers.
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

// pods counts the pods and nodes of each row, and adds rows for pods whose hash
// no revision has.
func (b *builder) pods() {
	if !b.st.PodsListed {
		return
	}
	rows := rowsByHash{of: map[string]*group{}}
	for i := range b.st.Nodes {
		n := &b.st.Nodes[i]
		for j := range n.Pods {
			g := rows.add(&n.Pods[j])
			if j == 0 { // the one that the status looks at
				g.nodes = append(g.nodes, n.Name)
				g.available += b2i(n.Pods[j].Available.OK)
				g.updated += b2i(n.Pods[j].Updated)
			}
		}
		rows.addIgnored(n.Ignored)
	}
	rows.addIgnored(b.st.Unmapped)
	for i := range b.h.Revisions {
		row := &b.h.Revisions[i]
		g := rows.of[revisionKey+row.Name]
		if g == nil {
			g = &group{}
		}
		g.fill(row)
	}
	b.ofPods = map[string]template.Content{}
	for _, g := range rows.without() {
		row := Revision{
			Hash: g.hash, Inferred: true, Images: podImages(g.newest), OnNodes: []string{}, Kind: ChangeUnknown, Change: []Change{}, Notes: []NoteCode{},
			Current: b.st.History.Inferred != "" && g.hash == b.st.History.Hash,
		}
		g.fill(&row)
		b.ofPods[g.hash] = ofPod(g.newest)
		b.h.Revisions = append(b.h.Revisions, row)
	}
	if b.s.Lacks(snapshot.PodStatus) {
		for i := range b.h.Revisions {
			b.h.Revisions[i].Available = nil
		}
	}
}

// revisionKey begins the key of pods that a revision's hash is on: a hash could
// be the name of a revision.
const revisionKey = "revision "

// group is the pods of a row.
type group struct {
	hash            string
	nodes           []string // whose first pod is of it
	available, pods int
	updated         int
	oldest, newest  *corev1.Pod
	generation      int64 // the highest template generation of its pods
}

func (g *group) fill(row *Revision) {
	nodes := len(g.nodes)
	row.Nodes, row.Updated, row.Pods, row.Available = &nodes, &g.updated, &g.pods, &g.available
	row.OnNodes = append(row.OnNodes, g.nodes...)
	if g.pods > 0 {
		oldest, newest := g.oldest.CreationTimestamp.UTC(), g.newest.CreationTimestamp.UTC()
		row.OldestPodAt, row.NewestPodAt = &oldest, &newest
	}
}

type rowsByHash struct{ of map[string]*group }

func (r rowsByHash) add(p *daemonset.Pod) *group {
	key := p.Hash
	if p.Revision != "" {
		key = revisionKey + p.Revision
	}
	g := r.of[key]
	if g == nil {
		g = &group{hash: p.Hash, oldest: p.Object, newest: p.Object}
		r.of[key] = g
	}
	g.pods++
	if p.Object.CreationTimestamp.Before(&g.oldest.CreationTimestamp) {
		g.oldest = p.Object
	}
	if g.newest.CreationTimestamp.Before(&p.Object.CreationTimestamp) {
		g.newest = p.Object
	}
	if n, err := strconv.ParseInt(p.Object.Labels[generationLabel], 10, 64); err == nil {
		g.generation = max(g.generation, n)
	}
	return g
}

// generationLabel is the deprecated label of pods that holds the template's
// generation; it tells which of two hashes is the newer one.
const generationLabel = "pod-template-generation"

// addIgnored adds pods that no rule counts, but for those that the DaemonSet
// lets go.
func (r rowsByHash) addIgnored(pods []daemonset.Pod) {
	for i := range pods {
		if pods[i].Claim != daemonset.Release {
			r.add(&pods[i])
		}
	}
}

// without returns the groups of pods whose hash no revision has, newest first.
func (r rowsByHash) without() []*group {
	var groups []*group
	for key, g := range r.of {
		if !strings.HasPrefix(key, revisionKey) {
			groups = append(groups, g)
		}
	}
	slices.SortFunc(groups, func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.generation, a.generation), b.newest.CreationTimestamp.Compare(a.newest.CreationTimestamp.Time), strings.Compare(a.hash, b.hash))
	})
	return groups
}

func podImages(p *corev1.Pod) []Image {
	out := []Image{}
	for _, list := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for _, c := range list {
			out = append(out, Image{c.Name, c.Image})
		}
	}
	return out
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
