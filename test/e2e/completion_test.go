package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientcmd "k8s.io/client-go/tools/clientcmd/api/v1"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// patience is the time after which a completion counts as hanging. The plugin itself gives up much
// earlier (see TestCompletionHangs of internal/cli), but starting kubectl and the plugin may take
// long on a busy machine.
const patience = time.Minute

// TestCompletion checks that kubectl's completion calls the plugin, which offers the names of a
// cluster with 5,000 nodes and requests only metadata of nodes and namespaces. It does not wait for
// an unreachable server and writes nothing to standard error.
func TestCompletion(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newStage(t, stage.Options{})
	c.PluginDir = linked(t, c.PluginDir, "kubectl-ds", "kubectl_complete-ds", "kubectl-daemonset_rollout", "kubectl_complete-daemonset_rollout")
	must(t, c.AddNodes(ctx, stage.Nodes(3, "infra-%d")...))
	ds := stage.NewDaemonSet("kube-system", "node-agent", "acme/node-agent:1")
	must(t, c.Create(ctx, ds))
	must(t, c.WaitRollout(ctx, ds.Namespace, ds.Name))
	must(t, c.SetImage(ctx, ds.Namespace, ds.Name, "acme/node-agent:2"))
	must(t, c.WaitRollout(ctx, ds.Namespace, ds.Name))
	must(t, c.Freeze())
	fill(t, c, 5000)

	var mu sync.Mutex
	var asked []string // resource, and the form in which it was requested
	config := proxied(t, c, stage.Reader, func(_ http.ResponseWriter, r *http.Request) bool {
		form := "whole"
		if strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadataList") {
			form = "metadata"
		}
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.Method+" "+r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]+" "+form)
		return false
	})
	const metadataOfNodes, daemonSets = "GET nodes metadata", "GET daemonsets whole"
	for _, tt := range []struct {
		line  string // the last word is incomplete; a line that ends in a blank begins a new one
		asks  string // sorted, without duplicates
		count int    // number of offered words
		first string // the first of them
		why   string
	}{
		{"ds hist", "", 1, "history\tShow revisions, what changed, and what a rollback would do", "commands"},
		{"ds explain --exit", "", 1, "--exit-code\tset the exit status from the verdict", "flags"},
		{"ds explain --context ", "", 1, "stage", "contexts"},
		{"ds explain -n kube-s", "GET namespaces metadata", 1, "kube-system", "namespaces"},
		{"ds explain -n kube-system ", daemonSets, 1, "node-agent\t3 desired, 3 ready", "DaemonSets"},
		{"ds explain kube", daemonSets, 1, "kube-system/node-agent\t3 desired, 3 ready", "DaemonSets of other namespaces"},
		{"ds explain --node ", metadataOfNodes, 5005, "infra-*\t3 nodes", "nodes, and two patterns"},
		{"ds plan-rollout --node-down worker-4999", metadataOfNodes, 1, "worker-4999", "a node"},
		{"ds plan-rollout --cordon topology.kubernetes.io/zone=", metadataOfNodes, 3, "topology.kubernetes.io/zone=eu-1a\t1667 nodes", "values of a label"},
		{"ds plan-rollout --taint worker-0001:dedicated:", "", 3, "worker-0001:dedicated:NoExecute", "effects of a taint"},
		{"ds plan-rollout --group-by topo", metadataOfNodes, 1, "topology.kubernetes.io/zone\t3 values", "labels"},
		{"ds plan-rollout -n kube-system node-agent --image ", daemonSets, 1, "node-agent=\tacme/node-agent:2", "containers"},
		{"ds plan-rollout -n kube-system node-agent --to-revision 1", "GET controllerrevisions whole|GET node-agent whole", 1, "1\t", "revisions"},
		{"ds history -n kube-system node-agent --diff 1,", "GET controllerrevisions whole|GET node-agent whole", 2, "1,2\t", "two revisions"},
		{"ds plan-rollout -o y", "", 1, "yaml", "formats"},
		{"daemonset-rollout explain -n kube-system ", daemonSets, 1, "node-agent\t3 desired, 3 ready", "by another name"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			words := offered(t, c, config, tt.line, func(words []string) bool { return len(words) == tt.count })
			if len(words) != tt.count || !strings.HasPrefix(strings.Join(words, "\n"), tt.first) {
				t.Errorf("%d words, %.300q; want %d, the first %q", len(words), words, tt.count, tt.first)
			}
			mu.Lock()
			defer mu.Unlock()
			slices.Sort(asked)
			if diff := cmp.Diff(tt.asks, strings.Join(slices.Compact(asked), "|")); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			asked = nil
		})
	}
	t.Run("a server that is away", func(t *testing.T) {
		silent, err := net.Listen("tcp", "127.0.0.1:0") // connections are queued and never answered
		must(t, err)
		defer silent.Close()
		closed, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		must(t, closed.Close())
		for _, address := range []string{silent.Addr().String(), closed.Addr().String()} {
			away := changedConfig(t, c, stage.Reader, func(config *clientcmd.Config) { config.Clusters[0].Cluster.Server = "https://" + address })
			for _, line := range []string{"ds explain ", "ds explain --node ", "ds explain -n "} {
				words := offered(t, c, away, line, func([]string) bool { return true })
				if len(words) > 0 {
					t.Errorf("%q: %.300q", line, words)
				}
			}
		}
	})
	t.Run("commands that screens show have the name that was typed", func(t *testing.T) {
		r, err := c.KubectlAs(ctx, stage.Reader, "daemonset-rollout", "explain")
		must(t, err)
		if want := "Try: kubectl daemonset-rollout explain -A\n"; !strings.HasSuffix(r.Stderr, want) {
			t.Errorf("%q, want %q", r.Stderr, want)
		}
	})
}

// offered returns the words with which kubectl completes the last word of a command line. It fails
// the test if the plugin hangs or writes to standard error. On a busy machine the plugin may give
// up before the cluster has answered, so one of ten tries must return the expected words.
func offered(t *testing.T, c *stage.Cluster, config, line string, wanted func([]string) bool) (words []string) {
	t.Helper()
	for try := 1; ; try++ {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		cmd := c.KubectlCommand(ctx, stage.Reader, append([]string{"__complete"}, strings.Split(line, " ")...)...)
		cmd.Env = append(cmd.Env, "KUBECONFIG="+config)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &errs, patience // kubectl's child keeps the streams open
		began := time.Now()
		err := cmd.Run()
		late := ctx.Err() != nil
		cancel()
		words = strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		words = slices.DeleteFunc(words[:len(words)-1], func(w string) bool { return w == "" }) // the directive is last
		if said := kubectlSays.ReplaceAllString(errs.String(), ""); !late && said != "" {
			t.Errorf("%q: standard error: %s", line, said)
		}
		switch {
		case !late && err == nil && wanted(words):
			t.Logf("%s: %d words", time.Since(began).Round(time.Millisecond), len(words))
			return words
		case !late && err != nil && !errors.As(err, new(*exec.ExitError)):
			t.Fatal(err)
		case try == 10:
			t.Errorf("%q: ten tries, and the last gave %.300q (hangs: %t)", line, words, late)
			return words
		}
	}
}

// kubectlSays are the lines that kubectl itself writes during a completion, in order. Those of the
// plugin come in between.
var kubectlSays = regexp.MustCompile(`\A\[Debug\] Cleared global flags for plugin completion\n\[Debug\] About to look for: .*\n\[Debug\] About to call: .*\nCompletion ended with directive: .*\n\z`)

// linked returns a directory with links of these names to the plugin.
func linked(t *testing.T, plugin string, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		must(t, os.Symlink(filepath.Join(plugin, "kubectl-ds"), filepath.Join(dir, name)))
	}
	return dir
}

// fill creates many nodes without a kubelet, as large as real ones, including their images.
func fill(t *testing.T, c *stage.Cluster, n int) {
	t.Helper()
	var images []corev1.ContainerImage
	for i := range 20 {
		images = append(images, corev1.ContainerImage{Names: []string{fmt.Sprintf("registry.example/team-%02d/image@sha256:%064d", i, i), fmt.Sprintf("registry.example/team-%02d/image:v1.%d", i, i)}, SizeBytes: 1 << 27})
	}
	g, ctx := errgroup.WithContext(t.Context())
	g.SetLimit(16)
	for i, node := range stage.Nodes(n, "worker-%04d") {
		node.Labels[corev1.LabelTopologyZone] = fmt.Sprintf("eu-1%c", 'a'+i%3)
		node.Status.Images = images
		g.Go(func() error {
			_, err := c.Client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
			return err
		})
	}
	must(t, g.Wait())
}
