package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/cause"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// rejecting says in a few words who rejects new pods. With room there is a quota that
// lets so many pass.
var rejecting = map[admission.Reason]string{
	admission.NamespaceNotFound:      "namespace {name} does not exist",
	admission.NamespaceTerminating:   "namespace {name} is being deleted",
	admission.ServiceAccountNotFound: `ServiceAccount "{name}" does not exist`,
	admission.PriorityClassNotFound:  `PriorityClass "{name}" does not exist`,
	admission.RuntimeClassNotFound:   `RuntimeClass "{name}" does not exist`,
	admission.LimitRangeViolated:     `LimitRange "{name}" rejects every new pod`,
	admission.PodSecurityViolated:    "Pod Security rejects every new pod",
	admission.QuotaExceeded:          `ResourceQuota "{name}" has [{room=0}no room][room for {room:more pod}]`,
	admission.QuotaMustSpecify:       `ResourceQuota "{name}" rejects every new pod`,
	admission.DryRunRejected:         "the API server rejects the new pod in a dry run",
}

// rejections say why the API server rejects a pod.
var rejections = map[admission.Reason][]string{
	admission.NamespaceNotFound:       {"namespace {name} does not exist, so no pod can be created there"},
	admission.NamespaceTerminating:    {"namespace {name} is being deleted, so no pod can be created there"},
	admission.ServiceAccountNotFound:  {`{now=true}ServiceAccount "{name}", which it names, does not exist in namespace {namespace} any more`, `the template names ServiceAccount "{name}", which does not exist in namespace {namespace}`},
	admission.SecretNotAllowed:        {`ServiceAccount "{name}" allows only the Secrets that it lists, and {field} refers to {value}`},
	admission.PriorityClassNotFound:   {`{now=true}PriorityClass "{name}", which it names, does not exist any more`, `the template names PriorityClass "{name}", which does not exist`},
	admission.PriorityDiffers:         {`{field} is {value}, but PriorityClass "{name}" has {want}`},
	admission.PreemptionPolicyDiffers: {`{field} is {value}, but PriorityClass "{name}" has {want}`},
	admission.RuntimeClassNotFound:    {`{now=true}RuntimeClass "{name}", which it names, does not exist any more`, `the template names RuntimeClass "{name}", which does not exist`},
	admission.OverheadDiffers:         {`{field} is {value}, but RuntimeClass "{name}" has {want}`},
	admission.OverheadWithoutClass:    {"{field} is set, but no RuntimeClass sets an overhead"},
	admission.NodeSelectorConflicts:   {`{field} is {value}, but RuntimeClass "{name}" wants {want}`},
	admission.PodInvalid:              {"with the defaults of a pod the template is invalid: {details}"},
	admission.LimitRangeViolated:      {`LimitRange "{name}" in namespace {namespace}: {details}`},
	admission.PodSecurityViolated: {
		"{now=true}namespace {namespace} now enforces the Pod Security level {level}[ of {version}], which forbids {details}",
		"the template does not comply with its namespace: {namespace} enforces the Pod Security level {level}[ of {version}], which forbids {details}",
	},
	admission.QuotaExceeded:      {`ResourceQuota "{name}" in namespace {namespace}: {details}`},
	admission.QuotaMustSpecify:   {`ResourceQuota "{name}" in namespace {namespace} counts {details}, which every container must then set`},
	admission.QuotaStatusUnknown: {`the controller has not counted yet what ResourceQuota "{name}" in namespace {namespace} is used for ({details})`},
	admission.DryRunRejected:     {"the API server rejects the new pod in a dry run"},
}

// bounds say how a LimitRange is violated.
var bounds = map[admission.BoundCode]string{
	admission.MinWithoutRequest: "{whose} has no request for {resource}, and the minimum is {bound}", admission.RequestBelowMin: "{whose} requests {resource} {asked}, less than the minimum of {bound}",
	admission.LimitBelowMin: "{whose} limits {resource} to {limited}, less than the minimum of {bound}", admission.MaxWithoutLimit: "{whose} has no limit for {resource}, and the maximum is {bound}",
	admission.LimitAboveMax: "{whose} limits {resource} to {limited}, more than the maximum of {bound}", admission.RequestAboveMax: "{whose} requests {resource} {asked}, more than the maximum of {bound}",
	admission.RatioWithoutRequest: "{whose} has no request for {resource}, and the ratio of limit to request is bounded", admission.RatioWithoutLimit: "{whose} has no limit for {resource}, and the ratio of limit to request is bounded",
	admission.RatioAboveMax: "{whose} limits {resource} to {limited} and requests {asked}, and the ratio is at most {bound}",
}

// rejection says why the API server rejects a pod; terse is in a few words. before is how
// many pods of the same template it has admitted.
func (a *sheet) rejection(r *admission.Refusal, before int) (words, terse string) {
	f := daemonset.Facts{"namespace": a.h.DaemonSet.Namespace, "room": 0}
	likely := ""
	if before > 0 {
		likely = fill(a.now, daemonset.Facts{"n": before}, "likely not the template: {n:running pod was|running pods were} admitted with it; ")
		f["now"] = true
	}
	for key, value := range map[string]string{"name": r.Name, "level": r.Level, "field": r.Field, "value": r.Value, "want": r.Want, "details": strings.Join(detailsOf(r), ", and ")} {
		if value != "" {
			f[key] = value
		}
	}
	if r.Version != "latest" && r.Version != "" {
		f["version"] = r.Version
	}
	words = fill(a.now, f, rejections[r.Reason]...)
	return likely + words, fill(a.now, f, rejecting[r.Reason])
}

// detailsOf returns what a rule finds wrong, each in a few words.
func detailsOf(r *admission.Refusal) (out []string) {
	for _, v := range r.Violations {
		out = append(out, v.What+inBrackets(v.Detail))
	}
	for _, b := range r.Bounds {
		of := "the pod"
		if b.Container != "" {
			of = "container " + b.Container
		}
		f := daemonset.Facts{"whose": of, "resource": string(b.Resource), "bound": b.Bound.String()}
		for key, q := range map[string]*resource.Quantity{"asked": b.Request, "limited": b.Limit} {
			if q != nil {
				f[key] = q.String()
			}
		}
		out = append(out, fill(time.Time{}, f, bounds[b.Why]))
	}
	for _, i := range r.Invalid {
		out = append(out, joined(" ", i.Field, i.Value))
	}
	for _, x := range r.Amounts {
		out = append(out, amountWords(&x))
	}
	for _, m := range r.Missing {
		out = append(out, string(m.Resource))
	}
	return out
}

// amountWords are what a quota says of one resource.
func amountWords(x *admission.Amount) string {
	if x.Resource == corev1.ResourcePods || x.Resource == "count/pods" {
		return fmt.Sprintf("%s of %s %s are used", x.Used.String(), x.Hard.String(), x.Resource)
	}
	return fmt.Sprintf("a pod needs %s %s, and %s of %s are used", x.Resource, x.Requested.String(), x.Used.String(), x.Hard.String())
}

// admitted says why the API server rejects new pods of a template, or all but some, what
// shows it, and what to change.
func (a *sheet) admitted(v *admission.Verdict, lacking, before int) {
	if v == nil {
		return
	}
	if len(v.Refusals) == 0 {
		if q, x := cause.Narrowest(v); q != nil && lacking > 0 {
			a.add(screen.Fault, `the quota, not the DaemonSet: ResourceQuota "%s" in namespace %s has room for %s: %s`, q.Name, a.h.DaemonSet.Namespace, Plural(int(q.Passes), "more pod"), amountWords(x))
			a.s.Add(screen.Check, a.kubectl("kubectl describe resourcequota", a.namespace(), screen.Quote(q.Name)))
			a.raiseQuota(q.Name, []admission.Amount{*x}, int(q.Passes)+lacking)
		}
		return
	}
	r := &v.Refusals[0]
	words, _ := a.rejection(r, before)
	if r.Message != "" {
		words += `; it answers "` + screen.Clean(r.Message) + `"`
	}
	a.add(screen.Fault, "%s", words)
	if c := a.looksAt(r); len(c) > 0 {
		a.s.Add(screen.Check, c)
	}
	if r.Reason == admission.QuotaExceeded {
		a.raiseQuota(r.Name, r.Amounts, lacking)
		return
	}
	a.remedies(r, before > 0)
}

// raiseQuota says to how much a quota has to be raised so that so many pods are
// created.
func (a *sheet) raiseQuota(name string, amounts []admission.Amount, pods int) {
	var to []string
	for i := range amounts {
		n := cause.NeededFor(&amounts[i], pods)
		to = append(to, fmt.Sprintf("%s from %s to %s", amounts[i].Resource, amounts[i].Hard.String(), n.String()))
	}
	sum := ", for " + Plural(pods, "more pod")
	if len(amounts) == 1 && amounts[0].Resource == corev1.ResourcePods {
		sum = fmt.Sprintf(" (%s used + %d new)", amounts[0].Used.String(), pods)
	}
	a.add(a.to, `ask the team that manages ResourceQuota "%s" to raise %s%s`, name, strings.Join(to, " and "), sum)
}

// looksAt is a command that shows what rejects a pod.
func (a *sheet) looksAt(r *admission.Refusal) screen.Command {
	switch r.Rule {
	case admission.NamespaceLifecycle, admission.PodSecurity:
		return a.kubectl("kubectl get namespace", screen.Quote(a.h.DaemonSet.Namespace), "--show-labels")
	case admission.ServiceAccount:
		return a.kubectl("kubectl get serviceaccounts", a.namespace())
	case admission.Priority:
		return a.kubectl("kubectl get priorityclasses")
	case admission.RuntimeClass:
		return a.kubectl("kubectl get runtimeclasses")
	case admission.LimitRanger:
		return a.kubectl("kubectl describe limitrange", a.namespace(), screen.Quote(r.Name))
	case admission.ResourceQuota:
		return a.kubectl("kubectl describe resourcequota", a.namespace(), screen.Quote(r.Name))
	}
	return nil
}

// remedyWords say what to change so that a pod is admitted.
var remedyWords = map[admission.RemedyCode][]string{
	admission.CreateNamespace:      {"create the namespace, or correct metadata.namespace"},
	admission.CreateServiceAccount: {"create the ServiceAccount, or name another one in the template (serviceAccountName)"},
	admission.CreatePriorityClass:  {"create the PriorityClass, or name another one in the template (priorityClassName)"},
	admission.CreateRuntimeClass:   {"create the RuntimeClass, or name another one in the template (runtimeClassName)"},
	admission.ListSecret:           {"list Secret {value} in the ServiceAccount"},
	admission.RemoveField:          {"remove {field} from the template"},
	admission.SetLevel: {
		"{runs=true}if the owner of the namespace agrees that its pods may do anything{value=privileged}, label it:", "{runs=true}if the owner of the namespace agrees that its pods may do all that level {value} allows, label it:",
		"{value=privileged}change the template so that it complies; or, if the owner of the namespace agrees that its pods may do anything, label it:",
		"change the template so that it complies; or, if the owner of the namespace agrees that its pods may do all that level {value} allows, label it:",
	},
	admission.SetRequest: {"set the request of {whose} for {resource}[ to {amount}]"},
	admission.SetLimit:   {"set the limit of {whose} for {resource}[ to {amount}]"},
}

func (a *sheet) remedies(r *admission.Refusal, runs bool) {
	var said []string
	defer func() {
		if runs && r.Reason == admission.PodSecurityViolated {
			a.act(a.to, "or change the template so that it complies (starts a rollout of all pods, also of those that run)", nil)
		}
	}()
	for _, m := range r.Remedies {
		f := daemonset.Facts{"whose": "the pod", "runs": runs}
		if m.Container != "" {
			f["whose"] = "container " + m.Container
		}
		for key, value := range map[string]string{"name": m.Name, "field": m.Field, "value": m.Value, "resource": string(m.Resource)} {
			if value != "" {
				f[key] = value
			}
		}
		if m.Amount != nil {
			f["amount"] = m.Amount.String()
		}
		words := fill(a.now, f, remedyWords[m.Do]...)
		if slices.Contains(said, words) {
			continue
		}
		said = append(said, words)
		var c screen.Command
		if m.Do == admission.SetLevel {
			c = a.kubectl("kubectl label --overwrite namespace", screen.Quote(m.Name), screen.Word("pod-security.kubernetes.io/enforce="+m.Value))
		}
		if m.Do == admission.CreatePriorityClass && m.Value != "" {
			c = a.kubectl("kubectl create priorityclass", screen.Quote(m.Name), screen.Word("--value="+m.Value))
			words = "create the PriorityClass again, with the priority that running pods have:"
		}
		a.act(a.to, words, c)
	}
}
