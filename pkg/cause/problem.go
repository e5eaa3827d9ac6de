package cause

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// Problem is something that keeps pods from being as they should, on the
// nodes named; one that concerns the DaemonSet as a whole names none.
type Problem struct {
	// what is wrong
	// Codes: Problems
	Code     daemonset.Reason `json:"code"`
	Severity Severity         `json:"severity"` // how bad it is; one code with two severities makes two problems
	Count    int              `json:"count"`    // how many nodes; 0 for a problem of the DaemonSet as a whole
	Nodes    []string         `json:"nodes"`    // the nodes concerned
	Pods     []string         `json:"pods"`     // the pods concerned; a node can have none or several of them
	Since    *time.Time       `json:"since"`    // when the first of them began; nil if unknown
	Latest   *time.Time       `json:"latest"`   // when the last of them began; nil if unknown

	Subject Subject `json:"subject"` // what the pods fail on

	// whose fault it is; nil if the problem resolves by itself, or where its code says so
	Blame *Blame `json:"blame"`

	// what separates the nodes of the failing pods, also those of other problems of the same kind, from healthy
	// nodes; nil if nothing is known
	Common *Common `json:"common"`
	// what all of them have in common; `message` is that of the first, `availableAt` and `lastHeartbeat` are those of
	// the last
	Facts daemonset.Facts `json:"facts"`
}

// Late reports whether the pods take longer to become ready than the others did.
func (p *Problem) Late() bool { return p.Facts.Yes("late") }

// NotBuilt reports whether a message says that the image is not built for the platform of the nodes,
// which all of them have.
func (p *Problem) NotBuilt() bool {
	return p.Facts["platform"] != nil && p.Facts["platforms"] == nil && OfContainer(p.Code)
}

// Urgent reports whether there is reason to look now: the problem does not pass
// by itself, or the pods are late.
func (p *Problem) Urgent() bool { return p.Severity == SeverityError || p.Late() }

// Posted returns when the kubelets of nodes of which the status is Unknown last posted it,
// of several the last; nil if that is unknown. The node lifecycle controller notices after
// its grace period (40s, since v1.32 50s), which is when the problem began; it keeps the
// time of the last heartbeat, which of a kubelet that never posted is the node's creation.
func (p *Problem) Posted() *time.Time {
	at, err := time.Parse(time.RFC3339, p.Facts.Text("lastHeartbeat"))
	if err != nil || p.Facts.Text("status") != string(corev1.ConditionUnknown) ||
		p.Facts.Text("reason") == neverPosted || p.Latest == nil || !at.Before(*p.Latest) {
		return nil
	}
	return &at
}

// neverPosted is the reason of the node lifecycle controller for a node of which no kubelet
// ever posted the status.
const neverPosted = "NodeStatusNeverUpdated"

// On is a cause on a node, or one of the DaemonSet as a whole where none is named.
type On struct {
	Node string
	*Cause
}

// Problems groups causes by what they have in common: see KeyOf. They stand in an
// order of their codes, and within one code the more severe and the larger ones
// first.
func Problems(found []On, order []daemonset.Reason) []Problem {
	byKey := map[string]*Problem{}
	for _, on := range found {
		key := KeyOf(on.Cause)
		p := byKey[key]
		if p != nil {
			p.quote(&on)
		}
		if p == nil {
			p = &Problem{Code: on.Code, Severity: on.Severity, Nodes: []string{}, Pods: []string{},
				Facts: daemonset.Facts{}}
			maps.Copy(p.Facts, on.Facts)
			byKey[key] = p
		}
		Share(p.Facts, on.Facts)
		if on.Node != "" {
			p.Nodes = append(p.Nodes, on.Node)
		}
		if on.Pod != "" {
			p.Pods = append(p.Pods, on.Pod)
		}
		if t := on.Since; t != nil && (p.Since == nil || t.Before(*p.Since)) {
			p.Since = t
		}
		if t := on.Since; t != nil && (p.Latest == nil || t.After(*p.Latest)) {
			p.Latest = t
		}
	}
	out := []Problem{}
	for _, k := range slices.Sorted(maps.Keys(byKey)) {
		p := *byKey[k]
		slices.Sort(p.Nodes)
		p.Nodes = slices.Compact(p.Nodes)
		p.Count = len(p.Nodes)
		out = append(out, p)
	}
	slices.SortStableFunc(out, func(x, y Problem) int {
		return cmp.Or(
			cmp.Compare(slices.Index(order, x.Code), slices.Index(order, y.Code)),
			x.Severity.Compare(y.Severity),
			cmp.Compare(y.Count, x.Count),
			slices.Compare(x.Nodes, y.Nodes))
	})
	return out
}

// quote adds the message of a further node to the facts of a problem, if it says something else than those that are
// there: two of these at most.
func (p *Problem) quote(on *On) {
	const further = 2
	message := on.Facts.Text("message")
	quoted, _ := p.Facts["furtherMessages"].([]string)
	if message == "" || p.Facts.Text("message") == "" || len(quoted) == further || p.Code == FailedCreate {
		return
	}
	like := func(other string) bool { return wordsOf(other) == wordsOf(message) }
	if !like(p.Facts.Text("message")) && !slices.ContainsFunc(quoted, like) {
		p.Facts["furtherMessages"] = append(slices.Clone(quoted), message)
	}
}

// wordsOf returns the words of a message that name nothing of one pod, node or moment: those of letters only.
func wordsOf(message string) string {
	var words []string
	for _, w := range strings.Fields(message) {
		if w = strings.Trim(w, `.,:;()[]{}"'`); w != "" &&
			!strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsLetter(r) }) {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

// KeyOf tells one Problem from the next: its Key, and how bad it is.
func KeyOf(c *Cause) string { return string(c.Severity) + Key(c.Code, c.Facts) }

// Is reports whether two Problems are the same, of whichever nodes.
func (p *Problem) Is(other *Problem) bool {
	return p.Severity == other.Severity && Key(p.Code, p.Facts) == Key(other.Code, other.Facts)
}

// keys are the facts that make a group of their own.
var keys = []string{"because", "stays", "terminating", "strandedBy", "taint", "key", "want", "operator", "values",
	"container", "init", "exitCode", "image", "revision", "resources", "holder", "claim", "reachable", "driver", "name",
	"added", "purpose", "noRoutes"}

// Key is what nodes have in common that are in one group: a reason, those of its facts that
// tell one group from the next, and what their kubelets evicted the pods for.
func Key(reason daemonset.Reason, facts daemonset.Facts) string {
	var k strings.Builder
	k.WriteString(string(reason))
	for _, name := range keys {
		if v, ok := facts[name]; ok {
			fmt.Fprintf(&k, "\x00%s=%v", name, v)
		}
	}
	if StageOf(reason) == StageStays {
		kind, name := evictedFor(facts.Text("message"))
		fmt.Fprintf(&k, "\x00%s=%s", kind, name)
	}
	return k.String()
}

// Share drops from a group's facts those that a further member does not have
// in common, but for the message, of which the first stands for all, and the times
// from which a pod counts as available and when a kubelet was last heard from, of which
// the last does.
func Share(common, facts daemonset.Facts) {
	for k, v := range common {
		if k == "message" || k == "furtherMessages" {
			continue
		}
		if at, isTime := v.(string); (k == "availableAt" || k == "lastHeartbeat") && isTime {
			if other, known := facts[k].(string); known {
				common[k] = max(at, other)
				continue
			}
		}
		if other, ok := facts[k]; !ok || fmt.Sprint(other) != fmt.Sprint(v) {
			delete(common, k)
		}
	}
}
