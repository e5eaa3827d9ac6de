package snapshot

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Objects are the objects of a cluster that the rules read; New ignores those
// of other namespaces and owners. A nil list was not read, which is a Gap; an
// empty list means that there is none.
type Objects struct {
	Nodes                []corev1.Node
	Pods                 []corev1.Pod
	Revisions            []appsv1.ControllerRevision
	Events               []corev1.Event
	PodDisruptionBudgets []policyv1.PodDisruptionBudget

	// read by OpenShift's controller only
	Namespaces []corev1.Namespace
	// DefaultNodeSelector is OpenShift's node selector for namespaces without
	// one; it is nearly always empty. See OpenShift.
	DefaultNodeSelector string
}

// New returns the Snapshot of a DaemonSet in a cluster with these objects. at
// is the time at which they were read, which must not be zero. version is the
// Kubernetes version, such as "v1.37.1"; if it is empty, VersionSource is
// VersionDefault, otherwise VersionServer (see Under).
//
// New adds a Gap for each nil list, for an unknown version, for nodes without
// conditions, for pods without a phase, and on OpenShift for a missing
// namespace. If a list is incomplete, or the DaemonSet's status is missing, the
// caller has to add the Gap. Objects are sorted by name and shared with in: do
// not modify them. New returns an error if Validate does.
func New(ds *appsv1.DaemonSet, in Objects, at time.Time, version string) (*Snapshot, error) {
	s := &Snapshot{
		DaemonSet: ds, Nodes: inNamespace("", in.Nodes), TakenAt: at, KubernetesVersion: version,
		VersionSource:        VersionServer,
		Revisions:            inNamespace(ds.Namespace, in.Revisions),
		Pods:                 inNamespace(ds.Namespace, in.Pods),
		Events:               inNamespace(ds.Namespace, in.Events),
		PodDisruptionBudgets: inNamespace(ds.Namespace, in.PodDisruptionBudgets),
	}
	for _, part := range []struct {
		what   What
		unread bool
	}{
		{Nodes, in.Nodes == nil}, {Pods, in.Pods == nil}, {Revisions, in.Revisions == nil}, {Events, in.Events == nil},
		{Version, version == ""},
	} {
		if part.unread {
			s.Gaps = append(s.Gaps, Gap{What: part.what, Why: NotGiven, Message: "not given"})
		}
	}
	if slices.ContainsFunc(s.Nodes, func(n corev1.Node) bool { return len(n.Status.Conditions) == 0 }) {
		s.Gaps = append(s.Gaps, Gap{What: NodeStatus, Why: NotGiven, Message: "not given"})
	}
	if slices.ContainsFunc(s.Pods, func(p corev1.Pod) bool { return p.Status.Phase == "" }) {
		s.Gaps = append(s.Gaps, Gap{What: PodStatus, Why: NotGiven, Message: "not given"})
	}
	if OnOpenShift(s.Nodes) {
		s.OpenShift = in.openShift(ds.Namespace)
		if s.OpenShift.Namespace == nil {
			s.Gaps = append(s.Gaps, Gap{What: NamespaceNodeSelector, Why: NotGiven, Message: "not given"})
		}
	}
	slices.SortStableFunc(s.Gaps,
		func(a, b Gap) int { return slices.Index(Whats, a.What) - slices.Index(Whats, b.What) })
	if version == "" {
		s.VersionSource = VersionDefault
	}
	return s, Validate(s)
}

// openShift returns what OpenShift's controller reads for a namespace.
func (in *Objects) openShift(namespace string) *OpenShift {
	o := &OpenShift{}
	if i := slices.IndexFunc(in.Namespaces, func(n corev1.Namespace) bool { return n.Name == namespace }); i >= 0 {
		o.Namespace = &in.Namespaces[i]
	}
	if o.NeedsDefault() {
		o.DefaultNodeSelector = in.DefaultNodeSelector
	}
	return o
}

// inNamespace returns the objects of a namespace, sorted by name.
func inNamespace[T any, P interface {
	*T
	metav1.Object
}](namespace string, all []T) []T {
	out := slices.DeleteFunc(slices.Clone(all), func(o T) bool { return P(&o).GetNamespace() != namespace })
	slices.SortFunc(out, func(a, b T) int { return strings.Compare(P(&a).GetName(), P(&b).GetName()) })
	return out
}

// FromList returns the DaemonSets and the Objects of a JSON List, as written by
// kubectl get daemonsets,nodes,pods,controllerrevisions -o json. If the List
// has no object of a kind, that kind counts as not read; other kinds are
// ignored. FromList returns an error if the text is not a List, is one page of
// several, or contains an object of these kinds that cannot be decoded.
func FromList(raw []byte) (daemonSets []appsv1.DaemonSet, in Objects, err error) {
	var list struct {
		metav1.ListMeta `json:"metadata"`
		Items           []json.RawMessage
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, in, fmt.Errorf("a List in JSON: %w", err)
	}
	if list.Items == nil {
		return nil, in, errors.New("a List in JSON: it has no items")
	}
	if list.Continue != "" || list.RemainingItemCount != nil {
		return nil, in, errors.New("a List in JSON: it is one page of several")
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
			case "v1 Namespace":
				in.Namespaces, err = add(in.Namespaces, item)
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
