package snapshot_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/hide"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

var key = []byte("of this test")

// digestOf returns the digest of a value with the test's key.
func digestOf(t *testing.T, value string) string {
	t.Helper()
	s := dstest.State("N", env(corev1.EnvVar{Name: "A", Value: value}))
	return redact(t, s).DaemonSet.Spec.Template.Spec.Containers[0].Env[0].Value
}

func redact(t *testing.T, s *snapshot.Snapshot) *snapshot.Snapshot {
	t.Helper()
	out, err := snapshot.HideValues(s, key)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func env(vars ...corev1.EnvVar) dstest.Option {
	return dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.Containers[0].Env = vars })
}

func TestDigest(t *testing.T) {
	a := digestOf(t, "s3cret")
	if !hide.IsDigest(a) || a != digestOf(t, "s3cret") || a == digestOf(t, "s3cret2") {
		t.Errorf("s3cret is %q, then %q; s3cret2 is %q", a, digestOf(t, "s3cret"), digestOf(t, "s3cret2"))
	}
	if got := digestOf(t, "digest:0123456789abcdef"); got == "digest:0123456789abcdef" {
		t.Error("a value that looks like a digest is a value, where nothing was redacted before")
	}
	if got := digestOf(t, ""); got != "" {
		t.Errorf("an empty value is %q", got)
	}
	s := dstest.State("N", env(corev1.EnvVar{Name: "A", Value: "s3cret"}))
	other, err := snapshot.HideValues(s, []byte("another key"))
	if err != nil || other.DaemonSet.Spec.Template.Spec.Containers[0].Env[0].Value == a {
		t.Errorf("by another key the digest is the same: %v", err)
	}
	if _, err := snapshot.HideValues(s, nil); err == nil {
		t.Error("without a key anybody can try values out")
	}
}

func TestRedactTemplate(t *testing.T) {
	field := &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}
	s := dstest.State("N", dstest.DaemonSet(func(ds *appsv1.DaemonSet) {
		spec := &ds.Spec.Template.Spec
		spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: "s3cret"}, {Name: "B"}, {Name: "C", ValueFrom: field}, {Name: "D", Value: "s3cret"}}
		spec.InitContainers = []corev1.Container{{Name: "setup", Env: []corev1.EnvVar{{Name: "A", Value: "other"}}}}
	}))
	got := redact(t, s).DaemonSet.Spec.Template.Spec
	want := s.DaemonSet.DeepCopy().Spec.Template.Spec
	want.Containers[0].Env[0].Value, want.Containers[0].Env[3].Value = digestOf(t, "s3cret"), digestOf(t, "s3cret")
	want.InitContainers[0].Env[0].Value = digestOf(t, "other")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRedactAnnotations tests what remains of an annotation. DIGEST stands for
// the digest of s3cret, FIVE for that of 5, WHOLE for that of the whole
// annotation.
func TestRedactAnnotations(t *testing.T) {
	const applied = corev1.LastAppliedConfigAnnotation
	manifest := func(containers string) string {
		return `{"apiVersion":"apps/v1","kind":"DaemonSet","spec":{"template":{"spec":{"containers":` + containers + `}}}}`
	}
	for _, tt := range []struct{ key, value, want, why string }{
		{applied, manifest(`[{"env":[{"name":"A","value":"s3cret"}],"name":"agent"}]`), manifest(`[{"env":[{"name":"A","value":"DIGEST"}],"name":"agent"}]`), "kubectl reads it still"},
		{applied, manifest(`[{"name":"agent"}]`) + "\n", manifest(`[{"name":"agent"}]`), "the line end that kubectl writes is none of it"},
		{applied, manifest(`[{"env":[{"name":"A","value":""},{"name":"B"}],"name":"<agent>"}]`), manifest(`[{"env":[{"name":"A","value":""},{"name":"B"}],"name":"<agent>"}]`), "no value is none"},
		{applied, `{"spec":{"template":{"spec":{"initContainers":[{"env":[{"name":"A","value":"s3cret"}]}]}}}}`, `{"spec":{"template":{"spec":{"initContainers":[{"env":[{"name":"A","value":"DIGEST"}]}]}}}}`, "of init containers too"},
		{applied, manifest(`[{"env":[{"name":"A","text":"s3cret"}],"name":"agent"}]`), manifest(`[{"env":[{"name":"A","text":"DIGEST"}],"name":"agent"}]`), "a field that is misspelled"},
		{applied, `{"template":"s3cret","spec":{"minReadySeconds":5}}`, `{"spec":{"minReadySeconds":5},"template":"DIGEST"}`, "one that no DaemonSet has"},
		{applied, `{"metadata":{"annotations":{"kapp.k14s.io/original":"s3cret","note":"as it is"}},"spec":{}}`, `{"metadata":{"annotations":{"kapp.k14s.io/original":"DIGEST","note":"as it is"}},"spec":{}}`, "a copy within the copy"},
		{applied, `{"spec":{"template":{"spec":{"securityContext":{"runAsUser":9007199254740993}}}}}`, `{"spec":{"template":{"spec":{"securityContext":{"runAsUser":9007199254740993}}}}}`, "numbers stay as they are written"},
		{applied, `{"spec":{"template":{"spec":{"ephemeralContainers":[{"env":[{"name":"A","value":"s3cret"}]}]}}}}`, `{"spec":{"template":{"spec":{"ephemeralContainers":[{"env":[{"name":"A","value":"DIGEST"}]}]}}}}`, "of those that no template has"},
		{applied, manifest(`[{"env":[{"name":"A","value":5}]}]`), manifest(`[{"env":[{"name":"A","value":"FIVE"}]}]`), "a value that is no string"},
		{applied, manifest(`[{"env":[{"name":"A","Value":"s3cret"}]}]`), manifest(`[{"env":[{"Value":"DIGEST","name":"A"}]}]`), "a key in another case, which the API's decoder takes"},
		{applied, manifest(`[{"env":[{"name":"A","value":"s3cret"}],"Env":[{"name":"A"}]}]`), manifest(`[{"Env":[{"name":"A"}],"env":[{"name":"A","value":"DIGEST"}]}]`), "a key twice, of which the decoder keeps the last"},
		{applied, `{"Metadata":{"Annotations":{"kapp.k14s.io/original":"s3cret"}},"metadata":{"annotations":{"kapp.k14s.io/original":"s3cret"}}}`, `{"Metadata":{"Annotations":{"kapp.k14s.io/original":"DIGEST"}},"metadata":{"annotations":{"kapp.k14s.io/original":"DIGEST"}}}`, "and a copy within the copy, in any case"},
		{applied, manifest(`[{"env":{"name":"A","value":"s3cret"}}]`), "WHOLE", "what no API server would store"},
		{applied, `{"spec":{`, "WHOLE", "half a document"},
		{applied, `{} {"value":"s3cret"}`, "WHOLE", "more than a document"},
		{applied, `s3cret`, "WHOLE", "no document"},
		{applied, ``, ``, "nothing"},

		{"objectset.rio.cattle.io/applied", "H4sIAAAAAAAA/3yQ", "WHOLE", "Rancher's copy, compressed"},
		{"objectset.rio.cattle.io/id", "fleet-agent", "fleet-agent", "which is not its identity"},
		{"banzaicloud.com/last-applied", "UEsDBBQACAAIAAAA", "WHOLE", "that of operators"},
		{"example.com/last-applied", "anything", "WHOLE", "that of an operator that took over the code"},
		{"kapp.k14s.io/original", "kind: DaemonSet", "WHOLE", "kapp's"},
		{"kapp.k14s.io/original-diff-full", "- value: s3cret", "WHOLE", "with its differences"},
		{"configmanagement.gke.io/declared-config", "kind: DaemonSet", "WHOLE", "Config Sync's"},
		{"example.com/copy", ` {"kind":"DaemonSet"}`, "WHOLE", "anybody's, in JSON"},
		{"example.com/copy", "apiVersion: apps/v1", "WHOLE", "in YAML"},
		{"example.com/copy", "H4sIAAAAAAAA/3yQ", "WHOLE", "as gzip"},
		{"example.com/copy", "UEsDBBQACAAIAAAA", "WHOLE", "as zip"},
		{"example.com/copy", "KLUv/QRYaQAAa2lu", "WHOLE", "as zstd"},
		{"example.com/copy", "eyJraW5kIjoiRGFlbW9uU2V0In0=", "WHOLE", "encoded"},
		{"example.com/copy", `[{"op":"add","value":"s3cret"}]`, "WHOLE", "a patch"},
		{"kubernetes.io/change-cause", "kubectl set env daemonset/agent A=s3cret --record=true", "WHOLE", "the command that set it"},
		{"kubernetes.io/change-cause", `kubectl patch daemonset agent --patch={"spec":{}} --record=true`, "WHOLE", "or patched it"},
		{"kubernetes.io/change-cause", "helm upgrade agent ./chart --set token=s3cret", "WHOLE", "or had Helm do it"},
		{"kubernetes.io/change-cause", "kubectl set image daemonset/agent agent=example/agent:2 --record=true", "kubectl set image daemonset/agent agent=example/agent:2 --record=true", "another command"},
		{"kubernetes.io/change-cause", "security fix", "security fix", "a person's words"},
		{"kubernetes.io/change-cause", "kubectl set -n kube-system env daemonset/agent A=s3cret", "WHOLE", "hidden: kubectl set -n kube-system env daemonset/agent A=s3cret"},
		{"kubernetes.io/change-cause", "kubectl Set Env ds/agent a=s3cret", "WHOLE", "hidden: kubectl Set Env ds/agent a=s3cret"},
		{"kubernetes.io/change-cause", "helm upgrade agent --set-string token=s3cret", "WHOLE", "hidden: helm upgrade agent --set-string token=s3cret"},
		{"kubernetes.io/change-cause", "deploy --env=token=s3cret", "WHOLE", "hidden: deploy --env=token=s3cret"},
		{"kubernetes.io/change-cause", "run --env token=s3cret", "WHOLE", "hidden: run --env token=s3cret"},
		{"kubernetes.io/change-cause", "create --from-literal token=s3cret", "WHOLE", "hidden: create --from-literal token=s3cret"},
		{"kubernetes.io/change-cause", "kubectl patch ds agent --patch s3cret", "WHOLE", "hidden: kubectl patch ds agent --patch s3cret"},
		{"kubernetes.io/change-cause", "kubectl patch ds agent -p s3cret", "WHOLE", "hidden: kubectl patch ds agent -p s3cret"},
		{"kubernetes.io/change-cause", "rotated TOKEN=s3cret", "WHOLE", "hidden: rotated TOKEN=s3cret"},
		{"kubernetes.io/change-cause", "name: A, value: s3cret", "WHOLE", "hidden: name: A, value: s3cret"},
		{"kubernetes.io/change-cause", "proxy is http://user:s3cret@example.com", "WHOLE", "hidden: proxy is http://user:s3cret@example.com"},
		{"kubernetes.io/change-cause", "kubectl set image ds/agent agent=acme/agent:2 --record=true", "kubectl set image ds/agent agent=acme/agent:2 --record=true", "readable: kubectl set image ds/agent agent=acme/agent:2 --record=true"},
		{"kubernetes.io/change-cause", "ci --environment=prod v2", "ci --environment=prod v2", "readable: ci --environment=prod v2"},
		{"kubernetes.io/change-cause", "kubectl apply -f agent.yaml --settings-file=x", "kubectl apply -f agent.yaml --settings-file=x", "readable: kubectl apply -f agent.yaml --settings-file=x"},
		{"kubernetes.io/change-cause", "see https://example.com/a@b", "see https://example.com/a@b", "readable: see https://example.com/a@b"},
		{"deprecated.daemonset.template.generation", "7", "7", "what a rule reads"},
		{"meta.helm.sh/release-name", "agent", "agent", "who made it"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			want := strings.NewReplacer("DIGEST", digestOf(t, "s3cret"), "FIVE", digestOf(t, "5"), "WHOLE", digestOf(t, tt.value)).Replace(tt.want)
			s := dstest.State("N", dstest.Edit(func(s *snapshot.Snapshot) {
				s.DaemonSet.Annotations = map[string]string{tt.key: tt.value}
				s.Revisions[0].Annotations = map[string]string{tt.key: tt.value}
			}))
			got := redact(t, s)
			for of, all := range map[string]map[string]string{"the DaemonSet": got.DaemonSet.Annotations, "the revision": got.Revisions[0].Annotations} {
				if diff := cmp.Diff(map[string]string{tt.key: want}, all); diff != "" {
					t.Errorf("of %s (-want +got):\n%s", of, diff)
				}
			}
			if again := redact(t, got); !reflect.DeepEqual(got, again) {
				t.Errorf("once more (-once +twice):\n%s", cmp.Diff(got, again))
			}
		})
	}
}

func TestRedactData(t *testing.T) {
	data := func(inner string) string { return `{"spec":{"template":` + inner + `}}` }
	for _, tt := range []struct{ data, want, why string }{
		{
			data(`{"$patch":"replace","metadata":{"creationTimestamp":null},"spec":{"containers":[{"env":[{"name":"A","value":"s3cret"}],"name":"agent"}],"securityContext":{"runAsUser":9007199254740993}}}`),
			data(`{"$patch":"replace","metadata":{"creationTimestamp":null},"spec":{"containers":[{"env":[{"name":"A","value":"DIGEST"}],"name":"agent"}],"securityContext":{"runAsUser":9007199254740993}}}`),
			"all but the value stays, in the form of its controller",
		},
		{data(`{"spec":{"containers":[{"env":[{"name":"A","value":5}]}]}}`), `"WHOLE"`, "a value that is no string"},
		{data(`{"spec":{"CONTAINERS":[{"ENV":[{"name":"A","Value":"s3cret"}]}]}}`), data(`{"spec":{"CONTAINERS":[{"ENV":[{"Value":"DIGEST","name":"A"}]}]}}`), "keys in another case, which the API's decoder takes"},
		{data(`{"spec":{"containers":[{"env":[{"name":"A","value":"s3cret"}],"Env":[{"name":"A","value":"s3cret"}]}]}}`), data(`{"spec":{"containers":[{"Env":[{"name":"A","value":"DIGEST"}],"env":[{"name":"A","value":"DIGEST"}]}]}}`), "a key twice, of which the decoder keeps the last"},
		{data(`{"spec":{"containers":[{"env":[{"name":"A","vlaue":"s3cret"}],"name":"agent"}]}}`), data(`{"spec":{"containers":[{"env":[{"name":"A","vlaue":"DIGEST"}],"name":"agent"}]}}`), "a field that is misspelled"},
		{data(`{"spec":{"containers":[{"future":5}]}}`), data(`{"spec":{"containers":[{"future":"FIVE"}]}}`), "one that the API's types do not know"},
		{data(`{"spec":{"sidecars":"s3cret","hostNetwork":true}}`), data(`{"spec":{"hostNetwork":true,"sidecars":"DIGEST"}}`), "further up"},
		{data(`{"spec":{"containers":[{"env":{"name":"A","value":"s3cret"}}]}}`), `"WHOLE"`, "what is not of the form that values stand in"},
		{`{"spec":{"template":{},"paused":"s3cret"}}`, `"WHOLE"`, "more than a template"},
		{`{"value":"s3cret"`, `"WHOLE"`, "half a document"},
		{``, ``, "nothing"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			want := strings.NewReplacer("DIGEST", digestOf(t, "s3cret"), "FIVE", digestOf(t, "5"), "WHOLE", digestOf(t, tt.data)).Replace(tt.want)
			s := dstest.State("N", dstest.Edit(func(s *snapshot.Snapshot) { s.Revisions[0].Data.Raw = []byte(tt.data) }))
			got := redact(t, s)
			if diff := cmp.Diff(want, string(got.Revisions[0].Data.Raw)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if again := redact(t, got); !reflect.DeepEqual(got, again) {
				t.Errorf("once more (-once +twice):\n%s", cmp.Diff(got, again))
			}
		})
	}
}

// TestRedactLaws checks, for random states with values everywhere, that the
// file contains none of them and survives decoding; that exactly the revisions
// that were equal still are; that redacting again changes nothing; and that the
// input is not modified.
func TestRedactLaws(t *testing.T) {
	values := 0
	for seed := range cases.Of(int64(50)) {
		s := dstest.Random(seed)
		keep := fill(t, s)
		values += keep
		before := encode(t, s)
		got := redact(t, s)
		file := encode(t, got)
		if !bytes.Equal(before, encode(t, s)) {
			t.Fatalf("seed %d: the input has changed", seed)
		}
		if n := bytes.Count(before, []byte("s3cret")); n < keep {
			t.Fatalf("seed %d: only %d of %d values are in the input", seed, n, keep)
		}
		if at := bytes.Index(file, []byte("s3cret")); at >= 0 {
			t.Fatalf("seed %d: …%s", seed, file[max(0, at-200):min(len(file), at+50)])
		}
		back, err := snapshot.Decode(file)
		if err != nil || back.EnvValues != snapshot.EnvDigest || !bytes.Equal(file, encode(t, back)) {
			t.Fatalf("seed %d: %v, %q", seed, err, back.EnvValues)
		}
		again, err := snapshot.HideValues(back, []byte("another key"))
		if err != nil || !bytes.Equal(file, encode(t, again)) {
			t.Fatalf("seed %d: %v (-once +twice):\n%s", seed, err, cmp.Diff(string(file), string(encode(t, again))))
		}
		if diff := cmp.Diff(pairs(s), pairs(got)); diff != "" {
			t.Fatalf("seed %d: equal contents (-before +after):\n%s", seed, diff)
		}
	}
	if values < cases.Least(150) {
		t.Errorf("only %d values", values)
	}
}

func encode(t *testing.T, s *snapshot.Snapshot) []byte {
	t.Helper()
	raw, err := snapshot.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// fill adds values that depend on the image to the templates of a state, so
// that equal templates stay equal, and annotations with copies. It returns the
// number of values.
func fill(t *testing.T, s *snapshot.Snapshot) (values int) {
	t.Helper()
	ds := s.DaemonSet.DeepCopy()
	s.DaemonSet = ds
	c := &ds.Spec.Template.Spec.Containers[0]
	c.Env = []corev1.EnvVar{{Name: "A", Value: "s3cret of " + c.Image}, {Name: "B", Value: "s3cret"}, {Name: "C"}}
	values += 2
	manifest, err := json.Marshal(map[string]any{"kind": "DaemonSet", "spec": ds.Spec, "sepc": map[string]any{"containers": "s3cret"}})
	if err != nil {
		t.Fatal(err)
	}
	ds.Annotations = maps.Clone(ds.Annotations)
	if ds.Annotations == nil {
		ds.Annotations = map[string]string{}
	}
	ds.Annotations[corev1.LastAppliedConfigAnnotation] = string(manifest)
	ds.Annotations["kubernetes.io/change-cause"] = "kubectl set env daemonset agent B=s3cret --record=true"
	values += 3
	ds.Status.Conditions = []appsv1.DaemonSetCondition{{Type: "A", Message: "B=s3cret"}}
	s.Events = append(slices.Clone(s.Events), corev1.Event{Message: `denied: {"name":"B","value":"s3cret"}`}, corev1.Event{Message: "no route to s3cret"})
	s.Pods = slices.Clone(s.Pods)
	for i := range s.Pods {
		state := func() corev1.ContainerState {
			return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Message: "s3cret"}, Terminated: &corev1.ContainerStateTerminated{Message: "s3cret"}}
		}
		statuses := func() []corev1.ContainerStatus {
			return []corev1.ContainerStatus{{State: state(), LastTerminationState: state()}}
		}
		s.Pods[i].Status.Message = "s3cret"
		s.Pods[i].Status.Conditions = append(slices.Clone(s.Pods[i].Status.Conditions), corev1.PodCondition{Type: "A", Message: "s3cret"})
		s.Pods[i].Status.ContainerStatuses, s.Pods[i].Status.InitContainerStatuses = statuses(), statuses()
		values += 10
	}
	values += 3
	s.Revisions = slices.Clone(s.Revisions)
	for i := range s.Revisions {
		r := &s.Revisions[i]
		r.Annotations = ds.Annotations
		values += 3
		stored, err := template.Stored(r.Data.Raw)
		if err != nil {
			continue
		}
		spec, _ := stored["spec"].(map[string]any)
		containers, _ := spec["containers"].([]any)
		if len(containers) == 0 {
			continue
		}
		c := containers[0].(map[string]any)
		image, _ := c["image"].(string)
		c["env"] = []any{map[string]any{"name": "A", "value": "s3cret of " + image}, map[string]any{"name": "B", "vlaue": "s3cret"}, map[string]any{"name": "C"}}
		c["enviroment"] = map[string]any{"s3cret": image}
		stored["sepc"] = []any{"s3cret of " + image}
		if r.Data.Raw, err = json.Marshal(map[string]any{"spec": map[string]any{"template": stored}}); err != nil {
			t.Fatal(err)
		}
		values += 4
	}
	return values
}

// pairs reports for each two contents, with the live template first, whether
// they are equal.
func pairs(s *snapshot.Snapshot) []bool {
	var all []template.Content
	live, err := template.Of(&s.DaemonSet.Spec.Template, false)
	if err != nil {
		panic(err)
	}
	all = append(all, live)
	for i := range s.Revisions {
		stored, _ := template.Stored(s.Revisions[i].Data.Raw)
		all = append(all, stored)
	}
	var equal []bool
	for i := range all {
		for j := range i {
			equal = append(equal, all[i].Equal(all[j]))
		}
	}
	return equal
}

func TestDecodeEnvValues(t *testing.T) {
	raw := encode(t, redact(t, dstest.State("N")))
	older := bytes.Replace(raw, []byte(`,"envValues":"Digest"`), nil, 1)
	if len(older) == len(raw) {
		t.Fatalf("no mark in %s", raw)
	}
	if s, err := snapshot.Decode(older); err != nil || s.EnvValues != "" {
		t.Errorf("an older file: %v", err)
	}
	if _, err := snapshot.Decode(bytes.Replace(raw, []byte(`"envValues":"Digest"`), []byte(`"envValues":"Rot13"`), 1)); err == nil {
		t.Error("a mark that nobody knows is taken for one")
	}
}
