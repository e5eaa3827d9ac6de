package wording

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
)

// The functions in this file return the descriptions that shell completion shows next to its suggestions. Each
// description is a few words on one line.

// DaemonSetChoice returns the reported status of a DaemonSet, such as "12 desired, 9 ready". It returns "" if the
// controller has not reported a status.
func DaemonSetChoice(s *appsv1.DaemonSetStatus) string {
	if s.ObservedGeneration == 0 {
		return ""
	}
	return fmt.Sprintf("%d desired, %d ready", s.DesiredNumberScheduled, s.NumberReady)
}

// RevisionChoice describes a revision: its age, and its change-cause or, without one, its images. A negative old means
// that the age is unknown.
func RevisionChoice(old time.Duration, changeCause string, images []string) string {
	age := ""
	if old >= 0 {
		age = Ago(old) + " old"
	}
	what := changeCause
	if what == "" {
		what = strings.Join(images, " ")
	}
	return Joined(", ", age, screen.Clean(what))
}

// NamespacesChoice returns the number of namespaces that have a DaemonSet of one name, such as "in 3 namespaces".
func NamespacesChoice(n int) string { return "in " + Plural(n, "namespace") }

// ValuesChoice returns the number of values of a label, such as "3 values".
func ValuesChoice(n int) string { return Plural(n, "value") }

// NodesChoice returns the number of nodes that match a pattern, such as "12 nodes".
func NodesChoice(n int) string { return Plural(n, "node") }

// Descriptions of suggestions that are not self-explanatory.
const (
	LiveChoice     = "the template that the DaemonSet has now"
	PreviousChoice = "the revision before the current one"
	AllTaints      = "all taints"
)
