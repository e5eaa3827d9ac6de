package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

func env(vars ...corev1.EnvVar) dstest.Option {
	return dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.Containers[0].Env = vars })
}

func literal(name, value string) corev1.EnvVar { return corev1.EnvVar{Name: name, Value: value} }

func differs(path, old, new string) whatif.FieldDiff {
	return whatif.FieldDiff{Path: template.ParsePath(path), Old: template.ParseValue(old), New: template.ParseValue(new)}
}

func redacted(t *testing.T, s *snapshot.Snapshot) *snapshot.Snapshot {
	t.Helper()
	out, err := snapshot.HideValues(s, []byte("of this test"))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestValuesHidden checks that no field of a change contains a literal value, unless ShowValues is set.
func TestValuesHidden(t *testing.T) {
	const path = "spec.template.spec.containers[name=agent]"
	ref := corev1.EnvVar{Name: "A", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}}
	vars := func(v ...corev1.EnvVar) func(*appsv1.DaemonSet) {
		return func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.Containers[0].Env = v }
	}
	note := func(key, value string) func(*appsv1.DaemonSet) {
		return func(ds *appsv1.DaemonSet) { metav1.SetMetaDataAnnotation(&ds.ObjectMeta, key, value) }
	}
	hides := func(path, old, new string) whatif.FieldDiff {
		d := differs(path, old, new)
		d.Hidden = true
		return d
	}
	placed := func(d whatif.FieldDiff, place int) whatif.FieldDiff {
		d.Place = place
		return d
	}
	const hiddenValue = `"<hidden>"`
	for _, tt := range []struct {
		change func(*appsv1.DaemonSet)
		want   []whatif.FieldDiff
		why    string
	}{
		{vars(literal("A", "s3cret2")), []whatif.FieldDiff{hides(path+".env[name=A].value", hiddenValue, hiddenValue)}, "another value"},
		{vars(), []whatif.FieldDiff{hides(path+".env", `[{"name":"A","value":"<hidden>"}]`, "")}, "all that there are"},
		{vars(literal("A", "s3cret"), literal("B", "s3cret2")), []whatif.FieldDiff{placed(hides(path+".env[name=B]", "", `{"name":"B","value":"<hidden>"}`), 2)}, "one more"},
		{vars(ref), []whatif.FieldDiff{
			hides(path+".env[name=A].value", hiddenValue, ""), differs(path+".env[name=A].valueFrom", "", `{"fieldRef":{"fieldPath":"spec.nodeName"}}`),
		}, "a reference is no value"},
		{func(ds *appsv1.DaemonSet) {
			ds.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "setup", Image: "x", Env: []corev1.EnvVar{literal("A", "s3cret2")}}}
		}, []whatif.FieldDiff{hides("spec.template.spec.initContainers", "", `[{"env":[{"name":"A","value":"<hidden>"}],"image":"x","name":"setup","resources":{}}]`)}, "within a container"},
		{note("copy", `{"value":"s3cret2"}`), []whatif.FieldDiff{hides("metadata.annotations.copy", "", hiddenValue)}, "what looks like a copy of a manifest"},
		{note("kapp.k14s.io/original", `{"value":"s3cret2"}`), []whatif.FieldDiff{hides("metadata.annotations[kapp.k14s.io/original]", "", hiddenValue)}, "a tool's copy of it"},
		{note("kubernetes.io/change-cause", "kubectl set env ds/agent A=s3cret2"), []whatif.FieldDiff{hides("metadata.annotations[kubernetes.io/change-cause]", "", hiddenValue)}, "a command that set it"},
		{note("kubernetes.io/change-cause", "fix"), []whatif.FieldDiff{differs("metadata.annotations[kubernetes.io/change-cause]", "", `"fix"`)}, "and not other words"},
		{vars(literal("A", "s3cret")), []whatif.FieldDiff{}, "nothing"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := dstest.State("N", env(literal("A", "s3cret")))
			c := &whatif.Change{DaemonSet: s.DaemonSet.DeepCopy()}
			tt.change(c.DaemonSet)
			p, err := planOf(s, c, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(tt.want) == 0 && len(p.Change.Fields) == 0 && p.Change.Fields != nil {
				return
			}
			if diff := cmp.Diff(tt.want, p.Change.Fields); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			raw, err := json.Marshal(p)
			if err != nil || strings.Contains(string(raw), "s3cret") {
				t.Errorf("%v, %s", err, raw)
			}
			shown, err := planOf(s, c, Options{ShowValues: true})
			if err != nil {
				t.Fatal(err)
			}
			for i, f := range shown.Change.Fields {
				if f.Hidden || tt.want[i].Hidden != strings.Contains(f.Old.String()+f.New.String(), "s3cret") {
					t.Errorf("shown: %+v", f)
				}
			}
		})
	}
}

// TestDigestsAreNotCompared checks what a manifest does to a Snapshot with digests.
func TestDigestsAreNotCompared(t *testing.T) {
	const path = "spec.template.spec.containers[name=agent]"
	digest := func(s *snapshot.Snapshot, i int) string {
		return s.DaemonSet.Spec.Template.Spec.Containers[0].Env[i].Value
	}
	live := redacted(t, dstest.State("N", env(literal("A", "s3cret"), literal("B", ""), literal("C", "other"), literal("C", "more"))))
	for _, tt := range []struct {
		vars  []corev1.EnvVar
		want  []whatif.FieldDiff
		count string
		why   string
	}{
		{[]corev1.EnvVar{literal("A", "s3cret"), literal("B", ""), literal("C", "other"), literal("C", "more")}, []whatif.FieldDiff{}, "3", "the values that are digests are taken for the same"},
		{[]corev1.EnvVar{literal("A", "changed"), literal("B", ""), literal("C", "x"), literal("C", "y")}, []whatif.FieldDiff{}, "3", "whatever they are"},
		{[]corev1.EnvVar{literal("A", digest(live, 0)), literal("B", ""), literal("C", digest(live, 2)), literal("C", digest(live, 3))}, []whatif.FieldDiff{}, "", "digests of the same file are compared"},
	} {
		p := makeWith(t, live, tt.vars)
		if diff := cmp.Diff(tt.want, p.Change.Fields); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
		if got := assumedValues(p); got != tt.count {
			t.Errorf("%s: %q not compared, want %q", tt.why, got, tt.count)
		}
	}

	live = redacted(t, dstest.State("N", env(literal("A", "s3cret"), literal("B", ""))))
	a := digest(live, 0)
	for _, tt := range []struct {
		vars  []corev1.EnvVar
		want  []whatif.FieldDiff
		count string
		why   string
	}{
		{[]corev1.EnvVar{literal("A", "s3cret"), literal("B", "set")}, []whatif.FieldDiff{differs(path+".env[name=B].value", "", `"set"`)}, "1", "that there was none can be told"},
		{[]corev1.EnvVar{literal("A", ""), literal("B", "")}, []whatif.FieldDiff{differs(path+".env[name=A].value", fmt.Sprintf("%q", a), "")}, "", "so can that there is none"},
		{[]corev1.EnvVar{literal("B", "")}, []whatif.FieldDiff{differs(path+".env[name=A]", fmt.Sprintf(`{"name":"A","value":%q}`, a), "")}, "", "a variable that goes"},
		{[]corev1.EnvVar{literal("A", "x"), literal("B", ""), literal("D", "new")}, []whatif.FieldDiff{{Path: template.ParsePath(path + ".env[name=D]"), New: template.ParseValue(`{"name":"D","value":"new"}`), Place: 3}}, "1", "one that comes"},
		{[]corev1.EnvVar{literal("A", "digest:0123456789abcdef"), literal("B", "")}, []whatif.FieldDiff{differs(path+".env[name=A].value", fmt.Sprintf("%q", a), `"digest:0123456789abcdef"`)}, "", "another digest is another value"},
	} {
		p := makeWith(t, live, tt.vars)
		if diff := cmp.Diff(tt.want, p.Change.Fields); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
		if got := assumedValues(p); got != tt.count {
			t.Errorf("%s: %q not compared, want %q", tt.why, got, tt.count)
		}
	}

	setup := func(value string) dstest.Option {
		return dstest.DaemonSet(func(ds *appsv1.DaemonSet) {
			ds.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "setup", Image: "x", Env: []corev1.EnvVar{literal("A", value)}}}
		})
	}
	p, err := planOf(redacted(t, dstest.State("N", setup("s3cret"))), &whatif.Change{DaemonSet: dstest.State("N", setup("other")).DaemonSet}, Options{})
	if err != nil || len(p.Change.Fields) > 0 || assumedValues(p) != "1" {
		t.Errorf("of an init container: %v, %v", err, p.Change.Fields)
	}

	for _, tt := range []struct {
		key, live, manifest string
		fields              int
		count, why          string
	}{
		{"kubernetes.io/change-cause", "kubectl set env ds/agent A=s3cret", "kubectl set env ds/agent A=other", 0, "1", "a copy of values is compared no more than they are"},
		{"kubernetes.io/change-cause", "kubectl set env ds/agent A=s3cret", "another cause", 1, "", "other words are none"},
		{"kapp.k14s.io/original", "{}", `{"kind":"DaemonSet"}`, 0, "1", "a copy of the manifest"},
		{"kapp.k14s.io/original", "{}", "digest:0123456789abcdef", 1, "", "another digest is another copy"},
		{"kubernetes.io/change-cause", "a cause", "kubectl set env ds/agent A=other", 1, "", "what is no digest is compared"},
		{"example.com/note", "one", "two", 1, "", "whatever it is"},
	} {
		noted := func(value string) func(*appsv1.DaemonSet) {
			return func(ds *appsv1.DaemonSet) { metav1.SetMetaDataAnnotation(&ds.ObjectMeta, tt.key, value) }
		}
		live := redacted(t, dstest.State("N", dstest.DaemonSet(noted(tt.live))))
		c := &whatif.Change{DaemonSet: live.DaemonSet.DeepCopy(), Method: "Overlay"}
		noted(tt.manifest)(c.DaemonSet)
		p, err := planOf(live, c, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Change.Fields) != tt.fields || assumedValues(p) != tt.count {
			t.Errorf("%s: %v, %q not compared", tt.why, p.Change.Fields, assumedValues(p))
		}
	}

	plain := dstest.State("N", env(literal("A", "digest:0123456789abcdef")))
	if p := makeWith(t, plain, []corev1.EnvVar{literal("A", "x")}); assumedValues(p) != "" || len(p.Change.Fields) != 1 {
		t.Errorf("a value that looks like a digest in a Snapshot that holds values: %v", p.Change.Fields)
	}
}

func makeWith(t *testing.T, s *snapshot.Snapshot, vars []corev1.EnvVar) *Plan {
	t.Helper()
	c := &whatif.Change{DaemonSet: s.DaemonSet.DeepCopy(), Method: "Overlay"}
	c.DaemonSet.Spec.Template.Spec.Containers[0].Env = vars
	before := c.DaemonSet.DeepCopy()
	p, err := planOf(s, c, Options{ShowValues: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, c.DaemonSet); diff != "" {
		t.Errorf("the manifest has changed:\n%s", diff)
	}
	return p
}

func assumedValues(p *Plan) string {
	i := slices.IndexFunc(p.Assumptions, func(a daemonset.Assumption) bool { return a.Code == whatif.AssumeEnvValues })
	if i < 0 {
		return ""
	}
	return p.Assumptions[i].Value
}

// TestUnknownFields checks that a rollback leaves out fields that the API types do not list, and reports them if they
// differ from the live template.
func TestUnknownFields(t *testing.T) {
	with := func(name, fields string) dstest.Option {
		return dstest.Edit(func(s *snapshot.Snapshot) {
			for i := range s.Revisions {
				if r := &s.Revisions[i]; r.Name == "agent-"+name {
					r.Data.Raw = []byte(strings.Replace(string(r.Data.Raw), `"containers":[{`, fields, 1))
				}
			}
		})
	}
	for _, tt := range []struct {
		options []dstest.Option
		want    string
		known   bool
		why     string
	}{
		{nil, "", true, "none"},
		{[]dstest.Option{with("old", `"future":{"a":"b"},"more":[1],"containers":[{`)}, "2", false, "of the revision alone, which the template may be or not"},
		{[]dstest.Option{with("old", `"future":[],"more":null,"containers":[{`)}, "", true, "empty ones say nothing"},
		{[]dstest.Option{with("old", `"containers":[{"future":1,`)}, "1", false, "in a member of a list"},
		{[]dstest.Option{with("new", `"future":1,"containers":[{`), dstest.Version("v1.99.0")}, "1", false, "only the live template has it, on a newer cluster"},
		{[]dstest.Option{with("old", `"future":1,"containers":[{`), with("new", `"future":1,"containers":[{`), dstest.Version("v1.99.0")}, "", true, "the live template has it, too, on a newer cluster"},
	} {
		p, err := planOf(dstest.State("N O", tt.options...), &whatif.Change{ToRevision: new(int64(1))}, Options{})
		if err != nil {
			t.Fatalf("%s: %v", tt.why, err)
		}
		got := ""
		for _, a := range p.Assumptions {
			if a.Code == whatif.AssumeUnknownFields {
				got = a.Value
			}
		}
		if got != tt.want || p.TemplateKnown() != tt.known {
			t.Errorf("%s: %q fields, template known: %t; want %q, %t", tt.why, got, p.TemplateKnown(), tt.want, tt.known)
		}
	}
}

// TestLawRedacted checks for random states that a Snapshot with digests gives the same answers as one with values: the
// revisions, the next step, the counts and the effect of any change, including each of its fields, except the values.
func TestLawRedacted(t *testing.T) {
	plans, rollbacks := 0, 0
	for seed := range cases.Of(int64(20)) {
		s := dstest.Anywhere(seed, []string{dstest.Newest, "v1.30.5", "v1.22.17"}[seed%3])
		giveValues(t, s)
		r := redacted(t, s)
		before, after := stateOf(t, s), stateOf(t, r)
		if diff := cmp.Diff([]any{before.History, before.Sync()}, []any{after.History, after.Sync()}); diff != "" {
			t.Fatalf("seed %d (-values +digests):\n%s", seed, diff)
		}
		changes := []*whatif.Change{nil}
		for _, h := range before.History.Revisions {
			changes = append(changes, &whatif.Change{ToRevision: new(h.Number)})
		}
		pick := func(of ...string) string { return of[int(seed)%len(of)] }
		changes = append(changes, &whatif.Change{Restart: true}, &whatif.Change{Images: []whatif.Image{{Container: "*", Image: pick("example/agent:0", "example/agent:1", "example/agent:2")}}},
			&whatif.Change{Tolerations: []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}}, &whatif.Change{NodeSelector: map[string]string{"example.com/pool": pick("a", "b")}},
			&whatif.Change{Strategy: pick("OnDelete", "RollingUpdate")}, &whatif.Change{MinReadySeconds: new(int32(seed%3) * 10)},
			&whatif.Change{MaxUnavailable: dstest.Limit(pick("1", "3", "25%")), MaxSurge: dstest.Limit("0")}, &whatif.Change{MaxUnavailable: dstest.Limit("0"), MaxSurge: dstest.Limit(pick("1", "50%"))})
		for i, c := range changes {
			want, wantErr := planOf(s, c, Options{})
			got, gotErr := planOf(r, c, Options{})
			if (wantErr == nil) != (gotErr == nil) || wantErr != nil && wantErr.Error() != gotErr.Error() {
				t.Fatalf("seed %d, change %d: with values %v, with digests %v", seed, i, wantErr, gotErr)
			}
			if wantErr != nil {
				continue
			}
			plans++
			if want.Change != nil && c.ToRevision != nil && slices.ContainsFunc(want.Change.Fields, func(f whatif.FieldDiff) bool { return f.Hidden }) {
				rollbacks++
			}
			if diff := cmp.Diff(document(t, want), document(t, got)); diff != "" {
				t.Fatalf("seed %d, change %d (-values +digests):\n%s", seed, i, diff)
			}
		}
	}
	if plans < cases.Least(130) || rollbacks < cases.Least(5) {
		t.Errorf("%d plans, %d of them rollbacks to other values: the law looks at too few", plans, rollbacks)
	}
}

func document(t *testing.T, p *Plan) string {
	t.Helper()
	raw, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// giveValues gives the templates of a state values that depend on their image, so that equal templates stay equal, and
// gives the DaemonSet copies of them.
func giveValues(t *testing.T, s *snapshot.Snapshot) {
	t.Helper()
	value := func(image any) string { return fmt.Sprint("s3cret of ", image) }
	ds := s.DaemonSet.DeepCopy()
	s.DaemonSet = ds
	c := &ds.Spec.Template.Spec.Containers[0]
	c.Env = []corev1.EnvVar{literal("A", value(c.Image)), literal("B", "s3cret"), literal("C", "")}
	raw, err := json.Marshal(map[string]any{"kind": "DaemonSet", "spec": ds.Spec})
	if err != nil {
		t.Fatal(err)
	}
	metav1.SetMetaDataAnnotation(&ds.ObjectMeta, corev1.LastAppliedConfigAnnotation, string(raw))
	s.Revisions = slices.Clone(s.Revisions)
	for i := range s.Revisions {
		d := &s.Revisions[i].Data
		stored, err := template.Stored(d.Raw)
		if err != nil {
			continue
		}
		spec, _ := stored["spec"].(map[string]any)
		containers, _ := spec["containers"].([]any)
		if len(containers) == 0 {
			continue
		}
		c := containers[0].(map[string]any)
		c["env"] = []any{
			map[string]any{"name": "A", "value": value(c["image"])}, map[string]any{"name": "B", "value": "s3cret"}, map[string]any{"name": "C"},
		}
		if d.Raw, err = json.Marshal(map[string]any{"spec": map[string]any{"template": stored}}); err != nil {
			t.Fatal(err)
		}
	}
}
