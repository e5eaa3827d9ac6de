package view

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

var sourceWords = map[snapshot.VersionSource]string{
	snapshot.VersionServer: "the API server's", snapshot.VersionFlag: "by flag", snapshot.VersionDump: "by the dump", snapshot.VersionDefault: "the newest known",
}

func assumption(a daemonset.Assumption) string {
	switch a.Code {
	case daemonset.AssumeControllerVersion:
		return "kube-controller-manager runs " + clean(a.Value) + ", as the API server does"
	case daemonset.AssumeNewestRules:
		return "the rules of " + clean(a.Value) + ", the newest known, still hold"
	case daemonset.AssumeCurrentRevision:
		if a.Value == "" {
			return "no revision could be read, and no pod tells which is the current one"
		}
		return "the current revision's hash is " + clean(a.Value) + ", inferred (" + clean(a.Source) + ")"
	case daemonset.AssumeMayStay:
		return "the nodes that pods are on still exist and keep them"
	case daemonset.AssumeNodesReady:
		return "nodes are Ready unless a taint says otherwise, since their status is not in the input"
	case daemonset.AssumeGeneration:
		n, _ := strconv.Atoi(a.Value)
		return pluralVerb(n, "pod runs", "pods run") + " the live template: the label pod-template-generation says so, the hash does not"
	case daemonset.AssumeNewHash:
		return "the revision that the next sync creates gets a new hash; pods with hash " + clean(a.Value) + " count as updated if it gets theirs, as when a deleted revision is created again"
	case daemonset.AssumeTolerationComparison:
		return "the controller's feature gate " + clean(a.Value) + " is on, since the template has a toleration that needs it (Lt or Gt)"
	}
	return clean(string(a.Code)) + " " + clean(a.Value)
}

// countedUpdated says how many nodes, of those on another revision than the
// current one, have a pod that counts as updated.
func countedUpdated(n, of int) string {
	switch {
	case n == of && n == 1:
		return "counted as updated"
	case n == of:
		return "all counted as updated"
	}
	return fmt.Sprintf("%d counted as updated", n)
}

func problemCode(n *explain.Node) string {
	if n.Problem == nil {
		return ""
	}
	return string(n.Problem.Code)
}

func revisionOf(e *explain.Explanation, p explain.Pod) string {
	for _, r := range e.Revisions {
		if r.Name == p.Revision && r.Name != "" {
			return strconv.FormatInt(r.Number, 10)
		}
	}
	return cmp.Or(clean(p.Revision), "-")
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// count writes a number that may not be known.
func count(n *int) string {
	if n == nil {
		return "?"
	}
	return strconv.Itoa(*n)
}

// someNames names up to three nodes whole.
func someNames(nodes []string) string {
	const most = 3
	text := clean(strings.Join(nodes[:min(most, len(nodes))], ", "))
	if more := len(nodes) - most; more > 0 {
		text += fmt.Sprintf(" +%d more", more)
	}
	return text
}
