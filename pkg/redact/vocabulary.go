package redact

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/managed"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/split"
)

// A vocabulary is a set of words that Kubernetes defines, not its users.
type vocabulary map[string]bool

func words(lists ...string) vocabulary {
	v := vocabulary{}
	for _, list := range lists {
		for _, word := range strings.Fields(list) {
			v[word] = true
		}
	}
	return v
}

func (v vocabulary) has(word string) bool { return v[word] }

// apiWords are the values of fields with a fixed set of values in the API.
var apiWords = sync.OnceValue(func() vocabulary {
	v := words(`
		Active Terminating Pending Running Succeeded Failed Unknown Terminated True False
		Always Never OnFailure IfNotPresent RollingUpdate OnDelete Apply Update FieldsV1
		ClusterFirst ClusterFirstWithHostNet Default None TCP UDP SCTP HTTP HTTPS HTTP1 HTTP2 Plaintext TLS
		In NotIn Exists DoesNotExist Gt Lt Equal NoSchedule PreferNoSchedule NoExecute
		DoNotSchedule ScheduleAnyway Honor Ignore Never PreemptLowerPriority
		BestEffort Burstable Guaranteed NotBestEffort NotTerminating CrossNamespacePodAffinity PriorityClass VolumeAttributesClass
		Container Pod PersistentVolumeClaim ReadOnlyMany ReadWriteMany ReadWriteOnce ReadWriteOncePod Block Filesystem
		BlockDevice CharDevice Directory DirectoryOrCreate File FileOrCreate Socket FallbackToLogsOnError Memory HugePages
		Bidirectional HostToContainer Disabled Enabled IfPossible NotRequired RestartContainer Restart RestartAllContainers
		Localhost RuntimeDefault Unconfined Unmasked OnRootMismatch Merge Strict MountOption Recursive
		linux windows AlwaysAllow IfHealthyBudget Deferred InProgress Infeasible Healthy Unhealthy Degraded DataLoss Inaccessible
		Hostname InternalIP ExternalIP InternalDNS ExternalDNS kubernetes
		ReadOnly ReadWrite Dedicated Managed Shared nodev noexec nosuid`,
		`SIGABRT SIGALRM SIGBUS SIGCHLD SIGCLD SIGCONT SIGFPE SIGHUP SIGILL SIGINT SIGIO SIGIOT SIGKILL SIGPIPE SIGPOLL SIGPROF SIGPWR SIGQUIT
		SIGRTMIN SIGRTMAX SIGSEGV SIGSTKFLT SIGSTOP SIGSYS SIGTERM SIGTRAP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGUSR1 SIGUSR2 SIGVTALRM SIGWINCH SIGXCPU SIGXFSZ`)
	for i := range 15 {
		v[fmt.Sprintf("SIGRTMIN+%d", i+1)], v[fmt.Sprintf("SIGRTMAX-%d", i+1)] = true, true
	}
	for _, w := range snapshot.Whats {
		v[string(w)] = true
	}
	for _, w := range []snapshot.Why{snapshot.Forbidden, snapshot.NotGiven, snapshot.Partial, snapshot.Failed,
		snapshot.Moved} {
		v[string(w)] = true
	}
	for _, w := range []snapshot.VersionSource{snapshot.VersionServer, snapshot.VersionFlag, snapshot.VersionDump,
		snapshot.VersionKubelet, snapshot.VersionDefault} {
		v[string(w)] = true
	}
	for _, k := range snapshot.HookKinds {
		v[string(k)] = true
	}
	for _, k := range snapshot.ReferredKinds {
		v[string(k)] = true
	}
	return v
})

// Kinds of objects, and the API versions that have them.
var (
	objectKinds = words(`
		DaemonSet ControllerRevision ReplicaSet Deployment StatefulSet Job CronJob ReplicationController
		Pod Node Namespace Event Service Secret ConfigMap ServiceAccount PersistentVolume PersistentVolumeClaim PodDisruptionBudget
		PriorityClass RuntimeClass ResourceQuota LimitRange Lease CSINode VolumeAttachment StorageClass Snapshot
		ValidatingWebhookConfiguration MutatingWebhookConfiguration ValidatingAdmissionPolicy MutatingAdmissionPolicy ValidatingAdmissionPolicyBinding MutatingAdmissionPolicyBinding`)
	apiVersions = words(`
		v1 apps/v1 batch/v1 policy/v1 node.k8s.io/v1 scheduling.k8s.io/v1 storage.k8s.io/v1 events.k8s.io/v1 coordination.k8s.io/v1 kubectl-ds/v1alpha1
		apps batch policy node.k8s.io scheduling.k8s.io storage.k8s.io snapshot.storage.k8s.io`)
)

// reasons are those that Kubernetes' programs set in events, conditions, pods
// and containers.
var reasons = words(`
	AlreadyMountedVolume BackOff ContainerGCFailed Created ErrImageNeverPull ExceededGracePeriod Failed FailedAttachVolume FailedDetachVolume FailedCreatePodContainer
	FailedCreatePodSandBox FailedKillPod FailedMapVolume FailedMount FailedUnMount FailedMountOnFilesystemMismatch FailedNodeAllocatableEnforcement FailedNodeDeclaredFeaturesCheck
	FailedPodSandBoxStatus FailedPostStartHook FailedPreStopHook FailedPrepareDynamicResources FailedSync FailedValidation FileSystemResizeFailed FileSystemResizeSuccessful
	FailedToRetrieveImagePullSecret FreeDiskSpaceFailed ImageGCFailed InspectFailed InvalidDiskCapacity InvalidImageID Killing KubeletSetupFailed NetworkNotReady NodeAllocatableEnforced
	NodeNotReady NodeNotSchedulable NodeReady NodeSchedulable NodeHasSufficientMemory NodeHasNoDiskPressure NodeHasSufficientPID NodeHasInsufficientMemory NodeHasDiskPressure NodeHasInsufficientPID
	PossibleMemoryBackedVolumesOnDisk Preempting Preempted ProbeWarning Pulled Pulling Rebooted ResizeCompleted ResizeDeferred ResizeError ResizeInfeasible ResizeStarted
	SandboxChanged Shutdown Started Starting SuccessfulAttachVolume SuccessfulMountVolume Unhealthy VolumePermissionChangeInProgress VolumeResizeFailed VolumeResizeSuccessful
	AppArmor ConfigPodSandboxError ContainersNotReady ContainersNotInitialized CrashLoopBackOff CreateContainerConfigError CreateContainerError CreatePodSandboxError EmptyPodSharedPoolError
	ErrImagePull Evicted ImageInspectError ImagePullBackOff InvalidImageName RegistryUnavailable SignatureValidationFailed KillContainerError KillPodSandboxError
	KubeletHasDiskPressure KubeletHasInsufficientMemory KubeletHasInsufficientPID KubeletHasNoDiskPressure KubeletHasSufficientDisk KubeletHasSufficientMemory KubeletHasSufficientPID
	KubeletReady KubeletNotReady NodeStatusUnknown NodeStatusNeverUpdated NodeShutdown PodLevelResourcesNotSupported PodSandboxNotReady PostStartHookError PreCreateHookError PreStartHookError
	RemoveContainerError ResizePodInPlaceError RestartAllContainers RunContainerError SysctlForbidden Terminated UnexpectedAdmissionError Unknown VolumeAttachmentLimitExceeded
	ContainerCreating PodInitializing Completed Error OOMKilled ContainerCannotRun DeadlineExceeded ContainerStatusUnknown StartError NotReady Ready
	Unschedulable SchedulingGated SchedulerError TerminationByKubelet PreemptionByScheduler DeletionByTaintManager DeletionByPodGC DeletionByDeviceTaintManager EvictionByEvictionAPI
	TaintManagerEviction TaintManagerEvictionCanceled NodeControllerEviction DeletingAllPods DeletingNode NodeLost RegisteredNode RemovingNode CordonStartFailed
	NodeAffinity NodeName NodePorts PodOSNotSupported PodOSSelectorNodeLabelDoesNotMatch OutOfcpu OutOfmemory OutOfpods OutOfephemeral-storage Outofcpu OutOfCpu OutOfMemory OutOfPods
	PodCompleted PodFailed ReadinessGatesNotReady GetPodStatusFailed Preemption
	Binding Scheduled Scheduling FailedScheduling FailedBinding WaitForFirstConsumer WaitForPodScheduled ProvisioningFailed ProvisioningSucceeded ExternalProvisioning
	FailedCreate FailedDelete FailedDaemonPod SucceededDaemonPod FailedPlacement SelectingAll SuccessfulCreate SuccessfulDelete
	ContentDeletionFailed DiscoveryFailed GroupVersionParsingFailed SomeFinalizersRemain SomeResourcesRemain`)

// conditions are the types of conditions that Kubernetes itself sets.
var conditions = words(`
	Ready DiskPressure MemoryPressure PIDPressure NetworkUnavailable DrainInProgress Drained GracefulNodeShutdownInProgress MaintenanceInProgress MaintenancePlanned
	PodScheduled Initialized ContainersReady PodReadyToStartContainers PodHasNetwork DisruptionTarget PodResizeInProgress PodResizePending AllContainersRestarting
	NamespaceContentRemaining NamespaceDeletionContentFailure NamespaceDeletionDiscoveryFailure NamespaceDeletionGroupVersionParsingFailure NamespaceFinalizersRemaining
	DisruptionAllowed`)

// components are the names of Kubernetes' programs and controllers in events
// and pods.
var components = words(`
	kubelet kube-scheduler default-scheduler kube-controller-manager daemonset-controller daemon-set-controller node-controller node-lifecycle-controller taint-eviction-controller
	attachdetach-controller persistentvolume-controller pod-garbage-collector kube-proxy kube-apiserver cloud-node-controller cloud-node-lifecycle-controller service-controller
	cluster-autoscaler karpenter descheduler`)

// managers are the field managers of Kubernetes' programs, and those that
// identify other tools.
var managers = sync.OnceValue(func() vocabulary {
	v := words(`
		kubectl kubectl-create kubectl-edit kubectl-rollout kubectl-replace kubectl-patch kubectl-set kubectl-label kubectl-annotate kubectl-scale kubectl-taint kubectl-run
		kubectl-client-side-apply before-first-apply kube-controller-manager kube-apiserver kube-scheduler kubelet
		k3s k3s-server rke2 k0s microk8s kubelite Go-http-client`)
	_, more := managed.Marks()
	for _, name := range more {
		v[name] = true
	}
	return v
})

// keys are the well-known keys of labels, annotations, taints, resources,
// conditions and finalizers.
var keys = sync.OnceValue(func() vocabulary {
	v := words(`
		metadata.name app k8s-app name component tier version release chart heritage pod-template-generation controller-revision-hash
		deprecated.daemonset.template.generation openshift.io/node-selector openshift.io/run-level openshift.io/required-scc openshift.io/scc
		app.kubernetes.io/name app.kubernetes.io/instance app.kubernetes.io/version app.kubernetes.io/component app.kubernetes.io/part-of app.kubernetes.io/managed-by helm.sh/chart
		kubernetes.io/hostname kubernetes.io/arch kubernetes.io/os beta.kubernetes.io/arch beta.kubernetes.io/os beta.kubernetes.io/instance-type
		kubernetes.io/metadata.name kubernetes.io/change-cause kubernetes.io/config.mirror kubernetes.io/enforce-mountable-secrets kubernetes.io/cluster-service kubernetes.io/role
		node.kubernetes.io/instance-type node.kubernetes.io/windows-build node.kubernetes.io/exclude-from-external-load-balancers node.kubernetes.io/exclude-disruption
		node.kubernetes.io/not-ready node.kubernetes.io/unreachable node.kubernetes.io/unschedulable node.kubernetes.io/memory-pressure node.kubernetes.io/disk-pressure node.kubernetes.io/pid-pressure
		node.kubernetes.io/network-unavailable node.kubernetes.io/out-of-service node.kubernetes.io/out-of-disk
		node.cloudprovider.kubernetes.io/uninitialized node.cloudprovider.kubernetes.io/shutdown
		node-role.kubernetes.io/control-plane node-role.kubernetes.io/master node-role.kubernetes.io/worker node-role.kubernetes.io/infra node-role.kubernetes.io/etcd
		node-role.kubernetes.io/node node-role.kubernetes.io/agent node-role.kubernetes.io/controlplane node-role.kubernetes.io/spot-worker
		topology.kubernetes.io/zone topology.kubernetes.io/region failure-domain.beta.kubernetes.io/zone failure-domain.beta.kubernetes.io/region
		kubectl.kubernetes.io/restartedAt kubectl.kubernetes.io/last-applied-configuration kubectl.kubernetes.io/default-container
		pod-security.kubernetes.io/enforce pod-security.kubernetes.io/enforce-version pod-security.kubernetes.io/audit pod-security.kubernetes.io/audit-version
		pod-security.kubernetes.io/warn pod-security.kubernetes.io/warn-version
		scheduler.alpha.kubernetes.io/node-selector scheduler.alpha.kubernetes.io/critical-pod scheduler.alpha.kubernetes.io/preferAvoidPods scheduler.alpha.kubernetes.io/tolerations
		scheduler.alpha.kubernetes.io/taints seccomp.security.alpha.kubernetes.io/pod cluster-autoscaler.kubernetes.io/safe-to-evict cluster-autoscaler.kubernetes.io/daemonset-pod
		cluster-autoscaler.kubernetes.io/enable-ds-eviction node.alpha.kubernetes.io/ttl volumes.kubernetes.io/controller-managed-attach-detach
		addonmanager.kubernetes.io/mode addon.kops.k8s.io/name karpenter.sh/capacity-type karpenter.sh/do-not-disrupt karpenter.sh/initialized karpenter.sh/registered
		eks.amazonaws.com/capacityType eks.amazonaws.com/compute-type cloud.google.com/gke-spot cloud.google.com/gke-preemptible
		kubernetes.azure.com/mode kubernetes.azure.com/scalesetpriority node-restriction.kubernetes.io node.openshift.io/os_id
		cpu memory storage ephemeral-storage pods services secrets configmaps persistentvolumeclaims replicationcontrollers resourcequotas services.nodeports services.loadbalancers
		foregroundDeletion orphan kubernetes.io/pv-protection kubernetes.io/pvc-protection batch.kubernetes.io/job-tracking
		requests. limits. nvidia.com/gpu amd.com/gpu
		count/pods count/services count/secrets count/configmaps count/persistentvolumeclaims count/replicationcontrollers count/resourcequotas
		count/deployments.apps count/replicasets.apps count/statefulsets.apps count/daemonsets.apps count/jobs.batch count/cronjobs.batch count/ingresses.networking.k8s.io`)
	labels, passing := split.Keys()
	_, telling := daemonset.TellingKeys()
	marks, _ := managed.Marks()
	injected := slices.Collect(maps.Keys(snapshot.PodAnnotations))
	for _, key := range slices.Concat(labels, passing, telling, marks, injected) {
		if !strings.HasSuffix(key, "/") && !strings.HasPrefix(key, "/") {
			v[key] = true
		}
	}
	for word := range conditions {
		v[word] = true
	}
	return v
})

// domains are public domains of keys and other names; they end with a slash.
var domains = sync.OnceValue(func() vocabulary {
	v := words(`
		kubernetes.io/ k8s.io/ node.kubernetes.io/ node-role.kubernetes.io/ node-restriction.kubernetes.io/ feature.node.kubernetes.io/ topology.kubernetes.io/
		x-k8s.io/ cluster.x-k8s.io/ kops.k8s.io/ csi.storage.k8s.io/ storage.k8s.io/ batch.kubernetes.io/ app.kubernetes.io/ kubectl.kubernetes.io/
		container.apparmor.security.beta.kubernetes.io/ container.seccomp.security.alpha.kubernetes.io/ deviceclass.resource.kubernetes.io/`)
	for key := range keys() {
		if head, _, qualified := strings.Cut(key, "/"); qualified {
			v[head+"/"] = true
		}
	}
	owned, telling := daemonset.TellingKeys()
	for _, domain := range owned {
		v[domain+"/"] = true
	}
	for _, key := range telling {
		if head, is := strings.CutSuffix(key, "/"); is {
			v[head+"/"] = true
		}
	}
	return v
})

// Well-known values of labels and taints: of any key, and of some keys.
var (
	values    = words(`true false`)
	platforms = words(`linux windows darwin amd64 arm64 arm 386 ppc64le s390x riscv64 loong64`)
	levels    = words(`privileged baseline restricted latest`)
	tools     = words(`Reconcile EnsureExists Helm`)

	// of snapshot.PodAnnotations; for OpenShift, its own
	// SecurityContextConstraints
	injections = words(`
		enabled disabled ingress injected update
		anyuid hostaccess hostmount-anyuid hostmount-anyuid-v2 hostnetwork hostnetwork-v2 nested-container nonroot nonroot-v2 privileged restricted restricted-v2 restricted-v3`)
)

// levelVersion matches the version of a Pod Security level.
var levelVersion = regexp.MustCompile(`^(latest|v1\.\d{1,3})$`)

// capabilities are the capabilities of Linux.
var capabilities = sync.OnceValue(func() vocabulary {
	v := words(`ALL`)
	for name := range words(`
		AUDIT_CONTROL AUDIT_READ AUDIT_WRITE BLOCK_SUSPEND BPF CHECKPOINT_RESTORE CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID IPC_LOCK IPC_OWNER KILL LEASE LINUX_IMMUTABLE
		MAC_ADMIN MAC_OVERRIDE MKNOD NET_ADMIN NET_BIND_SERVICE NET_BROADCAST NET_RAW PERFMON SETFCAP SETGID SETPCAP SETUID SYS_ADMIN SYS_BOOT SYS_CHROOT SYS_MODULE SYS_NICE
		SYS_PACCT SYS_PTRACE SYS_RAWIO SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG SYSLOG WAKE_ALARM`) {
		v[name], v["CAP_"+name] = true, true
	}
	return v
})

// sysctls are the ones that Pod Security allows.
var sysctls = words(`
	kernel.shm_rmid_forced net.ipv4.ip_local_port_range net.ipv4.tcp_syncookies net.ipv4.ping_group_range net.ipv4.ip_unprivileged_port_start net.ipv4.ip_local_reserved_ports
	net.ipv4.tcp_keepalive_time net.ipv4.tcp_fin_timeout net.ipv4.tcp_keepalive_intvl net.ipv4.tcp_keepalive_probes net.ipv4.tcp_rmem net.ipv4.tcp_wmem`)

// seLinuxTypes are the ones that Pod Security allows.
var seLinuxTypes = words(`container_t container_init_t container_kvm_t container_engine_t`)

// fieldPaths are the fields that a variable can refer to.
var fieldPaths = words(`
	metadata.name metadata.namespace metadata.uid metadata.labels metadata.annotations spec.nodeName spec.serviceAccountName
	status.hostIP status.hostIPs status.podIP status.podIPs`)

// defaulted are the values that the API server sets in fields of a template.
var defaulted = words(`/ /dev/termination-log default default-scheduler rbd admin /etc/ceph/keyring ext4 xfs ThinProvisioned`)

// versionWords are common words in versions of Kubernetes, kernels, container
// runtimes and operating systems.
var versionWords = words(`
	v rc alpha beta eks gke aks k s rke r build containerd docker cri o generic aws azure gcp gce oracle lowlatency realtime rt amzn el fc amd arm x linuxkit flatcar cos
	microsoft standard WSL mtl dirty GNU Linux Ubuntu LTS Debian CentOS Stream Fedora Red Hat Enterprise CoreOS OpenShift Rocky AlmaLinux Amazon Bottlerocket OS Container Optimized
	from by Google Flatcar Kinvolk Talos SUSE SLES openSUSE MicroOS Leap Server Alpine Photon VMware Mariner CBL Windows Datacenter K3OS RancherOS Oracle
	bookworm bullseye buster trixie jammy focal noble bionic`)

// plainTag matches the tag of an image that is only a version.
var plainTag = regexp.MustCompile(`^(latest|v?\d{1,8}(\.\d{1,8}){1,3})$`)

// addresses are the ones with the same meaning on every machine.
var addresses = words(`0.0.0.0 127.0.0.1 :: ::1`)

// isQuantity reports whether a text is an amount.
func isQuantity(text string) bool {
	_, err := resource.ParseQuantity(text)
	return err == nil
}
