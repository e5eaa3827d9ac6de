package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// kustomization builds a folder as kubectl apply -k does, but that it fetches
// nothing, by HTTP or by git, unless remote says so. Of kustomize's words an error
// has the harmless ones, and kubectl kustomize as a hint where there are others. What
// kustomize logs goes past all of this to the process's own standard error.
func (r *manifests) kustomization(ctx context.Context, folder string, remote bool) error {
	files := &localFiles{FileSystem: filesys.MakeFsOnDisk(), folder: folder, remote: remote}
	if isRemote(folder) && !remote {
		return fetches("-k", "", folder)
	}
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy
	built, err := await(ctx, func() ([]byte, error) {
		objects, err := krusty.MakeKustomizer(options).Run(files, folder)
		if err != nil {
			return nil, err
		}
		return objects.AsYaml()
	})
	if ctx.Err() != nil { // the files are still kustomize's
		return ctx.Err()
	}
	if files.refused != nil {
		return files.refused
	}
	if err == nil {
		return r.stream(ctx, folder, bytes.NewReader(built))
	}
	said, all := harmless(template.Misfit(errors.New(err.Error())).Error())
	if all {
		return &InputError{File: folder, Err: errors.New(said)}
	}
	if said == "" {
		said = "kustomize cannot build it:"
	}
	return &InputError{File: folder, Err: errors.New(said + " …"), hint: "kubectl kustomize " + folder}
}

// localFiles is the disk as kustomize sees it. Kustomize reads a kustomization
// before it reads what that names, so this is the place to refuse one that
// names an address.
type localFiles struct {
	filesys.FileSystem
	folder  string
	remote  bool
	refused error
}

func (f *localFiles) ReadFile(path string) ([]byte, error) {
	if f.refused != nil {
		return nil, f.refused
	}
	raw, err := f.FileSystem.ReadFile(path)
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
	whole, err := filepath.Abs(f.folder)
	if err != nil {
		return path
	}
	if whole, err = filepath.EvalSymlinks(whole); err != nil {
		return path
	}
	below, err := filepath.Rel(whole, path)
	if err != nil {
		return path
	}
	return filepath.Join(f.folder, below)
}

func fetches(file, field, address string) error {
	address, _, _ = strings.Cut(address, "?")
	address = credentials.ReplaceAllString(address, "//")
	return &InputError{
		File: file, Field: field, Err: fmt.Errorf("%s is remote and would be fetched over HTTP or git", address),
		hint: "--allow-remote-bases lets kustomize fetch it",
	}
}

var credentials = regexp.MustCompile(`//[^/@]*@`)

// isRemote reports whether kustomize takes a path for an address, even where a
// file of that name exists.
func isRemote(path string) bool { return remotePath.MatchString(strings.TrimSpace(path)) }

var remotePath = regexp.MustCompile(`(?i)^(git::|[a-z][a-z0-9+.-]*://|[a-z][a-z0-9-]*@|github\.com[/:])`)

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
	for _, document := range bytes.Split(raw, []byte("\n---")) {
		var o any
		if err := yaml.Unmarshal(document, &o); err != nil { // which kustomize may read in another way
			for _, word := range bytes.FieldsFunc(document, func(r rune) bool { return strings.ContainsRune(" \t\r\n,[]{}'\"", r) }) {
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
	"apiVersion", "kind", "metadata", "annotations", "commonAnnotations", "commonLabels", "labels", "images", "imageTags", "literals", "options", "generatorOptions", "namespace",
	"namePrefix", "nameSuffix", "buildMetadata", "vars", "replicas", "patch", "target", "source", "targets", "helmCharts", "helmGlobals", "helmChartInflationGenerator",
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
		case configuration.MatchString(path) && strings.Contains(v, "\n"): // one that stands in the kustomization
			return addressInText(v, path)
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
			if field, address = addressBelow(v[name], strings.TrimPrefix(join(path, name), ".")); address != "" {
				return field, address
			}
		}
	}
	return "", ""
}

var configuration = regexp.MustCompile(`^(generators|transformers|validators)\[\d+\]$`)

func addressInText(text, path string) (field, address string) {
	if _, address = addressIn(kustomizationNames[0], []byte(text)); address != "" {
		return path, address
	}
	return "", ""
}

// harmless returns of an error of kustomize all that stands before the first
// thing which is not known to be harmless, and whether that is all of it.
//
// kustomize quotes patches, the literals of generators and pieces of objects,
// which may be secrets, and it has some hundred ways to put it. So what is known
// here is the sentences that name files, objects and fields alone: those that
// people see most. Any other is cut off, with what follows.
func harmless(s string) (said string, all bool) {
	for _, q := range quotedByKustomize {
		s = q.found.ReplaceAllString(s, q.instead)
	}
	at, sentence := 0, saidByKustomize()
	for next := sentence.FindStringIndex(s); next != nil; next = sentence.FindStringIndex(s[at:]) {
		at += next[1]
	}
	return strings.TrimRight(s[:at], " \n"), at == len(s)
}

// quotedByKustomize are two quotations with harmless words behind them.
var quotedByKustomize = []struct {
	found   *regexp.Regexp
	instead string
}{
	{regexp.MustCompile("(?s)( with config): `.*`: "), "$1: "},
	{regexp.MustCompile(`(?s)literal sources \[.*\]: (invalid literal source) .*(, expected key=value)$`), "$1$2"},
}

// saidByKustomize is one harmless sentence or piece of one, and what parts it
// from the next.
//
// NAME stands for a file, an object or a field. It is of one word, and no
// NAME=value: that is a literal in the wrong place.
var saidByKustomize = sync.OnceValue(func() *regexp.Regexp { // made when it is needed, since that takes a while
	sentences := []string{
		// where
		`accumulating (?:resources|components)`,
		`accumulation err=`,
		`(?:accumulating|merging) resources from 'NAME'`,
		`recursed (?:accumulation of|merging from) path 'NAME'`,
		`loader\.New`,
		`couldn't make target for path 'NAME'`,
		`trouble configuring builtin NAME with config`,
		`plugin NAME fails configuration`,
		`loading generator plugins`,
		`failed to load generator`,
		`loading KV pairs`,
		`(?:env source files|file sources): \[NAME(?: NAME)*\]`,
		`failed to get the patch file from path\(NAME\)`,
		`invalid Kustomization`,
		`MalformedYAMLError`,
		`in File: NAME`,
		`YAML file \[NAME\] encounters a format error\.`,
		`error (?:converting YAML to JSON|unmarshaling JSON)`,
		`while decoding JSON`,

		// files
		`evalsymlink failure on 'NAME'`,
		`(?:lstat|stat|open|read) NAME`,
		`(?:no such file or|is a|not a) directory`,
		`permission denied`,
		`must build at directory`,
		`not a valid directory`,
		`'?NAME': file is not directory`,
		`'?NAME' must resolve to a file`,
		`'?NAME' refers to file 'NAME'; expecting directory`,
		`security; file 'NAME' is not in or below 'NAME'`,
		`cycle detected: candidate root 'NAME' contains visited root 'NAME'`,
		`unable to find one of 'kustomization\.yaml', 'kustomization\.yml' or 'Kustomization' in directory 'NAME'`,
		`Found multiple kustomization files under: NAME`,
		`kustomization\.yaml is empty`,
		`must specify --enable-helm`,

		// syntax
		`yaml: (?:line \d+: )?did not find expected (?:',' or '[\]}]'|'-' indicator|key|node content|alphabetic or numeric character)`,
		`yaml: (?:line \d+: )?did not find expected (?:comment|whitespace) or line break`,
		`yaml: (?:line \d+: )?could not find expected ':'`,
		`yaml: (?:line \d+: )?found (?:character that cannot start any token|unknown escape character|unexpected end of stream)`,
		`yaml: (?:line \d+: )?found a tab character (?:that violates indentation|where an indentation space is expected)`,
		`yaml: (?:line \d+: )?(?:mapping values|block sequence entries|control characters) are not allowed(?: in this context)?`,
		`json: unknown field "NAME"`,
		`[\w.]+ cannot be (?:an object|a list|text|true or false|a number)`,
		`invalid literal source, expected key=value`,

		// objects and fields
		`(?:no|multiple) matches for Id NAME`,
		`failed to find unique target for patch NAME`,
		`no resource matches strategic merge patch "NAME"`,
		`may not add resource with an already registered id: NAME`,
		`missing (?:kind|metadata\.name) in object`,
		`missing Resource metadata`,
		`configmap NAME illegally repeats the key`,
		`unable to parse SM or JSON patch from(?: \[path: "NAME"\])?`,
		`illegally qualifies as both an SM and JSON patch`,
		`must specify a target for JSON patch`,
		`wrong node kind: expected \w+ but got \w+`,
		`considering field 'NAME' of object NAME`,
		`visit traversal on path: \[NAME(?: NAME)*\]`,
		`expected sequence or mapping node`,
		`(?:add|remove|replace|move|copy|test) operation does not apply`,
		`(?:doc )?is missing (?:from |destination )?(?:path|key): "?NAME"?`,
		`missing value`,
		`testing value NAME failed`,
		`test failed`,
		`(?:nothing selected by|multiple matches for selector) NAME(?::NAME)?`,
		`fieldPath .NAME. is missing for replacement source NAME`,
		`unable to find field "NAME" in replacement target`,
		`options\.index \d+ is out of bounds`,
		`delimiter option can only be used with scalar nodes`,
	}
	const name = `(?:[A-Za-z]:\\)?(?:[\pL\pN_./\\|~+*-]|\[no(?:Grp|Ver|Kind|Name|Ns)\]|\[name=[\pL\pN_.-]+\])+`
	r := regexp.MustCompile(`^(?:` + strings.ReplaceAll(strings.Join(sentences, "|"), "NAME", name) + `)(?:['":;,\s]+|$)`)
	r.Longest() // a sentence with a name goes before the same one without
	return r
})
