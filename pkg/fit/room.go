package fit

import (
	"cmp"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// room counts what a node has, and what is used, of each resource that a pod
// requests.
//
// As in the scheduler, a port is either taken or not. If one of two pods with
// the same port is removed, the port counts as free.
type room struct {
	Profile
	wanted *Wanted
	node   *Node

	asks    []ask
	pods    int64                          // on the node, or nominated to it
	maxPods int64                          // maximum number of pods on the node
	taken   map[snapshot.HostPort]struct{} // ports of the node's pods that collide with one of the pod's

	nominated bool // a nominated pod uses a port that the pod requests
}

// ask is a pod's request for one resource; it may be 0.
type ask struct {
	name              corev1.ResourceName
	amount            int64
	used, allocatable int64
}

// newRoom counts the pods that run on the node, and those nominated to it with
// at least the pod's priority.
func (r Profile) newRoom(w *Wanted, n *Node) (*room, []Unreadable) {
	s := &room{Profile: r, wanted: w, node: n, asks: asksOf(w.Requests)}
	var bad []Unreadable
	if names := w.Unreadable; len(names) > 0 {
		bad = append(bad, Unreadable{"Pod", w.Namespace, w.Name, names})
	}
	if names := s.allocate(n.Node.Status.Allocatable); len(names) > 0 {
		bad = append(bad, Unreadable{Kind: "Node", Name: n.Node.Name, Resources: names})
	}
	for i := range n.Pods {
		p := &n.Pods[i]
		if !s.counts(p) {
			continue
		}
		if names := s.unreadable(p); len(names) > 0 {
			bad = append(bad, Unreadable{"Pod", p.Namespace, p.Name, names})
		} else {
			s.add(p)
		}
	}
	return s, bad
}

func asksOf(r snapshot.Resources) []ask {
	all := []ask{
		{name: corev1.ResourceCPU, amount: r.MilliCPU}, {name: corev1.ResourceMemory, amount: r.Memory},
		{name: corev1.ResourceEphemeralStorage, amount: r.EphemeralStorage},
	}
	for name, amount := range r.Scalar {
		all = append(all, ask{name: name, amount: amount})
	}
	slices.SortFunc(all[3:], func(a, b ask) int { return cmp.Compare(a.name, b.name) })
	return slices.DeleteFunc(all, func(a ask) bool { return a.amount <= 0 })
}

// allocate sets the allocatable amounts of the requested resources, and returns
// the names of those that cannot be counted.
func (s *room) allocate(l corev1.ResourceList) []corev1.ResourceName {
	asked := corev1.ResourceList{}
	read := func(name corev1.ResourceName) int64 {
		if q, given := l[name]; given {
			asked[name] = q
		}
		q := l[name]
		if name == corev1.ResourceCPU {
			return q.MilliValue()
		}
		return q.Value()
	}
	s.maxPods = read(corev1.ResourcePods)
	for i := range s.asks {
		s.asks[i].allocatable = read(s.asks[i].name)
	}
	return snapshot.UnreadableOf(asked)
}

func amountOf(r snapshot.Resources, name corev1.ResourceName) int64 {
	switch name {
	case corev1.ResourceCPU:
		return r.MilliCPU
	case corev1.ResourceMemory:
		return r.Memory
	case corev1.ResourceEphemeralStorage:
		return r.EphemeralStorage
	}
	return r.Scalar[name]
}

// counts reports whether another pod counts against the wanted one. A nominated
// pod does if its priority is not lower, even if it is terminating.
func (s *room) counts(p *snapshot.PodRow) bool {
	if !p.Nominated {
		return true
	}
	self := p.Namespace == s.wanted.Namespace && p.Name == s.wanted.Name
	return p.Priority >= s.wanted.Priority && !self && (s.GatedNominations || !p.Gated)
}

// unreadable returns the requested resources for which the amount of another
// pod, or the sum with it, cannot be counted.
func (s *room) unreadable(p *snapshot.PodRow) (names []corev1.ResourceName) {
	for _, a := range s.asks {
		n := amountOf(p.Requests, a.name)
		if n < 0 || n > math.MaxInt64-a.used || slices.Contains(p.Unreadable, a.name) {
			names = append(names, a.name)
		}
	}
	return names
}

func (s *room) add(p *snapshot.PodRow) {
	s.count(p, 1)
	for _, h := range s.colliding(p) {
		if p.Nominated {
			s.nominated = true
		} else {
			s.take(h)
		}
	}
}

func (s *room) take(h snapshot.HostPort) {
	if s.taken == nil {
		s.taken = map[snapshot.HostPort]struct{}{}
	}
	s.taken[h] = struct{}{}
}

func (s *room) remove(p *snapshot.PodRow) {
	s.count(p, -1)
	for _, h := range s.colliding(p) {
		delete(s.taken, h)
	}
}

func (s *room) count(p *snapshot.PodRow, sign int64) {
	s.pods += sign
	for i := range s.asks {
		s.asks[i].used += sign * amountOf(p.Requests, s.asks[i].name)
	}
}

// fits reports whether ports and resources are sufficient now.
func (s *room) fits() bool {
	if s.pods+1 > s.maxPods || s.nominated || len(s.taken) > 0 {
		return false
	}
	for _, a := range s.asks {
		if a.amount > a.allocatable-a.used {
			return false
		}
	}
	return true
}

// lacks returns the resources that are not sufficient.
func (s *room) lacks() (out []Lack) {
	for _, l := range s.amounts() {
		if l.Missing > 0 {
			out = append(out, l)
		}
	}
	return out
}

// amounts returns the requested resources with what the node has. Missing is 0
// or negative for those that are sufficient.
func (s *room) amounts() []Lack {
	out := []Lack{{corev1.ResourcePods, 1, s.pods, s.maxPods, s.pods + 1 - s.maxPods}}
	for _, a := range s.asks {
		out = append(out, Lack{a.name, a.amount, a.used, a.allocatable, a.amount - (a.allocatable - a.used)})
	}
	return out
}

// everyAddress is the address of a port on all addresses. `::` is an ordinary
// address.
const everyAddress = "0.0.0.0"

// portOf returns a port with its defaults, and reports whether it counts.
func (r Profile) portOf(h snapshot.HostPort) (port snapshot.HostPort, counts bool) {
	port = snapshot.HostPort{IP: cmp.Or(h.IP, everyAddress), Protocol: cmp.Or(h.Protocol, corev1.ProtocolTCP),
		Port: h.Port}
	return port, !h.Sidecar || r.SidecarPorts
}

// colliding returns the ports of a pod that collide with a requested one.
func (s *room) colliding(p *snapshot.PodRow) (out []snapshot.HostPort) {
	for _, h := range p.HostPorts {
		port, counts := s.portOf(h)
		if counts && slices.ContainsFunc(s.wanted.HostPorts,
			func(want snapshot.HostPort) bool { return s.collides(want, port) }) {
			out = append(out, port)
		}
	}
	return out
}

// Collide reports whether any of the wanted ports collides with one that
// another pod of the node holds.
func (r Profile) Collide(wanted, held []snapshot.HostPort) bool {
	s := room{Profile: r, wanted: &Wanted{HostPorts: wanted}}
	return len(s.colliding(&snapshot.PodRow{HostPorts: held})) > 0
}

// collides reports whether a wanted port counts and collides with another one.
func (s *room) collides(want, port snapshot.HostPort) bool {
	w, counts := s.portOf(want)
	return counts && w.Protocol == port.Protocol && w.Port == port.Port &&
		(w.IP == port.IP || w.IP == everyAddress || port.IP == everyAddress)
}

// portsTaken returns the ports that are not free, with the pods that hold them.
func (s *room) portsTaken() (out []PortTaken) {
	if len(s.taken) == 0 && !s.nominated {
		return nil
	}
	for _, want := range s.wanted.HostPorts {
		if holders := s.holders(want); len(holders) > 0 {
			out = append(out, PortTaken{want, holders})
		}
	}
	return out
}

func (s *room) holders(want snapshot.HostPort) (out []Holder) {
	for i := range s.node.Pods {
		p := &s.node.Pods[i]
		if s.counts(p) && slices.ContainsFunc(s.colliding(p),
			func(h snapshot.HostPort) bool { return s.collides(want, h) }) {
			out = append(out, Holder{p.Namespace, p.Name, p.Nominated})
		}
	}
	slices.SortFunc(out, func(a, b Holder) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// extended reports whether a resource is an extended resource.
func extended(name corev1.ResourceName) bool {
	prefix, _, qualified := strings.Cut(string(name), "/")
	return qualified && !strings.HasSuffix(prefix, "kubernetes.io")
}
