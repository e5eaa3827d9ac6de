package validate

import (
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// dnsSubdomain returns the errors of a name that must be a DNS subdomain, as most names of objects must be.
func dnsSubdomain(name string) []string { return apivalidation.NameIsDNSSubdomain(name, false) }

var containerRules = table[*corev1.Container]{
	{"name", "is required, and must be a DNS label", 0, func(c *check, v *corev1.Container, at *field.Path) {
		c.needs(at.Child("name"), v.Name, validation.IsDNS1123Label)
	}},
	{"image", "is required", 0, func(c *check, v *corev1.Container, at *field.Path) {
		c.needs(at.Child("image"), v.Image, nil)
	}},
	{"terminationMessagePolicy", "must be File or FallbackToLogsOnError", 0,
		func(c *check, v *corev1.Container, at *field.Path) {
			orDefault(c, at.Child("terminationMessagePolicy"), v.TerminationMessagePolicy,
				corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError)
		}},
	{"ports[].name", "must be a valid port name, and unique in the container", 0,
		func(c *check, v *corev1.Container, at *field.Path) {
			seen := map[string]bool{}
			for i, p := range v.Ports {
				at := at.Child("ports").Index(i).Child("name")
				if c.fits(at, p.Name, validation.IsValidPortName); len(validation.IsValidPortName(p.Name)) == 0 {
					c.unique(at, p.Name, seen)
				}
			}
		}},
	{"ports[].containerPort", "must be from 1 to 65535", 0, func(c *check, v *corev1.Container, at *field.Path) {
		for i, p := range v.Ports {
			if at := at.Child("ports").Index(i).Child("containerPort"); p.ContainerPort == 0 {
				c.required(at, "")
			} else {
				c.invalid(at, p.ContainerPort, validation.IsValidPortNum(int(p.ContainerPort))...)
			}
		}
	}},
	{"ports[].hostPort", "must be from 1 to 65535 if it is set", 0,
		func(c *check, v *corev1.Container, at *field.Path) {
			for i, p := range v.Ports {
				if p.HostPort != 0 {
					c.invalid(at.Child("ports").Index(i).Child("hostPort"), p.HostPort,
						validation.IsValidPortNum(int(p.HostPort))...)
				}
			}
		}},
	{"ports[].protocol", "must be TCP, UDP or SCTP", 0, func(c *check, v *corev1.Container, at *field.Path) {
		for i, p := range v.Ports {
			orDefault(c, at.Child("ports").Index(i).Child("protocol"), p.Protocol, corev1.ProtocolSCTP,
				corev1.ProtocolTCP, corev1.ProtocolUDP)
		}
	}},
	{"env[].name", "is required, and must be printable ASCII without =", 0,
		func(c *check, v *corev1.Container, at *field.Path) {
			for i := range v.Env {
				c.needs(at.Child("env").Index(i).Child("name"), v.Env[i].Name, validation.IsRelaxedEnvVarName)
			}
		}},
	{"env[].valueFrom", "must have exactly one source, and cannot be combined with value", 0,
		func(c *check, v *corev1.Container, at *field.Path) {
			for i := range v.Env {
				e, at := &v.Env[i], at.Child("env").Index(i).Child("valueFrom")
				switch sources := members(e.ValueFrom); {
				case len(sources) == 0 && e.ValueFrom != nil:
					c.invalid(at, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, "+
						"`secretKeyRef` or `fileKeyRef`")
				case len(sources) > 0 && e.Value != "":
					c.invalid(at, "", "may not be specified when `value` is not empty")
				case len(sources) > 1:
					c.invalid(at, "", "may not have more than one field specified at a time")
				}
			}
		}},
	{"env[].valueFrom.configMapKeyRef", "name and key must be valid; also applies to secretKeyRef", 0,
		func(c *check, v *corev1.Container, at *field.Path) {
			for i := range v.Env {
				at := at.Child("env").Index(i).Child("valueFrom")
				if from := v.Env[i].ValueFrom; from != nil && from.ConfigMapKeyRef != nil {
					c.keyOf(at.Child("configMapKeyRef"), from.ConfigMapKeyRef.Name, from.ConfigMapKeyRef.Key)
				}
				if from := v.Env[i].ValueFrom; from != nil && from.SecretKeyRef != nil {
					c.keyOf(at.Child("secretKeyRef"), from.SecretKeyRef.Name, from.SecretKeyRef.Key)
				}
			}
		}},
	{"env[].valueFrom.fieldRef", "must be a field that environment variables support", 0,
		func(c *check, v *corev1.Container, at *field.Path) {
			for i := range v.Env {
				if from := v.Env[i].ValueFrom; from != nil && from.FieldRef != nil {
					c.fieldRef(at.Child("env").Index(i).Child("valueFrom", "fieldRef"), from.FieldRef, ofVariables)
				}
			}
		}},
	{"env[].valueFrom.resourceFieldRef", "must be a resource that environment variables support", 0,
		func(c *check, v *corev1.Container, at *field.Path) {
			for i := range v.Env {
				if from := v.Env[i].ValueFrom; from != nil && from.ResourceFieldRef != nil {
					c.resourceFieldRef(at.Child("env").Index(i).Child("valueFrom", "resourceFieldRef"),
						from.ResourceFieldRef, false)
				}
			}
		}},
	{"envFrom[]", "must have exactly one source with a valid name; prefix must be valid", 0,
		func(c *check, v *corev1.Container, at *field.Path) {
			for i := range v.EnvFrom {
				e, at, list := &v.EnvFrom[i], at.Child("envFrom").Index(i), at.Child("envFrom")
				c.fits(at.Child("prefix"), e.Prefix, validation.IsRelaxedEnvVarName)
				if e.ConfigMapRef != nil {
					c.needs(at.Child("configMapRef", "name"), e.ConfigMapRef.Name, dnsSubdomain)
				}
				if e.SecretRef != nil {
					c.needs(at.Child("secretRef", "name"), e.SecretRef.Name, dnsSubdomain)
				}
				switch {
				case e.ConfigMapRef == nil && e.SecretRef == nil:
					c.invalid(list, "", "must specify one of: `configMapRef` or `secretRef`")
				case e.ConfigMapRef != nil && e.SecretRef != nil:
					c.invalid(list, "", "may not have more than one field specified at a time")
				}
			}
		}},
	{"volumeMounts[].name", "must be the name of a valid volume in the pod", 0,
		func(c *check, v *corev1.Container, at *field.Path) {
			for i, m := range v.VolumeMounts {
				at := at.Child("volumeMounts").Index(i).Child("name")
				c.needs(at, m.Name, nil)
				if c.volumes[m.Name] == nil {
					c.add(field.NotFound(at, m.Name))
				}
			}
		}},
	{"volumeMounts[].mountPath", "is required, and must be unique in the container", 0,
		func(c *check, v *corev1.Container, at *field.Path) {
			seen := map[string]bool{}
			for i, m := range v.VolumeMounts {
				at := at.Child("volumeMounts").Index(i).Child("mountPath")
				c.needs(at, m.MountPath, nil)
				if seen[m.MountPath] {
					c.invalid(at, m.MountPath, "must be unique")
				}
				seen[m.MountPath] = true
			}
		}},
	{"volumeMounts[].subPath",
		"must be a relative path without ..; cannot be combined with subPathExpr; also applies to subPathExpr", 0,
		func(c *check, v *corev1.Container, at *field.Path) {
			for i, m := range v.VolumeMounts {
				at := at.Child("volumeMounts") // the API server omits the index of the mount
				c.requireBelow(at.Child("subPath"), m.SubPath)
				if m.SubPathExpr != "" && m.SubPath != "" {
					c.invalid(at.Index(i).Child("subPathExpr"), m.SubPathExpr,
						"subPathExpr and subPath are mutually exclusive")
				}
				c.requireBelow(at.Child("subPathExpr"), m.SubPathExpr)
			}
		}},
	{"volumeMounts[].mountPropagation",
		"must be None, HostToContainer or Bidirectional; Bidirectional requires a privileged container", 0,
		func(c *check, v *corev1.Container, at *field.Path) {
			at = at.Child("volumeMounts", "mountPropagation")
			for _, m := range v.VolumeMounts {
				if m.MountPropagation == nil {
					continue
				}
				oneOf(c, at, *m.MountPropagation, corev1.MountPropagationBidirectional,
					corev1.MountPropagationHostToContainer, corev1.MountPropagationNone)
				if *m.MountPropagation == corev1.MountPropagationBidirectional &&
					(v.SecurityContext == nil || !isTrue(v.SecurityContext.Privileged)) {
					c.forbidden(at, "Bidirectional mount propagation is available only to privileged containers")
				}
			}
		}},
	{"volumeMounts[].recursiveReadOnly",
		"must be Disabled, IfPossible or Enabled; the last two require readOnly, and mountPropagation must be " +
			"None or not set", 30,
		func(c *check, v *corev1.Container, at *field.Path) {
			at = at.Child("volumeMounts", "recursiveReadOnly")
			for _, m := range v.VolumeMounts {
				if m.RecursiveReadOnly == nil || *m.RecursiveReadOnly == corev1.RecursiveReadOnlyDisabled {
					continue
				}
				oneOf(c, at, *m.RecursiveReadOnly, corev1.RecursiveReadOnlyDisabled, corev1.RecursiveReadOnlyEnabled,
					corev1.RecursiveReadOnlyIfPossible)
				if !m.ReadOnly {
					c.forbidden(at, "may only be specified when readOnly is true")
				}
				if p := m.MountPropagation; p != nil && *p != corev1.MountPropagationNone {
					c.forbidden(at, "may only be specified when mountPropagation is None or not specified")
				}
			}
		}},
	{"volumeDevices[]",
		"name must be a persistentVolumeClaim or ephemeral volume of the pod; devicePath must not contain " +
			"..; both must be unique among volumeDevices and volumeMounts", 0,
		func(c *check, v *corev1.Container, at *field.Path) {
			c.devices(v, at.Child("volumeDevices"), at.Child("volumeMounts"))
		}},
	{"imagePullPolicy", "must be Always, IfNotPresent or Never", 0,
		func(c *check, v *corev1.Container, at *field.Path) {
			orDefault(c, at.Child("imagePullPolicy"), v.ImagePullPolicy, corev1.PullAlways, corev1.PullIfNotPresent,
				corev1.PullNever)
		}},
	{"resources.claims[]", "must be the name of a resource claim of the pod, and unique together with request", 30,
		func(c *check, v *corev1.Container, at *field.Path) {
			seen := map[string]bool{}
			for i, claim := range v.Resources.Claims {
				at := at.Child("resources", "claims").Index(i)
				c.needs(at, claim.Name, nil)
				c.unique(at, claim.Name+"/"+claim.Request, seen)
				if claim.Name != "" && !slices.ContainsFunc(c.new.Spec.Template.Spec.ResourceClaims,
					func(of corev1.PodResourceClaim) bool { return of.Name == claim.Name }) {
					e := field.NotFound(at, claim.Name)
					e.Detail = "must be one of the names in pod.spec.resourceClaims"
					c.add(e)
				}
			}
		}},
	{"resizePolicy[]",
		"resourceName must be cpu or memory, and unique; restartPolicy must be NotRequired or RestartContainer", 33,
		func(c *check, v *corev1.Container, at *field.Path) {
			seen, at := map[corev1.ResourceName]bool{}, at.Child("resizePolicy")
			for i, p := range v.ResizePolicy {
				if seen[p.ResourceName] {
					c.add(field.Duplicate(at.Index(i), p.ResourceName))
				}
				seen[p.ResourceName] = true
				oneOf(c, at, p.ResourceName, corev1.ResourceCPU, corev1.ResourceMemory)
				oneOf(c, at, p.RestartPolicy, corev1.NotRequired, corev1.RestartContainer)
			}
		}},
	{"restartPolicy", "must be Always, Never or OnFailure; is required if restartPolicyRules are set", 35,
		func(c *check, v *corev1.Container, at *field.Path) {
			switch at := at.Child("restartPolicy"); {
			case v.RestartPolicy != nil:
				oneOf(c, at, *v.RestartPolicy, corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever,
					corev1.ContainerRestartPolicyOnFailure)
			case len(v.RestartPolicyRules) > 0:
				c.required(at, "must specify restartPolicy when restart rules are used")
			}
		}},
}

// initRules apply to init containers that end before the other containers start.
var initRules = table[*corev1.Container]{
	{"livenessProbe",
		"must not be set unless restartPolicy is Always; also applies to the other probes and to lifecycle", 0,
		func(c *check, v *corev1.Container, at *field.Path) {
			for _, f := range []struct {
				set  bool
				name string
			}{{v.Lifecycle != nil, "lifecycle"}, {v.LivenessProbe != nil, "livenessProbe"},
				{v.ReadinessProbe != nil, "readinessProbe"}, {v.StartupProbe != nil, "startupProbe"}} {
				if f.set {
					c.forbidden(at.Child(f.name), "may not be set for init containers without restartPolicy=Always")
				}
			}
		}},
}

// handler is the handler of a probe or of a lifecycle hook.
type handler struct {
	union  any // the API type that has the handler's fields
	exec   *corev1.ExecAction
	get    *corev1.HTTPGetAction
	socket *corev1.TCPSocketAction
	grpc   *corev1.GRPCAction
	sleep  *corev1.SleepAction
}

// handlerRules apply to the handlers of probes, postStart and preStop.
var handlerRules = table[handler]{
	{"", "must have exactly one handler; also applies to lifecycle.postStart and lifecycle.preStop", 0,
		func(c *check, v handler, at *field.Path) {
			set := members(v.union)
			if len(set) == 0 {
				c.required(at, "must specify a handler type")
			}
			c.onlyOne(at, "handler", set)
		}},
	{"exec.command", "is required", 0, func(c *check, v handler, at *field.Path) {
		if v.exec != nil && len(v.exec.Command) == 0 {
			c.required(at.Child("exec", "command"), "")
		}
	}},
	{"httpGet.port", "must be from 1 to 65535 or a valid port name; also applies to tcpSocket and grpc", 0,
		func(c *check, v handler, at *field.Path) {
			if v.get != nil && v.exec == nil {
				c.port(at.Child("httpGet", "port"), v.get.Port)
			}
			if v.socket != nil && v.exec == nil && v.get == nil {
				c.port(at.Child("tcpSocket", "port"), v.socket.Port)
			}
			if v.grpc != nil && v.exec == nil && v.get == nil && v.socket == nil {
				c.port(at.Child("grpc", "port"), intstr.FromInt32(v.grpc.Port))
			}
		}},
	{"httpGet.scheme", "must be HTTP or HTTPS", 0, func(c *check, v handler, at *field.Path) {
		if v.get != nil {
			orDefault(c, at.Child("httpGet", "scheme"), v.get.Scheme, corev1.URISchemeHTTP, corev1.URISchemeHTTPS)
		}
	}},
	{"httpGet.httpHeaders[].name", "must be a valid HTTP header name", 0, func(c *check, v handler, at *field.Path) {
		if v.get == nil {
			return
		}
		for _, h := range v.get.HTTPHeaders {
			c.invalid(at.Child("httpGet", "httpHeaders"), h.Name, validation.IsHTTPHeaderName(h.Name)...)
		}
	}},
	{"sleep.seconds", "must be from 0 to the pod's terminationGracePeriodSeconds", 30,
		func(c *check, v handler, at *field.Path) {
			grace := c.new.Spec.Template.Spec.TerminationGracePeriodSeconds
			if v.sleep != nil && len(members(v.union)) == 1 && grace != nil &&
				(v.sleep.Seconds < 0 || v.sleep.Seconds > *grace) {
				c.invalid(at.Child("sleep"), v.sleep.Seconds,
					fmt.Sprintf("must be non-negative and less than terminationGracePeriodSeconds (%d)", *grace))
			}
		}},
}

var probeRules = table[*corev1.Probe]{
	{"periodSeconds",
		"must be 0 or more; also applies to initialDelaySeconds, timeoutSeconds, successThreshold and " +
			"failureThreshold", 0,
		func(c *check, v *corev1.Probe, at *field.Path) {
			c.notNegative(at.Child("initialDelaySeconds"), int64(v.InitialDelaySeconds))
			c.notNegative(at.Child("timeoutSeconds"), int64(v.TimeoutSeconds))
			c.notNegative(at.Child("periodSeconds"), int64(v.PeriodSeconds))
			c.notNegative(at.Child("successThreshold"), int64(v.SuccessThreshold))
			c.notNegative(at.Child("failureThreshold"), int64(v.FailureThreshold))
		}},
	{"terminationGracePeriodSeconds", "must be greater than 0", 25, func(c *check, v *corev1.Probe, at *field.Path) {
		if s := v.TerminationGracePeriodSeconds; s != nil && *s <= 0 {
			c.invalid(at.Child("terminationGracePeriodSeconds"), *s, "must be greater than 0")
		}
	}},
}

// restartRules apply to liveness and startup probes.
var restartRules = table[*corev1.Probe]{
	{"successThreshold", "must be 1; also applies to startupProbe", 0, func(c *check, v *corev1.Probe, at *field.Path) {
		if v.SuccessThreshold != 1 && v.SuccessThreshold != 0 {
			c.invalid(at.Child("successThreshold"), v.SuccessThreshold, "must be 1")
		}
	}},
}

var readinessRules = table[*corev1.Probe]{
	{"terminationGracePeriodSeconds", "must not be set", 25, func(c *check, v *corev1.Probe, at *field.Path) {
		if s := v.TerminationGracePeriodSeconds; s != nil {
			c.invalid(at.Child("terminationGracePeriodSeconds"), *s, "must not be set for readinessProbes")
		}
	}},
}

func (c *check) devices(v *corev1.Container, at, mountsAt *field.Path) {
	names, paths := map[string]bool{}, map[string]bool{}
	for i, d := range v.VolumeDevices {
		at := at.Index(i)
		c.needs(at.Child("name"), d.Name, nil)
		switch volume := c.volumes[d.Name]; {
		case volume == nil:
			c.add(field.NotFound(at.Child("name"), d.Name))
		case volume.PersistentVolumeClaim == nil && volume.Ephemeral == nil:
			c.invalid(at.Child("name"), d.Name,
				"can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode")
		}
		if names[d.Name] {
			c.invalid(at.Child("name"), d.Name, "must be unique")
		}
		c.needs(at.Child("devicePath"), d.DevicePath, nil)
		if paths[d.DevicePath] {
			c.invalid(at.Child("devicePath"), d.DevicePath, "must be unique")
		}
		if stepsBack(d.DevicePath) {
			c.invalid(at.Child("devicePath"), d.DevicePath, "can not contain backsteps ('..')")
		}
		names[d.Name], paths[d.DevicePath] = true, true
		for j, m := range v.VolumeMounts {
			if m.Name == d.Name {
				c.invalid(mountsAt.Index(j).Child("name"), m.Name, "must not already exist in volumeDevices")
				c.invalid(at.Child("name"), d.Name, "must not already exist in volumeMounts")
			}
			if m.MountPath == d.DevicePath {
				c.invalid(mountsAt.Index(j).Child("mountPath"), m.MountPath,
					"must not already exist as a path in volumeDevices")
				c.invalid(at.Child("devicePath"), d.DevicePath, "must not already exist as a path in volumeMounts")
			}
		}
	}
}

func (c *check) port(at *field.Path, p intstr.IntOrString) {
	if p.Type == intstr.Int {
		c.invalid(at, p.IntValue(), validation.IsValidPortNum(p.IntValue())...)
	} else {
		c.invalid(at, p.StrVal, validation.IsValidPortName(p.StrVal)...)
	}
}

func (c *check) keyOf(at *field.Path, name, key string) {
	c.invalid(at.Child("name"), name, dnsSubdomain(name)...)
	c.needs(at.Child("key"), key, validation.IsConfigMapKey)
}

// requireBelow adds errors unless p is a relative path without "..".
func (c *check) requireBelow(at *field.Path, p string) {
	if path.IsAbs(p) {
		c.invalid(at, p, "must be a relative path")
	}
	if stepsBack(p) {
		c.invalid(at, p, "must not contain '..'")
	}
}

func stepsBack(p string) bool { return slices.Contains(strings.Split(p, "/"), "..") }

// Fields of a pod that environment variables and files can use.
var (
	ofVariables = []string{"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName",
		"spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"}
	ofFiles = []string{"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace",
		"metadata.uid"}
)

func (c *check) fieldRef(at *field.Path, r *corev1.ObjectFieldSelector, known []string) {
	if c.needs(at.Child("fieldPath"), r.FieldPath, nil); r.FieldPath == "" {
		return
	}
	of, key, ofKey := strings.Cut(strings.TrimSuffix(r.FieldPath, "']"), "['")
	switch ofKey = ofKey && strings.HasSuffix(r.FieldPath, "']") && of != ""; {
	case r.APIVersion != "v1" && r.APIVersion != "":
		c.invalid(at.Child("fieldPath"), r.FieldPath,
			"error converting fieldPath: unsupported pod version: "+r.APIVersion)
	case ofKey && of == "metadata.annotations":
		c.invalid(at, strings.ToLower(key), validation.IsQualifiedName(strings.ToLower(key))...)
	case ofKey && of == "metadata.labels":
		c.invalid(at, key, validation.IsQualifiedName(key)...)
	case ofKey:
		c.invalid(at.Child("fieldPath"), r.FieldPath,
			"error converting fieldPath: field label does not support subscript: "+r.FieldPath)
	default:
		oneOf(c, at.Child("fieldPath"), r.FieldPath, known...)
	}
}

var ofResources = []string{"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu",
	"requests.ephemeral-storage", "requests.memory"}

func (c *check) resourceFieldRef(at *field.Path, r *corev1.ResourceFieldSelector, ofFile bool) {
	huge := strings.HasPrefix(r.Resource, "requests.hugepages-") || strings.HasPrefix(r.Resource, "limits.hugepages-")
	switch {
	case ofFile && r.ContainerName == "":
		c.required(at.Child("containerName"), "")
	case r.Resource == "":
		c.required(at.Child("resource"), "")
	case !huge:
		oneOf(c, at.Child("resource"), r.Resource, ofResources...)
	}
	if r.Divisor.IsZero() {
		return
	}
	units, what := []string{"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"}, "memory"
	if strings.HasSuffix(r.Resource, ".cpu") {
		units, what = []string{"1m", "1"}, "cpu"
	}
	if (huge || slices.Contains(ofResources, r.Resource)) && !slices.Contains(units, r.Divisor.String()) {
		c.invalid(at.Child("divisor"), r.Resource,
			"only divisor's values "+strings.Join(units, ", ")+" are supported with the "+what+" resource")
	}
}
