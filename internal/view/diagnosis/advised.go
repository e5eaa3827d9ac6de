package diagnosis

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause/eligible"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/explain"
	"github.com/kubectl-ds/kubectl-ds/pkg/remedy"
)

// Advices has the sentences for each piece of advice: what to look at first, if a read-only command shows it; what to
// do; and what not to do because it does harm or does not help.
var Advices = map[explain.AdviceCode]struct{ Look, Act, dont func(*advised) string }{
	explain.AdviseWait:       {Act: (*advised).wait},
	explain.AdviseDeletePods: {Act: (*advised).deletePods},
	explain.AdviseRollBack:   {Look: (*advised).readLogsFirst, Act: (*advised).rollBack},
	explain.AdviseWaitForImage: {
		Act: advise("wait: the image is being pulled, and how long that takes depends on its size and the registry"),
	},
	explain.AdviseReadLogs:        {Look: advise("read the logs before you change anything")},
	explain.AdviseImage:           {Look: (*advised).whyNoImage},
	explain.AdviseMemory:          {Look: advise("find out how much memory the program needs")},
	explain.AdvisePublishImage:    {Look: (*advised).isImageBuilt, Act: (*advised).publishImage},
	explain.AdviseCompareNodes:    {Look: (*advised).compareNodes},
	explain.AdviseExcludeNodes:    {Act: (*advised).excludeNodes},
	explain.AdviseCorrectTemplate: {Act: (*advised).correctTemplate},
	explain.AdviseInjector:        {Look: (*advised).findInjector, Act: (*advised).askInjector},
	explain.AdviseFreeNode:        {Look: (*advised).whatUses},
	explain.AdviseReadEvents:      {Look: (*advised).readEvents},
	explain.AdviseConfig:          {Act: advise("create what the message names, or correct the template")},
	explain.AdviseAwaitNodes:      {Act: (*advised).awaitNodes, dont: (*advised).noRollback},
	explain.AdviseRepairNodes: {
		Look: (*advised).whatNodesReport, Act: (*advised).repairNodes, dont: (*advised).noRollback,
	},
	explain.AdviseLookAhead: {Act: (*advised).lookAhead},
	explain.AdviseMakeRoom:  {Act: (*advised).makeRoom},
	explain.AdviseFreePort:  {Look: (*advised).findPortUser, Act: (*advised).freePort},
	explain.AdviseAskOwner:  {Look: (*advised).lookAtPolicy, Act: (*advised).askOwner},
	explain.AdviseControlPlane: {
		Look: advise("find out whether kube-controller-manager runs; the DaemonSet needs no change"),
	},
	explain.AdviseRefresh: {
		Act: advise("write an annotation of the DaemonSet: the controller then looks at it again"),
	},
	explain.AdviseStrategy: {Act: (*advised).changeStrategy},
	explain.AdviseRepairBeforeRollout: {
		Look: (*advised).whatStrandedReport, Act: (*advised).repairFirst, dont: (*advised).noRollout,
	},
	explain.AdviseTolerate:      {Act: (*advised).tolerate},
	explain.AdviseCompareLabels: {Look: (*advised).compareLabels, Act: (*advised).correctSelection},
}

// advised is a piece of advice with the context of its sentences.
type advised struct {
	wording.Known // the facts of its first problem
	a             *Answer
	explain.Advice
	all     []explain.Advice
	problem daemonset.Reason // its first problem
	p       *explain.Problem // nil if the problem no longer exists
}

// Advised returns d with the facts of its first problem. all contains all advice of the answer.
func (a *Answer) Advised(d explain.Advice, all []explain.Advice) *advised {
	of := &advised{Known: wording.Known{Now: a.Now}, a: a, Advice: d, all: all}
	if len(d.Problems) > 0 {
		of.problem = d.Problems[0]
		of.p = a.E.Has(of.problem)
	}
	if of.p != nil {
		of.Known.Facts = of.p.Facts
	}
	return of
}

// Said returns the sentence, or "" if sentence is nil.
func (d *advised) Said(sentence func(*advised) string) string {
	if sentence == nil {
		return ""
	}
	return sentence(d)
}

// advise returns a sentence that needs no facts.
func advise(words string) func(*advised) string { return func(*advised) string { return words } }

// on returns one if the advice is about one node, and many otherwise.
func (d *advised) on(one, many string) string { return wording.PluralOf(len(d.Nodes), one, many) }

// where names the node, or refers to the nodes if the screen already names them.
func (d *advised) where() string {
	switch {
	case len(d.Nodes) > 1:
		return "these nodes"
	case len(d.Nodes) == 1 && (len(d.all) > 1 || len(d.a.namedNodes) == 1):
		return "the node"
	}
	return wording.SomeNames(d.Nodes)
}

// current returns the name of the current revision.
func (d *advised) current() string { return "revision " + strconv.FormatInt(d.a.Current(), 10) }

// source says that the template must be changed in the source of a tool. It returns "" if no tool reverts manual
// changes.
func (d *advised) source() string {
	if by := d.a.E.ManagedBy; len(by) > 0 && by[0].Tool.Reverts() {
		who, _ := sheet.ManagerWords(by[0])
		return " in the source of " + who + ", not by hand"
	}
	return ""
}

// back returns the instruction to roll back.
func (d *advised) back() string { return "roll back" + d.source() }

// undoes returns how many pods the rollback among the fixes replaces, and how many of them work.
func (d *advised) undoes() (replaced, works int) {
	undo := d.a.E.Fix(remedy.RollBack)
	if undo == nil {
		return 0, d.a.Works()
	}
	replaced, works, _ = d.a.E.Undoes(undo)
	return replaced, works
}

// subject returns the kind and the name of the object that the pods fail on, if the fault is known.
func (d *advised) subject() (kind cause.SubjectKind, name string) {
	if d.p == nil || d.p.Blame == nil {
		return "", ""
	}
	return d.p.Subject.Kind, screen.Clean(d.p.Subject.Name)
}

// platform returns the platform for which the image has no build. It returns "" for other problems.
func (d *advised) platform() string {
	switch {
	case d.p == nil:
		return ""
	case d.p.Common != nil:
		return screen.Clean(d.p.Common.Properties[0].Value)
	case d.p.NotBuilt():
		return d.Text("platform")
	}
	return ""
}

// notBuilt reports whether a message says that the image is not built for the nodes.
func (d *advised) notBuilt() bool { return d.p != nil && d.p.NotBuilt() }

// messageNamesCause reports whether a message names the common property of the nodes.
func (d *advised) messageNamesCause() bool { return d.p != nil && d.p.Common != nil && d.p.Common.Told }

func (d *advised) wait() string {
	if d.problem == daemonset.NodeGone {
		return "nothing: the pod garbage collector removes the rest"
	}
	return "nothing: the rollout continues"
}

func (d *advised) deletePods() string {
	_, works := d.undoes()
	switch fails := cause.OfContainer(d.problem); {
	case d.problem == daemonset.VanishedNodeInSurge:
		return "delete the pod of the deleted node"
	case fails && works == 0:
		return "nothing shows that " + d.current() + " fails"
	case fails:
		return d.current() + " works"
	}
	return "nothing is urgent; when convenient:"
}

func (d *advised) readLogsFirst() string {
	replaced, _ := d.undoes()
	if d.p == nil {
		return ""
	}
	switch explain.LookInto(d.p) {
	case cause.LookLogs, cause.LookLastLogs:
		return "read the logs while the " + wording.PluralOf(replaced, "pod exists", "pods exist")
	}
	return ""
}

func (d *advised) rollBack() string {
	replaced, works := d.undoes()
	switch {
	case d.problem == cause.NoEligibleNode:
		return d.back() + ", or correct " + wording.Phrase("the ", d.Text("fields"), " of ") + "the template"
	case works == 0:
		return d.back() + "; this replaces only the " + wording.PluralOf(replaced, "failing pod", "failing pods")
	}
	return d.back()
}

func (d *advised) whyNoImage() string {
	return "find out why " + d.on("this node", "these nodes") + " cannot pull the image"
}

func (d *advised) isImageBuilt() string {
	if d.notBuilt() || d.messageNamesCause() {
		return ""
	}
	return wording.Phrase("find out whether the image is built for ", d.platform(), " before you change anything")
}

func (d *advised) publishImage() string {
	without := "keep the pod off " + d.on("this node", "these nodes")
	switch {
	case d.notBuilt():
		return "use an image that has a build for " + d.platform() + ", or have this one published for it"
	case !d.messageNamesCause():
		return ""
	case d.a.E.Fix(remedy.RollBack) != nil && d.a.E.Fixes()[0].Code == remedy.RollBack:
		return d.back() + "; later publish the image for " + d.platform() + ", or " + without
	}
	return "publish the image for " + d.platform() +
		wording.Either(d.a.E.Fix(remedy.ExcludeNodes) != nil, ", or "+without+" (Fix)", "")
}

func (d *advised) compareNodes() string {
	return "find out what the program does not cope with on " + d.on("this node", "these nodes") +
		" before you change anything"
}

func (d *advised) excludeNodes() string {
	const too = " too, by its nodeSelector"
	switch d.problem {
	case cause.NextRolloutStalls:
		return "nothing now; before the next rollout, exclude " + d.where() + " in the template" + too
	case cause.ExcludedButCounted:
		return "exclude " + d.on("this node", "these nodes") + " in the template" + too
	}
	return "keep the pod off " + d.on("this node", "these nodes")
}

func (d *advised) correctTemplate() string {
	path := d.Text("hostPath")
	should := "find out whether the " + d.on("node", "nodes") + " should have " + path + ": if not, "
	keepOff := "keep the pod off " + d.on("it", "them")
	switch pulls := d.p != nil && d.problem == cause.ImagePullBackOff; {
	case path != "" && d.Text("hostPathType") == "":
		return should + "mount the path that " + d.on("it has", "they have") + ", or " + keepOff
	case pulls && d.Is("reason", "ErrImageNeverPull"):
		return "load the image onto " + d.where() + ", or change the imagePullPolicy or the image in the template"
	case pulls && !d.notBuilt() && d.Text("image") != "":
		return "correct the image in the template, or publish " + d.Text("image") +
			": the pods then start automatically"
	case path != "":
		return should + keepOff + ", or use a version of the program that does not need it " +
			"(another type of hostPath would only hide that it is missing)"
	}
	return "correct the template (Fault)"
}

// byNamespace reports whether the namespace adds a nodeSelector to pods, or did so before.
func (d *advised) byNamespace() bool { return d.Text("again") != "" || d.Text("annotation") != "" }

func (d *advised) findInjector() string {
	switch added := d.Text("added"); {
	case d.Text("templateImage") != "", added != "" && d.byNamespace():
		return ""
	case added != "":
		return "find out who adds the nodeSelector " + added + " to the " + d.on("pod", "pods") +
			", such as an admission webhook"
	}
	return wording.Phrase("read the logs of container ", d.injected())
}

// injected returns the name of a container that the template does not have.
func (d *advised) injected() (name string) {
	for i := range d.a.E.Problems {
		if s := d.a.E.Problems[i].Subject; s.Kind == cause.SubjectInjected {
			name = screen.Clean(s.Name)
		}
	}
	return name
}

func (d *advised) askInjector() string {
	switch image, added := d.Text("templateImage"), d.Text("added"); {
	case image != "":
		return "find out who rewrites the images of pods, such as a webhook of an image cache, and whether it has " +
			d.Text("image") +
			" for " + d.where() + ": the template names " + image
	case added != "" && d.byNamespace():
		return wording.Either(d.Is("again", "false"), "a new pod does not get the nodeSelector", "")
	case added != "":
		return "if the pod is for those nodes only, add it to the template as well: " +
			"the other nodes are then not eligible"
	}
	return "ask whoever adds the container to the pods"
}

func (d *advised) whatUses() string {
	pressure := ""
	if d.p != nil && d.p.Subject.Kind == cause.SubjectNodeCondition {
		pressure = d.p.Subject.Name
	}
	switch corev1.NodeConditionType(pressure) {
	case corev1.NodeDiskPressure:
		if len(d.Nodes) == 1 {
			return "see how full its file systems are, and how much each pod uses"
		}
		return wording.Phrase("see what uses the disk of ", d.where())
	case corev1.NodePIDPressure:
		return wording.Phrase("see which pods run most processes on ", d.where())
	}
	return wording.Phrase("see what uses the memory of ", d.where())
}

func (d *advised) readEvents() string {
	return "look at the state and the events of " + d.on("the pod", "a pod") + " before you change anything"
}

func (d *advised) awaitNodes() string {
	ask := cmp.Or(d.Text("setBy"), "whoever set "+d.Text("purpose")+" there")
	return "wait until " + d.where() + d.on(" is", " are") + " back, or ask " + ask + ": " + d.on("it is", "they are") +
		" likely down on purpose (Fault)"
}

func (d *advised) whatNodesReport() string {
	if d.a.E.Verdict.Code == explain.BeingDeleted {
		return ""
	}
	return d.whatTheyReport()
}

// whatTheyReport returns the instruction to look at what the nodes report.
func (d *advised) whatTheyReport() string {
	return wording.Phrase("see what ", d.where(), d.on(" reports", " report"))
}

func (d *advised) repairNodes() string {
	then, it := d.spreadWarning(), d.on("it", "them")
	switch {
	case d.a.E.Verdict.Code == explain.BeingDeleted:
		return "repair " + d.where() + ", or delete the " + d.on("node if it never comes", "nodes if they never come") +
			" back: the deletion waits for the " + d.on("pod", "pods") + " there"
	case d.Yes("cordoned") && then == "":
		return "ask whoever cordoned " + d.where() + " whether " + d.on("it is", "they are") +
			" down on purpose; if not, repair " + it
	case then != "":
		return "ask the team that runs " + d.where() + " to repair " + it + "; " + then
	}
	return "repair " + d.where() + ", or contact the team that manages " + it
}

// spreadWarning warns that nodes that come back get a pod of the failing revision. It returns "" if that does not
// apply.
func (d *advised) spreadWarning() string {
	var after []int // the numbers of the problems that come first
	for n, other := range d.all {
		if len(other.Problems) > 0 && slices.Contains(d.After, other.Problems[0]) {
			after = append(after, n+1)
		}
	}
	if len(after) == 0 || d.a.Current() == 0 {
		return ""
	}
	first, last := strconv.Itoa(after[0]), strconv.Itoa(after[len(after)-1])
	are := " to " + last + " are solved"
	switch after[len(after)-1] - after[0] {
	case 0:
		are = " is solved"
	case 1:
		are = " and " + last + " are solved"
	}
	return "a node that comes back before " + first + are + " gets a pod of " + d.current()
}

func (d *advised) noRollback() string {
	return d.a.NoRollback()
}

// NoRollback returns why a rollback does not help, or "" if it may help.
func (a *Answer) NoRollback() string {
	switch {
	case !a.E.RollbackInVain():
		return ""
	case a.unused():
		return fmt.Sprintf("roll back: no pod runs revision %d yet", a.Current())
	}
	return "roll back: the rollback would wait for the same " +
		wording.PluralOf(len(a.E.Advice[0].Nodes), "node", "nodes")
}

// unused reports whether the current revision has no pods, including those on NotReady nodes.
func (a *Answer) unused() bool {
	current := a.E.Current()
	return current != nil && current.Pods+current.Terminating == 0
}

func (d *advised) lookAhead() string {
	switch {
	case d.a.InPlan && !d.a.GoesBack:
		return "it will stop: correct what the headline names"
	case d.a.InPlan:
		return d.back() + " before the controller takes the next step"
	}
	return "it will stop: see why" + wording.Either(d.a.Asked.Again, " (Preview)", "") + ", and correct that"
}

func (d *advised) makeRoom() string { return wording.Phrase("make room for the pod on ", d.where()) }

// portOwner returns the pod that uses a host port, or "" if it differs between the nodes.
func (d *advised) portOwner() string {
	if d.p == nil || d.Text("ports") == "" || len(d.Nodes) != len(d.p.Nodes) {
		return ""
	}
	return d.Text("owner")
}

func (d *advised) findPortUser() string {
	if d.portOwner() != "" || d.Text("holder") != "" {
		return ""
	}
	return wording.Phrase("find the pod that uses the host port on ", d.where())
}

func (d *advised) freePort() string {
	owner := cmp.Or(wording.Phrase("pod ", d.portOwner()), d.Text("holder"))
	port := wording.PluralOf(d.Count("ports"), "port ", "ports ")
	return wording.Phrase("ask the owner of ", owner, " to free host ", port, d.Text("ports"), " on ", d.where())
}

func (d *advised) lookAtPolicy() string {
	kind, name := d.subject()
	service := d.Text("service")
	switch {
	case kind == cause.SubjectQuota:
		return wording.Phrase(`see what uses ResourceQuota "`, name, `"`)
	case kind == cause.SubjectWebhook:
		return wording.Either(service != "", "check whether the Service of the webhook has ready endpoints", "")
	}
	return ""
}

func (d *advised) askOwner() string {
	kind, name := d.subject()
	namespace := screen.Clean(d.a.Header.DaemonSet.Namespace)
	first := d.first()
	switch {
	case kind == cause.SubjectQuota:
		return d.raiseQuota(name)
	case kind == cause.SubjectWebhook && d.Text("service") != "":
		ask := "if it cannot have any, ask the owner of the webhook to exempt namespace " + namespace
		return ask + wording.Either(d.Yes("noNetwork"),
			", or to set its failurePolicy to Ignore until the pods run; pods are then "+
				"created without what the webhook adds or checks. This shows its configuration (read-only):", "")
	case kind == cause.SubjectWebhook && d.Yes("uncalled"):
		return "ask the owner of admission webhook " + name +
			" why it does not respond: until it does, the API server rejects the pods"
	case kind == cause.SubjectWebhook:
		return "ask the owner of admission webhook " + name
	case kind == cause.SubjectPodSecurityPolicy:
		return "let ServiceAccount " + name +
			" use a PodSecurityPolicy that allows what the message names, or use a ServiceAccount that may"
	case kind == cause.SubjectSCC:
		return "ask a cluster administrator to grant ServiceAccount " + name + " an SCC that allows these pods"
	case first != "":
		return first
	case kind == cause.SubjectPolicy:
		return "ask the owner of namespace " + namespace + " to allow pods that violate " + name +
			", or change the template"
	}
	return "read the message: it says what the pod violates"
}

// first returns what to do so that the API server admits a pod, or "" if that is unknown.
func (d *advised) first() string {
	r := d.a.refusal(d.p)
	if r == nil {
		return ""
	}
	runs := d.a.Works() > 0
	words := admissionStep(r, d.a.Header.DaemonSet.Namespace, runs)
	if words != "" && runs && r.Reason != admission.QuotaExceeded {
		words += "; until then restart and drain nothing"
	}
	return words
}

func (d *advised) raiseQuota(name string) string {
	switch {
	case d.a.E.Fix(remedy.RaiseQuota) != nil: // the fix says this
		return ""
	case name == "":
		return "create a ResourceQuota that admits this PriorityClass, or use another PriorityClass"
	}
	return `ask the team that manages ResourceQuota "` + name + `" to raise it; the DaemonSet needs no change`
}

func (d *advised) changeStrategy() string {
	if d.problem == daemonset.InvalidBudget {
		return "set " + d.Text("field") + " to a number or a percentage"
	}
	return "change the update strategy"
}

func (d *advised) whatStrandedReport() string {
	return wording.Either(d.problem == cause.Misscheduled, d.whatTheyReport(), "")
}

func (d *advised) repairFirst() string {
	if d.problem == cause.Misscheduled {
		return "repair " + d.where() + ", or contact the team that manages " + d.on("it", "them")
	}
	return "nothing now; start no rollout before " + cmp.Or(wording.Phrase(d.where(), d.on(" is", " are")), "this is") +
		" repaired"
}

func (d *advised) noRollout() string {
	if d.problem != cause.Misscheduled {
		return ""
	}
	return "start a rollout until " + d.where() + d.on(" is", " are") + " Ready: it would delete the " +
		d.on("pod", "pods") +
		" there, and create none"
}

func (d *advised) tolerate() string {
	where, pods := d.where(), d.on("its pod", "their pods")
	switch {
	case d.problem == cause.NoEligibleNode:
		return "if " + where + " should run the pod, add a toleration for " + d.Text("taints") + " to the template" +
			d.source()
	case d.Is("strandedBy", "Next"):
		return "nothing is urgent; if " + where + " must keep " + pods +
			", add a toleration with the next change to the template"
	}
	return "if " + where + " must keep " + pods + ", add a toleration now"
}

// selector returns the field of the template that selects nodes.
func (d *advised) selector() string {
	return wording.Either(d.Is("excludedBy", eligible.ExcludedByAffinity), "affinity", "nodeSelector")
}

func (d *advised) compareLabels() string {
	n := d.Count("labels")
	switch {
	case n == 0:
		return "if nodes should run the pod, compare their labels with the " + d.selector() + " of the template"
	case n == 1:
		return "if nodes should run the pod, find out what sets that label on nodes, and why no node has it"
	}
	return "if nodes should run the pod, find out what sets these labels on nodes, and why no node has " +
		wording.Either(d.Is("excludedBy", eligible.ExcludedByAffinity), "any of them", "them")
}

func (d *advised) correctSelection() string {
	if d.Count("labels") == 0 {
		return ""
	}
	return "correct the " + d.selector() + " in the template" + d.source() + ", if it is wrong"
}
