package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/view"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// queryFlags holds the flags that explain, plan-rollout and history share: the input and the output
// format.
type queryFlags struct {
	inputFlags
	output   string
	color    string
	all      bool
	exitCode bool
	groupBy  string // only for explain and history

	// The parsed flags, set by check.
	format format
	style  wording.Style
}

// addFlags adds the shared flags. all and exitCode are the descriptions of --all and --exit-code.
func (q *queryFlags) addFlags(f *pflag.FlagSet, all, exitCode string) {
	q.inputFlags.addFlags(f)
	f.BoolVarP(&q.allNamespaces, "all-namespaces", "A", false, "show the DaemonSets of all namespaces")
	f.StringVarP(&q.selectorText, "selector", "l", "", "show only DaemonSets with these labels, such as app=agent")
	f.StringVarP(&q.output, "output", "o", "", "output format: "+strings.ReplaceAll(formats, "|", ", "))
	f.StringVar(&q.color, "color", "auto", "color the output: auto, always or never")
	f.BoolVar(&q.all, "all", false, all)
	f.BoolVar(&q.exitCode, "exit-code", false, exitCode)
}

// addGroupBy adds the flag that groups the nodes on a page.
func (q *queryFlags) addGroupBy(f *pflag.FlagSet) {
	f.StringVar(&q.groupBy, "group-by", "", "with -o html: group the nodes by this label (default: their zone)")
}

// checkGroupBy returns the refusals for --group-by.
func (q *queryFlags) checkGroupBy() []refusal {
	fault, given := firstFault(validation.IsQualifiedName(q.groupBy)), q.given("group-by") != ""
	return []refusal{
		{given && fault != nil, fmt.Sprintf("--group-by %q is not a label: %v", q.groupBy, fault), "--group-by " +
			corev1.LabelTopologyZone},
		{given && q.format != inHTML, "--group-by needs -o html", "-o html"},
	}
}

// checkGroupLabel returns an error if no node has the label of --group-by, because then all nodes
// would be in one group. It accepts a label that the change adds to nodes.
func (q *queryFlags) checkGroupLabel(s *snapshot.Snapshot, key string, change *whatif.Change) error {
	if key == "" {
		return nil
	}
	if s.Lacks(snapshot.Nodes) {
		q.note("--group-by has no effect: the nodes could not be read")
		return nil
	}
	labels := map[string]bool{}
	for i := range s.Nodes {
		for key := range s.Nodes[i].Labels {
			labels[key] = true
		}
	}
	given := change != nil &&
		slices.ContainsFunc(change.Nodes, func(e whatif.NodeEdit) bool {
			return e.Kind == whatif.NodeLabel &&
				e.Key == key
		})
	if labels[key] || given || len(s.Nodes) == 0 {
		return nil
	}
	have, otherwise := slices.Sorted(maps.Keys(labels)), "the nodes have no labels"
	if len(have) > 0 {
		otherwise = "the nodes have " + joinFirst(5, have)
	}
	return aboutFlag{hinted{fmt.Errorf("--group-by %s: no node has this label", key),
		source.Meant("", path.Base(key), have, otherwise)}}
}

// check validates the arguments and flags before the program reads anything. own validates the
// flags of one command.
func (q *queryFlags) check(args []string, own func() error) error {
	err := q.checkNames(args)
	if err != nil {
		return err
	}
	if q.format, err = formatOf(q.output); err != nil {
		return hinted{err, "-o json"}
	}
	if q.style, err = styleOf(q.Out, q.color); err != nil {
		return err
	}
	q.style.All, q.style.Wide = q.all, q.format == inWideText
	if q.style.Form = forms[q.format]; q.style.Form != wording.InText {
		q.style.Width, q.style.Color = 0, false
	}
	q.style.Page = wording.Page{Title: q.program.own(q.command), Program: q.program.own(programVersion())}
	if err := own(); errors.As(err, new(nameNeededError)) {
		return cmp.Or(q.inputFlags.check(), q.suggestName(err))
	} else if err != nil {
		return err
	}
	return q.inputFlags.check()
}

// forms maps output formats to the form of a screen. All other formats use text.
var forms = map[format]wording.Form{inMarkdown: wording.InMarkdown, inHTML: wording.InHTML}

// text reports whether the answer is for people rather than for programs.
func (q *queryFlags) text() bool {
	return q.format == inText || q.format == inWideText || q.style.Form != wording.InText
}

// askedBy returns the command line for commands to paste. It omits the flags in Markdown, because
// readers of a comment have neither the files nor the kubeconfig.
func (q *queryFlags) askedBy() sheet.Asked {
	asked := q.inputFlags.askedBy()
	if q.style.Form == wording.InMarkdown {
		asked.Flags, asked.Input, asked.Kubectl, asked.Again = nil, nil, nil, true
	}
	return asked
}

// read returns the States of the chosen DaemonSets.
func (q *queryFlags) read(ctx context.Context, gate string) (all []*daemonset.State, err error) {
	err = q.readEach(ctx, gate, func(st *daemonset.State) error {
		all = append(all, st)
		return nil
	})
	return all, err
}

// readEach calls each with the States of the chosen DaemonSets. gate is the flag that turns the
// answer into a check, or empty. A check without DaemonSets is an error.
func (q *queryFlags) readEach(ctx context.Context, gate string, each func(*daemonset.State) error) error {
	some := false
	err := q.inputFlags.readEach(ctx, func(read []*snapshot.Snapshot) error {
		for _, s := range read {
			some = true
			st, err := q.state(s)
			if err == nil {
				err = each(st)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && !some && gate != "" {
		err = q.gateError(gate)
	}
	return err
}

// exitGate returns "exit-code" if --exit-code is set, and otherwise "".
func (q *queryFlags) exitGate() string { return map[bool]string{true: "exit-code"}[q.exitCode] }

// write writes answers as a document: a list, or a single answer.
func (q *queryFlags) write(document any, answers []*daemonset.Header) error {
	refs := make([]string, len(answers))
	for i, h := range answers {
		refs[i] = h.DaemonSet.Name
	}
	return q.format.write(q.Out, document, refs)
}

// mapOf returns the map of nodes for a page, or nil for other formats.
func (q *queryFlags) mapOf(st *daemonset.State) *plan.Map {
	if q.format != inHTML {
		return nil
	}
	return plan.MapOf(st, q.groupBy)
}

// setPageHeader sets the input and the gaps that a page shows.
func (q *queryFlags) setPageHeader(answers []*daemonset.Header) {
	if q.format != inHTML {
		return
	}
	q.style.Page.About, q.style.Page.Missing = view.AboutPage(answers), nil
	for _, n := range notesOn(answers) {
		q.style.Page.Missing = append(q.style.Page.Missing, wording.Gap(n.gap, n.used, n.parts[1:]...))
	}
}

// writeFooter writes the description of the input below a Markdown answer.
func (q *queryFlags) writeFooter(answers []*daemonset.Header) error {
	if q.format != inMarkdown {
		return nil
	}
	return view.Foot(q.Out, answers)
}

// writeEach writes several screens, separated by empty lines.
func writeEach[T any](w io.Writer, answers []T, write func(T) error) error {
	for i, a := range answers {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := write(a); err != nil {
			return err
		}
	}
	return nil
}

// headers returns the headers of the answers.
func headers[T any](answers []T, of func(T) *daemonset.Header) []*daemonset.Header {
	out := make([]*daemonset.Header, len(answers))
	for i, a := range answers {
		out[i] = of(a)
	}
	return out
}

// essentialParts are the parts without which an answer is incomplete. If another part is missing,
// the answer is still complete, but the clock or the version may be a guess, or some text may be
// missing.
var essentialParts = []snapshot.What{snapshot.DaemonSets, snapshot.DaemonSetStatus, snapshot.Nodes, snapshot.Pods,
	snapshot.PodStatus, snapshot.Revisions}

// isPartial reports whether an essential part is missing. An answer from lists of different times
// is not partial.
func isPartial(h *daemonset.Header) bool {
	return slices.ContainsFunc(essentialParts, h.Lacks)
}

// styleOf returns the style for the output. If the output is not a terminal, lines have no maximum
// width unless COLUMNS is set.
func styleOf(out io.Writer, color string) (wording.Style, error) {
	var s wording.Style
	answers, safe := out.(*stream)
	out = underlying(out)
	switch color {
	case "auto":
		s.Color = printers.AllowsColorOutput(out)
	case "always":
		s.Color = true
	case "never":
	default:
		return s, hinted{fmt.Errorf("--color %q is none of auto, always, never", color), "--color never"}
	}
	if safe && s.Color {
		answers.allowColor()
	}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			s.Width = width
		}
	} else if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 0 {
		s.Width = columns
	}
	return s, nil
}
