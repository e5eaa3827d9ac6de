package cause_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// TestRejected checks what rejects pods, according to events and to the rules, and whether the rules would now admit
// what was rejected.
func TestRejected(t *testing.T) {
	const byQuota, byLevel, byHook = `pods "agent-" is forbidden: exceeded quota: pods, requested: pods=1, used: pods=9, limited: pods=9`,
		`pods "agent-" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)`, `admission webhook "w" denied the request`
	byAccount := func(name string) string {
		return fmt.Sprintf(`pods "agent-" is forbidden: error looking up service account kube-system/%s: serviceaccount %q not found`, name, name)
	}
	type world struct {
		level, event string
		quota        string // how many pods it still admits; empty for no quota
		lacks        snapshot.What
		first        bool // the template has never changed
		nothing      bool // the objects that decide were not read
	}
	for _, tt := range []struct {
		world
		want   daemonset.Facts // without times and counts; nil: nothing is rejected
		lifted bool
		why    string
	}{
		{world{}, nil, false, "all is admitted"},
		{world{level: "baseline"}, daemonset.Facts{"rule": "PodSecurity", "rejects": "PodSecurityViolated", "name": "kube-system", "predicted": true}, false, "the rules tell it before an event does"},
		{world{level: "baseline", event: byLevel}, daemonset.Facts{"rule": "PodSecurity", "rejects": "PodSecurityViolated", "name": "kube-system"}, false, "an event tells it, and the rules say why"},
		{world{level: "privileged", event: byLevel}, nil, true, "the level was lowered since"},
		{world{event: byLevel}, daemonset.Facts{}, false, "the namespace has no level: the cluster's default may still refuse"},
		{world{event: byQuota, quota: "0"}, daemonset.Facts{"rule": "ResourceQuota", "rejects": "QuotaExceeded", "name": "pods"}, false, "the quota is full"},
		{world{event: byQuota, quota: "2"}, nil, true, "the quota was raised since"},
		{world{event: byQuota, lacks: snapshot.ResourceQuotas}, daemonset.Facts{}, false, "the quotas could not be read"},
		{world{event: byHook}, daemonset.Facts{}, false, "a webhook is not run"},
		{world{level: "baseline", event: byQuota}, daemonset.Facts{}, false, "the words of the server stand, though another rule would refuse as well"},
		{world{event: byAccount("default-v2")}, nil, true, "the template names another ServiceAccount, whose name begins likewise"},
		{world{event: byAccount("default-v2"), nothing: true, first: true}, daemonset.Facts{}, false, "it is of the only template that there was: something else names the ServiceAccount"},
		{world{event: byAccount("default"), nothing: true}, daemonset.Facts{}, false, "it names this one"},
		{world{event: byQuota, nothing: true}, daemonset.Facts{}, false, "nothing was read"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := dstest.State("- N", dstest.Edit(func(s *snapshot.Snapshot) {
				s.DaemonSet.Spec.Template.Spec.HostNetwork = true
				if tt.first {
					s.DaemonSet.Generation = 1
				}
				if tt.event != "" {
					s.Events = []corev1.Event{{
						Reason: "FailedCreate", Message: "Error creating: " + tt.event, LastTimestamp: metav1.NewTime(dstest.Now),
						InvolvedObject: corev1.ObjectReference{Kind: "DaemonSet", UID: s.DaemonSet.UID},
					}}
				}
				if tt.nothing {
					return
				}
				s.Admission = &snapshot.Admission{
					Namespace:       &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system", Labels: map[string]string{}}},
					ServiceAccounts: []corev1.ServiceAccount{{ObjectMeta: metav1.ObjectMeta{Name: "default"}}},
				}
				if tt.level != "" {
					s.Admission.Namespace.Labels["pod-security.kubernetes.io/enforce"] = tt.level
				}
				if tt.quota != "" {
					hard := resource.MustParse(tt.quota)
					hard.Add(resource.MustParse("9"))
					s.Admission.ResourceQuotas = []corev1.ResourceQuota{{
						ObjectMeta: metav1.ObjectMeta{Name: "pods"},
						Status:     corev1.ResourceQuotaStatus{Hard: corev1.ResourceList{corev1.ResourcePods: hard}, Used: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("9")}},
					}}
				}
				if tt.lacks != "" {
					s.Gaps = []snapshot.Gap{{What: tt.lacks, Why: snapshot.Forbidden}}
				}
			}))
			st, err := daemonset.StateOf(s)
			if err != nil {
				t.Fatal(err)
			}
			cs := cause.Find(st)
			var got daemonset.Facts
			if r := cs.Refusal(); r != nil {
				got = daemonset.Facts{}
				for _, key := range []string{"rule", "rejects", "name", "predicted"} {
					if v, ok := r.Facts[key]; ok {
						got[key] = v
					}
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if got := cs.Lifted() != nil; got != tt.lifted {
				t.Errorf("lifted: %v", got)
			}
		})
	}
}

// TestNarrowest checks which quota limits, and how much it needs for a number of pods.
func TestNarrowest(t *testing.T) {
	amount := func(requested, used, hard string) admission.Amount {
		return admission.Amount{Resource: "requests.cpu", Requested: resource.MustParse(requested), Used: resource.MustParse(used), Hard: resource.MustParse(hard)}
	}
	v := &admission.Verdict{Passes: 2, Quotas: []admission.Quota{
		{Name: "wide", Passes: 9, Amounts: []admission.Amount{amount("1", "0", "9")}},
		{Name: "open", Passes: admission.Unlimited},
		{Name: "narrow", Passes: 2, Amounts: []admission.Amount{amount("100m", "0", "1"), amount("250m", "1500m", "2200m")}},
	}}
	q, a := cause.Narrowest(v)
	if q == nil || q.Name != "narrow" || a.Requested.String() != "250m" {
		t.Fatalf("%+v %+v", q, a)
	}
	if need := cause.NeededFor(a, 4); need.String() != "2500m" {
		t.Errorf("for 4 pods %s, want 2500m: 1500m are used, and each takes 250m", need.String())
	}
	if q, _ := cause.Narrowest(&admission.Verdict{Passes: admission.Unlimited}); q != nil {
		t.Errorf("without a quota: %+v", q)
	}
}

// TestSCC checks the messages of OpenShift 4.6 and 4.11 about a pod that no SecurityContextConstraints allow.
func TestSCC(t *testing.T) {
	const no = `pods "agent-" is forbidden: unable to validate against any security context constraint: `
	for _, tt := range []struct {
		message, account string
		want             string
		why              string
	}{
		{no + `[provider restricted: .spec.securityContext.hostNetwork: Invalid value: true: Host network is not allowed to be used spec.volumes[0]: Invalid value: "hostPath": hostPath volumes are not allowed to be used]`,
			"agent", "SCC agent [allowHostNetwork allowHostDirVolumePlugin] Policy", "4.6"},
		{no + `[provider "anyuid": Forbidden: not usable by user or serviceaccount, provider restricted-v2: .containers[0].privileged: Invalid value: true: Privileged containers are not allowed, provider restricted-v2: .containers[0].capabilities.add: Invalid value: "SYS_ADMIN": capability may not be added]`,
			"", "SCC default [allowPrivilegedContainer allowedCapabilities] Policy", "4.11, and the default ServiceAccount"},
		{no + "[]", "agent", "SCC agent Policy", "the ServiceAccount may use none"},
		{`pods "agent-" is forbidden: Privileged containers are not allowed`, "agent", "APIServer Policy", "words of a policy of somebody else"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := dstest.State("- N", dstest.Edit(func(s *snapshot.Snapshot) {
				s.DaemonSet.Spec.Template.Spec.ServiceAccountName = tt.account
				s.Events = []corev1.Event{{
					Reason: "FailedCreate", Message: "Error creating: " + tt.message, LastTimestamp: metav1.NewTime(dstest.Now),
					InvolvedObject: corev1.ObjectReference{Kind: "DaemonSet", UID: s.DaemonSet.UID},
				}}
			}))
			st, err := daemonset.StateOf(s)
			if err != nil {
				t.Fatal(err)
			}
			cs := cause.Find(st)
			problems := cause.Problems([]cause.On{{Node: "n0", Cause: cs.Refusal()}}, nil)
			cs.Judge(problems)
			p := &problems[0]
			words := []string{string(p.Subject.Kind), p.Subject.Name}
			if p.Facts["needs"] != nil {
				words = append(words, fmt.Sprint(p.Facts["needs"]))
			}
			got := strings.Join(strings.Fields(strings.Join(append(words, string(p.Blame.Who)), " ")), " ")
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
