package view

import (
	"fmt"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
)

// advices say what to do first. A word in brackets is the label to follow.
var advices = map[explain.AdviceCode][]string{
	explain.AdviseWait:         {"{problem=NodeGone}nothing: the pod garbage collector removes what is left", "nothing: it continues by itself"},
	explain.AdviseDeletePods:   {"{problem=VanishedNodeInSurge}delete the pod of the deleted node (Fix)", "nothing is broken: delete the {old:old pod} when it suits, one after the other (Continue)"},
	explain.AdviseRollBack:     {"{problem=NoEligibleNode}{back}, or correct the template", "read the logs (Check), then {back}"},
	explain.AdviseReadLogs:     {"read the logs (Check) before you change anything"},
	explain.AdviseReadEvents:   {"read the events (Check) before you change anything"},
	explain.AdviseRepairNodes:  {"have {nodes} repaired[; {noRollback}]"},
	explain.AdviseMakeRoom:     {"make room for the pod on {nodes} (Fix)"},
	explain.AdviseAskOwner:     {`{kind=ResourceQuota}ask the owner of ResourceQuota "{name}" to raise it; the DaemonSet needs no change`, "{kind=Webhook}ask the owner of admission webhook {name}", "read the message below: it says what the pod violates"},
	explain.AdviseControlPlane: {"find out whether kube-controller-manager runs (Check); the DaemonSet needs no change"},
	explain.AdviseStrategy:     {"{problem=InvalidBudget}set {field} to a number or a percentage", "change the update strategy (Fix)"},
	explain.AdviseRepairBeforeRollout: {
		"{problem=Misscheduled}find out why {nodes} {count?is|are} NotReady (Check); start no rollout before {count?it is|they are} Ready",
		"nothing now; start no rollout before {nodes} {count?is|are} repaired", "nothing now; start no rollout before this is repaired",
	},
}

// doNow says what to do first, a line for each piece of advice.
func (a *answer) doNow(advice []explain.Advice) {
	const most = 3
	for _, d := range advice[:min(most, len(advice))] {
		f := daemonset.Facts{"problem": string(d.Problem), "count": len(d.Nodes), "old": a.count("oldNodes"), "back": "roll back (Fix)"}
		switch n := len(d.Nodes); {
		case n == 1:
			f["nodes"] = d.Nodes[0]
		case n > 1:
			f["nodes"] = fmt.Sprintf("the %d nodes", n)
		}
		if p := a.e.Has(d.Problem); p != nil {
			f["field"] = fact(p.Facts, "field")
			if p.Origin != nil {
				f["kind"], f["name"] = string(p.Origin.Kind), p.Origin.Name
			}
		}
		if len(a.e.ManagedBy) > 0 && a.e.ManagedBy[0].Tool.Reverts() {
			who, _ := managerWords(a.e.ManagedBy[0])
			f["back"] = "roll back in the source of " + who + ", not by hand"
		}
		if a.e.Rollout.UnderWay && len(advice) == 1 {
			f["noRollback"] = "a rollback would not help"
		}
		words := fill(a.now, f, advices[d.Code]...)
		if all := a.e.Impact; d.CanWait && all != nil && all.Served+len(all.Ready) > 0 && d.Problem != "" && d.Problem != explain.Misscheduled && d.Problem != cause.NextRolloutStalls {
			words += "; it can wait: " + allHave(all.Served+len(all.Ready)) + " a Ready pod"
		}
		if len(advice) > 1 {
			words = string(d.Problem) + ": " + words
		}
		a.add(screen.DoNow, "%s", words)
	}
}
