//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/large"
	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// Limits for explain --watch: while nothing changes, and when something does.
const (
	heartbeat = 5 * time.Minute // how often a node writes its status
	mostIdle  = 0.01            // share of a CPU core
	mostLate  = time.Second
)

// watch measures the cost of explain --watch while every node writes its heartbeat, and the time
// until a relevant change is on the screen.
func watch(ctx context.Context, size large.Size) (err error) {
	dir, err := stage.BuildPlugin(ctx)
	if err != nil {
		return err
	}
	c, err := size.Start(ctx, say)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	client, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "kubectl-ds"), "explain", "--watch", "-n", size.Namespace(0), size.DaemonSet(0))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.Dir + "/home", "KUBECONFIG=" + c.Kubeconfig}
	printed := &counter{}
	cmd.Stdout = printed
	if err := cmd.Start(); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		stop()
		close(ended)
	}()
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-ended
	}()
	pods, err := client.CoreV1().Pods(size.Namespace(0)).List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=" + size.DaemonSet(0), Limit: 3})
	if err != nil {
		return err
	}
	go beat(ctx, client, size)
	for printed.Load() == 0 && sleep(ctx, 100*time.Millisecond) {
	}
	sleep(ctx, 20*time.Second) // the work after the first read
	for i := range 3 {
		before, began := cpuOf(cmd.Process.Pid), time.Now()
		if !sleep(ctx, time.Minute) {
			return errors.Join(err, errors.New("explain --watch ended, or was interrupted"))
		}
		idle := float64(cpuOf(cmd.Process.Pid)-before) / float64(time.Since(began))
		shown, changed := printed.Load(), time.Now()
		if err := setReady(ctx, client, pods.Items[i], corev1.ConditionFalse); err != nil {
			return err
		}
		for printed.Load() == shown && ctx.Err() == nil && time.Since(changed) < time.Minute {
			time.Sleep(5 * time.Millisecond)
		}
		late := time.Since(changed)
		fmt.Printf("%.2f%% of a core; that a pod is not Ready is on the screen after %v\n", 100*idle, late.Round(time.Millisecond))
		if err := setReady(ctx, client, pods.Items[i], corev1.ConditionTrue); err != nil {
			return err
		}
		if idle > mostIdle || late > mostLate {
			err = fmt.Errorf("missed: %.2f%% of a core of %.0f%%, %v of %v", 100*idle, 100*mostIdle, late, mostLate)
		}
		sleep(ctx, 5*time.Second)
	}
	return err
}

// sleep waits and reports whether ctx is still active.
func sleep(ctx context.Context, long time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(long):
		return true
	}
}

// setReady sets the Ready condition of a pod, with an earlier transition time.
func setReady(ctx context.Context, client kubernetes.Interface, pod corev1.Pod, ready corev1.ConditionStatus) error {
	says := fmt.Sprintf(`{"status":{"conditions":[{"type":%q,"status":%q}]}}`, corev1.PodReady, ready)
	_, err := client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, []byte(says), metav1.PatchOptions{FieldManager: "kubelet"}, "status")
	return err
}

// counter counts bytes.
type counter struct{ atomic.Int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.Add(int64(len(p)))
	return len(p), nil
}

// beat writes the heartbeat of one node after the other.
func beat(ctx context.Context, client kubernetes.Interface, size large.Size) {
	tick := time.NewTicker(heartbeat / time.Duration(size.Nodes))
	defer tick.Stop()
	for i := 0; ctx.Err() == nil; i++ {
		<-tick.C
		alive := fmt.Sprintf(`{"status":{"conditions":[{"type":%q,"lastHeartbeatTime":%q}]}}`, corev1.NodeReady, time.Now().UTC().Format(time.RFC3339))
		_, _ = client.CoreV1().Nodes().Patch(ctx, size.Node(i%size.Nodes), types.StrategicMergePatchType, []byte(alive), metav1.PatchOptions{FieldManager: "kubelet"}, "status")
	}
}
