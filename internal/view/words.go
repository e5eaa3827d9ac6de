package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

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

// number returns a fact that is a whole number.
func number(f daemonset.Facts, key string) int {
	switch v := f[key].(type) {
	case int:
		return v
	case int64:
		return int(v)
	case float64:
		return int(v)
	}
	return 0
}

func yes(f daemonset.Facts, key string) bool { b, _ := f[key].(bool); return b }

// placement says why a node should not run the pod.
func placement(reason daemonset.Reason, f daemonset.Facts) string {
	switch reason {
	case daemonset.NodeName:
		return "the template names node " + fact(f, "want")
	case daemonset.NodeSelector:
		s := "the pod needs the label " + fact(f, "key") + "=" + fact(f, "want")
		switch got, known := f["got"]; {
		case known:
			return s + ", the node has " + value(got)
		case f["present"] == false:
			return s + ", the node has none"
		}
		return s
	case daemonset.NodeAffinity:
		return "affinity: " + requirement(f)
	case daemonset.TaintNotTolerated:
		s := "taint " + fact(f, "taint")
		if meaning := taintMeaning(fact(f, "key")); meaning != "" {
			return meaning + ": " + s
		}
		return s
	case daemonset.NodeGone:
		return "there is no such node"
	}
	return ""
}

// value writes a label's value, which may be empty.
func value(v any) string { return cmp.Or(clean(fmt.Sprint(v)), `""`) }

func requirement(f daemonset.Facts) string {
	if f["key"] == nil {
		if number(f, "terms") == 0 {
			return "no term, so no node matches"
		}
		return fmt.Sprintf("none of its %s matches", plural(number(f, "terms"), "term"))
	}
	s := fmt.Sprintf("needs %s %s", fact(f, "key"), fact(f, "operator"))
	if v := fact(f, "values"); v != "" {
		s += " [" + v + "]"
	}
	if f["valid"] == false {
		return s + ", which is not valid and never matches"
	}
	if got, known := f["got"]; known {
		s += ", has " + value(got)
	}
	return s
}

// taintMeanings are well-known taints in words.
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

// taintMeaning returns what a well-known taint means, or "".
func taintMeaning(key string) string { return taintMeanings[key] }

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

func limitOf(f daemonset.Facts, key string) string {
	if f[key] == nil {
		return ""
	}
	return key + " " + fact(f, key)
}

func ageOfFact(now time.Time, f daemonset.Facts, key string) string {
	t, err := factTime(f, key)
	if err != nil {
		return "unknown"
	}
	return ago(now.Sub(t))
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
