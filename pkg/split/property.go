package split

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Property is something that nodes can have in common.
type Property struct {
	Kind Kind `json:"kind"` // what it is about

	// the key of the label or the taint. If the kubelet reports the property without a label, the name of the
	// field: `kernelVersion`, `creationTimestamp`
	Key      string   `json:"key"`
	Operator Operator `json:"operator"` // how the node's value compares with `value`

	// the value of the label, the taint or the field; empty for `Exists`. Times are in RFC 3339 format
	Value  string `json:"value"`
	Effect string `json:"effect"` // the effect of the taint; empty for `Exists` and for other kinds
}

// Kind is what a Property is about.
type Kind string

const (
	Architecture     Kind = "Architecture"            // the label `kubernetes.io/arch`, or the kubelet's value
	OperatingSystem  Kind = "OperatingSystem"         // the label `kubernetes.io/os`, or the kubelet's value
	OSImage          Kind = "OSImage"                 // `status.nodeInfo.osImage`
	KernelVersion    Kind = "KernelVersion"           // `status.nodeInfo.kernelVersion`
	ContainerRuntime Kind = "ContainerRuntimeVersion" // `status.nodeInfo.containerRuntimeVersion`
	KubeletVersion   Kind = "KubeletVersion"          // `status.nodeInfo.kubeletVersion`
	InstanceType     Kind = "InstanceType"            // the label `node.kubernetes.io/instance-type`
	// NodePool: a label with which a cloud, Karpenter or another tool names a group of nodes
	NodePool Kind = "NodePool"
	Zone     Kind = "Zone"   // the label `topology.kubernetes.io/zone`
	Region   Kind = "Region" // the label `topology.kubernetes.io/region`
	// Taint: a taint, except those for nodes that are not ready, cordoned or
	// about to be removed, because the failure may cause them
	Taint Kind = "Taint"
	// Label: any other label, except `kubernetes.io/hostname` and labels with a
	// different value on each node
	Label   Kind = "Label"
	Created Kind = "CreationTime" // `metadata.creationTimestamp`
)

// Kinds lists every Kind, those that most likely matter to a program first. If
// the same nodes have several properties, the first one is named.
var Kinds = []Kind{Architecture, OperatingSystem, OSImage, KernelVersion, ContainerRuntime, KubeletVersion,
	InstanceType, NodePool, Zone, Region, Taint, Label, Created}

// Operator compares a node's value with that of a Property.
type Operator string

const (
	Is      Operator = "Is"      // they are equal
	Exists  Operator = "Exists"  // the node has the label or the taint, with any value
	AtLeast Operator = "AtLeast" // the node's version or time is equal or later
	Below   Operator = "Below"   // the node's version or time is earlier
)

// Operators lists every Operator.
var Operators = []Operator{Is, Exists, AtLeast, Below}

// rank groups properties by how likely they are to matter, which determines
// their chances.
type rank int

const (
	ofSystem rank = iota // the architecture and the operating system, for which an image is built
	ofPlace              // other well-known labels, and what the kubelet reports
	ofLabel              // taints, other labels, and ranges of versions
	ofAge
	ofTwo // two properties
)

func (p Property) rank() rank {
	switch {
	case p.Kind == Created:
		return ofAge
	case p.Kind == Label || p.Kind == Taint || p.Operator != Is:
		return ofLabel
	case p.Kind == Architecture || p.Kind == OperatingSystem:
		return ofSystem
	}
	return ofPlace
}

// compare orders properties, those that most likely matter first.
func (p Property) compare(other Property) int {
	return cmp.Or(
		cmp.Compare(p.rank(), other.rank()),
		cmp.Compare(slices.Index(Kinds, p.Kind), slices.Index(Kinds, other.Kind)),
		cmp.Compare(slices.Index(Operators, p.Operator), slices.Index(Operators, other.Operator)),
		cmp.Compare(p.Key, other.Key), cmp.Compare(p.Value, other.Value), cmp.Compare(p.Effect, other.Effect))
}

// kindOf maps labels that describe a node to their kind.
var kindOf = map[string]Kind{
	corev1.LabelArchStable: Architecture, corev1.LabelOSStable: OperatingSystem,
	corev1.LabelInstanceTypeStable: InstanceType,
	corev1.LabelTopologyZone:       Zone, corev1.LabelTopologyRegion: Region,
	"cloud.google.com/gke-nodepool": NodePool, "eks.amazonaws.com/nodegroup": NodePool,
	"alpha.eksctl.io/nodegroup-name": NodePool,
	"kubernetes.azure.com/agentpool": NodePool, "agentpool": NodePool, "karpenter.sh/nodepool": NodePool,
	"karpenter.sh/provisioner-name":   NodePool,
	"doks.digitalocean.com/node-pool": NodePool, "lke.linode.com/pool-id": NodePool,
	"ibm-cloud.kubernetes.io/worker-pool-name": NodePool,
	"k8s.scaleway.com/pool-name":               NodePool, "kops.k8s.io/instancegroup": NodePool,
	"worker.gardener.cloud/pool": NodePool,
}

// renamed maps deprecated labels to their current names; nodes have both.
var renamed = map[string]string{
	"beta.kubernetes.io/arch": corev1.LabelArchStable, "beta.kubernetes.io/os": corev1.LabelOSStable,
	corev1.LabelInstanceType:            corev1.LabelInstanceTypeStable,
	corev1.LabelFailureDomainBetaZone:   corev1.LabelTopologyZone,
	corev1.LabelFailureDomainBetaRegion: corev1.LabelTopologyRegion,
}

// formerNames maps current names to deprecated ones.
var formerNames = func() map[string]string {
	out := map[string]string{}
	for old, today := range renamed {
		out[today] = old
	}
	return out
}()

// setsOf returns the sets of nodes that have a property in common, without
// duplicates, each with all properties that exactly these nodes have, in the
// order of their first properties. It omits sets that are too small to separate
// and, if nodes are all nodes, labels that name a node.
func (s *search) setsOf(nodes []*corev1.Node, all bool) []*set {
	having := labelsOf(nodes)
	for i, n := range nodes {
		for _, p := range taints(n) {
			having[p] = append(having[p], i)
		}
	}
	for i := range fields {
		s.ranges(nodes, &fields[i], having)
	}
	if all {
		unique(having)
	}
	sets := map[string]*set{}
	for p, members := range having {
		if !s.enoughFailing(len(members)) {
			continue
		}
		words := make([]uint64, (len(nodes)+63)/64)
		for _, i := range members {
			words[i/64] |= 1 << (i % 64)
		}
		k := key(words)
		if sets[k] == nil {
			sets[k] = s.newSet(func(w int) uint64 { return words[w] })
		}
		sets[k].properties = append(sets[k].properties, p)
	}
	out := make([]*set, 0, len(sets))
	for _, set := range sets {
		slices.SortFunc(set.properties, Property.compare)
		out = append(out, set)
	}
	slices.SortFunc(out, compare)
	return out
}

func key(members []uint64) string {
	b := make([]byte, 0, 8*len(members))
	for _, word := range members {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	return string(b)
}

// label returns the value of a label of a node, by the label's current name. ok
// is false if the node lacks it, and for a label that names the node.
func label(n *corev1.Node, key string) (value string, ok bool) {
	if key == corev1.LabelHostname || renamed[key] != "" {
		return "", false
	}
	if value, ok = n.Labels[key]; !ok && formerNames[key] != "" {
		value, ok = n.Labels[formerNames[key]]
	}
	return value, ok
}

// labelsOf returns the properties for the labels of nodes, with the nodes that
// have them. Thousands of nodes have some hundred thousand labels with few
// keys.
func labelsOf(nodes []*corev1.Node) map[Property][]int {
	type label struct {
		today string // its current key; empty for a label that names the node
		old   bool   // nodes may have both
		nodes []int
		by    map[string][]int // by value
	}
	all := map[string]*label{}
	for i, n := range nodes {
		for key, value := range n.Labels {
			l := all[key]
			if l == nil {
				l = &label{by: map[string][]int{}}
				if l.today, l.old = renamed[key]; !l.old && key != corev1.LabelHostname {
					l.today = key
				}
				all[key] = l
			}
			if l.today == "" {
				continue
			}
			if l.old {
				if _, both := n.Labels[l.today]; both {
					continue
				}
			}
			l.nodes, l.by[value] = append(l.nodes, i), append(l.by[value], i)
		}
	}
	having := map[Property][]int{}
	for _, l := range all {
		add := func(o Operator, value string, members []int) {
			p := Property{Kind: cmp.Or(kindOf[l.today], Label), Key: l.today, Operator: o, Value: value}
			having[p] = append(having[p], members...)
		}
		if len(l.nodes) > 0 {
			add(Exists, "", l.nodes)
		}
		for value, members := range l.by {
			add(Is, value, members)
		}
	}
	return having
}

// transientTaints are taints that depend on the state of a node, or on the agents on
// it: the failure may cause them.
var transientTaints = []string{
	corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable, corev1.TaintNodeUnschedulable,
	corev1.TaintNodeNetworkUnavailable, corev1.TaintNodeOutOfService,
	"node.cloudprovider.kubernetes.io/uninitialized", "node.cloudprovider.kubernetes.io/shutdown",
	"ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler", "karpenter.sh/disrupted",
	"karpenter.sh/disruption", "karpenter.sh/unregistered",
}

// Keys returns the keys of labels that have their own Kind, and the keys of
// taints that are not properties.
func Keys() (labels, taints []string) {
	labels = slices.Concat(slices.Sorted(maps.Keys(kindOf)), slices.Sorted(maps.Keys(renamed)))
	return append(labels, corev1.LabelHostname), slices.Clone(transientTaints)
}

// taints returns the properties for the taints of a node.
func taints(n *corev1.Node) (out []Property) {
	for _, t := range n.Spec.Taints {
		if slices.Contains(transientTaints, t.Key) || strings.HasSuffix(t.Key, "not-ready") ||
			strings.HasPrefix(t.Key, "startup-taint.") {
			continue
		}
		out = append(out, Property{Kind: Taint, Key: t.Key, Operator: Is, Value: t.Value, Effect: string(t.Effect)},
			Property{Kind: Taint, Key: t.Key, Operator: Exists})
	}
	return out
}

// unique removes labels that have a different value on each node: such a label
// names the node.
func unique(having map[Property][]int) {
	shared := map[string]bool{}
	for p, members := range having {
		if p.Operator == Is && p.Kind != Taint && len(members) > 1 {
			shared[p.Key] = true
		}
	}
	for p := range having {
		if p.Operator == Exists && p.Kind != Taint && !shared[p.Key] {
			delete(having, p)
		}
	}
}

// field is a property of nodes other than labels and taints.
type field struct {
	kind       Kind
	key        string
	label      string // an equivalent label; the field counts only if the node lacks it
	of         func(*corev1.Node) string
	compare    func(a, b string) int // nil if values are not ordered
	rangesOnly bool                  // only ranges count, not single values
}

var fields = []field{
	{kind: Architecture, key: corev1.LabelArchStable, label: corev1.LabelArchStable,
		of: func(n *corev1.Node) string { return n.Status.NodeInfo.Architecture }},
	{kind: OperatingSystem, key: corev1.LabelOSStable, label: corev1.LabelOSStable,
		of: func(n *corev1.Node) string { return n.Status.NodeInfo.OperatingSystem }},
	{kind: OSImage, key: "osImage", of: func(n *corev1.Node) string { return n.Status.NodeInfo.OSImage }},
	{kind: KernelVersion, key: "kernelVersion",
		of: func(n *corev1.Node) string { return n.Status.NodeInfo.KernelVersion }, compare: compareVersions},
	{kind: ContainerRuntime, key: "containerRuntimeVersion",
		of: func(n *corev1.Node) string { return n.Status.NodeInfo.ContainerRuntimeVersion }, compare: compareVersions},
	{kind: KubeletVersion, key: "kubeletVersion",
		of: func(n *corev1.Node) string { return n.Status.NodeInfo.KubeletVersion }, compare: compareVersions},
	{kind: Created, key: "creationTimestamp", of: created, compare: strings.Compare, rangesOnly: true},
}

// value returns the value of the field, or "" if the equivalent label exists.
func (f *field) value(n *corev1.Node) string {
	if f.label != "" {
		if _, labeled := label(n, f.label); labeled {
			return ""
		}
	}
	return f.of(n)
}

// order compares two values; equally new ones have an arbitrary but fixed
// order.
func (f *field) order(a, b string) int { return cmp.Or(f.compare(a, b), strings.Compare(a, b)) }

func created(n *corev1.Node) string {
	if n.CreationTimestamp.IsZero() {
		return ""
	}
	return n.CreationTimestamp.UTC().Format(time.RFC3339)
}

// ranges adds the properties for a field of nodes: a value and, if values are
// ordered, this value or a later one, and an earlier one.
func (s *search) ranges(nodes []*corev1.Node, f *field, having map[Property][]int) {
	by := map[string][]int{}
	for i, n := range nodes {
		if v := f.value(n); v != "" {
			by[v] = append(by[v], i)
		}
	}
	values := slices.Collect(maps.Keys(by))
	if !f.rangesOnly {
		for _, v := range values {
			p := Property{Kind: f.kind, Key: f.key, Operator: Is, Value: v}
			having[p] = append(having[p], by[v]...)
		}
	}
	if f.compare == nil || slices.ContainsFunc(values, func(v string) bool { return name(v) != name(values[0]) }) {
		return
	}
	slices.SortFunc(values, f.order)
	var sorted []int
	starts := make([]int, len(values))
	for i, v := range values {
		starts[i], sorted = len(sorted), append(sorted, by[v]...)
	}
	for i, v := range values {
		if below := sorted[:starts[i]]; i > 0 && (!f.rangesOnly || s.canSeparate(len(below))) {
			having[Property{Kind: f.kind, Key: f.key, Operator: Below, Value: v}] = below
		}
		if from := sorted[starts[i]:]; i > 0 && (!f.rangesOnly || s.canSeparate(len(from))) {
			having[Property{Kind: f.kind, Key: f.key, Operator: AtLeast, Value: v}] = from
		}
	}
}
