package source_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/source/api"
	"github.com/kubectl-ds/kubectl-ds/internal/source/document"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// TestFewer checks that decoding only the needed fields gives the same object, with the same times, volumes and
// presence of a status.
func TestFewer(t *testing.T) {
	t.Run("nodes", func(t *testing.T) { testFewer[corev1.Node](t, "Node") })
	t.Run("pods", func(t *testing.T) { testFewer[corev1.Pod](t, "Pod") })
}

func testFewer[T any, P api.OneOf[T]](t *testing.T, kind string) {
	of := metav1.TypeMeta{APIVersion: "v1", Kind: kind}
	size, left := 0, 0
	for i := range cases.Of(100) {
		o := P(new(T))
		filler(int64(i)).Fill(o)
		mark(i, o)
		o.SetName("one")
		if o.SetNamespace(""); kind == "Pod" {
			o.SetNamespace("ns")
		}
		o.GetObjectKind().SetGroupVersionKind(of.GroupVersionKind())
		raw, err := json.Marshal(o)
		must(t, err)
		if i%3 == 0 {
			var b bytes.Buffer
			must(t, json.Indent(&b, raw, "", "    "))
			raw = b.Bytes()
		}
		text, ok := object.JSONMasks[of]().Of(nil, raw)
		if !ok {
			t.Fatalf("%d: all of it is read: %s", i, raw)
		}
		size, left = size+len(raw), left+len(text)
		got, err := object.Decode(raw, metav1.TypeMeta{})
		must(t, err)
		want, err := decodeWhole(raw)
		must(t, err)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(object.Object{}, object.Page{}, document.ListMeta{})); diff != "" {
			t.Fatalf("%d: (-of all +of what is read):\n%s", i, diff)
		}
	}
	if left > size*2/3 {
		t.Errorf("%d of %d bytes are read", left, size)
	}
}

// decodeWhole is like object.Decode, but decodes all fields.
func decodeWhole(raw []byte) (object.Object, error) {
	kept := object.JSONMasks
	defer func() { object.JSONMasks = kept }()
	object.JSONMasks = nil
	return object.Decode(raw, metav1.TypeMeta{})
}

// TestFewerLabels checks that a label that looks like many labels does not reserve memory for them.
func TestFewerLabels(t *testing.T) {
	raw := []byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"ns","labels":{"a":"` + strings.Repeat(`\":`, 300_000) + `"}}}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	o, err := object.Decode(raw, metav1.TypeMeta{})
	runtime.ReadMemStats(&after)
	must(t, err)
	if got := o.Is.GetLabels()["a"]; got != strings.Repeat(`":`, 300_000) {
		t.Errorf("a label of %d bytes", len(got))
	}
	if took := int(after.TotalAlloc - before.TotalAlloc); took > 12*len(raw) {
		t.Errorf("%d bytes of text take %d", len(raw), took)
	}
}

// TestFewerAlike checks that pods share their containers if these have the same text, and only then.
func TestFewerAlike(t *testing.T) {
	containers := func(image, cpu string) []corev1.Container {
		o, err := object.Decode([]byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"ns"},"spec":{"containers":[{"name":"c","image":"`+image+`","resources":{"requests":{"cpu":"`+cpu+`"}}}]}}`), metav1.TypeMeta{})
		must(t, err)
		return o.Is.(*corev1.Pod).Spec.Containers
	}
	first := containers("a", "1")
	for i := range 40 {
		is := containers(fmt.Sprint(i), "1")
		if is[0].Image != fmt.Sprint(i) || &is[0] == &first[0] {
			t.Fatalf("%d: %v", i, is)
		}
		if again := containers(fmt.Sprint(i), "1"); &again[0] != &is[0] {
			t.Errorf("%d: it is read again", i)
		}
		if cpu := containers(fmt.Sprint(i), "2")[0].Resources.Requests.Cpu(); cpu.Value() != 2 {
			t.Errorf("%d: cpu %v", i, cpu)
		}
	}
}

// TestFewerOfOdd checks that damage in an object is found as if all fields were decoded.
func TestFewerOfOdd(t *testing.T) {
	const meta = `"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"ns"}`
	annotated := func(annotations string) string {
		return `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"ns","annotations":{` + annotations + `}}}`
	}
	for _, tt := range []struct {
		raw  string
		left bool // the mask drops a field
		why  string
	}{
		{`{` + meta + `,"spec":{"nodeName":"n1","hostNetwork":true},"status":{"phase":"Running","hostIP":"10.0.0.1"}}`, true, "nothing is odd"},
		{`{` + meta + `,"spec":{"hostNetwork":null,"containers":null}}`, true, "null"},
		{`{` + meta + `,"spec":{"containers":[ {"name":"c","image":"i","env":[{"name":"A","value":"}]\"{["}]} , {"name":"d"} ]}}`, true, "a text with braces"},
		{`{` + meta + `,"spec":{"containers":[]}}`, true, "an empty list"},
		{`{` + meta + `,"spec":{"nodename":"n1"}}`, false, "a field in other letters"},
		{`{` + meta + `,"spec":{"hostNetwork":true,"hostNetwork":false}}`, false, "a field twice that nobody reads"},
		{`{` + meta + `,"spec":{"nodeName":"a","nodeName":"b"}}`, false, "a field twice"},
		{`{` + meta + `,"spec":{"hostNetwork":"yes"}}`, false, "text where true or false is meant"},
		{`{` + meta + `,"spec":{"containers":{"name":"c"}}}`, false, "an object in the place of a list"},
		{`{` + meta + `,"spec":{"containers":["c"]}}`, false, "a text in the place of an object"},
		{`{` + meta + `,"spec":"none"}`, false, "a text in the place of the spec"},
		{`{` + meta + `,"spec":{"node\u004eame":"n1"}}`, false, "a key with an escape"},
		{`{` + meta + `,"status":{"phase":7}}`, false, "a number in the place of a text"},
		{`{` + meta + `,"extra":{}}`, false, "a field that no pod has"},
		{`{` + meta + `,"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}]}}},"tolerations":[{"operator":"Exists"}],"nodeSelector":{"a":"b"}}}`, true, "a pod that is on no node yet keeps what says where it may go"},
		{`{` + meta + `,"spec":{"nodeName":null,"tolerations":[{"operator":"Exists"}]}}`, true, "so does one whose node is null"},
		{`{` + meta + `,"spec":{"nodeName":"","tolerations":[{"operator":"Exists"}]}}`, true, "or empty"},
		{`{` + meta + `,"spec":{"tolerations":[{"operator":"Exists"}],"nodeName":"n1"}}`, true, "one that is on a node does not"},
		{`{` + meta + `,"status":{"startTime":null,"phase":null}}`, true, "null is nothing"},
		{`{` + meta + `,"status":{"startTime":"yesterday"}}`, true, "what is no time"},
		{`{` + meta + `,"status":{"conditions":[{"type":"Ready","status":"True","more":1}]}}`, true, "a field that no condition has"},
		{`{` + meta + `,"status":{"conditions":[{"type":"Ready","type":"Ready"}]}}`, true, "twice the same in a condition"},
		{`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"ns","labels":{"a":"1","a":"2"}}}`, true, "a label twice"},
		{`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"ns","labels":{"a":null,"b\u0063":"\n", "d" : "e"}}}`, true, "labels with an escape, and null"},
		{`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"ns","labels":{"a":1}}}`, true, "a number as a label"},
		{`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"ns","labels":{}}}`, true, "no label"},
		{annotated(`"linkerd.io/inject":"enabled", "other" : "{\"a\":[}" ,"dapr.io/enabled": "true"`), true, "annotations that are kept, and another"},
		{annotated(`"linkerd.io/inject":null`), true, "one that is null"},
		{annotated(`"linkerd.io/inject":1`), true, "one that is a number"},
		{annotated(`"linkerd.io/inject":"a","linkerd.io/inject":"b"`), true, "one that stands there twice"},
		{annotated(`"linkerd.io\/inject":"a"`), false, "one with an escape in its name"},
		{annotated(`"other\/name":"a","linkerd.io/inject":"\u0061"`), true, "another one with an escape"},
		{annotated(``), true, "none"},
		{`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"ns","annotations":null}}`, true, "null in the place of annotations"},
		{`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"ns","annotations":[]}}`, false, "a list in the place of annotations"},
		{`{` + meta + `,"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"much"}}}]}}`, true, "what is no quantity"},
	} {
		text, ok := object.JSONMasks[metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}]().Of(nil, []byte(tt.raw))
		if ok != tt.left {
			t.Errorf("%s: left out %t, want %t: %s", tt.why, ok, tt.left, text)
		}
		if ok && !json.Valid(text) {
			t.Errorf("%s: no JSON: %s", tt.why, text)
		}
		got, gotErr := object.Decode([]byte(tt.raw), metav1.TypeMeta{})
		want, wantErr := decodeWhole([]byte(tt.raw))
		if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v\nwant %v, %v", tt.why, got, gotErr, want, wantErr)
		}
	}
	// damage in a field that no answer needs
	const within = `{` + meta + `,"spec":{"nodeName":"n1","hostAliases":[{"ip":7,"host":"a"}]}}`
	if o, err := object.Decode([]byte(within), metav1.TypeMeta{}); err != nil || o.Is.(*corev1.Pod).Spec.NodeName != "n1" || len(o.Unknown) > 0 {
		t.Errorf("inside a field that is not read: %v, %v", err, o.Unknown)
	}
	if _, err := decodeWhole([]byte(within)); err == nil {
		t.Error("inside a field that is not read: nothing is damaged")
	}
	if text, _ := object.JSONMasks[metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}]().Of(nil, []byte(`{`+meta+`,"spec":{"hostNetwork":true,"nodeName":"n"}}`)); strings.Contains(string(text), "hostNetwork") || !strings.Contains(string(text), `"nodeName":"n"`) {
		t.Errorf("what is left: %s", text)
	}
}
