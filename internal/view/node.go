package view

import (
	"cmp"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/fit"
)

// Nodes writes, for each node of an Explanation that was narrowed to some,
// whether it is eligible and by which rule, what runs there, and the smallest
// change that would make it eligible.
func Nodes(w io.Writer, e *explain.Explanation, nodes []string, asked Asked, style Style) error {
	var screens []*screen.Screen
	var known []string
	for i := range e.Nodes {
		known = append(known, e.Nodes[i].Name)
		a := newAnswer(e, asked, style)
		a.node(&e.Nodes[i])
		screens = append(screens, &a.s)
	}
	return write(w, append(screens, unknownNodes(nodes, known)...), style)
}

// unknownNodes says of the nodes that were asked for and that no answer names
// why: one that is not there would have been refused.
func unknownNodes(nodes, known []string) (out []*screen.Screen) {
	named := sets.New(known...)
	for _, name := range nodes {
		if !named.Has(name) {
			out = append(out, &screen.Screen{Headline: screen.Headline{Verdict: "UNKNOWN", Tone: screen.Warn,
				Subject: name, Text: "the nodes could not be read, and no pod is assigned to it"}})
		}
	}
	return out
}

// node says whether a node is eligible, what runs there and what is wrong.
func (a *answer) node(n *explain.Node) {
	verdict, tone, words := nodeState(n)
	a.s.Headline = screen.Headline{Verdict: verdict, Tone: tone, Subject: a.subject() + " on " + n.Name, Text: words}
	if n.Problem != nil && n.Problem.Since != nil && n.State() != explain.NodeExcluded {
		a.s.Headline.Text += " (for " + ago(a.now.Sub(*n.Problem.Since)) + ")"
	}
	a.rules(n)
	for i := range n.Pods {
		a.add(screen.Pod, "%s", a.podOn(n, &n.Pods[i]))
	}
	if len(n.Pods) == 0 && n.Problem != nil && n.ProblemCode() != cause.NoPod { // else the headline says it
		a.add(screen.Pod, "none")
	}
	if p := a.e.OnNode(n); p != nil {
		if n.Problem != nil {
			a.reports(p)
		}
		a.add(screen.Fault, "%s", a.origin(p))
	}
	fixes := a.e.FixesOn(n)
	// they make it eligible, and that ends the problem
	if len(n.Changes) > 0 && n.ProblemCode() != cause.ExcludedButCounted {
		fixes = nil
	}
	deleting := a.e.Verdict.Code == explain.BeingDeleted // and no node gets a pod
	if deleting {
		fixes = a.e.FixesOn(n)
	}
	advice, of := a.e.AdviceOn(n), []*explain.Problem{}
	if p := a.e.OnNode(n); p != nil {
		of = append(of, p)
	}
	for _, d := range append(advice, explain.Advice{})[:max(1, len(advice))] {
		a.doPart(d, advice, of, fixes)
	}
	if deleting {
		return
	}
	if n.ProblemCode() == cause.NoPod && len(advice) == 0 && len(fixes) == 0 && a.asked.Again {
		a.add(screen.DoNow, "find out why the controller creates no pod (read-only):")
		whole := screen.Command{a.asked.own("explain"), a.namespace(), a.name()}
		a.s.Add(screen.DoNow, WithFlags(whole, a.asked.Input...))
	}
	if len(fixes) > 0 && len(n.Changes) > 0 {
		a.add(a.to, "or make the node eligible:")
	}
	a.nodeFix(n)
}

// reports says what is wrong on the one node that the headline names, and what the cluster says of it.
func (a *answer) reports(p *explain.Problem) {
	what := joined("; ", a.meaning(p), a.started(p))
	if what != "" || p.Code != cause.NoPod { // which the headline says
		a.add(screen.Problem, "%s", string(p.Code)+behind(": ", what))
	}
	if p.Code != cause.Misscheduled {
		a.s.Add(screen.Message, a.messages(p)...)
	}
}

// nodeFix is what makes a node eligible, and what becomes of its pod then and
// until then.
func (a *answer) nodeFix(n *explain.Node) {
	template, sensible := false, len(n.Changes) > 0
	for _, c := range n.Changes {
		a.s.Add(a.to, a.nodeChange(n, c)...)
		template = template || c.OfTemplate()
		if sensible = c.Kind != daemonset.NoSensibleChange; !sensible {
			break // one such is enough
		}
	}
	if n.Stays() && !template && len(a.e.AdviceOn(n)) == 0 {
		a.note(screen.Text("do not start a rollout before the node is eligible again: it would delete this pod and " +
			"create none there"))
	}
	switch {
	case !sensible:
	case template:
		gets := either(n.Stays(), "which replaces this one too", "and the node gets one too")
		a.add(a.to, "%s", "this starts a rollout of all pods, "+gets+inBrackets(a.undoneBy()))
	case n.Stays():
		a.add(a.to, "its pod then stays, and DESIRED and READY count it again")
	default:
		a.add(a.to, "the controller then creates a pod on the node")
	}
}

// nodeState is a node's headline: what runs there, or why nothing should.
func nodeState(n *explain.Node) (verdict string, tone screen.Tone, words string) {
	problem := string(n.ProblemCode())
	if n.Problem != nil && predicates[n.Problem.Code].noun != "" {
		problem = predicates[n.Problem.Code].of([]string{n.Name}, 1)
	}
	switch state := n.State(); {
	case state == explain.NodeDeleted:
		return "NODE DELETED", screen.Bad, "pods are still assigned to it"
	case state == explain.NodeUnknown:
		return "UNKNOWN", screen.Warn, "the nodes could not be read"
	case state == explain.NodeExcluded:
		runs := either(len(n.Pods) > 0, "its pod still runs", "it has no pod")
		return "NOT ELIGIBLE", screen.Bad, notEligible(n.ShouldRun) + "; " + runs
	case state == explain.NodeFails && n.ProblemCode() == cause.NoPod:
		return "NO POD", screen.Bad, problem
	case state == explain.NodeFails:
		return "NOT AVAILABLE", screen.Bad, problem
	case state == explain.NodeWaits:
		return "ELIGIBLE", screen.Good, problem
	case state == explain.NodeEmpty:
		return "ELIGIBLE", screen.Good, "it has no pod"
	}
	return "ELIGIBLE", screen.Good, "its pod is available"
}

// notEligible says which rule excludes a node.
func notEligible(v *daemonset.Verdict) string {
	switch v.Reason {
	case daemonset.NodeName:
		return "the template names another node"
	case daemonset.NodeSelector:
		return "the nodeSelector does not match"
	case daemonset.NodeAffinity:
		return "the node affinity does not match"
	case daemonset.TaintNotTolerated:
		meaning := phrase(taintMeanings[fact(v.Facts, "key")], ", and ")
		return meaning + "the pod does not tolerate the taint " + fact(v.Facts, "taint")
	case daemonset.NamespaceNodeSelector:
		by := phrase("the node selector of the namespace", inBrackets(fact(v.Facts, "annotation")))
		return cmp.Or(by, "the default node selector of the controller") + " does not match"
	}
	return ""
}

// rules is a table of the rules of placement in the controller's order, those
// that the template does not set in one line. Where one fails, the others are left to --all, and so are all
// where a problem is named below.
func (a *answer) rules(n *explain.Node) {
	if n.ShouldRun == nil || !n.Exists {
		return
	}
	t := &screen.Table{Columns: []screen.Column{{Head: "RULE", Wrap: true}, {Head: "RESULT"},
		{Head: "WHY", Wrap: true}}}
	row := func(rule, why string, ok bool) {
		cells := screen.Cells(rule, "passes", why)
		if cells[1].Tone = screen.Good; !ok {
			cells[1] = screen.Cell{Lines: []string{"FAILS"}, Tone: screen.Bad}
		}
		t.Rows = append(t.Rows, screen.Row{Cells: cells})
	}
	for _, c := range n.Checks {
		row(cmp.Or(fact(c.Facts, "taint"), string(c.Rule)), ruleWords(&c, known{c.Facts, a.now}), c.OK)
	}
	none := "none is set"
	if p := n.Problem; p != nil && p.Facts["added"] != nil {
		none = "the template sets none"
		row("nodeSelector of the pod", fact(p.Facts, "added")+", added at admission", false)
	}
	if unset := n.Unset(); len(unset) > 0 {
		row(joined(", ", unset...), none, true)
	}
	if n.Fit != nil {
		row("fit", a.fit(n), n.Fit.Code != cause.RoomNot)
		last := &t.Rows[len(t.Rows)-1]
		switch n.Fit.Code {
		case cause.RoomUnknown:
			last.Cells[1] = screen.Cell{Lines: []string{"unknown"}, Tone: screen.Warn}
		case cause.RoomWaits:
			last.Cells[1] = screen.Cell{Lines: []string{"waits"}, Tone: screen.Warn}
		}
	}
	failing := *t
	failing.Rows = nil
	for i, r := range t.Rows {
		matters := r.Cells[1].Tone == screen.Bad
		if i == len(t.Rows)-1 && n.Fit != nil {
			open := n.ProblemCode() == cause.NoPod || n.Fit.Code != cause.RoomFits || len(n.Fit.NotModelled) > 0
			matters = open && !a.saysFit(n)
		}
		if matters {
			failing.Rows = append(failing.Rows, r)
		}
	}
	if n.Problem == nil && len(failing.Rows) == 0 || a.style.Wide {
		a.s.Add(screen.Body, t)
		return
	}
	a.s.Add(screen.Rules, t)
	a.s.Further(screen.Rules, screen.Check)
	if len(failing.Rows) > 0 {
		a.s.Add(screen.Body, &failing)
	}
}

// saysFit reports whether the problem on a node says the same as the row about the fit.
func (a *answer) saysFit(n *explain.Node) bool {
	p := a.e.OnNode(n)
	return n.Problem != nil && p != nil && a.meaning(p) == a.fit(n)
}

// fit says whether a pod would fit on a node now, with its arithmetic.
func (a *answer) fit(n *explain.Node) string {
	var asks []string
	pods := ""
	for _, m := range n.Fit.Amounts {
		if m.Resource == "pods" {
			pods = fmt.Sprintf("%s of %s pods free", m.Free, m.Allocatable)
			continue
		}
		asks = append(asks, fmt.Sprintf("%s %s of %s free", m.Resource, m.Requested, m.Free))
	}
	words := ""
	switch n.Fit.Code {
	case cause.RoomFits:
		free := cmp.Or(fact(n.Fit.Facts, "free"), pods)
		words = phrase("the pod requests ", cmp.Or(joined(", ", asks...), "nothing"), "; ", free)
	case cause.RoomPreempts:
		words = preempts(n.Fit.Preempts, &n.Fit.Victims)
	case cause.RoomWaits:
		words = "not before these pods have ended: " + fact(n.Fit.Facts, "awaited")
	case cause.RoomUnknown:
		words = "not all that decides it could be read"
	case cause.RoomNot:
		words = joined("; ", a.rejections(n.Fit)...)
	}
	if rules := n.Fit.NotModelled; len(rules) > 0 && n.Fit.Code != cause.RoomNot {
		var names []string
		for _, r := range rules {
			names = append(names, cmp.Or(map[fit.Unmodelled]string{fit.AntiAffinityOfOthers: "anti-affinity of other pods"}[r], string(r)))
		}
		words = joined("; ", words, "not computed: "+joined(", ", names...))
	}
	return words
}

// preempts says which pods the scheduler removes for one on their node.
func preempts(pods []string, v *cause.Victims) string {
	words := Plural(len(pods), "pod") + " of lower priority for it: " + someNames(pods)
	if count, among := choiceOf(pods, v); among != "" {
		words = count + " of these pods of lower priority for it: " + among
	}
	return "the scheduler removes " + words + against(v.Budgets)
}

// rejections are the words of everything that keeps a pod off a node, and of what preemption does at the end.
func (a *answer) rejections(r *cause.Room) (words []string) {
	all := r.Rejections
	if len(all) < 2 {
		all = []cause.Rejection{{Facts: r.Facts}}
	}
	for i, r := range all {
		f := with(r.Facts, nil)
		if i < len(all)-1 {
			delete(f, "preemption")
		}
		words = append(words, doesNotFit(known{f, a.now}, 1))
	}
	return words
}

// podOn says how a pod is on the node that was asked for; empty if its status could not be read.
func (a *answer) podOn(n *explain.Node, p *explain.Pod) string {
	if p.Status() == "" {
		return ""
	}
	words := p.Name + ": " + p.Status()
	switch {
	case p.Available:
		words += " and available"
	case p.Ready:
		words += " and Ready, not available yet"
	default:
		words += ", not Ready"
	}
	if of := revisionOf(a.e, *p); of != "-" {
		words += ", revision " + of
	}
	words += either(p.UpdatedBy == daemonset.ByGeneration, " (updated by its template generation)", "")
	switch p.Claim {
	case daemonset.Adopt:
		words += ", which the controller adopts next"
	case daemonset.Release:
		words += ", which the controller releases next"
	}
	switch misscheduled := n.Exists && n.ShouldRun != nil && !n.ShouldRun.OK; {
	case p.Ignored != "":
		words += "; not counted: " + string(p.Ignored)
	case misscheduled && !n.MayStay.OK:
		words += "; counted as misscheduled, not in DESIRED; the controller deletes it"
	case misscheduled:
		words += "; counted as misscheduled, not in DESIRED" +
			either(p.Terminating, "", "; it stays until the next rollout deletes it")
	}
	return words
}

// ruleWords say how a rule of placement came out.
func ruleWords(c *daemonset.Check, f known) string {
	meaning, annotation := inBrackets(taintMeanings[f.text("key")]), inBrackets(f.text("annotation"))
	switch {
	case c.Rule == daemonset.RuleNodeName:
		return f.text("want")
	case c.Rule == daemonset.RuleNodeSelector && c.OK:
		return f.text("key") + "=" + f.text("want")
	case c.Rule == daemonset.RuleNodeSelector:
		return placement(daemonset.NodeSelector, c.Facts)
	case c.Rule == daemonset.RuleNodeAffinity && c.OK:
		return "term " + f.text("term") + " of " + f.text("terms") + " matches"
	case c.Rule == daemonset.RuleNodeAffinity:
		return requirement(f)
	case c.Rule == daemonset.RuleTaint && c.OK:
		return "tolerated by " + either(f.Yes("automatic"), "every DaemonSet pod", "the template") + meaning
	case c.Rule == daemonset.RuleTaint:
		return "not tolerated" + either(c.Stays, ": no new pod, but one that runs may stay", "") + meaning
	case f.is("valid", "false"):
		return f.text("selector") + " cannot be parsed, and is ignored" + annotation
	case c.OK:
		return f.text("selector") + annotation
	}
	return "the node does not match " + f.text("selector") + annotation +
		either(c.Stays, "; not asked, because another rule fails", "")
}

// nodeChange is one change that makes a node eligible: a command, or words that
// name the side it is made on.
func (a *answer) nodeChange(n *explain.Node, c daemonset.Remedy) []screen.Block {
	node, words := n.Name, ""
	switch p := a.e.OnNode(n); c.Kind {
	case daemonset.SetLabel:
		return []screen.Block{a.kubectl("kubectl label node", screen.Quote(node), screen.Quote(c.Key+"="+c.Value),
			"--overwrite")}
	case daemonset.RemoveLabel:
		return []screen.Block{a.kubectl("kubectl label node", screen.Quote(node), screen.Quote(c.Key+"-"))}
	case daemonset.SelectEveryNode:
		return []screen.Block{
			screen.Text("have namespace " + a.e.DaemonSet.Namespace + " select every node, for all of its pods:"),
			a.kubectl("kubectl annotate namespace", screen.Quote(a.e.DaemonSet.Namespace), screen.Quote(c.Key+"="),
				"--overwrite"),
		}
	case daemonset.AddToleration:
		words = "add to the template the toleration " + tolerationText(c.Toleration)
	case daemonset.RemoveNodeName:
		words = "remove nodeName from the template"
	case daemonset.RepairNode:
		what := either(p != nil && p.OnPurpose(), "nothing: taint ", "repair the node: its taint ")
		words = what + c.Key + " is removed when the node is Ready"
	case daemonset.NoSensibleChange:
		words = "none is sensible: " + cmp.Or(taintMeanings[c.Key], c.Key+" is not a label to set by hand")
	case daemonset.AddAffinityTerm:
		words = "add to the template's node affinity a term " +
			"{matchFields: [{key: metadata.name, operator: In, values: [" + node + "]}]}"
	}
	return []screen.Block{screen.Text(words)}
}
