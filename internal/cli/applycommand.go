package cli

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/source/manifest"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// applyCommands returns the kubectl commands that make the planned change, in their order: first
// the changes of nodes, then the manifests or the changes to the DaemonSet, then the taints that
// evict old pods. If no command exists for some part of the change, it returns nil.
func (o *planning) applyCommands(p planned) []screen.Command {
	c := o.change
	switch {
	case p.Change == nil:
		return nil
	case len(o.changed) == 0 && len(o.apply) > 0:
		return []screen.Command{o.apply}
	case c == nil || p.before == nil || o.ofManifests: // the user has to combine manifests and flags
		return nil
	}
	nodes, ok := o.nodeChangeCommands(p, func(n whatif.NodeChange) bool { return !evictsOldPods(p, n) })
	last, also := o.nodeChangeCommands(p, func(n whatif.NodeChange) bool { return evictsOldPods(p, n) })
	if !ok || !also {
		return nil
	}
	if len(last) > 0 { // the rollout must replace the current pods first
		last = append([]screen.Command{o.daemonSetCommand(p, "rollout status")}, last...)
	}
	return slices.Concat(nodes, o.daemonSetChangeCommands(p), last)
}

// evictsOldPods reports whether a taint evicts current pods that the rest of the change replaces.
func evictsOldPods(p planned, n whatif.NodeChange) bool {
	return n.Kind == whatif.NodeTaint && slices.ContainsFunc(p.Warnings, func(w plan.Warning) bool {
		return w.Code == plan.EvictsOldPods && w.Facts.Text("taint") == n.Value
	})
}

// daemonSetCommand returns a kubectl command for the DaemonSet of a plan.
func (o *planning) daemonSetCommand(p planned, verb string, words ...screen.Word) screen.Command {
	c := screen.Command{screen.Word("kubectl " + verb), "-n " + screen.Quote(p.DaemonSet.Namespace), "daemonset/" +
		screen.Quote(p.DaemonSet.Name)}
	return sheet.WithFlags(append(c, words...), o.asked.Kubectl...)
}

// nodeChangeCommands returns the commands for the changes of nodes that match accepts. It skips
// nodes that are only assumed to be down. ok is false if some change has no command that can be
// pasted.
func (o *planning) nodeChangeCommands(p planned, match func(whatif.NodeChange) bool) (out []screen.Command, ok bool) {
	const most = 10 // the largest number of nodes in one command, so that a person can check it
	for _, n := range p.Change.Nodes {
		edit, known := nodeCommands[n.Kind]
		switch {
		case n.Kind == whatif.NodeDown || len(n.Nodes) == 0 || !match(n):
			continue
		case !known || len(n.Nodes) > most:
			return nil, false
		}
		c := screen.Command{screen.Word("kubectl " + edit.verb)}
		for _, name := range n.Nodes {
			c = append(c, screen.Quote(name))
		}
		if n.Value != "" {
			c = append(c, screen.Quote(n.Value+edit.end))
		}
		if edit.replaces {
			c = append(c, "--overwrite")
		}
		out = append(out, sheet.WithFlags(c, o.asked.Kubectl...))
	}
	return out, true
}

// nodeCommands maps each change of nodes to its kubectl command. kubectl has no command that adds
// or removes machines, so these changes are missing.
var nodeCommands = map[whatif.NodeChangeKind]struct {
	verb, end string
	replaces  bool
}{
	whatif.NodeTaint: {"taint nodes", "", true}, whatif.NodeUntaint: {"taint nodes", "-", false},
	whatif.NodeLabel: {"label nodes", "", true}, whatif.NodeUnlabel: {"label nodes", "-", false},
	whatif.NodeCordon: {"cordon", "", false}, whatif.NodeUncordon: {"uncordon", "", false},
}

// daemonSetChangeCommands returns the commands that change the DaemonSet: the dedicated kubectl
// command, or a patch. A rollback comes last, so that the new limit applies to it.
func (o *planning) daemonSetChangeCommands(p planned) (out []screen.Command) {
	c, asked := o.change, 0
	for _, flag := range o.changed {
		if slices.Contains(daemonSetFlagNames, flag) {
			asked++
		}
	}
	switch {
	case len(p.Change.Fields) == 0 && c.ToRevision == nil:
		return nil
	case asked == 1 && c.Restart:
		return []screen.Command{o.daemonSetCommand(p, "rollout restart")}
	case asked == 1 && len(c.Images) > 0:
		var words []screen.Word
		for _, i := range c.Images {
			words = append(words, screen.Quote(cmp.Or(i.Container, p.only, "*")+"="+i.Image))
		}
		return []screen.Command{o.daemonSetCommand(p, "set image", words...)}
	}
	from, to := p.before.DaemonSet.Spec, p.state.DaemonSet.Spec
	if c.ToRevision != nil {
		to.Template = from.Template // keep the template out of the patch: it may contain secrets
	}
	if patch, err := manifest.SpecPatch(&from, &to); err == nil && len(patch) > 0 {
		out = append(out, o.daemonSetCommand(p, "patch", "-p "+screen.Quote(string(patch))))
	}
	if c.ToRevision != nil {
		out = append(out, o.daemonSetCommand(p, "rollout undo",
			screen.Word(fmt.Sprintf("--to-revision=%d", cmp.Or(*c.ToRevision, p.Change.Revision.Was)))))
	}
	return out
}
