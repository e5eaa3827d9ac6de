package scheduler

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/cli"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/fit"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/test/scheduler/wire"
)

// Ask decodes the JSON output of a command about a Whole into into.
func (w *Whole) Ask(version string, into any, command ...string) error {
	line := append(command[:1:1], "-n", namespace, dsName, "--from", "-", "--now", when.Format(time.RFC3339), "--kubernetes-version", version, "-o", "json")
	var out, errs bytes.Buffer
	if status := cli.Main(slices.Concat([]string{"kubectl-ds"}, line, command[1:]), bytes.NewReader(w.List()), &out, &errs); status != 0 {
		return fmt.Errorf("%s: exit status %d: %s", strings.Join(line, " "), status, &errs)
	}
	return json.Unmarshal(out.Bytes(), into)
}

// said holds what an answer states about the pod and the node.
type said struct {
	code       cause.RoomCode
	plugin     string
	preemption string
	victims    []string // pods that the scheduler removes or may remove
	others     []string // pods that it may remove instead
	certain    bool
	violates   []string
	budgets    []string
	rejects    []string // all rejecting plugins
	unmodelled bool     // the answer states that the anti-affinity of other pods was not considered
}

// saidByPlan returns what a plan states about the next pod.
func (w *Whole) saidByPlan(version string) (*said, *plan.Plan, error) {
	var p plan.Plan
	if err := w.Ask(version, &p, "plan-rollout", "--restart", "--fit"); err != nil {
		return nil, nil, err
	}
	s := &said{code: cause.RoomFits}
	for _, a := range p.Assumptions {
		s.unmodelled = s.unmodelled || a.Code == plan.AssumeNotModelled && strings.Contains(a.Value, string(fit.AntiAffinityOfOthers))
	}
	for _, u := range p.Unfit {
		s.code, s.plugin, s.preemption = cause.RoomNot, u.Cause.Facts.Text("plugin"), u.Cause.Facts.Text("preemption")
	}
	for _, x := range p.Preempts {
		s.code, s.victims, s.others, s.certain, s.violates, s.budgets = cause.RoomPreempts, x.Pods, x.Others, x.Certain, x.Violates, x.Budgets
	}
	return s, &p, nil
}

// saidOfNode returns what explain states about the node, or nil if it states nothing about room.
func (w *Whole) saidOfNode(version string) (*said, *explain.Node, error) {
	var e explain.Explanation
	if err := w.Ask(version, &e, "explain", "--node", theNode); err != nil {
		return nil, nil, err
	}
	n := &e.Nodes[0]
	if n.Fit == nil {
		return nil, n, nil
	}
	f := n.Fit
	s := &said{
		code: f.Code, plugin: f.Facts.Text("plugin"), preemption: f.Facts.Text("preemption"), victims: f.Preempts, others: f.Others, certain: f.Certain,
		violates: f.Violates, budgets: f.Budgets, unmodelled: slices.Contains(f.NotModelled, fit.AntiAffinityOfOthers),
	}
	for _, r := range f.Rejections {
		s.rejects = append(s.rejects, r.Plugin)
	}
	return s, n, nil
}

// compare returns how an answer differs from the decision of the real scheduler, or "".
func (s *said) compare(real *wire.Answer) string {
	want := cause.RoomNot
	switch {
	case real.Fits:
		want = cause.RoomFits
	case real.Nominated:
		want = cause.RoomPreempts
	}
	switch {
	case s.code == cause.RoomWaits && want == cause.RoomNot: // see ended
		return ""
	case s.code != want:
		return fmt.Sprintf("%s, the scheduler: %s (%s %q, %s)", s.code, want, real.Plugin, real.Reasons, real.PostFilter)
	case want == cause.RoomNot && s.plugin != real.Plugin:
		return fmt.Sprintf("rejected by %q, the scheduler: %q", s.plugin, real.Plugin)
	case want == cause.RoomNot && s.preemption == string(fit.CannotHelp) == real.Resolvable:
		return fmt.Sprintf("preemption: %s, the scheduler: resolvable %t", s.preemption, real.Resolvable)
	case want != cause.RoomPreempts:
		return ""
	}
	return s.compareVictims(real)
}

func (s *said) compareVictims(real *wire.Answer) string {
	all := slices.Concat(s.victims, s.others)
	mine := slices.Sorted(slices.Values(s.victims))
	for _, o := range real.Victims {
		switch {
		case s.certain && (!slices.Equal(mine, o.Pods) || len(s.violates) != o.Violations):
			return fmt.Sprintf("victims %q (%q violate), the scheduler: %v", mine, s.violates, real.Victims)
		case s.certain && len(s.others) > 0:
			return fmt.Sprintf("certain, and others: %q", s.others)
		case slices.ContainsFunc(o.Pods, func(p string) bool { return !slices.Contains(all, p) }):
			return fmt.Sprintf("victims are among %q, the scheduler: %v", all, real.Victims)
		}
	}
	if len(s.violates) > 0 == (len(s.budgets) == 0) {
		return fmt.Sprintf("%q violate %q", s.violates, s.budgets)
	}
	return ""
}
