package source_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/internal/source/part"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// guarded is a cluster with an object of each kind that affects the creation of pods.
const guarded = `
	ds agent runtime=kata account=runner
	ds plain
	node n1
	pod p app=agent owner=agent ready
	rev r app=agent owner=agent
	event e about=DaemonSet/agent
	namespace kube-system label=a
	namespace apps label=b
	priorityclass low
	priorityclass high
	runtimeclass kata
	runtimeclass gvisor
	serviceaccount runner
	serviceaccount default
	serviceaccount runner ns=apps
	quota q2
	quota q1
	quota q3 ns=apps
	limits l
	limits m ns=apps
	validating vw in=a for=agent
	validating elsewhere in=b
	validating services of=services
	mutating mw
	policy vp
	policy jobs of=jobs
	binding b1 policy=vp in=a
	binding b2 policy=jobs
	binding b3 policy=vp audits
	mpolicy mp
	mbinding b4 policy=mp`

// admissionOf lists the names of the objects in an Admission.
func admissionOf(a *snapshot.Admission) string {
	if a == nil {
		return "none"
	}
	var out []string
	add := func(kind string, names ...string) {
		out = append(out, strings.TrimSpace(kind+" "+strings.Join(names, " ")))
	}
	if a.Namespace != nil {
		add("namespace", a.Namespace.Name+":"+a.Namespace.Labels["team"])
	} else {
		add("no namespace")
	}
	add("priority", names(a.PriorityClasses)...)
	add("runtime", names(a.RuntimeClasses)...)
	add("accounts", names(a.ServiceAccounts)...)
	add("quotas", names(a.ResourceQuotas)...)
	add("limits", names(a.LimitRanges)...)
	var hooks []string
	for _, h := range a.Hooks {
		hooks = append(hooks, strings.TrimSuffix(string(h.Kind[:1])+"/"+h.Name+"/"+h.Webhook, "/"))
	}
	add("hooks", hooks...)
	return strings.Join(out, "; ")
}

func names[T any](all []T) (out []string) {
	for i := range all {
		o := object.MetaOf(&all[i])
		out = append(out, strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/"))
	}
	return out
}

func TestAddAdmission(t *testing.T) {
	other := &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "other"}}}
	class := "gvisor"
	other.Spec.RuntimeClassName = &class
	missing := &corev1.PodTemplateSpec{}
	nothing := "none"
	missing.Spec.RuntimeClassName, missing.Spec.ServiceAccountName = &nothing, "nobody"
	older := &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "agent"}}}
	older.Spec.DeprecatedServiceAccount = "runner"
	const c = "namespace kube-system:a; priority high low; "
	const own = "; quotas kube-system/q1 kube-system/q2; limits kube-system/l; hooks "
	for _, tt := range []struct {
		name     string
		template *corev1.PodTemplateSpec
		want     string
		unread   string // hooks that the cluster cannot read because no requests are left for policies
		why      string
	}{
		{"agent", nil, c + "runtime kata; accounts kube-system/runner" + own + "V/vw/hook M/mw/hook V/vp M/mp", " V/jobs", "of the live template"},
		{"plain", nil, c + "runtime; accounts kube-system/default" + own + "M/mw/hook V/vp M/mp", "", "the ServiceAccount that a pod gets, and no RuntimeClass"},
		{"agent", other, c + "runtime gvisor; accounts kube-system/default" + own + "M/mw/hook V/vp M/mp", " V/jobs", "of another template"},
		{"plain", older, c + "runtime; accounts kube-system/runner" + own + "V/vw/hook M/mw/hook V/vp M/mp", "", "by the older name of the field"},
		{"agent", missing, c + "runtime; accounts" + own + "M/mw/hook V/vp M/mp", " V/jobs", "what does not exist is not there, and no gap"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			var first *snapshot.Admission
			for _, from := range sources {
				r := from.open(t, parseWorld(t, guarded))
				s, err := r.Read(background, source.Ref{Namespace: "kube-system", Name: tt.name})
				if err != nil {
					t.Fatal(err)
				}
				if s.Admission != nil {
					t.Errorf("%s: read before anybody asked", from.name)
				}
				all, err := r.AddAdmission(background, part.Creation{Of: s, Template: tt.template})
				if err != nil {
					t.Fatal(err)
				}
				got := all[0]
				if diff := cmp.Diff(s.Gaps, got.Gaps); diff != "" {
					t.Errorf("%s: gaps (-before +after):\n%s", from.name, diff)
				}
				words := admissionOf(got.Admission)
				if from.name == "cluster" { // without a request for it, a hook has the name of the binding's policy
					words = strings.Replace(words, tt.unread, "", 1)
					got.Admission.Hooks = slices.DeleteFunc(got.Admission.Hooks, func(h snapshot.AdmissionHook) bool { return h.Name == "jobs" && tt.unread != "" })
				}
				if diff := cmp.Diff(tt.want, words); diff != "" {
					t.Errorf("%s (-want +got):\n%s", from.name, diff)
				}
				if first == nil {
					first = got.Admission
				}
				if diff := cmp.Diff(first, got.Admission, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s differs from the cluster (-cluster +%s):\n%s", from.name, from.name, diff)
				}
				raw, err := snapshot.Encode(got)
				if err != nil {
					t.Fatal(err)
				}
				again, err := snapshot.Decode(raw)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(got.Admission, again.Admission, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s: recorded (-read +recorded):\n%s", from.name, diff)
				}
				for _, gone := range []string{`"long"`, `"token"`, "kubernetes\"]"} {
					if bytes.Contains(raw, []byte(gone)) {
						t.Errorf("%s: the snapshot holds %s", from.name, gone)
					}
				}
				if !bytes.Contains(raw, []byte(`"handler":"runc"`)) && strings.Contains(tt.want, "runtime k") || !bytes.Contains(raw, []byte(`"used":{"pods":"5"}`)) {
					t.Errorf("%s: what rules read is gone", from.name)
				}
			}
		})
	}
}

func TestAddAdmissionAsksFor(t *testing.T) {
	always := map[string]int{
		"priorityclasses": 1, "validatingwebhookconfigurations": 1, "mutatingwebhookconfigurations": 1, "validatingadmissionpolicybindings": 1, "mutatingadmissionpolicybindings": 1,
	}
	with := func(more map[string]int) map[string]int {
		out := map[string]int{}
		for k, v := range always {
			out[k] = v
		}
		for k, v := range more {
			out[k] = v
		}
		return out
	}
	one := map[string]int{"namespace": 1, "serviceaccount": 1, "resourcequotas": 1, "limitranges": 1}
	for _, tt := range []struct {
		world string
		of    []string
		want  map[string]int
		why   string
	}{
		{"ds a\nnode n", nil, map[string]int{}, "nothing for nobody"},
		{"ds a\nnode n", []string{"a"}, with(one), "nine for one DaemonSet"},
		{"ds a runtime=kata\nnode n", []string{"a"}, with(map[string]int{"namespace": 1, "serviceaccount": 1, "resourcequotas": 1, "limitranges": 1, "runtimeclass": 1}), "ten with a RuntimeClass"},
		{"ds a\nnode n\nbinding b policy=p", []string{"a"}, with(map[string]int{"namespace": 1, "serviceaccount": 1, "resourcequotas": 1, "limitranges": 1, "validatingadmissionpolicies": 1}), "and with policies"},
		{"ds a\nnode n\nbinding b policy=p audits\nbinding c policy=p in=x\nnamespace kube-system", []string{"a"}, with(one), "but only for bindings that hold"},
		{"ds a\nnode n\nmbinding b policy=p", []string{"a"}, with(map[string]int{"namespace": 1, "serviceaccount": 1, "resourcequotas": 1, "limitranges": 1, "mutatingadmissionpolicies": 1}), "of either kind"},
		{"ds a\nnode n\nmbinding b policy=p\nbinding c policy=p", []string{"a"}, with(map[string]int{"namespace": 1, "serviceaccount": 1, "resourcequotas": 1, "limitranges": 1, "validatingadmissionpolicies": 1}), "and of one, if there is no request left"},
		{"ds a runtime=kata\nnode n\nmbinding b policy=p\nbinding c policy=p", []string{"a"}, with(map[string]int{"namespace": 1, "serviceaccount": 1, "resourcequotas": 1, "limitranges": 1, "runtimeclass": 1}), "or of none"},
		{
			"ds a runtime=kata account=x\nds b runtime=gvisor account=y\nds c\nnode n\nbinding c policy=p", []string{"a", "b", "c"},
			with(map[string]int{"namespace": 1, "serviceaccounts": 1, "resourcequotas": 1, "limitranges": 1, "runtimeclasses": 1}), "ten for all DaemonSets of a namespace",
		},
		{"ds a\nds b ns=apps\nnode n", []string{"a", "apps/b"}, with(map[string]int{"namespace": 2, "serviceaccount": 2, "resourcequotas": 2, "limitranges": 2}), "four more for another namespace"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := newAPIServer(t, parseWorld(t, tt.world))
			c := newCluster(t, s)
			var all []part.Creation
			for _, name := range tt.of {
				ref := source.Ref{Namespace: "kube-system", Name: name}
				if namespace, name, ok := strings.Cut(name, "/"); ok {
					ref = source.Ref{Namespace: namespace, Name: name}
				}
				read, err := c.Read(background, ref)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, part.Creation{Of: read})
			}
			clear(s.count)
			got, err := c.AddAdmission(background, all...)
			if err != nil || len(got) != len(all) {
				t.Fatal(got, err)
			}
			if diff := cmp.Diff(tt.want, s.asked()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAddAdmissionGaps checks that each part that cannot be read is a gap, and that the other parts are read. An
// object that does not exist is not a gap.
func TestAddAdmissionGaps(t *testing.T) {
	parts := map[string]snapshot.What{
		"namespace": snapshot.Namespaces, "priorityclasses": snapshot.PriorityClasses, "runtimeclass": snapshot.RuntimeClasses, "serviceaccount": snapshot.ServiceAccounts,
		"resourcequotas": snapshot.ResourceQuotas, "limitranges": snapshot.LimitRanges,
		"validatingwebhookconfigurations": snapshot.Webhooks, "mutatingwebhookconfigurations": snapshot.Webhooks,
		"validatingadmissionpolicybindings": snapshot.Webhooks, "mutatingadmissionpolicybindings": snapshot.Webhooks,
	}
	read := func(t *testing.T, answer func(*apiServer, http.ResponseWriter, string, int) bool) *snapshot.Snapshot {
		s := newAPIServer(t, parseWorld(t, guarded))
		c := newCluster(t, s)
		plain, err := c.Read(background, agent)
		if err != nil {
			t.Fatal(err)
		}
		s.answer = answer
		got, err := c.AddAdmission(background, part.Creation{Of: plain})
		if err != nil {
			t.Fatal(err)
		}
		return got[0]
	}
	whole := read(t, nil)
	for asked, what := range parts {
		got := read(t, func(s *apiServer, w http.ResponseWriter, of string, _ int) bool {
			return of == asked && s.forbid(w, asked)
		})
		want := []snapshot.Gap{{What: what, Why: snapshot.Forbidden, Message: asked + ` is forbidden: User "jane" cannot do that`}}
		if diff := cmp.Diff(want, got.Gaps); diff != "" {
			t.Errorf("%s forbidden (-want +got):\n%s", asked, diff)
		}
		if !slices.Contains(snapshot.AdmissionWhats, what) || want[0].Consequence() == "" {
			t.Errorf("%s: %s", what, want[0].Consequence())
		}
		if got.Admission == nil || len(got.Admission.ResourceQuotas)+len(got.Admission.LimitRanges) < 1 || cmp.Equal(whole.Admission, got.Admission) {
			t.Errorf("%s forbidden: the others are not there, or all are", asked)
		}
		got = read(t, func(s *apiServer, w http.ResponseWriter, of string, _ int) bool {
			if of == asked {
				s.fail(w, http.StatusInternalServerError, metav1.StatusReasonInternalError, "no leader")
			}
			return of == asked
		})
		if diff := cmp.Diff([]snapshot.Gap{{What: what, Why: snapshot.Failed, Message: "no leader"}}, got.Gaps); diff != "" {
			t.Errorf("%s failed (-want +got):\n%s", asked, diff)
		}
		got = read(t, func(_ *apiServer, w http.ResponseWriter, of string, _ int) bool {
			if of == asked {
				http.Error(w, "404 page not found", http.StatusNotFound)
			}
			return of == asked
		})
		if older := strings.HasSuffix(asked, "policybindings"); (len(got.Gaps) == 0) != older {
			t.Errorf("%s: a server without the API: gaps %v", asked, got.Gaps)
		}
	}

	s := newAPIServer(t, parseWorld(t, "ds agent runtime=kata\nnode n"))
	c := newCluster(t, s)
	plain, err := c.Read(background, agent)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.AddAdmission(background, part.Creation{Of: plain})
	if err != nil {
		t.Fatal(err)
	}
	if want := "no namespace; priority; runtime; accounts; quotas; limits; hooks"; len(got[0].Gaps) > 0 || admissionOf(got[0].Admission) != want {
		t.Errorf("of a bare cluster: %s, gaps %v", admissionOf(got[0].Admission), got[0].Gaps)
	}
	s.answer = func(s *apiServer, w http.ResponseWriter, _ string, _ int) bool {
		s.fail(w, http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "no")
		return true
	}
	if _, err := c.AddAdmission(background, part.Creation{Of: plain}); err == nil || !strings.Contains(err.Error(), "requires credentials") {
		t.Errorf("with credentials that ran out: %v", err)
	}
	if _, err := c.AddOtherPods(background, []*snapshot.Snapshot{plain}, nil); err == nil || !strings.Contains(err.Error(), "requires credentials") {
		t.Errorf("with credentials that ran out: %v", err)
	}
}

// TestEndingNamespace checks that all sources, and recorded Snapshots, show that the namespace is being deleted.
func TestEndingNamespace(t *testing.T) {
	w := parseWorld(t, "ds agent\nnode n1\nrev r app=agent owner=agent\nevent e about=DaemonSet/agent\nnamespace kube-system ending")
	check := func(name string, r reader) *snapshot.Snapshot {
		s, err := r.Read(background, agent)
		must(t, err)
		all, err := r.AddAdmission(background, part.Creation{Of: s})
		must(t, err)
		n := all[0].Admission.Namespace
		if n == nil || n.DeletionTimestamp == nil || n.Status.Phase != corev1.NamespaceTerminating || n.Status.Conditions != nil {
			t.Errorf("%s: %v", name, n)
		}
		return all[0]
	}
	for _, from := range sources {
		s := check(from.name, from.open(t, w))
		check(from.name+", recorded", recorded(t, s))
	}
}

// TestPoliciesForbidden checks that the bindings name the policies if the policies are forbidden, and that this is
// not a gap.
func TestPoliciesForbidden(t *testing.T) {
	s := newAPIServer(t, parseWorld(t, "ds agent\nnode n\nbinding b policy=jobs\npolicy jobs of=jobs"))
	c := newCluster(t, s)
	plain, err := c.Read(background, agent)
	if err != nil {
		t.Fatal(err)
	}
	for _, forbidden := range []bool{false, true} {
		s.answer = func(s *apiServer, w http.ResponseWriter, what string, _ int) bool {
			return forbidden && what == "validatingadmissionpolicies" && s.forbid(w, what)
		}
		got, err := c.AddAdmission(background, part.Creation{Of: plain})
		if err != nil || len(got[0].Gaps) > 0 || (len(got[0].Admission.Hooks) == 1) != forbidden {
			t.Errorf("forbidden %t: %v, gaps %v, hooks %v", forbidden, err, got[0].Gaps, got[0].Admission.Hooks)
		}
	}
}

// TestDumpLacksAdmission checks that a kind is a gap if a dump has no objects of it, or lacks an object that each
// namespace must have. An object that cannot be read is a gap only for its kind.
func TestDumpLacksAdmission(t *testing.T) {
	d := openText(t, "dump.yaml", asYAML(t, mixedList(parseWorld(t, "ds agent runtime=kata\nnode n1\nnamespace apps\nserviceaccount default ns=apps\nquota q ns=apps"))))
	s, err := d.Read(background, agent)
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.AddAdmission(background, part.Creation{Of: s})
	if err != nil {
		t.Fatal(err)
	}
	gap := func(what snapshot.What, message, of string) snapshot.Gap {
		return snapshot.Gap{What: what, Why: snapshot.NotGiven, Message: message, Of: of}
	}
	const of = "namespace kube-system"
	want := []snapshot.Gap{
		gap(snapshot.Namespaces, "the input holds no Namespace of namespace kube-system", of), gap(snapshot.ServiceAccounts, "the input holds no ServiceAccount of namespace kube-system", of),
		gap(snapshot.PriorityClasses, "the input holds no PriorityClass", ""), gap(snapshot.RuntimeClasses, "the input holds no RuntimeClass", ""),
		gap(snapshot.LimitRanges, "the input holds no LimitRange", ""), gap(snapshot.Webhooks, "the input holds no ValidatingWebhookConfiguration", ""),
	}
	if diff := cmp.Diff(want, gapsOf(got[0], snapshot.AdmissionWhats)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	d = openText(t, "page.json", append(asJSON(t, mixedList(parseWorld(t, guarded))),
		`{"apiVersion":"v1","kind":"ResourceQuotaList","metadata":{"resourceVersion":"9","continue":"more"},"items":[{"metadata":{"name":"q","namespace":"kube-system"}}]}`...))
	if s, err = d.Read(background, agent); err != nil {
		t.Fatal(err)
	}
	if got, err = d.AddAdmission(background, part.Creation{Of: s}); err != nil {
		t.Fatal(err)
	}
	if all := gapsOf(got[0], snapshot.AdmissionWhats); len(all) != 1 || all[0].What != snapshot.ResourceQuotas || all[0].Why != snapshot.Partial {
		t.Errorf("one page of quotas: gaps %v", all)
	}

	const broken = "---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: kube-system}\nspec: {hard: {pods: many}}\n"
	text := ""
	for _, o := range parseWorld(t, guarded) {
		text += "---\n" + string(asYAML(t, typed(o)))
	}
	d, err = readText(text + broken)
	if err != nil {
		t.Fatal(err)
	}
	if s, err = d.Read(background, agent); err != nil {
		t.Fatal(err)
	}
	if got, err = d.AddAdmission(background, part.Creation{Of: s}); err != nil {
		t.Fatal(err)
	}
	n := strings.Count(text, "---\n") + 1
	want = []snapshot.Gap{{What: snapshot.ResourceQuotas, Why: snapshot.Failed, Message: fmt.Sprintf("standard input, document %d: spec.hard[pods]: must be a quantity such as 250m or 64Mi, not \"many\"", n)}}
	if diff := cmp.Diff(want, gapsOf(got[0], snapshot.AdmissionWhats)); diff != "" {
		t.Errorf("a quota that cannot be read (-want +got):\n%s", diff)
	}
}

// TestRecordedAdmission checks that a recorded Snapshot returns what was recorded, and a gap for what was not.
func TestRecordedAdmission(t *testing.T) {
	c := newCluster(t, newAPIServer(t, parseWorld(t, guarded)))
	plain, err := c.Read(background, agent)
	if err != nil {
		t.Fatal(err)
	}
	read, err := c.AddAdmission(background, part.Creation{Of: plain})
	if err != nil {
		t.Fatal(err)
	}
	whole := read[0]
	refused := whole.Admitting(whole.Admission, []snapshot.Gap{{What: snapshot.ServiceAccounts, Why: snapshot.Forbidden, Message: "no"}})
	template := func(account, class string) *corev1.PodTemplateSpec {
		t := plain.DaemonSet.Spec.Template.DeepCopy()
		t.Spec.ServiceAccountName = account
		t.Spec.RuntimeClassName = &class
		return t
	}
	for _, tt := range []struct {
		recorded *snapshot.Snapshot
		template *corev1.PodTemplateSpec
		want     string
		gaps     string
		why      string
	}{
		{whole, nil, admissionOf(whole.Admission), "", "what was recorded"},
		{whole, template("runner", "kata"), admissionOf(whole.Admission), "", "for a template that names the same"},
		{whole, template("other", "kata"), strings.Replace(admissionOf(whole.Admission), " kube-system/runner", "", 1), "serviceaccounts", "another ServiceAccount was not looked up"},
		{whole, template("runner", "gvisor"), strings.Replace(admissionOf(whole.Admission), " kata", "", 1), "runtimeclasses", "nor was another RuntimeClass"},
		{whole, template("runner", ""), strings.Replace(admissionOf(whole.Admission), " kata", "", 1), "", "none needs none"},
		{refused, template("other", "kata"), strings.Replace(admissionOf(whole.Admission), " kube-system/runner", "", 1), "serviceaccounts", "what could not be read then is one gap"},
		{plain, template("runner", ""), "none", "namespaces serviceaccounts priorityclasses limitranges resourcequotas webhooks", "recorded without it"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			d := recorded(t, tt.recorded)
			s, err := d.Read(background, agent)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(plain, s, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("before anybody asks it is as it was without (-without +read):\n%s", diff)
			}
			got, err := d.AddAdmission(background, part.Creation{Of: s, Template: tt.template})
			if err != nil {
				t.Fatal(err)
			}
			var gaps []string
			for _, g := range got[0].Gaps {
				if gaps = append(gaps, string(g.What)); (g.Why == snapshot.NotGiven) == (tt.recorded == refused) {
					t.Errorf("gap %v", g)
				}
			}
			if words := admissionOf(got[0].Admission); words != tt.want || strings.Join(gaps, " ") != tt.gaps {
				t.Errorf("%s, gaps %v; want %s, gaps %s", words, gaps, tt.want, tt.gaps)
			}
		})
	}

	d := recorded(t, whole)
	ds := newOne()
	ds.Namespace = "apps"
	s, err := d.ReadFor(background, ds)
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.AddAdmission(background, part.Creation{Of: s})
	if err != nil {
		t.Fatal(err)
	}
	if want := "no namespace; priority high low; runtime; accounts; quotas; limits; hooks"; admissionOf(got[0].Admission) != want || len(gapsOf(got[0], snapshot.AdmissionWhats)) != 5 {
		t.Errorf("of a new DaemonSet in another namespace: %s, gaps %v", admissionOf(got[0].Admission), got[0].Gaps)
	}
}
