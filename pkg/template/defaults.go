package template

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/version"
)

// Default sets the defaults that the API server of a version sets in the pod
// template of a DaemonSet, according to the API reference. It changes no field
// that is set, except that it rounds quantities as the server does. Pods have
// additional defaults, which templates lack. A version that cannot be parsed
// counts as the newest.
func Default(t *corev1.PodTemplateSpec, kubernetesVersion string) {
	v, err := version.ParseGeneric(kubernetesVersion)
	defaults{hostPorts: err == nil && v.LessThan(version.MajorMinor(1, 28))}.pod(&t.Spec)
}

// DefaultDaemonSet sets the defaults that the API server of a version sets in a
// DaemonSet: those of Default in its pod template, and all others. It changes
// no field that is set.
func DefaultDaemonSet(ds *appsv1.DaemonSet, kubernetesVersion string) {
	orPointer(&ds.Spec.RevisionHistoryLimit, 10)
	s := &ds.Spec.UpdateStrategy
	or(&s.Type, appsv1.RollingUpdateDaemonSetStrategyType)
	if s.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		orPointer(&s.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
		orPointer(&s.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
		if v, err := version.ParseGeneric(kubernetesVersion); err != nil || v.AtLeast(version.MajorMinor(1, 21)) {
			orPointer(&s.RollingUpdate.MaxSurge, intstr.FromInt32(0))
		}
	}
	Default(&ds.Spec.Template, kubernetesVersion)
}

// Defaulted reports for each difference, as returned by Diff, whether an API
// server may have made it without a change by anybody: one side lacks the
// field, and the other has the default of some version. A server that was
// upgraded adds its new defaults when the object is next written.
//
// Defaulted cannot distinguish a default that somebody set or removed
// explicitly. It reports false for a field that was added together with its
// parent, such as the protocol of a new port.
func Defaulted(all []Difference, old, new Content) []bool {
	out := make([]bool, len(all))
	var added, dropped map[addition]bool // by the defaults of old, of new
	moved := onHostNetwork(old) != onHostNetwork(new)
	for i, d := range all {
		if last := d.Path.Last().Name; moved && (last == "hostPort" || last == "ports") {
			continue // only one side has this default
		}
		mayAdd, mayDrop := mayDefault(d)
		if mayAdd && added == nil {
			added = additions(old)
		}
		if mayDrop && dropped == nil {
			dropped = additions(new)
		}
		out[i] = mayAdd && added[additionOf(d.Path, d.Old, d.New)] || mayDrop &&
			dropped[additionOf(d.Path, d.New, d.Old)]
	}
	return out
}

func onHostNetwork(c Content) bool {
	spec, _ := c["spec"].(map[string]any)
	return spec["hostNetwork"] == true
}

// mayDefault reports whether the defaults of the old side, or those of the new
// side, can explain a difference. It is a fast filter: comparing with the
// defaults costs ten times as much as Diff.
func mayDefault(d Difference) (added, dropped bool) {
	switch {
	case d.Path.Last().Kind != Field: // a list member or an annotation is not a default
		return false, false
	case isListOfObjects(d.Old) && isListOfObjects(d.New): // its members may have defaults
		return true, true
	}
	return d.Old.Absent(), d.New.Absent()
}

func isListOfObjects(v Value) bool {
	list, _ := v.Any().([]any)
	if len(list) == 0 {
		return false
	}
	_, isObject := list[0].(map[string]any)
	return isObject
}

// addition is a field with its old and new value as text.
type addition struct{ path, old, new string }

func additionOf(p Path, old, new Value) addition {
	return addition{p.String(), old.String(), new.String()}
}

// additions returns the differences that the defaults of all versions would
// make to a content. It returns none if the content is not a template.
func additions(c Content) map[addition]bool {
	found := map[addition]bool{}
	t, err := c.Typed()
	if err != nil {
		return found
	}
	before, _ := Of(t, false) // decoded content always encodes
	defaults{hostPorts: true, procMount: true}.pod(&t.Spec)
	after, _ := Of(t, false)
	for _, d := range Diff(before, after) {
		found[additionOf(d.Path, d.Old, d.New)] = true
	}
	return found
}

// defaults says which of the defaults that differ between versions are set.
type defaults struct {
	hostPorts bool // before v1.28: a port of a pod on the host's network is also a host port
	procMount bool // some releases of v1.12 to v1.14 (kubernetes#78633)
}

func (d defaults) pod(p *corev1.PodSpec) {
	or(&p.RestartPolicy, corev1.RestartPolicyAlways)
	or(&p.DNSPolicy, corev1.DNSClusterFirst)
	or(&p.SchedulerName, corev1.DefaultSchedulerName)
	orPointer(&p.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	orPointer(&p.SecurityContext, corev1.PodSecurityContext{})
	or(&p.ServiceAccountName, p.DeprecatedServiceAccount) // two names for one field
	p.DeprecatedServiceAccount = p.ServiceAccountName
	roundUp(p.Overhead)
	if r := p.Resources; r != nil {
		roundUp(r.Limits, r.Requests)
	}
	for i := range p.Volumes {
		setVolume(&p.Volumes[i].VolumeSource)
	}
	for _, containers := range [][]corev1.Container{p.InitContainers, p.Containers} {
		for i := range containers {
			d.container(&containers[i], p.HostNetwork)
		}
	}
}

func (d defaults) container(c *corev1.Container, hostNetwork bool) {
	if d.procMount && c.SecurityContext != nil {
		orPointer(&c.SecurityContext.ProcMount, corev1.DefaultProcMount)
	}
	or(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	or(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	or(&c.ImagePullPolicy, pullPolicy(c.Image))
	roundUp(c.Resources.Limits, c.Resources.Requests)
	for i := range c.Ports {
		p := &c.Ports[i]
		or(&p.Protocol, corev1.ProtocolTCP)
		if d.hostPorts && hostNetwork {
			or(&p.HostPort, p.ContainerPort)
		}
	}
	for i := range c.Env {
		if from := c.Env[i].ValueFrom; from != nil {
			setFieldRef(from.FieldRef)
			if from.FileKeyRef != nil {
				orPointer(&from.FileKeyRef.Optional, false)
			}
		}
	}
	for _, p := range []*corev1.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
		if p == nil {
			continue
		}
		or(&p.TimeoutSeconds, 1)
		or(&p.PeriodSeconds, 10)
		or(&p.SuccessThreshold, 1)
		or(&p.FailureThreshold, 3)
		setHTTPGet(p.HTTPGet)
		if p.GRPC != nil {
			orPointer(&p.GRPC.Service, "")
		}
	}
	if l := c.Lifecycle; l != nil {
		for _, h := range []*corev1.LifecycleHandler{l.PostStart, l.PreStop} {
			if h != nil {
				setHTTPGet(h.HTTPGet)
			}
		}
	}
}

func setHTTPGet(g *corev1.HTTPGetAction) {
	if g != nil {
		or(&g.Path, "/")
		or(&g.Scheme, corev1.URISchemeHTTP)
	}
}

func setFieldRef(r *corev1.ObjectFieldSelector) {
	if r != nil {
		or(&r.APIVersion, "v1")
	}
}

func setFieldRefs(files []corev1.DownwardAPIVolumeFile) {
	for i := range files {
		setFieldRef(files[i].FieldRef)
	}
}

// readable is the mode of files that everybody may read.
const readable int32 = 0o644

// setVolume sets the defaults of a volume's source. A volume without a source
// is an empty directory.
func setVolume(v *corev1.VolumeSource) {
	switch {
	case *v == corev1.VolumeSource{}:
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	case v.HostPath != nil:
		orPointer(&v.HostPath.Type, corev1.HostPathUnset)
	case v.Secret != nil:
		orPointer(&v.Secret.DefaultMode, readable)
	case v.ConfigMap != nil:
		orPointer(&v.ConfigMap.DefaultMode, readable)
	case v.DownwardAPI != nil:
		orPointer(&v.DownwardAPI.DefaultMode, readable)
		setFieldRefs(v.DownwardAPI.Items)
	case v.Projected != nil:
		orPointer(&v.Projected.DefaultMode, readable)
		for _, s := range v.Projected.Sources {
			if s.DownwardAPI != nil {
				setFieldRefs(s.DownwardAPI.Items)
			}
			if s.ServiceAccountToken != nil {
				orPointer(&s.ServiceAccountToken.ExpirationSeconds, 60*60)
			}
		}
	case v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil:
		claim := &v.Ephemeral.VolumeClaimTemplate.Spec
		orPointer(&claim.VolumeMode, corev1.PersistentVolumeFilesystem)
		roundUp(claim.Resources.Limits, claim.Resources.Requests)
	case v.Image != nil:
		or(&v.Image.PullPolicy, pullPolicy(v.Image.Reference))
	case v.ISCSI != nil:
		or(&v.ISCSI.ISCSIInterface, "default")
	case v.RBD != nil:
		or(&v.RBD.RBDPool, "rbd")
		or(&v.RBD.RadosUser, "admin")
		or(&v.RBD.Keyring, "/etc/ceph/keyring")
	case v.AzureDisk != nil:
		orPointer(&v.AzureDisk.CachingMode, corev1.AzureDataDiskCachingReadWrite)
		orPointer(&v.AzureDisk.Kind, corev1.AzureSharedBlobDisk)
		orPointer(&v.AzureDisk.FSType, "ext4")
		orPointer(&v.AzureDisk.ReadOnly, false)
	case v.ScaleIO != nil:
		or(&v.ScaleIO.StorageMode, "ThinProvisioned")
		or(&v.ScaleIO.FSType, "xfs")
	}
}

// pullPolicy returns the default policy for an image: Always if its tag is
// latest or missing, because the image may change.
func pullPolicy(image string) corev1.PullPolicy {
	name, _, byDigest := strings.Cut(image, "@")
	_, tag, tagged := strings.Cut(name[strings.LastIndex(name, "/")+1:], ":")
	if image != "" && (tag == "latest" || !tagged && !byDigest) {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}

// roundUp rounds quantities up to thousandths, the smallest unit that the API
// stores.
func roundUp(lists ...corev1.ResourceList) {
	for _, l := range lists {
		for name, q := range l {
			q.RoundUp(resource.Milli)
			l[name] = q
		}
	}
}

func or[T comparable](field *T, value T) {
	if *field == *new(T) {
		*field = value
	}
}

func orPointer[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
