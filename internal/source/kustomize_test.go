package source

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// TestKustomizeErrors: an error of kustomize says where it is and of what kind,
// and quotes nothing that may be a secret. DIR is the folder that it is run in.
func TestKustomizeErrors(t *testing.T) {
	const (
		patched = "resources: [set.yaml]\npatches:\n"
		made    = "resources: [set.yaml]\nsecretGenerator:\n"
		copied  = "resources: [set.yaml]\nreplacements:\n- source: "
		config  = "trouble configuring builtin PatchTransformer with config: "
		gone    = "evalsymlink failure on 'DIR/gone.yaml' : lstat DIR/gone.yaml: no such file or directory"
		inSet   = "apiVersion: apps/v1, kind: DaemonSet, metadata: {name: agent}, spec: {template: {spec: {containers: "
		set     = "accumulating resources: accumulation err='accumulating resources from 'other.yaml': "
	)
	for _, tt := range []struct {
		kustomization string
		other         string // other.yaml
		want          string // what follows the folder's name; with … at its end there is a hint
		why           string
	}{
		{"resources: [gone.yaml]", "", "accumulating resources: accumulation err='accumulating resources from 'gone.yaml': " + gone + "': must build at directory: not a valid directory: " + gone, "a file that is not there"},
		{"resources: [other.yaml]", "a: [1\nb: 2", "accumulating resources: accumulating resources from 'other.yaml': MalformedYAMLError: yaml: line 1: did not find expected ',' or ']' in File: other.yaml", "a file that is broken"},
		{"resources: [other.yaml]", "a: *s3cret", "accumulating resources: accumulating resources from 'other.yaml': MalformedYAMLError: …", "and the parser quotes it"},
		{"resources: [other.yaml]", "metadata: {name: a}\ns3cret: s3cret", set + "missing kind in object …", "an object without a kind"},
		{"resources: [set.yaml, set.yaml]", "", "accumulating resources: accumulation err='merging resources from 'set.yaml': may not add resource with an already registered id: DaemonSet.v1.apps/agent.[noNs]': must build at directory: 'DIR/set.yaml': file is not directory", "an object twice"},
		{"resources: ['PASSWORD=s3cret']", "", "accumulating resources: accumulation err='accumulating resources …", "a value where a name belongs"},
		{"resourcess: [set.yaml]", "", `invalid Kustomization: json: unknown field "resourcess"`, "a typing error"},
		{"resources: 5", "", "invalid Kustomization: resources cannot be a number", "a field of another type"},
		{"resources: [{a: s3cret}]", "", "invalid Kustomization: resources cannot be an object", "an element of another type"},
		{"resources: [set.yaml", "", "invalid Kustomization: yaml: line 1: did not find expected ',' or ']'", "a kustomization that is broken"},
		{patched + "- {path: gone.yaml}", "", config + "failed to get the patch file from path(gone.yaml): " + gone, "a patch that is not there"},
		{patched + "- {path: other.yaml}", "a: 's3cret", config + `unable to parse SM or JSON patch from [path: "other.yaml"]`, "one that is broken"},
		{patched + "- patch: |-\n    a: '[b]: s3cret", "", config + "unable to parse SM or JSON patch from …", "and stands in the kustomization"},
		{patched + "- patch: \"a: `: [s3cret\"", "", config + "…", "with what looks like its end"},
		{patched + "- patch: '{" + inSet + "[{name: agent, env: {B: s3cret}}]}}}}'\n  target: {kind: DaemonSet}", "", "wrong node kind: expected SequenceNode but got MappingNode: …", "one of another form than the object"},
		{patched + "- patch: '{" + inSet + "{env: s3cret}}}}}'", "", "wrong node kind: expected SequenceNode but got MappingNode: …", "with containers by name"},
		{patched + "- patch: '{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: other}, spec: {a: s3cret}}'", "", `no resource matches strategic merge patch "DaemonSet.v1.apps/other.[noNs]": no matches for Id DaemonSet.v1.apps/other.[noNs]; failed to find unique target for patch DaemonSet.v1.apps/other.[noNs]`, "one of an object that is not there"},
		{patched + "- patch: '- {op: test, path: /metadata/name, value: s3cret}'\n  target: {kind: DaemonSet}", "", "testing value /metadata/name failed: test failed", "a JSON patch that does not fit"},
		{patched + "- patch: '- {op: add, path: /spec/a/b, value: s3cret}'\n  target: {kind: DaemonSet}", "", `add operation does not apply: doc is missing path: "/spec/a/b": missing value`, "or of a field that is not there"},
		{patched + "- patch: '- {op: s3cret, path: /spec/a/b}'\n  target: {kind: DaemonSet}", "", "kustomize cannot build it: …", "a sentence that is not known here"},
		{"helmCharts: [{name: \"`: s3cret\"}]", "", "trouble configuring builtin HelmChartInflationGenerator with config: must specify --enable-helm", "a generator that kubectl has not"},
		{made + "- {name: s, literals: ['s3cret, and more s3cret']}", "", "loading KV pairs: invalid literal source, expected key=value", "a literal without a key"},
		{made + "- {name: s, literals: ['s3cret=', 's3cret=']}", "", "configmap s illegally repeats the key …", "a key that may be a value which ends like one"},
		{made + "- {name: s, envs: [gone.yaml]}", "", "loading KV pairs: env source files: [gone.yaml]: " + gone, "a file of variables that is not there"},
		{made + "- {name: s, files: [A=s3cret]}", "", "loading KV pairs: …", "a literal where a file belongs"},
		{copied + "{kind: DaemonSet, fieldPath: spec.template.spec.containers.0.image, options: {delimiter: '.', index: 7}}\n  targets: [{select: {kind: DaemonSet}, fieldPaths: [metadata.name]}]",
			"", "options.index 7 is out of bounds …", "a replacement by a part that is not there"},
		{copied + "{kind: DaemonSet, fieldPath: metadata.name}\n  targets: [{select: {kind: DaemonSet}, fieldPaths: ['spec.template.spec.containers.[name=agent].image.x']}]",
			"", `unable to find field "spec.template.spec.containers.[name=agent].image.x" in replacement target: wrong node kind: expected MappingNode but got ScalarNode: …`, "one of a field that is not there"},
		{copied + "{kind: Node, fieldPath: metadata.name}\n  targets: [{select: {kind: DaemonSet}, fieldPaths: [metadata.name]}]", "", "nothing selected by Node.[noVer].[noGrp]/[noName].[noNs]:metadata.name", "one of nothing"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "kustomization.yaml"), []byte(tt.kustomization+"\n"))
			write(t, filepath.Join(dir, "set.yaml"), []byte(strings.Replace(setYAML, "acme/agent:1", "s3cret\n        env: [{name: A, value: s3cret}]", 1)))
			write(t, filepath.Join(dir, "other.yaml"), []byte(tt.other+"\n"))
			_, err = ReadManifests(background, nil, dir, nil)
			e := (*InputError)(nil)
			if !errors.As(err, &e) {
				t.Fatal(err)
			}
			hint := ""
			if strings.HasSuffix(tt.want, "…") {
				hint = "kubectl kustomize " + dir
			}
			want := strings.ReplaceAll(tt.want, "DIR", dir)
			if got := e.Err.Error(); got != want || e.Hint() != hint {
				t.Errorf("%s, hint %q\nwant %s, hint %q", got, e.Hint(), want, hint)
			}
		})
	}
	if said, all := harmless("open s3cret=x"); said != "" || all {
		t.Errorf("a piece of a word: %s", said)
	}
}
