package source_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/manifest"
)

// TestRemoteBases checks that kustomize fetches nothing without permission, neither by HTTP nor with git, wherever
// the address is. SERVER is replaced by the address of a server that counts requests. A fake git records its calls.
func TestRemoteBases(t *testing.T) {
	for _, tt := range []struct {
		why      string
		files    string // NAME: on a line of its own, then the content of the file
		folder   string // the argument of -k; by default the directory
		at       string // FILE: FIELD
		address  string
		harmless bool // nothing is remote, so any error is kustomize's
	}{
		{why: "a file as a resource", files: "kustomization.yaml:\nresources: [set.yaml, 'SERVER/set.yaml']", at: "DIR/kustomization.yaml: resources[1]", address: "SERVER/set.yaml"},
		{why: "a repository as a resource", files: "kustomization.yaml:\nresources: ['github.com/acme/base//deploy?ref=v1']", at: "DIR/kustomization.yaml: resources[0]", address: "github.com/acme/base//deploy"},
		{why: "a repository over HTTP", files: "kustomization.yaml:\nresources: ['SERVER/acme/base.git']", at: "DIR/kustomization.yaml: resources[0]", address: "SERVER/acme/base.git"},
		{why: "a repository over SSH", files: "kustomization.yaml:\nresources: ['git@example.com:acme/base.git']", at: "DIR/kustomization.yaml: resources[0]", address: "git@example.com:acme/base.git"},
		{why: "with its scheme", files: "kustomization.yaml:\nresources: ['ssh://git@example.com/acme/base']", at: "DIR/kustomization.yaml: resources[0]", address: "ssh://example.com/acme/base"},
		{why: "with the old prefix", files: "kustomization.yaml:\nresources: ['git::SERVER/acme/base']", at: "DIR/kustomization.yaml: resources[0]", address: "git::SERVER/acme/base"},
		{why: "in capitals", files: "kustomization.yaml:\nresources: ['GitHub.com/acme/base']", at: "DIR/kustomization.yaml: resources[0]", address: "GitHub.com/acme/base"},
		{why: "a repository on this disk, which git clones", files: "kustomization.yaml:\nresources: ['file:///tmp/base']", at: "DIR/kustomization.yaml: resources[0]", address: "file:///tmp/base"},
		{why: "credentials are nobody's to see", files: "kustomization.yaml:\nresources: ['https://me:sesame@example.com/x?token=sesame']", at: "DIR/kustomization.yaml: resources[0]", address: "https://example.com/x"},
		{why: "a base, of old", files: "kustomization.yaml:\nbases: ['SERVER/acme/base']", at: "DIR/kustomization.yaml: bases[0]", address: "SERVER/acme/base"},
		{why: "a component", files: "kustomization.yaml:\nresources: [set.yaml]\ncomponents: ['SERVER/acme/base']", at: "DIR/kustomization.yaml: components[0]", address: "SERVER/acme/base"},
		{why: "a schema", files: "kustomization.yaml:\nresources: [set.yaml]\nopenapi: {path: 'SERVER/schema.json'}", at: "DIR/kustomization.yaml: openapi.path", address: "SERVER/schema.json"},
		{why: "a definition", files: "kustomization.yaml:\nresources: [set.yaml]\ncrds: ['SERVER/crd.json']", at: "DIR/kustomization.yaml: crds[0]", address: "SERVER/crd.json"},
		{why: "a configuration", files: "kustomization.yaml:\nresources: [set.yaml]\nconfigurations: ['SERVER/names.yaml']", at: "DIR/kustomization.yaml: configurations[0]", address: "SERVER/names.yaml"},
		{why: "a patch", files: "kustomization.yaml:\nresources: [set.yaml]\npatches: [{path: 'SERVER/patch.yaml'}]", at: "DIR/kustomization.yaml: patches[0].path", address: "SERVER/patch.yaml"},
		{why: "a patch, of old", files: "kustomization.yaml:\nresources: [set.yaml]\npatchesStrategicMerge: ['SERVER/patch.yaml']", at: "DIR/kustomization.yaml: patchesStrategicMerge[0]", address: "SERVER/patch.yaml"},
		{why: "a JSON patch, of old", files: "kustomization.yaml:\nresources: [set.yaml]\npatchesJson6902: [{target: {kind: DaemonSet, name: agent, version: v1}, path: 'SERVER/patch.yaml'}]", at: "DIR/kustomization.yaml: patchesJson6902[0].path", address: "SERVER/patch.yaml"},
		{why: "a replacement", files: "kustomization.yaml:\nresources: [set.yaml]\nreplacements: [{path: 'SERVER/replacement.yaml'}]", at: "DIR/kustomization.yaml: replacements[0].path", address: "SERVER/replacement.yaml"},
		{why: "a file of a generator", files: "kustomization.yaml:\nresources: [set.yaml]\nconfigMapGenerator: [{name: x, files: ['key=SERVER/file']}]", at: "DIR/kustomization.yaml: configMapGenerator[0].files[0]", address: "SERVER/file"},
		{why: "variables of a generator", files: "kustomization.yaml:\nresources: [set.yaml]\nsecretGenerator: [{name: x, envs: ['SERVER/file']}]", at: "DIR/kustomization.yaml: secretGenerator[0].envs[0]", address: "SERVER/file"},
		{why: "a transformer", files: "kustomization.yaml:\nresources: [set.yaml]\ntransformers: ['SERVER/t.yaml']", at: "DIR/kustomization.yaml: transformers[0]", address: "SERVER/t.yaml"},
		{why: "a transformer in the kustomization", files: "kustomization.yaml:\nresources: [set.yaml]\ntransformers:\n- |-\n  apiVersion: builtin\n  kind: PatchTransformer\n  metadata: {name: x}\n  path: SERVER/patch.yaml\n  target: {kind: DaemonSet}", at: "DIR/kustomization.yaml: transformers[0]", address: "SERVER/patch.yaml"},
		{why: "a transformer in a file", files: "kustomization.yaml:\nresources: [set.yaml]\ntransformers: [t.yaml]\nt.yaml:\napiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: x}\npath: SERVER/patch.yaml\ntarget: {kind: DaemonSet}", at: "DIR/t.yaml: path", address: "SERVER/patch.yaml"},
		{why: "in a base of the kustomization", files: "kustomization.yaml:\nresources: [base]\nbase/kustomization.yml:\nresources: ['SERVER/set.yaml']", at: "DIR/base/kustomization.yml: resources[0]", address: "SERVER/set.yaml"},
		{why: "in a component of a base", files: "kustomization.yaml:\nresources: [base]\nbase/Kustomization:\ncomponents: [more]\nbase/more/kustomization.yaml:\nkind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\nresources: ['SERVER/set.yaml']", at: "DIR/base/more/kustomization.yaml: resources[0]", address: "SERVER/set.yaml"},
		{why: "though a folder has that name", files: "kustomization.yaml:\nresources: ['github.com/acme/base']\ngithub.com/acme/base/kustomization.yaml:\nresources: []", at: "DIR/kustomization.yaml: resources[0]", address: "github.com/acme/base"},
		{why: "the later of a key that appears twice", files: "kustomization.yaml:\nresources: [set.yaml]\nresources: ['SERVER/set.yaml']", at: "DIR/kustomization.yaml: resources[0]", address: "SERVER/set.yaml"},
		{why: "a kustomization that is broken, though not to every parser perhaps", files: "kustomization.yaml:\nresources: ['SERVER/set.yaml'\n", at: "DIR/kustomization.yaml", address: "SERVER/set.yaml"},
		{why: "the kustomization itself", folder: "SERVER/acme/base", at: "-k", address: "SERVER/acme/base"},

		{why: "an address that is a value", harmless: true, files: "kustomization.yaml:\nresources: [set.yaml]\ncommonAnnotations: {see: 'SERVER/x', from: github.com/acme/base}\nconfigMapGenerator: [{name: x, literals: ['URL=SERVER/x']}]\nimages: [{name: acme/agent, newName: github.com/acme/agent}]\npatches:\n- patch: '[{op: add, path: /metadata/annotations/see, value: \"SERVER/x\"}]'\n  target: {kind: DaemonSet}"},
		{why: "charts, without which kubectl is built", harmless: true, files: "kustomization.yaml:\nhelmCharts: [{name: x, repo: 'SERVER/charts', version: 1.0.0, releaseName: x}]"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			var requests atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				requests.Add(1)
				w.WriteHeader(http.StatusNotFound)
			}))
			defer server.Close()
			mark := fakeGit(t)
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			fill := strings.NewReplacer("SERVER", server.URL, "DIR", dir)
			writeFiles(t, dir, fill.Replace(tt.files))
			folder := dir
			if tt.folder != "" {
				folder = fill.Replace(tt.folder)
			}
			_, err = manifest.ReadManifests(background, nil, folder, nil)
			if n := requests.Load(); n > 0 {
				t.Errorf("%d HTTP requests", n)
			}
			if _, gone := os.Stat(mark); gone == nil {
				t.Error("git was run")
			}
			e := (*source.InputError)(nil)
			if tt.harmless {
				if err != nil && (!errors.As(err, &e) || strings.Contains(e.Hint(), "allow-remote")) {
					t.Error(err)
				}
				return
			}
			want := fill.Replace(tt.at) + ": " + fill.Replace(tt.address) + " is remote and would be fetched over HTTP or git"
			if !errors.As(err, &e) || e.Error() != want || e.Hint() != "--allow-remote-bases lets kustomize fetch it" {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

// fakeGit puts a fake git at the start of PATH, and returns the file that it writes.
func fakeGit(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	mark := filepath.Join(dir, "was-run")
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte("#!/bin/sh\n: > "+mark+"\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return mark
}

// writeFiles writes set.yaml and the files in text. A line with a name starts each of these files.
func writeFiles(t *testing.T, dir, text string) {
	t.Helper()
	write(t, filepath.Join(dir, "set.yaml"), []byte(setYAML))
	var name string
	var b strings.Builder
	flush := func() {
		if name != "" {
			if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, name), []byte(b.String()))
		}
		b.Reset()
	}
	for line := range strings.Lines(text) {
		if n, ok := strings.CutSuffix(strings.TrimRight(line, "\n"), ":"); ok && !strings.HasPrefix(n, " ") && (strings.Contains(n, ".y") || strings.HasSuffix(n, "Kustomization")) {
			flush()
			name = n
			continue
		}
		b.WriteString(line)
	}
	flush()
}

// TestRemoteBasesAllowed checks that kustomize fetches as kubectl does if the flag is set.
func TestRemoteBasesAllowed(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(setYAML)) }))
	defer server.Close()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "kustomization.yaml"), []byte("resources: ['"+server.URL+"/set.yaml']\n"))
	found, err := manifest.ReadManifests(background, nil, dir, nil, manifest.RemoteBases)
	if err != nil || len(found) != 1 || found[0].Name != "agent" {
		t.Fatalf("%v, %v", found, err)
	}
	mark := fakeGit(t)
	write(t, filepath.Join(dir, "kustomization.yaml"), []byte("resources: ['git@127.0.0.1:acme/base.git']\n"))
	_, err = manifest.ReadManifests(background, nil, dir, nil, manifest.RemoteBases)
	if _, gone := os.Stat(mark); gone != nil || err == nil {
		t.Errorf("git was not run: %v", err)
	}
}
