package admission

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// drawn returns a random namespace and pod in the notation, so that nothing,
// one thing or several things reject the pod.
func drawn(r *rand.Rand) (ns, pod string) {
	one := func(all ...string) string { return all[r.IntN(len(all))] }
	join := func(parts ...string) string {
		var kept []string
		for _, p := range parts {
			if r.IntN(3) == 0 {
				kept = append(kept, p)
			}
		}
		return strings.Join(kept, "; ")
	}
	ns = "ns " + one("", "baseline", "restricted v1.8", "privileged") + "; priority high 1000; priority late 5 never; runtime vm overhead cpu=250m select=disk:ssd tolerate=vm; " + join(
		"account builder pull=a,b", "account strict strict=x", "priority usual 42 default", "runtime plain",
		"range a Container default "+one("cpu=1", "cpu=100m memory=1Gi")+" request cpu="+one("50m", "100m"),
		"range b Container "+one("min", "max", "ratio")+" memory="+one("1", "2", "1Gi"),
		"range c Pod "+one("min", "max")+" cpu="+one("100m", "1", "2"),
		"quota p pods="+one("0/5", "3/5", "5/5", "?/5"),
		"quota q cpu="+one("0/1", "1/2")+" limits.memory=0/"+one("1Gi", "1"),
		"quota s pods=1/2 scope "+one("BestEffort", "NotBestEffort", "NotTerminating"),
		"quota t pods=1/3 class "+one("In high,late", "NotIn late", "Exists"),
		"quota u requests.ephemeral-storage=1/100 requests.memory=1/1Gi",
	)
	amounts := func() string {
		return strings.ReplaceAll(join("cpu="+one("50m/100m", "-/1", "2", "0/0"), "memory="+one("1/1", "-/1Gi", "64Mi")), ";", "")
	}
	pod = "a " + amounts() + "; " + join(
		"b "+amounts(), "init i "+amounts(), "sidecar s "+amounts(), "all cpu=2/"+one("2", "-"),
		"hostNetwork", "hostPath", "privileged", "secret "+one("x", "y"), "port 80; port "+one("80", "81"),
		"account="+one("builder", "strict", "gone"), "priority="+one("high", "late", "gone"), "value="+one("0", "1000"), "preempt=Never",
		"runtime="+one("vm", "plain", "gone"), "overhead cpu=250m", "select=disk:"+one("ssd", "hdd"), "pull=p", "tolerate vm", "elsewhere",
	)
	return ns, pod
}

// TestLaws checks what is true of every namespace and pod.
func TestLaws(t *testing.T) {
	refused := map[Reason]int{}
	for i := range cases.Of(1000) {
		r := rand.New(rand.NewPCG(16, uint64(i)))
		ns, text := drawn(r)
		in, _ := namespaceOf(t, ns)
		pod := podOf(t, text)
		law := &law{t: t, in: in, pod: pod, got: Check(in, pod, "", nil), of: fmt.Sprintf("%d: %s | %s", i, ns, text)}
		for _, f := range law.got.Refusals {
			refused[f.Reason]++
		}
		law.untouched(ns, text)
		law.ordered()
		law.sameInAnyOrder(r)
		law.sameAgain()
		law.quotasOnlyReject()
		law.counted()
		law.gapsOnlyHide()
		law.stricterRejectsMore()
		if t.Failed() {
			return
		}
	}
	for _, reason := range []Reason{
		ServiceAccountNotFound, SecretNotAllowed, PriorityClassNotFound, PriorityDiffers, PreemptionPolicyDiffers, RuntimeClassNotFound, OverheadWithoutClass, NodeSelectorConflicts,
		PodInvalid, LimitRangeViolated, PodSecurityViolated, QuotaMustSpecify, QuotaStatusUnknown, QuotaExceeded,
	} {
		if refused[reason] < cases.Least(5) {
			t.Errorf("%s came up %d times: the laws say little about it", reason, refused[reason])
		}
	}
}

type law struct {
	t   *testing.T
	in  *snapshot.Admission
	pod *corev1.Pod
	got Verdict
	of  string
}

func (l *law) same(what string, want, got Verdict) {
	l.t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		l.t.Errorf("%s: %s (-want +got):\n%s", l.of, what, diff)
	}
}

// untouched checks that Check does not modify its input.
func (l *law) untouched(ns, pod string) {
	in, _ := namespaceOf(l.t, ns)
	if diff := cmp.Diff(in, l.in) + cmp.Diff(podOf(l.t, pod), l.pod); diff != "" {
		l.t.Errorf("%s: the input is changed:\n%s", l.of, diff)
	}
}

// ordered checks that refusals are in the order of the API server.
func (l *law) ordered() {
	at := func(r Refusal) int {
		switch r.Reason {
		case OverheadWithoutClass: // checked after the level
			return 2*slices.Index(Rules, PodSecurity) + 1
		case QuotaExceeded: // checked after what must be specified
			return 2*slices.Index(Rules, ResourceQuota) + 1
		}
		return 2 * slices.Index(Rules, r.Rule)
	}
	if !slices.IsSortedFunc(l.got.Refusals, func(a, b Refusal) int { return at(a) - at(b) }) {
		l.t.Errorf("%s: out of order:\n%s", l.of, said(l.got))
	}
}

// sameInAnyOrder checks that the order of lists does not matter.
func (l *law) sameInAnyOrder(r *rand.Rand) {
	in := *l.in
	in.ServiceAccounts, in.PriorityClasses, in.RuntimeClasses = shuffled(r, in.ServiceAccounts), shuffled(r, in.PriorityClasses), shuffled(r, in.RuntimeClasses)
	in.ResourceQuotas, in.LimitRanges = shuffled(r, in.ResourceQuotas), shuffled(r, in.LimitRanges)
	l.same("in another order", l.got, Check(&in, l.pod, "", nil))
}

func shuffled[E any](r *rand.Rand, list []E) []E {
	list = slices.Clone(list)
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// sameAgain checks that an admitted pod is admitted again unchanged.
func (l *law) sameAgain() {
	if l.got.Admitted() {
		l.same("the admitted pod", l.got, Check(l.in, l.got.Pod, "", nil))
	}
}

// quotasOnlyReject checks that removing a quota admits at least as many pods
// and changes nothing else.
func (l *law) quotasOnlyReject() {
	most := func(n int64) int64 { // treats Unlimited as the largest
		if n == Unlimited {
			return 1 << 62
		}
		return n
	}
	for i, q := range l.in.ResourceQuotas {
		in := *l.in
		in.ResourceQuotas = slices.Delete(slices.Clone(in.ResourceQuotas), i, i+1)
		without := Check(&in, l.pod, "", nil)
		if most(without.Passes) < most(l.got.Passes) {
			l.t.Errorf("%s: %d pass without %s, and %d with it", l.of, without.Passes, q.Name, l.got.Passes)
		}
		want := l.got
		want.Refusals = slices.DeleteFunc(slices.Clone(want.Refusals), func(r Refusal) bool { return r.Rule == ResourceQuota && r.Name == q.Name })
		want.Quotas = slices.DeleteFunc(slices.Clone(want.Quotas), func(v Quota) bool { return v.Name == q.Name })
		want.Passes = without.Passes
		l.same("without "+q.Name, want, without)
	}
}

// counted checks that Passes is exact: with that many pods counted, no other
// pod is admitted, and with one fewer, one is.
func (l *law) counted() {
	if !l.got.Admitted() || l.got.Passes == Unlimited || l.got.Passes > 50 {
		return
	}
	for _, left := range []int64{0, 1} {
		in := *l.in
		in.ResourceQuotas = slices.Clone(in.ResourceQuotas)
		for i := range in.ResourceQuotas {
			q := in.ResourceQuotas[i].DeepCopy()
			for name, amount := range Used(q, l.got.Pod, "") {
				used := q.Status.Used[name]
				for range l.got.Passes - left {
					used.Add(amount)
				}
				q.Status.Used[name] = used
			}
			in.ResourceQuotas[i] = *q
		}
		if then := Check(&in, l.pod, "", nil); then.Passes != left {
			l.t.Errorf("%s: %d pass, and after %d of them %d more", l.of, l.got.Passes, l.got.Passes-left, then.Passes)
		}
	}
}

// gapsOnlyHide checks that a missing part removes only the answers of its own
// rules, and adds none. The exception are quotas, for which fewer requests may
// be known.
func (l *law) gapsOnlyHide() {
	for _, what := range []snapshot.What{snapshot.Namespaces, snapshot.ServiceAccounts, snapshot.PriorityClasses, snapshot.RuntimeClasses, snapshot.LimitRanges, snapshot.ResourceQuotas} {
		in := *l.in
		switch what {
		case snapshot.Namespaces:
			in.Namespace = nil
		case snapshot.ServiceAccounts:
			in.ServiceAccounts = nil
		case snapshot.PriorityClasses:
			in.PriorityClasses = nil
		case snapshot.RuntimeClasses:
			in.RuntimeClasses = nil
		case snapshot.LimitRanges:
			in.LimitRanges = nil
		case snapshot.ResourceQuotas:
			in.ResourceQuotas = nil
		}
		got := Check(&in, l.pod, "", func(w snapshot.What) bool { return w == what })
		for _, r := range got.Refusals {
			if r.Rule == LimitRanger || r.Rule == ResourceQuota || r.Rule == Validation {
				continue // the unknown defaults affect what they count
			}
			if !slices.ContainsFunc(l.got.Refusals, func(o Refusal) bool { return o.Rule == r.Rule && o.Reason == r.Reason }) {
				l.t.Errorf("%s: without %s %s rejects the pod for %s", l.of, what, r.Rule, r.Reason)
			}
		}
		for _, u := range got.Unknown {
			if u.Lack != what {
				l.t.Errorf("%s: without %s, %s is unknown", l.of, what, u.Lack)
			}
		}
	}
}

// stricterRejectsMore checks that a stricter level forbids whatever a level
// does.
func (l *law) stricterRejectsMore() {
	rejects := func(level string) bool {
		in := *l.in
		in.Namespace = in.Namespace.DeepCopy()
		in.Namespace.Labels["pod-security.kubernetes.io/enforce"] = level
		got := Check(&in, l.pod, "", nil)
		return slices.ContainsFunc(got.Refusals, func(r Refusal) bool { return r.Rule == PodSecurity })
	}
	if rejects("privileged") || rejects("baseline") && !rejects("restricted") {
		l.t.Errorf("%s: a level admits what a less strict one rejects", l.of)
	}
}
