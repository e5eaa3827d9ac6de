// Package redact replaces the names in Snapshots by stand-ins, so that they can be shown
// to somebody who may know how a cluster behaves, but not what is in it.
//
// What is kept stands in lists (vocabulary.go) and in rules for places (place.go): words of
// Kubernetes, numbers, times, amounts and versions. Whatever is not in a list is replaced, in
// any place, so that a field which is added to a Snapshot is replaced until somebody says
// otherwise.
package redact

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Names returns copies of Snapshots with stand-ins in the place of all names, and of
// everything that somebody wrote. Equal names of one kind have equal stand-ins, in all
// of the Snapshots, and the stand-ins of one kind have the order of the names. So answers
// from them are those from the originals, with the names replaced, but for messages:
// what of one is no known sentence of Kubernetes has template.Hidden in its place.
//
// Literal values of environment variables must be digests already: see snapshot.Redact.
// A Snapshot that was redacted before can be redacted again.
//
// A node that a plan adds is named after one that is there: where the names of others begin
// with that name, the added one may stand at another place among them.
//
// It takes names for what they are by the place in which they stand, and does not look for
// them elsewhere: numbers, times, amounts and versions stay what they are.
func Names(all []*snapshot.Snapshot) ([]*snapshot.Snapshot, *Table) {
	w := &walker{nodes: map[*corev1.Node][]corev1.Node{}, kinds: map[string]*names{}, compared: map[string]bool{},
		numbers: map[string]map[string]bool{}, whole: map[Row]bool{}, told: map[string]told{}}
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

// Table says what stands in for what.
type Table struct {
	Rows []Row // by kind, and by name

	// Messages are how many messages there are by what is left of them. Equal ones count
	// once.
	Messages Messages
}

// Row is one name.
type Row struct {
	Kind    string `json:"kind"` // of name, such as node
	StandIn string `json:"standIn"`
	Name    string `json:"name"`
}

// Messages counts messages.
type Messages struct {
	Whole  int // nothing but names is replaced
	Partly int // some of the words are hidden
	Hidden int // all of them are
}

// walker goes through Snapshots twice: first to find the names, then to replace them.
type walker struct {
	kinds    map[string]*names
	assigned bool // the second time

	// compared are the keys of labels and taints whose values are compared as numbers, and
	// numbers the values of a key that are numbers
	compared map[string]bool
	numbers  map[string]map[string]bool

	daemonSet string   // the name of the DaemonSet, with which the names of its revisions begin
	mixed     []string // the DaemonSets with names of revisions among their hashes

	nodes map[*corev1.Node][]corev1.Node // by the first of a list
	whole map[Row]bool                   // names that consist of several
	told  map[string]told                // what messages become, this time
}

func (w *walker) snapshot(s *snapshot.Snapshot) *snapshot.Snapshot {
	if w.daemonSet = s.DaemonSet.Name; mixes(s) {
		w.mixed = append(w.mixed, w.daemonSet)
	}
	rest := *s
	rest.Nodes = nil
	out := w.copied(reflect.ValueOf(rest), place{}).Interface().(snapshot.Snapshot)
	out.Nodes, out.Names = w.nodesOf(s.Nodes), snapshot.StandIns
	return &out
}

// nodesOf returns copies of nodes. Snapshots of one reading share theirs.
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

// name returns what stands in for a name of a kind. Before all names are known it notes
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

// made returns a name that was made of others, and notes that it is one.
func (w *walker) made(kind, word, standIn string) string {
	if w.assigned && word != standIn {
		w.whole[Row{kind, standIn, word}] = true
	}
	return standIn
}

// assign gives the names that were noted their stand-ins.
func (w *walker) assign() {
	w.fix()
	for _, n := range w.kinds {
		n.assign()
	}
	w.assigned, w.nodes, w.told = true, map[*corev1.Node][]corev1.Node{}, map[string]told{}
}

func (w *walker) table() *Table {
	t := &Table{}
	for row := range w.whole {
		t.Rows = append(t.Rows, row)
	}
	for kind, n := range w.kinds {
		if n.of.part {
			continue
		}
		for word, standIn := range n.standIns {
			if pod, _ := w.ephemeral(word); pod != "" && kind == claims {
				continue // its stand-in is made of theirs
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
		case m.tells:
			t.Messages.Partly++
		default:
			t.Messages.Hidden++
		}
	}
	return t
}
