package docs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/internal/dstest/agree"
	"github.com/kubectl-ds/kubectl-ds/internal/dstest/world"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// TestDocuments holds real documents against the page: that what is there is
// as the page says, and that all that the page says is there sometimes.
func TestDocuments(t *testing.T) {
	r := newReader(t, "Explanation")
	for name, s := range states(t) {
		t.Run(name, func(t *testing.T) {
			st := stateOf(t, s)
			nodes := []string{}
			if len(st.Nodes) > 0 && !strings.HasPrefix(name, "seed ") {
				for i := range st.Nodes {
					nodes = append(nodes, st.Nodes[i].Name)
				}
			}
			outlook := plan.Look(st)
			for _, o := range []explain.Options{{Outlook: outlook}, {Nodes: nodes, Outlook: outlook}} {
				e := explain.Explain(st, o)
				r.explanation(t, e)
				raw, err := json.Marshal(e)
				if err != nil {
					t.Fatal(err)
				}
				var document any
				if err := json.Unmarshal(raw, &document); err != nil {
					t.Fatal(err)
				}
				r.value(t, "", document)
			}
		})
	}
	r.unseen(t)
}

// newReader returns a reader of one kind of document.
func newReader(t *testing.T, document string) *reader {
	t.Helper()
	page := readPage(t, "output.md")
	r := &reader{
		page: page, rows: page.fields(t, document), tables: map[string]map[string]map[string]string{},
		keys: map[string]string{}, seen: map[string]bool{}, said: map[string]bool{},
	}
	for _, row := range page.rows(t, "Problems") {
		r.order = append(r.order, code(t, row["Code"]))
	}
	for _, row := range page.rows(t, "Keys of facts") {
		r.keys[code(t, row["Key"])] = row["Type"]
	}
	for _, s := range page.codeSections() {
		r.tables[s] = map[string]map[string]string{}
		for _, row := range page.rows(t, s) {
			r.tables[s][strings.Trim(code(t, row["Code"]), `"`)] = row
		}
	}
	return r
}

// TestPlans does for RolloutPlan what TestDocuments does for Explanation.
func TestPlans(t *testing.T) {
	r := newReader(t, "RolloutPlan")
	for name, p := range plans(t) {
		t.Run(name, func(t *testing.T) {
			r.plan(t, p)
			if err := agree.Plan(p); err != nil {
				t.Error(err)
			}
			raw, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			var document any
			if err := json.Unmarshal(raw, &document); err != nil {
				t.Fatal(err)
			}
			r.value(t, "", document)
		})
	}
	for _, s := range []string{"Subjects", "Changes of nodes", "Outcomes", "Why a rollout does not complete", "Remedies", "What a remedy is worth", "Conditions of other ends", "Warnings of a plan", "Assumptions"} {
		for c := range r.tables[s] {
			if !r.seen[s+" "+c] && rare[s+" "+c] == "" {
				lacks(t, "%s: no document had %s", s, c)
			}
			for _, key := range keysOf(r.tables[s][c]["Facts"]) {
				if !r.seen[s+" "+c+" "+key] {
					lacks(t, "%s: %s: no document had %s", s, c, key)
				}
			}
		}
	}
}

// small gives a node one CPU.
func small(name string) dstest.Option {
	return dstest.Node(name, func(n *corev1.Node) {
		n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourcePods: resource.MustParse("110")}
	})
}

// taken has a pod of somebody else use port 80 of a node, and all but little of its CPU.
func taken(name string) dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) {
		if s.OtherPods == nil {
			s.OtherPods = &snapshot.OtherPods{AllNodes: true}
		}
		s.OtherPods.Pods = append(s.OtherPods.Pods, snapshot.PodRow{Namespace: "other", Name: "pod", Node: name, Priority: 1, Requests: snapshot.Resources{MilliCPU: 900}, HostPorts: []snapshot.HostPort{{Port: 80}}})
	})
}

// claims gives a pod a claim.
func claims(pod string) dstest.Option {
	return dstest.Pod(pod, func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	})
}

// stored has the volume of that claim attached on n0 and n2 only, and n0 attach no further one.
var stored = dstest.Edit(func(s *snapshot.Snapshot) {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourcePods: resource.MustParse("110")}
	}
	s.OtherPods = &snapshot.OtherPods{AllNodes: true}
	s.Volumes = &snapshot.Volumes{AllNodes: true, Claims: []snapshot.ClaimRow{{Name: "data", Exists: true, Volume: &snapshot.VolumeRow{
		Name: "pv", Driver: "csi", Handle: "vol", NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"n0"}}},
		}, {MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"n2"}}}}}}},
	}}}, Drivers: []snapshot.DriverRow{{Node: "n0", Name: "csi", Limit: 2, Attached: 2}}}
})

// asks has the pods request two CPUs, and a host port.
func asks(of func(func(*appsv1.DaemonSet)) dstest.Option) dstest.Option {
	return of(func(ds *appsv1.DaemonSet) {
		c := &ds.Spec.Template.Spec.Containers[0]
		c.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}
		c.Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80, Protocol: corev1.ProtocolTCP}}
	})
}

// rare are what no state here gives, and why that is so.
var rare = map[string]string{
	"Why a rollout does not complete VanishedNodeInSurge": "pods of vanished nodes are taken to be collected",
	"Why a rollout does not complete Unfilled":            "the controller fills nodes unless it is refused",
	"Remedies RaiseMaxSurge":                              "a node that holds maxSurge keeps its old pod, however many may surge",
}

// plan checks the codes and facts of a plan, and what the page promises of its
// lists and numbers.
func (r *reader) plan(t *testing.T, p *plan.Plan) {
	t.Helper()
	r.facts(t, string(p.Subject), nil, "Subjects")
	r.step(t, &p.Next)
	var order []string
	for _, row := range r.page.rows(t, "Assumptions") {
		order = append(order, code(t, row["Code"]))
	}
	for _, a := range p.Assumptions {
		r.facts(t, string(a.Code), nil, "Assumptions")
	}
	for i := 1; i < len(p.Assumptions); i++ {
		if x, y := string(p.Assumptions[i-1].Code), string(p.Assumptions[i].Code); slices.Index(order, x) > slices.Index(order, y) {
			r.errorf(t, "assumptions: %s before %s, which is not the order of the table", x, y)
		}
	}
	for _, w := range p.Warnings {
		r.facts(t, string(w.Code), w.Facts, "Warnings of a plan")
	}
	for _, l := range [][]plan.PlacementNode{p.Placement.Gain, p.Placement.Lose} {
		for _, n := range l {
			r.facts(t, string(n.Verdict.Reason), n.Verdict.Facts, "Placement")
		}
		if !slices.IsSortedFunc(l, func(a, b plan.PlacementNode) int { return strings.Compare(a.Node, b.Node) }) {
			r.errorf(t, "placement: not in order")
		}
	}
	if c := p.Change; c != nil {
		for _, n := range c.Nodes {
			r.facts(t, string(n.Kind), nil, "Changes of nodes")
		}
		if !slices.IsSortedFunc(c.Fields, func(a, b whatif.FieldDiff) int { return strings.Compare(a.Path.String(), b.Path.String()) }) {
			r.errorf(t, "change.fields: not in order: %v", c.Fields)
		}
	}
	r.forecast(t, &p.Forecast)
	if p.IfTemplateChanged != nil {
		r.forecast(t, p.IfTemplateChanged)
	}
	if p.IfTemplateChanged != nil && p.Subject != plan.SubjectNothing {
		r.errorf(t, "subject %s, and ifTemplateChanged", p.Subject)
	}
}

func (r *reader) forecast(t *testing.T, f *plan.Forecast) {
	t.Helper()
	o := &f.Outcome
	r.facts(t, string(o.Code), nil, "Outcomes")
	if o.Reason != "" {
		r.facts(t, string(o.Reason), nil, "Why a rollout does not complete")
		if meaning := r.tables["Why a rollout does not complete"][string(o.Reason)]["Meaning"]; !strings.HasPrefix(meaning, string(o.Code)+": ") {
			r.errorf(t, "outcome %s of reason %s, on the page %q", o.Code, o.Reason, meaning)
		}
	}
	if fine := o.ReachesEnd() || o.Code == plan.RemovesAllPods || o.Code == plan.NothingToDo; fine != (o.Reason == "") {
		r.errorf(t, "outcome %s has reason %q", o.Code, o.Reason)
	}
	for _, h := range o.Holders {
		r.facts(t, string(h.Code), h.Facts, "Problems")
		r.severity(t, h.Code, h.Severity)
	}
	if !slices.IsSortedFunc(o.Holders, func(a, b plan.Holder) int { return strings.Compare(a.Node, b.Node) }) {
		r.errorf(t, "outcome.holders: not in order")
	}
	for _, h := range o.Unknown {
		r.facts(t, string(h.Code), h.Facts, "Problems")
		r.severity(t, h.Code, h.Severity)
	}
	if o.Code == plan.MayComplete && len(o.Unknown) == 0 {
		r.errorf(t, "%s, and nothing is unknown", o.Code)
	}
	for _, a := range o.Alternatives {
		r.facts(t, string(a.Condition), nil, "Conditions of other ends")
	}
	r.remedies(t, o.Remedies)
	for _, m := range o.Remedies {
		if m.Smallest != "" && o.Code != plan.Stalls {
			r.errorf(t, "a higher limit where it %s", o.Code)
		}
	}
	if d := o.Duration; d != nil && (d.Optimistic > d.Expected || d.Expected > d.Pessimistic || !o.ReachesEnd() && o.Code != plan.RemovesAllPods) {
		r.errorf(t, "%s in %v", o.Code, *d)
	}
	for _, l := range f.Limits {
		r.facts(t, string(l.Code), nil, "Outcomes")
	}
}

// remedies checks what a person can do.
func (r *reader) remedies(t *testing.T, all []remedy.Remedy) {
	t.Helper()
	for i, m := range all {
		r.facts(t, string(m.Code), nil, "Remedies")
		r.facts(t, string(m.Worth), nil, "What a remedy is worth")
		if value := r.tables["Remedies"][string(m.Code)]["Value"]; value == "" && m.Value != "" || value != "" && !strings.Contains(value, "empty") && m.Value == "" {
			r.errorf(t, "remedy %s with the value %q, on the page %q", m.Code, m.Value, value)
		}
		if limit := m.Code == remedy.RaiseMaxSurge || m.Code == remedy.RaiseMaxUnavailable; limit != (m.Smallest != "") {
			r.errorf(t, "remedy %s with the smallest limit %q", m.Code, m.Smallest)
		}
		if n, err := strconv.Atoi(m.Smallest); m.Smallest != "" && (err != nil || strconv.Itoa(max(n, numberIn(m.Value))) != m.Value) {
			r.errorf(t, "remedy %s %s, of which the smallest is %s", m.Code, m.Value, m.Smallest)
		}
		if vain := m.Worth == remedy.Useless || m.Worth == remedy.Harms; vain && len(m.Problems)+len(m.Ends) > 0 {
			r.errorf(t, "remedy %s is %s, and ends %v", m.Code, m.Worth, m.Problems)
		}
		for _, code := range m.Problems {
			r.facts(t, string(code), nil, "Problems")
		}
		for _, of := range m.Ends {
			r.facts(t, string(of.Kind), nil, "What pods fail on")
		}
		for _, nodes := range [][]string{m.Nodes, m.Effect.Left, m.Effect.Unknown, m.Effect.Loses} {
			if !slices.IsSorted(nodes) {
				r.errorf(t, "remedy %s: nodes that are not sorted: %v", m.Code, nodes)
			}
		}
		if i > 0 && slices.Index(remedy.Worths, all[i-1].Worth) > slices.Index(remedy.Worths, m.Worth) {
			r.errorf(t, "remedies: %s before %s", all[i-1].Worth, m.Worth)
		}
	}
}

func numberIn(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// plans are those of the states after a change to the template, and of those
// that show what else there is.
func plans(t *testing.T) map[string]*plan.Plan {
	t.Helper()
	all := map[string]*plan.Plan{}
	add := func(name string, s *snapshot.Snapshot, c *whatif.Change, o plan.Options) {
		p, err := world.Plan(s, c, o)
		if err != nil {
			if !strings.HasPrefix(name, "seed ") {
				t.Errorf("%s: %v", name, err)
			}
			return
		}
		all[name] = p
	}
	start, end := 41*time.Second, 3*time.Second
	for name, s := range states(t) {
		add(name, s, nil, plan.Options{GroupBy: corev1.LabelTopologyZone})
		if strings.HasPrefix(name, "seed ") && strings.HasSuffix(name, "0") { // a plan takes longer than an explanation
			add(name+", restarted", s, &whatif.Change{Restart: true}, plan.Options{Starts: []time.Duration{start}, Termination: &end})
		}
	}
	grid, node, pod, daemonSet, edit := dstest.State, dstest.Node, dstest.Pod, dstest.DaemonSet, dstest.Edit
	down := func(name string) dstest.Option {
		return node(name, func(n *corev1.Node) {
			n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, LastTransitionTime: ago(time.Hour), LastHeartbeatTime: ago(time.Hour)}}
		})
	}
	port := daemonSet(func(ds *appsv1.DaemonSet) {
		ds.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80, ContainerPort: 80}}
	})
	held := edit(func(s *snapshot.Snapshot) {
		for i := range s.Pods {
			s.Pods[i].Spec.Containers = s.DaemonSet.Spec.Template.Spec.Containers
		}
	})
	restart := &whatif.Change{Restart: true}
	add("keeps restarting", grid("N N", pod("p0", func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "agent", RestartCount: 7, Ready: true,
			State:                corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: ago(time.Minute)}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, FinishedAt: ago(time.Minute)}},
		}}
	})), restart, plan.Options{})
	add("budget spent", grid("N N N N", down("n0")), restart, plan.Options{})
	add("surge spent", grid("O O/n O O", dstest.MaxSurge("1"), down("n1")), nil, plan.Options{})
	add("surge ports", grid("N N N", dstest.MaxSurge("1"), port, held), restart, plan.Options{})
	add("no room", grid("O O", dstest.MaxUnavailable("2"), small("n0"), small("n1"), taken("n1"), asks(daemonSet)), nil, plan.Options{})
	add("not checked", grid("- N", edit(func(s *snapshot.Snapshot) {
		s.Admission = &snapshot.Admission{
			Namespace:       &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.DaemonSet.Namespace}},
			ServiceAccounts: []corev1.ServiceAccount{{ObjectMeta: metav1.ObjectMeta{Name: "default"}}},
			Hooks:           []snapshot.AdmissionHook{{Kind: snapshot.ValidatingWebhook, Name: "policy"}},
		}
		s.Gaps = append(s.Gaps, snapshot.Gap{What: snapshot.ResourceQuotas, Why: snapshot.Forbidden})
	})), nil, plan.Options{})
	tried := func(d *snapshot.PodDryRun) dstest.Option {
		return edit(func(s *snapshot.Snapshot) {
			s.Admission = &snapshot.Admission{Namespace: &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.DaemonSet.Namespace}}, DryRun: d}
		})
	}
	add("tried", grid("- N", tried(&snapshot.PodDryRun{Answer: snapshot.DryRunCreated})), nil, plan.Options{})
	add("tried in vain", grid("- N", tried(&snapshot.PodDryRun{Answer: snapshot.DryRunUnknown, Message: "no"})), nil, plan.Options{})
	add("tried and rejected", grid("- N", tried(&snapshot.PodDryRun{Answer: snapshot.DryRunRejected, Message: "no"})), nil, plan.Options{})
	add("on delete", grid("O N", dstest.OnDelete()), &whatif.Change{Strategy: "RollingUpdate"}, plan.Options{})
	add("a label that no node has", grid("N N N"), &whatif.Change{NodeSelector: map[string]string{"pool": "none"}}, plan.Options{})
	add("nothing", grid("N N N"), nil, plan.Options{Starts: []time.Duration{start}})
	add("minimum", grid("N N N", dstest.MinReadySeconds(60)), restart, plan.Options{Starts: []time.Duration{start}})
	crashes := pod("p0", func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "agent", RestartCount: 7, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}}}
	})
	add("revision fails", grid("n O O O", crashes), nil, plan.Options{})
	add("revision fails, one ready", grid("n W O O", crashes, dstest.MinReadySeconds(60)), nil, plan.Options{})
	for i, image := range []string{"https://x:2", "ex/${TAG}", "ex/Agent:2", "ex/agent:", "agent@sha256:12", "ex//agent"} {
		add(fmt.Sprint("no image ", i), grid("N N N"), &whatif.Change{Images: []whatif.Image{{Image: image}}}, plan.Options{})
	}
	add("lost repository", grid("N N N", daemonSet(func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.Containers[0].Image = "ex/agent:4.1.0" })), &whatif.Change{Images: []whatif.Image{{Image: "4.1.1"}}}, plan.Options{})
	add("refers to nothing", grid("N N N", daemonSet(func(ds *appsv1.DaemonSet) {
		ds.Spec.Template.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "token"}}}}
	}), edit(func(s *snapshot.Snapshot) {
		s.References = &snapshot.References{Objects: []snapshot.Referred{{Kind: snapshot.Secret, Name: "token"}}}
	})), restart, plan.Options{})
	add("empty hash", grid("N N", edit(func(s *snapshot.Snapshot) {
		for i := range s.Revisions {
			delete(s.Revisions[i].Labels, appsv1.ControllerRevisionHashLabelKey)
		}
		delete(s.DaemonSet.Annotations, appsv1.DeprecatedTemplateGeneration)
	})), nil, plan.Options{})
	add("managed", grid("N N", dstest.Patch("daemonset", `{"metadata":{"labels":{"argocd.argoproj.io/instance":"monitoring"}}}`)), &whatif.Change{MinReadySeconds: new(int32(5))}, plan.Options{})
	token := daemonSet(func(ds *appsv1.DaemonSet) {
		ds.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "TOKEN", Value: "digest:0123456789abcdef"}}
	})
	manifest := grid("N N", token).DaemonSet
	manifest.Spec.Template.Spec.Containers[0].Env[0].Value = "s3cret"
	add("digests", grid("N N", token, edit(func(s *snapshot.Snapshot) { s.EnvValues = snapshot.EnvDigest })), &whatif.Change{DaemonSet: manifest, Method: "Overlay"}, plan.Options{})
	add("unknown fields", grid("N O", dstest.Patch("revisions/agent-old", `{"data":{"spec":{"template":{"spec":{"future":{"a":"b"}}}}}}`)), &whatif.Change{ToRevision: new(int64(1))}, plan.Options{})
	changed := grid("N N").DaemonSet.DeepCopy()
	changed.Spec.MinReadySeconds = 5
	add("warned", grid("N N"), &whatif.Change{DaemonSet: changed, Method: whatif.MethodOverlay, FieldManager: "kubectl"}, plan.Options{Warnings: []plan.Warning{
		{Code: plan.ServerWarning, Facts: daemonset.Facts{"message": "would violate PodSecurity"}},
		{Code: plan.DuplicateKey, Facts: daemonset.Facts{"file": "agent.yaml", "document": 1, "line": 12, "key": "image"}},
	}})
	platform := func(key string, values ...string) dstest.Option {
		return edit(func(s *snapshot.Snapshot) {
			for i := range s.Nodes {
				s.Nodes[i].Labels[key] = values[i]
			}
		})
	}
	add("other systems", grid("N N -", platform(corev1.LabelOSStable, "linux", "linux", "windows"), platform(corev1.LabelArchStable, "amd64", "amd64", "arm64")), restart, plan.Options{})
	add("mixed systems", grid("- - -", platform(corev1.LabelOSStable, "linux", "linux", "windows")), restart, plan.Options{})
	taint := &corev1.Taint{Key: "a", Effect: corev1.TaintEffectNoExecute}
	add("evicts old pods", grid("N N"), &whatif.Change{
		Tolerations: []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}},
		Nodes:       []whatif.NodeEdit{{Kind: whatif.NodeTaint, Which: "n0", Taint: taint}},
	}, plan.Options{})
	add("all down", grid("N N"), &whatif.Change{Restart: true, Nodes: []whatif.NodeEdit{{Kind: whatif.NodeDown, Which: "*"}}}, plan.Options{})
	add("nodes", grid("N N N N", edit(func(s *snapshot.Snapshot) {
		s.Nodes[1].Spec.Taints, s.Nodes[1].Labels = []corev1.Taint{*taint}, map[string]string{"a": "b"}
	})), &whatif.Change{Nodes: []whatif.NodeEdit{
		{Kind: whatif.NodeTaint, Which: "n0", Taint: taint}, {Kind: whatif.NodeUntaint, Which: "n1", Taint: taint},
		{Kind: whatif.NodeLabel, Which: "n0", Key: "a", Value: "b"}, {Kind: whatif.NodeUnlabel, Which: "n1", Key: "a"},
		{Kind: whatif.NodeCordon, Which: "n1"}, {Kind: whatif.NodeUncordon, Which: "n2"}, {Kind: whatif.NodeDown, Which: "n2"},
		{Kind: whatif.NodeRemove, Which: "n3"}, {Kind: whatif.NodeAdd, Which: "n1", Count: 2},
	}}, plan.Options{})
	fresh := grid("- - -", daemonSet(func(ds *appsv1.DaemonSet) { ds.UID = "" }), edit(func(s *snapshot.Snapshot) { s.Revisions = nil }))
	p, err := world.Plan(fresh, &whatif.Change{Method: "New"}, plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all["new"] = p
	return all
}

// TestSnapshot: the page describes the Snapshot as Encode writes it.
func TestSnapshot(t *testing.T) {
	s := dstest.State("O n")
	s.Gaps = []snapshot.Gap{{What: snapshot.Events, Why: snapshot.NotGiven}}
	s.Names, s.OpenShift = snapshot.StandIns, &snapshot.OpenShift{}
	s.OtherPods, s.Admission, s.References, s.Volumes = &snapshot.OtherPods{}, &snapshot.Admission{}, &snapshot.References{}, &snapshot.Volumes{}
	s.Controller = &snapshot.ControllerLease{}
	raw, err := snapshot.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]json.RawMessage
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	rows := readPage(t, "output.md").fields(t, "Snapshot")
	for name := range rows {
		if _, found := got[name]; !found && !strings.Contains(name, ".") {
			t.Errorf("a row for %s, which is not written", name)
		}
	}
	for name := range got {
		if rows[name] == "" {
			t.Errorf("no row for %s, which is written", name)
		}
	}
}

func stateOf(t *testing.T, s *snapshot.Snapshot) *daemonset.State {
	t.Helper()
	profile, err := daemonset.ForVersion(s.KubernetesVersion)
	if err != nil {
		t.Fatal(err)
	}
	st, err := daemonset.New(s, profile)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// reader reads documents with the page in hand, and notes what it saw.
type reader struct {
	page   *page
	rows   map[string]string                       // of the Explanation: field to type
	tables map[string]map[string]map[string]string // section, code, column
	keys   map[string]string                       // of facts, to type
	order  []string                                // of problems
	seen   map[string]bool                         // "section code" and "section code key"
	said   map[string]bool
}

// errorf says what is wrong, once for all documents.
func (r *reader) errorf(t *testing.T, format string, args ...any) {
	t.Helper()
	if s := fmt.Sprintf(format, args...); !r.said[s] {
		r.said[s] = true
		t.Error(s)
	}
}

// value checks one JSON value, and all in it, against the rows.
func (r *reader) value(t *testing.T, at string, v any) {
	t.Helper()
	is := ""
	if at != "" && !strings.HasSuffix(at, "[]") {
		if is = r.rows[resolve(r.rows, at)]; is == "" {
			r.errorf(t, "%s: no row", at)
			return
		}
	}
	word, _, _ := strings.Cut(is, ", ")
	word, _, _ = strings.Cut(word, " or null")
	if v == nil {
		if !strings.Contains(is, " or null") {
			r.errorf(t, "%s: null, and the page says %q", at, is)
		}
		return
	}
	ok := true
	switch v := v.(type) {
	case string:
		ok = slices.Contains([]string{"string", "code", "time", ""}, word)
		if _, err := time.Parse(time.RFC3339, v); word == "time" && (err != nil || !strings.HasSuffix(v, "Z")) {
			r.errorf(t, "%s: %q is no time in UTC", at, v)
		}
		if word == "code" && v == "" && !strings.HasSuffix(at, ".updatedBy") && !strings.HasSuffix(at, ".claim") && !strings.HasSuffix(strings.ToLower(at), "outcome.reason") {
			r.errorf(t, "%s: somebody forgot to give a code", at)
		}
	case bool:
		ok = word == "boolean"
	case float64:
		ok = word == "number" || word == "integer" && v == float64(int64(v))
	case []any:
		of, list := strings.CutPrefix(word, "list of ")
		if ok = list; kubernetes.MatchString(of) {
			break
		}
		for _, e := range v {
			r.value(t, at+"[]", e)
		}
	case map[string]any:
		ok = slices.Contains([]string{"object", "facts", ""}, word) || kubernetes.MatchString(word)
		if word == "facts" || kubernetes.MatchString(word) {
			break
		}
		for name, inside := range v {
			r.value(t, strings.TrimPrefix(at+"."+name, "."), inside)
		}
		for field, is := range r.rows {
			above, name := "", field
			if i := strings.LastIndexByte(field, '.'); i >= 0 {
				above, name = field[:i], field[i+1:]
			}
			if _, there := v[name]; above == at && !there && !strings.Contains(is, "may be absent") {
				r.errorf(t, "%s: absent, and the page says %q", field, is)
			}
		}
	}
	if !ok {
		r.errorf(t, "%s: %v (%T), and the page says %q", at, v, v, is)
	}
}

// explanation checks the codes and facts of a document, and what the page
// promises of its lists and numbers.
func (r *reader) explanation(t *testing.T, e *explain.Explanation) {
	t.Helper()
	r.facts(t, string(e.Verdict.Code), e.Verdict.Facts, "Verdicts")
	for i := range e.Nodes {
		n := &e.Nodes[i]
		for _, v := range []*daemonset.Verdict{n.ShouldRun, n.MayStay} {
			if v != nil {
				r.facts(t, string(v.Reason), v.Facts, "Placement")
			}
		}
		for _, c := range n.Checks {
			r.facts(t, string(c.Reason), c.Facts, "Placement")
		}
		if c := n.Problem; c != nil {
			r.facts(t, string(c.Code), c.Facts, "Problems")
			r.severity(t, c.Code, c.Severity)
		}
	}
	for _, p := range e.Problems {
		r.facts(t, string(p.Code), p.Facts, "Problems")
		r.severity(t, p.Code, p.Severity)
		if p.Count != len(p.Nodes) || len(slices.Compact(slices.Sorted(slices.Values(p.Nodes)))) != p.Count {
			r.errorf(t, "problem %s: count %d, nodes %v", p.Code, p.Count, p.Nodes)
		}
		r.facts(t, string(p.Subject.Kind), nil, "What pods fail on")
		if b := p.Blame; b != nil {
			r.facts(t, string(b.Who), nil, "Blame")
			r.facts(t, string(b.Certainty), nil, "Certainty")
		}
	}
	r.remedies(t, e.Remedies)
	for _, a := range e.Advice {
		r.facts(t, string(a.Code), nil, "Advice")
	}
	for _, h := range e.Budget.Holders {
		r.facts(t, string(h.Reason), h.Facts, "Problems")
	}
	for _, d := range e.Status.Differences {
		r.facts(t, string(d.Reason), nil, "Differences")
	}
	r.step(t, &e.Next)
	r.columns(t, e)
	r.orders(t, e)
	if b := &e.Budget; b.Kind != daemonset.BudgetNone && b.Used != nil && *b.Used != len(b.Holders) {
		r.errorf(t, "budget: used %d, free %d, %d holders", *b.Used, *b.Free, len(b.Holders))
	}
}

func (r *reader) step(t *testing.T, next *daemonset.Step) {
	t.Helper()
	r.facts(t, string(next.Kind), nil, "Steps")
	r.facts(t, string(next.Reason), nil, "The next sync")
	for _, b := range []daemonset.Batch{next.Creates, next.Deletes} {
		items := b.Certain
		for _, c := range b.Choices {
			items = append(slices.Clone(items), daemonset.Item{Reason: c.Reason})
			if c.Count >= len(c.From) {
				r.errorf(t, "a choice of %d of %d", c.Count, len(c.From))
			}
		}
		for _, i := range items {
			r.facts(t, string(i.Reason), nil, "Creates and deletes")
		}
		if !slices.IsSortedFunc(b.Certain, func(x, y daemonset.Item) int { return strings.Compare(x.Node+"\x00"+x.Pod, y.Node+"\x00"+y.Pod) }) {
			r.errorf(t, "certain: not in order: %v", b.Certain)
		}
	}
	for _, w := range next.Waits {
		r.facts(t, string(w.Code), nil, "Waits and errors")
	}
	if next.Error != nil {
		r.facts(t, string(next.Error.Code), nil, "Waits and errors")
	}
	for _, x := range next.Revisions.Remove {
		r.facts(t, string(x.Reason), nil, "Revisions removed")
	}
}

func (r *reader) columns(t *testing.T, e *explain.Explanation) {
	t.Helper()
	want := map[string]int{}
	if c := e.Status.Computed; c != nil {
		want = map[string]int{"DESIRED": c.Desired, "CURRENT": c.Current, "READY": c.Ready, "UP-TO-DATE": c.Updated, "AVAILABLE": c.Available, "MISSCHEDULED": c.Misscheduled}
	}
	for _, c := range e.Columns {
		counted, all := 0, 0
		for _, g := range c.Groups {
			sections := []string{"Columns", "Problems"}
			if c.Name == "DESIRED" || c.Name == "MISSCHEDULED" && g.Counted {
				sections = []string{"Placement"}
			}
			r.facts(t, string(g.Reason), g.Facts, sections...)
			if all += g.Count; g.Counted {
				counted += g.Count
			}
			if g.Count != len(g.Nodes) || !slices.IsSorted(g.Nodes) {
				r.errorf(t, "%s: %s: count %d, nodes %v", c.Name, g.Reason, g.Count, g.Nodes)
			}
		}
		if e.Status.Computed == nil {
			continue
		}
		whole := want["DESIRED"]
		switch c.Name {
		case "DESIRED":
			whole = all
		case "MISSCHEDULED":
			whole = wholeOf(e, "DESIRED") - whole
		}
		if counted != want[c.Name] || all != whole {
			r.errorf(t, "%s: %d of %d nodes count, computed %d of %d", c.Name, counted, all, want[c.Name], whole)
		}
	}
}

func wholeOf(e *explain.Explanation, column string) int {
	all := 0
	for _, c := range e.Columns {
		for _, g := range c.Groups {
			if c.Name == column {
				all += g.Count
			}
		}
	}
	return all
}

func (r *reader) orders(t *testing.T, e *explain.Explanation) {
	t.Helper()
	place := func(p explain.Problem) int { return slices.Index(r.order, string(p.Code)) }
	for what, ok := range map[string]bool{
		"nodes":          slices.IsSortedFunc(e.Nodes, func(a, b explain.Node) int { return strings.Compare(a.Name, b.Name) }),
		"unmapped":       slices.IsSortedFunc(e.Unmapped, func(a, b explain.Pod) int { return strings.Compare(a.Name, b.Name) }),
		"budget.holders": slices.IsSortedFunc(e.Budget.Holders, func(a, b explain.BudgetHolder) int { return strings.Compare(a.Node, b.Node) }),
		"problems": slices.IsSortedFunc(e.Problems, func(a, b explain.Problem) int {
			return cmp.Or(place(a)-place(b), slices.Index(severities, a.Severity)-slices.Index(severities, b.Severity), b.Count-a.Count)
		}),
		"revisions": slices.IsSortedFunc(e.Revisions, func(a, b explain.Revision) int { return int(b.Number - a.Number) }),
	} {
		if !ok {
			r.errorf(t, "%s: not in the order that the page promises", what)
		}
	}
}

var severities = []cause.Severity{cause.SeverityError, cause.SeverityWarning, cause.SeverityInfo}

// facts checks a code and its facts against the sections that may list it.
func (r *reader) facts(t *testing.T, c string, f daemonset.Facts, sections ...string) {
	t.Helper()
	found := false
	allowed := map[string]bool{}
	for _, s := range sections {
		row := r.tables[s][c]
		if row == nil {
			continue
		}
		found = true
		r.seen[s+" "+c] = true
		for _, key := range r.keysOf(s, c, f) {
			allowed[key] = true
		}
		for key := range f {
			r.seen[s+" "+c+" "+key] = true
		}
	}
	if !found {
		r.errorf(t, "%q stands in none of %v", c, sections)
	}
	for key, v := range f {
		if !allowed[key] {
			r.errorf(t, "%s: %s: no key %q on the page", sections, c, key)
		}
		if is := wordForFact(v); !slices.Contains(strings.Split(r.keys[key], " or "), is) && !(is == "string" && r.keys[key] == "time") {
			r.errorf(t, "%s: %s: %s is a %s, on the page a %s", sections, c, key, is, r.keys[key])
		}
		if s, ok := v.(string); ok && r.keys[key] == "time" {
			if _, err := time.Parse(time.RFC3339, s); err != nil {
				r.errorf(t, "%s: %s: %s: %v", sections, c, key, err)
			}
		}
	}
}

// keysOf returns the keys that a row of a section has, with what stands below
// the table of problems and inside of its rows.
func (r *reader) keysOf(section, c string, f daemonset.Facts) []string {
	keys := keysOf(r.tables[section][c]["Facts"])
	if section != "Problems" {
		return keys
	}
	keys = append(keys, "slot", "furtherMessages")
	if ofContainers[c] || c == string(cause.Starting) {
		keys = append(keys, "newFailing", "newPods", "oldFailing", "oldPods", "nodeWaits", "joined", "stopped")
	}
	if because, ok := f["because"].(string); ok {
		keys = append(keys, r.keysOf("Placement", because, nil)...)
	}
	return keys
}

var ofContainers = map[string]bool{
	"OOMKilled": true, "CrashLoopBackOff": true, "ImagePullBackOff": true, "PullingImage": true, "FailedMount": true, "FailedCreatePodSandBox": true, "ContainerConfig": true, "ContainerCreating": true, "InitRunning": true, "ProbeFailing": true,
}

func wordForFact(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case int, int64:
		return "integer"
	case []string:
		return "list of strings"
	}
	return fmt.Sprintf("%T", v)
}

func (r *reader) severity(t *testing.T, c daemonset.Reason, s cause.Severity) {
	t.Helper()
	cell := r.tables["Problems"][string(c)]["Severity"]
	if !slices.Contains(strings.FieldsFunc(cell, func(r rune) bool { return r == ' ' || r == ',' }), string(s)) {
		r.errorf(t, "%s has severity %s, on the page %q", c, s, cell)
	}
	r.seen["severity "+string(c)+" "+string(s)] = true
}

// unseen reports what the page has and no document had.
func (r *reader) unseen(t *testing.T) {
	t.Helper()
	for section, rows := range r.tables {
		if rows := maps.Values(rows); !slices.ContainsFunc(slices.Collect(rows), func(row map[string]string) bool { return r.seen[section+" "+strings.Trim(row["Code"], "`")] }) {
			continue // of a type that is no reason, or of pods alone
		}
		for c := range rows {
			if c == string(cause.DoesNotFit) {
				continue // of a plan alone
			}
			if !r.seen[section+" "+c] && c != "NodesNotRead" && rare[section+" "+c] == "" {
				lacks(t, "%s: no document had %s", section, c)
			}
			for _, key := range keysOf(rows[c]["Facts"]) {
				if key == "nodesWith" {
					continue // of a plan alone, in which a node loses its pod
				}
				if section != "Problems" && !r.seen[section+" "+c+" "+key] || section == "Problems" && key != "because" && !r.seen[section+" "+c+" "+key] {
					lacks(t, "%s: %s: no document had %s", section, c, key)
				}
			}
		}
	}
	for c, row := range r.tables["Problems"] {
		for _, s := range severities {
			if c != string(cause.DoesNotFit) && strings.Contains(row["Severity"], string(s)) && !r.seen["severity "+c+" "+string(s)] {
				lacks(t, "%s: no document had it as %s", c, s)
			}
		}
	}
}

// lacks fails a test for what no document had. With few random states, what is rare is
// in none.
func lacks(t *testing.T, format string, what ...any) {
	t.Helper()
	if cases.Least(1) > 0 {
		t.Errorf(format, what...)
	}
}

// states are the recorded examples, many at random, some of them with gaps,
// and one for everything that these do not show.
func states(t *testing.T) map[string]*snapshot.Snapshot {
	t.Helper()
	all := made()
	examples, err := filepath.Glob(filepath.Join(root, "examples/*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range examples {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if all[name], err = snapshot.Decode(raw); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	seeds := []int64{123, 160, 196, 212, 240} // a burst, a pod of no node, a next rollout that would stall, a wait, and a rollout without an end
	for seed := range cases.Of(int64(40)) {
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		s := dstest.Random(seed)
		switch seed % 8 {
		case 1:
			s.Gaps, s.Nodes = []snapshot.Gap{{What: snapshot.Nodes, Why: snapshot.Forbidden}}, nil
		case 2:
			s.Gaps, s.Revisions = []snapshot.Gap{{What: snapshot.Revisions, Why: snapshot.NotGiven}}, nil
		case 3:
			s.KubernetesVersion = "v1.19.3"
		case 4:
			s.Gaps = []snapshot.Gap{{What: snapshot.DaemonSetStatus, Why: snapshot.NotGiven}, {What: snapshot.NodeStatus, Why: snapshot.NotGiven}}
		case 5:
			s.Gaps = []snapshot.Gap{{What: snapshot.PodStatus, Why: snapshot.NotGiven}}
		}
		all[fmt.Sprintf("seed %d", seed)] = s
	}
	labeled := []dstest.Option{dstest.Version("v1.30.5"), dstest.Labeled("n0", "pool=infra"), dstest.Labeled("n1", "pool=infra"), dstest.OpenShift("openshift.io/node-selector=pool=infra")}
	all["excluded by the namespace, a rollout"] = dstest.State("N O - -", labeled...)
	labeled = append(labeled, dstest.Labeled("n2", "pool=infra"), dstest.Labeled("n3", "pool=infra"))
	all["excluded by the namespace, between rollouts"] = dstest.State("N N N N - -", labeled...)
	for seed := range cases.Of(int64(60)) {
		s := dstest.OnOpenShift(dstest.RandomFor(seed, []string{"v1.30.5", dstest.Newest}[seed%2]), seed)
		if seed%10 == 0 {
			s.OpenShift = &snapshot.OpenShift{}
			s.Gaps = append(s.Gaps, snapshot.Gap{What: snapshot.NamespaceNodeSelector, Why: snapshot.Forbidden})
		}
		all[fmt.Sprintf("seed %d of OpenShift", seed)] = s
	}
	return all
}

func ago(d time.Duration) metav1.Time { return metav1.NewTime(dstest.Now.Add(-d)) }

// made are states that show what there is of problems.
func made() map[string]*snapshot.Snapshot {
	grid := dstest.State
	pod, node, daemonSet, edit := dstest.Pod, dstest.Node, dstest.DaemonSet, dstest.Edit
	written := func(spec, status time.Duration) dstest.Option {
		return daemonSet(func(ds *appsv1.DaemonSet) {
			before, after := ago(spec), ago(status)
			ds.ManagedFields = []metav1.ManagedFieldsEntry{{Time: &before}, {Time: &after, Subresource: "status"}}
		})
	}
	status := func(name string, c corev1.ContainerStatus) dstest.Option {
		return pod(name, func(p *corev1.Pod) { c.Name = "agent"; p.Status.ContainerStatuses = []corev1.ContainerStatus{c} })
	}
	waits := func(name, reason, message string) dstest.Option {
		return status(name, corev1.ContainerStatus{Image: "example/agent:2", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}})
	}
	ends := func(name, reason string) dstest.Option {
		return status(name, corev1.ContainerStatus{
			RestartCount: 7, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: reason, Message: "no route"}},
		})
	}
	runs := func(name string, since time.Duration) dstest.Option {
		return status(name, corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: ago(since)}}})
	}
	restarts := func(name, reason string) dstest.Option {
		return status(name, corev1.ContainerStatus{
			RestartCount: 7, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: ago(5 * time.Minute)}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: reason, FinishedAt: ago(5 * time.Minute)}},
		})
	}
	event := func(of, reason, message string, count int32) dstest.Option {
		return edit(func(s *snapshot.Snapshot) {
			e := corev1.Event{Reason: reason, Message: message, Count: count, FirstTimestamp: ago(time.Hour), LastTimestamp: ago(time.Minute)}
			e.Name = fmt.Sprintf("event-%d", len(s.Events))
			e.InvolvedObject = corev1.ObjectReference{Kind: "DaemonSet", UID: s.DaemonSet.UID}
			for i := range s.Pods {
				if s.Pods[i].Name == of {
					e.InvolvedObject = corev1.ObjectReference{Kind: "Pod", UID: s.Pods[i].UID}
				}
			}
			s.Events = append(s.Events, e)
		})
	}
	pending := func(name, message string) dstest.Option {
		return pod(name, func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: message, LastTransitionTime: ago(time.Hour)}}
		})
	}
	unmatched := pending("p0", "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.")
	selecting := pod("p0", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"pool": "infra"} })
	young := func(p *corev1.Pod) { p.CreationTimestamp = ago(time.Minute) }
	minutes := func(p *corev1.Pod) { p.CreationTimestamp = ago(3 * time.Minute) }
	quick := func(name string) dstest.Option {
		return pod(name, func(p *corev1.Pod) {
			p.CreationTimestamp = ago(time.Hour)
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: ago(time.Hour - time.Minute)}}
		})
	}
	meshed := func(name string) dstest.Option {
		return pod(name, func(p *corev1.Pod) {
			p.Status.ContainerStatuses[0].Name, p.Annotations = "proxy", map[string]string{"sidecar.istio.io/status": ""}
		})
	}
	drained := func(name string) dstest.Option {
		return node(name, func(n *corev1.Node) {
			n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: "Drained", Status: corev1.ConditionTrue, Reason: "Upgrade", LastTransitionTime: ago(9 * time.Hour)})
			n.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "janitor", FieldsV1: metav1.NewFieldsV1(`{"f:status":{"f:conditions":{"k:{\"type\":\"Drained\"}":{}}}}`)}}
		})
	}
	locked := func(name string, is corev1.ConditionStatus) dstest.Option {
		return node(name, func(n *corev1.Node) {
			n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: "KernelDeadlock", Status: is})
		})
	}
	cordoned := func(name string) dstest.Option {
		return node(name, func(n *corev1.Node) {
			since := ago(9 * time.Hour)
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule, TimeAdded: &since})
		})
	}
	down := func(name string) dstest.Option {
		return node(name, func(n *corev1.Node) {
			n.Status.Conditions = []corev1.NodeCondition{{
				Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown", LastTransitionTime: ago(time.Hour), LastHeartbeatTime: ago(time.Hour),
			}}
		})
	}
	leads := func(renewed time.Duration) dstest.Option {
		return edit(func(s *snapshot.Snapshot) {
			s.Controller = &snapshot.ControllerLease{Exists: true, Holder: "a", DurationSeconds: 15, RenewedAt: dstest.Now.Add(-renewed)}
		})
	}
	restarting := func(name string) dstest.Option {
		return node(name, func(n *corev1.Node) {
			n.Status.Conditions = []corev1.NodeCondition{{
				Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: "KubeletNotReady", Message: "no CNI", LastTransitionTime: ago(time.Minute),
			}}
		})
	}
	const unschedulable = "0/3 nodes are available: 1 %s, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]. preemption: none"
	invalid := intstr.FromString("many")
	platformOf := func(systems ...string) dstest.Option {
		return edit(func(s *snapshot.Snapshot) {
			for i := range s.Nodes {
				s.Nodes[i].Labels[corev1.LabelOSStable] = systems[i]
			}
		})
	}
	crashesOn := func(message string, labels ...string) dstest.Option { // of eight nodes, and what the others have in place of it
		return edit(func(s *snapshot.Snapshot) {
			for i := range s.Nodes {
				s.Nodes[i].Labels[labels[0]] = labels[1+b2i(i >= 8)]
			}
			for i := range 8 {
				s.Pods[i].Status.ContainerStatuses = []corev1.ContainerStatus{{
					Name: "agent", RestartCount: 7, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
					LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Message: message}},
				}}
			}
		})
	}
	selected := edit(func(s *snapshot.Snapshot) {
		s.DaemonSet.Spec.Template.Spec.NodeSelector = map[string]string{"pool": "a"}
		for i := range s.Nodes {
			s.Nodes[i].Labels["pool"] = "a"
		}
	})
	static := edit(func(s *snapshot.Snapshot) { s.OtherPods.Pods[0].Priority = 2_000_001_000 })
	notBuilt := func(p *corev1.Pod) {
		p.Status.ContainerStatuses[0].LastTerminationState.Terminated.Message = "exec format error"
	}
	half := func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}
	}
	of := func(arch string, names ...string) dstest.Option {
		return edit(func(s *snapshot.Snapshot) {
			for i := range s.Nodes {
				if slices.Contains(names, s.Nodes[i].Name) {
					s.Nodes[i].Labels[corev1.LabelOSStable], s.Nodes[i].Labels[corev1.LabelArchStable] = "linux", arch
				}
			}
		})
	}
	leaving := edit(func(s *snapshot.Snapshot) {
		ends := metav1.NewTime(s.TakenAt.Add(20 * time.Second))
		s.OtherPods.Pods[0].Terminating, s.OtherPods.Pods[0].EndsBy = true, &ends
	})
	return map[string]*snapshot.Snapshot{
		"waits for room":       grid("np", small("n0"), taken("n0"), pod("p0", half), pending("p0", "0/1 nodes are available: 1 Insufficient cpu."), leaving),
		"no build":             grid("n", waits("p0", "ImagePullBackOff", "no supported platform found in manifest list"), of("arm64", "n0")),
		"no build, a crash":    grid("n", ends("p0", "Error"), pod("p0", notBuilt), of("arm64", "n0")),
		"no build, no start":   grid("n", waits("p0", "RunContainerError", "exec format error"), of("arm64", "n0")),
		"one of two platforms": grid("n N O", ends("p0", "Error"), of("arm64", "n0"), of("amd64", "n1", "n2")),
		"refused on OpenShift": grid("- N", event("", "FailedCreate", `Error creating: pods "agent-" is forbidden: unable to validate against any security context constraint: `+
			`[provider restricted-v2: .containers[0].privileged: Invalid value: true: Privileged containers are not allowed]`, 4)),
		"no room beside static pods": grid("np N", small("n0"), taken("n0"), pending("p0", fmt.Sprintf(unschedulable, "Insufficient cpu")), static, pod("p0", half)),
		"an image of a cache": grid("n N", waits("p0", "ImagePullBackOff", "no such image"), pod("p0", func(p *corev1.Pod) {
			p.Labels["cache.example.com/rewritten"] = "true"
			p.Spec.Containers[0].Image, p.Status.ContainerStatuses[0].Image = "localhost/agent", "localhost/agent"
		})),
		"no room for its class": grid("np N", small("n0"), taken("n0"), pending("p0", fmt.Sprintf(unschedulable, "Insufficient cpu")), pod("p0", half)),
		"left out": grid("N !-", selected, node("n1", func(n *corev1.Node) {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "b", Effect: corev1.TaintEffectNoSchedule})
		})),
		"never anywhere":    grid("- -", selected, edit(func(s *snapshot.Snapshot) { s.Revisions, s.Nodes[0].Labels, s.Nodes[1].Labels = nil, nil, nil })),
		"an architecture":   grid("n n n n n n n n"+strings.Repeat(" O", 40), crashesOn("exec format error", corev1.LabelArchStable, "arm64", "amd64")),
		"other system":      grid("n N", platformOf("windows", "linux"), daemonSet(func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.OS = &corev1.PodOS{Name: corev1.Linux} })),
		"a label":           grid("n n n n n n n n"+strings.Repeat(" N", 40), crashesOn("", "example.com/disk", "nvme", "ssd")),
		"a label, old pods": grid("n n n n n n n n"+strings.Repeat(" O", 40), crashesOn("", "example.com/disk", "nvme", "ssd")),
		"two messages": grid("n n", ends("p0", "Error"), ends("p1", "Error"), pod("p1", func(p *corev1.Pod) {
			p.Status.ContainerStatuses[0].LastTerminationState.Terminated.Message = "no disk"
		})),
		"the network plugin": grid("n N", ends("p0", "Error"), edit(func(s *snapshot.Snapshot) {
			path := &corev1.HostPathVolumeSource{Path: "/etc/cni/net.d"}
			s.DaemonSet.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "cni", VolumeSource: corev1.VolumeSource{HostPath: path}}}
			s.Nodes[0].Status.Conditions = []corev1.NodeCondition{{
				Type: corev1.NodeReady, Status: corev1.ConditionFalse, Message: "container runtime network not ready: cni plugin not initialized",
			}}
		})),
		"a node that joined later": grid("n N", ends("p0", "Error"), edit(func(s *snapshot.Snapshot) {
			s.Nodes[0].CreationTimestamp, s.Pods[0].CreationTimestamp = ago(time.Hour), ago(time.Hour)
			for i := range s.Revisions {
				s.Revisions[i].CreationTimestamp = ago(100 * time.Hour)
			}
		})),
		"all stopped": grid("n n n", ends("p0", "Error"), ends("p1", "Error"), ends("p2", "Error"), edit(func(s *snapshot.Snapshot) {
			for i := range s.Pods {
				s.Pods[i].CreationTimestamp = ago(10 * time.Hour)
				s.Pods[i].Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: ago(time.Hour)}}
				s.Pods[i].Status.ContainerStatuses[0].LastTerminationState.Terminated.StartedAt = ago(time.Minute)
			}
		})),
		"no path to mount": grid("n N", ends("p0", "StartError"), pod("p0", func(p *corev1.Pod) {
			p.Status.ContainerStatuses[0].LastTerminationState.Terminated.Message = "error mounting \"/run/bus\": no such file or directory"
		}), edit(func(s *snapshot.Snapshot) {
			socket := corev1.HostPathSocket
			path := &corev1.HostPathVolumeSource{Path: "/run/bus", Type: &socket}
			s.DaemonSet.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "bus", VolumeSource: corev1.VolumeSource{HostPath: path}}}
			s.Nodes[0].Status.NodeInfo.OSImage = "Debian"
		})),
		"refused by a PodSecurityPolicy": grid("- N", event("", "FailedCreate", "Error creating: pods \"agent-\" is forbidden: PodSecurityPolicy: unable to admit pod: []", 4)),
		"no path of the node": grid("n N", waits("p0", "ContainerCreating", ""), edit(func(s *snapshot.Snapshot) {
			socket := corev1.HostPathSocket
			s.DaemonSet.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "bus", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/run/bus", Type: &socket}}}}
			s.Nodes[0].Status.NodeInfo.OSImage = "Debian"
		}), event("p0", "FailedMount", `MountVolume.SetUp failed for volume "bus" : hostPath type check failed: /run/bus is not a socket file`, 1)),
		"containers": grid("n n n n n n n n o N n n",
			ends("p0", "OOMKilled"), ends("p1", "Error"), waits("p2", "ImagePullBackOff", "no such image"),
			waits("p3", "ContainerCreating", ""), event("p3", "FailedMount", `MountVolume.SetUp failed for volume "logs" : hostPath type check failed: /var/log/x is not a directory`, 1),
			waits("p4", "ContainerCreating", ""), event("p4", "FailedCreatePodSandBox", "no CNI", 1),
			waits("p5", "CreateContainerConfigError", "no key"), waits("p6", "ContainerCreating", "still at it"),
			runs("p7", time.Hour), event("p7", "Unhealthy", "probe failed", 1), ends("p8", "Error"),
			pod("p10", func(p *corev1.Pod) {
				p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "init", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: ago(time.Hour)}}}}
			}),
			waits("p11", "ContainerCreating", ""), event("p11", "FailedMount", "no secret", 1), event("p11", "FailedCreatePodSandBox", "no CNI", 1), pod("p11", young)),
		"out of memory": grid("n N", ends("p0", "OOMKilled"), daemonSet(func(ds *appsv1.DaemonSet) {
			ds.Spec.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("100Mi")}
		})),
		"young": grid("n n N", waits("p0", "ContainerCreating", ""), event("p0", "FailedMount", "no secret", 1), pod("p0", young),
			runs("p1", 20*time.Second), event("p1", "Unhealthy", "probe failed", 1), pod("p1", func(p *corev1.Pod) { p.CreationTimestamp = ago(20 * time.Second) })),
		"late": grid("n n n n N N N", runs("p0", time.Second), pod("p0", minutes), quick("p4"), quick("p5"), quick("p6"),
			waits("p1", "ContainerCreating", ""), event("p1", "FailedMount", "no secret", 1), pod("p1", minutes),
			waits("p2", "ContainerCreating", ""), event("p2", "FailedCreatePodSandBox", "no CNI", 1), pod("p2", minutes),
			runs("p3", time.Second), event("p3", "Unhealthy", "probe failed", 1), pod("p3", minutes)),
		"pending": grid("np np np np n N",
			pending("p0", fmt.Sprintf(unschedulable, "Insufficient memory")), pending("p1", fmt.Sprintf(unschedulable, "node(s) didn't have free ports for the requested pod ports")),
			pending("p2", fmt.Sprintf(unschedulable, "node(s) had untolerated taint {a: b}")), pod("p3", func(p *corev1.Pod) { p.Status.Conditions = nil; p.CreationTimestamp = ago(time.Minute) }),
			pod("p4", func(p *corev1.Pod) {
				p.Status.Conditions = []corev1.PodCondition{
					{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "ReadinessGatesNotReady", Message: "gate", LastTransitionTime: ago(time.Hour)},
				}
			}), daemonSet(func(ds *appsv1.DaemonSet) {
				ds.Spec.Template.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/gate"}}
			})),
		"references": grid("n n np O", waits("p0", "CreateContainerConfigError", "no key"), waits("p1", "ContainerCreating", ""), event("p1", "FailedMount", "no key", 1),
			pending("p2", fmt.Sprintf(unschedulable, `persistentvolumeclaim "data" not found`)), daemonSet(func(ds *appsv1.DaemonSet) {
				spec, named := &ds.Spec.Template.Spec, func(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }
				spec.Containers[0].Env = []corev1.EnvVar{{Name: "LEVEL", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: named("settings"), Key: "level"}}}}
				spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "certs", MountPath: "/certs"}}
				spec.Volumes = []corev1.Volume{
					{Name: "certs", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "certs", Items: []corev1.KeyToPath{{Key: "crt", Path: "crt"}}}}},
					{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}},
				}
				spec.ImagePullSecrets = []corev1.LocalObjectReference{named("registry")}
			}), edit(func(s *snapshot.Snapshot) {
				s.References = &snapshot.References{Objects: []snapshot.Referred{
					{Kind: snapshot.ConfigMap, Name: "settings", Exists: true, KeysRead: true}, {Kind: snapshot.Secret, Name: "certs", Exists: true, KeysRead: true},
					{Kind: snapshot.Secret, Name: "registry"}, {Kind: snapshot.Claim, Name: "data"},
				}}
			})),
		"volumes": grid("np np N", pending("p0", fmt.Sprintf(unschedulable, "node(s) exceed max volume count")), claims("p0"),
			pending("p1", fmt.Sprintf(unschedulable, "node(s) didn't match PersistentVolume's node affinity")), claims("p1"), stored),
		"no room": grid("np np N", small("n0"), small("n1"), taken("n0"), taken("n1"),
			pending("p0", fmt.Sprintf(unschedulable, "Insufficient cpu")), pod("p0", func(p *corev1.Pod) {
				p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}
			}),
			pending("p1", fmt.Sprintf(unschedulable, "node(s) didn't have free ports for the requested pod ports")), pod("p1", func(p *corev1.Pod) {
				p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80, Protocol: corev1.ProtocolTCP}}
			})),
		"nodes down":             grid("n nt N", down("n0"), down("n1")),
		"nodes drained":          grid("n nt N", down("n0"), down("n1"), drained("n0"), drained("n1")),
		"a drained node's taint": grid("N N", down("n0"), drained("n0"), dstest.Tainted("n0", "node.kubernetes.io/not-ready:NoSchedule")),
		"nodes cordoned":         grid("n nt N", down("n0"), down("n1"), cordoned("n0"), cordoned("n1")),
		"a machine that is off": grid("nt N", down("n0"), node("n0", func(n *corev1.Node) {
			since := ago(time.Second)
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeOutOfService, Value: "nodeshutdown", Effect: corev1.TaintEffectNoExecute, TimeAdded: &since})
		})),
		"added by a mesh": grid("n n N", ends("p0", "Error"), ends("p1", "OOMKilled"), meshed("p0"), meshed("p1")),
		"no network": grid("n N", waits("p0", "ContainerCreating", ""), event("p0", "FailedCreatePodSandBox", "no route", 4), node("n0", func(n *corev1.Node) {
			n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeNetworkUnavailable, Status: corev1.ConditionTrue, Reason: "NoRouteCreated"})
		})),
		"no pull secret": grid("n N", waits("p0", "ImagePullBackOff", `Back-off pulling image "example/agent:2"`), event("p0", "FailedToRetrieveImagePullSecret",
			"Unable to retrieve some image pull secrets (regcred); attempting to pull the image may not succeed.", 4)),
		"pulls": grid("n n N N N", waits("p0", "ContainerCreating", ""), event("p0", "Pulling", "Pulling image", 1), pod("p0", minutes),
			waits("p1", "ContainerCreating", ""), event("p1", "Pulling", "Pulling image", 1), pod("p1", func(p *corev1.Pod) { p.CreationTimestamp = ago(20 * time.Second) }), quick("p2"), quick("p3"), quick("p4")),
		"attached elsewhere": grid("n N", waits("p0", "ContainerCreating", ""), event("p0", "FailedAttachVolume", `Multi-Attach error for volume "pv" Volume is already used by pod(s) agent-x`, 4), claims("p0"), stored,
			edit(func(s *snapshot.Snapshot) {
				for i := range s.Volumes.Claims {
					s.Volumes.Claims[i].AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
				}
			})),
		"nodes young":                 grid("n nt N", restarting("n0"), restarting("n1")),
		"a selector of the namespace": grid("np N", unmatched, selecting, dstest.OpenShift("openshift.io/node-selector=pool=infra")),
		"a selector that is gone":     grid("np N", unmatched, selecting, dstest.OpenShift("openshift.io/node-selector=")),
		"virtual":                     grid("- N", node("n0", func(n *corev1.Node) { n.Labels["eks.amazonaws.com/compute-type"] = "fargate" })),
		"webhook of a Service": grid("- N", event("", "FailedCreate",
			`Error creating: Internal error occurred: failed calling webhook "pods.example.org": failed to call webhook: Post "https://hook.acme.svc:443/pods": connection refused`, 4)),
		"image rewritten": grid("n N", waits("p0", "ImagePullBackOff", "not found"), pod("p0", func(p *corev1.Pod) {
			p.Spec.Containers = []corev1.Container{{Name: "agent", Image: "cache.example/agent:2"}}
			p.Status.ContainerStatuses[0].Image = "cache.example/agent:2"
		})),
		"limit of a LimitRange": grid("n N", ends("p0", "OOMKilled"), pod("p0", func(p *corev1.Pod) {
			p.Annotations = map[string]string{snapshot.LimitRanged: "LimitRanger plugin set: memory limit for container agent"}
		})),
		"reported by nodes": grid("n n n N", ends("p0", "OOMKilled"), ends("p1", "Error"), runs("p2", time.Hour), locked("n0", corev1.ConditionTrue), locked("n1", corev1.ConditionTrue),
			locked("n2", corev1.ConditionTrue), locked("n3", corev1.ConditionFalse)),
		"keeps restarting": grid("N N N", restarts("p0", "Error"), restarts("p1", "OOMKilled")),
		"probes": grid("n n N", runs("p0", time.Hour), event("p0", "Unhealthy", "Startup probe failed: connection refused", 9), pod("p1", func(p *corev1.Pod) {
			always := corev1.ContainerRestartPolicyAlways
			p.Spec.InitContainers = []corev1.Container{{Name: "proxy", RestartPolicy: &always}}
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "proxy", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: ago(time.Hour)}}}}
		})),
		"vanished":             grid("~o N"),
		"terminating":          grid("Nt Nt N", event("p0", "FailedKillPod", "error killing pod: context deadline exceeded", 3), pod("p0", func(p *corev1.Pod) { at := ago(time.Hour); p.DeletionTimestamp = &at })),
		"refused":              grid("- N", event("", "FailedCreate", "Error creating: exceeded quota", 4)),
		"refused by a policy":  grid("- N", event("", "FailedCreate", `Error creating: pods "agent-x" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)`, 4)),
		"refused by a webhook": grid("- N", event("", "FailedCreate", `Error creating: admission webhook "validate.example.org" denied the request: no`, 4)),
		"refused by another ServiceAccount before": grid("- N", event("", "FailedCreate",
			`Error creating: pods "agent-" is forbidden: error looking up service account kube-system/v1: serviceaccount "v1" not found`, 4)),
		"a Secret that exists by now": grid("n N", waits("p0", "CreateContainerConfigError", `secret "keys" not found`), edit(func(s *snapshot.Snapshot) {
			s.References = &snapshot.References{Objects: []snapshot.Referred{{Kind: snapshot.Secret, Name: "keys", Exists: true}}}
		})),
		"refused by a webhook that waits for it": grid("- N", restarting("n1"), event("", "FailedCreate",
			`Error creating: Internal error occurred: failed calling webhook "pods.example.org": failed to call webhook: no endpoints available for service "hook"`, 4)),
		"predicted": grid("- N", daemonSet(func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.PriorityClassName = "none" }), dstest.Edit(func(s *snapshot.Snapshot) {
			s.Admission = &snapshot.Admission{
				Namespace:       &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.DaemonSet.Namespace}},
				ServiceAccounts: []corev1.ServiceAccount{{ObjectMeta: metav1.ObjectMeta{Name: "default"}}},
			}
		})),
		"silent":                  grid("- N", written(time.Hour, time.Hour)),
		"silent, and leads":       grid("- N", written(time.Hour, time.Hour), leads(time.Second)),
		"silent, and gone":        grid("- N", written(time.Hour, time.Hour), leads(time.Hour)),
		"not observed, and leads": grid("N", daemonSet(func(ds *appsv1.DaemonSet) { ds.Generation = 3 }), written(time.Hour, time.Hour), leads(time.Second)),
		"missed a taint":          grid("!N N", dstest.Version("v1.34.0"), written(time.Hour, time.Hour), leads(time.Second)),
		"held up":                 grid("- N", dstest.Version("v1.24.17"), event("", "FailedCreate", "Error creating: exceeded quota", 4)),
		"held up, newer": grid("O N", dstest.Version("v1.24.17"), daemonSet(func(ds *appsv1.DaemonSet) {
			ds.Generation, ds.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable = 3, &invalid
		})),
		"comparison": grid("N", daemonSet(func(ds *appsv1.DaemonSet) {
			ds.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "level", Operator: corev1.TolerationOpGt, Value: "5"}}
		})),
		"missing":    grid("- N"),
		"failed":     grid("nf ns N", pod("p0", func(p *corev1.Pod) { p.Status.Reason, p.Status.Message = "Evicted", "no disk" })),
		"evict loop": grid("nf N", event("", "FailedDaemonPod", "Found failed daemon pod kube-system/p0 on node n0, will try to kill it", 5), pod("p0", func(p *corev1.Pod) { p.Status.Reason, p.Status.Message = "Evicted", "no disk" })),
		"a full disk": grid("nf N", event("", "FailedDaemonPod", "Found failed daemon pod kube-system/p0 on node n0, will try to kill it", 5), pod("p0", func(p *corev1.Pod) {
			p.Status.Reason, p.Status.Message = "Evicted", "The node was low on resource: ephemeral-storage. Threshold quantity: 10%, available: 9%. "
		}), node("n0", func(n *corev1.Node) {
			n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue})
		})),
		"not yet": grid("W W N", dstest.MinReadySeconds(60), pod("p1", func(p *corev1.Pod) { p.Status.Conditions[1].LastTransitionTime = ago(-time.Minute) })),
		"hands": grid("Na Nr Nx N N/N", edit(func(s *snapshot.Snapshot) {
			s.Pods = append(s.Pods, *s.Pods[3].DeepCopy())
			last := &s.Pods[len(s.Pods)-1]
			last.Name, last.Spec.NodeName, last.Spec.Affinity = "lost", "", nil
		})),
		"misscheduled": grid("!N #O ^N N", node("n0", func(n *corev1.Node) {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "a", Effect: corev1.TaintEffectNoExecute})
		})),
		"placement": grid("N N N N - -", daemonSet(func(ds *appsv1.DaemonSet) {
			ds.Spec.Template.Spec.NodeSelector = map[string]string{"pool": "a"}
			ds.Spec.Template.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "arch", Operator: corev1.NodeSelectorOpIn, Values: []string{"arm64"}}}}},
			}}}
		}), node("n0", func(n *corev1.Node) { n.Labels["pool"], n.Labels["arch"] = "a", "arm64" }),
			node("n1", func(n *corev1.Node) { n.Labels["pool"], n.Labels["arch"] = "b", "arm64" }),
			node("n2", func(n *corev1.Node) {
				n.Labels["pool"], n.Labels["arch"] = "a", "amd64"
				n.Spec.Taints = []corev1.Taint{{Key: "a", Value: "b", Effect: corev1.TaintEffectNoExecute}}
			})),
		"nowhere": grid("- -", edit(func(s *snapshot.Snapshot) {
			s.DaemonSet.Spec.Template.Spec.NodeSelector = map[string]string{"pool": "none"}
		})),
		"node name": grid("N -", daemonSet(func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.NodeName = "n0" }), node("n1", func(n *corev1.Node) {
			n.Spec.Taints = []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoExecute}, {Key: "b", Effect: corev1.TaintEffectNoExecute}}
		})),
		"host port": grid("N N", dstest.MaxSurge("1"), daemonSet(func(ds *appsv1.DaemonSet) {
			ds.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80, ContainerPort: 80}}
		})),
		"host port, a rollout": grid("O O O", dstest.MaxSurge("1"), daemonSet(func(ds *appsv1.DaemonSet) {
			ds.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80, ContainerPort: 80}}
		}), edit(func(s *snapshot.Snapshot) {
			for i := range s.Pods {
				s.Pods[i].Spec.Containers = s.DaemonSet.Spec.Template.Spec.Containers
			}
		})),
		"surge, gone":    grid("~O O", dstest.MaxSurge("1")),
		"invalid budget": grid("O O", daemonSet(func(ds *appsv1.DaemonSet) { ds.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable = &invalid })),
		"disruption budgets": grid("O N", edit(func(s *snapshot.Snapshot) {
			one, most := intstr.FromInt32(1), intstr.FromString("90%")
			s.PodDisruptionBudgets = []policyv1.PodDisruptionBudget{
				{ObjectMeta: metav1.ObjectMeta{Name: "one"}, Spec: policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &one}},
				{ObjectMeta: metav1.ObjectMeta{Name: "most"}, Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &most}},
			}
		})),
		"on delete":      grid("O N", dstest.OnDelete()),
		"not observed":   grid("N", daemonSet(func(ds *appsv1.DaemonSet) { ds.Generation = 3 }), written(time.Minute, time.Hour)),
		"never observed": grid("N", daemonSet(func(ds *appsv1.DaemonSet) { ds.Generation = 3 }), written(time.Hour, time.Hour)),
		"moving":         grid("N", node("n0", func(n *corev1.Node) { n.Status.Conditions[0].LastTransitionTime = ago(time.Second) })),
		"being deleted": grid("N", daemonSet(func(ds *appsv1.DaemonSet) {
			at := ago(time.Minute)
			ds.DeletionTimestamp, ds.Finalizers = &at, []string{"example.com/hold"}
		})),
		"selects all":         grid("N", daemonSet(func(ds *appsv1.DaemonSet) { ds.Spec.Selector = &metav1.LabelSelector{} })),
		"healthy":             grid("N N"),
		"stuck":               grid("n O", ends("p0", "Error")),
		"going back may help": grid("n n o", ends("p0", "Error"), ends("p1", "Error"), down("n2")),
		"will stop": grid("O O N", down("n0"), daemonSet(func(ds *appsv1.DaemonSet) {
			ds.Status = appsv1.DaemonSetStatus{ObservedGeneration: 2, DesiredNumberScheduled: 3, CurrentNumberScheduled: 3, UpdatedNumberScheduled: 1, NumberReady: 3, NumberAvailable: 3}
		})),
		"no pods": grid("-", edit(func(s *snapshot.Snapshot) { s.Gaps = []snapshot.Gap{{What: snapshot.Pods, Why: snapshot.Forbidden}} })),
		"newer":   grid("N", dstest.Version("v1.40.0")),
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
