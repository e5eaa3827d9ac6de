package follow

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan/timing"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// followed is a Follower with the time and all its output.
type followed struct {
	*Follower
	t    testing.TB
	at   time.Time
	said []string
}

func follow(t testing.TB, grid string, options ...dstest.Option) *followed {
	t.Helper()
	s := dstest.State(grid, options...)
	f := NewFollower(newState(t, s), plan.Options{})
	return &followed{Follower: f, t: t, at: s.TakenAt}
}

// run executes a script. Its steps are separated by semicolons and happen a tenth of a second apart:
//
//	delete p0     the pod gets a deletionTimestamp
//	gone p0       the pod is gone, with or without a deletionTimestamp
//	create n0 q0  a pod q0 of the current revision is created for node n0
//	ready q0      the pod is bound to its node and ready
//	crash q0      the pod is in a crash loop
//	evict p0      the pod is evicted through the API, and deleted
//	fail p0       the kubelet evicts the pod
//	cordon n0     the node changes without an effect on DaemonSets
//	taint n0      the node gets a taint that evicts the pods of the DaemonSet
//	add n9        a node is added
//	change        the DaemonSet gets another template whose revision does not exist yet
//	limit 2       the DaemonSet gets another maxUnavailable
//	status        the controller writes the current numbers to the status
//	drop          the DaemonSet is deleted
//	wait 5s       time passes, and the follower checks the clock
func (f *followed) run(script string) {
	f.t.Helper()
	for step := range strings.SplitSeq(script, ";") {
		words := strings.Fields(step)
		if len(words) == 0 {
			continue
		}
		f.at = f.at.Add(100 * time.Millisecond)
		if words[0] == "wait" {
			d, err := time.ParseDuration(words[1])
			if err != nil {
				f.t.Fatal(err)
			}
			f.at = f.at.Add(d)
			f.say(f.Settle(f.at, false))
			continue
		}
		object, gone := f.object(words)
		f.say(f.See(f.at, object, gone))
	}
}

func (f *followed) object(words []string) (object any, gone bool) {
	f.t.Helper()
	switch words[0] {
	case "create":
		return f.created(words[1], words[2]), false
	case "change", "limit", "status", "drop":
		return f.daemonSet(words), words[0] == "drop"
	case "cordon", "taint", "add":
		n := f.objects.get(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n0"}}).(*corev1.Node).DeepCopy()
		if n.Name = words[1]; words[0] == "taint" {
			n.Spec.Taints = []corev1.Taint{{Key: "dedicated", Effect: corev1.TaintEffectNoExecute}}
		}
		n.Spec.Unschedulable = words[0] == "cordon"
		return n, false
	}
	p, ok := f.objects.get(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: words[1]}}).(*corev1.Pod)
	if !ok {
		f.t.Fatalf("%v: there is no such pod", words)
	}
	p = p.DeepCopy()
	now := metav1.NewTime(f.at)
	switch words[0] {
	case "delete":
		p.DeletionTimestamp = &now
	case "evict":
		p.DeletionTimestamp = &now
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI"})
	case "fail":
		p.Status.Phase = corev1.PodFailed
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: corev1.PodReasonTerminationByKubelet}}
	case "gone":
		return p, true
	case "ready":
		p.Spec.NodeName, p.Status.Phase = nodeOf(p), corev1.PodRunning
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: now}}
	case "crash":
		p.Spec.NodeName, p.Status.Phase = nodeOf(p), corev1.PodRunning
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "agent", RestartCount: 5, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}}}
	default:
		f.t.Fatalf("%v is not understood", words)
	}
	return p, false
}

func (f *followed) created(node, name string) *corev1.Pod {
	p := dstest.State("N").Pods[0].DeepCopy()
	p.Name, p.UID, p.CreationTimestamp = name, types.UID("pod-"+name), metav1.NewTime(f.at)
	p.Spec.NodeName = ""
	p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values = []string{node}
	p.Status = corev1.PodStatus{Phase: corev1.PodPending}
	return p
}

func (f *followed) daemonSet(words []string) *appsv1.DaemonSet {
	ds := f.objects.ds.DeepCopy()
	switch words[0] {
	case "limit":
		ds.Generation++
		v := intstr.Parse(words[1])
		ds.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable = &v
	case "change":
		ds.Generation++
		ds.Annotations[appsv1.DeprecatedTemplateGeneration] = fmt.Sprint(ds.Generation)
		ds.Spec.Template.Spec.Containers[0].Image = fmt.Sprintf("example/agent:%d", ds.Generation)
	case "status":
		counts, _ := newState(f.t, f.objects.snapshot(f.at)).Counts()
		ds.Status.ObservedGeneration = ds.Generation
		ds.Status.DesiredNumberScheduled, ds.Status.CurrentNumberScheduled = int32(counts.Desired), int32(counts.Current)
		ds.Status.UpdatedNumberScheduled, ds.Status.NumberReady = int32(counts.Updated), int32(counts.Ready)
		ds.Status.NumberAvailable, ds.Status.NumberUnavailable = int32(counts.Available), int32(counts.Unavailable)
	}
	return ds
}

// say records happenings, each as "predicted +n0 -p0": creates, then deletes.
func (f *followed) say(all []Happening) {
	for _, h := range all {
		text := map[HappeningKind]string{AsPredicted: "predicted", Otherwise: "otherwise", Evicted: "evicted", Unjudged: "unjudged", Changed: "changed"}[h.Kind]
		for _, i := range h.Creates {
			text += " +" + i.Node
		}
		for _, i := range h.Deletes {
			text += " -" + i.Pod
		}
		if h.Kind == Otherwise {
			text += fmt.Sprintf(" (+%d -%d)", h.Expected.Creates, h.Expected.Deletes)
		}
		if h.By != "" {
			text += " by " + h.By
		}
		f.said = append(f.said, text)
	}
}

func TestFollowerComparesBatches(t *testing.T) {
	max := dstest.MaxUnavailable
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		script  string
		want    string
		why     string
	}{
		{"O O", nil, "delete p1; gone p1; create n1 q1; ready q1; delete p0; gone p0; create n0 q0; ready q0", "predicted -p1; predicted +n1; predicted -p0; predicted +n0", "one after the other, in whatever order"},
		{"O*4", []dstest.Option{max("2")}, "delete p3; delete p1", "predicted -p3 -p1", "a batch is judged when all of it has come"},
		{"O*4", []dstest.Option{max("2")}, "delete p3; wait 4s; delete p1", "predicted -p3 -p1", "the controller's requests may be some seconds apart"},
		{"O*4", []dstest.Option{max("2")}, "delete p3; wait 4s", "", "until then nothing is said"},
		{"O*4", []dstest.Option{max("2")}, "delete p3; wait 5s", "otherwise -p3 (+0 -2)", "a part of what was predicted is not that"},
		{"O*4", []dstest.Option{max("2")}, "delete p3; delete p1; gone p3; create n3 q3; gone p1; create n1 q1", "predicted -p3 -p1; predicted +n3; predicted +n1", "each node is filled as it empties"},
		{"O*4", []dstest.Option{max("2")}, "delete p3; delete p1; gone p3; gone p1; create n3 q3; create n1 q1", "predicted -p3 -p1; predicted +n3 +n1", "or both at once"},
		{"- #O", nil, "delete p1; create n0 q0", "predicted +n0 -p1", "one step may create and delete"},
		{"op O", nil, "gone p0; create n0 q0", "predicted -p0; predicted +n0", "a pod that no kubelet has to end goes without a mark"},
		{"O o o O", nil, "delete p1; delete p2", "predicted -p1 -p2", "what is certain counts as what is chosen"},
		{"O*3", []dstest.Option{max("0"), dstest.MaxSurge("1")}, "create n1 q1; ready q1; delete p1; gone p1; create n0 q0", "predicted +n1; predicted -p1; predicted +n0", "a surge creates first"},

		{"n O O", nil, "delete p1; wait 5s", "otherwise -p1 (+0 -0)", "nothing was to be deleted: it was somebody else"},
		{"n O O", nil, "delete p1; gone p1; create n1 q1; wait 5s", "otherwise -p1 (+0 -0); predicted +n1", "what the controller then does is predicted again"},
		{"O O O", []dstest.Option{max("2"), nodesUnread()}, "delete p0; delete p1; gone p0; create n0 q0; gone p1; create n1 q1", "predicted -p0 -p1; unjudged +n0; unjudged +n1", "without nodes, an empty one is not seen"},
		{"O O O O", []dstest.Option{max("2"), nodesUnread()}, "delete p0; delete p1; gone p0; gone p1; ready p2; delete p2; wait 5s", "predicted -p0 -p1; predicted -p2", "nor that it uses up the budget"},
		{"N N", nil, "delete p0; gone p0; create n0 q0", "otherwise -p0 (+0 -0); predicted +n0", "also where nothing rolls"},
		{"O O O", nil, "delete p1; delete p2; wait 5s", "predicted -p1; otherwise -p2 (+0 -0)", "one more than the budget allows"},
		{"o O O", []dstest.Option{max("2")}, "delete p1; delete p2; wait 5s", "otherwise -p1 -p2 (+0 -2)", "two of a choice of one, and not what is certain"},
		{"N N", nil, "fail p0; gone p0; create n0 q0", "predicted -p0; predicted +n0", "a pod that the kubelet evicted is the controller's to delete"},
		{"n O O", nil, "evict p1; gone p1; create n1 q1", "evicted -p1 by EvictionByEvictionAPI; predicted +n1", "an eviction says what it is, and is no batch"},

		{"n n O O O", []dstest.Option{max("3")}, "ready p0; delete p2; wait 5s", "predicted -p2", "the controller had not heard of the last change"},
		{"n n O O O", []dstest.Option{max("3")}, "ready p0; delete p2; delete p3; wait 5s", "predicted -p2 -p3", "or it had"},
		{"n n n O*5", []dstest.Option{max("4")}, "ready p0; ready p1; delete p3; delete p4; delete p5; wait 5s", "predicted -p3 -p4 -p5", "with all changes, any 3"},
		{"n n n O*5", []dstest.Option{max("4")}, "ready p0; ready p1; delete p3; delete p4; wait 5s", "predicted -p3 -p4", "with one of them, any 2"},
		{"n n n O*5", []dstest.Option{max("4")}, "ready p0; ready p1; delete p3; delete p4; gone p3; create n3 q3", "predicted -p3 -p4; predicted +n3", "which shows, too, by what follows"},
		{"n n n O*5", []dstest.Option{max("4")}, "ready p0; ready p1; delete p3; delete p4; gone p3; gone p4; create n3 q3; wait 5s", "predicted -p3 -p4; predicted +n3", "and that may be of an older state itself"},
		{"n n n O*5", []dstest.Option{max("4")}, "ready p0; ready p1; " + strings.Repeat("status; ", 12) + "delete p3; delete p4; wait 5s", "predicted -p3 -p4", "whatever came since that decides nothing"},
		{"N Nx", nil, "delete p1; gone p1; wait 5s", "", "the pods of others are not the controller's"},
		{"n n O O O", []dstest.Option{max("2")}, "ready p0; delete p2; delete p3; wait 5s", "predicted -p2; otherwise -p3 (+0 -0)", "no state allows two"},
		{"n O O O", nil, "ready p0; delete p1; gone p1; create n1 q1; delete p2; wait 5s", "predicted -p1; predicted +n1; otherwise -p2 (+0 -0)", "what the controller did itself it has seen: no state from before that explains it"},
		{"N N N", nil, "delete p0; change", "changed; predicted -p0", "the controller heard of a new template before we did"},
		{"N*4", []dstest.Option{max("2")}, "delete p0; delete p3; cordon n1; change", "changed; predicted -p0 -p3", "whatever else comes between"},
		{"n O O", nil, "delete p1; limit 2", "changed; predicted -p1", "or of another limit"},
		{"N N", nil, "delete p1; taint n1", "predicted -p1", "or of a taint"},
		{"N N", nil, "create n2 q2; add n2", "predicted +n2", "or of a node"},
		{"N N N", nil, "change; delete p0", "changed; predicted -p0", "or after"},

		{"V V O O", []dstest.Option{dstest.MinReadySeconds(10), max("2")}, "wait 9500ms; delete p2; wait 5s", "otherwise -p2 (+0 -2)", "the clock decides what is available, to the second"},
		{"W W O O", []dstest.Option{dstest.MinReadySeconds(10), max("2")}, "wait 8200ms; delete p2; delete p3", "predicted -p2 -p3", "a controller whose clock is ahead by less than a second has seen them become available"},
		{"W W O O", []dstest.Option{dstest.MinReadySeconds(10), max("2")}, "wait 5s; delete p2; wait 5s", "otherwise -p2 (+0 -0)", "one whose clock is ahead by more is none"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			f := follow(t, tt.grid, tt.options...)
			f.run(tt.script)
			if diff := cmp.Diff(tt.want, strings.Join(f.said, "; ")); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", tt.grid, tt.script, diff)
			}
		})
	}
}

func TestFollowerEnds(t *testing.T) {
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		script  string
		want    string // the End, then Batches and AsPredicted
		why     string
	}{
		{"N N", nil, "status", "Done 0/0", "nothing is rolling"},
		{"N N", nil, "", "goes on 0/0", "the controller has not said so"},
		{"n N", nil, "status; ready p0", "goes on 0/0", "not that all are available"},
		{"O N", nil, "status; delete p0; gone p0; create n0 q0; ready q0", "goes on 2/2", "not that all are up to date"},
		{"N N", nil, "wait 30s", "Done 0/0", "it does not say so for long"},
		{"N N", nil, "status; limit 2", "goes on 0/0", "it has not looked at the newest generation"},
		{"O N", nil, "status", "goes on 0/0", "an old pod is left"},
		{"O", nil, "delete p0; gone p0; create n0 q0; status", "goes on 2/2", "the new one is not ready"},
		{"O", nil, "delete p0; gone p0; create n0 q0; ready q0; status", "Done 2/2", "a rollout to its end"},
		{"n N", []dstest.Option{crashingPod("p0")}, "status", "goes on 0/0", "a pod that fails may recover"},
		{"n N", []dstest.Option{crashingPod("p0")}, "status; wait 30s", "Degraded 0/0", "if it does not, the rollout is done and a node is without a pod"},
		{"n O", []dstest.Option{crashingPod("p0")}, "status; wait 29s", "goes on 0/0", "the budget is held by a pod that fails"},
		{"n O", []dstest.Option{crashingPod("p0")}, "status; wait 30s", "Stuck 0/0", "for good"},
		{"N n n O", []dstest.Option{crashingPod("p1"), youngPod("p2")}, "status; wait 30s", "goes on 0/0", "while another pod starts, that is not for sure"},
		{"n O", []dstest.Option{crashingPod("p0")}, "wait 20s; ready p0; wait 20s; crash p0; wait 20s", "goes on 0/0", "what came to life in between is not stuck"},
		{"o O O", []dstest.Option{unreachableNode("n0")}, "delete p1; gone p1; create n1 q1; ready q1; wait 30s", "goes on 2/1", "a controller that owes a step is not stuck, whatever somebody else did"},
		{"o O O", []dstest.Option{unreachableNode("n0")}, "wait 1s; delete p0; wait 30s", "Stuck 1/1", "a pod on a dead node does not go"},
		{"- O", []dstest.Option{refusedCreates()}, "wait 30s", "Stuck 0/0", "the API server refuses pods"},
		{"O O", []dstest.Option{dstest.OnDelete()}, "", "NotRolling 0/0", "OnDelete replaces nothing"},
		{"O -", []dstest.Option{dstest.OnDelete(), youngPod("p0")}, "", "goes on 0/0", "but fills an empty node"},
		{"O -", []dstest.Option{dstest.OnDelete()}, "", "NotRolling 0/0", "unless the node has been empty for an hour"},
		{"O O", nil, "delete p0; drop", "Gone 1/1", "the DaemonSet is deleted"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			f := follow(t, tt.grid, tt.options...)
			var p *Progress
			look := func() {
				var err error
				if p, err = f.Progress(f.at); err != nil {
					t.Fatal(err)
				}
			}
			look()
			for step := range strings.SplitSeq(tt.script, ";") {
				f.run(step)
				look()
			}
			end := string(p.End)
			if end == "" {
				end = "goes on"
			}
			if got := fmt.Sprintf("%s %d/%d", end, p.Batches, p.AsPredicted); got != tt.want {
				t.Errorf("%s, %s: %s, want %s\n%s\n%+v", tt.grid, tt.script, got, tt.want, strings.Join(f.said, "; "), p.Outcome)
			}
		})
	}
}

// TestFollowerLearns checks that the remaining time is computed from the followed pods, if there are at least three.
func TestFollowerLearns(t *testing.T) {
	f := follow(t, "O*20", dstest.MaxUnavailable("4"))
	before, err := f.Progress(f.at)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 { // 2 s to terminate, 5 s to start
		f.run(fmt.Sprintf("delete p%d", i))
	}
	f.at = f.at.Add(1500 * time.Millisecond)
	for i := range 4 {
		f.run(fmt.Sprintf("gone p%d", i))
	}
	for i := range 4 {
		f.run(fmt.Sprintf("create n%d q%d", i, i))
	}
	f.at = f.at.Add(4600 * time.Millisecond)
	for i := range 4 {
		f.run(fmt.Sprintf("ready q%d", i))
	}
	after, err := f.Progress(f.at)
	if err != nil {
		t.Fatal(err)
	}
	if len(after.Usual.Starts) != 4 || after.Outcome.Code != plan.Completes {
		t.Fatalf("%+v", after)
	}
	near := func(what string, got, want float64) {
		if got < 0.8*want || got > 1.2*want {
			t.Errorf("%s: %.1f s, want about %.1f s", what, got, want)
		}
	}
	near("before, by pods that took an hour to become ready and a grace period of 30 s", before.Outcome.Duration.Expected, 5*3630)
	near("after", after.Outcome.Duration.Expected, 4*7)
}

// nodesUnread removes the nodes, as for a user who may not read them.
func nodesUnread() dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) {
		s.Nodes, s.Gaps = nil, append(s.Gaps, snapshot.Gap{What: snapshot.Nodes, Why: snapshot.Forbidden})
		s.DaemonSet.Status.DesiredNumberScheduled = int32(len(s.Pods))
	})
}

// TestFollowerForgets checks that changes are discarded when they are no longer needed.
func TestFollowerForgets(t *testing.T) {
	f := follow(t, "O N")
	f.run(strings.Repeat("cordon n0;", 1000))
	if n := len(f.log); n > 10*mostLag {
		t.Errorf("%d changes are kept", n)
	}
	f.run("delete p0; gone p0; create n0 q0")
	if got := strings.Join(f.said, "; "); got != "predicted -p0; predicted +n0" {
		t.Error(got)
	}
}

// TestFollowerOwed checks how long a controller that does not do what is predicted has owed it.
func TestFollowerOwed(t *testing.T) {
	f := follow(t, "O O")
	owed := func(script, want string) {
		t.Helper()
		f.run(script)
		p, err := f.Progress(f.at)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Owed.Round(time.Second).String(); got != want {
			t.Errorf("%s: %s, want %s", script, got, want)
		}
	}
	for at, want := range map[time.Duration]bool{0: false, overdueAfter - time.Second: false, overdueAfter: true} {
		if got := (&Progress{Owed: at}).Overdue(); got != want {
			t.Errorf("owed for %s, it is told: %t", at, got)
		}
	}
	owed("wait 20s", "20s")
	owed("cordon n0; wait 10s", "30s") // the same sync is still predicted
	owed("delete p0; wait 1m", "0s")
	owed("limit 2; wait 10s", "10s") // now more is predicted
}

func TestLearnt(t *testing.T) {
	for _, tt := range []struct {
		script string
		want   string
		why    string
	}{
		{"create n1 q1; wait 800ms; ready q1; wait 1s; ready q1", "starts [1] ends []", "from its creation until it is ready for the first time"},
		{"ready p0", "starts [] ends []", "of a pod whose creation was not seen nothing is known"},
		{"create n1 q1; crash q1; wait 9s; ready q1", "starts [] ends []", "one that restarted took longer than one does"},
		{"create n1 q1; wait 900ms; delete q1; wait 1s; ready q1", "starts [] ends []", "one that is deleted before never starts"},
		{"delete p0; wait 1400ms; delete p0; wait 200ms; gone p0", "starts [] ends [2]", "from its deletion until it is gone"},
		{"gone p0", "starts [] ends []", "one that goes without a mark does not take its time"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			f := follow(t, "O -")
			f.run(tt.script)
			if got := fmt.Sprintf("starts %.3g ends %.3g", f.learnt.Starts, f.learnt.Ends); got != tt.want {
				t.Errorf("%s: %s, want %s", tt.script, got, tt.want)
			}
		})
	}
	told := func(n int) string {
		l := timing.Learnt{Starts: []float64{9, 7, 5}[:n], Ends: []float64{2, 3, 4}[:n]}
		m := timing.Measured{Starts: []float64{100}, StartSource: timing.SourcePods, Ends: []float64{30}, EndSource: timing.SourceGracePeriod}
		l.Teach(&m)
		return fmt.Sprintf("%v %s %v %s", m.Starts, m.StartSource, m.Ends, m.EndSource)
	}
	if got := told(0); got != "[100] Pods [30] GracePeriod" {
		t.Errorf("none: %s", got)
	}
	if got := told(2); got != "[100] Pods [2 3] Watch" {
		t.Errorf("two tell too little of starts, but more of ends than a bound does: %s", got)
	}
	if got := told(3); got != "[5 7 9] Watch [2 3 4] Watch" {
		t.Errorf("three tell: %s", got)
	}
}

// TestExpectationIsWhatABatchAdmits checks that an expectation fits the same acts as the batches of its step, in any
// order.
func TestExpectationIsWhatABatchAdmits(t *testing.T) {
	item := func(text string) daemonset.Item {
		node, pod, _ := strings.Cut(text, "/")
		return daemonset.Item{Node: node, Pod: pod}
	}
	from := func(texts ...string) (out []daemonset.Item) {
		for _, text := range texts {
			out = append(out, item(text))
		}
		return out
	}
	all := from("n1/a", "n1/b", "n1/c", "n2/d", "n2/e", "n3/f", "n4/g", "n5/h")
	b := daemonset.Batch{
		Certain: from("n4/g", "n5/h"),
		Choices: []daemonset.Choice{{Count: 2, PerNode: 1, From: from("n1/a", "n1/b", "n2/d")}, {Count: 1, From: from("n2/e", "n3/f")}},
	}
	admitted := 0
	for set := range 1 << len(all) {
		e := expect(&daemonset.Step{Deletes: b})
		var taken []daemonset.Item
		fits := true
		for i := range all {
			if set&(1<<i) == 0 {
				continue
			}
			taken = append(taken, all[i])
			if a := (act{item: all[i]}); fits && e.fits(a) {
				e.take(a)
				fits = !e.fits(a) // nothing is taken twice
			} else {
				fits = false
			}
		}
		if got, want := fits && e.done(), b.Admits(taken); got != want {
			t.Errorf("%v: %t, want %t", taken, got, want)
		} else if want {
			admitted++
		}
	}
	if admitted != 4 { // a or b with d, and e or f
		t.Errorf("%d sets are admitted", admitted)
	}
}

// TestFollowerAgreesWithTheModel checks that the predicted step of a random state counts as predicted, regardless of
// which of its choices is taken.
func TestFollowerAgreesWithTheModel(t *testing.T) {
	batches := 0
	for seed := range cases.Of(int64(42)) {
		s := dstest.Anywhere(seed, "v1.37.1")
		st, err := daemonset.StateOf(s)
		if err != nil {
			t.Fatal(err)
		}
		f := NewFollower(st, plan.Options{})
		step := st.Sync()
		at := s.TakenAt
		var out []Happening
		act := func(object *corev1.Pod) {
			out = append(out, f.See(at, object, false)...)
		}
		for n, i := range drawn(step.Creates) {
			p := (&followed{Follower: f, at: at}).created(i.Node, fmt.Sprintf("new%d", n))
			p.OwnerReferences[0].UID = s.DaemonSet.UID
			act(p)
		}
		for _, i := range drawn(step.Deletes) {
			p := f.objects.get(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: i.Pod}}).(*corev1.Pod).DeepCopy()
			if !f.owns(p) {
				continue // the same sync first adopts an orphan, which the Follower does not report
			}
			now := metav1.NewTime(at)
			p.DeletionTimestamp = &now
			act(p)
		}
		for _, h := range out {
			if h.Kind != AsPredicted {
				t.Errorf("seed %d: %+v, predicted %+v", seed, h, step)
			}
			batches++
		}
	}
	if batches < cases.Least(17) {
		t.Errorf("only %d batches", batches)
	}
}

// drawn picks from the end of each choice.
func drawn(b daemonset.Batch) []daemonset.Item {
	out := b.Certain
	for _, c := range b.Choices {
		perNode := map[string]int{}
		for n := len(c.From) - 1; n >= 0 && len(out) < b.Len(); n-- {
			if i := c.From[n]; c.PerNode == 0 || perNode[i.Node] < c.PerNode {
				perNode[i.Node]++
				out = append(out, i)
			}
		}
	}
	return out
}

func newState(t testing.TB, s *snapshot.Snapshot) *daemonset.State {
	t.Helper()
	st, err := daemonset.StateOf(s)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func past(d time.Duration) metav1.Time { return metav1.NewTime(dstest.Now.Add(-d)) }

// unreachableNode makes the kubelet of a node silent.
func unreachableNode(name string) dstest.Option {
	return dstest.Node(name, func(n *corev1.Node) {
		n.Status.Conditions = []corev1.NodeCondition{
			{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, LastTransitionTime: past(time.Hour)},
		}
	})
}

func crashingPod(name string) dstest.Option {
	return dstest.Pod(name, func(p *corev1.Pod) {
		waiting := &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{
			{Name: "agent", RestartCount: 5, State: corev1.ContainerState{Waiting: waiting}},
		}
	})
}

func youngPod(name string) dstest.Option {
	return dstest.Pod(name, func(p *corev1.Pod) { p.CreationTimestamp = past(5 * time.Second) })
}

// refusedCreates makes the API server reject new pods.
func refusedCreates() dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) {
		s.Events = append(s.Events, corev1.Event{
			InvolvedObject: corev1.ObjectReference{Kind: "DaemonSet", Name: s.DaemonSet.Name, UID: s.DaemonSet.UID},
			Reason:         "FailedCreate", Message: "Error creating: forbidden", Count: 3,
			LastTimestamp: past(time.Minute),
		})
	})
}
