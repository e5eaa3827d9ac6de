package stage

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
)

// Labels of nodes that the kubelets react to.
const (
	// DeadLabel=true cuts the node's power: its kubelet is silent, the node lifecycle controller marks it as
	// unknown, and its pods neither start nor end.
	DeadLabel = "stage.test/dead"
	// NotReadyLabel=true makes the kubelet report the node as not ready (no network plugin). It
	// keeps running pods.
	NotReadyLabel = "stage.test/not-ready"
)

// NewNode returns a healthy Linux node as its kubelet would register it: 4 CPUs, 16 GiB, 110 pods.
// It can be changed before AddNodes.
func NewNode(name string) *corev1.Node {
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("4"),
		corev1.ResourceMemory:           resource.MustParse("16Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("100Gi"),
		corev1.ResourcePods:             resource.MustParse("110"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name,
			Labels: map[string]string{
				corev1.LabelHostname:   name,
				corev1.LabelOSStable:   "linux",
				corev1.LabelArchStable: "amd64",
			},
		},
		Status: corev1.NodeStatus{
			Capacity:    capacity,
			Allocatable: capacity.DeepCopy(),
			NodeInfo: corev1.NodeSystemInfo{
				Architecture: "amd64", OperatingSystem: "linux", OSImage: "Debian GNU/Linux 13 (trixie)",
				KernelVersion: "6.12.48+deb13-amd64", ContainerRuntimeVersion: "containerd://2.1.4", KubeletVersion: "v1.37.1",
			},
		},
	}
}

// Nodes returns n healthy nodes. format creates their names from the numbers 1 to n.
func Nodes(n int, format string) []*corev1.Node {
	var nodes []*corev1.Node
	for i := range n {
		nodes = append(nodes, NewNode(fmt.Sprintf(format, i+1)))
	}
	return nodes
}

// AddNodes registers the nodes, gives them addresses, and waits until they are ready and their
// initial taint is removed.
func (c *Cluster) AddNodes(ctx context.Context, nodes ...*corev1.Node) error {
	var names []string
	for _, node := range nodes {
		c.mu.Lock()
		c.nodeCount++
		n := c.nodeCount
		c.mu.Unlock()
		node = node.DeepCopy()
		node.Spec.PodCIDR = fmt.Sprintf("10.%d.%d.0/24", 64+n/256, n%256)
		node.Spec.PodCIDRs = []string{node.Spec.PodCIDR}
		node.Status.Addresses = []corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("172.20.%d.%d", n/250, n%250+1)},
			{Type: corev1.NodeHostName, Address: node.Name},
		}
		if _, err := c.Client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
			return err
		}
		names = append(names, node.Name)
	}
	return c.WaitNodes(ctx, "ready", names, func(node *corev1.Node) bool {
		return readyStatus(node) == corev1.ConditionTrue && untainted(node, corev1.TaintNodeNotReady)
	})
}

// WaitNodes waits until cond holds for each of the named nodes.
func (c *Cluster) WaitNodes(ctx context.Context, what string, names []string, cond func(*corev1.Node) bool) error {
	return c.WaitFor(ctx, fmt.Sprintf("nodes %s: %s", strings.Join(names, " "), what), func(ctx context.Context) (bool, error) {
		// Served from the API server's cache, because hundreds of nodes are requested many times a
		// second.
		list, err := c.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return false, err
		}
		met := 0
		for i := range list.Items {
			if slices.Contains(names, list.Items[i].Name) && cond(&list.Items[i]) {
				met++
			}
		}
		return met == len(names), nil
	})
}

// KillNodes cuts the power of the nodes and waits for the consequences: the node lifecycle
// controller taints them, and their pods are no longer ready. It takes the grace period.
func (c *Cluster) KillNodes(ctx context.Context, names ...string) error {
	if err := c.labelNodes(ctx, DeadLabel, `"true"`, names); err != nil {
		return err
	}
	err := c.WaitNodes(ctx, "unknown and tainted", names, func(node *corev1.Node) bool {
		return readyStatus(node) == corev1.ConditionUnknown && tainted(node, corev1.TaintNodeUnreachable)
	})
	if err != nil {
		return err
	}
	return c.WaitFor(ctx, "the pods of dead nodes to be unready", func(ctx context.Context) (bool, error) {
		for _, name := range names {
			pods, err := c.Client.CoreV1().Pods("").List(ctx, metav1.ListOptions{
				FieldSelector: fields.OneTermEqualSelector("spec.nodeName", name).String(),
			})
			if err != nil {
				return false, err
			}
			for _, pod := range pods.Items {
				if PodReady(&pod) {
					return false, nil
				}
			}
		}
		return true, nil
	})
}

// ReviveNodes reverts KillNodes and waits until the nodes are ready and untainted.
func (c *Cluster) ReviveNodes(ctx context.Context, names ...string) error {
	if err := c.labelNodes(ctx, DeadLabel, "null", names); err != nil {
		return err
	}
	return c.waitHealthy(ctx, names)
}

func (c *Cluster) waitHealthy(ctx context.Context, names []string) error {
	return c.WaitNodes(ctx, "ready again", names, func(node *corev1.Node) bool {
		return readyStatus(node) == corev1.ConditionTrue &&
			untainted(node, corev1.TaintNodeUnreachable) && untainted(node, corev1.TaintNodeNotReady)
	})
}

// UnreadyNodes makes the kubelets report the nodes as not ready and waits for the taints.
func (c *Cluster) UnreadyNodes(ctx context.Context, names ...string) error {
	if err := c.labelNodes(ctx, NotReadyLabel, `"true"`, names); err != nil {
		return err
	}
	return c.WaitNodes(ctx, "not ready and tainted", names, func(node *corev1.Node) bool {
		return readyStatus(node) == corev1.ConditionFalse && tainted(node, corev1.TaintNodeNotReady)
	})
}

// ReadyNodes reverts UnreadyNodes and waits until the nodes are ready and untainted.
func (c *Cluster) ReadyNodes(ctx context.Context, names ...string) error {
	if err := c.labelNodes(ctx, NotReadyLabel, "null", names); err != nil {
		return err
	}
	return c.waitHealthy(ctx, names)
}

// Cordon marks the nodes as unschedulable and waits for the taint.
func (c *Cluster) Cordon(ctx context.Context, names ...string) error {
	for _, name := range names {
		patch := []byte(`{"spec":{"unschedulable":true}}`)
		if _, err := c.Client.CoreV1().Nodes().Patch(ctx, name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return err
		}
	}
	return c.WaitNodes(ctx, "cordoned", names, func(node *corev1.Node) bool {
		return !untainted(node, corev1.TaintNodeUnschedulable)
	})
}

func (c *Cluster) labelNodes(ctx context.Context, label, value string, names []string) error {
	for _, name := range names {
		patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%s}}}`, label, value)
		if _, err := c.Client.CoreV1().Nodes().Patch(ctx, name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// releaseLeases lets a new kwok take over the nodes immediately. Each kwok has its own name and
// would wait until the leases of the previous one expire.
func (c *Cluster) releaseLeases(ctx context.Context) error {
	leases := c.Client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	return leases.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
}

// waitForLeases waits until the kubelet of every living node has renewed its lease since the call.
func (c *Cluster) waitForLeases(ctx context.Context) error {
	began := time.Now()
	return c.WaitFor(ctx, "the kubelets to renew their leases", func(ctx context.Context) (bool, error) {
		nodes, err := c.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: DeadLabel + "!=true"})
		if err != nil {
			return false, err
		}
		leases, err := c.Client.CoordinationV1().Leases(corev1.NamespaceNodeLease).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		renewed := map[string]bool{}
		for _, lease := range leases.Items {
			renewed[lease.Name] = lease.Spec.RenewTime != nil && lease.Spec.RenewTime.After(began)
		}
		for _, node := range nodes.Items {
			if !renewed[node.Name] {
				return false, nil
			}
		}
		return true, nil
	})
}

func readyStatus(node *corev1.Node) corev1.ConditionStatus {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status
		}
	}
	return ""
}

// untainted reports whether the node lacks the taint with any effect.
func untainted(node *corev1.Node, key string) bool {
	return !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == key })
}

// tainted reports whether the node has the taint with both effects, which two loops of the
// controller add.
func tainted(node *corev1.Node, key string) bool {
	var noSchedule, noExecute bool
	for _, taint := range node.Spec.Taints {
		if taint.Key == key {
			noSchedule = noSchedule || taint.Effect == corev1.TaintEffectNoSchedule
			noExecute = noExecute || taint.Effect == corev1.TaintEffectNoExecute
		}
	}
	return noSchedule && noExecute
}
