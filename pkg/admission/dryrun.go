package admission

import (
	"strings"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// signs are the phrases by which messages of the API server identify a Rule.
var signs = []struct {
	words string
	of    Rule
}{
	{"exceeded quota: ", ResourceQuota},
	{"failed quota: ", ResourceQuota},
	{"status unknown for quota: ", ResourceQuota},
	{`violates PodSecurity "`, PodSecurity},
	{"no PriorityClass with name ", Priority},
	{"error looking up service account ", ServiceAccount},
	{"pod rejected: RuntimeClass ", RuntimeClass},
	{"because it is being terminated", NamespaceLifecycle},
}

// RuleOf returns the Rule that rejects a pod according to a message of the API
// server, or APIServer if none is known. Messages of webhooks and policies are
// arbitrary, so they identify no Rule.
func RuleOf(message string) Rule {
	for _, of := range []string{"admission webhook ", "calling webhook ", "AdmissionPolicy '"} {
		if strings.Contains(message, of) {
			return APIServer
		}
	}
	for _, s := range signs {
		if strings.Contains(message, s.words) {
			return s.of
		}
	}
	return APIServer
}

// dryRunPassed reports whether a dry run passed everything except the quotas, which
// are checked last. Whether the quotas have room is not taken from it, because
// a rollout may delete a pod before it creates one.
func (c *check) dryRunPassed() bool {
	d := c.in.DryRun
	return d != nil && (d.Answer == snapshot.DryRunCreated || d.Answer == snapshot.DryRunRejected &&
		RuleOf(d.Message) == ResourceQuota)
}

// applyDryRun replaces the computed answer by that of a dry run, unless the latter is
// not about the pod.
func (c *check) applyDryRun() {
	d := c.in.DryRun
	switch {
	case d == nil:
	case c.dryRunPassed():
		c.dropRefusals()
		c.applyMutations()
	case d.Answer == snapshot.DryRunRejected:
		c.refuseFirst(d.Message)
	default:
		c.assume(Assumption{What: DryRunUnanswered, Message: d.Message})
	}
}

// dropRefusals drops the refusals computed for a pod that the API server admitted.
func (c *check) dropRefusals() {
	a := Assumption{What: ControllerAsUser}
	for _, r := range c.out.Refusals {
		a.Rules = append(a.Rules, r.Rule)
	}
	c.out.Refusals, c.out.Unknown, c.out.Assumed = nil, nil, []Assumption{a}
}

// applyMutations copies the API server's changes into the pod.
func (c *check) applyMutations() {
	made := c.in.DryRun.Spec
	if made == nil {
		return
	}
	spec := &c.pod.Spec
	spec.Containers, spec.InitContainers, spec.Resources, spec.Overhead = made.Containers, made.InitContainers,
		made.Resources, made.Overhead
	spec.Priority, spec.PriorityClassName, spec.PreemptionPolicy = made.Priority, made.PriorityClassName,
		made.PreemptionPolicy
	spec.NodeSelector, spec.Tolerations, spec.SchedulerName = made.NodeSelector, made.Tolerations, made.SchedulerName
}

// refuseFirst puts a refusal with the API server's message first: the one computed
// for the same rule, or a new one.
func (c *check) refuseFirst(message string) {
	first, others := Refusal{Rule: RuleOf(message), Reason: DryRunRejected}, []Refusal{}
	for _, r := range c.out.Refusals {
		if r.Rule == first.Rule && first.Reason == DryRunRejected {
			first = r
		} else {
			others = append(others, r)
		}
	}
	first.Message = message
	c.out.Refusals = append([]Refusal{first}, others...)
}
