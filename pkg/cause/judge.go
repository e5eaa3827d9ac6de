package cause

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/fit"
	"github.com/kubectl-ds/kubectl-ds/pkg/refer"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// BlameOf returns who is to blame for a problem, or nil if the problem is not about a step in the life of a pod.
//
// WhoChange requires that the current revision changed a field that the failing step reads, and that no pod with an
// equal template in these fields passes the step.
func (cs *Causes) BlameOf(p *Problem) *Blame {
	stage := StageOf(p.Code)
	if stage == StageNone || p.Code == PullingImage { // it is not a failure
		return nil
	}
	j := cs.newJudgement(p)
	b := j.verdict(stage)
	b.Touched, b.NotChange, b.Same, b.Other = j.touched, j.acquitted(), j.same, j.other
	if b.Touched == nil {
		b.Touched = []template.Path{}
	}
	if b.Who == WhoChange {
		b.Revision = cs.current()
	}
	cs.Date(p, b)
	return b
}

// judgement is the evidence for a Blame.
type judgement struct {
	cs          *Causes
	p           *Problem
	c           *Cause
	began       time.Time       // when the first failing pod was created, or the failure began
	old         string          // the revision of the failing pods; empty if it is the current one
	rolling     bool            // pods of an older revision run, and the failing pods are of the current one
	fresh       bool            // the failing pods are of the current revision
	known       bool            // the difference between the two revisions is known
	before      string          // the revision of most old pods
	touched     []template.Path // the fields that the change touched and the step reads
	same, other Controls
}

func (cs *Causes) newJudgement(p *Problem) *judgement {
	j := &judgement{cs: cs, p: p, c: &Cause{Code: p.Code, Facts: p.Facts}, before: cs.before()}
	revision, updated := "", true
	for _, n := range p.Nodes {
		node := cs.st.Node(n)
		if node == nil {
			continue
		}
		pod := relevantPod(node)
		if pod == nil {
			continue
		}
		if made := pod.Object.CreationTimestamp.Time; j.began.IsZero() || made.Before(j.began) {
			j.began = made
		}
		if !pod.Updated && p.Code != DoesNotFit && p.Code != FailedCreate { // these are about the next pod
			revision, updated = pod.Revision, false
		}
	}
	if j.began.IsZero() && p.Since != nil {
		j.began = *p.Since
	}
	j.old, j.fresh = revision, updated
	if j.rolling = j.before != "" && updated; j.rolling {
		j.touched, j.known = cs.touched(j.c, j.before, "")
	}
	j.same, j.other = cs.controls(j.c, map[bool]string{false: revision}[updated], j.began, p.Nodes)
	return j
}

// acquitted reports whether the change touched no field that the step reads.
func (j *judgement) acquitted() bool { return j.rolling && j.known && len(j.touched) == 0 }

// suspect reports whether the change touched, or may have touched, a field that the step reads, and no pod that is
// equal in these fields passes the step.
func (j *judgement) suspect() bool {
	return j.rolling && (!j.known || len(j.touched) > 0) && j.same.Since == 0
}

// adds reports whether the change touched a field that the step reads.
func (j *judgement) adds() bool { return j.rolling && j.known && len(j.touched) > 0 }

// controls counts the pods that equal the failing ones in the fields that the step reads, and those that differ. It
// skips pods on the given nodes. revision is the revision of the failing pods.
func (cs *Causes) controls(c *Cause, revision string, began time.Time, nodes []string) (same, other Controls) {
	lasts, on := StageOf(c.Code).lasts(), map[string]bool{}
	for _, n := range nodes {
		on[n] = true
	}
	for i := range cs.st.Nodes {
		n := &cs.st.Nodes[i]
		if on[n.Name] || len(n.Pods) == 0 || n.Object == nil || Down(n, cs.at) != nil {
			continue
		}
		fails := cs.nodes[n.Name]
		for k := range n.Pods {
			p := &n.Pods[k]
			of, known := cs.revisionOf(p.Updated, p.Revision)
			if p.Terminating || !known {
				continue
			}
			paths, known := cs.touched(c, of, revision)
			to := &same
			switch {
			case !known && of != revision, len(paths) > 0:
				to = &other
			}
			switch {
			case fails != nil && fails.Pod == p.Name && fails.Code == c.Code && fails.Severity == SeverityError:
				to.Fails++
			case !p.Ready:
			case lasts, !p.Object.CreationTimestamp.Time.Before(began):
				to.Since++
			default:
				to.Before++
			}
		}
	}
	return same, other
}

// number returns the number of a revision; 0 if it is unknown.
func (cs *Causes) number(name string) int64 {
	for _, r := range cs.st.History.Revisions {
		if r.Name == name {
			return r.Number
		}
	}
	return 0
}

// current returns the number of the current revision; 0 if it is unknown.
func (cs *Causes) current() (number int64) {
	for _, r := range cs.st.History.Revisions {
		if slices.Contains(cs.st.History.Current, r.Name) {
			number = max(number, r.Number)
		}
	}
	return number
}

// verdict returns who is to blame, and how certain that is.
func (j *judgement) verdict(stage Stage) *Blame {
	is := func(w Who, c Certainty) *Blame { return &Blame{Who: w, Certainty: c} }
	switch s := &j.p.Subject; {
	case j.p.Code == Terminating && j.p.Facts["finalizers"] != nil:
		return is(WhoUnknown, Unsure)
	case j.p.Code == Terminating && j.p.Facts["message"] != nil: // the kubelet reports that it cannot terminate the pod
		return is(WhoNode, Certain)
	case j.p.Code == Terminating:
		return is(WhoNode, Likely)
	case j.p.Code == VirtualNode:
		return is(WhoNodeProperty, Certain)
	case stage == StageNode && j.p.Code != PodOSNotSupported:
		return is(WhoNode, Certain)
	case s.Kind == SubjectInjected, j.p.Facts["added"] != nil, j.p.Facts["templateImage"] != nil:
		return is(WhoInjection, Certain)
	case s.Kind == SubjectReference && stage != StageAdmitted:
		return j.ofReference()
	case j.p.Common != nil && OfContainer(j.p.Code):
		return is(WhoNodeProperty, certainty(j.p.Common))
	case notBuilt(j.p) && j.same.Before+j.same.Since == 0:
		return j.ofPlatform()
	}
	switch stage {
	case StageNode: // the operating system
		if j.rolling && (!j.known || len(j.touched) > 0) {
			return is(WhoChange, Certain)
		}
		return is(WhoTemplate, Certain)
	case StageAdmitted:
		return j.ofAdmission()
	case StageScheduled:
		return j.ofScheduling()
	case StageStays:
		return j.ofEviction()
	case StageNetwork:
		return j.ofNetwork()
	case StageVolumes:
		return j.ofVolumes()
	case StageImage:
		return j.ofImage()
	case StageStarted:
		if j.p.Facts.Yes("noHostPath") {
			return j.ofVolumes()
		}
	}
	if j.p.Code == daemonset.NotReady && j.p.Facts["conditions"] != nil {
		if j.adds() {
			return is(WhoChange, Certain)
		}
		return is(WhoUnknown, Unsure)
	}
	if b := j.byCounting(); b.Who == WhoUnknown && j.p.Facts["nodeReports"] != nil {
		return is(WhoNode, Likely)
	}
	if b := j.byCounting(); b.Who != WhoUnknown || j.p.Code != OOMKilled || j.p.Facts["limited"] != false {
		return b
	}
	// nothing else limits the memory
	return is(WhoNode, map[bool]Certainty{true: Certain,
		false: Likely}[j.cs.hasCondition(j.p.Nodes, string(corev1.NodeMemoryPressure))])
}

func certainty(c *Common) Certainty {
	switch {
	case c.Told:
		return Certain
	case c.Compared == ComparedNew:
		return Likely
	}
	return Unsure
}

// byCounting blames the change if it is a suspect, and pods that differ from the failing ones in the touched fields
// pass the step.
func (j *judgement) byCounting() *Blame {
	switch {
	case j.suspect() && j.other.Since > 0 && j.other.Fails == 0:
		return &Blame{Who: WhoChange, Certainty: Likely}
	case j.old != "" && j.same.Before+j.same.Since == 0 && j.other.Since > 0 && j.other.Fails == 0:
		// a later revision works
		return &Blame{Who: WhoTemplate, Certainty: Likely, Revision: j.cs.number(j.old)}
	}
	return &Blame{Who: WhoUnknown, Certainty: Unsure}
}

// ofReference blames the change only if it added the reference. If both revisions refer to the object, the object
// existed before.
func (j *judgement) ofReference() *Blame {
	refers := func(t *corev1.PodTemplateSpec) bool {
		return slices.ContainsFunc(refer.Of(&t.Spec), func(r refer.Reference) bool {
			return string(r.Kind) == j.p.Facts.Text("kind") && r.Name == j.p.Subject.Name &&
				(r.Key == j.p.Subject.Key || r.Key == "")
		})
	}
	if before := j.cs.st.TemplateOf(j.before); j.rolling && before != nil && !refers(before) &&
		refers(&j.cs.st.DaemonSet.Spec.Template) {
		return &Blame{Who: WhoChange, Certainty: Certain}
	}
	// only a message says so
	if f := j.p.Facts; f["field"] == nil && !j.cs.absent(snapshot.ReferredKind(f.Text("kind")), f.Text("name"),
		f.Text("key")) {
		return &Blame{Who: WhoMissingObject, Certainty: Likely}
	}
	return &Blame{Who: WhoMissingObject, Certainty: Certain}
}

// ofAdmission blames the change if the API server would admit a pod of the previous revision.
func (j *judgement) ofAdmission() *Blame {
	who := WhoPolicy
	if rejects := admission.Reason(j.p.Facts.Text("rejects")); slices.Contains([]admission.Reason{
		admission.ServiceAccountNotFound, admission.PriorityClassNotFound, admission.RuntimeClassNotFound,
		admission.NamespaceNotFound,
	}, rejects) || slices.ContainsFunc(notFound,
		func(words string) bool { return strings.Contains(j.p.Facts.Text("message"), words) }) {
		who = WhoMissingObject
	}
	if j.p.Facts.Yes("uncalled") { // a webhook that does not answer rejects nothing
		return &Blame{Who: WhoPlatform, Certainty: Certain}
	}
	if v := j.cs.admissionOfRevision(j.before); j.adds() && v != nil && v.Admitted() && j.p.Facts["rejects"] != nil {
		return &Blame{Who: WhoChange, Certainty: Certain}
	}
	if j.adds() && who == WhoMissingObject {
		return &Blame{Who: WhoChange, Certainty: Certain}
	}
	return &Blame{Who: who, Certainty: Certain}
}

// notFound are phrases in messages of the API server about an object that a pod names and that does not exist.
var notFound = []string{"error looking up service account", "no PriorityClass with name",
	`runtimeclasses.node.k8s.io "`, "RuntimeClass not found"}

// admissionOfRevision returns what the API server would answer for a pod of a revision; nil if that is unknown.
func (cs *Causes) admissionOfRevision(name string) *admission.Verdict {
	t := cs.st.TemplateOf(name)
	if t == nil || cs.s.Admission == nil {
		return nil
	}
	v := admission.Check(cs.s.Admission.For(t), cs.podOf(t), cs.s.KubernetesVersion, cs.s.Lacks)
	return &v
}

// podOf returns the pod that the controller would create from a template.
func (cs *Causes) podOf(t *corev1.PodTemplateSpec) *corev1.Pod {
	st, ds := *cs.st, cs.st.DaemonSet.DeepCopy()
	ds.Spec.Template, st.DaemonSet = *t, ds
	return st.PodFor("")
}

// ofScheduling blames the change if a pod of the previous revision fits, the template if the pod is larger than its
// node, the strategy if the old pod takes the room of the new one, and otherwise other pods.
func (j *judgement) ofScheduling() *Blame {
	fits, known := j.fitsBefore()
	j.onlyRequests()
	switch {
	case j.adds() && known && fits, j.adds() && j.p.Facts.Yes("beyond"):
		return &Blame{Who: WhoChange, Certainty: Certain}
	case j.ownPodHolds():
		return &Blame{Who: WhoStrategy, Certainty: Certain}
	case j.p.Code == HostPortConflict && j.cs.st.Budget.MaxSurge > 0 &&
		len(HostPorts(&j.cs.st.DaemonSet.Spec.Template.Spec)) > 0:
		return &Blame{Who: WhoStrategy, Certainty: Likely}
	case j.p.Facts.Yes("beyond"):
		return &Blame{Who: WhoTemplate, Certainty: Certain}
	case j.adds() && !known && j.p.Code != PendingUnschedulable:
		return &Blame{Who: WhoChange, Certainty: Likely}
	case j.p.Code == PendingUnschedulable:
		return &Blame{Who: WhoUnknown, Certainty: Unsure}
	case j.fresh && !j.known && j.cs.hasOld(): // the change may have increased what the pod requests
		return &Blame{Who: WhoOtherWorkload, Certainty: Likely}
	}
	return &Blame{Who: WhoOtherWorkload, Certainty: Certain}
}

// fitsBefore reports whether a pod of the previous revision would fit on all nodes of the problem.
func (j *judgement) fitsBefore() (fits, known bool) {
	t := j.cs.st.TemplateOf(j.before)
	if t == nil {
		return false, false
	}
	spec := *fit.Admitted(&t.Spec)
	priority, _ := priorityOf(&corev1.Pod{Spec: spec}, j.cs.s.Pods)
	spec.Priority = &priority
	w := j.cs.withVolumes(fit.OfTemplate(j.cs.s.DaemonSet.Namespace, &corev1.PodTemplateSpec{ObjectMeta: t.ObjectMeta,
		Spec: spec}), &spec)
	for _, name := range j.p.Nodes {
		n := j.cs.st.Node(name)
		if n == nil || n.Object == nil {
			return false, false
		}
		v, known := j.cs.decide(&w, n, nil)
		if !known || !v.Fits {
			return false, known
		}
	}
	return true, len(j.p.Nodes) > 0
}

// ownPodHolds reports whether each node of the problem has an old pod of the DaemonSet without which the new pod would
// fit.
func (j *judgement) ownPodHolds() bool {
	if j.cs.st.Budget.MaxSurge == 0 || len(j.p.Nodes) == 0 {
		return false
	}
	return !slices.ContainsFunc(j.p.Nodes, func(name string) bool {
		n := j.cs.st.Node(name)
		if n == nil || n.Object == nil || len(stayingPods(n)) == 0 {
			return true
		}
		w := j.cs.fits().wanted
		alone, _ := j.cs.decide(&w, n, nil)
		if !alone.Fits {
			return true
		}
		beside, known := j.cs.NewPod(n)
		return !known || beside.Fits
	})
}

// ofEviction blames the node for a node condition, and otherwise whoever decides how much the pod uses.
func (j *judgement) ofEviction() *Blame {
	switch s := &j.p.Subject; {
	case s.Kind == SubjectNodeCondition:
		return &Blame{Who: WhoNode,
			Certainty: map[bool]Certainty{true: Certain, false: Likely}[j.cs.hasCondition(j.p.Nodes, s.Name)]}
	case s.Kind == SubjectVolume && j.adds():
		j.only("volumes", s.Name)
		return &Blame{Who: WhoChange, Certainty: Certain}
	case s.Kind == SubjectVolume:
		return &Blame{Who: WhoTemplate, Certainty: Certain}
	case s.Kind == SubjectContainer && j.adds():
		return &Blame{Who: WhoChange, Certainty: Likely}
	case s.Kind == SubjectContainer:
		return &Blame{Who: WhoTemplate, Certainty: Likely}
	}
	return j.byCounting()
}

// onlyRequests reduces the touched fields to the resource requests, if there are any, because requests decide whether
// there is room.
func (j *judgement) onlyRequests() {
	of := slices.DeleteFunc(slices.Clone(j.touched), func(p template.Path) bool {
		return !slices.ContainsFunc(p, func(s template.Step) bool { return s.Name == "requests" })
	})
	if len(of) > 0 && j.p.Subject.Kind == SubjectNodeResource {
		j.touched = of
	}
}

// only reduces the touched fields to those of one member of a list, if there are any.
func (j *judgement) only(top, member string) {
	of := slices.DeleteFunc(slices.Clone(j.touched), func(p template.Path) bool {
		rest, in := p.Below(template.At)
		return !in || len(rest) < 2 || rest[1].Name != top || len(rest) > 2 && rest[2].Value != member
	})
	if len(of) > 0 {
		j.touched = of
	}
}

// hasCondition reports whether all these nodes have the condition now.
func (cs *Causes) hasCondition(nodes []string, name string) bool {
	return len(nodes) > 0 && !slices.ContainsFunc(nodes, func(node string) bool {
		n := cs.st.Node(node)
		return n == nil || n.Object == nil || !slices.ContainsFunc(n.Object.Status.Conditions,
			func(c corev1.NodeCondition) bool {
				return string(c.Type) == name && c.Status == corev1.ConditionTrue
			})
	})
}

func (j *judgement) ofNetwork() *Blame {
	switch {
	case j.p.Facts.Yes("noRoutes"):
		return &Blame{Who: WhoNode, Certainty: Certain}
	case j.suspect() && j.known && j.same.Since == 0 && j.other.Since > 0:
		return &Blame{Who: WhoChange, Certainty: Likely}
	case !j.acquitted() && j.rolling && !j.known:
		return j.byCounting()
	case j.same.Since > 0:
		return &Blame{Who: WhoNode, Certainty: Likely}
	}
	return &Blame{Who: WhoPlatform, Certainty: Likely}
}

func (j *judgement) ofVolumes() *Blame {
	switch {
	case j.adds() && j.same.Since == 0:
		return &Blame{Who: WhoChange, Certainty: Likely}
	case j.rolling && !j.known:
		return j.suspicion()
	case j.p.Facts.Yes("noHostPath") && j.same.Before+j.same.Since > 0:
		return &Blame{Who: WhoNode, Certainty: Likely}
	case j.p.Facts.Yes("noHostPath"):
		return &Blame{Who: WhoTemplate, Certainty: Likely}
	case j.p.Facts.Yes("oneNode"):
		return &Blame{Who: WhoTemplate, Certainty: Certain}
	case strings.Contains(j.p.Facts.Text("message"), "Multi-Attach error"):
		return &Blame{Who: WhoTemplate, Certainty: Likely}
	}
	return &Blame{Who: WhoUnknown, Certainty: Unsure}
}

// suspicion blames the change because of its pods alone, if the revisions cannot be compared: all of its pods fail, and
// no other pod fails.
func (j *judgement) suspicion() *Blame {
	if t := j.cs.RevisionFails(); t.NewFailing > 0 && t.NewFailing == t.NewPods && t.OldPods > 0 && t.OldFailing == 0 {
		return &Blame{Who: WhoChange, Certainty: Likely}
	}
	return &Blame{Who: WhoUnknown, Certainty: Unsure}
}

// ofImage considers the message first: if the image does not exist, whoever named it is to blame; if a registry does
// not answer, the registry is to blame.
func (j *judgement) ofImage() *Blame {
	switch {
	case registryIsDown(j.c):
		return &Blame{Who: WhoRegistry, Certainty: Likely}
	case j.same.Since+j.same.Before > 0, j.acquitted(): // if pods elsewhere run it, the registry had it
		return &Blame{Who: WhoRegistry, Certainty: Likely}
	case j.adds():
		return &Blame{Who: WhoChange, Certainty: Likely}
	case j.rolling && !j.known:
		return j.suspicion()
	case j.p.Facts["reason"] == "ErrImageNeverPull", noSuchImage(j.p.Facts.Text("message")):
		return &Blame{Who: WhoTemplate, Certainty: Likely}
	}
	return &Blame{Who: WhoUnknown, Certainty: Unsure}
}

// noSuchImage reports whether a message says that the registry does not have the image. "Access denied" proves nothing,
// because registries also send it for images that do not exist.
func noSuchImage(message string) bool {
	words := strings.ToLower(message)
	missing := func(w string) bool { return strings.Contains(words, w) }
	return slices.ContainsFunc([]string{"manifest unknown", "name unknown", "manifest for ", ": not found"}, missing) &&
		strings.Contains(words, "not found") && !missing("denied") && !missing("unauthorized")
}

// ofPlatform blames whoever named an image that is not built for the nodes. The message is conclusive only if the pull
// failed: a file that is not a program on any architecture, such as a script without #!, also causes an "exec format
// error".
func (j *judgement) ofPlatform() *Blame {
	c := Certain
	if j.p.Code != ImagePullBackOff {
		c = Likely
	}
	if j.adds() {
		return &Blame{Who: WhoChange, Certainty: c}
	}
	if j.rolling && !j.known {
		return j.suspicion()
	}
	return &Blame{Who: WhoTemplate, Certainty: c}
}

// registryIsDown reports whether the message says that an image cannot be pulled for a reason that affects every image
// of the registry.
func registryIsDown(c *Cause) bool {
	message := strings.ToLower(c.Facts.Text("message"))
	return slices.ContainsFunc(registryFails, func(w string) bool { return strings.Contains(message, w) })
}

// RegistryFailures returns phrases, in lower case, in messages about a registry that does not answer.
func RegistryFailures() []string { return slices.Clone(registryFails) }

// registryFails are phrases, in lower case, in messages about a registry that does not serve any image, or not at the
// moment.
var registryFails = []string{
	"i/o timeout", "too many requests", "toomanyrequests", "no such host", "connection refused", "connection reset",
	"tls handshake timeout", "deadline exceeded", "500 internal server error",
	"502 bad gateway", "503 service unavailable", "server misbehaving", "network is unreachable", "no route to host",
	"pull qps exceeded", "certificate signed by unknown authority",
	"certificate has expired", "unexpected eof",
}
