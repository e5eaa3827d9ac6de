package template

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// FuzzStored decodes any bytes as the data of a ControllerRevision. What
// decodes is equal after encoding and decoding again, does not differ from
// itself, and a rollback to it returns a template or an error of one line.
func FuzzStored(f *testing.F) {
	for _, seed := range []string{
		`{"spec":{"template":{"$patch":"replace","metadata":{"creationTimestamp":null,"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"x","env":[{"name":"A","value":"b"}]}]}}}}`,
		`{"spec":{"template":{}}}`, `{"spec":{"template":{"spec":{"containers":[{"name":"c","ports":[{"containerPort":1.0}]}]}}}}`, `{"spec":{"template":5}}`, `{}`, ``, `null`, `{"spec":{"template":{"spec":{"containers":[{"$patch":"delete","name":"c"}]}}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Stored(data)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("%q", err)
			}
			return
		}
		raw, err := json.Marshal(map[string]any{"spec": map[string]any{"template": c}})
		if err != nil {
			t.Fatal(err)
		}
		again, err := Stored(raw)
		if err != nil || !c.Equal(again) {
			t.Errorf("%s is read again as %v, %v", raw, again, err)
		}
		if d := Diff(c, again); len(d) > 0 {
			t.Errorf("differs from itself: %v", d)
		}
		live := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "y"}}}}
		if _, err := Patched(live, data); err != nil && strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("%q", err)
		}
	})
}
