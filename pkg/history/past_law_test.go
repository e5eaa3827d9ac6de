package history

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// pastRevision is a revision in a simulated past.
type pastRevision struct {
	id             int
	content        string
	first, number  int
	made, numbered int // seconds
}

func (r pastRevision) name() string { return fmt.Sprintf("agent-%dx", r.id) }

// life is a simulated past of a DaemonSet. Each step changes the template,
// perhaps back to an earlier one, deletes a revision, sets the limit, or moves
// a pod.
type life struct {
	revisions []pastRevision
	live      string
	limit     int
	pods      []int // the id of each node's revision; -1 for none
	now, next int
	moved     map[int]bool // the numbers that a revision had before
	steps     []string
}

// sync does what the controller does to its revisions, and returns those that
// clean-up deletes.
func (l *life) sync() (removed []string) {
	current, highest := -1, 0
	for i, r := range l.revisions {
		if r.content == l.live {
			current = i
		} else {
			highest = max(highest, r.number)
		}
	}
	switch {
	case current < 0:
		l.revisions = append(l.revisions, pastRevision{l.next, l.live, highest + 1, highest + 1, l.now, l.now})
		l.next++
		current = len(l.revisions) - 1
	case l.revisions[current].number <= highest:
		l.moved[l.revisions[current].number] = true
		l.revisions[current].number, l.revisions[current].numbered = highest+1, l.now
	}
	old := slices.Delete(slices.Clone(l.revisions), current, current+1)
	slices.SortFunc(old, func(a, b pastRevision) int { return a.number - b.number })
	excess := len(old) - l.limit
	for _, r := range old {
		if excess <= 0 || slices.Contains(l.pods, r.id) {
			continue
		}
		excess--
		removed = append(removed, r.name())
		l.revisions = slices.DeleteFunc(l.revisions, func(o pastRevision) bool { return o.id == r.id })
	}
	slices.Sort(removed)
	return removed
}

func randomLife(seed uint64) *life {
	r := rand.New(rand.NewPCG(seed, 7))
	l := &life{live: "a", limit: []int{1, 2, 3, 4, 100}[r.IntN(5)], pods: []int{-1, -1, -1}, now: 10, moved: map[int]bool{}}
	l.sync()
	for steps := 2 + r.IntN(14); steps > 0; steps-- {
		l.now += 3 + r.IntN(60)
		switch r.IntN(12) {
		default:
			l.live = string(rune('a' + r.IntN(8)))
			l.steps = append(l.steps, l.live)
			if steps > 1 || r.IntN(2) == 0 { // the last change may not be synced yet
				l.sync()
			}
		case 8, 9:
			for _, v := range l.revisions {
				if v.content == l.live {
					l.pods[r.IntN(3)] = v.id
					l.steps = append(l.steps, "pod")
				}
			}
		case 10:
			if i := r.IntN(len(l.revisions)); l.revisions[i].content != l.live {
				l.steps = append(l.steps, fmt.Sprint("delete ", l.revisions[i].number))
				l.revisions = slices.Delete(l.revisions, i, i+1)
			}
		case 11:
			l.limit = r.IntN(5)
			l.steps = append(l.steps, fmt.Sprint("limit ", l.limit))
		}
	}
	return l
}

// snapshot returns what remains visible of the past, with or without managed
// fields.
func (l *life) snapshot(t *testing.T, managedFields bool) *snapshot.Snapshot {
	s := past(t, l.live, limit(int32(l.limit)))
	at := func(second int) metav1.Time { return metav1.NewTime(began.Add(time.Duration(second) * time.Second)) }
	for _, v := range l.revisions {
		r := revisionOf(t, s, fmt.Sprintf("%d=%s", v.number, v.content))
		r.Name, r.Labels[appsv1.DefaultDaemonSetUniqueLabelKey], r.CreationTimestamp = v.name(), strings.TrimPrefix(v.name(), "agent-"), at(v.made)
		if managedFields {
			numbered := at(v.numbered)
			r.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: controllerManager, Time: &numbered}}
		}
		s.Revisions = append(s.Revisions, r)
	}
	for node, id := range l.pods {
		if id >= 0 {
			s.Pods = append(s.Pods, podOf(s, fmt.Sprintf("p%d", node), fmt.Sprintf("n%d", node), fmt.Sprintf("%dx", id), 0))
		}
	}
	return dstest.State("", dstest.Edit(func(into *snapshot.Snapshot) { *into = *s }))
}

// TestLawPast checks that a History agrees with the simulated past, that with
// managed fields it finds every rollback, and that its predictions come true.
func TestLawPast(t *testing.T) {
	took, were := 0, 0
	for seed := range cases.Of(uint64(750)) {
		for _, managedFields := range []bool{false, true} {
			l := randomLife(seed)
			h := of(t, l.snapshot(t, managedFields), Options{})
			n := l.check(t, h, managedFields)
			took, were = took+n, were+b2i(n > 0)
			l.checkNext(t, h)
			if t.Failed() {
				t.Fatalf("seed %d, managed fields %t: %s\n%+v\n%s", seed, managedFields, strings.Join(l.steps, ", "), l.revisions, strings.Join(noted(h), "\n"))
			}
		}
	}
	if took < cases.Least(500) || were < cases.Least(250) {
		t.Errorf("%d revisions were used again, in %d pasts: the law does not look at them", took, were)
	}
}

// check compares a History with the past, and returns how many revisions it
// reports as renumbered.
func (l *life) check(t *testing.T, h *History, managedFields bool) (took int) {
	missing := map[string]string{}
	for _, n := range h.Notes {
		if n.Code == MissingNumbers {
			for _, numbers := range n.Facts["numbers"].([]string) {
				var from, to int
				if count, _ := fmt.Sscanf(numbers, "%d-%d", &from, &to); count < 2 {
					to = from
				}
				for ; from <= to; from++ {
					if missing[fmt.Sprint(from)] != "" {
						t.Errorf("%d is missing twice", from)
					}
					missing[fmt.Sprint(from)] = n.Facts["why"].(string)
				}
			}
		}
	}
	for _, v := range l.revisions {
		numbered := began.Add(time.Duration(v.numbered) * time.Second).UTC()
		switch {
		case v.content != l.live:
		case h.CurrentSince == nil && managedFields:
			t.Errorf("%d is current since %v, which is not said", v.number, numbered)
		case h.CurrentSince != nil && !h.CurrentSince.Equal(numbered):
			t.Errorf("%d is current since %v, not %v", v.number, numbered, h.CurrentSince)
		}
	}
	lowest, highest, kept := 1<<30, 0, map[int]bool{}
	for _, v := range l.revisions {
		lowest, highest, kept[v.number] = min(lowest, v.number), max(highest, v.number), true
		row := h.Revisions[slices.IndexFunc(h.Revisions, func(r Revision) bool { return r.Name == v.name() })]
		i := slices.IndexFunc(h.Notes, func(n Note) bool { return n.Code == TakenUpAgain && n.Revisions[0] == v.name() })
		switch {
		case i < 0 && managedFields && v.first != v.number:
			t.Errorf("%d was taken up again", v.number)
		case i < 0:
			continue
		case v.first == v.number:
			t.Errorf("%d has its first number", v.number)
		}
		took++
		if was := h.Notes[i].Facts.Int("was"); was != 0 && was != v.first {
			t.Errorf("%d was %d first, not %d", v.number, v.first, was)
		}
		numbered := began.Add(time.Duration(v.numbered) * time.Second).UTC()
		if (row.TakenUpAt != nil) != managedFields || managedFields && !row.TakenUpAt.Equal(numbered) {
			t.Errorf("%d was taken up at %v, not %v", v.number, numbered, row.TakenUpAt)
		}
		if after, ok := h.Notes[i].Facts["after"]; ok && after.(string) > numbered.Format(time.RFC3339) {
			t.Errorf("%d was taken up at %v, not after %v", v.number, numbered, after)
		}
	}
	for n := 1; n < highest; n++ {
		why := missing[fmt.Sprint(n)]
		if kept[n] && why != "" || !kept[n] && n > lowest && why == "" || why == string(TakenUpAgain) && !l.moved[n] {
			t.Errorf("%d: kept %t, moved on from %t, missing: %q", n, kept[n], l.moved[n], why)
		}
	}
	return took
}

// checkNext checks what a History says about the next sync and the next change.
func (l *life) checkNext(t *testing.T, h *History) {
	of := func(code NoteCode) (names []string) {
		for _, n := range h.Notes {
			if n.Code == code {
				names = append(names, n.Revisions...)
			}
		}
		slices.Sort(names)
		return names
	}
	before, next := slices.Clone(l.revisions), l.next
	removed := l.sync()
	var raised []string
	for _, v := range l.revisions {
		if slices.ContainsFunc(before, func(b pastRevision) bool { return b.id == v.id && b.number != v.number }) {
			raised = append(raised, v.name())
		}
	}
	cut, made := l.next > next, pastRevision{id: next}.name()
	l.live = "z"
	pushedOut := slices.DeleteFunc(l.sync(), func(name string) bool { return cut && name == made })
	want := map[NoteCode][]string{RemovedNext: removed, NumberRaised: raised, RemovedByNextChange: pushedOut}
	for code, names := range want {
		if diff := cmp.Diff(append([]string{}, names...), append([]string{}, of(code)...)); diff != "" {
			t.Errorf("%s (-comes +said):\n%s", code, diff)
		}
	}
	if h.Next.Cut != cut {
		t.Errorf("a revision is made: %t, said %t", cut, h.Next.Cut)
	}
}
