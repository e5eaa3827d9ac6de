package daemonset

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestRemedies(t *testing.T) {
	text := func(changes []Remedy) string {
		var out []string
		for _, c := range changes {
			s := string(c.Kind)
			switch {
			case c.Toleration != nil:
				s += fmt.Sprintf(" %s %s %q %s", c.Toleration.Key, c.Toleration.Operator, c.Toleration.Value, c.Toleration.Effect)
			case c.Kind == SetLabel:
				s += " " + c.Key + "=" + c.Value
			case c.Key != "":
				s += " " + c.Key
			}
			out = append(out, s)
		}
		return strings.Join(out, "; ")
	}
	whys := whys{}
	for _, tt := range []struct {
		asks           demand
		labels, taints string
		want           string
		why            string
	}{
		{demand{affinity: "disk In ssd"}, "disk=ssd", "", "", "what should run the pod needs no change"},
		{demand{nodeName: "n1"}, "", "", "RemoveNodeName", "a nodeName can only go"},
		{demand{selector: map[string]string{"disk": "ssd"}}, "disk=hdd", "", "SetLabel disk=ssd", "a label is set on the node rather than the template changed"},
		{demand{selector: map[string]string{corev1.LabelOSStable: "linux", corev1.LabelTopologyZone: "z1"}}, corev1.LabelOSStable + "=windows", "", "NoSensibleChange " + corev1.LabelOSStable + "; NoSensibleChange " + corev1.LabelTopologyZone, "but not one that says what the node is, and the template's is meant"},
		{demand{selector: map[string]string{
			corev1.LabelArchStable: "a", corev1.LabelHostname: "b", corev1.LabelInstanceTypeStable: "c", corev1.LabelTopologyRegion: "d", corev1.LabelWindowsBuild: "e",
		}}, "", "", "NoSensibleChange kubernetes.io/arch; NoSensibleChange kubernetes.io/hostname; NoSensibleChange node.kubernetes.io/instance-type; NoSensibleChange node.kubernetes.io/windows-build; NoSensibleChange topology.kubernetes.io/region", "nor any of these"},
		{demand{}, "", "dedicated=x:NoSchedule gpu:NoExecute", `AddToleration dedicated Equal "x" NoSchedule; AddToleration gpu Exists "" NoExecute`, "a toleration for each taint, no wider than it is"},
		{demand{tolerations: "dedicated:NoSchedule"}, "", "dedicated=x:NoSchedule b:PreferNoSchedule " + notReady + ":NoExecute", "", "none for what is tolerated or does not matter"},
		{demand{affinity: "disk In ssd"}, "", "", "SetLabel disk=ssd", "the value that a term asks for"},
		{demand{affinity: "disk NotIn ssd hdd"}, "disk=hdd", "", "RemoveLabel disk", "a label that is in the way goes"},
		{demand{affinity: "disk NotIn ssd, disk Exists"}, "disk=ssd", "", "SetLabel disk=true", "or gets another value where it must be there"},
		{demand{affinity: "gpu DoesNotExist"}, "gpu=", "", "RemoveLabel gpu", "DoesNotExist asks for that"},
		{demand{affinity: "gpu Exists"}, "", "", "SetLabel gpu=true", "Exists is content with any"},
		{demand{affinity: "size Gt 5"}, "size=5", "", "SetLabel size=6", "the next number above"},
		{demand{affinity: "size Lt 5"}, "size=5", "", "SetLabel size=4", "or below"},
		{demand{affinity: "zone In z1, disk Exists, disk NotIn true"}, "zone=z1", "", "AddAffinityTerm", "values are not made up"},
		{demand{affinity: "size Lt 5, size Gt 3"}, "", "", "SetLabel size=4", "one that meets all of a term"},
		{demand{affinity: "size Lt 0"}, "", "", "AddAffinityTerm", "a negative number is no label value, so the template must change"},
		{demand{affinity: "size Gt -5"}, "size=7", "", "AddAffinityTerm", "nor can a term that never matches be met"},
		{demand{affinity: "none"}, "", "", "AddAffinityTerm", "nor an affinity without terms"},
		{demand{affinity: " | "}, "", "", "AddAffinityTerm", "nor empty ones"},
		{demand{affinity: "field In n1"}, "", "", "AddAffinityTerm", "a node has the name that it has"},
		{demand{affinity: corev1.LabelTopologyZone + " In z1"}, "", "", "NoSensibleChange " + corev1.LabelTopologyZone, "and the zone that the cloud says, which the template names on purpose"},
		{demand{affinity: corev1.LabelTopologyZone + " In z1 | size Lt 0"}, "", "", "AddAffinityTerm", "unless another term asks for something else"},
		{demand{affinity: corev1.LabelTopologyZone + " In z1 | disk In ssd"}, "", "", "SetLabel disk=ssd", "which may be met"},
		{demand{selector: map[string]string{"node-role.kubernetes.io/control-plane": ""}}, corev1.LabelOSStable + "=windows", "", "NoSensibleChange node-role.kubernetes.io/control-plane", "nobody labels a Windows node as control plane"},
		{demand{selector: map[string]string{"feature.node.kubernetes.io/pci-10de.present": "true", "disk": "ssd"}}, "", "", "NoSensibleChange feature.node.kubernetes.io/pci-10de.present", "nor gives it hardware that it does not have; then the rest does not matter"},
		{demand{selector: map[string]string{"eks.amazonaws.com/nodegroup": "a"}}, "", "", "NoSensibleChange eks.amazonaws.com/nodegroup", "nor makes it one of a group that the cloud keeps"},
		{demand{selector: map[string]string{"node-restriction.kubernetes.io/fips": "true"}}, "", "", "SetLabel node-restriction.kubernetes.io/fips=true", "this domain is left to administrators"},
		{demand{}, "", notReady + ":NoSchedule " + notReady + ":NoExecute", "RepairNode " + notReady, "a node that is not ready is repaired, not tolerated"},
		{demand{}, "", "node.kubernetes.io/network-unavailable:NoSchedule dedicated:NoSchedule", `RepairNode node.kubernetes.io/network-unavailable; AddToleration dedicated Exists "" NoSchedule`, "before anything else"},
		{demand{}, "", "node.cilium.io/agent-not-ready:NoExecute node.cloudprovider.kubernetes.io/shutdown:NoSchedule", "RepairNode node.cilium.io/agent-not-ready; RepairNode node.cloudprovider.kubernetes.io/shutdown", "others that go by themselves"},
		{demand{}, "", "ToBeDeletedByClusterAutoscaler=1:NoSchedule dedicated:NoSchedule", "NoSensibleChange ToBeDeletedByClusterAutoscaler", "a node that is about to go needs no pod"},
		{demand{}, "", "aws-node-termination-handler/spot-itn=x:NoSchedule dedicated:NoSchedule", "NoSensibleChange aws-node-termination-handler/spot-itn", "nor one whose instance is reclaimed, whatever the handler calls it"},
		{demand{}, "", "cloud.google.com/impending-node-termination:NoSchedule", "NoSensibleChange cloud.google.com/impending-node-termination", "on Google Cloud either"},
		{demand{}, "", "remediator.kubernetes.azure.com/unschedulable:NoSchedule", "NoSensibleChange remediator.kubernetes.azure.com/unschedulable", "or on Azure"},
		{demand{}, "", "karpenter.sh/disrupted:NoSchedule", "NoSensibleChange karpenter.sh/disrupted", "or that Karpenter replaces"},
		{demand{}, "", "NodeWithImpairedVolumes=true:NoSchedule ebs.csi.aws.com/agent-not-ready:NoSchedule readiness.k8s.io/storage=pending:NoSchedule", "RepairNode NodeWithImpairedVolumes; RepairNode ebs.csi.aws.com/agent-not-ready; RepairNode readiness.k8s.io/storage", "a fault, and what waits for something, is no place for a pod yet"},
		{demand{}, "", "startup-taint.cluster-autoscaler.kubernetes.io/x:NoSchedule", "RepairNode startup-taint.cluster-autoscaler.kubernetes.io/x", "all keys of a domain"},
		{demand{}, "", "example.com/agent-not-ready-x:NoSchedule", `AddToleration example.com/agent-not-ready-x Exists "" NoSchedule`, "but no key that only begins so"},
		{demand{}, "", "example.com/karpenter.sh:NoSchedule", `AddToleration example.com/karpenter.sh Exists "" NoSchedule`, "nor a name like a domain"},
		{demand{}, "", "node-role.kubernetes.io/control-plane:NoSchedule", `AddToleration node-role.kubernetes.io/control-plane Exists "" NoSchedule`, "the control plane is a place for agents"},
		{demand{affinity: "metadata.name Exists, field In n1"}, "", "", "AddAffinityTerm", "a label that is called like the field does not change it"},
		{demand{affinity: "metadata.name NotIn true, metadata.name Exists, field In n0"}, "", "", "AddAffinityTerm", "nor does the field give that label a value"},
		{demand{affinity: "cores In 9, size Gt 5"}, "cores=9 size=5", "", "SetLabel size=6", "what one label may be is no value for another"},
		{demand{affinity: "disk In ssd, gpu Exists | zone In z1"}, "", "", "SetLabel zone=z1", "the term that asks for the fewest labels"},
		{demand{affinity: "disk In ssd | disk In hdd"}, "", "", "SetLabel disk=ssd", "of equal ones the first"},
		{demand{selector: map[string]string{"disk": "ssd"}, affinity: "disk In hdd | gpu Exists"}, "", "", "SetLabel disk=ssd; SetLabel gpu=true", "a label that the selector wants is not set twice"},
		{demand{selector: map[string]string{"disk": "ssd"}, affinity: "disk In hdd"}, "disk=ssd", "", "AddAffinityTerm", "nor taken away for a term"},
		{demand{selector: map[string]string{"disk": "ssd"}, affinity: "disk In ssd"}, "", "", "SetLabel disk=ssd", "one label can meet both"},
		{demand{nodeName: "n1", selector: map[string]string{"disk": "ssd"}, affinity: "gpu Exists"}, "", "a:NoSchedule", `SetLabel disk=ssd; SetLabel gpu=true; AddToleration a Exists "" NoSchedule; RemoveNodeName`, "all that stands in the way, what harms least first"},
	} {
		whys.run(t, tt.why, func(t *testing.T) {
			p, n := tt.asks.placement(t), nodeOf(t, tt.labels, tt.taints)
			before := n.DeepCopy()
			if diff := cmp.Diff(tt.want, text(p.Remedies(n))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, n); diff != "" {
				t.Errorf("the node itself was changed:\n%s", diff)
			}
		})
	}
}

// TestFewest tests which of several tolerations remain.
func TestFewest(t *testing.T) {
	equal := func(key, value, effect string) corev1.Toleration {
		return corev1.Toleration{Key: key, Operator: corev1.TolerationOpEqual, Value: value, Effect: corev1.TaintEffect(effect)}
	}
	any := func(key, effect string) corev1.Toleration {
		return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffect(effect)}
	}
	for _, tt := range []struct {
		of, want []corev1.Toleration
		why      string
	}{
		{nil, nil, "none of none"},
		{[]corev1.Toleration{equal("a", "x", "NoSchedule"), any("b", "NoSchedule"), equal("a", "x", "NoSchedule"), any("b", "NoSchedule")}, []corev1.Toleration{equal("a", "x", "NoSchedule"), any("b", "NoSchedule")}, "each once"},
		{[]corev1.Toleration{equal("a", "x", "NoSchedule"), equal("a", "y", "NoSchedule"), any("a", "NoSchedule")}, []corev1.Toleration{any("a", "NoSchedule")}, "any value includes each value"},
		{[]corev1.Toleration{equal("a", "x", "NoSchedule"), any("a", "NoExecute"), any("b", "NoSchedule")}, []corev1.Toleration{equal("a", "x", "NoSchedule"), any("a", "NoExecute"), any("b", "NoSchedule")}, "but only of the same key and effect"},
	} {
		if diff := cmp.Diff(tt.want, Fewest(tt.of)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
}

// TestOfTemplate tests which changes start a rollout.
func TestOfTemplate(t *testing.T) {
	for kind, want := range map[RemedyKind]bool{
		AddToleration: true, AddAffinityTerm: true, RemoveNodeName: true,
		SetLabel: false, RemoveLabel: false, SelectEveryNode: false, RepairNode: false, NoSensibleChange: false,
	} {
		if got := (Remedy{Kind: kind}).OfTemplate(); got != want {
			t.Errorf("%s: %t, want %t", kind, got, want)
		}
	}
}
