package split_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/split"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// short maps short words of the notation to labels.
var short = map[string]string{
	"arch": corev1.LabelArchStable, "os": corev1.LabelOSStable, "zone": corev1.LabelTopologyZone, "type": corev1.LabelInstanceTypeStable, "pool": "karpenter.sh/nodepool",
	"oldarch": "beta.kubernetes.io/arch", "host": corev1.LabelHostname,
}

// nodes parses the notation of the tables: the failing nodes, "|" and the
// healthy ones, in groups separated by ";". A group is a number of nodes and
// what each has: a label as KEY=VALUE, where "*" is a different value on each
// node; taint:KEY=VALUE; image=, kernel=, runtime=, kubelet= and reported=, an
// architecture, as the kubelet reports them; age=, in hours.
func nodes(text string) (failing, healthy []*corev1.Node) {
	sides := strings.Split(text, "|")
	for i, side := range sides {
		for group := range strings.SplitSeq(side, ";") {
			words := strings.Fields(group)
			n, err := strconv.Atoi(words[0])
			if err != nil {
				panic(text)
			}
			for range n {
				o := node(len(failing)+len(healthy), words[1:])
				if i == 0 {
					failing = append(failing, o)
				} else {
					healthy = append(healthy, o)
				}
			}
		}
	}
	return failing, healthy
}

func node(i int, words []string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%d", i), Labels: map[string]string{}}}
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		if value == "*" {
			value = strconv.Itoa(i)
		}
		info := &n.Status.NodeInfo
		taint, isTaint := strings.CutPrefix(key, "taint:")
		switch {
		case isTaint:
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: taint, Value: value, Effect: corev1.TaintEffectNoSchedule})
		case key == "image":
			info.OSImage = value
		case key == "kernel":
			info.KernelVersion = value
		case key == "runtime":
			info.ContainerRuntimeVersion = value
		case key == "kubelet":
			info.KubeletVersion = value
		case key == "reported":
			info.Architecture = value
		case key == "age":
			hours, err := strconv.Atoi(value)
			if err != nil {
				panic(w)
			}
			n.CreationTimestamp = metav1.NewTime(now.Add(-time.Duration(hours) * time.Hour))
		default:
			if long, known := short[key]; known {
				key = long
			}
			n.Labels[key] = value
		}
	}
	return n
}

var (
	arm   = split.Property{Kind: split.Architecture, Key: corev1.LabelArchStable, Operator: split.Is, Value: "arm64"}
	spot  = split.Property{Kind: split.NodePool, Key: "karpenter.sh/nodepool", Operator: split.Is, Value: "spot"}
	zoneA = split.Property{Kind: split.Zone, Key: corev1.LabelTopologyZone, Operator: split.Is, Value: "a"}
	team  = split.Property{Kind: split.Label, Key: "team", Operator: split.Is, Value: "x"}
)

func one(failing, healthy split.Share, p split.Property, also ...split.Property) *split.Split {
	return &split.Split{Properties: []split.Property{p}, Failing: failing, Healthy: healthy, Also: append([]split.Property{}, also...)}
}

func TestFind(t *testing.T) {
	type share = split.Share
	for _, tt := range []struct {
		nodes string
		want  *split.Split
		why   string
	}{
		{"8 arch=arm64 | 40 arch=amd64", one(share{8, 8}, share{0, 40}, arm), "all that fail have it, and no healthy one"},
		{"4 arch=arm64 | 40 arch=amd64", one(share{4, 4}, share{0, 40}, arm), "four failing nodes are enough"},
		{"3 arch=arm64 | 400 arch=amd64", nil, "three are not"},
		{"8 arch=arm64 | 0", nil, "without a healthy node nothing separates them"},
		{"4 arch=arm64 | 3 arch=amd64", nil, "of 7 nodes, any 4 fail once in 35 times"},
		{"4 arch=arm64 | 8 arch=amd64", one(share{4, 4}, share{0, 8}, arm), "of 12 nodes, any 4 fail once in 495 times"},
		{"4 team=x | 8 team=y", nil, "which is too little for any label"},
		{"4 team=x | 12", one(share{4, 4}, share{0, 12}, team), "of 16 nodes, any 4 fail once in 1,820 times"},
		{"4 team=x | 4 a=1; 4 b=1; 4", nil, "which is too little where three labels could be it"},
		{"8 team=x | 40 team=y", one(share{8, 8}, share{0, 40}, team), "but not where there are more nodes"},
		{"8 arch=arm64 | 20 arch=arm64; 20 arch=amd64", nil, "half of the healthy nodes have it too"},
		{"4 arch=arm64; 4 arch=amd64 | 40 arch=amd64", nil, "half of those that fail have it"},
		{"8 arch=arm64; 2 arch=amd64 | 40 arch=amd64", one(share{8, 10}, share{0, 40}, arm), "two of ten may fail of something else"},
		{"7 arch=arm64; 3 arch=amd64 | 40 arch=amd64", nil, "three may not"},
		{"8 arch=arm64 | 2 arch=arm64; 40 arch=amd64", one(share{8, 8}, share{2, 42}, arm), "two of ten that have it may work"},
		{"8 arch=arm64 | 3 arch=arm64; 40 arch=amd64", nil, "three may not"},
		{"4 arch=arm64 | 1 arch=arm64; 8 arch=amd64", nil, "with an exception, it takes more nodes to believe it"},
		{"4 arch=arm64 | 1 arch=arm64; 40 arch=amd64", one(share{4, 4}, share{1, 41}, arm), "these are enough"},
		{"8 arch=arm64 zone=a pool=spot | 40 arch=amd64 zone=b pool=base", one(share{8, 8}, share{0, 40}, arm, spot, zoneA), "of those that coincide, the first by kind is named, then the others"},
		{"8 arch=arm64 type=t pool=spot zone=a team=x | 40 arch=amd64 type=u pool=base zone=b team=y", one(share{8, 8}, share{0, 40}, arm,
			split.Property{Kind: split.InstanceType, Key: corev1.LabelInstanceTypeStable, Operator: split.Is, Value: "t"}, spot, zoneA), "no more than three others"},
		{"4 kubelet=v1.31 zone=a; 4 kubelet=v1.32 zone=a | 40 kubelet=v1.30 zone=b", one(share{8, 8}, share{0, 40}, zoneA,
			split.Property{Kind: split.KubeletVersion, Key: "kubeletVersion", Operator: split.AtLeast, Value: "v1.31"}), "a range of versions comes after single values"},
		{"8 arch=arm64 zone=a | 2 arch=amd64 zone=a; 38 arch=amd64 zone=b", one(share{8, 8}, share{0, 40}, arm), "the one without exceptions is named"},
		{"9 arch=arm64 zone=a | 1 arch=arm64 zone=b; 40 arch=amd64 zone=b", one(share{9, 9}, share{0, 41}, zoneA), "also where another one comes first by kind"},
		{"8 arch=arm64 oldarch=arm64 reported=arm64 | 40 arch=amd64 oldarch=amd64 reported=amd64", one(share{8, 8}, share{0, 40}, arm), "the old label and what the kubelet reports are the same property"},
		{"8 reported=arm64 | 40 reported=amd64", one(share{8, 8}, share{0, 40}, arm), "the kubelet's word counts where the label is missing"},
		{"8 arch=arm64 reported=a oldarch=a | 40 arch=arm64 reported=b oldarch=b", nil, "the label counts where it is there"},
		{"8 oldarch=arm64 reported=a | 40 oldarch=amd64 reported=b", one(share{8, 8}, share{0, 40}, arm), "the old label comes before what the kubelet reports"},
		{"8 oldarch=arm64 | 40 arch=amd64", one(share{8, 8}, share{0, 40}, arm), "so does the old label"},
		{"8 host=* provider=* | 40 host=*", nil, "that a node has a label with a value of its own says nothing"},
		{"8 name=* taint:name=a | 20 taint:name=a; 20", nil, "nor where a taint has the same key"},
		{"8 host=a | 40 host=b", nil, "kubernetes.io/hostname never counts"},
		{"4 gpu=a; 4 gpu=b | 40", one(share{8, 8}, share{0, 40}, split.Property{Kind: split.Label, Key: "gpu", Operator: split.Exists}), "that it has one with shared values does"},
		{"8 gpu=a | 40", one(share{8, 8}, share{0, 40}, split.Property{Kind: split.Label, Key: "gpu", Operator: split.Is, Value: "a"}), "with its value, where there is only one"},
		{"8 taint:gpu=a | 40", one(share{8, 8}, share{0, 40}, split.Property{Kind: split.Taint, Key: "gpu", Operator: split.Is, Value: "a", Effect: "NoSchedule"}), "a taint"},
		{"4 taint:gpu=a; 4 taint:gpu=b | 40", one(share{8, 8}, share{0, 40}, split.Property{Kind: split.Taint, Key: "gpu", Operator: split.Exists}), "a taint with any value"},
		{"8 taint:node.kubernetes.io/unschedulable | 40", nil, "a taint that may come of the failure"},
		{"8 taint:node.kubernetes.io/not-ready taint:node.cilium.io/agent-not-ready | 40", nil, "taints that come when pods fail are not why they fail"},
		{"8 image=x kernel=5.4 | 40 image=y kernel=6.1", one(share{8, 8}, share{0, 40},
			split.Property{Kind: split.OSImage, Key: "osImage", Operator: split.Is, Value: "x"}, split.Property{Kind: split.KernelVersion, Key: "kernelVersion", Operator: split.Is, Value: "5.4"}), "the system's image, and its kernel"},
		{"4 kernel=5.4.0-9; 4 kernel=5.4.0-10 | 20 kernel=5.15.0-2; 20 kernel=6.1", one(share{8, 8}, share{0, 40},
			split.Property{Kind: split.KernelVersion, Key: "kernelVersion", Operator: split.Below, Value: "5.15.0-2"}), "older kernels, where 5.15 is newer than 5.4"},
		{"4 kernel=5.08; 4 kernel=5.7 | 20 kernel=5.9; 20 kernel=5.10", one(share{8, 8}, share{0, 40},
			split.Property{Kind: split.KernelVersion, Key: "kernelVersion", Operator: split.Below, Value: "5.9"}), "zeros before a number do not count"},
		{"4 kubelet=v1.31.2; 4 kubelet=v1.32.0 | 20 kubelet=v1.29.9; 20 kubelet=v1.30.0", one(share{8, 8}, share{0, 40},
			split.Property{Kind: split.KubeletVersion, Key: "kubeletVersion", Operator: split.AtLeast, Value: "v1.31.2"}), "newer kubelets"},
		{"4 runtime=cri-o://1.2; 4 runtime=cri-o://1.3 | 40 runtime=containerd://1.7", nil, "runtimes of two names have no order"},
		{"8 age=1 | 20 age=30; 20 age=40", one(share{8, 8}, share{0, 40}, split.Property{Kind: split.Created, Key: "creationTimestamp", Operator: split.AtLeast, Value: "2026-11-20T11:00:00Z"}), "the youngest nodes"},
		{"8 age=50 | 20 age=30; 20 age=40", one(share{8, 8}, share{0, 40}, split.Property{Kind: split.Created, Key: "creationTimestamp", Operator: split.Below, Value: "2026-11-18T20:00:00Z"}), "the oldest ones: before the next one was created"},
		{"8 age=1 pool=spot | 40 age=30 pool=base", one(share{8, 8}, share{0, 40}, spot, split.Property{Kind: split.Created, Key: "creationTimestamp", Operator: split.AtLeast, Value: "2026-11-20T11:00:00Z"}), "age is the last that is named"},
		{"8 arch=arm64 zone=a | 20 arch=arm64 zone=b; 20 arch=amd64 zone=a", &split.Split{Properties: []split.Property{arm, zoneA}, Failing: share{8, 8}, Healthy: share{0, 40}, Also: []split.Property{}}, "two that only together separate"},
		{"10 age=1 zone=a | 2 age=1 zone=b; 40 age=30 zone=a", one(share{10, 10}, share{2, 42}, split.Property{Kind: split.Created, Key: "creationTimestamp", Operator: split.AtLeast, Value: "2026-11-20T11:00:00Z"}), "age is not combined"},
		{"4 arch=arm64 zone=a | 4 arch=arm64 zone=b; 4 arch=amd64 zone=a", nil, "for two it takes more nodes"},
		{"8 arch=arm64 zone=a | 3 arch=arm64 zone=a; 20 arch=arm64 zone=b; 20 arch=amd64 zone=a", nil, "three of eleven that have both work"},
		{"20 arch=arm64 zone=a | 4 arch=arm64 zone=b; 40 arch=amd64 zone=a", &split.Split{Properties: []split.Property{arm, zoneA}, Failing: share{20, 20}, Healthy: share{0, 44}, Also: []split.Property{}}, "two that separate much better than one"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			failing, healthy := nodes(tt.nodes)
			if diff := cmp.Diff(tt.want, split.Find(failing, healthy)); diff != "" {
				t.Errorf("Find(%q) (-want +got):\n%s", tt.nodes, diff)
			}
		})
	}
}

// cluster returns a random cluster as clouds create them: pools whose nodes
// have much in common, and labels that are equivalent, nearly equivalent, or
// meaningless.
func cluster(r *rand.Rand) []*corev1.Node {
	pools, all := 1+r.IntN(6), []*corev1.Node{}
	labels, size := r.IntN(30), 12+r.IntN(30)*(1+r.IntN(8))
	if r.IntN(4) == 0 {
		size = 12 + r.IntN(20)
	}
	for i := range size {
		pool := r.IntN(pools)
		n := node(i, []string{"host=*", "provider=*", "os=linux"})
		set := func(key, value string) { n.Labels[cmpOr(short[key], key)] = value }
		set("pool", fmt.Sprintf("pool-%d", pool))
		set("arch", []string{"amd64", "arm64", "amd64"}[pool%3])
		set("oldarch", n.Labels[corev1.LabelArchStable])
		set("type", fmt.Sprintf("m%d.large", (pool+r.IntN(2))%5))
		set("zone", string(rune('a'+r.IntN(3))))
		info := &n.Status.NodeInfo
		info.KernelVersion, info.KubeletVersion = fmt.Sprintf("5.%d.0", 4+pool/2), fmt.Sprintf("v1.%d.%d", 30+pool%2, r.IntN(3))
		info.OSImage, info.ContainerRuntimeVersion = fmt.Sprintf("Image %d", pool/2), "containerd://1.7."+strconv.Itoa(r.IntN(2))
		for l := range labels {
			switch l % 5 {
			case 0:
				set(fmt.Sprintf("feature-%d", l), strconv.Itoa(r.IntN(2)))
			case 1:
				set(fmt.Sprintf("of-pool-%d", l), strconv.Itoa(pool%2))
			case 2:
				set(fmt.Sprintf("of-many-%d", l), strconv.Itoa(r.IntN(2+l)))
			case 3:
				if r.IntN(4) == 0 {
					set(fmt.Sprintf("some-%d", l), "")
				}
			case 4:
				set(fmt.Sprintf("unique-%d", l), strconv.Itoa(i))
			}
		}
		if r.IntN(6) == 0 {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "dedicated", Value: strconv.Itoa(r.IntN(3)), Effect: corev1.TaintEffectNoSchedule})
		}
		n.CreationTimestamp = metav1.NewTime(now.Add(-time.Duration(pool*200+r.IntN(300)) * time.Hour))
		all = append(all, n)
	}
	return all
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// holds reports whether a node has a property, independently of Property.Has.
func holds(n *corev1.Node, p split.Property) bool {
	info := &n.Status.NodeInfo
	value, has := n.Labels[p.Key]
	switch p.Kind {
	case split.Taint:
		return slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool {
			return t.Key == p.Key && (p.Operator == split.Exists || t.Value == p.Value && string(t.Effect) == p.Effect)
		})
	case split.KernelVersion:
		value = info.KernelVersion
	case split.KubeletVersion:
		value = info.KubeletVersion
	case split.OSImage:
		value = info.OSImage
	case split.ContainerRuntime:
		value = info.ContainerRuntimeVersion
	case split.Created:
		value = n.CreationTimestamp.UTC().Format(time.RFC3339)
	}
	switch p.Operator {
	case split.Is:
		return value == p.Value
	case split.Exists:
		return has
	case split.AtLeast:
		return value >= p.Value // as text: in these clusters all numbers in versions have the same length
	}
	return value < p.Value
}

// TestChance checks that if nodes fail at random, a property is named in at
// most 1% of the clusters.
func TestChance(t *testing.T) {
	named, states := 0, cases.Of(200)
	for seed := range states {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		all := cluster(r)
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		failing := 4 + r.IntN(len(all)-7)
		if s := split.Find(all[:failing], all[failing:]); s != nil {
			named++
			t.Logf("seed %d: %d of %d nodes fail: %+v", seed, failing, len(all), s)
		}
	}
	t.Logf("a property is named in %d of %d clusters where failures ignore properties", named, states)
	if 100*named > max(states, 100) {
		t.Errorf("a property is named in %d of %d clusters where failures ignore properties", named, states)
	}
}

// TestCause checks that if a property makes nodes fail, it or an equivalent one
// is named in at least 95% of the clusters.
func TestCause(t *testing.T) {
	for i, tt := range []struct {
		draw       func(*rand.Rand, []*corev1.Node) []split.Property
		exceptions bool
		why        string
	}{
		{drawOne, false, "one property"},
		{drawOne, true, "one property, with exceptions"},
		{drawTwo, false, "two properties together"},
		{drawRange, false, "a version or an age"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			named, states := 0, cases.Of(100)
			for seed := range states {
				r := rand.New(rand.NewPCG(uint64(seed), uint64(10+i)))
				all, failing, healthy, cause := caused(r, tt.draw, tt.exceptions)
				s := split.Find(failing, healthy)
				if s == nil {
					t.Logf("seed %d: %v makes %d of %d fail: nothing is named", seed, cause, len(failing), len(all))
					continue
				}
				right := 0
				for _, n := range all {
					right += b2i(hold(n, s.Properties) == hold(n, cause))
				}
				if 20*right < 19*len(all) {
					t.Logf("seed %d: %v makes %d of %d fail: named is %+v", seed, cause, len(failing), len(all), s)
					continue
				}
				named++
			}
			t.Logf("the cause is named in %d of %d clusters", named, states)
			if states-named > max(1, states/20) {
				t.Errorf("the cause is named in %d of %d clusters", named, states)
			}
		})
	}
}

func hold(n *corev1.Node, all []split.Property) bool {
	return !slices.ContainsFunc(all, func(p split.Property) bool { return !holds(n, p) })
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// caused returns a random cluster in which drawn properties make at least 5
// nodes fail; at least 15, and at least twice as many, are healthy. With
// exceptions, one in ten nodes that should fail works, or another one fails
// instead; at least one does.
func caused(r *rand.Rand, draw func(*rand.Rand, []*corev1.Node) []split.Property, exceptions bool) (all, failing, healthy []*corev1.Node, cause []split.Property) {
	for {
		all, failing, healthy = cluster(r), nil, nil
		cause = draw(r, all)
		for _, n := range all {
			if hold(n, cause) {
				failing = append(failing, n)
			} else {
				healthy = append(healthy, n)
			}
		}
		if len(failing) < 5+b2i(exceptions) || len(healthy) < max(15, 2*len(failing)) {
			continue
		}
		for range b2i(exceptions) * max(1, len(failing)/10) {
			i, j := r.IntN(len(failing)), r.IntN(len(healthy))
			works, fails := failing[i], healthy[j]
			switch r.IntN(3) {
			case 0:
				failing, healthy = slices.Delete(failing, i, i+1), append(healthy, works)
			case 1:
				failing, healthy = append(failing, fails), slices.Delete(healthy, j, j+1)
			default:
				failing[i], healthy[j] = healthy[j], failing[i]
			}
		}
		return all, failing, healthy, cause
	}
}

func drawOne(r *rand.Rand, all []*corev1.Node) []split.Property {
	n := all[r.IntN(len(all))]
	labels := []string{"karpenter.sh/nodepool", corev1.LabelArchStable, corev1.LabelTopologyZone, corev1.LabelInstanceTypeStable, "feature-0", "of-pool-1", "of-many-2", "some-3"}
	switch i := r.IntN(len(labels) + 3); {
	case i < len(labels):
		if value, has := n.Labels[labels[i]]; has {
			return []split.Property{{Key: labels[i], Operator: split.Is, Value: value}}
		}
	case i == len(labels):
		return []split.Property{{Kind: split.KernelVersion, Operator: split.Is, Value: n.Status.NodeInfo.KernelVersion}}
	case i == len(labels)+1:
		return []split.Property{{Kind: split.KubeletVersion, Operator: split.Is, Value: n.Status.NodeInfo.KubeletVersion}}
	case len(n.Spec.Taints) > 0:
		return []split.Property{{Kind: split.Taint, Key: "dedicated", Operator: split.Exists}}
	}
	return []split.Property{{Key: corev1.LabelTopologyZone, Operator: split.Is, Value: "a"}}
}

func drawTwo(r *rand.Rand, all []*corev1.Node) []split.Property {
	n := all[r.IntN(len(all))]
	return []split.Property{
		{Key: corev1.LabelTopologyZone, Operator: split.Is, Value: n.Labels[corev1.LabelTopologyZone]},
		{Key: "karpenter.sh/nodepool", Operator: split.Is, Value: n.Labels["karpenter.sh/nodepool"]},
	}
}

func drawRange(r *rand.Rand, all []*corev1.Node) []split.Property {
	n, o := all[r.IntN(len(all))], []split.Operator{split.AtLeast, split.Below}[r.IntN(2)]
	if r.IntN(2) == 0 {
		return []split.Property{{Kind: split.KubeletVersion, Operator: o, Value: n.Status.NodeInfo.KubeletVersion}}
	}
	return []split.Property{{Kind: split.Created, Operator: o, Value: n.CreationTimestamp.UTC().Format(time.RFC3339)}}
}

// TestLaws checks what is true of every Split, with random clusters.
func TestLaws(t *testing.T) {
	given := 0
	for seed := range cases.Of(100) {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		all, failing, healthy, _ := caused(r, []func(*rand.Rand, []*corev1.Node) []split.Property{drawOne, drawTwo, drawRange}[seed%3], seed%2 == 1)
		s := split.Find(failing, healthy)

		for range 3 {
			r.Shuffle(len(failing), func(i, j int) { failing[i], failing[j] = failing[j], failing[i] })
			r.Shuffle(len(healthy), func(i, j int) { healthy[i], healthy[j] = healthy[j], healthy[i] })
			if diff := cmp.Diff(s, split.Find(failing, healthy)); diff != "" {
				t.Fatalf("seed %d: the order of nodes matters:\n%s", seed, diff)
			}
		}
		if s == nil {
			continue
		}
		given++
		count := func(nodes []*corev1.Node, properties ...split.Property) split.Share {
			with := 0
			for _, n := range nodes {
				with += b2i(hold(n, properties))
			}
			return split.Share{With: with, Of: len(nodes)}
		}
		if diff := cmp.Diff([]split.Share{s.Failing, s.Healthy}, []split.Share{count(failing, s.Properties...), count(healthy, s.Properties...)}); diff != "" {
			t.Fatalf("seed %d: the counts are not those of the nodes (-said +counted):\n%s", seed, diff)
		}
		for _, n := range all {
			if s.Has(n) != hold(n, s.Properties) {
				t.Fatalf("seed %d: %s has %+v: %t", seed, n.Name, s.Properties, s.Has(n))
			}
			for _, p := range s.Also {
				if p.Has(n) != holds(n, p) {
					t.Fatalf("seed %d: %s has %+v: %t", seed, n.Name, p, p.Has(n))
				}
				if hold(n, s.Properties) != holds(n, p) {
					t.Fatalf("seed %d: %+v is not what the same nodes have as %+v: %s", seed, p, s.Properties, n.Name)
				}
			}
		}
		if s.Failing.With < 4 || 10*s.Failing.With < 8*s.Failing.Of || 10*s.Failing.With < 8*(s.Failing.With+s.Healthy.With) {
			t.Fatalf("seed %d: that does not separate: %+v", seed, s)
		}
	}
	if given < cases.Least(80) {
		t.Errorf("only %d clusters have a split", given)
	}
}

func TestPropertyOf(t *testing.T) {
	for _, tt := range []struct {
		node string
		kind split.Kind
		want *split.Property
		why  string
	}{
		{"1 arch=arm64 oldarch=x reported=y", split.Architecture, &arm, "the label"},
		{"1 oldarch=arm64 reported=y", split.Architecture, &arm, "the label that nodes had before"},
		{"1 reported=arm64", split.Architecture, &arm, "what the kubelet reports, where there is no label"},
		{"1 os=linux", split.Architecture, nil, "the node does not say it"},
		{"1 age=4", split.Created, nil, "no two nodes have their time in common"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			n, _ := nodes(tt.node)
			if diff := cmp.Diff(tt.want, split.PropertyOf(n[0], tt.kind)); diff != "" {
				t.Errorf("PropertyOf(%q, %s) (-want +got):\n%s", tt.node, tt.kind, diff)
			}
		})
	}
}

// TestHopeless checks that the sample does not change the result.
func TestHopeless(t *testing.T) {
	named, states := 0, cases.Of(100)
	for seed := range states {
		r := rand.New(rand.NewPCG(uint64(seed), 77))
		var all, failing, healthy []*corev1.Node
		for len(all) < 300 {
			all = append(all, cluster(r)...)
		}
		draw := []func(*rand.Rand, []*corev1.Node) []split.Property{drawOne, drawTwo, drawRange}[r.IntN(3)]
		cause, most, spared := draw(r, all), 4+r.IntN(9), r.IntN(10)
		for _, n := range all {
			switch has := hold(n, cause); {
			case len(failing) < most && (has || r.IntN(200) == 0):
				failing = append(failing, n)
			case !has || r.IntN(10) < spared:
				healthy = append(healthy, n)
			}
		}
		want := split.FindInAll(failing, healthy)
		if len(failing) < 4 || len(healthy) == 0 {
			want = nil
		}
		if diff := cmp.Diff(want, split.Find(failing, healthy)); diff != "" {
			t.Fatalf("seed %d: %d nodes fail, %d do not (-all +few):\n%s", seed, len(failing), len(healthy), diff)
		}
		named += b2i(want != nil && len(healthy) >= 16*len(failing))
	}
	if 10*named < states {
		t.Errorf("a property is named in %d of %d large clusters: that tells little", named, states)
	}
}

// TestHopelessSerial checks that a label that is unique in the sample may be
// shared by other nodes.
func TestHopelessSerial(t *testing.T) {
	node := func(name, serial string) *corev1.Node {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
		if serial != "" {
			n.Labels["gpu.serial"] = serial
		}
		return n
	}
	var failing, healthy []*corev1.Node
	for i := range 10 {
		failing = append(failing, node(fmt.Sprint("f", i), fmt.Sprint(i)))
	}
	for i := range 200 {
		serial := ""
		if i == 1 || i == 2 { // every fifth node is in the sample
			serial = "shared"
		}
		healthy = append(healthy, node(fmt.Sprint("h", i), serial))
	}
	if s := split.Find(failing, healthy); s == nil || s.Properties[0].Key != "gpu.serial" {
		t.Errorf("%+v", s)
	}
}

func BenchmarkFind(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	var all []*corev1.Node
	for len(all) < 5000 {
		all = append(all, cluster(r)...)
	}
	for _, failing := range []int{4, 100, 2500} {
		b.Run(strconv.Itoa(failing), func(b *testing.B) {
			for b.Loop() {
				split.Find(all[:failing], all[failing:5000])
			}
		})
	}
}
