package cli

import (
	"io"
	"strings"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
)

// TestKubectlFlags checks that suggested commands reach the same cluster as the same user, and
// contain no secret.
func TestKubectlFlags(t *testing.T) {
	for _, tt := range []struct{ typed, want, why string }{
		{"explain x", "", "the kubeconfig says all"},
		{"explain x --context prod --kubeconfig k -n a", "--context=prod --kubeconfig=k", "the namespace stands in the command itself"},
		{"explain x -s https://a:6443 --certificate-authority ca.crt --tls-server-name api", "--certificate-authority=ca.crt --server=https://a:6443 --tls-server-name=api", "a server without a kubeconfig"},
		{"explain x --insecure-skip-tls-verify", "--insecure-skip-tls-verify", "a flag without a value"},
		{"explain x --insecure-skip-tls-verify=false", "--insecure-skip-tls-verify=false", "which says the opposite with one"},
		{"explain x --as jane --as-group a --as-group b --as-uid 7 --as-user-extra scopes=c", "--as=jane --as-group=a --as-group=b --as-uid=7 --as-user-extra=scopes=c", "who is impersonated"},
		{"explain x --cluster c --user u --request-timeout 5s", "--cluster=c --request-timeout=5s --user=u", "parts of the kubeconfig"},
		{"explain x --client-certificate c.crt --client-key c.key", "--client-certificate=c.crt --client-key=c.key", "files are no secrets"},
		{"explain x --token sesame --context c", "--context=c", "a token is one"},
		{"explain x --proxy-url http://proxy:3128", "--proxy-url=http://proxy:3128", "a proxy"},
		{"explain x --proxy-url http://me:sesame@proxy:3128 --context c", "--context=c", "with a password"},
		{"explain x --as https://idp/#me@a --context c", "--as=https://idp/#me@a --context=c", "a user with an @ is none"},
		{"explain x --from dump.yaml --context c", "", "a dump has no cluster"},
		{"plan-rollout x --context c --image a=b --cordon n", "--context=c", "and none of the flags of this program"},
	} {
		root := newRoot(calledAs("kubectl-ds"), strings.NewReader(""), io.Discard, io.Discard)
		cmd, args, err := root.Find(strings.Fields(tt.typed))
		if err == nil {
			err = cmd.ParseFlags(args)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := sheet.WithFlags(screen.Command{}, kubectlFlags(cmd.Flags())...).String(); got != strings.ReplaceAll(tt.want, "=https://idp/#me@a", "='https://idp/#me@a'") {
			t.Errorf("%s: %s, want %s (%s)", tt.typed, got, tt.want, tt.why)
		}
	}
}

// TestWithConnection checks that a kubectl command in a hint gets the connection flags at its end.
func TestWithConnection(t *testing.T) {
	flags := []sheet.Flag{{Name: "context", Value: "prod"}, {Name: "kubeconfig", Value: "my file"}}
	for _, tt := range []struct{ hint, want, why string }{
		{"kubectl cluster-info", "kubectl cluster-info FLAGS", "nothing follows"},
		{"kubectl get nodes -o yaml > nodes.yaml, and add --from nodes.yaml", "kubectl get nodes -o yaml FLAGS > nodes.yaml, and add --from nodes.yaml", "a file and more words"},
		{"kubectl rollout status deploy/web (this plugin is for DaemonSets only)", "kubectl rollout status deploy/web FLAGS (this plugin is for DaemonSets only)", "a remark"},
		{"kubectl auth can-i list pods -n a; ask somebody", "kubectl auth can-i list pods -n a FLAGS; ask somebody", "another sentence"},
		{"kubectl config get-contexts", "kubectl config get-contexts --kubeconfig='my file'", "which context is what is asked"},
		{"kubectl kustomize overlays/prod", "kubectl kustomize overlays/prod", "it asks no cluster"},
		{"kubectl ds explain x", "kubectl ds explain x", "it is not kubectl's"},
		{"--kubeconfig FILE names one", "--kubeconfig FILE names one", "no command"},
		{"add -f FILE", "add -f FILE", "words"},
		{"", "", "none"},
	} {
		want := strings.ReplaceAll(tt.want, "FLAGS", "--context=prod --kubeconfig='my file'")
		if got := calledAs("kubectl-ds").withConnection(tt.hint, flags, nil); got != want {
			t.Errorf("%s: %s, want %s (%s)", tt.hint, got, want, tt.why)
		}
		if got := calledAs("kubectl-ds").withConnection(tt.hint, nil, nil); got != tt.hint {
			t.Errorf("%s: %s without flags (%s)", tt.hint, got, tt.why)
		}
	}
	if got, want := calledAs("kubectl-ds").withConnection("kubectl get nodes", nil, []sheet.Flag{{Name: "from", Value: "a.yaml"}}), "kubectl ds explain --node '*' --from=a.yaml"; got != want {
		t.Errorf("the nodes of a file: %s, want %s", got, want)
	}
}
