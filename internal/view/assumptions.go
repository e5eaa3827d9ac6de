package view

import (
	"cmp"
	"slices"

	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

func (s *planScreen) circumstances() sheet.Circumstances {
	problems := s.problems
	if then := s.p.IfChanged(); then != nil {
		problems = then.Outcome.Problems
	}
	otherwise := func(p *cause.Problem) bool { return p.Code != cause.PodOSNotSupported }
	down, of := plan.Down(problems), cmp.Or(s.before, s.live)
	supposed := s.p.Supposed(down...)
	return sheet.Circumstances{
		NoProblem: len(problems) == 0, Down: len(down) > 0, Supposed: supposed,
		OtherSystem: len(s.problems) > 0 && !slices.ContainsFunc(s.problems, otherwise),
		Answering:   wording.SomeNames(s.p.Answering()),
		Unfit:       len(s.p.Unfit) > 0, SomeWork: of != nil && of.Works() > 0,
		Stalls: s.o.Code == plan.Stalls && s.live == nil && !supposed,
	}
}
