package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// codes joins the causes of the holders, the most frequent first.
func codes(holders []plan.Holder) string {
	var out []string
	for _, p := range plan.ProblemsOf(holders) {
		if !slices.Contains(out, string(p.Code)) {
			out = append(out, string(p.Code))
		}
	}
	return strings.Join(out, ", ")
}

// ImageFault describes what is wrong with the name of an image.
func ImageFault(fault template.ImageFault) string { return imageFaults[fault] }

var imageFaults = map[template.ImageFault]string{
	template.ImageScheme:    "the name of an image has no scheme such as https://",
	template.ImageCharacter: "it has a character that no name of an image has",
	template.ImageUppercase: "the name of a repository has no upper case",
	template.ImageNoTag:     "the tag after the colon is missing",
	template.ImageBadDigest: "the digest after @ is not sha256: and 64 hexadecimal digits",
	template.ImageForm:      "it is not of the form REGISTRY/NAME:TAG",
}

// methodWords describes how a manifest was merged with the live object, and for which field manager. It returns "" if
// the DaemonSet is new.
func methodWords(method, manager string) string {
	as := "as kubectl apply --server-side as field manager " + manager
	switch {
	case method == "New":
		return ""
	case method == whatif.MethodServerDryRun:
		return "by the API server, in a dry run" +
			wording.Phrase(" of kubectl apply --server-side as field manager ", manager)
	case manager != "" && method == whatif.MethodOverlay:
		return as + "; no managed fields are known, so nothing is removed"
	case manager != "":
		return as + "; a field that it alone owns and the manifest lacks is removed"
	case method == "LastApplied":
		return "as kubectl apply does it, by the live object's last-applied annotation"
	case method == "ManagedFields":
		return "the manifest over the live object; what its field managers own and the manifest lacks is removed"
	case method == whatif.MethodOverlay:
		return "the manifest over the live object; unknown what it used to hold, so nothing is removed"
	}
	return ""
}

var nodeChangeWords = map[whatif.NodeChangeKind]string{
	whatif.NodeTaint: "tainted", whatif.NodeUntaint: "without the taint", whatif.NodeLabel: "labeled",
	whatif.NodeUnlabel: "without the label",
	whatif.NodeCordon:  "cordoned", whatif.NodeUncordon: "uncordoned", whatif.NodeDown: "assumed to be down",
	whatif.NodeRemove: "removed", whatif.NodeAdd: "added like",
}

// templateWords describes the effect of the change on the revision.
func templateWords(p *plan.Plan) string {
	const assuming = ", assuming " + valuesEqual + "; otherwise every pod is replaced"
	c, r := p.Change, &p.Change.Revision
	meta, only := template.OnlyMetadata(c.Fields)
	creates := "creates a revision"
	if r.From > 0 {
		creates = fmt.Sprintf("creates revision %d", r.Number)
	}
	switch isNew := p.Subject == plan.SubjectNew; {
	case isNew && p.Nowhere():
		return "no node is eligible: none matches the nodeSelector and affinity, " +
			"or each has a taint that the pod does not tolerate"
	case isNew:
		return "a new DaemonSet; " + wording.PluralVerb(p.Desired.After, "node is eligible", "nodes are eligible")
	case !c.TemplateChanged && !p.TemplateKnown():
		return "the template is unchanged" + assuming
	case !c.TemplateChanged && len(c.Fields) > 0:
		return "the template is unchanged: creates no revision"
	case !c.TemplateChanged:
		return wording.Either(len(c.Nodes) == 0, "none", "")
	case !r.New && r.Was > 0:
		kept := wording.Phrase("; its ", wording.Counted(p.Kept(), "pod is", "pods are"), " kept")
		return fmt.Sprintf("revision %d becomes revision %d", r.Was, r.Number) +
			wording.Either(p.TemplateKnown(), kept, assuming)
	case only && slices.Equal(slices.Concat(meta.Annotations, meta.Labels), []string{template.RestartedAt.Last().Name}):
		return "nothing else in the template; " + creates
	case only:
		names := wording.Joined(" and ", listOf("the annotation ", "the annotations ", meta.Annotations),
			listOf("the label ", "the labels ", meta.Labels))
		return "nothing else in the template than " + names + "; " + creates
	}
	return creates
}

// listOf lists up to five names and the number of the others. It returns "" if there are none.
func listOf(one, many string, names []string) string {
	return wording.Phrase(wording.PluralOf(len(names), one, many), screen.Clean(strings.Join(upTo(5, names), ", ")))
}

// upTo returns the first names, up to most, and the number of the others.
func upTo(most int, names []string) []string {
	if more := len(names) - most; more > 0 {
		return append(slices.Clone(names[:most]), fmt.Sprintf("%d more", more))
	}
	return names
}

func each(n, count int) string {
	if count > 1 && n > 0 {
		return fmt.Sprintf("%d each", n)
	}
	return strconv.Itoa(n)
}

// Gate says that a condition of --fail-on holds for a plan. It includes the number from the plan.
func Gate(g plan.Gate, p *plan.Plan) string {
	of, n := screen.Clean(p.DaemonSet.Namespace+"/"+p.DaemonSet.Name), g.Of(p).Number
	switch o := &p.Outcome; g.On {
	case plan.GateStalls:
		without := ""
		if o.Left+o.Terminating == 0 {
			without = wording.Phrase(wording.Counted(o.Unserved(), "node stays", "nodes stay"),
				" without an available pod")
		}
		stalls := wording.Joined(", ", "the rollout of "+of+" stalls",
			wording.Counted(o.Left, "pod is not updated", "pods are not updated"),
			wording.Phrase(wording.Counted(o.Terminating, "pod stays", "pods stay"), " terminating"), without)
		return stalls + wording.Either(o.AtWorst, " at worst", "")
	case plan.GateRemovesAllPods:
		return "no node runs the pod of " + of + " at the end"
	case plan.GateLostNodes:
		return of + ": " + wording.PluralVerb(n, "node loses its pod", "nodes lose their pod")
	case plan.GateStrands:
		return of + ": " + wording.PluralVerb(n, "node loses its pod", "nodes lose their pod") +
			" for good, because of a taint that the pod does not tolerate"
	case plan.GateUnfit:
		return of + ": the new pod does not fit on " + wording.Plural(n, "node")
	case plan.GateReplaces:
		return of + ": " + wording.PluralVerb(n, "pod is", "pods are") + " replaced"
	case plan.GateImmediateDeletes:
		return of + ": " + wording.PluralVerb(n, "pod is", "pods are") + " deleted immediately"
	}
	return ""
}

// assumed adds the assumptions of the plan, the decisive ones first. With -o wide, it adds a row for each of them, with
// its code and source.
func (s *planScreen) assumed() {
	if s.Style.Wide {
		t := &screen.Table{Columns: sheet.Columns("ASSUMPTION", "VALUE", "SOURCE")}
		for _, a := range s.p.Assumptions {
			if s.p.RestsOn(a.Code) {
				t.Row(string(a.Code), a.Value, a.Source)
			}
		}
		s.Screen.Add(screen.Assumed, t)
		return
	}
	beside := s.circumstances()
	rests := slices.DeleteFunc(slices.Clone(s.p.Assumptions),
		func(a daemonset.Assumption) bool { return !s.p.RestsOn(a.Code) })
	var lines []string
	uncomputed := map[string]bool{}
	if s.o.ReachesEnd() && s.o.Duration == nil && s.p.RestsOn(plan.AssumeStart) {
		lines = append(lines, "how long a new pod takes to become Ready is not known; set it with --start 40s")
	}
	for _, of := range sheet.Assumptions {
		i := slices.IndexFunc(rests, func(a daemonset.Assumption) bool { return a.Code == of.Code })
		// the headline says these
		said := slices.Contains([]daemonset.AssumptionCode{plan.AssumeMissingReference,
			plan.AssumeInvalidImage}, of.Code)
		if of.Code == plan.AssumeNewPods {
			confined := func(a daemonset.Assumption) bool { return a.Code == plan.AssumeConfined }
			said = s.neverRuns() && s.o.Reason != cause.FailedCreate || slices.ContainsFunc(s.p.Assumptions, confined)
		}
		if i < 0 || of.Code == daemonset.AssumeControllerVersion || said {
			continue
		}
		if words := sheet.Assumption(rests[i], rests, beside); words != "" {
			lines = append(lines, words)
			uncomputed[words] = slices.Contains(unchecked, of.Code)
		}
	}
	for i, words := range lines {
		l := screen.Rests
		if (i == 0 || uncomputed[words]) && !s.stays() {
			l = screen.Assumed
		}
		s.Add(l, "%s", words)
	}
}

// unchecked has the assumptions that the screen always shows: those that replace a comparison or a computation.
var unchecked = []daemonset.AssumptionCode{
	plan.AssumeNotModelled, plan.AssumeOtherPods, plan.AssumeAsUser, plan.AssumeNotTried,
	whatif.AssumeNoConflicts, whatif.AssumeEnvValues, whatif.AssumeUnknownFields, whatif.AssumeTemplateNotChecked,
}
