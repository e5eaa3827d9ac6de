package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// predicate is what the pods or nodes of a problem do, in the singular and in the plural. A pod that runs is on its
// node; one that does not is for it.
type predicate struct{ noun, at, one, many string }

// predicates has every reason that concerns pods or nodes.
var predicates = map[daemonset.Reason]predicate{
	cause.CrashLoopBackOff:       {"pod", "on", "crashes", "crash"},
	cause.OOMKilled:              {"pod", "on", "runs out of memory", "run out of memory"},
	cause.ImagePullBackOff:       {"pod", "on", "cannot pull its image", "fail to pull their image"},
	cause.PullingImage:           {"pod", "on", "is still pulling its image", "are still pulling their image"},
	cause.FailedMount:            {"pod", "on", "cannot mount a volume", "cannot mount a volume"},
	cause.FailedCreatePodSandBox: {"pod", "on", "gets no network or sandbox", "get no network or sandbox"},
	cause.ContainerConfig:        {"pod", "on", "cannot start a container", "cannot start a container"},
	cause.ContainerCreating:      {"pod", "on", "does not start", "do not start"},
	cause.InitRunning:            {"pod", "on", "waits for an init container", "wait for an init container"},
	cause.ProbeFailing:           {"pod", "on", "fails its readiness probe", "fail their readiness probe"},
	cause.NodeNotReady:           {"node", "", "is NotReady", "are NotReady"},
	cause.TerminatingOnDeadNode:  {"node", "", "is NotReady", "are NotReady"},
	daemonset.NodeGone:           {"pod", "on", "is left over from a deleted node", "are left over from deleted nodes"},
	cause.FailedCreate:           {"pod", "for", "is rejected by the API server", "are rejected by the API server"},
	cause.InsufficientResources:  {"pod", "for", "does not fit", "do not fit"},
	cause.HostPortConflict:       {"pod", "for", "needs a host port that is in use", "need a host port that is in use"},
	cause.DoesNotFit:             {"new pod", "for", "does not fit", "do not fit"},
	cause.PendingUnschedulable:   {"pod", "for", "is not scheduled", "are not scheduled"},
	cause.PodOSNotSupported:      {"pod", "on", "is rejected by its kubelet", "are rejected by their kubelet"},
	cause.ExcludedButCounted: {"node", "", "that the namespace excludes counts as unavailable",
		"that the namespace excludes count as unavailable"},
	cause.VirtualNode: {"node", "", "is virtual and runs no DaemonSet pod",
		"are virtual and run no DaemonSet pods"},
	cause.EvictLoop:           {"pod", "on", "fails repeatedly", "fail repeatedly"},
	daemonset.FailedPod:       {"pod", "on", "has failed", "have failed"},
	daemonset.SucceededPod:    {"pod", "on", "has ended", "have ended"},
	cause.Terminating:         {"pod", "on", "does not end", "do not end"},
	daemonset.NotReady:        {"pod", "on", "is not Ready", "are not Ready"},
	cause.WaitingForRoom:      {"pod", "for", "waits for other pods to end", "wait for other pods to end"},
	cause.Starting:            {"pod", "on", "is starting", "are starting"},
	daemonset.NotYetAvailable: {"pod", "on", "is not available yet", "are not available yet"},
	cause.NoPod:               {"node", "", "has no pod", "have no pod"},
	cause.Misscheduled: {"pod", "on", "runs on a node that is not eligible",
		"run on nodes that are not eligible"},
	daemonset.Duplicate:    {"node", "", "has more than one pod", "have more than one pod"},
	explain.Foreign:        {"pod", "on", "belongs to somebody else", "belong to somebody else"},
	daemonset.ReleasedPod:  {"pod", "on", "no longer matches the selector", "no longer match the selector"},
	daemonset.NoTargetNode: {"pod", "on", "is not assigned to any node", "are not assigned to any node"},
}

// probing says what a pod does whose startup or liveness probe fails.
var probing = map[string]predicate{
	"startup":  {"pod", "on", "fails its startup probe", "fail their startup probe"},
	"liveness": {"pod", "on", "fails its liveness probe", "fail their liveness probe"},
}

// byProbe returns the predicate with the probe that fails, where an event says which.
func (p predicate) byProbe(f daemonset.Facts) predicate {
	if by, known := probing[fact(f, "probe")]; known {
		return by
	}
	return p
}

// of is the predicate of so many pods or nodes: one is named by its node, where
// that is known. It is empty for a reason that has none.
func (p predicate) of(nodes []string, n int) string {
	n = max(n, len(nodes))
	switch {
	case p.noun == "":
		return ""
	case len(nodes) == 1 && p.noun == "node":
		return nodes[0] + " " + p.one
	case len(nodes) == 1:
		return "the " + p.noun + " " + p.at + " " + nodes[0] + " " + p.one
	}
	return pluralVerb(n, p.noun+" "+p.one, p.noun+"s "+p.many)
}

// detail says what is known of a problem beside its name, its nodes and how
// long it lasts: a sentence of ours, then the words of whoever reported it, and how
// fast other pods were. What a kubelet reports of a node that is not eligible stands
// beside the cause.
func (a *sheet) detail(p *explain.Problem) []screen.Block {
	if p.Code == cause.Misscheduled {
		return []screen.Block{screen.Text(a.meaning(p))}
	}
	said := append([]screen.Block{screen.Text(a.meaning(p))}, a.messages(p)...)
	return append(said, screen.Text(a.started(p)))
}

// messages are what the cluster says of a problem.
func (a *sheet) messages(p *explain.Problem) []screen.Block {
	said := []screen.Block{screen.Text(a.reported(p))}
	further, _ := p.Facts["furtherMessages"].([]string)
	for _, message := range further {
		said = append(said, screen.Text("and "+a.quoted(p, screen.Clean(message))))
	}
	return said
}

// started is how fast other pods were; empty where it is not known.
func (a *sheet) started(p *explain.Problem) string {
	f := known{p.Facts, a.now}
	slowest := f.age("slowestStart")
	if f.count("starts") == 0 || slowest == "" {
		return ""
	}
	pods := pluralVerb(f.count("starts"), "other pod was", "other pods were")
	return pods + " ready within " + slowest + " of creation"
}

// reported is the message of a problem in quotes, without the words that kubelet and
// container runtimes put around what happened; empty where there is none.
func (a *sheet) reported(p *explain.Problem) string {
	if message := fact(p.Facts, "message"); message != "" {
		return a.quoted(p, message)
	}
	return ""
}

// quoted is a message about a problem in quotes, as long as the screen has room for.
func (a *sheet) quoted(p *explain.Problem, message string) string {
	const columns = 240
	if p.Code == cause.FailedCreate {
		return `"` + a.style.refusal(message, columns) + `"`
	}
	return `"` + a.style.brief(message, columns) + `"`
}

// resourceWord is the first of some resources, as a sentence names it.
func resourceWord(list any) string {
	if name := firstOf(list); name != "cpu" {
		return name
	}
	return "CPU"
}

// firstOf is the first of a list of words; empty where there is none.
func firstOf(list any) string {
	switch l := list.(type) {
	case []string:
		return strings.Join(l[:min(1, len(l))], "")
	case []any: // of a document that was read
		if len(l) > 0 {
			return fmt.Sprint(l[0])
		}
	}
	return ""
}

// causes says who, for each problem that does not pass by itself.
func (a *answer) causes(problems []*explain.Problem) {
	var said []string
	of := map[string][]daemonset.Reason{}
	several := slices.ContainsFunc(problems, func(p *explain.Problem) bool { return p.Code != problems[0].Code })
	for _, p := range a.alike(problems) {
		words := a.origin(p)
		if words != "" && len(of[words]) == 0 {
			said = append(said, words)
		}
		of[words] = append(of[words], p.Code)
	}
	for i, words := range said {
		switch most := 6; {
		case i >= most && !a.style.All:
			return
		case len(said) > 1 && several: // of what
			words = reasonNames(slices.Compact(of[words])) + ": " + words
		}
		a.add(screen.Fault, "%s", words)
	}
}

// alike returns the problems, those of Misscheduled together whose origin has the same words for the same nodes.
func (a *answer) alike(problems []*explain.Problem) (out []*explain.Problem) {
	of := map[string]*explain.Problem{}
	for _, p := range problems {
		one := *p
		one.Nodes = []string{"a", "b"}
		words := a.origin(&one)
		if first := of[words]; p.Code == cause.Misscheduled && first != nil {
			first.Nodes = slices.Sorted(slices.Values(slices.Concat(first.Nodes, p.Nodes)))
			continue
		}
		one.Nodes = p.Nodes
		if p.Code == cause.Misscheduled {
			of[words] = &one
		}
		out = append(out, &one)
	}
	return out
}

// touchedWords name the fields that a revision changed, at most two.
func touchedWords(paths []template.Path) string {
	var names []string
	for _, p := range paths {
		member, _ := p.Member()
		name, container := fieldName(member)
		if container != "" {
			name += " of container " + container
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > 2 {
		names = append(names[:1], Plural(len(names)-1, "more field"))
	}
	return screen.Clean(strings.Join(names, " and "))
}

// absent names the object that does not exist, so the API server rejects pods; it is empty if the
// message of the API server names none.
func (a *answer) absent(p *explain.Problem) string {
	kind, name := cause.NamedObject(p.Facts)
	switch {
	case p.Code != cause.FailedCreate || name == "":
		return ""
	case kind == "ServiceAccount":
		name = a.h.DaemonSet.Namespace + "/" + name
	}
	return screen.Clean(kind + " " + name)
}

// works is how many pods of the current revision are available, without those that keep failing.
func (a *answer) works() int {
	n := cmp.Or(a.e.Current(), &explain.Revision{}).Available
	for i := range a.e.Problems {
		if p := &a.e.Problems[i]; p.Facts.Yes("ready") {
			n -= p.Facts.Int("newFailing")
		}
	}
	return max(0, n)
}

// refusal returns why the API server rejects pods, if it is what the events of a problem
// tell of; else nil.
func (a *answer) refusal(p *explain.Problem) *admission.Refusal {
	if v := a.e.Admission; p != nil && p.Code == cause.FailedCreate && v != nil && len(v.Refusals) > 0 &&
		fact(p.Facts, "rejects") == string(v.Refusals[0].Reason) {
		return &v.Refusals[0]
	}
	return nil
}

// olderOnes names the revision that the pods which are not updated run.
func (a *answer) olderOnes() string {
	if len(a.e.Revisions) == 2 {
		return revisionName(&a.e.Revisions[1])
	}
	return "other revisions"
}
