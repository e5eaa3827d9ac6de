package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// batch is what one act of a sync wrote: the pods that it created and deleted. A sync is usually
// one act, of manage or of the rolling update. If the watch delivers everything that manage wrote
// before manage returns, the rolling update follows in the same sync.
type batch struct {
	kind             daemonset.StepKind
	creates, deletes []daemonset.Item
	version          int64     // of its first write
	began            time.Time // the controller read the DaemonSet and its clock after that
	listed           time.Time // and the pods after that
	decided          time.Time
	second           bool // manage wrote in the same sync
}

// batches returns the controller's writes to the DaemonSet's pods, one batch for each act, oldest
// first, and the number of syncs that wrote nothing because there was nothing to do or because they
// waited to observe earlier writes.
//
// A request belongs to the last act of its sync: syncs of one DaemonSet do not overlap, and all
// requests of an act are answered before the sync continues. The number of requests must equal the
// controller's own count.
func batches(t *testing.T, r *record, log []stage.AuditEntry, syncs []stage.Sync) (found []batch, idle, waited int) {
	t.Helper()
	writes := slices.DeleteFunc(slices.Clone(log), func(e stage.AuditEntry) bool {
		return !strings.HasSuffix(e.UserAgent, "/daemon-set-controller") ||
			e.Resource != "pods" || e.Subresource != "" || e.Verb != "create" && e.Verb != "delete"
	})
	slices.SortFunc(writes, func(a, b stage.AuditEntry) int { return a.Received.Compare(b.Received) })
	marks := firstMarks(r)
	for _, s := range syncs {
		wrote := false
		for i, act := range s.Acts {
			end := s.End
			if i+1 < len(s.Acts) {
				end = s.Acts[i+1].Time
			}
			n := 0
			for n < len(writes) && writes[n].Received.Before(end) {
				n++
			}
			b := batch{kind: daemonset.StepManage, began: s.Start, listed: s.Start, decided: act.Time}
			if i > 0 { // the rolling update lists the pods again
				b.kind, b.second, b.listed = daemonset.StepRollingUpdate, wrote, s.Acts[i-1].Time
			}
			for _, w := range writes[:n] {
				if w.Received.Before(act.Time) {
					t.Fatalf("a %s of pod %s came in at %s, before what the controller decided at %s", w.Verb, w.Name, w.Received, act.Time)
				}
				b.add(t, w, marks)
			}
			writes = writes[n:]
			if len(b.creates) != act.Creates || len(b.deletes) != act.Deletes {
				t.Fatalf("the controller says that it creates %d pods and deletes %d, the audit log that it created %d and deleted %d",
					act.Creates, act.Deletes, len(b.creates), len(b.deletes))
			}
			if n > 0 {
				found, wrote = append(found, b), true
			}
		}
		switch {
		case len(s.Acts) == 0:
			waited++
		case !wrote:
			idle++
		}
	}
	if len(writes) > 0 {
		t.Fatalf("%d requests came in after the last sync had ended", len(writes))
	}
	return found, idle, waited
}

// add adds a request. If the pod was already terminating or gone, because the controller's cache
// was older, the moment of that event applies.
func (b *batch) add(t *testing.T, w stage.AuditEntry, marks map[string]mark) {
	t.Helper()
	m := marks[w.Name]
	var version int64
	switch {
	case w.Verb == "create" && w.Code == 201:
		version = m.created
		b.creates = append(b.creates, daemonset.Item{Node: m.node})
	case w.Verb == "delete" && (w.Code == 200 || w.Code == 404):
		version = m.deleted
		b.deletes = append(b.deletes, daemonset.Item{Node: m.node, Pod: w.Name})
	default:
		t.Fatalf("a %s of pod %q was answered with %d", w.Verb, w.Name, w.Code)
	}
	if version == 0 {
		t.Fatalf("the record does not hold the %s of pod %q", w.Verb, w.Name)
	}
	if b.version == 0 || version < b.version {
		b.version = version
	}
}

// mark holds when a pod was created and when its deletion began.
type mark struct {
	node             string
	created, deleted int64
}

func firstMarks(r *record) map[string]mark {
	marks := map[string]mark{}
	for _, e := range r.ordered() {
		if e.kind != "pod" {
			continue
		}
		m := marks[e.name]
		m.node = e.node
		if e.added {
			m.created = e.version
		}
		if m.deleted == 0 && (e.deleted || e.object.GetDeletionTimestamp() != nil) {
			m.deleted = e.version
		}
		marks[e.name] = m
	}
	return marks
}

// match says which state explains a batch: the number of events by which it is older than the
// batch's first write, up to mostLag, or one of the following.
type match int

const mostLag = 5

const (
	older match = mostLag + 1 + iota
	moved       // of the rolling update, in a sync whose manage part saw less
	wrong       // no state explains it
	matches
)

func (m match) String() string {
	return map[match]string{older: "older", moved: "with a cache that moved on within the sync", wrong: "wrong"}[m]
}

// rules turn a Snapshot into what the controller sees.
type rules func(*testing.T, *snapshot.Snapshot) *daemonset.State

// brokenRules are wrong in one respect each, which a comparison must detect.
var brokenRules = map[string]rules{
	"the budget were one larger": func(t *testing.T, s *snapshot.Snapshot) *daemonset.State {
		st := predict(t, s)
		if st.Budget.MaxSurge > 0 {
			st.Budget.MaxSurge++
		} else {
			st.Budget.MaxUnavailable++
		}
		return st
	},
	"an unavailable old pod held budget in other versions than it does": func(t *testing.T, s *snapshot.Snapshot) *daemonset.State {
		profile := profileOf(t, s)
		profile.OldUnavailableInBudget = !profile.OldUnavailableInBudget
		st, err := daemonset.New(s, profile)
		must(t, err)
		return st
	},
}

// predict returns what the controller sees in a Snapshot.
func predict(t *testing.T, s *snapshot.Snapshot) *daemonset.State {
	t.Helper()
	st, err := daemonset.New(s, profileOf(t, s))
	must(t, err)
	return st
}

func profileOf(t *testing.T, s *snapshot.Snapshot) daemonset.Profile {
	t.Helper()
	profile, err := daemonset.ForVersion(s.KubernetesVersion)
	must(t, err)
	return profile
}

// explain finds the newest state for which the rules predict the batch. The controller has a cache
// for each kind, each with its own lag: an event may be missing in the state only if the controller
// had not received it when it read that cache. So the load of the machine does not matter.
func (b *batch) explain(t *testing.T, r *record, rule rules) match {
	t.Helper()
	const most = 40 // events of a kind between the read and the first write
	events := asHeard(r.until(b.version))
	look := func(explains func(events []event, s *snapshot.Snapshot) bool) (lag int, ok bool) {
		for lag := range 2*most + 1 {
			for pods := min(lag, most); pods >= max(0, lag-most); pods-- {
				kept, lost := lose(events, pods, lag-pods)
				if len(lost) < lag || !b.mayLack(lost) {
					continue
				}
				for _, clock := range []time.Time{b.began, b.decided} {
					if s := r.replay(kept, clock); s != nil && explains(kept, s) {
						return lag, true
					}
				}
			}
		}
		return 0, false
	}
	if lag, ok := look(func(_ []event, s *snapshot.Snapshot) bool { return b.foretold(rule(t, s).Sync()) }); ok {
		return min(match(lag), older)
	}
	if b.kind != daemonset.StepRollingUpdate {
		return wrong
	}
	// The rolling update lists the pods again. It may see work for manage that manage did not see,
	// if the controller received an event in between.
	if _, ok := look(func(kept []event, s *snapshot.Snapshot) bool {
		return slices.ContainsFunc(kept, func(e event) bool { return e.kind == "pod" && !e.heard.Before(b.began) }) &&
			b.foretold(rule(t, s).RollingUpdate())
	}); ok {
		return moved
	}
	return wrong
}

// asHeard returns the events, with those about pods in the order in which the controller received
// them. Before v1.33 an informer delivers all changes of one object at once, so it may know that
// one pod is gone before it knows an earlier event of another.
func asHeard(events []event) []event {
	var at []int // of the events about pods
	var pods []event
	for i, e := range events {
		if e.kind == "pod" {
			at, pods = append(at, i), append(pods, e)
		}
	}
	slices.SortStableFunc(pods, func(a, b event) int { return a.known().Compare(b.known()) })
	out := slices.Clone(events)
	for i, e := range pods {
		out[at[i]] = e
	}
	return out
}

func (b *batch) foretold(step daemonset.Step) bool {
	return step.Kind == b.kind && step.Creates.Admits(b.creates) && step.Deletes.Admits(b.deletes)
}

// mayLack reports whether the controller may not have received these events. Its log does not
// contain events of nodes and revisions, so a few that the record had received may be among them.
func (b *batch) mayLack(events []event) bool {
	others := 0
	for _, e := range events {
		switch e.kind {
		case "pod":
			if e.heard.Before(b.listed) {
				return false
			}
		case "daemonset":
			if e.heard.Before(b.began) {
				return false
			}
		default:
			if e.seen.Before(b.began) {
				others++
			}
		}
	}
	return others <= mostLag
}

// lose removes the last events: pods about pods, and others about other objects.
func lose(events []event, pods, others int) (kept, lost []event) {
	n := len(events)
	var tail []event // newest first
	for n > 0 && pods+others > 0 {
		n--
		left := &others
		if events[n].kind == "pod" {
			left = &pods
		}
		if *left > 0 {
			*left--
			lost = append(lost, events[n])
			continue
		}
		tail = append(tail, events[n])
	}
	slices.Reverse(tail)
	return slices.Concat(events[:n], tail), lost
}

func TestLose(t *testing.T) {
	events := func(text string) (list []event) { // p is about a pod, d about a DaemonSet
		for i, c := range text {
			list = append(list, event{version: int64(i), kind: map[rune]string{'p': "pod", 'd': "daemonset"}[c]})
		}
		return list
	}
	versions := func(events []event) (text string) {
		for _, e := range events {
			text += fmt.Sprint(e.version)
		}
		return text
	}
	for _, tt := range []struct {
		events       string
		pods, others int
		kept, lost   string
		why          string
	}{
		{"pdpd", 0, 0, "0123", "", "nothing to lose"},
		{"pdpd", 1, 0, "013", "2", "the last about a pod, and not what came after"},
		{"pdpd", 0, 1, "012", "3", "the last about something else"},
		{"pdpd", 1, 1, "01", "32", "both"},
		{"dppp", 2, 0, "01", "32", "two about pods"},
		{"dppp", 0, 1, "123", "0", "far back"},
		{"pp", 3, 0, "", "10", "more than there are"},
		{"pp", 1, 1, "0", "1", "none of the other kind"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			kept, lost := lose(events(tt.events), tt.pods, tt.others)
			if versions(kept) != tt.kept || versions(lost) != tt.lost {
				t.Errorf("kept %s, lost %s, want %s, %s", versions(kept), versions(lost), tt.kept, tt.lost)
			}
		})
	}
}

func TestAsHeard(t *testing.T) {
	at := func(second int) time.Time { return time.Unix(int64(second), 0) }
	pod := func(version int64, heard int) event { return event{version: version, kind: "pod", heard: at(heard)} }
	other := event{version: 3, kind: "node", seen: at(9)}
	for _, tt := range []struct {
		events []event
		want   string
		why    string
	}{
		{[]event{pod(1, 1), pod(2, 2), other, pod(4, 4)}, "[1 2 3 4]", "in the order in which it happened"},
		{[]event{pod(1, 1), pod(2, 4), other, pod(4, 2)}, "[1 4 3 2]", "what happened last is heard of before: what is no pod stays where it is"},
		{[]event{pod(1, 1), pod(2, 1), pod(4, 1)}, "[1 2 4]", "at the same time"},
		{nil, "[]", "none"},
	} {
		var got []int64
		for _, e := range asHeard(tt.events) {
			got = append(got, e.version)
		}
		if text := fmt.Sprint(got); text != tt.want {
			t.Errorf("%s: %s, want %s", tt.why, text, tt.want)
		}
	}
}

// score counts the batches of a rollout.
type score struct {
	name    string
	from    int64 // version from which on batches belong to the rollout
	outcome string
	none    bool // there may be no batch
	steps   map[daemonset.StepKind]int
	by      [matches]int
}

func (p *score) add(b batch, m match) {
	if p.steps == nil {
		p.steps = map[daemonset.StepKind]int{}
	}
	p.steps[b.kind]++
	p.by[m]++
}

func (p *score) merge(o *score) {
	if p.steps == nil {
		p.steps = map[daemonset.StepKind]int{}
	}
	for kind, n := range o.steps {
		p.steps[kind] += n
	}
	for m, n := range o.by {
		p.by[m] += n
	}
}

func (p *score) total() (n int) {
	for _, count := range p.by {
		n += count
	}
	return n
}

func (p *score) String() string {
	return fmt.Sprintf("%-38s %4d batches: %3d rolling update, %3d manage; lag 0 to %d: %s; %d %s, %d %s, %d %s; %s", p.name, p.total(),
		p.steps[daemonset.StepRollingUpdate], p.steps[daemonset.StepManage], mostLag, strings.Trim(fmt.Sprint(p.by[:older]), "[]"),
		p.by[older], older, p.by[moved], moved, p.by[wrong], wrong, p.outcome)
}

// enough fails the test if there are too few batches to prove anything.
func (p *score) enough(t *testing.T) {
	t.Helper()
	if p.total() < 300 || p.steps[daemonset.StepRollingUpdate] < 100 {
		t.Error("too few batches: at least 300 are needed, 100 of them of the rolling update")
	}
}

// describe returns a full description of a batch.
func (b *batch) describe(t *testing.T, r *record) string {
	t.Helper()
	var w strings.Builder
	fmt.Fprintf(&w, "%s begun at %s, pods listed after %s, decided at %s, first write at version %d\n  creates %s\n  deletes %s\n",
		b.kind, b.began.Format(clockFace), b.listed.Format(clockFace), b.decided.Format(clockFace), b.version, itemsText(b.creates), itemsText(b.deletes))
	events := r.ordered()
	n := slices.IndexFunc(events, func(e event) bool { return e.version >= b.version })
	s := r.replay(events[:n], b.decided)
	if s == nil {
		return w.String() + "there was no DaemonSet yet"
	}
	st := predict(t, s)
	step := st.Sync()
	fmt.Fprintf(&w, "predicted: %s (%s), budget %d of %d used\n  creates %s\n  deletes %s\nafter\n",
		step.Kind, step.Reason, st.Used(), st.Limit(), batchText(step.Creates), batchText(step.Deletes))
	for _, e := range events[max(0, n-2*mostLag):min(len(events), n+4)] {
		fmt.Fprintf(&w, "  %s\n", e)
	}
	return w.String()
}

const clockFace = "15:04:05.000000"

func (e event) String() string {
	what := "changed"
	switch {
	case e.added:
		what = "added"
	case e.deleted:
		what = "gone"
	case e.object.GetDeletionTimestamp() != nil:
		what = "changed, terminating"
	}
	text := fmt.Sprintf("%d %s %s %s %s", e.version, e.seen.Format(clockFace), e.kind, e.name, what)
	if !e.heard.IsZero() {
		text += ", heard of at " + e.heard.Format(clockFace)
	}
	if pod, ok := e.object.(*corev1.Pod); ok {
		text += fmt.Sprintf(", for %s, %s, ready %t", e.node, pod.Status.Phase, stage.PodReady(pod))
	}
	return text
}

func batchText(b daemonset.Batch) string {
	parts := []string{itemsText(b.Certain)}
	for _, c := range b.Choices {
		parts = append(parts, fmt.Sprintf("any %d of %d (%s): %s", c.Count, len(c.From), c.Reason, itemsText(c.From)))
	}
	return strings.Join(parts, "; ")
}

func itemsText(items []daemonset.Item) string {
	if len(items) == 0 {
		return "none"
	}
	var parts []string
	for _, i := range items {
		parts = append(parts, strings.TrimSuffix(i.Node+"/"+i.Pod, "/"))
	}
	return strings.Join(parts, " ")
}
