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

// How says how ReadFiles reads.
type How struct {
	// KeepGoing: what is damaged is left out. Where it may count, what depends on it is a Gap.
	KeepGoing bool
	// Most bounds the bytes of all documents that are read, unpacked; 0 is DefaultMaxInput. One
	// object may have a sixteenth of that, and what an archive unpacks to that is not read
	// sixteen times that.
	Most int64
	// Stays is called before the first recorded Snapshot is read, of a file of so many bytes: nearly
	// all of it stays in memory. What it returns is called when that Snapshot is read. It may be nil.
	Stays func(bytes int64) (read func())
}

// ReadFiles reads what "kubectl get -o yaml" or "-o json", "kubectl cluster-info dump" and
// "kubectl ds snapshot" write, and what support bundles hold, from files, from folders with
// all that is in them, from archives, which are read as folders are, and from standard input
// ("-"), as one Dump.
//
// Lists may stand in lists. Objects of kinds that no Snapshot holds are not
// read. In a folder, neither are files that are not such documents, and Notes
// names them; a file that is named must be one. What nearly looks like an
// object that counts is damage, and damage is an error wherever it stands: an
// [*InputError] that names the file, the document and the field. Damage in an object of a kind
// that decides nothing is passed over, with a note.
//
// A field that an object that counts does not have is no error, since the object
// may be of a newer version: Notes names it once. Of a key that appears twice in an object the last value is used, and
// Notes names the place. Notes names both places, too, where two copies of an object differ and
// nothing tells which is the newer.
//
// A file that was cut off has an object without its end, a last line without
// its end, or a list without its kind, which kubectl writes last. A single
// object in YAML that was cut off between two lines looks whole.
//
// clock is called only if no object has a time. With an error the Dump has nothing but the Notes
// on what was not read.
func ReadFiles(ctx context.Context, paths []string, stdin io.Reader, clock func() time.Time, how How) (*Dump, error) {
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

// location is where a file stands.
type location struct {
	name   string // that people know it by
	within string // its path in the folder or the archive that was given; empty for one that was given itself
	gather string // the part of the input that is one reading of a cluster by itself; empty for all of it
	// the command that writes it to standard output, but for raw; empty where it is in no archive that is a file
	unpack string
	raw    string // its path in the archive, as that has it
	deep   int    // archives that it is in
	layers int    // of them and of packed files
}

// found reports whether nobody gave the file by its name: it may be something else altogether.
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

// readFolder reads the files of a folder and of the folders in it, in the
// order of their names. It follows a link to a file, and none to a folder.
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

// readStream reads one file: an archive, a packed file, or documents.
func (d *Dump) readStream(ctx context.Context, p location, in io.Reader) error {
	if d.files++; d.files > document.MostFiles {
		return &source.InputError{File: d.path, Err: fmt.Errorf("it holds more than %d files", document.MostFiles)}
	}
	if p.found() && ofMacOS(p.within) {
		d.macOS++
		return nil
	}
	head := bufio.NewReaderSize(in, 32<<10)
	begin, err := head.Peek(headBytes)
	if err != nil && err != io.EOF {
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF): // of the archive that it is in
			return err
		case p.layers > 0:
			return d.cannotUnpack(p, err)
		}
		return document.FileError(p.name, err)
	}
	if form := formOf(begin, p.name); form != nil {
		return d.unpack(ctx, p, form, head, in)
	}
	if p.found() {
		if d.observe(p, begin) {
			return nil
		}
		if !document.DocumentName(p.within) && !documentHead(begin) {
			d.skipped = append(d.skipped, p.name)
			return nil
		}
	}
	file, _ := in.(*os.File) // nil for what comes out of a packed one, or through a pipe
	return d.readFile(ctx, p, head, file)
}

// headBytes are enough to tell what a file is.
const headBytes = 4 << 10

var (
	apiVersionLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^(?:\xEF\xBB\xBF)?"?apiVersion"?\s*:`)
	})
	kindLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^(?:\xEF\xBB\xBF)?"?(?:kind|items)"?\s*:`)
	})
)

// documentHead reports whether a file that begins so holds documents, whatever
// it is called: sos reports, for one, name files after commands. A log that quotes an object
// does not begin with it.
func documentHead(head []byte) bool {
	head = bytes.ReplaceAll(head, []byte{0}, nil) // UTF-16
	head = bytes.TrimPrefix(bytes.TrimPrefix(head, []byte("\xff\xfe")), []byte("\xfe\xff"))
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	if first := object.FirstByte(head); first == '{' || first == '[' {
		return objectHead(head)
	}
	if i := bytes.LastIndexByte(head, '\n'); i >= 0 && len(head) > headBytes/2 {
		head = head[:i] // the last line may not be whole
	}
	for line := range bytes.Lines(head) {
		if line = bytes.TrimRight(line, " \t\r\n"); len(line) > 0 && line[0] != ' ' && !prose.InDocument(line) {
			return false
		}
	}
	return apiVersionLine().Match(head) && kindLine().Match(head)
}

// objectHead reports whether JSON begins as an object with a kind, a list or an array of such
// objects does.
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

// readFile reads the documents of one file. If it is one that can be read again, that is how.
func (d *Dump) readFile(ctx context.Context, p location, in io.Reader, file *os.File) error {
	if d.end = 0; p.layers == 0 && !p.found() {
		if info, err := os.Stat(d.path); err == nil && info.Mode().IsRegular() {
			d.end = d.bytes + info.Size()
		}
	}
	before, harms := d.Objects, d.harms
	var none []document.Damage // what says nothing of being an object
	lost := false              // an object that may count
	docs := &document.Documents{
		Name: p.name, From: &documentBytes{d, in}, Decode: object.Decode, Most: d.how.Most / document.PartOfInput,
		Emit: func(o object.Object) error { return d.add(p, o) },
		Tolerant: &document.DamagePolicy{
			Arrays: listOf(p.name), Words: fromRancher(p.name), Sums: d.Sums,
			Harm: func(x document.Damage) error {
				if x.Words() || d.how.KeepGoing && (errors.Is(x, object.ErrNotKubernetes) || errors.Is(x, errEmpty)) {
					none = append(none, x)
					return nil
				}
				lost = lost || errors.Is(x, object.ErrNoKind) && x.Counts(p.found())
				return d.harmed(p, x)
			},
			Log: func(of document.LogOf) { d.logs[of] = append(d.logs[of], logPlace{p, true}) },
		},
	}
	if file != nil {
		docs.Again, docs.Recording = file, func() func() {
			stays := d.how.Stays
			d.how.Stays = nil
			if info, err := file.Stat(); err == nil && stays != nil {
				return stays(info.Size())
			}
			return func() {}
		}
	}
	err := docs.Read(ctx)
	switch {
	case err != nil || d.harms > harms:
	case d.Objects == before && len(none) > 0:
		err = none[0].InputError
	case d.Objects == before:
		err = d.empty(p)
	}
	if d.Objects > before || d.harms > harms || err != nil {
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
	return d.hinting(out)
}

// empty returns the error of a file without any document. Where a collector calls a file so that writes a list even if
// it has no items, the objects are lost.
func (d *Dump) empty(p location) error {
	if kind := object.ItemKind(listOf(p.name)); p.found() && LostOf[kind.Kind] != "" {
		return d.harmed(p, document.Damage{InputError: &source.InputError{File: p.name, Err: errHollow},
			Kinds: []metav1.TypeMeta{kind}})
	}
	return &source.InputError{File: p.name, Err: errEmpty}
}

// decideText decides about what is no object, beside objects in the same file: in a file that
// somebody named it is an error, or with KeepGoing left out. err is what is wrong with the file
// besides. Of two errors the one about the earlier document is returned.
func (d *Dump) decideText(p location, none []document.Damage, err error) error {
	for _, x := range none {
		other := (*source.InputError)(nil)
		later := errors.As(err, &other) && other.Document < x.Document
		switch refused := !d.how.KeepGoing && (!p.found() || x.Counts(true)); {
		case other == nil && err != nil, refused && later: // the file is not read at all
		case refused:
			err = x.InputError
		default:
			d.leaveOut(p, x)
		}
	}
	return err
}

// hinting returns an error about a file with what to do.
func (d *Dump) hinting(e *source.InputError) error {
	large := (*document.SizeError)(nil)
	switch {
	case e.HintText != "":
	case errors.As(e, &large):
		e.HintText = "--max-input " + source.SizeOf(2*max(large.Bound, d.how.Most))
	case errors.Is(e, source.ErrTemplate) && e.File == d.path:
		e.HintText = source.GetHint
	case e.Words() && d.Objects > 0:
		e.HintText = "--keep-going (leaves out the text), or " + source.GetHint
	case e.File != d.path && errors.Is(e, object.ErrNoKind):
		e.HintText = keepGoing
	case slices.ContainsFunc([]error{object.ErrNotKubernetes, object.ErrGone, object.ErrTable, object.ErrPartialObject,
		source.ErrNotText, source.ErrCutOff,
		source.ErrListEnd, errEmpty, source.ErrTooOld}, func(of error) bool { return errors.Is(e, of) }):
		e.HintText = source.GetHint
	default:
		e.HintText = keepGoing
	}
	return e
}

const keepGoing = "--keep-going (leaves out what is damaged; what depends on it is then unknown)"

// harmed decides about something that cannot be read: it is an error, passed over or, with
// KeepGoing, lost.
func (d *Dump) harmed(p location, x document.Damage) error {
	large := (*document.SizeError)(nil)
	switch {
	case p.found() && len(x.Kinds) > 0 && object.Gone(x.Kinds[0]):
		d.gone = append(d.gone, x.InputError)
		d.harms++
		return nil
	case errors.Is(x, object.ErrNotKubernetes), errors.Is(x, errEmpty), !d.how.KeepGoing &&
		(errors.As(x, &large) || x.Counts(p.found())):
		return x.InputError
	}
	d.leaveOut(p, x)
	return nil
}

// leaveOut notes what cannot be read, and is passed over or lost.
func (d *Dump) leaveOut(p location, x document.Damage) {
	if d.harms++; x.Counts(p.found()) {
		d.lose(x)
	} else {
		d.damaged = append(d.damaged, x.Error())
	}
}

// documentBytes reads documents of which there may be only so much in all.
type documentBytes struct {
	d  *Dump
	in io.Reader
}

func (b *documentBytes) Read(p []byte) (int, error) {
	n, err := b.in.Read(p)
	if b.d.bytes += int64(n); b.d.bytes > b.d.how.Most {
		return 0, &document.SizeError{Words: fmt.Sprintf("the input has more than %s", source.SizeOf(b.d.how.Most)),
			Bound: b.d.how.Most}
	}
	return n, err
}

// noteCut notes that a file seems to be cut off. Where its last line has no newline, that is
// worth a word only if an object in it may count.
func (d *Dump) noteCut(docs *document.Documents) {
	if docs.Within != "" {
		d.cut = append(d.cut, fmt.Sprintf("%s: it ends inside %s: the file may be cut off", docs.Name, docs.Within))
	} else if docs.Ragged && docs.Counts {
		d.ragged = append(d.ragged, docs.Name)
	}
}

var (
	errEmpty  = errors.New("has no object")
	errHollow = errors.New("it is empty, and by its name it has a list")
)
