package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
)

type planOptions struct {
	planning
	changeFlags
	watchFlags
	failOn []string
	fit    bool
}

// conditions are the conditions of --fail-on, in the order of the help.
var conditions = []row{
	{"stalls", "the rollout does not complete by itself"},
	{"removesAllPods", "no node is eligible, and none keeps its pod"},
	{"lostNodes>N", "more than N nodes lose their pod because they are not eligible, immediately or in the rollout"},
	{"strands>N", "more than N nodes lose their pod in the rollout because of a taint that the pod does not tolerate"},
	{"unfit>N", "the new pod does not fit on more than N nodes, and preemption makes no room; implies --fit"},
	{"replaces>N", "the controller replaces more than N pods; pods that are only deleted do not count"},
	{"immediateDeletes>N", "more than N pods are deleted immediately: in the next step, or because their node is no " +
		"longer eligible"},
}

func newPlan(c *common) *cobra.Command {
	o := &planOptions{planning: planning{queryFlags: queryFlags{inputFlags: inputFlags{common: c,
		command: "plan-rollout"}},
		rollback: "--to-revision"}}
	cmd := &cobra.Command{
		Use:     "plan-rollout [NAME...]",
		Short:   "Forecast a rollout, or what a change would do",
		GroupID: "inspect",
		Long: paragraphs(`
			Shows the controller's next step and every later step, until the rollout completes
			or stalls: how many pods it replaces, how many at a time, how long it takes, and
			which nodes block it. With a manifest or with flags for a change, it shows the
			effect of that change. It changes nothing.

			Without a NAME: a plan for each DaemonSet of the manifests; or, without manifests,
			one line for each DaemonSet in the namespace that has pending work or a node
			without an available pod. NAME may be NAMESPACE/NAME.

			NODES is a name, a comma-separated list of names, a pattern such as 'worker-*', or
			a label selector such as pool=gpu.

			The controller picks pods at random, so the plan gives counts, not names. Durations
			are ranges. The plan lists the assumptions for them.

			The plan applies a manifest in the same way as the live object was applied:
			client-side, or server-side with the same field manager. --server-side,
			--force-conflicts and --field-manager work as in kubectl apply. An apply that
			conflicts with other field managers is an error.

			Literal values of environment variables may be secret: differences are reported
			without values unless --show-values is given.

			--watch follows a rollout until it completes, is stuck, or --timeout expires, and
			reports whether each batch went as predicted. On a terminal, it redraws a screen;
			elsewhere, it prints lines. With -o json, it prints one document per line.`),
		Annotations: map[string]string{
			moreTable: "Conditions of --fail-on, separated by commas:\n" + table(conditions...),
			exitTable: exitStatusTable("2 to 5", `
				If several statuses apply, or there are several DaemonSets, the status is the first
				one in the order 6, 3, 4, 5, 2.`,
				row{"0", "answered: nothing to do, would complete, or waiting for you"},
				row{"1", "error"},
				row{"2", "a rollout is in progress"},
				row{"3", "the rollout stalls"},
				row{"4", "removes all pods, or leaves nodes without an available pod"},
				row{"5", "answered only in part"},
				row{"6", "a condition of --fail-on holds"}) +
				"\n\nExit status of --watch (2 to 4 only with --exit-code):\n" + table(
				row{"0", "the rollout ended, or none is in progress"},
				row{"1", "error, or the DaemonSet was deleted"},
				row{"2", "the rollout is still in progress at --timeout"},
				row{"3", "the rollout is stuck"},
				row{"4", "no rollout is in progress, but some nodes have no available pod"})},
		Example: c.program.examples(`
			# What comes next, and what is left?
			kubectl ds plan-rollout -n kube-system node-agent

			# Before you apply a manifest, or the output of helm template
			kubectl ds plan-rollout -f agent.yaml
			helm template agent ./chart | kubectl ds plan-rollout -f -

			# A new image, two nodes at a time
			kubectl ds plan-rollout -n kube-system node-agent \
			  --image agent=example/agent:2 --max-unavailable 2

			# Which DaemonSets lose pods if these nodes get a taint?
			kubectl ds plan-rollout -A --taint 'worker-*:dedicated=gpu:NoExecute'

			# Which DaemonSets can roll today, and which would stall?
			kubectl ds plan-rollout -A --restart

			# A check for CI, and a comment for the pull request
			kubectl ds plan-rollout -f agent.yaml -o markdown \
			  --fail-on 'stalls,lostNodes>0'`),
		ValidArgsFunction: c.completionFunc(nameChoices),
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) },
	}
	f := cmd.Flags()
	o.queryFlags.addFlags(f, "show all nodes, all steps and full messages", "set the exit status from the outcome")
	o.changeFlags.addFlags(f)
	f.StringSliceVar(&o.failOn, "fail-on", nil, "exit with status 6 if a condition holds (see above)")
	f.BoolVar(&o.fit, "fit", false, "check whether each new pod fits (reads pods of all namespaces)")
	o.watchFlags.addFlags(f, "follow the rollout of one DaemonSet until it completes or is stuck")
	return cmd
}

func (o *planOptions) run(ctx context.Context, args []string) error {
	if err := o.check(args, o.checkOwn); err != nil {
		return err
	}
	if o.watch {
		return o.following().follow(ctx, o.timeout)
	}
	defer o.holdNotes()()
	if o.manifests() {
		plans, err := o.planManifests(ctx)
		if err != nil {
			return err
		}
		return o.answer(plans, false)
	}
	gate := o.exitGate()
	if len(o.gates) > 0 {
		gate = "fail-on"
	}
	if len(o.names) == 0 && (o.format == inText || !o.text()) {
		plans, err := o.planEach(ctx, gate)
		if err != nil {
			return err
		}
		return o.answer(plans, true)
	}
	read, err := o.read(ctx, gate)
	if err != nil {
		return err
	}
	plans, err := o.plans(ctx, read)
	if err != nil {
		return err
	}
	return o.answer(plans, len(o.names) == 0)
}

// checkOwn validates and parses the flags of this command.
func (o *planOptions) checkOwn() (err error) {
	if o.change, err = o.asksFor(); err != nil {
		return err
	}
	if o.known, err = o.options(); err != nil {
		return err
	}
	if o.gates, err = parseGates(o.failOn); err != nil {
		return err
	}
	o.known.Fit = o.fit || slices.ContainsFunc(o.gates, func(g plan.Gate) bool { return g.On == plan.GateUnfit })
	o.dryRun, o.showsValues = o.serverDryRun, o.showValues
	ofOne, stdin := o.given(singleFlagNames...), source.StandardInput
	o.recordCommandLine()
	return firstRefusal(append([]refusal{
		// for example, from an unset variable of a script
		{o.given("fail-on") != "" && len(o.gates) == 0, "--fail-on names no condition",
			"--fail-on 'stalls,lostNodes>0'"},
		{o.manifests() && (o.allNamespaces || o.selectorText != ""),
			"-f and -k cannot be combined with -A or -l: the " +
				"manifests name the DaemonSets", "leave out the flag, or name those that are meant"},
		{ofOne != "" && o.isList() && !o.manifests(), "--" + ofOne + " needs the name of one DaemonSet", nameHint},
		{o.fit && o.isList() && !o.manifests(), "--fit needs the name of one DaemonSet", nameHint},
		{o.serverDryRun && o.isList() && !o.manifests(),
			"--server-dry-run needs a manifest, or the name of one DaemonSet", nameHint},
		{o.serverDryRun && len(o.from) > 0, "--server-dry-run cannot be combined with --from: it asks the API server",
			"leave out one of them"},
		{slices.Contains(o.files, stdin) && slices.Contains(o.from, stdin),
			"-f - and --from - both read standard input", "give one of them as a file"},
		{o.watch && (o.manifests() || o.given(daemonSetFlagNames...)+o.given(nodeFlagNames...) != ""),
			"--watch follows a rollout in a cluster: it cannot be combined with a change", "leave out --watch"},
		{o.watch && o.serverDryRun, "--server-dry-run cannot be combined with --watch", "leave out one of them"},
		{o.watch && len(o.gates) > 0, "--fail-on cannot be combined with --watch", "--watch --exit-code"},
	}, o.refusals(&o.queryFlags)...)...)
}

// recordCommandLine stores the flags for the commands that an answer prints.
func (o *planOptions) recordCommandLine() {
	own := slices.Concat([]string{"filename", "kustomize", "allow-remote-bases", "like", "group-by", "start",
		"termination", "request-rate", "request-burst", "show-values"}, applyFlagNames, daemonSetFlagNames,
		nodeFlagNames)
	o.asked = o.askedBy()
	o.asked.Flags, o.asked.Again = o.repeatFlags(append(own, inputFlagNames...)...)
	o.asked.Live = len(o.from) == 0 && o.asked.Again
	for _, flag := range slices.Concat(daemonSetFlagNames, nodeFlagNames) {
		if o.given(flag) != "" && flag != "node-down" { // no command makes a node unreachable
			o.changed = append(o.changed, flag)
		}
	}
	o.ofManifests = o.manifests()
	if !o.manifests() || slices.Contains(o.files, source.StandardInput) {
		return
	}
	o.apply = screen.Command{"kubectl apply"}
	for _, f := range o.files {
		o.apply = append(o.apply, "-f "+screen.Quote(f))
	}
	if o.kustomize != "" {
		o.apply = append(o.apply, "-k "+screen.Quote(o.kustomize))
	}
	if n := o.config.Namespace(); n != "" {
		o.apply = append(o.apply, "-n "+screen.Quote(n))
	}
	flags, _ := o.repeatFlags("server-side", "force-conflicts", "field-manager")
	o.apply = sheet.WithFlags(o.apply, append(flags, o.asked.Kubectl...)...)
}
