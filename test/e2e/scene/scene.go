// Package scene creates typical situations on a stage. It takes a fresh stage without nodes and
// returns when the state is reached. The state does not change afterwards, except for MinReady.
package scene

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// Scene names the DaemonSet of the scene.
type Scene struct {
	Namespace, Name string
}

// Setting creates a scene on a fresh stage.
type Setting func(context.Context, *stage.Cluster) (Scene, error)

// All maps names to settings, in the order of the documentation.
var All = []struct {
	Name string
	Set  Setting
}{
	{"settled", Settled},
	{"stuck", StuckOnDeadNodes},
	{"crash", CrashLoopBackOff},
	{"image", ImagePullBackOff},
	{"pending", Unschedulable},
	{"quota", Quota},
	{"ondelete", OnDelete},
	{"surge", MaxSurge},
	{"minready", MinReady},
}

// Settled is kube-system/node-agent at rest on a dozen nodes: control-1 with the control plane's
// taint, win-1 with Windows, worker-04 cordoned, worker-09 not ready, and eight healthy workers.
// The selector requires Linux and the pods tolerate nothing, so the pod of worker-09 is
// misscheduled. kube-system/kube-proxy tolerates everything.
func Settled(ctx context.Context, c *stage.Cluster) (Scene, error) {
	control := stage.NewNode("control-1")
	control.Labels["node-role.kubernetes.io/control-plane"] = ""
	control.Spec.Taints = []corev1.Taint{{Key: "node-role.kubernetes.io/control-plane", Effect: corev1.TaintEffectNoSchedule}}
	windows := stage.NewNode("win-1")
	windows.Labels[corev1.LabelOSStable] = "windows"
	windows.Status.NodeInfo.OperatingSystem = "windows"
	windows.Status.NodeInfo.OSImage = "Windows Server 2025 Datacenter"
	windows.Status.NodeInfo.KernelVersion = "10.0.26100.4652"
	nodes := append(workers(10), control, windows)
	if err := c.AddNodes(ctx, nodes...); err != nil {
		return Scene{}, err
	}

	proxy := agent("kube-system", "kube-proxy", "kube-proxy:v1.37.1")
	proxy.Spec.Template.Spec.HostNetwork = true
	proxy.Spec.Template.Spec.NodeSelector = map[string]string{corev1.LabelOSStable: "linux"}
	proxy.Spec.Template.Spec.PriorityClassName = "system-node-critical"
	tolerateAll(proxy)
	ds := agent("kube-system", "node-agent", "acme/node-agent:1.8.3")
	ds.Spec.Template.Spec.NodeSelector = map[string]string{corev1.LabelOSStable: "linux"}
	for _, d := range []*appsv1.DaemonSet{proxy, ds} {
		if err := create(ctx, c, d); err != nil {
			return Scene{}, err
		}
	}
	if err := c.Cordon(ctx, "worker-04"); err != nil {
		return Scene{}, err
	}
	if err := c.UnreadyNodes(ctx, "worker-09"); err != nil {
		return Scene{}, err
	}
	// The controller does not sync when a taint makes a pod misscheduled. A note on the DaemonSet
	// makes it sync.
	if err := c.Update(ctx, ds.Namespace, ds.Name, func(ds *appsv1.DaemonSet) {
		metav1.SetMetaDataAnnotation(&ds.ObjectMeta, "owner", "platform-team")
	}); err != nil {
		return Scene{}, err
	}
	return held(ctx, c, ds, "nine of nine, and one misscheduled", func(s appsv1.DaemonSetStatus) bool {
		return s.DesiredNumberScheduled == 9 && s.NumberAvailable == 9 && s.NumberMisscheduled == 1
	})
}

// StuckOnDeadNodes is kube-system/node-agent on the 24 nodes rack-14-01 to rack-14-24. Three died
// before a rollout began, and their pods use up its maxUnavailable of 10%. They are deleted and
// never end.
func StuckOnDeadNodes(ctx context.Context, c *stage.Cluster) (Scene, error) {
	if err := c.AddNodes(ctx, stage.Nodes(24, "rack-14-%02d")...); err != nil {
		return Scene{}, err
	}
	ds := agent("kube-system", "node-agent", "acme/node-agent:1.8.3")
	tolerateAll(ds) // without a toleration for it, a dead node would not count
	rolling(ds, "10%", "")
	if err := create(ctx, c, ds); err != nil {
		return Scene{}, err
	}
	if err := c.KillNodes(ctx, "rack-14-07", "rack-14-15", "rack-14-22"); err != nil {
		return Scene{}, err
	}
	if _, err := held(ctx, c, ds, "three unavailable", func(s appsv1.DaemonSetStatus) bool {
		return s.NumberUnavailable == 3
	}); err != nil {
		return Scene{}, err
	}
	if err := c.SetImage(ctx, ds.Namespace, ds.Name, "acme/node-agent:1.9.0"); err != nil {
		return Scene{}, err
	}
	if err := waitPods(ctx, c, ds, "three pods that never end", 3, func(pod corev1.Pod) bool {
		return pod.DeletionTimestamp != nil
	}); err != nil {
		return Scene{}, err
	}
	return held(ctx, c, ds, "stuck", func(s appsv1.DaemonSetStatus) bool {
		return s.UpdatedNumberScheduled == 0 && s.NumberUnavailable == 3
	})
}

// CrashLoopBackOff is logging/fluent-bit on a dozen nodes. The container of the new image exits
// with 1: the three pods that maxUnavailable 25% allows crash repeatedly, and the rollout is stuck.
func CrashLoopBackOff(ctx context.Context, c *stage.Cluster) (Scene, error) {
	const image = "fluent/fluent-bit:4.1.0"
	return badRevision(ctx, c, "logging", "fluent-bit", "fluent/fluent-bit:4.0.8", image, stage.Crash, func(pod corev1.Pod) bool {
		s := pod.Status.ContainerStatuses
		return len(s) == 1 && s[0].RestartCount == 5 // then the kubelet waits long
	})
}

// ImagePullBackOff is monitoring/node-exporter on a dozen nodes. The new image does not exist: the
// three pods that maxUnavailable 25% allows wait for it.
func ImagePullBackOff(ctx context.Context, c *stage.Cluster) (Scene, error) {
	const image = "prom/node-exporter:v1.9.l" // an l in place of a 1
	return badRevision(ctx, c, "monitoring", "node-exporter", "prom/node-exporter:v1.9.0", image, stage.ImagePullBackOff, func(pod corev1.Pod) bool {
		s := pod.Status.ContainerStatuses
		return len(s) == 1 && s[0].State.Waiting != nil && s[0].State.Waiting.Reason == "ImagePullBackOff"
	})
}

// badRevision rolls out an image that misbehaves and waits until three pods are bad.
func badRevision(ctx context.Context, c *stage.Cluster, namespace, name, good, bad string, behave stage.Behaviour,
	isBad func(corev1.Pod) bool) (Scene, error) {
	if err := c.AddNodes(ctx, workers(12)...); err != nil {
		return Scene{}, err
	}
	if err := c.SetRules(ctx, stage.Rule{Image: bad, Behave: behave}); err != nil {
		return Scene{}, err
	}
	ds := agent(namespace, name, good)
	rolling(ds, "25%", "")
	if err := create(ctx, c, ds); err != nil {
		return Scene{}, err
	}
	if err := c.SetImage(ctx, namespace, name, bad); err != nil {
		return Scene{}, err
	}
	if err := waitPods(ctx, c, ds, "three bad pods", 3, isBad); err != nil {
		return Scene{}, err
	}
	if err := waitEvents(ctx, c, namespace, "BackOff", 3); err != nil {
		return Scene{}, err
	}
	return held(ctx, c, ds, "three unavailable", func(s appsv1.DaemonSetStatus) bool {
		return s.UpdatedNumberScheduled == 3 && s.NumberUnavailable == 3
	})
}

// Unschedulable is monitoring/node-exporter on a dozen nodes with two pending pods: worker-05 has
// too little CPU left, and on worker-08 another pod uses the host port.
func Unschedulable(ctx context.Context, c *stage.Cluster) (Scene, error) {
	nodes := workers(12)
	nodes[4].Status.Capacity[corev1.ResourceCPU] = resource.MustParse("200m")
	nodes[4].Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("200m")
	if err := c.AddNodes(ctx, nodes...); err != nil {
		return Scene{}, err
	}
	if err := c.CreateNamespace(ctx, "monitoring"); err != nil {
		return Scene{}, err
	}
	port := []corev1.ContainerPort{{Name: "metrics", ContainerPort: 9100, HostPort: 9100}}
	other := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "monitoring", Name: "old-exporter"},
		Spec: corev1.PodSpec{
			NodeName:   "worker-08",
			Containers: []corev1.Container{{Name: "exporter", Image: "acme/old-exporter:0.3", Ports: port}},
		},
	}
	if _, err := c.Client.CoreV1().Pods("monitoring").Create(ctx, other, metav1.CreateOptions{}); err != nil {
		return Scene{}, err
	}
	// Before the scheduler has seen it, it would bind the DaemonSet's pod to the same node.
	if err := c.WaitFor(ctx, "the old exporter to be ready", func(ctx context.Context) (bool, error) {
		pod, err := c.Client.CoreV1().Pods("monitoring").Get(ctx, "old-exporter", metav1.GetOptions{})
		return err == nil && stage.PodReady(pod), err
	}); err != nil {
		return Scene{}, err
	}
	ds := agent("monitoring", "node-exporter", "prom/node-exporter:v1.9.0")
	ds.Spec.Template.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("250m")
	ds.Spec.Template.Spec.Containers[0].Ports = port
	if err := c.Create(ctx, ds); err != nil {
		return Scene{}, err
	}
	if err := waitPods(ctx, c, ds, "two unschedulable pods", 2, func(pod corev1.Pod) bool {
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodScheduled {
				return condition.Reason == corev1.PodReasonUnschedulable
			}
		}
		return false
	}); err != nil {
		return Scene{}, err
	}
	if err := waitEvents(ctx, c, ds.Namespace, "FailedScheduling", 2); err != nil {
		return Scene{}, err
	}
	return held(ctx, c, ds, "ten of twelve", func(s appsv1.DaemonSetStatus) bool {
		return s.CurrentNumberScheduled == 12 && s.NumberAvailable == 10
	})
}

// Quota is tenant-a/cache-warmer on a dozen nodes, in a namespace whose quota allows five pods:
// seven are rejected.
func Quota(ctx context.Context, c *stage.Cluster) (Scene, error) {
	if err := c.AddNodes(ctx, workers(12)...); err != nil {
		return Scene{}, err
	}
	const namespace = "tenant-a"
	if err := c.CreateNamespace(ctx, namespace); err != nil {
		return Scene{}, err
	}
	quotas := c.Client.CoreV1().ResourceQuotas(namespace)
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "pods"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("5")}},
	}
	if _, err := quotas.Create(ctx, quota, metav1.CreateOptions{}); err != nil {
		return Scene{}, err
	}
	if err := c.WaitFor(ctx, "the quota to be counted", func(ctx context.Context) (bool, error) {
		quota, err := quotas.Get(ctx, "pods", metav1.GetOptions{})
		return err == nil && len(quota.Status.Used) > 0, err
	}); err != nil {
		return Scene{}, err
	}
	ds := agent(namespace, "cache-warmer", "acme/cache-warmer:3.2.1")
	if err := c.Create(ctx, ds); err != nil {
		return Scene{}, err
	}
	if err := waitEvents(ctx, c, namespace, "FailedCreate", 1); err != nil {
		return Scene{}, err
	}
	return held(ctx, c, ds, "five of twelve", func(s appsv1.DaemonSetStatus) bool {
		return s.DesiredNumberScheduled == 12 && s.CurrentNumberScheduled == 5 && s.NumberAvailable == 5
	})
}

// OnDelete is storage/csi-node on a dozen nodes with the strategy OnDelete. After the change, three
// pods were deleted and run the new template; nine run the old one.
func OnDelete(ctx context.Context, c *stage.Cluster) (Scene, error) {
	if err := c.AddNodes(ctx, workers(12)...); err != nil {
		return Scene{}, err
	}
	ds := agent("storage", "csi-node", "acme/csi-node:2.4.0")
	ds.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
	if err := create(ctx, c, ds); err != nil {
		return Scene{}, err
	}
	if err := c.SetImage(ctx, ds.Namespace, ds.Name, "acme/csi-node:2.5.0"); err != nil {
		return Scene{}, err
	}
	if _, err := held(ctx, c, ds, "none updated", func(s appsv1.DaemonSetStatus) bool {
		return s.UpdatedNumberScheduled == 0
	}); err != nil {
		return Scene{}, err
	}
	pods, err := c.Pods(ctx, ds.Namespace, ds.Name)
	if err != nil {
		return Scene{}, err
	}
	for _, pod := range pods {
		switch pod.Spec.NodeName {
		case "worker-01", "worker-02", "worker-03":
			if err := c.Client.CoreV1().Pods(ds.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{}); err != nil {
				return Scene{}, err
			}
		}
	}
	return held(ctx, c, ds, "three updated", func(s appsv1.DaemonSetStatus) bool {
		return s.UpdatedNumberScheduled == 3 && s.NumberAvailable == 12
	})
}

// MaxSurge is logging/vector on a dozen nodes during a rollout with maxSurge 2. At least four nodes
// are done, and on two others the new pod runs next to the old one and does not become ready.
func MaxSurge(ctx context.Context, c *stage.Cluster) (Scene, error) {
	if err := c.AddNodes(ctx, workers(12)...); err != nil {
		return Scene{}, err
	}
	ds := agent("logging", "vector", "timberio/vector:0.49.0")
	rolling(ds, "0", "2")
	ds.Spec.Template.Annotations = map[string]string{stage.ReadyAfter: "3s", stage.ReadyBefore: "4s"}
	if err := create(ctx, c, ds); err != nil {
		return Scene{}, err
	}
	const image = "timberio/vector:0.50.0"
	if err := c.SetImage(ctx, ds.Namespace, ds.Name, image); err != nil {
		return Scene{}, err
	}
	isNew := func(pod corev1.Pod) bool { return pod.Spec.Containers[0].Image == image }
	if err := waitPods(ctx, c, ds, "four new pods ready", 4, func(pod corev1.Pod) bool {
		return isNew(pod) && stage.PodReady(&pod)
	}); err != nil {
		return Scene{}, err
	}
	// From here on no more new pods become ready.
	pods, err := c.Pods(ctx, ds.Namespace, ds.Name)
	if err != nil {
		return Scene{}, err
	}
	done := map[string]bool{}
	for _, pod := range pods {
		if pod.Spec.NodeName != "" { // a new pod that is not bound yet: its node has the old one
			done[pod.Spec.NodeName] = done[pod.Spec.NodeName] || isNew(pod) && stage.PodReady(&pod)
		}
	}
	var rules []stage.Rule
	for node, ok := range done {
		if !ok {
			rules = append(rules, stage.Rule{Node: node, Image: image, Behave: stage.ProbeFails})
		}
	}
	if err := c.SetRules(ctx, rules...); err != nil {
		return Scene{}, err
	}
	old := 0
	if err := c.WaitFor(ctx, "two surge pods that are not ready", func(ctx context.Context) (bool, error) {
		pods, err := c.Pods(ctx, ds.Namespace, ds.Name)
		if err != nil {
			return false, err
		}
		surging := 0
		old = 0
		for _, pod := range pods {
			switch {
			case pod.DeletionTimestamp != nil:
				return false, nil // an old pod that is being replaced
			case !isNew(pod):
				old++
			case !stage.PodReady(&pod) && pod.Status.Phase == corev1.PodRunning:
				surging++
			}
		}
		return surging == 2 && len(pods) == 14, nil
	}); err != nil {
		return Scene{}, err
	}
	// Of two pods on a node the controller counts the older.
	return held(ctx, c, ds, "all available", func(s appsv1.DaemonSetStatus) bool {
		return s.NumberAvailable == 12 && int(s.UpdatedNumberScheduled) == 12-old
	})
}

// MinReady is network/node-dns on a dozen nodes with minReadySeconds 30 and maxUnavailable 2 during
// a rollout. Two new pods are ready and not yet available, for half a minute. Creating it takes at
// least as long, because the controller syncs after minReadySeconds, and again after as long if a
// pod became ready later.
func MinReady(ctx context.Context, c *stage.Cluster) (Scene, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	if err := c.AddNodes(ctx, workers(12)...); err != nil {
		return Scene{}, err
	}
	ds := agent("network", "node-dns", "acme/node-dns:1.25.1")
	ds.Spec.MinReadySeconds = 30
	rolling(ds, "2", "")
	if err := create(ctx, c, ds); err != nil {
		return Scene{}, err
	}
	const image = "acme/node-dns:1.26.0"
	if err := c.SetImage(ctx, ds.Namespace, ds.Name, image); err != nil {
		return Scene{}, err
	}
	return held(ctx, c, ds, "two ready and not available", func(s appsv1.DaemonSetStatus) bool {
		return s.UpdatedNumberScheduled == 2 && s.NumberReady == 12 && s.NumberAvailable == 10
	})
}

// workers returns n healthy nodes, worker-01 and so on, in three zones.
func workers(n int) []*corev1.Node {
	nodes := stage.Nodes(n, "worker-%02d")
	for i, node := range nodes {
		node.Labels["node-role.kubernetes.io/worker"] = ""
		node.Labels[corev1.LabelTopologyRegion] = "eu-west"
		node.Labels[corev1.LabelTopologyZone] = fmt.Sprintf("eu-west-%c", 'a'+i%3)
		node.Labels[corev1.LabelInstanceTypeStable] = "m.large"
	}
	return nodes
}

// agent returns a realistic DaemonSet.
func agent(namespace, name, image string) *appsv1.DaemonSet {
	ds := stage.NewDaemonSet(namespace, name, image)
	ds.Spec.Template.Spec.TerminationGracePeriodSeconds = new(int64(10))
	container := &ds.Spec.Template.Spec.Containers[0]
	container.Resources = corev1.ResourceRequirements{
		Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("128Mi"),
		},
		Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("256Mi")},
	}
	container.ReadinessProbe = &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(8080)}},
		PeriodSeconds: 10,
	}
	container.VolumeMounts = []corev1.VolumeMount{{Name: "logs", MountPath: "/var/log", ReadOnly: true}}
	ds.Spec.Template.Spec.Volumes = []corev1.Volume{{
		Name: "logs", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/var/log"}},
	}}
	return ds
}

func tolerateAll(ds *appsv1.DaemonSet) {
	ds.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
}

// rolling sets maxUnavailable and, if surge is not empty, maxSurge.
func rolling(ds *appsv1.DaemonSet, maxUnavailable, maxSurge string) {
	update := &appsv1.RollingUpdateDaemonSet{MaxUnavailable: new(intstr.Parse(maxUnavailable))}
	if maxSurge != "" {
		update.MaxSurge = new(intstr.Parse(maxSurge))
	}
	ds.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType, RollingUpdate: update}
}

// create creates the DaemonSet and waits until it has rolled out.
func create(ctx context.Context, c *stage.Cluster, ds *appsv1.DaemonSet) error {
	if err := c.Create(ctx, ds); err != nil {
		return err
	}
	return c.WaitRollout(ctx, ds.Namespace, ds.Name)
}

// held waits for the final status of the scene.
func held(ctx context.Context, c *stage.Cluster, ds *appsv1.DaemonSet, what string, cond func(appsv1.DaemonSetStatus) bool) (Scene, error) {
	err := c.WaitDaemonSet(ctx, ds.Namespace, ds.Name, what, func(ds *appsv1.DaemonSet) bool { return cond(ds.Status) })
	return Scene{ds.Namespace, ds.Name}, err
}

// waitPods waits until cond holds for at least n of the DaemonSet's pods.
func waitPods(ctx context.Context, c *stage.Cluster, ds *appsv1.DaemonSet, what string, n int, cond func(corev1.Pod) bool) error {
	return c.WaitFor(ctx, what, func(ctx context.Context) (bool, error) {
		pods, err := c.Pods(ctx, ds.Namespace, ds.Name)
		if err != nil {
			return false, err
		}
		met := 0
		for _, pod := range pods {
			if cond(pod) {
				met++
			}
		}
		return met >= n, nil
	})
}

// waitEvents waits for at least n events in the namespace.
func waitEvents(ctx context.Context, c *stage.Cluster, namespace, reason string, n int) error {
	return c.WaitFor(ctx, fmt.Sprintf("%d events %s", n, reason), func(ctx context.Context) (bool, error) {
		events, err := c.Client.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{
			FieldSelector: fields.OneTermEqualSelector("reason", reason).String(),
		})
		return err == nil && len(events.Items) >= n, err
	})
}
