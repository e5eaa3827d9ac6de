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

// Remedies returns an error if explain and a Plan without a change offer different remedies for one
// State. It ignores durations, because a plan may be given the start-up time of pods.
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

// Apart lists the codes about which the commands disagree: explain blames the controller for
// counting ineligible nodes, and plan-rollout blames the nodes.
var Apart = []daemonset.Reason{cause.ExcludedButCounted}

// Problems returns an error if explain and a Plan without a change disagree about what pods fail on
// or whose fault it is. A problem of the plan on existing pods must be contained in one of explain.
// met is the number of such problems.
func Problems(e *explain.Explanation, p *plan.Plan) (met int, err error) {
	for _, of := range p.Outcome.Problems {
		i := slices.IndexFunc(e.Problems, func(x explain.Problem) bool {
			return x.Is(of) && slices.ContainsFunc(of.Nodes, func(n string) bool { return slices.Contains(x.Nodes, n) })
		})
		if i < 0 || slices.Contains(Apart, of.Code) {
			continue // no pod has it yet
		}
		met++
		if a, b := fault(&e.Problems[i]), fault(of); a != b {
			return met, fmt.Errorf("%s on %v: explain: %s; plan-rollout: %s", of.Code, of.Nodes, a, b)
		}
	}
	return met, nil
}

// fault returns what a problem says about whose fault it is.
func fault(p *cause.Problem) string {
	raw, _ := json.Marshal([]any{p.Subject, p.Blame, p.Common})
	return string(raw)
}
