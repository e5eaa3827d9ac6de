package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// atATime is how many pods are replaced at a time, of nodes of which at most so
// many wait for theirs; where none is left for a limit to decide about, all.
func atATime(f *plan.Forecast, nodes int) int {
	old := olds(f)
	if f.Outcome.AtOnce >= old {
		return old
	}
	return min(nodes, old-f.Outcome.AtOnce)
}

// olds is how many old pods a rollout has to deal with: it replaces them, or only
// deletes them.
func olds(f *plan.Forecast) int { return f.Replaces + f.Drops }

func holderNodes(holders []plan.Holder) []string {
	var nodes []string
	for _, h := range holders {
		nodes = append(nodes, h.Node)
	}
	return nodes
}

// movedWords is how many pods are created and deleted, or would be.
func movedWords(creates, deletes int, would bool) string {
	var parts []string
	for _, of := range []struct {
		n    int
		done string
	}{{creates, "created"}, {deletes, "deleted"}} {
		verb := pluralOf(of.n, "is ", "are ")
		if would {
			verb = "would be "
		}
		if of.n > 0 {
			parts = append(parts, plural(of.n, "pod")+" "+verb+of.done)
		}
	}
	return strings.Join(parts, ", ")
}

// moved is how many pods all waves create and delete.
func moved(f *plan.Forecast) (creates, deletes int) {
	for _, w := range f.Waves {
		creates, deletes = creates+w.Count*w.Creates, deletes+w.Count*w.Deletes
	}
	return creates, deletes
}

func stallReason(r daemonset.Reason) string {
	switch r {
	case cause.Terminating:
		return "terminating"
	case daemonset.InvalidBudget:
		return "maxUnavailable or maxSurge cannot be resolved, so every step fails"
	case daemonset.VanishedNodeInSurge:
		return "every surge step fails until the old pod of a vanished node is gone"
	case cause.FailedCreate:
		return "the API server refuses new pods"
	case daemonset.StepBudgetSpent:
		return "the budget is used up"
	case daemonset.StepWaiting:
		return "it waits for pods that do not come or do not go"
	case plan.Unfilled:
		return "nodes stay without a pod"
	case plan.Endless:
		return "the controller creates and deletes without end"
	}
	return string(r)
}

// left is how many nodes stay without an available pod, or hold the budget.
func left(o *plan.Outcome) int { return len(o.Holders) + o.FurtherHolders }

// codes lists the causes of holders, the most frequent first.
func codes(holders []plan.Holder) string {
	var out []string
	for _, p := range (&plan.Outcome{Holders: holders}).Problems() {
		if !slices.Contains(out, string(p.Code)) {
			out = append(out, string(p.Code))
		}
	}
	return strings.Join(out, ", ")
}

// ImageFault says what is wrong with the name of an image.
func ImageFault(fault template.ImageFault) string {
	switch fault {
	case template.ImageScheme:
		return "the name of an image has no scheme such as https://"
	case template.ImageCharacter:
		return "it has a character that no name of an image has"
	case template.ImageUppercase:
		return "the name of a repository has no upper case"
	case template.ImageNoTag:
		return "the tag after the colon is missing"
	case template.ImageBadDigest:
		return "the digest after @ is not sha256: and 64 hexadecimal digits"
	}
	return "it is not of the form REGISTRY/NAME:TAG"
}

// methodWords says how a manifest was laid over the live object.
func methodWords(c *plan.ChangeSummary) string {
	as := " as field manager " + c.FieldManager
	switch {
	case c.FieldManager == "":
	case c.Method == plan.MethodServerDryRun:
		return "by the API server, in a dry run of kubectl apply --server-side" + as
	case c.Method == plan.MethodOverlay:
		return "as kubectl apply --server-side" + as + "; no managed fields are known, so nothing is removed"
	case c.Method != "New":
		return "as kubectl apply --server-side" + as + "; a field that it alone owns and the manifest lacks is removed"
	}
	switch c.Method {
	case "", "New":
		return ""
	case "LastApplied":
		return "as kubectl apply does it, by the live object's last-applied annotation"
	case "ManagedFields":
		return "the manifest over the live object; what its field managers own and the manifest lacks is removed"
	case "Overlay":
		return "the manifest over the live object; unknown what it used to hold, so nothing is removed"
	case "ServerDryRun":
		return "by the API server, in a dry run"
	}
	return c.Method
}

var nodeChangeWords = map[plan.NodeChangeKind]string{
	plan.NodeTaint: "tainted", plan.NodeUntaint: "without the taint", plan.NodeLabel: "labelled", plan.NodeUnlabel: "without the label",
	plan.NodeCordon: "cordoned", plan.NodeUncord: "uncordoned", plan.NodeDown: "taken for down", plan.NodeRemove: "removed", plan.NodeAdd: "added",
}

// templateWords says what the change means for the revision.
func templateWords(p *plan.Plan) string {
	c := p.Change
	r := &c.Revision
	number := strconv.FormatInt(r.Number, 10)
	switch {
	case p.Subject == plan.SubjectNew && nowhere(p):
		return "no node is eligible: none matches the nodeSelector and affinity, or each has a taint that the pod does not tolerate"
	case p.Subject == plan.SubjectNew:
		return fmt.Sprintf("a new DaemonSet; %s", pluralVerb(p.Desired.After, "node is eligible", "nodes are eligible"))
	case !c.TemplateChanged && !p.TemplateKnown():
		return "the template is unchanged, assuming " + valuesEqual + "; otherwise every pod is replaced"
	case !c.TemplateChanged && len(c.Fields)+len(c.Nodes) == 0:
		return "none"
	case !c.TemplateChanged && len(c.Fields) == 0:
		return ""
	case !c.TemplateChanged:
		return "the template is unchanged: creates no revision"
	case !r.New && r.Was > 0 && !p.TemplateKnown():
		return fmt.Sprintf("the template is that of revision %d, which becomes revision %s, assuming %s; otherwise every pod is replaced", r.Was, number, valuesEqual)
	case !r.New && r.Was > 0:
		return fmt.Sprintf("the template is that of revision %d, which becomes revision %s: only pods on other revisions are replaced", r.Was, number)
	}
	what := ""
	if m, ok := template.OnlyMetadata(c.Fields, template.At); ok {
		what = "nothing else in the template than " + metadataWords(m) + "; "
		if slices.Equal(slices.Concat(m.Annotations, m.Labels), []string{template.RestartedAt.Last().Name}) {
			what = "nothing else in the template; "
		}
	}
	if r.From > 0 {
		return what + "creates revision " + number
	}
	return what + "creates a revision"
}

// metadataWords names annotations and labels.
func metadataWords(m template.Metadata) string {
	var parts []string
	for _, of := range []struct {
		one, many string
		keys      []string
	}{{"the annotation", "the annotations", m.Annotations}, {"the label", "the labels", m.Labels}} {
		const most = 5
		names := slices.Clone(of.keys[:min(most, len(of.keys))])
		for i, n := range names {
			names[i] = clean(n)
		}
		switch n := len(of.keys) - most; {
		case len(of.keys) == 0:
			continue
		case len(of.keys) == 1:
			parts = append(parts, of.one+" "+names[0])
			continue
		case n > 0:
			names = append(names, fmt.Sprintf("%d more", n))
		}
		parts = append(parts, of.many+" "+strings.Join(names, ", "))
	}
	return strings.Join(parts, " and ")
}

// lostLater are the nodes that lose their pod, but for those that do so at once
// for the change.
func lostLater(p *plan.Plan) []plan.PlacementNode {
	return slices.DeleteFunc(slices.Clone(p.Lost), func(n plan.PlacementNode) bool {
		return slices.ContainsFunc(p.Placement.Lose, func(l plan.PlacementNode) bool { return l.Node == n.Node })
	})
}

// placedGroup is nodes that gain or lose a pod for one reason.
type placedGroup struct {
	reason daemonset.Reason
	words  string
	nodes  []string
}

// placedGroups puts nodes of one reason together, the largest group first.
func placedGroups(nodes []plan.PlacementNode) []placedGroup {
	var groups []placedGroup
	for _, n := range nodes {
		words := placement(n.Verdict.Reason, n.Verdict.Facts)
		i := slices.IndexFunc(groups, func(g placedGroup) bool { return g.reason == n.Verdict.Reason && g.words == words })
		if i < 0 {
			i, groups = len(groups), append(groups, placedGroup{reason: n.Verdict.Reason, words: words})
		}
		groups[i].nodes = append(groups[i].nodes, n.Node)
	}
	slices.SortStableFunc(groups, func(a, b placedGroup) int { return len(b.nodes) - len(a.nodes) })
	return groups
}

// begins says when the first of some waves begins, where that is known.
func begins(w plan.Wave) string {
	if w.At == nil {
		return "?"
	}
	return seconds(*w.At)
}

func interval(from, to int) string {
	if from == to {
		return strconv.Itoa(from)
	}
	return fmt.Sprintf("%d-%d", from, to)
}

func each(n, count int) string {
	if count > 1 && n > 0 {
		return fmt.Sprintf("%d each", n)
	}
	return strconv.Itoa(n)
}

// rangeWords is "19m to 44m".
func rangeWords(d *plan.Duration) string {
	low, high := seconds(d.Optimistic), seconds(d.Pessimistic)
	if low == high {
		return low
	}
	return low + " to " + high
}

// seconds writes a span of time with no more digits than a forecast has.
func seconds(n float64) string {
	d := time.Duration(n * float64(time.Second))
	switch {
	case d > 0 && d < time.Second:
		d = time.Second
	case d < 2*time.Minute:
		d = d.Round(time.Second)
	case d.Round(time.Minute) < time.Hour:
		d = d.Round(time.Minute)
	case d < 10*time.Hour:
		d = d.Round(5 * time.Minute)
		if m := d % time.Hour; m > 0 {
			return fmt.Sprintf("%dh%dm", d/time.Hour, m/time.Minute)
		}
	default:
		d = d.Round(time.Hour)
	}
	return ago(d)
}
