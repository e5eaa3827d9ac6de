package view

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/internal/dstest/world"
	"github.com/kubectl-ds/kubectl-ds/internal/encode"
	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/difftext"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/hide"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// TestHistoryScreens runs the stories in testdata/history. Worlds apply to the questions that follow them. A complete
// history replaces them.
func TestHistoryScreens(t *testing.T) { runStories[historyStory](t, "testdata/history/*.txtar") }

// historyStory is the input for the questions of a story.
type historyStory struct {
	worlds  []*snapshot.Snapshot
	written *history.History
}

func (a *historyStory) take(t *testing.T, name, data string) bool {
	switch name {
	case "world":
		a.worlds = append(a.worlds, world.Parse(t, data))
	case "written":
		a.written = new(history.History)
		check(t, yaml.UnmarshalStrict([]byte(data), a.written))
	default:
		return false
	}
	return true
}

// ask renders "history", "list", "revision WHICH", "diff A,B" or "unified A,B", followed by options or "--show-values".
func (a *historyStory) ask(t *testing.T, question string) (string, int) {
	t.Helper()
	words := strings.Fields(question)
	about := words[0]
	words = words[1:]
	var which []*history.Which
	if about == "revision" || about == "diff" || about == "unified" {
		for _, w := range strings.Split(words[0], ",") {
			which = append(which, parseWhich(t, w))
		}
		words = words[1:]
	}
	var o history.Options
	style, format := options(t, words, func(word, _ string) int {
		if word != "--show-values" {
			return 0
		}
		o.ShowValues = true
		return 1
	})
	if about == "diff" || about == "unified" {
		o.Diff = &history.Between{To: which[len(which)-1]}
		if len(which) > 1 {
			o.Diff.From = which[0]
		}
	}
	var all []sheet.Past
	for _, s := range a.worlds {
		h, err := history.Make(stateOf(t, s), o)
		check(t, err)
		e := explained(t, s, explain.Options{})
		all = append(all, sheet.Past{History: e.Judge(h), Now: e, ManagedBy: e.ManagedBy})
	}
	if a.written != nil {
		all = append(all, sheet.Past{History: a.written})
	}
	past := all[len(all)-1]
	h := past.History
	var b bytes.Buffer
	switch {
	case format == "json":
		document, err := encode.JSON(h)
		check(t, err)
		b.WriteString(document)
	case about == "list":
		check(t, Histories(&b, all, sheet.Asked{Again: true}, style))
	case about == "history" && format == "html":
		past.Map = plan.MapOf(stateOf(t, a.worlds[len(a.worlds)-1]), "")
		check(t, HistoryPage(&b, []sheet.Past{past}, false, askable, style))
		return inPage(t, b.String()), 0
	case about == "history":
		check(t, History(&b, past, sheet.Asked{Again: true}, style))
	case about == "diff":
		check(t, Diff(&b, past, sheet.Asked{Again: true}, style))
	case about == "revision":
		r, content := a.template(t, h, *which[0])
		check(t, Template(&b, past, sheet.Asked{Again: true}, r, content, o.ShowValues, style))
	case about == "unified":
		check(t, UnifiedDiff(&b, past, a.object(t, h, h.Diff.From), a.object(t, h, h.Diff.To), o.ShowValues, style))
	default:
		t.Fatalf("%q: %q is not understood", question, about)
	}
	most := 0
	if strings.HasPrefix(question, "history") && whole(question) {
		most = 30
	}
	return visible(b.String()), most
}

func (a *historyStory) template(t *testing.T, h *history.History, w history.Which) (*history.Revision,
	template.Content) {
	t.Helper()
	r, err := history.Find(h, w)
	check(t, err)
	c, err := history.Template(h, a.worlds[len(a.worlds)-1], r)
	check(t, err)
	return r, c
}

func (a *historyStory) object(t *testing.T, h *history.History, side history.Side) map[string]any {
	t.Helper()
	r, err := history.Find(h, history.Which{Number: side.Revision, Live: side.Live})
	check(t, err)
	o, err := history.Object(h, a.worlds[len(a.worlds)-1], r)
	check(t, err)
	return o
}

func parseWhich(t *testing.T, text string) *history.Which {
	t.Helper()
	if text == "live" {
		return &history.Which{Live: true}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	check(t, err)
	return &history.Which{Number: n}
}

// TestFieldsInWords checks how the table of revisions describes the differences of two templates.
func TestFieldsInWords(t *testing.T) {
	const agent = `{spec: {containers: [{name: agent, image: "example/agent:1"}]}}`
	for _, tt := range []struct{ why, old, new, want string }{
		{"of one repository only the tags are said", agent,
			`{spec: {containers: [{name: agent, image: "example/agent:2"}]}}`, "image of agent: 1 -> 2"},
		{"of another repository the whole image is", agent,
			`{spec: {containers: [{name: agent, image: "other/agent:2"}]}}`,
			"image of agent: example/agent:1 -> other/agent:2"},
		{"a port of a registry is no tag", `{spec: {containers: [{name: a, image: "r:5000/a"}]}}`,
			`{spec: {containers: [{name: a, image: "r:5000/a:2"}]}}`, "image of a: (no tag) -> 2"},
		{"a digest is shortened", `{spec: {containers: [{name: a, image: "a@sha256:` + strings.Repeat("0", 64) +
			`"}]}}`, `{spec: {containers: [{name: a, image: "a:1@sha256:` + strings.Repeat("f", 64) + `"}]}}`,
			"image of a: sha256:00000000… -> 1@sha256:ffffffff…"},
		{"a variable that comes", agent,
			`{spec: {containers: [{name: agent, image: "example/agent:1", env: [{name: LOG_LEVEL, value: debug}]}]}}`,
			"env LOG_LEVEL added"},
		{"many variables at once", agent,
			`{spec: {containers: [{name: agent, image: "example/agent:1", env: [{name: A}, {name: B}, {name: C}, {name: D}, {name: E}]}]}}`, "env A, B, C +2 more added"},
		{"a variable in addition to others", `{spec: {containers: [{name: agent, env: [{name: A, value: a}]}]}}`,
			`{spec: {containers: [{name: agent, env: [{name: LOG_LEVEL, value: debug}, {name: A, value: a}]}]}}`,
			"env LOG_LEVEL added"},
		{"a variable's value is not said", `{spec: {containers: [{name: agent, env: [{name: A, value: a}]}]}}`,
			`{spec: {containers: [{name: agent, env: [{name: A, value: b}]}]}}`, "env A changed"},
		{"from a value to a reference is one change",
			`{spec: {containers: [{name: agent, env: [{name: A, value: a}]}]}}`,
			`{spec: {containers: [{name: agent, env: [{name: A, valueFrom: {fieldRef: {fieldPath: x}}}]}]}}`,
			"env A changed"},
		{"a limit", `{spec: {containers: [{name: agent, resources: {limits: {memory: 1Gi}}}]}}`,
			`{spec: {containers: [{name: agent, resources: {limits: {memory: 2Gi}, requests: {cpu: 100m}}}]}}`,
			"memory limit: 1Gi -> 2Gi; cpu request added: 100m"},
		{"labels and annotations", `{metadata: {labels: {app: a, "example.com/team": x}}}`,
			`{metadata: {labels: {app: a, "example.com/team": z}, annotations: {"example.com/checksum": abc}}}`,
			"metadata only: annotation example.com/checksum added: abc; label example.com/team: x -> z"},
		{"the node selector", `{spec: {nodeSelector: {pool: a, x: y}}}`, `{spec: {nodeSelector: {pool: b}}}`,
			"nodeSelector pool: a -> b; nodeSelector x removed"},
		{"members of lists", `{spec: {containers: [{name: a, ports: [{containerPort: 80}], volumeMounts: [{name: v, mountPath: /x}]}], volumes: [{name: v, emptyDir: {}}]}}`,
			`{spec: {containers: [{name: a, ports: [{containerPort: 80}, {containerPort: 81}], volumeMounts: [{name: v, mountPath: /x, readOnly: true}]}], volumes: [{name: v, emptyDir: {medium: Memory}}]}}`,
			"port 81 added; volumeMount /x changed; volume v changed"},
		{"a container more, at the end", agent,
			`{spec: {containers: [{name: agent, image: "example/agent:1"}, {name: b, image: b}]}}`,
			"container b added"},
		{"the position of a new member is left out", agent,
			`{spec: {containers: [{name: b, image: b}, {name: agent, image: "example/agent:1"}]}}`,
			"container b added"},
		{"but members that changed places are not", `{spec: {containers: [{name: a}, {name: b}]}}`,
			`{spec: {containers: [{name: b}, {name: a}]}}`, "order of containers changed"},
		{"a long list is not written out", `{spec: {containers: [{name: a, args: [a]}]}}`,
			`{spec: {containers: [{name: a, args: [b]}]}}`, "args changed"},
		{"a probe", `{spec: {containers: [{name: a, livenessProbe: {httpGet: {port: 80}}}]}}`,
			`{spec: {containers: [{name: a, livenessProbe: {httpGet: {port: 81}}}]}}`,
			"livenessProbe.httpGet.port: 80 -> 81"},
		{"the pod's own fields", `{spec: {hostNetwork: true, priorityClassName: a}}`, `{spec: {priorityClassName: b}}`,
			"hostNetwork removed; priorityClassName: a -> b"},
		{"a value that is empty", `{spec: {priorityClassName: a}}`, `{spec: {priorityClassName: ""}}`,
			`priorityClassName: a -> ""`},
		{"an init container", `{spec: {initContainers: [{name: i, image: "x:1"}]}}`,
			`{spec: {initContainers: [{name: i, image: "x:2"}]}}`, "image of i: 1 -> 2"},
		{"control codes are made visible", `{spec: {priorityClassName: a}}`, "{spec: {priorityClassName: \"\\e[31m\"}}",
			`priorityClassName: "a" -> "\u001b[31m"`},
	} {
		t.Run(tt.why, func(t *testing.T) {
			var changes []history.FieldChange
			for _, d := range hide.Differences(template.Diff(parseContent(t, tt.old), parseContent(t, tt.new))) {
				changes = append(changes, history.FieldChange{Difference: d, Kind: history.FieldSet})
			}
			got := strings.Join(difftext.Style{Brief: true, Cell: true, Alone: true}.ChangeLines(changes), "; ")
			if got != tt.want {
				t.Errorf("%s -> %s: %q, want %q", tt.old, tt.new, got, tt.want)
			}
		})
	}
}

func parseContent(t *testing.T, text string) template.Content {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	check(t, err)
	c, err := template.Stored([]byte(`{"spec":{"template":` + string(raw) + `}}`))
	check(t, err)
	return c
}

// TestEveryNote checks that each note has its own words.
func TestEveryNote(t *testing.T) {
	h := &history.History{Revisions: []history.Revision{{Revision: 7, Name: "agent-7"}, {Revision: 8, Name: "agent-8"}}}
	said := map[string]history.NoteCode{}
	for _, code := range history.NoteCodes {
		p := newHistoryScreen(sheet.Past{History: h}, sheet.Asked{}, wording.Style{All: true})
		p.Screen.Add(screen.Note,
			p.sentence(&history.Note{Code: code, Revisions: []string{"agent-7"},
				Facts: wording.MergeFacts(sampleFacts(),
					daemonset.Facts{"name": "agent-8", "names": []string{"agent-7"},
						"why": "Unknown"})}))
		var b strings.Builder
		check(t, p.Screen.Text(&b, screen.Terminal{}))
		words := b.String()
		if elsewhere := slices.Contains([]history.NoteCode{history.SelectsAll, history.BeingDeleted, history.NotCut,
			history.NumberRaised, history.TakenUpAgain}, code); elsewhere {
			continue // the headline or a row says this
		}
		if other, twice := said[words]; twice || len(words) < 30 || strings.Contains(words, string(code)) {
			t.Errorf("%s: %q, as %s", code, words, other)
		}
		said[words] = code
	}
}

// TestEveryHistory renders random states in every style.
func TestEveryHistory(t *testing.T) {
	drawn := 0
	for seed := range cases.Of(int64(30)) {
		s := dstest.Random(seed)
		if seed%7 == 0 {
			s.Revisions, s.Gaps = nil, []snapshot.Gap{{What: snapshot.Revisions, Why: snapshot.NotGiven}}
		}
		if seed%13 == 0 {
			s.DaemonSet.Spec.Selector = &metav1.LabelSelector{} // the API server does not allow this
		}
		if seed%11 == 0 {
			s.Pods, s.Gaps = nil, []snapshot.Gap{{What: snapshot.Pods, Why: snapshot.NotGiven}}
		}
		for i := range s.Revisions {
			r := &s.Revisions[i]
			if r.Annotations == nil {
				r.Annotations = map[string]string{}
			}
			r.Annotations["kubernetes.io/change-cause"] = "\x1b[31m\x07 \u009b2J \u202e red\nline"
		}
		h, err := history.Make(stateOf(t, s), history.Options{})
		check(t, err)
		e := explained(t, s, explain.Options{})
		h = e.Judge(h)
		past := sheet.Past{History: h, Now: e, ManagedBy: e.ManagedBy}
		for _, all := range []bool{false, true} {
			var b bytes.Buffer
			check(t, History(&b, past, sheet.Asked{Again: true}, wording.Style{Form: wording.InMarkdown, All: all}))
			if err := lawfulMarkdown(b.String()); err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, b.String())
			}
		}
		for _, style := range []wording.Style{{}, {Width: 80}, {Width: 40}, {Width: 80, Wide: true},
			{Width: 80, Color: true}, {All: true}} {
			drawn++
			var b bytes.Buffer
			check(t, History(&b, past, sheet.Asked{Again: true}, style))
			if err := lawfulHistory(b.String(), style); err != nil {
				t.Fatalf("seed %d, %+v: %v\n%s\n%s", seed, style, err, b.String(), dstest.Describe(s))
			}
			if n := strings.Count(b.String(), "\n"); style.Width == 80 && !style.Wide && n > 60 {
				t.Errorf("seed %d: %d lines:\n%s", seed, n, b.String())
			}
			b.Reset()
			check(t, Histories(&b, []sheet.Past{past, past}, sheet.Asked{Again: true}, style))
			if err := lawfulHistory(b.String(), style); err != nil {
				t.Fatalf("seed %d, list: %v\n%s", seed, err, b.String())
			}
			for i := range h.Revisions {
				r := &h.Revisions[i]
				c, err := history.Template(h, s, r)
				if err != nil {
					continue // the row has no revision, or its template is unreadable
				}
				b.Reset()
				check(t, Template(&b, past, sheet.Asked{Again: true}, r, c, false, style))
				if err := lawful(b.String(), wording.Style{Color: style.Color}); err != nil {
					t.Fatalf("seed %d, revision %d: %v\n%s", seed, r.Revision, err, b.String())
				}
			}
		}
	}
	if drawn < cases.Least(106) {
		t.Errorf("only %d screens were drawn", drawn)
	}
}

// lawfulHistory applies lawful to everything except commands to paste and tables on a narrow terminal, which breaks
// their lines itself.
func lawfulHistory(screen string, style wording.Style) error {
	var kept []string
	for _, l := range strings.Split(screen, "\n") {
		if strings.Contains(l, "kubectl ds ") || strings.HasPrefix(l, "            ") || style.Width > 0 &&
			style.Width < 80 {
			l = "x"
		}
		kept = append(kept, l)
	}
	return lawful(strings.Join(kept, "\n"), style)
}

// TestNoValueIsShown checks that no screen and no document shows a literal value of an environment variable without
// --show-values. A changed value must still show up as a change.
func TestNoValueIsShown(t *testing.T) {
	s := world.Parse(t, secretWorld)
	a := &historyStory{worlds: []*snapshot.Snapshot{s}}
	for _, question := range []string{
		"history", "history --all", "history -o wide", "history -o json", "list", "list -o wide", "diff 7,8",
		"diff 7,8 --all", "diff 6,7", "diff 7,8 -o json", "unified 7,8", "unified 8,live",
		"revision 8", "revision 7", "revision live",
	} {
		got, _ := a.ask(t, question)
		if strings.Contains(got, "hunter") {
			t.Errorf("%s: a value is shown:\n%s", question, got)
		}
		if shown, _ := a.ask(t, question+" --show-values"); strings.HasPrefix(question, "diff") ||
			strings.HasPrefix(question, "revision") {
			if !strings.Contains(shown, "hunter") {
				t.Errorf("%s --show-values: no value is shown:\n%s", question, shown)
			}
		}
	}
	for _, l := range []string{"-        value: <hidden ", "+        value: <hidden "} {
		if got, _ := a.ask(t, "unified 7,8"); !strings.Contains(got, "\n"+l[:1]) ||
			!strings.Contains(got, strings.TrimLeft(l[1:], " ")) {
			t.Errorf("a changed value is not seen to have changed:\n%s", got)
		}
	}
}

const secretWorld = `
revisions: {6: -9d, 7: -3d, 8: -1h}
daemonset: {spec: {template: {spec: {containers: [{name: agent, image: "example/agent:8", env: [{name: TOKEN, value: hunter8}, {name: OTHER, value: hunter}]}]}}}}
templates:
  6: {spec: {containers: [{name: agent, image: "example/agent:8"}]}}
  7: {spec: {containers: [{name: agent, image: "example/agent:8", env: [{name: TOKEN, value: hunter7}, {name: OTHER, value: hunter}]}]}}
stored: {8: {metadata: {annotations: {kubernetes.io/change-cause: "kubectl set env ds/agent TOKEN=hunter8 --record=true"}}}}
nodes: {"w-[1-2]": {}}
pods: {"w-1 8": {}, "w-2 7": {}}
`

// TestImagesOnce checks that an image of several containers is listed once.
func TestImagesOnce(t *testing.T) {
	for _, tt := range []struct {
		of   []string
		want string
	}{
		{nil, ""},
		{[]string{"r.example/a:1"}, "image r.example/a:1"},
		{[]string{"r.example/a:1", "r.example/a:1", "r.example/a:1"}, "image r.example/a:1"},
		{[]string{"r.example/a:1", "r.example/b:2", "r.example/a:1"}, "images a:1, b:2"},
		{[]string{"r.example/a:1", "r.example/a:2"}, "images a:1, a:2"},
	} {
		var all []history.Image
		for _, image := range tt.of {
			all = append(all, history.Image{Image: image})
		}
		if got := images(all); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.of, got, tt.want)
		}
	}
}
