package fit

import "k8s.io/apimachinery/pkg/util/version"

// Profile is that in which the schedulers of v1.30 to v1.37 differ, as far as a pod
// of a DaemonSet meets it. What an API server drops on writing needs no rule.
type Profile struct {
	SidecarPorts         bool // v1.33: the host ports of sidecars count
	UnresolvableRequests bool // v1.34: a request above what the node can allocate is known to be beyond preemption
	GatedNominations     bool // v1.37: a nominated pod counts while it has scheduling gates
}

// ProfileOf returns the rules of a Kubernetes version such as "v1.30.4". A version
// that tells nothing has the newest.
func ProfileOf(kubernetesVersion string) Profile {
	v, err := version.ParseGeneric(kubernetesVersion)
	since := func(minor uint) bool { return err != nil || v.AtLeast(version.MajorMinor(1, minor)) }
	return Profile{SidecarPorts: since(33), UnresolvableRequests: since(34), GatedNominations: since(37)}
}
