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

// completionTimeout limits how long a completion waits for a cluster or a file. The shell starts
// two processes first, and users wait about two seconds.
const completionTimeout = 1500 * time.Millisecond

// completionRequest is a command line to complete.
type completionRequest struct {
	*inputFlags
	args       []string // before the word to complete
	toComplete string   // the start of the word to complete; may be empty
}

// choice is a word that completes a command line, with the description that a shell shows.
type choice struct {
	word, description string
	safe              bool // offer the word even if it has special characters
}

// choices are the words that can complete a command line.
type choices struct {
	words     []choice
	noSpace   bool // the word can continue, so no space follows it
	keepOrder bool // keep this order; other words are sorted
}

// finder finds choices. The caller treats an error as no choices, and never shows it.
type finder func(ctx context.Context, t *completionRequest) (choices, error)

// fixedChoices returns a finder for words that need no input.
func fixedChoices(words ...string) finder {
	return func(context.Context, *completionRequest) (choices, error) {
		return choices{words: plainChoices(words...), keepOrder: true}, nil
	}
}

func plainChoices(words ...string) []choice {
	all := make([]choice, len(words))
	for i, w := range words {
		all[i].word = w
	}
	return all
}

// completionFunc turns find into a completion function for cobra. The function offers nothing if
// find fails, panics or exceeds the time limit, and never prints an error.
func (c *common) completionFunc(find finder) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		found := make(chan choices, 1)
		go func() {
			defer func() {
				if recover() != nil { // a bug in a completion must not disturb the user
					found <- choices{}
				}
			}()
			all, err := find(ctx, c.newCompletionRequest(cmd, args, toComplete))
			if err != nil {
				all = choices{}
			}
			found <- all
		}()
		select {
		case all := <-found:
			return all.matching(toComplete)
		case <-ctx.Done(): // a credential plugin or a file may block
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
	}
}

// newCompletionRequest returns the request to complete toComplete, the last word of the command
// line.
func (c *common) newCompletionRequest(cmd *cobra.Command, args []string, toComplete string) *completionRequest {
	silent := *c
	silent.ErrOut, silent.In = io.Discard, strings.NewReader("")
	t := &completionRequest{inputFlags: &inputFlags{common: &silent, flagSet: flagSet{cmd.Flags()}}, args: args,
		toComplete: toComplete}
	t.from = t.values("from")
	return t
}

// values returns the current values of a flag without duplicates. Cobra parses the flags twice for
// a completion.
func (t *completionRequest) values(flag string) []string {
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

// openInput returns the reader of the cluster or files, and the namespace.
func (t *completionRequest) openInput(ctx context.Context) (reader, string, error) {
	if slices.Contains(t.from, source.StandardInput) {
		return nil, "", errStandardInput
	}
	return t.open(ctx)
}

// matching returns the choices that complete a word, in cobra's format.
func (all choices) matching(toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
	directive := cobra.ShellCompDirectiveNoFileComp
	if all.noSpace {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	if all.keepOrder {
		directive |= cobra.ShellCompDirectiveKeepOrder
	} else {
		slices.SortStableFunc(all.words, func(a, b choice) int { return strings.Compare(a.word, b.word) })
	}
	var offered []cobra.Completion
	said := map[string]bool{}
	for _, w := range all.words {
		if said[w.word] || !strings.HasPrefix(w.word, toComplete) || !w.safe &&
			!shellSafe.MatchString(w.word[len(toComplete):]) {
			continue
		}
		said[w.word] = true
		offered = append(offered,
			cobra.CompletionWithDesc(w.word, strings.ReplaceAll(screen.Clean(w.description), "\t", " ")))
	}
	return offered, directive
}

// shellSafe matches text that every shell takes literally. Words from a cluster, a file or a
// kubeconfig that do not match are not offered, because a shell might run parts of them.
var shellSafe = regexp.MustCompile(`^[A-Za-z0-9._:/=@,%+-]*$`)

// completeFlags registers a completion function for each flag of a command that takes a value. The
// function offers nothing for a flag that has neither a finder nor a file type.
func (c *common) completeFlags(cmd *cobra.Command, flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		kinds, isFile := fileFlags[f.Name]
		var complete cobra.CompletionFunc = cobra.NoFileCompletions
		switch find := flagChoices[f.Name]; {
		case f.NoOptDefVal != "":
			return // this flag needs no value
		case isFile && len(kinds) > 0:
			complete = cobra.FixedCompletions(kinds, cobra.ShellCompDirectiveFilterFileExt)
		case isFile:
			complete = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
		case slices.Contains(directoryFlags, f.Name):
			complete = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
		case find != nil:
			complete = c.completionFunc(find)
		}
		_ = cmd.RegisterFlagCompletionFunc(f.Name, complete) // an error means that the flag already has a function
	})
}
