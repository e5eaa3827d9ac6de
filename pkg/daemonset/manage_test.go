package daemonset

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

const backoff = ", at most 900s"

func TestManage(t *testing.T) {
	surge := dstest.MaxSurge("1")
	hashOfCurrent := func(hash string) dstest.Option {
		return dstest.Revision("agent-new", func(r *appsv1.ControllerRevision) { r.Labels["controller-revision-hash"] = hash })
	}
	onDelete := dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType })
	noSurge := dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Spec.UpdateStrategy.RollingUpdate.MaxSurge = nil })
	noLimits := dstest.DaemonSet(func(ds *appsv1.DaemonSet) { ds.Spec.UpdateStrategy.RollingUpdate = nil })
	unlabel := func(pod string) dstest.Option {
		return dstest.Pod(pod, func(p *corev1.Pod) { delete(p.Labels, "controller-revision-hash") })
	}
	before := func(pod string, at metav1.Time) dstest.Option {
		return dstest.Pod(pod, func(p *corev1.Pod) { p.CreationTimestamp = at })
	}
	whys := whys{}
	for _, tt := range []struct {
		grid string
		opts options
		want outcome
		why  string
	}{
		// Creates.
		{"- N -", nil, outcome{Step: "Manage Placement", Creates: "n0 Missing; n2 Missing"}, "a node that should run the pod and has none gets one, outside any budget"},
		{"!- #- N", nil, outcome{Step: "None UpToDate"}, "a node that should not run the pod gets none"},
		{"^- N", nil, outcome{Step: "Manage Placement", Creates: "n0 Missing"}, "a cordoned node gets one: every DaemonSet tolerates that"},
		{"Nt", nil, outcome{Step: "None UpToDate"}, "a terminating pod keeps its place until it is gone"},
		{"nft", nil, outcome{Step: "Manage Placement", Creates: "n0 Missing"}, "but not one that is done and held by a finalizer (1.28.0, #118716)"},
		{"nst", nil, outcome{Step: "Manage Placement", Creates: "n0 Missing"}, "Succeeded is done as well"},
		{"nft", options{dstest.Version("v1.27.3")}, outcome{Step: "None UpToDate"}, "before #118716 a dead pod held by a finalizer blocks the node"},
		{"Nx", nil, outcome{Step: "Manage Placement", Creates: "n0 Missing"}, "another controller's pod takes nobody's place"},
		{"Nr", nil, outcome{Step: "Manage Placement", Creates: "n0 Missing"}, "nor does one that is let go in this sync"},
		{"Na", nil, outcome{Step: "None UpToDate"}, "an orphan that is adopted in this sync does"},
		{"np", nil, outcome{Step: "None UpToDate"}, "so does a pod that is not bound yet, on the node of its affinity"},
		{"-", options{dstest.OnDelete()}, outcome{Step: "Manage Placement", Creates: "n0 Missing"}, "OnDelete fills empty nodes too"},

		// Pods where they may not stay.
		{"#N/o #of #ns", nil, outcome{Step: "Manage Placement", Deletes: "n0/p0 NoLongerEligible; n0/p0b NoLongerEligible; n1/p1 NoLongerEligible; n2/p2 NoLongerEligible"}, "where pods may not stay all go, of any phase and without backoff"},
		{"#Nt", nil, outcome{Step: "None UpToDate"}, "what is terminating already is not deleted again"},
		{"#np/N", nil, outcome{Step: "Manage Placement", Deletes: "n0/p0 NoLongerEligible; n0/p0b NoLongerEligible"}, "a step lists them by name, not in the controller's order"},
		{"!N", nil, outcome{Step: "None UpToDate"}, "a NoSchedule taint deletes nothing"},

		// Failed and Succeeded.
		{"nf N", nil, outcome{Step: "Manage Placement", Deletes: "n0/p0 FailedPod", Waits: "Backoff of n0" + backoff}, "a Failed pod is deleted, or later, and its node waits"},
		{"nf/nf/nf", nil, outcome{Step: "Manage Placement", Deletes: "any 1 of n0/p0 n0/p0b n0/p0c FailedPod, 1 a node", Waits: "Backoff of n0" + backoff}, "one Failed pod of a node at a time, and which is random"},
		{"nfa/nf", nil, outcome{Step: "Manage Placement", Deletes: "n0/p0b FailedPod", Waits: "Backoff of n0" + backoff}, "one that is owned goes before one to adopt"},
		{"nfa/nfa", nil, outcome{Step: "Manage Placement", Deletes: "any 1 of n0/p0 n0/p0b FailedPod, 1 a node", Waits: "Backoff of n0" + backoff}, "of those to adopt any"},
		{"nfa/nf", options{dstest.Version("v1.32.10")}, outcome{Step: "Manage Placement", Deletes: "any 1 of n0/p0 n0/p0b FailedPod, 1 a node", Waits: "Backoff of n0" + backoff}, "before 1.33 any of all"},
		{"nfa/nf", options{dstest.AddRevision("twin", 3, "")}, outcome{Step: "Manage Placement", Deletes: "any 1 of n0/p0 n0/p0b FailedPod, 1 a node", Waits: "Backoff of n0" + backoff}, "and where revisions are merged, which adopts them first"},
		{"nfa/nf", nil, outcome{Step: "Manage Placement", Deletes: "n0/p0b FailedPod", Waits: "Backoff of n0" + backoff}, "one that is owned goes before one to adopt (1.33.0, #130859)"},
		{"nfa/nf", options{dstest.Version("v1.32.10")}, outcome{Step: "Manage Placement", Deletes: "any 1 of n0/p0 n0/p0b FailedPod, 1 a node", Waits: "Backoff of n0" + backoff}, "before that they were listed together"},
		{"nfa/nfa", nil, outcome{Step: "Manage Placement", Deletes: "any 1 of n0/p0 n0/p0b FailedPod, 1 a node", Waits: "Backoff of n0" + backoff}, "of several to adopt any"},
		{"nfa/nf", options{dstest.AddRevision("twin", 3, "")}, outcome{Step: "Manage Placement", Deletes: "any 1 of n0/p0 n0/p0b FailedPod, 1 a node", Waits: "Backoff of n0" + backoff}, "when equal revisions are merged, pods are adopted before this step looks"},
		{"nf/N", nil, outcome{Step: "Manage Placement", Deletes: "n0/p0 FailedPod", Waits: "Backoff of n0" + backoff}, "a Failed pod goes though another runs"},
		{"nf/N/N", nil, outcome{Step: "Manage Placement", Deletes: "n0/p0 FailedPod; n0/p0c Duplicate", Waits: "Backoff of n0" + backoff}, "a Failed pod is not the one that is kept"},
		{"nfa/nf", nil, outcome{Step: "Manage Placement", Deletes: "n0/p0b FailedPod", Waits: "Backoff of n0" + backoff}, "of Failed ones, one that is owned goes before one to adopt (1.33.0, #130859)"},
		{"nfa/nf", options{dstest.Version("v1.32.10")}, outcome{Step: "Manage Placement", Deletes: "any 1 of n0/p0 n0/p0b FailedPod, 1 a node", Waits: "Backoff of n0" + backoff}, "before #130859 any of them"},
		{"nf/nf/nfa", nil, outcome{Step: "Manage Placement", Deletes: "any 1 of n0/p0 n0/p0b FailedPod, 1 a node", Waits: "Backoff of n0" + backoff}, "of several owned ones it is random"},
		{"nfa/nfa", nil, outcome{Step: "Manage Placement", Deletes: "any 1 of n0/p0 n0/p0b FailedPod, 1 a node", Waits: "Backoff of n0" + backoff}, "and of several to adopt, where none is owned"},
		{"ns", nil, outcome{Step: "Manage Placement", Deletes: "n0/p0 SucceededPod"}, "a Succeeded pod is deleted, without backoff (1.27.0, #117073)"},
		{"ns/ns", nil, outcome{Step: "Manage Placement", Deletes: "n0/p0 SucceededPod; n0/p0b SucceededPod"}, "and so are all of them"},
		{"ns", options{dstest.Version("v1.26.4")}, outcome{Step: "None UpToDate"}, "before #117073 a Succeeded pod counts as running"},
		{"!nf", nil, outcome{Step: "Manage Placement", Deletes: "n0/p0 FailedPod", Waits: "Backoff of n0" + backoff}, "a Failed pod goes from a node that should not run it"},

		// Duplicates, without surge.
		{"N/O", nil, outcome{Step: "Manage Placement", Deletes: "n0/p0b Duplicate"}, "the oldest is kept, whatever its revision"},
		{"o/N", nil, outcome{Step: "Manage Placement", Deletes: "n0/p0b Duplicate"}, "and whether it is ready or not"},
		{"np/N", nil, outcome{Step: "Manage Placement", Deletes: "n0/p0 Duplicate"}, "a bound pod is kept before an older one that is not"},
		{"N/N", options{before("p0b", metav1.NewTime(dstest.Now.Add(-100*3600e9)))}, outcome{Step: "Manage Placement", Deletes: "n0/p0b Duplicate"}, "of one age the first by name is kept"},
		{"N/N", options{before("p0b", metav1.NewTime(dstest.Now.Add(-100*3600e9))), dstest.Edit(func(s *snapshot.Snapshot) { slices.Reverse(s.Pods) })}, outcome{Step: "Manage Placement", Deletes: "n0/p0b Duplicate"}, "in whatever order they are listed"},
		{"Nt/N", nil, outcome{Step: "None UpToDate"}, "a terminating pod is no duplicate"},
		{"!N/N", nil, outcome{Step: "Manage Placement", Deletes: "n0/p0b Duplicate"}, "duplicates go where pods may just stay, too"},

		// Surge.
		{"Nt", options{surge}, outcome{Step: "Manage Placement", Creates: "n0 Missing"}, "surge does not wait for a terminating pod"},
		{"nf", options{surge}, outcome{Step: "Manage Placement", Creates: "n0 Missing", Deletes: "n0/p0 FailedPod", Waits: "Backoff of n0" + backoff}, "nor for the backoff of a Failed one (#124388)"},
		{"ns", options{surge}, outcome{Step: "Manage Placement", Creates: "n0 Missing", Deletes: "n0/p0 SucceededPod"}, "nor for a Succeeded one to be gone"},
		{"!Nt", options{surge}, outcome{Step: "None UpToDate"}, "but only where the pod should run"},
		{"O/n", options{surge}, outcome{Step: "None BudgetSpent"}, "old and new stand side by side until the new one is available"},
		{"O/W", options{surge, dstest.MinReadySeconds(30)}, outcome{Step: "None BudgetSpent"}, "ready is not yet available"},
		{"O/N", options{surge}, outcome{Step: "Manage Placement", Deletes: "n0/p0 Superseded"}, "then the old one goes"},
		{"N/O", options{surge}, outcome{Step: "Manage Placement", Deletes: "n0/p0b Superseded"}, "also where it is the younger one"},
		{"o/n", options{surge}, outcome{Step: "Manage Placement", Deletes: "n0/p0 Superseded"}, "an old one that is not ready goes at once"},
		{"V/n", options{surge, dstest.MinReadySeconds(30)}, outcome{Step: "None BudgetSpent"}, "of the old one it is enough to be ready"},
		{"O/n/O/n", options{surge}, outcome{Step: "Manage Placement", Deletes: "n0/p0c Duplicate; n0/p0d Duplicate"}, "the oldest of each kind are kept"},
		{"O/O", options{surge}, outcome{Step: "Manage Placement", Deletes: "n0/p0b Duplicate"}, "two old pods are one too many"},
		{"n/N", options{surge}, outcome{Step: "Manage Placement", Deletes: "n0/p0b Duplicate"}, "and so are two new ones, whichever is available"},
		{"O/N", options{surge, dstest.AddRevision("twin", 3, ""), podHash("p0b", "twin")}, outcome{Step: "Manage Placement", Deletes: "n0/p0b Duplicate"}, "pods that this sync relabels are all new"},
		{"O/g", options{surge}, outcome{Step: "Manage Placement", Deletes: "n0/p0b Duplicate"}, "a pod that is new by its generation only is old here"},
		{"O/h", options{surge}, outcome{Step: "None BudgetSpent"}, "the hash alone tells"},
		{"O/N", options{surge, hashOfCurrent(""), unlabel("p0b")}, outcome{Step: "Manage Placement", Deletes: "n0/p0 Superseded"}, "with an empty current hash pods without the label are new here"},
		{"!O/N", options{surge}, outcome{Step: "Manage Placement", Deletes: "n0/p0 Superseded"}, "superseded pods go where pods may just stay, too"},
		{"O/N", options{surge, dstest.Version("v1.21.14")}, outcome{Step: "Manage Placement", Deletes: "n0/p0b Duplicate"}, "maxSurge was off in 1.21"},
		{"O/n", options{dstest.MaxSurge("1%")}, outcome{Step: "None BudgetSpent"}, "any percentage above 0 surges"},
		{"O/n", options{surge, onDelete}, outcome{Step: "Manage Placement", Deletes: "n0/p0b Duplicate"}, "OnDelete does not surge, whatever is left of its limits"},
		{"O/n", options{noLimits}, outcome{Step: "Manage Placement", Deletes: "n0/p0b Duplicate"}, "nor does a rolling update without any"},
		{"O/n", options{noSurge}, outcome{Step: "Manage Placement", Deletes: "n0/p0b Duplicate"}, "nor one with just the other limit"},

		// Vanished nodes.
		{"~np ~npt N", nil, outcome{Step: "Manage Placement", Deletes: "n0/p0 NodeMissing; n1/p1 NodeMissing"}, "pods that no node will ever take go, terminating ones once more"},
		{"~N N", nil, outcome{Step: "None UpToDate"}, "those bound to a vanished node are left to the garbage collector"},
	} {
		whys.run(t, tt.why, func(t *testing.T) { checkSync(t, tt.grid, tt.opts, tt.want) })
	}
}
