package source

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/randfill"

	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// TestWire: an object made of what is kept of its bytes is, once it is stripped, the object made of all of them; and
// what is kept has nothing more than that.
func TestWire(t *testing.T) {
	t.Run("nodes", func(t *testing.T) { testWire[corev1.Node](t, nil) })
	t.Run("pods", func(t *testing.T) {
		testWire(t, func(i int, p *corev1.Pod) {
			if i%2 == 0 {
				p.Spec.NodeName = ""
			}
		})
	})
}

type onWire[T any] interface {
	oneOf[T]
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// filler fills objects at random, as they may come.
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

func testWire[T any, P onWire[T]](t *testing.T, set func(int, *T)) {
	kept := keptWire[T]()
	reader := newWireReader[T, P](kept)
	for i := range cases.Of(300) {
		o := P(new(T))
		filler(int64(i)).Fill(o)
		if set != nil {
			set(i, (*T)(o))
		}
		raw, err := o.Marshal()
		must(t, err)
		whole := P(new(T))
		must(t, whole.Unmarshal(raw))
		strip(whole)

		var split parts
		if !kept(raw).split(&split, raw) {
			t.Fatal("it is no message")
		}
		few := slices.Concat(split.own, split.common, split.texts)
		for range 2 { // as the first one, and as one of those that have the same in common
			part := P(new(T))
			must(t, reader.read(raw, part))
			strip(part)
			if diff := cmp.Diff(whole, part); diff != "" {
				t.Fatalf("%d: what is kept lacks what Strip keeps, or has more (-of all +of what is kept):\n%s", i, diff)
			}
		}
		part := whole
		stripped, err := part.Marshal()
		must(t, err)
		if len(few) > 2*len(stripped)+200 {
			t.Errorf("%d: %d bytes are kept of %d, and Strip keeps %d", i, len(few), len(raw), len(stripped))
		}
		for _, cut := range []int{len(raw) / 3, len(raw) - 1} {
			if ok := kept(raw[:cut]).split(&parts{}, raw[:cut]); ok && cut > 0 {
				if again := P(new(T)); again.Unmarshal(raw[:cut]) != nil {
					t.Errorf("%d: what is cut off after %d of %d bytes was taken for whole", i, cut, len(raw))
				}
			}
		}
	}
}

// FuzzWire: whatever a server sends in the place of a pod, it is an error or a pod, and what is kept is no longer than
// what came.
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
		reader := newWireReader[corev1.Pod](keptWire[corev1.Pod]())
		first, again := &corev1.Pod{}, &corev1.Pod{}
		if reader.read(raw, first) != nil {
			return
		}
		must(t, reader.read(raw, again))
		strip(first)
		strip(again)
		if diff := cmp.Diff(first, again); diff != "" {
			t.Errorf("the first one, and one that shares with it:\n%s", diff)
		}
		if kept := len(reader.parts.own) + len(reader.parts.common); kept > 3*len(raw)+20 {
			t.Errorf("of %d bytes %d are kept", len(raw), kept)
		}
	})
}
