package cause

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/fit"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// fitting holds what decides whether pods fit on nodes.
type fitting struct {
	profile fit.Profile
	rows    map[string][]snapshot.PodRow // pods of other workloads, by node
	budgets []snapshot.DisruptionBudget  // of other workloads
	own     *snapshot.Budgets            // that select pods of the DaemonSet; their status was not read
	guarded map[string]bool              // pods that own selects, by name; how many disruptions it allows is unknown
	wanted  fit.Wanted                   // the next pod
	ranked  bool                         // its priority is known
}

// fits returns what decides whether pods fit. It is computed once.
func (cs *Causes) fits() *fitting {
	if cs.fitting != nil {
		return cs.fitting
	}
	s := cs.s
	f := &fitting{
		profile: fit.ProfileOf(s.KubernetesVersion), rows: map[string][]snapshot.PodRow{},
		own: snapshot.NewBudgets(s.PodDisruptionBudgets), guarded: map[string]bool{},
	}
	f.countOthers(cs.st)
	pod := cs.st.PodFor("")
	if cs.admission != nil {
		pod = cs.admission.Pod
	} else {
		pod.Spec = *fit.Admitted(&pod.Spec)
	}
	priority, ranked := priorityOf(pod, s.Pods)
	pod.Spec.Priority = &priority
	f.wanted, f.ranked = cs.withVolumes(fit.OfTemplate(s.DaemonSet.Namespace,
		&corev1.PodTemplateSpec{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec}), &pod.Spec), ranked
	cs.fitting = f
	return f
}

// countOthers fills f.rows with the pods of other workloads, including pods in the DaemonSet's list that another
// controller owns or that the DaemonSet releases.
func (f *fitting) countOthers(st *daemonset.State) {
	o := st.Snapshot.OtherPods
	if o == nil {
		return
	}
	f.budgets = o.Budgets
	known := map[string]bool{} // by name, in the namespace of the DaemonSet
	for _, row := range o.Pods {
		f.rows[row.Node] = append(f.rows[row.Node], row)
		known[row.Name] = known[row.Name] || row.Namespace == st.DaemonSet.Namespace
	}
	for i := range st.Nodes {
		for j := range st.Nodes[i].Pods {
			known[st.Nodes[i].Pods[j].Name] = true
		}
	}
	for i := range st.Snapshot.Pods {
		p := &st.Snapshot.Pods[i]
		if row, ok := f.rowOf(p); ok && !known[p.Name] && o.Of(row.Node) {
			f.rows[row.Node] = append(f.rows[row.Node], row)
		}
	}
}

// rowOf returns a pod from the DaemonSet's list in the form in which the scheduler counts it. It returns false if the
// scheduler does not count it.
func (f *fitting) rowOf(p *corev1.Pod) (snapshot.PodRow, bool) {
	row, ok := snapshot.RowOf(p)
	if !ok {
		return row, false
	}
	for _, name := range f.own.Of(row.Namespace, p.Labels) {
		is := func(o snapshot.DisruptionBudget) bool { return o.Namespace == row.Namespace && o.Name == name }
		if slices.ContainsFunc(f.budgets, is) {
			row.Budgets = append(row.Budgets, name)
		} else {
			f.guarded[row.Name] = true
		}
	}
	return row, true
}

// nodeCritical is the priority of system-node-critical, the highest possible one.
const nodeCritical = 2_000_001_000

// priorityOf returns the priority of a pod: its own, that of a built-in PriorityClass, or that of a pod of the
// DaemonSet with the same class. ranked is false if the value of its class is unknown.
func priorityOf(pod *corev1.Pod, own []corev1.Pod) (priority int32, ranked bool) {
	class := pod.Spec.PriorityClassName
	switch {
	case pod.Spec.Priority != nil:
		return *pod.Spec.Priority, true
	case class == "system-cluster-critical":
		return nodeCritical - 1000, true
	case class == "system-node-critical":
		return nodeCritical, true
	}
	if i := slices.IndexFunc(own, func(p corev1.Pod) bool {
		return p.Spec.PriorityClassName == class &&
			p.Spec.Priority != nil
	}); i >= 0 {
		return *own[i].Spec.Priority, true
	}
	return 0, class == ""
}

// decide returns the scheduler's decision about a pod on a node that also has the given pods of the DaemonSet.
//
// known is false if the other pods of the node were not read, unless the node is too small even without them, or cannot
// reach a volume. It is also false if volumes could not be read, unless something else excludes the node.
func (cs *Causes) decide(w *fit.Wanted, n *daemonset.Node, beside []snapshot.PodRow) (v fit.Verdict, known bool) {
	f, read := cs.fits(), cs.s.OtherPods.Of(n.Name)
	node := cs.nodeOf(n, beside)
	v = f.profile.On(w, node)
	f.markUncertain(&v.Preemption, w, node)
	if (v.Fits || v.Preemption.Outcome == fit.Possible) && cs.volumesUnread(w) {
		return v, false
	}
	return v, len(v.Unreadable) == 0 && (read || tooSmall(n.Object, &v) || v.Reason == fit.VolumeBinding ||
		v.Reason == fit.VolumeZone)
}

// markUncertain makes a preemption uncertain if a PodDisruptionBudget with an unknown number of allowed disruptions
// selects a pod of lower priority. Any pod of lower priority may then be a victim.
func (f *fitting) markUncertain(p *fit.Preemption, w *fit.Wanted, node *fit.Node) {
	var lower []snapshot.PodRow
	unknown := false
	for _, row := range node.Pods {
		if !row.Nominated && row.Priority < w.Priority {
			lower = append(lower, row)
			unknown = unknown || f.guarded[row.Name] && row.Namespace == w.Namespace
		}
	}
	if p.Outcome != fit.Possible || !unknown {
		return
	}
	p.Certain, p.Fewest, p.Most, p.Others = false, 1, len(lower), nil
	for _, row := range lower {
		is := func(v fit.Victim) bool { return v.Namespace == row.Namespace && v.Name == row.Name }
		if !slices.ContainsFunc(p.Victims, is) {
			other := fit.Victim{Namespace: row.Namespace, Name: row.Name, Priority: row.Priority,
				Terminating: row.Terminating}
			p.Others = append(p.Others, other)
		}
	}
	slices.SortStableFunc(p.Others, func(a, b fit.Victim) int { return cmp.Compare(b.Priority, a.Priority) })
}

// nodeOf returns a node with the pods of other workloads and the given ones.
func (cs *Causes) nodeOf(n *daemonset.Node, beside []snapshot.PodRow) *fit.Node {
	f := cs.fits()
	return &fit.Node{Node: n.Object, Pods: slices.Concat(f.rows[n.Name], beside), Budgets: f.budgets,
		Drivers: cs.drivers(n.Name)}
}

// besideOf returns the pods of the DaemonSet on a node, without the named one.
func (cs *Causes) besideOf(n *daemonset.Node, name string) (beside []snapshot.PodRow) {
	for i := range n.Pods {
		if other := &n.Pods[i]; other.Name != name {
			if row, ok := cs.fits().rowOf(other.Object); ok {
				beside = append(beside, row)
			}
		}
	}
	return beside
}

// waiting returns the cause if a pod fits once terminating pods of its node are gone, as after a preemption. It returns
// nil if that is not so, or if one of them is overdue.
func (cs *Causes) waiting(o *corev1.Pod) *Cause {
	name, _ := daemonset.TargetNode(o)
	n := cs.st.Node(name)
	if n == nil || n.Object == nil || !cs.s.OtherPods.Of(name) {
		return nil
	}
	w, node := cs.withVolumes(fit.Of(o), &o.Spec), cs.nodeOf(n, cs.besideOf(n, o.Name))
	fits := func(ends func(*snapshot.PodRow) bool) bool {
		left := *node
		left.Pods = slices.DeleteFunc(slices.Clone(node.Pods), func(p snapshot.PodRow) bool { return ends(&p) })
		return cs.fits().profile.On(&w, &left).Fits
	}
	ends := func(p *snapshot.PodRow) bool {
		return p.EndsBy != nil && !p.Nominated && cs.at.Sub(p.EndsBy.Time) <= Patience
	}
	if fits(func(*snapshot.PodRow) bool { return false }) || !fits(ends) || cs.volumesUnread(&w) {
		return nil
	}
	c := &Cause{Code: WaitingForRoom, Severity: SeverityInfo, Since: timeOf(o.CreationTimestamp.Time)}
	stays, last := map[string]bool{}, time.Time{}
	var pods []string
	for i := range node.Pods {
		p := &node.Pods[i]
		if !ends(p) {
			continue
		}
		key := p.Namespace + "/" + p.Name
		stays[key] = true
		if !fits(func(p *snapshot.PodRow) bool { return ends(p) && !stays[p.Namespace+"/"+p.Name] }) {
			delete(stays, key)
			if pods = append(pods, key); p.EndsBy.After(last) {
				last = p.EndsBy.Time
			}
		}
	}
	c.Facts = daemonset.Facts{"endsBy": timeFact(last), "awaited": pods}
	return c
}

// tooSmall reports whether the Node lists its capacity for every resource that is insufficient.
func tooSmall(n *corev1.Node, v *fit.Verdict) bool {
	silent := func(l fit.Lack) bool { _, says := n.Status.Allocatable[l.Resource]; return !says }
	return len(v.Lacks) > 0 && !slices.ContainsFunc(v.Lacks, silent)
}

// NewPod returns the scheduler's decision about the next pod on a node. With maxSurge, the old pod stays until the new
// one is available; otherwise the new pod replaces it.
//
// known is false if the decision is unknown: the other pods of the node were not read, the priority of the pod matters
// and is unknown, or a pod that is deleted first may free a volume.
func (cs *Causes) NewPod(n *daemonset.Node) (v fit.Verdict, known bool) {
	if n.Object == nil {
		return v, false
	}
	w := cs.fits().wanted
	v, known = cs.decide(&w, n, cs.besideNew(n))
	// by a pod that is deleted first
	freed := v.Reason == fit.NodeVolumeLimits && cs.st.Budget.MaxSurge == 0 && len(n.Pods) > 0
	return v, known && !freed && (v.Fits || !v.Resolvable || cs.fits().ranked)
}

// besideNew returns the pods of the DaemonSet that run beside the next one on a node.
func (cs *Causes) besideNew(n *daemonset.Node) (beside []snapshot.PodRow) {
	if cs.st.Budget.MaxSurge > 0 {
		for _, p := range stayingPods(n) {
			if row, ok := cs.fits().rowOf(p.Object); ok {
				if len(cs.fits().wanted.HostPorts) > 0 {
					row.HostPorts = cs.portsOf(p)
				}
				beside = append(beside, row)
			}
		}
	}
	return beside
}

// NotModelled returns the rules that affect whether the next pod fits but are not computed: those that the template
// uses and, if other pods count, their anti-affinity.
func (cs *Causes) NotModelled() []fit.Unmodelled { return cs.notModelled(nil) }

// notModelled is like NotModelled, and adds the rules that an existing pod uses.
func (cs *Causes) notModelled(asked []fit.Unmodelled) (out []fit.Unmodelled) {
	for _, u := range fit.UnmodelledCodes {
		if slices.Contains(cs.fits().wanted.Unmodelled, u) || slices.Contains(asked, u) ||
			u == fit.AntiAffinityOfOthers && cs.s.OtherPods != nil {
			out = append(out, u)
		}
	}
	return out
}

// Unfit returns the cause if the next pod does not fit on a node and preemption makes no room. It returns nil if the
// pod fits, if preemption can make room, or if that is unknown.
func (cs *Causes) Unfit(n *daemonset.Node) *Cause {
	v, known := cs.NewPod(n)
	if !known || v.Fits || v.Preemption.Outcome == fit.Possible || v.Preemption.Outcome == fit.VictimsNotCounted {
		return nil
	}
	return &Cause{Code: DoesNotFit, Severity: SeverityError, Facts: cs.fitFacts(&v, n)}
}

// fitFacts returns the facts of a Verdict that rejects a node, for the first resource, port or volume that is missing.
// They include the number of pods of other workloads on the node or nominated to it.
func (cs *Causes) fitFacts(v *fit.Verdict, n *daemonset.Node) daemonset.Facts {
	rows := cs.fits().rows[n.Name]
	f := daemonset.Facts{"plugin": string(v.Reason), "preemption": string(v.Preemption.Outcome), "others": len(rows)}
	lower := func(r snapshot.PodRow) bool { return r.Priority < nodeCritical }
	if len(v.Lacks) > 0 && v.Preemption.Outcome == fit.NothingLower && len(rows) > 0 &&
		!slices.ContainsFunc(rows, lower) {
		f["topmost"] = true
	}
	var resources []string
	for _, l := range v.Lacks {
		resources = append(resources, string(l.Resource))
	}
	if len(v.Lacks) > 0 {
		l := v.Lacks[0]
		f["resources"] = resources
		f["requested"], f["allocatable"], f["free"] = amounts(l.Resource, l.Requested, l.Allocatable,
			max(0, l.Allocatable-l.Used))
		f["beyond"] = l.Beyond()
	}
	if v.Volume != nil {
		cs.addVolume(f, v, n)
	}
	if len(v.Ports) > 0 {
		p := v.Ports[0]
		holder, ports := p.Holders[0], []string{}
		for _, other := range v.Ports {
			if h := other.Holders[0]; h.Namespace == holder.Namespace && h.Name == holder.Name {
				ports = append(ports, portString(other.Port))
			}
		}
		f["ports"], f["owner"] = ports, holder.Namespace+"/"+holder.Name
		f["ownerNamespace"], f["ownerName"] = holder.Namespace, holder.Name
		f["holder"] = holder.Namespace + "/" + withoutSuffix(holder.Name)
	}
	return f
}

// withoutSuffix returns the name of a pod without the random suffix that its controller added. The pods of a DaemonSet
// then count as one holder.
func withoutSuffix(pod string) string {
	if m := generated.FindStringSubmatch(pod); m != nil {
		return m[1]
	}
	return pod
}

// generated matches a name that the API server generated: it ends with a dash and five characters of a fixed set.
var generated = regexp.MustCompile(`^(.+)-[bcdfghjklmnpqrstvwxz2456789]{5}$`)

func portString(p snapshot.HostPort) string {
	protocol := p.Protocol
	if protocol == "" {
		protocol = corev1.ProtocolTCP
	}
	return strconv.Itoa(int(p.Port)) + "/" + string(protocol)
}

// amounts returns three amounts of a resource in the same unit: CPU in thousandths if one of them is not an integer.
func amounts(name corev1.ResourceName, a, b, c int64) (string, string, string) {
	if name == corev1.ResourceCPU && (a%1000 != 0 || b%1000 != 0 || c%1000 != 0) {
		milli := func(n int64) string { return strconv.FormatInt(n, 10) + "m" }
		return milli(a), milli(b), milli(c)
	}
	return AmountIn(name, a), AmountIn(name, b), AmountIn(name, c)
}

// AmountIn formats an amount of a resource, in the scheduler's units, as a quantity such as "250m" or "16Gi".
func AmountIn(name corev1.ResourceName, n int64) string {
	switch name {
	case corev1.ResourceCPU:
		return resource.NewMilliQuantity(n, resource.DecimalSI).String()
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return resource.NewQuantity(n, resource.BinarySI).String()
	}
	return resource.NewQuantity(n, resource.DecimalSI).String()
}
