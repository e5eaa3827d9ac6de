package snapshot

import (
	"encoding/json"
	"maps"
	"slices"
	"unicode/utf8"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The Strip functions remove, in place, the fields that no rule and no screen
// reads, so that 15,000 nodes with their pods need tens of megabytes. Readers
// call them on each page, before the objects are shared.

// StripNode keeps a node's name, labels, taints, conditions, who set one of
// Purposes, whether it is cordoned, its versions (of kubelet, kernel and
// container runtime), operating system and architecture, and its allocatable
// resources. Most of a Node's size is status.images, which is removed.
func StripNode(n *corev1.Node) {
	set := setPurposes(n)
	stripMeta(&n.ObjectMeta)
	n.ManagedFields = set
	n.Annotations = nil
	n.OwnerReferences = nil
	n.Spec = corev1.NodeSpec{Taints: n.Spec.Taints, Unschedulable: n.Spec.Unschedulable}
	n.Status = corev1.NodeStatus{
		Conditions:  n.Status.Conditions,
		Allocatable: n.Status.Allocatable,
		NodeInfo: corev1.NodeSystemInfo{
			KubeletVersion:          n.Status.NodeInfo.KubeletVersion,
			KernelVersion:           n.Status.NodeInfo.KernelVersion,
			ContainerRuntimeVersion: n.Status.NodeInfo.ContainerRuntimeVersion,
			OSImage:                 n.Status.NodeInfo.OSImage,
			OperatingSystem:         n.Status.NodeInfo.OperatingSystem,
			Architecture:            n.Status.NodeInfo.Architecture,
		},
	}
}

// StripPod keeps a pod's identity, owner, target node, node selector, readiness
// gates and grace period, the image, host ports and requests of each container,
// its status, and what else RowOf reads: the result of RowOf does not change.
// It removes the values of environment variables, which may be secret, and all
// annotations except PodAnnotations. From a bound pod it also removes what
// decides where it is bound: affinity, tolerations, and volumes with claims.
func StripPod(p *corev1.Pod) {
	stripMeta(&p.ObjectMeta)
	p.Annotations = knownAnnotations(p.Annotations)
	counted := resized(p)
	spec := corev1.PodSpec{
		NodeName:       p.Spec.NodeName,
		Containers:     StripContainers(p.Spec.Containers),
		InitContainers: StripContainers(p.Spec.InitContainers),

		TerminationGracePeriodSeconds: p.Spec.TerminationGracePeriodSeconds,

		Priority: p.Spec.Priority, PriorityClassName: p.Spec.PriorityClassName,
		PreemptionPolicy: p.Spec.PreemptionPolicy,
		SchedulerName:    p.Spec.SchedulerName, SchedulingGates: p.Spec.SchedulingGates, Overhead: p.Spec.Overhead,

		NodeSelector: p.Spec.NodeSelector, ReadinessGates: p.Spec.ReadinessGates,
	}
	if r := p.Spec.Resources; r != nil {
		spec.Resources = &corev1.ResourceRequirements{Requests: r.Requests}
	}
	if spec.NodeName == "" {
		spec.Tolerations, spec.Volumes = p.Spec.Tolerations, claimVolumes(p.Spec.Volumes)
		if a := p.Spec.Affinity; a != nil && a.NodeAffinity != nil &&
			a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
			spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
			}}
		}
	}
	p.Spec = spec
	p.Status = corev1.PodStatus{
		Phase:                 p.Status.Phase,
		Conditions:            p.Status.Conditions,
		Reason:                p.Status.Reason,
		Message:               p.Status.Message,
		StartTime:             p.Status.StartTime,
		NominatedNodeName:     p.Status.NominatedNodeName,
		InitContainerStatuses: p.Status.InitContainerStatuses,
		ContainerStatuses:     p.Status.ContainerStatuses,
		Resources:             p.Status.Resources,
		AllocatedResources:    p.Status.AllocatedResources,
	}
	if r := p.Status.Resources; r != nil {
		p.Status.Resources = &corev1.ResourceRequirements{Requests: r.Requests}
	}
	if !counted {
		p.Status.Resources, p.Status.AllocatedResources = nil, nil
	}
	for i := range p.Status.Conditions {
		p.Status.Conditions[i].LastProbeTime = metav1.Time{}
	}
	stripStatuses(p.Status.InitContainerStatuses, counted)
	stripStatuses(p.Status.ContainerStatuses, counted)
}

// LimitRanged is the annotation in which the API server records defaults that
// it took from a LimitRange.
const LimitRanged = "kubernetes.io/limit-ranger"

// longestAnnotation is the maximum number of bytes kept of an annotation's
// value.
const longestAnnotation = 80

// PodAnnotations maps the annotations that StripPod keeps to the maximum number
// of bytes of their value. They show who changed the pod when it was created.
var PodAnnotations = map[string]int{
	"sidecar.istio.io/status":                    0, // its value differs from pod to pod
	"linkerd.io/inject":                          longestAnnotation,
	"linkerd.io/proxy-version":                   longestAnnotation,
	"vault.hashicorp.com/agent-inject-status":    longestAnnotation,
	"consul.hashicorp.com/connect-inject-status": longestAnnotation,
	"openshift.io/scc":                           longestAnnotation,
	"dapr.io/enabled":                            longestAnnotation,
	LimitRanged:                                  4 * longestAnnotation,
}

// knownAnnotations returns the PodAnnotations of a pod: all itself if there are
// no others, or nil if there are none.
func knownAnnotations(all map[string]string) map[string]string {
	var out map[string]string
	same := len(all) > 0
	for key, value := range all {
		longest, kept := PodAnnotations[key]
		if !kept || len(value) > longest {
			same = false
		}
		if !kept {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[key] = Cut(value, longest)
	}
	if same {
		return all
	}
	return out
}

// Cut returns at most longest bytes of a text, without splitting a character.
func Cut[T ~string | ~[]byte](text T, longest int) T {
	if len(text) <= longest {
		return text
	}
	for longest > 0 && !utf8.RuneStart(text[longest]) {
		longest--
	}
	return text[:longest]
}

// claimVolumes returns the volumes that have PersistentVolumeClaims, with only the
// names of these.
func claimVolumes(all []corev1.Volume) (out []corev1.Volume) {
	for _, v := range all {
		is := corev1.Volume{Name: v.Name}
		if c := v.PersistentVolumeClaim; c != nil {
			is.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: c.ClaimName}
			out = append(out, is)
		} else if v.Ephemeral != nil {
			is.Ephemeral = &corev1.EphemeralVolumeSource{}
			out = append(out, is)
		}
	}
	return out
}

// resized reports whether a pod counts with other requests than those of its
// spec, because it is being resized in place. For all other pods the kubelet
// repeats the spec in the status, which takes more space than the rest of the
// pod.
func resized(p *corev1.Pod) bool {
	if statusRepeatsSpec(p) {
		return false
	}
	is := RequestsOf(p)
	asks := RequestsOf(&corev1.Pod{Spec: p.Spec, Status: corev1.PodStatus{Conditions: p.Status.Conditions}})
	return is.MilliCPU != asks.MilliCPU || is.Memory != asks.Memory || is.EphemeralStorage != asks.EphemeralStorage ||
		!maps.Equal(is.Scalar, asks.Scalar)
}

// statusRepeatsSpec reports whether the status of a pod has the same requests for each
// container as the spec, or none. For nearly all pods it does.
func statusRepeatsSpec(p *corev1.Pod) bool {
	if p.Spec.Resources != nil || p.Status.Resources != nil || p.Status.AllocatedResources != nil ||
		slices.ContainsFunc(p.Status.Conditions,
			func(c corev1.PodCondition) bool { return c.Type == corev1.PodResizePending }) {
		return false
	}
	for _, of := range []struct {
		containers []corev1.Container
		statuses   []corev1.ContainerStatus
	}{{p.Spec.InitContainers, p.Status.InitContainerStatuses}, {p.Spec.Containers, p.Status.ContainerStatuses}} {
		for i := range of.statuses {
			s := &of.statuses[i]
			at := slices.IndexFunc(of.containers, func(c corev1.Container) bool { return c.Name == s.Name })
			if at < 0 {
				return false
			}
			asks := of.containers[at].Resources.Requests
			if s.AllocatedResources != nil && !sameAmounts(s.AllocatedResources, asks) || s.Resources != nil &&
				!sameAmounts(s.Resources.Requests, asks) {
				return false
			}
		}
	}
	return true
}

func sameAmounts(a, b corev1.ResourceList) bool {
	return maps.EqualFunc(a, b, func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })
}

func stripStatuses(cs []corev1.ContainerStatus, counted bool) {
	for i, c := range cs {
		for _, t := range []*corev1.ContainerStateTerminated{c.State.Terminated, c.LastTerminationState.Terminated} {
			if t != nil {
				t.ContainerID = ""
			}
		}
		cs[i] = corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, Ready: c.Ready, Started: c.Started, RestartCount: c.RestartCount,
			State: c.State, LastTerminationState: c.LastTerminationState,
		}
		if counted {
			cs[i].AllocatedResources = c.AllocatedResources
			if c.Resources != nil {
				cs[i].Resources = &corev1.ResourceRequirements{Requests: c.Resources.Requests}
			}
		}
	}
}

// StripContainers returns the containers with only the fields that StripPod
// keeps; it returns cs itself if they have no others.
func StripContainers(cs []corev1.Container) []corev1.Container {
	if cs != nil && !slices.ContainsFunc(cs, func(c corev1.Container) bool { return !isStripped(&c) }) {
		return cs
	}
	out := make([]corev1.Container, len(cs))
	for i, c := range cs {
		out[i] = corev1.Container{Name: c.Name, Image: c.Image, RestartPolicy: c.RestartPolicy,
			Resources: corev1.ResourceRequirements{Requests: c.Resources.Requests}}
		for _, p := range c.Ports {
			if p.HostPort != 0 {
				out[i].Ports = append(out[i].Ports, corev1.ContainerPort{ContainerPort: p.ContainerPort,
					HostPort: p.HostPort, HostIP: p.HostIP, Protocol: p.Protocol})
			}
		}
	}
	return slices.Clip(out)
}

// isStripped reports whether a container has only the fields that StripPod
// keeps.
func isStripped(c *corev1.Container) bool {
	return c.Command == nil && c.Args == nil && c.WorkingDir == "" && c.EnvFrom == nil && c.Env == nil &&
		c.Resources.Limits == nil && c.Resources.Claims == nil &&
		c.ResizePolicy == nil && c.RestartPolicyRules == nil && c.VolumeMounts == nil && c.VolumeDevices == nil &&
		c.LivenessProbe == nil && c.ReadinessProbe == nil &&
		c.StartupProbe == nil && c.Lifecycle == nil && c.TerminationMessagePath == "" &&
		c.TerminationMessagePolicy == "" && c.ImagePullPolicy == "" &&
		c.SecurityContext == nil && !c.Stdin && !c.StdinOnce && !c.TTY &&
		!slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.HostPort == 0 || p.Name != "" })
}

// StripRevision removes the managed fields of a revision. It keeps the entries
// that own the number, without their fields, because they say when it was set.
func StripRevision(r *appsv1.ControllerRevision) {
	var numbered []metav1.ManagedFieldsEntry
	for _, m := range r.ManagedFields {
		if m.FieldsV1 == nil { // stripped before
			numbered = append(numbered, m)
			continue
		}
		var owned map[string]any
		if json.Unmarshal(m.FieldsV1.GetRawBytes(), &owned) == nil && owned["f:revision"] != nil {
			numbered = append(numbered, metav1.ManagedFieldsEntry{Manager: m.Manager, Operation: m.Operation,
				APIVersion: m.APIVersion, Time: m.Time})
		}
	}
	stripMeta(&r.ObjectMeta)
	r.ManagedFields = numbered
}

// StripEvent removes the managed fields of an event.
func StripEvent(e *corev1.Event) { stripMeta(&e.ObjectMeta) }

// StripPodDisruptionBudget keeps the name, labels and spec of a
// PodDisruptionBudget. A rollout does not use its status.
func StripPodDisruptionBudget(b *policyv1.PodDisruptionBudget) {
	stripMeta(&b.ObjectMeta)
	b.Annotations = nil
	b.Status = policyv1.PodDisruptionBudgetStatus{}
}

// StripNamespace keeps the name and labels of a Namespace, whether it is being
// deleted, and the annotations that select nodes for its pods.
func StripNamespace(n *corev1.Namespace) {
	labels, annotations := n.Labels, n.Annotations
	stripToName(&n.ObjectMeta)
	n.Labels, n.Spec, n.Status = labels, corev1.NamespaceSpec{}, corev1.NamespaceStatus{Phase: n.Status.Phase}
	for _, key := range nodeSelectorAnnotations {
		if value, has := annotations[key]; has {
			metav1.SetMetaDataAnnotation(&n.ObjectMeta, key, value)
		}
	}
}

// StripPriorityClass keeps the name, value and preemption policy of a
// PriorityClass, and whether it is the default.
func StripPriorityClass(c *schedulingv1.PriorityClass) {
	stripToName(&c.ObjectMeta)
	c.Description = ""
}

// StripRuntimeClass keeps the name, handler, overhead and scheduling of a
// RuntimeClass.
func StripRuntimeClass(c *nodev1.RuntimeClass) { stripToName(&c.ObjectMeta) }

// EnforceSecrets is the annotation of a ServiceAccount that restricts its pods
// to the Secrets that it lists.
const EnforceSecrets = "kubernetes.io/enforce-mountable-secrets"

// StripServiceAccount keeps the name of a ServiceAccount, the names of its
// imagePullSecrets, and whether its token is mounted. If it has the annotation
// EnforceSecrets, that and the names of its Secrets are kept too.
func StripServiceAccount(a *corev1.ServiceAccount) {
	enforced, has := a.Annotations[EnforceSecrets]
	stripToName(&a.ObjectMeta)
	if !has {
		a.Secrets = nil
		return
	}
	a.Annotations = map[string]string{EnforceSecrets: enforced}
	for i := range a.Secrets {
		a.Secrets[i] = corev1.ObjectReference{Name: a.Secrets[i].Name}
	}
}

// StripResourceQuota keeps the name, spec and status of a ResourceQuota.
func StripResourceQuota(q *corev1.ResourceQuota) { stripToName(&q.ObjectMeta) }

// StripLimitRange keeps the name and spec of a LimitRange.
func StripLimitRange(l *corev1.LimitRange) { stripToName(&l.ObjectMeta) }

// stripToName keeps what identifies an object, and when it was created and
// deleted.
func stripToName(m *metav1.ObjectMeta) {
	*m = metav1.ObjectMeta{
		Name: m.Name, Namespace: m.Namespace, UID: m.UID, ResourceVersion: m.ResourceVersion,
		CreationTimestamp: m.CreationTimestamp, DeletionTimestamp: m.DeletionTimestamp,
	}
}

func stripMeta(m *metav1.ObjectMeta) {
	m.ManagedFields = nil
	m.GenerateName = ""
}
