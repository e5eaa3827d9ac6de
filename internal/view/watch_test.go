package view

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan/follow"
)

var fourOClock = time.Date(2026, 11, 20, 16, 4, 11, 0, time.UTC)

// progress returns a rollout with 30 of 36 pods updated and 33 available, modified by change.
func progress(change func(*follow.Progress)) *follow.Progress {
	p := &follow.Progress{
		Counts:  daemonset.Counts{Desired: 36, Current: 36, Updated: 30, Available: 33, Unavailable: 3},
		Batches: 24, AsPredicted: 24,
		Next: daemonset.Step{Kind: daemonset.StepNone, Reason: daemonset.StepBudgetSpent, Exact: true},
		Outcome: plan.Outcome{Code: plan.Completes, Steps: 2, Duration: &plan.Duration{Optimistic: 60, Expected: 100,
			Pessimistic: 110}},
	}
	p.Header.DaemonSet = daemonset.Ref{Namespace: "kube-system", Name: "node-agent", Strategy: "RollingUpdate"}
	p.Header.Snapshot.TakenAt = fourOClock
	if change != nil {
		change(p)
	}
	return p
}

func held(code daemonset.Reason, nodes ...string) []plan.Holder {
	var out []plan.Holder
	for _, n := range nodes {
		out = append(out, plan.Holder{Node: n, Cause: &cause.Cause{Code: code, Severity: cause.SeverityError}})
	}
	return out
}

// late makes the rollout wait for two pods that take longer than all others did, and that use up the limit.
func late(p *follow.Progress) {
	since := fourOClock.Add(-90 * time.Second)
	p.Outcome.Duration, p.Outcome.Late = nil, held(cause.ProbeFailing, "node-07", "node-09")
	for i := range p.Outcome.Late {
		p.Outcome.Late[i].Since, p.Outcome.Late[i].Facts = &since, daemonset.Facts{"container": "agent", "late": true,
			"message": "Readiness probe failed: HTTP probe failed with statuscode: 503"}
	}
}

func items(texts ...string) []daemonset.Item {
	var out []daemonset.Item
	for _, text := range texts {
		node, pod, _ := strings.Cut(text, "/")
		out = append(out, daemonset.Item{Node: node, Pod: pod})
	}
	return out
}

func TestWatchLine(t *testing.T) {
	otherwise := func(h follow.Happening, creates, deletes int) follow.Happening {
		h.Kind, h.Expected.Creates, h.Expected.Deletes = follow.Otherwise, creates, deletes
		return h
	}
	for _, tt := range []struct {
		h    follow.Happening
		p    *follow.Progress
		want string
		why  string
	}{
		{
			follow.Happening{Kind: follow.AsPredicted, Deletes: items("node-07/a", "node-09/b", "node-12/c")},
			progress(nil),
			"deleted 3 of 3 predicted (node-07, node-09, node-12); 30 of 36 updated, 33 available, about 1m40s left, " +
				"complete between 16:05:11 and 16:06:01",
			"a batch as predicted, and how far the rollout is",
		},
		{
			follow.Happening{Kind: follow.AsPredicted, Creates: items("n1", "n2", "n3", "n4", "n5", "n6", "n7"),
				Deletes: items("n9/p9")}, nil,
			"deleted 1 of 1 predicted (n9), created 7 of 7 predicted (n1, n2, n3 +4 more)",
			"both in one step, names folded; more follows",
		},
		{
			otherwise(follow.Happening{Deletes: items("node-07/agent-x")}, 0, 0), nil,
			"not as predicted: 1 pod deleted: agent-x on node-07 (predicted: nothing; somebody else may have done it)",
			"a deletion that no state explains",
		},
		{
			otherwise(follow.Happening{Deletes: items("node-07/agent-x")}, 0, 3), nil,
			"not as predicted: 1 pod deleted: agent-x on node-07 (predicted: 3 deletes)",
			"a part of what was predicted",
		},
		{
			otherwise(follow.Happening{Creates: items("node-07", "node-08")}, 1, 0), nil,
			"not as predicted: 2 pods created: node-07, node-08 (predicted: 1 create)",
			"more than was predicted",
		},
		{
			otherwise(follow.Happening{Creates: items("node-07")}, 0, 0), nil,
			"not as predicted: 1 pod created: node-07 (predicted: nothing)",
			"creates are nobody else's",
		},
		{
			follow.Happening{Kind: follow.Evicted, Deletes: items("node-07/agent-x"), By: "EvictionByEvictionAPI"}, nil,
			"pod agent-x on node-07 was taken away (EvictionByEvictionAPI)",
			"an eviction says who it was",
		},
		{follow.Happening{Kind: follow.Unjudged, Creates: items("node-07")}, nil,
			"created a pod on node-07, which cannot be predicted without nodes", "a creation, without nodes"},
		{follow.Happening{Kind: follow.Changed, Generation: 7}, nil, "the DaemonSet was changed, to generation 7",
			"a second change half-way"},
		{
			follow.Happening{Kind: follow.Evicted, Deletes: items("\x1b[2Jnode/po\x1bd"), By: "\x1b[31mred"}, nil,
			`pod po\u001bd on \u001b[2Jnode was taken away (\u001b[31mred)`,
			"words of the cluster are cleaned",
		},
		{
			follow.Happening{Kind: follow.Changed, Generation: 7}, progress(func(p *follow.Progress) {
				p.Outcome = plan.Outcome{Code: plan.Stalls, Reason: daemonset.StepBudgetSpent, Steps: 2, Replaced: 3,
					Holders: held(cause.CrashLoopBackOff, "n1", "n2")}
			}),
			"the DaemonSet was changed, to generation 7; 30 of 36 updated, 33 available, stalls after 3 pods more: " +
				"n1, n2 (CrashLoopBackOff) use up the limit",
			"a rollout that will stall",
		},
		{
			follow.Happening{Kind: follow.Changed, Generation: 7}, progress(late),
			"the DaemonSet was changed, to generation 7; 30 of 36 updated, 33 available, time left unknown: waiting " +
				"for node-07, node-09 (ProbeFailing for 1m30s)",
			"pods take longer than all others did: no time is shown",
		},
		{
			follow.Happening{Kind: follow.Changed, Generation: 7},
			progress(func(p *follow.Progress) { p.Outcome.Duration = nil }),
			"the DaemonSet was changed, to generation 7; 30 of 36 updated, 33 available, 2 steps left",
			"no pod shows how long it takes",
		},
	} {
		t.Run(tt.why, func(t *testing.T) {
			tt.h.At = fourOClock
			if diff := cmp.Diff("16:04:11 "+tt.want, WatchLine(tt.h, tt.p, wording.Style{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWatchEnds(t *testing.T) {
	ended := func(end follow.End, change func(*follow.Progress)) *follow.Progress {
		return progress(func(p *follow.Progress) {
			p.End = end
			if change != nil {
				change(p)
			}
		})
	}
	whole := func(p *follow.Progress) {
		p.Counts.Updated, p.Counts.Available, p.Outcome = 36, 36, plan.Outcome{Code: plan.NothingToDo}
	}
	stalled := func(reason daemonset.Reason, further int, holders ...plan.Holder) func(*follow.Progress) {
		return func(p *follow.Progress) {
			p.Outcome = plan.Outcome{Code: plan.Stalls, Reason: reason, Holders: holders, FurtherHolders: further}
		}
	}
	for _, tt := range []struct {
		p         *follow.Progress
		ended     string
		want, why string
	}{
		{ended(follow.EndDone, whole), "", "done: 36 of 36 updated, 36 available; 24 batches, all as predicted",
			"to the end"},
		{ended(follow.EndDone, func(p *follow.Progress) { whole(p); p.AsPredicted = 23 }), "",
			"done: 36 of 36 updated, 36 available; 24 batches, 23 of them as predicted", "not all as predicted"},
		{ended(follow.EndDone, func(p *follow.Progress) { whole(p); p.Batches, p.AsPredicted = 1, 1 }), "",
			"done: 36 of 36 updated, 36 available; 1 batch, as predicted", "a single batch"},
		{ended(follow.EndDone, func(p *follow.Progress) { whole(p); p.Batches, p.AsPredicted = 0, 0 }), "",
			"no rollout in progress: 36 of 36 updated, 36 available; no batch came", "nothing to follow"},
		{
			ended(follow.EndDegraded, func(p *follow.Progress) {
				whole(p)
				p.Counts.Available = 35
				p.Outcome.Holders = held(cause.ImagePullBackOff, "n7")
			}),
			"", "done, but degraded: 36 of 36 updated, 35 available, without an available pod: n7 " +
				"(ImagePullBackOff); 24 batches, all as predicted", "with a node that has no available pod",
		},
		{ended(follow.EndStuck, stalled(daemonset.StepBudgetSpent, 0,
			held(cause.CrashLoopBackOff, "n1", "n2", "n3")...)), "", "stuck: 30 of 36 updated, 33 available, n1, n2, " +
			"n3 (CrashLoopBackOff) use up the limit; 24 batches, all as predicted", "the nodes that use up the limit"},
		{ended(follow.EndStuck, stalled(daemonset.StepBudgetSpent, 0, held(cause.NodeNotReady, "n1")...)), "",
			"stuck: 30 of 36 updated, 33 available, n1 (NodeNotReady) uses up the limit; 24 batches, all as predicted",
			"one alone"},
		{ended(follow.EndStuck, stalled(daemonset.StepBudgetSpent, 2, held(cause.NodeNotReady, "n1")...)), "",
			"stuck: 30 of 36 updated, 33 available, n1 and 2 more (NodeNotReady) use up the limit; 24 batches, all " +
				"as predicted", "some of these nodes are unknown"},
		{ended(follow.EndStuck, stalled(cause.FailedCreate, 0, held(cause.FailedCreate, "n1")...)), "",
			"stuck: 30 of 36 updated, 33 available, n1 (FailedCreate); 24 batches, all as predicted",
			"pods are refused"},
		{ended(follow.EndStuck, stalled(daemonset.InvalidBudget, 0)), "", "stuck: 30 of 36 updated, 33 available, " +
			"maxUnavailable or maxSurge cannot be resolved, so every step fails; 24 batches, all as predicted",
			"nobody in particular"},
		{ended(follow.EndNotRolling, func(p *follow.Progress) {
			p.Header.DaemonSet.Strategy, p.Outcome = "OnDelete",
				plan.Outcome{Code: plan.NotRolling, Reason: daemonset.StepOnDelete}
		}), "", "no rollout: every node has its pod, and with OnDelete the controller replaces none, 30 of 36 " +
			"updated, 33 available; 24 batches, all as predicted", "OnDelete"},
		{ended(follow.EndGone, nil), "", "the DaemonSet was deleted: 30 of 36 updated, 33 available; 24 batches, all " +
			"as predicted", "deleted"},
		{ended("", nil), "timeout after 5m0s", "timeout after 5m0s with 30 of 36 updated, 33 available, about 1m40s " +
			"left, complete between 16:05:11 and 16:06:01; 24 batches, all as predicted", "too slow"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			if diff := cmp.Diff("16:04:11 "+tt.want, WatchEnds(tt.p, tt.ended, wording.Style{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWatchBegins(t *testing.T) {
	p := progress(func(p *follow.Progress) {
		p.Next = daemonset.Step{Kind: daemonset.StepRollingUpdate, Exact: true, Deletes: daemonset.Batch{
			Certain: items("n1/p1"), Choices: []daemonset.Choice{{Count: 2, From: items("n2/p2", "n3/p3", "n4/p4")}},
		}}
	})
	want := "16:04:11 following kube-system/node-agent: 30 of 36 updated, 33 available, about 1m40s left, complete " +
		"between 16:05:11 and 16:06:01; next: delete any 3 of 4"
	if diff := cmp.Diff(want, WatchBegins(p, wording.Style{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want = strings.Replace(want, "delete any 3 of 4",
		"the controller waits for a pod to become available, because the limit of the rollout is reached", 1)
	if diff := cmp.Diff(want, WatchBegins(progress(nil), wording.Style{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestWatchWaits checks that a line says once which nodes the rollout waits for.
func TestWatchWaits(t *testing.T) {
	p := progress(late)
	want := "16:04:11 30 of 36 updated, 33 available, time left unknown: waiting for node-07, node-09 (ProbeFailing " +
		"for 1m30s)"
	if diff := cmp.Diff(want, WatchWaits(p, wording.Style{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWatchOwed(t *testing.T) {
	p := progress(func(p *follow.Progress) {
		p.Next = daemonset.Step{Kind: daemonset.StepManage, Exact: true, Creates: daemonset.Batch{Certain: items("n1")}}
		p.Owed = 75 * time.Second
	})
	if diff := cmp.Diff("predicted: create 1; the controller has not done it for 1m15s",
		WatchOwed(p, wording.Style{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestVerdictAbout checks that different numbers and times do not change the key of a verdict.
func TestVerdictAbout(t *testing.T) {
	about := func(grid string, later time.Duration) string {
		s := dstest.State(grid)
		s.TakenAt = s.TakenAt.Add(later)
		return VerdictAbout(explained(t, s, explain.Options{}))
	}
	for _, tt := range []struct {
		a, b string
		same bool
		why  string
	}{
		{"N N O O", "N N O O", true, "time passes"},
		{"N N O O", "N N N O", true, "one more pod is updated"},
		{"N N N N", "N N N N N", true, "a node more"},
		{"N N N N", "N N N nf", false, "a pod fails"},
		{"N N N nf", "N N nf N", false, "another one does"},
		{"N N N nf", "N nf nf nf", false, "more of them do"},
	} {
		if a, b := about(tt.a, 0), about(tt.b, time.Minute); (a == b) != tt.same {
			t.Errorf("%s:\n%s\n%s", tt.why, a, b)
		}
	}
}

// TestLiveDisconnected checks that the headline says when the screen is not up to date, and that the screen then does
// not predict the end of the rollout.
func TestLiveDisconnected(t *testing.T) {
	for _, w := range liveWorlds(t) {
		l := liveOf(t, w.s)
		l.Lost, l.Clock = w.s.TakenAt.Add(-time.Minute), w.s.TakenAt.Add(time.Hour)
		var b bytes.Buffer
		check(t, LiveScreen(&b, l, askable, wording.Style{Width: 160}, 49))
		head, _, _ := strings.Cut(b.String(), "\n")
		if !strings.Contains(head, "not connected since "+l.Lost.Format(wording.ClockTime)+"; last seen: ") ||
			!strings.HasSuffix(head, l.Clock.Format(wording.ClockTime)) ||
			strings.Contains(head, "no progress") || strings.Contains(b.String(), "complete between") ||
			!strings.Contains(b.String(), "Outlook   unknown: ") {
			t.Errorf("%s:\n%s", w.name, &b)
		}
	}
}

// TestRemaining checks what TestWatchLine does not cover.
func TestRemaining(t *testing.T) {
	for _, tt := range []struct {
		change func(*plan.Outcome)
		want   string
	}{
		{func(o *plan.Outcome) { o.Code = plan.RemovesAllPods }, ", no node is eligible, and all pods are removed"},
		{func(o *plan.Outcome) { o.Code = plan.NothingToDo }, ""},
		{func(o *plan.Outcome) { o.Late = held(cause.ProbeFailing, "node-07") },
			", about 1m40s left, complete between 16:05:11 and 16:06:01, if the pod on node-07 becomes Ready " +
				"(ProbeFailing)"},
		{func(o *plan.Outcome) {
			o.Code, o.Late = plan.MayComplete, held(cause.ProbeFailing, "node-07", "node-09")
		},
			", about 1m40s left, complete between 16:05:11 and 16:06:01, if the pods on node-07, node-09 become " +
				"Ready (ProbeFailing)"},
	} {
		p := progress(func(p *follow.Progress) { tt.change(&p.Outcome) })
		if got := remainingWords(p); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
