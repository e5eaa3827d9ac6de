package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// TestFit checks that plans predict on which nodes a new pod does not fit and which pods the
// scheduler removes for it. FIT_SCENES is the number of random scenes, and FIT_SEED the first seed.
func TestFit(t *testing.T) {
	t.Parallel()
	scenes, seed := fromEnv(t, "FIT_SCENES", 6), fromEnv(t, "FIT_SEED", 1)
	ctx := t.Context()
	c := newStage(t, stage.Options{Controllers: append(slices.Clone(stage.DefaultControllers), "disruption-controller")})
	for name, value := range priorities {
		_, err := c.Client.SchedulingV1().PriorityClasses().Create(ctx, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}, metav1.CreateOptions{})
		must(t, err)
	}
	reached := map[string]int{}
	for i := range scenes {
		s := drawFit(uint64(seed + i))
		t.Run(strconv.Itoa(seed+i), func(t *testing.T) { s.play(t, c, reached) })
	}
	t.Logf("%d scenes from seed %d:", scenes, seed)
	for _, kind := range slices.Sorted(maps.Keys(reached)) {
		t.Logf("  %-60s %d", kind, reached[kind])
	}
	for _, kind := range fitKinds {
		if scenes >= 60 && reached[kind] == 0 {
			t.Errorf("no scene with %s", kind)
		}
	}
}

// fitKinds are what 60 scenes must include: what is asked, and what decides about nodes.
var fitKinds = []string{
	"a new DaemonSet", "changed requests", "a surge",
	"nodes: the pod does not fit, by cpu", "nodes: the pod does not fit, by memory", "nodes: the pod does not fit, by pods", "nodes: the pod does not fit, by a port",
	"nodes: the old pod holds the port", "nodes: tainted", "nodes: the scheduler preempts", "nodes: the scheduler preempts the old pod",
	"pods of a lower priority that stay", "pods that are preempted", "pods that are preempted against a PodDisruptionBudget", "pods that a PodDisruptionBudget spares",
}

// kinds counts what scenes include.
func (s *fitScene) kinds(p *plan.Plan, reached map[string]int) {
	switch {
	case s.before == nil:
		reached["a new DaemonSet"]++
	case s.after.Spec.UpdateStrategy.RollingUpdate.MaxSurge.StrVal == "100%":
		reached["a surge"]++
	default:
		reached["changed requests"]++
	}
	for _, u := range p.Unfit {
		by, _ := u.Facts["resources"].([]any)
		owner := u.Facts.Text("owner")
		switch {
		case strings.HasPrefix(owner, s.name+"/agent-"):
			reached["nodes: the old pod holds the port"]++
		case owner != "":
			reached["nodes: the pod does not fit, by a port"]++
		case len(by) > 0:
			reached[fmt.Sprintf("nodes: the pod does not fit, by %s", by[0])]++
		}
	}
	reached["nodes: the pod does not fit"] += len(p.Unfit)
	victims, own := map[string]bool{}, 0
	for _, x := range p.Preempts {
		for _, name := range x.Pods {
			victims[name] = true
			if strings.HasPrefix(name, s.name+"/agent-") {
				own++
			}
		}
		reached["pods that are preempted against a PodDisruptionBudget"] += len(x.Violates)
	}
	reached["nodes: the scheduler preempts"] += len(p.Preempts)
	reached["nodes: the scheduler preempts the old pod"] += own
	reached["pods that are preempted"] += len(victims)
	for _, n := range s.nodes {
		if len(n.Spec.Taints) > 0 {
			reached["nodes: tainted"]++
			continue
		}
		i := slices.IndexFunc(p.Preempts, func(x plan.Preempt) bool { return x.Node == n.Name })
		for _, o := range s.pods {
			if o.Spec.NodeName != n.Name || i < 0 || victims[s.name+"/"+o.Name] || priorities[o.Spec.PriorityClassName] >= priorities[s.after.Spec.Template.Spec.PriorityClassName] {
				continue
			}
			reached["pods of a lower priority that stay"]++
			if slices.ContainsFunc(s.budgets, func(b *policyv1.PodDisruptionBudget) bool { return b.Name == o.Name }) {
				reached["pods that a PodDisruptionBudget spares"]++
			}
		}
	}
	reached["outcome "+string(p.Outcome.Code)]++
}

func fromEnv(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	must(t, err)
	return n
}

var priorities = map[string]int32{"low": 100, "middle": 1000, "high": 10000}

// fitScene is a few nodes with pods, and the requirements of a DaemonSet.
type fitScene struct {
	name    string
	nodes   []*corev1.Node
	pods    []*corev1.Pod
	budgets []*policyv1.PodDisruptionBudget
	before  *appsv1.DaemonSet // nil: it is new
	after   *appsv1.DaemonSet
}

func drawFit(seed uint64) *fitScene {
	r := rand.New(rand.NewPCG(seed, 16))
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	s := &fitScene{name: fmt.Sprintf("fit-%d", seed)}
	amounts := func(cpu, memory string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}}
	}
	port := func(p *corev1.PodSpec, n int32, ip string) {
		p.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: n, HostPort: n, HostIP: ip, Protocol: corev1.Protocol(pick("TCP", "TCP", "UDP"))}}
	}
	for i := range 3 + r.IntN(3) {
		n := stage.NewNode(fmt.Sprintf("%s-%d", s.name, i))
		n.Labels["scene"] = s.name
		n.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse(pick("1", "2", "500m"))
		n.Status.Allocatable[corev1.ResourceMemory] = resource.MustParse(pick("1Gi", "2Gi", "512Mi"))
		n.Status.Allocatable[corev1.ResourcePods] = resource.MustParse(pick("2", "3", "4", "110", "110"))
		if r.IntN(6) == 0 {
			n.Spec.Taints = []corev1.Taint{{Key: "reserved", Value: "yes", Effect: corev1.TaintEffectNoSchedule}}
		}
		s.nodes = append(s.nodes, n)
		protected := false
		for j := range r.IntN(4) {
			labels := map[string]string{"on": n.Name}
			p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: fmt.Sprintf("%s-%d", n.Name, j), Labels: labels}, Spec: corev1.PodSpec{
				NodeName: n.Name, PriorityClassName: pick("low", "low", "middle", "high", ""), Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
				Containers: []corev1.Container{{Name: "c", Image: "acme/other:1", Resources: amounts(pick("100m", "200m", "400m", "800m"), pick("64Mi", "256Mi", "512Mi"))}},
			}}
			if r.IntN(4) == 0 {
				port(&p.Spec, int32(9400+r.IntN(2)), pick("", "", "127.0.0.1", "0.0.0.0"))
			}
			s.pods = append(s.pods, p)
			if !protected && r.IntN(4) == 0 { // if two select a pod, the disruption controller considers only one
				protected = true
				least := intstr.FromInt32(int32(r.IntN(3)))
				s.budgets = append(s.budgets, &policyv1.PodDisruptionBudget{
					ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: p.Name},
					Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &least, Selector: &metav1.LabelSelector{MatchLabels: labels}},
				})
			}
		}
	}
	ds := stage.NewDaemonSet(s.name, "agent", "acme/node-agent:1")
	spec := &ds.Spec.Template.Spec
	spec.NodeSelector = map[string]string{"scene": s.name}
	spec.PriorityClassName = pick("low", "middle", "middle", "high", "high")
	spec.Containers[0].Resources = amounts(pick("50m", "100m"), pick("16Mi", "32Mi"))
	all, none := intstr.FromString("100%"), intstr.FromInt32(0)
	ds.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &all, MaxSurge: &none}
	s.after = ds.DeepCopy()
	s.after.Spec.Template.Spec.Containers[0].Resources = amounts(pick("50m", "300m", "700m", "3"), pick("16Mi", "300Mi", "700Mi"))
	switch r.IntN(6) {
	case 0, 1:
		port(&s.after.Spec.Template.Spec, int32(9400+r.IntN(2)), pick("", "127.0.0.1"))
	case 2: // the old pod's port; two pods that both have it are never scheduled
		port(spec, 9402, pick("", "127.0.0.1"))
		s.after.Spec.Template.Spec.Containers[0].Ports = spec.Containers[0].DeepCopy().Ports
	case 3:
		port(spec, 9402, pick("", "127.0.0.1"))
		port(&s.after.Spec.Template.Spec, 9402, pick("", "127.0.0.1"))
	case 4: // which goes, because the new one is more important
		port(spec, 9402, "")
		s.after.Spec.Template.Spec.Containers[0].Ports = spec.Containers[0].DeepCopy().Ports
		spec.PriorityClassName, s.after.Spec.Template.Spec.PriorityClassName = "low", "middle"
	}
	if r.IntN(3) == 0 {
		s.after.Spec.Template.Spec.PriorityClassName = pick("low", "high", "high")
	}
	s.after.Spec.Template.Annotations = map[string]string{"drawn": "again"}
	switch r.IntN(3) {
	case 0: // a new DaemonSet
	case 1: // the old pods are deleted first
		s.before = ds
	case 2: // both run concurrently
		ds.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &none, MaxSurge: &all}
		s.after.Spec.UpdateStrategy = *ds.Spec.UpdateStrategy.DeepCopy()
		s.before = ds
	}
	return s
}

// play plans the scene, performs it, and compares.
func (s *fitScene) play(t *testing.T, c *stage.Cluster, reached map[string]int) {
	ctx := t.Context()
	must(t, c.CreateNamespace(ctx, s.name))
	must(t, c.AddNodes(ctx, s.nodes...))
	// the DaemonSet comes first: its pods must fit, while pods that are bound manually always do
	if s.before != nil {
		must(t, c.Create(ctx, s.before))
		must(t, c.WaitRollout(ctx, s.name, "agent"))
	}
	for _, p := range s.pods {
		_, err := c.Client.CoreV1().Pods(s.name).Create(ctx, p, metav1.CreateOptions{})
		must(t, err)
	}
	for _, b := range s.budgets {
		_, err := c.Client.PolicyV1().PodDisruptionBudgets(s.name).Create(ctx, b, metav1.CreateOptions{})
		must(t, err)
	}
	if err := c.WaitFor(ctx, "pods that run, and budgets that count them", func(ctx context.Context) (bool, error) { return s.settled(ctx, c) }); err != nil {
		pods, _ := c.Kubectl(context.Background(), "get", "pods,pdb", "-n", s.name, "-o", "wide")
		t.Fatalf("%v\n%s", err, pods.Stdout)
	}

	file := filepath.Join(t.TempDir(), "agent.yaml")
	after := s.after.DeepCopy()
	after.TypeMeta = metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"}
	text, err := yaml.Marshal(after)
	must(t, err)
	must(t, os.WriteFile(file, text, 0o600))
	var p plan.Plan
	asked, err := c.KubectlAs(ctx, stage.Admin, "ds", "plan-rollout", "-f", file, "--fit", "-o", "json")
	must(t, err)
	if asked.Code != 0 {
		t.Fatal(asked.Stderr)
	}
	must(t, json.Unmarshal([]byte(asked.Stdout), &p))
	unfit, gone := []string{}, []string{}
	for _, u := range p.Unfit {
		unfit = append(unfit, u.Node)
	}
	ties := map[string]bool{} // nodes on which the scheduler has no order for pods that are equally important
	for _, x := range p.Preempts {
		ties[x.Node] = !x.Certain
		for _, name := range x.Pods {
			if !strings.HasPrefix(name, s.name+"/agent-") { // the old pod is deleted either way
				gone = append(gone, name)
			}
		}
	}
	gone = s.tied(gone, ties)

	if s.before == nil {
		must(t, c.Create(ctx, s.after))
	} else {
		must(t, c.Update(ctx, s.name, "agent", func(ds *appsv1.DaemonSet) { ds.Spec.Template = s.after.Spec.Template }))
	}
	want := fitEnd{Pending: unfit, Gone: gone}
	var got fitEnd
	err = c.WaitFor(ctx, "what the plan says", func(ctx context.Context) (bool, error) {
		e, quiet, err := s.end(ctx, c)
		got = e
		return quiet, err
	})
	if err != nil {
		t.Fatalf("%v\nso far %s; the plan said %s\n%s", err, got, want, s.describe(p))
	}
	got.Gone = s.tied(got.Gone, ties)
	t.Logf("pending %v, removed %v, outcome %s", got.Pending, got.Gone, p.Outcome.Code)
	if got.String() != want.String() {
		t.Errorf("pending and removed: %s; the plan said %s\n%s", got, want, s.describe(p))
	}
	s.kinds(&p, reached)
	must(t, c.Client.AppsV1().DaemonSets(s.name).Delete(ctx, "agent", metav1.DeleteOptions{}))
}

// tied returns the sorted names of pods, with the name of their node in place of their own if it is
// undefined which of the node's pods are meant.
func (s *fitScene) tied(pods []string, ties map[string]bool) []string {
	out := []string{}
	for _, name := range pods {
		for _, p := range s.pods {
			if s.name+"/"+p.Name == name && ties[p.Spec.NodeName] {
				name = "one of " + p.Spec.NodeName
			}
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// settled reports whether everything runs and the status of the PodDisruptionBudgets is up to date.
func (s *fitScene) settled(ctx context.Context, c *stage.Cluster) (bool, error) {
	pods, err := c.Client.CoreV1().Pods(s.name).List(ctx, metav1.ListOptions{})
	if err != nil {
		return false, err
	}
	ready := map[string]int32{}
	for _, p := range pods.Items {
		if !stage.PodReady(&p) {
			return false, nil
		}
		ready[p.Labels["on"]]++
	}
	budgets, err := c.Client.PolicyV1().PodDisruptionBudgets(s.name).List(ctx, metav1.ListOptions{})
	if err != nil {
		return false, err
	}
	for _, b := range budgets.Items {
		if b.Status.ObservedGeneration != b.Generation || b.Status.CurrentHealthy != ready[b.Spec.Selector.MatchLabels["on"]] {
			return false, nil
		}
	}
	return true, nil
}

// fitEnd is the result of a scene.
type fitEnd struct{ Pending, Gone []string }

func (e fitEnd) String() string {
	return strings.Join(e.Pending, ",") + " | " + strings.Join(e.Gone, ",")
}

// end returns the nodes with a new pod that does not run, and the pods of others that are gone.
// quiet reports whether the controller and the scheduler have nothing left to do: every eligible
// node has a new pod that runs or is unschedulable without a nominated node, and no pod is
// terminating.
func (s *fitScene) end(ctx context.Context, c *stage.Cluster) (e fitEnd, quiet bool, err error) {
	pods, err := c.Client.CoreV1().Pods(s.name).List(ctx, metav1.ListOptions{})
	if err != nil {
		return e, false, err
	}
	ds, err := c.Client.AppsV1().DaemonSets(s.name).Get(ctx, "agent", metav1.GetOptions{})
	if err != nil {
		return e, false, err
	}
	there, fresh := map[string]bool{}, map[string]bool{}
	quiet = ds.Status.ObservedGeneration == ds.Generation
	for _, p := range pods.Items {
		quiet = quiet && p.DeletionTimestamp == nil
		if p.Labels["on"] != "" {
			there[p.Name] = true
			continue
		}
		if p.Annotations["drawn"] == "" {
			continue // an old pod
		}
		node := p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values[0]
		fresh[node] = true
		unschedulable := slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
		})
		switch {
		case p.Spec.NodeName == "":
			e.Pending = append(e.Pending, node)
			quiet = quiet && unschedulable && p.Status.NominatedNodeName == ""
		default:
			quiet = quiet && stage.PodReady(&p)
		}
	}
	for _, n := range s.nodes {
		if len(n.Spec.Taints) == 0 {
			quiet = quiet && fresh[n.Name]
		}
	}
	for _, p := range s.pods {
		if !there[p.Name] {
			e.Gone = append(e.Gone, s.name+"/"+p.Name)
		}
	}
	slices.Sort(e.Pending)
	slices.Sort(e.Gone)
	return e, quiet, nil
}

// describe returns a description of the scene.
func (s *fitScene) describe(p plan.Plan) string {
	var b strings.Builder
	spec := &s.after.Spec.Template.Spec
	fmt.Fprintf(&b, "the pod: %s %v %v, %+v\n", spec.PriorityClassName, spec.Containers[0].Resources.Requests, spec.Containers[0].Ports, s.after.Spec.UpdateStrategy.RollingUpdate)
	for _, n := range s.nodes {
		fmt.Fprintf(&b, "%s: cpu %s, memory %s, pods %s, %v\n", n.Name, n.Status.Allocatable.Cpu(), n.Status.Allocatable.Memory(), n.Status.Allocatable.Pods(), n.Spec.Taints)
		for _, o := range s.pods {
			if o.Spec.NodeName == n.Name {
				r := o.Spec.Containers[0].Resources.Requests
				fmt.Fprintf(&b, "  %s: %s cpu %s, memory %s, %v\n", o.Name, o.Spec.PriorityClassName, r.Cpu(), r.Memory(), o.Spec.Containers[0].Ports)
			}
		}
	}
	for _, x := range s.budgets {
		fmt.Fprintf(&b, "budget %s: %v of %v\n", x.Name, x.Spec.MinAvailable, x.Spec.Selector.MatchLabels)
	}
	unfit, _ := json.Marshal(p.Unfit)
	preempts, _ := json.Marshal(p.Preempts)
	fmt.Fprintf(&b, "unfit: %s\npreempts: %s\n", unfit, preempts)
	return b.String()
}
