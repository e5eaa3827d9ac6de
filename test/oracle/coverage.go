package oracle

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Coverage counts, by version, what the compared states exercised: reason codes that decided
// something, shapes of answers, and fields of daemonset.Profile that made a difference. It is safe
// for concurrent use.
type Coverage struct {
	lock sync.Mutex
	of   map[string]*reach // by version
}

// reach counts the states of one version for each feature.
type reach struct {
	profile daemonset.Profile
	states  int
	count   map[feature]int
}

// feature is something that states exercise, with its group in the report.
type feature struct{ group, name string }

const (
	codes  = "code"
	shapes = "shape"
	fields = "field"
)

// Add counts a state and the compared answer of the model.
func (c *Coverage) Add(s *snapshot.Snapshot, st *daemonset.State, step daemonset.Step) error {
	reached := map[feature]bool{}
	codesOf(reached, st, step)
	shapesOf(reached, st, step)
	if err := sidesOf(reached, s, st, step); err != nil {
		return err
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.of == nil {
		c.of = map[string]*reach{}
	}
	r := c.of[st.Profile.Version]
	if r == nil {
		r = &reach{profile: st.Profile, count: map[feature]int{}}
		c.of[st.Profile.Version] = r
	}
	r.states++
	for f := range reached {
		r.count[f]++
	}
	return nil
}

// codesOf records the reason codes that decided something.
func codesOf(reached map[feature]bool, st *daemonset.State, step daemonset.Step) {
	note := func(r daemonset.Reason) {
		if r != "" {
			reached[feature{codes, string(r)}] = true
		}
	}
	note(step.Reason)
	for _, b := range []daemonset.Batch{step.Creates, step.Deletes} {
		for _, i := range b.Certain {
			note(i.Reason)
		}
		for _, ch := range b.Choices {
			note(ch.Reason)
		}
	}
	for _, w := range step.Waits {
		note(w.Code)
	}
	for _, r := range step.Revisions.Remove {
		note(r.Reason)
	}
	if step.Error != nil {
		note(step.Error.Code)
	}
	for i := range st.Nodes {
		n := &st.Nodes[i]
		note(n.ShouldRun.Reason)
		note(n.MayStay.Reason)
		for _, p := range n.Pods {
			note(p.Available.Reason)
		}
		for _, p := range n.Ignored {
			note(p.Ignored)
		}
	}
	for _, p := range st.Unmapped {
		note(p.Ignored)
	}
}

// shapesOf records shapes that no code describes.
func shapesOf(reached map[feature]bool, st *daemonset.State, step daemonset.Step) {
	note := func(what string, holds bool) {
		if holds {
			reached[feature{shapes, what}] = true
		}
	}
	batch := func(what string, b daemonset.Batch) {
		for _, i := range b.Certain {
			note(what+" "+string(i.Reason), i.Reason == daemonset.Forced)
		}
		for _, ch := range b.Choices {
			note(what+" any "+string(ch.Reason), true)
		}
		note(what+" deferred", b.Deferred > 0)
	}
	batch("create", step.Creates)
	batch("delete", step.Deletes)
	for i := range st.Nodes {
		n := &st.Nodes[i]
		note("slot "+string(n.Slot), true)
		note("vanished node", !n.Exists)
		for _, p := range n.Pods {
			note("updated by "+string(p.UpdatedBy), p.Updated)
		}
	}
	h := st.History
	note("several current", len(h.Current) > 1)
	note("cut", h.Cut)
	note("merged", h.Merged)
	note("rollback", slices.ContainsFunc(h.Revisions, func(r daemonset.Revision) bool { return r.Matches && r.Number < h.Number }))
	note("adopt revision", len(step.Revisions.Adopt) > 0)
	note("release revision", len(step.Revisions.Release) > 0)
	note("relabel", len(step.Revisions.Relabel) > 0)
	note("adopt pod", len(step.Pods.Adopt) > 0)
	note("release pod", len(step.Pods.Release) > 0)
	note("foreign pod", len(st.Foreign) > 0)
	note("budget "+string(st.Budget.Kind), true)
	note("budget partly used", 0 < st.Used() && st.Used() < st.Limit())
	note("budget fallback", st.Budget.Fallback)
	note("percentage", st.Budget.Scaled != "")
	note("no status", !step.WritesStatus)
}

// sidesOf records each field of the Profile that changes the answer if it is inverted.
func sidesOf(reached map[feature]bool, s *snapshot.Snapshot, st *daemonset.State, step daemonset.Step) error {
	real := visible(st, step)
	for _, name := range profileFields() {
		flipped := st.Profile
		field := reflect.ValueOf(&flipped).Elem().FieldByName(name)
		side := field.Bool()
		field.SetBool(!side)
		other, err := daemonset.New(s, flipped)
		if err != nil {
			return err
		}
		if !reflect.DeepEqual(real, visible(other, other.Sync())) {
			reached[sideOf(name, side)] = true
		}
	}
	return nil
}

func sideOf(field string, side bool) feature {
	return feature{fields, field + " " + strconv.FormatBool(side)}
}

// notRules are the fields of the Profile that are not rules of Kubernetes controllers, with the
// reason.
var notRules = map[string]string{
	"Beyond":             "it says which rules are used",
	"NamespaceInStatus":  "a rule of OpenShift's controller, which none of those built here is",
	"NamespaceInRollout": "likewise",
}

// profileFields are the names of the fields that are rules.
func profileFields() []string {
	var names []string
	for f := range reflect.TypeFor[daemonset.Profile]().Fields() {
		if _, not := notRules[f.Name]; f.Type.Kind() == reflect.Bool && !not {
			names = append(names, f.Name)
		}
	}
	return names
}

// answer is the part of the model's answer that a real controller would show: no reasons, no
// waiting, and numbers only if they are written.
type answer struct {
	creates, deletes daemonset.Batch
	revisions        daemonset.StepRevisions
	pods             daemonset.StepPods
	fails            bool
	writes           bool
	counts           daemonset.Counts
	placement        map[string][2]bool
}

func visible(st *daemonset.State, step daemonset.Step) answer {
	a := answer{
		creates: withoutReasons(step.Creates), deletes: withoutReasons(step.Deletes), revisions: step.Revisions, pods: step.Pods,
		fails: step.Error != nil, writes: step.WritesStatus, placement: map[string][2]bool{},
	}
	a.revisions.Remove = slices.Clone(a.revisions.Remove)
	for i := range a.revisions.Remove {
		a.revisions.Remove[i].Reason = ""
	}
	if a.writes {
		a.counts, _ = st.Counts()
	}
	for i := range st.Nodes {
		if n := &st.Nodes[i]; n.Exists {
			a.placement[n.Name] = [2]bool{n.ShouldRun.OK, n.MayStay.OK}
		}
	}
	return a
}

func withoutReasons(b daemonset.Batch) daemonset.Batch {
	plain := func(items []daemonset.Item) []daemonset.Item {
		out := make([]daemonset.Item, 0, len(items))
		for _, i := range items {
			out = append(out, daemonset.Item{Node: i.Node, Pod: i.Pod})
		}
		return out
	}
	out := daemonset.Batch{Certain: plain(b.Certain), Deferred: b.Deferred}
	for _, c := range b.Choices {
		out.Choices = append(out.Choices, daemonset.Choice{Count: c.Count, PerNode: c.PerNode, From: plain(c.From)})
	}
	return out
}

// beyondReach are the codes that no comparison with a real controller can exercise, with the
// reason.
var beyondReach = map[daemonset.Reason]string{
	daemonset.NodesNotRead:          "a gap: the real controller always has the nodes",
	daemonset.StepPodsNotRead:       "a gap: the real controller always has the pods",
	daemonset.StepSelectsAll:        "the API refuses an empty selector; a chosen state has one",
	daemonset.NamespaceNodeSelector: "a rule of OpenShift's controller",
}

// expected returns the features that the states of a version should exercise, without those unknown
// to it.
func expected(p daemonset.Profile) []feature {
	var out []feature
	for _, r := range daemonset.Reasons {
		if _, beyond := beyondReach[r]; !beyond && knows(p, string(r)) {
			out = append(out, feature{codes, string(r)})
		}
	}
	for _, s := range allShapes {
		if knows(p, s) {
			out = append(out, feature{shapes, s})
		}
	}
	for _, f := range profileFields() {
		if knows(p, f) {
			out = append(out, sideOf(f, reflect.ValueOf(p).FieldByName(f).Bool()))
		}
	}
	return out
}

// allShapes are the shapes of answers and states.
var allShapes = []string{
	"create Forced", "create any Surge", "create any Missing", "create deferred",
	"delete Forced", "delete any Budget", "delete any Sunset", "delete any FailedPod", "delete any NodeMissing", "delete any NoLongerEligible", "delete any Forced", "delete any Burst", "delete deferred",
	"slot Empty", "slot OnlyTerminating", "slot OldAvailable", "slot OldUnavailable", "slot NewAvailable", "slot NewUnavailable", "slot Both", "slot Excess",
	"several current", "cut", "merged", "rollback", "adopt revision", "release revision", "relabel",
	"adopt pod", "release pod", "foreign pod", "updated by Hash", "updated by Generation", "vanished node",
	"budget Unavailable", "budget Surge", "budget None", "budget partly used", "budget fallback", "percentage", "no status",
}

// knows reports whether a version can show a feature.
func knows(p daemonset.Profile, what string) bool {
	switch what {
	case string(daemonset.Surge), string(daemonset.Superseded), "create Forced", "create any Surge", "budget Surge", "SunsetInSurge":
		return p.MaxSurge
	case string(daemonset.Sunset), string(daemonset.VanishedNodeInSurge), "delete any Sunset":
		return p.MaxSurge && p.SunsetInSurge
	case string(daemonset.SucceededPod):
		return p.DeleteSucceeded
	case string(daemonset.TerminalTerminating):
		return p.IgnoreTerminalTerminating
	case "updated by " + string(daemonset.ByGeneration):
		return p.TemplateGenerationCounts
	case string(daemonset.StepWaiting), "budget fallback", "OldUnavailableInBudget",
		"MaxSurge": // v1.21 has the field behind a gate that is off; before, it does not exist
		return p.RollingUpdateV2
	}
	return true
}

// plenty is the number of states of a version that exercise everything. With fewer states, only all
// versions together do.
const plenty = 2000

// Missing returns the features that should have been exercised: by all versions together, and by
// each version with plenty of states.
func (c *Coverage) Missing() []string {
	c.lock.Lock()
	defer c.lock.Unlock()
	var out []string
	together := map[feature]int{}
	for _, v := range c.versions() {
		r := c.of[v]
		for _, f := range expected(r.profile) {
			together[f] += r.count[f]
			if r.states >= plenty && r.count[f] == 0 {
				out = append(out, fmt.Sprintf("%s: no state of %d reached the %s %s", v, r.states, f.group, f.name))
			}
		}
	}
	for _, f := range slices.SortedFunc(maps.Keys(together), compareFeatures) {
		if together[f] == 0 {
			out = append(out, fmt.Sprintf("no state of any version reached the %s %s", f.group, f.name))
		}
	}
	return out
}

// Report returns a Markdown table with the number of states of each version for each feature. A
// dash stands for a feature that a version cannot show.
func (c *Coverage) Report() string {
	c.lock.Lock()
	defer c.lock.Unlock()
	versions := c.versions()
	rows := map[feature]bool{}
	wanted := map[string]map[feature]bool{}
	for _, v := range versions {
		wanted[v] = map[feature]bool{}
		for _, f := range expected(c.of[v].profile) {
			wanted[v][f], rows[f] = true, true
		}
		for f := range c.of[v].count {
			rows[f] = true
		}
	}
	var b strings.Builder
	line := func(first string, cell func(*reach, map[feature]bool) string) {
		b.WriteString("| " + first + " |")
		for _, v := range versions {
			b.WriteString(" " + cell(c.of[v], wanted[v]) + " |")
		}
		b.WriteByte('\n')
	}
	line("", func(r *reach, _ map[feature]bool) string { return r.profile.Version })
	line("---", func(*reach, map[feature]bool) string { return "---:" })
	line("states", func(r *reach, _ map[feature]bool) string { return strconv.Itoa(r.states) })
	for _, f := range slices.SortedFunc(maps.Keys(rows), compareFeatures) {
		line(f.group+" "+f.name, func(r *reach, wanted map[feature]bool) string {
			if n := r.count[f]; n > 0 || wanted[f] {
				return strconv.Itoa(n)
			}
			return "-"
		})
	}
	return b.String()
}

// compareFeatures sorts fields first, then codes, then shapes.
func compareFeatures(a, b feature) int {
	order := []string{fields, codes, shapes}
	return cmp.Or(slices.Index(order, a.group)-slices.Index(order, b.group), strings.Compare(a.name, b.name))
}

// versions returns the versions with states, oldest first.
func (c *Coverage) versions() []string {
	return slices.SortedFunc(maps.Keys(c.of), compareVersions)
}
