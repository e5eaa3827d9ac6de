package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// usual are the limits that people choose.
var usual = []string{"1", "5%", "10%", "25%", "33%"}

// limits says what the usual limits and that of the DaemonSet itself would mean, the lowest first. With its own it ends
// as now says.
func (w *way) limits(now *Outcome) []Limit {
	out := []Limit{}
	texts := usual
	if own := w.st.Budget.Spec; !slices.Contains(usual, own) {
		texts = append(slices.Clip(usual), own)
	}
	for _, text := range texts {
		v := intstr.Parse(text)
		n, err := intstr.GetScaledValueFromIntOrPercent(&v, w.st.Budget.Of, true)
		if err != nil || n == 0 || alsoCalled(&out, n, text) {
			continue
		}
		o, own := now, n == w.st.Limit()
		if !own {
			with := w.withLimit(n)
			other := with.outcome(with.simulate())
			with.spread(&other)
			if len(with.unknown()) > 0 && other.ends() { // it may only complete
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

// alsoCalled adds another name of a limit that comes to so many nodes, and
// reports whether there is one.
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
