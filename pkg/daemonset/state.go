package daemonset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// State is what one sync of the controller sees. It is made by StateOf, New or
// Changed and never changed; several goroutines may use it at once.
type State struct {
	Snapshot  *snapshot.Snapshot // that it is the State of
	At        time.Time
	Profile   Profile
	DaemonSet *appsv1.DaemonSet
	Placement *Placement
	History   *History
	Nodes     []Node        // by name: every node, and every vanished one that a pod is for
	Unmapped  []Pod         // pods that no rule sees and that are on no node of Nodes, by name; Ignored says why
	Foreign   []*corev1.Pod // pods that match the selector and are somebody else's, by name
	Budget    Budget

	// Desired is the number of nodes that should run the pod; the status's
	// number where the nodes could not be read. The rolling update counts those
	// of Budget.Of, which can be more on OpenShift.
	Desired int

	NodesRead  bool
	PodsListed bool // which pods there are is known
	PodsRead   bool // and their status, and how large the budget is
	StatusRead bool // the DaemonSet's

	surge   bool // manage keeps an old and a new pod side by side
	deleted bool
	stored  []template.Content // of Snapshot.Revisions; nil for one that is no template, or somebody else's
}

// Node is one slot of the DaemonSet.
type Node struct {
	Name      string
	Object    *corev1.Node // nil for a node that vanished, or where the nodes could not be read
	ShouldRun Verdict
	MayStay   Verdict
	Pods      []Pod // in the controller's order: bound first, then oldest, then by name
	Ignored   []Pod // pods on the node that no rule counts
	Slot      Slot
	Exists    bool

	// Of a node that only its namespace excludes: whether the controller of this version of
	// OpenShift counts it all the same, in the status and in a rolling update.
	StillDesired, StillRolled bool
}

// Pod is a pod of the DaemonSet as the next sync sees it.
type Pod struct {
	Name        string
	Object      *corev1.Pod
	Claim       Claim
	Hash        string // of its label
	Revision    string // the name of the ControllerRevision with that hash, if there is one
	UpdatedBy   UpdatedBy
	Available   Verdict
	AvailableAt *time.Time
	Ignored     Reason // why no rule counts it; else empty

	Terminating, Updated, Ready bool
	failed, succeeded           bool // its phase
	generation                  bool // its template generation is that of the live template
}

// Slot sums up the pods of a node as the rolling update sees them: new and old
// are pods that are not terminating.
type Slot string

const (
	SlotEmpty           Slot = "Empty"           // no pod
	SlotOnlyTerminating Slot = "OnlyTerminating" // one or more pods, all of them terminating
	SlotOldAvailable    Slot = "OldAvailable"    // one old pod, available
	SlotOldUnavailable  Slot = "OldUnavailable"  // one old pod, not available
	SlotNewAvailable    Slot = "NewAvailable"    // one new pod, available
	SlotNewUnavailable  Slot = "NewUnavailable"  // one new pod, not available
	SlotBoth            Slot = "Both"            // one old pod and one new pod
	SlotExcess          Slot = "Excess"          // two or more old pods, or two or more new pods
)

// Slots lists every Slot.
var Slots = []Slot{SlotEmpty, SlotOnlyTerminating, SlotOldAvailable, SlotOldUnavailable, SlotNewAvailable,
	SlotNewUnavailable, SlotBoth, SlotExcess}

// New returns the State of a Snapshot under the rules of a version. It fails
// only where the question cannot be put: a selector that cannot be read.
//
// Of nodes or pods that a Gap says are missing, those that are there do not count
// either. Where the nodes could not be read, the nodes that pods are for stand in for
// them, with verdicts of NodesNotRead that let every pod stay.
func New(s *snapshot.Snapshot, profile Profile) (*State, error) { return newState(s, profile, nil) }

// StateOf returns the State of a Snapshot under the rules of the version that it
// says, or of the Newest if it says none. It fails as New does, and where the
// version is none, or older than the rules that are known.
func StateOf(s *snapshot.Snapshot) (*State, error) {
	if s.KubernetesVersion == "" {
		s = s.Under(Newest, snapshot.VersionDefault)
	}
	profile, err := ForVersion(s.KubernetesVersion)
	if err != nil {
		return nil, err
	}
	return New(s, profile)
}

// Changed returns the State of another Snapshot under the same rules, as New would,
// for less: the other one must have come of a change that leaves the
// ControllerRevisions as they are, and they are not parsed again.
func (st *State) Changed(s *snapshot.Snapshot) (*State, error) {
	return newState(s, st.Profile, st.stored)
}

func newState(s *snapshot.Snapshot, profile Profile, stored []template.Content) (*State, error) {
	ds := s.DaemonSet
	selector, err := metav1.LabelSelectorAsSelector(ds.Spec.Selector)
	if err != nil {
		return nil, fmt.Errorf("daemonset %s/%s: spec.selector: %w", ds.Namespace, ds.Name, err)
	}
	st := &State{
		Snapshot: s, stored: stored, At: s.TakenAt, Profile: profile, DaemonSet: ds,
		Placement: NewPlacement(ds, profile).In(s.OpenShift),
		NodesRead: !s.Lacks(snapshot.Nodes), PodsListed: !s.Lacks(snapshot.Pods),
		StatusRead: !s.Lacks(snapshot.DaemonSetStatus),
		surge:      allowsSurge(ds, profile), deleted: ds.DeletionTimestamp != nil,
	}
	st.PodsRead = st.PodsListed && !s.Lacks(snapshot.PodStatus) && (st.NodesRead || st.StatusRead)
	var pods []corev1.Pod // none, rather than some
	if st.PodsListed {
		pods = s.Pods
	}
	claimed, released := st.claim(pods, selector)
	if stored == nil {
		st.stored = storedTemplates(s, profile, selector)
	}
	if st.History, err = newHistory(s, profile, st.stored, selector, claimed); err != nil {
		return nil, fmt.Errorf("daemonset %s/%s: %w", ds.Namespace, ds.Name, err)
	}
	var nodes []corev1.Node
	if st.NodesRead {
		nodes = s.Nodes
	}
	st.mapToNodes(nodes, claimed, released)
	st.Desired = int(ds.Status.DesiredNumberScheduled)
	source := "Reported"
	if !st.StatusRead {
		source = "Unknown"
	}
	rolled := st.Desired
	if st.NodesRead {
		st.Desired, rolled, source = 0, 0, "Computed"
		for i := range st.Nodes {
			st.Desired += b2i(st.Nodes[i].Membership().Desired)
			rolled += b2i(st.Nodes[i].rolled())
		}
	}
	st.Budget = resolveBudget(ds, rolled, profile)
	st.Budget.OfSource = source
	return st, nil
}

// NotObserved reports whether the controller has not handled the newest
// generation, as far as the DaemonSet's status is there to say so. An object from which
// somebody removed the generation has 0.
func (st *State) NotObserved() bool {
	return st.StatusRead && st.DaemonSet.Generation > st.DaemonSet.Status.ObservedGeneration
}

// SelectsAll reports whether the selector is empty, which apps/v1 does not
// allow: the controller ignores such a DaemonSet. One that is missing selects
// nothing.
func SelectsAll(ds *appsv1.DaemonSet) bool {
	s := ds.Spec.Selector
	return s != nil && len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 0
}

// claim returns the pods that the next sync takes for the DaemonSet's, and those that it releases, with what they say
// by themselves: see views.
func (st *State) claim(pods []corev1.Pod, selector labels.Selector) (claimed, released []Pod) {
	claimed = make([]Pod, 0, len(pods))
	generation, has := templateGeneration(st.DaemonSet)
	newPod := func(p *corev1.Pod, c Claim) Pod {
		return Pod{
			Name: p.Name, Object: p, Claim: c, Hash: p.Labels[appsv1.DefaultDaemonSetUniqueLabelKey],
			Terminating: p.DeletionTimestamp != nil,
			failed:      p.Status.Phase == corev1.PodFailed, succeeded: p.Status.Phase == corev1.PodSucceeded,
			generation: has && p.Labels[templateGenerationLabel] == generation,
		}
	}
	for i := range pods {
		p := &pods[i]
		if p.Namespace != st.DaemonSet.Namespace {
			continue
		}
		switch c := claimOf(p, st.DaemonSet, selector); c {
		case Owned, Adopt:
			claimed = append(claimed, newPod(p, c))
		case Release:
			released = append(released, newPod(p, c))
		case Foreign:
			st.Foreign = append(st.Foreign, p)
		}
	}
	slices.SortFunc(st.Foreign, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return claimed, released
}

// comparePods is the order in which the controller keeps pods of one node, and
// in which the status looks for the one that counts.
func comparePods(a, b *corev1.Pod) int {
	if bound := cmp.Compare(b2i(b.Spec.NodeName != ""), b2i(a.Spec.NodeName != "")); bound != 0 {
		return bound
	}
	return cmp.Or(a.CreationTimestamp.Time.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// mapToNodes fills Nodes and Unmapped.
func (st *State) mapToNodes(objects []corev1.Node, claimed, released []Pod) {
	st.place(objects)
	var at map[string]int32 // which node it is, by name
	if len(claimed)+len(released) > 0 {
		at = make(map[string]int32, len(st.Nodes))
		for i := range st.Nodes {
			at[st.Nodes[i].Name] = int32(i)
		}
	}
	slot := func(name string) *Node {
		i, is := at[name]
		if !is {
			i = int32(len(st.Nodes))
			st.Nodes, at[name] = append(st.Nodes, st.unreadNode(name)), i
		}
		return &st.Nodes[i]
	}
	view := st.views(len(claimed) + len(released))
	var ignored []Pod
	for i := range claimed {
		p := &claimed[i]
		view(p)
		name, ok := TargetNode(p.Object)
		switch {
		case !ok:
			p.Ignored = NoTargetNode
			st.Unmapped = append(st.Unmapped, *p)
		case p.Terminating && isTerminal(p.Object) && st.Profile.IgnoreTerminalTerminating:
			p.Ignored = TerminalTerminating
			ignored = append(ignored, *p)
		default:
			if n := slot(name); n.Pods == nil {
				n.Pods = claimed[i : i+1 : i+1] // as on most nodes, in one piece
			} else {
				n.Pods = append(n.Pods, *p)
			}
		}
	}
	for i := range released {
		view(&released[i])
		released[i].Ignored = ReleasedPod
		ignored = append(ignored, released[i])
	}
	for _, p := range ignored { // beside the node that it is on, if that stands there otherwise
		name, _ := TargetNode(p.Object)
		if i, is := at[name]; is {
			st.Nodes[i].Ignored = append(st.Nodes[i].Ignored, p)
		} else {
			st.Unmapped = append(st.Unmapped, p)
		}
	}
	for i := range st.Nodes {
		n := &st.Nodes[i]
		if len(n.Pods) > 1 {
			slices.SortFunc(n.Pods, func(a, b Pod) int { return comparePods(a.Object, b.Object) })
		}
		if len(n.Ignored) > 1 {
			slices.SortFunc(n.Ignored, func(a, b Pod) int { // those that it releases are last
				return cmp.Or(cmp.Compare(b2i(a.Claim == Release), b2i(b.Claim == Release)),
					comparePods(a.Object, b.Object))
			})
		}
		n.Slot = slotOf(n.Pods)
	}
	slices.SortFunc(st.Unmapped, func(a, b Pod) int { return strings.Compare(a.Name, b.Name) })
	if len(st.Nodes) > len(objects) { // vanished ones are last so far
		slices.SortFunc(st.Nodes, func(a, b Node) int { return strings.Compare(a.Name, b.Name) })
	}
}

// place puts the nodes that were read into Nodes, by name, with what Placement says of them.
func (st *State) place(objects []corev1.Node) {
	decisions := st.Placement.decisions()
	st.Nodes = make([]Node, len(objects))
	for i, o := range inOrder(objects) {
		n := &st.Nodes[i]
		n.Name, n.Object, n.Exists = o.Name, o, true
		n.ShouldRun, n.MayStay = decisions.of(o)
		alone := n.ShouldRun.excludedAlone()
		n.StillDesired, n.StillRolled = alone && !st.Profile.NamespaceInStatus, alone && !st.Profile.NamespaceInRollout
	}
}

// inOrder returns nodes by name, as a server lists them.
func inOrder(objects []corev1.Node) []*corev1.Node {
	out := make([]*corev1.Node, len(objects))
	for i := range objects {
		out[i] = &objects[i]
	}
	byName := func(a, b *corev1.Node) int { return strings.Compare(a.Name, b.Name) }
	if !slices.IsSortedFunc(out, byName) {
		slices.SortStableFunc(out, byName)
	}
	return out
}

// views returns what adds to a Pod how the next sync sees it, of so many.
func (st *State) views(pods int) func(*Pod) {
	times := make([]time.Time, 0, pods) // in one piece
	revisions := map[string]string{}
	for _, r := range slices.Backward(st.History.Revisions) {
		revisions[r.Hash] = r.Name
	}
	return func(v *Pod) {
		v.UpdatedBy = updatedBy(v, st.History, st.Profile)
		if v.Hash != "" { // else it is up to date with no revision, even with one that has no hash either
			v.Revision = revisions[v.Hash]
		}
		v.Updated = v.UpdatedBy != NotUpdated
		var at time.Time
		v.Available, at = available(v.Object, st.DaemonSet.Spec.MinReadySeconds, st.At, st.Profile)
		if v.Ready = v.Available.Reason != NotReady; !at.IsZero() {
			times = append(times, at)
			v.AvailableAt = &times[len(times)-1]
		}
	}
}

// unreadNode stands for a node that a pod is for and that was not read: it
// vanished, or no node could be read at all.
func (st *State) unreadNode(name string) Node {
	if st.NodesRead {
		gone := Verdict{Reason: NodeGone}
		return Node{Name: name, ShouldRun: gone, MayStay: gone}
	}
	unread := Verdict{OK: true, Reason: NodesNotRead}
	return Node{Name: name, Exists: true, ShouldRun: unread, MayStay: unread}
}

func isTerminal(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded
}

// newAndOld splits the pods of a node as the rolling update does, without the
// terminating ones. It is not ok when two or more are new, or old.
func newAndOld(pods []Pod) (newPod, oldPod *Pod, ok bool) {
	for i := range pods {
		p := &pods[i]
		switch {
		case p.Terminating:
		case p.Updated && newPod != nil, !p.Updated && oldPod != nil:
			return newPod, oldPod, false
		case p.Updated:
			newPod = p
		default:
			oldPod = p
		}
	}
	return newPod, oldPod, true
}

func slotOf(pods []Pod) Slot {
	newPod, oldPod, ok := newAndOld(pods)
	switch {
	case !ok:
		return SlotExcess
	case newPod != nil && oldPod != nil:
		return SlotBoth
	case newPod != nil && newPod.Available.OK:
		return SlotNewAvailable
	case newPod != nil:
		return SlotNewUnavailable
	case oldPod != nil && oldPod.Available.OK:
		return SlotOldAvailable
	case oldPod != nil:
		return SlotOldUnavailable
	case len(pods) > 0:
		return SlotOnlyTerminating
	}
	return SlotEmpty
}

// Reading returns the State of the same Snapshot with more read into it, of what no rule
// of the controller looks at.
func (st *State) Reading(s *snapshot.Snapshot) *State {
	out := *st
	out.Snapshot = s
	return &out
}

// Node returns the slot of a node, or nil.
func (st *State) Node(name string) *Node {
	i, found := slices.BinarySearchFunc(st.Nodes, name,
		func(n Node, name string) int { return strings.Compare(n.Name, name) })
	if !found {
		return nil
	}
	return &st.Nodes[i]
}
