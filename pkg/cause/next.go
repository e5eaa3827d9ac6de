package cause

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/fit"
	"github.com/kubectl-ds/kubectl-ds/pkg/refer"
)

// Prospect is what existing pods indicate about the next pod of the live template on a node. If both causes are nil,
// nothing indicates that it fails.
type Prospect struct {
	Fails   *Cause // why it fails
	Unknown *Cause // why it may or may not fail: the template differs there, and no pod shows the effect
}

// Evidence is what failing pods indicate about the next pods of the live template.
type Evidence struct {
	All    Prospect // for every node without a prospect of its own
	Tally  Tally    // the failing pods, if all pods are assumed to fail
	byNode map[string]Prospect
}

// On returns the prospect of a node.
func (e *Evidence) On(node string) Prospect {
	if p, known := e.byNode[node]; known {
		return p
	}
	return e.All
}

// Own returns why the next pod fails on a node because the current pod fails there; nil if it does not.
func (e *Evidence) Own(node string) *Cause { return e.byNode[node].Fails }

// failure is a group of pods with the same template that fail for the same reason.
type failure struct {
	c        *Cause
	revision string // see revisionOf
	nodes    []string

	alike   bool // the live template equals theirs in all fields that the step reads
	gone    bool // the live template no longer has what they fail on
	passing int  // pods that pass the step and whose template equals the live one in the fields that it reads
	pods    int  // all pods whose template equals the live one in these fields
}

// Evidence returns what failing pods indicate about the next pods of the live template. If the templates are equal in
// all fields that the failing step reads, the next pods fail again. If they differ, pods that are equal to the live
// template show whether it works. Failures on nodes that are down indicate nothing.
func (cs *Causes) Evidence() *Evidence {
	e := &Evidence{byNode: map[string]Prospect{}}
	for _, f := range cs.failing() {
		cs.compare(f)
		fails := 2*len(f.nodes) >= f.pods && f.passing == 0
		switch {
		case f.alike:
			for _, n := range f.nodes {
				e.byNode[n] = Prospect{Fails: cs.nodes[n]}
			}
			if fails && e.All.Fails == nil && wide(f.c) {
				e.All = Prospect{Fails: f.c}
				e.Tally = Tally{NewPods: f.pods, NewFailing: len(f.nodes)}
			}
		case f.gone, f.passing > 0:
		default:
			for _, n := range f.nodes {
				if _, known := e.byNode[n]; !known {
					e.byNode[n] = Prospect{Unknown: cs.nodes[n]}
				}
			}
			if e.All.Fails == nil && e.All.Unknown == nil && wide(f.c) && cs.allFail(f) {
				e.All = Prospect{Unknown: f.c}
			}
		}
	}
	for n, p := range e.byNode {
		if p.Fails == nil && e.All.Fails != nil {
			delete(e.byNode, n)
		}
	}
	return e
}

// wide reports whether a failure indicates something about other nodes too.
func wide(c *Cause) bool {
	kind, _ := evictedFor(c.Facts.Text("message"))
	return StageOf(c.Code) >= StageNetwork && kind != SubjectNodeCondition
}

// allFail reports whether at least half of the pods of that revision fail and none of them is available.
func (cs *Causes) allFail(f *failure) bool {
	pods := 0
	for i := range cs.st.Nodes {
		for j := range cs.st.Nodes[i].Pods {
			p := &cs.st.Nodes[i].Pods[j]
			if r, known := cs.revisionOf(p.Updated, p.Revision); !known || r != f.revision || p.Terminating {
				continue
			}
			if p.Available.OK {
				return false
			}
			pods++
		}
	}
	return 2*len(f.nodes) >= pods
}

// failing returns the pods that fail permanently for reasons other than the node and scheduling, in groups, the largest
// first. The cause of a group is that of its earliest failure.
func (cs *Causes) failing() (out []*failure) {
	for i := range cs.st.Nodes {
		n := &cs.st.Nodes[i]
		c := cs.nodes[n.Name]
		if c == nil || c.Severity != SeverityError || StageOf(c.Code) < StageNetwork || Down(n, cs.at) != nil {
			continue
		}
		p := relevantPod(n)
		revision, known := cs.revisionOf(p.Updated, p.Revision)
		if !known {
			revision = "?" + p.Hash
		}
		k := slices.IndexFunc(out, func(f *failure) bool {
			return f.revision == revision && alike(f.c, c)
		})
		if k < 0 {
			k, out = len(out), append(out, &failure{c: c, revision: revision})
		}
		out[k].nodes = append(out[k].nodes, n.Name)
		if first := out[k].c.Since; c.Since != nil && (first == nil || c.Since.Before(*first)) {
			out[k].c = c
		}
	}
	slices.SortStableFunc(out, func(a, b *failure) int {
		return cmp.Or(
			cmp.Compare(len(b.nodes), len(a.nodes)),
			cmp.Compare(StageOf(a.c.Code), StageOf(b.c.Code)),
			cmp.Compare(a.c.Code, b.c.Code))
	})
	return out
}

// alike reports whether two causes are about the same container, or about the same kind of eviction.
func alike(a, b *Cause) bool {
	kindA, ofA := evictedFor(a.Facts.Text("message"))
	kindB, ofB := evictedFor(b.Facts.Text("message"))
	return a.Code == b.Code && a.Facts.Text("container") == b.Facts.Text("container") && kindA == kindB && ofA == ofB
}

// compare sets how the pods of a failure compare with the live template, and counts the pods that are equal to that
// template.
func (cs *Causes) compare(f *failure) {
	paths, known := cs.touched(f.c, f.revision, "")
	f.alike = known && len(paths) == 0
	if container := f.c.Facts.Text("container"); container != "" && !cs.inTemplate(container) {
		f.alike = true // whoever added the container adds it again
	}
	f.gone = !f.alike && cs.gone(f.c)
	// an image that runs could be pulled
	lasts := StageOf(f.c.Code).lasts() || f.c.Code == ImagePullBackOff && !registryIsDown(f.c)
	for i := range cs.st.Nodes {
		n := &cs.st.Nodes[i]
		if Down(n, cs.at) != nil {
			continue
		}
		for j := range n.Pods {
			p := &n.Pods[j]
			revision, known := cs.revisionOf(p.Updated, p.Revision)
			if p.Terminating || !known {
				continue
			}
			if paths, known := cs.touched(f.c, revision, ""); !known || len(paths) > 0 {
				continue
			}
			f.pods++
			if p.Available.OK && (lasts || f.c.Since == nil || !p.Object.CreationTimestamp.Time.Before(*f.c.Since)) {
				f.passing++
			}
		}
	}
}

// gone reports whether the live template no longer has what the pods of another template fail on.
func (cs *Causes) gone(c *Cause) bool {
	spec, f := &cs.st.DaemonSet.Spec.Template.Spec, c.Facts
	kind, volume := evictedFor(f.Text("message"))
	named := func(is string) func(corev1.Container) bool {
		return func(c corev1.Container) bool { return c.Name == is }
	}
	switch container := f.Text("container"); {
	case f["kind"] != nil:
		return !slices.ContainsFunc(refer.Of(spec), func(r refer.Reference) bool {
			return string(r.Kind) == f.Text("kind") && r.Name == f.Text("name") &&
				(f.Text("key") == "" || r.Key == f.Text("key"))
		})
	case container != "":
		return !slices.ContainsFunc(spec.Containers, named(container)) &&
			!slices.ContainsFunc(spec.InitContainers, named(container))
	case f["conditions"] != nil:
		closed, _ := f["conditions"].([]string)
		return !slices.ContainsFunc(spec.ReadinessGates,
			func(g corev1.PodReadinessGate) bool { return slices.Contains(closed, string(g.ConditionType)) })
	case f.Text("volume") != "":
		return !slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Name == f.Text("volume") })
	case kind == SubjectVolume:
		return !slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool {
			return v.Name == volume && v.EmptyDir != nil && v.EmptyDir.SizeLimit != nil
		})
	}
	return false
}

// SameProgram reports whether a pod equals the live template except in fields that a program cannot notice.
func (cs *Causes) SameProgram(p *daemonset.Pod) bool {
	revision, known := cs.revisionOf(p.Updated, p.Revision)
	if !known {
		return false
	}
	paths, known := cs.touched(&Cause{Code: CrashLoopBackOff}, revision, "")
	return known && len(paths) == 0
}

// nextFits returns the prospect of the next pod on a node with an unscheduled pod.
func (cs *Causes) nextFits(n *daemonset.Node, c *Cause) Prospect {
	p := relevantPod(n)
	if c.Facts["added"] != nil && c.Facts["again"] == nil { // whoever added it adds it again
		return Prospect{Fails: c}
	}
	v, known := cs.NewPod(n)
	// without maxSurge, the next pod is created after the old one is gone
	if besideOld := p.Updated && cs.st.Budget.MaxSurge == 0 && len(stayingPods(n)) > 0; known && v.Fits ||
		!known && besideOld {
		return Prospect{}
	}
	if unfit := cs.Unfit(n); unfit != nil && p.Updated {
		return Prospect{Fails: c}
	} else if unfit != nil {
		return Prospect{Fails: unfit}
	}
	revision, named := cs.revisionOf(p.Updated, p.Revision)
	paths, differ := cs.touched(c, revision, "")
	if named && differ && len(paths) == 0 {
		return Prospect{Fails: c}
	}
	if known && v.Preemption.Outcome == fit.Possible { // the scheduler makes room for the new template
		return Prospect{}
	}
	return Prospect{Unknown: c}
}

// Next returns the prospect of the next pod of the live template on a node. It does not consider whether the node is
// down.
func (cs *Causes) Next(n *daemonset.Node, e *Evidence) Prospect {
	c := cs.nodes[n.Name]
	if c != nil && c.Severity == SeverityError && StageOf(c.Code) == StageScheduled {
		return cs.nextFits(n, c)
	}
	if unfit := cs.Unfit(n); unfit != nil {
		return Prospect{Fails: unfit}
	}
	return e.On(n.Name)
}

// Tally counts the new and old pods, and the failing ones of each, which distinguishes a bad revision from a bad node.
// Terminating pods do not count, and only failures of containers count as failing.
type Tally struct{ NewPods, NewFailing, OldPods, OldFailing int }

// Facts returns the Tally as facts.
func (t Tally) Facts() daemonset.Facts {
	return daemonset.Facts{"newPods": t.NewPods, "newFailing": t.NewFailing, "oldPods": t.OldPods,
		"oldFailing": t.OldFailing}
}

// RevisionFails counts failures that do not resolve by themselves. Pods on nodes that are down are not counted at all.
func (cs *Causes) RevisionFails() Tally {
	var t Tally
	for i := range cs.st.Nodes {
		n := &cs.st.Nodes[i]
		if Down(n, cs.at) != nil {
			continue
		}
		t.pods(n)
		if c := cs.nodes[n.Name]; c != nil && c.Severity == SeverityError && OfContainer(c.Code) {
			t.fails(n)
		}
	}
	return t
}

// RevisionFailsBy counts failures of every severity on all nodes, grouped by a key of the cause. NewPods and OldPods of
// each Tally are the numbers of all pods.
func (cs *Causes) RevisionFailsBy(key func(*Cause) string) map[string]Tally {
	var all Tally
	by := map[string]Tally{}
	for i := range cs.st.Nodes {
		n := &cs.st.Nodes[i]
		all.pods(n)
		if c := cs.nodes[n.Name]; c != nil && OfContainer(c.Code) {
			k := key(c)
			t := by[k]
			t.fails(n)
			by[k] = t
		}
	}
	for k, t := range by {
		t.NewPods, t.OldPods = all.NewPods, all.OldPods
		by[k] = t
	}
	return by
}

// pods adds the pods of a node that are not terminating.
func (t *Tally) pods(n *daemonset.Node) {
	for i := range n.Pods {
		switch p := &n.Pods[i]; {
		case p.Terminating:
		case p.Updated:
			t.NewPods++
		default:
			t.OldPods++
		}
	}
}

// fails adds the failure of a node's pod.
func (t *Tally) fails(n *daemonset.Node) {
	if relevantPod(n).Updated {
		t.NewFailing++
	} else {
		t.OldFailing++
	}
}
