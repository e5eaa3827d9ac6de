// Package wording turns values into words: counts, durations, facts of a cause, names of objects. Its functions take a
// value and return a phrase in plain text. They know no screen.
package wording

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Fact returns a fact as text that is safe to print, or "" if it is absent.
func Fact(f daemonset.Facts, key string) string {
	switch v := f[key].(type) {
	case nil:
		return ""
	case []string:
		return screen.Clean(strings.Join(v, ", "))
	default:
		return screen.Clean(fmt.Sprint(v))
	}
}

// Number returns a fact that is an integer or the text of one, or the length of a list.
func Number(f daemonset.Facts, key string) int {
	if list, ok := f[key].([]string); ok {
		return len(list)
	}
	n, _ := strconv.Atoi(Fact(f, key))
	return n
}

// Placement returns the words for the rule that makes a node ineligible, or "" for any other reason.
func Placement(reason daemonset.Reason, f daemonset.Facts) string {
	if say := Placements[reason]; say != nil {
		return say(Known{Facts: f})
	}
	return ""
}

// Placements has a function for each rule that a node can fail.
var Placements = map[daemonset.Reason]func(Known) string{
	daemonset.NodeName:              func(f Known) string { return Phrase("the template names node ", f.Text("want")) },
	daemonset.NodeSelector:          lacksLabel,
	daemonset.NodeAffinity:          func(f Known) string { return Phrase("affinity: ", Requirement(f)) },
	daemonset.TaintNotTolerated:     hasTaint,
	daemonset.NodeGone:              func(Known) string { return "there is no such node" },
	daemonset.NamespaceNodeSelector: notSelected,
}

func lacksLabel(f Known) string {
	label := f.Text("key") + "=" + f.Text("want")
	switch needs := "the pod needs the label " + label; {
	case f.Is("nodesWith", "0"):
		return "no node has the label " + label
	case f.Is("present", "false"):
		return needs + ", the node has none"
	default:
		return needs + Phrase(", the node has ", labelValue(f))
	}
}

// labelValue returns the value of a node's label. An empty value becomes a pair of quotation marks. It returns "" if
// the value is unknown.
func labelValue(f Known) string {
	if f.Facts["got"] == nil {
		return ""
	}
	return cmp.Or(f.Text("got"), `""`)
}

// Requirement describes the failing requirement of a node affinity.
func Requirement(f Known) string {
	needs := "needs " + f.Text("key") + " " + f.Text("operator") + Phrase(" [", f.Text("values"), "]")
	switch {
	case f.Text("operator") == "" && f.Is("terms", "0"):
		return "no term, so no node matches"
	case f.Text("operator") == "":
		return Phrase("none of its ", f.Text("terms"), PluralOf(f.Count("terms"), " term", " terms"), " matches")
	case f.Is("valid", "false"):
		return needs + ", which is not valid and never matches"
	}
	return needs + Phrase(", has ", labelValue(f))
}

func hasTaint(f Known) string {
	meaning := Phrase(TaintMeanings[f.Text("key")], ": ")
	if taints := f.Text("taints"); taints != "" {
		return meaning + "taints " + taints
	}
	return Phrase(meaning+"taint ", f.Text("taint"))
}

func notSelected(f Known) string {
	if annotation := f.Text("annotation"); annotation != "" {
		return "the namespace selects " + f.Text("selector") + " (" + annotation + ")"
	}
	return "the controller selects " + f.Text("selector") + " by default"
}

// MergeFacts returns a copy of f that also has the facts in more, which take precedence.
func MergeFacts(f, more daemonset.Facts) daemonset.Facts {
	all := daemonset.Facts{}
	maps.Copy(all, f)
	maps.Copy(all, more)
	return all
}

// TaintMeanings explains well-known taints, by key.
var TaintMeanings = map[string]string{
	"node.kubernetes.io/not-ready":           "the node is NotReady",
	"node.kubernetes.io/unreachable":         "the node is unreachable",
	"node.kubernetes.io/unschedulable":       "the node is cordoned",
	"node.kubernetes.io/disk-pressure":       "the node is under disk pressure",
	"node.kubernetes.io/memory-pressure":     "the node is under memory pressure",
	"node.kubernetes.io/pid-pressure":        "the node is under pid pressure",
	"node.kubernetes.io/network-unavailable": "the node's network is not set up",
	"node.kubernetes.io/out-of-service": "somebody declared the node out of service: its pods are " +
		"force-deleted",
	"node.cloudprovider.kubernetes.io/uninitialized": "the cloud controller has not set the node up yet",
	"node.cloudprovider.kubernetes.io/shutdown":      "the cloud says the machine is shut down",
	"ToBeDeletedByClusterAutoscaler":                 "cluster-autoscaler is removing the node",
	"DeletionCandidateOfClusterAutoscaler":           "cluster-autoscaler may remove the node",
	"karpenter.sh/disrupted":                         "Karpenter is replacing the node",
	"karpenter.sh/disruption":                        "Karpenter is replacing the node",
	"karpenter.sh/unregistered":                      "Karpenter waits for the node to register",
	"node-role.kubernetes.io/control-plane":          "control plane",
	"node-role.kubernetes.io/master":                 "control plane",
	"ebs.csi.aws.com/agent-not-ready":                "the EBS CSI driver has not started on the node",
	"node.cilium.io/agent-not-ready":                 "Cilium has not started on the node",
	"nvidia.com/gpu":                                 "for pods that use a GPU",
	"CriticalAddonsOnly":                             "for critical add-ons",
	"eks.amazonaws.com/compute-type":                 "a Fargate node, which runs no DaemonSets",
	"virtual-kubelet.io/provider":                    "a virtual node, which has no kubelet",
}

// InBrackets joins the words that are not empty in brackets, with a space before them. It returns "" if all are empty.
func InBrackets(words ...string) string { return WithPrefix(" ", Bracketed(words...)) }

// Bracketed joins the words that are not empty in brackets. It returns "" if all are empty.
func Bracketed(words ...string) string {
	if text := Joined("; ", words...); text != "" {
		return "(" + text + ")"
	}
	return ""
}

// SourceWords names the sources of the controller's version.
var SourceWords = map[snapshot.VersionSource]string{
	snapshot.VersionServer: "the API server's", snapshot.VersionFlag: "by flag", snapshot.VersionDump: "by the dump",
	snapshot.VersionKubelet: "the highest kubelet's", snapshot.VersionDefault: "the newest known",
}

// gapReasons has the words for the reasons of a gap in the input, and consequences those for its effects on the result.
var (
	gapReasons = map[snapshot.Why]string{
		snapshot.Forbidden: "not allowed to read", snapshot.NotGiven: "not in the input",
		snapshot.Partial: "only in part in the input", snapshot.Failed: "could not be read",
		snapshot.Moved: "changed while being read",
	}
	consequences = map[snapshot.Consequence]string{
		snapshot.DaemonSetsUnknown: "the list may lack some of them",
		snapshot.PlacementUnknown:  "DESIRED is not computed, and no reason is given why nodes are left out",
		snapshot.PodsUnknown:       "only the reported numbers are left",
		snapshot.ReportedUnknown: "the reported numbers are unknown, and whether the controller has " +
			"observed the latest generation",
		snapshot.NodeConditionsUnknown: "only its taints show that a node is NotReady",
		snapshot.EveryNodeSelected:     "the placement is computed as if it selected every node",
		snapshot.PodStatesUnknown:      "READY and AVAILABLE are not computed, and nothing is forecast",
		snapshot.RevisionInferred:      "which pods are updated is inferred from their labels",
		snapshot.DisruptionBudgetsUnknown: "unknown whether one selects the pods; a rolling update ignores it either " +
			"way",
		snapshot.AdmissionUnchecked:  "whether the API server would admit a new pod is checked only in part",
		snapshot.WebhooksUnknown:     "webhooks and policies that may reject a new pod are not named",
		snapshot.FitUnknown:          "unknown whether a further pod fits on its node",
		snapshot.VictimsAssumed:      "a preemption is computed as if no PodDisruptionBudget protected a pod",
		snapshot.VolumesUnchecked:    "whether its volumes keep a new pod from its node is not checked",
		snapshot.ControllerUnknown:   "whether a controller runs is unknown",
		snapshot.ReferencesUnchecked: "whether what a new pod refers to exists is not checked",
		snapshot.CausesReduced:       "rejected creations and the messages of scheduler and kubelet are missing",
		snapshot.SeveralMoments:      "its parts may be of different moments",
	}
)

// PartWords returns the name of a part of the input.
func PartWords(what snapshot.What) string {
	named := map[snapshot.What]string{
		snapshot.DaemonSetStatus: "the status of the daemonset", snapshot.NodeStatus: "the status of nodes",
		snapshot.PodStatus:             "the status of pods",
		snapshot.NamespaceNodeSelector: "the node selector of the namespace",
		snapshot.DefaultNodeSelector:   "the default node selector of the controller",
		snapshot.PersistentVolumes:     "persistentvolumes and their claims",
		snapshot.PodsOfOthers:          "the other pods on the nodes",
		snapshot.BudgetsOfOthers:       "the poddisruptionbudgets of the other pods",
		snapshot.Leases:                "the lease of kube-controller-manager",
	}
	return cmp.Or(named[what], string(what))
}

// Used holds the values that replaced parts of the input that could not be read.
type Used struct {
	Clock time.Time
	Rules daemonset.Controller
}

// Gap names a missing part of the input, the reason and the consequence for the result. Parts in also have the same
// reason and consequence.
func Gap(g daemonset.Gap, used Used, also ...snapshot.What) string {
	part := PartWords(g.What)
	for _, what := range also {
		part += ", " + PartWords(what)
	}
	message := ""
	if g.Why != snapshot.NotGiven || g.Of != "" || g.What == snapshot.NodeStatus || g.What == snapshot.PodStatus {
		message = screen.Clean(g.Message)
	}
	return part + ": " + gapReasons[g.Why] + ", so " + consequenceWords(g.Consequence, used) + InBrackets(message)
}

// consequenceWords returns the consequence for the result, or the value that replaced the missing part.
func consequenceWords(c snapshot.Consequence, used Used) string {
	switch c {
	case snapshot.RulesAssumed:
		whose := Either(used.Rules.Source == snapshot.VersionKubelet, ", the highest kubelet,", "")
		rules := "the rules of " + screen.Clean(used.Rules.KubernetesVersion) + whose
		return rules + " are used (--kubernetes-version chooses others)"
	case snapshot.ClockAssumed:
		return "ages are measured from " + used.Clock.UTC().Format(time.RFC3339) + " (--now sets it)"
	}
	return consequences[c]
}

// CountedUpdated says that the pods of n nodes on an old revision count as updated. It says "all" if there are no other
// nodes on old revisions.
func CountedUpdated(n, of int) string {
	if n == of {
		return PluralOf(n, "counted as updated", "all counted as updated")
	}
	return fmt.Sprintf("%d counted as updated", n)
}

// RevisionOf returns the number of the pod's revision. If the number is unknown, it returns the name or "-".
func RevisionOf(e *explain.Explanation, p explain.Pod) string {
	if r := e.RevisionOf(p); r != nil {
		return strconv.FormatInt(r.Number, 10)
	}
	return cmp.Or(screen.Clean(p.Revision), "-")
}

// YesNo returns "yes" or "no".
func YesNo(b bool) string { return map[bool]string{true: "yes", false: "no"}[b] }

// Count formats a number, or returns "?" if n is nil.
func Count(n *int) string {
	if n == nil {
		return "?"
	}
	return strconv.Itoa(*n)
}

// SomeNames lists up to four names completely. If there are more, it lists three and the number of the others.
func SomeNames(nodes []string) string {
	const most = 3
	if len(nodes) <= most+1 {
		return screen.Clean(strings.Join(nodes, ", "))
	}
	text := screen.Clean(strings.Join(nodes[:most], ", "))
	if more := len(nodes) - most; more > 0 {
		text += fmt.Sprintf(" +%d more", more)
	}
	return text
}

// NamesIn applies SomeNames to a fact that is a list. It returns "" if the fact is absent.
func NamesIn(f daemonset.Facts, key string) string {
	names, _ := f[key].([]string)
	return SomeNames(names)
}

// Otherwise describes the rollout if pods that are not Ready behave differently than expected. It returns a sentence if
// they become Ready, and otherwise a clause to append. It adds the duration only if the rollout waits for these pods.
func Otherwise(o *remedy.Otherwise, desired int, waits bool) string {
	n := len(o.Nodes)
	switch {
	case o.Ready:
		later := Either(waits, Phrase(" ", RangeWords(o.Duration), " later"), "")
		pods := PluralOf(n, "the pod on ", "the pods on ") + SomeNames(o.Nodes) + PluralOf(n, " becomes", " become")
		return "if " + pods + fmt.Sprintf(" Ready: %d of %d updated", o.Updated, desired) + later
	case o.Stalls:
		return fmt.Sprintf(", else it stops at %d of %d", o.Updated, desired)
	}
	return ", else " + PluralVerb(o.Unserved, "node stays", "nodes stay") + " without an available pod"
}

// WithPrefix returns text with joiner before it, or "" if text is empty.
func WithPrefix(joiner, text string) string {
	if text == "" {
		return ""
	}
	return joiner + text
}

// RevisionName returns the number of a revision, or its hash if it has no name.
func RevisionName(r *explain.Revision) string {
	switch {
	case r.Name != "":
		return "revision " + strconv.FormatInt(r.Number, 10)
	case r.Hash == "":
		return "no revision"
	}
	return "hash " + r.Hash
}

// Joined joins the words that are not empty.
func Joined(by string, words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), by)
}
