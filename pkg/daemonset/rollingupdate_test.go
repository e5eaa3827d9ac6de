package daemonset

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
)

func TestReplace(t *testing.T) {
	two := dstest.MaxUnavailable("2")
	minReady := dstest.MinReadySeconds(30)
	whys := whys{}
	for _, tt := range []struct {
		grid string
		opts options
		want outcome
		why  string
	}{
		{"O N N", nil, outcome{Step: "RollingUpdate Replacing", Deletes: "n0/p0 Budget"}, "the last candidate is certain"},
		{"O O O", nil, outcome{Step: "RollingUpdate Replacing", Deletes: "any 1 of n0/p0 n1/p1 n2/p2 Budget"}, "an unspent budget is spent on any node"},
		{"O O O O O", options{two}, outcome{Step: "RollingUpdate Replacing", Deletes: "any 2 of n0/p0 n1/p1 n2/p2 n3/p3 n4/p4 Budget"}, "as many as the budget has left"},
		{"O O", options{dstest.MaxUnavailable("5")}, outcome{Step: "RollingUpdate Replacing", Deletes: "n0/p0 Budget; n1/p1 Budget"}, "a large budget adds no nodes"},
		{"N N", options{two}, outcome{Step: "None UpToDate"}, "a finished rollout has nothing to do"},
		{"O n O", nil, outcome{Step: "None BudgetSpent"}, "a new pod that is not available holds the budget"},
		{"O W O", options{minReady}, outcome{Step: "None BudgetSpent"}, "ready is not yet available"},
		{"O N O", nil, outcome{Step: "RollingUpdate Replacing", Deletes: "any 1 of n0/p0 n2/p2 Budget"}, "an available new pod costs nothing"},
		{"n n O", nil, outcome{Step: "None BudgetSpent"}, "an overspent budget is zero, not negative"},
		{"o O", nil, outcome{Step: "RollingUpdate Replacing", Deletes: "n0/p0 Forced"}, "a broken old pod is free to delete, yet its node is down"},
		{"o o o", nil, outcome{Step: "RollingUpdate Replacing", Deletes: "n0/p0 Forced; n1/p1 Forced; n2/p2 Forced"}, "all broken old pods go at once, far over the budget"},
		{"V O", options{minReady}, outcome{Step: "RollingUpdate Replacing", Deletes: "n0/p0 Forced"}, "an old pod that is ready but not yet available is forced"},
		{"n o", nil, outcome{Step: "RollingUpdate Replacing", Deletes: "n1/p1 Forced"}, "forced deletes ask for no budget"},
		{"Ot O", nil, outcome{Step: "None BudgetSpent"}, "a node with only terminating pods holds the budget"},
		{"!Ot O O", nil, outcome{Step: "None BudgetSpent"}, "also one that should not run the pod any more (13.1)"},
		{"~Ot O", nil, outcome{Step: "None BudgetSpent"}, "also one that vanished (#117204)"},
		{"~O O", nil, outcome{Step: "RollingUpdate Replacing", Deletes: "any 1 of n0/p0 n1/p1 Budget"}, "a pod left on a vanished node is a candidate like any other"},
		{"~of O", nil, outcome{Step: "RollingUpdate Replacing", Deletes: "n0/p0 Forced"}, "a Failed one there is an unavailable pod"},
		{"~O/n O", nil, outcome{Step: "None BudgetSpent"}, "old and new on one node hold the budget"},
		{"~O/O O", nil, outcome{Step: "None BudgetSpent"}, "so do two old ones"},
		{"~O/n N", options{two}, outcome{Step: "None Waiting"}, "and keep their node out of it, even where the budget has room"},
		{"Ot/N N", nil, outcome{Step: "None UpToDate"}, "an old pod on its way out is no old pod"},
		{"!O N", nil, outcome{Step: "RollingUpdate Replacing", Deletes: "n0/p0 Budget"}, "an old pod is deleted where it will not come back"},
		{"nft/O N", nil, outcome{Step: "RollingUpdate Replacing", Deletes: "n0/p0b Budget"}, "a pod that is done and terminating counts for nothing"},
		{"Ot/N O", nil, outcome{Step: "RollingUpdate Replacing", Deletes: "n1/p1 Budget"}, "a terminating pod beside an available new one costs nothing"},
		{"G N", nil, outcome{Step: "None UpToDate"}, "a pod of the live template generation is up to date (1.24, #107241)"},
		{"G N", options{dstest.Version("v1.23.17")}, outcome{Step: "RollingUpdate Replacing", Deletes: "n0/p0 Budget"}, "up to 1.23 its hash alone tells"},
		{"H N", nil, outcome{Step: "None UpToDate"}, "a pod of the current hash is up to date whatever its generation"},
		{"Oa N", nil, outcome{Step: "RollingUpdate Replacing", Deletes: "n0/p0 Budget"}, "an adopted pod is replaced in the same sync"},
		{"O O O", options{dstest.OnDelete()}, outcome{Step: "None OnDelete"}, "OnDelete replaces nothing"},
		{"N N", options{dstest.OnDelete()}, outcome{Step: "None OnDelete"}, "also where nothing is old"},
		{"!-", options{dstest.MaxUnavailable("50%")}, outcome{Step: "None UpToDate"}, "no node, no budget, no trouble"},

		// 13.2.
		{"O O O O O", options{two}, outcome{Step: "RollingUpdate Replacing", Deletes: "any 2 of n0/p0 n1/p1 n2/p2 n3/p3 n4/p4 Budget"}, "13.2: five old available, two may go"},
		{"o o O O O", options{two}, outcome{Step: "RollingUpdate Replacing", Deletes: "n0/p0 Forced; n1/p1 Forced"}, "13.2: unavailable old pods spend the budget (1.31.0, #123233)"},
		{"o o O O O", options{two, dstest.Version("v1.30.5")}, outcome{Step: "RollingUpdate Replacing", Deletes: "n0/p0 Forced; n1/p1 Forced; any 2 of n2/p2 n3/p3 n4/p4 Budget"}, "13.2: before #123233 they did not"},
		{"n*88 o*2 O*10", options{dstest.MaxUnavailable("10")}, outcome{Step: "RollingUpdate Replacing", Deletes: "n88/p88 Forced; n89/p89 Forced"}, "13.2: a budget overspent by broken new pods"},
		{"n*88 o*2 O*10", options{dstest.MaxUnavailable("10"), dstest.Version("v1.30.5")}, outcome{Step: "RollingUpdate Replacing", Deletes: "n88/p88 Forced; n89/p89 Forced"}, "13.2: which is the same without #123233"},
	} {
		whys.run(t, tt.why, func(t *testing.T) { checkSync(t, tt.grid, tt.opts, tt.want) })
	}
}

func TestSurgeUpdate(t *testing.T) {
	one, two := dstest.MaxSurge("1"), dstest.MaxSurge("2")
	before := dstest.Version("v1.28.2") // of #119317
	generationOnly := func(pod string) dstest.Option {
		return dstest.Pod(pod, func(p *corev1.Pod) { p.Labels["controller-revision-hash"] = "form" })
	}
	whys := whys{}
	for _, tt := range []struct {
		grid string
		opts options
		want outcome
		why  string
	}{
		{"O O O", options{one}, outcome{Step: "RollingUpdate Replacing", Creates: "any 1 of n0 n1 n2 Surge"}, "a new pod beside any old one"},
		{"O N", options{two}, outcome{Step: "RollingUpdate Replacing", Creates: "n0 Surge"}, "the last candidate is certain"},
		{"o O O", options{one}, outcome{Step: "RollingUpdate Replacing", Creates: "n0 Forced; any 1 of n1 n2 Surge"}, "beside a broken old pod at once, and it costs no surge"},
		{"O/n O", options{one}, outcome{Step: "None BudgetSpent"}, "a node with both holds the surge until the new one is available"},
		{"O/n O O", options{two}, outcome{Step: "RollingUpdate Replacing", Creates: "any 1 of n1 n2 Surge"}, "the rest of the surge is spent"},
		{"O/n O/n O", options{one}, outcome{Step: "None BudgetSpent"}, "an overspent surge is zero, not negative"},
		{"~O/O O", options{one}, outcome{Step: "None BudgetSpent"}, "a node with two old pods holds the surge"},
		{"G/n O", options{one}, outcome{Step: "None BudgetSpent"}, "so does one with two that are up to date, one of them by hash"},
		{"n O", options{one}, outcome{Step: "RollingUpdate Replacing", Creates: "n1 Surge"}, "a new pod alone holds none, broken or not"},
		{"N N", options{one}, outcome{Step: "None UpToDate"}, "a finished rollout has nothing to do"},
		{"Ot/O N", options{one}, outcome{Step: "RollingUpdate Replacing", Creates: "n0 Surge"}, "a terminating pod is neither new nor old"},

		// Nodes that should not run the pod any more: #119317.
		{"!o O", options{one}, outcome{Step: "RollingUpdate Replacing", Creates: "n1 Surge", Deletes: "n0/p0 NoLongerEligible"}, "a broken old pod goes from a node that should not run it"},
		{"!O O", options{one}, outcome{Step: "RollingUpdate Replacing", Creates: "n1 Surge", Deletes: "n0/p0 Sunset"}, "an available one goes as far as more are available than desired"},
		{"!O o", options{one}, outcome{Step: "RollingUpdate Replacing", Creates: "n1 Forced"}, "and stays while it is needed"},
		{"!O n", options{one}, outcome{Step: "None Waiting"}, "which is not for want of budget"},
		{"!O !O O", options{one}, outcome{Step: "RollingUpdate Replacing", Creates: "n2 Surge", Deletes: "n0/p0 Sunset; n1/p1 Sunset"}, "all of them if there are enough others"},
		{"!O !O o", options{one}, outcome{Step: "RollingUpdate Replacing", Creates: "n2 Forced", Deletes: "any 1 of n0/p0 n1/p1 Sunset"}, "or any of them"},
		{"!O/n O", options{one}, outcome{Step: "None BudgetSpent"}, "with both, the old one counts as available"},
		{"!N O", options{one}, outcome{Step: "RollingUpdate Replacing", Creates: "n1 Surge"}, "a new pod stays where it may"},
		{"!N !O O", options{one}, outcome{Step: "RollingUpdate Replacing", Creates: "n2 Surge", Deletes: "n1/p1 Sunset"}, "and counts as available as long as it does"},
		{"!n !O o", options{one}, outcome{Step: "RollingUpdate Replacing", Creates: "n2 Forced"}, "unless it is not"},
		{"!O o", options{one, before}, outcome{Step: "RollingUpdate Replacing", Creates: "n0 Surge; n1 Forced"}, "before #119317 such a node is surged onto"},
		{"!o N", options{one, before}, outcome{Step: "RollingUpdate Replacing", Creates: "n0 Forced"}, "before #119317 a broken old pod there gets a new one beside it"},

		// Vanished nodes.
		{"~O O", options{one}, outcome{Step: "None StepFails", Error: "VanishedNodeInSurge n0/p0"}, "an old pod alone on a vanished node makes the step fail"},
		{"~o O", options{one}, outcome{Step: "None StepFails", Error: "VanishedNodeInSurge n0/p0"}, "whether it is available or not"},
		{"~O o !o ~O", options{one}, outcome{Step: "None StepFails", Error: "VanishedNodeInSurge n0/p0"}, "and nothing else is done meanwhile"},
		{"~Ot O", options{one}, outcome{Step: "RollingUpdate Replacing", Creates: "n1 Surge"}, "one that is terminating does not"},
		{"~N O", options{one}, outcome{Step: "RollingUpdate Replacing", Creates: "n1 Surge"}, "nor a new one"},
		{"~O/n O", options{two}, outcome{Step: "RollingUpdate Replacing", Creates: "n1 Surge"}, "nor old and new"},
		{"~O/N N", options{one}, outcome{Step: "RollingUpdate Replacing", Deletes: "n0/p0 Superseded"}, "of which the old one goes when the new one is available"},
		{"~o/N !O n", options{one}, outcome{Step: "RollingUpdate Replacing", Deletes: "n0/p0 Superseded"}, "and as long as both are there, the old one reports whether the node counts as available"},
		{"~O/O O", options{two}, outcome{Step: "RollingUpdate Replacing", Creates: "n1 Surge"}, "nor two old ones"},
		{"~O N", options{one, before}, outcome{Step: "RollingUpdate Replacing", Creates: "n0 Surge"}, "before #119317 a pod is created for the vanished node"},
		{"~o N", options{one, before}, outcome{Step: "RollingUpdate Replacing", Creates: "n0 Forced"}, "before #119317 always, if the old one is broken"},
		{"O N", options{one, generationOnly("p0"), dstest.Pod("p0", func(p *corev1.Pod) { p.Labels["pod-template-generation"] = dstest.NewGeneration })}, outcome{Step: "None UpToDate"}, "a pod of the live generation is not surged beside"},
	} {
		whys.run(t, tt.why, func(t *testing.T) { checkSync(t, tt.grid, tt.opts, tt.want) })
	}
}

func TestReplaceLegacy(t *testing.T) {
	whys := whys{}
	for _, tt := range []struct {
		grid string
		opts options
		want outcome
		why  string
	}{
		{"O O O", nil, outcome{Step: "RollingUpdate Replacing", Deletes: "any 1 of n0/p0 n1/p1 n2/p2 Budget"}, "an unspent budget is spent on any old pod"},
		{"o O O", nil, outcome{Step: "RollingUpdate Replacing", Deletes: "n0/p0 Forced"}, "a broken old pod is forced, and its node is down"},
		{"n O", nil, outcome{Step: "None BudgetSpent"}, "a broken new pod holds the budget"},
		{"N O", nil, outcome{Step: "RollingUpdate Replacing", Deletes: "n1/p1 Budget"}, "an available new pod does not"},
		{"!Ot O", nil, outcome{Step: "RollingUpdate Replacing", Deletes: "any 1 of n0/p0 n1/p1 Budget"}, "a node that should not run the pod holds nothing, and a ready terminating pod may be deleted again (5.4)"},
		{"!ot O", nil, outcome{Step: "RollingUpdate Replacing", Deletes: "n1/p1 Budget"}, "a terminating pod that is not ready is left alone"},
		{"Ot O", nil, outcome{Step: "None BudgetSpent"}, "a node that should run the pod and has a terminating one only is down"},
		{"~O/O N", nil, outcome{Step: "RollingUpdate Replacing", Deletes: "any 1 of n0/p0 n0/p0b Budget"}, "duplicates are not left out"},
		{"G N", nil, outcome{Step: "RollingUpdate Replacing", Deletes: "n0/p0 Budget"}, "the generation does not count yet"},
		{"O O", options{dstest.MaxUnavailable("0")}, outcome{Step: "None BudgetSpent"}, "a budget of nothing is nothing: there is no fallback"},
		{"O O", options{dstest.MaxSurge("1"), dstest.MaxUnavailable("1")}, outcome{Step: "RollingUpdate Replacing", Deletes: "any 1 of n0/p0 n1/p1 Budget"}, "maxSurge is not known yet"},
	} {
		whys.run(t, tt.why, func(t *testing.T) {
			checkSync(t, tt.grid, append(tt.opts, dstest.Version("v1.20.15")), tt.want)
		})
	}
}

// TestFailingBudget tests budgets that the API rejects but a file can hold.
func TestFailingBudget(t *testing.T) {
	bad := intstr.FromString("many")
	limits := func(maxUnavailable, maxSurge *intstr.IntOrString) dstest.Option {
		return dstest.DaemonSet(func(ds *appsv1.DaemonSet) {
			ds.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: maxUnavailable, MaxSurge: maxSurge}
		})
	}
	one := intstr.FromInt32(1)
	whys := whys{}
	for _, tt := range []struct {
		grid string
		opts options
		want outcome
		why  string
	}{
		{"O", options{limits(&bad, nil)}, outcome{Step: "None StepFails", Error: `InvalidBudget / spec.updateStrategy.rollingUpdate.maxUnavailable: "many"`}, "a maxUnavailable that is neither number nor percentage fails the step"},
		{"O", options{limits(&one, &bad)}, outcome{Step: "None StepFails", Error: `InvalidBudget / spec.updateStrategy.rollingUpdate.maxSurge: "many"`}, "and so does such a maxSurge"},
		{"-", options{limits(&bad, nil)}, outcome{Step: "Manage Placement", Creates: "n0 Missing"}, "manage does not ask for it"},
		{"O/N", options{limits(&one, &bad)}, outcome{Step: "Manage Placement", Deletes: "n0/p0b Duplicate"}, "and takes a broken maxSurge for none"},
	} {
		whys.run(t, tt.why, func(t *testing.T) { checkSync(t, tt.grid, tt.opts, tt.want) })
	}
}
