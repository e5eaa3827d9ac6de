package oracle

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/oracle/controller/wire"
)

// store holds the objects of the API server at one moment. It performs requests as an API server
// does, and nothing by itself.
type store struct {
	now     snapshot.Snapshot
	created int // number of pods and other named objects
}

// copyOf returns a deep copy of what changes during a trace.
func copyOf(s *snapshot.Snapshot) *snapshot.Snapshot {
	c := *s
	c.DaemonSet = s.DaemonSet.DeepCopy()
	c.Revisions, c.Nodes, c.Pods = nil, nil, nil
	for i := range s.Revisions {
		c.Revisions = append(c.Revisions, *s.Revisions[i].DeepCopy())
	}
	for i := range s.Nodes {
		c.Nodes = append(c.Nodes, *s.Nodes[i].DeepCopy())
	}
	for i := range s.Pods {
		c.Pods = append(c.Pods, *s.Pods[i].DeepCopy())
	}
	return &c
}

// snapshot returns the present state, which later changes do not affect.
func (c *store) snapshot() *snapshot.Snapshot { return copyOf(&c.now) }

// second returns the clock with the precision of API objects.
func (c *store) second() metav1.Time { return metav1.NewTime(c.now.TakenAt.Truncate(time.Second)) }

// wrote applies the writes of a sync, except for deleted pods.
func (c *store) wrote(r *wire.Run) error {
	if err := c.wrotePods(r.Written); err != nil {
		return err
	}
	if err := c.wroteRevisions(r); err != nil {
		return err
	}
	if r.Status != nil {
		s := &c.now.DaemonSet.Status
		s.DesiredNumberScheduled, s.CurrentNumberScheduled, s.NumberMisscheduled = int32(r.Status.Desired), int32(r.Status.Current), int32(r.Status.Misscheduled)
		s.NumberReady, s.UpdatedNumberScheduled = int32(r.Status.Ready), int32(r.Status.Updated)
		s.NumberAvailable, s.NumberUnavailable = int32(r.Status.Available), int32(r.Status.Unavailable)
		s.ObservedGeneration = r.Status.ObservedGeneration
	}
	return nil
}

func (c *store) wrotePods(w *wire.Written) error {
	for _, raw := range w.NewPods {
		var p corev1.Pod
		if err := json.Unmarshal(raw, &p); err != nil {
			return fmt.Errorf("a pod that the controller made: %w", err)
		}
		c.created++
		p.Name = dstest.Name + "-" + suffix(c.created)
		p.Namespace, p.UID, p.CreationTimestamp, p.ResourceVersion = c.now.DaemonSet.Namespace, types.UID("pod-"+p.Name), c.second(), ""
		p.Status.Phase = corev1.PodPending
		c.now.Pods = append(c.now.Pods, p)
	}
	for _, raw := range w.ChangedPods {
		var p corev1.Pod
		if err := json.Unmarshal(raw, &p); err != nil {
			return fmt.Errorf("a pod that the controller changed: %w", err)
		}
		if i := c.indexOf(p.Name); i >= 0 { // times may be those of another clock
			c.now.Pods[i].Labels, c.now.Pods[i].OwnerReferences = p.Labels, p.OwnerReferences
		}
	}
	return nil
}

// suffix returns five letters that depend on the number, like an API server appends to the name of
// a pod.
func suffix(n int) string {
	const letters = "bcdfghjklmnpqrstvwxz2456789" // 27 letters
	all := 27 * 27 * 27 * 27 * 27
	out := make([]byte, 5)
	for i, left := 0, n*7654321%all; i < len(out); i++ {
		out[i], left = letters[left%27], left/27
	}
	return string(out)
}

func (c *store) wroteRevisions(r *wire.Run) error {
	for _, raw := range r.Written.Revisions {
		var rev appsv1.ControllerRevision
		if err := json.Unmarshal(raw, &rev); err != nil {
			return fmt.Errorf("a revision that the controller wrote: %w", err)
		}
		rev.ResourceVersion = ""
		if i := c.revision(rev.Name); i >= 0 {
			c.now.Revisions[i] = rev
			continue
		}
		rev.UID, rev.CreationTimestamp = types.UID("revision-"+rev.Name), c.second()
		c.now.Revisions = append(c.now.Revisions, rev)
	}
	for _, name := range r.Removed {
		i := c.revision(name)
		switch {
		case i < 0:
		case len(c.now.Revisions[i].Finalizers) == 0:
			c.now.Revisions = slices.Delete(c.now.Revisions, i, i+1)
		case c.now.Revisions[i].DeletionTimestamp == nil:
			at := metav1.NewTime(c.second().Time)
			c.now.Revisions[i].DeletionTimestamp = &at
		}
	}
	return nil
}

func (c *store) revision(name string) int {
	return slices.IndexFunc(c.now.Revisions, func(r appsv1.ControllerRevision) bool { return r.Name == name })
}

func (c *store) indexOf(name string) int {
	return slices.IndexFunc(c.now.Pods, func(p corev1.Pod) bool { return p.Name == name })
}

// delete deletes a pod as the API server does: immediately if it has no kubelet or has ended and no
// finalizer holds it, otherwise after its grace period. A second call has no effect.
func (c *store) delete(name string) {
	i := c.indexOf(name)
	if i < 0 || c.now.Pods[i].DeletionTimestamp != nil {
		return
	}
	p := &c.now.Pods[i]
	grace := int64(30)
	if g := p.Spec.TerminationGracePeriodSeconds; g != nil && *g > 0 {
		grace = *g
	}
	if p.Spec.NodeName == "" || ended(p) {
		if len(p.Finalizers) == 0 {
			c.now.Pods = slices.Delete(c.now.Pods, i, i+1)
			return
		}
		grace = 0
	}
	at := metav1.NewTime(c.second().Add(time.Duration(grace) * time.Second))
	p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &at, &grace
}

// newState returns the State of a Snapshot under the rules of its version.
func newState(s *snapshot.Snapshot) (*daemonset.State, error) {
	profile, err := daemonset.ForVersion(s.KubernetesVersion)
	if err != nil {
		return nil, err
	}
	return daemonset.New(s, profile)
}
