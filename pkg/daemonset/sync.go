package daemonset

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
)

// BurstReplicas is the maximum number of creates, and of deletes, in one sync.
const BurstReplicas = 250

// StepKind names the part of the controller that acts in a sync.
type StepKind string

const (
	StepNone StepKind = "None" // the sync creates and deletes nothing
	// StepManage: gives every node the pods that it should have, regardless of the limit
	StepManage StepKind = "Manage"
	// StepRollingUpdate: replaces old pods within the limit; only when Manage has nothing to do
	StepRollingUpdate StepKind = "RollingUpdate"
)

// Step is what one sync of the controller does: manage or, if that has nothing
// to do, the rolling update. Both are limited to 250 creates and 250 deletes.
//
// For what depends on the controller's memory, Step assumes a controller that
// has just started; Waits lists those cases.
type Step struct {
	Kind StepKind `json:"step"` // the part of the controller that acts

	// why the controller acts, or why it does not
	// Codes: The next sync
	Reason Reason `json:"reason"`

	// false if nodes, pods or revisions could not be read
	Exact     bool          `json:"exact"`
	Creates   Batch         `json:"creates"`   // pods to create, by node
	Deletes   Batch         `json:"deletes"`   // pods to delete
	Revisions StepRevisions `json:"revisions"` // what happens to the ControllerRevisions
	Pods      StepPods      `json:"pods"`      // pods that are adopted or released

	// delays that depend on the controller's memory, which the API does not expose
	Waits []Wait `json:"waits"`

	// why the step fails; nil if it does not fail. After a failure, the controller creates and deletes
	// nothing
	Error *StepError `json:"error"`

	// the controller recomputes the status, and writes it if it changed. False if the controller ignores the
	// DaemonSet. Before 1.27.0, 1.26.1 and 1.25.6, also false if the step fails. Rejections by the API server
	// do not count
	WritesStatus bool `json:"writesStatus"`
}

// StepRevisions is what a sync does to the ControllerRevisions. Current has
// several names if equal revisions share the highest number: the controller
// chooses one at random.
type StepRevisions struct {
	// the names of the revisions that the controller may choose as the current one, sorted. If there are
	// several, it chooses one at random. If there is none, it creates one, or the revisions could not be read
	Current []string `json:"current"`

	// no revision holds the live template, so the controller creates one
	Cut bool `json:"cut"`

	// the number of the current revision after the sync; 0 if the revisions could not be read
	Number int64 `json:"number"`

	// the number that the current revision has now, if the sync gives it a new
	// one after a rollback; otherwise 0
	RaisedFrom int64 `json:"raisedFrom"`

	Adopt []string `json:"adopt"` // revisions without an owner that the controller adopts, sorted

	// its own revisions that no longer match the selector, which it releases, sorted
	Release []string `json:"release"`
	Relabel []string `json:"relabel"` // pods that get another `controller-revision-hash`, sorted

	// revisions that it deletes: duplicates first, then the oldest ones beyond `revisionHistoryLimit`
	Remove []Removal `json:"remove"`
}

// Removes returns the names of the revisions that are deleted for a reason.
func (r *StepRevisions) Removes(why Reason) (names []string) {
	for _, of := range r.Remove {
		if of.Reason == why {
			names = append(names, of.Name)
		}
	}
	return names
}

// StepPods are the pods that change hands at the start of a sync.
type StepPods struct {
	Adopt []string `json:"adopt"` // pods without an owner that the controller adopts, sorted

	// its own pods that no longer match the selector, which it releases, sorted
	Release []string `json:"release"`
}

// Batch is a set of creates or deletes. Choices hold those among which the
// controller chooses at random.
type Batch struct {
	Certain []Item `json:"certain"` // the actions that are certain, sorted by node, then by pod

	// the choices that the controller makes at random, sorted by reason, then by first member
	Choices []Choice `json:"choices"`

	// how many more are left for later syncs, because one sync makes at most 250 creates and 250 deletes
	Deferred int `json:"deferred"`
}

// Len returns the number of pods that the batch creates or deletes.
func (b Batch) Len() int {
	n := len(b.Certain)
	for _, c := range b.Choices {
		n += c.Count
	}
	return n
}

// Candidates returns the number of pods among which the batch chooses Len.
func (b Batch) Candidates() int {
	n := len(b.Certain)
	for _, c := range b.Choices {
		n += len(c.From)
	}
	return n
}

// ByReason returns the certain items as one Choice per reason, sorted by
// reason.
func (b Batch) ByReason() []Choice {
	of := map[Reason][]Item{}
	for _, i := range b.Certain {
		of[i.Reason] = append(of[i.Reason], i)
	}
	var out []Choice
	for _, reason := range slices.Sorted(maps.Keys(of)) {
		out = append(out, Choice{Count: len(of[reason]), From: of[reason], Reason: reason})
	}
	return out
}

// Nodes returns the node of each candidate.
func (c *Choice) Nodes() []string {
	var nodes []string
	for _, i := range c.From {
		nodes = append(nodes, i.Node)
	}
	return nodes
}

// Item is the creation of a pod on a node, or the deletion of a pod.
type Item struct {
	Node string `json:"node"`          // its name
	Pod  string `json:"pod,omitempty"` // the pod to delete; absent in a create

	// why it is created or deleted; absent within a choice that has the same reason
	// Codes: Creates and deletes
	Reason Reason `json:"reason,omitempty"`
}

// Choice means any Count of the items in From, which has more than Count. The
// controller chooses them in an undefined way.
type Choice struct {
	// the number that is chosen, as in "any `count` of `from`". The number is certain, but the members are
	// not. Not every combination may be possible
	Count   int    `json:"count"`
	PerNode int    `json:"perNode,omitempty"` // the most that are chosen from one node; absent if there is no limit
	From    []Item `json:"from"`              // the candidates, more than `count`

	// why they are created or deleted
	// Codes: Creates and deletes
	Reason Reason `json:"reason"`
}

// Wait is a delay that depends on the controller's memory. It ends between
// NotBefore, if that is known, and AtMost seconds from now.
type Wait struct {
	// the reason for the wait
	// Codes: Waits and errors
	Code      Reason     `json:"code"`
	Nodes     []string   `json:"nodes"`     // the nodes concerned, sorted
	NotBefore *time.Time `json:"notBefore"` // the earliest end of the wait; nil if it is unknown
	AtMost    int        `json:"atMost"`    // the longest possible wait, in seconds
}

// StepError is why a step fails in the controller.
type StepError struct {
	// why the step fails
	// Codes: Waits and errors
	Code Reason `json:"code"`
	Node string `json:"node,omitempty"` // the node concerned; absent if there is none
	Pod  string `json:"pod,omitempty"`  // the pod concerned; absent if there is none

	// the field of the DaemonSet with its value; absent if there is none
	Field string `json:"field,omitempty"`
}

// Sync returns what the controller's next sync does. If its watch is fast, the
// rolling update can follow manage in the same sync: see RollingUpdate.
//
// The controller writes no status for a DaemonSet that it ignores and, before
// 1.27.0, 1.26.1 and 1.25.6 (#113787), if the step fails.
func (st *State) Sync() Step {
	step := st.noStep()
	switch {
	case SelectsAll(st.DaemonSet):
		step.Reason, step.WritesStatus = StepSelectsAll, false
		return step
	case st.deleted:
		step.Reason, step.WritesStatus = StepBeingDeleted, false
		return step
	case !st.PodsRead:
		step.Reason = StepPodsNotRead
		return step
	}
	step.Revisions, step.Pods = st.Revisions(), st.adoptions()
	t := st.Tally(Course{})
	if t.manageStep(&step); step.Creates.Len()+step.Deletes.Len() > 0 {
		step.Kind, step.Reason = StepManage, StepPlacement
		return step
	}
	if st.DaemonSet.Spec.UpdateStrategy.Type != appsv1.RollingUpdateDaemonSetStrategyType {
		step.Reason = StepOnDelete
		return step
	}
	if t.rollingStep(&step); step.Error != nil { // the sync ends before history clean-up
		step.Revisions.Remove = slices.DeleteFunc(step.Revisions.Remove,
			func(r Removal) bool { return r.Reason == CleanUp })
		step.WritesStatus = st.Profile.StatusAfterError
	}
	return step
}

func (st *State) noStep() Step {
	return Step{
		Kind: StepNone, WritesStatus: true, Exact: st.NodesRead && st.PodsRead && st.History.Inferred == "",
		Creates: burst(), Deletes: burst(), Waits: []Wait{}, Revisions: noRevisions(),
		Pods: StepPods{Adopt: []string{}, Release: []string{}},
	}
}

// RollingUpdate returns what the rolling update would create and delete now,
// even if manage has something to do. If its watch is fast, the controller does
// both in one sync, because it sees the results of manage before manage
// returns. Only Kind, Reason, Creates, Deletes and Error of the Step are set.
// The strategy must be RollingUpdate.
func (st *State) RollingUpdate() Step {
	step := st.noStep()
	st.Tally(Course{}).rollingStep(&step)
	return step
}

func noRevisions() StepRevisions {
	return StepRevisions{Current: []string{}, Adopt: []string{}, Release: []string{}, Relabel: []string{},
		Remove: []Removal{}}
}

// Revisions returns what the next sync does to the revisions. History clean-up
// is included, although a sync whose step fails skips it. For a DaemonSet that
// the controller ignores, nothing happens. If the pods could not be read, the
// result lacks the relabeled pods and the revisions that clean-up deletes.
func (st *State) Revisions() StepRevisions {
	r, h := noRevisions(), st.History
	if SelectsAll(st.DaemonSet) || st.deleted {
		return r
	}
	r.Cut, r.Number = h.Cut, h.Number
	r.Current = append(r.Current, h.Current...)
	for _, v := range h.Revisions {
		if slices.Contains(h.Current, v.Name) && v.Number < h.Number {
			r.RaisedFrom = v.Number
		}
	}
	r.Adopt = append(r.Adopt, h.Adopt...)
	r.Release = append(r.Release, h.Release...)
	if st.PodsListed {
		r.Relabel = append(r.Relabel, h.Relabel...)
		r.Remove = append(r.Remove, h.Remove...)
	}
	return r
}

// adoptions returns the pods that the sync adopts or releases.
func (st *State) adoptions() StepPods {
	adopt, release := []string{}, []string{}
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
	return StepPods{Adopt: adopt, Release: release}
}

// class is a group of items that the controller appends to its list together.
// The burst limit keeps whole classes in order, and cuts one of them at random.
type class struct {
	items   []Item
	choices []Choice
}

func (c *class) add(i ...Item) { c.items = append(c.items, i...) }

// choose adds a choice of count items among from, or all of from as certain if
// count is large enough. It takes ownership of from.
func (c *class) choose(count, perNode int, from []Item, reason Reason) {
	switch {
	case count <= 0:
	case count >= len(from):
		c.add(from...)
	default:
		c.choices = append(c.choices, Choice{Count: count, PerNode: perNode, From: clearReasons(from), Reason: reason})
	}
}

// clearReasons clears the reasons of items whose Choice already has the
// reason.
func clearReasons(items []Item) []Item {
	for i := range items {
		items[i].Reason = ""
	}
	return items
}

func (c *class) len() int {
	n := len(c.items)
	for _, ch := range c.choices {
		n += ch.Count
	}
	return n
}

// burst applies the limit of 250 to the classes, in order. A class within the
// limit is kept; the one that exceeds it becomes a choice among all its
// members; the number of items beyond it is Deferred.
func burst(classes ...class) Batch {
	b := Batch{Certain: []Item{}, Choices: []Choice{}}
	left := BurstReplicas
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

// cut returns a choice of count among all items and candidates of the class.
func (c *class) cut(count int) Choice {
	if len(c.items) == 0 && len(c.choices) == 1 && c.choices[0].PerNode == 0 {
		only := c.choices[0]
		only.Count = count
		sortItems(only.From)
		return only
	}
	size, limited := len(c.items), false
	for _, ch := range c.choices {
		size, limited = size+len(ch.From), limited || ch.PerNode > 0
	}
	from := append(make([]Item, 0, size), c.items...)
	for _, ch := range c.choices {
		for _, i := range ch.From {
			from = append(from, Item{Node: i.Node, Pod: i.Pod, Reason: ch.Reason})
		}
	}
	sortItems(from)
	out := Choice{Count: count, From: from, Reason: Burst}
	if limited {
		out.PerNode = c.maxPerNode()
	}
	if !slices.ContainsFunc(from, func(i Item) bool { return i.Reason != from[0].Reason }) {
		out.Reason = from[0].Reason
		clearReasons(from)
	}
	return out
}

// maxPerNode returns the maximum number of items of the class on one node.
func (c *class) maxPerNode() int {
	perNode := map[string]int{}
	for _, i := range c.items {
		perNode[i.Node]++
	}
	for _, ch := range c.choices {
		seen := map[string]bool{}
		for _, i := range ch.From {
			if !seen[i.Node] {
				seen[i.Node] = true
				perNode[i.Node] += ch.Count
			}
		}
	}
	return slices.Max(slices.Collect(maps.Values(perNode)))
}

func compareItems(a, b Item) int {
	if byNode := strings.Compare(a.Node, b.Node); byNode != 0 {
		return byNode
	}
	return strings.Compare(a.Pod, b.Pod)
}

func sortItems(items []Item) { slices.SortFunc(items, compareItems) }
