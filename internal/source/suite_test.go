package source_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/dump"
	"github.com/kubectl-ds/kubectl-ds/internal/source/part"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// reader is the interface that Cluster and Dump have in common.
type reader interface {
	Read(context.Context, source.Ref) (*snapshot.Snapshot, error)
	ReadAll(context.Context, source.Filter) ([]*snapshot.Snapshot, error)
	DaemonSets(context.Context, string) ([]appsv1.DaemonSet, error)
	Nodes(context.Context) ([]part.Labeled, error)
	Namespaces(context.Context) ([]string, error)
	Revisions(context.Context, source.Ref) ([]appsv1.ControllerRevision, time.Time, error)
	AddOtherPods(context.Context, []*snapshot.Snapshot, []string) ([]*snapshot.Snapshot, error)
	AddAdmission(context.Context, ...part.Creation) ([]*snapshot.Snapshot, error)
	AddVolumes(ctx context.Context, s *snapshot.Snapshot, claims, nodes []string) (*snapshot.Snapshot, error)
	AddController(context.Context, []*snapshot.Snapshot) ([]*snapshot.Snapshot, error)
}

// sources reads the same world from every kind of input.
var sources = []struct {
	name string
	open func(*testing.T, world) reader
}{
	{"cluster", func(t *testing.T, w world) reader { return newCluster(t, newAPIServer(t, w)) }},
	{"list in YAML", func(t *testing.T, w world) reader { return openText(t, "dump.yaml", asYAML(t, mixedList(w))) }},
	{"list in JSON", func(t *testing.T, w world) reader { return openText(t, "dump.json", asJSON(t, mixedList(w))) }},
	{"documents in YAML", func(t *testing.T, w world) reader {
		var b bytes.Buffer
		for _, o := range w {
			b.WriteString("---\n")
			b.Write(asYAML(t, typed(o)))
		}
		return openText(t, "dump.yaml", b.Bytes())
	}},
	{"documents in JSON", func(t *testing.T, w world) reader {
		var b bytes.Buffer
		for _, o := range w {
			b.Write(asJSON(t, typed(o)))
		}
		return openText(t, "dump.json", b.Bytes())
	}},
	{"typed lists in a folder", func(t *testing.T, w world) reader {
		dir := t.TempDir()
		for resource := range kindsOf {
			for i, extension := range []string{".json", ".yaml"} {
				write(t, filepath.Join(dir, "some", "where", resource+extension), typedList(t, w, resource, i, extension))
			}
		}
		return open(t, dir)
	}},
}

// mixedList returns the output of "kubectl get ds,nodes,pods -o yaml".
func mixedList(w world) map[string]any {
	items := []any{}
	for _, o := range w {
		items = append(items, typed(o))
	}
	return map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{"resourceVersion": ""}, "items": items}
}

var kindsOf = map[string]string{
	"daemonsets": "DaemonSet", "controllerrevisions": "ControllerRevision", "nodes": "Node", "pods": "Pod", "events": "Event", "poddisruptionbudgets": "PodDisruptionBudget",
	"namespaces": "Namespace", "serviceaccounts": "ServiceAccount", "resourcequotas": "ResourceQuota", "limitranges": "LimitRange",
	"priorityclasses": "PriorityClass", "runtimeclasses": "RuntimeClass",
	"validatingwebhookconfigurations": "ValidatingWebhookConfiguration", "mutatingwebhookconfigurations": "MutatingWebhookConfiguration",
	"validatingadmissionpolicies": "ValidatingAdmissionPolicy", "validatingadmissionpolicybindings": "ValidatingAdmissionPolicyBinding",
	"mutatingadmissionpolicies": "MutatingAdmissionPolicy", "mutatingadmissionpolicybindings": "MutatingAdmissionPolicyBinding",
	"persistentvolumeclaims": "PersistentVolumeClaim", "persistentvolumes": "PersistentVolume", "csinodes": "CSINode",
	"kubecontrollermanagers": "KubeControllerManager", "leases": "Lease",
}

// typedList returns the output of "kubectl get --raw" for every second object. Its items have no kind. In YAML, the
// kind of the list comes after them.
func typedList(t *testing.T, w world, resource string, half int, extension string) []byte {
	kind := kindsOf[resource]
	items := []any{}
	for i, o := range w {
		if resourceOf(o) == resource && i%2 == half {
			items = append(items, o)
		}
	}
	group := "v1"
	switch kind {
	case "DaemonSet", "ControllerRevision":
		group = "apps/v1"
	case "PodDisruptionBudget":
		group = "policy/v1"
	case "KubeControllerManager":
		group = "operator.openshift.io/v1"
	case "CSINode":
		group = "storage.k8s.io/v1"
	case "Lease":
		group = "coordination.k8s.io/v1"
	case "PriorityClass":
		group = "scheduling.k8s.io/v1"
	case "RuntimeClass":
		group = "node.k8s.io/v1"
	case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding":
		group = "admissionregistration.k8s.io/v1"
	}
	if extension == ".yaml" {
		return asYAML(t, map[string]any{"apiVersion": group, "kind": kind + "List", "items": items})
	}
	return []byte(fmt.Sprintf(`{"kind":%q,"apiVersion":%q,"metadata":{"resourceVersion":"7"},"items":%s}`, kind+"List", group, asJSON(t, items)))
}

func asYAML(t testing.TB, o any) []byte {
	t.Helper()
	b, err := yaml.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func asJSON(t testing.TB, o any) []byte {
	t.Helper()
	b, err := json.MarshalIndent(o, "", "    ")
	if err != nil {
		t.Fatal(err)
	}
	return append(b, '\n')
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func openText(t testing.TB, name string, data []byte) reader {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	write(t, path, data)
	return open(t, path)
}

func open(t testing.TB, paths ...string) *dump.Dump {
	t.Helper()
	d, err := dump.ReadFiles(background, paths, strings.NewReader(""), nil, dump.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// outline is a Snapshot that is reduced to the names of its objects.
type outline struct {
	DaemonSet, Nodes, Pods, Revisions, Events string
}

func outlineOf(s *snapshot.Snapshot) outline {
	o := outline{DaemonSet: s.DaemonSet.Namespace + "/" + s.DaemonSet.Name}
	add := func(to *string, name string) { *to = strings.TrimSpace(*to + " " + name) }
	for i := range s.Nodes {
		add(&o.Nodes, s.Nodes[i].Name)
	}
	for i := range s.Pods {
		add(&o.Pods, s.Pods[i].Name)
	}
	for i := range s.Revisions {
		add(&o.Revisions, s.Revisions[i].Name)
	}
	for i := range s.Events {
		add(&o.Events, s.Events[i].Name)
	}
	return o
}

// clockAndVersion has the gaps of every dump.
var clockAndVersion = []snapshot.Gap{
	{What: snapshot.Version, Why: snapshot.NotGiven, Message: "the input does not say which version of Kubernetes it is from"},
	{What: snapshot.Clock, Why: snapshot.NotGiven, Message: "the input does not say when it was taken: the newest time in it is used"},
}

// asFromCluster returns a dump's Snapshot with the version of the server, and without the gaps of every dump.
func asFromCluster(s *snapshot.Snapshot) *snapshot.Snapshot {
	c := s.Under("v1.37.1", snapshot.VersionServer)
	if diff := cmp.Diff(clockAndVersion, c.Gaps); diff == "" {
		c.Gaps = nil
	}
	return c
}

func TestSourcesAgree(t *testing.T) {
	for _, tt := range []struct {
		world string
		want  []outline
		why   string
	}{
		{
			`ds a
			 node n2
			 node n1
			 pod p2 app=a owner=a ready
			 pod p1 app=a owner=a ready
			 rev r2 app=a owner=a
			 rev r1 app=a owner=a
			 event e1 about=DaemonSet/a normal`,
			[]outline{{"kube-system/a", "n1 n2", "p1 p2", "r1 r2", "e1"}},
			"everything is in order of name",
		},
		{
			`ds a
			 node n1
			 pod mine app=a owner=a ready
			 pod orphan app=a ready
			 pod foreign app=a owner=b ready
			 pod other app=b owner=b ready
			 pod away app=a owner=a ready ns=default
			 rev mine app=a owner=a
			 rev relabelled owner=a
			 rev orphan app=a
			 rev other app=b owner=b
			 rev away app=a owner=a ns=default
			 event e1 about=DaemonSet/a`,
			[]outline{{"kube-system/a", "n1", "foreign mine orphan", "mine orphan relabelled", "e1"}},
			"what matches is there whoever owns it, what belongs to others is not, nor is another namespace",
		},
		{
			`ds a
			 node n1
			 pod well app=a owner=a ready
			 pod ill app=a owner=a
			 pod ending app=a owner=a ready ending
			 rev r1 app=a owner=a
			 event e1 about=DaemonSet/a normal
			 event e2 about=DaemonSet/a aboutuid=an-earlier-one
			 event e3 about=DaemonSet/b
			 event e4 about=Pod/ill
			 event e5 about=Pod/ill normal
			 event e6 about=Pod/ill aboutuid=an-earlier-one
			 event e7 about=Pod/well
			 event e8 about=Pod/ending
			 event e9 about=Node/n1`,
			[]outline{{"kube-system/a", "n1", "ending ill well", "r1", "e1 e4 e8"}},
			"events are those about the DaemonSet, and warnings about pods that are not ready or end",
		},
		{
			`ds a
			 node n1
			 pod well app=a owner=a ready
			 pod ill app=a owner=a
			 pod ending app=a owner=a ready ending
			 rev r1 app=a owner=a
			 event e1 about=DaemonSet/a normal
			 event e2 about=Pod/ill normal reason=Pulling of=c before=9
			 event e3 about=Pod/ill normal reason=Pulling of=c before=3
			 event e4 about=Pod/ill normal reason=Pulling of=d before=60
			 event e5 about=Pod/ill normal reason=Pulled of=c before=30
			 event e6 about=Pod/ill normal reason=Started of=c
			 event e7 about=Pod/ill normal reason=SandboxChanged
			 event e8 about=Pod/ending normal reason=Killing of=c
			 event e9 about=Pod/well normal reason=Killing of=c
			 event w1 about=Pod/ill reason=Unhealthy of=c before=9
			 event w2 about=Pod/ill reason=Unhealthy of=c before=3`,
			[]outline{{"kube-system/a", "n1", "ending ill well", "r1", "e1 e3 e4 e5 e8 w1 w2"}},
			"and of those that are no warnings the newest ones about the images of a container, and about its end",
		},
		{
			`ds b
			 ds a
			 ds a ns=default uid=x
			 node n1
			 pod pa app=a owner=a
			 pod pb app=b owner=b ready
			 pod pd app=a ready ns=default
			 rev ra app=a owner=a
			 rev rb app=b owner=b
			 rev rd app=a ns=default
			 event ea about=DaemonSet/a
			 event eb about=DaemonSet/b
			 event ed about=DaemonSet/a aboutuid=x ns=default
			 event ep about=Pod/pa
			 pdb b2 selects=a
			 pdb b1 selects=a
			 pdb b3 selects=b`,
			[]outline{
				{"default/a", "n1", "pd", "rd", "ed"},
				{"kube-system/a", "n1", "pa", "ra", "ea ep"},
				{"kube-system/b", "n1", "pb", "rb", "eb"},
			},
			"of several DaemonSets each gets its own",
		},
		{
			`ds a
			 node n1
			 pod p1 app=a owner=a
			 rev r1 app=a owner=a
			 event e1 about=DaemonSet/a
			 other o1`,
			[]outline{{"kube-system/a", "n1", "p1", "r1", "e1"}},
			"other kinds are passed over",
		},
	} {
		t.Run(tt.why, func(t *testing.T) {
			w := parseWorld(t, tt.world)
			var first []*snapshot.Snapshot // from the first source, the cluster
			for _, from := range sources {
				r := from.open(t, w)
				all, err := r.ReadAll(background, source.Filter{})
				if err != nil {
					t.Fatalf("%s: %v", from.name, err)
				}
				var got []outline
				for i, s := range all {
					if err := snapshot.Validate(s); err != nil {
						t.Errorf("%s: %v", from.name, err)
					}
					one, err := r.Read(background, source.Ref{Namespace: s.DaemonSet.Namespace, Name: s.DaemonSet.Name})
					if err != nil {
						t.Fatalf("%s: %v", from.name, err)
					}
					if diff := cmp.Diff(one, s, cmpopts.EquateEmpty()); diff != "" {
						t.Errorf("%s: ReadAll differs from Read (-Read +ReadAll):\n%s", from.name, diff)
					}
					got = append(got, outlineOf(s))
					if from.name != "cluster" {
						all[i] = asFromCluster(s)
					}
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", from.name, diff)
				}
				if first == nil {
					first = all
				}
				if diff := cmp.Diff(first, all, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s differs from the cluster (-cluster +%s):\n%s", from.name, from.name, diff)
				}
			}
		})
	}
}

func TestOnlyADumpHoldsWhatIsReleased(t *testing.T) {
	w := parseWorld(t, `
		ds a
		node n1
		pod mine app=a owner=a ready
		pod relabelled owner=a ready
		rev r1 app=a owner=a
		event e1 about=DaemonSet/a`)
	for _, from := range sources {
		want := "mine relabelled"
		if from.name == "cluster" {
			want = "mine"
		}
		s, err := from.open(t, w).Read(background, source.Ref{Namespace: "kube-system", Name: "a"})
		if err != nil {
			t.Fatal(err)
		}
		if got := outlineOf(s).Pods; got != want {
			t.Errorf("%s: pods %q, want %q", from.name, got, want)
		}
	}
}

func TestPodDisruptionBudgets(t *testing.T) {
	w := parseWorld(t, `
		ds a
		node n1
		pod p1 app=a owner=a ready
		rev r1 app=a owner=a
		event e1 about=DaemonSet/a
		pdb own selects=a
		pdb of-all selects=
		pdb of-none
		pdb of-another selects=b
		pdb away selects=a ns=default
		pdb broken selects=?`)
	for _, from := range sources {
		s, err := from.open(t, w).Read(background, source.Ref{Namespace: "kube-system", Name: "a"})
		if err != nil {
			t.Fatalf("%s: %v", from.name, err)
		}
		var got []string
		for i := range s.PodDisruptionBudgets {
			b := &s.PodDisruptionBudgets[i]
			got = append(got, b.Name)
			if b.Annotations != nil || b.ManagedFields != nil || b.Status.DisruptionsAllowed != 0 || b.Spec.Selector == nil {
				t.Errorf("%s: not stripped to its spec: %+v", from.name, b)
			}
		}
		if strings.Join(got, " ") != "of-all own" {
			t.Errorf("%s: %v, want those that select the pods of the template", from.name, got)
		}
	}
}

func TestSnapshotIsStripped(t *testing.T) {
	w := parseWorld(t, `
		ds a
		node n1
		pod p1 app=a owner=a
		rev r1 app=a owner=a
		event e1 about=DaemonSet/a`)
	for _, from := range sources {
		s, err := from.open(t, w).Read(background, source.Ref{Namespace: "kube-system", Name: "a"})
		if err != nil {
			t.Fatal(err)
		}
		b, err := snapshot.Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, gone := range []string{"f:status", "an-image", "hidden", `"csi"`} {
			if bytes.Contains(b, []byte(gone)) {
				t.Errorf("%s: the snapshot holds %s", from.name, gone)
			}
		}
		if n := bytes.Count(b, []byte("fieldsV1")); n != 1 {
			t.Errorf("%s: %d objects say who owns their fields, want the DaemonSet alone", from.name, n)
		}
		for _, kept := range []string{`"manager":"kubectl"`, `"f:spec"`, `"manager":"manager"`, "deprecated.daemonset.template.generation"} {
			if !bytes.Contains(b, []byte(kept)) {
				t.Errorf("%s: the snapshot lacks %s", from.name, kept)
			}
		}
	}
}

func TestReadAllFilters(t *testing.T) {
	w := parseWorld(t, `
		ds a label=net
		ds b label=logs
		ds c ns=default label=net
		node n1
		pod p app=a owner=a ready
		rev r app=a owner=a
		event e about=DaemonSet/a`)
	net := labels.SelectorFromSet(labels.Set{"team": "net"})
	for _, tt := range []struct {
		filter source.Filter
		want   string
		why    string
	}{
		{source.Filter{}, "default/c kube-system/a kube-system/b", "no namespace means all of them"},
		{source.Filter{Namespace: "kube-system"}, "kube-system/a kube-system/b", "a namespace is a limit"},
		{source.Filter{Selector: net}, "default/c kube-system/a", "a selector asks for the DaemonSet's own labels"},
		{source.Filter{Namespace: "kube-system", Selector: net}, "kube-system/a", "both hold"},
		{source.Filter{Names: []string{"c", "a"}}, "default/c kube-system/a", "names do not choose the order"},
		{source.Filter{Namespace: "kube-system", Names: []string{"a", "c", "z"}}, "kube-system/a", "a name that is not there is no error"},
		{source.Filter{Names: []string{}}, "", "no name is none"},
		{source.Filter{Namespace: "empty"}, "", "none is no error"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			for _, from := range sources {
				all, err := from.open(t, w).ReadAll(background, tt.filter)
				if err != nil {
					t.Fatalf("%s: %v", from.name, err)
				}
				var got []string
				for _, s := range all {
					got = append(got, s.DaemonSet.Namespace+"/"+s.DaemonSet.Name)
				}
				if strings.Join(got, " ") != tt.want {
					t.Errorf("%s: %v, want %q", from.name, got, tt.want)
				}
			}
		})
	}
}

func TestNotFound(t *testing.T) {
	w := parseWorld(t, `
		ds node-exporter
		ds node-exporter-gpu
		ds kube-proxy
		ds log-of-everything
		ds log4
		ds log3
		ds log2
		ds log1
		ds a
		ds b
		ds agent ns=default
		ds agent ns=apps
		node n1`)
	for _, tt := range []struct {
		ref  source.Ref
		want source.NotFoundError
		hint string
		why  string
	}{
		{source.Ref{Namespace: "kube-system", Name: "node-exportr"}, source.NotFoundError{Near: []string{"node-exporter"}}, "did you mean node-exporter?", "one letter is missing"},
		{source.Ref{Namespace: "kube-system", Name: "exporter"}, source.NotFoundError{Near: []string{"node-exporter", "node-exporter-gpu"}}, "did you mean node-exporter, node-exporter-gpu?", "a part of the name will do"},
		{source.Ref{Namespace: "kube-system", Name: "agent"}, source.NotFoundError{Elsewhere: []string{"apps", "default"}}, "did you mean apps/agent, default/agent?", "the namespace may be what is wrong"},
		{source.Ref{Namespace: "kube-system", Name: "x"}, source.NotFoundError{Near: []string{"a", "b"}}, "did you mean a, b?", "a name of one letter is one letter from another"},
		{source.Ref{Namespace: "kube-system", Name: "zzzzzz"}, source.NotFoundError{}, "", "nothing is near"},
		{source.Ref{Namespace: "kube-system", Name: "log"}, source.NotFoundError{Near: []string{"log1", "log2", "log3"}}, "did you mean log1, log2, log3?", "three of many will do"},
		{source.Ref{Namespace: "none", Name: "kube-proxy"}, source.NotFoundError{Elsewhere: []string{"kube-system"}}, "did you mean kube-system/kube-proxy?", "near names are of that namespace only"},
		{source.Ref{Namespace: "none", Name: "kube-prxy"}, source.NotFoundError{Far: []source.Ref{{Namespace: "kube-system", Name: "kube-proxy"}}}, "did you mean kube-system/kube-proxy?", "unless nothing is near there: both may be wrong"},
		{source.Ref{Namespace: "kube-system", Name: "agnt"}, source.NotFoundError{Far: []source.Ref{{Namespace: "apps", Name: "agent"}, {Namespace: "default", Name: "agent"}}}, "did you mean apps/agent, default/agent?", "several namespaces have one"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			tt.want.Ref = tt.ref
			for _, from := range sources {
				_, err := from.open(t, w).Read(background, tt.ref)
				got, ok := err.(*source.NotFoundError)
				if !ok {
					t.Fatalf("%s: %v", from.name, err)
				}
				if len(tt.want.Near)+len(tt.want.Elsewhere) == 0 && got.Held != nil { // only a Dump sets Held
					hint := "the input has apps/agent, default/agent, kube-system/a, kube-system/b, kube-system/kube-proxy +7 more"
					if got.Hint() != hint {
						t.Errorf("%s: hint %q, want %q", from.name, got.Hint(), hint)
					}
					got.Held = nil
				}
				if diff := cmp.Diff(tt.want, *got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", from.name, diff)
				}
				if got.Hint() != tt.hint {
					t.Errorf("%s: hint %q, want %q", from.name, got.Hint(), tt.hint)
				}
				if want := fmt.Sprintf("daemonset %q not found in namespace %q", tt.ref.Name, tt.ref.Namespace); err.Error() != want {
					t.Errorf("%s: %q, want %q", from.name, err, want)
				}
			}
		})
	}
}

func TestOrderOfNamespaces(t *testing.T) {
	// In the API server's order of keys, a-b/x comes before a/x.
	w := parseWorld(t, "ds x ns=a-b\nds x ns=a\nds x ns=b\nnode n1")
	for _, from := range sources {
		all, err := from.open(t, w).ReadAll(background, source.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range all {
			got = append(got, s.DaemonSet.Namespace)
		}
		if want := []string{"a", "a-b", "b"}; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", from.name, got, want)
		}
	}
}

func jsonToYAML(b []byte) ([]byte, error) { return yaml.JSONToYAML(b) }
