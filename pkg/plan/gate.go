package plan

import (
	"fmt"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// Gate is a condition under which a check refuses a Plan: how it ends, or that more
// than so many nodes or pods are affected.
type Gate struct {
	On   GateOn
	Most int // how many are allowed; 0 for how it ends
}

// GateOn is what a Gate looks at.
type GateOn string

const (
	GateStalls         GateOn = "stalls"         // the rollout does not complete by itself
	GateRemovesAllPods GateOn = "removesAllPods" // no node is eligible, and none keeps its pod
	GateLostNodes      GateOn = "lostNodes"      // nodes that lose their pod, at once or in the rollout
	// of these, those whose pod may stay until the rollout deletes it, for a taint
	GateStrands          GateOn = "strands"
	GateUnfit            GateOn = "unfit"            // nodes on which a new pod does not fit
	GateReplaces         GateOn = "replaces"         // pods that the controller replaces
	GateImmediateDeletes GateOn = "immediateDeletes" // pods that are deleted at once
)

// GatesOn lists every GateOn.
var GatesOn = []GateOn{GateStalls, GateRemovesAllPods, GateLostNodes, GateStrands, GateUnfit, GateReplaces,
	GateImmediateDeletes}

// Counts reports whether the gate is about a number, and not about how a Plan ends.
func (on GateOn) Counts() bool { return on != GateStalls && on != GateRemovesAllPods }

// String is the condition as a person writes it: "stalls", "lostNodes>0".
func (g Gate) String() string {
	if !g.On.Counts() {
		return string(g.On)
	}
	return fmt.Sprintf("%s>%d", g.On, g.Most)
}

// Finding is what a Gate finds in a Plan.
type Finding struct {
	Number int  // of what is counted; of how it ends, the old pods that are left
	Holds  bool // the condition holds, so the Plan is refused
	Known  bool // it is known whether it holds: no gap leaves it open
}

// Of returns what the Gate finds in a Plan.
func (g Gate) Of(p *Plan) Finding {
	f := Finding{Number: p.Outcome.Left, Known: p.Next.Exact && p.TemplateKnown()}
	switch g.On {
	case GateStalls:
		f.Holds = p.Outcome.Code == Stalls
	case GateRemovesAllPods:
		f.Holds = p.LeavesNoPod()
	case GateLostNodes:
		f.Number = len(p.Lost) // also of a rollout that a value which was not compared may start
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

// immediateDeletes counts the pods that go at once: those that the next step
// deletes, with what it leaves to further syncs for the limit of 250, and those
// of nodes that lose theirs and are not among them.
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
