package source_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/dump"
)

// entry is a file in an archive. link is the target if the file is a link.
type entry struct{ name, text, link string }

func tarOf(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: 0o600, Size: int64(len(e.text)), Typeflag: tar.TypeReg}
		if e.link != "" {
			h.Typeflag, h.Linkname = tar.TypeSymlink, e.link
		}
		must(t, w.WriteHeader(h))
		_, err := io.WriteString(w, e.text)
		must(t, err)
	}
	must(t, w.Close())
	return b.Bytes()
}

func zipOf(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		if e.link != "" {
			h.SetMode(os.ModeSymlink | 0o777)
		}
		f, err := w.CreateHeader(h)
		must(t, err)
		_, err = io.WriteString(f, e.text)
		must(t, err)
	}
	must(t, w.Close())
	return b.Bytes()
}

func gzipOf(t testing.TB, raw []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(raw)
	must(t, err)
	must(t, w.Close())
	return b.Bytes()
}

func zstdOf(t *testing.T, raw []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	must(t, err)
	return w.EncodeAll(raw, nil)
}

// packedBy runs a program of the system on raw and returns its output. It skips the test if the program is missing;
// .ci/run installs it.
func packedBy(t *testing.T, raw []byte, program string, args ...string) []byte {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("needs the program %s to pack with, which .ci/run installs", program)
	}
	c := exec.Command(program, args...)
	c.Stdin = bytes.NewReader(raw)
	out, err := c.Output()
	must(t, err)
	return out
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestArchives checks that an archive in each format is read like the directory in it.
func TestArchives(t *testing.T) {
	both := []entry{{"dump/ds.yaml", dsYAML, ""}, {"dump/cluster/node.json", nodeJSON, ""}}
	inTar := func(more ...entry) []byte { return tarOf(t, append(slices.Clone(both), more...)...) }
	for _, tt := range []struct {
		file  string
		raw   func(t *testing.T) []byte
		notes string
		why   string
	}{
		{"d.tar", func(t *testing.T) []byte { return inTar() }, "", "an archive"},
		{"d.tar.gz", func(t *testing.T) []byte { return gzipOf(t, inTar()) }, "", "packed with gzip"},
		{"d", func(t *testing.T) []byte { return gzipOf(t, inTar()) }, "", "the name says nothing: what is in the file counts"},
		{"d.json", func(t *testing.T) []byte { return gzipOf(t, inTar()) }, "", "nor does a name that is wrong"},
		{"d.tar.zst", func(t *testing.T) []byte { return zstdOf(t, inTar()) }, "", "packed with zstd"},
		{"d.tar.xz", func(t *testing.T) []byte { return packedBy(t, inTar(), "xz", "-c") }, "", "packed with xz"},
		{"d.tar.xz", func(t *testing.T) []byte { return packedBy(t, inTar(), "xz", "-c", "-9e", "--check=sha256") }, "", "with its largest dictionary and another check"},
		{"d.tar.bz2", func(t *testing.T) []byte { return packedBy(t, inTar(), "bzip2", "-c") }, "", "packed with bzip2"},
		{"d.tar", func(t *testing.T) []byte { whole := inTar(); return whole[:len(whole)-1024] }, "DIR/d.tar: the archive has no end mark: it may be cut off", "cut off between two files"},
		{"d.tar", func(t *testing.T) []byte { return append(inTar(), inTar()...) }, "DIR/d.tar: ignored, because it stands behind the end mark of the archive: 3Ki", "two archives in one file, as tar reads them"},
		{"d.zip", func(t *testing.T) []byte { return zipOf(t, both...) }, "", "a zip"},
		{"d.zip.gz", func(t *testing.T) []byte { return gzipOf(t, zipOf(t, both...)) }, "", "a zip that cannot be read from its end"},
		{"all.json.gz", func(t *testing.T) []byte { return gzipOf(t, []byte(dsJSON+nodeJSON)) }, "", "one file that is packed"},
		{"d.tar", func(t *testing.T) []byte {
			return tarOf(t, entry{"ds.yaml.gz", string(gzipOf(t, []byte(dsYAML))), ""}, entry{"n/node.json", nodeJSON, ""})
		}, "", "a packed file in an archive"},
		{"d.tar", func(t *testing.T) []byte {
			return tarOf(t, entry{"inner.tgz", string(gzipOf(t, inTar())), ""})
		}, "", "an archive in an archive"},
		{"d.tar", func(t *testing.T) []byte {
			return tarOf(t, entry{"inner.zip", string(zipOf(t, both...)), ""})
		}, "", "a zip in an archive"},
		{"d.tar", func(t *testing.T) []byte {
			deeper := tarOf(t, entry{"deepest.tar", string(tarOf(t, entry{"x.json", nodeJSON, ""})), ""})
			return inTar(entry{"deep.tar", string(deeper), ""})
		}, "ignored, because they are archives in archives, more than 2 deep: DIR/d.tar/deep.tar/deepest.tar", "and none in that"},
		{"d.tar", func(t *testing.T) []byte {
			return inTar(entry{"a.log.gz", "\x1f\x8b\x08\x00", ""}, entry{"b.log.gz", string(gzipOf(t, []byte("hello\n"))), ""})
		}, "not read: 1 log\nignored, because they are not Kubernetes objects in YAML or JSON: DIR/d.tar/a.log.gz", "packed logs, one of them damaged"},
		{"d.tar", func(t *testing.T) []byte {
			return inTar(entry{"dump/._ds.yaml", "\x00\x05\x16\x07", ""}, entry{".DS_Store", "\x00", ""}, entry{"__MACOSX/x.json", "{", ""})
		}, "not read: 3 files of macOS (._*)", "what macOS adds"},
		{"d.tar", func(t *testing.T) []byte {
			return inTar(entry{"dump/link.json", "", "/etc/passwd"}, entry{"other.json", "", "dump/cluster/node.json"})
		}, "not read: 2 links in archives", "links are not followed"},
		{"d.zip", func(t *testing.T) []byte {
			return zipOf(t, append(slices.Clone(both), entry{"l.json", "/etc/passwd", "yes"})...)
		}, "not read: 1 link in archives", "nor are those of a zip"},
		{"d.tar", func(t *testing.T) []byte {
			return inTar(entry{"../../n2.json", strings.Replace(nodeJSON, "n1", "n2", 1), ""}, entry{"/n3.json", strings.Replace(nodeJSON, "n1", "n3", 1), ""})
		}, "ignored, because their paths lead out of the archive: ../../n2.json, /n3.json", "what lies outside is not read"},
		{"d.zip", func(t *testing.T) []byte {
			return zipOf(t, append(slices.Clone(both), entry{`..\n2.json`, strings.Replace(nodeJSON, "n1", "n2", 1), ""})...)
		}, `ignored, because their paths lead out of the archive: ..\n2.json`, "with the separators of Windows too"},
		{"d.tar", func(t *testing.T) []byte {
			return inTar(entry{"namespaces/kube-system/pods/agent-x/agent/agent/logs/current.log", "kind: Pod\napiVersion: v1\n", ""}, entry{"must-gather.log", "{", ""})
		}, "not read: 2 logs", "logs are counted"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, tt.file)
			raw := tt.raw(t)
			write(t, file, raw)
			for _, path := range []string{file, dir, "-"} {
				if path == dir && strings.Contains(tt.notes, "in archives, more") {
					continue // the directory is not an archive
				}
				d, err := dump.ReadFiles(background, []string{path}, bytes.NewReader(raw), func() time.Time { return noon }, dump.ReadOptions{})
				if err != nil {
					t.Fatal(err)
				}
				s, err := d.Read(background, agent)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(outline{DaemonSet: "kube-system/agent", Nodes: "n1"}, outlineOf(s)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", path, diff)
				}
				got := strings.ReplaceAll(strings.Join(d.Notes(), "\n"), dir, "DIR")
				if path == "-" {
					got = strings.ReplaceAll(got, "standard input", "DIR/d.tar")
				}
				if got != tt.notes {
					t.Errorf("%s: notes\n got %s\nwant %s", path, got, tt.notes)
				}
			}
		})
	}
}

// damagedAt returns raw with one changed byte. place counts from the end.
func damagedAt(raw []byte, place int) []byte {
	raw = bytes.Clone(raw)
	raw[len(raw)+place] ^= 1
	return raw
}

// TestArchivesRefused checks that an archive is an error if it is damaged, too large, or in an unsupported format.
func TestArchivesRefused(t *testing.T) {
	whole := tarOf(t, entry{"ds.yaml", dsYAML, ""}, entry{"node.json", nodeJSON, ""})
	zeros := make([]byte, 64<<20)
	for _, tt := range []struct {
		file      string
		raw       []byte
		most      int64
		err, hint string
		why       string
	}{
		{"d.tar.gz", gzipOf(t, whole)[:200], 0, "d.tar.gz: the gzip file is cut off", "--keep-going (leaves out what is damaged; what depends on it is then unknown)", "half of a packed archive"},
		{"d.tar.gz", damagedAt(gzipOf(t, whole), -8), 0, "d.tar.gz: the gzip file is damaged: gzip: invalid checksum", "--keep-going (leaves out what is damaged; what depends on it is then unknown)", "a checksum that is wrong, behind the last file"},
		{"d.tar.xz", damagedAt(packedBy(t, whole, "xz", "-c"), -40), 0, "d.tar.xz: the xz file is damaged: xz: data is corrupt", "--keep-going (leaves out what is damaged; what depends on it is then unknown)", "and one of xz"},
		{"d.tar", whole[:1300], 0, "d.tar: the tar archive is cut off", "--keep-going (leaves out what is damaged; what depends on it is then unknown)", "half of an archive"},
		{"d.zip", zipOf(t, entry{"ds.yaml", dsYAML, ""})[:100], 0, "d.zip: the zip archive is damaged: zip: not a valid zip file", "--keep-going (leaves out what is damaged; what depends on it is then unknown)", "half of a zip"},
		{"d.7z", []byte("7z\xbc\xaf\x27\x1c\x00"), 0, "d.7z: a 7z archive is not read: unpack it, and give the directory", "7z x d.7z", "another form"},
		{"d.rar", []byte("Rar!\x1a\x07\x00"), 0, "d.rar: a rar archive is not read: unpack it, and give the directory", "unrar x d.rar", "and another one"},
		{"d.tar.gz", gzipOf(t, tarOf(t, entry{"zeros", string(zeros), ""})), 1 << 20, "d.tar.gz: the input unpacks to more than 16Mi", "--max-input 2Mi", "more than was allowed"},
		{"d.json.gz", gzipOf(t, []byte(dsJSON+strings.Repeat(" ", 2<<20))), 1 << 20, "d.json.gz: the input has more than 1Mi", "--max-input 2Mi", "too many bytes of documents"},
		{"d.json", []byte(`{"a":"` + strings.Repeat("x", 1<<20)), 1 << 20, "d.json: document 1: one object has more than 64Ki", "--max-input 2Mi", "one object that is too large"},
		{"d.yaml", []byte("a: " + strings.Repeat("x", 1<<20)), 1 << 20, "d.yaml: document 1: one object has more than 64Ki", "--max-input 2Mi", "a line that does not end"},
		{"d.yaml", []byte(strings.Repeat("a: x\n", 1<<18)), 1 << 20, "d.yaml: document 1: one object has more than 64Ki", "--max-input 2Mi", "a document that does not end"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			t.Chdir(t.TempDir())
			write(t, tt.file, tt.raw)
			_, err := dump.ReadFiles(background, []string{tt.file}, nil, func() time.Time { return noon }, dump.ReadOptions{Most: tt.most})
			e := (*source.InputError)(nil)
			if !errors.As(err, &e) || e.Error() != tt.err || e.Hint() != tt.hint {
				t.Errorf("\n got %v, hint %q\nwant %s, hint %q", err, hintOf(err), tt.err, tt.hint)
			}
		})
	}
}

func hintOf(err error) string {
	if e := (*source.InputError)(nil); errors.As(err, &e) {
		return e.Hint()
	}
	return ""
}

// TestNoise checks that reading an endless input stops.
func TestNoise(t *testing.T) {
	endless := func(unit string) io.Reader { return &repeated{unit: unit} }
	for why, in := range map[string]io.Reader{
		"zeros": endless("\x00"), "invalid text": endless("\xc3\x28\xf0 "), "words": endless("y "), "lines": endless("y\n"), "keys": endless("y: y\n"),
		"blanks": endless(" "), "an array": io.MultiReader(strings.NewReader("["), endless("[")), "a text": io.MultiReader(strings.NewReader(`{"a":"`), endless("b")),
		"UTF-16": io.MultiReader(strings.NewReader("\xff\xfe"), endless("a\x00")),
	} {
		d, err := dump.ReadFiles(background, []string{"-"}, in, func() time.Time { return noon }, dump.ReadOptions{Most: 1 << 20})
		if err == nil {
			t.Errorf("%s: no error, %d objects", why, d.Objects)
		}
	}
}

// repeated returns the same text without an end.
type repeated struct {
	unit string
	at   int
}

func (r *repeated) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.unit[r.at%len(r.unit)]
		r.at++
	}
	return len(p), nil
}

// TestTimesItsSize checks that a file that unpacks to a high multiple of its size is an error.
func TestTimesItsSize(t *testing.T) {
	raw := gzipOf(t, bytes.Repeat([]byte("\n"), dump.FreeUnpacked+1<<20))
	dir := t.TempDir()
	file := filepath.Join(dir, "d.yaml.gz")
	write(t, file, raw)
	_, err := dump.ReadFiles(background, []string{file}, nil, func() time.Time { return noon }, dump.ReadOptions{})
	if want := file + ": it unpacks to more than 250 times its size"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
