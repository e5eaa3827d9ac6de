// Package split finds the one or two properties of nodes that separate failing
// from healthy nodes, like a split in a decision tree. It does not depend on
// DaemonSets, and contains no prose.
package split

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Split is one or two properties that separate failing from healthy nodes: at
// least 80% of the failing nodes have them, and at least 80% of the nodes that
// have them fail.
type Split struct {
	// one property, or two that a node must both have
	Properties []Property `json:"properties"`

	Failing Share `json:"failing"` // how many failing nodes have these properties
	Healthy Share `json:"healthy"` // how many healthy nodes have these properties

	// up to three other properties that exactly the same nodes have, in the order of the table of
	// [kinds](#kinds-of-properties); empty if `properties` has two
	Also []Property `json:"also"`
}

// Share is how many of a number of nodes have a property.
type Share struct {
	With int `json:"with"` // how many of these nodes have the properties
	Of   int `json:"of"`   // how many there are
}

// Exact reports whether all failing nodes and no healthy ones have the
// properties.
func (s *Split) Exact() bool { return s.Failing.With == s.Failing.Of && s.Healthy.With == 0 }

// minFailing is the minimum number of failing nodes: fewer have too much in common
// by chance.
const minFailing = 4

// chances are, by rank, the maximum probability that any property separates
// nodes that fail at random. Their sum is below 1%. Properties that matter to
// most programs have the largest share, so that they can be found in a small
// cluster.
var chances = []float64{ofSystem: 0.003, ofPlace: 0.003, ofLabel: 0.0015, ofAge: 0.0005, ofTwo: 0.0005}

// Find returns the properties that separate failing from healthy nodes. It
// returns nil if there are fewer than four failing nodes or no healthy ones, if
// nothing separates them, or if chance explains what does. The order of the
// nodes does not matter.
//
// Find rejects chance by a hypergeometric test: the probability that a property
// separates at least as well if the same number of nodes fails at random must
// be below a limit, which is so low that all properties of a rank together stay
// below its share of chances. More labels, or equivalent ones, therefore do not
// lead to more false results. Of several properties that separate, Find returns
// the least probable and, for the same nodes, the first by Kinds. It returns
// two properties only if they are less probable than each one alone.
func Find(failing, healthy []*corev1.Node) *Split {
	if len(failing) < minFailing || len(healthy) == 0 || sampleSeparatesNone(failing, healthy) {
		return nil
	}
	return find(failing, healthy)
}

// sampleSeparatesNone reports whether a sample of the healthy nodes shows that nothing
// separates them from the failing ones: a property of 80% of the failing nodes
// may occur on at most a quarter as many healthy ones. For thousands of nodes,
// this avoids reading most of them.
func sampleSeparatesNone(failing, healthy []*corev1.Node) bool {
	few := 4 * len(failing) // a property of a tenth of the healthy nodes is then too frequent
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
	return len(s.sets) < maxPaired && !slices.ContainsFunc(s.sets, separates) &&
		!slices.ContainsFunc(s.pairs(), separates)
}

// find is Find without the sample.
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

// search is the state of Find. The first nodes of each set are the failing
// ones.
type search struct {
	failing, nodes int
	sets           []*set
	factorials     []float64 // logarithms of the factorials up to nodes
}

func newSearch(failing, nodes int) *search {
	s := &search{failing: failing, nodes: nodes, factorials: make([]float64, nodes+1)}
	for i := range s.factorials {
		s.factorials[i], _ = math.Lgamma(float64(i + 1))
	}
	return s
}

// set is the nodes that have the same properties.
type set struct {
	members    []uint64   // a bit for each node
	size, with int        // the numbers of nodes and of failing nodes
	properties []Property // by kind; for a pair, the two
	needs      int        // how many of the properties distinguish the set: 1, or 2 for a pair
	doubt      float64    // the probability of separating so well by chance, divided by the limit
}

func (s *set) rank() rank {
	if s.needs == 2 {
		return ofTwo
	}
	return s.properties[0].rank()
}

// enoughFailing reports whether with is at least 80% of the failing nodes.
func (s *search) enoughFailing(with int) bool { return 10*with >= 8*s.failing }

// separates reports whether a set of the given size, with that many failing
// nodes, separates them from the healthy ones.
func (s *search) separates(size, with int) bool { return s.enoughFailing(with) && 10*with >= 8*size }

// canSeparate reports whether a set of the given size can separate.
func (s *search) canSeparate(size int) bool { return s.separates(size, min(size, s.failing)) }

// best returns the set that separates with the least doubt, or nil if none does
// below its limit.
func (s *search) best(sets []*set) (best *set) {
	limits := s.limits(sets)
	for _, set := range sets {
		if !s.separates(set.size, set.with) {
			continue
		}
		set.doubt = s.tailProbability(set.size, set.with) / limits[set.rank()]
		if set.doubt <= 1 && (best == nil || cmp.Or(cmp.Compare(set.doubt, best.doubt), compare(set, best)) < 0) {
			best = set
		}
	}
	return best
}

// limits returns, by rank, the highest probability such that the sets of the
// rank together stay below chances.
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
				exactly := s.probability(size, with)
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
			if i+1 == len(steps) || steps[i+1].chance > st.chance { // the last of equal ones
				out[r] = st.chance
			}
		}
	}
	return out
}

// maxPaired is the maximum number of sets that are combined in pairs, by kind.
const maxPaired = 400

// pairs returns the sets of nodes that have two properties, if neither alone
// has the same nodes and the size allows the set to separate.
func (s *search) pairs() (out []*set) {
	var wide []*set // sets with enough failing nodes
	for _, set := range s.sets {
		if set.properties[0].rank() <= ofLabel && set.size < s.nodes && len(wide) < maxPaired {
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
			if !s.canSeparate(size) || size == a.size || size == b.size {
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

// newSet returns the set with the given words of bits.
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
