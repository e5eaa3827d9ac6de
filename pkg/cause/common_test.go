package cause_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest/world"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/split"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// saying returns the fields of a pod whose container terminates with this message.
func saying(words string) string {
	return fmt.Sprintf(`{status: {conditions: [{type: Ready, status: "False", lastTransitionTime: -1h}], containerStatuses: [{name: agent, image: x, imageID: "", ready: false, restartCount: 9, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1, reason: Error, message: %q}}}]}}`, words)
}

func causesOf(t *testing.T, text string) (*daemonset.State, *cause.Causes) {
	t.Helper()
	st, err := daemonset.StateOf(world.Parse(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return st, cause.Find(st)
}

func TestCommon(t *testing.T) {
	const arm, amd = "{metadata: {labels: {kubernetes.io/arch: arm64, team: a}}}", "{metadata: {labels: {kubernetes.io/arch: amd64, team: b}}}"
	const a, b = "{metadata: {labels: {team: a}}}", "{metadata: {labels: {team: b}}}"
	p := split.Property{Kind: split.Architecture, Key: "kubernetes.io/arch", Operator: split.Is, Value: "arm64"}
	team := split.Property{Kind: split.Label, Key: "team", Operator: split.Is, Value: "a"}
	is := func(p split.Property, of, healthy int, c cause.Compared, told bool, also ...split.Property) *cause.Common {
		return &cause.Common{
			Split:    split.Split{Properties: []split.Property{p}, Failing: split.Share{With: of, Of: of}, Healthy: split.Share{Of: healthy}, Also: append([]split.Property{}, also...)},
			Compared: c, Told: told,
		}
	}
	for _, tt := range []struct {
		failing, healthy string // nodes on which pods fail, and all other nodes
		pods             string // on the healthy nodes
		words            string // message of the failing containers
		more             string // changes of the State
		want             *cause.Common
		why              string
	}{
		{failing: "x-[1-8]: " + a, healthy: "y-[01-40]: " + b, pods: "y-[01-40] 8", want: is(team, 8, 40, cause.ComparedNew, false), why: "the current revision works elsewhere"},
		{failing: "x-[1-8]: " + a, healthy: "y-[01-40]: " + b, pods: "y-[01-40] 7", want: is(team, 8, 40, cause.ComparedOld, false), why: "it works nowhere: the pods of others are compared"},
		{failing: "x-[1-8]: " + strings.Replace(a, "metadata: {", "metadata: {creationTimestamp: -10m, ", 1), healthy: "y-[01-40]: " + b, pods: "y-[01-40] 7", why: "but not where the nodes have a new pod because they are new"},
		{failing: "x-[1-8]: " + strings.Replace(a, "metadata: {", "metadata: {creationTimestamp: -10m, ", 1), healthy: "y-[01-40]: " + b, pods: "y-[01-40] 8", want: is(team, 8, 40, cause.ComparedNew, false, split.Property{Kind: split.Created, Key: "creationTimestamp", Operator: split.AtLeast, Value: "2026-11-20T11:50:00Z"}), why: "where the revision works elsewhere, that they are new counts"},
		{failing: "x-[1-8]: {metadata: {creationTimestamp: -200d}}", healthy: "y-[01-40]: ", pods: "y-[01-40] 7", why: "nor what age alone tells"},
		{failing: "x-[1-8]: " + a, healthy: "y-[01-40]: " + b, pods: "y-[01-40] 7", more: "daemonset: {spec: {updateStrategy: {type: OnDelete}}}", why: "nor where a person has deleted these pods first"},
		{failing: "x-[1-8]: " + arm, healthy: "y-[01-40]: " + amd, pods: "y-[01-40] 7", more: "daemonset: {spec: {updateStrategy: {type: OnDelete}}}", want: is(p, 8, 40, cause.ComparedOld, false, team), why: "the architecture counts all the same"},
		{failing: "x-[1-3]: " + arm, healthy: "y-[01-40]: " + amd, pods: "y-[01-40] 8", why: "three nodes are too few"},
		{failing: "x-[1-3]: " + arm, healthy: "y-[01-40]: " + amd, pods: "y-[01-40] 8", words: "exec /agent: exec format error", want: is(p, 3, 40, cause.ComparedNew, true), why: "but where the kernel says that it cannot run the program"},
		{failing: "x-1: " + arm, healthy: "y-1: " + amd, pods: "y-1 7", words: "no matching manifest for linux/arm64 in the manifest list entries", want: is(p, 1, 1, cause.ComparedOld, true), why: "or the container runtime that there is no such image, on a single node"},
		{failing: "x-[1-3]: " + arm, healthy: "y-[01-40]: " + arm, pods: "y-[01-40] 7", words: "exec format error", why: "a revision that runs nowhere, on nodes of the same architecture, is built for another one"},
		{failing: "x-[1-3]: {metadata: {labels: {kubernetes.io/os: windows}}}", healthy: "y-[1-4]: ", pods: "y-[1-4] 8", words: `image operating system "linux" cannot be used on this platform`,
			want: is(split.Property{Kind: split.OperatingSystem, Key: "kubernetes.io/os", Operator: split.Is, Value: "windows"}, 3, 4, cause.ComparedNew, true), why: "the operating system"},
		{failing: "x-[1-8]: " + a, healthy: `y-[01-40]: {metadata: {labels: {team: b}}, status: {conditions: [{type: Ready, status: Unknown, lastTransitionTime: -1h}]}}`, pods: "y-[01-40] 8", why: "nodes that are down are not healthy"},
		{failing: "x-[1-8]: " + a, healthy: `y-[01-40]: {metadata: {labels: {team: b}}, spec: {taints: [{key: a, effect: NoSchedule}]}}`, pods: "y-[01-40] 8", why: "nor are those that should not run the pod"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			node, _, _ := strings.Cut(tt.failing, ":")
			st, causes := causesOf(t, fmt.Sprintf("%s\nnodes:\n  %q:%s\n  %q:%s\npods:\n  %q: %s\n  %q: {}\n", tt.more, node, tt.failing[len(node)+1:], strings.Split(tt.healthy, ":")[0], tt.healthy[len(strings.Split(tt.healthy, ":")[0])+1:], node+" 8", saying(tt.words), tt.pods))
			var failing, messages []string
			for i := range st.Nodes {
				if c := causes.Of(st.Nodes[i].Name); c != nil && c.Code == cause.CrashLoopBackOff {
					failing, messages = append(failing, st.Nodes[i].Name), append(messages, c.Facts.Text("message"))
				}
			}
			if diff := cmp.Diff(tt.want, causes.Common(failing, messages...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestElsewhere(t *testing.T) {
	label := func(pair string) string { return "{metadata: {labels: {" + pair + "}}}" }
	for _, tt := range []struct{ failing, healthy, more, want, why string }{
		{label("kubernetes.io/arch: arm64"), label("kubernetes.io/arch: amd64"), "", "kubernetes.io/arch=amd64", "all others have one value"},
		{label("pool: a"), label("pool: b"), "", "pool=b", "a label of people's own"},
		{label("topology.kubernetes.io/zone: a"), label("topology.kubernetes.io/zone: b"), "", "", "nobody keeps a DaemonSet out of a zone"},
		{label("pool: a"), label(""), "", "", "the others have no such label"},
		{label("pool: a"), label("pool: b"), `"z-1": ` + label("pool: c"), "", "another eligible node has a third value"},
		{label("pool: a"), label("pool: b"), `"z-1": {metadata: {labels: {pool: c}}, spec: {taints: [{key: a, effect: NoSchedule}]}}`, "pool=b", "one that is not eligible does not count"},
		{label("pool: a"), label("pool: b"), `"w-1": ` + label("pool: a"), "", "an old pod works on such a node"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			pods := ""
			if strings.Contains(tt.more, "w-1") {
				pods = `  "w-1 7": {}`
			}
			_, causes := causesOf(t, fmt.Sprintf("nodes:\n  \"x-[1-8]\": %s\n  \"y-[01-40]\": %s\n  %s\npods:\n  \"x-[1-8] 8\": %s\n  \"y-[01-40] 8\": {}\n%s\n", tt.failing, tt.healthy, tt.more, saying("no"), pods))
			c := causes.Common([]string{"x-1", "x-2", "x-3", "x-4", "x-5", "x-6", "x-7", "x-8"})
			if c == nil {
				t.Fatal("they have nothing in common")
			}
			got := ""
			if label := causes.Elsewhere(c); label != nil {
				got = label.Key + "=" + label.Value
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// TestCommonRates checks that a property is named in at most one of a hundred states if pods fail on arbitrary nodes,
// and in at least 95 if the zone or the pool makes them fail.
func TestCommonRates(t *testing.T) {
	for _, tt := range []struct {
		causal      bool
		most, least int // of 100
		why         string
	}{
		{false, 1, 0, "failures ignore properties"},
		{true, 100, 95, "a property causes them"},
	} {
		named, states := 0, cases.Of(100)
		for seed := range states {
			r := rand.New(rand.NewPCG(uint64(seed), 7))
			var nodes, pods strings.Builder
			fails := []string{}
			for i := range 25 + r.IntN(40) {
				name, zone, pool := fmt.Sprintf("n-%d", i), r.IntN(3), r.IntN(4)
				fmt.Fprintf(&nodes, "  %s: {metadata: {creationTimestamp: -%dh, labels: {topology.kubernetes.io/zone: z%d, karpenter.sh/nodepool: p%d, a: x%d, b: y%d}}}\n", name, 100+r.IntN(5000), zone, pool, r.IntN(2), r.IntN(6))
				if tt.causal && (seed%2 == 0 && zone == 1 || seed%2 == 1 && pool == 2) || !tt.causal && r.IntN(4) == 0 {
					fails = append(fails, name)
					fmt.Fprintf(&pods, "  %q: %s\n", name+" 8", saying("no"))
				} else {
					fmt.Fprintf(&pods, "  %q: {}\n", name+" 8")
				}
			}
			if len(fails) < 5 {
				named += b2i(tt.causal)
				continue
			}
			_, causes := causesOf(t, "nodes:\n"+nodes.String()+"pods:\n"+pods.String())
			named += b2i(causes.Common(fails) != nil)
		}
		t.Logf("%s: named in %d of %d states", tt.why, named, states)
		if 100*named > tt.most*max(states, 100) || 100*named < tt.least*states {
			t.Errorf("%s: named in %d of %d states", tt.why, named, states)
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestNotBuilt checks who is to blame for an image that is not built for the nodes, and which platform a problem names.
// There are two nodes of each architecture.
func TestNotBuilt(t *testing.T) {
	const nodes = `"arm-[1-2]": {metadata: {labels: {kubernetes.io/arch: arm64, kubernetes.io/os: linux}}}, "amd-[1-2]": {metadata: {labels: {kubernetes.io/arch: amd64, kubernetes.io/os: linux}}}`
	const noBuild = "no supported platform found in manifest list"
	pulls := func(words string) string {
		return fmt.Sprintf(`{status: {conditions: [{type: Ready, status: "False", lastTransitionTime: -1h}], containerStatuses: [{name: agent, image: x, imageID: "", ready: false, restartCount: 0, state: {waiting: {reason: ImagePullBackOff, message: %q}}}]}}`, words)
	}
	for _, tt := range []struct{ pods, more, want, why string }{
		{`"arm-[1-2] 8": ` + pulls(noBuild), "revisions: {8: -2h}", "Template Certain linux/arm64", "the only revision names an image without a build"},
		{`"arm-[1-2] 8": ` + pulls(noBuild) + `, "amd-[1-2] 7": {}`, "", "NodeProperty Certain", "the old revision works on the others: the nodes have their architecture in common"},
		{`"arm-[1-2] 8": ` + pulls(noBuild) + `, "amd-[1-2] 8": ` + pulls(noBuild), "revisions: {8: -2h}", "Template Certain", "the nodes have several: no platform is named"},
		{`"arm-[1-2] 8": ` + pulls("unauthorized"), "revisions: {8: -2h}", "Unknown Unknown", "another reason"},
		{`"arm-[1-2] 8": ` + saying("exec format error"), "revisions: {8: -2h}", "Template Likely linux/arm64", "a script without #! has the same error"},
		{`"arm-1 8": ` + saying("") + `, "amd-[1-2] 8": {}, "arm-2 7": {}`, "", "Unknown Unknown arm64 [amd64]", "a crash on the one architecture, and the new revision works on the other: said, and not decided"},
		{`"arm-1 8": ` + saying("") + `, "amd-1 8": {}, "arm-2 8": {}`, "", "Unknown Unknown", "it works on both"},
		{`"arm-1 8": ` + saying("") + `, "amd-[1-2] 7": {}, "arm-2 7": {}`, "", "ThisChange Likely", "it works nowhere yet"},
		{`"arm-1 7": ` + saying("") + `, "amd-[1-2] 8": {}`, "", "Template Likely", "the pod that crashes is of the old revision"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			revisions := tt.more
			if revisions == "" {
				revisions = "revisions: {7: -9d, 8: -2h}"
			}
			st, cs := causesOf(t, fmt.Sprintf("%s\nnodes: {%s}\npods: {%s}\n", revisions, nodes, tt.pods))
			var found []cause.On
			for i := range st.Nodes {
				if c := cs.Of(st.Nodes[i].Name); c != nil && cause.OfContainer(c.Code) {
					found = append(found, cause.On{Node: st.Nodes[i].Name, Cause: c})
				}
			}
			problems := cause.Problems(found, nil)
			cs.Judge(problems)
			if len(problems) != 1 {
				t.Fatalf("%d problems", len(problems))
			}
			p := &problems[0]
			got := fmt.Sprint(p.Blame.Who, " ", p.Blame.Certainty)
			for _, key := range []string{"platform", "platforms"} {
				if p.Facts[key] != nil {
					got += fmt.Sprint(" ", p.Facts[key])
				}
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
