package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// heldNotes holds notes back until the answer is printed. On a terminal, the verdict is therefore
// the first line.
type heldNotes struct {
	mu    sync.Mutex // API server warnings arrive on any goroutine
	lines []string
}

// holdNotes holds back the notes of a command until release is called.
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

// note prints a note on standard error. Held notes are printed after the answer, without
// duplicates.
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

// serverWarns prints a warning of the API server.
func (c *common) serverWarns(words string) { c.note("the API server warns: %s", screen.Clean(words)) }

// noteGaps prints the parts that could not be read, each once for all answers. It combines gaps
// with the same reason and consequence in one note.
func (in *inputFlags) noteGaps(answers ...*daemonset.Header) {
	for _, n := range notesOn(answers) {
		in.note("%s%s", wording.Gap(n.gap, n.used, n.parts[1:]...), in.permissionHint(n))
	}
}

// gapNote is a note about one or more gaps. parts starts with the part of gap.
type gapNote struct {
	gap      daemonset.Gap // with the messages of all gaps
	parts    []snapshot.What
	messages []string
	used     wording.Used // the clock or version used instead
}

// notesOn returns the notes about the gaps of the answers. A note about a single part includes the
// API server's message; a note about several forbidden parts does not.
func notesOn(answers []*daemonset.Header) (notes []*gapNote) {
	for _, h := range answers {
		unchecked := slices.ContainsFunc(h.Snapshot.Gaps,
			func(g daemonset.Gap) bool { return g.Consequence == snapshot.AdmissionUnchecked && !isAssumption(g) })
		for _, g := range h.Snapshot.Gaps {
			if isAssumption(g) {
				continue
			}
			if g.Consequence == snapshot.WebhooksUnknown && unchecked {
				g.Consequence = snapshot.AdmissionUnchecked // that note covers the webhooks
			}
			i := slices.IndexFunc(notes, func(n *gapNote) bool {
				return n.gap.Why == g.Why && n.gap.Consequence == g.Consequence && n.gap.Of == g.Of &&
					(g.What != snapshot.Version || n.used.Rules == h.Controller)
			})
			if i < 0 {
				i, notes = len(notes), append(notes, &gapNote{gap: g, used: wording.Used{Rules: h.Controller}})
			}
			n := notes[i]
			if g.What == snapshot.Clock && n.used.Clock.Before(h.Snapshot.TakenAt) {
				n.used.Clock = h.Snapshot.TakenAt
			}
			if !slices.Contains(n.parts, g.What) {
				n.parts = append(n.parts, g.What)
			}
			if !slices.Contains(n.messages, g.Message) {
				n.messages = append(n.messages, g.Message)
			}
		}
	}
	for _, n := range notes {
		const most = 3
		if more := len(n.messages) - most; more > 1 {
			n.messages = append(n.messages[:most:most], fmt.Sprintf("and %d more", more))
		}
		n.gap.Message = strings.Join(n.messages, "; ")
		if len(n.parts) > 1 && n.gap.Why == snapshot.Forbidden {
			n.gap.Message = ""
		}
	}
	return notes
}

// isAssumption reports whether the answer lists a gap among its assumptions, so that it needs no
// note. Few dumps have the input for admission and fit, OpenShift's default node selector, or the
// Lease of the controller. An answer about the controller says itself that the Lease was not read.
func isAssumption(g daemonset.Gap) bool {
	return g.Why == snapshot.NotGiven && (g.What == snapshot.DefaultNodeSelector || g.What == snapshot.Leases ||
		slices.Contains(snapshot.AdmissionWhats, g.What) || slices.Contains(snapshot.FitWhats, g.What) ||
		slices.Contains(snapshot.VolumeWhats, g.What))
}

// missingForFit returns the parts that a check of fit needs, and that only the assumptions list as
// missing.
func missingForFit(answers []*daemonset.Header) (parts []snapshot.What) {
	for _, h := range answers {
		for _, g := range h.Snapshot.Gaps {
			ofFit := slices.Contains(snapshot.FitWhats, g.What) || slices.Contains(snapshot.VolumeWhats, g.What)
			if isAssumption(g) && ofFit && !slices.Contains(parts, g.What) {
				parts = append(parts, g.What)
			}
		}
	}
	return parts
}

// permissionHint returns the end of a note: the missing permission, a command that checks it, and
// the next step. It returns "" if no permission is missing.
func (in *inputFlags) permissionHint(n *gapNote) string {
	g, dump := n.gap, source.DumpCommand(n.parts...)
	if g.Why == snapshot.NotGiven && g.Of == "" && dump != source.DumpCommand() {
		return "; a dump has them by " + dump
	}
	if g.Why != snapshot.Forbidden || g.What == snapshot.Version {
		return ""
	}
	then := "run this, or use --from and a dump that has them"
	if len(n.parts) > 1 {
		then = "run this, or use --from and a dump of them: " + dump
	}
	if len(in.from) > 0 {
		then = "record the dump again"
	}
	may, check := in.permissionCheck(n.parts)
	return fmt.Sprintf("; ask somebody who may %s (%s) to %s", may,
		sheet.WithFlags(check, in.askedBy().Kubectl...), then)
}

// permissionCheck returns the permission that is missing for these parts, and a command that checks
// it.
func (in *inputFlags) permissionCheck(parts []snapshot.What) (may string, check screen.Command) {
	namespace := in.namespace()
	if len(parts) > 1 {
		check = screen.Command{"kubectl auth can-i --list"}
		if namespace != "" && !in.allNamespaces {
			check = append(check, "-n "+screen.Quote(namespace))
		}
		return "read them", check
	}
	of := parts[0]
	what := cmp.Or(map[snapshot.What]string{
		snapshot.PodsOfOthers: "pods", snapshot.BudgetsOfOthers: "poddisruptionbudgets",
		snapshot.Webhooks:              "validatingwebhookconfigurations",
		snapshot.NamespaceNodeSelector: "namespaces",
		snapshot.DefaultNodeSelector:   "kubecontrollermanagers.operator.openshift.io",
		snapshot.Leases:                "leases.coordination.k8s.io",
	}[of], string(of))
	verb := "list"
	if slices.Contains([]snapshot.What{snapshot.Namespaces, snapshot.NamespaceNodeSelector,
		snapshot.DefaultNodeSelector, snapshot.RuntimeClasses, snapshot.ServiceAccounts, snapshot.PersistentVolumes,
		snapshot.Leases}, of) || slices.Contains(snapshot.ReferenceWhats, of) {
		verb = "get"
	}
	check = screen.Command{screen.Word("kubectl auth can-i " + verb + " " + what)}
	switch {
	case of == snapshot.Leases:
		check = append(check, "-n "+metav1.NamespaceSystem)
	case slices.Contains(clusterScoped, of):
	case in.allNamespaces, slices.Contains(snapshot.FitWhats, of):
		check = append(check, "-A")
	case namespace != "":
		check = append(check, "-n "+screen.Quote(namespace))
	}
	return verb + " " + what, check
}

// clusterScoped are the parts that belong to no namespace.
var clusterScoped = []snapshot.What{snapshot.Nodes, snapshot.DefaultNodeSelector, snapshot.PriorityClasses,
	snapshot.RuntimeClasses, snapshot.Webhooks, snapshot.PersistentVolumes, snapshot.CSINodes}

// printNone prints that no DaemonSets were found, and suggests a search in all namespaces.
func (in *inputFlags) printNone() error {
	words := "No DaemonSets found."
	if !in.allNamespaces && (len(in.from) == 0 || in.config.Namespace() != "") {
		words = fmt.Sprintf("No DaemonSets found in namespace %s.", screen.Clean(in.namespace()))
		if try := in.allNamespacesCommand(); try != "" {
			words += " Try: " + try
		}
	}
	fmt.Fprintln(in.ErrOut, words)
	return nil
}

// searchScope describes the namespace and labels of the search. try is a command that searches all
// namespaces, or "" if this search did.
func (in *inputFlags) searchScope() (where, try string) {
	if !in.allNamespaces && (len(in.from) == 0 || in.config.Namespace() != "") {
		where, try = fmt.Sprintf(" in namespace %q", in.namespace()), in.allNamespacesCommand()
	}
	if in.selectorText != "" {
		where += " with labels " + in.selectorText
	}
	return where, try
}

// noDaemonSet returns the error of a snapshot command that finds no DaemonSet.
func (in *inputFlags) noDaemonSet() error {
	where, try := in.searchScope()
	return hinted{fmt.Errorf("no DaemonSet found%s", where), try}
}

// gateError returns the error if a check found no DaemonSets. Otherwise a typo in a selector or
// namespace would pass the check. gate is the flag that turns the answer into a check.
func (in *inputFlags) gateError(gate string) error {
	where, try := in.searchScope()
	return hinted{fmt.Errorf("no DaemonSet found%s, so --%s cannot be evaluated", where, gate), try}
}
