package whatif

import "github.com/kubectl-ds/kubectl-ds/pkg/template"

// Summary describes the effect of a Change on the DaemonSet and on nodes.
type Summary struct {
	// the method of merging a manifest with the live object: `LastApplied` (like kubectl apply, by its
	// annotation), `ManagedFields` (by the fields that its managers own), `Overlay` (neither is known, so
	// nothing is removed), `ServerDryRun` (by the API server), `New` (there is no live object); empty without
	// a manifest
	Method string `json:"method"`

	// the field manager that applies the manifest server-side; empty if the manifest is not applied
	// server-side
	FieldManager string      `json:"fieldManager"`
	Fields       []FieldDiff `json:"fields"` // fields of the DaemonSet that differ, sorted by path

	// the template differs from the live template in its stored form, so every pod becomes outdated
	TemplateChanged bool         `json:"templateChanged"`
	Revision        RevisionNote `json:"revision"` // the revision that holds the changed template
	Nodes           []NodeChange `json:"nodes"`    // requested changes of nodes, in the requested order
}

// Removed returns the nodes that the change removes.
func (s *Summary) Removed() (nodes []string) {
	for _, c := range s.Nodes {
		if c.Kind == NodeRemove {
			nodes = append(nodes, c.Nodes...)
		}
	}
	return nodes
}

// FieldDiff is one field that differs.
type FieldDiff = template.Difference

// RevisionNote says which revision the changed DaemonSet is on: an existing
// one, possibly with a new number, or a new one.
type RevisionNote struct {
	// the number of the current revision before the change; 0 if it is unknown
	From   int64  `json:"from"`
	Number int64  `json:"number"` // the number after the next sync
	New    bool   `json:"new"`    // no revision holds the template: the controller creates one
	Name   string `json:"name"`   // the name of the ControllerRevision that holds the template; empty if it is new
	Was    int64  `json:"was"`    // the number that this ControllerRevision has now
}

// NodeChange is one requested change of nodes.
type NodeChange struct {
	Kind  NodeChangeKind `json:"kind"`  // what happens to the nodes
	Value string         `json:"value"` // the taint, the label or the node to copy; otherwise empty
	Nodes []string       `json:"nodes"` // the nodes that it changes, sorted; may be empty
}

// NodeChangeKind names a change of nodes.
type NodeChangeKind string

const (
	// NodeTaint: the nodes get a taint, which replaces a taint with the same key and effect
	NodeTaint   NodeChangeKind = "Taint"
	NodeUntaint NodeChangeKind = "Untaint" // the nodes lose a taint
	NodeLabel   NodeChangeKind = "Label"   // the nodes get a label
	NodeUnlabel NodeChangeKind = "Unlabel" // the nodes lose a label
	// NodeCordon: the nodes become unschedulable, which pods of DaemonSets tolerate
	NodeCordon   NodeChangeKind = "Cordon"
	NodeUncordon NodeChangeKind = "Uncordon" // the nodes become schedulable
	NodeDown     NodeChangeKind = "Down"     // the kubelets of the nodes stop answering
	NodeRemove   NodeChangeKind = "Remove"   // the nodes are deleted, with their pods
	NodeAdd      NodeChangeKind = "Add"      // nodes are added as copies of the node in `value`
)
