package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
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
		problems := slices.DeleteFunc(slices.Clone(part.Problems), func(p *explain.Problem) bool { return !slices.Contains(matters, p) })
		d := part.Advice
		if len(a.e.Advice) == 1 {
			d = &a.e.Advice[0]
		}
		a.doPart(*cmp.Or(d, &explain.Advice{}), a.e.Advice, problems, part.Fixes)
		if len(part.Problems) > 0 && len(a.e.Advice) > 0 && (part.As > 0 || len(part.Fixes) == 0) {
			a.add(a.to, "%s", fill(a.now, daemonset.Facts{"code": part.Problems[0].Code, "as": asPart(part.As, one != nil), "below": one != nil, "revision": a.current(), "pods": part.Problems[0].Count, "named": part.Problems[0].Facts["kind"] != nil, "limited": part.Problems[0].Facts["limited"] != false, "limitRange": part.Problems[0].Facts["limitRange"]}, otherFixes...))
		}
	}
	if a.atEnd = false; one != nil {
		a.to, a.lead = screen.Then, words
		a.fix(one)
	}
	if may := a.mayRollBack(); may != nil && !a.inPlan {
		a.preview("of a rollback, which may help:", "to-revision", may.Value)
	}
	if !a.inPlan && slices.ContainsFunc(a.e.Advice, func(d explain.Advice) bool { return d.Code == explain.AdviseLookAhead }) {
		a.s.Add(screen.Preview, a.again("plan-rollout"))
	}
	if r := a.refusal(a.e.Has(cause.FailedCreate)); r != nil && r.Reason != admission.QuotaExceeded { // which has a fix already
		a.remedies(r, a.works() > 0)
	}
	if p := a.e.Has(cause.ControllerSilent); p != nil && a.e.Fix(remedy.Refresh) == nil {
		a.add(screen.Then, "restart kube-controller-manager on the control plane nodes, or ask the provider that manages them; the controller then goes on automatically")
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
		if rows := slices.DeleteFunc(slices.Clone(of.Problems), func(p *explain.Problem) bool { return !slices.Contains(d.Problems, p.Code) }); len(rows) == 1 {
			title += a.since(rows[0])
		}
	}
	return title
}

// asPart is the number of the part with the same fix; 0 where that stands at the end of the screen.
func asPart(as int, atEnd bool) int {
	if atEnd {
		return 0
	}
	return as
}

// placementCheck shows the labels that no node has, or the node that is not ready.
func (a *sheet) placementCheck(f daemonset.Facts) screen.Command {
	switch by, keys := f["excludedBy"], cause.LabelKeys(f); {
	case len(keys) > 0:
		return a.kubectl("kubectl get nodes", screen.Word("-L "+screen.Quote(strings.Join(keys, ","))))
	case by == cause.ExcludedByLabels, by == cause.ExcludedByAffinity:
		return a.kubectl("kubectl get nodes", "--show-labels")
	case by == cause.ExcludedByCondition:
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

// otherFixes say what solves a problem that the rollback of another part solves too.
var otherFixes = []string{
	"{code=ImagePullBackOff}the {pods?pod starts|pods start} automatically when the image can be pulled (the kubelet's back-off, up to 5m)[; if not, roll back, as in {as}]",
	"{code=ContainerConfig}{named=true}{as=0}", "{code=ContainerConfig}{named=true}{below=true}", "{code=ContainerConfig}{named=true}if that does not help, roll back, as in {as}",
	"{code=OOMKilled}{limitRange=true}give the template a memory limit, or raise the default of the LimitRange of the namespace and then delete the {pods?pod|pods}[; or roll back, as in {as}]",
	"{code=OOMKilled}{limited=true}raise the memory limit in the template[, or roll back, as in {as}]",
	"{as=0}", "{below=true}",
	"if revision {revision} is at fault: roll back, as in {as}",
}

// preview is a plan of a fix, which changes nothing.
func (a *sheet) preview(of, flag, value string) {
	if c := a.again("plan-rollout", Flag{Name: flag, Value: value}); len(c) > 0 {
		a.act(screen.Preview, of, c)
	}
}

// fix is a command or an act that changes the cluster, and a plan of it.
func (a *answer) fix(f *remedy.Remedy) {
	facts := daemonset.Facts{"nodes": len(f.Nodes), "name": f.Value, "needs": f.Needs, "pods": len(f.Pods), "current": a.current()}
	say := func(sentences ...string) string { return fill(a.now, facts, sentences...) }
	switch f.Code {
	case remedy.RollBack:
		to, words := f.Value, ""
		facts["to"], facts["told"] = to, slices.ContainsFunc(a.e.Problems, func(p explain.Problem) bool { return p.Common != nil && p.Common.Told })
		if !a.blames(f) && a.lead == "" {
			words = say("{told=true}go back to revision {to}:", "if revision {current} is at fault:")
		}
		effects := a.undoes(f)
		if _, works, extra := a.e.Undoes(f); words == "" && a.lead != "" && works+extra == 0 { // which the lead says
			effects = nil
		}
		a.preview("", "to-revision", to)
		a.act(a.to, words, a.kubectl("kubectl rollout undo", a.namespace(), "daemonset/"+a.name(), screen.Word("--to-revision="+to)), append(effects, a.undoneBy())...)
	case remedy.RepairNodes:
		if len(a.e.Advice) > 1 {
			break
		}
		facts["under"], facts["whole"] = a.e.Rollout.UnderWay, a.e.Impact != nil && len(a.e.Impact.Without) == 0
		facts["undo"] = a.e.Fix(remedy.RollBack) != nil
		a.act(a.to, say("{undo=false}{under=true}once {nodes?the node is|the nodes are} Ready, the rollout continues automatically",
			"{undo=false}{whole=true}once {nodes?the node is Ready, it counts again, and keeps its pod|the nodes are Ready, they count again, and keep their pods}", "once {nodes?the node is Ready, its pod comes back|the nodes are Ready, their pods come back}"), nil)
		if a.e.Verdict.Code != explain.Healthy {
			a.act(screen.Other, "only for a node that will never come back:", a.kubectl("kubectl delete node", screen.Placeholder("NODE")))
		}
	case remedy.PublishImage:
		a.act(a.to, say("publish a new image, for {name} too (this starts a rollout of all pods)", "publish a new image, for these nodes too (this starts a rollout of all pods)"), nil)
	case remedy.ExcludeNodes:
		if slices.Contains(f.Problems, cause.ExcludedButCounted) {
			facts["problem"] = string(cause.ExcludedButCounted)
		}
		if f.Without() != nil {
			a.exclude(f, "(this starts a rollout of all pods)")
			return
		}
		key, value := f.Label()
		a.preview("", "node-selector", f.Value)
		a.act(a.to, say("{problem=ExcludedButCounted}{nodes=1}have the template exclude this node too:", "{problem=ExcludedButCounted}have the template exclude these {nodes} nodes too:", "{nodes=1}keep the pod off this node:", "keep the pod off these {nodes} nodes:"), a.kubectl("kubectl patch daemonset", a.namespace(), a.name(), "--type=merge", "-p",
			screen.Quote(fmt.Sprintf(`{"spec":{"template":{"spec":{"nodeSelector":{%q:%q}}}}}`, key, value))), "starts a rollout of all pods", a.undoneBy())
	case remedy.RaiseMaxUnavailable, remedy.RaiseMaxSurge:
		a.raise(f)
	case remedy.RaiseQuota:
		raise, after := screen.Command{}, ""
		if f.Needs > 0 {
			after = "whoever manages the ResourceQuota may revert it"
			raise = a.kubectl("kubectl patch resourcequota", a.namespace(), screen.Quote(f.Value), "--type=merge", "-p", screen.Quote(fmt.Sprintf(`{"spec":{"hard":{"pods":"%d"}}}`, f.Needs)))
		}
		a.act(a.to, say(`ask the team that manages ResourceQuota "{name}" to raise it[ to at least {needs:pod}, or raise it yourself:]`), raise, after)
	case remedy.MakeRoom:
		a.makeRoom(f.Nodes)
	case remedy.NoSurge:
		a.act(a.to, "use maxUnavailable in place of maxSurge:", a.patch(`{"maxSurge":0,"maxUnavailable":1}`), "a node then has no available pod while its pod is replaced", a.undoneBy())
	case remedy.Tolerate:
		others := a.strandedBeside(f.Nodes) // which that rollout strands
		facts["some"], facts["others"] = someNames(others), len(others)
		none := a.e.Has(cause.NoEligibleNode)
		if none != nil && none.Facts.Int("staying")+none.Facts.Int("losing") == 0 {
			facts["creates"] = f.Effect.Desired
		}
		a.act(a.to, tolerate(f.Nodes, f.Tolerations, none == nil), nil, say("this creates {creates:pod}", "this starts a rollout of all pods[, which removes the {others?pod|pods} on {some}]"), a.undoneBy())
		if c := a.again("plan-rollout", tolerationFlags(f.Tolerations)...); len(c) > 0 {
			a.act(screen.Preview, "", c)
		}
	case remedy.CreateObject:
		a.create(f)
	case remedy.FreePort:
		a.freePort(f)
	case remedy.LowerRequest:
		if a.unfit { // the plan says it for each node
			return
		}
		for i := range a.e.Problems {
			if p := &a.e.Problems[i]; slices.Contains(f.Ends, p.Subject) && p.Facts["free"] != nil {
				facts["free"], facts["resource"] = p.Facts["free"], resourceWord(p.Facts["resources"])
			}
		}
		a.act(a.to, say("lower the {resource} request in the template to at most {free} (this starts a rollout of all pods)", "lower the request in the template (this starts a rollout of all pods)"), screen.Command{})
	case remedy.CorrectTemplate:
		if len(a.e.Fixes()) == 1 {
			a.act(a.to, say("correct the template (this starts a rollout of all pods)"), screen.Command{})
		}
	case remedy.AskOwner: // which Do now says, but for the commands
		a.selectEvery()
		a.allow(f)
	case remedy.OutOfService:
		nodes := []screen.Word{"kubectl taint nodes"}
		for _, n := range f.Nodes {
			nodes = append(nodes, screen.Quote(n))
		}
		a.act(screen.Other, say("only for {nodes?a machine that is|machines that are} off (untaint {nodes?it|them} later):"),
			a.kubectl(append(nodes, screen.Word(daemonset.TaintString(cause.OutOfService)))...))
	case remedy.RemoveNode:
		if a.e.Verdict.Code == explain.BeingDeleted { // else RepairNodes says it
			nodes := []screen.Word{"kubectl delete node"}
			for _, n := range f.Nodes {
				nodes = append(nodes, screen.Quote(n))
			}
			a.act(a.to, say("only for {nodes?a node that never comes|nodes that never come} back; the garbage collector then deletes the {nodes?pod|pods}, and the DaemonSet:"), a.kubectl(nodes...))
		}
	case remedy.Refresh:
		a.act(a.to, "", a.kubectl("kubectl annotate daemonset", a.namespace(), a.name(), "kubectl-ds/refreshed="+screen.Word(a.now.UTC().Format("20060102T150405Z")), "--overwrite"), "replaces no pod")
	case remedy.FreeDisk:
		if slices.Contains(f.Problems, cause.OOMKilled) {
			facts["problem"] = string(cause.OOMKilled)
		}
		a.act(a.to, say(freeing[corev1.NodeConditionType(f.Value)]+" on {nodes?the node|the nodes}, or contact the team that manages {nodes?it|them}; ")+
			say("{problem=OOMKilled}the kubelet then restarts the {nodes?container|containers}, up to 5m later", "the controller then creates the {nodes?pod|pods}, up to 15m later"), screen.Command{})
	case remedy.DeletePods:
		words := ""
		if a.e.Verdict.Code == explain.AwaitingDelete {
			a.preview("of a rolling update in place of the deletions:", "strategy", "RollingUpdate")
			words = say("{pods=1}delete the pod; the node has no available pod until the new one is available:", "delete the {pods} pods one at a time; a node has no available pod until the new one is available:")
		}
		pods := []screen.Word{"kubectl delete pod", a.namespace()}
		if a.e.Verdict.Code != explain.AwaitingDelete && len(f.Pods) > 1 { // they fail, so all of them may go
			words = say("delete the {pods} failing pods; the controller then creates pods of revision {current}:")
			for _, p := range f.Pods[1:] {
				pods = append(pods, screen.Quote(p))
			}
		}
		a.act(a.to, words, a.kubectl(append(pods, screen.Quote(f.Pods[0]))...))
	}
}

// freeing says what ends a pressure.
var freeing = map[corev1.NodeConditionType]string{
	corev1.NodeDiskPressure: "free disk space", corev1.NodeMemoryPressure: "free memory", corev1.NodePIDPressure: "end processes",
}

// exclude is a node affinity that keeps the pod off nodes with some labels.
func (a *sheet) exclude(f *remedy.Remedy, effect string) {
	labels := f.Without()
	a.add(a.to, "%s:", joined(" ", fill(a.now, daemonset.Facts{"nodes": len(f.Nodes), "n": len(labels)}, "keep the pod off {nodes?this node|these nodes}: add {n?this expression|these expressions} to each term of the required node affinity of the template"), effect))
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
		f := daemonset.Facts{"pods": len(p.Pods), "namespace": a.h.DaemonSet.Namespace, "again": fact(p.Facts, "again")}
		if f["again"] == "" {
			a.act(a.to, fill(a.now, f, "have namespace {namespace} select every node, for all of its pods:"), a.kubectl("kubectl annotate namespace", screen.Quote(a.h.DaemonSet.Namespace), screen.Quote(annotation+"="), "--overwrite"))
		}
		pods := []screen.Word{"kubectl delete pod", a.namespace()}
		for _, name := range p.Pods {
			pods = append(pods, screen.Quote(name))
		}
		a.act(a.to, fill(a.now, f, "{again=false}delete the {pods?pod, which keeps|pods, which keep} the nodeSelector:", "then delete the {pods?pod, which keeps|pods, which keep} the nodeSelector:"), a.kubectl(pods...))
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
				a.kubectl("oc adm policy add-scc-to-user", screen.Placeholder("SCC"), screen.Word("-z "+screen.Quote(s.Name)), screen.Word("-n "+screen.Quote(s.Namespace))), "gives every pod of this ServiceAccount what that SCC allows")
		case cause.SubjectPolicy:
			if level := fact(a.e.Has(cause.FailedCreate).Facts, "admits"); level != "" {
				words := map[string]string{"privileged": "if the owner of the namespace agrees that its pods may do anything, label it:"}
				a.act(a.to, cmp.Or(words[level], "if the owner of the namespace agrees, label it:"),
					a.kubectl("kubectl label --overwrite namespace", screen.Quote(a.h.DaemonSet.Namespace), screen.Word("pod-security.kubernetes.io/enforce="+level)), "replaces no pod")
			}
		}
	}
}

// freePort says who has the port.
func (a *answer) freePort(f *remedy.Remedy) {
	for i := range a.e.Problems {
		if p := &a.e.Problems[i]; p.Subject.Kind == cause.SubjectHostPort {
			a.s.Add(a.to, screen.Names{Before: "on", Names: p.Nodes, After: ": " + fill(a.now, p.Facts, roomFixes[cause.HostPortConflict]...)})
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
			words = "create a ResourceQuota in namespace " + a.h.DaemonSet.Namespace + " whose scope selects this PriorityClass, or use another PriorityClass"
		}
		for i := range a.e.Problems {
			p := &a.e.Problems[i]
			if p.Subject == s && usedBefore(p) > 0 {
				words = "restore " + a.missed(p) + " from its manifest or a backup"
			} else if p.Subject == s && p.Facts["kind"] != nil {
				words = fill(a.now, with(p.Facts, daemonset.Facts{"namespace": a.h.DaemonSet.Namespace}), create...)
			} else if absent := a.absent(p); p.Subject == s && absent != "" {
				words, command = "create "+absent, a.creation(p)
			}
		}
		if words += fill(a.now, daemonset.Facts{"pods": len(f.Nodes)}, "; the {pods?pod then starts|pods then start} automatically"); len(command) > 0 {
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
func (a *answer) makeRoom(on []string) {
	var said []string
	nodes, these := map[string][]string{}, sets.New(on...)
	for i := range a.e.Problems {
		p := &a.e.Problems[i]
		at := slices.DeleteFunc(slices.Clone(p.Nodes), func(n string) bool { return !these.Has(n) })
		f := with(p.Facts, daemonset.Facts{"resource": resourceWord(p.Facts["resources"]), "short": lacking(p.Facts), "evicts": namesIn(p.Facts, "evicts")})
		words := fill(a.now, f, roomFixes[p.Code]...)
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

// roomFixes say what helps a pod that does not fit.
var roomFixes = map[daemonset.Reason][]string{
	cause.HostPortConflict: {"{plugin=NodePorts}the owner of pod {owner} gives it another host port, or another node", "{plugin=NodePorts}the owner of {holder} gives its pods another host port, or other nodes", "change the host port of one of the two pods, or keep one of them off this node"},
	cause.InsufficientResources: {
		"{resource=pods}delete a pod that can run elsewhere, or raise maxPods of the kubelet",
		"{beyond=true}lower the {resource} request of the template (starts a rollout of all pods), or keep the pod off this node",
		"{preemption=NothingLower}{topmost=}delete pods that can run elsewhere and request {short} of {resource} in all; or give the template a PriorityClass above theirs[ (system-node-critical would evict {evicts})], so that the scheduler makes room (starts a rollout of all pods)",
		"delete pods that can run elsewhere and request {short} of {resource} in all",
		"lower what the template requests (starts a rollout of all pods) or what the other pods request, or delete pods that can run elsewhere",
	},
}

// lacking is how much more of the first resource a pod requests than is free; nil if that is
// not known.
func lacking(f daemonset.Facts) any {
	requested, err := resource.ParseQuantity(fact(f, "requested"))
	free, other := resource.ParseQuantity(fact(f, "free"))
	if err != nil || other != nil {
		return nil
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
	return fill(time.Time{}, daemonset.Facts{"nodes": len(nodes), "where": few, "n": len(each), "tolerations": strings.Join(each, ", "), "keep": keep},
		"{keep=false}add to the template the {n?toleration|tolerations} {tolerations}", "to keep the {nodes?pod|pods} on {where}, add to the template the {n?toleration|tolerations} {tolerations}")
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
		flags = append(flags, Flag{Name: "toleration", Value: daemonset.TaintString(corev1.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect})})
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
	facts := daemonset.Facts{"revision": a.current(), "replaced": replaced, "extra": extra, "works": works, "some": works % max(replaced, 1)}
	if none := a.e.Has(cause.NoEligibleNode); none != nil {
		facts["eligible"] = none.Facts["eligible"]
	}
	effects := []string{fill(a.now, facts, "{eligible:node is eligible again and runs|nodes are eligible again and run} the pod",
		"{replaced=0}[deletes {extra:extra pod} on revision {revision}]", "{works=0}replaces {replaced:pod} on revision {revision} immediately: {replaced?it is|they are} not available", "replaces {replaced:pod} on revision {revision}[, {some} of them available][, and deletes {extra:extra pod}]")}
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
		loses = fill(a.now, costFacts(i.Uncounted), "["+costs+"]")
	}
	a.act(a.to, words+":", a.limitTo(field, f.Value), loses, a.undoneBy())
	a.act(a.to, "and afterwards back to "+before+":", a.limitTo(field, before))
}
