package admission

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestRefusals(t *testing.T) {
	long := strings.Repeat(strings.Repeat("a", 61)+".", 3) + strings.Repeat("a", 61) // a domain that leaves no room for a prefix
	for _, tt := range []struct{ why, ns, pod, version, want string }{
		{
			"nothing rejects a plain pod in a plain namespace", "ns", "c", "", `
			passes -1
			assumed DefaultPodSecurity`,
		},
		{
			"a namespace that was read and is not there does not exist", "", "c", "", `
			NamespaceLifecycle NamespaceNotFound ns
			   CreateNamespace ns
			passes 0`,
		},
		{
			"one that could not be read may exist, with a level", "no namespaces", "c", "", `
			passes -1
			unknown NamespaceLifecycle namespaces
			unknown PodSecurity namespaces`,
		},
		{
			"nothing is created in a namespace that goes, and no change helps", "ns terminating", "c", "", `
			NamespaceLifecycle NamespaceTerminating ns
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"the level of the namespace, at the server's version", "ns baseline", "c; hostNetwork; hostPath", "", `
			PodSecurity PodSecurityViolated ns baseline latest [host namespaces hostNetwork=true] [hostPath volumes volume "logs"]
			   SetLevel ns privileged
			passes 0
			assumed NoPodSecurityExemption`,
		},
		{
			"what only restricted forbids baseline admits", "ns restricted v1.7", "c", "", `
			PodSecurity PodSecurityViolated ns restricted v1.7 [runAsNonRoot != true pod or container "c" must set securityContext.runAsNonRoot=true]
			   SetLevel ns baseline
			passes 0
			assumed NoPodSecurityExemption`,
		},
		{
			"an invalid level is restricted, an invalid version the latest: here that of v1.7", "ns lenient 1.2", "c", "v1.23.0", `
			PodSecurity PodSecurityViolated ns restricted latest [allowPrivilegeEscalation != false container "c" must set securityContext.allowPrivilegeEscalation=false] [unrestricted capabilities container "c" must set securityContext.capabilities.drop=["ALL"]] [runAsNonRoot != true pod or container "c" must set securityContext.runAsNonRoot=true] [seccompProfile pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"]
			   SetLevel ns baseline
			passes 0
			assumed NoPodSecurityExemption`,
		},
		{
			"the latest level of v1.33 admits what that of v1.34 forbids", "ns baseline", "c; probe 10.0.0.1", "v1.33.2", `
			passes -1`,
		},
		{
			"that of v1.34", "ns baseline", "c; probe 10.0.0.1", "v1.34.0", `
			PodSecurity PodSecurityViolated ns baseline latest [probe or lifecycle host container "c" uses probe or lifecycle host "10.0.0.1"]
			   SetLevel ns privileged
			passes 0
			assumed NoPodSecurityExemption`,
		},
		{
			"that of the newest, too", "ns baseline v1.99", "c; probe 10.0.0.1", "", `
			PodSecurity PodSecurityViolated ns baseline v1.99 [probe or lifecycle host container "c" uses probe or lifecycle host "10.0.0.1"]
			   SetLevel ns privileged
			passes 0
			assumed NoPodSecurityExemption`,
		},
		{
			"a level to warn rejects nothing", "ns privileged; warn restricted", "c; privileged", "", `
			passes -1`,
		},
		{
			"v1.22 enforced nothing", "ns restricted", "c; privileged", "v1.22.17", `
			passes -1`,
		},
		{
			"the ports of a pod on the host's network are the host's", "ns baseline", "c; hostNetwork; port 80", "", `
			PodSecurity PodSecurityViolated ns baseline latest [host namespaces hostNetwork=true] [hostPort container "c" uses hostPort 80]
			   SetLevel ns privileged
			passes 0
			assumed NoPodSecurityExemption`,
		},
		{
			"an annotation for AppArmor is a field too", "ns baseline", "c; apparmor unconfined", "", `
			PodSecurity PodSecurityViolated ns baseline latest [forbidden AppArmor profiles container "c" and annotation must not set AppArmor profile type to "Unconfined", "container.apparmor.security.beta.kubernetes.io/c="unconfined""]
			   SetLevel ns privileged
			passes 0
			assumed NoPodSecurityExemption`,
		},
		{
			"each class and account that the template names must exist, in the order of the plugins", "ns", "account=a; priority=p; runtime=r", "", `
			ServiceAccount ServiceAccountNotFound a
			   CreateServiceAccount a
			Priority PriorityClassNotFound p
			   CreatePriorityClass p
			RuntimeClass RuntimeClassNotFound r
			   CreateRuntimeClass r
			   RemoveField runtimeClassName
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"what could not be read is not missing", "ns; no serviceaccounts; no priorityclasses; no runtimeclasses; no limitranges; no resourcequotas", "account=a; priority=p; runtime=r", "", `
			passes -1
			unknown ServiceAccount serviceaccounts
			unknown Priority priorityclasses
			unknown RuntimeClass runtimeclasses
			unknown LimitRanger limitranges
			unknown ResourceQuota resourcequotas
			assumed DefaultPodSecurity`,
		},
		{
			"the two classes of the system are known without reading", "ns; no priorityclasses", "priority=system-node-critical", "", `
			passes -1
			assumed DefaultPodSecurity`,
		},
		{
			"a priority must be that of the class", "ns; priority high 1000", "priority=high; value=7", "", `
			Priority PriorityDiffers high priority 7 1000
			   RemoveField priority
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"without a class it must be 0", "ns", "value=7", "", `
			Priority PriorityDiffers priority 7 0
			   RemoveField priority
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"so must the policy be that of the class", "ns; priority late 5 never", "priority=late; preempt=PreemptLowerPriority", "", `
			Priority PreemptionPolicyDiffers late preemptionPolicy PreemptLowerPriority Never
			   RemoveField preemptionPolicy
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"an overhead of another amount", "ns; runtime vm overhead cpu=250m", "runtime=vm; overhead cpu=1", "", `
			RuntimeClass OverheadDiffers vm overhead cpu=1 cpu=250m
			   RemoveField overhead
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"an overhead that no class sets is found after the level", "ns baseline; runtime plain", "runtime=plain; overhead cpu=1; hostNetwork", "", `
			PodSecurity PodSecurityViolated ns baseline latest [host namespaces hostNetwork=true]
			   SetLevel ns privileged
			RuntimeClass OverheadWithoutClass plain overhead cpu=1
			   RemoveField overhead
			passes 0
			assumed NoPodSecurityExemption`,
		},
		{
			"template and class want different nodes", "ns; runtime vm select=disk:ssd", "runtime=vm; select=disk:hdd", "", `
			RuntimeClass NodeSelectorConflicts vm nodeSelector[disk] hdd ssd
			   RemoveField nodeSelector[disk]
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"the first of several, by name", "ns; runtime vm select=f:1 select=e:1 select=d:1 select=c:1 select=b:1 select=a:1", "runtime=vm; select=a:2; select=b:2; select=c:2; select=d:2; select=e:2; select=f:2", "", `
			RuntimeClass NodeSelectorConflicts vm nodeSelector[a] 2 1
			   RemoveField nodeSelector[a]
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"amounts are named in the order of their names", "ns; runtime vm overhead cpu=1 memory=1 example.com/a=1 example.com/b=1 example.com/c=1", "runtime=vm; overhead cpu=2 memory=1 example.com/a=1 example.com/b=1 example.com/c=1", "", `
			RuntimeClass OverheadDiffers vm overhead cpu=2,example.com/a=1,example.com/b=1,example.com/c=1,memory=1 cpu=1,example.com/a=1,example.com/b=1,example.com/c=1,memory=1
			   RemoveField overhead
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"a ServiceAccount that lists its Secrets", "ns; account strict strict=known", "account=strict; secret known; secret other", "", `
			ServiceAccount SecretNotAllowed strict volumes[1].secret.secretName other
			   ListSecret strict other
			   RemoveField volumes[1].secret.secretName
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"a variable, of a container that inits or not", "ns; account strict strict=known", "account=strict; a; env known; b; env other; env third", "", `
			ServiceAccount SecretNotAllowed strict containers[1].env[2].valueFrom.secretKeyRef.name other
			   ListSecret strict other
			   RemoveField containers[1].env[2].valueFrom.secretKeyRef.name
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"all variables of a Secret", "ns; account strict strict=known", "account=strict; a; envFrom known; envFrom other; envFrom third", "", `
			ServiceAccount SecretNotAllowed strict containers[0].envFrom[3].secretRef.name other
			   ListSecret strict other
			   RemoveField containers[0].envFrom[3].secretRef.name
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"a Secret for pulling must be one of the ServiceAccount's for pulling", "ns; account strict strict=x pull=a", "account=strict; pull=a; pull=x; pull=y", "", `
			ServiceAccount SecretNotAllowed strict imagePullSecrets[1].name x
			   ListSecret strict x
			   RemoveField imagePullSecrets[1].name
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"only the first Secret is named, in the order volumes, variables, pulling", "ns; account strict strict=known", "account=strict; a; env other; envFrom other; secret s; secret t; pull=p", "", `
			ServiceAccount SecretNotAllowed strict volumes[0].secret.secretName s
			   ListSecret strict s
			   RemoveField volumes[0].secret.secretName
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"a ServiceAccount that does not enforce it", "ns; account lax lax=known", "account=lax; secret other", "", `
			passes -1
			assumed DefaultPodSecurity`,
		},
		{
			"and one whose annotation says nothing", "ns; account odd odd=known", "account=odd; secret other", "", `
			passes -1
			assumed DefaultPodSecurity`,
		},
		{
			"devices by default are limited or invalid", "ns; range r Container min example.com/gpu=1", "c", "", `
			Validation PodInvalid [NoLimit spec.containers[0].resources.limits c example.com/gpu 1]
			   SetLimit c example.com/gpu 1
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"the template needs cpu or memory with hugepages, although a LimitRange gives the pod some", "ns; range r Container min hugepages-2Mi=2Mi memory=1", "a; b cpu=1", "", `
			Validation PodInvalid [NoLimit spec.containers[0].resources.limits a hugepages-2Mi 2Mi] [NoLimit spec.containers[1].resources.limits b hugepages-2Mi 2Mi]
			   SetLimit a hugepages-2Mi 2Mi
			   SetRequest a memory
			   SetLimit b hugepages-2Mi 2Mi
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"what the containers request by default is above the limit of the pod, too", "ns; range r Container request cpu=2", "all cpu=1/2; a; b", "", `
			Validation PodInvalid [PodBelowContainers spec.resources.requests[cpu] cpu 1 4]
			   SetRequest cpu 4
			   SetLimit cpu 4
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"a request that is not the limit, of what cannot be overcommitted", "ns; range r Container default example.com/gpu=2 request example.com/gpu=1", "c", "", `
			Validation PodInvalid [RequestIsNotLimit spec.containers[0].resources.requests c example.com/gpu 1 2]
			   SetLimit c example.com/gpu 1
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"a default limit above that of the pod; one of a container that inits is not compared", "ns; range r Container default cpu=3 request cpu=1", "all cpu=2/2; a; init i", "", `
			Validation PodInvalid [ContainerAbovePod spec.resources.containers[0][cpu].limits a cpu 3 2]
			   SetLimit a cpu 2
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"hugepages of containers above those of the pod", "ns; range r Container default hugepages-2Mi=4Mi request hugepages-2Mi=4Mi", "all memory=1 hugepages-2Mi=2Mi/2Mi; a memory=1", "", `
			Validation PodInvalid [PodBelowContainers spec.resources.requests[hugepages-2Mi] hugepages-2Mi 2Mi 4Mi] [PodBelowContainers spec.resources.limits[hugepages-2Mi] hugepages-2Mi 2Mi 4Mi] [ContainerAbovePod spec.resources.containers[0][hugepages-2Mi].limits a hugepages-2Mi 4Mi 2Mi]
			   SetRequest hugepages-2Mi 4Mi
			   SetLimit hugepages-2Mi 4Mi
			   SetRequest hugepages-2Mi 4Mi
			   SetLimit hugepages-2Mi 4Mi
			   SetLimit a hugepages-2Mi 2Mi
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"a default limit below the request makes the pod invalid", "ns; range r Container default cpu=500m request cpu=500m", "c cpu=1", "", `
			Validation PodInvalid [RequestAboveLimit spec.containers[0].resources.requests c cpu 1 500m]
			   SetLimit c cpu 1
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"hugepages by default, and nothing else", "ns; range r Container default hugepages-2Mi=2Mi request hugepages-2Mi=2Mi", "c", "", `
			Validation PodInvalid [HugePagesOnly spec.containers[0].resources c]
			   SetRequest c memory
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"the same port twice on the host's network", "ns", "a; port 80; b; port 81; port 80/UDP; port 80; hostNetwork", "", `
			Validation PodInvalid [HostPortTwice spec.containers[1].ports[2].hostPort b //80]
			   RemoveField containers[1].ports[2] b
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"twice in one container that inits; those do not run at the same time", "ns", "init h; port 80 init; init i; port 80 init; port 81 init; port 80 init; c; hostNetwork", "", `
			Validation PodInvalid [HostPortTwice spec.initContainers[1].ports[2].hostPort i //80]
			   RemoveField initContainers[1].ports[2] i
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"ports of its own network a pod may have twice", "ns", "a; port 80; port 80", "", `
			passes -1
			assumed DefaultPodSecurity`,
		},
		{
			"what the pod as a whole has was dropped before v1.34", "ns", "all cpu=2/1; a", "v1.33.0", `
			passes -1
			assumed DefaultPodSecurity`,
		},
		{
			"hugepages and a device", "ns; range r Container default hugepages-2Mi=2Mi request hugepages-2Mi=2Mi", "c z.example.com/x=1/1", "", `
			Validation PodInvalid [HugePagesOnly spec.containers[0].resources c]
			   SetRequest c memory
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"cpu is enough", "ns", "c cpu=1 hugepages-2Mi=2Mi/2Mi", "", `
			passes -1
			assumed DefaultPodSecurity`,
		},
		{
			"a request for hugepages by default, and no limit", "ns; range r Container min hugepages-2Mi=2Mi", "c", "", `
			Validation PodInvalid [NoLimit spec.containers[0].resources.limits c hugepages-2Mi 2Mi] [HugePagesOnly spec.containers[0].resources c]
			   SetLimit c hugepages-2Mi 2Mi
			   SetRequest c memory
			   SetRequest c memory
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"what is invalid is named in the order of the resources", "ns; range r Container default cpu=1 memory=1 ephemeral-storage=1 request cpu=1 memory=1 ephemeral-storage=1", "c cpu=2 memory=2 ephemeral-storage=2 example.com/a=1 example.com/b=1", "", `
			Validation PodInvalid [RequestAboveLimit spec.containers[0].resources.requests c cpu 2 1] [RequestAboveLimit spec.containers[0].resources.requests c ephemeral-storage 2 1] [NoLimit spec.containers[0].resources.limits c example.com/a 1] [NoLimit spec.containers[0].resources.limits c example.com/b 1] [RequestAboveLimit spec.containers[0].resources.requests c memory 2 1]
			   SetLimit c cpu 2
			   SetLimit c ephemeral-storage 2
			   SetLimit c example.com/a 1
			   SetLimit c example.com/b 1
			   SetLimit c memory 2
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"of the pod as a whole, too; a limit that is the pod's, below it, or of what the pod has none, is fine",
			"ns; range r Container default cpu=9 memory=9 hugepages-2Mi=4Mi hugepages-1Gi=2Gi ephemeral-storage=1 request cpu=2 memory=2 hugepages-2Mi=4Mi hugepages-1Gi=2Gi",
			"all cpu=1/9 memory=1/10 hugepages-2Mi=2Mi/2Mi hugepages-1Gi=1Gi/1Gi; a", "", `
			Validation PodInvalid [PodBelowContainers spec.resources.requests[cpu] cpu 1 2] [PodBelowContainers spec.resources.requests[hugepages-1Gi] hugepages-1Gi 1Gi 2Gi] [PodBelowContainers spec.resources.requests[hugepages-2Mi] hugepages-2Mi 2Mi 4Mi] [PodBelowContainers spec.resources.requests[memory] memory 1 2] [PodBelowContainers spec.resources.limits[hugepages-1Gi] hugepages-1Gi 1Gi 2Gi] [PodBelowContainers spec.resources.limits[hugepages-2Mi] hugepages-2Mi 2Mi 4Mi] [ContainerAbovePod spec.resources.containers[0][hugepages-1Gi].limits a hugepages-1Gi 2Gi 1Gi] [ContainerAbovePod spec.resources.containers[0][hugepages-2Mi].limits a hugepages-2Mi 4Mi 2Mi]
			   SetRequest cpu 2
			   SetRequest hugepages-1Gi 2Gi
			   SetLimit hugepages-1Gi 2Gi
			   SetRequest hugepages-2Mi 4Mi
			   SetLimit hugepages-2Mi 4Mi
			   SetRequest memory 2
			   SetRequest hugepages-1Gi 2Gi
			   SetLimit hugepages-1Gi 2Gi
			   SetRequest hugepages-2Mi 4Mi
			   SetLimit hugepages-2Mi 4Mi
			   SetLimit a hugepages-1Gi 1Gi
			   SetLimit a hugepages-2Mi 2Mi
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"limits of a container above those of the pod are named in the order of the resources",
			"ns; range r Container default cpu=9 memory=9 hugepages-2Mi=4Mi hugepages-1Gi=2Gi request cpu=1 memory=1 hugepages-2Mi=4Mi hugepages-1Gi=2Gi",
			"all cpu=1/5 memory=1/5 hugepages-2Mi=2Mi/2Mi hugepages-1Gi=1Gi/1Gi; a", "", `
			Validation PodInvalid [PodBelowContainers spec.resources.requests[hugepages-1Gi] hugepages-1Gi 1Gi 2Gi] [PodBelowContainers spec.resources.requests[hugepages-2Mi] hugepages-2Mi 2Mi 4Mi] [PodBelowContainers spec.resources.limits[hugepages-1Gi] hugepages-1Gi 1Gi 2Gi] [PodBelowContainers spec.resources.limits[hugepages-2Mi] hugepages-2Mi 2Mi 4Mi] [ContainerAbovePod spec.resources.containers[0][cpu].limits a cpu 9 5] [ContainerAbovePod spec.resources.containers[0][hugepages-1Gi].limits a hugepages-1Gi 2Gi 1Gi] [ContainerAbovePod spec.resources.containers[0][hugepages-2Mi].limits a hugepages-2Mi 4Mi 2Mi] [ContainerAbovePod spec.resources.containers[0][memory].limits a memory 9 5]
			   SetRequest hugepages-1Gi 2Gi
			   SetLimit hugepages-1Gi 2Gi
			   SetRequest hugepages-2Mi 4Mi
			   SetLimit hugepages-2Mi 4Mi
			   SetRequest hugepages-1Gi 2Gi
			   SetLimit hugepages-1Gi 2Gi
			   SetRequest hugepages-2Mi 4Mi
			   SetLimit hugepages-2Mi 4Mi
			   SetLimit a cpu 5
			   SetLimit a hugepages-1Gi 1Gi
			   SetLimit a hugepages-2Mi 2Mi
			   SetLimit a memory 5
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"a limit of the pod that is what its containers request stays", "ns; range r Container request cpu=2", "all cpu=1/2; a", "", `
			Validation PodInvalid [PodBelowContainers spec.resources.requests[cpu] cpu 1 2]
			   SetRequest cpu 2
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"hugepages that the pod as a whole requests", "ns", "all memory=1 hugepages-2Mi=4Mi; a", "v1.36.0", `
			Validation PodInvalid [NoLimit spec.resources.limits hugepages-2Mi 4Mi]
			   SetLimit hugepages-2Mi 4Mi
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"default requests add up to more than the pod requests", "ns; range r Container request cpu=1", "all cpu=1/-; a; b", "", `
			Validation PodInvalid [PodBelowContainers spec.resources.requests[cpu] cpu 1 2]
			   SetRequest cpu 2
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"containers are out of bounds, each for itself; one without requests gets the minimum, one without limits the maximum",
			"ns; range r Container min cpu=100m max memory=1Gi", "a; b cpu=50m/60m memory=1/2Gi", "", `
			LimitRanger LimitRangeViolated r [RequestBelowMin b cpu 100m: 50m/60m] [LimitAboveMax b memory 1Gi: 1/2Gi]
			   SetRequest b cpu 100m
			   SetLimit b cpu 100m
			   SetLimit b memory 1Gi
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"nothing gives a pod as a whole the minimum or the maximum", "ns; range r Pod min cpu=100m max memory=1Gi", "a", "", `
			LimitRanger LimitRangeViolated r [MinWithoutRequest  cpu 100m: -/-] [MaxWithoutLimit  memory 1Gi: -/-]
			   SetRequest cpu 100m
			   SetLimit memory 1Gi
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"of a sum only some containers have a limit: it may be below the minimum, or the requests above the maximum", "ns; range r Pod min cpu=1; range s Pod max cpu=1", "a cpu=2; b cpu=-/500m", "", `
			LimitRanger LimitRangeViolated r [LimitBelowMin  cpu 1: 2500m/500m]
			   SetLimit cpu 1
			LimitRanger LimitRangeViolated s [RequestAboveMax  cpu 1: 2500m/500m]
			   SetRequest cpu 1
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"the sum of a pod, with the largest of those that init", "ns; range r Pod max cpu=1", "a cpu=400m/400m; b cpu=400m/400m; init i cpu=1/1; sidecar s cpu=100m/100m", "", `
			passes -1
			assumed DefaultPodSecurity`,
		},
		{
			"a sidecar runs beside what inits after it", "ns; range r Pod max cpu=1", "a cpu=400m/400m; sidecar s cpu=100m/100m; init i cpu=1/1", "", `
			LimitRanger LimitRangeViolated r [LimitAboveMax  cpu 1: 1100m/1100m]
			   SetLimit cpu 1
			   SetRequest cpu 1
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"bounds are named in the order of the resources", "ns; range r Pod min cpu=1 memory=1 ephemeral-storage=1 example.com/a=1 example.com/b=1", "c", "", `
			LimitRanger LimitRangeViolated r [MinWithoutRequest  cpu 1: -/-] [MinWithoutRequest  ephemeral-storage 1: -/-] [MinWithoutRequest  example.com/a 1: -/-] [MinWithoutRequest  example.com/b 1: -/-] [MinWithoutRequest  memory 1: -/-]
			   SetRequest cpu 1
			   SetRequest ephemeral-storage 1
			   SetRequest example.com/a 1
			   SetRequest example.com/b 1
			   SetRequest memory 1
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"only what is out of bounds is to be set: a limit that is the minimum, or above it, stays", "ns; range r Container min cpu=100m", "a cpu=50m/100m; b cpu=50m/200m", "", `
			LimitRanger LimitRangeViolated r [RequestBelowMin a cpu 100m: 50m/100m] [RequestBelowMin b cpu 100m: 50m/200m]
			   SetRequest a cpu 100m
			   SetRequest b cpu 100m
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"so does a request that is", "ns; range r Pod min cpu=2; range s Container max memory=1", "a cpu=1500m memory=1/2; b cpu=500m/500m memory=1/1", "", `
			LimitRanger LimitRangeViolated r [LimitBelowMin  cpu 2: 2/500m]
			   SetLimit cpu 2
			LimitRanger LimitRangeViolated s [LimitAboveMax a memory 1: 1/2]
			   SetLimit a memory 1
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"and a limit that is the maximum", "ns; range r Pod max cpu=1", "a cpu=1500m; b cpu=1/1", "", `
			LimitRanger LimitRangeViolated r [RequestAboveMax  cpu 1: 2500m/1]
			   SetRequest cpu 1
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"the largest amount that has thousandths", "ns; range r Container min cpu=1 ratio memory=9223372036854775", "a cpu=500m/9223372036854775 memory=1/9223372036854776", "", `
			LimitRanger LimitRangeViolated r [RequestBelowMin a cpu 1: 500m/9223372036854775] [RatioAboveMax a memory 9223372036854775: 1/9223372036854776]
			   SetRequest a cpu 1
			   SetRequest a memory 2
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"limits are at most so many times requests", "ns; range r Container ratio cpu=2 memory=1", "a cpu=100m/250m memory=0/0", "", `
			LimitRanger LimitRangeViolated r [RatioAboveMax a cpu 2: 100m/250m] [RatioWithoutRequest a memory 1: 0/0]
			   SetRequest a cpu 125m
			   SetRequest a memory
			   SetLimit a memory
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"a request is not set to nothing", "ns; range r Container ratio memory=2", "a memory=100m/1", "", `
			LimitRanger LimitRangeViolated r [RatioAboveMax a memory 2: 100m/1]
			   SetRequest a memory 1
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"two defaults for the same resource: which one applies is open", "ns; range a Container default cpu=1; range b Container default cpu=2 memory=1", "c", "", `
			passes -1
			assumed LimitRangeOrder
			assumed DefaultPodSecurity`,
		},
		{
			"a bound is kept by what is equal to it", "ns; range r Container min cpu=1 max cpu=1 ratio cpu=1", "a cpu=1/1", "", `
			passes -1
			assumed DefaultPodSecurity`,
		},
		{
			"the overhead is not within the bounds of a pod, and what the pod as a whole requests is", "ns; range r Pod max cpu=1; runtime vm overhead cpu=5", "runtime=vm; all cpu=1/1; a", "", `
			passes -1
			assumed DefaultPodSecurity`,
		},
		{
			"before v1.34 its containers are", "ns; range r Pod max cpu=1", "all cpu=2/2; a cpu=1/1", "v1.33.0", `
			passes -1
			assumed DefaultPodSecurity`,
		},
		{
			"a ratio needs a limit", "ns; range r Pod ratio cpu=2", "a cpu=1", "", `
			LimitRanger LimitRangeViolated r [RatioWithoutLimit  cpu 2: 1/-]
			   SetLimit cpu 1
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"a ratio has thousandths", "ns; range r Container ratio memory=1500m", "a memory=1000/1501; b memory=1000/1500", "", `
			LimitRanger LimitRangeViolated r [RatioAboveMax a memory 1500m: 1k/1501]
			   SetRequest a memory 1001
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"amounts too large for thousandths are compared as whole numbers", "ns; range r Container max memory=9Pi min cpu=1m", "a cpu=1m/1m memory=1/9Pi; b cpu=1m/1m memory=1/10Pi", "", `
			LimitRanger LimitRangeViolated r [LimitAboveMax b memory 9Pi: 1/10Pi]
			   SetLimit b memory 9Pi
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"other defaults of requests, of the same limits", "ns; range a Container default cpu=2 request cpu=1; range b Container default cpu=2 request cpu=2", "c", "", `
			passes -1
			assumed LimitRangeOrder
			assumed DefaultPodSecurity`,
		},
		{
			"other defaults of limits, of the same requests", "ns; range a Container default cpu=1 request cpu=1; range b Container default cpu=2 request cpu=1", "c", "", `
			passes -1
			assumed LimitRangeOrder
			assumed DefaultPodSecurity`,
		},
		{
			"the same defaults twice, and defaults of different resources", "ns; range a Container default cpu=2; range b Container default cpu=2; range d Container default memory=1", "c", "", `
			passes -1
			assumed DefaultPodSecurity`,
		},
		{
			"the least of several quotas counts, and one that limits nothing of the pod does not", "ns; quota a pods=0/9; quota b pods=0/3; quota c pods=0/7; quota d requests.example.com/gpu=0/0", "c", "", `
			a passes 9: pods +1 0/9
			b passes 3: pods +1 0/3
			c passes 7: pods +1 0/7
			d passes -1:
			passes 3
			assumed DefaultPodSecurity`,
		},
		{
			"a quota that is nearly used lets some pods pass", "ns; quota q pods=3/5 requests.cpu=1/1500m", "c cpu=200m", "", `
			q passes 2: pods +1 3/5 requests.cpu +200m 1/1500m
			passes 2
			assumed DefaultPodSecurity`,
		},
		{
			"one that is used up lets none pass", "ns; quota q pods=5/5 cpu=1/10", "c cpu=200m", "", `
			ResourceQuota QuotaExceeded q [pods +1 5/5]
			   RaiseQuota q pods 6
			q passes 0: cpu +200m 1/10 pods +1 5/5
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"limits are requests where none is given", "ns; quota q requests.memory=0/1Gi limits.memory=0/3Gi", "c memory=-/512Mi", "", `
			q passes 2: limits.memory +512Mi 0/3Gi requests.memory +512Mi 0/1Gi
			passes 2
			assumed DefaultPodSecurity`,
		},
		{
			"what is counted of cpu and memory must be given by each container; other resources need not", "ns; quota q limits.cpu=0/1 requests.ephemeral-storage=0/1", "a cpu=1/1; b; init i cpu=1", "", `
			ResourceQuota QuotaMustSpecify q [limits.cpu b,i]
			   SetLimit b cpu
			   SetLimit i cpu
			q passes 0: limits.cpu +1 0/1
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"the defaults of a LimitRange give it", "ns; range r Container default cpu=1 request cpu=500m; quota q cpu=0/1", "a; b", "", `
			q passes 1: cpu +1 0/1
			passes 1
			assumed DefaultPodSecurity`,
		},
		{
			"what the pod as a whole requests is enough since v1.34", "ns; quota q cpu=0/4", "all cpu=2/2; a; b", "v1.34.0", `
			q passes 2: cpu +2 0/4
			passes 2
			assumed DefaultPodSecurity`,
		},
		{
			"and counts for nothing before", "ns; quota q cpu=0/4", "all cpu=2/2; a", "v1.33.0", `
			ResourceQuota QuotaMustSpecify q [cpu a]
			   SetRequest a cpu
			q passes 0:
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"overhead counts", "ns; runtime vm overhead cpu=250m; quota q cpu=0/1", "runtime=vm; c cpu=250m", "", `
			q passes 2: cpu +500m 0/1
			passes 2
			assumed DefaultPodSecurity`,
		},
		{
			"what nobody has counted is not known to be free", "ns; quota q pods=?/5", "c", "", `
			ResourceQuota QuotaStatusUnknown q [pods]
			q passes 0: pods +1 0/5
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"what a pod has nothing of is not exceeded, nor is a quota of other things", "ns; quota q requests.memory=2Gi/1Gi; quota s services=9/9", "c memory=0", "", `
			q passes -1:
			passes -1
			assumed DefaultPodSecurity`,
		},
		{
			"devices and hugepages", "ns; quota q requests.example.com/gpu=1/4 hugepages-2Mi=0/4Mi requests.hugepages-2Mi=0/8Mi", "c example.com/gpu=1/1 hugepages-2Mi=2Mi/2Mi memory=1/1", "", `
			q passes 2: hugepages-2Mi +2Mi 0/4Mi requests.example.com/gpu +1 1/4 requests.hugepages-2Mi +2Mi 0/8Mi
			passes 2
			assumed DefaultPodSecurity`,
		},
		{
			"scopes: of two quotas one is for pods like this", "ns; quota best pods=1/1 scope BestEffort; quota more pods=1/1 scope NotBestEffort; quota jobs pods=1/1 scope Terminating; quota far pods=1/1 scope CrossNamespacePodAffinity", "c cpu=1", "", `
			ResourceQuota QuotaExceeded more [pods +1 1/1]
			   RaiseQuota more pods 2
			more passes 0: pods +1 1/1
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"a pod without cpu and memory is best effort, whatever else it requests", "ns; quota best pods=1/1 scope BestEffort; quota more pods=1/1 scope NotBestEffort", "c cpu=0 ephemeral-storage=1", "", `
			ResourceQuota QuotaExceeded best [pods +1 1/1]
			   RaiseQuota best pods 2
			best passes 0: pods +1 1/1
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"a pod that has a deadline is one that ends", "ns; quota jobs pods=0/3 scope Terminating; quota others pods=0/4 scope NotTerminating", "deadline=0; c", "", `
			jobs passes 3: pods +1 0/3
			passes 3
			assumed DefaultPodSecurity`,
		},
		{
			"one that has none does not", "ns; quota jobs pods=0/3 scope Terminating; quota others pods=0/4 scope NotTerminating; quota claims pods=0/1 scope VolumeAttributesClass", "c", "", `
			others passes 4: pods +1 0/4
			passes 4
			assumed DefaultPodSecurity`,
		},
		{
			"storage, and devices of a class", "ns; quota q ephemeral-storage=0/9 limits.ephemeral-storage=0/9 requests.deviceclass.resource.kubernetes.io/gpu=0/4 requests.storage=0/1", "c ephemeral-storage=1/2 deviceclass.resource.kubernetes.io/gpu=2/2", "", `
			q passes 2: ephemeral-storage +1 0/9 limits.ephemeral-storage +2 0/9 requests.deviceclass.resource.kubernetes.io/gpu +2 0/4
			passes 2
			assumed DefaultPodSecurity`,
		},
		{
			"a quota of devices of a class alone counts pods, one of volumes does not", "ns; quota q requests.deviceclass.resource.kubernetes.io/gpu=0/4; quota r requests.storage=0/1; quota s hugepages-2Mi=?/1", "c", "", `
			ResourceQuota QuotaStatusUnknown s [hugepages-2Mi]
			q passes -1:
			s passes 0:
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"a term about another namespace, even a preferred one", "ns; quota far pods=1/1 scope CrossNamespacePodAffinity", "elsewhere", "", `
			ResourceQuota QuotaExceeded far [pods +1 1/1]
			   RaiseQuota far pods 2
			far passes 0: pods +1 1/1
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"one about selected namespaces", "ns; quota far pods=0/3 scope CrossNamespacePodAffinity", "selected", "", `
			far passes 3: pods +1 0/3
			passes 3
			assumed DefaultPodSecurity`,
		},
		{
			"but none about its own", "ns; quota far pods=0/3 scope CrossNamespacePodAffinity", "near", "", `
			passes -1
			assumed DefaultPodSecurity`,
		},
		{
			"no class is no value, not even an empty one", "ns; quota a pods=0/9 class In ,high; quota b pods=0/8 class NotIn ,high", "c", "", `
			b passes 8: pods +1 0/8
			passes 8
			assumed DefaultPodSecurity`,
		},
		{
			"another class than that of the pod", "ns; priority high 5; quota a pods=0/9 class In usual", "priority=high; c", "", `
			passes -1
			assumed DefaultPodSecurity`,
		},
		{
			"resources of Kubernetes' own, those of a quota, and names that are too long for one are not counted",
			"ns; quota q pods=0/9 requests.kubernetes.io/x=0/4 requests.requests.example.com/x=0/4 requests." + long + "/x=0/4", "c kubernetes.io/x=1/1 requests.example.com/x=1/1 " + long + "/x=1/1", "", `
			q passes 9: pods +1 0/9
			passes 9
			assumed DefaultPodSecurity`,
		},
		{
			"quotas of classes: the default class counts, and NotIn is met by no class too", "ns; priority usual 5 default; quota a pods=0/9 class In usual; quota b pods=0/8 class NotIn high; quota c pods=0/7 class DoesNotExist", "c", "", `
			a passes 9: pods +1 0/9
			b passes 8: pods +1 0/8
			passes 8
			assumed DefaultPodSecurity`,
		},
		{
			"a pod of a class", "ns; priority high 5; quota a pods=0/9 class In usual,high; quota b pods=0/8 class NotIn high; quota c pods=0/7 class DoesNotExist; quota d pods=0/6 class Exists; quota e pods=0/5 scope PriorityClass; quota f pods=0/4 class Odd high", "priority=high; c", "", `
			a passes 9: pods +1 0/9
			d passes 6: pods +1 0/6
			e passes 5: pods +1 0/5
			passes 5
			assumed DefaultPodSecurity`,
		},
		{
			"a pod of none", "ns; quota a pods=0/9 class In high; quota b pods=0/8 class NotIn high; quota c pods=0/7 class DoesNotExist; quota d pods=0/6 class Exists; quota e pods=0/5 class In ", "c", "", `
			b passes 8: pods +1 0/8
			c passes 7: pods +1 0/7
			passes 7
			assumed DefaultPodSecurity`,
		},
		{
			"the pod as a whole makes it best effort or not since v1.34", "ns; quota best pods=0/9 scope BestEffort; quota more pods=0/8 scope NotBestEffort", "all cpu=1; a", "v1.34.0", `
			more passes 8: pods +1 0/8
			passes 8
			assumed DefaultPodSecurity`,
		},
		{
			"before, its containers", "ns; quota best pods=0/9 scope BestEffort; quota more pods=0/8 scope NotBestEffort", "all cpu=1; a", "v1.33.0", `
			best passes 9: pods +1 0/9
			passes 9
			assumed DefaultPodSecurity`,
		},
		{
			"a deadline below 0 is none", "ns; quota jobs pods=0/3 scope Terminating; quota others pods=0/4 scope NotTerminating", "deadline=-1; c", "", `
			others passes 4: pods +1 0/4
			passes 4
			assumed DefaultPodSecurity`,
		},
		{
			"more is used than there is, as after a quota was lowered", "ns; quota q pods=9/5 cpu=100/1", "c cpu=1m", "", `
			ResourceQuota QuotaExceeded q [cpu +1m 100/1] [pods +1 9/5]
			   RaiseQuota q cpu 100001m
			   RaiseQuota q pods 10
			q passes 0: cpu +1m 100/1 pods +1 9/5
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"amounts of other units, and as many as there are", "ns; quota q cpu=1/3 memory=0/9E", "c cpu=7m memory=1", "", `
			q passes 285: cpu +7m 1/3 memory +1 0/9E
			passes 285
			assumed DefaultPodSecurity`,
		},
		{
			"hugepages alone are counted", "ns; quota q hugepages-2Mi=0/4Mi; quota r requests.hugepages-2Mi=0/8Mi", "c hugepages-2Mi=2Mi/2Mi memory=1/1", "", `
			q passes 2: hugepages-2Mi +2Mi 0/4Mi
			r passes 4: requests.hugepages-2Mi +2Mi 0/8Mi
			passes 2
			assumed DefaultPodSecurity`,
		},
		{
			"what all quotas miss comes before what one lacks room for", "ns; quota a pods=1/1; quota b cpu=0/1", "c", "", `
			ResourceQuota QuotaMustSpecify b [cpu c]
			   SetRequest c cpu
			ResourceQuota QuotaExceeded a [pods +1 1/1]
			   RaiseQuota a pods 2
			a passes 0: pods +1 1/1
			b passes 0:
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"something else rejects the pod: no quota lets it pass", "ns; quota q pods=0/5", "priority=gone", "", `
			Priority PriorityClassNotFound gone
			   CreatePriorityClass gone
			q passes 5: pods +1 0/5
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"policies are not run", "ns; hook images", "c", "", `
			passes -1
			assumed DefaultPodSecurity
			assumed HookAdmits ValidatingAdmissionPolicy images`,
		},
		{
			"the API server created the pod: no hook rejects it", "ns; hook images; tried Created c", "c", "", `
			passes -1
			assumed ControllerAsUser`,
		},
		{
			"nor does what was computed, or could not be read", "ns baseline; no limitranges; tried Created c", "c; hostNetwork; priority=gone", "", `
			passes -1
			assumed ControllerAsUser Priority PodSecurity`,
		},
		{
			"quotas count what webhooks made of it", "ns; quota q cpu=0/1 pods=0/9; tried Created c cpu=300m", "c cpu=100m", "", `
			q passes 3: cpu +300m 0/1 pods +1 0/9
			passes 3
			assumed ControllerAsUser`,
		},
		{
			"a quota lets one pod pass, and no second", "ns; quota q pods=0/1; tried Created c", "c", "", `
			q passes 1: pods +1 0/1
			passes 1
			assumed ControllerAsUser`,
		},
		{
			"a quota comes last, and what it counts is known", `ns; hook images; quota q pods=1/1; tried Rejected pods "agent-" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1`, "c; priority=gone", "", `
			ResourceQuota QuotaExceeded q [pods +1 1/1]
			   RaiseQuota q pods 2
			q passes 0: pods +1 1/1
			passes 0
			assumed ControllerAsUser Priority`,
		},
		{
			"of one that could not be read it is not known whether the rollout makes room", `ns; no resourcequotas; tried Rejected pods "agent-" is forbidden: exceeded quota: q`, "c", "", `
			passes -1
			unknown ResourceQuota resourcequotas
			assumed ControllerAsUser`,
		},
		{
			"a policy rejects the pod", `ns; hook images; tried Rejected pods "agent-" is forbidden: ValidatingAdmissionPolicy 'images' with binding 'all' denied request: no`, "c", "", `
			APIServer DryRunRejected: pods "agent-" is forbidden: ValidatingAdmissionPolicy 'images' with binding 'all' denied request: no
			passes 0
			assumed DefaultPodSecurity
			assumed HookAdmits ValidatingAdmissionPolicy images`,
		},
		{
			"a webhook may quote the words of another", `ns; tried Rejected admission webhook "w" denied the request: exceeded quota: q, violates PodSecurity "x"`, "c; hostNetwork", "", `
			APIServer DryRunRejected: admission webhook "w" denied the request: exceeded quota: q, violates PodSecurity "x"
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"of several refusals the API server answers with one", `ns baseline; tried Rejected pods "agent-" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)`, "c; hostNetwork; priority=gone", "", `
			PodSecurity PodSecurityViolated ns baseline latest [host namespaces hostNetwork=true]: pods "agent-" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)
			   SetLevel ns privileged
			Priority PriorityClassNotFound gone
			   CreatePriorityClass gone
			passes 0
			assumed NoPodSecurityExemption`,
		},
		{
			"the cluster's own level, which nothing shows", `ns; tried Rejected pods "agent-" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)`, "c; hostNetwork", "", `
			PodSecurity DryRunRejected: pods "agent-" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"of two refusals of a rule the first is meant", `ns; runtime plain select=disk:ssd; tried Rejected pods "agent-" is forbidden: pod rejected: RuntimeClass "plain" conflicts`, "runtime=plain; select=disk:hdd; overhead cpu=1", "", `
			RuntimeClass NodeSelectorConflicts plain nodeSelector[disk] hdd ssd: pods "agent-" is forbidden: pod rejected: RuntimeClass "plain" conflicts
			   RemoveField nodeSelector[disk]
			RuntimeClass OverheadWithoutClass plain overhead cpu=1
			   RemoveField overhead
			passes 0
			assumed DefaultPodSecurity`,
		},
		{
			"words about a quota that are no answer", `ns baseline; tried Unknown exceeded quota: q`, "c; hostNetwork", "", `
			PodSecurity PodSecurityViolated ns baseline latest [host namespaces hostNetwork=true]
			   SetLevel ns privileged
			passes 0
			assumed NoPodSecurityExemption
			assumed DryRunUnanswered exceeded quota: q`,
		},
		{
			"an answer about the user tells nothing of the pod", `ns; hook images; tried Unknown pods is forbidden: User "jo" cannot create resource "pods"`, "c", "", `
			passes -1
			assumed DefaultPodSecurity
			assumed DryRunUnanswered pods is forbidden: User "jo" cannot create resource "pods"
			assumed HookAdmits ValidatingAdmissionPolicy images`,
		},
	} {
		t.Run(tt.why, func(t *testing.T) {
			in, lacks := namespaceOf(t, tt.ns)
			got := said(Check(in, podOf(t, tt.pod), tt.version, lacks))
			want := strings.ReplaceAll(strings.TrimSpace(tt.want), "\n\t\t\t", "\n")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s | %s (-want +got):\n%s", tt.ns, tt.pod, diff)
			}
		})
	}
}

// TestUnread checks that nothing is known to reject the pod if nothing was
// read.
func TestUnread(t *testing.T) {
	got := Check(nil, podOf(t, "c; account=a; priority=p; runtime=r; hostNetwork"), "", nil)
	want := strings.Join([]string{
		"passes -1",
		"unknown NamespaceLifecycle namespaces", "unknown ServiceAccount serviceaccounts", "unknown Priority priorityclasses", "unknown RuntimeClass runtimeclasses",
		"unknown LimitRanger limitranges", "unknown PodSecurity namespaces", "unknown ResourceQuota resourcequotas",
	}, "\n")
	if diff := cmp.Diff(want, said(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestUsed tests what a quota counts for an existing pod.
func TestUsed(t *testing.T) {
	for _, tt := range []struct {
		why, quota, pod string
		phase           corev1.PodPhase
		want            string
	}{
		{"what the quota limits, and the pod has", "q pods=0/1 cpu=0/1 limits.cpu=0/1 memory=0/1", "a cpu=1/2; b cpu=1", corev1.PodRunning, "cpu=2,limits.cpu=2,pods=1"},
		{"what the pod has nothing of is not used", "q cpu=0/1 pods=0/1", "a cpu=0", corev1.PodRunning, "pods=1"},
		{"a pod that has ended is an object still", "q pods=0/1 count/pods=0/1 cpu=0/1", "a cpu=1/2", corev1.PodSucceeded, "count/pods=1"},
		{"so is one that failed", "q pods=0/1 count/pods=0/1", "a cpu=1/2", corev1.PodFailed, "count/pods=1"},
		{"one out of scope is not counted", "q pods=0/1 scope BestEffort", "a cpu=1/2", corev1.PodRunning, ""},
		{"nor is any by a quota of other things", "q services=0/1", "a", corev1.PodRunning, ""},
	} {
		t.Run(tt.why, func(t *testing.T) {
			q, pod := quotaOf(t, strings.Fields(tt.quota)), podOf(t, tt.pod)
			pod.Status.Phase = tt.phase
			if got := resourceText(Used(&q, pod, "")); got != tt.want {
				t.Errorf("%s of %s: %s, want %s", tt.quota, tt.pod, got, tt.want)
			}
		})
	}
}

// TestRuleOf tests messages of the API server, as seen in the end-to-end tests.
func TestRuleOf(t *testing.T) {
	for _, tt := range []struct {
		message string
		want    Rule
	}{
		{`pods "agent-" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1`, ResourceQuota},
		{`pods "agent-" is forbidden: failed quota: q: must specify limits.cpu for: c`, ResourceQuota},
		{`pods "agent-" is forbidden: status unknown for quota: q, resources: pods`, ResourceQuota},
		{`pods "agent-" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)`, PodSecurity},
		{`pods "agent-" is forbidden: no PriorityClass with name gone was found`, Priority},
		{`pods "agent-" is forbidden: error looking up service account ns/gone: serviceaccount "gone" not found`, ServiceAccount},
		{`pods "agent-" is forbidden: pod rejected: RuntimeClass "gone" not found`, RuntimeClass},
		{`pods "agent-" is forbidden: unable to create new content in namespace ns because it is being terminated`, NamespaceLifecycle},
		{`pods "agent-" is forbidden: maximum cpu usage per Container is 1, but limit is 2`, APIServer},
		{`admission webhook "w" denied the request: failed quota: q`, APIServer},
	} {
		if got := RuleOf(tt.message); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.message, got, tt.want)
		}
	}
}

// TestPasses tests how many times an amount fits into the rest of a quota.
func TestPasses(t *testing.T) {
	for _, tt := range []struct {
		requested, used, hard string
		want                  int64
		why                   string
	}{
		{"2", "1", "6", 2, "the rest is too little for a third"},
		{"2", "6", "6", 0, "nothing is left"},
		{"2", "7", "6", 0, "less than nothing"},
		{"0", "1", "6", 0, "of nothing nobody asks"},
		{"-1", "1", "6", 0, "nor of less"},
		{"1n", "0", "1", 1_000_000_000, "the smallest amount that there is"},
		{"1n", "0", "9E", math.MaxInt64, "as often as can be counted"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			if got := (Amount{Requested: parse(t, tt.requested), Used: parse(t, tt.used), Hard: parse(t, tt.hard)}).Passes(); got != tt.want {
				t.Errorf("%d, want %d", got, tt.want)
			}
		})
	}
}
