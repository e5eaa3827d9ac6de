package split

import (
	"cmp"
	"math"
	"strings"
)

// tailProbability returns the probability that a set of the given size has at least with
// failing nodes, if nodes fail at random: the tail of a hypergeometric
// distribution.
func (s *search) tailProbability(size, with int) (sum float64) {
	for n := min(size, s.failing); n >= with; n-- { // the least likely first, in the order in which limits adds them
		sum += s.probability(size, n)
	}
	return sum
}

// probability returns the probability of exactly with failing nodes.
func (s *search) probability(size, with int) float64 {
	rest := s.failing - with
	if rest > s.nodes-size {
		return 0
	}
	return math.Exp(s.choose(size, with) + s.choose(s.nodes-size, rest) - s.choose(s.nodes, s.failing))
}

// choose returns the logarithm of the binomial coefficient n over k.
func (s *search) choose(n, k int) float64 {
	return s.factorials[n] - s.factorials[k] - s.factorials[n-k]
}

// name returns the text before the first digit of a version. Versions with
// different names, such as containerd:// and cri-o://, have no order.
func name(version string) string {
	if i := strings.IndexFunc(version, digit); i >= 0 {
		return version[:i]
	}
	return version
}

func digit(r rune) bool { return '0' <= r && r <= '9' }

// compareVersions compares versions: their numbers as numbers, the rest as
// text.
func compareVersions(a, b string) int {
	for a != "" && b != "" {
		x, y := part(a), part(b)
		a, b = a[len(x):], b[len(y):]
		c := cmp.Compare(x, y)
		if digit(rune(x[0])) && digit(rune(y[0])) {
			x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
			c = cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y))
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// part returns the longest prefix of a text that is a number or has no digit.
func part(text string) string {
	is := digit(rune(text[0]))
	if i := strings.IndexFunc(text, func(r rune) bool { return digit(r) != is }); i > 0 {
		return text[:i]
	}
	return text
}
