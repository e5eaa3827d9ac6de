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
			out = append(out, &screen.Screen{Headline: screen.Headline{Verdict: "UNKNOWN", Tone: screen.Warn, Subject: name, Text: "the nodes could not be read, and no pod is assigned to it"}})
		}
	}
	return out
}

// node says whether a node is eligible, what runs there and what is wrong.
func (a *answer) node(n *explain.Node) {
	is, f := nodeStates[n.State()], daemonset.Facts{"runs": len(n.Pods) > 0, "problem": string(n.ProblemCode())}
	if n.ShouldRun != nil {
		f["excluded"] = fill(a.now, ofNode(n.ShouldRun.Facts), notEligible[n.ShouldRun.Reason]...)
	}
	if n.Problem != nil && predicates[n.Problem.Code].noun != "" {
		f["problem"] = predicates[n.Problem.Code].of([]string{n.Name}, 1)
	}
	if n.ProblemCode() == cause.NoPod && n.State() == explain.NodeFails {
		is.verdict = "NO POD"
	}
	a.s.Headline = screen.Headline{Verdict: is.verdict, Tone: is.tone, Subject: a.subject() + " on " + n.Name, Text: fill(a.now, f, is.words)}
	if n.Problem != nil && n.Problem.Since != nil && n.State() != explain.NodeExcluded {
		a.s.Headline.Text += " (for " + ago(a.now.Sub(*n.Problem.Since)) + ")"
	}
	a.rules(n)
	for _, p := range n.Pods {
		f := daemonset.Facts{"pod": p.Name, "phase": p.Status(), "available": p.Available, "ready": p.Ready, "updatedBy": p.UpdatedBy, "claim": p.Claim, "ignored": p.Ignored}
		if of := revisionOf(a.e, p); of != "-" {
			f["revision"] = of
		}
		if p.Ignored == "" && n.Exists && n.ShouldRun != nil && !n.ShouldRun.OK {
			f["misscheduled"], f["deleted"], f["stays"] = true, !n.MayStay.OK, n.MayStay.OK && !p.Terminating
		}
		a.add(screen.Pod, "%s", fill(a.now, f, podWords))
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
	if len(n.Changes) > 0 && n.ProblemCode() != cause.ExcludedButCounted { // they make it eligible, and that ends the problem
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
	f := daemonset.Facts{"template": template, "stays": n.Stays(), "who": a.undoneBy()}
	if n.Stays() && !template && len(a.e.AdviceOn(n)) == 0 {
		a.note(screen.Text("do not start a rollout before the node is eligible again: it would delete this pod and create none there"))
	}
	if sensible {
		a.add(a.to, "%s", fill(a.now, f,
			"{template=true}{stays=true}this starts a rollout of all pods, which replaces this one too[ ({who})]", "{template=true}this starts a rollout of all pods, and the node gets one too[ ({who})]",
			"{stays=true}its pod then stays, and DESIRED and READY count it again", "the controller then creates a pod on the node"))
	}
}

// nodeStates are a node's headline: what runs there, or why nothing should.
var nodeStates = map[explain.NodeState]struct {
	verdict string
	tone    screen.Tone
	words   string
}{
	explain.NodeDeleted:  {"NODE DELETED", screen.Bad, "pods are still assigned to it"},
	explain.NodeUnknown:  {"UNKNOWN", screen.Warn, "the nodes could not be read"},
	explain.NodeExcluded: {"NOT ELIGIBLE", screen.Bad, "{excluded} {runs?its pod still runs|it has no pod}"},
	explain.NodeFails:    {"NOT AVAILABLE", screen.Bad, "{problem}"},
	explain.NodeWaits:    {"ELIGIBLE", screen.Good, "{problem}"},
	explain.NodeEmpty:    {"ELIGIBLE", screen.Good, "it has no pod"},
	explain.NodeFine:     {"ELIGIBLE", screen.Good, "its pod is available"},
}

// notEligible says which rule excludes a node.
var notEligible = map[daemonset.Reason][]string{
	daemonset.NodeName:              {"the template names another node; "},
	daemonset.NodeSelector:          {"the nodeSelector does not match; "},
	daemonset.NodeAffinity:          {"the node affinity does not match; "},
	daemonset.TaintNotTolerated:     {"[{meaning}, and ]the pod does not tolerate the taint {taint}; "},
	daemonset.NamespaceNodeSelector: {"the node selector of the namespace ({annotation}) does not match; ", "the default node selector of the controller does not match; "},
}

// rules is a table of the rules of placement in the controller's order, those
// that the template does not set in one line. Where one fails, the others are left to --all, and so are all
// where a problem is named below.
func (a *answer) rules(n *explain.Node) {
	if n.ShouldRun == nil || !n.Exists {
		return
	}
	t := &screen.Table{Columns: []screen.Column{{Head: "RULE", Wrap: true}, {Head: "RESULT"}, {Head: "WHY", Wrap: true}}}
	row := func(rule, why string, ok bool) {
		cells := screen.Cells(rule, "passes", why)
		if cells[1].Tone = screen.Good; !ok {
			cells[1] = screen.Cell{Lines: []string{"FAILS"}, Tone: screen.Bad}
		}
		t.Rows = append(t.Rows, screen.Row{Cells: cells})
	}
	for _, c := range n.Checks {
		f := with(ofNode(c.Facts), daemonset.Facts{"ok": c.OK, "stays": c.Stays, "placement": placement(daemonset.NodeSelector, c.Facts)})
		row(cmp.Or(fact(c.Facts, "taint"), string(c.Rule)), fill(a.now, f, checks[c.Rule]...), c.OK)
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
	f := with(n.Fit.Facts, daemonset.Facts{
		"code": string(n.Fit.Code), "asks": joined(", ", asks...), "free": cmp.Or(fact(n.Fit.Facts, "free"), pods),
		"awaited": fact(n.Fit.Facts, "awaited"),
	})
	words := fill(a.now, f,
		"{code=Fits}{asks=}the pod requests nothing; {free}", "{code=Fits}the pod requests {asks}; {free}", "{code=Fits}",
		"{code=Waits}not before these pods have ended: {awaited}", "{code=Unknown}not all that decides it could be read",
	)
	switch n.Fit.Code {
	case cause.RoomPreempts:
		words = preempts(n.Fit.Preempts, &n.Fit.Victims)
	case cause.RoomNot:
		words = doesNotFit(known{f, a.now}, 1)
	}
	if n.Fit.Code == cause.RoomNot && len(n.Fit.Rejections) > 1 {
		words = joined("; ", a.rejections(n.Fit.Rejections)...)
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
func (a *answer) rejections(all []cause.Rejection) (words []string) {
	for i, r := range all {
		f := with(r.Facts, nil)
		if i < len(all)-1 {
			delete(f, "preemption")
		}
		words = append(words, doesNotFit(known{f, a.now}, 1))
	}
	return words
}

// podWords is a pod on the node that was asked for.
const podWords = "{pod}: {phase}[{available=true} and available][{available=false}{ready=true} and Ready, not available yet][{available=false}{ready=false}, not Ready][, revision {revision}]" +
	"[{updatedBy=Generation} (updated by its template generation)][{claim=Adopt}, which the controller adopts next][{claim=Release}, which the controller releases next]" +
	"[; not counted: {ignored}][{misscheduled=true}; counted as misscheduled, not in DESIRED][{deleted=true}; the controller deletes it][{stays=true}; it stays until the next rollout deletes it]"

// checks say how a rule of placement came out.
var checks = map[daemonset.Rule][]string{
	daemonset.RuleNodeName:     {"{want}"},
	daemonset.RuleNodeSelector: {"{ok=true}{key}=[{want}]", "{placement}"},
	daemonset.RuleNodeAffinity: {"{ok=true}term {term} of {terms} matches", "{requirement}"},
	daemonset.RuleTaint:        {"{ok=true}tolerated by {automatic?every DaemonSet pod|the template}[ ({meaning})]", "not tolerated[{stays=true}: no new pod, but one that runs may stay][ ({meaning})]"},
	daemonset.RuleNamespaceSelector: {
		"{valid=false}{selector} cannot be parsed, and is ignored[ ({annotation})]", "{ok=true}{selector}[ ({annotation})]",
		"the node does not match {selector}[ ({annotation})][{stays=true}; not asked, because another rule fails]",
	},
}

// nodeChange is one change that makes a node eligible: a command, or words that
// name the side it is made on.
func (a *answer) nodeChange(n *explain.Node, c daemonset.Remedy) []screen.Block {
	node, p := n.Name, a.e.OnNode(n)
	switch c.Kind {
	case daemonset.SetLabel:
		return []screen.Block{a.kubectl("kubectl label node", screen.Quote(node), screen.Quote(c.Key+"="+c.Value), "--overwrite")}
	case daemonset.RemoveLabel:
		return []screen.Block{a.kubectl("kubectl label node", screen.Quote(node), screen.Quote(c.Key+"-"))}
	case daemonset.SelectEveryNode:
		return []screen.Block{
			screen.Text("have namespace " + a.e.DaemonSet.Namespace + " select every node, for all of its pods:"),
			a.kubectl("kubectl annotate namespace", screen.Quote(a.e.DaemonSet.Namespace), screen.Quote(c.Key+"="), "--overwrite"),
		}
	}
	f := daemonset.Facts{"key": c.Key, "meaning": taintMeanings[c.Key], "affinity": fmt.Sprintf("{matchFields: [{key: metadata.name, operator: In, values: [%s]}]}", node)}
	if f["purposely"] = p != nil && p.OnPurpose(); c.Toleration != nil {
		t := c.Toleration
		f["toleration"] = tolerationText(t)
	}
	return []screen.Block{screen.Text(fill(a.now, f, eligibleIf[c.Kind]...))}
}

var eligibleIf = map[daemonset.RemedyKind][]string{
	daemonset.AddToleration:    {"add to the template the toleration {toleration}"},
	daemonset.RemoveNodeName:   {"remove nodeName from the template"},
	daemonset.RepairNode:       {"{purposely=true}nothing: taint {key} is removed when the node is Ready", "repair the node: its taint {key} is removed when the node is Ready"},
	daemonset.NoSensibleChange: {"none is sensible: {meaning}", "none is sensible: {key} is not a label to set by hand"},
	daemonset.AddAffinityTerm:  {"add to the template's node affinity a term {affinity}"},
}
