package sheet

import (
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
)

// ReasonNames joins the names of reasons.
func ReasonNames(reasons []daemonset.Reason) string {
	names := make([]string, len(reasons))
	for i, r := range reasons {
		names[i] = string(r)
	}
	return strings.Join(names, ", ")
}

// Look adds a read-only command and its purpose. It adds nothing if c is empty.
func Look(s *screen.Screen, l screen.Label, words string, c screen.Command) {
	if len(c) > 0 {
		s.Add(l, screen.Text(words+" (read-only):"), c)
	}
}

// Detail returns everything known about a problem except its name, its nodes and its duration: its meaning, the
// messages about it, and the start times of other pods. It omits the messages about a node that is not eligible,
// because the cause quotes them.
func (a *Sheet) Detail(p *explain.Problem) []screen.Block {
	if p.Code == cause.Misscheduled {
		return []screen.Block{screen.Text(a.Meaning(p))}
	}
	said := append([]screen.Block{screen.Text(a.Meaning(p))}, a.Messages(p)...)
	return append(said, screen.Text(a.Started(p)))
}

// Messages returns the messages of the cluster about a problem.
func (a *Sheet) Messages(p *explain.Problem) []screen.Block {
	said := []screen.Block{screen.Text(a.Reported(p))}
	further, _ := p.Facts["furtherMessages"].([]string)
	for _, message := range further {
		said = append(said, screen.Text("and "+a.quoted(p, screen.Clean(message))))
	}
	return said
}

// Started returns how fast other pods became ready, or "" if that is unknown.
func (a *Sheet) Started(p *explain.Problem) string {
	f := wording.Known{Facts: p.Facts, Now: a.Now}
	slowest := f.Age("slowestStart")
	if f.Count("starts") == 0 || slowest == "" {
		return ""
	}
	pods := wording.PluralVerb(f.Count("starts"), "other pod was", "other pods were")
	return pods + " ready within " + slowest + " of creation"
}

// Reported returns the quoted message of a problem, without the phrases that kubelet and container runtimes wrap around
// an error. It returns "" if there is no message.
func (a *Sheet) Reported(p *explain.Problem) string {
	if message := wording.Fact(p.Facts, "message"); message != "" {
		return a.quoted(p, message)
	}
	return ""
}

// quoted returns a message about a problem in quotes, shortened to fit the screen.
func (a *Sheet) quoted(p *explain.Problem, message string) string {
	const columns = 240
	if p.Code == cause.FailedCreate {
		return `"` + a.Style.Refusal(message, columns) + `"`
	}
	return `"` + a.Style.Brief(message, columns) + `"`
}

// LossWords names the nodes that lose their pod because of a remedy. It returns "" if there are none.
func LossWords(nodes []string) string {
	lose := wording.PluralOf(len(nodes), ", which is not eligible, loses its pod",
		", which are not eligible, lose their pod")
	return wording.Phrase(wording.SomeNames(nodes), lose)
}
