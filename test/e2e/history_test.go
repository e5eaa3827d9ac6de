package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// historyAnswer is the part of the JSON contract of a RevisionHistory that these tests use.
type historyAnswer struct {
	Kind                 string
	Revisions            []historyRow
	RevisionHistoryLimit int
	Next                 struct {
		Current []string
		Cut     bool
		Number  int64
		Remove  []struct{ Name, Reason string }
	}
	Uncut    *historyDiff
	Managers []historyManager
	Notes    []historyNote
	Diff     *historyDiff
}

type historyRow struct {
	Revision                 int64
	Name, Hash               string
	CreatedAt, TakenUpAt     *time.Time
	Current, Inferred        bool
	ChangeCause              string
	Nodes, Pods, Available   *int
	OnNodes                  []string
	OldestPodAt, NewestPodAt *time.Time
	From                     int64
	ChangeKind               string
	Change                   []historyField
	Notes                    []string
}

type historyField struct {
	Path, Old, New string
	Hidden         bool
	Kind           string
	Managers       []string
}

type historyDiff struct {
	ChangeKind string
	Change     []historyField
}

type historyManager struct {
	Manager, Operation string
	Time               *time.Time
	Template           bool
}

type historyNote struct {
	Code      string
	Revisions []string
	Facts     map[string]any
}

// historyManifest is the first manifest. Its variables and image may be replaced.
const historyManifest = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {namespace: kube-system, name: node-agent, labels: {app: node-agent}}
spec:
  selector: {matchLabels: {app: node-agent}}
  updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 100%}}
  template:
    metadata:
      labels: {app: node-agent}
      annotations: {example.com/checksum: "17"}
    spec:
      hostNetwork: true
      tolerations: [{operator: Exists}]
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [linux]}]}]
      initContainers:
      - {name: setup, image: "acme/setup:1", command: [cp, -r, /opt/bin, /host], volumeMounts: [{name: host, mountPath: /host}]}
      containers:
      - name: agent
        image: acme/node-agent:1
        env:
        - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
        - {name: TOKEN, value: marker-one}
        ports: [{name: metrics, containerPort: 9100, hostPort: 9100}]
        readinessProbe: {httpGet: {path: /ready, port: metrics}, periodSeconds: 3}
        resources: {requests: {cpu: 100m, memory: 200Mi}, limits: {memory: 1Gi}}
        volumeMounts: [{name: host, mountPath: /host, readOnly: true}]
      - {name: exporter, image: "acme/exporter:1", args: [--listen, ":9101"]}
      volumes: [{name: host, hostPath: {path: /, type: Directory}}]
`

// historyStep is a change to the DaemonSet by a person, with the expected answer.
type historyStep struct {
	name string
	do   func(*historyTest)

	// held is the expected answer before the controller has synced, while it is stopped. If it is
	// empty, it runs.
	held string

	numbers string // of the revisions in the API, oldest first
	newest  string // the newest row; see historyAnswer.newest
	notes   string // see historyAnswer.notes
	takenUp bool   // an old revision becomes current again
}

// marker is the beginning of literal values of variables, which may be secret and must not be
// shown.
const marker = "marker-"

var historySteps = []historyStep{
	{
		name: "created", numbers: "1", newest: "1 First",
		do: func(h *historyTest) {
			h.says(h.kubectl(historyManifest, "apply", "-f", "-"), "daemonset.apps/node-agent created")
		},
	},
	{
		name: "1: the image, and why", numbers: "1 2",
		newest: `
			2 after 1 Template "to 2"
			  spec.containers[name=agent].image "acme/node-agent:1" -> "acme/node-agent:2" by kubectl-set`,
		do: func(h *historyTest) {
			h.kubectl("", "annotate", "ds/node-agent", "kubernetes.io/change-cause=to 2")
			h.kubectl("", "set", "image", "ds/node-agent", "agent=acme/node-agent:2")
		},
	},
	{
		name: "2: variables", numbers: "1 2 3",
		newest: `
			3 after 2 Template "to 2"
			  spec.containers[name=agent].env[name=LOG_LEVEL] -> {"name":"LOG_LEVEL","value":"<hidden>"} by kubectl-set
			  spec.containers[name=agent].env[name=TOKEN].value "<hidden>" -> "<hidden>" by kubectl-set`,
		do: func(h *historyTest) {
			h.kubectl("", "set", "env", "ds/node-agent", "-c", "agent", "LOG_LEVEL="+marker+"debug", "TOKEN="+marker+"two")
		},
	},
	{
		name: "3: resources", numbers: "1 2 3 4",
		newest: `
			4 after 3 Template "more memory"
			  spec.containers[name=agent].resources.limits.memory "1Gi" -> "2Gi" by kubectl-set`,
		do: func(h *historyTest) {
			h.kubectl("", "annotate", "--overwrite", "ds/node-agent", "kubernetes.io/change-cause=more memory")
			h.kubectl("", "set", "resources", "ds/node-agent", "-c", "agent", "--limits=memory=2Gi")
		},
	},
	{
		name: "4: a restart", numbers: "1 2 3 4 5",
		newest: `
			5 after 4 Restart "more memory"
			  metadata.annotations[kubectl.kubernetes.io/restartedAt] -> "TIME" by kubectl-rollout`,
		do: func(h *historyTest) { h.kubectl("", "rollout", "restart", "ds/node-agent") },
	},
	{
		name: "5: a label of the DaemonSet only", numbers: "1 2 3 4 5",
		newest: `
			5 after 4 Restart "more memory"
			  metadata.annotations[kubectl.kubernetes.io/restartedAt] -> "TIME" by kubectl-rollout`,
		do: func(h *historyTest) { h.kubectl("", "label", "ds/node-agent", "team=edge") },
	},
	{
		name: "6: a label of the template", numbers: "1 2 3 4 5 6",
		held: "NotCut number=6",
		newest: `
			6 after 5 Template "more memory"
			  metadata.labels.tier -> "edge" by kubectl-patch`,
		do: func(h *historyTest) {
			h.kubectl("", "patch", "ds/node-agent", "-p", `{"spec":{"template":{"metadata":{"labels":{"tier":"edge"}}}}}`)
		},
	},
	{
		name: "7: a rollback to an old one", numbers: "1 3 4 5 6 7", takenUp: true,
		held: "NumberRaised of 2 from=2 to=7",
		newest: `
			7 after 6 Template "to 2"
			  metadata.annotations[kubectl.kubernetes.io/restartedAt] "TIME" ->
			  metadata.labels.tier "edge" ->
			  spec.containers[name=agent].env[name=LOG_LEVEL] {"name":"LOG_LEVEL","value":"<hidden>"} ->
			  spec.containers[name=agent].env[name=TOKEN].value "<hidden>" -> "<hidden>" by kubectl
			  spec.containers[name=agent].resources.limits.memory "2Gi" -> "1Gi" by kubectl`,
		notes: `
			TakenUpAgain of 7 after=TIME told=ManagedFields was=2
			MissingNumbers numbers=[2] why=TakenUpAgain`,
		do: func(h *historyTest) { h.kubectl("", "rollout", "undo", "ds/node-agent", "--to-revision=2") },
	},
	{
		name: "8: the same rollback again, which kubectl refuses: no revision has this number now", numbers: "1 3 4 5 6 7",
		newest: `
			7 after 6 Template "to 2"
			  metadata.annotations[kubectl.kubernetes.io/restartedAt] "TIME" ->
			  metadata.labels.tier "edge" ->
			  spec.containers[name=agent].env[name=LOG_LEVEL] {"name":"LOG_LEVEL","value":"<hidden>"} ->
			  spec.containers[name=agent].env[name=TOKEN].value "<hidden>" -> "<hidden>" by kubectl
			  spec.containers[name=agent].resources.limits.memory "2Gi" -> "1Gi" by kubectl`,
		notes: `
			TakenUpAgain of 7 after=TIME told=ManagedFields was=2
			MissingNumbers numbers=[2] why=TakenUpAgain`,
		do: func(h *historyTest) {
			h.refused("unable to find specified revision 2 in history", "rollout", "undo", "ds/node-agent", "--to-revision=2")
			// Its stored form has a null that kubectl's template lacks: it sends a patch without
			// effect.
			if !before(34) {
				h.says(h.kubectl("", "rollout", "undo", "ds/node-agent", "--to-revision=7"), "skipped rollback (current template already matches revision 7)")
			}
		},
	},
	{
		name: "8: back again, to the one before", numbers: "1 3 4 5 7 8", takenUp: true,
		newest: `
			8 after 7 Template "more memory"
			  metadata.annotations[kubectl.kubernetes.io/restartedAt] -> "TIME" by kubectl
			  metadata.labels.tier -> "edge" by kubectl
			  spec.containers[name=agent].env[name=LOG_LEVEL] -> {"name":"LOG_LEVEL","value":"<hidden>"} by kubectl
			  spec.containers[name=agent].env[name=TOKEN].value "<hidden>" -> "<hidden>" by kubectl
			  spec.containers[name=agent].resources.limits.memory "1Gi" -> "2Gi" by kubectl`,
		notes: `
			TakenUpAgain of 8 told=ManagedFields was=6
			TakenUpAgain of 7 after=TIME told=ManagedFields was=2
			MissingNumbers numbers=[2 6] why=TakenUpAgain`,
		do: func(h *historyTest) { h.kubectl("", "rollout", "undo", "ds/node-agent") },
	},
	{
		name: "8: the same rollback once more, by its number of now", numbers: "1 3 4 5 8 9", takenUp: true,
		newest: `
			9 after 8 Template "to 2"
			  metadata.annotations[kubectl.kubernetes.io/restartedAt] "TIME" ->
			  metadata.labels.tier "edge" ->
			  spec.containers[name=agent].env[name=LOG_LEVEL] {"name":"LOG_LEVEL","value":"<hidden>"} ->
			  spec.containers[name=agent].env[name=TOKEN].value "<hidden>" -> "<hidden>" by kubectl
			  spec.containers[name=agent].resources.limits.memory "2Gi" -> "1Gi" by kubectl`,
		notes: `
			TakenUpAgain of 9 after=TIME told=ManagedFields was=2
			TakenUpAgain of 8 told=ManagedFields was=0
			MissingNumbers numbers=[2] why=TakenUpAgain
			MissingNumbers numbers=[6-7] why=Unknown`,
		do: func(h *historyTest) { h.kubectl("", "rollout", "undo", "ds/node-agent", "--to-revision=7") },
	},
	{
		name: "9: an apply of what is there already", numbers: "1 3 4 5 8 9",
		newest: `
			9 after 8 Template "to 2"
			  metadata.annotations[kubectl.kubernetes.io/restartedAt] "TIME" ->
			  metadata.labels.tier "edge" ->
			  spec.containers[name=agent].env[name=LOG_LEVEL] {"name":"LOG_LEVEL","value":"<hidden>"} ->
			  spec.containers[name=agent].env[name=TOKEN].value "<hidden>" -> "<hidden>" by kubectl
			  spec.containers[name=agent].resources.limits.memory "2Gi" -> "1Gi" by kubectl`,
		notes: `
			TakenUpAgain of 9 after=TIME told=ManagedFields was=2
			TakenUpAgain of 8 told=ManagedFields was=0
			MissingNumbers numbers=[2] why=TakenUpAgain
			MissingNumbers numbers=[6-7] why=Unknown`,
		do: func(h *historyTest) {
			manifest := strings.ReplaceAll(historyManifest, "node-agent:1", "node-agent:2")
			h.says(h.kubectl(manifest, "apply", "-f", "-"), "daemonset.apps/node-agent configured") // its annotation
			h.says(h.kubectl(manifest, "apply", "-f", "-"), "daemonset.apps/node-agent unchanged")
		},
	},
	{
		name: "10: the strategy only", numbers: "1 3 4 5 8 9",
		newest: `
			9 after 8 Template "to 2"
			  metadata.annotations[kubectl.kubernetes.io/restartedAt] "TIME" ->
			  metadata.labels.tier "edge" ->
			  spec.containers[name=agent].env[name=LOG_LEVEL] {"name":"LOG_LEVEL","value":"<hidden>"} ->
			  spec.containers[name=agent].env[name=TOKEN].value "<hidden>" -> "<hidden>" by kubectl
			  spec.containers[name=agent].resources.limits.memory "2Gi" -> "1Gi" by kubectl`,
		notes: `
			TakenUpAgain of 9 after=TIME told=ManagedFields was=2
			TakenUpAgain of 8 told=ManagedFields was=0
			MissingNumbers numbers=[2] why=TakenUpAgain
			MissingNumbers numbers=[6-7] why=Unknown`,
		do: func(h *historyTest) {
			h.kubectl("", "patch", "ds/node-agent", "-p", `{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":"50%"}}}}`)
		},
	},
	{
		name: "11: a hash collision", numbers: "1 3 4 5 8 9 10",
		newest: `
			10 after 9 Template "more memory"
			  spec.containers[name=agent].image "acme/node-agent:2" -> "acme/node-agent:9" by kubectl-set`,
		notes: `
			TakenUpAgain of 9 after=TIME told=ManagedFields was=2
			TakenUpAgain of 8 told=ManagedFields was=0
			MissingNumbers numbers=[2] why=TakenUpAgain
			MissingNumbers numbers=[6-7] why=Unknown
			HashCollision count=1`,
		do: func(h *historyTest) {
			h.foreignRevision("acme/node-agent:9")
			h.kubectl("", "set", "image", "ds/node-agent", "agent=acme/node-agent:9")
		},
	},
	{
		name: "12: a limit of three revisions", numbers: "5 8 9 10",
		held: `
			RemovedNext of 1 limit=3
			RemovedNext of 3 limit=3
			RemovedNext of 4 limit=3`,
		newest: `
			10 after 9 Template "more memory"
			  spec.containers[name=agent].image "acme/node-agent:2" -> "acme/node-agent:9" by kubectl-set`,
		notes: `
			TakenUpAgain of 9 after=TIME told=ManagedFields was=0
			TakenUpAgain of 8 told=ManagedFields was=0
			MissingNumbers numbers=[6-7] why=Unknown
			RemovedByNextChange of 5 limit=3
			HashCollision count=1`,
		do: func(h *historyTest) {
			h.kubectl("", "patch", "ds/node-agent", "-p", `{"spec":{"revisionHistoryLimit":3}}`)
		},
	},
	{
		name: "one more change pushes out the one that was named", numbers: "8 9 10 11",
		newest: `
			11 after 10 Template "more memory"
			  spec.containers[name=exporter].image "acme/exporter:1" -> "acme/exporter:2" by kubectl-set`,
		notes: `
			TakenUpAgain of 9 after=TIME told=ManagedFields was=0
			TakenUpAgain of 8 told=ManagedFields was=0
			RemovedByNextChange of 8 limit=3
			HashCollision count=1`,
		do: func(h *historyTest) {
			h.kubectl("", "set", "image", "ds/node-agent", "exporter=acme/exporter:2")
		},
	},
}

// TestHistory makes typical changes to a DaemonSet with the real kubectl. After each, the answer
// must contain exactly the revisions in the API with the numbers of kubectl rollout history, and
// the expected newest change and notes. The template of every revision must be that of kubectl and
// must be applicable.
func TestHistory(t *testing.T) {
	t.Parallel()
	if before(25) { // see TestTimesOfWrites
		t.Skip("the managed fields of a server before v1.25 do not tell when a revision got its number")
	}
	ctx := t.Context()
	c := newStage(t, stage.Options{LogSyncs: true})
	must(t, c.AddNodes(ctx, stage.Nodes(3, "node-%02d")...))
	h := &historyTest{T: t, c: c, takenUp: map[string]span{}}
	for _, s := range historySteps {
		h.step(&s)
	}
	if h.templates < 11 || h.fields < 50*h.templates {
		t.Errorf("only %d templates with %d fields were compared", h.templates, h.fields)
	}
	t.Logf("%d templates with %d fields were compared", h.templates, h.fields)
	t.Run("values stay hidden", h.valuesStayHidden)
	t.Run("requests", func(t *testing.T) { historyRequests(t, c) })
	onlyReads(t, c)
}

// valuesStayHidden asks in all ways for revisions that differ in the value of a variable.
func (h *historyTest) valuesStayHidden(t *testing.T) {
	for _, tt := range []struct {
		args  string
		shows bool // --show-values shows a value
	}{
		{"", false},
		{"-o wide", false},
		{"-o json", true},
		{"-o yaml", true},
		{"--revision 9", true},
		{"--diff 8,9", true},
		{"--diff 8,9 -o json", true},
		{"--diff 8,9 --unified", true},
		{"--diff 8,live", true},
		{"--undo 8", false},
		{"--undo 8 -o json", true},
		{"--undo 8 -o yaml", true},
	} {
		t.Run(tt.args, func(t *testing.T) {
			args := slices.Concat([]string{"ds", "history", "-n", "kube-system", "node-agent"}, strings.Fields(tt.args))
			for _, show := range []bool{false, true} {
				if show {
					args = append(args, "--show-values")
				}
				r, err := h.c.KubectlAs(t.Context(), stage.Reader, args...)
				must(t, err)
				shown := strings.Contains(r.Stdout+r.Stderr, marker)
				if r.Code != 0 || r.Stdout == "" || !show && shown || show && tt.shows && !shown {
					t.Errorf("kubectl %s ended with %d\n%s%s", strings.Join(args, " "), r.Code, r.Stdout, r.Stderr)
				}
			}
		})
	}
}

// historyRequests counts the requests of one answer.
func historyRequests(t *testing.T, c *stage.Cluster) {
	asked := requests(t, c, func() {
		answer(t, c, stage.Reader, "ds", "history", "-n", "kube-system", "node-agent")
	})
	// The DaemonSet is read twice; the version is not a resource.
	want := map[string]int{"daemonsets": 2, "pods": 1, "controllerrevisions": 1, "": 1}
	if got := resources(asked); !reflect.DeepEqual(got, want) {
		t.Errorf("%d requests: %v, want %v", len(asked), got, want)
	}
}

// historyTest is the state of TestHistory.
type historyTest struct {
	*testing.T
	c                 *stage.Cluster
	revisions         []appsv1.ControllerRevision // after the last step, newest first
	takenUp           map[string]span             // when a revision became current again
	pushedOut         []string                    // revisions that the next new one was predicted to remove
	templates, fields int                         // number of comparisons
}

// span is the time of an event: between two clock readings.
type span struct{ from, to time.Time }

// step performs a step, waits for the controller, and compares.
func (h *historyTest) step(s *historyStep) {
	ctx := h.Context()
	if s.held != "" {
		must(h.T, h.c.StopProgram(stage.ControllerManager))
	}
	h.nextSecond()
	was, began := h.revisions, time.Now()
	s.do(h)
	var gone []string
	if s.held != "" {
		a := h.answer()
		if held := a.onlyNotes("NotCut", "NumberRaised", "RemovedNext"); held != trimLines(s.held) {
			h.Errorf("%s: while the controller is stopped\n%s\nwant\n%s", s.name, held, trimLines(s.held))
		}
		for _, r := range a.Next.Remove {
			gone = append(gone, r.Name)
		}
		must(h.T, h.c.StartProgram(ctx, stage.ControllerManager))
	}
	revisions := h.settled(s, began)
	if s.takenUp {
		h.takenUp[revisions[0].Name] = span{began.Truncate(time.Second), time.Now()}
	}
	a := h.answer()
	h.compare(s, a, revisions)
	h.compareWithKubectl(s, a)
	h.compareRemovals(s, was, revisions, gone)
	if got, want := a.newest(), trimLines(s.newest); got != want {
		h.Errorf("%s: the newest is\n%s\nwant\n%s", s.name, got, want)
	}
	if got, want := a.notes(), trimLines(s.notes); got != want {
		h.Errorf("%s: notes\n%s\nwant\n%s", s.name, got, want)
	}
	h.pushedOut = a.named("RemovedByNextChange")
	for _, r := range revisions {
		if !contains(was, r.Name, r.Revision) {
			h.compareTemplate(s, r.Revision)
		}
	}
	h.revisions = revisions
}

// settled waits until the controller has synced, the rollout is over and the API has the expected
// revisions, and returns them, newest first.
func (h *historyTest) settled(s *historyStep, since time.Time) []appsv1.ControllerRevision {
	h.Helper()
	ctx := h.Context()
	const namespace, name = "kube-system", "node-agent"
	must(h.T, h.c.WaitFor(ctx, s.name+": the controller to look", func(context.Context) (bool, error) {
		syncs, err := h.c.Syncs(namespace, name)
		looked := slices.ContainsFunc(syncs, func(s stage.Sync) bool { return s.Start.After(since) })
		return looked || strings.HasPrefix(s.name, "8: the same rollback again"), err
	}))
	must(h.T, h.c.WaitRollout(ctx, namespace, name))
	var revisions []appsv1.ControllerRevision
	numbers := ""
	err := h.c.WaitFor(ctx, s.name+": the revisions", func(ctx context.Context) (bool, error) {
		revisions = h.held()
		numbers = ""
		for _, r := range slices.Backward(revisions) {
			numbers += fmt.Sprint(" ", r.Revision)
		}
		numbers = strings.TrimSpace(numbers)
		return numbers == s.numbers, nil
	})
	if err != nil {
		h.Fatalf("%v; there are %s", err, numbers)
	}
	return revisions
}

// nextSecond waits until a second after the last revision was written. Times of the API are whole
// seconds, so revisions of one second cannot be ordered by them.
func (h *historyTest) nextSecond() {
	h.Helper()
	var last time.Time
	for _, r := range h.revisions {
		for _, m := range r.ManagedFields {
			last = later(last, m.Time.Time)
		}
		last = later(last, r.CreationTimestamp.Time)
	}
	must(h.T, h.c.WaitFor(h.Context(), "the next second", func(context.Context) (bool, error) {
		return time.Since(last) > time.Second, nil
	}))
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// held returns the DaemonSet's revisions in the API, newest first.
func (h *historyTest) held() []appsv1.ControllerRevision {
	h.Helper()
	ds, err := h.c.Client.AppsV1().DaemonSets("kube-system").Get(h.Context(), "node-agent", metav1.GetOptions{})
	must(h.T, err)
	list, err := h.c.Client.AppsV1().ControllerRevisions("kube-system").List(h.Context(), metav1.ListOptions{})
	must(h.T, err)
	own := slices.DeleteFunc(list.Items, func(r appsv1.ControllerRevision) bool {
		owner := metav1.GetControllerOf(&r)
		return owner == nil || owner.UID != ds.UID
	})
	slices.SortFunc(own, func(a, b appsv1.ControllerRevision) int { return int(b.Revision - a.Revision) })
	return own
}

// answer returns the answer of history.
func (h *historyTest) answer() *historyAnswer {
	h.Helper()
	out := answer(h.T, h.c, stage.Reader, "ds", "history", "-n", "kube-system", "node-agent", "-o", "json")
	if strings.Contains(out, marker) {
		h.Errorf("the answer shows a literal value of a variable:\n%s", out)
	}
	a := &historyAnswer{}
	must(h.T, json.Unmarshal([]byte(out), a))
	if a.Kind != "RevisionHistory" {
		h.Fatalf("kind %s", a.Kind)
	}
	return a
}

// heldRow is a revision in the API.
type heldRow struct {
	Revision          int64
	Name, Hash, Cause string
	CreatedAt         time.Time
	Current           bool
	Pods              int
}

// compare compares the rows with the API's settled revisions: the newest is current, and all pods
// run it.
func (h *historyTest) compare(s *historyStep, a *historyAnswer, revisions []appsv1.ControllerRevision) {
	h.Helper()
	pods, err := h.c.Pods(h.Context(), "kube-system", "node-agent")
	must(h.T, err)
	var want, got []heldRow
	for i, r := range revisions {
		row := heldRow{
			Revision: r.Revision, Name: r.Name, Hash: r.Labels[appsv1.DefaultDaemonSetUniqueLabelKey],
			Cause: r.Annotations["kubernetes.io/change-cause"], CreatedAt: r.CreationTimestamp.UTC(), Current: i == 0,
		}
		for _, p := range pods {
			if p.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] == row.Hash {
				row.Pods++
			}
		}
		want = append(want, row)
	}
	for _, r := range a.Revisions {
		if r.CreatedAt == nil || r.Pods == nil || r.Nodes == nil || *r.Nodes != *r.Pods {
			h.Fatalf("%s: revision %d lacks a time, or its nodes are not its pods: %+v", s.name, r.Revision, r)
		}
		got = append(got, heldRow{
			Revision: r.Revision, Name: r.Name, Hash: r.Hash, Cause: r.ChangeCause, CreatedAt: r.CreatedAt.UTC(), Current: r.Current, Pods: *r.Pods,
		})
		switch taken, again := h.takenUp[r.Name]; {
		case again != (r.TakenUpAt != nil):
			h.Errorf("%s: revision %d was taken up again: %t; the answer says %v", s.name, r.Revision, again, r.TakenUpAt)
		case again && (r.TakenUpAt.Before(taken.from) || r.TakenUpAt.After(taken.to)):
			h.Errorf("%s: revision %d was taken up again between %s and %s; the answer says %s", s.name, r.Revision, taken.from, taken.to, r.TakenUpAt)
		}
	}
	if !reflect.DeepEqual(got, want) {
		h.Errorf("%s: the rows are\n%+v\nthe API holds\n%+v", s.name, got, want)
	}
	if len(want) == 0 || want[0].Pods != 3 {
		h.Errorf("%s: the newest of %d revisions has not all pods", s.name, len(want))
	}
	h.compareManagers(s, a)
}

// compareManagers compares who wrote the DaemonSet, latest first.
func (h *historyTest) compareManagers(s *historyStep, a *historyAnswer) {
	h.Helper()
	ds, err := h.c.Client.AppsV1().DaemonSets("kube-system").Get(h.Context(), "node-agent", metav1.GetOptions{})
	must(h.T, err)
	text := func(manager, operation string, at time.Time, template bool) string {
		return fmt.Sprintf("%s %s %s %t", at.UTC().Format(time.RFC3339), manager, operation, template)
	}
	var want, got []string
	for _, m := range ds.ManagedFields {
		if m.Subresource == "" {
			want = append(want, text(m.Manager, string(m.Operation), m.Time.Time, strings.Contains(string(m.FieldsV1.GetRawBytes()), `"f:template"`)))
		}
	}
	var last time.Time
	for i, m := range a.Managers {
		if i > 0 && m.Time.After(last) {
			h.Errorf("%s: managers are not in the order of their times: %+v", s.name, a.Managers)
		}
		last = *m.Time
		got = append(got, text(m.Manager, m.Operation, *m.Time, m.Template))
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		h.Errorf("%s: managers\n%s\nthe API has\n%s", s.name, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// compareWithKubectl compares numbers and causes with kubectl rollout history, which lists the
// oldest first.
func (h *historyTest) compareWithKubectl(s *historyStep, a *historyAnswer) {
	h.Helper()
	out := h.kubectl("", "rollout", "history", "ds/node-agent")
	var theirs, ours []string
	for i, line := range strings.Split(strings.TrimSpace(out), "\n") {
		if i >= 2 { // below the name and the columns
			theirs = append(theirs, strings.Join(strings.Fields(line), " "))
		}
	}
	for _, r := range slices.Backward(a.Revisions) {
		cause := r.ChangeCause
		if cause == "" {
			cause = "<none>"
		}
		ours = append(ours, fmt.Sprint(r.Revision, " ", cause))
	}
	if !slices.Equal(ours, theirs) || len(ours) == 0 {
		h.Errorf("%s: ours\n%s\nkubectl's\n%s", s.name, strings.Join(ours, "\n"), out)
	}
}

// compareRemovals checks that exactly the predicted revisions were removed: predicted by the answer
// while the controller was stopped or, if a new one was created, by the answer before.
func (h *historyTest) compareRemovals(s *historyStep, was, now []appsv1.ControllerRevision, said []string) {
	h.Helper()
	var gone []string
	for _, r := range was {
		if !contains(now, r.Name, 0) {
			gone = append(gone, r.Name)
		}
	}
	if len(now)+len(gone) > len(was) {
		said = append(said, h.pushedOut...)
	}
	slices.Sort(gone)
	slices.Sort(said)
	if !slices.Equal(gone, said) {
		h.Errorf("%s: %v went away, said was %v", s.name, gone, said)
	}
}

// contains reports whether there is a revision with that name and, if it is not 0, that number.
func contains(revisions []appsv1.ControllerRevision, name string, number int64) bool {
	return slices.ContainsFunc(revisions, func(r appsv1.ControllerRevision) bool {
		return r.Name == name && (number == 0 || r.Revision == number)
	})
}

// compareTemplate compares the whole template of a revision with kubectl's, field by field, and
// lets the API server validate the printed manifest.
func (h *historyTest) compareTemplate(s *historyStep, number int64) {
	h.Helper()
	n := fmt.Sprint(number)
	ours := answer(h.T, h.c, stage.Reader, "ds", "history", "-n", "kube-system", "node-agent", "--revision", n, "-o", "yaml")
	theirs := templateOf(h.T, h.kubectl("", "rollout", "history", "ds/node-agent", "--revision", n, "-o", "yaml"))
	fields := 0
	for _, d := range fieldsThatDiffer("spec.template", templateOf(h.T, ours), theirs, &fields) {
		h.Errorf("%s: --revision %d: %s", s.name, number, d)
	}
	asJSON := answer(h.T, h.c, stage.Reader, "ds", "history", "-n", "kube-system", "node-agent", "--revision", n, "-o", "json")
	if !json.Valid([]byte(asJSON)) || !reflect.DeepEqual(templateOf(h.T, asJSON), templateOf(h.T, ours)) {
		h.Errorf("%s: --revision %d differs as JSON:\n%s", s.name, number, asJSON)
	}
	h.templates++
	h.fields += fields
	h.kubectl(ours, "apply", "--dry-run=server", "-f", "-")
	// An apply merges, a replace does not: it shows that nothing is missing.
	replaced := templateOf(h.T, h.kubectl(ours, "replace", "--dry-run=server", "-o", "yaml", "-f", "-"))
	if m, ok := replaced.(map[string]any)["metadata"].(map[string]any); ok && before(34) && m["creationTimestamp"] == nil {
		delete(m, "creationTimestamp") // returned as null
	}
	for _, d := range fieldsThatDiffer("spec.template", replaced, theirs, &fields) {
		h.Errorf("%s: --revision %d, as the API server takes it: %s", s.name, number, d)
	}
}

func templateOf(t *testing.T, text string) any {
	t.Helper()
	var ds struct {
		APIVersion, Kind string
		Spec             struct{ Template map[string]any }
	}
	must(t, yaml.Unmarshal([]byte(text), &ds))
	if ds.APIVersion != "apps/v1" || ds.Kind != "DaemonSet" || ds.Spec.Template == nil {
		t.Fatalf("no DaemonSet with a template:\n%s", text)
	}
	return ds.Spec.Template
}

// fieldsThatDiffer compares two JSON values and counts the leaf fields.
func fieldsThatDiffer(path string, ours, theirs any, fields *int) (found []string) {
	switch a := ours.(type) {
	case map[string]any:
		if b, ok := theirs.(map[string]any); ok {
			keys := maps.Clone(a)
			maps.Copy(keys, b)
			for _, key := range slices.Sorted(maps.Keys(keys)) {
				old, has := a[key]
				new, too := b[key]
				if has != too {
					*fields++
					found = append(found, fmt.Sprintf("%s.%s is there: %t, with kubectl %t", path, key, has, too))
					continue
				}
				found = append(found, fieldsThatDiffer(path+"."+key, old, new, fields)...)
			}
			return found
		}
	case []any:
		if b, ok := theirs.([]any); ok && len(a) == len(b) {
			for i := range a {
				found = append(found, fieldsThatDiffer(fmt.Sprintf("%s[%d]", path, i), a[i], b[i], fields)...)
			}
			return found
		}
	}
	*fields++
	if !reflect.DeepEqual(ours, theirs) {
		found = append(found, fmt.Sprintf("%s is %v, with kubectl %v", path, ours, theirs))
	}
	return found
}

// kubectl runs kubectl with a manifest on standard input and returns its output.
func (h *historyTest) kubectl(stdin string, args ...string) string {
	h.Helper()
	out, err := h.run(stdin, args...)
	if err != nil {
		h.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (h *historyTest) run(stdin string, args ...string) (string, error) {
	cmd := h.c.KubectlCommand(h.Context(), stage.Admin, append([]string{"-n", "kube-system"}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// refused runs kubectl, which must fail with that error.
func (h *historyTest) refused(message string, args ...string) {
	h.Helper()
	out, err := h.run("", args...)
	if err == nil {
		h.Fatalf("kubectl %s: no error\n%s", strings.Join(args, " "), out)
	}
	h.says(out, message)
}

func (h *historyTest) says(out, what string) {
	h.Helper()
	if !strings.Contains(out, what) {
		h.Fatalf("kubectl does not say %q but\n%s", what, out)
	}
}

// foreignRevision creates an unowned ControllerRevision with the name that the controller will use
// for a new image. A copy of the DaemonSet in another namespace shows the name, because the hash
// depends only on the template.
func (h *historyTest) foreignRevision(image string) {
	h.Helper()
	ctx := h.Context()
	const twins = "twins"
	live, err := h.c.Client.AppsV1().DaemonSets("kube-system").Get(ctx, "node-agent", metav1.GetOptions{})
	must(h.T, err)
	twin := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: twins, Name: live.Name}, Spec: live.Spec}
	twin.Spec.Template.Spec.Containers[0].Image = image
	must(h.T, h.c.Create(ctx, twin))
	name := ""
	must(h.T, h.c.WaitFor(ctx, "the twin's revision", func(ctx context.Context) (bool, error) {
		list, err := h.c.Client.AppsV1().ControllerRevisions(twins).List(ctx, metav1.ListOptions{})
		if err == nil && len(list.Items) == 1 {
			name = list.Items[0].Name
		}
		return name != "", err
	}))
	must(h.T, h.c.Client.AppsV1().DaemonSets(twins).Delete(ctx, twin.Name, metav1.DeleteOptions{}))
	_, err = h.c.Client.AppsV1().ControllerRevisions("kube-system").Create(ctx, &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Revision: 99, Data: runtime.RawExtension{Raw: []byte(`{"spec":{"template":{"foreign":true}}}`)},
	}, metav1.CreateOptions{})
	must(h.T, err)
}

var anyTime = regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// newest returns the newest row in words: its number, the previous one, the kind of change, the
// cause, and each field.
func (a *historyAnswer) newest() string {
	if len(a.Revisions) == 0 {
		return "none"
	}
	r := a.Revisions[0]
	text := fmt.Sprint(r.Revision)
	if r.From != 0 {
		text += fmt.Sprint(" after ", r.From)
	}
	text += " " + r.ChangeKind
	if r.ChangeCause != "" {
		text += fmt.Sprintf(" %q", r.ChangeCause)
	}
	for _, f := range r.Change {
		line := strings.TrimPrefix(f.Path, "spec.template.")
		if f.Old != "" {
			line += " " + f.Old
		}
		line += " ->"
		if f.New != "" {
			line += " " + f.New
		}
		if len(f.Managers) > 0 {
			line += " by " + strings.Join(f.Managers, ",")
		}
		text += "\n" + anyTime.ReplaceAllString(line, "TIME")
	}
	return text
}

// notes returns all notes, one per line: the code, the numbers of revisions and the facts.
func (a *historyAnswer) notes() string { return a.onlyNotes() }

// onlyNotes returns the notes with these codes, or all.
func (a *historyAnswer) onlyNotes(codes ...string) string {
	var lines []string
	for _, n := range a.Notes {
		if len(codes) > 0 && !slices.Contains(codes, n.Code) {
			continue
		}
		line := n.Code
		for i, name := range n.Revisions {
			line += map[bool]string{true: " of ", false: ","}[i == 0] + a.number(name)
		}
		for _, key := range slices.Sorted(maps.Keys(n.Facts)) {
			line += fmt.Sprintf(" %s=%v", key, n.Facts[key])
		}
		lines = append(lines, anyTime.ReplaceAllString(line, "TIME"))
	}
	return strings.Join(lines, "\n")
}

func (a *historyAnswer) number(name string) string {
	for _, r := range a.Revisions {
		if r.Name == name {
			return fmt.Sprint(r.Revision)
		}
	}
	return name
}

// named returns the revisions of the notes with a code.
func (a *historyAnswer) named(code string) (names []string) {
	for _, n := range a.Notes {
		if n.Code == code {
			names = append(names, n.Revisions...)
		}
	}
	return names
}

// trimLines removes the indentation from the lines of a text in a table.
func trimLines(text string) string {
	var lines []string
	for line := range strings.Lines(strings.TrimSpace(text)) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return strings.Join(lines, "\n")
}
