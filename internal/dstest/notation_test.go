package dstest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// sketch returns a short description of the nodes and pods of a state.
func sketch(s *snapshot.Snapshot) []string {
	var lines []string
	for _, n := range s.Nodes {
		line := n.Name
		for _, t := range n.Spec.Taints {
			line += " " + t.Key + ":" + string(t.Effect)
		}
		lines = append(lines, line)
	}
	for _, p := range s.Pods {
		line := fmt.Sprintf("%s on %q for %s %s %s/%s %s", p.Name, p.Spec.NodeName,
			p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values[0],
			p.Status.Phase, p.Labels[hashLabel], p.Labels[generationLabel], ageOf(s, p.CreationTimestamp))
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodReady {
				line += fmt.Sprintf(" ready %s %s", c.Status, ageOf(s, c.LastTransitionTime))
			}
		}
		if len(p.OwnerReferences) != 1 || p.OwnerReferences[0].UID != uid || p.Labels["app"] != Name {
			line += fmt.Sprintf(" app %s owners %d", p.Labels["app"], len(p.OwnerReferences))
		}
		lines = append(lines, line+describeDeletion(&p))
	}
	return lines
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		grid    string
		options []Option
		want    []string
		why     string
	}{
		{"", nil, nil, "a grid without fields has no nodes"},
		{"- -", nil, []string{"n0", "n1"}, "a dash is a node without a pod"},
		{"O o N n", nil, []string{
			"n0", "n1", "n2", "n3",
			`p0 on "n0" for n0 Running old/1 100h0m0s ago ready True 99h0m0s ago`,
			`p1 on "n1" for n1 Running old/1 100h0m0s ago ready False 1h0m0s ago`,
			`p2 on "n2" for n2 Running new/2 100h0m0s ago ready True 99h0m0s ago`,
			`p3 on "n3" for n3 Running new/2 100h0m0s ago ready False 1h0m0s ago`,
		}, "letters are old and new, capitals ready"},
		{"V W", []Option{MinReadySeconds(30)}, []string{
			"n0", "n1",
			`p0 on "n0" for n0 Running old/1 100h0m0s ago ready True 1s ago`,
			`p1 on "n1" for n1 Running new/2 100h0m0s ago ready True 1s ago`,
		}, "V and W became ready a second ago"},
		{"G h", nil, []string{
			"n0", "n1",
			`p0 on "n0" for n0 Running old/2 100h0m0s ago ready True 99h0m0s ago`,
			`p1 on "n1" for n1 Running new/1 100h0m0s ago ready False 1h0m0s ago`,
		}, "G and h are new by one label only"},
		{"O/n/of", nil, []string{
			"n0",
			`p0 on "n0" for n0 Running old/1 100h0m0s ago ready True 99h0m0s ago`,
			`p0b on "n0" for n0 Running new/2 99h0m0s ago ready False 1h0m0s ago`,
			`p0c on "n0" for n0 Failed old/1 98h0m0s ago ready False 1h0m0s ago`,
		}, "a slash puts pods on one node, the oldest first"},
		{"np Ot nst", nil, []string{
			"n0", "n1", "n2",
			`p0 on "" for n0 Pending new/2 100h0m0s ago ready False 1h0m0s ago`,
			`p1 on "n1" for n1 Running old/1 100h0m0s ago ready True 99h0m0s ago terminating [example.com/hold]`,
			`p2 on "n2" for n2 Succeeded new/2 100h0m0s ago ready False 1h0m0s ago terminating [example.com/hold]`,
		}, "p is not bound, t terminates, flags add up"},
		{"Oa Or Ox", nil, []string{
			"n0", "n1", "n2",
			`p0 on "n0" for n0 Running old/1 100h0m0s ago ready True 99h0m0s ago app agent owners 0`,
			`p1 on "n1" for n1 Running old/1 100h0m0s ago ready True 99h0m0s ago app other owners 1`,
			`p2 on "n2" for n2 Running old/1 100h0m0s ago ready True 99h0m0s ago app agent owners 1`,
		}, "a, r and x change whose a pod is"},
		{"!- #- ^- ~O -", nil, []string{
			"n0 dedicated:NoSchedule", "n1 dedicated:NoExecute", "n2 node.kubernetes.io/unschedulable:NoSchedule", "n4",
			`p3 on "n3" for n3 Running old/1 100h0m0s ago ready True 99h0m0s ago`,
		}, "marks taint a node, or leave it out, and it keeps its number"},
		{"-*2 !-*2", nil, []string{"n0", "n1", "n2 dedicated:NoSchedule", "n3 dedicated:NoSchedule"}, "a star repeats the whole node"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s, err := Parse(tt.grid, tt.options...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, sketch(s)); diff != "" {
				t.Errorf("Parse(%q) (-want +got):\n%s", tt.grid, diff)
			}
			if err := snapshot.Validate(s); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	none := func(*corev1.Node) {}
	for _, tt := range []struct {
		grid    string
		options []Option
		want    string
		why     string
	}{
		{"Q", nil, `not with "Q"`, "an unknown letter"},
		{"tO", nil, `not with "t"`, "a flag before its letter"},
		{"Oq", nil, `not 'q'`, "an unknown flag"},
		{"O/", nil, "a pod without a letter", "nothing after a slash"},
		{"!", nil, "a pod without a letter", "a mark without pods"},
		{"ott", nil, `flag 't' twice`, "the same flag twice"},
		{"!!O", nil, `mark '!' twice`, "the same mark twice"},
		{"Of", nil, "write its letter small", "a Failed pod that is available"},
		{"Np", nil, "write its letter small", "a pod without a node that is available"},
		{"ofs", nil, "cannot be Failed and Succeeded", "a pod of two phases"},
		{"Oax", nil, "of a, r and x only one", "a pod of two owners"},
		{"Oxr", nil, "of a, r and x only one", "another's pod that is to be released"},
		{"W", nil, "needs MinReadySeconds", "a pod that waits for nothing"},
		{"~-", nil, "is nothing", "a node that is gone without a pod"},
		{"~!O", nil, "has no taint", "a node that is gone with a taint"},
		{"O*", nil, `repeated "" times`, "a repetition without a number"},
		{"O*0", nil, `repeated "0" times`, "a repetition that leaves nothing"},
		{"O", []Option{Node("n7", none)}, "there is no node n7", "an option for a node that is not there"},
		{"O", []Option{Pod("n0", func(*corev1.Pod) {})}, "there is no pod n0", "an option for a pod that is not there"},
		{"O", []Option{Revision("agent", func(*appsv1.ControllerRevision) {})}, "there is no revision agent", "an option for a revision that is not there"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			_, err := Parse(tt.grid, tt.options...)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Parse(%q): %v, want an error with %q", tt.grid, err, tt.want)
			}
		})
	}
}

func TestStatePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("State of a bad grid did not panic")
		}
	}()
	State("?")
}

// TestRandom checks the generator: the same seed gives the same state, another seed gives another
// one, and every state is a valid Snapshot that can be encoded and decoded.
func TestRandom(t *testing.T) {
	seen := map[string]int64{}
	for seed := int64(1); seed <= cases.Of(int64(25)); seed++ {
		for name, draw := range map[string]func(int64) *snapshot.Snapshot{"Random": Random, "RandomPlacement": RandomPlacement} {
			first, err := snapshot.Encode(draw(seed))
			if err != nil {
				t.Fatal(err)
			}
			again, err := snapshot.Encode(draw(seed))
			if err != nil {
				t.Fatal(err)
			}
			if string(first) != string(again) {
				t.Fatalf("%s(%d) twice is not the same", name, seed)
			}
			if other, there := seen[string(first)]; there {
				t.Fatalf("%s: seeds %d and %d are the same", name, other, seed)
			}
			seen[string(first)] = seed
			back, err := snapshot.Decode(first)
			if err != nil {
				t.Fatalf("%s(%d): %v", name, seed, err)
			}
			if diff := cmp.Diff(draw(seed), back); diff != "" {
				t.Fatalf("%s(%d), written and read (-want +got):\n%s", name, seed, diff)
			}
		}
	}
}
