package cause

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// Admission returns the API server's answer for the next pod that the controller creates; nil if the Snapshot lacks the
// objects that decide it.
func (cs *Causes) Admission() *admission.Verdict { return cs.admission }

// admissionOf returns the Verdict for a pod of the current template.
func admissionOf(st *daemonset.State) *admission.Verdict {
	s := st.Snapshot
	if s.Admission == nil {
		return nil
	}
	v := admission.Check(s.Admission.For(&st.DaemonSet.Spec.Template), st.PodFor(""), s.KubernetesVersion, s.Lacks)
	for i := range v.Refusals {
		for j := range v.Refusals[i].Remedies {
			if m := &v.Refusals[i].Remedies[j]; m.Do == admission.CreatePriorityClass {
				m.Value = classPriority(s.Pods, m.Name)
			}
		}
	}
	return &v
}

// classPriority returns the priority of pods with a PriorityClass; empty if there is no such pod.
func classPriority(pods []corev1.Pod, class string) string {
	i := slices.IndexFunc(pods, func(p corev1.Pod) bool {
		return p.Spec.PriorityClassName == class &&
			p.Spec.Priority != nil
	})
	if i < 0 {
		return ""
	}
	return strconv.Itoa(int(*pods[i].Spec.Priority))
}

// rejected adds the rule that rejects the pod to told, the rejection that events report. If told is nil, it returns the
// predicted rejection of the next pod, or nil if the API server admits it or that is unknown.
func (cs *Causes) rejected(told *Cause) *Cause {
	if cs.admission == nil || cs.admission.Admitted() {
		return told
	}
	r := &cs.admission.Refusals[0]
	f := daemonset.Facts{"rule": string(r.Rule), "rejects": string(r.Reason)}
	if r.Name != "" {
		f["name"] = r.Name
	}
	if told == nil {
		f["predicted"] = true
		if r.Message != "" {
			f["message"] = r.Message
		}
		return &Cause{Code: FailedCreate, Severity: SeverityError, Facts: f}
	}
	if kind, _ := RefusedBy(told.Facts.Text("message")); kind == ruleSubjects[r.Rule] {
		maps.Copy(told.Facts, f)
	}
	return told
}

// RejectedBy returns what rejects a pod and its name, according to the facts of FailedCreate: the rule if it is known,
// otherwise the message of the API server.
func RejectedBy(f daemonset.Facts) (by SubjectKind, name string) {
	rule := admission.Rule(f.Text("rule"))
	if rule == "" || f.Text("message") != "" {
		return RefusedBy(f.Text("message"))
	}
	if by, known := ruleSubjects[rule]; known {
		return by, f.Text("name")
	}
	return SubjectAPIServer, f.Text("name")
}

// refusals returns why the API server rejects pods, and a rejection that no longer holds. Either is nil if there is
// none.
func (cs *Causes) refusals() (refusal, lifted *Cause) {
	told := cs.refused()
	refusal = cs.hideValues(cs.rejected(told))
	if told == nil || !cs.admits(told.Facts.Text("message")) {
		return refusal, nil
	}
	return cs.hideValues(cs.rejected(nil)), cs.hideValues(told)
}

// Lifted returns a rejection that events report but that no longer holds, because its cause has changed since. It
// returns nil if there is none, if the rule is not computed, such as that of a webhook, and if something that the rule
// reads could not be read.
func (cs *Causes) Lifted() *Cause { return cs.lifted }

// admits reports whether the API server would now admit what it rejected with a message. A message that names another
// object than the template is about an earlier template, if there was one; otherwise something else, such as a webhook,
// sets that object.
func (cs *Causes) admits(message string) bool {
	spec := &cs.st.DaemonSet.Spec.Template.Spec
	if classes := scopeClasses(message); len(classes) > 0 {
		return !slices.Contains(classes, spec.PriorityClassName)
	}
	for _, named := range []struct{ before, after, is string }{
		{`serviceaccount "`, `"`, cmp.Or(spec.ServiceAccountName, "default")},
		{"no PriorityClass with name ", " ", spec.PriorityClassName},
		{`runtimeclasses.node.k8s.io "`, `"`, deref(spec.RuntimeClassName)},
	} {
		if _, rest, ok := strings.Cut(message, named.before); ok {
			if name, _, _ := strings.Cut(rest, named.after); name != named.is && cs.st.DaemonSet.Generation != 1 {
				return true
			}
		}
	}
	rule := admission.RuleOf(message)
	if cs.admission == nil || !cs.admission.Admitted() || rule == admission.APIServer {
		return false
	}
	unread := slices.ContainsFunc(cs.admission.Unknown, func(u admission.Unchecked) bool { return u.Rule == rule })
	assumed := rule == admission.PodSecurity &&
		slices.ContainsFunc(cs.admission.Assumed, func(a admission.Assumption) bool {
			return a.What == admission.DefaultPodSecurity
		})
	return !unread && !assumed
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Narrowest returns the quota that admits the fewest new pods, with the resource that limits them; nil if no quota
// limits them.
func Narrowest(v *admission.Verdict) (*admission.Quota, *admission.Amount) {
	for i := range v.Quotas {
		q := &v.Quotas[i]
		if q.Passes == admission.Unlimited || q.Passes != v.Passes {
			continue
		}
		for j := range q.Amounts {
			if q.Amounts[j].Passes() == q.Passes {
				return q, &q.Amounts[j]
			}
		}
	}
	return nil, nil
}

// NeededFor returns how much of a resource a quota must allow to have room for the given number of pods.
func NeededFor(a *admission.Amount, pods int) resource.Quantity {
	sum := a.Used.DeepCopy()
	for range pods {
		sum.Add(a.Requested)
	}
	return sum
}
