package diagnosis

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/managed"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
)

// Solutions adds the fault, the read-only checks and the fix. If there are several things to do, each has a part of its
// own.
func (a *Answer) Solutions() {
	matters := a.E.Matters()
	var one *remedy.Remedy
	var words string
	if len(a.E.Advice) > 1 {
		a.Terse = true
		one, words = a.oneAct()
		a.atEnd = one != nil
	}
	for i, part := range a.E.Parts() {
		if i >= MostParts && part.Advice != nil && !a.Style.All {
			a.inOneLine(i, &part)
			continue
		}
		a.part(i, &part)
		a.causes(part.Problems)
		if !a.InTable {
			a.problems(part.Problems, part.Advice != nil)
		}
		problems := slices.DeleteFunc(slices.Clone(part.Problems),
			func(p *explain.Problem) bool { return !slices.Contains(matters, p) })
		d := part.Advice
		if len(a.E.Advice) == 1 {
			d = &a.E.Advice[0]
		}
		a.doPart(*cmp.Or(d, &explain.Advice{}), a.E.Advice, problems, part.Fixes)
		if len(part.Problems) > 0 && len(a.E.Advice) > 0 && (part.As > 0 || len(part.Fixes) == 0) {
			as := part.As
			if one != nil { // the fix is at the end of the screen
				as = 0
			}
			a.Add(a.To, "%s", a.otherFix(part.Problems[0], as))
		}
	}
	if a.atEnd = false; one != nil {
		a.To, a.Lead = screen.Then, words
		a.fix(one)
	}
	if may := a.mayRollBack(); may != nil && !a.InPlan {
		a.Preview("of a rollback, which may help:", "to-revision", may.Value)
	}
	if !a.InPlan && slices.ContainsFunc(a.E.Advice,
		func(d explain.Advice) bool { return d.Code == explain.AdviseLookAhead }) {
		a.Screen.Add(screen.Preview, a.Again("plan-rollout"))
	}
	// the rejection already has a fix
	if r := a.refusal(a.E.Has(cause.FailedCreate)); r != nil && r.Reason != admission.QuotaExceeded {
		a.Remedies(r, a.Works() > 0)
	}
	if p := a.E.Has(cause.ControllerSilent); p != nil && a.E.Fix(remedy.Refresh) == nil {
		a.Add(screen.Then, "restart kube-controller-manager on the control plane nodes, or ask the provider that "+
			"manages them; the controller then continues automatically")
	}
}

// MostParts is the maximum number of problems with a part each. Each further problem has one line.
const MostParts = 5

// inOneLine adds a part that only names its problem and its fault. The flag --all shows the rest.
func (a *Answer) inOneLine(i int, of *explain.Part) {
	fault := ""
	if len(of.Problems) > 0 {
		fault = a.Origin(of.Problems[0])
	}
	a.Screen.Part(a.titleOf(i, of) + wording.WithPrefix(": ", fault))
}

// part begins a part about one thing to do. Its title names the problem, its nodes and its duration.
func (a *Answer) part(i int, of *explain.Part) { a.Screen.Part(a.titleOf(i, of)) }

// titleOf returns the title of a part, or "" if it has none.
func (a *Answer) titleOf(i int, of *explain.Part) (title string) {
	if d := of.Advice; d != nil {
		title = fmt.Sprintf("%d. %s", i+1, sheet.ReasonNames(d.Problems))
		if len(d.Nodes) > 0 {
			title += " on " + wording.SomeNames(d.Nodes)
		}
		if rows := slices.DeleteFunc(slices.Clone(of.Problems),
			func(p *explain.Problem) bool { return !slices.Contains(d.Problems, p.Code) }); len(rows) == 1 {
			title += a.Since(rows[0])
		}
	}
	return title
}

// mayRollBack returns the rollback of a complete rollout if it is uncertain whether it helps, or nil otherwise.
func (a *Answer) mayRollBack() *remedy.Remedy {
	may := remedy.Find(a.E.Remedies, remedy.RollBack)
	if may == nil || may.Worth != remedy.MayHelp || a.E.Rollout.UnderWay {
		return nil
	}
	return may
}

// otherFix returns a fix for a problem that the rollback in another part also solves. part is the number of that part,
// or 0 if the rollback is at the end of the screen.
func (a *Answer) otherFix(p *explain.Problem, part int) string {
	rollBack := wording.Either(part > 0, "roll back, as in "+strconv.Itoa(part), "")
	switch {
	case p.Code == cause.ImagePullBackOff:
		return "the " + wording.PluralOf(p.Count, "pod starts", "pods start") +
			" automatically when the image can be pulled " +
			"(the kubelet's back-off, up to 5m)" + wording.Phrase("; if not, ", rollBack)
	case p.Code == cause.ContainerConfig && p.Facts["kind"] != nil:
		return wording.Phrase("if that does not help, ", rollBack)
	case p.Code == cause.OOMKilled && p.Facts.Yes("limitRange"):
		return "give the template a memory limit, or raise the default of the LimitRange of the namespace " +
			"and then delete the " + wording.PluralOf(p.Count, "pod", "pods") + wording.Phrase("; or ", rollBack)
	case p.Code == cause.OOMKilled && p.Facts["limited"] != false:
		return "raise the memory limit in the template" + wording.Phrase(", or ", rollBack)
	}
	return wording.Phrase("if revision "+strconv.FormatInt(a.Current(), 10)+" is at fault: ", rollBack)
}

// fix adds a command or an action that changes the cluster, and a preview of it.
func (a *Answer) fix(f *remedy.Remedy) {
	if do := fixes[f.Code]; do != nil {
		do(a, f)
	}
}

// fixes has the function for each remedy.
var fixes = map[remedy.Code]func(*Answer, *remedy.Remedy){
	remedy.RollBack:            (*Answer).rollBack,
	remedy.RepairNodes:         (*Answer).repairNodes,
	remedy.PublishImage:        (*Answer).publishImage,
	remedy.ExcludeNodes:        (*Answer).excludeNodes,
	remedy.RaiseMaxUnavailable: (*Answer).raise,
	remedy.RaiseMaxSurge:       (*Answer).raise,
	remedy.RaiseQuota:          (*Answer).raiseQuota,
	remedy.MakeRoom:            (*Answer).makeRoom,
	remedy.NoSurge:             (*Answer).noSurge,
	remedy.Tolerate:            (*Answer).tolerate,
	remedy.CreateObject:        (*Answer).create,
	remedy.FreePort:            (*Answer).freePort,
	remedy.LowerRequest:        (*Answer).lowerRequest,
	remedy.CorrectTemplate:     (*Answer).correctTemplate,
	remedy.AskOwner:            (*Answer).askOwner,
	remedy.OutOfService:        (*Answer).outOfService,
	remedy.RemoveNode:          (*Answer).removeNode,
	remedy.Refresh:             (*Answer).refresh,
	remedy.FreeDisk:            (*Answer).freeDisk,
	remedy.DeletePods:          (*Answer).deletePods,
}

// startsRollout is appended to an action that changes the template.
const startsRollout = " (this starts a rollout of all pods)"

// quoted appends quoted names to the words of a command.
func quoted(words []screen.Word, names []string) []screen.Word {
	for _, name := range names {
		words = append(words, screen.Quote(name))
	}
	return words
}

func (a *Answer) rollBack(f *remedy.Remedy) {
	words := ""
	if !a.blames(f) && a.Lead == "" {
		words = "if revision " + strconv.FormatInt(a.Current(), 10) + " is at fault, roll back:"
		if slices.ContainsFunc(a.E.Problems, func(p explain.Problem) bool { return p.Common != nil && p.Common.Told }) {
			words = "roll back to revision " + screen.Clean(f.Value) + ":"
		}
	}
	effects := a.undoes(f)
	if _, works, extra := a.E.Undoes(f); words == "" && a.Lead != "" && works+extra == 0 { // the lead says this
		effects = nil
	}
	a.Preview("", "to-revision", f.Value)
	to := screen.Word("--to-revision=" + f.Value)
	undo := a.Kubectl("kubectl rollout undo", a.Namespace(), "daemonset/"+a.Name(), to)
	a.Act(a.To, words, undo, append(effects, a.UndoneBy())...)
}

func (a *Answer) repairNodes(f *remedy.Remedy) {
	if len(a.E.Advice) > 1 {
		return
	}
	n, undo := len(f.Nodes), a.E.Fix(remedy.RollBack) != nil
	words := wording.PluralOf(n, "once the node is Ready, its pod comes back",
		"once the nodes are Ready, their pods come back")
	switch {
	case undo:
	case a.E.Rollout.UnderWay:
		words = "once " + wording.PluralOf(n, "the node is", "the nodes are") +
			" Ready, the rollout continues automatically"
	case a.E.Impact != nil && len(a.E.Impact.Without) == 0:
		words = wording.PluralOf(n, "once the node is Ready, it counts again, and keeps its pod",
			"once the nodes are Ready, they count again, and keep their pods")
	}
	a.Act(a.To, words, nil)
	if a.E.Verdict.Code != explain.Healthy {
		remove := a.Kubectl("kubectl delete node", screen.Placeholder("NODE"))
		a.Act(screen.Other, "only for a node that will never come back:", remove)
	}
}

func (a *Answer) publishImage(f *remedy.Remedy) {
	a.Act(a.To, "publish a new image, for "+cmp.Or(screen.Clean(f.Value), "these nodes")+" too"+startsRollout, nil)
}

func (a *Answer) excludeNodes(f *remedy.Remedy) {
	if f.Without() != nil {
		a.Exclude(f, "(this starts a rollout of all pods)")
		return
	}
	n := len(f.Nodes)
	these := wording.PluralOf(n, "this node", "these "+strconv.Itoa(n)+" nodes")
	words := "keep the pod off " + these + ":"
	if slices.Contains(f.Problems, cause.ExcludedButCounted) {
		words = "exclude " + these + " in the template too:"
	}
	key, value := f.Label()
	a.Preview("", "node-selector", f.Value)
	patch := screen.Quote(fmt.Sprintf(`{"spec":{"template":{"spec":{"nodeSelector":{%q:%q}}}}}`, key, value))
	a.Act(a.To, words, a.Kubectl("kubectl patch daemonset", a.Namespace(), a.Name(), "--type=merge", "-p", patch),
		"starts a rollout of all pods", a.UndoneBy())
}

func (a *Answer) raiseQuota(f *remedy.Remedy) {
	words := `ask the team that manages ResourceQuota "` + screen.Clean(f.Value) + `" to raise it`
	if f.Needs == 0 {
		a.Act(a.To, words, nil)
		return
	}
	patch := screen.Quote(fmt.Sprintf(`{"spec":{"hard":{"pods":"%d"}}}`, f.Needs))
	raise := a.Kubectl("kubectl patch resourcequota", a.Namespace(), screen.Quote(f.Value), "--type=merge", "-p", patch)
	a.Act(a.To, words+" to at least "+wording.Plural(f.Needs, "pod")+", or raise it yourself:", raise,
		"whoever manages the ResourceQuota may revert it")
}

func (a *Answer) noSurge(*remedy.Remedy) {
	a.Act(a.To, "use maxUnavailable in place of maxSurge:", a.PatchCommand(`{"maxSurge":0,"maxUnavailable":1}`),
		"a node then has no available pod while its pod is replaced", a.UndoneBy())
}

func (a *Answer) tolerate(f *remedy.Remedy) {
	effect := "this starts a rollout of all pods"
	if others := a.StrandedBeside(f.Nodes); len(others) > 0 { // the rollout of this change removes these pods
		effect += ", which removes the " + wording.PluralOf(len(others), "pod", "pods") + " on " +
			wording.SomeNames(others)
	}
	none := a.E.Has(cause.NoEligibleNode)
	if none != nil && none.Facts.Int("staying")+none.Facts.Int("losing") == 0 {
		effect = "this creates " + wording.Plural(f.Effect.Desired, "pod")
	}
	a.Act(a.To, Tolerate(f.Nodes, f.Tolerations, none == nil), nil, effect, a.UndoneBy())
	if c := a.Again("plan-rollout", TolerationFlags(f.Tolerations)...); len(c) > 0 {
		a.Act(screen.Preview, "", c)
	}
}

func (a *Answer) lowerRequest(f *remedy.Remedy) {
	if a.Unfit { // the plan says this for each node
		return
	}
	words := "lower the request in the template"
	for i := range a.E.Problems {
		if p := &a.E.Problems[i]; slices.Contains(f.Ends, p.Subject) && p.Facts["free"] != nil {
			words = "lower the " + wording.ResourceWord(p.Facts["resources"]) + " request in the template to at most " +
				wording.Fact(p.Facts, "free")
		}
	}
	a.Act(a.To, words+startsRollout, nil)
}

func (a *Answer) correctTemplate(*remedy.Remedy) {
	if len(a.E.Fixes()) == 1 {
		a.Act(a.To, "correct the template"+startsRollout, nil)
	}
}

// askOwner adds the commands for the advice in Do now.
func (a *Answer) askOwner(f *remedy.Remedy) {
	a.selectEvery()
	a.allow(f)
}

func (a *Answer) outOfService(f *remedy.Remedy) {
	n := len(f.Nodes)
	words := wording.PluralOf(n, "a machine that is off (untaint it later):",
		"machines that are off (untaint them later):")
	taint := screen.Word(daemonset.TaintString(cause.OutOfService))
	nodes := quoted([]screen.Word{"kubectl taint nodes"}, f.Nodes)
	a.Act(screen.Other, "only for "+words, a.Kubectl(append(nodes, taint)...))
}

func (a *Answer) removeNode(f *remedy.Remedy) {
	if a.E.Verdict.Code != explain.BeingDeleted { // RepairNodes says this
		return
	}
	n := len(f.Nodes)
	words := "only for " + wording.PluralOf(n, "a node that never comes", "nodes that never come") +
		" back; the garbage collector then deletes the " + wording.PluralOf(n, "pod", "pods") + ", and the DaemonSet:"
	a.Act(a.To, words, a.Kubectl(quoted([]screen.Word{"kubectl delete node"}, f.Nodes)...))
}

func (a *Answer) refresh(*remedy.Remedy) {
	now := "kubectl-ds/refreshed=" + screen.Word(a.Now.UTC().Format("20060102T150405Z"))
	annotate := a.Kubectl("kubectl annotate daemonset", a.Namespace(), a.Name(), now, "--overwrite")
	a.Act(a.To, "", annotate, "replaces no pod")
}

func (a *Answer) freeDisk(f *remedy.Remedy) {
	n := len(f.Nodes)
	then := "the controller then creates the " + wording.PluralOf(n, "pod", "pods") + ", within 15m"
	if slices.Contains(f.Problems, cause.OOMKilled) {
		then = "the kubelet then restarts the " + wording.PluralOf(n, "container", "containers") + ", within 5m"
	}
	a.Act(a.To, pressureRelief[corev1.NodeConditionType(f.Value)]+" on "+wording.PluralOf(n, "the node", "the nodes")+
		", or contact the team that manages "+wording.PluralOf(n, "it", "them")+"; "+then, nil)
}

func (a *Answer) deletePods(f *remedy.Remedy) {
	n, first, others := strconv.Itoa(len(f.Pods)), f.Pods[:1], f.Pods[1:]
	words := ""
	switch {
	case a.E.Verdict.Code == explain.AwaitingDelete:
		a.Preview("of a rolling update in place of the deletions:", "strategy", "RollingUpdate")
		others = nil
		words = wording.PluralOf(len(f.Pods),
			"delete the pod; the node has no available pod until the new one is available:",
			"delete the "+n+" pods one at a time; a node has no available pod until the new one is available:")
	case len(others) > 0: // these pods fail, so all of them may be deleted
		words = "delete the " + n + " failing pods; the controller then creates pods of revision " +
			strconv.FormatInt(a.Current(), 10) + ":"
	}
	pods := quoted([]screen.Word{"kubectl delete pod", a.Namespace()}, others)
	a.Act(a.To, words, a.Kubectl(quoted(pods, first)...))
}

// pressureRelief has the action that relieves each kind of pressure.
var pressureRelief = map[corev1.NodeConditionType]string{
	corev1.NodeDiskPressure: "free disk space", corev1.NodeMemoryPressure: "free memory",
	corev1.NodePIDPressure: "end processes",
}

// selectEvery adds the commands that clear the node selector of the namespace and delete the pods that have it.
func (a *Answer) selectEvery() {
	for i := range a.E.Problems {
		p := &a.E.Problems[i]
		annotation := wording.Fact(p.Facts, "annotation")
		if p.Facts["added"] == nil || annotation == "" {
			continue
		}
		remove := "delete the "
		if again := wording.Fact(p.Facts, "again"); again == "" {
			namespace, empty := a.Header.DaemonSet.Namespace, screen.Quote(annotation+"=")
			a.Act(a.To, "have namespace "+screen.Clean(namespace)+" select every node, for all of its pods:",
				a.Kubectl("kubectl annotate namespace", screen.Quote(namespace), empty, "--overwrite"))
			remove = "then delete the "
		}
		words := remove + wording.PluralOf(len(p.Pods), "pod, which keeps", "pods, which keep") + " the nodeSelector:"
		a.Act(a.To, words, a.Kubectl(quoted([]screen.Word{"kubectl delete pod", a.Namespace()}, p.Pods)...))
	}
}

// allow adds the commands that make a policy accept the pods. It adds nothing if Remedies covers the rejection.
func (a *Answer) allow(f *remedy.Remedy) {
	if a.refusal(a.E.Has(cause.FailedCreate)) != nil {
		return
	}
	for _, s := range f.Ends {
		switch s.Kind {
		case cause.SubjectSCC:
			a.Act(a.To, "with an SCC that allows what the message names, such as privileged:",
				a.Kubectl("oc adm policy add-scc-to-user", screen.Placeholder("SCC"),
					screen.Word("-z "+screen.Quote(s.Name)), screen.Word("-n "+screen.Quote(s.Namespace))),
				"gives every pod of this ServiceAccount what that SCC allows")
		case cause.SubjectPolicy:
			if level := wording.Fact(a.E.Has(cause.FailedCreate).Facts, "admits"); level != "" {
				words := map[string]string{"privileged": "if the owner of the namespace agrees that its pods may do " +
					"anything, label it:"}
				a.Act(a.To, cmp.Or(words[level], "if the owner of the namespace agrees, label it:"),
					a.Kubectl("kubectl label --overwrite namespace", screen.Quote(a.Header.DaemonSet.Namespace),
						screen.Word("pod-security.kubernetes.io/enforce="+level)), "replaces no pod")
			}
		}
	}
}

// freePort adds the pod that uses the port, and what its owner can do.
func (a *Answer) freePort(f *remedy.Remedy) {
	for i := range a.E.Problems {
		if p := &a.E.Problems[i]; p.Subject.Kind == cause.SubjectHostPort {
			a.Screen.Add(a.To, screen.Names{Before: "on", Names: p.Nodes, After: ": " + otherPort(p)})
		}
	}
}

// create adds the objects or keys to create.
func (a *Answer) create(f *remedy.Remedy) {
	for _, s := range f.Ends {
		met := func(p explain.Problem) bool { return p.Subject == s }
		if a.InPlan && !slices.ContainsFunc(a.E.Problems, met) { // otherwise the plan says this
			continue
		}
		words, command := "create it", screen.Command{}
		if s.Kind == cause.SubjectQuota {
			words = "create a ResourceQuota in namespace " + a.Header.DaemonSet.Namespace +
				" whose scope selects this PriorityClass, or use another PriorityClass"
		}
		for i := range a.E.Problems {
			p := &a.E.Problems[i]
			if p.Subject == s && usedBefore(p) > 0 {
				words = "restore " + a.missingName(p) + " from its manifest or a backup"
			} else if p.Subject == s && p.Facts["kind"] != nil {
				words = a.Reference(p.Facts).CreateWords()
			} else if absent := a.missingObject(p); p.Subject == s && absent != "" {
				words, command = "create "+absent, a.creation(p)
			}
		}
		if words += "; the " + wording.PluralOf(len(f.Nodes), "pod then starts", "pods then start") +
			" automatically"; len(command) > 0 {
			words += ":"
		}
		a.Act(a.To, words, command)
	}
}

// creation returns the command that creates the object missing in a message of the API server. It returns nil if there
// is no such command, or if the change that names the object is at fault.
func (a *Answer) creation(p *explain.Problem) screen.Command {
	if p.Blame != nil && p.Blame.Who == cause.WhoChange {
		return nil
	}
	switch kind, name := cause.NamedObject(p.Facts); kind {
	case "PriorityClass":
		return a.Kubectl("kubectl create priorityclass", screen.Quote(name), "--value=<PRIORITY>")
	case "ServiceAccount":
		return a.Kubectl("kubectl create serviceaccount", a.Namespace(), screen.Quote(name))
	}
	return nil
}

// blames reports whether the rollback is for a problem that the current revision causes, as far as that is known.
func (a *Answer) blames(f *remedy.Remedy) bool {
	return slices.ContainsFunc(a.E.Problems, func(p explain.Problem) bool {
		return slices.Contains(f.Problems, p.Code) && p.Blame != nil && p.Blame.Who == cause.WhoChange
	})
}

// makeRoom adds what helps the pods that do not fit on the nodes of f.
func (a *Answer) makeRoom(f *remedy.Remedy) {
	var said []string
	nodes, these := map[string][]string{}, sets.New(f.Nodes...)
	for i := range a.E.Problems {
		p := &a.E.Problems[i]
		at := slices.DeleteFunc(slices.Clone(p.Nodes), func(n string) bool { return !these.Has(n) })
		words := roomFix(p)
		if len(at) == 0 || words == "" {
			continue
		}
		if nodes[words] == nil {
			said = append(said, words)
		}
		nodes[words] = append(nodes[words], at...)
	}
	for _, words := range said {
		slices.Sort(nodes[words])
		a.Screen.Add(a.To, screen.Names{Before: "on", Names: nodes[words], After: ": " + words})
	}
}

// roomFix returns what helps a pod that does not fit, or "" for any other problem.
func roomFix(p *explain.Problem) string {
	switch p.Code {
	case cause.HostPortConflict:
		return otherPort(p)
	case cause.InsufficientResources:
		return otherRequest(p)
	}
	return ""
}

// otherPort returns what helps a pod whose host port is in use.
func otherPort(p *explain.Problem) string {
	owner, holder := wording.Fact(p.Facts, "owner"), wording.Fact(p.Facts, "holder")
	switch known := wording.Fact(p.Facts, "plugin") == "NodePorts"; {
	case known && owner != "":
		return "the owner of pod " + owner + " gives it another host port, or another node"
	case known && holder != "":
		return "the owner of " + holder + " gives its pods another host port, or other nodes"
	}
	return "change the host port of one of the two pods, or keep one of them off this node"
}

// otherRequest returns what helps a pod that requests too much.
func otherRequest(p *explain.Problem) string {
	resource, short := wording.ResourceWord(p.Facts["resources"]), shortfall(p.Facts)
	remove := "delete pods that can run elsewhere and request " + short + " of " + resource + " in all"
	switch {
	case resource == "pods":
		return "delete a pod that can run elsewhere, or raise maxPods of the kubelet"
	case p.Facts.Yes("beyond"):
		return "lower the " + resource +
			" request of the template (starts a rollout of all pods), or keep the pod off this node"
	case short == "":
		return "lower what the template requests (starts a rollout of all pods) or what the other pods request, " +
			"or delete pods that can run elsewhere"
	case wording.Fact(p.Facts, "preemption") == "NothingLower" && !p.Facts.Yes("topmost"):
		return remove + "; or give the template a PriorityClass above theirs" +
			wording.Phrase(" (system-node-critical would evict ", wording.NamesIn(p.Facts, "evicts"), ")") +
			", so that the scheduler makes room (starts a rollout of all pods)"
	}
	return remove
}

// shortfall returns the difference between the request for the first resource and the free amount. It returns "" if one
// of them is unknown.
func shortfall(f daemonset.Facts) string {
	requested, err := resource.ParseQuantity(wording.Fact(f, "requested"))
	free, other := resource.ParseQuantity(wording.Fact(f, "free"))
	if err != nil || other != nil {
		return ""
	}
	requested.Sub(free)
	return requested.String()
}

// Tolerate returns an instruction to add the tolerations. keep is set if they keep the pods on the nodes.
func Tolerate(nodes []string, tolerations []corev1.Toleration, keep bool) string {
	few := wording.SomeNames(nodes)
	if len(nodes) > 3 {
		few = fmt.Sprintf("the %d nodes", len(nodes))
	}
	var each []string
	for i := range tolerations {
		each = append(each, TolerationText(&tolerations[i]))
	}
	why := wording.Either(keep, "to keep the "+wording.PluralOf(len(nodes), "pod", "pods")+" on "+few+", ", "")
	return why + "add to the template the " + wording.PluralOf(len(each), "toleration ", "tolerations ") +
		screen.Clean(strings.Join(each, ", "))
}

// TolerationText formats a toleration as in a manifest, on one line.
func TolerationText(t *corev1.Toleration) string {
	value := ""
	if t.Value != "" {
		value = fmt.Sprintf("value: %q, ", t.Value)
	}
	return fmt.Sprintf("{key: %s, operator: %s, %seffect: %s}", t.Key, t.Operator, value, t.Effect)
}

// TolerationFlags returns the flags that add tolerations to the template in a plan.
func TolerationFlags(tolerations []corev1.Toleration) (flags []sheet.Flag) {
	for _, t := range tolerations {
		flags = append(flags, sheet.Flag{Name: "toleration",
			Value: daemonset.TaintString(corev1.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect})})
	}
	return flags
}

// UndoneBy names the tool that undoes a manual change, or returns "" if no such tool is known.
func (a *Answer) UndoneBy() string { return UndoneBy(a.E.ManagedBy) }

// UndoneBy names the tool that undoes a manual change first, or returns "" if there is none.
func UndoneBy(by []managed.Manager) string {
	if len(by) == 0 {
		return ""
	}
	who, undone := sheet.ManagerWords(by[0])
	return who + " writes the DaemonSet: " + undone
}

// undoes describes the effects of a rollback on pods.
func (a *Answer) undoes(f *remedy.Remedy) []string {
	replaced, works, extra := a.E.Undoes(f)
	var effects []string
	if none := a.E.Has(cause.NoEligibleNode); none != nil && none.Facts["eligible"] != nil {
		effects = append(effects, wording.PluralVerb(none.Facts.Int("eligible"),
			"node is eligible again and runs the pod",
			"nodes are eligible again and run the pod"))
	}
	on := " on revision " + strconv.FormatInt(a.Current(), 10)
	pods, delete := wording.Plural(replaced, "pod")+on,
		wording.Either(extra > 0, "deletes "+wording.Plural(extra, "extra pod"), "")
	switch some := works % max(replaced, 1); {
	case len(effects) > 0:
	case replaced == 0:
		effects = append(effects, wording.Phrase(delete, on))
	case works == 0:
		are := wording.PluralOf(replaced, "it is", "they are")
		effects = append(effects, "replaces "+pods+" immediately: "+are+" not available")
	default:
		available := wording.Either(some > 0, ", "+strconv.Itoa(some)+" of them available", "")
		effects = append(effects, "replaces "+pods+available+wording.Phrase(", and ", delete))
	}
	if i := a.E.Impact; a.E.Budget.Kind == daemonset.BudgetSurge && i != nil && len(i.Without) == 0 {
		effects = append(effects, "no node loses its available pod")
	}
	return effects
}

// raise adds a command for a higher limit, and one that restores the old limit once the nodes are repaired.
func (a *Answer) raise(f *remedy.Remedy) {
	limit, _ := strconv.Atoi(f.Value)
	field, flag, before := a.E.Budget.Kind.Field(), sheet.LimitFlags[a.E.Budget.Kind], cmp.Or(a.E.Budget.Spec, "1")
	words, n := "to update the other pods now", len(f.Nodes)
	if n > 0 && limit > n {
		words += fmt.Sprintf(" (%d = %d unavailable + %d at a time)", limit, n, limit-n)
	}
	if !a.InPlan { // in a plan, the ways out name the flag
		a.Preview(fmt.Sprintf("of %s %d:", field, limit), flag, f.Value)
	}
	loses := ""
	if i := a.E.Impact; i != nil {
		loses = sheet.LossWords(i.Uncounted)
	}
	a.Act(a.To, words+":", a.LimitTo(field, f.Value), loses, a.UndoneBy())
	a.Act(a.To, "and afterwards back to "+before+":", a.LimitTo(field, before))
}
