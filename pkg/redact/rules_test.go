package redact_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/redact"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

func names(t *testing.T, s *snapshot.Snapshot) (*snapshot.Snapshot, *redact.Table) {
	t.Helper()
	out, table := redact.Names([]*snapshot.Snapshot{s})
	return out[0], table
}

// TestMessages tests what remains of a message.
func TestMessages(t *testing.T) {
	for _, tt := range []struct{ message, want, why string }{
		{"kubelet has no disk pressure", "kubelet has no disk pressure", "a sentence of Kubernetes"},
		{"the acme agent is broken", "<hidden>", "nobody's sentence"},
		{"", "", "nothing"},
		{"<hidden>", "<hidden>", "what was hidden before"},
		{`Error creating: pods "agent-" is forbidden: exceeded quota: team, requested: pods=1, used: pods=3, limited: pods=3`, `Error creating: pods "daemonset-1-" is forbidden: exceeded quota: resourcequota-1, requested: pods=1, used: pods=3, limited: pods=3`, "a quota, and what it allows"},
		{`exceeded quota: team, requested: acme.com/x=1,pods=1`, `exceeded quota: resourcequota-1, requested: a-key-1.example/key-1=1,pods=1`, "of a resource that somebody has made up"},
		{`violates PodSecurity "restricted:v1.30": host namespaces (hostNetwork=true), seccompProfile (pod must set it)`, `violates PodSecurity "restricted:v1.30": host namespaces (<hidden>), seccompProfile (<hidden>)`, "a level, and what violates it, without the place"},
		{`violates PodSecurity "ours:latest": our rule (x)`, `violates PodSecurity "text-1": <hidden> (<hidden>)`, "no level, and no rule of it"},
		{`admission webhook "policy.acme.com" denied the request: no`, `admission webhook "webhook-1" denied the request: <hidden>`, "who rejects, and not what he says"},
		{"Found failed daemon pod kube-system/agent-x on node n0, will try to kill it", "Found failed daemon pod namespace-1/pod-1 on node node-1, will try to kill it", "names of kinds that a Snapshot has"},
		{"(combined from similar events): Created pod: agent-x", "(combined from similar events): Created pod: pod-1", "with what an event recorder puts before it"},
		{
			"0/3 nodes are available: 1 Insufficient acme.com/x, 1 odd node, 1 node(s) had untolerated taint {acme.com/y: z}. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
			"0/3 nodes are available: 1 Insufficient a-key-1.example/key-1, <hidden>, 1 node(s) had untolerated taint {a-key-1.example/key-2: value-2}. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.", "each statement of the scheduler stays one",
		},
		{"0/2 nodes are available: 1 has free ports for us, 1 is ours [NodeAffinity].", "0/2 nodes are available: <hidden> free ports <hidden>, <hidden> [NodeAffinity].", "the words that a cause is read from"},
		{`Back-off pulling image "reg.acme.com/agent:1.9.0": ErrImagePull: rpc error: code = NotFound desc = no such agent`, `Back-off pulling image "image-2:1.9.0": ErrImagePull: rpc error: code = NotFound desc = <hidden>`, "an image, whose version stays"},
		{
			`Successfully pulled image "reg.acme.com/agent:1.9.0" in 1.2s (3m0.5s including waiting). Image size: 123 bytes.`,
			`Successfully pulled image "image-2:1.9.0" in 1.2s (3m0.5s including waiting). Image size: 123 bytes.`, "how long a pull took",
		},
		{"Container acme failed liveness probe, will be restarted", "Container container-1 failed liveness probe, will be restarted", "who is restarted, and why"},
		{"Stopping container acme", "Stopping container container-1", "who ends"},
		{
			`Multi-Attach error for volume "pvc-acme" Volume is already used by pod(s) acme-1, acme-2`, `Multi-Attach error for volume "persistentvolume-1" Volume is already used by pod(s) <hidden>, <hidden>`,
			"a volume that another node has",
		},
		{"exec /opt/acme: Exec Format Error", "<hidden>: Exec Format Error", "that an image is for another platform, in any case"},
		{`couldn't find key level in ConfigMap kube-system/config`, `couldn't find key item-1 in ConfigMap namespace-1/configmap-1`, "a key of a ConfigMap"},
		{`nodes is forbidden: User "jo" cannot list resource "nodes" in API group "" at the cluster scope`, `nodes is forbidden: User "<hidden>" cannot list resource "nodes" in API group "" at the cluster scope`, "what may not be done, and not by whom"},
		{`back-off 5m0s restarting failed container=agent pod=agent-x_kube-system(00000000-0000-4000-8000-000000000009)`, `back-off 5m0s restarting failed container=container-1 pod=pod-1_namespace-1(00000000-0000-0000-0000-000000000002)`, "a pod with its UID"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := dstest.State("-", dstest.Edit(func(s *snapshot.Snapshot) {
				s.Events = []corev1.Event{{InvolvedObject: corev1.ObjectReference{Kind: "DaemonSet", Name: dstest.Name}, Message: tt.message}}
			}))
			out, _ := names(t, s)
			if got := out.Events[0].Message; got != tt.want {
				t.Errorf("%s\ngot  %s\nwant %s", tt.message, got, tt.want)
			}
		})
	}
}

// TestLabels tests the replacement of keys and values. Each line is a label of
// the node; without an arrow it is kept.
func TestLabels(t *testing.T) {
	for _, tt := range []struct {
		labels []string // KEY=VALUE > KEY=VALUE
		why    string
	}{
		{[]string{"kubernetes.io/arch=arm64 > kubernetes.io/arch=arm64"}, "the architecture is of Kubernetes"},
		{[]string{"kubernetes.io/arch=ours > kubernetes.io/arch=platform-1"}, "unless it is not"},
		{[]string{"kubernetes.io/hostname=n0 > kubernetes.io/hostname=node-1"}, "the name of the node"},
		{[]string{"topology.kubernetes.io/zone=dc1__dc2 > topology.kubernetes.io/zone=value-1__value-2"}, "each of several zones"},
		{[]string{"node-role.kubernetes.io/gpu= > node-role.kubernetes.io/key-1="}, "a role that somebody has made up, in a domain of Kubernetes"},
		{[]string{"zeta.com/rack=r1 > key-1.example/key-1=value-1", "zeta.com/row=r1 > key-1.example/key-2=value-1", "zeta.net/row=r2 > key-2.example/key-1=value-2"}, "equal domains and values stay equal"},
		{[]string{"acme=1 > a-key-1=value-1", "app=1 > app=value-1", "team=1 > key-2=value-1"}, "a letter places a key before one that stays"},
		{[]string{"acme.kubernetes.io/x=1 > a-key-1.kubernetes.io/key-1=value-1"}, "a domain whose labels nobody sets by hand stays one"},
		{[]string{"zeta.com/agent-not-ready=1 > key-1.example/agent-not-ready=value-1", "zeta.com/cni-not-ready=1 > key-1.example/key-1-not-ready=value-1"}, "that something is not ready is read from a key"},
		{[]string{"startup-taint.zeta/x=1 > startup-taint.key-1.example/key-1=value-1", "zeta=1 > t-key-2=value-1"}, "so is that a taint is of a start, and what follows it keeps its place"},
		{[]string{"a.b=true > a-key-1.x=true"}, "a path has a key with a dot in brackets"},
		{[]string{"pod-security.kubernetes.io/enforce=baseline > pod-security.kubernetes.io/enforce=baseline", "pod-security.kubernetes.io/enforce-version=v1.30 > pod-security.kubernetes.io/enforce-version=v1.30"}, "levels"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			given, want := map[string]string{}, map[string]string{}
			for _, l := range tt.labels {
				before, after, _ := strings.Cut(l, " > ")
				key, value, _ := strings.Cut(before, "=")
				given[key] = value
				key, value, _ = strings.Cut(after, "=")
				want[key] = value
			}
			s := dstest.State("-", dstest.Edit(func(s *snapshot.Snapshot) {
				s.Nodes[0].Labels = given
				s.DaemonSet.Spec.Template.Labels, s.DaemonSet.Spec.Selector.MatchLabels, s.Revisions = nil, nil, nil
			}))
			out, _ := names(t, s)
			if diff := cmp.Diff(want, out.Nodes[0].Labels); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestPodAnnotations checks that annotations that say who changed a pod are
// kept, with their well-known words.
func TestPodAnnotations(t *testing.T) {
	given := map[string]string{
		"linkerd.io/inject": "enabled", "linkerd.io/proxy-version": "acme-2.14.1", "openshift.io/scc": "acme-scc", "dapr.io/enabled": "true",
		"vault.hashicorp.com/agent-inject-status": "injected", "sidecar.istio.io/status": "", "acme.com/owner": "injected",
	}
	want := map[string]string{
		"linkerd.io/inject": "enabled", "linkerd.io/proxy-version": "awb-2.14.1", "openshift.io/scc": "text-1", "dapr.io/enabled": "true",
		"vault.hashicorp.com/agent-inject-status": "injected", "sidecar.istio.io/status": "", "a-key-2.example/key-1": "text-2",
	}
	out, _ := names(t, dstest.State("O", dstest.Edit(func(s *snapshot.Snapshot) {
		s.Pods[0].Annotations, s.Pods[0].Spec.ReadinessGates, s.Pods[0].Spec.NodeSelector = given, []corev1.PodReadinessGate{{ConditionType: "acme.com/up"}}, map[string]string{"acme": "a"}
	})))
	if diff := cmp.Diff(want, out.Pods[0].Annotations); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if spec := out.Pods[0].Spec; strings.Contains(fmt.Sprint(spec.ReadinessGates, spec.NodeSelector), "acme") {
		t.Errorf("%v %v", spec.ReadinessGates, spec.NodeSelector)
	}
}

// TestHolder checks that the holder of a Lease gets the stand-in of its node.
func TestHolder(t *testing.T) {
	for _, tt := range []struct{ holder, want string }{
		{"n0_5f0ed1b5-0b0e-4b5e-9f6e-0f6f0a5a5b11", "node-1_00000000-0000-0000-0000-000000000002"},
		{"zeta_acme_x", "node-2_00000000-0000-0000-0000-000000000004"},
		{"zeta", "node-2"},
		{"", ""},
	} {
		out, _ := names(t, dstest.State("-", dstest.Edit(func(s *snapshot.Snapshot) {
			s.Controller = &snapshot.ControllerLease{Exists: true, Holder: tt.holder}
		})))
		if got := out.Controller.Holder; got != tt.want {
			t.Errorf("%s: %s, want %s", tt.holder, got, tt.want)
		}
	}
}

// TestComparedNumbers checks that numbers that an affinity compares are kept as
// values of that label.
func TestComparedNumbers(t *testing.T) {
	for _, tt := range []struct {
		key      string
		operator corev1.NodeSelectorOperator
		want     string
		why      string
	}{
		{"team", corev1.NodeSelectorOpGt, "7", "it is compared"},
		{"team", corev1.NodeSelectorOpLt, "7", "so it is"},
		{"team", corev1.NodeSelectorOpNotIn, "7", "a remedy tries the numbers beside it"},
		{"team", corev1.NodeSelectorOpIn, "value-2", "here it is a name like any other"},
		{"kubernetes.io/hostname", corev1.NodeSelectorOpGt, "7", "whatever else the values are"},
		{"size", corev1.NodeSelectorOpGt, "value-1", "that of another label"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := dstest.State("-", dstest.Edit(func(s *snapshot.Snapshot) {
				s.Nodes[0].Labels = map[string]string{tt.key: "7"}
				if tt.key == "size" {
					s.Nodes[0].Labels = map[string]string{"team": "7"}
				}
				s.DaemonSet.Spec.Template.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
					NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: tt.key, Operator: tt.operator, Values: []string{"5"}}}}},
				}}}
			}))
			out, _ := names(t, s)
			got := ""
			for _, value := range out.Nodes[0].Labels {
				got = value
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestImages tests the replacement of images.
func TestImages(t *testing.T) {
	sha := strings.Repeat("ab", 32)
	for _, tt := range []struct{ image, want, why string }{
		{"registry.acme.com/team/agent:1.9.0", "image-1:1.9.0", "a version stays"},
		{"registry.acme.com:5000/team/agent", "image-1", "the port of a registry is no tag"},
		{"agent:latest", "image-1:latest", "the default depends on it"},
		{"agent:main-3f2a", "image-1:tag-1", "any other tag"},
		{"agent@sha256:" + sha, fmt.Sprintf("image-1@sha256:%064d", 1), "a digest stays one"},
		{"https://acme.com/agent", "https://image-1", "what no kubelet takes, for its scheme"},
		{"agent:", "image-1:", "for the tag that is missing"},
		{"Agent:1", "Ximage-1", "for upper case"},
		{"agent$TAG", "image-1?", "for a character"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := dstest.State("-", dstest.Edit(func(s *snapshot.Snapshot) {
				s.DaemonSet.Spec.Template.Spec.Containers[0].Image, s.Revisions = tt.image, nil
			}))
			out, _ := names(t, s)
			if got := out.DaemonSet.Spec.Template.Spec.Containers[0].Image; got != tt.want {
				t.Errorf("%s: got %s, want %s", tt.image, got, tt.want)
			}
		})
	}
}

// TestTable tests the table of a small state.
func TestTable(t *testing.T) {
	s := dstest.State("N O", dstest.Edit(func(s *snapshot.Snapshot) {
		s.Events = []corev1.Event{
			{InvolvedObject: corev1.ObjectReference{Kind: "DaemonSet", Name: dstest.Name}, Message: "Created pod: p0"},
			{InvolvedObject: corev1.ObjectReference{Kind: "DaemonSet", Name: dstest.Name}, Message: "Created pod: p1 for acme"},
			{InvolvedObject: corev1.ObjectReference{Kind: "DaemonSet", Name: dstest.Name}, Message: "acme"},
			{InvolvedObject: corev1.ObjectReference{Kind: "DaemonSet", Name: dstest.Name}, Message: "acme"},
		}
	}))
	out, table := names(t, s)
	got := map[string][]string{}
	for _, r := range table.Rows {
		if r.Kind != "uid" {
			got[r.Kind] = append(got[r.Kind], r.StandIn+" "+r.Name)
		}
	}
	want := map[string][]string{
		"container": {"container-1 agent"}, "daemonset": {"daemonset-1 agent"}, "namespace": {"namespace-1 kube-system"}, "node": {"node-1 n0", "node-2 n1"}, "pod": {"pod-1 p0", "pod-2 p1"},
		"hash": {"hash-1 new", "hash-2 old"}, "controllerrevision": {"daemonset-1-hash-1 agent-new", "daemonset-1-hash-2 agent-old"}, "value": {"value-1 agent"},
		"image": {"image-1 example/agent", "image-1:tag-1 example/agent:1", "image-1:tag-2 example/agent:2"}, "tag": {"tag-1 1", "tag-2 2"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if want := (redact.Messages{Whole: 1, Partly: 1, Hidden: 1}); table.Messages != want {
		t.Errorf("messages: got %+v, want %+v: equal ones count once", table.Messages, want)
	}
	if out.Names != snapshot.StandIns || out.Revisions[0].Name != "daemonset-1-hash-2" || out.Pods[0].Labels["controller-revision-hash"] != "hash-1" {
		t.Errorf("names %q, revision %s, pod %v", out.Names, out.Revisions[0].Name, out.Pods[0].Labels)
	}
}

// TestSeveral checks that Snapshots share the stand-ins of common names.
func TestSeveral(t *testing.T) {
	a, b := dstest.State("N O"), dstest.State("N")
	b.DaemonSet.Name, b.Nodes = "zeta", a.Nodes
	out, _ := redact.Names([]*snapshot.Snapshot{a, b})
	if &out[0].Nodes[0] != &out[1].Nodes[0] {
		t.Error("the nodes were shared, and are copied")
	}
	if got := []string{out[0].DaemonSet.Name, out[1].DaemonSet.Name, out[1].DaemonSet.Namespace}; !cmp.Equal(got, []string{"daemonset-1", "daemonset-2", out[0].DaemonSet.Namespace}) {
		t.Error(got)
	}
}

// TestSelectors tests the replacement of node selectors in text form.
func TestSelectors(t *testing.T) {
	for _, tt := range []struct{ selector, want, why string }{
		{"zeta.com/pool=infra", "key-1.example/key-1=value-2", "one label"},
		{"", "", "every node"},
		{"zeta in (a, b) ,!zone,kubernetes.io/os", "l-key-1 in (value-1, value-3) ,!l-key-2,kubernetes.io/os", "blanks stay where they are, and the keys behind the one that is known"},
		{"zeta>5,zeta!=a", "key-1>5,key-1!=value-1", "a number that is compared"},
		{"zeta!!", "text-1!!", "what is no selector is none then, either"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := dstest.State("-", dstest.Edit(func(s *snapshot.Snapshot) {
				s.Nodes[0].Labels = map[string]string{"app": "infra"}
				s.OpenShift = &snapshot.OpenShift{DefaultNodeSelector: tt.selector}
			}))
			out, _ := names(t, s)
			if got := out.OpenShift.DefaultNodeSelector; got != tt.want {
				t.Errorf("%s\ngot  %s\nwant %s", tt.selector, got, tt.want)
			}
		})
	}
}
