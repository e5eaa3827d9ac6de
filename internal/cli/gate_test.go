package cli

import (
	"bytes"
	"strings"
	"testing"
)

// TestGates checks the conditions of --fail-on for the examples. The expected line on standard
// error names the condition that holds.
func TestGates(t *testing.T) {
	settled := []string{"node-agent", "-n", "kube-system", "--from", "../../examples/settled.json"}
	surge := []string{"vector", "-n", "logging", "--from", "../../examples/surge.json"}
	onDelete := []string{"csi-node", "-n", "storage", "--from", "../../examples/on-delete.json"}
	refused := []string{"cache-warmer", "-n", "tenant-a", "--from", "../../examples/create-refused.json"}
	typo := []string{"-f", "testdata/nowhere.yaml", "--from", "../../examples/settled.json"}
	for _, tt := range []struct {
		why    string
		plan   []string
		change string
		failOn string
		want   string // line on standard error; empty if no condition holds
	}{
		{"the rollout deletes the pods of two tainted nodes and of one that is NotReady, and no pod follows", settled, "--taint worker-01,worker-02:d=x:NoSchedule --restart", "lostNodes>0", "3 nodes lose their pod"},
		{"the same where no node is left", settled, "--taint *:d=x:NoSchedule --restart", "lostNodes>9", "10 nodes lose their pod"},
		{"a taint alone deletes none of them", settled, "--taint worker-01,worker-02:d=x:NoSchedule", "lostNodes>0", ""},
		{"one that lets no pod stay does", settled, "--taint worker-01,worker-02:d=x:NoExecute", "lostNodes>1", "2 nodes lose their pod"},
		{"a rollout under way deletes six", surge, "--taint *:d=x:NoSchedule", "lostNodes>5", "6 nodes lose their pod"},
		{"and replaces two, beside which the new pod stands already", surge, "--taint *:d=x:NoSchedule", "replaces>1", "2 pods are replaced"},
		{"but no more", surge, "--taint *:d=x:NoSchedule", "replaces>2", ""},
		{"of ten pods nine are replaced", settled, "--restart", "replaces>8", "9 pods are replaced"},
		{"and one is only deleted", settled, "--restart", "replaces>9", ""},
		{"OnDelete replaces none", onDelete, "--image *=example/agent:2", "replaces>0", ""},
		{"nor does it delete any", onDelete, "--image *=example/agent:2 --taint *:d=x:NoSchedule", "lostNodes>0", ""},
		{"no kubelet is left that ends a pod", settled, "--node-down * --restart", "stalls", "10 pods stay terminating"},
		{"with nodes without a pod no pod is old", refused, "", "stalls", "7 nodes stay without an available pod"},
		{"a new DaemonSet with a typo in its nodeSelector", typo, "", "removesAllPods", "no node runs the pod"},
		{"is no stall", typo, "", "stalls", ""},
		{"the pods stay for now", settled, "--taint *:d=x:NoSchedule", "removesAllPods", ""},
	} {
		t.Run(tt.why, func(t *testing.T) {
			args := append([]string{"kubectl-ds", "plan-rollout"}, tt.plan...)
			args = append(append(args, strings.Fields(tt.change)...), "--fail-on", tt.failOn)
			var out, errs bytes.Buffer
			status := Main(args, strings.NewReader(""), &out, &errs)
			want := 6
			if tt.want == "" {
				want = 0
			}
			if status != want || !strings.Contains(errs.String(), tt.want) || (tt.want == "") != (errs.Len() == 0) {
				t.Errorf("%s\nstatus %d, want %d with %q:\n%s%s", strings.Join(args, " "), status, want, tt.want, errs.String(), strings.SplitN(out.String(), "\n", 2)[0])
			}
		})
	}
}

// TestListNamesNowhere checks that a list of plans has a row for a DaemonSet without eligible
// nodes, even if no pod has been deleted yet.
func TestListNamesNowhere(t *testing.T) {
	for _, tt := range []struct{ why, from, change, want string }{
		{"a taint with which the pods may stay", "settled", "--taint *:d=x:NoSchedule", "NOTHING TO DO kube-system/node-agent 0 0 0 0 - all pods are updated; no node is eligible, and 10 pods stay"},
		{"the last eligible nodes are removed, and a pod stays on another", "settled", "--remove-nodes worker-0[1-8],worker-10", "NOTHING TO DO kube-system/node-agent 0 0 0 0 - all pods are updated; no node is eligible, and 1 pod stays"},
		{"a rollout under way deletes some, and others stay, of which two fail", "surge", "--taint *:d=x:NoSchedule", "WOULD STALL logging/vector 0 of 2 6 0 1 - 2 pods fail their readiness probe; no node is eligible, and 6 pods stay"},
		{"some nodes are left", "settled", "--taint worker-0*:d=x:NoSchedule", ""},
	} {
		t.Run(tt.why, func(t *testing.T) {
			var out, errs bytes.Buffer
			args := append([]string{"kubectl-ds", "plan-rollout", "-A", "--from", "../../examples/" + tt.from + ".json"}, strings.Fields(tt.change)...)
			if status := Main(args, strings.NewReader(""), &out, &errs); status != 0 {
				t.Fatal(errs.String())
			}
			row := ""
			for line := range strings.Lines(out.String()) {
				if strings.Contains(line, "/") && !strings.HasPrefix(line, "Do now ") && !strings.HasPrefix(line, " ") {
					row = line
				}
			}
			if got := strings.Join(strings.Fields(row), " "); got != tt.want && (tt.want != "" || !strings.HasPrefix(got, "WOULD COMPLETE ")) {
				t.Errorf("got  %s\nwant %s\n%s", got, tt.want, out.String())
			}
		})
	}
}
