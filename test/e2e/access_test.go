package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// TestRightsAndRequests checks the answers for users with few rights and the requests to the API
// server, and that nothing is written.
func TestRightsAndRequests(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newStage(t, stage.Options{})
	must(t, c.AddNodes(ctx, stage.Nodes(12, "node-%02d")...))
	ds := stage.NewDaemonSet("kube-system", "node-agent", "acme/node-agent:1")
	must(t, c.Create(ctx, ds))
	for i := range 19 {
		must(t, c.Create(ctx, stage.NewDaemonSet("kube-system", fmt.Sprintf("other-%02d", i), "acme/other:1")))
	}
	must(t, c.WaitRollout(ctx, ds.Namespace, ds.Name))
	for i := range 19 {
		must(t, c.WaitRollout(ctx, ds.Namespace, fmt.Sprintf("other-%02d", i)))
	}

	t.Run("one DaemonSet on 12 nodes takes at most 10 requests", func(t *testing.T) {
		asked := requests(t, c, func() {
			answer(t, c, stage.Reader, "ds", "explain", "-n", ds.Namespace, ds.Name)
		})
		t.Logf("%d requests: %v", len(asked), resources(asked))
		if len(asked) > 10 {
			t.Errorf("%d requests", len(asked))
		}
	})
	t.Run("-A over 20 DaemonSets reads the nodes once", func(t *testing.T) {
		asked := requests(t, c, func() {
			out := answer(t, c, stage.Reader, "ds", "explain", "-A", "--all")
			if n := strings.Count(out, "HEALTHY  "); n != 20 {
				t.Errorf("%d healthy DaemonSets, want 20:\n%s", n, out)
			}
		})
		count := resources(asked)
		t.Logf("%d requests: %v", len(asked), count)
		if count["nodes"] != 1 {
			t.Errorf("nodes were asked for %d times", count["nodes"])
		}
	})
	t.Run("a user who may not list nodes gets an answer and a gap", func(t *testing.T) {
		noNodes(t, c, stage.NoNodes, ds)
	})
	t.Run("so does one who may only read one namespace", func(t *testing.T) {
		must(t, c.AllowNamespace(ctx, ds.Namespace))
		noNodes(t, c, stage.OneNamespace, ds)
	})
	t.Run("one who may read nothing gets an error, and no answer", func(t *testing.T) {
		r, err := c.KubectlAs(ctx, stage.Nobody, "ds", "explain", "-n", ds.Namespace, ds.Name)
		must(t, err)
		if r.Code != 1 || r.Stdout != "" || !strings.HasPrefix(r.Stderr, "error: ") || !strings.Contains(r.Stderr, "forbidden") {
			t.Errorf("ended with %d\n%s%s", r.Code, r.Stdout, r.Stderr)
		}
	})
	t.Run("an unknown name comes with near ones", func(t *testing.T) {
		r, err := c.KubectlAs(ctx, stage.Reader, "ds", "explain", "-n", ds.Namespace, "node-agnet")
		must(t, err)
		if r.Code != 1 || !strings.Contains(r.Stderr, "not found") || !strings.Contains(r.Stderr, "node-agent") {
			t.Errorf("ended with %d\n%s%s", r.Code, r.Stdout, r.Stderr)
		}
	})
	t.Run("the DaemonSets of one node in one table", func(t *testing.T) {
		out := answer(t, c, stage.Reader, "ds", "explain", "-A", "--node", "node-03")
		if n := strings.Count(out, "node-03"); n != 20 {
			t.Errorf("%d lines name the node, want 20:\n%s", n, out)
		}
	})
	t.Run("in a pod, with its ServiceAccount", func(t *testing.T) { inPod(t, c, c.PluginDir, ds) })
	t.Run("nothing but get, list and watch was asked", func(t *testing.T) {
		log, err := c.AuditLog(ctx)
		must(t, err)
		ours := 0
		for _, e := range log {
			if !strings.HasPrefix(e.UserAgent, "kubectl-ds/") {
				continue
			}
			ours++
			if !slices.Contains([]string{"get", "list", "watch"}, e.Verb) {
				t.Errorf("%s asked to %s %s", e.User, e.Verb, e.Resource)
			}
		}
		if ours == 0 {
			t.Error("the audit log holds no request of kubectl-ds")
		}
		t.Logf("%d requests of kubectl-ds", ours)
	})
}

// TestLargeCluster checks that more nodes than a page has only add pages.
func TestLargeCluster(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newStage(t, stage.Options{NodeMonitorGracePeriod: 5 * time.Minute})
	patient, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	must(t, c.AddNodes(patient, stage.Nodes(520, "node-%04d")...))
	ds := stage.NewDaemonSet("kube-system", "node-agent", "acme/node-agent:1")
	must(t, c.Create(ctx, ds))
	must(t, c.WaitRollout(patient, ds.Namespace, ds.Name))
	asked := requests(t, c, func() {
		out := answer(t, c, stage.Reader, "ds", "explain", "-n", ds.Namespace, ds.Name)
		if !strings.Contains(out, "DESIRED 520 CURRENT 520 READY 520") {
			t.Errorf("%s", out)
		}
	})
	count := resources(asked)
	t.Logf("%d requests: %v", len(asked), count)
	if count["nodes"] != 2 || count["pods"] != 2 || len(asked) > 10+1+1 {
		t.Errorf("want 2 pages of nodes, 2 of pods, and at most 10 requests without the second pages")
	}
}

// requests returns the requests of kubectl-ds during a call.
func requests(t *testing.T, c *stage.Cluster, during func()) []stage.AuditEntry {
	t.Helper()
	ours := func() []stage.AuditEntry {
		log, err := c.AuditLog(t.Context())
		must(t, err)
		return slices.DeleteFunc(log, func(e stage.AuditEntry) bool { return !strings.HasPrefix(e.UserAgent, "kubectl-ds/") })
	}
	before := len(ours())
	during()
	return ours()[before:]
}

func resources(asked []stage.AuditEntry) map[string]int {
	count := map[string]int{}
	for _, e := range asked {
		count[e.Resource]++
	}
	return count
}

// noNodes checks for exit status 0, a note, a gap in the JSON, and no computed number.
func noNodes(t *testing.T, c *stage.Cluster, user string, ds *appsv1.DaemonSet) {
	t.Helper()
	r, err := c.KubectlAs(t.Context(), user, "ds", "explain", "-n", ds.Namespace, ds.Name, "-o", "json")
	must(t, err)
	if r.Code != 0 || strings.Count(r.Stderr, "\n") != 1 || !strings.HasPrefix(r.Stderr, "note: nodes: not allowed to read") {
		t.Fatalf("ended with %d: %s", r.Code, r.Stderr)
	}
	var e explanation
	must(t, json.Unmarshal([]byte(r.Stdout), &e))
	if e.Status.Computed != nil || e.Status.Agrees != nil || e.Status.Reported.DesiredNumberScheduled != 12 {
		t.Errorf("status %+v: nothing can be computed without nodes", e.Status)
	}
	if len(e.Snapshot.Gaps) != 1 || e.Snapshot.Gaps[0].What != "nodes" || e.Snapshot.Gaps[0].Why != "Forbidden" || e.Snapshot.Gaps[0].Consequence != "PlacementUnknown" {
		t.Errorf("gaps %+v", e.Snapshot.Gaps)
	}
	if e.Verdict.Code != "Healthy" || len(e.Nodes) != 12 || e.Nodes[0].ShouldRun != nil {
		t.Errorf("verdict %s, %d nodes: the pods and the reported numbers tell it", e.Verdict.Code, len(e.Nodes))
	}
	r, err = c.KubectlAs(t.Context(), user, "ds", "explain", "-n", ds.Namespace, ds.Name, "--exit-code")
	must(t, err)
	if r.Code != 5 {
		t.Errorf("--exit-code gives %d for an answer in part, want 5", r.Code)
	}
}

// inPod runs the plugin like a pod: without a kubeconfig, with the files and variables of a
// ServiceAccount. The files must be below /var/run, so it mounts its own /var/run, which requires
// the right to mount.
func inPod(t *testing.T, c *stage.Cluster, plugin string, ds *appsv1.DaemonSet) {
	t.Helper()
	account := t.TempDir()
	config, err := clientcmd.BuildConfigFromFlags("", c.KubeconfigFor(stage.Reader))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(account, "token"), []byte(config.BearerToken), 0o600))
	must(t, os.WriteFile(filepath.Join(account, "ca.crt"), c.Config.CAData, 0o600))
	must(t, os.WriteFile(filepath.Join(account, "namespace"), []byte(ds.Namespace), 0o600))
	host, port, _ := strings.Cut(strings.TrimPrefix(c.URL, "https://"), ":")
	script := `set -e
mount -t tmpfs tmpfs /run
mkdir -p /run/secrets/kubernetes.io
ln -s "$1" /run/secrets/kubernetes.io/serviceaccount
exec "$2" explain node-agent -o name`
	cmd := exec.CommandContext(t.Context(), "unshare", "--mount", "--map-root-user", "sh", "-c", script, "sh", account, filepath.Join(plugin, "kubectl-ds"))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "KUBERNETES_SERVICE_HOST=" + host, "KUBERNETES_SERVICE_PORT=" + port}
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "daemonset.apps/node-agent\n" {
		t.Errorf("%v: %s", err, out)
	}
}
