package view

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
	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause/eligible"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/managed"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
)

// solutions say who, what shows more of it and what solves it: of several things
// to do each in a part of its own.
func (a *answer) solutions() {
	matters := a.e.Matters()
	var one *remedy.Remedy
	var words string
	if len(a.e.Advice) > 1 {
		a.terse = true
		one, words = a.oneAct()
		a.atEnd = one != nil
	}
	for i, part := range a.e.Parts() {
		if i >= mostParts && part.Advice != nil && !a.style.All {
			a.inOneLine(i, &part)
			continue
		}
		a.part(i, &part)
		a.causes(part.Problems)
		if !a.inTable {
			a.problems(part.Problems, part.Advice != nil)
		}
		problems := slices.DeleteFunc(slices.Clone(part.Problems),
			func(p *explain.Problem) bool { return !slices.Contains(matters, p) })
		d := part.Advice
		if len(a.e.Advice) == 1 {
			d = &a.e.Advice[0]
		}
		a.doPart(*cmp.Or(d, &explain.Advice{}), a.e.Advice, problems, part.Fixes)
		if len(part.Problems) > 0 && len(a.e.Advice) > 0 && (part.As > 0 || len(part.Fixes) == 0) {
			as := part.As
			if one != nil { // which stands at the end
				as = 0
			}
			a.add(a.to, "%s", a.otherFix(part.Problems[0], as))
		}
	}
	if a.atEnd = false; one != nil {
		a.to, a.lead = screen.Then, words
		a.fix(one)
	}
	if may := a.mayRollBack(); may != nil && !a.inPlan {
		a.preview("of a rollback, which may help:", "to-revision", may.Value)
	}
	if !a.inPlan && slices.ContainsFunc(a.e.Advice,
		func(d explain.Advice) bool { return d.Code == explain.AdviseLookAhead }) {
		a.s.Add(screen.Preview, a.again("plan-rollout"))
	}
	// which has a fix already
	if r := a.refusal(a.e.Has(cause.FailedCreate)); r != nil && r.Reason != admission.QuotaExceeded {
		a.remedies(r, a.works() > 0)
	}
	if p := a.e.Has(cause.ControllerSilent); p != nil && a.e.Fix(remedy.Refresh) == nil {
		a.add(screen.Then, "restart kube-controller-manager on the control plane nodes, or ask the provider that "+
			"manages them; the controller then continues automatically")
	}
}

// mostParts is how many problems have a part each; of more, each has a line.
const mostParts = 5

// inOneLine is a part that only names its problem and whose fault that is; the rest of it is behind --all.
func (a *answer) inOneLine(i int, of *explain.Part) {
	fault := ""
	if len(of.Problems) > 0 {
		fault = a.origin(of.Problems[0])
	}
	a.s.Part(a.titleOf(i, of) + behind(": ", fault))
}

// part begins the part about one of several things to do: its title names the problem, its nodes and since when it
// has been there.
func (a *answer) part(i int, of *explain.Part) { a.s.Part(a.titleOf(i, of)) }

// titleOf is the title of a part; empty where it has none.
func (a *answer) titleOf(i int, of *explain.Part) (title string) {
	if d := of.Advice; d != nil {
		title = fmt.Sprintf("%d. %s", i+1, reasonNames(d.Problems))
		if len(d.Nodes) > 0 {
			title += " on " + someNames(d.Nodes)
		}
		if rows := slices.DeleteFunc(slices.Clone(of.Problems),
			func(p *explain.Problem) bool { return !slices.Contains(d.Problems, p.Code) }); len(rows) == 1 {
			title += a.since(rows[0])
		}
	}
	return title
}

// placementCheck shows the labels that no node has, or the node that is not ready.
func (a *sheet) placementCheck(f daemonset.Facts) screen.Command {
	switch by, keys := f["excludedBy"], eligible.LabelKeys(f); {
	case len(keys) > 0:
		return a.kubectl("kubectl get nodes", screen.Word("-L "+screen.Quote(strings.Join(keys, ","))))
	case by == eligible.ExcludedByLabels, by == eligible.ExcludedByAffinity:
		return a.kubectl("kubectl get nodes", "--show-labels")
	case by == eligible.ExcludedByCondition:
		return a.kubectl("kubectl describe node", screen.Quote(firstOf(f["nearest"])))
	}
	return nil
}

// mayRollBack returns the rollback of a rollout that is complete, where nothing shows whether it helps;
// nil if there is none.
func (a *answer) mayRollBack() *remedy.Remedy {
	may := remedy.Find(a.e.Remedies, remedy.RollBack)
	if may == nil || may.Worth != remedy.MayHelp || a.e.Rollout.UnderWay {
		return nil
	}
	return may
}

// otherFix says what solves a problem that the rollback of another part solves too: the part of this number.
// It is 0 where the rollback stands at the end of the screen.
func (a *answer) otherFix(p *explain.Problem, part int) string {
	rollBack := either(part > 0, "roll back, as in "+strconv.Itoa(part), "")
	switch {
	case p.Code == cause.ImagePullBackOff:
		return "the " + pluralOf(p.Count, "pod starts", "pods start") + " automatically when the image can be pulled " +
			"(the kubelet's back-off, up to 5m)" + phrase("; if not, ", rollBack)
	case p.Code == cause.ContainerConfig && p.Facts["kind"] != nil:
		return phrase("if that does not help, ", rollBack)
	case p.Code == cause.OOMKilled && p.Facts.Yes("limitRange"):
		return "give the template a memory limit, or raise the default of the LimitRange of the namespace " +
			"and then delete the " + pluralOf(p.Count, "pod", "pods") + phrase("; or ", rollBack)
	case p.Code == cause.OOMKilled && p.Facts["limited"] != false:
		return "raise the memory limit in the template" + phrase(", or ", rollBack)
	}
	return phrase("if revision "+strconv.FormatInt(a.current(), 10)+" is at fault: ", rollBack)
}

// preview is a plan of a fix, which changes nothing.
func (a *sheet) preview(of, flag, value string) {
	if c := a.again("plan-rollout", Flag{Name: flag, Value: value}); len(c) > 0 {
		a.act(screen.Preview, of, c)
	}
}

// fix is a command or an act that changes the cluster, and a plan of it.
func (a *answer) fix(f *remedy.Remedy) {
	if do := fixes[f.Code]; do != nil {
		do(a, f)
	}
}

// fixes have the act of each remedy.
var fixes = map[remedy.Code]func(*answer, *remedy.Remedy){
	remedy.RollBack:            (*answer).rollBack,
	remedy.RepairNodes:         (*answer).repairNodes,
	remedy.PublishImage:        (*answer).publishImage,
	remedy.ExcludeNodes:        (*answer).excludeNodes,
	remedy.RaiseMaxUnavailable: (*answer).raise,
	remedy.RaiseMaxSurge:       (*answer).raise,
	remedy.RaiseQuota:          (*answer).raiseQuota,
	remedy.MakeRoom:            (*answer).makeRoom,
	remedy.NoSurge:             (*answer).noSurge,
	remedy.Tolerate:            (*answer).tolerate,
	remedy.CreateObject:        (*answer).create,
	remedy.FreePort:            (*answer).freePort,
	remedy.LowerRequest:        (*answer).lowerRequest,
	remedy.CorrectTemplate:     (*answer).correctTemplate,
	remedy.AskOwner:            (*answer).askOwner,
	remedy.OutOfService:        (*answer).outOfService,
	remedy.RemoveNode:          (*answer).removeNode,
	remedy.Refresh:             (*answer).refresh,
	remedy.FreeDisk:            (*answer).freeDisk,
	remedy.DeletePods:          (*answer).deletePods,
}

// rollsOut is behind an act that changes the template.
const rollsOut = " (this starts a rollout of all pods)"

// quoted are words of a command, and names behind them.
func quoted(words []screen.Word, names []string) []screen.Word {
	for _, name := range names {
		words = append(words, screen.Quote(name))
	}
	return words
}

func (a *answer) rollBack(f *remedy.Remedy) {
	words := ""
	if !a.blames(f) && a.lead == "" {
		words = "if revision " + strconv.FormatInt(a.current(), 10) + " is at fault, roll back:"
		if slices.ContainsFunc(a.e.Problems, func(p explain.Problem) bool { return p.Common != nil && p.Common.Told }) {
			words = "roll back to revision " + screen.Clean(f.Value) + ":"
		}
	}
	effects := a.undoes(f)
	if _, works, extra := a.e.Undoes(f); words == "" && a.lead != "" && works+extra == 0 { // which the lead says
		effects = nil
	}
	a.preview("", "to-revision", f.Value)
	to := screen.Word("--to-revision=" + f.Value)
	undo := a.kubectl("kubectl rollout undo", a.namespace(), "daemonset/"+a.name(), to)
	a.act(a.to, words, undo, append(effects, a.undoneBy())...)
}

func (a *answer) repairNodes(f *remedy.Remedy) {
	if len(a.e.Advice) > 1 {
		return
	}
	n, undo := len(f.Nodes), a.e.Fix(remedy.RollBack) != nil
	words := pluralOf(n, "once the node is Ready, its pod comes back", "once the nodes are Ready, their pods come back")
	switch {
	case undo:
	case a.e.Rollout.UnderWay:
		words = "once " + pluralOf(n, "the node is", "the nodes are") + " Ready, the rollout continues automatically"
	case a.e.Impact != nil && len(a.e.Impact.Without) == 0:
		words = pluralOf(n, "once the node is Ready, it counts again, and keeps its pod",
			"once the nodes are Ready, they count again, and keep their pods")
	}
	a.act(a.to, words, nil)
	if a.e.Verdict.Code != explain.Healthy {
		remove := a.kubectl("kubectl delete node", screen.Placeholder("NODE"))
		a.act(screen.Other, "only for a node that will never come back:", remove)
	}
}

func (a *answer) publishImage(f *remedy.Remedy) {
	a.act(a.to, "publish a new image, for "+cmp.Or(screen.Clean(f.Value), "these nodes")+" too"+rollsOut, nil)
}

func (a *answer) excludeNodes(f *remedy.Remedy) {
	if f.Without() != nil {
		a.exclude(f, "(this starts a rollout of all pods)")
		return
	}
	n := len(f.Nodes)
	these := pluralOf(n, "this node", "these "+strconv.Itoa(n)+" nodes")
	words := "keep the pod off " + these + ":"
	if slices.Contains(f.Problems, cause.ExcludedButCounted) {
		words = "exclude " + these + " in the template too:"
	}
	key, value := f.Label()
	a.preview("", "node-selector", f.Value)
	patch := screen.Quote(fmt.Sprintf(`{"spec":{"template":{"spec":{"nodeSelector":{%q:%q}}}}}`, key, value))
	a.act(a.to, words, a.kubectl("kubectl patch daemonset", a.namespace(), a.name(), "--type=merge", "-p", patch),
		"starts a rollout of all pods", a.undoneBy())
}

func (a *answer) raiseQuota(f *remedy.Remedy) {
	words := `ask the team that manages ResourceQuota "` + screen.Clean(f.Value) + `" to raise it`
	if f.Needs == 0 {
		a.act(a.to, words, nil)
		return
	}
	patch := screen.Quote(fmt.Sprintf(`{"spec":{"hard":{"pods":"%d"}}}`, f.Needs))
	raise := a.kubectl("kubectl patch resourcequota", a.namespace(), screen.Quote(f.Value), "--type=merge", "-p", patch)
	a.act(a.to, words+" to at least "+Plural(f.Needs, "pod")+", or raise it yourself:", raise,
		"whoever manages the ResourceQuota may revert it")
}

func (a *answer) noSurge(*remedy.Remedy) {
	a.act(a.to, "use maxUnavailable in place of maxSurge:", a.patch(`{"maxSurge":0,"maxUnavailable":1}`),
		"a node then has no available pod while its pod is replaced", a.undoneBy())
}

func (a *answer) tolerate(f *remedy.Remedy) {
	effect := "this starts a rollout of all pods"
	if others := a.strandedBeside(f.Nodes); len(others) > 0 { // which that rollout strands
		effect += ", which removes the " + pluralOf(len(others), "pod", "pods") + " on " + someNames(others)
	}
	none := a.e.Has(cause.NoEligibleNode)
	if none != nil && none.Facts.Int("staying")+none.Facts.Int("losing") == 0 {
		effect = "this creates " + Plural(f.Effect.Desired, "pod")
	}
	a.act(a.to, tolerate(f.Nodes, f.Tolerations, none == nil), nil, effect, a.undoneBy())
	if c := a.again("plan-rollout", tolerationFlags(f.Tolerations)...); len(c) > 0 {
		a.act(screen.Preview, "", c)
	}
}

func (a *answer) lowerRequest(f *remedy.Remedy) {
	if a.unfit { // the plan says it for each node
		return
	}
	words := "lower the request in the template"
	for i := range a.e.Problems {
		if p := &a.e.Problems[i]; slices.Contains(f.Ends, p.Subject) && p.Facts["free"] != nil {
			words = "lower the " + resourceWord(p.Facts["resources"]) + " request in the template to at most " +
				fact(p.Facts, "free")
		}
	}
	a.act(a.to, words+rollsOut, nil)
}

func (a *answer) correctTemplate(*remedy.Remedy) {
	if len(a.e.Fixes()) == 1 {
		a.act(a.to, "correct the template"+rollsOut, nil)
	}
}

// askOwner has the commands of what Do now says.
func (a *answer) askOwner(f *remedy.Remedy) {
	a.selectEvery()
	a.allow(f)
}

func (a *answer) outOfService(f *remedy.Remedy) {
	n := len(f.Nodes)
	words := pluralOf(n, "a machine that is off (untaint it later):", "machines that are off (untaint them later):")
	taint := screen.Word(daemonset.TaintString(cause.OutOfService))
	nodes := quoted([]screen.Word{"kubectl taint nodes"}, f.Nodes)
	a.act(screen.Other, "only for "+words, a.kubectl(append(nodes, taint)...))
}

func (a *answer) removeNode(f *remedy.Remedy) {
	if a.e.Verdict.Code != explain.BeingDeleted { // RepairNodes says it
		return
	}
	n := len(f.Nodes)
	words := "only for " + pluralOf(n, "a node that never comes", "nodes that never come") +
		" back; the garbage collector then deletes the " + pluralOf(n, "pod", "pods") + ", and the DaemonSet:"
	a.act(a.to, words, a.kubectl(quoted([]screen.Word{"kubectl delete node"}, f.Nodes)...))
}

func (a *answer) refresh(*remedy.Remedy) {
	now := "kubectl-ds/refreshed=" + screen.Word(a.now.UTC().Format("20060102T150405Z"))
	annotate := a.kubectl("kubectl annotate daemonset", a.namespace(), a.name(), now, "--overwrite")
	a.act(a.to, "", annotate, "replaces no pod")
}

func (a *answer) freeDisk(f *remedy.Remedy) {
	n := len(f.Nodes)
	then := "the controller then creates the " + pluralOf(n, "pod", "pods") + ", within 15m"
	if slices.Contains(f.Problems, cause.OOMKilled) {
		then = "the kubelet then restarts the " + pluralOf(n, "container", "containers") + ", within 5m"
	}
	a.act(a.to, freeing[corev1.NodeConditionType(f.Value)]+" on "+pluralOf(n, "the node", "the nodes")+
		", or contact the team that manages "+pluralOf(n, "it", "them")+"; "+then, nil)
}

func (a *answer) deletePods(f *remedy.Remedy) {
	n, first, others := strconv.Itoa(len(f.Pods)), f.Pods[:1], f.Pods[1:]
	words := ""
	switch {
	case a.e.Verdict.Code == explain.AwaitingDelete:
		a.preview("of a rolling update in place of the deletions:", "strategy", "RollingUpdate")
		others = nil
		words = pluralOf(len(f.Pods), "delete the pod; the node has no available pod until the new one is available:",
			"delete the "+n+" pods one at a time; a node has no available pod until the new one is available:")
	case len(others) > 0: // they fail, so all of them may go
		words = "delete the " + n + " failing pods; the controller then creates pods of revision " +
			strconv.FormatInt(a.current(), 10) + ":"
	}
	pods := quoted([]screen.Word{"kubectl delete pod", a.namespace()}, others)
	a.act(a.to, words, a.kubectl(quoted(pods, first)...))
}

// freeing says what ends a pressure.
var freeing = map[corev1.NodeConditionType]string{
	corev1.NodeDiskPressure: "free disk space", corev1.NodeMemoryPressure: "free memory",
	corev1.NodePIDPressure: "end processes",
}

// exclude is a node affinity that keeps the pod off nodes with some labels.
func (a *sheet) exclude(f *remedy.Remedy, effect string) {
	labels := f.Without()
	words := "keep the pod off " + pluralOf(len(f.Nodes), "this node", "these nodes") + ": add " +
		pluralOf(len(labels), "this expression", "these expressions") +
		" to each term of the required node affinity of the template"
	a.add(a.to, "%s", joined(" ", words, effect)+":")
	for _, l := range labels {
		a.add(a.to, "%s", fmt.Sprintf("{key: %s, operator: NotIn, values: [%s]}", l[0], l[1]))
	}
}

// selectEvery is what keeps a node selector off the pods of the namespace, and off those that have it.
func (a *answer) selectEvery() {
	for i := range a.e.Problems {
		p := &a.e.Problems[i]
		annotation := fact(p.Facts, "annotation")
		if p.Facts["added"] == nil || annotation == "" {
			continue
		}
		remove := "delete the "
		if again := fact(p.Facts, "again"); again == "" {
			namespace, empty := a.h.DaemonSet.Namespace, screen.Quote(annotation+"=")
			a.act(a.to, "have namespace "+screen.Clean(namespace)+" select every node, for all of its pods:",
				a.kubectl("kubectl annotate namespace", screen.Quote(namespace), empty, "--overwrite"))
			remove = "then delete the "
		}
		words := remove + pluralOf(len(p.Pods), "pod, which keeps", "pods, which keep") + " the nodeSelector:"
		a.act(a.to, words, a.kubectl(quoted([]screen.Word{"kubectl delete pod", a.namespace()}, p.Pods)...))
	}
}

// allow is what lets the pods pass a policy that rejects them, where the remedies of a refusal do
// not say it.
func (a *answer) allow(f *remedy.Remedy) {
	if a.refusal(a.e.Has(cause.FailedCreate)) != nil {
		return
	}
	for _, s := range f.Ends {
		switch s.Kind {
		case cause.SubjectSCC:
			a.act(a.to, "with an SCC that allows what the message names, such as privileged:",
				a.kubectl("oc adm policy add-scc-to-user", screen.Placeholder("SCC"),
					screen.Word("-z "+screen.Quote(s.Name)), screen.Word("-n "+screen.Quote(s.Namespace))),
				"gives every pod of this ServiceAccount what that SCC allows")
		case cause.SubjectPolicy:
			if level := fact(a.e.Has(cause.FailedCreate).Facts, "admits"); level != "" {
				words := map[string]string{"privileged": "if the owner of the namespace agrees that its pods may do " +
					"anything, label it:"}
				a.act(a.to, cmp.Or(words[level], "if the owner of the namespace agrees, label it:"),
					a.kubectl("kubectl label --overwrite namespace", screen.Quote(a.h.DaemonSet.Namespace),
						screen.Word("pod-security.kubernetes.io/enforce="+level)), "replaces no pod")
			}
		}
	}
}

// freePort says who has the port.
func (a *answer) freePort(f *remedy.Remedy) {
	for i := range a.e.Problems {
		if p := &a.e.Problems[i]; p.Subject.Kind == cause.SubjectHostPort {
			a.s.Add(a.to, screen.Names{Before: "on", Names: p.Nodes, After: ": " + otherPort(p)})
		}
	}
}

// create says which objects have to exist, or which keys they need.
func (a *answer) create(f *remedy.Remedy) {
	for _, s := range f.Ends {
		met := func(p explain.Problem) bool { return p.Subject == s }
		if a.inPlan && !slices.ContainsFunc(a.e.Problems, met) { // then the plan says it
			continue
		}
		words, command := "create it", screen.Command{}
		if s.Kind == cause.SubjectQuota {
			words = "create a ResourceQuota in namespace " + a.h.DaemonSet.Namespace +
				" whose scope selects this PriorityClass, or use another PriorityClass"
		}
		for i := range a.e.Problems {
			p := &a.e.Problems[i]
			if p.Subject == s && usedBefore(p) > 0 {
				words = "restore " + a.missed(p) + " from its manifest or a backup"
			} else if p.Subject == s && p.Facts["kind"] != nil {
				words = a.reference(p.Facts).create()
			} else if absent := a.absent(p); p.Subject == s && absent != "" {
				words, command = "create "+absent, a.creation(p)
			}
		}
		if words += "; the " + pluralOf(len(f.Nodes), "pod then starts", "pods then start") +
			" automatically"; len(command) > 0 {
			words += ":"
		}
		a.act(a.to, words, command)
	}
}

// creation is the command that creates what the API server says does not exist; empty where there is none, and where
// the change that names the object is at fault.
func (a *answer) creation(p *explain.Problem) screen.Command {
	if p.Blame != nil && p.Blame.Who == cause.WhoChange {
		return nil
	}
	switch kind, name := cause.NamedObject(p.Facts); kind {
	case "PriorityClass":
		return a.kubectl("kubectl create priorityclass", screen.Quote(name), "--value=<PRIORITY>")
	case "ServiceAccount":
		return a.kubectl("kubectl create serviceaccount", a.namespace(), screen.Quote(name))
	}
	return nil
}

// blames reports whether a rollback is for the fault of the revision, as far as is known.
func (a *answer) blames(f *remedy.Remedy) bool {
	return slices.ContainsFunc(a.e.Problems, func(p explain.Problem) bool {
		return slices.Contains(f.Problems, p.Code) && p.Blame != nil && p.Blame.Who == cause.WhoChange
	})
}

// makeRoom says what helps pods that do not fit on these nodes.
func (a *answer) makeRoom(f *remedy.Remedy) {
	var said []string
	nodes, these := map[string][]string{}, sets.New(f.Nodes...)
	for i := range a.e.Problems {
		p := &a.e.Problems[i]
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
		a.s.Add(a.to, screen.Names{Before: "on", Names: nodes[words], After: ": " + words})
	}
}

// roomFix says what helps a pod that does not fit; empty for other problems.
func roomFix(p *explain.Problem) string {
	switch p.Code {
	case cause.HostPortConflict:
		return otherPort(p)
	case cause.InsufficientResources:
		return otherRequest(p)
	}
	return ""
}

// otherPort says what helps a pod whose host port is in use.
func otherPort(p *explain.Problem) string {
	owner, holder := fact(p.Facts, "owner"), fact(p.Facts, "holder")
	switch known := fact(p.Facts, "plugin") == "NodePorts"; {
	case known && owner != "":
		return "the owner of pod " + owner + " gives it another host port, or another node"
	case known && holder != "":
		return "the owner of " + holder + " gives its pods another host port, or other nodes"
	}
	return "change the host port of one of the two pods, or keep one of them off this node"
}

// otherRequest says what helps a pod that requests too much.
func otherRequest(p *explain.Problem) string {
	resource, short := resourceWord(p.Facts["resources"]), lacking(p.Facts)
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
	case fact(p.Facts, "preemption") == "NothingLower" && !p.Facts.Yes("topmost"):
		return remove + "; or give the template a PriorityClass above theirs" +
			phrase(" (system-node-critical would evict ", namesIn(p.Facts, "evicts"), ")") +
			", so that the scheduler makes room (starts a rollout of all pods)"
	}
	return remove
}

// lacking is how much more of the first resource a pod requests than is free; empty if that is
// not known.
func lacking(f daemonset.Facts) string {
	requested, err := resource.ParseQuantity(fact(f, "requested"))
	free, other := resource.ParseQuantity(fact(f, "free"))
	if err != nil || other != nil {
		return ""
	}
	requested.Sub(free)
	return requested.String()
}

// tolerate says which tolerations the pods on some nodes need, where they are to stay or else to come.
func tolerate(nodes []string, tolerations []corev1.Toleration, keep bool) string {
	few := someNames(nodes)
	if len(nodes) > 3 {
		few = fmt.Sprintf("the %d nodes", len(nodes))
	}
	var each []string
	for i := range tolerations {
		each = append(each, tolerationText(&tolerations[i]))
	}
	why := either(keep, "to keep the "+pluralOf(len(nodes), "pod", "pods")+" on "+few+", ", "")
	return why + "add to the template the " + pluralOf(len(each), "toleration ", "tolerations ") +
		screen.Clean(strings.Join(each, ", "))
}

// tolerationText is a toleration as a manifest has it, on one line.
func tolerationText(t *corev1.Toleration) string {
	value := ""
	if t.Value != "" {
		value = fmt.Sprintf("value: %q, ", t.Value)
	}
	return fmt.Sprintf("{key: %s, operator: %s, %seffect: %s}", t.Key, t.Operator, value, t.Effect)
}

// tolerationFlags ask for a plan with tolerations added to the template.
func tolerationFlags(tolerations []corev1.Toleration) (flags []Flag) {
	for _, t := range tolerations {
		flags = append(flags, Flag{Name: "toleration",
			Value: daemonset.TaintString(corev1.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect})})
	}
	return flags
}

// undoneBy says who undoes a change by hand; it is empty if nobody is known to.
func (a *answer) undoneBy() string { return undoneBy(a.e.ManagedBy) }

// undoneBy says who, of those that write a DaemonSet besides a person, undoes a change by hand first.
func undoneBy(by []managed.Manager) string {
	if len(by) == 0 {
		return ""
	}
	who, undone := managerWords(by[0])
	return who + " writes the DaemonSet: " + undone
}

// undoes says what a rollback does with pods.
func (a *answer) undoes(f *remedy.Remedy) []string {
	replaced, works, extra := a.e.Undoes(f)
	var effects []string
	if none := a.e.Has(cause.NoEligibleNode); none != nil && none.Facts["eligible"] != nil {
		effects = append(effects, pluralVerb(none.Facts.Int("eligible"), "node is eligible again and runs the pod",
			"nodes are eligible again and run the pod"))
	}
	on := " on revision " + strconv.FormatInt(a.current(), 10)
	pods, delete := Plural(replaced, "pod")+on, either(extra > 0, "deletes "+Plural(extra, "extra pod"), "")
	switch some := works % max(replaced, 1); {
	case len(effects) > 0:
	case replaced == 0:
		effects = append(effects, phrase(delete, on))
	case works == 0:
		are := pluralOf(replaced, "it is", "they are")
		effects = append(effects, "replaces "+pods+" immediately: "+are+" not available")
	default:
		available := either(some > 0, ", "+strconv.Itoa(some)+" of them available", "")
		effects = append(effects, "replaces "+pods+available+phrase(", and ", delete))
	}
	if i := a.e.Impact; a.e.Budget.Kind == daemonset.BudgetSurge && i != nil && len(i.Without) == 0 {
		effects = append(effects, "no node loses its available pod")
	}
	return effects
}

// raise is a higher limit for as long as nodes are broken.
func (a *answer) raise(f *remedy.Remedy) {
	limit, _ := strconv.Atoi(f.Value)
	field, flag, before := a.e.Budget.Kind.Field(), limitFlags[a.e.Budget.Kind], cmp.Or(a.e.Budget.Spec, "1")
	words, n := "to update the other pods now", len(f.Nodes)
	if n > 0 && limit > n {
		words += fmt.Sprintf(" (%d = %d unavailable + %d at a time)", limit, n, limit-n)
	}
	if !a.inPlan { // where the ways out name the flag
		a.preview(fmt.Sprintf("of %s %d:", field, limit), flag, f.Value)
	}
	loses := ""
	if i := a.e.Impact; i != nil {
		loses = costs(i.Uncounted)
	}
	a.act(a.to, words+":", a.limitTo(field, f.Value), loses, a.undoneBy())
	a.act(a.to, "and afterwards back to "+before+":", a.limitTo(field, before))
}
