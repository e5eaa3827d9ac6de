package whatif

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// manifest returns the Change of a manifest that differs from the live object.
func manifest(change func(*appsv1.DaemonSet)) *Change {
	ds := dstest.State("N").DaemonSet.DeepCopy()
	ds.Status, ds.UID, ds.Generation = appsv1.DaemonSetStatus{}, "", 0
	change(ds)
	return &Change{DaemonSet: ds, Method: "LastApplied"}
}

func noChange(*appsv1.DaemonSet) {}

// twoContainers adds a second container and an init container to the template.
func twoContainers() dstest.Option {
	return dstest.DaemonSet(func(ds *appsv1.DaemonSet) {
		spec := &ds.Spec.Template.Spec
		spec.Containers = append(spec.Containers, corev1.Container{Name: "proxy", Image: "example/proxy:1"})
		spec.InitContainers = []corev1.Container{{Name: "setup", Image: "example/setup:1"}}
	})
}

func noContainers() dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) { s.DaemonSet.Spec.Template.Spec.Containers = nil })
}

func noRollingUpdate() dstest.Option {
	return dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Spec.UpdateStrategy.RollingUpdate = nil })
}

// TestApply tests the effect of a change on the DaemonSet, and the Summary. The
// state has agent-new, number 2, as the current revision, agent-old, number 1,
// as the previous one, generation 2 and template generation 2.
func TestApply(t *testing.T) {
	restarted := differs("spec.template.metadata.annotations[kubectl.kubernetes.io/restartedAt]", "", `"2026-03-01T12:00:00Z"`)
	const image = "spec.template.spec.containers[name=agent].image"
	rollout := func(fields ...FieldDiff) *Summary { // to a new revision
		return &Summary{Fields: fields, TemplateChanged: true, Revision: RevisionNote{From: 2, Number: 3, New: true}, Nodes: []NodeChange{}}
	}
	settings := func(fields ...FieldDiff) *Summary { // of the same revision
		return &Summary{Fields: append([]FieldDiff{}, fields...), Revision: RevisionNote{From: 2, Number: 2, Name: "agent-new", Was: 2}, Nodes: []NodeChange{}}
	}
	by := func(method string, s *Summary) *Summary { s.Method = method; return s }
	for _, tt := range []struct {
		options []dstest.Option
		change  *Change
		want    *Summary
		moved   string // the generation and the template's generation
		why     string
	}{
		{nil, &Change{}, settings(), "2 2", "nothing asked, nothing written"},
		{nil, &Change{Images: []Image{{"agent", "example/agent:3"}}}, rollout(differs(image, `"example/agent:2"`, `"example/agent:3"`)), "3 3", "an image"},
		{nil, &Change{Images: []Image{{"", "example/agent:3"}}}, rollout(differs(image, `"example/agent:2"`, `"example/agent:3"`)), "3 3", "of the only container"},
		{nil, &Change{Images: []Image{{"agent", "example/agent:2"}}}, settings(), "2 2", "the image that it has"},
		{nil, &Change{Images: []Image{{"agent", "example/agent:1"}}}, &Summary{
			Fields: []FieldDiff{differs(image, `"example/agent:2"`, `"example/agent:1"`)}, TemplateChanged: true,
			Revision: RevisionNote{From: 2, Number: 3, Name: "agent-old", Was: 1}, Nodes: []NodeChange{},
		}, "3 3", "the image of before: a rollback, whoever asks for it"},
		{[]dstest.Option{twoContainers()}, &Change{Images: []Image{{"setup", "example/setup:2"}, {"proxy", "example/proxy:2"}}}, rollout(
			differs("spec.template.spec.containers[name=proxy].image", `"example/proxy:1"`, `"example/proxy:2"`),
			differs("spec.template.spec.initContainers[name=setup].image", `"example/setup:1"`, `"example/setup:2"`),
		), "3 3", "several, and of an init container: one write"},
		{[]dstest.Option{twoContainers()}, &Change{Images: []Image{{"*", "x"}}}, rollout(
			differs(image, `"example/agent:2"`, `"x"`),
			differs("spec.template.spec.containers[name=proxy].image", `"example/proxy:1"`, `"x"`),
			differs("spec.template.spec.initContainers[name=setup].image", `"example/setup:1"`, `"x"`),
		), "3 3", "all"},
		{nil, &Change{Restart: true}, rollout(restarted), "3 3", "a restart, by the snapshot's clock"},

		{nil, &Change{ToRevision: new(int64(1))}, &Summary{
			Fields: []FieldDiff{differs(image, `"example/agent:2"`, `"example/agent:1"`)}, TemplateChanged: true,
			Revision: RevisionNote{From: 2, Number: 3, Name: "agent-old", Was: 1}, Nodes: []NodeChange{},
		}, "3 3", "a rollback gives an old revision the next number"},
		{nil, &Change{ToRevision: new(int64(0))}, &Summary{
			Fields: []FieldDiff{differs(image, `"example/agent:2"`, `"example/agent:1"`)}, TemplateChanged: true,
			Revision: RevisionNote{From: 2, Number: 3, Name: "agent-old", Was: 1}, Nodes: []NodeChange{},
		}, "3 3", "0 is the one before"},
		{nil, &Change{ToRevision: new(int64(2))}, settings(), "2 2", "a rollback to where it is"},
		{[]dstest.Option{dstest.AddRevision("other", 1, "example/other:1")}, &Change{ToRevision: new(int64(1))}, &Summary{
			Fields: []FieldDiff{differs(image, `"example/agent:2"`, `"example/agent:1"`)}, TemplateChanged: true,
			Revision: RevisionNote{From: 2, Number: 3, Name: "agent-old", Was: 1}, Nodes: []NodeChange{},
		}, "3 3", "of two with one number the first by name, as the API server lists them"},
		{[]dstest.Option{dstest.Version("v1.30.4")}, &Change{ToRevision: new(int64(1))}, &Summary{
			Fields: []FieldDiff{differs(image, `"example/agent:2"`, `"example/agent:1"`)}, TemplateChanged: true,
			Revision: RevisionNote{From: 2, Number: 3, Name: "agent-old", Was: 1}, Nodes: []NodeChange{},
		}, "3 3", "as older controllers store it"},
		{[]dstest.Option{dstest.Edit(func(s *snapshot.Snapshot) { s.Revisions = s.Revisions[:1] })}, &Change{MinReadySeconds: new(int32(5))}, &Summary{
			Fields: []FieldDiff{differs("spec.minReadySeconds", "", "5")}, Revision: RevisionNote{Number: 2, New: true}, Nodes: []NodeChange{},
		}, "3 2", "where the current revision is not cut yet, there is none to come from"},
		{[]dstest.Option{dstest.Lacks(snapshot.Revisions, snapshot.Forbidden)}, &Change{MinReadySeconds: new(int32(5))}, &Summary{
			Fields: []FieldDiff{differs("spec.minReadySeconds", "", "5")}, Nodes: []NodeChange{},
		}, "3 2", "nor where the revisions could not be read"},

		{nil, &Change{MinReadySeconds: new(int32(30))}, settings(differs("spec.minReadySeconds", "", "30")), "3 2", "what is not the template rolls nothing"},
		{nil, &Change{MinReadySeconds: new(int32(30)), Restart: true, MaxUnavailable: dstest.Limit("10%")}, rollout(
			differs("spec.minReadySeconds", "", "30"),
			restarted,
			differs("spec.updateStrategy.rollingUpdate.maxUnavailable", "1", `"10%"`),
		), "3 3", "all of it is one write"},
		{nil, &Change{MaxUnavailable: dstest.Limit("1")}, settings(), "2 2", "the limit that it has"},
		{nil, &Change{MaxUnavailable: dstest.Limit("0"), MaxSurge: dstest.Limit("1")}, settings(
			differs("spec.updateStrategy.rollingUpdate.maxSurge", "0", "1"),
			differs("spec.updateStrategy.rollingUpdate.maxUnavailable", "1", "0"),
		), "3 2", "from one kind of budget to the other"},
		{[]dstest.Option{dstest.Version("v1.20.4")}, &Change{MaxUnavailable: dstest.Limit("2")}, settings(differs("spec.updateStrategy.rollingUpdate.maxUnavailable", "1", "2")), "3 2", "a version without maxSurge"},
		{nil, &Change{Strategy: "OnDelete"}, settings(differs("spec.updateStrategy.type", `"RollingUpdate"`, `"OnDelete"`)), "3 2", "the API server leaves the limits of an OnDelete alone"},
		{[]dstest.Option{dstest.OnDelete()}, &Change{Strategy: "RollingUpdate"}, settings(
			differs("spec.updateStrategy.rollingUpdate", "", `{"maxSurge":0,"maxUnavailable":1}`),
			differs("spec.updateStrategy.type", `"OnDelete"`, `"RollingUpdate"`),
		), "3 2", "and defaults those of a RollingUpdate"},
		{[]dstest.Option{dstest.OnDelete(), dstest.Version("v1.20.4")}, &Change{Strategy: "RollingUpdate"}, settings(
			differs("spec.updateStrategy.rollingUpdate", "", `{"maxUnavailable":1}`),
			differs("spec.updateStrategy.type", `"OnDelete"`, `"RollingUpdate"`),
		), "3 2", "with what the version knows"},
		{[]dstest.Option{dstest.OnDelete()}, &Change{Strategy: "RollingUpdate", MaxUnavailable: dstest.Limit("25%")}, settings(
			differs("spec.updateStrategy.rollingUpdate", "", `{"maxSurge":0,"maxUnavailable":"25%"}`),
			differs("spec.updateStrategy.type", `"OnDelete"`, `"RollingUpdate"`),
		), "3 2", "or what is given"},
		{[]dstest.Option{dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Spec.UpdateStrategy.Type = "OnDelete" })}, &Change{Strategy: "RollingUpdate"}, settings(
			differs("spec.updateStrategy.type", `"OnDelete"`, `"RollingUpdate"`),
		), "3 2", "limits that an OnDelete kept hold again"},
		{[]dstest.Option{dstest.OnDelete()}, &Change{MaxUnavailable: dstest.Limit("3")}, settings(
			differs("spec.updateStrategy.rollingUpdate", "", `{"maxSurge":0,"maxUnavailable":3}`),
		), "3 2", "an OnDelete may be given limits, which mean nothing yet"},
		{[]dstest.Option{dstest.OnDelete()}, &Change{MaxSurge: dstest.Limit("3")}, settings(
			differs("spec.updateStrategy.rollingUpdate", "", `{"maxSurge":3,"maxUnavailable":0}`),
		), "3 2", "without the default of a RollingUpdate"},
		{[]dstest.Option{noRollingUpdate()}, &Change{MaxUnavailable: dstest.Limit("3")}, settings(
			differs("spec.updateStrategy.rollingUpdate", "", `{"maxSurge":0,"maxUnavailable":3}`),
		), "3 2", "a RollingUpdate without limits, as in a file, gets all"},

		{nil, &Change{Tolerations: []corev1.Toleration{{Key: "gpu", Operator: "Exists"}}}, rollout(
			differs("spec.template.spec.tolerations", "", `[{"key":"gpu","operator":"Exists"}]`),
		), "3 3", "a toleration"},
		{[]dstest.Option{dstest.DaemonSet(func(ds *appsv1.DaemonSet) {
			ds.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "gpu", Operator: "Exists"}}
		})}, &Change{Tolerations: []corev1.Toleration{{Key: "gpu", Operator: "Exists"}}}, settings(), "2 2", "that it has"},
		{[]dstest.Option{dstest.Patch("daemonset", `{"spec":{"template":{"spec":{"nodeSelector":{"disk":"ssd","zone":"a"}}}}}`)},
			&Change{NodeSelector: map[string]string{"zone": "b", "gpu": ""}, DropSelector: []string{"disk"}}, rollout(
				differs("spec.template.spec.nodeSelector.disk", `"ssd"`, ""),
				differs("spec.template.spec.nodeSelector.gpu", "", `""`),
				differs("spec.template.spec.nodeSelector.zone", `"a"`, `"b"`),
			), "3 3", "keys of the nodeSelector that come, go and change"},
		{nil, &Change{NodeSelector: map[string]string{"disk": "ssd"}}, rollout(differs("spec.template.spec.nodeSelector.disk", "", `"ssd"`)), "3 3", "the first key"},

		{nil, manifest(noChange), by("LastApplied", settings()), "2 2", "the same manifest again"},
		{nil, manifest(func(ds *appsv1.DaemonSet) {
			ds.Annotations = nil
			ds.Status.DesiredNumberScheduled = 7
			ds.Generation = 9
		}),
			by("LastApplied", settings()), "2 2", "what the API server keeps is not a manifest's to change"},
		{nil, manifest(func(ds *appsv1.DaemonSet) {
			ds.Annotations[appsv1.DeprecatedTemplateGeneration] = "7"
			ds.Spec.MinReadySeconds = 1
		}),
			by("LastApplied", settings(differs("spec.minReadySeconds", "", "1"))), "3 2", "nor the template's generation"},
		{nil, manifest(func(ds *appsv1.DaemonSet) { ds.Annotations[corev1.LastAppliedConfigAnnotation] = "{}" }),
			by("LastApplied", settings()), "2 2", "nor is what kubectl apply keeps a change"},
		{nil, manifest(func(ds *appsv1.DaemonSet) { ds.Labels = map[string]string{"a": "b"}; ds.Annotations["c"] = "d" }), by("LastApplied", settings(
			differs("metadata.annotations.c", "", `"d"`), differs("metadata.labels.a", "", `"b"`),
		)), "2 2", "labels and annotations are no new generation"},
		{nil, manifest(func(ds *appsv1.DaemonSet) {
			ds.Spec.Template.Spec.Tolerations = []corev1.Toleration{}
			ds.Spec.Template.Annotations = map[string]string{}
		}), by("LastApplied", settings()), "2 2", "empty is as good as absent"},
		{nil, func() *Change { c := manifest(noChange); c.Images = []Image{{"agent", "x"}}; return c }(), by("LastApplied", rollout(
			differs(image, `"example/agent:2"`, `"x"`),
		)), "3 3", "flags go on top of a manifest"},
		{[]dstest.Option{dstest.DaemonSet(func(ds *appsv1.DaemonSet) {
			ds.Spec.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"memory": resource.MustParse("1Gi")}
		})}, manifest(func(ds *appsv1.DaemonSet) {
			ds.Spec.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"memory": resource.MustParse("1024Mi")}
		}), by("LastApplied", settings()), "2 2", "the same amount in other words, which is stored alike"},
		{[]dstest.Option{dstest.DaemonSet(func(ds *appsv1.DaemonSet) {
			ds.Spec.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"memory": resource.MustParse("1Gi")}
		})}, manifest(func(ds *appsv1.DaemonSet) {
			ds.Spec.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"memory": resource.MustParse("1073741824")}
		}), by("LastApplied", rollout(differs("spec.template.spec.containers[name=agent].resources.requests.memory", `"1Gi"`, `"1073741824"`))),
			"2 2", "that is stored otherwise: a new revision, which the API server does not call a change"},

		{[]dstest.Option{dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Annotations = nil })}, &Change{Restart: true},
			rollout(restarted), "3 ", "without a template generation there is none to raise"},
		{[]dstest.Option{dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Annotations[appsv1.DeprecatedTemplateGeneration] = "two" })}, &Change{Restart: true},
			rollout(restarted), "3 two", "nor one that is no number"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := dstest.State("N", tt.options...)
			after, got, err := tt.change.applied(s)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			moved := fmt.Sprint(after.DaemonSet.Generation, " ", after.DaemonSet.Annotations[appsv1.DeprecatedTemplateGeneration])
			if moved != tt.moved {
				t.Errorf("generations %q, want %q", moved, tt.moved)
			}
			if len(got.Fields) == 0 && after.DaemonSet != s.DaemonSet {
				t.Error("the DaemonSet is another, though nothing differs")
			}
			if diff := cmp.Diff(s.DaemonSet.Status, after.DaemonSet.Status); diff != "" {
				t.Errorf("the status changed:\n%s", diff)
			}
		})
	}
}

func TestApplyRefuses(t *testing.T) {
	for _, tt := range []struct {
		options    []dstest.Option
		change     *Change
		want, hint string
		why        string
	}{
		{nil, &Change{Images: []Image{{"agnet", "x"}}}, `the template has no container "agnet": it has agent`, "images [{agent x}]", "an image of no container"},
		{[]dstest.Option{twoContainers()}, &Change{Images: []Image{{"", "x"}}}, `the template has 2 containers: say whose image is "x": agent, proxy, setup`, "images [{agent x}]", "an image of one of several"},
		{nil, &Change{Images: []Image{{"agent", "x"}, {"", "y"}}}, `container "agent" is to have the image "x" and "y"`, "", "two images of the only container"},
		{[]dstest.Option{noContainers()}, &Change{Images: []Image{{"", "x"}}}, "the template has no containers, so there is no image to change", "", "no container at all"},
		{[]dstest.Option{noContainers()}, &Change{Images: []Image{{"agent", "x"}}}, "the template has no containers, so there is no image to change", "", "no container at all, and one is named"},
		{[]dstest.Option{noContainers()}, &Change{Images: []Image{{"*", "x"}}}, "the template has no containers, so there is no image to change", "", "no container at all, and all are meant"},
		{nil, &Change{Images: []Image{{"agent", ""}}}, `DaemonSet.apps "agent" is invalid: spec.template.spec.containers[0].image: Required value`, "", "no image"},
		{nil, &Change{ToRevision: new(int64(7))}, `daemonset kube-system/agent has no revision 7: it has 1, 2`, "revision 1", "a revision that does not exist"},
		{nil, &Change{ToRevision: new(int64(-1))}, `daemonset kube-system/agent has no revision -1: it has 1, 2`, "revision 1", "one that cannot"},
		{[]dstest.Option{dstest.AddRevision("third", 10, "x"), dstest.AddRevision("twin", 1, "y")}, &Change{ToRevision: new(int64(3))}, `daemonset kube-system/agent has no revision 3: it has 1, 2, 10`, "revision 2", "by number, each once"},
		{[]dstest.Option{dstest.Patch("revisions/agent-old", "null")}, &Change{ToRevision: new(int64(0))}, `daemonset kube-system/agent has no revision before the current one: it has 2`, "", "none before"},
		{[]dstest.Option{dstest.Patch("revisions/agent-old", "null"), dstest.Patch("revisions/agent-new", `{"revision":0}`)}, &Change{ToRevision: new(int64(0))}, `daemonset kube-system/agent has no revision before the current one: it has 0`, "", "not even where the only one has the number 0"},
		{[]dstest.Option{dstest.Patch("revisions/agent-old", `{"metadata":{"ownerReferences":null}}`)}, &Change{ToRevision: new(int64(1))}, `revision 1, controllerrevision agent-old, has no owner yet: kubectl does not see it until the next sync has adopted it`, "", "one that is nobody's, which kubectl does not see"},
		{[]dstest.Option{dstest.Lacks(snapshot.Revisions, snapshot.Forbidden)}, &Change{ToRevision: new(int64(1))}, `the controllerrevisions could not be read, which tell what a rollback goes back to: Forbidden`, "controllerrevisions in kube-system: Forbidden", "revisions that could not be read"},
		{[]dstest.Option{dstest.Lacks(snapshot.Revisions, snapshot.NotGiven)}, &Change{ToRevision: new(int64(1))}, `the controllerrevisions could not be read, which tell what a rollback goes back to: NotGiven`, "controllerrevisions in kube-system: NotGiven", "that a dump lacks"},
		{[]dstest.Option{dstest.Patch("revisions/agent-old", `{"data":{"spec":{"template":{},"paused":true}}}`)}, &Change{ToRevision: new(int64(1))}, `revision 1, controllerrevision agent-old: data: not a patch of spec.template alone`, "", "a revision that holds something else"},
		{nil, &Change{DropSelector: []string{"disk"}}, `the template's nodeSelector has no key "disk": it has none`, "", "a key to remove that is not there"},
		{[]dstest.Option{dstest.Version("v1.20.4")}, &Change{MaxSurge: dstest.Limit("1")}, `maxSurge: Kubernetes v1.20.4 does not have it, v1.22 was the first`, "", "maxSurge before its time"},

		{nil, &Change{MaxSurge: dstest.Limit("1")}, `DaemonSet.apps "agent" is invalid: spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero`, "maxUnavailable 0", "maxSurge beside the maxUnavailable that it has"},
		{nil, &Change{MaxSurge: dstest.Limit("1"), MaxUnavailable: dstest.Limit("1")}, `DaemonSet.apps "agent" is invalid: spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero`, "maxUnavailable 0", "both"},
		{[]dstest.Option{dstest.MaxSurge("20%")}, &Change{MaxUnavailable: dstest.Limit("1")}, `DaemonSet.apps "agent" is invalid: spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "20%": may not be set when maxUnavailable is non-zero`, "maxSurge 0", "maxUnavailable beside the maxSurge that it has"},
		{nil, &Change{MaxUnavailable: dstest.Limit("0")}, `DaemonSet.apps "agent" is invalid: spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0`, "maxSurge 1", "neither"},
		{[]dstest.Option{dstest.MaxSurge("1")}, &Change{MaxSurge: dstest.Limit("0%")}, `DaemonSet.apps "agent" is invalid: spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0`, "maxUnavailable 1", "the other way round"},
		{nil, &Change{Strategy: "Recreate"}, `DaemonSet.apps "agent" is invalid: spec.updateStrategy: Unsupported value: {"Type":"Recreate","RollingUpdate":{"MaxUnavailable":1,"MaxSurge":0}}: supported values: "RollingUpdate", "OnDelete"`, "", "a strategy of others"},
		{nil, manifest(func(ds *appsv1.DaemonSet) {
			ds.Spec.Selector.MatchLabels["tier"] = "x"
			ds.Spec.Template.Labels["tier"] = "x"
		}),
			`DaemonSet.apps "agent" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"agent","tier":"x"}}: field is immutable`, "", "another selector"},

		{[]dstest.Option{dstest.Lacks(snapshot.Nodes, snapshot.NotGiven)}, &Change{NodeSelector: map[string]string{"a": "b"}}, `the nodes could not be read, which tell where pods would have to go: NotGiven`, "nodes in : NotGiven", "another placement without nodes"},
		{[]dstest.Option{dstest.Lacks(snapshot.Nodes, snapshot.Forbidden)}, &Change{Tolerations: []corev1.Toleration{{Operator: "Exists"}}}, `the nodes could not be read, which tell where pods would have to go: Forbidden`, "nodes in : Forbidden", "which is not allowed"},
		{[]dstest.Option{dstest.Lacks(snapshot.Nodes, snapshot.Failed)}, manifest(func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.HostNetwork = true }), `the nodes could not be read, which tell where pods would have to go: Failed`, "nodes in : Failed", "or failed"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := dstest.State("N", tt.options...)
			after, sum, err := tt.change.applied(s)
			if err == nil {
				t.Fatalf("not refused: %+v", sum)
			}
			if after != nil || sum != nil {
				t.Error("refused, and yet there is something")
			}
			if err.Error() != tt.want {
				t.Errorf("%s\nwant\n%s", err, tt.want)
			}
			if got := offered(err); got != tt.hint {
				t.Errorf("hint %q, want %q", got, tt.hint)
			}
		})
	}
}

// offered formats the alternative in an error.
func offered(err error) string {
	var (
		invalid *Invalid
		refused *Error
		lacking *LackingError
		instead *Change
	)
	switch {
	case errors.As(err, &lacking):
		return strings.TrimSuffix(fmt.Sprintf("%s in %s: %s", lacking.What, lacking.Of, lacking.Gap.Why), " ")
	case errors.As(err, &invalid):
		instead = invalid.Instead
	case errors.As(err, &refused) && refused.Nodes != nil:
		if refused.Nodes.Selector {
			return "nodes by labels " + refused.Nodes.Which
		}
		return strings.Join(append([]string{"nodes near " + refused.Nodes.Which + ":"}, refused.Nodes.Near...), " ")
	case errors.As(err, &refused):
		instead = refused.Instead
	}
	switch {
	case instead == nil:
		return ""
	case instead.MaxUnavailable != nil:
		return "maxUnavailable " + instead.MaxUnavailable.String()
	case instead.MaxSurge != nil:
		return "maxSurge " + instead.MaxSurge.String()
	case instead.ToRevision != nil:
		return fmt.Sprint("revision ", *instead.ToRevision)
	}
	return fmt.Sprint("images ", instead.Images)
}

// applied applies the change to the State of a Snapshot, and returns parts of
// the Result.
func (c *Change) applied(s *snapshot.Snapshot) (*snapshot.Snapshot, *Summary, error) {
	st, err := daemonset.StateOf(s)
	if err != nil {
		return nil, nil, err
	}
	r, err := Make(st, c)
	if err != nil {
		return nil, nil, err
	}
	return r.State.Snapshot, r.Summary, nil
}

func stateOf(t testing.TB, s *snapshot.Snapshot) *daemonset.State {
	t.Helper()
	st, err := daemonset.StateOf(s)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// TestApplyWithoutNodes checks that a change that does not affect placement
// needs no nodes.
func TestApplyWithoutNodes(t *testing.T) {
	s := dstest.State("N", dstest.Lacks(snapshot.Nodes, snapshot.Forbidden))
	for _, c := range []*Change{{Restart: true}, {MaxUnavailable: dstest.Limit("2")}, {ToRevision: new(int64(1))}} {
		if _, _, err := c.applied(s); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestRollbackIsExact checks that a rollback stores exactly the bytes of the
// revision, so that the controller finds it.
func TestRollbackIsExact(t *testing.T) {
	id := int64(1<<62 + 1)
	odd := dstest.DaemonSet(func(ds *appsv1.DaemonSet) {
		ds.Spec.Template.CreationTimestamp = metav1.NewTime(dstest.Now)
		ds.Spec.Template.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: &id}
		ds.Spec.Template.Spec.Containers[0].Args = []string{"<a>&b", "\u2028"}
	})
	for _, version := range []string{dstest.Newest, "v1.30.4"} {
		s := dstest.State("N", dstest.Version(version), odd)
		s.DaemonSet.Spec.Template.Spec.Containers[0].Args = []string{"another"} // after the revisions were stored
		s.DaemonSet.Spec.Template.Annotations = map[string]string{"example.com/restarted": "later"}
		after, sum, err := (&Change{ToRevision: new(int64(2))}).applied(s)
		if err != nil {
			t.Fatal(err)
		}
		if want := (RevisionNote{Number: 2, Name: "agent-new", Was: 2}); sum.Revision != want || !sum.TemplateChanged {
			t.Errorf("%s: %+v, want %+v", version, sum.Revision, want)
		}
		stored, err := template.Stored(s.Revisions[slices.IndexFunc(s.Revisions, func(r appsv1.ControllerRevision) bool { return r.Revision == 2 })].Data.Raw)
		if err != nil {
			t.Fatal(err)
		}
		live, err := template.Of(&after.DaemonSet.Spec.Template, version != dstest.Newest)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(stored, live); diff != "" {
			t.Errorf("%s: (-stored +live):\n%s", version, diff)
		}
	}
}

// TestApplyLeavesTheChange checks that a change can be applied again, with the
// same result.
func TestApplyLeavesTheChange(t *testing.T) {
	c := manifest(func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.NodeSelector = map[string]string{"a": "b"} })
	c.Restart, c.NodeSelector, c.DropSelector = true, map[string]string{"c": "d"}, []string{"a"}
	before := c.DaemonSet.DeepCopy()
	var summaries []*Summary
	for range 2 {
		_, sum, err := c.applied(dstest.State("N"))
		if err != nil {
			t.Fatal(err)
		}
		summaries = append(summaries, sum)
	}
	if diff := cmp.Diff(before, c.DaemonSet); diff != "" {
		t.Errorf("the manifest changed:\n%s", diff)
	}
	if diff := cmp.Diff(summaries[0], summaries[1]); diff != "" {
		t.Errorf("the second time (-first +second):\n%s", diff)
	}
}

func differs(path, old, new string) FieldDiff {
	return FieldDiff{Path: template.ParsePath(path), Old: template.ParseValue(old), New: template.ParseValue(new)}
}

// TestRollbackIsDefaulted checks that a revision that predates a default of the
// API server gets it in a rollback, and therefore does not match its own
// content.
func TestRollbackIsDefaulted(t *testing.T) {
	const byDefault = `,"terminationMessagePolicy":"File"`
	for _, tt := range []struct {
		live, old func(*corev1.PodTemplateSpec)
		stored    string // what the revision lacks
		want      string
		why       string
	}{
		{served, image("example/agent:1"), "", "changed true, revision 3 was 1", "one with all defaults is taken up"},
		{served, image("example/agent:1"), byDefault, "changed true, revision 3 new", "one without a default is not"},
		{served, image("example/agent:2"), byDefault, "changed false, revision 2 was 2", "and where nothing but that is missing, nothing comes of it"},
		{unserved, image("example/agent:1"), "", "changed true, revision 3 was 1", "a live template without defaults comes from no server: neither has them"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := dstest.State("N", dstest.DaemonSet(func(ds *appsv1.DaemonSet) { tt.live(&ds.Spec.Template) }))
			old := s.DaemonSet.Spec.Template.DeepCopy()
			tt.old(old)
			content, err := template.Of(old, false)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := json.Marshal(map[string]any{"spec": map[string]any{"template": content}})
			if err != nil {
				t.Fatal(err)
			}
			if tt.stored != "" && !strings.Contains(string(raw), tt.stored) {
				t.Fatalf("%s is not in %s", tt.stored, raw)
			}
			i := slices.IndexFunc(s.Revisions, func(r appsv1.ControllerRevision) bool { return r.Revision == 1 })
			s.Revisions[i].Data.Raw = []byte(strings.Replace(string(raw), tt.stored, "", 1))
			_, sum, err := (&Change{ToRevision: new(int64(1))}).applied(s)
			if err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprintf("changed %v, revision %d was %d", sum.TemplateChanged, sum.Revision.Number, sum.Revision.Was)
			if sum.Revision.New {
				got = fmt.Sprintf("changed %v, revision %d new", sum.TemplateChanged, sum.Revision.Number)
			}
			if got != tt.want {
				t.Errorf("%s, want %s: %+v", got, tt.want, sum)
			}
		})
	}
}

func served(t *corev1.PodTemplateSpec) { template.Default(t, dstest.Newest) }

func unserved(*corev1.PodTemplateSpec) {}

func image(name string) func(*corev1.PodTemplateSpec) {
	return func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Image = name }
}
