package view

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// fill writes the first of some sentences whose facts are all there, with them
// filled in; nothing where none is. So words stand in tables, whole. In a sentence
//
//	{container}                is a fact, made safe to print
//	{events:request}           a number with its noun: 1 request, 3 requests
//	{pods:pod is|pods are}     the same with more words: 1 pod is, 3 pods are
//	{pods?its|their}           the words alone, the first for 1 and for yes
//	{last@}                    how long a time is from now, or so many seconds are: 14m
//	{last@15:04:05}            the time itself, in UTC, as package time writes it
//	{status=Unknown}           nothing: the sentence is only for this value
//	[ (restarted {restarts})]  left out where a fact in it is absent, empty or 0
//
// Neither brackets nor {pods?its|their} need a fact to be there.
func fill(now time.Time, f daemonset.Facts, sentences ...string) string {
	absent := func(text string, zero any) bool {
		return slices.ContainsFunc(slot.FindAllStringSubmatch(text, -1), func(m []string) bool {
			is := fact(f, m[1])
			return m[2] == "=" && is != m[3] || m[2] != "=" && m[2] != "?" && (is == "" || f[m[1]] == zero)
		})
	}
	for _, s := range sentences {
		s = optional.ReplaceAllStringFunc(s, func(part string) string {
			if absent(part, 0) {
				return ""
			}
			return part[1 : len(part)-1]
		})
		if !absent(s, nil) {
			return slot.ReplaceAllStringFunc(s, func(of string) string { return filled(now, f, slot.FindStringSubmatch(of)) })
		}
	}
	return ""
}

var (
	slot     = regexp.MustCompile(`\{(\w+)([:?@=]?)([^{}|]*)\|?([^{}]*)\}`) // its key, its sign, and words behind that
	optional = regexp.MustCompile(`\[[^]]*\]`)
)

// filled is what is written for one slot.
func filled(now time.Time, f daemonset.Facts, m []string) string {
	switch key, one, many := m[1], m[3], m[4]; m[2] {
	case "=":
		return ""
	case "?":
		if yes(f, key) {
			return one
		}
		return pluralOf(number(f, key), one, many)
	case ":":
		return pluralVerb(number(f, key), one, cmp.Or(many, one+"s"))
	case "@":
		at, err := factTime(f, key)
		switch {
		case err != nil:
			return ago(time.Duration(number(f, key)) * time.Second)
		case one != "":
			return at.UTC().Format(one)
		}
		return ago(now.Sub(at).Abs())
	default:
		return fact(f, key)
	}
}

// fact returns a fact as text that is safe to print, or "".
func fact(f daemonset.Facts, key string) string {
	switch v := f[key].(type) {
	case nil:
		return ""
	case string:
		return clean(v)
	case []string:
		return clean(strings.Join(v, ", "))
	default:
		return clean(fmt.Sprint(v))
	}
}

// number returns a fact that is a whole number, or how long a list is.
func number(f daemonset.Facts, key string) int {
	switch v := f[key].(type) {
	case int:
		return v
	case int64:
		return int(v)
	case float64:
		return int(v)
	case []string:
		return len(v)
	}
	return 0
}

func yes(f daemonset.Facts, key string) bool { b, _ := f[key].(bool); return b }

// placement says why a node should not run the pod.
func placement(reason daemonset.Reason, f daemonset.Facts) string {
	return fill(time.Time{}, ofNode(f), placements[reason]...)
}

// ofNode is the facts of a rule of placement, with what its sentences need beside
// them.
func ofNode(f daemonset.Facts) daemonset.Facts {
	more := daemonset.Facts{"meaning": taintMeanings[fact(f, "key")]}
	if got, known := f["got"]; known {
		more["got"] = cmp.Or(clean(fmt.Sprint(got)), `""`)
	}
	if values := fact(f, "values"); values != "" {
		more["values"] = "[" + values + "]"
	}
	all := with(f, more)
	all["requirement"] = fill(time.Time{}, all, requirements...)
	return all
}

// with is facts and some more, which come first.
func with(f, more daemonset.Facts) daemonset.Facts {
	all := maps.Clone(f)
	if all == nil {
		all = daemonset.Facts{}
	}
	maps.Copy(all, more)
	return all
}

const needsLabel = "the pod needs the label {key}=[{want}]"

// placements has the rules that a node can fail.
var placements = map[daemonset.Reason][]string{
	daemonset.NodeName:          {"the template names node {want}"},
	daemonset.NodeSelector:      {"{present=false}" + needsLabel + ", the node has none", needsLabel + "[, the node has {got}]"},
	daemonset.NodeAffinity:      {"affinity: {requirement}"},
	daemonset.TaintNotTolerated: {"[{meaning}: ]taint {taint}"},
	daemonset.NodeGone:          {"there is no such node"},
}

// requirements say which requirement of a node affinity fails.
var requirements = []string{
	"{valid=false}needs {key} {operator}[ {values}], which is not valid and never matches", "needs {key} {operator}[ {values}][, has {got}]",
	"{terms=0}no term, so no node matches", "none of its {terms:term} matches",
}

// taintMeanings are well-known taints in words, by key.
var taintMeanings = map[string]string{
	"node.kubernetes.io/not-ready":                   "the node is NotReady",
	"node.kubernetes.io/unreachable":                 "the node is unreachable",
	"node.kubernetes.io/unschedulable":               "the node is cordoned",
	"node.kubernetes.io/disk-pressure":               "the node is under disk pressure",
	"node.kubernetes.io/memory-pressure":             "the node is under memory pressure",
	"node.kubernetes.io/pid-pressure":                "the node is under pid pressure",
	"node.kubernetes.io/network-unavailable":         "the node's network is not set up",
	"node.kubernetes.io/out-of-service":              "somebody declared the node out of service: its pods are force-deleted",
	"node.cloudprovider.kubernetes.io/uninitialized": "the cloud controller has not set the node up yet",
	"node.cloudprovider.kubernetes.io/shutdown":      "the cloud says the machine is shut down",
	"ToBeDeletedByClusterAutoscaler":                 "cluster-autoscaler is removing the node",
	"DeletionCandidateOfClusterAutoscaler":           "cluster-autoscaler may remove the node",
	"karpenter.sh/disrupted":                         "Karpenter is replacing the node",
	"karpenter.sh/disruption":                        "Karpenter is replacing the node",
	"karpenter.sh/unregistered":                      "Karpenter waits for the node to register",
	"node-role.kubernetes.io/control-plane":          "control plane",
	"node-role.kubernetes.io/master":                 "control plane",
	"node.cilium.io/agent-not-ready":                 "Cilium has not started on the node",
	"nvidia.com/gpu":                                 "for pods that use a GPU",
	"CriticalAddonsOnly":                             "for critical add-ons",
	"eks.amazonaws.com/compute-type":                 "a Fargate node, which runs no DaemonSets",
	"virtual-kubelet.io/provider":                    "a virtual node, which has no kubelet",
}

// inBrackets writes what is known of several words, behind a blank.
func inBrackets(words ...string) string {
	if text := bracketed(words...); text != "" {
		return " " + text
	}
	return ""
}

func bracketed(words ...string) string {
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	if len(words) == 0 {
		return ""
	}
	return "(" + strings.Join(words, "; ") + ")"
}

// parts are the parts of the input whose names are no words.
var parts = map[snapshot.What]string{
	snapshot.DaemonSetStatus: "the status of the daemonset", snapshot.NodeStatus: "the status of nodes", snapshot.PodStatus: "the status of pods",
}

// partWords names a part of the input.
func partWords(what snapshot.What) string { return cmp.Or(parts[what], string(what)) }

// Gap says what could not be read and what the answer lacks for it.
func Gap(g daemonset.Gap) string {
	why := map[snapshot.Why]string{
		snapshot.Forbidden: "not allowed to read", snapshot.NotGiven: "not in the input", snapshot.Partial: "only in part in the input", snapshot.Failed: "could not be read", snapshot.Moved: "changed while being read",
	}[g.Why]
	lost := map[snapshot.Consequence]string{
		snapshot.DaemonSetsUnknown:        "the list may lack some of them",
		snapshot.PlacementUnknown:         "DESIRED is not computed, and no reason is given why nodes are left out",
		snapshot.PodsUnknown:              "only the reported numbers are left",
		snapshot.ReportedUnknown:          "the reported numbers are unknown, and whether the controller handled the newest generation",
		snapshot.NodeConditionsUnknown:    "that a node is NotReady is seen by its taints alone",
		snapshot.PodStatesUnknown:         "READY and AVAILABLE are not computed, and nothing is forecast",
		snapshot.RevisionInferred:         "which pods are up to date is inferred from their labels",
		snapshot.DisruptionBudgetsUnknown: "it is not told whether one selects the pods; a rolling update ignores it either way",
		snapshot.CausesReduced:            "refused creations and the words of scheduler and kubelet are missing",
		snapshot.RulesAssumed:             "the rules of " + daemonset.Newest + " are used (--kubernetes-version chooses others)",
		snapshot.ClockAssumed:             "the newest time found, or else this machine's, is the clock (--now sets it)",
		snapshot.SeveralMoments:           "its parts may be of different moments",
	}[g.Consequence]
	s := partWords(g.What) + ": " + why + ", so " + lost
	someOf := g.What == snapshot.NodeStatus || g.What == snapshot.PodStatus
	if m := clean(g.Message); m != "" && (g.Why != snapshot.NotGiven || g.Of != "" || someOf) {
		s += " (" + m + ")"
	}
	return s
}
