package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// completionObjects is a cluster for completions. It has four nodes, two DaemonSets in kube-system,
// one of them with three revisions, and one DaemonSet in logging.
const completionObjects = `{
"/apis/apps/v1/namespaces/kube-system/daemonsets": {"kind":"DaemonSetList","apiVersion":"apps/v1","items":[AGENT,{
  "metadata":{"name":"proxy","namespace":"kube-system","labels":{"app":"proxy"}},"spec":{"selector":{"matchLabels":{"app":"proxy"}}}}]},
"/apis/apps/v1/namespaces/logging/daemonsets": {"kind":"DaemonSetList","apiVersion":"apps/v1","items":[SHIPPER]},
"/apis/apps/v1/namespaces/default/daemonsets": {"kind":"DaemonSetList","apiVersion":"apps/v1","items":[]},
"/apis/apps/v1/daemonsets": {"kind":"DaemonSetList","apiVersion":"apps/v1","items":[AGENT,SHIPPER]},
"/apis/apps/v1/namespaces/kube-system/daemonsets/agent": AGENT,
"/apis/apps/v1/namespaces/kube-system/controllerrevisions?labelSelector=app%3Dagent": {"kind":"ControllerRevisionList","apiVersion":"apps/v1","items":[
  {"metadata":{"name":"agent-a","namespace":"kube-system","labels":{"app":"agent"},"creationTimestamp":"2026-12-20T12:00:00Z","annotations":{"kubernetes.io/change-cause":"new agent"}},"revision":1,
   "data":{"spec":{"template":{"$patch":"replace","spec":{"containers":[{"name":"agent","image":"acme/agent:1"}]}}}}},
  {"metadata":{"name":"agent-c","namespace":"kube-system","labels":{"app":"agent"},"creationTimestamp":"2026-12-24T11:00:00Z","annotations":{"kubernetes.io/change-cause":"kubectl set env ds/agent TOKEN=s3cret"}},"revision":3,
   "data":{"spec":{"template":{"$patch":"replace","spec":{"containers":[{"name":"agent","image":"acme/agent:3"},{"name":"side","image":"acme/side:1"}]}}}}},
  {"metadata":{"name":"agent-b","namespace":"kube-system","labels":{"app":"agent"}},"revision":2,"data":{}}]},
"/api/v1/nodes": {"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[
  {"metadata":{"name":"worker-1","labels":{"zone":"a","pool":"gpu"}}},{"metadata":{"name":"worker-2","labels":{"zone":"a"}}},{"metadata":{"name":"worker-3","labels":{"zone":"b"}}},
  {"metadata":{"name":"control","labels":{"zone":"b"}}},{"metadata":{"name":"$(touch x)","labels":{"zone":"` + "`x`" + `"}}}]},
"/api/v1/namespaces": {"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[{"metadata":{"name":"kube-system"}},{"metadata":{"name":"default"}}]}
}`

var shortened = strings.NewReplacer("SHIPPER", `{"kind":"DaemonSet","apiVersion":"apps/v1","metadata":{"name":"shipper","namespace":"logging"},"spec":{"selector":{"matchLabels":{"app":"shipper"}}},
  "status":{"observedGeneration":1,"desiredNumberScheduled":3,"numberReady":3}}`,
	"AGENT", `{"kind":"DaemonSet","apiVersion":"apps/v1","metadata":{"name":"agent","namespace":"kube-system","labels":{"app":"agent","tier":"node"}},"spec":{"selector":{"matchLabels":{"app":"agent"}},
  "template":{"spec":{"containers":[{"name":"agent","image":"registry:5000/acme/agent:3"},{"name":"side","image":"acme/side@sha256:0"}],"initContainers":[{"name":"setup","image":"acme/setup"}]}}},
  "status":{"observedGeneration":2,"desiredNumberScheduled":12,"numberReady":9}}`)

// completionServer is an API server for completions that records its requests.
type completionServer struct {
	URL   string
	mu    sync.Mutex
	asked []string
}

func newCompletionServer(t *testing.T) *completionServer {
	t.Helper()
	var answers map[string]json.RawMessage
	if err := json.Unmarshal([]byte(shortened.Replace(completionObjects)), &answers); err != nil {
		t.Fatal(err)
	}
	s := &completionServer{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := strings.ReplaceAll(r.URL.RequestURI(), "limit=500", "")
		asked = strings.TrimRight(asked, "?&")
		s.mu.Lock()
		s.asked = append(s.asked, r.Method+" "+asked)
		s.mu.Unlock()
		answer, known := answers[asked]
		ofMetadata := bytes.Contains(answer, []byte("PartialObjectMetadataList"))
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Date", "Thu, 24 Dec 2026 12:00:00 GMT")
		if !known || ofMetadata && !strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadataList;g=meta.k8s.io;v=v1") {
			w.WriteHeader(http.StatusNotAcceptable)
			answer = []byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":406,"reason":"NotAcceptable"}`)
		}
		_, _ = w.Write(answer)
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// completionsOf returns the completions of a command line with their descriptions, and the
// directive of cobra in brackets.
func completionsOf(t *testing.T, line ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if status := Main(append([]string{"kubectl_complete-ds"}, line...), nil, &out, &errs); status != 0 || errs.Len() > 0 {
		t.Errorf("%q: status %d, %s", line, status, &errs)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	directive := map[string]string{":0": "[files]", ":4": "", ":6": "[open]", ":8": "[files]", ":16": "[directories]", ":36": "[ordered]", ":38": "[open ordered]"}[lines[len(lines)-1]]
	return strings.ReplaceAll(strings.Join(append(lines[:len(lines)-1], directive), "|"), "\t", " ")
}

// TestCompletion checks the completions of command lines, separated by |. A description follows its
// word. asks lists the expected requests to the server.
func TestCompletion(t *testing.T) {
	s := newCompletionServer(t)
	config := filepath.Join(t.TempDir(), "config")
	text := `{apiVersion: v1, kind: Config, current-context: dev, clusters: [{name: dev-eu, cluster: {server: "` + s.URL + `"}}, {name: prod-eu, cluster: {server: "http://127.0.0.1:1"}}],
users: [{name: jane}, {name: root}], contexts: [{name: dev, context: {cluster: dev-eu, user: jane}}, {name: "arn:aws:eks:eu-1:1:cluster/prod", context: {cluster: prod-eu, user: root}}, {name: "a b", context: {cluster: dev-eu}}]}`
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", config)
	t.Setenv("KUBERNETES_MASTER", "")
	const system, daemonSets, revisions = "-n kube-system ", "GET /apis/apps/v1/namespaces/kube-system/daemonsets", "GET /apis/apps/v1/namespaces/kube-system/controllerrevisions?labelSelector=app%3Dagent"
	const three = "3 1h old, acme/agent:3 acme/side:1|2|1 4d old, new agent|"
	for _, tt := range []struct {
		line string // the last word is incomplete; after a space, it is empty
		want string
		asks string
		why  string
	}{
		{"hist", "history Show revisions, what changed, and what a rollback would do|", "", "a command"},
		{"history --undo=", "", "", "of no DaemonSet"},
		{"explain --watc", "--watch keep the answer about one DaemonSet up to date until Ctrl-C|", "", "a flag"},
		{"completion ", "bash|zsh|fish|powershell|[ordered]", "", "shells"},
		{"version ", "", "", "a command without arguments"},

		{"explain " + system, "agent 12 desired, 9 ready|proxy|", daemonSets, "names with their status, where it has one"},
		{"explain " + system + "agent ", "proxy|", daemonSets, "further names"},
		{"explain " + system + "ds/a", "ds/agent 12 desired, 9 ready|", daemonSets, "a name behind its type"},
		{"explain kube-system/", "kube-system/agent 12 desired, 9 ready|kube-system/proxy|", daemonSets, "a name behind its namespace"},
		{"explain -n logging kube-system/", "", "", "not behind that of -n"},
		{"explain ", "kube-system/agent 12 desired, 9 ready|logging/shipper 3 desired, 3 ready|", "GET /apis/apps/v1/namespaces/default/daemonsets|GET /apis/apps/v1/daemonsets", "the current namespace has none"},
		{"explain -n default ", "", "GET /apis/apps/v1/namespaces/default/daemonsets", "nor has the one that was asked for"},
		{"snapshot " + system, "agent 12 desired, 9 ready|proxy|", daemonSets, "names"},
		{"snapshot " + system + "agent ", "proxy|", daemonSets, "further ones"},

		{"explain -n ", "default|kube-system|", "GET /api/v1/namespaces", "namespaces"},
		{"explain --context ", "arn:aws:eks:eu-1:1:cluster/prod|dev|", "", "contexts that a shell takes as they are"},
		{"explain --cluster ", "dev-eu|prod-eu|", "", "clusters"},
		{"explain --user r", "root|", "", "users"},
		{"explain --context arn:aws:eks:eu-1:1:cluster/prod -n ", "", "", "a server that is away"},
		{"explain --context none -n ", "", "", "a context that is not there"},
		{"explain -l ", "app=agent|app=proxy|tier=node|", "", ""},

		{"explain -o ", "wide|markdown|html|json|yaml|name|jsonpath=|jsonpath-file=|go-template=|go-template-file=|[ordered]", "", "formats"},
		{"explain -o go", "go-template=|go-template-file=|[open ordered]", "", "a template follows"},
		{"explain --color ", "auto|always|never|[ordered]", "", "when to color"},
		{"explain --now ", "", "", "a time, which nobody offers"},
		{"explain --kubernetes-version v1.3", "v1.37|v1.36|v1.35|v1.34|v1.33|v1.32|v1.31|v1.30|[ordered]", "", "minors whose rules are known"},
		{"plan-rollout --strategy ", "RollingUpdate|OnDelete|[ordered]", "", "strategies"},
		{"plan-rollout --fail-on st", "stalls the rollout does not complete by itself|strands> more than N nodes lose their pod in the rollout because of a taint that the pod does not tolerate|[open ordered]", "", "conditions"},
		{"plan-rollout --fail-on stalls,st", "stalls,strands> more than N nodes lose their pod in the rollout because of a taint that the pod does not tolerate|[open ordered]", "", "each once"},

		{"explain --node ", "control|worker-* 3 nodes|worker-1|worker-2|worker-3|", "GET /api/v1/nodes", "nodes, without one that a shell would run, and what many have in common"},
		{"explain --node worker-2,wo", "worker-2,worker-1|worker-2,worker-3|", "GET /api/v1/nodes", "a list of nodes"},
		{"plan-rollout --node-down z", "zone= 3 values|[open]", "GET /api/v1/nodes", "no node begins so: labels"},
		{"plan-rollout --cordon zone=", "zone=a 2 nodes|zone=b 2 nodes|", "GET /api/v1/nodes", "values of a label"},
		{"plan-rollout --uncordon c", "control|", "GET /api/v1/nodes", "another flag"},
		{"plan-rollout --remove-nodes c", "control|", "GET /api/v1/nodes", "another flag"},
		{"plan-rollout --add-nodes 3 --like w", "worker-1|worker-2|worker-3|", "GET /api/v1/nodes", "a node, not nodes"},
		{"plan-rollout --group-by ", "pool 1 value|zone 3 values|", "GET /api/v1/nodes", "labels"},
		{"plan-rollout --node-selector pool=", "pool=gpu 1 node|", "GET /api/v1/nodes", "a label with its value"},
		{"plan-rollout --label c", "control|[open]", "GET /api/v1/nodes", "nodes, and a label follows"},
		{"plan-rollout --label worker-*:zone=", "worker-*:zone=a 2 nodes|worker-*:zone=b 2 nodes|", "GET /api/v1/nodes", "the label"},
		{"plan-rollout --taint c", "control|[open]", "GET /api/v1/nodes", "nodes, and a taint follows"},
		{"plan-rollout --taint zone=a:node.kubernetes.io/un", "zone=a:node.kubernetes.io/unreachable:|zone=a:node.kubernetes.io/unschedulable:|[open]", "", "the taint"},
		{"plan-rollout --taint control:dedicated=gpu:", "control:dedicated=gpu:NoExecute|control:dedicated=gpu:NoSchedule|control:dedicated=gpu:PreferNoSchedule|", "", "its effect"},
		{"plan-rollout --toleration dedicated:No", "dedicated:NoExecute|dedicated:NoSchedule|", "", "an effect that is tolerated"},

		{"plan-rollout " + system + "agent --image ", "agent= registry:5000/acme/agent:3|setup= acme/setup|side= acme/side@sha256:0|[open]", daemonSets, "containers with their images"},
		{"plan-rollout " + system + "agent --image agent=", "agent=registry:5000/acme/agent:|agent=registry:5000/acme/agent:3|[open]", daemonSets, "the image of a container, for another tag"},
		{"plan-rollout " + system + "agent --image side=", "side=acme/side:|side=acme/side@sha256:0|[open]", daemonSets, "an image by digest"},
		{"plan-rollout --image ", "", "", "of no DaemonSet"},
		{"plan-rollout " + system + "agent proxy --image ", "", "", "of two"},
		{"plan-rollout " + system + "agent --to-revision ", three + "0 the revision before the current one|[ordered]", daemonSets + "/agent|" + revisions, "revisions, the latest first, without a secret"},
		{"history kube-system/agent --undo ", three + "0 the revision before the current one|[ordered]", daemonSets + "/agent|" + revisions, "another flag"},
		{"history " + system + "agent --revision l", "live the template that the DaemonSet has now|[ordered]", daemonSets + "/agent|" + revisions, "or the live template"},
		{"history " + system + "agent --diff ", three + "live the template that the DaemonSet has now|[open ordered]", daemonSets + "/agent|" + revisions, "two revisions"},
		{"history " + system + "agent --diff 3,", "3,2|3,1 4d old, new agent|3,live the template that the DaemonSet has now|[ordered]", daemonSets + "/agent|" + revisions, "the second one"},

		{"plan-rollout -f ", "yaml|yml|json|[files]", "", "manifests"},
		{"explain --from ", "yaml|yml|json|tar|gz|tgz|xz|txz|zst|bz2|zip|[files]", "", "dumps"},
		{"plan-rollout -k ", "[directories]", "", "a directory"},
		{"explain --kubeconfig ", "[files]", "", "any file"},
	} {
		s.asked = nil
		got, asked := completionsOf(t, strings.Split(tt.line, " ")...), strings.Join(s.asked, "|")
		if tt.why == "" {
			tt.want, tt.why = "", "labels: the current namespace has none"
			tt.asks = "GET /apis/apps/v1/namespaces/default/daemonsets"
		}
		if got != tt.want || asked != tt.asks {
			t.Errorf("%q (%s):\n%s\nwant\n%s\nasked %s\nwant  %s", tt.line, tt.why, got, tt.want, asked, tt.asks)
		}
	}
}

// TestCompletionOfFiles checks that --from offers the same words without any request.
func TestCompletionOfFiles(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	const two = "--from testdata/cluster.yaml "
	for _, tt := range []struct{ line, want, why string }{
		{"explain " + two + "node", "node-exporter 2 desired, 2 ready|", "a name of one namespace"},
		{"explain " + two + "-n stuck ", "agent 2 desired, 1 ready|", "those of a namespace"},
		{"explain " + two + "ag", "agent in 7 namespaces|", "a name of several"},
		{"explain " + two + "stuck", "stuck/agent 2 desired, 1 ready|", "which the namespace tells apart"},
		{"explain " + two + "-n st", "stuck|", "namespaces of the DaemonSets"},
		{"explain " + two + "--node w-", "w-1|w-2|", "nodes"},
		{"plan-rollout " + two + "moving/agent --image ", "agent= example/agent:2|[open]", "containers"},
		{"history " + two + "moving/agent --undo ", "2 58m old, example/agent:2|1 55d old, example/agent:1|0 the revision before the current one|[ordered]", "revisions"},
		{"history --from missing moving/agent --undo ", "", "a file that is not there"},
		{"history --from - moving/agent --undo ", "", "standard input"},
		{"history " + two + "agent --undo ", "", "of a name in several namespaces"},
	} {
		if got := completionsOf(t, strings.Split(tt.line, " ")...); got != tt.want {
			t.Errorf("%q (%s):\n%s\nwant\n%s", tt.line, tt.why, got, tt.want)
		}
	}
}

// TestEveryFlagCompletes checks that each flag with a value has a completion, and that each
// completion belongs to a flag. Without a completion, a shell offers file names.
func TestEveryFlagCompletes(t *testing.T) {
	root := newRoot(calledAs("kubectl-ds"), strings.NewReader(""), new(strings.Builder), new(strings.Builder))
	flags := map[string]bool{}
	for _, cmd := range append(root.Commands(), root) {
		if cmd.HasParent() && cmd.ValidArgsFunction == nil {
			t.Errorf("%s: its arguments are files to a shell", cmd.Name())
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			flags[f.Name] = true
			if _, has := cmd.GetFlagCompletionFunc(f.Name); !has && f.NoOptDefVal == "" {
				t.Errorf("%s --%s: its value is a file to a shell", cmd.Name(), f.Name)
			}
		})
		cmd.PersistentFlags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
	}
	for name := range flagChoices {
		if !flags[name] {
			t.Errorf("completion of --%s, which no command has", name)
		}
	}
	for name := range fileFlags {
		if !flags[name] || flagChoices[name] != nil {
			t.Errorf("files for --%s, which no command has, or with a completion of its own", name)
		}
	}
}

// TestCompletionHangs checks that a completion offers nothing, and does not block, if a credential
// plugin hangs or panics.
func TestCompletionHangs(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	config := filepath.Join(t.TempDir(), "config")
	text := `{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}], contexts: [{name: c, context: {cluster: c, user: u}}],
users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, args: [-c, "echo log in please >&2; read answer; exec sleep 60"], interactiveMode: IfAvailable}}}]}`
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", config)
	if got := completionsOf(t, "explain", ""); got != "" {
		t.Errorf("offered %s", got)
	}
	c := &common{}
	cmd := &cobra.Command{}
	cmd.SetContext(t.Context())
	words, directive := c.completionFunc(func(context.Context, *completionRequest) (choices, error) { panic("x") })(cmd, nil, "")
	if len(words) > 0 || directive != cobra.ShellCompDirectiveNoFileComp {
		t.Errorf("%q, %d", words, directive)
	}
	synctest.Test(t, func(t *testing.T) {
		cmd.SetContext(t.Context())
		began := time.Now()
		words, _ := c.completionFunc(func(context.Context, *completionRequest) (choices, error) {
			time.Sleep(time.Hour)
			return choices{words: plainChoices("late")}, nil
		})(cmd, nil, "")
		if took := time.Since(began); len(words) > 0 || took > 2*time.Second {
			t.Errorf("%q after %s", words, took)
		}
		time.Sleep(time.Hour) // synctest waits until the finder ends
	})
}

// TestTurnOn checks that the link is created next to the program, and points to the name by which
// the program was called.
func TestTurnOn(t *testing.T) {
	for _, tt := range []struct {
		path, system string
		found        map[string]string // programs on the PATH
		want         string            // the first command, or the text instead of it
		why          string
	}{
		{"/home/jane/.krew/bin/kubectl-ds", "linux", nil, "ln -sf kubectl-ds /home/jane/.krew/bin/kubectl_complete-ds", "called by kubectl"},
		{"/home/jane/.krew/bin/kubectl-daemonset_rollout", "darwin", nil, "ln -sf kubectl-daemonset_rollout /home/jane/.krew/bin/kubectl_complete-daemonset_rollout", "another name"},
		{"kubectl-ds", "linux", map[string]string{"kubectl-ds": "/usr/local/bin/kubectl-ds"}, "ln -sf kubectl-ds /usr/local/bin/kubectl_complete-ds", "called by a shell"},
		{"/my bin/kubectl-ds", "linux", nil, "ln -sf kubectl-ds '/my bin/kubectl_complete-ds'", "as a shell takes it"},
		{"/bin/kubectl-ds", "linux", map[string]string{"kubectl_complete-ds": "/bin/kubectl_complete-ds"}, "1. Done already: /bin/kubectl_complete-ds", "it is there"},
		{"/bin/kubectl-ds.exe", "windows", nil, "Copy-Item /bin/kubectl-ds.exe /bin/kubectl_complete-ds.exe", "a copy on Windows"},
		{"/bin/kds", "linux", nil, "echo 'source <(kds completion bash)' >> ~/.bashrc", "not a plugin: no link"},
	} {
		text := calledAs(tt.path).turnOn(tt.system, func(name string) (string, error) {
			if at := tt.found[name]; at != "" {
				return at, nil
			}
			return "", os.ErrNotExist
		})
		first := ""
		for _, line := range strings.Split(text, "\n") {
			if len(line) > helpWidth && !strings.Contains(line, "ln -sf") && !strings.Contains(line, "Copy-Item") {
				t.Errorf("%s: %d columns: %s", tt.path, len(line), line)
			}
			if first == "" && (strings.HasPrefix(line, "     ") || strings.Contains(line, "Done already")) {
				first = strings.TrimSpace(line)
			}
		}
		if diff := cmp.Diff(tt.want, first); diff != "" {
			t.Errorf("%s on %s (%s) (-want +got):\n%s", tt.path, tt.system, tt.why, diff)
		}
		if slices.Contains(strings.Split(text, " "), "KUBECTL") {
			t.Errorf("%s: %s", tt.path, text)
		}
	}
}
