package explain

import (
	"cmp"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// Advice is what to do first about a problem, or where there is none about the
// rollout.
type Advice struct {
	Code AdviceCode `json:"code"` // what to do

	// the problems that it is about; empty for the rollout
	// Codes: Problems
	Problems []daemonset.Reason `json:"problems"`
	Nodes    []string           `json:"nodes"` // the nodes concerned, sorted by name

	// every eligible node has an available pod, as far as could be read
	CanWait bool `json:"canWait"`

	// the problems to solve before: as long as new pods fail, a node that is repaired lets the controller go on with
	// the revision that fails; empty if there is none
	// Codes: Problems
	After []daemonset.Reason `json:"after"`
}

// AdviceCode names what to do.
type AdviceCode string

const (
	AdviseWait AdviceCode = "Wait" // nothing: it continues by itself
	// AdviseLookAhead: nothing fails yet, but the rollout will stop: a plan of it shows why
	AdviseLookAhead AdviceCode = "LookAhead"
	// AdviseDeletePods: delete pods: under OnDelete the old ones, one after the other; or one that is left over from a
	// deleted node
	AdviseDeletePods   AdviceCode = "DeletePods"
	AdviseRollBack     AdviceCode = "RollBack"     // read the logs, then go back to the revision before
	AdviseReadLogs     AdviceCode = "ReadLogs"     // the logs have to show who is at fault before anything is changed
	AdviseRepairNodes  AdviceCode = "RepairNodes"  // the nodes are at fault
	AdviseMakeRoom     AdviceCode = "MakeRoom"     // too little is free on the nodes
	AdviseFreePort     AdviceCode = "FreePort"     // another pod on the nodes uses a host port
	AdviseAskOwner     AdviceCode = "AskOwner"     // ask the owner of what rejects the pods
	AdviseControlPlane AdviceCode = "ControlPlane" // check whether the controller runs
	AdviseStrategy     AdviceCode = "Strategy"     // change the update strategy
	AdviseReadEvents   AdviceCode = "ReadEvents"   // the state and the events of the pods have to show who is at fault
	AdviseImage        AdviceCode = "Image"        // find out why the image cannot be pulled
	AdviseMemory       AdviceCode = "Memory"       // find out how much memory the program needs
	AdviseConfig       AdviceCode = "Config"       // create what the container refers to, or correct the template
	// AdviseRepairBeforeRollout: nothing is urgent, but the nodes have to be repaired before the next rollout
	AdviseRepairBeforeRollout AdviceCode = "RepairBeforeRollout"
)

// AdviceCodes lists every AdviceCode.
var AdviceCodes = []AdviceCode{
	AdviseControlPlane, AdviseDeletePods, AdviseRollBack, AdviseReadLogs, AdviseImage, AdviseMemory, AdviseConfig, AdviseReadEvents, AdviseStrategy, AdviseAskOwner, AdviseRepairNodes, AdviseFreePort, AdviseMakeRoom, AdviseRepairBeforeRollout, AdviseLookAhead, AdviseWait,
}

// advice returns what to do first, for each kind of problem of a summary once, in the
// order of the problems; nothing where nothing is to be done, or too little could be read.
func (e *Explanation) advice() []Advice {
	canWait := e.Impact != nil && len(e.Impact.Without) == len(e.Impact.Ready)
	switch e.Verdict.Code {
	case BeingDeleted, Unknown, NotObserved:
		return []Advice{}
	case AwaitingDelete:
		return []Advice{{Code: AdviseDeletePods, Problems: []daemonset.Reason{}, Nodes: []string{}, CanWait: canWait, After: []daemonset.Reason{}}}
	}
	out := advise(e.Matters(), canWait)
	e.after(out)
	if len(out) == 0 && e.Verdict.Code == Progressing {
		code := AdviseWait
		if e.Outlook != nil && e.Outlook.Code == Stalls {
			code = AdviseLookAhead
		}
		out = append(out, Advice{Code: code, Problems: []daemonset.Reason{}, Nodes: []string{}, CanWait: canWait, After: []daemonset.Reason{}})
	}
	return out
}

// after sets what has to be solved before nodes are repaired.
func (e *Explanation) after(advice []Advice) {
	var failing []daemonset.Reason
	for _, p := range e.Matters() {
		if e.Rollout.UnderWay && cause.OfContainer(p.Code) && p.Facts.Int("newFailing") > 0 && !slices.Contains(failing, p.Code) {
			failing = append(failing, p.Code)
		}
	}
	for i := range advice {
		if advice[i].Code == AdviseRepairNodes {
			advice[i].After = append(advice[i].After, failing...)
		}
	}
}

// AdviceOn returns what to do first about a node.
func (e *Explanation) AdviceOn(n *Node) []Advice {
	p := e.OnNode(n)
	if p == nil {
		return []Advice{}
	}
	return advise([]*Problem{p}, false)
}

// advise returns what problems ask for, those that ask for the same together.
func advise(problems []*Problem, canWait bool) []Advice {
	out := []Advice{}
	for _, p := range problems {
		code := adviceFor(p)
		i := slices.IndexFunc(out, func(o Advice) bool { return o.Code == code })
		switch {
		case code == "":
		case i >= 0:
			out[i].Nodes = sorted(append(out[i].Nodes, p.Nodes...))
			if !slices.Contains(out[i].Problems, p.Code) {
				out[i].Problems = append(out[i].Problems, p.Code)
			}
		default:
			out = append(out, Advice{Code: code, Problems: []daemonset.Reason{p.Code}, Nodes: sorted(slices.Clone(p.Nodes)), CanWait: canWait, After: []daemonset.Reason{}})
		}
	}
	return out
}

// adviceFor returns what a problem asks for; empty where that is not known.
func adviceFor(p *Problem) AdviceCode {
	switch {
	case p.Code == cause.NextRolloutStalls, p.Code == Misscheduled && p.Origin != nil:
		return AdviseRepairBeforeRollout
	case p.Code == daemonset.VanishedNodeInSurge:
		return AdviseDeletePods
	case p.Code == daemonset.NodeGone: // the pod garbage collector removes it
		return AdviseWait
	case p.Origin == nil:
		return ""
	}
	switch p.Origin.Kind {
	case cause.OriginRevision:
		return AdviseRollBack
	case cause.OriginNodes:
		return AdviseRepairNodes
	case cause.OriginScheduling:
		if p.Code == cause.HostPortConflict {
			return AdviseFreePort
		}
		return AdviseMakeRoom
	case cause.OriginQuota, cause.OriginPolicy, cause.OriginWebhook, cause.OriginAPIServer:
		return AdviseAskOwner
	case cause.OriginController:
		return AdviseControlPlane
	case cause.OriginStrategy:
		return AdviseStrategy
	}
	return cmp.Or(adviceOn[p.Code], AdviseReadEvents)
}

// adviceOn is what problems ask for of which it is not known who is at fault.
var adviceOn = map[daemonset.Reason]AdviceCode{
	cause.CrashLoopBackOff: AdviseReadLogs, cause.ProbeFailing: AdviseReadLogs, cause.InitRunning: AdviseReadLogs,
	cause.ImagePullBackOff: AdviseImage, cause.OOMKilled: AdviseMemory, cause.ContainerConfig: AdviseConfig,
}
