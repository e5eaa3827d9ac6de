package cli

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/klog/v2"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/kubeconfig"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// common has the streams and kubectl's own flags, which all commands share.
type common struct {
	genericiooptions.IOStreams
	program program
	config  *kubeconfig.Flags
	held    *heldNotes // nil if notes are printed immediately
	args    []string   // all arguments of the command line
}

// ownWord returns the first word of a command of this program, for a command to paste.
func (c *common) ownWord(command string) screen.Word { return screen.Word(c.program.own(command)) }

func newRoot(called program, in io.Reader, out, errs io.Writer, args ...string) *cobra.Command {
	c := &common{
		args:      args,
		IOStreams: genericiooptions.IOStreams{In: in, Out: out, ErrOut: errs},
		program:   called,
		config:    &kubeconfig.Flags{},
	}
	root := &cobra.Command{
		Use:   called.file,
		Short: "Explain and forecast DaemonSet rollouts",
		Long: paragraphs(`
			Applies the DaemonSet controller's own rules to the objects of a cluster, and never changes the objects.`),
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
		Args:              c.checkCommand,
	}
	showVersion, everywhere := false, false
	root.Flags().BoolVar(&showVersion, "version", false, "print the version")
	root.Flags().BoolVarP(&everywhere, "all-namespaces", "A", false, "show the DaemonSets of all namespaces")
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if showVersion {
			return c.printVersion()
		}
		return c.start(cmd, everywhere)
	}
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	root.CompletionOptions.DisableDefaultCmd = true // newCompletion replaces it
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if !cmd.HasParent() {
			return cmp.Or(c.flagWithoutCommand(cmd, err), flagError(cmd, err))
		}
		return flagError(cmd, err)
	})
	c.config.Add(root.PersistentFlags())
	addLogFlag(root)
	root.AddGroup(&cobra.Group{ID: "inspect", Title: "Inspect:"}, &cobra.Group{ID: "other", Title: "Other:"})
	root.SetHelpCommandGroupID("other")
	root.AddCommand(newExplain(c), newPlan(c), newHistory(c), newSnapshot(c), newCompletion(c), newVersion(c),
		newOptions())
	c.completeFlags(root, root.PersistentFlags())
	for _, cmd := range root.Commands() {
		c.completeFlags(cmd, cmd.Flags())
	}
	for name, words := range kubectlFlagUsages {
		root.PersistentFlags().Lookup(name).Usage = words
	}
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "help" {
			cmd.Args = c.checkTopic
		}
	}
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { _, _ = io.WriteString(cmd.OutOrStdout(), help(cmd)) })
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		_, err := io.WriteString(cmd.OutOrStderr(), help(cmd))
		return err
	})
	return root
}

// checkCommand returns an error for an unknown command.
func (c *common) checkCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	t := splitArgs(root, c.args)
	if len(t.words) == 0 { // words after "--" that look like flags
		t = commandLine{words: args}
	}
	return c.unknownCommand(root, t)
}

// checkTopic returns an error for an unknown command after "help".
func (c *common) checkTopic(help *cobra.Command, args []string) error {
	root := help.Root()
	if len(args) == 0 || slices.ContainsFunc(root.Commands(),
		func(cmd *cobra.Command) bool { return cmd.Name() == args[0] && len(args) == 1 }) {
		return nil
	}
	var names []string
	for _, cmd := range root.Commands() {
		names = append(names, cmd.Name())
	}
	return hinted{fmt.Errorf("no help for %q: it is not a command", strings.Join(args, " ")),
		source.Meant(help.CommandPath()+" ", args[0], names, root.CommandPath()+" --help")}
}

// noArguments returns an error if the command gets an argument.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return hinted{fmt.Errorf("%s takes no argument, but has %q", cmd.Name(), args[0]), cmd.CommandPath()}
}

// addLogFlag adds -v, which enables the logs of client-go.
func addLogFlag(root *cobra.Command) {
	logs := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(logs)
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	v := root.PersistentFlags().VarPF(goFlag{logs.Lookup("v").Value}, "v", "v", "verbosity of the client's logs")
	v.NoOptDefVal = ""
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) {
		if cmd.Flags().Changed("v") {
			// log once, and only through the stream
			for name, value := range map[string]string{"one_output": "true", "stderrthreshold": "FATAL"} {
				_ = logs.Set(name, value)
			}
			klog.SetOutput(cmd.ErrOrStderr())
		}
	}
}

// goFlag adapts a flag of the standard library to pflag.
type goFlag struct{ flag.Value }

func (goFlag) Type() string { return "level" }

func newOptions() *cobra.Command {
	return &cobra.Command{
		Use: "options", Short: "List the flags that every command takes", GroupID: "other", Args: noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(),
				"Every command takes these flags of kubectl.\n\n"+strings.Join(flagTables(cmd.InheritedFlags()),
					"\n\n")+"\n")
			return err
		},
	}
}

// The release build sets these variables. Other builds use Go's build information.
var (
	version = ""
	commit  = ""
	date    = ""
)

// programVersion returns the version of this program, such as "v0.1.0", or "devel".
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
		Use: "version", Short: "Print the program version and the newest known Kubernetes version", GroupID: "other",
		Args: noArguments, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error { return c.printVersion() },
	}
}

func (c *common) printVersion() error {
	s := "kubectl-ds " + programVersion()
	if commit != "" {
		s += fmt.Sprintf(" (commit %s, %s)", commit, date)
	}
	_, err := fmt.Fprintf(c.Out, "%s\ncontroller rules up to Kubernetes %s\n%s %s/%s\n", s, daemonset.Newest,
		runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
