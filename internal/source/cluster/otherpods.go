package cluster

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/api"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/internal/source/part"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// AddOtherPods returns the Snapshots, in the given order, with their OtherPods: the pods on the
// given nodes, or on all nodes if nodes is nil, that are not among the Snapshot's own Pods. They
// are read once for all Snapshots. They may have started after TakenAt.
//
// For up to ten nodes it lists the pods of each node, concurrently, and the pods that have a
// nominated node. For more nodes it lists the pods of all nodes. Pods that have ended are not
// requested. Each page is converted to rows before the next one is read. PodDisruptionBudgets are
// listed first.
//
// If pods cannot be read, there is a Gap PodsOfOthers, and OtherPods is nil. If
// PodDisruptionBudgets cannot be read, there is a Gap BudgetsOfOthers, and no row names one.
func (c *Cluster) AddOtherPods(ctx context.Context, all []*snapshot.Snapshot,
	nodes []string) ([]*snapshot.Snapshot, error) {
	ctx = withoutLogs(ctx)
	r, err := part.NewRowReader(all)
	if err != nil {
		return nil, err
	}
	var gaps []snapshot.Gap
	var budgets []policyv1.PodDisruptionBudget
	if len(all) > 0 && (nodes == nil || len(nodes) > 0) {
		if budgets, gaps, err = listAs(ctx, c, snapshot.BudgetsOfOthers, metav1.ListOptions{},
			api.Of[policyv1.PodDisruptionBudget](c.Clients, metav1.NamespaceAll).List, object.Whole, object.KeyOf,
			0); err != nil {
			return nil, err
		}
	}
	r.Budgets = snapshot.NewBudgets(budgets)
	nodes = part.Few(nodes)
	rows, unread, err := c.rows(ctx, r, nodes)
	if err != nil {
		return nil, err
	}
	return r.Add(all, nodes, rows, slices.Concat(gaps, unread)), nil
}

// rows reads the rows of the nodes, or of all nodes if nodes is nil.
func (c *Cluster) rows(ctx context.Context, r *part.RowReader, nodes []string) ([]snapshot.PodRow,
	[]snapshot.Gap, error) {
	counted := []fields.Selector{
		fields.OneTermNotEqualSelector("status.phase", string(corev1.PodSucceeded)),
		fields.OneTermNotEqualSelector("status.phase", string(corev1.PodFailed)),
	}
	read := func(ctx context.Context, r *part.RowReader, which ...fields.Selector) ([]snapshot.PodRow,
		[]snapshot.Gap, error) {
		o := metav1.ListOptions{FieldSelector: fields.AndSelectors(append(which, counted...)...).String()}
		return listAs(ctx, c, snapshot.PodsOfOthers, o,
			api.Telling(c.onReading, snapshot.PodsOfOthers, 0,
				api.Of[corev1.Pod](c.Clients, metav1.NamespaceAll).Kept),
			r.Row, part.RowKey, 0)
	}
	if nodes == nil {
		return read(ctx, r)
	}
	if len(nodes) == 0 {
		return nil, nil, nil
	}
	lists, gaps, own := make([][]snapshot.PodRow, len(nodes)+1), make([][]snapshot.Gap, len(nodes)+1),
		make([]*part.RowReader, len(nodes)+1)
	g, ctx := source.NewGroup(ctx)
	for i := range lists {
		which := []fields.Selector{fields.OneTermEqualSelector("spec.nodeName", "")}
		if i == 0 { // first: a pod that is bound between the lists is in a later one, too, which counts
			which = append(which, fields.OneTermNotEqualSelector("status.nominatedNodeName", ""))
		} else {
			which[0] = fields.OneTermEqualSelector("spec.nodeName", nodes[i-1])
		}
		own[i] = r.Clone()
		g.Go(func() (err error) {
			lists[i], gaps[i], err = read(ctx, own[i], which...)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, nil, err
	}
	for _, o := range own {
		r.Merge(o)
	}
	rows := slices.DeleteFunc(LastOfEach(slices.Concat(lists...), part.RowKey),
		func(p snapshot.PodRow) bool { return !slices.Contains(nodes, p.Node) })
	return rows, slices.Concat(gaps...), nil
}
