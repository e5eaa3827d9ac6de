package source_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/manifest"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// TestRecordedOverlays compares the results with what a real API server stored after these manifests were applied by
// kubectl and by a client that works like Helm 3. TestManifests in test/e2e records them if RECORD_OVERLAYS is set.
func TestRecordedOverlays(t *testing.T) {
	methods := map[string]manifest.Method{"kubectl apply": manifest.MethodLastApplied, "kubectl apply --server-side": manifest.MethodManagedFields, "helm": manifest.MethodManagedFields}
	files, err := filepath.Glob(filepath.Join("testdata", "overlays", "*.json"))
	if err != nil || len(files) < 5 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var r struct {
				Applier, File string
				Live          *appsv1.DaemonSet
				Steps         []struct {
					Why      string
					Manifest json.RawMessage
					Spec     appsv1.DaemonSetSpec
				}
			}
			if err := json.Unmarshal(raw, &r); err != nil {
				t.Fatal(err)
			}
			read := func(files []string, in []byte) manifest.Manifest {
				found, err := manifest.ReadManifests(background, files, "", bytes.NewReader(in))
				if err != nil || len(found) != 1 {
					t.Fatal(found, err)
				}
				found[0].Namespace = r.Live.Namespace
				return found[0]
			}
			m := read([]string{filepath.Join("testdata", "manifests", r.File)}, nil)
			same, err := manifest.Overlay(r.Live, m, "")
			if err != nil || same.Method != methods[r.Applier] {
				t.Fatalf("%v, error %v", same, err)
			}
			if diff := cmp.Diff(r.Live, same.DaemonSet); diff != "" {
				t.Errorf("the manifest that is live changes it (-live +got):\n%s", diff)
			}
			made, err := manifest.Overlay(nil, m, "")
			if err != nil || made.Method != manifest.MethodNew {
				t.Fatalf("%v, error %v", made, err)
			}
			if !equality.Semantic.DeepEqual(made.DaemonSet.Spec, r.Live.Spec) {
				t.Errorf("a new one is not as the server made it (-server +got):\n%s", cmp.Diff(r.Live.Spec, made.DaemonSet.Spec))
			}
			for _, s := range r.Steps {
				got, err := manifest.Overlay(r.Live, read([]string{"-"}, s.Manifest), "")
				if err != nil {
					t.Fatal(err)
				}
				if !equality.Semantic.DeepEqual(got.DaemonSet.Spec, s.Spec) {
					t.Errorf("%s: (-server +got):\n%s", s.Why, cmp.Diff(s.Spec, got.DaemonSet.Spec))
				}
			}
			if len(r.Steps) < 3 {
				t.Errorf("%d steps", len(r.Steps))
			}
		})
	}
}

// liveSet is a live DaemonSet with all defaults. Its other fields are those of setYAML, an environment variable and a
// label.
func liveSet(t *testing.T, change ...func(*appsv1.DaemonSet)) *appsv1.DaemonSet {
	t.Helper()
	found, err := readManifests(strings.Replace(setYAML, "image: acme/agent:1", "image: acme/agent:1\n        env: [{name: A, value: a}]", 1))
	if err != nil {
		t.Fatal(err)
	}
	made, err := manifest.Overlay(nil, found[0], "")
	if err != nil {
		t.Fatal(err)
	}
	ds := made.DaemonSet
	ds.Namespace, ds.UID, ds.Generation = "kube-system", "u", 7
	ds.Labels = map[string]string{"was": "here"}
	ds.Annotations = map[string]string{appsv1.DeprecatedTemplateGeneration: "7"}
	for _, c := range change {
		c(ds)
	}
	return ds
}

// lastApplied sets kubectl's last-applied annotation to a manifest.
func lastApplied(t *testing.T, text string) func(*appsv1.DaemonSet) {
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return func(ds *appsv1.DaemonSet) { ds.Annotations[corev1.LastAppliedConfigAnnotation] = string(raw) }
}

// managed adds a field manager.
func managed(manager string, op metav1.ManagedFieldsOperationType, minute int, fields string) func(*appsv1.DaemonSet) {
	return func(ds *appsv1.DaemonSet) {
		at := metav1.NewTime(noon.Add(time.Duration(minute) * time.Minute))
		ds.ManagedFields = append(ds.ManagedFields, metav1.ManagedFieldsEntry{
			Manager: manager, Operation: op, APIVersion: "apps/v1", Time: &at, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
		})
	}
}

func TestOverlay(t *testing.T) {
	const (
		apply, update = metav1.ManagedFieldsOperationApply, metav1.ManagedFieldsOperationUpdate
		container     = `"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"agent\"}":{".":{},"f:name":{},"f:image":{},`
		env           = `"f:env":{"k:{\"name\":\"A\"}":{".":{},"f:name":{},"f:value":{}}}`
		whole         = `{"f:metadata":{"f:labels":{"f:was":{}}},"f:spec":{"f:selector":{},` + container + env + `}}}}}}`
		noEnv         = `{"f:spec":{"f:selector":{},` + container + `"f:imagePullPolicy":{}}}}}}}`
		strategy      = `{"f:spec":{"f:selector":{},"f:updateStrategy":{"f:rollingUpdate":{".":{},"f:maxSurge":{},"f:maxUnavailable":{}},"f:type":{}}}}`
		ofEnv         = `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"agent\"}":{` + env + `}}}}}}`
	)
	before := strings.Replace(setYAML, "image: acme/agent:1", "image: acme/agent:1\n        env: [{name: A, value: a}]", 1)
	before = strings.Replace(before, "name: agent\n", "name: agent\n  labels: {was: here}\n", 1)
	both := func(c ...func(*appsv1.DaemonSet)) []func(*appsv1.DaemonSet) { return c }
	noVariable := func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.Containers[0].Env = nil }
	noLabel := func(ds *appsv1.DaemonSet) { ds.Labels = nil }
	onDelete := func(ds *appsv1.DaemonSet) { ds.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType }
	byHand := strings.Replace(setYAML, "spec:\n  selector", "spec:\n  updateStrategy: {type: OnDelete}\n  selector", 1)
	for _, tt := range []struct {
		live   []func(*appsv1.DaemonSet)
		text   string
		method manifest.Method
		want   []func(*appsv1.DaemonSet) // the expected changes of the live object
		why    string
	}{
		{nil, setYAML, manifest.MethodOverlay, nil, "who wrote what is not known: nothing is removed"},
		{both(lastApplied(t, before)), setYAML, manifest.MethodLastApplied, both(noVariable, noLabel), "what was applied before and is not any more is removed"},
		{both(lastApplied(t, setYAML)), setYAML, manifest.MethodLastApplied, nil, "what was never applied stays"},
		{
			both(lastApplied(t, strings.Replace(before, "name: agent\n", "name: agent\n  annotations: {}\n", 1)), func(ds *appsv1.DaemonSet) { ds.Annotations["some/body"] = "else" }),
			setYAML, manifest.MethodLastApplied, both(noVariable, noLabel), "kubectl keeps empty annotations in what it applied, and removes nobody's for it",
		},
		{both(lastApplied(t, before), managed("helm", update, 1, noEnv)), setYAML, manifest.MethodLastApplied, both(noVariable, noLabel), "the annotation is asked first"},
		{both(managed("kubectl", apply, 1, whole)), setYAML, manifest.MethodManagedFields, both(noVariable, noLabel), "what a server-side applier owns and applies no more is removed"},
		{both(managed("kubectl", apply, 1, whole), managed("other", update, 2, ofEnv)), setYAML, manifest.MethodManagedFields, both(noLabel), "but not what somebody else owns as well"},
		{both(managed("kubectl", apply, 1, noEnv), managed("kubectl-edit", update, 2, ofEnv)), setYAML, manifest.MethodManagedFields, nil, "nor what somebody else wrote"},
		{both(managed("kubectl", apply, 2, noEnv), managed("helm", update, 9, whole)), setYAML, manifest.MethodManagedFields, nil, "one who applies goes before one who updates"},
		{both(managed("helm", update, 9, whole), managed("kubectl", apply, 2, noEnv)), setYAML, manifest.MethodManagedFields, nil, "in whatever order they stand"},
		{both(managed("flux", apply, 1, noEnv), managed("kubectl", apply, 2, whole)), setYAML, manifest.MethodManagedFields, both(noVariable, noLabel), "of two who apply the later one"},
		{both(managed("kubectl", apply, 2, whole), managed("flux", apply, 1, noEnv)), setYAML, manifest.MethodManagedFields, both(noVariable, noLabel), "in whatever order"},
		{both(managed("helm", update, 1, whole)), setYAML, manifest.MethodManagedFields, both(noVariable, noLabel), "one who updates is known by what he owns"},
		{both(managed("helm", update, 1, whole), managed("kubectl-edit", update, 2, whole)), setYAML, manifest.MethodManagedFields, both(noVariable, noLabel), "one who edits does not apply"},
		{both(managed("kubectl-create", update, 1, whole)), setYAML, manifest.MethodOverlay, nil, "nor does kubectl create, which keeps nothing"},
		{both(managed("vpa", apply, 1, ofEnv)), setYAML, manifest.MethodOverlay, nil, "one who has a field is not the one who has the object"},
		{both(managed("helm", update, 1, noEnv)), strings.Replace(setYAML, "        image: acme/agent:1\n", "        image: acme/agent\n", 1), manifest.MethodManagedFields,
			both(func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.Containers[0].Image = "acme/agent" }), "a default that the server recorded as an updater's own is not set anew"},
		{both(managed("helm", update, 1, strategy)), byHand, manifest.MethodManagedFields, both(onDelete), "and stays where the rest of its object is default, too"},
		{both(managed("helm", update, 1, strategy), onDelete), byHand, manifest.MethodManagedFields, nil, "even where it would be none now"},
		{both(managed("helm", update, 1, strategy), func(ds *appsv1.DaemonSet) { ds.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable.IntVal = 3 }), byHand, manifest.MethodManagedFields,
			both(onDelete, func(ds *appsv1.DaemonSet) { ds.Spec.UpdateStrategy.RollingUpdate = nil }), "but one field that is none tells of an object that is gone"},
		{both(managed("helm", update, 1, `{"f:spec":{"f:selector":{},"f:template":{"f:spec":{"f:serviceAccount":{},"f:serviceAccountName":{}}}}}`), func(ds *appsv1.DaemonSet) {
			ds.Spec.Template.Spec.ServiceAccountName, ds.Spec.Template.Spec.DeprecatedServiceAccount = "sa", "sa"
		}), setYAML, manifest.MethodManagedFields, nil, "the service account comes back from the copy of its name that the server made"},
		{both(func(ds *appsv1.DaemonSet) { ds.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{} }), setYAML, manifest.MethodOverlay, nil, "what is equal in meaning is left as it is"},
		{both(func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.NodeSelector = map[string]string{} }), strings.Replace(setYAML, "spec:\n  selector", "spec:\n  minReadySeconds: 5\n  selector", 1), manifest.MethodOverlay,
			both(func(ds *appsv1.DaemonSet) { ds.Spec.MinReadySeconds = 5 }), "the template, too, when something else changes"},
		{both(lastApplied(t, before)), strings.Replace(before, "value: a", "value: b", 1), manifest.MethodLastApplied,
			both(func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.Containers[0].Env[0].Value = "b" }), "what has another value gets it"},
		{nil, strings.Replace(setYAML, "spec:\n  selector", "spec:\n  minReadySeconds: 5\n  updateStrategy: {type: OnDelete}\n  selector", 1), manifest.MethodOverlay,
			both(func(ds *appsv1.DaemonSet) {
				ds.Spec.MinReadySeconds = 5
				ds.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType
			}), "outside the template too; what is of no use any more stays"},
		{both(func(ds *appsv1.DaemonSet) {
			ds.Labels["app.kubernetes.io/managed-by"], ds.Annotations["meta.helm.sh/release-name"] = "Helm", "r"
		}, managed("helm", update, 1, `{"f:metadata":{"f:annotations":{"f:meta.helm.sh/release-name":{}},"f:labels":{"f:app.kubernetes.io/managed-by":{},"f:was":{}}},"f:spec":{"f:selector":{}}}`)),
			setYAML, manifest.MethodManagedFields, both(func(ds *appsv1.DaemonSet) { delete(ds.Labels, "was") }), "what Helm adds to its templates stays"},
		{both(managed("helm", apply, 1, `{"f:metadata":{"f:annotations":{"f:meta.helm.sh/release-name":{}}},"f:spec":{"f:selector":{}}}`), func(ds *appsv1.DaemonSet) { ds.Annotations["meta.helm.sh/release-name"] = "r" }),
			setYAML, manifest.MethodManagedFields, nil, "so it does of a Helm that applies"},
		{nil, strings.Replace(setYAML, "name: agent\n", "name: agent\n  labels: {a: b}\n  annotations: {"+appsv1.DeprecatedTemplateGeneration+": \"1\", c: d}\n", 1), manifest.MethodOverlay,
			both(func(ds *appsv1.DaemonSet) { ds.Labels["a"], ds.Annotations["c"] = "b", "d" }), "labels and annotations are added, and the server's own is not set"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			live := liveSet(t, tt.live...)
			untouched := live.DeepCopy()
			found, err := readManifests(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			raw := string(found[0].Raw)
			got, err := manifest.Overlay(live, found[0], "")
			if err != nil {
				t.Fatal(err)
			}
			want := liveSet(t, append(tt.live, tt.want...)...)
			if diff := cmp.Diff(want, got.DaemonSet); diff != "" || got.Method != tt.method {
				t.Errorf("method %s, want %s (-want +got):\n%s", got.Method, tt.method, diff)
			}
			if !equality.Semantic.DeepEqual(live, untouched) || string(found[0].Raw) != raw {
				t.Error("the input was changed")
			}
		})
	}
}

func TestOverlayErrors(t *testing.T) {
	found, err := readManifests(nodeYAML + "---\napiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(setYAML, "\n", "\n  "))
	if err != nil {
		t.Fatal(err)
	}
	twice, err := readManifests(strings.Replace(setYAML, "image:", "env: [{name: A}, {name: A}]\n        image:", 1))
	if err != nil {
		t.Fatal(err)
	}
	const unfit = "standard input: document 2: items[0]: cannot be merged with the live daemonset and what kubectl apply left in its annotation kubectl.kubernetes.io/last-applied-configuration"
	for _, tt := range []struct {
		m         manifest.Manifest
		live      func(*appsv1.DaemonSet)
		want, why string
	}{
		{found[0], func(ds *appsv1.DaemonSet) { ds.Annotations[corev1.LastAppliedConfigAnnotation] = "{cut" },
			"standard input: document 2: items[0]: the annotation kubectl.kubernetes.io/last-applied-configuration of the live daemonset is not JSON", "an annotation that is damaged"},
		{found[0], func(ds *appsv1.DaemonSet) {
			ds.Annotations[corev1.LastAppliedConfigAnnotation] = `{"spec":{"template":{"spec":{"containers":[{"env":[{"name":"A","value":"s3cret"}]}]}}}}`
		}, unfit, "one with a container that has no name, of which nothing is quoted"},
		{twice[0], func(ds *appsv1.DaemonSet) {
			ds.Annotations[corev1.LastAppliedConfigAnnotation] = `{"spec":{"template":{"spec":{"containers":[{"name":"agent","env":["s3cret"]}]}}}}`
		}, strings.Replace(unfit, "document 2: items[0]", "document 1", 1), "nor of one whose variables are no objects"},
		{twice[0], func(ds *appsv1.DaemonSet) {
			ds.Annotations[corev1.LastAppliedConfigAnnotation] = `{"spec":{"template":{"spec":{"containers":[{"name":"agent","env":[{"name":"A","$patch":"delete","value":"s3cret"}]}]}}}}`
		}, strings.Replace(unfit, "document 2: items[0]", "document 1", 1), "nor of one with the words of a patch"},
		{found[0], func(ds *appsv1.DaemonSet) {
			ds.Annotations[corev1.LastAppliedConfigAnnotation] = `{"spec":{"template":{"spec":{"containers":[null]}}}}`
		}, unfit, "nor is there an end with one that the library breaks at"},
		{twice[0], managed("kubectl", metav1.ManagedFieldsOperationApply, 1, `{"f:spec":{"f:selector":{}}}`),
			"standard input: document 1: failed to create typed patch object (kube-system/agent; apps/v1, Kind=DaemonSet): .spec.template.spec.containers[name=\"agent\"].env: duplicate entries for key [name=\"A\"]",
			"what server-side apply refuses"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			got, err := manifest.Overlay(liveSet(t, tt.live), tt.m, "")
			if e := (*source.InputError)(nil); !errors.As(err, &e) || err.Error() != tt.want {
				t.Errorf("%v, error %v\nwant %s", got, err, tt.want)
			}
		})
	}
}

// TestConflicts checks the conflicts of a server-side apply with other field managers. Each manager owns a field that
// the manifest sets.
func TestConflicts(t *testing.T) {
	const (
		apply, update = metav1.ManagedFieldsOperationApply, metav1.ManagedFieldsOperationUpdate
		selector      = `{"f:spec":{"f:selector":{}}}`
		book          = `"f:metadata":{"f:annotations":{"f:kubectl.kubernetes.io/last-applied-configuration":{}}}`
		image         = `"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"agent\"}":{"f:image":{}}}}}}`
		value         = `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"agent\"}":{"f:env":{"k:{\"name\":\"A\"}":{"f:value":{}}}}}}}}}`
		atImage       = `.spec.template.spec.containers[name="agent"].image`
		atValue       = `.spec.template.spec.containers[name="agent"].env[name="A"].value`
	)
	next := strings.Replace(setYAML, "image: acme/agent:1", "image: acme/agent:2\n        env: [{name: A, value: b}]", 1)
	both := func(c ...func(*appsv1.DaemonSet)) []func(*appsv1.DaemonSet) { return c }
	digest := func(ds *appsv1.DaemonSet) {
		ds.Spec.Template.Spec.Containers[0].Env[0].Value = "digest:0123456789abcdef"
	}
	const undo = `"kubectl-rollout" using apps/v1`
	for _, tt := range []struct {
		live  []func(*appsv1.DaemonSet)
		text  string
		apply manifest.Applying
		by    string // field manager of the apply; empty for a client-side apply
		want  []source.Conflict
		why   string
	}{
		{both(managed("kubectl", apply, 1, selector)), next, manifest.Applying{}, "kubectl", nil, "nobody else owns a field"},
		{both(managed("kubectl", apply, 1, selector), managed("kubectl-rollout", update, 5, "{"+image+"}")), next, manifest.Applying{}, "kubectl", []source.Conflict{{Field: atImage, With: undo}}, "a rollback wrote the image"},
		{both(managed("kubectl", apply, 1, selector), managed("kubectl-rollout", update, 5, "{"+image+"}")), setYAML, manifest.Applying{}, "kubectl", nil, "and to the same value"},
		{both(managed("kubectl", apply, 1, selector), managed("kubectl-rollout", update, 5, "{"+image+"}"), managed("vpa", apply, 2, value)), next, manifest.Applying{}, "kubectl",
			[]source.Conflict{{Field: atImage, With: undo}, {Field: atValue, With: `"vpa"`}}, "two managers, of whom one applies"},
		{both(managed("kubectl", apply, 1, selector), managed("kubectl-rollout", update, 5, "{"+image+"}")), next, manifest.Applying{Force: true}, "kubectl", nil, "with force"},
		{both(managed("flux", apply, 1, selector), managed("kubectl-rollout", update, 5, "{"+image+"}")), next, manifest.Applying{}, "flux", []source.Conflict{{Field: atImage, With: undo}}, "whoever applies"},
		{both(managed("flux", apply, 1, selector), managed("kubectl-rollout", update, 5, "{"+image+"}")), next, manifest.Applying{Manager: "kubectl-rollout"}, "kubectl-rollout", []source.Conflict{{Field: atImage, With: undo}},
			"one who updated before applies as another, even under the same name"},
		{both(managed("flux", apply, 1, "{"+image+"}")), next, manifest.Applying{ServerSide: true}, "kubectl", []source.Conflict{{Field: atImage, With: `"flux"`}}, "server-side, as asked for, is in kubectl's name"},
		{both(managed("flux", apply, 1, "{"+image+"}")), next, manifest.Applying{ServerSide: true, Manager: "flux"}, "flux", nil, "or in the one that is given"},
		{both(lastApplied(t, setYAML), managed("kubectl-client-side-apply", update, 1, "{"+book+","+image+"}")), next, manifest.Applying{}, "", nil, "client-side apply knows no conflicts"},
		{both(lastApplied(t, setYAML), managed("kubectl-client-side-apply", update, 5, "{"+book+","+image+"}")), next, manifest.Applying{ServerSide: true}, "kubectl", nil,
			"nor does the first server-side apply conflict with it: the annotation tells the API server that both are kubectl"},
		{both(lastApplied(t, setYAML), managed("kubectl-client-side-apply", update, 5, "{"+book+","+image+"}")), next, manifest.Applying{ServerSide: true, Manager: "ci"}, "ci",
			[]source.Conflict{{Field: atImage, With: strings.Replace(undo, "kubectl-rollout", "kubectl-client-side-apply", 1)}}, "but in another name it does"},
		{both(lastApplied(t, setYAML), managed("kubectl-client-side-apply", update, 5, "{"+book+"}"), managed("vpa", update, 5, value)), next, manifest.Applying{ServerSide: true}, "kubectl",
			[]source.Conflict{{Field: atValue, With: strings.Replace(undo, "kubectl-rollout", "vpa", 1)}}, "and with all that is not kubectl's"},
		{nil, next, manifest.Applying{ServerSide: true}, "kubectl", nil, "where no field managers are known, nothing conflicts"},
		{both(managed("kubectl", apply, 1, selector), managed("vpa", apply, 2, value), digest), next, manifest.Applying{}, "kubectl", nil, "a digest cannot be compared"},
		{both(managed("kubectl", apply, 1, selector), managed("vpa", apply, 2, value), managed("kubectl-rollout", update, 5, "{"+image+"}"), digest), next, manifest.Applying{}, "kubectl",
			[]source.Conflict{{Field: atImage, With: undo}}, "but what stands beside it can"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			found, err := readManifests(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			m := found[0]
			m.Namespace, m.As = "kube-system", tt.apply
			got, err := manifest.Overlay(liveSet(t, tt.live...), m, "")
			e := &source.ConflictError{}
			if tt.want == nil {
				if err != nil || got.Manager != tt.by || !strings.Contains(tt.text, got.DaemonSet.Spec.Template.Spec.Containers[0].Image) {
					t.Fatalf("%v, error %v", got, err)
				}
				return
			}
			if !errors.As(err, &e) {
				t.Fatalf("%v, error %v", got, err)
			}
			if diff := cmp.Diff(&source.ConflictError{Ref: m.Ref, Manager: tt.by, Conflicts: tt.want}, e); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestMigration checks that kubectl apply --server-side takes over the fields that kubectl owned from a client-side
// apply, so that the manifest can remove them.
func TestMigration(t *testing.T) {
	const owned = `{"f:metadata":{"f:annotations":{"f:kubectl.kubernetes.io/last-applied-configuration":{}},"f:labels":{"f:was":{}}}}`
	found, err := readManifests(setYAML)
	if err != nil {
		t.Fatal(err)
	}
	m := found[0]
	m.Namespace, m.As = "kube-system", manifest.Applying{ServerSide: true}
	for manager, want := range map[string]map[string]string{"kubectl-client-side-apply": nil, "other": nil} {
		got, err := manifest.Overlay(liveSet(t, lastApplied(t, setYAML), managed(manager, metav1.ManagedFieldsOperationUpdate, 1, owned)), m, "")
		if err != nil || !equality.Semantic.DeepEqual(got.DaemonSet.Labels, want) {
			t.Errorf("%s: %v, error %v", manager, got, err)
		}
	}
	got, err := manifest.Overlay(liveSet(t, managed("other", metav1.ManagedFieldsOperationUpdate, 1, `{"f:metadata":{"f:labels":{"f:was":{}}}}`)), m, "")
	if err != nil || got.DaemonSet.Labels["was"] != "here" {
		t.Errorf("what nobody applied is gone: %v, error %v", got, err)
	}
}

// TestForceClientSide checks that force has no effect on a client-side apply, which has no conflicts.
func TestForceClientSide(t *testing.T) {
	found, err := readManifests(setYAML)
	if err != nil {
		t.Fatal(err)
	}
	m := found[0]
	m.As.Force = true
	_, err = manifest.Overlay(liveSet(t, lastApplied(t, setYAML)), m, "")
	e := (*source.InputError)(nil)
	const want = "standard input: document 1: --force-conflicts is for server-side apply, and this daemonset was applied client-side"
	if !errors.As(err, &e) || err.Error() != want || e.Hint() != "--server-side --force-conflicts" {
		t.Errorf("%v", err)
	}
}
