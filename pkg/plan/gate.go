package plan

import (
	"fmt"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// Gate is a condition under which a check rejects a Plan: a certain outcome, or more nodes or pods affected than
// allowed.
type Gate struct {
	On   GateOn
	Most int // the highest number allowed; 0 if On does not count
}

// GateOn is what a Gate checks.
type GateOn string

const (
	GateStalls         GateOn = "stalls"         // the rollout does not complete by itself
	GateRemovesAllPods GateOn = "removesAllPods" // no node is eligible, and no node keeps its pod
	GateLostNodes      GateOn = "lostNodes"      // nodes that lose their pod, immediately or during the rollout
	// those of the lost nodes whose pod may stay until the rollout deletes it, because of a taint
	GateStrands          GateOn = "strands"
	GateUnfit            GateOn = "unfit"            // nodes on which a new pod does not fit
	GateReplaces         GateOn = "replaces"         // pods that the controller replaces
	GateImmediateDeletes GateOn = "immediateDeletes" // pods that are deleted immediately
)

// GatesOn lists every GateOn.
var GatesOn = []GateOn{GateStalls, GateRemovesAllPods, GateLostNodes, GateStrands, GateUnfit, GateReplaces,
	GateImmediateDeletes}

// Counts reports whether the gate compares a number; otherwise it checks the outcome.
func (on GateOn) Counts() bool { return on != GateStalls && on != GateRemovesAllPods }

// String returns the condition as the user writes it, such as "stalls" or "lostNodes>0".
func (g Gate) String() string {
	if !g.On.Counts() {
		return string(g.On)
	}
	return fmt.Sprintf("%s>%d", g.On, g.Most)
}

// Finding is the result of a Gate for a Plan.
type Finding struct {
	Number int  // the number compared or, for an outcome, the number of old pods left
	Holds  bool // the condition holds, so the check rejects the Plan
	Known  bool // it is known whether the condition holds
}

// Of returns the result of the Gate for a Plan.
func (g Gate) Of(p *Plan) Finding {
	f := Finding{Number: p.Outcome.Left, Known: p.Next.Exact && p.TemplateKnown()}
	switch g.On {
	case GateStalls:
		f.Holds = p.Outcome.Code == Stalls
	case GateRemovesAllPods:
		f.Holds = p.LeavesNoPod()
	case GateLostNodes:
		f.Number = len(p.Lost) // includes a rollout that happens only if a value differs that was not compared
	case GateStrands:
		f.Number = len(p.Stranded)
	case GateUnfit:
		f.Number = len(p.Unfit)
		f.Known = f.Known && !slices.ContainsFunc(p.Assumptions,
			func(a daemonset.Assumption) bool { return a.Code == AssumeFits })
	case GateReplaces:
		f.Number = p.Replaces
	case GateImmediateDeletes:
		f.Number = p.immediateDeletes()
	}
	if g.On.Counts() {
		f.Holds = f.Number > g.Most
	} else {
		f.Known = f.Holds || f.Known && p.Outcome.Code != Unknown
	}
	return f
}

// immediateDeletes counts the pods that are deleted immediately: those that the next step deletes, including those that
// the burst limit of 250 defers, and those of other nodes that lose their pod.
func (p *Plan) immediateDeletes() int {
	there := map[string]bool{}
	for _, c := range slices.Concat(p.Next.Deletes.Choices, []daemonset.Choice{{From: p.Next.Deletes.Certain}}) {
		for _, i := range c.From {
			there[i.Node] = true
		}
	}
	n := p.Next.Deletes.Len() + p.Next.Deletes.Deferred
	for _, l := range p.Placement.Lose {
		n += b2i(!there[l.Node])
	}
	return n
}
