package source_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/manifest"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
)

// setYAML is the manifest of a DaemonSet. Tests change single lines of it.
const setYAML = `apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: agent
spec:
  selector:
    matchLabels: {app: agent}
  template:
    metadata:
      labels: {app: agent}
    spec:
      containers:
      - name: agent
        image: acme/agent:1
`

func readManifests(text string) ([]manifest.Manifest, error) {
	return manifest.ReadManifests(background, []string{"-"}, "", strings.NewReader(text))
}

// place are the options to compare Manifests by position only.
var place = cmp.Options{cmpopts.IgnoreUnexported(manifest.Manifest{}), cmpopts.IgnoreFields(manifest.Manifest{}, "Raw")}

// at returns a Manifest with this position.
func at(ref source.Ref, file string, doc int, field string) manifest.Manifest {
	return manifest.Manifest{Ref: ref, File: file, Document: doc, Field: field}
}

func TestReadManifests(t *testing.T) {
	const stdin = "standard input"
	agent := func(doc int, field string) manifest.Manifest {
		return manifest.Manifest{Ref: source.Ref{Namespace: "", Name: "agent"}, File: stdin, Document: doc, Field: field}
	}
	other := strings.Replace(setYAML, "name: agent", "name: other\n  namespace: kube-system", 1)
	indent := func(s string) string {
		return "- " + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n  ") + "\n"
	}
	for _, tt := range []struct {
		text string
		want []manifest.Manifest
		why  string
	}{
		{setYAML, []manifest.Manifest{agent(1, "")}, "a document is a manifest; it need not name a namespace"},
		{"---\n# Source: a/b.yaml\n---\n# Source: a/c.yaml\n" + setYAML + "---\n", []manifest.Manifest{agent(1, "")}, "documents of comments alone are not counted"},
		{nodeYAML + "---\n# Source: a/c.yaml\n" + setYAML + "---\n" + other, []manifest.Manifest{agent(2, ""), at(source.Ref{Namespace: "kube-system", Name: "other"}, stdin, 3, "")}, "other kinds are passed over, and counted"},
		{"apiVersion: v1\nkind: List\nitems:\n" + indent(nodeYAML) + indent(setYAML), []manifest.Manifest{agent(1, "items[1]")}, "a list holds manifests"},
		{"items:\n" + indent(nodeYAML) + indent(setYAML) + "apiVersion: v1\nkind: List\n", []manifest.Manifest{agent(1, "items[1]")}, "whatever comes first in it"},
		{"apiVersion: apps/v1\nkind: DaemonSetList\nitems:\n" + indent(strings.TrimPrefix(setYAML, "apiVersion: apps/v1\nkind: DaemonSet\n")), []manifest.Manifest{agent(1, "items[0]")}, "an item of a typed list need not say what it is"},
		{`[` + nodeJSON + `,{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"agent"},"spec":{"selector":{},"template":{"spec":{"containers":[{"name":"a"}]}}}}]`,
			[]manifest.Manifest{agent(1, "[1]")}, "an array is a list"},
		{"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items:\n" + strings.ReplaceAll("  "+indent(setYAML), "\n", "\n  ") + "\n", []manifest.Manifest{agent(1, "items[0].items[0]")}, "so is a list inside a list"},
		{"apiVersion: apps.kruise.io/v1alpha1\nkind: DaemonSet\nspec: {selector: [no]}\n---\n" + setYAML, []manifest.Manifest{agent(2, "")}, "somebody else's DaemonSet is another kind"},
		{strings.Replace(setYAML, "name: agent", "name: agent\n  uid: u\n  resourceVersion: \"7\"\n  generation: 3\n  creationTimestamp: null\n  managedFields: [{manager: m}]", 1) + "status: {observedGeneration: 1}\n",
			[]manifest.Manifest{agent(1, "")}, "what kubectl get wrote is a manifest"},
		{nodeYAML + "  labels: {a: b}\n  labels: {a: b}\n---\n" + setYAML, []manifest.Manifest{agent(2, "")}, "another object may have a field twice, as charts do"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			got, err := readManifests(tt.text)
			if (err != nil) != (tt.want == nil) {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, place); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestManifestOfALiveObject checks that fields that the API server wrote are not part of a manifest.
func TestManifestOfALiveObject(t *testing.T) {
	plain, err := readManifests(setYAML)
	if err != nil {
		t.Fatal(err)
	}
	for _, add := range []string{
		`uid: u`, `resourceVersion: "7"`, `generation: 3`, `creationTimestamp: "2026-11-20T12:00:00Z"`, `deletionTimestamp: "2026-11-20T12:00:00Z"`, `deletionGracePeriodSeconds: 0`,
		`selfLink: /x`, `managedFields: [{manager: m}]`, `annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}"}`, `annotations: {deprecated.daemonset.template.generation: "3"}`,
		`annotations: {meta.helm.sh/release-name: r}`, "",
	} {
		live := strings.Replace(setYAML, "name: agent\n", "name: agent\n  "+add+"\n", 1)
		got, err := readManifests(live + "status: {observedGeneration: 1}\n")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(plain[0].Raw), string(got[0].Raw)); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", add, diff)
		}
	}
}

func TestBadManifests(t *testing.T) {
	with := func(line, instead string) string {
		if !strings.Contains(setYAML, line) {
			t.Fatalf("no line %q", line)
		}
		return strings.Replace(setYAML, line, instead, 1)
	}
	for _, tt := range []struct{ text, want, why string }{
		{"", "standard input: no DaemonSet and no other object", "nothing"},
		{nodeYAML + "---\n" + nodeYAML, "standard input: no DaemonSet, only 2 Node", "other kinds only"},
		{"apiVersion: apps.kruise.io/v1alpha1\nkind: DaemonSet\nmetadata: {name: a}\n", "standard input: no DaemonSet, only 1 DaemonSet (apps.kruise.io/v1alpha1)", "somebody else's DaemonSet"},
		{"apiVersion: v1\nkind: List\nitems: []\n", "standard input: no DaemonSet and no other object", "an empty list"},
		{"just words\n", "standard input: document 1: not a Kubernetes object: it is text", "prose"},
		{"values:\n  image: x\n", "standard input: document 1: not a Kubernetes object: no kind", "a file of values"},
		{with("apps/v1", "extensions/v1beta1"), "standard input: document 1: apiVersion: no server since v1.16 has a DaemonSet of extensions/v1beta1: use apps/v1", "the oldest version"},
		{with("apps/v1", "apps/v1beta2"), "standard input: document 1: apiVersion: no server since v1.16 has a DaemonSet of apps/v1beta2: use apps/v1", "an old version"},
		{with("kind: DaemonSet", "kind: daemonset") + "---\n" + setYAML, "standard input: document 1: kind: there is no \"daemonset\": did you mean DaemonSet?", "the case of a kind matters, beside another one too"},
		{with("apps/v1", "v1"), "standard input: document 1: apiVersion: there is no DaemonSet of v1: use apps/v1", "a wrong group"},
		{with("apiVersion: apps/v1\n", ""), "standard input: document 1: apiVersion: missing: a DaemonSet has apps/v1", "no version"},
		{nodeYAML + "---\n" + with("image:", "imagePullPolcy: Always\n        image:"),
			"standard input: document 2: spec.template.spec.containers[0].imagePullPolcy: there is no such field: did you mean imagePullPolicy?", "a typing error"},
		{with("image:", "Image:"), "standard input: document 1: spec.template.spec.containers[0].Image: there is no such field: did you mean image?", "case matters"},
		{with("  selector:", "  replicas: 3\n  selector:"), "standard input: document 1: spec.replicas: there is no such field", "a Deployment's field"},
		{with("  selector:", "  updateStrategy: {rollingUpdate: {maxUnavailable: [1]}}\n  selector:"),
			"standard input: document 1: spec.updateStrategy.rollingUpdate.maxUnavailable: must be a whole number or text, not a list", "a number that is a list"},
		{with("image: acme/agent:1", "env: [{name: A, value: 1}]"), "standard input: document 1: spec.template.spec.containers[0].env[0].value: must be text, not a number", "a value without quotes"},
		{with("image: acme/agent:1", "resources: {limits: {cpu: much}}"),
			"standard input: document 1: spec.template.spec.containers[0].resources.limits[cpu]: must be a quantity such as 250m or 64Mi, not \"much\"", "a quantity that is none"},
		{with("  selector:", "  minReadySeconds: \"5\"\n  selector:"), "standard input: document 1: spec.minReadySeconds: must be a whole number that fits, not text", "a number in quotes"},
		{with("  name: agent\n", "  labels: {}\n"), "standard input: document 1: metadata.name: missing", "no name"},
		{setYAML[:strings.Index(setYAML, "  selector")], "standard input: document 1: spec.selector: missing", "cut off before the selector"},
		{setYAML[:strings.Index(setYAML, "      containers")], "standard input: document 1: spec.template.spec.containers: missing", "cut off before the containers"},
		{with("- name: agent", "- command: [a]"), "standard input: document 1: spec.template.spec.containers[0].name: missing", "a container without a name"},
		{with("      containers:", "      initContainers: [{}]\n      containers:"), "standard input: document 1: spec.template.spec.initContainers[0].name: missing", "an init container without one"},
		{with("image: acme/agent:1", "env: [{value: x}]"), "standard input: document 1: spec.template.spec.containers[0].env[0].name: missing", "a variable without a name"},
		{with("image: acme/agent:1", "env: [{name: A}, null]"), "standard input: document 1: spec.template.spec.containers[0].env[1].name: missing", "null for a variable"},
		{with("      containers:", "      volumes: [{emptyDir: {}}]\n      containers:"), "standard input: document 1: spec.template.spec.volumes[0].name: missing", "a volume without one"},
		{setYAML[:strings.Index(setYAML, ": acme")], "standard input: document 1: yaml: line 15: could not find expected ':'", "cut off in a line"},
		{dsJSON[:60], "standard input: document 1: ends in the middle of an object: the file is cut off", "JSON that was cut off"},
		{nodeYAML + "---\nkind: [\n", "standard input: document 2: yaml: line 7: did not find expected node content", "another document is broken"},
		{setYAML + "---\n" + setYAML, "standard input: document 2: metadata.name: daemonset agent appears twice, also in standard input, document 1", "one DaemonSet twice"},
		{"apiVersion: v1\nkind: List\nitems: [" + dsJSON + ", {kind: DaemonSet, apiVersion: apps/v1, spec: [] }]",
			"standard input: document 1: items[0].spec.template.spec.containers: missing", "an item of a list"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			got, err := readManifests(tt.text)
			if e := (*source.InputError)(nil); !errors.As(err, &e) || err.Error() != tt.want {
				t.Errorf("%v, error %v\nwant %s", got, err, tt.want)
			}
		})
	}
}

func TestManifestFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"all/b.yml": setYAML, "all/a.yaml": nodeYAML, "all/c.json": strings.Replace(`{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"c"},"spec":{"selector":{},"template":{"spec":{"containers":[{"name":"a"}]}}}}`, "'", "", -1),
		"all/notes.txt": "just words", "all/deeper/d.yaml": "kind: [", "all/more.yaml/e.yaml": "kind: [", "values/values.yaml": "image: x\n",
		"none/notes.txt": setYAML, "base/kustomization.yaml": "resources: [set.yaml]\nimages: [{name: acme/agent, newTag: \"9\"}]\n", "base/set.yaml": nodeYAML + "---\n" + setYAML,
		"prod/kustomization.yaml": "resources: [../base]\nnamespace: prod\nnamePrefix: my-\n", "broken/kustomization.yaml": "resources: [gone.yaml]\n",
		"README.md": "# Install\n\nRun this:\n\n```yaml\n" + setYAML + "```\n", "early.yaml": strings.Replace(setYAML, "apps/v1", "extensions/v1beta1", 1),
		"generation.yaml":         strings.Replace(setYAML, "spec:\n", "spec:\n  templateGeneration: 3\n", 1),
		"unselected.yaml":         "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: a}\nspec: {template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a}]}}}\n",
		"syntax.yaml":             "apiVersion: v1\nkind: Service\n---\nkind: Pod\na: b: c\n",
		"typo/kustomization.yaml": "resources: [set.yaml]\n", "typo/set.yaml": strings.Replace(setYAML, "image:", "imagee:", 1),
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, path, []byte(text))
	}
	t.Chdir(dir)
	for _, tt := range []struct {
		files     []string
		kustomize string
		want      []manifest.Manifest
		err, hint string // err is a prefix
		why       string
	}{
		{files: []string{"all"}, want: []manifest.Manifest{at(source.Ref{Namespace: "", Name: "agent"}, filepath.Join("all", "b.yml"), 1, ""), at(source.Ref{Namespace: "", Name: "c"}, filepath.Join("all", "c.json"), 1, "")}, why: "a folder is its files of three endings, by name"},
		{files: []string{filepath.Join("all", "a.yaml"), filepath.Join("all", "b.yml")}, want: []manifest.Manifest{at(source.Ref{Namespace: "", Name: "agent"}, filepath.Join("all", "b.yml"), 1, "")}, why: "one of the files has one"},
		{files: []string{"all", "all"}, err: filepath.Join("all", "b.yml") + ": document 1: metadata.name: daemonset agent appears twice", why: "a folder twice"},
		{files: []string{"values"}, err: filepath.Join("values", "values.yaml") + ": document 1: not a Kubernetes object: no kind", hint: manifest.ManifestHint, why: "a chart is no folder of manifests"},
		{files: []string{"README.md"}, err: "README.md: not a manifest: it is Markdown", why: "a page with a manifest in it: the command line has a hint"},
		{files: []string{"early.yaml"}, err: "early.yaml: document 1: apiVersion: no server since v1.16 has a DaemonSet of extensions/v1beta1: use apps/v1", hint: "kubectl convert --output-version apps/v1 -f early.yaml > manifest.yaml (install it: kubectl krew install convert)", why: "a version long gone"},
		{files: []string{"generation.yaml"}, err: "generation.yaml: document 1: spec.templateGeneration: there is no such field in apps/v1: leave it out", hint: "kubectl explain ds.spec", why: "a field that went with that version"},
		{files: []string{"unselected.yaml"}, err: `unselected.yaml: document 1: spec.selector: missing: for the labels of the template, {matchLabels: {"app":"a"}}`, hint: "kubectl explain ds.spec.selector", why: "a selector that the oldest version did not need"},
		{files: []string{"syntax.yaml"}, err: "syntax.yaml: document 2: yaml: line 5: ", hint: "head -n 5 syntax.yaml | tail -n 3 | cat -A (shows this line and two before it)", why: "the line is that of the file"},
		{files: []string{"none"}, err: "none: this directory has no *.yaml, *.yml or *.json file", why: "a folder of other files"},
		{files: []string{"nowhere.yaml"}, err: "nowhere.yaml: no such file", why: "no such file"},
		{files: []string{filepath.Join("all", "a.yaml")}, err: filepath.Join("all", "a.yaml") + ": no DaemonSet, only 1 Node", hint: manifest.ManifestHint, why: "a file without one"},
		{files: []string{"https://example.com/ds.yaml"}, err: "https://example.com/ds.yaml: a URL is not read", why: "an address"},
		{files: []string{"base"}, err: filepath.Join("base", "kustomization.yaml") + ": document 1: not a Kubernetes object: no kind", why: "a kustomization is not read as files"},
		{kustomize: "base", want: []manifest.Manifest{at(source.Ref{Namespace: "", Name: "agent"}, "base", 1, "")}, why: "a kustomization"},
		{kustomize: "prod", want: []manifest.Manifest{at(source.Ref{Namespace: "prod", Name: "my-agent"}, "prod", 1, "")}, why: "one that stands on another"},
		{files: []string{"all"}, kustomize: "prod", want: []manifest.Manifest{at(source.Ref{Namespace: "", Name: "agent"}, filepath.Join("all", "b.yml"), 1, ""), at(source.Ref{Namespace: "", Name: "c"}, filepath.Join("all", "c.json"), 1, ""), at(source.Ref{Namespace: "prod", Name: "my-agent"}, "prod", 1, "")}, why: "both"},
		{kustomize: "broken", err: filepath.Join("broken", "gone.yaml") + ": no such file or directory", hint: "kubectl kustomize broken", why: "a kustomization of a file that is not there"},
		{kustomize: "typo", err: "typo: document 1: spec.template.spec.containers[0].imagee: there is no such field: did you mean image?", hint: "kubectl explain ds.spec.template.spec.containers", why: "a typing error in a kustomization"},
		{kustomize: "all", err: "all: this directory has no kustomization.yaml, kustomization.yml, Kustomization that can be read", hint: "kubectl kustomize all", why: "a folder that is none"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			got, err := manifest.ReadManifests(background, tt.files, tt.kustomize, nil)
			if diff := cmp.Diff(tt.want, got, place); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if tt.err == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			e := (*source.InputError)(nil)
			if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), tt.err) || e.Hint() != tt.hint {
				t.Errorf("%v, hint %q\nwant %s, hint %q", err, e.Hint(), tt.err, tt.hint)
			}
		})
	}
	k, err := manifest.ReadManifests(background, nil, "base", nil)
	if err != nil || !strings.Contains(string(k[0].Raw), "acme/agent:9") {
		t.Errorf("%v: the kustomization was not built", err)
	}
}

// TestCutOffManifest checks for a note about a last line without a newline, as for a dump.
func TestCutOffManifest(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"whole.yaml": setYAML, "cut.yaml": strings.TrimSuffix(setYAML, "\n"), "bracket.json": `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"agent"},"spec":{"selector":{},"template":{"spec":{"containers":[{"name":"a"}]}}}}`,
		"other.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  a: b",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	note := func(name string) string {
		return filepath.Join(dir, name) + ": the last line has no newline: the file may be cut off"
	}
	for _, tt := range []struct {
		files string
		want  []string
		err   string
		why   string
	}{
		{"whole.yaml", nil, "", "a line end"},
		{"bracket.json", nil, "", "a bracket"},
		{"cut.yaml", []string{note("cut.yaml")}, "", "neither"},
		{"whole.yaml other.yaml", []string{note("other.yaml")}, "", "in a file without a DaemonSet, which may be what is missing"},
		{"other.yaml", nil, filepath.Join(dir, "other.yaml") + ": no DaemonSet, only 1 ConfigMap; " + note("other.yaml"), "and nothing else"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			var files []string
			for _, f := range strings.Fields(tt.files) {
				files = append(files, filepath.Join(dir, f))
			}
			found, err := manifest.ReadManifests(background, files, "", nil)
			if tt.err != "" {
				if err == nil || err.Error() != tt.err {
					t.Errorf("%v, want %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, found[0].Notes); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestRepeats checks that the later value of a repeated key is used, as in kubectl, and that its position is
// reported: in YAML and in JSON, and in every object that can contain the DaemonSet.
func TestRepeats(t *testing.T) {
	const (
		head = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata:\n  name: agent\n"
		spec = "spec:\n  selector: {matchLabels: {app: agent}}\n  template:\n    metadata: {labels: {app: agent}}\n    spec:\n      containers:\n      - name: agent\n"
		two  = spec + "        image: acme/agent:1\n        image: acme/agent:2\n"
		json = "{\"apiVersion\": \"apps/v1\",\n\n \"kind\": \"DaemonSet\",\n \"metadata\": {\"name\": \"agent\"},\n" +
			" \"spec\": {\"selector\": {\"matchLabels\": {\"app\": \"agent\"}}, \"template\": {\"metadata\": {\"labels\": {\"app\": \"agent\"}}, \"spec\": {\"containers\": [\n" +
			"  {\"name\": \"agent\", \"image\": \"acme/agent:1\",\n   \"image\": \"acme/agent:2\"}]}}}}\n"
	)
	indent := func(s string) string {
		return "- " + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n  ") + "\n"
	}
	image := func(line int) []object.Repeat { return []object.Repeat{{Line: line, Key: "image"}} }
	for _, tt := range []struct {
		text string
		want []object.Repeat
		why  string
	}{
		{head + spec + "        image: acme/agent:2\n", nil, "no key twice"},
		{head + two, image(13), "a field"},
		{"---\n# a comment\n" + nodeYAML + "---\n" + head + two, image(strings.Count(nodeYAML, "\n") + 3 + 13), "the line is that of the file"},
		{"apiVersion: v1\nkind: List\nitems:\n" + indent(head+two), image(3 + 13), "in a list"},
		{"apiVersion: v1\nkind: List\nitems: [\n" + json + "]\n", image(3 + 7), "in a list that is laid out otherwise"},
		{head + "  labels: {a: b, a: c, a: d}\n  annotations: {\"odd key\": one, \"odd key\": two}\n" + two, []object.Repeat{{Line: 5, Key: "a"}, {Line: 5, Key: "a"}, {Line: 6, Key: ""}, {Line: 15, Key: "image"}}, "several, of which one may be anything"},
		{head + two + "kind: DaemonSet\n", []object.Repeat{{Line: 13, Key: "image"}, {Line: 14, Key: "kind"}}, "in the object itself"},
		{json, image(7), "in JSON"},
		{"[" + json + "]", image(7), "in an array"},
		{"\n{\"kind\": \"List\",\n\"items\": [" + json + "]}", image(2 + 7), "in a list of JSON"},
		{strings.Replace(json, "\"kind\"", "\"spec\": {\"minReadySeconds\": 5}, \"kind\"", 1), []object.Repeat{{Line: 5, Key: "spec"}, {Line: 7, Key: "image"}}, "the later object takes the place of the former, and is not added to it"},
		{strings.ReplaceAll(json, "\n", ""), image(1), "in one line"},
		{"apiVersion: v1\nkind: ConfigMap\nmetadata: {labels: {a: b, a: c}}\n---\n" + head + spec + "        image: acme/agent:2\n", nil, "in another kind it does not matter"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			found, err := readManifests(tt.text)
			if err != nil || len(found) != 1 {
				t.Fatal(found, err)
			}
			if diff := cmp.Diff(tt.want, found[0].Repeats); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			got, err := manifest.Overlay(nil, found[0], "")
			if err != nil || got.DaemonSet.Spec.Template.Spec.Containers[0].Image != "acme/agent:2" || got.DaemonSet.Spec.MinReadySeconds != 0 {
				t.Errorf("%v, error %v", got, err)
			}
		})
	}
}

// TestRepeatsRefused checks that repeated items and invalid YAML are errors, and not repeated keys.
func TestRepeatsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"kind: DaemonSet\nkind: [DaemonSet\n":        "standard input: document 1: yaml: line 2: did not find expected ',' or ']'",
		`{"kind": "List", "items": [], "items": []}`: "standard input: document 1: items: appears twice",
	} {
		if _, err := readManifests(text); err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
}
