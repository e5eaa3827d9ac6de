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

// makes returns the commands of kubectl that make the change which is planned, in their
// order: those of the nodes, what applies the manifests, or what changes the DaemonSet, and last
// taints that evict its old pods. It returns none where a part of the change has no command.
func (o *planning) makes(p planned) []screen.Command {
	c := o.change
	switch {
	case p.Change == nil:
		return nil
	case len(o.changed) == 0 && len(o.apply) > 0:
		return []screen.Command{o.apply}
	case c == nil || p.was == nil || o.ofManifests: // how both are made is up to whoever combines them
		return nil
	}
	nodes, ok := o.makesNodes(p, func(n whatif.NodeChange) bool { return !evicts(p, n) })
	last, also := o.makesNodes(p, func(n whatif.NodeChange) bool { return evicts(p, n) })
	if !ok || !also {
		return nil
	}
	if len(last) > 0 { // the pods that run now are replaced first
		last = append([]screen.Command{o.on(p, "rollout status")}, last...)
	}
	return slices.Concat(nodes, o.makesDaemonSet(p), last)
}

// evicts reports whether a change of nodes evicts pods that run now, and that the rest of the change replaces.
func evicts(p planned, n whatif.NodeChange) bool {
	return n.Kind == whatif.NodeTaint && slices.ContainsFunc(p.Warnings, func(w plan.Warning) bool {
		return w.Code == plan.EvictsOldPods && w.Facts.Text("taint") == n.Value
	})
}

// on returns a command of kubectl about the DaemonSet of a plan.
func (o *planning) on(p planned, verb string, words ...screen.Word) screen.Command {
	c := screen.Command{screen.Word("kubectl " + verb), "-n " + screen.Quote(p.DaemonSet.Namespace), "daemonset/" +
		screen.Quote(p.DaemonSet.Name)}
	return sheet.WithFlags(append(c, words...), o.asked.Kubectl...)
}

// makesNodes returns the commands for some changes of nodes, but for nodes that are only
// taken for down; not ok where a change has none that could be pasted.
func (o *planning) makesNodes(p planned, some func(whatif.NodeChange) bool) (out []screen.Command, ok bool) {
	const most = 10 // names in a line that a person checks before it runs
	for _, n := range p.Change.Nodes {
		edit, known := nodeCommands[n.Kind]
		switch {
		case n.Kind == whatif.NodeDown || len(n.Nodes) == 0 || !some(n):
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

// nodeCommands are the commands of kubectl that change nodes. None deletes one or adds one:
// that is up to what runs the machines.
var nodeCommands = map[whatif.NodeChangeKind]struct {
	verb, end string
	replaces  bool
}{
	whatif.NodeTaint: {"taint nodes", "", true}, whatif.NodeUntaint: {"taint nodes", "-", false},
	whatif.NodeLabel: {"label nodes", "", true}, whatif.NodeUnlabel: {"label nodes", "-", false},
	whatif.NodeCordon: {"cordon", "", false}, whatif.NodeUncordon: {"uncordon", "", false},
}

// makesDaemonSet returns the commands that change the DaemonSet: the one of kubectl that is
// made for it, or a patch. A rollback stands last, so that the limit is set before it.
func (o *planning) makesDaemonSet(p planned) (out []screen.Command) {
	c, asked := o.change, 0
	for _, flag := range o.changed {
		if slices.Contains(ofDaemonSet, flag) {
			asked++
		}
	}
	switch {
	case len(p.Change.Fields) == 0 && c.ToRevision == nil:
		return nil
	case asked == 1 && c.Restart:
		return []screen.Command{o.on(p, "rollout restart")}
	case asked == 1 && len(c.Images) > 0:
		var words []screen.Word
		for _, i := range c.Images {
			words = append(words, screen.Quote(cmp.Or(i.Container, p.only, "*")+"="+i.Image))
		}
		return []screen.Command{o.on(p, "set image", words...)}
	}
	from, to := p.was.DaemonSet.Spec, p.of.DaemonSet.Spec
	if c.ToRevision != nil {
		to.Template = from.Template // what may be secret in it is not shown
	}
	if patch, err := manifest.SpecPatch(&from, &to); err == nil && len(patch) > 0 {
		out = append(out, o.on(p, "patch", "-p "+screen.Quote(string(patch))))
	}
	if c.ToRevision != nil {
		out = append(out, o.on(p, "rollout undo",
			screen.Word(fmt.Sprintf("--to-revision=%d", cmp.Or(*c.ToRevision, p.Change.Revision.Was)))))
	}
	return out
}
