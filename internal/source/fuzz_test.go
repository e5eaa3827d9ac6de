package source_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/dump"
	"github.com/kubectl-ds/kubectl-ds/internal/source/manifest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// dumpNames has names of files that are each read in a different way.
var dumpNames = []string{
	"a.yaml", "a.json", "pods.json", "nodes/x.json", "a.log", "a", "yamls/cluster/v1/nodes.yaml", "k8s-version.txt", "serverversion.json", "a.tar", "a.yaml.gz", "._a.yaml",
	"namespaces/n/pods/p/c/c/logs/current.log", "must-gather.local.1/x.yaml", "inspect.local.1/x.yaml",
}

// FuzzDump reads any bytes as a file of a directory, next to an intact file, and as a file of an archive. The result
// is an answer that can be recorded, or an error of one line from this package. With KeepGoing, the intact file is
// always read.
func FuzzDump(f *testing.F) {
	for i, seed := range []string{
		dsYAML + "---\n" + nodeYAML, listYAML, dsJSON + nodeJSON, `[{"metadata":{"name":"n1"}}]`, "not: an object\n", "\x00\x01", "v1.37.1\n", `{"gitVersion":"v1.30.1"}`,
		"==== START logs for container c of pod n/p ====\nkind: Node\n==== END logs for container c of pod n/p ====\n" + nodeJSON,
		`{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"name":"n1","labels":{"a":"null"}}}]}`, "kind: [Node]\napiVersion: v1\nmetadata: {name: x}\n", "kind: Pod\nmetadata:\n  name: ***\n",
	} {
		f.Add([]byte(seed), uint8(i), uint8(i%5))
	}
	f.Add([]byte("&"), uint8(4), uint8(4)) // a damaged file alone
	f.Fuzz(func(t *testing.T, data []byte, name, form uint8) {
		dir := t.TempDir()
		at := dumpNames[int(name)%len(dumpNames)]
		path := dir
		switch form % 5 {
		case 0:
			write(t, filepath.Join(dir, "input", "whole.yaml"), []byte(dsYAML))
			write(t, filepath.Join(dir, "input", at), data)
			path = filepath.Join(dir, "input")
		case 1, 2:
			path = filepath.Join(dir, "x.tar.gz")
			write(t, path, gzipOf(t, tarOf(t, entry{"whole.yaml", dsYAML, ""}, entry{at, string(data), ""})))
		case 3:
			path = filepath.Join(dir, "x.zip")
			write(t, path, zipOf(t, entry{"whole.yaml", dsYAML, ""}, entry{at, string(data), ""}))
		case 4: // the bytes are the whole input
			path = filepath.Join(dir, filepath.Base(at))
			write(t, path, data)
		}
		for _, keepGoing := range []bool{false, true} {
			d, err := dump.ReadFiles(background, []string{path}, nil, func() time.Time { return noon }, dump.ReadOptions{KeepGoing: keepGoing, Most: 1 << 22})
			checkRead(t, d, err, form%5 == 4)
			if known := (*source.InputError)(nil); err != nil && keepGoing && form%5 != 4 && (!errors.As(err, &known) || !slices.ContainsFunc([]string{"two clusters", "readings of a cluster", "more than", "encrypted"}, func(words string) bool { return strings.Contains(err.Error(), words) })) {
				t.Errorf("%q beside a file that is whole, with KeepGoing: %v", at, err)
			}
		}
	})
}

// FuzzArchive reads any bytes as an archive.
func FuzzArchive(f *testing.F) {
	inTar, inZip := tarOf(f, entry{"d.yaml", dsYAML, ""}, entry{"x", "", "/etc/passwd"}), zipOf(f, entry{"d.yaml", dsYAML, ""}, entry{"../y", "x", ""})
	packed := gzipOf(f, inTar)
	for _, seed := range [][]byte{inTar, inZip, packed, []byte("\xfd7zXZ\x00\x00"), []byte("\x28\xb5\x2f\xfd\x00"), []byte("BZh9"), []byte("7z\xbc\xaf\x27\x1c"), packed[:20], gzipOf(f, inZip)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path, temporary := filepath.Join(t.TempDir(), "x"), t.TempDir()
		write(t, path, data)
		t.Setenv("TMPDIR", temporary) // no other process uses it
		d, err := dump.ReadFiles(background, []string{path}, nil, func() time.Time { return noon }, dump.ReadOptions{Most: 1 << 22})
		checkRead(t, d, err, true)
		if left, _ := filepath.Glob(filepath.Join(temporary, "*")); len(left) > 0 {
			t.Errorf("temporary files are left: %q", left)
		}
	})
}

// checkRead checks the dump or the error. It accepts a missing DaemonSet only for a file that is read alone, because
// damaged objects are left out.
func checkRead(t *testing.T, d *dump.Dump, err error, alone bool) {
	for _, note := range d.Notes() {
		if strings.ContainsAny(note, "\n\r") && !strings.Contains(note, "ignored") { // such a note lists names of files
			t.Errorf("a note of several lines: %q", note)
		}
	}
	if err != nil {
		if !errors.As(err, new(*source.InputError)) || strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("%T %q", err, err)
		}
		return
	}
	all, err := d.ReadAll(background, source.Filter{})
	left := alone && err != nil && strings.HasPrefix(err.Error(), "no DaemonSet found: left out")
	if err != nil && !left && !strings.Contains(err.Error(), "spec.selector") {
		t.Errorf("read, and then: %v", err)
	}
	for _, s := range all {
		b, err := snapshot.Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := snapshot.Decode(b); err != nil {
			t.Errorf("cannot be recorded: %v\n%s", err, b)
		}
	}
}

// FuzzManifests reads any bytes as kubectl apply -f does. The result is a list of DaemonSets with different names.
// The JSON of each of them gives the same DaemonSet again.
func FuzzManifests(f *testing.F) {
	const given = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata:\n  name: agent\nspec:\n  selector:\n    matchLabels: {app: agent}\n  template:\n    metadata:\n      labels: {app: agent}\n    spec:\n      containers:\n      - name: c\n        image: x\n"
	for _, seed := range []string{
		given, given + "---\n" + strings.Replace(given, "agent", "other", 1), "# only a comment\n", dsYAML, listYAML, dsJSON, "kind: DaemonSetList\napiVersion: apps/v1\nitems:\n- metadata: {name: x}\n",
		strings.Replace(given, "image: x", "imgae: x", 1), given + given, strings.Replace(given, "  name: agent", "  name: agent\n  name: other", 1),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := manifest.ReadManifests(background, []string{source.StandardInput}, "", bytes.NewReader(data))
		if err != nil {
			if !errors.As(err, new(*source.InputError)) || strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("%T %q", err, err)
			}
			return
		}
		if len(all) == 0 {
			t.Fatal("neither a DaemonSet nor an error")
		}
		for _, m := range all {
			if m.Name == "" {
				t.Error("a DaemonSet without a name")
			}
			again, err := manifest.ReadManifests(background, []string{source.StandardInput}, "", bytes.NewReader(m.Raw))
			if err != nil || len(again) != 1 || !bytes.Equal(again[0].Raw, m.Raw) || again[0].Ref != m.Ref {
				t.Errorf("%s is read again as %v, %v", m.Raw, again, err)
			}
		}
	})
}
