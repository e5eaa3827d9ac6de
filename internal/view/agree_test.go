package view

import (
	"bytes"
	stdcmp "cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/internal/dstest/agree"
	"github.com/kubectl-ds/kubectl-ds/internal/dstest/world"
	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/diagnosis"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// askedWorld is a Snapshot from a story or a random one, with the changes to plan for it.
type askedWorld struct {
	name    string
	s       *snapshot.Snapshot
	changes []*whatif.Change
}

// everyWorld returns the worlds of all stories, and random ones for the seeds of cases.Of(n). With go test -short, it
// returns only some stories.
func everyWorld(t *testing.T, n int64) []askedWorld {
	t.Helper()
	readStories.Do(func() { storyWorlds = everyStory(t) })
	out := cases.Some(storyWorlds, len(storyWorlds))
	seeds := []int64{177, 240} // a revision and a pod without a hash
	for seed := range cases.Of(n) {
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		w, made := randomWorlds[seed]
		if !made {
			s := dstest.RandomTrouble(seed)
			if seed%4 == 3 {
				s = dstest.RandomOpenShift(seed)
			}
			w = askedWorld{name: fmt.Sprintf("seed %d", seed), s: s, changes: changes(s)}
			randomWorlds[seed] = w
		}
		out = append(out, w)
	}
	return out
}

// storyWorlds holds the worlds of all stories, and randomWorlds random worlds by their seeds. Each is read once, and no
// test changes them.
var (
	storyWorlds  []askedWorld
	readStories  sync.Once
	randomWorlds = map[int64]askedWorld{}
)

func everyStory(t *testing.T) []askedWorld {
	var out []askedWorld
	for _, pattern := range []string{"testdata/*.txtar", "testdata/plan/*.txtar", "testdata/history/*.txtar"} {
		files, err := filepath.Glob(pattern)
		check(t, err)
		for _, file := range files {
			story, err := txtar.ParseFile(file)
			check(t, err)
			var last *askedWorld
			for _, f := range story.Files {
				switch name, _, _ := strings.Cut(f.Name, " "); name {
				case "world":
					out = append(out, askedWorld{name: file, s: world.Parse(t, string(f.Data)),
						changes: []*whatif.Change{nil}})
					last = &out[len(out)-1]
				case "change":
					c := &whatif.Change{}
					check(t, yaml.UnmarshalStrict(f.Data, c))
					last.changes = append(last.changes, c)
				}
			}
		}
	}
	return out
}

// smallWorlds returns all states of three nodes with one of these pods on each, under every limit. They include states
// that are rare among random ones.
//
//	x  a new pod that crashes, and does not become available by itself
//	d  an old pod on a node whose kubelet does not respond
//
// dstest.State defines the others.
func smallWorlds() []askedWorld {
	var out []askedWorld
	limits := map[string][]dstest.Option{
		"maxUnavailable 1": nil, "maxUnavailable 2": {dstest.MaxUnavailable("2")},
		"maxSurge 1": {dstest.MaxUnavailable("0"), dstest.MaxSurge("1")}, "OnDelete": {dstest.OnDelete()},
	}
	cells := []string{"O", "N", "n", "x", "W", "V", "-", "d", "Ot", "Ot/N"}
	for _, limit := range slices.Sorted(maps.Keys(limits)) {
		for i := range len(cells) * len(cells) * len(cells) {
			a, b, c := i%len(cells), i/len(cells)%len(cells), i/len(cells)/len(cells)
			if a > b || b > c { // the order of the nodes is irrelevant
				continue
			}
			three := []string{cells[a], cells[b], cells[c]}
			options := append([]dstest.Option{dstest.MinReadySeconds(60)}, limits[limit]...)
			var grid []string
			for n, c := range three {
				switch c {
				case "x":
					options = append(options, dstest.Pod(fmt.Sprintf("p%d", n), func(p *corev1.Pod) {
						p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "agent", RestartCount: 5,
							State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}}}
					}))
					c = "n"
				case "n":
					options = append(options,
						dstest.Pod(fmt.Sprintf("p%d", n),
							func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(dstest.Now.Add(-10 * time.Second)) }))
				case "d":
					options = append(options, dstest.Node(fmt.Sprintf("n%d", n), func(n *corev1.Node) {
						n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady,
							Status:             corev1.ConditionUnknown,
							LastTransitionTime: metav1.NewTime(dstest.Now.Add(-time.Hour))}}
					}))
					c = "o"
				}
				grid = append(grid, c)
			}
			out = append(out, askedWorld{limit + ": " + strings.Join(three, " "),
				dstest.State(strings.Join(grid, " "), options...), []*whatif.Change{nil, {Restart: true}}})
		}
	}
	return out
}

// TestPlansAgreeWithThemselves checks that the table of steps, the outcome and the assumptions agree, for all stories
// and for random states.
func TestPlansAgreeWithThemselves(t *testing.T) {
	waves, failing, lost, nowhere := 0, 0, 0, 0
	worlds := append(everyWorld(t, 10), cases.Some(smallWorlds(), 30)...)
	// up to v1.20, a sync may delete terminating pods again, which the plan does not count as a step
	for seed := range cases.Of(int64(10)) {
		s := dstest.RandomFor(seed, []string{dstest.Newest, "v1.30.5", "v1.28.2", "v1.22.17"}[seed%4])
		worlds = append(worlds, askedWorld{fmt.Sprintf("seed %d of its version", seed), s,
			[]*whatif.Change{nil, {Restart: true}}})
	}
	for _, w := range worlds {
		if strings.HasPrefix(w.name, "seed ") || strings.HasPrefix(w.name, "testdata/") {
			w.changes = slices.Concat(w.changes, cases.Some(nodeChanges(w.s), 4))
		}
		for i, c := range w.changes {
			p, err := world.Plan(w.s, c, plan.Options{Starts: []time.Duration{41 * time.Second}})
			if err != nil {
				continue // this change is impossible
			}
			now := under(t, w.s)
			if err := stdcmp.Or(agree.Plan(p), planScreensAgree(p, now)); err != nil {
				t.Errorf("%s, change %d: %v", w.name, i, err)
			}
			if err := headlineAgrees(t, p, now); err != nil {
				t.Errorf("%s, change %d: %v", w.name, i, err)
			}
			waves += len(p.Waves)
			lost += b2i(len(p.Lost) > len(p.Placement.Lose))
			_, none := p.NoneEligible()
			nowhere += b2i(none && len(p.Waves) > 0)
			failing += b2i(len(p.Waves) > 0 &&
				slices.ContainsFunc(p.Assumptions,
					func(a daemonset.Assumption) bool { return a.Code == plan.AssumeRevisionFails }))
		}
	}
	if waves < cases.Least(297) || failing < cases.Least(8) || lost < cases.Least(25) || nowhere < cases.Least(4) {
		t.Errorf("only %d waves, %d tables of revisions that fail, %d plans in which a rollout takes a node's pod, "+
			"%d rollouts without an eligible node", waves, failing, lost, nowhere)
	}
}

// nodeChanges returns changes of one node, of two nodes and of all nodes, alone and with a restart. The changes add
// taints that pods tolerate or not, and take nodes down, cordon them or remove them.
func nodeChanges(s *snapshot.Snapshot) []*whatif.Change {
	if len(s.Nodes) == 0 || len(s.Nodes) > 50 {
		return nil
	}
	first, last := s.Nodes[0].Name, s.Nodes[len(s.Nodes)-1].Name
	taint := func(which string, effect corev1.TaintEffect) whatif.NodeEdit {
		return whatif.NodeEdit{Kind: whatif.NodeTaint, Which: which,
			Taint: &corev1.Taint{Key: "d", Value: "x", Effect: effect}}
	}
	var out []*whatif.Change
	for _, edits := range [][]whatif.NodeEdit{
		{taint("*", corev1.TaintEffectNoSchedule)}, {taint("*", corev1.TaintEffectNoExecute)},
		{taint(first, corev1.TaintEffectNoSchedule)},
		{taint(first, corev1.TaintEffectNoSchedule), taint(last, corev1.TaintEffectNoExecute)},
		{{Kind: whatif.NodeDown, Which: "*"}}, {{Kind: whatif.NodeDown, Which: first}},
		{{Kind: whatif.NodeRemove, Which: first}}, {{Kind: whatif.NodeCordon, Which: "*"}},
		{{Kind: whatif.NodeDown, Which: first}, taint("*", corev1.TaintEffectNoSchedule)},
	} {
		out = append(out, &whatif.Change{Nodes: edits}, &whatif.Change{Nodes: edits, Restart: true})
	}
	return out
}

var (
	atMost = regexp.MustCompile(`Limit .*: (?:.*, the others )?(?:at most|all) (\d+)(?: pods?)? at (?:a time|once)`)
)

// headlineAgrees checks that the headline and the table of limits show the same number of pods at a time.
func headlineAgrees(t *testing.T, p *plan.Plan, now *explain.Explanation) error {
	t.Helper()
	if !slices.ContainsFunc(p.Limits, func(l plan.Limit) bool { return l.Planned && l.Code != plan.Stalls }) {
		return nil
	}
	var b bytes.Buffer
	check(t, Plan(&b, p, now, sheet.Asked{}, wording.Style{All: true}))
	said := atMost.FindStringSubmatch(strings.Join(strings.Fields(b.String()), " "))
	if said == nil {
		return nil
	}
	for _, l := range p.Limits {
		if l.Planned && said[1] == strconv.Itoa(p.AtATime(l.AtATime)) {
			return nil
		}
	}
	return fmt.Errorf("no row of the plan's limit says %s at a time:\n%+v\n%s", said[1], p.Limits, &b)
}

// under returns the Explanation that accompanies a plan.
func under(t *testing.T, s *snapshot.Snapshot) *explain.Explanation {
	t.Helper()
	if underOf[s] == nil {
		underOf[s] = explained(t, s, explain.Options{})
	}
	return underOf[s]
}

// underOf is what under has returned, once for all tests of a world.
var underOf = map[*snapshot.Snapshot]*explain.Explanation{}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestAnswersAgree checks that explain, explain -A, plan-rollout and history show the same numbers for one Snapshot,
// for all stories and for random states. It also compares their screens.
func TestAnswersAgree(t *testing.T) {
	verdicts, stuck := map[explain.VerdictCode]int{}, 0
	for i, w := range append(everyWorld(t, 20), cases.Some(smallWorlds(), 30)...) {
		st := stateOf(t, w.s)
		e := explain.Explain(st, explain.Options{Outlook: plan.Look(st)})
		p, err := world.Plan(w.s, nil, plan.Options{Starts: []time.Duration{41 * time.Second}})
		check(t, err)
		h, err := history.Make(st, history.Options{})
		check(t, err)
		h = e.Judge(h)
		stuck += b2i(h.Rollout.Code == history.Stuck)
		verdicts[e.Verdict.Code]++
		if err := agree.Answers(e, p, h); err != nil {
			t.Errorf("%s: %v", w.name, err)
		}
		if err := screensAgree(t, e, p); err != nil {
			t.Errorf("%s: %v", w.name, err)
		}
		if timed := i%max(1, 40/cases.Of(10)) == 0; timed {
			if err := agree.Times(st); err != nil {
				t.Errorf("%s: %v", w.name, err)
			}
		}
		// random states have contradictions that Moment rejects
		if err := agree.Moment(st); err != nil && !strings.HasPrefix(w.name, "seed ") {
			t.Errorf("%s: %v", w.name, err)
		}
		if err := stdcmp.Or(verdictsAgree(e, h), revisionsAgree(t, e, p, h)); err != nil {
			t.Errorf("%s: %v", w.name, err)
		}
	}
	for _, code := range explain.VerdictCodes {
		if verdicts[code] < cases.Least(1) {
			t.Errorf("only %d answers are %s", verdicts[code], code)
		}
	}
	if stuck < cases.Least(20) {
		t.Errorf("only %d histories are of a rollout that is stuck", stuck)
	}
}

// verdictsAgree checks that the headlines of a history and of explain agree. If one says that the rollout is stuck, the
// other says so too, in the same words and for the same cause.
func verdictsAgree(e *explain.Explanation, h *history.History) error {
	now := sheet.Past{History: h, Now: e}
	said, past := diagnosis.Explain(e, askable, wording.Style{}).Screen.Headline,
		buildHistoryScreen(now, askable, wording.Style{}).Screen.Headline
	row := historyListScreen([]sheet.Past{now}, askable, wording.Style{}).Headline
	stuck := e.Verdict.Code == explain.Stuck &&
		!slices.Contains([]history.RolloutCode{history.Creates, history.CreatesSame, history.Renumbers, history.Merges,
			history.Unknown}, h.Rollout.Code)
	why := diagnosis.New(e, askable, wording.Style{}).Why(2)
	switch {
	case stuck && (past.Verdict != said.Verdict || past.Tone != said.Tone || !strings.Contains(past.Text, why)):
		return fmt.Errorf("explain: %s (%v), %s; history: %s (%v), %s", said.Verdict, said.Tone, why, past.Verdict,
			past.Tone, past.Text)
	case stuck != (row.Text == "1 is stuck"):
		return fmt.Errorf("explain: %s; list of histories: %s", said.Verdict, row.Text)
	case !stuck && (past.Verdict == "STUCK" || past.Tone == screen.Bad):
		return fmt.Errorf("explain: %s; history: %s (%v)", said.Verdict, past.Verdict, past.Tone)
	}
	return nil
}

// revisionsAgree checks that the screens agree about revisions. The next step must include the creation or renumbering
// of a revision. The screens must mention nodes on other revisions that count as updated.
func revisionsAgree(t *testing.T, e *explain.Explanation, p *plan.Plan, h *history.History) error {
	t.Helper()
	var one, planned, past, list bytes.Buffer
	check(t, Explanation(&one, e, askable, wording.Style{All: true}))
	check(t, Plan(&planned, p, e, sheet.Asked{}, wording.Style{All: true}))
	check(t, History(&past, sheet.Past{History: h}, sheet.Asked{}, wording.Style{All: true}))
	check(t, Histories(&list, []sheet.Past{{History: h}}, sheet.Asked{}, wording.Style{}))
	r := &e.Next.Revisions
	creates, renumbers := fmt.Sprintf("creates revision %d", r.Number),
		fmt.Sprintf("renumbers revision %d to %d", r.RaisedFrom, r.Number)
	for _, screen := range []string{one.String(), planned.String()} {
		switch {
		case p.Next.Reason == daemonset.StepPodsNotRead:
		case r.Cut && !strings.Contains(screen, creates):
			return fmt.Errorf("no %q in\n%s", creates, screen)
		case r.RaisedFrom > 0 && !strings.Contains(screen, renumbers):
			return fmt.Errorf("no %q in\n%s", renumbers, screen)
		}
	}
	elsewhere := 0
	for _, row := range h.Revisions {
		if row.Updated != nil && !row.Current {
			elsewhere += *row.Updated
		}
	}
	head, _, _ := strings.Cut(past.String(), "\n")
	counted := !strings.HasPrefix(head, "BEING DELETED") && !strings.HasPrefix(head, "IGNORED")
	switch {
	case elsewhere > 0 && counted && !strings.Contains(head, "updated"):
		return fmt.Errorf("%d nodes count as updated: %s", elsewhere, head)
	case elsewhere > 0 && !strings.Contains(one.String(), "updated)"):
		return fmt.Errorf("%d nodes on another revision count as updated:\n%s", elsewhere, &one)
	case elsewhere > 0 && !strings.Contains(list.String(), "updated)"):
		return fmt.Errorf("%d nodes on another revision count as updated:\n%s", elsewhere, &list)
	}
	return nil
}

// screensAgree checks that the words of the screens agree.
func screensAgree(t *testing.T, e *explain.Explanation, p *plan.Plan) error {
	t.Helper()
	var one, list, planned bytes.Buffer
	check(t, Explanation(&one, e, askable, wording.Style{All: true}))
	check(t, Explanations(&list, &explain.List{Items: []*explain.Explanation{e}}, askable, wording.Style{Wide: true}))
	check(t, Plan(&planned, p, e, sheet.Asked{}, wording.Style{All: true}))
	first := func(b *bytes.Buffer) string { l, _, _ := strings.Cut(b.String(), "\n"); return l }
	var short bytes.Buffer
	check(t, Explanation(&short, e, askable, wording.Style{}))
	back := func(a explain.Advice) bool { return a.Code == explain.AdviseRollBack }
	switch {
	case slices.ContainsFunc(e.Advice, back) && e.Fix(remedy.RollBack) != nil &&
		!strings.Contains(short.String(), "kubectl rollout undo"):
		return fmt.Errorf("a rollback is advised without its command:\n%s", &short)
	case strings.HasPrefix(first(&one), "HEALTHY  ") && strings.Contains(one.String(), "\n  PROBLEM "):
		return fmt.Errorf("HEALTHY above PROBLEM:\n%s", &one)
	case strings.Contains(first(&one), "available and updated") && e.Status.Computed != nil &&
		(e.Status.Computed.Updated != e.Status.Computed.Desired ||
			e.Status.Computed.Available != e.Status.Computed.Desired):
		return fmt.Errorf("%s\n%+v", first(&one), *e.Status.Computed)
	case strings.HasPrefix(first(&one), "DEGRADED") && strings.HasPrefix(first(&planned), "NOTHING TO DO"):
		return fmt.Errorf("%s\n%s", first(&one), first(&planned))
	case strings.HasPrefix(first(&planned), "DEGRADED") && strings.HasPrefix(first(&one), "HEALTHY"):
		return fmt.Errorf("%s\n%s", first(&planned), first(&one))
	}
	if c := e.Status.Computed; c != nil { // the row of the list has the numbers of the screen
		_, row, _ := strings.Cut(list.String(), "  "+e.DaemonSet.Namespace+"/"+e.DaemonSet.Name+" ")
		if want, got := fmt.Sprint([]int{c.Desired, c.Current, c.Ready, c.Updated, c.Available, c.Misscheduled}),
			fmt.Sprint(strings.Fields(row)[:6]); got != want {
			return fmt.Errorf("explain: %v; its row in a list: %v", want, got)
		}
	}
	return planScreensAgree(p, e)
}

// planScreensAgree compares the headline of a plan and its row in a list with the numbers of the plan.
func planScreensAgree(p *plan.Plan, now *explain.Explanation) error {
	var screen, list bytes.Buffer
	if err := stdcmp.Or(Plan(&screen, p, now, sheet.Asked{}, wording.Style{All: true}),
		Plans(&list, &plan.List{Items: []*plan.Plan{p}}, sheet.Asked{}, wording.Style{})); err != nil {
		return err
	}
	first, _, _ := strings.Cut(screen.String(), "\n")
	if old := p.Replaces + p.Drops; old > 0 && p.Outcome.Code == plan.Completes {
		only := "deleted and not replaced"
		says := func(words string) bool { return strings.Contains(first, words) }
		left := says("; the other") || says(wording.Plural(p.Replaces, "more pod"))
		if left != (p.Replaces > 0 && p.Subject == plan.SubjectRollout || p.Kept() > 0) ||
			says(only) != (p.Drops > 0) || p.Drops > 3 &&
			!says(wording.PluralVerb(p.Drops, "pod is "+only, "pods are "+only)) {
			return fmt.Errorf("%d pods are replaced and %d only deleted: %s", p.Replaces, p.Drops, first)
		}
	}
	if err := labelsAgree(p, now); err != nil {
		return err
	}
	_, row, _ := strings.Cut(list.String(), "  "+p.DaemonSet.Namespace+"/"+p.DaemonSet.Name+" ")
	replaces := strconv.Itoa(p.Replaces)
	if p.Outcome.Code == plan.Stalls && p.Replaces > 0 {
		replaces = fmt.Sprintf("%d of %d", p.Outcome.Replaced, p.Replaces)
	}
	if want, got := fmt.Sprintf("%s %d %d %d ", replaces, len(p.Lost), len(p.Placement.Gain), p.Outcome.Steps),
		strings.Join(strings.Fields(row), " "); !strings.HasPrefix(got, want) {
		return fmt.Errorf("the plan has %v, its row in a list %v", want, got)
	}
	if _, none := p.NoneEligible(); none && (!strings.Contains(screen.String(), "eligible") ||
		!strings.Contains(list.String(), "no node is eligible")) {
		return fmt.Errorf("no node is eligible:\n%s\n%s", screen.String(), list.String())
	}
	return nil
}

// labelsAgree checks Do now of a plan if all commands are known. Something must follow each colon, and the tables that
// it names must exist.
func labelsAgree(p *plan.Plan, now *explain.Explanation) error {
	var out bytes.Buffer
	if err := Plan(&out, p, now, sheet.Asked{Again: true, Live: true, Makes: []screen.Command{{"kubectl made"}}},
		wording.Style{}); err != nil {
		return err
	}
	advice := doNowOf(out.String())
	if last := advice[len(advice)-1]; strings.HasSuffix(last, ":") {
		return fmt.Errorf("Do now ends with %q:\n%s", last, out.String())
	}
	if strings.Contains(strings.Join(advice, " "), "(WAYS OUT)") && !strings.Contains(out.String(), "\n  WAYS OUT ") {
		return fmt.Errorf("Do now names WAYS OUT, which is not there:\n%s", out.String())
	}
	return nil
}

// doNowOf returns the lines of Do now on a screen, or one empty line if there are none.
func doNowOf(text string) []string {
	_, rest, _ := strings.Cut(text, "\nDo now ")
	lines := strings.Split(rest, "\n")
	n := 1
	for n < len(lines) && strings.HasPrefix(lines[n], "    ") {
		n++
	}
	return lines[:n]
}

// TestPartIsNone checks that pods, nodes or revisions are ignored if a Gap says that their list is incomplete. An
// incomplete list gives the same result as no list. Events are different: each of them happened, even if others are
// missing.
func TestPartIsNone(t *testing.T) {
	compared := 0
	for _, w := range cases.Some(everyWorld(t, 10), 40) {
		if len(w.s.Gaps) > 0 {
			continue
		}
		for what, none := range map[snapshot.What]func(*snapshot.Snapshot){
			snapshot.Nodes:     func(s *snapshot.Snapshot) { s.Nodes = nil },
			snapshot.Pods:      func(s *snapshot.Snapshot) { s.Pods = nil },
			snapshot.Revisions: func(s *snapshot.Snapshot) { s.Revisions = nil },
		} {
			some := *w.s
			some.Gaps = []snapshot.Gap{{What: what, Why: snapshot.Partial, Message: "some are missing"}}
			without := some
			none(&without)
			compared++
			if diff := cmp.Diff(documentsOf(t, &without), documentsOf(t, &some)); diff != "" {
				t.Errorf("%s, %s (-none +some):\n%s", w.name, what, diff)
			}
		}
	}
	if compared < cases.Least(34) {
		t.Errorf("only %d compared", compared)
	}
}

// documentsOf returns the JSON of explain, plan-rollout and history for a Snapshot.
func documentsOf(t *testing.T, s *snapshot.Snapshot) []string {
	t.Helper()
	st := stateOf(t, s)
	p, planErr := world.Plan(s, &whatif.Change{Restart: true}, plan.Options{Starts: []time.Duration{41 * time.Second}})
	h, historyErr := history.Make(st, history.Options{})
	var out []string
	for _, document := range []any{explain.Explain(st, explain.Options{}), p, fmt.Sprint(planErr), h,
		fmt.Sprint(historyErr)} {
		raw, err := json.MarshalIndent(document, "", " ")
		check(t, err)
		out = append(out, string(raw))
	}
	return out
}
