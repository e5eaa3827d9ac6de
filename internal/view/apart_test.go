package view

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

// TestFieldWords: a change is told by what differs, however long it is.
func TestFieldWords(t *testing.T) {
	one, other := strings.Repeat("a1b2c3d4", 8), strings.Repeat("e5f6a7b8", 8)
	list := func(words ...string) string {
		raw, err := json.Marshal(words)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	text := func(words string) string { return list(words)[1 : len(list(words))-1] }
	many := func(mark ...string) []string {
		var out []string
		for i := range 30 {
			out = append(out, fmt.Sprintf("--flag-%02d=value", i))
			for _, m := range mark {
				if strings.HasPrefix(m, out[i][:9]) {
					out[i] = m
				}
			}
		}
		return out
	}
	for _, tt := range []struct{ old, new, want, why string }{
		{`"agent:1"`, `"agent:2"`, "agent:1 -> agent:2", "short values are whole"},
		{`["a","b"]`, `["a","c"]`, `["a","b"] -> ["a","c"]`, "short lists, too"},
		{`"quay.io/acme/agent:v1.2.3@sha256:` + one + `"`, `"quay.io/acme/agent:v1.2.4@sha256:` + other + `"`, "…agent:v1.2.3@sha256:a1b2c3d4a1b2c3… -> …agent:v1.2.4@sha256:e5f6a7b8e5f6a7…", "a tag and a digest"},
		{`"registry.example.com/a/long/path/of/names/agent@sha256:` + one + `"`, `"registry.example.com/a/long/path/of/names/agent@sha256:` + one[:60] + `ffff"`, "…sha256:…b2c3d4 -> …sha256:…b2ffff", "a digest that differs at its end"},
		{list(many()...), list(many("--flag-01=X", "--flag-20=Y")...), `[…, "--flag-01=value", …, "--flag-20=value", …] -> […, "--flag-01=X", …, "--flag-20=Y", …]`, "two arguments of many"},
		{list(many()...), list(append(many(), "--new")...), `[…] -> […, "--new"]`, "an argument that comes"},
		{list(append(many(), "--new")...), list(many()...), `[…, "--new"] -> […]`, "one that goes"},
		{
			list("sh", "-c", "set -e; prepare --all --verbose --retries=3 --deadline=30s; agent --level=info --port=9100; cleanup --now"), list("sh", "-c", "set -e; prepare --all --verbose --retries=5 --deadline=30s; agent --level=debug --port=9100; cleanup --now"),
			`[…, "-c", "… --verbose --retries=3 … agent --level=info …"] -> […, "-c", "… --verbose --retries=5 … agent --level=debug …"]`, "two words of a script",
		},
		{text(strings.Repeat("word ", 30) + "a  b"), text(strings.Repeat("word ", 30) + "a b"), `… word "a \u0020" … -> … word "a" …`, "a blank at the end of a long text"},
		{text("line one is long enough\nline two\nline three is long\nline four\nlast line of all of them"), text("line one is long enough\nline 2\nline three is long\nline four\nlast line of all of us"), `"… line two\n … line four\n last line of all of them" -> "… line 2\n … line four\n last line of all of us"`, "two lines of a text"},
		{
			list("--secure-listen-address=0.0.0.0:8443", "--upstream=http://127.0.0.1:9100/", "--metrics-bind-address=127.0.0.1:9100"), list("--secure-listen-address=0.0.0.0:8443", "--upstream=http://127.0.0.1:9100/", "--metrics-bind-address=0.0.0.0:9100"),
			`[…, "--metrics-bind-address=127.0.0.1:9100"] -> […, "--metrics-bind-address=0.0.0.0:9100"]`, "an argument that changed is whole, and one that did not is left out",
		},
		{
			list("--collector.filesystem.mount-points-exclude=^/(dev|proc|sys|var/lib/docker/.+|var/lib/kubelet/pods/.+)($|/)", "--v"), list("--collector.filesystem.mount-points-exclude=^/(dev|proc|sys|run|var/lib/docker/.+|var/lib/kubelet/pods/.+)($|/)", "--v"),
			`["--collector.filesystem.mount-points-exclude=^/(dev|proc|sys|var/…", …] -> ["--collector.filesystem.mount-points-exclude=^/(dev|proc|sys|run|var/…", …]`, "a long one keeps the flag's name",
		},
		{
			list("--collector.netclass.ignored-devices", "^(veth.*|cali.*)$", "--log-level", "debug", "--path.rootfs=/host"), list("--collector.netclass.ignored-devices", "^(veth.*|cali.*)$", "--log-level", "info", "--path.rootfs=/host"),
			`[…, "--log-level", "debug", …] -> […, "--log-level", "info", …]`, "so does a value that is an argument of its own",
		},
		{
			list("--v"), list("--v", "--collector.filesystem.mount-points-exclude="+strings.Repeat("/var/lib/", 12)+"x", "--end=1"),
			`[…] -> […, "--collector.filesystem.mount-points-exclude=/var/lib//var/ … ar/lib//var/lib/x", "--end=1"]`, "one that comes keeps its flag's name, too",
		},
		{list(many()...), list(slices.Concat([]string{many()[1], many()[0]}, many()[2:])...), `["--flag-00=value", "--flag-01=value", …] -> ["--flag-01=value", "--flag-00=value", …]`, "one that moved"},
		{`"quay.io/acme/agent:v1.8.2"`, `"quay.io/acme/agent:v1.8.2 "`, `"quay.io/acme/agent:v1.8.2" -> "quay.io/acme/agent:v1.8.2\u0020"`, "a blank at the end"},
		{`"80"`, `80`, `"80" -> 80`, "a text and a number"},
		{"\"a\u200bb\"", `"a\\u200bb"`, `"a\u200bb" -> "a\\u200bb"`, "an invisible character, and its escape"},
		{`"agent"`, "\"\u0430gent\"", `"agent" -> "\u0430gent"`, "a letter that looks like another"},
		{`"é"`, "\"e\u0301\"", `"é" -> "e\u0301"`, "one letter of one character, and of two"},
	} {
		s := &lineScreen{}
		if got := s.fieldWords(plan.FieldDiff{Path: "spec.template.spec.containers[name=a].args", Old: tt.old, New: tt.new}); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.why, got, tt.want)
		}
		if got := s.fieldWords(plan.FieldDiff{Path: "spec.template.spec.containers[name=a].args", Old: tt.new, New: tt.old}); len([]rune(got)) > len([]rune(tt.want))+2 {
			t.Errorf("%s, the other way round:\n%s", tt.why, got)
		}
	}
}

// TestContainerComes: of a container that comes or goes the image is told, since all
// of it is long.
func TestContainerComes(t *testing.T) {
	const raw = `{"args":["--collector.filesystem.mount-points-exclude=^/(dev|proc)","--b"],"image":"quay.io/acme/agent:1","name":"a","resources":{"limits":{"cpu":"1"}}}`
	s := &lineScreen{}
	for _, tt := range []struct{ path, old, new, want, why string }{
		{"spec.template.spec.containers[name=a]", "", raw, "added, image quay.io/acme/agent:1, …", "one that comes"},
		{"spec.template.spec.initContainers[name=a]", raw, "", "removed, was image quay.io/acme/agent:1, …", "one that goes, before the others"},
		{"spec.template.spec.volumes[name=a]", "", `{"image":"x","name":"a"}`, `added, {"image":"x","name":"a"}`, "a volume is none"},
		{"spec.template.spec.containers[name=a].livenessProbe", "", `{"image":"x"}`, `added, {"image":"x"}`, "and no part of one"},
	} {
		if got := s.fieldWords(plan.FieldDiff{Path: tt.path, Old: tt.old, New: tt.new}); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.why, got, tt.want)
		}
	}
	if got := (&lineScreen{Style: Style{All: true}}).fieldWords(plan.FieldDiff{Path: "spec.template.spec.containers[name=a]", New: raw}); got != "added, "+raw {
		t.Errorf("with --all: %s", got)
	}
}

// TestPlanImagesFirst: what runs is told before what a plan may leave out.
func TestPlanImagesFirst(t *testing.T) {
	p := &plan.Plan{Change: &plan.ChangeSummary{TemplateChanged: true, Revision: plan.RevisionNote{Number: 2, Was: 1, New: true}}}
	for i := range 12 {
		p.Change.Fields = append(p.Change.Fields, plan.FieldDiff{Path: fmt.Sprintf("spec.template.spec.containers[name=a].env[name=V%02d]", i), New: `{"name":"V"}`})
	}
	p.Change.Fields = append(p.Change.Fields, plan.FieldDiff{Path: "spec.template.spec.containers[name=a].image", Old: `"agent:1"`, New: `"agent:2"`})
	s := &plannedScreen{p: p, o: &p.Outcome}
	s.change()
	var b strings.Builder
	check(t, s.s.Text(&b, screen.Terminal{}))
	if got := strings.TrimSpace(b.String()); !strings.HasPrefix(got, "Change    image of container a: agent:1 -> agent:2\n") {
		t.Error(got)
	}
}

// TestImagesApart: an image's change in the table of a history.
func TestImagesApart(t *testing.T) {
	digest := func(s string) string { return "sha256:" + s + strings.Repeat("0", 64-len(s)) }
	for _, tt := range []struct{ old, new, before, after, why string }{
		{"r/a:1", "r/a:2", "1", "2", "tags"},
		{"r/a@" + digest("aaaa"), "r/a@" + digest("bbbb"), "sha256:aaaa0000…", "sha256:bbbb0000…", "digests"},
		{"r/a:1@" + digest("aaaaaaaaaa1"), "r/a:2@" + digest("aaaaaaaaaa2"), "1@sha256:…aa100000000000…", "2@sha256:…aa200000000000…", "that begin alike"},
		{"r/a:1@" + digest("aaaa"), "r/a:2@" + digest("aaaa"), "1@sha256:aaaa0000…", "2@sha256:aaaa0000…", "one digest, two tags"},
		{"r/a:1", "r/a@" + digest("aaaa"), "1", "sha256:aaaa0000…", "a digest for a tag"},
		{"r/a:1", "r/a", "1", "(no tag)", "no tag"},
		{"q.io:5000/a:1", "q.io:5001/a:1", "q.io:5000/a:1", "q.io:5001/a:1", "a registry's port"},
		{"r/a:1", "r/a:1 ", `"1"`, `"1\u0020"`, "a blank"},
		{"r/a:1\u00a0", "r/a:1", `"1\u00a0"`, `"1"`, "another blank"},
		{"r/a:1", "r/a:1\u200b", `"1"`, `"1\u200b"`, "an invisible character"},
		{"r/a@" + digest("aaaa"), "r/a@" + digest("aaaa") + "0", "sha256:…00", "sha256:…000", "a digest that is too long"},
		{"q/a@" + digest("aaaa"), "r/a@" + digest("aaaa"), "q/a@sha256:aaaa0000…", "r/a@sha256:aaaa0000…", "another registry"},
	} {
		if before, after := tellApart(imageChange(tt.old, tt.new)); before != tt.before || after != tt.after {
			t.Errorf("%s: %s -> %s, want %s -> %s", tt.why, before, after, tt.before, tt.after)
		}
	}
}

// TestSidesTellApart: two values that differ are told apart, and each member of a
// list that is on one side alone is on the screen, where they are few and short.
func TestSidesTellApart(t *testing.T) {
	const most = 6
	looked := 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 4))
		member := func() string { return fmt.Sprintf("--%c=%d", 'a'+r.IntN(26), r.IntN(1000)) }
		var old, new []string
		for range r.IntN(40) {
			old = append(old, member())
		}
		gone, come := []string{}, []string{}
		for _, m := range old {
			switch r.IntN(24) {
			case 0:
				gone = append(gone, m)
			case 1:
				come = append(come, member())
				new = append(new, m, come[len(come)-1])
			default:
				new = append(new, m)
			}
		}
		raw := func(words []string) string {
			b, err := json.Marshal(append([]string{}, words...))
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		if raw(old) == raw(new) {
			continue
		}
		before, after := (&lineScreen{}).sides("spec.x", raw(old), raw(new))
		if before == after {
			t.Fatalf("seed %d: %s to %s: both are %s", seed, raw(old), raw(new), before)
		}
		if len(gone)+len(come) > most {
			continue
		}
		looked++
		for _, m := range gone {
			if !strings.Contains(before, `"`+m+`"`) {
				t.Fatalf("seed %d: %s is not in %s", seed, m, before)
			}
		}
		for _, m := range come {
			if !strings.Contains(after, `"`+m+`"`) {
				t.Fatalf("seed %d: %s is not in %s", seed, m, after)
			}
		}
	}
	if looked < 1000 {
		t.Errorf("only %d pairs", looked)
	}
}

// TestGroups: one change of several containers takes one line.
func TestGroups(t *testing.T) {
	field := func(container, rest string) plan.FieldDiff {
		return plan.FieldDiff{Path: "spec.template.spec." + container + "." + rest, Old: `"agent:1"`, New: `"agent:2"`}
	}
	other := field("containers[name=b]", "image")
	other.New = `"agent:3"`
	fields := []plan.FieldDiff{
		field("containers[name=a]", "image"), other, field("containers[name=c]", "env[name=A].value"), field("containers[name=d]", "image"),
		field("initContainers[name=a]", "image"), {Path: "spec.template.metadata.labels.image", Old: `"agent:1"`, New: `"agent:2"`},
	}
	s := &lineScreen{}
	var got []string
	for _, g := range groupFields(len(fields), func(i int) (string, string) { return fields[i].Path, s.fieldWords(fields[i]) }) {
		got = append(got, s.groupTitle(g, clean)+": "+g.words)
	}
	want := []string{
		"image of 3 containers (a, d, a): agent:1 -> agent:2",
		"spec.template.spec.containers[name=b].image: agent:1 -> agent:3",
		"spec.template.spec.containers[name=c].env[name=A].value: agent:1 -> agent:2",
		"spec.template.metadata.labels.image: agent:1 -> agent:2",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	var changes []history.Change
	for _, f := range fields {
		changes = append(changes, history.Change{Difference: f, Kind: history.FieldSet})
	}
	if got, want := strings.Join(s.fieldsInWords(changes, true), "; "), "image a, d 1 -> 2; image b 1 -> 3; env A of c agent:1 -> agent:2; label image agent:1 -> agent:2"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, c := range []string{"e", "f"} {
		changes = append(changes, history.Change{Difference: field("containers[name="+c+"]", "image"), Kind: history.FieldSet})
	}
	if got, want := s.fieldsInWords(changes, true)[0], "image of 4 containers 1 -> 2"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
