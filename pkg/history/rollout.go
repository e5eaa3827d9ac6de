package history

import (
	"cmp"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Rollout is where the rollout of the current revision stands, as far as revisions
// and pods tell. No node is looked at: whether a pod is missing, and whether the
// rollout can continue, is for explain to say. See [History.AsStuck].
type Rollout struct {
	Code    RolloutCode `json:"code"`    // where it stands
	Pods    *int        `json:"pods"`    // of all revisions; nil if the pods could not be read
	Current *int        `json:"current"` // of them, those on a current revision; nil where `pods` is

	// of the current ones, those that are available and not terminating; nil if `pods` is, or if the status of the
	// pods could not be read
	Available *int `json:"available"`

	// of the current ones, those that are Ready, but not yet for minReadySeconds; nil where `available` is
	NotYetAvailable *int `json:"notYetAvailable"`
	// when the last of the current ones that are Ready becomes available; nil where none waits, or this is not known
	AvailableAt *time.Time `json:"availableAt"`
	// of the current ones, those that are not Ready; nil where `available` is
	NotReady *int `json:"notReady"`
	// of the current ones, those that are terminating; nil where `available` is
	Terminating *int `json:"terminating"`

	MinReadySeconds int32 `json:"minReadySeconds"` // how long a pod is Ready before it is available
}

// RolloutCode says where a rollout stands.
type RolloutCode string

const (
	Settled  RolloutCode = "Settled"  // every pod is updated and available
	UnderWay RolloutCode = "UnderWay" // old pods are left that the controller replaces, or would if it could
	// Stuck: old pods are left, and the rollout cannot continue by itself: the verdict of explain. Only where what that
	// looks at was read, as from a dump; otherwise `UnderWay`
	Stuck          RolloutCode = "Stuck"
	AwaitingDelete RolloutCode = "AwaitingDelete" // old pods stay until you delete them (OnDelete)
	Unavailable    RolloutCode = "Unavailable"    // no pod is left to replace, but not every pod is available
	NoPods         RolloutCode = "NoPods"         // there are no pods
	Creates        RolloutCode = "Creates"        // the next sync creates a revision
	// the next sync creates a revision, although one holds the same template
	CreatesSame RolloutCode = "CreatesSame"
	Renumbers   RolloutCode = "Renumbers" // the next sync gives an old revision a new number
	// several revisions hold the live template, of which the next sync keeps one
	Merges  RolloutCode = "Merges"
	Deleted RolloutCode = "BeingDeleted" // the DaemonSet is being deleted
	Ignored RolloutCode = "Ignored"      // the selector is empty, so the controller ignores the DaemonSet
	Unknown RolloutCode = "Unknown"      // a gap hides it
)

// rollout sums up the pods of the rows.
func (g *given) rollout(h *History) Rollout {
	r := Rollout{MinReadySeconds: g.s.DaemonSet.Spec.MinReadySeconds}
	if g.st.PodsListed {
		r.Pods, r.Current = new(int), new(int)
		for _, row := range h.Revisions {
			*r.Pods += *row.Pods
			if row.Current {
				*r.Current += *row.Pods
			}
		}
	}
	if g.st.PodsListed && !g.s.Lacks(snapshot.PodStatus) {
		r.Available, r.NotYetAvailable, r.NotReady, r.Terminating = new(int), new(int), new(int), new(int)
	}
	old, unavailable, current := 0, 0, h.Current()
	for i := range g.st.Nodes {
		pods := g.st.Nodes[i].Pods
		outdated := false
		for j := range pods {
			p := &pods[j]
			outdated = outdated || !p.Updated && !p.Terminating
			unavailable += b2i(!p.Available.OK || p.Terminating)
			if r.Available == nil || !slices.ContainsFunc(current,
				func(row *Revision) bool { return row.Name == p.Revision && (row.Name != "" || row.Hash == p.Hash) }) {
				continue
			}
			of := r.of(p)
			*of++
			if at := p.AvailableAt; of == r.NotYetAvailable && at != nil &&
				(r.AvailableAt == nil || at.After(*r.AvailableAt)) {
				r.AvailableAt = at
			}
		}
		old += b2i(outdated)
	}
	r.Code = g.stands(h, &r, old, unavailable)
	return r
}

// of returns the count of a pod of a current revision.
func (r *Rollout) of(p *daemonset.Pod) *int {
	switch {
	case p.Terminating:
		return r.Terminating
	case p.Available.OK:
		return r.Available
	case p.Ready:
		return r.NotYetAvailable
	}
	return r.NotReady
}

// stands returns where a rollout stands, given the nodes with an old pod and the
// pods that are not available.
func (g *given) stands(h *History, r *Rollout, old, unavailable int) RolloutCode {
	rolls := g.s.DaemonSet.Spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType
	return firstOf([]rule[RolloutCode]{
		{h.Note(SelectsAll) != nil, Ignored},
		{h.Note(BeingDeleted) != nil, Deleted},
		{h.Inferred() && len(h.Current()) == 0, Unknown},
		{h.Note(CutThoughUnchanged) != nil, CreatesSame},
		{h.Next.Cut && !h.Inferred(), Creates},
		{h.Next.RaisedFrom > 0, Renumbers},
		{h.Note(Duplicates) != nil, Merges},
		{r.Available == nil, Unknown},
		{r.Pods != nil && *r.Pods == 0, NoPods},
		{old > 0 && rolls, UnderWay},
		{unavailable > 0, Unavailable},
		{old > 0, AwaitingDelete},
		{true, Settled},
	})
}

// Acts reports whether the controller does anything for the DaemonSet.
func (r *Rollout) Acts() bool { return r.Code != Deleted && r.Code != Ignored }

// Began reports whether the current revision is known, and the rollout of it has
// begun.
func (r *Rollout) Began() bool {
	return slices.Contains([]RolloutCode{Settled, UnderWay, Stuck, AwaitingDelete, Unavailable, NoPods}, r.Code)
}

// InProgress reports whether old pods are left that the controller replaces, or would
// if it could.
func (r *Rollout) InProgress() bool { return r.Code == UnderWay || r.Code == Stuck }

// leastIdle is how long a rollout creates no pod before that is worth a word: one that moves takes
// about as long for a pod.
const leastIdle = time.Minute

// IdleSince returns since when the rollout in progress has created no pod. It is nil where none is in
// progress, where that is not known or was less than a minute ago, and where all that the new pods
// wait for is minReadySeconds.
func (h *History) IdleSince() *time.Time {
	c := h.Course()
	if c == nil || c.Code != UnderWay || h.Rollout.Ripens() {
		return nil
	}
	since := cmp.Or(c.Newest, c.Since)
	if since == nil || h.Snapshot.TakenAt.Sub(*since) < leastIdle {
		return nil
	}
	return since
}

// Ripens reports whether some new pods are Ready for less than minReadySeconds, and none is not Ready.
func (r *Rollout) Ripens() bool {
	return r.NotYetAvailable != nil && *r.NotYetAvailable > 0 && *r.NotReady == 0
}

// AsStuck returns the History of a rollout that is UnderWay with the code Stuck, and
// otherwise the History itself. Whether it is stuck is the verdict of explain.
func (h *History) AsStuck() *History {
	if h.Rollout.Code != UnderWay {
		return h
	}
	out := *h
	out.Rollout.Code = Stuck
	return &out
}

// Course is how far the rollout of the one current revision is.
type Course struct {
	Code   RolloutCode // UnderWay, AwaitingDelete where you delete the other pods, else Settled
	Left   int         // how many pods are not on the current revision
	Since  *time.Time  // when it began; nil if unknown
	Newest *time.Time  // when its last pod was created; nil if none was since it began
}

// Course returns how far the rollout of the current revision is; nil if it has not
// begun, or if it is not known which revision is current.
func (h *History) Course() *Course {
	current := h.Latest()
	if current == nil || h.Inferred() || !h.Rollout.Began() {
		return nil
	}
	c, strategy := &Course{Code: Settled, Left: *h.Rollout.Pods - *h.Rollout.Current, Since: h.CurrentSince},
		h.DaemonSet.Strategy
	switch {
	case h.Rollout.InProgress():
		c.Code = UnderWay
	case c.Left > 0 && strategy != string(appsv1.RollingUpdateDaemonSetStrategyType) && strategy != "":
		c.Code = AwaitingDelete
	}
	if newest := current.NewestPodAt; newest != nil && (c.Since == nil || !newest.Before(*c.Since)) {
		c.Newest = newest
	}
	return c
}
