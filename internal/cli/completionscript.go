package cli

import (
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
)

// scripts maps each shell to the function that writes its completion script.
var scripts = map[string]func(*cobra.Command, io.Writer) error{
	"bash":       func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) },
	"zsh":        (*cobra.Command).GenZshCompletion,
	"fish":       func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) },
	"powershell": (*cobra.Command).GenPowerShellCompletionWithDesc,
}

// shells lists the supported shells in the order of the help.
var shells = []string{"bash", "zsh", "fish", "powershell"}

func newCompletion(c *common) *cobra.Command {
	return &cobra.Command{
		Use: "completion [SHELL]", Short: "Show how to turn on completion in your shell", GroupID: "other",
		Long: paragraphs(`
			Without a SHELL: the commands that turn on completion in bash, zsh, fish and
			PowerShell. With one of these (bash, zsh, fish, powershell): the script for
			` + c.program.file + `.

			Completion offers commands, flags and their values, contexts, namespaces,
			DaemonSets with their status, nodes and their labels, revisions and containers. It
			only reads, waits 1.5 seconds at most, and offers nothing if there is no answer.`),
		Example: c.program.examples(`
			# What to do in this shell
			kubectl ds completion`),
		Args: checkShell, ValidArgsFunction: cobra.FixedCompletions(shells,
			cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveKeepOrder),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return scripts[args[0]](cmd.Root(), c.Out)
			}
			_, err := io.WriteString(c.Out, c.program.turnOn(runtime.GOOS, exec.LookPath))
			return err
		},
	}
}

// checkShell returns an error unless args is empty or names a supported shell.
func checkShell(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0 || len(args) == 1 && slices.Contains(shells, args[0]):
		return nil
	case len(args) > 1:
		return hinted{fmt.Errorf("completion takes one shell, not %d", len(args)), cmd.CommandPath() + " bash"}
	}
	return hinted{fmt.Errorf("completion knows no shell %q: only bash, zsh, fish and powershell", args[0]),
		source.Meant(cmd.CommandPath()+" ", args[0], shells, cmd.CommandPath())}
}

// turnOn returns the instructions for turning on completion. look finds a program on the PATH.
func (p program) turnOn(system string, look func(string) (string, error)) string {
	completes, of := "kubectl_complete-"+strings.TrimPrefix(p.file, "kubectl-"), "kubectl"
	if !p.plugin {
		of = p.file
	}
	var b strings.Builder
	step := "To complete " + p.shown + ", run the commands for your shell, and start a new one:"
	if p.plugin {
		b.WriteString(paragraphs(fmt.Sprintf(`kubectl 1.26 and later completes %q by a program named %s on the
			PATH. It is this program under another name.`, p.shown, completes)) + "\n\n1. ")
		if at, err := look(completes); err == nil {
			fmt.Fprintf(&b, "Done already: %s\n\n", at)
		} else {
			fmt.Fprintf(&b, "%s\n\n", p.link(system, completes, look))
		}
		step = "2. Turn on the completion of kubectl, and start a new shell:"
	}
	fmt.Fprintf(&b, "%s\n\n", step)
	for _, shell := range []struct{ name, commands string }{
		{"bash 4.1 and later, with the package bash-completion",
			"echo 'source <(KUBECTL completion bash)' >> ~/.bashrc"},
		{"zsh", "echo 'autoload -U compinit; compinit' >> ~/.zshrc\n     echo 'source <(KUBECTL completion zsh)' >> " +
			"~/.zshrc"},
		{"fish", "KUBECTL completion fish > ~/.config/fish/completions/KUBECTL.fish"},
		{"PowerShell", "KUBECTL completion powershell >> $PROFILE"},
	} {
		fmt.Fprintf(&b, "   %s:\n     %s\n", shell.name, strings.ReplaceAll(shell.commands, "KUBECTL",
			string(screen.Quote(of))))
	}
	if p.plugin {
		b.WriteString("\n" + paragraphs(fmt.Sprintf("To complete %s, typed with the dash, use %[1]s in place of "+
			"kubectl in step 2. It does not need step 1.", p.file)) + "\n")
	}
	return b.String()
}

// link returns the command that installs the completion program next to this program. The command
// creates a link to the name by which this program was called, so that the link survives upgrades.
// On Windows, a link needs extra permissions, so the command creates a copy.
func (p program) link(system, completes string, look func(string) (string, error)) string {
	at := p.path
	if !strings.ContainsAny(at, `/\`) {
		if found, err := look(at); err == nil {
			at = found
		}
	}
	if whole, err := filepath.Abs(at); err == nil {
		at = whole
	}
	dir, file := filepath.Split(at)
	if system == "windows" {
		return "Copy it, and copy it again after each upgrade:\n\n     Copy-Item " + string(screen.Quote(at)) + " " +
			string(screen.Quote(dir+completes+".exe"))
	}
	link := string(screen.Quote(dir + completes))
	return "Link it:\n\n     ln -sf " + string(screen.Quote(file)) + " " + link +
		"\n\n   Remove the link before you uninstall the plugin, for nothing else does:\n\n     rm " + link
}
