package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/history"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// exitStatus is the error of a command that printed its answer, but exits with a special status.
type exitStatus int

const (
	statusProgressing exitStatus = 2
	statusStuck       exitStatus = 3
	statusDegraded    exitStatus = 4
	statusPartial     exitStatus = 5
	statusCondition   exitStatus = 6 // a condition of --fail-on holds
	statusInterrupted            = 130
)

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// worstStatus returns the most severe exit status in has, or nil if has is empty.
func worstStatus(has map[exitStatus]bool) error {
	for _, s := range []exitStatus{statusStuck, statusDegraded, statusPartial, statusProgressing} {
		if has[s] {
			return s
		}
	}
	return nil
}

// hinted is an error with a hint to paste.
type hinted struct {
	error
	hint string
}

func (h hinted) Hint() string  { return h.hint }
func (h hinted) Unwrap() error { return h.error }

// rerunError is an error whose hint is a command of this program. The names and flags that the user
// typed are added to the command, except the flags in omit.
type rerunError struct {
	error
	command string
	omit    []string
}

func (r rerunError) Hint() string  { return r.command }
func (r rerunError) Unwrap() error { return r.error }

// with returns the command with the names and flags that the user typed.
func (r rerunError) with(typed *pflag.FlagSet) string {
	var names []string
	typed.Visit(func(f *pflag.Flag) {
		if f.Name != "token" && !slices.Contains(r.omit, f.Name) {
			names = append(names, f.Name)
		}
	})
	flags, _ := flagSet{typed}.repeatFlags(names...)
	c := screen.Command{screen.Word(r.command)}
	for _, name := range typed.Args() {
		c = append(c, screen.Quote(name))
	}
	return sheet.WithFlags(c, flags...).String()
}

// refusal rejects an invalid combination of flags. It has a condition, an error message and a hint.
type refusal struct {
	applies     bool
	words, hint string
}

// nameHint is the hint of a refusal that needs the name of one DaemonSet. queryFlags.check replaces
// this hint by a command with a name.
const nameHint = "NAME"

// firstRefusal returns the error of the first refusal that applies, or nil.
func firstRefusal(rows ...refusal) error {
	for _, r := range rows {
		switch {
		case r.applies && r.hint == nameHint:
			return nameNeededError{errors.New(r.words)}
		case r.applies:
			return hinted{errors.New(r.words), r.hint}
		}
	}
	return nil
}

// nameNeededError is the error for a command line that does not name exactly one DaemonSet.
type nameNeededError struct{ error }

// hintOf returns the hint of an error, or "" if it has none.
func (p program) hintOf(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) && h.Hint() != "" || errors.As(p.withHint(err, "--to-revision"), &h) {
		return h.Hint()
	}
	return ""
}

// reworded is an error with a different message.
type reworded struct {
	error
	words string
}

func (r reworded) Error() string { return r.words }
func (r reworded) Unwrap() error { return r.error }

// aboutFlag is an error about a flag rather than about the manifest.
type aboutFlag struct{ error }

func (a aboutFlag) Unwrap() error { return a.error }

// unfilledError is an error about a manifest that contains unexpanded environment variables.
type unfilledError struct {
	error
	file string
}

func (u unfilledError) Unwrap() error { return u.error }

// rejectedError is an error about a manifest that the API server would reject.
type rejectedError struct {
	error
	details []string       // each error, if the manifest has several
	live    bool           // the input is a cluster, so its API server can validate the manifest
	apply   screen.Command // the command that applies the manifest; empty if the user cannot paste it
}

func (r rejectedError) Details() []string { return r.details }
func (r rejectedError) Unwrap() error     { return r.error }

// placeholder matches a value with an unexpanded environment variable.
var placeholder = regexp.MustCompile(`Invalid value: "[^"]*\$\{\w+\}`)

// withHint adds a hint to an error of pkg/, which contains only facts. It returns other errors
// unchanged. rollback is the flag that names the target revision. printError calls withHint with
// --to-revision; commands with another flag call it first.
func (p program) withHint(err error, rollback string) error {
	var (
		invalid *whatif.Invalid
		lacking *whatif.LackingError
		change  *whatif.Error
		past    *history.Error
		file    *source.InputError

		unfilled unfilledError
		rejected rejectedError
	)
	switch {
	case errors.As(err, &unfilled):
		return rerunError{err, "envsubst < " + string(screen.Quote(unfilled.file)) + " | " + p.own("plan-rollout -f -"),
			[]string{"filename"}}
	case errors.As(err, &rejected) && errors.As(err, &invalid) && invalid.Instead == nil:
		return p.askServer(rejected)
	case errors.As(err, &invalid):
		return hinted{err, changeAsFlags(invalid.Instead, rollback)}
	case errors.As(err, &lacking):
		return hinted{err, missingInputHint(lacking)}
	case errors.As(err, &change) && change.Nodes != nil:
		return hinted{err, noNodesHint(change.Nodes)}
	case errors.As(err, &change):
		return hinted{err, changeAsFlags(change.Instead, rollback)}
	case errors.As(err, &past) && past.Code == history.NoneBefore:
		return rerunError{err, p.own("history"), append([]string{"undo", "diff", "revision", "unified"},
			slices.Concat(daemonSetFlagNames, applyFlagNames, nodeFlagNames)...)}
	case errors.As(err, &past):
		return hinted{err, p.historyHint(past)}
	case errors.As(err, &file) && file.Address:
		return rerunError{err, "curl -fsSL " + string(screen.Quote(file.File)) + " | " + p.own("plan-rollout -f -"),
			[]string{"filename"}}
	case errors.As(err, &file) && file.Markdown:
		blocks := "awk '/^ *```/ {on = 0; print \"---\"} /^ *apiVersion:/ {on = 1} on' "
		return rerunError{err, blocks + string(screen.Quote(file.File)) + " | " + p.own("plan-rollout -f -"),
			[]string{"filename"}}
	case errors.As(err, &file) && file.Template:
		return rerunError{err, p.helmCommand(file.File), []string{"filename"}}
	case errors.As(err, &file) && file.Kustomization:
		return rerunError{err, p.own("plan-rollout -k " + string(screen.Quote(filepath.Dir(file.File)))),
			[]string{"filename", "kustomize"}}
	}
	return err
}

// askServer adds the command that lets the API server validate the whole manifest.
func (p program) askServer(r rejectedError) error {
	switch {
	case r.live:
		return rerunError{r, p.own("plan-rollout --server-dry-run"), nil}
	case len(r.apply) > 0:
		return hinted{r, sheet.WithFlags(slices.Concat(r.apply[:1], screen.Command{"--dry-run=server"},
			r.apply[1:])).String()}
	}
	return r
}

// helmCommand returns the command that plans a rendered Helm chart. file is the folder of the
// chart, or one of its templates.
func (p program) helmCommand(file string) string {
	release, chart := "RELEASE", "CHART"
	for _, folder := range []string{file, filepath.Dir(filepath.Dir(file))} {
		if _, err := os.Stat(filepath.Join(folder, "Chart.yaml")); err != nil {
			continue
		}
		if whole, err := filepath.Abs(folder); err == nil {
			release, chart = filepath.Base(whole), folder
		}
		break
	}
	c := screen.Command{"helm template", screen.Quote(release), screen.Quote(chart)}
	return c.String() + " | " + p.own("plan-rollout -f -")
}

// printError prints an error and returns its exit status. The hint may repeat the flags of cmd, the
// command that ran.
func (p program) printError(errs io.Writer, err error, cmd *cobra.Command) int {
	if panicked := (*source.PanicError)(nil); errors.As(err, &panicked) {
		return p.printPanic(errs, panicked.Value, panicked.Stack)
	}
	fmt.Fprintln(errs, "error: "+screen.Clean(err.Error()))
	var d interface{ Details() []string }
	if errors.As(err, &d) {
		for _, l := range d.Details() {
			text := strings.TrimLeft(l, " ")
			fmt.Fprintln(errs, "  "+l[:len(l)-len(text)]+screen.Clean(text))
		}
	}
	if hint := p.hintFor(err, cmd); hint != "" {
		fmt.Fprintln(errs, "hint: "+screen.Clean(hint))
	}
	return 1
}

// hintFor returns the hint of an error, completed with the flags that the user typed.
func (p program) hintFor(err error, cmd *cobra.Command) string {
	if r := (rerunError{}); errors.As(p.withHint(err, "--to-revision"), &r) {
		return r.with(cmd.Flags())
	}
	hint := p.hintOf(err)
	if of := leaveOut.FindStringSubmatch(hint); of != nil {
		if f, _ := flagNamed(cmd, of[1]); f != nil {
			but := []string{f.Name}
			if f.Name == "watch" {
				but = append(but, "timeout")
			}
			return hint + ": " + rerunError{err, cmd.CommandPath(), but}.with(cmd.Flags())
		}
	}
	if of := addFlag.FindStringSubmatch(hint); of != nil && errors.As(err, new(*source.InputError)) {
		f, _ := flagNamed(cmd, "--"+of[1])
		if _, pastable := (flagSet{cmd.Flags()}).repeatFlags("from"); f != nil && pastable &&
			cmd.Flags().Changed("from") && !(of[1] == "from" && cmd.Flags().Changed("filename")) {
			return rerunError{err, cmd.CommandPath(), []string{f.Name}}.with(cmd.Flags()) + " " + hint
		}
	}
	files, pastable := flagSet{cmd.Flags()}.repeatFlags("from")
	if errors.As(err, new(*daemonset.OldVersionError)) && pastable {
		return rerunError{err, cmd.CommandPath(), []string{"kubernetes-version"}}.with(cmd.Flags()) + " " + hint
	}
	// list the nodes of the files, for the same DaemonSet
	if hint == "kubectl get nodes" && len(files) > 0 && pastable && cmd.Name() == "explain" {
		return rerunError{err, cmd.CommandPath(), []string{"node"}}.with(cmd.Flags()) + " --node '*'"
	}
	return p.withConnection(hint, kubectlFlags(cmd.Flags()), files)
}

// addFlag matches a hint to change how the input is read.
var addFlag = regexp.MustCompile(`^--(keep-going|max-input|from) `)

// leaveOut matches a hint to leave out one flag.
var leaveOut = regexp.MustCompile(`^leave out (-\S+)(?: wide)?$`)

// printPanic prints a bug report for a panic and returns its exit status. It prints the message of
// a runtime error only, because the message of a library may contain a secret. A stack contains no
// secrets.
func (p program) printPanic(errs io.Writer, panicked any, stack []byte) int {
	what := "a panic"
	if e, ok := panicked.(runtime.Error); ok {
		what = e.Error()
	}
	fmt.Fprintln(errs, "error: this is a bug in "+p.shown+": "+screen.Clean(what))
	fmt.Fprintf(errs, "hint: please report it at https://github.com/kubectl-ds/kubectl-ds/issues with the command "+
		"line, version %s and these lines:\n%s", programVersion(), stack)
	return 1
}

// changeAsFlags returns the flags for the change that an error suggests.
func changeAsFlags(c *whatif.Change, rollback string) string {
	switch {
	case c == nil:
	case c.MaxUnavailable != nil:
		return "--max-unavailable " + c.MaxUnavailable.String()
	case c.MaxSurge != nil:
		return "--max-surge " + c.MaxSurge.String()
	case c.ToRevision != nil:
		return fmt.Sprintf("%s %d", rollback, *c.ToRevision)
	case len(c.Images) > 0:
		return fmt.Sprintf("--image %s=%s", c.Images[0].Container, c.Images[0].Image)
	}
	return ""
}

func noNodesHint(e *whatif.NoNodesError) string {
	switch {
	case e.Selector:
		return fmt.Sprintf("kubectl get nodes -l '%s'", e.Which)
	case len(e.Near) > 0:
		return "did you mean " + strings.Join(e.Near, ", ") + "?"
	}
	return "kubectl get nodes"
}

func missingInputHint(e *whatif.LackingError) string {
	namespace := ""
	if e.Of != "" {
		namespace = " -n " + e.Of
	}
	switch {
	case e.Gap.Why == snapshot.Forbidden:
		return fmt.Sprintf("kubectl auth can-i list %s%s", e.What, namespace)
	case e.Gap.Why == snapshot.NotGiven, e.Gap.Why == snapshot.Partial:
		return fmt.Sprintf("kubectl get %s%s -o yaml > %s.yaml, and add --from %s.yaml", e.What, namespace,
			e.What, e.What)
	}
	return ""
}

func (p program) historyHint(e *history.Error) string {
	switch {
	case e.Why == snapshot.Forbidden:
		return "kubectl auth can-i list controllerrevisions.apps -n " + e.Namespace
	case e.Why == snapshot.NotGiven, e.Why == snapshot.Partial:
		return "kubectl get controllerrevisions -n " + e.Namespace +
			" -o yaml > revisions.yaml, and add --from revisions.yaml"
	}
	return ""
}

// flagTypes maps each type of flag to the message for an invalid value, and an example.
var flagTypes = map[string]struct{ what, example string }{
	"bool":     {"neither true nor false", "true"},
	"int":      {"not a whole number", "3"},
	"int32":    {"not a whole number", "3"},
	"int64":    {"not a whole number", "3"},
	"level":    {"not a whole number", "6"},
	"float64":  {"not a number", "20"},
	"duration": {"not a duration", "40s"},
}

// flagError rewords an error of pflag and adds a hint: the flag that the user probably meant, or an
// example of a value.
func flagError(cmd *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		bare    *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
	)
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { // cobra has merged the persistent flags by now
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		return hinted{err, source.Meant("--", unknown.GetSpecifiedName(), names, cmd.CommandPath()+" --help")}
	case errors.As(err, &unknown):
		return hinted{fmt.Errorf("unknown flag: -%s", unknown.GetSpecifiedName()), cmd.CommandPath() + " --help"}
	case errors.As(err, &bare):
		return hinted{fmt.Errorf("%s has no value", nameOf(bare.GetFlag())), nameOf(bare.GetFlag()) + " " +
			placeholderOf(bare.GetFlag())}
	case !errors.As(err, &invalid):
		return err
	}
	f := invalid.GetFlag()
	is, known := flagTypes[f.Value.Type()]
	if !known {
		return err
	}
	if errors.Is(err, strconv.ErrRange) {
		is.what += ", or too large"
	}
	return hinted{fmt.Errorf("%s %q is %s", nameOf(f), invalid.GetValue(), is.what), nameOf(f) + " " + is.example}
}

// nameOf returns the name of a flag with its dashes.
func nameOf(f *pflag.Flag) string {
	if len(f.Name) == 1 {
		return "-" + f.Name
	}
	return "--" + f.Name
}
