package document

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
)

const StdinName = "standard input" // in messages

const (
	PartOfInput   = 16      // divides ReadOptions.Most to get the limit of one object
	TimesTheInput = 16      // multiplies ReadOptions.Most to get the limit of an unpacked archive
	MostFiles     = 1 << 20 // in one input
	MostDeep      = 2       // archives within archives
	MostLayers    = 4       // archives and packed files within each other
)

// ReadFrom calls read with the file, or with standard input, and its name for messages.
func ReadFrom(ctx context.Context, path string, stdin io.Reader, read func(name string, in io.Reader) error) error {
	if path == source.StandardInput {
		return read(StdinName, waiting{ctx, stdin})
	}
	f, err := openFile(ctx, path)
	if err != nil {
		return err
	}
	defer f.Close()
	return read(path, f)
}

// openFile opens a file for reading. If the file is a named pipe or a shell's <(command), reads wait until data
// arrives or ctx ends.
func openFile(ctx context.Context, path string) (io.ReadCloser, error) {
	f, err := Await(ctx, func() (*os.File, error) { return os.Open(path) })
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, FileError(path, err)
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		return f, nil
	}
	return struct {
		io.Reader
		io.Closer
	}{waiting{ctx, f}, f}, nil
}

// DocumentName reports whether the name of a file has the extension of a JSON or YAML file.
func DocumentName(path string) bool {
	switch strings.ToLower(filepath.Ext(UnpackedName(path))) {
	case ".json", ".yaml", ".yml":
		return true
	}
	return false
}

// RaggedNote returns a note about files whose last line has no newline.
func RaggedNote(files []string) string {
	return SomeOf(files) + ": the last line has no newline: the " +
		map[bool]string{true: "file", false: "files"}[len(files) == 1] + " may be cut off"
}

// SomeOf lists the first files, and gives the number of the others.
func SomeOf(files []string) string {
	text := strings.Join(files[:min(Most, len(files))], ", ")
	if more := len(files) - Most; more > 0 {
		text += fmt.Sprintf(", +%d more", more)
	}
	return text
}

func FileError(path string, err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		err = e.Err // the message already has the path
	}
	out := &source.InputError{File: path, Err: err}
	if errors.Is(err, fs.ErrNotExist) {
		out.HintText = nearFile(path)
	}
	return out
}

// nearFile returns a hint with files whose name is similar to the name of a missing file, or "".
func nearFile(path string) string {
	dir, name := filepath.Split(path)
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return source.Meant(dir, name, names, "")
}

// Word quotes the name of a file for a shell, if necessary.
func Word(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9._:/=@,%+-]+$`)

// waiting is a reader that stops waiting for input, for example from a terminal, when ctx ends.
type waiting struct {
	ctx context.Context
	in  io.Reader
}

func (w waiting) Read(p []byte) (int, error) {
	own := make([]byte, len(p)) // the caller reuses p when ctx ends
	n, err := Await(w.ctx, func() (int, error) { return w.in.Read(own) })
	return copy(p, own[:n]), err
}

// Await returns the result of work, or the error of ctx if ctx ends first. In that case, work continues in the
// background.
func Await[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		r.err = source.Contain(func() (err error) {
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

// Most limits the notes of one kind, and the files that one note lists.
const Most = 3

// UnpackedName returns the name of a file without the extension of a compression format.
func UnpackedName(name string) string {
	switch ext := path.Ext(name); strings.ToLower(ext) {
	case ".gz", ".xz", ".zst", ".bz2":
		return strings.TrimSuffix(name, ext)
	}
	return name
}
