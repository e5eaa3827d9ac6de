package oracle

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// TestSides has states in which one known field of the Profile decides.
func TestSides(t *testing.T) {
	version, daemonSet := dstest.Version, dstest.DaemonSet
	invalid := dstest.MaxUnavailable("some")
	justNow := dstest.Pod("p0", func(p *corev1.Pod) {
		p.Status.Conditions[1].LastTransitionTime = metav1.NewTime(dstest.Now.Add(-30 * time.Second))
	})
	level := []dstest.Option{daemonSet(func(ds *appsv1.DaemonSet) {
		ds.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "level", Operator: corev1.TolerationOpGt, Value: "5"}}
	}), dstest.Node("n0", func(n *corev1.Node) {
		n.Spec.Taints = []corev1.Taint{{Key: "level", Value: "7", Effect: corev1.TaintEffectNoSchedule}}
	})}
	// So that only manage and the status show anything.
	with := func(o ...dstest.Option) []dstest.Option { return append(o, dstest.OnDelete()) }
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		want    string // without TemplateWithoutNullTime, which decides whenever there is a revision of the live template
		why     string
	}{
		{"N N", nil, "", "where all is well every version does the same"},
		{"ns", with(), "DeleteSucceeded true", "a Succeeded pod is deleted"},
		{"ns", with(version("v1.26.4")), "DeleteSucceeded false", "or not"},
		{"nft", with(), "IgnoreTerminalTerminating true", "a pod that is done and terminating makes room"},
		{"N", with(dstest.MinReadySeconds(30), justNow), "AvailableInclusive true", "a pod that has been ready for minReadySeconds to the second"},
		{"N", with(dstest.MinReadySeconds(30), justNow, version("v1.33.13")), "AvailableInclusive false", "or just not"},
		{"G", with(), "TemplateGenerationCounts true", "a pod of the live generation and another hash"},
		{"-", with(level...), "TolerationComparison true", "a toleration with Gt"},
		{"-", with(append(level, version("v1.34.4"))...), "TolerationComparison false", "before its time"},
		{"nf/nfa", with(), "OwnedPodsFirst true", "of two Failed pods the one that is owned"},
		{"O", []dstest.Option{invalid}, "StatusAfterError true", "a step that fails, and a status"},
		{"O", []dstest.Option{invalid, version("v1.24.17")}, "StatusAfterError false", "or none"},
		{"o O O", []dstest.Option{dstest.MaxUnavailable("1")}, "OldUnavailableInBudget true", "an unavailable old pod spends the budget, up to 1.20 as well"},
		{"o O O", []dstest.Option{dstest.MaxUnavailable("1"), version("v1.28.14")}, "OldUnavailableInBudget false, RollingUpdateV2 true", "or not"},
		{"!Ot O O", nil, "RollingUpdateV2 true", "a terminating pod on a node that should not run it spends the budget"},
		{"!O N", []dstest.Option{dstest.MaxSurge("1")}, "RollingUpdateV2 true, SunsetInSurge true", "under surge an old pod on a node that should not run it is sunset, not doubled; maxUnavailable, which comes to 1, would delete it too"},
		{"O N", []dstest.Option{dstest.MaxSurge("1"), version("v1.21.14")}, "MaxSurge false, RollingUpdateV2 true", "maxSurge is not honored, and maxUnavailable 0 comes to 1"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := dstest.State(tt.grid, tt.options...)
			st, err := newState(s)
			if err != nil {
				t.Fatal(err)
			}
			reached := map[feature]bool{}
			if err := sidesOf(reached, s, st, st.Sync()); err != nil {
				t.Fatal(err)
			}
			var got []string
			for f := range reached {
				if !strings.HasPrefix(f.name, "TemplateWithoutNullTime") {
					got = append(got, f.name)
				}
			}
			slices.Sort(got)
			if got := strings.Join(got, ", "); got != tt.want {
				t.Errorf("%q: decided by %q, want %q", tt.grid, got, tt.want)
			}
		})
	}
}

// TestMissing checks that features without a state are reported, except those that a version cannot
// show.
func TestMissing(t *testing.T) {
	var c Coverage
	add := func(grid string, options ...dstest.Option) {
		s := dstest.State(grid, options...)
		st, err := newState(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Add(s, st, st.Sync()); err != nil {
			t.Fatal(err)
		}
	}
	add("O N", dstest.Version("v1.20.15"))
	missing := c.Missing()
	for _, tt := range []struct {
		line string
		want bool
		why  string
	}{
		{"the code Budget", false, "a delete within the budget was there"},
		{"the shape slot OldAvailable", false, "and the slot that it came from"},
		{"the code Forced", true, "no pod was forced"},
		{"the field StatusAfterError false", true, "no step failed"},
		{"the field StatusAfterError true", false, "the version does not have that side"},
		{"the code Surge", false, "nor surge"},
		{"the field MaxSurge false", false, "nor a maxSurge that it could leave out of account"},
		{"the code Waiting", false, "nor anything that its rolling update would wait for"},
		{"the code NodesNotRead", false, "and no controller lacks the nodes"},
	} {
		if got := slices.Contains(missing, "no state of any version reached "+tt.line); got != tt.want {
			t.Errorf("%s: missing: %t, want %t\n%s", tt.line, got, tt.want, strings.Join(missing, "\n"))
		}
	}
	if want := "| states | 1 |\n"; !strings.Contains(c.Report(), want) {
		t.Errorf("the report has no line %q:\n%s", want, c.Report())
	}
}

// TestGeneratorReaches draws states for one version of each set of rules, without a real
// controller, and checks that they exercise everything together.
func TestGeneratorReaches(t *testing.T) {
	const states = 150
	var c Coverage
	work := make(chan string)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for v := range work {
				for seed := range int64(states) {
					s := dstest.RandomFor(seed, v)
					st, err := newState(s)
					if err == nil {
						err = c.Add(s, st, st.Sync())
					}
					if err != nil {
						t.Errorf("%s: seed %d: %v", v, seed, err)
					}
				}
			}
		})
	}
	for v := range strings.FieldsSeq("v1.17.4 v1.21.14 v1.22.17 v1.24.17 v1.25.16 v1.26.4 v1.26.15 v1.28.2 v1.28.14 v1.30.14 v1.33.13 v1.34.4 v1.37.1") {
		work <- v
	}
	close(work)
	wg.Wait()
	for _, m := range c.Missing() {
		t.Error(m)
	}
}

// TestEveryCodeIsExpectedOrExcused checks that every registered code is expected of the newest
// version or is in beyondReach.
func TestEveryCodeIsExpectedOrExcused(t *testing.T) {
	profile, err := daemonset.ForVersion(dstest.Newest)
	if err != nil {
		t.Fatal(err)
	}
	wanted := expected(profile)
	for _, r := range daemonset.Reasons {
		_, excused := beyondReach[r]
		if asked := slices.Contains(wanted, feature{codes, string(r)}); asked == excused {
			t.Errorf("%s: asked for: %t, beyond reach: %t", r, asked, excused)
		}
	}
}
