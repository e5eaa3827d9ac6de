package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// TestReadme runs each command of README.md that reads a cluster in a shell and checks that it
// succeeds and prints something. krew/upgrade.sh runs those that install the plugin.
func TestReadme(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newStage(t, stage.Options{})
	must(t, c.AddNodes(ctx, stage.Nodes(9, "worker-%d")...))
	ds := stage.NewDaemonSet("kube-system", "node-agent", "acme/agent:1.0.1")
	ds.Spec.Template.Spec.Containers[0].Name = "agent"
	must(t, c.Create(ctx, ds))
	for i := 2; i <= 8; i++ { // the commands use revision 7
		must(t, c.WaitRollout(ctx, ds.Namespace, ds.Name))
		must(t, c.SetImage(ctx, ds.Namespace, ds.Name, fmt.Sprintf("acme/agent:1.0.%d", i)))
	}
	must(t, c.WaitRollout(ctx, ds.Namespace, ds.Name))

	dir := t.TempDir()
	m := appsv1.DaemonSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"}, ObjectMeta: metav1.ObjectMeta{Namespace: ds.Namespace, Name: ds.Name}, Spec: ds.Spec}
	text, err := yaml.Marshal(m)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "agent.yaml"), text, 0o600))

	readme, err := os.ReadFile("../../README.md")
	must(t, err)
	kubectl := c.KubectlCommand(ctx, stage.Reader)
	ran := 0
	for _, line := range regexp.MustCompile(`(?m)^    (kubectl (?:ds|get)(?: .*)?)$`).FindAllStringSubmatch(string(readme), -1) {
		ran++
		cmd := exec.CommandContext(ctx, "sh", "-c", line[1])
		cmd.Dir, cmd.Env = dir, kubectl.Env
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil || strings.Contains(errs.String(), "error:") || len(out) == 0 && !strings.Contains(line[1], ">") {
			t.Errorf("%s: %v\n%s%s", line[1], err, out, errs.String())
		}
	}
	if ran < 12 {
		t.Errorf("only %d commands were found", ran)
	}
}
