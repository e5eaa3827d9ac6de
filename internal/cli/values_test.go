package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/manifest"
	"github.com/kubectl-ds/kubectl-ds/pkg/hide"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// TestWithoutValues checks which part of a server's message about a dry run remains.
func TestWithoutValues(t *testing.T) {
	set := func(values ...string) template.Content {
		var env []any
		for i, v := range values {
			env = append(env, map[string]any{"name": fmt.Sprintf("A%d", i), "value": v})
		}
		return template.Content{"spec": map[string]any{"containers": []any{map[string]any{"name": "agent", "env": env}}}}
	}
	for _, tt := range []struct {
		words  string
		values []string
		want   string
		why    string
	}{
		{`denied: TOKEN is "s3cret", a literal`, []string{"s3cret"}, `denied: TOKEN is "<hidden>", a literal`, "a value"},
		{`denied: s3cret-2, s3cret`, []string{"s3cret", "s3cret-2"}, `denied: <hidden>, <hidden>`, "one that begins as another does"},
		{`denied: "a \"s3cret\" line\nmore"`, []string{"a \"s3cret\" line\nmore"}, `denied: "<hidden>"`, "as it is quoted"},
		{`patch: Invalid value: "map[spec:map[env:[map[value:1234]]]]": quantities must match`, nil, `patch: Invalid value: "<hidden>": quantities must match`, "within an object, however short"},
		{`patch: Invalid value: "{\"spec\":{\"value\":\"1234\"}}": no`, nil, `patch: Invalid value: "<hidden>": no`, "in JSON too"},
		{`node "info" is not there`, []string{"info", ""}, `node "info" is not there`, "words are full of short ones"},
		{`namespaces "longhorn-system" not found`, []string{"longhorn"}, `namespaces "longhorn-system" not found`, "a word that is a value, and a part of a name"},
		{`namespaces "longhorn" not found`, []string{"longhorn"}, `namespaces "longhorn" not found`, "and a name itself"},
		{`daemonsets.apps "agent" is forbidden`, []string{"s3cret"}, `daemonsets.apps "agent" is forbidden`, "nothing to hide"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			err := hinted{&source.RequestError{What: "dry run", Err: errors.New(tt.words)}, "kubectl auth can-i"}
			got := withoutValues(err, hide.ValuesOf(nil, set(tt.values...)))
			if want := "dry run: " + tt.want; got.Error() != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			var (
				request *source.RequestError
				hint    interface{ Hint() string }
			)
			wrapped := fmt.Errorf("agent.yaml: %w", got)
			if !errors.As(wrapped, &request) || !errors.As(wrapped, &hint) || hint.Hint() != "kubectl auth can-i" {
				t.Error("it is another error now")
			}
		})
	}
}

// rejectingCluster is a cluster that rejects the dry run.
type rejectingCluster struct {
	reader
	err error
}

func (r rejectingCluster) DryRun(context.Context, manifest.Manifest) (*manifest.Applied, error) {
	return nil, r.err
}

// TestDryRunHidesValues checks that the error of a rejected dry run contains no values of the
// manifest or the cluster without --show-values.
func TestDryRunHidesValues(t *testing.T) {
	manifests, err := manifest.ReadManifests(t.Context(), []string{source.StandardInput}, "", strings.NewReader(`
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec: {selector: {matchLabels: {app: agent}}, template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: agent, env: [{name: A, value: s3cret-new}]}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	live := &appsv1.DaemonSet{}
	live.Spec.Template.Spec.Containers = []corev1.Container{{Name: "agent", Env: []corev1.EnvVar{{Name: "A", Value: "s3cret-old"}}}}
	server := rejectingCluster{err: errors.New("denied: A goes from s3cret-old to s3cret-new")}
	for show, want := range map[bool]string{true: server.err.Error(), false: "denied: A goes from <hidden> to <hidden>"} {
		o := &planOptions{changeFlags: changeFlags{serverDryRun: true, showValues: show}}
		if _, err := o.applyManifest(t.Context(), server, manifests[0], live, "v1.37.1"); err == nil || err.Error() != want {
			t.Errorf("--show-values %t: %v", show, err)
		}
	}
}
