package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/scene"
	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// explanation is the part of the JSON contract that these tests use.
type explanation struct {
	Verdict struct{ Code string }
	Status  struct {
		Reported counts
		Computed *counts
		Agrees   *bool
	}
	Budget struct {
		Holders []struct{ Node, Reason string }
	}
	Problems []struct {
		Code  string
		Nodes []string
		Facts map[string]any
	}
	Next struct {
		Step    string
		Creates struct{ Certain, Choices []json.RawMessage }
		Deletes struct{ Certain, Choices []json.RawMessage }
	}
	Snapshot struct {
		Gaps []struct{ What, Why, Consequence string }
	}
	Nodes []struct {
		Name      string
		ShouldRun *struct {
			OK     bool
			Reason string
		}
		Pods []json.RawMessage
	}
}

func (e *explanation) problems() []string {
	codes := []string{}
	for _, p := range e.Problems {
		if !slices.Contains(codes, p.Code) {
			codes = append(codes, p.Code)
		}
	}
	return codes
}

// TestExamples explains every scene as a kubectl plugin, as a user who may only read, and again
// from a snapshot. With RECORD_EXAMPLES=DIR it keeps the snapshots there: they are the project's
// examples, to which test/age gives realistic times.
func TestExamples(t *testing.T) {
	t.Parallel()
	record := os.Getenv("RECORD_EXAMPLES")
	for _, tt := range []struct {
		scene, example string
		verdict        string
		problems       []string // codes, in order
		says           []string // in the text
		why            string
		since          int // first minor version whose controller leaves this state; 0: all
	}{
		{"settled", "settled", "Healthy", []string{"Misscheduled"},
			[]string{"WARNING  ", "DESIRED 9 = 12 nodes - 3 not eligible:", "node-role.kubernetes.io/control-plane:NoSchedule", "the pod needs the label kubernetes.io/os=linux, the node has windows", "node.kubernetes.io/not-ready:NoSchedule", "worker-09"},
			"a settled DaemonSet is healthy, and every node that is left out has a reason", 0},
		{"stuck", "stuck-rollout", "Stuck", []string{"TerminatingOnDeadNode"},
			[]string{"maxUnavailable 10% of 24 nodes = 3 (2.4, rounded up), and 3 are unavailable, so the controller replaces no more pods", "rack-14-07, rack-14-15, rack-14-22", "Fault     the nodes", "kubectl describe node rack-14-07"},
			"dead nodes hold the whole budget, and were dead before the rollout", 28},
		{"crash", "crash-loop", "Stuck", []string{"CrashLoopBackOff"},
			[]string{"exits with code 1", "likely this change, revision 2: all 3 of its pods crash, none of the 9 on revision 1", "--previous", "kubectl rollout undo -n logging daemonset/fluent-bit --to-revision=1"},
			"only the new revision crashes", 0},
		{"image", "image-pull", "Stuck", []string{"ImagePullBackOff"},
			[]string{"prom/node-exporter:v1.9.l", "likely this change, revision 2: all 3 of its pods fail to pull their image, none of the 9 on revision 1"},
			"an image that does not exist", 0},
		{"pending", "pending", "Degraded", []string{"HostPortConflict", "InsufficientResources", "NextRolloutStalls"},
			[]string{"worker-05", "worker-08", "Insufficient cpu", "it would delete only the 2 pods that are not available (worker-05, worker-08), and then stop, since maxUnavailable is 1"},
			"a pending pod names its node, and the scheduler's words about that node only; both use up the limit of the next rollout", 28},
		{"quota", "create-refused", "Degraded", []string{"FailedCreate"},
			[]string{"exceeded quota", "a ResourceQuota rejects 7", "at least 12 pods"},
			"creation refused by a quota", 27},
		{"ondelete", "on-delete", "AwaitingDelete", []string{"OnDeleteOutdated"},
			[]string{"WAITS FOR YOU  ", "the other 9 wait for you to delete them (OnDelete)"},
			"outdated pods wait for a person", 0},
		{"surge", "surge", "Progressing", []string{"ProbeFailing"},
			[]string{"maxSurge 2, and 2 extra pods exist, so the controller starts no more pods"},
			"two new pods that are not ready use up the surge, and may become ready within five minutes", 0},
		{"minready", "min-ready", "Progressing", []string{"NotYetAvailable"},
			[]string{"Ready for less than 30s (minReadySeconds)", "available in"},
			"ready pods that are not yet available", 0},
	} {
		t.Run(tt.scene, func(t *testing.T) {
			t.Parallel()
			// Unavailable old pods use up budget since v1.28.15, and the status is written after a
			// rejected create since v1.27.
			if before(tt.since) {
				t.Skipf("it is so since v1.%d", tt.since)
			}
			ctx := t.Context()
			c := newStage(t, stage.Options{})
			i := slices.IndexFunc(scene.All, func(s struct {
				Name string
				Set  scene.Setting
			}) bool {
				return s.Name == tt.scene
			})
			s, err := scene.All[i].Set(ctx, c)
			must(t, err)
			if tt.scene != "minready" { // it changes by itself within half a minute
				must(t, c.Freeze())
			}
			file := filepath.Join(t.TempDir(), tt.example+".json")
			must(t, os.WriteFile(file, []byte(answer(t, c, stage.Reader, "ds", "snapshot", "-n", s.Namespace, s.Name)), 0o600))

			var live explanation
			must(t, json.Unmarshal([]byte(answer(t, c, stage.Reader, "ds", "explain", "-n", s.Namespace, s.Name, "-o", "json")), &live))
			if live.Verdict.Code != tt.verdict {
				t.Errorf("%s: verdict %s, want %s", tt.why, live.Verdict.Code, tt.verdict)
			}
			if live.Status.Agrees == nil || !*live.Status.Agrees {
				t.Errorf("%s: reported %+v, computed %+v", tt.why, live.Status.Reported, live.Status.Computed)
			}
			if got := live.problems(); !slices.Equal(got, tt.problems) {
				t.Errorf("%s: problems %v, want %v", tt.why, got, tt.problems)
			}
			text := answer(t, c, stage.Reader, "ds", "explain", s.Name, "--from", file, "--all")
			t.Logf("%s", text)
			for _, words := range tt.says {
				if !strings.Contains(text, words) {
					t.Errorf("%s: the text lacks %q", tt.why, words)
				}
			}
			if lines := strings.Count(text, "\n"); lines > 40 {
				t.Errorf("%d lines are too many", lines)
			}
			sameFromSnapshot(t, c, s, file)
			if record != "" {
				raw, err := os.ReadFile(file)
				must(t, err)
				must(t, os.WriteFile(filepath.Join(record, tt.example+".json"), raw, 0o644))
			}
		})
	}
}

// sameFromSnapshot compares the answers of a snapshot with those of the cluster at the same time,
// byte by byte.
func sameFromSnapshot(t *testing.T, c *stage.Cluster, s scene.Scene, file string) {
	t.Helper()
	var taken struct{ TakenAt string }
	raw, err := os.ReadFile(file)
	must(t, err)
	must(t, json.Unmarshal(raw, &taken))
	for _, o := range []string{"json", "wide", ""} {
		args := []string{"ds", "explain", "--now", taken.TakenAt, s.Name}
		if o != "" {
			args = append(args, "-o", o)
		}
		live := answer(t, c, stage.Reader, append(args, "-n", s.Namespace)...)
		recorded := strings.ReplaceAll(answer(t, c, stage.Reader, append(args, "--from", file)...), " --from="+file, "")
		if live != recorded {
			t.Errorf("-o %q: the snapshot's answer is another than the cluster's\n%s\n%s", o, live, recorded)
		}
	}
}

// answer runs kubectl as a user and returns its output. It must succeed with an empty standard
// error.
func answer(t *testing.T, c *stage.Cluster, user string, args ...string) string {
	t.Helper()
	r, err := c.KubectlAs(t.Context(), user, args...)
	must(t, err)
	if r.Code != 0 || r.Stderr != "" {
		t.Fatalf("kubectl %s ended with %d: %s%s", strings.Join(args, " "), r.Code, r.Stdout, r.Stderr)
	}
	return r.Stdout
}
