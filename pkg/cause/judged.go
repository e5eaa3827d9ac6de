package cause

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/split"
)

// Judge adds to problems what their nodes have in common, what their pods fail on, and
// whose fault that is; not to those that are about no step of a pod.
func (cs *Causes) Judge(problems []Problem) {
	cs.common(problems)
	for i := range problems {
		p := &problems[i]
		p.Subject = cs.SubjectOf(p)
		cs.addPlatform(p)
		if p.Severity != SeverityInfo {
			p.Blame = cs.BlameOf(p)
		}
	}
}

// notBuilt reports whether a message says that the image is not built for the nodes.
func notBuilt(p *Problem) bool {
	return slices.Contains([]daemonset.Reason{ImagePullBackOff, CrashLoopBackOff, ContainerConfig}, p.Code) && OtherPlatform(p.Facts.Text("message"))
}

// addPlatform adds to a problem of containers the platform of its nodes: where a message says that
// the image is not built for it, and where the current revision works on nodes of others only.
func (cs *Causes) addPlatform(p *Problem) {
	if !OfContainer(p.Code) || p.Common != nil || p.Severity != SeverityError {
		return
	}
	if notBuilt(p) {
		if name := cs.Platform(p.Nodes); name != "" {
			p.Facts["platform"] = name
		}
		return
	}
	if p.Code != CrashLoopBackOff {
		return
	}
	var failing []*corev1.Node
	fails := map[string]bool{}
	for _, name := range p.Nodes {
		n := cs.st.Node(name)
		if n == nil || n.Object == nil || !slices.ContainsFunc(n.Pods, func(o daemonset.Pod) bool { return o.Updated && slices.Contains(p.Pods, o.Name) }) {
			return // its pod is of another revision
		}
		failing, fails[name] = append(failing, n.Object), true
	}
	healthy, compared := cs.healthy(fails)
	s := samePlatform(failing, healthy)
	if s == nil || compared != ComparedNew {
		return
	}
	others := []string{}
	for _, n := range healthy {
		if other := split.PropertyOf(n, s.Properties[0].Kind); other != nil && !slices.Contains(others, other.Value) {
			others = append(others, other.Value)
		}
	}
	slices.Sort(others)
	if len(others) > 0 {
		p.Facts["platform"], p.Facts["platforms"] = s.Properties[0].Value, others
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// common adds to problems that do not go away by themselves what their nodes have in
// common: to those of containers, and to nodes that are down.
func (cs *Causes) common(problems []Problem) {
	for _, is := range []func(daemonset.Reason) bool{
		OfContainer,
		func(code daemonset.Reason) bool {
			return code == NodeNotReady || code == TerminatingOnDeadNode
		},
	} {
		var alike []*Problem
		for i := range problems {
			if p := &problems[i]; is(p.Code) && p.Severity == SeverityError {
				alike = append(alike, p)
			}
		}
		if cs.inCommon(alike...) || len(alike) < 2 {
			continue
		}
		for _, p := range alike {
			cs.inCommon(p)
		}
	}
}

// inCommon adds what the nodes of problems have in common to those of which most
// nodes have it, and reports whether there is anything.
func (cs *Causes) inCommon(problems ...*Problem) bool {
	var nodes, messages []string
	for _, p := range problems {
		nodes, messages = append(nodes, p.Nodes...), append(messages, p.Facts.Text("message"))
	}
	c := cs.Common(nodes, messages...)
	if c == nil {
		return false
	}
	for _, p := range problems {
		with, on := 0, sets.New(p.Nodes...)
		for i := range cs.st.Nodes {
			if n := &cs.st.Nodes[i]; n.Object != nil && on.Has(n.Name) {
				with += b2i(c.Has(n.Object))
			}
		}
		if 2*with > len(p.Nodes) {
			p.Common = c
		}
	}
	return true
}
