// Package world creates Snapshots for tests from short YAML texts. It takes a text in the notation
// of the stories in internal/view/testdata, which README.md describes, and returns a Snapshot.
package world

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// world is a text in the notation that README.md describes. Objects are merged into ordinary
// objects of their kind, null removes a field, and "-3d" stands for a time three days before Now.
type world struct {
	Now       string                       `json:"now"`
	Version   string                       `json:"version"`
	DaemonSet map[string]any               `json:"daemonset"`
	Revisions map[int]string               `json:"revisions"`
	Templates map[int]any                  `json:"templates"`
	Stored    map[int]any                  `json:"stored"`
	OtherForm []int                        `json:"otherForm"`
	Uncut     bool                         `json:"uncut"`
	Nodes     map[string]any               `json:"nodes"`
	Pods      map[string]any               `json:"pods"`
	Events    []event                      `json:"events"`
	Budgets   map[string]any               `json:"budgets"`
	Gaps      []snapshot.Gap               `json:"gaps"`
	Admission map[string]any               `json:"admission"`
	Others    map[string][]snapshot.PodRow `json:"others"`

	References *snapshot.References `json:"references"`
	DryRun     *snapshot.PodDryRun  `json:"dryRun"`
	Volumes    *snapshot.Volumes    `json:"volumes"`
	OpenShift  map[string]string    `json:"openShift"`

	Controller map[string]any `json:"controller"`
}

type event struct {
	Pod     string `json:"pod"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	First   string `json:"first"` // default: last
	Last    string `json:"last"`
	Count   int32  `json:"count"`
}

const defaultNow = "2026-11-20T12:00:00Z"

// Parse returns the Snapshot that a text describes.
func Parse(t testing.TB, text string) *snapshot.Snapshot {
	t.Helper()
	w := world{Now: defaultNow, Version: "v1.37.1"}
	check(t, yaml.UnmarshalStrict([]byte(text), &w))
	if w.Revisions == nil {
		w.Revisions = map[int]string{7: "-300d", 8: "-1h"}
	}
	now, err := time.Parse(time.RFC3339, w.Now)
	check(t, err)
	rules, err := daemonset.ForVersion(w.Version)
	check(t, err)
	c := &creator{t: t, now: now, rules: rules}
	s := &snapshot.Snapshot{TakenAt: now, KubernetesVersion: w.Version, VersionSource: snapshot.VersionServer, Gaps: w.Gaps, References: w.References, Volumes: w.Volumes}
	current := slices.Max(slices.AppendSeq([]int{1}, maps.Keys(w.Revisions)))
	s.DaemonSet = c.daemonSet(w.DaemonSet, current)
	for _, n := range slices.Sorted(maps.Keys(w.Revisions)) {
		s.Revisions = append(s.Revisions, c.revision(s.DaemonSet, n, &w, n == current && !w.Uncut))
	}
	for _, key := range slices.Sorted(maps.Keys(w.Nodes)) {
		for _, name := range expand(key) {
			s.Nodes = append(s.Nodes, c.node(name, w.Nodes[key]))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(w.Pods)) {
		for _, k := range expand(key) {
			s.Pods = append(s.Pods, c.pod(s.DaemonSet, k, w.Revisions, w.Pods[key]))
		}
	}
	if w.OpenShift != nil {
		o := &snapshot.OpenShift{Namespace: &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.DaemonSet.Namespace}}, DefaultNodeSelector: w.OpenShift["default"]}
		for key, selector := range w.OpenShift {
			if key != "default" {
				metav1.SetMetaDataAnnotation(&o.Namespace.ObjectMeta, key, selector)
			}
		}
		s.OpenShift = o
		for i := range s.Nodes {
			metav1.SetMetaDataLabel(&s.Nodes[i].ObjectMeta, "node.openshift.io/os_id", "rhcos")
		}
	}
	if w.Admission != nil {
		s.Admission = c.admission(s.DaemonSet.Namespace, w.Admission)
		s.Admission.DryRun = w.DryRun
	}
	if w.Controller != nil {
		s.Controller = &snapshot.ControllerLease{}
		c.merge("exists: true\ndurationSeconds: 15", w.Controller, s.Controller)
	}
	if w.Others != nil {
		s.OtherPods = &snapshot.OtherPods{AllNodes: true}
		for _, node := range slices.Sorted(maps.Keys(w.Others)) {
			for _, name := range expand(node) {
				for i, row := range w.Others[node] {
					row.Node, row.Namespace = name, cmp.Or(row.Namespace, "default")
					row.Name = cmp.Or(row.Name, fmt.Sprintf("other-%d", i)) + "-" + name
					s.OtherPods.Pods = append(s.OtherPods.Pods, row)
				}
			}
		}
	}
	for _, e := range w.Events {
		s.Events = append(s.Events, c.event(s, e))
		if named := &s.Events[len(s.Events)-1]; named.Name == "" {
			named.Name = fmt.Sprintf("event-%d", len(s.Events))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.Budgets)) {
		b := policyv1.PodDisruptionBudget{}
		c.merge("metadata: {namespace: "+s.DaemonSet.Namespace+", name: "+name+"}", map[string]any{"spec": w.Budgets[name]}, &b)
		s.PodDisruptionBudgets = append(s.PodDisruptionBudgets, b)
	}
	check(t, snapshot.Validate(s))
	reportComputed(t, s, w.DaemonSet)
	return s
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var rangePattern = regexp.MustCompile(`\[(\d+)-(\d+)\]`)

// expand returns the names that a name with a range stands for.
func expand(name string) []string {
	m := rangePattern.FindStringSubmatch(name)
	if m == nil {
		return []string{name}
	}
	from, _ := strconv.Atoi(m[1])
	to, _ := strconv.Atoi(m[2])
	var out []string
	for i := from; i <= to; i++ {
		out = append(out, strings.Replace(name, m[0], fmt.Sprintf("%0*d", len(m[1]), i), 1))
	}
	return out
}

// creator creates objects.
type creator struct {
	t     testing.TB
	now   time.Time
	rules daemonset.Profile
}

// bases caches the parsed base objects of merge by their text, because parsing YAML takes most of
// the time. mergePatch does not modify them.
var bases sync.Map

// merge merges a patch into a YAML object and decodes the result. The values are pairs of a placeholder
// in the object's strings and its value, so that the YAML of all objects of a kind is parsed once.
func (c *creator) merge(base string, patch any, into any, values ...string) {
	c.t.Helper()
	o, known := bases.Load(base)
	if !known {
		var read map[string]any
		check(c.t, yaml.Unmarshal([]byte(base), &read))
		o = read
		bases.Store(base, o)
	}
	if len(values) > 0 {
		o = filled(o, strings.NewReplacer(values...))
	}
	raw, err := json.Marshal(c.times(mergePatch(o, patch)))
	check(c.t, err)
	d := json.NewDecoder(bytes.NewReader(raw)) // ten times as fast as YAML
	d.DisallowUnknownFields()
	check(c.t, d.Decode(into))
}

// filled returns a copy of an object in which the replacer has changed each string.
func filled(v any, by *strings.Replacer) any {
	switch v := v.(type) {
	case string:
		return by.Replace(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = filled(v[i], by)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = filled(v[k], by)
		}
		return out
	}
	return v
}

func mergePatch(base, patch any) any {
	p, isMap := patch.(map[string]any)
	if !isMap {
		if patch == nil {
			return base
		}
		return patch
	}
	b, _ := base.(map[string]any)
	out := maps.Clone(b)
	if out == nil {
		out = map[string]any{}
	}
	for k, v := range p {
		if v == nil {
			delete(out, k)
			continue
		}
		out[k] = mergePatch(out[k], v)
	}
	return out
}

var agePattern = regexp.MustCompile(`^([-+]\d+)([smhd])$`)

// times returns the value with every age replaced by a time.
func (c *creator) times(v any) any {
	switch v := v.(type) {
	case string:
		return c.time(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = c.times(v[i])
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k := range v {
			out[k] = c.times(v[k])
		}
		return out
	}
	return v
}

func (c *creator) time(s string) string {
	m := agePattern.FindStringSubmatch(s)
	if m == nil {
		return s
	}
	n, err := strconv.Atoi(m[1])
	check(c.t, err)
	unit := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}[m[2]]
	return c.now.Add(time.Duration(n) * unit).Format(time.RFC3339)
}

func (c *creator) daemonSet(patch map[string]any, current int) *appsv1.DaemonSet {
	ds := &appsv1.DaemonSet{}
	c.merge(fmt.Sprintf(`
metadata:
  namespace: kube-system
  name: agent
  uid: uid-of-agent
  generation: %[1]d
  creationTimestamp: -300d
  annotations: {deprecated.daemonset.template.generation: "%[1]d"}
spec:
  selector: {matchLabels: {app: agent}}
  updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1, maxSurge: 0}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      containers: [{name: agent, image: "example/agent:%[1]d"}]
      tolerations: []
status: {observedGeneration: %[1]d}
`, current), patch, ds)
	return ds
}

func (c *creator) revision(ds *appsv1.DaemonSet, number int, w *world, live bool) appsv1.ControllerRevision {
	r := appsv1.ControllerRevision{}
	c.merge(fmt.Sprintf(`
metadata:
  namespace: %[1]s
  name: %[2]s-%[3]d
  creationTimestamp: %[4]s
  labels: {app: agent, controller-revision-hash: "hash%[3]d"}
  ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: %[2]s, uid: %[5]s, controller: true}]
  managedFields: [{manager: kube-controller-manager, operation: Update, apiVersion: apps/v1, time: %[4]s, fieldsType: FieldsV1, fieldsV1: {"f:revision": {}}}]
revision: %[3]d
`, ds.Namespace, ds.Name, number, w.Revisions[number], ds.UID), w.Stored[number], &r)
	t := ds.Spec.Template.DeepCopy()
	switch patch, given := w.Templates[number]; {
	case given:
		base, err := yaml.Marshal(t)
		check(c.t, err)
		t = &corev1.PodTemplateSpec{}
		c.merge(string(base), patch, t)
	case !live:
		t.Spec.Containers[0].Image = fmt.Sprintf("example/old-agent:%d", number)
	}
	content, err := template.Of(t, c.rules.TemplateWithoutNullTime == slices.Contains(w.OtherForm, number))
	check(c.t, err)
	if r.Data.Raw == nil {
		r.Data.Raw, err = json.Marshal(map[string]any{"spec": map[string]any{"template": content}})
		check(c.t, err)
	}
	return r
}

func (c *creator) node(name string, patch any) corev1.Node {
	n := corev1.Node{}
	c.merge(`
metadata:
  name: $NODE
  creationTimestamp: -300d
  labels: {kubernetes.io/os: linux, kubernetes.io/hostname: $NODE}
status: {conditions: [{type: Ready, status: "True", lastTransitionTime: -300d}]}
`, patch, &n, "$NODE", name)
	return n
}

func (c *creator) pod(ds *appsv1.DaemonSet, key string, revisions map[int]string, patch any) corev1.Pod {
	words := strings.Fields(key)
	node, revision, name := words[0], words[1], ds.Name+"-"+strings.Join(slices.Delete(slices.Clone(words), 1, 2), "-")
	number, err := strconv.Atoi(revision)
	check(c.t, err)
	made := c.time("-10d")
	if age, known := revisions[number]; known {
		made = max(made, c.time(age))
	}
	p := corev1.Pod{}
	c.merge(`
metadata:
  namespace: $NAMESPACE
  name: $NAME
  uid: uid-of-$NAME
  creationTimestamp: $MADE
  labels: {app: agent, controller-revision-hash: "hash$REVISION", pod-template-generation: "$REVISION"}
  ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: $DAEMONSET, uid: $UID, controller: true}]
spec:
  nodeName: $NODE
  containers: [{name: agent, image: "example/agent:$REVISION"}]
  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
    {matchFields: [{key: metadata.name, operator: In, values: [$NODE]}]}]}}}
status:
  phase: Running
  conditions:
  - {type: PodScheduled, status: "True", lastTransitionTime: $MADE}
  - {type: Initialized, status: "True", lastTransitionTime: $MADE}
  - {type: Ready, status: "True", lastTransitionTime: $MADE}
  containerStatuses:
  - {name: agent, image: "example/agent:$REVISION", imageID: "", ready: true, restartCount: 0, state: {running: {startedAt: $MADE}}}
`, patch, &p, "$NAMESPACE", ds.Namespace, "$NAME", name, "$NODE", node, "$REVISION", revision, "$MADE", made,
		"$DAEMONSET", ds.Name, "$UID", string(ds.UID))
	return p
}

func (c *creator) event(s *snapshot.Snapshot, e event) corev1.Event {
	o := corev1.ObjectReference{Kind: "DaemonSet", Namespace: s.DaemonSet.Namespace, Name: s.DaemonSet.Name, UID: s.DaemonSet.UID}
	if e.Pod != "" {
		i := slices.IndexFunc(s.Pods, func(p corev1.Pod) bool { return p.Name == e.Pod })
		if i < 0 {
			c.t.Fatalf("event on %q: there is no such pod", e.Pod)
		}
		o.Kind, o.Name, o.UID = "Pod", s.Pods[i].Name, s.Pods[i].UID
	}
	out := corev1.Event{InvolvedObject: o, Reason: e.Reason, Message: e.Message, Count: max(1, e.Count)}
	last, err := time.Parse(time.RFC3339, c.time(e.Last))
	check(c.t, err)
	out.LastTimestamp.Time, out.FirstTimestamp.Time = last, last
	if e.First != "" {
		out.FirstTimestamp.Time, err = time.Parse(time.RFC3339, c.time(e.First))
		check(c.t, err)
	}
	return out
}

// reportComputed sets the numbers of the status that are not given.
func reportComputed(t testing.TB, s *snapshot.Snapshot, patch map[string]any) {
	t.Helper()
	rules, err := daemonset.ForVersion(s.KubernetesVersion)
	check(t, err)
	st, err := daemonset.New(s, rules)
	check(t, err)
	counts, ok := st.Counts()
	if !ok {
		return
	}
	computed, err := json.Marshal(counts)
	check(t, err)
	check(t, json.Unmarshal(computed, &s.DaemonSet.Status))
	if given, ok := patch["status"]; ok {
		raw, err := json.Marshal(given)
		check(t, err)
		check(t, json.Unmarshal(raw, &s.DaemonSet.Status))
	}
}

// admission returns what decides whether a pod is created in a namespace.
func (c *creator) admission(namespace string, with map[string]any) *snapshot.Admission {
	a := snapshot.Admission{
		Namespace:       &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		ServiceAccounts: []corev1.ServiceAccount{{ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: namespace}}},
	}
	raw, err := json.Marshal(c.times(with))
	check(c.t, err)
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	check(c.t, dec.Decode(&a))
	return &a
}
