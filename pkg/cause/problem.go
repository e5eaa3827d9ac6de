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

// Problem is a problem of pods on some nodes, or of the DaemonSet as a whole, in which case it names no nodes.
type Problem struct {
	// what is wrong
	// Codes: Problems
	Code     daemonset.Reason `json:"code"`
	Severity Severity         `json:"severity"` // how bad it is. If a code has two severities, there are two problems
	Count    int              `json:"count"`    // number of nodes; 0 for a problem of the DaemonSet as a whole
	Nodes    []string         `json:"nodes"`    // the nodes concerned
	Pods     []string         `json:"pods"`     // the pods concerned; a node can have none or several of them
	Since    *time.Time       `json:"since"`    // when it began on the first node; nil if unknown
	Latest   *time.Time       `json:"latest"`   // when it began on the last node; nil if unknown

	Subject Subject `json:"subject"` // what the pods fail on

	// who is at fault; nil if the problem resolves by itself, or if its code shows who is at fault
	Blame *Blame `json:"blame"`

	// the properties that the nodes of the failing pods share and healthy nodes lack. Pods with other
	// problems of the same kind also count as failing; nil if none is known
	Common *Common `json:"common"`
	// the facts that all of them share; `message` is from the first node, `availableAt` and `lastHeartbeat`
	// are the latest
	Facts daemonset.Facts `json:"facts"`
}

// Late reports whether the pods take longer to become ready than the other pods did.
func (p *Problem) Late() bool { return p.Facts.Yes("late") }

// NotBuilt reports whether a message says that the image is not built for the platform of the nodes, and all nodes have
// the same platform.
func (p *Problem) NotBuilt() bool {
	return p.Facts["platform"] != nil && p.Facts["platforms"] == nil && OfContainer(p.Code)
}

// Urgent reports whether the problem needs attention now: it does not resolve by itself, or the pods are late.
func (p *Problem) Urgent() bool { return p.Severity == SeverityError || p.Late() }

// Posted returns when the kubelet of a node whose status is Unknown last posted its status; for several nodes, the
// latest time. It returns nil if that is unknown. The problem began later, when the node lifecycle controller noticed
// after its grace period (40s, since v1.32 50s). For a kubelet that has never posted, the controller stores the
// creation time of the node as the last heartbeat, so Posted returns nil.
func (p *Problem) Posted() *time.Time {
	at, err := time.Parse(time.RFC3339, p.Facts.Text("lastHeartbeat"))
	if err != nil || p.Facts.Text("status") != string(corev1.ConditionUnknown) ||
		p.Facts.Text("reason") == neverPosted || p.Latest == nil || !at.Before(*p.Latest) {
		return nil
	}
	return &at
}

// neverPosted is the node lifecycle controller's reason for a node whose kubelet has never posted a status.
const neverPosted = "NodeStatusNeverUpdated"

// On is a cause on a node, or of the DaemonSet as a whole if Node is empty.
type On struct {
	Node string
	*Cause
}

// Problems groups causes with equal keys; see KeyOf. They are sorted by their codes in the given order; problems with
// the same code are sorted by severity and then by size, largest first.
func Problems(found []On, order []daemonset.Reason) []Problem {
	byKey := map[string]*Problem{}
	for _, on := range found {
		key := KeyOf(on.Cause)
		p := byKey[key]
		if p != nil {
			p.addMessage(&on)
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

// addMessage adds the message of another node to the facts of a problem, if its words differ from all messages there.
// It adds at most two messages.
func (p *Problem) addMessage(on *On) {
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

// wordsOf returns the words of a message that consist only of letters, and so do not name a pod, a node or a time.
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

// KeyOf returns the key that distinguishes Problems: Key and the severity.
func KeyOf(c *Cause) string { return string(c.Severity) + Key(c.Code, c.Facts) }

// Is reports whether two Problems are the same, possibly on different nodes.
func (p *Problem) Is(other *Problem) bool {
	return p.Severity == other.Severity && Key(p.Code, p.Facts) == Key(other.Code, other.Facts)
}

// groupKeys are the facts that distinguish groups.
var groupKeys = []string{"because", "stays", "terminating", "strandedBy", "taint", "key", "want", "operator", "values",
	"container", "init", "exitCode", "image", "revision", "resources", "holder", "claim", "reachable", "driver", "name",
	"added", "purpose", "noRoutes"}

// Key returns the key that all members of a group share: the reason, the facts that distinguish groups, and what their
// kubelets evicted the pods for.
func Key(reason daemonset.Reason, facts daemonset.Facts) string {
	var k strings.Builder
	k.WriteString(string(reason))
	for _, name := range groupKeys {
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

// Share removes from the facts of a group those that another member does not share. The message of the first member
// stays. The times when a pod becomes available and when a kubelet last reported become the latest ones.
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
