package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// TestWatch follows rollouts through a pipe, as a user who may only read, until they end.
func TestWatch(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newStage(t, stage.Options{})
	const nodes = 14
	const broken = "acme/node-agent:crashes"
	must(t, c.AddNodes(ctx, stage.Nodes(nodes, "node-%02d")...))
	must(t, c.SetRules(ctx, stage.Rule{Image: broken, Behave: stage.Crash}))
	ds := stage.NewDaemonSet("kube-system", "node-agent", "acme/node-agent:1")
	ds.Spec.Template.Annotations = map[string]string{
		stage.ReadyAfter: "600ms", stage.ReadyBefore: "1400ms", stage.StopAfter: "800ms", stage.StopBefore: "1200ms",
	}
	must(t, c.Create(ctx, ds))
	must(t, c.WaitRollout(ctx, ds.Namespace, ds.Name))
	limit := func(unavailable, surge int32) {
		t.Helper()
		must(t, c.Update(ctx, ds.Namespace, ds.Name, func(ds *appsv1.DaemonSet) {
			u, s := intstr.FromInt32(unavailable), intstr.FromInt32(surge)
			ds.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &u, MaxSurge: &s}
		}))
	}

	t.Run("nothing is rolling", func(t *testing.T) {
		w := watched(t, c, ds, stage.Reader)
		if w.Code != 0 || len(w.lines) != 1 || !strings.HasSuffix(w.last(), " no rollout in progress: 14 of 14 updated, 14 available; no batch came") {
			t.Errorf("ended with %d:\n%s", w.Code, w.Stdout)
		}
	})
	for _, tt := range []struct {
		name               string
		unavailable, surge int32
		image              string
		batches            int // minimum
	}{
		{"three nodes at a time", 3, 0, "acme/node-agent:2", 9},
		{"two surging at a time", 0, 2, "acme/node-agent:3", 14},
	} {
		t.Run(tt.name, func(t *testing.T) {
			limit(tt.unavailable, tt.surge)
			must(t, c.SetImage(ctx, ds.Namespace, ds.Name, tt.image))
			var w watching
			asked := requests(t, c, func() { w = watched(t, c, ds, stage.Reader) })
			if w.Code != 0 || w.Stderr != "" {
				t.Errorf("ended with %d: %s", w.Code, w.Stderr)
			}
			if !strings.Contains(w.last(), " done: 14 of 14 updated, 14 available; ") {
				t.Errorf("the last line is %q", w.last())
			}
			batches, predicted := w.batches(t)
			if batches < tt.batches || 10*predicted < 9*batches {
				t.Errorf("%d batches, %d as predicted: at least %d are needed, 9 of 10 as predicted\n%s", batches, predicted, tt.batches, w.Stdout)
			}
			t.Logf("%d batches, %d as predicted\n%s", batches, predicted, w.Stdout)
			onceEach(t, asked)
		})
	}
	t.Run("on a terminal", func(t *testing.T) {
		limit(3, 0)
		must(t, c.SetImage(ctx, ds.Namespace, ds.Name, "acme/node-agent:terminal"))
		cmd := c.KubectlCommand(ctx, stage.Reader, "ds", "plan-rollout", "-n", ds.Namespace, ds.Name, "--watch", "--exit-code")
		cmd.Env = append(cmd.Env, "TERM=xterm-256color")
		began := time.Now()
		lines, redrawn := shown(t, onTerminal(t, cmd, sameSize))
		took := time.Since(began)
		screen := strings.Join(lines, "\n")
		if cmd.ProcessState.ExitCode() != 0 || !strings.Contains(screen, " done: 14 of 14 updated, 14 available; ") {
			t.Errorf("ended with %d", cmd.ProcessState.ExitCode())
		}
		for _, words := range []string{"HEALTHY  kube-system/node-agent: 14 of 14 pods available and updated", "  node-  01 02 03", "# updated and available  14", "Last      ", "as predicted", "all as predicted"} {
			if !strings.Contains(screen, words) {
				t.Errorf("the screen lacks %q", words)
			}
		}
		if strings.Count(screen, "HEALTHY  ") != 1 || len(lines) > 24 {
			t.Error("something was left of an earlier screen")
		}
		for _, l := range lines {
			if len(l) > 80 {
				t.Errorf("%d columns: %s", len(l), l)
			}
		}
		if most := int(took.Seconds()) + 2; redrawn < 3 || redrawn > most {
			t.Errorf("drawn anew %d times in %s", redrawn, took)
		}
		t.Logf("drawn anew %d times in %s\n%s", redrawn, took, screen)
	})
	t.Run("on a terminal that shrinks", func(t *testing.T) {
		cmd := c.KubectlCommand(ctx, stage.Reader, "ds", "explain", "-n", ds.Namespace, ds.Name, "--watch")
		cmd.Env = append(cmd.Env, "TERM=xterm-256color")
		const top = "\x1b[H\x1b[J" // beginning of each screen
		shrunk, ended := 0, false
		written := onTerminal(t, cmd, func(written string) (lines, columns uint16) {
			switch {
			case shrunk == 0 && strings.Contains(written, "(Ctrl-C quits)"):
				shrunk = len(written)
				return 12, 50
			case !ended && shrunk > 0 && strings.Count(written[shrunk:], top) > 1: // the second of them has the new size
				ended = true
				must(t, cmd.Process.Signal(os.Interrupt))
			}
			return 0, 0
		})
		lines, _ := shown(t, written[strings.LastIndex(written, top):])
		if strings.Count(strings.Join(lines, "\n"), "HEALTHY  ") != 1 || len(lines) > 12 {
			t.Errorf("something was left of an earlier screen:\n%s", strings.Join(lines, "\n"))
		}
		for _, l := range lines[:len(lines)-2] { // the last one, about the end, may be wider
			if len(l) > 50 {
				t.Errorf("%d columns: %s", len(l), l)
			}
		}
	})
	t.Run("as documents, a line each", func(t *testing.T) {
		must(t, c.SetImage(ctx, ds.Namespace, ds.Name, "acme/node-agent:documents"))
		w := watched(t, c, ds, stage.Reader, "-o", "json")
		if w.Code != 0 || w.Stderr != "" || len(w.lines) < 3 {
			t.Errorf("%d lines, ended with %d: %s", len(w.lines), w.Code, w.Stderr)
		}
		done := 0
		for i, line := range w.lines {
			var p struct {
				Kind    string
				Outcome struct{ Code string }
			}
			must(t, json.Unmarshal([]byte(line), &p))
			nothing := p.Outcome.Code == "NothingToDo"
			if last := i == len(w.lines)-1; p.Kind != "RolloutPlan" || last && !nothing || i == 0 && nothing {
				t.Errorf("line %d of %d is %+v", i, len(w.lines), p)
			}
			if nothing {
				done++
			}
		}
		if done > 2 { // the last pod may report once more
			t.Errorf("%d of %d lines have nothing to do", done, len(w.lines))
		}
	})
	t.Run("explain goes on when all is well", func(t *testing.T) {
		explained := func(flags ...string) stage.Result {
			r, err := c.KubectlAs(ctx, stage.Reader, append([]string{"ds", "explain", "-n", ds.Namespace, ds.Name, "--watch", "--exit-code", "--timeout", "2s"}, flags...)...)
			must(t, err)
			return r
		}
		if r := explained(); r.Code != 0 || !strings.HasSuffix(r.Stdout, " timeout after 2s with 14 of 14 updated, 14 available; no batch came\n") {
			t.Errorf("ended with %d: %s\n%s", r.Code, r.Stderr, r.Stdout)
		}
		r := explained("-o", "json")
		for line := range strings.Lines(r.Stdout) {
			var e struct{ Verdict struct{ Code string } }
			must(t, json.Unmarshal([]byte(line), &e))
			if e.Verdict.Code != "Healthy" {
				t.Errorf("it is %+v", e)
			}
		}
		if r.Code != 0 || strings.Count(r.Stdout, "\n") != 2 {
			t.Errorf("a document at the start and one at the end; ended with %d: %s\n%s", r.Code, r.Stderr, r.Stdout)
		}
	})
	t.Run("by a user who may not read nodes", func(t *testing.T) {
		must(t, c.AllowNamespace(ctx, ds.Namespace))
		limit(3, 0)
		must(t, c.SetImage(ctx, ds.Namespace, ds.Name, "acme/node-agent:4"))
		w := watched(t, c, ds, stage.OneNamespace)
		if w.Code != 0 || strings.Count(w.Stderr, "\n") != 1 || !strings.HasPrefix(w.Stderr, "note: nodes: not allowed to read") || !strings.Contains(w.last(), " done: ") {
			t.Errorf("ended with %d: %s\n%s", w.Code, w.Stderr, w.Stdout)
		}
		batches, predicted := w.batches(t)
		if batches < 5 || 10*predicted < 9*batches || strings.Count(w.Stdout, "which cannot be predicted without nodes") < 5 {
			t.Errorf("%d batches, %d as predicted", batches, predicted)
		}
		t.Logf("%s", w.Stdout)
	})
	t.Run("somebody deletes a pod meanwhile", func(t *testing.T) {
		limit(1, 0)
		must(t, c.SetImage(ctx, ds.Namespace, ds.Name, "acme/node-agent:5"))
		victim := ""
		w := watchedBy(t, c, ds, stage.Reader, func(line string) {
			node := regexp.MustCompile(` deleted 1 of 1 predicted \((node-\d\d)\)`).FindStringSubmatch(line)
			if node == nil || victim != "" {
				return
			}
			// The budget is used up for some seconds: the controller deletes none.
			for name, pod := range podsOf(t, c, ds) {
				if name != node[1] && pod.DeletionTimestamp == nil {
					victim = pod.Name + " on " + name
					must(t, c.Client.CoreV1().Pods(ds.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{}))
					return
				}
			}
		})
		if w.Code != 0 || !strings.Contains(w.Stdout, "not as predicted: 1 pod deleted: "+victim+" (predicted: nothing; somebody else may have done it)") {
			t.Errorf("ended with %d, deleted was %s\n%s", w.Code, victim, w.Stdout)
		}
		if batches, predicted := w.batches(t); predicted != batches-1 {
			t.Errorf("%d batches, %d as predicted", batches, predicted)
		}
	})
	t.Run("until --timeout", func(t *testing.T) {
		limit(1, 0)
		// 14 nodes one by one take longer, and none is stuck.
		must(t, c.SetImage(ctx, ds.Namespace, ds.Name, "acme/node-agent:7"))
		w := watched(t, c, ds, stage.Reader, "--timeout", "2s")
		if w.Code != 2 || !strings.Contains(w.last(), " timeout after 2s with ") {
			t.Errorf("ended with %d:\n%s", w.Code, w.Stdout)
		}
	})
	t.Run("until it is stuck", func(t *testing.T) {
		limit(2, 0)
		must(t, c.SetImage(ctx, ds.Namespace, ds.Name, broken))
		w := watched(t, c, ds, stage.Reader)
		if w.Code != 3 || !strings.Contains(w.last(), " stuck: ") || !strings.Contains(w.last(), "(CrashLoopBackOff) use up the limit; ") {
			t.Errorf("ended with %d:\n%s", w.Code, w.Stdout)
		}
		if w.Stderr != "hint: kubectl ds plan-rollout -n kube-system node-agent\n" {
			t.Errorf("beside it stands %q", w.Stderr)
		}
		held := 0
		for name, pod := range podsOf(t, c, ds) {
			if !stage.PodReady(pod) {
				held++
				if !strings.Contains(w.last(), name) {
					t.Errorf("%s holds the budget and is not named in %q", name, w.last())
				}
			}
		}
		if held != 2 {
			t.Errorf("%d nodes hold the budget", held)
		}
		t.Logf("%s", w.Stdout)
	})
	t.Run("until the DaemonSet is deleted", func(t *testing.T) {
		must(t, c.SetImage(ctx, ds.Namespace, ds.Name, "acme/node-agent:6"))
		deleted := false
		w := watchedBy(t, c, ds, stage.Reader, func(string) {
			if !deleted {
				deleted = true
				must(t, c.Client.AppsV1().DaemonSets(ds.Namespace).Delete(ctx, ds.Name, metav1.DeleteOptions{}))
			}
		})
		if w.Code != 1 || w.Stderr != "error: daemonset kube-system/node-agent was deleted\n" || !strings.Contains(w.last(), " the DaemonSet was deleted: ") {
			t.Errorf("ended with %d: %s\n%s", w.Code, w.Stderr, w.Stdout)
		}
	})
}

// sameSize does not resize the terminal.
func sameSize(string) (lines, columns uint16) { return 0, 0 }

// watching is the output of a watch.
type watching struct {
	stage.Result
	lines []string
}

func (w *watching) last() string {
	if len(w.lines) == 0 {
		return ""
	}
	return w.lines[len(w.lines)-1]
}

// batches parses the last line.
func (w *watching) batches(t *testing.T) (all, predicted int) {
	t.Helper()
	m := regexp.MustCompile(`; (\d+) batch(?:es)?, (?:(\d+) of them|all )?`).FindStringSubmatch(w.last())
	if m == nil {
		t.Fatalf("the last line does not count batches: %q", w.last())
	}
	all, err := strconv.Atoi(m[1])
	must(t, err)
	if predicted = all; m[2] != "" {
		predicted, err = strconv.Atoi(m[2])
		must(t, err)
	}
	return all, predicted
}

// watched follows the DaemonSet's rollout until it ends.
func watched(t *testing.T, c *stage.Cluster, ds *appsv1.DaemonSet, user string, flags ...string) watching {
	t.Helper()
	return watchedBy(t, c, ds, user, func(string) {}, flags...)
}

// watchedBy does the same and passes each line to a function as it arrives.
func watchedBy(t *testing.T, c *stage.Cluster, ds *appsv1.DaemonSet, user string, see func(string), flags ...string) watching {
	t.Helper()
	args := append([]string{"ds", "plan-rollout", "-n", ds.Namespace, ds.Name, "--watch", "--exit-code"}, flags...)
	if !slices.Contains(flags, "--timeout") {
		args = append(args, "--timeout", "2m") // no rollout here takes so long
	}
	cmd := c.KubectlCommand(t.Context(), user, args...)
	out, err := cmd.StdoutPipe()
	must(t, err)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	must(t, cmd.Start())
	var w watching
	for lines := bufio.NewScanner(out); lines.Scan(); {
		w.lines = append(w.lines, lines.Text())
		see(lines.Text())
	}
	_ = cmd.Wait() // its status is in the output
	w.Stdout, w.Stderr, w.Code = strings.Join(w.lines, "\n"), errs.String(), cmd.ProcessState.ExitCode()
	return w
}

// onceEach checks that each kind was listed once and watched once, with few other requests.
func onceEach(t *testing.T, asked []stage.AuditEntry) {
	t.Helper()
	count := map[string]int{}
	for _, e := range asked {
		if e.Verb != "watch" || e.Stage == "ResponseStarted" { // the end of a watch is a separate line
			count[e.Verb+" "+e.Resource]++
		}
	}
	want := map[string]int{"get daemonsets": 1, "get ": 1} // and its version
	for _, kind := range []string{"daemonsets", "pods", "nodes", "controllerrevisions", "events"} {
		want["list "+kind], want["watch "+kind] = 1, 1
	}
	for what, n := range want {
		if count[what] != n {
			t.Errorf("asked to %s %d times, want %d", what, count[what], n)
		}
		delete(count, what)
	}
	for what, n := range count {
		t.Errorf("asked to %s %d times", what, n)
	}
}
