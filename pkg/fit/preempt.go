package fit

import (
	"cmp"
	"iter"
	"math"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Preemption is the effect of preemption on one node for a pod that does not
// fit there.
type Preemption struct {
	Outcome Outcome
	Victims []Victim // Possible: the pods to remove, the most important first

	// Certain: the scheduler selects exactly these. Otherwise the selection
	// depends on the order in which the scheduler sees equally important pods,
	// or several PodDisruptionBudgets of one pod, and these are one of several
	// possible selections.
	Certain bool

	// Others are pods that may be removed instead of some Victims, the most
	// important first; empty if Certain. Between Fewest and Most pods are
	// removed.
	Others       []Victim
	Fewest, Most int

	// Still is what does not suffice even without all pods of lower priority,
	// for StillDoesNotFit.
	Still []Lack
}

// Victim is a pod to remove.
type Victim struct {
	Namespace, Name string
	Priority        int32
	Terminating     bool

	// Violates are the PodDisruptionBudgets, sorted, that may not allow this
	// disruption; empty if there are none. The scheduler tries to avoid that.
	// Whether there is one is as certain as the selection; which one of several
	// depends on their order.
	Violates []string
}

// candidate is a pod of lower priority.
type candidate struct {
	*snapshot.PodRow
	violates []string
	spared   bool
	first    bool // it would have been spared as the first of its equally important pods
}

// preempt selects victims like the scheduler: it removes every pod of lower
// priority, and then adds back as many as fit, one by one: first those whose
// PodDisruptionBudget would be violated, then the others, the more important
// ones first.
func (s *room) preempt(v *Verdict) Preemption {
	switch {
	case v.Fits:
		return Preemption{Outcome: NotNeeded}
	case !v.Resolvable:
		return Preemption{Outcome: CannotHelp}
	case s.wanted.NeverPreempts:
		return Preemption{Outcome: Never}
	case s.waitsForVictims():
		return Preemption{Outcome: WaitsForVictims}
	}
	lower := s.lower()
	if len(lower) == 0 {
		return Preemption{Outcome: NothingLower}
	}
	for _, c := range lower {
		s.remove(c.PodRow)
	}
	switch {
	case !s.fits():
		return Preemption{Outcome: StillDoesNotFit, Still: s.lacks()}
	case s.outOfReach() != nil || s.outOfZone() != nil:
		return Preemption{Outcome: StillDoesNotFit}
	case s.volumesMatter():
		return Preemption{Outcome: VictimsNotCounted}
	}
	open := s.protect(lower)
	s.spare(lower)
	p := Preemption{Outcome: Possible, Certain: !open && !orderMatters(lower)}
	for _, c := range lower {
		if !c.spared {
			p.Victims = append(p.Victims, c.victim())
		}
	}
	p.Fewest, p.Most = len(p.Victims), len(p.Victims)
	if !p.Certain {
		s.addOthers(&p, lower, open)
	}
	return p
}

func (c *candidate) victim() Victim {
	return Victim{c.Namespace, c.Name, c.Priority, c.Terminating, c.violates}
}

// mostOrders is the maximum number of orders of equally important pods that are
// tried.
const mostOrders = 5040

// addOthers adds to a selection that is not certain the pods that may be removed
// instead. If there are too many orders, or if the order of
// PodDisruptionBudgets matters (open), every pod of lower priority may be.
func (s *room) addOthers(p *Preemption, lower []candidate, open bool) {
	chosen := func(c *candidate, of []Victim) bool {
		return slices.ContainsFunc(of, func(v Victim) bool { return v.Namespace == c.Namespace && v.Name == c.Name })
	}
	for i := range lower { // restore the state before the selection
		if lower[i].spared {
			s.remove(lower[i].PodRow)
		}
	}
	goes, orders := map[string]Victim{}, 1
	for group := range equals(lower) {
		for n := 2; n <= len(group) && orders <= mostOrders; n++ {
			orders *= n
		}
	}
	if open || orders > mostOrders {
		p.Fewest, p.Most = 1, len(lower)
		for i := range lower {
			goes[lower[i].Namespace+"/"+lower[i].Name] = lower[i].victim()
		}
	} else {
		s.inEachOrder(slices.Clone(lower), 0, func(lower []candidate) {
			n := 0
			for i := range lower {
				if !lower[i].spared {
					n++
					goes[lower[i].Namespace+"/"+lower[i].Name] = lower[i].victim()
				}
			}
			p.Fewest, p.Most = min(p.Fewest, n), max(p.Most, n)
		})
	}
	for i := range lower {
		c := &lower[i]
		if v, may := goes[c.Namespace+"/"+c.Name]; may && !chosen(c, p.Victims) {
			p.Others = append(p.Others, v)
		}
	}
}

// inEachOrder selects victims for each order of the equally important pods,
// starting with the pod at from.
func (s *room) inEachOrder(lower []candidate, from int, selected func([]candidate)) {
	if from == len(lower) {
		order := slices.Clone(lower)
		s.charge(order, false)
		s.spare(order)
		selected(order)
		for i := range order { // restore the state
			if order[i].spared {
				s.remove(order[i].PodRow)
			}
		}
		return
	}
	for i := from; i < len(lower) && importance(lower[from], lower[i]) == 0; i++ {
		lower[from], lower[i] = lower[i], lower[from]
		s.inEachOrder(lower, from+1, selected)
		lower[from], lower[i] = lower[i], lower[from]
	}
}

// waitsForVictims reports whether preempted pods are still terminating on the nominated
// node.
func (s *room) waitsForVictims() bool {
	return s.wanted.NominatedNode == s.node.Node.Name && slices.ContainsFunc(s.node.Pods, func(p snapshot.PodRow) bool {
		return p.Preempted && !p.Nominated && p.Priority < s.wanted.Priority
	})
}

// lower returns the pods of lower priority on the node, the most important
// first: by priority, then by start time. A pod without a start time counts as
// starting now.
func (s *room) lower() (out []candidate) {
	for i := range s.node.Pods {
		if p := &s.node.Pods[i]; !p.Nominated && p.Priority < s.wanted.Priority {
			out = append(out, candidate{PodRow: p})
		}
	}
	slices.SortFunc(out, func(a, b candidate) int {
		return cmp.Or(importance(a, b), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// importance compares two pods; the more important one is first. It returns 0
// if the scheduler does not order them.
func importance(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(startOf(a.StartTime), startOf(b.StartTime)))
}

func startOf(t *metav1.Time) int64 {
	if t == nil {
		return math.MaxInt64
	}
	return t.UnixNano()
}

// protect determines which pods a PodDisruptionBudget protects, because it
// allows no more disruptions once the more important pods are disrupted. An
// eviction that a budget has already counted is not counted again.
//
// The scheduler charges some of the other budgets of a protected pod, depending
// on their order. open reports whether that affects another pod.
func (s *room) protect(lower []candidate) (open bool) {
	s.charge(lower, false)
	least := make([]bool, len(lower))
	for i, c := range lower {
		least[i] = c.protected()
	}
	s.charge(lower, true)
	return !slices.EqualFunc(least, lower, func(violates bool, c candidate) bool { return violates == c.protected() })
}

// charge subtracts each pod from what its budgets allow. Unless all is set, it
// does not charge the other budgets of a protected pod.
func (s *room) charge(lower []candidate, all bool) {
	allowed := map[string]int32{}
	disrupted := map[string][]string{}
	for _, b := range s.node.Budgets {
		allowed[b.Namespace+"/"+b.Name], disrupted[b.Namespace+"/"+b.Name] = b.Allowed, b.Disrupted
	}
	for i := range lower {
		c := &lower[i]
		var asked []string
		c.violates = nil
		for _, name := range c.Budgets {
			key := c.Namespace + "/" + name
			left, known := allowed[key]
			if !known || slices.Contains(disrupted[key], c.Name) {
				continue
			}
			asked = append(asked, key)
			if left <= 0 {
				c.violates = append(c.violates, name)
			}
		}
		if all || !c.protected() {
			for _, key := range asked {
				allowed[key]--
			}
		}
	}
}

func (c *candidate) protected() bool { return len(c.violates) > 0 }

// spare adds back the pods with which the wanted one still fits.
func (s *room) spare(lower []candidate) {
	for _, protected := range []bool{true, false} {
		for group := range equals(lower) {
			for i := range group {
				if c := &group[i]; c.protected() == protected {
					s.add(c.PodRow)
					c.first = s.fits()
					s.remove(c.PodRow)
				}
			}
			for i := range group {
				if c := &group[i]; c.protected() == protected {
					s.add(c.PodRow)
					if c.spared = s.fits(); !c.spared {
						s.remove(c.PodRow)
					}
				}
			}
		}
	}
}

// equals yields groups of equally important pods.
func equals(lower []candidate) iter.Seq[[]candidate] {
	return func(yield func([]candidate) bool) {
		for len(lower) > 0 {
			n := 1
			for n < len(lower) && importance(lower[n-1], lower[n]) == 0 {
				n++
			}
			if !yield(lower[:n]) {
				return
			}
			lower = lower[n:]
		}
	}
}

// orderMatters reports whether another order of equally important pods might have
// protected or spared others.
func orderMatters(lower []candidate) bool {
	for group := range equals(lower) {
		a := group[0]
		for _, b := range group {
			if a.protected() != b.protected() || b.first && !b.spared {
				return true
			}
		}
	}
	return false
}
