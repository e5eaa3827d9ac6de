package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

func newSnapshot(c *common) *cobra.Command {
	in := &input{common: c}
	cmd := &cobra.Command{
		Use:     "snapshot NAME",
		Short:   "Write what the other commands read as one JSON document, to be read with --from",
		GroupID: "inspect",
		Long: templates.LongDesc(`
			Writes the DaemonSet, its revisions, pods and events, the PodDisruptionBudgets that
			select its pods, and all nodes to standard output, as one JSON document without
			images, annotations of nodes and pods, and managed fields. Every command answers the same from it with --from.`),
		Example: templates.Examples(`
			kubectl ds snapshot -n kube-system node-agent > node-agent.json
			kubectl ds explain node-agent --from node-agent.json`),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return c.completeNames(cmd, args, begun)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return writeSnapshot(cmd.Context(), in, args) },
	}
	in.addFlags(cmd.Flags())
	return cmd
}

func writeSnapshot(ctx context.Context, in *input, args []string) error {
	ch := &choice{}
	selector, err := ch.check(args, *in.config.Namespace)
	if err != nil {
		return err
	}
	if len(ch.names) != 1 {
		return hinted{errors.New("a snapshot is of one DaemonSet: give its name"), "kubectl ds explain lists them"}
	}
	if err := in.check(); err != nil {
		return err
	}
	read, err := in.read(ctx, ch, selector)
	if err != nil {
		return err
	}
	raw, err := snapshot.Encode(in.asked(read[0]))
	if err != nil {
		return err
	}
	_, err = in.Out.Write(raw)
	return err
}
