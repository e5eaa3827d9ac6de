package e2e

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// mostTimesKubectl is the maximum ratio of the times of history and kubectl.
const mostTimesKubectl = 2

// BenchmarkHistory reports the median times of "kubectl-ds history NAME" for a DaemonSet with 100
// revisions of 200 KB and of "kubectl get controllerrevisions -o yaml" for the same revisions, run
// alternately, and their ratio, which must not exceed 2. Use -benchtime 10x or more.
func BenchmarkHistory(b *testing.B) {
	const revisions, size = 100, 200_000
	ctx := b.Context()
	c := stage.New(b, stage.Options{})
	plugin, err := stage.BuildPlugin(ctx)
	check := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	check(err)
	check(c.AddNodes(ctx, stage.Nodes(3, "node-%02d")...))
	ds := stage.NewDaemonSet("kube-system", "node-agent", fmt.Sprintf("acme/node-agent:%d", revisions))
	limit := int32(1000)
	ds.Spec.RevisionHistoryLimit = &limit
	fatten(ds, size)
	check(c.Create(ctx, ds))
	check(c.WaitRollout(ctx, ds.Namespace, ds.Name))

	// The controller has created the newest; the others differ from it in the image, a variable and
	// an annotation.
	check(c.StopProgram(stage.ControllerManager))
	client := c.Client.AppsV1().ControllerRevisions(ds.Namespace)
	list, err := client.List(ctx, metav1.ListOptions{})
	check(err)
	newest := list.Items[0]
	template := string(newest.Data.Raw)
	if len(template) < size {
		b.Fatalf("the template has %d bytes", len(template))
	}
	newest.Revision = revisions
	if _, err := client.Update(ctx, &newest, metav1.UpdateOptions{}); err != nil {
		b.Fatal(err)
	}
	for n := int64(1); n < revisions; n++ {
		older := newest.DeepCopy()
		hash := fmt.Sprintf("older%03d", n)
		older.ObjectMeta = metav1.ObjectMeta{Name: ds.Name + "-" + hash, Labels: older.Labels, OwnerReferences: older.OwnerReferences}
		older.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] = hash
		older.Revision = n
		older.Data.Raw = []byte(strings.NewReplacer(
			fmt.Sprintf("acme/node-agent:%d", revisions), fmt.Sprintf("acme/node-agent:%d", n),
			`"value":"setting 7 `, fmt.Sprintf(`"value":"setting %d `, 1000+n),
			`"example.com/checksum":"`, fmt.Sprintf(`"example.com/checksum":"%d`, n),
		).Replace(template))
		if _, err := client.Create(ctx, older, metav1.CreateOptions{}); err != nil {
			b.Fatal(err)
		}
	}

	ours := func(args ...string) *exec.Cmd {
		cmd := c.KubectlCommand(ctx, stage.Reader)
		cmd.Path = filepath.Join(plugin, "kubectl-ds")
		cmd.Args = slices.Concat([]string{cmd.Path, "history", "-n", ds.Namespace, ds.Name}, args)
		return cmd
	}
	theirs := func() *exec.Cmd {
		return c.KubectlCommand(ctx, stage.Reader, "get", "controllerrevisions", "-n", ds.Namespace, "-o", "yaml")
	}
	out, err := ours("-o", "json").Output()
	check(err)
	a := &historyAnswer{}
	check(json.Unmarshal(out, a))
	if len(a.Revisions) != revisions || a.Revisions[0].Revision != revisions || !a.Revisions[0].Current || len(a.Revisions[1].Change) != 3 {
		b.Fatalf("%d revisions, the newest %s", len(a.Revisions), a.newest())
	}
	out, err = theirs().Output()
	check(err)
	if len(out) < revisions*size {
		b.Fatalf("kubectl printed %d bytes", len(out))
	}

	took := func(cmd *exec.Cmd) time.Duration { // its output is discarded
		began := time.Now()
		check(cmd.Run())
		return time.Since(began)
	}
	var our, their []time.Duration
	for b.Loop() {
		our = append(our, took(ours()))
		their = append(their, took(theirs()))
	}
	median := func(d []time.Duration) float64 {
		slices.Sort(d)
		return float64(d[len(d)/2].Microseconds()) / 1000
	}
	ratio := median(our) / median(their)
	b.ReportMetric(median(our), "ours-ms")
	b.ReportMetric(median(their), "kubectl-ms")
	b.ReportMetric(ratio, "ratio")
	if ratio > mostTimesKubectl {
		b.Errorf("history takes %.1f times as long as kubectl, at most %d are allowed", ratio, mostTimesKubectl)
	}
}

// fatten makes the template as large as some real ones: hundreds of variables, and scripts.
func fatten(ds *appsv1.DaemonSet, size int) {
	t := &ds.Spec.Template
	t.Annotations = map[string]string{"example.com/checksum": "1"}
	container := &t.Spec.Containers[0]
	for i := range 500 {
		container.Env = append(container.Env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%03d", i), Value: fmt.Sprintf("setting %d of the agent, which is as long as most", i)})
	}
	line := "test -d /host/opt/cni/bin || mkdir -p /host/opt/cni/bin  # of an install script\n"
	script := strings.Repeat(line, size/2/len(line))
	for i := range 2 {
		t.Spec.InitContainers = append(t.Spec.InitContainers, corev1.Container{
			Name: fmt.Sprintf("install-%d", i), Image: "acme/install:1", Command: []string{"/bin/sh", "-c", script},
		})
	}
}
