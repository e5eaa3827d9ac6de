package validate

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// whole is a manifest that an API server accepts, with a value for every rule.
const whole = `
metadata: {name: agent, namespace: kube-system, labels: {app: agent}, annotations: {example.com/owner: me}}
spec:
  selector: {matchLabels: {app: agent}}
  minReadySeconds: 5
  revisionHistoryLimit: 3
  template:
    metadata: {labels: {app: agent}, annotations: {controller.kubernetes.io/pod-deletion-cost: "-5", container.apparmor.security.beta.kubernetes.io/agent: unconfined}}
    spec:
      serviceAccountName: agent
      priorityClassName: system-node-critical
      runtimeClassName: gvisor
      preemptionPolicy: Never
      dnsConfig: {nameservers: [1.2.3.4], searches: [example.com., _tcp.example.com], options: [{name: ndots, value: "1"}]}
      os: {name: linux}
      overhead: {cpu: 10m}
      hostname: agent
      subdomain: agents
      readinessGates: [{conditionType: example.com/ready}]
      hostAliases: [{ip: 10.0.0.1, hostnames: [a.example.com]}]
      shareProcessNamespace: true
      nodeSelector: {pool: a}
      securityContext:
        runAsUser: 1
        fsGroup: 2
        supplementalGroups: [3]
        fsGroupChangePolicy: Always
        supplementalGroupsPolicy: Strict
        seccompProfile: {type: RuntimeDefault}
        sysctls: [{name: net.core.somaxconn, value: "1"}]
      resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]
      tolerations:
      - {operator: Exists}
      - {key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 5}
      - {key: b, value: c}
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
            - matchExpressions: [{key: pool, operator: In, values: [a, b]}, {key: cores, operator: Gt, values: ["4"]}, {key: x, operator: Exists}]
              matchFields: [{key: metadata.name, operator: NotIn, values: [w-1]}]
          preferredDuringSchedulingIgnoredDuringExecution:
          - {weight: 5, preference: {matchExpressions: [{key: a, operator: DoesNotExist}]}}
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - {topologyKey: zone, labelSelector: {matchLabels: {app: x}}, namespaces: [a]}
          preferredDuringSchedulingIgnoredDuringExecution:
          - {weight: 100, podAffinityTerm: {topologyKey: zone, labelSelector: {matchLabels: {app: x}}}}
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, minDomains: 2, labelSelector: {matchLabels: {app: agent}}}
      - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}
      volumes:
      - {name: host, hostPath: {path: /var, type: Directory}}
      - {name: empty, emptyDir: {sizeLimit: 1Gi}}
      - {name: secret, secret: {secretName: s, defaultMode: 0600, items: [{key: a, path: a/b, mode: 0400}]}}
      - {name: nfs, nfs: {server: x, path: /y}}
      - {name: fields, downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}, {path: cpu, resourceFieldRef: {containerName: agent, resource: limits.cpu, divisor: 1m}}]}}
      - name: all
        projected:
          sources:
          - serviceAccountToken: {path: token, expirationSeconds: 600}
          - configMap: {name: c, items: [{key: a, path: c}]}
          - secret: {name: s, items: [{key: a, path: s}]}
      - {name: claim, persistentVolumeClaim: {claimName: c}}
      - {name: own, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}
      initContainers:
      - {name: init, image: init, ports: [{containerPort: 1, hostPort: 1}]}
      - name: sidecar
        image: sidecar
        restartPolicy: Always
        startupProbe: {grpc: {port: 5}}
      containers:
      - name: agent
        image: agent
        ports: [{name: http, containerPort: 80, hostPort: 8080}, {name: dns, containerPort: 53, protocol: UDP}]
        env:
        - {name: A.b-c, value: a}
        - {name: B, valueFrom: {fieldRef: {fieldPath: "metadata.labels['app']"}}}
        - {name: C, valueFrom: {configMapKeyRef: {name: c, key: k}}}
        - {name: D, valueFrom: {secretKeyRef: {name: s, key: .k}}}
        - {name: E, valueFrom: {resourceFieldRef: {resource: requests.memory, divisor: 1Mi}}}
        envFrom: [{prefix: P_, configMapRef: {name: c}}, {secretRef: {name: s}}]
        volumeMounts:
        - {name: host, mountPath: /host, mountPropagation: HostToContainer}
        - {name: empty, mountPath: /empty, subPath: a/b}
        - {name: all, mountPath: /all, readOnly: true, recursiveReadOnly: Enabled}
        volumeDevices: [{name: claim, devicePath: /dev/x}]
        resources:
          requests: {cpu: 100m, memory: 64Mi, hugepages-2Mi: 4Mi}
          limits: {cpu: 1, memory: 128Mi, hugepages-2Mi: 4Mi, example.com/gpu: 2}
          claims: [{name: gpu}]
        resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}]
        securityContext: {runAsUser: 5, runAsGroup: 6, allowPrivilegeEscalation: false, capabilities: {add: [SYS_ADMIN]}, procMount: Default, appArmorProfile: {type: Unconfined}}
        livenessProbe: {httpGet: {port: http, httpHeaders: [{name: X-A, value: b}]}, periodSeconds: 5}
        readinessProbe: {exec: {command: [a]}, successThreshold: 3}
        startupProbe: {tcpSocket: {port: 80}, terminationGracePeriodSeconds: 5}
        lifecycle: {postStart: {exec: {command: [a]}}, preStop: {sleep: {seconds: 5}}}
      - {name: second, image: second, securityContext: {privileged: true}, volumeMounts: [{name: host, mountPath: /host, mountPropagation: Bidirectional}]}
`

const (
	theSpec = "spec template spec "
	first   = theSpec + "containers 0 "
)

// broken lists single changes of whole. Each has the field that the API server rejects, and the message from its
// documentation and its source. The test fails for a rule that no change breaks.
var broken = []struct{ path, value, want string }{
	{"metadata name", "A_b", "metadata.name: Invalid value"},
	{"metadata labels app", "a b", "metadata.labels: Invalid value"},
	{"spec selector matchLabels", `{app: "a b"}`, "spec.selector.matchLabels: Invalid value"},
	{"spec selector", "{}", "spec.selector: Invalid value: {}: empty selector is invalid for daemonset"},
	{"spec template metadata labels", "{app: other}", "spec.template.metadata.labels: Invalid value: {\"app\":\"other\"}: `selector` does not match template `labels`"},
	{"spec template metadata annotations", `{"a b": c}`, "spec.template.annotations: Invalid value"},
	{"spec template metadata annotations", "{controller.kubernetes.io/pod-deletion-cost: low}", "spec.template.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: \"low\": must be a 32bit integer"},
	{"spec template metadata annotations", "{container.apparmor.security.beta.kubernetes.io/other: unconfined}", `spec.template.annotations[container.apparmor.security.beta.kubernetes.io/other]: Invalid value: "other": container not found`},
	{"spec minReadySeconds", "-1", "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0"},
	{"spec revisionHistoryLimit", "-1", "spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0"},
	{"spec updateStrategy", "{type: Recreate}", "spec.updateStrategy: Unsupported value"},
	{"spec updateStrategy", "{rollingUpdate: {maxUnavailable: 150%}}", `spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "150%": must not be greater than 100%`},
	{"spec updateStrategy", "{rollingUpdate: {maxSurge: 1}}", "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero"},

	{theSpec + "containers 1 name", "agent", `spec.template.spec.containers[1].name: Duplicate value: "agent"`},
	{theSpec + "initContainers 0 name", "agent", `spec.template.spec.initContainers[0].name: Duplicate value: "agent"`},
	{theSpec + "containers 1 ports", "[{containerPort: 81, hostPort: 8080}]", `spec.template.spec.containers[1].ports[0].hostPort: Duplicate value: "TCP//8080"`},
	{theSpec + "hostNetwork", "true", "spec.template.spec.containers[0].ports[0].hostPort: Invalid value: 8080: must match `containerPort` when `hostNetwork` is true"},
	{theSpec + "hostNetwork", "true", "spec.template.spec.securityContext.sysctls[0].name: Invalid value: \"net.core.somaxconn\": may not be specified when 'hostNetwork' is true"},
	{theSpec + "hostPID", "true", "spec.template.spec.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled"},
	{theSpec, "{hostUsers: false, hostIPC: true}", "spec.template.spec.HostIPC: Forbidden: when `hostUsers` is false"},
	{theSpec + "resourceClaims", "[{name: gpu}]", "spec.template.spec.resourceClaims[0]: Invalid value"},
	{theSpec + "ephemeralContainers", "[{name: debug, image: x}]", "spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template"},
	{theSpec + "resources", "{requests: {cpu: 2}, limits: {cpu: 1}}", `spec.template.spec.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1`},
	{theSpec + "restartPolicy", "OnFailure", `spec.template.spec.restartPolicy: Unsupported value: "OnFailure": supported values: "Always"`},
	{theSpec + "activeDeadlineSeconds", "5", "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in DaemonSet is not Supported"},
	{theSpec + "dnsPolicy", "Cluster", `spec.template.spec.dnsPolicy: Unsupported value: "Cluster"`},
	{theSpec, "{dnsPolicy: None, dnsConfig: null}", "spec.template.spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"},
	{theSpec + "dnsConfig nameservers", "[dns.example.com]", "spec.template.spec.dnsConfig.nameservers[0]: Invalid value"},
	{theSpec + "dnsConfig searches", "[a b]", "spec.template.spec.dnsConfig.searches[0]: Invalid value"},
	{theSpec + "securityContext runAsUser", "-1", "spec.template.spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive"},
	{theSpec + "securityContext sysctls", "[{name: kernel.sem, value: a}, {name: kernel.sem, value: b}]", `spec.template.spec.securityContext.sysctls[1].name: Duplicate value: "kernel.sem"`},
	{theSpec + "securityContext fsGroupChangePolicy", "Never", "spec.template.spec.securityContext.fsGroupChangePolicy: Unsupported value"},
	{theSpec + "securityContext supplementalGroupsPolicy", "Never", "spec.template.spec.securityContext.supplementalGroupsPolicy: Unsupported value"},
	{theSpec + "securityContext seccompProfile", "{type: Localhost}", "spec.template.spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost"},
	{theSpec + "securityContext appArmorProfile", "{type: Localhost, localhostProfile: ' a'}", "spec.template.spec.securityContext.appArmorProfile.localhostProfile: Invalid value: \" a\": must not be padded with whitespace"},
	{theSpec + "securityContext seccompProfile", "{localhostProfile: a}", "spec.template.spec.securityContext.seccompProfile.type: Required value: type is required when seccompProfile is set"},
	{theSpec + "serviceAccountName", "My_Agent", "spec.template.spec.serviceAccountName: Invalid value"},
	{theSpec + "hostname", "a.b", "spec.template.spec.hostname: Invalid value"},
	{theSpec + "hostAliases", "[{ip: 10.0.0, hostnames: [a]}]", "spec.template.spec.hostAliases[0].ip: Invalid value"},
	{theSpec + "preemptionPolicy", "Always", "spec.template.spec.preemptionPolicy: Unsupported value"},
	{theSpec + "overhead", "{cpu: -1}", "spec.template.spec.overhead.limits[cpu]: Invalid value"},
	{theSpec + "readinessGates", "[{conditionType: a b}]", "spec.template.spec.readinessGates[0].conditionType: Invalid value"},
	{theSpec + "schedulingGates", "[{name: a}, {name: a}]", `spec.template.spec.schedulingGates[1]: Duplicate value: "a"`},
	{theSpec + "os", "{name: windows}", "spec.template.spec.containers[0].securityContext.capabilities: Forbidden: cannot be set for a windows pod"},
	{theSpec + "os", "{name: windows}", "spec.template.spec.shareProcessNamespace: Forbidden: cannot be set for a windows pod"},
	{theSpec + "securityContext windowsOptions", "{runAsUserName: a}", "spec.template.spec.securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod"},
	{theSpec + "affinity podAntiAffinity requiredDuringSchedulingIgnoredDuringExecution 0", "{topologyKey: zone, matchLabelKeys: [a]}", "podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys: Forbidden: must not be specified when labelSelector is not set"},
	{theSpec + "os", "{name: plan9}", `spec.template.spec.os: Unsupported value: "plan9"`},

	{theSpec + "nodeSelector", `{"a b": c}`, "spec.template.spec.nodeSelector: Invalid value"},
	{required, "{nodeSelectorTerms: []}", "nodeSelectorTerms: Required value: must have at least one node selector term"},
	{required + " nodeSelectorTerms 0 matchExpressions 0", "{key: pool, operator: In, values: []}", "nodeSelectorTerms[0].matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"},
	{required + " nodeSelectorTerms 0 matchExpressions 0", "{key: pool, operator: Exists, values: [a]}", "nodeSelectorTerms[0].matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"},
	{required + " nodeSelectorTerms 0 matchExpressions 0", "{key: pool, operator: Equals, values: [a]}", "nodeSelectorTerms[0].matchExpressions[0].operator: Invalid value: \"Equals\": not a valid selector operator"},
	{required + " nodeSelectorTerms 0 matchExpressions 0", "{key: pool, operator: In, values: [a b]}", "nodeSelectorTerms[0].matchExpressions[0].values[0]: Invalid value"},
	{required + " nodeSelectorTerms 0 matchFields 0", "{key: metadata.name, operator: In, values: [a, b]}", "nodeSelectorTerms[0].matchFields[0].values: Required value"},
	{theSpec + "affinity nodeAffinity preferredDuringSchedulingIgnoredDuringExecution 0 weight", "101", "preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 101: must be in the range 1-100"},
	{theSpec + "affinity podAntiAffinity requiredDuringSchedulingIgnoredDuringExecution 0 topologyKey", `""`, "podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Required value: can not be empty"},
	{theSpec + "topologySpreadConstraints 0 maxSkew", "0", "spec.template.spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero"},
	{theSpec + "topologySpreadConstraints 1 whenUnsatisfiable", "DoNotSchedule", "spec.template.spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value"},
	{theSpec + "topologySpreadConstraints 1 minDomains", "2", "spec.template.spec.topologySpreadConstraints[1].minDomains: Invalid value"},
	{theSpec + "tolerations 1 key", "a b", "spec.template.spec.tolerations[1].key: Invalid value"},
	{theSpec + "tolerations 1 effect", "NoSchedule", "spec.template.spec.tolerations[1].effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when `tolerationSeconds` is set"},
	{theSpec + "tolerations 0 value", "a", "spec.template.spec.tolerations[0].operator: Invalid value: \"a\": value must be empty when `operator` is 'Exists'"},
	{theSpec + "tolerations 2 effect", "Never", "spec.template.spec.tolerations[2].effect: Unsupported value"},

	{theSpec + "volumes 0 emptyDir", "{}", "spec.template.spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type"},
	{theSpec + "volumes 3 name", "empty", `spec.template.spec.volumes[3].name: Duplicate value: "empty"`},
	{theSpec + "volumes 1 emptyDir sizeLimit", "-1", "spec.template.spec.volumes[1].emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity"},
	{theSpec + "volumes 0 hostPath path", "/a/../b", "spec.template.spec.volumes[0].hostPath.path: Invalid value: \"/a/../b\": must not contain '..'"},
	{theSpec + "volumes 2 secret secretName", `""`, "spec.template.spec.volumes[2].secret.secretName: Required value"},
	{theSpec + "volumes 3 nfs path", "data", `spec.template.spec.volumes[3].nfs.path: Invalid value: "data": must be an absolute path`},
	{theSpec + "volumes 2 secret defaultMode", "644000", "spec.template.spec.volumes[2].secret.defaultMode: Invalid value: 644000: must be a number between 0 and 0777 (octal), both inclusive"},
	{theSpec + "volumes 2 secret items 0 path", "/a", `spec.template.spec.volumes[2].secret.items[0].path: Invalid value: "/a": must be a relative path`},
	{theSpec + "volumes 4 downwardAPI items 0 fieldRef fieldPath", "spec.nodeName", `spec.template.spec.volumes[4].downwardAPI.fieldRef.fieldPath: Unsupported value: "spec.nodeName"`},
	{theSpec + "volumes 5 projected sources 1 secret", "{name: x}", "spec.template.spec.volumes[5].projected.sources[1]: Forbidden: may not specify more than 1 volume type per source"},
	{theSpec + "volumes 5 projected sources 0 serviceAccountToken expirationSeconds", "60", "spec.template.spec.volumes[5].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes"},
	{theSpec + "volumes 5 projected sources 2 secret items 0 path", "c", `spec.template.spec.volumes[5].projected: Invalid value: "c": conflicting duplicate paths`},
	{theSpec + "volumes 7 ephemeral volumeClaimTemplate spec accessModes", "[]", "spec.template.spec.volumes[7].ephemeral.volumeClaimTemplate.spec.accessModes: Required value: at least 1 access mode is required"},

	{first + "name", "a_b", `spec.template.spec.containers[0].name: Invalid value: "a_b"`},
	{first + "image", `""`, "spec.template.spec.containers[0].image: Required value"},
	{first + "terminationMessagePolicy", "Logs", "spec.template.spec.containers[0].terminationMessagePolicy: Unsupported value"},
	{first + "ports 1 name", "http", `spec.template.spec.containers[0].ports[1].name: Duplicate value: "http"`},
	{first + "ports 0 containerPort", "70000", "spec.template.spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive"},
	{first + "ports 0 hostPort", "-1", "spec.template.spec.containers[0].ports[0].hostPort: Invalid value: -1: must be between 1 and 65535, inclusive"},
	{first + "ports 0 protocol", "HTTP", `spec.template.spec.containers[0].ports[0].protocol: Unsupported value: "HTTP": supported values: "SCTP", "TCP", "UDP"`},
	{first + "env 0 name", "A=B", "spec.template.spec.containers[0].env[0].name: Invalid value"},
	{first + "env 1 value", "x", "spec.template.spec.containers[0].env[1].valueFrom: Invalid value: \"\": may not be specified when `value` is not empty"},
	{first + "env 2 valueFrom configMapKeyRef key", "a b", "spec.template.spec.containers[0].env[2].valueFrom.configMapKeyRef.key: Invalid value"},
	{first + "env 1 valueFrom fieldRef fieldPath", "spec.tolerations", `spec.template.spec.containers[0].env[1].valueFrom.fieldRef.fieldPath: Unsupported value: "spec.tolerations"`},
	{first + "env 4 valueFrom resourceFieldRef divisor", "1m", "spec.template.spec.containers[0].env[4].valueFrom.resourceFieldRef.divisor: Invalid value: \"requests.memory\": only divisor's values"},
	{first + "envFrom 1 configMapRef", "{name: c}", "spec.template.spec.containers[0].envFrom: Invalid value: \"\": may not have more than one field specified at a time"},
	{first + "volumeMounts 0 name", "lost", `spec.template.spec.containers[0].volumeMounts[0].name: Not found: "lost"`},
	{first + "volumeMounts 1 mountPath", "/host", `spec.template.spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/host": must be unique`},
	{first + "volumeMounts 1 subPath", "../a", "spec.template.spec.containers[0].volumeMounts.subPath: Invalid value: \"../a\": must not contain '..'"},
	{first + "volumeMounts 0 mountPropagation", "Bidirectional", "spec.template.spec.containers[0].volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers"},
	{first + "volumeMounts 2 readOnly", "false", "spec.template.spec.containers[0].volumeMounts.recursiveReadOnly: Forbidden: may only be specified when readOnly is true"},
	{first + "volumeDevices 0 name", "secret", `spec.template.spec.containers[0].volumeDevices[0].name: Invalid value: "secret": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode`},
	{first + "imagePullPolicy", "Sometimes", "spec.template.spec.containers[0].imagePullPolicy: Unsupported value"},
	{first + "resources claims", "[{name: other}]", `spec.template.spec.containers[0].resources.claims[0]: Not found: "other": must be one of the names in pod.spec.resourceClaims`},
	{first + "resizePolicy", "[{resourceName: disk, restartPolicy: NotRequired}]", "spec.template.spec.containers[0].resizePolicy: Unsupported value"},
	{first + "restartPolicy", "Sometimes", "spec.template.spec.containers[0].restartPolicy: Unsupported value"},
	{first + "resources limits gpu", "1", `spec.template.spec.containers[0].resources.limits[gpu]: Invalid value: "gpu": must be a standard resource for containers`},
	{first + "resources requests memory", "-1", `spec.template.spec.containers[0].resources.requests[memory]: Invalid value: "-1": must be greater than or equal to 0`},
	{first + "resources limits example.com/gpu", "500m", `spec.template.spec.containers[0].resources.limits[example.com/gpu]: Invalid value: "500m": must be an integer`},
	{first + "resources", "{requests: {cpu: 1, hugepages-2Mi: 3Mi}, limits: {hugepages-2Mi: 3Mi}}", `spec.template.spec.containers[0].resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi`},
	{first + "resources requests cpu", "2", `spec.template.spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1`},
	{first + "resources", "{requests: {example.com/gpu: 1}}", "spec.template.spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources"},
	{first + "resources", "{limits: {hugepages-2Mi: 4Mi}}", "spec.template.spec.containers[0].resources: Forbidden: HugePages require cpu or memory"},
	{first + "securityContext runAsUser", "-5", "spec.template.spec.containers[0].securityContext.runAsUser: Invalid value: -5: must be between 0 and 2147483647, inclusive"},
	{first + "securityContext procMount", "Unmasked", "spec.template.spec.containers[0].securityContext.procMount: Invalid value: \"Unmasked\": `hostUsers` must be false to use `Unmasked`"},
	{first + "securityContext appArmorProfile", "{type: Strict}", `spec.template.spec.containers[0].securityContext.appArmorProfile.type: Unsupported value: "Strict"`},
	{first + "securityContext privileged", "true", "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"},
	{first + "livenessProbe tcpSocket", "{port: 1}", "spec.template.spec.containers[0].livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type"},
	{first + "readinessProbe exec", "{}", "spec.template.spec.containers[0].readinessProbe.exec.command: Required value"},
	{first + "livenessProbe httpGet port", "70000", "spec.template.spec.containers[0].livenessProbe.httpGet.port: Invalid value: 70000: must be between 1 and 65535, inclusive"},
	{first + "livenessProbe httpGet port", "http_port", "spec.template.spec.containers[0].livenessProbe.httpGet.port: Invalid value: \"http_port\""},
	{first + "livenessProbe httpGet scheme", "http", `spec.template.spec.containers[0].livenessProbe.httpGet.scheme: Unsupported value: "http": supported values: "HTTP", "HTTPS"`},
	{first + "livenessProbe httpGet httpHeaders 0 name", "a b", "spec.template.spec.containers[0].livenessProbe.httpGet.httpHeaders: Invalid value"},
	{first + "lifecycle preStop sleep seconds", "31", "spec.template.spec.containers[0].lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)"},
	{first + "livenessProbe periodSeconds", "-5", "spec.template.spec.containers[0].livenessProbe.periodSeconds: Invalid value: -5: must be greater than or equal to 0"},
	{first + "startupProbe terminationGracePeriodSeconds", "0", "spec.template.spec.containers[0].startupProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0"},
	{first + "livenessProbe successThreshold", "2", "spec.template.spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1"},
	{first + "readinessProbe terminationGracePeriodSeconds", "5", "spec.template.spec.containers[0].readinessProbe.terminationGracePeriodSeconds: Invalid value: 5: must not be set for readinessProbes"},
	{theSpec + "initContainers 0 readinessProbe", "{exec: {command: [a]}}", "spec.template.spec.initContainers[0].readinessProbe: Forbidden: may not be set for init containers without restartPolicy=Always"},
	{theSpec + "initContainers 1 startupProbe", "{}", "spec.template.spec.initContainers[1].startupProbe: Required value: must specify a handler type"},
}

const required = theSpec + "affinity nodeAffinity requiredDuringSchedulingIgnoredDuringExecution"

// TestRules checks that whole is valid, that each change causes its error, and that the error disappears without the
// broken row.
func TestRules(t *testing.T) {
	if errs := DaemonSet(nil, changed(t, "metadata name", "agent"), ""); len(errs) > 0 {
		t.Fatalf("nothing is broken: %v", errs)
	}
	needed := map[string]bool{}
	for _, tt := range broken {
		ds := changed(t, tt.path, tt.value)
		has := func(without string) bool {
			for _, e := range errorsOf(nil, ds, "", without) {
				if strings.Contains(e.Error(), tt.want) {
					return true
				}
			}
			return false
		}
		if !has("") {
			t.Errorf("%s: %s: got %v, want %q", tt.path, tt.value, DaemonSet(nil, ds, ""), tt.want)
		}
		for _, r := range Rules() {
			if !needed[r.row] && !has(r.row) {
				needed[r.row] = true
			}
		}
	}
	for _, r := range Rules() {
		if !needed[r.row] {
			t.Errorf("no break needs the rule of %s: %s", r.Field, r.Must)
		}
	}
}

// TestRulesDistinct checks that the names of rows are unique.
func TestRulesDistinct(t *testing.T) {
	var all []string
	for _, r := range Rules() {
		if slices.Contains(all, r.row) {
			t.Errorf("two rows are %q", r.row)
		}
		all = append(all, r.row)
	}
}

// changed returns whole with the value at a path replaced, or merged if it is a
// map.
func changed(t *testing.T, path, value string) *appsv1.DaemonSet {
	t.Helper()
	var o map[string]any
	if err := yaml.Unmarshal([]byte(whole), &o); err != nil {
		t.Fatal(err)
	}
	var v any
	if err := yaml.Unmarshal([]byte(value), &v); err != nil {
		t.Fatal(err)
	}
	put(o, strings.Fields(path), v)
	text, err := yaml.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	ds := &appsv1.DaemonSet{}
	if err := yaml.UnmarshalStrict(text, ds); err != nil {
		t.Fatalf("%s: %s: %v", path, value, err)
	}
	template.DefaultDaemonSet(ds, "")
	return ds
}

// put sets the value at a path of field names and indexes. A value for the spec
// is merged into it.
func put(v any, path []string, value any) {
	if l, ok := v.([]any); ok {
		i, err := strconv.Atoi(path[0])
		if err != nil {
			panic(err)
		}
		if len(path) == 1 {
			l[i] = value
		} else {
			put(l[i], path[1:], value)
		}
		return
	}
	m := v.(map[string]any)
	switch merged, ok := value.(map[string]any); {
	case len(path) > 1 && m[path[0]] != nil:
		put(m[path[0]], path[1:], value)
	case len(path) > 1:
		m[path[0]] = map[string]any{}
		put(m[path[0]], path[1:], value)
	case ok && path[0] == "spec":
		maps.Copy(m["spec"].(map[string]any), merged)
	default:
		m[path[0]] = value
	}
}
