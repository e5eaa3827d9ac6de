package stage

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// Behaviour is how the kubelet handles a pod. By default, a pod becomes ready within a second and
// is gone within half a second after its deletion.
type Behaviour string

// Behaviours. All except Ready and Undead leave the pod unready, with the status and events that a
// real kubelet writes.
const (
	Ready            Behaviour = "ready"
	Crash            Behaviour = "crash"        // the first container exits with 1 repeatedly; after five restarts there is a long back-off
	OOMKilled        Behaviour = "oom"          // the same with 137 and OOMKilled
	InitCrash        Behaviour = "init-crash"   // the first init container exits with 1 repeatedly
	ImagePullBackOff Behaviour = "image-pull"   // the image of the first container is not found
	ProbeFails       Behaviour = "probe-fails"  // runs, but its readiness probe fails
	ConfigError      Behaviour = "config-error" // a Secret for the environment of the first container is missing
	NoSandbox        Behaviour = "no-sandbox"   // the network plugin cannot set up the pod
	NoVolume         Behaviour = "no-volume"    // a Secret for a volume is missing
	Evicted          Behaviour = "evicted"      // the pod is evicted because of memory pressure
	Undead           Behaviour = "undead"       // ready, but does not end when deleted
)

// BehaveLabel is the label of a pod or its template that selects a behaviour. It takes precedence
// over rules.
const BehaveLabel = "stage.test/behave"

// Annotations of a pod or its template. Times are in the notation of time.Duration.
const (
	// ReadyAfter and ReadyBefore limit the time from creation to readiness, which is random. The
	// default is 0.2 s to 0.6 s. With ReadyAfter alone, the time is exact.
	ReadyAfter  = "stage.test/ready-after"
	ReadyBefore = "stage.test/ready-before"
	// StopAfter and StopBefore limit the time from deletion to the end in the same way. The default
	// is 0.1 s to 0.3 s.
	StopAfter  = "stage.test/stop-after"
	StopBefore = "stage.test/stop-before"
	// Message is the last message of a crashing container, or the output of a probe.
	Message = "stage.test/message"
)

// Rule assigns a behaviour to the pods that match all its fields. Empty fields match every pod.
type Rule struct {
	Node      string // the pod is on this node
	Namespace string
	DaemonSet string // the DaemonSet owns the pod
	Image     string // a container has this image
	Behave    Behaviour
}

// SetRules replaces the rules. The first matching rule applies, also to running pods. The kubelets
// restart, so they are silent for a moment.
func (c *Cluster) SetRules(ctx context.Context, rules ...Rule) error {
	c.rules = rules
	if err := c.writeStages(); err != nil {
		return err
	}
	if err := c.StopProgram(Kwok); err != nil {
		return err
	}
	if err := c.StartProgram(ctx, Kwok); err != nil {
		return err
	}
	return c.waitForLeases(ctx)
}

// PodReady reports whether the pod's Ready condition is true.
func PodReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// behaviourQuery returns the jq expression for a pod's behaviour under the rules.
func behaviourQuery(rules []Rule) string {
	quote := func(s string) string { // a jq string is a JSON string
		data, _ := json.Marshal(s)
		return string(data)
	}
	chain := quote(string(Ready))
	for i := len(rules) - 1; i >= 0; i-- {
		r := rules[i]
		tests := []string{"true"}
		if r.Node != "" {
			tests = append(tests, "(.spec.nodeName == "+quote(r.Node)+")")
		}
		if r.Namespace != "" {
			tests = append(tests, "(.metadata.namespace == "+quote(r.Namespace)+")")
		}
		if r.DaemonSet != "" {
			tests = append(tests, "any(.metadata.ownerReferences[]?; .kind == \"DaemonSet\" and .name == "+quote(r.DaemonSet)+")")
		}
		if r.Image != "" {
			tests = append(tests, "any(.spec.containers[]; .image == "+quote(r.Image)+")")
		}
		chain = fmt.Sprintf("if %s then %s else %s end", strings.Join(tests, " and "), quote(string(r.Behave)), chain)
	}
	return fmt.Sprintf(".metadata.labels[%q] // (%s)", BehaveLabel, chain)
}

// writeStages writes kwok's configuration: the behaviour of kubelets as kwok Stages.
func (c *Cluster) writeStages() error {
	var docs []string
	for _, s := range stages(behaviourQuery(c.rules)) {
		data, err := yaml.Marshal(s)
		if err != nil {
			return err
		}
		docs = append(docs, string(data))
	}
	return os.WriteFile(c.path("stages.yaml"), []byte(strings.Join(docs, "---\n")), 0o600)
}

// The used part of kwok's Stage type (kwok.x-k8s.io/v1alpha1): when an object matches, the steps
// are performed after the delay.
type kwokStage struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Metadata   kwokMetadata `json:"metadata"`
	Spec       kwokSpec     `json:"spec"`
}

type kwokMetadata struct {
	Name string `json:"name"`
}

type kwokSpec struct {
	ResourceRef kwokRef      `json:"resourceRef"`
	Selector    kwokSelector `json:"selector"`
	Delay       *kwokDelay   `json:"delay,omitempty"`
	Steps       []kwokStep   `json:"steps"`
	// ImmediateNextStage uses the result of a patch and not only what the watch delivers. Without
	// it kwok can skip a pod: when it takes over a node, it lists the node's pods again, and a list
	// older than the watch replaces the step that was due.
	ImmediateNextStage bool `json:"immediateNextStage"`
}

type kwokRef struct {
	APIGroup string `json:"apiGroup"`
	Kind     string `json:"kind"`
}

type kwokSelector struct {
	MatchExpressions []kwokMatch `json:"matchExpressions"`
}

type kwokMatch struct {
	JQ kwokJQ `json:"jq"`
}

type kwokJQ struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitempty"`
}

type kwokDelay struct {
	DurationMilliseconds       int       `json:"durationMilliseconds"`
	DurationFrom               *kwokFrom `json:"durationFrom,omitempty"`
	JitterDurationMilliseconds int       `json:"jitterDurationMilliseconds,omitempty"` // the upper bound, not an addition
	JitterDurationFrom         *kwokFrom `json:"jitterDurationFrom,omitempty"`
}

type kwokFrom struct {
	JQ struct {
		Expression string `json:"expression"`
	} `json:"jq"`
}

type kwokStep struct {
	Patch  *kwokPatch `json:"patch,omitempty"`
	Apply  *kwokApply `json:"apply,omitempty"`
	Delete bool       `json:"delete,omitempty"`
}

type kwokPatch struct {
	Subresource string `json:"subresource"`
	Root        string `json:"root"`
	Template    string `json:"template"`
}

type kwokApply struct {
	Template string `json:"template"`
}

func in(key string, values ...string) kwokMatch {
	return kwokMatch{kwokJQ{Key: key, Operator: "In", Values: values}}
}

func notIn(key string, values ...string) kwokMatch {
	return kwokMatch{kwokJQ{Key: key, Operator: "NotIn", Values: values}}
}

func exists(key string) kwokMatch { return kwokMatch{kwokJQ{Key: key, Operator: "Exists"}} }

func missing(key string) kwokMatch { return kwokMatch{kwokJQ{Key: key, Operator: "DoesNotExist"}} }

func from(expression string) *kwokFrom {
	f := &kwokFrom{}
	f.JQ.Expression = expression
	return f
}

func newStage(kind, name string, delay *kwokDelay, steps []kwokStep, when ...kwokMatch) kwokStage {
	return kwokStage{
		APIVersion: "kwok.x-k8s.io/v1alpha1",
		Kind:       "Stage",
		Metadata:   kwokMetadata{name},
		Spec: kwokSpec{
			ResourceRef: kwokRef{APIGroup: "v1", Kind: kind},
			Selector:    kwokSelector{when},
			Delay:       delay,
			Steps:       steps,

			ImmediateNextStage: true,
		},
	}
}

// status returns a step that writes the object's status.
func status(template string) kwokStep {
	return kwokStep{Patch: &kwokPatch{Subresource: "status", Root: "status", Template: template}}
}

// event returns a step that writes or counts up the kubelet's event about a pod. The message is a
// template with the variables $pod, $image, $container and $node.
func event(reason, message string, aboutContainer bool) kwokStep {
	field := ""
	if aboutContainer {
		field = `
  fieldPath: {{ printf "spec.containers{%s}" $container | Quote }}`
	}
	return kwokStep{Apply: &kwokApply{Template: names + `
apiVersion: v1
kind: Event
metadata:
  namespace: {{ .metadata.namespace }}
  name: {{ printf "%s.%s" $pod (sha256sum (printf "%s ` + reason + `" .metadata.uid) | trunc 16) | Quote }}
involvedObject:
  apiVersion: v1
  kind: Pod
  namespace: {{ .metadata.namespace }}
  name: {{ $pod | Quote }}
  uid: {{ .metadata.uid | Quote }}` + field + `
type: Warning
reason: ` + reason + `
message: {{ ` + message + ` | Quote }}
source:
  component: kubelet
  host: {{ $node | Quote }}
reportingComponent: kubelet
reportingInstance: {{ $node | Quote }}
count: {{ add $restarts 1 }}
firstTimestamp: {{ .metadata.creationTimestamp | Quote }}
lastTimestamp: {{ Now | Quote }}
`}}
}

// stages returns the behaviour of kubelets, given the jq expression for a pod's behaviour.
func stages(behaviour string) []kwokStage {
	const (
		nodeReady = `.status.conditions[]? | select(.type == "Ready") | .status`
		podReady  = nodeReady
		deleted   = ".metadata.deletionTimestamp"
		phase     = ".status.phase"
		begun     = ".status.containerStatuses[]?.name" // the kubelet has accepted the pod
		restarts  = `([.status.containerStatuses[]?, .status.initContainerStatuses[]? | .restartCount] | max // 0)`
	)
	notReadyNode := fmt.Sprintf(".metadata.labels[%q]", NotReadyLabel)
	is := func(b Behaviour) kwokMatch { return in(behaviour, string(b)) }
	alive := missing(deleted)
	soon := &kwokDelay{DurationMilliseconds: 200, JitterDurationMilliseconds: 600}
	annotation := func(name string) string { return fmt.Sprintf(".metadata.annotations[%q]", name) }
	// Each restart waits longer, as with a real kubelet but faster. After the fifth the state does
	// not change.
	backOff := &kwokDelay{
		DurationMilliseconds: 300,
		DurationFrom:         from(restarts + ` as $n | if $n < 5 then "\(($n + 1) * 300)ms" else "1h" end`),
	}
	// Once for each pod: sufficient for behaviours that do not change.
	pod := func(name string, b Behaviour, delay *kwokDelay, steps []kwokStep, when ...kwokMatch) kwokStage {
		return newStage("Pod", name, delay, steps, append([]kwokMatch{is(b), alive, exists(begun)}, when...)...)
	}
	waiting := func(reason string) kwokMatch {
		return notIn(".status.containerStatuses[0].state.waiting.reason", reason)
	}
	events := func(b Behaviour, reason, message string) kwokStage {
		// The status remains that of an accepted pod with containers being created. kwok does not
		// return to a pod that does not change, so the event is written once.
		return pod("pod-"+string(b), b, soon, []kwokStep{event(reason, message, false)}, in(phase, "Pending"))
	}

	return []kwokStage{
		newStage("Node", "node-ready", nil, []kwokStep{status(nodeConditions("True", "KubeletReady", "kubelet is posting ready status"))},
			notIn(notReadyNode, "true"), notIn(nodeReady, "True")),
		newStage("Node", "node-not-ready", nil, []kwokStep{status(nodeConditions("False", "KubeletNotReady", "container runtime network not ready: "+
			"NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"))},
			in(notReadyNode, "true"), notIn(nodeReady, "False")),

		newStage("Pod", "pod-admit", nil, []kwokStep{status(podAdmitted)}, alive, in(phase, "Pending"), missing(begun)),
		newStage("Pod", "pod-delete", &kwokDelay{
			DurationMilliseconds: 100, DurationFrom: from(annotation(StopAfter)),
			JitterDurationMilliseconds: 300, JitterDurationFrom: from(annotation(StopBefore) + " // " + annotation(StopAfter)),
		}, []kwokStep{{Delete: true}}, notIn(behaviour, string(Undead)), exists(deleted)),

		newStage("Pod", "pod-ready", &kwokDelay{
			DurationMilliseconds: 200, DurationFrom: from(annotation(ReadyAfter)),
			JitterDurationMilliseconds: 600,
			JitterDurationFrom:         from(annotation(ReadyBefore) + " // " + annotation(ReadyAfter)),
		}, []kwokStep{status(podRunning("True", ""))},
			in(behaviour, string(Ready), string(Undead)), alive, exists(begun), in(phase, "Pending", "Running"), notIn(podReady, "True")),

		pod("pod-crash", Crash, backOff, []kwokStep{
			status(podCrashing(1, "Error", "fatal: cannot read the configuration: no such file or directory")),
			event("BackOff", `printf "Back-off restarting failed container %s in pod %s_%s(%s)" $container $pod .metadata.namespace .metadata.uid`, true),
		}),
		pod("pod-oom", OOMKilled, backOff, []kwokStep{
			status(podCrashing(137, "OOMKilled", "")),
			event("BackOff", `printf "Back-off restarting failed container %s in pod %s_%s(%s)" $container $pod .metadata.namespace .metadata.uid`, true),
		}),
		pod("pod-init-crash", InitCrash, backOff, []kwokStep{
			status(podInitCrashing),
			event("BackOff", `printf "Back-off restarting failed container %s in pod %s_%s(%s)" $initContainer $pod .metadata.namespace .metadata.uid`, false),
		}, exists(".status.initContainerStatuses[]?.name")),
		pod("pod-image-pull", ImagePullBackOff, soon, []kwokStep{
			status(podWaiting("ImagePullBackOff", `printf "Back-off pulling image \"%s\": ErrImagePull: `+imageError+`" $image $image $image`)),
			event("Failed", `printf "Failed to pull image \"%s\": `+imageError+`" $image $image $image`, true),
			event("BackOff", `printf "Back-off pulling image \"%s\"" $image`, true),
		}, waiting("ImagePullBackOff")),
		pod("pod-config-error", ConfigError, soon, []kwokStep{
			status(podWaiting("CreateContainerConfigError", `printf "secret \"%s-credentials\" not found" $container`)),
			event("Failed", `printf "Error: secret \"%s-credentials\" not found" $container`, true),
		}, waiting("CreateContainerConfigError")),
		pod("pod-probe-fails", ProbeFails, soon, []kwokStep{
			status(podRunning("False", "$container")),
			event("Unhealthy", `printf "Readiness probe failed: %s" (or (index $annotations "`+Message+`") "HTTP probe failed with statuscode: 503")`, true),
		}, notIn(`.status.containerStatuses[0] | .state.running != null and (.ready | not)`, "true")),
		events(NoSandbox, "FailedCreatePodSandBox", `printf "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox \"%s\": `+
			`plugin type=\"calico\" failed (add): error getting ClusterInformation: connection is unauthorized: Unauthorized" (sha256sum $pod)`),
		events(NoVolume, "FailedMount", `printf "MountVolume.SetUp failed for volume \"credentials\" : secret \"%s-credentials\" not found" $container`),
		pod("pod-evicted", Evicted, soon, []kwokStep{status(podEvicted),
			event("Evicted", `printf "The node was low on resource: memory. Threshold quantity: 100Mi, available: 61204Ki. Container %s was using 2213564Ki, request is 128Mi, has larger consumption of memory. " $container`, false),
		}, in(phase, "Pending", "Running")),
	}
}

const imageError = `rpc error: code = NotFound desc = failed to pull and unpack image \"%s\": failed to resolve reference \"%s\": not found`

// names is the beginning of the templates about pods.
const names = `
{{- $root := . -}}
{{- $now := Now -}}
{{- $annotations := or .metadata.annotations dict -}}
{{- $pod := .metadata.name -}}
{{- $node := .spec.nodeName -}}
{{- $container := (index .spec.containers 0).name -}}
{{- $image := (index .spec.containers 0).image -}}
{{- $initContainer := "" -}}
{{- with .spec.initContainers }}{{ $initContainer = (index . 0).name }}{{ end -}}
{{- $restarts := 0 -}}
{{- with .status.containerStatuses }}{{ $restarts = (index . 0).restartCount | toString | atoi }}{{ end -}}
{{- with .status.initContainerStatuses }}{{ $restarts = add $restarts ((index . 0).restartCount | toString | atoi) | int }}{{ end -}}
`

// unready are the conditions of a pod whose containers $unready are not ready.
const unready = `
- {type: Ready, status: "False", reason: ContainersNotReady, message: {{ printf "containers with unready status: [%s]" $unready | Quote }}, lastTransitionTime: {{ $now | Quote }}}
- {type: ContainersReady, status: "False", reason: ContainersNotReady, message: {{ printf "containers with unready status: [%s]" $unready | Quote }}, lastTransitionTime: {{ $now | Quote }}}
`

// allUnready sets $unready to all containers.
const allUnready = `
{{- $list := list -}}
{{- range .spec.containers }}{{ $list = append $list .name }}{{ end -}}
{{- $unready := join " " $list -}}
`

// initialized are the statuses of completed init containers.
const initialized = `
{{ with .spec.initContainers }}
initContainerStatuses:
{{ range . }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: {{ printf "%s@sha256:%s" .image (sha256sum .image) | Quote }}
  containerID: {{ printf "containerd://%s" (sha256sum (printf "%s/%s" $root.metadata.uid .name)) | Quote }}
  ready: true
  restartCount: 0
  {{ if eq (or .restartPolicy "") "Always" }}
  started: true
  state: {running: {startedAt: {{ $now | Quote }}}}
  {{ else }}
  started: false
  state: {terminated: {exitCode: 0, reason: Completed, startedAt: {{ $now | Quote }}, finishedAt: {{ $now | Quote }}}}
  {{ end }}
{{ end }}
{{ end }}
`

// podAdmitted is the status of a pod that the kubelet has accepted.
const podAdmitted = names + allUnready + `
phase: Pending
startTime: {{ $now | Quote }}
hostIP: {{ NodeIPWith $node | Quote }}
hostIPs: [{ip: {{ NodeIPWith $node | Quote }}}]
conditions:
{{ if .spec.initContainers }}
- {type: Initialized, status: "False", reason: ContainersNotInitialized, message: {{ printf "containers with incomplete status: [%s]" $initContainer | Quote }}, lastTransitionTime: {{ $now | Quote }}}
{{ else }}
- {type: Initialized, status: "True", lastTransitionTime: {{ $now | Quote }}}
{{ end }}
- {type: PodReadyToStartContainers, status: "False", lastTransitionTime: {{ $now | Quote }}}
` + unready + `
{{ with .spec.initContainers }}
initContainerStatuses:
{{ range . }}
- {name: {{ .name | Quote }}, image: {{ .image | Quote }}, imageID: "", ready: false, started: false, restartCount: 0, state: {waiting: {reason: PodInitializing}}}
{{ end }}
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- {name: {{ .name | Quote }}, image: {{ .image | Quote }}, imageID: "", ready: false, started: false, restartCount: 0, state: {waiting: {reason: {{ if $initContainer }}PodInitializing{{ else }}ContainerCreating{{ end }}}}}
{{ end }}
`

// running is the beginning of the status of a pod with a sandbox.
const running = `
conditions:
- {type: PodReadyToStartContainers, status: "True", lastTransitionTime: {{ $now | Quote }}}
`

const address = `
{{ $ip := or .status.podIP (PodIPWith $node (or .spec.hostNetwork false) .metadata.uid .metadata.name .metadata.namespace) }}
podIP: {{ $ip | Quote }}
podIPs: [{ip: {{ $ip | Quote }}}]
`

// container is the common part of container statuses, for a container $c with the previous status
// $old.
const container = `
- name: {{ $c.name | Quote }}
  image: {{ $c.image | Quote }}
  imageID: {{ printf "%s@sha256:%s" $c.image (sha256sum $c.image) | Quote }}
`

const containerID = `
  containerID: {{ printf "containerd://%s" (sha256sum (printf "%s/%s/%v" $root.metadata.uid $c.name $restarts)) | Quote }}
`

const runningContainer = containerID + `
  ready: true
  started: true
  restartCount: {{ $old.restartCount }}
  {{ if $old.state.running }}
  state: {running: {startedAt: {{ $old.state.running.startedAt | Quote }}}}
  {{ else }}
  state: {running: {startedAt: {{ $now | Quote }}}}
  {{ end }}
  {{ with $old.lastState }}
  lastState: {{ toJson . }}
  {{ end }}
`

const eachContainer = `
containerStatuses:
{{ range $i, $c := .spec.containers }}
{{ $old := index $root.status.containerStatuses $i }}
` + container

// podRunning is the status of a pod whose containers all run. All are ready, except the one named
// by the template expression unreadyName.
func podRunning(ready, unreadyName string) string {
	conditions := `
- {type: Initialized, status: "True", lastTransitionTime: {{ $now | Quote }}}
- {type: Ready, status: "True", reason: null, message: null, lastTransitionTime: {{ $now | Quote }}}
- {type: ContainersReady, status: "True", reason: null, message: null, lastTransitionTime: {{ $now | Quote }}}
`
	body := runningContainer
	if ready != "True" {
		conditions = `
- {type: Initialized, status: "True", lastTransitionTime: {{ $now | Quote }}}
{{ $unready := ` + unreadyName + ` }}` + unready
		body = strings.Replace(body, "ready: true", "ready: {{ ne $i 0 }}", 1)
	}
	return names + "phase: Running\n" + running + conditions + initialized + address + eachContainer + body + "{{ end }}\n"
}

// podWaiting is the status of a pod whose first container waits, with a reason and a message
// template, while the others run.
func podWaiting(reason, message string) string {
	return names + `
phase: Pending
` + running + `
- {type: Initialized, status: "True", lastTransitionTime: {{ $now | Quote }}}
{{ $unready := $container }}` + unready + initialized + address + eachContainer + `
  {{ if eq $i 0 }}
  imageID: ""
  ready: false
  started: false
  restartCount: {{ $old.restartCount }}
  state: {waiting: {reason: ` + reason + `, message: {{ ` + message + ` | Quote }}}}
  {{ else }}
` + runningContainer + `
  {{ end }}
{{ end }}
`
}

// backOffState is the state of a container between crashes. Its template variables are $restarts,
// $failed (the name of the container) and those of names.
const backOffState = `
  containerID: {{ printf "containerd://%s" (sha256sum (printf "%s/%s/%v" $root.metadata.uid $failed $restarts)) | Quote }}
  ready: false
  started: false
  restartCount: {{ add $restarts 1 }}
  state: {waiting: {reason: CrashLoopBackOff, message: {{ printf "back-off %s restarting failed container=%s pod=%s_%s(%s)"
    (index (list "10s" "20s" "40s" "1m20s" "2m40s" "5m0s") (min $restarts 5)) $failed $pod $root.metadata.namespace $root.metadata.uid | Quote }}}}
`

func terminated(exitCode int, reason, message string) string {
	text := fmt.Sprintf(`{{ or (index $annotations %q) %q | Quote }}`, Message, message)
	return fmt.Sprintf(`
  lastState:
    terminated:
      exitCode: %d
      reason: %s
      message: %s
      startedAt: {{ $now | Quote }}
      finishedAt: {{ $now | Quote }}
      containerID: {{ printf "containerd://%%s" (sha256sum (printf "%%s/%%s/%%v" $root.metadata.uid $failed $restarts)) | Quote }}
`, exitCode, reason, text)
}

// podCrashing is the status of a pod after another crash of its first container.
func podCrashing(exitCode int, reason, message string) string {
	return names + `
{{ $failed := $container }}
phase: Running
` + running + `
- {type: Initialized, status: "True", lastTransitionTime: {{ $now | Quote }}}
{{ $unready := $container }}` + unready + initialized + address + eachContainer + `
  {{ if eq $i 0 }}
` + backOffState + terminated(exitCode, reason, message) + `
  {{ else }}
` + runningContainer + `
  {{ end }}
{{ end }}
`
}

// podInitCrashing is the status of a pod after another crash of its first init container.
var podInitCrashing = names + allUnready + `
{{ $failed := $initContainer }}
phase: Pending
` + running + `
- {type: Initialized, status: "False", reason: ContainersNotInitialized, message: {{ printf "containers with incomplete status: [%s]" $initContainer | Quote }}, lastTransitionTime: {{ $now | Quote }}}
` + unready + address + `
initContainerStatuses:
{{ range $i, $c := .spec.initContainers }}
` + container + `
  {{ if eq $i 0 }}
` + backOffState + terminated(1, "Error", "dial tcp 10.0.0.1:443: i/o timeout") + `
  {{ else }}
  ready: false
  started: false
  restartCount: 0
  state: {waiting: {reason: PodInitializing}}
  {{ end }}
{{ end }}
`

// podEvicted is the status of a pod that the kubelet has evicted.
const podEvicted = names + `
phase: Failed
reason: Evicted
message: {{ printf "The node was low on resource: memory. Threshold quantity: 100Mi, available: 61204Ki. Container %s was using 2213564Ki, request is 128Mi, has larger consumption of memory. " $container | Quote }}
conditions:
- {type: DisruptionTarget, status: "True", reason: TerminationByKubelet, message: "The node was low on resource: memory. Threshold quantity: 100Mi, available: 61204Ki.", lastTransitionTime: {{ $now | Quote }}}
- {type: Ready, status: "False", reason: PodFailed, lastTransitionTime: {{ $now | Quote }}}
- {type: ContainersReady, status: "False", reason: PodFailed, lastTransitionTime: {{ $now | Quote }}}
containerStatuses:
{{ range .spec.containers }}
- {name: {{ .name | Quote }}, image: {{ .image | Quote }}, imageID: "", ready: false, started: false, restartCount: 0, state: {terminated: {exitCode: 137, reason: ContainerStatusUnknown, message: "The container could not be located when the pod was terminated"}}}
{{ end }}
`

// nodeConditions is the status that a kubelet reports. Only the Ready condition varies.
func nodeConditions(ready, reason, message string) string {
	condition := func(kind, status, reason, message string) string {
		return fmt.Sprintf(`
- type: %s
  status: %q
  reason: %s
  message: %q
  lastHeartbeatTime: {{ $now | Quote }}
  {{ $since := $now }}{{ range .status.conditions }}{{ if and (eq .type %q) (eq .status %q) }}{{ $since = .lastTransitionTime }}{{ end }}{{ end }}
  lastTransitionTime: {{ $since | Quote }}
`, kind, status, reason, message, kind, status)
	}
	return "{{ $now := Now }}\nconditions:" +
		condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available") +
		condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure") +
		condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available") +
		condition("Ready", ready, reason, message)
}
