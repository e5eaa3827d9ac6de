package source_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"

	"github.com/kubectl-ds/kubectl-ds/internal/source/api"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// TestWire checks that an object decoded from its kept fields is equal to the completely decoded object after Strip,
// and that the kept fields have nothing more.
func TestWire(t *testing.T) {
	t.Run("nodes", func(t *testing.T) { testWire[corev1.Node](t, nil) })
	t.Run("pods", func(t *testing.T) {
		testWire(t, func(i int, p *corev1.Pod) {
			if i%2 == 0 {
				p.Spec.NodeName = ""
			}
			mark(i, p)
		})
	})
}

type onWire[T any] interface {
	api.OneOf[T]
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// filler fills objects with random values as a server may send them.
func filler(seed int64) *randfill.Filler {
	return randfill.NewWithSeed(seed).NilChance(.3).NumElements(0, 3).MaxDepth(12).Funcs(
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewMilliQuantity(int64(c.Intn(100_000)), resource.DecimalSI)
		},
		func(at *metav1.Time, c randfill.Continue) { *at = metav1.Unix(1_800_000_000+int64(c.Intn(1000)), 0) },
		func(at *metav1.MicroTime, c randfill.Continue) {
			*at = metav1.NewMicroTime(time.Unix(1_800_000_000, 0))
		},
		func(f *metav1.FieldsV1, _ randfill.Continue) { f.SetRawBytes([]byte(`{"f:spec":{}}`)) },
	)
}

// mark adds annotations to some pods. Some of them are kept.
func mark(i int, o any) {
	if p, is := o.(*corev1.Pod); is && i%3 > 0 {
		long := strings.Repeat("é", 40+i%3) // one of them is cut
		marks := map[string]string{"openshift.io/scc": "restricted", "linkerd.io/inject": "", "dapr.io/enabled": long, "sidecar.istio.io/status": "{}"}
		if p.Annotations == nil {
			p.Annotations = map[string]string{}
		}
		maps.Copy(p.Annotations, marks)
	}
}

// TestWireMarks checks that pods of a revision share the kept annotations, although the others differ.
func TestWireMarks(t *testing.T) {
	reader := api.NewWireReader[corev1.Pod](api.KeptWire[corev1.Pod]())
	var first map[string]string
	for i := range 3 {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(i), Annotations: map[string]string{
			"cni/ip": fmt.Sprint("10.0.0.", i), "sidecar.istio.io/status": fmt.Sprintf(`{"initContainers":[%d]}`, i), "linkerd.io/inject": "enabled",
		}}, Spec: corev1.PodSpec{NodeName: "n", NodeSelector: map[string]string{"disk": "ssd"}}}
		raw, err := p.Marshal()
		must(t, err)
		must(t, reader.Read(raw, p))
		if diff := cmp.Diff(map[string]string{"sidecar.istio.io/status": "", "linkerd.io/inject": "enabled"}, p.Annotations); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if first == nil {
			first = p.Annotations
		}
		if reflect.ValueOf(first).Pointer() != reflect.ValueOf(p.Annotations).Pointer() {
			t.Errorf("pod %d has a map of its own", i)
		}
	}
	if reader.Known.Len() != 1 {
		t.Errorf("%d kinds of pods", reader.Known.Len())
	}
}

func testWire[T any, P onWire[T]](t *testing.T, set func(int, *T)) {
	kept := api.KeptWire[T]()
	reader := api.NewWireReader[T, P](kept)
	for i := range cases.Of(100) {
		o := P(new(T))
		filler(int64(i)).Fill(o)
		if set != nil {
			set(i, (*T)(o))
		}
		raw, err := o.Marshal()
		must(t, err)
		whole := P(new(T))
		must(t, whole.Unmarshal(raw))
		object.Strip(whole)

		var split api.Parts
		if !kept(raw).Split(&split, raw) {
			t.Fatal("it is no message")
		}
		few := slices.Concat(split.Own, split.Common, split.Texts)
		for range 2 { // for the first object, and for one with the same common fields
			piece := P(new(T))
			must(t, reader.Read(raw, piece))
			object.Strip(piece)
			if diff := cmp.Diff(whole, piece); diff != "" {
				t.Fatalf("%d: what is kept lacks what Strip keeps, or has more (-of all +of what is kept):\n%s", i, diff)
			}
		}
		piece := whole
		stripped, err := piece.Marshal()
		must(t, err)
		if len(few) > 2*len(stripped)+200 {
			t.Errorf("%d: %d bytes are kept of %d, and Strip keeps %d", i, len(few), len(raw), len(stripped))
		}
		for _, cut := range []int{len(raw) / 3, len(raw) - 1} {
			if ok := kept(raw[:cut]).Split(&api.Parts{}, raw[:cut]); ok && cut > 0 {
				if again := P(new(T)); again.Unmarshal(raw[:cut]) != nil {
					t.Errorf("%d: what is cut off after %d of %d bytes was taken for whole", i, cut, len(raw))
				}
			}
		}
	}
}

// TestChanged checks that a change to a node or a pod in a watch is the same if only its kept fields are decoded, and
// that client-go decodes all other changes.
func TestChanged(t *testing.T) {
	changes := api.NewChanges()
	for i := range cases.Of(100) {
		testChanged(t, changes, i, &corev1.Node{}, &corev1.Node{}, "Node")
		testChanged(t, changes, i, &corev1.Pod{}, &corev1.Pod{}, "Pod")
	}
	for _, tt := range []struct{ raw, why string }{
		{"", "nothing"}, {`{"kind":"Node","apiVersion":"v1"}`, "JSON"}, {"k8s\x00\xff", "damaged"},
		{string(inProtobuf(t, &corev1.ConfigMap{}, "ConfigMap")), "another kind"},
	} {
		if o, _ := changes.Of([]byte(tt.raw)); o != nil {
			t.Errorf("%s: %v", tt.why, o)
		}
	}
}

func testChanged(t *testing.T, changes *api.Changes, seed int, o, whole runtime.Object, kind string) {
	filler(int64(seed)).Fill(o)
	mark(seed, o)
	raw := inProtobuf(t, o.(interface{ Marshal() ([]byte, error) }), kind)
	_, _, obj, err := api.Described(raw)
	must(t, err)
	must(t, whole.(interface{ Unmarshal([]byte) error }).Unmarshal(obj))
	object.Strip(whole)
	got, gvk := changes.Of(raw)
	if got == nil || gvk.Kind != kind {
		t.Fatalf("%d: %v is no %s", seed, gvk, kind)
	}
	object.Strip(got)
	if diff := cmp.Diff(whole, got); diff != "" {
		t.Fatalf("%d: (-of all +of what is kept):\n%s", seed, diff)
	}
}

// inProtobuf encodes an object as a server sends it.
func inProtobuf(t *testing.T, o interface{ Marshal() ([]byte, error) }, kind string) []byte {
	t.Helper()
	raw, err := o.Marshal()
	must(t, err)
	around, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: kind}, Raw: raw}).Marshal()
	must(t, err)
	return append([]byte("k8s\x00"), around...)
}

// FuzzWire checks that any bytes instead of a pod give an error or a pod, and that the kept fields are not longer
// than the message.
func FuzzWire(f *testing.F) {
	for _, p := range []corev1.Pod{
		{},
		{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "n", Labels: map[string]string{"a": "b"}}, Spec: corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Name: "c", Image: "i"}}}},
		{Spec: corev1.PodSpec{Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}}}, Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "c"}}}},
	} {
		raw, err := p.Marshal()
		must(f, err)
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		reader := api.NewWireReader[corev1.Pod](api.KeptWire[corev1.Pod]())
		first, again := &corev1.Pod{}, &corev1.Pod{}
		if reader.Read(raw, first) != nil {
			return
		}
		must(t, reader.Read(raw, again))
		object.Strip(first)
		object.Strip(again)
		if diff := cmp.Diff(first, again); diff != "" {
			t.Errorf("the first one, and one that shares with it:\n%s", diff)
		}
		if kept := len(reader.Parts.Own) + len(reader.Parts.Common); kept > 3*len(raw)+20 {
			t.Errorf("of %d bytes %d are kept", len(raw), kept)
		}
	})
}
