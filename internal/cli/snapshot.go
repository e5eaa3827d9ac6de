package cli

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/spf13/cobra"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

func newSnapshot(c *common) *cobra.Command {
	in := &input{common: c}
	showValues := false
	cmd := &cobra.Command{
		Use:     "snapshot NAME",
		Short:   "Write what the other commands read as one JSON document, to be read with --from",
		GroupID: "inspect",
		Long: templates.LongDesc(`
			Writes the DaemonSet, its revisions, pods and events, the PodDisruptionBudgets that
			select its pods, and all nodes to standard output, as one JSON document without
			images, annotations of nodes and pods, and managed fields but the DaemonSet's own.
			Every command answers the same from it with --from.

			Literal values of environment variables may be secret: each becomes a digest, in the
			pod templates of the DaemonSet and of its revisions and in annotations that hold a
			copy of them. So does a field that the API types do not list. Where a message of an
			event or a container quotes a value, it becomes <hidden>. Equal values have equal digests within one file and others in the
			next, and the key of the digests is in none. With --show-values they stand there as
			they are, and a manifest can be compared with all of them.

			The controller's hashes of templates stay, in labels and in the names of revisions,
			and are made of the values: whoever has the file can confirm a guess by them, and so
			find a weak value, such as a short password.

			Names, labels, taints, arguments, other annotations, and all else in messages of
			events and containers are in it as they are: look at it before you send it to anybody.`),
		Example: templates.Examples(`
			kubectl ds snapshot -n kube-system node-agent > node-agent.json
			kubectl ds explain node-agent --from node-agent.json`),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return c.completeNames(cmd, args, begun)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return writeSnapshot(cmd.Context(), in, args, showValues)
		},
	}
	in.addFlags(cmd.Flags())
	cmd.Flags().BoolVar(&showValues, "show-values", false, "write literal values of environment variables, which may be secret, as they are")
	return cmd
}

func writeSnapshot(ctx context.Context, in *input, args []string, showValues bool) error {
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
	s := in.asked(read[0])
	switch {
	case !showValues:
		if s, err = redacted(s); err != nil {
			return err
		}
	case s.EnvValues == snapshot.EnvDigest:
		in.note("--show-values: the input holds digests of environment variables, and no values")
	}
	raw, err := snapshot.Encode(s)
	if err != nil {
		return err
	}
	_, err = in.Out.Write(raw)
	return err
}

// redacted returns the Snapshot with digests for literal values, by a key that
// nobody keeps.
func redacted(s *snapshot.Snapshot) (*snapshot.Snapshot, error) {
	key := make([]byte, 32)
	rand.Read(key) // never fails
	return snapshot.Redact(s, key)
}
