package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/view"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// parseGates reads the conditions of --fail-on.
func parseGates(texts []string) ([]plan.Gate, error) {
	var out []plan.Gate
	for _, t := range texts {
		name, most, counts := strings.Cut(strings.TrimSpace(t), ">")
		g := plan.Gate{On: plan.GateOn(strings.TrimSpace(name))}
		n, err := uint64(0), error(nil)
		if counts {
			n, err = strconv.ParseUint(strings.TrimSpace(most), 10, 31)
		}
		if err != nil || !slices.Contains(plan.GatesOn, g.On) || counts != g.On.Counts() {
			return nil, hinted{fmt.Errorf("--fail-on %q is none of stalls, removesAllPods, lostNodes>N, replaces>N, immediateDeletes>N", strings.TrimSpace(t)), "--fail-on 'stalls,lostNodes>0'"}
		}
		g.Most = int(n)
		out = append(out, g)
	}
	return out, nil
}

// status is the exit status that the gates and the outcomes ask for.
func (o *planning) status(plans []planned) error {
	failed := false
	var open []string
	for _, g := range o.gates {
		for _, p := range plans {
			switch found := g.Of(p.Plan); {
			case found.Holds:
				fmt.Fprintf(o.ErrOut, "--fail-on %s: %s\n", g, view.Gate(g, p.Plan))
				failed = true
			case !found.Known:
				open = append(open, fmt.Sprintf("cannot evaluate --fail-on %s for %s/%s", g, p.DaemonSet.Namespace, p.DaemonSet.Name))
			}
		}
		if slices.ContainsFunc(plans, func(p planned) bool { return p.Lacks(snapshot.DaemonSets) }) {
			open = append(open, fmt.Sprintf("cannot evaluate --fail-on %s for DaemonSets that the input lacks", g))
		}
	}
	switch {
	case failed:
		return conditionHolds
	case len(open) > 0: // a gate that lets pass what it did not see is none
		hint := "the notes above say what could not be read"
		if slices.ContainsFunc(plans, func(p planned) bool { return !p.TemplateKnown() }) {
			hint = "take the snapshot with --show-values: values of a manifest cannot be compared with digests"
			if o.change != nil && o.change.ToRevision != nil {
				hint = "a newer version of kubectl ds may know the fields of the revision that this one does not"
			}
		}
		return hinted{errors.New(strings.Join(open, "; ")), hint}
	}
	has := map[exitStatus]bool{}
	for _, p := range plans {
		has[statusOf(p.Plan)] = o.exitCode
		has[inPart] = o.exitCode && (has[inPart] || inPartOnly(&p.Header) || !p.TemplateKnown())
	}
	return worst(has)
}

// statusOf is the exit status of one plan with --exit-code; 0 for none.
func statusOf(p *plan.Plan) exitStatus {
	underWay := p.Subject == plan.SubjectRollout && (p.Outcome.Code == plan.Completes || p.Next.Kind != daemonset.StepNone)
	switch {
	case p.Outcome.Code == plan.Stalls:
		return stuck
	case p.Outcome.Code == plan.RemovesAllPods:
		return degraded
	case p.Outcome.Unserved() > 0 && (p.Outcome.Code == plan.Completes || p.Outcome.Code == plan.NothingToDo):
		return degraded
	case p.Outcome.Code == plan.Unknown:
		return inPart
	case underWay:
		return moving
	}
	return 0
}
