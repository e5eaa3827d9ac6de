package cause_test

import (
	"bytes"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// removals are what a new template no longer contains: an edit, how the pods failed on what was removed, and the
// message of the failing pods.
var removals = []struct{ edit, way, message string }{
	{"reference", "config", `configmap "settings" not found`},
	{"volume", "secret", `MountVolume.SetUp failed for volume "token" : secret "token" not found`},
	{"args", "closed", ""}, // see gated
	{"image", "image", ""},
}

// allOld makes the failing pods pods of the old revision, with this message.
func allOld(s *snapshot.Snapshot, message string) *snapshot.Snapshot {
	for i := range s.Pods {
		p := &s.Pods[i]
		if slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		}) {
			continue
		}
		p.Labels["controller-revision-hash"], p.Labels["pod-template-generation"] = dstest.OldHash, dstest.OldGeneration
		for j := range p.Status.ContainerStatuses {
			if w := p.Status.ContainerStatuses[j].State.Waiting; w != nil && message != "" && w.Message != "" {
				w.Message = message
			}
		}
	}
	for i := range s.Events {
		if e := &s.Events[i]; e.InvolvedObject.Kind == "Pod" && message != "" {
			e.Message = message
		}
	}
	return s
}

// gated gives the template of a revision a readiness gate.
func gated(r *appsv1.ControllerRevision) {
	const before = `"containers":[`
	gates := `"readinessGates":[{"conditionType":"example.com/ok"}],`
	r.Data.Raw = bytes.Replace(r.Data.Raw, []byte(before), []byte(gates+before), 1)
}

// TestRemovedSubject is a law: a pod of a template that no longer contains what old pods fail on, or contains something
// else instead, is not predicted to fail on it.
func TestRemovedSubject(t *testing.T) {
	met := map[string]int{}
	for seed := range cases.Of(int64(200)) {
		for _, r := range removals {
			s := allOld(dstest.Broken(seed, []string{r.edit}, []string{r.way}), r.message)
			if s.References = nil; r.way == "closed" { // existing objects would be more specific
				gated(&s.Revisions[0])
			}
			st, found := find(t, s)
			evidence := found.Evidence()
			for i := range st.Nodes {
				n := &st.Nodes[i]
				c := found.Of(n.Name)
				if c == nil || c.Severity != cause.SeverityError {
					continue
				}
				met[r.way]++
				if next := found.Next(n, evidence); next.Fails != nil {
					t.Errorf("seed %d, %s: the next pod on %s fails on %+v", seed, r.edit, n.Name, next.Fails)
				}
			}
		}
	}
	for _, r := range removals {
		if met[r.way] < cases.Least(100) {
			t.Errorf("only %d pods fail by %s", met[r.way], r.way)
		}
	}
}

// TestSameReadsFail is a law: if a template equals that of a failing pod in all fields that the step reads, its pod
// fails on the same node, too.
func TestSameReadsFail(t *testing.T) {
	met := 0
	for seed := range cases.Of(int64(200)) {
		for _, way := range []string{"crash", "oom", "injected", "config", "secret", "image"} {
			s := allOld(dstest.Broken(seed, []string{"restarted", "toleration", "gate"}, []string{way}), "")
			st, found := find(t, s)
			evidence := found.Evidence()
			for i := range st.Nodes {
				n := &st.Nodes[i]
				if c := found.Of(n.Name); c == nil || c.Severity != cause.SeverityError {
					continue
				}
				if met++; found.Next(n, evidence).Fails == nil {
					t.Errorf("seed %d, %s: the next pod on %s works", seed, way, n.Name)
				}
			}
		}
	}
	if met < cases.Least(1000) {
		t.Errorf("only %d pods fail", met)
	}
}
