package dstest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// State returns the state that a grid describes. README.md describes the notation. State panics if
// Parse returns an error.
func State(grid string, options ...Option) *snapshot.Snapshot {
	s, err := Parse(grid, options...)
	if err != nil {
		panic(err)
	}
	return s
}

// Parse returns the state that a grid describes. README.md describes the notation.
func Parse(grid string, options ...Option) (*snapshot.Snapshot, error) {
	ds := newDaemonSet()
	s := newSnapshot(ds, Newest)
	for _, o := range options {
		if o.first != nil {
			if err := o.first(s); err != nil {
				return nil, err
			}
		}
	}
	nullTime := !atLeast(s.KubernetesVersion, 34)
	s.Revisions = []appsv1.ControllerRevision{
		newRevision(OldHash, 1, withImage(&ds.Spec.Template, "example/agent:1"), nullTime),
		newRevision(NewHash, 2, &ds.Spec.Template, nullTime),
	}
	node := 0
	for _, field := range strings.Fields(grid) {
		cell, times, err := repetition(field)
		if err != nil {
			return nil, fmt.Errorf("grid %q: %q: %w", grid, field, err)
		}
		for range times {
			if err := addCell(s, strconv.Itoa(node), cell); err != nil {
				return nil, fmt.Errorf("grid %q: %q: %w", grid, field, err)
			}
			node++
		}
	}
	for _, o := range options {
		if o.last != nil {
			if err := o.last(s); err != nil {
				return nil, fmt.Errorf("grid %q: %w", grid, err)
			}
		}
	}
	return s, nil
}

func repetition(field string) (cell string, times int, err error) {
	cell, count, found := strings.Cut(field, "*")
	if !found {
		return field, 1, nil
	}
	times, err = strconv.Atoi(count)
	if err != nil || times < 1 {
		return "", 0, fmt.Errorf("repeated %q times", count)
	}
	return cell, times, nil
}

// addCell adds the node with a number and its pods.
func addCell(s *snapshot.Snapshot, number, cell string) error {
	node := newNode("n" + number)
	exists := true
	taint := func(key string, e corev1.TaintEffect) {
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: key, Effect: e})
	}
	pods := strings.TrimLeft(cell, "!#^~")
	marks := cell[:len(cell)-len(pods)]
	for i, m := range marks {
		if strings.ContainsRune(marks[:i], m) {
			return fmt.Errorf("mark %q twice", m)
		}
		switch m {
		case '!':
			taint("dedicated", corev1.TaintEffectNoSchedule)
		case '#':
			taint("dedicated", corev1.TaintEffectNoExecute)
		case '^':
			node.Spec.Unschedulable = true
			taint(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule)
		case '~':
			exists = false
		}
	}
	switch {
	case !exists && len(marks) > 1:
		return fmt.Errorf("a node that is gone has no taint")
	case !exists && pods == "-":
		return fmt.Errorf("a node that is gone and has no pod is nothing")
	case exists:
		s.Nodes = append(s.Nodes, node)
	}
	if pods == "-" {
		return nil
	}
	for i, letters := range strings.Split(pods, "/") {
		p, err := newCellPod(s, podName(number, i), node.Name, letters)
		if err != nil {
			return err
		}
		p.CreationTimestamp = ago(time.Duration(100-i) * time.Hour)
		s.Pods = append(s.Pods, p)
	}
	return nil
}

// podName returns the name of a pod, given the number of its node and its index there.
func podName(number string, place int) string {
	if place == 0 {
		return "p" + number
	}
	return "p" + number + string(rune('a'+place))
}

func newCellPod(s *snapshot.Snapshot, name, node, letters string) (corev1.Pod, error) {
	if letters == "" {
		return corev1.Pod{}, fmt.Errorf("a pod without a letter")
	}
	hash, generation := OldHash, OldGeneration
	switch letters[0] {
	case 'O', 'o', 'V':
	case 'N', 'n', 'W':
		hash, generation = NewHash, NewGeneration
	case 'G', 'g':
		generation = NewGeneration
	case 'H', 'h':
		hash = NewHash
	default:
		return corev1.Pod{}, fmt.Errorf("a pod begins with one of OoNnVWGgHh, not with %q", letters[:1])
	}
	p := newPod(name, node, hash, generation)
	ready := letters[0] < 'a'
	switch {
	case !ready:
		p.Status.Conditions = readyCondition(corev1.ConditionFalse, ago(time.Hour))
	case letters[0] == 'V' || letters[0] == 'W':
		if s.DaemonSet.Spec.MinReadySeconds < 2 {
			return corev1.Pod{}, fmt.Errorf("a ready pod that is not yet available needs MinReadySeconds of 2 or more")
		}
		p.Status.Conditions = readyCondition(corev1.ConditionTrue, ago(time.Second))
	}
	for i, flag := range letters[1:] {
		if strings.ContainsRune(letters[1:1+i], flag) {
			return corev1.Pod{}, fmt.Errorf("flag %q twice", flag)
		}
		if ready && strings.ContainsRune("fsp", flag) {
			return corev1.Pod{}, fmt.Errorf("a pod with %q is not ready: write its letter small", flag)
		}
		if err := flagPod(&p, flag); err != nil {
			return corev1.Pod{}, err
		}
	}
	return p, nil
}

func flagPod(p *corev1.Pod, flag rune) error {
	phase := func(to corev1.PodPhase) error {
		if p.Status.Phase != corev1.PodRunning {
			return fmt.Errorf("a pod cannot be %s and %s", p.Status.Phase, to)
		}
		p.Status.Phase = to
		return nil
	}
	owner := func(refs ...metav1.OwnerReference) error {
		if len(p.OwnerReferences) != 1 || p.OwnerReferences[0].UID != uid || p.Labels["app"] != Name {
			return fmt.Errorf("a pod has one owner: of a, r and x only one")
		}
		p.OwnerReferences = refs
		return nil
	}
	switch flag {
	case 't':
		grace, at := int64(30), ago(time.Minute)
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds, p.Finalizers = &at, &grace, []string{"example.com/hold"}
		return nil
	case 'f':
		return phase(corev1.PodFailed)
	case 's':
		return phase(corev1.PodSucceeded)
	case 'p':
		p.Spec.NodeName = ""
		return phase(corev1.PodPending)
	case 'a':
		return owner()
	case 'x':
		return owner(ownerOf("ReplicaSet", "web", "another"))
	case 'r':
		err := owner(p.OwnerReferences...)
		p.Labels["app"] = "other"
		return err
	}
	return fmt.Errorf("a pod has flags of tfspaxr, not %q", flag)
}

// Option changes a state beyond what its grid describes.
type Option struct {
	first func(*snapshot.Snapshot) error // before the revisions are stored
	last  func(*snapshot.Snapshot) error
}

// DaemonSet changes the DaemonSet. The current revision stores the changed template.
func DaemonSet(change func(*appsv1.DaemonSet)) Option {
	return Option{first: func(s *snapshot.Snapshot) error { change(s.DaemonSet); return nil }}
}

// MaxUnavailable sets maxUnavailable, such as "2" or "25%".
func MaxUnavailable(limit string) Option {
	v := intstr.Parse(limit)
	return DaemonSet(func(ds *appsv1.DaemonSet) { ds.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable = &v })
}

// MaxSurge sets maxSurge, such as "2" or "25%", and sets maxUnavailable to 0, as the API requires.
func MaxSurge(limit string) Option {
	v, zero := intstr.Parse(limit), intstr.FromInt32(0)
	return DaemonSet(func(ds *appsv1.DaemonSet) {
		ds.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &zero, MaxSurge: &v}
	})
}

// OnDelete sets the update strategy OnDelete.
func OnDelete() Option {
	return DaemonSet(func(ds *appsv1.DaemonSet) {
		ds.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
	})
}

// MinReadySeconds sets minReadySeconds.
func MinReadySeconds(n int32) Option {
	return DaemonSet(func(ds *appsv1.DaemonSet) { ds.Spec.MinReadySeconds = n })
}

// Version sets the Kubernetes version. The revisions are stored as the controller of this version
// stores them.
func Version(v string) Option {
	return Option{first: func(s *snapshot.Snapshot) error { s.KubernetesVersion = v; return nil }}
}

// Edit changes the whole state after all preceding options.
func Edit(change func(*snapshot.Snapshot)) Option {
	return Option{last: func(s *snapshot.Snapshot) error { change(s); return nil }}
}

// Node changes a node of the grid.
func Node(name string, change func(*corev1.Node)) Option {
	return Option{last: func(s *snapshot.Snapshot) error {
		return changeNamed("node", name, s.Nodes, func(n *corev1.Node) string { return n.Name }, change)
	}}
}

// Pod changes a pod of the grid.
func Pod(name string, change func(*corev1.Pod)) Option {
	return Option{last: func(s *snapshot.Snapshot) error {
		return changeNamed("pod", name, s.Pods, func(p *corev1.Pod) string { return p.Name }, change)
	}}
}

// Revision changes a revision, agent-old or agent-new.
func Revision(name string, change func(*appsv1.ControllerRevision)) Option {
	return Option{last: func(s *snapshot.Snapshot) error {
		return changeNamed("revision", name, s.Revisions, func(r *appsv1.ControllerRevision) string { return r.Name }, change)
	}}
}

// AddRevision adds an owned revision agent-HASH of the live template, with another image if image
// is not empty.
func AddRevision(hash string, number int64, image string) Option {
	return Option{last: func(s *snapshot.Snapshot) error {
		t := &s.DaemonSet.Spec.Template
		if image != "" {
			t = withImage(t, image)
		}
		s.Revisions = append(s.Revisions, newRevision(hash, number, t, !atLeast(s.KubernetesVersion, 34)))
		return nil
	}}
}

func changeNamed[T any](kind, name string, of []T, nameOf func(*T) string, change func(*T)) error {
	i := slices.IndexFunc(of, func(o T) bool { return nameOf(&o) == name })
	if i < 0 {
		return fmt.Errorf("there is no %s %s", kind, name)
	}
	change(&of[i])
	return nil
}
