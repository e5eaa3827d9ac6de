// Package e2e tests kubectl ds against a real control plane.
package e2e

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// TestStage checks the stage itself, on which the other tests rely.
func TestStage(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	began := time.Now()
	lap := func(what string) {
		t.Logf("%-42s %s", what, time.Since(began).Round(10*time.Millisecond))
		began = time.Now()
	}
	c := stage.New(t, stage.Options{NodeMonitorGracePeriod: 8 * time.Second})
	lap("start")

	must(t, c.AddNodes(ctx, stage.Nodes(12, "node-%02d")...))
	lap("12 nodes ready")

	ds := stage.NewDaemonSet("kube-system", "node-agent", "acme/node-agent:1.8.3")
	// Without it, a dead node should not run the pod: the controller tolerates the NoExecute taint
	// by default, but not the NoSchedule taint.
	ds.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	one := intstr.FromInt32(1)
	ds.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &one}
	must(t, c.Create(ctx, ds))
	must(t, c.WaitRollout(ctx, ds.Namespace, ds.Name))
	lap("a daemonset on 12 nodes")

	must(t, c.SetImage(ctx, ds.Namespace, ds.Name, "acme/node-agent:1.9.0"))
	most := int32(0)
	must(t, c.WaitDaemonSet(ctx, ds.Namespace, ds.Name, "rolled out", func(ds *appsv1.DaemonSet) bool {
		most = max(most, ds.Status.NumberUnavailable)
		return ds.Status.UpdatedNumberScheduled == 12 && ds.Status.NumberAvailable == 12
	}))
	if most > 1 {
		t.Errorf("%d pods were unavailable at once, maxUnavailable is 1", most)
	}
	lap("an image rolled out one by one")

	must(t, c.KillNodes(ctx, "node-03"))
	pods := podsOf(t, c, ds)
	if pod := pods["node-03"]; stage.PodReady(pod) {
		t.Errorf("the pod of a dead node is ready")
	}
	must(t, c.WaitDaemonSet(ctx, ds.Namespace, ds.Name, "one unavailable", func(ds *appsv1.DaemonSet) bool {
		return ds.Status.NumberUnavailable == 1
	}))
	lap("a dead node")

	// After its deletion the pod stays, because no kubelet ends it.
	must(t, c.Client.CoreV1().Pods(ds.Namespace).Delete(ctx, pods["node-03"].Name, metav1.DeleteOptions{}))
	must(t, c.Client.CoreV1().Pods(ds.Namespace).Delete(ctx, pods["node-04"].Name, metav1.DeleteOptions{}))
	must(t, c.WaitFor(ctx, "the pod of node-04 to be replaced", func(context.Context) (bool, error) {
		pod := podsOf(t, c, ds)["node-04"]
		return pod != nil && pod.Name != pods["node-04"].Name && stage.PodReady(pod), nil
	}))
	if pod := podsOf(t, c, ds)["node-03"]; pod.Name != pods["node-03"].Name || pod.DeletionTimestamp == nil {
		t.Errorf("the pod of a dead node is %s, deleted %v", pod.Name, pod.DeletionTimestamp)
	}
	must(t, c.ReviveNodes(ctx, "node-03"))
	must(t, c.WaitRollout(ctx, ds.Namespace, ds.Name))
	lap("a deleted pod there, and the node revived")

	misbehaviour(t, c)
	lap("misbehaving pods")

	must(t, c.Freeze())
	must(t, c.Client.CoreV1().Pods(ds.Namespace).Delete(ctx, podsOf(t, c, ds)["node-05"].Name, metav1.DeleteOptions{}))
	frozen, err := c.Client.AppsV1().DaemonSets(ds.Namespace).Get(ctx, ds.Name, metav1.GetOptions{})
	must(t, err)
	must(t, c.Thaw(ctx))
	must(t, c.WaitFor(ctx, "the pod of node-05 to be replaced", func(context.Context) (bool, error) {
		pod := podsOf(t, c, ds)["node-05"]
		return pod != nil && pod.Name != pods["node-05"].Name && stage.PodReady(pod), nil
	}))
	thawed, err := c.Client.AppsV1().DaemonSets(ds.Namespace).Get(ctx, ds.Name, metav1.GetOptions{})
	must(t, err)
	if frozen.ResourceVersion == thawed.ResourceVersion {
		t.Errorf("the controller did not go on after the thaw")
	}
	lap("freeze and thaw")

	rights(t, c)
	lap("users and the audit log")

	var pids []int
	for name, pid := range c.Processes() {
		if syscall.Kill(pid, 0) != nil {
			t.Errorf("%s (%d) does not run", name, pid)
		}
		pids = append(pids, pid)
	}
	if len(pids) != 5 {
		t.Errorf("%d programs run, not 5", len(pids))
	}
	must(t, c.Close())
	for _, pid := range pids {
		if syscall.Kill(-pid, 0) == nil {
			t.Errorf("process group %d is left", pid)
		}
	}
	if _, err := os.Stat(c.Dir); !os.IsNotExist(err) {
		t.Errorf("the folder %s is left: %v", c.Dir, err)
	}
	lap("stop")
}

// misbehaviour creates a DaemonSet whose pods misbehave differently on each node and checks that
// each has the status that a kubelet would write.
func misbehaviour(t *testing.T, c *stage.Cluster) {
	ctx := t.Context()
	ds := stage.NewDaemonSet("default", "victim", "acme/victim:2.0")
	ds.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "setup", Image: "acme/setup:1.0"}}
	ds.Spec.Template.Spec.Containers = append(ds.Spec.Template.Spec.Containers, corev1.Container{Name: "sidecar", Image: "acme/sidecar:1.1"})

	waiting := func(pod *corev1.Pod) string {
		if w := pod.Status.ContainerStatuses[0].State.Waiting; w != nil {
			return w.Reason
		}
		return ""
	}
	restarted := func(status []corev1.ContainerStatus, exitCode int32, reason string) bool {
		w, last := status[0].State.Waiting, status[0].LastTerminationState.Terminated
		return w != nil && w.Reason == "CrashLoopBackOff" && strings.Contains(w.Message, "restarting failed container=") &&
			status[0].RestartCount >= 2 && last != nil && last.ExitCode == exitCode && last.Reason == reason
	}
	type look struct {
		behave stage.Behaviour
		event  string
		is     func(*corev1.Pod) bool
	}
	looks := []look{
		{stage.Ready, "", stage.PodReady},
		{stage.Crash, "BackOff", func(pod *corev1.Pod) bool {
			return pod.Status.Phase == corev1.PodRunning && restarted(pod.Status.ContainerStatuses, 1, "Error") &&
				pod.Status.ContainerStatuses[1].Ready
		}},
		{stage.OOMKilled, "BackOff", func(pod *corev1.Pod) bool {
			return pod.Status.Phase == corev1.PodRunning && restarted(pod.Status.ContainerStatuses, 137, "OOMKilled")
		}},
		{stage.InitCrash, "BackOff", func(pod *corev1.Pod) bool {
			return pod.Status.Phase == corev1.PodPending && restarted(pod.Status.InitContainerStatuses, 1, "Error") &&
				waiting(pod) == "PodInitializing"
		}},
		{stage.ImagePullBackOff, "Failed", func(pod *corev1.Pod) bool {
			w := pod.Status.ContainerStatuses[0].State.Waiting
			return pod.Status.Phase == corev1.PodPending && w != nil && w.Reason == "ImagePullBackOff" &&
				strings.HasPrefix(w.Message, `Back-off pulling image "acme/victim:2.0"`)
		}},
		{stage.ProbeFails, "Unhealthy", func(pod *corev1.Pod) bool {
			s := pod.Status.ContainerStatuses[0]
			return pod.Status.Phase == corev1.PodRunning && s.State.Running != nil && !s.Ready && !stage.PodReady(pod)
		}},
		{stage.ConfigError, "Failed", func(pod *corev1.Pod) bool { return waiting(pod) == "CreateContainerConfigError" }},
		{stage.NoSandbox, "FailedCreatePodSandBox", func(pod *corev1.Pod) bool { return waiting(pod) == "PodInitializing" }},
		{stage.NoVolume, "FailedMount", func(pod *corev1.Pod) bool { return waiting(pod) == "PodInitializing" }},
	}
	var rules []stage.Rule
	for i, look := range looks {
		rules = append(rules, stage.Rule{Node: fmt.Sprintf("node-%02d", i+1), DaemonSet: ds.Name, Behave: look.behave})
	}
	must(t, c.SetRules(ctx, rules...))
	must(t, c.Create(ctx, ds))
	for i, look := range looks {
		node := rules[i].Node
		must(t, c.WaitFor(ctx, fmt.Sprintf("the pod of %s to look like %s", node, look.behave), func(context.Context) (bool, error) {
			pod := podsOf(t, c, ds)[node]
			return pod != nil && len(pod.Status.ContainerStatuses) == 2 && look.is(pod) && (look.behave == stage.Ready) == stage.PodReady(pod), nil
		}))
		if look.event == "" {
			continue
		}
		must(t, c.WaitFor(ctx, fmt.Sprintf("the event %s about the pod of %s", look.event, node), func(ctx context.Context) (bool, error) {
			events, err := c.Client.CoreV1().Events(ds.Namespace).List(ctx, metav1.ListOptions{
				FieldSelector: "involvedObject.uid=" + string(podsOf(t, c, ds)[node].UID) + ",reason=" + look.event,
			})
			return err == nil && len(events.Items) > 0, err
		}))
	}
	must(t, c.WaitDaemonSet(ctx, ds.Namespace, ds.Name, "the well ones ready", func(d *appsv1.DaemonSet) bool {
		return d.Status.NumberReady == 4 && d.Status.NumberUnavailable == 8
	}))
	// Without rules the pods recover, and a label of the pod has the effect of a rule.
	must(t, c.SetRules(ctx))
	must(t, c.WaitRollout(ctx, ds.Namespace, ds.Name))
	must(t, c.Update(ctx, ds.Namespace, ds.Name, func(ds *appsv1.DaemonSet) {
		ds.Spec.Template.Labels[stage.BehaveLabel] = string(stage.Evicted)
	}))
	must(t, c.WaitFor(ctx, "an evicted pod", func(ctx context.Context) (bool, error) {
		events, err := c.Client.CoreV1().Events(ds.Namespace).List(ctx, metav1.ListOptions{FieldSelector: "reason=FailedDaemonPod"})
		return err == nil && len(events.Items) > 0, err
	}))
	must(t, c.Client.AppsV1().DaemonSets(ds.Namespace).Delete(ctx, ds.Name, metav1.DeleteOptions{}))
}

// rights checks the permissions of the users and the entries of the audit log.
func rights(t *testing.T, c *stage.Cluster) {
	ctx := t.Context()
	must(t, c.AllowNamespace(ctx, "default"))
	for _, try := range []struct {
		user string
		args []string
		ok   bool
	}{
		{stage.Reader, []string{"get", "ds,pods,controllerrevisions,events", "-A"}, true},
		{stage.Reader, []string{"get", "nodes"}, true},
		{stage.Reader, []string{"delete", "ds", "-n", "kube-system", "node-agent"}, false},
		{stage.Reader, []string{"get", "secrets"}, false},
		{stage.NoNodes, []string{"get", "ds", "-A"}, true},
		{stage.NoNodes, []string{"get", "nodes"}, false},
		{stage.OneNamespace, []string{"get", "ds,pods,controllerrevisions,events"}, true},
		{stage.OneNamespace, []string{"get", "ds", "-n", "kube-system"}, false},
		{stage.Nobody, []string{"get", "pods"}, false},
		{stage.Admin, []string{"version"}, true},
	} {
		result, err := c.KubectlAs(ctx, try.user, try.args...)
		must(t, err)
		if (result.Code == 0) != try.ok {
			t.Errorf("%s: kubectl %s: exit %d\n%s%s", try.user, strings.Join(try.args, " "), result.Code, result.Stdout, result.Stderr)
		}
		if try.args[0] == "version" && !strings.Contains(result.Stdout, "Server Version: "+cmp.Or(os.Getenv("E2E_CLUSTER"), "v1.37")+".") {
			t.Errorf("kubectl version says\n%s", result.Stdout)
		}
	}
	entries, err := c.AuditLog(ctx)
	must(t, err)
	found := slices.ContainsFunc(entries, func(e stage.AuditEntry) bool {
		return e.User == stage.NoNodes && strings.HasPrefix(e.UserAgent, "kubectl/v1.37.1 ") &&
			e.Verb == "list" && e.Resource == "nodes" && e.Code == 403
	})
	if !found {
		t.Errorf("the audit log (%d entries) does not tell that %s may not list nodes", len(entries), stage.NoNodes)
	}
}

// podsOf returns the DaemonSet's pods by node, the newest if there are two.
func podsOf(t *testing.T, c *stage.Cluster, ds *appsv1.DaemonSet) map[string]*corev1.Pod {
	t.Helper()
	pods, err := c.Pods(t.Context(), ds.Namespace, ds.Name)
	must(t, err)
	byNode := map[string]*corev1.Pod{}
	for i := range pods {
		node := pods[i].Spec.NodeName
		if old := byNode[node]; old == nil || old.CreationTimestamp.Before(&pods[i].CreationTimestamp) {
			byNode[node] = &pods[i]
		}
	}
	return byNode
}

// before reports whether the API server is older than v1.MINOR.
func before(minor int) bool {
	text, older := strings.CutPrefix(os.Getenv("E2E_CLUSTER"), "v1.")
	is, err := strconv.Atoi(text)
	return older && err == nil && is < minor
}

// newStage starts a control plane with kubectl and the plugin.
func newStage(t *testing.T, o stage.Options) *stage.Cluster {
	t.Helper()
	c := stage.New(t, o)
	plugin, err := stage.BuildPlugin(t.Context())
	must(t, err)
	c.PluginDir = plugin
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
