package view

import (
	"slices"
	"strconv"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// The methods in this file describe where a new pod does not fit, and what makes room for it.

// room adds the nodes on which the new pod does not fit, the reason, and the pods that make room for it. It leaves out
// the reason if Problem has it.
func (s *planScreen) room() {
	if s.live != nil {
		for _, p := range s.p.Unfits() {
			why := s.Meaning(p)
			if s.live.E.Has(cause.InsufficientResources) != nil { // Problem has the numbers
				why = ""
			}
			s.Screen.Add(screen.Impact, screen.Names{Before: "the new pod will not fit on", Names: p.Nodes,
				After: wording.InBrackets(why) + ", and stays Pending", Short: true})
		}
	}
	if len(s.p.Unfit) > 0 {
		s.makeRoom()
	}
	if n := len(s.p.Unfit); s.live == nil && n > 0 && len(s.p.Placement.Gain) == 0 {
		s.Add(screen.Impact, "the new pod stays Pending on %s", wording.Plural(n, "node"))
	}
	s.evicts()
}

// evicts names the pods of others that the scheduler removes to make room.
func (s *planScreen) evicts() {
	pods, nodes := s.p.Preempted()
	if pods == 0 {
		return
	}
	removes, budgets := "the scheduler "+s.removalVerb("will remove")+" ", s.p.BudgetsViolated()
	before := removes + wording.Plural(pods, "pod") + " of lower priority to make room on:"
	if x := s.p.Preempts[0]; len(nodes) == 1 {
		budgets = x.Budgets
		switch count, among := sheet.VictimChoice(x.Pods, &x.Victims); {
		case among != "":
			before = removes + count + " of the pods " + among + ", which have a lower priority, to make room on"
		case pods == 1:
			before = removes + "pod " + x.Pods[0] + ", which has a lower priority, to make room on"
		}
	}
	s.Screen.Add(screen.Impact, screen.Names{Before: before, Names: nodes, After: sheet.BudgetWords(budgets),
		Short: true})
}

// makeRoom adds why the new pod does not fit, and what helps.
func (s *planScreen) makeRoom() {
	var groups [unfitOtherwise + 1]misfit
	for _, p := range s.p.Unfits() {
		is := unfitOf(p.Facts)
		groups[is] = misfit{is, p.Facts, append(groups[is].nodes, p.Nodes...)}
	}
	found := slices.DeleteFunc(groups[:], func(m misfit) bool { return len(m.nodes) == 0 })
	for i, m := range found {
		number := ""
		if len(found) > 1 { // each of them must be solved
			number = strconv.Itoa(i+1) + ". "
		}
		if m.is == unfitResource && s.ofStrategy() { // explain says this, with its fix
			continue
		}
		slices.Sort(m.nodes)
		fault, fix := m.words()
		s.Add(screen.Fault, "%s", number+fault)
		if s.live != nil { // otherwise the table has this command
			s.Screen.Add(screen.Check, s.Kubectl("kubectl describe node", screen.Quote(m.nodes[0])))
		}
		s.Add(s.To, "%s", s.alternativePrefix()+number+fix)
	}
}

// ofStrategy reports whether the new pods do not fit because the old ones run next to them.
func (s *planScreen) ofStrategy() bool {
	if s.live == nil {
		return false
	}
	p := s.live.E.Has(cause.InsufficientResources)
	return p != nil && p.Blame != nil && p.Blame.Who == cause.WhoStrategy
}

// unfit is a kind of misfit. The screen shows the kinds in this order.
type unfit int

const (
	unfitBeyond unfit = iota
	unfitPods
	unfitResource
	unfitPort
	unfitAttached
	unfitVolume
	unfitOtherwise
)

// unfitOf returns the kind of a misfit with these facts.
func unfitOf(f daemonset.Facts) unfit {
	switch plugin := wording.Fact(f, "plugin"); {
	case f.Yes("beyond"):
		return unfitBeyond
	case wording.ResourceWord(f["resources"]) == "pods":
		return unfitPods
	case plugin == "NodeResourcesFit":
		return unfitResource
	case plugin == "NodePorts":
		return unfitPort
	case plugin == "NodeVolumeLimits":
		return unfitAttached
	case wording.Fact(f, "reachable") != "":
		return unfitVolume
	}
	return unfitOtherwise
}

// misfit contains the nodes on which a pod does not fit for one reason.
type misfit struct {
	is    unfit
	facts daemonset.Facts
	nodes []string
}

// words returns who is at fault, and what helps.
func (m *misfit) words() (fault, fix string) {
	const selected = " (nodeSelector or nodeAffinity)"
	n, where, resource := len(m.nodes), wording.SomeNames(m.nodes),
		screen.Clean(wording.ResourceWord(m.facts["resources"]))
	keepOff := "keep the pod off " + where + selected
	keepThisOff := "keep this one off " + wording.PluralOf(n, "it", "them") + selected
	lower := "lower the " + resource + " request in the template, or "
	volume := "volume " + wording.Fact(m.facts, "claim") + ": "
	have := where + wording.PluralOf(n, " has", " have")
	switch m.is {
	case unfitBeyond:
		return "the template: it requests more " + resource + " than " + have, lower + keepOff
	case unfitPods:
		return "the nodes: " + where + wording.PluralOf(n, " runs as many pods as it may",
			" run as many pods as they may") +
			", all of the same or a higher priority", "move another pod off " + where + ", or " + keepThisOff
	case unfitResource:
		return "the template and the other pods on " + where + " together: they request more " + resource + " than " +
				wording.PluralOf(n, "the node has", "each node has"), lower + "move other pods off " + where +
				", or " + keepThisOff
	case unfitPort:
		return "other pods on " + where + " use the host port that the template asks for",
			"use another host port in the template, or have the owner of the other " +
				wording.PluralOf(n, "pod", "pods") +
				" free the port on " + where
	case unfitAttached:
		return volume + have + " as many volumes of the CSI driver " + wording.Fact(m.facts, "driver") +
				wording.PluralOf(n, " as it may", " as they may"),
			"move another pod with such a volume off " + where + ", or keep this one off" + selected
	case unfitVolume:
		return volume + "PersistentVolume " + wording.Fact(m.facts, "persistentVolume") +
				" cannot be attached on " + where,
			"use a volume that " + where + " can have, or " + keepOff
	}
	return "the scheduler rejects the pod on " + where + wording.InBrackets(wording.Fact(m.facts, "plugin")), keepOff
}
