//go:build !windows

// Package action has the scripts of the GitHub Action, and the tests of them: they run as a runner runs them, on a
// plugin built from this tree, with the files of examples/ as the recorded cluster.
package action

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	"sigs.k8s.io/yaml"
)

// plugin builds the plugin once for all tests.
var plugin = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "kubectl-ds-action-")
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "kubectl-ds"), "../cmd/kubectl-ds").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return filepath.Join(dir, "kubectl-ds"), nil
})

func TestMain(m *testing.M) {
	status := m.Run()
	if built, err := plugin(); err == nil {
		_ = os.RemoveAll(filepath.Dir(built))
	}
	os.Exit(status)
}

// needs skips a test where a program is missing that runners have. .ci/run installs it.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skip(err)
	}
}

// run runs a script with more environment, and returns its exit status and what it printed.
func run(t *testing.T, env []string, script string, args ...string) (int, string) {
	t.Helper()
	built, err := plugin()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", append([]string{script}, args...)...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "KUBECTL_DS=" + built}, env...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatalf("%s: %v", script, err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func read(t *testing.T, name ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(name...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// manifest writes a changed copy of the DaemonSet of an example, as a repository would have it.
func manifest(t *testing.T, example string, change func(container map[string]any)) string {
	t.Helper()
	var s struct {
		DaemonSet map[string]any `json:"daemonSet"`
	}
	if err := yaml.Unmarshal([]byte(read(t, example)), &s); err != nil {
		t.Fatal(err)
	}
	meta := s.DaemonSet["metadata"].(map[string]any)
	spec := s.DaemonSet["spec"].(map[string]any)
	pod := spec["template"].(map[string]any)["spec"].(map[string]any)
	change(pod["containers"].([]any)[0].(map[string]any))
	out, err := yaml.Marshal(map[string]any{
		"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": map[string]any{"namespace": meta["namespace"], "name": meta["name"], "labels": meta["labels"]}, "spec": spec,
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "daemonset.yaml")
	if err := os.WriteFile(file, out, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func image(to string) func(map[string]any) { return func(c map[string]any) { c["image"] = to } }

// hidden writes the snapshot of an example in which the literal value of a variable is a digest.
func hidden(t *testing.T, example string) string {
	t.Helper()
	var s map[string]any
	if err := yaml.Unmarshal([]byte(read(t, example)), &s); err != nil {
		t.Fatal(err)
	}
	s["envValues"] = "Digest"
	env := func(spec any) {
		pod := spec.(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
		pod["containers"].([]any)[0].(map[string]any)["env"] = []any{map[string]any{"name": "LEVEL", "value": "digest:0123456789abcdef"}}
	}
	env(s["daemonSet"].(map[string]any)["spec"])
	revisions := s["revisions"].([]any)
	env(revisions[len(revisions)-1].(map[string]any)["data"].(map[string]any)["spec"])
	out, err := yaml.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "snapshot.yaml")
	if err := os.WriteFile(file, out, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestPlan(t *testing.T) {
	const healthy = "../examples/settled.json"
	unchanged := func(map[string]any) {}
	for _, tt := range []struct {
		why    string
		change func(map[string]any)
		from   string
		failOn string
		status int
		says   []string
		not    []string
	}{
		{why: "a condition holds", change: image("acme/node-agent:2"), from: healthy, failOn: "lostNodes>0", status: 6, says: []string{"**The check fails:** a condition of `--fail-on` holds.", "--fail-on lostNodes>0"}},
		{why: "none does", change: image("acme/node-agent:2"), from: healthy, failOn: "stalls", status: 0, says: []string{"image of container node-agent: 1.8.3 -&gt; 2"}, not: []string{"The check fails"}},
		{why: "nothing changes", change: unchanged, from: healthy, failOn: "stalls", status: 0, says: []string{"NOTHING TO DO"}, not: []string{"The check fails", "compared"}},
		{
			why: "a value that the snapshot hides is no value that did not change", change: func(c map[string]any) { c["env"] = []any{map[string]any{"name": "LEVEL", "value": "debug"}} },
			from: "hidden", failOn: "stalls", status: 1, says: []string{"could not be compared", "cannot evaluate --fail-on stalls", "--show-values"},
		},
		{why: "a snapshot that is not there", change: unchanged, from: "nowhere.json", failOn: "stalls", status: 1, says: []string{"**The check fails:** there is no whole answer.", "nowhere.json"}},
	} {
		t.Run(tt.why, func(t *testing.T) {
			from := tt.from
			if from == "hidden" {
				from = hidden(t, healthy)
			}
			out := t.TempDir()
			status, printed := run(t, nil, "plan.sh", out, "-f", manifest(t, healthy, tt.change), "--from", from, "--fail-on", tt.failOn)
			summary := read(t, out, "summary.md")
			if status != tt.status {
				t.Errorf("ended with %d, want %d: %s\n%s", status, tt.status, printed, summary)
			}
			for _, words := range tt.says {
				if !strings.Contains(summary, words) {
					t.Errorf("the summary does not say %q:\n%s", words, summary)
				}
			}
			for _, words := range tt.not {
				if strings.Contains(summary, words) {
					t.Errorf("the summary says %q:\n%s", words, summary)
				}
			}
			if comment := read(t, out, "comment.md"); comment != summary {
				t.Errorf("the comment is not the summary:\n%s", comment)
			}
			rendered(t, summary)
			if aged := regexp.MustCompile(`From a snapshot that is \d+ days old \(20\d\d-\d\d-\d\dT`).MatchString(summary); aged != (tt.from != "nowhere.json") {
				t.Errorf("the snapshot's age: %t\n%s", aged, summary)
			}
		})
	}
}

// TestCut: a comment that GitHub would refuse is cut between lines, with what was open closed, and says where the rest is.
func TestCut(t *testing.T) {
	for _, tt := range []struct{ why, line, before string }{
		{"in a paragraph", "one line of many", ""},
		{"in a folded code block", "a ``` within", "<details><summary>Long</summary>\n\n````diff"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			dir := t.TempDir()
			answer := filepath.Join(dir, "answer.md")
			text := "### STUCK\n\n" + tt.before + "\n" + strings.Repeat(tt.line+"\n", 80_000/len(tt.line))
			if err := os.WriteFile(answer, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			fake := filepath.Join(dir, "kubectl-ds")
			if err := os.WriteFile(fake, []byte("#!/bin/sh\ncat "+answer+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			status, printed := run(t, []string{"KUBECTL_DS=" + fake, "SUMMARY_URL=https://example.org/run/1"}, "plan.sh", dir)
			comment := read(t, dir, "comment.md")
			if status != 0 || len([]rune(comment)) > 65536 || len(comment) < 60000 {
				t.Errorf("ended with %d, %d characters: %s", status, len(comment), printed)
			}
			if got := rendered(t, comment); !strings.Contains(got, `<strong>This comment is cut: the whole answer is in <a href="https://example.org/run/1">the job's summary</a>.</strong>`) {
				t.Errorf("the end is not readable:\n%s", got[len(got)-500:])
			}
			if strings.Count(comment, "<details>") != strings.Count(comment, "</details>") {
				t.Error("a fold stays open")
			}
			if !strings.HasSuffix(read(t, dir, "summary.md"), text) {
				t.Error("the summary is cut too")
			}
		})
	}
}

// rendered returns the Markdown as GitHub would render it, and fails if anything of it did not become what it stands for.
func rendered(t *testing.T, markdown string) string {
	t.Helper()
	var b bytes.Buffer
	if err := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe())).Convert([]byte(markdown), &b); err != nil {
		t.Fatal(err)
	}
	plain := regexp.MustCompile(`(?s)<(code|pre)[ >].*?</(code|pre)>`).ReplaceAllString(b.String(), "")
	for _, left := range []string{"```", "**", "| ---", "\n### "} {
		if strings.Contains(plain, left) {
			t.Errorf("%q is left in what is rendered:\n%s", left, b.String())
		}
	}
	return b.String()
}

// TestComment: the first time a comment is written, later it is updated, and nobody else's is touched.
func TestComment(t *testing.T) {
	needs(t, "jq")
	file := filepath.Join(t.TempDir(), "comment.md")
	if err := os.WriteFile(file, []byte("<!-- kubectl-ds prod -->\nWOULD COMPLETE\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ why, comments, want string }{
		{"none is there", `[]`, "POST repos/acme/infra/issues/7/comments"},
		{"one of a person who quotes it", `[{"id":1,"user":{"login":"mallory"},"body":"<!-- kubectl-ds prod -->\nfine"}]`, "POST repos/acme/infra/issues/7/comments"},
		{"one of another job", `[{"id":2,"user":{"login":"github-actions[bot]"},"body":"<!-- kubectl-ds test -->\n"}]`, "POST repos/acme/infra/issues/7/comments"},
		{"ours, on the second page", `[{"id":3,"user":{"login":"x"},"body":null}][{"id":4,"user":{"login":"github-actions[bot]"},"body":"<!-- kubectl-ds prod -->\nSTUCK"}]`, "PATCH repos/acme/infra/issues/comments/4"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			dir := t.TempDir()
			log := filepath.Join(dir, "log")
			gh := "#!/bin/sh\ncase \"$*\" in *--method*) echo \"$4 $5 $7\" >>" + log + " ;; *) cat " + filepath.Join(dir, "comments") + " ;; esac\n"
			for name, text := range map[string]string{"gh": gh, "comments": tt.comments} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			status, printed := run(t, []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "REPOSITORY=acme/infra", "PULL=7"}, "comment.sh", file)
			if status != 0 {
				t.Fatalf("ended with %d: %s", status, printed)
			}
			if got, want := read(t, log), tt.want+" body=@"+file+"\n"; got != want {
				t.Errorf("asked for %q, want %q", got, want)
			}
		})
	}
}

// TestAction runs the first step of action.yml as a runner does, with a release that is served here.
func TestAction(t *testing.T) {
	needs(t, "curl")
	var action struct {
		Inputs map[string]struct{ Default string }
		Runs   struct {
			Steps []struct{ If, Run string }
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, "../action.yml")), &action); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		why, sum, want string
		status         int
	}{
		{"the release is whole", "", "status=6\n", 0},
		{"its checksum is another", "0", "", 1},
	} {
		t.Run(tt.why, func(t *testing.T) {
			releases := release(t, tt.sum)
			dir := t.TempDir()
			step := filepath.Join(dir, "step.sh")
			if err := os.WriteFile(step, []byte("set -eo pipefail\n"+action.Runs.Steps[0].Run), 0o600); err != nil {
				t.Fatal(err)
			}
			status, printed := run(t, []string{
				"GITHUB_ACTION_PATH=" + root, "RUNNER_TEMP=" + dir, "GITHUB_STEP_SUMMARY=" + filepath.Join(dir, "summary"), "GITHUB_OUTPUT=" + filepath.Join(dir, "output"),
				"KUBECTL_DS_RELEASES=" + releases, "VERSION=" + action.Inputs["version"].Default, "FAIL_ON=" + action.Inputs["fail-on"].Default,
				"FROM=" + filepath.Join(root, "examples/settled.json"), "MANIFESTS=" + manifest(t, "../examples/settled.json", image("acme/node-agent:2")) + "\n", "ARGS=--all",
			}, step)
			if status != tt.status {
				t.Fatalf("ended with %d: %s", status, printed)
			}
			if tt.status != 0 {
				return
			}
			if got := read(t, dir, "output"); !strings.HasPrefix(got, tt.want) {
				t.Errorf("output %q, want %q", got, tt.want)
			}
			if got := read(t, dir, "summary"); !strings.Contains(got, "WOULD LOSE 1 POD") {
				t.Errorf("summary:\n%s", got)
			}
		})
	}
	if last := action.Runs.Steps[1].If; !strings.Contains(last, "github.event.pull_request.head.repo.full_name == github.repository") || strings.Contains(read(t, "../action.yml"), "pull_request_target") {
		t.Errorf("a fork's pull request would get a comment: %s", last)
	}
}

// release serves a release of this tree, v0.0.9, the latest.
func release(t *testing.T, wrong string) string {
	t.Helper()
	built, err := plugin()
	if err != nil {
		t.Fatal(err)
	}
	program := read(t, built)
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: "kubectl-ds", Mode: 0o755, Size: int64(len(program))}); err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write([]byte(program))
	_, _ = w.Close(), z.Close()
	archive := fmt.Sprintf("kubectl-ds_v0.0.9_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH)
	sums := fmt.Sprintf("%x%s  %s\n", sha256.Sum256(b.Bytes()), wrong, archive)
	mux := http.NewServeMux()
	mux.HandleFunc("/latest", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/tag/v0.0.9", http.StatusFound) })
	mux.HandleFunc("/tag/v0.0.9", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/download/v0.0.9/"+archive, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(b.Bytes()) })
	mux.HandleFunc("/download/v0.0.9/checksums.txt", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(sums)) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}
