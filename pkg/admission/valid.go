package admission

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/component-helpers/resource"
)

// Invalid is a field that is invalid in the pod although the template is valid,
// because of what a LimitRange or a default adds.
type Invalid struct {
	Why       InvalidCode         `json:"why"`                 // what is wrong
	Field     string              `json:"field"`               // the field of the pod, as the API server names it
	Container string              `json:"container,omitempty"` // the container concerned; absent for the whole pod
	Resource  corev1.ResourceName `json:"resource,omitempty"`  // the resource concerned; otherwise absent
	Value     string              `json:"value"`               // the value of the field
	Bound     string              `json:"bound,omitempty"`     // the value that it violates; otherwise absent
}

// InvalidCode says why a field is invalid.
type InvalidCode string

const (
	RequestAboveLimit InvalidCode = "RequestAboveLimit" // the request `value` is above the limit `bound`
	// RequestIsNotLimit: the request `value` differs from the limit `bound`, but the resource cannot be overcommitted
	RequestIsNotLimit InvalidCode = "RequestIsNotLimit"
	// a resource that cannot be overcommitted is requested, but not limited
	NoLimit       InvalidCode = "NoLimit"
	HugePagesOnly InvalidCode = "HugePagesOnly" // hugepages are requested, but neither cpu nor memory
	// HostPortTwice: two ports have the host port `value` (protocol/address/port). On the host's network,
	// every port of a container is a host port
	HostPortTwice InvalidCode = "HostPortTwice"
	// PodBelowContainers: the pod's request, or limit of hugepages, `value` is below the sum of the containers, `bound`
	PodBelowContainers InvalidCode = "PodBelowContainers"
	// the container's limit `value` is above the pod's limit `bound`
	ContainerAbovePod InvalidCode = "ContainerAbovePod"
)

// validate checks what admission plugins and the defaults of a Pod set against
// what the template has. Everything else was validated with the template.
func (c *check) validate() {
	spec := &c.pod.Spec
	var all []Invalid
	lists := []struct {
		path string
		of   []corev1.Container
	}{{"spec.initContainers", spec.InitContainers}, {"spec.containers", spec.Containers}}
	for _, list := range lists {
		for i := range list.of {
			container := &list.of[i]
			for _, v := range invalidResources(&container.Resources, fmt.Sprintf("%s[%d].resources", list.path, i)) {
				v.Container = container.Name
				all = append(all, v)
			}
		}
	}
	for i := range spec.InitContainers { // separately: init containers do not run at the same time
		all = append(all, samePorts("spec.initContainers", spec.InitContainers[:i+1], i)...)
	}
	all = append(all, samePorts("spec.containers", spec.Containers, 0)...)
	if r := spec.Resources; c.version.podLevelResources && r != nil {
		all = append(all, invalidResources(r, "spec.resources")...)
		all = append(all, c.inconsistent()...)
	}
	if len(all) > 0 {
		c.refuse(Refusal{Rule: Validation, Reason: PodInvalid, Invalid: all, Remedies: c.remediesOf(all)})
	}
}

// invalidResources compares requests with limits.
func invalidResources(r *corev1.ResourceRequirements, path string) []Invalid {
	var all []Invalid
	huge, usual := false, false
	note := func(name corev1.ResourceName) {
		huge = huge || isHugePages(name)
		usual = usual || name == corev1.ResourceCPU || name == corev1.ResourceMemory
	}
	for name := range r.Limits {
		note(name)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Requests)) {
		note(name)
		request := r.Requests[name]
		limit, limited := r.Limits[name]
		invalid := Invalid{Field: path + ".requests", Resource: name, Value: request.String(), Bound: limit.String()}
		switch {
		case !limited && !overcommits(name):
			invalid.Why, invalid.Field, invalid.Bound = NoLimit, path+".limits", ""
		case !limited:
			continue
		case !overcommits(name) && request.Cmp(limit) != 0:
			invalid.Why = RequestIsNotLimit
		case request.Cmp(limit) > 0:
			invalid.Why = RequestAboveLimit
		default:
			continue
		}
		all = append(all, invalid)
	}
	if huge && !usual {
		all = append(all, Invalid{Why: HugePagesOnly, Field: path})
	}
	return all
}

// samePorts returns the ports, from one container on, that share a host port
// with an earlier one.
func samePorts(path string, list []corev1.Container, from int) []Invalid {
	var all []Invalid
	seen := map[string]bool{}
	for i := from; i < len(list); i++ {
		for j, p := range list[i].Ports {
			port := fmt.Sprintf("%s/%s/%d", p.Protocol, p.HostIP, p.HostPort)
			if p.HostPort != 0 && seen[port] {
				all = append(all, Invalid{Why: HostPortTwice, Field: fmt.Sprintf("%s[%d].ports[%d].hostPort", path, i,
					j), Container: list[i].Name, Value: port})
			}
			seen[port] = true
		}
	}
	return all
}

// inconsistent compares the pod-level requests and limits with those of the
// containers.
func (c *check) inconsistent() []Invalid {
	var all []Invalid
	r := c.pod.Spec.Resources
	below := func(have, sums corev1.ResourceList, field string, of func(corev1.ResourceName) bool) {
		for _, name := range slices.Sorted(maps.Keys(sums)) {
			sum := sums[name]
			if q, set := have[name]; set && of(name) && sum.Cmp(q) > 0 {
				all = append(all, Invalid{Why: PodBelowContainers, Field: fmt.Sprintf("spec.resources.%s[%s]", field,
					name), Resource: name, Value: q.String(), Bound: sum.String()})
			}
		}
	}
	below(r.Requests, resource.AggregateContainerRequests(c.pod, resource.PodResourcesOptions{}), "requests",
		func(corev1.ResourceName) bool { return true })
	below(r.Limits, resource.AggregateContainerLimits(c.pod, resource.PodResourcesOptions{}), "limits", isHugePages)
	for i, container := range c.pod.Spec.Containers {
		for _, name := range slices.Sorted(maps.Keys(container.Resources.Limits)) {
			limit := container.Resources.Limits[name]
			if most, set := r.Limits[name]; set && limit.Cmp(most) > 0 {
				all = append(all, Invalid{
					Why: ContainerAbovePod, Field: fmt.Sprintf("spec.resources.containers[%d][%s].limits", i, name),
					Container: container.Name, Resource: name, Value: limit.String(), Bound: most.String(),
				})
			}
		}
	}
	return all
}

// remediesOf returns what to set in the template so that the template is valid
// too.
func (c *check) remediesOf(all []Invalid) []Remedy {
	var out []Remedy
	for _, v := range all {
		r := Remedy{Container: v.Container, Resource: v.Resource}
		switch v.Why {
		case RequestAboveLimit, RequestIsNotLimit: // the limit may be a default, which then follows the request
			r.Do, r.Amount = SetLimit, quantity(v.Value)
		case NoLimit:
			r.Do, r.Amount = SetLimit, quantity(v.Value)
		case PodBelowContainers:
			r.Do, r.Amount = SetRequest, quantity(v.Bound)
		case ContainerAbovePod:
			r.Do, r.Amount = SetLimit, quantity(v.Bound)
		case HugePagesOnly:
			r.Do, r.Resource = SetRequest, corev1.ResourceMemory
		case HostPortTwice:
			r.Do, r.Resource, r.Field = RemoveField, "", v.Field[len("spec."):len(v.Field)-len(".hostPort")]
		}
		out = append(out, r)
		switch v.Why {
		case NoLimit: // LimitRanges do not change templates, so the value is needed there
			if isHugePages(v.Resource) && !c.hasUsual(v.Container) {
				out = append(out, Remedy{Do: SetRequest, Container: v.Container, Resource: corev1.ResourceMemory})
			}
		case PodBelowContainers:
			if limit, limited := c.pod.Spec.Resources.Limits[v.Resource]; limited && limit.Cmp(*r.Amount) < 0 {
				out = append(out, Remedy{Do: SetLimit, Resource: v.Resource, Amount: r.Amount})
			}
		}
	}
	return out
}

// hasUsual reports whether the template has requests or limits of cpu or memory
// for a container.
func (c *check) hasUsual(container string) bool {
	i := slices.IndexFunc(containers(&c.sent.Spec), func(o *corev1.Container) bool { return o.Name == container })
	if i < 0 {
		return true
	}
	r := containers(&c.sent.Spec)[i].Resources
	for _, list := range []corev1.ResourceList{r.Requests, r.Limits} {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			if _, has := list[name]; has {
				return true
			}
		}
	}
	return false
}

func quantity(text string) *resourcev1.Quantity {
	q := resourcev1.MustParse(text) // the text was formatted by a Quantity
	return &q
}
