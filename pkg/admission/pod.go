package admission

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-helpers/resource"
)

// rules are the rules that differ between versions.
type rules struct {
	minor int // of the API server; 0 if it is the newest

	podSecurity       bool // v1.23: the levels in the namespace's labels are enforced
	podLevelResources bool // v1.34: spec.resources counts
	// v1.37: defaults in spec.resources are set after admission plugins have
	// changed the containers
	lateDefaults   bool
	appArmorFields bool // v1.30: annotations for AppArmor become fields
}

func rulesOf(kubernetesVersion string) rules {
	r := rules{podSecurity: true, podLevelResources: true, lateDefaults: true, appArmorFields: true}
	v, err := version.ParseGeneric(kubernetesVersion)
	if err != nil || v.Major() != 1 {
		return r
	}
	from := func(minor uint) bool { return v.Minor() >= minor }
	return rules{minor: int(v.Minor()), podSecurity: from(23), podLevelResources: from(34), lateDefaults: from(37),
		appArmorFields: from(30)}
}

// containers returns all containers, init containers first.
func containers(spec *corev1.PodSpec) []*corev1.Container {
	var all []*corev1.Container
	for i := range spec.InitContainers {
		all = append(all, &spec.InitContainers[i])
	}
	for i := range spec.Containers {
		all = append(all, &spec.Containers[i])
	}
	return all
}

// setDefaults sets the defaults that pods have and templates lack: requests
// from limits and, on the host's network, host ports from container ports.
func setDefaults(pod *corev1.Pod, v rules) {
	for _, c := range containers(&pod.Spec) {
		c.Resources.Requests = filledFrom(c.Resources.Requests, c.Resources.Limits)
		if !pod.Spec.HostNetwork {
			continue
		}
		for i := range c.Ports {
			if p := &c.Ports[i]; p.HostPort == 0 {
				p.HostPort = p.ContainerPort
			}
		}
	}
	if pod.Spec.EnableServiceLinks == nil {
		links := corev1.DefaultEnableServiceLinks
		pod.Spec.EnableServiceLinks = &links
	}
	if s := pod.Spec.TerminationGracePeriodSeconds; s != nil && *s < 0 {
		one := int64(1)
		pod.Spec.TerminationGracePeriodSeconds = &one
	}
	if v.podLevelResources && !v.lateDefaults && hasPodLevelResources(pod) {
		setPodLevelHugePages(pod)
		if len(pod.Spec.Resources.Limits) > 0 {
			setPodLevelRequests(pod)
		}
	}
}

func hasPodLevelResources(pod *corev1.Pod) bool {
	r := pod.Spec.Resources
	return r != nil && len(r.Requests)+len(r.Limits) > 0
}

// filledFrom returns list with the missing entries taken from other.
func filledFrom(list, other corev1.ResourceList) corev1.ResourceList {
	for name, quantity := range other {
		if _, there := list[name]; !there {
			if list == nil {
				list = corev1.ResourceList{}
			}
			list[name] = quantity.DeepCopy()
		}
	}
	return list
}

// podLevelDefaults completes spec.resources from the containers as they are
// now.
func (c *check) podLevelDefaults() {
	if c.version.appArmorFields {
		setAppArmor(c.pod)
	}
	if c.version.lateDefaults && hasPodLevelResources(c.pod) {
		setPodLevelHugePages(c.pod)
		setPodLevelRequests(c.pod)
		setPodLevelLimits(c.pod)
	}
}

// setPodLevelHugePages sets the limits of hugepages to those of the containers.
func setPodLevelHugePages(pod *corev1.Pod) {
	r := pod.Spec.Resources
	huge := corev1.ResourceList{}
	for name, sum := range resource.AggregateContainerLimits(pod, resource.PodResourcesOptions{}) {
		if _, requested := r.Requests[name]; isHugePages(name) && !requested {
			huge[name] = sum
		}
	}
	r.Limits = filledFrom(r.Limits, huge)
}

// setPodLevelRequests sets missing requests: for resources that can be
// overcommitted to those of the containers, for others to the pod's limits.
func setPodLevelRequests(pod *corev1.Pod) {
	r := pod.Spec.Resources
	requests := corev1.ResourceList{}
	for name, sum := range resource.AggregateContainerRequests(pod, resource.PodResourcesOptions{}) {
		if resource.IsSupportedPodLevelResource(name) && overcommits(name) {
			requests[name] = sum
		}
	}
	r.Requests = filledFrom(r.Requests, requests)
	limits := corev1.ResourceList{}
	for name, limit := range r.Limits {
		if resource.IsSupportedPodLevelResource(name) {
			limits[name] = limit
		}
	}
	r.Requests = filledFrom(r.Requests, limits)
}

// setPodLevelLimits sets limits for resources that every container limits,
// since v1.37: their sum, or the pod's request if that is larger.
func setPodLevelLimits(pod *corev1.Pod) {
	r := pod.Spec.Resources
	all := containers(&pod.Spec)
	sums := resource.AggregateContainerLimits(pod, resource.PodResourcesOptions{})
	limits := corev1.ResourceList{}
	for name, request := range r.Requests {
		limitless := slices.ContainsFunc(all,
			func(c *corev1.Container) bool { _, has := c.Resources.Limits[name]; return !has })
		sum, has := sums[name]
		if limitless || !has || !resource.IsSupportedPodLevelResource(name) {
			continue
		}
		if request.Cmp(sum) > 0 {
			sum = request
		}
		limits[name] = sum
	}
	r.Limits = filledFrom(r.Limits, limits)
}

// setAppArmor converts the annotations of containers to fields, unless the
// field is set, or is equal to that of the pod.
func setAppArmor(pod *corev1.Pod) {
	if os := pod.Spec.OS; os != nil && os.Name == corev1.Windows {
		return
	}
	for _, c := range containers(&pod.Spec) {
		profile := appArmorProfile(pod.Annotations[corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix+c.Name])
		if profile == nil || c.SecurityContext != nil && c.SecurityContext.AppArmorProfile != nil {
			continue
		}
		if of := pod.Spec.SecurityContext; of != nil && of.AppArmorProfile != nil &&
			sameProfile(of.AppArmorProfile, profile) {
			continue
		}
		if c.SecurityContext == nil {
			c.SecurityContext = &corev1.SecurityContext{}
		}
		c.SecurityContext.AppArmorProfile = profile
	}
}

func sameProfile(a, b *corev1.AppArmorProfile) bool {
	name := func(p *corev1.AppArmorProfile) string {
		if p.LocalhostProfile == nil {
			return ""
		}
		return *p.LocalhostProfile
	}
	return a.Type == b.Type && name(a) == name(b)
}

// appArmorProfile returns the field for the value of an annotation, or nil.
func appArmorProfile(annotation string) *corev1.AppArmorProfile {
	switch name, local := strings.CutPrefix(annotation, corev1.DeprecatedAppArmorBetaProfileNamePrefix); {
	case annotation == corev1.DeprecatedAppArmorBetaProfileNameUnconfined:
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined}
	case annotation == corev1.DeprecatedAppArmorBetaProfileRuntimeDefault:
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeRuntimeDefault}
	case local && name != "" && name == strings.TrimSpace(name):
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeLocalhost, LocalhostProfile: &name}
	}
	return nil
}

func isHugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// isNative reports whether Kubernetes defines a resource: it has no domain, or
// one of kubernetes.io.
func isNative(name corev1.ResourceName) bool {
	return !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

// overcommits reports whether requests of a resource may be below its limits.
func overcommits(name corev1.ResourceName) bool { return isNative(name) && !isHugePages(name) }
