package sheet

import (
	"strings"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
)

// ReasonNames lists reasons by their names.
func ReasonNames(reasons []daemonset.Reason) string {
	names := make([]string, len(reasons))
	for i, r := range reasons {
		names[i] = string(r)
	}
	return strings.Join(names, ", ")
}

// Look adds a command that only reads, with what it is for; nothing where there is no command.
func Look(s *screen.Screen, l screen.Label, words string, c screen.Command) {
	if len(c) > 0 {
		s.Add(l, screen.Text(words+" (read-only):"), c)
	}
}

// Detail says what is known of a problem beside its name, its nodes and how
// long it lasts: a sentence of ours, then the words of whoever reported it, and how
// fast other pods were. What a kubelet reports of a node that is not eligible stands
// beside the cause.
func (a *Sheet) Detail(p *explain.Problem) []screen.Block {
	if p.Code == cause.Misscheduled {
		return []screen.Block{screen.Text(a.Meaning(p))}
	}
	said := append([]screen.Block{screen.Text(a.Meaning(p))}, a.Messages(p)...)
	return append(said, screen.Text(a.Started(p)))
}

// Messages are what the cluster says of a problem.
func (a *Sheet) Messages(p *explain.Problem) []screen.Block {
	said := []screen.Block{screen.Text(a.Reported(p))}
	further, _ := p.Facts["furtherMessages"].([]string)
	for _, message := range further {
		said = append(said, screen.Text("and "+a.quoted(p, screen.Clean(message))))
	}
	return said
}

// Started is how fast other pods were; empty where it is not known.
func (a *Sheet) Started(p *explain.Problem) string {
	f := wording.Known{Facts: p.Facts, Now: a.Now}
	slowest := f.Age("slowestStart")
	if f.Count("starts") == 0 || slowest == "" {
		return ""
	}
	pods := wording.PluralVerb(f.Count("starts"), "other pod was", "other pods were")
	return pods + " ready within " + slowest + " of creation"
}

// Reported is the message of a problem in quotes, without the words that kubelet and
// container runtimes put around what happened; empty where there is none.
func (a *Sheet) Reported(p *explain.Problem) string {
	if message := wording.Fact(p.Facts, "message"); message != "" {
		return a.quoted(p, message)
	}
	return ""
}

// quoted is a message about a problem in quotes, as long as the screen has room for.
func (a *Sheet) quoted(p *explain.Problem, message string) string {
	const columns = 240
	if p.Code == cause.FailedCreate {
		return `"` + a.Style.Refusal(message, columns) + `"`
	}
	return `"` + a.Style.Brief(message, columns) + `"`
}

// Costs says which nodes lose their pod with a way out; empty if none does.
func Costs(nodes []string) string {
	lose := wording.PluralOf(len(nodes), ", which is not eligible, loses its pod",
		", which are not eligible, lose their pod")
	return wording.Phrase(wording.SomeNames(nodes), lose)
}
