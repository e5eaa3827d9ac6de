package admission

import (
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	helper "k8s.io/component-helpers/resource"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Quota is a ResourceQuota that counts the pod.
type Quota struct {
	Name    string   `json:"name"`    // the name of the ResourceQuota
	Amounts []Amount `json:"amounts"` // the nonzero amounts that it counts for the pod, sorted by name

	// how many such pods this quota alone allows: Unlimited if it rejects none, 0 if containers do not
	// specify a resource that it counts, or if its usage has not been counted
	Passes int64 `json:"passes"`
}

// Used returns what a quota counts for an existing pod, by the quota's names of
// resources. It returns nil if the quota does not count such pods. For a pod
// that has ended, only count/pods is counted. Limits of pods in a Snapshot are
// unknown, and count as 0.
func Used(q *corev1.ResourceQuota, pod *corev1.Pod, kubernetesVersion string) corev1.ResourceList {
	c := &check{version: rulesOf(kubernetesVersion), pod: pod}
	if !c.inScope(q) {
		return nil
	}
	used := c.usage()
	ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	maps.DeleteFunc(used, func(name corev1.ResourceName, amount resource.Quantity) bool {
		_, limited := q.Status.Hard[name]
		return !limited || amount.IsZero() || ended && name != countPods
	})
	return used
}

// quotas checks that the pod specifies what the quotas count, and that they
// have room.
func (c *check) quotas() {
	c.unread(ResourceQuota, snapshot.ResourceQuotas)
	used := c.usage()
	var full []Refusal
	for _, q := range slices.SortedStableFunc(slices.Values(c.in.ResourceQuotas),
		func(a, b corev1.ResourceQuota) int { return strings.Compare(a.Name, b.Name) }) {
		counted := countedOf(q.Status.Hard)
		if len(counted) == 0 || !c.inScope(&q) {
			continue
		}
		verdict := Quota{Name: q.Name, Passes: Unlimited}
		if r, ok := c.whyUncounted(&q, counted); !ok {
			c.refuse(r)
			verdict.Passes = 0
		}
		var exceeded []Amount
		for _, name := range slices.Sorted(maps.Keys(q.Status.Hard)) {
			a := Amount{Resource: name, Requested: used[name], Used: q.Status.Used[name], Hard: q.Status.Hard[name]}
			if a.Requested.IsZero() {
				continue
			}
			verdict.Amounts = append(verdict.Amounts, a)
			passes := a.Passes()
			if verdict.Passes == Unlimited || passes < verdict.Passes {
				verdict.Passes = passes
			}
			if passes == 0 {
				exceeded = append(exceeded, a)
			}
		}
		c.out.Quotas = append(c.out.Quotas, verdict)
		if len(exceeded) > 0 {
			full = append(full, c.exceeded(q.Name, exceeded))
		}
	}
	// The API server first checks what the pod must specify for all of them.
	c.out.Refusals = append(c.out.Refusals, full...)
}

func (c *check) exceeded(name string, all []Amount) Refusal {
	r := Refusal{Rule: ResourceQuota, Reason: QuotaExceeded, Name: name, Amounts: all}
	for _, a := range all {
		hard := a.Used.DeepCopy()
		hard.Add(a.Requested)
		r.Remedies = append(r.Remedies, Remedy{Do: RaiseQuota, Name: name, Resource: a.Resource, Amount: &hard})
	}
	return r
}

// whyUncounted returns why a quota cannot count the pod: containers do not
// specify cpu or memory, or the controller has not counted the other pods. ok
// is true if it can.
func (c *check) whyUncounted(q *corev1.ResourceQuota, counted []corev1.ResourceName) (r Refusal, ok bool) {
	if missing := c.unspecified(counted); len(missing) > 0 {
		r = Refusal{Rule: ResourceQuota, Reason: QuotaMustSpecify, Name: q.Name, Missing: missing}
		for _, m := range missing {
			for _, container := range m.Containers {
				r.Remedies = append(r.Remedies, specify(m.Resource, container))
			}
		}
		return r, false
	}
	var uncounted []Missing
	for _, name := range counted {
		if _, has := q.Status.Used[name]; !has {
			uncounted = append(uncounted, Missing{Resource: name})
		}
	}
	return Refusal{Rule: ResourceQuota, Reason: QuotaStatusUnknown, Name: q.Name, Missing: uncounted},
		len(uncounted) == 0
}

func specify(quota corev1.ResourceName, container string) Remedy {
	if name, limit := strings.CutPrefix(string(quota), "limits."); limit {
		return Remedy{Do: SetLimit, Container: container, Resource: corev1.ResourceName(name)}
	}
	return Remedy{Do: SetRequest, Container: container,
		Resource: corev1.ResourceName(strings.TrimPrefix(string(quota), corev1.DefaultResourceRequestsPrefix))}
}

// mustSpecify are the resources that every container has to request or limit if
// a quota counts them.
var mustSpecify = []corev1.ResourceName{
	corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory,
	corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory,
}

// unspecified returns what containers fail to specify. Since v1.34 pod-level
// requests or limits are sufficient.
func (c *check) unspecified(counted []corev1.ResourceName) []Missing {
	if c.version.podLevelResources && helper.IsPodLevelResourcesSet(c.pod) {
		return nil
	}
	var all []Missing
	for _, name := range counted {
		if !slices.Contains(mustSpecify, name) {
			continue
		}
		var lack []string
		for _, container := range containers(&c.pod.Spec) {
			if _, has := usageOf(container.Resources.Requests, container.Resources.Limits)[name]; !has {
				lack = append(lack, container.Name)
			}
		}
		if len(lack) > 0 {
			slices.Sort(lack)
			all = append(all, Missing{Resource: name, Containers: lack})
		}
	}
	return all
}

// countPods counts pods, including those that have ended.
const countPods corev1.ResourceName = "count/pods"

// countedOf returns the resources of a quota that concern pods, by name.
func countedOf(hard corev1.ResourceList) []corev1.ResourceName {
	plain := []corev1.ResourceName{
		countPods, corev1.ResourcePods, corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage,
		corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceRequestsEphemeralStorage,
		corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceLimitsEphemeralStorage,
	}
	var all []corev1.ResourceName
	for _, name := range slices.Sorted(maps.Keys(hard)) {
		request, requests := strings.CutPrefix(string(name), corev1.DefaultResourceRequestsPrefix)
		extended := requests && (!isNative(name) || strings.HasPrefix(request, deviceClassPrefix))
		if slices.Contains(plain, name) || isHugePages(corev1.ResourceName(request)) || extended {
			all = append(all, name)
		}
	}
	return all
}

// deviceClassPrefix begins extended resources that name a DeviceClass, since
// v1.34.
const deviceClassPrefix = "deviceclass.resource.kubernetes.io/"

// usage returns the pod's usage of every resource that a quota may count.
func (c *check) usage() corev1.ResourceList {
	options := helper.PodResourcesOptions{SkipPodLevelResources: !c.version.podLevelResources}
	used := usageOf(helper.PodRequests(c.pod, options), helper.PodLimits(c.pod, options))
	one := *resource.NewQuantity(1, resource.DecimalSI)
	used[countPods], used[corev1.ResourcePods] = one, one
	return used
}

// usageOf converts requests and limits to the names that quotas use.
func usageOf(requests, limits corev1.ResourceList) corev1.ResourceList {
	used := corev1.ResourceList{}
	for name, q := range requests {
		prefixed := corev1.DefaultResourceRequestsPrefix + name
		switch {
		case name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage ||
			isHugePages(name):
			used[name], used[prefixed] = q, q
		case isExtended(name) || strings.HasPrefix(string(name), deviceClassPrefix):
			used[prefixed] = q
		}
	}
	for name, q := range limits {
		if name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage {
			used["limits."+name] = q
		}
	}
	return used
}

// isExtended reports whether a resource is one that device plugins or people
// add to nodes.
func isExtended(name corev1.ResourceName) bool {
	return !isNative(name) && !strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix) &&
		len(validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+string(name))) == 0
}

// inScope reports whether a quota counts this pod: the pod matches all its
// scopes.
func (c *check) inScope(q *corev1.ResourceQuota) bool {
	for _, scope := range q.Spec.Scopes {
		if !c.meetsScope(corev1.ScopedResourceSelectorRequirement{ScopeName: scope,
			Operator: corev1.ScopeSelectorOpExists}) {
			return false
		}
	}
	if s := q.Spec.ScopeSelector; s != nil {
		for _, r := range s.MatchExpressions {
			if !c.meetsScope(r) {
				return false
			}
		}
	}
	return true
}

func (c *check) meetsScope(r corev1.ScopedResourceSelectorRequirement) bool {
	deadline := c.pod.Spec.ActiveDeadlineSeconds
	switch r.ScopeName {
	case corev1.ResourceQuotaScopeTerminating:
		return deadline != nil && *deadline >= 0
	case corev1.ResourceQuotaScopeNotTerminating:
		return deadline == nil || *deadline < 0
	case corev1.ResourceQuotaScopeBestEffort:
		return c.bestEffort()
	case corev1.ResourceQuotaScopeNotBestEffort:
		return !c.bestEffort()
	case corev1.ResourceQuotaScopePriorityClass:
		return meetsClass(r, c.pod.Spec.PriorityClassName)
	case corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return looksElsewhere(c.pod.Spec.Affinity)
	}
	return false // not a scope for pods
}

func meetsClass(r corev1.ScopedResourceSelectorRequirement, class string) bool {
	switch r.Operator {
	case corev1.ScopeSelectorOpExists:
		return class != ""
	case corev1.ScopeSelectorOpDoesNotExist:
		return class == ""
	case corev1.ScopeSelectorOpIn:
		return class != "" && slices.Contains(r.Values, class)
	case corev1.ScopeSelectorOpNotIn:
		return class == "" || !slices.Contains(r.Values, class)
	}
	return false
}

// bestEffort reports whether the pod neither requests nor limits cpu and
// memory. Since v1.34 pod-level resources decide if there are any.
func (c *check) bestEffort() bool {
	if c.version.podLevelResources && helper.IsPodLevelResourcesSet(c.pod) {
		return nothing(c.pod.Spec.Resources)
	}
	return !slices.ContainsFunc(containers(&c.pod.Spec),
		func(c *corev1.Container) bool { return !nothing(&c.Resources) })
}

func nothing(r *corev1.ResourceRequirements) bool {
	for _, list := range []corev1.ResourceList{r.Requests, r.Limits} {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			if q := list[name]; !q.IsZero() {
				return false
			}
		}
	}
	return true
}

// looksElsewhere reports whether a term of pod affinity or anti-affinity names
// or selects namespaces.
func looksElsewhere(a *corev1.Affinity) bool {
	if a == nil {
		return false
	}
	var terms []corev1.PodAffinityTerm
	weighted := func(all []corev1.WeightedPodAffinityTerm) {
		for _, t := range all {
			terms = append(terms, t.PodAffinityTerm)
		}
	}
	if p := a.PodAffinity; p != nil {
		terms = append(terms, p.RequiredDuringSchedulingIgnoredDuringExecution...)
		weighted(p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if p := a.PodAntiAffinity; p != nil {
		terms = append(terms, p.RequiredDuringSchedulingIgnoredDuringExecution...)
		weighted(p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return slices.ContainsFunc(terms, func(t corev1.PodAffinityTerm) bool {
		return len(t.Namespaces) > 0 ||
			t.NamespaceSelector != nil
	})
}

// Passes returns how many times the requested amount fits into the rest of a
// quota.
func (a Amount) Passes() int64 {
	left := a.Hard.DeepCopy()
	left.Sub(a.Used)
	if left.Sign() <= 0 || a.Requested.Sign() <= 0 {
		return 0
	}
	n := new(big.Int).Quo(nanos(left), nanos(a.Requested))
	if !n.IsInt64() {
		return math.MaxInt64
	}
	return n.Int64()
}

// nanos returns a quantity in billionths, the smallest possible unit.
func nanos(q resource.Quantity) *big.Int {
	q = q.DeepCopy()
	d := q.AsDec()
	n := new(big.Int).Set(d.UnscaledBig())
	return n.Mul(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(9-int64(d.Scale())), nil))
}
