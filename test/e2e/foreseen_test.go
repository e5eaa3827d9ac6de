package e2e

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// TestForeseen checks plans which predict that no pod is created, or that none can run. Each of
// these plans once said that the rollout completes.
func TestForeseen(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newStage(t, stage.Options{})
	must(t, c.AddNodes(ctx, stage.Nodes(4, "node-%02d")...))
	must(t, refuseImages(ctx, c))
	t.Run("refused", func(t *testing.T) { refusedPods(t, c) })
	t.Run("dry run", func(t *testing.T) { dryRunPods(t, c) })
	t.Run("surge", func(t *testing.T) { surgePort(t, c) })
	t.Run("missing", func(t *testing.T) { missingReference(t, c) })
	t.Run("stranded", func(t *testing.T) { strandedNode(t, c) })
}

// refuseImages adds a policy that rejects pods of namespaces with the label policy=images, and
// waits until it applies.
func refuseImages(ctx context.Context, c *stage.Cluster) error {
	if _, err := c.Client.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(ctx, &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "images"},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Create},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}}}},
			Validations: []admissionv1.Validation{{Expression: `object.spec.containers.all(c, c.image.startsWith("registry.example/"))`, Message: "use images of registry.example"}},
		},
	}, metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := c.Client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Create(ctx, &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "images"},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: "images", ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
			MatchResources: &admissionv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"policy": "images"}}},
		},
	}, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := labeledNamespace(ctx, c, "probe", map[string]string{"policy": "images"}); err != nil {
		return err
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "probe-"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "acme/web:1"}}}}
	return c.WaitFor(ctx, "the policy to reject pods", func(ctx context.Context) (bool, error) {
		_, err := c.Client.CoreV1().Pods("probe").Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil && !apierrors.IsInvalid(err) {
			return false, err
		}
		return err != nil, nil
	})
}

func labeledNamespace(ctx context.Context, c *stage.Cluster, name string, labels map[string]string) error {
	_, err := c.Client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}, metav1.CreateOptions{})
	return err
}

// manifestOf writes a DaemonSet to a file and returns its name.
func manifestOf(t *testing.T, ds *appsv1.DaemonSet) string {
	t.Helper()
	ds = ds.DeepCopy()
	ds.TypeMeta = metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"}
	text, err := yaml.Marshal(ds)
	must(t, err)
	file := filepath.Join(t.TempDir(), "agent.yaml")
	must(t, os.WriteFile(file, text, 0o600))
	return file
}

// asked returns the plan for a user and the exit status.
func asked(t *testing.T, c *stage.Cluster, user string, args ...string) (*plan.Plan, int) {
	t.Helper()
	r, err := c.KubectlAs(t.Context(), user, append([]string{"ds", "plan-rollout", "-o", "json"}, args...)...)
	must(t, err)
	p := &plan.Plan{}
	if err := json.Unmarshal([]byte(r.Stdout), p); err != nil {
		t.Fatalf("%v: exit %d\n%s%s", args, r.Code, r.Stdout, r.Stderr)
	}
	return p, r.Code
}

func assumes(p *plan.Plan, code daemonset.AssumptionCode) *daemonset.Assumption {
	if i := slices.IndexFunc(p.Assumptions, func(a daemonset.Assumption) bool { return a.Code == code }); i >= 0 {
		return &p.Assumptions[i]
	}
	return nil
}

// refusedPods checks pods that the API server rejects, for computed reasons and for those that only
// a dry run shows.
func refusedPods(t *testing.T, c *stage.Cluster) {
	for _, tt := range []struct {
		name   string
		labels map[string]string
		change func(*corev1.PodSpec)
		flags  []string
		rule   admission.Rule
		words  string // of the event, after the name of the pod
		why    string
	}{
		{
			"no-class", nil, func(s *corev1.PodSpec) { s.PriorityClassName = "gone" }, nil,
			admission.Priority, "no PriorityClass with name gone was found", "a PriorityClass that does not exist",
		},
		{
			"baseline", map[string]string{"pod-security.kubernetes.io/enforce": "baseline"}, func(s *corev1.PodSpec) { s.HostNetwork = true }, nil,
			admission.PodSecurity, `violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)`, "the level of the namespace forbids the host's network",
		},
		{
			"policy", map[string]string{"policy": "images"}, func(*corev1.PodSpec) {}, []string{"--server-dry-run"},
			admission.APIServer, "ValidatingAdmissionPolicy 'images' with binding 'images' denied request: use images of registry.example", "a policy that only the API server runs",
		},
	} {
		t.Run(tt.why, func(t *testing.T) {
			ctx := t.Context()
			must(t, labeledNamespace(ctx, c, tt.name, tt.labels))
			ds := stage.NewDaemonSet(tt.name, "agent", "acme/node-agent:1")
			tt.change(&ds.Spec.Template.Spec)
			p, _ := asked(t, c, stage.Admin, append(tt.flags, "-f", manifestOf(t, ds))...)
			if p.Outcome.Code != plan.Stalls || p.Outcome.Reason != cause.FailedCreate || len(p.Admission.Refusals) == 0 || p.Admission.Refusals[0].Rule != tt.rule {
				t.Fatalf("%s, %s, %+v", p.Outcome.Code, p.Outcome.Reason, p.Admission)
			}
			must(t, c.Create(ctx, ds))
			said := ""
			must(t, c.WaitFor(ctx, "a FailedCreate event", func(ctx context.Context) (bool, error) {
				events, err := c.Client.CoreV1().Events(tt.name).List(ctx, metav1.ListOptions{FieldSelector: "reason=FailedCreate"})
				if err != nil || len(events.Items) == 0 {
					return false, err
				}
				said = events.Items[0].Message
				return true, nil
			}))
			if !strings.HasSuffix(said, tt.words) {
				t.Errorf("the API server: %s\nwant %s", said, tt.words)
			}
			if quoted := p.Admission.Refusals[0].Message; len(tt.flags) > 0 && !strings.HasSuffix(quoted, tt.words) {
				t.Errorf("the plan quotes %q, want %s", quoted, tt.words)
			}
			if pods, err := c.Pods(ctx, tt.name, "agent"); err != nil || len(pods) > 0 {
				t.Errorf("%d pods, error %v", len(pods), err)
			}
		})
	}
}

// dryRunPods checks other results of --server-dry-run.
func dryRunPods(t *testing.T, c *stage.Cluster) {
	ctx := t.Context()
	ds := stage.NewDaemonSet("policy", "web", "acme/web:1")
	p, _ := asked(t, c, stage.Admin, "-f", manifestOf(t, ds))
	if hooks := assumes(p, plan.AssumeHooks); p.Outcome.Code != plan.Completes || hooks == nil || hooks.Value != "images" {
		t.Errorf("without a dry run the policy is assumed to admit the pods: %s, %+v", p.Outcome.Code, p.Assumptions)
	}
	ds.Spec.Template.Spec.Containers[0].Image = "registry.example/web:1"
	p, _ = asked(t, c, stage.Admin, "-f", manifestOf(t, ds), "--server-dry-run")
	if as := assumes(p, plan.AssumeAsUser); p.Outcome.Code != plan.Completes || as == nil || as.Value != "" || assumes(p, plan.AssumeHooks) != nil {
		t.Errorf("an image that the policy admits: %s, %+v", p.Outcome.Code, p.Assumptions)
	}
	if pods, err := c.Pods(ctx, "policy", "web"); err != nil || len(pods) > 0 {
		t.Errorf("the dry run left %d pods, error %v", len(pods), err)
	}
	must(t, c.Create(ctx, ds))
	must(t, c.WaitRollout(ctx, "policy", "web"))
	p, _ = asked(t, c, stage.Reader, "-n", "policy", "web", "--image", "web=acme/web:2", "--server-dry-run")
	if as := assumes(p, plan.AssumeNotTried); as == nil || !strings.Contains(as.Value, `cannot create resource "pods"`) || assumes(p, plan.AssumeHooks) == nil || assumes(p, plan.AssumeAsUser) != nil {
		t.Errorf("a user who may create no pods: %s, %+v", p.Outcome.Code, p.Assumptions)
	}
	p, _ = asked(t, c, stage.Admin, "-n", "policy", "web", "--image", "web=acme/web:2", "--server-dry-run")
	if p.Outcome.Code != plan.Stalls || len(p.Admission.Refusals) == 0 || !strings.Contains(p.Admission.Refusals[0].Message, "use images of registry.example") {
		t.Errorf("a rollout without a manifest: %s, %+v", p.Outcome.Code, p.Admission)
	}
}

// surgePort checks surge pods that wait for the host port of the old pods, also from a dump without
// that port.
func surgePort(t *testing.T, c *stage.Cluster) {
	ctx := t.Context()
	ds := stage.NewDaemonSet("surge", "agent", "acme/node-agent:1")
	ds.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 9100}}
	ds.Spec.Template.Spec.HostNetwork = true
	none, two := intstr.FromInt32(0), intstr.FromInt32(2)
	ds.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &none, MaxSurge: &two}
	must(t, c.Create(ctx, ds))
	must(t, c.WaitRollout(ctx, "surge", "agent"))
	dump, err := c.KubectlAs(ctx, stage.Admin, "get", "daemonsets,controllerrevisions,pods,nodes", "-n", "surge", "-o", "json")
	must(t, err)
	var list struct {
		APIVersion, Kind string
		Items            []map[string]any `json:"items"`
	}
	must(t, json.Unmarshal([]byte(dump.Stdout), &list))
	for _, item := range list.Items {
		if item["kind"] == "Pod" {
			for _, of := range item["spec"].(map[string]any)["containers"].([]any) {
				delete(of.(map[string]any), "ports")
			}
		}
	}
	raw, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": list.Items})
	must(t, err)
	file := filepath.Join(t.TempDir(), "dump.json")
	must(t, os.WriteFile(file, raw, 0o600))
	for _, from := range [][]string{{}, {"--from", file}} {
		p, _ := asked(t, c, stage.Admin, append(from, "-n", "surge", "agent", "--image", "agent=acme/node-agent:2")...)
		if p.Outcome.Code != plan.Stalls || p.Outcome.Replaced != 0 || p.Outcome.Left != 4 {
			t.Errorf("%v: %s", from, brief(p))
		}
	}
	must(t, c.SetImage(ctx, "surge", "agent", "acme/node-agent:2"))
	must(t, c.WaitFor(ctx, "surge pods that cannot be scheduled", func(ctx context.Context) (bool, error) {
		pods, err := c.Pods(ctx, "surge", "agent")
		waiting := 0
		for _, p := range pods {
			if i := slices.IndexFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
				return c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonUnschedulable && strings.Contains(c.Message, "didn't have free ports")
			}); i >= 0 {
				waiting++
			}
		}
		return waiting == 2 && len(pods) == 6, err
	}))
}

// missingReference checks that a missing ConfigMap is named before and after. The simulated pods
// fail as under a kubelet that does not find it.
func missingReference(t *testing.T, c *stage.Cluster) {
	ctx := t.Context()
	must(t, c.CreateNamespace(ctx, "refers"))
	ds := stage.NewDaemonSet("refers", "agent", "acme/node-agent:1")
	ds.Spec.Template.Labels[stage.BehaveLabel] = string(stage.ConfigError)
	ds.Spec.Template.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}}
	p, _ := asked(t, c, stage.Reader, "-f", manifestOf(t, ds))
	if i := slices.IndexFunc(p.Warnings, func(w plan.Warning) bool { return w.Code == plan.MissingReference }); i < 0 || p.Outcome.Code != plan.Stalls || p.Warnings[i].Facts.Text("name") != "settings" {
		t.Errorf("%s, %+v", p.Outcome.Code, p.Warnings)
	}
	must(t, c.Create(ctx, ds))
	must(t, c.WaitFor(ctx, "pods that do not start", func(ctx context.Context) (bool, error) {
		pods, err := c.Pods(ctx, "refers", "agent")
		return len(pods) == 4 && !slices.ContainsFunc(pods, func(p corev1.Pod) bool {
			return len(p.Status.ContainerStatuses) == 0 || p.Status.ContainerStatuses[0].State.Waiting == nil || p.Status.ContainerStatuses[0].State.Waiting.Reason != "CreateContainerConfigError"
		}), err
	}))
	r, err := c.KubectlAs(ctx, stage.Reader, "ds", "explain", "-n", "refers", "agent", "-o", "json")
	must(t, err)
	e := &explain.Explanation{}
	must(t, json.Unmarshal([]byte(r.Stdout), e))
	if !slices.ContainsFunc(e.Problems, func(p explain.Problem) bool {
		return p.Facts.Text("kind") == "ConfigMap" && p.Facts.Text("name") == "settings"
	}) {
		t.Errorf("no problem names the ConfigMap: %s", r.Stdout)
	}
	must(t, c.Client.AppsV1().DaemonSets("refers").Delete(ctx, "agent", metav1.DeleteOptions{}))
}

// strandedNode checks a taint that was added after the pod started: the pod stays until a rollout
// deletes it, without replacement.
func strandedNode(t *testing.T, c *stage.Cluster) {
	ctx := t.Context()
	ds := stage.NewDaemonSet("stranded", "agent", "acme/node-agent:1")
	must(t, c.Create(ctx, ds))
	must(t, c.WaitRollout(ctx, "stranded", "agent"))
	rollout := []string{"-n", "stranded", "agent", "--image", "agent=acme/node-agent:2", "--fail-on", "strands>0"}
	named := func(p *plan.Plan) (names []string) {
		for _, n := range p.Stranded {
			names = append(names, n.Node)
		}
		return names
	}
	p, code := asked(t, c, stage.Reader, append(rollout, "--taint", "node-01:reserved=yes:NoSchedule")...)
	if diff := cmp.Diff([]string{"node-01"}, named(p)); diff != "" || code != 6 {
		t.Errorf("before the taint: exit %d\n%s", code, diff)
	}
	r, err := c.KubectlAs(ctx, stage.Admin, "taint", "nodes", "node-01", "reserved=yes:NoSchedule")
	must(t, err)
	if r.Code != 0 {
		t.Fatal(r.Stderr)
	}
	p, code = asked(t, c, stage.Reader, rollout...)
	if diff := cmp.Diff([]string{"node-01"}, named(p)); diff != "" || code != 6 {
		t.Errorf("after the taint: exit %d\n%s", code, diff)
	}
	must(t, c.SetImage(ctx, "stranded", "agent", "acme/node-agent:2"))
	must(t, c.WaitRollout(ctx, "stranded", "agent"))
	must(t, c.WaitFor(ctx, "the pod of node-01 to be gone", func(ctx context.Context) (bool, error) {
		pods, err := c.Pods(ctx, "stranded", "agent")
		return len(pods) == 3 && !slices.ContainsFunc(pods, func(p corev1.Pod) bool { return p.Spec.NodeName == "node-01" }), err
	}))
}
