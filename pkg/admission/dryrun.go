package admission

import (
	"strings"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// signs are how the API server's words tell which of the Rules rejects a pod.
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

// RuleOf returns which Rule rejects a pod, by the words of the API server; APIServer if they are of
// none. Words of a webhook or a policy can be any, and are of none.
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

// passed reports whether a dry run got past everything that admits pods but for the
// quotas, which come last. Whether these have room is not read off it: a rollout may
// delete a pod before it creates one.
func (c *check) passed() bool {
	d := c.in.DryRun
	return d != nil && (d.Answer == snapshot.DryRunCreated || d.Answer == snapshot.DryRunRejected &&
		RuleOf(d.Message) == ResourceQuota)
}

// tried takes the answer of a dry run for what it is: the API server's. What was computed
// stays where the answer is not about the pod.
func (c *check) tried() {
	d := c.in.DryRun
	switch {
	case d == nil:
	case c.passed():
		c.overruled()
		c.mutated()
	case d.Answer == snapshot.DryRunRejected:
		c.rejected(d.Message)
	default:
		c.assume(Assumption{What: DryRunUnanswered, Message: d.Message})
	}
}

// overruled drops what was computed of a pod that the API server created.
func (c *check) overruled() {
	a := Assumption{What: ControllerAsUser}
	for _, r := range c.out.Refusals {
		a.Rules = append(a.Rules, r.Rule)
	}
	c.out.Refusals, c.out.Unknown, c.out.Assumed = nil, nil, []Assumption{a}
}

// mutated gives the pod what the API server made of it.
func (c *check) mutated() {
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

// rejected puts the refusal with the API server's words first: that which was computed of
// the same rule, or one that has nothing but the words.
func (c *check) rejected(message string) {
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
