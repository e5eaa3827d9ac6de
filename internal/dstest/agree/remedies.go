package agree

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
)

// Remedies returns an error where explain and a Plan of no change offer other remedies for one
// State. How long one takes is left out: a plan may be told how long pods take to start.
func Remedies(e *explain.Explanation, p *plan.Plan) error {
	if a, b := remediesOf(e.Remedies), remediesOf(p.Outcome.Remedies); a != b {
		return fmt.Errorf("remedies of explain:\n%s\nof plan-rollout:\n%s", a, b)
	}
	return nil
}

func remediesOf(all []remedy.Remedy) string {
	var lines []string
	for _, r := range all {
		r.Effect.Duration = nil
		raw, _ := json.Marshal(r)
		lines = append(lines, string(raw))
	}
	return strings.Join(lines, "\n")
}

// Apart are the codes for which the two commands disagree: explain blames the controller, which
// counts nodes that it should not count, and plan-rollout blames the nodes.
var Apart = []daemonset.Reason{cause.ExcludedButCounted}

// Problems returns an error where explain and a Plan of no change of one State say other things
// of what pods fail on there, or of whose fault that is: a problem of the plan that its nodes have
// now is one of explain, or a part of it. met counts them.
func Problems(e *explain.Explanation, p *plan.Plan) (met int, err error) {
	for _, of := range p.Outcome.Problems {
		i := slices.IndexFunc(e.Problems, func(x explain.Problem) bool {
			return x.Is(of) && slices.ContainsFunc(of.Nodes, func(n string) bool { return slices.Contains(x.Nodes, n) })
		})
		if i < 0 || slices.Contains(Apart, of.Code) {
			continue // no pod meets it yet
		}
		met++
		if a, b := fault(&e.Problems[i]), fault(of); a != b {
			return met, fmt.Errorf("%s on %v: explain: %s; plan-rollout: %s", of.Code, of.Nodes, a, b)
		}
	}
	return met, nil
}

// fault is what a problem says of who is at fault.
func fault(p *cause.Problem) string {
	raw, _ := json.Marshal([]any{p.Subject, p.Blame, p.Common})
	return string(raw)
}
