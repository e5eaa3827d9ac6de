package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/source/manifest"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// changeFlags are the flags of plan-rollout that describe a change, or that replace measured values
// of the forecast.
type changeFlags struct {
	files        []string
	kustomize    string
	remoteBases  bool
	serverDryRun bool
	applying     manifest.Applying

	images          []string
	maxUnavailable  string
	maxSurge        string
	minReadySeconds int32
	strategy        string
	toRevision      string
	restart         bool
	tolerations     []string
	nodeSelector    []string

	nodes []nodeFlag // in their order on the command line
	add   int
	like  string

	groupBy      string
	start        time.Duration
	termination  time.Duration
	requestRate  float64
	requestBurst int
	showValues   bool

	flagSet
}

func (c *changeFlags) addFlags(f *pflag.FlagSet) {
	c.flags = f
	f.StringArrayVarP(&c.files, "filename", "f", nil, "plan the DaemonSets of this file, directory or -; repeatable")
	f.StringVarP(&c.kustomize, "kustomize", "k", "", "plan the DaemonSets of this kustomization directory")
	f.BoolVar(&c.remoteBases, "allow-remote-bases", false, "with -k: let kustomize fetch bases over HTTP and git")
	f.BoolVar(&c.serverDryRun, "server-dry-run", false,
		"apply the manifest, and create a pod, in a server-side dry run")
	f.BoolVar(&c.applying.ServerSide, "server-side", false,
		"plan a server-side apply (default: as the object was applied)")
	f.BoolVar(&c.applying.Force, "force-conflicts", false,
		"take over fields of other field managers in a server-side apply")
	f.StringVar(&c.applying.Manager, "field-manager", "",
		"field manager of the apply (default: the object's, or kubectl's)")

	f.StringArrayVar(&c.images, "image", nil,
		"set CONTAINER=IMAGE, *=IMAGE, or IMAGE for a single container; repeatable")
	f.StringVar(&c.maxUnavailable, "max-unavailable", "", "set maxUnavailable to a number or a percentage")
	f.StringVar(&c.maxSurge, "max-surge", "", "set maxSurge to a number or a percentage")
	f.Int32Var(&c.minReadySeconds, "min-ready-seconds", 0, "set minReadySeconds")
	f.StringVar(&c.strategy, "strategy", "", "set the update strategy: RollingUpdate or OnDelete")
	f.StringVar(&c.toRevision, "to-revision", "", "roll back to this revision; 0 is the previous one")
	f.BoolVar(&c.restart, "restart", false, "replace all pods, as kubectl rollout restart does")
	f.StringArrayVar(&c.tolerations, "toleration", nil,
		"tolerate KEY[=VALUE][:EFFECT], or * for all taints; repeatable")
	f.StringArrayVar(&c.nodeSelector, "node-selector", nil,
		"add KEY=VALUE to the nodeSelector, or remove KEY-; repeatable")

	for _, n := range []struct {
		name  string
		kind  whatif.NodeChangeKind
		usage string
	}{
		{"taint", whatif.NodeTaint, "add KEY[=VALUE]:EFFECT to NODES, or remove KEY[:EFFECT]-"},
		{"label", whatif.NodeLabel, "add KEY=VALUE to NODES, or remove KEY-"},
		{"cordon", whatif.NodeCordon, "make NODES unschedulable"},
		{"uncordon", whatif.NodeUncordon, "make NODES schedulable"},
		{"node-down", whatif.NodeDown, "treat NODES as unreachable"},
		{"remove-nodes", whatif.NodeRemove, "remove NODES from the cluster"},
	} {
		f.Var(nodeValue{n.name, n.kind, &c.nodes}, n.name, n.usage+"; repeatable")
	}
	f.IntVar(&c.add, "add-nodes", 0, "add N nodes modeled on --like")
	f.StringVar(&c.like, "like", "", "node that --add-nodes copies")

	f.StringVar(&c.groupBy, "group-by", "", "show the effect of one step by the values of this label")
	f.DurationVar(&c.start, "start", 0, "time until a new pod is Ready (default: measured from existing pods)")
	f.DurationVar(&c.termination, "termination", 0, "time until a deleted pod is gone (default: its grace period)")
	f.Float64Var(&c.requestRate, "request-rate", 0, "controller's requests per second (default 20)")
	f.IntVar(&c.requestBurst, "request-burst", 0, "controller's client burst (default 30)")
	f.BoolVar(&c.showValues, "show-values", false, "show literal values of environment variables, which may be secret")
}

// daemonSetFlagNames are the flags that change a DaemonSet, in the order of the help.
var daemonSetFlagNames = []string{
	"image", "max-unavailable", "max-surge", "min-ready-seconds", "strategy", "to-revision", "restart", "toleration",
	"node-selector",
}

// singleFlagNames are those of daemonSetFlagNames that depend on the template of one DaemonSet.
var singleFlagNames = []string{"image", "to-revision", "toleration", "node-selector"}

// applyFlagNames are the flags that control how a manifest is applied. The first one also controls
// how a pod is created.
var applyFlagNames = []string{"server-dry-run", "server-side", "force-conflicts", "field-manager"}

// nodeFlagNames are the flags that change the nodes of the cluster.
var nodeFlagNames = []string{"taint", "label", "cordon", "uncordon", "node-down", "remove-nodes", "add-nodes"}

// manifests reports whether the DaemonSets come from manifests.
func (c *changeFlags) manifests() bool { return len(c.files) > 0 || c.kustomize != "" }

// mostNodes is the largest number of nodes for which plans were tested.
const mostNodes = 100_000

// contradictions returns an error for flags that contradict each other.
func (c *changeFlags) contradictions() error {
	both := func(a, b, why string) refusal {
		return refusal{c.given(a) != "" && c.given(b) != "", fmt.Sprintf("--%s and --%s cannot be combined: %s", a, b,
			why), "leave out one of them"}
	}
	const asItIs, other = "a rollback takes the revision's template as it is",
		"the template comes from the manifest or from a revision"
	limit, add, apply := c.given("max-unavailable", "max-surge"), c.given("add-nodes") != "",
		c.given(applyFlagNames[1:]...)
	return firstRefusal(
		both("filename", "kustomize", "a kustomization names its own files"),
		both("filename", "to-revision", other), both("kustomize", "to-revision", other),
		both("image", "to-revision", asItIs), both("restart", "to-revision", asItIs),
		both("toleration", "to-revision", asItIs), both("node-selector", "to-revision", asItIs),
		refusal{c.strategy == "OnDelete" && limit != "", "--" + limit + " cannot be combined with --strategy " +
			"OnDelete: with it the controller replaces no pod by itself", "leave out --" + limit},
		refusal{apply != "" && !c.manifests(), "--" + apply + " needs a manifest", "add -f FILE"},
		refusal{c.remoteBases && c.kustomize == "", "--allow-remote-bases needs a kustomization", "add -k DIRECTORY"},
		refusal{add && c.like == "", "--add-nodes needs a node to copy",
			fmt.Sprintf("--add-nodes %d --like NODE", max(1, c.add))},
		refusal{c.given("like") != "" && !add, "--like needs --add-nodes", "--add-nodes 3 --like " +
			string(screen.Quote(c.like))},
		refusal{add && (c.add < 1 || c.add > mostNodes), fmt.Sprintf("--add-nodes %d: not between 1 and %d nodes",
			c.add, mostNodes), "--remove-nodes removes nodes"},
		refusal{slices.Contains(c.files, ""), "--filename names no file", "-f FILE"},
		refusal{c.given("kustomize") != "" && c.kustomize == "", "--kustomize names no directory", "-k DIRECTORY"},
	)
}

// asksFor returns the change that the flags describe, without manifests, or nil if there is none.
func (c *changeFlags) asksFor() (*whatif.Change, error) {
	if err := c.contradictions(); err != nil {
		return nil, err
	}
	out := &whatif.Change{Restart: c.restart, Strategy: c.strategy}
	var err error
	if c.given("to-revision") != "" {
		to, err := parseRollback("--to-revision", c.toRevision)
		if err != nil {
			return nil, err
		}
		out.ToRevision = &to
	}
	if c.given("min-ready-seconds") != "" {
		out.MinReadySeconds = &c.minReadySeconds
	}
	if out.MaxUnavailable, err = c.limit("max-unavailable", c.maxUnavailable); err != nil {
		return nil, err
	}
	if out.MaxSurge, err = c.limit("max-surge", c.maxSurge); err != nil {
		return nil, err
	}
	if c.given("strategy") != "" && c.strategy != "RollingUpdate" && c.strategy != "OnDelete" {
		return nil, hinted{fmt.Errorf("--strategy %q is neither RollingUpdate nor OnDelete", c.strategy),
			"--strategy RollingUpdate"}
	}
	if out.Images, err = parseImages(c.images); err != nil {
		return nil, err
	}
	for _, t := range c.tolerations {
		toleration, err := parseToleration(t)
		if err != nil {
			return nil, err
		}
		out.Tolerations = append(out.Tolerations, toleration)
	}
	if out.NodeSelector, out.DropSelector, err = parseNodeSelector(c.nodeSelector); err != nil {
		return nil, err
	}
	for _, n := range c.nodes {
		edits, err := n.edits()
		if err != nil {
			return nil, err
		}
		out.Nodes = append(out.Nodes, edits...)
	}
	if c.add > 0 {
		out.Nodes = append(out.Nodes, whatif.NodeEdit{Kind: whatif.NodeAdd, Which: c.like, Count: c.add,
			Said: fmt.Sprintf("--add-nodes %d --like %s", c.add, c.like)})
	}
	if c.given(daemonSetFlagNames...) == "" && c.given(nodeFlagNames...) == "" {
		return nil, nil
	}
	return out, nil
}

// limit parses a number or a percentage of nodes. It returns nil if the flag is not set.
func (c *changeFlags) limit(flag, text string) (*intstr.IntOrString, error) {
	if c.given(flag) == "" {
		return nil, nil
	}
	fault, v := "is too large", intstr.Parse(text)
	if !numberOrPercent.MatchString(text) {
		fault = "is neither a number nor a percentage"
	} else if v.Type == intstr.Int || strings.HasSuffix(text, "%") {
		return &v, nil
	}
	return nil, hinted{fmt.Errorf("--%s %q %s", flag, text, fault), "--" + flag + " 3, or --" + flag + " 10%"}
}

var numberOrPercent = regexp.MustCompile(`^\d+%?$`)

// options returns the plan options that the flags set, such as --start.
func (c *changeFlags) options() (plan.Options, error) {
	o := plan.Options{RequestRate: c.requestRate, RequestBurst: c.requestBurst, GroupBy: c.groupBy,
		ShowValues: c.showValues}
	const (
		longest = 365 * 24 * time.Hour // a plan adds this up for every step
		slowest = 0.01
		most    = 100_000
	)
	if c.given("start") != "" {
		o.Starts = []time.Duration{c.start}
	}
	if c.given("termination") != "" {
		o.Termination = &c.termination
	}
	span := func(flag string, d time.Duration) refusal {
		return refusal{d < 0 || d > longest, fmt.Sprintf("--%s %s: not between 0s and 8760h", flag, d), "--" +
			flag + " 40s"}
	}
	rate, burst, label := c.given("request-rate") != "", c.given("request-burst") != "",
		firstFault(validation.IsQualifiedName(c.groupBy))
	return o, firstRefusal(
		span("start", c.start), span("termination", c.termination),
		refusal{rate && !(c.requestRate >= slowest && c.requestRate <= most), // the comparison rejects NaN too
			fmt.Sprintf("--request-rate %v: not between %v and %d requests a second", c.requestRate, slowest, most),
			"--request-rate 20 (the controller's default)"},
		refusal{burst && (c.requestBurst < 1 || c.requestBurst > most),
			fmt.Sprintf("--request-burst %d: not between 1 and %d requests", c.requestBurst, most),
			"--request-burst 30 (the controller's default)"},
		refusal{c.given("group-by") != "" && label != nil, fmt.Sprintf("--group-by %q is not a label: %v", c.groupBy,
			label), "--group-by " + corev1.LabelTopologyZone},
	)
}
