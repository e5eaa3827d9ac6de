package plan

import (
	stdcmp "cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/managed"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// placed parses nodes, each with the untolerated taint after a colon.
func placed(nodes string) []PlacementNode {
	var out []PlacementNode
	for _, n := range strings.Fields(nodes) {
		name, key, _ := strings.Cut(n, ":")
		out = append(out, PlacementNode{name, daemonset.Verdict{Reason: daemonset.TaintNotTolerated, Facts: daemonset.Facts{"key": key}}})
	}
	return out
}

func writtenBy(tool managed.Tool) []Warning {
	return []Warning{{ManagedByTool, daemonset.Facts{"tool": string(tool), "by": "x", "evidence": "y"}}}
}

// TestVerdict checks the verdict of a plan and the quality of its end.
func TestVerdict(t *testing.T) {
	makes := func(o Outcome, change func(p *Plan)) Plan {
		p := Plan{Subject: SubjectChange, Desired: Desired{3, 3}, Forecast: Forecast{Outcome: o}}
		if change != nil {
			change(&p)
		}
		return p
	}
	begun := func(p *Plan) { p.Subject, p.Waves = SubjectRollout, []Wave{{Count: 1}} }
	under := func(p *Plan) { p.Subject, p.Replaces = SubjectRollout, 2 }
	held := []Holder{{Node: "n"}}
	for _, tt := range []struct {
		plan    Plan
		want    Verdict
		quality Quality
		why     string
	}{
		{makes(Outcome{Code: NothingToDo}, nil), VerdictNothing, EndsWell, "nothing happens"},
		{makes(Outcome{Code: NothingToDo}, func(p *Plan) {
			p.Change, p.Assumptions = &whatif.Summary{}, []daemonset.Assumption{{Code: whatif.AssumeEnvValues}}
		}), VerdictUncompared, EndsInDoubt, "nothing that could be compared differs"},
		{makes(Outcome{Code: NothingToDo, Holders: held}, nil), VerdictNothing, EndsInDoubt, "nothing happens, and a node has no available pod"},
		{makes(Outcome{Code: NothingToDo}, func(p *Plan) {
			p.Now = daemonset.Counts{Desired: 3, Updated: 3}
			p.Change = &whatif.Summary{TemplateChanged: true, Revision: whatif.RevisionNote{From: 2, Number: 3, Was: 1}}
		}), VerdictEnds, EndsWell, "a rollback to the revision that every pod is of"},
		{makes(Outcome{Code: NothingToDo, FurtherHolders: 1}, func(p *Plan) { p.Subject = SubjectNothing }), VerdictDegraded, EndsInDoubt, "as explain says it where nothing was asked"},
		{makes(Outcome{Code: Completes}, nil), VerdictCompletes, EndsWell, "a rollout"},
		{makes(Outcome{Code: Completes}, func(p *Plan) { p.Desired.After, p.Next.Exact = 0, true }), VerdictCompletes, EndsInDoubt, "no node is eligible"},
		{makes(Outcome{Code: Completes}, func(p *Plan) { p.Lost, p.Replaces = placed("n"), 2 }), VerdictCompletes, EndsInDoubt, "a node loses its pod in its course"},
		{makes(Outcome{Code: Completes}, func(p *Plan) { p.Placement.Lose, p.Replaces = placed("n"), 2 }), VerdictCompletes, EndsBadly, "or at once"},
		{makes(Outcome{Code: Completes}, func(p *Plan) { p.Placement.Lose = placed("n") }), VerdictRemoves, EndsBadly, "that is all that happens"},
		{makes(Outcome{Code: Completes}, func(p *Plan) { p.Placement = Placement{Lose: placed("n"), Gain: placed("m")} }), VerdictCompletes, EndsBadly, "another node gets one"},
		{makes(Outcome{Code: Completes, Late: held}, under), VerdictLate, EndsInDoubt, "if late pods become ready"},
		{makes(Outcome{Code: Completes}, func(p *Plan) { p.Warnings = writtenBy(managed.ArgoCD) }), VerdictUndone, EndsInDoubt, "Argo CD undoes it"},
		{makes(Outcome{Code: Completes}, func(p *Plan) { p.Warnings = writtenBy(managed.HelmRelease) }), VerdictCompletes, EndsWell, "Helm does not by itself"},
		{makes(Outcome{Code: RemovesAllPods}, nil), VerdictRemovesAll, EndsBadly, "no pod is left"},
		{makes(Outcome{Code: Stalls}, nil), VerdictStalls, EndsBadly, "a change that stalls, also before it begins"},
		{makes(Outcome{Code: Stalls}, begun), VerdictStalls, EndsBadly, "a rollout that goes on first"},
		{makes(Outcome{Code: Stalls}, under), VerdictStaysStuck, EndsBadly, "one that stands still"},
		{makes(Outcome{Code: Stalls, UnderWay: 1}, under), VerdictStalls, EndsBadly, "one of which a pod still starts"},
		{makes(Outcome{Code: Stalls}, func(p *Plan) { p.Subject = SubjectRollout }), VerdictStaysDegraded, EndsBadly, "nothing is old, and pods are missing"},
		{makes(Outcome{Code: NotRolling, Reason: daemonset.StepOnDelete}, nil), VerdictWaits, EndsInDoubt, "OnDelete"},
		{makes(Outcome{Code: NotRolling, Reason: daemonset.StepBeingDeleted}, nil), VerdictBeingDeleted, EndsInDoubt, "on its way out"},
		{makes(Outcome{Code: NotRolling, Reason: daemonset.StepSelectsAll}, nil), VerdictIgnored, EndsInDoubt, "an empty selector"},
		{makes(Outcome{Code: Unknown}, nil), VerdictUnknown, EndsInDoubt, "a gap"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			if got, quality := tt.plan.Verdict(), tt.plan.Quality(); got != tt.want || quality != tt.quality {
				t.Errorf("got %s, quality %d; want %s, %d", got, quality, tt.want, tt.quality)
			}
		})
	}
}

// TestLosses checks which nodes lose their pod, when, and which of them keep it if they are repaired.
func TestLosses(t *testing.T) {
	const notReady, unreachable = corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable
	down := func(nodes ...string) *whatif.Summary {
		return &whatif.Summary{Nodes: []whatif.NodeChange{{Kind: whatif.NodeDown, Nodes: nodes}}}
	}
	for _, tt := range []struct {
		lost, lose            string
		change                *whatif.Summary
		code                  OutcomeCode
		later, repaired, says []string
		why                   string
	}{
		{"a:x b:x", "a:x", nil, Completes, []string{"b"}, nil, []string{"a", "b"}, "one at once, one in the course"},
		{"a:x", "", nil, Stalls, []string{"a"}, nil, nil, "a rollout that stalls may not reach it"},
		{"a:" + notReady + " b:" + unreachable + " c:x", "", nil, Completes, []string{"a", "b", "c"}, []string{"a", "b"}, []string{"a", "b", "c"}, "those that are not ready can be repaired"},
		{"a:" + unreachable, "", down("a"), Completes, []string{"a"}, nil, []string{"a"}, "not those that were supposed to be down"},
		{"a:" + unreachable + " b:" + notReady, "", down("a"), Completes, []string{"a", "b"}, []string{"b"}, []string{"a", "b"}, "only the one that was not"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			p := &Plan{Change: tt.change, Lost: placed(tt.lost), Placement: Placement{Lose: placed(tt.lose)}, Forecast: Forecast{Replaces: 1, Outcome: Outcome{Code: tt.code}}}
			got := [][]string{Nodes(p.LostLater()), p.KeptByRepair(), Nodes(p.Losses())}
			if diff := cmp.Diff([][]string{tt.later, tt.repaired, tt.says}, got); diff != "" {
				t.Errorf("later, kept by a repair, said (-want +got):\n%s", diff)
			}
		})
	}
	if (&Plan{Change: down("a")}).Supposed() {
		t.Error("no node at all is not supposed to be down")
	}
}

// TestSetAside checks which nodes the plan does not count because it was asked to assume that they are down.
func TestSetAside(t *testing.T) {
	for _, tt := range []struct{ lost, down, want, why string }{
		{"a:x b:x", "a", "a", "the other one was not asked for"},
		{"b:x", "a", "", "one that is down and still eligible counts"},
		{"a:x b:x", "a b", "a b", "both"},
		{"a:x", "", "", "none was asked for"},
	} {
		p := &Plan{Lost: placed(tt.lost), Change: &whatif.Summary{Nodes: []whatif.NodeChange{{Kind: whatif.NodeTaint, Nodes: []string{"b"}}, {Kind: whatif.NodeDown, Nodes: strings.Fields(tt.down)}}}}
		if got := strings.Join(p.SetAside(), " "); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.why, got, tt.want)
		}
	}
}

// TestSetsStrategy checks that a plan that raises the limit itself requires no other action for it.
func TestSetsStrategy(t *testing.T) {
	for _, tt := range []struct {
		change *whatif.Summary
		want   bool
		why    string
	}{
		{nil, false, "nothing changes"},
		{&whatif.Summary{Fields: []whatif.FieldDiff{{Path: template.Fields("spec", "template", "spec", "nodeName")}}}, false, "the template changes"},
		{&whatif.Summary{Fields: []whatif.FieldDiff{{Path: template.Fields("spec", "minReadySeconds")}, {Path: template.Fields("spec", "updateStrategy", "rollingUpdate", "maxUnavailable")}}}, true, "the limit changes, too"},
		{&whatif.Summary{Fields: []whatif.FieldDiff{{Path: template.Fields("spec", "updateStrategy")}}}, true, "the whole strategy"},
	} {
		if got := (&Plan{Change: tt.change}).SetsStrategy(); got != tt.want {
			t.Errorf("%s: %t", tt.why, got)
		}
	}
}

// TestLosesBy checks which nodes lose their pod because of a remedy and not because of the change alone.
func TestLosesBy(t *testing.T) {
	p := &Plan{Placement: Placement{Lose: placed("a:x c:x")}}
	if diff := cmp.Diff([]string{"b"}, p.LosesBy(&remedy.Remedy{Effect: remedy.Effect{Loses: []string{"a", "b", "c"}}})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRegardless checks when no limit decides about any pod.
func TestRegardless(t *testing.T) {
	forced := func(reasons ...daemonset.Reason) (b daemonset.Batch) {
		for _, r := range reasons {
			b.Certain = append(b.Certain, daemonset.Item{Reason: r})
		}
		return b
	}
	for _, tt := range []struct {
		replaces, drops, atOnce int
		deletes                 daemonset.Batch
		want                    bool
		why                     string
	}{
		{2, 0, 2, forced(), true, "no node has an available pod before and after"},
		{2, 1, 0, forced(daemonset.Forced, daemonset.Forced, daemonset.Forced), true, "the next sync deletes all of them, as none is available yet"},
		{2, 1, 0, forced(daemonset.Forced, daemonset.Forced), false, "one is left for the limit"},
		{2, 0, 0, forced(daemonset.Forced, daemonset.NoLongerEligible), false, "one goes for another reason"},
		{0, 0, 0, forced(), false, "there is nothing to decide about"},
	} {
		p := &Plan{Next: daemonset.Step{Deletes: tt.deletes}, Forecast: Forecast{Replaces: tt.replaces, Drops: tt.drops, Outcome: Outcome{AtOnce: tt.atOnce}}}
		if got := p.Regardless(); got != tt.want {
			t.Errorf("%s: got %t", tt.why, got)
		}
	}
}

// TestOneOfManyOrders checks when the course is only one example of what the controller may choose.
func TestOneOfManyOrders(t *testing.T) {
	two := []Wave{{Count: 2, Creates: 1, Deletes: 1}, {Count: 1, Deletes: 1}}
	for _, tt := range []struct {
		replaces, drops, atOnce int
		waves                   []Wave
		want                    bool
		why                     string
	}{
		{2, 1, 0, two, true, "the one that is only deleted may come first"},
		{3, 0, 0, two, false, "each is replaced, so every order looks the same"},
		{0, 3, 0, two, false, "so does it where none is"},
		{2, 1, 0, two[:1], false, "all in one step"},
		{2, 1, 3, two, false, "all of them at once, whatever the limit is"},
	} {
		p := &Plan{Forecast: Forecast{Replaces: tt.replaces, Drops: tt.drops, Waves: tt.waves, Outcome: Outcome{AtOnce: tt.atOnce}}}
		if got := p.OneOfManyOrders(); got != tt.want {
			t.Errorf("%s: got %t", tt.why, got)
		}
	}
}

// TestKept checks how many pods a rollback keeps.
func TestKept(t *testing.T) {
	back := &whatif.Summary{TemplateChanged: true, Revision: whatif.RevisionNote{Was: 7, Number: 9}}
	for _, tt := range []struct {
		change           *whatif.Summary
		updated, desired int
		want             int
		why              string
	}{
		{back, 9, 12, 9, "those that are on the revision already"},
		{back, 0, 3, 0, "none is"},
		{back, 8, 12, 0, "of one node it is not known what is on it"},
		{&whatif.Summary{TemplateChanged: true, Revision: whatif.RevisionNote{New: true, Number: 9}}, 9, 12, 0, "a new revision has no pods"},
		{&whatif.Summary{Revision: whatif.RevisionNote{Was: 7, Number: 7}}, 9, 12, 0, "the template stays as it is"},
		{nil, 9, 12, 0, "nothing was asked"},
	} {
		p := &Plan{Change: tt.change, Now: daemonset.Counts{Desired: tt.desired, Updated: tt.updated}, Forecast: Forecast{Replaces: 3}}
		if got := p.Kept(); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.why, got, tt.want)
		}
	}
}

// TestUndoneBy checks that only a tool that acts by itself undoes a change.
func TestUndoneBy(t *testing.T) {
	for _, tool := range []managed.Tool{managed.Operator, managed.ArgoCD, managed.AddonManager, managed.HelmRelease, managed.KubectlApply} {
		p := &Plan{Warnings: append([]Warning{{Code: ServerWarning}}, writtenBy(tool)...)}
		var want *managed.Manager
		if tool.Reverts() {
			want = &managed.Manager{Tool: tool, By: "x", Evidence: "y"}
		}
		if diff := cmp.Diff(want, p.UndoneBy()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tool, diff)
		}
	}
}

// TestMinReadySeconds checks that minReadySeconds decides the duration of a step if no start takes as long.
func TestMinReadySeconds(t *testing.T) {
	creates := []Wave{{Count: 2, Creates: 1, Deletes: 1}}
	for _, tt := range []struct {
		wait, start, slow string
		waves             []Wave
		want              int
		why               string
	}{
		{"900", "8s", "9s", creates, 900, "pods are ready long before"},
		{"900", "", "", creates, 900, "nothing tells how long a start takes"},
		{"10", "8s", "11s", creates, 0, "the slowest starts take longer"},
		{"900", "8s", "9s", []Wave{{Count: 2, Deletes: 1}}, 0, "no pod is created"},
		{"", "8s", "9s", creates, 0, "there is none"},
	} {
		p := &Plan{Forecast: Forecast{Waves: tt.waves}}
		for code, value := range map[daemonset.AssumptionCode]string{AssumeMinReadySeconds: tt.wait, AssumeStart: tt.start, AssumeStartSlow: tt.slow} {
			if value != "" {
				p.Assumptions = append(p.Assumptions, daemonset.Assumption{Code: code, Value: value})
			}
		}
		if got := p.MinReadySeconds(); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.why, got, tt.want)
		}
	}
}

// TestOtherLimits checks that, of the limits with the same course, only the first is returned, and none with the course
// of the plan. TestSlower checks their durations.
func TestOtherLimits(t *testing.T) {
	limit := func(name string, atATime int) Limit { return Limit{Limit: name, AtATime: atATime, Code: Completes} }
	planned, stalls := limit("1", 1), limit("1", 1)
	planned.Planned, stalls.Planned, stalls.Code = true, true, Stalls
	stuck := limit("5%", 2)
	stuck.Code = Stalls
	for _, tt := range []struct {
		old, atOnce int
		limits      []Limit
		want        string
		why         string
	}{
		{9, 0, []Limit{planned, limit("10%", 1), limit("25%", 3), limit("3", 3), limit("33%", 4)}, "25% 33%", "each course once, and not that of the plan"},
		{9, 0, []Limit{planned, limit("10%", 2), limit("25%", 3), limit("33%", 4)}, "10% 25% 33%", "three other courses, of which two come first"},
		{9, 0, []Limit{stalls, limit("10%", 1), limit("25%", 3)}, "10% 25%", "a plan that stalls has no course"},
		{9, 0, []Limit{planned, stuck, limit("25%", 3)}, "25%", "one that stalls is no help"},
		{3, 0, []Limit{planned, limit("25%", 3), limit("33%", 4)}, "25%", "no more at a time than there are"},
		{3, 3, []Limit{planned, limit("25%", 3)}, "", "all go at once, whatever the limit is"},
		{9, 7, []Limit{planned, limit("25%", 3), limit("33%", 4)}, "25%", "all but two go at once"},
	} {
		f := &Forecast{Replaces: tt.old - 1, Drops: 1, Limits: tt.limits, Outcome: Outcome{AtOnce: tt.atOnce}}
		var got []string
		for _, l := range f.OtherLimits(true) {
			got = append(got, l.Limit)
		}
		if few := f.OtherLimits(false); len(few) != min(2, len(got)) || len(few) > 0 && few[0].Limit != got[0] {
			t.Errorf("%s: the first are %v", tt.why, few)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: got %v, want %s", tt.why, got, tt.want)
		}
	}
}

// TestCourse checks the rows of a course. A row is the first step of a wave and its count, or "+" and the number of
// waves that are left out.
func TestCourse(t *testing.T) {
	for _, tt := range []struct {
		counts         []int // of each wave
		want, all, why string
	}{
		{nil, "", "", "no step"},
		{[]int{1, 3, 1}, "1*1 2*3 5*1", "1*1 2*3 5*1", "a wave is several steps"},
		{[]int{1, 1, 1, 1, 1, 1, 1, 1}, "1*1 2*1 3*1 4*1 5*1 6*1 7*1 8*1", "1*1 2*1 3*1 4*1 5*1 6*1 7*1 8*1", "one row is not left out for a row that says so"},
		{[]int{1, 1, 1, 1, 2, 4, 1, 1, 1}, "1*1 2*1 3*1 4*1 5*2 +2 12*1 13*1", "1*1 2*1 3*1 4*1 5*2 7*4 11*1 12*1 13*1", "five and two, and the numbers go on behind the gap"},
	} {
		f := &Forecast{}
		for _, n := range tt.counts {
			f.Waves = append(f.Waves, Wave{Count: n})
		}
		written := func(all bool) string {
			var out []string
			for _, s := range f.Course(all) {
				if s.LeftOut > 0 {
					out = append(out, fmt.Sprintf("+%d", s.LeftOut))
				} else {
					out = append(out, fmt.Sprintf("%d*%d", s.First, s.Count))
				}
			}
			return strings.Join(out, " ")
		}
		if got := written(false); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.why, got, tt.want)
		}
		if got := written(true); got != tt.all {
			t.Errorf("%s, all: %s, want %s", tt.why, got, tt.all)
		}
	}
}

// TestWarningsBeside checks that every warning of a change counts, except one that the verdict "undone" already
// expresses.
func TestWarningsBeside(t *testing.T) {
	undone := writtenBy(managed.ArgoCD)
	image := []Warning{{Code: InvalidImageName}}
	for _, tt := range []struct {
		subject  Subject
		end      OutcomeCode
		warnings []Warning
		want     int
		why      string
	}{
		{SubjectChange, Completes, nil, 0, "none"},
		{SubjectChange, Completes, undone, 0, "the verdict says it"},
		{SubjectChange, Completes, append(image, undone...), 1, "and nothing of the image"},
		{SubjectChange, Stalls, undone, 1, "the verdict is that it stalls"},
		{SubjectNew, Completes, image, 1, "of a new one"},
		{SubjectRollout, Stalls, append(image, undone...), 0, "what is under way was not asked for"},
	} {
		p := &Plan{Subject: tt.subject, Warnings: tt.warnings, Forecast: Forecast{Outcome: Outcome{Code: tt.end}}}
		if got := p.WarningsBeside(); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.why, got, tt.want)
		}
	}
}

func TestEndBadly(t *testing.T) {
	of := func(c OutcomeCode) *Plan { return &Plan{Forecast: Forecast{Outcome: Outcome{Code: c}}} }
	l := List{Items: []*Plan{of(Stalls), of(Completes), of(NotRolling), of(RemovesAllPods)}}
	if got := l.EndBadly(); got != 2 {
		t.Errorf("%d of a stall, a rollout that completes, one that waits and one that removes all pods; want 2", got)
	}
}

func TestSlower(t *testing.T) {
	row := func(name string, expected float64) Limit {
		return Limit{Limit: name, Duration: &Duration{Expected: expected}}
	}
	for _, tt := range []struct {
		limits   []Limit
		minReady string
		want     string
		why      string
	}{
		{[]Limit{row("10%", 420), row("25%", 200), row("33%", 230)}, "30", "25% 33%", "a higher limit that takes longer"},
		{[]Limit{row("10%", 420), row("25%", 200), row("33%", 200.4)}, "30", "", "less than a second is nothing"},
		{[]Limit{row("10%", 420), row("25%", 200), row("33%", 100)}, "30", "", "each faster than the one before"},
		{[]Limit{row("25%", 200), row("33%", 230)}, "0", "", "without minReadySeconds it is for something else"},
		{[]Limit{row("25%", 200), {Limit: "33%", Code: Stalls}}, "30", "", "one that stalls takes no time"},
	} {
		p := &Plan{Forecast: Forecast{Limits: tt.limits, Waves: []Wave{{Count: 1, Creates: 1}}}}
		p.Assumptions = []daemonset.Assumption{{Code: AssumeMinReadySeconds, Value: tt.minReady}}
		got := ""
		if lower, higher := p.Slower(); lower != nil {
			got = lower.Limit + " " + higher.Limit
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.why, got, tt.want)
		}
	}
}

// TestWays checks that the repair comes first, that one deletion stands for all, and that nodes which are only assumed
// to be down are not repaired.
func TestWays(t *testing.T) {
	all := []remedy.Remedy{
		{Code: remedy.RollBack, Worth: remedy.Useless, Value: "1"}, {Code: remedy.RaiseMaxUnavailable, Value: "3", Smallest: "2"},
		{Code: remedy.RemoveNode, Value: "a", Nodes: []string{"a"}}, {Code: remedy.RemoveNode, Value: "b", Nodes: []string{"b"}},
		{Code: remedy.RepairNodes, Value: "2", Nodes: []string{"a", "b"}}, {Code: remedy.MakeRoom, Nodes: []string{"c"}},
	}
	for i := range all {
		all[i].Worth = stdcmp.Or(all[i].Worth, remedy.Helps)
	}
	for _, tt := range []struct {
		supposed string
		all      bool
		want     string
		why      string
	}{
		{"", false, "RepairNodes=2 RaiseMaxUnavailable=3 RemoveNode=a", "the first deletion stands for each"},
		{"", true, "RepairNodes=2 RaiseMaxUnavailable=3 RemoveNode=a RemoveNode=b", "unless all are asked for"},
		{"a b", false, "RaiseMaxUnavailable=3", "all were supposed to be down"},
		{"a", false, "RepairNodes=2 RaiseMaxUnavailable=3 RemoveNode=b", "one of them was"},
	} {
		p := &Plan{Change: &whatif.Summary{Nodes: []whatif.NodeChange{{Kind: whatif.NodeDown, Nodes: strings.Fields(tt.supposed)}}}}
		p.Outcome.Code, p.Outcome.Remedies = Stalls, all
		var got []string
		for _, u := range p.Ways(tt.all) {
			got = append(got, string(u.Code)+"="+u.Value)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: got %v, want %s", tt.why, got, tt.want)
		}
		if !p.Outcome.LimitHelps() {
			t.Errorf("%s: a higher limit helps", tt.why)
		}
	}
}

// TestByVerdict checks that nodes that fail the same rule form a group, with the facts that all of them share.
func TestByVerdict(t *testing.T) {
	lacks := func(node string, f daemonset.Facts) PlacementNode {
		f["key"], f["want"] = "pool", "gpu"
		return PlacementNode{node, daemonset.Verdict{Reason: daemonset.NodeSelector, Facts: f}}
	}
	got := ByVerdict(append(placed("t:x"), lacks("a", daemonset.Facts{"got": "db", "nodesWith": 2}), lacks("b", daemonset.Facts{"present": false, "nodesWith": 2})))
	want := []PlacementGroup{
		{Verdict: daemonset.Verdict{Reason: daemonset.NodeSelector, Facts: daemonset.Facts{"key": "pool", "want": "gpu", "nodesWith": 2}}, Nodes: []string{"a", "b"}},
		{Verdict: daemonset.Verdict{Reason: daemonset.TaintNotTolerated, Facts: daemonset.Facts{"key": "x"}}, Nodes: []string{"t"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDown checks that a node is down regardless of the state of its pod.
func TestDown(t *testing.T) {
	got := Down([]*cause.Problem{
		{Code: cause.NodeNotReady, Nodes: []string{"a"}}, {Code: cause.CrashLoopBackOff, Nodes: []string{"b"}}, {Code: cause.TerminatingOnDeadNode, Nodes: []string{"c"}},
	})
	if diff := cmp.Diff([]string{"a", "c"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestNodesWith checks the number of nodes that have the label which the nodes that lose their pod lack.
func TestNodesWith(t *testing.T) {
	labels := func(name, pool string) dstest.Option {
		return dstest.Node(name, func(n *corev1.Node) { n.Labels = map[string]string{"pool": pool} })
	}
	for _, tt := range []struct {
		want string
		with int
		why  string
	}{{"gpus", 0, "no node has it"}, {"gpu", 1, "one has"}} {
		p, err := planOf(dstest.State("N N N", labels("n0", "gpu"), labels("n1", "db")), &whatif.Change{NodeSelector: map[string]string{"pool": tt.want}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Placement.Lose) == 0 {
			t.Errorf("%s: no node loses its pod", tt.why)
		}
		for _, n := range p.Placement.Lose {
			if n.Verdict.Facts["nodesWith"] != tt.with {
				t.Errorf("%s: %s: %v", tt.why, n.Node, n.Verdict.Facts)
			}
		}
	}
}

// TestByHand checks which changes a person makes without a manifest, so that a tool may revert them.
func TestByHand(t *testing.T) {
	image, restart := whatif.FieldDiff{Path: template.Fields("spec", "template", "spec", "nodeName")}, whatif.FieldDiff{Path: template.RestartedAt}
	for _, tt := range []struct {
		change *whatif.Summary
		want   bool
		why    string
	}{
		{nil, false, "nothing is changed"},
		{&whatif.Summary{Fields: []whatif.FieldDiff{image}}, true, "a flag"},
		{&whatif.Summary{Fields: []whatif.FieldDiff{restart}}, false, "nobody undoes a restart"},
		{&whatif.Summary{Fields: []whatif.FieldDiff{restart, image}}, true, "a restart and more"},
		{&whatif.Summary{Method: "Overlay", Fields: []whatif.FieldDiff{image}}, false, "a manifest is where a tool has it from"},
		{&whatif.Summary{Nodes: []whatif.NodeChange{{Kind: whatif.NodeDown}}}, false, "only nodes change"},
	} {
		if got := (&Plan{Change: tt.change}).ByHand(); got != tt.want {
			t.Errorf("%s: %v", tt.why, got)
		}
	}
}

// TestRaised checks which remedy a person applies by hand, and which nodes lose their pod because of it. A remedy is
// written as CODE, or as CODE:NODE with the node that loses its pod.
func TestRaised(t *testing.T) {
	const raise, remove, repair = string(remedy.RaiseMaxUnavailable), string(remedy.RemoveNode), string(remedy.RepairNodes)
	limit := &whatif.Summary{Fields: []whatif.FieldDiff{{Path: template.Fields("spec", "updateStrategy", "rollingUpdate", "maxUnavailable")}}}
	for _, tt := range []struct {
		ways   string
		change *whatif.Summary
		raised bool
		price  string
		why    string
	}{
		{"", nil, false, "", "none"},
		{raise, nil, true, "", "it costs nobody its pod"},
		{raise + ":a", nil, true, "a", "it costs one"},
		{raise + ":a " + repair, nil, true, "a", "a repair is no command"},
		{raise + ":a " + remove + ":b", nil, true, "a", "the first counts"},
		{remove + ":b", nil, false, "b", "the only way is another one"},
		{remove + ":b " + raise + ":a", nil, false, "", "of several others none is named"},
		{raise + ":a", limit, false, "a", "the change sets the limit itself"},
	} {
		p := &Plan{Change: tt.change}
		for _, w := range strings.Fields(tt.ways) {
			code, loses, _ := strings.Cut(w, ":")
			p.Outcome.Code, p.Outcome.Remedies = Stalls, append(p.Outcome.Remedies, remedy.Remedy{Code: remedy.Code(code), Worth: remedy.Helps, Effect: remedy.Effect{Loses: strings.Fields(loses)}})
		}
		if got, price := p.Raised() != nil, strings.Join(p.Price(), " "); got != tt.raised || price != tt.price {
			t.Errorf("%s: raised %v, price %q; want %v, %q", tt.why, got, price, tt.raised, tt.price)
		}
	}
}

// TestWorstFirst checks that a list begins with the plans that a check rejects, that every outcome has a place, and
// that plans with the same outcome are sorted by name.
func TestWorstFirst(t *testing.T) {
	of := func(code OutcomeCode, namespace, name string) *Plan {
		p := &Plan{Forecast: Forecast{Outcome: Outcome{Code: code}}}
		p.DaemonSet.Namespace, p.DaemonSet.Name = namespace, name
		return p
	}
	var all []*Plan
	for _, code := range []OutcomeCode{NothingToDo, NotRolling, Completes, MayComplete, Unknown, RemovesAllPods, Stalls} {
		all = append(all, of(code, "b", "a"), of(code, "a", "b"), of(code, "a", "a"))
	}
	slices.SortFunc(all, WorstFirst)
	var got []string
	for _, p := range all {
		got = append(got, string(p.Outcome.Code)+" "+p.DaemonSet.Namespace+"/"+p.DaemonSet.Name)
	}
	var want []string
	for _, code := range []string{"Stalls", "RemovesAllPods", "Unknown", "MayComplete", "Completes", "NotRolling", "NothingToDo"} {
		want = append(want, code+" a/a", code+" a/b", code+" b/a")
	}
	if diff := cmp.Diff(want, got); diff != "" || len(all) != 3*len(OutcomeCodes) {
		t.Errorf("of %d outcomes (-want +got):\n%s", len(OutcomeCodes), diff)
	}
}

// TestHasToDo checks which plans are in a list of all DaemonSets.
func TestHasToDo(t *testing.T) {
	nowhere := func(staying int) []Warning {
		return []Warning{{NoEligibleNode, daemonset.Facts{"staying": staying}}}
	}
	of := func(subject Subject, code OutcomeCode) Plan {
		return Plan{Subject: subject, Next: daemonset.Step{Kind: daemonset.StepNone}, Forecast: Forecast{Outcome: Outcome{Code: code}}}
	}
	with := func(p Plan, change func(p *Plan)) Plan { change(&p); return p }
	nothing := of(SubjectNothing, NothingToDo)
	for _, tt := range []struct {
		plan Plan
		want bool
		why  string
	}{
		{nothing, false, "nothing is in progress"},
		{of(SubjectNothing, NotRolling), false, "with OnDelete a person deletes the pods"},
		{of(SubjectRollout, NotRolling), false, "also while pods are created"},
		{of(SubjectRollout, Completes), true, "a rollout"},
		{of(SubjectChange, Completes), true, "a change that starts one"},
		{of(SubjectChange, NothingToDo), false, "a change that moves nothing"},
		{with(nothing, func(p *Plan) { p.Next.Kind = daemonset.StepManage }), true, "the next sync deletes or creates a pod"},
		{with(nothing, func(p *Plan) { p.Placement.Gain = placed("n") }), true, "a node gets a pod"},
		{with(nothing, func(p *Plan) { p.Placement.Lose = placed("n") }), true, "a node loses its pod"},
		{with(nothing, func(p *Plan) { p.Outcome.Holders = []Holder{{Node: "n"}} }), true, "a node stays without an available pod"},
		{with(nothing, func(p *Plan) { p.Outcome.FurtherHolders = 1 }), true, "any node does"},
		{with(nothing, func(p *Plan) { p.Warnings = nowhere(2) }), true, "pods stay on nodes that are not eligible"},
		{with(nothing, func(p *Plan) { p.Warnings, p.Desired.Before = nowhere(0), 3 }), false, "no node is eligible, and nothing was asked"},
		{with(nothing, func(p *Plan) { p.Warnings, p.Desired.Before, p.Change = nowhere(0), 3, &whatif.Summary{} }), true, "by a change"},
		{with(nothing, func(p *Plan) { p.Warnings, p.Change = nowhere(0), &whatif.Summary{} }), false, "as before the change"},
	} {
		if got := tt.plan.HasToDo(); got != tt.want {
			t.Errorf("%s: %t", tt.why, got)
		}
	}
}
