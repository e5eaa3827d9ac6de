package daemonset

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
)

// BurstReplicas is the most creates, and the most deletes, of one sync.
const BurstReplicas = 250

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
	Kind      StepKind      `json:"step"`
	Reason    Reason        `json:"reason"`
	Exact     bool          `json:"exact"` // false where a gap leaves room
	Creates   Batch         `json:"creates"`
	Deletes   Batch         `json:"deletes"`
	Revisions StepRevisions `json:"revisions"`
	Pods      StepPods      `json:"pods"`
	Waits     []Wait        `json:"waits"`
	Error     *StepError    `json:"error"` // the step fails in the controller: both batches are empty

	// WritesStatus: the sync counts the status anew, and writes it if it
	// changed. What the API refuses is not in it: before 1.27.0, 1.26.1 and
	// 1.25.6 a create or delete that fails keeps the status from being written.
	WritesStatus bool `json:"writesStatus"`
}

// StepRevisions is what a sync does to the ControllerRevisions. Current has
// several names where equal revisions share the highest number: the
// controller's pick is random.
type StepRevisions struct {
	Current []string `json:"current"`
	Cut     bool     `json:"cut"`
	Number  int64    `json:"number"`

	// RaisedFrom is the number that the current revision has now, where the sync
	// gives it another: after a rollback. Else 0.
	RaisedFrom int64 `json:"raisedFrom"`

	Adopt   []string  `json:"adopt"`
	Release []string  `json:"release"`
	Relabel []string  `json:"relabel"` // pods
	Remove  []Removal `json:"remove"`
}

// StepPods are the pods that change hands at the start of a sync.
type StepPods struct {
	Adopt   []string `json:"adopt"`
	Release []string `json:"release"`
}

// Batch is a set of creates or deletes. Where the controller's choice is
// random, it says how many of which.
type Batch struct {
	Certain  []Item   `json:"certain"`
	Choices  []Choice `json:"choices"`
	Deferred int      `json:"deferred"` // how many are left to later syncs by the burst
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
	Node   string `json:"node"`
	Pod    string `json:"pod,omitempty"`
	Reason Reason `json:"reason,omitempty"` // within a Choice only where it differs from the Choice's
}

// Choice reads "any Count of From", which has more than Count members. Count
// always holds; which of them the controller takes is not defined.
type Choice struct {
	Count   int    `json:"count"`
	PerNode int    `json:"perNode,omitempty"` // at most so many of one node; 0 where nothing limits it
	From    []Item `json:"from"`
	Reason  Reason `json:"reason"`
}

// Wait is a delay that only the controller's memory could tell: it ends
// between NotBefore, where that is known, and AtMost seconds from now.
type Wait struct {
	Code      Reason     `json:"code"`
	Nodes     []string   `json:"nodes"`
	NotBefore *time.Time `json:"notBefore"`
	AtMost    int        `json:"atMost"`
}

// StepError is why a step fails in the controller.
type StepError struct {
	Code  Reason `json:"code"`
	Node  string `json:"node,omitempty"`
	Pod   string `json:"pod,omitempty"`
	Field string `json:"field,omitempty"`
}

// Sync returns what the controller's next sync does. On a quick cluster the
// rolling update may follow manage in the same sync: see RollingUpdate.
//
// It writes no status of a DaemonSet that it passes over, and, before 1.27.0,
// 1.26.1 and 1.25.6 (#113787), none if the step fails.
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
	if st.manage(&step); step.Creates.Len()+step.Deletes.Len() > 0 {
		step.Kind, step.Reason = StepManage, StepPlacement
		return step
	}
	if st.DaemonSet.Spec.UpdateStrategy.Type != appsv1.RollingUpdateDaemonSetStrategyType {
		step.Reason = StepOnDelete
		return step
	}
	if st.rollingUpdate(&step); step.Error != nil { // the sync ends there, before history clean-up
		step.Revisions.Remove = slices.DeleteFunc(step.Revisions.Remove, func(r Removal) bool { return r.Reason == CleanUp })
		step.WritesStatus = st.Profile.StatusAfterError
	}
	return step
}

func (st *State) noStep() Step {
	return Step{
		Kind: StepNone, WritesStatus: true, Exact: st.NodesRead && st.PodsRead && st.History.Inferred == "",
		Creates: burst(), Deletes: burst(), Waits: []Wait{}, Revisions: noRevisions(), Pods: StepPods{Adopt: []string{}, Release: []string{}},
	}
}

// RollingUpdate returns what the rolling update creates and deletes whatever
// manage has to do. It comes to that in one sync where the watch tells the
// controller of all that manage did before manage has returned: the rolling
// update then follows, and looks at the pods anew. Of the Step only Kind,
// Reason, Creates, Deletes and Error count. The strategy must be RollingUpdate.
func (st *State) RollingUpdate() Step {
	step := st.noStep()
	st.rollingUpdate(&step)
	return step
}

func noRevisions() StepRevisions {
	return StepRevisions{Current: []string{}, Adopt: []string{}, Release: []string{}, Relabel: []string{}, Remove: []Removal{}}
}

// Revisions returns what the next sync does to the revisions, unless its step
// fails: then history clean-up does not happen. Of a DaemonSet that the
// controller passes over it does nothing. Where the pods could not be read, it
// is not told which pods are relabelled and which revisions clean-up removes.
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

// adoptions returns the pods that change hands.
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
		c.choices = append(c.choices, Choice{Count: count, PerNode: perNode, From: plain(from), Reason: reason})
	}
}

// plain drops the reasons that a Choice says once for all its items.
func plain(items []Item) []Item {
	out := make([]Item, len(items))
	for i, it := range items {
		out[i] = Item{Node: it.Node, Pod: it.Pod}
	}
	return out
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

// cut returns the choice of count among everything that the class could do.
func (c *class) cut(count int) Choice {
	from := slices.Clone(c.items)
	perNode := map[string]int{}
	for _, i := range c.items {
		perNode[i.Node]++
	}
	limited := false
	for _, ch := range c.choices {
		limited = limited || ch.PerNode > 0
		seen := map[string]bool{}
		for _, i := range ch.From {
			from = append(from, Item{Node: i.Node, Pod: i.Pod, Reason: ch.Reason})
			if !seen[i.Node] {
				seen[i.Node] = true
				perNode[i.Node] += ch.Count
			}
		}
	}
	sortItems(from)
	out := Choice{Count: count, From: from, Reason: Burst}
	if limited {
		out.PerNode = slices.Max(slices.Collect(maps.Values(perNode)))
	}
	if !slices.ContainsFunc(from, func(i Item) bool { return i.Reason != from[0].Reason }) {
		out.Reason, out.From = from[0].Reason, plain(from)
	}
	return out
}

func compareItems(a, b Item) int {
	return cmp.Or(strings.Compare(a.Node, b.Node), strings.Compare(a.Pod, b.Pod))
}

func sortItems(items []Item) { slices.SortFunc(items, compareItems) }
