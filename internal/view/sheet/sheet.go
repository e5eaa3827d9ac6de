// Package sheet has the common parts of all screens about a DaemonSet: the command line, commands to paste, tables of
// problems, notes, assumptions and figures. A Sheet collects them in one screen.
package sheet

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/managed"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Asked is the command line of the user.
type Asked struct {
	Program screen.Word      // the name of this program as the user types it; "" for kubectl ds
	Flags   []Flag           // the flags of this program that repeat the query
	Input   []Flag           // the subset of Flags that selects the input
	Kubectl []Flag           // the flags of kubectl that select the same cluster
	Again   bool             // the query can be repeated, which is impossible for standard input
	Live    bool             // the input is a cluster, not a dump
	Undo    bool             // the query is a rollback
	Makes   []screen.Command // commands that make the planned change, in order; empty if unknown

	// Log returns the words of a command that shows a log from the input, or none if the input does not have that log.
	// Log is nil if the input is a cluster.
	Log func(namespace, pod, container string, previous bool) []string
}

// Own returns a command of this program.
func (a Asked) Own(command screen.Word) screen.Word {
	return cmp.Or(a.Program, "kubectl ds") + " " + command
}

// Flag is a flag of the command line. Bare is set if it has no value.
type Flag struct {
	Name, Value string
	Bare        bool
}

// Word returns the flag as the user types it.
func (f Flag) Word() screen.Word {
	if f.Bare {
		return screen.Word("--" + f.Name)
	}
	return "--" + screen.Word(f.Name) + "=" + screen.Quote(f.Value)
}

// Sheet builds the screen about one DaemonSet.
type Sheet struct {
	Header *daemonset.Header
	Asked  Asked
	Style  wording.Style
	Now    time.Time
	notes  int          // number of notes so far
	Brief  bool         // Acts, Impact and Limit omit the consequences
	Terse  bool         // Fault omits what to look for
	Named  []string     // the nodes that Impact already names
	To     screen.Label // the label for actions that change the cluster
	Lead   string       // text before the first of these actions; "" once it is shown
	After  string       // text before Lead, such as a condition; "" once it is shown

	ToSolve string // the problems to solve before the next rollout, with a verb
	Screen  screen.Screen
}

// New returns an empty sheet about the DaemonSet of h.
func New(h *daemonset.Header, asked Asked, style wording.Style) *Sheet {
	return &Sheet{Header: h, Asked: asked, Style: style, Now: h.Snapshot.TakenAt, To: screen.Then, ToSolve: "this is"}
}

// Add adds a formatted paragraph under a label.
func (a *Sheet) Add(l screen.Label, format string, args ...any) {
	a.Screen.Add(l, screen.Text(fmt.Sprintf(format, args...)))
}

// PlainLines returns uncolored lines.
func PlainLines(texts []string) (lines screen.Lines) {
	for _, t := range texts {
		lines = append(lines, screen.Line{Text: t})
	}
	return lines
}

// Columns returns plain columns of a table.
func Columns(heads ...string) []screen.Column {
	out := make([]screen.Column, len(heads))
	for i, h := range heads {
		out[i].Head = h
	}
	return out
}

// AtMost shortens a table to n rows and adds a row with the number of the omitted ones. With --all, it returns the
// complete table.
func (a *Sheet) AtMost(n int, t *screen.Table, noun string) *screen.Table {
	if more := len(t.Rows) - n; more > 1 && !a.Style.All {
		t.Rows = t.Rows[:n]
		t.Row(wording.Plural(more, "more "+noun) + " (--all lists them)")
	}
	return t
}

// Note adds a note. Without --all, it drops all notes after the third.
func (a *Sheet) Note(blocks ...screen.Block) {
	const most = 3
	if a.notes++; a.notes <= most || a.Style.All {
		a.Screen.Add(screen.Note, blocks...)
	}
}

// Subject returns the namespace and the name of the DaemonSet.
func (a *Sheet) Subject() string { return a.Header.DaemonSet.Namespace + "/" + a.Header.DaemonSet.Name }

// Namespace returns the flag for the namespace of the DaemonSet.
func (a *Sheet) Namespace() screen.Word {
	return screen.Word("-n ") + screen.Quote(a.Header.DaemonSet.Namespace)
}

// Name returns the quoted name of the DaemonSet.
func (a *Sheet) Name() screen.Word { return screen.Quote(a.Header.DaemonSet.Name) }

// WithFlags appends flags to a command.
func WithFlags(c screen.Command, flags ...Flag) screen.Command {
	for _, f := range flags {
		c = append(c, f.Word())
	}
	return c
}

// Kubectl returns a kubectl command for the same cluster.
func (a *Sheet) Kubectl(words ...screen.Word) screen.Command {
	return WithFlags(words, a.Asked.Kubectl...)
}

// Again returns a command of this program for the same DaemonSet and input. The flags in more replace the given flags
// that they override. It returns nil if no such command can be pasted.
func (a *Sheet) Again(command screen.Word, more ...Flag) screen.Command {
	if !a.Asked.Again {
		return nil
	}
	drop := map[string]bool{}
	for _, f := range more {
		// a rollback uses the template of the revision unchanged
		if drop[f.Name] = f.Name != "remove-nodes" && f.Name != "toleration"; f.Name == "to-revision" {
			drop["image"], drop["restart"], drop["toleration"], drop["node-selector"] = true, true, true, true
			if slices.ContainsFunc(a.Asked.Flags, func(f Flag) bool {
				return f.Name == "filename" ||
					f.Name == "kustomize"
			}) {
				return nil // the template is from the manifest
			}
		}
	}
	kept := slices.DeleteFunc(slices.Clone(a.Asked.Flags), func(f Flag) bool { return drop[f.Name] })
	return WithFlags(screen.Command{a.Asked.Own(command), a.Namespace(), a.Name()}, append(kept, more...)...)
}

// Why names the problems in a few words. It merges problems that have the same predicate. It keeps the first one and
// those with the most nodes, up to most. It leaves out a problem for which clause returns "".
func Why(problems []*cause.Problem, clause func(p *cause.Problem, nodes []string) string, most int) string {
	var parts []string
	size, said := map[string]int{}, map[wording.Predicate]bool{}
	for _, p := range problems {
		of, known := wording.Predicates[p.Code]
		if known && said[of] {
			continue
		}
		said[of] = true
		nodes := []string{}
		for _, other := range problems {
			if other == p || known && wording.Predicates[other.Code] == of {
				nodes = append(nodes, other.Nodes...)
			}
		}
		if words := clause(p, nodes); words != "" {
			parts, size[words] = append(parts, words), len(nodes)
		}
	}
	if more := len(parts) - most; more > 0 {
		slices.SortStableFunc(parts[1:], func(a, b string) int { return size[b] - size[a] })
		parts = append(parts[:most], wording.Plural(more, "more problem"))
	}
	if n := len(parts) - 1; n > 0 {
		parts[n] = "and " + parts[n]
	}
	return strings.Join(parts, ", ")
}

// ProblemLines adds the problems and the messages about them. If there are many, it adds a table.
func (a *Sheet) ProblemLines(before string, problems []*cause.Problem) {
	if len(problems) > MostProblems {
		a.Screen.Add(screen.Body, a.ProblemTable("PROBLEM", problems))
		return
	}
	for _, p := range problems {
		what := screen.Names{Before: before + string(p.Code), After: a.Since(p) +
			wording.WithPrefix(": ", a.Meaning(p)),
			Short: true}
		if len(p.Nodes) > 0 {
			what.Before, what.Names = what.Before+" on", p.Nodes
		}
		a.Screen.Add(screen.Problem, what, screen.Text(a.Started(p)))
		if p.Code != cause.Misscheduled {
			a.Screen.Add(screen.Message, a.Messages(p)...)
		}
	}
}

// ProblemTable returns a table with the details of each problem.
func (a *Sheet) ProblemTable(head string, problems []*cause.Problem) *screen.Table {
	t := &screen.Table{Columns: []screen.Column{{Head: head}, {Head: "NODES", Wrap: true, Short: true},
		{Head: "FOR", Drop: 1}}}
	for _, p := range problems {
		tone := screen.Warn
		if p.Severity == cause.SeverityError {
			tone = screen.Bad
		}
		cells := screen.Cells(string(p.Code), "-", a.Lasting(p))
		if cells[0].Tone = tone; len(p.Nodes) > 0 {
			cells[1] = screen.Cell{Names: p.Nodes}
		}
		t.Rows = append(t.Rows, screen.Row{Cells: cells, Detail: a.Detail(p)})
	}
	if lasts := func(p *cause.Problem) bool { return p.Since != nil }; !slices.ContainsFunc(problems, lasts) {
		t.Columns = t.Columns[:2]
		for i := range t.Rows {
			t.Rows[i].Cells = t.Rows[i].Cells[:min(2, len(t.Rows[i].Cells))]
		}
	}
	return a.AtMost(6, t, "problem")
}

// Lasting returns the duration of a problem, as a range if it differs between nodes.
func (a *Sheet) Lasting(p *cause.Problem) string {
	if p.Since == nil {
		return "-"
	}
	from, to := wording.Ago(a.Now.Sub(*p.Since)), wording.Ago(a.Now.Sub(*cmp.Or(p.Latest, p.Since)))
	if from == to {
		return from
	}
	return to + " to " + from
}

// CodesFor returns the problems and their durations, such as "ProbeFailing for 90s".
func (a *Sheet) CodesFor(holders []plan.Holder) string {
	var parts []string
	for _, p := range plan.ProblemsOf(holders) {
		lasting := map[bool]string{true: a.Lasting(p)}[p.Since != nil]
		parts = append(parts, string(p.Code)+wording.WithPrefix(" for ", lasting))
	}
	return strings.Join(parts, ", ")
}

// check returns a read-only command that shows more about a problem, or nil if there is none.
func (a *Sheet) check(p *cause.Problem) screen.Command {
	if p.Code == cause.NoEligibleNode {
		return a.placementCheck(p.Facts)
	}
	first := func(names []string) screen.Word { return screen.Quote(strings.Join(names[:min(1, len(names))], "")) }
	var nodes []screen.Word
	for _, n := range p.Nodes[:min(3, len(p.Nodes))] {
		nodes = append(nodes, screen.Quote(n))
	}
	node, pod, namespace, name := first(p.Nodes), first(p.Pods), a.Namespace(), p.Subject.Name
	logs := []screen.Word{"kubectl logs", namespace, pod, "-c " + screen.Quote(wording.Fact(p.Facts, "container"))}
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
		cause.LookService: {"kubectl get endpointslices", "-n " +
			screen.Quote(wording.Fact(p.Facts, "serviceNamespace")),
			"-l kubernetes.io/service-name=" + screen.Quote(wording.Fact(p.Facts, "service"))},
		cause.LookSelector:  {"kubectl get namespace", screen.Quote(a.Header.DaemonSet.Namespace), "-o yaml"},
		cause.LookNamespace: {"kubectl get namespace", screen.Quote(a.Header.DaemonSet.Namespace), "--show-labels"},
		cause.LookEvents: {"kubectl get events", namespace,
			"--field-selector involvedObject.kind=DaemonSet,involvedObject.name=" + a.Name()},
	}[explain.LookInto(p)]
	if c := a.describeOwner(p.Facts); len(c) > 0 {
		return c
	}
	if c := a.usage(p); len(c) > 0 {
		return c
	}
	if look := explain.LookInto(p); a.Asked.Log != nil && (look == cause.LookLogs || look == cause.LookLastLogs) &&
		len(p.Pods) > 0 {
		if words := a.Asked.Log(a.Header.DaemonSet.Namespace, p.Pods[0], wording.Fact(p.Facts, "container"),
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
	return a.Kubectl(words...)
}

// usage returns a command that shows what uses a node's disk or memory. It returns nil if the problem is not about
// these.
func (a *Sheet) usage(p *cause.Problem) screen.Command {
	memory := p.Code == cause.OOMKilled && p.Blame != nil && p.Blame.Who == cause.WhoNode
	if p.Subject.Kind != cause.SubjectNodeCondition && !memory || len(p.Nodes) != 1 {
		return nil
	}
	switch on := corev1.NodeConditionType(p.Subject.Name); {
	case on == corev1.NodeDiskPressure:
		return a.Kubectl("kubectl get --raw", screen.Quote("/api/v1/nodes/"+p.Nodes[0]+"/proxy/stats/summary"))
	case on == corev1.NodeMemoryPressure || memory:
		return a.Kubectl("kubectl top pods", "-A", "--sort-by=memory",
			"--field-selector spec.nodeName="+screen.Quote(p.Nodes[0]))
	}
	return nil
}

// describeOwner returns a command that shows the pod that uses a host port, or nil if that pod is unknown.
func (a *Sheet) describeOwner(f daemonset.Facts) screen.Command {
	if wording.Fact(f, "ownerName") == "" {
		return nil
	}
	return a.Kubectl("kubectl describe pod", screen.Word("-n ")+screen.Quote(wording.Fact(f, "ownerNamespace")),
		screen.Quote(wording.Fact(f, "ownerName")))
}

// Act adds an action: words, a command, and the side effects of the command.
func (a *Sheet) Act(l screen.Label, words string, c screen.Command, effects ...string) {
	if l == a.To && words == "" && len(c) > 0 && a.Lead != "" {
		words, a.Lead = a.Lead+":", ""
	}
	a.Acts(l, words, []screen.Command{c}, effects...)
}

// Acts adds an action with several commands, to be run in order.
func (a *Sheet) Acts(l screen.Label, words string, all []screen.Command, effects ...string) {
	if a.Brief {
		effects = nil
	}
	if l == a.To && words != "" {
		words, a.After = a.After+words, ""
	}
	var blocks screen.Group
	for _, c := range all {
		blocks = append(blocks, c)
	}
	blocks = append(blocks, screen.Text(wording.Bracketed(effects...)))
	if words != "" && len(slices.Concat(all...)) > 0 {
		blocks = screen.Group{screen.Text(words), screen.Indent(blocks)}
	} else if words != "" {
		blocks = slices.Insert(blocks, 0, screen.Block(screen.Text(words)))
	}
	a.Screen.Add(l, blocks)
}

// PatchCommand returns a command that changes fields of spec.updateStrategy.rollingUpdate.
func (a *Sheet) PatchCommand(rollingUpdate string) screen.Command {
	return a.Kubectl("kubectl patch daemonset", a.Namespace(), a.Name(), "--type=merge", "-p",
		screen.Quote(`{"spec":{"updateStrategy":{"rollingUpdate":`+rollingUpdate+`}}}`))
}

// LimitTo returns a command that sets maxUnavailable or maxSurge to a number or a percentage.
func (a *Sheet) LimitTo(field, value string) screen.Command {
	if _, err := strconv.Atoi(value); err != nil {
		value = strconv.Quote(value)
	}
	return a.PatchCommand(`{"` + field + `":` + value + `}`)
}

// Checks adds the commands that show more about the problems.
func (a *Sheet) Checks(problems []*cause.Problem) {
	a.Screen.Add(screen.Check, a.LooksInto(problems)...)
}

// LooksInto returns one read-only command for each problem code. If there are several codes, it puts their names above
// the command.
func (a *Sheet) LooksInto(problems []*cause.Problem) (looks []screen.Block) {
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
		case i == most && !a.Style.All:
			add(screen.Text(fmt.Sprintf("%d more with --all", len(checks)-most)))
			return looks
		case len(said) > 1:
			add(screen.Group{screen.Text(ReasonNames(of[c.String()]) + ":"), screen.Indent{c}})
		default:
			add(c)
		}
		if slices.Contains(of[c.String()], cause.ControllerSilent) {
			add(screen.Text("(if this time, in UTC, is more than a minute ago, kube-controller-manager is down; if " +
				"not, read its logs)"))
			add(a.Kubectl("kubectl get pods", "-n kube-system", "-l component=kube-controller-manager"))
			add(screen.Text("(its pods, if it runs in this cluster; if there are none, the provider or a service on " +
				"the control plane nodes runs it)"))
		}
	}
	return looks
}

// LimitFlags has the flag that changes each kind of limit.
var LimitFlags = map[daemonset.BudgetKind]string{daemonset.BudgetUnavailable: "max-unavailable",
	daemonset.BudgetSurge: "max-surge"}

// LimitWords describes the limit of a rolling update with its arithmetic.
func LimitWords(kind daemonset.BudgetKind, spec, scaled string, of, limit int) string {
	words := wording.Phrase(kind.Field(), " ") + cmp.Or(screen.Clean(spec), "1 (the default)")
	number := strconv.Itoa(limit)
	if spec == "" || spec == number {
		return words
	}
	words += " of " + wording.Plural(of, "node") + " = " + number
	if scaled != number {
		words += wording.Phrase(" (", screen.Clean(scaled), ", rounded up)")
	}
	return words
}

// Sync adds the pods that a sync of the controller deletes and creates.
func (a *Sheet) Sync(n *daemonset.Step, when string) {
	var lines []screen.Block
	for _, batch := range []struct {
		verb, one string
		daemonset.Batch
	}{{"deletes", "the pod", n.Deletes}, {"creates", "a pod", n.Creates}} {
		for _, c := range slices.Concat(batch.ByReason(), batch.Choices) {
			what, nodes, why := wording.PluralOf(c.Count, batch.one, wording.Plural(c.Count, "pod")), c.Nodes(),
				stepWords[c.Reason]
			if c.Count < len(c.From) {
				what, why = fmt.Sprintf("%d of %s", c.Count, wording.Plural(len(c.From), "pod")),
					wording.Joined("; ", why, "chosen at random")
				if nodes = slices.Compact(nodes); len(nodes) > 3 {
					nodes = nil
				}
			}
			if len(nodes) > 3 && slices.Equal(nodes, a.Named) {
				nodes = nil
			}
			if len(nodes) > 0 {
				what += " on"
			}
			lines = append(lines, screen.Names{Before: when + ", the controller " + batch.verb + " " + what,
				Names: nodes, After: wording.InBrackets(why), Short: true})
		}
		if batch.Deferred > 0 {
			lines = append(lines, screen.Text(fmt.Sprintf("it %s %d more in later syncs: one sync takes at most %d",
				batch.verb, batch.Deferred, daemonset.BurstReplicas)))
		}
	}
	if !n.Exact && len(lines) > 0 {
		lines = append(lines, screen.Text("(deletes and creates may be missing here: "+cmp.Or(Unread(a.Header),
			"a part could not be read")+")"))
	}
	const most = 2
	a.Screen.Add(screen.Outlook, lines[:min(most, len(lines))]...)
	a.Screen.Add(screen.Rollout, lines[min(most, len(lines)):]...)
}

// Bookkeeping adds the changes of a sync to owners, labels and revisions.
func (a *Sheet) Bookkeeping(n daemonset.Step) {
	say := func(verb, word string, names []string) {
		if len(names) > 0 {
			a.Screen.Add(screen.Notes, screen.Names{Before: "the next sync " + verb + " " +
				wording.Plural(len(names), word) + ":",
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
		a.Screen.Add(screen.Notes,
			screen.Text(fmt.Sprintf("the next sync creates revision %d from the live template", r.Number)))
	case r.RaisedFrom > 0:
		a.Screen.Add(screen.Notes,
			screen.Text(fmt.Sprintf("the next sync renumbers revision %d to %d, as it holds the "+
				"live template", r.RaisedFrom, r.Number)))
	}
	say("gives the current revision's hash to", "pod", r.Relabel)
	say("removes as a duplicate", "revision", r.Removes(daemonset.Duplicate))
	say("removes, beyond revisionHistoryLimit,", "revision", r.Removes(daemonset.CleanUp))
}

// Strategy returns the update strategy, which may be missing in a dump from a client.
func Strategy(h *daemonset.Header) string { return cmp.Or(h.DaemonSet.Strategy, "no strategy") }

// Idle returns why the controller does nothing with pods.
func Idle(why daemonset.Reason, h *daemonset.Header) string {
	if why == daemonset.StepOnDelete {
		return "every node has its pod, and with " + screen.Clean(Strategy(h)) + " the controller replaces none"
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

// stepWords has the reason for deletions and creations that are not a normal part of a rollout.
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

// Unread names the parts of the input that could not be read, or that were read only in part. It returns "" if there
// are none.
func Unread(h *daemonset.Header) string {
	var parts []string
	inPart := true
	for _, what := range h.Snapshot.Unread() {
		parts = append(parts, wording.PartWords(what))
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

// ManagerWords returns the name of the tool that writes a DaemonSet, and when that tool undoes a manual change.
func ManagerWords(m managed.Manager) (who, undone string) {
	by := screen.Clean(m.By)
	of := func(kind string) string { return wording.Phrase(" ("+kind+` "`, by, `")`) }
	switch m.Tool {
	case managed.Operator:
		return wording.Phrase("the controller of ", by), "its next reconciliation undoes this"
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
		return wording.Phrase(by, " (server-side apply)"), "the next apply undoes this"
	case managed.Program:
		return by, "it may undo this"
	case managed.KubectlApply:
		return "kubectl apply", "the next apply of its manifest undoes this"
	}
	return "", ""
}

// FitScreen hides Outlook without --all if the screen needs more lines than one terminal has.
func (a *Sheet) FitScreen(problems int) {
	t := a.Style.Terminal()
	t.All = false // do not count lines that only --all shows
	if most := 22 + 8*max(0, problems-1); a.Screen.Height(t) > most {
		a.Screen.Further(screen.Outlook)
	}
}

// MostProblems is the maximum number of problems with a paragraph each. More problems become a table.
const MostProblems = 3

// Since returns the duration of a problem with a leading " for ", or "" if it is unknown.
func (a *Sheet) Since(p *explain.Problem) string {
	if p.Since == nil {
		return ""
	}
	return " for " + a.Lasting(p)
}
