package explain

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
)

// problemsOf parses problems written as "CODE SEVERITY NODE,NODE WHO
// of:SUBJECT/NAME late"; everything except the code is optional.
func problemsOf(t *testing.T, text string) (out []Problem) {
	t.Helper()
	for _, one := range strings.Split(text, ";") {
		p := Problem{Facts: daemonset.Facts{}}
		for i, w := range strings.Fields(one) {
			severity := cause.Severity(w)
			switch {
			case i == 0:
				p.Code = daemonset.Reason(w)
			case w == "late":
				p.Facts["late"] = true
			case severity == cause.SeverityError || severity == cause.SeverityWarning || severity == cause.SeverityInfo:
				p.Severity = severity
			case strings.HasPrefix(w, "n"):
				p.Nodes = strings.Split(w, ",")
			case strings.HasPrefix(w, "of:"):
				kind, name, _ := strings.Cut(strings.TrimPrefix(w, "of:"), "/")
				p.Subject.Kind, p.Subject.Name = cause.SubjectKind(kind), name
			default:
				p.Blame = &cause.Blame{Who: cause.Who(w)}
			}
		}
		if p.Code != "" {
			out = append(out, p)
		}
	}
	return out
}

// TestMatters tests which problems a summary is about, whether it fails, and
// which nodes are troubled.
func TestMatters(t *testing.T) {
	for _, tt := range []struct{ problems, want, why string }{
		{"", "[] failing false of []", "nothing is wrong"},
		{"NodeNotReady Error n1 Node; StaleStatus Warning", "[NodeNotReady] failing true of [n1]", "an error hides what only warns"},
		{"StaleStatus Warning Controller; Adopt Info", "[StaleStatus] failing false of []", "without one a warning counts"},
		{"ProbeFailing Warning late n1 Unknown; NoPod Warning n2", "[ProbeFailing] failing false of []", "a late pod is urgent, but may become ready"},
		{"ProbeFailing Warning late n1 Unknown; CrashLoopBackOff Error n2 ThisChange", "[ProbeFailing CrashLoopBackOff] failing false of []", "the first of several decides"},
		{"Misscheduled Info n2 Node", "[Misscheduled] failing false of [n2]", "a node that is NotReady and not counted"},
		{"Misscheduled Info n2", "[] failing false of []", "one that is not eligible for another reason is as somebody wants it"},
		{"NextRolloutStalls Warning n3,n1; InsufficientResources Error n1 OtherWorkload", "[InsufficientResources] failing true of [n1 n3]", "who would stop the next rollout is troubled too"},
	} {
		e := &Explanation{Problems: problemsOf(t, tt.problems)}
		codes := []daemonset.Reason{}
		for _, p := range e.Matters() {
			codes = append(codes, p.Code)
		}
		if got := fmt.Sprintf("%v failing %t of %v", codes, e.Failing(), e.troubled()); got != tt.want {
			t.Errorf("%s: %q: %s, want %s", tt.why, tt.problems, got, tt.want)
		}
	}
}

// TestBeside tests which problems exist beside those that a plan names.
func TestBeside(t *testing.T) {
	const others = "NodeNotReady Error n1 Node"
	for _, tt := range []struct{ problems, going, want, why string }{
		{"NodeNotReady Error n1 Node; ProbeFailing Error n2 ThisChange", "", "[ProbeFailing]", "one is named already"},
		{"NodeNotReady Error n1,n2 Node", "", "[NodeNotReady]", "of other nodes it is another"},
		{"NodeNotReady Error n1,n2 Node", "n2", "[]", "the other node goes away"},
		{"NodeNotReady Error n1,n2 Node", "n3", "[NodeNotReady]", "a node goes away that has nothing to do with it"},
		{"Misscheduled Info n2; OnDeleteOutdated Warning n2", "", "[]", "no rollout is about these"},
	} {
		e := &Explanation{Problems: problemsOf(t, tt.problems)}
		for i := range e.Problems {
			e.Problems[i].Count = len(e.Problems[i].Nodes)
		}
		named, codes := problemsOf(t, others), []daemonset.Reason{}
		for _, p := range e.Beside([]*Problem{&named[0]}, strings.Fields(tt.going)) {
			codes = append(codes, p.Code)
		}
		if got := fmt.Sprint(codes); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.why, got, tt.want)
		}
	}
}

// TestSums tests how the numbers follow from DESIRED. A column is written as
// its groups; the counted ones begin with +.
func TestSums(t *testing.T) {
	revisions := []Revision{{Number: 8, Name: "r8", Current: true}, {Number: 7, Name: "r7"}}
	for _, tt := range []struct{ columns, problems, want, why string }{
		{"DESIRED +4 2:Taint, READY +4", "", "", "what equals DESIRED needs no sum"},
		{"READY +3 1:NotReady, AVAILABLE +3 1:NotReady", "", "READY AVAILABLE 3 - 1 NotReady", "numbers that leave out the same stand together"},
		{"READY +3 1:NotReady, AVAILABLE +2 1:NotReady 1:NotYetAvailable", "", "READY 3 - 1 NotReady; AVAILABLE 2 - 1 NotReady - 1 NotYetAvailable", "others do not"},
		{"READY +1 1:A 2:B 3:A", "", "READY 1 - 4 A - 2 B", "groups of one reason are added up"},
		{"UP-TO-DATE +1 3:OutOfDate=r7 1:OutOfDate=r6 1:OutOfDate=", "", "UP-TO-DATE 1 - 3 OutOfDate 7 - 2 OutOfDate", "a revision has its number, hashes without one are added up"},
		{"CURRENT +1 2:NoPod", "", "CURRENT 1 - 2 NoPod", "a node without a pod"},
		{"CURRENT +1 2:NoPod", "FailedCreate Error n1", "CURRENT 1 - 2 FailedCreate", "of which the API server rejects the pod"},
		{"MISSCHEDULED +1 2:NoPod", "", "", "MISSCHEDULED is no part of DESIRED"},
	} {
		e := &Explanation{Revisions: revisions, Problems: problemsOf(t, tt.problems)}
		for _, text := range strings.Split(tt.columns, ", ") {
			words := strings.Fields(text)
			c := Column{Name: words[0]}
			for _, w := range words[1:] {
				g := ColumnGroup{Facts: daemonset.Facts{}}
				if g.Counted = w[0] == '+'; g.Counted {
					w = w[1:] + ":Counted"
				}
				count, reason, _ := strings.Cut(w, ":")
				if name, revision, ok := strings.Cut(reason, "="); ok {
					reason, g.Facts["revision"] = name, revision
				}
				fmt.Sscan(count, &g.Count)
				g.Reason = daemonset.Reason(reason)
				c.Groups = append(c.Groups, g)
			}
			e.Columns = append(e.Columns, c)
		}
		var got []string
		for _, s := range e.Sums() {
			words := fmt.Sprintf("%s %d", strings.Join(s.Columns, " "), s.Counted)
			for _, l := range s.Less {
				words += fmt.Sprintf(" - %d %s", l.Count, l.Reason)
				if l.Revision != nil {
					words += fmt.Sprintf(" %d", l.Revision.Number)
				}
			}
			got = append(got, words)
		}
		if got := strings.Join(got, "; "); got != tt.want {
			t.Errorf("%s: %s: %q, want %q", tt.why, tt.columns, got, tt.want)
		}
	}
}

func TestServedBy(t *testing.T) {
	for _, tt := range []struct {
		on      []string // the nodes of revisions 8 (the current one), 7 and 6
		without string
		want    int64
		why     string
	}{
		{[]string{"n1", "n2 n3", ""}, "n1", 7, "the new pods are not available, the old ones are"},
		{[]string{"n1", "n2 n3", ""}, "n2", 0, "a new one is"},
		{[]string{"n1", "n2", "n3"}, "n1", 0, "they are of two old revisions"},
		{[]string{"n1", "n2", "n3"}, "n1 n2", 6, "of one of the two"},
		{[]string{"n1", "n2", ""}, "n1 n2", 0, "none is available"},
	} {
		e := &Explanation{Impact: &Impact{Without: strings.Fields(tt.without)}}
		for i, nodes := range tt.on {
			e.Revisions = append(e.Revisions, Revision{Number: int64(8 - i), Current: i == 0, Nodes: strings.Fields(nodes)})
		}
		got := int64(0)
		if r := e.ServedBy(); r != nil {
			got = r.Number
		}
		if got != tt.want {
			t.Errorf("%s: %v without %s: %d, want %d", tt.why, tt.on, tt.without, got, tt.want)
		}
		if c := e.Current(); c == nil || c.Number != 8 {
			t.Errorf("%s: the current revision is %v", tt.why, c)
		}
	}
}

// TestSince tests since when a DaemonSet has been in its state.
func TestSince(t *testing.T) {
	at := func(minute int) *time.Time {
		at := time.Date(2026, 3, 1, 12, minute, 0, 0, time.UTC)
		return &at
	}
	crash := Problem{Code: cause.CrashLoopBackOff, Severity: cause.SeverityError, Since: at(5)}
	unknown := Problem{Code: cause.NodeNotReady, Severity: cause.SeverityError}
	for _, tt := range []struct {
		problems []Problem
		rollout  Rollout
		want     *time.Time
		why      string
	}{
		{nil, Rollout{Since: at(1)}, nil, "nothing is wrong, and no rollout is in progress"},
		{nil, Rollout{UnderWay: true, Since: at(1)}, at(1), "a rollout is"},
		{[]Problem{unknown, crash}, Rollout{UnderWay: true, Since: at(1)}, at(5), "a problem whose time is known comes first"},
		{[]Problem{unknown}, Rollout{UnderWay: true, Since: at(1)}, at(1), "of none it is"},
	} {
		if diff := cmp.Diff(tt.want, (&Explanation{Problems: tt.problems, Rollout: tt.rollout}).Since()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
}

// TestTally tests the numbers of the problems that a summary is about.
func TestTally(t *testing.T) {
	fails := func(severity cause.Severity, code daemonset.Reason, newPods, oldPods int) Problem {
		return Problem{Code: code, Severity: severity, Facts: daemonset.Facts{"newFailing": newPods, "oldFailing": oldPods}}
	}
	e := &Explanation{Verdict: Verdict{Facts: daemonset.Facts{"newPods": 4, "oldPods": 9}}}
	e.Problems = []Problem{fails(cause.SeverityError, cause.CrashLoopBackOff, 2, 0), fails(cause.SeverityError, cause.OOMKilled, 1, 3), fails(cause.SeverityInfo, cause.ProbeFailing, 1, 1)}
	if diff := cmp.Diff(cause.Tally{NewPods: 4, NewFailing: 3, OldPods: 9, OldFailing: 3}, e.Tally()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestShared checks that a node counts once for each DaemonSet that it affects.
func TestShared(t *testing.T) {
	var l List
	for _, problems := range []string{
		"NodeNotReady Error n1,n2 Node", "TerminatingOnDeadNode Error n2 Node; NodeNotReady Error n2,n3 Node", "NextRolloutStalls Warning n2,n1", "CrashLoopBackOff Error n3 ThisChange", "",
	} {
		l.Items = append(l.Items, &Explanation{Problems: problemsOf(t, problems)})
	}
	if diff := cmp.Diff([]Shared{{"n2", 3}, {"n1", 2}}, l.Shared()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// remediesOf parses remedies written as "CODE PROBLEM,PROBLEM NODE,NODE WORTH".
// Everything except the code is optional; - stands for no problem, and by
// default a remedy helps.
func remediesOf(text string) (out []remedy.Remedy) {
	comma := func(r rune) bool { return r == ',' }
	for _, one := range strings.Split(text, "; ") {
		words := strings.Fields(one)
		if len(words) == 0 {
			continue
		}
		r := remedy.New(remedy.Code(words[0]), "")
		r.Worth = remedy.Helps
		for i, w := range words[1:] {
			switch {
			case slices.Contains(remedy.Worths, remedy.Worth(w)):
				r.Worth = remedy.Worth(w)
			case i == 0 && w != "-":
				for _, code := range strings.FieldsFunc(w, comma) {
					r.Problems = append(r.Problems, daemonset.Reason(code))
				}
			case i > 0:
				r.Nodes = strings.FieldsFunc(w, comma)
			}
		}
		out = append(out, r)
	}
	return out
}

// TestFixes checks that only remedies that help are returned, in order, and
// tolerations only if a summary warns about them.
func TestFixes(t *testing.T) {
	for _, tt := range []struct{ problems, remedies, want, why string }{
		{"CrashLoopBackOff Error n1", "RollBack CrashLoopBackOff; RepairNodes - n2", "[RollBack RepairNodes]", "all that help"},
		{"CrashLoopBackOff Error n1", "RollBack CrashLoopBackOff MayHelp; RepairNodes - Useless; RaiseMaxUnavailable Harms", "[]", "none that does not, or of which that is not known"},
		{"CrashLoopBackOff Error n1", "DeletePods - n1; RollBack Useless; RemoveNode", "[DeletePods RemoveNode]", "in their order"},
		{"Misscheduled Warning n1", "Tolerate Misscheduled n1", "[Tolerate]", "a rollout deletes the pod for good"},
		{"Misscheduled Warning n1; CrashLoopBackOff Error n2", "Tolerate Misscheduled n1; RollBack CrashLoopBackOff", "[RollBack]", "something else is urgent"},
		{"Misscheduled Info n1", "Tolerate Misscheduled n1", "[]", "nothing warns of it"},
		{"", "", "[]", "nothing is wrong"},
	} {
		e := &Explanation{Problems: problemsOf(t, tt.problems), Remedies: remediesOf(tt.remedies)}
		codes := []remedy.Code{}
		for _, r := range e.Fixes() {
			codes = append(codes, r.Code)
		}
		if got := fmt.Sprint(codes); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.why, got, tt.want)
		}
		for _, r := range e.Remedies {
			if got, want := e.Fix(r.Code), slices.Contains(codes, r.Code); (got != nil) != want || want && got.Code != r.Code {
				t.Errorf("%s: %s: %v", tt.why, r.Code, got)
			}
		}
		if len(e.Remedies) != len(remediesOf(tt.remedies)) {
			t.Errorf("%s: the Explanation has changed", tt.why)
		}
	}
}

// TestFixesOn checks that only fixes for the problem of one node are returned.
func TestFixesOn(t *testing.T) {
	e := &Explanation{
		Problems: problemsOf(t, "NodeNotReady Error n1,n2,n6 Node; InsufficientResources Error n3,n4 OtherWorkload; CrashLoopBackOff Error n7 ThisChange"),
		Remedies: remediesOf("RollBack CrashLoopBackOff; RepairNodes NodeNotReady n1,n2; MakeRoom HostPortConflict,InsufficientResources n3,n4; RaiseMaxUnavailable - n7; FreeDisk CrashLoopBackOff n7 MayHelp"),
	}
	for _, tt := range []struct {
		node string
		code daemonset.Reason
		want string
		why  string
	}{
		{"n1", cause.NodeNotReady, "[RepairNodes [n1]]", "the fix of its problem, for it alone"},
		{"n3", cause.InsufficientResources, "[MakeRoom [n3]]", "room is made for each that does not fit, whatever the first lacks"},
		{"n6", cause.NodeNotReady, "[]", "one of the same problem on other nodes"},
		{"n7", cause.CrashLoopBackOff, "[RollBack [n7]]", "one that is about no node is about all; a way around is about no problem, and what may help is no fix"},
		{"n5", "", "[]", "nothing is wrong there"},
	} {
		n := Node{Name: tt.node, Exists: true, ShouldRun: &daemonset.Verdict{OK: true}}
		if tt.code != "" {
			n.Problem = &cause.Cause{Code: tt.code}
		}
		got := []string{}
		for _, f := range e.FixesOn(&n) {
			got = append(got, fmt.Sprint(f.Code, " ", f.Nodes))
		}
		if fmt.Sprint(got) != tt.want {
			t.Errorf("%s: %s, want %s", tt.why, got, tt.want)
		}
	}
}

// TestOnNode tests the problem of one node, and whether its pod stays there.
func TestOnNode(t *testing.T) {
	e := &Explanation{Problems: problemsOf(t, "NodeNotReady Error n1,n2 Node; Misscheduled Info n2,n3 Node")}
	no, yes := &daemonset.Verdict{}, &daemonset.Verdict{OK: true}
	runs := []Pod{{Name: "p", Available: true}}
	for _, tt := range []struct {
		node   Node
		want   daemonset.Reason
		stays  bool
		serves bool
		why    string
	}{
		{Node{Name: "n1", Exists: true, ShouldRun: yes, MayStay: yes, Problem: &cause.Cause{Code: cause.NodeNotReady}, Pods: runs}, cause.NodeNotReady, false, true, "its own problem"},
		{Node{Name: "n3", Exists: true, ShouldRun: no, MayStay: yes, Pods: runs}, cause.Misscheduled, true, true, "a pod that stays where it should not run"},
		{Node{Name: "n3", Exists: true, ShouldRun: no, MayStay: no, Pods: runs}, cause.Misscheduled, false, true, "one that the controller deletes"},
		{Node{Name: "n3", Exists: true, ShouldRun: no, MayStay: yes, Pods: []Pod{{Name: "p", Terminating: true}}}, cause.Misscheduled, false, false, "one that is terminating"},
		{Node{Name: "n4", Exists: true, ShouldRun: yes, MayStay: yes}, "", false, false, "nothing is wrong, and nothing runs"},
		{Node{Name: "n5", Pods: runs}, "", false, true, "the nodes could not be read"},
	} {
		p, code := e.OnNode(&tt.node), daemonset.Reason("")
		if p != nil {
			code = p.Code
			if p.Count != 1 || len(p.Nodes) != 1 || p.Nodes[0] != tt.node.Name {
				t.Errorf("%s: not narrowed: %v", tt.why, p.Nodes)
			}
		}
		if code != tt.want || tt.node.Stays() != tt.stays || tt.node.Serves() != tt.serves {
			t.Errorf("%s: %q stays %t serves %t, want %q %t %t", tt.why, code, tt.node.Stays(), tt.node.Serves(), tt.want, tt.stays, tt.serves)
		}
	}
	if n := len(e.Problems[0].Nodes); n != 2 {
		t.Errorf("the Explanation has changed: %d nodes", n)
	}
}

// TestEvidence tests what failing pods say about the revision, given how many
// new and old pods exist and fail.
func TestEvidence(t *testing.T) {
	for _, tt := range []struct {
		problem                                  string
		newPods, newFailing, oldPods, oldFailing int
		want                                     Evidence
		why                                      string
	}{
		{"CrashLoopBackOff Error n1 ThisChange", 2, 2, 9, 0, NewOnly, "all new pods and no old one"},
		{"CrashLoopBackOff Error n1 Unknown", 0, 0, 9, 1, OldOnly, "no pod of the revision runs yet"},
		{"CrashLoopBackOff Error n1 Unknown", 2, 2, 9, 1, Both, "an old one as well"},
		{"CrashLoopBackOff Error n1 Unknown", 2, 2, 0, 0, All, "there is nothing to compare with"},
		{"CrashLoopBackOff Error n1 Unknown", 2, 1, 9, 0, Some, "it works on one node"},
		{"NodeNotReady Error n1 Node", 2, 2, 9, 0, "", "a node says nothing about a revision"},
	} {
		e := &Explanation{Problems: problemsOf(t, tt.problem), Verdict: Verdict{Facts: daemonset.Facts{"newPods": tt.newPods, "oldPods": tt.oldPods}}}
		p := &e.Problems[0]
		p.Facts["newFailing"], p.Facts["oldFailing"] = tt.newFailing, tt.oldFailing
		if got := e.Evidence(p); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.why, got, tt.want)
		}
	}
}

// TestOn returns the nodes of all problems with a code.
func TestOn(t *testing.T) {
	e := &Explanation{Problems: problemsOf(t, "InsufficientResources Error n1,n2; HostPortConflict Error n3; InsufficientResources Error n4")}
	if diff := cmp.Diff([]string{"n1", "n2", "n4"}, e.On(cause.InsufficientResources)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestProblemCode tests a node with a problem and one without.
func TestProblemCode(t *testing.T) {
	for want, n := range map[daemonset.Reason]*Node{"": {}, cause.NoPod: {Problem: &cause.Cause{Code: cause.NoPod}}} {
		if got := n.ProblemCode(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestRevisionOf checks that pods whose hash has no ControllerRevision have no
// revision.
func TestRevisionOf(t *testing.T) {
	e := &Explanation{Revisions: []Revision{{Hash: "gone"}, {Number: 7, Name: "a-7"}}}
	for name, want := range map[string]*Revision{"a-7": &e.Revisions[1], "a-8": nil, "": nil} {
		if got := e.RevisionOf(Pod{Revision: name}); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}

// TestWorstFirst checks that the verdict decides, then the share of nodes
// without an available pod, then the names.
func TestWorstFirst(t *testing.T) {
	of := func(code VerdictCode, without, served int, name string) *Explanation {
		e := &Explanation{Verdict: Verdict{Code: code}, Impact: &Impact{Without: make([]string, without), Served: served}}
		e.DaemonSet.Namespace, e.DaemonSet.Name, _ = strings.Cut(name, "/")
		return e
	}
	all := []*Explanation{
		of(Healthy, 0, 9, "a/a"), of(Degraded, 1, 9, "a/a"), of(Degraded, 1, 3, "b/z"), of(Degraded, 1, 9, "a/b"), of(Stuck, 0, 9, "b/a"), of(Progressing, 1, 0, "a/a"), of(Stuck, 0, 9, "a/z"),
	}
	slices.SortFunc(all, WorstFirst)
	var got []string
	for _, e := range all {
		got = append(got, string(e.Verdict.Code)+" "+e.DaemonSet.Namespace+"/"+e.DaemonSet.Name)
	}
	if want := "Stuck a/z, Stuck b/a, Degraded b/z, Degraded a/a, Degraded a/b, Progressing a/a, Healthy a/a"; strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
}
