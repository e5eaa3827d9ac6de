package validate

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var resourceRules = table[*corev1.ResourceRequirements]{
	{"limits", "must contain only resources that containers support; also applies to requests", 0,
		func(c *check, v *corev1.ResourceRequirements, at *field.Path) {
			for _, l := range amounts(v) {
				for name := range l.each {
					c.resourceName(at.Child(l.field).Key(string(name)), name)
				}
			}
		}},
	{"limits", "quantities must be 0 or more, and integers for extended resources; also applies to requests", 0,
		func(c *check, v *corev1.ResourceRequirements, at *field.Path) {
			for _, l := range amounts(v) {
				for name, q := range l.each {
					c.amount(at.Child(l.field).Key(string(name)), name, q)
				}
			}
		}},
	{"limits", "hugepages must be a multiple of the page size; also applies to requests", 22,
		func(c *check, v *corev1.ResourceRequirements, at *field.Path) {
			for _, l := range amounts(v) {
				for name, q := range l.each {
					size, err := resource.ParseQuantity(strings.TrimPrefix(string(name),
						corev1.ResourceHugePagesPrefix))
					if hugePages(name) && (err != nil || size.Sign() <= 0 || size.MilliValue()%1000 != 0 ||
						q.Value()%size.Value() != 0) {
						c.invalid(at.Child(l.field).Key(string(name)), q.String(),
							q.String()+" is not positive integer multiple of "+string(name))
					}
				}
			}
		}},
	{"requests", "must not exceed limits; for extended resources and hugepages, must be equal to limits", 0,
		func(c *check, v *corev1.ResourceRequirements, at *field.Path) {
			for _, name := range slices.Sorted(maps.Keys(v.Requests)) {
				request := v.Requests[name]
				limit, limited := v.Limits[name]
				switch of := string(name) + " limit of " + limit.String(); {
				case !limited && !overcommits(name):
					c.required(at.Child("limits"), "Limit must be set for non overcommitable resources")
				case limited && !overcommits(name) && request.Cmp(limit) != 0:
					c.invalid(at.Child("requests"), request.String(), "must be equal to "+of)
				case limited && request.Cmp(limit) > 0:
					c.invalid(at.Child("requests"), request.String(), "must be less than or equal to "+of)
				}
			}
		}},
	{"", "hugepages require cpu or memory", 0, func(c *check, v *corev1.ResourceRequirements, at *field.Path) {
		huge, usual := false, false
		for _, l := range amounts(v) {
			for name := range l.each {
				huge = huge || hugePages(name)
				usual = usual || name == corev1.ResourceCPU || name == corev1.ResourceMemory
			}
		}
		if huge && !usual {
			c.forbidden(at, "HugePages require cpu or memory")
		}
	}},
}

// amounts returns iterators over the limits and the requests, with the names of these fields.
func amounts(v *corev1.ResourceRequirements) []struct {
	field string
	each  func(func(corev1.ResourceName, resource.Quantity) bool)
} {
	sorted := func(l corev1.ResourceList) func(func(corev1.ResourceName, resource.Quantity) bool) {
		return func(yield func(corev1.ResourceName, resource.Quantity) bool) {
			for _, name := range slices.Sorted(maps.Keys(l)) {
				if !yield(name, l[name]) {
					return
				}
			}
		}
	}
	return []struct {
		field string
		each  func(func(corev1.ResourceName, resource.Quantity) bool)
	}{{"limits", sorted(v.Limits)}, {"requests", sorted(v.Requests)}}
}

func (c *check) resourceName(at *field.Path, name corev1.ResourceName) {
	if why := validation.IsQualifiedName(string(name)); len(why) > 0 {
		c.invalid(at, name, why...)
		return
	}
	usual := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}
	switch {
	case !strings.Contains(string(name), "/"):
		if !slices.Contains(usual, name) && !hugePages(name) {
			c.invalid(at, name, "must be a standard resource for containers")
		}
	case !native(name) && !extended(name):
		c.invalid(at, name, "doesn't follow extended resource name standard")
	}
}

func (c *check) amount(at *field.Path, name corev1.ResourceName, q resource.Quantity) {
	if q.Sign() < 0 {
		c.invalid(at, q.String(), "must be greater than or equal to 0")
	}
	if extended(name) && q.MilliValue()%1000 != 0 {
		c.invalid(at, q.String(), "must be an integer")
	}
}

func hugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

func native(name corev1.ResourceName) bool {
	return !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

func extended(name corev1.ResourceName) bool {
	const quota = corev1.DefaultResourceRequestsPrefix
	return !native(name) && !strings.HasPrefix(string(name), quota) &&
		len(validation.IsQualifiedName(quota+string(name))) == 0
}

func overcommits(name corev1.ResourceName) bool { return native(name) && !hugePages(name) }
