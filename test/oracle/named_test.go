package oracle

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// TestNamed compares chosen states: those that once showed a difference and those that are easily
// wrong. Each runs in every version, and often enough to see that choices which the model calls
// random are.
func TestNamed(t *testing.T) {
	type options = []dstest.Option
	historyLimit := func(n int32) dstest.Option {
		return dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Spec.RevisionHistoryLimit = &n })
	}
	revisionHash := func(name, hash string) dstest.Option {
		return dstest.Revision(name, func(r *appsv1.ControllerRevision) { r.Labels["controller-revision-hash"] = hash })
	}
	podHash := func(pod, hash string) dstest.Option {
		return dstest.Pod(pod, func(p *corev1.Pod) { p.Labels["controller-revision-hash"] = hash })
	}
	rows := []struct {
		grid string
		opts options
		why  string
	}{
		// Differences that random states showed.
		{"N O", options{historyLimit(0), revisionHash("agent-old", ""), podHash("p1", "")}, "an empty hash keeps no revision from clean-up"},
		{"~O N", options{historyLimit(0), dstest.MaxSurge("1"), dstest.AddRevision("older", 0, "example/agent:0")}, "after a step that fails there is no clean-up"},
		{"N", options{dstest.DaemonSet(func(ds *appsv1.DaemonSet) {
			ds.Spec.Template.CreationTimestamp = metav1.NewTime(dstest.Now.Add(-time.Hour))
		})}, "a creationTimestamp that a template does have is stored"},
		{"N", options{dstest.DaemonSet(func(ds *appsv1.DaemonSet) {
			id := int64(1<<53 + 1)
			ds.Spec.Template.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: &id}
		})}, "large numbers are compared to the last digit"},

		{"nfa/nf nfa/nfa", nil, "since 1.33 a Failed pod that is owned goes before one to adopt"},
		{"nfa/of", options{dstest.AddRevision("twin", 3, "")}, "merging revisions adopts a pod before manage looks"},
		{"O/N", options{dstest.MaxSurge("1"), dstest.DaemonSet(func(ds *appsv1.DaemonSet) {
			ds.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable = nil
		})}, "manage asks maxSurge alone whether two pods may stand side by side"},

		// The rolling update.
		{"O O O O O", options{dstest.MaxUnavailable("2")}, "any two of five"},
		{"o o O O O", options{dstest.MaxUnavailable("2")}, "unavailable old pods spend the budget"},
		{"n*88 o*2 O*10", options{dstest.MaxUnavailable("10")}, "a budget overspent by broken new pods"},
		{"!Ot O O", nil, "a terminating pod on a node that should not run it holds the budget"},
		{"~O O", nil, "a pod on a vanished node is a candidate"},
		{"G G", options{revisionHash("agent-new", "form")}, "pods of the live generation stay though a revision was cut"},
		{"!O !O o", options{dstest.MaxSurge("1")}, "sunset as far as more are available than desired"},
		{"~O O", options{dstest.MaxSurge("1")}, "an old pod alone on a vanished node fails a surge"},
		{"~O/N N", options{dstest.MaxSurge("1")}, "old and an available new pod on a vanished node do not"},
		{"O o O/n O", options{dstest.MaxSurge("2")}, "surge beside available old pods within the limit, beside others at once"},

		// manage.
		{"nf/nf/nf", nil, "one Failed pod of a node, at random"},
		{"nf/N/N ns Nt nft #N/o ~np ~npt -", nil, "each kind of pod that manage knows"},
		{"O/N o/n O/n O/n/O/n", options{dstest.MaxSurge("1")}, "pairs under surge"},
		{"Nt nf", options{dstest.MaxSurge("1")}, "surge creates beside what is dying or Failed"},
		{"O/N", options{dstest.MaxSurge("1"), revisionHash("agent-new", ""), dstest.Pod("p0b", func(p *corev1.Pod) { delete(p.Labels, "controller-revision-hash") })}, "with an empty current hash a pod without the label is new to manage only"},

		// The burst limit and its order of classes.
		{"-*300 #O*260", nil, "250 of each"},
		{"o*200 O*100", options{dstest.MaxUnavailable("300")}, "forced before candidates"},
		{"o*240 O*20", options{dstest.MaxSurge("30")}, "allowed nodes before candidates"},
		{"!o*249 !O*3 N*3", options{dstest.MaxSurge("1")}, "unconditional deletes before sunset"},
		{"#O*248 ~op*4", nil, "pods on nodes before those of vanished nodes"},
		{"#O*249 nf/nf N/O", nil, "a class of several reasons"},

		// Revisions.
		{"N O Ot ofa ox op -", options{dstest.AddRevision("twin", 3, ""), podHash("p5", "twin")}, "duplicates relabel all claimed pods"},
		{"N", options{dstest.AddRevision("twin", 2, "")}, "duplicates of one number"},
		{"N", options{dstest.Revision("agent-new", func(r *appsv1.ControllerRevision) { r.Revision = 0 })}, "a rollback"},
	}
	eachVersion(t, func(t *testing.T, version string) {
		p := start(t, version, 1)[0]
		for _, tt := range rows {
			t.Run(tt.why, func(t *testing.T) {
				named(t, p, tt.grid, append(options{dstest.Version(version)}, tt.opts...)...)
			})
		}
	})
}

// TestVolumeClaims checks volume claims in a template: the creationTimestamp in their metadata was
// stored as null up to v1.33. Such volumes exist since v1.21, like maxSurge.
func TestVolumeClaims(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		profile, err := daemonset.ForVersion(version)
		if err != nil || !profile.MaxSurge {
			return
		}
		named(t, start(t, version, 1)[0], "N O", dstest.Version(version), dstest.DaemonSet(func(ds *appsv1.DaemonSet) {
			ds.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{
				Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{}},
			}}}
		}))
	})
}

func named(t *testing.T, p *Program, grid string, options ...dstest.Option) {
	t.Helper()
	s := dstest.State(grid, options...)
	lines, err := judge(p, s, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) > 0 {
		t.Errorf("%q:\n    %s\n%s", grid, strings.Join(lines, "\n    "), dstest.Describe(s))
	}
}

// TestRefused checks that a sync whose creates or deletes the API server rejects fails, replaces
// nothing, and writes the status only if the version does so after an error.
func TestRefused(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		profile, err := daemonset.ForVersion(version)
		if err != nil {
			t.Fatal(err)
		}
		p := start(t, version, 1)[0]
		for _, grid := range []string{"- O", "N/N O", "O"} {
			run, err := p.Refused(dstest.State(grid, dstest.Version(version)))
			if err != nil {
				t.Fatal(err)
			}
			if run.Error == "" || len(run.Creates)+len(run.Deletes) > 0 {
				t.Errorf("%q: %+v", grid, run)
			}
			if wrote := run.Status != nil; wrote != profile.StatusAfterError {
				t.Errorf("%q: the status was written: %t, StatusAfterError %t", grid, wrote, profile.StatusAfterError)
			}
		}
	})
}
