package dump

import (
	"context"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/part"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// AddOtherPods does what Cluster.AddOtherPods does, with the pods of the input. If all of them
// belong to one namespace, the input may be restricted to it, and other pods are a Gap. A
// restriction to several namespaces cannot be detected.
//
// For a recorded Snapshot it returns the recorded rows. What was not recorded is a Gap.
func (d *Dump) AddOtherPods(_ context.Context, all []*snapshot.Snapshot, nodes []string) ([]*snapshot.Snapshot, error) {
	nodes = part.Few(nodes)
	out := make([]*snapshot.Snapshot, len(all))
	for i, s := range all {
		if from := d.recorded(s); from != nil {
			out[i] = part.RecordedRows(s, from, nodes)
			continue
		}
		r, err := part.NewRowReader(all[i : i+1])
		if err != nil {
			return nil, err
		}
		gaps := d.gapsOfOthers()
		if slices.ContainsFunc(gaps, func(g snapshot.Gap) bool { return g.What == snapshot.PodsOfOthers }) {
			out[i] = s.Holding(nil, gaps)
			continue
		}
		r.Released = true
		r.Budgets = snapshot.NewBudgets(d.Budgets.Items)
		var rows []snapshot.PodRow
		for j := range d.Pods.Items {
			if row, kept := r.Row(&d.Pods.Items[j]); kept && (nodes == nil || slices.Contains(nodes, row.Node)) {
				rows = append(rows, row)
			}
		}
		out[i] = r.Add(all[i:i+1], nodes, rows, gaps)[0]
	}
	return out, nil
}

// gapsOfOthers returns the Gaps of the input for questions about fit.
func (d *Dump) gapsOfOthers() (gaps []snapshot.Gap) {
	add := func(what snapshot.What, why snapshot.Why, message string) {
		gaps = append(gaps, snapshot.Gap{What: what, Why: why, Message: message})
	}
	if partial := d.Partial("Pod"); partial != "" {
		add(snapshot.PodsOfOthers, snapshot.Partial, partial)
	} else if len(d.Pods.perNamespace) < 2 {
		held := "no Pod"
		for namespace := range d.Pods.perNamespace {
			held = "pods of namespace " + namespace + " only"
		}
		add(snapshot.PodsOfOthers, snapshot.NotGiven, "the input holds "+held)
	}
	if partial := d.Partial("PodDisruptionBudget"); partial != "" {
		add(snapshot.BudgetsOfOthers, snapshot.Partial, partial)
	} else if d.Kinds["PodDisruptionBudget"] == 0 && !d.lists["PodDisruptionBudget"] {
		add(snapshot.BudgetsOfOthers, snapshot.NotGiven, "the input holds no PodDisruptionBudget")
	}
	return gaps
}

// recorded returns the recorded Snapshot that s was read from or, for a DaemonSet that the input
// does not contain, the one that its nodes are from. It returns nil for a plain dump.
func (d *Dump) recorded(s *snapshot.Snapshot) *snapshot.Snapshot {
	ref := source.Ref{Namespace: s.DaemonSet.Namespace, Name: s.DaemonSet.Name}
	if from := d.snapshots[ref]; from != nil {
		return from
	}
	if _, plain := d.daemonSets.index[ref.Namespace+"/"+ref.Name]; plain || len(d.HeldNodes.Items) > 0 {
		return nil
	}
	return d.last()
}
