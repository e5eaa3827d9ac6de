package validate

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// placeRules apply to the fields that restrict the nodes of a pod.
var placeRules = table[*corev1.PodSpec]{
	{"nodeSelector", "must contain valid labels", 0, func(c *check, v *corev1.PodSpec, at *field.Path) {
		c.add(metavalidation.ValidateLabels(v.NodeSelector, at.Child("nodeSelector"))...)
	}},
	{"affinity.nodeAffinity", "a required node affinity must have at least one term", 0,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			if required, _ := nodeAffinity(v); required != nil && len(required.NodeSelectorTerms) == 0 {
				c.required(at.Child("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution",
					"nodeSelectorTerms"), "must have at least one node selector term")
			}
		}},
	{"affinity.nodeAffinity",
		"expressions must have a valid key and operator, and the number of values that the operator requires", 0,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			eachTerm(v, at, func(t *corev1.NodeSelectorTerm, at *field.Path, _ bool) {
				for i := range t.MatchExpressions {
					c.expression(&t.MatchExpressions[i], at.Child("matchExpressions").Index(i))
				}
			})
		}},
	{"affinity.nodeAffinity", "values of a required node affinity must be valid label values", 33,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			eachTerm(v, at, func(t *corev1.NodeSelectorTerm, at *field.Path, required bool) {
				for i := range t.MatchExpressions {
					for j, value := range t.MatchExpressions[i].Values {
						if required {
							c.invalid(at.Child("matchExpressions").Index(i).Child("values").Index(j), value,
								validation.IsValidLabelValue(value)...)
						}
					}
				}
			})
		}},
	{"affinity.nodeAffinity",
		"matchFields supports only the key metadata.name, with the operator In or NotIn and exactly one name", 0,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			eachTerm(v, at, func(t *corev1.NodeSelectorTerm, at *field.Path, _ bool) {
				for i, r := range t.MatchFields {
					at := at.Child("matchFields").Index(i)
					switch {
					case r.Operator != corev1.NodeSelectorOpIn && r.Operator != corev1.NodeSelectorOpNotIn:
						c.invalid(at.Child("operator"), r.Operator, "not a valid selector operator")
					case len(r.Values) != 1:
						c.required(at.Child("values"),
							"must be only one value when `operator` is 'In' or 'NotIn' for node field selector")
					}
					if r.Key != metav1.ObjectNameField {
						c.invalid(at.Child("key"), r.Key, "not a valid field selector key")
						continue
					}
					for j, name := range r.Values {
						c.invalid(at.Child("values").Index(j), name, dnsSubdomain(name)...)
					}
				}
			})
		}},
	{"affinity", "weights must be from 1 to 100", 0, func(c *check, v *corev1.PodSpec, at *field.Path) {
		const preferred = "preferredDuringSchedulingIgnoredDuringExecution"
		weigh := func(weight int32, at *field.Path) {
			if weight < 1 || weight > 100 {
				c.invalid(at.Child("weight"), weight, "must be in the range 1-100")
			}
		}
		_, terms := nodeAffinity(v)
		for i, t := range terms {
			weigh(t.Weight, at.Child("affinity", "nodeAffinity", preferred).Index(i))
		}
		for _, a := range podAffinities(v, at) {
			for i, t := range a.preferred {
				weigh(t.Weight, a.at.Child(preferred).Index(i))
			}
		}
	}},
	{"affinity.podAffinity",
		"must have a topologyKey, and valid selectors and namespaces; also applies to podAntiAffinity", 0,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			for _, a := range podAffinities(v, at) {
				for i := range a.required {
					c.podTerm(&a.required[i], a.at.Child("requiredDuringSchedulingIgnoredDuringExecution").Index(i))
				}
				for i := range a.preferred {
					c.podTerm(&a.preferred[i].PodAffinityTerm,
						a.at.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i).Child("podAffinityTerm"))
				}
			}
		}},
	{"topologySpreadConstraints[]",
		"maxSkew must be 1 or more; topologyKey is required; whenUnsatisfiable must be DoNotSchedule or " +
			"ScheduleAnyway; the pair of topologyKey and whenUnsatisfiable must be unique", 0,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			for i, s := range v.TopologySpreadConstraints {
				at := at.Child("topologySpreadConstraints").Index(i)
				if s.MaxSkew <= 0 {
					c.invalid(at.Child("maxSkew"), s.MaxSkew, "must be greater than zero")
				}
				if s.TopologyKey == "" {
					c.required(at.Child("topologyKey"), "can not be empty")
				}
				oneOf(c, at.Child("whenUnsatisfiable"), s.WhenUnsatisfiable, corev1.DoNotSchedule,
					corev1.ScheduleAnyway)
				if slices.ContainsFunc(v.TopologySpreadConstraints[i+1:], func(o corev1.TopologySpreadConstraint) bool {
					return o.TopologyKey == s.TopologyKey && o.WhenUnsatisfiable == s.WhenUnsatisfiable
				}) {
					c.add(field.Duplicate(at.Child("{topologyKey, whenUnsatisfiable}"),
						fmt.Sprintf("{%v, %v}", s.TopologyKey, s.WhenUnsatisfiable)))
				}
			}
		}},
	{"topologySpreadConstraints[]",
		"minDomains must be 1 or more, and requires DoNotSchedule; nodeAffinityPolicy and nodeTaintsPolicy " +
			"must be Honor or Ignore; labelSelector must be valid", 30,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			for i, s := range v.TopologySpreadConstraints {
				at := at.Child("topologySpreadConstraints").Index(i)
				if s.MinDomains != nil && *s.MinDomains <= 0 {
					c.invalid(at.Child("minDomains"), *s.MinDomains, "must be greater than zero")
				}
				if s.MinDomains != nil && s.WhenUnsatisfiable != corev1.DoNotSchedule {
					c.invalid(at.Child("minDomains"), *s.MinDomains,
						fmt.Sprintf("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not %s",
							s.WhenUnsatisfiable))
				}
				if p := s.NodeAffinityPolicy; p != nil {
					oneOf(c, at.Child("nodeAffinityPolicy"), *p, corev1.NodeInclusionPolicyHonor,
						corev1.NodeInclusionPolicyIgnore)
				}
				if p := s.NodeTaintsPolicy; p != nil {
					oneOf(c, at.Child("nodeTaintsPolicy"), *p, corev1.NodeInclusionPolicyHonor,
						corev1.NodeInclusionPolicyIgnore)
				}
				c.labelKeys(at, s.MatchLabelKeys, "matchLabelKeys", s.LabelSelector)
				c.add(metavalidation.ValidateLabelSelector(s.LabelSelector,
					metavalidation.LabelSelectorValidationOptions{}, at.Child("labelSelector"))...)
			}
		}},
	{"tolerations[].key", "must be a valid label key; may be empty only if operator is Exists", 0,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			for i, t := range v.Tolerations {
				at := at.Child("tolerations").Index(i)
				if t.Key != "" {
					c.add(metavalidation.ValidateLabelName(t.Key, at.Child("key"))...)
				} else if t.Operator != corev1.TolerationOpExists {
					c.invalid(at.Child("operator"), t.Operator,
						"operator must be Exists when `key` is empty, which means \"match all values and all keys\"")
				}
			}
		}},
	{"tolerations[].tolerationSeconds", "can be set only if effect is NoExecute", 0,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			for i, t := range v.Tolerations {
				if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
					c.invalid(at.Child("tolerations").Index(i).Child("effect"), t.Effect,
						"effect must be 'NoExecute' when `tolerationSeconds` is set")
				}
			}
		}},
	{"tolerations[].operator", "must be Equal with a valid label value, or Exists without a value", 0,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			for i, t := range v.Tolerations {
				switch at := at.Child("tolerations").Index(i).Child("operator"); t.Operator {
				case corev1.TolerationOpEqual, "":
					if why := validation.IsValidLabelValue(t.Value); len(why) > 0 {
						c.invalid(at, t.Value, strings.Join(why, ";"))
					}
				case corev1.TolerationOpExists:
					if t.Value != "" {
						c.invalid(at, t.Value, "value must be empty when `operator` is 'Exists'")
					}
				case corev1.TolerationOpLt, corev1.TolerationOpGt: // behind a feature gate
				default:
					oneOf(c, at, t.Operator, corev1.TolerationOpEqual, corev1.TolerationOpExists)
				}
			}
		}},
	{"tolerations[].effect", "must be empty, NoSchedule, PreferNoSchedule or NoExecute", 0,
		func(c *check, v *corev1.PodSpec, at *field.Path) {
			for i, t := range v.Tolerations {
				if t.Effect != "" {
					oneOf(c, at.Child("tolerations").Index(i).Child("effect"), t.Effect, corev1.TaintEffectNoSchedule,
						corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)
				}
			}
		}},
}

// nodeAffinity returns the required and the preferred terms of a pod's node affinity.
func nodeAffinity(v *corev1.PodSpec) (*corev1.NodeSelector, []corev1.PreferredSchedulingTerm) {
	if v.Affinity == nil || v.Affinity.NodeAffinity == nil {
		return nil, nil
	}
	a := v.Affinity.NodeAffinity
	return a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution
}

// eachTerm calls f for each node selector term of a pod's node affinity.
func eachTerm(v *corev1.PodSpec, at *field.Path, f func(t *corev1.NodeSelectorTerm, at *field.Path, required bool)) {
	required, preferred := nodeAffinity(v)
	at = at.Child("affinity", "nodeAffinity")
	if required != nil {
		for i := range required.NodeSelectorTerms {
			f(&required.NodeSelectorTerms[i], at.Child("requiredDuringSchedulingIgnoredDuringExecution",
				"nodeSelectorTerms").Index(i), true)
		}
	}
	for i := range preferred {
		f(&preferred[i].Preference,
			at.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i).Child("preference"), false)
	}
}

func (c *check) expression(r *corev1.NodeSelectorRequirement, at *field.Path) {
	switch r.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(r.Values) == 0 {
			c.required(at.Child("values"), "must be specified when `operator` is 'In' or 'NotIn'")
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if len(r.Values) > 0 {
			c.forbidden(at.Child("values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		if len(r.Values) != 1 {
			c.required(at.Child("values"), "must be specified single value when `operator` is 'Lt' or 'Gt'")
		}
	default:
		c.invalid(at.Child("operator"), r.Operator, "not a valid selector operator")
	}
	c.add(metavalidation.ValidateLabelName(r.Key, at.Child("key"))...)
}

// labelKeys adds the errors of matchLabelKeys or mismatchLabelKeys. These fields add the pod's own labels to a
// selector.
func (c *check) labelKeys(at *field.Path, keys []string, name string, selector *metav1.LabelSelector) {
	if at = at.Child(name); len(keys) > 0 && selector == nil && c.minor >= 31 {
		c.forbidden(at, "must not be specified when labelSelector is not set")
		return
	}
	for i, key := range keys {
		if c.minor >= 31 {
			c.add(metavalidation.ValidateLabelName(key, at.Index(i))...)
		}
	}
}

// podAffinity is the affinity or anti-affinity of a pod to other pods.
type podAffinity struct {
	at        *field.Path
	required  []corev1.PodAffinityTerm
	preferred []corev1.WeightedPodAffinityTerm
}

func podAffinities(v *corev1.PodSpec, at *field.Path) (all []podAffinity) {
	if v.Affinity == nil {
		return nil
	}
	if a := v.Affinity.PodAffinity; a != nil {
		all = append(all, podAffinity{at.Child("affinity", "podAffinity"),
			a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution})
	}
	if a := v.Affinity.PodAntiAffinity; a != nil {
		all = append(all, podAffinity{at.Child("affinity", "podAntiAffinity"),
			a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution})
	}
	return all
}

func (c *check) podTerm(t *corev1.PodAffinityTerm, at *field.Path) {
	c.add(metavalidation.ValidateLabelSelector(t.LabelSelector, metavalidation.LabelSelectorValidationOptions{},
		at.Child("labelSelector"))...)
	c.add(metavalidation.ValidateLabelSelector(t.NamespaceSelector, metavalidation.LabelSelectorValidationOptions{},
		at.Child("namespaceSelector"))...)
	c.labelKeys(at, t.MatchLabelKeys, "matchLabelKeys", t.LabelSelector)
	c.labelKeys(at, t.MismatchLabelKeys, "mismatchLabelKeys", t.LabelSelector)
	for _, name := range t.Namespaces {
		c.invalid(at.Child("namespace"), name, validation.IsDNS1123Label(name)...)
	}
	if t.TopologyKey == "" {
		c.required(at.Child("topologyKey"), "can not be empty")
	}
	c.add(metavalidation.ValidateLabelName(t.TopologyKey, at.Child("topologyKey"))...)
}
