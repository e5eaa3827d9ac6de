package cli

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/view"
)

// start answers the program's name alone: with what the DaemonSets' statuses say, and what
// to type next. Where no cluster answers at once, or has none, that is the help.
func (c *common) start(cmd *cobra.Command) error {
	ctx, cancel := context.WithTimeout(cmd.Context(), typingWait)
	defer cancel()
	silent := *c
	silent.ErrOut, silent.In = io.Discard, strings.NewReader("")
	in := &input{common: &silent, flagSet: flagSet{cmd.Flags()}}
	found := make(chan []appsv1.DaemonSet, 1)
	go func() {
		all, _ := in.daemonSets(ctx)
		found <- all
	}()
	select {
	case all := <-found:
		if len(all) > 0 {
			style, err := styleOf(c.Out, "auto")
			if err != nil {
				return err
			}
			return view.Start(c.Out, all, in.askedBy(), style)
		}
	case <-ctx.Done(): // a program that gives credentials may take any time
	}
	return cmd.Help()
}

// daemonSets returns those of all namespaces, or of the current one where no more may be
// read.
func (in *input) daemonSets(ctx context.Context) ([]appsv1.DaemonSet, error) {
	r, namespace, err := in.open(ctx)
	if err != nil {
		return nil, err
	}
	if asked := in.config.Namespace(); asked != "" {
		return r.DaemonSets(ctx, asked)
	}
	all, err := r.DaemonSets(ctx, "")
	if err != nil {
		return r.DaemonSets(ctx, namespace)
	}
	return all, nil
}
