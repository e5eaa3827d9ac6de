package source_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/part"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// selectingOf formats the node selectors in a Snapshot, their sources, and the gaps.
func selectingOf(s *snapshot.Snapshot) string {
	if s.OpenShift == nil {
		return strings.TrimSpace("none " + gapWords(s))
	}
	by, selector := s.OpenShift.NodeSelector()
	by = strings.TrimSuffix(by, "/node-selector")
	if by == "" {
		by = "default"
	}
	if s.OpenShift.Namespace == nil {
		by = "unread, " + by
	}
	return strings.TrimSpace(by + " [" + selector + "] " + gapWords(s))
}

func gapWords(s *snapshot.Snapshot) string {
	var out []string
	for _, g := range gapsOf(s, snapshot.OpenShiftWhats) {
		words := fmt.Sprintf("(%s %s: %s)", g.What, g.Why, g.Message)
		if g.Of != "" {
			words += " of " + g.Of
		}
		out = append(out, words)
	}
	return strings.Join(out, " ")
}

// onOpenShift is an OpenShift cluster without its namespace.
const onOpenShift = "ds agent\nnode n1 openshift\nnode n2\npod p app=agent owner=agent ready\nrev r app=agent owner=agent\nevent e about=DaemonSet/agent\n"

// TestOpenShift checks that all sources read the node selectors of OpenShift's controller in the same way if a node
// belongs to OpenShift, and that they are recorded.
func TestOpenShift(t *testing.T) {
	for _, tt := range []struct {
		world string
		want  string
		asks  string // requests in addition to the usual ones
		why   string
	}{
		{"namespace kube-system selects=pool=infra\nmanager cluster", "openshift.io [pool=infra]", "namespace", "the annotation, and then no default"},
		{"namespace kube-system kube=pool=infra selects=pool=web\nmanager cluster", "scheduler.alpha.kubernetes.io [pool=infra]", "namespace", "Kubernetes' own comes first"},
		{"namespace kube-system selects=\nmanager cluster overridden=a=b", "openshift.io []", "namespace", "an empty one is one"},
		{"namespace kube-system kube= selects=pool=web\nmanager cluster", "scheduler.alpha.kubernetes.io []", "namespace", "of either"},
		{"namespace kube-system\nmanager cluster", "default []", "namespace kubecontrollermanager", "without any, nothing is the usual default"},
		{"namespace kube-system\nmanager cluster observed=a=b", "default [a=b]", "namespace kubecontrollermanager", "what the operator observes"},
		{"namespace kube-system\nmanager cluster observed=a=b overridden=c=d", "default [c=d]", "namespace kubecontrollermanager", "is overridden"},
		{"namespace kube-system\nmanager cluster observed=a=b overridden=", "default []", "namespace kubecontrollermanager", "also by nothing"},
		{"namespace kube-system\nnamespace apps selects=a=b\nmanager cluster", "default []", "namespace kubecontrollermanager", "another namespace says nothing"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			var first *snapshot.OpenShift
			for _, from := range sources {
				r := from.open(t, parseWorld(t, onOpenShift+tt.world))
				s, err := r.Read(background, agent)
				if err != nil {
					t.Fatal(err)
				}
				if got := selectingOf(s); got != tt.want {
					t.Errorf("%s: %s, want %s", from.name, got, tt.want)
				}
				if first == nil {
					first = s.OpenShift
				}
				if diff := cmp.Diff(first, s.OpenShift, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s differs from the cluster (-cluster +%s):\n%s", from.name, from.name, diff)
				}
				if _, more := s.OpenShift.Namespace.Annotations["applied"]; more || len(s.OpenShift.Namespace.ManagedFields) > 0 {
					t.Errorf("%s: the namespace holds more than is read", from.name)
				}
				all, err := r.ReadAll(background, source.Filter{Namespace: "kube-system"})
				if err != nil || len(all) != 1 {
					t.Fatal(all, err)
				}
				of, err := r.(interface {
					ReadFor(context.Context, *appsv1.DaemonSet) (*snapshot.Snapshot, error)
				}).ReadFor(background, newOne())
				if err != nil {
					t.Fatal(err)
				}
				raw, err := snapshot.Encode(s)
				if err != nil {
					t.Fatal(err)
				}
				d, err := readText(string(raw))
				if err != nil {
					t.Fatal(err)
				}
				recorded, err := d.Read(background, agent)
				if err != nil {
					t.Fatal(err)
				}
				for way, again := range map[string]*snapshot.Snapshot{"of all": all[0], "of a new one": of, "recorded": recorded} {
					if diff := cmp.Diff(s.OpenShift, again.OpenShift, cmpopts.EquateEmpty()); diff != "" || gapWords(again) != gapWords(s) {
						t.Errorf("%s, %s (-read +again):\n%s%s", from.name, way, diff, gapWords(again))
					}
				}
			}
			s := newAPIServer(t, parseWorld(t, onOpenShift+tt.world))
			if _, err := newCluster(t, s).Read(background, agent); err != nil {
				t.Fatal(err)
			}
			if got := askedBeside(t, s, onOpenShift); got != tt.asks {
				t.Errorf("asks for %s, want %s", got, tt.asks)
			}
		})
	}
}

// askedBeside returns the requests to s that a plain cluster with the same world does not get.
func askedBeside(t *testing.T, s *apiServer, text string) string {
	t.Helper()
	plain := newAPIServer(t, parseWorld(t, strings.ReplaceAll(text, " openshift", "")))
	if _, err := newCluster(t, plain).Read(background, agent); err != nil {
		t.Fatal(err)
	}
	var more []string
	before, after := plain.asked(), s.asked()
	for _, what := range []string{"namespace", "namespaces", "kubecontrollermanager", "kubecontrollermanagers"} {
		for range after[what] {
			more = append(more, what)
		}
		delete(after, what)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("other requests (-plain +openshift):\n%s", diff)
	}
	return strings.Join(more, " ")
}

// TestPlainClusterIsLeftAlone checks that no more requests are sent if no node belongs to OpenShift. The Snapshot
// then has no part for OpenShift, even if namespaces have its annotations.
func TestPlainClusterIsLeftAlone(t *testing.T) {
	text := strings.ReplaceAll(onOpenShift, " openshift", "") + "namespace kube-system kube=pool=infra selects=pool=web\nmanager cluster overridden=a=b"
	for _, from := range sources {
		s, err := from.open(t, parseWorld(t, text)).Read(background, agent)
		if err != nil {
			t.Fatal(err)
		}
		if got := selectingOf(s); got != "none" {
			t.Errorf("%s: %s", from.name, got)
		}
		raw, err := snapshot.Encode(s)
		if err != nil || strings.Contains(string(raw), "pool=") || strings.Contains(string(raw), "openShift") {
			t.Errorf("%s: recorded: %v\n%s", from.name, err, raw)
		}
	}
	s := newAPIServer(t, parseWorld(t, text))
	c := newCluster(t, s)
	if _, err := c.Read(background, agent); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ReadAll(background, source.Filter{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ReadFor(background, newOne()); err != nil {
		t.Fatal(err)
	}
	if n := s.asked(); n["namespace"]+n["namespaces"]+n["kubecontrollermanager"] > 0 {
		t.Errorf("asked: %v", n)
	}
}

// TestOpenShiftUnread checks objects that a cluster forbids, fails to return, or does not have.
func TestOpenShiftUnread(t *testing.T) {
	const bare = "\nnamespace kube-system"
	answer := func(words string) func(*apiServer, http.ResponseWriter) {
		return func(s *apiServer, w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(words))
		}
	}
	forbid := func(what string) func(*apiServer, http.ResponseWriter) {
		return func(s *apiServer, w http.ResponseWriter) { s.forbid(w, what) }
	}
	fail := func(s *apiServer, w http.ResponseWriter) {
		s.fail(w, http.StatusInternalServerError, metav1.StatusReasonInternalError, "no leader")
	}
	for _, tt := range []struct {
		world  string
		of     string // the resource that gets this response
		answer func(*apiServer, http.ResponseWriter)
		want   string
		asks   string
		why    string
	}{
		{bare, "namespace", forbid("it"), `unread, default [] (namespaces/node-selector Forbidden: it is forbidden: User "jane" cannot do that)`, "namespace", "who may not get the namespace is asked for nothing more"},
		{bare, "namespace", fail, "unread, default [] (namespaces/node-selector Failed: no leader)", "namespace", "nor is a server that fails"},
		{"", "", nil, `unread, default [] (namespaces/node-selector Failed: namespaces.apps "kube-system" not found)`, "namespace", "a namespace that is gone is no namespace without annotations"},
		{bare, "namespace", answer(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"x","annotations":{"openshift.io/node-selector":"a=b"}}}`), "unread, default [] (namespaces/node-selector Failed: unusable answer: it is about another namespace)", "namespace", "a proxy that mixes up its answers"},
		{bare, "kubecontrollermanager", forbid("it"), `default [] (kubecontrollermanagers Forbidden: it is forbidden: User "jane" cannot do that)`, "namespace kubecontrollermanager", "few may read the default"},
		{bare, "kubecontrollermanager", fail, "default [] (kubecontrollermanagers Failed: no leader)", "namespace kubecontrollermanager", "one that fails"},
		{bare, "", nil, "default []", "namespace kubecontrollermanager", "a hosted control plane, or MicroShift, has no such object, and no default"},
		{bare, "kubecontrollermanager", func(_ *apiServer, w http.ResponseWriter) {
			http.Error(w, "404 page not found", http.StatusNotFound)
		}, "default []", "namespace kubecontrollermanager", "nor such an API"},
		{bare, "kubecontrollermanager", answer(`{"metadata":{"name":"x"},"spec":{"observedConfig":{"projectConfig":{"defaultNodeSelector":"a=b"}}}}`), "default [] (kubecontrollermanagers Failed: unusable answer: it is about another object)", "namespace kubecontrollermanager", "another object"},
		{bare, "kubecontrollermanager", answer(`{"metadata":{"name":"cluster"},"spec":{"observedConfig":{"projectConfig":{"defaultNodeSelector":7}}}}`), "default [] (kubecontrollermanagers Failed: spec.observedConfig.projectConfig.defaultNodeSelector must be text, not a number)", "namespace kubecontrollermanager", "what is no selector"},
		{bare, "kubecontrollermanager", answer(`{"metadata":{"name":"cluster"},"spec":{"observedConfig":null,"unsupportedConfigOverrides":null}}`), "default []", "namespace kubecontrollermanager", "no configuration at all"},
		{bare, "kubecontrollermanager", answer(`<html>`), "default [] (kubecontrollermanagers Failed: unusable: invalid character '<' looking for beginning of value)", "namespace kubecontrollermanager", "no object at all"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := newAPIServer(t, parseWorld(t, onOpenShift+tt.world))
			s.answer = func(s *apiServer, w http.ResponseWriter, what string, _ int) bool {
				if what == tt.of {
					tt.answer(s, w)
				}
				return what == tt.of
			}
			got, err := newCluster(t, s).Read(background, agent)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, selectingOf(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got := askedBeside(t, s, onOpenShift); got != tt.asks {
				t.Errorf("asks for %s, want %s", got, tt.asks)
			}
			for _, g := range gapsOf(got, snapshot.OpenShiftWhats) {
				if g.Consequence() != snapshot.EveryNodeSelected {
					t.Errorf("%s: %s", g.What, g.Consequence())
				}
			}
		})
	}

	for _, of := range []string{"namespace", "kubecontrollermanager"} {
		s := newAPIServer(t, parseWorld(t, onOpenShift+bare))
		s.answer = func(s *apiServer, w http.ResponseWriter, what string, _ int) bool {
			if what == of {
				s.fail(w, http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "no")
			}
			return what == of
		}
		c := newCluster(t, s)
		if _, err := c.Read(background, agent); err == nil || !strings.Contains(err.Error(), "requires credentials") {
			t.Errorf("%s: with credentials that ran out: %v", of, err)
		}
		if _, err := c.ReadAll(background, source.Filter{}); err == nil || !strings.Contains(err.Error(), "requires credentials") {
			t.Errorf("%s of all: with credentials that ran out: %v", of, err)
		}
	}
}

// TestOpenShiftOfAll checks that each namespace is read once for all its DaemonSets, and the default once for all
// namespaces.
func TestOpenShiftOfAll(t *testing.T) {
	s := newAPIServer(t, parseWorld(t, `
		ds a ns=one
		ds b ns=one
		ds c ns=two
		ds d ns=three
		ds e ns=four
		node n openshift
		namespace one selects=pool=one
		namespace two
		namespace three
		manager cluster overridden=pool=default`))
	all, err := newCluster(t, s).ReadAll(background, source.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, one := range all {
		got[one.DaemonSet.Name] = selectingOf(one)
	}
	want := map[string]string{
		"a": "openshift.io [pool=one]", "b": "openshift.io [pool=one]", "c": "default [pool=default]", "d": "default [pool=default]",
		"e": `unread, default [] (namespaces/node-selector Failed: namespaces.apps "four" not found)`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := s.asked(); n["namespace"] != 4 || n["kubecontrollermanager"] != 1 {
		t.Errorf("asked: %v", n)
	}
	if all, err = newCluster(t, s).ReadAll(background, source.Filter{Namespace: "one"}); err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	if n := s.asked(); n["namespace"] != 5 || n["kubecontrollermanager"] != 1 {
		t.Errorf("asked for one namespace: %v", n)
	}
}

// TestAdmissionAsksForNoNamespaceTwice checks that a namespace is read once, though admission also needs its labels.
func TestAdmissionAsksForNoNamespaceTwice(t *testing.T) {
	for _, tt := range []struct {
		world string
		want  int
		why   string
	}{
		{"node n openshift\nnamespace kube-system label=a selects=pool=infra", 1, "it was read"},
		{"node n openshift", 2, "it could not be read"},
		{"node n\nnamespace kube-system label=a selects=pool=infra", 1, "of a plain cluster it is read now"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := newAPIServer(t, parseWorld(t, "ds agent\nserviceaccount default\n"+tt.world))
			c := newCluster(t, s)
			read, err := c.Read(background, agent)
			if err != nil {
				t.Fatal(err)
			}
			all, err := c.AddAdmission(background, part.Creation{Of: read})
			if err != nil {
				t.Fatal(err)
			}
			if n := s.asked()["namespace"]; n != tt.want {
				t.Errorf("asked %d times for the namespace, want %d", n, tt.want)
			}
			n := all[0].Admission.Namespace
			if strings.Contains(tt.world, "label=a") && (n == nil || n.Labels["team"] != "a" || len(n.Annotations) > 0) {
				t.Errorf("the namespace of the Admission: %v", n)
			}
			if o := all[0].OpenShift; o != nil && o.Namespace != nil && len(o.Namespace.Annotations) != 1 {
				t.Errorf("the namespace of OpenShift: %v", o.Namespace)
			}
		})
	}
}

// TestDumpOfOpenShift checks that objects that are missing, incomplete or damaged in a dump are gaps.
func TestDumpOfOpenShift(t *testing.T) {
	const (
		namespace = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: kube-system}\n"
		other     = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: apps, annotations: {openshift.io/node-selector: a=b}}\n"
		broken    = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: kube-system, labels: 7}\n"
		page      = "---\napiVersion: v1\nkind: NamespaceList\nmetadata: {continue: more}\nitems: [{metadata: {name: apps}}]\n"
		manager   = "---\napiVersion: operator.openshift.io/v1\nkind: KubeControllerManager\n"
		whose     = manager + "metadata: {name: cluster}\nspec: {unsupportedConfigOverrides: {projectConfig: {defaultNodeSelector: a=b}}}\n"
	)
	for _, tt := range []struct {
		text string
		want string
		why  string
	}{
		{"", "unread, default [] (namespaces/node-selector NotGiven: the input holds no Namespace)", "the usual dump"},
		{whose, "unread, default [] (namespaces/node-selector NotGiven: the input holds no Namespace)", "no default decides for a namespace that may have an annotation"},
		{other, "unread, default [] (namespaces/node-selector NotGiven: the input holds no namespace kube-system) of namespace kube-system", "a dump of other namespaces"},
		{page, "unread, default [] (namespaces/node-selector Partial: PAGE)", "the first page"},
		{broken, "unread, default [] (namespaces/node-selector Failed: standard input, document 6: metadata.labels: must be an object, not a number)", "one that cannot be read"},
		{namespace, "default [] (kubecontrollermanagers NotGiven: the input holds no KubeControllerManager)", "no default, perhaps"},
		{namespace + whose, "default [a=b]", "all of it"},
		{namespace + manager + "metadata: {name: another}\nspec: {observedConfig: {projectConfig: {defaultNodeSelector: a=b}}}\n", "default [] (kubecontrollermanagers NotGiven: the input holds no KubeControllerManager)", "the operator reads one of that name alone"},
		{namespace + manager + "metadata: {name: cluster}\nspec: {observedConfig: {projectConfig: {defaultNodeSelector: 7}}}\n", "default [] (kubecontrollermanagers Failed: spec.observedConfig.projectConfig.defaultNodeSelector must be text, not a number)", "one that cannot be read"},
		{namespace + "---\napiVersion: operator.openshift.io/v1alpha1\nkind: KubeControllerManager\nmetadata: {name: cluster}\nspec: {observedConfig: {projectConfig: {defaultNodeSelector: a=b}}}\n", "default [] (kubecontrollermanagers NotGiven: the input holds no KubeControllerManager)", "another API"},
		{namespace + "---\napiVersion: config.openshift.io/v1\nkind: Scheduler\nmetadata: {name: cluster}\nspec: {defaultNodeSelector: a=b}\n", "default [] (kubecontrollermanagers NotGiven: the input holds no KubeControllerManager)", "the Scheduler's default is for the API server"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			text := ""
			for _, o := range parseWorld(t, "ds agent\nnode n openshift\npod p app=agent owner=agent ready\nrev r app=agent owner=agent\nevent e about=DaemonSet/agent") {
				text += "---\n" + string(asYAML(t, typed(o)))
			}
			d, err := readText(text + tt.text)
			if err != nil {
				t.Fatal(err)
			}
			s, err := d.Read(background, agent)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Replace(tt.want, "PAGE", d.Partial("Namespace"), 1)
			if diff := cmp.Diff(want, selectingOf(s)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestRecordedOpenShift checks for a gap if a Snapshot was recorded without the node selector of its namespace, as by
// an older version, or for another namespace.
func TestRecordedOpenShift(t *testing.T) {
	s, err := newCluster(t, newAPIServer(t, parseWorld(t, onOpenShift+"namespace kube-system selects=pool=infra"))).Read(background, agent)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := newOne()
	elsewhere.Namespace = "apps"
	for _, tt := range []struct {
		recorded *snapshot.Snapshot
		of       *appsv1.DaemonSet // a new DaemonSet; nil for the recorded one
		want     string
		why      string
	}{
		{s, nil, "openshift.io [pool=infra]", "as recorded"},
		{s.Selecting(nil, nil), nil, "unread, default [] (namespaces/node-selector NotGiven: the snapshot was recorded without it)", "by an older version"},
		{s, newOne(), "openshift.io [pool=infra]", "for a new one in the namespace"},
		{s, elsewhere, "unread, default [] (namespaces/node-selector NotGiven: the snapshot was recorded for namespace kube-system)", "for a new one elsewhere"},
		{s.Selecting(&snapshot.OpenShift{}, []snapshot.Gap{{What: snapshot.NamespaceNodeSelector, Why: snapshot.Forbidden, Message: "no"}}), newOne(), "unread, default [] (namespaces/node-selector Forbidden: no)", "what could not be read then"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			raw, err := snapshot.Encode(tt.recorded)
			if err != nil {
				t.Fatal(err)
			}
			d, err := readText(string(raw))
			if err != nil {
				t.Fatal(err)
			}
			got, err := d.Read(background, agent)
			if tt.of != nil {
				got, err = d.ReadFor(background, tt.of)
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, selectingOf(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestWatchOfOpenShift checks that a watch starts with the node selectors.
func TestWatchOfOpenShift(t *testing.T) {
	s := newWatchServer(t, parseWorld(t, onOpenShift+"namespace kube-system selects=pool=infra"))
	w, err := watchOf(t, s)
	if err != nil {
		t.Fatal(err)
	}
	if got := selectingOf(w.Start()); got != "openshift.io [pool=infra]" {
		t.Error(got)
	}
	for _, code := range []int{http.StatusForbidden, http.StatusUnauthorized} {
		s = newWatchServer(t, parseWorld(t, onOpenShift))
		s.answer = func(s *apiServer, w http.ResponseWriter, what string, _ int) bool {
			if what == "namespace" {
				s.fail(w, code, map[int]metav1.StatusReason{http.StatusForbidden: metav1.StatusReasonForbidden, http.StatusUnauthorized: metav1.StatusReasonUnauthorized}[code], "no")
			}
			return what == "namespace"
		}
		switch w, err := watchOf(t, s); {
		case code == http.StatusUnauthorized:
			if err == nil || !strings.Contains(err.Error(), "requires credentials") {
				t.Errorf("with credentials that ran out: %v", err)
			}
		case err != nil || selectingOf(w.Start()) != "unread, default [] (namespaces/node-selector Forbidden: no)":
			t.Errorf("%v, %v", err, selectingOf(w.Start()))
		}
	}
}
