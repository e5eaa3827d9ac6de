package source

import (
	"context"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// fewNodes is up to how many nodes are asked for their pods one by one. Of more, the
// pages of one list cost less.
const fewNodes = 10

// AddOtherPods returns the Snapshots, in their order, with their OtherPods: those
// that are not among the Snapshot's own Pods, on the nodes that are named, or on all
// where nodes is nil. They are read once for all Snapshots, and after them: a pod may
// have started since TakenAt.
//
// For up to ten nodes it asks for the pods of each, side by side, and once for all
// pods that wait for a node that is kept for them; for more it reads one list of the
// pods of all nodes. Pods that have ended are not asked for. Each page becomes rows
// before the next one is asked for. A list of all PodDisruptionBudgets comes first.
//
// What could not be read is a Gap: PodsOfOthers, and then OtherPods is nil, or
// BudgetsOfOthers, and then no row names one.
func (c *Cluster) AddOtherPods(ctx context.Context, all []*snapshot.Snapshot,
	nodes []string) ([]*snapshot.Snapshot, error) {
	ctx = silent(ctx)
	r, err := newRowReader(all)
	if err != nil {
		return nil, err
	}
	var gaps []snapshot.Gap
	var budgets []policyv1.PodDisruptionBudget
	if len(all) > 0 && (nodes == nil || len(nodes) > 0) {
		if budgets, gaps, err = listAs(ctx, c, snapshot.BudgetsOfOthers, metav1.ListOptions{},
			c.api.PodDisruptionBudgets(metav1.NamespaceAll).List, object.Whole, object.KeyOf, 0); err != nil {
			return nil, err
		}
	}
	r.budgets = snapshot.NewBudgets(budgets)
	nodes = few(nodes)
	rows, unread, err := c.rows(ctx, r, nodes)
	if err != nil {
		return nil, err
	}
	return r.add(all, nodes, rows, slices.Concat(gaps, unread)), nil
}

// rows reads the rows of the nodes, or of all where nodes is nil.
func (c *Cluster) rows(ctx context.Context, r *rowReader, nodes []string) ([]snapshot.PodRow, []snapshot.Gap, error) {
	counted := []fields.Selector{
		fields.OneTermNotEqualSelector("status.phase", string(corev1.PodSucceeded)),
		fields.OneTermNotEqualSelector("status.phase", string(corev1.PodFailed)),
	}
	read := func(ctx context.Context, r *rowReader, which ...fields.Selector) ([]snapshot.PodRow,
		[]snapshot.Gap, error) {
		o := metav1.ListOptions{FieldSelector: fields.AndSelectors(append(which, counted...)...).String()}
		return listAs(ctx, c, snapshot.PodsOfOthers, o,
			telling(c.told, snapshot.PodsOfOthers, 0, c.api.Pods(metav1.NamespaceAll).Kept), r.row, rowKey, 0)
	}
	if nodes == nil {
		return read(ctx, r)
	}
	if len(nodes) == 0 {
		return nil, nil, nil
	}
	lists, gaps, own := make([][]snapshot.PodRow, len(nodes)+1), make([][]snapshot.Gap, len(nodes)+1),
		make([]*rowReader, len(nodes)+1)
	g, ctx := newGroup(ctx)
	for i := range lists {
		which := []fields.Selector{fields.OneTermEqualSelector("spec.nodeName", "")}
		if i == 0 { // first: one that is bound meanwhile is in a later list as well, which counts
			which = append(which, fields.OneTermNotEqualSelector("status.nominatedNodeName", ""))
		} else {
			which[0] = fields.OneTermEqualSelector("spec.nodeName", nodes[i-1])
		}
		own[i] = r.again()
		g.Go(func() (err error) {
			lists[i], gaps[i], err = read(ctx, own[i], which...)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, nil, err
	}
	for _, o := range own {
		r.merge(o)
	}
	rows := slices.DeleteFunc(lastOfEach(slices.Concat(lists...), rowKey),
		func(p snapshot.PodRow) bool { return !slices.Contains(nodes, p.Node) })
	return rows, slices.Concat(gaps...), nil
}

// AddOtherPods does what Cluster.AddOtherPods does, with the pods that the input
// holds. It holds those of others where it has pods of two namespaces or more: one
// that was asked for in one namespace, as in "kubectl get pods -n kube-system", has
// no other. That somebody chose some of several namespaces cannot be told.
//
// Of a recorded Snapshot it gives back what was recorded; what was not is a Gap.
func (d *Dump) AddOtherPods(_ context.Context, all []*snapshot.Snapshot, nodes []string) ([]*snapshot.Snapshot, error) {
	nodes = few(nodes)
	out := make([]*snapshot.Snapshot, len(all))
	for i, s := range all {
		if from := d.recorded(s); from != nil {
			out[i] = recordedRows(s, from, nodes)
			continue
		}
		r, err := newRowReader(all[i : i+1])
		if err != nil {
			return nil, err
		}
		gaps := d.gapsOfOthers()
		if slices.ContainsFunc(gaps, func(g snapshot.Gap) bool { return g.What == snapshot.PodsOfOthers }) {
			out[i] = s.Holding(nil, gaps)
			continue
		}
		r.released = true
		r.budgets = snapshot.NewBudgets(d.budgets.items)
		var rows []snapshot.PodRow
		for j := range d.pods.items {
			if row, kept := r.row(&d.pods.items[j]); kept && (nodes == nil || slices.Contains(nodes, row.Node)) {
				rows = append(rows, row)
			}
		}
		out[i] = r.add(all[i:i+1], nodes, rows, gaps)[0]
	}
	return out, nil
}

// gapsOfOthers returns what the input lacks for a question about fit.
func (d *Dump) gapsOfOthers() (gaps []snapshot.Gap) {
	add := func(what snapshot.What, why snapshot.Why, message string) {
		gaps = append(gaps, snapshot.Gap{What: what, Why: why, Message: message})
	}
	if partial := d.partial("Pod"); partial != "" {
		add(snapshot.PodsOfOthers, snapshot.Partial, partial)
	} else if len(d.pods.in) < 2 {
		held := "no Pod"
		for namespace := range d.pods.in {
			held = "pods of namespace " + namespace + " only"
		}
		add(snapshot.PodsOfOthers, snapshot.NotGiven, "the input holds "+held)
	}
	if partial := d.partial("PodDisruptionBudget"); partial != "" {
		add(snapshot.BudgetsOfOthers, snapshot.Partial, partial)
	} else if d.kinds["PodDisruptionBudget"] == 0 && !d.lists["PodDisruptionBudget"] {
		add(snapshot.BudgetsOfOthers, snapshot.NotGiven, "the input holds no PodDisruptionBudget")
	}
	return gaps
}

// recorded returns the recorded Snapshot that one was read from: its own or, of a
// DaemonSet that the input does not have, that whose nodes it has. It returns nil for
// a plain dump.
func (d *Dump) recorded(s *snapshot.Snapshot) *snapshot.Snapshot {
	ref := Ref{s.DaemonSet.Namespace, s.DaemonSet.Name}
	if from := d.snapshots[ref]; from != nil {
		return from
	}
	if _, plain := d.daemonSets.at[ref.Namespace+"/"+ref.Name]; plain || len(d.nodes.items) > 0 {
		return nil
	}
	return d.last()
}

// recordedRows returns a Snapshot with the rows that were recorded. Of a DaemonSet that
// is new to the cluster, the pods of the recorded one are others.
func recordedRows(s, from *snapshot.Snapshot, nodes []string) *snapshot.Snapshot {
	o := from.OtherPods
	gaps := slices.Clone(from.Gaps)
	lacks := func(message string) {
		gaps = append(gaps, snapshot.Gap{What: snapshot.PodsOfOthers, Why: snapshot.NotGiven, Message: message})
	}
	switch {
	case o == nil && from.Gap(snapshot.PodsOfOthers) == nil:
		lacks("the snapshot was recorded without them")
	case o == nil:
	case nodes == nil && !o.AllNodes, slices.ContainsFunc(nodes, func(n string) bool { return !o.Of(n) }):
		lacks("the snapshot was recorded with those of some nodes only")
	case nodes != nil:
		o = onNodes(o, nodes)
	}
	if o != nil && (from.DaemonSet.Name != s.DaemonSet.Name || from.DaemonSet.Namespace != s.DaemonSet.Namespace) {
		o = with(o, from)
	}
	return s.Holding(o, gaps)
}

// onNodes returns the rows of some nodes, as a Cluster gives them: what an answer has not
// asked for does not change it.
func onNodes(o *snapshot.OtherPods, nodes []string) *snapshot.OtherPods {
	c := &snapshot.OtherPods{Nodes: nodes}
	selecting := map[[2]string]bool{}
	for _, p := range o.Pods {
		if !slices.Contains(nodes, p.Node) {
			continue
		}
		c.Pods = append(c.Pods, p)
		for _, b := range p.Budgets {
			selecting[[2]string{p.Namespace, b}] = true
		}
	}
	for _, b := range o.Budgets {
		if selecting[[2]string{b.Namespace, b.Name}] {
			c.Budgets = append(c.Budgets, b)
		}
	}
	return c
}

// with returns rows with those of the Snapshot's own pods. Which PodDisruptionBudgets
// select these is not among them: of those no Snapshot has the status.
func with(o *snapshot.OtherPods, s *snapshot.Snapshot) *snapshot.OtherPods {
	c := *o
	c.Pods = slices.Clone(o.Pods)
	for i := range s.Pods {
		if row, ok := snapshot.RowOf(&s.Pods[i]); ok && o.Of(row.Node) {
			c.Pods = append(c.Pods, row)
		}
	}
	sortRows(c.Pods)
	return &c
}

// rowReader makes rows of pods, for one Snapshot or several.
type rowReader struct {
	budgets  *snapshot.Budgets
	of       []object.Relation
	released bool              // the Snapshots hold the pods, too, that their DaemonSets own and do not select
	own      []map[string]bool // by Snapshot, of several: the rows that are its own pods
	words    map[string]string // that many rows have in common, each once
}

func newRowReader(all []*snapshot.Snapshot) (*rowReader, error) {
	r := &rowReader{words: map[string]string{}}
	for _, s := range all {
		of, err := object.Relate(s.DaemonSet)
		if err != nil {
			return nil, err
		}
		r.of, r.own = append(r.of, of), append(r.own, map[string]bool{})
	}
	return r, nil
}

// again returns a reader of the same rows for another goroutine.
func (r *rowReader) again() *rowReader {
	c := *r
	c.own, c.words = make([]map[string]bool, len(r.own)), map[string]string{}
	for i := range c.own {
		c.own[i] = map[string]bool{}
	}
	return &c
}

// merge notes what another reader noted.
func (r *rowReader) merge(o *rowReader) {
	for i := range o.own {
		maps.Copy(r.own[i], o.own[i])
	}
}

// row returns the row of a pod, and whether it is one that any Snapshot holds.
func (r *rowReader) row(p *corev1.Pod) (snapshot.PodRow, bool) {
	row, ok := snapshot.RowOf(p)
	if !ok {
		return row, false
	}
	owners := 0
	for i, of := range r.of {
		if p.Namespace == of.Ds.Namespace && of.Selector.Matches(labels.Set(p.Labels)) || r.released && of.Takes(p) {
			r.own[i][rowKey(&row)] = true
			owners++
		}
	}
	if owners == len(r.of) {
		return row, false
	}
	row.Namespace, row.Node = r.once(row.Namespace), r.once(row.Node)
	row.Budgets = r.budgets.Of(row.Namespace, p.Labels)
	return row, true
}

func (r *rowReader) once(word string) string {
	if known, ok := r.words[word]; ok {
		return known
	}
	r.words[word] = word
	return word
}

// add returns the Snapshots with the rows that are not their own pods, and with the gaps.
func (r *rowReader) add(all []*snapshot.Snapshot, nodes []string, rows []snapshot.PodRow,
	gaps []snapshot.Gap) []*snapshot.Snapshot {
	sortRows(rows)
	gaps = object.Ordered(gaps)
	unread := slices.ContainsFunc(gaps, func(g snapshot.Gap) bool {
		return g.What == snapshot.PodsOfOthers &&
			g.Why != snapshot.Moved
	})
	out := make([]*snapshot.Snapshot, len(all))
	for i, s := range all {
		if unread {
			out[i] = s.Holding(nil, gaps)
			continue
		}
		others := rows
		if len(all) > 1 {
			others = nil
			for j := range rows {
				if !r.own[i][rowKey(&rows[j])] {
					others = append(others, rows[j])
				}
			}
		}
		out[i] = s.Holding(&snapshot.OtherPods{AllNodes: nodes == nil, Nodes: nodes, Pods: others,
			Budgets: r.budgets.In(others)}, gaps)
	}
	return out
}

func rowKey(p *snapshot.PodRow) string { return p.Namespace + "/" + p.Name }

func sortRows(rows []snapshot.PodRow) {
	slices.SortFunc(rows, func(a, b snapshot.PodRow) int {
		if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
}

// few returns the nodes, sorted, each once, or nil for all where they are too many to
// be asked for one by one.
func few(nodes []string) []string {
	nodes = slices.Clone(nodes)
	slices.Sort(nodes)
	if nodes = slices.Compact(nodes); len(nodes) > fewNodes {
		return nil
	}
	return nodes
}
