package explain

import (
	"cmp"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause/eligible"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
)

// Advice is what to do first about one or more problems or, if there are none,
// about the rollout.
type Advice struct {
	Code AdviceCode `json:"code"` // what to do

	// the problems that the advice is about; empty if it is about the rollout
	// Codes: Problems
	Problems []daemonset.Reason `json:"problems"`
	Nodes    []string           `json:"nodes"` // the nodes concerned, sorted by name

	// the first action only reads; actions that change the cluster come after it
	ReadOnly bool `json:"readOnly"`

	// every eligible node has an available pod, as far as the input shows
	CanWait bool `json:"canWait"`

	// the problems to solve first; empty if there is none. As long as new pods fail, repairing a node lets
	// the controller continue with the failing revision. If the action starts a rollout, these problems would
	// stop it
	// Codes: Problems
	After []daemonset.Reason `json:"after"`
}

// AdviceCode names what to do first.
type AdviceCode string

const (
	AdviseWait AdviceCode = "Wait" // nothing: it continues by itself
	// AdviseLookAhead: nothing fails yet, but the rollout will stop: its plan
	// shows why
	AdviseLookAhead AdviceCode = "LookAhead"
	// AdviseDeletePods: delete pods: under OnDelete, the old pods, one at a time; otherwise, a pod that is
	// left over from a deleted node
	AdviseDeletePods  AdviceCode = "DeletePods"
	AdviseRollBack    AdviceCode = "RollBack"    // read the logs, then roll back to the previous revision
	AdviseReadLogs    AdviceCode = "ReadLogs"    // read the logs to find out who is at fault before changing anything
	AdviseRepairNodes AdviceCode = "RepairNodes" // the nodes are at fault
	// the nodes are down on purpose: wait, or ask whoever set the condition
	AdviseAwaitNodes   AdviceCode = "AwaitNodes"
	AdviseMakeRoom     AdviceCode = "MakeRoom"     // the nodes have too few free resources
	AdviseFreePort     AdviceCode = "FreePort"     // another pod on the nodes uses a host port
	AdviseAskOwner     AdviceCode = "AskOwner"     // ask the owner of the object that rejects the pods
	AdviseControlPlane AdviceCode = "ControlPlane" // check whether the controller runs
	AdviseRefresh      AdviceCode = "Refresh"      // the controller runs: make it sync again
	AdviseStrategy     AdviceCode = "Strategy"     // change the update strategy
	AdviseReadEvents   AdviceCode = "ReadEvents"   // read the state and events of the pods to find out who is at fault
	AdviseImage        AdviceCode = "Image"        // find out why the image cannot be pulled
	AdviseMemory       AdviceCode = "Memory"       // find out how much memory the program needs
	// the image is being pulled; its size and the registry decide how long that takes
	AdviseWaitForImage AdviceCode = "WaitForImage"
	// AdviseCompareNodes: find out which common property of the failing nodes
	// breaks the program before changing the revision
	AdviseCompareNodes AdviceCode = "CompareNodes"
	// AdvisePublishImage: the image may not be built for the architecture or
	// operating system of the failing nodes: publish it for them, or keep the
	// pod off them
	AdvisePublishImage AdviceCode = "PublishImage"
	// AdviseExcludeNodes: exclude in the template the nodes whose kubelet rejects the pod, or the nodes that
	// only the namespace excludes
	AdviseExcludeNodes AdviceCode = "ExcludeNodes"
	AdviseConfig       AdviceCode = "Config" // create the object that the pod refers to, or correct the template
	// AdviseCorrectTemplate: the template cannot work as it is
	AdviseCorrectTemplate AdviceCode = "CorrectTemplate"
	// AdviseInjector: ask whoever adds the failing container to the pods
	AdviseInjector AdviceCode = "Injector"
	AdviseFreeNode AdviceCode = "FreeNode" // free what the nodes lack: disk, memory or process IDs
	// AdviseRepairBeforeRollout: nothing is urgent, but repair the nodes before
	// the next rollout
	AdviseRepairBeforeRollout AdviceCode = "RepairBeforeRollout"
	// AdviseTolerate: add tolerations for the taints of these nodes to the
	// template: otherwise no node is eligible or, which is not urgent, a
	// rollout deletes their pods without replacement
	AdviseTolerate AdviceCode = "Tolerate"
	// AdviseCompareLabels: no node has the labels that the template requires:
	// find out whether the nodes or the template are wrong
	AdviseCompareLabels AdviceCode = "CompareLabels"
)

// AdviceCodes lists every AdviceCode.
var AdviceCodes = []AdviceCode{
	AdviseControlPlane, AdviseRefresh, AdviseDeletePods, AdvisePublishImage, AdviseCompareNodes, AdviseExcludeNodes,
	AdviseRollBack, AdviseReadLogs, AdviseImage, AdviseWaitForImage, AdviseMemory, AdviseConfig, AdviseCorrectTemplate,
	AdviseInjector, AdviseFreeNode, AdviseReadEvents, AdviseStrategy, AdviseAskOwner, AdviseRepairNodes,
	AdviseAwaitNodes, AdviseFreePort, AdviseMakeRoom, AdviseRepairBeforeRollout, AdviseTolerate, AdviseCompareLabels,
	AdviseLookAhead, AdviseWait,
}

// advice returns what to do first about the problems of a summary, in their
// order, once per kind. It is empty if nothing has to be done, or if too little
// could be read.
func (e *Explanation) advice() []Advice {
	// A silent controller would not replace a pod that is lost while you wait.
	canWait := e.Impact != nil && len(e.Impact.Without) == len(e.Impact.Ready) && e.Has(cause.ControllerSilent) == nil
	rollout := func(code AdviceCode) []Advice {
		return []Advice{{Code: code, Problems: []daemonset.Reason{}, Nodes: []string{}, CanWait: canWait,
			After: []daemonset.Reason{}}}
	}
	switch e.Verdict.Code {
	case Unknown, NotObserved:
		return []Advice{}
	case BeingDeleted:
		if e.Fix(remedy.RemoveNode) == nil {
			return []Advice{}
		}
	case AwaitingDelete:
		return rollout(AdviseDeletePods)
	}
	out := e.advise(e.Matters(), canWait)
	for i := range out {
		switch {
		case out[i].Code == AdviseRepairNodes:
			out[i].After = e.newFailing()
		case e.startsRollout(&out[i]):
			out[i].After = e.holdingUp(&out[i])
		}
	}
	switch {
	case len(out) > 0 || e.Verdict.Code != Progressing:
		return out
	case e.Outlook != nil && e.Outlook.Code == Stalls:
		return rollout(AdviseLookAhead)
	}
	return rollout(AdviseWait)
}

// newFailing returns the container problems of new pods during a rollout. They
// have to be solved before nodes are repaired.
func (e *Explanation) newFailing() []daemonset.Reason {
	failing := []daemonset.Reason{}
	for _, p := range e.Matters() {
		if e.Rollout.UnderWay && cause.OfContainer(p.Code) && p.Facts.Int("newFailing") > 0 &&
			!slices.Contains(failing, p.Code) {
			failing = append(failing, p.Code)
		}
	}
	return failing
}

// startsRollout reports whether the act that is advised changes the template.
func (e *Explanation) startsRollout(d *Advice) bool {
	changes := []remedy.Code{
		remedy.LowerRequest, remedy.PublishImage, remedy.ExcludeNodes, remedy.Tolerate, remedy.CorrectTemplate,
	}
	return slices.ContainsFunc(e.Fixes(), func(r remedy.Remedy) bool {
		return slices.Contains(changes, r.Code) &&
			slices.ContainsFunc(r.Problems,
				func(code daemonset.Reason) bool { return slices.Contains(d.Problems, code) })
	})
}

// holdingUp returns the problems of other nodes that would stop the rollout
// that the advised act starts, because these nodes use up the limit.
func (e *Explanation) holdingUp(d *Advice) []daemonset.Reason {
	first := []daemonset.Reason{}
	stall := e.Has(cause.NextRolloutStalls)
	if stall == nil || stall.Facts.Text("reason") != string(daemonset.StepBudgetSpent) {
		return first
	}
	others := slices.DeleteFunc(slices.Clone(stall.Nodes), func(n string) bool { return slices.Contains(d.Nodes, n) })
	if len(others) == 0 || len(others) < stall.Facts.Int("limit") {
		return first
	}
	for _, p := range e.Matters() {
		holds := func(n string) bool { return slices.Contains(others, n) }
		if p.Code != cause.NextRolloutStalls && slices.ContainsFunc(p.Nodes, holds) && !slices.Contains(first, p.Code) {
			first = append(first, p.Code)
		}
	}
	return first
}

// RollbackInVain reports whether a rollback would not let the current rollout
// continue, because only nodes are at fault as far as is known.
func (e *Explanation) RollbackInVain() bool {
	return e.Rollout.UnderWay && len(e.Advice) == 1 &&
		slices.Contains([]AdviceCode{AdviseRepairNodes, AdviseAwaitNodes}, e.Advice[0].Code) &&
		!slices.ContainsFunc(e.Advice[0].Problems, func(code daemonset.Reason) bool {
			p := e.Has(code)
			return p != nil && p.Blame != nil && p.Blame.Certainty != cause.Certain
		})
}

// AdviceOn returns what to do first about a node.
func (e *Explanation) AdviceOn(n *Node) []Advice {
	if p := e.OnNode(n); p != nil {
		out := e.advise([]*Problem{p}, false)
		for i := range out {
			if e.startsRollout(&out[i]) {
				out[i].After = e.holdingUp(&out[i])
			}
		}
		return out
	}
	return []Advice{}
}

// advise returns the advice for problems, merging equal advice.
func (e *Explanation) advise(problems []*Problem, canWait bool) []Advice {
	out := []Advice{}
	for _, p := range problems {
		code := e.adviceFor(p)
		i := slices.IndexFunc(out, func(o Advice) bool { return o.Code == code })
		switch {
		case code == "":
			continue
		case i < 0:
			i, out = len(out), append(out, Advice{Code: code, Nodes: []string{}, CanWait: canWait,
				After: []daemonset.Reason{}})
		}
		nearest, _ := p.Facts["nearest"].([]string) // only NoEligibleNode has this fact
		out[i].Nodes = sorted(append(append(out[i].Nodes, p.Nodes...), nearest...))
		if !slices.Contains(out[i].Problems, p.Code) {
			out[i].Problems = append(out[i].Problems, p.Code)
		}
	}
	for i := range out {
		out[i].ReadOnly = e.readsFirst(&out[i], problems)
	}
	return out
}

// adviceFor returns the advice for a problem, or "" if none is known. A
// rollback is advised only if a simulation shows that it helps.
func (e *Explanation) adviceFor(p *Problem) AdviceCode {
	switch {
	case p.OnPurpose() && p.Blame != nil:
		return AdviseAwaitNodes
	case p.Code == cause.NextRolloutStalls && p.Facts.Yes("excluded"):
		return AdviseExcludeNodes
	case p.Code == cause.NextRolloutStalls, p.Code == cause.Misscheduled && p.Blame != nil:
		return AdviseRepairBeforeRollout
	case p.Code == cause.Misscheduled && p.Severity == cause.SeverityWarning:
		return AdviseTolerate
	case p.Code == daemonset.VanishedNodeInSurge:
		return AdviseDeletePods
	case p.Code == daemonset.NodeGone: // the pod garbage collector removes the pod
		return AdviseWait
	case p.Code == cause.PullingImage:
		return AdviseWaitForImage
	case p.Blame == nil:
		return ""
	case controllerIdle(p) && e.Fix(remedy.Refresh) != nil:
		return AdviseRefresh
	case p.Code == cause.PodOSNotSupported, p.Code == cause.ExcludedButCounted:
		return AdviseExcludeNodes
	case p.Blame.Who == cause.WhoChange && e.solves(remedy.RollBack, p):
		return AdviseRollBack
	case p.Code == cause.NoEligibleNode:
		return e.adviceForNoEligibleNode(p)
	case e.solves(remedy.DeletePods, p):
		return AdviseDeletePods
	case p.Blame.Who == cause.WhoNodeProperty && p.Common != nil && p.Common.OfPlatform(),
		p.Blame.Who == cause.WhoTemplate && p.NotBuilt():
		return AdvisePublishImage
	case p.Code == cause.VirtualNode:
		return AdviseExcludeNodes
	case p.Blame.Who == cause.WhoNode && (cause.StageOf(p.Code) == cause.StageStays || p.Code == cause.OOMKilled):
		return AdviseFreeNode
	case p.Blame.Who == cause.WhoNodeProperty && p.Common == nil:
		return AdviseCompareNodes
	case p.Blame.Who == cause.WhoOtherWorkload && p.Code == cause.HostPortConflict:
		return AdviseFreePort
	}
	if p.Blame.Who == cause.WhoPlatform && p.Facts.Yes("uncalled") {
		return AdviseAskOwner
	}
	if p.Code == cause.ContainerConfig && p.Facts["kind"] == nil && p.Blame.Who == cause.WhoUnknown {
		return AdviseReadEvents // no message says that an object is missing
	}
	return cmp.Or(adviceByFault[p.Blame.Who], adviceOn[p.Code], AdviseReadEvents)
}

// adviceForNoEligibleNode returns the advice if no node is eligible.
func (e *Explanation) adviceForNoEligibleNode(p *Problem) AdviceCode {
	by := p.Facts["excludedBy"]
	switch {
	case by == eligible.ExcludedForGood:
		return ""
	case p.Blame.Who == cause.WhoNode:
		return AdviseRepairNodes
	case p.Blame.Who != cause.WhoChange && e.solves(remedy.Tolerate, p):
		return AdviseTolerate
	case p.Blame.Who != cause.WhoChange && (by == eligible.ExcludedByLabels || by == eligible.ExcludedByAffinity):
		return AdviseCompareLabels
	}
	return AdviseCorrectTemplate
}

// solves reports whether the remedy with a code helps against a problem.
func (e *Explanation) solves(code remedy.Code, p *Problem) bool {
	r := e.Fix(code)
	return r != nil && slices.Contains(r.Problems, p.Code)
}

// adviceByFault maps who is at fault to the advice.
var adviceByFault = map[cause.Who]AdviceCode{
	cause.WhoNode: AdviseRepairNodes, cause.WhoOtherWorkload: AdviseMakeRoom, cause.WhoPolicy: AdviseAskOwner,
	cause.WhoMissingObject: AdviseConfig, cause.WhoInjection: AdviseInjector,
	cause.WhoRegistry: AdviseImage, cause.WhoTemplate: AdviseCorrectTemplate, cause.WhoNodeProperty: AdviseCompareNodes,
	cause.WhoController: AdviseControlPlane, cause.WhoStrategy: AdviseStrategy,
}

// adviceOn maps problems to the advice if it is unknown who is at fault.
var adviceOn = map[daemonset.Reason]AdviceCode{
	cause.CrashLoopBackOff: AdviseReadLogs, cause.ProbeFailing: AdviseReadLogs, cause.InitRunning: AdviseReadLogs,
	cause.ImagePullBackOff: AdviseImage, cause.OOMKilled: AdviseMemory, cause.ContainerConfig: AdviseConfig,
}
