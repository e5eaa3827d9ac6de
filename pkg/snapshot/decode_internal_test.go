package snapshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestDecoders checks that the decoder of encoding/json/v2 agrees with
// encoding/json wherever it succeeds, and that it succeeds on the output of
// Encode.
func TestDecoders(t *testing.T) {
	examples, err := filepath.Glob("../../examples/*.json")
	if err != nil || len(examples) == 0 {
		t.Fatal("no examples")
	}
	quick, damaged := 0, 0
	for _, path := range examples {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Decode(raw)
		if err != nil {
			continue // not a Snapshot
		}
		if raw, err = Encode(s); err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeFrom(jsontext.NewDecoder(bytes.NewReader(raw))); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		for i := 0; i < len(raw); i += 1 + len(raw)/12 {
			for _, with := range []string{"", "null", `"`, "{", "7", "Nodes", "\xff", "[]", "1e3", " ", `\u0041`} {
				changed := bytes.Join([][]byte{raw[:i], []byte(with), raw[min(len(raw), i+len(with)):]}, nil)
				got, err := DecodeFrom(jsontext.NewDecoder(bytes.NewReader(changed)))
				if err != nil {
					damaged++
					continue
				}
				quick++
				var d document
				dec := json.NewDecoder(bytes.NewReader(changed))
				dec.DisallowUnknownFields()
				if err := dec.Decode(&d); err != nil {
					t.Fatalf("%s: %q at %d: encoding/json refuses it: %v", path, with, i, err)
				}
				if want, err := d.checked(); err != nil || !reflect.DeepEqual(got, want) {
					t.Fatalf("%s: %q at %d: %v %s", path, with, i, err, cmp.Diff(got, want))
				}
			}
		}
	}
	if quick < 100 || damaged < 100 {
		t.Errorf("%d read, %d refused: that tells little", quick, damaged)
	}
}

// TestDecodeMany checks that lists read in parts and shared values are what
// encoding/json returns.
func TestDecodeMany(t *testing.T) {
	s := &Snapshot{DaemonSet: &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}, Spec: appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{}}}, TakenAt: time.Unix(1e9, 0)}
	for i := range 1500 {
		labels := map[string]string{"app": "a", "quoted": `a "word" \ ` + "\n", "é": "ü\u2028", fmt.Sprint(i): strings.Repeat("x", i)}
		p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprint("p", i), Labels: labels, CreationTimestamp: metav1.Unix(int64(i), 0)}}
		p.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Name: fmt.Sprint(i % 20)}}
		cpu := corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(int64(i%18), resource.DecimalSI)}
		p.Spec.Containers = []corev1.Container{{Name: "c", Image: fmt.Sprint(i % 19), Resources: corev1.ResourceRequirements{Requests: cpu}}}
		n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i), Labels: labels}}
		n.Spec.Taints, n.Status.Allocatable = []corev1.Taint{{Key: fmt.Sprint(i % 21)}}, cpu
		for c := range i % 50 {
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodConditionType(fmt.Sprint(i, c))})
			p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: fmt.Sprint(i, c)})
			n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeConditionType(fmt.Sprint(i, c))})
		}
		s.Pods, s.Nodes = append(s.Pods, p), append(s.Nodes, n)
	}
	raw, err := Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeFrom(jsontext.NewDecoder(bytes.NewReader(raw)))
	if err != nil {
		t.Fatal(err)
	}
	var want document
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	if whole, err := want.checked(); err != nil || !reflect.DeepEqual(whole, got) {
		t.Errorf("%v (-encoding/json +in parts):\n%.3000s", err, cmp.Diff(whole, got))
	}
	if a, b := &got.Pods[0].Spec.Containers[0], &got.Pods[19*18].Spec.Containers[0]; a != b || &got.Pods[1].Spec.Containers[0] == &got.Pods[2].Spec.Containers[0] {
		t.Error("the same containers are not shared, or others are")
	}
	if cap(got.Pods) != len(got.Pods) || cap(got.Pods[49].Status.Conditions) != len(got.Pods[49].Status.Conditions) {
		t.Error("a list has room for more")
	}
}

// TestDecodeShares checks that pods with equal containers, labels and node
// selectors share them.
func TestDecodeShares(t *testing.T) {
	s, err := Decode([]byte(`{"apiVersion":"` + APIVersion + `","kind":"Snapshot","takenAt":"2026-01-01T00:00:00Z","daemonSet":{"metadata":{"name":"a"},"spec":{"selector":{}}},
		"pods":[{"metadata":{"name":"p","labels":{"a":"b"}},"spec":{"containers":[{"name":"c"}],"nodeSelector":{"d":"e"}}},
			{"metadata":{"name":"q","labels":{"a":"b"}},"spec":{"containers":[{"name":"c"}],"nodeSelector":{"d":"e"}}},{"metadata":{"name":"r","labels":{"a":"e"}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if &s.Pods[0].Spec.Containers[0] != &s.Pods[1].Spec.Containers[0] {
		t.Error("each has its own containers")
	}
	at := func(m map[string]string) uintptr { return reflect.ValueOf(m).Pointer() }
	if at(s.Pods[0].Labels) != at(s.Pods[1].Labels) || at(s.Pods[0].Spec.NodeSelector) != at(s.Pods[1].Spec.NodeSelector) {
		t.Error("each has its own labels or node selector")
	}
	if at(s.Pods[0].Labels) == at(s.Pods[2].Labels) || s.Pods[2].Labels["a"] != "e" {
		t.Errorf("the third has the labels %v", s.Pods[2].Labels)
	}
}

// TestJoined checks that lists of any lengths are joined into a new list with
// no spare capacity.
func TestJoined(t *testing.T) {
	numbers := make([]int, 200)
	for i := range numbers {
		numbers[i] = i
	}
	for _, cuts := range [][2]int{{0, 0}, {0, 200}, {1, 31}, {31, 33}, {32, 64}, {64, 65}, {100, 200}} {
		a, b, c := numbers[:cuts[0]], numbers[cuts[0]:cuts[1]], numbers[cuts[1]:]
		got := Joined(a, b, c)
		if !slices.Equal(got, numbers) || cap(got) != len(numbers) || &got[0] == &numbers[0] {
			t.Errorf("cut at %v: %v with room for %d", cuts, got, cap(got))
		}
	}
	if got := Joined[int](); got == nil || len(got) != 0 {
		t.Errorf("of none: %#v", got)
	}
}

// TestEncodeTo checks that the streamed output equals that of encoding/json,
// byte by byte.
func TestEncodeTo(t *testing.T) {
	var all []*Snapshot
	examples, _ := filepath.Glob("../../examples/*.json")
	for _, path := range examples {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := Decode(raw); err == nil {
			all = append(all, s)
		}
	}
	for _, text := range []string{"<a> & b", "\u2028\u2029", "\x00\x1b[2J\x7f\u009b", "\xff\xfe", `\ " /`, "é\U0001f600\ufffd"} {
		s := *all[0]
		s.Nodes = append([]corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: text, Labels: map[string]string{"b" + text: text, "a": "", "c": text}}}}, s.Nodes...)
		s.Gaps = []Gap{{Message: text}}
		all = append(all, &s)
	}
	for i, s := range all {
		want, err := marshal(documentOf(s))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(want), `\ufffd`, "\ufffd") + "\n" // invalid UTF-8
		got, err := Encode(s)
		if err != nil || string(got) != text {
			t.Errorf("%d: %v\n%s", i, err, cmp.Diff(text, string(got)))
		}
	}
	broken := *all[0]
	broken.Revisions = []appsv1.ControllerRevision{{Data: runtime.RawExtension{Raw: []byte("{")}}}
	var b bytes.Buffer
	if err := EncodeTo(&b, &broken); err == nil || b.Len() > 0 {
		t.Errorf("%v, and %d bytes of what cannot be written whole", err, b.Len())
	}
	failing := errors.New("full")
	if err := EncodeTo(writerFunc(func(p []byte) (int, error) { return 0, failing }), all[0]); err != failing {
		t.Errorf("%v, want the error of writing", err)
	}
}

type writerFunc func([]byte) (int, error)

func (w writerFunc) Write(p []byte) (int, error) { return w(p) }
