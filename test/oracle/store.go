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

// store is what the API server holds at one moment. It does what an API server
// does with a request, and nothing by itself.
type store struct {
	now     snapshot.Snapshot
	created int // pods, and what else needs a name
}

// copyOf returns a deep copy of what changes in a trace.
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

// snapshot returns the present state, which no later change touches.
func (c *store) snapshot() *snapshot.Snapshot { return copyOf(&c.now) }

// second is the clock as API objects hold it.
func (c *store) second() metav1.Time { return metav1.NewTime(c.now.TakenAt.Truncate(time.Second)) }

// wrote applies what the controller wrote in a sync, but for the pods that it
// deleted.
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
		if i := c.indexOf(p.Name); i >= 0 { // times may be by another clock
			c.now.Pods[i].Labels, c.now.Pods[i].OwnerReferences = p.Labels, p.OwnerReferences
		}
	}
	return nil
}

// suffix returns five letters, others for every number, in no order, as an API
// server adds to the name of a pod.
func suffix(n int) string {
	const letters = "bcdfghjklmnpqrstvwxz2456789" // 27
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

// delete does what the API server does when somebody deletes a pod: one that
// no kubelet has, or that has ended, is gone at once unless a finalizer holds
// it, any other is given its grace period. A second delete changes nothing.
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

// newState returns the State of a Snapshot by the rules of its version.
func newState(s *snapshot.Snapshot) (*daemonset.State, error) {
	profile, err := daemonset.ForVersion(s.KubernetesVersion)
	if err != nil {
		return nil, err
	}
	return daemonset.New(s, profile)
}
