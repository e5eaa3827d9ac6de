package explain_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// broken returns a rollout with one injected fault, or a state with several
// problems.
func broken(seed int64) *snapshot.Snapshot {
	if seed%4 == 3 {
		return dstest.RandomBlame(seed)
	}
	return dstest.RandomBroken(seed)
}

// faultsIn returns the problems of pods and nodes that somebody is blamed for.
func faultsIn(t *testing.T, s *snapshot.Snapshot) (out []explain.Problem) {
	t.Helper()
	_, e := explanation(t, s, explain.Options{})
	for _, p := range e.Problems {
		if p.Blame != nil && cause.StageOf(p.Code) != cause.StageNone {
			out = append(out, p)
		}
	}
	return out
}

// counterpart returns the problem with the same code and a common node, or nil.
func counterpart(all []explain.Problem, p *explain.Problem) *explain.Problem {
	i := slices.IndexFunc(all, func(x explain.Problem) bool {
		return x.Code == p.Code && (len(p.Nodes) == 0 || overlap(x.Nodes, p.Nodes))
	})
	if i < 0 {
		return nil
	}
	return &all[i]
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(n string) bool { return slices.Contains(b, n) })
}

func isOld(p *corev1.Pod) bool {
	return p.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] == dstest.OldHash
}

func isReady(p *corev1.Pod) bool {
	return p.DeletionTimestamp == nil && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// targetOf returns the values of the node affinity that name the pod's node.
// The caller may write to them.
func targetOf(p *corev1.Pod) []string {
	required := p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	return required.NodeSelectorTerms[0].MatchFields[0].Values
}

// copied returns a deep copy of a Snapshot after edit changed its encoding.
func copied(t *testing.T, s *snapshot.Snapshot, edit func([]byte) []byte) *snapshot.Snapshot {
	t.Helper()
	raw, err := snapshot.Encode(s)
	if err == nil {
		s, err = snapshot.Decode(edit(raw))
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func asItIs(raw []byte) []byte { return raw }

// healed returns a Snapshot in which the given nodes are ready, their pods
// work, and no event mentions them.
func healed(t *testing.T, s *snapshot.Snapshot, nodes []string) *snapshot.Snapshot {
	t.Helper()
	s = copied(t, s, asItIs)
	works := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; slices.Contains(nodes, n.Name) {
			n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		}
	}
	over := map[string]bool{}
	for i := range s.Pods {
		p := &s.Pods[i]
		if !slices.Contains(nodes, targetOf(p)[0]) {
			continue
		}
		over[p.Name] = true
		p.Spec.NodeName, p.Spec.ReadinessGates = targetOf(p)[0], nil
		works.LastTransitionTime = p.CreationTimestamp
		p.Status = corev1.PodStatus{
			Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{works},
			// restarted, so that its start time is not used as a measurement
			ContainerStatuses: []corev1.ContainerStatus{{Name: "agent", Ready: true, RestartCount: 1}},
		}
	}
	s.Events = slices.DeleteFunc(s.Events, func(e corev1.Event) bool {
		_, rest, _ := strings.Cut(e.Message, " on node ")
		node, _, _ := strings.Cut(rest, ",")
		return over[e.InvolvedObject.Name] || slices.Contains(nodes, node)
	})
	return s
}

// TestSubjectGone is a law: if the subject of a problem recovers, the problem
// disappears, and the others keep their nodes and subjects.
func TestSubjectGone(t *testing.T) {
	gone, stay := 0, 0
	for seed := range cases.Of(int64(100)) {
		s := dstest.RandomBroken(seed)
		before := faultsIn(t, s)
		for _, p := range before {
			if len(p.Nodes) == 0 || cause.StageOf(p.Code) == cause.StageAdmitted {
				continue
			}
			after := faultsIn(t, healed(t, s, p.Nodes))
			gone++
			if x := counterpart(after, &p); x != nil {
				t.Errorf("seed %d: %s on %v is over, and still there: %+v", seed, p.Code, p.Nodes, *x)
			}
			for _, o := range before {
				if overlap(o.Nodes, p.Nodes) || len(o.Nodes) == 0 {
					continue
				}
				stay++
				if x := counterpart(after, &o); x == nil || x.Subject != o.Subject || !slices.Equal(x.Nodes, o.Nodes) {
					t.Errorf("seed %d: without %s on %v, %s on %v is %+v", seed, p.Code, p.Nodes, o.Code, o.Nodes, x)
				}
			}
		}
	}
	if gone < cases.Least(100) || stay < cases.Least(50) {
		t.Errorf("only %d problems went, beside %d that stayed", gone, stay)
	}
}

// less removes evidence of several kinds; each function reports whether there
// was any.
var less = map[string]func(*snapshot.Snapshot) bool{
	"events":         func(s *snapshot.Snapshot) bool { had := len(s.Events) > 0; s.Events = nil; return had },
	"other pods":     func(s *snapshot.Snapshot) bool { had := s.OtherPods != nil; s.OtherPods = nil; return had },
	"admission":      func(s *snapshot.Snapshot) bool { had := s.Admission != nil; s.Admission = nil; return had },
	"references":     func(s *snapshot.Snapshot) bool { had := s.References != nil; s.References = nil; return had },
	"old pods":       func(s *snapshot.Snapshot) bool { return without(s, isOld) },
	"pods that work": func(s *snapshot.Snapshot) bool { return without(s, func(*corev1.Pod) bool { return true }) },
	"the old revision": func(s *snapshot.Snapshot) bool {
		n := len(s.Revisions)
		old := func(r appsv1.ControllerRevision) bool { return isOldRevision(&r) }
		s.Revisions = slices.DeleteFunc(slices.Clone(s.Revisions), old)
		return len(s.Revisions) < n
	},
	"the data of the old revision": func(s *snapshot.Snapshot) (had bool) {
		s.Revisions = slices.Clone(s.Revisions)
		for i := range s.Revisions {
			if r := &s.Revisions[i]; isOldRevision(r) {
				r.Data.Raw, had = []byte(`{}`), true
			}
		}
		return had
	},
	"the condition DiskPressure": func(s *snapshot.Snapshot) (had bool) {
		s.Nodes = slices.Clone(s.Nodes)
		presses := func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeDiskPressure }
		for i := range s.Nodes {
			all := &s.Nodes[i].Status.Conditions
			n := len(*all)
			*all = slices.DeleteFunc(slices.Clone(*all), presses)
			had = had || len(*all) < n
		}
		return had
	},
}

func isOldRevision(r *appsv1.ControllerRevision) bool {
	return r.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] == dstest.OldHash
}

// without removes the working pods that match, except the first old one:
// without any old pod no rollout would be in progress.
func without(s *snapshot.Snapshot, such func(*corev1.Pod) bool) bool {
	kept, n := false, len(s.Pods)
	s.Pods = slices.DeleteFunc(slices.Clone(s.Pods), func(p corev1.Pod) bool {
		if isOld(&p) && !kept {
			kept = true
			return false
		}
		return isReady(&p) && such(&p)
	})
	return len(s.Pods) < n
}

// TestLessEvidence is a law: with less evidence, no blame becomes more certain.
// The exception is evidence that acquits a revision: working pods of the same
// template, or a template with the same value in the field that the step reads.
// Without it the numbers decide, and make the blame likely at most.
func TestLessEvidence(t *testing.T) {
	sure := []cause.Certainty{cause.Unsure, cause.Likely, cause.Certain}
	compared, acquits := map[string]int{}, 0
	for seed := range cases.Of(int64(100)) {
		s := broken(seed)
		before := faultsIn(t, s)
		for name, take := range less {
			part := *s
			if !take(&part) {
				continue
			}
			for _, p := range faultsIn(t, &part) {
				was := counterpart(before, &p)
				if was == nil {
					continue
				}
				compared[name]++
				acquitted := was.Blame.NotChange || was.Blame.Same.Since > 0
				switch is := p.Blame; {
				case slices.Index(sure, is.Certainty) <= slices.Index(sure, was.Blame.Certainty):
				case acquitted && is.Revision > 0 && is.Certainty == cause.Likely:
					acquits++
				default:
					t.Errorf("seed %d, without %s: %s: %+v, before %+v", seed, name, p.Code, *is, *was.Blame)
				}
			}
		}
	}
	for name := range less {
		if compared[name] < cases.Least(30) {
			t.Errorf("only %d problems without %s", compared[name], name)
		}
	}
	if acquits < cases.Least(3) {
		t.Errorf("what acquits is an exception %d times", acquits)
	}
}

// unread lists, for each fault, changes that the failing step does not read.
var unread = map[string][]string{
	"crash":    {"restarted", "toleration", "gate", "grace", "class"},
	"oom":      {"restarted", "toleration", "gate", "grace", "class"},
	"probe":    {"restarted", "toleration", "gate", "grace", "class"},
	"injected": {"restarted", "toleration", "gate", "image"},
	"image":    {"restarted", "toleration", "gate", "args", "port"},
	"registry": {"restarted", "toleration", "args", "port"},
	"config":   {"restarted", "toleration", "volume", "image"},
	"secret":   {"restarted", "image", "reference", "gate"},
	"mount":    {"restarted", "image", "args", "gate", "class"},
	"network":  {"image", "args", "toleration", "gate", "reference"},
	"pressure": {"image", "args", "limit", "request"},
	"emptyDir": {"restarted", "toleration", "gate", "grace"},
	"closed":   {"image", "args", "restarted", "request"},
	"room":     {"image", "args", "restarted", "gate"},
	"taken":    {"image", "args", "restarted", "gate", "reference"},
	"quota":    {"image", "args", "restarted", "gate"},
	"down":     {"image", "args", "request"},
}

// TestUnreadFields is a law: a revision is not blamed if it changed nothing
// that the failing step reads.
func TestUnreadFields(t *testing.T) {
	compared := map[string]int{}
	for seed := range cases.Of(int64(5)) { // of each way
		for way, edits := range unread {
			for _, made := range [][]string{edits, {edits[int(seed)%len(edits)]}} {
				for _, p := range faultsIn(t, dstest.Broken(seed, made, []string{way})) {
					if cause.StageOf(p.Code) == cause.StageAdmitted && slices.Contains(made, "class") {
						continue // the API server reads it
					}
					if compared[way]++; p.Blame.Who == cause.WhoChange {
						t.Errorf("seed %d, %s after %v: %s: %+v", seed, way, made, p.Code, *p.Blame)
					}
				}
			}
		}
	}
	for way := range unread {
		if compared[way] < cases.Least(5) {
			t.Errorf("only %d problems of %s", compared[way], way)
		}
	}
}

// withMoreOld returns a Snapshot with three more nodes that have an old pod
// like the given one.
func withMoreOld(s *snapshot.Snapshot, like *corev1.Pod) *snapshot.Snapshot {
	more := *s
	on := slices.IndexFunc(s.Nodes, func(n corev1.Node) bool { return n.Name == like.Spec.NodeName })
	for i := range 3 {
		n, p := s.Nodes[on].DeepCopy(), like.DeepCopy()
		n.Name = fmt.Sprint("n9", i)
		n.Labels[corev1.LabelHostname] = n.Name
		p.Name, p.UID, p.Spec.NodeName = "p"+n.Name, p.UID+"x", n.Name
		targetOf(p)[0] = n.Name
		more.Nodes, more.Pods = append(slices.Clone(more.Nodes), *n), append(slices.Clone(more.Pods), *p)
	}
	return &more
}

// withFewerOld returns a Snapshot without the nodes of working old pods, except
// one.
func withFewerOld(s *snapshot.Snapshot, kept string) *snapshot.Snapshot {
	fewer, out := *s, map[string]bool{}
	fewer.Pods = slices.DeleteFunc(slices.Clone(s.Pods), func(p corev1.Pod) bool {
		goes := p.Name != kept && isOld(&p) && isReady(&p)
		out[p.Spec.NodeName] = out[p.Spec.NodeName] || goes
		return goes
	})
	fewer.Nodes = slices.DeleteFunc(slices.Clone(s.Nodes), func(n corev1.Node) bool { return out[n.Name] })
	return &fewer
}

// TestOldPods is a law: for a step that a pod passes only once, the number of
// old pods does not affect the blame. That includes images: old pods count
// once, as the revision that names the image. The test skips problems whose
// nodes change, because the start times of old pods decide which pods are late.
func TestOldPods(t *testing.T) {
	compared := map[cause.Stage]int{}
	for seed := range cases.Of(int64(100)) {
		s := dstest.RandomBroken(seed)
		old := slices.IndexFunc(s.Pods, func(p corev1.Pod) bool { return isOld(&p) && isReady(&p) })
		if old < 0 {
			continue
		}
		before := faultsIn(t, s)
		for _, other := range []*snapshot.Snapshot{withMoreOld(s, &s.Pods[old]), withFewerOld(s, s.Pods[old].Name)} {
			after := faultsIn(t, other)
			for _, p := range before {
				x, stage := counterpart(after, &p), cause.StageOf(p.Code)
				if x == nil || !slices.Equal(x.Nodes, p.Nodes) || stage > cause.StageImage || stage == cause.StageNode {
					continue
				}
				compared[stage]++
				if x.Blame.Who != p.Blame.Who || x.Blame.Certainty != p.Blame.Certainty {
					more := len(other.Pods) - len(s.Pods)
					t.Errorf("seed %d: %s: %+v; with %d more old pods: %+v", seed, p.Code, *p.Blame, more, *x.Blame)
				}
			}
		}
	}
	for stage := cause.StageAdmitted; stage <= cause.StageImage; stage++ {
		if compared[stage] < cases.Least(3) {
			t.Errorf("only %d problems of stage %d", compared[stage], stage)
		}
	}
}

// names matches the names in broken states.
var names = regexp.MustCompile(`\b(n|p)([0-9]+)\b|\bagent\b|\bkube-system\b|\bold\b|\bnew\b`)

// renamed gives everything another name, and nodes and pods another order.
func renamed(raw []byte) []byte {
	return names.ReplaceAllFunc(raw, func(w []byte) []byte {
		m := names.FindSubmatch(w)
		if len(m[1]) == 0 {
			other := map[string]string{"agent": "logger", "kube-system": "logging", "old": "zwei", "new": "eins"}
			return []byte(other[string(w)])
		}
		n := 0
		_, _ = fmt.Sscan(string(m[2]), &n)
		return fmt.Appendf(nil, "%s-x%d", map[string]string{"n": "host", "p": "unit"}[string(m[1])], 900-n)
	})
}

// inAnyOrder returns a document with its lists in an order that does not depend
// on names.
func inAnyOrder(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = inAnyOrder(v[i])
		}
		slices.SortFunc(v, func(a, b any) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	case map[string]any:
		for k := range v {
			v[k] = inAnyOrder(v[k])
		}
	}
	return v
}

// told returns the problems and remedies as text, one per line, in an order
// that does not depend on names. It omits durations, because the simulation
// assigns start times in the order of nodes. For nodes that are left only in a
// simulation it returns the number, because the controller chooses them at
// random.
func told(t *testing.T, e *explain.Explanation, rename func([]byte) []byte) (problems, remedies []string) {
	t.Helper()
	var lines []string
	add := func(v any) {
		raw, err := json.Marshal(v)
		var parsed any
		if err == nil {
			err = json.Unmarshal(rename(raw), &parsed)
		}
		if err != nil {
			t.Fatal(err)
		}
		raw, _ = json.Marshal(inAnyOrder(parsed))
		lines = append(lines, string(raw))
	}
	for _, p := range e.Problems {
		p.Facts = nil // the message is that of the first node
		if p.Code == cause.NextRolloutStalls {
			p.Nodes, p.Subject.Node = nil, ""
		}
		add(p)
	}
	slices.Sort(lines)
	problems, lines = lines, nil
	for _, r := range e.Remedies {
		left := len(r.Effect.Left)
		if r.Effect.Duration = nil; r.Worth == remedy.Useless || r.Worth == remedy.Harms {
			r.Effect.Left = nil
		}
		add([]any{r, left})
	}
	slices.Sort(lines)
	return problems, lines
}

// TestNames is a law: other names and another order of the input change only
// names. The exception are remedies while a quota admits only some pods: the
// simulation gives them to the first nodes, although the choice is random.
func TestNames(t *testing.T) {
	problems, remedies, exceptions := 0, 0, 0
	for seed := range cases.Of(int64(100)) {
		s := dstest.RandomBroken(seed)
		other := copied(t, s, renamed)
		slices.Reverse(other.Pods)
		slices.Reverse(other.Events)
		slices.Reverse(other.Nodes)
		slices.Reverse(other.Revisions)
		_, e := looked(t, s)
		_, then := looked(t, other)
		problems, remedies = problems+len(e.Problems), remedies+len(e.Remedies)
		before, do := told(t, e, renamed)
		after, doThen := told(t, then, asItIs)
		limited := s.Admission != nil && len(s.Admission.ResourceQuotas) > 0
		if limited && !slices.Equal(do, doThen) {
			exceptions++
			doThen = do
		}
		if diff := gocmp.Diff([][]string{before, do}, [][]string{after, doThen}); diff != "" {
			t.Errorf("seed %d (-with these names +with others):\n%s", seed, diff)
		}
	}
	if problems < cases.Least(200) || remedies < cases.Least(130) {
		t.Errorf("only %d problems and %d remedies", problems, remedies)
	}
	if exceptions < cases.Rare(1) {
		t.Error("quotas are no exception any more")
	}
}
