package diagnosis

import (
	"testing"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
)

// TestOrigin checks origins that few or no stories have.
func TestOrigin(t *testing.T) {
	type facts = daemonset.Facts
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	likely, certain := cause.Likely, cause.Certain
	change := func(c cause.Certainty, revision int64) cause.Blame {
		return cause.Blame{Who: cause.WhoChange, Certainty: c, Revision: revision}
	}
	blame := func(who cause.Who, c cause.Certainty) cause.Blame { return cause.Blame{Who: who, Certainty: c} }
	unknown := blame(cause.WhoUnknown, cause.Unsure)
	mounts := facts{"noHostPath": true, "hostPath": "/etc/x", "hostPathType": "File", "osImage": "Talos"}
	near := func(by string, labels ...string) facts {
		f := facts{"excludedBy": by, "nearest": []string{"n-1", "n-2"}, "taints": []string{"a:NoSchedule"}}
		if len(labels) > 0 {
			f["labels"] = labels
		}
		return f
	}
	image := facts{"image": "x:1", "platform": "arm64"}
	for _, tt := range []struct {
		code    daemonset.Reason
		blame   cause.Blame
		facts   facts
		subject cause.Subject
		works   int
		want    string
	}{
		{cause.CrashLoopBackOff, change(certain, 0), nil, cause.Subject{}, 0,
			"this change, the live template"},
		{cause.CrashLoopBackOff, change(certain, 8), nil, cause.Subject{}, 0,
			"this change, revision 8"},
		{cause.CrashLoopBackOff, change(likely, 8), nil, cause.Subject{}, 0,
			"likely this change, revision 8"},
		{cause.PodOSNotSupported, change(certain, 8), facts{"want": "windows"}, cause.Subject{}, 0,
			"this change, revision 8: its template is for windows only"},
		{cause.ImagePullBackOff, change(certain, 8), image, cause.Subject{}, 0,
			"this change, revision 8: its image x:1 has no build for arm64, the platform of w-1"},
		{cause.CrashLoopBackOff, blame(cause.WhoTemplate, likely), image, cause.Subject{}, 0,
			"likely the template: the message says that a program is not built for arm64, the platform of w-1"},
		{cause.NoEligibleNode, blame(cause.WhoTemplate, likely), near("NodeName"), cause.Subject{}, 0,
			"likely the template: its nodeName picks another node"},
		{cause.FailedMount, blame(cause.WhoTemplate, likely), mounts, cause.Subject{}, 0,
			"likely the template: it mounts /etc/x as File, and the node has no such thing there: the operating " +
				"system is Talos"},
		{cause.FailedMount, blame(cause.WhoTemplate, likely), facts{"noHostPath": true, "hostPath": "/etc/x"},
			cause.Subject{}, 0,
			"likely the template: it mounts /etc/x, which the container runtime cannot make or use on the node"},
		{cause.FailedMount, blame(cause.WhoTemplate, likely), facts{"noHostPath": true}, cause.Subject{}, 0,
			"likely the template: it mounts a hostPath that the node does not have"},
		{cause.ImagePullBackOff, blame(cause.WhoTemplate, likely), facts{"reason": "ErrImageNeverPull"},
			cause.Subject{}, 0,
			"likely the template: its imagePullPolicy is Never, and the node does not have the image"},
		{cause.ImagePullBackOff, blame(cause.WhoTemplate, likely), facts{"image": "x:1"}, cause.Subject{}, 0,
			"likely the template: the registry has no image x:1"},
		{cause.EvictLoop, blame(cause.WhoTemplate, certain), nil,
			cause.Subject{Kind: cause.SubjectVolume, Name: "data"}, 0,
			"the template: the pod writes more to volume data than its sizeLimit allows"},
		{cause.EvictLoop, blame(cause.WhoTemplate, certain), nil, cause.Subject{}, 0,
			"the template"},
		{cause.PendingUnschedulable, blame(cause.WhoInjection, certain),
			facts{"added": []string{"a=b"}, "annotation": "x/y", "selector": "a=b"}, cause.Subject{}, 0,
			"the nodeSelector a=b, which the template does not have, was added at admission: namespace ns asks for " +
				"it (x/y: a=b)"},
		{cause.PendingUnschedulable, blame(cause.WhoInjection, certain),
			facts{"added": []string{"a=b"}, "annotation": "x/y", "again": false}, cause.Subject{}, 0,
			"the nodeSelector a=b, which the template does not have, was added at admission: namespace ns no longer " +
				"asks for it (x/y), but the pod keeps it"},
		{cause.FailedCreate, blame(cause.WhoPolicy, certain), nil, cause.Subject{Kind: cause.SubjectPodSecurityPolicy,
			Name: "ns/sa"}, 0,
			"the PodSecurityPolicies: none that ServiceAccount ns/sa may use allows the pod, as the message says"},
		{cause.FailedCreate, blame(cause.WhoPolicy, certain), nil, cause.Subject{Kind: cause.SubjectAPIServer}, 0,
			"the API server: see its message"},
		{cause.NoEligibleNode, unknown, near("NodeSelector", "a", "b"), cause.Subject{}, 0,
			"unclear, the nodes or the template: no node has one of the labels a, b, and the nodeSelector requires " +
				"all of them"},
		{cause.NoEligibleNode, unknown, near("NodeSelector"), cause.Subject{}, 0,
			"unclear, the nodes or the template: no node has all labels of the nodeSelector"},
		{cause.NoEligibleNode, unknown, near("NodeAffinity", "a"), cause.Subject{}, 0,
			"unclear, the nodes or the template: no node has the label a, which the affinity requires"},
		{cause.NoEligibleNode, unknown, near("NodeAffinity"), cause.Subject{}, 0,
			"unclear, the nodes or the template: no node meets the affinity"},
		{cause.NoEligibleNode, blame(cause.WhoNode, certain), near("NodeUnsuitable"), cause.Subject{}, 0,
			"n-1, n-2, not the DaemonSet: the taint a:NoSchedule says that the nodes are being removed, or run no " +
				"DaemonSet"},
		{cause.ImagePullBackOff, unknown, nil, cause.Subject{}, 2,
			"the registry, or the network path from this node to it: 2 other nodes could pull the image"},
		{cause.CrashLoopBackOff, unknown, facts{"joined": "2026-03-01T11:46:00Z"}, cause.Subject{}, 1,
			"unclear: revision 8 works on the node that joined before, and w-1 joined 14m ago: look for what is new " +
				"there first, such as its image or its labels"},
		{cause.CrashLoopBackOff, unknown, facts{"joined": "2026-03-01T11:46:00Z"}, cause.Subject{}, 2,
			"unclear: revision 8 works on the 2 nodes that joined before, and w-1 joined 14m ago: look for what is " +
				"new there first, such as its image or labels"},
		{cause.FailedMount, blame(cause.WhoNode, likely), mounts, cause.Subject{}, 1,
			"likely w-1: it has no File /etc/x, which the template mounts, and 1 other node has it"},
		{cause.FailedMount, blame(cause.WhoNode, likely), facts{"noHostPath": true}, cause.Subject{}, 2,
			"likely w-1: it does not have a path that the template mounts, and 2 other nodes have it"},
		{cause.FailedCreatePodSandBox, blame(cause.WhoNode, likely), nil, cause.Subject{}, 2,
			"likely w-1: other nodes set up the same pod"},
		{cause.HostPortConflict, blame(cause.WhoOtherWorkload, likely), facts{"ports": []string{"80/TCP"}},
			cause.Subject{}, 0,
			"not this DaemonSet: another pod on w-1 uses host port 80/TCP"},
	} {
		e := &explain.Explanation{Revisions: []explain.Revision{{Name: "a-8", Number: 8, Current: true,
			Available: tt.works}}}
		e.DaemonSet.Namespace, e.Snapshot.TakenAt = "ns", now
		e.Verdict.Facts = facts{"newPods": tt.works + 1}
		p := &explain.Problem{Code: tt.code, Facts: tt.facts, Nodes: []string{"w-1"}, Count: 1, Subject: tt.subject,
			Blame: &tt.blame}
		a := New(e, sheet.Asked{}, wording.Style{})
		if got := a.Origin(p); got != tt.want {
			t.Errorf("%s %v %v:\n%q, want\n%q", tt.code, tt.blame.Who, tt.facts, got, tt.want)
		}
	}
}
