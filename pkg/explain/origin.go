package explain

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// originOf are the origins of problems that their code tells.
var originOf = map[daemonset.Reason]cause.Origin{
	cause.NodeNotReady:          {Kind: cause.OriginNodes, Certainty: cause.Certain},
	cause.TerminatingOnDeadNode: {Kind: cause.OriginNodes, Certainty: cause.Certain},
	daemonset.NodeGone:          {Kind: cause.OriginNodes, Certainty: cause.Certain},
	cause.HostPortConflict:      {Kind: cause.OriginScheduling, Certainty: cause.Certain},
	cause.InsufficientResources: {Kind: cause.OriginScheduling, Certainty: cause.Certain},
	cause.DoesNotFit:            {Kind: cause.OriginScheduling, Certainty: cause.Certain},
	OnDeleteOutdated:            {Kind: cause.OriginStrategy, Certainty: cause.Certain},
	daemonset.InvalidBudget:     {Kind: cause.OriginStrategy, Certainty: cause.Certain},
	SurgeHostPort:               {Kind: cause.OriginStrategy, Certainty: cause.Certain},
	cause.ExcludedButCounted:    {Kind: cause.OriginController, Certainty: cause.Certain},
	StaleStatus:                 {Kind: cause.OriginController, Certainty: cause.Likely},
	cause.EvictLoop:             {Kind: cause.OriginUnknown, Certainty: cause.Unsure},
	daemonset.FailedPod:         {Kind: cause.OriginUnknown, Certainty: cause.Unsure},
	daemonset.NotReady:          {Kind: cause.OriginUnknown, Certainty: cause.Unsure},
	cause.PendingUnschedulable:  {Kind: cause.OriginUnknown, Certainty: cause.Unsure},
}

// origin returns what a problem comes from, where all is how many pods fail; nil
// for one that needs none: it passes by itself, or says where it comes from.
func (g *given) origin(p *Problem, all cause.Tally) *cause.Origin {
	o, told := originOf[p.Code]
	switch newFails := all.NewFailing > 0 && all.NewFailing == all.NewPods && all.OldPods > 0 && all.OldFailing == 0; {
	case p.Code == Misscheduled && downFor(p.Facts):
		o = cause.Origin{Kind: cause.OriginNodes, Certainty: cause.Certain}
	case p.Severity == cause.SeverityInfo && p.Code != OnDeleteOutdated:
		return nil
	case cause.OfContainer(p.Code) && p.Common != nil:
		o = cause.Origin{Kind: cause.OriginCommon, Certainty: certainty(p.Common)}
	case cause.OfContainer(p.Code) && newFails:
		o = cause.Origin{Kind: cause.OriginRevision, Certainty: cause.Likely}
		if current := g.current(); len(current) > 0 {
			o.Revision = current[0].Number
		}
	case cause.OfContainer(p.Code):
		o = cause.Origin{Kind: cause.OriginUnknown, Certainty: cause.Unsure}
	case p.Code == cause.NoEligibleNode && p.Facts["changed"] == cause.ChangedTemplate:
		o = cause.Origin{Kind: cause.OriginRevision, Certainty: cause.Likely, Revision: int64(p.Facts.Int("number"))}
	case p.Code == cause.HostPortConflict && g.st.Budget.MaxSurge > 0 && len(cause.HostPorts(&g.st.DaemonSet.Spec.Template.Spec)) > 0:
		o = cause.Origin{Kind: cause.OriginStrategy, Certainty: cause.Likely}
	case (p.Code == cause.ControllerSilent || p.Code == GenerationNotObserved) && p.Severity == cause.SeverityError:
		o = cause.Origin{Kind: cause.OriginController, Certainty: cause.Likely}
	case p.Code == cause.PodOSNotSupported:
		o = cause.Origin{Kind: cause.OriginRevision, Certainty: cause.Certain}
		if current := g.current(); len(current) > 0 {
			o.Revision = current[0].Number
		}
	case p.Code == cause.FailedCreate:
		o.Kind, o.Name = cause.RejectedBy(p.Facts)
		o.Certainty = cause.Certain
	case !told:
		return nil
	}
	o.BeforeRollout = g.beforeRollout(p)
	if o.Kind == cause.OriginNodes && p.Code != daemonset.NodeGone {
		o.Untouched = g.untouched(p.Nodes)
		if g.rolling(p) && o.BeforeRollout == nil && !o.Untouched {
			o.Certainty = cause.Likely
		}
	}
	return &o
}

func certainty(c *cause.Common) cause.Certainty {
	switch {
	case c.Told:
		return cause.Certain
	case c.Compared == cause.ComparedNew:
		return cause.Likely
	}
	return cause.Unsure
}

// common adds to problems that do not go away by themselves what their nodes have in
// common: to those of containers, and to nodes that are down.
func (g *given) common(problems []Problem) {
	for _, is := range []func(daemonset.Reason) bool{
		cause.OfContainer,
		func(code daemonset.Reason) bool {
			return code == cause.NodeNotReady || code == cause.TerminatingOnDeadNode
		},
	} {
		var alike []*Problem
		for i := range problems {
			if p := &problems[i]; is(p.Code) && p.Severity == cause.SeverityError {
				alike = append(alike, p)
			}
		}
		if g.inCommon(alike...) || len(alike) < 2 {
			continue
		}
		for _, p := range alike {
			g.inCommon(p)
		}
	}
}

// inCommon adds what the nodes of problems have in common to those of which most
// nodes have it, and reports whether there is anything.
func (g *given) inCommon(problems ...*Problem) bool {
	var nodes, messages []string
	for _, p := range problems {
		nodes, messages = append(nodes, p.Nodes...), append(messages, p.Facts.Text("message"))
	}
	c := g.causes.Common(nodes, messages...)
	if c == nil {
		return false
	}
	for _, p := range problems {
		with, on := 0, sets.New(p.Nodes...)
		for i := range g.st.Nodes {
			if n := &g.st.Nodes[i]; n.Object != nil && on.Has(n.Name) {
				with += b2i(c.Has(n.Object))
			}
		}
		if 2*with > len(p.Nodes) {
			p.Common = c
		}
	}
	return true
}

// noticed is how far apart two times have to be to tell which was first. The node
// lifecycle controller notices 40s, since v1.32 50s, and up to 5s more after a kubelet has
// fallen silent, and what a kubelet reports itself is by the clock of its node.
const noticed = time.Minute

// rolling reports whether it is known when a rollout under way and a problem began.
func (g *given) rolling(p *Problem) bool {
	return g.rolloutBegan() != nil && p.Since != nil && p.Latest != nil && g.oldNodes() > 0
}

// beforeRollout reports whether a problem was there before the rollout under way
// began; nil where that is not certain, and where some of it was, and some was not.
func (g *given) beforeRollout(p *Problem) *bool {
	if !g.rolling(p) {
		return nil
	}
	began := *g.rolloutBegan()
	before, after := !p.Latest.After(began.Add(-noticed)), !p.Since.Before(began.Add(noticed))
	if before == after {
		return nil
	}
	return &before
}

// untouched reports whether the rollout under way had done nothing on nodes when they
// became NotReady: they still have the pods from before it, and none of these was deleted
// earlier. Where pods surge, a new one may have been there and gone.
func (g *given) untouched(nodes []string) bool {
	began := g.rolloutBegan()
	if began == nil || g.oldNodes() == 0 || g.st.Budget.MaxSurge > 0 || len(nodes) == 0 {
		return false
	}
	return !slices.ContainsFunc(nodes, func(name string) bool {
		n := g.st.Node(name)
		if n == nil || len(n.Pods) == 0 {
			return true
		}
		down := cause.Down(n, g.st.At)
		return down == nil || down.Since == nil || slices.ContainsFunc(n.Pods, func(p daemonset.Pod) bool {
			return !p.Object.CreationTimestamp.Time.Before(*began) || deletedBefore(p.Object, down)
		})
	})
}

// deletedBefore reports whether a pod's deletion may have been asked for before its node
// became NotReady. A kubelet that is silent was so before that was noticed.
func deletedBefore(o *corev1.Pod, down *cause.Cause) bool {
	asked, since := cause.DeletionAsked(o), *down.Since
	if down.Facts.Text("status") != string(corev1.ConditionUnknown) {
		since = since.Add(noticed)
	}
	return asked != nil && asked.Before(since)
}

// outside are the origins that neither the pods nor their nodes are.
var outside = []cause.OriginKind{cause.OriginQuota, cause.OriginPolicy, cause.OriginWebhook, cause.OriginScheduling}

// Outside returns where problems of a code come from, if that is neither the pods
// nor their nodes, so that a change of the DaemonSet leaves it as it is. It
// returns nil otherwise.
func (e *Explanation) Outside(code daemonset.Reason) *cause.Origin {
	if p := e.Has(code); p != nil && p.Origin != nil && slices.Contains(outside, p.Origin.Kind) {
		return p.Origin
	}
	return nil
}
