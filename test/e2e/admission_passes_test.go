package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// manyPods is the number of pods created if no quota limits them.
const manyPods = 12

// TestAdmissionPasses checks how many pods can be created under quotas that the real controller
// counts: by sequential requests with the rights of the DaemonSet controller, and by the controller
// itself. It runs a tenth of ADMISSION_CASES, and at least 12.
func TestAdmissionPasses(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	n, seed := max(12, number(t, "ADMISSION_CASES", 40)/10), number(t, "ADMISSION_SEED", 1)
	c := stage.New(t, stage.Options{ServiceAccounts: true})
	must(t, c.AddNodes(ctx, stage.Nodes(manyPods, "node-%02d")...))
	j := &admissionJudge{c: c, controller: asController(t, c), reached: map[string]int{}}
	must(t, j.createClasses(ctx))
	for i := range n {
		k := drawQuotas(rand.New(rand.NewPCG(uint64(seed), uint64(i))), i)
		must(t, j.create(ctx, k))
		must(t, j.settle(ctx, k))
		passes := j.byRequests
		if i%3 == 2 {
			passes = j.byController
		}
		if text, err := passes(ctx, k); err != nil {
			t.Fatalf("case %d: %v\n%s", i, err, k)
		} else if text != "" {
			t.Errorf("case %d of seed %d: %s\n%s", i, seed, text, k)
		}
	}
	t.Logf("%d cases of seed %d\n%s", n, seed, j.table())
	for _, what := range []string{"requests: some pass", "requests: all pass", "controller: some pass"} {
		if j.reached[what] == 0 {
			t.Errorf("no case of %q", what)
		}
	}
}

// drawQuotas draws a template that the level admits, and quotas for a few such pods.
func drawQuotas(r *rand.Rand, i int) *admissionCase {
	name := fmt.Sprintf("quota-%03d", i)
	k := &admissionCase{Rand: r, name: name, namespace: &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}}
	k.template.Spec.Containers = []corev1.Container{{Name: "main", Image: "example.com/main:1", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(oneOf(k, "10m", "30m", "0.25")), corev1.ResourceMemory: resource.MustParse(oneOf(k, "1Mi", "1M", "10Mi", "123456789"))},
	}}}
	if k.chance(30) {
		k.template.Spec.InitContainers = []corev1.Container{{Name: "init", Image: "example.com/init:1", Resources: corev1.ResourceRequirements{
			Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("2Mi")},
		}}}
	}
	if k.chance(20) {
		k.runtimeClass("heavy")
	}
	if k.chance(30) {
		k.template.Spec.PriorityClassName = oneOf(k, "high", "never")
	}
	for range 1 + k.IntN(3) {
		q := k.quota(map[corev1.ResourceName]string{
			oneOf[corev1.ResourceName](k, "pods", "count/pods", "services"): oneOf(k, "0", "3", "7", "40"),
			oneOf[corev1.ResourceName](k, "cpu", "requests.cpu"):            oneOf(k, "100m", "0.77", "2", "40"),
			oneOf[corev1.ResourceName](k, "memory", "requests.memory"):      oneOf(k, "5Mi", "100M", "700Mi", "2Gi", "40Gi"),
		}, "0")
		q.Status = corev1.ResourceQuotaStatus{} // the controller sets it
		if k.chance(30) {
			q.Spec.Scopes = []corev1.ResourceQuotaScope{oneOf(k, corev1.ResourceQuotaScopeNotBestEffort, corev1.ResourceQuotaScopeNotTerminating, corev1.ResourceQuotaScopeTerminating)}
		} else if k.chance(30) {
			q.Spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{{
				ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: corev1.ScopeSelectorOpIn, Values: []string{"high"},
			}}}
			delete(q.Spec.Hard, "services") // these scopes are only for pods
		}
		if len(q.Spec.Scopes) > 0 || q.Spec.ScopeSelector != nil {
			for _, name := range []corev1.ResourceName{"services", "count/pods"} {
				delete(q.Spec.Hard, name)
			}
		}
	}
	return k
}

// verdict waits until every quota is counted and returns the verdict of pkg/admission.
func (j *admissionJudge) verdict(ctx context.Context, k *admissionCase, pods int) (*admission.Verdict, *corev1.Pod, error) {
	core := j.c.Client.CoreV1()
	err := j.c.WaitFor(ctx, "the quotas of "+k.name+" to be counted", func(ctx context.Context) (bool, error) {
		quotas, err := core.ResourceQuotas(k.name).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		for _, q := range quotas.Items {
			for name := range q.Spec.Hard {
				if _, counted := q.Status.Used[name]; !counted {
					return false, nil
				}
			}
		}
		return true, nil
	})
	if err != nil {
		return nil, nil, err
	}
	ds := k.daemonSet()
	ds.Namespace = "default"
	if ds, err = j.c.Client.AppsV1().DaemonSets("default").Create(ctx, ds, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
		return nil, nil, err
	}
	ds.Namespace = k.name
	pod := (&daemonset.State{DaemonSet: ds, History: &daemonset.History{}}).PodFor("node-01")
	pod.OwnerReferences = nil // nobody owns it, so the garbage collector ignores it
	s, err := j.read(ctx, ds)
	if err != nil {
		return nil, nil, err
	}
	verdict := admission.Check(s.Admission, pod, s.KubernetesVersion, s.Lacks)
	for i := range s.Admission.ResourceQuotas {
		if diff := j.usedDiffers(&s.Admission.ResourceQuotas[i], verdict.Pod, pods); diff != "" {
			return nil, nil, fmt.Errorf("%d pods are counted otherwise: %s", pods, diff)
		}
	}
	return &verdict, pod, nil
}

// usedDiffers compares what pkg/admission counts for a quota with what the controller has counted.
func (j *admissionJudge) usedDiffers(q *corev1.ResourceQuota, pod *corev1.Pod, pods int) string {
	want := corev1.ResourceList{}
	for name, amount := range admission.Used(q, pod, "v1.37.1") {
		var sum resource.Quantity
		for range pods {
			sum.Add(amount)
		}
		want[name] = sum
	}
	for name, used := range q.Status.Used {
		if sum := want[name]; sum.Cmp(used) != 0 {
			return fmt.Sprintf("%s is %s, and should be %s", name, &used, &sum)
		}
	}
	return ""
}

// byRequests creates pods until one is rejected.
func (j *admissionJudge) byRequests(ctx context.Context, k *admissionCase) (string, error) {
	verdict, pod, err := j.verdict(ctx, k, 0)
	if err != nil {
		return "", err
	}
	want := verdict.Passes
	if want == admission.Unlimited || want > manyPods {
		want = manyPods
	}
	var made int64
	for ; made < manyPods; made++ {
		if _, err := j.controller.CoreV1().Pods(k.name).Create(ctx, pod, metav1.CreateOptions{}); apierrors.IsForbidden(err) {
			break
		} else if err != nil {
			return "", err
		}
	}
	j.reached["requests: "+someOf(made)]++
	if made != want {
		return fmt.Sprintf("%d pods pass, and %d should\n%s", made, want, asYAML(verdict.Quotas)), nil
	}
	// What is left is the answer of pkg/admission for the current quotas.
	after, _, err := j.verdict(ctx, k, int(made))
	if err != nil {
		return "", err
	}
	if verdict.Passes != admission.Unlimited && after.Passes != verdict.Passes-made {
		return fmt.Sprintf("after %d of %d pods, %d more should pass\n%s", made, verdict.Passes, after.Passes, asYAML(after.Quotas)), nil
	}
	return "", nil
}

func someOf(n int64) string {
	switch n {
	case 0:
		return "none pass"
	case manyPods:
		return "all pass"
	}
	return "some pass"
}

// byController lets the DaemonSet controller create a pod for each node.
func (j *admissionJudge) byController(ctx context.Context, k *admissionCase) (string, error) {
	verdict, _, err := j.verdict(ctx, k, 0)
	if err != nil {
		return "", err
	}
	want := int(verdict.Passes)
	if verdict.Passes == admission.Unlimited || want > manyPods {
		want = manyPods
	}
	ds := k.daemonSet()
	ds.UID = ""
	if _, err := j.c.Client.AppsV1().DaemonSets(k.name).Create(ctx, ds, metav1.CreateOptions{}); err != nil {
		return "", err
	}
	// It has tried all: each node has its pod, or a create was rejected.
	made := 0
	err = j.c.WaitFor(ctx, "the DaemonSet controller to create pods in "+k.name, func(ctx context.Context) (bool, error) {
		pods, err := j.c.Pods(ctx, k.name, ds.Name)
		if err != nil {
			return false, err
		}
		made = len(pods)
		if made == manyPods {
			return true, nil
		}
		events, err := j.c.Client.CoreV1().Events(k.name).List(ctx, metav1.ListOptions{FieldSelector: "reason=FailedCreate"})
		if err != nil {
			return false, err
		}
		for _, e := range events.Items {
			if strings.Contains(e.Message, "quota") {
				return made == want, nil
			}
		}
		return false, nil
	})
	j.reached["controller: "+someOf(int64(made))]++
	if err != nil || made != want {
		return fmt.Sprintf("the controller made %d pods, and %d should pass: %v\n%s", made, want, err, asYAML(verdict.Quotas)), nil
	}
	return "", j.c.Client.AppsV1().DaemonSets(k.name).Delete(ctx, ds.Name, metav1.DeleteOptions{})
}
