package manifest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/document"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// Manifest is a DaemonSet as it would be applied: without defaults, and with only the fields that
// were written. [Overlay] and cluster.Cluster.DryRun return the DaemonSet that results from
// applying it.
type Manifest struct {
	// Ref names the DaemonSet. If the manifest has no namespace, the caller must set Namespace
	// before using the Manifest, and NamespaceAssumed if the user did not give one.
	source.Ref
	NamespaceAssumed bool

	// File, Document and Field locate the manifest: the file as given ("standard input" for -, the
	// folder of a kustomization), the document counted from 1, and the path in a document that is a
	// list.
	File     string
	Document int
	Field    string // such as items[3]

	Repeats []object.Repeat // keys that appear twice; the later value is used, as in kubectl

	// Notes are lines about how all manifests were read. Only the first Manifest has them.
	Notes []string

	// As says how the manifest is applied. The caller sets it.
	As Applying

	Raw []byte // a JSON object without the fields that only a live object has
}

// ReadManifests returns the DaemonSets in files, in folders (only *.yaml, *.yml and *.json, not
// recursively) and standard input ("-") and, if kustomize is not empty, in the kustomization of
// that folder. The output of helm template can be read as it is. Objects of other kinds are
// ignored.
//
// It returns an [*source.InputError] with the file, the document and the field if there is no
// DaemonSet, if a document is broken, if a field is unknown or has a wrong type, or if two
// manifests describe one DaemonSet. A key that appears twice is no error; see Manifest.Repeats. A
// kustomization that names an address is an error, unless RemoteBases is allowed. A document that
// was cut off between two lines is detected only if it lacks a name, a selector or containers.
func ReadManifests(ctx context.Context, files []string, kustomize string, stdin io.Reader,
	allowed ...Allowed) ([]Manifest, error) {
	r := &manifests{kinds: map[string]int{}}
	var given []string
	for _, path := range files {
		given = append(given, nameOfFile(path))
		if err := r.path(ctx, path, stdin); err != nil {
			return nil, err
		}
	}
	if kustomize != "" {
		given = append(given, kustomize)
		if err := r.kustomization(ctx, kustomize, slices.Contains(allowed, RemoteBases)); err != nil {
			return nil, err
		}
	}
	if len(r.found) == 0 {
		err := document.NoDaemonSet(r.kinds)
		if notes := r.notes(); len(notes) > 0 {
			err = fmt.Errorf("%w; %s", err, strings.Join(notes, "; "))
		}
		out := &source.InputError{File: strings.Join(given, ", "), Err: err}
		if r.kinds[snapshot.Kind] > 0 && len(given) == 1 {
			out.HintText = "--from " + document.Word(given[0]) + " (a snapshot is read in place of a cluster)"
		} else if kustomize == "" {
			out.HintText = ManifestHint
		}
		return nil, out
	}
	r.found[0].Notes = r.notes()
	return r.found, nil
}

// Allowed is something that ReadManifests does only on request.
type Allowed string

// RemoteBases allows kustomize to fetch remote bases over HTTP and with git, as kubectl apply -k
// does by default.
const RemoteBases Allowed = "remote bases"

// manifests collects what ReadManifests finds.
type manifests struct {
	found          []Manifest
	kinds          map[string]int // number of objects by kind
	noFinalNewline []string       // files whose last line has no newline
}

func (r *manifests) notes() []string {
	if len(r.noFinalNewline) == 0 {
		return nil
	}
	return []string{document.RaggedNote(r.noFinalNewline)}
}

func (r *manifests) path(ctx context.Context, path string, stdin io.Reader) error {
	if strings.HasPrefix(path, "http://") || strings.HasPrefix(path, "https://") {
		return &source.InputError{File: path, Err: errors.New("a URL is not read"), Address: true}
	}
	read := func(name string, in io.Reader) error { return r.stream(ctx, name, in) }
	if info, err := os.Stat(path); path == source.StandardInput || err != nil || !info.IsDir() {
		return document.ReadFrom(ctx, path, stdin, read)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return document.FileError(path, err)
	}
	if slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == "Chart.yaml" }) {
		return &source.InputError{File: path, Err: errors.New("a chart of Helm, whose templates are not rendered"),
			Template: true}
	}
	found := 0
	for _, e := range entries {
		if e.IsDir() || !document.DocumentName(e.Name()) {
			continue
		}
		found++
		if err := document.ReadFrom(ctx, filepath.Join(path, e.Name()), nil, read); err != nil {
			return err
		}
	}
	if found == 0 {
		return &source.InputError{File: path, Err: errors.New("this directory has no *.yaml, *.yml or *.json file")}
	}
	return nil
}

func nameOfFile(path string) string {
	if path == source.StandardInput {
		return "standard input"
	}
	return path
}

func (r *manifests) stream(ctx context.Context, name string, in io.Reader) error {
	d := &document.Documents{Name: name, From: in, Decode: decodeManifest,
		Emit: func(o object.Object) error { return r.add(name, o) }}
	err := d.Read(ctx)
	if err == nil && d.Ragged {
		r.noFinalNewline = append(r.noFinalNewline, name)
	}
	if e := (*source.InputError)(nil); errors.As(err, &e) {
		ofKustomize := slices.Contains(kustomizationNames, filepath.Base(name))
		e.Kustomization = errors.Is(err, object.ErrNoKind) && ofKustomize || errors.Is(err, errKustomization) &&
			name != document.StdinName
		e.Template = errors.Is(err, source.ErrTemplate)
		e.Markdown = isMarkdown(name)
		if e.Markdown {
			e.Err, e.Document, e.Field = errMarkdown, 0, ""
		}
		if !e.Kustomization && e.HintText == "" {
			e.HintText = hintOfManifest(name, e)
		}
	}
	return err
}

var errMarkdown = errors.New("not a manifest: it is Markdown")

func isMarkdown(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".md" || ext == ".markdown"
}

// ManifestHint is a command that writes a manifest.
const ManifestHint = "kubectl get ds -n NAMESPACE NAME -o yaml > manifest.yaml"

// hintOfManifest returns a command that helps to repair a manifest: it shows the line or the known
// fields, or writes another manifest. It returns "" if there is none.
func hintOfManifest(name string, e *source.InputError) string {
	file := document.Word(name)
	if name == document.StdinName {
		file = "FILE"
	}
	line := document.YamlLine().FindStringSubmatch(e.Err.Error())
	field := itemIndex().ReplaceAllString(e.Field, "")
	switch {
	case errors.Is(e, object.ErrGone):
		return "kubectl convert --output-version apps/v1 -f " + file +
			" > manifest.yaml (install it: kubectl krew install convert)"
	case errors.Is(e, errNoField):
		return strings.TrimSuffix("kubectl explain ds."+field[:max(0, strings.LastIndexByte(field, '.'))], ".")
	case errors.Is(e, object.ErrMissing), strings.HasPrefix(field, "spec."):
		return "kubectl explain ds." + field
	case line != nil && name != document.StdinName:
		return fmt.Sprintf("head -n %s %s | tail -n 3 | cat -A (shows this line and two before it)", line[1], file)
	case errors.Is(e, object.ErrNotKubernetes):
		return ManifestHint
	}
	return ""
}

var itemIndex = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^items\[\d+\]\.|\[[^\]]*\]`) })

// isKustomization reports whether an object is input for kustomize and not for an API server.
func isKustomization(k metav1.TypeMeta) bool {
	group, _, _ := strings.Cut(k.APIVersion, "/")
	return group == "kustomize.config.k8s.io"
}

var errKustomization = errors.New("no server has this kind: kustomize builds what is applied from it")

func (r *manifests) add(file string, o object.Object) error {
	if isKustomization(o.Kind) {
		return &object.FieldError{Field: "kind", Err: errKustomization}
	}
	if o.Manifest == nil {
		if !document.IsList(o.Kind) && o.Kind.Kind != "" { // not the end of a list
			r.kinds[object.KindName(o.Kind)]++
		}
		return nil
	}
	m := Manifest{
		Ref: source.Ref{Namespace: o.Is.GetNamespace(), Name: o.Is.GetName()}, File: file, Document: o.Document,
		Field:   o.Path,
		Repeats: o.Repeats, Raw: o.Manifest,
	}
	for _, other := range r.found {
		if other.Ref == m.Ref {
			return &object.FieldError{Field: "metadata.name",
				Err: fmt.Errorf("daemonset %s appears twice, also in %s", m.Ref,
					document.Position{File: other.File, Document: other.Document, Path: other.Field})}
		}
	}
	r.found = append(r.found, m)
	return nil
}

// Template returns the pod template of the manifest, or nil if there is none.
func (m Manifest) Template() template.Content {
	spec, _ := m.Object(m.Namespace)["spec"].(map[string]any)
	t, _ := spec["template"].(map[string]any)
	return t
}

// Fail returns err as an error about the manifest. A [*source.ConflictError] is returned as it is.
func (m Manifest) Fail(err error) error {
	if c := (*source.ConflictError)(nil); errors.As(err, &c) {
		return c
	}
	e := &source.InputError{File: m.File, Document: m.Document, Field: m.Field, Err: err}
	if errors.Is(err, errForceClientSide) {
		e.HintText = "--server-side --force-conflicts"
	}
	return e
}

// decodeManifest decodes a DaemonSet strictly. Of any other object it decodes only the kind.
func decodeManifest(raw []byte, list metav1.TypeMeta) (object.Object, error) {
	o, err := object.KindOf(raw, list)
	if err != nil {
		return o, err
	}
	if o.Kind != (metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"}) {
		return o, nil
	}
	ds := &appsv1.DaemonSet{}
	if err := o.DecodeInto(raw, ds); err != nil {
		return o, err
	}
	if field, err := strict(raw, reflect.TypeFor[appsv1.DaemonSet](), ""); err != nil {
		return o, &object.FieldError{Field: field, Err: err}
	}
	if err := required(ds); err != nil {
		return o, err
	}
	o.Is, o.Manifest = ds, withoutLiveFields(raw, o.Kind)
	return o, nil
}

// required returns an error if the manifest lacks a field that a file cut off at the end is likely
// to lack. The API's validation checks all other fields.
func required(ds *appsv1.DaemonSet) error {
	switch {
	case ds.Name == "":
		return &object.FieldError{Field: "metadata.name", Err: object.ErrMissing}
	case ds.Spec.Selector == nil:
		return &object.FieldError{Field: "spec.selector", Err: lackingSelector(ds.Spec.Template.Labels)}
	case len(ds.Spec.Template.Spec.Containers) == 0:
		return &object.FieldError{Field: "spec.template.spec.containers", Err: object.ErrMissing}
	}
	return nil
}

// lackingSelector returns the error for a DaemonSet without a selector. It suggests one that
// matches the template.
func lackingSelector(labels map[string]string) error {
	if len(labels) == 0 {
		return object.ErrMissing
	}
	return fmt.Errorf("%w: for the labels of the template, {matchLabels: %s}", object.ErrMissing,
		object.Encoded(labels))
}

// withoutLiveFields returns a manifest without the fields of a live object, which it has if kubectl get wrote
// it.
func withoutLiveFields(raw []byte, kind metav1.TypeMeta) []byte {
	o := mapOf(raw)
	o["apiVersion"], o["kind"] = kind.APIVersion, kind.Kind
	delete(o, "status")
	meta, _ := o["metadata"].(map[string]any)
	for _, name := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
		"deletionGracePeriodSeconds", "selfLink", "managedFields"} {
		delete(meta, name)
	}
	if annotations, ok := meta["annotations"].(map[string]any); ok {
		maps.DeleteFunc(annotations, func(k string, _ any) bool { return isToolRecord(k) })
		if len(annotations) == 0 {
			delete(meta, "annotations")
		}
	}
	return object.Encoded(o)
}

// mapOf returns a JSON object that was already decoded once. It panics if raw is not valid.
func mapOf(raw []byte) map[string]any {
	var o map[string]any
	if err := kjson.Unmarshal(raw, &o); err != nil {
		panic(err)
	}
	return o
}

// strict returns the first field of raw that type t does not have, or the first missing key of a
// list item. If raw is a list, key is the field that identifies its items. Types that decode
// themselves are not checked.
func strict(raw []byte, t reflect.Type, key string) (string, error) {
	if t.Kind() == reflect.Pointer {
		return strict(raw, t.Elem(), key)
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return "", nil
	}
	for _, m := range object.Members(raw, t) {
		if m.T == nil {
			return m.Name, noSuchField(m.Name, object.FieldTypes(t))
		}
		if field, err := strict(m.Raw, m.T, m.Key); err != nil {
			return object.Join(m.Name, field), err
		}
		var item map[string]json.RawMessage
		if key != "" && json.Unmarshal(m.Raw, &item) == nil && item[key] == nil {
			return object.Join(m.Name, key), object.ErrMissing
		}
	}
	return "", nil
}

func noSuchField(name string, types map[string]reflect.StructField) error {
	right := object.NearName(name, types)
	switch {
	case name == "templateGeneration": // removed with extensions/v1beta1
		return fmt.Errorf("%w in apps/v1: leave it out", errNoField)
	case right != "":
		return fmt.Errorf("%w: did you mean %s?", errNoField, right)
	}
	return errNoField
}

var errNoField = errors.New("there is no such field")
