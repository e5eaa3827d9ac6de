// Package split finds what failing nodes have in common and healthy ones do not: the
// one or two properties of nodes that separate them, as a split in a decision tree
// does. It knows nothing of DaemonSets, and holds no prose.
package split

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Split is one property of nodes, or two, that separate failing from healthy nodes:
// at least eight of ten failing nodes have it, and of ten nodes that have it at
// least eight fail.
type Split struct {
	// what the nodes have: one property, or two that a node must have both
	Properties []Property `json:"properties"`

	Failing Share `json:"failing"` // of the failing nodes, those that have it
	Healthy Share `json:"healthy"` // of the healthy nodes, those that have it

	// up to three other properties that exactly the same nodes have, in the order of the table of
	// [kinds](#kinds-of-properties); empty if there are two in `properties`
	Also []Property `json:"also"`
}

// Share is how many of some nodes have a property.
type Share struct {
	With int `json:"with"` // how many have it
	Of   int `json:"of"`   // how many there are
}

// Exact reports whether all failing nodes have it, and no healthy one.
func (s *Split) Exact() bool { return s.Failing.With == s.Failing.Of && s.Healthy.With == 0 }

// fewest is how many nodes must fail: of fewer, too much is common by chance.
const fewest = 4

// chances are how likely it may be, at most, that a property of a rank separates
// failing nodes which fail whatever their properties. Together they stay below one
// in a hundred. What matters to most programs has the largest part, so that a small
// cluster is enough.
var chances = []float64{ofSystem: 0.003, ofPlace: 0.003, ofLabel: 0.0015, ofAge: 0.0005, ofTwo: 0.0005}

// Find returns what separates failing from healthy nodes; nil for fewer than four
// failing nodes, without a healthy one, where nothing separates them, and where what
// does may well be chance.
//
// Chance is what it would be if any other nodes, as many, had failed with the same
// probability: how likely a property then separates them as well as it does follows
// from the number of nodes that have it, of those that fail and of all. Find
// believes what is less likely than a limit, which it lowers until all properties of
// a rank together exceed it with no more than the chance of the rank: see chances. So
// neither many labels nor labels that say the same make it name one too many.
//
// Of several that separate, it returns the least likely, and of those that the same
// nodes have the first by kind: see Kinds. Two properties are given where they are
// less likely than a single one. The order of the nodes has no influence.
func Find(failing, healthy []*corev1.Node) *Split {
	if len(failing) < fewest || len(healthy) == 0 || hopeless(failing, healthy) {
		return nil
	}
	return find(failing, healthy)
}

// hopeless reports whether nothing separates failing from healthy nodes, as a few of the healthy ones show: what
// separates all of them is what eight of ten failing nodes have and, of any healthy ones, at most as many as a quarter
// of these. Of thousands of nodes it spares looking at most.
func hopeless(failing, healthy []*corev1.Node) bool {
	few := 4 * len(failing) // what a tenth of the healthy nodes have is then had by too many
	if len(healthy) < 4*few {
		return false
	}
	some := make([]*corev1.Node, few)
	for i := range some {
		some[i] = healthy[i*len(healthy)/few]
	}
	s := newSearch(len(failing), len(failing)+few)
	s.sets = s.setsOf(slices.Concat(failing, some), false)
	separates := func(set *set) bool { return s.separates(set.size, set.with) }
	return len(s.sets) < most && !slices.ContainsFunc(s.sets, separates) && !slices.ContainsFunc(s.pairs(), separates)
}

// find does what Find does, of all nodes.
func find(failing, healthy []*corev1.Node) *Split {
	s := newSearch(len(failing), len(failing)+len(healthy))
	s.sets = s.setsOf(slices.Concat(failing, healthy), true)
	best := s.best(s.sets)
	if two := s.best(s.pairs()); best == nil || two != nil && two.doubt < best.doubt {
		best = two
	}
	if best == nil {
		return nil
	}
	out := &Split{Properties: best.properties[:best.needs], Also: []Property{}}
	for _, p := range best.properties[best.needs:] {
		known := slices.ContainsFunc(slices.Concat(out.Properties, out.Also),
			func(other Property) bool { return other.Key == p.Key })
		if len(out.Also) < 3 && !known {
			out.Also = append(out.Also, p)
		}
	}
	out.Failing, out.Healthy = Share{best.with, len(failing)}, Share{best.size - best.with, len(healthy)}
	return out
}

// search is what Find knows: the first nodes of each set are the failing ones.
type search struct {
	failing, nodes int
	sets           []*set
	factorials     []float64 // their logarithms, for all numbers up to nodes
}

func newSearch(failing, nodes int) *search {
	s := &search{failing: failing, nodes: nodes, factorials: make([]float64, nodes+1)}
	for i := range s.factorials {
		s.factorials[i], _ = math.Lgamma(float64(i + 1))
	}
	return s
}

// set is nodes that have the same properties.
type set struct {
	members    []uint64   // a bit for each node
	size, with int        // how many nodes, and how many failing ones
	properties []Property // by kind; of a pair these two
	needs      int        // of the properties, how many tell the set from others: 1, or 2 for a pair
	doubt      float64    // how likely it separates so well by chance, as a part of what may be believed
}

func (s *set) rank() rank {
	if s.needs == 2 {
		return ofTwo
	}
	return s.properties[0].rank()
}

// enough reports whether so many nodes are eight of ten failing ones.
func (s *search) enough(with int) bool { return 10*with >= 8*s.failing }

// separates reports whether a set of a size that holds so many failing nodes
// separates them from the healthy ones.
func (s *search) separates(size, with int) bool { return s.enough(with) && 10*with >= 8*size }

// may reports whether a set of a size can separate.
func (s *search) may(size int) bool { return s.separates(size, min(size, s.failing)) }

// best returns the set that separates with the least doubt; nil if there is none, and
// where none is to be believed.
func (s *search) best(sets []*set) (best *set) {
	limits := s.limits(sets)
	for _, set := range sets {
		if !s.separates(set.size, set.with) {
			continue
		}
		set.doubt = s.chance(set.size, set.with) / limits[set.rank()]
		if set.doubt <= 1 && (best == nil || cmp.Or(cmp.Compare(set.doubt, best.doubt), compare(set, best)) < 0) {
			best = set
		}
	}
	return best
}

// limits returns, by rank, how unlikely something must be to be believed: any of the
// sets exceeds it with no more than the chance of the rank.
func (s *search) limits(sets []*set) []float64 {
	sizes := make([]map[int]int, len(chances))
	for _, set := range sets {
		if sizes[set.rank()] == nil {
			sizes[set.rank()] = map[int]int{}
		}
		sizes[set.rank()][set.size]++
	}
	out := make([]float64, len(chances))
	for r := range out {
		type step struct{ chance, more float64 }
		var steps []step
		for size, count := range sizes[r] {
			chance := 0.0
			for with := min(size, s.failing); s.separates(size, with) && chance <= chances[r]; with-- {
				exactly := s.exactly(size, with)
				chance += exactly
				steps = append(steps, step{chance, float64(count) * exactly})
			}
		}
		slices.SortFunc(steps, func(a, b step) int {
			return cmp.Or(cmp.Compare(a.chance, b.chance),
				cmp.Compare(a.more, b.more))
		})
		left := chances[r]
		for i, st := range steps {
			if left -= st.more; left < 0 {
				break
			}
			if i+1 == len(steps) || steps[i+1].chance > st.chance { // all that are as likely
				out[r] = st.chance
			}
		}
	}
	return out
}

// most is how many sets are combined in pairs: those of the first kinds.
const most = 400

// pairs returns the sets of nodes that have two properties, where neither property
// alone has the same nodes, and where the size lets the set separate.
func (s *search) pairs() (out []*set) {
	var wide []*set // which can hold as many failing nodes as are needed
	for _, set := range s.sets {
		if set.properties[0].rank() <= ofLabel && set.size < s.nodes && len(wide) < most {
			wide = append(wide, set)
		}
	}
	known := map[string]bool{}
	for _, set := range s.sets {
		known[key(set.members)] = true
	}
	for i, a := range wide {
		for _, b := range wide[:i] {
			size := 0
			for w := range a.members {
				size += bits.OnesCount64(a.members[w] & b.members[w])
			}
			if !s.may(size) || size == a.size || size == b.size {
				continue
			}
			both := s.newSet(func(w int) uint64 { return a.members[w] & b.members[w] })
			if known[key(both.members)] {
				continue
			}
			known[key(both.members)] = true
			both.properties, both.needs = []Property{b.properties[0], a.properties[0]}, 2
			out = append(out, both)
		}
	}
	return out
}

// newSet returns the set of nodes that words of bits name.
func (s *search) newSet(word func(int) uint64) *set {
	out := &set{members: make([]uint64, (s.nodes+63)/64), needs: 1}
	for i := range out.members {
		w := word(i)
		out.members[i] = w
		out.size += bits.OnesCount64(w)
		if left := s.failing - 64*i; left < 64 {
			w &= 1<<max(0, left) - 1
		}
		out.with += bits.OnesCount64(w)
	}
	return out
}

// compare orders sets by the kinds of their properties.
func compare(a, b *set) int {
	return slices.CompareFunc(a.properties[:a.needs], b.properties[:b.needs], Property.compare)
}
