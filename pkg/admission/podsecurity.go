package admission

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// evaluators caches the policy.Evaluator of each minor version.
var evaluators sync.Map

// evaluatorOf returns the library as the API server of a minor version uses it:
// its latest checks are those of that version.
func evaluatorOf(minor int) policy.Evaluator {
	if e, ok := evaluators.Load(minor); ok {
		return e.(policy.Evaluator)
	}
	var newest *api.Version
	if minor != 0 {
		v := api.MajorMinorVersion(1, minor)
		newest = &v
	}
	e, err := policy.NewEvaluator(policy.DefaultChecks(), newest)
	if err != nil {
		panic(err) // the library's own checks are always valid
	}
	evaluators.Store(minor, e)
	return e
}

// podSecurity checks the pod against the level that the namespace's label
// enforces. An invalid level counts as restricted, an invalid version as
// latest. The levels for warnings and audits reject nothing.
func (c *check) podSecurity() {
	if !c.version.podSecurity || c.in.Namespace == nil {
		if c.version.podSecurity {
			c.unread(PodSecurity, snapshot.Namespaces)
		}
		return
	}
	labels := c.in.Namespace.Labels
	privileged := api.LevelVersion{Level: api.LevelPrivileged, Version: api.LatestVersion()}
	enforced, _ := api.PolicyToEvaluate(labels, api.Policy{Enforce: privileged, Audit: privileged, Warn: privileged})
	violations := c.violations(enforced.Enforce)
	switch _, labeled := labels[api.EnforceLevelLabel]; {
	case !labeled: // unlabeled namespaces are privileged, which forbids nothing
		c.assume(Assumption{What: DefaultPodSecurity})
	case len(violations) > 0:
		c.assume(Assumption{What: NoPodSecurityExemption})
		c.refuse(Refusal{
			Rule: PodSecurity, Reason: PodSecurityViolated, Name: c.in.Namespace.Name,
			Level: string(enforced.Enforce.Level), Version: enforced.Enforce.Version.String(), Violations: violations,
			Remedies: []Remedy{{Do: SetLevel, Name: c.in.Namespace.Name, Value: string(c.strictest(enforced.Enforce))}},
		})
	}
}

// LevelFor returns the Pod Security level baseline if its latest version admits
// a pod, or else privileged.
func LevelFor(pod *corev1.Pod, kubernetesVersion string) string {
	c := newCheck(nil, pod, kubernetesVersion, nil)
	return string(c.strictest(api.LevelVersion{Version: api.LatestVersion()}))
}

func (c *check) violations(lv api.LevelVersion) []Violation {
	result := policy.AggregateCheckResults(evaluatorOf(c.version.minor).EvaluatePod(lv, &c.pod.ObjectMeta, &c.pod.Spec))
	var out []Violation
	for i, what := range result.ForbiddenReasons {
		out = append(out, Violation{What: what, Detail: result.ForbiddenDetails[i]})
	}
	return out
}

// strictest returns baseline if that level admits the pod, or else privileged.
// It does not try restricted.
func (c *check) strictest(lv api.LevelVersion) api.Level {
	if lv.Level = api.LevelBaseline; len(c.violations(lv)) == 0 {
		return lv.Level
	}
	return api.LevelPrivileged
}
