package cli

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/view"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
)

// start answers the program's name alone: with what the DaemonSets' statuses say, and what
// to type next. Where one of them alone has pods that are not available or not updated, it is
// explained. Where no cluster answers at once, or has none, that is the help. Whoever gives a
// flag, as -n or --context, asks a cluster: then it is an error, or that there is none.
func (c *common) start(cmd *cobra.Command, everywhere bool) error {
	in := &input{common: c, flagSet: flagSet{cmd.Flags()}, command: "explain", allNamespaces: everywhere}
	if cmd.Flags().NFlag() > 0 {
		if err := in.check(); err != nil {
			return err
		}
		all, err := in.daemonSets(cmd.Context())
		switch {
		case err != nil:
			return err
		case len(all) == 0:
			in.allNamespaces = in.config.Namespace() == "" || everywhere
			return in.nothing()
		}
		return in.started(cmd, all)
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), typingWait)
	defer cancel()
	silent := *c
	silent.ErrOut, silent.In = io.Discard, strings.NewReader("")
	in.common = &silent
	found := make(chan []appsv1.DaemonSet, 1)
	go func() {
		all, _ := in.daemonSets(ctx)
		found <- all
	}()
	select {
	case all := <-found:
		if len(all) > 0 {
			in.common = c
			return in.started(cmd, all)
		}
	case <-ctx.Done(): // a program that gives credentials may take any time
	}
	return cmd.Help()
}

// started writes the first screen.
func (in *input) started(cmd *cobra.Command, all []appsv1.DaemonSet) error {
	if one := explain.Unsettled(all); len(one) == 1 {
		return in.explainOne(cmd, one[0].Namespace, one[0].Name, len(all))
	}
	style, err := styleOf(in.Out, "auto")
	if err != nil {
		return err
	}
	namespace := in.config.Namespace()
	if in.allNamespaces {
		namespace = ""
	}
	return view.Start(in.Out, all, namespace, in.askedBy(), style)
}

// explainOne is explain of one of so many DaemonSets, with the flags that were typed.
func (in *input) explainOne(cmd *cobra.Command, namespace, name string, of int) error {
	args := []string{"explain", "--namespace=" + namespace, name}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			if f.Name != "namespace" && f.Name != "all-namespaces" {
				args = append(args, "--"+f.Name+"="+v)
			}
		}
	})
	root := newRoot(in.program, in.In, in.Out, in.ErrOut, args...)
	root.SetArgs(args)
	if err := root.ExecuteContext(cmd.Context()); err != nil {
		return err
	}
	if of > 1 {
		in.note("%s: all pods are available and updated, by the status; %s lists the commands",
			wording.Plural(of-1, "other DaemonSet"), in.program.own("--help"))
	}
	return nil
}

// daemonSets returns those of all namespaces, or of the current one where no more may be
// read and none was asked for.
func (in *input) daemonSets(ctx context.Context) ([]appsv1.DaemonSet, error) {
	r, namespace, err := in.open(ctx)
	if err != nil {
		return nil, err
	}
	if asked := in.config.Namespace(); asked != "" && !in.allNamespaces {
		return r.DaemonSets(ctx, asked)
	}
	all, err := r.DaemonSets(ctx, "")
	if err != nil && !in.allNamespaces {
		return r.DaemonSets(ctx, namespace)
	}
	return all, err
}
