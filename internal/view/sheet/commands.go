package sheet

import (
	"fmt"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause/eligible"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
)

// placementCheck returns a command that shows the labels that no node has, or the node that is not ready.
func (a *Sheet) placementCheck(f daemonset.Facts) screen.Command {
	switch by, keys := f["excludedBy"], eligible.LabelKeys(f); {
	case len(keys) > 0:
		return a.Kubectl("kubectl get nodes", screen.Word("-L "+screen.Quote(strings.Join(keys, ","))))
	case by == eligible.ExcludedByLabels, by == eligible.ExcludedByAffinity:
		return a.Kubectl("kubectl get nodes", "--show-labels")
	case by == eligible.ExcludedByCondition:
		return a.Kubectl("kubectl describe node", screen.Quote(wording.FirstOf(f["nearest"])))
	}
	return nil
}

// Preview adds a command that plans a fix without changing anything.
func (a *Sheet) Preview(of, flag, value string) {
	if c := a.Again("plan-rollout", Flag{Name: flag, Value: value}); len(c) > 0 {
		a.Act(screen.Preview, of, c)
	}
}

// Exclude adds a node affinity that keeps the pod off nodes with some labels.
func (a *Sheet) Exclude(f *remedy.Remedy, effect string) {
	labels := f.Without()
	words := "keep the pod off " + wording.PluralOf(len(f.Nodes), "this node", "these nodes") + ": add " +
		wording.PluralOf(len(labels), "this expression", "these expressions") +
		" to each term of the required node affinity of the template"
	a.Add(a.To, "%s", wording.Joined(" ", words, effect)+":")
	for _, l := range labels {
		a.Add(a.To, "%s", fmt.Sprintf("{key: %s, operator: NotIn, values: [%s]}", l[0], l[1]))
	}
}

// reference is an object that the template refers to and that does not exist, or an object without the required key.
type reference struct{ Kind, namespace, Name, Key string }

// Reference returns the reference that the facts describe.
func (a *Sheet) Reference(f daemonset.Facts) reference {
	return reference{wording.Fact(f, "kind"), a.Header.DaemonSet.Namespace, wording.Fact(f, "name"),
		wording.Fact(f, "key")}
}

// Object returns the kind, the namespace and the name of the object.
func (r reference) Object() string { return r.Kind + " " + r.namespace + "/" + r.Name }

// CreateWords returns an instruction that creates the object or the key.
func (r reference) CreateWords() string {
	if r.Key != "" {
		return "add key " + r.Key + " to " + r.Object()
	}
	return "create " + r.Object()
}
