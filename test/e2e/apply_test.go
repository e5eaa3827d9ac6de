package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// TestKubectlApply checks that a plan predicts the result of kubectl apply.
func TestKubectlApply(t *testing.T) {
	t.Parallel()
	c := newStage(t, stage.Options{})
	t.Run("conflicts", func(t *testing.T) { conflicts(t, c) })
	t.Run("warnings", func(t *testing.T) { serverWarnings(t, c) })
	t.Run("a name that is elsewhere", func(t *testing.T) { elsewhere(t, c) })
	t.Run("a key twice", func(t *testing.T) { keyTwice(t, c) })
}

// conflicts checks that a plan fails with the same fields and managers if kubectl apply
// --server-side is rejected because of conflicts, and succeeds otherwise.
func conflicts(t *testing.T, c *stage.Cluster) {
	ctx := t.Context()
	must(t, c.CreateNamespace(ctx, "apply"))
	dir := t.TempDir()
	files := map[string]string{"FIRST": filepath.Join(dir, "first.yaml"), "SECOND": filepath.Join(dir, "second.yaml")}
	must(t, os.WriteFile(files["FIRST"], []byte(applied), 0o600))
	must(t, os.WriteFile(files["SECOND"], []byte(appliedNext), 0o600))
	for _, tt := range []struct {
		why   string
		set   []string // commands before; FIRST and SECOND are files
		apply []string // flags of kubectl apply and of the plan
		plan  []string // flags of the plan, if it does not need the commands above
		want  []string // field and manager, without the time
	}{
		{
			"nobody else", []string{"apply --server-side -f FIRST"}, []string{"--server-side"}, nil, nil,
		},
		{
			"a rollback", []string{"apply --server-side -f FIRST", "apply --server-side -f SECOND", "rollout undo daemonset/agent"}, []string{"--server-side"}, nil,
			[]string{
				`.spec.template.metadata.annotations.example.com/config: "kubectl" using apps/v1`,
				`.spec.template.spec.containers[name="agent"].image: "kubectl" using apps/v1`,
			},
		},
		{
			"a rollback, and the flags are not given", []string{"apply --server-side -f FIRST", "apply --server-side -f SECOND", "rollout undo daemonset/agent"}, []string{"--server-side"}, []string{},
			[]string{
				`.spec.template.metadata.annotations.example.com/config: "kubectl" using apps/v1`,
				`.spec.template.spec.containers[name="agent"].image: "kubectl" using apps/v1`,
			},
		},
		{
			"one field changed by hand", []string{"apply --server-side -f FIRST", "set image daemonset/agent agent=acme/agent:3"}, []string{"--server-side"}, nil,
			[]string{`.spec.template.spec.containers[name="agent"].image: "kubectl-set" using apps/v1`},
		},
		{
			"another manager that applied", []string{"apply --server-side --field-manager=flux -f FIRST"}, []string{"--server-side"}, nil,
			[]string{`.spec.template.metadata.annotations.example.com/config: "flux"`, `.spec.template.spec.containers[name="agent"].image: "flux"`},
		},
		{
			"in the name of that manager", []string{"apply --server-side --field-manager=flux -f FIRST"}, []string{"--server-side", "--field-manager=flux"}, nil, nil,
		},
		{
			"what was applied client-side", []string{"apply -f FIRST"}, []string{"--server-side"}, nil, nil,
		},
		{
			"what was applied client-side, in another name", []string{"apply -f FIRST"}, []string{"--server-side", "--field-manager=ci"}, nil,
			[]string{
				`.spec.template.metadata.annotations.example.com/config: "kubectl-client-side-apply" using apps/v1`,
				`.spec.template.spec.containers[name="agent"].image: "kubectl-client-side-apply" using apps/v1`,
			},
		},
		{
			"what was applied client-side, and changed by hand", []string{"apply -f FIRST", "set image daemonset/agent agent=acme/agent:3"}, []string{"--server-side"}, nil,
			[]string{`.spec.template.spec.containers[name="agent"].image: "kubectl-set" using apps/v1`},
		},
		{
			"client-side apply has no conflicts", []string{"apply -f FIRST", "set image daemonset/agent agent=acme/agent:3"}, nil, nil, nil,
		},
	} {
		t.Run(tt.why, func(t *testing.T) {
			kubectl := func(args ...string) stage.Result {
				r, err := c.Kubectl(ctx, append([]string{"-n", "apply"}, args...)...)
				must(t, err)
				return r
			}
			for _, line := range tt.set {
				args := strings.Fields(line)
				for i, a := range args {
					if file := files[a]; file != "" {
						args[i] = file
					}
				}
				if r := kubectl(args...); r.Code != 0 {
					t.Fatalf("kubectl %s: %s", line, r.Stderr)
				}
			}
			flags := tt.plan
			if flags == nil {
				flags = tt.apply
			}
			for _, how := range [][]string{nil, {"--server-dry-run"}} {
				args := slices.Concat([]string{"ds", "plan-rollout", "-n", "apply", "-f", files["SECOND"]}, flags, how)
				r, err := c.Kubectl(ctx, args...)
				must(t, err)
				if got := conflictsOf(r.Stderr); !slices.Equal(got, tt.want) || (r.Code == 1) != (tt.want != nil) || (r.Stdout == "") != (tt.want != nil) {
					t.Errorf("kubectl %s ended with %d, conflicts %q, want %q\n%s%s", strings.Join(args, " "), r.Code, got, tt.want, r.Stdout, r.Stderr)
				}
				forced, err := c.Kubectl(ctx, append(args, "--force-conflicts")...)
				must(t, err)
				if len(tt.want) > 0 && (forced.Code != 0 || !strings.Contains(forced.Stdout, " -> 2\n")) {
					t.Errorf("kubectl %s --force-conflicts ended with %d\n%s%s", strings.Join(args, " "), forced.Code, forced.Stdout, forced.Stderr)
				}
			}
			real := kubectl(slices.Concat([]string{"apply", "-f", files["SECOND"]}, tt.apply)...)
			if got := conflictsOf(real.Stderr); !slices.Equal(got, tt.want) || (real.Code == 1) != (tt.want != nil) {
				t.Errorf("kubectl apply itself ended with %d, conflicts %q, want %q\n%s", real.Code, got, tt.want, real.Stderr)
			}
			if r := kubectl("delete", "daemonset", "agent"); r.Code != 0 {
				t.Fatal(r.Stderr)
			}
		})
	}
}

// serverWarnings checks that a plan with --server-dry-run has the warnings of kubectl apply, also
// for a rejected manifest.
func serverWarnings(t *testing.T, c *stage.Cluster) {
	ctx := t.Context()
	_, err := c.Client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: "warned", Labels: map[string]string{"pod-security.kubernetes.io/warn": "restricted"},
	}}, metav1.CreateOptions{})
	must(t, err)
	const ports = `, ports: [{containerPort: 80}, {containerPort: 80}], env: [{name: A, value: a}, {name: A, value: b}]`
	file := filepath.Join(t.TempDir(), "warned.yaml")
	write := func(from, to string) {
		text := strings.NewReplacer("namespace: apply", "namespace: warned", "one", "two", from, to).Replace(applied)
		must(t, os.WriteFile(file, []byte(text), 0o600))
	}
	for _, tt := range []struct {
		why, from, to string
		least, status int
		known         string // what a rule of pkg/validate reports without the API server, or ""
	}{
		{"a new one", `"acme/agent:1"`, `"acme/agent:1"` + ports, 2, 0, ""},
		{"a changed one", `"acme/agent:1"`, `"acme/agent:2"` + ports, 2, 0, ""},
		{"one that is refused", `"acme/agent:1"`, `"acme/agent:3", imagePullPolicy: Sometimes`, 0, 1,
			`imagePullPolicy: Unsupported value: "Sometimes"`},
		{"one that no rule is about", `"acme/agent:1"`, `"acme/agent:4", securityContext: {windowsOptions: {runAsUserName: ""}}`,
			0, 1, ""},
	} {
		t.Run(tt.why, func(t *testing.T) {
			write(tt.from, tt.to)
			plan, err := c.Kubectl(ctx, "ds", "plan-rollout", "-f", file, "--server-dry-run", "-o", "json")
			must(t, err)
			real, err := c.Kubectl(ctx, "apply", "-f", file)
			must(t, err)
			var p struct {
				Warnings []struct {
					Code  string
					Facts struct{ Message string }
				}
			}
			var got, want []string
			if tt.status == 0 {
				must(t, json.Unmarshal([]byte(plan.Stdout), &p))
			}
			for _, w := range p.Warnings {
				if w.Code == "APIServerWarning" {
					got = append(got, w.Facts.Message)
				}
			}
			for _, l := range strings.Split(plan.Stderr, "\n") {
				if w, is := strings.CutPrefix(l, "note: the API server warns: "); is {
					got = append(got, w)
				}
			}
			for _, l := range strings.Split(real.Stderr, "\n") {
				if w, is := strings.CutPrefix(l, "Warning: "); is {
					want = append(want, w)
				}
			}
			if !slices.Equal(got, want) || len(want) < tt.least || plan.Code != tt.status || real.Code != tt.status {
				t.Errorf("the plan ended with %d and has %q\nkubectl apply ended with %d and has %q\n%s", plan.Code, got, real.Code, want, plan.Stderr)
			}
			without, err := c.Kubectl(ctx, "ds", "plan-rollout", "-f", file)
			must(t, err)
			switch {
			case tt.known != "" && (without.Code != 1 || !strings.Contains(without.Stderr, tt.known)):
				t.Errorf("without a dry run it ended with %d:\n%s%s", without.Code, without.Stdout, without.Stderr)
			case tt.known == "" && tt.status == 1 && !strings.Contains(without.Stdout, "without a warning (--server-dry-run asks it)"):
				t.Errorf("without a dry run:\n%s%s", without.Stdout, without.Stderr)
			}
		})
	}
}

// elsewhere checks a manifest without a namespace for a DaemonSet in another namespace.
func elsewhere(t *testing.T, c *stage.Cluster) {
	ctx := t.Context()
	must(t, c.AddNodes(ctx, stage.Nodes(3, "node-%d")...))
	must(t, c.Create(ctx, stage.NewDaemonSet("kube-system", "lives-there", "acme/agent:1")))
	file := filepath.Join(t.TempDir(), "bare.yaml")
	must(t, os.WriteFile(file, []byte(strings.NewReplacer("{name: agent, namespace: apply}", "{name: lives-there}").Replace(applied)), 0o600))
	r, err := c.Kubectl(ctx, "ds", "plan-rollout", "-f", file)
	must(t, err)
	if r.Code != 1 || r.Stdout != "" || !strings.Contains(r.Stderr, `daemonset "lives-there" is in namespace kube-system`) || !strings.Contains(r.Stderr, "-n kube-system") {
		t.Errorf("ended with %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	r, err = c.Kubectl(ctx, "ds", "plan-rollout", "-f", file, "-n", "default")
	must(t, err)
	if r.Code != 0 || !strings.Contains(r.Stdout, "3 nodes would get a pod immediately") || !strings.Contains(r.Stderr, "did you mean kube-system/lives-there?") {
		t.Errorf("with -n ended with %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
}

// keyTwice checks that kubectl apply and the plan use the later value of a repeated key.
func keyTwice(t *testing.T, c *stage.Cluster) {
	ctx := t.Context()
	dir := t.TempDir()
	yaml := strings.Replace(applied, `image: "acme/agent:1"`, `image: "acme/agent:1", image: "acme/agent:2"`, 1)
	json := `{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "of-json"}, "metadata": {"name": "of-json", "namespace": "apply"}, "spec": {"minReadySeconds": 5},
	"spec": {"selector": {"matchLabels": {"app": "a"}}, "template": {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "agent", "image": "acme/agent:1", "image": "acme/agent:2"}]}}}}`
	for name, text := range map[string]string{"a.yaml": yaml, "b.json": json} {
		file := filepath.Join(dir, name)
		must(t, os.WriteFile(file, []byte(text), 0o600))
		if r, err := c.Kubectl(ctx, "apply", "-f", file); err != nil || r.Code != 0 {
			t.Fatalf("kubectl apply: %v %s", err, r.Stderr)
		}
		r, err := c.Kubectl(ctx, "ds", "plan-rollout", "-f", file, "-o", "jsonpath={.change.fields} {.warnings[0].code}")
		must(t, err)
		if r.Code != 0 || strings.TrimSpace(r.Stdout) != "[] DuplicateKey" {
			t.Errorf("%s: ended with %d\n%s%s", name, r.Code, r.Stdout, r.Stderr)
		}
	}
}

const applied = `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: apply}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}, annotations: {example.com/config: one}}
    spec: {containers: [{name: agent, image: "acme/agent:1"}]}
`

var appliedNext = strings.NewReplacer("agent:1", "agent:2", "one", "two").Replace(applied)

var (
	whose    = regexp.MustCompile(`conflicts? with ("[^"]*"(?: with subresource "[^"]*")?(?: using \S+?(?: at [0-9TZ:-]+)?)?)(?:: (\.\S+)|:)?$`)
	which    = regexp.MustCompile(`^\s*(?:- )?(\.\S+)$`)
	whenever = regexp.MustCompile(` at [0-9TZ:-]+$`)
)

// conflictsOf parses the conflicts in the message of kubectl or of the plugin: a manager, followed
// by a line for each field or by the only field on the same line.
func conflictsOf(words string) []string {
	var found []string
	by := ""
	for _, l := range strings.Split(words, "\n") {
		if m := whose.FindStringSubmatch(l); m != nil {
			by = whenever.ReplaceAllString(m[1], "")
			if m[2] != "" {
				found = append(found, m[2]+": "+by)
			}
		} else if m := which.FindStringSubmatch(l); m != nil && by != "" {
			found = append(found, m[1]+": "+by)
		}
	}
	slices.Sort(found)
	return found
}
