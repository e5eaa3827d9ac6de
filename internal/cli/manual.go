package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Commands returns the root command of the program with this file name, for a program that
// generates the manual and the completion scripts.
func Commands(file string) *cobra.Command {
	root := newRoot(calledAs(file), strings.NewReader(""), io.Discard, io.Discard)
	root.InitDefaultHelpCmd()
	for _, cmd := range append(root.Commands(), root) {
		cmd.InitDefaultHelpFlag()
	}
	return root
}

// Help is the help of a command, in parts.
type Help struct {
	Command  string // such as "kubectl ds explain"
	Short    string
	Usage    []string
	Long     []string    // paragraphs
	Examples string      // indented lines
	Commands [][2]string // names and summaries
	Tables   []string    // lines; a heading starts each table and follows each empty line
	Flags    []Flags
	Inherits []Flags // kubectl's flags; only of the root command
}

// Flags is a group of flags. A row has a flag, such as "-o, --output FORMAT", and its description.
// Title is empty if a command has only one group.
type Flags struct {
	Title string
	Rows  [][2]string
}

// HelpOf returns the help of a command.
func HelpOf(cmd *cobra.Command) Help {
	h := Help{Command: cmd.CommandPath(), Short: cmd.Short, Examples: cmd.Example}
	if cmd.Long != "" {
		for _, p := range strings.Split(strings.TrimSpace(cmd.Long), "\n\n") {
			h.Long = append(h.Long, strings.Join(strings.Fields(p), " "))
		}
	}
	h.Usage, h.Flags = usages(cmd), groupedFlags(cmd.LocalNonPersistentFlags())
	if !cmd.HasParent() {
		h.Inherits = groupedFlags(cmd.PersistentFlags())
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			h.Commands = append(h.Commands, [2]string{c.Name(), c.Short})
		}
	}
	for _, key := range []string{moreTable, exitTable} {
		if text := cmd.Annotations[key]; text != "" {
			h.Tables = append(h.Tables, text)
		}
	}
	return h
}

func groupedFlags(set *pflag.FlagSet) []Flags {
	var out []Flags
	for _, g := range groupsOf(set) {
		f := Flags{Title: g.Title}
		for _, r := range g.rows {
			f.Rows = append(f.Rows, r)
		}
		out = append(out, f)
	}
	return out
}
