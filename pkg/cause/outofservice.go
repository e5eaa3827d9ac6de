package cause

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// OutOfServiceSoon is within how long the pod garbage collector force-deletes what is terminating on a
// node that is out of service: it looks every 20 seconds.
const OutOfServiceSoon = 20 * time.Second

// OutOfService is the taint by which a person says that the machine of a node is off.
var OutOfService = corev1.Taint{Key: corev1.TaintNodeOutOfService, Value: "nodeshutdown",
	Effect: corev1.TaintEffectNoExecute}

// CollectsOutOfService reports whether the pod garbage collector of a Kubernetes version force-deletes the
// terminating pods of nodes that are NotReady and out of service: from 1.26 on, where the feature
// NodeOutOfServiceVolumeDetach is on by default.
func CollectsOutOfService(kubernetesVersion string) bool {
	v, err := version.ParseGeneric(kubernetesVersion)
	return err == nil && (v.Major() > 1 || v.Minor() >= 26)
}

// Collected reports whether the terminating pods of a node are force-deleted: it is NotReady and out
// of service, for less than the time that this takes at most.
func (cs *Causes) Collected(n *daemonset.Node) bool {
	if n.Object == nil || Down(n, cs.at) == nil || !CollectsOutOfService(cs.st.Profile.Version) {
		return false
	}
	return slices.ContainsFunc(n.Object.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == corev1.TaintNodeOutOfService && (t.TimeAdded == nil || cs.at.Sub(t.TimeAdded.Time) < Patience)
	})
}
