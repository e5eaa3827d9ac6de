package cli

import (
	"errors"
	"slices"

	"github.com/spf13/pflag"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/view"
)

// ofKubectl are the flags of kubectl that a command needs to ask the same cluster.
// None of them is a secret.
var ofKubectl = []string{"kubeconfig", "context", "cluster", "user", "as", "as-group", "as-uid", "server"}

// ofInput are the flags of every command that a question about the same input needs.
var ofInput = append([]string{"from", "now", "kubernetes-version"}, ofKubectl...)

// askedBy is the command line that asked, by the flags that every command has.
func (in *input) askedBy() view.Asked {
	asked := view.Asked{Program: screen.Word(in.program.shown)}
	asked.Flags, asked.Again = in.givenAgain(ofInput...)
	if len(in.from) == 0 {
		asked.Kubectl, _ = in.givenAgain(ofKubectl...)
	}
	return asked
}

// givenAgain returns those of the named flags that were given, for a command that asks
// for the same once more, and reports whether they can be pasted: not where standard
// input was read, which is read only once, or a secret was given, which is nobody's to
// see. Flags that change nodes come last, in the order given.
func (in *input) givenAgain(names ...string) (flags []view.Flag, pastable bool) {
	pastable = true
	var nodes []nodeFlag
	in.flags.Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		switch node, isNode := f.Value.(nodeValue); {
		case slices.Contains([]string{"token", "password", "username"}, f.Name), slices.Contains(values, source.StandardInput):
			pastable = false
		case !slices.Contains(names, f.Name):
		case isNode:
			nodes = *node.into
		case f.Value.Type() == "bool":
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
