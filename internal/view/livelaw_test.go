package view

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest/world"
	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// liveSizes has terminal sizes, from the smallest one that a live screen supports.
var liveSizes = [][2]int{{40, 10}, {40, 24}, {40, 60}, {57, 17}, {60, 24}, {80, 24}, {93, 27}, {120, 30}, {146, 44},
	{160, 50}, {200, 60}}

// cloudWorlds returns stuck rollouts on nodes with the names that cloud providers assign.
func cloudWorlds(t *testing.T) (out []askedWorld) {
	t.Helper()
	for provider, names := range map[string][2]string{
		"EKS": {"ip-10-120-33-1[10-19].eu-central-1.compute.internal",
			"ip-10-120-33-1[20-21].eu-central-1.compute.internal"},
		"GKE": {"gke-production-default-pool-1a2b3c4d-x[10-19]k", "gke-production-default-pool-1a2b3c4d-x[20-21]k"},
		"AKS": {"aks-nodepool1-12345678-vmss0000[10-19]", "aks-nodepool1-12345678-vmss0000[20-21]"},
	} {
		out = append(out, askedWorld{name: provider, s: world.Parse(t, fmt.Sprintf(`
daemonset: {spec: {updateStrategy: {rollingUpdate: {maxUnavailable: 2}}}}
nodes: {%[1]q: , %[2]q: }
pods:
  "%[1]s 7":
  "%[2]s 8":
    status:
      conditions: [{type: Ready, status: "False", lastTransitionTime: -40m}]
      containerStatuses: [{name: agent, image: "example/agent:8", imageID: "", ready: false, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1, reason: Error, startedAt: -4m, finishedAt: -4m}}, restartCount: 5}]
`, names[0], names[1]))})
	}
	return out
}

// renderedLive is the live screen of a world on a terminal.
type renderedLive struct {
	name string
	*Live
	size [2]int
	text string
}

var drawn []renderedLive // drawn once because it takes seconds

// everyLiveScreen calls law with the live screen of every world at three sizes in turn, or at all sizes with four times the
// cases.
func everyLiveScreen(t *testing.T, law func(name string, l *Live, size [2]int, text string)) {
	t.Helper()
	if drawn == nil {
		for i, w := range slices.Concat(everyWorld(t, 5), liveWorlds(t), cloudWorlds(t)) {
			l := liveOf(t, w.s)
			l.Last = []Event{{Words: strings.Repeat("a long sentence about a lost connection, ", 5)}}
			for j := range min(cases.Of(3), len(liveSizes)) {
				size := liveSizes[(3*i+j)%len(liveSizes)]
				var b bytes.Buffer
				check(t, LiveScreen(&b, l, askable, wording.Style{Width: size[0], Color: true}, size[1]-1))
				drawn = append(drawn, renderedLive{w.name, l, size, uncolored(b.String())})
			}
		}
	}
	for _, d := range drawn {
		law(d.name, d.Live, d.size, d.text)
	}
}

// TestLiveScreenFits checks that the screen fits the terminal in both directions, and that it begins with the verdict
// of explain.
func TestLiveScreenFits(t *testing.T) {
	everyLiveScreen(t, func(name string, l *Live, size [2]int, text string) {
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if len(lines) >= size[1] {
			t.Fatalf("%s: %d lines on %d:\n%s", name, len(lines), size[1], text)
		}
		for _, line := range lines {
			if n := screen.Width(line); n > size[0] {
				t.Fatalf("%s: %d columns on %d: %s", name, n, size[0], line)
			}
		}
		var still bytes.Buffer
		check(t, Explanation(&still, l.Now, askable, wording.Style{}))
		if want := verdictOf(still.String()); !strings.HasPrefix(text, want) {
			t.Fatalf("%s: the verdict is %s:\n%s", name, want, text)
		}
	})
}

// TestLiveCutsNothing checks that node names are not cut if the line has space for them, and that commands are complete
// or left out.
func TestLiveCutsNothing(t *testing.T) {
	run := regexp.MustCompile(`(?m)kubectl (?:.* \\\n)*.*`)
	everyLiveScreen(t, func(name string, l *Live, size [2]int, text string) {
		for _, n := range l.Progress.Nodes {
			for _, line := range strings.Split(text, "\n") {
				if part := cutAtEnd(line, n.Node); part != "" && len(n.Node)+2*len("  ") <= size[0] {
					t.Fatalf("%s at %v: %s is cut:\n%s", name, size, n.Node, text)
				}
			}
		}
		whole := commandsOf(t, l)
		for _, c := range run.FindAllString(text, -1) {
			if pasted := strings.Join(strings.Fields(strings.ReplaceAll(c, "\\\n", " ")),
				" "); !slices.Contains(whole, pasted) {
				t.Fatalf("%s at %v: %s is no whole command:\n%s", name, size, pasted, text)
			}
		}
		if strings.Contains(text, "…\n") {
			t.Fatalf("%s at %v: a line is cut:\n%s", name, size, text)
		}
	})
}

// cutAtEnd returns the end of the line if it is an incomplete copy of the name, or "" otherwise.
func cutAtEnd(line, name string) string {
	words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' })
	if len(words) == 0 {
		return ""
	}
	last := strings.TrimSuffix(words[len(words)-1], "…")
	if len(last) > len(name)/2 && len(last) < len(name) && strings.HasPrefix(name, last) {
		return last
	}
	return ""
}

// commandsOf returns the commands of a live screen without line breaks.
func commandsOf(t *testing.T, l *Live) []string {
	t.Helper()
	var b bytes.Buffer
	check(t, LiveScreen(&b, l, askable, wording.Style{}, 0))
	return regexp.MustCompile(`kubectl .*`).FindAllString(b.String(), -1)
}

// TestLiveStuckSays checks the screen of a stuck rollout on terminals of at least 80x24. It must have the fault, and
// the fix if explain has one.
func TestLiveStuckSays(t *testing.T) {
	seen := 0
	everyLiveScreen(t, func(name string, l *Live, size [2]int, text string) {
		if l.Now.Verdict.Code != explain.Stuck || size[0] < 80 || size[1] < 24 {
			return
		}
		seen++
		var all bytes.Buffer
		check(t, LiveScreen(&all, l, askable, wording.Style{}, 0))
		for _, label := range []string{"Fault", "Do now", "Then"} {
			if label == "Then" && strings.Contains(name, "long-names") { // its headline takes seven lines
				continue
			}
			if strings.Contains(all.String(), "\n"+label+" ") && !strings.Contains(text, "\n"+label+" ") {
				t.Errorf("%s at %v: no %s:\n%s", name, size, label, text)
			}
		}
	})
	if seen < cases.Least(50) {
		t.Errorf("%d screens of stuck rollouts", seen)
	}
}
