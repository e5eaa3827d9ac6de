package dump

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/document"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/internal/source/prose"
)

// ReadOptions configures ReadFiles.
type ReadOptions struct {
	// KeepGoing leaves out damaged objects. What depends on them becomes a Gap.
	KeepGoing bool
	// Most is the maximum number of bytes of all documents, after unpacking; 0 stands for
	// DefaultMaxInput. The limit for one object is a sixteenth of it, and for everything that
	// archives unpack to, sixteen times.
	Most int64
}

// ReadFiles reads files, folders, archives and standard input ("-") as one Dump. It reads the
// output of "kubectl get -o yaml" or "-o json", "kubectl cluster-info dump" and "kubectl ds
// snapshot", and support bundles. Folders and archives are read recursively. Objects of other kinds
// and, in folders and archives, other files are ignored; Notes lists the files.
//
// A damaged object is an [*source.InputError] with the file, the document and the field, unless no
// answer depends on its kind. Unknown fields, repeated keys and differing copies of an object are
// not errors; Notes lists them. A file that was cut off is detected unless it is a single YAML
// object cut off between two lines.
//
// clock is called only if no object contains a time. With an error, the Dump contains only the
// Notes on what was not read.
func ReadFiles(
	ctx context.Context,
	paths []string,
	stdin io.Reader,
	clock func() time.Time,
	how ReadOptions,
) (*Dump, error) {
	d := New(how)
	for i, path := range paths {
		if slices.Contains(paths[:i], path) {
			return d, &source.InputError{File: path, Err: errors.New("is given twice")}
		}
		if err := d.ReadPath(ctx, path, stdin); err != nil {
			d.noteUnread()
			return d, err
		}
	}
	return d, d.Finish(paths, clock)
}

// location describes where a file is.
type location struct {
	name   string // for messages
	within string // path in the given folder or archive; empty for a file given by name
	gather string // the gather that it belongs to; empty: part of the whole input
	// command that writes the file to standard output, without raw; empty if it is not in an
	// archive file
	unpack string
	raw    string // path as the archive spells it
	depth  int    // depth of nested archives
	layers int    // depth of nested archives and compressed files
}

// found reports whether the file was found in a folder or an archive and not given by name. It may
// be of any type.
func (p location) found() bool { return p.within != "" }

func (d *Dump) ReadPath(ctx context.Context, path string, stdin io.Reader) error {
	d.path = path
	if info, err := os.Stat(path); path != source.StandardInput && err == nil && info.IsDir() {
		d.folders[path] = true
		return d.readFolder(ctx, path)
	}
	err := document.ReadFrom(ctx, path, stdin,
		func(name string, in io.Reader) error { return d.readStream(ctx, location{name: name}, in) })
	if e := (*source.InputError)(nil); errors.As(err, &e) && errors.Is(err, fs.ErrNotExist) {
		e.HintText = cmp.Or(e.HintText, source.GetHint)
	}
	return err
}

// readFolder reads the files of a folder and its subfolders in the order of their names. It follows
// links to files, but not to folders.
func (d *Dump) readFolder(ctx context.Context, folder string) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return document.FileError(path, err)
		}
		if entry.IsDir() {
			return ctx.Err()
		}
		within, err := filepath.Rel(folder, path)
		if err != nil {
			return document.FileError(path, err)
		}
		p := location{name: path, within: filepath.ToSlash(within)}
		p.gather = d.gatherOf(p.within)
		info, err := os.Stat(path)
		if err != nil && entry.Type()&fs.ModeSymlink == 0 {
			return document.FileError(path, err)
		}
		if err != nil || !info.Mode().IsRegular() {
			d.skipped = append(d.skipped, path)
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return document.FileError(path, err)
		}
		defer f.Close()
		return d.readStream(ctx, p, f)
	})
}

// readStream reads one file: an archive, a compressed file, or documents.
func (d *Dump) readStream(ctx context.Context, p location, in io.Reader) error {
	if d.files++; d.files > document.MostFiles {
		return &source.InputError{File: d.path, Err: fmt.Errorf("it holds more than %d files", document.MostFiles)}
	}
	if p.found() && isMacOSFile(p.within) {
		d.macOS++
		return nil
	}
	head := bufio.NewReaderSize(in, 32<<10)
	begin, err := head.Peek(headBytes)
	if err != nil && err != io.EOF {
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF): // of the archive that contains it
			return err
		case p.layers > 0:
			return d.cannotUnpack(p, err)
		}
		return document.FileError(p.name, err)
	}
	if form := packFormatOf(begin, p.name); form != nil {
		return d.unpack(ctx, p, form, head, in)
	}
	if p.found() {
		if d.noteName(p, begin) {
			return nil
		}
		if !document.DocumentName(p.within) && !documentHead(begin) {
			d.skipped = append(d.skipped, p.name)
			return nil
		}
	}
	file, _ := in.(*os.File) // nil for compressed files and pipes
	return d.readFile(ctx, p, head, file)
}

// headBytes is the number of bytes that are examined to detect the type of a file.
const headBytes = 4 << 10

var (
	apiVersionLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^(?:\xEF\xBB\xBF)?"?apiVersion"?\s*:`)
	})
	kindLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^(?:\xEF\xBB\xBF)?"?(?:kind|items)"?\s*:`)
	})
)

// documentHead reports whether a file that begins with head contains documents, whatever its name
// is: sos reports, for example, name files after commands. A log that quotes an object does not
// begin with one.
func documentHead(head []byte) bool {
	head = bytes.ReplaceAll(head, []byte{0}, nil) // UTF-16
	head = bytes.TrimPrefix(bytes.TrimPrefix(head, []byte("\xff\xfe")), []byte("\xfe\xff"))
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	if first := object.FirstByte(head); first == '{' || first == '[' {
		return objectHead(head)
	}
	if i := bytes.LastIndexByte(head, '\n'); i >= 0 && len(head) > headBytes/2 {
		head = head[:i] // the last line may be incomplete
	}
	for line := range bytes.Lines(head) {
		if line = bytes.TrimRight(line, " \t\r\n"); len(line) > 0 && line[0] != ' ' && !prose.InDocument(line) {
			return false
		}
	}
	return apiVersionLine().Match(head) && kindLine().Match(head)
}

// objectHead reports whether head is the beginning of a JSON object with a kind, a list, or an
// array of such objects.
func objectHead(head []byte) bool {
	d := json.NewDecoder(bytes.NewReader(head))
	keys := map[string]bool{}
	for depth := 0; ; {
		t, err := d.Token()
		if err != nil {
			break
		}
		switch v := t.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				depth++
			} else {
				depth--
			}
		case string:
			if depth <= 3 {
				keys[v] = true
			}
		}
	}
	return keys["apiVersion"] && keys["kind"] || keys["apiVersion"] && keys["items"]
}

// readFile reads the documents of one file. file is not nil if the file can be read again.
func (d *Dump) readFile(ctx context.Context, p location, in io.Reader, file *os.File) error {
	if d.expectedBytes = 0; p.layers == 0 && !p.found() {
		if info, err := os.Stat(d.path); err == nil && info.Mode().IsRegular() {
			d.expectedBytes = d.bytes + info.Size()
		}
	}
	before, damageCount := d.Objects, d.damageCount
	var none []document.Damage // documents that are not objects
	lost := false              // whether an object that may matter was lost
	docs := &document.Documents{
		Name: p.name, From: &limitedReader{d, in}, Decode: object.Decode, Most: d.options.Most / document.PartOfInput,
		Emit: func(o object.Object) error { return d.add(p, o) },
		Tolerant: &document.DamagePolicy{
			Arrays: listOf(p.name), Words: fromRancher(p.name), Sums: d.Sums,
			Harm: func(x document.Damage) error {
				if x.Words() ||
					d.options.KeepGoing && (errors.Is(x, object.ErrNotKubernetes) || errors.Is(x, errEmpty)) {
					none = append(none, x)
					return nil
				}
				lost = lost || errors.Is(x, object.ErrNoKind) && x.Counts(p.found())
				return d.reportDamage(p, x)
			},
			Log: func(of document.LogOf) { d.logs[of] = append(d.logs[of], logPlace{p, true}) },
		},
	}
	if file != nil {
		docs.Again = file
	}
	err := docs.Read(ctx)
	switch {
	case err != nil || d.damageCount > damageCount:
	case d.Objects == before && len(none) > 0:
		err = none[0].InputError
	case d.Objects == before:
		err = d.empty(p)
	}
	if d.Objects > before || d.damageCount > damageCount || err != nil {
		err = d.decideText(p, none, err)
	}
	d.noteCut(docs)
	out := (*source.InputError)(nil)
	if !errors.As(err, &out) {
		return err
	}
	if p.found() && !lost && d.Objects == before &&
		(errors.Is(err, object.ErrNotKubernetes) || errors.Is(err, errEmpty)) {
		d.skipped = append(d.skipped, p.name)
		return nil
	}
	return d.withHint(out)
}

// empty returns the error for a file without documents. If its name says that it contains a list,
// even an empty list would have a document, so its objects are lost.
func (d *Dump) empty(p location) error {
	if kind := object.ItemKind(listOf(p.name)); p.found() && LostOf[kind.Kind] != "" {
		return d.reportDamage(p, document.Damage{InputError: &source.InputError{File: p.name, Err: errHollow},
			Kinds: []metav1.TypeMeta{kind}})
	}
	return &source.InputError{File: p.name, Err: errEmpty}
}

// decideText handles the documents in a file that are not objects. In a file given by name they are
// an error, unless KeepGoing is set. err is any other error about the file. Of two errors, the one
// about the earlier document is returned.
func (d *Dump) decideText(p location, none []document.Damage, err error) error {
	for _, x := range none {
		other := (*source.InputError)(nil)
		later := errors.As(err, &other) && other.Document < x.Document
		switch refused := !d.options.KeepGoing && (!p.found() || x.Counts(true)); {
		case other == nil && err != nil, refused && later: // the file is not read at all
		case refused:
			err = x.InputError
		default:
			d.leaveOut(p, x)
		}
	}
	return err
}

// withHint returns e with a hint.
func (d *Dump) withHint(e *source.InputError) error {
	large := (*document.SizeError)(nil)
	switch {
	case e.HintText != "":
	case errors.As(e, &large):
		e.HintText = "--max-input " + source.SizeOf(2*max(large.Bound, d.options.Most))
	case errors.Is(e, source.ErrTemplate) && e.File == d.path:
		e.HintText = source.GetHint
	case e.Words() && d.Objects > 0:
		e.HintText = "--keep-going (leaves out the text), or " + source.GetHint
	case e.File != d.path && errors.Is(e, object.ErrNoKind):
		e.HintText = keepGoingHint
	case slices.ContainsFunc([]error{object.ErrNotKubernetes, object.ErrGone, object.ErrTable, object.ErrPartialObject,
		source.ErrNotText, source.ErrCutOff,
		source.ErrListEnd, errEmpty, source.ErrTooOld}, func(of error) bool { return errors.Is(e, of) }):
		e.HintText = source.GetHint
	default:
		e.HintText = keepGoingHint
	}
	return e
}

const keepGoingHint = "--keep-going (leaves out what is damaged; what depends on it is then unknown)"

// reportDamage handles damage: it returns it as an error, or leaves it out if KeepGoing is set or no
// answer depends on it.
func (d *Dump) reportDamage(p location, x document.Damage) error {
	large := (*document.SizeError)(nil)
	switch {
	case p.found() && len(x.Kinds) > 0 && object.Gone(x.Kinds[0]):
		d.removedAPIs = append(d.removedAPIs, x.InputError)
		d.damageCount++
		return nil
	case errors.Is(x, object.ErrNotKubernetes), errors.Is(x, errEmpty), !d.options.KeepGoing &&
		(errors.As(x, &large) || x.Counts(p.found())):
		return x.InputError
	}
	d.leaveOut(p, x)
	return nil
}

// leaveOut records damage that is left out.
func (d *Dump) leaveOut(p location, x document.Damage) {
	if d.damageCount++; x.Counts(p.found()) {
		d.recordLoss(x)
	} else {
		d.damaged = append(d.damaged, x.Error())
	}
}

// limitedReader limits the total number of bytes of documents.
type limitedReader struct {
	d  *Dump
	in io.Reader
}

func (b *limitedReader) Read(p []byte) (int, error) {
	n, err := b.in.Read(p)
	if b.d.bytes += int64(n); b.d.bytes > b.d.options.Most {
		return 0, &document.SizeError{Words: fmt.Sprintf("the input has more than %s", source.SizeOf(b.d.options.Most)),
			Bound: b.d.options.Most}
	}
	return n, err
}

// noteCut records that a file seems to be cut off. A missing newline at the end is recorded only if
// an object in the file may matter.
func (d *Dump) noteCut(docs *document.Documents) {
	if docs.Within != "" {
		d.cut = append(d.cut, fmt.Sprintf("%s: it ends inside %s: the file may be cut off", docs.Name, docs.Within))
	} else if docs.Ragged && docs.Counts {
		d.noFinalNewline = append(d.noFinalNewline, docs.Name)
	}
}

var (
	errEmpty  = errors.New("has no object")
	errHollow = errors.New("it is empty, and by its name it has a list")
)
