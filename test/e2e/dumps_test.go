package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/scene"
	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// TestDumps checks that the output of kubectl's collectors gives the same answer as the cluster. It
// also runs the programs that TROUBLESHOOT and SONOBUOY name ("make e2e ONLY=collectors").
func TestDumps(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"settled", "crash", "quota"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			c := newStage(t, stage.Options{})
			i := slices.IndexFunc(scene.All, func(s struct {
				Name string
				Set  scene.Setting
			}) bool {
				return s.Name == name
			})
			s, err := scene.All[i].Set(ctx, c)
			must(t, err)
			must(t, c.Freeze())
			type told struct {
				Verdict    struct{ Code string }
				Status     struct{ Computed *counts }
				Controller struct{ KubernetesVersion string }
				Snapshot   struct{ TakenAt string }
				Problems   []struct{ Code string }
			}
			explained := func(flags ...string) (e told) {
				r, err := c.KubectlAs(ctx, stage.Reader, append([]string{"ds", "explain", "-n", s.Namespace, s.Name, "-o", "json"}, flags...)...)
				must(t, err)
				ignored := strings.Contains(r.Stderr, "ignored") && !strings.Contains(r.Stderr, "auth-cani-list") && !strings.Contains(r.Stderr, "servergroups.json") // which are no objects
				if r.Code != 0 || ignored {                                                                                                                           // other notes say what a dump lacks
					t.Fatalf("%q ended with %d: %s", flags, r.Code, r.Stderr)
				}
				must(t, json.Unmarshal([]byte(r.Stdout), &e))
				return e
			}
			live := explained()
			dir := t.TempDir()
			collect := func(file string, args ...string) string {
				r, err := c.Kubectl(ctx, args...)
				must(t, err)
				if r.Code != 0 {
					t.Fatalf("kubectl %q: %s", args, r.Stderr)
				}
				file = filepath.Join(dir, file)
				must(t, os.WriteFile(file, []byte(r.Stdout), 0o600))
				return file
			}
			folder := filepath.Join(dir, "folder")
			collect("words", "cluster-info", "dump", "-A", "--output-directory", folder)
			archive := filepath.Join(dir, "dump.tar.gz")
			if out, err := exec.CommandContext(ctx, "tar", "-czf", archive, "-C", dir, "folder").CombinedOutput(); err != nil {
				t.Fatalf("tar: %v\n%s", err, out)
			}
			paths := map[string]string{
				"cluster-info dump to a directory":              folder,
				"the directory in an archive":                   archive,
				"cluster-info dump to standard output":          collect("stream.json", "cluster-info", "dump", "-A"),
				"cluster-info dump to standard output, in YAML": collect("stream.yaml", "cluster-info", "dump", "-A", "-o", "yaml"),
				"the command that the plugin offers":            collect("get.yaml", "get", "ds,nodes,pods,controllerrevisions,events,pdb,quota", "-A", "-o", "yaml"),
			}
			other := func(how, path, program string, args ...string) {
				if program == "" {
					return
				}
				p := exec.CommandContext(ctx, program, args...)
				p.Dir, p.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "KUBECONFIG=" + c.Kubeconfig}
				if out, err := p.CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", how, err, out)
				}
				paths[how] = filepath.Join(dir, path)
			}
			const bundle = "apiVersion: troubleshoot.sh/v1beta2\nkind: SupportBundle\nmetadata:\n  name: all\nspec:\n  collectors:\n  - clusterInfo: {}\n  - clusterResources: {}\n"
			must(t, os.WriteFile(filepath.Join(dir, "bundle.yaml"), []byte(bundle), 0o600))
			other("troubleshoot", "bundle.tar.gz", os.Getenv("TROUBLESHOOT"), "bundle.yaml", "--interactive=false", "--load-cluster-specs=false", "--output", "bundle")
			other("sonobuoy query", "sonobuoy", os.Getenv("SONOBUOY"), "query", "-o", "sonobuoy")
			for how, path := range paths {
				e := explained("--from", path, "--now", live.Snapshot.TakenAt)
				if e.Verdict != live.Verdict || e.Status.Computed == nil || *e.Status.Computed != *live.Status.Computed || !slices.Equal(e.Problems, live.Problems) {
					t.Errorf("%s: %s %+v %v, of the cluster %s %+v %v", how, e.Verdict.Code, e.Status.Computed, e.Problems, live.Verdict.Code, live.Status.Computed, live.Problems)
				}
				if e.Controller != live.Controller {
					t.Errorf("%s: rules of %s, of the cluster %s", how, e.Controller.KubernetesVersion, live.Controller.KubernetesVersion)
				}
			}
		})
	}
}
