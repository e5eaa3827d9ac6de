package snapshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// document is a Snapshot as it is written.
type document struct {
	metav1.TypeMeta   `json:",inline"`
	TakenAt           time.Time                   `json:"takenAt"`           // the clock of every calculation
	KubernetesVersion string                      `json:"kubernetesVersion"` // whose controller's rules apply; empty if it is unknown
	VersionSource     VersionSource               `json:"versionSource"`     // where the version comes from
	Gaps              []Gap                       `json:"gaps"`              // what could not be read
	DaemonSet         *appsv1.DaemonSet           `json:"daemonSet"`         // the DaemonSet; never null
	Revisions         []appsv1.ControllerRevision `json:"revisions"`         // those that the DaemonSet owns or selects, by name
	Nodes             []corev1.Node               `json:"nodes"`             // all nodes of the cluster, by name

	// those that the DaemonSet selects, by name; from a dump also those that it owns and does not select
	Pods []corev1.Pod `json:"pods"`

	// about the DaemonSet, and warnings about its pods that are not ready or terminating; by name
	Events []corev1.Event `json:"events"`

	// those that select the labels of the template, by name, without their status (zeros stand there); older files do
	// not have it
	PodDisruptionBudgets []policyv1.PodDisruptionBudget `json:"podDisruptionBudgets"`

	// `Digest` where digests replace the literal values of environment variables, otherwise empty; older files do not
	// have it
	EnvValues string `json:"envValues"`
}

// Encode returns the Snapshot as one JSON document, which Decode reads back
// to an equal Snapshot. Lists are never null.
func Encode(s *Snapshot) ([]byte, error) {
	d := document{
		TypeMeta:             metav1.TypeMeta{APIVersion: APIVersion, Kind: Kind},
		TakenAt:              s.TakenAt.UTC(),
		KubernetesVersion:    s.KubernetesVersion,
		VersionSource:        s.VersionSource,
		Gaps:                 list(s.Gaps),
		DaemonSet:            s.DaemonSet,
		Revisions:            list(s.Revisions),
		Nodes:                list(s.Nodes),
		Pods:                 list(s.Pods),
		Events:               list(s.Events),
		PodDisruptionBudgets: list(s.PodDisruptionBudgets),
		EnvValues:            s.EnvValues,
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(d); err != nil {
		return nil, fmt.Errorf("encode snapshot: %w", err)
	}
	return b.Bytes(), nil
}

// Decode reads what Encode wrote, and checks it with Validate. Empty lists
// come back as nil, as do lists that are not there. A field that it does not
// know is an error, since the answer could depend on it.
func Decode(data []byte) (*Snapshot, error) {
	var d document
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		return nil, fmt.Errorf("not a readable snapshot: %w", template.Misfit(err))
	}
	if d.APIVersion != APIVersion || d.Kind != Kind {
		return nil, fmt.Errorf("not a snapshot of %s: apiVersion %q, kind %q", APIVersion, d.APIVersion, d.Kind)
	}
	s := &Snapshot{
		DaemonSet:            d.DaemonSet,
		Revisions:            none(d.Revisions),
		Nodes:                none(d.Nodes),
		Pods:                 none(d.Pods),
		Events:               none(d.Events),
		PodDisruptionBudgets: none(d.PodDisruptionBudgets),
		TakenAt:              d.TakenAt,
		KubernetesVersion:    d.KubernetesVersion,
		VersionSource:        d.VersionSource,
		Gaps:                 none(d.Gaps),
		EnvValues:            d.EnvValues,
	}
	return s, Validate(s)
}

// Validate returns an error that names the field when the Snapshot lacks what
// every calculation needs: a named DaemonSet with a selector, a time, and
// names for all revisions, nodes and pods, unique among nodes and pods.
func Validate(s *Snapshot) error {
	ds := s.DaemonSet
	switch {
	case ds == nil:
		return errors.New("daemonSet: missing")
	case ds.Name == "":
		return errors.New("daemonSet.metadata.name: missing")
	case ds.Spec.Selector == nil:
		return fmt.Errorf("daemonSet %s: spec.selector: missing", ds.Name)
	case s.TakenAt.IsZero():
		return errors.New("takenAt: missing")
	case s.EnvValues != "" && s.EnvValues != EnvDigest:
		return fmt.Errorf("envValues: %q is neither %q nor empty", s.EnvValues, EnvDigest)
	}
	nodes := make(map[string]bool, len(s.Nodes))
	for i := range s.Nodes {
		name := s.Nodes[i].Name
		if name == "" {
			return fmt.Errorf("nodes[%d].metadata.name: missing", i)
		}
		if nodes[name] {
			return fmt.Errorf("nodes[%d].metadata.name: %q stands there twice", i, name)
		}
		nodes[name] = true
	}
	pods := make(map[string]bool, len(s.Pods))
	for i := range s.Pods {
		name := s.Pods[i].Name
		if name == "" {
			return fmt.Errorf("pods[%d].metadata.name: missing", i)
		}
		if s.Pods[i].Namespace != ds.Namespace {
			return fmt.Errorf("pods[%d].metadata.namespace: %q is not the DaemonSet's %q", i, s.Pods[i].Namespace, ds.Namespace)
		}
		if pods[name] {
			return fmt.Errorf("pods[%d].metadata.name: %q stands there twice", i, name)
		}
		pods[name] = true
	}
	for i := range s.Revisions {
		if s.Revisions[i].Name == "" {
			return fmt.Errorf("revisions[%d].metadata.name: missing", i)
		}
	}
	return nil
}

// list makes a list that encodes as [] when it is empty.
func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

// none makes an empty list nil, so that equal Snapshots are deeply equal.
func none[T any](l []T) []T {
	if len(l) == 0 {
		return nil
	}
	return l
}
