package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// breaks is a way to break a healthy DaemonSet that involves the API server, the scheduler or the
// controller.
type breaks struct {
	name    string
	change  func(*corev1.PodSpec)                           // of the template; nil: none
	around  func(t *testing.T, c *stage.Cluster, ns string) // setup before the change; nil: none
	broken  func(t *testing.T, c *stage.Cluster, ns string) // breaks it without a change to the template; nil: not
	code    string                                          // of the problem
	subject cause.Subject                                   // without a namespace
	who     cause.Who                                       // empty: nobody
	verdict explain.VerdictCode                             // while it is broken
	command string                                          // beginning of the printed command
}

// TestBreakers breaks DaemonSets on a real control plane. It checks that explain finds the problem, and that the first
// command of explain or the plan that explain proposes repairs the DaemonSet.
func TestBreakers(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newStage(t, stage.Options{ServiceAccounts: true})
	for i := range allBreaks {
		nodes := stage.Nodes(4, allBreaks[i].name+"-%02d")
		for _, n := range nodes {
			n.Labels["scene"] = allBreaks[i].name
		}
		must(t, c.AddNodes(ctx, nodes...))
	}
	for i := range allBreaks {
		b := &allBreaks[i]
		t.Run(b.name, func(t *testing.T) { b.test(t, c) })
	}
}

var port9100 = []corev1.ContainerPort{{ContainerPort: 9100, HostPort: 9100, Protocol: corev1.ProtocolTCP}}

var allBreaks = []breaks{
	{
		name: "port", change: func(s *corev1.PodSpec) {
			s.Containers[0].Ports = port9100
		},
		around: portHolder, code: "HostPortConflict", subject: cause.Subject{Kind: cause.SubjectHostPort,
			Name: "9100/TCP"},
		who: cause.WhoChange, verdict: explain.Stuck, command: "kubectl rollout undo ",
	},
	{
		name: "request", change: func(s *corev1.PodSpec) {
			s.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8")}
		},
		code: "InsufficientResources", subject: cause.Subject{Kind: cause.SubjectNodeResource, Name: "cpu"},
		who: cause.WhoChange, verdict: explain.Stuck, command: "kubectl rollout undo ",
	},
	{
		name: "class", change: func(s *corev1.PodSpec) { s.PriorityClassName = "agent-critical" },
		code: "FailedCreate", subject: cause.Subject{Kind: cause.SubjectReference, Name: "agent-critical"},
		who: cause.WhoChange, verdict: explain.Stuck, command: "kubectl rollout undo ",
	},
	{
		name: "account", change: func(s *corev1.PodSpec) { s.ServiceAccountName = "agent-v2" },
		code: "FailedCreate", subject: cause.Subject{Kind: cause.SubjectReference, Name: "agent-v2"},
		who: cause.WhoChange, verdict: explain.Stuck, command: "kubectl rollout undo ",
	},
	{
		name: "quota", broken: smallQuota,
		code: "FailedCreate", subject: cause.Subject{Kind: cause.SubjectQuota, Name: "pods"},
		who: cause.WhoPolicy, verdict: explain.Stuck, command: "kubectl patch resourcequota ",
	},
	{
		name: "taint", broken: taintNode, code: "Misscheduled", subject: cause.Subject{Kind: cause.SubjectPlacement},
		verdict: explain.Healthy, command: "kubectl patch ",
	},
}

// portHolder gives every node of a scene a pod of another DaemonSet that uses host port 9100.
func portHolder(t *testing.T, c *stage.Cluster, ns string) {
	ds := stage.NewDaemonSet(ns+"-other", "node-exporter", "acme/node-exporter:1")
	ds.Spec.Template.Spec.NodeSelector = map[string]string{"scene": ns}
	ds.Spec.Template.Spec.Containers[0].Ports = port9100
	createOf(t, c, ds)
}

// createOf creates a DaemonSet with its ServiceAccount and waits until its pods are available.
func createOf(t *testing.T, c *stage.Cluster, ds *appsv1.DaemonSet) {
	t.Helper()
	ctx := t.Context()
	must(t, c.CreateNamespace(ctx, ds.Namespace))
	must(t, c.WaitFor(ctx, "ServiceAccount default of "+ds.Namespace, func(ctx context.Context) (bool, error) {
		_, err := c.Client.CoreV1().ServiceAccounts(ds.Namespace).Get(ctx, "default", metav1.GetOptions{})
		return err == nil, nil
	}))
	must(t, c.Create(ctx, ds))
	must(t, c.WaitRollout(ctx, ds.Namespace, ds.Name))
}

// smallQuota allows one pod less than there are, and restarts the rollout.
func smallQuota(t *testing.T, c *stage.Cluster, ns string) {
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "pods"}}
	q.Spec.Hard = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("3")}
	_, err := c.Client.CoreV1().ResourceQuotas(ns).Create(t.Context(), q, metav1.CreateOptions{})
	must(t, err)
	must(t, c.WaitFor(t.Context(), "the quota to be counted", func(ctx context.Context) (bool, error) {
		q, err := c.Client.CoreV1().ResourceQuotas(ns).Get(ctx, "pods", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		used := q.Status.Used[corev1.ResourcePods]
		return used.Value() == 4, nil
	}))
	answer(t, c, stage.Admin, "rollout", "restart", "-n", ns, "daemonset/agent")
}

// taintNode adds a taint that the pods do not tolerate: the next rollout deletes the pod without
// replacement.
func taintNode(t *testing.T, c *stage.Cluster, ns string) {
	answer(t, c, stage.Admin, "taint", "node", ns+"-01", "dedicated=batch:NoSchedule")
}

func (b *breaks) test(t *testing.T, c *stage.Cluster) {
	ctx, ns := t.Context(), b.name
	if b.around != nil {
		b.around(t, c, ns)
	}
	ds := stage.NewDaemonSet(ns, "agent", "acme/agent:1")
	ds.Spec.Template.Spec.NodeSelector = map[string]string{"scene": ns}
	createOf(t, c, ds)
	if b.change != nil {
		must(t, c.Update(ctx, ns, ds.Name, func(ds *appsv1.DaemonSet) { b.change(&ds.Spec.Template.Spec) }))
	}
	if b.broken != nil {
		b.broken(t, c, ns)
	}
	var e explain.Explanation
	err := c.WaitFor(ctx, "the problem of "+ns, func(context.Context) (bool, error) {
		time.Sleep(time.Second) // leaves the processor to other tests
		e = explain.Explanation{}
		out := answer(t, c, stage.Admin, "ds", "explain", "-n", ns, ds.Name, "-o", "json")
		return b.found(&e, out)
	})
	text := answer(t, c, stage.Admin, "ds", "explain", "-n", ns, ds.Name, "--all")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	line := firstAct(text)
	if line == "" { // the plan of the change has it
		text = paste(t, c, firstCommand(text, "Preview "))
		line = firstAct(text)
	}
	if !strings.HasPrefix(line, b.command) {
		t.Fatalf("the first command is %q, and should begin with %q\n%s", line, b.command, text)
	}
	paste(t, c, line)
	must(t, c.WaitRollout(ctx, ns, ds.Name))
	err = c.WaitFor(ctx, ns+" to be healthy", func(context.Context) (bool, error) {
		time.Sleep(time.Second)
		e = explain.Explanation{}
		out := answer(t, c, stage.Admin, "ds", "explain", "-n", ns, ds.Name, "-o", "json")
		err := json.Unmarshal([]byte(out), &e)
		return e.Verdict.Code == explain.Healthy && len(e.Problems) == 0 && e.Status.Computed.Available == 4, err
	})
	if err != nil {
		t.Errorf("after %s: %v\n%s", line, err, answer(t, c, stage.Admin, "ds", "explain", "-n", ns, ds.Name))
	}
}

// found reports whether an explanation has the problem with its subject and its blame.
func (b *breaks) found(e *explain.Explanation, out string) (bool, error) {
	if err := json.Unmarshal([]byte(out), e); err != nil {
		return false, err
	}
	for _, p := range e.Problems {
		s := p.Subject
		s.Namespace, s.Node, s.Holder = "", "", ""
		blamed := b.who == "" && p.Blame == nil || p.Blame != nil && p.Blame.Who == b.who
		if string(p.Code) == b.code && s == b.subject && blamed && e.Verdict.Code == b.verdict {
			return true, nil
		}
	}
	return false, nil
}

// firstAct returns the first command that changes the cluster, or "".
func firstAct(text string) string {
	_, now, _ := strings.Cut(text, "\nDo now ")
	sentence, _, _ := strings.Cut(now, "kubectl ")
	if line := firstCommand(text, "Do now "); line != "" && !strings.Contains(sentence, "(read-only)") {
		return line
	}
	return cmp.Or(firstCommand(text, "Then "), firstCommand(text, "Or "))
}

// firstCommand returns the first command of the lines with a label, or "".
func firstCommand(text, label string) string {
	inside := false
	for _, line := range strings.Split(text, "\n") {
		if !strings.HasPrefix(line, " ") {
			inside = strings.HasPrefix(line, label)
		}
		words := strings.TrimSpace(strings.TrimPrefix(line, label))
		if inside && strings.HasPrefix(words, "kubectl ") {
			return words
		}
	}
	return ""
}

// paste runs a line in a shell and returns its output.
func paste(t *testing.T, c *stage.Cluster, line string) string {
	t.Helper()
	if strings.ContainsAny(line, "<>") {
		t.Fatalf("%q has a placeholder", line)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Env = c.KubectlCommand(t.Context(), stage.Admin).Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}
