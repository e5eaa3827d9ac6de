package cause

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// failures are the failed pods of one node.
type failures struct {
	count       int
	first, last time.Time
}

func (cs *Causes) note(e *corev1.Event) {
	events := cs.dsEvent
	switch {
	case e.InvolvedObject.Kind == "Pod":
		events = cs.podEvent[e.InvolvedObject.UID]
		if events == nil {
			events = map[string]*corev1.Event{}
			cs.podEvent[e.InvolvedObject.UID] = events
		}
	case e.InvolvedObject.UID != cs.st.DaemonSet.UID && cs.st.DaemonSet.UID != "":
		return
	}
	if e.Reason == "FailedDaemonPod" {
		cs.noteFailure(e)
	}
	keep := func(key string) {
		if old := events[key]; old == nil || compareEvents(old, e) < 0 {
			events[key] = e
		}
	}
	keep(e.Reason)
	if e.Reason == "Failed" && strings.HasPrefix(messageOf(e), failedToPull) {
		keep(failedToPull)
	}
	if probe, _, ok := strings.Cut(messageOf(e), " probe "); ok && e.Reason == unhealthy {
		keep(unhealthy + probe)
	}
}

// unhealthy is the reason of the kubelet's event about a probe that fails, whichever it is.
const unhealthy = "Unhealthy"

// failedToPull begins the kubelet's event that says why it cannot pull an image. Others with the reason
// Failed only say that it cannot.
const failedToPull = "Failed to pull image"

// compareEvents orders events by time, and those of one second by their names, which end
// with the time of the first one, so that the order in which they were read does not matter.
func compareEvents(a, b *corev1.Event) int {
	return cmp.Or(eventTime(a).Compare(eventTime(b)), strings.Compare(a.Name, b.Name),
		strings.Compare(a.Message, b.Message), cmp.Compare(eventCount(a), eventCount(b)))
}

// noteFailure counts one failed pod. The node stands in the message only:
// "Found failed daemon pod NAMESPACE/NAME on node NODE, will try to kill it".
func (cs *Causes) noteFailure(e *corev1.Event) {
	_, rest, found := strings.Cut(e.Message, " on node ")
	node, _, ended := strings.Cut(rest, ",")
	if !found || !ended {
		return
	}
	f := cs.failures[node]
	if f == nil {
		f = &failures{}
		cs.failures[node] = f
	}
	first, last := eventBegan(e), eventTime(e)
	if f.count == 0 || first.Before(f.first) {
		f.first = first
	}
	if last.After(f.last) {
		f.last = last
	}
	f.count += int(eventCount(e))
}

func (cs *Causes) event(o *corev1.Pod, reason string) *corev1.Event {
	return cs.podEvent[o.UID][reason]
}

// newestEvent returns the newest event about the pod with one of the reasons.
func (cs *Causes) newestEvent(o *corev1.Pod, reasons ...string) *corev1.Event {
	var newest *corev1.Event
	for _, r := range reasons {
		if e := cs.event(o, r); e != nil && (newest == nil || eventTime(newest).Before(eventTime(e))) {
			newest = e
		}
	}
	return newest
}

// messageOf returns what an event says, without the words that an event recorder
// puts before it when it combines events of one reason: they are its newest one's.
func messageOf(e *corev1.Event) string {
	return strings.TrimPrefix(e.Message, "(combined from similar events): ")
}

func eventTime(e *corev1.Event) time.Time {
	t := e.LastTimestamp.Time
	if e.Series != nil && e.Series.LastObservedTime.After(t) {
		t = e.Series.LastObservedTime.Time
	}
	return cmp.Or(t, e.EventTime.Time, e.CreationTimestamp.Time)
}

// eventBegan is when an event happened for the first time.
func eventBegan(e *corev1.Event) time.Time {
	return cmp.Or(e.FirstTimestamp.Time, e.EventTime.Time, eventTime(e))
}

func eventCount(e *corev1.Event) int32 {
	if e.Series != nil {
		return e.Series.Count
	}
	return max(e.Count, 1)
}

// noNetwork reports whether nodes are NotReady because no network plugin works there.
func (cs *Causes) noNetwork() bool {
	return slices.ContainsFunc(cs.st.Nodes, func(n daemonset.Node) bool {
		down := Down(&n, cs.at)
		return down != nil && lacksNetwork(down)
	})
}

// serviceHost is the host at which the API server calls a webhook of a Service.
var serviceHost = regexp.MustCompile(`\b([a-z0-9][a-z0-9-]*)\.([a-z0-9][a-z0-9-]*)\.svc\b`)

// refused returns the API server's refusal of pods since the last one that
// was created, with the words of the newest FailedCreate event; nil if there
// is none. A refusal by name is an event of its own for each pod.
func (cs *Causes) refused() *Cause {
	newest := cs.dsEvent["FailedCreate"]
	if newest == nil {
		return nil
	}
	var created time.Time
	for i := range cs.st.Nodes {
		for _, p := range cs.st.Nodes[i].Pods {
			if t := p.Object.CreationTimestamp.Time; t.After(created) {
				created = t
			}
		}
	}
	last := eventTime(newest)
	if created.After(last) {
		return nil
	}
	count, since := 0, last
	for i := range cs.s.Events {
		e := &cs.s.Events[i]
		if e.Reason != newest.Reason || e.InvolvedObject.UID != cs.st.DaemonSet.UID || eventTime(e).Before(created) {
			continue
		}
		count += int(eventCount(e))
		if first := eventBegan(e); first.Before(since) {
			since = first
		}
	}
	f := daemonset.Facts{"events": count, "last": timeFact(last)}
	setMessage(f, strings.TrimPrefix(messageOf(newest), "Error creating: "))
	if needs := needsOfSCC(f.Text("message")); len(needs) > 0 && strings.Contains(f.Text("message"), noneOfSCC) {
		f["needs"] = needs
	}
	if by, _ := RefusedBy(f.Text("message")); by == SubjectPolicy {
		f["admits"] = admission.LevelFor(cs.st.PodFor(""), cs.s.KubernetesVersion)
	}
	if strings.Contains(f.Text("message"), "failed calling webhook") {
		f["uncalled"] = true
		if of := serviceHost.FindStringSubmatch(f.Text("message")); of != nil {
			f["serviceNamespace"], f["service"] = of[2], of[1]
		}
		if cs.noNetwork() {
			f["noNetwork"] = true
		}
	}
	return &Cause{Code: FailedCreate, Severity: SeverityError, Facts: f, Since: timeOf(since)}
}
