package difftext

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// differs returns a Difference in the form that documents have.
func differs(path, old, new string) template.Difference {
	return template.Difference{Path: template.ParsePath(path), Old: template.ParseValue(old),
		New: template.ParseValue(new)}
}

// TestFieldWords checks that a change is described by its different parts, even if it is long.
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
		{`"agent:1"`, `"agent:2"`, "agent:1 -> agent:2", "short values are complete"},
		{`["a","b"]`, `["a","c"]`, `["a","b"] -> ["a","c"]`, "short lists are complete"},
		{`"quay.io/acme/agent:v1.2.3@sha256:` + one + `"`, `"quay.io/acme/agent:v1.2.4@sha256:` + other + `"`,
			"quay.io/acme/agent:v1.2.3@sha256:a1b2c3d4a1b2c3d4a1b2c3d4a1b2c3d4a1b2… -> " +
				"quay.io/acme/agent:v1.2.4@sha256:e5f6a7b8e5f6a7b8e5f6a7b8e5f6a7b8e5f6…", "a tag and a digest"},
		{`"registry.example.com/a/long/path/of/names/agent@sha256:` + one + `"`,
			`"registry.example.com/a/long/path/of/names/agent@sha256:` + one[:60] + `ffff"`,
			"registry.example.com/a/long/path/of/names/age…c3d4a1b2c3d4 -> " +
				"registry.example.com/a/long/path/of/names/age…c3d4a1b2ffff", "digests with different ends"},
		{list(many()...), list(many("--flag-01=X", "--flag-20=Y")...),
			`[…, "--flag-01=value", …, "--flag-20=value", …] -> […, "--flag-01=X", …, "--flag-20=Y", …]`,
			"two arguments of many"},
		{list(many()...), list(append(many(), "--new")...), `[…] -> […, "--new"]`, "an added argument"},
		{list(append(many(), "--new")...), list(many()...), `[…, "--new"] -> […]`, "a removed argument"},
		{
			list("sh", "-c", "set -e; prepare --all --verbose --retries=3 --deadline=30s; agent --level=info "+
				"--port=9100; cleanup --now"), list("sh", "-c", "set -e; prepare --all --verbose --retries=5 "+
				"--deadline=30s; agent --level=debug --port=9100; cleanup --now"),
			`[…, "-c", … --verbose --retries=3 … agent --level=info …] -> […, "-c", … --verbose --retries=5 … agent --level=debug …]`, "two words of a script",
		},
		{text(strings.Repeat("word ", 30) + "a  b"), text(strings.Repeat("word ", 30) + "a b"),
			`… a \u0020b" -> … a b"`, "a space at the end of a long text"},
		{text("line one is long enough\nline two\nline three is long\nline four\nlast line of all of them"),
			text("line one is long enough\nline 2\nline three is long\nline four\nlast line of all of us"),
			`… enough\nline two\nline … of them" -> … enough\nline 2\nline … of us"`, "two words of a text with lines"},
		{
			list("--secure-listen-address=0.0.0.0:8443", "--upstream=http://127.0.0.1:9100/",
				"--metrics-bind-address=127.0.0.1:9100"),
			list("--secure-listen-address=0.0.0.0:8443", "--upstream=http://127.0.0.1:9100/",
				"--metrics-bind-address=0.0.0.0:9100"),
			`[…, "--metrics-bind-address=127.0.0.1:9100"] -> […, "--metrics-bind-address=0.0.0.0:9100"]`,
			"an argument that changed is whole, and one that did not is left out",
		},
		{
			list("--collector.filesystem.mount-points-exclude=^/(dev|proc|sys|var/lib/docker/.+|var/lib/kubelet/pods/.+)($|/)", "--v"), list("--collector.filesystem.mount-points-exclude=^/(dev|proc|sys|run|var/lib/docker/.+|var/lib/kubelet/pods/.+)($|/)", "--v"),
			`["--collector.filesystem.mount-points-exclude=…roc|sys|var/lib/docker/.+|var/li…, …] -> ["--collector.filesystem.mount-points-exclude=…roc|sys|run|var/lib/docker/.+|va…, …]`, "a long one keeps the flag's name",
		},
		{
			list("--collector.netclass.ignored-devices", "^(veth.*|cali.*)$", "--log-level", "debug",
				"--path.rootfs=/host"), list("--collector.netclass.ignored-devices", "^(veth.*|cali.*)$", "--log-level",
				"info", "--path.rootfs=/host"),
			`[…, "--log-level", "debug", …] -> […, "--log-level", "info", …]`,
			"so does a value that is an argument of its own",
		},
		{
			list("--v"), list("--v", "--collector.filesystem.mount-points-exclude="+strings.Repeat("/var/lib/",
				12)+"x", "--end=1"),
			`["--v"] -> […, "--collector.filesystem.mount-points-exclude=…lib//var/lib//var/lib/x", "--end=1"]`,
			"one that comes keeps its flag's name, too",
		},
		{list(many()...), list(slices.Concat([]string{many()[1], many()[0]}, many()[2:])...),
			`[…, "--flag-01=value", …] -> ["--flag-01=value", …]`, "a moved argument"},
		{`"quay.io/acme/agent:v1.8.2"`, `"quay.io/acme/agent:v1.8.2 "`,
			`"quay.io/acme/agent:v1.8.2" -> "quay.io/acme/agent:v1.8.2\u0020"`, "a space at the end"},
		{`"80"`, `80`, `"80" -> 80`, "a text and a number"},
		{"\"a\u200bb\"", `"a\\u200bb"`, `"a\u200bb" -> "a\\u200bb"`, "an invisible character, and its escape"},
		{`"agent"`, "\"\u0430gent\"", `"agent" -> "\u0430gent"`, "a letter that looks like another"},
		{`"é"`, "\"e\u0301\"", `"é" -> "e\u0301"`, "the same letter as one character and as two"},
	} {
		about := func(old, new string) string {
			d := differs("spec.template.spec.containers[name=a].args", old, new)
			return Style{}.Lines([]template.Difference{d}, nil)[0]
		}
		if got := about(tt.old, tt.new); got != "args of container a: "+tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.why, got, tt.want)
		}
		if got := about(tt.new, tt.old); screen.Width(got) > screen.Width("args of container a: "+tt.want)+6 {
			t.Errorf("%s, the other way round:\n%s", tt.why, got)
		}
	}
}

// TestFieldNames checks that fields have readable names, that added and removed members have a summary, and that
// several containers share one line.
func TestFieldNames(t *testing.T) {
	const container = `{"args":["--collector.filesystem.mount-points-exclude=^/(dev|proc)","--b"],"image":"quay.io/acme/agent:1","name":"a"}`
	for _, tt := range []struct{ path, old, new, want, why string }{
		{"spec.template.spec.containers[name=a].image", `"r/agent:1"`, `"r/agent:2"`, "image of container a: 1 -> 2",
			"of one repository only the tags are said"},
		{"spec.template.spec.initContainers[name=a].image", `"r/agent:1"`, `"q/agent:1"`,
			"image of container a: r/agent:1 -> q/agent:1", "for another repository, the complete image is shown"},
		{"spec.template.spec.containers[name=a].resources.limits.memory", `"1Gi"`, `"2Gi"`,
			"memory limit of container a: 1Gi -> 2Gi", "a limit"},
		{"spec.template.spec.containers[name=a].resources.requests.cpu", ``, `"100m"`,
			"cpu request of container a added: 100m", "a request"},
		{"spec.template.spec.containers[name=a].resources.claims", ``, `[]`,
			"resources.claims of container a added: []", "fields next to them"},
		{"spec.template.spec.containers[name=a].env[name=A].valueFrom.fieldRef.fieldPath", `"x"`, `"z"`,
			"valueFrom.fieldRef.fieldPath of env A of container a: x -> z", "from the inside to the outside"},
		{"spec.template.spec.containers[name=a].volumeMounts[mountPath=/x.y/z].readOnly", `true`, ``,
			"readOnly of volumeMount /x.y/z of container a removed, was true", "a dot in a member's key"},
		{"spec.template.spec.volumes[name=v].csi.volumeAttributes[a.b/c]", `"1"`, `"2"`,
			"csi.volumeAttributes.a.b/c of volume v: 1 -> 2", "a key of another map"},
		{"spec.template.metadata.labels[a.b/c]", `"1"`, `"2"`, "label a.b/c: 1 -> 2", "a label of the pods"},
		{"spec.template.metadata.labels", `{"a":"1"}`, `{}`, `metadata.labels: {"a":"1"} -> {}`, "all of them"},
		{"metadata.labels.team", `"1"`, `"2"`, "label team of the DaemonSet: 1 -> 2", "and one of the DaemonSet"},
		{"spec.template.spec.nodeSelector.pool", `"gpu"`, `"gpus"`, "nodeSelector pool: gpu -> gpus",
			"a node selector"},
		{"spec.updateStrategy.rollingUpdate.maxSurge", `0`, `"50%"`, "updateStrategy.rollingUpdate.maxSurge: 0 -> 50%",
			"a field of the DaemonSet"},
		{"spec.template", `{}`, ``, "the template removed, was {}", "the complete template"},
		{"spec.template.spec.containers[name=a].env[name]", `["a","b"]`, `["b","a"]`,
			"order of env of container a: a, b -> b, a", "the order of a list"},
		{"spec.template.spec.tolerations",
			`[{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":30}]`,
			`[{"operator":"Exists"},{"key":"b","value":"c"}]`, "tolerations: a:NoExecute for 30 s -> *, b=c",
			"tolerations as --toleration takes them"},
		{"spec.template.spec.containers[name=a]", "", container, "container a added: image quay.io/acme/agent:1, …",
			"an added container"},
		{"spec.template.spec.initContainers[name=a]", container, "",
			"init container a removed, was image quay.io/acme/agent:1, …", "a removed init container"},
		{"spec.template.spec.volumes[name=a]", "", `{"image":"x","name":"a"}`,
			`volume a added: {"image":"x","name":"a"}`, "a volume is not a container"},
		{"spec.template.spec.containers[name=a].livenessProbe", "", `{"image":"x"}`,
			`livenessProbe of container a added: {"image":"x"}`, "a probe is not a container"},
	} {
		if got := (Style{}).Lines([]template.Difference{differs(tt.path, tt.old, tt.new)}, nil)[0]; got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.why, got, tt.want)
		}
	}
	whole := Style{All: true}.Lines([]template.Difference{differs("spec.template.spec.containers[name=a]", "",
		container)}, nil)[0]
	if whole != "container a added: "+container {
		t.Errorf("with --all: %s", whole)
	}
}

// TestImagesApart checks how the table of a history shows a changed image.
func TestImagesApart(t *testing.T) {
	digest := func(s string) string { return "sha256:" + s + strings.Repeat("0", 64-len(s)) }
	for _, tt := range []struct{ old, new, before, after, why string }{
		{"r/a:1", "r/a:2", "1", "2", "tags"},
		{"r/a@" + digest("aaaa"), "r/a@" + digest("bbbb"), "sha256:aaaa0000…", "sha256:bbbb0000…", "digests"},
		{"r/a:1@" + digest("aaaaaaaaaa1"), "r/a:2@" + digest("aaaaaaaaaa2"), "1@sha256:aaaaaaaa…", "2@sha256:aaaaaaaa…",
			"that begin alike, and tags"},
		{"r/a:1@" + digest("aaaa"), "r/a:2@" + digest("aaaa"), "1@sha256:aaaa0000…", "2@sha256:aaaa0000…",
			"one digest, two tags"},
		{"r/a:1", "r/a@" + digest("aaaa"), "1", "sha256:aaaa0000…", "a digest for a tag"},
		{"r/a:1", "r/a", "1", "(no tag)", "no tag"},
		{"q.io:5000/a:1", "q.io:5001/a:1", "q.io:5000/a:1", "q.io:5001/a:1", "a registry's port"},
		{"r/a:1", "r/a:1 ", `"1"`, `"1\u0020"`, "a blank"},
		{"r/a:1\u00a0", "r/a:1", `"1\u00a0"`, `"1"`, "another kind of space"},
		{"r/a:1", "r/a:1\u200b", `"1"`, `"1\u200b"`, "an invisible character"},
		{"r/a@" + digest("aaaa"), "r/a@" + digest("aaaa") + "0",
			"r/a@sha256:aaaa000000000000000000000000000000…00000000",
			"r/a@sha256:aaaa000000000000000000000000000000…000000000", "a digest that is too long"},
		{"q/a@" + digest("aaaa"), "r/a@" + digest("aaaa"), "q/a@sha256:aaaa0000…", "r/a@sha256:aaaa0000…",
			"another registry"},
	} {
		d := template.Difference{Path: template.ParsePath("spec.template.spec.containers[name=a].image"),
			Old: template.ValueOf(tt.old), New: template.ValueOf(tt.new)}
		if before, after := (Style{Brief: true}).Sides(&d); before != tt.before || after != tt.after {
			t.Errorf("%s: %s -> %s, want %s -> %s", tt.why, before, after, tt.before, tt.after)
		}
	}
}

// TestSidesTellApart checks that two different values look different, and that all members of only one list are shown
// if they are few and short.
func TestSidesTellApart(t *testing.T) {
	const most = 6
	looked := 0
	for seed := range cases.Of(uint64(1000)) {
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
		d := differs("spec.x", raw(old), raw(new))
		before, after := Style{}.Sides(&d)
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
	if looked < cases.Least(300) {
		t.Errorf("only %d pairs", looked)
	}
}

// TestGroups checks that the same change of several containers has one line.
func TestGroups(t *testing.T) {
	image := func(container, to string) template.Difference {
		return differs("spec.template.spec."+container+".image", `"agent:1"`, `"agent:`+to+`"`)
	}
	fields := []template.Difference{
		differs("spec.template.spec.containers[name=c].env[name=A].value", `"1"`, `"2"`),
		image("containers[name=a]", "2"), image("containers[name=b]", "3"), image("containers[name=d]", "2"),
		differs("spec.template.metadata.labels.image", `"1"`, `"2"`),
	}
	say := func(s Style) string { return strings.Join(s.Lines(fields, nil), "; ") }
	if got, want := say(Style{}), "image of containers a, d: 1 -> 2; image of container b: 1 -> 3; value of env A of "+
		"container c: 1 -> 2; label image: 1 -> 2"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	fields = append(fields, image("initContainers[name=e]", "2"), image("containers[name=f]", "2"))
	if got, want := say(Style{Brief: true}), "image of 4 containers (a, d, e, f): 1 -> 2; image of container b: 1 -> "+
		"3; env A of container c changed; label image: 1 -> 2"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
