package cause

import (
	"cmp"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/fit"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// HostPorts returns the host ports that a pod uses. A second pod with the same ports on the node can never be
// scheduled.
func HostPorts(spec *corev1.PodSpec) []string {
	var ports []string
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		for _, port := range c.Ports {
			n := port.HostPort
			if n == 0 && spec.HostNetwork {
				n = port.ContainerPort
			}
			if n != 0 {
				ports = append(ports, strconv.Itoa(int(n))+"/"+string(cmp.Or(port.Protocol, corev1.ProtocolTCP)))
			}
		}
	}
	return ports
}

// PortsHeld reports whether an old pod that stays until the new one is available (maxSurge) holds a host port that the
// new pod needs, and has no lower priority, so that the scheduler does not preempt it.
func (cs *Causes) PortsHeld(n *daemonset.Node) bool {
	f := cs.fits()
	return slices.ContainsFunc(stayingPods(n), func(p *daemonset.Pod) bool {
		preempts := !f.wanted.NeverPreempts && p.Object.Spec.Priority != nil &&
			*p.Object.Spec.Priority < f.wanted.Priority
		return !preempts && f.profile.Collide(f.wanted.HostPorts, cs.portsOf(p))
	})
}

// stayingPods returns the old pods of a node that stay during a surge until a new pod is available.
func stayingPods(n *daemonset.Node) (out []*daemonset.Pod) {
	for i := range n.Pods {
		if p := &n.Pods[i]; !p.Updated && !p.Terminating && p.Ready {
			out = append(out, p)
		}
	}
	return out
}

// portsOf returns the host ports that a pod of the DaemonSet holds: its own, and those of the template of its revision,
// because a dump may not have the ports of the pod. A pod always keeps the ports of its template.
func (cs *Causes) portsOf(p *daemonset.Pod) []snapshot.HostPort {
	own := snapshot.HostPortsOf(&p.Object.Spec)
	for _, h := range cs.portsOfRevision(p.Revision) {
		if !slices.Contains(own, h) {
			own = append(own, h)
		}
	}
	return own
}

// portsOfRevision returns the host ports in the template of a revision; none if it is unknown.
func (cs *Causes) portsOfRevision(name string) []snapshot.HostPort {
	if ports, known := cs.ports[name]; known {
		return ports
	}
	var ports []snapshot.HostPort
	if t := cs.st.TemplateOf(name); t != nil {
		ports = snapshot.HostPortsOf(fit.Admitted(&t.Spec))
	}
	cs.ports[name] = ports
	return ports
}
