package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Commands returns the commands of the program whose file has this name, for a program
// that generates its manual and its scripts for shells.
func Commands(file string) *cobra.Command {
	root := newRoot(calledAs(file), strings.NewReader(""), io.Discard, io.Discard)
	root.InitDefaultHelpCmd()
	for _, cmd := range append(root.Commands(), root) {
		cmd.InitDefaultHelpFlag()
	}
	return root
}

// Help is what the help of a command says, part by part.
type Help struct {
	Command  string // kubectl ds explain
	Short    string
	Usage    []string
	Long     []string    // paragraphs
	Examples string      // lines, indented
	Commands [][2]string // with what they do
	Tables   []string    // lines: the first is a heading, and so is each behind an empty one
	Flags    []Flags
	Inherits []Flags // those of kubectl; of the command that has no other above it
}

// Flags are a group of flags: "-o, --output FORMAT" with what it does. The Title of the
// only group is empty.
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
