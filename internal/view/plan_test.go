package view

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/internal/dstest/world"
	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/managed"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// TestPlanScreens runs the stories in testdata/plan. A world, a change (the fields of whatif.Change) and options apply
// to the questions that follow them. A complete plan replaces all three.
func TestPlanScreens(t *testing.T) { runStories[planStory](t, "testdata/plan/*.txtar") }

// planStory is the input for the questions of a story.
type planStory struct {
	worlds  []*snapshot.Snapshot
	change  *whatif.Change
	options plan.Options
	written *plan.Plan
}

func parseOptions(t *testing.T, raw []byte) plan.Options {
	t.Helper()
	var given struct {
		Start, Termination, GroupBy string
		ShowValues                  bool
		Warnings                    []plan.Warning
	}
	check(t, yaml.UnmarshalStrict(raw, &given))
	o := plan.Options{GroupBy: given.GroupBy, ShowValues: given.ShowValues, Warnings: given.Warnings}
	duration := func(text string) time.Duration {
		d, err := time.ParseDuration(text)
		check(t, err)
		return d
	}
	if given.Start != "" {
		o.Starts = []time.Duration{duration(given.Start)}
	}
	if given.Termination != "" {
		d := duration(given.Termination)
		o.Termination = &d
	}
	return o
}

// again is a command line that can be repeated.
var again = sheet.Asked{Again: true}

func (a *planStory) take(t *testing.T, name, data string) bool {
	switch name {
	case "world":
		a.worlds, a.change = append(a.worlds, world.Parse(t, data)), nil
	case "change":
		a.change = new(whatif.Change)
		check(t, yaml.UnmarshalStrict([]byte(data), a.change))
	case "options":
		a.options = parseOptions(t, []byte(data))
	case "written":
		a.written = new(plan.Plan)
		check(t, yaml.UnmarshalStrict([]byte(data), a.written))
	default:
		return false
	}
	return true
}

// ask renders "plan", "new" or "list", followed by options. In "plan pasted", the command line has flags that reappear
// in commands.
func (a *planStory) ask(t *testing.T, question string) (string, int) {
	t.Helper()
	words := strings.Fields(question)
	asked := sheet.Asked{}
	style, format := options(t, words[1:], func(word, _ string) int {
		if word != "pasted" {
			return 0
		}
		asked = again
		return 1
	})
	var plans []*plan.Plan
	var now []*explain.Explanation
	for _, s := range a.worlds {
		var p *plan.Plan
		var err error
		if words[0] == "new" {
			p, err = world.Plan(s, &whatif.Change{Method: "New", Nodes: nodeEdits(a.change)}, a.options)
		} else {
			p, err = world.Plan(s, a.change, a.options)
		}
		check(t, err)
		plans, now = append(plans, p), append(now, nil)
		if words[0] != "new" {
			now[len(now)-1] = under(t, s)
		}
	}
	if a.written != nil {
		plans, now = []*plan.Plan{a.written}, []*explain.Explanation{nil}
	}
	var b bytes.Buffer
	switch {
	case format == "markdown":
		for i, p := range plans {
			check(t, Plan(&b, p, now[i], sheet.Asked{}, style))
		}
	case format == "html":
		check(t, PlanPage(&b, []sheet.Planned{pagedPlan(t, a.worlds[len(a.worlds)-1], a.change, a.options)}, false,
			asked, style))
		return inPage(t, b.String()), 0
	case words[0] == "list":
		check(t, Plans(&b, &plan.List{Items: plans}, asked, style))
	default:
		check(t, Plan(&b, plans[len(plans)-1], now[len(now)-1], asked, style))
	}
	most := 0
	if strings.HasPrefix(question, "plan") && whole(question) {
		most = 37
	}
	return visible(b.String()), most
}

// pagedPlan returns a plan with the data for the figures of a page, as the command builds it.
func pagedPlan(t *testing.T, s *snapshot.Snapshot, c *whatif.Change, o plan.Options) sheet.Planned {
	t.Helper()
	st := stateOf(t, s)
	v, of := sheet.Planned{Now: under(t, s)}, st
	if c == nil {
		v.Plan, v.Expected = plan.MakeLine(st, o)
	} else {
		r, err := whatif.Make(st, c)
		check(t, err)
		v.Plan, v.Expected = plan.MakeChangedLine(r, o)
		of = r.State
	}
	if v.Map = v.Plan.Map(of, o.GroupBy); v.Subject == plan.SubjectRollout && v.Now.Rollout.UnderWay &&
		v.Now.Rollout.Since != nil {
		v.Passed = plan.PastLine(of, *v.Now.Rollout.Since)
	}
	return v
}

func nodeEdits(c *whatif.Change) []whatif.NodeEdit {
	if c == nil {
		return nil
	}
	return c.Nodes
}

// changes returns the changes that TestEveryPlan plans for each state.
func changes(s *snapshot.Snapshot) []*whatif.Change {
	nasty := "example/agent\x1b[31m|`<b>@all"
	out := []*whatif.Change{
		nil, {Restart: true}, {Images: []whatif.Image{{Container: "*", Image: nasty}}},
		{NodeSelector: map[string]string{"pool": "a"}}, {Strategy: "OnDelete"}, {Strategy: "RollingUpdate"},
	}
	if len(s.Nodes) > 0 {
		out = append(out, &whatif.Change{Restart: true,
			Nodes: []whatif.NodeEdit{{Kind: whatif.NodeDown, Which: s.Nodes[0].Name}}})
	}
	return out
}

// TestEveryPlan renders random states after random changes in every style.
func TestEveryPlan(t *testing.T) {
	drawn, lost := 0, 0
	for seed := range cases.Of(int64(10)) {
		s := dstest.Random(seed)
		if seed%7 == 0 {
			s.Nodes, s.Gaps = nil, []snapshot.Gap{{What: snapshot.Nodes, Why: snapshot.Forbidden}}
		}
		if seed%11 == 0 {
			s.Pods, s.Gaps = nil, []snapshot.Gap{{What: snapshot.Pods, Why: snapshot.NotGiven}}
		}
		if seed%13 == 0 {
			s.DaemonSet.Spec.Selector = &metav1.LabelSelector{} // the API server does not allow this
		}
		for i := range s.Pods {
			s.Pods[i].Status.Message = "\x1b[31m\x07 \u009b2J \u202e red\nline"
			s.Pods[i].Status.Reason = "Evicted\x1b]0;title\x07"
		}
		start := 41 * time.Second
		for i, c := range changes(s) {
			p, err := world.Plan(s, c, plan.Options{GroupBy: "pool", Starts: []time.Duration{start}})
			if err != nil {
				continue // an impossible change has no screen
			}
			drawn++
			if n := len(p.Placement.Lose); n > 0 {
				lost++
				if words := planScreenOf(p, under(t, s), again,
					wording.Style{}).Headline.Text; !strings.HasSuffix(words,
					wording.PluralVerb(n, "node would lose its pod immediately",
						"nodes would lose their pods immediately")) {
					t.Errorf("seed %d, change %d: the verdict hides %d nodes that lose their pod: %s", seed,
						i, n, words)
				}
			}
			for _, style := range []wording.Style{{}, {Width: 80}, {Width: 40}, {Width: 80, Wide: true},
				{Width: 80, Color: true}, {All: true}} {
				var b bytes.Buffer
				check(t, Plan(&b, p, under(t, s), again, style))
				if err := lawfulPlan(b.String(), style); err != nil {
					t.Fatalf("seed %d, change %d, %+v: %v\n%s\n%s", seed, i, style, err, b.String(), dstest.Describe(s))
				}
				if n := strings.Count(b.String(), "\n"); style.Width == 80 && !style.Wide && n > 92 {
					t.Errorf("seed %d, change %d: %d lines:\n%s", seed, i, n, b.String())
				}
				b.Reset()
				check(t, Plans(&b, &plan.List{Items: []*plan.Plan{p, p}}, again, style))
				if err := lawfulPlan(b.String(), wording.Style{Color: style.Color}); err != nil {
					t.Fatalf("seed %d, change %d, list: %v", seed, i, err)
				}
			}
			var b bytes.Buffer
			check(t, Plan(&b, p, under(t, s), sheet.Asked{}, wording.Style{Form: wording.InMarkdown}))
			if err := lawfulMarkdown(b.String()); err != nil {
				t.Fatalf("seed %d, change %d: %v\n%s", seed, i, err, b.String())
			}
		}
	}
	if drawn < cases.Least(34) || lost < cases.Least(1) {
		t.Errorf("only %d plans were drawn, %d with nodes that lose their pod", drawn, lost)
	}
}

// lawfulPlan applies lawful to everything except commands to paste.
func lawfulPlan(screen string, style wording.Style) error {
	var kept []string
	for _, l := range strings.Split(screen, "\n") {
		if strings.Contains(l, "kubectl ds plan-rollout") || style.Width > 0 && style.Width < 80 {
			l = "x" // a narrow terminal breaks the lines of a table itself
		}
		kept = append(kept, l)
	}
	return lawful(strings.Join(kept, "\n"), style)
}

var ownTags = regexp.MustCompile(`</?(code|br|details|summary)>|<!-- -->`)

// lawfulMarkdown returns an error if text from the cluster could change the formatting of a comment. It does not check
// code blocks.
func lawfulMarkdown(text string) error {
	columns, fenced, folded := 0, false, false
	for _, l := range strings.Split(text, "\n") {
		if strings.HasPrefix(l, "```") {
			fenced = !fenced
			continue
		}
		if fenced {
			continue
		}
		switch { // without an empty line after the summary, the rest is not parsed as Markdown
		case strings.HasPrefix(l, "<details><summary>") && !folded, l == "</details>" && folded:
			folded = !folded
		case strings.Contains(l, "details>"):
			return fmt.Errorf("%q is a nested or unmatched <details>", l)
		}
		if plain := ownTags.ReplaceAllString(l, ""); strings.ContainsAny(plain, "<>`@\x1b") {
			return fmt.Errorf("%q has a character that Markdown reads", l)
		}
		n := strings.Count(l, "|")
		switch {
		case !strings.HasPrefix(l, "|"):
			columns = 0
			if n > 0 {
				return fmt.Errorf("%q has a bar outside of a table", l)
			}
		case columns == 0:
			columns = n
		case n != columns:
			return fmt.Errorf("%q has %d bars under a head of %d", l, n, columns)
		}
	}
	if fenced || folded {
		return errors.New("a code block or <details> is not closed")
	}
	if regexp.MustCompile(`(?m)</summary>\n.|[^\n]\n</details>`).MatchString(text) {
		return errors.New("<details> has no empty line around it")
	}
	return nil
}

func TestSeconds(t *testing.T) {
	for _, tt := range []struct {
		n    float64
		want string
		why  string
	}{
		{0, "0s", "nothing"},
		{0.04, "1s", "less than a second becomes a second"},
		{12.4, "12s", "whole seconds"},
		{119, "1m59s", "below two minutes, seconds"},
		{120, "2m", "from two minutes on, minutes"},
		{1635, "27m", "rounded to the nearest"},
		{3590, "1h", "almost an hour becomes an hour"},
		{6010, "1h40m", "hours have minutes in steps of five"},
		{36000, "10h", "from ten hours on, only hours"},
		{86400 * 1.5, "36h", "up to two days"},
		{86400 * 3.2, "3d", "days"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			if got := wording.Seconds(tt.n); got != tt.want {
				t.Errorf("seconds(%v) = %q, want %q", tt.n, got, tt.want)
			}
		})
	}
}

func TestRangeWords(t *testing.T) {
	for _, tt := range []struct {
		d    plan.Duration
		want string
		why  string
	}{
		{plan.Duration{Optimistic: 1140, Expected: 1620, Pessimistic: 2640}, "19m to 44m", "a range"},
		{plan.Duration{Optimistic: 40, Expected: 40, Pessimistic: 40.2}, "40s", "equal ends are not shown as a range"},
		{plan.Duration{Optimistic: 5700, Expected: 6000, Pessimistic: 9000}, "1h35m to 2h30m",
			"hours with minutes stay whole"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			if got := wording.RangeWords(&tt.d); got != tt.want {
				t.Errorf("rangeWords(%v) = %q, want %q", tt.d, got, tt.want)
			}
		})
	}
}

// TestAgo checks the format of durations.
func TestAgo(t *testing.T) {
	for _, tt := range []struct {
		d    time.Duration
		want string
	}{
		{-time.Second, "0s"}, {59 * time.Second, "59s"}, {time.Minute, "1m"}, {110 * time.Second, "1m50s"},
		{9*time.Minute + 59*time.Second, "9m59s"},
		{14*time.Minute + 30*time.Second, "14m"}, {time.Hour, "1h"}, {90 * time.Minute, "1h30m"},
		{3*time.Hour + 59*time.Minute, "3h"}, {47 * time.Hour, "47h"}, {48 * time.Hour, "2d"}, {800 * time.Hour, "33d"},
	} {
		if got := wording.Ago(tt.d); got != tt.want {
			t.Errorf("ago(%v) = %q, want %q", tt.d, got, tt.want)
		}
	}
}

// TestEveryAssumption checks that each assumption has its own words. Some are exceptions because only -o wide shows
// them: the controller's own pace, the time that fast and slow pods take, pulling an image, the pods that are
// exceptions to RevisionFails, and the version of the controller.
func TestEveryAssumption(t *testing.T) {
	unsaid := []daemonset.AssumptionCode{
		plan.AssumeRequestRate, plan.AssumeStepBurst, plan.AssumeRequestBurst, plan.AssumeSlowStart,
		plan.AssumeStartFast, plan.AssumeStartSlow, plan.AssumePull, plan.AssumeReadyPods,
		daemonset.AssumeControllerVersion,
	}
	for _, code := range slices.Concat(plan.Assumptions, whatif.Assumptions) {
		p := &plan.Plan{Forecast: plan.Forecast{Outcome: plan.Outcome{Code: plan.Stalls}}}
		for _, a := range []daemonset.Assumption{{Code: plan.AssumeStart, Value: "41s"},
			{Code: plan.AssumeRequestRate, Value: "20"}, {Code: plan.AssumeStartFast, Value: "5s"},
			{Code: plan.AssumeStartSlow, Value: "6s"}} {
			if a.Code != code {
				p.Assumptions = append(p.Assumptions, a)
			}
		}
		p.Assumptions = append(p.Assumptions, daemonset.Assumption{Code: code, Value: "41s", Source: "Pods"})
		s := &planScreen{Sheet: sheet.New(&p.Header, sheet.Asked{}, wording.Style{}), p: p, o: &p.Outcome}
		s.assumed()
		var b strings.Builder
		check(t, s.Screen.Text(&b, screen.Terminal{}))
		if text := b.String(); strings.Contains(text, string(code)+" ") || !slices.Contains(unsaid, code) &&
			strings.Count(text, "\n") < 2 && code != plan.AssumeStart {
			t.Errorf("%s: no words in\n%s", code, text)
		}
	}
}

// TestEveryWarning checks that each warning has words.
func TestEveryWarning(t *testing.T) {
	p := &plan.Plan{}
	p.DaemonSet.Namespace = "kube-system"
	s := &planScreen{Sheet: sheet.New(&p.Header, sheet.Asked{}, wording.Style{}), p: p, o: &p.Outcome}
	facts := wording.MergeFacts(sampleFacts(), daemonset.Facts{"tool": string(managed.HelmRelease),
		"fault": string(template.ImageForm)})
	for _, code := range plan.WarningCodes {
		if words := s.warning(plan.Warning{Code: code, Facts: facts}); len(words) < 20 {
			t.Errorf("%s: %q", code, words)
		}
	}
}

// TestEveryWayOut checks that each way out has words and a flag that previews it.
func TestEveryWayOut(t *testing.T) {
	for _, code := range []remedy.Code{remedy.RaiseMaxUnavailable, remedy.RaiseMaxSurge, remedy.RemoveNode,
		remedy.NoSurge, remedy.ExcludeNodes, remedy.RollBack, remedy.RepairNodes} {
		words, flags := wayOut(remedy.Remedy{Code: code, Value: "3"})
		planned := len(flags) > 0 && flags[len(flags)-1].Value == "3"
		if strings.Contains(words, string(code)) || !strings.Contains(words, "3") ||
			planned == (code == remedy.RepairNodes) {
			t.Errorf("%s: %q %v", code, words, flags)
		}
	}
}

// TestAgain checks that a suggested command replaces the flags that it overrides.
func TestAgain(t *testing.T) {
	p := &plan.Plan{}
	p.DaemonSet.Namespace, p.DaemonSet.Name = "n", "a"
	flag := func(name string, value ...string) sheet.Flag {
		return sheet.Flag{Name: name, Value: strings.Join(value, ""), Bare: len(value) == 0}
	}
	type flags = []sheet.Flag
	for _, tt := range []struct {
		given, more flags
		want, why   string
	}{
		{nil, flags{flag("restart")}, "--restart", "nothing is overridden"},
		{flags{flag("max-surge", "1"), flag("max-unavailable", "0"), flag("restart")},
			flags{flag("max-surge", "0"), flag("max-unavailable", "1")}, "--restart --max-surge=0 --max-unavailable=1",
			"both limits"},
		{flags{flag("max-unavailable", "1"), flag("max-surge", "0")}, flags{flag("max-unavailable", "3")},
			"--max-surge=0 --max-unavailable=3", "one of them"},
		{flags{flag("image", "x=a b"), flag("restart"), flag("start", "4s")}, flags{flag("to-revision", "3")},
			"--start=4s --to-revision=3", "a rollback uses the template unchanged"},
		{flags{flag("remove-nodes", "n1")}, flags{flag("remove-nodes", "n2")}, "--remove-nodes=n1 --remove-nodes=n2",
			"nodes are added to those before"},
		{flags{flag("strategy", "OnDelete")}, flags{flag("strategy", "RollingUpdate")}, "--strategy=RollingUpdate",
			"a strategy"},
		{flags{flag("from", "it's --restart x")}, flags{flag("restart")}, `--from='it'\''s --restart x' --restart`,
			"words within quotes are no flags"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			asked := sheet.New(&p.Header, sheet.Asked{Again: true, Flags: tt.given}, wording.Style{})
			if got, want := asked.Again("plan-rollout", tt.more...).String(),
				"kubectl ds plan-rollout -n n a "+tt.want; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	for why, asked := range map[string]sheet.Asked{
		"standard input is read once":           {},
		"a manifest's template, not a revision": {Again: true, Flags: flags{flag("filename", "x.yaml")}},
	} {
		if got := sheet.New(&p.Header, asked, wording.Style{}).Again("plan-rollout",
			flag("to-revision", "3")); len(got) > 0 {
			t.Errorf("%s: %q", why, got)
		}
	}
}

// TestMisfits checks that each kind of misfit has a fault and a fix.
func TestMisfits(t *testing.T) {
	type facts = daemonset.Facts
	one, two := []string{"w-1"}, []string{"w-1", "w-2"}
	for _, tt := range []struct {
		facts      facts
		nodes      []string
		fault, fix string
	}{
		{facts{"plugin": "NodeResourcesFit", "resources": []string{"cpu"}, "beyond": true}, one,
			"the template: it requests more CPU than w-1 has",
			"lower the CPU request in the template, or keep the pod off w-1 (nodeSelector or nodeAffinity)"},
		{facts{"plugin": "NodeResourcesFit", "resources": []string{"pods"}}, two,
			"the nodes: w-1, w-2 run as many pods as they may, all of the same or a higher priority",
			"move another pod off w-1, w-2, or keep this one off them (nodeSelector or nodeAffinity)"},
		{facts{"plugin": "NodeResourcesFit", "resources": []string{"memory"}}, one,
			"the template and the other pods on w-1 together: they request more memory than the node has",
			"lower the memory request in the template, or move other pods off w-1, or keep this one off it " +
				"(nodeSelector or nodeAffinity)"},
		{facts{"plugin": "NodePorts"}, two, "other pods on w-1, w-2 use the host port that the template asks for",
			"use another host port in the template, or have the owner of the other pods free the port on w-1, w-2"},
		{facts{"plugin": "NodeVolumeLimits", "claim": "data", "driver": "csi"}, one,
			"volume data: w-1 has as many volumes of the CSI driver csi as it may",
			"move another pod with such a volume off w-1, or keep this one off (nodeSelector or nodeAffinity)"},
		{facts{"plugin": "VolumeZone", "claim": "data", "persistentVolume": "pv", "reachable": "zone=a"}, one,
			"volume data: PersistentVolume pv cannot be attached on w-1",
			"use a volume that w-1 can have, or keep the pod off w-1 (nodeSelector or nodeAffinity)"},
		{facts{"plugin": "NodeName"}, one, "the scheduler rejects the pod on w-1 (NodeName)",
			"keep the pod off w-1 (nodeSelector or nodeAffinity)"},
	} {
		m := misfit{unfitOf(tt.facts), tt.facts, tt.nodes}
		if fault, fix := m.words(); fault != tt.fault || fix != tt.fix {
			t.Errorf("%v:\n%q, want\n%q\n%q, want\n%q", tt.facts, fault, tt.fault, fix, tt.fix)
		}
	}
}

func TestChoiceOf(t *testing.T) {
	pods := []string{"a/x"}
	for _, tt := range []struct {
		v           cause.Victims
		count, want string
	}{
		{cause.Victims{Fewest: 1, Most: 1}, "", ""},
		{cause.Victims{Fewest: 1, Most: 1, Others: []string{"a/y"}}, "one", "a/x, a/y"},
		{cause.Victims{Fewest: 2, Most: 2, Others: []string{"a/y"}}, "2", "a/x, a/y"},
		{cause.Victims{Fewest: 1, Most: 3, Others: []string{"a/y"}}, "1 to 3", "a/x, a/y"},
	} {
		if count, among := sheet.VictimChoice(pods, &tt.v); count != tt.count || among != tt.want {
			t.Errorf("%+v: %q of %q, want %q of %q", tt.v, count, among, tt.count, tt.want)
		}
	}
}

// TestAssumptionWords checks assumptions that no story has.
func TestAssumptionWords(t *testing.T) {
	type as = daemonset.Assumption
	for _, tt := range []struct {
		as   as
		also []as
		want string
	}{
		{as{Code: plan.AssumeTermination, Value: "0s", Source: "Rollout"}, nil,
			"a deleted pod is gone immediately, as so far in this rollout"},
		{as{Code: plan.AssumeTermination, Value: "20s", Source: "LastRollout"}, nil,
			"a deleted pod is gone after 20s on average, as in the last rollout"},
		{as{Code: plan.AssumeTermination, Value: "20s", Source: "Events"}, nil,
			"a deleted pod is gone within 20s (as the last ones were)"},
		{as{Code: daemonset.AssumeEveryNodeSelected, Source: "namespaces"}, nil,
			"the namespace selects every node, as its node selector could not be read"},
		{as{Code: plan.AssumeStart, Value: "9s", Source: "Pods"},
			[]as{{Code: plan.AssumeFuture, Value: "1"}, {Code: plan.AssumePull, Value: "2"}},
			"a new pod is Ready 9s after its creation (measured); it leaves out 1 pod whose Ready time lies in the " +
				"future; pulling 2 new images may add to that"},
		{as{Code: plan.AssumeMinReadySeconds, Value: "30"}, []as{{Code: plan.AssumeCountedLate, Value: "30s"}},
			"a Ready pod is available after 30s (minReadySeconds); the controller may notice it up to 30s late"},
	} {
		if got := sheet.Assumption(tt.as, append(tt.also, tt.as), sheet.Circumstances{}); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	if got, want := methodWords("ManagedFields", ""), "the manifest over the live object; what its field managers "+
		"own and the manifest lacks is removed"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestPlanImagesFirst checks that a plan shows changed images before the changes that it may leave out.
func TestPlanImagesFirst(t *testing.T) {
	p := &plan.Plan{Change: &whatif.Summary{TemplateChanged: true, Revision: whatif.RevisionNote{Number: 2, Was: 1,
		New: true}}}
	for i := range 12 {
		p.Change.Fields = append(p.Change.Fields,
			differs(fmt.Sprintf("spec.template.spec.containers[name=a].env[name=V%02d]", i), "", `{"name":"V"}`))
	}
	p.Change.Fields = append(p.Change.Fields, differs("spec.template.spec.containers[name=a].image", `"agent:1"`,
		`"agent:2"`))
	s := &planScreen{Sheet: sheet.New(&p.Header, sheet.Asked{}, wording.Style{}), p: p, o: &p.Outcome}
	s.change()
	var b strings.Builder
	check(t, s.Screen.Text(&b, screen.Terminal{}))
	if got := strings.TrimSpace(b.String()); !strings.HasPrefix(got, "Change    image of container a: 1 -> 2\n") {
		t.Error(got)
	}
}

// differs returns a Difference in the form that documents have.
func differs(path, old, new string) template.Difference {
	return template.Difference{Path: template.ParsePath(path), Old: template.ParseValue(old),
		New: template.ParseValue(new)}
}
