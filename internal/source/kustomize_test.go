package source_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/manifest"
)

// TestKustomizeErrors checks that an error of kustomize names the file, if it is known, quotes nothing that may be
// secret, and hints at the command that shows the whole message. DIR is replaced by the directory.
func TestKustomizeErrors(t *testing.T) {
	const (
		patched = "resources: [set.yaml]\npatches:\n"
		made    = "resources: [set.yaml]\nsecretGenerator:\n"
		last    = "DIR: kustomize cannot build it; the last file that it read is DIR/"
		gone    = "DIR/gone.yaml: no such file or directory"
		literal = "DIR: kustomize cannot build it: a file or directory that it names: no such file or directory"
	)
	for _, tt := range []struct {
		kustomization string
		other         string // content of other.yaml
		want          string
		why           string
	}{
		{"resources: [gone.yaml]", "", gone, "a file that is not there"},
		{"resources: [../gone]", "", literal, "a directory that is not there"},
		{"resources: [other.yaml]", "a: [1\nb: 2", "DIR/other.yaml: document 1: yaml: line 1: did not find expected ',' or ']'", "a file that is broken"},
		{"resources: [other.yaml]", "a: 1\n---\na: *s3cret", "DIR/other.yaml: document 2: line 3: an alias without an anchor before it in the same document", "and the parser quotes it"},
		{"resources: [other.yaml]", "metadata: {name: a}\ns3cret: s3cret", last + "other.yaml", "an object without a kind"},
		{"resources: [set.yaml, set.yaml]", "", last + "set.yaml", "an object twice"},
		{"resources: ['PASSWORD=s3cret']", "", literal, "a value where a name belongs"},
		{"resourcess: [set.yaml]", "", last + "kustomization.yaml", "a typing error"},
		{"resources: [{a: s3cret}]", "", last + "kustomization.yaml", "an element of another type"},
		{"resources: [set.yaml", "", "DIR/kustomization.yaml: document 1: yaml: line 1: did not find expected ',' or ']'", "a kustomization that is broken"},
		{patched + "- {path: gone.yaml}", "", gone, "a patch that is not there"},
		{patched + "- {path: other.yaml}", "a: 's3cret", "DIR/other.yaml: document 1: yaml: line 2: found unexpected end of stream", "one that is broken"},
		{patched + "- patch: |-\n    a: '[b]: s3cret", "", last + "set.yaml", "and stands in the kustomization"},
		{patched + "- patch: '- {op: test, path: /metadata/name, value: s3cret}'\n  target: {kind: DaemonSet}", "", last + "set.yaml", "a JSON patch that does not fit"},
		{made + "- {name: s, literals: ['s3cret, and more s3cret']}", "", last + "set.yaml", "a literal without a key"},
		{made + "- {name: s, envs: [gone.yaml]}", "", gone, "a file of variables that is not there"},
		{made + "- {name: s, files: [A=s3cret]}", "", literal, "a literal where a file belongs"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "kustomization.yaml"), []byte(tt.kustomization+"\n"))
			write(t, filepath.Join(dir, "set.yaml"), []byte(strings.Replace(setYAML, "acme/agent:1", "s3cret\n        env: [{name: A, value: s3cret}]", 1)))
			write(t, filepath.Join(dir, "other.yaml"), []byte(tt.other+"\n"))
			_, err = manifest.ReadManifests(background, nil, dir, nil)
			e := (*source.InputError)(nil)
			if !errors.As(err, &e) {
				t.Fatal(err)
			}
			if want := strings.ReplaceAll(tt.want, "DIR", dir); e.Error() != want || e.Hint() != "kubectl kustomize "+dir || strings.Contains(e.Error(), "s3cret") {
				t.Errorf("%s, hint %q\nwant %s", e, e.Hint(), want)
			}
		})
	}
}
