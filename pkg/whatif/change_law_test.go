package whatif

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// someChanges returns parts of changes, each of which some random state allows.
func someChanges(r *rand.Rand, s *snapshot.Snapshot) []Change {
	node := s.Nodes[r.IntN(len(s.Nodes))].Name
	effect := []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute}[r.IntN(2)]
	which := []string{node, "n*", "n[13579]", corev1.LabelOSStable + "=linux"}[r.IntN(4)]
	return []Change{
		{ToRevision: new(int64(r.IntN(4)))},
		{Restart: true},
		{Images: []Image{{"*", fmt.Sprint("example/agent:", r.IntN(3))}}},
		{Tolerations: []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}},
		{NodeSelector: map[string]string{"example.com/pool": []string{"a", "b"}[r.IntN(2)]}},
		{Strategy: []string{"OnDelete", "RollingUpdate"}[r.IntN(2)]},
		{MaxUnavailable: dstest.Limit([]string{"1", "3", "25%"}[r.IntN(3)]), MaxSurge: dstest.Limit("0")},
		{MaxUnavailable: dstest.Limit("0"), MaxSurge: dstest.Limit([]string{"1", "50%"}[r.IntN(2)])},
		{MinReadySeconds: new(int32(r.IntN(3) * 10))},
		{Nodes: []NodeEdit{{Kind: NodeTaint, Which: which, Taint: &corev1.Taint{Key: "trouble", Effect: effect}}}},
		{Nodes: []NodeEdit{{Kind: NodeUntaint, Which: which, Taint: &corev1.Taint{Key: "dedicated"}}}},
		{Nodes: []NodeEdit{{Kind: NodeLabel, Which: which, Key: "example.com/pool", Value: []string{"a", "b"}[r.IntN(2)]}}},
		{Nodes: []NodeEdit{{Kind: NodeUnlabel, Which: which, Key: "example.com/pool"}}},
		{Nodes: []NodeEdit{{Kind: NodeCordon, Which: which}}},
		{Nodes: []NodeEdit{{Kind: NodeUncordon, Which: which}}},
		{Nodes: []NodeEdit{{Kind: NodeDown, Which: which}}},
		{Nodes: []NodeEdit{{Kind: NodeRemove, Which: node}}},
		{Nodes: []NodeEdit{{Kind: NodeAdd, Which: node, Count: 1 + r.IntN(3)}}},
	}
}

// eachChange calls law with random states and changes of them.
func eachChange(t *testing.T, law func(t *testing.T, s *snapshot.Snapshot, c *Change)) {
	t.Helper()
	for seed := range cases.Of(int64(24)) {
		s := dstest.RandomFor(seed, []string{dstest.Newest, "v1.30.5", "v1.22.17"}[seed%3])
		for i, c := range someChanges(rand.New(rand.NewPCG(uint64(seed), 7)), s) {
			law(t, s, &c)
			if t.Failed() {
				t.Fatalf("seed %d, change %d:\n%s", seed, i, dstest.Describe(s))
			}
		}
	}
}

// expected reports whether a change failed for a legitimate reason: it names
// something that does not exist, or no API server would have stored the state.
func expected(t *testing.T, err error) bool {
	t.Helper()
	var refused *Error
	var invalid *Invalid
	if err != nil && !errors.As(err, &refused) && !errors.As(err, &invalid) {
		t.Errorf("not a refusal: %v", err)
	}
	return err == nil
}

// TestLawApplyLeavesItsInput checks that no change modifies its Snapshot, or
// another Snapshot that shares parts with it.
func TestLawApplyLeavesItsInput(t *testing.T) {
	applied := 0
	eachChange(t, func(t *testing.T, s *snapshot.Snapshot, c *Change) {
		before := deepCopy(s)
		if _, _, err := c.applied(s); expected(t, err) {
			applied++
		}
		if !reflect.DeepEqual(before, s) {
			t.Errorf("%+v changed its input:\n%s", c, cmp.Diff(before, s))
		}
	})
	if applied < cases.Least(204) {
		t.Errorf("only %d changes were possible", applied)
	}
}

// TestLawChanged checks that the State of a Result is what New returns for its
// Snapshot.
func TestLawChanged(t *testing.T) {
	seen := 0
	eachChange(t, func(t *testing.T, s *snapshot.Snapshot, c *Change) {
		r, err := Make(stateOf(t, s), c)
		if err != nil {
			return
		}
		seen++
		facts := func(st *daemonset.State) any {
			counts, _ := st.Counts()
			return []any{st.Nodes, st.History, st.Budget, st.Desired, st.Unmapped, counts, st.Sync()}
		}
		if got, want := facts(r.State), facts(stateOf(t, r.State.Snapshot)); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v (-New +Changed):\n%s", c, cmp.Diff(want, got))
		}
	})
	if seen < cases.Least(204) {
		t.Errorf("only %d changes were possible", seen)
	}
}

func deepCopy(s *snapshot.Snapshot) *snapshot.Snapshot {
	c := *s
	c.DaemonSet = s.DaemonSet.DeepCopy()
	c.Revisions, c.Nodes, c.Pods = nil, nil, nil
	for i := range s.Revisions {
		c.Revisions = append(c.Revisions, *s.Revisions[i].DeepCopy())
	}
	for i := range s.Nodes {
		c.Nodes = append(c.Nodes, *s.Nodes[i].DeepCopy())
	}
	for i := range s.Pods {
		c.Pods = append(c.Pods, *s.Pods[i].DeepCopy())
	}
	return &c
}

// TestLawNoChange checks that an empty change, and the live object as its own
// manifest, result in an equal Snapshot.
func TestLawNoChange(t *testing.T) {
	for seed := range cases.Of(int64(60)) {
		s := dstest.Random(seed)
		for _, c := range []*Change{{}, {DaemonSet: s.DaemonSet}} {
			after, sum, err := c.applied(s)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(s, after) {
				t.Errorf("seed %d:\n%s", seed, cmp.Diff(s, after))
			}
			if len(sum.Fields) > 0 || sum.TemplateChanged || len(sum.Nodes) > 0 || sum.Fields == nil || sum.Nodes == nil {
				t.Errorf("seed %d: %+v", seed, sum)
			}
		}
	}
}

// TestLawGeneration checks that fields, generations, the template and the
// revision are consistent.
func TestLawGeneration(t *testing.T) {
	templates, settings := 0, 0
	eachChange(t, func(t *testing.T, s *snapshot.Snapshot, c *Change) {
		after, sum, err := c.applied(s)
		if err != nil {
			return
		}
		risen := after.DaemonSet.Generation - s.DaemonSet.Generation
		if (risen == 1) != (len(sum.Fields) > 0) || risen > 1 {
			t.Errorf("%d fields, and the generation rose by %d", len(sum.Fields), risen)
		}
		generation := func(ds *appsv1.DaemonSet) string { return ds.Annotations[appsv1.DeprecatedTemplateGeneration] }
		old := stateOf(t, s)
		if sum.TemplateChanged {
			templates++
			if slices.Equal(old.History.Current, stateOf(t, after).History.Current) && len(old.History.Current) > 0 {
				t.Error("another template of the same revision")
			}
		} else {
			settings++
			if generation(s.DaemonSet) != generation(after.DaemonSet) {
				t.Error("the same template of another generation")
			}
			if diff := cmp.Diff(old.History.Current, stateOf(t, after).History.Current); diff != "" {
				t.Errorf("the same template of another revision:\n%s", diff)
			}
		}
		if got := stateOf(t, after).History; got.Cut != sum.Revision.New || got.Number != sum.Revision.Number {
			t.Errorf("the note says %+v, the next sync %t %d", sum.Revision, got.Cut, got.Number)
		}
	})
	if templates < cases.Least(51) || settings < cases.Least(102) {
		t.Errorf("%d templates, %d settings", templates, settings)
	}
}

// TestLawApplyOrder checks that the parts of one change have the same effect as
// separate changes in the order of the fields, except for the number of writes.
func TestLawApplyOrder(t *testing.T) {
	together := 0
	for seed := range cases.Of(int64(78)) {
		s := dstest.Random(seed)
		r := rand.New(rand.NewPCG(uint64(seed), 8))
		parts := someChanges(r, s)
		all, one := Change{}, s
		possible := true
		for _, c := range []Change{parts[0], parts[1], parts[2], parts[3], parts[4], parts[6+r.IntN(2)], parts[8], parts[9+r.IntN(3)], parts[15+r.IntN(3)]} {
			next, _, err := c.applied(one)
			if err != nil {
				possible = false
				break
			}
			one = next
			all.merge(&c)
		}
		if !possible {
			continue
		}
		together++
		after, _, err := all.applied(s)
		if err != nil {
			t.Fatalf("seed %d: one after the other, but not together: %v", seed, err)
		}
		if diff := cmp.Diff(one.DaemonSet.Spec, after.DaemonSet.Spec); diff != "" {
			t.Errorf("seed %d: spec (-one after the other +together):\n%s", seed, diff)
		}
		if !reflect.DeepEqual(one.Nodes, after.Nodes) || !reflect.DeepEqual(one.Pods, after.Pods) {
			t.Errorf("seed %d: nodes and pods (-one after the other +together):\n%s", seed, cmp.Diff([]any{one.Nodes, one.Pods}, []any{after.Nodes, after.Pods}))
		}
	}
	if together < cases.Least(7) {
		t.Errorf("only %d changes were possible", together)
	}
}

func (c *Change) merge(part *Change) {
	if part.ToRevision != nil {
		c.ToRevision = part.ToRevision
	}
	c.Restart = c.Restart || part.Restart
	c.Images = append(c.Images, part.Images...)
	c.Tolerations = append(c.Tolerations, part.Tolerations...)
	for k, v := range part.NodeSelector {
		put(&c.NodeSelector, k, v)
	}
	if part.MaxUnavailable != nil {
		c.MaxUnavailable, c.MaxSurge = part.MaxUnavailable, part.MaxSurge
	}
	if part.MinReadySeconds != nil {
		c.MinReadySeconds = part.MinReadySeconds
	}
	c.Nodes = append(c.Nodes, part.Nodes...)
}
