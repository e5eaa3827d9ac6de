package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// heldNotes are notes that stand below the answer: its first line is the verdict,
// also where both streams are one.
type heldNotes struct {
	mu    sync.Mutex // the API server's warnings come from any goroutine
	lines []string
}

// holdNotes keeps the notes of a command until the answer is written.
func (c *common) holdNotes() (release func()) {
	c.held = &heldNotes{}
	return func() {
		c.held.mu.Lock()
		defer c.held.mu.Unlock()
		for _, line := range c.held.lines {
			fmt.Fprintln(c.ErrOut, line)
		}
		c.held.lines = nil
	}
}

// note writes a line beside the answer; below it, each line once.
func (c *common) note(format string, args ...any) {
	line := "note: " + screen.Clean(fmt.Sprintf(format, args...))
	if c.held == nil {
		fmt.Fprintln(c.ErrOut, line)
		return
	}
	c.held.mu.Lock()
	defer c.held.mu.Unlock()
	if !slices.Contains(c.held.lines, line) {
		c.held.lines = append(c.held.lines, line)
	}
}

// serverWarns writes a warning of the API server.
func (c *common) serverWarns(words string) { c.note("the API server warns: %s", screen.Clean(words)) }

// gaps writes what could not be read, each once for all DaemonSets.
func (in *input) gaps(answers ...*daemonset.Header) {
	var all, said []daemonset.Gap
	for _, h := range answers {
		for _, g := range h.Snapshot.Gaps {
			if !assumedBeside(g) {
				all = append(all, g)
			}
		}
	}
	messages := map[daemonset.Gap][]string{}
	for _, g := range all {
		kind := g
		kind.Message = ""
		if !slices.Contains(said, kind) {
			said = append(said, kind)
		}
		if !slices.Contains(messages[kind], g.Message) {
			messages[kind] = append(messages[kind], g.Message)
		}
	}
	for _, g := range said {
		all := messages[g]
		const most = 3
		if n := len(all) - most; n > 1 {
			all = append(all[:most:most], fmt.Sprintf("and %d more", n))
		}
		g.Message = strings.Join(all, "; ")
		in.note("%s%s", view.Gap(g), in.right(g))
	}
}

// assumedBeside reports whether a gap stands among the assumptions of an answer: few
// dumps hold what decides whether a pod is created, and where it fits.
func assumedBeside(g daemonset.Gap) bool {
	return g.Why == snapshot.NotGiven && (slices.Contains(snapshot.AdmissionWhats, g.What) || slices.Contains(snapshot.FitWhats, g.What))
}

// right says which right is missing for a Gap, the command that checks it, and what
// to do; empty where none is.
func (in *input) right(g daemonset.Gap) string {
	if g.Why != snapshot.Forbidden || g.What == snapshot.Version {
		return ""
	}
	what := cmp.Or(map[snapshot.What]string{snapshot.PodsOfOthers: "pods", snapshot.BudgetsOfOthers: "poddisruptionbudgets", snapshot.Webhooks: "validatingwebhookconfigurations"}[g.What], string(g.What))
	verb := "list"
	if slices.Contains([]snapshot.What{snapshot.Namespaces, snapshot.RuntimeClasses, snapshot.ServiceAccounts}, g.What) {
		verb = "get"
	}
	if slices.Contains(snapshot.ReferenceWhats, g.What) {
		verb = "get"
	}
	check := screen.Command{screen.Word("kubectl auth can-i " + verb + " " + what)}
	switch namespace := in.namespace(); {
	case slices.Contains(ofCluster, g.What):
	case in.allNamespaces, slices.Contains(snapshot.FitWhats, g.What):
		check = append(check, "-A")
	case namespace != "":
		check = append(check, "-n "+screen.Quote(namespace))
	}
	then := "run this, or use --from and a dump that has them"
	if len(in.from) > 0 {
		then = "record the dump again"
	}
	return fmt.Sprintf("; ask somebody who may %s %s (%s) to %s", verb, what, view.WithFlags(check, in.askedBy().Kubectl...), then)
}

// ofCluster are the parts that are in no namespace, or are one.
var ofCluster = []snapshot.What{snapshot.Nodes, snapshot.PriorityClasses, snapshot.RuntimeClasses, snapshot.Webhooks}

// nothing says that there is no DaemonSet, with the command that looks in all
// namespaces.
func (in *input) nothing() error {
	words := "No DaemonSets found."
	if !in.allNamespaces && (len(in.from) == 0 || *in.config.Namespace != "") {
		words = fmt.Sprintf("No DaemonSets found in namespace %s.", screen.Clean(in.namespace()))
		if try := in.everywhere(); try != "" {
			words += " Try: " + try
		}
	}
	fmt.Fprintln(in.ErrOut, words)
	return nil
}

// ungated is the error that a gate saw no DaemonSet: a typing error in a selector
// or a namespace would let everything pass. gate is the flag that makes the answer
// one.
func (in *input) ungated(gate string) error {
	where, try := "", ""
	if !in.allNamespaces && (len(in.from) == 0 || *in.config.Namespace != "") {
		where, try = fmt.Sprintf(" in namespace %q", in.namespace()), in.everywhere()
	}
	if in.withLabels != "" {
		where += " with labels " + in.withLabels
	}
	return hinted{fmt.Errorf("no DaemonSet found%s, so --%s cannot be evaluated", where, gate), try}
}
