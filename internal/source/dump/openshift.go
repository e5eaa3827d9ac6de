package dump

import (
	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/internal/source/part"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// openShift returns what OpenShift's controller reads for a namespace, or nothing if the nodes are
// not from OpenShift. What the dump does not contain is a Gap.
func (d *Dump) openShift(namespace string) part.Selecting {
	if !snapshot.OnOpenShift(d.HeldNodes.Items) {
		return part.Selecting{}
	}
	s := part.Selecting{Of: &snapshot.OpenShift{}}
	lacks := func(what snapshot.What, why snapshot.Why, message, of string) part.Selecting {
		s.Gaps = append(s.Gaps, snapshot.Gap{What: what, Why: why, Message: message, Of: of})
		return s
	}
	for i := range d.admission.namespaces.Items {
		if n := &d.admission.namespaces.Items[i]; n.Name == namespace {
			s.Of.Namespace = n
		}
	}
	kind := object.KindName(object.OfNamespaces)
	switch partial, damaged := d.Partial(kind), d.admission.damaged[object.OfNamespaces]; {
	case s.Of.Namespace != nil:
	case partial != "":
		return lacks(snapshot.NamespaceNodeSelector, snapshot.Partial, partial, "")
	case damaged != "":
		return lacks(snapshot.NamespaceNodeSelector, snapshot.Failed, damaged, "")
	case d.Kinds[kind] == 0:
		return lacks(snapshot.NamespaceNodeSelector, snapshot.NotGiven, "the input holds no "+kind, "")
	default:
		return lacks(snapshot.NamespaceNodeSelector, snapshot.NotGiven, "the input holds no namespace "+namespace,
			"namespace "+namespace)
	}
	switch m := d.manager; {
	case !s.Of.NeedsDefault():
	case m == nil:
		return lacks(snapshot.DefaultNodeSelector, snapshot.NotGiven, "the input holds no "+object.OfManagers.Kind, "")
	case m.Damage != nil:
		return lacks(snapshot.DefaultNodeSelector, snapshot.Failed, source.InWords(m.Damage), "")
	default:
		s.Of.DefaultNodeSelector = m.Selector
	}
	return s
}
