package daemonset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

func TestCounts(t *testing.T) {
	surge, wait := dstest.MaxSurge("1"), dstest.MinReadySeconds(30)
	whys := whys{}
	for _, tt := range []struct {
		grid string
		opts options
		want Counts
		why  string
	}{
		{"N N N", nil, Counts{Desired: 3, Current: 3, Ready: 3, Updated: 3, Available: 3}, "a settled DaemonSet"},
		{"N - n O o", nil, Counts{Desired: 5, Current: 4, Ready: 2, Updated: 2, Available: 2, Unavailable: 3}, "an empty node is desired and unavailable"},
		{"^N !- #-", nil, Counts{Desired: 1, Current: 1, Ready: 1, Updated: 1, Available: 1}, "cordoned nodes are desired, tainted ones are not"},
		{"!N #n !Ot !-", nil, Counts{Misscheduled: 3}, "a node that should not run it and holds a pod of any kind is misscheduled"},
		{"~N ~O", nil, Counts{}, "a vanished node counts nowhere"},
		{"Nt nf ns np", nil, Counts{Desired: 4, Current: 4, Ready: 1, Updated: 4, Available: 1, Unavailable: 3}, "any pod makes a node current, terminating, done or pending"},
		{"nft", nil, Counts{Desired: 1, Unavailable: 1}, "but not one that is done and terminating"},
		{"nft", options{dstest.Version("v1.26.6")}, Counts{Desired: 1, Current: 1, Updated: 1, Unavailable: 1}, "before #118716 that one too"},
		{"O/n", options{surge}, Counts{Desired: 1, Current: 1, Ready: 1, Available: 1}, "during a surge the old pod is the one that counts"},
		{"o/N", options{surge}, Counts{Desired: 1, Current: 1, Unavailable: 1}, "even if only the new one is available"},
		{"Ot/N", nil, Counts{Desired: 1, Current: 1, Ready: 1, Available: 1}, "a terminating pod counts as long as it is the oldest"},
		{"np/O", nil, Counts{Desired: 1, Current: 1, Ready: 1, Available: 1}, "a bound pod counts before an older one that is not"},
		{"W V", options{wait}, Counts{Desired: 2, Current: 2, Ready: 2, Updated: 1, Unavailable: 2}, "ready is not yet available"},
		{"G g H h", nil, Counts{Desired: 4, Current: 4, Ready: 2, Updated: 4, Available: 2, Unavailable: 2}, "generation or hash, either makes a pod updated"},
		{"G H", options{dstest.Version("v1.23.17")}, Counts{Desired: 2, Current: 2, Ready: 2, Updated: 1, Available: 2}, "up to 1.23 only the hash did"},
		{"Na Nx Nr", nil, Counts{Desired: 3, Current: 1, Ready: 1, Updated: 1, Available: 1, Unavailable: 2}, "an adopted pod counts, another's and a released one do not"},
		{"", nil, Counts{}, "no node, no number"},
	} {
		whys.run(t, tt.why, func(t *testing.T) {
			st := state(t, dstest.State(tt.grid, tt.opts...))
			got, known := st.Counts()
			if diff := cmp.Diff(tt.want, got); diff != "" || !known {
				t.Errorf("%q, known %t (-want +got):\n%s", tt.grid, known, diff)
			}
		})
	}
}

func TestCountsUnknown(t *testing.T) {
	for _, what := range []snapshot.What{snapshot.Nodes, snapshot.Pods} {
		st := state(t, dstest.State("N O", dstest.Edit(func(s *snapshot.Snapshot) {
			s.Gaps = []snapshot.Gap{{What: what, Why: snapshot.Forbidden}}
		})))
		if c, known := st.Counts(); known {
			t.Errorf("without %s the numbers are known: %+v", what, c)
		}
	}
}

func TestReported(t *testing.T) {
	ds := &appsv1.DaemonSet{Status: appsv1.DaemonSetStatus{
		DesiredNumberScheduled: 1, CurrentNumberScheduled: 2, NumberMisscheduled: 3, NumberReady: 4,
		UpdatedNumberScheduled: 5, NumberAvailable: 6, NumberUnavailable: 7,
	}}
	want := Counts{Desired: 1, Current: 2, Misscheduled: 3, Ready: 4, Updated: 5, Available: 6, Unavailable: 7}
	if diff := cmp.Diff(want, Reported(ds)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestWritesStatus checks that every sync writes the status, except for an
// ignored DaemonSet and, in old versions, after a failed step.
func TestWritesStatus(t *testing.T) {
	deleted := dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.DeletionTimestamp = &metav1.Time{Time: dstest.Now} })
	selectsAll := dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Spec.Selector = &metav1.LabelSelector{} })
	invalid, version := dstest.MaxUnavailable("some"), dstest.Version
	whys := whys{}
	for _, tt := range []struct {
		grid string
		opts options
		want bool
		why  string
	}{
		{"N N", nil, true, "a sync that does nothing else"},
		{"- N", nil, true, "one that creates"},
		{"O N", options{version("v1.17.4")}, true, "in every version"},
		{"O N", options{dstest.OnDelete()}, true, "whatever the strategy"},
		{"O N", options{deleted}, false, "not of a DaemonSet that is being deleted"},
		{"O N", options{selectsAll}, false, "nor of one that selects everything"},
		{"O N", options{invalid}, true, "a step that fails does not keep it from being written"},
		{"O N", options{invalid, version("v1.27.0")}, true, "from 1.27 on (#113787)"},
		{"O N", options{invalid, version("v1.26.1")}, true, "from 1.26.1"},
		{"O N", options{invalid, version("v1.26.0")}, false, "1.26.0 does not have it"},
		{"O N", options{invalid, version("v1.25.6")}, true, "1.25.6 has"},
		{"O N", options{invalid, version("v1.25.5")}, false, "1.25.5 does not"},
		{"O N", options{invalid, version("v1.17.4")}, false, "and before, a step that fails is the end of the sync"},
		{"- O", options{invalid, version("v1.17.4")}, true, "but if manage acts, the step does not come to that"},
		{"O N", options{invalid, version("v1.17.4"), dstest.OnDelete()}, true, "nor where nothing is replaced"},
		{"~O N", options{dstest.MaxSurge("1")}, true, "a surge that fails on a vanished node does not either"},
		{"O N", options{gap(snapshot.Pods, snapshot.Forbidden)}, true, "without pods nothing is known against it"},
	} {
		whys.run(t, tt.why, func(t *testing.T) {
			if got := state(t, dstest.State(tt.grid, tt.opts...)).Sync().WritesStatus; got != tt.want {
				t.Errorf("%q: writes the status: %t, want %t", tt.grid, got, tt.want)
			}
		})
	}
}
