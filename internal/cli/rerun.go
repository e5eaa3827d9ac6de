package cli

import (
	"context"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/dump"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// connectionFlagNames are kubectl's flags that select the server and the user. They do not include
// --token, because users copy the output into tickets. A printed command omits the token, and the
// user can add it.
var connectionFlagNames = []string{
	"kubeconfig", "context", "cluster", "user", "server", "proxy-url", "request-timeout",
	"certificate-authority", "tls-server-name", "insecure-skip-tls-verify", "client-certificate", "client-key",
	"as", "as-group", "as-uid", "as-user-extra",
}

// inputFlagNames are the flags that select the input in every command.
var inputFlagNames = append([]string{"from", "keep-going", "max-input", "chunk-size", "now", "kubernetes-version"},
	connectionFlagNames...)

// askedBy returns the flags of this command line that all commands accept, for commands to paste.
func (in *inputFlags) askedBy() sheet.Asked {
	asked := sheet.Asked{Program: screen.Word(in.program.shown)}
	asked.Flags, asked.Again = in.repeatFlags(inputFlagNames...)
	asked.Input = asked.Flags
	asked.Kubectl = kubectlFlags(in.flags)
	if d, ok := in.opened.(*dump.Dump); ok {
		asked.Log = d.Log
	}
	return asked
}

// kubectlFlags returns the flags with which kubectl reaches the same cluster, or nil if the input
// is files.
func kubectlFlags(f *pflag.FlagSet) []sheet.Flag {
	s := flagSet{f}
	if s.given("from") != "" {
		return nil
	}
	flags, _ := s.repeatFlags(connectionFlagNames...)
	return flags
}

// repeatFlags returns those of the named flags that the user set, for another command with the same
// input. pastable is false if that input is standard input, because a command can read it only
// once. Flags that change nodes come last, in their original order.
func (s flagSet) repeatFlags(names ...string) (flags []sheet.Flag, pastable bool) {
	pastable = true
	var nodes []nodeFlag
	s.flags.Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		switch node, isNode := f.Value.(nodeValue); {
		case slices.Contains(values, source.StandardInput):
			pastable = false
		case !slices.Contains(names, f.Name), slices.ContainsFunc(values, withUser.MatchString):
		case isNode:
			nodes = *node.into
		case f.Value.Type() == "bool" && values[0] == "true":
			flags = append(flags, sheet.Flag{Name: f.Name, Bare: true})
		default:
			for _, v := range values {
				flags = append(flags, sheet.Flag{Name: f.Name, Value: v})
			}
		}
	})
	for _, n := range nodes {
		flags = append(flags, sheet.Flag{Name: n.name, Value: n.text})
	}
	return flags, pastable
}

// withUser matches a URL with a user name, and perhaps a password, such as the URL of a proxy.
var withUser = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*@`)

// withConnection adds the connection flags to a hint that begins with a kubectl command. It inserts
// them at the end of that command, before a comma, a semicolon, a parenthesis or a >. "kubectl
// config" gets only --kubeconfig; "kubectl config view" also gets the context, the cluster and the
// user. If the input is files, "kubectl get nodes" becomes an explain command with those files.
// Other hints do not change.
func (p program) withConnection(hint string, flags, files []sheet.Flag) string {
	words := strings.Fields(hint)
	if len(words) < 3 && hint != "kubectl cluster-info" || words[0] != "kubectl" || words[1] == "kustomize" ||
		strings.HasPrefix(hint, p.own("")) {
		return hint
	}
	if ofNodes := hint == "kubectl get nodes" || strings.HasPrefix(hint, "kubectl get nodes -l "); ofNodes &&
		len(files) > 0 {
		return sheet.WithFlags(screen.Command{screen.Word(p.own("explain --node '*'"))}, files...).String()
	}
	if words[1] == "config" {
		of := []string{"kubeconfig"}
		if words[2] == "view" {
			of = append(of, "context", "cluster", "user")
		}
		flags = slices.DeleteFunc(slices.Clone(flags), func(f sheet.Flag) bool { return !slices.Contains(of, f.Name) })
	}
	end := len(hint)
	for _, mark := range []string{", ", "; ", " (", " > "} {
		if i := strings.Index(hint, mark); i >= 0 {
			end = min(end, i)
		}
	}
	return sheet.WithFlags(screen.Command{screen.Word(hint[:end])}, flags...).String() + hint[end:]
}

// allNamespacesCommand returns this command for all namespaces, or "" if it cannot be pasted.
func (in *inputFlags) allNamespacesCommand() string {
	asked := in.askedBy()
	if !asked.Again {
		return ""
	}
	return sheet.WithFlags(screen.Command{in.ownWord(in.command), "-A"}, asked.Flags...).String()
}

// suggestDaemonSet adds a command to the error for a missing or ambiguous DaemonSet. It is the same
// command for the most likely DaemonSet, or else for all namespaces.
func (in *inputFlags) suggestDaemonSet(err error) error {
	var (
		none *source.NotFoundError
		some *source.AmbiguousError
	)
	isNone := errors.As(err, &none)
	switch {
	case isNone && likelyMeant(none).Name == "" && len(none.Held) > 0:
		if all := in.allNamespacesCommand(); all != "" {
			return hinted{err, none.Hint() + ": " + all}
		}
	case in.isList():
	case errors.As(err, &some):
		if c := in.rerunCommand(some.Refs[0].Namespace, some.Name); c != nil {
			return hinted{err, c.String()}
		}
	case isNone:
		ref := likelyMeant(none)
		if c := in.rerunCommand(ref.Namespace, ref.Name); ref.Name != "" && c != nil {
			return hinted{err, none.Hint() + " " + c.String()}
		}
		if all := in.allNamespacesCommand(); none.Hint() == "" && all != "" {
			return hinted{err, all}
		}
	}
	return err
}

// likelyMeant returns the DaemonSet that the user probably meant: the same name in the namespace
// with the most similar name, or a similar name. If there is none, its Name is empty.
func likelyMeant(none *source.NotFoundError) source.Ref {
	near := append(snapshot.Near(none.Namespace, none.Elsewhere), none.Elsewhere...)
	switch {
	case len(near) > 0:
		return source.Ref{Namespace: near[0], Name: none.Name}
	case len(none.Near) > 0:
		return source.Ref{Namespace: none.Namespace, Name: none.Near[0]}
	case len(none.Far) > 0:
		return none.Far[0]
	}
	return source.Ref{}
}

// rerunCommand returns this command line for one DaemonSet, with all flags except those that select
// DaemonSets. It returns nil if the command cannot be pasted. Placeholders such as NAME are not
// quoted.
func (in *inputFlags) rerunCommand(namespace string, name string) screen.Command {
	var typed []string
	in.flags.Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"namespace", "all-namespaces", "selector", "token"}, f.Name) {
			typed = append(typed, f.Name)
		}
	})
	flags, pastable := in.repeatFlags(typed...)
	if !pastable {
		return nil
	}
	c := screen.Command{in.ownWord(in.command)}
	if namespace != "" {
		c = append(c, "-n "+screen.Quote(namespace))
	}
	return sheet.WithFlags(append(c, screen.Quote(name)), flags...)
}

// suggestName adds a command to the error if the user must name one DaemonSet. If only one
// DaemonSet matches, the command contains its name; otherwise the hint lists the names. The lookup
// has the time limit of a completion.
func (in *inputFlags) suggestName(err error) error {
	if slices.Contains(in.from, source.StandardInput) {
		return hinted{err, "add the NAME of one"}
	}
	if len(in.names) > 0 {
		return hinted{err, in.rerunLine(in.names[0])}
	}
	refs := in.candidates()
	if len(refs) == 1 {
		return hinted{err, in.rerunLine(refs[0])}
	}
	names := make([]string, len(refs))
	one := !slices.ContainsFunc(refs, func(r source.Ref) bool { return r.Namespace != refs[0].Namespace })
	for i, r := range refs {
		if names[i] = r.String(); one {
			names[i] = r.Name
		}
	}
	const most = 5
	switch {
	case len(refs) == 0:
		return hinted{err, in.rerunLine(source.Ref{Namespace: in.config.Namespace(), Name: "NAME"})}
	case one && len(in.config.Namespace())+len(in.from) == 0 && !in.allNamespaces:
		return hinted{err, in.rerunLine(source.Ref{Name: "NAME"}) + ", where NAME is one of " + joinFirst(most, names)}
	case one:
		return hinted{err, in.rerunLine(source.Ref{Namespace: refs[0].Namespace, Name: "NAME"}) +
			", where NAME is one of " + joinFirst(most, names)}
	}
	return hinted{err, in.rerunLine(source.Ref{Name: "NAMESPACE/NAME"}) + ", where NAMESPACE/NAME is one of " +
		joinFirst(most, names)}
}

// rerunLine returns the text of rerunCommand, or "" if the command cannot be pasted.
func (in *inputFlags) rerunLine(ref source.Ref) string {
	return in.rerunCommand(ref.Namespace, ref.Name).String()
}

// candidates returns the DaemonSets that the user can name, or nil if they cannot be read in time.
func (in *inputFlags) candidates() (refs []source.Ref) {
	_ = withoutTerminal(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), completionTimeout)
		defer cancel()
		found := make(chan []source.Ref, 1)
		go func() { found <- in.findDaemonSets(ctx) }()
		select {
		case refs = <-found:
		case <-ctx.Done(): // a credential plugin may block
		}
		return nil
	})
	return refs
}

// findDaemonSets returns the DaemonSets that the flags select, and prints nothing.
func (in *inputFlags) findDaemonSets(ctx context.Context) []source.Ref {
	silent, asking := *in.common, *in
	silent.ErrOut, silent.In = io.Discard, strings.NewReader("")
	asking.common = &silent
	r, namespace, err := asking.open(ctx)
	if err != nil {
		return nil
	}
	if asking.allNamespaces {
		namespace = ""
	}
	all, _ := r.DaemonSets(ctx, namespace)
	var refs []source.Ref
	for i := range all {
		if asking.selector == nil || asking.selector.Matches(labels.Set(all[i].Labels)) {
			refs = append(refs, source.Ref{Namespace: all[i].Namespace, Name: all[i].Name})
		}
	}
	return refs
}
