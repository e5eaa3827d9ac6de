package breakers_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest/breakers"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// wrong lists, by breaker and check, checks that fail although they should not, with the reason. An
// entry whose check succeeds is an error, so that repaired ones are removed.
var wrong = map[string]map[string]string{}

// rare lists the checks that are made only in every fourth state, because they simulate much.
var rare = []string{"completes", "ends", "removed"}

// checks are what a broken state must fulfill, by their names in wrong.
var checks = map[string]func(*testing.T, *breakers.Breaker, int64, answer) error{
	"found":     found,
	"offered":   offered,
	"in vain":   inVain,
	"completes": completes,
	"ends":      ends,
	"removed":   removed,
}

// TestBreakers checks for broken states that the cause and who is at fault are found, and that the
// inverse is offered, completes and ends the problem.
func TestBreakers(t *testing.T) {
	for _, b := range breakers.All {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			failed := map[string]error{}
			for seed := range cases.Of(int64(24)) {
				a := answered(t, taken(seed, b.Break(seed)))
				for name, check := range checks {
					if failed[name] != nil || seed%8 > 1 && slices.Contains(rare, name) {
						continue
					}
					if err := check(t, b, seed, a); err != nil {
						failed[name] = fmt.Errorf("seed %d: %s: %w\n%s", seed, name, err, a)
					}
				}
			}
			for name := range checks {
				switch why := wrong[b.Name][name]; {
				case why == "" && failed[name] != nil:
					t.Error(failed[name])
				case why != "" && failed[name] == nil && cases.Least(1) > 0:
					t.Errorf("%s: holds now, so it is no longer wrong that %s", name, why)
				}
			}
		})
	}
}

// answer holds the answers about a state.
type answer struct {
	breakers.Broken
	st *daemonset.State
	e  *explain.Explanation
}

// taken returns a broken state as it is read. For every second seed it contains only what an answer
// asks for.
func taken(seed int64, b breakers.Broken) breakers.Broken {
	if st, err := daemonset.StateOf(b.Snapshot); err == nil && seed%2 == 1 {
		needs := cause.NeedsOf(st)
		s := b.Snapshot
		others := &snapshot.OtherPods{Nodes: needs.Nodes}
		for _, p := range s.OtherPods.Pods {
			if slices.Contains(needs.Nodes, p.Node) {
				others.Pods = append(others.Pods, p)
			}
		}
		if s.OtherPods = others; len(needs.Nodes) == 0 {
			s.OtherPods = nil
		}
		if !needs.Admission {
			s.Admission = nil
		}
	}
	return b
}

func answered(t *testing.T, b breakers.Broken) answer {
	t.Helper()
	st := stateOf(t, b.Snapshot)
	return answer{b, st, explain.Explain(st, explain.Options{Outlook: plan.Look(st)})}
}

// stateOf returns the State of a Snapshot, with the status as the controller writes it.
func stateOf(t *testing.T, s *snapshot.Snapshot) *daemonset.State {
	t.Helper()
	st, err := daemonset.StateOf(s)
	if err != nil {
		t.Fatal(err)
	}
	counts, _ := st.Counts()
	raw, err := json.Marshal(counts)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &s.DaemonSet.Status); err != nil {
		t.Fatal(err)
	}
	if st, err = daemonset.StateOf(s); err != nil {
		t.Fatal(err)
	}
	return st
}

// String returns the part of an answer that the checks use.
func (a answer) String() string {
	limit := fmt.Sprintf("limit %d, surge %d", a.st.Limit(), a.st.Budget.MaxSurge)
	text := fmt.Sprintf("broken: %v of %d nodes, %s\n%s", a.Nodes, len(a.st.Nodes), limit, a.e.Verdict.Code)
	for _, p := range a.e.Problems {
		text += fmt.Sprintf("\n  %s %s %+v", p.Severity, p.Code, p.Subject)
		if p.Blame != nil {
			text += fmt.Sprintf(" %s %s", p.Blame.Who, p.Blame.Certainty)
		}
	}
	for _, r := range a.e.Remedies {
		text += fmt.Sprintf("\n  %s %s %s, left %v", r.Worth, r.Code, r.Value, r.Effect.Left)
	}
	return text
}

// problems returns the problems with the Subject of a breaker on its nodes. A Subject on a single
// node may name it.
func (a *answer) problems(b *breakers.Breaker, nodes []string) (of []explain.Problem) {
	for _, p := range a.e.Problems {
		s := p.Subject
		s.Node, s.Holder = "", ""
		on := len(p.Nodes) == 0 ||
			slices.ContainsFunc(p.Nodes, func(n string) bool { return slices.Contains(nodes, n) })
		if s == b.Subject && on {
			of = append(of, p)
		}
	}
	return of
}

func found(_ *testing.T, b *breakers.Breaker, _ int64, a answer) error {
	of := a.problems(b, a.Nodes[0])
	if len(of) == 0 {
		return fmt.Errorf("no problem with the subject %+v", b.Subject)
	}
	nodes := map[string]bool{}
	for _, p := range of {
		for _, n := range p.Nodes {
			nodes[n] = true
		}
		switch {
		case b.Who == "" && p.Blame != nil, b.Who != "" && (p.Blame == nil || p.Blame.Who != b.Who):
			return fmt.Errorf("%s is blamed on %+v, want %q", p.Code, p.Blame, b.Who)
		}
	}
	for _, n := range a.Nodes[0] {
		if !nodes[n] && a.st.Budget.MaxSurge == 0 {
			return fmt.Errorf("the problem does not name %s", n)
		}
	}
	return nil
}

func offered(_ *testing.T, b *breakers.Breaker, _ int64, a answer) error {
	if b.Remedy == "" {
		return nil
	}
	r := a.e.Fix(b.Remedy)
	if r == nil {
		return fmt.Errorf("%s is not offered", b.Remedy)
	}
	if b.Remedy == remedy.RollBack && r.Value != "1" {
		return fmt.Errorf("%s to revision %s", b.Remedy, r.Value)
	}
	return nil
}

func inVain(_ *testing.T, b *breakers.Breaker, _ int64, a answer) error {
	for _, r := range a.e.Fixes() {
		if slices.Contains(b.InVain, r.Code) || b.Remedy == "" {
			return fmt.Errorf("%s %s is offered", r.Code, r.Value)
		}
	}
	return nil
}

// completes plans what a person would do: a rollback, or nothing after the cause is removed.
func completes(t *testing.T, b *breakers.Breaker, seed int64, a answer) error {
	if b.Remedy != remedy.RollBack {
		return done(plan.Make(stateOf(t, b.End(seed).Snapshot), plan.Options{}))
	}
	to := int64(1)
	made, err := whatif.Make(a.st, &whatif.Change{ToRevision: &to})
	if err != nil {
		return err
	}
	return done(plan.MakeChanged(asked(t, b, seed, made), plan.Options{}))
}

// asked returns a change together with the object that its plan also reads: the ServiceAccount that the change names.
func asked(t *testing.T, b *breakers.Breaker, seed int64, made *whatif.Result) *whatif.Result {
	t.Helper()
	after := b.End(seed).Snapshot.Admission
	if made.State.Snapshot.Admission != nil {
		s := *made.State.Snapshot
		s.Admission = after
		made.State = made.State.Reading(&s)
	}
	return made
}

func done(p *plan.Plan) error {
	if o := &p.Outcome; o.Code != plan.Completes && o.Code != plan.NothingToDo || len(o.Holders)+o.FurtherHolders > 0 {
		return fmt.Errorf("the plan: %s %s, left without a pod: %v", o.Code, o.Reason, plan.Nodes(o.Holders))
	}
	return nil
}

// ends checks that nothing is wrong after the break has ended.
func ends(t *testing.T, b *breakers.Breaker, seed int64, _ answer) error {
	a := answered(t, b.End(seed))
	if v := a.e.Verdict.Code; v != explain.Healthy && v != explain.Progressing {
		return fmt.Errorf("once it is undone: %v", a)
	}
	for _, p := range a.e.Problems {
		if p.Severity == cause.SeverityError {
			return fmt.Errorf("once it is undone: %v", a)
		}
	}
	return nil
}

// ofWorld are the remedies that restore an object or a quota. The input shows this before any pod
// does.
var ofWorld = []remedy.Code{remedy.CreateObject, remedy.RaiseQuota}

// removed checks that after the cause is removed, no pod fails because something is missing.
func removed(t *testing.T, b *breakers.Breaker, seed int64, _ answer) error {
	if !slices.Contains(ofWorld, b.Remedy) {
		return nil
	}
	now, then := b.Break(seed), b.End(seed).Snapshot
	now.Snapshot.References, now.Snapshot.Admission = then.References, then.Admission
	a := answered(t, now)
	if of := a.problems(b, now.Nodes[0]); len(of) > 0 {
		return fmt.Errorf("what is there again is a problem: %v", a)
	}
	if err := done(plan.Make(a.st, plan.Options{})); err != nil {
		return fmt.Errorf("%w\n%v", err, a)
	}
	return nil
}

// TestHealthy checks that no problem is found in a healthy state.
func TestHealthy(t *testing.T) {
	for seed := range cases.Of(int64(100)) {
		s := breakers.Healthy(seed)
		if err := snapshot.Validate(s); err != nil {
			t.Fatal(err)
		}
		a := answered(t, breakers.Broken{Snapshot: s})
		if a.e.Verdict.Code != explain.Healthy || len(a.e.Problems)+len(a.e.Remedies) > 0 {
			t.Fatalf("seed %d: %v", seed, a)
		}
	}
}

// keptApart checks that a remedy for one of two problems is not said to solve the other, and that
// it leaves nodes of the other without a pod if they have none now.
func keptApart(pair [2]*breakers.Breaker, a answer) error {
	for i, b := range pair {
		other := pair[1-i]
		if b.Remedy == other.Remedy || b.Remedy == remedy.Tolerate { // not simulated
			continue
		}
		for _, r := range a.e.Remedies {
			ends := func(s cause.Subject) bool { s.Node, s.Holder = "", ""; return s == other.Subject }
			if r.Code == b.Remedy && slices.ContainsFunc(r.Ends, ends) {
				return fmt.Errorf("%s, which is for %s, ends %+v", r.Code, b.Name, other.Subject)
			}
			for _, n := range a.Nodes[1-i] {
				if r.Code == b.Remedy && r.Worth == remedy.Helps && !serves(a.st.Node(n)) &&
					!slices.Contains(r.Effect.Left, n) {
					return fmt.Errorf("%s, which is for %s, gives %s a pod", r.Code, b.Name, n)
				}
			}
		}
	}
	return nil
}

// serves reports whether a node has an available pod.
func serves(n *daemonset.Node) bool {
	return slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool { return p.Available.OK && !p.Terminating })
}

// TestPairs breaks healthy states twice, on different nodes, and checks that both problems are
// found, and that one remains after the other has ended.
func TestPairs(t *testing.T) {
	pairs := [][2]*breakers.Breaker{}
	for _, a := range breakers.All {
		for _, b := range breakers.All {
			if a.With(b) {
				pairs = append(pairs, [2]*breakers.Breaker{a, b})
			}
		}
	}
	for seed := range cases.Of(int64(100)) {
		pair := pairs[rand.New(rand.NewPCG(uint64(seed), 0x70616972)).IntN(len(pairs))]
		for ended := -1; ended < 2; ended++ {
			a := answered(t, breakers.Two(seed, pair[0], pair[1], ended))
			for i, b := range pair {
				if i == ended {
					continue
				}
				one := a
				one.Nodes = a.Nodes[i : i+1]
				if err := found(t, b, seed, one); err != nil {
					t.Fatalf("seed %d: %s, and %s, of which %d has ended: %v\n%v", seed, pair[0].Name, pair[1].Name,
						ended, err, a)
				}
			}
			if err := keptApart(pair, a); ended < 0 && err != nil {
				t.Fatalf("seed %d: %s, and %s: %v\n%v", seed, pair[0].Name, pair[1].Name, err, a)
			}
			if ended >= 0 && len(a.problems(pair[ended], a.Nodes[ended])) > 0 {
				t.Fatalf(
					"seed %d: %s, and %s: that of %d stays when it has ended\n%v",
					seed,
					pair[0].Name,
					pair[1].Name,
					ended,
					a,
				)
			}
		}
	}
}
