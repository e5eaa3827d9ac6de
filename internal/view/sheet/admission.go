package sheet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
)

// Rejection returns why the API server rejects a pod, and a terse version. before is the number of admitted pods with
// the same template.
func (a *Sheet) Rejection(r *admission.Refusal, before int) (words, terse string) {
	words, terse = a.rejects(r, before > 0)
	if before > 0 {
		words = "likely not the template: " + wording.PluralVerb(before, "running pod was", "running pods were") +
			" admitted with it; " + words
	}
	return words, terse
}

// rejects returns the reason for a rejection. now is set if the API server admitted pods of the same template before.
func (a *Sheet) rejects(r *admission.Refusal, now bool) (words, terse string) {
	namespace, details := "namespace "+a.Header.DaemonSet.Namespace, strings.Join(detailsOf(r), ", and ")
	name := screen.Clean(r.Name)
	named := func(kind string) string { return kind + ` "` + name + `"` }
	differs, quota := r.Field+" is "+r.Value+", but ", named("ResourceQuota")
	const rejectsAll = " rejects every new pod"
	switch r.Reason {
	case admission.NamespaceNotFound:
		terse = "namespace " + name + " does not exist"
		return terse + ", so no pod can be created there", terse
	case admission.NamespaceTerminating:
		terse = "namespace " + name + " is being deleted"
		return terse + ", so no pod can be created there", terse
	case admission.ServiceAccountNotFound:
		return notFound(named("ServiceAccount"), " in "+namespace, now)
	case admission.PriorityClassNotFound:
		return notFound(named("PriorityClass"), "", now)
	case admission.RuntimeClassNotFound:
		return notFound(named("RuntimeClass"), "", now)
	case admission.SecretNotAllowed:
		words = " allows only the Secrets that it lists, and " + r.Field + " refers to " + r.Value
		return named("ServiceAccount") + words, ""
	case admission.PriorityDiffers, admission.PreemptionPolicyDiffers:
		return differs + named("PriorityClass") + " has " + r.Want, ""
	case admission.OverheadDiffers:
		return differs + named("RuntimeClass") + " has " + r.Want, ""
	case admission.NodeSelectorConflicts:
		return differs + named("RuntimeClass") + " wants " + r.Want, ""
	case admission.OverheadWithoutClass:
		return r.Field + " is set, but no RuntimeClass sets an overhead", ""
	case admission.PodInvalid:
		return "with the defaults of a pod the template is invalid: " + details, ""
	case admission.LimitRangeViolated:
		return named("LimitRange") + " in " + namespace + ": " + details, named("LimitRange") + rejectsAll
	case admission.PodSecurityViolated:
		level := "the Pod Security level " + r.Level
		if r.Version != "latest" {
			level += wording.Phrase(" of ", r.Version)
		}
		words = "the template does not comply with its namespace: " + a.Header.DaemonSet.Namespace + " enforces "
		words = wording.Either(now, namespace+" now enforces ", words) + level + ", which forbids " + details
		return words, "Pod Security" + rejectsAll
	case admission.QuotaExceeded:
		return quota + " in " + namespace + ": " + details, quota + " has no room"
	case admission.QuotaMustSpecify:
		words = quota + " in " + namespace + " counts " + details + ", which every container must then set"
		return words, quota + rejectsAll
	case admission.QuotaStatusUnknown:
		words = quota + " in " + namespace + " is used for (" + details + ")"
		return "the controller has not counted yet what " + words, ""
	case admission.DryRunRejected:
		terse = "the API server rejects the new pod in a dry run"
	}
	return terse, terse
}

// notFound says that an object named in the template does not exist. now is set if it existed before.
func notFound(object, where string, now bool) (words, terse string) {
	words = "the template names " + object + ", which does not exist" + where
	if now {
		words = object + ", which it names, does not exist" + where + " any more"
	}
	return words, object + " does not exist"
}

// detailsOf returns a phrase for each violation of a rule.
func detailsOf(r *admission.Refusal) (out []string) {
	for _, v := range r.Violations {
		out = append(out, v.What+wording.InBrackets(v.Detail))
	}
	for _, b := range r.Bounds {
		out = append(out, BoundWords(&b))
	}
	for _, i := range r.Invalid {
		out = append(out, wording.Joined(" ", i.Field, i.Value))
	}
	for _, x := range r.Amounts {
		out = append(out, amountWords(&x))
	}
	for _, m := range r.Missing {
		out = append(out, string(m.Resource))
	}
	return out
}

// containerOr names a container, or the pod if name is empty.
func containerOr(name string) string { return cmp.Or(wording.Phrase("container ", name), "the pod") }

// BoundWords describes the violation of a LimitRange.
func BoundWords(b *admission.Bound) string {
	who, what, bound := containerOr(b.Container), string(b.Resource), b.Bound.String()
	requests, limits := who+" requests "+what+" "+b.Request.String(), who+" limits "+what+" to "+b.Limit.String()
	noRequest, noLimit := who+" has no request for "+what+", and the ", who+" has no limit for "+what+", and the "
	switch b.Why {
	case admission.MinWithoutRequest:
		return noRequest + "minimum is " + bound
	case admission.RequestBelowMin:
		return requests + ", less than the minimum of " + bound
	case admission.LimitBelowMin:
		return limits + ", less than the minimum of " + bound
	case admission.MaxWithoutLimit:
		return noLimit + "maximum is " + bound
	case admission.LimitAboveMax:
		return limits + ", more than the maximum of " + bound
	case admission.RequestAboveMax:
		return requests + ", more than the maximum of " + bound
	case admission.RatioWithoutRequest:
		return noRequest + "ratio of limit to request is bounded"
	case admission.RatioWithoutLimit:
		return noLimit + "ratio of limit to request is bounded"
	case admission.RatioAboveMax:
		return limits + " and requests " + b.Request.String() + ", and the ratio is at most " + bound
	}
	return ""
}

// amountWords describes the state of a quota for one resource.
func amountWords(x *admission.Amount) string {
	if x.Resource == corev1.ResourcePods || x.Resource == "count/pods" {
		return fmt.Sprintf("%s of %s %s are used", x.Used.String(), x.Hard.String(), x.Resource)
	}
	return fmt.Sprintf("a pod needs %s %s, and %s of %s are used", x.Resource, x.Requested.String(), x.Used.String(),
		x.Hard.String())
}

// Admitted adds why the API server rejects all or some of the new pods, what shows the reason, and what to change.
// lacking is the number of nodes without a pod. before is the number of admitted pods with the same template.
func (a *Sheet) Admitted(v *admission.Verdict, lacking, before int) {
	if v == nil {
		return
	}
	if len(v.Refusals) == 0 {
		if q, x := cause.Narrowest(v); q != nil && lacking > 0 {
			a.Add(screen.Fault, `the quota, not the DaemonSet: ResourceQuota "%s" in namespace %s has room for %s: %s`,
				q.Name, a.Header.DaemonSet.Namespace, wording.Plural(int(q.Passes), "more pod"), amountWords(x))
			a.Screen.Add(screen.Check, a.Kubectl("kubectl describe resourcequota", a.Namespace(), screen.Quote(q.Name)))
			a.raiseQuota(q.Name, []admission.Amount{*x}, int(q.Passes)+lacking)
		}
		return
	}
	r := &v.Refusals[0]
	words, _ := a.Rejection(r, before)
	if r.Message != "" {
		words += `; it answers "` + screen.Clean(r.Message) + `"`
	}
	a.Add(screen.Fault, "%s", words)
	if c := a.looksAt(r); len(c) > 0 {
		a.Screen.Add(screen.Check, c)
	}
	if r.Reason == admission.QuotaExceeded {
		a.raiseQuota(r.Name, r.Amounts, lacking)
		return
	}
	a.Remedies(r, before > 0)
}

// raiseQuota adds the values that a quota needs for the given number of new pods.
func (a *Sheet) raiseQuota(name string, amounts []admission.Amount, pods int) {
	var to []string
	for i := range amounts {
		n := cause.NeededFor(&amounts[i], pods)
		to = append(to, fmt.Sprintf("%s from %s to %s", amounts[i].Resource, amounts[i].Hard.String(), n.String()))
	}
	sum := ", for " + wording.Plural(pods, "more pod")
	if len(amounts) == 1 && amounts[0].Resource == corev1.ResourcePods {
		sum = fmt.Sprintf(" (%s used + %d new)", amounts[0].Used.String(), pods)
	}
	a.Add(a.To, `ask the team that manages ResourceQuota "%s" to raise %s%s`, name, strings.Join(to, " and "), sum)
}

// looksAt returns a command that shows the object that rejects a pod.
func (a *Sheet) looksAt(r *admission.Refusal) screen.Command {
	switch r.Rule {
	case admission.NamespaceLifecycle, admission.PodSecurity:
		return a.Kubectl("kubectl get namespace", screen.Quote(a.Header.DaemonSet.Namespace), "--show-labels")
	case admission.ServiceAccount:
		return a.Kubectl("kubectl get serviceaccounts", a.Namespace())
	case admission.Priority:
		return a.Kubectl("kubectl get priorityclasses")
	case admission.RuntimeClass:
		return a.Kubectl("kubectl get runtimeclasses")
	case admission.LimitRanger:
		return a.Kubectl("kubectl describe limitrange", a.Namespace(), screen.Quote(r.Name))
	case admission.ResourceQuota:
		return a.Kubectl("kubectl describe resourcequota", a.Namespace(), screen.Quote(r.Name))
	}
	return nil
}

// remedyWords describes a change after which a pod is admitted. runs is set if pods with the same template run.
func remedyWords(m *admission.Remedy, runs bool) string {
	whose, amount := containerOr(m.Container), ""
	if m.Amount != nil {
		amount = " to " + m.Amount.String()
	}
	switch m.Do {
	case admission.CreateNamespace:
		return "create the namespace, or correct metadata.namespace"
	case admission.CreateServiceAccount:
		return "create the ServiceAccount, or name another one in the template (serviceAccountName)"
	case admission.CreatePriorityClass:
		return "create the PriorityClass, or name another one in the template (priorityClassName)"
	case admission.CreateRuntimeClass:
		return "create the RuntimeClass, or name another one in the template (runtimeClassName)"
	case admission.ListSecret:
		return "list Secret " + m.Value + " in the ServiceAccount"
	case admission.RemoveField:
		return "remove " + m.Field + " from the template"
	case admission.SetLevel:
		may := wording.Either(m.Value == "privileged", "anything", "all that level "+m.Value+" allows")
		return wording.Either(runs, "", "change the template so that it complies; or, ") +
			"if the owner of the namespace agrees that its pods may do " + may + ", label it:"
	case admission.SetRequest:
		return "set the request of " + whose + " for " + string(m.Resource) + amount
	case admission.SetLimit:
		return "set the limit of " + whose + " for " + string(m.Resource) + amount
	}
	return ""
}

// Remedies adds the changes after which a pod is admitted.
func (a *Sheet) Remedies(r *admission.Refusal, runs bool) {
	var said []string
	defer func() {
		if runs && r.Reason == admission.PodSecurityViolated {
			a.Act(a.To, "or change the template so that it complies (starts a rollout of all pods, also of those "+
				"that run)", nil)
		}
	}()
	for _, m := range r.Remedies {
		words := remedyWords(&m, runs)
		if slices.Contains(said, words) {
			continue
		}
		said = append(said, words)
		var c screen.Command
		if m.Do == admission.SetLevel {
			c = a.Kubectl("kubectl label --overwrite namespace", screen.Quote(m.Name),
				screen.Word("pod-security.kubernetes.io/enforce="+m.Value))
		}
		if m.Do == admission.CreatePriorityClass && m.Value != "" {
			c = a.Kubectl("kubectl create priorityclass", screen.Quote(m.Name), screen.Word("--value="+m.Value))
			words = "create the PriorityClass again, with the priority that running pods have:"
		}
		a.Act(a.To, words, c)
	}
}
