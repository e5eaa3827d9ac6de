package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// piece is a valid part of a manifest: values by path in the pod's spec or in a container.
type piece map[string]string

// podPieces are compatible parts of a pod's spec.
var podPieces = []piece{
	{"serviceAccountName": "agent", "automountServiceAccountToken": "false"},
	{"priorityClassName": "system-node-critical"},
	{"terminationGracePeriodSeconds": "0"},
	{"terminationGracePeriodSeconds": "3600"},
	{"nodeSelector": "{kubernetes.io/os: linux, example.com/pool: gpu-a_1}"},
	{"nodeSelector": `{pool: ""}`},
	{"tolerations": "[{operator: Exists}]"},
	{"tolerations": `[{key: a, value: ""}, {key: b.io/c, operator: Equal, value: d, effect: NoSchedule}, {key: e, operator: Exists, effect: NoExecute, tolerationSeconds: -1}]`},
	{"affinity nodeAffinity": `{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: pool, operator: NotIn, values: [a, ""]}, {key: cores, operator: Lt, values: ["5"]}]}, {matchFields: [{key: metadata.name, operator: In, values: [w-1]}]}]}}`},
	{"affinity nodeAffinity": `{preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: a, operator: Exists}, {key: b, operator: In, values: ["not a label"]}]}}]}`},
	{"affinity podAffinity": `{requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchExpressions: [{key: app, operator: In, values: [x]}]}, namespaceSelector: {}}]}`},
	{"affinity podAntiAffinity": `{preferredDuringSchedulingIgnoredDuringExecution: [{weight: 100, podAffinityTerm: {topologyKey: zone, namespaces: [kube-system], labelSelector: {matchLabels: {app: agent}}, matchLabelKeys: [pod-template-hash]}}]}`},
	{"topologySpreadConstraints": `[{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, minDomains: 3, nodeAffinityPolicy: Honor, nodeTaintsPolicy: Ignore, labelSelector: {matchLabels: {a: b}}}, {maxSkew: 9, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]`},
	{"securityContext": `{runAsNonRoot: true, runAsUser: 65534, runAsGroup: 0, fsGroup: 2147483647, supplementalGroups: [1, 1], fsGroupChangePolicy: OnRootMismatch, seccompProfile: {type: Localhost, localhostProfile: profiles/a.json}}`},
	{"securityContext": `{seLinuxOptions: {level: "s0:c1"}, seLinuxChangePolicy: MountOption, supplementalGroupsPolicy: Merge, appArmorProfile: {type: Localhost, localhostProfile: a}}`},
	{"hostAliases": `[{ip: "::1", hostnames: [a.b, c]}, {ip: 10.1.2.3}]`},
	{"dnsPolicy": "None", "dnsConfig": `{nameservers: [10.0.0.10, "fd00::1"], searches: [., a.b., c_d], options: [{name: ndots, value: "5"}, {name: edns0}]}`},
	{"dnsPolicy": "Default", "dnsConfig": "{}"},
	{"readinessGates": "[{conditionType: example.com/Ready}]"},
	{"runtimeClassName": "gvisor", "overhead": "{cpu: 250m, memory: 120Mi}"},
	{"imagePullSecrets": `[{name: one}, {name: two}]`},
	{"enableServiceLinks": "false", "preemptionPolicy": "Never", "schedulerName": "other_scheduler"},
	{"hostname": "agent", "subdomain": "agents", "setHostnameAsFQDN": "true"},
	{"schedulingGates": "[{name: example.com/wait}]"},
	{"os": "{name: linux}"},
	{"resources": "{requests: {cpu: 4, memory: 8Gi}, limits: {memory: 16Gi}}"},
	{"resourceClaims": "[{name: shared, resourceClaimName: c}, {name: own, resourceClaimTemplateName: t.x}]"},
	{"nodeName": "w-1"},
}

// hostPieces are mutually exclusive parts of a pod's spec.
var hostPieces = []piece{
	{},
	{},
	{"hostNetwork": "true", "dnsPolicy": "ClusterFirstWithHostNet"},
	{"hostPID": "true", "hostIPC": "true"},
	{"hostUsers": "false"},
	{"shareProcessNamespace": "true"},
	{"securityContext sysctls": `[{name: net.ipv4.ip_local_port_range, value: "1024 65535"}, {name: kernel/shm_rmid_forced, value: "0"}]`},
}

// volumes are the kinds of volumes.
var volumes = []string{
	"emptyDir: {}", "emptyDir: {medium: Memory, sizeLimit: 64Mi}", "hostPath: {path: /var/lib/a..b}", "hostPath: {path: /run/x.sock, type: Socket}", `hostPath: {path: relative, type: ""}`,
	"configMap: {name: c, optional: true}", "configMap: {name: c, defaultMode: 0, items: [{key: a.b, path: x/..y, mode: 0777}]}", "secret: {secretName: s, items: [{key: a, path: a}, {key: b, path: a}]}",
	`downwardAPI: {defaultMode: 292, items: [{path: a, fieldRef: {fieldPath: metadata.annotations}}, {path: b, fieldRef: {fieldPath: "metadata.labels['example.com/a']"}}, {path: c, resourceFieldRef: {containerName: nobody, resource: limits.memory, divisor: 1Mi}}]}`,
	"projected: {sources: [{serviceAccountToken: {path: token}}, {configMap: {name: c, items: [{key: a, path: a}]}}, {secret: {name: s}}, {downwardAPI: {items: [{path: ns, fieldRef: {fieldPath: metadata.namespace}}]}}]}",
	"projected: {sources: [{clusterTrustBundle: {signerName: example.com/a, labelSelector: {}, path: ca.pem}}, {serviceAccountToken: {path: x/y, audience: vault, expirationSeconds: 4294967296}}]}", "projected: {}",
	"persistentVolumeClaim: {claimName: Any_Name, readOnly: true}", "ephemeral: {volumeClaimTemplate: {metadata: {labels: {a: b}}, spec: {accessModes: [ReadWriteOncePod], storageClassName: fast, resources: {requests: {storage: 10Gi}}}}}",
	"nfs: {server: 10.0.0.1, path: /a/../b}", "csi: {driver: Secrets.csi.example.com, readOnly: true, nodePublishSecretRef: {name: s}}", "image: {reference: registry.example/model:1, pullPolicy: IfNotPresent}",
	"iscsi: {targetPortal: 10.0.0.1, iqn: 'iqn.2001-04.com.example:storage', lun: 255}", "fc: {targetWWNs: ['50060e801049cfd1'], lun: 0}", "gcePersistentDisk: {pdName: d, partition: 1}", "awsElasticBlockStore: {volumeID: vol-1}",
	"glusterfs: {endpoints: e, path: p}", "rbd: {monitors: [m], image: i}", "cephfs: {monitors: [m]}", "cinder: {volumeID: v}", "flexVolume: {driver: example.com/d}", "azureFile: {secretName: s, shareName: share}",
	"azureDisk: {diskName: d, diskURI: https://a.blob/b}", "vsphereVolume: {volumePath: p}", "portworxVolume: {volumeID: v}", "quobyte: {registry: 'r:1', volume: v}", "storageos: {volumeName: v}", "gitRepo: {repository: r, directory: .}",
	"scaleIO: {gateway: https://g, system: s, volumeName: v, secretRef: {name: s}}", "flocker: {datasetName: d}",
}

// containerPieces are parts of any container.
var containerPieces = []piece{
	{"image": `" padded "`},
	{"image": "registry.example:5000/a/b@sha256:x", "imagePullPolicy": "Never"},
	{"command": "[sh]", "args": `["-c", ""]`, "workingDir": "relative", "stdin": "true", "tty": "true"},
	{"env": `[{name: A, value: ""}, {name: a.b-c, value: "$(A)"}, {name: "odd name!", value: x}, {name: A, value: again}]`},
	{"env": `[{name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}, {name: L, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: "metadata.annotations['A/b']"}}}, {name: I, valueFrom: {fieldRef: {fieldPath: status.hostIPs}}}]`},
	{"env": `[{name: C, valueFrom: {configMapKeyRef: {name: c.d, key: _k-1, optional: true}}}, {name: S, valueFrom: {secretKeyRef: {name: s, key: .dockerconfigjson}}}, {name: R, valueFrom: {resourceFieldRef: {containerName: other, resource: limits.cpu, divisor: 1m}}}]`},
	{"envFrom": `[{configMapRef: {name: c}, prefix: "a-"}, {secretRef: {name: s, optional: true}}]`},
	{"ports": `[{containerPort: 65535}, {name: a-1, containerPort: 80, protocol: UDP}, {name: b, containerPort: 80, protocol: SCTP, hostIP: 10.0.0.1}, {containerPort: 80}]`},
	{"resources": `{requests: {cpu: 0, memory: 1k, ephemeral-storage: 1Gi}, limits: {memory: "1e3", example.com/fpga: 2}}`},
	{"resources": `{limits: {cpu: 1500m, memory: 1Gi, hugepages-2Mi: 4Mi, hugepages-1Gi: 2Gi}}`},
	{"resources": `{requests: {cpu: "0.1"}, limits: {cpu: 100m, nvidia.com/gpu: 1}}`, "resizePolicy": "[{resourceName: memory, restartPolicy: NotRequired}]"},
	{"terminationMessagePolicy": "FallbackToLogsOnError", "terminationMessagePath": "/x"},
	{"securityContext": `{privileged: true, allowPrivilegeEscalation: true, procMount: Default, seccompProfile: {type: Unconfined}}`},
	{"securityContext": `{allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, runAsUser: 0, capabilities: {drop: [ALL], add: [SYS_ADMIN, whatever]}, appArmorProfile: {type: RuntimeDefault}}`},
	{"securityContext": `{seLinuxOptions: {type: spc_t}, runAsNonRoot: true, runAsGroup: 2147483647}`},
}

// runningPieces are parts of a container that keeps running.
var runningPieces = []piece{
	{"livenessProbe": "{httpGet: {port: 65535, path: x, host: 1.2.3.4, httpHeaders: [{name: X-a, value: ''}]}, initialDelaySeconds: 0, periodSeconds: 0, failureThreshold: 0}"},
	{"livenessProbe": "{httpGet: {port: no-such-port, scheme: HTTPS}, terminationGracePeriodSeconds: 1}", "startupProbe": "{exec: {command: [x]}, successThreshold: 0}"},
	{"readinessProbe": "{tcpSocket: {port: 1, host: x}, successThreshold: 9, timeoutSeconds: 99}"},
	{"readinessProbe": "{grpc: {port: 1, service: a}}", "startupProbe": "{grpc: {port: 65535}, successThreshold: 1, failureThreshold: 30}"},
	{"lifecycle": "{postStart: {exec: {command: [x]}}, preStop: {httpGet: {port: 80}}}"},
	{"lifecycle": "{preStop: {sleep: {seconds: 0}}}"},
	{"lifecycle": "{preStop: {tcpSocket: {port: a}}}"},
}

// strategies are update strategies and other fields of a DaemonSet.
var strategies = []string{
	"{}", "{updateStrategy: {type: OnDelete}}", "{updateStrategy: {rollingUpdate: {maxUnavailable: 100%}}}", "{updateStrategy: {rollingUpdate: {maxUnavailable: 5000}}}", "{updateStrategy: {rollingUpdate: {maxUnavailable: 0, maxSurge: 33%}}}",
	"{updateStrategy: {type: OnDelete, rollingUpdate: {maxUnavailable: 1, maxSurge: 1}}}", "{minReadySeconds: 600, revisionHistoryLimit: 0}", "{updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 007%}}}",
}

// drawManifest returns a manifest that is valid according to the API reference.
func drawManifest(r *rand.Rand) map[string]any {
	o := map[string]any{"apiVersion": "apps/v1", "kind": "DaemonSet", "spec": read(pick(r, strategies))}
	set := func(path, value string) { put(o, strings.Fields(path), read(value)) }
	set("metadata", pick(r, []string{"{name: agent, namespace: default}", "{name: a.b-c.1, namespace: default, labels: {app.kubernetes.io/name: A_b}, annotations: {X/y: any thing}}", "{name: '1', namespace: default, finalizers: [example.com/a]}"}))
	set("spec selector", pick(r, []string{"{matchLabels: {app: agent}}", "{matchExpressions: [{key: app, operator: In, values: [agent, x]}, {key: none, operator: DoesNotExist}]}"}))
	set("spec template metadata", "{labels: {app: agent, v: ''}, annotations: {cluster-autoscaler.kubernetes.io/enable-ds-eviction: 'true'}}")
	const spec = "spec template spec "
	for _, p := range slices.Concat(some(r, podPieces, 6), []piece{pick(r, hostPieces)}) {
		for path, value := range p {
			set(spec+path, value)
		}
	}
	var names []string
	for i, v := range some(r, volumes, 5) {
		names = append(names, "v"+strconv.Itoa(i))
		set(spec+"volumes +", fmt.Sprintf("{name: %s, %s}", names[i], v))
	}
	for i := range 1 + r.IntN(3) {
		container := drawContainer(r, fmt.Sprint("c", i), names, 0.9)
		put(o, strings.Fields(spec+"containers +"), container)
	}
	for i := range r.IntN(3) {
		container := drawContainer(r, fmt.Sprint("i", i), names, 0.5)
		if hasAny(container, "livenessProbe", "readinessProbe", "startupProbe", "lifecycle") || r.IntN(3) == 0 {
			container["restartPolicy"] = "Always"
		}
		put(o, strings.Fields(spec+"initContainers +"), container)
	}
	return o
}

func drawContainer(r *rand.Rand, name string, volumes []string, running float64) map[string]any {
	c := map[string]any{"name": name, "image": "registry.example/" + name + ":1"}
	pieces := some(r, containerPieces, 5)
	if r.Float64() < running {
		pieces = append(pieces, some(r, runningPieces, 3)...)
	}
	for _, p := range pieces {
		for path, value := range p {
			put(c, strings.Fields(path), read(value))
		}
	}
	for i, v := range volumes {
		if r.IntN(2) == 0 {
			more := pick(r, []string{"", ", readOnly: true", ", subPath: a..b/c", ", subPathExpr: $(A)", ", mountPropagation: HostToContainer", ", readOnly: true, recursiveReadOnly: IfPossible"})
			put(c, []string{"volumeMounts", "+"}, read(fmt.Sprintf("{name: %s, mountPath: %s%d%s}", v, pick(r, []string{"/mnt/", "relative/"}), i, more)))
		}
	}
	return c
}

func hasAny(o map[string]any, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return o[name] != nil })
}

// breakManifest makes one change to a manifest and says what and where.
func breakManifest(r *rand.Rand, o map[string]any, ch change) string {
	spec := o["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
	kind, rest, _ := strings.Cut(ch.path, " ")
	path, in := []string{"spec", "template", "spec"}, "containers"
	switch lists := []string{"containers", "initContainers"}; kind {
	case "S":
	case "V":
		path = append(path, "volumes", "+")
	case "C", "R":
		if inits, _ := spec[lists[1]].([]any); kind == "C" && len(inits) > 0 {
			in = pick(r, lists)
		}
		path = append(path, in, strconv.Itoa(r.IntN(len(spec[in].([]any)))))
	default:
		path, rest = nil, ch.path
	}
	// The container may have none.
	if strings.Contains(ch.path+ch.value, "volumeMounts") || strings.Contains(ch.value, "name: v0") {
		put(o, strings.Fields("spec template spec volumes"), read("[{name: v0, emptyDir: {}}, {name: v1, emptyDir: {}}, {name: v2, emptyDir: {}}, {name: v3, emptyDir: {}}, {name: v4, emptyDir: {}}]"))
		put(o, append(slices.Clone(path), "volumeMounts"), read("[{name: v0, mountPath: /v0}]"))
	}
	path = append(path, strings.Fields(rest)...)
	var value any
	if ch.value != gone {
		value = read(ch.value)
	}
	if members, ok := value.(map[string]any); ok && (rest == "" && kind != "V") { // of the spec or the container
		for name, v := range members {
			put(o, append(slices.Clone(path), name), v)
		}
	} else {
		put(o, path, value)
	}
	return fmt.Sprintf("%s: %s: %s", ch.why, strings.Join(path, " "), ch.value)
}

func read(text string) (v any) {
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		panic(text + ": " + err.Error())
	}
	return v
}

func pick[E any](r *rand.Rand, of []E) E { return of[r.IntN(len(of))] }

// some returns up to most elements of a list.
func some[E any](r *rand.Rand, of []E, most int) []E {
	var out []E
	for _, i := range r.Perm(len(of))[:r.IntN(most+1)] {
		out = append(out, of[i])
	}
	return out
}

// invalid are changes that should make a manifest invalid according to the API reference, by field.
// In paths, S is the pod's spec, C one of its containers, R one that keeps running, and V an
// additional volume.
var invalid = []change{
	// ObjectMeta, DaemonSetSpec
	{"no DNS subdomain", "metadata name", "My_Agent"},
	{"254 characters", "metadata name", strings.Repeat("a", 254)},
	{"a label's key", "metadata labels", "{'a/b/c': d}"},
	{"a label's value", "metadata labels", "{a: '-b'}"},
	{"an annotation's key", "metadata annotations", "{'a b': c}"},
	{"a finalizer", "metadata finalizers", "[a b]"},
	{"an owner without a name", "metadata ownerReferences", "[{apiVersion: v1, kind: Node, name: '', uid: a}]"},
	{"a selector that matches nothing of the template", "spec selector", "{matchLabels: {app: other}}"},
	{"a selector's operator", "spec selector", "{matchExpressions: [{key: app, operator: Is, values: [agent]}]}"},
	{"In without values", "spec selector", "{matchExpressions: [{key: app, operator: In}]}"},
	{"an empty selector", "spec selector", "{}"},
	{"a template without labels", "spec template metadata labels", gone},
	{"a template's label", "spec template metadata labels", "{app: agent, v: a b}"},
	{"a template's annotation", "spec template metadata annotations", "{a_/b: c}"},
	{"less than 0 seconds", "spec minReadySeconds", "-1"},
	{"less than 0 revisions", "spec revisionHistoryLimit", "-1"},
	{"a strategy of Deployments", "spec updateStrategy", "{type: Recreate}"},
	{"more than all", "spec updateStrategy", "{rollingUpdate: {maxUnavailable: 101%}}"},
	{"less than none", "spec updateStrategy", "{rollingUpdate: {maxUnavailable: -1}}"},
	{"no percentage", "spec updateStrategy", "{rollingUpdate: {maxUnavailable: half}}"},
	{"neither", "spec updateStrategy", "{rollingUpdate: {maxUnavailable: 0}}"},
	{"both", "spec updateStrategy", "{rollingUpdate: {maxUnavailable: 1, maxSurge: 1}}"},
	{"more surge than all", "spec updateStrategy", "{rollingUpdate: {maxUnavailable: 0, maxSurge: 200%}}"},

	// PodSpec
	{"a pod that ends", "S restartPolicy", "OnFailure"},
	{"a pod that never restarts", "S restartPolicy", "Never"},
	{"a deadline", "S activeDeadlineSeconds", "60"},
	{"a DNS policy", "S dnsPolicy", "Host"},
	{"None without nameservers", "S dnsPolicy", "None"},
	{"a nameserver's name", "S dnsConfig", "{nameservers: [dns.local]}"},
	{"four nameservers", "S dnsConfig", "{nameservers: [1.1.1.1, 1.1.1.2, 1.1.1.3, 1.1.1.4]}"},
	{"a search path", "S dnsConfig", "{searches: ['a b']}"},
	{"an option without a name", "S dnsConfig", "{options: [{value: '5'}]}"},
	{"a node label's key", "S nodeSelector", "{'a//b': c}"},
	{"a node label's value", "S nodeSelector", "{a: b c}"},
	{"a service account", "S serviceAccountName", "Agent"},
	{"a node", "S nodeName", "w_1"},
	{"processes of the host and of the pod", "S", "{hostPID: true, shareProcessNamespace: true, hostUsers: null}"},
	{"users apart on the host's network", "S", "{hostNetwork: true, hostUsers: false}"},
	{"users apart with the host's processes", "S", "{hostPID: true, hostUsers: false}"},
	{"a hostname with a dot", "S hostname", "a.b"},
	{"a subdomain", "S subdomain", "A"},
	{"a scheduling gate", "S schedulingGates", "[{name: a b}]"},
	{"a scheduling gate twice", "S schedulingGates", "[{name: a}, {name: a}]"},
	{"a toleration's key", "S tolerations", "[{key: a b, operator: Exists}]"},
	{"Exists with a value", "S tolerations", "[{key: a, operator: Exists, value: b}]"},
	{"no key and no Exists", "S tolerations", "[{value: b}]"},
	{"an operator", "S tolerations", "[{key: a, operator: In, value: b}]"},
	{"an effect", "S tolerations", "[{key: a, operator: Exists, effect: Evict}]"},
	{"seconds of NoSchedule", "S tolerations", "[{key: a, operator: Exists, effect: NoSchedule, tolerationSeconds: 5}]"},
	{"a toleration's value", "S tolerations", "[{key: a, value: b c}]"},
	{"an alias of no address", "S hostAliases", "[{ip: localhost, hostnames: [a]}]"},
	{"an alias's name", "S hostAliases", "[{ip: 1.2.3.4, hostnames: [a_b]}]"},
	{"a priority class", "S priorityClassName", "High_Priority"},
	{"a runtime class", "S runtimeClassName", "gVisor"},
	{"a preemption policy", "S preemptionPolicy", "Always"},
	{"overhead below 0", "S overhead", "{cpu: -1}"},
	{"an operating system", "S os", "{name: darwin}"},
	{"windows with a user's number", "S", "{os: {name: windows}, securityContext: {runAsUser: 1}}"},
	{"a condition", "S readinessGates", "[{conditionType: 'a b'}]"},
	{"an ephemeral container", "S ephemeralContainers", "[{name: debug, image: x}]"},
	{"requests of the pod above its limits", "S resources", "{requests: {cpu: 2}, limits: {cpu: 1}}"},
	{"a claim of two sources", "S resourceClaims", "[{name: a, resourceClaimName: b, resourceClaimTemplateName: c}]"},
	{"a claim of none", "S resourceClaims", "[{name: a}]"},
	{"a claim's name", "S resourceClaims", "[{name: a_b, resourceClaimName: b}]"},
	{"no containers", "S containers", "[]"},

	// PodSecurityContext
	{"a user below 0", "S securityContext runAsUser", "-1"},
	{"a group below 0", "S securityContext runAsGroup", "-1"},
	{"a group of files above all", "S securityContext fsGroup", "4294967296"},
	{"a group more", "S securityContext supplementalGroups", "[-5]"},
	{"a sysctl twice", "S securityContext sysctls", "[{name: kernel.shm_rmid_forced, value: '1'}, {name: kernel.shm_rmid_forced, value: '0'}]"},
	{"a sysctl's name", "S securityContext sysctls", "[{name: Kernel.A, value: '1'}]"},
	{"a policy of groups", "S securityContext fsGroupChangePolicy", "Sometimes"},
	{"a profile's type", "S securityContext seccompProfile", "{type: Default}"},
	{"Localhost without a profile", "S securityContext seccompProfile", "{type: Localhost}"},
	{"a profile without Localhost", "S securityContext seccompProfile", "{type: RuntimeDefault, localhostProfile: a}"},
	{"a profile above its folder", "S securityContext seccompProfile", "{type: Localhost, localhostProfile: ../a}"},
	{"AppArmor's type", "S securityContext appArmorProfile", "{type: Complain}"},
	{"a sysctl of the host's network", "S", "{hostNetwork: true, hostUsers: null, securityContext: {sysctls: [{name: net.core.somaxconn, value: '1'}]}}"},
	{"the policy of more groups", "S securityContext supplementalGroupsPolicy", "None"},
	{"windows options of a linux pod", "S", "{os: {name: linux}, securityContext: {windowsOptions: {runAsUserName: a}}}"},

	// Affinity, TopologySpreadConstraint
	{"no term", "S affinity", "{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}"},
	{"In without values", "S affinity", "{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In}]}]}}}"},
	{"Exists with values", "S affinity", "{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists, values: [b]}]}]}}}"},
	{"Gt of two", "S affinity", "{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Gt, values: ['1', '2']}]}]}}}"},
	{"a lower-case operator", "S affinity", "{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: in, values: [b]}]}]}}}"},
	{"a value that no label has", "S affinity", "{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In, values: [b c]}]}]}}}"},
	{"a field of a node", "S affinity", "{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: spec.unschedulable, operator: In, values: ['true']}]}]}}}"},
	{"a weight of 0", "S affinity", "{nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 0, preference: {}}]}}"},
	{"no topology", "S affinity", "{podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: '', labelSelector: {}}]}}"},
	{"a weight of 101", "S affinity", "{podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 101, podAffinityTerm: {topologyKey: a}}]}}"},
	{"a selector of pods", "S affinity", "{podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, labelSelector: {matchLabels: {a: b c}}}]}}"},
	{"a namespace", "S affinity", "{podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, namespaces: [A]}]}}"},
	{"keys without a selector", "S affinity", "{podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, matchLabelKeys: [b]}]}}"},
	{"no skew", "S topologySpreadConstraints", "[{maxSkew: 0, topologyKey: a, whenUnsatisfiable: DoNotSchedule}]"},
	{"no topology key", "S topologySpreadConstraints", "[{maxSkew: 1, topologyKey: '', whenUnsatisfiable: DoNotSchedule}]"},
	{"no such way out", "S topologySpreadConstraints", "[{maxSkew: 1, topologyKey: a, whenUnsatisfiable: Ignore}]"},
	{"the same twice", "S topologySpreadConstraints", "[{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule}, {maxSkew: 2, topologyKey: a, whenUnsatisfiable: DoNotSchedule}]"},
	{"domains of what is only preferred", "S topologySpreadConstraints", "[{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway, minDomains: 2}]"},

	// Container
	{"no name", "C name", "''"},
	{"no DNS label", "C name", "a_b"},
	{"64 characters", "C name", strings.Repeat("a", 64)},
	{"a name twice", "S containers +", "{name: c0, image: x}"},
	{"a name of a container and an init container", "S initContainers +", "{name: c0, image: x}"},
	{"no image", "C image", gone},
	{"a pull policy", "C imagePullPolicy", "IfMissing"},
	{"a message policy", "C terminationMessagePolicy", "Logs"},
	{"port 0", "C ports", "[{containerPort: 0}]"},
	{"a port above all", "C ports", "[{containerPort: 65536}]"},
	{"a port of the host above all", "C ports", "[{containerPort: 1, hostPort: 70000}]"},
	{"a port's name of capitals", "C ports", "[{containerPort: 1, name: HTTP}]"},
	{"a port's name of 16 characters", "C ports", "[{containerPort: 1, name: aaaaaaaaaaaaaaaa}]"},
	{"a port's name without a letter", "C ports", "[{containerPort: 1, name: '123'}]"},
	{"a port's name twice", "C ports", "[{containerPort: 1, name: a}, {containerPort: 2, name: a}]"},
	{"a protocol", "C ports", "[{containerPort: 1, protocol: HTTP}]"},
	{"a port of the host twice", "C ports", "[{containerPort: 1, hostPort: 5}, {containerPort: 2, hostPort: 5}]"},
	{"another port of the host on its network", "S", "{hostNetwork: true, hostUsers: null, containers: [{name: a, image: b, ports: [{containerPort: 1, hostPort: 2}]}]}"},
	{"a variable without a name", "C env", "[{name: '', value: a}]"},
	{"a variable's name", "C env", "[{name: A=B, value: a}]"},
	{"a value and a source", "C env", "[{name: A, value: a, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]"},
	{"two sources", "C env", "[{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}, secretKeyRef: {name: a, key: b}}}]"},
	{"no source", "C env", "[{name: A, valueFrom: {}}]"},
	{"a field that no variable has", "C env", "[{name: A, valueFrom: {fieldRef: {fieldPath: metadata.labels}}}]"},
	{"a field that does not exist", "C env", "[{name: A, valueFrom: {fieldRef: {fieldPath: spec.nope}}}]"},
	{"a resource that no container has", "C env", "[{name: A, valueFrom: {resourceFieldRef: {resource: limits.gpu}}}]"},
	{"a divisor", "C env", "[{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: '10'}}}]"},
	{"a ConfigMap's key", "C env", "[{name: A, valueFrom: {configMapKeyRef: {name: c, key: a/b}}}]"},
	{"a ConfigMap's name", "C env", "[{name: A, valueFrom: {configMapKeyRef: {name: C_, key: a}}}]"},
	{"a Secret without a key", "C env", "[{name: A, valueFrom: {secretKeyRef: {name: c, key: ''}}}]"},
	{"envFrom of nothing", "C envFrom", "[{prefix: A}]"},
	{"envFrom of two", "C envFrom", "[{configMapRef: {name: a}, secretRef: {name: a}}]"},
	{"envFrom of a name", "C envFrom", "[{secretRef: {name: A}}]"},
	{"a mount of no volume", "C volumeMounts", "[{name: lost, mountPath: /a}]"},
	{"a mount without a path", "C volumeMounts 0 mountPath", "''"},
	{"a mount's path above its volume", "C volumeMounts 0 subPath", "a/../../b"},
	{"an absolute path in a volume", "C volumeMounts 0 subPath", "/a"},
	{"a propagation", "C volumeMounts 0 mountPropagation", "Shared"},
	{"Bidirectional of one without privileges", "C", "{securityContext: {privileged: false}, volumeMounts: [{name: v0, mountPath: /a, mountPropagation: Bidirectional}]}"},
	{"two mounts at one path", "C volumeMounts", "[{name: v0, mountPath: /a}, {name: v1, mountPath: /a}]"},
	{"a recursive read-only mount that is writable", "C volumeMounts 0", "{name: v0, mountPath: /a, recursiveReadOnly: Enabled}"},
	{"a device of no volume", "C volumeDevices", "[{name: lost, devicePath: /dev/a}]"},
	{"a device without a path", "C volumeDevices", "[{name: v0, devicePath: ''}]"},
	{"a request above the limit", "C resources", "{requests: {cpu: 2}, limits: {cpu: 1}}"},
	{"memory requested above its limit", "C resources", "{requests: {memory: 2Gi}, limits: {memory: 2000M}}"},
	{"a request below 0", "C resources", "{requests: {memory: -1}}"},
	{"a resource without a domain", "C resources", "{limits: {gpu: 1}}"},
	{"storage of a claim", "C resources", "{requests: {storage: 1Gi}}"},
	{"half a device", "C resources", "{limits: {example.com/gpu: 500m}}"},
	{"a device that is only requested", "C resources", "{requests: {example.com/gpu: 1}}"},
	{"hugepages alone", "C resources", "{limits: {hugepages-2Mi: 2Mi}}"},
	{"half a hugepage", "C resources", "{limits: {cpu: 1, hugepages-2Mi: 1Mi}}"},
	{"a claim that the pod has not", "C resources", "{claims: [{name: lost}]}"},
	{"a quantity", "C resources", "{limits: {memory: 1 GB}}"},
	{"a quantity with a unit of bytes", "C resources", "{limits: {memory: 64MB}}"},
	{"a resize policy", "C resizePolicy", "[{resourceName: cpu, restartPolicy: Always}]"},
	{"a restart policy of a container", "C restartPolicy", "Maybe"},

	// SecurityContext
	{"no escalation with privileges", "C securityContext", "{privileged: true, allowPrivilegeEscalation: false}"},
	{"no escalation with CAP_SYS_ADMIN", "C securityContext", "{allowPrivilegeEscalation: false, capabilities: {add: [CAP_SYS_ADMIN]}}"},
	{"a user below 0", "C securityContext", "{runAsUser: -1}"},
	{"a group above all", "C securityContext", "{runAsGroup: 2147483648}"},
	{"a way to mount proc", "C securityContext", "{procMount: None}"},
	{"Unmasked with the host's users", "C securityContext", "{procMount: Unmasked}"},
	{"a profile of no type", "C securityContext", "{seccompProfile: {localhostProfile: a}}"},
	{"AppArmor without a profile", "C securityContext", "{appArmorProfile: {type: Localhost}}"},
	{"a user's name of windows", "C securityContext", "{windowsOptions: {runAsUserName: ''}}"},

	// Probe, Lifecycle
	{"a probe without a handler", "R livenessProbe", "{periodSeconds: 5}"},
	{"a probe of two handlers", "R readinessProbe", "{exec: {command: [a]}, tcpSocket: {port: 1}}"},
	{"a liveness probe that succeeds twice", "R livenessProbe", "{exec: {command: [a]}, successThreshold: 2}"},
	{"a startup probe that succeeds twice", "R startupProbe", "{exec: {command: [a]}, successThreshold: 2}"},
	{"a period below 0", "R livenessProbe", "{exec: {command: [a]}, periodSeconds: -1}"},
	{"a delay below 0", "R readinessProbe", "{exec: {command: [a]}, initialDelaySeconds: -1}"},
	{"a threshold below 0", "R readinessProbe", "{exec: {command: [a]}, failureThreshold: -1}"},
	{"a timeout below 0", "R startupProbe", "{exec: {command: [a]}, timeoutSeconds: -1}"},
	{"a grace period of readiness", "R readinessProbe", "{exec: {command: [a]}, terminationGracePeriodSeconds: 5}"},
	{"a grace period of 0", "R livenessProbe", "{exec: {command: [a]}, terminationGracePeriodSeconds: 0}"},
	{"no command", "R livenessProbe", "{exec: {}}"},
	{"a probe's port above all", "R livenessProbe", "{httpGet: {port: 70000}}"},
	{"a probe's port by name", "R livenessProbe", "{tcpSocket: {port: Http_Port}}"},
	{"a probe's port 0", "R readinessProbe", "{grpc: {port: 0}}"},
	{"a scheme", "R livenessProbe", "{httpGet: {port: 80, scheme: https}}"},
	{"a header", "R livenessProbe", "{httpGet: {port: 80, httpHeaders: [{name: 'a b', value: c}]}}"},
	{"a hook without a handler", "R lifecycle", "{preStop: {}}"},
	{"a hook of two handlers", "R lifecycle", "{postStart: {exec: {command: [a]}, httpGet: {port: 1}}}"},
	{"a sleep below 0", "R lifecycle", "{preStop: {sleep: {seconds: -1}}}"},
	{"a sleep longer than all", "R lifecycle", "{preStop: {sleep: {seconds: 99999}}}"},
	{"a signal without an operating system", "S", "{os: null, containers: [{name: a, image: b, lifecycle: {stopSignal: SIGUSR1}}]}"},
	{"a probe of an init container", "S initContainers +", "{name: more, image: x, livenessProbe: {exec: {command: [a]}}}"},
	{"a hook of an init container", "S initContainers +", "{name: more, image: x, lifecycle: {preStop: {exec: {command: [a]}}}}"},

	// Volume
	{"no name", "V", "{name: '', emptyDir: {}}"},
	{"no DNS label", "V", "{name: A, emptyDir: {}}"},
	{"a name twice", "S volumes", "[{name: v0, emptyDir: {}}, {name: v0, hostPath: {path: /a}}]"},
	{"two sources", "V", "{name: more, emptyDir: {}, hostPath: {path: /a}}"},
	{"three sources", "V", "{name: more, nfs: {server: a, path: /a}, configMap: {name: c}, secret: {secretName: s}}"},
	{"no path", "V", "{name: more, hostPath: {path: ''}}"},
	{"a path with ..", "V", "{name: more, hostPath: {path: /a/../b}}"},
	{"a type of path", "V", "{name: more, hostPath: {path: /a, type: Folder}}"},
	{"a limit below 0", "V", "{name: more, emptyDir: {sizeLimit: -1}}"},
	{"a Secret without a name", "V", "{name: more, secret: {}}"},
	{"a ConfigMap without a name", "V", "{name: more, configMap: {}}"},
	{"a mode in decimal", "V", "{name: more, configMap: {name: c, defaultMode: 777}}"},
	{"a mode of an item", "V", "{name: more, secret: {secretName: s, items: [{key: a, path: b, mode: 4096}]}}"},
	{"an item without a key", "V", "{name: more, configMap: {name: c, items: [{key: '', path: b}]}}"},
	{"an absolute item", "V", "{name: more, configMap: {name: c, items: [{key: a, path: /b}]}}"},
	{"an item above its volume", "V", "{name: more, configMap: {name: c, items: [{key: a, path: ../b}]}}"},
	{"an item of the kubelet's", "V", "{name: more, configMap: {name: c, items: [{key: a, path: ..data}]}}"},
	{"a file of no field", "V", "{name: more, downwardAPI: {items: [{path: a}]}}"},
	{"a file of a field that files have not", "V", "{name: more, downwardAPI: {items: [{path: a, fieldRef: {fieldPath: status.podIP}}]}}"},
	{"a file of a resource of no container", "V", "{name: more, downwardAPI: {items: [{path: a, resourceFieldRef: {resource: limits.cpu}}]}}"},
	{"a token of a minute", "V", "{name: more, projected: {sources: [{serviceAccountToken: {path: a, expirationSeconds: 60}}]}}"},
	{"a token without a path", "V", "{name: more, projected: {sources: [{serviceAccountToken: {path: ''}}]}}"},
	{"a source of two", "V", "{name: more, projected: {sources: [{configMap: {name: a}, secret: {name: b}}]}}"},
	{"a path of two sources", "V", "{name: more, projected: {sources: [{configMap: {name: a, items: [{key: a, path: x}]}}, {secret: {name: b, items: [{key: a, path: x}]}}]}}"},
	{"a bundle of nobody", "V", "{name: more, projected: {sources: [{clusterTrustBundle: {path: a}}]}}"},
	{"a claim without a name", "V", "{name: more, persistentVolumeClaim: {claimName: ''}}"},
	{"an ephemeral claim without a mode", "V", "{name: more, ephemeral: {volumeClaimTemplate: {spec: {resources: {requests: {storage: 1Gi}}}}}}"},
	{"an ephemeral claim of no size", "V", "{name: more, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce]}}}}"},
	{"an ephemeral claim of nothing", "V", "{name: more, ephemeral: {}}"},
	{"an access mode", "V", "{name: more, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [RWO], resources: {requests: {storage: 1Gi}}}}}}"},
	{"NFS without a server", "V", "{name: more, nfs: {server: '', path: /a}}"},
	{"NFS of a relative path", "V", "{name: more, nfs: {server: a, path: b}}"},
	{"a CSI driver without a name", "V", "{name: more, csi: {driver: ''}}"},
	{"a CSI driver's name", "V", "{name: more, csi: {driver: a_b}}"},
	{"an image without a reference", "V", "{name: more, image: {}}"},
	{"an iSCSI unit above all", "V", "{name: more, iscsi: {targetPortal: a, iqn: 'iqn.2001-04.com.example:a', lun: 256}}"},
	{"Fibre Channel of both names", "V", "{name: more, fc: {targetWWNs: [a], wwids: [b], lun: 1}}"},
	{"an RBD without an image", "V", "{name: more, rbd: {monitors: [a], image: ''}}"},
	{"a flex volume without a driver", "V", "{name: more, flexVolume: {driver: ''}}"},
	{"a repository without an address", "V", "{name: more, gitRepo: {repository: ''}}"},

	// what no API type allows
	{"a number in words", "spec minReadySeconds", "five"},
	{"a list that is none", "S tolerations", "{operator: Exists}"},
	{"a field that does not exist", "C livenessprobe", "{exec: {command: [a]}}"},
	{"a variable that is a number", "C env", "[{name: A, value: 5}]"},
	{"a label that is a boolean", "spec template metadata labels", "{app: agent, enabled: true}"},
}

// beyond lists the breaks without a rule, at least for some fields.
var beyond = []string{
	"a finalizer", "a bundle of nobody", "a flex volume without a driver", "Fibre Channel of both names", "an RBD without an image",
	"a user's name of windows", "a repository without an address", "an iSCSI unit above all", "requests of the pod above its limits",
	"windows with a user's number", "a signal without an operating system",
}
