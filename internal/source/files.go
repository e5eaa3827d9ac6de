package source

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// StandardInput is the path of standard input.
const StandardInput = "-"

// getHint is the command that writes what ReadFiles reads.
var getHint = DumpCommand() + " > dump.yaml"

// DumpCommand returns kubectl's own command that writes what a Dump is read from, with
// the kinds that hold further parts. It asks for no Secrets, whose values it would write.
func DumpCommand(further ...snapshot.What) string {
	kinds := []string{"ds", "nodes", "pods", "controllerrevisions", "events", "pdb"}
	for _, what := range further {
		for of := range strings.SplitSeq(dumpedFor[what], ",") {
			if of != "" && !slices.Contains(kinds, of) {
				kinds = append(kinds, of)
			}
		}
	}
	return "kubectl get " + strings.Join(kinds, ",") + " -A -o yaml"
}

// dumpedFor are kubectl's names of the kinds that hold a part, of those that not every
// question needs. Before v1.36 servers have no mutating policies, and kubectl rejects a
// command that names a kind which the server does not have.
var dumpedFor = map[snapshot.What]string{
	snapshot.Namespaces: "ns", snapshot.ServiceAccounts: "sa", snapshot.PriorityClasses: "pc", snapshot.RuntimeClasses: "runtimeclasses",
	snapshot.LimitRanges: "limits", snapshot.ResourceQuotas: "quota",
	snapshot.Webhooks:   "validatingwebhookconfigurations,mutatingwebhookconfigurations,validatingadmissionpolicies,validatingadmissionpolicybindings",
	snapshot.ConfigMaps: "cm", snapshot.Claims: "pvc", snapshot.PersistentVolumes: "pvc,pv", snapshot.CSINodes: "csinodes",
}

// ReadFiles reads what "kubectl get -o yaml" or "-o json" writes, and what
// "kubectl ds snapshot" writes, from files, from folders with all that is in
// them, and from standard input ("-"), as one Dump.
//
// Lists may stand in lists. Objects of kinds that no Snapshot holds are not
// read. In a folder, neither are files that are not such documents, and Notes
// names them; a file that is named must be one. What nearly looks like an
// object that counts is damage, and damage is an error wherever it stands: an
// [*InputError] that names the file, the document and the field.
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
// clock is called only if no object has a time.
func ReadFiles(ctx context.Context, paths []string, stdin io.Reader, clock func() time.Time) (*Dump, error) {
	d := newDump()
	for i, path := range paths {
		if slices.Contains(paths[:i], path) {
			return nil, &InputError{File: path, Err: errors.New("is given twice")}
		}
		if err := d.readPath(ctx, path, stdin); err != nil {
			return nil, err
		}
	}
	if err := d.finish(paths, clock); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *Dump) readPath(ctx context.Context, path string, stdin io.Reader) error {
	if info, err := os.Stat(path); path != StandardInput && err == nil && info.IsDir() {
		return d.readFolder(ctx, path)
	}
	err := readFrom(ctx, path, stdin, func(name string, in io.Reader) error { return d.readFile(ctx, name, in, false) })
	if e := (*InputError)(nil); errors.As(err, &e) && errors.Is(err, fs.ErrNotExist) {
		e.hint = cmp.Or(e.hint, getHint)
	}
	return err
}

// readFrom hands read the file, or standard input, with the name that people know
// it by.
func readFrom(ctx context.Context, path string, stdin io.Reader, read func(name string, in io.Reader) error) error {
	if path == StandardInput {
		return read("standard input", waiting{ctx, stdin})
	}
	f, err := openFile(ctx, path)
	if err != nil {
		return err
	}
	defer f.Close()
	return read(path, f)
}

// openFile opens a file to be read. A named pipe, and what a shell makes of
// <(command), are waited for until the context ends.
func openFile(ctx context.Context, path string) (io.ReadCloser, error) {
	f, err := await(ctx, func() (*os.File, error) { return os.Open(path) })
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fileError(path, err)
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		return f, nil
	}
	return struct {
		io.Reader
		io.Closer
	}{waiting{ctx, f}, f}, nil
}

// readFolder reads the files of a folder and of the folders in it, in the
// order of their names. It follows a link to a file, and none to a folder.
func (d *Dump) readFolder(ctx context.Context, folder string) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fileError(path, err)
		}
		if entry.IsDir() {
			return nil
		}
		info, err := os.Stat(path)
		if err != nil {
			return fileError(path, err)
		}
		if !info.Mode().IsRegular() {
			d.skipped = append(d.skipped, path)
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return fileError(path, err)
		}
		defer f.Close()
		if !documentName(path) {
			head := make([]byte, 4<<10)
			n, err := io.ReadFull(f, head)
			if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
				return fileError(path, err)
			}
			if head = head[:n]; !documentHead(head) {
				d.skipped = append(d.skipped, path)
				return nil
			}
			return d.readFile(ctx, path, io.MultiReader(bytes.NewReader(head), f), true)
		}
		return d.readFile(ctx, path, f, true)
	})
}

// documentName reports whether a file's name says that it holds documents.
func documentName(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".json", ".yaml", ".yml":
		return true
	}
	return false
}

var (
	apiVersionLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)(^|[{,])\s*"?apiVersion"?\s*:`)
	})
	kindLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)(^|[{,])\s*"?(kind|items)"?\s*:`)
	})
)

// documentHead reports whether a file that begins so holds documents, whatever
// it is called: sos reports, for one, name files after commands.
func documentHead(head []byte) bool {
	head = bytes.ReplaceAll(head, []byte{0}, nil) // UTF-16
	return apiVersionLine().Match(head) && kindLine().Match(head)
}

// readFile reads the documents of one file. A file found in a folder may be
// something else altogether.
func (d *Dump) readFile(ctx context.Context, name string, in io.Reader, found bool) error {
	before := d.objects
	docs := &documents{name: name, from: in, decode: decode, emit: func(o object) error { return d.add(name, o) }}
	err := docs.read(ctx)
	if err == nil && d.objects == before {
		err = &InputError{File: name, Err: errEmpty}
	}
	if err == nil && docs.ragged {
		d.notes = append(d.notes, raggedNote(name))
	}
	out := (*InputError)(nil)
	if !errors.As(err, &out) {
		return err
	}
	if found && d.objects == before && (errors.Is(err, errNotKubernetes) || errors.Is(err, errEmpty)) {
		d.skipped = append(d.skipped, name)
		return nil
	}
	if !slices.ContainsFunc([]error{errNotKubernetes, errNotText, errCutOff, errListEnd, errEmpty}, func(of error) bool { return errors.Is(err, of) }) {
		return out
	}
	out.hint = getHint
	for _, p := range packed {
		if errors.Is(err, errNotText) && strings.HasSuffix(strings.ToLower(name), p.suffix) {
			out.Err, out.hint = errors.New(p.what), p.command+" "+word(name)
			break
		}
	}
	return out
}

func raggedNote(file string) string {
	return file + ": the last line has no newline: the file may be cut off"
}

var errEmpty = errors.New("has no object")

// packed are files that hold others, by what ends their name, and the command
// that unpacks one.
var packed = []struct{ suffix, what, command string }{
	{".zip", archive, "unzip"}, {".tar", archive, "tar -xf"}, {".tgz", archive, "tar -xf"}, {".txz", archive, "tar -xf"},
	{".tar.gz", archive, "tar -xf"}, {".tar.xz", archive, "tar -xf"}, {".tar.bz2", archive, "tar -xf"}, {".tar.zst", archive, "tar -xf"},
	{".gz", compressed, "gunzip -k"}, {".xz", compressed, "unxz -k"}, {".bz2", compressed, "bunzip2 -k"}, {".zst", compressed, "unzstd"},
}

const (
	archive    = "an archive: unpack it, and give the directory"
	compressed = "compressed: unpack it, and give the file"
)

func fileError(path string, err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		err = e.Err // the path stands beside it
	}
	out := &InputError{File: path, Err: err}
	if errors.Is(err, fs.ErrNotExist) {
		out.hint = nearFile(path)
	}
	return out
}

// nearFile returns the hint with the files beside one that is not there whose name is like
// it; empty where there is none.
func nearFile(path string) string {
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return Meant(dir, base, names, "")
}

// word returns a file's name as a shell reads it.
func word(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9._:/=@,%+-]+$`)

// skippedNote returns the note with the files of a folder that were not read.
func skippedNote(skipped []string) string {
	names := strings.Join(skipped[:min(3, len(skipped))], ", ")
	if len(skipped) > 3 {
		names += fmt.Sprintf(", +%d more", len(skipped)-3)
	}
	return fmt.Sprintf("ignored, because they are not Kubernetes objects in YAML or JSON: %s", names)
}

// waiting is a reader, of a terminal perhaps, that stops waiting when the
// context ends.
type waiting struct {
	ctx context.Context
	in  io.Reader
}

func (w waiting) Read(p []byte) (int, error) {
	own := make([]byte, len(p)) // p is the caller's again when the context ends
	n, err := await(w.ctx, func() (int, error) { return w.in.Read(own) })
	return copy(p, own[:n]), err
}

// await returns what work does, or the context's error if that ends before. The
// work then goes on, and nobody waits for it.
func await[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		r.err = contained(func() (err error) {
			r.value, err = work()
			return err
		})()
		done <- r
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
