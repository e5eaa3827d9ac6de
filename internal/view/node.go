package view

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
)

// Nodes writes, for each node of an Explanation that was narrowed to some,
// every rule of placement in order, what runs there, and the smallest change
// that would make the node one that should run the pod.
func Nodes(w io.Writer, e *explain.Explanation, asked []string, style Style) error {
	s := &screen{Style: style, now: e.Snapshot.TakenAt}
	var known []string
	for i := range e.Nodes {
		known = append(known, e.Nodes[i].Name)
		s.gap()
		s.node(e, &e.Nodes[i])
	}
	s.gap()
	s.unknownNodes(asked, known)
	return s.writeTo(w)
}

// unknownNodes says of the nodes that were asked for and that no answer names
// why: one that is not there would have been refused.
func (s *screen) unknownNodes(asked, known []string) {
	for _, name := range asked {
		if !slices.Contains(known, name) {
			s.line("%s: not known: the nodes could not be read, and no pod is for it", s.title(clean(name)))
		}
	}
}

func (s *screen) node(e *explain.Explanation, n *explain.Node) {
	s.line("%s", s.nodeVerdict(e, n))
	if n.ShouldRun != nil && n.Exists {
		for _, r := range rules(n.Checks) {
			result := s.good("pass")
			if !r.ok {
				result = s.bad("FAIL")
			}
			s.field(string(r.rule), result+"  "+r.words)
		}
	}
	if len(n.Pods) == 0 {
		s.field("pods", "none")
	}
	for i, p := range n.Pods {
		title := ""
		if i == 0 {
			title = "pods"
		}
		s.field(title, podLine(e, p))
	}
	if c := n.Problem; c != nil {
		s.field("problem", s.bad(string(c.Code))+": "+s.causeWords(c.Code, c.Facts, c.Since, c.Since))
	}
	for i, c := range n.Changes {
		title := "smallest change"
		if i > 0 {
			title = "  and"
		}
		if c.Kind == daemonset.RepairNode || c.Kind == daemonset.NoSensibleChange { // nothing to paste
			s.field(title, change(n.Name, c))
			if c.Kind == daemonset.NoSensibleChange {
				break // one such is enough
			}
			continue
		}
		s.whole(fmt.Sprintf("  %-16s %s", title, change(n.Name, c)))
	}
}

// field adds a title and what stands beside it.
func (s *screen) field(title, text string) {
	s.lines = append(s.lines, s.wrap(fmt.Sprintf("  %-16s %s", title, text), 19)...)
}

func (s *screen) nodeVerdict(e *explain.Explanation, n *explain.Node) string {
	name := fmt.Sprintf("%s  %s/%s", s.title(clean(n.Name)), clean(e.DaemonSet.Namespace), clean(e.DaemonSet.Name))
	if n.ShouldRun == nil {
		return name + ": " + s.warn("not known") + " whether it should run here, as the nodes could not be read"
	}
	name += " "
	switch {
	case !n.Exists:
		return name + s.bad("no such node any more") + ", but pods that are for it"
	case n.ShouldRun.OK:
		return name + s.good("should run") + " here"
	case n.MayStay.OK:
		return name + s.bad("should not run") + " here; a pod that does may stay"
	}
	return name + s.bad("should not run") + " here, nor may a pod stay"
}

type ruleLine struct {
	rule  daemonset.Rule
	ok    bool
	words string
}

// rules returns a line for every rule in the controller's order, also for
// those that the template does not set.
func rules(checks []daemonset.Check) []ruleLine {
	var out []ruleLine
	for _, rule := range []daemonset.Rule{daemonset.RuleNodeName, daemonset.RuleNodeSelector, daemonset.RuleNodeAffinity, daemonset.RuleTaint} {
		found := false
		for _, c := range checks {
			if c.Rule == rule {
				found = true
				out = append(out, ruleLine{rule, c.OK, checkWords(c)})
			}
		}
		if !found {
			words := "the template sets none"
			if rule == daemonset.RuleTaint {
				words = "the node has none that matters"
			}
			out = append(out, ruleLine{rule, true, words})
		}
	}
	return out
}

func checkWords(c daemonset.Check) string {
	f := c.Facts
	switch c.Rule {
	case daemonset.RuleNodeName:
		return fact(f, "want")
	case daemonset.RuleNodeSelector:
		if c.OK {
			return fact(f, "key") + "=" + fact(f, "want")
		}
		return placement(daemonset.NodeSelector, f)
	case daemonset.RuleNodeAffinity:
		if c.OK {
			return fmt.Sprintf("term %d of %d matches", number(f, "term"), number(f, "terms"))
		}
		return requirement(f)
	}
	s := placement(daemonset.TaintNotTolerated, f)
	switch {
	case !c.OK && c.Stays:
		return s + ": not tolerated, but a pod that runs may stay"
	case !c.OK:
		return s + ": not tolerated"
	case yes(f, "automatic"):
		return s + ": tolerated by every DaemonSet pod"
	}
	return s + ": tolerated by the template"
}

func podLine(e *explain.Explanation, p explain.Pod) string {
	phase := p.Phase
	if p.Terminating {
		phase = "Terminating"
	}
	var words []string
	words = append(words, clean(phase))
	switch {
	case p.Available:
		words = append(words, "available")
	case p.Ready:
		words = append(words, "ready, not yet available")
	default:
		words = append(words, "not ready")
	}
	switch {
	case p.UpdatedBy == daemonset.ByGeneration:
		words = append(words, "up to date by its template generation")
	case p.Updated:
		words = append(words, "up to date")
	default:
		words = append(words, "out of date, revision "+revisionOf(e, p))
	}
	if p.Claim != daemonset.Owned {
		words = append(words, "claim: "+string(p.Claim))
	}
	if p.Ignored != "" {
		words = append(words, "counts nowhere: "+string(p.Ignored))
	}
	return clean(p.Name) + "  " + strings.Join(words, ", ")
}

// change says one change in words that name the side it is made on.
func change(node string, c daemonset.Change) string {
	switch c.Kind {
	case daemonset.AddToleration:
		t := c.Toleration
		s := fmt.Sprintf("add to the template the toleration {key: %s, operator: %s, ", clean(t.Key), t.Operator)
		if t.Value != "" {
			s += fmt.Sprintf("value: %q, ", t.Value) // which escapes what clean would
		}
		return s + fmt.Sprintf("effect: %s}", clean(string(t.Effect)))
	case daemonset.SetLabel:
		return clean(fmt.Sprintf("kubectl label node %s %s --overwrite", Quote(node), Quote(c.Key+"="+c.Value)))
	case daemonset.RemoveLabel:
		return clean(fmt.Sprintf("kubectl label node %s %s", Quote(node), Quote(c.Key+"-")))
	case daemonset.RemoveNodeName:
		return "take nodeName out of the template"
	case daemonset.RepairNode:
		return "repair the node: its taint " + clean(c.Key) + " goes when the condition does"
	case daemonset.NoSensibleChange:
		if meaning := taintMeaning(c.Key); meaning != "" {
			return "none is sensible: " + meaning
		}
		return "none is sensible: " + clean(c.Key) + " is not a label to set by hand"
	case daemonset.AddAffinityTerm:
		return "add to the template's node affinity a term {matchFields: [{key: metadata.name, operator: In, values: [" + clean(node) + "]}]}"
	}
	return clean(string(c.Kind))
}
