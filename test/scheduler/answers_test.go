package scheduler

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/test/scheduler/wire"
)

// TestAnswers compares the output of plan-rollout --fit and explain --node with the decision of the
// real scheduler about the pod as the API server admits it.
func TestAnswers(t *testing.T) {
	running := programs(t)
	for _, version := range slices.SortedFunc(maps.Keys(running), compareVersions) {
		t.Run(version, func(t *testing.T) {
			states, minor := number(t, "SCHEDULER_STATES_OTHERS", 200), versionNumbers(version)[1]
			if version == newest {
				states = number(t, "SCHEDULER_STATES", 2000)
			}
			seed := int64(number(t, "SCHEDULER_SEED", 1))
			judge := &answersJudge{judge{running[version], version, minor}, map[string]int{}}
			wrong, show := map[string]int{}, number(t, "SCHEDULER_SHOW", 3)
			for i := range int64(states) {
				w := DrawWhole(seed<<32+i, minor)
				for _, difference := range judge.differences(t, w) {
					kind, _, _ := strings.Cut(difference, ":")
					if wrong[kind]++; wrong[kind] <= show {
						t.Errorf("seed %d, state %d: %s", seed, i, difference)
						if dir := os.Getenv("SCHEDULER_KEEP"); dir != "" {
							if err := os.WriteFile(filepath.Join(dir, strconv.FormatInt(i, 10)+".json"), w.List(), 0o600); err != nil {
								t.Error(err)
							}
						}
					}
				}
				judge.drawn(w)
			}
			for _, kind := range slices.Sorted(maps.Keys(wrong)) {
				t.Errorf("%6d differences: %s", wrong[kind], kind)
			}
			for feature, n := range judge.count {
				if n == 0 && states >= 2000 && strings.HasPrefix(feature, "drawn: ") {
					t.Errorf("no state is %s", feature)
				}
			}
			t.Log(judge.table(states))
		})
	}
}

// answersJudge compares answers with one scheduler and counts the features of the states.
type answersJudge struct {
	judge
	count map[string]int
}

func (j *answersJudge) has(feature string, is bool) {
	if is {
		j.count[feature]++
	} else {
		j.count[feature] += 0
	}
}

// real returns the decision of the scheduler, and whether it depends on the anti-affinity of
// existing pods. If it does, the decision is the one without this anti-affinity.
func (j *answersJudge) real(t *testing.T, s *State) (real *wire.Answer, unknown bool) {
	t.Helper()
	a, err := j.Ask(s, many/4, 1)
	if err != nil {
		t.Fatal(err)
	}
	other := s.withoutAntiAffinity()
	if !slices.ContainsFunc(s.Pods, func(p corev1.Pod) bool { return p.Spec.Affinity != nil }) {
		return &a, false
	}
	b, err := j.Ask(other, many/4, 1)
	if err != nil {
		t.Fatal(err)
	}
	return &b, !sameAnswer(&a, &b)
}

// differences returns how the answers about a state differ from the scheduler's decisions.
func (j *answersJudge) differences(t *testing.T, w *Whole) (out []string) {
	t.Helper()
	real, unknown := j.real(t, w.next())
	kept := slices.Contains([]string{"NodeUnschedulable", "TaintToleration", "NodeAffinity"}, real.Plugin)
	s, p, err := w.saidByPlan(j.version)
	if err != nil {
		t.Fatal(err)
	}
	add := func(kind, difference string) {
		if difference != "" {
			out = append(out, kind+": "+difference)
		}
	}
	eligible := p.Desired.After == 1
	j.has("the node is not eligible", !eligible)
	if eligible == kept {
		add("place", fmt.Sprintf("eligible: %t, the scheduler: %s", eligible, real.Plugin))
	}
	of, err := j.node(w)
	if err != nil {
		t.Fatal(err)
	}
	if !eligible || kept {
		return out
	}
	j.reached("plan", s, real, unknown)
	add("plan", s.compare(real))
	if !s.unmodelled && s.code != cause.RoomNot {
		add("plan", "not said that the anti-affinity of others is not computed")
	}
	if works := real.Fits || real.Nominated; (p.Outcome.Code == plan.Completes) != works {
		add("completes", fmt.Sprintf("%s, the scheduler: %t %s", p.Outcome.Code, works, real.PostFilter))
	}
	if w.Own != nil && !w.pending() {
		return out
	}
	if w.pending() {
		real, unknown = j.real(t, w.waiting())
	}
	if of == nil {
		return append(out, "room: nothing is said")
	}
	j.reached("room", of, real, unknown)
	kind := "room"
	if w.pending() {
		kind = "room of a pod that waits"
	}
	add(kind, of.compare(real))
	if w.pending() && of.code == cause.RoomWaits || w.pending() && of.preemption == "WaitsForVictims" {
		later, _ := j.real(t, w.waiting().ended())
		j.has(kind+": it fits once others have ended", later.Fits)
		if later.Fits != (of.code == cause.RoomWaits) {
			add(kind, fmt.Sprintf("%s; once others have ended, the scheduler: %t", of.code, later.Fits))
		}
	}
	if !of.unmodelled && of.code != cause.RoomNot {
		add(kind, "not said that the anti-affinity of others is not computed")
	}
	if of.code == cause.RoomNot && !slices.Contains(of.rejects, real.Plugin) {
		add(kind, fmt.Sprintf("rejected by %q, the scheduler: %s", of.rejects, real.Plugin))
	}
	return out
}

func (j *answersJudge) node(w *Whole) (*said, error) {
	s, _, err := w.saidOfNode(j.version)
	return s, err
}

func (j *answersJudge) reached(answer string, s *said, real *wire.Answer, unknown bool) {
	j.has(answer+": fits", real.Fits)
	j.has(answer+": preempts", real.Nominated)
	j.has(answer+": preempts against a PodDisruptionBudget", real.Nominated && len(s.violates) > 0)
	j.has(answer+": preempts one of several pods", real.Nominated && !s.certain)
	j.has(answer+": does not fit, "+real.Plugin, !real.Fits && !real.Nominated)
	j.has(answer+": several plugins reject", len(s.rejects) > 1)
	j.has(answer+": the scheduler decides otherwise by the anti-affinity of others, said not to be computed", unknown)
}

// drawn counts the features of a state.
func (j *answersJudge) drawn(w *Whole) {
	class := w.Pod.Spec.PreemptionPolicy
	j.has("drawn: preemptionPolicy Never of the class", class != nil && *class == corev1.PreemptNever)
	j.has("drawn: the class is the default", w.DaemonSet.Spec.Template.Spec.PriorityClassName == "" && w.Pod.Spec.PriorityClassName != "")
	j.has("drawn: overhead of the RuntimeClass", w.Pod.Spec.Overhead != nil)
	j.has("drawn: the pod waits", w.pending())
	j.has("drawn: the pod waits, without a condition", w.pending() && w.Own.Status.Conditions == nil)
	j.has("drawn: the pod waits, and is nominated", w.pending() && w.Own.Status.NominatedNodeName != "")
	j.has("drawn: a surge", w.surges())
	has := func(feature string, is func(*corev1.Pod) bool) {
		j.has("drawn: "+feature, slices.ContainsFunc(w.Pods, func(p corev1.Pod) bool { return is(&p) }))
	}
	selected := func(p *corev1.Pod) bool { return p.Labels["app"] == dsName }
	has("pods that the selector matches and another controller owns", selected)
	has("pods that the DaemonSet owns and the selector does not match", func(p *corev1.Pod) bool { return p.Labels["app"] == "relabelled" })
	has("nominated pods", nominated)
	has("terminating pods", func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil && !nominated(p) })
	has("preempted pods that terminate", func(p *corev1.Pod) bool {
		return p.DeletionTimestamp != nil && !nominated(p) && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Reason == corev1.PodReasonPreemptionByScheduler && c.Status == corev1.ConditionTrue
		})
	})
	has("pods with anti-affinity", func(p *corev1.Pod) bool { return p.Spec.Affinity != nil })
}

func (j *answersJudge) table(states int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d states\n", states)
	for _, f := range slices.Sorted(maps.Keys(j.count)) {
		fmt.Fprintf(&b, "%6d  %s\n", j.count[f], f)
	}
	return b.String()
}
