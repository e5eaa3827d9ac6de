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

// start runs the program without a command. It shows the status of the DaemonSets, and suggests the
// next commands. If exactly one DaemonSet has unavailable or outdated pods, it explains that
// DaemonSet. If no cluster responds in time, or the cluster has no DaemonSets, it shows the help.
// With a flag such as -n or --context, it reports these two cases instead.
func (c *common) start(cmd *cobra.Command, everywhere bool) error {
	in := &inputFlags{common: c, flagSet: flagSet{cmd.Flags()}, command: "explain", allNamespaces: everywhere}
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
			return in.printNone()
		}
		return in.printStart(cmd, all)
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
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
			return in.printStart(cmd, all)
		}
	case <-ctx.Done(): // a credential plugin may block
	}
	return cmd.Help()
}

// printStart writes the first screen.
func (in *inputFlags) printStart(cmd *cobra.Command, all []appsv1.DaemonSet) error {
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

// explainOne runs explain for one of total DaemonSets, with the flags that the user typed.
func (in *inputFlags) explainOne(cmd *cobra.Command, namespace, name string, total int) error {
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
	if total > 1 {
		in.note("%s: all pods are available and updated, by the status; %s lists the commands",
			wording.Plural(total-1, "other DaemonSet"), in.program.own("--help"))
	}
	return nil
}

// daemonSets returns the DaemonSets of all namespaces. If the user may not list them, and did not
// ask for all namespaces, it returns those of the current namespace.
func (in *inputFlags) daemonSets(ctx context.Context) ([]appsv1.DaemonSet, error) {
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
