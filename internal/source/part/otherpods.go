package part

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// fewNodes is the maximum number of nodes whose pods are requested node by node. For more nodes,
// one paged list costs less.
const fewNodes = 10

// RecordedRows returns s with the rows recorded in from. If from is a Snapshot of another
// DaemonSet, the pods of that DaemonSet are among the rows.
func RecordedRows(s, from *snapshot.Snapshot, nodes []string) *snapshot.Snapshot {
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
		o = withPodsOf(o, from)
	}
	return s.Holding(o, gaps)
}

// onNodes returns the rows of the given nodes, as a Cluster would read them. Rows of other nodes
// must not influence an answer.
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

// withPodsOf returns o with the rows of the pods of s added. These rows name no PodDisruptionBudgets,
// because a Snapshot does not hold the status of the PodDisruptionBudgets that select them.
func withPodsOf(o *snapshot.OtherPods, s *snapshot.Snapshot) *snapshot.OtherPods {
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

// RowReader converts pods to rows, for one or several Snapshots.
type RowReader struct {
	Budgets   *snapshot.Budgets
	relations []object.Relation
	Released  bool              // the Snapshots include pods that their DaemonSets own but do not select
	own       []map[string]bool // for each Snapshot: keys of the rows that are its own pods
	words     map[string]string // strings shared by many rows
}

func NewRowReader(all []*snapshot.Snapshot) (*RowReader, error) {
	r := &RowReader{words: map[string]string{}}
	for _, s := range all {
		of, err := object.Relate(s.DaemonSet)
		if err != nil {
			return nil, err
		}
		r.relations, r.own = append(r.relations, of), append(r.own, map[string]bool{})
	}
	return r, nil
}

// Clone returns a reader with the same configuration for another goroutine. Merge adds its results.
func (r *RowReader) Clone() *RowReader {
	c := *r
	c.own, c.words = make([]map[string]bool, len(r.own)), map[string]string{}
	for i := range c.own {
		c.own[i] = map[string]bool{}
	}
	return &c
}

// Merge adds the results of o to r.
func (r *RowReader) Merge(o *RowReader) {
	for i := range o.own {
		maps.Copy(r.own[i], o.own[i])
	}
}

// Row returns the row of a pod. It returns false if the pod has no row or belongs to every
// Snapshot.
func (r *RowReader) Row(p *corev1.Pod) (snapshot.PodRow, bool) {
	row, ok := snapshot.RowOf(p)
	if !ok {
		return row, false
	}
	owners := 0
	for i, of := range r.relations {
		if p.Namespace == of.Ds.Namespace && of.Selector.Matches(labels.Set(p.Labels)) || r.Released && of.Takes(p) {
			r.own[i][RowKey(&row)] = true
			owners++
		}
	}
	if owners == len(r.relations) {
		return row, false
	}
	row.Namespace, row.Node = r.intern(row.Namespace), r.intern(row.Node)
	row.Budgets = r.Budgets.Of(row.Namespace, p.Labels)
	return row, true
}

func (r *RowReader) intern(word string) string {
	if known, ok := r.words[word]; ok {
		return known
	}
	r.words[word] = word
	return word
}

// Add returns the Snapshots, each with the rows of pods that are not its own and with the gaps.
func (r *RowReader) Add(all []*snapshot.Snapshot, nodes []string, rows []snapshot.PodRow,
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
				if !r.own[i][RowKey(&rows[j])] {
					others = append(others, rows[j])
				}
			}
		}
		out[i] = s.Holding(&snapshot.OtherPods{AllNodes: nodes == nil, Nodes: nodes, Pods: others,
			Budgets: r.Budgets.In(others)}, gaps)
	}
	return out
}

func RowKey(p *snapshot.PodRow) string { return p.Namespace + "/" + p.Name }

func sortRows(rows []snapshot.PodRow) {
	slices.SortFunc(rows, func(a, b snapshot.PodRow) int {
		if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
}

// Few returns the nodes, sorted and without duplicates. It returns nil, which stands for all nodes,
// if there are too many to request their pods node by node.
func Few(nodes []string) []string {
	nodes = slices.Clone(nodes)
	slices.Sort(nodes)
	if nodes = slices.Compact(nodes); len(nodes) > fewNodes {
		return nil
	}
	return nodes
}
