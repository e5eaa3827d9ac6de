package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/managed"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Asked is the command line that asked for an answer.
type Asked struct {
	Program screen.Word      // what a person types to call this program; empty: kubectl ds
	Flags   []Flag           // of this program, that ask for the same once more
	Input   []Flag           // those of Flags that say what is read
	Kubectl []Flag           // of kubectl, that reach the same cluster
	Again   bool             // it can be asked once more: standard input cannot
	Live    bool             // of a cluster, not of a dump
	Undo    bool             // it is a rollback that was asked for as one
	Makes   []screen.Command // what makes the change that is planned, in its order; empty where none is known

	// Log returns the command, in words, that shows a log which the input has; none where it has
	// not. Nil: of a cluster.
	Log func(namespace, pod, container string, previous bool) []string
}

// own is a command of this program.
func (a Asked) own(command screen.Word) screen.Word {
	return cmp.Or(a.Program, "kubectl ds") + " " + command
}

// Flag is one that was given. One without a value is Bare.
type Flag struct {
	Name, Value string
	Bare        bool
}

// Word is a Flag as it is given.
func (f Flag) Word() screen.Word {
	if f.Bare {
		return screen.Word("--" + f.Name)
	}
	return "--" + screen.Word(f.Name) + "=" + screen.Quote(f.Value)
}

// sheet makes the screen of an answer about one DaemonSet.
type sheet struct {
	h     *daemonset.Header
	asked Asked
	style Style
	now   time.Time
	notes int          // so far
	brief bool         // acts, Impact and Limit stand without what follows from them
	terse bool         // Cause stands without what to look for
	named []string     // the nodes that Impact names already
	to    screen.Label // where acts that change the cluster stand
	lead  string       // what leads to the first of them, and has not been said yet
	after string       // what comes before them, and has not been said yet

	toSolve string // what has to be solved before the next rollout, with its verb
	s       screen.Screen
}

func newSheet(h *daemonset.Header, asked Asked, style Style) *sheet {
	return &sheet{h: h, asked: asked, style: style, now: h.Snapshot.TakenAt, to: screen.Then, toSolve: "this is"}
}

func (a *sheet) add(l screen.Label, format string, args ...any) {
	a.s.Add(l, screen.Text(fmt.Sprintf(format, args...)))
}

// plainLines are lines in no color.
func plainLines(texts []string) (lines screen.Lines) {
	for _, t := range texts {
		lines = append(lines, screen.Line{Text: t})
	}
	return lines
}

// joined joins those of some words that say something.
func joined(by string, words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), by)
}

// columns are plain columns of a table.
func columns(heads ...string) []screen.Column {
	out := make([]screen.Column, len(heads))
	for i, h := range heads {
		out[i].Head = h
	}
	return out
}

// atMost is a table with so many rows, and how many more there are; without --all.
func (a *sheet) atMost(n int, t *screen.Table, noun string) *screen.Table {
	if more := len(t.Rows) - n; more > 1 && !a.style.All {
		t.Rows = t.Rows[:n]
		t.Row(Plural(more, "more "+noun) + " (--all lists them)")
	}
	return t
}

// note adds what is worth knowing; without --all, of three things at most.
func (a *sheet) note(blocks ...screen.Block) {
	const most = 3
	if a.notes++; a.notes <= most || a.style.All {
		a.s.Add(screen.Note, blocks...)
	}
}

func (a *sheet) subject() string { return a.h.DaemonSet.Namespace + "/" + a.h.DaemonSet.Name }

func (a *sheet) namespace() screen.Word {
	return screen.Word("-n ") + screen.Quote(a.h.DaemonSet.Namespace)
}

func (a *sheet) name() screen.Word { return screen.Quote(a.h.DaemonSet.Name) }

// WithFlags is a command with flags.
func WithFlags(c screen.Command, flags ...Flag) screen.Command {
	for _, f := range flags {
		c = append(c, f.Word())
	}
	return c
}

// kubectl is a command of kubectl to the same cluster.
func (a *sheet) kubectl(words ...screen.Word) screen.Command {
	return WithFlags(words, a.asked.Kubectl...)
}

// again is a command of this plugin about the same DaemonSet and input, with
// further flags in place of those that they override; empty where there is none
// to paste.
func (a *sheet) again(command screen.Word, more ...Flag) screen.Command {
	if !a.asked.Again {
		return nil
	}
	drop := map[string]bool{}
	for _, f := range more {
		// it takes the revision's template as it is
		if drop[f.Name] = f.Name != "remove-nodes" && f.Name != "toleration"; f.Name == "to-revision" {
			drop["image"], drop["restart"], drop["toleration"], drop["node-selector"] = true, true, true, true
			if slices.ContainsFunc(a.asked.Flags, func(f Flag) bool {
				return f.Name == "filename" ||
					f.Name == "kustomize"
			}) {
				return nil // the manifest's template
			}
		}
	}
	kept := slices.DeleteFunc(slices.Clone(a.asked.Flags), func(f Flag) bool { return drop[f.Name] })
	return WithFlags(screen.Command{a.asked.own(command), a.namespace(), a.name()}, append(kept, more...)...)
}

// why names what is wrong in few words, so many of the problems, of which those
// with the same predicate are added up: the first, and those of the most nodes. A
// problem of which clause knows nothing is left out.
func why(problems []*cause.Problem, clause func(p *cause.Problem, nodes []string) string, most int) string {
	var parts []string
	size, said := map[string]int{}, map[predicate]bool{}
	for _, p := range problems {
		of, known := predicates[p.Code]
		if known && said[of] {
			continue
		}
		said[of] = true
		nodes := []string{}
		for _, other := range problems {
			if other == p || known && predicates[other.Code] == of {
				nodes = append(nodes, other.Nodes...)
			}
		}
		if words := clause(p, nodes); words != "" {
			parts, size[words] = append(parts, words), len(nodes)
		}
	}
	if more := len(parts) - most; more > 0 {
		slices.SortStableFunc(parts[1:], func(a, b string) int { return size[b] - size[a] })
		parts = append(parts[:most], Plural(more, "more problem"))
	}
	if n := len(parts) - 1; n > 0 {
		parts[n] = "and " + parts[n]
	}
	return strings.Join(parts, ", ")
}

// problemLines says what is wrong and what the cluster says of it; of many problems in a table.
func (a *sheet) problemLines(before string, problems []*cause.Problem) {
	if len(problems) > mostProblems {
		a.s.Add(screen.Body, a.problemTable("PROBLEM", problems))
		return
	}
	for _, p := range problems {
		what := screen.Names{Before: before + string(p.Code), After: a.since(p) + behind(": ", a.meaning(p)),
			Short: true}
		if len(p.Nodes) > 0 {
			what.Before, what.Names = what.Before+" on", p.Nodes
		}
		a.s.Add(screen.Problem, what, screen.Text(a.started(p)))
		if p.Code != cause.Misscheduled {
			a.s.Add(screen.Message, a.messages(p)...)
		}
	}
}

// problemTable is a table of problems, each with what is known of it.
func (a *sheet) problemTable(head string, problems []*cause.Problem) *screen.Table {
	t := &screen.Table{Columns: []screen.Column{{Head: head}, {Head: "NODES", Wrap: true, Short: true},
		{Head: "FOR", Drop: 1}}}
	for _, p := range problems {
		tone := screen.Warn
		if p.Severity == cause.SeverityError {
			tone = screen.Bad
		}
		cells := screen.Cells(string(p.Code), "-", a.lasting(p))
		if cells[0].Tone = tone; len(p.Nodes) > 0 {
			cells[1] = screen.Cell{Names: p.Nodes}
		}
		t.Rows = append(t.Rows, screen.Row{Cells: cells, Detail: a.detail(p)})
	}
	if lasts := func(p *cause.Problem) bool { return p.Since != nil }; !slices.ContainsFunc(problems, lasts) {
		t.Columns = t.Columns[:2]
		for i := range t.Rows {
			t.Rows[i].Cells = t.Rows[i].Cells[:min(2, len(t.Rows[i].Cells))]
		}
	}
	return a.atMost(6, t, "problem")
}

// lasting is how long a problem has been there, on one node or on several.
func (a *sheet) lasting(p *cause.Problem) string {
	if p.Since == nil {
		return "-"
	}
	from, to := ago(a.now.Sub(*p.Since)), ago(a.now.Sub(*cmp.Or(p.Latest, p.Since)))
	if from == to {
		return from
	}
	return to + " to " + from
}

// codesFor is "ProbeFailing for 90s", by cause.
func (a *sheet) codesFor(holders []plan.Holder) string {
	var parts []string
	for _, p := range plan.ProblemsOf(holders) {
		lasting := map[bool]string{true: a.lasting(p)}[p.Since != nil]
		parts = append(parts, string(p.Code)+behind(" for ", lasting))
	}
	return strings.Join(parts, ", ")
}

// check is a command that shows more of a problem and changes nothing; empty
// where there is none.
func (a *sheet) check(p *cause.Problem) screen.Command {
	if p.Code == cause.NoEligibleNode {
		return a.placementCheck(p.Facts)
	}
	first := func(names []string) screen.Word { return screen.Quote(strings.Join(names[:min(1, len(names))], "")) }
	var nodes []screen.Word
	for _, n := range p.Nodes[:min(3, len(p.Nodes))] {
		nodes = append(nodes, screen.Quote(n))
	}
	node, pod, namespace, name := first(p.Nodes), first(p.Pods), a.namespace(), p.Subject.Name
	logs := []screen.Word{"kubectl logs", namespace, pod, "-c " + screen.Quote(fact(p.Facts, "container"))}
	words := map[cause.Look][]screen.Word{
		cause.LookQuotas: {"kubectl get resourcequotas", namespace},
		cause.LookNode:   append([]screen.Word{"kubectl describe node"}, nodes...),
		cause.LookNodePorts: {"kubectl get pods", "-A", "--field-selector spec.nodeName=" + node,
			"-o custom-columns=NS:metadata.namespace,POD:metadata.name,PORTS:..hostPort"},
		cause.LookPod:      {"kubectl describe pod", namespace, pod},
		cause.LookMemory:   {"kubectl top pod", namespace, pod, "--containers"},
		cause.LookLogs:     logs,
		cause.LookLastLogs: append(slices.Clone(logs), "--previous"),
		cause.LookController: {"kubectl get lease", "-n kube-system", "kube-controller-manager",
			"-o jsonpath='{.spec.renewTime}'"},
		cause.LookQuota: {"kubectl describe resourcequota", namespace, screen.Quote(name)},
		cause.LookService: {"kubectl get endpointslices", "-n " + screen.Quote(fact(p.Facts, "serviceNamespace")),
			"-l kubernetes.io/service-name=" + screen.Quote(fact(p.Facts, "service"))},
		cause.LookSelector:  {"kubectl get namespace", screen.Quote(a.h.DaemonSet.Namespace), "-o yaml"},
		cause.LookNamespace: {"kubectl get namespace", screen.Quote(a.h.DaemonSet.Namespace), "--show-labels"},
		cause.LookEvents: {"kubectl get events", namespace,
			"--field-selector involvedObject.kind=DaemonSet,involvedObject.name=" + a.name()},
	}[explain.LookInto(p)]
	if c := a.describeOwner(p.Facts); len(c) > 0 {
		return c
	}
	if c := a.usage(p); len(c) > 0 {
		return c
	}
	if look := explain.LookInto(p); a.asked.Log != nil && (look == cause.LookLogs || look == cause.LookLastLogs) &&
		len(p.Pods) > 0 {
		if words := a.asked.Log(a.h.DaemonSet.Namespace, p.Pods[0], fact(p.Facts, "container"),
			look == cause.LookLastLogs); len(words) > 0 {
			c := screen.Command{}
			for _, w := range words {
				c = append(c, screen.Word(w))
			}
			return c
		}
	}
	if words == nil {
		return nil
	}
	return a.kubectl(words...)
}

// usage is a command that shows what uses the disk or the memory of a node; empty where it is not about that.
func (a *sheet) usage(p *cause.Problem) screen.Command {
	memory := p.Code == cause.OOMKilled && p.Blame != nil && p.Blame.Who == cause.WhoNode
	if p.Subject.Kind != cause.SubjectNodeCondition && !memory || len(p.Nodes) != 1 {
		return nil
	}
	switch on := corev1.NodeConditionType(p.Subject.Name); {
	case on == corev1.NodeDiskPressure:
		return a.kubectl("kubectl get --raw", screen.Quote("/api/v1/nodes/"+p.Nodes[0]+"/proxy/stats/summary"))
	case on == corev1.NodeMemoryPressure || memory:
		return a.kubectl("kubectl top pods", "-A", "--sort-by=memory",
			"--field-selector spec.nodeName="+screen.Quote(p.Nodes[0]))
	}
	return nil
}

// describeOwner is a command that shows the pod that uses a host port; empty where it is
// not known.
func (a *sheet) describeOwner(f daemonset.Facts) screen.Command {
	if fact(f, "ownerName") == "" {
		return nil
	}
	return a.kubectl("kubectl describe pod", screen.Word("-n ")+screen.Quote(fact(f, "ownerNamespace")),
		screen.Quote(fact(f, "ownerName")))
}

// act is what to do: words, or a command under them, with its side effects.
func (a *sheet) act(l screen.Label, words string, c screen.Command, effects ...string) {
	if l == a.to && words == "" && len(c) > 0 && a.lead != "" {
		words, a.lead = a.lead+":", ""
	}
	a.acts(l, words, []screen.Command{c}, effects...)
}

// acts is what to do with several commands, one after the other.
func (a *sheet) acts(l screen.Label, words string, all []screen.Command, effects ...string) {
	if a.brief {
		effects = nil
	}
	if l == a.to && words != "" {
		words, a.after = a.after+words, ""
	}
	var blocks screen.Group
	for _, c := range all {
		blocks = append(blocks, c)
	}
	blocks = append(blocks, screen.Text(bracketed(effects...)))
	if words != "" && len(slices.Concat(all...)) > 0 {
		blocks = screen.Group{screen.Text(words), screen.Indent(blocks)}
	} else if words != "" {
		blocks = slices.Insert(blocks, 0, screen.Block(screen.Text(words)))
	}
	a.s.Add(l, blocks)
}

// patch changes fields of spec.updateStrategy.rollingUpdate.
func (a *sheet) patch(rollingUpdate string) screen.Command {
	return a.kubectl("kubectl patch daemonset", a.namespace(), a.name(), "--type=merge", "-p",
		screen.Quote(`{"spec":{"updateStrategy":{"rollingUpdate":`+rollingUpdate+`}}}`))
}

// limitTo sets maxUnavailable or maxSurge to a number or a percentage.
func (a *sheet) limitTo(field, value string) screen.Command {
	if _, err := strconv.Atoi(value); err != nil {
		value = strconv.Quote(value)
	}
	return a.patch(`{"` + field + `":` + value + `}`)
}

// checks adds the commands that look into problems.
func (a *sheet) checks(problems []*cause.Problem) { a.s.Add(screen.Check, a.looksInto(problems)...) }

// looksInto are commands that only read, one for each code of problems, under its name
// where there are several.
func (a *sheet) looksInto(problems []*cause.Problem) (looks []screen.Block) {
	add := func(b screen.Block) { looks = append(looks, b) }
	of, said := map[string][]daemonset.Reason{}, map[daemonset.Reason]bool{}
	var checks []screen.Command
	for _, p := range problems {
		c := a.check(p)
		if len(c) == 0 || said[p.Code] && len(a.describeOwner(p.Facts)) == 0 {
			continue
		}
		if of[c.String()] == nil {
			checks = append(checks, c)
		}
		said[p.Code], of[c.String()] = true, append(of[c.String()], p.Code)
	}
	for i, c := range checks {
		switch most := 6; {
		case i == most && !a.style.All:
			add(screen.Text(fmt.Sprintf("%d more with --all", len(checks)-most)))
			return looks
		case len(said) > 1:
			add(screen.Group{screen.Text(reasonNames(of[c.String()]) + ":"), screen.Indent{c}})
		default:
			add(c)
		}
		if slices.Contains(of[c.String()], cause.ControllerSilent) {
			add(screen.Text("(if this time, in UTC, is more than a minute ago, kube-controller-manager is down; if " +
				"not, read its logs)"))
			add(a.kubectl("kubectl get pods", "-n kube-system", "-l component=kube-controller-manager"))
			add(screen.Text("(its pods, if it runs in this cluster; if there are none, the provider or a service on " +
				"the control plane nodes runs it)"))
		}
	}
	return looks
}

// limitFlags ask for another limit.
var limitFlags = map[daemonset.BudgetKind]string{daemonset.BudgetUnavailable: "max-unavailable",
	daemonset.BudgetSurge: "max-surge"}

// limitWords is the limit of a rolling update with its arithmetic.
func limitWords(kind daemonset.BudgetKind, spec, scaled string, of, limit int) string {
	words := phrase(kind.Field(), " ") + cmp.Or(screen.Clean(spec), "1 (the default)")
	number := strconv.Itoa(limit)
	if spec == "" || spec == number {
		return words
	}
	words += " of " + Plural(of, "node") + " = " + number
	if scaled != number {
		words += phrase(" (", screen.Clean(scaled), ", rounded up)")
	}
	return words
}

// sync says which pods a sync of the controller deletes and creates.
func (a *sheet) sync(n *daemonset.Step, when string) {
	var lines []screen.Block
	for _, batch := range []struct {
		verb, one string
		daemonset.Batch
	}{{"deletes", "the pod", n.Deletes}, {"creates", "a pod", n.Creates}} {
		for _, c := range slices.Concat(batch.ByReason(), batch.Choices) {
			what, nodes, why := pluralOf(c.Count, batch.one, Plural(c.Count, "pod")), c.Nodes(), stepWords[c.Reason]
			if c.Count < len(c.From) {
				what, why = fmt.Sprintf("%d of %s", c.Count, Plural(len(c.From), "pod")),
					joined("; ", why, "chosen at random")
				if nodes = slices.Compact(nodes); len(nodes) > 3 {
					nodes = nil
				}
			}
			if len(nodes) > 3 && slices.Equal(nodes, a.named) {
				nodes = nil
			}
			if len(nodes) > 0 {
				what += " on"
			}
			lines = append(lines, screen.Names{Before: when + ", the controller " + batch.verb + " " + what,
				Names: nodes, After: inBrackets(why), Short: true})
		}
		if batch.Deferred > 0 {
			lines = append(lines, screen.Text(fmt.Sprintf("it %s %d more in later syncs: one sync takes at most %d",
				batch.verb, batch.Deferred, daemonset.BurstReplicas)))
		}
	}
	if !n.Exact && len(lines) > 0 {
		lines = append(lines, screen.Text("(deletes and creates may be missing here: "+cmp.Or(unread(a.h),
			"a part could not be read")+")"))
	}
	const most = 2
	a.s.Add(screen.Outlook, lines[:min(most, len(lines))]...)
	a.s.Add(screen.Rollout, lines[min(most, len(lines)):]...)
}

// bookkeeping is what a sync does to owners, labels and revisions.
func (a *sheet) bookkeeping(n daemonset.Step) {
	say := func(verb, word string, names []string) {
		if len(names) > 0 {
			a.s.Add(screen.Notes, screen.Names{Before: "the next sync " + verb + " " + Plural(len(names), word) + ":",
				Names: names, Short: true})
		}
	}
	r := &n.Revisions
	say("adopts", "pod", n.Pods.Adopt)
	say("releases", "pod", n.Pods.Release)
	say("adopts", "revision", r.Adopt)
	say("releases", "revision", r.Release)
	switch {
	case r.Cut:
		a.s.Add(screen.Notes, screen.Text(fmt.Sprintf("the next sync creates revision %d from the live template", r.Number)))
	case r.RaisedFrom > 0:
		a.s.Add(screen.Notes, screen.Text(fmt.Sprintf("the next sync renumbers revision %d to %d, as it holds the "+
			"live template", r.RaisedFrom, r.Number)))
	}
	say("gives the current revision's hash to", "pod", r.Relabel)
	say("removes as a duplicate", "revision", r.Removes(daemonset.Duplicate))
	say("removes, beyond revisionHistoryLimit,", "revision", r.Removes(daemonset.CleanUp))
}

// strategy names the update strategy, which the dump of a client may lack.
func strategy(h *daemonset.Header) string { return cmp.Or(h.DaemonSet.Strategy, "no strategy") }

// idle says why the controller does nothing with pods.
func idle(why daemonset.Reason, h *daemonset.Header) string {
	if why == daemonset.StepOnDelete {
		return "every node has its pod, and with " + screen.Clean(strategy(h)) + " the controller replaces none"
	}
	return cmp.Or(idleWords[why], "the controller waits for pods to become Ready or to end")
}

var idleWords = map[daemonset.Reason]string{
	daemonset.StepBeingDeleted: "the controller does nothing: the DaemonSet is being deleted",
	daemonset.StepSelectsAll:   "the controller does nothing: the selector is empty",
	daemonset.StepUpToDate:     "all pods are updated",
	daemonset.StepBudgetSpent: "the controller waits for a pod to become available, because the limit of the " +
		"rollout is reached",
	daemonset.StepFails: "the controller's step fails before it replaces a pod",
}

// stepWords say why the controller deletes or creates a pod, where that is not
// what a rollout does anyway.
var stepWords = map[daemonset.Reason]string{
	daemonset.Forced:           "not available, so deleted immediately",
	daemonset.NoLongerEligible: "the node is no longer eligible",
	daemonset.Sunset:           "an old pod on a node that is not eligible",
	daemonset.Superseded:       "the new pod is available, or this one is not Ready",
	daemonset.Duplicate:        "a second pod on the node",
	daemonset.FailedPod:        "the pod has failed",
	daemonset.SucceededPod:     "the pod has ended",
	daemonset.NodeMissing:      "its node was deleted",
	daemonset.Surge:            "alongside the old pod",
}

// unread names what could not be read, and says so: or that it was read only in part.
func unread(h *daemonset.Header) string {
	var parts []string
	inPart := true
	for _, what := range h.Snapshot.Unread() {
		parts = append(parts, partWords(what))
		inPart = inPart && slices.ContainsFunc(h.Snapshot.Gaps, func(g daemonset.Gap) bool {
			return g.What == what &&
				g.Why == snapshot.Partial
		})
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, " and ") + map[bool]string{true: " were read only in part",
		false: " could not be read"}[inPart]
}

// managerWords say who writes a DaemonSet besides a person, and what undoes a
// change by hand.
func managerWords(m managed.Manager) (who, undone string) {
	by := screen.Clean(m.By)
	of := func(kind string) string { return phrase(" ("+kind+` "`, by, `")`) }
	switch m.Tool {
	case managed.Operator:
		return phrase("the controller of ", by), "its next reconciliation undoes this"
	case managed.ArgoCD:
		return "Argo CD" + of("application"), "the next sync undoes this"
	case managed.FluxKustomization:
		return "Flux" + of("Kustomization"), "the next reconciliation undoes this"
	case managed.FluxHelmRelease:
		return "Flux" + of("HelmRelease"), "the next upgrade, or correction of drift, undoes this"
	case managed.AddonManager:
		return "the addon manager of Kubernetes", "it is applied again all the time, which undoes this"
	case managed.HelmRelease:
		return "Helm" + of("release"), "the next upgrade undoes this"
	case managed.ServerSideApply:
		return phrase(by, " (server-side apply)"), "the next apply undoes this"
	case managed.Program:
		return by, "it may undo this"
	case managed.KubectlApply:
		return "kubectl apply", "the next apply of its manifest undoes this"
	}
	return "", ""
}
