package dstest

import (
	"math/rand/v2"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// RandomNamespace returns the node selectors of a random OpenShift namespace: with either, both or
// none of the annotations, and with or without a default. Some annotations are invalid. The same
// arguments always give the same result.
func RandomNamespace(seed int64, name string) *snapshot.OpenShift {
	g := &generator{Rand: rand.New(rand.NewPCG(uint64(seed), 0x6f70656e))}
	o := &snapshot.OpenShift{Namespace: &corev1.Namespace{}}
	o.Namespace.Name = name
	for _, key := range []string{snapshot.NodeSelectorAnnotation, snapshot.ProjectNodeSelectorAnnotation} {
		if g.chance(40) {
			metav1.SetMetaDataAnnotation(&o.Namespace.ObjectMeta, key, g.selectorText())
		}
	}
	if g.chance(50) {
		o.DefaultNodeSelector = g.validSelector() // otherwise the controller does not start
	}
	return o
}

func (g *generator) selectorText() string {
	if g.chance(8) {
		return pick(g, "", " ", "!!", "disk=ssd,", "disk=not a value")
	}
	return g.validSelector()
}

func (g *generator) validSelector() string {
	var parts []string
	for range pick(g, 1, 1, 1, 2, 3) {
		key := g.labelKey()
		value := g.labelValue(key)
		parts = append(parts, pick(g, key+"="+value, key+"="+value, key+" in ("+value+","+g.labelValue(key)+")",
			key+"!="+value, key, "!"+key, "size>"+pick(g, "0", "5"), "size<10"))
	}
	return strings.Join(parts, ",")
}

// openShiftVersions are versions between which the rules of OpenShift's controllers differ.
var openShiftVersions = []string{"v1.30.5", "v1.30.5", Newest, "v1.23.17", "v1.17.9"}

// RandomOpenShift returns a random state like RandomTrouble, from OpenShift.
func RandomOpenShift(seed int64) *snapshot.Snapshot {
	return OnOpenShift(troubled(RandomFor(seed, openShiftVersions[int(seed)%len(openShiftVersions)]), seed), seed)
}

// OnOpenShift returns a copy of a state as one of OpenShift, with a random namespace.
func OnOpenShift(s *snapshot.Snapshot, seed int64) *snapshot.Snapshot {
	c := *s
	c.OpenShift, c.Nodes = RandomNamespace(seed, s.DaemonSet.Namespace), slices.Clone(s.Nodes)
	for i := range c.Nodes {
		n := c.Nodes[i].DeepCopy()
		metav1.SetMetaDataLabel(&n.ObjectMeta, "node.openshift.io/os_id", "rhcos")
		c.Nodes[i] = *n
	}
	return &c
}

// Anywhere returns a random state of a version. Some states are of OpenShift, and some of these of a version that
// counts the nodes that the namespace excludes.
func Anywhere(seed int64, version string) *snapshot.Snapshot {
	switch seed % 6 {
	case 4:
		return OnOpenShift(RandomFor(seed, version), seed)
	case 5:
		return OnOpenShift(RandomFor(seed, "v1.30.5"), seed)
	}
	return RandomFor(seed, version)
}
