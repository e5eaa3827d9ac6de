// Package redact replaces the names in Snapshots by stand-ins, so that somebody
// can see how a cluster behaves without learning any name.
//
// It keeps only allow-listed values (vocabulary.go), and what the rules for
// fields keep (place.go): words of Kubernetes, numbers, times, amounts and
// versions. Everything else is replaced, so that a new field of a Snapshot is
// redacted until somebody adds a rule.
package redact

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Names returns copies of Snapshots in which stand-ins replace all names and
// all user-supplied text. In all of the Snapshots, equal names of one kind have
// equal stand-ins, and stand-ins of one kind have the order of their names.
// Documents made from the copies are those of the originals with the names
// replaced, except for messages: template.Hidden replaces whatever is not a
// known sentence of Kubernetes.
//
// Literal values of environment variables must already be digests: see
// snapshot.HideValues. Names accepts its own output. It finds names by their field,
// and does not search other text for them. The order of a node that a plan adds
// may differ if names of other nodes begin with the name that it is derived
// from.
func Names(all []*snapshot.Snapshot) ([]*snapshot.Snapshot, *Table) {
	w := &walker{nodes: map[*corev1.Node][]corev1.Node{}, kinds: map[string]*names{}, compared: map[string]bool{},
		numbers: map[string]map[string]bool{}, composedNames: map[Row]bool{}, told: map[string]redactedMessage{}}
	for _, s := range all {
		w.snapshot(s)
	}
	w.assign()
	out := make([]*snapshot.Snapshot, len(all))
	for i, s := range all {
		out[i] = w.snapshot(s)
	}
	return out, w.table()
}

// Table lists the stand-ins with their names.
type Table struct {
	Rows []Row // by kind, then by name

	// Messages counts the distinct messages by how much of them is kept.
	Messages Messages
}

// Row is one name with its stand-in.
type Row struct {
	Kind    string `json:"kind"` // the kind of name, such as node
	StandIn string `json:"standIn"`
	Name    string `json:"name"`
}

// Messages counts messages.
type Messages struct {
	Whole  int // only names are replaced
	Partly int // some of the words are hidden
	Hidden int // all words are hidden
}

// walker visits Snapshots twice: first to collect names, then to replace them.
type walker struct {
	kinds    map[string]*names
	assigned bool // the second visit

	// compared are the keys of labels and taints whose values are compared as
	// numbers; numbers are the numeric values of a key
	compared map[string]bool
	numbers  map[string]map[string]bool

	daemonSet string   // the name of the DaemonSet, which begins the names of its revisions
	mixed     []string // DaemonSets whose hashes include names of revisions

	nodes         map[*corev1.Node][]corev1.Node // copies, by the first node of a list
	composedNames map[Row]bool                   // names composed of others
	told          map[string]redactedMessage     // redacted messages of this visit
}

func (w *walker) snapshot(s *snapshot.Snapshot) *snapshot.Snapshot {
	if w.daemonSet = s.DaemonSet.Name; hashesMixWithNames(s) {
		w.mixed = append(w.mixed, w.daemonSet)
	}
	rest := *s
	rest.Nodes = nil
	out := w.copied(reflect.ValueOf(rest), place{}).Interface().(snapshot.Snapshot)
	out.Nodes, out.Names = w.nodesOf(s.Nodes), snapshot.StandIns
	return &out
}

// nodesOf returns copies of nodes. Snapshots that share nodes share the copies.
func (w *walker) nodesOf(nodes []corev1.Node) []corev1.Node {
	if len(nodes) == 0 {
		return nil
	}
	known, ok := w.nodes[&nodes[0]]
	if !ok {
		known = w.copied(reflect.ValueOf(nodes), place{}).Interface().([]corev1.Node)
		w.nodes[&nodes[0]] = known
	}
	return known
}

// name returns the stand-in of a name of a kind. In the first visit it records
// the name.
func (w *walker) name(kind, word string) string {
	if word == "" {
		return ""
	}
	n := w.kinds[kind]
	if n == nil {
		n = newNames(kindOf(kind))
		w.kinds[kind] = n
	}
	if !w.assigned {
		n.words[word] = true
		return word
	}
	return n.standIns[word]
}

// composed records a name that is composed of others, and returns its stand-in.
func (w *walker) composed(kind, word, standIn string) string {
	if w.assigned && word != standIn {
		w.composedNames[Row{kind, standIn, word}] = true
	}
	return standIn
}

// assign assigns stand-ins to the recorded names.
func (w *walker) assign() {
	w.fix()
	for _, n := range w.kinds {
		n.assign()
	}
	w.assigned, w.nodes, w.told = true, map[*corev1.Node][]corev1.Node{}, map[string]redactedMessage{}
}

func (w *walker) table() *Table {
	t := &Table{}
	for row := range w.composedNames {
		t.Rows = append(t.Rows, row)
	}
	for kind, n := range w.kinds {
		if n.of.part {
			continue
		}
		for word, standIn := range n.standIns {
			if pod, _ := w.ephemeral(word); pod != "" && kind == claims {
				continue // composed of theirs
			}
			if word != standIn {
				t.Rows = append(t.Rows, Row{kind, standIn, word})
			}
		}
	}
	slices.SortFunc(t.Rows, func(a, b Row) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	for _, m := range w.told {
		switch {
		case !m.hides:
			t.Messages.Whole++
		case m.keeps:
			t.Messages.Partly++
		default:
			t.Messages.Hidden++
		}
	}
	return t
}
