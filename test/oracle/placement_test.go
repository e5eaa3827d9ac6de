package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/oracle/controller/wire"
)

// TestPlacement compares Placement with the real NodeShouldRunDaemonPod on random states of five
// nodes and, for the newest version, on every node of every example. If the result is no, the
// smallest change must turn the real result to yes, and must not do so without one of its parts.
func TestPlacement(t *testing.T) {
	c := &placementCheck{}
	first := number(t, "ORACLE_SEED", 1)
	eachVersion(t, func(t *testing.T, version string) {
		states := int(number(t, "ORACLE_PLACEMENTS", 2000))
		var named []namedSnapshot
		if version == dstest.Newest {
			named = examples(t, "../../examples")
		} else {
			states /= 10
		}
		for seed := first; seed < first+int64(states); seed++ {
			s := dstest.RandomPlacement(seed)
			s.KubernetesVersion = version
			named = append(named, namedSnapshot{fmt.Sprintf("seed %d", seed), s})
		}
		each(start(t, version, 2), len(named), func(p *Program, i int) {
			if err := c.snapshot(p, named[i].Snapshot); err != nil {
				t.Errorf("%s: %v\n%s", named[i].name, err, dstest.Describe(named[i].Snapshot))
			}
		})
	})
	t.Logf("%s", &c.counts)
	t.Logf("reasons: %s", &c.reasons)
	t.Logf("changes: %s", &c.changes)
	if number(t, "ORACLE_PLACEMENTS", 2000) < 1000 {
		return
	}
	for _, r := range []daemonset.Reason{daemonset.Eligible, daemonset.NodeName, daemonset.NodeSelector, daemonset.NodeAffinity, daemonset.TaintNotTolerated} {
		if c.reasons.of[string(r)] == 0 {
			t.Errorf("no node came up whose reason is %s", r)
		}
	}
	for _, k := range []daemonset.RemedyKind{
		daemonset.AddToleration, daemonset.SetLabel, daemonset.RemoveLabel, daemonset.RemoveNodeName, daemonset.AddAffinityTerm, daemonset.RepairNode, daemonset.NoSensibleChange,
	} {
		if c.changes.of[string(k)] == 0 {
			t.Errorf("no node came up whose change is %s", k)
		}
	}
}

type namedSnapshot struct {
	name string
	*snapshot.Snapshot
}

// examples returns the recorded Snapshots of a folder. A folder whose files are all something else
// is an error; an empty one is not.
func examples(t *testing.T, folder string) []namedSnapshot {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var out []namedSnapshot
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Logf("%s: passed over: %v", f, err)
			continue
		}
		s, err := snapshot.Decode(data)
		if err != nil {
			t.Logf("%s: passed over: %v", f, err)
			continue
		}
		out = append(out, namedSnapshot{filepath.Base(f), s})
	}
	if len(files) > 0 && len(out) == 0 {
		t.Fatalf("%s: none of %d files is a snapshot", folder, len(files))
	}
	return out
}

type placementCheck struct{ counts, reasons, changes tally }

func (c *placementCheck) snapshot(p *Program, s *snapshot.Snapshot) error {
	a, err := p.Ask(s, 0, 0, 0)
	if err != nil {
		return err
	}
	profile, err := daemonset.ForVersion(s.KubernetesVersion)
	if err != nil {
		return err
	}
	placement := daemonset.NewPlacement(s.DaemonSet, profile)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		shouldRun, mayStay := placement.Decide(n)
		c.counts.add("nodes", 1)
		c.reasons.add(string(shouldRun.Reason), 1)
		if shouldRun.Reason == "" || mayStay.Reason == "" {
			return fmt.Errorf("node %s: a verdict without reason: %+v, %+v", n.Name, shouldRun, mayStay)
		}
		if model, real := (wire.Placement{ShouldRun: shouldRun.OK, MayStay: mayStay.OK}), a.Placement[n.Name]; model != real {
			return fmt.Errorf("node %s: model %+v (%s, %s), real %+v", n.Name, model, shouldRun.Reason, mayStay.Reason, real)
		}
		if err := c.change(p, s, n, placement.Remedies(n), shouldRun.OK); err != nil {
			return fmt.Errorf("node %s: %w", n.Name, err)
		}
	}
	return nil
}

// change applies the changes and calls the real function again.
func (c *placementCheck) change(p *Program, s *snapshot.Snapshot, n *corev1.Node, changes []daemonset.Remedy, shouldRun bool) error {
	if shouldRun != (len(changes) == 0) {
		return fmt.Errorf("should run: %t, yet the changes are %+v", shouldRun, changes)
	}
	if shouldRun {
		return nil
	}
	c.counts.add("changed", 1)
	for _, ch := range changes {
		c.changes.add(string(ch.Kind), 1)
	}
	if changes[0].Kind == daemonset.NoSensibleChange { // then no change is named
		return nil
	}
	yes, err := c.runsAfter(p, s, n, changes)
	if err != nil || !yes {
		return fmt.Errorf("after %+v the real controller does not run it (%v)", changes, err)
	}
	for i := range changes {
		fewer := slices.Delete(slices.Clone(changes), i, i+1)
		yes, err := c.runsAfter(p, s, n, fewer)
		if err != nil || yes {
			return fmt.Errorf("of %+v, number %d is not needed (%v)", changes, i+1, err)
		}
	}
	return nil
}

func (c *placementCheck) runsAfter(p *Program, s *snapshot.Snapshot, n *corev1.Node, changes []daemonset.Remedy) (bool, error) {
	ds, node := s.DaemonSet.DeepCopy(), n.DeepCopy()
	for _, ch := range changes {
		if err := apply(ch, ds, node); err != nil {
			return false, err
		}
	}
	a, err := p.Ask(&snapshot.Snapshot{DaemonSet: ds, Nodes: []corev1.Node{*node}, TakenAt: s.TakenAt}, 0, 0, 0)
	return a.Placement[n.Name].ShouldRun, err
}

// apply makes a change as a user would. It rejects what the API rejects.
func apply(c daemonset.Remedy, ds *appsv1.DaemonSet, n *corev1.Node) error {
	spec := &ds.Spec.Template.Spec
	switch c.Kind {
	case daemonset.AddToleration:
		spec.Tolerations = append(spec.Tolerations, *c.Toleration)
	case daemonset.SetLabel:
		if problems := append(validation.IsQualifiedName(c.Key), validation.IsValidLabelValue(c.Value)...); len(problems) > 0 {
			return fmt.Errorf("label %s=%s: %v", c.Key, c.Value, problems)
		}
		if n.Labels == nil {
			n.Labels = map[string]string{}
		}
		n.Labels[c.Key] = c.Value
	case daemonset.RemoveLabel:
		if _, there := n.Labels[c.Key]; !there {
			return fmt.Errorf("label %s: there is none", c.Key)
		}
		delete(n.Labels, c.Key)
	case daemonset.RemoveNodeName:
		spec.NodeName = ""
	case daemonset.RepairNode:
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == c.Key })
	case daemonset.AddAffinityTerm:
		required := spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		required.NodeSelectorTerms = append(required.NodeSelectorTerms, corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{
			{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{n.Name}},
		}})
	default:
		return fmt.Errorf("unknown change %q", c.Kind)
	}
	return nil
}
