package diagnosis

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/fit"
)

// OfNode returns the answer about one node of an Explanation: whether it is eligible and by which rule, its pods, and
// the smallest change that would make it eligible.
func OfNode(e *explain.Explanation, n *explain.Node, asked sheet.Asked, style wording.Style) *Answer {
	a := New(e, asked, style)
	a.node(n)
	return a
}

// UnknownNodes returns a screen for each requested node that is not in known. The command rejects the names of nodes
// that do not exist. A node is therefore unknown only if the nodes could not be read.
func UnknownNodes(nodes, known []string) (out []*screen.Screen) {
	named := sets.New(known...)
	for _, name := range nodes {
		if !named.Has(name) {
			out = append(out, &screen.Screen{Headline: screen.Headline{Verdict: "UNKNOWN", Tone: screen.Warn,
				Subject: name, Text: "the nodes could not be read, and no pod is assigned to it"}})
		}
	}
	return out
}

// node adds whether the node is eligible, its pods and its problem.
func (a *Answer) node(n *explain.Node) {
	verdict, tone, words := nodeState(n)
	a.Screen.Headline = screen.Headline{Verdict: verdict, Tone: tone, Subject: a.Subject() + " on " + n.Name,
		Text: words}
	if n.Problem != nil && n.Problem.Since != nil && n.State() != explain.NodeExcluded {
		a.Screen.Headline.Text += " (for " + wording.Ago(a.Now.Sub(*n.Problem.Since)) + ")"
	}
	a.rules(n)
	for i := range n.Pods {
		a.Add(screen.Pod, "%s", a.podOn(n, &n.Pods[i]))
	}
	if len(n.Pods) == 0 && n.Problem != nil && n.ProblemCode() != cause.NoPod { // otherwise the headline says this
		a.Add(screen.Pod, "none")
	}
	if p := a.E.OnNode(n); p != nil {
		if n.Problem != nil {
			a.reports(p)
		}
		a.Add(screen.Fault, "%s", a.Origin(p))
	}
	fixes := a.E.FixesOn(n)
	// these changes make the node eligible, which solves the problem
	if len(n.Changes) > 0 && n.ProblemCode() != cause.ExcludedButCounted {
		fixes = nil
	}
	deleting := a.E.Verdict.Code == explain.BeingDeleted // no node gets a pod
	if deleting {
		fixes = a.E.FixesOn(n)
	}
	advice, of := a.E.AdviceOn(n), []*explain.Problem{}
	if p := a.E.OnNode(n); p != nil {
		of = append(of, p)
	}
	for _, d := range append(advice, explain.Advice{})[:max(1, len(advice))] {
		a.doPart(d, advice, of, fixes)
	}
	if deleting {
		return
	}
	if n.ProblemCode() == cause.NoPod && len(advice) == 0 && len(fixes) == 0 && a.Asked.Again {
		a.Add(screen.DoNow, "find out why the controller creates no pod (read-only):")
		whole := screen.Command{a.Asked.Own("explain"), a.Namespace(), a.Name()}
		a.Screen.Add(screen.DoNow, sheet.WithFlags(whole, a.Asked.Input...))
	}
	if len(fixes) > 0 && len(n.Changes) > 0 {
		a.Add(a.To, "or make the node eligible:")
	}
	a.nodeFix(n)
}

// reports adds the problem of the node and the messages of the cluster about it.
func (a *Answer) reports(p *explain.Problem) {
	what := wording.Joined("; ", a.Meaning(p), a.Started(p))
	if what != "" || p.Code != cause.NoPod { // the headline says this
		a.Add(screen.Problem, "%s", string(p.Code)+wording.WithPrefix(": ", what))
	}
	if p.Code != cause.Misscheduled {
		a.Screen.Add(screen.Message, a.Messages(p)...)
	}
}

// nodeFix adds the changes that make a node eligible, and the consequence for its pod.
func (a *Answer) nodeFix(n *explain.Node) {
	template, sensible := false, len(n.Changes) > 0
	for _, c := range n.Changes {
		a.Screen.Add(a.To, a.nodeChange(n, c)...)
		template = template || c.OfTemplate()
		if sensible = c.Kind != daemonset.NoSensibleChange; !sensible {
			break // one such line is enough
		}
	}
	if n.Stays() && !template && len(a.E.AdviceOn(n)) == 0 {
		a.Note(screen.Text("do not start a rollout before the node is eligible again: it would delete this pod and " +
			"create none there"))
	}
	switch {
	case !sensible:
	case template:
		gets := wording.Either(n.Stays(), "which replaces this one too", "and the node gets one too")
		a.Add(a.To, "%s", "this starts a rollout of all pods, "+gets+wording.InBrackets(a.UndoneBy()))
	case n.Stays():
		a.Add(a.To, "its pod then stays, and DESIRED and READY count it again")
	default:
		a.Add(a.To, "the controller then creates a pod on the node")
	}
}

// nodeState returns the headline for a node: the state of its pod, or why it should not have one.
func nodeState(n *explain.Node) (verdict string, tone screen.Tone, words string) {
	problem := string(n.ProblemCode())
	if n.Problem != nil && wording.Predicates[n.Problem.Code].Noun != "" {
		problem = wording.Predicates[n.Problem.Code].Of([]string{n.Name}, 1)
	}
	switch state := n.State(); {
	case state == explain.NodeDeleted:
		return "NODE DELETED", screen.Bad, "pods are still assigned to it"
	case state == explain.NodeUnknown:
		return "UNKNOWN", screen.Warn, "the nodes could not be read"
	case state == explain.NodeExcluded:
		runs := wording.Either(len(n.Pods) > 0, "its pod still runs", "it has no pod")
		return "NOT ELIGIBLE", screen.Bad, NotEligible(n.ShouldRun) + "; " + runs
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

// NotEligible names the rule that excludes a node.
func NotEligible(v *daemonset.Verdict) string {
	switch v.Reason {
	case daemonset.NodeName:
		return "the template names another node"
	case daemonset.NodeSelector:
		return "the nodeSelector does not match"
	case daemonset.NodeAffinity:
		return "the node affinity does not match"
	case daemonset.TaintNotTolerated:
		meaning := wording.Phrase(wording.TaintMeanings[wording.Fact(v.Facts, "key")], ", and ")
		return meaning + "the pod does not tolerate the taint " + wording.Fact(v.Facts, "taint")
	case daemonset.NamespaceNodeSelector:
		by := wording.Phrase("the node selector of the namespace",
			wording.InBrackets(wording.Fact(v.Facts, "annotation")))
		return cmp.Or(by, "the default node selector of the controller") + " does not match"
	}
	return ""
}

// rules adds a table of the placement rules in the controller's order. One row lists the rules that the template does
// not set. The table hides the passing rules without --all if a rule fails or the node has a problem.
func (a *Answer) rules(n *explain.Node) {
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
		row(cmp.Or(wording.Fact(c.Facts, "taint"), string(c.Rule)),
			RuleWords(&c, wording.Known{Facts: c.Facts, Now: a.Now}), c.OK)
	}
	none := "none is set"
	if p := n.Problem; p != nil && p.Facts["added"] != nil {
		none = "the template sets none"
		row("nodeSelector of the pod", wording.Fact(p.Facts, "added")+", added at admission", false)
	}
	if unset := n.Unset(); len(unset) > 0 {
		row(wording.Joined(", ", unset...), none, true)
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
	if n.Problem == nil && len(failing.Rows) == 0 || a.Style.Wide {
		a.Screen.Add(screen.Body, t)
		return
	}
	a.Screen.Add(screen.Rules, t)
	a.Screen.Further(screen.Rules, screen.Check)
	if len(failing.Rows) > 0 {
		a.Screen.Add(screen.Body, &failing)
	}
}

// saysFit reports whether the problem of a node and the row about the fit say the same.
func (a *Answer) saysFit(n *explain.Node) bool {
	p := a.E.OnNode(n)
	return n.Problem != nil && p != nil && a.Meaning(p) == a.fit(n)
}

// fit describes whether a pod would fit on the node now, with the arithmetic.
func (a *Answer) fit(n *explain.Node) string {
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
		free := cmp.Or(wording.Fact(n.Fit.Facts, "free"), pods)
		words = wording.Phrase("the pod requests ", cmp.Or(wording.Joined(", ", asks...), "nothing"), "; ", free)
	case cause.RoomPreempts:
		words = preempts(n.Fit.Preempts, &n.Fit.Victims)
	case cause.RoomWaits:
		words = "not before these pods have ended: " + wording.Fact(n.Fit.Facts, "awaited")
	case cause.RoomUnknown:
		words = "not all that decides it could be read"
	case cause.RoomNot:
		words = wording.Joined("; ", a.rejections(n.Fit)...)
	}
	if rules := n.Fit.NotModelled; len(rules) > 0 && n.Fit.Code != cause.RoomNot {
		var names []string
		for _, r := range rules {
			name := string(r)
			if r == fit.AntiAffinityOfOthers {
				name = "anti-affinity of other pods"
			}
			names = append(names, name)
		}
		words = wording.Joined("; ", words, "not computed: "+wording.Joined(", ", names...))
	}
	return words
}

// preempts names the pods that the scheduler would remove from the node.
func preempts(pods []string, v *cause.Victims) string {
	words := wording.Plural(len(pods), "pod") + " of lower priority for it: " + wording.SomeNames(pods)
	if count, among := sheet.VictimChoice(pods, v); among != "" {
		words = count + " of these pods of lower priority for it: " + among
	}
	return "the scheduler removes " + words + sheet.BudgetWords(v.Budgets)
}

// rejections returns everything that keeps a pod off a node. The last item includes the result of preemption.
func (a *Answer) rejections(r *cause.Room) (words []string) {
	all := r.Rejections
	if len(all) < 2 {
		all = []cause.Rejection{{Facts: r.Facts}}
	}
	for i, r := range all {
		f := wording.MergeFacts(r.Facts, nil)
		if i < len(all)-1 {
			delete(f, "preemption")
		}
		words = append(words, sheet.DoesNotFit(wording.Known{Facts: f, Now: a.Now}, 1))
	}
	return words
}

// podOn describes the pod on the node, or returns "" if its status could not be read.
func (a *Answer) podOn(n *explain.Node, p *explain.Pod) string {
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
	if of := wording.RevisionOf(a.E, *p); of != "-" {
		words += ", revision " + of
	}
	words += wording.Either(p.UpdatedBy == daemonset.ByGeneration, " (updated by its template generation)", "")
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
			wording.Either(p.Terminating, "", "; it stays until the next rollout deletes it")
	}
	return words
}

// RuleWords describes the result of a placement rule.
func RuleWords(c *daemonset.Check, f wording.Known) string {
	meaning, annotation := wording.InBrackets(wording.TaintMeanings[f.Text("key")]),
		wording.InBrackets(f.Text("annotation"))
	switch {
	case c.Rule == daemonset.RuleNodeName:
		return f.Text("want")
	case c.Rule == daemonset.RuleNodeSelector && c.OK:
		return f.Text("key") + "=" + f.Text("want")
	case c.Rule == daemonset.RuleNodeSelector:
		return wording.Placement(daemonset.NodeSelector, c.Facts)
	case c.Rule == daemonset.RuleNodeAffinity && c.OK:
		return "term " + f.Text("term") + " of " + f.Text("terms") + " matches"
	case c.Rule == daemonset.RuleNodeAffinity:
		return wording.Requirement(f)
	case c.Rule == daemonset.RuleTaint && c.OK:
		return "tolerated by " + wording.Either(f.Yes("automatic"), "every DaemonSet pod", "the template") + meaning
	case c.Rule == daemonset.RuleTaint:
		return "not tolerated" + wording.Either(c.Stays, ": no new pod, but one that runs may stay", "") + meaning
	case f.Is("valid", "false"):
		return f.Text("selector") + " cannot be parsed, and is ignored" + annotation
	case c.OK:
		return f.Text("selector") + annotation
	}
	return "the node does not match " + f.Text("selector") + annotation +
		wording.Either(c.Stays, "; not asked, because another rule fails", "")
}

// nodeChange returns one change that makes a node eligible: a command, or an instruction to change the node, the
// namespace or the template.
func (a *Answer) nodeChange(n *explain.Node, c daemonset.Remedy) []screen.Block {
	node, words := n.Name, ""
	switch p := a.E.OnNode(n); c.Kind {
	case daemonset.SetLabel:
		return []screen.Block{a.Kubectl("kubectl label node", screen.Quote(node), screen.Quote(c.Key+"="+c.Value),
			"--overwrite")}
	case daemonset.RemoveLabel:
		return []screen.Block{a.Kubectl("kubectl label node", screen.Quote(node), screen.Quote(c.Key+"-"))}
	case daemonset.SelectEveryNode:
		return []screen.Block{
			screen.Text("have namespace " + a.E.DaemonSet.Namespace + " select every node, for all of its pods:"),
			a.Kubectl("kubectl annotate namespace", screen.Quote(a.E.DaemonSet.Namespace), screen.Quote(c.Key+"="),
				"--overwrite"),
		}
	case daemonset.AddToleration:
		words = "add to the template the toleration " + TolerationText(c.Toleration)
	case daemonset.RemoveNodeName:
		words = "remove nodeName from the template"
	case daemonset.RepairNode:
		what := wording.Either(p != nil && p.OnPurpose(), "nothing: taint ", "repair the node: its taint ")
		words = what + c.Key + " is removed when the node is Ready"
	case daemonset.NoSensibleChange:
		words = "none is sensible: " + cmp.Or(wording.TaintMeanings[c.Key], c.Key+" is not a label to set by hand")
	case daemonset.AddAffinityTerm:
		words = "add to the template's node affinity a term " +
			"{matchFields: [{key: metadata.name, operator: In, values: [" + node + "]}]}"
	}
	return []screen.Block{screen.Text(words)}
}
