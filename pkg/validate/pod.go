package validate

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var templateRules = table[*corev1.PodTemplateSpec]{
	{"metadata", "labels and annotations must be valid", 0, func(c *check, v *corev1.PodTemplateSpec, at *field.Path) {
		// The API server's error has no metadata in the path either
		c.add(metavalidation.ValidateLabels(v.Labels, at.Child("labels"))...)
		c.add(apivalidation.ValidateAnnotations(v.Annotations, at.Child("annotations"))...)
	}},
	{"metadata.annotations", "controller.kubernetes.io/pod-deletion-cost must be a 32-bit integer", 22,
		func(c *check, v *corev1.PodTemplateSpec, at *field.Path) {
			cost, has := v.Annotations[corev1.PodDeletionCost]
			if _, err := strconv.ParseInt(cost, 10, 32); has && (err != nil || strings.HasPrefix(cost, "+") ||
				len(cost) > 1 && cost[0] == '0') {
				c.invalid(at.Child("annotations").Key(corev1.PodDeletionCost), cost, "must be a 32bit integer")
			}
		}},
	{"metadata.annotations",
		"container.apparmor.security.beta.kubernetes.io/NAME must name a container of the pod, and its " +
			"value must be an AppArmor profile", 0,
		func(c *check, v *corev1.PodTemplateSpec, at *field.Path) {
			for _, key := range slices.Sorted(maps.Keys(v.Annotations)) {
				name, is := strings.CutPrefix(key, corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix)
				if !is {
					continue
				}
				at := at.Child("annotations").Key(key)
				if !slices.ContainsFunc(slices.Concat(v.Spec.Containers, v.Spec.InitContainers),
					func(c corev1.Container) bool { return c.Name == name }) {
					c.invalid(at, name, "container not found")
				}
				switch profile := v.Annotations[key]; {
				case profile == "", profile == corev1.DeprecatedAppArmorBetaProfileRuntimeDefault,
					profile == corev1.DeprecatedAppArmorBetaProfileNameUnconfined:
				case !strings.HasPrefix(profile, corev1.DeprecatedAppArmorBetaProfileNamePrefix):
					c.invalid(at, profile, fmt.Sprintf("invalid AppArmor profile name: %q", profile))
				}
			}
		}},
}

// podRules apply to a pod as a whole. See placeRules for the fields that restrict its nodes.
var podRules = table[*corev1.PodSpec]{
	{"containers[].name", "must be unique in the pod, including initContainers", 0,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			seen := map[string]bool{}
			for i := range v.Containers {
				c.unique(at.Child("containers").Index(i).Child("name"), v.Containers[i].Name, seen)
			}
			for i := range v.InitContainers {
				c.unique(at.Child("initContainers").Index(i).Child("name"), v.InitContainers[i].Name, seen)
			}
		}},
	{"containers[].ports[].hostPort",
		"must be unique for its hostIP and protocol, among all containers and within each init container", 0,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			seen := map[string]bool{}
			for i := range v.Containers {
				c.hostPorts(&v.Containers[i], at.Child("containers").Index(i), seen)
			}
			for i := range v.InitContainers { // each init container alone; the API server's error has index 0 for each
				c.hostPorts(&v.InitContainers[i], at.Child("initContainers").Index(0), map[string]bool{})
			}
		}},
	{"containers[].ports[].hostPort", "must be equal to containerPort if hostNetwork is true and hostPort is set", 0,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			for i := range v.Containers {
				for j, p := range v.Containers[i].Ports {
					if v.HostNetwork && p.HostPort != 0 && p.HostPort != p.ContainerPort {
						c.invalid(at.Child("containers").Index(i).Child("ports").Index(j).Child("hostPort"), p.HostPort,
							"must match `containerPort` when `hostNetwork` is true")
					}
				}
			}
		}},
	{"resourceClaims[]",
		"name must be a DNS label and unique; exactly one of resourceClaimName and " +
			"resourceClaimTemplateName must be set", 32,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			seen := map[string]bool{}
			for i, claim := range v.ResourceClaims {
				at := at.Child("resourceClaims").Index(i)
				c.needs(at.Child("name"), claim.Name, validation.IsDNS1123Label)
				c.unique(at.Child("name"), claim.Name, seen)
				switch name, template := claim.ResourceClaimName, claim.ResourceClaimTemplateName; {
				case name != nil && template != nil:
					c.invalid(at, claim, "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be "+
						"specified")
				case name == nil && template == nil:
					c.invalid(at, claim, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")
				case name != nil:
					c.invalid(at.Child("resourceClaimName"), *name, dnsSubdomain(*name)...)
				default:
					c.invalid(at.Child("resourceClaimTemplateName"), *template, dnsSubdomain(*template)...)
				}
			}
		}},
	{"ephemeralContainers", "must not be set", 22, func(c *check, v *corev1.PodSpec, at *field.Path) {
		if len(v.EphemeralContainers) > 0 {
			c.forbidden(at.Child("ephemeralContainers"), "ephemeral containers not allowed in pod template")
		}
	}},
	{"resources", "quantities of the pod must be 0 or more, and requests must not exceed limits", 34,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			r := v.Resources
			if r == nil {
				return
			}
			for _, l := range amounts(r) {
				for name, q := range l.each {
					c.amount(at.Child("resources", l.field).Key(string(name)), name, q)
					if limit, limited := r.Limits[name]; l.field == "requests" && limited && q.Cmp(limit) > 0 {
						c.invalid(at.Child("resources", "requests"), q.String(),
							"must be less than or equal to "+string(name)+" limit of "+limit.String())
					}
				}
			}
		}},
	{"restartPolicy", "must be Always", 0, func(c *check, v *corev1.PodSpec, at *field.Path) {
		orDefault(c, at.Child("restartPolicy"), v.RestartPolicy, corev1.RestartPolicyAlways)
	}},
	{"activeDeadlineSeconds", "must not be set", 0, func(c *check, v *corev1.PodSpec, at *field.Path) {
		if v.ActiveDeadlineSeconds != nil {
			c.forbidden(at.Child("activeDeadlineSeconds"), "activeDeadlineSeconds in DaemonSet is not Supported")
		}
	}},
	{"dnsPolicy", "must be ClusterFirst, ClusterFirstWithHostNet, Default or None", 0,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			orDefault(c, at.Child("dnsPolicy"), v.DNSPolicy, corev1.DNSClusterFirstWithHostNet, corev1.DNSClusterFirst,
				corev1.DNSDefault, corev1.DNSNone)
		}},
	{"dnsConfig.nameservers", "must be IP addresses, at most 3; at least one is required if dnsPolicy is None", 0,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			at = at.Child("dnsConfig")
			switch {
			case v.DNSConfig == nil && v.DNSPolicy == corev1.DNSNone:
				c.required(at, "must provide `dnsConfig` when `dnsPolicy` is None")
			case v.DNSConfig == nil:
			case v.DNSPolicy == corev1.DNSNone && len(v.DNSConfig.Nameservers) == 0:
				c.required(at.Child("nameservers"), "must provide at least one DNS nameserver when `dnsPolicy` is None")
			default:
				if len(v.DNSConfig.Nameservers) > 3 {
					c.invalid(at.Child("nameservers"), v.DNSConfig.Nameservers, "must not have more than 3 nameservers")
				}
				for i, ip := range v.DNSConfig.Nameservers {
					c.add(validation.IsValidIPForLegacyField(at.Child("nameservers").Index(i), ip, false, nil)...)
				}
			}
		}},
	{"dnsConfig.searches[]",
		"must be a DNS subdomain, and may contain underscores; each item of dnsConfig.options must have a name", 26,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			// In this case the API server checks nothing else in dnsConfig.
			if v.DNSConfig == nil || v.DNSPolicy == corev1.DNSNone && len(v.DNSConfig.Nameservers) == 0 {
				return
			}
			for i, s := range v.DNSConfig.Searches {
				if s != "." {
					s = strings.TrimSuffix(s, ".")
					c.invalid(at.Child("dnsConfig", "searches").Index(i), s,
						validation.IsDNS1123SubdomainWithUnderscore(s)...)
				}
			}
			for i, o := range v.DNSConfig.Options {
				if o.Name == "" {
					c.required(at.Child("dnsConfig", "options").Index(i), "must not be empty")
				}
			}
		}},
	{"securityContext.runAsUser",
		"must be from 0 to 2147483647; also applies to runAsGroup, fsGroup and supplementalGroups", 0,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			s, at := v.SecurityContext, at.Child("securityContext")
			if s == nil {
				return
			}
			c.id(at.Child("fsGroup"), s.FSGroup, validation.IsValidGroupID)
			c.id(at.Child("runAsUser"), s.RunAsUser, validation.IsValidUserID)
			c.id(at.Child("runAsGroup"), s.RunAsGroup, validation.IsValidGroupID)
			for i, id := range s.SupplementalGroups {
				c.id(at.Child("supplementalGroups").Index(i), &id, validation.IsValidGroupID)
			}
		}},
	{"securityContext.sysctls[].name", "must be a valid sysctl name and unique", 0,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			seen := map[string]bool{}
			for i, s := range sysctls(v) {
				at := at.Child("securityContext", "sysctls").Index(i).Child("name")
				switch {
				case s.Name == "":
					c.required(at, "")
				case len(s.Name) > 253 || !sysctl.MatchString(s.Name):
					c.invalid(at, s.Name, "must have at most 253 characters and match regex "+sysctl.String())
				default:
					c.unique(at, s.Name, seen)
				}
			}
		}},
	{"securityContext.sysctls[].name",
		"must not be a network sysctl if hostNetwork is true, or an IPC sysctl if hostIPC is true", 30,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			for i, s := range sysctls(v) {
				at, name := at.Child("securityContext", "sysctls").Index(i).Child("name"),
					strings.ReplaceAll(s.Name, "/", ".")
				switch ofIPC := strings.HasPrefix(name, "kernel.shm") || strings.HasPrefix(name, "kernel.msg") ||
					name == "kernel.sem" || strings.HasPrefix(name, "fs.mqueue."); {
				case v.HostNetwork && strings.HasPrefix(name, "net."):
					c.invalid(at, s.Name, "may not be specified when 'hostNetwork' is true")
				case v.HostIPC && ofIPC:
					c.invalid(at, s.Name, "may not be specified when 'hostIPC' is true")
				}
			}
		}},
	{"securityContext.fsGroupChangePolicy", "must be Always or OnRootMismatch", 23,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			if s := v.SecurityContext; s != nil && s.FSGroupChangePolicy != nil {
				oneOf(c, at.Child("securityContext", "fsGroupChangePolicy"), *s.FSGroupChangePolicy,
					corev1.FSGroupChangeAlways, corev1.FSGroupChangeOnRootMismatch)
			}
		}},
	{"securityContext.supplementalGroupsPolicy",
		"must be Merge or Strict; seLinuxChangePolicy must be MountOption or Recursive", 35,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			s, at := v.SecurityContext, at.Child("securityContext")
			if s != nil && s.SupplementalGroupsPolicy != nil {
				oneOf(c, at.Child("supplementalGroupsPolicy"), *s.SupplementalGroupsPolicy,
					corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict)
			}
			if s != nil && s.SELinuxChangePolicy != nil {
				oneOf(c, at.Child("seLinuxChangePolicy"), *s.SELinuxChangePolicy, corev1.SELinuxChangePolicyMountOption,
					corev1.SELinuxChangePolicyRecursive)
			}
		}},
	{"securityContext.seccompProfile",
		"type must be Localhost, RuntimeDefault or Unconfined; only Localhost has a localhostProfile, and " +
			"requires it; also applies to appArmorProfile", 30,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			if s := v.SecurityContext; s != nil {
				c.profiles(at.Child("securityContext"), s.SeccompProfile, s.AppArmorProfile)
			}
		}},
	{"shareProcessNamespace", "must not be true if hostPID is true", 0,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			if isTrue(v.ShareProcessNamespace) && v.HostPID {
				c.invalid(at.Child("shareProcessNamespace"), true,
					"ShareProcessNamespace and HostPID cannot both be enabled")
			}
		}},
	{"hostUsers",
		"must not be false if hostNetwork, hostPID or hostIPC is true, or if a container has volumeDevices", 33,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			for _, f := range []struct {
				set  bool
				name string
			}{{v.HostNetwork, "hostNetwork"}, {v.HostPID, "HostPID"}, {v.HostIPC, "HostIPC"}} {
				if isFalse(v.HostUsers) && f.set {
					c.forbidden(at.Child(f.name), "when `hostUsers` is false")
				}
			}
			for _, list := range []struct {
				of   []corev1.Container
				name string
			}{{v.Containers, "containers"}, {v.InitContainers, "initContainers"}} {
				for i := range list.of {
					if isFalse(v.HostUsers) && len(list.of[i].VolumeDevices) > 0 {
						c.forbidden(at.Child(list.name).Index(i).Child("volumeDevices"), "when `hostUsers` is false")
					}
				}
			}
		}},
	{"serviceAccountName",
		"must be a DNS subdomain; also applies to nodeName, priorityClassName and runtimeClassName", 0,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			c.fits(at.Child("serviceAccountName"), v.ServiceAccountName, dnsSubdomain)
			c.fits(at.Child("nodeName"), v.NodeName, dnsSubdomain)
			c.fits(at.Child("priorityClassName"), v.PriorityClassName, dnsSubdomain)
			if v.RuntimeClassName != nil {
				c.invalid(at.Child("runtimeClassName"), *v.RuntimeClassName, dnsSubdomain(*v.RuntimeClassName)...)
			}
		}},
	{"hostname", "must be a DNS label; also applies to subdomain", 0,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			c.fits(at.Child("hostname"), v.Hostname, validation.IsDNS1123Label)
			c.fits(at.Child("subdomain"), v.Subdomain, validation.IsDNS1123Label)
		}},
	{"hostAliases[]", "ip must be an IP address, and hostnames must be DNS subdomains", 0,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			for i, alias := range v.HostAliases {
				at := at.Child("hostAliases").Index(i)
				c.add(validation.IsValidIPForLegacyField(at.Child("ip"), alias.IP, false, nil)...)
				for j, name := range alias.Hostnames {
					c.invalid(at.Child("hostnames").Index(j), name, validation.IsDNS1123Subdomain(name)...)
				}
			}
		}},
	{"preemptionPolicy", "must be Never or PreemptLowerPriority", 24,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			if v.PreemptionPolicy != nil {
				oneOf(c, at.Child("preemptionPolicy"), *v.PreemptionPolicy, corev1.PreemptLowerPriority,
					corev1.PreemptNever)
			}
		}},
	{"overhead", "quantities must be 0 or more", 24, func(c *check, v *corev1.PodSpec, at *field.Path) {
		for _, name := range slices.Sorted(maps.Keys(v.Overhead)) {
			// The API server validates overhead as limits.
			c.amount(at.Child("overhead", "limits").Key(string(name)), name, v.Overhead[name])
		}
	}},
	{"readinessGates[].conditionType", "must be a valid condition type", 0,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			for i, g := range v.ReadinessGates {
				c.invalid(at.Child("readinessGates").Index(i).Child("conditionType"), string(g.ConditionType),
					validation.IsQualifiedName(string(g.ConditionType))...)
			}
		}},
	{"schedulingGates[].name", "must be a valid name and unique", 26,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			seen := map[string]bool{}
			for i, g := range v.SchedulingGates {
				at := at.Child("schedulingGates").Index(i) // the path in the API server's error
				c.invalid(at, g.Name, validation.IsQualifiedName(g.Name)...)
				c.unique(at, g.Name, seen)
			}
		}},
	{"os",
		"a pod for linux cannot set windowsOptions; a pod for windows cannot set fields that only Linux " +
			"supports", 25,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			if v.OS != nil {
				c.otherSystem(v, at)
			}
		}},
	{"os.name", "must be linux or windows", 25, func(c *check, v *corev1.PodSpec, at *field.Path) {
		switch {
		case v.OS == nil:
		case v.OS.Name == "":
			c.required(at.Child("os", "name"), "")
		default:
			oneOf(c, at.Child("os"), v.OS.Name, corev1.Linux, corev1.Windows)
		}
	}},
}

// otherSystem adds errors for fields that the operating system of the pod does not support.
func (c *check) otherSystem(v *corev1.PodSpec, at *field.Path) {
	linux := v.OS.Name == corev1.Linux
	if !linux && v.OS.Name != corev1.Windows {
		return
	}
	refuse := func(context any, at *field.Path) {
		for _, name := range members(context) {
			if ofWindows := name == "windowsOptions"; linux && ofWindows {
				c.forbidden(at.Child(name), "windows options cannot be set for a linux pod")
			} else if !linux && !ofWindows && name != "runAsNonRoot" {
				c.forbidden(at.Child(name), "cannot be set for a windows pod")
			}
		}
	}
	refuse(v.SecurityContext, at.Child("securityContext"))
	for i := range v.Containers {
		refuse(v.Containers[i].SecurityContext, at.Child("containers").Index(i).Child("securityContext"))
	}
	for i := range v.InitContainers {
		refuse(v.InitContainers[i].SecurityContext, at.Child("initContainers").Index(i).Child("securityContext"))
	}
	for _, f := range []struct {
		set  bool
		name string
	}{{v.HostUsers != nil, "hostUsers"}, {v.HostPID, "hostPID"}, {v.HostIPC, "hostIPC"},
		{v.ShareProcessNamespace != nil, "shareProcessNamespace"}} {
		if !linux && f.set {
			c.forbidden(at.Child(f.name), "cannot be set for a windows pod")
		}
	}
}

// hostPorts adds errors for ports of a container with the same host port.
func (c *check) hostPorts(v *corev1.Container, at *field.Path, seen map[string]bool) {
	for i, p := range v.Ports {
		if p.HostPort != 0 {
			c.unique(at.Child("ports").Index(i).Child("hostPort"), fmt.Sprintf("%s/%s/%d", p.Protocol, p.HostIP,
				p.HostPort), seen)
		}
	}
}

// sysctl matches the name of a sysctl.
var sysctl = regexp.MustCompile(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)

func sysctls(v *corev1.PodSpec) []corev1.Sysctl {
	if v.SecurityContext == nil {
		return nil
	}
	return v.SecurityContext.Sysctls
}
