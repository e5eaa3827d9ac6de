package daemonset

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Short names of the sources of a namespace's node selector.
const (
	kube    = "scheduler.alpha.kubernetes.io/node-selector="
	project = "openshift.io/node-selector="
)

// in returns the placement in a namespace with these annotations and this
// default, in the notation of dstest.OpenShift.
func in(p *Placement, annotations ...string) *Placement {
	return p.In(dstest.State("-", dstest.OpenShift(annotations...)).OpenShift)
}

// TestNamespaceSelects tests which nodes a namespace selects. The nodes n0 to
// n3 have the labels pool=infra, pool=web, none, and pool=infra and gpu=.
func TestNamespaceSelects(t *testing.T) {
	labels := []string{"pool=infra", "pool=web", "", "pool=infra gpu="}
	all, none := "n0 n1 n2 n3", ""
	whys := whys{}
	for _, tt := range []struct {
		says []string
		want string
		why  string
	}{
		{nil, all, "a namespace without a word selects every node"},
		{[]string{project + "pool=infra"}, "n0 n3", "that of OpenShift selects by label"},
		{[]string{kube + "pool=infra"}, "n0 n3", "so does that of Kubernetes"},
		{[]string{"pool=infra"}, "n0 n3", "and the default of the controller"},

		{[]string{kube + "pool=web", project + "pool=infra"}, "n1", "of both, that of Kubernetes comes first, and the other one is not asked"},
		{[]string{kube + "", project + "pool=infra"}, all, "even if it is empty"},
		{[]string{kube + "!!", project + "pool=infra"}, all, "or cannot be parsed"},
		{[]string{kube + "pool=web", "pool=infra"}, "n1", "that of Kubernetes takes the place of the default"},
		{[]string{project + "pool=web", "pool=infra"}, "n1", "and so does that of OpenShift"},
		{[]string{project + "", "pool=infra"}, all, "an empty one counts as set: this is how a project opts out"},
		{[]string{project + "!!", "pool=infra"}, all, "one that cannot be parsed too: it is ignored, not replaced"},

		{[]string{project + "pool=infra,gpu="}, "n3", "a node has to have all of the labels"},
		{[]string{project + "pool in (infra, web),!gpu"}, "n0 n1", "in the full syntax of label selectors"},
		{[]string{project + "pool!=infra"}, "n1 n2", "in which a node without the label is not equal"},
		{[]string{project + "pool"}, "n0 n1 n3", "a key alone asks that it is there"},
		{[]string{project + "pool=db"}, none, "one that no node meets selects none"},
		{[]string{project + " "}, all, "blanks are as good as nothing"},
		{[]string{project + "pool=infra,"}, all, "a comma too many cannot be parsed"},
	} {
		whys.run(t, tt.why, func(t *testing.T) {
			p, got := in(demand{}.placement(t), tt.says...), []string{}
			for i, l := range labels {
				n := nodeOf(t, l, "")
				run, stay := p.Decide(n)
				if run.OK != stay.OK || run.OK != (run.Reason == Eligible) || !run.OK && run.Reason != NamespaceNodeSelector {
					t.Errorf("n%d: %+v, %+v: the namespace says the same to both", i, run, stay)
				}
				if run.OK {
					got = append(got, fmt.Sprintf("n%d", i))
				}
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("%q selects %q, want %q", tt.says, got, tt.want)
			}
		})
	}
}

// TestNamespaceBesideOthers tests the namespace rule and its reasons if another
// rule fails.
func TestNamespaceBesideOthers(t *testing.T) {
	yes := Verdict{OK: true, Reason: Eligible}
	taint := func(effect string, others int) Verdict {
		v := Verdict{Reason: TaintNotTolerated, Facts: Facts{"taint": "a:" + effect, "key": "a", "value": "", "effect": effect}}
		if others > 0 {
			v.Facts["others"] = others
		}
		return v
	}
	excluded := Verdict{Reason: NamespaceNodeSelector, Facts: Facts{"selector": "pool=infra", "annotation": snapshot.ProjectNodeSelectorAnnotation, "valid": true}}
	label := Facts{"key": "disk", "want": "ssd", "present": false}
	labelAnd := Facts{"key": "disk", "want": "ssd", "present": false, "others": 1}
	type verdicts struct{ ShouldRun, MayStay Verdict }
	whys := whys{}
	for _, tt := range []struct {
		asks           demand
		labels, taints string
		minor          string
		want           verdicts
		why            string
	}{
		{demand{}, "pool=infra", "", "", verdicts{yes, yes}, "every rule passes"},
		{demand{}, "pool=web", "", "", verdicts{excluded, excluded}, "the namespace alone ends both"},
		{demand{}, "pool=web", "a:NoSchedule", "", verdicts{taint("NoSchedule", 1), yes}, "where a taint lets the pod stay, the namespace is not asked, and lets it stay as well"},
		{demand{}, "pool=infra", "a:NoSchedule", "", verdicts{taint("NoSchedule", 0), yes}, "it does not undo what another rule says"},
		{demand{}, "pool=web", "a:NoExecute", "", verdicts{taint("NoExecute", 1), taint("NoExecute", 0)}, "where another rule ends both, it changes nothing"},
		{demand{selector: map[string]string{"disk": "ssd"}}, "", "", "", verdicts{Verdict{Reason: NodeSelector, Facts: labelAnd}, Verdict{Reason: NodeSelector, Facts: label}}, "the reason is that of the template, and the namespace is one more"},
		{demand{}, "pool=web", "a:NoSchedule", "v1.17.4", verdicts{taint("NoSchedule", 1), excluded}, "4.4 (1.17) asks always, so a pod goes that the taint would let stay"},
		{demand{}, "pool=web", "a:NoSchedule", "v1.18.0", verdicts{taint("NoSchedule", 1), yes}, "4.5 (1.18) does not"},
	} {
		whys.run(t, tt.why, func(t *testing.T) {
			p := tt.asks.placement(t)
			p.profile, _ = ForVersion(Newest)
			if tt.minor != "" {
				p.profile, _ = ForVersion(tt.minor)
			}
			n := nodeOf(t, tt.labels, tt.taints)
			run, stay := in(p, project+"pool=infra").Decide(n)
			if diff := cmp.Diff(tt.want, verdicts{run, stay}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestNamespaceCheck tests the check that --node shows.
func TestNamespaceCheck(t *testing.T) {
	profile, _ := ForVersion(Newest)
	for _, tt := range []struct {
		says string
		want []Check
		why  string
	}{
		{project + "", nil, "what selects every node is no rule"},
		{project + "pool=infra", []Check{{Rule: RuleNamespaceSelector, OK: true, Reason: NamespaceNodeSelector, Facts: Facts{"selector": "pool=infra", "annotation": snapshot.ProjectNodeSelectorAnnotation, "valid": true}}}, "one that passes is told"},
		{kube + "pool=web", []Check{{Rule: RuleNamespaceSelector, Reason: NamespaceNodeSelector, Facts: Facts{"selector": "pool=web", "annotation": snapshot.NodeSelectorAnnotation, "valid": true}}}, "and one that fails, with the annotation that says it"},
		{"pool=web", []Check{{Rule: RuleNamespaceSelector, Reason: NamespaceNodeSelector, Facts: Facts{"selector": "pool=web", "valid": true}}}, "the default has no annotation"},
		{project + "!!", []Check{{Rule: RuleNamespaceSelector, OK: true, Reason: NamespaceNodeSelector, Facts: Facts{"selector": "!!", "annotation": snapshot.ProjectNodeSelectorAnnotation, "valid": false}}}, "one that is ignored is not silent"},
	} {
		p := demand{}.placement(t)
		p.profile = profile
		if diff := cmp.Diff(tt.want, slices.Clip(append([]Check(nil), in(p, tt.says).Checks(nodeOf(t, "pool=infra", ""))...))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
}

// TestNamespaceRollout tests a rollout in which the namespace excludes n0, for
// each version of OpenShift. The other nodes have the required label.
func TestNamespaceRollout(t *testing.T) {
	three := outcome{Step: "RollingUpdate Replacing", Deletes: "any 1 of n1/p1 n2/p2 n3/p3 Budget"}
	spent := outcome{Step: "None BudgetSpent"}
	whys := whys{}
	for _, tt := range []struct {
		grid    string
		version string
		opts    options
		of      int // what a percentage is of
		want    outcome
		why     string
	}{
		{"- O O O", "v1.37.1", nil, 3, three, "the excluded node is none of the rollout's"},
		{"- O O O", "v1.33.0", nil, 3, three, "from 4.20 (1.33) on"},
		{"- O O O", "v1.32.13", nil, 4, spent, "up to 4.19 (1.32) it counts as one without an available pod, for ever"},
		{"- O O O", "v1.24.0", nil, 4, spent, "from 4.11 (1.24) on"},
		{"- O O O", "v1.23.17", nil, 3, three, "4.10 (1.23) asks the namespace"},
		{"- O O O", "v1.20.15", nil, 3, three, "as does 4.7 (1.20), with the older rolling update"},
		{"- O O O", "v1.17.4", nil, 4, spent, "4.4 (1.17) does not, as it counts the node in the status too"},
		{"- o O O", "v1.32.13", nil, 4, outcome{Step: "RollingUpdate Replacing", Deletes: "n1/p1 Forced"}, "then only what is broken is replaced"},
		{"- O O O", "v1.32.13", options{dstest.MaxUnavailable("50%")}, 4, three, "a percentage is of the larger number, and the node takes one away"},
		{"- O O O", "v1.33.0", options{dstest.MaxUnavailable("50%")}, 3, outcome{Step: "RollingUpdate Replacing", Deletes: "any 2 of n1/p1 n2/p2 n3/p3 Budget"}, "else neither: 2 of 3"},
		{"O O O O", "v1.32.13", nil, 4, outcome{Step: "Manage Placement", Deletes: "n0/p0 NoLongerEligible"}, "a pod that is there is deleted all the same"},
		{"O O O O", "v1.17.4", nil, 4, outcome{Step: "Manage Placement", Deletes: "n0/p0 NoLongerEligible"}, "in every version"},
		{"- O O O", "v1.32.13", options{dstest.MaxSurge("1")}, 4, outcome{Step: "RollingUpdate Replacing", Creates: "any 1 of n1 n2 n3 Surge"}, "with maxSurge an empty node holds nothing"},
		{"- !O N N", "v1.33.0", options{dstest.MaxSurge("1")}, 2, outcome{Step: "RollingUpdate Replacing", Deletes: "n1/p1 Sunset"}, "a tainted node gives up its pod while more are available than desired"},
		{"- !O N N", "v1.32.13", options{dstest.MaxSurge("1")}, 3, outcome{Step: "None Waiting"}, "which it does not where the excluded node is desired"},
	} {
		whys.run(t, tt.why, func(t *testing.T) {
			opts := append(options{dstest.Version(tt.version), dstest.OpenShift(project + "pool=infra")}, tt.opts...)
			for _, n := range []string{"n1", "n2", "n3"} {
				opts = append(opts, dstest.Labeled(n, "pool=infra"))
			}
			checkSync(t, tt.grid, opts, tt.want)
			if got := state(t, dstest.State(tt.grid, opts...)).Budget.Of; got != tt.of {
				t.Errorf("the budget is of %d, want %d", got, tt.of)
			}
		})
	}
}

// TestNamespaceStatus tests DESIRED for the same states.
func TestNamespaceStatus(t *testing.T) {
	for _, tt := range []struct {
		grid, version string
		want          Counts
		why           string
	}{
		{"- N N", "v1.32.13", Counts{Desired: 2, Current: 2, Ready: 2, Updated: 2, Available: 2}, "an excluded node is not desired, also where the rollout counts it"},
		{"N N N", "v1.37.1", Counts{Desired: 2, Current: 2, Ready: 2, Updated: 2, Available: 2, Misscheduled: 1}, "with a pod it is misscheduled"},
		{"- N N", "v1.17.4", Counts{Desired: 3, Current: 2, Ready: 2, Updated: 2, Available: 2, Unavailable: 1}, "in 4.4 (1.17) it is desired, and never gets a pod"},
	} {
		st := state(t, dstest.State(tt.grid, dstest.Version(tt.version), dstest.OpenShift(project+"pool=infra"), dstest.Labeled("n1", "pool=infra"), dstest.Labeled("n2", "pool=infra")))
		got, ok := st.Counts()
		if diff := cmp.Diff(tt.want, got); diff != "" || !ok || st.Desired != tt.want.Desired {
			t.Errorf("%s: DESIRED %d, %t (-want +got):\n%s", tt.why, st.Desired, ok, diff)
		}
		if st.Owed(st.Node("n0")) {
			t.Errorf("%s: a pod is owed to an excluded node", tt.why)
		}
	}
}

// TestNamespaceRemedies tests the changes that make a namespace select a node.
func TestNamespaceRemedies(t *testing.T) {
	role := "node-role.kubernetes.io/infra"
	whys := whys{}
	for _, tt := range []struct {
		asks           demand
		labels, taints string
		says           []string
		want           []Remedy
		why            string
	}{
		{demand{}, "pool=infra", "", []string{project + "pool=infra"}, nil, "one that it selects needs nothing"},
		{demand{}, "pool=web", "", []string{project + "pool=infra"}, []Remedy{{Kind: SetLabel, Key: "pool", Value: "infra"}}, "a label of the node is changed rather than the namespace"},
		{demand{}, "pool=web", "", []string{"pool=infra"}, []Remedy{{Kind: SetLabel, Key: "pool", Value: "infra"}}, "also for the default"},
		{demand{}, "pool=web", "", []string{project + "pool!=web"}, []Remedy{{Kind: RemoveLabel, Key: "pool"}}, "or goes"},
		{demand{}, "", "", []string{project + role + "="}, []Remedy{{Kind: SelectEveryNode, Key: snapshot.ProjectNodeSelectorAnnotation}}, "but not one that says what the node is: then the namespace is to select every node"},
		{demand{}, "", "", []string{kube + role + "=", project + ""}, []Remedy{{Kind: SelectEveryNode, Key: snapshot.NodeSelectorAnnotation}}, "by the annotation that counts"},
		{demand{}, "", "", []string{role + "="}, []Remedy{{Kind: SelectEveryNode, Key: snapshot.ProjectNodeSelectorAnnotation}}, "and in place of the default by that of OpenShift"},
		{demand{selector: map[string]string{"pool": "web"}}, "pool=web", "", []string{project + "pool=infra"}, []Remedy{{Kind: SelectEveryNode, Key: snapshot.ProjectNodeSelectorAnnotation}}, "nor one that the template needs as it is"},
		{demand{selector: map[string]string{"pool": "infra"}}, "", "", []string{project + "pool=infra"}, []Remedy{{Kind: SetLabel, Key: "pool", Value: "infra"}}, "one label can serve both"},
		{demand{affinity: "pool In infra web"}, "", "", []string{project + "pool=web"}, []Remedy{{Kind: SetLabel, Key: "pool", Value: "infra"}, {Kind: SelectEveryNode, Key: snapshot.ProjectNodeSelectorAnnotation}}, "what the affinity sets is settled"},
		{demand{affinity: "pool Exists"}, "pool=web", "", []string{project + "!pool"}, []Remedy{{Kind: SelectEveryNode, Key: snapshot.ProjectNodeSelectorAnnotation}}, "and what it has is not taken away"},
		{demand{affinity: "pool Exists"}, "pool=web", "", []string{project + "pool=infra"}, []Remedy{{Kind: SetLabel, Key: "pool", Value: "infra"}}, "unless it is content with the other"},
		{demand{}, "pool=web", "a:NoSchedule", []string{project + "pool=infra"}, []Remedy{{Kind: SetLabel, Key: "pool", Value: "infra"}, {Kind: AddToleration, Toleration: &corev1.Toleration{Key: "a", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}}}, "with a taint it takes both: the namespace is asked next"},
		{demand{}, "", "a:NoSchedule", []string{project + role + "="}, []Remedy{{Kind: SelectEveryNode, Key: snapshot.ProjectNodeSelectorAnnotation}, {Kind: AddToleration, Toleration: &corev1.Toleration{Key: "a", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}}}, "the namespace before the template, which rolls every pod"},
		{demand{}, "size=5", "", []string{project + "size>7,gpu"}, []Remedy{{Kind: SetLabel, Key: "gpu", Value: "true"}, {Kind: SetLabel, Key: "size", Value: "8"}}, "numbers are compared as an affinity does"},
		{demand{}, "pool=web", "", []string{project + "!!"}, nil, "one that is ignored asks for nothing"},
		{demand{affinity: "disk Exists, size DoesNotExist | size Gt 0"}, "", "", []string{project + "size>0,size<10"}, []Remedy{{Kind: SetLabel, Key: "size", Value: "1"}}, "a label for the namespace can do for the affinity what another was meant for"},
	} {
		whys.run(t, tt.why, func(t *testing.T) {
			p, n := in(tt.asks.placement(t), tt.says...), nodeOf(t, tt.labels, tt.taints)
			before := n.DeepCopy()
			if diff := cmp.Diff(tt.want, p.Remedies(n)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, n); diff != "" {
				t.Errorf("the node itself was changed:\n%s", diff)
			}
		})
	}
}

// TestNamespaceLabel tests which namespaces require exactly one label, so that
// a template can require it instead.
func TestNamespaceLabel(t *testing.T) {
	whys := whys{}
	for _, tt := range []struct {
		says []string
		want string // empty: none
		why  string
	}{
		{nil, "", "without a word for none"},
		{[]string{project + ""}, "", "an empty annotation for none"},
		{[]string{project + "!!"}, "", "nor one that cannot be parsed"},
		{[]string{project + "pool=infra"}, "pool=infra", "a label"},
		{[]string{project + "pool==infra"}, "pool=infra", "in its other spelling"},
		{[]string{project + "pool in (infra)"}, "pool=infra", "and as a list of one"},
		{[]string{"role="}, "role=", "by the default, and with an empty value"},
		{[]string{project + "pool in (infra, web)"}, "", "two values are not one label"},
		{[]string{project + "pool"}, "", "nor is any value"},
		{[]string{project + "pool!=infra"}, "", "nor any other value"},
		{[]string{project + "pool notin (infra)"}, "", "as a list either"},
		{[]string{project + "pool=infra,role="}, "", "of two labels neither is enough"},
		{[]string{project + "gen>1"}, "", "nor is a number"},
	} {
		whys.run(t, tt.why, func(t *testing.T) {
			got := ""
			key, value, one := in(demand{}.placement(t), tt.says...).NamespaceLabel()
			if one {
				got = key + "=" + value
			}
			if got != tt.want || !one && key+value != "" {
				t.Errorf("%s, %t, want %q", key+"="+value, one, tt.want)
			}
		})
	}
	if _, _, one := (demand{}).placement(t).NamespaceLabel(); one {
		t.Error("a plain cluster has none")
	}
}
