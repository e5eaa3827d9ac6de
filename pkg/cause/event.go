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

// failures are the failed pods of one node, as counted by events.
type failures struct {
	count       int
	first, last time.Time
}

func (cs *Causes) indexEvent(e *corev1.Event) {
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

// unhealthy is the reason of the kubelet's event about a failing probe of any kind.
const unhealthy = "Unhealthy"

// failedToPull is the prefix of the kubelet's event that says why it cannot pull an image. Other events with the reason
// Failed only say that it cannot.
const failedToPull = "Failed to pull image"

// compareEvents orders events by time. Events of the same second are ordered by name, which ends with the time of the
// first occurrence, so that the result does not depend on the order in which they were read.
func compareEvents(a, b *corev1.Event) int {
	return cmp.Or(eventTime(a).Compare(eventTime(b)), strings.Compare(a.Name, b.Name),
		strings.Compare(a.Message, b.Message), cmp.Compare(eventCount(a), eventCount(b)))
}

// noteFailure counts a failed pod. The node appears only in the message: "Found failed daemon pod NAMESPACE/NAME on
// node NODE, will try to kill it".
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

// newestEvent returns the newest event about the pod with one of the reasons, or nil.
func (cs *Causes) newestEvent(o *corev1.Pod, reasons ...string) *corev1.Event {
	var newest *corev1.Event
	for _, r := range reasons {
		if e := cs.event(o, r); e != nil && (newest == nil || eventTime(newest).Before(eventTime(e))) {
			newest = e
		}
	}
	return newest
}

// messageOf returns the message of an event without the prefix that an event recorder adds when it combines similar
// events. The rest is the message of the newest of them.
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

// eventBegan returns when an event first happened.
func eventBegan(e *corev1.Event) time.Time {
	return cmp.Or(e.FirstTimestamp.Time, e.EventTime.Time, eventTime(e))
}

func eventCount(e *corev1.Event) int32 {
	if e.Series != nil {
		return e.Series.Count
	}
	return max(e.Count, 1)
}

// noNetwork reports whether a node is NotReady because no network plugin works there.
func (cs *Causes) noNetwork() bool {
	return slices.ContainsFunc(cs.st.Nodes, func(n daemonset.Node) bool {
		down := Down(&n, cs.at)
		return down != nil && lacksNetwork(down)
	})
}

// serviceHost matches the host name at which the API server calls a webhook of a Service.
var serviceHost = regexp.MustCompile(`\b([a-z0-9][a-z0-9-]*)\.([a-z0-9][a-z0-9-]*)\.svc\b`)

// refused returns the API server's rejection of pods since the last pod was created, with the message of the newest
// FailedCreate event, or nil if there is none. It counts all events since then, because each pod has its own event if
// the message contains its name.
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
