package source_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/dump"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// shared is a cluster with pods of other owners.
const shared = `
	ds agent
	ds other
	node n1
	node n2
	pod own app=agent owner=agent node=n1 cpu=1
	pod second app=other owner=other node=n2 cpu=2
	pod web app=web ns=apps node=n1 cpu=100m priority=7 port=8080
	pod db app=db ns=apps node=n2 ending
	pod same app=agent ns=apps node=n2
	pod waits app=web ns=apps node= nominated=n1 cpu=3
	pod free app=web ns=apps node= cpu=3
	pod done app=web ns=apps node=n1 phase=Succeeded
	pod broken app=web ns=apps node=n1 phase=Failed
	pdb web ns=apps selects=web
	pdb also ns=apps selects=web
	pdb unused ns=apps selects=none
	pdb all ns=apps selects=
	pdb elsewhere selects=web
	event e about=DaemonSet/agent
	rev r app=agent owner=agent`

// rowsOf formats an OtherPods.
func rowsOf(o *snapshot.OtherPods) string {
	if o == nil {
		return "none"
	}
	text := "all nodes"
	if !o.AllNodes {
		text = "of " + strings.Join(o.Nodes, " ")
	}
	for _, p := range o.Pods {
		text += fmt.Sprintf("; %s/%s@%s", p.Namespace, p.Name, p.Node)
		if p.Nominated {
			text += " nominated"
		}
		if p.Terminating {
			text += " ends"
		}
		if p.Requests.MilliCPU > 0 {
			text += fmt.Sprintf(" %dm", p.Requests.MilliCPU)
		}
		if p.Priority != 0 {
			text += fmt.Sprintf(" priority %d", p.Priority)
		}
		for _, port := range p.HostPorts {
			text += fmt.Sprintf(" %s:%d", port.Protocol, port.Port)
		}
		if len(p.Budgets) > 0 {
			text += " " + strings.Join(p.Budgets, "+")
		}
	}
	for _, b := range o.Budgets {
		text += fmt.Sprintf("; budget %s/%s allows %d", b.Namespace, b.Name, b.Allowed)
	}
	return text
}

func TestAddOtherPods(t *testing.T) {
	const (
		web     = "; apps/web@n1 100m priority 7 TCP:8080 also+web"
		waits   = "; apps/waits@n1 nominated 3000m also+web"
		budgets = "; budget apps/also allows 1; budget apps/web allows 1"
	)
	for _, tt := range []struct {
		of    []string
		nodes []string
		want  []string
		why   string
	}{
		{
			[]string{"agent"}, nil,
			[]string{"all nodes; apps/db@n2 ends; apps/same@n2" + waits + web + "; kube-system/second@n2 2000m" + budgets},
			"of all nodes: what has ended, what waits for any node, and what the selector takes are no rows",
		},
		{[]string{"agent"}, []string{"n1"}, []string{"of n1" + waits + web + budgets}, "of one node, with what is nominated to it"},
		{[]string{"agent"}, []string{"n2", "n2"}, []string{"of n2; apps/db@n2 ends; apps/same@n2; kube-system/second@n2 2000m"}, "a node twice is a node once; a budget of no row is not kept"},
		{[]string{"agent"}, []string{"n2", "n1"}, []string{"of n1 n2; apps/db@n2 ends; apps/same@n2" + waits + web + "; kube-system/second@n2 2000m" + budgets}, "of two"},
		{[]string{"agent"}, []string{"gone"}, []string{"of gone"}, "a node that is not there has no pods"},
		{[]string{"agent"}, []string{}, []string{"of "}, "no node has none"},
		{
			[]string{"agent", "other"}, []string{"n2", "n1"},
			[]string{
				"of n1 n2; apps/db@n2 ends; apps/same@n2" + waits + web + "; kube-system/second@n2 2000m" + budgets,
				"of n1 n2; apps/db@n2 ends; apps/same@n2" + waits + web + "; kube-system/own@n1 1000m" + budgets,
			},
			"for two DaemonSets the pods of each are other pods to the other",
		},
	} {
		t.Run(tt.why, func(t *testing.T) {
			var first []*snapshot.OtherPods
			for _, from := range sources {
				r := from.open(t, parseWorld(t, shared))
				var read []*snapshot.Snapshot
				for _, name := range tt.of {
					s, err := r.Read(background, source.Ref{Namespace: "kube-system", Name: name})
					if err != nil {
						t.Fatal(err)
					}
					if s.OtherPods != nil {
						t.Fatalf("%s: rows before anybody asked", from.name)
					}
					read = append(read, s)
				}
				got, err := r.AddOtherPods(background, read, tt.nodes)
				if err != nil {
					t.Fatal(err)
				}
				var words []string
				var rows []*snapshot.OtherPods
				for i, s := range got {
					words, rows = append(words, rowsOf(s.OtherPods)), append(rows, s.OtherPods)
					if diff := cmp.Diff(read[i].Gaps, s.Gaps); diff != "" {
						t.Errorf("%s: gaps (-read +got):\n%s", from.name, diff)
					}
					if err := snapshot.Validate(s); err != nil {
						t.Errorf("%s: %v", from.name, err)
					}
				}
				if diff := cmp.Diff(tt.want, words); diff != "" {
					t.Errorf("%s (-want +got):\n%s", from.name, diff)
				}
				if first == nil {
					first = rows
				}
				if diff := cmp.Diff(first, rows, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s differs from the cluster (-cluster +%s):\n%s", from.name, from.name, diff)
				}
			}
		})
	}
}

// TestReleasedPodCountsOnce checks a pod that the DaemonSet owns but does not select. It is a pod in the Snapshot of
// a dump. In the Snapshot of a cluster it is a row, because the cluster cannot see its owner.
func TestReleasedPodCountsOnce(t *testing.T) {
	w := parseWorld(t, "ds agent\nnode n1\npod released owner=agent\npod strange app=agent owner=other\npod web ns=apps node=n2\npdb b selects=x")
	for _, from := range sources {
		r := from.open(t, w)
		s, err := r.Read(background, agent)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.AddOtherPods(background, []*snapshot.Snapshot{s}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for i := range got[0].Pods {
			all = append(all, got[0].Pods[i].Name)
		}
		for i := range got[0].OtherPods.Pods {
			all = append(all, got[0].OtherPods.Pods[i].Name)
		}
		slices.Sort(all)
		if diff := cmp.Diff([]string{"released", "strange", "web"}, all); diff != "" {
			t.Errorf("%s (-want +got):\n%s", from.name, diff)
		}
	}
}

func TestAddOtherPodsAsksFor(t *testing.T) {
	for _, tt := range []struct {
		pods  int
		nodes []string
		all   bool
		want  map[string]int
		why   string
	}{
		{1, []string{}, false, map[string]int{}, "nothing where no node is asked for"},
		{1, []string{"n1"}, false, map[string]int{"pods": 2, "poddisruptionbudgets": 1}, "of one node, its pods and those that are nominated"},
		{1, []string{"n1", "n2", "n1"}, false, map[string]int{"pods": 3, "poddisruptionbudgets": 1}, "of two nodes, one more"},
		{1, strings.Fields("a b c d e f g h i j"), false, map[string]int{"pods": 11, "poddisruptionbudgets": 1}, "of ten"},
		{1, strings.Fields("a b c d e f g h i j k"), false, map[string]int{"pods": 1, "poddisruptionbudgets": 1}, "of more, all in one list"},
		{1200, nil, true, map[string]int{"pods": 3, "poddisruptionbudgets": 1}, "of all, its pages"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			w := parseWorld(t, "ds agent\nds other\nnode n1")
			for i := range tt.pods {
				w = append(w, parseObject(t, strings.Fields(fmt.Sprintf("pod p%04d ns=apps", i))))
			}
			s := newAPIServer(t, w)
			c := newCluster(t, s)
			all, err := c.ReadAll(background, source.Filter{})
			if err != nil {
				t.Fatal(err)
			}
			clear(s.count)
			s.requests = nil
			got, err := c.AddOtherPods(background, all, tt.nodes)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, s.asked()); diff != "" {
				t.Errorf("requests for two DaemonSets (-want +got):\n%s", diff)
			}
			for i := range got {
				if tt.all && len(got[i].OtherPods.Pods) != tt.pods {
					t.Errorf("%d rows, want %d", len(got[i].OtherPods.Pods), tt.pods)
				}
			}
			if len(tt.nodes) == 1 {
				slices.Sort(s.requests)
				want := []string{
					"GET /api/v1/pods?fieldSelector=spec.nodeName%3D%2Cstatus.nominatedNodeName%21%3D%2Cstatus.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed&limit=500",
					"GET /api/v1/pods?fieldSelector=spec.nodeName%3Dn1%2Cstatus.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed&limit=500",
					"GET /apis/policy/v1/poddisruptionbudgets?limit=500",
				}
				if diff := cmp.Diff(want, s.requests); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestAddOtherPodsGaps checks that pods that cannot be read are a gap, and are not treated as absent.
func TestAddOtherPodsGaps(t *testing.T) {
	forbid := func(what string) func(*apiServer, http.ResponseWriter, string, int) bool {
		return func(s *apiServer, w http.ResponseWriter, asked string, _ int) bool {
			return asked == what && s.forbid(w, what)
		}
	}
	for _, tt := range []struct {
		answer func(*apiServer, http.ResponseWriter, string, int) bool
		nodes  []string
		want   string
		gaps   []snapshot.Gap
		why    string
	}{
		{
			forbid("pods"), nil, "none",
			[]snapshot.Gap{{What: snapshot.PodsOfOthers, Why: snapshot.Forbidden, Message: `pods is forbidden: User "jane" cannot do that`}},
			"without the right to list the pods of all namespaces there are no rows",
		},
		{
			forbid("pods"), []string{"n1", "n2"}, "none",
			[]snapshot.Gap{{What: snapshot.PodsOfOthers, Why: snapshot.Forbidden, Message: `pods is forbidden: User "jane" cannot do that`}},
			"and one gap for all nodes",
		},
		{
			func(s *apiServer, w http.ResponseWriter, what string, n int) bool {
				return what == "pods" && n == 2 && s.forbid(w, what)
			},
			[]string{"n1", "n2"}, "none",
			[]snapshot.Gap{{What: snapshot.PodsOfOthers, Why: snapshot.Forbidden, Message: `pods is forbidden: User "jane" cannot do that`}},
			"a part of the nodes is no answer",
		},
		{
			forbid("poddisruptionbudgets"), []string{"n1"}, "of n1; apps/waits@n1 nominated 3000m; apps/web@n1 100m priority 7 TCP:8080",
			[]snapshot.Gap{{What: snapshot.BudgetsOfOthers, Why: snapshot.Forbidden, Message: `poddisruptionbudgets is forbidden: User "jane" cannot do that`}},
			"without PodDisruptionBudgets the rows are there",
		},
		{
			func(_ *apiServer, w http.ResponseWriter, what string, _ int) bool { return what == "pods" && cut(w) },
			nil, "none",
			[]snapshot.Gap{{What: snapshot.PodsOfOthers, Why: snapshot.Failed, Message: "the connection was closed before the end of the answer"}},
			"a connection that ends in the middle",
		},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := newAPIServer(t, parseWorld(t, shared))
			c := newCluster(t, s)
			read, err := c.Read(background, agent)
			if err != nil {
				t.Fatal(err)
			}
			clear(s.count)
			s.answer = tt.answer
			got, err := c.AddOtherPods(background, []*snapshot.Snapshot{read}, tt.nodes)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, rowsOf(got[0].OtherPods)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.gaps, got[0].Gaps); diff != "" {
				t.Errorf("gaps (-want +got):\n%s", diff)
			}
			s.answer = nil
			if again, err := c.AddOtherPods(background, got, tt.nodes); err != nil || len(again[0].Gaps) > 0 || again[0].OtherPods == nil {
				t.Errorf("read again: %v, gaps %v", err, again[0].Gaps)
			}
		})
	}
}

// TestOtherPodsMoved checks that a list is read although its pages expire, and is reported as inconsistent.
func TestOtherPodsMoved(t *testing.T) {
	w := parseWorld(t, "ds agent\nnode n1")
	for i := range 600 {
		w = append(w, parseObject(t, strings.Fields(fmt.Sprintf("pod p%04d ns=apps", i))))
	}
	s := newAPIServer(t, w)
	c := newCluster(t, s)
	read, err := c.Read(background, agent)
	if err != nil {
		t.Fatal(err)
	}
	clear(s.count)
	s.answer = func(s *apiServer, w http.ResponseWriter, what string, n int) bool {
		if what == "pods" && n == 2 {
			s.expire(w, http.StatusGone, metav1.StatusReasonExpired, "too old", "from-499")
		}
		return what == "pods" && n == 2
	}
	got, err := c.AddOtherPods(background, []*snapshot.Snapshot{read}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []snapshot.Gap{{What: snapshot.PodsOfOthers, Why: snapshot.Moved, Message: "page 2 was read later than the pages before it, because their token had expired"}}
	if diff := cmp.Diff(want, got[0].Gaps); diff != "" || got[0].OtherPods == nil || len(got[0].OtherPods.Pods) != 600 {
		t.Errorf("%d rows (-want +got):\n%s", len(got[0].OtherPods.Pods), diff)
	}
}

// TestBoundMeanwhile checks that a pod that is bound between two requests becomes one row, on its node.
func TestBoundMeanwhile(t *testing.T) {
	s := newAPIServer(t, parseWorld(t, shared))
	c := newCluster(t, s)
	read, err := c.Read(background, agent)
	if err != nil {
		t.Fatal(err)
	}
	s.answer = func(s *apiServer, _ http.ResponseWriter, what string, _ int) bool {
		for _, o := range s.world {
			if p, ok := o.(*corev1.Pod); ok && p.Name == "waits" {
				if p.Spec.NodeName = "n1"; strings.Contains(s.requests[len(s.requests)-1], "nominated") {
					p.Spec.NodeName = ""
				}
			}
		}
		return false
	}
	got, err := c.AddOtherPods(background, []*snapshot.Snapshot{read}, []string{"n1"})
	if err != nil {
		t.Fatal(err)
	}
	if want := "of n1; apps/waits@n1 3000m also+web; apps/web@n1 100m priority 7 TCP:8080 also+web; budget apps/also allows 1; budget apps/web allows 1"; rowsOf(got[0].OtherPods) != want {
		t.Errorf("%s, want %s", rowsOf(got[0].OtherPods), want)
	}
}

// TestDumpHasOtherPods checks the conditions under which a dump is assumed to contain the pods of other owners.
func TestDumpHasOtherPods(t *testing.T) {
	const own = "ds agent\nnode n1\npod own app=agent owner=agent\n"
	gap := func(what snapshot.What, message string) snapshot.Gap {
		return snapshot.Gap{What: what, Why: snapshot.NotGiven, Message: message}
	}
	noBudgets := gap(snapshot.BudgetsOfOthers, "the input holds no PodDisruptionBudget")
	for _, tt := range []struct {
		world string
		want  string
		gaps  []snapshot.Gap
		why   string
	}{
		{own + "pod web ns=apps node=n1\npdb b ns=apps selects=x", "all nodes; apps/web@n1", nil, "pods of two namespaces"},
		{own + "pod web ns=apps node=n1", "all nodes; apps/web@n1", []snapshot.Gap{noBudgets}, "without any PodDisruptionBudget the rows are there"},
		{own + "pod web ns=apps phase=Succeeded\npdb b selects=x", "all nodes", nil, "whatever they are"},
		{own + "pod other app=b owner=b node=n1\npdb b selects=x", "none", []snapshot.Gap{gap(snapshot.PodsOfOthers, "the input holds pods of namespace kube-system only")}, "pods of one namespace may be those of -n"},
		{own + "pdb b selects=x", "none", []snapshot.Gap{gap(snapshot.PodsOfOthers, "the input holds pods of namespace kube-system only")}, "or those of one DaemonSet"},
		{"ds agent\nnode n1\npdb b selects=x", "none", []snapshot.Gap{gap(snapshot.PodsOfOthers, "the input holds no Pod")}, "no pods at all"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			d := openText(t, "dump.yaml", asYAML(t, mixedList(parseWorld(t, tt.world))))
			s, err := d.Read(background, agent)
			if err != nil {
				t.Fatal(err)
			}
			got, err := d.AddOtherPods(background, []*snapshot.Snapshot{s}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, rowsOf(got[0].OtherPods)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.gaps, gapsOf(got[0], snapshot.FitWhats)); diff != "" {
				t.Errorf("gaps (-want +got):\n%s", diff)
			}
		})
	}
}

// gapsOf returns the gaps of these parts.
func gapsOf(s *snapshot.Snapshot, parts []snapshot.What) (out []snapshot.Gap) {
	for _, g := range s.Gaps {
		if slices.Contains(parts, g.What) {
			out = append(out, g)
		}
	}
	return out
}

// recorded returns a Dump of a recorded Snapshot.
func recorded(t *testing.T, s *snapshot.Snapshot) *dump.Dump {
	t.Helper()
	raw, err := snapshot.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	d, err := dump.ReadFiles(background, []string{source.StandardInput}, bytes.NewReader(raw), func() time.Time { return noon }, dump.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestRecordedRows checks that a recorded Snapshot returns what was recorded, and a gap for what was not.
func TestRecordedRows(t *testing.T) {
	c := newCluster(t, newAPIServer(t, parseWorld(t, shared)))
	plain, err := c.Read(background, agent)
	if err != nil {
		t.Fatal(err)
	}
	with := func(nodes []string) *snapshot.Snapshot {
		got, err := c.AddOtherPods(background, []*snapshot.Snapshot{plain}, nodes)
		if err != nil {
			t.Fatal(err)
		}
		return got[0]
	}
	notOf := func(message string) []snapshot.Gap {
		return []snapshot.Gap{{What: snapshot.PodsOfOthers, Why: snapshot.NotGiven, Message: message}}
	}
	failed := plain.Holding(nil, []snapshot.Gap{{What: snapshot.PodsOfOthers, Why: snapshot.Forbidden, Message: "no"}})
	for _, tt := range []struct {
		recorded *snapshot.Snapshot
		nodes    []string
		want     *snapshot.OtherPods
		gaps     []snapshot.Gap
		why      string
	}{
		{with(nil), nil, with(nil).OtherPods, nil, "all of all"},
		{with(nil), []string{"n1"}, with([]string{"n1"}).OtherPods, nil, "of all, those of one, as a cluster would give them"},
		{with([]string{"n1"}), []string{"n1"}, with([]string{"n1"}).OtherPods, nil, "of one node"},
		{with([]string{"n1"}), []string{"n2"}, with([]string{"n1"}).OtherPods, notOf("the snapshot was recorded with those of some nodes only"), "of another node"},
		{with([]string{"n1"}), nil, with([]string{"n1"}).OtherPods, notOf("the snapshot was recorded with those of some nodes only"), "of one node of all"},
		{plain, nil, nil, notOf("the snapshot was recorded without them"), "recorded without them"},
		{failed, nil, nil, []snapshot.Gap{{What: snapshot.PodsOfOthers, Why: snapshot.Forbidden, Message: "no"}}, "they could not be read then"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			d := recorded(t, tt.recorded)
			s, err := d.Read(background, agent)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(plain, s, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("before anybody asks it is as it was without (-without +read):\n%s", diff)
			}
			got, err := d.AddOtherPods(background, []*snapshot.Snapshot{s}, tt.nodes)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(plain.Holding(tt.want, tt.gaps), got[0], cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}

	d := recorded(t, with(nil))
	s, err := d.ReadFor(background, newOne())
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.AddOtherPods(background, []*snapshot.Snapshot{s}, nil)
	if err != nil {
		t.Fatal(err)
	}
	text := rowsOf(got[0].OtherPods)
	for _, name := range []string{"own", "second"} {
		if !strings.Contains(text, "kube-system/"+name+"@") {
			t.Errorf("for a DaemonSet that is new the pods of the recorded one are others: %s lacks %s", text, name)
		}
	}
}

// TestRecordedRowsOfSomeNodes checks that the recorded DaemonSet's pods become rows only on the requested nodes.
func TestRecordedRowsOfSomeNodes(t *testing.T) {
	c := newCluster(t, newAPIServer(t, parseWorld(t, shared)))
	read, err := c.Read(background, agent)
	if err != nil {
		t.Fatal(err)
	}
	for nodes, want := range map[string]string{"n2": "of n2; apps/db@n2 ends; apps/same@n2; kube-system/second@n2 2000m", "n3": "of n3"} {
		some, err := c.AddOtherPods(background, []*snapshot.Snapshot{read}, []string{nodes})
		if err != nil {
			t.Fatal(err)
		}
		d := recorded(t, some[0])
		s, err := d.ReadFor(background, newOne())
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.AddOtherPods(background, []*snapshot.Snapshot{s}, []string{nodes})
		if err != nil {
			t.Fatal(err)
		}
		if rowsOf(got[0].OtherPods) != want {
			t.Errorf("%s, want %s", rowsOf(got[0].OtherPods), want)
		}
	}
}

// TestNothingElseOfOtherPods checks that only the row of another pod is kept and recorded.
func TestNothingElseOfOtherPods(t *testing.T) {
	w := parseWorld(t, shared)
	for _, o := range w {
		if p, ok := o.(*corev1.Pod); ok && p.Namespace == "apps" {
			p.Labels["private"] = "label-value"
			p.Annotations = map[string]string{"private": "annotation-value"}
			p.Spec.Containers[0].Image, p.Spec.Containers[0].Args = "private-image", []string{"private-arg"}
			p.Status.Message = "private message"
		}
	}
	for _, from := range sources {
		r := from.open(t, w)
		s, err := r.Read(background, agent)
		if err != nil {
			t.Fatal(err)
		}
		all, err := r.AddOtherPods(background, []*snapshot.Snapshot{s}, nil)
		if err != nil {
			t.Fatal(err)
		}
		redacted, err := snapshot.HideValues(all[0], []byte("key"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(all[0].OtherPods, redacted.OtherPods); diff != "" || all[0].OtherPods == nil {
			t.Errorf("rows hold nothing to hide (-read +redacted):\n%s", diff)
		}
		raw, err := snapshot.Encode(redacted)
		if err != nil {
			t.Fatal(err)
		}
		for _, gone := range []string{"private", "label-value", "annotation-value", "hidden"} {
			if bytes.Contains(raw, []byte(gone)) {
				t.Errorf("%s: the snapshot holds %q of a pod of others", from.name, gone)
			}
		}
		if !bytes.Contains(raw, []byte(`"name":"web"`)) {
			t.Errorf("%s: no row", from.name)
		}
	}
}

// TestRowsAgree checks that a dump and a cluster give the same rows for random pods, for all nodes and for some of
// them, and that the recorded Snapshot gives them again.
func TestRowsAgree(t *testing.T) {
	rows := 0
	for seed := range cases.Of(30) {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		pick := func(of ...string) string { return of[r.IntN(len(of))] }
		text := "ds agent\nds other\nnode n1\nnode n2\nnode n3\npod a ns=apps\npod b ns=kube-system\npdb z ns=none selects=z\n"
		for i := range r.IntN(40) {
			app := pick("agent", "other", "web", "db")
			owner := app
			text += fmt.Sprintf("pod p%d ns=%s app=%s node=%s nominated=%s cpu=%s priority=%s port=%s phase=%s", i, pick("kube-system", "apps", "batch"), app,
				pick("n1", "n2", "n3", ""), pick("", "", "n1", "n2"), pick("100m", "2", "0"), pick("0", "7", "-3"), pick("0", "8080"), pick("Running", "Pending", "Succeeded", "Failed"))
			if r.IntN(2) == 0 {
				text += " owner=" + owner
			}
			if r.IntN(5) == 0 {
				text += " ending"
			}
			text += "\n"
		}
		for i := range r.IntN(5) {
			text += fmt.Sprintf("pdb b%d ns=%s selects=%s\n", i, pick("kube-system", "apps"), pick("web", "db", "other", "", "?"))
		}
		var nodes []string
		if r.IntN(2) == 0 {
			nodes = [][]string{{"n1"}, {"n3", "n1"}, {}, {"gone"}}[r.IntN(4)]
		}
		w := parseWorld(t, text)
		var first []*snapshot.OtherPods
		for _, origin := range sources[:3] {
			from := origin.open(t, w)
			all, err := from.ReadAll(background, source.Filter{})
			if err != nil {
				t.Fatal(err)
			}
			if all, err = from.AddOtherPods(background, all, nodes); err != nil {
				t.Fatal(err)
			}
			var got []*snapshot.OtherPods
			for _, s := range all {
				got = append(got, s.OtherPods)
				rows += len(s.OtherPods.Pods)
				raw, err := snapshot.Encode(s)
				if err != nil {
					t.Fatal(err)
				}
				again, err := snapshot.Decode(raw)
				if err != nil {
					t.Fatalf("seed %d, %s: %v", seed, origin.name, err)
				}
				if diff := cmp.Diff(s.OtherPods, again.OtherPods, cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("seed %d, %s: recorded (-read +recorded):\n%s", seed, origin.name, diff)
				}
			}
			if first == nil {
				first = got
			}
			if diff := cmp.Diff(first, got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("seed %d, nodes %v: %s differs from the cluster (-cluster +%s):\n%s\n%s", seed, nodes, origin.name, origin.name, diff, text)
			}
		}
	}
	if rows < cases.Least(500) {
		t.Errorf("only %d rows", rows)
	}
}
