package source_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/document"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// readDocuments returns the objects of a text, the number of lines, and the error.
func readDocuments(t *testing.T, from io.Reader, again io.ReaderAt, most int64) (all []object.Object, lines int, err error) {
	t.Helper()
	d := &document.Documents{Name: "x", From: from, Again: again, Decode: object.Decode, Tolerant: &document.DamagePolicy{Harm: func(x document.Damage) error { return x.InputError }}, Most: most, Emit: func(o object.Object) error {
		all = append(all, o)
		return nil
	}}
	err = d.Read(t.Context())
	return all, d.Line, err
}

// asWhole is like readDocuments, but no Snapshot is read object by object, because another field comes first.
func asWhole(t *testing.T, text string, most int64) ([]object.Object, int, error) {
	t.Helper()
	const begins = `"kind":"Snapshot"`
	return readDocuments(t, strings.NewReader(strings.ReplaceAll(text, "{"+begins, `{"`+"names\":\"\","+begins)), nil, most)
}

// ways returns a reader for a text that is read once, and one for a text that can be read again.
func ways(text string) map[string]io.ReaderAt {
	return map[string]io.ReaderAt{"read once": nil, "that can be read again": strings.NewReader(text)}
}

// recordings returns the texts of Snapshots: from examples, from random states, and one with more objects than one
// part holds.
func recordings(t *testing.T) (texts []string) {
	t.Helper()
	add := func(s *snapshot.Snapshot) {
		raw, err := snapshot.Encode(s)
		must(t, err)
		texts = append(texts, string(raw))
	}
	examples, _ := filepath.Glob("../../examples/*.json")
	for _, path := range examples {
		raw, err := os.ReadFile(path)
		must(t, err)
		if s, err := snapshot.Decode(raw); err == nil {
			add(s)
		}
	}
	for seed := range cases.Of(int64(4)) {
		add(dstest.RandomTrouble(seed))
		add(dstest.RandomCommon(seed))
	}
	many := dstest.State("N*600")
	for i := range many.Pods {
		p := &many.Pods[i]
		if i < 30 {
			filler(int64(i)).Fill(&p.Spec)
			filler(int64(i)).Fill(&p.Status)
		}
		for range i % 40 {
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodConditionType(fmt.Sprint(len(p.Status.Conditions)))})
			p.Labels[fmt.Sprint(len(p.Labels))] = fmt.Sprint(`a "word" \ `, i)
		}
	}
	add(many)
	return texts
}

// TestRecorded checks that a Snapshot that is read object by object is equal to one that is read as a whole, and that
// the documents after it are read.
func TestRecorded(t *testing.T) {
	texts := recordings(t)
	for i, text := range texts {
		var b bytes.Buffer
		must(t, json.Indent(&b, []byte(text), "", "  "))
		for _, tt := range []struct{ why, text string }{
			{"alone", text},
			{"with line ends", strings.Replace(b.String(), "{\n  ", "{", 1)},
			{"and the next", text + texts[(i+1)%len(texts)] + "---\n" + text},
			{"and an object", text + `{"kind":"Node","apiVersion":"v1","metadata":{"name":"n"}}`},
			{"and YAML", text + "---\nkind: Node\napiVersion: v1\nmetadata: {name: n}\n"},
			{"and words", text + "no object"},
		} {
			want, wantLines, wantErr := asWhole(t, tt.text, 0)
			for way, again := range ways(tt.text) {
				got, lines, err := readDocuments(t, iotest.HalfReader(strings.NewReader(tt.text)), again, 0)
				if fmt.Sprint(err) != fmt.Sprint(wantErr) || lines != wantLines {
					t.Errorf("%d %s, %s: %v in %d lines, want %v in %d", i, tt.why, way, err, lines, wantErr, wantLines)
				}
				if !reflect.DeepEqual(want, got) {
					t.Fatalf("%d %s, %s: (-whole +object by object):\n%.4000s", i, tt.why, way, cmp.Diff(want, got, cmp.AllowUnexported(object.Object{}, object.Page{}, document.ListMeta{})))
				}
				if len(got) == 0 || got[0].Snapshot == nil {
					t.Fatalf("%d %s, %s: no Snapshot", i, tt.why, way)
				}
			}
		}
	}
}

// TestRecordedOdd checks that both ways return the same error for a Snapshot that is unusual or invalid.
func TestRecordedOdd(t *testing.T) {
	text := recordings(t)[0]
	changed := func(old, new string) string {
		t.Helper()
		if !strings.Contains(text, old) {
			t.Fatalf("no %s", old)
		}
		return strings.Replace(text, old, new, 1)
	}
	for _, tt := range []struct{ why, text string }{
		{"a key twice", changed(`"pods":[`, `"gaps":[],"pods":[`)},
		{"a key in other letters", changed(`"pods":[`, `"Pods":[`)},
		{"a field that is not known", changed(`"pods":[`, `"more":1,"pods":[`)},
		{"a number in the place of a list", changed(`"pods":[`, `"pods":7,"nodes":[`)},
		{"of a version to come", changed(snapshot.APIVersion, "kubectl-ds/v9")},
		{"without its DaemonSet", changed(`"daemonSet":`, `"openShift":null,"x":`)},
		{"two nodes of one name", changed(`"nodes":[`, `"nodes":[{"metadata":{"name":"a"}},{"metadata":{"name":"a"}},`)},
		{"no UTF-8", changed(`"gaps":[`, `"names":"`+"\xff"+`","gaps":[`)},
		{"cut off", text[:len(text)/2]},
		{"cut off at a line", strings.ReplaceAll(text, ",", ",\n")[:len(text)/2]},
		{"a comma too many", changed(`"pods":[`, `"pods":[,`)},
		{"a field that is not known, behind what looks like a list wherever it is cut", strings.Replace(
			changed(`"gaps":[`, `"gaps":[{"what":"","why":"","message":"`+strings.Repeat("[", 1<<18)+`"}`), `"envValues":`, `"more":1,"envValues":`, 1)},
		{"no end, then another", text[:len(text)/2] + "\n" + text},
		{"and so is the next", changed(`"pods":[`, `"more":1,"pods":[`) + " " + changed(`"nodes":[`, `"more":2,"nodes":[`) + text},
		{"after blanks, another and a comment", "\n  " + text + "\n# next\n" + changed(`"pods":[`, `"more":1,"pods":[`) + text},
		{"in UTF-16", utf16Text(binary.LittleEndian, changed(`"pods":[`, `"more":1,"pods":[`))},
	} {
		want, wantLines, wantErr := asWhole(t, tt.text, 0)
		for way, again := range ways(tt.text) {
			got, lines, err := readDocuments(t, strings.NewReader(tt.text), again, 0)
			if fmt.Sprint(err) != fmt.Sprint(wantErr) || lines != wantLines || !reflect.DeepEqual(want, got) {
				t.Errorf("%s, %s: %v in %d lines, want %v in %d\n%s", tt.why, way, err, lines, wantErr, wantLines, cmp.Diff(want, got, cmp.AllowUnexported(object.Object{}, object.Page{}, document.ListMeta{})))
			}
		}
	}
	for _, most := range []int64{100, int64(len(text) / 2), int64(len(text) * 2)} {
		_, _, want := asWhole(t, text, most)
		for way, again := range ways(text) {
			_, _, err := readDocuments(t, strings.NewReader(text), again, most)
			if fmt.Sprint(err) != fmt.Sprint(want) || (err == nil) != (most > int64(len(text))) {
				t.Errorf("at most %d of %d bytes, %s: %v, want %v", most, len(text), way, err, want)
			}
		}
	}
}

// TestRecordedChanged checks that a file that became shorter before it is read again is an error, and not a shorter
// Snapshot.
func TestRecordedChanged(t *testing.T) {
	text := recordings(t)[0]
	odd := strings.TrimSuffix(strings.TrimSpace(text), "}") + `,"more":1}`
	for _, left := range []string{"", odd[:100], odd[:len(odd)/2]} {
		got, _, err := readDocuments(t, strings.NewReader(odd+text), strings.NewReader(left), 0)
		if !errors.Is(err, source.ErrChanged) || errors.Is(err, object.ErrNotKubernetes) || len(got) > 0 {
			t.Errorf("%d bytes are left: %d objects, %v", len(left), len(got), err)
		}
	}
}
