package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// useServer sets a kubeconfig with one server.
func useServer(t *testing.T, server string) {
	t.Helper()
	config := filepath.Join(t.TempDir(), "config")
	text := `{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: c, cluster: {server: "` + server + `"}}], users: [{name: u}], contexts: [{name: c, context: {cluster: c, user: u}}]}`
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", config)
	t.Setenv("KUBERNETES_MASTER", "")
}

// TestStartOfOne checks that the program without a command explains the only DaemonSet with
// unavailable or outdated pods.
func TestStartOfOne(t *testing.T) {
	s := newCompletionServer(t)
	useServer(t, s.URL)
	ask := func(typed string) (out, errs string) {
		var o, e bytes.Buffer
		if status := Main(append([]string{"kubectl-ds"}, strings.Fields(typed)...), nil, &o, &e); status != 0 {
			t.Fatalf("%s: status %d: %s", typed, status, &e)
		}
		return o.String(), e.String()
	}
	want, wantErrs := ask("explain -n kube-system agent")
	out, errs := ask("-n kube-system")
	wantErrs += "note: 1 other DaemonSet: all pods are available and updated, by the status; kubectl ds --help lists the commands\n"
	if out != want || errs != wantErrs || !strings.Contains(want, "kube-system/agent") {
		t.Errorf("got %s%swant %s%s", out, errs, want, wantErrs)
	}
}

// TestStart checks that the program without a command shows the status of the DaemonSets, or its
// help if no cluster responds.
func TestStart(t *testing.T) {
	s := newCompletionServer(t)
	for _, tt := range []struct {
		why, server, typed string
		status             int
		want               string // the first line
		check              string // the last command
	}{
		{"a cluster", s.URL, "", 0, "2 DaemonSets: 2 with pods that are not available or not updated", "kubectl ds explain -A"},
		{"one that does not answer", "http://127.0.0.1:1", "", 0, "Explain and forecast DaemonSet rollouts.", ""},
		{"all namespaces", s.URL, "-A", 0, "2 DaemonSets: 2 with pods that are not available or not updated", "kubectl ds explain -A"},
		{"one without any", s.URL, "-n default", 0, "No DaemonSets found in namespace default. Try: kubectl ds explain -A", ""},
		{"who asks for a namespace asks a cluster", "http://127.0.0.1:1", "-n empty", 1, "error: no answer from the cluster at http://127.0.0.1:1: connection refused", ""},
		{"and so does who asks for all", "http://127.0.0.1:1", "-A", 1, "error: no answer from the cluster at http://127.0.0.1:1: connection refused", ""},
	} {
		t.Run(tt.why, func(t *testing.T) {
			useServer(t, tt.server)
			var out, errs bytes.Buffer
			s.asked = nil
			status := Main(append([]string{"kubectl-ds"}, strings.Fields(tt.typed)...), nil, &out, &errs)
			if first, _, _ := strings.Cut(errs.String()+out.String(), "\n"); status != tt.status || first != tt.want || out.Len() > 0 && errs.Len() > 0 {
				t.Errorf("status %d, %q %s", status, first, &errs)
			}
			if tt.check != "" && !strings.Contains(out.String(), tt.check+"\n") {
				t.Errorf("no %q in %s", tt.check, &out)
			}
			where := "/apis/apps/v1/daemonsets"
			if _, namespace, one := strings.Cut(tt.typed, "-n "); one {
				where = "/apis/apps/v1/namespaces/" + namespace + "/daemonsets"
			}
			if asked := strings.Join(s.asked, " "); tt.server == s.URL && asked != "GET "+where {
				t.Errorf("asked for %s", asked)
			}
		})
	}
}
