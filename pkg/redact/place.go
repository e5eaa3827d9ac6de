package redact

import (
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-ds/kubectl-ds/pkg/hide"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// A rule returns the replacement of a word in a place.
type rule func(w *walker, p place, word string) string

// freeText is the default rule: it replaces the word as user-supplied text.
func freeText(w *walker, _ place, word string) string { return w.name("text", word) }

// of returns the rule for names of a kind.
func of(kind string) rule {
	return func(w *walker, _ place, word string) string { return w.name(kind, word) }
}

// oneOf returns a rule that keeps the words of a vocabulary and replaces
// others.
func oneOf(v vocabulary) rule {
	return func(w *walker, p place, word string) string {
		if v.has(word) {
			return word
		}
		return freeText(w, p, word)
	}
}

// ruleList lists the rules with the fields that they apply to: the type of the
// API, and the name in JSON.
var ruleList = sync.OnceValue(func() []struct {
	is     rule
	fields string
} {
	return []struct {
		is     rule
		fields string
	}{
		{of("node"), `PodSpec.nodeName PodStatus.nominatedNodeName EventSource.host OtherPods.nodes PodRow.node Volumes.nodes DriverRow.node`},
		{of("namespace"), `
			ObjectMeta.namespace ObjectReference.namespace TypedObjectReference.namespace PodAffinityTerm.namespaces PodRow.namespace DisruptionBudget.namespace`},
		{of("pod"), `PodRow.name DisruptionBudget.disrupted`},
		{of("container"), `Container.name ContainerStatus.name ResourceFieldSelector.containerName`},
		{anImage, `Container.image ContainerStatus.image ImageVolumeSource.reference`},
		{of("variable"), `EnvVar.name`},
		{digest, `EnvVar.value`},
		{of("port"), `ContainerPort.name`},
		{aPort, `HTTPGetAction.port TCPSocketAction.port`},
		{of("path"), `
			Container.workingDir Container.terminationMessagePath HTTPGetAction.path VolumeMount.mountPath HostPathVolumeSource.path`},
		{of("volume"), `Volume.name VolumeMount.name VolumeDevice.name`},
		{of("configmap"), `ConfigMapEnvSource.name ConfigMapKeySelector.name ConfigMapVolumeSource.name ConfigMapProjection.name`},
		{of("secret"), `
			LocalObjectReference.name SecretEnvSource.name SecretKeySelector.name SecretVolumeSource.secretName SecretProjection.name`},
		{of("item"), `ConfigMapKeySelector.key SecretKeySelector.key KeyToPath.key Referred.keys Referred.binaryKeys`},
		{aClaim, `PersistentVolumeClaimVolumeSource.claimName ClaimRow.name`},
		{of("persistentvolume"), `VolumeRow.name`},
		{of("driver"), `CSIVolumeSource.driver VolumeRow.driver DriverRow.name`},
		{of("handle"), `VolumeRow.handle DriverRow.handles`},
		{of("priorityclass"), `PodSpec.priorityClassName ScopedResourceSelectorRequirement.values`},
		{of("runtimeclass"), `PodSpec.runtimeClassName`},
		{of("handler"), `RuntimeClass.handler`},
		{of("serviceaccount"), `PodSpec.serviceAccountName PodSpec.serviceAccount`},
		{of("poddisruptionbudget"), `PodRow.budgets DisruptionBudget.name`},
		{of("webhook"), `AdmissionHook.name AdmissionHook.webhook`},
		{of("component"), `PodSpec.schedulerName Event.reportingComponent EventSource.component`},
		{reporter, `Event.reportingInstance`},
		{of("manager"), `ManagedFieldsEntry.manager`},
		{holder, `ControllerLease.holder`},
		{of("address"), `
			HostPort.ip ContainerPort.hostIP PodStatus.hostIP PodStatus.podIP HostIP.ip PodIP.ip HostAlias.ip PodDNSConfig.nameservers`},
		{of("resourceVersion"), `ObjectMeta.resourceVersion ObjectReference.resourceVersion`},
		{ownName, `ObjectMeta.name`},
		{named, `OwnerReference.name ObjectReference.name TypedLocalObjectReference.name TypedObjectReference.name Referred.name`},
		{of("kind"), `OwnerReference.kind ObjectReference.kind TypedLocalObjectReference.kind TypedObjectReference.kind TypeMeta.kind`},
		{oneOf(apiVersions), `
			TypeMeta.apiVersion OwnerReference.apiVersion ObjectReference.apiVersion ManagedFieldsEntry.apiVersion ObjectFieldSelector.apiVersion
			TypedLocalObjectReference.apiGroup TypedObjectReference.apiGroup`},

		{aKey, `
			LabelSelectorRequirement.key NodeSelectorRequirement.key Taint.key Toleration.key ObjectMeta.finalizers PodSchedulingGate.name ResourceFieldSelector.resource
			PodAffinityTerm.topologyKey PodAffinityTerm.matchLabelKeys PodAffinityTerm.mismatchLabelKeys TopologySpreadConstraint.topologyKey TopologySpreadConstraint.matchLabelKeys
			NodeCondition.type PodCondition.type DaemonSetCondition.type NamespaceCondition.type Condition.type PodReadinessGate.conditionType`},
		{aValue, `LabelSelectorRequirement.values Taint.value`},
		{comparedValue, `NodeSelectorRequirement.values Toleration.value`},
		{aSelector, `OpenShift.defaultNodeSelector`},
		{of("platform"), `NodeSystemInfo.architecture NodeSystemInfo.operatingSystem`},
		{aVersion, `
			Snapshot.kubernetesVersion NodeSystemInfo.kubeletVersion NodeSystemInfo.kubeProxyVersion NodeSystemInfo.kernelVersion NodeSystemInfo.containerRuntimeVersion NodeSystemInfo.osImage`},
		{aLimit, `
			RollingUpdateDaemonSet.maxUnavailable RollingUpdateDaemonSet.maxSurge PodDisruptionBudgetSpec.maxUnavailable PodDisruptionBudgetSpec.minAvailable`},

		{of("reason"), `
			ContainerStateTerminated.reason ContainerStateWaiting.reason NodeCondition.reason PodCondition.reason DaemonSetCondition.reason NamespaceCondition.reason Condition.reason
			PodStatus.reason Event.reason Event.action`},
		{aMessage, `
			ContainerStateTerminated.message ContainerStateWaiting.message NodeCondition.message PodCondition.message DaemonSetCondition.message NamespaceCondition.message Condition.message
			PodStatus.message Event.message Gap.message Gap.of`},
		{partOfPod, `ObjectReference.fieldPath`},
		{fieldPath, `ObjectFieldSelector.fieldPath`},

		{oneOf(words("Digest")), `Snapshot.envValues`},
		{oneOf(words(snapshot.StandIns)), `Snapshot.names`},
		{oneOf(words("Normal Warning")), `Event.type`},
		{oneOf(words("FieldsV1")), `ManagedFieldsEntry.fieldsType`},
		{oneOf(words("status scale")), `ManagedFieldsEntry.subresource`},
		{oneOf(capabilities()), `Capabilities.add Capabilities.drop`},
		{oneOf(sysctls), `Sysctl.name`},
		{oneOf(seLinuxTypes), `SELinuxOptions.type`},
		{oneOf(defaulted), `
			ISCSIVolumeSource.iscsiInterface RBDVolumeSource.pool RBDVolumeSource.user RBDVolumeSource.keyring AzureDiskVolumeSource.fsType ScaleIOVolumeSource.fsType
			ScaleIOVolumeSource.storageMode`},
	}
})

// places maps fields to rules.
var places = sync.OnceValue(func() map[string]rule {
	m := map[string]rule{}
	for _, r := range ruleList() {
		for name := range words(r.fields) {
			m[name] = r.is
			if field, is := strings.CutPrefix(name, "Container."); is {
				m["EphemeralContainerCommon."+field] = r.is
			}
		}
	}
	return m
})

// word returns the replacement of a word in a place. t is its type, or nil if
// no type lists it.
func (w *walker) word(p place, t reflect.Type, word string) string {
	if word == "" {
		return ""
	}
	for _, name := range p.names() {
		if r := places()[name]; r != nil {
			return r(w, p, word)
		}
	}
	switch {
	case t == reflect.TypeFor[types.UID]():
		return w.name("uid", word)
	case t == reflect.TypeFor[corev1.ResourceName]():
		return aKey(w, p, word)
	case t == reflect.TypeFor[corev1.StorageMedium]() && strings.HasPrefix(word, corev1.ResourceHugePagesPrefix) &&
		isQuantity(strings.TrimPrefix(word, corev1.ResourceHugePagesPrefix)):
		return word
	case t != nil && t.PkgPath() != "": // a named type, usually with a fixed set of values
		return oneOf(apiWords())(w, p, word)
	}
	return freeText(w, p, word)
}

// labelMaps are the fields whose keys are keys of labels or annotations.
var labelMaps = words(`ObjectMeta.labels ObjectMeta.annotations LabelSelector.matchLabels PodSpec.nodeSelector Scheduling.nodeSelector VolumeRow.zones`)

func (w *walker) isLabels(p place) bool {
	for _, name := range p.names() {
		if labelMaps.has(name) {
			return true
		}
	}
	return false
}

func (w *walker) mapValue(p place, key, value string) string {
	switch {
	case value == "":
		return ""
	case p.field == "annotations" && w.isLabels(p):
		return w.annotation(p, key, value)
	case w.isLabels(p):
		return w.labelValue(key, value)
	}
	return w.name("text", value)
}

// ownName redacts the name of an object.
func ownName(w *walker, p place, word string) string {
	if p.object == reflect.TypeFor[appsv1.ControllerRevision]() {
		return w.revision(word)
	}
	if p.object == nil {
		return freeText(w, p, word)
	}
	return w.ofKind(p.object.Name(), word)
}

// named redacts a name next to the kind of its object.
func named(w *walker, p place, word string) string {
	switch kind := p.beside("kind"); {
	case kind == "ControllerRevision":
		return w.revision(word)
	case kind == "PersistentVolumeClaim":
		return aClaim(w, p, word)
	case kind == "" && p.object != nil && p.object.Name() == "ServiceAccount":
		return w.name("secret", word)
	default:
		return w.ofKind(kind, word)
	}
}

func (w *walker) ofKind(kind, word string) string {
	if !objectKinds.has(kind) {
		kind = "object"
	}
	return w.name(strings.ToLower(kind), word)
}

// aClaim redacts the name of a PersistentVolumeClaim. The name of an ephemeral
// claim is that of its pod followed by that of its volume.
func aClaim(w *walker, _ place, word string) string {
	if w.assigned {
		if pod, volume := w.ephemeral(word); pod != "" {
			return w.composed(claims, word, w.name("pod", pod)+"-"+w.name("volume", volume))
		}
	}
	return w.name(claims, word)
}

// claims is the kind of names of claims.
const claims = "persistentvolumeclaim"

// ephemeral returns the pod and the volume of an ephemeral claim, or "" for
// others.
func (w *walker) ephemeral(claim string) (pod, volume string) {
	pods, volumes := w.kinds["pod"], w.kinds["volume"]
	for i := range claim {
		if claim[i] == '-' && pods != nil && volumes != nil && pods.words[claim[:i]] && volumes.words[claim[i+1:]] {
			return claim[:i], claim[i+1:]
		}
	}
	return "", ""
}

// revision redacts the name of a ControllerRevision, or its hash, which is also
// in labels. The name is the DaemonSet's followed by the hash. The name of a
// revision without the label counts as its hash.
func (w *walker) revision(word string) string {
	rest, is := strings.CutPrefix(word, w.daemonSet+"-")
	if !is || rest == "" {
		return w.name("hash", word)
	}
	return w.composed("controllerrevision", word, w.name("daemonset", w.daemonSet)+"-"+w.name("hash", rest))
}

// hashesMixWithNames reports whether names of revisions are among the hashes, or hashes
// among the names, so that the order of the two kinds matters.
func hashesMixWithNames(s *snapshot.Snapshot) bool {
	begins := s.DaemonSet.Name + "-"
	const key = appsv1.ControllerRevisionHashLabelKey
	return slices.ContainsFunc(s.Revisions, func(r appsv1.ControllerRevision) bool {
		hash, labeled := r.Labels[key]
		return !labeled || strings.HasPrefix(hash, begins) || !strings.HasPrefix(r.Name, begins)
	}) || slices.ContainsFunc(s.Pods, func(p corev1.Pod) bool { return strings.HasPrefix(p.Labels[key], begins) })
}

// aKey redacts a qualified name: the key of a label, an annotation or a taint,
// a resource, a type of condition, or a finalizer.
func aKey(w *walker, _ place, word string) string { return w.key(word) }

func (w *walker) key(word string) string {
	for _, prefix := range []string{corev1.DefaultResourceRequestsPrefix, "limits."} { // in a quota
		if rest, is := strings.CutPrefix(word, prefix); is {
			return w.name("key", prefix) + w.key(rest)
		}
	}
	if class, rest, is := strings.Cut(word, storageClassSuffix); is && class != "" {
		return w.name("storageclass", class) + storageClassSuffix + w.key(rest)
	}
	head, name, qualified := strings.Cut(word, "/")
	switch {
	case !qualified:
		return w.name("key", word)
	case head+"/" == corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix:
		return w.composed("key", word, head+"/"+w.name("container", name))
	}
	return w.composed("key", word, w.name("key", head+"/")+w.name("key in "+head+"/", name))
}

const storageClassSuffix = ".storageclass.storage.k8s.io/"

// aValue redacts the value of a label or taint, given the key next to it.
func aValue(w *walker, p place, word string) string { return w.labelValue(p.beside("key"), word) }

// comparedValue redacts a value that an operator compares with.
func comparedValue(w *walker, p place, word string) string {
	if operator := p.beside("operator"); operator == "Gt" || operator == "Lt" || operator == "NotIn" {
		w.compared[p.beside("key")] = true
	}
	return w.labelValue(p.beside("key"), word)
}

func (w *walker) labelValue(key, value string) string {
	kind := valueKind(key)
	switch {
	case key == appsv1.ControllerRevisionHashLabelKey:
		return w.revision(value)
	case kind == "" && isNumber(value):
		return value
	case kind == "":
		kind = "value"
	}
	if isNumber(value) && !w.assigned {
		if w.numbers[key] == nil {
			w.numbers[key] = map[string]bool{}
		}
		w.numbers[key][value] = true
	}
	if zoneKeys.has(key) { // a volume may list several
		return each(value, "__", func(zone string) string { return w.name(kind, zone) })
	}
	return w.name(kind, value)
}

var zoneKeys = words(corev1.LabelTopologyZone, corev1.LabelTopologyRegion, corev1.LabelFailureDomainBetaZone,
	corev1.LabelFailureDomainBetaRegion)

// valueKind returns the kind of the values of a label or taint, or "" for
// numbers.
func valueKind(key string) string {
	switch key {
	case corev1.LabelHostname, "metadata.name":
		return "node"
	case corev1.LabelMetadataName, "meta.helm.sh/release-namespace", "kustomize.toolkit.fluxcd.io/namespace",
		"helm.toolkit.fluxcd.io/namespace":
		return "namespace"
	case appsv1.DeprecatedTemplateGeneration, "pod-template-generation":
		return ""
	case corev1.LabelArchStable, corev1.LabelOSStable, "beta.kubernetes.io/arch", "beta.kubernetes.io/os":
		return "platform"
	case "app.kubernetes.io/managed-by", "addonmanager.kubernetes.io/mode":
		return "tool"
	}
	if strings.HasPrefix(key, "pod-security.kubernetes.io/") {
		return "level"
	}
	return "value"
}

func isNumber(text string) bool {
	_, err := strconv.ParseInt(text, 10, 64)
	return err == nil
}

// fix sets the stand-ins that depend on others: compared numbers stand for
// themselves, and names of revisions begin with the stand-in of their
// DaemonSet.
func (w *walker) fix() {
	for key := range w.compared {
		for value := range w.numbers[key] {
			w.kinds[valueKind(key)].fix(value, value)
		}
	}
	for _, ds := range w.mixed {
		w.kinds["daemonset"].assign()
		w.kinds["hash"].fix(ds+"-", w.kinds["daemonset"].standIns[ds]+"-")
	}
}

// annotation returns the replacement of the value of an annotation.
func (w *walker) annotation(p place, key, value string) string {
	text := func() string { return w.name("text", value) }
	switch {
	case hide.IsDigest(value), values.has(value):
		return value
	case key == corev1.LastAppliedConfigAnnotation:
		return string(w.raw([]byte(value), reflect.TypeFor[appsv1.DaemonSet](), place{}))
	case key == "kubectl.kubernetes.io/restartedAt":
		if _, err := time.Parse(time.RFC3339, value); err == nil {
			return value
		}
	case key == appsv1.DeprecatedTemplateGeneration, strings.HasSuffix(key, "/namespace"),
		strings.HasSuffix(key, "/release-namespace"):
		return w.labelValue(key, value)
	case key == snapshot.NodeSelectorAnnotation, key == snapshot.ProjectNodeSelectorAnnotation:
		return aSelector(w, p, value)
	case key == "linkerd.io/proxy-version":
		return aVersion(w, p, value)
	case isInjection(key) && injections.has(value):
		return value
	case key == "argocd.argoproj.io/tracking-id":
		app, object, _ := strings.Cut(value, ":")
		if at, is := strings.CutPrefix(object, "apps/DaemonSet:"); is {
			namespace, name, _ := strings.Cut(at, "/")
			return w.name("text", app) + ":apps/DaemonSet:" + w.name("namespace", namespace) + "/" +
				w.name("daemonset", name)
		}
	case key == "objectset.rio.cattle.io/owner-gvk":
		if version, kind, is := strings.Cut(value, "Kind="); is {
			return w.name("text", strings.TrimRight(version, ", ")) + ", Kind=" + w.name("kind", kind)
		}
	case strings.HasPrefix(key, corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix):
		switch profile, local := strings.CutPrefix(value, corev1.DeprecatedAppArmorBetaProfileNamePrefix); {
		case value == corev1.DeprecatedAppArmorBetaProfileRuntimeDefault,
			value == corev1.DeprecatedAppArmorBetaProfileNameUnconfined:
			return value
		case local && profile == strings.TrimSpace(profile):
			return corev1.DeprecatedAppArmorBetaProfileNamePrefix + w.name("text", profile)
		}
	}
	return text()
}

// isInjection reports whether an annotation says who changed a pod at its
// creation.
func isInjection(key string) bool {
	_, is := snapshot.PodAnnotations[key]
	return is
}

// aSelector redacts a node selector in text form. An invalid selector stays
// invalid.
func aSelector(w *walker, _ place, text string) string {
	if _, err := labels.Parse(text); err != nil {
		return w.composed("selector", text, w.name("text", text)+"!!")
	}
	return requirement.ReplaceAllStringFunc(text, func(one string) string {
		m := requirement.FindStringSubmatch(one)
		if operator := strings.TrimSpace(m[3]); operator != "=" && operator != "==" && operator != "in" {
			w.compared[m[2]] = true
		}
		return m[1] + w.key(m[2]) + m[3] +
			selected.ReplaceAllStringFunc(m[4], func(value string) string { return w.labelValue(m[2], value) })
	})
}

// A requirement of a selector is a key, optionally followed by an operator and
// values.
var (
	requirement = regexp.MustCompile(`([\s,!]*)([^\s,!=<>()]+)(\s*(?:==|=|!=|<|>|\b(?:in|notin)\b)\s*)?(\([^()]*\)|[^\s,()]*)`)
	selected    = regexp.MustCompile(`[^\s,()]+`)
)

var letterRuns = regexp.MustCompile(`[A-Za-z]+|[^ -~]+`)

// aVersion redacts the version of a program or a system. It keeps numbers and
// common words.
func aVersion(w *walker, _ place, word string) string {
	return letterRuns.ReplaceAllStringFunc(word, func(run string) string { return w.name("version", run) })
}

// anImage redacts an image reference. Its tag stays separate from its name, and
// a reference that kubelets reject stays invalid for the same reason.
func anImage(w *walker, _ place, word string) string {
	if fault := template.FaultOfImage(word); fault != "" {
		name := w.name("image", word)
		return w.composed("image", word, map[template.ImageFault]string{
			template.ImageScheme: "https://" + name, template.ImageCharacter: name + "?",
			template.ImageUppercase: "X" + name,
			template.ImageNoTag:     name + ":", template.ImageBadDigest: name + "@digest",
			template.ImageForm: name + "/",
		}[fault])
	}
	image := template.ParseImage(word)
	out := w.name("image", image.Repository)
	if image.Tag != "" {
		out += ":" + w.name("tag", image.Tag)
	}
	if algorithm, hex, is := strings.Cut(image.Digest, ":"); is {
		out += "@" + algorithm + ":" + w.name(algorithm, hex)
	}
	return w.composed("image", word, out)
}

// aPort redacts the name of a port.
func aPort(w *walker, _ place, word string) string {
	if isNumber(word) {
		return word
	}
	return w.name("port", word)
}

var number = regexp.MustCompile(`^\d{1,9}%?$`)

// aLimit redacts a number of pods or a percentage.
func aLimit(w *walker, p place, word string) string {
	if number.MatchString(word) {
		return word
	}
	return freeText(w, p, word)
}

// digest redacts the digest of a literal value of an environment variable.
func digest(w *walker, p place, word string) string {
	if hide.IsDigest(word) {
		return word
	}
	return freeText(w, p, word)
}

// fieldPath redacts the field of a pod that a variable refers to.
func fieldPath(w *walker, p place, word string) string {
	if fieldPaths.has(word) {
		return word
	}
	of, key, is := strings.Cut(strings.TrimSuffix(word, "']"), "['")
	if is && (of == "metadata.labels" || of == "metadata.annotations") {
		return of + "['" + w.key(key) + "']"
	}
	return freeText(w, p, word)
}

var partPattern = regexp.MustCompile(`^spec\.(containers|initContainers|ephemeralContainers)\{(.*)\}$`)

// partOfPod redacts the part of a pod that an event is about.
func partOfPod(w *walker, p place, word string) string {
	if m := partPattern.FindStringSubmatch(word); m != nil {
		return "spec." + m[1] + "{" + w.name("container", m[2]) + "}"
	}
	return freeText(w, p, word)
}

// reporter redacts the instance that recorded an event; for a kubelet, the
// node.
func reporter(w *walker, p place, word string) string {
	if p.beside("reportingComponent") == "kubelet" {
		return w.name("node", word)
	}
	return freeText(w, p, word)
}

// holder redacts the holder of a Lease: a machine, which usually has the name
// of its node, followed by a UID.
func holder(w *walker, _ place, word string) string {
	at := strings.LastIndexByte(word, '_')
	if at < 0 {
		return w.name("node", word)
	}
	return w.composed("holder", word, w.name("node", word[:at])+"_"+w.name("uid", word[at+1:]))
}
