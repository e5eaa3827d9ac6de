package template

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func plain() *corev1.PodTemplateSpec {
	return &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "agent"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "agent", Image: "example/agent:2"}}},
	}
}

// The data that controllers of 1.34 or newer, and of 1.33 or older, store for
// plain.
const (
	newForm = `{"spec":{"template":{"$patch":"replace","metadata":{"labels":{"app":"agent"}},"spec":{"containers":[{"image":"example/agent:2","name":"agent","resources":{}}]}}}}`
	oldForm = `{"spec":{"template":{"$patch":"replace","metadata":{"creationTimestamp":null,"labels":{"app":"agent"}},"spec":{"containers":[{"image":"example/agent:2","name":"agent","resources":{}}]}}}}`
)

func TestEqual(t *testing.T) {
	created := plain()
	created.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	id := int64(1<<53 + 1)
	numbered := plain()
	numbered.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: &id}
	claiming := plain()
	claiming.Spec.Volumes = []corev1.Volume{
		{Name: "metadata", VolumeSource: corev1.VolumeSource{FlexVolume: &corev1.FlexVolumeSource{Options: map[string]string{"metadata": "x"}}}},
		{Name: "v", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{}}}},
	}
	claim := func(data, metadata string) string {
		return strings.Replace(data, `}]}}}}`, `}],"volumes":[{"name":"metadata","flexVolume":{"driver":"","options":{"metadata":"x"}}},{"name":"v","ephemeral":{"volumeClaimTemplate":{"metadata":`+metadata+`,"spec":{"resources":{}}}}}]}}}}`, 1)
	}
	with := func(data, old, new string) string {
		if !strings.Contains(data, old) {
			t.Fatalf("%q is not in %s", old, data)
		}
		return strings.Replace(data, old, new, 1)
	}
	for _, tt := range []struct {
		live     *corev1.PodTemplateSpec
		nullTime bool
		data     string
		want     bool
		why      string
	}{
		{plain(), false, newForm, true, "what the controller stores from 1.34 on"},
		{plain(), true, oldForm, true, "what it stored up to 1.33"},
		{plain(), false, oldForm, false, "the null creationTimestamp is a difference from 1.34 on"},
		{plain(), true, newForm, false, "and so is its absence up to 1.33"},
		{plain(), false, with(with(newForm, `{"$patch":"replace","metadata":{"labels":{"app":"agent"}},`, `{`), `}]}}}}`, `}]}, "metadata": {"labels":{"app":"agent"}}, "$patch":"replace"}}}`), true, "the order of keys and spaces are none"},
		{plain(), false, with(newForm, "agent:2", "agent:1"), false, "another image"},
		{plain(), false, with(newForm, `"resources":{}`, `"resources":{},"tty":false`), false, "a default that is spelled out"},
		{plain(), false, with(newForm, `"$patch":"replace",`, ``), false, "without the patch's directive"},
		{created, false, with(newForm, `"labels"`, `"creationTimestamp":"2026-01-02T03:04:05Z","labels"`), true, "a creationTimestamp that the template does have"},
		{created, true, with(newForm, `"labels"`, `"creationTimestamp":"2026-01-02T03:04:05Z","labels"`), true, "stays as it is in the older form"},
		{created, false, newForm, false, "and is a difference where it is missing"},
		{claiming, false, claim(newForm, `{}`), true, "a volume claim within the template"},
		{claiming, true, claim(oldForm, `{"creationTimestamp":null}`), true, "which has a time of its own, null up to 1.33"},
		{claiming, true, claim(oldForm, `{}`), false, "in both places"},
		{numbered, false, with(newForm, `}]}}}}`, `}],"securityContext":{"runAsUser":9007199254740993}}}}}`), true, "large numbers are exact"},
		{numbered, false, with(newForm, `}]}}}}`, `}],"securityContext":{"runAsUser":9007199254740992}}}}}`), false, "to the last digit"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			live, err := Of(tt.live, tt.nullTime)
			if err != nil {
				t.Fatal(err)
			}
			stored, err := Stored([]byte(tt.data))
			if err != nil {
				t.Fatal(err)
			}
			if got := stored.Equal(live); got != tt.want {
				t.Errorf("equal: %t (-stored +live):\n%s", got, cmp.Diff(stored, live))
			}
		})
	}
}

func TestOfStoresAsTheController(t *testing.T) {
	for nullTime, want := range map[bool]string{false: newForm, true: oldForm} {
		c, err := Of(plain(), nullTime)
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(map[string]any{"spec": map[string]any{"template": c}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("null time %t (-want +got):\n%s", nullTime, diff)
		}
	}
}

func TestStoredRefuses(t *testing.T) {
	for _, tt := range []struct{ data, why string }{
		{``, "nothing"},
		{`{`, "half a document"},
		{`[]`, "a list"},
		{`null`, "null"},
		{`{"spec":{}}`, "no template"},
		{`{"spec":{"template":"x"}}`, "a template that is no object"},
		{`{"spec":{"template":{},"paused":true}}`, "more than the template"},
		{`{"spec":{"template":{}},"metadata":{}}`, "more than the spec"},
	} {
		if c, err := Stored([]byte(tt.data)); err == nil {
			t.Errorf("%s: %v", tt.why, c)
		}
	}
}

func TestKnown(t *testing.T) {
	stored, err := Stored([]byte(strings.Replace(newForm, `"resources":{}`, `"resources":{},"fromTheFuture":{"a":1}`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	live, err := Of(plain(), false)
	if err != nil {
		t.Fatal(err)
	}
	if stored.Equal(live) {
		t.Fatal("an unknown field is no difference")
	}
	known, err := stored.Known(false)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(live, known); diff != "" {
		t.Errorf("without what is not known (-want +got):\n%s", diff)
	}
	if _, err := (Content{"spec": "x"}).Known(false); err == nil {
		t.Error("a template that is none is known")
	}
}

// TestPatched tests rollbacks, including data that cannot be applied. No error
// quotes a value.
func TestPatched(t *testing.T) {
	const secret = "s3cret"
	live := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyAlways,
		Containers:    []corev1.Container{{Name: "agent", Image: "agent:2", Env: []corev1.EnvVar{{Name: "A", Value: "live-" + secret}}}},
	}}
	const unfit = "data: cannot be laid over the template of the DaemonSet, as a rollback would"
	for _, tt := range []struct {
		template string
		want     string // the images of the containers and the restart policy, or the error
		why      string
	}{
		{`{"$patch":"replace","spec":{"containers":[{"name":"agent","image":"agent:1"}]}}`, "agent:1", "as the controller stores it"},
		{`{"spec":{"containers":[{"name":"agent","image":"agent:1"}]}}`, "agent:1 Always", "without the directive it is laid over what there is"},
		{`{"spec":{"containers":[{"image":"agent:1","env":[{"name":"A","value":"s3cret"}]}]}}`, unfit, "a container without a name"},
		{`{"spec":{"containers":[{"name":"agent","env":[null,{"name":"A","value":"s3cret"}]}]}}`, unfit, "a variable that is null"},
		{`{"spec":{"containers":[{"name":"agent","env":[{"$patch":"frob","name":"A","value":"s3cret"}]}]}}`, unfit, "a directive that there is none of"},
		{`{"spec":{"containers":[{"name":"agent","$setElementOrder/env":[{"name":"B"}],"env":[{"name":"A","value":"s3cret"}]}]}}`, unfit, "an order of others"},
		{
			`{"spec":{"containers":[{"name":["agent","s3cret"],"image":"x"}]}}`,
			"data: spec.template.spec.containers.name must be text, not a list", "a name that is a list, at which the library panics",
		},
		{`{"spec":{"containers":[{"name":"agent","$retainKeys":[["s3cret"]]}]}}`, unfit, "the same where the API's types do not look"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			got := ""
			switch patched, err := Patched(live, []byte(`{"spec":{"template":`+tt.template+`}}`)); {
			case err != nil:
				got = err.Error()
			default:
				for _, c := range patched.Spec.Containers {
					got += c.Image
				}
				got = strings.TrimSpace(got + " " + string(patched.Spec.RestartPolicy))
			}
			if got != tt.want || strings.Contains(got, secret) {
				t.Errorf("%s\nwant %s", got, tt.want)
			}
		})
	}
}
