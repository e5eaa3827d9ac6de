package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// faultyAsks are the commands that run through the fault proxy.
var faultyAsks = []string{
	"explain -n agents settled", "explain -n agents stuck", "explain -n agents pending", "explain -n agents referring", "explain -n tenant refused", "explain -A", "explain -n agents",
	"plan-rollout -n agents settled --image acme/settled:3", "plan-rollout -n agents stuck", "plan-rollout -n agents pending", "plan-rollout -n tenant refused",
	"plan-rollout -n agents stateful --image acme/stateful:2 --fit", "plan-rollout -n agents referring --restart",
	"history -n agents stuck", "history -A",
	"snapshot -n agents stuck", "snapshot -n agents stateful --fit", "snapshot -A --fit",
}

const (
	mostMemory = 512 // MB, for one command
	shortTime  = time.Second
	longTime   = 5 * time.Second
	slack      = 1500 * time.Millisecond // for a busy machine
)

// TestFaults runs commands against a real API server through a proxy that answers a tenth of the
// requests like broken servers, load balancers and networks. Each run must end in time and within
// its memory, with the right answer, with the right answer except for what its gaps name, or with
// one clear error. It also checks that a silent server is not waited for longer than its requests
// may take.
//
// FAULTS is the number of runs and FAULTS_SEED the seed. FAULTS_RUN repeats a single run.
func TestFaults(t *testing.T) {
	t.Parallel()
	c := newStage(t, stage.Options{})
	setFaultyScene(t, c)
	j := newFaultJudge(t, c)
	t.Run("a tenth of the requests", func(t *testing.T) { t.Parallel(); someFaults(t, j) })
	for _, tt := range stalled {
		t.Run(tt.ask+", answered "+tt.answered, func(t *testing.T) {
			t.Parallel()
			var w waits
			config := proxied(t, c, stage.Admin, func(_ http.ResponseWriter, r *http.Request) bool {
				stalls := r.URL.Path != tt.answered
				if stalls {
					w.stall(r)
				}
				return stalls
			})
			r := kubectlDS(t, c, config, tt.ask+" --request-timeout "+longTime.String())
			if w.most > tt.waits {
				t.Errorf("%d requests wait one after the other, more than %d", w.most, tt.waits)
			}
			if said := r.Stdout + r.Stderr; r.Code != tt.code || !strings.Contains(said, "the time for the request is over") || goWords.MatchString(said) {
				t.Errorf("it ends with %d, not %d: %s", r.Code, tt.code, said)
			}
		})
	}
}

// waits counts consecutive requests without a response.
type waits struct {
	sync.Mutex
	over, most int // of those that have ended, and in total
}

// stall holds a request until the client gives up.
func (w *waits) stall(r *http.Request) {
	w.Lock()
	number := w.over + 1
	w.most = max(w.most, number)
	w.Unlock()
	<-r.Context().Done()
	w.Lock()
	w.over = max(w.over, number)
	w.Unlock()
}

// stalled are commands whose requests get no response except for one path, and the maximum number
// of consecutive waits. Concurrent requests are waited for together.
var stalled = []struct {
	ask, answered string
	waits, code   int
}{
	{"explain -n agents settled", "none", 1, 1},
	{"explain -A", "none", 1, 1},
	{"explain -n agents settled", "/apis/apps/v1/namespaces/agents/daemonsets/settled", 2, 0}, // the version, and lists
	{"history -n agents settled", "/apis/apps/v1/namespaces/agents/daemonsets/settled", 2, 0},
	{"snapshot -n agents settled", "/apis/apps/v1/namespaces/agents/daemonsets/settled", 3, 0}, // and what creation of pods needs
	{"plan-rollout -n agents settled --image acme/settled:3", "/apis/apps/v1/namespaces/agents/daemonsets/settled", 3, 0},
}

// someFaults runs commands through the proxy and evaluates each.
func someFaults(t *testing.T, j *faultJudge) {
	ctx, c := t.Context(), j.c
	runs, seed := number(t, "FAULTS", 100), uint64(number(t, "FAULTS_SEED", 1))
	first := 1
	if only := number(t, "FAULTS_RUN", 0); only > 0 {
		first, runs = only, only
	}
	proxies := []*faultProxy{newFaultProxy(t, c, seed, 0.1, false), newFaultProxy(t, c, seed, 0.1, true)}

	var mu sync.Mutex
	var sum faultTally
	began := time.Now()
	todo := make(chan int)
	var workers sync.WaitGroup
	for range 6 { // they mostly wait
		workers.Go(func() {
			for n := range todo {
				dice := rand.New(rand.NewPCG(seed, uint64(n)))
				ask := faultyAsks[dice.IntN(len(faultyAsks))]
				timeout := shortTime
				if dice.IntN(20) == 0 {
					timeout = longTime
				}
				p := proxies[dice.IntN(len(proxies))]
				r := j.run(ctx, ask, "--server", p.address(n), "--certificate-authority", p.ca, "--request-timeout", timeout.String())
				attempts := p.attempts(n)
				verdict, wrong := j.judge(ctx, ask, n, r)
				wrong = append(wrong, late(attempts, timeout)...)
				if r.megabytes > mostMemory {
					wrong = append(wrong, fmt.Sprintf("it takes %d MB", r.megabytes))
				}
				mu.Lock()
				sum.add(verdict, len(wrong) > 0, r, attempts)
				if len(wrong) > 0 && sum.wrong <= 10 || first == runs {
					t.Logf("FAULTS_SEED=%d FAULTS_RUN=%d: %s, --request-timeout %s: %s\n%s\n%s%s", seed, n, ask, timeout, verdict, strings.Join(wrong, "\n"), told(attempts), r.stderr)
				}
				if len(wrong) > 0 {
					t.Fail()
				}
				mu.Unlock()
			}
		})
	}
	for n := first; n <= runs && ctx.Err() == nil; n++ {
		todo <- n
	}
	close(todo)
	workers.Wait()
	t.Logf("FAULTS_SEED=%d: %s in %s", seed, sum, time.Since(began).Round(time.Second))
}

// faultTally holds the results of many runs.
type faultTally struct {
	runs, right, gaps, failed, wrong int
	requests, faults, megabytes      int
	longest                          time.Duration
}

func (s *faultTally) add(verdict string, wrong bool, r faultyRun, attempts []attempt) {
	s.runs++
	switch {
	case wrong:
		s.wrong++
	case verdict == isRight:
		s.right++
	case verdict == hasGaps:
		s.gaps++
	default:
		s.failed++
	}
	s.requests += len(attempts)
	for _, a := range attempts {
		if a.fault != "" {
			s.faults++
		}
	}
	s.megabytes, s.longest = max(s.megabytes, r.megabytes), max(s.longest, r.took)
}

func (s faultTally) String() string {
	return fmt.Sprintf("%d runs: %d right, %d right with a gap, %d with one error, %d wrong; %d of %d requests with a fault; at most %d MB and %s",
		s.runs, s.right, s.gaps, s.failed, s.wrong, s.faults, s.requests, s.megabytes, s.longest.Round(time.Millisecond))
}

var token = regexp.MustCompile(`continue=[^&]*`)

// told returns the faults of a run.
func told(attempts []attempt) string {
	var b strings.Builder
	for _, a := range attempts {
		if a.fault != "" {
			fmt.Fprintf(&b, "  %s: %s, after %s\n", token.ReplaceAllString(a.what, "continue=…"), a.fault, a.end.Sub(a.began).Round(time.Millisecond))
		}
	}
	return b.String()
}

// late returns the requests that took longer than their timeout, including retries by client-go.
func late(attempts []attempt, timeout time.Duration) (wrong []string) {
	open := map[string]time.Time{} // start times of requests that have not ended
	for _, a := range attempts {
		began, again := open[a.what]
		if !again {
			began = a.began
		}
		if took := a.end.Sub(began); took > timeout+slack {
			wrong = append(wrong, fmt.Sprintf("%s takes %s, of %s", a.what, took, timeout))
		}
		delete(open, a.what)
		if a.again {
			open[a.what] = began
		}
	}
	return wrong
}

// faultyRun is a completed command.
type faultyRun struct {
	stdout, stderr string
	code           int
	took           time.Duration
	megabytes      int // maximum, including this process when it started the command
}

// setFaultyScene creates what the commands ask about and freezes it.
func setFaultyScene(t *testing.T, c *stage.Cluster) {
	t.Helper()
	ctx := t.Context()
	nodes := stage.Nodes(12, "node-%02d")
	nodes[0].Spec.Taints = []corev1.Taint{{Key: "node-role.kubernetes.io/control-plane", Effect: corev1.TaintEffectNoSchedule}}
	for i := range nodes {
		nodes[i].Labels[corev1.LabelTopologyZone] = fmt.Sprintf("zone-%c", 'a'+i%3)
	}
	small := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("300m"), corev1.ResourceMemory: resource.MustParse("1Gi"), corev1.ResourcePods: resource.MustParse("110")}
	nodes[4].Status.Capacity, nodes[4].Status.Allocatable = small, small
	must(t, c.AddNodes(ctx, nodes...))
	must(t, c.SetRules(ctx, stage.Rule{Image: "acme/stuck:3", Behave: stage.ImagePullBackOff}, stage.Rule{DaemonSet: "referring", Behave: stage.ConfigError}))
	must(t, c.CreateNamespace(ctx, "agents"))
	must(t, c.CreateNamespace(ctx, "tenant"))
	boundClaim(t, c, "agents", "data")

	make := func(namespace, name string, change func(*corev1.PodSpec)) *appsv1.DaemonSet {
		ds := stage.NewDaemonSet(namespace, name, "acme/"+name+":1")
		change(&ds.Spec.Template.Spec)
		must(t, c.Create(ctx, ds))
		return ds
	}
	plain := func(*corev1.PodSpec) {}
	settled, stuck := make("agents", "settled", plain), make("agents", "stuck", plain)
	make("agents", "stateful", func(s *corev1.PodSpec) {
		s.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	})
	for _, name := range []string{"settled", "stuck", "stateful"} {
		must(t, c.WaitRollout(ctx, "agents", name))
	}
	budget, hook := intstr.FromInt32(1), admissionv1.Fail
	_, err := c.Client.PolicyV1().PodDisruptionBudgets("agents").Create(ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "settled"}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: settled.Spec.Selector, MaxUnavailable: &budget},
	}, metav1.CreateOptions{})
	must(t, err)
	_, err = c.Client.CoreV1().Secrets("agents").Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "token"}, Data: map[string][]byte{"token": []byte("sesame")}}, metav1.CreateOptions{})
	must(t, err)
	make("agents", "pending", func(s *corev1.PodSpec) {
		s.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}
	})
	make("agents", "referring", func(s *corev1.PodSpec) {
		s.Containers[0].EnvFrom = []corev1.EnvFromSource{
			{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "gone"}}},
			{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "token"}}},
		}
	})
	must(t, c.WaitDaemonSet(ctx, "agents", "pending", "all but one", func(ds *appsv1.DaemonSet) bool { return ds.Status.NumberAvailable == 10 }))
	for _, image := range []string{"acme/settled:2"} {
		must(t, c.SetImage(ctx, "agents", "settled", image))
		must(t, c.WaitRollout(ctx, "agents", "settled"))
	}
	must(t, c.SetImage(ctx, "agents", "stuck", "acme/stuck:2"))
	must(t, c.WaitRollout(ctx, "agents", "stuck"))
	must(t, c.SetImage(ctx, "agents", "stuck", "acme/stuck:3"))
	quota := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("3")}
	_, err = c.Client.CoreV1().ResourceQuotas("tenant").Create(ctx, &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "pods"}, Spec: corev1.ResourceQuotaSpec{Hard: quota}}, metav1.CreateOptions{})
	must(t, err)
	must(t, c.WaitFor(ctx, "the quota to be counted", func(ctx context.Context) (bool, error) {
		q, err := c.Client.CoreV1().ResourceQuotas("tenant").Get(ctx, "pods", metav1.GetOptions{})
		return err == nil && len(q.Status.Used) > 0, err
	}))
	make("tenant", "refused", plain)
	must(t, c.WaitDaemonSet(ctx, "tenant", "refused", "three pods", func(ds *appsv1.DaemonSet) bool { return ds.Status.NumberAvailable == 3 }))
	for reason, namespace := range map[string]string{"FailedCreate": "tenant", "BackOff": "agents", "FailedScheduling": "agents"} {
		must(t, c.WaitFor(ctx, "the event "+reason, func(ctx context.Context) (bool, error) {
			l, err := c.Client.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("reason", reason).String()})
			return err == nil && len(l.Items) > 0, err
		}))
	}
	must(t, c.WaitDaemonSet(ctx, "agents", "stuck", "one pod of the new image", func(ds *appsv1.DaemonSet) bool {
		return ds.Status.UpdatedNumberScheduled == 1 && ds.Status.NumberUnavailable == 1
	}))
	for _, name := range []string{"a", "b"} { // last: they fail
		none := admissionv1.SideEffectClassNone
		_, err := c.Client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(ctx, &admissionv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Webhooks: []admissionv1.ValidatingWebhook{{
				Name: name + ".example.com", FailurePolicy: &hook, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
				ClientConfig: admissionv1.WebhookClientConfig{URL: new("https://127.0.0.1:1/")},
				Rules: []admissionv1.RuleWithOperations{{
					Operations: []admissionv1.OperationType{admissionv1.Create},
					Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
				}},
			}},
		}, metav1.CreateOptions{})
		must(t, err)
	}
	must(t, c.Freeze())
	_ = stuck
}
