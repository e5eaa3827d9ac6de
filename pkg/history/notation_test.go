package history

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// past returns a state with revisions in a notation such as
//
//	1=a 3=b@5 4=a@2+9
//
// Each is NUMBER=CONTENT@CREATED+NUMBERED, with times in minutes. CREATED
// defaults to the number; without NUMBERED, the managed fields have no time. A
// letter is an image, a digit after it the number of restarts, and a ' the form
// of older controllers. 4=a has the name agent-4a and the hash 4a. A leading ~
// makes it an orphan, a leading ! another owner's. The last word is the live
// template; alone, it makes a history without revisions. After a | follow the
// pods of each node, as HASH or HASH/HASH; g makes a pod new by generation.
func past(t testing.TB, text string, options ...dstest.Option) *snapshot.Snapshot {
	t.Helper()
	revisions, pods, _ := strings.Cut(text, "|")
	words := strings.Fields(revisions)
	live := words[len(words)-1]
	s := dstest.State("", dstest.Edit(func(s *snapshot.Snapshot) {
		s.Revisions, s.Nodes, s.Pods = nil, nil, nil
		s.DaemonSet.Spec.Template = contentOf(s, live)
	}))
	for _, w := range words[:len(words)-1] {
		s.Revisions = append(s.Revisions, revisionOf(t, s, w))
	}
	for node, w := range strings.Fields(pods) {
		for i, hash := range strings.Split(w, "/") {
			s.Pods = append(s.Pods, podOf(s, fmt.Sprintf("p%d%c", node, 'a'+i), fmt.Sprintf("n%d", node), hash, i))
		}
	}
	return dstest.State("", append([]dstest.Option{dstest.Edit(func(into *snapshot.Snapshot) { *into = *s })}, options...)...)
}

func contentOf(s *snapshot.Snapshot, word string) corev1.PodTemplateSpec {
	tmpl := *s.DaemonSet.Spec.Template.DeepCopy()
	tmpl.Spec.Containers[0].Image = "example/agent:" + word[:1]
	tmpl.Annotations = nil
	if restarts := strings.Trim(word[1:], "'"); restarts != "" {
		metav1.SetMetaDataAnnotation(&tmpl.ObjectMeta, "kubectl.kubernetes.io/restartedAt", "2026-01-01T00:00:0"+restarts+"Z")
	}
	return tmpl
}

var began = dstest.Now.Add(-24 * time.Hour)

func revisionOf(t testing.TB, s *snapshot.Snapshot, word string) appsv1.ControllerRevision {
	t.Helper()
	marks := len(word) - len(strings.TrimLeft(word, "~!"))
	mark, word := word[:marks], word[marks:]
	what, when, _ := strings.Cut(word, "@")
	made, numbered, isNumbered := strings.Cut(when, "+")
	number, content, _ := strings.Cut(what, "=")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		t.Fatalf("%q: %v", word, err)
	}
	minute := func(text string) metav1.Time {
		m, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("%q: %v", word, err)
		}
		return metav1.NewTime(began.Add(time.Duration(m) * time.Minute))
	}
	if made == "" {
		made = number
	}
	tmpl := contentOf(s, content)
	hash := number + strings.Trim(content, "'")
	controller := true
	r := appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.DaemonSet.Namespace, Name: "agent-" + hash, CreationTimestamp: minute(made), Labels: map[string]string{appsv1.DefaultDaemonSetUniqueLabelKey: hash},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: s.DaemonSet.Name, UID: s.DaemonSet.UID, Controller: &controller}},
		},
		Revision: n, Data: storedData(t, &tmpl, strings.HasSuffix(content, "'")),
	}
	for k, v := range s.DaemonSet.Spec.Template.Labels {
		r.Labels[k] = v
	}
	switch mark {
	case "~":
		r.OwnerReferences = nil
	case "!":
		r.OwnerReferences[0].UID = "another"
	}
	if isNumbered {
		at := minute(numbered)
		r.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: controllerManager, Operation: metav1.ManagedFieldsOperationUpdate, Time: &at}}
	}
	return r
}

func storedData(t testing.TB, tmpl *corev1.PodTemplateSpec, nullTime bool) runtime.RawExtension {
	t.Helper()
	stored, err := template.Of(tmpl, nullTime)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(map[string]any{"spec": map[string]any{"template": stored}})
	if err != nil {
		t.Fatal(err)
	}
	return runtime.RawExtension{Raw: raw}
}

func podOf(s *snapshot.Snapshot, name, node, hash string, older int) corev1.Pod {
	controller := true
	p := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.DaemonSet.Namespace, Name: name, CreationTimestamp: metav1.NewTime(dstest.Now.Add(time.Duration(older-60) * time.Minute)),
			Labels:          map[string]string{appsv1.DefaultDaemonSetUniqueLabelKey: strings.TrimSuffix(hash, "g")},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: s.DaemonSet.Name, UID: s.DaemonSet.UID, Controller: &controller}},
		},
		Spec:   corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "agent", Image: "example/agent:" + hash[len(hash)-1:]}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	}
	for k, v := range s.DaemonSet.Spec.Template.Labels {
		p.Labels[k] = v
	}
	if strings.HasSuffix(hash, "g") {
		p.Labels["pod-template-generation"] = s.DaemonSet.Annotations[appsv1.DeprecatedTemplateGeneration]
	}
	return p
}

func of(t *testing.T, s *snapshot.Snapshot, o Options) *History {
	t.Helper()
	h, err := try(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func try(s *snapshot.Snapshot, o Options) (*History, error) {
	profile, err := daemonset.ForVersion(s.KubernetesVersion)
	if err != nil {
		return nil, err
	}
	st, err := daemonset.New(s, profile)
	if err != nil {
		return nil, err
	}
	return Make(st, o)
}

// noted returns the notes in short form: code, revisions without "agent-",
// facts.
func noted(h *History) []string {
	out := []string{}
	for _, n := range h.Notes {
		raw, err := json.Marshal(n.Facts)
		if err != nil {
			panic(err)
		}
		words := []string{string(n.Code)}
		for _, name := range n.Revisions {
			words = append(words, strings.TrimPrefix(name, "agent-"))
		}
		out = append(out, strings.Join(append(words, string(raw)), " "))
	}
	return out
}

// rows returns each row in short form: NUMBER hash nodes/pods kind, with * for
// the current one.
func rows(h *History) []string {
	out := []string{}
	for _, r := range h.Revisions {
		current := ""
		if r.Current {
			current = "*"
		}
		nodes, pods := -1, -1
		if r.Nodes != nil {
			nodes, pods = *r.Nodes, *r.Pods
		}
		out = append(out, fmt.Sprintf("%d%s %s %d/%d %s", r.Revision, current, r.Hash, nodes, pods, r.Kind))
	}
	return out
}
