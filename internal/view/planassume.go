package view

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

// assumed is what the plan rests on, what decides it first; with -o wide each
// assumption by itself, with its code and source.
func (s *planned) assumed() {
	given := map[daemonset.AssumptionCode]daemonset.Assumption{}
	t := &screen.Table{Columns: []screen.Column{{Head: "ASSUMPTION"}, {Head: "VALUE"}, {Head: "SOURCE"}}}
	for _, a := range s.p.Assumptions {
		if s.matters(a.Code) {
			given[a.Code] = a
			t.Rows = append(t.Rows, screen.Row{Cells: screen.Cells(string(a.Code), a.Value, a.Source)})
		}
	}
	if s.style.Wide {
		s.s.Add(screen.Assumed, t)
		return
	}
	for _, of := range assumptions {
		if a, found := given[of.code]; found {
			s.add(screen.Assumed, "%s", of.words(s, a, given))
			delete(given, of.code)
		}
	}
	for _, a := range s.p.Assumptions {
		if _, left := given[a.Code]; left && !slices.Contains(unsaid, a.Code) {
			s.add(screen.Assumed, "%s", assumption(a))
		}
	}
	creates, _ := moved(&s.p.Forecast)
	switch {
	case s.o.Code != plan.Completes || s.o.Duration != nil || creates == 0:
	case len(s.o.Late) > 0:
		s.add(screen.Assumed, "unknown: how long it takes, while these pods are not Ready")
	default:
		s.add(screen.Assumed, "unknown: how long a new pod takes to become Ready (set it with --start 40s)")
	}
}

// matters reports whether an assumption is about something that happens in the
// plan.
func (s *planned) matters(code daemonset.AssumptionCode) bool {
	creates, deletes := moved(&s.p.Forecast)
	inner := s.p.IfTemplateChanged
	course := len(s.p.Waves) > 0 || s.o.Code == plan.Stalls || inner != nil && inner.Outcome.Code != plan.NotRolling
	switch {
	case slices.Contains(ofManifest, code), !slices.Contains(plan.Assumptions, code):
		return true
	case slices.Contains(ofCreates, code):
		return course && (creates > 0 || inner != nil || s.o.Code == plan.Stalls)
	case code == plan.AssumeTermination:
		return course && (deletes > 0 || inner != nil || s.o.Code == plan.Stalls)
	}
	return course
}

var (
	// ofManifest are the assumptions that matter even where nothing is to happen.
	ofManifest = []daemonset.AssumptionCode{plan.AssumeTemplateNotChecked, plan.AssumeNoServerWarnings, plan.AssumeNoConflicts, plan.AssumeEnvValues, plan.AssumeUnknownFields}
	// ofCreates are those about pods that are created.
	ofCreates = []daemonset.AssumptionCode{plan.AssumeStart, plan.AssumeStartFast, plan.AssumeStartSlow, plan.AssumeNewPods, plan.AssumeMinReadySeconds}
	// unsaid are those that only -o wide shows: the controller's own pace, how fast
	// and slow pods are, which stands beside the usual start, and that the controller
	// is as new as the API server.
	unsaid = []daemonset.AssumptionCode{
		plan.AssumeRequestRate, plan.AssumeStepBurst, plan.AssumeRequestBurst, plan.AssumeSlowStart, plan.AssumeStartFast, plan.AssumeStartSlow, daemonset.AssumeControllerVersion,
	}
)

type assumed = map[daemonset.AssumptionCode]daemonset.Assumption

// assumptions are the words of those that decide a plan, in their order.
var assumptions = []struct {
	code  daemonset.AssumptionCode
	words func(s *planned, a daemonset.Assumption, all assumed) string
}{
	{plan.AssumeRevisionFails, func(_ *planned, a daemonset.Assumption, all assumed) string {
		n, _ := strconv.Atoi(a.Value)
		words := fmt.Sprintf("no pod of the new revision becomes available, as none has yet and %s", pluralVerb(n, "pod fails", "pods fail"))
		if ready, found := all[plan.AssumeReadyPods]; found {
			delete(all, plan.AssumeReadyPods)
			n, _ := strconv.Atoi(ready.Value)
			words += ", but for " + pluralVerb(n, "pod that is Ready already", "pods that are Ready already")
		}
		return words
	}},
	{plan.AssumeInvalidImage, func(_ *planned, a daemonset.Assumption, _ assumed) string {
		return `no pod of the new revision becomes available, as a kubelet does not start "` + a.Value + `"`
	}},
	{plan.AssumeNodesStay, func(s *planned, a daemonset.Assumption, _ assumed) string {
		n, _ := strconv.Atoi(a.Value)
		for _, p := range s.problems {
			if p.Code == cause.NodeNotReady || p.Code == cause.TerminatingOnDeadNode {
				return pluralOf(n, "the node stays NotReady", fmt.Sprintf("the %d nodes stay as they are", n))
			}
		}
		return "the " + pluralOf(n, "pod that fails keeps failing", fmt.Sprintf("%d pods that fail keep failing", n))
	}},
	{plan.AssumeRefused, fixed("the API server keeps rejecting pods")},
	{plan.AssumeLatePods, func(_ *planned, a daemonset.Assumption, _ assumed) string {
		n, _ := strconv.Atoi(a.Value)
		return pluralVerb(n, "pod that is not Ready yet becomes Ready, although it takes", "pods that are not Ready yet become Ready, although they take") + " longer than any other did"
	}},
	{plan.AssumeHostPorts, fixed("no second pod is scheduled beside the old one, which uses the host port")},
	{plan.AssumeNewPods, fixed("every new pod becomes available")},
	{plan.AssumeReadyPods, func(_ *planned, a daemonset.Assumption, _ assumed) string {
		n, _ := strconv.Atoi(a.Value)
		return pluralVerb(n, "pod that is Ready becomes available", "pods that are Ready become available")
	}},
	{plan.AssumeStart, startWords},
	{plan.AssumeMinReadySeconds, func(_ *planned, a daemonset.Assumption, _ assumed) string {
		return "a Ready pod is available after " + a.Value + "s (minReadySeconds)"
	}},
	{plan.AssumeTermination, func(_ *planned, a daemonset.Assumption, _ assumed) string {
		how := map[string]string{"GracePeriod": " (its grace period) or sooner", "Flag": " (--termination)", "Events": " (as the last ones were)"}[a.Source]
		return "a deleted pod is gone within " + assumedTime(a.Value) + how
	}},
	{plan.AssumeCollected, func(_ *planned, a daemonset.Assumption, _ assumed) string {
		return "pods of deleted nodes are gone after " + assumedTime(a.Value)
	}},
	{plan.AssumeTemplateNotChecked, func(_ *planned, _ daemonset.Assumption, all assumed) string {
		words := "the API server accepts the pod template, of which only a part was checked"
		if _, both := all[plan.AssumeNoServerWarnings]; both {
			delete(all, plan.AssumeNoServerWarnings)
			return words + "; its warnings were not asked for (--server-dry-run asks for both)"
		}
		return words + " (--server-dry-run asks it)"
	}},
	{plan.AssumeNoServerWarnings, fixed("the API server's warnings were not asked for (--server-dry-run asks for them)")},
	{plan.AssumeNoConflicts, func(_ *planned, a daemonset.Assumption, _ assumed) string {
		return "server-side apply as field manager " + a.Value + " has no conflicts: the input has no managed fields, which would tell"
	}},
	{plan.AssumeEnvValues, func(_ *planned, a daemonset.Assumption, _ assumed) string {
		n, _ := strconv.Atoi(a.Value)
		return pluralVerb(n, "literal value of the manifest, of an environment variable or in an annotation, is", "literal values of the manifest, of environment variables or in annotations, are") +
			" taken for what is in the cluster: the snapshot holds digests, which cannot be compared (snapshot --show-values)"
	}},
	{plan.AssumeUnknownFields, func(_ *planned, a daemonset.Assumption, _ assumed) string {
		n, _ := strconv.Atoi(a.Value)
		return "the API server drops " + pluralVerb(n, "field that differs", "fields that differ") + " between the revision and the live template: this version of kubectl ds does not know " + pluralOf(n, "it", "them")
	}},
	{daemonset.AssumeCurrentRevision, func(_ *planned, a daemonset.Assumption, _ assumed) string {
		switch a.Source {
		case "None":
			return "no revision could be read, and no pod tells the current one: all pods count as old"
		case "TemplateGeneration":
			return "no revision could be read: the newest template generation of the pods tells the current one, " + a.Value
		case "Status":
			return "no revision could be read: the numbers of the status tell the current one, " + a.Value
		}
		return assumption(a)
	}},
}

func fixed(words string) func(*planned, daemonset.Assumption, assumed) string {
	return func(*planned, daemonset.Assumption, assumed) string { return words }
}

// startWords is how long a pod takes to become Ready.
func startWords(_ *planned, a daemonset.Assumption, all assumed) string {
	fast, slow := all[plan.AssumeStartFast], all[plan.AssumeStartSlow]
	switch from, to := assumedTime(fast.Value), assumedTime(slow.Value); {
	case a.Source == "Flag":
		return "a new pod is Ready " + assumedTime(a.Value) + " after its creation (--start)"
	case fast.Value != "" && slow.Value != "" && from != to:
		return fmt.Sprintf("a new pod is Ready %s to %s after its creation (measured, without the fastest and slowest tenth)", from, to)
	}
	return "a new pod is Ready " + assumedTime(a.Value) + " after its creation (measured)"
}

// assumedTime writes a duration, which the document has as Go writes it.
func assumedTime(value string) string {
	d, err := time.ParseDuration(value)
	if err != nil {
		return value
	}
	return seconds(d.Seconds())
}
