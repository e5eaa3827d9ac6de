package plan

import (
	"testing"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// TestGate checks what a gate finds in a plan, and whether it is known.
func TestGate(t *testing.T) {
	lost := func(names ...string) (nodes []PlacementNode) {
		for _, n := range names {
			nodes = append(nodes, PlacementNode{Node: n})
		}
		return nodes
	}
	lose := func(names ...string) Placement { return Placement{Lose: lost(names...)} }
	nowhere := func(staying int) []Warning {
		return []Warning{{Code: NoEligibleNode, Facts: daemonset.Facts{"staying": staying}}}
	}
	deletes := func(deferred int, names ...string) daemonset.Step {
		s := daemonset.Step{Exact: true, Deletes: daemonset.Batch{Deferred: deferred}}
		for _, n := range names {
			s.Deletes.Certain = append(s.Deletes.Certain, daemonset.Item{Node: n, Pod: "pod-" + n})
		}
		return s
	}
	choice := deletes(0, "a")
	choice.Deletes.Choices = []daemonset.Choice{{Count: 1, From: []daemonset.Item{{Node: "b"}, {Node: "c"}}}}
	forecast := func(code OutcomeCode, replaces, left int) Forecast {
		return Forecast{Replaces: replaces, Outcome: Outcome{Code: code, Left: left}}
	}
	for _, tt := range []struct {
		why  string
		gate Gate
		p    Plan
		want Finding
	}{
		{"a rollout that stalls", Gate{GateStalls, 0}, Plan{Forecast: forecast(Stalls, 9, 7)}, Finding{7, true, true}},
		{"one that completes", Gate{GateStalls, 0}, Plan{Forecast: forecast(Completes, 9, 0), Next: deletes(0)}, Finding{0, false, true}},
		{"one that would, of nodes that were not read", Gate{GateStalls, 0}, Plan{Forecast: forecast(Completes, 9, 0)}, Finding{0, false, false}},
		{"how it ends is not known", Gate{GateStalls, 0}, Plan{Forecast: forecast(Unknown, 9, 0)}, Finding{0, false, false}},
		{"all pods are removed", Gate{GateRemovesAllPods, 0}, Plan{Forecast: forecast(RemovesAllPods, 0, 0)}, Finding{0, true, true}},
		{"they are not", Gate{GateRemovesAllPods, 0}, Plan{Forecast: forecast(Completes, 9, 0), Next: deletes(0)}, Finding{0, false, true}},
		{"they may be, of nodes that were not read", Gate{GateRemovesAllPods, 0}, Plan{Forecast: forecast(Completes, 9, 0)}, Finding{0, false, false}},
		{"a new DaemonSet that no node runs", Gate{GateRemovesAllPods, 0}, Plan{Subject: SubjectNew, Warnings: nowhere(0), Forecast: forecast(NothingToDo, 0, 0), Next: deletes(0)}, Finding{0, true, true}},
		{"DESIRED falls to 0 before there is a pod", Gate{GateRemovesAllPods, 0}, Plan{Desired: Desired{Before: 3}, Warnings: nowhere(0), Forecast: forecast(NothingToDo, 0, 0), Next: deletes(0)}, Finding{0, true, true}},
		{"DESIRED was 0, and there is no pod to lose", Gate{GateRemovesAllPods, 0}, Plan{Subject: SubjectChange, Warnings: nowhere(0), Forecast: forecast(NothingToDo, 0, 0), Next: deletes(0)}, Finding{0, false, true}},
		{"DESIRED falls to 0, and pods stay", Gate{GateRemovesAllPods, 0}, Plan{Desired: Desired{Before: 3}, Warnings: nowhere(3), Forecast: forecast(NothingToDo, 0, 0), Next: deletes(0)}, Finding{0, false, true}},
		{"that is no stall", Gate{GateStalls, 0}, Plan{Forecast: forecast(RemovesAllPods, 0, 0), Next: deletes(0)}, Finding{0, false, true}},
		{"more nodes than allowed", Gate{GateLostNodes, 1}, Plan{Lost: lost("a", "b"), Next: deletes(0)}, Finding{2, true, true}},
		{"just as many", Gate{GateLostNodes, 2}, Plan{Lost: lost("a", "b"), Next: deletes(0)}, Finding{2, false, true}},
		{"more nodes stranded than allowed", Gate{GateStrands, 0}, Plan{Stranded: []StrandedNode{{Node: "a"}}, Lost: lost("a", "b"), Next: deletes(0)}, Finding{1, true, true}},
		{"lost for another reason than a taint", Gate{GateStrands, 0}, Plan{Lost: lost("a", "b"), Next: deletes(0)}, Finding{0, false, true}},
		{"a gap may hide a taint", Gate{GateStrands, 0}, Plan{}, Finding{0, false, false}},
		{"a gap may hide some", Gate{GateLostNodes, 2}, Plan{}, Finding{0, false, false}},
		{"pods replaced", Gate{GateReplaces, 8}, Plan{Next: deletes(0), Forecast: forecast(Completes, 9, 0)}, Finding{9, true, true}},
		{"a lost node in the next step is one delete", Gate{GateImmediateDeletes, 0}, Plan{Placement: lose("a"), Next: deletes(0, "a", "x")}, Finding{2, true, true}},
		{"one that is not in it is another", Gate{GateImmediateDeletes, 0}, Plan{Placement: lose("a", "b"), Next: deletes(0, "x")}, Finding{3, true, true}},
		{"so is what the limit of 250 defers", Gate{GateImmediateDeletes, 0}, Plan{Next: deletes(50, "x")}, Finding{51, true, true}},
		{"and a choice counts what it takes", Gate{GateImmediateDeletes, 2}, Plan{Placement: lose("b"), Next: choice}, Finding{2, false, true}},
	} {
		t.Run(tt.why, func(t *testing.T) {
			if got := tt.gate.Of(&tt.p); got != tt.want {
				t.Errorf("%s: %+v, want %+v", tt.gate, got, tt.want)
			}
		})
	}
}
