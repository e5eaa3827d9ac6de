package fit

// Reason is the scheduler's plugin that rejects a node, under the scheduler's name
// for it.
type Reason string

const (
	NodeUnschedulable Reason = "NodeUnschedulable" // the node is cordoned, and the pod does not tolerate that
	TaintToleration   Reason = "TaintToleration"   // a taint with NoSchedule or NoExecute is not tolerated: Taint
	NodeAffinity      Reason = "NodeAffinity"      // the node selector or the required node affinity does not match
	NodePorts         Reason = "NodePorts"         // a host port is taken: Ports
	NodeResourcesFit  Reason = "NodeResourcesFit"  // a resource, or the number of pods, does not suffice: Lacks
	NodeVolumeLimits  Reason = "NodeVolumeLimits"  // the CSI driver cannot attach another volume to the node: Volume
	// the PersistentVolume of a claim cannot be reached from the node: Volume
	VolumeBinding Reason = "VolumeBinding"
	VolumeZone    Reason = "VolumeZone" // a label of a PersistentVolume names another zone or region: Volume
)

// Reasons are all reasons, in the order of the scheduler's filters: only the
// first that rejects is reported.
var Reasons = []Reason{NodeUnschedulable, TaintToleration, NodeAffinity, NodePorts, NodeResourcesFit, NodeVolumeLimits,
	VolumeBinding, VolumeZone}

// Unmodelled is something of a pod that the scheduler looks at, and that no verdict
// here does: a pod that fits by it may still not be scheduled.
type Unmodelled string

const (
	InterPodAffinity     Unmodelled = "InterPodAffinity"     // required affinity to other pods
	InterPodAntiAffinity Unmodelled = "InterPodAntiAffinity" // required anti-affinity to other pods
	// required anti-affinity of other pods to this one, which nobody reads
	AntiAffinityOfOthers Unmodelled = "AntiAffinityOfOthers"
	TopologySpread       Unmodelled = "TopologySpread" // a spread constraint with DoNotSchedule
	// an inline volume that only one pod can have, or a claim with ReadWriteOncePod
	VolumeRestrictions Unmodelled = "VolumeRestrictions"
	UnboundClaims      Unmodelled = "UnboundClaims"  // a claim of whose volume nothing was given
	ResourceClaims     Unmodelled = "ResourceClaims" // devices by dynamic resource allocation

	// RuntimeClassScheduling: a RuntimeClass, whose node selector, tolerations and overhead are merged at admission, is
	// named, and the pod has no overhead of one
	RuntimeClassScheduling Unmodelled = "RuntimeClassScheduling"

	// it names its node: it passes by the scheduler, and a kubelet that has no room rejects it
	NodeName        Unmodelled = "NodeName"
	SchedulerName   Unmodelled = "SchedulerName"   // another scheduler than default-scheduler decides
	SchedulingGates Unmodelled = "SchedulingGates" // the scheduler does not look at the pod until its gates are removed
	SchedulingGroup Unmodelled = "SchedulingGroup" // the pod is scheduled together with others

	// NodeDeclaredFeatures: it needs a feature that a node must declare in its status, from v1.35 on and where the
	// scheduler has that on
	NodeDeclaredFeatures Unmodelled = "NodeDeclaredFeatures"

	// DeviceClasses: the node offers none of an extended resource, and since v1.34 a DeviceClass can stand for it
	DeviceClasses Unmodelled = "DeviceClasses"
)

// UnmodelledCodes are all of them.
var UnmodelledCodes = []Unmodelled{
	InterPodAffinity, InterPodAntiAffinity, AntiAffinityOfOthers, TopologySpread, VolumeRestrictions, UnboundClaims,
	ResourceClaims, RuntimeClassScheduling, NodeName,
	SchedulerName, SchedulingGates, SchedulingGroup, NodeDeclaredFeatures, DeviceClasses,
}

// Outcome is what preemption does for a pod on a node.
type Outcome string

const (
	NotNeeded  Outcome = "NotNeeded"  // the pod fits
	Possible   Outcome = "Possible"   // removing the victims makes room
	CannotHelp Outcome = "CannotHelp" // no removal of pods cures the reason
	Never      Outcome = "Never"      // the pod's preemptionPolicy is Never

	// WaitsForVictims: the node is nominated for the pod already, and pods that it preempted are still terminating
	// there
	WaitsForVictims Outcome = "WaitsForVictims"

	NothingLower      Outcome = "NothingLower"      // no pod on the node has a lower priority
	StillDoesNotFit   Outcome = "StillDoesNotFit"   // not even without all pods of lower priority
	VictimsNotCounted Outcome = "VictimsNotCounted" // it depends on the volumes of the pods there, which are not known
)

// Outcomes are all outcomes.
var Outcomes = []Outcome{NotNeeded, Possible, CannotHelp, Never, WaitsForVictims, NothingLower, StillDoesNotFit,
	VictimsNotCounted}
