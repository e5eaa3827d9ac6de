package cause

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/split"
)

// Common is what failing nodes have in common and healthy nodes do not have.
type Common struct {
	split.Split `json:",inline"`
	Compared    Compared `json:"compared"` // which pods run on the healthy nodes

	// whether the kubelet reports that the image is not built for the common architecture or operating system
	// of the nodes; then fewer than four nodes are enough
	Told bool `json:"told"`
}

// Compared is which pods run on the healthy nodes.
type Compared string

const (
	// ComparedNew: pods of the current revision, which works there
	ComparedNew Compared = "NewPods"
	// ComparedOld: pods of other revisions, because no pod of the current one is available; the revision may be to
	// blame as well
	ComparedOld Compared = "OldPods"
)

// Confined reports whether the current revision is assumed to fail only on these nodes.
func (c *Common) Confined() bool { return c.Told || c.Compared == ComparedNew || c.OfPlatform() }

// OfPlatform reports whether the nodes share only their architecture or operating system.
func (c *Common) OfPlatform() bool {
	return len(c.Properties) == 1 && slices.Contains(platformKinds, c.Properties[0].Kind)
}

var platformKinds = []split.Kind{split.Architecture, split.OperatingSystem}

// Common returns what the given nodes, on which pods fail, have in common and healthy nodes do not have. Healthy nodes
// are the eligible nodes with an available pod of the current revision or, if there are none, with any available pod.
// messages are the messages of the failures. Common returns nil if nothing is significant; see split.Find.
//
// A revision that fails everywhere fails first where its pods are created first. If no new pod is available, Common
// therefore considers only the architecture and the operating system if a failing node is newer than the revision, if
// age is what the nodes have in common, or if a person deletes the old pods.
func (cs *Causes) Common(nodes []string, messages ...string) *Common {
	fails := make(map[string]bool, len(nodes))
	for _, n := range nodes {
		fails[n] = true
	}
	var failing []*corev1.Node
	for i := range cs.st.Nodes {
		if n := &cs.st.Nodes[i]; n.Object != nil && fails[n.Name] {
			failing = append(failing, n.Object)
		}
	}
	healthy, compared := cs.healthy(fails)
	told := slices.ContainsFunc(messages, OtherPlatform)
	if told {
		if s := samePlatform(failing, healthy); s != nil {
			return &Common{Split: *s, Compared: compared, Told: true}
		}
	}
	s := split.Find(failing, healthy)
	if s == nil {
		return nil
	}
	c := &Common{Split: *s, Compared: compared}
	if c.Told = told && c.OfPlatform(); compared == ComparedOld && !c.OfPlatform() && cs.chosen(c, failing) {
		return nil
	}
	return c
}

// Confined returns what the failing nodes have in common, if containers of the current revision fail permanently and
// are assumed to fail only on such nodes. Otherwise it returns nil.
func (cs *Causes) Confined() *Common {
	var nodes, messages []string
	for i := range cs.st.Nodes {
		n := &cs.st.Nodes[i]
		if c := cs.nodes[n.Name]; c != nil && c.Severity == SeverityError && OfContainer(c.Code) &&
			c.Facts["templateImage"] == nil && cs.SameProgram(relevantPod(n)) {
			nodes, messages = append(nodes, n.Name), append(messages, c.Facts.Text("message"))
		}
	}
	if c := cs.Common(nodes, messages...); c != nil && c.Confined() {
		return c
	}
	return nil
}

// healthy returns the eligible nodes with an available pod, without those in failing.
func (cs *Causes) healthy(failing map[string]bool) ([]*corev1.Node, Compared) {
	of := map[bool][]*corev1.Node{}
	for i := range cs.st.Nodes {
		n := &cs.st.Nodes[i]
		if n.Object == nil || !n.ShouldRun.OK || cs.nodes[n.Name] != nil || Down(n, cs.at) != nil || failing[n.Name] {
			continue
		}
		if i := slices.IndexFunc(n.Pods, func(p daemonset.Pod) bool {
			return p.Available.OK &&
				!p.Terminating
		}); i >= 0 {
			of[cs.SameProgram(&n.Pods[i])] = append(of[cs.SameProgram(&n.Pods[i])], n.Object)
		}
	}
	if len(of[true]) > 0 {
		return of[true], ComparedNew
	}
	return of[false], ComparedOld
}

// chosen reports whether the failing nodes may share a property only because their pods were replaced first.
func (cs *Causes) chosen(c *Common, failing []*corev1.Node) bool {
	if cs.st.DaemonSet.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType ||
		slices.ContainsFunc(c.Properties, func(p split.Property) bool { return p.Kind == split.Created }) {
		return true
	}
	return slices.ContainsFunc(cs.st.History.Revisions, func(r daemonset.Revision) bool {
		return slices.Contains(cs.st.History.Current, r.Name) &&
			slices.ContainsFunc(failing, func(n *corev1.Node) bool { return n.CreationTimestamp.After(r.Created) })
	})
}

// samePlatform returns the architecture or operating system that all failing nodes have and no healthy node has, or nil
// if there is none.
func samePlatform(failing, healthy []*corev1.Node) *split.Split {
	if len(failing) == 0 || len(healthy) == 0 {
		return nil
	}
	for _, k := range platformKinds {
		p := split.PropertyOf(failing[0], k)
		if p == nil || slices.ContainsFunc(failing, func(n *corev1.Node) bool { return !p.Has(n) }) ||
			slices.ContainsFunc(healthy, p.Has) {
			continue
		}
		return &split.Split{Properties: []split.Property{*p},
			Failing: split.Share{With: len(failing), Of: len(failing)}, Healthy: split.Share{Of: len(healthy)},
			Also: []split.Property{}}
	}
	return nil
}

// otherPlatforms are phrases in messages of kernels, container runtimes and Windows hosts about an image that is not
// built for the node.
var otherPlatforms = []string{
	"exec format error", "no matching manifest for ", "no supported platform found in manifest list",
	"no match for platform in manifest", "no image found in manifest list for architecture",
	"no image found in image index for architecture",
	"cannot be used on this platform", "container operating system does not match the host operating system",
}

// OtherPlatforms returns phrases, in lower case, in messages about an image that is not built for the node.
func OtherPlatforms() []string { return slices.Clone(otherPlatforms) }

// OtherPlatform reports whether a message says that an image is not built for the architecture or operating system of
// the node.
func OtherPlatform(message string) bool {
	message = strings.ToLower(message)
	return slices.ContainsFunc(otherPlatforms, func(words string) bool { return strings.Contains(message, words) })
}

// Platform returns the platform of nodes in the form that images use, such as linux/arm64; empty if the nodes have
// several.
func (cs *Causes) Platform(nodes []string) (name string) {
	for i := range cs.st.Nodes {
		n := &cs.st.Nodes[i]
		if n.Object == nil || !slices.Contains(nodes, n.Name) {
			continue
		}
		system, arch := split.PropertyOf(n.Object, split.OperatingSystem),
			split.PropertyOf(n.Object, split.Architecture)
		if system == nil || arch == nil || name != "" && name != system.Value+"/"+arch.Value {
			return ""
		}
		name = system.Value + "/" + arch.Value
	}
	return name
}

// Label is a label of a node.
type Label struct {
	Key   string `json:"key"`   // its key
	Value string `json:"value"` // its value
}

// Elsewhere returns the label that all eligible nodes outside c have with the same value, so that a nodeSelector with
// it excludes the failing nodes. It returns nil if there is none, or if a node in c has an available pod.
func (cs *Causes) Elsewhere(c *Common) (label *Label) {
	if p := c.Properties[0]; !c.Confined() || len(c.Properties) > 1 || p.Operator != split.Is ||
		!slices.Contains(selectable, p.Kind) {
		return nil
	}
	key := c.Properties[0].Key
	for i := range cs.st.Nodes {
		n := &cs.st.Nodes[i]
		if n.Object == nil || !n.ShouldRun.OK {
			continue
		}
		if c.Has(n.Object) {
			if slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool { return p.Available.OK && !p.Terminating }) {
				return nil
			}
			continue
		}
		value, has := n.Object.Labels[key]
		if !has || label != nil && label.Value != value {
			return nil
		}
		label = &Label{key, value}
	}
	return label
}

// selectable are the kinds of properties that people use to select the nodes of a DaemonSet.
var selectable = []split.Kind{split.Architecture, split.OperatingSystem, split.NodePool, split.Label}
