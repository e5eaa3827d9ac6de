package cli

import (
	"context"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
)

// typingWait is for how long a cluster or a file is asked while somebody waits for words to
// complete a command line. Two processes start before, within the two seconds that a
// person waits.
const typingWait = 1500 * time.Millisecond

// typing is a command line that is being completed.
type typing struct {
	*input
	args  []string // before
	begun string   // of the word to complete; empty at the beginning
}

// choice is a word that completes a command line, and what a shell shows beside it.
type choice struct {
	word, about string
	safe        bool // it is offered whatever characters it has
}

// choices are the words that complete one.
type choices struct {
	words   []choice
	open    bool // the word goes on: no blank behind it
	ordered bool // as they stand; others are sorted
}

// finder finds choices. An error means that there are none: nobody reads it.
type finder func(ctx context.Context, t *typing) (choices, error)

// fixed are choices that need no input.
func fixed(words ...string) finder {
	return func(context.Context, *typing) (choices, error) {
		return choices{words: plainChoices(words...), ordered: true}, nil
	}
}

func plainChoices(words ...string) []choice {
	all := make([]choice, len(words))
	for i, w := range words {
		all[i].word = w
	}
	return all
}

// offers returns what finds words for cobra: in time or not at all, and without a word
// about errors.
func (c *common) offers(find finder) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), typingWait)
		defer cancel()
		found := make(chan choices, 1)
		go func() {
			defer func() {
				if recover() != nil { // a bug here is none of the command that is typed
					found <- choices{}
				}
			}()
			all, err := find(ctx, c.typing(cmd, args, begun))
			if err != nil {
				all = choices{}
			}
			found <- all
		}()
		select {
		case all := <-found:
			return all.completing(begun)
		case <-ctx.Done(): // a program that gives credentials, or a file, may take any time
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
	}
}

// typing returns the command line up to the word that is to be completed.
func (c *common) typing(cmd *cobra.Command, args []string, begun string) *typing {
	silent := *c
	silent.ErrOut, silent.In = io.Discard, strings.NewReader("")
	t := &typing{input: &input{common: &silent, flagSet: flagSet{cmd.Flags()}}, args: args, begun: begun}
	t.from = t.values("from")
	return t
}

// values returns the values of a flag so far, each once: cobra parses the flags twice to
// complete.
func (t *typing) values(flag string) []string {
	f := t.flags.Lookup(flag)
	if f == nil || !f.Changed {
		return nil
	}
	list, ok := f.Value.(pflag.SliceValue)
	if !ok {
		return []string{f.Value.String()}
	}
	var once []string
	for _, v := range list.GetSlice() {
		if !slices.Contains(once, v) {
			once = append(once, v)
		}
	}
	return once
}

// ask returns the cluster or the files of the command line, and the namespace.
func (t *typing) ask(ctx context.Context) (reader, string, error) {
	if slices.Contains(t.from, source.StandardInput) {
		return nil, "", errNotAsked
	}
	return t.open(ctx)
}

// completing returns those of the choices that complete a word, as cobra prints them.
func (all choices) completing(begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	directive := cobra.ShellCompDirectiveNoFileComp
	if all.open {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	if all.ordered {
		directive |= cobra.ShellCompDirectiveKeepOrder
	} else {
		slices.SortStableFunc(all.words, func(a, b choice) int { return strings.Compare(a.word, b.word) })
	}
	var offered []cobra.Completion
	said := map[string]bool{}
	for _, w := range all.words {
		if said[w.word] || !strings.HasPrefix(w.word, begun) || !w.safe && !typable.MatchString(w.word[len(begun):]) {
			continue
		}
		said[w.word] = true
		offered = append(offered,
			cobra.CompletionWithDesc(w.word, strings.ReplaceAll(screen.Clean(w.about), "\t", " ")))
	}
	return offered, directive
}

// typable is what every shell takes as it stands. Words of a cluster, of a file or of a
// kubeconfig that go on with something else are no choice: a shell might run it.
var typable = regexp.MustCompile(`^[A-Za-z0-9._:/=@,%+-]*$`)

// completeFlags sets what completes the values of flags of a command. To one that is listed
// nowhere, the person alone knows the value, and nothing is offered.
func (c *common) completeFlags(cmd *cobra.Command, flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		kinds, isFile := fileFlags[f.Name]
		var complete cobra.CompletionFunc = cobra.NoFileCompletions
		switch find := flagChoices[f.Name]; {
		case f.NoOptDefVal != "":
			return // a flag without a value
		case isFile && len(kinds) > 0:
			complete = cobra.FixedCompletions(kinds, cobra.ShellCompDirectiveFilterFileExt)
		case isFile:
			complete = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
		case slices.Contains(directoryFlags, f.Name):
			complete = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
		case find != nil:
			complete = c.offers(find)
		}
		_ = cmd.RegisterFlagCompletionFunc(f.Name, complete) // an error if it has one
	})
}
