package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-ds/kubectl-ds/internal/source/kubeconfig"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// TestNotesOfGaps checks that gaps with the same consequence and reason are one note with one
// permission. The notation of a gap is WHAT, WHAT=message, WHAT!message for a failed request, or
// WHAT? for a part that a dump lacks. @OF adds the value of Of.
func TestNotesOfGaps(t *testing.T) {
	const (
		part  = "not allowed to read, so whether the API server would admit a new pod is checked only in part"
		refer = "so whether what a new pod refers to exists is not checked"
		kinds = "kubectl get ds,nodes,pods,controllerrevisions,events,pdb"
		every = "so the placement is computed as if it selected every node"
		hooks = "validatingwebhookconfigurations,mutatingwebhookconfigurations,validatingadmissionpolicies,validatingadmissionpolicybindings"
		them  = "; ask somebody who may read them (kubectl auth can-i --list -n kube-system) to run this, or use --from and a dump of them: " + kinds
	)
	for _, tt := range []struct {
		answers []string // gaps of each answer
		from    bool     // the input is a dump
		want    []string
		why     string
	}{
		{
			[]string{"priorityclasses=no runtimeclasses=neither webhooks=nor"}, false,
			[]string{"priorityclasses, runtimeclasses, webhooks: " + part + them + ",pc,runtimeclasses," + hooks + " -A -o yaml"},
			"whoever has the role view gets one note, without the server's words for each",
		},
		{
			[]string{"nodes=no namespaces=no resourcequotas=no configmaps=no secrets=no"}, false,
			[]string{
				"nodes: not allowed to read, so DESIRED is not computed, and no reason is given why nodes are left out (no); ask somebody who may list nodes (kubectl auth can-i list nodes) to run this, or use --from and a dump that has them",
				"namespaces, resourcequotas: " + part + them + ",ns,quota -A -o yaml",
				"configmaps, secrets: not allowed to read, " + refer + them + ",cm -A -o yaml",
			},
			"what costs something else is another note; no command writes values of Secrets",
		},
		{
			[]string{"webhooks=no"}, false,
			[]string{"webhooks: not allowed to read, so webhooks and policies that may reject a new pod are not named (no); ask somebody who may list validatingwebhookconfigurations (kubectl auth can-i list validatingwebhookconfigurations) to run this, or use --from and a dump that has them"},
			"webhooks alone keep what they cost",
		},
		{
			[]string{"namespaces=no", "namespaces=no limitranges=no"}, true,
			[]string{"namespaces, limitranges: " + part + "; ask somebody who may read them (kubectl auth can-i --list -n kube-system) to record the dump again"},
			"over all answers, and for what was recorded",
		},
		{
			[]string{"namespaces=no priorityclasses!timeout runtimeclasses!timeout limitranges!reset"}, false,
			[]string{
				"namespaces: " + part + " (no); ask somebody who may get namespaces (kubectl auth can-i get namespaces -n kube-system) to run this, or use --from and a dump that has them",
				"priorityclasses, runtimeclasses, limitranges: could not be read, so whether the API server would admit a new pod is checked only in part (timeout; reset)",
			},
			"what failed is another reason, and keeps each error once",
		},
		{
			[]string{"configmaps? secrets? namespaces? otherpods?"}, true,
			[]string{"configmaps, secrets: not in the input, " + refer + "; a dump has them by " + kinds + ",cm -A -o yaml"},
			"what a dump does not have comes with the command that writes it; assumptions say the rest",
		},
		{
			[]string{"configmaps?none@a", "secrets?none@b"}, true,
			[]string{
				"configmaps: not in the input, " + refer + " (none)",
				"secrets: not in the input, " + refer + " (none)",
			},
			"what namespaces lack is of each by itself",
		},
		{
			[]string{"namespaces/node-selector=no"}, false,
			[]string{"the node selector of the namespace: not allowed to read, " + every + " (no); ask somebody who may get namespaces (kubectl auth can-i get namespaces -n kube-system) to run this, or use --from and a dump that has them"},
			"OpenShift: the namespace is got",
		},
		{
			[]string{"kubecontrollermanagers=no"}, false,
			[]string{"the default node selector of the controller: not allowed to read, " + every + " (no); ask somebody who may get kubecontrollermanagers.operator.openshift.io (kubectl auth can-i get kubecontrollermanagers.operator.openshift.io) to run this, or use --from and a dump that has them"},
			"OpenShift: the default is in no namespace, and no role of Kubernetes has it",
		},
		{
			[]string{"leases=no"}, false,
			[]string{"the lease of kube-controller-manager: not allowed to read, so whether a controller runs is unknown (no); ask somebody who may get leases.coordination.k8s.io (kubectl auth can-i get leases.coordination.k8s.io -n kube-system) to run this, or use --from and a dump that has them"},
			"the Lease is one in a namespace of Kubernetes",
		},
		{
			[]string{"leases?"}, true,
			[]string{""},
			"a dump needs none, and the answer says so",
		},
		{
			[]string{"namespaces/node-selector? kubecontrollermanagers?"}, true,
			[]string{"the node selector of the namespace: not in the input, " + every + "; a dump has them by " + kinds + ",ns -A -o yaml"},
			"OpenShift: the namespaces are not in the usual dump; that it has no default is an assumption",
		},
	} {
		t.Run(tt.why, func(t *testing.T) {
			var out bytes.Buffer
			c := &common{IOStreams: genericiooptions.IOStreams{ErrOut: &out}, config: &kubeconfig.Flags{}}
			c.config.SetNamespace("kube-system")
			in := &inputFlags{common: c, flagSet: flagSet{pflag.NewFlagSet("", pflag.ContinueOnError)}}
			if tt.from {
				in.from = []string{"dump"}
			}
			var answers []*daemonset.Header
			for _, gaps := range tt.answers {
				answers = append(answers, headerWith(gaps))
			}
			in.noteGaps(answers...)
			if diff := cmp.Diff(tt.want, strings.Split(strings.TrimPrefix(strings.TrimSpace(out.String()), "note: "), "\nnote: ")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func headerWith(gaps string) *daemonset.Header {
	h := &daemonset.Header{}
	for _, text := range strings.Fields(gaps) {
		at := strings.IndexAny(text, "=!?")
		message, of, _ := strings.Cut(text[at+1:], "@")
		g := snapshot.Gap{What: snapshot.What(text[:at]), Message: message, Of: of}
		g.Why = map[byte]snapshot.Why{'=': snapshot.Forbidden, '!': snapshot.Failed, '?': snapshot.NotGiven}[text[at]]
		h.Snapshot.Gaps = append(h.Snapshot.Gaps, daemonset.Gap{Gap: g, Consequence: g.Consequence()})
	}
	return h
}
