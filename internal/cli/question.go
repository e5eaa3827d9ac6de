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

// question is what explain, plan-rollout and history have in common: where the input
// is from, and in which form they answer.
type question struct {
	input
	output   string
	color    string
	all      bool
	exitCode bool
	groupBy  string // of explain and history

	// What the flags mean, once they have been checked.
	format format
	style  wording.Style
}

// addFlags adds the common flags, in the command's words for two of them.
func (q *question) addFlags(f *pflag.FlagSet, all, exitCode string) {
	q.input.addFlags(f)
	f.BoolVarP(&q.allNamespaces, "all-namespaces", "A", false, "show the DaemonSets of all namespaces")
	f.StringVarP(&q.withLabels, "selector", "l", "", "show only DaemonSets with these labels, such as app=agent")
	f.StringVarP(&q.output, "output", "o", "", "output format: "+strings.ReplaceAll(formats, "|", ", "))
	f.StringVar(&q.color, "color", "auto", "color the output: auto, always or never")
	f.BoolVar(&q.all, "all", false, all)
	f.BoolVar(&q.exitCode, "exit-code", false, exitCode)
}

// addGroupBy adds the flag that groups the nodes of a page.
func (q *question) addGroupBy(f *pflag.FlagSet) {
	f.StringVar(&q.groupBy, "group-by", "", "with -o html: group the nodes by this label (default: their zone)")
}

// checkGroupBy returns refusals of the flag that addGroupBy adds.
func (q *question) checkGroupBy() []refusal {
	fault, given := firstFault(validation.IsQualifiedName(q.groupBy)), q.given("group-by") != ""
	return []refusal{
		{given && fault != nil, fmt.Sprintf("--group-by %q is not a label: %v", q.groupBy, fault), "--group-by " +
			corev1.LabelTopologyZone},
		{given && q.format != inHTML, "--group-by needs -o html", "-o html"},
	}
}

// groupable refuses a label of --group-by that no node has: it would make one group of
// all. It does not where a change gives it to some.
func (q *question) groupable(s *snapshot.Snapshot, key string, change *whatif.Change) error {
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
		otherwise = "the nodes have " + upTo(5, have)
	}
	return aboutFlag{hinted{fmt.Errorf("--group-by %s: no node has this label", key),
		source.Meant("", path.Base(key), have, otherwise)}}
}

// check returns an error for arguments and flags that are not valid, before anything
// is read. own checks those that only this command has.
func (q *question) check(args []string, own func() error) error {
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
	if err := own(); errors.As(err, new(unnamed)) {
		return cmp.Or(q.input.check(), q.toName(err))
	} else if err != nil {
		return err
	}
	return q.input.check()
}

// forms are how an answer for a person is written, where that is no text.
var forms = map[format]wording.Form{inMarkdown: wording.InMarkdown, inHTML: wording.InHTML}

// text reports whether the answer is for a person.
func (q *question) text() bool {
	return q.format == inText || q.format == inWideText || q.style.Form != wording.InText
}

// askedBy is the command line that asked. Whoever reads a comment has neither its files nor
// its kubeconfig.
func (q *question) askedBy() sheet.Asked {
	asked := q.input.askedBy()
	if q.style.Form == wording.InMarkdown {
		asked.Flags, asked.Input, asked.Kubectl, asked.Again = nil, nil, nil, true
	}
	return asked
}

// read returns the States of what was chosen, as readEach gives them.
func (q *question) read(ctx context.Context, gate string) (all []*daemonset.State, err error) {
	err = q.readEach(ctx, gate, func(st *daemonset.State) error {
		all = append(all, st)
		return nil
	})
	return all, err
}

// readEach calls each with the States of what was chosen, by the clock and the rules that
// were asked for. gate is the flag that makes the answer a check, for which nothing is an
// error; empty where it is no check.
func (q *question) readEach(ctx context.Context, gate string, each func(*daemonset.State) error) error {
	some := false
	err := q.input.readEach(ctx, func(read []*snapshot.Snapshot) error {
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
		err = q.ungated(gate)
	}
	return err
}

// exitGate is --exit-code where it was given.
func (q *question) exitGate() string { return map[bool]string{true: "exit-code"}[q.exitCode] }

// write writes answers as a document: their list, or one alone.
func (q *question) write(document any, answers []*daemonset.Header) error {
	refs := make([]string, len(answers))
	for i, h := range answers {
		refs[i] = h.DaemonSet.Name
	}
	return q.format.write(q.Out, document, refs)
}

// mapOf returns the nodes of a State for a page; nil where the answer is none.
func (q *question) mapOf(st *daemonset.State) *plan.Map {
	if q.format != inHTML {
		return nil
	}
	return plan.MapOf(st, q.groupBy)
}

// about has a page say what its answers were made from, and what they lack.
func (q *question) about(answers []*daemonset.Header) {
	if q.format != inHTML {
		return
	}
	q.style.Page.About, q.style.Page.Missing = view.AboutPage(answers), nil
	for _, n := range notesOn(answers) {
		q.style.Page.Missing = append(q.style.Page.Missing, wording.Gap(n.gap, n.used, n.parts[1:]...))
	}
}

// foot ends a comment with what its answers were made from.
func (q *question) foot(answers []*daemonset.Header) error {
	if q.format != inMarkdown {
		return nil
	}
	return view.Foot(q.Out, answers)
}

// each writes one screen after the other, with an empty line between.
func each[T any](w io.Writer, answers []T, write func(T) error) error {
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

// headers are what answers begin with.
func headers[T any](answers []T, of func(T) *daemonset.Header) []*daemonset.Header {
	out := make([]*daemonset.Header, len(answers))
	for i, a := range answers {
		out[i] = of(a)
	}
	return out
}

// answersRestOn are the parts without which an answer is not whole. Without the others
// it is: a guess at the clock or the version, and words that are missing.
var answersRestOn = []snapshot.What{snapshot.DaemonSets, snapshot.DaemonSetStatus, snapshot.Nodes, snapshot.Pods,
	snapshot.PodStatus, snapshot.Revisions}

// inPartOnly reports whether a part is missing that the answer rests on. Lists of two
// moments still answer in full.
func inPartOnly(h *daemonset.Header) bool {
	return slices.ContainsFunc(answersRestOn, h.Lacks)
}

// styleOf decides once what is known of the place where the answer goes. Where
// that is no terminal, lines are as long as they are, unless COLUMNS says
// otherwise.
func styleOf(out io.Writer, color string) (wording.Style, error) {
	var s wording.Style
	answers, safe := out.(*stream)
	out = under(out)
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
