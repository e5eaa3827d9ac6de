package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// admissionCase is a namespace with its objects, and a template.
type admissionCase struct {
	name                 string // of the namespace
	missing, terminating bool   // of the namespace
	namespace            *corev1.Namespace
	accounts             []*corev1.ServiceAccount
	quotas               []*corev1.ResourceQuota
	ranges               []*corev1.LimitRange
	template             corev1.PodTemplateSpec
	twists               []string // the twists that were drawn

	*rand.Rand
}

func (k *admissionCase) String() string {
	parts := []any{k.namespace, k.accounts, k.quotas, k.ranges, k.template}
	var b strings.Builder
	fmt.Fprintf(&b, "namespace %s, missing: %t, terminating: %t, twists: %s\n", k.name, k.missing, k.terminating, strings.Join(k.twists, ", "))
	for _, p := range parts {
		b.WriteString("---\n" + asYAML(p))
	}
	return b.String()
}

func (k *admissionCase) daemonSet() *appsv1.DaemonSet {
	labels := map[string]string{"app": "agent"}
	t := k.template.DeepCopy()
	t.Labels = labels
	return &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: "agent", Namespace: k.name, UID: "11111111-2222-3333-4444-555555555555"},
		Spec:       appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: *t},
	}
}

// drawAdmission draws a case: a template that is admitted everywhere, and twists that may cause its
// rejection. A quarter has no twists. Every reason occurs in turn.
func drawAdmission(r *rand.Rand, i int) *admissionCase {
	name := fmt.Sprintf("case-%03d", i)
	k := &admissionCase{Rand: r, name: name, namespace: &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}}
	k.base()
	n := []int{0, 1, 1, 1, 2, 2, 3, 4}[r.IntN(8)]
	if n > 0 {
		k.twist(i % len(twists))
	}
	for range n - 1 {
		k.twist(r.IntN(len(twists)))
	}
	return k
}

func (k *admissionCase) twist(i int) {
	k.twists = append(k.twists, twists[i].name)
	twists[i].apply(k)
}

func (k *admissionCase) chance(percent int) bool { return k.IntN(100) < percent }

func oneOf[E any](k *admissionCase, all ...E) E { return all[k.IntN(len(all))] }

// base returns a template that even the level restricted admits, with or without requests, in an
// unlimited namespace.
func (k *admissionCase) base() {
	no, yes := false, true
	spec := &k.template.Spec
	spec.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: &yes, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
	container := func(name string) corev1.Container {
		c := corev1.Container{Name: name, Image: "example.com/" + name + ":1"}
		c.SecurityContext = &corev1.SecurityContext{AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}
		if k.chance(60) {
			c.Resources = k.requirements()
		}
		return c
	}
	spec.Containers = append(spec.Containers, container("main"))
	if k.chance(30) {
		spec.Containers = append(spec.Containers, container("proxy"))
	}
	if k.chance(25) {
		spec.InitContainers = append(spec.InitContainers, container("init"))
	}
	if k.chance(15) {
		sidecar := container("sidecar")
		always := corev1.ContainerRestartPolicyAlways
		sidecar.RestartPolicy = &always
		spec.InitContainers = append(spec.InitContainers, sidecar)
	}
	if k.chance(10) {
		spec.Tolerations = append(spec.Tolerations, oneOf(k,
			corev1.Toleration{Operator: corev1.TolerationOpExists},
			corev1.Toleration{Key: "sandbox", Operator: corev1.TolerationOpEqual, Value: "yes", Effect: corev1.TaintEffectNoSchedule},
			corev1.Toleration{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
		))
	}
	if k.chance(30) {
		k.namespace.Labels["pod-security.kubernetes.io/"+oneOf(k, "warn", "audit")] = "restricted"
	}
	if k.chance(40) {
		k.enforce(oneOf(k, "privileged", "baseline", "restricted"))
	}
}

func (k *admissionCase) enforce(level string) {
	k.namespace.Labels["pod-security.kubernetes.io/enforce"] = level
	if k.chance(60) {
		k.namespace.Labels["pod-security.kubernetes.io/enforce-version"] = oneOf(k, "latest", "v1.0", "v1.8", "v1.19", "v1.22", "v1.24", "v1.25", "v1.30", "v1.34", "v1.37", "v1.60")
	}
}

// requirements draws valid requests and limits: requests do not exceed limits.
func (k *admissionCase) requirements() corev1.ResourceRequirements {
	r := corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}
	sizes := map[corev1.ResourceName][]string{
		corev1.ResourceCPU:              {"0", "1m", "50m", "100m", "250m", "0.5", "1", "2"},
		corev1.ResourceMemory:           {"0", "1", "16Mi", "64Mi", "100M", "128974848", "1Gi"},
		corev1.ResourceEphemeralStorage: {"1Mi", "1Gi", "2Gi"},
	}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		if name == corev1.ResourceEphemeralStorage && k.chance(80) {
			continue
		}
		all := sizes[name]
		low := k.IntN(len(all))
		high := low + k.IntN(len(all)-low)
		if k.chance(60) {
			r.Requests[name] = resource.MustParse(all[low])
		}
		if k.chance(50) {
			r.Limits[name] = resource.MustParse(all[high])
		}
	}
	if k.chance(8) {
		r.Limits["example.com/gpu"] = resource.MustParse(oneOf(k, "1", "2"))
	}
	if k.chance(6) {
		r.Limits["hugepages-2Mi"] = resource.MustParse(oneOf(k, "2Mi", "4Mi"))
		r.Limits[corev1.ResourceMemory] = resource.MustParse("2Gi")
	}
	return r
}

// container returns one of the containers.
func (k *admissionCase) container() *corev1.Container {
	spec := &k.template.Spec
	list, i := spec.InitContainers, k.IntN(len(spec.Containers)+len(spec.InitContainers))
	if i >= len(list) {
		list, i = spec.Containers, i-len(list)
	}
	c := &list[i]
	if c.SecurityContext == nil {
		c.SecurityContext = &corev1.SecurityContext{}
	}
	if c.SecurityContext.Capabilities == nil && spec.OS == nil {
		c.SecurityContext.Capabilities = &corev1.Capabilities{}
	}
	return c
}

// twists are possible reasons why a pod is rejected or changed.
var twists = []struct {
	name  string
	apply func(*admissionCase)
}{
	{"no namespace", func(k *admissionCase) {
		if k.chance(60) {
			k.missing = true
		}
	}},
	{"terminating namespace", func(k *admissionCase) {
		if k.chance(60) {
			k.terminating = true
			k.namespace.Spec.Finalizers = []corev1.FinalizerName{"example.com/stays"}
		}
	}},
	{"service account", func(k *admissionCase) {
		k.template.Spec.ServiceAccountName = oneOf(k, "gone", "gone", "builder", "default")
		k.account("builder")
	}},
	{"mountable secrets", func(k *admissionCase) {
		k.template.Spec.ServiceAccountName = "strict"
		a := k.account("strict")
		a.Annotations = map[string]string{"kubernetes.io/enforce-mountable-secrets": oneOf(k, "true", "true", "1", "false", "yes")}
		a.Secrets = []corev1.ObjectReference{{Name: "known"}}
		name := oneOf(k, "known", "unknown", "unknown")
		switch c := k.container(); k.IntN(4) {
		case 0:
			k.template.Spec.Volumes = append(k.template.Spec.Volumes, corev1.Volume{Name: "s", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: name}}})
		case 1:
			c.Env = append(c.Env, corev1.EnvVar{Name: "KEY", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: "k"}}})
		case 2:
			c.EnvFrom = append(c.EnvFrom, corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}})
		case 3:
			k.template.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: oneOf(k, "pull", "pull", "other")}}
		}
	}},
	{"pull secrets", func(k *admissionCase) {
		k.template.Spec.ServiceAccountName = "puller"
		k.account("puller")
		if k.chance(40) {
			k.template.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "mine"}}
		}
	}},
	{"priority class", func(k *admissionCase) {
		k.template.Spec.PriorityClassName = oneOf(k, k.gone(), k.gone(), "high", "never", "system-node-critical")
	}},
	{"priority", func(k *admissionCase) {
		k.template.Spec.PriorityClassName = oneOf(k, "", "high", "never", "system-node-critical")
		k.template.Spec.Priority = oneOf(k, new(int32), number32(1000), number32(7), number32(2000001000))
	}},
	{"preemption policy", func(k *admissionCase) {
		k.template.Spec.PriorityClassName = oneOf(k, "", "high", "never")
		k.template.Spec.PreemptionPolicy = oneOf(k, policy(corev1.PreemptNever), policy(corev1.PreemptLowerPriority))
	}},
	{"runtime class", func(k *admissionCase) { k.runtimeClass(oneOf(k, k.gone(), k.gone(), "plain", "sandbox", "heavy")) }},
	{"overhead", func(k *admissionCase) {
		k.runtimeClass(oneOf(k, "", "plain", "sandbox", "heavy"))
		k.template.Spec.Overhead = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(oneOf(k, "250m", "0.25", "1"))}
	}},
	{"overhead without a class", func(k *admissionCase) {
		k.runtimeClass(oneOf(k, "", "plain"))
		k.template.Spec.Overhead = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m")}
	}},
	{"node selector", func(k *admissionCase) {
		k.runtimeClass("sandbox")
		k.template.Spec.NodeSelector = map[string]string{oneOf(k, "sandbox", "sandbox", "sandbox", "disk"): oneOf(k, "yes", "no", "no", "no")}
	}},
	{"same ports", func(k *admissionCase) {
		spec := &k.template.Spec
		spec.HostNetwork = k.chance(80)
		if len(spec.Containers) < 3 {
			spec.Containers = append(spec.Containers, corev1.Container{Name: "other", Image: "example.com/other:1"})
		}
		for i := range spec.Containers {
			spec.Containers[i].Ports = []corev1.ContainerPort{{ContainerPort: oneOf[int32](k, 8080, 8080, 9090), Protocol: oneOf(k, "", corev1.ProtocolUDP)}}
		}
	}},
	{"pod-level resources", func(k *admissionCase) {
		r := corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}
		for _, c := range append(k.template.Spec.Containers, k.template.Spec.InitContainers...) {
			if len(c.Resources.Limits)+len(c.Resources.Requests) > 0 && k.chance(70) {
				return // the containers may request more than the pod: the template would be invalid
			}
		}
		for i := range k.template.Spec.Containers {
			k.template.Spec.Containers[i].Resources = corev1.ResourceRequirements{}
		}
		for i := range k.template.Spec.InitContainers {
			k.template.Spec.InitContainers[i].Resources = corev1.ResourceRequirements{}
		}
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			low, high := "1", oneOf(k, "1", "2")
			if name == corev1.ResourceMemory {
				low, high = "256Mi", "1Gi"
			}
			if k.chance(50) {
				r.Requests[name] = resource.MustParse(low)
			}
			if k.chance(50) {
				r.Limits[name] = resource.MustParse(high)
			}
		}
		if len(r.Requests)+len(r.Limits) > 0 {
			k.template.Spec.Resources = &r
		}
		if k.chance(50) {
			k.limitRange(k.containerDefaults())
		}
	}},
	{"limit range defaults", func(k *admissionCase) { k.limitRange(k.containerDefaults()) }},
	{"default below request", func(k *admissionCase) {
		k.template.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(oneOf(k, "1", "100m"))}}
		k.limitRange(corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Default: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}})
	}},
	{"default of devices", func(k *admissionCase) {
		name := oneOf[corev1.ResourceName](k, "example.com/gpu", "hugepages-2Mi")
		item := corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Default: corev1.ResourceList{name: resource.MustParse("2Mi")}}
		if k.chance(30) {
			item = corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Min: item.Default}
		}
		k.limitRange(item)
	}},
	{"container bounds", func(k *admissionCase) { k.limitRange(k.bounds(corev1.LimitTypeContainer)) }},
	{"pod bounds", func(k *admissionCase) { k.limitRange(k.bounds(corev1.LimitTypePod)) }},
	{"ratio", func(k *admissionCase) {
		item := corev1.LimitRangeItem{Type: oneOf(k, corev1.LimitTypeContainer, corev1.LimitTypePod), MaxLimitRequestRatio: corev1.ResourceList{}}
		item.MaxLimitRequestRatio[oneOf(k, corev1.ResourceCPU, corev1.ResourceMemory)] = resource.MustParse(oneOf(k, "1", "2", "10"))
		k.limitRange(item)
	}},
	{"bounds of claims", func(k *admissionCase) {
		k.limitRange(corev1.LimitRangeItem{Type: corev1.LimitTypePersistentVolumeClaim, Min: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}})
	}},
	{"baseline", func(k *admissionCase) { k.enforce("baseline"); k.harm(); k.harm() }},
	{"restricted", func(k *admissionCase) { k.enforce("restricted"); k.harm() }},
	{"older level", func(k *admissionCase) { k.enforce(oneOf(k, "baseline", "restricted")); k.subtle() }},
	{"quota of pods", func(k *admissionCase) {
		k.quota(map[corev1.ResourceName]string{oneOf[corev1.ResourceName](k, "pods", "count/pods"): oneOf(k, "0", "1", "5")}, oneOf(k, "0", "1", "5"))
	}},
	{"quota of cpu and memory", func(k *admissionCase) {
		k.quota(map[corev1.ResourceName]string{
			oneOf[corev1.ResourceName](k, "cpu", "requests.cpu", "limits.cpu"):          oneOf(k, "50m", "1", "3", "100"),
			oneOf[corev1.ResourceName](k, "memory", "requests.memory", "limits.memory"): oneOf(k, "1Mi", "100Mi", "2Gi", "100Gi"),
		}, oneOf(k, "0", "1m", "50m", "1"))
	}},
	{"quota of other resources", func(k *admissionCase) {
		k.quota(map[corev1.ResourceName]string{
			oneOf[corev1.ResourceName](k, "ephemeral-storage", "requests.ephemeral-storage", "limits.ephemeral-storage", "requests.example.com/gpu", "hugepages-2Mi", "requests.hugepages-2Mi", "services", "configmaps"): oneOf(k, "0", "1", "3", "1Gi"),
		}, oneOf(k, "0", "1", "2"))
		if k.chance(60) {
			k.template.Spec.Containers[0].Resources = corev1.ResourceRequirements{Limits: corev1.ResourceList{
				"example.com/gpu": resource.MustParse("2"), "hugepages-2Mi": resource.MustParse("4Mi"), corev1.ResourceMemory: resource.MustParse("1Gi"), corev1.ResourceEphemeralStorage: resource.MustParse("2Gi"),
			}}
			k.template.Spec.Resources = nil
		}
	}},
	{"scoped quota", func(k *admissionCase) {
		q := k.quota(map[corev1.ResourceName]string{"pods": oneOf(k, "0", "2")}, "0")
		q.Spec.Scopes = []corev1.ResourceQuotaScope{oneOf(k, corev1.ResourceQuotaScopeBestEffort, corev1.ResourceQuotaScopeNotBestEffort, corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating,
			corev1.ResourceQuotaScopePriorityClass, corev1.ResourceQuotaScopeCrossNamespacePodAffinity)}
		if k.chance(50) {
			k.template.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				TopologyKey: corev1.LabelHostname, Namespaces: oneOf(k, nil, []string{"elsewhere"}), LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
			}}}}
		}
	}},
	{"quota of classes", func(k *admissionCase) {
		k.template.Spec.PriorityClassName = oneOf(k, "", "high", "never")
		q := k.quota(map[corev1.ResourceName]string{"pods": oneOf(k, "0", "2")}, "0")
		r := corev1.ScopedResourceSelectorRequirement{ScopeName: corev1.ResourceQuotaScopePriorityClass}
		r.Operator = oneOf(k, corev1.ScopeSelectorOpIn, corev1.ScopeSelectorOpNotIn, corev1.ScopeSelectorOpExists, corev1.ScopeSelectorOpDoesNotExist)
		if r.Operator == corev1.ScopeSelectorOpIn || r.Operator == corev1.ScopeSelectorOpNotIn {
			r.Values = []string{"high", "usual"}
		}
		q.Spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{r}}
	}},
	{"uncounted quota", func(k *admissionCase) {
		q := k.quota(map[corev1.ResourceName]string{oneOf[corev1.ResourceName](k, "pods", "requests.cpu", "services"): "5"}, "0")
		q.Status.Used = nil
		if k.chance(20) {
			q.Status = corev1.ResourceQuotaStatus{}
		}
	}},
}

// gone is the name of a class that does not exist until it is created for this case.
func (k *admissionCase) gone() string { return "gone-" + k.name }

func number32(n int32) *int32 { return &n }

func policy(p corev1.PreemptionPolicy) *corev1.PreemptionPolicy { return &p }

func (k *admissionCase) account(name string) *corev1.ServiceAccount {
	for _, a := range k.accounts {
		if a.Name == name {
			return a
		}
	}
	a := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}, ImagePullSecrets: []corev1.LocalObjectReference{{Name: "pull"}}}
	if k.chance(30) {
		a.ImagePullSecrets = nil
	}
	k.accounts = append(k.accounts, a)
	return a
}

func (k *admissionCase) runtimeClass(name string) {
	k.template.Spec.RuntimeClassName = nil
	if name != "" {
		k.template.Spec.RuntimeClassName = &name
	}
}

// limitRange adds a LimitRange, unless another one has defaults for the same resource, because
// their order is undefined.
func (k *admissionCase) limitRange(item corev1.LimitRangeItem) {
	names := map[corev1.ResourceName]bool{}
	note := func(i corev1.LimitRangeItem) (again bool) {
		if i.Type != corev1.LimitTypeContainer {
			return false
		}
		for _, list := range []corev1.ResourceList{i.Default, i.DefaultRequest, i.Min, i.Max} {
			for name := range list {
				again = again || names[name]
			}
		}
		for _, list := range []corev1.ResourceList{i.Default, i.DefaultRequest, i.Min, i.Max} {
			for name := range list {
				names[name] = true
			}
		}
		return again
	}
	for _, lr := range k.ranges {
		note(lr.Spec.Limits[0])
	}
	if note(item) {
		return
	}
	k.ranges = append(k.ranges, &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("range-%d", len(k.ranges))}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{item}},
	})
}

func (k *admissionCase) containerDefaults() corev1.LimitRangeItem {
	item := corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Default: corev1.ResourceList{}, DefaultRequest: corev1.ResourceList{}}
	if k.chance(70) {
		item.Default[corev1.ResourceCPU] = resource.MustParse(oneOf(k, "100m", "2"))
	}
	if k.chance(70) {
		item.DefaultRequest[corev1.ResourceMemory] = resource.MustParse(oneOf(k, "16Mi", "64Mi"))
	}
	if k.chance(30) {
		item.Default[corev1.ResourceMemory] = resource.MustParse("64Mi")
	}
	return item
}

func (k *admissionCase) bounds(of corev1.LimitType) corev1.LimitRangeItem {
	item := corev1.LimitRangeItem{Type: of, Min: corev1.ResourceList{}, Max: corev1.ResourceList{}}
	if k.chance(60) {
		item.Min[corev1.ResourceCPU] = resource.MustParse(oneOf(k, "1m", "60m", "300m"))
	}
	if k.chance(60) {
		item.Max[corev1.ResourceCPU] = resource.MustParse(oneOf(k, "300m", "1", "1.5"))
	}
	if k.chance(50) {
		item.Min[corev1.ResourceMemory] = resource.MustParse(oneOf(k, "1", "20Mi"))
	}
	if k.chance(50) {
		item.Max[corev1.ResourceMemory] = resource.MustParse(oneOf(k, "50Mi", "1Gi"))
	}
	return item
}

// quota adds a quota; used applies to each resource.
func (k *admissionCase) quota(hard map[corev1.ResourceName]string, used string) *corev1.ResourceQuota {
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("quota-%d", len(k.quotas))}}
	q.Spec.Hard, q.Status.Used = corev1.ResourceList{}, corev1.ResourceList{}
	for name, amount := range hard {
		q.Spec.Hard[name] = resource.MustParse(amount)
		q.Status.Used[name] = resource.MustParse(used)
		if used == "1m" || used == "50m" {
			if name != "cpu" && name != "requests.cpu" && name != "limits.cpu" {
				q.Status.Used[name] = resource.MustParse("1")
			}
		}
	}
	q.Status.Hard = q.Spec.Hard.DeepCopy()
	k.quotas = append(k.quotas, q)
	return q
}

// harm adds something that baseline or restricted forbids.
func (k *admissionCase) harm() {
	spec, c := &k.template.Spec, k.container()
	no, yes, root := false, true, int64(0)
	if spec.OS != nil {
		return // for Windows most of it would be invalid
	}
	switch k.IntN(16) {
	case 0:
		spec.HostNetwork = true
	case 1:
		spec.HostPID = true
	case 2:
		spec.HostIPC = true
	case 3:
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: fmt.Sprintf("host-%d", len(spec.Volumes)), VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/var/log"}}})
	case 4:
		c = &spec.Containers[0]
		c.Ports = append(c.Ports, corev1.ContainerPort{ContainerPort: 7000, HostPort: 7000})
		spec.HostNetwork = false
	case 5:
		c.SecurityContext.Privileged = &yes
		c.SecurityContext.AllowPrivilegeEscalation = nil
	case 6:
		c.SecurityContext.Capabilities.Add = append(c.SecurityContext.Capabilities.Add, oneOf[corev1.Capability](k, "NET_ADMIN", "SYS_ADMIN", "CHOWN", "NET_BIND_SERVICE"))
	case 7:
		c.SecurityContext.Capabilities.Drop = nil
	case 8:
		c.SecurityContext.AllowPrivilegeEscalation = nil
	case 9:
		spec.SecurityContext.RunAsNonRoot = oneOf(k, nil, &no)
	case 10:
		spec.SecurityContext.RunAsNonRoot = nil
		spec.SecurityContext.RunAsUser = &root
	case 11:
		spec.SecurityContext.SeccompProfile = oneOf(k, nil, &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeUnconfined})
	case 12:
		spec.SecurityContext.Sysctls = []corev1.Sysctl{{Name: oneOf(k, "kernel.msgmax", "net.ipv4.ip_local_port_range"), Value: "1"}}
	case 13:
		spec.SecurityContext.SELinuxOptions = oneOf(k, &corev1.SELinuxOptions{Type: "container_t"}, &corev1.SELinuxOptions{Type: "spc_t"}, &corev1.SELinuxOptions{User: "system_u"})
	case 14:
		if k.template.Annotations == nil {
			k.template.Annotations = map[string]string{}
		}
		k.template.Annotations["container.apparmor.security.beta.kubernetes.io/"+c.Name] = oneOf(k, "unconfined", "runtime/default", "localhost/mine")
	case 15:
		spec.SecurityContext.AppArmorProfile = &corev1.AppArmorProfile{Type: oneOf(k, corev1.AppArmorProfileTypeUnconfined, corev1.AppArmorProfileTypeRuntimeDefault)}
	}
}

// subtle adds something that only some versions of a level forbid.
func (k *admissionCase) subtle() {
	spec, c := &k.template.Spec, k.container()
	if spec.OS != nil {
		return
	}
	switch k.IntN(6) {
	case 0:
		spec.SecurityContext.SeccompProfile = nil // v1.19
	case 1:
		c.SecurityContext.Capabilities.Drop = nil // v1.22
	case 2:
		c.SecurityContext.AllowPrivilegeEscalation = nil // v1.8
	case 3:
		spec.SecurityContext.Sysctls = []corev1.Sysctl{{Name: "net.ipv4.ip_local_reserved_ports", Value: "1"}} // v1.27
	case 4: // v1.34
		spec.Containers[0].ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Host: "10.0.0.1", Port: intstr.FromInt32(80)}}}
	case 5: // v1.25: Linux-only fields do not count for Windows
		spec.OS = &corev1.PodOS{Name: corev1.Windows}
		spec.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: spec.SecurityContext.RunAsNonRoot}
		spec.HostPID, spec.HostIPC = false, false
		spec.Resources = nil
		for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
			for i := range list {
				list[i].SecurityContext = &corev1.SecurityContext{}
			}
		}
	}
}

// createClasses creates the classes that all cases share.
func (j *admissionJudge) createClasses(ctx context.Context) error {
	never := corev1.PreemptNever
	for _, p := range []*schedulingv1.PriorityClass{
		{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 1000},
		{ObjectMeta: metav1.ObjectMeta{Name: "never"}, Value: 7, PreemptionPolicy: &never},
	} {
		if _, err := j.c.Client.SchedulingV1().PriorityClasses().Create(ctx, p, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	overhead := &nodev1.Overhead{PodFixed: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m")}}
	heavy := &nodev1.Overhead{PodFixed: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("64Mi")}}
	for _, r := range []*nodev1.RuntimeClass{
		{ObjectMeta: metav1.ObjectMeta{Name: "plain"}, Handler: "plain"},
		{ObjectMeta: metav1.ObjectMeta{Name: "heavy"}, Handler: "heavy", Overhead: heavy},
		{ObjectMeta: metav1.ObjectMeta{Name: "sandbox"}, Handler: "sandbox", Overhead: overhead, Scheduling: &nodev1.Scheduling{
			NodeSelector: map[string]string{"sandbox": "yes"},
			Tolerations:  []corev1.Toleration{{Key: "sandbox", Operator: corev1.TolerationOpExists}, {Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists}},
		}},
	} {
		if _, err := j.c.Client.NodeV1().RuntimeClasses().Create(ctx, r, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// createDefaultClass creates a default PriorityClass and waits until the API server uses it.
func (j *admissionJudge) createDefaultClass(ctx context.Context) error {
	usual := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "usual"}, Value: 42, GlobalDefault: true}
	if _, err := j.c.Client.SchedulingV1().PriorityClasses().Create(ctx, usual, metav1.CreateOptions{}); err != nil {
		return err
	}
	probe := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "probe"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "example.com/c:1"}}}}
	return j.c.WaitFor(ctx, "the default PriorityClass", func(ctx context.Context) (bool, error) {
		got, err := j.c.Client.CoreV1().Pods("default").Create(ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err == nil && got.Spec.PriorityClassName == usual.Name, err
	})
}
