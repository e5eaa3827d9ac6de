package breakers

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// limits are the remedies that only raise the limit of the rolling update.
var limits = []remedy.Code{remedy.RaiseMaxUnavailable, remedy.RaiseMaxSurge}

// notTheChange are the remedies that do not help if neither the revision nor a node is at fault.
var notTheChange = append([]remedy.Code{remedy.RollBack}, limits...)

func is(kind cause.SubjectKind, name string) cause.Subject {
	return cause.Subject{Kind: kind, Name: name}
}

// All lists the breakers.
var All = []*Breaker{
	{
		Name: "a host port that another pod has", Subject: is(cause.SubjectHostPort, "9100/TCP"),
		Who: cause.WhoChange, Remedy: remedy.RollBack, InVain: limits, breaks: hostPort,
	},
	{
		Name: "a request of CPU that other pods leave no room for", Subject: is(cause.SubjectNodeResource, "cpu"),
		Who: cause.WhoChange, Remedy: remedy.RollBack, InVain: limits, breaks: requestOfCPU,
	},
	{
		Name: "a request of more memory than a node has", Subject: is(cause.SubjectNodeResource, "memory"),
		Who: cause.WhoChange, Remedy: remedy.RollBack, InVain: limits, breaks: requestOfMemory,
	},
	{
		Name:    "an image tag that does not exist",
		Subject: is(cause.SubjectImage, "registry.example.com/team/agent:1.5.0-rc"),
		Who:     cause.WhoChange,
		Remedy:  remedy.RollBack,
		InVain:  limits,
		breaks:  imageTag,
	},
	{
		Name: "a registry that does not answer", Subject: is(cause.SubjectImage, "registry.example.com/team/agent:1.4.2"),
		Who: cause.WhoRegistry, InVain: notTheChange, breaks: registry,
	},
	{
		Name: "a new image that crashes", Subject: is(cause.SubjectContainer, "agent"),
		Who: cause.WhoChange, Remedy: remedy.RollBack, InVain: limits, breaks: newImage,
	},
	{
		Name: "a size limit of an emptyDir", Subject: is(cause.SubjectVolume, "buffer"),
		Who: cause.WhoChange, Remedy: remedy.RollBack, InVain: limits, breaks: sizeLimit,
	},
	{
		Name: "a readiness gate that nothing opens", Subject: is(cause.SubjectGate, "example.com/registered"),
		Who: cause.WhoChange, Remedy: remedy.RollBack, InVain: limits, breaks: readinessGate,
	},
	{
		Name: "a Secret of a volume that was deleted", Subject: ofObject("agent-tls", ""),
		Who: cause.WhoMissingObject, Remedy: remedy.CreateObject, InVain: notTheChange, breaks: secretOfVolume,
	},
	{
		Name: "a Secret of a variable that was deleted", Subject: ofObject("agent-token", ""),
		Who: cause.WhoMissingObject, Remedy: remedy.CreateObject, InVain: notTheChange, breaks: secretOfVariable,
	},
	{
		Name: "a key that a ConfigMap does not have", Subject: ofObject("agent-settings", "ratio"),
		Who: cause.WhoChange, Remedy: remedy.RollBack, InVain: limits, breaks: missingKey,
	},
	{
		Name: "a PriorityClass that does not exist", Subject: is(cause.SubjectReference, "agent-critical"),
		Who: cause.WhoChange, Remedy: remedy.RollBack, InVain: limits, breaks: priorityClass,
	},
	{
		Name: "a ServiceAccount that does not exist", Subject: ofObject("agent-v2", ""),
		Who: cause.WhoChange, Remedy: remedy.RollBack, InVain: limits, breaks: serviceAccount,
	},
	{
		Name: "a ResourceQuota without room for a larger pod", Subject: is(cause.SubjectQuota, "compute"),
		Who: cause.WhoChange, Remedy: remedy.RollBack, InVain: limits, breaks: quotaOfCPU,
	},
	{
		Name: "a ResourceQuota that others have used up", Subject: is(cause.SubjectQuota, "pods"),
		Who: cause.WhoPolicy, Remedy: remedy.RaiseQuota, InVain: notTheChange, breaks: quotaOfPods,
	},
	{
		Name: "a container of others that crashes", Subject: is(cause.SubjectInjected, "istio-proxy"),
		Who: cause.WhoInjection, Remedy: remedy.AskOwner, InVain: notTheChange, breaks: injected,
	},
	{
		Name: "a restart after which one pod crashes", Subject: is(cause.SubjectContainer, "agent"),
		Who: cause.WhoUnknown, InVain: notTheChange, breaks: crashOfOne,
	},
	{
		Name: "a node that is dead", Subject: is(cause.SubjectNodeCondition, "Ready"),
		Who: cause.WhoNode, Remedy: remedy.RepairNodes, InVain: []remedy.Code{remedy.RollBack}, OfNode: true,
		tolerates: toAll, breaks: deadNode,
	},
	{
		Name: "a node whose disk is full", Subject: is(cause.SubjectNodeCondition, "DiskPressure"),
		Who: cause.WhoNode, Remedy: remedy.FreeDisk, InVain: []remedy.Code{remedy.RollBack}, OfNode: true, breaks: fullDisk,
	},
	{
		Name: "a taint that the pods do not tolerate", Subject: is(cause.SubjectPlacement, ""),
		Remedy: remedy.Tolerate, InVain: notTheChange, OfNode: true, tolerates: toControlPlane, breaks: taint,
	},
}

// Named returns the breaker with a name.
func Named(name string) *Breaker {
	for _, b := range All {
		if b.Name == name {
			return b
		}
	}
	return nil
}

func ofObject(name, key string) cause.Subject {
	return cause.Subject{Kind: cause.SubjectReference, Namespace: "kube-system", Name: name, Key: key}
}

func hostPort(w *World, _ int) {
	fails := w.spread(w.chance(30))
	for _, node := range fails {
		w.other(
			node,
			"node-exporter",
			snapshot.Resources{MilliCPU: 50},
			snapshot.HostPort{Protocol: corev1.ProtocolTCP, Port: 9100},
		)
	}
	w.change(func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Ports[0].HostPort = 9100 })
	w.roll(fails, w.unscheduled("node(s) didn't have free ports for the requested pod ports"))
}

func requestOfCPU(w *World, _ int) {
	fails := w.spread(w.chance(30))
	for _, node := range fails {
		w.other(node, "batch", snapshot.Resources{MilliCPU: 2500, Memory: 1 << 30})
	}
	w.change(func(t *corev1.PodTemplateSpec) {
		t.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("1500m")
	})
	w.roll(fails, w.unscheduled("Insufficient cpu"))
}

func requestOfMemory(w *World, _ int) {
	w.change(func(t *corev1.PodTemplateSpec) {
		t.Spec.Containers[0].Resources = corev1.ResourceRequirements{
			Requests: amounts("cpu", "100m", "memory", "64Gi"),
			Limits:   amounts("memory", "64Gi"),
		}
	})
	w.roll(w.spread(true), w.unscheduled("Insufficient memory"))
}

func imageTag(w *World, _ int) {
	image := "registry.example.com/team/agent:1.5.0-rc"
	w.change(func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Image = image })
	w.roll(
		w.spread(true),
		waiting(
			"ImagePullBackOff",
			fmt.Sprintf(
				"Back-off pulling image %q: ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image %q: "+
					"failed to resolve reference %q: %s: not found",
				image,
				image,
				image,
				image,
			),
		),
	)
}

func registry(w *World, _ int) {
	image := "registry.example.com/team/agent:1.4.2"
	w.change(w.restart)
	w.roll(
		w.spread(true),
		waiting(
			"ImagePullBackOff",
			fmt.Sprintf(
				"Back-off pulling image %q: ErrImagePull: failed to pull and unpack image %q: failed to resolve reference %q: "+
					`failed to do request: Head "https://registry.example.com/v2/": dial tcp 192.0.2.7:443: i/o timeout`,
				image,
				image,
				image,
			),
		),
	)
}

func newImage(w *World, _ int) {
	w.change(func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Image = "registry.example.com/team/agent:1.5.0" })
	w.roll(w.spread(true), w.crashing("agent", 1))
}

func sizeLimit(w *World, _ int) {
	most := resource.MustParse("50Mi")
	w.change(func(t *corev1.PodTemplateSpec) { t.Spec.Volumes[0].EmptyDir.SizeLimit = &most })
	w.roll(w.spread(true), w.evicted(`Usage of EmptyDir volume "buffer" exceeds the limit "50Mi". `))
}

func readinessGate(w *World, _ int) {
	w.change(func(t *corev1.PodTemplateSpec) {
		t.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/registered"}}
	})
	w.roll(w.spread(true), func(p *corev1.Pod) {
		for i := range p.Status.Conditions {
			if c := &p.Status.Conditions[i]; c.Type == corev1.PodReady {
				c.Status, c.Reason = corev1.ConditionFalse, "ReadinessGatesNotReady"
				c.Message = `corresponding condition of pod readiness gate "example.com/registered" does not exist.`
			}
		}
	})
}

func secretOfVolume(w *World, _ int) {
	w.gone(snapshot.Secret, "agent-tls")
	w.change(w.restart)
	w.roll(w.spread(true), func(p *corev1.Pod) {
		waiting("ContainerCreating", "")(p)
		w.event(p, "FailedMount", `MountVolume.SetUp failed for volume "tls" : secret "agent-tls" not found`, 30)
	})
}

func secretOfVariable(w *World, _ int) {
	w.gone(snapshot.Secret, "agent-token")
	w.change(w.restart)
	w.roll(w.spread(true), waiting("CreateContainerConfigError", `secret "agent-token" not found`))
}

func missingKey(w *World, _ int) {
	w.change(func(t *corev1.PodTemplateSpec) {
		of := &corev1.EnvVarSource{
			ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: "agent-settings"},
				Key:                  "ratio",
			},
		}
		t.Spec.Containers[0].Env = append(t.Spec.Containers[0].Env, corev1.EnvVar{Name: "RATIO", ValueFrom: of})
	})
	w.roll(
		w.spread(true),
		waiting("CreateContainerConfigError", "couldn't find key ratio in ConfigMap kube-system/agent-settings"),
	)
}

func priorityClass(w *World, _ int) {
	w.change(func(t *corev1.PodTemplateSpec) { t.Spec.PriorityClassName = "agent-critical" })
	w.refuse(`pods "agent-" is forbidden: no PriorityClass with name agent-critical was found`)
}

func serviceAccount(w *World, _ int) {
	w.change(func(t *corev1.PodTemplateSpec) {
		t.Spec.ServiceAccountName, t.Spec.DeprecatedServiceAccount = "agent-v2", "agent-v2"
	})
	w.refuse(
		`pods "agent-" is forbidden: error looking up service account kube-system/agent-v2: ` +
			`serviceaccount "agent-v2" not found`,
	)
}

// pods returns the number of pods during a rejected rollout that first deletes as many pods as its
// limit allows.
func (w *World) pods() int {
	if w.surge {
		return len(w.Nodes)
	}
	return len(w.Nodes) - len(w.spread(true)[:w.limit])
}

func (w *World) quota(name string, of corev1.ResourceName, hard, used int64) {
	q := corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: name}}
	amount := func(n int64) corev1.ResourceList {
		if of == corev1.ResourceRequestsCPU {
			return corev1.ResourceList{of: *resource.NewMilliQuantity(n, resource.DecimalSI)}
		}
		return corev1.ResourceList{of: *resource.NewQuantity(n, resource.DecimalSI)}
	}
	q.Spec.Hard = amount(hard)
	q.Status.Hard, q.Status.Used = amount(hard), amount(used)
	w.Admission.ResourceQuotas = append(w.Admission.ResourceQuotas, q)
}

func quotaOfCPU(w *World, _ int) {
	each := int64(0)
	for _, c := range w.DaemonSet.Spec.Template.Spec.Containers {
		each += c.Resources.Requests.Cpu().MilliValue()
	}
	hard, used := int64(len(w.Nodes)+w.limit)*each, int64(w.pods())*each
	if w.mended {
		used = int64(len(w.Nodes)) * each
	}
	w.quota("compute", corev1.ResourceRequestsCPU, hard, used)
	w.change(func(t *corev1.PodTemplateSpec) {
		t.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("2")
	})
	sum := resource.NewMilliQuantity(2000+each-100, resource.DecimalSI).String()
	q := &w.Admission.ResourceQuotas[0].Status
	w.refuse(
		fmt.Sprintf(
			`pods "agent-" is forbidden: exceeded quota: compute, requested: requests.cpu=%s, `+
				`used: requests.cpu=%s, limited: requests.cpu=%s`,
			sum,
			amountOf(q.Used),
			amountOf(q.Hard),
		),
	)
}

func amountOf(l corev1.ResourceList) string {
	for _, q := range l {
		return q.String()
	}
	return ""
}

func quotaOfPods(w *World, _ int) {
	used := int64(w.pods()) + 7 // with pods of others
	hard := used
	if w.mended {
		used = int64(len(w.Nodes)) + 7
		hard = used + int64(w.limit)
	}
	w.quota("pods", corev1.ResourcePods, hard, used)
	w.change(w.restart)
	w.refuse(
		fmt.Sprintf(
			`pods "agent-" is forbidden: exceeded quota: pods, requested: pods=1, used: pods=%d, limited: pods=%d`,
			used,
			hard,
		),
	)
}

func injected(w *World, _ int) {
	w.change(w.restart)
	w.roll(w.spread(true), func(p *corev1.Pod) {
		p.Spec.Containers = append(
			p.Spec.Containers,
			corev1.Container{Name: "istio-proxy", Image: "docker.io/istio/proxyv2:1.29.0"},
		)
		p.Status.ContainerStatuses = append(
			p.Status.ContainerStatuses,
			corev1.ContainerStatus{Name: "istio-proxy", Image: "docker.io/istio/proxyv2:1.29.0"},
		)
		w.crashing("istio-proxy", 255)(p)
	})
}

func crashOfOne(w *World, _ int) {
	w.limitTo(1)
	w.change(w.restart)
	w.roll(w.order[:1], w.crashing("agent", 1))
}

// rolls starts a rollout with maxUnavailable 1 that ends at the node that is about to break, and
// reports whether it did. It does not with two breakers or with a surge.
func (w *World) rolls() bool {
	if w.paired || w.surge || w.chance(50) {
		return false
	}
	w.limitTo(1)
	w.change(w.restart)
	w.roll(nil, nil)
	return true
}

func deadNode(w *World, n int) {
	rolls, node, since := w.rolls(), w.own(n), w.ago(15*time.Minute)
	if w.mended {
		return
	}
	for i := range node.Status.Conditions {
		c := &node.Status.Conditions[i]
		c.Status, c.Reason, c.LastTransitionTime = corev1.ConditionUnknown, "NodeStatusUnknown", since
		c.Message = "Kubelet stopped posting node status."
		c.LastHeartbeatTime = w.ago(16 * time.Minute)
	}
	for _, effect := range []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute} {
		node.Spec.Taints = append(
			node.Spec.Taints,
			corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: effect, TimeAdded: &since},
		)
	}
	p := w.podOn(node.Name)
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == corev1.PodReady {
			c.Status, c.LastTransitionTime = corev1.ConditionFalse, since
		}
	}
	if rolls { // the controller deletes unavailable old pods immediately
		grace, by := int64(30), w.ago(14*time.Minute)
		p.DeletionGracePeriodSeconds, p.DeletionTimestamp = &grace, &by
	}
}

func fullDisk(w *World, n int) {
	w.rolls()
	node, since := w.own(n), w.ago(min(25*time.Minute, w.TakenAt.Sub(w.began)))
	p := w.again(node.Name, w.ago(4*time.Minute))
	if w.mended {
		return
	}
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type == corev1.NodeDiskPressure {
			c.Status, c.Reason, c.LastTransitionTime = corev1.ConditionTrue, "KubeletHasDiskPressure", since
		}
	}
	node.Spec.Taints = append(
		node.Spec.Taints,
		corev1.Taint{Key: corev1.TaintNodeDiskPressure, Effect: corev1.TaintEffectNoSchedule, TimeAdded: &since},
	)
	w.evicted("Pod was rejected: The node had condition: [DiskPressure]. ")(p)
}

func taint(w *World, n int) {
	node := w.own(n)
	if !w.mended {
		node.Spec.Taints = append(
			node.Spec.Taints,
			corev1.Taint{Key: "example.com/dedicated", Value: "batch", Effect: corev1.TaintEffectNoSchedule},
		)
	}
}
