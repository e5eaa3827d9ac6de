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

const StdinName = "standard input" // as people know it

const (
	PartOfInput   = 16      // How.Most is so many times what one object may have
	TimesTheInput = 16      // an archive may unpack to so many times How.Most
	MostFiles     = 1 << 20 // of one input
	MostDeep      = 2       // archives within archives
	MostLayers    = 4       // of them and of packed files
)

// ReadFrom hands read the file, or standard input, with the name that people know
// it by.
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

// openFile opens a file to be read. A named pipe, and what a shell makes of
// <(command), are waited for until the context ends.
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

// DocumentName reports whether a file's name says that it holds documents.
func DocumentName(path string) bool {
	switch strings.ToLower(filepath.Ext(UnpackedName(path))) {
	case ".json", ".yaml", ".yml":
		return true
	}
	return false
}

// RaggedNote names files whose last line has no newline.
func RaggedNote(files []string) string {
	return SomeOf(files) + ": the last line has no newline: the " +
		map[bool]string{true: "file", false: "files"}[len(files) == 1] + " may be cut off"
}

// SomeOf names the first of some files, and says how many more there are.
func SomeOf(files []string) string {
	text := strings.Join(files[:min(Most, len(files))], ", ")
	if more := len(files) - Most; more > 0 {
		text += fmt.Sprintf(", +%d more", more)
	}
	return text
}

func FileError(path string, err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		err = e.Err // the message names the path already
	}
	out := &source.InputError{File: path, Err: err}
	if errors.Is(err, fs.ErrNotExist) {
		out.HintText = nearFile(path)
	}
	return out
}

// nearFile returns the hint with the files beside one that is not there whose name is like
// it; empty where there is none.
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

// Word returns a file's name as a shell reads it.
func Word(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9._:/=@,%+-]+$`)

// waiting is a reader, of a terminal perhaps, that stops waiting when the
// context ends.
type waiting struct {
	ctx context.Context
	in  io.Reader
}

func (w waiting) Read(p []byte) (int, error) {
	own := make([]byte, len(p)) // p is the caller's again when the context ends
	n, err := Await(w.ctx, func() (int, error) { return w.in.Read(own) })
	return copy(p, own[:n]), err
}

// Await returns what work does, or the context's error if that ends before. The
// work then goes on, and nobody waits for it.
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

// Most is how many notes of one kind there are.
const Most = 3

// UnpackedName returns a file's name without what says that it is packed.
func UnpackedName(name string) string {
	switch ext := path.Ext(name); strings.ToLower(ext) {
	case ".gz", ".xz", ".zst", ".bz2":
		return strings.TrimSuffix(name, ext)
	}
	return name
}
