package admission

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPods tests the pod of a Verdict, whether or not it is admitted.
func TestPods(t *testing.T) {
	const plain = "account=default; value=0; preempt=PreemptLowerPriority; tolerate node.kubernetes.io/not-ready:NoExecute@300; tolerate node.kubernetes.io/unreachable:NoExecute@300"
	const five = "tolerate node.kubernetes.io/not-ready:NoExecute@300; tolerate node.kubernetes.io/unreachable:NoExecute@300"
	for _, tt := range []struct{ why, ns, pod, version, want string }{
		{"limits are requests, where a container requests nothing of it", "", "a cpu=-/1 memory=1/2; init i memory=-/3", "", "i memory=3/3; a cpu=1/1 memory=1/2; " + plain},
		{"on the host's network each port is one of the host", "", "hostNetwork; a; port 80", "", "a; port 80:80; " + plain},
		{"elsewhere it is not", "", "a; port 80", "", "a; port 0:80; " + plain},
		{"defaults of a LimitRange fill what a container lacks; limits that were there are requests already", "range r Container default cpu=2 memory=9 request cpu=1", "a; b cpu=-/4; c cpu=3 memory=-/5", "", "a cpu=1/2 memory=9/9; b cpu=4/4 memory=9/9; c cpu=3/2 memory=5/5; " + plain},
		{"the maximum is the default limit, and the minimum the default request of what has no limit", "range r Container min cpu=1 memory=1 max cpu=2", "init i", "", "i cpu=2/2 memory=1/-; c cpu=2/2 memory=1/-; " + plain},
		{"bounds of pods are no defaults", "range r Pod min cpu=1 max cpu=2", "a cpu=1/1", "", "a cpu=1/1; " + plain},
		{"of two LimitRanges the first by name fills first", "range b Container default cpu=2 memory=2; range a Container default cpu=1", "a", "", "a cpu=1/1 memory=2/2; " + plain},
		{"a pod without imagePullSecrets gets those of its ServiceAccount", "account b pull=x,y", "account=b; a", "", "a; account=b; pull=x; pull=y; value=0; preempt=PreemptLowerPriority; " + five},
		{"one that has some does not", "account b pull=x,y", "account=b; a; pull=z", "", "a; account=b; pull=z; value=0; preempt=PreemptLowerPriority; " + five},
		{"the class sets priority and policy", "priority p 7 never", "priority=p; a", "", "a; account=default; priority=p; value=7; preempt=Never; " + five},
		{"without one the default of the cluster does: of two the lower, and no class that is not a default", "priority p 7 default; priority q 5 default; priority r 9 default; priority s 1", "a", "", "a; account=default; priority=q; value=5; preempt=PreemptLowerPriority; " + five},
		{"the priority is not known where the classes are not", "no priorityclasses", "a; priority=p", "", "a; account=default; priority=p; " + five},
		{"nor which is the default", "no priorityclasses", "a", "", "a; account=default; " + five},
		{"but those of the system are", "no priorityclasses", "a; priority=system-cluster-critical", "", "a; account=default; priority=system-cluster-critical; value=2000000000; preempt=PreemptLowerPriority; " + five},
		{"the one for nodes is higher", "no priorityclasses", "a; priority=system-node-critical", "", "a; account=default; priority=system-node-critical; value=2000001000; preempt=PreemptLowerPriority; " + five},
		{"of two that are as low the first by name", "priority p 5 default; priority q 5 default", "a", "", "a; account=default; priority=p; value=5; preempt=PreemptLowerPriority; " + five},
		{"a class that says no policy leaves that of the pod", "priority p 7 unsaid", "priority=p; preempt=Never; a", "", "a; account=default; priority=p; value=7; preempt=Never; " + five},
		{"a class that does not exist sets nothing", "", "priority=gone; a", "", "a; account=default; priority=gone; " + five},
		{"a template that says what the class says is fine", "priority p 7 never", "priority=p; value=7; preempt=Never; a", "", "a; account=default; priority=p; value=7; preempt=Never; " + five},
		{"a priority that differs stays, and nothing after it is set", "priority p 7 never", "priority=p; value=8; a", "", "a; account=default; priority=p; value=8; " + five},
		{"so does a policy", "priority p 7 never", "priority=p; preempt=PreemptLowerPriority; a", "", "a; account=default; priority=p; value=7; preempt=PreemptLowerPriority; " + five},
		{"the RuntimeClass sets overhead, nodes and tolerations", "runtime r overhead cpu=1 select=k:v tolerate=t", "runtime=r; a; select=m:n", "", "a; overhead cpu=1; account=default; value=0; preempt=PreemptLowerPriority; select=k:v; select=m:n; " + five + "; tolerate t"},
		{"a template may say the same", "runtime r overhead cpu=1 select=k:v", "runtime=r; a; select=k:v; overhead cpu=1000m", "", "a; overhead cpu=1; account=default; value=0; preempt=PreemptLowerPriority; select=k:v; " + five},
		{"where they differ, nothing is set", "runtime r overhead cpu=1 select=k:v tolerate=t", "runtime=r; a; overhead cpu=2", "", "a; overhead cpu=2; " + plain},
		{"nor where the nodes conflict", "runtime r select=k:v tolerate=t", "runtime=r; a; select=k:w", "", "a; account=default; value=0; preempt=PreemptLowerPriority; select=k:w; " + five},
		{"a RuntimeClass that has neither sets neither", "runtime r", "runtime=r; a", "", "a; " + plain},

		{"who tolerates NotReady for good or shortly is left alone", "", "a; tolerate node.kubernetes.io/not-ready:NoExecute@9; tolerate node.kubernetes.io/unreachable", "", "a; account=default; value=0; preempt=PreemptLowerPriority; tolerate node.kubernetes.io/not-ready:NoExecute@9; tolerate node.kubernetes.io/unreachable"},
		{"who tolerates it as NoSchedule is not", "", "a; tolerate node.kubernetes.io/not-ready:NoSchedule; tolerate x:NoExecute", "", "a; account=default; value=0; preempt=PreemptLowerPriority; tolerate node.kubernetes.io/not-ready:NoSchedule; tolerate x:NoExecute; " + five},
		{"who tolerates everything, is", "", "a; tolerate :NoExecute", "", "a; account=default; value=0; preempt=PreemptLowerPriority; tolerate :NoExecute"},

		{"of equal tolerations the first stays", "runtime r tolerate=k", "runtime=r; a; tolerate k; tolerate :NoExecute", "", "a; account=default; value=0; preempt=PreemptLowerPriority; tolerate k; tolerate :NoExecute"},
		{"one that covers others replaces them, before and after it", "runtime r tolerate=k tolerate=l", "runtime=r; a; tolerate k=v:NoSchedule; tolerate k:NoExecute@9; tolerate l; tolerate :NoExecute", "", "a; account=default; value=0; preempt=PreemptLowerPriority; tolerate l; tolerate :NoExecute; tolerate k"},
		{"one of all keys covers those of one, of its effect", "runtime r tolerate=k", "runtime=r; a; tolerate :NoExecute; tolerate m:NoExecute; tolerate m:NoSchedule", "", "a; account=default; value=0; preempt=PreemptLowerPriority; tolerate :NoExecute; tolerate m:NoSchedule; tolerate k"},
		{"more seconds cover fewer, and none covers for good", "runtime r tolerate=k", "runtime=r; a; tolerate m:NoExecute@9; tolerate m:NoExecute@5; tolerate n:NoExecute@9; tolerate n:NoExecute; tolerate o:NoExecute@5; tolerate o:NoExecute@9", "", "a; account=default; value=0; preempt=PreemptLowerPriority; tolerate m:NoExecute@9; tolerate n:NoExecute; tolerate o:NoExecute@9; " + five + "; tolerate k"},
		{"a value covers itself only, with fewer effects", "runtime r tolerate=k", "runtime=r; a; tolerate m=1; tolerate m=1:NoSchedule; tolerate m=2; tolerate n=1:NoSchedule; tolerate n:NoSchedule", "", "a; account=default; value=0; preempt=PreemptLowerPriority; tolerate m=1; tolerate m=2; tolerate n:NoSchedule; " + five + "; tolerate k"},
		{"the longer one stays, in any order", "runtime r tolerate=k", "runtime=r; a; tolerate n:NoExecute; tolerate n:NoExecute@9", "", "a; account=default; value=0; preempt=PreemptLowerPriority; tolerate n:NoExecute; " + five + "; tolerate k"},
		{"as many seconds cover a value", "runtime r tolerate=k", "runtime=r; a; tolerate m:NoExecute@5; tolerate m=1:NoExecute@5", "", "a; account=default; value=0; preempt=PreemptLowerPriority; tolerate m:NoExecute@5; " + five + "; tolerate k"},
		{"seconds count for NoExecute only", "runtime r tolerate=k", "runtime=r; a; tolerate m:NoSchedule@5; tolerate m=1:NoSchedule", "", "a; account=default; value=0; preempt=PreemptLowerPriority; tolerate m:NoSchedule@5; " + five + "; tolerate k"},
		{"no value does not cover all values", "runtime r tolerate=k", "runtime=r; a; tolerate m; tolerate m=", "", "a; account=default; value=0; preempt=PreemptLowerPriority; tolerate m; " + five + "; tolerate k"},
		{"without an operator a value is meant, and covers one with it; equal ones are one", "runtime r tolerate=k", "runtime=r; a; tolerate m~1; tolerate m=1; tolerate n~1; tolerate n~1", "", "a; account=default; value=0; preempt=PreemptLowerPriority; tolerate m~1; tolerate n~1; " + five + "; tolerate k"},
		{"no key stands for all keys with Exists only", "runtime r tolerate=k", "runtime=r; a; tolerate =1:NoSchedule; tolerate m=1:NoSchedule", "", "a; account=default; value=0; preempt=PreemptLowerPriority; tolerate =1:NoSchedule; tolerate m=1:NoSchedule; " + five + "; tolerate k"},

		{"what the pod as a whole lacks it gets from its containers; a limit, if all have one", "", "all cpu=4 memory=-/9; a cpu=1/2 memory=3/4; b cpu=1/3 memory=-/2", "", "a cpu=1/2 memory=3/4; b cpu=1/3 memory=2/2; all cpu=4/5 memory=5/9; " + plain},
		{"a limit of the pod is at least its request", "", "all cpu=9; a cpu=1/2", "", "a cpu=1/2; all cpu=9/9; " + plain},
		{"not if one container has none", "", "all cpu=4; a cpu=1/2; b cpu=1", "", "a cpu=1/2; b cpu=1/-; all cpu=4/-; " + plain},
		{"its limit is its request, where no container requests anything", "", "all cpu=-/4; a", "", "a; all cpu=4/4; " + plain},
		{"hugepages of containers are limits of the pod", "", "all memory=4; a hugepages-2Mi=2Mi/2Mi", "", "a hugepages-2Mi=2Mi/2Mi; all hugepages-2Mi=2Mi/2Mi memory=4/-; " + plain},
		{"defaults of a LimitRange count since v1.37", "range r Container default cpu=1 request cpu=1", "all memory=4/4; a", "v1.37.0", "a cpu=1/1; all cpu=1/1 memory=4/4; " + plain},
		{"with those of other containers", "range r Container default cpu=1 request cpu=1", "all memory=4/4; a cpu=1/1; b", "v1.37.0", "a cpu=1/1; b cpu=1/1; all cpu=2/2 memory=4/4; " + plain},
		{"only cpu, memory and hugepages are resources of a pod as a whole", "", "all cpu=1 ephemeral-storage=2; a cpu=1/1 ephemeral-storage=1/1", "", "a cpu=1/1 ephemeral-storage=1/1; all cpu=1/1 ephemeral-storage=2/-; " + plain},
		{"what it has not of them it does not get", "", "all memory=1/1; a ephemeral-storage=1/1", "", "a ephemeral-storage=1/1; all memory=1/1; " + plain},
		{"the pod's limit of hugepages is its request", "", "all memory=4/4 hugepages-2Mi=-/4Mi; a hugepages-2Mi=2Mi/2Mi", "", "a hugepages-2Mi=2Mi/2Mi; all hugepages-2Mi=4Mi/4Mi memory=4/4; " + plain},
		{"the rules of a version that nobody knows are the newest", "range r Container default cpu=1 request cpu=1", "all memory=4/4; a", "v2.1.0", "a cpu=1/1; all cpu=1/1 memory=4/4; " + plain},
		{"not before, nor are limits set", "range r Container default cpu=1 request cpu=1", "all memory=4/4; a memory=1", "v1.36.0", "a cpu=1/1 memory=1/-; all memory=4/4; " + plain},
		{"requests are, if it has a limit", "", "all memory=-/4; a memory=1 cpu=2", "v1.36.0", "a cpu=2/- memory=1/-; all cpu=2/- memory=1/4; " + plain},
		{"and not if it has none", "", "all memory=4; a cpu=2", "v1.36.0", "a cpu=2/-; all memory=4/-; " + plain},
		{"before v1.34 it counts for nothing", "", "all memory=-/4; a cpu=2", "v1.33.0", "a cpu=2/-; all memory=-/4; " + plain},
		{"an annotation for AppArmor is a field since v1.30", "", "a; apparmor runtime/default", "v1.30.0", "a; apparmor RuntimeDefault; " + plain},
		{"of a name, too", "", "a; apparmor localhost/x", "", "a; apparmor Localhost; " + plain},
		{"not before", "", "a; apparmor runtime/default", "v1.29.0", "a; " + plain},
		{"unless it is that of the pod, or the container has one, or the pod is for Windows", "", "a; apparmor unconfined; profile Unconfined", "", "a; " + plain},
		{"a name of another one than the pod's", "", "a; apparmor localhost/x; profile Localhost y", "", "a; apparmor Localhost; " + plain},
		{"another one than the pod's, where the pod is for Linux", "", "a; apparmor unconfined; profile RuntimeDefault; linux", "", "a; apparmor Unconfined; " + plain},
		{"the container's own stays", "", "a; own RuntimeDefault; apparmor unconfined", "", "a; apparmor RuntimeDefault; " + plain},
		{"a container that has a security context without a profile gets one", "", "a; privileged; apparmor unconfined", "", "a; apparmor Unconfined; " + plain},
		{"Windows has no AppArmor", "", "a; apparmor unconfined; windows", "", "a; " + plain},
		{"a container without an annotation has that of the pod", "", "a; profile RuntimeDefault", "", "a; " + plain},
		{"a security context of the pod may say nothing", "", "a; apparmor unconfined; context", "", "a; apparmor Unconfined; " + plain},
		{"a name that begins with a space is none", "", "a; apparmor localhost/ x", "", "a; " + plain},
		{"a negative grace period is one second", "", "a; grace=-1", "", "a; account=default; value=0; preempt=PreemptLowerPriority; grace=1; " + five},
		{"none stays none", "", "a; grace=0", "", "a; account=default; value=0; preempt=PreemptLowerPriority; grace=0; " + five},
		{"a pod without resources of its own gets none from its containers", "", "all; a cpu=1/1", "", "a cpu=1/1; all; " + plain},
		{"devices are no resources of a pod as a whole", "", "all cpu=1; a example.com/gpu=1/1", "", "a example.com/gpu=1/1; all cpu=1/-; " + plain},
		{"hugepages that the pod requests stay as they are", "", "all hugepages-2Mi=4Mi; a hugepages-2Mi=2Mi/2Mi", "", "a hugepages-2Mi=2Mi/2Mi; all hugepages-2Mi=4Mi/4Mi; " + plain},
		{"one that says nothing is none", "", "a; apparmor localhost/", "", "a; " + plain},
	} {
		t.Run(tt.why, func(t *testing.T) {
			in, lacks := namespaceOf(t, "ns;"+tt.ns)
			v := Check(in, podOf(t, tt.pod), tt.version, lacks)
			got := became(v.Pod)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s | %s (-want +got):\n%s", tt.ns, tt.pod, diff)
			}
		})
	}
}
