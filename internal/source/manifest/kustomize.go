package manifest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/document"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// kustomization builds a folder as kubectl apply -k does, but that it fetches
// nothing, by HTTP or by git, unless remote says so. An error says which file it
// is in, if that is known, but nothing that kustomize says, which may quote a
// secret: the hint is the command that says it. What kustomize logs goes past all
// of this to the process's own standard error.
func (r *manifests) kustomization(ctx context.Context, folder string, remote bool) error {
	files := &localFiles{FileSystem: filesys.MakeFsOnDisk(), folder: folder, remote: remote}
	if isRemote(folder) && !remote {
		return fetches("-k", "", folder)
	}
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy
	built, err := document.Await(ctx, func() ([]byte, error) {
		objects, err := krusty.MakeKustomizer(options).Run(files, folder)
		if err != nil {
			return nil, err
		}
		return objects.AsYaml()
	})
	switch {
	case ctx.Err() != nil: // the files are still kustomize's
		return ctx.Err()
	case files.refused != nil:
		return files.refused
	case err == nil:
		return r.stream(ctx, folder, bytes.NewReader(built))
	}
	return files.failed(ctx)
}

// localFiles is the disk as kustomize sees it. Kustomize reads a kustomization
// before it reads what that names, so this is the place to refuse one that
// names an address.
type localFiles struct {
	filesys.FileSystem
	folder  string
	remote  bool
	refused error

	path string // what kustomize read last
	raw  []byte
	err  error
}

// failed says where kustomize failed, as far as the last file that it read tells.
func (f *localFiles) failed(ctx context.Context) error {
	e := &source.InputError{File: f.folder, Err: errors.New("kustomize cannot build it"),
		HintText: "kubectl kustomize " +
			document.Word(f.folder)}
	last := f.named(f.path)
	switch gone := (*fs.PathError)(nil); {
	case f.path == "":
		e.Err = fmt.Errorf("this directory has no %s that can be read", strings.Join(kustomizationNames, ", "))
	case f.err == nil:
		e.Err = fmt.Errorf("%w; the last file that it read is %s", e.Err, last)
		passed := &document.Documents{
			Name: last, From: bytes.NewReader(f.raw), Emit: func(object.Object) error { return nil },
			Decode: func([]byte, metav1.TypeMeta) (object.Object, error) { return object.Object{}, nil },
		}
		if damage := (*source.InputError)(nil); errors.As(passed.Read(ctx), &damage) {
			damage.HintText = e.HintText
			return damage
		}
	case !errors.As(f.err, &gone):
	case document.DocumentName(last) && !strings.Contains(last, "="):
		e.File, e.Err = last, gone.Err
	default: // it may be a literal in the wrong place
		e.Err = fmt.Errorf("%w: a file or directory that it names: %w", e.Err, gone.Err)
	}
	return e
}

// saw keeps what kustomize read last. It tries all names of a kustomization.
func (f *localFiles) saw(path string, raw []byte, err error) {
	if !f.IsDir(path) && (err == nil || !slices.Contains(kustomizationNames, filepath.Base(path))) {
		f.path, f.raw, f.err = path, raw, err
	}
}

// CleanedAbs is asked where a path leads to that a kustomization names.
func (f *localFiles) CleanedAbs(path string) (filesys.ConfirmedDir, string, error) {
	dir, name, err := f.FileSystem.CleanedAbs(path)
	if err != nil {
		f.saw(path, nil, err)
	}
	return dir, name, err
}

func (f *localFiles) ReadFile(path string) ([]byte, error) {
	if f.refused != nil {
		return nil, f.refused
	}
	raw, err := f.FileSystem.ReadFile(path)
	f.saw(path, raw, err)
	if err != nil || f.remote {
		return raw, err
	}
	if field, address := addressIn(path, raw); address != "" {
		f.refused = fetches(f.named(path), field, address)
		return nil, f.refused
	}
	return raw, nil
}

// named returns a path as somebody would write it who gave the folder.
func (f *localFiles) named(path string) string {
	whole, _ := filepath.Abs(f.folder)
	whole, _ = filepath.EvalSymlinks(whole) // empty if there is none, and then nothing is below it
	below, err := filepath.Rel(whole, path)
	if err != nil {
		return path
	}
	return filepath.Join(f.folder, below)
}

func fetches(file, field, address string) error {
	address, _, _ = strings.Cut(address, "?")
	address = credentials().ReplaceAllString(address, "//")
	return &source.InputError{
		File: file, Field: field, Err: fmt.Errorf("%s is remote and would be fetched over HTTP or git", address),
		HintText: "--allow-remote-bases lets kustomize fetch it",
	}
}

var credentials = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`//[^/@]*@`)
})

// isRemote reports whether kustomize takes a path for an address, even where a
// file of that name exists.
func isRemote(path string) bool { return remotePath().MatchString(strings.TrimSpace(path)) }

var remotePath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(git::|[a-z][a-z0-9+.-]*://|[a-z][a-z0-9-]*@|github\.com[/:])`)
})

// kustomizationNames are the names that kustomize looks for.
var kustomizationNames = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// addressIn returns the first address that a file makes kustomize fetch, and the
// field where it stands: of a kustomization, or of the configuration of one of
// kustomize's own generators and transformers.
func addressIn(path string, raw []byte) (field, address string) {
	own := slices.Contains(kustomizationNames, filepath.Base(path))
	if !own && !bytes.Contains(raw, []byte("builtin")) {
		return "", ""
	}
	for _, doc := range bytes.Split(raw, []byte("\n---")) {
		var o any
		if err := yaml.Unmarshal(doc, &o); err != nil { // which kustomize may read in another way
			for _, word := range bytes.FieldsFunc(doc,
				func(r rune) bool { return strings.ContainsRune(" \t\r\n,[]{}'\"", r) }) {
				if isRemote(string(word)) {
					return "", string(word)
				}
			}
			continue
		}
		if m, _ := o.(map[string]any); !own && m["apiVersion"] != "builtin" {
			continue
		}
		if field, address = addressBelow(o, ""); address != "" {
			return field, address
		}
	}
	return "", ""
}

// noPaths are fields of a kustomization whose values are no paths, and those of
// helm, without which kubectl is built. Any other may name a file.
var noPaths = []string{
	"apiVersion", "kind", "metadata", "annotations", "commonAnnotations", "commonLabels", "labels", "images",
	"imageTags", "literals", "options", "generatorOptions", "namespace",
	"namePrefix", "nameSuffix", "buildMetadata", "vars", "replicas", "patch", "target", "source", "targets",
	"helmCharts", "helmGlobals", "helmChartInflationGenerator",
}

// addressBelow returns the first address in a field that may name a file.
func addressBelow(v any, path string) (field, address string) {
	switch v := v.(type) {
	case string:
		_, file, _ := strings.Cut(v, "=") // KEY=FILE of a generator
		switch {
		case isRemote(v):
			return path, v
		case isRemote(file):
			return path, file
		case configuration().MatchString(path) && strings.Contains(v, "\n"): // one that stands in the kustomization
			if _, address = addressIn(kustomizationNames[0], []byte(v)); address != "" {
				return path, address
			}
		}
	case []any:
		for i := range v {
			if field, address = addressBelow(v[i], fmt.Sprintf("%s[%d]", path, i)); address != "" {
				return field, address
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if slices.Contains(noPaths, name) {
				continue
			}
			if field, address = addressBelow(v[name], object.Join(path, name)); address != "" {
				return field, address
			}
		}
	}
	return "", ""
}

var configuration = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(generators|transformers|validators)\[\d+\]$`)
})
