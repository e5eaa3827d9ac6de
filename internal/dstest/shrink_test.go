package dstest

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// clutter returns a state with something of everything.
func clutter() *snapshot.Snapshot {
	return State("!^O/nt #o Ntr gf*3 O/N/O ~op ^- -*80", MinReadySeconds(3600), MaxSurge("30%"),
		AddRevision("older", 0, "example/agent:0"), AddRevision("twin", 3, ""), AddPod("stray"),
		Patch("daemonset", `{"metadata":{"annotations":{"a":"b"}},"spec":{"revisionHistoryLimit":2,"template":{"spec":{"hostNetwork":true,"nodeSelector":{"disk":"ssd"},
			"tolerations":[{"operator":"Exists","effect":"NoExecute"},{"key":"a"},{"key":"b"}]}}}}`),
		Patch("nodes/n0", `{"metadata":{"labels":{"disk":"ssd","zone":"z1"}}}`),
		Patch("pods/p1", `{"metadata":{"labels":{"controller-revision-hash":null,"x":"y"},"annotations":{"a":"b"}}}`),
		Patch("pods/p6", `{"metadata":{"creationTimestamp":"2026-02-27T10:00:00Z"}}`), Patch("pods/p6b", `{"metadata":{"creationTimestamp":"2026-02-27T10:00:00Z"}}`),
		Patch("pods/p6c", `{"status":{"conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-03-01T11:30:00Z"}]}}`),
		Patch("revisions/agent-new", `{"revision":7,"metadata":{"labels":{"controller-revision-hash":""}}}`),
		Patch("snapshot", `{"gaps":[{"what":"version","why":"Failed"},{"what":"clock","why":"Failed"}]}`),
		Edit(func(s *snapshot.Snapshot) {
			s.TakenAt = s.TakenAt.Add(300 * time.Millisecond)
			s.PodDisruptionBudgets = make([]policyv1.PodDisruptionBudget, 1)
			slices.Reverse(s.Pods)
		}),
		Rename("n0", "n7", "n7", "gone", "p0", "agent-xyz", "n10", "m10"))
}

func somePod(holds func(*corev1.Pod) bool) func(*snapshot.Snapshot) bool {
	return func(s *snapshot.Snapshot) bool {
		return slices.ContainsFunc(s.Pods, func(p corev1.Pod) bool { return holds(&p) })
	}
}

func someNode(holds func(*corev1.Node) bool) func(*snapshot.Snapshot) bool {
	return func(s *snapshot.Snapshot) bool {
		return slices.ContainsFunc(s.Nodes, func(n corev1.Node) bool { return holds(&n) })
	}
}

func TestShrink(t *testing.T) {
	for _, tt := range []struct {
		differs func(*snapshot.Snapshot) bool
		want    string
		why     string
	}{
		{func(*snapshot.Snapshot) bool { return true }, `{"", nil, ""},`, "what always differs needs nothing"},
		{func(s *snapshot.Snapshot) bool { return len(s.Nodes) > 3 }, `{"-*4", nil, ""},`, "nodes go as long as there are enough"},
		{func(s *snapshot.Snapshot) bool { return len(s.Nodes) > 60 }, `{"-*61", nil, ""},`, "and stay where many are needed"},
		{somePod(func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodFailed }), `{"nf", nil, ""},`, "a flag stays that matters"},
		{somePod(func(p *corev1.Pod) bool { return p.Labels[hashLabel] == OldHash && nodeOf(p) != "" }), `{"O", nil, ""},`, "a letter stays that matters"},
		{somePod(func(p *corev1.Pod) bool { return p.Labels[hashLabel] == OldHash && p.Name > "p5" }), `{"", options{dstest.AddPod("straya")}, ""},`, "a pod of no node is none of the grid's"},
		{func(s *snapshot.Snapshot) bool {
			return len(s.Nodes) > 0 && len(keep(s.Pods, func(p *corev1.Pod) bool { return nodeOf(p) != "" })) > 2
		}, `{"N/N/N", nil, ""},`, "pods stay on few nodes"},
		{someNode(func(n *corev1.Node) bool { return len(n.Spec.Taints) > 0 && n.Spec.Taints[0].Key == "dedicated" }), `{"!-", nil, ""},`, "a mark stays that matters"},
		{someNode(func(n *corev1.Node) bool { return n.Labels["zone"] != "" && len(n.Spec.Taints) > 0 }),
			"{\"^-\", options{dstest.Patch(\"nodes/n0\", `{\"metadata\":{\"labels\":{\"zone\":\"z1\"}}}`)}, \"\"},", "labels go one by one"},
		{somePod(func(p *corev1.Pod) bool { return p.Name == "agent-xyz" }), `{"N", options{dstest.Rename("p0", "agent-xyz")}, ""},`, "a name stays that matters"},
		{func(s *snapshot.Snapshot) bool {
			return someNode(func(n *corev1.Node) bool { return n.Name == "n7" })(s) && somePod(func(p *corev1.Pod) bool { return p.Spec.NodeName == "n7" })(s)
		}, `{"N", options{dstest.Rename("n0", "n7")}, ""},`, "and that of a node, in all that names it"},
		{func(s *snapshot.Snapshot) bool { return len(s.DaemonSet.Spec.Template.Spec.Tolerations) > 1 },
			"{\"\", options{dstest.Patch(\"daemonset\", `{\"spec\":{\"template\":{\"spec\":{\"tolerations\":[{\"key\":\"a\"},{\"key\":\"b\"}]}}}}`)}, \"\"},", "a list keeps what it must"},
		{func(s *snapshot.Snapshot) bool {
			return s.DaemonSet.Spec.Template.Spec.HostNetwork && slices.ContainsFunc(s.Revisions, func(r appsv1.ControllerRevision) bool {
				return r.Name == "agent-new" && string(r.Data.Raw) == string(stored(&s.DaemonSet.Spec.Template, false))
			})
		}, "{\"\", options{dstest.Patch(\"daemonset\", `{\"spec\":{\"template\":{\"spec\":{\"hostNetwork\":true}}}}`)}, \"\"},", "a template goes with the revision that stores it"},
		{func(s *snapshot.Snapshot) bool {
			ru := s.DaemonSet.Spec.UpdateStrategy.RollingUpdate
			return ru != nil && ru.MaxSurge.String() > "1"
		}, `{"", options{dstest.MaxSurge("2")}, ""},`, "a limit becomes as small as it can"},
		{func(s *snapshot.Snapshot) bool { return s.DaemonSet.Spec.MinReadySeconds > 29 }, `{"", options{dstest.MinReadySeconds(30)}, ""},`, "and so does a time"},
		{func(s *snapshot.Snapshot) bool {
			return slices.ContainsFunc(s.Revisions, func(r appsv1.ControllerRevision) bool { return r.Labels[hashLabel] == "twin" })
		}, `{"", options{dstest.AddRevision("twin", 3, "")}, ""},`, "a revision stays that matters, and those of every grid"},
		{func(s *snapshot.Snapshot) bool {
			ages := map[string]bool{}
			return somePod(func(p *corev1.Pod) bool {
				id := nodeOf(p) + p.CreationTimestamp.String()
				twice := ages[id]
				ages[id] = true
				return twice && nodeOf(p) != ""
			})(s)
		}, "{\"N/N\", options{dstest.Patch(\"pods/p0b\", `{\"metadata\":{\"creationTimestamp\":\"2026-02-25T08:00:00Z\"}}`)}, \"\"},", "two ages that are one are told once"},
		{func(s *snapshot.Snapshot) bool {
			return somePod(func(p *corev1.Pod) bool {
				for _, c := range p.Status.Conditions {
					if c.Status == corev1.ConditionTrue && !c.LastTransitionTime.IsZero() && s.TakenAt.Sub(c.LastTransitionTime.Time) < time.Duration(s.DaemonSet.Spec.MinReadySeconds)*time.Second {
						return true
					}
				}
				return false
			})(s)
		}, `{"W", options{dstest.MinReadySeconds(2)}, ""},`, "a letter says what a patch said"},
		{func(s *snapshot.Snapshot) bool { return s.TakenAt.Nanosecond() > 0 && s.Lacks(snapshot.Clock) },
			"{\"\", options{dstest.Patch(\"snapshot\", `{\"gaps\":[{\"message\":\"\",\"what\":\"clock\",\"why\":\"Failed\"}],\"takenAt\":\"2026-03-01T12:00:00.3Z\"}`)}, \"\"},", "what is no object goes as well"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			got, err := Row(Shrink(clutter(), tt.differs), "")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestShrinkTurns checks that new pods which a patch makes old become old pods.
func TestShrinkTurns(t *testing.T) {
	outdated := func(s *snapshot.Snapshot) bool {
		want := map[bool]string{true: NewGeneration, false: OldGeneration}[s.DaemonSet.Annotations == nil]
		return len(s.Pods) == 2 && s.Pods[0].Labels[generationLabel] == want && s.Pods[1].Labels[generationLabel] == want
	}
	got, err := Row(Shrink(State("Nt n", Patch("daemonset", `{"metadata":{"annotations":null}}`)), outdated), "")
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"O O", nil, ""},`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestShrinkRandom checks the promises of Shrink on random states, also with a differs that depends
// on something the notation cannot express.
func TestShrinkRandom(t *testing.T) {
	for seed := range cases.Of(int64(10)) {
		s := Random(seed)
		if len(s.Nodes) > 20 {
			continue // slow, and tests nothing else
		}
		pods, nodes := len(s.Pods)/3, len(s.Nodes)/4
		asked := 0
		differs := func(s *snapshot.Snapshot) bool {
			asked++
			ready := 0
			for i := range s.Pods {
				for _, c := range s.Pods[i].Status.Conditions {
					ready += len(c.Status) * (1 + len(s.Pods[i].Labels)%2)
				}
			}
			return len(s.Pods) >= pods && len(s.Nodes) >= nodes && ready%3 == len(s.Revisions)%3
		}
		before := key(s)
		start := differs(s)
		asked = 0
		small := Shrink(s, differs)
		tries := asked
		if key(s) != before {
			t.Fatalf("seed %d: the state was changed", seed)
		}
		if !start {
			if key(small) != before {
				t.Fatalf("seed %d: a state that does not differ is another one", seed)
			}
			continue
		}
		if tries > mostTries {
			t.Fatalf("seed %d: asked %d times", seed, tries)
		}
		if !differs(small) {
			t.Fatalf("seed %d: the result does not differ", seed)
		}
		if tries == mostTries {
			continue // mostTries was reached
		}
		for i := range small.Pods {
			less := *small
			if less.Pods = slices.Concat(small.Pods[:i], small.Pods[i+1:]); differs(&less) {
				t.Fatalf("seed %d: pod %s could go", seed, small.Pods[i].Name)
			}
		}
		r, err := write(small)
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range r.words() {
			if less, err := r.only(slices.Concat(r.words()[:i], r.words()[i+1:])).state(); err == nil && snapshot.Validate(less) == nil && differs(less) {
				t.Fatalf("seed %d: %v of %s could go", seed, w.path, r.options[w.option].source())
			}
		}
		if key(Shrink(s, differs)) != key(small) {
			t.Fatalf("seed %d: twice is not the same", seed)
		}
		if again := Shrink(small, differs); key(again) != key(small) {
			t.Fatalf("seed %d: it could be smaller:\n%s", seed, cmp.Diff(small, again))
		}
	}
}

func TestShrinkCopies(t *testing.T) {
	s := State("O")
	for _, differs := range []bool{false, true} {
		small := Shrink(s, func(s *snapshot.Snapshot) bool { return differs && len(s.Pods) == 1 })
		small.DaemonSet.Name, small.Nodes[0].Name, small.Pods[0].Labels["app"], small.Revisions[0].Data.Raw[0] = "x", "x", "x", 'x'
		if diff := cmp.Diff(State("O"), s); diff != "" {
			t.Errorf("differs %t: the result is the state itself:\n%s", differs, diff)
		}
	}
}
