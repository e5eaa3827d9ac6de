package daemonset

import (
	"cmp"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
)

// burstReplicas is the most creates, and the most deletes, of one sync.
const burstReplicas = 250

// StepKind says which part of the controller acts in a sync.
type StepKind string

const (
	StepNone          StepKind = "None"
	StepManage        StepKind = "Manage"
	StepRollingUpdate StepKind = "RollingUpdate"
)

// Step is what one sync of the controller does: manage, or else, if manage
// finds nothing to do, the rolling update. Both are cut at 250 creates and 250
// deletes.
//
// What depends on the controller's memory is taken as in a controller that
// just started, and named in Waits.
type Step struct {
	Kind    StepKind
	Reason  Reason
	Exact   bool // false where a gap leaves room
	Creates Batch
	Deletes Batch
	Waits   []Wait
	Error   *StepError // the step fails in the controller: both batches are empty

	Adopt   []string // pods, by name
	Release []string
}

// Batch is a set of creates or deletes. Where the controller's choice is
// random, it says how many of which.
type Batch struct {
	Certain  []Item
	Choices  []Choice
	Deferred int // how many are left to later syncs by the burst
}

// Len is the number of pods that the batch creates or deletes.
func (b Batch) Len() int {
	n := len(b.Certain)
	for _, c := range b.Choices {
		n += c.Count
	}
	return n
}

// Item is one create, of a node, or one delete, of a pod on a node.
type Item struct {
	Node   string
	Pod    string
	Reason Reason
}

// Choice reads "any Count of From", which has more than Count members. Count
// always holds; which of them the controller takes is not defined.
type Choice struct {
	Count   int
	PerNode int // at most so many of one node; 0 where nothing limits it
	From    []Item
	Reason  Reason
}

// Wait is a delay that only the controller's memory could tell.
type Wait struct {
	Reason Reason
	Nodes  []string
	AtMost time.Duration
}

// StepError is why a step fails in the controller.
type StepError struct {
	Reason Reason
	Node   string
	Pod    string
	Field  string
}

// Sync returns what the controller's next sync does.
func (st *State) Sync() Step {
	step := Step{Kind: StepNone, Exact: st.NodesRead && st.PodsRead && st.History.Inferred == ""}
	switch {
	case st.selectsAll():
		step.Reason = StepSelectsAll
		return step
	case st.deleted:
		step.Reason = StepBeingDeleted
		return step
	case !st.PodsRead:
		step.Reason = StepPodsNotRead
		return step
	}
	step.Adopt, step.Release = st.adoptions()
	if st.manage(&step); step.Creates.Len()+step.Deletes.Len() > 0 {
		step.Kind, step.Reason = StepManage, StepPlacement
		return step
	}
	if st.DaemonSet.Spec.UpdateStrategy.Type != appsv1.RollingUpdateDaemonSetStrategyType {
		step.Reason = StepOnDelete
		return step
	}
	st.rollingUpdate(&step)
	return step
}

// adoptions returns the pods that change hands at the start of the sync.
func (st *State) adoptions() (adopt, release []string) {
	note := func(p *Pod) {
		switch p.Claim {
		case Adopt:
			adopt = append(adopt, p.Name)
		case Release:
			release = append(release, p.Name)
		}
	}
	for i := range st.Nodes {
		for j := range st.Nodes[i].Pods {
			note(&st.Nodes[i].Pods[j])
		}
		for j := range st.Nodes[i].Ignored {
			note(&st.Nodes[i].Ignored[j])
		}
	}
	for i := range st.Unmapped {
		note(&st.Unmapped[i])
	}
	slices.Sort(adopt)
	slices.Sort(release)
	return adopt, release
}

// class is what the controller puts into its list in one go: the burst takes
// whole classes in order, and cuts one at random.
type class struct {
	items   []Item
	choices []Choice
}

func (c *class) add(i ...Item) { c.items = append(c.items, i...) }

// choose adds "any count of from": certain if it is all of them.
func (c *class) choose(count, perNode int, from []Item, reason Reason) {
	switch {
	case count <= 0:
	case count >= len(from):
		c.add(from...)
	default:
		c.choices = append(c.choices, Choice{Count: count, PerNode: perNode, From: from, Reason: reason})
	}
}

func (c *class) len() int {
	n := len(c.items)
	for _, ch := range c.choices {
		n += ch.Count
	}
	return n
}

// burst cuts classes at 250. One wholly inside stays as it is, the one that
// is cut becomes a choice of all its members, and what is beyond is counted.
func burst(classes ...class) Batch {
	var b Batch
	left := burstReplicas
	for _, c := range classes {
		n := c.len()
		switch {
		case n <= left:
			b.Certain = append(b.Certain, c.items...)
			b.Choices = append(b.Choices, c.choices...)
			left -= n
			continue
		case left > 0:
			b.Choices = append(b.Choices, c.cut(left))
		}
		b.Deferred += n - left
		left = 0
	}
	sortItems(b.Certain)
	slices.SortStableFunc(b.Choices, func(x, y Choice) int {
		return cmp.Or(strings.Compare(string(x.Reason), string(y.Reason)), compareItems(x.From[0], y.From[0]))
	})
	return b
}

// cut returns the choice of count among everything that the class could do.
func (c *class) cut(count int) Choice {
	from := slices.Clone(c.items)
	perNode := map[string]int{}
	for _, i := range c.items {
		perNode[i.Node]++
	}
	limited := false
	for _, ch := range c.choices {
		from = append(from, ch.From...)
		limit := ch.Count
		if ch.PerNode > 0 {
			limited = true
			limit = min(limit, ch.PerNode)
		}
		seen := map[string]bool{}
		for _, i := range ch.From {
			if !seen[i.Node] {
				seen[i.Node] = true
				perNode[i.Node] += limit
			}
		}
	}
	sortItems(from)
	out := Choice{Count: count, From: from, Reason: Burst}
	if limited {
		for _, n := range perNode {
			out.PerNode = max(out.PerNode, n)
		}
	}
	reasons := map[Reason]bool{}
	for _, i := range from {
		reasons[i.Reason] = true
	}
	if len(reasons) == 1 {
		out.Reason = from[0].Reason
	}
	return out
}

func compareItems(a, b Item) int {
	return cmp.Or(strings.Compare(a.Node, b.Node), strings.Compare(a.Pod, b.Pod))
}

func sortItems(items []Item) { slices.SortFunc(items, compareItems) }
