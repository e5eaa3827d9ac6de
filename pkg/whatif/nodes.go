package whatif

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// NodeEdit is a change of nodes. Only the fields that Kind uses are set.
type NodeEdit struct {
	Kind  NodeChangeKind
	Which string        // a name, a shell pattern of names, or a label selector (with "=", "!", " in " or a "," in it)
	Taint *corev1.Taint // Taint; Untaint: an empty effect is every effect
	Key   string        // Label, Unlabel
	Value string        // Label
	Count int           // Add: how many, modeled on the one node of Which
	Said  string        // as requested, for messages
}

// editNodes applies edits, one after the other, to a Snapshot that is a shallow
// copy, and returns what each of them changed. It replaces nodes and pods
// instead of modifying them, because other Snapshots share them.
func editNodes(s *snapshot.Snapshot, edits []NodeEdit) ([]NodeChange, error) {
	changes := []NodeChange{}
	if len(edits) == 0 {
		return changes, nil
	}
	if s.Lacks(snapshot.Nodes) {
		return nil, lacking(s, snapshot.Nodes, "what there is to change")
	}
	s.Nodes = snapshot.Joined(s.Nodes)
	if slices.ContainsFunc(edits, func(e NodeEdit) bool { return e.Kind == NodeDown || e.Kind == NodeRemove }) {
		s.Pods = snapshot.Joined(s.Pods)
	}
	past := earlierEdits{edits: map[string][]*NodeEdit{}}
	for i := range edits {
		e := &edits[i]
		nodes, err := e.edit(s, &past)
		if err != nil {
			return nil, e.explain(err)
		}
		slices.Sort(nodes)
		changes = append(changes, NodeChange{Kind: e.Kind, Value: e.value(), Nodes: nodes})
	}
	return changes, nil
}

// explain prefixes an error with the request.
func (e *NodeEdit) explain(err error) error {
	if e.Said == "" {
		return err
	}
	return &EditError{Said: e.Said, Err: err}
}

// value returns the argument of the edit other than the nodes.
func (e *NodeEdit) value() string {
	switch e.Kind {
	case NodeTaint:
		return daemonset.TaintString(*e.Taint)
	case NodeUntaint:
		return taintName(e.Taint)
	case NodeLabel:
		return e.Key + "=" + e.Value
	case NodeUnlabel:
		return e.Key
	case NodeAdd:
		return e.Which
	}
	return ""
}

func taintName(t *corev1.Taint) string {
	if t.Effect == "" {
		return t.Key
	}
	return t.Key + ":" + string(t.Effect)
}

// earlierEdits holds the previous edits of each node, and the removed nodes.
type earlierEdits struct {
	edits   map[string][]*NodeEdit
	removed []corev1.Node
}

// edit applies one edit and returns the names of the nodes that it changes, if
// any. New nodes may be modeled on one that was removed.
func (e *NodeEdit) edit(s *snapshot.Snapshot, before *earlierEdits) ([]string, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	among := s.Nodes
	if e.Kind == NodeAdd {
		among = slices.Concat(s.Nodes, before.removed)
	}
	chosen, err := ChooseNodes(among, e.Which)
	if err != nil {
		return nil, err
	}
	switch e.Kind {
	case NodeAdd:
		if len(chosen) > 1 {
			return nil, &Error{Message: fmt.Sprintf("%q is %d nodes: name one that the new ones are like", e.Which,
				len(chosen))}
		}
		return e.add(s, &among[chosen[0]]), nil
	case NodeRemove:
		for _, i := range chosen {
			before.removed = append(before.removed, s.Nodes[i])
		}
		return removeNodes(s, chosen), nil
	}
	now := metav1.NewTime(s.TakenAt).Rfc3339Copy()
	var podsOf map[string][]int
	if e.Kind == NodeDown {
		podsOf = podsByNode(s)
	}
	names, found := []string{}, false
	for _, i := range chosen {
		n := s.Nodes[i].DeepCopy()
		for _, other := range before.edits[n.Name] {
			if err := e.contradicts(other, n.Name); err != nil {
				return nil, err
			}
		}
		before.edits[n.Name] = append(before.edits[n.Name], e)
		changed := false
		switch e.Kind {
		case NodeTaint:
			changed = setTaint(n, *e.Taint)
		case NodeUntaint:
			changed = dropTaints(n, func(t *corev1.Taint) bool {
				return t.Key == e.Taint.Key && (e.Taint.Effect == "" || t.Effect == e.Taint.Effect)
			})
		case NodeLabel:
			changed = !holds(n.Labels, e.Key, e.Value)
			put(&n.Labels, e.Key, e.Value)
		case NodeUnlabel:
			_, changed = n.Labels[e.Key]
			delete(n.Labels, e.Key)
		case NodeCordon:
			changed = cordon(n, now)
		case NodeUncordon:
			changed = uncordon(n)
		case NodeDown:
			changed = fallSilent(n, now)
			changed = unready(s, podsOf[n.Name], now) || changed
		}
		if changed {
			found, s.Nodes[i] = true, *n
			names = append(names, n.Name)
		}
	}
	switch {
	case found:
	case e.Kind == NodeUntaint:
		return nil, &Error{Message: fmt.Sprintf("taint %q not found", taintName(e.Taint))}
	case e.Kind == NodeUnlabel:
		return nil, &Error{Message: fmt.Sprintf("label %q not found", e.Key)}
	}
	return names, nil
}

// contradicts returns an error if an earlier edit of a node and this one
// contradict each other.
func (e *NodeEdit) contradicts(other *NodeEdit, node string) error {
	both := func(a, b NodeChangeKind) bool {
		return e.Kind == a && other.Kind == b || e.Kind == b && other.Kind == a
	}
	refuse := func(format string, args ...any) error { return &Error{Message: fmt.Sprintf(format, args...)} }
	sameKey := e.Key == other.Key
	sameTaint := e.Taint != nil && other.Taint != nil && e.Taint.Key == other.Taint.Key &&
		(e.Taint.Effect == other.Taint.Effect || e.Taint.Effect == "" || other.Taint.Effect == "")
	switch {
	case sameTaint && both(NodeTaint, NodeTaint):
		return refuse("the taint %s is given twice for node %s", taintName(e.Taint), node)
	case sameTaint && both(NodeTaint, NodeUntaint):
		return refuse("the taint %s is given to node %s and taken away", taintName(e.Taint), node)
	case sameKey && both(NodeLabel, NodeLabel) && e.Value != other.Value:
		return refuse("the label %s of node %s is to be %q and %q", e.Key, node, other.Value, e.Value)
	case sameKey && both(NodeLabel, NodeUnlabel):
		return refuse("the label %s is given to node %s and taken away", e.Key, node)
	case both(NodeCordon, NodeUncordon):
		return refuse("node %s is cordoned and uncordoned", node)
	}
	return nil
}

// check returns an error if the edit is invalid for any node.
func (e *NodeEdit) check() error {
	name, value, why := "", "", []string(nil)
	switch e.Kind {
	case NodeTaint, NodeUntaint:
		name, value = e.Taint.Key, e.Taint.Value
		switch e.Taint.Effect {
		case corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
		default:
			if e.Kind == NodeTaint || e.Taint.Effect != "" {
				return &Error{Message: fmt.Sprintf("%q is no effect of a taint: NoSchedule, PreferNoSchedule, NoExecute", e.Taint.Effect)}
			}
		}
	case NodeLabel, NodeUnlabel:
		name, value = e.Key, e.Value
	case NodeAdd:
		if e.Count < 1 {
			return &Error{Message: fmt.Sprintf("%d nodes cannot be added", e.Count)}
		}
		return nil
	case NodeCordon, NodeUncordon, NodeDown, NodeRemove:
		return nil
	default:
		return fmt.Errorf("%q is no change of nodes", e.Kind)
	}
	if why = validation.IsQualifiedName(name); len(why) == 0 {
		why = validation.IsValidLabelValue(value)
	}
	if len(why) > 0 {
		return &Error{Message: fmt.Sprintf("%q: %s", strings.TrimSuffix(name+"="+value, "="), strings.Join(why, "; "))}
	}
	return nil
}

// ChooseNodes returns the indexes of the nodes that match which: a name, a
// shell pattern of names, or a label selector. It returns an *Error if there is
// none.
func ChooseNodes(nodes []corev1.Node, which string) ([]int, error) {
	matches, err := matcher(which)
	if err != nil {
		return nil, err
	}
	var chosen []int
	for i := range nodes {
		if matches(&nodes[i]) {
			chosen = append(chosen, i)
		}
	}
	if len(chosen) > 0 {
		return chosen, nil
	}
	e := &Error{Message: fmt.Sprintf("node %q not found", which), Nodes: &NoNodesError{Which: which}}
	switch {
	case isSelector(which):
		e.Message, e.Nodes.Selector = fmt.Sprintf("no node has labels that match %q", which), true
	case isPattern(which):
		e.Message = fmt.Sprintf("no node has a name that matches %q", which)
	default:
		names := make([]string, len(nodes))
		for i := range nodes {
			names[i] = nodes[i].Name
		}
		e.Nodes.Near = snapshot.Near(which, names)
	}
	return nil, e
}

func isPattern(which string) bool { return strings.ContainsAny(which, `*?[\`) }

// isSelector reports whether which is a label selector. "[!a]" is a pattern.
func isSelector(which string) bool {
	return strings.ContainsAny(which, "=, ") || strings.HasPrefix(which, "!")
}

func matcher(which string) (func(*corev1.Node) bool, error) {
	switch {
	case which == "":
		return nil, &Error{Message: "the name of the node is empty"}
	case isSelector(which):
		selector, err := labels.Parse(which)
		if err != nil {
			return nil, fmt.Errorf("label selector %q: %w", which, err)
		}
		return func(n *corev1.Node) bool { return selector.Matches(labels.Set(n.Labels)) }, nil
	case isPattern(which):
		pattern := strings.ReplaceAll(which, "[!", "[^") // from the notation of shells to that of Go
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, fmt.Errorf("pattern %q: %w", which, err)
		}
		return func(n *corev1.Node) bool { ok, _ := path.Match(pattern, n.Name); return ok }, nil
	}
	return func(n *corev1.Node) bool { return n.Name == which }, nil
}

func holds(m map[string]string, key, value string) bool {
	have, ok := m[key]
	return ok && have == value
}

// setTaint adds a taint to a node, or replaces the one with the same key and
// effect. It reports whether the node changed.
func setTaint(n *corev1.Node, t corev1.Taint) bool {
	for i := range n.Spec.Taints {
		if have := &n.Spec.Taints[i]; have.MatchTaint(&t) {
			changed := have.Value != t.Value
			if changed {
				*have = t
			}
			return changed
		}
	}
	n.Spec.Taints = append(n.Spec.Taints, t)
	return true
}

func dropTaints(n *corev1.Node, drop func(*corev1.Taint) bool) bool {
	before := len(n.Spec.Taints)
	n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return drop(&t) })
	if len(n.Spec.Taints) == 0 {
		n.Spec.Taints = nil
	}
	return len(n.Spec.Taints) < before
}

// cordon does what kubectl cordon does, and adds the taint that the node
// controller then adds.
func cordon(n *corev1.Node, now metav1.Time) bool {
	changed := !n.Spec.Unschedulable
	n.Spec.Unschedulable = true
	return setTaint(n, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule,
		TimeAdded: &now}) || changed
}

func uncordon(n *corev1.Node) bool {
	changed := n.Spec.Unschedulable
	n.Spec.Unschedulable = false
	return dropTaints(n, func(t *corev1.Taint) bool { return t.Key == corev1.TaintNodeUnschedulable }) || changed
}

// conditionTaints are the taints that the node controller adds for conditions,
// and removes when the conditions of a silent node become unknown.
var conditionTaints = map[string]bool{
	corev1.TaintNodeNotReady: true, corev1.TaintNodeMemoryPressure: true, corev1.TaintNodeDiskPressure: true,
	corev1.TaintNodePIDPressure: true,
}

// fallSilent makes the kubelet of a node stop reporting, with the changes that
// the node controller then makes: the kubelet's conditions are unknown, and the
// node is unreachable.
func fallSilent(n *corev1.Node, now metav1.Time) bool {
	changed, ready := false, false
	for i := range n.Status.Conditions {
		c := &n.Status.Conditions[i]
		switch c.Type {
		case corev1.NodeReady, corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure:
			ready = ready || c.Type == corev1.NodeReady
			if c.Status != corev1.ConditionUnknown {
				changed = true
				c.Status, c.Reason, c.Message, c.LastTransitionTime = corev1.ConditionUnknown, "NodeStatusUnknown",
					"Kubelet stopped posting node status.", now
			}
		}
	}
	if !ready {
		changed = true
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{
			Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusNeverUpdated",
			LastTransitionTime: now,
		})
	}
	changed = dropTaints(n, func(t *corev1.Taint) bool { return conditionTaints[t.Key] }) || changed
	for _, effect := range []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute} {
		changed = setTaint(n, corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: effect,
			TimeAdded: &now}) || changed
	}
	return changed
}

// unready marks pods as not ready, as the node controller does if their node is
// not, and reports whether one was ready.
func unready(s *snapshot.Snapshot, pods []int, now metav1.Time) bool {
	changed := false
	for _, i := range pods {
		p := s.Pods[i].DeepCopy()
		for j := range p.Status.Conditions {
			if c := &p.Status.Conditions[j]; c.Type == corev1.PodReady && c.Status != corev1.ConditionFalse {
				c.Status, c.LastTransitionTime = corev1.ConditionFalse, now
				s.Pods[i], changed = *p, true
			}
		}
	}
	return changed
}

// podsByNode returns the indexes of the pods of each node.
func podsByNode(s *snapshot.Snapshot) map[string][]int {
	of := map[string][]int{}
	for i := range s.Pods {
		of[s.Pods[i].Spec.NodeName] = append(of[s.Pods[i].Spec.NodeName], i)
	}
	return of
}

// removeNodes removes nodes with the pods that are bound to them.
func removeNodes(s *snapshot.Snapshot, chosen []int) []string {
	names := []string{}
	gone := map[string]bool{}
	for _, i := range chosen {
		names = append(names, s.Nodes[i].Name)
		gone[s.Nodes[i].Name] = true
	}
	s.Nodes = slices.DeleteFunc(s.Nodes, func(n corev1.Node) bool { return gone[n.Name] })
	s.Pods = slices.DeleteFunc(s.Pods, func(p corev1.Pod) bool { return gone[p.Spec.NodeName] })
	return names
}

// add adds nodes modeled on another one: with its labels, and its taints except
// those for a condition or a cordon.
func (e *NodeEdit) add(s *snapshot.Snapshot, like *corev1.Node) []string {
	taken := map[string]bool{}
	for i := range s.Nodes {
		taken[s.Nodes[i].Name] = true
	}
	now := metav1.NewTime(s.TakenAt).Rfc3339Copy()
	names := []string{}
	for i := 1; len(names) < e.Count; i++ {
		name := fmt.Sprintf("%s-new-%d", like.Name, i)
		if taken[name] {
			continue
		}
		n := like.DeepCopy()
		n.ObjectMeta = metav1.ObjectMeta{Name: name, CreationTimestamp: now, Labels: maps.Clone(like.Labels)}
		if _, ok := n.Labels[corev1.LabelHostname]; ok {
			n.Labels[corev1.LabelHostname] = name
		}
		n.Spec.Unschedulable = false
		dropTaints(n, func(t *corev1.Taint) bool {
			return strings.HasPrefix(t.Key, "node.kubernetes.io/") ||
				strings.HasPrefix(t.Key, "node.cloudprovider.kubernetes.io/")
		})
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue,
			LastTransitionTime: now}}
		s.Nodes = append(s.Nodes, *n)
		names = append(names, name)
	}
	return names
}
