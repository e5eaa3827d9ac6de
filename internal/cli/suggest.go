package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
)

// replacement is the command to suggest for an unknown word.
type replacement struct {
	command, flag string
	one           bool // the command needs the name of one DaemonSet
}

// replacements maps words that new users may try to commands of this program. The words come from
// kubectl and from everyday language.
var replacements = map[string]replacement{
	"status": {command: "explain"}, "get": {command: "explain"}, "describe": {command: "explain"},
	"list": {command: "explain"}, "ls": {command: "explain"},
	"show": {command: "explain"}, "why": {command: "explain"}, "check": {command: "explain"},
	"events": {command: "explain"}, "wait": {"explain", "--watch", true}, "watch": {"explain", "--watch", true},
	"plan": {command: "plan-rollout"}, "rollout": {command: "plan-rollout"}, "preview": {command: "plan-rollout"},
	"forecast": {command: "plan-rollout"},
	"simulate": {command: "plan-rollout"}, "apply": {command: "plan-rollout"},
	"set":     {command: "plan-rollout", one: true},
	"restart": {"plan-rollout", "--restart", true}, "rollback": {"plan-rollout", "--to-revision=0", true},
	"undo":      {"plan-rollout", "--to-revision=0", true},
	"revisions": {command: "history"}, "diff": {"history", "--diff=-1,live", true},
	"dump": {command: "snapshot", one: true}, "save": {command: "snapshot", one: true},
	"export": {command: "snapshot", one: true},
}

// commandLine is a command line that begins with an unknown command, split into words.
type commandLine struct {
	words []string // neither flags nor values of flags
	flags []string // flags and their values, without secrets
}

// splitArgs splits a command line into words and flags. It assumes that unknown flags have no
// value.
func splitArgs(root *cobra.Command, args []string) commandLine {
	var t commandLine
	for i := 0; i < len(args); i++ {
		if !strings.HasPrefix(args[i], "-") || args[i] == source.StandardInput {
			t.words = append(t.words, args[i])
			continue
		}
		name, _, valued := strings.Cut(args[i], "=")
		f, _ := flagNamed(root, name)
		whole := args[i : i+1]
		if f != nil && !valued && f.NoOptDefVal == "" && (strings.HasPrefix(name, "--") || len(name) == 2) &&
			i+1 < len(args) {
			i++
			whole = args[i-1 : i+1]
		}
		if f == nil || f.Name != "token" && !slices.ContainsFunc(whole, withUser.MatchString) {
			t.flags = append(t.flags, whole...)
		}
	}
	return t
}

// withoutHelp removes the help flag from a command line with an unknown command. Otherwise the user
// would get the help of the root command instead of an error.
func withoutHelp(root *cobra.Command, args []string) []string {
	if cmd, _, _ := root.Find(args); cmd != root || len(splitArgs(root, args).words) == 0 {
		return args
	}
	return slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "-h" || a == "--help" })
}

// flagNamed returns the flag that is written as "--watch", "-w" or "-ofoo", and the command that
// defines it. Flags of all commands belong to the root.
func flagNamed(root *cobra.Command, written string) (*pflag.Flag, *cobra.Command) {
	for _, cmd := range append([]*cobra.Command{root}, root.Commands()...) {
		for _, set := range []*pflag.FlagSet{cmd.PersistentFlags(), cmd.Flags()} {
			if long, isLong := strings.CutPrefix(written, "--"); isLong {
				if f := set.Lookup(long); f != nil {
					return f, cmd
				}
			} else if len(written) > 1 {
				if f := set.ShorthandLookup(written[1:2]); f != nil {
					return f, cmd
				}
			}
		}
	}
	return nil, nil
}

// line returns a command of this program with the words and flags of t. It adds NAME if the command
// needs a name.
func (t commandLine) line(p program, to replacement) string {
	c := screen.Command{screen.Word(p.own(to.command))}
	if to.one && len(t.words) == 0 {
		c = append(c, "NAME")
	}
	for _, w := range slices.Concat(t.words, t.flags) {
		c = append(c, screen.Quote(w))
	}
	if to.flag != "" {
		c = append(c, screen.Word(to.flag))
	}
	return c.String()
}

// unknownCommand returns the error for an unknown command. The hint is the command to use instead,
// with the other words and flags of t.
func (c *common) unknownCommand(root *cobra.Command, t commandLine) error {
	word := t.words[0]
	rest := commandLine{t.words[1:], t.flags}
	return hinted{fmt.Errorf("unknown command %q", word), c.hintForWord(root, word, t, rest)}
}

// hintForWord returns the hint for an unknown command. t is the whole command line, and rest is the
// part after the word.
func (c *common) hintForWord(root *cobra.Command, word string, t, rest commandLine) string {
	var names []string
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() {
			names = append(names, cmd.Name())
		}
	}
	second := ""
	if len(rest.words) > 0 {
		second = rest.words[0]
	}
	to, known := replacements[word]
	of, more := replacements[second]
	switch {
	case word == "logs":
		return c.logs(rest)
	case word == "rollout" && second == "history":
		return commandLine{rest.words[1:], rest.flags}.line(c.program, replacement{command: second})
	case word == "rollout" && more:
		return commandLine{rest.words[1:], rest.flags}.line(c.program, of)
	case word == "set" && second == "image" && len(rest.words) > 1:
		for _, image := range rest.words[2:] {
			rest.flags = append(rest.flags, "--image="+image)
		}
		return commandLine{rest.words[1:2], rest.flags}.line(c.program, to)
	case word == "diff" && slices.ContainsFunc(rest.flags, func(f string) bool {
		return strings.HasPrefix(f, "-f") ||
			strings.HasPrefix(f, "-k")
	}):
		return rest.line(c.program, replacement{command: "plan-rollout"})
	case known:
		return rest.line(c.program, to)
	}
	help := root.CommandPath() + " --help"
	if near := source.Meant("", word, names, ""); near != "" {
		if nearest, single := strings.CutPrefix(strings.TrimSuffix(near, "?"), "did you mean "); single &&
			!strings.Contains(nearest, ",") {
			return "did you mean " + rest.line(c.program, replacement{command: nearest}) + "?"
		}
		return source.Meant(root.CommandPath()+" ", word, names, help)
	}
	if _, name, found := strings.Cut(word, "/"); !found && len(validation.IsDNS1123Subdomain(word)) > 0 || found &&
		len(validation.IsDNS1123Subdomain(name)) > 0 {
		return help
	}
	return t.line(c.program, replacement{command: "explain"}) + " (if that is the name of a DaemonSet; " + help +
		" lists the commands)"
}

// logs returns the kubectl command for logs, which this program does not show.
func (c *common) logs(rest commandLine) string {
	of := screen.Word("daemonset/NAME")
	if len(rest.words) > 0 {
		_, name, found := strings.Cut(rest.words[len(rest.words)-1], "/")
		if !found {
			name = rest.words[len(rest.words)-1]
		}
		of = "daemonset/" + screen.Quote(name)
	}
	command := screen.Command{"kubectl logs", of}
	if n := c.config.Namespace(); n != "" {
		command = append(command, "-n "+screen.Quote(n))
	}
	return command.String()
}

// flagWithoutCommand returns the error for a flag that is used without a command. The hint is a
// command that has the flag. It returns nil if no command has it.
func (c *common) flagWithoutCommand(root *cobra.Command, err error) error {
	unknown := (*pflag.NotExistError)(nil)
	if !errors.As(err, &unknown) {
		return nil
	}
	t := splitArgs(root, c.args)
	if len(t.words) > 0 {
		return c.unknownCommand(root, t)
	}
	written := "--" + unknown.GetSpecifiedName()
	if unknown.GetSpecifiedShortnames() != "" {
		written = "-" + unknown.GetSpecifiedName()
	}
	f, _ := flagNamed(root, written)
	if f == nil {
		return nil
	}
	to := replacement{command: "explain"}
	for _, command := range []string{"snapshot", "history", "plan-rollout", "explain"} { // the last match is used
		if cmd, _, err := root.Find([]string{command}); err == nil && cmd.Flags().Lookup(f.Name) != nil {
			to.command = command
		}
	}
	to.one = slices.Contains(append([]string{"watch", "fit", "undo", "revision", "diff"},
		daemonSetFlagNames...), f.Name)
	return hinted{fmt.Errorf("%s needs a command", written), t.line(c.program, to)}
}
