package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
)

// looking says what to look at first, where that has a command which only reads.
var looking = map[explain.AdviceCode][]string{
	explain.AdviseRollBack:     {"{logs=true}read the logs while the {replaced?pod exists|pods exist}"},
	explain.AdviseReadLogs:     {"read the logs before you change anything"},
	explain.AdviseImage:        {"find out why {count?this node|these nodes} cannot pull the image"},
	explain.AdviseMemory:       {"find out how much memory the program needs"},
	explain.AdvisePublishImage: {"{notBuilt=true}", "{told=true}", "find out whether the image is built for {platform} before you change anything"},
	explain.AdviseCompareNodes: {"find out what the program does not cope with on {count?this node|these nodes} before you change anything"},
	explain.AdviseInjector: {
		"{via=Image}", "{via=Namespace}", "{via=Selector}find out who adds the nodeSelector {added} to the {count?pod|pods}, such as an admission webhook",
		"read the logs of container {container}",
	},
	explain.AdviseFreeNode: {
		"{pressure=DiskPressure}see what uses the disk of {where}", "{pressure=PIDPressure}see which pods run most processes on {where}",
		"see what uses the memory of {where}",
	},
	explain.AdviseReadEvents:  {"look at the state and the events of {count?the pod|a pod} before you change anything"},
	explain.AdviseRepairNodes: {"{verdict=BeingDeleted}", "see what {where} {count?reports|report}"},
	explain.AdviseFreePort:    {"{via=Owner}", "find the pod that uses the host port on {where}"},
	explain.AdviseAskOwner: {
		"{kind=Quota}{name=}", `{kind=Quota}see what uses ResourceQuota "{name}"`,
		"{kind=Webhook}check whether Service {service} in namespace {serviceNamespace} has ready endpoints: until it does, the API server rejects the pods",
	},
	explain.AdviseControlPlane:        {"find out whether kube-controller-manager runs; the DaemonSet needs no change"},
	explain.AdviseRepairBeforeRollout: {"{problem=Misscheduled}see what {where} {count?reports|report}"},
	explain.AdviseCompareLabels: {
		"{lacks=one}if nodes should run the pod, find out what sets that label on nodes, and why no node has it",
		"{lacks=any}if nodes should run the pod, find out what sets these labels on nodes, and why no node has any of them",
		"{lacks=all}if nodes should run the pod, find out what sets these labels on nodes, and why no node has them",
		"if nodes should run the pod, compare their labels with the {by} of the template",
	},
}

// advices say what to do, after the look if there is one.
var advices = map[explain.AdviceCode][]string{
	explain.AdviseWait: {"{problem=NodeGone}nothing: the pod garbage collector removes what is left", "nothing: the rollout continues"},
	explain.AdviseDeletePods: {
		"{problem=VanishedNodeInSurge}delete the pod of the deleted node", "{fails=true}{works=0}nothing shows that revision {current} fails",
		"{fails=true}revision {current} works", "nothing is urgent; when convenient:",
	},
	explain.AdviseRollBack: {
		"{problem=NoEligibleNode}{back}, or correct [the {fields} of ]the template",
		"{works=0}{back}; this replaces only the {replaced?failing pod|failing pods}", "{back}",
	},
	explain.AdviseWaitForImage: {"wait: the image is being pulled, and how long that takes depends on its size and the registry"},
	explain.AdvisePublishImage: {
		"{notBuilt=true}use an image that has a build for {platform}, or have this one published for it",
		"{told=true}{undo=true}{back}; later publish the image for {platform}, or keep the pod off {count?this node|these nodes}",
		"{told=true}publish the image for {platform}[, or keep the pod off {count?this node|these nodes} ({Fix})]",
	},
	explain.AdviseExcludeNodes: {
		"{problem=NextRolloutStalls}nothing now; before the next rollout have the template exclude {where} too, by its nodeSelector",
		"{problem=ExcludedButCounted}have the template exclude {count?this node|these nodes} too, by its nodeSelector",
		"keep the pod off {count?this node|these nodes}",
	},
	explain.AdviseCorrectTemplate: {
		"{typed=false}find out whether the {count?node|nodes} should have {hostPath}: if not, mount the path that {count?it has|they have}, or keep the pod off {count?it|them}",
		"{never=true}load the image onto {where}, or change the imagePullPolicy or the image in the template",
		"{noImage=true}correct the image in the template, or publish {image}: the pods then start automatically",
		"find out whether the {count?node|nodes} should have {hostPath}: if not, keep the pod off {count?it|them}, or use a version of the program that does not need it (another type of hostPath would only hide that it is missing)",
		"correct the template (Fault)",
	},
	explain.AdviseInjector: {
		"{via=Image}find out who rewrites the images of pods, such as a webhook of an image cache, and whether it has {image} for {where}: the template names {templateImage}",
		"{via=Namespace}{again=false}a new pod does not get the nodeSelector", "{via=Namespace}",
		"{via=Selector}if the pod is for those nodes only, add it to the template as well: the other nodes are then not eligible",
		"ask whoever adds the container to the pods",
	},
	explain.AdviseConfig: {"create what the message names, or correct the template"},
	explain.AdviseAwaitNodes: {
		"wait until {where} {count?is|are} back, or ask {setBy}: {count?it is|they are} likely down on purpose (Fault)",
		"wait until {where} {count?is|are} back, or ask whoever set {purpose} there: {count?it is|they are} likely down on purpose (Fault)",
	},
	explain.AdviseRepairNodes: {
		"{verdict=BeingDeleted}repair {where}, or delete the {count?node|nodes} if {count?it never comes|they never come} back: the deletion waits for the {count?pod|pods} there",
		"{cordoned=true}{afterFirst=}ask whoever cordoned {where} whether {count?it is|they are} down on purpose; if not, repair {count?it|them}",
		"ask the team that runs {where} to repair {count?it|them}; a node that comes back before {afterFirst}[{afterLast=} is solved][{two=true} and {afterLast} are solved][{two=false} to {afterLast} are solved] gets a pod of revision {spreads}",
		"repair {where}, or contact the team that manages {count?it|them}",
	},
	explain.AdviseLookAhead: {
		"{inPlan=true}{goesBack=false}it will stop: correct what the headline names",
		"{inPlan=true}{back} before the controller takes the next step", "it will stop: see why[ ({Preview})], and correct that",
	},
	explain.AdviseMakeRoom: {"make room for the pod on {where}"},
	explain.AdviseFreePort: {
		"ask the owner of pod {owner} to free host {ports?port|ports} {ports} on {where}",
		"ask the owner of {holder} to free host {ports?port|ports} {ports} on {where}",
	},
	explain.AdviseAskOwner: {
		"{kind=Quota}{raises=true}", "{kind=Quota}{name=}create a ResourceQuota that admits this PriorityClass, or use another PriorityClass",
		`{kind=Quota}ask the team that manages ResourceQuota "{name}" to raise it; the DaemonSet needs no change`,
		"{kind=Webhook}if Service {service} cannot have ready endpoints, ask the owner of admission webhook {name} to exempt namespace {namespace}",
		"{kind=Webhook}{called=false}ask the owner of admission webhook {name} why it does not respond: until it does, the API server rejects the pods",
		"{kind=Webhook}ask the owner of admission webhook {name}",
		"{kind=PodSecurityPolicy}let ServiceAccount {name} use a PodSecurityPolicy that allows what the message names, or have the pod use a ServiceAccount that may",
		"{kind=SCC}have a cluster administrator grant ServiceAccount {name} an SCC that allows these pods",
		"{first}[; until then restart and drain {nothing}]",
		"{kind=Policy}ask the owner of namespace {namespace} to allow pods that violate {name}, or change the template",
		"read the message: it says what the pod violates",
	},
	explain.AdviseRefresh:  {"write an annotation of the DaemonSet: the controller then looks at it again"},
	explain.AdviseStrategy: {"{problem=InvalidBudget}set {field} to a number or a percentage", "change the update strategy"},
	explain.AdviseRepairBeforeRollout: {
		"{problem=Misscheduled}repair {where}, or contact the team that manages {count?it|them}",
		"nothing now; start no rollout before {where} {count?is|are} repaired", "nothing now; start no rollout before this is repaired",
	},
	explain.AdviseTolerate: {
		"{problem=NoEligibleNode}if {where} should run the pod, add a toleration for {taints} to the template[ {source}]",
		"{strandedBy=Next}nothing is urgent; if {where} must keep {count?its pod|their pods}, the next change of the template has to add a toleration",
		"if {where} must keep {count?its pod|their pods}, add a toleration now",
	},
	explain.AdviseCompareLabels: {"{lacks=one}correct the {by} in the template[ {source}], if it is wrong", "{lacks=any}correct the {by} in the template[ {source}], if it is wrong", "{lacks=all}correct the {by} in the template[ {source}], if it is wrong"},
}

// saidByFix are the pieces of advice that say nothing beside their remedy.
var saidByFix = map[explain.AdviceCode]remedy.Code{
	explain.AdviseMakeRoom: remedy.MakeRoom, explain.AdviseExcludeNodes: remedy.ExcludeNodes, explain.AdvisePublishImage: remedy.PublishImage,
	explain.AdviseStrategy: remedy.NoSurge, explain.AdviseConfig: remedy.CreateObject, explain.AdviseCorrectTemplate: remedy.LowerRequest,
}

// donts say what looks right and does harm, or does not help.
var donts = map[explain.AdviceCode][]string{
	explain.AdviseRepairNodes: {"{noRollback}"},
	explain.AdviseAwaitNodes:  {"{noRollback}"},
	explain.AdviseRepairBeforeRollout: {
		"{problem=Misscheduled}start a rollout until {where} {count?is|are} Ready: it would delete the {count?pod|pods} there, and create none",
	},
}

// doPart says what to do about one of some problems: to look first, and then to act.
func (a *answer) doPart(d explain.Advice, advice []explain.Advice, problems []*explain.Problem, fixes []remedy.Remedy) {
	f := a.adviceFacts(d, advice)
	look, act, looks := fill(a.now, f, looking[d.Code]...), fill(a.now, f, advices[d.Code]...), a.looksInto(problems)
	if a.to = screen.DoNow; d.Code == "" && len(advice) > 1 { // ways around a problem
		a.to = screen.Other
	}
	if d.ReadOnly && look != "" && len(looks) > 0 {
		a.add(screen.DoNow, "%s", look+" (read-only)"+a.canWait(d)+":")
		a.s.Add(screen.DoNow, looks[0])
		a.s.Add(screen.Check, looks[1:]...)
		a.to = screen.Then
	} else {
		act = cmp.Or(act, look)
		act += map[bool]string{true: a.canWait(d)}[act != ""]
		a.s.Add(screen.Check, looks...)
	}
	a.lead, a.after = act, a.before(d, advice)
	if by, ok := saidByFix[d.Code]; ok && len(fixes) > 0 && fixes[0].Code == by && !(a.unfit && by == remedy.LowerRequest) {
		a.lead = ""
	}
	then := a.to
	for n, of := range advisedFirst(d.Code, fixes) {
		if (a.goesBack || a.atEnd) && of.Code == remedy.RollBack { // which the plan says, or the end of the screen
			continue
		}
		if n > 0 {
			a.to = screen.Other
		} else if of.Code != remedy.RollBack || !a.blames(&of) {
			a.leads()
		}
		a.fix(&of)
	}
	a.to = then
	if !a.goesBack || len(advice) > 1 { // else the plan gives the command
		a.leads()
	}
	a.add(screen.DoNot, "%s", fill(a.now, f, donts[d.Code]...))
	a.notBack(problems)
}

// advisedFirst returns the remedies with the rollback first, if that is what is advised.
func advisedFirst(code explain.AdviceCode, fixes []remedy.Remedy) []remedy.Remedy {
	i := slices.IndexFunc(fixes, func(f remedy.Remedy) bool { return f.Code == remedy.RollBack })
	if i <= 0 || code != explain.AdviseRollBack {
		return fixes
	}
	return slices.Concat(fixes[i:i+1], fixes[:i], fixes[i+1:])
}

// leads says what leads to a command, if nothing has said it.
func (a *answer) leads() {
	if a.lead != "" {
		a.add(a.to, "%s", a.after+a.lead)
		a.lead, a.after = "", ""
	}
}

// before says which problems come first, where the act starts a rollout that they would stop; empty where none does.
// A problem that has no number here is named.
func (a *answer) before(d explain.Advice, advice []explain.Advice) string {
	if len(d.After) == 0 || d.Code == explain.AdviseRepairNodes {
		return ""
	}
	return "once " + toSolve(d, advice) + " solved, "
}

// toSolve names the problems that come before a piece of advice, with their verb: "problem 1 is".
func toSolve(d explain.Advice, advice []explain.Advice) string {
	for n, other := range advice {
		if len(d.After) == 1 && other.Code != d.Code && slices.Contains(other.Problems, d.After[0]) {
			return fmt.Sprintf("problem %d is", n+1)
		}
	}
	return reasonNames(d.After) + pluralOf(len(d.After), " is", " are")
}

// firstOfAll names what has to be solved before the next rollout, with its verb: one that solves a problem by itself
// only waits for the others.
func (a *answer) firstOfAll() string {
	for _, d := range a.e.Advice {
		if len(d.After) > 0 && d.Code != explain.AdviseRepairNodes {
			return toSolve(d, a.e.Advice)
		}
	}
	return "this is"
}

// canWait says that nothing is down; empty where something is.
func (a *answer) canWait(d explain.Advice) string {
	all := a.e.Impact
	if !d.CanWait || a.counted() || all == nil || all.Served+len(all.Ready) == 0 || len(d.Problems) == 0 || d.Code == explain.AdviseRepairBeforeRollout || d.Code == explain.AdviseTolerate {
		return ""
	}
	return "; it can wait: " + allHave(all.Served+len(all.Ready)) + " a Ready pod"
}

// adviceFacts are those that the sentences about a piece of advice need.
func (a *answer) adviceFacts(d explain.Advice, advice []explain.Advice) daemonset.Facts {
	first := slices.Concat(d.Problems, []daemonset.Reason{""})[0]
	f := daemonset.Facts{"problem": string(first), "verdict": string(a.e.Verdict.Code), "count": len(d.Nodes), "old": a.count("oldNodes"), "back": "roll back", "inPlan": a.inPlan, "goesBack": a.goesBack, "fails": d.Code == explain.AdviseDeletePods && cause.OfContainer(first), "current": a.current(), "works": a.works()}
	switch n := len(d.Nodes); {
	case n > 1: // which the problem names
		f["where"] = "these nodes"
	case n > 0:
		f["where"] = someNames(d.Nodes)
	}
	f["raises"] = a.e.Fix(remedy.RaiseQuota) != nil
	if p := a.e.Has(first); p != nil {
		if p.Code == cause.NoEligibleNode {
			f = with(f, placementFacts(p.Facts))
		}
		look := explain.LookInto(p)
		f["strandedBy"] = fact(p.Facts, "strandedBy")
		f["holder"], f["ports"] = fact(p.Facts, "holder"), p.Facts["ports"]
		if owner, ports := fact(p.Facts, "owner"), fact(p.Facts, "ports"); owner != "" && ports != "" && len(d.Nodes) == len(p.Nodes) {
			f["owner"] = owner
		}
		for i := range a.e.Problems {
			if s := a.e.Problems[i].Subject; s.Kind == cause.SubjectInjected {
				f["container"] = s.Name
			}
		}
		if f["added"] = p.Facts["added"]; f["added"] != nil {
			f["annotation"], f["again"], f["namespace"] = fact(p.Facts, "annotation"), fact(p.Facts, "again"), a.h.DaemonSet.Namespace
		}
		for _, key := range []string{"purpose", "setBy", "cordoned", "service", "serviceNamespace", "templateImage", "image", "hostPath"} {
			if value, known := p.Facts[key]; known {
				f[key] = value
			}
		}
		f["called"] = p.Facts["uncalled"] == nil
		f["typed"], f["noImage"] = p.Facts["hostPathType"] != nil, p.Code == cause.ImagePullBackOff && !p.NotBuilt()
		f["never"] = p.Code == cause.ImagePullBackOff && p.Facts["reason"] == "ErrImageNeverPull"
		f["field"], f["fields"], f["logs"] = fact(p.Facts, "field"), p.Facts["fields"], look == cause.LookLogs || look == cause.LookLastLogs
		if p.Subject.Kind == cause.SubjectNodeCondition {
			f["pressure"] = p.Subject.Name
		}
		if p.Blame != nil {
			f["kind"], f["name"], f["namespace"] = string(p.Subject.Kind), p.Subject.Name, a.h.DaemonSet.Namespace
		}
		if r := a.refusal(p); r != nil {
			if first := firstly(r, a.h.DaemonSet.Namespace, a.works() > 0); first != "" {
				f["first"] = first
				if a.works() > 0 && r.Reason != admission.QuotaExceeded {
					f["nothing"] = "nothing"
				}
			}
		}
		if f["notBuilt"] = p.NotBuilt(); p.NotBuilt() {
			f["platform"] = p.Facts["platform"]
		}
		if p.Common != nil {
			f = with(f, commonFacts(p.Common, a.now))
		}
		if a.e.Fix(remedy.ExcludeNodes) != nil {
			f["Fix"] = "Fix"
		}
	}
	if len(a.e.ManagedBy) > 0 && a.e.ManagedBy[0].Tool.Reverts() {
		who, _ := managerWords(a.e.ManagedBy[0])
		f["back"] = "roll back in the source of " + who + ", not by hand"
		f["source"] = "in the source of " + who + ", not by hand"
	}
	if undo := a.e.Fix(remedy.RollBack); undo != nil {
		f["replaced"], f["works"], _ = a.e.Undoes(undo)
		f["undo"] = a.e.Fixes()[0].Code == remedy.RollBack
	}
	for n, other := range advice {
		if len(d.After) == 0 || !slices.Contains(d.After, slices.Concat(other.Problems, []daemonset.Reason{""})[0]) {
			continue
		}
		if f["afterFirst"] == nil {
			f["afterFirst"] = n + 1
		} else {
			f["afterLast"] = n + 1
		}
	}
	f["two"] = number(f, "afterLast") == number(f, "afterFirst")+1
	if a.asked.Again {
		f["Preview"] = "Preview"
	}
	if len(d.After) > 0 && a.current() > 0 {
		f["spreads"] = a.current()
	}
	if a.e.RollbackInVain() {
		f["noRollback"] = "roll back: it would not help"
	}
	switch {
	case f["templateImage"] != nil:
		f["via"] = "Image"
	case f["added"] != nil && (fact(f, "again") != "" || fact(f, "annotation") != ""):
		f["via"] = "Namespace"
	case f["added"] != nil:
		f["via"] = "Selector"
	case fact(f, "owner") != "" || fact(f, "holder") != "":
		f["via"] = "Owner"
	}
	return f
}

// oneAct returns the rollback that solves several of the numbered problems, where it is not certain that the revision
// is at fault, and what to say of it; nil if there is none.
func (a *answer) oneAct() (*remedy.Remedy, string) {
	var solves []int
	var act *remedy.Remedy
	for n, part := range a.e.Parts() {
		undo := slices.IndexFunc(part.Fixes, func(f remedy.Remedy) bool { return f.Code == remedy.RollBack && !a.blames(&f) })
		switch {
		case part.Advice == nil:
		case undo >= 0:
			act = &part.Fixes[undo]
			solves = append(solves, n+1)
		case part.As > 0 && len(solves) > 0:
			solves = append(solves, n+1)
		}
	}
	n := len(solves)
	if n < 2 {
		return nil, ""
	}
	f := daemonset.Facts{"first": solves[0], "last": solves[n-1], "all": solves[n-1]-solves[0] == n-1, "revision": a.current(), "n": n}
	return act, fill(a.now, f, "{n=2}if a check shows that revision {revision} is at fault, roll back, which may solve {first} and {last}",
		"{all=true}if a check shows that revision {revision} is at fault, roll back, which may solve {first} to {last}",
		"if a check shows that revision {revision} is at fault, roll back, which may solve {n} of these problems")
}

// reasonNames lists reasons by their names.
func reasonNames(reasons []daemonset.Reason) string {
	names := make([]string, len(reasons))
	for i, r := range reasons {
		names[i] = string(r)
	}
	return strings.Join(names, ", ")
}

// firstly says what has to be done before a pod is admitted; empty where that is not known.
func firstly(r *admission.Refusal, namespace string, runs bool) string {
	return fill(time.Time{}, daemonset.Facts{"name": r.Name, "namespace": namespace, "runs": runs}, firsts[r.Reason]...)
}

// firsts say what has to be done before new pods are admitted.
var firsts = map[admission.Reason][]string{
	admission.NamespaceNotFound:      {"create namespace {namespace}"},
	admission.ServiceAccountNotFound: {`{runs=true}create ServiceAccount "{name}" again`, `create ServiceAccount "{name}", or correct its name`},
	admission.PriorityClassNotFound:  {`{runs=true}create PriorityClass "{name}" again`, `create PriorityClass "{name}", or correct its name`},
	admission.RuntimeClassNotFound:   {`{runs=true}create RuntimeClass "{name}" again`, `create RuntimeClass "{name}", or correct its name`},
	admission.LimitRangeViolated:     {`correct the template as LimitRange "{name}" wants it`},
	admission.PodSecurityViolated:    {"{runs=true}ask the owner of namespace {namespace} to allow these pods again", "change the template, or ask the owner of namespace {namespace} to allow the pods"},
	admission.QuotaExceeded:          {`have ResourceQuota "{name}" raised`},
	admission.QuotaMustSpecify:       {`set what ResourceQuota "{name}" counts`},
	admission.PodInvalid:             {"correct the template"},
	admission.DryRunRejected:         {"correct what its message names"},
}
