package view

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest/world"
	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/nodenames"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan/follow"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// TestLiveScreens runs the stories in testdata/live. Each has a world, earlier events and the expected screens for
// several terminal sizes. The shell uses one line of a terminal.
func TestLiveScreens(t *testing.T) { runStories[liveStory](t, "testdata/live/*.txtar") }

type liveStory struct {
	s        *snapshot.Snapshot
	happened []happened
}

// happened is a batch of the controller in a story. Of is the number of pods that it chose from. Predicted is the
// number of predicted pods, if that differs from the actual one.
type happened struct {
	Ago       string   `json:"ago"`
	Created   []string `json:"created"`
	Deleted   []string `json:"deleted"`
	Of        int      `json:"of"`
	Predicted *int     `json:"predicted"`
}

func (a *liveStory) take(t *testing.T, name, data string) bool {
	switch name {
	case "world":
		a.s = world.Parse(t, data)
	case "happened":
		check(t, yaml.UnmarshalStrict([]byte(data), &a.happened))
	default:
		return false
	}
	return true
}

// ask renders "live WIDTHxHEIGHT".
func (a *liveStory) ask(t *testing.T, question string) (string, int) {
	t.Helper()
	var width, height int
	style, _ := options(t, strings.Fields(question)[1:], func(word, _ string) int {
		n, _ := fmt.Sscanf(word, "%dx%d", &width, &height)
		return n / 2
	})
	style.Width = width
	var b bytes.Buffer
	check(t, LiveScreen(&b, a.live(t), askable, style, height-1))
	return visible(b.String()), height - 1
}

func (a *liveStory) live(t *testing.T) *Live {
	l := liveOf(t, a.s)
	for _, h := range a.happened {
		ago, err := time.ParseDuration(h.Ago)
		check(t, err)
		e := Event{Happening: follow.Happening{At: a.s.TakenAt.Add(-ago), Kind: follow.AsPredicted,
			Creates: items(h.Created...), Deletes: items(h.Deleted...)}}
		e.Expected.Creates, e.Expected.Deletes = len(h.Created), len(h.Deleted)
		if h.Predicted != nil {
			e.Kind, e.Expected.Creates, e.Expected.Deletes = follow.Otherwise, min(*h.Predicted, len(h.Created)),
				min(*h.Predicted, len(h.Deleted))
		}
		e.Expected.CreatesOf, e.Expected.DeletesOf = max(h.Of, e.Expected.Creates), max(h.Of, e.Expected.Deletes)
		l.Last = append(l.Last, e)
	}
	l.Progress.Batches, l.Progress.AsPredicted = len(l.Last), len(l.Last)
	return l
}

// liveOf returns a Live, as the command builds it. In a cluster, every event has a name.
func liveOf(t *testing.T, s *snapshot.Snapshot) *Live {
	t.Helper()
	named := *s
	named.Events = slices.Clone(s.Events)
	for i := range named.Events {
		named.Events[i].Name = fmt.Sprintf("event-%04d", i)
	}
	s = &named
	p, err := follow.NewFollower(stateOf(t, s), plan.Options{}).Progress(s.TakenAt)
	check(t, err)
	return &Live{Progress: p, Now: explain.Explain(p.State, explain.Options{Outlook: p.Outlook})}
}

// liveWorlds returns the worlds of the live stories. It reads them once.
func liveWorlds(t *testing.T) []askedWorld {
	if liveRead == nil {
		for _, name := range []string{"stuck", "healthy", "surge", "thousand"} {
			liveRead = append(liveRead, askedWorld{name: name, s: storyOf(t, name).s})
		}
	}
	return liveRead
}

var liveRead []askedWorld

func verdictOf(text string) string {
	verdict, _, _ := strings.Cut(text, "  ")
	return verdict
}

// TestLiveAgrees checks that the live screen, explain and the plan agree at each moment. The live screen has the
// verdict of explain. If the plan completes, it is not stuck. If it shows the time of completion, the plan completes.
func TestLiveAgrees(t *testing.T) {
	idle, stuck := 0, 0
	for _, w := range append(everyWorld(t, 60), liveWorlds(t)...) {
		l := liveOf(t, w.s)
		var live, still bytes.Buffer
		e := explained(t, w.s, explain.Options{})
		check(t, LiveScreen(&live, l, askable, wording.Style{}, 0))
		check(t, Explanation(&still, e, askable, wording.Style{}))
		if a, b := verdictOf(live.String()), verdictOf(still.String()); a != b {
			t.Errorf("%s: the live screen says %s, explain %s", w.name, a, b)
		}
		p, err := world.Plan(w.s, nil, plan.Options{})
		check(t, err)
		switch o := l.Progress.Outcome; {
		case o.Code != p.Outcome.Code && o.Code != plan.NotRolling:
			t.Errorf("%s: followed, it is %s, the plan says %s", w.name, o.Code, p.Outcome.Code)
		case e.Verdict.Code == explain.Stuck && o.Code == plan.Completes && e.Next.Error == nil:
			// a step that fails until a pod is garbage-collected
			t.Errorf("%s: stuck, and it completes", w.name)
		}
		if strings.Contains(live.String(), "\nOutlook   complete ") && p.Outcome.Code != plan.Completes {
			t.Errorf("%s: the plan is %s:\n%s", w.name, p.Outcome.Code, &live)
		}
		if head, _, _ := strings.Cut(live.String(), "\n"); strings.Contains(head, "no progress for") {
			idle++
			if strings.Contains(live.String(), "\nOutlook   complete ") &&
				!strings.Contains(live.String(), " Ready, else ") {
				t.Errorf("%s: nothing moves, and it says when it is complete, whoever becomes Ready:\n%s",
					w.name, &live)
			}
		}
		stuck += b2i(e.Verdict.Code == explain.Stuck)
	}
	if idle == 0 || stuck == 0 {
		t.Errorf("%d make no progress, %d are stuck", idle, stuck)
	}
}

// TestLiveCountsAddUp checks that the legend of the map counts every eligible node once, and that the map has the
// corresponding number of marks.
func TestLiveCountsAddUp(t *testing.T) {
	each := regexp.MustCompile(`a mark stands for (\d+) nodes`)
	for _, w := range append(everyWorld(t, 30), liveWorlds(t)...) {
		l := liveOf(t, w.s)
		for _, width := range []int{80, 160} {
			for _, lines := range []int{100, 12, 7, 4} {
				m := nodenames.New(l.Progress.Nodes, "revision 1", width)
				total, marked, per := 0, 0, 1
				rows, _ := m.Legend()
				for _, r := range rows {
					n := 0
					fmt.Sscan(r.Count, &n)
					total += n
				}
				if st := l.Progress.State; total != len(l.Progress.Nodes) || st.NodesRead && st.PodsRead &&
					total != st.Desired {
					t.Fatalf("%s: the legend counts %d nodes", w.name, total)
				}
				drawn := m.Draw(lines)
				if len(drawn) > lines {
					t.Fatalf("%s: %d lines, %d were asked for", w.name, len(drawn), lines)
				}
				for _, line := range drawn {
					for _, part := range line {
						if m := each.FindStringSubmatch(part.Text); m != nil {
							fmt.Sscan(m[1], &per)
						}
						if len(part.Text) == 1 && strings.Contains("#*+-_!x.", part.Text) {
							marked++
						}
					}
				}
				if marked -= len(rows); drawn != nil && marked > 0 && (marked*per < total || (marked-1)*per >= total) {
					t.Errorf("%s: %d marks for %d nodes each, of %d", w.name, marked, per, total)
				}
			}
		}
	}
}

// TestClockRange checks the time of day at which a rollout completes.
func TestClockRange(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 7, 24, 0, time.UTC)
	for _, tt := range []struct {
		from, to  float64
		want, why string
	}{
		{180, 290, "between 12:10 and 12:12", "to the minute"},
		{200, 215, "at 12:10", "the same minute"},
		{20, 90, "between 12:07:44 and 12:08:54", "soon: to the second"},
		{20, 20, "at 12:07:44", "a time that was said"},
		{3600, 20 * 3600, "between Nov 20 13:07 and Nov 21 08:07", "another day"},
	} {
		if got := clockRange(at, &plan.Duration{Optimistic: tt.from, Pessimistic: tt.to}); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.why, got, tt.want)
		}
	}
}

// TestLastEvents checks that each event is shown with its prediction.
func TestLastEvents(t *testing.T) {
	expected := func(kind follow.HappeningKind, creates, createsOf, deletes, deletesOf int, h follow.Happening) Event {
		h.Kind, h.At = kind, fourOClock
		h.Expected.Creates, h.Expected.CreatesOf, h.Expected.Deletes, h.Expected.DeletesOf = creates, createsOf,
			deletes, deletesOf
		return Event{Happening: h}
	}
	for _, tt := range []struct {
		e         Event
		want, why string
	}{
		{expected(follow.AsPredicted, 0, 0, 2, 10, follow.Happening{Deletes: items("n1/p1", "n2/p2")}),
			"16:04:11  deleted 2  n1, n2  as predicted: any 2 of 10", "a choice of the controller"},
		{expected(follow.AsPredicted, 1, 1, 0, 0, follow.Happening{Creates: items("n1")}),
			"16:04:11  created 1  n1  as predicted", "no choice"},
		{expected(follow.AsPredicted, 1, 1, 1, 1, follow.Happening{Creates: items("n1"), Deletes: items("n2/p2")}),
			"16:04:11  deleted 1  n2  as predicted\n                    created 1  n1  as predicted",
			"both in one step"},
		{expected(follow.Otherwise, 0, 0, 0, 0, follow.Happening{Deletes: items("n1/p1")}),
			"16:04:11  deleted 1  n1  not predicted", "a deletion by another client"},
		{expected(follow.Otherwise, 0, 0, 3, 10, follow.Happening{Deletes: items("n1/p1")}),
			"16:04:11  deleted 1  n1  predicted: any 3 of 10", "fewer than predicted"},
		{expected(follow.Otherwise, 0, 0, 3, 3, follow.Happening{Deletes: items("n1/p1")}),
			"16:04:11  deleted 1  n1  predicted: 3", "fewer than predicted, without a choice"},
		{expected(follow.Evicted, 0, 0, 0, 0, follow.Happening{Deletes: items("n1/p1"), By: "EvictionByEvictionAPI"}),
			"16:04:11  evicted  n1  EvictionByEvictionAPI", "an eviction names its client"},
		{expected(follow.Changed, 0, 0, 0, 0, follow.Happening{Generation: 7}),
			"16:04:11  changed  the DaemonSet, to generation 7", "a second change half-way"},
		{expected(follow.Unjudged, 0, 0, 0, 0, follow.Happening{Creates: items("n1")}),
			"16:04:11  created  n1  no prediction without nodes", "without nodes"},
		{Event{Happening: follow.Happening{At: fourOClock}, Words: "changes of pods arrive again"},
			"16:04:11  watching  changes of pods arrive again", "a message about the watch"},
	} {
		var s screen.Screen
		var b bytes.Buffer
		s.Add(screen.Last, lastEvents([]Event{tt.e}, 3))
		check(t, s.Text(&b, screen.Terminal{}))
		if diff := cmp.Diff("Last      "+tt.want+"\n", strings.TrimLeft(b.String(), "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
}

// TestCompareNames checks that numbers at the end of names are compared by value.
func TestCompareNames(t *testing.T) {
	sorted := []string{"a", "a-2", "a-10", "a-011", "b-1"}
	for seed := range 10 {
		mixed := slices.Clone(sorted)
		for i := range mixed {
			j := (i*7 + seed) % len(mixed)
			mixed[i], mixed[j] = mixed[j], mixed[i]
		}
		slices.SortFunc(mixed, nodenames.CompareNames)
		if !slices.Equal(mixed, sorted) {
			t.Fatalf("%v", mixed)
		}
	}
}

// TestDeletedScreen checks that the screen of a deleted DaemonSet says only that.
func TestDeletedScreen(t *testing.T) {
	l := liveOf(t, storyOf(t, "healthy").s)
	l.Progress.End = follow.EndGone
	var b bytes.Buffer
	check(t, LiveScreen(&b, l, askable, wording.Style{Width: 80}, 23))
	if want := "DELETED  kube-system/node-agent: the DaemonSet was deleted              12:07:24\n"; b.String() != want {
		t.Errorf("%q", &b)
	}
}

// storyOf reads the world and the events of a live story.
func storyOf(t *testing.T, name string) *liveStory {
	t.Helper()
	return storyIn(t, "testdata/live/"+name+".txtar")
}

// storyIn reads the world and the events from the file of a story.
func storyIn(t *testing.T, file string) *liveStory {
	t.Helper()
	story, err := txtar.ParseFile(file)
	check(t, err)
	a := &liveStory{}
	for _, f := range story.Files {
		_ = a.take(t, f.Name, string(f.Data))
	}
	return a
}

// TestWatchPage checks that docs/watch.md shows the screens of the stories, each on two terminals, and that it lists
// the details that a small terminal leaves out.
func TestWatchPage(t *testing.T) {
	const page = "../../docs/watch.md"
	raw, err := os.ReadFile(page)
	check(t, err)
	block := regexp.MustCompile("<!-- live: (\\w+) (\\w+) -->\n```text\n(?s:.*?)```\n")
	shown := 0
	rewritten := block.ReplaceAllStringFunc(string(raw), func(old string) string {
		m := block.FindStringSubmatch(old)
		answer, _ := storyOf(t, m[1]).ask(t, "live "+m[2])
		shown++
		return fmt.Sprintf("<!-- live: %s %s -->\n```text\n%s```\n", m[1], m[2], answer)
	})
	if *update {
		check(t, os.WriteFile(page, []byte(rewritten), 0o644))
	} else if diff := cmp.Diff(string(raw), rewritten); diff != "" {
		t.Errorf("go test ./internal/view -update rewrites it (-page +got):\n%s", diff)
	}
	if listed := len(regexp.MustCompile(`(?m)^\d+\. `).FindAllString(string(raw), -1)); listed != len(shorteningSteps) {
		t.Errorf("the page lists %d things that a small terminal leaves out, and there are %d", listed,
			len(shorteningSteps))
	}
	if files, _ := filepath.Glob("testdata/live/*.txtar"); shown != 2*len(files) {
		t.Errorf("%d screens of %d stories", shown, len(files))
	}
}

// TestWatchVerdict checks that the line has the headline of explain.
func TestWatchVerdict(t *testing.T) {
	l := liveOf(t, storyOf(t, "surge").s)
	want := "12:07:24 STUCK: 4 of 12 pods updated; 2 pods fail their readiness probe"
	if diff := cmp.Diff(want, WatchVerdict(l.Progress, l.Now, wording.Style{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestLiveIdle checks that the screen of an idle rollout names the nodes and says for how long. If nothing should
// change, the screen shows the same text as explain.
func TestLiveIdle(t *testing.T) {
	for _, tt := range []struct{ story, head, outlook, why string }{
		{"testdata/late-pods.txtar", "PROGRESSING, 1 WARNING  kube-system/agent: 3 of 8 pods updated; no progress " +
			"for 3m: w-1, w-2", "\nOutlook   complete between 12:00:35 and 12:01:31, if the pods on w-1, w-2 become " +
			"Ready, else it stops at 3 of 8", "a rollout"},
		{"testdata/pending.txtar", "DEGRADED  kube-system/agent: ", "\nRollout   without a fix: ",
			"a state in which nothing is to move"},
	} {
		l := liveOf(t, storyIn(t, tt.story).s)
		l.Progress.Idle = 3 * time.Minute
		var b bytes.Buffer
		check(t, LiveScreen(&b, l, askable, wording.Style{}, 0))
		if head, _, _ := strings.Cut(b.String(), "\n"); !strings.HasPrefix(head, tt.head) ||
			!strings.Contains(b.String(), tt.outlook) ||
			strings.Contains(head, "no progress") != strings.Contains(tt.head, "no progress") {
			t.Errorf("%s:\n%s", tt.why, &b)
		}
	}
}

// TestMapOfMany checks that a mark represents two nodes if there are more than a thousand, even if there is enough
// space.
func TestMapOfMany(t *testing.T) {
	for n, want := range map[int]bool{1000: false, 1001: true} {
		nodes := make([]plan.OnNode, n)
		for i := range nodes {
			nodes[i] = plan.OnNode{Node: fmt.Sprintf("node-%04d", i), State: plan.NodeOld}
		}
		if rows := nodenames.New(nodes, "revision 1", 160).Draw(100); strings.Contains(fmt.Sprint(rows),
			"stands for 2 nodes") != want {
			t.Errorf("%d nodes: %v", n, rows)
		}
	}
}

// TestLiveLate checks that each late pod has a line, unless the table of problems names its node.
func TestLiveLate(t *testing.T) {
	late := func(node string, deleting bool) follow.LatePod {
		return follow.LatePod{Node: node, Deleting: deleting, For: 40 * time.Second}
	}
	for _, tt := range []struct {
		story  string
		change func(*follow.Progress)
		want   []string
		why    string
	}{
		{"healthy", func(p *follow.Progress) {
			p.Late, p.Usual.Ends = []follow.LatePod{late("rack-11-05", true), late("rack-12-04", false)},
				[]float64{4, 9}
		}, []string{"LATE  rack-11-05  its pod has been terminating for 40s (usual: 4s to 9s)",
			"LATE  rack-12-04  its pod has been starting for 40s (usual: 18s to 31s)"},
			"pods that do not end, and do not start"},
		{"healthy", func(p *follow.Progress) {
			for range 5 {
				p.Late = append(p.Late, late("rack-12-04", false))
			}
		}, []string{"LATE  rack-12-04  ", "LATE  rack-12-04  ", "LATE  rack-12-04  ", "      +2 more"}, "many of them"},
		{"stuck", func(p *follow.Progress) { p.Late = []follow.LatePod{late("worker-05", false)} }, nil,
			"the table names it"},
		{"healthy", func(p *follow.Progress) { p.Owed = time.Minute },
			[]string{"LATE  controller  its next step has been due for 1m"}, "the controller"},
		{"healthy", func(p *follow.Progress) { p.Owed, p.Next.Waits = time.Minute, []daemonset.Wait{{}} },
			[]string{"LATE  controller  its next step has been due for 1m; it may wait for its back-off"},
			"a controller that may wait"},
		{"healthy", func(p *follow.Progress) { p.Owed = 20 * time.Second }, nil, "as long as usual"},
	} {
		l := liveOf(t, storyOf(t, tt.story).s)
		tt.change(l.Progress)
		var b bytes.Buffer
		check(t, LiveScreen(&b, l, askable, wording.Style{}, 0))
		var got []string
		for _, line := range strings.Split(b.String(), "\n") {
			if strings.HasPrefix(line, "  LATE") || strings.HasPrefix(line, "        +") {
				got = append(got, line[2:])
			}
		}
		matches := len(got) == len(tt.want)
		for i := range min(len(got), len(tt.want)) {
			matches = matches && strings.HasPrefix(got[i], tt.want[i])
		}
		if !matches {
			t.Errorf("%s: %q", tt.why, got)
		}
	}
}

// TestLiveClock checks that all times of day on a live screen use the time zone of its clock.
func TestLiveClock(t *testing.T) {
	l := liveOf(t, storyIn(t, "testdata/not-yet-available.txtar").s)
	at := &l.Progress.Header.Snapshot.TakenAt
	*at = at.In(time.FixedZone("CET", 3600))
	var b bytes.Buffer
	check(t, LiveScreen(&b, l, askable, wording.Style{}, 0))
	if !strings.Contains(b.String(), "  13:00:00\n") || !strings.Contains(b.String(), ", at 13:0") ||
		regexp.MustCompile(`\d\dZ`).MatchString(b.String()) {
		t.Errorf("%s", &b)
	}
}

// TestLiveMapOfCloud checks that the map identifies the nodes of its marks even if they have the long names of a cloud
// provider.
func TestLiveMapOfCloud(t *testing.T) {
	for _, tt := range []struct {
		names []string
		want  string
		why   string
	}{
		{numberedNames("ip-10-120-33-", ".eu-central-1.compute.internal", 98, 107),
			"ip-10-120-33-*.eu-central-1.compute.internal\n  98  99  100 101 102 103 104 105 106 107\n  .   .   .   " +
				".   .   .   .   .   .   .\n", "EKS: the numbers are not at the end"},
		{numberedNames("gke-production-default-pool-1a2b3c4d-x", "k", 0, 6),
			"gke-production-default-pool-1a2b3c4d-*\n  x0k x1k x2k x3k x4k x5k x6k\n  .   .   .   .   .   .   .\n",
			"GKE: the ends are no numbers"},
		{numberedNames("aks-nodepool1-12345678-vmss0000", "", 10, 21),
			"aks-nodepool1-12345678-*\nvmss000010  .......... ..\n", "AKS: the numbers are long"},
		{numberedNames("worker-", "", 1, 6), "worker-  1 2 3 4 5 6\n         . . . . . .\n",
			"short names stay as they are"},
	} {
		var nodes []plan.OnNode
		for _, n := range tt.names {
			nodes = append(nodes, plan.OnNode{Node: n, State: plan.NodeOld})
		}
		var s screen.Screen
		var b bytes.Buffer
		s.Add(screen.Last, nodenames.New(nodes, "revision 1", 80).Draw(100))
		check(t, s.Text(&b, screen.Terminal{}))
		got := regexp.MustCompile(`(?m)^.{10}| {4}\. on revision 1.*|^\s*\. on revision.*| +$`).ReplaceAllString(strings.TrimLeft(b.String(), "\n"), "")
		if !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s:\n%s, want\n%s", tt.why, got, tt.want)
		}
	}
}

// numberedNames returns names that contain the numbers in a range.
func numberedNames(before, after string, from, to int) (names []string) {
	for n := from; n <= to; n++ {
		names = append(names, fmt.Sprint(before, n, after))
	}
	return names
}

// TestLiveIdleOrder checks that the nodes a rollout waits for have the order of the map.
func TestLiveIdleOrder(t *testing.T) {
	p := &follow.Progress{Idle: time.Minute, Nodes: []plan.OnNode{{Node: "n-10", State: plan.NodeFails},
		{Node: "n-9", State: plan.NodeFails}}}
	if got, want := idleFor(p), "no progress for 1m: n-9, n-10"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestLiveKeepsAFix checks that a small screen keeps one of several numbered problems, with what to do.
func TestLiveKeepsAFix(t *testing.T) {
	var b bytes.Buffer
	check(t, LiveScreen(&b, liveOf(t, storyIn(t, "testdata/does-not-come-up.txtar").s), askable,
		wording.Style{Width: 80}, 23))
	if !strings.Contains(b.String(), "\nDo now    create Secret kube-system/agent-tls") {
		t.Errorf("%s", &b)
	}
}

// TestLiveNoBatch checks that there is no note if nothing has happened.
func TestLiveNoBatch(t *testing.T) {
	var b bytes.Buffer
	check(t, LiveScreen(&b, liveOf(t, storyOf(t, "healthy").s), askable, wording.Style{}, 0))
	if strings.Contains(b.String(), "batch") {
		t.Errorf("%s", &b)
	}
}

// TestRestsOn checks the condition under which a rollout completes in time.
func TestRestsOn(t *testing.T) {
	late := &explain.Outlook{Desired: 9, Otherwise: &remedy.Otherwise{Nodes: []string{"n-1", "n-2"}, Stalls: true,
		Updated: 7}}
	for _, tt := range []struct {
		o     *explain.Outlook
		usual follow.Usual
		want  string
	}{
		{late, follow.Usual{Starts: []float64{5, 9}}, "the pods on n-1, n-2 become Ready, else it stops at 7 of 9"},
		{&explain.Outlook{}, follow.Usual{Starts: []float64{40}, Assumed: true},
			"every new pod is Ready within 40s (--start)"},
		{&explain.Outlook{}, follow.Usual{Starts: []float64{5, 9}},
			"pods take as long as before: 5s to 9s to become Ready"},
		{&explain.Outlook{}, follow.Usual{Starts: []float64{5}, Ends: []float64{1, 30}},
			"pods take as long as before: 5s to become Ready, 1s to 30s to end"},
		{&explain.Outlook{}, follow.Usual{}, "every new pod becomes available"},
	} {
		if got := conditionWords(tt.o, &tt.usual); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
