// Package large fills a stage with the objects of a large cluster, as its controllers and kubelets
// would write them. It takes a Size and returns a running bare stage, on which nothing acts.
package large

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// Size is the number of objects on a stage.
type Size struct {
	Name       string
	Nodes      int
	DaemonSets int // each has a pod on each node
	Namespaces int // with DaemonSets
	Inside     int // pods of others in these namespaces
	Outside    int // pods of others in other namespaces
}

// Sizes of docs/performance.md.
var (
	Nodes5000  = Size{"5000", 5000, 20, 5, 10_000, 20_000}
	Nodes15000 = Size{"15000", 15_000, 2, 1, 5_000, 0}
	Small      = Size{"small", 100, 4, 2, 200, 100} // to try the programs
)

// Sizes lists all sizes.
var Sizes = []Size{Small, Nodes5000, Nodes15000}

// Namespace returns the name of a namespace with DaemonSets.
func (s Size) Namespace(i int) string { return fmt.Sprintf("agents-%d", i%s.Namespaces) }

// DaemonSet returns the name of a DaemonSet, which is in Namespace(i). The first one is in a
// rollout: four fifths of its pods are of the newest revision, and one pod in a hundred is not
// ready.
func (s Size) DaemonSet(i int) string { return fmt.Sprintf("agent-%02d", i) }

// Node returns the name of a node.
func (s Size) Node(i int) string {
	return fmt.Sprintf("ip-10-%d-%d-%d.eu-west-1.compute.internal", i/65536, i/256%256, i%256)
}

// Start starts a stage of this size. The first call fills it, which takes minutes, and stores it in
// the user's cache for later calls. flags are added to those of the API server.
func (s Size) Start(ctx context.Context, say func(string, ...any), flags ...string) (*stage.Cluster, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	data := filepath.Join(cache, "kubectl-ds", "large-"+s.Name)
	steps := []struct {
		name string
		fill func(*filler, context.Context) error
	}{{"agents", (*filler).agents}, {"others", (*filler).others}}
	done := func(i int) string { return filepath.Join(data, "has-"+steps[i].name) }
	for i := range steps {
		if _, err := os.Stat(done(i)); err == nil {
			continue
		}
		if i == 0 { // the rest of an interrupted run is of no use
			if err := os.RemoveAll(data); err != nil {
				return nil, err
			}
		}
		say("filling a stage of %d nodes with %s, once: it stays in %s", s.Nodes, steps[i].name, data)
		// An API server that has written so much holds several copies, so each step has its own.
		err := s.with(ctx, data, say, func(f *filler) error { return steps[i].fill(f, ctx) })
		if err == nil {
			err = os.WriteFile(done(i), nil, 0o600)
		}
		if err != nil {
			return nil, err
		}
	}
	return stage.Start(ctx, stage.Options{Bare: true, EtcdData: data, APIServerFlags: flags})
}

// with starts a stage, calls do, and stops the stage.
func (s Size) with(ctx context.Context, data string, say func(string, ...any), do func(*filler) error) (err error) {
	if err := os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	c, err := stage.Start(ctx, stage.Options{Bare: true, EtcdData: data})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	config := rest.CopyConfig(c.Config)
	config.ContentType = runtime.ContentTypeProtobuf
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	return do(&filler{s, c, client, say, time.Now()})
}

// filler writes objects.
type filler struct {
	Size
	stage  *stage.Cluster
	client *kubernetes.Clientset
	say    func(string, ...any)
	began  time.Time
}

// agents creates the nodes and the DaemonSets with their pods.
func (f *filler) agents(ctx context.Context) error {
	sets, err := f.daemonSets(ctx)
	if err != nil {
		return err
	}
	if err := f.nodes(ctx); err != nil {
		return err
	}
	f.say("%d nodes after %v", f.Nodes, time.Since(f.began).Round(time.Second))
	for i := range sets {
		if err := f.pods(ctx, i, &sets[i]); err != nil {
			return err
		}
		f.say("pods of %s after %v", sets[i].ds.Name, time.Since(f.began).Round(time.Second))
	}
	return nil
}

// owned is a DaemonSet with the hashes of its two revisions, the newest last.
type owned struct {
	ds     *appsv1.DaemonSet
	hashes [2]string
}

// daemonSets creates the DaemonSets before the nodes, while the real controller runs and creates
// their revisions, and a second revision of each.
func (f *filler) daemonSets(ctx context.Context) ([]owned, error) {
	if err := f.stage.StartProgram(ctx, stage.ControllerManager); err != nil {
		return nil, err
	}
	for i := range f.DaemonSets {
		ds := daemonSet(f.Namespace(i), f.DaemonSet(i), tags[0])
		if err := f.stage.Create(ctx, ds); err != nil {
			return nil, err
		}
		if err := f.refersTo(ctx, ds); err != nil {
			return nil, err
		}
	}
	if err := f.waitForRevisions(ctx, 1); err != nil {
		return nil, err
	}
	for i := range f.DaemonSets {
		if err := f.stage.SetImage(ctx, f.Namespace(i), f.DaemonSet(i), image(f.DaemonSet(i), tags[1])); err != nil {
			return nil, err
		}
	}
	if err := f.waitForRevisions(ctx, 2); err != nil {
		return nil, err
	}
	if err := f.stage.StopProgram(stage.ControllerManager); err != nil {
		return nil, err
	}
	out := make([]owned, f.DaemonSets)
	for i := range out {
		ds, err := f.client.AppsV1().DaemonSets(f.Namespace(i)).Get(ctx, f.DaemonSet(i), metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		out[i].ds = ds
		revisions, err := f.client.AppsV1().ControllerRevisions(ds.Namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for _, r := range revisions.Items {
			if metav1.IsControlledBy(&r, ds) {
				out[i].hashes[r.Revision-1] = r.Labels[appsv1.ControllerRevisionHashLabelKey]
			}
		}
	}
	return out, nil
}

// refersTo creates the objects that the template of a DaemonSet refers to.
func (f *filler) refersTo(ctx context.Context, ds *appsv1.DaemonSet) error {
	meta := metav1.ObjectMeta{Namespace: ds.Namespace, Name: ds.Name}
	core := f.client.CoreV1()
	_, err := core.ServiceAccounts(ds.Namespace).Create(ctx, &corev1.ServiceAccount{ObjectMeta: meta}, metav1.CreateOptions{})
	if err == nil {
		_, err = core.ConfigMaps(ds.Namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"config.yaml": "level: info"}}, metav1.CreateOptions{})
	}
	if err == nil {
		_, err = core.Secrets(ds.Namespace).Create(ctx, &corev1.Secret{ObjectMeta: meta, StringData: map[string]string{"api-key": "none"}}, metav1.CreateOptions{})
	}
	return err
}

func (f *filler) waitForRevisions(ctx context.Context, n int) error {
	return f.stage.WaitFor(ctx, fmt.Sprintf("%d revisions of each DaemonSet", n), func(ctx context.Context) (bool, error) {
		all, err := f.client.AppsV1().ControllerRevisions("").List(ctx, metav1.ListOptions{})
		return err == nil && len(all.Items) == n*f.DaemonSets, err
	})
}

func (f *filler) nodes(ctx context.Context) error {
	return each(ctx, f.Nodes, func(ctx context.Context, i int) error {
		_, err := f.client.CoreV1().Nodes().Create(ctx, node(f.Node(i), i), metav1.CreateOptions{FieldManager: "kubelet"})
		return err
	})
}

// tags are the image tags of a DaemonSet's two revisions.
var tags = [2]string{"v1.8.2", "v1.9.0"}

// updated returns the number of pods of the newest revision, which are on the first nodes.
func (s Size) updated(index int) int {
	if index == 0 {
		return s.Nodes * 4 / 5
	}
	return s.Nodes
}

// podOn returns the pod of a DaemonSet on the i-th node.
func (s Size) podOn(index int, of *owned, i int) *corev1.Pod {
	revision := 1
	if i >= s.updated(index) {
		revision = 0
	}
	pod := podOf(of.ds, s.Node(i), of.hashes[revision], tags[revision], i)
	pod.Labels["pod-template-generation"] = fmt.Sprint(revision + 1)
	if s.crashes(index, i) {
		crash(&pod.Status)
	}
	return pod
}

// crashes reports whether the pod of a DaemonSet on the i-th node crashes.
func (s Size) crashes(index, i int) bool { return index == 0 && i%100 == 7 && i < s.updated(index) }

// status returns the status of a DaemonSet.
func (s Size) status(index int) appsv1.DaemonSetStatus {
	notReady := 0
	for i := range s.Nodes {
		if s.crashes(index, i) {
			notReady++
		}
	}
	n, up := int32(s.Nodes), int32(s.Nodes-notReady)
	return appsv1.DaemonSetStatus{
		CurrentNumberScheduled: n, DesiredNumberScheduled: n, UpdatedNumberScheduled: int32(s.updated(index)), NumberReady: up, NumberAvailable: up, NumberUnavailable: n - up,
	}
}

// pods creates a pod of a DaemonSet on each node and then writes its status.
func (f *filler) pods(ctx context.Context, index int, of *owned) error {
	err := each(ctx, f.Nodes, func(ctx context.Context, i int) error { return f.pod(ctx, f.podOn(index, of, i)) })
	if err != nil {
		return err
	}
	of.ds.Status = f.status(index)
	of.ds.Status.ObservedGeneration = of.ds.Generation
	_, err = f.client.AppsV1().DaemonSets(of.ds.Namespace).UpdateStatus(ctx, of.ds, metav1.UpdateOptions{FieldManager: "kube-controller-manager"})
	return err
}

// pod creates a pod and its status as its kubelet writes it.
func (f *filler) pod(ctx context.Context, pod *corev1.Pod) error {
	status := pod.Status
	pods := f.client.CoreV1().Pods(pod.Namespace)
	created, err := pods.Create(ctx, pod, metav1.CreateOptions{FieldManager: "kube-controller-manager"})
	if apierrors.IsAlreadyExists(err) { // the connection was lost before the response
		created, err = pods.Get(ctx, pod.Name, metav1.GetOptions{})
	}
	if err != nil {
		return err
	}
	created.Status = status
	_, err = pods.UpdateStatus(ctx, created, metav1.UpdateOptions{FieldManager: "kubelet"})
	return err
}

// others creates pods that no DaemonSet owns.
func (f *filler) others(ctx context.Context) error {
	const namespaces = 20
	for i := range namespaces {
		if _, err := f.client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("team-%02d", i)}}, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return each(ctx, f.Inside+f.Outside, func(ctx context.Context, i int) error {
		namespace := fmt.Sprintf("team-%02d", i%namespaces)
		if i < f.Inside {
			namespace = f.Namespace(i)
		}
		return f.pod(ctx, workload(namespace, f.Node(i%f.Nodes), i))
	})
}

// each calls do with 0 to n-1, some concurrently.
func each(ctx context.Context, n int, do func(context.Context, int) error) error {
	const atOnce = 12
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next, done := make(chan int), make(chan struct{})
	for range atOnce {
		go func() {
			defer func() { done <- struct{}{} }()
			for i := range next {
				if ctx.Err() != nil {
					continue
				}
				err := do(ctx, i)
				// A busy machine loses connections.
				for try := 1; try < 5 && err != nil && apierrors.ReasonForError(err) == metav1.StatusReasonUnknown; try++ {
					err = do(ctx, i)
				}
				if err != nil {
					cancel(err)
				}
			}
		}()
	}
	for i := range n {
		next <- i
	}
	close(next)
	for range atOnce {
		<-done
	}
	return context.Cause(ctx)
}
