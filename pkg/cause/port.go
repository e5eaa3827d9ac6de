package cause

import (
	"cmp"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// HostPorts returns the ports of the node that a pod takes: with two pods on
// one node the second can never be scheduled.
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
