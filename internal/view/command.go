package view

import (
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
)

// command is the one command that shows more of what the headline says; empty
// where there is nothing to look at.
func command(e *explain.Explanation) string {
	ns := " -n " + Quote(e.DaemonSet.Namespace)
	p := headlineProblem(e)
	if p == nil {
		if e.Verdict.Code == explain.AwaitingDelete {
			return pasted("kubectl get pods" + ns + " -o wide --sort-by=.spec.nodeName -L controller-revision-hash")
		}
		return ""
	}
	var node, pod string
	if len(p.Nodes) > 0 {
		node = Quote(p.Nodes[0])
	}
	if len(p.Pods) > 0 {
		pod = Quote(p.Pods[0])
	}
	container, _ := p.Facts["container"].(string)
	c := ""
	switch p.Code {
	case daemonset.NotYetAvailable:
	case cause.NextRolloutStalls:
		if node != "" {
			c = "kubectl describe node " + node
		}
	case cause.NodeNotReady, cause.TerminatingOnDeadNode, cause.InsufficientResources, cause.HostPortConflict:
		c = "kubectl describe node " + node
	case cause.CrashLoop, cause.OOMKilled:
		c = "kubectl logs" + ns + " " + pod + " -c " + Quote(container) + " --previous"
	case cause.ProbeFailing:
		c = "kubectl logs" + ns + " " + pod + " -c " + Quote(container)
	case cause.CreateRefused:
		c = "kubectl get events" + ns + " --field-selector involvedObject.kind=DaemonSet,involvedObject.name=" + Quote(e.DaemonSet.Name)
	case explain.GenerationNotObserved:
		if p.Severity == cause.Error && heldUp(p.Facts) == "" { // else it has not had the time, or the cause is known
			c = lookAtController
		}
	case explain.StaleStatus:
		if heldUp(p.Facts) == "" {
			c = lookAtController
		}
	case explain.ControllerSilent:
		c = lookAtController
	default:
		if pod != "" {
			c = "kubectl describe pod" + ns + " " + pod
		}
	}
	return pasted(c)
}

const lookAtController = "kubectl get pods -n kube-system -l component=kube-controller-manager"

// headlineProblem is the problem that the headline is about; nil where nothing
// is wrong.
func headlineProblem(e *explain.Explanation) *explain.Problem {
	first := func(is func(*explain.Problem) bool) *explain.Problem {
		for i := range e.Problems {
			if p := &e.Problems[i]; p.Severity != cause.Info && is(p) {
				return p
			}
		}
		return nil
	}
	of := func(code daemonset.Reason) *explain.Problem {
		return first(func(p *explain.Problem) bool { return p.Code == code })
	}
	switch {
	case e.Verdict.Code == explain.NotObserved:
		return of(explain.GenerationNotObserved)
	case e.Verdict.Code != explain.Stuck:
		return mainProblem(e)
	}
	if code := stuckBy(e); code != "" {
		return of(code)
	}
	return first(func(p *explain.Problem) bool {
		return slices.ContainsFunc(e.Budget.Holders, func(h explain.Holder) bool { return h.Reason == p.Code && slices.Contains(p.Nodes, h.Node) })
	})
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9._:/=@-]+$`)

// pasted returns a command, or "" where it has words that cannot be pasted as
// they are printed.
func pasted(command string) string {
	if clean(command) != command {
		return ""
	}
	return command
}

// Quote makes a word safe to paste into a shell.
func Quote(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// added is a command with further flags, in place of those that they override;
// empty where there is none to paste.
func added(again, flags string) string {
	if again == "" {
		return ""
	}
	words, drop := shellWords(again), map[string]bool{}
	for _, f := range strings.Fields(flags) {
		if name, isFlag := strings.CutPrefix(f, "--"); isFlag {
			if drop[name] = !repeatable[name]; name == "to-revision" { // it takes the revision's template as it is
				drop["image"], drop["restart"], drop["toleration"], drop["node-selector"] = true, true, true, true
				if slices.Contains(words, "--filename") || slices.Contains(words, "--kustomize") {
					return "" // the manifest's template
				}
			}
		}
	}
	var kept []string
	for i := 0; i < len(words); i++ {
		name, isFlag := strings.CutPrefix(words[i], "--")
		if !isFlag || !drop[name] {
			kept = append(kept, words[i])
			continue
		}
		if name != "restart" { // which has no value
			i++
		}
	}
	return pasted(strings.Join(append(kept, flags), " "))
}

// repeatable are the flags that add to what was given before.
var repeatable = map[string]bool{"remove-nodes": true}

// shellWords splits a command as Quote wrote it, and leaves the quotes.
func shellWords(command string) []string {
	var words []string
	var word strings.Builder
	quoted := false
	for i := 0; i < len(command); i++ {
		switch c := command[i]; {
		case c == '\\' && !quoted && i+1 < len(command):
			word.WriteString(command[i : i+2])
			i++
		case c == ' ' && !quoted:
			words = append(words, word.String())
			word.Reset()
		default:
			quoted = quoted != (c == '\'')
			word.WriteByte(c)
		}
	}
	return append(words, word.String())
}
