package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// stallReason says why a rollout does not complete.
func stallReason(r daemonset.Reason) string { return cmp.Or(stallWords[r], string(r)) }

var stallWords = map[daemonset.Reason]string{
	cause.Terminating:             "pods stay Terminating",
	daemonset.InvalidBudget:       "maxUnavailable or maxSurge cannot be resolved, so every step fails",
	daemonset.VanishedNodeInSurge: "every surge step fails until the old pod of a deleted node is gone",
	cause.FailedCreate:            "the API server rejects new pods",
	daemonset.StepBudgetSpent:     "the limit is used up",
	daemonset.StepWaiting:         "the controller waits for pods to become available or to end",
	plan.Unfilled:                 "nodes stay without a pod",
	plan.Endless:                  "the controller creates and deletes pods without end",
}

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
func ImageFault(fault template.ImageFault) string { return imageFaults[fault] }

var imageFaults = map[template.ImageFault]string{
	template.ImageScheme:    "the name of an image has no scheme such as https://",
	template.ImageCharacter: "it has a character that no name of an image has",
	template.ImageUppercase: "the name of a repository has no upper case",
	template.ImageNoTag:     "the tag after the colon is missing",
	template.ImageBadDigest: "the digest after @ is not sha256: and 64 hexadecimal digits",
	template.ImageForm:      "it is not of the form REGISTRY/NAME:TAG",
}

// methods say how a manifest was laid over the live object, and as whom.
var methods = []string{
	"{method=New}",
	"{method=ServerDryRun}by the API server, in a dry run[ of kubectl apply --server-side as field manager {manager}]",
	"{method=Overlay}as kubectl apply --server-side as field manager {manager}; no managed fields are known, so nothing is removed",
	"as kubectl apply --server-side as field manager {manager}; a field that it alone owns and the manifest lacks is removed",
	"{method=LastApplied}as kubectl apply does it, by the live object's last-applied annotation",
	"{method=ManagedFields}the manifest over the live object; what its field managers own and the manifest lacks is removed",
	"{method=Overlay}the manifest over the live object; unknown what it used to hold, so nothing is removed",
}

var nodeChangeWords = map[whatif.NodeChangeKind]string{
	whatif.NodeTaint: "tainted", whatif.NodeUntaint: "without the taint", whatif.NodeLabel: "labeled", whatif.NodeUnlabel: "without the label",
	whatif.NodeCordon: "cordoned", whatif.NodeUncordon: "uncordoned", whatif.NodeDown: "assumed to be down", whatif.NodeRemove: "removed", whatif.NodeAdd: "added like",
}

// templateWords says what the change means for the revision.
func templateWords(p *plan.Plan) string {
	c := p.Change
	f := daemonset.Facts{
		"new": p.Subject == plan.SubjectNew, "nodes": p.Desired.After, "nowhere": p.Nowhere(), "changed": c.TemplateChanged, "known": p.TemplateKnown(),
		"differ": len(c.Fields), "changes": len(c.Fields) + len(c.Nodes), "restores": !c.Revision.New && c.Revision.Was > 0, "was": c.Revision.Was, "kept": p.Kept(),
	}
	if c.Revision.From > 0 || f["restores"] == true {
		f["number"] = c.Revision.Number
	}
	if m, only := template.OnlyMetadata(c.Fields, template.At); only {
		f["annotations"], f["labels"] = upTo(5, m.Annotations), upTo(5, m.Labels)
		f["both"] = len(m.Annotations) > 0 && len(m.Labels) > 0
		f["restart"] = slices.Equal(slices.Concat(m.Annotations, m.Labels), []string{template.RestartedAt.Last().Name})
	}
	return fill(time.Time{}, f, templates...)
}

// templates are the words for what a change does to the template.
var templates = []string{
	"{new=true}{nowhere=true}no node is eligible: none matches the nodeSelector and affinity, or each has a taint that the pod does not tolerate",
	"{new=true}a new DaemonSet; {nodes:node is eligible|nodes are eligible}",
	"{changed=false}{known=false}the template is unchanged, assuming " + valuesEqual + "; otherwise every pod is replaced",
	"{changed=false}{changes=0}none",
	"{changed=false}{differ=0}",
	"{changed=false}the template is unchanged: creates no revision",
	"{restores=true}revision {was} is renumbered to revision {number}" +
		"[{known=true}; its {kept:pod is|pods are} kept][{known=false}, assuming " + valuesEqual + "; otherwise every pod is replaced]",
	"{restart=true}nothing else in the template; " + createsRevision,
	"{restart=false}nothing else in the template than [{annotations?the annotation|the annotations} {annotations}][{both=true} and ][{labels?the label|the labels} {labels}]; " + createsRevision,
	createsRevision,
}

const createsRevision = "creates [revision {number}][{number=}a revision]"

// upTo are at most so many names, and how many more there are.
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

// rangeWords is "19m to 44m"; empty where it is not known.
func rangeWords(d *plan.Duration) string {
	if d == nil {
		return ""
	}
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

// gates say that a condition holds for a plan, and with which number.
var gates = map[plan.GateOn]string{
	plan.GateStalls: "the rollout of {of} stalls[, {left:pod is not updated|pods are not updated}][, {terminating:pod stays|pods stay} terminating]" +
		"[, {without:node stays|nodes stay} without an available pod]{atWorst? at worst|}",
	plan.GateRemovesAllPods:   "no node runs the pod of {of} at the end",
	plan.GateLostNodes:        "{of}: {n:node loses its pod|nodes lose their pod}",
	plan.GateReplaces:         "{of}: {n:pod is|pods are} replaced",
	plan.GateImmediateDeletes: "{of}: {n:pod is|pods are} deleted immediately",
}

// Gate says that a condition holds for a plan, by what it found there.
func Gate(g plan.Gate, p *plan.Plan) string {
	o := &p.Outcome
	f := daemonset.Facts{"of": p.DaemonSet.Namespace + "/" + p.DaemonSet.Name, "n": g.Of(p).Number, "left": o.Left, "terminating": o.Terminating, "atWorst": o.AtWorst}
	if o.Left+o.Terminating == 0 {
		f["without"] = o.Unserved()
	}
	return fill(time.Time{}, f, gates[g.On])
}
