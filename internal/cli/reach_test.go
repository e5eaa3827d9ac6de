package cli_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-ds/kubectl-ds/internal/cli"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// suggested matches the commands on a screen: after a label, or on a line of their own.
var suggested = regexp.MustCompile(`(?m)^(?:[A-Z][A-Za-z ]{0,8} {2,}| {4,})(kubectl .*)$`)

// TestCommandsReachTheCluster checks that every command on a screen, of kubectl or of this program,
// contains the connection flags of the original command, and no secret.
func TestCommandsReachTheCluster(t *testing.T) {
	t.Setenv("KUBECONFIG", t.TempDir()+"/none")
	found := 0
	for _, b := range cases.Some(bases()[:10], 10) {
		api := newServer(b)
		defer api.Close()
		reach := []string{"--server", api.URL, "--as", "jane", "--as-group", "a group", "--request-timeout", "9s", "--tls-server-name", "api", "--insecure-skip-tls-verify=false", "--token", "sesame"}
		want := " --as=jane --as-group='a group' --insecure-skip-tls-verify=false --request-timeout=9s --server=" + api.URL + " --tls-server-name=api"
		for _, asked := range [][]string{
			{"-A"}, {"explain", "-A"}, {"explain", "-n", b.namespace, b.name}, {"explain", "-n", b.namespace, b.name, "--all"}, {"plan-rollout", "-n", b.namespace, b.name},
			{"plan-rollout", "-n", b.namespace, b.name, "--restart"}, {"plan-rollout", "-A"}, {"history", "-n", b.namespace, b.name}, {"history", "-n", b.namespace, b.name, "--diff", "-1,live"},
		} {
			var out, errs bytes.Buffer
			cli.Main(append(append([]string{"kubectl-ds"}, asked...), reach...), strings.NewReader(""), &out, &errs)
			for _, line := range suggested.FindAllStringSubmatch(out.String(), -1) {
				found++
				of := line[1]
				for _, flag := range strings.Split(strings.ReplaceAll(want, " --", "\n--"), "\n")[1:] {
					if !strings.Contains(of, flag) {
						t.Errorf("%s: %q suggests %q without %s", b.title, asked, of, flag)
					}
				}
			}
			if strings.Contains(out.String()+errs.String(), "sesame") {
				t.Errorf("%s: %q shows the token: %s%s", b.title, asked, &out, &errs)
			}
		}
	}
	if found < cases.Least(80) {
		t.Errorf("only %d commands were suggested", found)
	}
}

// TestSnapshotOfAll checks that snapshot -A writes the same as a snapshot of each DaemonSet in
// turn.
func TestSnapshotOfAll(t *testing.T) {
	t.Setenv("KUBECONFIG", t.TempDir()+"/none")
	most := 0
	for _, b := range bases() {
		var names []string
		for _, o := range b.objects {
			if meta, _ := o["metadata"].(object); o["kind"] == "DaemonSet" {
				names = append(names, fmt.Sprintf("%s/%s", meta["namespace"], meta["name"]))
			}
		}
		if len(names) < 2 {
			continue
		}
		most = max(most, len(names))
		slices.Sort(names)
		api := newServer(b)
		defer api.Close()
		written := func(of ...string) string {
			var out, errs bytes.Buffer
			if status := cli.Main(slices.Concat([]string{"kubectl-ds", "snapshot", "--server", api.URL, "--show-values", "--fit"}, of), strings.NewReader(""), &out, &errs); status != 0 {
				t.Errorf("%s: %q: status %d, %s", b.title, of, status, &errs)
			}
			return out.String()
		}
		var each strings.Builder
		for _, name := range names {
			each.WriteString(written(name))
		}
		if diff := cmp.Diff(strings.Split(each.String(), "\n"), strings.Split(written("-A"), "\n")); diff != "" {
			t.Errorf("%s (-each +all):\n%.3000s", b.title, diff)
		}
	}
	if most < 5 {
		t.Errorf("at most %d DaemonSets in a cluster", most)
	}
}

// TestNodeOfCluster checks that the answer for one node is the same if only that node is read.
// --exit-code forces a read of all nodes. For a healthy node, only that node is read.
func TestNodeOfCluster(t *testing.T) {
	t.Setenv("KUBECONFIG", t.TempDir()+"/none")
	alone, all := 0, 0
	for _, b := range cases.Some(bases(), 10) {
		api := newServer(b)
		defer api.Close()
		for i, node := range b.names("Node") {
			if i == 3 {
				break
			}
			said := func(flags ...string) string {
				var out, errs bytes.Buffer
				api.asked = nil
				cli.Main(append([]string{"kubectl-ds", "explain", "--server", api.URL, "-n", b.namespace, b.name, "--node", node}, flags...), strings.NewReader(""), &out, &errs)
				return out.String()
			}
			want := said("--exit-code")
			got := said()
			switch listed := slices.Contains(api.asked, "/api/v1/nodes"); {
			case listed:
				all++
			case len(api.asked) > 12:
				t.Errorf("%s, node %s: %d requests", b.title, node, len(api.asked))
			default:
				alone++
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, node %s (-with all nodes +alone):\n%s", b.title, node, diff)
			}
		}
	}
	if alone < cases.Least(10) || all < cases.Least(3) {
		t.Errorf("%d nodes alone, %d with all others", alone, all)
	}
}

// TestHistoryFromMetadata checks that a history from the metadata of pods is the same as one from
// whole pods. It uses a server that returns metadata, and one that does not support it.
func TestHistoryFromMetadata(t *testing.T) {
	t.Setenv("KUBECONFIG", t.TempDir()+"/none")
	few, all := 0, 0
	for _, b := range cases.Some(bases(), 10) {
		api := newServer(b)
		defer api.Close()
		for _, flags := range [][]string{nil, {"-o", "wide"}, {"--all"}, {"-o", "markdown"}, {"--diff", "-1,live"}, {"--exit-code"}} {
			said := func(plain bool) (words string, lists int) {
				var out, errs bytes.Buffer
				api.asked, api.plain = nil, plain
				status := cli.Main(append([]string{"kubectl-ds", "history", "--server", api.URL, "-n", b.namespace, b.name}, flags...), strings.NewReader(""), &out, &errs)
				for _, path := range api.asked {
					lists += strings.Count(path, "/pods")
				}
				return fmt.Sprintf("%s%s%d", &out, &errs, status), lists
			}
			got, listed := said(false)
			want, asPlain := said(true)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %q (-from whole pods +from metadata):\n%s", b.title, flags, diff)
			}
			if listed < asPlain {
				few++
			} else {
				all++
			}
		}
	}
	if few < cases.Least(6) || all < cases.Least(6) {
		t.Errorf("%d from metadata, %d from whole pods", few, all)
	}
}
