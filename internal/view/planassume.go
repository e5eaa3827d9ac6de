package view

import (
	"cmp"
	"slices"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// assumed is what the plan rests on, what decides it first; with -o wide each
// assumption by itself, with its code and source.
func (s *planned) assumed() {
	if s.style.Wide {
		t := &screen.Table{Columns: columns("ASSUMPTION", "VALUE", "SOURCE")}
		for _, a := range s.p.Assumptions {
			if s.p.RestsOn(a.Code) {
				t.Rows = append(t.Rows, screen.Row{Cells: screen.Cells(string(a.Code), a.Value, a.Source)})
			}
		}
		s.s.Add(screen.Assumed, t)
		return
	}
	down := plan.Down(s.problems)
	known := daemonset.Facts{"answering": someNames(s.p.Answering()), "supposed": yesNo(s.p.Supposed(down...)), "down": yesNo(len(down) > 0)}
	if len(s.problems) == 0 {
		known["down"] = "unknown"
	}
	var lines []string
	switch {
	case s.o.Code != plan.Completes || s.o.Duration != nil || !s.p.RestsOn(plan.AssumeStart):
	case len(s.o.Late) > 0:
		lines = append(lines, "how long it takes is not known while these pods are not Ready")
	default:
		lines = append(lines, "how long a new pod takes to become Ready is not known; set it with --start 40s")
	}
	for _, of := range assumptions {
		i := slices.IndexFunc(s.p.Assumptions, func(a daemonset.Assumption) bool { return a.Code == of.code })
		if i < 0 || of.code == daemonset.AssumeControllerVersion || !s.p.RestsOn(of.code) {
			continue
		}
		if words := assumption(s.p.Assumptions[i], s.p.Assumptions, known); words != "" {
			lines = append(lines, words)
		}
	}
	for _, l := range few(lines, 3, "more assumption", s.style) {
		s.add(screen.Assumed, "%s", l)
	}
}

// assumption says in a sentence what was assumed, among all that was; empty for the
// controller's own pace. known is what else is known: whether nodes that stay without
// an available pod are down, or were asked to be, and which kubelets still answer.
func assumption(a daemonset.Assumption, all []daemonset.Assumption, known daemonset.Facts) string {
	f := with(known, daemonset.Facts{"value": a.Value, "source": a.Source})
	for _, other := range all {
		f[string(other.Code)] = cmp.Or(other.Value, "yes")
	}
	if fill(time.Time{}, f, "{StartFast@}") == fill(time.Time{}, f, "{StartSlow@}") {
		delete(f, string(plan.AssumeStartFast))
	}
	for _, of := range assumptions {
		if of.code == a.Code {
			return fill(time.Time{}, f, of.sentences...)
		}
	}
	return ""
}

// assumptions are the words of what an answer rests on, what decides it first. Beside
// the value and the source of its own, a sentence can use the value of each other
// assumption by its code.
var assumptions = []struct {
	code      daemonset.AssumptionCode
	sentences []string
}{
	{plan.AssumeRevisionFails, []string{"no pod of the new revision becomes available, as none has yet and {value:pod fails|pods fail}[, but for {ReadyPodsBecomeAvailable:pod that is Ready already|pods that are Ready already}]"}},
	{plan.AssumeInvalidImage, []string{`no pod of the new revision becomes available, as a kubelet does not start "{value}"`}},
	{plan.AssumeNodesStay, []string{
		"{down=unknown}{value:node stays as it is|nodes stay as they are}, as something is wrong there",
		"{supposed=yes}{value:node is|nodes are} down (--node-down)", "{down=yes}{value=1}the node stays NotReady", "{down=yes}the {value:node stays|nodes stay} as they are",
		"{RevisionFails=}{value=1}the pod that fails keeps failing", "{RevisionFails=}the {value:pod that fails keeps|pods that fail keep} failing",
	}},
	{plan.AssumeRefused, []string{"the API server keeps rejecting pods"}},
	{plan.AssumeLatePods, []string{"{value:pod that is not Ready yet becomes Ready, although it takes|pods that are not Ready yet become Ready, although they take} longer than any other did"}},
	{plan.AssumeHostPorts, []string{"no second pod is scheduled beside the old one, which uses the host port"}},
	{whatif.AssumeNoConflicts, []string{"server-side apply as field manager {value} has no conflicts: the input has no managed fields, which would show them"}},
	{whatif.AssumeEnvValues, []string{
		"{value:literal value of the manifest, of an environment variable or in an annotation, equals that in the cluster|literal values of the manifest, of environment variables or in annotations, equal those in the cluster}:" +
			" the snapshot holds digests, which cannot be compared (snapshot --show-values)",
	}},
	{whatif.AssumeUnknownFields, []string{"the API server drops {value:field that differs|fields that differ} between the revision and the live template: this version of kubectl ds does not know {value?it|them}"}},
	{daemonset.AssumeCurrentRevision, []string{
		"{source=None}no revision could be read, and no pod shows which one is current: no pod counts as updated",
		"no revision could be read: [{source=TemplateGeneration}the latest template generation of the pods shows][{source=Status}the numbers of the status show] which one is current, {value}",
	}},
	{daemonset.AssumeGeneration, []string{"{value:pod runs|pods run} the live template: the label pod-template-generation says so, the hash does not"}},
	{daemonset.AssumeNewHash, []string{"the revision that the next sync creates gets a new hash; pods with hash {value} count as updated if it gets theirs, as when a deleted revision is created again"}},
	{plan.AssumeNewPods, []string{"every new pod becomes available"}},
	{plan.AssumeStart, []string{
		"{source=Flag}a new pod is Ready {value@} after its creation (--start)",
		"a new pod is Ready {StartFast@} to {StartSlow@} after its creation, as 80% of the measured pods were",
		"a new pod is Ready {value@} after its creation (measured)",
	}},
	{plan.AssumeMinReadySeconds, []string{"a Ready pod is available after {value@} (minReadySeconds)[; the controller may notice it up to {CountedLate@} late]"}},
	{plan.AssumeTermination, []string{"{source=GracePeriod}a deleted pod is gone within its grace period of {value@}[, also on {answering}: its kubelet runs]", "a deleted pod is gone within {value@}[{source=Flag} (--termination)][{source=Events} (as the last ones were)]"}},
	{plan.AssumeCollected, []string{"pods of deleted nodes are gone after {value@}"}},
	{whatif.AssumeTemplateNotChecked, []string{
		"the API server accepts the pod template, which was checked only in part[{NoServerWarnings=yes}, and does not warn] (--server-dry-run asks it)",
	}},
	{whatif.AssumeNoServerWarnings, []string{"{TemplateNotChecked=}the API server does not warn (--server-dry-run asks it)"}},
	{daemonset.AssumeControllerVersion, []string{"kube-controller-manager runs {value}, as the API server does"}},
	{daemonset.AssumeNewestRules, []string{"the rules of {value}, the newest known, still hold"}},
	{daemonset.AssumeMayStay, []string{"the nodes that pods are on still exist and keep them"}},
	{daemonset.AssumeNodesReady, []string{"nodes are Ready unless a taint says otherwise, since their status is not in the input"}},
	{daemonset.AssumeTolerationComparison, []string{"the controller's feature gate {value} is on, since the template has a toleration that needs it (Lt or Gt)"}},
}
