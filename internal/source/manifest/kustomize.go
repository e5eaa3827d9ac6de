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

// kustomization builds the kustomization in folder and reads the result, as kubectl apply -k does.
// It fetches nothing unless remote is true.
//
// Its errors name the file, if it is known, but do not contain kustomize's message, which may quote
// a secret. The hint is the command that shows it. Kustomize itself logs to the standard error of
// the process.
func (r *manifests) kustomization(ctx context.Context, folder string, remote bool) error {
	files := &localFiles{FileSystem: filesys.MakeFsOnDisk(), folder: folder, remote: remote}
	if isRemote(folder) && !remote {
		return remoteError("-k", "", folder)
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
	case ctx.Err() != nil: // kustomize may still use the files
		return ctx.Err()
	case files.refused != nil:
		return files.refused
	case err == nil:
		return r.stream(ctx, folder, bytes.NewReader(built))
	}
	return files.failed(ctx)
}

// localFiles is the file system for kustomize. It refuses a file that names an address. Kustomize
// reads a kustomization before it fetches what it names, so nothing is fetched.
type localFiles struct {
	filesys.FileSystem
	folder  string
	remote  bool
	refused error

	path string // the file that kustomize read last
	raw  []byte
	err  error
}

// failed returns the error for a failed build. It names the last file that kustomize read.
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
	default: // the name may be a misplaced literal
		e.Err = fmt.Errorf("%w: a file or directory that it names: %w", e.Err, gone.Err)
	}
	return e
}

// recordRead records the file that kustomize read last. A missing file does not count if it has one of the
// names of a kustomization, because kustomize tries all of them.
func (f *localFiles) recordRead(path string, raw []byte, err error) {
	if !f.IsDir(path) && (err == nil || !slices.Contains(kustomizationNames, filepath.Base(path))) {
		f.path, f.raw, f.err = path, raw, err
	}
}

// CleanedAbs implements filesys.FileSystem. Kustomize calls it for paths that a kustomization
// names.
func (f *localFiles) CleanedAbs(path string) (filesys.ConfirmedDir, string, error) {
	dir, name, err := f.FileSystem.CleanedAbs(path)
	if err != nil {
		f.recordRead(path, nil, err)
	}
	return dir, name, err
}

func (f *localFiles) ReadFile(path string) ([]byte, error) {
	if f.refused != nil {
		return nil, f.refused
	}
	raw, err := f.FileSystem.ReadFile(path)
	f.recordRead(path, raw, err)
	if err != nil || f.remote {
		return raw, err
	}
	if field, address := addressIn(path, raw); address != "" {
		f.refused = remoteError(f.named(path), field, address)
		return nil, f.refused
	}
	return raw, nil
}

// named returns an absolute path relative to the folder as it was given.
func (f *localFiles) named(path string) string {
	whole, _ := filepath.Abs(f.folder)
	whole, _ = filepath.EvalSymlinks(whole) // empty if it does not exist, and then no path is below it
	below, err := filepath.Rel(whole, path)
	if err != nil {
		return path
	}
	return filepath.Join(f.folder, below)
}

func remoteError(file, field, address string) error {
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

// isRemote reports whether kustomize interprets a path as an address, even if a file of that name
// exists.
func isRemote(path string) bool { return remotePath().MatchString(strings.TrimSpace(path)) }

var remotePath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(git::|[a-z][a-z0-9+.-]*://|[a-z][a-z0-9-]*@|github\.com[/:])`)
})

// kustomizationNames are the file names of a kustomization.
var kustomizationNames = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// addressIn returns the first address that kustomize would fetch because of a file, and its field.
// The file is a kustomization or configures a built-in generator or transformer of kustomize.
func addressIn(path string, raw []byte) (field, address string) {
	own := slices.Contains(kustomizationNames, filepath.Base(path))
	if !own && !bytes.Contains(raw, []byte("builtin")) {
		return "", ""
	}
	for _, doc := range bytes.Split(raw, []byte("\n---")) {
		var o any
		if err := yaml.Unmarshal(doc, &o); err != nil { // kustomize may parse it differently
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

// noPaths are the fields of a kustomization whose values are not paths, and those for Helm charts,
// which kubectl does not support. Any other field may name a file.
var noPaths = []string{
	"apiVersion", "kind", "metadata", "annotations", "commonAnnotations", "commonLabels", "labels", "images",
	"imageTags", "literals", "options", "generatorOptions", "namespace",
	"namePrefix", "nameSuffix", "buildMetadata", "vars", "replicas", "patch", "target", "source", "targets",
	"helmCharts", "helmGlobals", "helmChartInflationGenerator",
}

// addressBelow returns the first address in the fields of v that may name a file, and its path.
func addressBelow(v any, path string) (field, address string) {
	switch v := v.(type) {
	case string:
		_, file, _ := strings.Cut(v, "=") // KEY=FILE of a generator
		switch {
		case isRemote(v):
			return path, v
		case isRemote(file):
			return path, file
		case configuration().MatchString(path) && strings.Contains(v, "\n"): // an inline configuration
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
