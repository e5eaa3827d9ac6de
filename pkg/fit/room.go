package fit

import (
	"cmp"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// room is what a node has for a pod: of what the pod asks, how much is used.
//
// As in the scheduler, a port is taken or not, whoever takes it: when one of two
// pods with the same port goes, the port counts as free.
type room struct {
	Profile
	wanted *Wanted
	node   *Node

	asks  []ask
	pods  int64                          // on the node, and nominated to it
	most  int64                          // pods that the node may have
	taken map[snapshot.HostPort]struct{} // the ports of the node's pods that one of the pod's collides with

	nominated bool // a nominated pod takes a port that the pod wants
}

// ask is what a pod requests of one resource, if anything.
type ask struct {
	name              corev1.ResourceName
	amount            int64
	used, allocatable int64
}

// newRoom counts the pods that run on the node, and those with at least the pod's
// priority for which it is nominated.
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

// allocate reads what the node can allocate of what the pod asks, and returns the
// names of what cannot be counted.
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
	s.most = read(corev1.ResourcePods)
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

// counts reports whether a pod takes room from the one that is asked about. A
// nominated one does if its priority is not lower, whether or not it is terminating.
func (s *room) counts(p *snapshot.PodRow) bool {
	if !p.Nominated {
		return true
	}
	self := p.Namespace == s.wanted.Namespace && p.Name == s.wanted.Name
	return p.Priority >= s.wanted.Priority && !self && (s.GatedNominations || !p.Gated)
}

// unreadable names what the pod asks for and of which the amount of another, or the
// sum with it, cannot be counted.
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

// fits reports whether ports and resources suffice now.
func (s *room) fits() bool {
	if s.pods+1 > s.most || s.nominated || len(s.taken) > 0 {
		return false
	}
	for _, a := range s.asks {
		if a.amount > a.allocatable-a.used {
			return false
		}
	}
	return true
}

// lacks returns what does not suffice.
func (s *room) lacks() (out []Lack) {
	for _, l := range s.amounts() {
		if l.Missing > 0 {
			out = append(out, l)
		}
	}
	return out
}

// amounts returns what the pod asks for, beside what there is. Of what suffices nothing
// is missing: Missing is then not above 0.
func (s *room) amounts() []Lack {
	out := []Lack{{corev1.ResourcePods, 1, s.pods, s.most, s.pods + 1 - s.most}}
	for _, a := range s.asks {
		out = append(out, Lack{a.name, a.amount, a.used, a.allocatable, a.amount - (a.allocatable - a.used)})
	}
	return out
}

// everyAddress is the address that takes a port on all of them. `::` is an address
// like any other.
const everyAddress = "0.0.0.0"

// portOf returns a port with what it leaves out, and whether it counts.
func (r Profile) portOf(h snapshot.HostPort) (port snapshot.HostPort, counts bool) {
	port = snapshot.HostPort{IP: cmp.Or(h.IP, everyAddress), Protocol: cmp.Or(h.Protocol, corev1.ProtocolTCP),
		Port: h.Port}
	return port, !h.Sidecar || r.SidecarPorts
}

// colliding returns the ports of a pod that collide with one that is wanted.
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

// Collide reports whether one of the ports that a pod wants is among those that another
// pod of the node holds.
func (r Profile) Collide(wanted, held []snapshot.HostPort) bool {
	s := room{Profile: r, wanted: &Wanted{HostPorts: wanted}}
	return len(s.colliding(&snapshot.PodRow{HostPorts: held})) > 0
}

// collides reports whether a port that is wanted counts, and collides with another.
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

// extended reports whether a resource is one that nodes offer beyond Kubernetes' own.
func extended(name corev1.ResourceName) bool {
	prefix, _, qualified := strings.Cut(string(name), "/")
	return qualified && !strings.HasSuffix(prefix, "kubernetes.io")
}
