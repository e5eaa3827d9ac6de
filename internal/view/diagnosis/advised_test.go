package diagnosis

import (
	"testing"

	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
)

// TestAdvised checks advice that few or no stories have. It expects the look, or the act if there is no look.
func TestAdvised(t *testing.T) {
	type facts = daemonset.Facts
	type subject = cause.Subject
	path := facts{"hostPath": "/etc/x"}
	for _, tt := range []struct {
		code    explain.AdviceCode
		problem daemonset.Reason
		facts   facts
		subject subject
		after   []daemonset.Reason
		want    string
	}{
		{explain.AdviseDeletePods, cause.CrashLoopBackOff, nil, subject{}, nil,
			"nothing shows that revision 8 fails"},
		{explain.AdviseRollBack, cause.FailedMount, nil, subject{}, nil,
			"roll back; this replaces only the failing pods"},
		{explain.AdviseCorrectTemplate, cause.FailedMount, path, subject{}, nil,
			"find out whether the node should have /etc/x: if not, mount the path that it has, or keep the pod off it"},
		{explain.AdviseCorrectTemplate, cause.ImagePullBackOff, facts{"reason": "ErrImageNeverPull"}, subject{}, nil,
			"load the image onto the node, or change the imagePullPolicy or the image in the template"},
		{explain.AdviseCorrectTemplate, cause.ImagePullBackOff, facts{"image": "x:1"}, subject{}, nil,
			"correct the image in the template, or publish x:1: the pods then start automatically"},
		{explain.AdviseRepairNodes, cause.NodeNotReady, nil, subject{}, []daemonset.Reason{"A", "B"},
			"ask the team that runs the node to repair it; a node that comes back before 1 and 2 are solved gets a " +
				"pod of revision 8"},
		{explain.AdviseRepairNodes, cause.NodeNotReady, nil, subject{}, []daemonset.Reason{"A", "C"},
			"ask the team that runs the node to repair it; a node that comes back before 1 to 3 are solved gets a " +
				"pod of revision 8"},
		{explain.AdviseAskOwner, cause.FailedCreate, facts{"uncalled": true},
			subject{Kind: cause.SubjectWebhook, Name: "x"}, nil,
			"ask the owner of admission webhook x why it does not respond: until it does, the API server rejects the " +
				"pods"},
		{explain.AdviseAskOwner, cause.FailedCreate, nil, subject{Kind: cause.SubjectPodSecurityPolicy, Name: "x"}, nil,
			"let ServiceAccount x use a PodSecurityPolicy that allows what the message names, or use a " +
				"ServiceAccount that may"},
		{explain.AdviseAskOwner, cause.FailedCreate, nil, subject{Kind: cause.SubjectPolicy, Name: "x"}, nil,
			"ask the owner of namespace ns to allow pods that violate x, or change the template"},
		{explain.AdviseCompareLabels, cause.NoEligibleNode, facts{"excludedBy": "NodeSelector"}, subject{}, nil,
			"if nodes should run the pod, compare their labels with the nodeSelector of the template"},
	} {
		e := &explain.Explanation{Revisions: []explain.Revision{{Name: "a-8", Number: 8, Current: true}}}
		e.DaemonSet.Namespace = "ns"
		e.Problems = []explain.Problem{{Code: tt.problem, Facts: tt.facts, Nodes: []string{"w-1"}, Subject: tt.subject,
			Blame: &cause.Blame{}}}
		d := explain.Advice{Code: tt.code, Problems: []daemonset.Reason{tt.problem}, Nodes: []string{"w-1"},
			After: tt.after}
		all := []explain.Advice{{Problems: []daemonset.Reason{"A"}}, {Problems: []daemonset.Reason{"B"}},
			{Problems: []daemonset.Reason{"C"}}, d}
		of, words := New(e, sheet.Asked{}, wording.Style{}).Advised(d, all), Advices[d.Code]
		got := of.Said(words.Act)
		if got == "" {
			got = of.Said(words.Look)
		}
		if got != tt.want {
			t.Errorf("%s %v:\n%q, want\n%q", tt.code, tt.facts, got, tt.want)
		}
	}
}

// TestFirstly checks that every reason for which the API server rejects a pod has a first step.
func TestFirstly(t *testing.T) {
	for reason, want := range map[admission.Reason]string{
		admission.NamespaceNotFound:      "create namespace ns",
		admission.ServiceAccountNotFound: `create ServiceAccount "x" again`,
		admission.PriorityClassNotFound:  `create PriorityClass "x" again`,
		admission.RuntimeClassNotFound:   `create RuntimeClass "x" again`,
		admission.LimitRangeViolated:     `correct the template as LimitRange "x" wants it`,
		admission.PodSecurityViolated:    "ask the owner of namespace ns to allow these pods again",
		admission.QuotaExceeded:          `have ResourceQuota "x" raised`,
		admission.QuotaMustSpecify:       `set what ResourceQuota "x" counts`,
		admission.PodInvalid:             "correct the template",
		admission.DryRunRejected:         "correct what its message names",
	} {
		if got := admissionStep(&admission.Refusal{Reason: reason, Name: "x"}, "ns", true); got != want {
			t.Errorf("%s: %q, want %q", reason, got, want)
		}
	}
}

// TestNoRollback checks when a rollback does not help, depending on the pods of the current revision.
func TestNoRollback(t *testing.T) {
	node := explain.Advice{Code: explain.AdviseRepairNodes, Nodes: []string{"w-1"}}
	for _, tt := range []struct {
		pods, terminating int
		under             bool
		want              string
	}{
		{0, 0, true, "roll back: no pod runs revision 8 yet"},
		{1, 0, true, "roll back: the rollback would wait for the same node"},
		{0, 1, true, "roll back: the rollback would wait for the same node"},
		{0, 0, false, ""},
	} {
		current := explain.Revision{Number: 8, Name: "agent-8", Current: true, Pods: tt.pods,
			Terminating: tt.terminating}
		e := &explain.Explanation{Revisions: []explain.Revision{current}, Advice: []explain.Advice{node}}
		e.Rollout.UnderWay = tt.under
		a := &Answer{Sheet: &sheet.Sheet{}, E: e}
		if got := a.NoRollback(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt, got, tt.want)
		}
	}
}
