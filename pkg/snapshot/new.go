package snapshot

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Objects are what a cluster has of the kinds that the rules look at; those of
// other namespaces and of other owners may be among them. A nil list was not read,
// which is a Gap; an empty one says that there is none.
type Objects struct {
	Nodes                []corev1.Node
	Pods                 []corev1.Pod
	Revisions            []appsv1.ControllerRevision
	Events               []corev1.Event
	PodDisruptionBudgets []policyv1.PodDisruptionBudget
}

// New returns the Snapshot of a DaemonSet in a cluster with these objects, as they
// were at a time. Version is that of Kubernetes, as "v1.37.1", or empty if it is not
// known, which is a Gap. The objects are shared, not copied; nobody may change them
// as long as the Snapshot is used. It fails as Validate does.
func New(ds *appsv1.DaemonSet, in Objects, at time.Time, version string) (*Snapshot, error) {
	s := &Snapshot{
		DaemonSet: ds, Nodes: in.Nodes, TakenAt: at, KubernetesVersion: version, VersionSource: VersionServer,
		Revisions:            inNamespace(ds.Namespace, in.Revisions),
		Pods:                 inNamespace(ds.Namespace, in.Pods),
		Events:               inNamespace(ds.Namespace, in.Events),
		PodDisruptionBudgets: inNamespace(ds.Namespace, in.PodDisruptionBudgets),
	}
	for _, part := range []struct {
		what   What
		unread bool
	}{
		{Nodes, in.Nodes == nil}, {Pods, in.Pods == nil}, {Revisions, in.Revisions == nil}, {Events, in.Events == nil}, {Version, version == ""},
	} {
		if part.unread {
			s.Gaps = append(s.Gaps, Gap{What: part.what, Why: NotGiven, Message: "not given"})
		}
	}
	if version == "" {
		s.VersionSource = VersionDefault
	}
	return s, Validate(s)
}

func inNamespace[T any, P interface {
	*T
	metav1.Object
}](namespace string, all []T) []T {
	return slices.DeleteFunc(slices.Clone(all), func(o T) bool { return P(&o).GetNamespace() != namespace })
}

// FromList returns the DaemonSets and the Objects of a List in JSON, as kubectl get
// daemonsets,nodes,pods,controllerrevisions -o json writes it. A kind of which it
// has no object was not read; other kinds are left out.
func FromList(raw []byte) (daemonSets []appsv1.DaemonSet, in Objects, err error) {
	var list struct{ Items []json.RawMessage }
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, in, fmt.Errorf("a List in JSON: %w", err)
	}
	for i, item := range list.Items {
		var kind metav1.TypeMeta
		if err = json.Unmarshal(item, &kind); err == nil {
			switch kind.APIVersion + " " + kind.Kind {
			case "apps/v1 DaemonSet":
				daemonSets, err = add(daemonSets, item)
			case "v1 Node":
				in.Nodes, err = add(in.Nodes, item)
			case "v1 Pod":
				in.Pods, err = add(in.Pods, item)
			case "apps/v1 ControllerRevision":
				in.Revisions, err = add(in.Revisions, item)
			case "v1 Event":
				in.Events, err = add(in.Events, item)
			case "policy/v1 PodDisruptionBudget":
				in.PodDisruptionBudgets, err = add(in.PodDisruptionBudgets, item)
			}
		}
		if err != nil {
			return nil, in, fmt.Errorf("items[%d], a %q: %w", i, kind.Kind, err)
		}
	}
	return daemonSets, in, nil
}

func add[T any](to []T, raw []byte) ([]T, error) {
	var o T
	err := json.Unmarshal(raw, &o)
	return append(to, o), err
}
