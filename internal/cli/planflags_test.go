package cli

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/plan"
	"github.com/kubectl-ds/kubectl-ds/pkg/whatif"
)

// parseFlags returns the flags of a command line.
func parseFlags(t *testing.T, line ...string) *changeFlags {
	t.Helper()
	c := &changeFlags{}
	f := pflag.NewFlagSet("plan-rollout", pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	c.addFlags(f)
	if err := f.Parse(line); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestChange(t *testing.T) {
	three, tenPercent := intstr.FromInt32(3), intstr.FromString("10%")
	zero, seconds := int64(0), int32(0)
	taint := func(key, value string, effect corev1.TaintEffect) *corev1.Taint {
		return &corev1.Taint{Key: key, Value: value, Effect: effect}
	}
	for _, tt := range []struct {
		why  string
		line []string
		want *whatif.Change
	}{
		{"nothing is asked", nil, nil},
		{"what is known better changes nothing", []string{"--start", "40s", "--group-by", "zone"}, nil},
		{"limits", []string{"--max-unavailable", "3", "--max-surge", "10%"}, &whatif.Change{MaxUnavailable: &three, MaxSurge: &tenPercent}},
		{"the zero of a flag that was given is asked for", []string{"--to-revision", "0", "--min-ready-seconds", "0"}, &whatif.Change{ToRevision: &zero, MinReadySeconds: &seconds}},
		{"images: of one, of the only one", []string{"--image", "a=example/a:2", "--image", "registry:5000/b@sha256:0000000000000000000000000000000000000000000000000000000000000000"},
			&whatif.Change{Images: []whatif.Image{{Container: "a", Image: "example/a:2"}, {Image: "registry:5000/b@sha256:0000000000000000000000000000000000000000000000000000000000000000"}}}},
		{"tolerations as kubectl taint writes taints", []string{"--toleration", "a=b:NoSchedule", "--toleration", "a:NoExecute", "--toleration", "a", "--toleration", "a=", "--toleration", "*", "--toleration", "*:NoExecute"},
			&whatif.Change{Tolerations: []corev1.Toleration{
				{Key: "a", Operator: corev1.TolerationOpEqual, Value: "b", Effect: corev1.TaintEffectNoSchedule},
				{Key: "a", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
				{Key: "a", Operator: corev1.TolerationOpExists},
				{Key: "a", Operator: corev1.TolerationOpEqual},
				{Operator: corev1.TolerationOpExists},
				{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
			}}},
		{"a node selector that gets and loses a key", []string{"--node-selector", "pool=gpu", "--node-selector", "old-"},
			&whatif.Change{NodeSelector: map[string]string{"pool": "gpu"}, DropSelector: []string{"old"}}},
		{"nodes in the order given, whatever the flag", []string{"--cordon", "a", "--taint", "w-*:k=v:NoExecute", "--uncordon", "a"},
			&whatif.Change{Nodes: []whatif.NodeEdit{
				{Kind: whatif.NodeCordon, Which: "a", Said: "--cordon a"},
				{Kind: whatif.NodeTaint, Which: "w-*", Taint: taint("k", "v", corev1.TaintEffectNoExecute), Said: "--taint w-*:k=v:NoExecute"},
				{Kind: whatif.NodeUncordon, Which: "a", Said: "--uncordon a"},
			}}},
		{"names with commas are several, labels with commas are one selector", []string{"--remove-nodes", "a,b", "--node-down", "pool=x,disk!=ssd"},
			&whatif.Change{Nodes: []whatif.NodeEdit{
				{Kind: whatif.NodeRemove, Which: "a", Said: "--remove-nodes a,b"},
				{Kind: whatif.NodeRemove, Which: "b", Said: "--remove-nodes a,b"},
				{Kind: whatif.NodeDown, Which: "pool=x,disk!=ssd", Said: "--node-down pool=x,disk!=ssd"},
			}}},
		{"taints without a value, and taken away with and without an effect", []string{"--taint", "a:k:NoSchedule", "--taint", "a:k-", "--taint", "a:k:NoExecute-"},
			&whatif.Change{Nodes: []whatif.NodeEdit{
				{Kind: whatif.NodeTaint, Which: "a", Taint: taint("k", "", corev1.TaintEffectNoSchedule), Said: "--taint a:k:NoSchedule"},
				{Kind: whatif.NodeUntaint, Which: "a", Taint: taint("k", "", ""), Said: "--taint a:k-"},
				{Kind: whatif.NodeUntaint, Which: "a", Taint: taint("k", "", corev1.TaintEffectNoExecute), Said: "--taint a:k:NoExecute-"},
			}}},
		{"labels set and taken away, of nodes chosen by label", []string{"--label", "pool=x:a=", "--label", "pool=x:example.com/a-"},
			&whatif.Change{Nodes: []whatif.NodeEdit{
				{Kind: whatif.NodeLabel, Which: "pool=x", Key: "a", Said: "--label pool=x:a="},
				{Kind: whatif.NodeUnlabel, Which: "pool=x", Key: "example.com/a", Said: "--label pool=x:example.com/a-"},
			}}},
		{"new nodes", []string{"--add-nodes", "3", "--like", "a"}, &whatif.Change{Nodes: []whatif.NodeEdit{{Kind: whatif.NodeAdd, Which: "a", Count: 3, Said: "--add-nodes 3 --like a"}}}},
	} {
		t.Run(tt.why, func(t *testing.T) {
			got, err := parseFlags(t, tt.line...).asksFor()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%q (-want +got):\n%s", tt.line, diff)
			}
		})
	}
}

// TestRefusedFlags checks that each invalid combination of flags has an error and a hint.
func TestRefusedFlags(t *testing.T) {
	for _, tt := range []struct {
		line string
		want string
	}{
		{"--max-unavailable many", `--max-unavailable "many" is neither a number nor a percentage`},
		{"--max-surge -1", `--max-surge "-1" is neither a number nor a percentage`},
		{"--strategy Recreate", `--strategy "Recreate" is neither RollingUpdate nor OnDelete`},
		{"--strategy OnDelete --max-surge 1", "--max-surge cannot be combined with --strategy OnDelete"},
		{"--image a=", `--image "a=" is neither CONTAINER=IMAGE nor IMAGE`},
		{"--image =x", `--image "=x" is neither CONTAINER=IMAGE nor IMAGE`},
		{"--image https://x:2", `--image "https://x:2": the kubelet rejects this name (InvalidImageName): the name of an image has no scheme such as https://`},
		{"--image ex/Agent:2", `--image "ex/Agent:2": the kubelet rejects this name (InvalidImageName): the name of a repository has no upper case`},
		{"--image agent=ex/agent:", `--image "agent=ex/agent:": the kubelet rejects this name (InvalidImageName): the tag after the colon is missing`},
		{"--image *=docker://ex/agent:2", `--image "*=docker://ex/agent:2": the kubelet rejects this name (InvalidImageName): the name of an image has no scheme such as https://`},
		{"--image ex/a\x1b[31m:2", `--image "ex/a\x1b[31m:2": the kubelet rejects this name (InvalidImageName): it has a character that no name of an image has`},
		{"--image ex/agent:$TAG", `--image "ex/agent:$TAG": the kubelet rejects this name (InvalidImageName): it has a character that no name of an image has`},
		{"--image x@sha256:12", `--image "x@sha256:12": the kubelet rejects this name (InvalidImageName): the digest after @ is not sha256: and 64 hexadecimal digits`},
		{"--image ex//agent", `--image "ex//agent": the kubelet rejects this name (InvalidImageName): it is not of the form REGISTRY/NAME:TAG`},
		{"--image a=x --image a=y", `--image "a=y": the container already has an image from another --image`},
		{"--image a=x --image *=y", `--image "*=y": the container already has an image from another --image`},
		{"--toleration a:Never", `--toleration "a:Never": "Never" is none of NoSchedule, PreferNoSchedule, NoExecute`},
		{"--toleration *=x", `--toleration "*=x": * takes no value`},
		{"--toleration -a", `--toleration "-a": the key: `},
		{"--toleration a=-", `--toleration "a=-": the value: `},
		{"--node-selector pool", `--node-selector "pool" is neither KEY=VALUE nor KEY-`},
		{"--node-selector a=b --node-selector a-", `--node-selector "a" is both added and removed`},
		{"--node-selector a=b --node-selector a=c", `--node-selector "a=c": contradicts a=b`},
		{"--node-selector a=b --node-selector x=y --node-selector a=", `--node-selector "a=": contradicts a=b`},
		{"--node-selector a=b,a=c", `--node-selector "a=b,a=c" has more than one key`},
		{"--taint a", `--taint "a" is not NODES:KEY=VALUE:EFFECT or NODES:KEY-`},
		{"--taint :k:NoExecute", `--taint ":k:NoExecute" is not NODES:KEY=VALUE:EFFECT or NODES:KEY-`},
		{"--taint a:k", `--taint "a:k": a taint needs an effect`},
		{"--taint a:k=v:Never", `--taint "a:k=v:Never": "Never" is none of`},
		{"--taint a:k=v-", `--taint "a:k=v-": to remove a taint, give its key`},
		{"--taint a:k=v:NoExecute:x", `--taint "a:k=v:NoExecute:x": "NoExecute:x" is none of`},
		{"--label a:k", `--label "a:k": a label needs a value, or a - at its end`},
		{"--label a:k=v=w", `--label "a:k=v=w": `},
		{"--cordon a,,b", `--cordon "a,,b" has an empty name`},
		{"--add-nodes 3", "--add-nodes needs a node to copy"},
		{"--like a", "--like needs --add-nodes"},
		{"--add-nodes 0 --like a", "--add-nodes 0: not between 1 and 100000 nodes"},
		{"--to-revision live", `--to-revision "live" is not a revision to go back to`},
		{"--to-revision 1 --image a=x", "--image and --to-revision cannot be combined"},
		{"--to-revision 1 -f x", "--filename and --to-revision cannot be combined"},
		{"-f x -k y", "--filename and --kustomize cannot be combined"},
		{"--start -1s", "--start -1s: not between 0s and 8760h"},
		{"--request-rate 0", "--request-rate 0: not between 0.01 and 100000 requests a second"},
		{"--request-burst -1", "--request-burst -1: not between 1 and 100000 requests"},
		{"--group-by a/b/c", `--group-by "a/b/c" is not a label`},
	} {
		t.Run(tt.line, func(t *testing.T) {
			c := parseFlags(t, strings.Fields(tt.line)...)
			_, err := c.asksFor()
			if err == nil {
				_, err = c.options()
			}
			var h hinted
			switch {
			case err == nil:
				t.Fatalf("accepted, want %q", tt.want)
			case !strings.HasPrefix(err.Error(), tt.want):
				t.Errorf("error %q, want %q", err, tt.want)
			case !errors.As(err, &h) || h.hint == "":
				t.Errorf("%q has no hint", err)
			}
		})
	}
}

// TestImageHints checks that the hint corrects the image if possible.
func TestImageHints(t *testing.T) {
	for _, tt := range []struct{ image, want, why string }{
		{"https://x:2", "--image x:2", "without the scheme"},
		{"ex/Agent:2", "--image ex/agent:2", "in lower case"},
		{"https://ex/Agent:", "--image ex/agent", "both, and the colon"},
		{"agent=ex/agent:", "--image agent=ex/agent", "of one container"},
		{"*=docker://ex/agent:2", "--image '*=ex/agent:2'", "of all, as a shell takes it"},
		{"ex/agent:${TAG}", "--image agent=example/agent:2", "nobody knows the tag"},
		{"ex//agent", "--image agent=example/agent:2", "nor what is missing"},
	} {
		_, err := parseImages([]string{tt.image})
		var h hinted
		if !errors.As(err, &h) || h.hint != tt.want {
			t.Errorf("%s: %s: hint %q, want %q", tt.why, tt.image, h.hint, tt.want)
		}
	}
}

func TestOptions(t *testing.T) {
	forty, none := 40*time.Second, time.Duration(0)
	for _, tt := range []struct {
		why  string
		line []string
		want plan.Options
	}{
		{"the pods tell", nil, plan.Options{}},
		{"a flag that is given counts, even with zero", []string{"--start", "40s", "--termination", "0s"}, plan.Options{Starts: []time.Duration{forty}, Termination: &none}},
		{"the controller's rate", []string{"--request-rate", "50", "--request-burst", "100", "--group-by", "topology.kubernetes.io/zone"},
			plan.Options{RequestRate: 50, RequestBurst: 100, GroupBy: "topology.kubernetes.io/zone"}},
	} {
		t.Run(tt.why, func(t *testing.T) {
			got, err := parseFlags(t, tt.line...).options()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseGates(t *testing.T) {
	got, err := parseGates([]string{"stalls", "removesAllPods", " lostNodes>0", "replaces > 10", "immediateDeletes>3"})
	if err != nil {
		t.Fatal(err)
	}
	want := []plan.Gate{{On: plan.GateStalls}, {On: plan.GateRemovesAllPods}, {On: plan.GateLostNodes}, {On: plan.GateReplaces, Most: 10}, {On: plan.GateImmediateDeletes, Most: 3}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, bad := range []string{"", "stall", "lostNodes", "lostNodes>", "lostNodes>-1", "lostNodes>+1", "lostNodes>=1", "lostNodes>1.5", "stalls>1", "removesAllPods>0", "RemovesAllPods", "lostnodes>1", "replaces>99999999999"} {
		if _, err := parseGates([]string{bad}); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestStatusOf(t *testing.T) {
	holder := []plan.Holder{{Node: "a"}}
	for _, tt := range []struct {
		why  string
		p    plan.Plan
		want exitStatus
	}{
		{"nothing to do", plan.Plan{Subject: plan.SubjectNothing, Forecast: plan.Forecast{Outcome: plan.Outcome{Code: plan.NothingToDo}}}, 0},
		{"a rollout under way", plan.Plan{Subject: plan.SubjectRollout, Forecast: plan.Forecast{Outcome: plan.Outcome{Code: plan.Completes}}}, statusProgressing},
		{"a change that would complete", plan.Plan{Subject: plan.SubjectChange, Forecast: plan.Forecast{Outcome: plan.Outcome{Code: plan.Completes}}}, 0},
		{"a new DaemonSet", plan.Plan{Subject: plan.SubjectNew, Forecast: plan.Forecast{Outcome: plan.Outcome{Code: plan.Completes}}}, 0},
		{"OnDelete waits for a person", plan.Plan{Subject: plan.SubjectNothing, Forecast: plan.Forecast{Outcome: plan.Outcome{Code: plan.NotRolling}}}, 0},
		{"OnDelete that still fills nodes", plan.Plan{Subject: plan.SubjectRollout, Next: daemonset.Step{Kind: daemonset.StepManage}, Forecast: plan.Forecast{Outcome: plan.Outcome{Code: plan.NotRolling}}}, statusProgressing},
		{"a stall", plan.Plan{Subject: plan.SubjectChange, Forecast: plan.Forecast{Outcome: plan.Outcome{Code: plan.Stalls, Holders: holder}}}, statusStuck},
		{"completes, but a node stays without an available pod", plan.Plan{Subject: plan.SubjectRollout, Forecast: plan.Forecast{Outcome: plan.Outcome{Code: plan.Completes, Holders: holder}}}, statusDegraded},
		{"so does one of any", plan.Plan{Subject: plan.SubjectChange, Forecast: plan.Forecast{Outcome: plan.Outcome{Code: plan.Completes, FurtherHolders: 1}}}, statusDegraded},
		{"a change that removes all pods", plan.Plan{Subject: plan.SubjectChange, Forecast: plan.Forecast{Outcome: plan.Outcome{Code: plan.RemovesAllPods}}}, statusDegraded},
		{"one that is under way does so too", plan.Plan{Subject: plan.SubjectRollout, Next: daemonset.Step{Kind: daemonset.StepManage}, Forecast: plan.Forecast{Outcome: plan.Outcome{Code: plan.RemovesAllPods}}}, statusDegraded},
		{"not known", plan.Plan{Forecast: plan.Forecast{Outcome: plan.Outcome{Code: plan.Unknown}}}, statusPartial},
	} {
		t.Run(tt.why, func(t *testing.T) {
			if tt.p.Next.Kind == "" {
				tt.p.Next.Kind = daemonset.StepNone
			}
			if got := statusOf(&tt.p); got != tt.want {
				t.Errorf("statusOf = %d, want %d", got, tt.want)
			}
		})
	}
}

// TestEveryFlagCounts checks that each flag of a change is in one of the lists of flag names. A
// command would ignore a flag that is in none of them.
func TestEveryFlagCounts(t *testing.T) {
	f := pflag.NewFlagSet("plan-rollout", pflag.ContinueOnError)
	(&changeFlags{}).addFlags(f)
	changesNothing := []string{"filename", "kustomize", "allow-remote-bases", "like", "group-by", "start", "termination", "request-rate", "request-burst", "show-values"}
	f.VisitAll(func(flag *pflag.Flag) {
		if !slices.Contains(slices.Concat(daemonSetFlagNames, nodeFlagNames, applyFlagNames, changesNothing), flag.Name) {
			t.Errorf("--%s is in none of daemonSetFlagNames, nodeFlagNames, applyFlagNames and changesNothing", flag.Name)
		}
	})
}
