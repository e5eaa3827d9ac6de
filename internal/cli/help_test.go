package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// mostWords limits the description of a flag or a command.
const mostWords = 12

// TestHelp checks every command: its help has all parts in the same order, fits into 80 columns,
// and describes each flag and command in few words. This includes kubectl's flags.
func TestHelp(t *testing.T) {
	root := newRoot(calledAs("kubectl-ds"), strings.NewReader(""), new(strings.Builder), new(strings.Builder))
	root.InitDefaultHelpCmd()
	described, exits := 0, 0
	var look func(*cobra.Command)
	look = func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		path := cmd.CommandPath()
		text := help(cmd)
		for _, line := range strings.Split(text, "\n") {
			if n := len([]rune(line)); n > 80 {
				t.Errorf("%s --help: %d columns: %s", path, n, line)
			}
			if strings.TrimRight(line, " \t") != line {
				t.Errorf("%s --help: spaces at the end of %q", path, line)
			}
		}
		at := -1
		for _, part := range []string{cmd.Short + ".\n", "\nExamples:\n", "\nUsage:\n", "\nExit status", "\nFlags", "\nEvery command takes"} {
			if i := strings.Index(text, part); i >= 0 && i < at {
				t.Errorf("%s --help: %q is not in its place", path, part)
			} else if i >= 0 {
				at = i
			}
		}
		if slices.Contains([]string{"explain", "plan-rollout", "history", "snapshot"}, cmd.Name()) {
			exits++
			for _, part := range []string{"\nExamples:\n", "\nUsage:\n", "\nExit status", "\n  0    answered", "\n  1    error\n", "\nFlags"} {
				if !strings.Contains(text, part) && (cmd.Name() != "snapshot" || part != "\n  0    answered") {
					t.Errorf("%s --help: no %q", path, part)
				}
			}
		}
		if _, table, found := strings.Cut(text, "\nExit status"); found {
			_, table, _ = strings.Cut(table, ":\n")
			rows, _, _ := strings.Cut(table, "\n\n")
			for _, line := range strings.Split(rows, "\n") {
				if !regexp.MustCompile(`^  (?:\d    |130  )\S`).MatchString(line) {
					t.Errorf("%s --help: an exit status in more than one line: %s", path, line)
				}
			}
		}
		describe := func(what, words string) {
			described++
			if n := len(strings.Fields(words)); n == 0 || n > mostWords {
				t.Errorf("%s: %d words: %s", what, n, words)
			}
			if strings.HasSuffix(words, ".") {
				t.Errorf("%s: a phrase has no full stop: %s", what, words)
			}
		}
		describe(path, cmd.Short)
		for _, set := range []*pflag.FlagSet{cmd.LocalFlags(), cmd.InheritedFlags()} {
			set.VisitAll(func(f *pflag.Flag) {
				if f.Hidden {
					return
				}
				describe(path+" --"+f.Name, f.Usage)
				if f.Usage != "" && strings.ToLower(f.Usage[:1]) != f.Usage[:1] && !strings.HasPrefix(f.Usage, "U") {
					t.Errorf("%s --%s: not in the form of the others: %s", path, f.Name, f.Usage)
				}
				if f.Value.Type() != "bool" && placeholders[f.Name] == "" {
					t.Errorf("%s --%s: no placeholder", path, f.Name)
				}
			})
		}
		for _, c := range cmd.Commands() {
			look(c)
		}
	}
	look(root)
	if described < 100 || exits != 4 {
		t.Errorf("%d descriptions and %d tables of exit statuses: is that all?", described, exits)
	}
}

// TestFlagGroups checks that each flag belongs to exactly one group, and that the groups contain
// only existing flags.
func TestFlagGroups(t *testing.T) {
	in, flags := map[string]int{}, map[string]bool{}
	for _, g := range flagGroups {
		for _, name := range g.flags {
			in[name]++
		}
	}
	root := newRoot(calledAs("kubectl-ds"), strings.NewReader(""), new(strings.Builder), new(strings.Builder))
	for _, cmd := range append(root.Commands(), root) {
		cmd.InitDefaultHelpFlag()
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if flags[f.Name] = true; in[f.Name] != 1 && !f.Hidden {
				t.Errorf("%s --%s: in %d groups", cmd.Name(), f.Name, in[f.Name])
			}
		})
	}
	for name := range in {
		if !flags[name] {
			t.Errorf("--%s is in a group, and no command takes it", name)
		}
	}
}

// TestPlaceholders checks that every placeholder, and every description of a kubectl flag, belongs
// to an existing flag.
func TestPlaceholders(t *testing.T) {
	flags := map[string]bool{}
	var look func(*cobra.Command)
	look = func(cmd *cobra.Command) {
		for _, set := range []*pflag.FlagSet{cmd.LocalFlags(), cmd.InheritedFlags()} {
			set.VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
		}
		for _, c := range cmd.Commands() {
			look(c)
		}
	}
	look(newRoot(calledAs("kubectl-ds"), strings.NewReader(""), new(strings.Builder), new(strings.Builder)))
	for name := range placeholders {
		if !flags[name] {
			t.Errorf("a placeholder for --%s, which no command takes", name)
		}
	}
	for name := range kubectlFlagUsages {
		if !flags[name] {
			t.Errorf("a description of --%s, which no command takes", name)
		}
	}
}

// TestWrapped wraps a text into lines of 10 bytes.
func TestWrapped(t *testing.T) {
	for _, tt := range []struct{ text, want, why string }{
		{"", "", "nothing is one empty line"},
		{"one two", "one two", "it fits"},
		{"one two three", "one two|three", "it does not"},
		{"one two th", "one two th", "it just fits"},
		{"a-very-long-word b", "a-very-long-word|b", "a word is not broken"},
		{" one  two ", "one two", "spaces count once"},
	} {
		if got := strings.Join(wrapText(tt.text, 10), "|"); got != tt.want {
			t.Errorf("%q: %q, want %q (%s)", tt.text, got, tt.want, tt.why)
		}
	}
}
