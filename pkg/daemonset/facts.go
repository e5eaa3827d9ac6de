package daemonset

import "time"

// FactKeys documents every key of Facts: its type and what it holds. A key is
// absent if the cluster does not provide the value.
type FactKeys struct {
	// the labels in the nodeSelector of a pod that were added at admission: its template does not have them,
	// and neither does its node
	Added   []string `json:"added"`
	AddedBy string   `json:"addedBy"` // the annotation of the pod that says who added the container to it

	After time.Time `json:"after"` // the time after which a rollback restored the revision

	// the next pod gets `added` again; false if the namespace no longer
	// requires it, otherwise absent
	Again bool `json:"again"`

	// `replaced` is for the worst order of the nodes, which the controller
	// picks at random; absent if it is certain
	AtWorst bool `json:"atWorst"`

	// how much of the first of `resources` the node can allocate, such as `16Gi`
	Allocatable string `json:"allocatable"`

	// the annotation of the namespace that selects nodes; absent if the controller's default selects them.
	// With `added` but without `selector` and `again`, the namespace lacks the annotation
	Annotation string `json:"annotation"`

	// true if a toleration that the controller adds tolerates the taint; false if one of the template does
	Automatic   bool      `json:"automatic"`
	Awaited     []string  `json:"awaited"`     // the pods that have to terminate first, as `namespace/name`
	Available   int       `json:"available"`   // the number in the status
	AvailableAt time.Time `json:"availableAt"` // when the pod becomes available if it stays ready
	Attached    int       `json:"attached"`    // how many volumes of the CSI driver the node has
	Basis       string    `json:"basis"`       // the source of the numbers: `Computed` or `Reported`

	// the code of [placement](#placement) that says why the node is not eligible
	Because string `json:"because"`

	// the number of the newest revision whose template makes a node eligible
	Before int  `json:"before"`
	Beyond bool `json:"beyond"` // the pod requests more of the first of `resources` than the whole node has

	// the application, release or object of a tool; empty if unknown
	By string `json:"by"`

	// why no node is eligible: `Template`, the template changed between two revisions that are kept
	// (`number`, `before`); `NotTemplate`, no such change exists, so the nodes changed, or no node was ever
	// eligible; `Unknown`, the revisions could not be read
	Changed    string   `json:"changed"`
	Claim      string   `json:"claim"`      // the PersistentVolumeClaim of the pod
	ClockSkew  int      `json:"clockSkew"`  // how many seconds the pod's Ready time is ahead of the clock
	Conditions []string `json:"conditions"` // the readiness gates of the template that are not True
	Container  string   `json:"container"`  // its name

	// the node was cordoned, not later than 5 minutes after it became NotReady; otherwise absent
	Cordoned      bool      `json:"cordoned"`
	CordonedSince time.Time `json:"cordonedSince"` // when that was

	// how many pods the next step deletes; for a collision, how many there were
	Count         int       `json:"count"`
	DeletionAsked time.Time `json:"deletionAsked"` // when the deletion was requested
	Desired       int       `json:"desired"`       // the number in the status
	Document      int       `json:"document"`      // which document of the file, from 1
	Driver        string    `json:"driver"`        // the CSI driver of the volume
	Effect        string    `json:"effect"`        // the effect of the taint

	// how many nodes would be eligible with the template of revision `before`
	Eligible   int       `json:"eligible"`
	EndsBy     time.Time `json:"endsBy"`     // when the last of their grace periods ends
	Events     int       `json:"events"`     // how often it happened, according to the event
	EventsRead bool      `json:"eventsRead"` // the events were read, so a rejection would have been seen

	// the field of the DaemonSet that shows it:
	// `metadata.labels[argocd.argoproj.io/instance]`,
	// `metadata.managedFields[manager=helm]`
	Evidence string `json:"evidence"`
	Excluded bool   `json:"excluded"` // all of the nodes are `ExcludedButCounted`; otherwise absent
	ExitCode int    `json:"exitCode"` // the exit code of the container's last exit
	Failures int    `json:"failures"` // how often a pod failed on the node, by the controller's events
	Fault    string `json:"fault"`    // one of the [faults of an image](#faults-of-an-image)

	// the rule that excludes the nodes of `nearest`. `NodeName`: the template names another node.
	// `NodeSelector`, `NodeAffinity`, `Namespace`: their labels do not match. `Taint`: the template does not
	// tolerate a taint. `NodeCondition`: the taint comes and goes with a condition of the node.
	// `NodeUnsuitable`: the taint means that the node is being removed, or runs no DaemonSet
	ExcludedBy string `json:"excludedBy"`

	// the field of the DaemonSet and its value, empty for `VanishedNodeInSurge`; for `NextRolloutStalls`, the
	// field that sets the limit: `maxUnavailable` or `maxSurge`; for a reference, the field of the pod that
	// refers to the object: `env`, `envFrom`, `volumes`, `imagePullSecrets`
	Field string `json:"field"`

	// the numbers that differ; for `NoEligibleNode`, the fields of the pod's spec that differ and decide on
	// placement: `nodeName`, `nodeSelector`, `affinity`, `tolerations`, `hostNetwork`
	Fields     []string `json:"fields"`
	File       string   `json:"file"`       // as given; `standard input` for `-`
	Finalizers []string `json:"finalizers"` // the finalizers that keep the object
	// the kind and the name of an object that a kubelet did not find, and that exists now
	Found      string   `json:"found"`
	Free       string   `json:"free"`       // how much of the first of `resources` the node has left
	From       int      `json:"from"`       // the number that the revision has
	Generation int      `json:"generation"` // the generation of the spec
	Got        string   `json:"got"`        // the value of the node's label
	Hashes     []string `json:"hashes"`     // the hashes of pods; one may be empty

	// why the controller writes no status: `FailedCreate`, `InvalidBudget` or `VanishedNodeInSurge` for a
	// version before 1.27.0, 1.26.1 and 1.25.6, which writes none after a failed sync; `BeingDeleted` or
	// `SelectsAll` for any version
	HeldUpBy string `json:"heldUpBy"`
	// the workload whose pods use the host port: `owner` without the suffix that a controller adds to the
	// names of its pods
	Holder  string `json:"holder"`
	Holders int    `json:"holders"` // how many nodes use up the limit
	Image   string `json:"image"`   // as in the template
	Init    bool   `json:"init"`    // it is an init container

	ImageBefore string `json:"imageBefore"` // the image of the container before the change
	ImageMeant  string `json:"imageMeant"`  // the image that was probably intended

	// the requirement of the node affinity is about a field of the node, not a label
	IsField bool `json:"isField"`

	// the names of the revisions that the controller may keep; if there are several, it keeps one at random
	Keep []string `json:"keep"`
	Kept int      `json:"kept"` // how many revisions there are

	// the key of the label or the taint; the key in a manifest, empty if it is not a plain word; the key that
	// a ConfigMap or Secret lacks, absent if there is no such object
	Key string `json:"key"`
	// the kind of an object that does not exist or lacks a key: one of the [referred kinds](#referred-kinds)
	Kind          string    `json:"kind"`
	Last          time.Time `json:"last"`          // the last time
	LastHeartbeat time.Time `json:"lastHeartbeat"` // when the kubelet last wrote the condition

	// labels that the template requires and that no node has: all from the nodeSelector for `NodeSelector`,
	// one from each term for `NodeAffinity`; absent if there are none
	Labels []string `json:"labels"`

	// the pod takes longer to become ready than any other pod of the DaemonSet did
	Late bool `json:"late"`
	// the state of the Lease of kube-controller-manager: `Alive` or `Expired`;
	// absent if it was not read
	Lease  string `json:"lease"`
	Lifted bool   `json:"lifted"` // the API server rejected pods, and would admit one now; otherwise absent
	Like   int    `json:"like"`   // the number of the revision that holds the same template

	// the limit of the rolling update, in nodes; for revisions, how many old ones are kept; for a CSI driver,
	// how many volumes it attaches to the node
	Limit  int `json:"limit"`
	Line   int `json:"line"`   // the line in the file, from 1
	Losing int `json:"losing"` // how many nodes lose their pod without replacement
	// the image in the template, if the pod has another one; otherwise absent
	TemplateImage string `json:"templateImage"`
	Limited       bool   `json:"limited"`    // the container has a memory limit
	LimitRange    bool   `json:"limitRange"` // its memory limit is the default of a LimitRange

	// the node is NotReady until its pod works, because the pods of this
	// DaemonSet install its network plugin; otherwise absent
	NodeWaits bool `json:"nodeWaits"`

	// when the first of the failing nodes joined; they are all younger than the nodes on which the pod works
	Joined time.Time `json:"joined"`
	// when the first of the pods stopped being Ready, if all of them stopped within one minute
	Stopped      time.Time `json:"stopped"`
	HostPath     string    `json:"hostPath"`     // the path of the node that the volume mounts
	HostPathType string    `json:"hostPathType"` // the type in the template, such as `Directory`
	OSImage      string    `json:"osImage"`      // the operating system of the nodes, as reported by their kubelets
	AddedLabel   string    `json:"addedLabel"`   // a label of the pod that its template does not have
	// the pods that the scheduler would evict for a pod of PriorityClass system-node-critical
	Evicts []string `json:"evicts"`
	// the condition that these nodes report, with its status, and that no node
	// with a working pod reports
	NodeReports    string `json:"nodeReports"`
	MaxUnavailable string `json:"maxUnavailable"` // the value in the PodDisruptionBudget, as written: `1`, `10%`

	// the message of the kubelet, the scheduler, the API server or a program
	Message string `json:"message"`
	// different messages on other nodes: at most two; otherwise absent
	FurtherMessages []string `json:"furtherMessages"`
	MemoryLimit     string   `json:"memoryLimit"`     // the memory limit of the container
	MinAvailable    string   `json:"minAvailable"`    // the value in the PodDisruptionBudget, as written
	MinReadySeconds int      `json:"minReadySeconds"` // the value in the DaemonSet

	// the name of the PodDisruptionBudget, of the ControllerRevision with the same content, of the object
	// that rejects a pod, or of the object that the template refers to
	Name string `json:"name"`
	// the version is known not to notice that a taint was added or removed; otherwise absent
	Missed bool     `json:"missed"`
	Names  []string `json:"names"` // the names of ControllerRevisions

	// the nodes that fail the fewest rules of placement, sorted by name
	Nearest []string `json:"nearest"`

	// the fields of SecurityContextConstraints that would allow the pod,
	// according to the message: `allowHostNetwork`
	Needs []string `json:"needs"`

	// how many of the new pods have this problem; in a verdict, how many have a
	// failing container
	NewFailing int `json:"newFailing"`

	// how many new pods there are; a verdict leaves out those on NotReady nodes
	NewPods int `json:"newPods"`
	Nodes   int `json:"nodes"` // how many nodes the cluster has
	// the node lacks the path that the volume mounts, or the path has another type; otherwise absent
	NoHostPath    bool   `json:"noHostPath"`
	NoRoutes      bool   `json:"noRoutes"`      // the node has the condition NetworkUnavailable; otherwise absent
	NetworkReason string `json:"networkReason"` // the reason of that condition
	// nodes are NotReady because no network plugin works there; otherwise absent
	NoNetwork bool `json:"noNetwork"`

	// for a node that loses its pod because of a label, how many nodes have
	// that label with that value
	NodesWith int `json:"nodesWith"`

	// the number of the revision; for `NoEligibleNode`, of the first revision whose template makes no node
	// eligible
	Number   int      `json:"number"`
	Numbers  []string `json:"numbers"`  // the numbers of missing revisions: `3`, `5-7`
	Observed int      `json:"observed"` // the generation that the status is for
	OneNode  bool     `json:"oneNode"`  // ReadWriteOnce is the only access mode of the claim; otherwise absent
	// the node has the taint node.kubernetes.io/out-of-service, so the pod is force-deleted; otherwise absent
	OutOfService bool `json:"outOfService"`
	Of           int  `json:"of"` // the number of the revision with the same content

	// how many of the old pods have this problem; in a verdict, how many have a
	// failing container
	OldFailing int `json:"oldFailing"`
	OldNodes   int `json:"oldNodes"` // nodes with an old pod that is not terminating

	// how many old pods there are; a verdict leaves out those on NotReady nodes
	OldPods int `json:"oldPods"`

	// the operator of the requirement: `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt`, `Lt`
	Operator string   `json:"operator"`
	Others   int      `json:"others"`   // how many more rules fail; how many other pods the node has
	OnNodes  []string `json:"onNodes"`  // the nodes concerned, sorted by name
	Outdated int      `json:"outdated"` // how many pods are not updated at that time
	Patience int      `json:"patience"` // the age in seconds from which a late pod is expected to stay as it is
	Overdue  bool     `json:"overdue"`  // the deletionTimestamp is more than 5 minutes ago

	// `Kind/name` of the object that controls the pod; `namespace/name` of the pod that uses the host port
	Owner string `json:"owner"`
	// the namespace of the pod that uses the host port
	OwnerNamespace string `json:"ownerNamespace"`
	OwnerName      string `json:"ownerName"` // its name
	// the PersistentVolume that the claim is bound to
	PersistentVolume string `json:"persistentVolume"`
	// the scheduler's [plugin](#plugins-of-the-scheduler) that rejects the node
	Plugin string `json:"plugin"`
	Pods   int    `json:"pods"` // how many pods are old; in a note, how many pods it concerns
	// the platform of the nodes: an operating system, an architecture, or both: `linux`, `arm64`,
	// `linux/arm64`
	Platform string `json:"platform"`

	// the operating systems or architectures of the nodes with an available pod, or of the eligible nodes
	Platforms  []string `json:"platforms"`
	Ports      []string `json:"ports"`      // for example `8080/TCP`
	Preemption string   `json:"preemption"` // the effect of [preemption](#preemption)
	// which probe fails, according to an event: `startup` or `liveness`;
	// otherwise absent
	Probe     string `json:"probe"`
	Predicted bool   `json:"predicted"` // it follows from the rules, not from an event; otherwise absent
	Present   bool   `json:"present"`   // the node has the label

	// the node condition that shows that the node is down on purpose: one of the five conditions of
	// KEP-5683, such as `DrainInProgress`
	Purpose       string    `json:"purpose"`
	PurposeReason string    `json:"purposeReason"` // its reason
	PurposeSince  time.Time `json:"purposeSince"`  // since when the condition is True

	// from which nodes the volume can be attached: `topology.kubernetes.io/zone=a`
	Reachable string `json:"reachable"`
	Ready     bool   `json:"ready"` // the pod is available now; otherwise absent

	// the reason of the pod, the container or the node condition, as in the
	// API; for `NextRolloutStalls`, [why](#why-a-rollout-does-not-complete)
	Reason     string   `json:"reason"`
	Rejects    string   `json:"rejects"`    // one of the [reasons of a refusal](#reasons-of-a-refusal)
	Relabelled int      `json:"relabelled"` // how many pods get another hash
	Remove     []string `json:"remove"`     // the names of the revisions that the controller deletes

	Renewed time.Time `json:"renewed"` // when the Lease was last renewed

	// how many old pods are replaced until then, or deleted without replacement
	Replaced int `json:"replaced"`
	Replaces int `json:"replaces"` // how many old pods there are
	// how much of the first of `resources` the pod requests, such as `30Gi`
	Requested string   `json:"requested"`
	Resources []string `json:"resources"` // the insufficient resources: `cpu`, `memory`, `pods`
	// how often the container restarted; in a note, how many revisions are restarts
	Restarts  int    `json:"restarts"`
	Revision  string `json:"revision"`  // the ControllerRevision of the pod; empty if there is none
	Revisions int    `json:"revisions"` // how many revisions equal the live template
	Selector  string `json:"selector"`  // the node selector of the namespace: `pool=infra`
	SetBy     string `json:"setBy"`     // the field manager that set `purpose`
	Slot      string `json:"slot"`      // the node's [slot](#slots)
	// the container is an init container that keeps running; otherwise absent
	Sidecar      bool      `json:"sidecar"`
	SlowestStart int       `json:"slowestStart"` // how many seconds the slowest of the other pods took
	StartedAt    time.Time `json:"startedAt"`    // when the container was started
	// how many other pods were ready within `slowestStart` of their creation
	Starts int    `json:"starts"`
	Status string `json:"status"` // the status of the node's Ready condition: `False` or `Unknown`

	// the fields by which the template selects some of the nodes, ignoring the
	// operating system and the architecture: `nodeSelector`, `affinity`
	Selects []string `json:"selects"`

	// how many nodes keep a pod although no node is eligible, even after all work in progress has finished;
	// the next rollout deletes these pods
	Staying int  `json:"staying"`
	Stays   bool `json:"stays"` // the pod may stay where it is

	// how many nodes of `without` count in AVAILABLE, because their pod is terminating
	StillCounted int `json:"stillCounted"`
	// the event after which the pod is not recreated because of the taint: `UnderWay`, the rollout in
	// progress; `Next`, the next rollout; `Deletion`, under OnDelete, a manual deletion. Absent if there is
	// none
	StrandedBy  string `json:"strandedBy"`
	Taint       string `json:"taint"`       // `key=value:effect`
	Term        int    `json:"term"`        // which term of the node affinity, from 1
	Terminating bool   `json:"terminating"` // every pod on the node is terminating already; otherwise absent
	Terms       int    `json:"terms"`       // how many terms the node affinity has
	To          int    `json:"to"`          // the number that the revision gets

	Taints []string `json:"taints"` // the taints that the template does not tolerate, each as `taint`

	Topmost bool `json:"topmost"` // no pod on the node has a lower priority than system-node-critical; otherwise absent

	// the evidence: `ManagedFields`, the managed fields have the time; `Order`, revisions with lower numbers
	// are younger
	Told     string `json:"told"`
	Tool     string `json:"tool"`     // one of the [tools](#tools)
	Uncalled bool   `json:"uncalled"` // the webhook could not be called; otherwise absent
	// the strictest Pod Security level that admits the pod; absent unless Pod
	// Security rejected it
	Admits  string `json:"admits"`
	Service string `json:"service"` // the Service of the webhook; absent if the webhook is called by URL

	ServiceNamespace string `json:"serviceNamespace"` // its namespace
	Unavailable      int    `json:"unavailable"`      // the number in the status
	Updated          int    `json:"updated"`          // the number in the status
	Used             int    `json:"used"`             // how many nodes use up the limit
	// the requirement can be parsed; otherwise it matches no node or, as the
	// node selector of a namespace, every node
	Valid    bool     `json:"valid"`
	Value    string   `json:"value"`    // the value of the taint
	Values   []string `json:"values"`   // the values in the requirement
	Variable string   `json:"variable"` // the environment variable that refers to a key
	Volume   string   `json:"volume"`   // the volume that refers to the object
	Want     string   `json:"want"`     // what the template requires
	Was      int      `json:"was"`      // the first number; 0 if that is not certain

	// `TakenUpAgain`: rollbacks renumbered these revisions. `Unknown`: the revisions were renumbered, cleaned
	// up or deleted
	Why string `json:"why"`

	Rule string `json:"rule"` // one of the [rules of admission](#rules-of-admission)

	// eligible nodes without an available pod, not counting terminating pods
	Without int  `json:"without"`
	Working bool `json:"working"` // some of the pods replaced until then are available now; otherwise absent
}
