package fit

import "k8s.io/apimachinery/pkg/util/version"

// Profile lists the differences between the schedulers of v1.30 to v1.37 that
// matter for pods of DaemonSets. Fields that an API server drops need no rule.
type Profile struct {
	SidecarPorts         bool // v1.33: the host ports of sidecars count
	UnresolvableRequests bool // v1.34: preemption does not help against a request above the node's allocatable amount
	GatedNominations     bool // v1.37: a nominated pod counts while it has scheduling gates
}

// ProfileOf returns the rules of a Kubernetes version such as "v1.30.4". A
// version that cannot be parsed counts as the newest.
func ProfileOf(kubernetesVersion string) Profile {
	v, err := version.ParseGeneric(kubernetesVersion)
	since := func(minor uint) bool { return err != nil || v.AtLeast(version.MajorMinor(1, minor)) }
	return Profile{SidecarPorts: since(33), UnresolvableRequests: since(34), GatedNominations: since(37)}
}
