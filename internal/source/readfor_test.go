package source_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// newOne returns a DaemonSet that is in no world.
func newOne() *appsv1.DaemonSet {
	ds := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "new"}}
	ds.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "new"}}
	ds.Spec.Template.Labels = ds.Spec.Selector.MatchLabels
	return ds
}

// TestReadFor checks that a cluster and files return the same Snapshot for a DaemonSet that does not exist.
func TestReadFor(t *testing.T) {
	const text = "ds agent\nnode a\nnode b\npod p app=agent owner=agent ready\npod stray app=new\nrev r app=agent owner=agent\nevent e about=Pod/p\npdb x selects=new\npdb y selects=agent"
	for _, from := range sources {
		t.Run(from.name, func(t *testing.T) {
			r, ok := from.open(t, parseWorld(t, text)).(interface {
				ReadFor(context.Context, *appsv1.DaemonSet) (*snapshot.Snapshot, error)
			})
			if !ok {
				t.Fatal("no ReadFor")
			}
			s, err := r.ReadFor(background, newOne())
			if err != nil {
				t.Fatal(err)
			}
			want := outline{DaemonSet: "kube-system/new", Nodes: "a b", Pods: "stray"}
			if diff := cmp.Diff(want, outlineOf(s)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(s.PodDisruptionBudgets) != 1 || s.PodDisruptionBudgets[0].Name != "x" || s.TakenAt.IsZero() {
				t.Errorf("budgets %d, taken at %v", len(s.PodDisruptionBudgets), s.TakenAt)
			}
			for _, g := range s.Gaps {
				if g.What != snapshot.Version && g.What != snapshot.Clock {
					t.Errorf("gap: %v", g)
				}
			}
		})
	}
}

// TestReadForTakesTheServersClock checks that the response "not found" for the DaemonSet also provides the time.
func TestReadForTakesTheServersClock(t *testing.T) {
	server := newAPIServer(t, parseWorld(t, "node a"))
	s, err := newCluster(t, server).ReadFor(background, newOne())
	if err != nil {
		t.Fatal(err)
	}
	if !s.TakenAt.Equal(noon) || s.KubernetesVersion != "v1.37.1" || len(s.Gaps) > 0 {
		t.Errorf("taken at %v, version %q, gaps %v", s.TakenAt, s.KubernetesVersion, s.Gaps)
	}
	server.date = nil
	if s, err = newCluster(t, server).ReadFor(background, newOne()); err != nil {
		t.Fatal(err)
	}
	if !s.TakenAt.Equal(noon.AddDate(1, 0, 0)) || !s.Lacks(snapshot.Clock) {
		t.Errorf("without a Date: taken at %v, gaps %v", s.TakenAt, s.Gaps)
	}
}

// TestReadForOfRecordedSnapshots checks that the nodes of the latest recording are used.
func TestReadForOfRecordedSnapshots(t *testing.T) {
	text := ""
	for i, nodes := range []string{"node a\nnode b", "node a\nnode b\nnode c"} {
		s, err := newCluster(t, newAPIServer(t, parseWorld(t, "ds agent\n"+nodes))).Read(background, agent)
		if err != nil {
			t.Fatal(err)
		}
		s = s.At(noon.Add(time.Duration(i) * time.Hour))
		s.DaemonSet = s.DaemonSet.DeepCopy()
		s.DaemonSet.Name += string(rune('a' + i))
		raw, err := snapshot.Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		text += string(raw)
	}
	d, err := readText(text)
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.ReadFor(background, newOne())
	if err != nil {
		t.Fatal(err)
	}
	if got := outlineOf(s); got.Nodes != "a b c" || !s.TakenAt.Equal(noon.Add(time.Hour)) || s.KubernetesVersion != "v1.37.1" {
		t.Errorf("%+v, taken at %v, version %s", got, s.TakenAt, s.KubernetesVersion)
	}
}

// TestReadForLacksNothingThatIsNew checks that a DaemonSet that does not exist has no gaps for revisions, pods and
// events.
func TestReadForLacksNothingThatIsNew(t *testing.T) {
	d, err := readText("apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {namespace: kube-system, name: agent}\nspec: {selector: {matchLabels: {app: agent}}}\n")
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.ReadFor(background, newOne())
	if err != nil {
		t.Fatal(err)
	}
	var lacks []snapshot.What
	for _, g := range s.Gaps {
		lacks = append(lacks, g.What)
	}
	if diff := cmp.Diff([]snapshot.What{snapshot.Nodes, snapshot.Version, snapshot.Clock}, lacks); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
