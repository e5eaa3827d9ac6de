package fit

// Reason is the scheduler's plugin that rejects a node.
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

// Reasons lists every Reason in the order of the scheduler's filters. Only the
// first that rejects is reported.
var Reasons = []Reason{NodeUnschedulable, TaintToleration, NodeAffinity, NodePorts, NodeResourcesFit, NodeVolumeLimits,
	VolumeBinding, VolumeZone}

// Unmodelled is a property of a pod that the scheduler checks and this package
// does not: a pod that fits may still not be scheduled.
type Unmodelled string

const (
	InterPodAffinity     Unmodelled = "InterPodAffinity"     // required affinity to other pods
	InterPodAntiAffinity Unmodelled = "InterPodAntiAffinity" // required anti-affinity to other pods
	// required anti-affinity of other pods to this pod, because it is not read
	AntiAffinityOfOthers Unmodelled = "AntiAffinityOfOthers"
	TopologySpread       Unmodelled = "TopologySpread" // a spread constraint with DoNotSchedule
	// an inline volume that only one pod can use, or a claim with
	// ReadWriteOncePod
	VolumeRestrictions Unmodelled = "VolumeRestrictions"
	UnboundClaims      Unmodelled = "UnboundClaims"  // a claim whose volume is unknown
	ResourceClaims     Unmodelled = "ResourceClaims" // devices from dynamic resource allocation

	// RuntimeClassScheduling: the pod names a RuntimeClass but has no overhead from it; admission adds the
	// node selector, the tolerations and the overhead of the class
	RuntimeClassScheduling Unmodelled = "RuntimeClassScheduling"

	// it names its node: it bypasses the scheduler, and a kubelet without room
	// rejects it
	NodeName        Unmodelled = "NodeName"
	SchedulerName   Unmodelled = "SchedulerName"   // a scheduler other than default-scheduler decides
	SchedulingGates Unmodelled = "SchedulingGates" // the scheduler ignores the pod until its gates are removed
	SchedulingGroup Unmodelled = "SchedulingGroup" // the pod is scheduled together with others

	// NodeDeclaredFeatures: it needs a feature that a node must declare in its
	// status, since v1.35 and if the scheduler's feature gate is on
	NodeDeclaredFeatures Unmodelled = "NodeDeclaredFeatures"

	// DeviceClasses: the node does not offer an extended resource, and since
	// v1.34 a DeviceClass can provide it
	DeviceClasses Unmodelled = "DeviceClasses"
)

// UnmodelledCodes lists every Unmodelled.
var UnmodelledCodes = []Unmodelled{
	InterPodAffinity, InterPodAntiAffinity, AntiAffinityOfOthers, TopologySpread, VolumeRestrictions, UnboundClaims,
	ResourceClaims, RuntimeClassScheduling, NodeName,
	SchedulerName, SchedulingGates, SchedulingGroup, NodeDeclaredFeatures, DeviceClasses,
}

// Outcome is the result of preemption for a pod on a node.
type Outcome string

const (
	NotNeeded  Outcome = "NotNeeded"  // the pod fits
	Possible   Outcome = "Possible"   // removing the victims makes room
	CannotHelp Outcome = "CannotHelp" // removing pods does not resolve the rejection
	Never      Outcome = "Never"      // the pod's preemptionPolicy is Never

	// WaitsForVictims: the node is already nominated for the pod, and the pods
	// that it preempted are still terminating there
	WaitsForVictims Outcome = "WaitsForVictims"

	NothingLower      Outcome = "NothingLower"      // no pod on the node has a lower priority
	StillDoesNotFit   Outcome = "StillDoesNotFit"   // the pod does not fit even without all pods of lower priority
	VictimsNotCounted Outcome = "VictimsNotCounted" // this depends on the unknown volumes of the pods there
)

// Outcomes lists every Outcome.
var Outcomes = []Outcome{NotNeeded, Possible, CannotHelp, Never, WaitsForVictims, NothingLower, StillDoesNotFit,
	VictimsNotCounted}
