package compare

import (
	"encoding/json"
	"slices"
	"time"
)

// defaultBase is the commit before the first one of the issue that changed the
// screens and must not change the JSON.
const defaultBase = "e575fb4"

// renames are the codes that took Kubernetes' own names.
var renames = map[string]string{
	"CrashLoop":     "CrashLoopBackOff",
	"ImagePull":     "ImagePullBackOff",
	"CreateRefused": "FailedCreate",
	"SandboxFailed": "FailedCreatePodSandBox",
}

// justified is a difference that is meant.
type justified struct {
	at     string // the place, as a difference has it; * at its end is any place that begins so
	is     func(old, new string) bool
	reason string
}

// comesBefore is why what a history compares a revision with is another one.
const comesBefore = "history compares a revision with the one that came before it, also where a rollback gave that one another number since"

var allowed = []justified{
	{"problems[*].since", nowKnown, "explain says since when a node that is NotReady is not counted, where it said nothing"},
	{"problems[*].latest", nowKnown, "explain says when the last of them was lost, where it said nothing"},
	{"revisions[*].from", nil, comesBefore},
	{"revisions[*].changeKind", nil, comesBefore},
	{"revisions[*].change", nil, comesBefore},
	{"revisions[*].change[*", nil, comesBefore},
	{
		"revisions", onlyRowsWithoutNodes,
		"explain has a row also for a revision whose pods are the oldest of no node: with pods beside nodes, the pods of all rows are all pods",
	},
	{"outcome.unblock", onlyRepair, "plan-rollout has the repair of nodes that are down among the ways out, behind the others"},
	{"ifTemplateChanged.outcome.unblock", onlyRepair, "the same of what a change of the template would do"},
	{"assumptions", onlyLateness, "a plan says how late the controller may count a pod, where that is long beside minReadySeconds"},
}

// nowKnown reports whether a time stands where there was none.
func nowKnown(old, new string) bool {
	var at time.Time
	return old == "null" && new != "null" && json.Unmarshal([]byte(new), &at) == nil
}

// onlyRowsWithoutNodes reports whether the new rows are the old ones with additions,
// and rows without nodes.
func onlyRowsWithoutNodes(old, new string) bool {
	return onlyMore(old, new, func(row map[string]any, before []map[string]any) bool {
		nodes, is := row["nodes"].([]any)
		there := func(b map[string]any) bool { return b["name"] == row["name"] && b["hash"] == row["hash"] }
		return is && len(nodes) == 0 && !slices.ContainsFunc(before, there)
	})
}

// onlyRepair reports whether the new ways out are the old ones with additions, and
// the repair of nodes.
func onlyRepair(old, new string) bool {
	return onlyMore(old, new, func(way map[string]any, _ []map[string]any) bool { return way["code"] == "RepairNodes" })
}

// onlyLateness reports whether the new assumptions are the old ones, and how late a pod
// is counted.
func onlyLateness(old, new string) bool {
	return onlyMore(old, new, func(a map[string]any, _ []map[string]any) bool { return a["code"] == "CountedLate" })
}

// onlyMore reports whether the new rows are the old ones with additions, and rows
// that are justified.
func onlyMore(old, new string, justified func(row map[string]any, before []map[string]any) bool) bool {
	var before, after []map[string]any
	if json.Unmarshal([]byte(old), &before) != nil || json.Unmarshal([]byte(new), &after) != nil {
		return false
	}
	kept := slices.DeleteFunc(after, func(row map[string]any) bool { return justified(row, before) })
	if len(kept) != len(before) {
		return false
	}
	c := &comparison{added: map[string]int{}, used: map[string]int{}}
	for i := range before {
		c.objects("", before[i], kept[i])
	}
	return len(c.found) == 0
}
