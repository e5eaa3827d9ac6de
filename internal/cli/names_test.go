package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// TestNames checks how arguments name DaemonSets. A ref is NAMESPACE/NAME, or NAME for the current
// namespace.
func TestNames(t *testing.T) {
	for _, tt := range []struct {
		args, namespace string
		want            string // refs, or the error
		why             string
	}{
		{"node-agent", "", "node-agent", "a name"},
		{"node-agent", "kube-system", "kube-system/node-agent", "a name, in the namespace of -n"},
		{"ds/node-agent", "", "node-agent", "X is a type"},
		{"daemonset/node-agent", "", "node-agent", "X is a type"},
		{"daemonsets/node-agent", "", "node-agent", "X is a type"},
		{"daemonsets.apps/node-agent", "", "node-agent", "X is a type"},
		{"DaemonSet.apps/node-agent", "", "node-agent", "a type in the case of its kind: no namespace has a dot or upper case"},
		{"ds node-agent", "", "node-agent", "a type and a name"},
		{"ds kube-system/node-agent", "", "kube-system/node-agent", "a type, and a name with its namespace"},
		{"kube-system/node-agent", "", "kube-system/node-agent", "X is a namespace"},
		{"kube-system/node-agent", "kube-system", "kube-system/node-agent", "-n names the same namespace"},
		{"kube-system/node-agent logging/node-agent", "", "kube-system/node-agent logging/node-agent", "two DaemonSets of one name"},
		{"kube-system/a ds/a", "kube-system", "kube-system/a", "both are the same DaemonSet"},
		{"deployment/web", "", "deployment/web", "X is none of the types, so it is a namespace"},
		{"kube-system/node-agent", "logging", `"kube-system/node-agent" is in namespace "kube-system", but -n is "logging"; hint: leave out -n`, "-n names another namespace"},
		{"a kube-system/node-agent", "logging", `"kube-system/node-agent" is in namespace "kube-system", but -n is "logging"; hint: leave out -n`, "so for every name"},
		{"ds/kube-system/node-agent", "", `"ds/kube-system/node-agent" has a kind and a namespace: write NAMESPACE/NAME; hint: kube-system/node-agent`, "a type and a namespace"},
		{"a/b/c", "", `"a/b/c" is neither NAME nor NAMESPACE/NAME; hint: kubectl ds explain -n kube-system node-agent`, "three parts"},
		{"kube-system/", "", `"kube-system/" has no name after the slash; hint: kube-system/NAME`, "no name"},
		{"/node-agent", "", `"/node-agent" is not a DaemonSet: this plugin is for DaemonSets only`, "no namespace"},
		{"Deployment.apps/web", "", `"Deployment.apps/web" is not a DaemonSet: this plugin is for DaemonSets only; hint: kubectl rollout status Deployment.apps/web`, "no namespace has a dot"},
		{"kube-system/Node_Agent", "", `"Node_Agent" is not a name of a DaemonSet: use lower-case letters, digits, dots and dashes`, "not a name"},
	} {
		refs, err := calledAs("kubectl-ds").names(strings.Fields(tt.args), tt.namespace)
		got := strings.Trim(fmt.Sprint(refs), "[]")
		if err != nil {
			got = withHint(err)
		}
		if got != tt.want {
			t.Errorf("%s, -n %q: %s, want %s (%s)", tt.args, tt.namespace, got, tt.want, tt.why)
		}
	}
}

// withHint returns an error and its hint in one line.
func withHint(err error) string {
	words := err.Error()
	if hint := calledAs("kubectl-ds").hintOf(err); hint != "" {
		words += "; hint: " + hint
	}
	return words
}

// printed runs a command line and returns its output.
func printed(args ...string) (out, errs string, status int) {
	var o, e bytes.Buffer
	status = Main(append([]string{"kubectl-ds"}, args...), strings.NewReader(""), &o, &e)
	return o.String(), e.String(), status
}

// TestNamesOfCommands checks that every command that takes a NAME also accepts NAMESPACE/NAME, and
// gives the same answer as with -n.
func TestNamesOfCommands(t *testing.T) {
	world := []string{"--from", "testdata/cluster.yaml", "--now", "2026-11-20T12:00:00Z", "--kubernetes-version", "v1.37.1"}
	for _, command := range []string{"explain", "plan-rollout", "history", "plan-rollout --restart", "history --undo 1", "history --revision 1", "snapshot --show-values"} {
		ask := func(more ...string) (string, string, int) {
			return printed(append(append(strings.Fields(command), world...), more...)...)
		}
		want, _, status := ask("agent", "-n", "moving")
		if status != 0 || want == "" {
			t.Fatalf("%s agent -n moving: status %d", command, status)
		}
		for _, args := range [][]string{{"moving/agent"}, {"moving/agent", "-n", "moving"}, {"ds", "moving/agent"}} {
			if got, errs, status := ask(args...); status != 0 || got != want {
				t.Errorf("%s %v: status %d, %s%s", command, args, status, errs, cmp.Diff(want, got))
			}
		}
		if _, errs, status := ask("moving/agent", "-n", "stuck"); status != 1 || !strings.Contains(errs, "but -n is \"stuck\"") {
			t.Errorf("%s moving/agent -n stuck: status %d, %s", command, status, errs)
		}
		if command == "snapshot --show-values" {
			continue // this command has no -A
		}
		if _, errs, status := ask("moving/agent", "-A"); status != 1 || !strings.HasPrefix(errs, "error: a name cannot be combined with -A or -l\n") {
			t.Errorf("%s moving/agent -A: status %d, %s", command, status, errs)
		}
	}
}

// TestRollbackValues checks that --undo and --to-revision accept the same values and give the same
// errors. DaemonSet moving/agent has revisions 1 and 2.
func TestRollbackValues(t *testing.T) {
	for _, tt := range []struct {
		value, want string // the target revision, or the error
		why         string
	}{
		{"1", "1", "a number"},
		{" 1", "1", "with a space"},
		{"2", "2", "the current one"},
		{"0", "1", "the one before the current one"},
		{"-1", "1", "the one before the latest"},
		{"9", "error: daemonset moving/agent has no revision 9: it has 1, 2\nhint: FLAG 1\n", "none has this number"},
		{"-5", "error: daemonset moving/agent has no revision 5 before the latest: it has 2, 1\n", "there are not so many"},
		{"live", "error: FLAG \"live\" is not a revision to go back to: give a number, 0 for the revision before the current one, or -1 for the one before the latest\nhint: FLAG 0\n", "a word"},
		{"", "error: FLAG \"\" is not a revision to go back to: give a number, 0 for the revision before the current one, or -1 for the one before the latest\nhint: FLAG 0\n", "nothing, as an unset variable of a script"},
	} {
		for flag, command := range map[string]string{"--undo": "history", "--to-revision": "plan-rollout"} {
			out, errs, status := printed(command, "moving/agent", "--from", "testdata/cluster.yaml", "--now", "2026-11-20T12:00:00Z", "--kubernetes-version", "v1.37.1", flag, tt.value, "-o", "jsonpath={.change.revision.was}")
			if out = strings.TrimSuffix(out, "\n"); status != 0 {
				out = errs
			}
			if want := strings.ReplaceAll(tt.want, "FLAG", flag); out != want {
				t.Errorf("%s %s %q: %q, want %q (%s)", command, flag, tt.value, out, want, tt.why)
			}
		}
	}
}

// TestNodesOfExplain checks that --node accepts the same NODES as the flags of plan-rollout. The
// cluster has the nodes w-1 (zone=a) and w-2 (zone=b). If the nodes were not read, only w-1 and
// gone are known, because they have pods.
func TestNodesOfExplain(t *testing.T) {
	for _, tt := range []struct {
		flags, want string // the nodes, or the error
		unread      bool
		why         string
	}{
		{"w-1", "w-1", false, "a name"},
		{"w-2,w-1", "w-1 w-2", false, "two names"},
		{"w-*", "w-1 w-2", false, "a pattern"},
		{"w-[!1]", "w-2", false, "a pattern as a shell has it"},
		{"w-?,w-1", "w-1 w-2", false, "each node once"},
		{"zone=b", "w-2", false, "a label"},
		{"zone in (a,b),zone!=b", "w-1", false, "a selector with commas"},
		{"w-3", `--node w-3: node "w-3" not found; hint: did you mean w-1, w-2?`, false, "no such node"},
		{"w-1,x*", `--node w-1,x*: no node has a name that matches "x*"; hint: kubectl get nodes`, false, "a pattern of none"},
		{"zone=c", `--node zone=c: no node has labels that match "zone=c"; hint: kubectl get nodes -l 'zone=c'`, false, "a label of none"},
		{"w-1,", `--node w-1,: the name of the node is empty`, false, "no name behind the comma"},
		{"w-[", `--node w-[: pattern "w-[": syntax error in pattern`, false, "no pattern"},
		{"w-9", "w-9", true, "any name may be that of a node that was not read"},
		{"g*", "gone", true, "a pattern of the nodes that have a pod"},
		{"x*", `--node x*: the nodes could not be read, so only names can be looked up; hint: --node worker-7`, true, "a pattern of none of these"},
		{"zone=a", `--node zone=a: the nodes could not be read, so only names can be looked up; hint: --node worker-7`, true, "a label that was not read"},
	} {
		state := &daemonset.State{NodesRead: true, Nodes: []daemonset.Node{
			{Name: "w-1", Object: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "w-1", Labels: map[string]string{"zone": "a"}}}},
			{Name: "w-2", Object: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "w-2", Labels: map[string]string{"zone": "b"}}}},
		}}
		if tt.unread {
			state = &daemonset.State{Nodes: []daemonset.Node{{Name: "gone"}, {Name: "w-1"}}}
		}
		chosen, err := chosenNodes([]string{tt.flags}, []*daemonset.State{state})
		slices.Sort(chosen)
		got := strings.Join(chosen, " ")
		if err != nil {
			got = withHint(err)
		}
		if got != tt.want {
			t.Errorf("--node %s: %s, want %s (%s)", tt.flags, got, tt.want, tt.why)
		}
	}
}

// TestMeant checks the suggestions for misspelled flags and commands.
func TestMeant(t *testing.T) {
	for _, tt := range []struct{ args, want, why string }{
		{"plan-rollout x --to-revison 3", "unknown flag: --to-revison; did you mean --to-revision?", "a letter is missing"},
		{"plan-rollout x --max-unavailble=3", "unknown flag: --max-unavailble; did you mean --max-unavailable?", "a flag with its value"},
		{"explain x --nodes w-1", "unknown flag: --nodes; did you mean --node?", "the plural"},
		{"history x --undoo 1", "unknown flag: --undoo; did you mean --undo?", "a letter too many"},
		{"snapshot x --show-value", "unknown flag: --show-value; did you mean --show-values?", "every command"},
		{"explain x --namespce a", "unknown flag: --namespce; did you mean --namespace?", "kubectl's own flags"},
		{"explain x --frobnicate", "unknown flag: --frobnicate; kubectl ds explain --help", "none is near"},
		{"explain x -Z", "unknown flag: -Z; kubectl ds explain --help", "one letter is near to none"},
		{"history x --undo", "--undo has no value; --undo REVISION", "a value is missing"},
		{"explian", `unknown command "explian"; did you mean kubectl ds explain?`, "two letters are swapped"},
		{"plan-roll x -n a", `unknown command "plan-roll"; did you mean kubectl ds plan-rollout x -n a?`, "the beginning, with what else was typed"},
		{"historie", `unknown command "historie"; did you mean kubectl ds history?`, "another language"},
		{"frobnicate", `unknown command "frobnicate"; kubectl ds explain frobnicate (if that is the name of a DaemonSet; kubectl ds --help lists the commands)`, "none is near, so it may be a name"},
		{"-n a agent -o json", `unknown command "agent"; kubectl ds explain agent -n a -o json (if that is the name of a DaemonSet; kubectl ds --help lists the commands)`, "with flags of the command that is missing"},
		{"a/agent --from d.yaml", `unknown command "a/agent"; kubectl ds explain a/agent --from d.yaml (if that is the name of a DaemonSet; kubectl ds --help lists the commands)`, "a name with its namespace"},
		{"Frobnicate", `unknown command "Frobnicate"; kubectl ds --help`, "it cannot be one"},
		{"status", `unknown command "status"; kubectl ds explain`, "a word of kubectl rollout"},
		{"status agent --context c --token sesame", `unknown command "status"; kubectl ds explain agent --context c`, "with what else was typed, without what is secret"},
		{"get -A -o wide", `unknown command "get"; kubectl ds explain -A -o wide`, "words of kubectl"},
		{"describe ds agent", `unknown command "describe"; kubectl ds explain ds agent`, "with the kind"},
		{"ls", `unknown command "ls"; kubectl ds explain`, "a word of a shell"},
		{"list -n a", `unknown command "list"; kubectl ds explain -n a`, "of helm"},
		{"wait agent", `unknown command "wait"; kubectl ds explain agent --watch`, "until it is over"},
		{"plan", `unknown command "plan"; kubectl ds plan-rollout`, "a word of terraform"},
		{"plan -f a.yaml", `unknown command "plan"; kubectl ds plan-rollout -f a.yaml`, "of a manifest"},
		{"rollout agent", `unknown command "rollout"; kubectl ds plan-rollout agent`, "half of a command"},
		{"rollout status agent -n a", `unknown command "rollout"; kubectl ds explain agent -n a`, "a command of kubectl"},
		{"rollout history agent", `unknown command "rollout"; kubectl ds history agent`, "the revisions"},
		{"rollout undo agent", `unknown command "rollout"; kubectl ds plan-rollout agent --to-revision=0`, "of which nothing is done here"},
		{"rollback", `unknown command "rollback"; kubectl ds plan-rollout NAME --to-revision=0`, "a name is missing"},
		{"restart agent", `unknown command "restart"; kubectl ds plan-rollout agent --restart`, "what it would do"},
		{"set image agent a=b:2 c=d:2", `unknown command "set"; kubectl ds plan-rollout agent --image=a=b:2 --image=c=d:2`, "what new images would do"},
		{"diff agent", `unknown command "diff"; kubectl ds history agent --diff=-1,live`, "what the last change was"},
		{"diff -f a.yaml", `unknown command "diff"; kubectl ds plan-rollout -f a.yaml`, "what a manifest would change"},
		{"logs agent -n a", `unknown command "logs"; kubectl logs daemonset/agent -n a`, "kubectl has them"},
		{"logs --context c", `unknown command "logs"; kubectl logs daemonset/NAME --context=c`, "of the same cluster"},
		{"--watch", "--watch needs a command; kubectl ds explain NAME --watch", "a flag alone"},
		{"-o json -n a", "-o needs a command; kubectl ds explain -o json -n a", "a short one"},
		{"--restart", "--restart needs a command; kubectl ds plan-rollout NAME --restart", "that one command takes"},
		{"--frob", "unknown flag: --frob; kubectl ds --help", "that none does"},
		{"status --help", `unknown command "status"; kubectl ds explain --help`, "the help of what is no command"},
		{"help frobnicate", `no help for "frobnicate": it is not a command; kubectl ds --help`, "nothing to help with"},
		{"help explian", `no help for "explian": it is not a command; did you mean kubectl ds help explain?`, "a typing error there"},
		{"version x", `version takes no argument, but has "x"; kubectl ds version`, "more than a command takes"},
	} {
		out, errs, status := printed(strings.Fields(tt.args)...)
		if out != "" {
			t.Errorf("%s: %s", tt.args, out)
		}
		message, hint, _ := strings.Cut(tt.want, "; ")
		if want := "error: " + message + "\nhint: " + hint + "\n"; status != 1 || errs != want {
			t.Errorf("%s: status %d, %q, want %q (%s)", tt.args, status, errs, want, tt.why)
		}
	}
}

// TestKubeconfig checks the errors without a usable kubeconfig. If no cluster is configured, the
// error suggests --from.
func TestKubeconfig(t *testing.T) {
	const one = `{apiVersion: v1, kind: Config, clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}], users: [{name: u}], contexts: [{name: prod, context: {cluster: c, user: u}}]`
	const orFile = "--kubeconfig FILE names one; --from FILE reads a file instead of a cluster"
	for _, tt := range []struct {
		file, flags, want string // FILE is the path of the kubeconfig
		why               string
	}{
		{"", "", "no cluster to ask: no kubeconfig found at FILE; " + orFile, "there is none"},
		{"", "--context prod", "no cluster to ask: no kubeconfig found at FILE; " + orFile, "a context of none"},
		{" ", "", "no cluster to ask: the kubeconfig FILE has no cluster; " + orFile, "it is empty"},
		{one + "}", "", "no cluster to ask: the kubeconfig has no current context; --context prod; or read a file instead of a cluster: --from FILE", "no context is chosen"},
		{one + "}", "--context prd", `the kubeconfig has no context "prd"; did you mean --context prod?`, "a typing error"},
		{one + "}", "--context staging", `the kubeconfig has no context "staging"; kubectl config get-contexts`, "another context"},
		{one + "}", "--context prod --cluster x-y-z", `the kubeconfig has no cluster "x-y-z"; kubectl config get-clusters`, "another cluster"},
		{one + "}", "--context prod --user x-y-z", `the kubeconfig has no user "x-y-z"; kubectl config get-users`, "another user"},
		{"{", "", `the kubeconfig cannot be read: FILE: yaml: line 1: did not find expected node content; --kubeconfig FILE names another; --from FILE reads a file instead of a cluster`, "it is damaged"},
		{one + ", current-context: prod}", "--request-timeout 1s", "no answer from the cluster at http://127.0.0.1:1: connection refused; kubectl cluster-info --request-timeout=1s", "a server that does not answer is not a missing kubeconfig"},
		{"", "--server http://127.0.0.1:1", "no answer from the cluster at http://127.0.0.1:1: connection refused; kubectl cluster-info --server=http://127.0.0.1:1", "nor is a server without one"},
	} {
		file := filepath.Join(t.TempDir(), "config")
		if tt.file != "" {
			if err := os.WriteFile(file, []byte(tt.file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("KUBECONFIG", file)
		t.Setenv("KUBERNETES_MASTER", "")
		for _, command := range []string{"explain", "plan-rollout", "history", "snapshot"} {
			_, errs, status := printed(append([]string{command, "agent", "-n", "a"}, strings.Fields(tt.flags)...)...)
			message, hint, _ := strings.Cut(tt.want, "; ")
			want := "error: " + message + "\nhint: " + hint + "\n"
			want = strings.ReplaceAll(want, "at FILE", "at "+file)
			want = strings.ReplaceAll(want, "kubeconfig FILE has", "kubeconfig "+file+" has")
			want = strings.ReplaceAll(want, "read: FILE", "read: "+file)
			if status != 1 || errs != want {
				t.Errorf("%s %s: status %d, %q, want %q (%s)", command, tt.flags, status, errs, want, tt.why)
			}
		}
	}
}
