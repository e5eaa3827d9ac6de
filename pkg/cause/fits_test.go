package cause_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/fit"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// fitState returns a State whose nodes have 4 CPUs and room for 10 pods. New and old pods request 1 CPU.
func fitState(t *testing.T, grid string, options ...dstest.Option) *daemonset.State {
	t.Helper()
	one := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	base := []dstest.Option{
		dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.Containers[0].Resources.Requests = one }),
		dstest.Edit(func(s *snapshot.Snapshot) {
			for i := range s.Nodes {
				s.Nodes[i].Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourcePods: resource.MustParse("10")}
			}
			for i := range s.Pods {
				s.Pods[i].Spec.Containers = []corev1.Container{{Name: "agent", Resources: corev1.ResourceRequirements{Requests: one}}}
			}
		}),
	}
	st, err := daemonset.StateOf(dstest.State(grid, append(base, options...)...))
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// others puts a pod of another workload with that request on n0. All pods of n0 were read.
func others(milliCPU int64, priority int32, ports ...int32) dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) {
		row := snapshot.PodRow{Namespace: "other", Name: "pod", Node: "n0", Priority: priority, Requests: snapshot.Resources{MilliCPU: milliCPU}}
		for _, p := range ports {
			row.HostPorts = append(row.HostPorts, snapshot.HostPort{Port: p})
		}
		s.OtherPods = &snapshot.OtherPods{Nodes: []string{"n0"}, Pods: []snapshot.PodRow{row}}
	})
}

func template(change func(*corev1.PodSpec)) dstest.Option {
	return dstest.DaemonSet(func(ds *appsv1.DaemonSet) { change(&ds.Spec.Template.Spec) })
}

// volumes gives the template a claim whose volume can be reached from one zone by its node affinity, and from others by
// its label. n0, which is in zone b, attaches at most limit volumes of its driver.
func volumes(zone, label string, limit, attached int, handles ...string) dstest.Option {
	return dstest.Edit(func(s *snapshot.Snapshot) {
		s.DaemonSet.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
		v := &snapshot.VolumeRow{Name: "pv", Driver: "csi", Handle: "vol"}
		if zone != "" {
			v.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{zone}}},
			}}}}
		}
		if label != "" {
			v.Zones = map[string]string{corev1.LabelTopologyZone: label}
		}
		s.Volumes = &snapshot.Volumes{AllNodes: true, Claims: []snapshot.ClaimRow{{Name: "data", Exists: true, Volume: v}}}
		if limit > 0 {
			s.Volumes.Drivers = []snapshot.DriverRow{{Node: "n0", Name: "csi", Limit: limit, Attached: attached, Handles: handles}, {Node: "n1", Name: "csi"}}
		}
		s.Nodes[0].Labels = map[string]string{"zone": "b", corev1.LabelTopologyZone: "b"}
	})
}

// TestVolumesUnread checks that unread volumes are not assumed to fit.
func TestVolumesUnread(t *testing.T) {
	gap := func(what snapshot.What) dstest.Option {
		return dstest.Edit(func(s *snapshot.Snapshot) { s.Gaps = append(s.Gaps, snapshot.Gap{What: what, Why: snapshot.Forbidden}) })
	}
	unbound := dstest.Edit(func(s *snapshot.Snapshot) { s.Volumes.Claims[0].Volume = nil })
	for _, tt := range []struct {
		options []dstest.Option
		fits    bool
		known   bool
		unbound bool
		why     string
	}{
		{[]dstest.Option{others(0, 0), volumes("b", "", 0, 0)}, true, true, false, "all was read"},
		{[]dstest.Option{others(0, 0), volumes("b", "", 0, 0), unbound}, true, true, true, "a claim that is not bound is not computed"},
		{[]dstest.Option{others(0, 0), volumes("b", "", 0, 0), unbound, gap(snapshot.PersistentVolumes)}, true, false, true, "one whose volume could not be read may be anywhere"},
		{[]dstest.Option{others(0, 0), volumes("b", "", 0, 0), gap(snapshot.PersistentVolumes)}, true, true, false, "that of this claim could be read"},
		{[]dstest.Option{others(0, 0), volumes("b", "", 0, 0), gap(snapshot.CSINodes)}, true, false, false, "its driver may attach no more"},
		{[]dstest.Option{others(0, 0), volumes("a", "", 0, 0), gap(snapshot.CSINodes)}, false, true, false, "the zone keeps it away anyway"},
		{[]dstest.Option{others(0, 0), gap(snapshot.CSINodes), gap(snapshot.PersistentVolumes)}, true, true, false, "a pod without a claim needs none of it"},
		{[]dstest.Option{others(4000, -1), volumes("b", "", 0, 0), gap(snapshot.CSINodes)}, false, false, false, "nor is it known whether preemption would help"},
		{[]dstest.Option{others(4000, 5), volumes("b", "", 0, 0), gap(snapshot.CSINodes)}, false, true, false, "nothing can be preempted, wherever the volume is"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			st := fitState(t, "-", tt.options...)
			cs := cause.Find(st)
			v, known := cs.NewPod(&st.Nodes[0])
			if v.Fits != tt.fits || known != tt.known || slices.Contains(cs.NotModelled(), fit.UnboundClaims) != tt.unbound {
				t.Errorf("fits %t, known %t, not computed %v", v.Fits, known, cs.NotModelled())
			}
		})
	}
}

func TestUnfit(t *testing.T) {
	lacks := func(requested, free, preemption string, others int, beyond bool) daemonset.Facts {
		all := "4"
		if strings.HasSuffix(requested, "m") { // the same unit for all three
			all = "4000m"
		}
		return daemonset.Facts{
			"plugin": "NodeResourcesFit", "preemption": preemption, "others": others, "resources": []string{"cpu"}, "requested": requested, "allocatable": all, "free": free, "beyond": beyond,
		}
	}
	cpus := func(n string) dstest.Option {
		return template(func(s *corev1.PodSpec) {
			s.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(n)}
		})
	}
	class := func(name string) dstest.Option {
		return template(func(s *corev1.PodSpec) { s.PriorityClassName = name })
	}
	second := dstest.Edit(func(s *snapshot.Snapshot) {
		spec := &s.DaemonSet.Spec.Template.Spec
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "w", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "more"}}})
		s.Volumes.Claims = append(s.Volumes.Claims, snapshot.ClaimRow{Name: "more", Exists: true, Volume: &snapshot.VolumeRow{Name: "pv-2", Driver: "csi", Handle: "vol-2"}})
	})
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		want    daemonset.Facts
		why     string
	}{
		{"-", []dstest.Option{others(3000, 0)}, nil, "what is left is enough"},
		{"-", []dstest.Option{others(3001, 0)}, lacks("1000m", "999m", "NothingLower", 1, false), "a thousandth of a CPU is missing, and nothing there has a lower priority"},
		{"-", []dstest.Option{others(3500, -1)}, nil, "a pod of lower priority makes room"},
		{"-", nil, nil, "the other pods were not read, and alone it fits"},
		{"-", []dstest.Option{cpus("5")}, lacks("5", "4", "CannotHelp", 0, true), "no node is so large: nobody has to be asked"},
		{"O", []dstest.Option{others(3000, 0)}, nil, "the old pod goes first, and gives its place"},
		{"O", []dstest.Option{others(3000, 0), dstest.MaxSurge("1")}, lacks("1", "0", "NothingLower", 1, false), "with maxSurge both must fit side by side"},
		{"o", []dstest.Option{others(3000, 0), dstest.MaxSurge("1")}, nil, "an old pod that is not ready is deleted first, with maxSurge too"},
		{"O", []dstest.Option{cpus("3500m"), dstest.MaxSurge("1")}, lacks("3500m", "3000m", "NothingLower", 0, false), "beside the old pod it does not even fit where nobody else is"},
		{"-", []dstest.Option{others(100, 0, 80), template(func(s *corev1.PodSpec) {
			s.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}
		})}, daemonset.Facts{"plugin": "NodePorts", "preemption": "NothingLower", "others": 1, "ports": []string{"80/TCP"}, "holder": "other/pod", "owner": "other/pod", "ownerNamespace": "other", "ownerName": "pod"}, "another pod uses the port"},
		{"-", []dstest.Option{others(100, 0, 80), template(func(s *corev1.PodSpec) {
			s.HostNetwork, s.Containers[0].Ports = true, []corev1.ContainerPort{{ContainerPort: 80}}
		})}, daemonset.Facts{"plugin": "NodePorts", "preemption": "NothingLower", "others": 1, "ports": []string{"80/TCP"}, "holder": "other/pod", "owner": "other/pod", "ownerNamespace": "other", "ownerName": "pod"}, "on the host's network every port of a container is one of the host"},
		{"-", []dstest.Option{others(3500, 5), class("high")}, nil, "the value of its PriorityClass is not known, so neither is whether it preempts"},
		{"-", []dstest.Option{others(3500, 5), class("high"), dstest.Edit(func(s *snapshot.Snapshot) {
			s.Admission = &snapshot.Admission{PriorityClasses: []schedulingv1.PriorityClass{{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 5}}}
		})}, lacks("1000m", "500m", "NothingLower", 1, false), "its PriorityClass is not higher"},
		{"-", []dstest.Option{others(3500, 5), class("system-node-critical")}, nil, "a class that every cluster has is higher"},
		{"-", []dstest.Option{others(0, 0), volumes("a", "", 0, 0)}, daemonset.Facts{
			"plugin": "VolumeBinding", "preemption": "CannotHelp", "others": 1, "claim": "data", "persistentVolume": "pv", "reachable": "zone=a",
		}, "the volume can be attached in another zone only"},
		{"-", []dstest.Option{volumes("a", "", 0, 0)}, daemonset.Facts{
			"plugin": "VolumeBinding", "preemption": "CannotHelp", "others": 0, "claim": "data", "persistentVolume": "pv", "reachable": "zone=a",
		}, "which no other pod changes, so none has to be read"},
		{"-", []dstest.Option{others(0, 0), volumes("b", "", 0, 0)}, nil, "it can be attached in the zone of the node"},
		{"-", []dstest.Option{others(0, 0), volumes("", "x__y", 0, 0)}, daemonset.Facts{
			"plugin": "VolumeZone", "preemption": "CannotHelp", "others": 1, "claim": "data", "persistentVolume": "pv", "reachable": "topology.kubernetes.io/zone in (x,y)",
		}, "a label of the volume names other zones"},
		{"-", []dstest.Option{others(0, 0), volumes("", "", 2, 2)}, daemonset.Facts{
			"plugin": "NodeVolumeLimits", "preemption": "NothingLower", "others": 1, "claim": "data", "persistentVolume": "pv", "driver": "csi", "limit": 2, "attached": 2,
		}, "the driver attaches no further volume"},
		{"-", []dstest.Option{others(0, 0), volumes("", "", 3, 2)}, nil, "it attaches one more"},
		{"-", []dstest.Option{others(0, 0), volumes("", "", 2, 2, "vol")}, nil, "the volume is there already"},
		{"-", []dstest.Option{others(0, 0), volumes("", "", 3, 2, "vol"), second}, nil, "which counts once: a second one is the third"},
		{"-", []dstest.Option{others(0, 0), volumes("", "", 2, 2, "vol"), second}, daemonset.Facts{
			"plugin": "NodeVolumeLimits", "preemption": "NothingLower", "others": 1, "claim": "more", "persistentVolume": "pv-2", "driver": "csi", "limit": 2, "attached": 2,
		}, "for which there is no place"},
		{"O", []dstest.Option{others(0, 0), volumes("", "", 2, 2)}, nil, "the old pod goes first, and may give up a volume"},
		{"O", []dstest.Option{others(0, 0), volumes("", "", 2, 2), dstest.MaxSurge("1")}, daemonset.Facts{
			"plugin": "NodeVolumeLimits", "preemption": "NothingLower", "others": 1, "claim": "data", "persistentVolume": "pv", "driver": "csi", "limit": 2, "attached": 2,
		}, "with maxSurge it does not"},
		{"-", []dstest.Option{others(3500, 5), cpus("5"), class("high")}, lacks("5000m", "500m", "CannotHelp", 1, true), "no priority helps where the node is too small"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			st := fitState(t, tt.grid, tt.options...)
			c := cause.Find(st).Unfit(&st.Nodes[0])
			var got daemonset.Facts
			if c != nil {
				got = c.Facts
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestArithmetic checks that the cause of an unscheduled pod has amounts if the other pods were read and agree with the
// scheduler.
func TestArithmetic(t *testing.T) {
	pending := func(message string) dstest.Option {
		return dstest.Pod("p0", func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: message}}
		})
	}
	const cpu, memory = "0/1 nodes are available: 1 Insufficient cpu. preemption: none", "0/1 nodes are available: 1 node(s) had untolerated taint {a: b}. preemption: none"
	const binding, zone, many = "0/1 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity. preemption: none",
		"0/1 nodes are available: 1 node(s) had no available volume zone. preemption: none", "0/1 nodes are available: 1 node(s) exceed max volume count. preemption: none"
	claims := func(claim string) dstest.Option {
		return dstest.Pod("p0", func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}}
			if claim != "" {
				p.Spec.Volumes[0].VolumeSource = corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}
			}
		})
	}
	own := dstest.Edit(func(s *snapshot.Snapshot) { s.Volumes.Claims[0].Name = "p0-v" })
	for _, tt := range []struct {
		options []dstest.Option
		want    any
		why     string
	}{
		{[]dstest.Option{pending(binding), others(0, 0), volumes("a", "", 0, 0), claims("data")}, "zone=a", "both say that the volume is elsewhere"},
		{[]dstest.Option{pending(binding), others(0, 0), volumes("a", "", 0, 0), claims(""), own}, "zone=a", "as the claim that was made for the pod"},
		{[]dstest.Option{pending(binding), others(0, 0), volumes("b", "", 0, 0), claims("data")}, nil, "by now it can be attached"},
		{[]dstest.Option{pending(binding), others(0, 0), volumes("a", "", 0, 0), claims("another")}, nil, "of its claim nothing was read"},
		{[]dstest.Option{pending(memory), others(0, 0), volumes("a", "", 0, 0), claims("data")}, nil, "the scheduler does not speak of volumes"},
		{[]dstest.Option{pending(memory), others(0, 0), volumes("", "x", 0, 0), claims("data")}, nil, "nor of their labels"},
		{[]dstest.Option{pending(memory), others(0, 0), volumes("", "", 2, 2), claims("data")}, nil, "nor of how many there are"},
		{[]dstest.Option{pending(zone), others(0, 0), volumes("", "x", 0, 0), claims("data")}, "topology.kubernetes.io/zone=x", "by the label of the volume"},
		{[]dstest.Option{pending(many), others(0, 0), volumes("", "", 2, 2), claims("data")}, 2, "the driver attaches no more"},
		{[]dstest.Option{pending(cpu), others(3500, 0)}, "500m", "both say that the CPU is too little"},
		{[]dstest.Option{pending(cpu)}, nil, "the other pods were not read"},
		{[]dstest.Option{pending(cpu), others(100, 0)}, nil, "by now there is room: the scheduler has not tried again"},
		{[]dstest.Option{pending(memory), others(3500, 0)}, nil, "the scheduler says something else"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			st := fitState(t, "np", tt.options...)
			c := cause.Find(st).Of("n0")
			if c == nil {
				t.Fatal("no cause")
			}
			got := c.Facts["free"]
			for _, key := range []string{"reachable", "limit"} {
				if c.Facts[key] != nil {
					got = c.Facts[key]
				}
			}
			if got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

// TestAdded checks what is known about a nodeSelector that was added to a pod, and about the next pod.
func TestAdded(t *testing.T) {
	const message = "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."
	pod := func(selector map[string]string) dstest.Option {
		return dstest.Pod("p0", func(p *corev1.Pod) {
			p.Spec.NodeSelector = selector
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: message}}
		})
	}
	asks := func(key, value string) dstest.Option {
		return template(func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{key: value} })
	}
	infra, openShift := map[string]string{"pool": "infra"}, dstest.OpenShift
	for _, tt := range []struct {
		options []dstest.Option
		added   string
		names   string // annotation and selector of the namespace
		fails   bool   // the next pod gets it too
		why     string
	}{
		{[]dstest.Option{pod(infra)}, "pool=infra", "", true, "nobody knows who added it"},
		{[]dstest.Option{pod(nil)}, "", "", false, "none was added"},
		{[]dstest.Option{pod(infra), asks("pool", "infra")}, "", "", true, "the template asks for it"},
		{[]dstest.Option{pod(infra), asks("zone", "a")}, "pool=infra", "", true, "the template asks for something else"},
		{[]dstest.Option{pod(infra), dstest.Labeled("n0", "pool=infra")}, "", "", false, "the node has the label"},
		{[]dstest.Option{pod(infra), openShift("openshift.io/node-selector=pool=infra")}, "pool=infra", "openshift.io/node-selector pool=infra", true, "the namespace asks for it"},
		{[]dstest.Option{pod(infra), openShift("openshift.io/node-selector=")}, "pool=infra", "openshift.io/node-selector ", false, "the namespace no longer asks for it"},
		{[]dstest.Option{pod(infra), openShift("openshift.io/node-selector=pool=infra-2")}, "pool=infra", "openshift.io/node-selector ", false, "or for another one"},
		{[]dstest.Option{pod(infra), openShift()}, "pool=infra", "openshift.io/node-selector ", true, "the default of the cluster, likely: an annotation would take its place"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			st := fitState(t, "np", append(tt.options, others(0, 0))...)
			causes := cause.Find(st)
			c := causes.Of("n0")
			if c == nil {
				t.Fatal("no cause")
			}
			labels, _ := c.Facts["added"].([]string)
			names := ""
			if a := c.Facts.Text("annotation"); a != "" {
				names = a + " " + c.Facts.Text("selector")
			}
			if got := strings.Join(labels, ","); got != tt.added || names != tt.names {
				t.Errorf("%q by %q, want %q by %q", got, names, tt.added, tt.names)
			}
			if next := causes.Next(st.Node("n0"), causes.Evidence()); (next.Fails != nil) != tt.fails {
				t.Errorf("the next pod: %+v", next)
			}
		})
	}
}
