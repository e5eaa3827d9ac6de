package redact

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// redactedMessage is a redacted message.
type redactedMessage struct {
	words string
	hides bool // some words are hidden
	keeps bool // some words are kept
}

// aMessage redacts the message of a program. It keeps the sentences that
// Kubernetes' programs are known to write, with stand-ins for their names, and
// hides the rest. All sentences from which causes are derived are known.
func aMessage(w *walker, _ place, message string) string {
	if known, is := w.told[message]; is { // many nodes of a cluster have the same message
		return known.words
	}
	var out redactedMessage
	var b strings.Builder
	hide := func(text string) {
		words := hidden(text)
		out.hides = out.hides || words != text
		b.WriteString(words)
	}
	at := 0
	for _, m := range sentences().pattern.FindAllStringSubmatchIndex(message, -1) {
		hide(message[at:m[0]])
		at = m[0]
		for group, of := range sentences().slots {
			from, to := m[2*group], m[2*group+1]
			if of == nil || from < 0 {
				continue
			}
			b.WriteString(message[at:from])
			b.WriteString(of(w, message[from:to]))
			at = to
		}
		b.WriteString(message[at:m[1]])
		at, out.keeps = m[1], true
	}
	hide(message[at:])
	out.words = b.String()
	if !out.keeps && out.hides {
		out.words = template.Hidden
	}
	w.told[message] = out
	return out.words
}

// hidden replaces the words of a text. It keeps the separators between
// statements of the scheduler, and texts without words.
func hidden(text string) string {
	var b strings.Builder
	for text != "" {
		end := statementEnd.FindStringIndex(text)
		if end == nil {
			end = []int{len(text), len(text)}
		}
		statement := text[:end[0]]
		words := strings.TrimFunc(statement, func(r rune) bool {
			return r < unicode.MaxASCII && !unicode.IsLetter(r) &&
				!unicode.IsDigit(r)
		})
		if words == "" {
			b.WriteString(statement)
		} else {
			before, after, _ := strings.Cut(statement, words)
			b.WriteString(before + template.Hidden + after)
		}
		b.WriteString(text[end[0]:end[1]])
		text = text[end[1]:]
	}
	return strings.ReplaceAll(b.String(), "<"+template.Hidden+">", template.Hidden) // hidden in an earlier redaction
}

var statementEnd = regexp.MustCompile(`, |\. `)

// slot is a placeholder for a name in a sentence.
type slot struct {
	pattern string
	of      func(w *walker, text string) string
}

func slotOf(pattern, kind string) slot {
	return slot{pattern, func(w *walker, text string) string { return w.name(kind, text) }}
}

// slots maps placeholders to what they match. Each matches as much text as the
// code that parses the sentence expects.
var slots = map[string]slot{
	"n":        {`\d+`, kept},
	"duration": {`(?:\d+(?:\.\d+)?(?:h|ms|m|s|us|µs|ns))+`, kept},
	"bytes":    {`\d+(?:\.\d+)?(?:[kKMGTPE]i?|m)?`, kept},
	"code":     {`(?:OK|Canceled|Unknown|InvalidArgument|DeadlineExceeded|NotFound|AlreadyExists|PermissionDenied|ResourceExhausted|FailedPrecondition|Aborted|OutOfRange|Unimplemented|Internal|Unavailable|DataLoss|Unauthenticated)\b`, kept},
	"verb":     {`(?:get|list|watch|create|update|patch|delete|deletecollection)\b`, kept},
	"objects": {`(?:daemonsets|controllerrevisions|pods|nodes|events|namespaces|poddisruptionbudgets|configmaps|secrets|persistentvolumeclaims|persistentvolumes|csinodes|` +
		`priorityclasses|runtimeclasses|serviceaccounts|resourcequotas|limitranges|validatingwebhookconfigurations|mutatingwebhookconfigurations|` +
		`validatingadmissionpolicies|validatingadmissionpolicybindings|mutatingadmissionpolicies|mutatingadmissionpolicybindings|replicasets|deployments)\b`, kept},
	"object":    {strings.Join(slices.Sorted(maps.Keys(objectKinds)), `\b|`) + `\b`, kept},
	"group":     {`(?:|apps|policy|storage\.k8s\.io|scheduling\.k8s\.io|node\.k8s\.io|admissionregistration\.k8s\.io|events\.k8s\.io)`, kept},
	"condition": {`(?:DiskPressure|MemoryPressure|PIDPressure)\b`, kept},
	"amounts":   {amount + `(?:,` + amount + `)*`, amountsOf},
	"resource":  {`[A-Za-z0-9](?:[\w./-]*[A-Za-z0-9])?`, func(w *walker, text string) string { return w.key(text) }},
	"taint":     {`\{[^{}:]*:[^{}]*\}`, taintOf},
	"level":     {`[^"]*`, levelOf},
	"violations": {
		`(?:[^()]*\([^()]*\))*[^()]*`,
		func(_ *walker, text string) string { return violationsOf(text) },
	},

	"node":      slotOf(`[^,]*`, "node"),
	"quota":     slotOf(`[^,]*`, "resourcequota"),
	"webhook":   slotOf(`[^"]*`, "webhook"),
	"policy":    slotOf(`[^']*`, "policy"),
	"image":     {`[^"\s]*`, func(w *walker, text string) string { return anImage(w, place{}, text) }},
	"claim":     {`[^"\s]*`, func(w *walker, text string) string { return aClaim(w, place{}, text) }},
	"pod":       {`[a-z0-9][a-z0-9.-]*`, podOf},
	"namespace": slotOf(`[a-z0-9-]+`, "namespace"),
	"container": slotOf(`[a-z0-9][a-z0-9-]*`, "container"),
	"containers": {`[a-z0-9][a-z0-9 -]*`, func(w *walker, text string) string {
		return each(text, " ", func(s string) string { return w.name("container", s) })
	}},
	"priorityclasses": {`[a-z0-9][a-z0-9. -]*`, func(w *walker, text string) string {
		return each(text, " ", func(s string) string { return w.name("priorityclass", s) })
	}},
	"volume":         slotOf(`[^"\s]*`, "volume"),
	"pv":             slotOf(`[^"\s]*`, "persistentvolume"),
	"configmap":      slotOf(`[a-z0-9][a-z0-9.-]*`, "configmap"),
	"secret":         slotOf(`[a-z0-9][a-z0-9.-]*`, "secret"),
	"serviceaccount": slotOf(`[a-z0-9][a-z0-9.-]*`, "serviceaccount"),
	"priorityclass":  slotOf(`[a-z0-9][a-z0-9.-]*`, "priorityclass"),
	"runtimeclass":   slotOf(`[a-z0-9][a-z0-9.-]*`, "runtimeclass"),
	"daemonset":      slotOf(`[a-z0-9][a-z0-9.-]*`, "daemonset"),
	"item":           slotOf(`[\w.-]+`, "item"),
	"uid":            slotOf(`[0-9a-f]{8}-[0-9a-f-]{27}`, "uid"),
}

const amount = `[A-Za-z0-9][\w./-]*=\d+(?:\.\d+)?(?:[EPTGMk]i?|[mun]|e\d+)?\b`

func kept(_ *walker, text string) string { return text }

func each(text, sep string, f func(string) string) string {
	parts := strings.Split(text, sep)
	for i := range parts {
		parts[i] = f(parts[i])
	}
	return strings.Join(parts, sep)
}

func amountsOf(w *walker, text string) string {
	return each(text, ",", func(one string) string {
		name, quantity, _ := strings.Cut(one, "=")
		return w.key(name) + "=" + quantity
	})
}

func taintOf(w *walker, text string) string {
	key, value, _ := strings.Cut(strings.Trim(text, "{}"), ":")
	bare := strings.TrimSpace(value)
	blank := value[:len(value)-len(strings.TrimLeft(value, " "))]
	return "{" + w.key(key) + ":" + blank + w.labelValue(key, bare) + "}"
}

// podOf redacts the name of a pod, or its prefix that the controller generates.
func podOf(w *walker, text string) string {
	if begins, is := strings.CutSuffix(text, "-"); is {
		return w.name("daemonset", begins) + "-"
	}
	return w.name("pod", text)
}

// levelOf redacts a level of Pod Security with its version.
func levelOf(w *walker, text string) string {
	level, version, _ := strings.Cut(text, ":")
	if levels.has(level) && levelVersion.MatchString(version) {
		return text
	}
	return w.name("text", text)
}

// violationsOf redacts the violations of such a level, each with its location
// in parentheses.
func violationsOf(text string) string {
	return violation.ReplaceAllStringFunc(brackets.ReplaceAllString(text, "("+template.Hidden+")"),
		func(what string) string {
			if violations.has(strings.ReplaceAll(what, " ", "_")) || what == template.Hidden {
				return what
			}
			return template.Hidden
		})
}

var (
	brackets   = regexp.MustCompile(`\([^()]*\)`)
	violation  = regexp.MustCompile(`[^\s,()][^,()]*[^\s,()]|[^\s,()]`)
	violations = words(`
		host_namespaces hostPath_volumes privileged hostPort hostProcess seLinuxOptions procMount seccompProfile forbidden_sysctls unrestricted_capabilities non-default_capabilities
		forbidden_AppArmor_profile forbidden_AppArmor_profiles restricted_volume_types allowPrivilegeEscalation_!=_false runAsNonRoot_!=_true runAsUser=0 probe_or_lifecycle_host
		forbidden_seccomp_profile unrestricted_AppArmor_profile`)
)

// sentenceList are the sentences of Kubernetes' programs, and those of this
// program about what could not be read, one per line: those from which causes
// are derived, and others that help a reader. If several match at the same
// word, the first one is used.
const sentenceList = `
(combined from similar events):
Error creating:
pods "{pod}" is forbidden:
pods is forbidden:
insufficient quota to match these scopes:
PriorityClass In [{priorityclasses}]
exceeded quota: {quota}
failed quota: {serviceaccount}: must specify
status unknown for quota:
requested: {amounts}
used: {amounts}
limited: {amounts}
violates PodSecurity "{level}": {violations}
violates PodSecurity "{level}
admission webhook "{webhook}" denied the request
admission webhook "{webhook}
failed calling webhook "{webhook}
ValidatingAdmissionPolicy '{policy}' with binding '{policy}' denied request
no PriorityClass with name {priorityclass} was found
error looking up service account {namespace}/{serviceaccount}: serviceaccount "{serviceaccount}" not found
pod rejected: RuntimeClass "{runtimeclass}" not found
namespaces "{namespace}" not found
because it is being terminated
{objects} is forbidden: User
{objects} is forbidden:
cannot {verb} resource "{objects}" in API group "{group}"
at the cluster scope
in the namespace "{namespace}"
the server is currently unable to handle the request

the input holds no status of daemonset {namespace}/{daemonset}
the input holds no keys of {object} {namespace}/{item}
the input holds no {object} of namespace {namespace}
the input holds no {object} of daemonset {namespace}/{daemonset}
the input holds no {object}
the input holds pods of namespace {namespace} only
the input does not say which version of Kubernetes it is from
the input does not say when it was taken: the newest time in it is used
the server's answers carry no Date: this machine's clock is used
the snapshot was recorded without {object} {item}
the snapshot was recorded without it
the snapshot was recorded without them
the snapshot was recorded with those of some nodes only
the pods have {n} claims, and at most {n} are asked for
the pods refer to {n} objects, and at most {n} are asked for
page {n} was read later than the pages before it, because their token had expired
{n} objects appear twice: the pages were not read at the same moment
{n} of {n} have none
not asked for
not given
daemonset {namespace}/{daemonset}
namespace {namespace}

Found failed daemon pod {namespace}/{pod} on node {node}, will try to kill it
Found succeeded daemon pod {namespace}/{pod} on node {node}, will try to delete it
on node {node},
Created pod: {pod}
Deleted pod: {pod}

{n}/{n} nodes are available:
nodes are available:
{n} Insufficient {resource}
Insufficient {resource}
{n} Too many pods
Too many pods
{n} node(s) had untolerated taint {taint}
{n} node(s) had untolerated taint(s)
{n} node(s) had taint {taint}, that the pod didn't tolerate
{n} node(s) had taints that the pod didn't tolerate
{n} node(s) had volume node affinity conflict
{n} node(s) had no available volume zone
{n} node(s) had no available disk
{n} node(s) had unknown conditions
{n} node(s) didn't have free ports for the requested pod ports
{n} node(s) didn't find available persistent volumes to bind
{n} node(s) didn't match PersistentVolume's node affinity
{n} node(s) didn't match Pod's node affinity/selector
{n} node(s) didn't match Pod's node affinity
{n} node(s) didn't match Pod's required features
{n} node(s) didn't match node selector
{n} node(s) didn't match node affinity
{n} node(s) didn't match the requested node name
{n} node(s) didn't match pod affinity rules
{n} node(s) didn't match pod anti-affinity rules
{n} node(s) didn't match pod topology spread constraints
{n} node(s) didn't satisfy existing pods anti-affinity rules
{n} node(s) didn't satisfy plugin(s) [NodeAffinity]
{n} node(s) did not have enough free storage
{n} node(s) exceed max volume count
{n} node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)
{n} node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod
{n} node(s) were unschedulable
{n} node(s) were not ready
pod has unbound immediate PersistentVolumeClaims
persistentvolumeclaim "{claim}" not found
persistentvolumeclaim "{claim}" is being deleted
no new claims to deallocate
preemption:
not eligible due to preemptionPolicy=Never
{n} No preemption victims found for incoming pod
{n} Preemption is not helpful for scheduling
Preemption is not helpful for scheduling
free ports
[NodeAffinity]
didn't match Pod's node affinity
didn't match node selector
didn't match node affinity
PersistentVolume
olume

kubelet has sufficient memory available
kubelet has insufficient memory available
kubelet has no disk pressure
kubelet has disk pressure
kubelet has sufficient PID available
kubelet has insufficient PID available
kubelet is posting ready status
Kubelet stopped posting node status
Kubelet never posted node status
PLEG is not healthy
container runtime is down
container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized
container runtime network not ready:
cni plugin not initialized
network is not ready:
Pod was rejected:
The node had condition: [{condition}]
The node was low on resource: {resource}
Node didn't have enough resource: {resource}
Usage of EmptyDir volume "{volume}" exceeds the limit "{bytes}"
Container {container} exceeded its local ephemeral storage limit "{bytes}"
Pod ephemeral local storage usage exceeds the total limit of containers {bytes}
Failed to admit pod as the OS field doesn't match node OS
containers with unready status: [{containers}]
containers with incomplete status: [{containers}]
back-off {duration} restarting failed container={container} pod={pod}_{namespace}({uid})
back-off {duration} restarting failed container
Back-off restarting failed container {container} in pod {pod}_{namespace}({uid})
Back-off restarting failed container
Back-off pulling image "{image}"
Failed to pull image "{image}"
Successfully pulled image "{image}"
Pulling image "{image}"
in {duration} ({duration} including waiting). Image size: {n} bytes.
in {duration} ({duration} including waiting)
Container image "{image}" already present on machine and can be accessed by the pod
Container image "{image}" already present on machine
Container image "{image}" is not present with pull policy of Never
failed to pull and unpack image "{image}"
failed to resolve reference "{image}"
ErrImagePull:
rpc error: code = {code} desc =
manifest unknown
pull access denied
Unable to retrieve some image pull secrets ({secret}); attempting to pull the image may not succeed.
no basic auth credentials
authentication required
too many requests
unauthorized
secret "{secret}" not found
configmap "{configmap}" not found
persistentvolumeclaim "{claim}" not found
couldn't find key {item} in ConfigMap {namespace}/{configmap}
couldn't find key {item} in Secret {namespace}/{secret}
Multi-Attach error for volume "{pv}" Volume is already exclusively attached to one node and can't be attached to another
Multi-Attach error for volume "{pv}" Volume is already used by pod(s)
Multi-Attach error for volume "{pv}"
AttachVolume.Attach failed for volume "{pv}"
MountVolume.SetUp failed for volume "{volume}"
for volume "{volume}"
ephemeral local storage
local ephemeral storage
failed to sync configmap cache: timed out waiting for the condition
failed to sync secret cache: timed out waiting for the condition
timed out waiting for the condition
Failed to create pod sandbox:
failed to setup network for sandbox
Readiness probe failed:
Liveness probe failed:
Startup probe failed:
HTTP probe failed with statuscode: {n}
Stopping container {container}
Container {container} failed liveness probe, will be restarted
Container {container} failed startup probe, will be restarted
Container {container} definition changed, will be restarted
Created container: {container}
Created container {container}
Started container {container}
context deadline exceeded
certificate signed by unknown authority
certificate has expired or is not yet valid
no such file or directory
no space left on device
no such host
permission denied
operation not permitted
connection refused
connection reset by peer
invalid argument
i/o timeout
Read-only file system
not found
`

// sentences returns the pattern of all sentences, with the slot of each group.
var sentences = sync.OnceValue(func() (s struct {
	pattern *regexp.Regexp
	slots   []func(*walker, string) string
}) {
	s.slots = append(s.slots, nil) // the whole
	var all []string
	for _, line := range strings.Split(strings.Trim(sentenceList, "\n"), "\n") {
		if line == "" {
			continue
		}
		pattern := ""
		for line != "" {
			before, rest, _ := strings.Cut(line, "{")
			pattern += regexp.QuoteMeta(before)
			name, after, is := strings.Cut(rest, "}")
			if line = after; is {
				pattern += "(" + slots[name].pattern + ")"
				s.slots = append(s.slots, slots[name].of)
			}
		}
		all = append(all, pattern)
	}
	for _, words := range slices.Concat(cause.OtherPlatforms(), cause.RegistryFailures(), cause.SCCWords()) {
		all = append(all, "(?i:"+regexp.QuoteMeta(words)+")")
	}
	s.pattern = regexp.MustCompile(strings.Join(all, "|"))
	return s
})
