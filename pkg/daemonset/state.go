package daemonset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// State is what one sync of the controller sees. StateOf, New and Changed make
// it; it is never modified afterwards, and is safe for concurrent use.
type State struct {
	Snapshot  *snapshot.Snapshot // the Snapshot that it was made from
	At        time.Time
	Profile   Profile
	DaemonSet *appsv1.DaemonSet
	Placement *Placement
	History   *History
	Nodes     []Node        // every node and every vanished target node of a pod, by name
	Unmapped  []Pod         // pods that no rule counts and whose node is not in Nodes, by name; see Pod.Ignored
	Foreign   []*corev1.Pod // pods that match the selector and have another controller, by name
	Budget    Budget

	// Desired is the number of nodes that should run the pod, or the number in
	// the status if the nodes could not be read. The rolling update uses
	// Budget.Of, which can be larger on OpenShift.
	Desired int

	NodesRead  bool
	PodsListed bool // the list of pods was read
	PodsRead   bool // the pods' status was read too, and the size of the budget is known
	StatusRead bool // the DaemonSet's status was read

	surge   bool // manage keeps an old and a new pod on one node
	deleted bool
	stored  []template.Content // of Snapshot.Revisions; nil if one is not a template, or has another owner
	typed   *sync.Map          // the results of TemplateOf, by the name of the revision
}

// Node is one slot of the DaemonSet.
type Node struct {
	Name      string
	Object    *corev1.Node // nil for a vanished node, or if the nodes could not be read
	ShouldRun Verdict
	MayStay   Verdict
	Pods      []Pod // in the controller's order: bound first, then oldest, then by name
	Ignored   []Pod // pods on the node that no rule counts
	Slot      Slot
	Exists    bool

	// For a node that only its namespace excludes: whether this version of
	// OpenShift's controller still counts it in the status and in a rolling
	// update.
	StillDesired, StillRolled bool
}

// Pod is a pod of the DaemonSet as the next sync sees it.
type Pod struct {
	Name        string
	Object      *corev1.Pod
	Claim       Claim
	Hash        string // the value of its label
	Revision    string // the name of the ControllerRevision with that hash, if there is one
	UpdatedBy   UpdatedBy
	Available   Verdict
	AvailableAt *time.Time
	Ignored     Reason // why no rule counts it; empty if one does

	Terminating, Updated, Ready bool
	failed, succeeded           bool // its phase
	generation                  bool // its template generation is the live template's
}

// Slot sums up the pods of a node for the rolling update. New and old pods are
// those that are not terminating.
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

// New returns the State of a Snapshot under the rules of a version. It returns
// an error if the DaemonSet's selector is invalid.
//
// If a Gap says that nodes or pods are missing, the ones that were read are
// ignored too. If the nodes could not be read, the target nodes of the pods
// replace them, with verdicts of NodesNotRead that let every pod stay.
func New(s *snapshot.Snapshot, profile Profile) (*State, error) {
	return newState(s, profile, nil, new(sync.Map))
}

// StateOf returns the State of a Snapshot under the rules of its own version,
// or of Newest if it has none. It returns an error as New does, and if the
// version cannot be parsed or is older than Oldest.
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

// Changed returns New for another Snapshot under the same rules. The Snapshot
// must have the same ControllerRevisions as st; Changed does not parse them
// again.
func (st *State) Changed(s *snapshot.Snapshot) (*State, error) {
	return newState(s, st.Profile, st.stored, st.typed)
}

func newState(s *snapshot.Snapshot, profile Profile, stored []template.Content, typed *sync.Map) (*State, error) {
	ds := s.DaemonSet
	selector, err := metav1.LabelSelectorAsSelector(ds.Spec.Selector)
	if err != nil {
		return nil, fmt.Errorf("daemonset %s/%s: spec.selector: %w", ds.Namespace, ds.Name, err)
	}
	st := &State{
		Snapshot: s, stored: stored, typed: typed, At: s.TakenAt, Profile: profile, DaemonSet: ds,
		Placement: NewPlacement(ds, profile).In(s.OpenShift),
		NodesRead: !s.Lacks(snapshot.Nodes), PodsListed: !s.Lacks(snapshot.Pods),
		StatusRead: !s.Lacks(snapshot.DaemonSetStatus),
		surge:      allowsSurge(ds, profile), deleted: ds.DeletionTimestamp != nil,
	}
	st.PodsRead = st.PodsListed && !s.Lacks(snapshot.PodStatus) && (st.NodesRead || st.StatusRead)
	var pods []corev1.Pod // empty unless the list is complete
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

// NotObserved reports whether the controller has yet to handle the newest
// generation. It is false if the status was not read, or if somebody removed
// the generation from the object.
func (st *State) NotObserved() bool {
	return st.StatusRead && st.DaemonSet.Generation > st.DaemonSet.Status.ObservedGeneration
}

// SelectsAll reports whether the selector is empty. apps/v1 does not allow
// that, and the controller ignores such a DaemonSet. A missing selector selects
// nothing.
func SelectsAll(ds *appsv1.DaemonSet) bool {
	s := ds.Spec.Selector
	return s != nil && len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 0
}

// claim returns the pods that the next sync treats as the DaemonSet's, and
// those that it releases. Only the fields that follow from the pod itself are
// set; podViews sets the others.
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

// comparePods is the controller's order for the pods of one node. The first pod
// is the one that manage keeps and that the status counts.
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

// mapToNodes sets Nodes and Unmapped.
func (st *State) mapToNodes(objects []corev1.Node, claimed, released []Pod) {
	st.place(objects)
	var at map[string]int32 // index in Nodes, by name
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
	view := st.podViews(len(claimed) + len(released))
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
				n.Pods = claimed[i : i+1 : i+1] // shares the array, as most nodes have one pod
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
	for _, p := range ignored { // attach the pod to its node if the node is already in Nodes
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
			slices.SortFunc(n.Ignored, func(a, b Pod) int { // released pods are last
				return cmp.Or(cmp.Compare(b2i(a.Claim == Release), b2i(b.Claim == Release)),
					comparePods(a.Object, b.Object))
			})
		}
		n.Slot = slotOf(n.Pods)
	}
	slices.SortFunc(st.Unmapped, func(a, b Pod) int { return strings.Compare(a.Name, b.Name) })
	if len(st.Nodes) > len(objects) { // vanished nodes were appended
		slices.SortFunc(st.Nodes, func(a, b Node) int { return strings.Compare(a.Name, b.Name) })
	}
}

// place sets Nodes to the nodes that were read, by name, with their verdicts.
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

// inOrder returns the nodes by name, as an API server lists them.
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

// podViews returns a function that sets the fields of a Pod that depend on the
// State. It may be called for at most the given number of pods.
func (st *State) podViews(pods int) func(*Pod) {
	times := make([]time.Time, 0, pods) // one array for all
	revisions := map[string]string{}
	for _, r := range slices.Backward(st.History.Revisions) {
		revisions[r.Hash] = r.Name
	}
	return func(v *Pod) {
		v.UpdatedBy = updatedBy(v, st.History, st.Profile)
		if v.Hash != "" { // a pod without a hash is of no revision, even if one has an empty hash
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

// unreadNode returns the Node for a target node that was not read: it vanished,
// or no nodes could be read.
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

// newAndOld returns the new and the old pod of a node, ignoring terminating
// pods. It returns false if there are two or more new ones, or old ones.
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

// Reading returns a copy of st for a Snapshot in which more was read, as long
// as no rule of the controller reads the additional parts.
func (st *State) Reading(s *snapshot.Snapshot) *State {
	out := *st
	out.Snapshot = s
	return &out
}

// Node returns the node with a name, or nil if there is none.
func (st *State) Node(name string) *Node {
	i, found := slices.BinarySearchFunc(st.Nodes, name,
		func(n Node, name string) int { return strings.Compare(n.Name, name) })
	if !found {
		return nil
	}
	return &st.Nodes[i]
}
