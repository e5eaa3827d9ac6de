package large

import (
	"crypto/sha256"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// began is when the kubelets and the pods started, in the past like in a cluster of this size.
var began = time.Date(2026, 11, 1, 6, 0, 0, 0, time.UTC)

// digest returns a fake digest.
func digest(of string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(of))) }

func image(name, tag string) string { return "registry.example.com/platform/" + name + ":" + tag }

func quantities(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

// node returns a node of 18 KB, as described by its kubelet, the cloud, and CNI and CSI plugins.
func node(name string, i int) *corev1.Node {
	zone := fmt.Sprintf("eu-west-1%c", 'a'+i%3)
	instance := []string{"m6i.4xlarge", "m6i.8xlarge", "r6i.4xlarge", "g5.4xlarge"}[i%16/4]
	pool := []string{"general", "general", "memory", "gpu"}[i%16/4]
	start := metav1.NewTime(began.Add(time.Duration(i%100_000) * time.Second))
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name,
			Labels: map[string]string{
				"kubernetes.io/hostname": name, "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", "beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/os": "linux",
				"node.kubernetes.io/instance-type": instance, "beta.kubernetes.io/instance-type": instance,
				"topology.kubernetes.io/region": "eu-west-1", "topology.kubernetes.io/zone": zone, "failure-domain.beta.kubernetes.io/zone": zone, "failure-domain.beta.kubernetes.io/region": "eu-west-1",
				"topology.k8s.aws/zone-id": "euw1-az" + fmt.Sprint(1+i%3), "topology.ebs.csi.aws.com/zone": zone,
				"example.com/pool": pool, "example.com/capacity-type": []string{"on-demand", "spot"}[i%2], "example.com/image-id": "ami-" + digest(pool)[:17],
			},
			Annotations: map[string]string{
				"csi.volume.kubernetes.io/nodeid":                        `{"ebs.csi.aws.com":"i-` + digest(name)[:17] + `","efs.csi.aws.com":"i-` + digest(name)[:17] + `"}`,
				"node.alpha.kubernetes.io/ttl":                           "0",
				"volumes.kubernetes.io/controller-managed-attach-detach": "true",
				"alpha.kubernetes.io/provided-node-ip":                   address(10, i),
				"network.example.com/ipv4-pod-cidr":                      network(i),
				"network.example.com/ipv4-health-ip":                     address(100, i),
				"example.com/provisioner-hash":                           digest(pool)[:20],
			},
		},
		Spec: corev1.NodeSpec{
			ProviderID: "aws:///" + zone + "/i-" + digest(name)[:17], PodCIDR: network(i), PodCIDRs: []string{network(i)},
		},
		Status: corev1.NodeStatus{
			Capacity:    quantities("cpu", "16", "memory", "64881664Ki", "ephemeral-storage", "83873772Ki", "hugepages-1Gi", "0", "hugepages-2Mi", "0", "pods", "234"),
			Allocatable: quantities("cpu", "15890m", "memory", "61961216Ki", "ephemeral-storage", "76224326324", "hugepages-1Gi", "0", "hugepages-2Mi", "0", "pods", "234"),
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: address(10, i)}, {Type: corev1.NodeInternalDNS, Address: name}, {Type: corev1.NodeHostName, Address: name},
			},
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: 10250}},
			NodeInfo: corev1.NodeSystemInfo{
				MachineID: digest("machine" + name)[:32], SystemUUID: digest("system" + name)[:36], BootID: digest("boot" + name)[:36],
				KernelVersion: "6.1.141-155.222.amzn2023.x86_64", OSImage: "Amazon Linux 2023.8.20250721", ContainerRuntimeVersion: "containerd://1.7.27",
				KubeletVersion: "v1.36.3", OperatingSystem: "linux", Architecture: "amd64",
			},
			RuntimeHandlers: []corev1.NodeRuntimeHandler{{Name: ""}, {Name: "runc"}},
			Features:        &corev1.NodeFeatures{},
		},
	}
	if pool == "gpu" {
		n.Labels["nvidia.com/gpu.present"] = "true"
		n.Spec.Taints = []corev1.Taint{{Key: "nvidia.com/gpu", Value: "present", Effect: corev1.TaintEffectNoSchedule}}
	}
	if i%50 == 49 {
		n.Spec.Unschedulable = true
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	}
	for _, c := range []struct{ kind, status, reason, message string }{
		{"MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"},
		{"DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
		{"PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"},
		{"KernelDeadlock", "False", "KernelHasNoDeadlock", "kernel has no deadlock"},
		{"ReadonlyFilesystem", "False", "FilesystemIsNotReadOnly", "Filesystem is not read-only"},
		{"Ready", "True", "KubeletReady", "kubelet is posting ready status"},
	} {
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{
			Type: corev1.NodeConditionType(c.kind), Status: corev1.ConditionStatus(c.status), Reason: c.reason, Message: c.message,
			LastHeartbeatTime: metav1.NewTime(began.Add(time.Duration(i%300) * time.Second)), LastTransitionTime: start,
		})
	}
	// Nodes share most images, in different orders, the largest first.
	for k := range 50 {
		which := (i%7*13 + k) % 90
		name := fmt.Sprintf("registry.example.com/team-%02d/service-%02d", which%20, which)
		n.Status.Images = append(n.Status.Images, corev1.ContainerImage{
			Names:     []string{name + "@sha256:" + digest(name), fmt.Sprintf("%s:v1.%d.%d", name, which%12, which%7)},
			SizeBytes: int64(900_000_000 - k*17_000_000),
		})
	}
	return n
}

func address(first, i int) string {
	return fmt.Sprintf("%d.%d.%d.%d", first, i/65536, i/256%256, i%256)
}

// daemonSet returns a realistic agent: two containers and an init container, host paths, probes and
// variables.
func daemonSet(namespace, name, tag string) *appsv1.DaemonSet {
	ds := stage.NewDaemonSet(namespace, name, image(name, tag))
	ds.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{
		Type: appsv1.RollingUpdateDaemonSetStrategyType, RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: new(intstr.FromString("5%"))},
	}
	spec := &ds.Spec.Template.Spec
	ds.Spec.Template.Annotations = map[string]string{"prometheus.io/scrape": "true", "prometheus.io/port": "9402", "checksum/config": digest(name)}
	ds.Spec.Template.Labels["app.kubernetes.io/part-of"] = "platform"
	spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	spec.PriorityClassName, spec.ServiceAccountName = "system-node-critical", name
	spec.TerminationGracePeriodSeconds = new(int64(30))
	env := func(key, path string) corev1.EnvVar {
		return corev1.EnvVar{Name: key, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
	}
	probe := &corev1.Probe{
		ProbeHandler:        corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(9402)}},
		InitialDelaySeconds: 5, PeriodSeconds: 10, TimeoutSeconds: 3, FailureThreshold: 5,
	}
	mounts := []corev1.VolumeMount{
		{Name: "config", MountPath: "/etc/agent"}, {Name: "run", MountPath: "/var/run/agent"}, {Name: "logs", MountPath: "/var/log", ReadOnly: true},
		{Name: "cgroup", MountPath: "/sys/fs/cgroup", ReadOnly: true}, {Name: "tmp", MountPath: "/tmp"},
	}
	agent := &spec.Containers[0]
	agent.Args = []string{"--config=/etc/agent/config.yaml", "--node=$(NODE_NAME)", "--log-level=info", "--metrics-address=:9402"}
	agent.Env = []corev1.EnvVar{
		env("NODE_NAME", "spec.nodeName"), env("POD_NAME", "metadata.name"), env("POD_NAMESPACE", "metadata.namespace"), env("HOST_IP", "status.hostIP"),
		{Name: "CLUSTER_NAME", Value: "production-eu-west-1"}, {Name: "GOMEMLIMIT", Value: "180MiB"},
		{Name: "API_KEY", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: "api-key"}}},
	}
	agent.Resources = corev1.ResourceRequirements{Requests: quantities("cpu", "100m", "memory", "200Mi"), Limits: quantities("memory", "200Mi")}
	agent.LivenessProbe, agent.ReadinessProbe, agent.VolumeMounts = probe, probe, mounts
	agent.SecurityContext = &corev1.SecurityContext{Privileged: new(true), ReadOnlyRootFilesystem: new(true)}
	spec.Containers = append(spec.Containers, corev1.Container{
		Name: "proxy", Image: image("metrics-proxy", "v0.14.1"), Args: []string{"--upstream=http://127.0.0.1:9402/", "--secure-listen-address=:9443"},
		Ports: []corev1.ContainerPort{{Name: "metrics", ContainerPort: 9443}}, Resources: corev1.ResourceRequirements{Requests: quantities("cpu", "10m", "memory", "24Mi")},
		VolumeMounts: mounts[4:],
	})
	spec.InitContainers = []corev1.Container{{Name: "sysctl", Image: image("busybox", "1.37"), Command: []string{"sh", "-c", "sysctl -w fs.inotify.max_user_watches=524288"}, VolumeMounts: mounts[4:]}}
	path := func(name, path string) corev1.Volume {
		return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path}}}
	}
	spec.Volumes = []corev1.Volume{
		{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}}},
		path("run", "/var/run/agent"), path("logs", "/var/log"), path("cgroup", "/sys/fs/cgroup"), {Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
	}
	return ds
}

// podOf returns the pod of a DaemonSet on a node as its controller creates it, with the token that
// the API server adds and the status that its kubelet writes.
func podOf(ds *appsv1.DaemonSet, node, hash, tag string, i int) *corev1.Pod {
	template := ds.Spec.Template.DeepCopy()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: ds.Namespace, Name: ds.Name + "-" + suffix(i), GenerateName: ds.Name + "-", Labels: template.Labels, Annotations: template.Annotations,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(ds, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))},
		},
		Spec: template.Spec,
	}
	pod.Labels[appsv1.ControllerRevisionHashLabelKey], pod.Labels["pod-template-generation"] = hash, fmt.Sprint(ds.Generation)
	pod.Spec.Containers[0].Image = image(ds.Name, tag)
	pod.Spec.NodeName = node
	pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}}}},
	}}}
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute})
	}
	for _, key := range []string{corev1.TaintNodeDiskPressure, corev1.TaintNodeMemoryPressure, corev1.TaintNodePIDPressure, corev1.TaintNodeUnschedulable} {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule})
	}
	withToken(pod, i)
	pod.Status = running(pod, i)
	return pod
}

// suffix returns five characters that are unique for numbers below 20 million.
func suffix(i int) string {
	const alphabet = "bcdfghjklmnpqrstvwxz2456789"
	out := make([]byte, 5)
	for k := range out {
		out[k] = alphabet[i%len(alphabet)]
		i /= len(alphabet)
	}
	return string(out)
}

// withToken adds the volume that the admission plugin ServiceAccount adds.
func withToken(pod *corev1.Pod, i int) {
	volume := corev1.Volume{Name: "kube-api-access-" + suffix(i*31), VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		DefaultMode: new(int32(420)),
		Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: new(int64(3607)), Path: "token"}},
			{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"}, Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}}}},
			{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"}}}}},
		},
	}}}
	pod.Spec.Volumes = append(pod.Spec.Volumes, volume)
	for _, all := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for k := range all {
			all[k].VolumeMounts = append(all[k].VolumeMounts, corev1.VolumeMount{Name: volume.Name, ReadOnly: true, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"})
		}
	}
}

// running returns the status of a pod that has been running since shortly after its creation.
func running(pod *corev1.Pod, i int) corev1.PodStatus {
	since := metav1.NewTime(began.Add(time.Duration(i%500_000) * time.Second))
	s := corev1.PodStatus{
		Phase: corev1.PodRunning, QOSClass: corev1.PodQOSBurstable, StartTime: &since, HostIP: address(10, i), HostIPs: []corev1.HostIP{{IP: address(10, i)}},
		PodIP: address(100, i), PodIPs: []corev1.PodIP{{IP: address(100, i)}}, ObservedGeneration: 1,
	}
	for _, kind := range []corev1.PodConditionType{"PodReadyToStartContainers", corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled} {
		s.Conditions = append(s.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: since, ObservedGeneration: 1})
	}
	status := func(c corev1.Container) corev1.ContainerStatus {
		return corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, ImageID: c.Image + "@sha256:" + digest(c.Image), ContainerID: "containerd://" + digest(pod.Name+c.Name),
			Ready: true, Started: new(true), AllocatedResources: c.Resources.Requests, Resources: &c.Resources,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: since}},
		}
	}
	for _, c := range pod.Spec.Containers {
		is := status(c)
		for _, m := range c.VolumeMounts {
			is.VolumeMounts = append(is.VolumeMounts, corev1.VolumeMountStatus{Name: m.Name, MountPath: m.MountPath, ReadOnly: m.ReadOnly})
		}
		s.ContainerStatuses = append(s.ContainerStatuses, is)
	}
	for _, c := range pod.Spec.InitContainers {
		is := status(c)
		is.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: since, FinishedAt: since, ContainerID: is.ContainerID}}
		s.InitContainerStatuses = append(s.InitContainerStatuses, is)
	}
	return s
}

// crash makes the first container of a status crash.
func crash(s *corev1.PodStatus) {
	for i := range s.Conditions {
		if c := &s.Conditions[i]; c.Type == corev1.PodReady || c.Type == corev1.ContainersReady {
			c.Status, c.Reason, c.Message = corev1.ConditionFalse, "ContainersNotReady", "containers with unready status: ["+s.ContainerStatuses[0].Name+"]"
		}
	}
	c := &s.ContainerStatuses[0]
	c.Ready, c.Started, c.RestartCount = false, new(false), 12
	c.LastTerminationState = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", StartedAt: *s.StartTime, FinishedAt: *s.StartTime, ContainerID: c.ContainerID}}
	c.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 5m0s restarting failed container=" + c.Name}}
}

// workload returns a pod of a Deployment.
func workload(namespace, node string, i int) *corev1.Pod {
	name := fmt.Sprintf("service-%03d", i%400)
	hash := digest(name)[:10]
	ds := daemonSet(namespace, name, "v2.3.1")
	pod := podOf(ds, node, hash, "v2.3.1", i)
	pod.Name, pod.GenerateName = name+"-"+hash+"-"+suffix(i), name+"-"+hash+"-"
	delete(pod.Labels, appsv1.ControllerRevisionHashLabelKey)
	delete(pod.Labels, "pod-template-generation")
	pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey] = hash
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name + "-" + hash, UID: "7f0e1e84-0b2c-4f9f-9f5e-2c1d3b4a5e6f", Controller: new(true), BlockOwnerDeletion: new(true)}}
	pod.Spec.Affinity, pod.Spec.PriorityClassName, pod.Spec.Tolerations = nil, "", nil
	return pod
}

// network returns the network of the pods of a node.
func network(i int) string { return fmt.Sprintf("100.%d.%d.0/24", i/256, i%256) }

// uid returns a fake UID for the i-th object of a kind.
func uid(kind string, i int) types.UID {
	d := digest(fmt.Sprint(kind, i))
	return types.UID(d[:8] + "-" + d[8:12] + "-4" + d[13:16] + "-8" + d[17:20] + "-" + d[20:32])
}
