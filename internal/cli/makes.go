package cli

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/view"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// makes returns the commands of kubectl that make the change which is planned, in their
// order: those of the nodes, what applies the manifests, or what changes the DaemonSet. It
// returns none where a part of the change has no command.
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
	nodes, ok := o.makesNodes(p)
	if !ok {
		return nil
	}
	return append(nodes, o.makesDaemonSet(p)...)
}

// makesNodes returns the commands that change the nodes, but for those that are only
// taken for down; not ok where a change has none that could be pasted.
func (o *planning) makesNodes(p planned) (out []screen.Command, ok bool) {
	const most = 10 // names in a line that a person checks before it runs
	for _, n := range p.Change.Nodes {
		edit, known := nodeCommands[n.Kind]
		switch {
		case n.Kind == whatif.NodeDown || len(n.Nodes) == 0:
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
		out = append(out, view.WithFlags(c, o.asked.Kubectl...))
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
	on := func(verb string, words ...screen.Word) screen.Command {
		c := screen.Command{screen.Word("kubectl " + verb), "-n " + screen.Quote(p.DaemonSet.Namespace), "daemonset/" + screen.Quote(p.DaemonSet.Name)}
		return view.WithFlags(append(c, words...), o.asked.Kubectl...)
	}
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
		return []screen.Command{on("rollout restart")}
	case asked == 1 && len(c.Images) > 0:
		var words []screen.Word
		for _, i := range c.Images {
			words = append(words, screen.Quote(cmp.Or(i.Container, p.only, "*")+"="+i.Image))
		}
		return []screen.Command{on("set image", words...)}
	}
	from, to := p.was.DaemonSet.Spec, p.of.DaemonSet.Spec
	if c.ToRevision != nil {
		to.Template = from.Template // what may be secret in it is not shown
	}
	if patch, err := source.SpecPatch(&from, &to); err == nil && len(patch) > 0 {
		out = append(out, on("patch", "-p "+screen.Quote(string(patch))))
	}
	if c.ToRevision != nil {
		out = append(out, on("rollout undo", screen.Word(fmt.Sprintf("--to-revision=%d", cmp.Or(*c.ToRevision, p.Change.Revision.Was)))))
	}
	return out
}
