package wording

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
)

// What a shell shows beside a word that completes a command line: a few words in one
// line, for one who chooses.

// DaemonSetChoice is the reported status of a DaemonSet, as "12 desired, 9 ready"; empty if
// its controller has reported none.
func DaemonSetChoice(s *appsv1.DaemonSetStatus) string {
	if s.ObservedGeneration == 0 {
		return ""
	}
	return fmt.Sprintf("%d desired, %d ready", s.DesiredNumberScheduled, s.NumberReady)
}

// RevisionChoice is what a revision is known by: how long ago it was created, negative if
// that is unknown, and its change-cause, or without one its images.
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

// NamespacesChoice is how many namespaces have a DaemonSet of one name, as "in 3
// namespaces".
func NamespacesChoice(n int) string { return "in " + Plural(n, "namespace") }

// ValuesChoice is how many values a label has, as "3 values".
func ValuesChoice(n int) string { return Plural(n, "value") }

// NodesChoice is how many nodes a pattern matches, as "12 nodes".
func NodesChoice(n int) string { return Plural(n, "node") }

// Words beside words that complete a command line, where these do not say it themselves.
const (
	LiveChoice     = "the template that the DaemonSet has now"
	PreviousChoice = "the revision before the current one"
	AllTaints      = "all taints"
)
