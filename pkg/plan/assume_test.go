package plan

import (
	"testing"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// TestRestsOn checks that an assumption about something that does not happen does not matter.
func TestRestsOn(t *testing.T) {
	created, deleted, both := []Wave{{Creates: 2}}, []Wave{{Deletes: 1}}, []Wave{{Deletes: 1}, {Creates: 1}}
	would := func(code OutcomeCode) *Forecast { return &Forecast{Outcome: Outcome{Code: code}} }
	for _, tt := range []struct {
		waves []Wave
		code  OutcomeCode
		inner *Forecast
		want  string // s: start times, t: termination, n: nodes that stay, m: the manifest, v: the controller's version
		why   string
	}{
		{nil, NothingToDo, nil, "mv", "nothing moves"},
		{created, Completes, nil, "snmv", "pods are only created"},
		{deleted, Completes, nil, "tnmv", "pods are only deleted"},
		{both, Completes, nil, "stnmv", "a rollout does both"},
		{nil, Stalls, nil, "stnmv", "what would move decides that nothing does"},
		{nil, NothingToDo, would(Completes), "stnmv", "a change to the template is forecast"},
		{nil, NothingToDo, would(NotRolling), "mv", "which nothing would follow"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			p := &Plan{IfTemplateChanged: tt.inner, Forecast: Forecast{Waves: tt.waves, Outcome: Outcome{Code: tt.code}}}
			got := ""
			for _, a := range []struct{ letter, code daemonset.AssumptionCode }{{"s", AssumeStart}, {"t", AssumeTermination}, {"n", AssumeNodesStay}, {"m", whatif.AssumeEnvValues}, {"v", daemonset.AssumeControllerVersion}} {
				if p.RestsOn(a.code) {
					got += string(a.letter)
				}
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
