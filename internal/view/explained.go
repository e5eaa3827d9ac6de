package view

import (
	"io"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/diagnosis"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
)

// Explanation writes the answer about one DaemonSet.
func Explanation(w io.Writer, e *explain.Explanation, asked sheet.Asked, style wording.Style) error {
	return sheet.WriteOne(w, &diagnosis.Explain(e, asked, style).Screen, style)
}

// Nodes writes the answer about each node of an Explanation. The Explanation contains only these nodes.
func Nodes(w io.Writer, e *explain.Explanation, nodes []string, asked sheet.Asked, style wording.Style) error {
	var screens []*screen.Screen
	var known []string
	for i := range e.Nodes {
		known = append(known, e.Nodes[i].Name)
		screens = append(screens, &diagnosis.OfNode(e, &e.Nodes[i], asked, style).Screen)
	}
	return sheet.Write(w, append(screens, diagnosis.UnknownNodes(nodes, known)...), style)
}
