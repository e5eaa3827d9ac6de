package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/manifest"
)

// duplicateServer is an API server with three DaemonSets: agent in two namespaces, and shipper in
// default.
func duplicateServer(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		set := func(namespace, name string) appsv1.DaemonSet {
			return appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{}}}
		}
		list := func(items ...appsv1.DaemonSet) {
			_ = json.NewEncoder(w).Encode(&appsv1.DaemonSetList{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSetList"}, Items: items})
		}
		switch path := strings.TrimPrefix(r.URL.Path, "/apis/apps/v1/"); {
		case path == "namespaces/default/daemonsets":
			list(set("default", "shipper"))
		case path == "daemonsets" && strings.Contains(r.URL.Query().Get("fieldSelector"), "agent"):
			list(set("kube-system", "agent"), set("tenant", "agent"))
		case path == "daemonsets":
			list()
		default:
			w.WriteHeader(http.StatusNotFound)
			_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound, Message: "not found"})
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestNewElsewhere plans manifests of new DaemonSets: with the name of one in another namespace, or
// with a similar name.
func TestNewElsewhere(t *testing.T) {
	dir := t.TempDir()
	manifest := func(name string, metadata ...string) string {
		file := filepath.Join(dir, name)
		var text []string
		for _, m := range metadata {
			text = append(text, `apiVersion: apps/v1
kind: DaemonSet
metadata: `+m+`
spec: {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: "example/a:1"}]}}}
`)
		}
		if err := os.WriteFile(file, []byte(strings.Join(text, "---\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	t.Setenv("KUBECONFIG", filepath.Join(dir, "none"))
	bare := manifest("bare.yaml", "{name: agent}")
	several := manifest("several.yaml", "{name: agent}", "{name: other}")
	const second = `daemonset "agent" is in namespaces kube-system, tenant, but neither the manifest nor -n names a namespace: kubectl apply would create a second one in namespace "default"`
	server, invalid := duplicateServer(t), manifest("invalid.yaml", "{name: unheard-of, namespace: default, labels: {a: a b}}")
	hint := func(file string) string {
		return "hint: -n kube-system plans a change of that one, -n default a new one: kubectl ds plan-rollout -n kube-system --filename=" + file + " --server=" + server + " --start=40s\n"
	}
	const note = "note: daemonset default/agent does not exist, so this plans a new one; did you mean kube-system/agent, tenant/agent?\n"
	for _, tt := range []struct {
		args []string
		want string // start of standard error, or the hint
		why  string
	}{
		{[]string{"-f", bare}, "error: " + bare + ": document 1: " + second + "\n" + hint(bare), "nobody named a namespace"},
		{[]string{"-f", several}, "error: " + several + ": document 1: " + second + "\n" + hint(several), "nor among several, which are read together"},
		{[]string{"-f", bare, "-n", "default"}, note, "-n names it"},
		{[]string{"-f", manifest("named.yaml", "{name: agent, namespace: default}")}, note, "the manifest does"},
		{[]string{"-f", manifest("near.yaml", "{name: shiper}")}, "note: daemonset default/shiper does not exist, so this plans a new one; did you mean shipper?\n", "a name that is nearly another's"},
		{[]string{"-f", invalid}, "error: " + invalid + `: document 1: DaemonSet.apps "unheard-of" is invalid: metadata.labels: Invalid value: "a b": `, "an invalid one is rejected"},
		{[]string{"-f", invalid}, "hint: kubectl ds plan-rollout --server-dry-run --filename=" + invalid + " --server=" + server + " --start=40s\n", "and the API server can be asked"},
		{[]string{"-f", manifest("far.yaml", "{name: unheard-of}")}, "error: ", "one that is like nothing"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			var out, errs bytes.Buffer
			status := Main(append([]string{"kubectl-ds", "plan-rollout", "--server", server, "--start", "40s"}, tt.args...), strings.NewReader(""), &out, &errs)
			said := errs.String()
			if strings.HasPrefix(tt.want, "hint: ") {
				said = said[strings.LastIndex(said, "\nhint: ")+1:]
			}
			if status != 1 || !strings.HasPrefix(said, tt.want) || out.Len() > 0 { // the server has no nodes, so no plan is possible
				t.Errorf("status %d\n%s%s\nwant %s", status, &out, &errs, tt.want)
			}
		})
	}
}

// warningCluster is a cluster that warns about a manifest, and may reject it.
type warningCluster struct {
	reader
	err error
}

func (w warningCluster) DryRun(context.Context, manifest.Manifest) (*manifest.Applied, error) {
	return &manifest.Applied{DaemonSet: &appsv1.DaemonSet{}, Warnings: []string{"A is s3cret-new", "\x1b[31mred"}}, w.err
}

// TestWarningsOfManifests checks that API server warnings become part of the plan, or notes if
// there is no plan. They do not contain secret values.
func TestWarningsOfManifests(t *testing.T) {
	manifests, err := manifest.ReadManifests(t.Context(), []string{source.StandardInput}, "", strings.NewReader(`
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec: {selector: {matchLabels: {app: agent}}, template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: agent, env: [{name: A, value: s3cret-new}]}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		show        bool
		err         error
		first, errs string
	}{
		{false, nil, "A is <hidden>", ""},
		{true, nil, "A is s3cret-new", ""},
		{false, errors.New("denied"), "", "note: the API server warns: A is <hidden>\nnote: the API server warns: \\u001b[31mred\n"},
	} {
		var errs bytes.Buffer
		o := &planOptions{planning: planning{queryFlags: queryFlags{inputFlags: inputFlags{common: &common{IOStreams: genericiooptions.IOStreams{ErrOut: &errs}}}}}, changeFlags: changeFlags{serverDryRun: true, showValues: tt.show}}
		got, err := o.applyManifest(t.Context(), warningCluster{err: tt.err}, manifests[0], nil, "v1.37.1")
		if (err == nil) != (tt.err == nil) || errs.String() != tt.errs || err == nil && got.Warnings[0] != tt.first {
			t.Errorf("%v, error %v, %q; want %q, %q", got, err, &errs, tt.first, tt.errs)
		}
	}
}
