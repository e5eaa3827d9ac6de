package history

import (
	"cmp"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Rollout is the progress of the rollout of the current revision, as far as
// revisions and pods show it. Without the nodes it is unknown whether a pod is
// missing and whether the rollout can continue: explain decides that. See
// [History.AsStuck].
type Rollout struct {
	Code    RolloutCode `json:"code"`    // how far it is
	Pods    *int        `json:"pods"`    // the pods of all revisions; nil if the pods could not be read
	Current *int        `json:"current"` // the pods on a current revision; nil if `pods` is

	// the pods on a current revision that are available and not terminating; nil if `pods` is, or if the
	// status of the pods could not be read
	Available *int `json:"available"`

	// the pods on a current revision that are Ready, but not yet for minReadySeconds; nil if `available` is
	NotYetAvailable *int `json:"notYetAvailable"`
	// when the last Ready pod on a current revision becomes available; nil if none waits, or if this is
	// unknown
	AvailableAt *time.Time `json:"availableAt"`
	// the pods on a current revision that are not Ready; nil if `available` is
	NotReady *int `json:"notReady"`
	// the pods on a current revision that are terminating; nil if `available` is
	Terminating *int `json:"terminating"`

	MinReadySeconds int32 `json:"minReadySeconds"` // how long a pod is Ready before it is available
}

// RolloutCode says how far a rollout is.
type RolloutCode string

const (
	Settled  RolloutCode = "Settled"  // every pod is updated and available
	UnderWay RolloutCode = "UnderWay" // old pods are left that the controller has to replace
	// Stuck: old pods are left, and the rollout cannot continue by itself: the
	// verdict of explain. Only if everything that decides this was read, as
	// from a dump; otherwise `UnderWay`
	Stuck          RolloutCode = "Stuck"
	AwaitingDelete RolloutCode = "AwaitingDelete" // old pods stay until you delete them (OnDelete)
	Unavailable    RolloutCode = "Unavailable"    // no pod is left to replace, but not every pod is available
	NoPods         RolloutCode = "NoPods"         // there are no pods
	Creates        RolloutCode = "Creates"        // the next sync creates a revision
	// the next sync creates a revision, although a revision already holds the same template
	CreatesSame RolloutCode = "CreatesSame"
	Renumbers   RolloutCode = "Renumbers" // the next sync gives an old revision a new number
	// several revisions hold the live template; the next sync keeps one of them
	Merges  RolloutCode = "Merges"
	Deleted RolloutCode = "BeingDeleted" // the DaemonSet is being deleted
	Ignored RolloutCode = "Ignored"      // the selector is empty, so the controller ignores the DaemonSet
	Unknown RolloutCode = "Unknown"      // a gap hides it
)

// rollout counts the pods of the rows.
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

// of returns the counter for a pod of a current revision.
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

// stands returns how far a rollout is, given the number of nodes with an old
// pod and the number of unavailable pods.
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

// Began reports whether the current revision is known and its rollout has
// begun.
func (r *Rollout) Began() bool {
	return slices.Contains([]RolloutCode{Settled, UnderWay, Stuck, AwaitingDelete, Unavailable, NoPods}, r.Code)
}

// InProgress reports whether there are old pods that the controller replaces,
// or would replace if it could.
func (r *Rollout) InProgress() bool { return r.Code == UnderWay || r.Code == Stuck }

// leastIdle is the shortest time without a new pod that is worth mentioning. A
// rollout that progresses takes about as long for one pod.
const leastIdle = time.Minute

// IdleSince returns since when the rollout in progress has created no pod. It
// returns nil if no rollout is in progress, if the time is unknown or less than
// a minute ago, or if the new pods only wait for minReadySeconds.
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

// Ripens reports whether some new pods only wait for minReadySeconds, and all
// are Ready.
func (r *Rollout) Ripens() bool {
	return r.NotYetAvailable != nil && *r.NotYetAvailable > 0 && *r.NotReady == 0
}

// AsStuck returns a copy of the History with the code Stuck if the rollout is
// UnderWay, and otherwise h. The verdict of explain says whether it is stuck.
func (h *History) AsStuck() *History {
	if h.Rollout.Code != UnderWay {
		return h
	}
	out := *h
	out.Rollout.Code = Stuck
	return &out
}

// Course is the progress of the rollout of the only current revision.
type Course struct {
	Code   RolloutCode // UnderWay; AwaitingDelete if you have to delete the other pods; otherwise Settled
	Left   int         // how many pods are not on the current revision
	Since  *time.Time  // when it began; nil if unknown
	Newest *time.Time  // when its last pod was created; nil if none was created since it began
}

// Course returns the progress of the rollout of the current revision. It
// returns nil if the rollout has not begun, or if the current revision is
// unknown.
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
