package cli

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/view"
)

// ofKubectl are the flags of kubectl that a command needs to ask the same server as the
// same user. --token is none of them: it is a secret, and a screen is copied into tickets.
// A command stands without it, as the reader knows to add it.
var ofKubectl = []string{
	"kubeconfig", "context", "cluster", "user", "server", "proxy-url", "request-timeout",
	"certificate-authority", "tls-server-name", "insecure-skip-tls-verify", "client-certificate", "client-key",
	"as", "as-group", "as-uid", "as-user-extra",
}

// ofInput are the flags of every command that a question about the same input needs.
var ofInput = append([]string{"from", "now", "kubernetes-version"}, ofKubectl...)

// askedBy is the command line that asked, by the flags that every command has.
func (in *input) askedBy() view.Asked {
	asked := view.Asked{Program: screen.Word(in.program.shown)}
	asked.Flags, asked.Again = in.givenAgain(ofInput...)
	asked.Kubectl = kubectlFlags(in.flags)
	return asked
}

// kubectlFlags are those of the flags with which kubectl asks the same cluster; none where
// files were read in its place.
func kubectlFlags(f *pflag.FlagSet) []view.Flag {
	s := flagSet{f}
	if s.given("from") != "" {
		return nil
	}
	flags, _ := s.givenAgain(ofKubectl...)
	return flags
}

// givenAgain returns those of the named flags that were given, for a command that asks
// for the same once more, and reports whether they can be pasted: not where standard
// input was read, which is read only once. Flags that change nodes come last, in the order
// given.
func (s flagSet) givenAgain(names ...string) (flags []view.Flag, pastable bool) {
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
			flags = append(flags, view.Flag{Name: f.Name, Bare: true})
		default:
			for _, v := range values {
				flags = append(flags, view.Flag{Name: f.Name, Value: v})
			}
		}
	})
	for _, n := range nodes {
		flags = append(flags, view.Flag{Name: n.name, Value: n.text})
	}
	return flags, pastable
}

// withUser matches an address with a user, and so perhaps a password, as that of a proxy
// may have.
var withUser = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*@`)

// reaching returns a hint that begins with a command of kubectl with the flags that reach
// the same cluster, behind that command's last word: what follows it stands behind a comma,
// a semicolon, a bracket or a >. "kubectl config" reads the kubeconfig and nothing else, of
// which "view" shows the part that was chosen. Any other hint is returned as it is.
func (p program) reaching(hint string, flags []view.Flag) string {
	words := strings.Fields(hint)
	if len(words) < 3 && hint != "kubectl cluster-info" || words[0] != "kubectl" || words[1] == "kustomize" || strings.HasPrefix(hint, p.own("")) {
		return hint
	}
	if words[1] == "config" {
		of := []string{"kubeconfig"}
		if words[2] == "view" {
			of = append(of, "context", "cluster", "user")
		}
		flags = slices.DeleteFunc(slices.Clone(flags), func(f view.Flag) bool { return !slices.Contains(of, f.Name) })
	}
	end := len(hint)
	for _, mark := range []string{", ", "; ", " (", " > "} {
		if i := strings.Index(hint, mark); i >= 0 {
			end = min(end, i)
		}
	}
	return view.WithFlags(screen.Command{screen.Word(hint[:end])}, flags...).String() + hint[end:]
}

// everywhere is the command about the DaemonSets of all namespaces; empty where
// it cannot be pasted.
func (in *input) everywhere() string {
	asked := in.askedBy()
	if !asked.Again {
		return ""
	}
	return view.WithFlags(screen.Command{in.ownWord(in.command), "-A"}, asked.Flags...).String()
}

// meant adds to an error about a DaemonSet that is not there the whole command
// for the one that was most likely meant.
func (in *input) meant(err error) error {
	var none *source.NotFoundError
	if !errors.As(err, &none) || in.many() {
		return err
	}
	ref := source.Ref{Namespace: none.Namespace}
	switch {
	case len(none.Elsewhere) > 0:
		ref = source.Ref{Namespace: none.Elsewhere[0], Name: none.Name}
	case len(none.Near) > 0:
		ref.Name = none.Near[0]
	}
	var typed []string // all flags but those that say which DaemonSets
	in.flags.Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"namespace", "all-namespaces", "selector"}, f.Name) {
			typed = append(typed, f.Name)
		}
	})
	flags, pastable := in.givenAgain(typed...)
	if ref.Name == "" || !pastable {
		return err
	}
	c := screen.Command{in.ownWord(in.command)}
	if ref.Namespace != "" {
		c = append(c, "-n "+screen.Quote(ref.Namespace))
	}
	return hinted{err, none.Hint() + " " + view.WithFlags(append(c, screen.Quote(ref.Name)), flags...).String()}
}
