package diagnosis

import (
	"cmp"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
)

// causes adds the fault of each problem that does not resolve itself.
func (a *Answer) causes(problems []*explain.Problem) {
	var said []string
	of := map[string][]daemonset.Reason{}
	several := slices.ContainsFunc(problems, func(p *explain.Problem) bool { return p.Code != problems[0].Code })
	for _, p := range a.mergeMisscheduled(problems) {
		words := a.Origin(p)
		if words != "" && len(of[words]) == 0 {
			said = append(said, words)
		}
		of[words] = append(of[words], p.Code)
	}
	for i, words := range said {
		switch most := 6; {
		case i >= most && !a.Style.All:
			return
		case len(said) > 1 && several: // name the problems that have this fault
			words = sheet.ReasonNames(slices.Compact(of[words])) + ": " + words
		}
		a.Add(screen.Fault, "%s", words)
	}
}

// mergeMisscheduled returns the problems. It merges those of Misscheduled that have the same origin.
func (a *Answer) mergeMisscheduled(problems []*explain.Problem) (out []*explain.Problem) {
	of := map[string]*explain.Problem{}
	for _, p := range problems {
		one := *p
		one.Nodes = []string{"a", "b"}
		words := a.Origin(&one)
		if first := of[words]; p.Code == cause.Misscheduled && first != nil {
			first.Nodes = slices.Sorted(slices.Values(slices.Concat(first.Nodes, p.Nodes)))
			continue
		}
		one.Nodes = p.Nodes
		if p.Code == cause.Misscheduled {
			of[words] = &one
		}
		out = append(out, &one)
	}
	return out
}

// missingObject returns the name of a missing object that makes the API server reject pods. It returns "" if the API
// server's message names no such object.
func (a *Answer) missingObject(p *explain.Problem) string {
	kind, name := cause.NamedObject(p.Facts)
	switch {
	case p.Code != cause.FailedCreate || name == "":
		return ""
	case kind == "ServiceAccount":
		name = a.Header.DaemonSet.Namespace + "/" + name
	}
	return screen.Clean(kind + " " + name)
}

// Works returns the number of available pods of the current revision, without those that keep failing.
func (a *Answer) Works() int {
	n := cmp.Or(a.E.Current(), &explain.Revision{}).Available
	for i := range a.E.Problems {
		if p := &a.E.Problems[i]; p.Facts.Yes("ready") {
			n -= p.Facts.Int("newFailing")
		}
	}
	return max(0, n)
}

// refusal returns the computed reason for which the API server rejects pods. It returns nil if the events of p show
// another reason.
func (a *Answer) refusal(p *explain.Problem) *admission.Refusal {
	if v := a.E.Admission; p != nil && p.Code == cause.FailedCreate && v != nil && len(v.Refusals) > 0 &&
		wording.Fact(p.Facts, "rejects") == string(v.Refusals[0].Reason) {
		return &v.Refusals[0]
	}
	return nil
}

// olderOnes names the revision of pods that are not updated.
func (a *Answer) olderOnes() string {
	if len(a.E.Revisions) == 2 {
		return wording.RevisionName(&a.E.Revisions[1])
	}
	return "other revisions"
}
