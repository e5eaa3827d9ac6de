package cli

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/spf13/cobra"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

func newSnapshot(c *common) *cobra.Command {
	in := &input{common: c, command: "snapshot"}
	showValues, fit := false, false
	cmd := &cobra.Command{
		Use:     "snapshot NAME",
		Short:   "Write a DaemonSet's state as JSON, to be read with --from",
		GroupID: "inspect",
		Long: paragraphs(`
			Writes one JSON document to standard output: the DaemonSet, its revisions, pods and
			events, the PodDisruptionBudgets that select its pods, and all nodes. Every command
			gives the same answer from it with --from. Images of nodes, annotations of nodes
			and pods, and managed fields other than the DaemonSet's are left out.

			It also has what the API server checks when a pod is created: the namespace with
			its ResourceQuotas and LimitRanges, the PriorityClasses, the ServiceAccount and
			RuntimeClass of the template, and the names of the webhooks and admission policies
			that may reject or change the pod; and of the ConfigMaps, Secrets and
			PersistentVolumeClaims that the template refers to, whether they exist, and the
			names of their keys; and the PersistentVolumes of these claims. It has a row for each
			other pod on the nodes where a pod of the DaemonSet is not scheduled, on those that
			get a pod and have none, on those where the new pod takes more or something else
			than the one it replaces, and with --fit on all nodes: namespace, name, node,
			priority, start time, requests, host ports and PodDisruptionBudgets, and nothing
			else of it.

			Literal values of environment variables may be secret: each is replaced by a
			digest, in pod templates, revisions, and annotations that hold a copy of them. So
			is a field that the API types do not list. A message of an event or a container
			that quotes such a value has <hidden> in its place. Equal values have equal digests
			within one file only; the key of the digests is stored nowhere. With --show-values
			they are written as they are, and manifests can be compared with all of them.

			The controller's template hashes stay, in labels and names of revisions. They are
			computed from the values, so whoever has the file can confirm a guess, and can find
			a weak value such as a short password.

			Names, labels, taints, arguments, other annotations and other messages are written
			as they are: read the file before you send it to anybody.`),
		Annotations: map[string]string{exitTable: exits("", "", row{"0", "written"}, row{"1", "error"})},
		Example: c.program.examples(`
			kubectl ds snapshot -n kube-system node-agent > node-agent.json
			kubectl ds explain node-agent --from node-agent.json`),
		ValidArgsFunction: c.offers(oneName),
		RunE: func(cmd *cobra.Command, args []string) error {
			return writeSnapshot(cmd.Context(), in, args, showValues, fit)
		},
	}
	in.addFlags(cmd.Flags())
	cmd.Flags().BoolVar(&showValues, "show-values", false, "write literal values of environment variables, which may be secret")
	cmd.Flags().BoolVar(&fit, "fit", false, "include a row for each pod of others on the nodes")
	return cmd
}

func writeSnapshot(ctx context.Context, in *input, args []string, showValues, fit bool) error {
	if err := in.checkNames(args); err != nil {
		return err
	}
	if in.many() {
		return hinted{errors.New("snapshot needs the name of one DaemonSet"), in.program.own("explain lists the names")}
	}
	if err := in.check(); err != nil {
		return err
	}
	s, err := readWhole(ctx, in, fit)
	if err != nil {
		return err
	}
	switch {
	case !showValues:
		key := make([]byte, 32) // of the digests, which nobody keeps
		rand.Read(key)          // never fails
		if s, err = snapshot.Redact(s, key); err != nil {
			return err
		}
	case s.EnvValues == snapshot.EnvDigest:
		in.note("--show-values has no effect: the input has digests instead of the values of environment variables")
	}
	raw, err := snapshot.Encode(s)
	if err != nil {
		return err
	}
	_, err = in.Out.Write(raw)
	return err
}

// readWhole returns the Snapshot with what the API server checks when a pod is created,
// and with the other pods on the nodes of which explain or a plan asks for them, which
// plan.NeedsOf lists; for fit, on all nodes.
func readWhole(ctx context.Context, in *input, fit bool) (*snapshot.Snapshot, error) {
	r, namespace, err := in.open(ctx)
	if err != nil {
		return nil, err
	}
	read, err := in.readFrom(ctx, r, namespace)
	if err != nil {
		return nil, err
	}
	st, err := in.state(read[0])
	if err != nil {
		return nil, err
	}
	needs := plan.NeedsOf(st, fit).And(cause.Needs{Claims: snapshot.ClaimsOf("", &read[0].DaemonSet.Spec.Template.Spec)})
	nodes := append([]string{}, needs.Nodes...)
	if fit {
		nodes = nil
	}
	if fit || len(nodes) > 0 {
		read, err = r.AddOtherPods(ctx, read, nodes)
	}
	if err == nil && len(needs.Claims) > 0 {
		read[0], err = r.AddVolumes(ctx, read[0], needs.Claims, nodes)
	}
	if err == nil {
		read, err = r.AddAdmission(ctx, source.Creation{Of: read[0]})
	}
	if err != nil {
		return nil, err
	}
	s, err := in.refers(ctx, read[0], &read[0].DaemonSet.Spec.Template)
	if err != nil {
		return nil, err
	}
	return in.asked(s), nil
}
