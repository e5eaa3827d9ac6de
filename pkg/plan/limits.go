package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// usualLimits lists limits that people commonly choose.
var usualLimits = []string{"1", "5%", "10%", "25%", "33%"}

// limits returns the course of the rollout with the usual limits and with its own, the lowest first. now is the outcome
// with its own limit.
func (sc *scenario) limits(now *Outcome) []Limit {
	out := []Limit{}
	texts := usualLimits
	if own := sc.st.Budget.Spec; !slices.Contains(usualLimits, own) {
		texts = append(slices.Clip(usualLimits), own)
	}
	for _, text := range texts {
		v := intstr.Parse(text)
		n, err := intstr.GetScaledValueFromIntOrPercent(&v, sc.st.Budget.Of, true)
		if err != nil || n == 0 || alsoCalled(&out, n, text) {
			continue
		}
		o, own := now, n == sc.st.Limit()
		if !own {
			with := sc.withLimit(n)
			other := with.outcome(with.simulate())
			with.spread(&other)
			if len(with.unknown()) > 0 && other.ends() { // it may turn out to be MayComplete
				with.alternatives(&other)
			}
			o = &other
		}
		out = append(out, Limit{Limit: text, Nodes: n, AtATime: o.AtATime, Steps: o.Steps, Current: own, Planned: own,
			Duration: o.Duration, Code: o.Code})
	}
	slices.SortStableFunc(out, func(a, b Limit) int { return a.Nodes - b.Nodes })
	return out
}

// alsoCalled adds text as another name of the limit that comes to that many nodes. It returns false if there is no such
// limit.
func alsoCalled(limits *[]Limit, nodes int, text string) bool {
	i := slices.IndexFunc(*limits, func(l Limit) bool { return l.Nodes == nodes })
	if i < 0 {
		return false
	}
	same := (*limits)[i]
	same.Limit = text
	*limits = append(*limits, same)
	return true
}
