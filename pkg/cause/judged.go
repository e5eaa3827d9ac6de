package cause

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/split"
)

// Judge sets Common, Subject and Blame of the problems. Problems that are not about a step of a pod get no Blame.
func (cs *Causes) Judge(problems []Problem) {
	cs.addCommon(problems)
	for i := range problems {
		p := &problems[i]
		p.Subject = cs.SubjectOf(p)
		cs.addPlatform(p)
		cs.addReport(p)
		cs.addJoined(p)
		cs.addStopped(p)
		if p.Severity != SeverityInfo {
			p.Blame = cs.BlameOf(p)
		}
	}
}

// notBuilt reports whether a message says that the image is not built for the platform of the nodes.
func notBuilt(p *Problem) bool {
	return slices.Contains([]daemonset.Reason{ImagePullBackOff, CrashLoopBackOff, ContainerConfig}, p.Code) &&
		OtherPlatform(p.Facts.Text("message"))
}

// addPlatform adds the platform of the nodes to a problem of containers if a message says that the image is not built
// for it, or if the current revision works only on nodes of other platforms.
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
		if n == nil || n.Object == nil ||
			!slices.ContainsFunc(n.Pods, func(o daemonset.Pod) bool {
				return o.Updated &&
					slices.Contains(p.Pods, o.Name)
			}) {
			return // the pod is of another revision
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

// addReport adds a node condition to a problem of containers if all of its nodes have the condition with the same
// status and no node where the pod works has it. Such conditions come from node-problem-detector and cloud agents. The
// conditions of Kubernetes itself have causes of their own.
func (cs *Causes) addReport(p *Problem) {
	if !OfContainer(p.Code) || p.Common != nil || p.Severity != SeverityError || len(p.Nodes) == 0 {
		return
	}
	fails := map[string]bool{}
	for _, name := range p.Nodes {
		fails[name] = true
	}
	healthy, compared := cs.healthy(fails)
	first := cs.st.Node(p.Nodes[0])
	if len(healthy) == 0 || compared != ComparedNew || first == nil || first.Object == nil {
		return
	}
	for _, c := range first.Object.Status.Conditions {
		same := func(x corev1.NodeCondition) bool { return x.Type == c.Type && x.Status == c.Status }
		has := func(n *corev1.Node) bool { return slices.ContainsFunc(n.Status.Conditions, same) }
		known := slices.Contains(ofKubernetes, c.Type) || slices.Contains(snapshot.Purposes, c.Type)
		if c.Status == corev1.ConditionUnknown || known || slices.ContainsFunc(healthy, has) {
			continue
		}
		all := !slices.ContainsFunc(p.Nodes, func(name string) bool {
			n := cs.st.Node(name)
			return n == nil || n.Object == nil || !has(n.Object)
		})
		lacks := func(n *corev1.Node) bool { return !reports(n, c.Type) }
		if all && !slices.ContainsFunc(healthy, lacks) {
			p.Facts["nodeReports"] = string(c.Type) + " " + string(c.Status)
			return
		}
	}
}

// addJoined adds to a problem of containers the time when the first of its nodes joined, if these nodes are newer than
// the current revision and than every node where it works, and their pods have never been Ready.
func (cs *Causes) addJoined(p *Problem) {
	began := cs.RolloutBegan()
	if !OfContainer(p.Code) || p.Common != nil || p.Severity != SeverityError || began == nil || len(p.Nodes) == 0 {
		return
	}
	fails, first := map[string]bool{}, time.Time{}
	for _, name := range p.Nodes {
		fails[name] = true
		n := cs.st.Node(name)
		if n == nil || n.Object == nil || slices.ContainsFunc(n.Pods, worked) {
			return
		}
		if joined := n.Object.CreationTimestamp.Time; first.IsZero() || joined.Before(first) {
			first = joined
		}
	}
	healthy, compared := cs.healthy(fails)
	younger := func(n *corev1.Node) bool { return !n.CreationTimestamp.Time.Before(first) }
	if compared == ComparedNew && len(healthy) > 0 && first.After(*began) && !slices.ContainsFunc(healthy, younger) {
		p.Facts["joined"] = timeFact(first)
	}
}

// worked reports whether a pod is Ready, or was Ready for longer than Patience after its creation.
func worked(p daemonset.Pod) bool {
	since := readySince(p.Object)
	return p.Ready || since != nil && since.Sub(p.Object.CreationTimestamp.Time) > Patience
}

// addStopped adds to a problem of containers the time when its pods stopped being Ready, if there are at least three,
// all of them had worked, and they stopped within a minute. A pod that has been Ready between two crashes is ignored,
// because its condition shows only the last crash.
func (cs *Causes) addStopped(p *Problem) {
	const several = 3
	if StageOf(p.Code) < StageRan || !OfContainer(p.Code) || p.Severity != SeverityError || len(p.Nodes) < several {
		return
	}
	var first, last time.Time
	for _, name := range p.Nodes {
		n := cs.st.Node(name)
		pod := relevantPod(n)
		if pod == nil || pod.Ready || !worked(*pod) || readyBetween(pod.Object) {
			return
		}
		since := *readySince(pod.Object)
		if first.IsZero() || since.Before(first) {
			first = since
		}
		if since.After(last) {
			last = since
		}
	}
	if last.Sub(first) <= time.Minute {
		p.Facts["stopped"] = timeFact(first)
	}
}

// readyBetween reports whether a pod may have been Ready between two crashes, so that the time when it stopped being
// Ready is not when it began to fail. That is so if it stopped at the end of the last container run, and that run was
// short.
func readyBetween(o *corev1.Pod) bool {
	since := *readySince(o)
	return slices.ContainsFunc(o.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		last := s.LastTerminationState.Terminated
		if s.RestartCount == 0 {
			return false
		}
		return last == nil || !last.StartedAt.After(since) && last.FinishedAt.Sub(last.StartedAt.Time) < 2*Patience
	})
}

// reports reports whether a node has a condition, with any status.
func reports(n *corev1.Node, of corev1.NodeConditionType) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == of })
}

// ofKubernetes are the conditions that the kubelet and the route controller of the cloud provider set.
var ofKubernetes = []corev1.NodeConditionType{
	corev1.NodeReady, corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure,
	corev1.NodeNetworkUnavailable,
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// addCommon sets Common of the problems that do not resolve by themselves: those of containers, and those of nodes that
// are down.
func (cs *Causes) addCommon(problems []Problem) {
	for _, is := range []func(daemonset.Reason) bool{
		OfContainer,
		func(code daemonset.Reason) bool {
			return code == NodeNotReady || code == TerminatingOnDeadNode
		},
	} {
		var alike []*Problem
		for i := range problems {
			if p := &problems[i]; is(p.Code) && p.Severity == SeverityError && p.Facts["templateImage"] == nil {
				alike = append(alike, p)
			}
		}
		if cs.addCommonTo(alike...) || len(alike) < 2 {
			continue
		}
		for _, p := range alike {
			cs.addCommonTo(p)
		}
	}
}

// addCommonTo finds what the nodes of all given problems have in common, and sets Common of each problem if most of its
// nodes share it. It returns false if the nodes have nothing in common.
func (cs *Causes) addCommonTo(problems ...*Problem) bool {
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
