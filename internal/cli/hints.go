package cli

import (
	"fmt"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// flagsOf returns the flags that ask for a change that an error offers.
func flagsOf(c *whatif.Change, rollback string) string {
	switch {
	case c == nil:
	case c.MaxUnavailable != nil:
		return "--max-unavailable " + c.MaxUnavailable.String()
	case c.MaxSurge != nil:
		return "--max-surge " + c.MaxSurge.String()
	case c.ToRevision != nil:
		return fmt.Sprintf("%s %d", rollback, *c.ToRevision)
	case len(c.Images) > 0:
		return fmt.Sprintf("--image %s=%s", c.Images[0].Container, c.Images[0].Image)
	}
	return ""
}

func hintOfNodes(e *whatif.NoNodesError) string {
	switch {
	case e.Selector:
		return fmt.Sprintf("kubectl get nodes -l '%s'", e.Which)
	case len(e.Near) > 0:
		return "did you mean " + strings.Join(e.Near, ", ") + "?"
	}
	return "kubectl get nodes"
}

func hintOfLacking(e *whatif.LackingError) string {
	namespace := ""
	if e.Of != "" {
		namespace = " -n " + e.Of
	}
	switch {
	case e.Gap == nil:
	case e.Gap.Why == snapshot.Forbidden:
		return fmt.Sprintf("kubectl auth can-i list %s%s", e.What, namespace)
	case e.Gap.Why == snapshot.NotGiven, e.Gap.Why == snapshot.Partial:
		return fmt.Sprintf("kubectl get %s%s -o yaml > %s.yaml, and add --from %s.yaml", e.What, namespace, e.What, e.What)
	}
	return ""
}

func hintOfHistory(e *history.Error) string {
	switch {
	case e.Code == history.NoneBefore:
		return "kubectl ds history lists them"
	case e.Why == snapshot.Forbidden:
		return "kubectl auth can-i list controllerrevisions.apps -n " + e.Namespace
	case e.Why == snapshot.NotGiven, e.Why == snapshot.Partial:
		return "kubectl get controllerrevisions -n " + e.Namespace + " -o yaml > revisions.yaml, and add --from revisions.yaml"
	}
	return ""
}
