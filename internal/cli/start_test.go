package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStart: the name of the program alone says how the DaemonSets are, or is the help
// where no cluster tells.
func TestStart(t *testing.T) {
	s := newCompleting(t)
	for _, tt := range []struct{ why, server, want string }{
		{"a cluster", s.URL, "2 DaemonSets: 2 with pods that are not available or not updated"},
		{"one that does not answer", "http://127.0.0.1:1", "Explain and forecast DaemonSet rollouts."},
	} {
		t.Run(tt.why, func(t *testing.T) {
			config := filepath.Join(t.TempDir(), "config")
			text := `{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: c, cluster: {server: "` + tt.server + `"}}], users: [{name: u}], contexts: [{name: c, context: {cluster: c, user: u}}]}`
			if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("KUBECONFIG", config)
			t.Setenv("KUBERNETES_MASTER", "")
			var out, errs bytes.Buffer
			status := Main([]string{"kubectl-ds"}, nil, &out, &errs)
			if first, _, _ := strings.Cut(out.String(), "\n"); status != 0 || errs.Len() > 0 || first != tt.want {
				t.Errorf("status %d, %q %s", status, first, &errs)
			}
		})
	}
	if asked := strings.Join(s.asked, " "); asked != "GET /apis/apps/v1/daemonsets" {
		t.Errorf("asked for %s", asked)
	}
}
