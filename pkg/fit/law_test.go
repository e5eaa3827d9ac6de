package fit

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// TestLaws checks what is true of every node and its pods. No two pods of a
// node use the same port, because the scheduler counts that incorrectly.
func TestLaws(t *testing.T) {
	reached := map[Outcome]int{}
	for seed := range cases.Of(20000) {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		w, n := randomNode(t, r)
		v := ProfileOf("").On(&w, &n)
		reached[v.Preemption.Outcome]++

		shuffled := n
		shuffled.Pods = slices.Clone(n.Pods)
		r.Shuffle(len(n.Pods), func(i, j int) { shuffled.Pods[i], shuffled.Pods[j] = shuffled.Pods[j], shuffled.Pods[i] })
		if diff := cmp.Diff(v, ProfileOf("").On(&w, &shuffled)); diff != "" {
			t.Fatalf("seed %d: the answer depends on the order of the pods:\n%s", seed, diff)
		}
		if v.Fits != (v.Reason == "") || v.Fits != (v.Preemption.Outcome == NotNeeded) || (v.Preemption.Outcome == Possible) != (len(v.Preemption.Victims) > 0) {
			t.Fatalf("seed %d: %+v contradicts itself", seed, v)
		}
		for _, l := range v.Lacks {
			if l.Missing <= 0 || l.Missing != l.Used+l.Requested-l.Allocatable {
				t.Fatalf("seed %d: %+v is no lack", seed, l)
			}
		}
		if v.Preemption.Outcome != Possible {
			continue
		}
		isVictim := func(p snapshot.PodRow) bool {
			return slices.ContainsFunc(v.Preemption.Victims, func(v Victim) bool { return v.Namespace == p.Namespace && v.Name == p.Name })
		}
		left := n
		left.Pods = slices.DeleteFunc(slices.Clone(n.Pods), isVictim)
		if after := ProfileOf("").On(&w, &left); !after.Fits {
			t.Fatalf("seed %d: without its victims the pod does not fit: %+v", seed, after)
		}
		for _, p := range n.Pods {
			if !isVictim(p) {
				continue
			}
			if p.Priority >= w.Priority || p.Nominated {
				t.Fatalf("seed %d: %s/%s is no victim", seed, p.Namespace, p.Name)
			}
			with := left
			with.Pods = append(slices.Clone(left.Pods), p)
			if ProfileOf("").On(&w, &with).Fits {
				t.Fatalf("seed %d: %s/%s goes for nothing", seed, p.Namespace, p.Name)
			}
		}
	}
	for _, o := range []Outcome{NotNeeded, Possible, CannotHelp, NothingLower, StillDoesNotFit} {
		if reached[o] < cases.Least(200) {
			t.Errorf("%s was reached %d times", o, reached[o])
		}
	}
}

// TestCertain checks that a certain selection depends neither on the order of
// budgets nor on that of equally important pods.
func TestCertain(t *testing.T) {
	certain, changed := 0, 0
	for seed := range cases.Of(20000) {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		w, n := randomNode(t, r)
		v := ProfileOf("").On(&w, &n)
		if v.Preemption.Outcome != Possible {
			continue
		}
		renamed, was := n, map[string]string{}
		renamed.Pods = slices.Clone(n.Pods)
		for i, k := range r.Perm(len(n.Pods)) {
			renamed.Pods[i].Name = string(rune('a' + k))
			was[renamed.Pods[i].Name] = n.Pods[i].Name
		}
		other := ProfileOf("").On(&w, &renamed)
		for i := range other.Preemption.Victims {
			other.Preemption.Victims[i].Name = was[other.Preemption.Victims[i].Name]
		}
		byName := cmp.Options{cmpopts.SortSlices(func(a, b Victim) bool { return a.Name < b.Name }), cmp.Comparer(func(a, b Victim) bool {
			return a.Name == b.Name && (len(a.Violates) > 0) == (len(b.Violates) > 0)
		})}
		same := cmp.Equal(v.Preemption.Victims, other.Preemption.Victims, byName)
		switch {
		case v.Preemption.Certain != other.Preemption.Certain:
			t.Fatalf("seed %d: certain by some names, and not by others", seed)
		case v.Preemption.Certain && !same:
			t.Fatalf("seed %d: certain, and with other names another answer:\n%s", seed, cmp.Diff(v.Preemption.Victims, other.Preemption.Victims))
		case v.Preemption.Certain:
			certain++
		case !same:
			changed++
		}
	}
	if certain < cases.Least(1000) || changed < cases.Least(50) {
		t.Errorf("%d were certain, and %d others changed", certain, changed)
	}
}

// randomNode returns a pod and a node on which it may fit. Names of pods have
// one letter, and budgets have counted no evictions.
func randomNode(t *testing.T, r *rand.Rand) (Wanted, Node) {
	n := parseNode(t, "cpu=10 memory=10 pods=9")
	for i := range r.IntN(8) {
		p := snapshot.PodRow{Namespace: "default", Name: string(rune('A' + i)), Priority: int32(r.IntN(4)), Nominated: r.IntN(8) == 0}
		p.Requests = snapshot.Resources{MilliCPU: 1000 * int64(r.IntN(4)), Memory: int64(r.IntN(4))}
		if r.IntN(5) > 0 {
			p.StartTime = &metav1.Time{Time: metav1.Unix(int64(r.IntN(3)), 0).Time}
		}
		if r.IntN(4) == 0 {
			p.HostPorts = []snapshot.HostPort{{Port: int32(80 + i)}}
		}
		for _, budget := range []string{"x", "y"} {
			if r.IntN(3) == 0 {
				p.Budgets = append(p.Budgets, budget)
			}
		}
		n.Pods = append(n.Pods, p)
	}
	n.Budgets = []snapshot.DisruptionBudget{{Namespace: "default", Name: "x", Allowed: int32(r.IntN(3))}, {Namespace: "default", Name: "y", Allowed: int32(r.IntN(2))}}
	w := parseWanted(t, "")
	w.Namespace, w.Name = "wanted", "wanted"
	w.Priority = int32(r.IntN(6))
	w.Requests = snapshot.Resources{MilliCPU: 1000 * int64(r.IntN(12)), Memory: int64(r.IntN(6))}
	for range r.IntN(3) {
		w.HostPorts = append(w.HostPorts, snapshot.HostPort{Port: int32(80 + r.IntN(12))})
	}
	return w, n
}
