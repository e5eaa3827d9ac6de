package stage

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// patience limits every wait whose context has no deadline. It only ends tests that can never pass.
const patience = 2 * time.Minute

// WaitFor polls until cond returns true. It returns an error if cond does, if a program of the
// stage dies, if ctx ends, or after two minutes if ctx has no deadline. The error contains what.
func (c *Cluster) WaitFor(ctx context.Context, what string, cond func(context.Context) (bool, error)) error {
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	began := time.Now()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		ok, err := cond(ctx)
		if ok && err == nil {
			return nil
		}
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("waiting for %s: %w", what, err)
		}
		if err := c.failure(); err != nil {
			return fmt.Errorf("waiting for %s: %w", what, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: not within %s: %w", what, time.Since(began).Round(time.Second), ctx.Err())
		case <-again.C:
		}
	}
}

// WaitDaemonSet waits until cond holds for the DaemonSet and its status is of its current
// generation.
func (c *Cluster) WaitDaemonSet(ctx context.Context, namespace, name, what string, cond func(*appsv1.DaemonSet) bool) error {
	var last appsv1.DaemonSetStatus
	err := c.WaitFor(ctx, fmt.Sprintf("daemonset %s/%s: %s", namespace, name, what), func(ctx context.Context) (bool, error) {
		ds, err := c.Client.AppsV1().DaemonSets(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		last = ds.Status
		return ds.Status.ObservedGeneration == ds.Generation && cond(ds), nil
	})
	if err != nil {
		return fmt.Errorf("%w; last status: %+v", err, last)
	}
	return nil
}

// WaitRollout waits until all desired pods run the newest template and are available.
func (c *Cluster) WaitRollout(ctx context.Context, namespace, name string) error {
	return c.WaitDaemonSet(ctx, namespace, name, "rolled out", func(ds *appsv1.DaemonSet) bool {
		s := ds.Status
		return s.DesiredNumberScheduled > 0 && s.UpdatedNumberScheduled == s.DesiredNumberScheduled &&
			s.NumberAvailable == s.DesiredNumberScheduled && s.NumberUnavailable == 0
	})
}
