package fit

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// TestOn tests the rules in a notation of words. A node is what it can
// allocate, "cpu=4 pods=9", with "cordoned", "taint=KEY=VALUE:EFFECT",
// "zone=a", "label=KEY=VALUE", "limit=2" of its CSI driver, "used=v1,v2" and
// "attached=1". A pod is its name and its requests, with the words of parsePod.
// The wanted pod may also have never, nominated, tolerates=KEY=VALUE:EFFECT,
// selects=zone=a and volume=HANDLE, volume=HANDLE@ZONE,
// volume=HANDLE:LABEL=VALUE. A budget is its name and the disruptions that it
// allows, "x=1", and pods whose eviction it counted, "x=1:a,b".
func TestOn(t *testing.T) {
	for _, r := range []struct {
		why     string
		version string // the newest if empty
		node    string
		pods    []string
		budgets string
		wanted  string
		want    string
	}{
		// resources
		{
			why:  "what is left is just enough",
			node: "cpu=1 pods=5", pods: []string{"a cpu=600m"}, wanted: "cpu=400m",
			want: "fits",
		},
		{
			why:  "a pod without requests is counted as nothing, but as a pod",
			node: "pods=2", pods: []string{"a"}, wanted: "",
			want: "fits",
		},
		{
			why:  "one thousandth too much",
			node: "cpu=1 pods=5", pods: []string{"a cpu=601m"}, wanted: "cpu=400m",
			want: "NodeResourcesFit: cpu 400 of 1000, used 601, missing 1; NothingLower",
		},
		{
			why:  "all that is missing is said at once: pods, cpu, memory, ephemeral storage, then others by name",
			node: "cpu=1 memory=10 ephemeral-storage=10 example.com/b=1 amd.com/gpu=1 pods=1", pods: []string{"a cpu=1 memory=10 ephemeral-storage=10 amd.com/gpu=1 example.com/b=1"},
			wanted: "cpu=1 memory=10 ephemeral-storage=5 example.com/b=1 amd.com/gpu=1",
			want: "NodeResourcesFit: pods 1 of 1, used 1, missing 1; cpu 1000 of 1000, used 1000, missing 1000; memory 10 of 10, used 10, missing 10; " +
				"ephemeral-storage 5 of 10, used 10, missing 5; amd.com/gpu 1 of 1, used 1, missing 1; example.com/b 1 of 1, used 1, missing 1; NothingLower",
		},
		{
			why:  "a resource that the pod does not request may be overdrawn: the node shrank under its pods",
			node: "cpu=1 memory=10 pods=5", pods: []string{"a cpu=3"}, wanted: "memory=10",
			want: "fits",
		},
		{
			why:  "of an overdrawn resource, more is missing than is asked for",
			node: "cpu=1 pods=5", pods: []string{"a cpu=3"}, wanted: "cpu=500m",
			want: "NodeResourcesFit: cpu 500 of 1000, used 3000, missing 2500; NothingLower",
		},
		{
			why:  "a node that says nothing of what it can allocate has room for nothing, not even a pod",
			node: "", wanted: "p=10",
			want: "NodeResourcesFit: pods 1 of 0, used 0, missing 1; nothing allocatable; NothingLower",
		},
		{
			why:  "a node that offers none of an extended resource: nothing here looks for a DeviceClass that might",
			node: "cpu=1 pods=5", pods: []string{"a"}, wanted: "example.com/gpu=1 p=10",
			want: "NodeResourcesFit: example.com/gpu 1 of 0, used 0, missing 1; unresolvable; CannotHelp; not looked at: DeviceClasses",
		},
		{
			why:  "huge pages are no device: no DeviceClass stands for them",
			node: "cpu=1 pods=5", pods: []string{"a"}, wanted: "hugepages-2Mi=1 p=10",
			want: "NodeResourcesFit: hugepages-2Mi 1 of 0, used 0, missing 1; unresolvable; CannotHelp",
		},
		{
			why:  "nor are Kubernetes' own resources with a prefix",
			node: "cpu=1 pods=5", pods: []string{"a"}, wanted: "x.kubernetes.io/gpu=1 p=10",
			want: "NodeResourcesFit: x.kubernetes.io/gpu 1 of 0, used 0, missing 1; unresolvable; CannotHelp",
		},

		// what counts
		{
			why:  "a terminating pod counts until it is gone",
			node: "cpu=1 pods=5", pods: []string{"a cpu=600m gone"}, wanted: "cpu=500m",
			want: "NodeResourcesFit: cpu 500 of 1000, used 600, missing 100; NothingLower",
		},
		{
			why:  "a nominated pod of the same priority counts, in everything",
			node: "cpu=1 pods=5", pods: []string{"a cpu=600m p=10 nominated"}, wanted: "cpu=500m p=10",
			want: "NodeResourcesFit: cpu 500 of 1000, used 600, missing 100; NothingLower",
		},
		{
			why:  "one of higher priority, too, and as a pod",
			node: "pods=1", pods: []string{"a p=11 nominated"}, wanted: "p=10",
			want: "NodeResourcesFit: pods 1 of 1, used 1, missing 1; NothingLower",
		},
		{
			why:  "a nominated pod of lower priority does not count: the pod may take its place",
			node: "cpu=1 pods=1", pods: []string{"a cpu=600m p=9 nominated"}, wanted: "cpu=500m p=10",
			want: "fits",
		},
		{
			why:  "a nominated pod that is terminating counts",
			node: "cpu=1 pods=5", pods: []string{"a cpu=600m nominated gone"}, wanted: "cpu=500m",
			want: "NodeResourcesFit: cpu 500 of 1000, used 600, missing 100; NothingLower",
		},
		{
			why:  "and one with scheduling gates",
			node: "cpu=1 pods=5", pods: []string{"a cpu=600m nominated gated"}, wanted: "cpu=500m",
			want: "NodeResourcesFit: cpu 500 of 1000, used 600, missing 100; NothingLower",
		},
		{
			why:     "before v1.37, one with scheduling gates did not",
			version: "v1.36.4", node: "cpu=1 pods=5", pods: []string{"a cpu=600m nominated gated"}, wanted: "cpu=500m",
			want: "fits",
		},
		{
			why:     "one without gates did",
			version: "v1.36.4", node: "cpu=1 pods=5", pods: []string{"a cpu=600m nominated"}, wanted: "cpu=500m",
			want: "NodeResourcesFit: cpu 500 of 1000, used 600, missing 100; NothingLower",
		},
		{
			why:  "the node is nominated for the pod itself: it does not stand in its own way",
			node: "cpu=1 pods=1", pods: []string{"wanted cpu=600m nominated"}, wanted: "cpu=600m nominated",
			want: "fits",
		},
		{
			why:  "a pod of the same name in another namespace is another pod",
			node: "cpu=1 pods=5", pods: []string{"other/wanted cpu=600m nominated"}, wanted: "cpu=600m nominated",
			want: "NodeResourcesFit: cpu 600 of 1000, used 600, missing 200; NothingLower",
		},

		// host ports
		{
			why:  "a port is taken by whoever has it on all addresses",
			node: "pods=5", pods: []string{"a port=80"}, wanted: "port=80",
			want: "NodePorts: 80 by default/a; NothingLower",
		},
		{
			why:  "another port, another protocol",
			node: "pods=5", pods: []string{"a port=80 port=443/UDP"}, wanted: "port=443 port=80/UDP",
			want: "fits",
		},
		{
			why:  "another address",
			node: "pods=5", pods: []string{"a port=10.0.0.1/80"}, wanted: "port=10.0.0.2/80",
			want: "fits",
		},
		{
			why:  "the same address",
			node: "pods=5", pods: []string{"a port=10.0.0.1/80"}, wanted: "port=10.0.0.1/80",
			want: "NodePorts: 10.0.0.1/80 by default/a; NothingLower",
		},
		{
			why:  "0.0.0.0 is every address, as no address is: for the one who has it",
			node: "pods=5", pods: []string{"a port=0.0.0.0/80"}, wanted: "port=10.0.0.1/80",
			want: "NodePorts: 10.0.0.1/80 by default/a; NothingLower",
		},
		{
			why:  "and for the one who wants it",
			node: "pods=5", pods: []string{"a port=10.0.0.1/80"}, wanted: "port=0.0.0.0/80",
			want: "NodePorts: 0.0.0.0/80 by default/a; NothingLower",
		},
		{
			why:  ":: is an address like any other",
			node: "pods=5", pods: []string{"a port=::/80"}, wanted: "port=10.0.0.1/80",
			want: "fits",
		},
		{
			why:  "but 0.0.0.0 takes in ::",
			node: "pods=5", pods: []string{"a port=::/80"}, wanted: "port=80",
			want: "NodePorts: 80 by default/a; NothingLower",
		},
		{
			why:  "TCP is the protocol of a port that names none",
			node: "pods=5", pods: []string{"a port=80/TCP"}, wanted: "port=80",
			want: "NodePorts: 80 by default/a; NothingLower",
		},
		{
			why:  "every port that is taken, in the order of the pod; every holder, by name, those to come marked",
			node: "pods=9", pods: []string{"c port=443", "b port=10.0.0.1/80", "a port=80 nominated", "d port=81"}, wanted: "port=443 port=80",
			want: "NodePorts: 443 by default/c; 80 by default/a (nominated) default/b; NothingLower",
		},
		{
			why:  "holders are in the order of their namespaces, then of their names",
			node: "pods=9", pods: []string{"b/c port=80", "a/z port=80", "a/y port=80"}, wanted: "port=80",
			want: "NodePorts: 80 by a/y a/z b/c; NothingLower",
		},
		{
			why:  "a nominated pod that does not count is no holder",
			node: "pods=9", pods: []string{"a port=80 p=10", "b port=80 nominated"}, wanted: "port=80 p=10",
			want: "NodePorts: 80 by default/a; NothingLower",
		},
		{
			why:  "ports are asked before resources, and only the first to reject is reported",
			node: "cpu=1 pods=1", pods: []string{"a port=80 cpu=1"}, wanted: "port=80 cpu=1",
			want: "NodePorts: 80 by default/a; NothingLower",
		},
		{
			why:  "the port of a sidecar is taken",
			node: "pods=5", pods: []string{"a sidecar=80"}, wanted: "port=80",
			want: "NodePorts: 80 by default/a; NothingLower",
		},
		{
			why:     "before v1.33 it was not",
			version: "v1.32.10", node: "pods=5", pods: []string{"a sidecar=80"}, wanted: "port=80",
			want: "fits",
		},
		{
			why:     "nor did the pod's own sidecar ask for it",
			version: "v1.32.10", node: "pods=5", pods: []string{"a port=80"}, wanted: "sidecar=80",
			want: "fits",
		},
		{
			why:     "a holder whose sidecar has the port is not one then",
			version: "v1.32.10", node: "pods=5", pods: []string{"a sidecar=80", "b port=80"}, wanted: "port=80 sidecar=80",
			want: "NodePorts: 80 by default/b; NothingLower",
		},

		// what the node says
		{
			why:  "a cordoned node, before its taint",
			node: "cordoned pods=5 taint=node.kubernetes.io/unschedulable:NoSchedule", wanted: "p=10",
			want: "NodeUnschedulable; unresolvable; CannotHelp",
		},
		{
			why:  "who tolerates the taint of cordoned nodes tolerates what it stands for",
			node: "cordoned pods=5 taint=node.kubernetes.io/unschedulable:NoSchedule", wanted: "tolerates=node.kubernetes.io/unschedulable:NoSchedule",
			want: "fits",
		},
		{
			why:  "the first taint that is not tolerated",
			node: "pods=5 taint=a=1:NoSchedule taint=b=2:PreferNoSchedule taint=c=3:NoExecute taint=d=4:NoSchedule", wanted: "tolerates=a=1:NoSchedule",
			want: "TaintToleration: c=3:NoExecute; unresolvable; CannotHelp",
		},
		{
			why:  "not-ready with NoSchedule is not tolerated by who tolerates NoExecute, as every pod of a DaemonSet does",
			node: "pods=5 taint=node.kubernetes.io/not-ready:NoSchedule", wanted: "tolerates=node.kubernetes.io/not-ready:NoExecute",
			want: "TaintToleration: node.kubernetes.io/not-ready:NoSchedule; unresolvable; CannotHelp",
		},
		{
			why:  "the value counts",
			node: "pods=5 taint=a=1:NoSchedule", wanted: "tolerates=a=2:NoSchedule",
			want: "TaintToleration: a=1:NoSchedule; unresolvable; CannotHelp",
		},
		{
			why:  "the key counts",
			node: "pods=5 taint=a=1:NoSchedule", wanted: "tolerates=b=1:NoSchedule",
			want: "TaintToleration: a=1:NoSchedule; unresolvable; CannotHelp",
		},
		{
			why:  "a toleration without an effect is for every effect; with Exists, for every value",
			node: "pods=5 taint=a=1:NoSchedule taint=a=2:NoExecute", wanted: "tolerates=a=*:",
			want: "fits",
		},
		{
			why:  "without a key, Exists tolerates everything",
			node: "cordoned pods=5 taint=a=1:NoSchedule taint=b:NoExecute", wanted: "tolerates==*:",
			want: "fits",
		},
		{
			why:  "no operator is Equal",
			node: "pods=5 taint=a=1:NoSchedule", wanted: "tolerates=a=1:NoSchedule",
			want: "fits",
		},
		{
			why:  "Equal",
			node: "pods=5 taint=a=1:NoSchedule", wanted: "tolerates=a==1:NoSchedule",
			want: "fits",
		},
		{
			why:  "one that compares numbers tolerates nothing",
			node: "pods=5 taint=a=1:NoSchedule", wanted: "tolerates=a=<1:NoSchedule",
			want: "TaintToleration: a=1:NoSchedule; unresolvable; CannotHelp",
		},
		{
			why:  "the node selector, after the taints",
			node: "pods=5 zone=b", wanted: "selects=zone=a p=10",
			want: "NodeAffinity; unresolvable; CannotHelp",
		},
		{
			why:  "taints before the node selector",
			node: "pods=5 zone=b taint=a:NoSchedule", wanted: "selects=zone=a",
			want: "TaintToleration: a:NoSchedule; unresolvable; CannotHelp",
		},
		{
			why:  "a pod that is bound to another node does not come here: asked before everything else",
			node: "cordoned pods=5 taint=a:NoSchedule", wanted: "bound=worker-2",
			want: "NodeAffinity; unresolvable; CannotHelp",
		},
		{
			why:  "and one that is bound to this node does",
			node: "pods=5", wanted: "bound=worker-1",
			want: "fits",
		},

		// volumes
		{
			why:  "a volume of another zone, after everything else",
			node: "pods=5 zone=a", wanted: "volume=v1@b p=10",
			want: "VolumeBinding: v1; unresolvable; CannotHelp",
		},
		{
			why:  "one of the same zone, and one for all zones",
			node: "pods=5 zone=a", wanted: "volume=v1@a volume=v2",
			want: "fits",
		},
		{
			why:  "the driver attaches as many as it says",
			node: "pods=5 limit=2 used=v8 attached=0", wanted: "volume=v1",
			want: "fits",
		},
		{
			why:  "and no further one; whether the pods that use the others would go, their volumes would say",
			node: "pods=5 limit=2 used=v7,v8", pods: []string{"a"}, wanted: "volume=v1 p=10",
			want: "NodeVolumeLimits: v1; VictimsNotCounted",
		},
		{
			why:  "the first volume that is too many",
			node: "pods=5 limit=2 used=v8", wanted: "volume=v1 volume=v2 volume=v3",
			want: "NodeVolumeLimits: v2; NothingLower",
		},
		{
			why:  "two claims of one volume are one volume",
			node: "pods=5 limit=2 used=v8", wanted: "volume=v1 volume=v1",
			want: "fits",
		},
		{
			why:  "a volume that a pod of the node uses is attached already",
			node: "pods=5 limit=1 used=v1", wanted: "volume=v1",
			want: "fits",
		},
		{
			why:  "one that is attached and not used counts",
			node: "pods=5 limit=2 used=v8 attached=1", wanted: "volume=v1",
			want: "NodeVolumeLimits: v1; NothingLower",
		},
		{
			why:  "a driver that says no limit attaches any number, and a volume without a driver asks none",
			node: "pods=5", wanted: "volume=v1 volume=v2",
			want: "fits",
		},
		{
			why:  "nor does one that its driver has no name for",
			node: "pods=5 limit=0", wanted: "volume=",
			want: "fits",
		},
		{
			why:  "a volume that does not say from where it can be reached",
			node: "pods=5 zone=a", wanted: "volume=v1@",
			want: "fits",
		},
		{
			why:  "the limit before the zone",
			node: "pods=5 zone=a limit=0", wanted: "volume=v1@b",
			want: "NodeVolumeLimits: v1; NothingLower",
		},

		{
			why:  "a volume whose label names another zone, after where it can be reached from",
			node: "pods=5 label=topology.kubernetes.io/zone=a", wanted: "volume=v1:topology.kubernetes.io/zone=b p=10",
			want: "VolumeZone: v1; unresolvable; CannotHelp",
		},
		{
			why:  "or another region",
			node: "pods=5 label=topology.kubernetes.io/zone=a label=topology.kubernetes.io/region=r", wanted: "volume=v1:topology.kubernetes.io/region=s",
			want: "VolumeZone: v1; unresolvable; CannotHelp",
		},
		{
			why:  "one of several zones",
			node: "pods=5 label=topology.kubernetes.io/zone=a", wanted: "volume=v1:topology.kubernetes.io/zone=b__a",
			want: "fits",
		},
		{
			why:  "zones that cannot be told apart say nothing",
			node: "pods=5 label=topology.kubernetes.io/zone=a", wanted: "volume=v1:topology.kubernetes.io/zone=b__",
			want: "fits",
		},
		{
			why:  "the old label of a volume and the new one of the node are the same",
			node: "pods=5 label=topology.kubernetes.io/zone=a", wanted: "volume=v1:failure-domain.beta.kubernetes.io/zone=a",
			want: "fits",
		},
		{
			why:  "but the node's own old one comes first",
			node: "pods=5 label=topology.kubernetes.io/zone=a label=failure-domain.beta.kubernetes.io/zone=b", wanted: "volume=v1:failure-domain.beta.kubernetes.io/zone=a",
			want: "VolumeZone: v1; unresolvable; CannotHelp",
		},
		{
			why:  "of regions, too",
			node: "pods=5 label=topology.kubernetes.io/region=a", wanted: "volume=v1:failure-domain.beta.kubernetes.io/region=a",
			want: "fits",
		},
		{
			why:  "the new label of a volume is not looked for among the old ones of the node",
			node: "pods=5 label=failure-domain.beta.kubernetes.io/zone=a", wanted: "volume=v1:topology.kubernetes.io/zone=a",
			want: "VolumeZone: v1; unresolvable; CannotHelp",
		},
		{
			why:  "a node that says nothing of zones has all volumes; zone is no label of those",
			node: "pods=5 zone=a", wanted: "volume=v1:topology.kubernetes.io/zone=b",
			want: "fits",
		},
		{
			why:  "the second volume",
			node: "pods=5 label=topology.kubernetes.io/zone=a", wanted: "volume=v1:topology.kubernetes.io/zone=a volume=v2:topology.kubernetes.io/zone=b",
			want: "VolumeZone: v2; unresolvable; CannotHelp",
		},
		{
			why:  "a removal of pods brings no zone nearer",
			node: "pods=5 label=topology.kubernetes.io/zone=a", pods: []string{"a port=80"}, wanted: "port=80 volume=v1:topology.kubernetes.io/zone=b p=10",
			want: "NodePorts: 80 by default/a; StillDoesNotFit",
		},
		{
			why:  "reach before zone",
			node: "pods=5 zone=a label=topology.kubernetes.io/zone=a", wanted: "volume=v1:topology.kubernetes.io/zone=b volume=v2@b",
			want: "VolumeBinding: v2; unresolvable; CannotHelp",
		},

		// preemption
		{
			why:  "the pod of lower priority goes",
			node: "cpu=1 pods=5", pods: []string{"a cpu=600m"}, wanted: "cpu=500m p=10",
			want: "NodeResourcesFit: cpu 500 of 1000, used 600, missing 100; Possible: default/a(0)",
		},
		{
			why:  "one of the same priority stays",
			node: "cpu=1 pods=5", pods: []string{"a cpu=600m p=10"}, wanted: "cpu=500m p=10",
			want: "NodeResourcesFit: cpu 500 of 1000, used 600, missing 100; NothingLower",
		},
		{
			why:  "a nominated pod is no victim",
			node: "cpu=1 pods=5", pods: []string{"a cpu=600m p=10 nominated", "b"}, wanted: "cpu=500m p=10",
			want: "NodeResourcesFit: cpu 500 of 1000, used 600, missing 100; StillDoesNotFit: cpu 500 of 1000, used 600, missing 100",
		},
		{
			why:  "what is left without the lower ones still counts",
			node: "cpu=1 pods=5", pods: []string{"a cpu=600m p=10", "b cpu=100m"}, wanted: "cpu=500m p=10",
			want: "NodeResourcesFit: cpu 500 of 1000, used 700, missing 200; StillDoesNotFit: cpu 500 of 1000, used 600, missing 100",
		},
		{
			why:  "as few as needed: the more important are spared first, by priority",
			node: "cpu=1 pods=9", pods: []string{"a cpu=300m p=1", "b cpu=300m p=2", "c cpu=300m p=3"}, wanted: "cpu=400m p=10",
			want: "NodeResourcesFit: cpu 400 of 1000, used 900, missing 300; Possible: default/a(1)",
		},
		{
			why:  "and what cannot be spared goes, though a less important one can stay",
			node: "cpu=1 pods=9", pods: []string{"a cpu=100m p=1", "b cpu=800m p=2"}, wanted: "cpu=400m p=10",
			want: "NodeResourcesFit: cpu 400 of 1000, used 900, missing 300; Possible: default/b(2)",
		},
		{
			why:  "victims are listed with the most important first",
			node: "cpu=1 pods=9", pods: []string{"a cpu=300m p=1", "b cpu=300m p=2 at=7", "c cpu=300m p=2 at=6"}, wanted: "cpu=1 p=10",
			want: "NodeResourcesFit: cpu 1000 of 1000, used 900, missing 900; Possible: default/c(2) default/b(2) default/a(1)",
		},
		{
			why:  "at the same priority, the one that runs longer is spared",
			node: "cpu=1 pods=9", pods: []string{"a cpu=300m at=9", "b cpu=300m at=1", "c cpu=300m at=5"}, wanted: "cpu=400m p=10",
			want: "NodeResourcesFit: cpu 400 of 1000, used 900, missing 300; Possible: default/a(0)",
		},
		{
			why:  "priority comes before that",
			node: "cpu=1 pods=9", pods: []string{"a cpu=500m at=1", "b cpu=500m p=1 at=9"}, wanted: "cpu=500m p=10",
			want: "NodeResourcesFit: cpu 500 of 1000, used 1000, missing 500; Possible: default/a(0)",
		},
		{
			why:  "and both before names",
			node: "cpu=1 pods=9", pods: []string{"a/x cpu=500m at=9", "b/y cpu=500m at=1"}, wanted: "cpu=500m p=10",
			want: "NodeResourcesFit: cpu 500 of 1000, used 1000, missing 500; Possible: a/x(0)",
		},
		{
			why:  "one that has not started is the youngest",
			node: "cpu=1 pods=9", pods: []string{"a cpu=300m", "b cpu=300m at=1", "c cpu=300m at=5"}, wanted: "cpu=400m p=10",
			want: "NodeResourcesFit: cpu 400 of 1000, used 900, missing 300; Possible: default/a(0)",
		},
		{
			why:  "of two that are equally important, one is picked, which one is not certain",
			node: "cpu=1 pods=9", pods: []string{"b cpu=400m at=5", "a cpu=400m at=5"}, wanted: "cpu=400m p=10",
			want: "NodeResourcesFit: cpu 400 of 1000, used 800, missing 200; Possible: default/b(0), uncertain",
		},
		{
			why:  "nor of two that have not started",
			node: "cpu=1 pods=9", pods: []string{"b cpu=400m", "a cpu=400m"}, wanted: "cpu=400m p=10",
			want: "NodeResourcesFit: cpu 400 of 1000, used 800, missing 200; Possible: default/b(0), uncertain",
		},
		{
			why:  "a tie does not matter where only one of them can be spared, whatever comes first",
			node: "cpu=1 pods=9", pods: []string{"b cpu=400m at=5", "a cpu=700m at=5"}, wanted: "cpu=400m p=10",
			want: "NodeResourcesFit: cpu 400 of 1000, used 1100, missing 500; Possible: default/a(0)",
		},
		{
			why:  "if both go, it is certain",
			node: "cpu=1 pods=9", pods: []string{"b cpu=400m at=5", "a cpu=400m at=5"}, wanted: "cpu=1 p=10",
			want: "NodeResourcesFit: cpu 1000 of 1000, used 800, missing 800; Possible: default/a(0) default/b(0)",
		},
		{
			why:  "pods of other namespaces are ordered by it, where nothing else orders them",
			node: "cpu=1 pods=9", pods: []string{"b/a cpu=400m at=5", "a/b cpu=400m at=5"}, wanted: "cpu=1 p=10",
			want: "NodeResourcesFit: cpu 1000 of 1000, used 800, missing 800; Possible: a/b(0) b/a(0)",
		},
		{
			why:  "a terminating pod can be a victim",
			node: "cpu=1 pods=5", pods: []string{"a cpu=600m gone"}, wanted: "cpu=500m p=10",
			want: "NodeResourcesFit: cpu 500 of 1000, used 600, missing 100; Possible: default/a(0,terminating)",
		},
		{
			why:  "a request above what the node has: nothing cures it, nor is it tried",
			node: "cpu=1 pods=5", pods: []string{"a cpu=600m"}, wanted: "cpu=1001m p=10",
			want: "NodeResourcesFit: cpu 1001 of 1000, used 600, missing 601; unresolvable; CannotHelp",
		},
		{
			why:  "all that the node has is not above it",
			node: "cpu=1 pods=5", pods: []string{"a cpu=600m"}, wanted: "cpu=1 p=10",
			want: "NodeResourcesFit: cpu 1000 of 1000, used 600, missing 600; Possible: default/a(0)",
		},
		{
			why:  "one resource above is enough",
			node: "cpu=1 memory=5 pods=5", pods: []string{"a cpu=600m"}, wanted: "cpu=1 memory=6 p=10",
			want: "NodeResourcesFit: cpu 1000 of 1000, used 600, missing 600; memory 6 of 5, used 0, missing 1; unresolvable; CannotHelp",
		},
		{
			why:     "before v1.34 it was tried, in vain",
			version: "v1.33.13", node: "cpu=1 pods=5", pods: []string{"a cpu=600m"}, wanted: "cpu=1001m p=10",
			want: "NodeResourcesFit: cpu 1001 of 1000, used 600, missing 601; StillDoesNotFit: cpu 1001 of 1000, used 0, missing 1",
		},
		{
			why:  "too many pods: one goes",
			node: "pods=2", pods: []string{"a at=1", "b at=2"}, wanted: "p=10",
			want: "NodeResourcesFit: pods 1 of 2, used 2, missing 1; Possible: default/b(0)",
		},
		{
			why:  "too many pods can always be tried, even where no pod is allowed",
			node: "pods=0", pods: []string{"a"}, wanted: "p=10",
			want: "NodeResourcesFit: pods 1 of 0, used 1, missing 2; StillDoesNotFit: pods 1 of 0, used 0, missing 1",
		},
		{
			why:  "whoever holds the port goes",
			node: "pods=9", pods: []string{"a port=80", "b port=443"}, wanted: "port=80 p=10",
			want: "NodePorts: 80 by default/a; Possible: default/a(0)",
		},
		{
			why:  "a holder of the same priority stays",
			node: "pods=9", pods: []string{"a port=80 p=10", "b"}, wanted: "port=80 p=10",
			want: "NodePorts: 80 by default/a; StillDoesNotFit",
		},
		{
			why:  "a nominated holder stays",
			node: "pods=9", pods: []string{"a port=80 p=10 nominated", "b"}, wanted: "port=80 p=10",
			want: "NodePorts: 80 by default/a (nominated); StillDoesNotFit",
		},
		{
			why:  "also where a lower one holds it, too",
			node: "pods=9", pods: []string{"a port=80 p=10 nominated", "b port=80"}, wanted: "port=80 p=10",
			want: "NodePorts: 80 by default/a (nominated) default/b; StillDoesNotFit",
		},
		{
			why:  "the scheduler forgets who holds a port: when one of two goes, it thinks that it is free",
			node: "pods=9", pods: []string{"a port=80 p=10", "b port=80"}, wanted: "port=80 p=10",
			want: "NodePorts: 80 by default/a default/b; Possible: default/b(0)",
		},
		{
			why:  "to make room for the resources behind the port, further pods go",
			node: "cpu=1 pods=9", pods: []string{"a port=80", "b cpu=600m"}, wanted: "port=80 cpu=500m p=10",
			want: "NodePorts: 80 by default/a; Possible: default/a(0) default/b(0)",
		},
		{
			why:  "no removal brings a volume nearer",
			node: "pods=9 zone=a", pods: []string{"a port=80"}, wanted: "port=80 volume=v1@b p=10",
			want: "NodePorts: 80 by default/a; StillDoesNotFit",
		},
		{
			why:  "a limit of volumes that is exceeded already may come into force when the pod that shares the volume goes",
			node: "pods=9 limit=1 used=v1,v2", pods: []string{"a port=80"}, wanted: "port=80 volume=v1 p=10",
			want: "NodePorts: 80 by default/a; VictimsNotCounted",
		},
		{
			why:  "one that is just reached does not",
			node: "pods=9 limit=2 used=v1,v2", pods: []string{"a port=80"}, wanted: "port=80 volume=v1 p=10",
			want: "NodePorts: 80 by default/a; Possible: default/a(0)",
		},
		{
			why:  "nor does a volume matter that its driver has no name for",
			node: "pods=9 limit=1 used=v1,v2", pods: []string{"a port=80"}, wanted: "port=80 volume= p=10",
			want: "NodePorts: 80 by default/a; Possible: default/a(0)",
		},
		{
			why:  "attached ones count there, too",
			node: "pods=9 limit=2 used=v1,v2 attached=1", pods: []string{"a port=80"}, wanted: "port=80 volume=v1 p=10",
			want: "NodePorts: 80 by default/a; VictimsNotCounted",
		},
		{
			why:  "preemptionPolicy Never",
			node: "cpu=1 pods=5", pods: []string{"a cpu=600m"}, wanted: "cpu=500m p=10 never",
			want: "NodeResourcesFit: cpu 500 of 1000, used 600, missing 100; Never",
		},
		{
			why:  "it has preempted here, and waits until the victim is gone",
			node: "cpu=1 pods=5", pods: []string{"a cpu=600m preempted", "b"}, wanted: "cpu=500m p=10 nominated",
			want: "NodeResourcesFit: cpu 500 of 1000, used 600, missing 100; WaitsForVictims",
		},
		{
			why:  "a pod that goes for another reason is not waited for",
			node: "cpu=1 pods=5", pods: []string{"a cpu=600m gone"}, wanted: "cpu=500m p=10 nominated",
			want: "NodeResourcesFit: cpu 500 of 1000, used 600, missing 100; Possible: default/a(0,terminating)",
		},
		{
			why:  "nor is one of the same priority, which it cannot have preempted",
			node: "cpu=1 pods=5", pods: []string{"a cpu=500m p=10 preempted", "b cpu=500m"}, wanted: "cpu=500m p=10 nominated",
			want: "NodeResourcesFit: cpu 500 of 1000, used 1000, missing 500; Possible: default/b(0)",
		},
		{
			why:  "nor is one that is not on the node",
			node: "cpu=1 pods=5", pods: []string{"a preempted nominated", "b cpu=600m"}, wanted: "cpu=500m p=10 nominated",
			want: "NodeResourcesFit: cpu 500 of 1000, used 600, missing 100; Possible: default/b(0)",
		},
		{
			why:  "a victim of another pod is not waited for",
			node: "cpu=1 pods=5", pods: []string{"a cpu=600m preempted"}, wanted: "cpu=500m p=10",
			want: "NodeResourcesFit: cpu 500 of 1000, used 600, missing 100; Possible: default/a(0,terminating)",
		},

		// PodDisruptionBudgets
		{
			why:  "the pod whose budget would be violated is spared, and one of higher priority goes instead",
			node: "cpu=1 pods=5", pods: []string{"a cpu=500m p=5", "b cpu=500m p=1 pdb=x"}, budgets: "x=0", wanted: "cpu=500m p=10",
			want: "NodeResourcesFit: cpu 500 of 1000, used 1000, missing 500; Possible: default/a(5)",
		},
		{
			why:  "a budget that allows a disruption protects nothing",
			node: "cpu=1 pods=5", pods: []string{"a cpu=500m p=5", "b cpu=500m p=1 pdb=x"}, budgets: "x=1", wanted: "cpu=500m p=10",
			want: "NodeResourcesFit: cpu 500 of 1000, used 1000, missing 500; Possible: default/b(1)",
		},
		{
			why:  "if there is no other way, the budget is violated",
			node: "cpu=1 pods=5", pods: []string{"a cpu=500m p=10", "b cpu=500m p=1 pdb=x"}, budgets: "x=0", wanted: "cpu=500m p=10",
			want: "NodeResourcesFit: cpu 500 of 1000, used 1000, missing 500; Possible: default/b(1,violates x)",
		},
		{
			why:  "what a budget allows goes to the more important pods, so the less important are protected",
			node: "cpu=1 pods=5", pods: []string{"a cpu=500m p=5 pdb=x", "b cpu=500m p=1 pdb=x"}, budgets: "x=1", wanted: "cpu=500m p=10",
			want: "NodeResourcesFit: cpu 500 of 1000, used 1000, missing 500; Possible: default/a(5)",
		},
		{
			why:  "a pod whose eviction is counted already takes nothing from the budget, nor is it protected",
			node: "cpu=1 pods=5", pods: []string{"a cpu=500m p=5 pdb=x", "b cpu=500m p=1 pdb=x"}, budgets: "x=0:a,b", wanted: "cpu=500m p=10",
			want: "NodeResourcesFit: cpu 500 of 1000, used 1000, missing 500; Possible: default/b(1)",
		},
		{
			why:  "a budget that is not known protects nothing",
			node: "cpu=1 pods=5", pods: []string{"a cpu=500m p=5", "b cpu=500m p=1 pdb=x"}, wanted: "cpu=500m p=10",
			want: "NodeResourcesFit: cpu 500 of 1000, used 1000, missing 500; Possible: default/b(1)",
		},
		{
			why:  "one of the same name in another namespace is another",
			node: "cpu=1 pods=5", pods: []string{"a cpu=500m p=5", "other/b cpu=500m p=1 pdb=x"}, budgets: "x=0", wanted: "cpu=500m p=10",
			want: "NodeResourcesFit: cpu 500 of 1000, used 1000, missing 500; Possible: other/b(1)",
		},
		{
			why:  "among protected pods, too, the more important is spared",
			node: "cpu=1 pods=5", pods: []string{"a cpu=500m p=1 pdb=x", "b cpu=500m p=5 pdb=x"}, budgets: "x=0", wanted: "cpu=500m p=10",
			want: "NodeResourcesFit: cpu 500 of 1000, used 1000, missing 500; Possible: default/a(1,violates x)",
		},
		{
			why:  "two budgets of one pod, one violated: which one is charged first matters to nobody else",
			node: "cpu=1 pods=5", pods: []string{"a cpu=500m p=5", "b cpu=500m p=1 pdb=x,y"}, budgets: "x=0 y=1", wanted: "cpu=1 p=10",
			want: "NodeResourcesFit: cpu 1000 of 1000, used 1000, missing 1000; Possible: default/a(5) default/b(1,violates x)",
		},
		{
			why:  "two budgets, both violated",
			node: "cpu=1 pods=5", pods: []string{"a cpu=500m p=5", "b cpu=500m p=1 pdb=x,y"}, budgets: "x=0 y=0", wanted: "cpu=1 p=10",
			want: "NodeResourcesFit: cpu 1000 of 1000, used 1000, missing 1000; Possible: default/a(5) default/b(1,violates x+y)",
		},
		{
			why:  "whether the other budget of a protected pod is charged depends on the order of the two, and matters to the next pod",
			node: "cpu=1 pods=5", pods: []string{"a cpu=500m p=5 pdb=x,y", "b cpu=500m p=1 pdb=y"}, budgets: "x=0 y=1", wanted: "cpu=500m p=10",
			want: "NodeResourcesFit: cpu 500 of 1000, used 1000, missing 500; Possible: default/b(1,violates y), uncertain",
		},
		{
			why:  "two budgets of one pod, none violated: certain",
			node: "cpu=1 pods=5", pods: []string{"a cpu=500m p=5", "b cpu=500m p=1 pdb=x,y"}, budgets: "x=1 y=1", wanted: "cpu=1 p=10",
			want: "NodeResourcesFit: cpu 1000 of 1000, used 1000, missing 1000; Possible: default/a(5) default/b(1)",
		},
		{
			why:  "two, one of which does not count the pod: certain",
			node: "cpu=1 pods=5", pods: []string{"a cpu=500m p=5", "b cpu=500m p=1 pdb=x,y"}, budgets: "x=0 y=1:b", wanted: "cpu=1 p=10",
			want: "NodeResourcesFit: cpu 1000 of 1000, used 1000, missing 1000; Possible: default/a(5) default/b(1,violates x)",
		},
		{
			why:  "of equally important pods, which one is protected is not certain",
			node: "cpu=1 pods=5", pods: []string{"a cpu=500m pdb=x", "b cpu=500m pdb=x"}, budgets: "x=1", wanted: "cpu=1 p=10",
			want: "NodeResourcesFit: cpu 1000 of 1000, used 1000, missing 1000; Possible: default/a(0) default/b(0,violates x), uncertain",
		},

		// amounts that cannot be counted
		{
			why:  "of the node",
			node: "cpu=-1 pods=5", wanted: "cpu=1",
			want: "unreadable: Node worker-1 cpu",
		},
		{
			why:  "of a resource that the pod does not ask for, nobody needs to count it",
			node: "cpu=-1 pods=5", pods: []string{"a bad=cpu"}, wanted: "",
			want: "fits",
		},
		{
			why:  "pods are asked for by every pod",
			node: "pods=-1", wanted: "",
			want: "unreadable: Node worker-1 pods",
		},
		{
			why:  "of a pod on the node, and of the pod itself: all of them are named",
			node: "cpu=1e19 pods=5", pods: []string{"b millis=-1", "a bad=cpu"}, wanted: "cpu=1 bad=memory",
			want: "unreadable: Pod default/wanted memory, Node worker-1 cpu, Pod default/b cpu, Pod default/a cpu",
		},
		{
			why:  "a nominated pod that does not count is not read",
			node: "cpu=1 pods=5", pods: []string{"a bad=cpu nominated"}, wanted: "cpu=1 p=1",
			want: "fits",
		},
		{
			why:  "a sum that is too large",
			node: "memory=1 pods=5", pods: []string{"a memory=9223372036854775807", "b memory=1"}, wanted: "memory=1",
			want: "unreadable: Pod default/b memory",
		},
		{
			why:  "the largest sum",
			node: "memory=1 pods=5", pods: []string{"a memory=9223372036854775806", "b memory=1"}, wanted: "memory=1",
			want: "NodeResourcesFit: memory 1 of 1, used 9223372036854775807, missing 9223372036854775807; NothingLower",
		},
	} {
		t.Run(r.why, func(t *testing.T) {
			w := parseWanted(t, r.wanted)
			n := parseNode(t, r.node)
			for _, p := range r.pods {
				n.Pods = append(n.Pods, parsePod(t, p))
			}
			n.Budgets = parseBudgets(t, r.budgets)
			v := ProfileOf(cmp.Or(r.version, "v1.37.1")).On(&w, &n)
			if got := describe(&v); got != r.want {
				t.Errorf("got  %s\nwant %s", got, r.want)
			}
		})
	}
}

// describe formats every field of a verdict.
func describe(v *Verdict) string {
	if len(v.Unreadable) > 0 {
		var all []string
		for _, u := range v.Unreadable {
			all = append(all, fmt.Sprintf("%s %s %s", u.Kind, strings.TrimPrefix(u.Namespace+"/"+u.Name, "/"), joined(u.Resources, "+")))
		}
		return "unreadable: " + strings.Join(all, ", ")
	}
	var facts []string
	if v.Taint != nil {
		facts = append(facts, v.Taint.ToString())
	}
	for _, p := range v.Ports {
		by := portText(p.Port) + " by"
		for _, h := range p.Holders {
			by += fmt.Sprintf(" %s/%s", h.Namespace, h.Name)
			if h.Nominated {
				by += " (nominated)"
			}
		}
		facts = append(facts, by)
	}
	facts = append(facts, lacksText(v.Lacks)...)
	if v.Volume != nil {
		facts = append(facts, v.Volume.Handle)
	}
	if v.NoAllocatable {
		facts = append(facts, "nothing allocatable")
	}
	out := string(v.Reason)
	if len(facts) > 0 {
		out += ": " + strings.Join(facts, "; ")
	}
	if v.Fits {
		out += "fits"
	} else if !v.Resolvable {
		out += "; unresolvable"
	}
	if p := v.Preemption; p.Outcome != NotNeeded {
		out += "; " + string(p.Outcome)
		var what []string
		for _, x := range p.Victims {
			text := fmt.Sprintf("%s/%s(%d", x.Namespace, x.Name, x.Priority)
			if x.Terminating {
				text += ",terminating"
			}
			if len(x.Violates) > 0 {
				text += ",violates " + strings.Join(x.Violates, "+")
			}
			what = append(what, text+")")
		}
		if still := append(what, lacksText(p.Still)...); len(still) > 0 {
			out += ": " + strings.Join(still, " ")
		}
		if p.Certain != (p.Outcome == Possible) {
			out += ", uncertain"
		}
	}
	if len(v.Unmodelled) > 0 {
		out += "; not looked at: " + joined(v.Unmodelled, " ")
	}
	return out
}

func joined[T ~string](all []T, by string) string {
	var out []string
	for _, one := range all {
		out = append(out, string(one))
	}
	return strings.Join(out, by)
}

func lacksText(lacks []Lack) (out []string) {
	for _, l := range lacks {
		out = append(out, fmt.Sprintf("%s %d of %d, used %d, missing %d", l.Resource, l.Requested, l.Allocatable, l.Used, l.Missing))
	}
	return out
}

func portText(p snapshot.HostPort) string {
	text := strconv.Itoa(int(p.Port))
	if p.IP != "" {
		text = p.IP + "/" + text
	}
	if p.Protocol != "" {
		text += "/" + string(p.Protocol)
	}
	return text
}

// each calls read with the key and the value of each word.
func each(t testing.TB, text string, read func(key, value string) (known bool)) {
	t.Helper()
	for word := range strings.FieldsSeq(text) {
		if key, value, _ := strings.Cut(word, "="); !read(key, value) {
			t.Fatalf("%q is no word of this notation", word)
		}
	}
}

func isResource(key string) bool {
	switch key {
	case "cpu", "memory", "ephemeral-storage", "pods":
		return true
	}
	return strings.Contains(key, "/") || strings.HasPrefix(key, "hugepages-")
}

func parseNode(t testing.TB, text string) Node {
	n := Node{Node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "worker-1", Labels: map[string]string{}}}}
	d := Driver{Limit: -1}
	each(t, text, func(key, value string) bool {
		switch {
		case isResource(key):
			if n.Node.Status.Allocatable == nil {
				n.Node.Status.Allocatable = corev1.ResourceList{}
			}
			n.Node.Status.Allocatable[corev1.ResourceName(key)] = resource.MustParse(value)
		case key == "cordoned":
			n.Node.Spec.Unschedulable = true
		case key == "zone":
			n.Node.Labels["zone"] = value
		case key == "label":
			name, value, _ := strings.Cut(value, "=")
			n.Node.Labels[name] = value
		case key == "taint":
			n.Node.Spec.Taints = append(n.Node.Spec.Taints, parseTaint(value))
		case key == "limit":
			d.Limit = int(integer(t, value))
		case key == "used":
			d.Used = strings.Split(value, ",")
		case key == "attached":
			d.Attached = int(integer(t, value))
		default:
			return false
		}
		return true
	})
	if d.Limit >= 0 {
		n.Drivers = map[string]Driver{"csi.example.com": d}
	}
	return n
}

func parseTaint(text string) corev1.Taint {
	rest, effect, _ := strings.Cut(text, ":")
	key, value, _ := strings.Cut(rest, "=")
	return corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}
}

func integer(t testing.TB, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// parsePod parses a pod: its name, its requests, and
//
//	p=10          its priority; 0 by default
//	at=5          the second in which it started; none by default
//	port=80       a host port; port=ADDRESS/80, port=80/UDP; sidecar=80 of a sidecar
//	nominated     it is not on the node, but nominated to it; gated, with scheduling gates
//	gone          it is terminating; preempted, because of the scheduler
//	pdb=x,y       the PodDisruptionBudgets that select it
//	bad=cpu       an amount that cannot be counted
//	millis=-1     CPU as an arbitrary row may have it
func parsePod(t testing.TB, text string) snapshot.PodRow {
	name, rest, _ := strings.Cut(text, " ")
	p := snapshot.PodRow{Namespace: "default", Name: name, Node: "worker-1"}
	if namespace, name, qualified := strings.Cut(name, "/"); qualified {
		p.Namespace, p.Name = namespace, name
	}
	requests, millis := corev1.ResourceList{}, int64(0)
	each(t, rest, func(key, value string) bool {
		switch {
		case isResource(key):
			requests[corev1.ResourceName(key)] = resource.MustParse(value)
		case key == "p":
			p.Priority = int32(integer(t, value))
		case key == "at":
			p.StartTime = &metav1.Time{Time: time.Unix(integer(t, value), 0)}
		case key == "port" || key == "sidecar":
			p.HostPorts = append(p.HostPorts, parsePort(t, value, key == "sidecar"))
		case key == "nominated":
			p.Nominated = true
		case key == "gated":
			p.Gated = true
		case key == "gone":
			p.Terminating = true
		case key == "preempted":
			p.Terminating, p.Preempted = true, true
		case key == "pdb":
			p.Budgets = strings.Split(value, ",")
		case key == "millis":
			millis = integer(t, value)
		case key == "bad":
			p.Unreadable = []corev1.ResourceName{corev1.ResourceName(value)}
		default:
			return false
		}
		return true
	})
	p.Requests = snapshot.ResourcesOf(requests)
	p.Requests.MilliCPU += millis
	return p
}

// parsePort parses ADDRESS/PORT/PROTOCOL; the address and the protocol are
// optional.
func parsePort(t testing.TB, text string, sidecar bool) snapshot.HostPort {
	h := snapshot.HostPort{Sidecar: sidecar}
	for part := range strings.SplitSeq(text, "/") {
		switch {
		case strings.ContainsAny(part, ".:"):
			h.IP = part
		case part == "TCP" || part == "UDP":
			h.Protocol = corev1.Protocol(part)
		default:
			h.Port = int32(integer(t, part))
		}
	}
	return h
}

func parseBudgets(t testing.TB, text string) (out []snapshot.DisruptionBudget) {
	for word := range strings.FieldsSeq(text) {
		name, rest, _ := strings.Cut(word, "=")
		allowed, disrupted, some := strings.Cut(rest, ":")
		b := snapshot.DisruptionBudget{Namespace: "default", Name: name, Allowed: int32(integer(t, allowed))}
		if some {
			b.Disrupted = strings.Split(disrupted, ",")
		}
		out = append(out, b)
	}
	return out
}

func parseWanted(t testing.TB, text string) Wanted {
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "wanted", Namespace: "default"}, Spec: corev1.PodSpec{Containers: make([]corev1.Container, 1), InitContainers: make([]corev1.Container, 1)}}
	always := corev1.ContainerRestartPolicyAlways
	p.Spec.InitContainers[0].RestartPolicy = &always
	requests := corev1.ResourceList{}
	var volumes []Volume
	var bad []corev1.ResourceName
	each(t, text, func(key, value string) bool {
		switch {
		case isResource(key):
			requests[corev1.ResourceName(key)] = resource.MustParse(value)
		case key == "p":
			priority := int32(integer(t, value))
			p.Spec.Priority = &priority
		case key == "port" || key == "sidecar":
			h := parsePort(t, value, key == "sidecar")
			c := &p.Spec.Containers[0]
			if h.Sidecar {
				c = &p.Spec.InitContainers[0]
			}
			c.Ports = append(c.Ports, corev1.ContainerPort{HostIP: h.IP, HostPort: h.Port, Protocol: h.Protocol})
		case key == "never":
			never := corev1.PreemptNever
			p.Spec.PreemptionPolicy = &never
		case key == "nominated":
			p.Status.NominatedNodeName = "worker-1"
		case key == "tolerates":
			p.Spec.Tolerations = append(p.Spec.Tolerations, parseToleration(value))
		case key == "selects":
			label, value, _ := strings.Cut(value, "=")
			p.Spec.NodeSelector = map[string]string{label: value}
		case key == "bound":
			p.Spec.Affinity = required(corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{in(metav1.ObjectNameField, value)}})
		case key == "volume":
			volumes = append(volumes, parseVolume(value))
		case key == "bad":
			bad = append(bad, corev1.ResourceName(value))
		default:
			return false
		}
		return true
	})
	p.Spec.Containers[0].Resources.Requests = requests
	w := Of(&p).WithVolumes(&p.Spec, volumes)
	w.Unreadable = append(w.Unreadable, bad...)
	return w
}

// parseToleration parses KEY=VALUE:EFFECT, with * for Exists, =VALUE for Equal
// and <VALUE for Lt.
func parseToleration(text string) corev1.Toleration {
	taint := parseTaint(text)
	t := corev1.Toleration{Key: taint.Key, Value: taint.Value, Effect: taint.Effect}
	if t.Value == "*" {
		t.Value, t.Operator = "", corev1.TolerationOpExists
	}
	if value, equal := strings.CutPrefix(t.Value, "="); equal {
		t.Value, t.Operator = value, corev1.TolerationOpEqual
	}
	if value, less := strings.CutPrefix(t.Value, "<"); less {
		t.Value, t.Operator = value, corev1.TolerationOpLt
	}
	return t
}

func parseVolume(text string) Volume {
	text, label, labeled := strings.Cut(text, ":")
	handle, zone, some := strings.Cut(text, "@")
	v := Volume{Claim: "claim-" + handle, Driver: "csi.example.com", Handle: handle}
	if some {
		v.NodeAffinity = &corev1.VolumeNodeAffinity{}
	}
	if zone != "" {
		v.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
			{MatchExpressions: []corev1.NodeSelectorRequirement{in("zone", zone)}},
		}}}
	}
	if name, value, _ := strings.Cut(label, "="); labeled {
		v.Zones = map[string]string{name: value}
	}
	return v
}

func in(key string, values ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
}

func required(terms ...corev1.NodeSelectorTerm) *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms}}}
}

// TestCollide tests ports that two pods of a node cannot both use.
func TestCollide(t *testing.T) {
	for _, tt := range []struct {
		wanted, held string
		want         bool
		why          string
	}{
		{"80", "80", true, "the same"},
		{"80 81", "82 81", true, "one of several"},
		{"80 81", "82 83", false, "none of several"},
		{"", "80", false, "nothing is wanted"},
		{"80", "80/UDP", false, "of another protocol"},
		{"80", "127.0.0.1/80", true, "of all addresses"},
		{"127.0.0.2/80", "127.0.0.1/80", false, "of another address"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			ports := func(text string) (out []snapshot.HostPort) {
				for word := range strings.FieldsSeq(text) {
					out = append(out, parsePort(t, word, false))
				}
				return out
			}
			if got := ProfileOf("").Collide(ports(tt.wanted), ports(tt.held)); got != tt.want {
				t.Errorf("%s and %s: %v", tt.wanted, tt.held, got)
			}
		})
	}
}

// TestAmounts tests the amounts, whether or not they are sufficient.
func TestAmounts(t *testing.T) {
	for _, tt := range []struct {
		node, pod, wanted string
		want              []Lack
		why               string
	}{
		{"cpu=1 memory=9 pods=5", "a cpu=600m", "cpu=400m memory=10", []Lack{{"pods", 1, 1, 5, -3}, {"cpu", 400, 600, 1000, 0}, {"memory", 10, 0, 9, 1}}, "what suffices has a Missing of 0 or less"},
		{"pods=1", "a", "", []Lack{{"pods", 1, 1, 1, 1}}, "the number of pods always counts"},
		{"cpu=1 pods=5", "a bad=cpu", "cpu=1", nil, "an amount that cannot be counted leaves nothing to say"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			n, w := parseNode(t, tt.node), parseWanted(t, tt.wanted)
			n.Pods = append(n.Pods, parsePod(t, tt.pod))
			if diff := gocmp.Diff(tt.want, ProfileOf("").Amounts(&w, &n)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
