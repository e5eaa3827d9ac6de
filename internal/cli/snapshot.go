package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-ds/kubectl-ds/internal/encode"
	"github.com/kubectl-ds/kubectl-ds/internal/source/api"
	"github.com/kubectl-ds/kubectl-ds/internal/source/part"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/redact"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

func newSnapshot(c *common) *cobra.Command {
	o := &snapshotOptions{inputFlags: &inputFlags{common: c, command: "snapshot"}}
	cmd := &cobra.Command{
		Use:     "snapshot NAME...",
		Short:   "Write a DaemonSet's state as JSON, for --from",
		GroupID: "inspect",
		Long: paragraphs(`
			Writes a JSON document for each DaemonSet to standard output: the DaemonSet, its
			revisions, pods and events, the PodDisruptionBudgets that select its pods, and all
			nodes. Passed to --from, the output gives the same answer in every command. NAME may
			be NAMESPACE/NAME. Instead of NAME, use -A for all DaemonSets, or -l for the
			DaemonSets with the given labels. The output leaves out images and annotations of
			nodes, most annotations of pods, and all managed fields except those of the
			DaemonSet.

			The output also contains the objects that the API server checks when a pod is
			created: the namespace, its ResourceQuotas and LimitRanges, the PriorityClasses, and
			the template's ServiceAccount and RuntimeClass. It names the webhooks and admission
			policies that may reject or change the pod. For the ConfigMaps, Secrets and
			PersistentVolumeClaims that the template refers to, it has the names of their keys
			and whether they exist, and the PersistentVolumes of the claims. If the controller
			is not acting, the output also names the holder of the kube-controller-manager
			Lease. The output lists the other pods on each node where a pod is missing or not
			scheduled, or where the new pod requests different resources than the old one. With
			--fit, it lists them for all nodes. For each of these pods, it has only the
			namespace, name, node, priority, start time, requests, host ports and
			PodDisruptionBudgets.

			Literal values of environment variables may be secret. A digest replaces each of
			them in pod templates, revisions, and annotations that hold a copy. A digest also
			replaces fields that the API types do not list. In messages of events and
			containers, <hidden> replaces such a value. Equal values have equal digests only
			within one file, because the key of the digests is not stored. With --show-values,
			the output has the real values, so a plan can compare them with a manifest.

			Without --redact, the output has the real names, labels, taints, arguments, other
			annotations and other messages. Read the file before you send it to anybody. It also
			has the controller's template hashes, in labels and names of revisions. The
			controller computes them from the values, so anybody with the file can confirm a
			guess, and can find a weak value such as a short password.

			With --redact, stand-ins such as node-07, image-2:tag-1 and text-5 replace the names
			of all objects, containers, images, volumes and variables, the keys of labels and
			taints that are not Kubernetes' own, the values, UIDs, addresses, hashes, commands,
			arguments, paths and annotations. Equal names get equal stand-ins, which sort in the
			same order, so every command gives the same answer. In messages, the known sentences
			of Kubernetes' own programs stay, and <hidden> replaces the rest.

			The program keeps only what is on fixed lists: numbers, times, amounts and versions,
			including those in image tags; words of Kubernetes, such as phases and reasons;
			well-known keys; and names of tools, such as Helm. So the file still shows how many
			nodes there are, what pods request, which ports they use and when they were created.
			Anybody who knows these facts about your cluster may recognize it.

			--redact-map writes a file that maps each stand-in to its name. Keep that file: it undoes
			the redaction. Without this file, nobody can recover a name from the snapshot.`),
		Annotations: map[string]string{exitTable: exitStatusTable("", "", row{"0", "written"}, row{"1", "error"})},
		Example: c.program.examples(`
			kubectl ds snapshot -n kube-system node-agent > node-agent.json
			kubectl ds explain node-agent --from node-agent.json

			# All DaemonSets in one file
			kubectl ds snapshot -A > all.json
			kubectl ds explain -A --from all.json

			# To share without revealing names; keep names.jsonl
			kubectl ds snapshot node-agent --redact --redact-map names.jsonl > send.json
			grep node-07 names.jsonl`),
		ValidArgsFunction: c.completionFunc(nameChoices),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args)
		},
	}
	o.addFlags(cmd.Flags())
	cmd.Flags().BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "write the DaemonSets of all namespaces")
	cmd.Flags().StringVarP(&o.selectorText, "selector", "l", "",
		"write only DaemonSets with these labels, such as app=agent")
	cmd.Flags().BoolVar(&o.showValues, "show-values", false,
		"write literal values of environment variables, which may be secret")
	cmd.Flags().BoolVar(&o.fit, "fit", false, "include the other pods on all nodes, one row per pod")
	cmd.Flags().BoolVar(&o.redact, "redact", false, "replace names and user-written text with stand-ins")
	cmd.Flags().StringVar(&o.redactMap, "redact-map", "", "write a new file that maps each stand-in to its name")
	return cmd
}

type snapshotOptions struct {
	*inputFlags
	showValues, fit, redact bool
	redactMap               string // empty if no table is written
}

func (o *snapshotOptions) run(ctx context.Context, args []string) error {
	in := o.inputFlags
	if err := in.checkNames(args); err != nil {
		return err
	}
	if err := o.checkRedact(); err != nil {
		return err
	}
	if len(in.names) == 0 && !in.allNamespaces && in.selectorText == "" {
		return hinted{errors.New("snapshot needs the name of a DaemonSet, or -A for all"),
			in.program.own("snapshot -A")}
	}
	if err := in.check(); err != nil {
		return err
	}
	all, err := readWhole(ctx, in, o.fit)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return in.noDaemonSet()
	}
	if o.showValues && slices.ContainsFunc(all,
		func(s *snapshot.Snapshot) bool { return s.EnvValues == snapshot.EnvDigest }) {
		in.note("--show-values has no effect: the input has digests instead of the values of environment variables")
	}
	key := make([]byte, 32) // the key of the digests; it is not stored
	rand.Read(key)          // Read never fails
	for i := range all {
		if !o.showValues {
			if all[i], err = snapshot.HideValues(all[i], key); err != nil {
				return err
			}
		}
	}
	if o.redact {
		if all, err = o.redacted(all); err != nil {
			return err
		}
	}
	for _, s := range all {
		if err := snapshot.EncodeTo(in.Out, s); err != nil {
			return err
		}
	}
	return nil
}

func (o *snapshotOptions) checkRedact() error {
	switch {
	case o.redact && o.showValues:
		return hinted{errors.New("--redact cannot be combined with --show-values"), "leave out one of the two"}
	case o.given("redact-map") != "" && !o.redact:
		return hinted{errors.New("--redact-map needs --redact"), "--redact --redact-map FILE"}
	case o.given("redact-map") != "" && o.redactMap == "":
		return hinted{errors.New("--redact-map names no file"), "--redact-map FILE"}
	}
	return nil
}

// redacted replaces names by stand-ins, and writes the table of names if --redact-map is set.
func (o *snapshotOptions) redacted(all []*snapshot.Snapshot) ([]*snapshot.Snapshot, error) {
	out, table := redact.Names(all)
	if o.redactMap != "" {
		var lines strings.Builder
		for _, row := range table.Rows {
			line, err := encode.Line(row)
			if err != nil {
				return nil, err
			}
			lines.WriteString(line)
		}
		if err := api.WriteNew(o.redactMap, lines.String()); err != nil {
			if errors.Is(err, fs.ErrExist) { // the old table may be the only key to an earlier snapshot
				return nil, hinted{err, "--redact-map NEWFILE"}
			}
			return nil, err
		}
	}
	o.note("stand-ins replace names and texts, %d in all; %s says what stays", len(table.Rows),
		o.program.own("snapshot --help"))
	if o.redactMap != "" {
		o.note("%s has the real names: keep it, and send only the snapshot", o.redactMap)
	}
	if words := wording.HiddenMessages(table.Messages); words != "" {
		o.note("%s", words)
	}
	return out, nil
}

// readWhole returns the Snapshots with the input of pod admission. They also have the other pods of
// the nodes for which explain or a plan needs them (see plan.NeedsOf). With fit, they have the
// other pods of all nodes.
func readWhole(ctx context.Context, in *inputFlags, fit bool) ([]*snapshot.Snapshot, error) {
	r, namespace, err := in.open(ctx)
	if err != nil {
		return nil, err
	}
	all, err := in.readFrom(ctx, r, namespace)
	if err != nil {
		return nil, err
	}
	needs := make([]cause.Needs, len(all))
	var of, led []int   // indexes of all
	nodes := []string{} // nil means all nodes
	for i, s := range all {
		st, err := in.state(s)
		if err != nil {
			return nil, err
		}
		needs[i] = plan.NeedsOf(st,
			fit).And(cause.Needs{Claims: snapshot.ClaimsOf("", &s.DaemonSet.Spec.Template.Spec)})
		if fit || len(needs[i].Nodes) > 0 {
			of, nodes = append(of, i), append(nodes, needs[i].Nodes...)
		}
		if needs[i].Controller {
			led = append(led, i)
		}
	}
	slices.Sort(nodes)
	if nodes = slices.Compact(nodes); fit {
		nodes = nil
	}
	err = replaceAt(all, of, func(of []*snapshot.Snapshot) ([]*snapshot.Snapshot, error) {
		return r.AddOtherPods(ctx, of, nodes)
	})
	if err != nil {
		return nil, err
	}
	if err := replaceAt(all, led, bindContext(ctx, r.AddController)); err != nil {
		return nil, err
	}
	creations := make([]part.Creation, len(all))
	for i := range all {
		if len(needs[i].Claims) > 0 {
			of := append([]string{}, needs[i].Nodes...)
			if fit {
				of = nil
			}
			if all[i], err = r.AddVolumes(ctx, all[i], needs[i].Claims, of); err != nil {
				return nil, err
			}
		}
		creations[i] = part.Creation{Of: all[i]}
	}
	if all, err = r.AddAdmission(ctx, creations...); err != nil {
		return nil, err
	}
	for i, s := range all {
		if s, err = in.addReferences(ctx, s, &s.DaemonSet.Spec.Template); err != nil {
			return nil, err
		}
		all[i] = in.override(s)
	}
	return all, nil
}
