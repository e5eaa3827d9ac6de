package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// TestLatePods checks the forecast for pods that take longer than any other pod did.
func TestLatePods(t *testing.T) {
	const seconds = 90 * time.Second
	minutes, one := 2*time.Minute, time.Second
	surge := func(o ...dstest.Option) []dstest.Option {
		return append(o, dstest.MaxUnavailable("0"), dstest.MaxSurge("2"))
	}
	with := func(all ...[]dstest.Option) []dstest.Option { return slices.Concat(all...) }
	fast := dstest.StartedIn(time.Second, "p2", "p3", "p4", "p5")
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		known   Options
		change  *whatif.Change
		want    string
		why     string
	}{
		{"O/n O/n N N N O", with(fast, surge(dstest.NotReadyFor("p0b", seconds), dstest.NotReadyFor("p1b", seconds))), Options{}, nil, "Completes, timed, late n0 n1, else Stalls at 3 of 6", "they hold the surge, and if they stay as they are it does not go on"},
		{"n n N N N O", with(fast, []dstest.Option{dstest.NotReadyFor("p0", seconds), dstest.NotReadyFor("p1", seconds), dstest.MaxUnavailable("2")}), Options{}, nil, "Completes, timed, late n0 n1, else Stalls at 5 of 6", "without a surge as well"},
		{"n n N N N O", with(fast, []dstest.Option{dstest.NotReadyFor("p0", seconds), dstest.NotReadyFor("p1", seconds), dstest.MaxUnavailable("3")}), Options{}, nil, "Completes, timed, late n0 n1, else Completes at 6 of 6 without n0 n1", "the limit has room for both: all is replaced, and two nodes stay without a pod"},
		{"O/n O/n N N N O", with(fast, surge(dstest.NotReadyFor("p0b", 9*time.Second), dstest.NotReadyFor("p1b", seconds))), Options{}, nil, "Completes, timed, late n1, else Stalls at 5 of 6", "of two only the one that takes long; the other one's place is used again, and n1 keeps its old pod"},
		{"O/n O/n N N N O", with(fast, surge(dstest.NotReadyFor("p0b", 9*time.Second), dstest.NotReadyFor("p1b", 5*time.Second))), Options{}, nil, "Completes, timed", "in the first seconds nobody is late"},
		{"O/n O/n N N N O", with(fast, surge(dstest.NotReadyFor("p0b", seconds), dstest.NotReadyFor("p1b", seconds))), Options{Starts: []time.Duration{minutes}}, nil, "Completes, timed", "somebody knows that it takes two minutes"},
		{"O/n O/n N N N O", with(fast, surge(dstest.NotReadyFor("p0b", seconds), dstest.NotReadyFor("p1b", seconds))), Options{Starts: []time.Duration{one}}, nil, "Completes, timed, late n0 n1, else Stalls at 3 of 6", "or one second"},
		{"n n N N N O", with(fast, []dstest.Option{dstest.NotReadyFor("p0", seconds), dstest.NotReadyFor("p1", seconds)}), Options{}, &whatif.Change{Restart: true}, "Completes, timed, late n0 n1, else Stalls at 2 of 6", "a restart runs the same containers: what is slow stays so"},
		{"n n N N N O", with(fast, []dstest.Option{dstest.NotReadyFor("p0", seconds), dstest.NotReadyFor("p1", seconds)}), Options{}, &whatif.Change{Nodes: []whatif.NodeEdit{{Kind: whatif.NodeRemove, Which: "n0"}}}, "Completes, timed, late n1, else Stalls at 4 of 5", "one node is taken away"},
		{"n n N N N O", with(fast, []dstest.Option{dstest.NotReadyFor("p0", seconds), dstest.NotReadyFor("p1", seconds)}), Options{}, &whatif.Change{Images: []whatif.Image{{Container: "*", Image: "example/agent:9"}}}, "Completes, timed", "of another image nothing is known"},
		{"n N N N N", with(dstest.StartedIn(time.Second, "p1", "p2", "p3", "p4"), []dstest.Option{dstest.NotReadyFor("p0", seconds)}), Options{}, nil, "Completes, timed, late n0, else NothingToDo at 5 of 5 without n0", "where nothing is left to replace"},
		{"n N N N N", with(dstest.StartedIn(time.Second, "p1", "p2", "p3", "p4"), []dstest.Option{dstest.NotReadyFor("p0", 2*time.Minute)}), Options{}, nil, "NothingToDo, if ready Completes at 5 of 5", "after two minutes it is expected to stay so"},
		{"n n N N N O", with(fast, []dstest.Option{dstest.NotReadyFor("p0", minutes), dstest.NotReadyFor("p1", minutes)}), Options{}, nil, "Stalls, if ready Completes at 6 of 6", "where something is left, it stalls, unless they become ready"},
		{"n n N N N O", with(fast, []dstest.Option{dstest.NotReadyFor("p0", minutes), dstest.NotReadyFor("p1", minutes), dstest.MaxUnavailable("3")}), Options{}, nil, "Completes, timed, if ready Completes at 6 of 6", "and completes without them where there is room"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			p, err := planOf(dstest.State(tt.grid, tt.options...), tt.change, tt.known)
			if err != nil {
				t.Fatal(err)
			}
			got := string(p.Outcome.Code)
			if p.Outcome.Duration != nil {
				got += ", timed"
			}
			for i, h := range p.Outcome.Late {
				got += map[bool]string{true: ", late"}[i == 0] + " " + h.Node
			}
			for _, alt := range p.Outcome.Alternatives {
				got += fmt.Sprintf(", %s %s at %d of %d", map[Condition]string{PodsStayUnready: "else", PodsBecomeReady: "if ready"}[alt.Condition], alt.Code, alt.Updated, p.Desired.After)
				if alt.Unserved > 0 && alt.Code != Stalls {
					got += " without " + strings.Join(alt.Nodes, " ")
				}
				if (alt.Duration != nil) != (alt.Code == Completes) {
					t.Errorf("%s takes %v", alt.Code, alt.Duration)
				}
			}
			if got != tt.want {
				t.Errorf("%q: %s, want %s", tt.grid, got, tt.want)
			}
			assumed := slices.ContainsFunc(p.Assumptions, func(a daemonset.Assumption) bool {
				return a.Code == AssumeLatePods && a.Value == fmt.Sprint(len(p.Outcome.Late))
			})
			if assumed != (len(p.Outcome.Late) > 0) {
				t.Errorf("%d late, assumptions %+v", len(p.Outcome.Late), p.Assumptions)
			}
		})
	}
}

// TestCountedLate checks that a plan has the delay with which the controller counts a pod, if the controller syncs by
// itself only every minReadySeconds. A pod starts in 4s and terminates in 10s; minReadySeconds is 900. The old pod o is
// deleted immediately.
func TestCountedLate(t *testing.T) {
	for _, tt := range []struct {
		grid    string
		options []dstest.Option
		want    string
		why     string
	}{
		{"o N N N", []dstest.Option{readyFor("p0", 711*time.Second)}, "2m55s", "a look is due at 189s, so none at 915s; the next is at 1089s, and the pod is available at 914s"},
		{"o N N N", []dstest.Option{readyFor("p0", 899*time.Second)}, "", "a look at 1s is none too many: the pod is not Ready then, and asks for its own"},
		{"o N N N", nil, "", "no look is due: Ready, the pod asks for its own"},
	} {
		p, err := planOf(dstest.State(tt.grid, append(tt.options, dstest.MinReadySeconds(900))...), nil, Options{Starts: []time.Duration{4 * time.Second}, Termination: new(10 * time.Second)})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, a := range p.Assumptions {
			if a.Code == AssumeCountedLate {
				got = a.Value
			}
		}
		if got != tt.want {
			t.Errorf("%s: counted late by %q, want %q: %s; %+v", tt.grid, got, tt.want, tt.why, p.Outcome)
		}
	}
}
