package scheduler

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

const (
	theNode = "worker-1"
	gpu     = corev1.ResourceName("example.com/gpu")
	pages   = corev1.ResourceName("hugepages-2Mi")
	driver  = "csi.example.com"
)

// Draw returns a random state that an API server of the minor version accepts. Amounts are small,
// so that they are often just sufficient or just too large.
func Draw(seed int64, minor int) *State {
	d := &drawing{Rand: rand.New(rand.NewPCG(uint64(seed), 0x9e3779b97f4a7c15)), minor: minor}
	d.state = &State{}
	d.volumes()
	d.wanted()
	d.others()
	d.node()
	d.budgets()
	return d.state
}

type drawing struct {
	*rand.Rand
	minor int
	state *State
	names int
}

func (d *drawing) chance(percent int) bool { return d.IntN(100) < percent }

func pick[T any](d *drawing, of ...T) T { return of[d.IntN(len(of))] }

func amount(name corev1.ResourceName, units int) resource.Quantity {
	switch name {
	case corev1.ResourceCPU:
		return *resource.NewMilliQuantity(int64(units)*100, resource.DecimalSI)
	case gpu:
		return *resource.NewQuantity(int64(units), resource.DecimalSI)
	}
	return *resource.NewQuantity(int64(units)<<20, resource.BinarySI)
}

// requests returns a few units of some resources.
func (d *drawing) requests(most int) corev1.ResourceList {
	l := corev1.ResourceList{}
	for _, r := range []struct {
		name    corev1.ResourceName
		percent int
	}{{corev1.ResourceCPU, 70}, {corev1.ResourceMemory, 50}, {corev1.ResourceEphemeralStorage, 10}, {gpu, 12}, {pages, 5}} {
		if d.chance(r.percent) {
			l[r.name] = amount(r.name, d.IntN(most+1))
		}
	}
	if len(l) == 0 {
		return nil
	}
	return l
}

func (d *drawing) ports() (out []corev1.ContainerPort) {
	for range pick(d, 0, 0, 0, 0, 0, 1, 1, 2) {
		out = append(out, corev1.ContainerPort{
			ContainerPort: 8080, HostPort: pick(d, int32(0), 80, 80, 80, 443), HostIP: pick(d, "", "", "0.0.0.0", "::", "10.0.0.1", "10.0.0.2"),
			Protocol: pick(d, corev1.ProtocolTCP, corev1.ProtocolTCP, corev1.ProtocolTCP, corev1.ProtocolUDP, ""),
		})
	}
	return out
}

func (d *drawing) container(name string, most int) corev1.Container {
	return corev1.Container{Name: name, Image: "example.com/image", Resources: corev1.ResourceRequirements{Requests: d.requests(most)}, Ports: d.ports()}
}

// spec returns containers and other fields that request resources.
func (d *drawing) spec() corev1.PodSpec {
	s := corev1.PodSpec{SchedulerName: corev1.DefaultSchedulerName, Containers: []corev1.Container{d.container("main", 3)}}
	if d.chance(15) {
		s.Containers = append(s.Containers, d.container("second", 2))
	}
	for i := range pick(d, 0, 0, 0, 0, 0, 0, 1, 2) {
		c := d.container(fmt.Sprintf("init-%d", i), 4)
		if d.chance(50) {
			always := corev1.ContainerRestartPolicyAlways
			c.RestartPolicy = &always
			c.Resources.Requests = d.requests(1)
		}
		s.InitContainers = append(s.InitContainers, c)
	}
	if d.chance(8) {
		s.Overhead = corev1.ResourceList{corev1.ResourceCPU: amount(corev1.ResourceCPU, 1)}
	}
	if d.minor >= 34 && d.chance(8) {
		s.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: amount(corev1.ResourceCPU, d.IntN(5))}}
	}
	return s
}

func (d *drawing) priority() *int32 {
	p := pick(d, int32(0), 0, 0, 5, 5, 10, 10, -10, -10, 1000)
	if p == 0 && d.chance(40) {
		return nil
	}
	return &p
}

func (d *drawing) pod(name string) corev1.Pod {
	d.names++
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", name, d.names), Namespace: pick(d, "default", "default", "default", "other")}, Spec: d.spec()}
	p.UID = types.UID(p.Name)
	p.Spec.Priority = d.priority()
	if d.chance(90) {
		p.Labels = map[string]string{"app": pick(d, "a", "a", "a", "b", "c")}
	}
	return p
}

// wanted draws a pod similar to those of the DaemonSet controller.
func (d *drawing) wanted() {
	p := d.pod("wanted")
	s := &p.Spec
	s.Priority = pick(d, nil, new(int32(0)), new(int32(10)), new(int32(10)), new(int32(1000)), new(int32(2000)), new(int32(2000)), new(int32(2000)))
	if d.chance(10) {
		s.PreemptionPolicy = new(corev1.PreemptNever)
	}
	if d.chance(15) {
		s.NodeSelector = map[string]string{"zone": pick(d, "a", "a", "a", "b")}
	}
	elsewhere := d.chance(3) // the scheduler nominates no node that it does not consider
	if elsewhere {
		s.Affinity = bound("worker-2")
	} else if d.chance(90) {
		s.Affinity = bound(theNode)
	} else if d.chance(50) {
		s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{
				Key: "zone", Operator: pick(d, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn), Values: []string{pick(d, "a", "b")},
			}}}},
		}}}
	}
	if d.chance(80) {
		for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
			s.Tolerations = append(s.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute})
		}
		for _, key := range []string{corev1.TaintNodeDiskPressure, corev1.TaintNodeMemoryPressure, corev1.TaintNodePIDPressure, corev1.TaintNodeUnschedulable} {
			s.Tolerations = append(s.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule})
		}
	}
	for range pick(d, 0, 0, 1, 2) {
		s.Tolerations = append(s.Tolerations, corev1.Toleration{
			Key: pick(d, "", "dedicated", "dedicated", corev1.TaintNodeNotReady), Operator: pick(d, "", corev1.TolerationOpEqual, corev1.TolerationOpExists),
			Value: pick(d, "", "x", "y"), Effect: pick(d, "", corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute),
		})
	}
	if d.chance(15) && !elsewhere {
		p.Status.NominatedNodeName = theNode
	}
	for _, c := range d.state.Claims {
		if c.Namespace == p.Namespace && d.chance(70) {
			mount(&p, c.Name)
		}
	}
	d.state.Pod = &p
}

func bound(node string) *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}}}},
	}}}
}

func mount(p *corev1.Pod, claim string) {
	p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: claim, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
	}})
}

// volumes adds bound claims in one of five states.
func (d *drawing) volumes() {
	if !d.chance(20) {
		return
	}
	for i := range 1 + d.IntN(3) {
		name := fmt.Sprintf("claim-%d", i)
		pv := corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv-" + name}, Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{
			CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: fmt.Sprintf("handle-%d", i)},
		}}}
		if d.chance(25) {
			pv.Spec.CSI = nil
			pv.Spec.HostPath = &corev1.HostPathVolumeSource{Path: "/data"}
		}
		if d.chance(30) {
			pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{pick(d, "a", "b")}}},
			}}}}
		}
		if d.chance(60) {
			pv.Labels = map[string]string{
				pick(d, corev1.LabelTopologyZone, corev1.LabelTopologyRegion, corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion): pick(d, "a", "a", "b", "a__b", "b__c", "", "b__"),
			}
		}
		d.state.Volumes = append(d.state.Volumes, pv)
		d.state.Claims = append(d.state.Claims, corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(name), Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"}},
			Spec:       corev1.PersistentVolumeClaimSpec{VolumeName: pv.Name, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}},
			Status:     corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound},
		})
	}
	if d.chance(60) {
		limit := int32(d.IntN(3))
		d.state.CSINodes = []storagev1.CSINode{{ObjectMeta: metav1.ObjectMeta{Name: theNode}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{
			Name: driver, NodeID: theNode, Allocatable: &storagev1.VolumeNodeResources{Count: &limit},
		}}}}}
	}
}

var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// others draws the pods on the node and those nominated to it.
func (d *drawing) others() {
	for range d.IntN(8) {
		p := d.pod("pod")
		p.Spec.NodeName = pick(d, theNode, theNode, theNode, theNode, theNode, theNode, theNode, theNode, theNode, "worker-2")
		p.Status.Phase = pick(d, corev1.PodRunning, corev1.PodRunning, corev1.PodRunning, corev1.PodRunning, corev1.PodPending)
		if d.chance(8) {
			p.Status.Phase = pick(d, corev1.PodSucceeded, corev1.PodFailed)
		}
		if d.chance(85) {
			p.Status.StartTime = &metav1.Time{Time: began.Add(time.Duration(d.IntN(pick(d, 2, 4, 1000, 1000))) * time.Second)}
		}
		if d.chance(15) {
			d.terminate(&p)
		}
		if d.minor >= 33 && d.chance(15) {
			d.resize(&p)
		}
		for _, c := range d.state.Claims {
			if c.Namespace == p.Namespace && d.chance(25) {
				mount(&p, c.Name)
			}
		}
		d.state.Pods = append(d.state.Pods, p)
	}
	for range pick(d, 0, 0, 0, 1, 1, 2) {
		p := d.pod("nominated")
		p.Status.NominatedNodeName = pick(d, theNode, theNode, theNode, theNode, "worker-2")
		if d.chance(20) {
			p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/gate"}}
		}
		if d.chance(20) {
			d.terminate(&p)
		}
		if d.chance(15) {
			p.Spec.SchedulerName = "other-scheduler"
		}
		d.state.Pods = append(d.state.Pods, p)
	}
}

// terminate deletes a pod, sometimes as if the scheduler had preempted it.
func (d *drawing) terminate(p *corev1.Pod) {
	p.DeletionTimestamp = &metav1.Time{Time: began.Add(time.Hour)}
	p.Finalizers = []string{"example.com/slow"}
	if d.chance(60) {
		p.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.DisruptionTarget, Status: pick(d, corev1.ConditionTrue, corev1.ConditionTrue, corev1.ConditionTrue, corev1.ConditionFalse),
			Reason: pick(d, corev1.PodReasonPreemptionByScheduler, corev1.PodReasonPreemptionByScheduler, corev1.PodReasonPreemptionByScheduler, corev1.PodReasonTerminationByKubelet),
		}}
	}
}

// resize sets allocated and actual resources that differ from the spec, as during a resize.
func (d *drawing) resize(p *corev1.Pod) {
	if d.chance(20) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
			Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: pick(d, corev1.PodReasonInfeasible, corev1.PodReasonDeferred),
		})
	}
	for _, c := range p.Spec.Containers {
		s := corev1.ContainerStatus{Name: c.Name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
		if d.chance(80) {
			s.AllocatedResources = corev1.ResourceList{corev1.ResourceCPU: amount(corev1.ResourceCPU, d.IntN(5))}
		}
		if d.chance(80) {
			s.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: amount(corev1.ResourceCPU, d.IntN(5)), corev1.ResourceMemory: amount(corev1.ResourceMemory, d.IntN(4))}}
		}
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, s)
	}
}

// node draws a node whose allocatable resources are close to the requests of its pods and the
// wanted one.
func (d *drawing) node() {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: theNode, Labels: map[string]string{"zone": "a"}}}
	d.state.Node = n
	for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion, corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion} {
		if d.chance(60) {
			n.Labels[key] = "a"
		}
	}
	if d.chance(8) {
		n.Spec.Unschedulable = true
		if d.chance(70) {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
		}
	}
	for range pick(d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{
			Key: pick(d, "dedicated", corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable, corev1.TaintNodeDiskPressure), Value: pick(d, "", "x"),
			Effect: pick(d, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule),
		})
	}
	if d.chance(2) {
		return
	}
	n.Status.Allocatable = corev1.ResourceList{}
	count := int64(0)
	sums := map[corev1.ResourceName]resource.Quantity{}
	for i := range d.state.Pods {
		if row, ok := snapshot.RowOf(&d.state.Pods[i]); ok && row.Node == theNode {
			count++
			d.sum(sums, &d.state.Pods[i])
		}
	}
	wanted := map[corev1.ResourceName]resource.Quantity{}
	d.sum(sums, d.state.Pod)
	d.sum(wanted, d.state.Pod)
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, gpu, pages} {
		if d.chance(2) || name == gpu && d.chance(10) {
			continue
		}
		q := sums[name]
		q.Add(amount(name, pick(d, 0, 0, 1, 2, 5)))
		q.Sub(amount(name, pick(d, 0, 0, 0, 1, 2, 3, 4)))
		if least := wanted[name]; q.Cmp(least) < 0 && d.chance(85) {
			q = least
		}
		if q.Sign() < 0 {
			q = resource.Quantity{}
		}
		n.Status.Allocatable[name] = q
	}
	if d.chance(97) {
		n.Status.Allocatable[corev1.ResourcePods] = *resource.NewQuantity(max(0, count+int64(pick(d, 5, 5, 5, 5, 5, 5, 1, 1, 0, 0, -1))), resource.DecimalSI)
	}
}

func (d *drawing) sum(sums map[corev1.ResourceName]resource.Quantity, p *corev1.Pod) {
	for _, c := range p.Spec.Containers {
		for name, q := range c.Resources.Requests {
			s := sums[name]
			s.Add(q)
			sums[name] = s
		}
	}
}

func (d *drawing) budgets() {
	for i := range pick(d, 0, 1, 1, 2, 2, 3) {
		b := policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("pdb-%d", i), Namespace: pick(d, "default", "default", "default", "other")}}
		b.Spec.MinAvailable = new(intstr.FromInt32(1))
		switch d.IntN(10) {
		case 0:
			b.Spec.Selector = &metav1.LabelSelector{}
		case 1:
		case 2:
			b.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"c"}}}}
		default:
			b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": pick(d, "a", "a", "b", "c")}}
		}
		b.Status.DisruptionsAllowed = int32(pick(d, 0, 0, 1, 2))
		for _, p := range d.state.Pods {
			if d.chance(8) {
				if b.Status.DisruptedPods == nil {
					b.Status.DisruptedPods = map[string]metav1.Time{}
				}
				b.Status.DisruptedPods[p.Name] = metav1.NewTime(began)
			}
		}
		d.state.PodDisruptionBudgets = append(d.state.PodDisruptionBudgets, b)
	}
}
