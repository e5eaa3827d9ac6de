package dump

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/document"
	"github.com/therootcompany/xz"
)

// packFormat is a format of archives or compressed files.
type packFormat struct {
	name   string
	magic  string
	at     int                                    // offset of magic
	unpack func(io.Reader) (io.ReadCloser, error) // nil for an archive or a format that is not supported
	other  string                                 // the command that unpacks a format that is not supported
	// for an archive: the command that writes one file, whose path follows, to standard output
	show string
}

// packFormats are the formats that are detected. For xz, github.com/ulikunitz/xz is better maintained
// than the decoder used here, but takes five times as long.
var packFormats = []packFormat{
	{name: "gzip", magic: "\x1f\x8b", unpack: func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }},
	{name: "xz", magic: "\xfd7zXZ\x00", unpack: func(r io.Reader) (io.ReadCloser, error) {
		x, err := xz.NewReader(r, 64<<20) // the window of xz -9
		return io.NopCloser(x), err
	}},
	{name: "zstd", magic: "\x28\xb5\x2f\xfd", unpack: func(r io.Reader) (io.ReadCloser, error) {
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	}},
	{name: "bzip2", magic: "BZh",
		unpack: func(r io.Reader) (io.ReadCloser, error) { return io.NopCloser(bzip2.NewReader(r)), nil }},
	{name: "zip", magic: "PK\x03\x04", show: "unzip -p"},
	{name: "zip", magic: "PK\x05\x06", show: "unzip -p"},
	{name: "tar", magic: "ustar", at: 257, show: "tar -xOf"},
	{name: "7z", magic: "7z\xbc\xaf\x27\x1c", other: "7z x"},
	{name: "rar", magic: "Rar!\x1a\x07", other: "unrar x"},
}

// packFormatOf returns the format of a file that begins with head, or nil if it is not packed.
func packFormatOf(head []byte, name string) *packFormat {
	for i := range packFormats {
		f := &packFormats[i]
		if len(head) >= f.at && bytes.HasPrefix(head[f.at:], []byte(f.magic)) &&
			(f.name != "bzip2" || len(head) > 3 && head[3] >= '1' && head[3] <= '9') {
			return f
		}
		// tar formats older than ustar
		if f.name == "tar" && strings.HasSuffix(strings.ToLower(name), ".tar") && len(head) > 262 &&
			bytes.IndexByte(head, 0) >= 0 {
			return f
		}
	}
	return nil
}

// isMacOSFile reports whether a file is one that macOS adds to folders and archives.
func isMacOSFile(within string) bool {
	name := path.Base(within)
	return strings.HasPrefix(name, "._") || name == ".DS_Store" || strings.HasPrefix(within, "__MACOSX/") ||
		strings.Contains(within, "/__MACOSX/")
}

// unpack reads the content of a packed file. in reads it from the start; whole is the same file
// before buffering, with random access if it is an *os.File.
func (d *Dump) unpack(ctx context.Context, p location, f *packFormat, in *bufio.Reader, whole io.Reader) error {
	if f.other != "" {
		if p.found() {
			d.skipped = append(d.skipped, p.name)
			return nil
		}
		return &source.InputError{File: p.name,
			Err: fmt.Errorf("a %s archive is not read: unpack it, and give the directory",
				f.name), HintText: f.other + " " + document.Word(p.name)}
	}
	if p.layers++; p.layers > document.MostLayers || f.show != "" && p.depth >= document.MostDeep {
		d.tooDeep = append(d.tooDeep, p.name)
		return nil
	}
	if f.show != "" {
		p.depth++
		if p.depth == 1 {
			p.gather = d.gatherOf(p.within)
			if p.name != document.StdinName {
				p.unpack = f.show + " " + document.Word(p.name)
			}
		}
		if f.name == "zip" {
			return d.readZip(ctx, p, in, whole)
		}
		return d.readTar(ctx, p, in)
	}
	packed := &source.Counting{Reader: in}
	out, err := f.unpack(packed)
	if err != nil {
		return d.cannotUnpack(p, f.damaged(err))
	}
	defer out.Close()
	return d.readStream(ctx, p, &unpacked{d: d, form: f, in: out, packed: packed})
}

// cannotUnpack returns the error for a packed file that cannot be read. A found file is skipped if
// its name does not suggest that it contains objects, because most such files are logs.
func (d *Dump) cannotUnpack(p location, err error) error {
	if p.found() && !packedName(p.within) && !document.DocumentName(p.within) {
		d.skipped = append(d.skipped, p.name)
		return nil
	}
	return d.broken(p, err)
}

// damaged returns the error for a failure of the library that unpacks.
func (f *packFormat) damaged(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return &packedError{fmt.Errorf("the %s file is cut off", f.name)}
	}
	return &packedError{fmt.Errorf("the %s file is damaged: %w", f.name, err)}
}

// packedError reports that a packed file is damaged.
type packedError struct{ error }

func (e *packedError) Unwrap() error { return e.error }

// unpacked reads the content of a packed file within limits.
type unpacked struct {
	d      *Dump
	form   *packFormat
	in     io.Reader
	packed *source.Counting
	n      int64
}

const (
	maxRatio     = 250       // maximum ratio of unpacked to packed size; logs and YAML reach 60
	FreeUnpacked = 256 << 20 // bytes that may be unpacked at any ratio
)

func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.in.Read(p)
	u.n += int64(n)
	u.d.unpackedBytes += int64(n)
	switch {
	case u.n > FreeUnpacked && u.n > maxRatio*(u.packed.N+1):
		return 0, &packedError{fmt.Errorf("it unpacks to more than %d times its size", maxRatio)}
	case u.d.unpackedBytes > document.TimesTheInput*u.d.options.Most:
		return 0, &document.SizeError{Words: fmt.Sprintf("the input unpacks to more than %s",
			source.SizeOf(document.TimesTheInput*u.d.options.Most)),
			Bound: u.d.options.Most}
	case err != nil && err != io.EOF:
		err = u.form.damaged(err)
	}
	return n, err
}

// inside returns the location of a file in the archive p. It returns false if the path leads out of
// the archive.
func (p location) inside(name string) (location, bool) {
	p.raw = name
	name = strings.ReplaceAll(name, `\`, "/")
	clean := path.Clean(name)
	if path.IsAbs(name) || clean == ".." || strings.HasPrefix(clean, "../") || len(name) > 1 && name[1] == ':' {
		return p, false
	}
	p.name, p.within = p.name+"/"+clean, path.Join(p.within, clean)
	return p, true
}

func (d *Dump) readTar(ctx context.Context, p location, in *bufio.Reader) error {
	end := &zeroCounter{in: in}
	for t := tar.NewReader(end); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, err := t.Next()
		switch {
		case err == io.EOF:
			return d.endTar(p, end)
		case err != nil && !errors.Is(err, tar.ErrInsecurePath):
			return d.brokenArchive(p, "tar", err)
		}
		switch h.Typeflag {
		case tar.TypeReg, tar.TypeGNUSparse:
		case tar.TypeDir, tar.TypeXGlobalHeader:
			continue
		default:
			d.links++
			continue
		}
		at, ok := p.inside(h.Name)
		if !ok {
			d.outside = append(d.outside, h.Name)
			continue
		}
		if p.gather == "" {
			at.gather = d.gatherOf(at.within)
		}
		if err := d.readStream(ctx, at, t); errors.Is(err, io.ErrUnexpectedEOF) {
			return d.brokenArchive(p, "tar", err)
		} else if err != nil {
			return err
		}
	}
}

// endTar reads an archive to its end, because the checksum of a compressed file comes last. It adds
// a note if there is data after the end mark.
func (d *Dump) endTar(p location, end *zeroCounter) error {
	if end.zeros < 512 {
		d.notes = append(d.notes, p.name+": the archive has no end mark: it may be cut off")
	}
	end.zeros = 0
	n, err := io.Copy(io.Discard, io.LimitReader(end, d.options.Most))
	if err != nil {
		return d.brokenArchive(p, "tar", err)
	}
	if n > int64(end.zeros) {
		d.notes = append(d.notes, fmt.Sprintf("%s: ignored, because it stands behind the end mark of the archive: %s",
			p.name, source.SizeOf(n)))
	}
	return nil
}

// zeroCounter counts the zeros at the end of what was read.
type zeroCounter struct {
	in    io.Reader
	zeros int
}

func (e *zeroCounter) Read(p []byte) (int, error) {
	n, err := e.in.Read(p)
	rest := len(bytes.TrimRight(p[:n], "\x00"))
	if rest > 0 {
		e.zeros = 0
	}
	e.zeros += n - rest
	return n, err
}

// brokenArchive returns the error for an archive that is cut off or damaged.
func (d *Dump) brokenArchive(p location, name string, err error) error {
	large, known := (*document.SizeError)(nil), (*packedError)(nil)
	switch {
	case errors.As(err, &large), errors.As(err, &known):
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = fmt.Errorf("the %s archive is cut off", name)
	default:
		err = fmt.Errorf("the %s archive is damaged: %w", name, err)
	}
	return d.broken(p, err)
}

// broken returns the error for a file whose rest cannot be read. With KeepGoing, any part may be
// incomplete.
func (d *Dump) broken(p location, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	x := document.Damage{InputError: &source.InputError{File: p.name, Err: err}, Kinds: nil}
	// as for a file given by name: whatever is lost may matter
	if d.reportDamage(location{name: p.name}, x) != nil {
		return d.withHint(x.InputError)
	}
	return nil
}

func (d *Dump) readZip(ctx context.Context, p location, in *bufio.Reader, whole io.Reader) error {
	file, ok := whole.(*os.File)
	size := int64(0)
	if info, err := stat(file); ok && err == nil && info.Mode().IsRegular() {
		size = info.Size()
	} else { // the directory of a zip file is at its end
		spool, err := os.CreateTemp("", "kubectl-ds-")
		if err != nil {
			return err
		}
		defer func() {
			_ = spool.Close()
			_ = os.Remove(spool.Name())
		}()
		if size, err = io.Copy(spool, io.LimitReader(in, d.options.Most+1)); err != nil {
			return d.brokenArchive(p, "zip", err)
		}
		if size > d.options.Most {
			return d.withHint(&source.InputError{File: p.name,
				Err: &document.SizeError{
					Words: fmt.Sprintf("the archive has more than %s", source.SizeOf(d.options.Most)), Bound: d.options.Most,
				}})
		}
		file = spool
	}
	z, err := zip.NewReader(file, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return d.brokenArchive(p, "zip", err)
	}
	for _, f := range z.File {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch {
		case f.FileInfo().IsDir() || strings.HasSuffix(f.Name, "/"):
			continue
		case !f.Mode().IsRegular():
			d.links++
			continue
		case f.Flags&1 != 0:
			return &source.InputError{File: p.name, Err: errors.New("the zip archive is encrypted"),
				HintText: "unzip " +
					document.Word(p.name)}
		}
		at, ok := p.inside(f.Name)
		if !ok {
			d.outside = append(d.outside, f.Name)
			continue
		}
		if p.gather == "" {
			at.gather = d.gatherOf(at.within)
		}
		if err := d.readZipped(ctx, at, f); err != nil {
			return err
		}
	}
	return nil
}

func (d *Dump) readZipped(ctx context.Context, at location, f *zip.File) error {
	in, err := f.Open()
	if err != nil {
		return d.brokenArchive(at, "zip", err)
	}
	defer in.Close()
	zipped := &packFormat{name: "zip"}
	return d.readStream(ctx, at,
		&unpacked{d: d, form: zipped, in: in, packed: &source.Counting{N: int64(min(f.CompressedSize64, 1<<40))}})
}

func stat(f *os.File) (fs.FileInfo, error) {
	if f == nil {
		return nil, fs.ErrNotExist
	}
	return f.Stat()
}
