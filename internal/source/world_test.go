package source_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/source/api"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// noon is the time of the last change in every test world.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// world has the objects of a cluster.
type world []runtime.Object

// parseWorld parses the notation of these tests, with one object per line:
//
//	ds NAME       a DaemonSet that selects app=NAME
//	node NAME
//	pod NAME      words: app=X its label; owner=X its DaemonSet; ready; ending; node=X (default: n1), node= for none;
//	              nominated=X; cpu=100m its request; priority=N; port=N on the host; phase=X (default: Running)
//	rev NAME      a ControllerRevision; words: app=X, owner=X
//	event NAME    words: about=Kind/NAME, normal (default: a warning), reason=X, of=X the container,
//	              before=N seconds ago
//	pdb NAME      a PodDisruptionBudget; words: selects=X the pods with app=X,
//	              selects= all pods of the namespace, selects=? an invalid selector
//	other NAME    a ConfigMap
//
// and for admission, with label=X for a label team=X:
//
//	namespace NAME  words: ending
//	priorityclass NAME, runtimeclass NAME, serviceaccount NAME, quota NAME, limits NAME
//	validating NAME, mutating NAME  webhooks; words: of=pods, in=X the namespaces with team=X,
//	                                for=X the pods with app=X
//	policy NAME, mpolicy NAME       a validating or mutating policy; the same words
//	binding NAME, mbinding NAME     words: policy=NAME, audits, and the same words
//
// and for OpenShift:
//
//	node NAME       words: openshift
//	namespace NAME  words: selects=X, kube=X its annotations with node selectors
//	manager NAME    a KubeControllerManager; words: observed=X, overridden=X the default node selector
//
// and for volumes:
//
//	pvc NAME      words: volume=X its volume, bindable (no bind-completed annotation), onepod, modes=X,Y in its status
//	pv NAME       words: zone=X in its node affinity, label=X its zone as a label, driver=X, handle=X (default: NAME)
//	csinode NAME  words: driver=X, limit=N
//	node NAME     words: attached=DRIVER^HANDLE,... in its status
//	pod NAME      words: claim=X, own=X a generic ephemeral volume
//
// and for the controller:
//
//	lease NAME    words: by=X the holder, before=N seconds since its renewal
//
// Words for all: ns=X (default kube-system, node: none), uid=X (default: built from kind and name), rv=N, gen=N,
// current=N (in the status of a ds), label=X. The line "nodes 1200" creates the nodes n0000, n0001 and so on.
func parseWorld(t testing.TB, text string) world {
	t.Helper()
	var w world
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if words[0] == "nodes" {
			var n int
			if _, err := fmt.Sscan(words[1], &n); err != nil {
				t.Fatal(err)
			}
			for i := range n {
				w = append(w, parseObject(t, []string{"node", fmt.Sprintf("n%04d", i)}))
			}
			continue
		}
		w = append(w, parseObject(t, words))
	}
	return w
}

func parseObject(t testing.TB, words []string) runtime.Object {
	t.Helper()
	kind, name := words[0], words[1]
	has := map[string]string{}
	for _, word := range words[2:] {
		k, v, _ := strings.Cut(word, "=")
		has[k] = v
	}
	number := func(k string) (n int64) {
		if has[k] != "" {
			if _, err := fmt.Sscan(has[k], &n); err != nil {
				t.Fatalf("%v: %v", words, err)
			}
		}
		return n
	}
	at := metav1.NewTime(noon.Local())
	meta := metav1.ObjectMeta{
		Name: name, Namespace: "kube-system", UID: types.UID("uid-of-" + kind + "-" + name), ResourceVersion: "1", CreationTimestamp: at,
		Generation: number("gen"),
		ManagedFields: []metav1.ManagedFieldsEntry{
			{Manager: "kubectl", Operation: "Update", Time: &at, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`)},
			{Manager: "manager", Operation: "Update", Time: &at, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:status":{}}`), Subresource: "status"},
		},
	}
	if ns := has["ns"]; ns != "" {
		meta.Namespace = ns
	}
	if uid := has["uid"]; uid != "" {
		meta.UID = types.UID(uid)
	}
	if rv := has["rv"]; rv != "" {
		meta.ResourceVersion = rv
	}
	if app := has["app"]; app != "" {
		meta.Labels = map[string]string{"app": app}
	}
	if owner := has["owner"]; owner != "" {
		yes := true
		meta.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: owner, UID: types.UID("uid-of-ds-" + owner), Controller: &yes}}
	}
	switch kind {
	case "ds":
		if l := has["label"]; l != "" {
			meta.Labels = map[string]string{"team": l}
		}
		o := &appsv1.DaemonSet{ObjectMeta: meta}
		o.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
		o.Spec.Template.Labels = o.Spec.Selector.MatchLabels
		o.Annotations = map[string]string{"deprecated.daemonset.template.generation": "1"}
		o.Status.CurrentNumberScheduled = int32(number("current"))
		o.Status.ObservedGeneration = number("gen")
		o.Spec.Template.Spec.ServiceAccountName = has["account"]
		if class, ok := has["runtime"]; ok {
			o.Spec.Template.Spec.RuntimeClassName = &class
		}
		return o
	case "node":
		meta.Namespace = ""
		meta.Annotations = map[string]string{"csi": "long"}
		var attached []corev1.AttachedVolume
		for name := range strings.SplitSeq(has["attached"], ",") {
			if name != "" {
				attached = append(attached, corev1.AttachedVolume{Name: corev1.UniqueVolumeName("kubernetes.io/csi/" + name)})
			}
		}
		if _, is := has["openshift"]; is {
			meta.Labels = map[string]string{"node.openshift.io/os_id": "rhcos"}
		}
		inUse := []corev1.UniqueVolumeName{"kubernetes.io/host-path/x"}
		for _, v := range attached {
			inUse = append(inUse, v.Name)
		}
		return &corev1.Node{ObjectMeta: meta, Status: corev1.NodeStatus{
			VolumesAttached: attached, VolumesInUse: inUse,
			Images:     []corev1.ContainerImage{{Names: []string{"an-image"}, SizeBytes: 1}},
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: at, LastTransitionTime: at}},
		}}
	case "pod":
		o := &corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Name: "c", Image: "i:1", Env: []corev1.EnvVar{{Name: "TOKEN", Value: "hidden"}}}}}}
		o.Status.Phase = corev1.PodRunning
		o.Status.NominatedNodeName = has["nominated"]
		if phase := has["phase"]; phase != "" {
			o.Status.Phase = corev1.PodPhase(phase)
		}
		if node, given := has["node"]; given {
			o.Spec.NodeName = node
		}
		if cpu := has["cpu"]; cpu != "" {
			o.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse(cpu)}
		}
		if port := number("port"); port > 0 {
			o.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: int32(port), Protocol: corev1.ProtocolTCP}}
		}
		if has["priority"] != "" {
			priority := int32(number("priority"))
			o.Spec.Priority = &priority
		}
		if claim := has["claim"]; claim != "" {
			o.Spec.Volumes = append(o.Spec.Volumes, corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim, ReadOnly: true}}})
		}
		if own := has["own"]; own != "" {
			o.Spec.Volumes = append(o.Spec.Volumes, corev1.Volume{Name: own, VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{}}}})
		}
		status := corev1.ConditionFalse
		if _, ready := has["ready"]; ready {
			status = corev1.ConditionTrue
		}
		o.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status, LastTransitionTime: at}}
		if _, ending := has["ending"]; ending {
			later := metav1.NewTime(at.Add(30 * time.Second))
			o.DeletionTimestamp = &later
		}
		return o
	case "rev":
		return &appsv1.ControllerRevision{ObjectMeta: meta, Revision: 1, Data: runtime.RawExtension{Raw: []byte(`{"spec":{"template":{"$patch":"replace"}}}`)}}
	case "event":
		o := &corev1.Event{ObjectMeta: meta, Type: corev1.EventTypeWarning, Reason: "Why", Message: "because", LastTimestamp: at}
		if _, normal := has["normal"]; normal {
			o.Type = corev1.EventTypeNormal
		}
		o.Reason = cmp.Or(has["reason"], o.Reason)
		if of := has["of"]; of != "" {
			o.InvolvedObject.FieldPath = "spec.containers{" + of + "}"
		}
		o.LastTimestamp = metav1.NewTime(at.Add(-time.Duration(number("before")) * time.Second))
		k, n, _ := strings.Cut(has["about"], "/")
		uid := has["aboutuid"]
		if uid == "" {
			uid = "uid-of-" + map[string]string{"DaemonSet": "ds", "Pod": "pod"}[k] + "-" + n
		}
		o.InvolvedObject.Kind, o.InvolvedObject.Namespace, o.InvolvedObject.Name, o.InvolvedObject.UID = k, meta.Namespace, n, types.UID(uid)
		return o
	case "pdb":
		o := &policyv1.PodDisruptionBudget{ObjectMeta: meta, Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 1}}
		o.Annotations = map[string]string{"applied": "long"}
		switch app, given := has["selects"]; {
		case app == "?":
			o.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Is"}}}
		case app != "":
			o.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
		case given:
			o.Spec.Selector = &metav1.LabelSelector{}
		}
		return o
	case "namespace", "priorityclass", "runtimeclass", "serviceaccount", "quota", "limits", "validating", "mutating", "policy", "binding", "mpolicy", "mbinding":
		return forAdmission(kind, meta, has)
	case "pvc":
		meta.Annotations = map[string]string{"applied": "long"}
		o := &corev1.PersistentVolumeClaim{ObjectMeta: meta, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: has["volume"], AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}}}
		if _, bindable := has["bindable"]; !bindable {
			o.Annotations["pv.kubernetes.io/bind-completed"] = "yes"
		}
		for mode := range strings.SplitSeq(has["modes"], ",") {
			if mode != "" {
				o.Status.AccessModes = append(o.Status.AccessModes, corev1.PersistentVolumeAccessMode(mode))
			}
		}
		if _, one := has["onepod"]; one {
			o.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
		}
		return o
	case "pv":
		meta.Namespace = ""
		o := &corev1.PersistentVolume{ObjectMeta: meta}
		if zone := has["label"]; zone != "" {
			o.Labels = map[string]string{"topology.kubernetes.io/zone": zone, "team": "a"}
		}
		if zone := has["zone"]; zone != "" {
			o.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{zone}}},
			}}}}
		}
		if driver := has["driver"]; driver != "" {
			o.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: cmp.Or(has["handle"], name)}
		}
		return o
	case "csinode":
		meta.Namespace = ""
		d := storagev1.CSINodeDriver{Name: has["driver"], NodeID: name}
		if has["limit"] != "" {
			limit := int32(number("limit"))
			d.Allocatable = &storagev1.VolumeNodeResources{Count: &limit}
		}
		return &storagev1.CSINode{ObjectMeta: meta, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{d, {Name: "another", NodeID: name, Allocatable: d.Allocatable}}}}
	case "manager":
		meta.Namespace = ""
		config := func(word string) map[string]any {
			selector, said := has[word]
			if !said {
				return map[string]any{"extendedArguments": map[string]any{"cluster-name": []string{"x"}}}
			}
			return map[string]any{"projectConfig": map[string]any{"defaultNodeSelector": selector}}
		}
		return &kubeControllerManager{ObjectMeta: meta, Spec: map[string]any{"managementState": "Managed", "observedConfig": config("observed"), "unsupportedConfigOverrides": config("overridden")}}
	case "lease":
		o, seconds, acquired := &coordinationv1.Lease{ObjectMeta: meta}, int32(15), metav1.NewMicroTime(at.Add(-time.Hour))
		renewed := metav1.NewMicroTime(at.Add(-time.Duration(number("before")) * time.Second))
		if by := has["by"]; by != "" {
			o.Spec = coordinationv1.LeaseSpec{HolderIdentity: &by, LeaseDurationSeconds: &seconds, AcquireTime: &acquired, RenewTime: &renewed}
		}
		return o
	case "other":
		return &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"k": "v"}}
	}
	t.Fatalf("no such kind: %v", words)
	return nil
}

// forAdmission returns an object of a kind that affects the creation of pods, with fields that no rule reads.
func forAdmission(kind string, meta metav1.ObjectMeta, has map[string]string) runtime.Object {
	meta.Annotations = map[string]string{"applied": "long"}
	if l := has["label"]; l != "" {
		meta.Labels = map[string]string{"team": l}
	}
	ofNamespace := meta
	meta.Namespace = ""
	selecting := func(label, value string) *metav1.LabelSelector {
		if value == "" {
			return &metav1.LabelSelector{}
		}
		return &metav1.LabelSelector{MatchLabels: map[string]string{label: value}}
	}
	rule := admissionv1.RuleWithOperations{
		Operations: []admissionv1.OperationType{admissionv1.Create},
		Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{has["of"]}},
	}
	if has["of"] == "" {
		rule.Resources = []string{"pods"}
	}
	byNamespace, byObject := selecting("team", has["in"]), selecting("app", has["for"])
	resources := &admissionv1.MatchResources{NamespaceSelector: byNamespace, ObjectSelector: byObject, ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: rule}}}
	switch kind {
	case "namespace":
		for word, annotation := range map[string]string{"selects": "openshift.io/node-selector", "kube": "scheduler.alpha.kubernetes.io/node-selector"} {
			if selector, said := has[word]; said {
				meta.Annotations[annotation] = selector
			}
		}
		n := &corev1.Namespace{ObjectMeta: meta, Spec: corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{"kubernetes"}}, Status: corev1.NamespaceStatus{Phase: corev1.NamespaceActive}}
		if _, ending := has["ending"]; ending {
			n.DeletionTimestamp, n.Status.Phase = &meta.CreationTimestamp, corev1.NamespaceTerminating
			n.Status.Conditions = []corev1.NamespaceCondition{{Type: corev1.NamespaceContentRemaining, Status: corev1.ConditionTrue, Message: "long"}}
		}
		return n
	case "priorityclass":
		return &schedulingv1.PriorityClass{ObjectMeta: meta, Value: 7, Description: "long"}
	case "runtimeclass":
		return &nodev1.RuntimeClass{ObjectMeta: meta, Handler: "runc", Overhead: &nodev1.Overhead{PodFixed: corev1.ResourceList{"cpu": resource.MustParse("100m")}}}
	case "serviceaccount":
		return &corev1.ServiceAccount{ObjectMeta: ofNamespace, Secrets: []corev1.ObjectReference{{Name: "token"}}, ImagePullSecrets: []corev1.LocalObjectReference{{Name: "pull"}}}
	case "quota":
		hard := corev1.ResourceList{"pods": resource.MustParse("5")}
		return &corev1.ResourceQuota{ObjectMeta: ofNamespace, Spec: corev1.ResourceQuotaSpec{Hard: hard}, Status: corev1.ResourceQuotaStatus{Hard: hard, Used: hard}}
	case "limits":
		return &corev1.LimitRange{ObjectMeta: ofNamespace, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{"cpu": resource.MustParse("1")}}}}}
	case "validating":
		return &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: meta, Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "hook", Rules: []admissionv1.RuleWithOperations{rule}, NamespaceSelector: byNamespace, ObjectSelector: byObject, ClientConfig: admissionv1.WebhookClientConfig{CABundle: []byte("long")},
		}}}
	case "mutating":
		return &admissionv1.MutatingWebhookConfiguration{ObjectMeta: meta, Webhooks: []admissionv1.MutatingWebhook{{
			Name: "hook", Rules: []admissionv1.RuleWithOperations{rule}, NamespaceSelector: byNamespace, ObjectSelector: byObject,
		}}}
	case "policy":
		return &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: meta, Spec: admissionv1.ValidatingAdmissionPolicySpec{MatchConstraints: resources}}
	case "mpolicy":
		return &admissionv1.MutatingAdmissionPolicy{ObjectMeta: meta, Spec: admissionv1.MutatingAdmissionPolicySpec{MatchConstraints: resources}}
	case "binding":
		actions := []admissionv1.ValidationAction{admissionv1.Deny}
		if _, audits := has["audits"]; audits {
			actions = []admissionv1.ValidationAction{admissionv1.Audit}
		}
		resources.ResourceRules = nil
		return &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: meta, Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: has["policy"], MatchResources: resources, ValidationActions: actions}}
	}
	return &admissionv1.MutatingAdmissionPolicyBinding{ObjectMeta: meta, Spec: admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: has["policy"]}}
}

// kubeControllerManager has the needed fields of the kind in operator.openshift.io/v1.
type kubeControllerManager struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              map[string]any `json:"spec"`
}

func (k *kubeControllerManager) DeepCopyObject() runtime.Object {
	c := *k
	return &c
}

// typed returns a copy of o with its kind and apiVersion.
func typed(o runtime.Object) runtime.Object {
	o = o.DeepCopyObject()
	switch o.(type) { // kinds that are read as JSON
	case *kubeControllerManager:
		o.GetObjectKind().SetGroupVersionKind(object.OfManagers.GroupVersionKind())
		return o
	case *coordinationv1.Lease:
		o.GetObjectKind().SetGroupVersionKind(object.OfLeases.GroupVersionKind())
		return o
	}
	kinds, _, err := api.APIScheme().ObjectKinds(o)
	if err != nil {
		panic(err)
	}
	o.GetObjectKind().SetGroupVersionKind(kinds[0])
	return o
}
