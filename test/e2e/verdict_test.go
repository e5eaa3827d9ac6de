package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/validate"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// TestVerdicts compares the results of changes to a DaemonSet or a node, and the reasons for
// rejections, word for word with the real API server, kubectl and the node controller. DaemonSets
// are written by dry run, so each row starts with the same one.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := stage.New(t, stage.Options{NodeMonitorGracePeriod: 8 * time.Second})
	must(t, c.AddNodes(ctx, stage.Nodes(3, "node-%02d")...))
	ds := stage.NewDaemonSet("kube-system", "node-agent", "acme/node-agent:1")
	ds.Spec.Template.Spec.NodeSelector = map[string]string{corev1.LabelOSStable: "linux"}
	must(t, c.Create(ctx, ds))
	must(t, c.WaitRollout(ctx, ds.Namespace, ds.Name))
	must(t, c.SetImage(ctx, ds.Namespace, ds.Name, "acme/node-agent:2"))
	must(t, c.WaitRollout(ctx, ds.Namespace, ds.Name))

	t.Run("refusals", func(t *testing.T) { verdicts(t, c, ds) })
	t.Run("changes", func(t *testing.T) { writes(t, c, ds) })
	t.Run("nodes", func(t *testing.T) { nodeWrites(t, c, ds) })
	must(t, c.Update(ctx, ds.Namespace, ds.Name, func(ds *appsv1.DaemonSet) {
		ds.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
	}))
	t.Run("changes of OnDelete", func(t *testing.T) { writes(t, c, ds) })
}

// verdicts compares Validate.
func verdicts(t *testing.T, c *stage.Cluster, ds *appsv1.DaemonSet) {
	limits := func(unavailable, surge string) func(*appsv1.DaemonSet) {
		return func(ds *appsv1.DaemonSet) {
			u, s := intstr.Parse(unavailable), intstr.Parse(surge)
			ds.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &u, MaxSurge: &s}
		}
	}
	strategy := func(name string, ru *appsv1.RollingUpdateDaemonSet) func(*appsv1.DaemonSet) {
		return func(ds *appsv1.DaemonSet) {
			ds.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.DaemonSetUpdateStrategyType(name), RollingUpdate: ru}
		}
	}
	spec := func(change func(*corev1.PodSpec)) func(*appsv1.DaemonSet) {
		return func(ds *appsv1.DaemonSet) { change(&ds.Spec.Template.Spec) }
	}
	toleration := func(of corev1.Toleration) func(*appsv1.DaemonSet) {
		return spec(func(s *corev1.PodSpec) { s.Tolerations = []corev1.Toleration{of} })
	}
	container := func(change func(*corev1.Container)) func(*appsv1.DaemonSet) {
		return spec(func(s *corev1.PodSpec) { change(&s.Containers[0]) })
	}
	command, get := &corev1.ExecAction{Command: []string{"x"}}, &corev1.HTTPGetAction{Port: intstr.FromInt32(80), Scheme: corev1.URISchemeHTTP}
	socket, path := &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}, &corev1.HostPathVolumeSource{Path: "/x"}
	name := &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"}}
	negative, seconds := int32(-1), int64(3)
	one, zero := intstr.FromInt32(1), intstr.FromInt32(0)
	both := &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &one, MaxSurge: &one}
	refused := 0
	for name, change := range map[string]func(*appsv1.DaemonSet){
		"nothing":                 func(*appsv1.DaemonSet) {},
		"10% 0":                   limits("10%", "0"),
		"0 100%":                  limits("0", "100%"),
		"1 0%":                    limits("1", "0%"),
		"500 0":                   limits("500", "0"),
		"0 0":                     limits("0", "0"),
		"0% 0":                    limits("0%", "0"),
		"1 1":                     limits("1", "1"),
		"5% 20%":                  limits("5%", "20%"),
		"101% 0":                  limits("101%", "0"),
		"0 101%":                  limits("0", "101%"),
		"-1 0":                    limits("-1", "0"),
		"0 -1":                    limits("0", "-1"),
		"some 0":                  limits("some", "0"),
		"1.5% 0":                  limits("1.5%", "0"),
		"0 x%":                    limits("0", "x%"),
		"OnDelete":                strategy("OnDelete", nil),
		"OnDelete with limits":    strategy("OnDelete", both),
		"Recreate":                strategy("Recreate", nil),
		"Recreate with limits":    strategy("Recreate", &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &one, MaxSurge: &zero}),
		"no defaults":             strategy("RollingUpdate", nil),
		"minReadySeconds -1":      func(ds *appsv1.DaemonSet) { ds.Spec.MinReadySeconds = -1 },
		"revisionHistoryLimit -1": func(ds *appsv1.DaemonSet) { ds.Spec.RevisionHistoryLimit = &negative },
		"selector":                func(ds *appsv1.DaemonSet) { ds.Spec.Selector.MatchLabels["tier"] = "x" },
		"empty selector":          func(ds *appsv1.DaemonSet) { ds.Spec.Selector = &metav1.LabelSelector{} },
		"no selector":             func(ds *appsv1.DaemonSet) { ds.Spec.Selector = nil },
		"template labels":         func(ds *appsv1.DaemonSet) { ds.Spec.Template.Labels = map[string]string{"a": "b"} },
		"no template labels":      func(ds *appsv1.DaemonSet) { ds.Spec.Template.Labels = nil },
		"no image":                spec(func(s *corev1.PodSpec) { s.Containers[0].Image = "" }),
		"blank image":             spec(func(s *corev1.PodSpec) { s.Containers[0].Image = " x " }),
		"restartPolicy":           spec(func(s *corev1.PodSpec) { s.RestartPolicy = corev1.RestartPolicyOnFailure }),
		"activeDeadlineSeconds":   spec(func(s *corev1.PodSpec) { s.ActiveDeadlineSeconds = &seconds }),
		"no nodeSelectorTerms": spec(func(s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{}}}
		}),
		"nodeSelector":                 spec(func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"a": "b c"} }),
		"nodeSelector key":             spec(func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"a b": "c"} }),
		"toleration":                   toleration(corev1.Toleration{Key: "a", Operator: "Exists"}),
		"toleration of all":            toleration(corev1.Toleration{Operator: "Exists"}),
		"toleration without key":       toleration(corev1.Toleration{Value: "a"}),
		"toleration with a bad key":    toleration(corev1.Toleration{Key: "a b", Operator: "Exists"}),
		"toleration exists with value": toleration(corev1.Toleration{Key: "a", Operator: "Exists", Value: "b"}),
		"toleration with a bad value":  toleration(corev1.Toleration{Key: "a", Value: "b c"}),
		"toleration operator":          toleration(corev1.Toleration{Key: "a", Operator: "Likes"}),
		"toleration effect":            toleration(corev1.Toleration{Key: "a", Operator: "Exists", Effect: "Never"}),
		"toleration seconds":           toleration(corev1.Toleration{Key: "a", Operator: "Exists", Effect: "NoSchedule", TolerationSeconds: &seconds}),
		"a probe of two types": container(func(c *corev1.Container) {
			c.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: command, HTTPGet: get}}
		}),
		"a probe of three types": container(func(c *corev1.Container) {
			c.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: get, TCPSocket: socket, GRPC: &corev1.GRPCAction{Port: 80}}}
		}),
		"a probe of no type": container(func(c *corev1.Container) { c.StartupProbe = &corev1.Probe{} }),
		"a hook of two types": container(func(c *corev1.Container) {
			c.Lifecycle = &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{Exec: command, TCPSocket: socket}, PreStop: &corev1.LifecycleHandler{Exec: command, HTTPGet: get}}
		}),
		"hooks and probes of two types": container(func(c *corev1.Container) {
			two := corev1.ProbeHandler{Exec: command, HTTPGet: get}
			c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: command, HTTPGet: get}}
			c.LivenessProbe, c.ReadinessProbe, c.StartupProbe = &corev1.Probe{ProbeHandler: two}, &corev1.Probe{ProbeHandler: two}, &corev1.Probe{ProbeHandler: two}
			c.Env = []corev1.EnvVar{{Name: "A", Value: "a", ValueFrom: name}}
		}),
		"a variable with value and source": container(func(c *corev1.Container) { c.Env = []corev1.EnvVar{{Name: "A", Value: "a", ValueFrom: name}} }),
		"a variable with two sources": container(func(c *corev1.Container) {
			c.Env = []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{FieldRef: name.FieldRef, ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}, Key: "k"}}}}
		}),
		"a volume of two types": spec(func(s *corev1.PodSpec) {
			s.Volumes = []corev1.Volume{{Name: "a", VolumeSource: corev1.VolumeSource{HostPath: path, EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		}),
		"a volume of three types": spec(func(s *corev1.PodSpec) {
			s.Volumes = []corev1.Volume{{Name: "a", VolumeSource: corev1.VolumeSource{HostPath: path, Secret: &corev1.SecretVolumeSource{SecretName: "s"}, ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}}}}}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			live := liveDaemonSet(t, c, ds)
			changed := live.DeepCopy()
			change(changed)
			_, err := c.Client.AppsV1().DaemonSets(ds.Namespace).Update(t.Context(), changed, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
			real, ours := "taken", "taken"
			if err != nil {
				real = err.Error()
				refused++
			}
			if name == "no defaults" { // the API server sets them before it validates
				changed.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &one, MaxSurge: &zero}
			}
			if errs := validate.DaemonSet(live, changed, ""); len(errs) > 0 {
				ours = (&whatif.Invalid{Name: live.Name, Errors: errs}).Error()
			}
			if worded(real) != worded(ours) {
				t.Errorf("the API server: %s\nours:           %s", real, ours)
			}
		})
	}
	if refused < 25 {
		t.Errorf("only %d were refused", refused)
	}
}

// worded returns the messages of a rejection. Those of an older API server contain values in Go
// syntax, which are left out, and are not ordered.
func worded(text string) string {
	head, causes, several := strings.Cut(text, " is invalid: [spec.")
	if !before(37) {
		return text
	}
	if several {
		list := strings.Split(strings.TrimSuffix(causes, "]"), ", spec.")
		slices.Sort(list)
		text = head + " is invalid: [spec." + strings.Join(list, ", spec.") + "]"
	}
	return aboutValue.ReplaceAllString(text, "$1 …")
}

var aboutValue = regexp.MustCompile(`((?:Invalid|Unsupported) value:) \S.*?(: |$)`)

func liveDaemonSet(t *testing.T, c *stage.Cluster, ds *appsv1.DaemonSet) *appsv1.DaemonSet {
	t.Helper()
	live, err := c.Client.AppsV1().DaemonSets(ds.Namespace).Get(t.Context(), ds.Name, metav1.GetOptions{})
	must(t, err)
	return live
}

// world returns the current state of the cluster.
func world(t *testing.T, c *stage.Cluster, ds *appsv1.DaemonSet) *snapshot.Snapshot {
	t.Helper()
	version, err := c.Client.Discovery().ServerVersion()
	must(t, err)
	revisions, err := c.Client.AppsV1().ControllerRevisions(ds.Namespace).List(t.Context(), metav1.ListOptions{})
	must(t, err)
	nodes, err := c.Client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	must(t, err)
	pods, err := c.Client.CoreV1().Pods(ds.Namespace).List(t.Context(), metav1.ListOptions{})
	must(t, err)
	return &snapshot.Snapshot{
		DaemonSet: liveDaemonSet(t, c, ds), Revisions: revisions.Items, Nodes: nodes.Items, Pods: pods.Items,
		TakenAt: time.Now(), KubernetesVersion: version.GitVersion, VersionSource: snapshot.VersionServer,
	}
}

// writes compares the effects of changes on the DaemonSet with those of the equivalent patches.
func writes(t *testing.T, c *stage.Cluster, ds *appsv1.DaemonSet) {
	s := world(t, c, ds)
	st, err := daemonset.StateOf(s)
	must(t, err)
	limit := func(v string) *intstr.IntOrString { l := intstr.Parse(v); return &l }
	first, previous, ready := int64(1), int64(0), int32(9)
	restartedAt := s.TakenAt.UTC().Format(time.RFC3339)
	i := slices.IndexFunc(s.Revisions, func(r appsv1.ControllerRevision) bool { return r.Revision == 1 })
	rollback := string(s.Revisions[i].Data.Raw)
	for _, tt := range []struct {
		why    string
		change whatif.Change
		patch  string // as kubectl sends it
	}{
		{"nothing", whatif.Change{}, `{}`},
		{"image", whatif.Change{Images: []whatif.Image{{Image: "acme/node-agent:3"}}}, fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":%q,"image":"acme/node-agent:3"}]}}}}`, ds.Spec.Template.Spec.Containers[0].Name)},
		{"the same image", whatif.Change{Images: []whatif.Image{{Image: "acme/node-agent:2"}}}, fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":%q,"image":"acme/node-agent:2"}]}}}}`, ds.Spec.Template.Spec.Containers[0].Name)},
		{"restart", whatif.Change{Restart: true}, fmt.Sprintf(`{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":%q}}}}}`, restartedAt)},
		{"rollback", whatif.Change{ToRevision: &first}, rollback},
		{"rollback to the one before", whatif.Change{ToRevision: &previous}, rollback},
		{"minReadySeconds", whatif.Change{MinReadySeconds: &ready}, `{"spec":{"minReadySeconds":9}}`},
		{"OnDelete", whatif.Change{Strategy: "OnDelete"}, `{"spec":{"updateStrategy":{"type":"OnDelete"}}}`},
		{"RollingUpdate", whatif.Change{Strategy: "RollingUpdate"}, `{"spec":{"updateStrategy":{"type":"RollingUpdate"}}}`},
		{"RollingUpdate with a limit", whatif.Change{Strategy: "RollingUpdate", MaxUnavailable: limit("25%")}, `{"spec":{"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"25%"}}}}`},
		{"maxUnavailable", whatif.Change{MaxUnavailable: limit("3")}, `{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":3}}}}`},
		{"maxUnavailable 0", whatif.Change{MaxUnavailable: limit("0")}, `{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":0}}}}`},
		{"maxSurge alone", whatif.Change{MaxSurge: limit("1")}, `{"spec":{"updateStrategy":{"rollingUpdate":{"maxSurge":1}}}}`},
		{"maxSurge", whatif.Change{MaxSurge: limit("1"), MaxUnavailable: limit("0")}, `{"spec":{"updateStrategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":0}}}}`},
		{"Recreate", whatif.Change{Strategy: "Recreate"}, `{"spec":{"updateStrategy":{"type":"Recreate"}}}`},
		{"toleration", whatif.Change{Tolerations: []corev1.Toleration{{Key: "gpu", Operator: "Exists"}}}, `{"spec":{"template":{"spec":{"tolerations":[{"key":"gpu","operator":"Exists"}]}}}}`},
		{"nodeSelector", whatif.Change{NodeSelector: map[string]string{"a": "b"}}, `{"spec":{"template":{"spec":{"nodeSelector":{"a":"b"}}}}}`},
		{"nodeSelector less", whatif.Change{DropSelector: []string{corev1.LabelOSStable}}, fmt.Sprintf(`{"spec":{"template":{"spec":{"nodeSelector":{%q:null}}}}}`, corev1.LabelOSStable)},
	} {
		t.Run(tt.why, func(t *testing.T) {
			real, refusal := c.Client.AppsV1().DaemonSets(ds.Namespace).Patch(t.Context(), ds.Name, types.StrategicMergePatchType, []byte(tt.patch), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
			r, err := whatif.Make(st, &tt.change)
			if err != nil || refusal != nil {
				if worded(fmt.Sprint(err)) != worded(fmt.Sprint(refusal)) {
					t.Errorf("the API server: %v\nours:           %v", refusal, err)
				}
				return
			}
			ours, sum := r.State.DaemonSet, r.Summary
			if !equality.Semantic.DeepEqual(real.Spec, ours.Spec) {
				t.Errorf("spec:\n%s\nours:\n%s", text(t, real.Spec), text(t, ours.Spec))
			}
			const generation = appsv1.DeprecatedTemplateGeneration
			if real.Generation != ours.Generation || real.Annotations[generation] != ours.Annotations[generation] {
				t.Errorf("generations %d and %s, ours %d and %s", real.Generation, real.Annotations[generation], ours.Generation, ours.Annotations[generation])
			}
			if changed := real.Generation != s.DaemonSet.Generation; changed != (len(sum.Fields) > 0) {
				t.Errorf("changed: %t, ours %v", changed, sum.Fields)
			}
			if changed := real.Annotations[generation] != s.DaemonSet.Annotations[generation]; changed != sum.TemplateChanged {
				t.Errorf("the template changed: %t, ours %t", changed, sum.TemplateChanged)
			}
		})
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.MarshalIndent(v, "", " ")
	must(t, err)
	return string(raw)
}

// nodeWrites compares the predicted effects of changes on a node and its pods with the real ones.
func nodeWrites(t *testing.T, c *stage.Cluster, ds *appsv1.DaemonSet) {
	const name = "node-01"
	kubectl := func(args ...string) func(context.Context) error {
		return func(ctx context.Context) error {
			r, err := c.Kubectl(ctx, args...)
			if err == nil && r.Code != 0 {
				err = fmt.Errorf("%v: %s", args, r.Stderr)
			}
			return err
		}
	}
	for _, tt := range []struct {
		why  string
		edit whatif.NodeEdit
		real func(context.Context) error
	}{
		{"taint", whatif.NodeEdit{Kind: whatif.NodeTaint, Taint: &corev1.Taint{Key: "a", Value: "b", Effect: "PreferNoSchedule"}}, kubectl("taint", "node", name, "a=b:PreferNoSchedule")},
		{"another value", whatif.NodeEdit{Kind: whatif.NodeTaint, Taint: &corev1.Taint{Key: "a", Value: "c", Effect: "PreferNoSchedule"}}, kubectl("taint", "node", name, "a=c:PreferNoSchedule", "--overwrite")},
		{"untaint", whatif.NodeEdit{Kind: whatif.NodeUntaint, Taint: &corev1.Taint{Key: "a"}}, kubectl("taint", "node", name, "a-")},
		{"label", whatif.NodeEdit{Kind: whatif.NodeLabel, Key: "a", Value: "b"}, kubectl("label", "node", name, "a=b")},
		{"unlabel", whatif.NodeEdit{Kind: whatif.NodeUnlabel, Key: "a"}, kubectl("label", "node", name, "a-")},
		{"cordon", whatif.NodeEdit{Kind: whatif.NodeCordon}, kubectl("cordon", name)},
		{"uncordon", whatif.NodeEdit{Kind: whatif.NodeUncordon}, kubectl("uncordon", name)},
		{"down", whatif.NodeEdit{Kind: whatif.NodeDown}, func(ctx context.Context) error { return c.KillNodes(ctx, name) }},
	} {
		tt.edit.Which = name
		before, err := daemonset.StateOf(world(t, c, ds))
		must(t, err)
		r, err := whatif.Make(before, &whatif.Change{Nodes: []whatif.NodeEdit{tt.edit}})
		must(t, err)
		must(t, tt.real(t.Context()))
		want := onNode(r.State.Snapshot, name)
		var got string
		err = c.WaitFor(t.Context(), tt.why+" as it was planned", func(context.Context) (bool, error) {
			got = onNode(world(t, c, ds), name)
			return got == want, nil
		})
		if err != nil {
			t.Fatalf("%s: %v\nreal: %s\nours: %s", tt.why, err, got, want)
		}
		if tt.edit.Kind != whatif.NodeUncordon && got == onNode(before.Snapshot, name) {
			t.Errorf("%s: nothing happened", tt.why)
		}
	}
}

// onNode returns what rules see of one node and its pods, as text.
func onNode(s *snapshot.Snapshot, name string) string {
	out := ""
	for i := range s.Nodes {
		n := s.Nodes[i].DeepCopy()
		if n.Name != name {
			continue
		}
		var taints []string
		for _, t := range n.Spec.Taints {
			taints = append(taints, t.ToString())
		}
		slices.Sort(taints)
		delete(n.Labels, stage.DeadLabel) // with which the stage cuts the power
		out += fmt.Sprintf("labels %v, taints %v, unschedulable %t", n.Labels, taints, n.Spec.Unschedulable)
		for _, c := range n.Status.Conditions {
			out += fmt.Sprintf(", %s %s", c.Type, c.Status)
		}
	}
	for i := range s.Pods {
		if p := &s.Pods[i]; p.Spec.NodeName == name {
			out += fmt.Sprintf(", a pod, ready %t, terminating %t", stage.PodReady(p), p.DeletionTimestamp != nil)
		}
	}
	return out
}
