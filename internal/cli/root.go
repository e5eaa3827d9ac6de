package cli

import (
	"flag"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/klog/v2"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// common is what every command shares: streams and kubectl's own flags.
type common struct {
	genericiooptions.IOStreams
	program program
	config  *source.Flags
	held    *heldNotes // nil: notes are written at once
}

// ownWord is the first word of a command of this program on a screen.
func (c *common) ownWord(command string) screen.Word { return screen.Word(c.program.own(command)) }

func newRoot(called program, in io.Reader, out, errs io.Writer) *cobra.Command {
	c := &common{
		IOStreams: genericiooptions.IOStreams{In: in, Out: out, ErrOut: errs},
		program:   called,
		config:    &source.Flags{},
	}
	root := &cobra.Command{
		Use:   called.file,
		Short: "Explain and forecast DaemonSet rollouts",
		Long: paragraphs(`
			Applies the DaemonSet controller's own rules to the objects of a cluster, and never
			changes any of them.`),
		Example: called.examples(`
			# The DaemonSets of this namespace, worst first
			kubectl ds explain

			# One of them: its numbers, what is wrong, and what to do
			kubectl ds explain -n kube-system node-agent

			# The same from a file, without a cluster
			` + source.DumpCommand() + ` \
			  > dump.yaml
			kubectl ds explain -n kube-system node-agent --from dump.yaml`),
		Annotations:       map[string]string{cobra.CommandDisplayNameAnnotation: called.shown},
		SilenceUsage:      true,
		SilenceErrors:     true,
		DisableAutoGenTag: true,
		Args:              knownCommand,

		RunE: func(cmd *cobra.Command, _ []string) error { return c.start(cmd) },
	}
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	root.CompletionOptions.DisableDefaultCmd = true // it is newCompletion
	root.SetFlagErrorFunc(flagError)
	c.config.Add(root.PersistentFlags())
	addLogFlag(root)
	root.AddGroup(&cobra.Group{ID: "inspect", Title: "Inspect:"}, &cobra.Group{ID: "other", Title: "Other:"})
	root.SetHelpCommandGroupID("other")
	root.AddCommand(newExplain(c), newPlan(c), newHistory(c), newSnapshot(c), newCompletion(c), newVersion(c), newOptions())
	c.completeFlags(root, root.PersistentFlags())
	for _, cmd := range root.Commands() {
		c.completeFlags(cmd, cmd.Flags())
	}
	for name, words := range ownWords {
		root.PersistentFlags().Lookup(name).Usage = words
	}
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { _, _ = io.WriteString(cmd.OutOrStdout(), help(cmd)) })
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		_, err := io.WriteString(cmd.OutOrStderr(), help(cmd))
		return err
	})
	return root
}

// knownCommand returns an error for a word that is not a command, with those that
// may have been meant.
func knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return hinted{fmt.Errorf("unknown command %q", args[0]), source.Meant(root.CommandPath()+" ", args[0], names, root.CommandPath()+" --help")}
}

// addLogFlag adds -v for client-go's own logs, which are silent without it.
func addLogFlag(root *cobra.Command) {
	logs := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(logs)
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	v := root.PersistentFlags().VarPF(goFlag{logs.Lookup("v").Value}, "v", "v", "verbosity of the client's logs")
	v.NoOptDefVal = ""
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) {
		if cmd.Flags().Changed("v") {
			for name, value := range map[string]string{"one_output": "true", "stderrthreshold": "FATAL"} { // once, and through the stream
				_ = logs.Set(name, value)
			}
			klog.SetOutput(cmd.ErrOrStderr())
		}
	}
}

// goFlag makes a flag of the standard library one of cobra's.
type goFlag struct{ flag.Value }

func (goFlag) Type() string { return "level" }

func newOptions() *cobra.Command {
	return &cobra.Command{
		Use: "options", Short: "List the flags that every command takes", GroupID: "other", Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), "Every command takes these flags of kubectl:\n\n"+flagTable(cmd.InheritedFlags()))
			return err
		},
	}
}

// Set by the release build; a build from source takes what Go knows of it.
var (
	version = ""
	commit  = ""
	date    = ""
)

// programVersion is the version of this program, as "v0.1.0" or "devel".
func programVersion() string {
	if version != "" {
		return version
	}
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" && b.Main.Version != "(devel)" {
		return b.Main.Version
	}
	return "devel"
}

func newVersion(c *common) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version and the newest Kubernetes rules it knows", GroupID: "other", Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			s := "kubectl-ds " + programVersion()
			if commit != "" {
				s += fmt.Sprintf(" (commit %s, %s)", commit, date)
			}
			_, err := fmt.Fprintf(c.Out, "%s\ncontroller rules up to Kubernetes %s\n%s %s/%s\n", s, daemonset.Newest, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
