package dstest

import (
	"encoding/json"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// Names and values that all states share.
const (
	Namespace = "kube-system"
	Name      = "agent"

	// NewHash is the hash of the current revision and OldHash that of the previous one.
	// NewGeneration and OldGeneration are their template generations.
	NewHash       = "new"
	OldHash       = "old"
	NewGeneration = "2"
	OldGeneration = "1"
)

const (
	uid             = types.UID("00000000-0000-4000-8000-000000000001")
	hashLabel       = appsv1.DefaultDaemonSetUniqueLabelKey
	generationLabel = "pod-template-generation"
)

// Now is the time at which all states are taken.
var Now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(Now.Add(-d)) }

// newDaemonSet returns the DaemonSet of a new state: a rolling update with maxUnavailable 1 and a
// simple template.
func newDaemonSet() *appsv1.DaemonSet {
	one, zero, limit := intstr.FromInt32(1), intstr.FromInt32(0), int32(10)
	return &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: Namespace, Name: Name, UID: uid, Generation: 2, CreationTimestamp: ago(1000 * time.Hour),
			Annotations: map[string]string{appsv1.DeprecatedTemplateGeneration: NewGeneration},
		},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": Name}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": Name}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "agent", Image: "example/agent:2"}}},
			},
			UpdateStrategy: appsv1.DaemonSetUpdateStrategy{
				Type:          appsv1.RollingUpdateDaemonSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &one, MaxSurge: &zero},
			},
			RevisionHistoryLimit: &limit,
		},
		Status: appsv1.DaemonSetStatus{ObservedGeneration: 2},
	}
}

func newNode(name string) corev1.Node {
	return corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: ago(1000 * time.Hour), Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux"}},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
}

// newPod returns a running pod that the DaemonSet owns, bound to a node and ready for a long time.
func newPod(name, node, hash, generation string) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: Namespace, Name: name, UID: types.UID("pod-" + name), CreationTimestamp: ago(100 * time.Hour),
			Labels:          map[string]string{"app": Name, hashLabel: hash, generationLabel: generation},
			OwnerReferences: []metav1.OwnerReference{ownerOf("DaemonSet", Name, uid)},
		},
		Spec: corev1.PodSpec{
			NodeName:   node,
			Affinity:   nodeAffinity(targeting(node)),
			Containers: []corev1.Container{{Name: "agent", Image: "example/agent:" + generation}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: readyCondition(corev1.ConditionTrue, ago(99*time.Hour))},
	}
}

func ownerOf(kind, name string, id types.UID) metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{APIVersion: "apps/v1", Kind: kind, Name: name, UID: id, Controller: &yes, BlockOwnerDeletion: &yes}
}

func nodeAffinity(terms ...corev1.NodeSelectorTerm) *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
	}}
}

// targeting returns the term that the controller adds to the pods of a node.
func targeting(nodes ...string) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{
		{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: nodes},
	}}
}

func readyCondition(status corev1.ConditionStatus, since metav1.Time) []corev1.PodCondition {
	return []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
		{Type: corev1.PodReady, Status: status, LastTransitionTime: since},
	}
}

// newRevision returns a ControllerRevision that the DaemonSet owns. Its data are as the controller
// stores them for the template; nullTime selects the form of controllers that store
// "creationTimestamp": null.
func newRevision(hash string, number int64, t *corev1.PodTemplateSpec, nullTime bool) appsv1.ControllerRevision {
	return appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: Namespace, Name: Name + "-" + hash, UID: types.UID("revision-" + hash), CreationTimestamp: ago(time.Duration(500-number) * time.Hour),
			Labels:          map[string]string{"app": Name, hashLabel: hash},
			OwnerReferences: []metav1.OwnerReference{ownerOf("DaemonSet", Name, uid)},
		},
		Data:     runtime.RawExtension{Raw: stored(t, nullTime)},
		Revision: number,
	}
}

func stored(t *corev1.PodTemplateSpec, nullTime bool) []byte {
	c, err := template.Of(t, nullTime)
	if err != nil {
		panic(err)
	}
	raw, err := json.Marshal(map[string]any{"spec": map[string]any{"template": c}})
	if err != nil {
		panic(err)
	}
	return raw
}

// withImage returns a copy of the template with another image.
func withImage(t *corev1.PodTemplateSpec, image string) *corev1.PodTemplateSpec {
	t = t.DeepCopy()
	t.Spec.Containers[0].Image = image
	return t
}

func newSnapshot(ds *appsv1.DaemonSet, version string) *snapshot.Snapshot {
	return &snapshot.Snapshot{DaemonSet: ds, TakenAt: Now, KubernetesVersion: version, VersionSource: snapshot.VersionServer}
}
