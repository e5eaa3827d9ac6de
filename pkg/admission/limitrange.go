package admission

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	helper "k8s.io/component-helpers/resource"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// Bound is a bound of a LimitRange that a container or the pod violates.
type Bound struct {
	Why       BoundCode           `json:"why"`                 // which bound, and how it is violated
	Container string              `json:"container,omitempty"` // the container concerned; absent for the sum of the pod
	Resource  corev1.ResourceName `json:"resource"`            // such as cpu
	Bound     resource.Quantity   `json:"bound"`               // the value in the LimitRange
	// the request, with defaults; null if there is none
	Request *resource.Quantity `json:"request"`
	// the limit, with defaults; null if there is none
	Limit *resource.Quantity `json:"limit"`
}

// BoundCode says how a bound is violated.
type BoundCode string

const (
	MinWithoutRequest BoundCode = "MinWithoutRequest" // there is a minimum, and no request
	RequestBelowMin   BoundCode = "RequestBelowMin"   // the request is below the minimum
	LimitBelowMin     BoundCode = "LimitBelowMin"     // the limit is below the minimum
	MaxWithoutLimit   BoundCode = "MaxWithoutLimit"   // there is a maximum, and no limit
	LimitAboveMax     BoundCode = "LimitAboveMax"     // the limit is above the maximum
	RequestAboveMax   BoundCode = "RequestAboveMax"   // the request is above the maximum
	// the ratio of limit to request has a maximum, and there is no request, or
	// it is 0
	RatioWithoutRequest BoundCode = "RatioWithoutRequest"
	// the ratio of limit to request has a maximum, and there is no limit, or it
	// is 0
	RatioWithoutLimit BoundCode = "RatioWithoutLimit"
	RatioAboveMax     BoundCode = "RatioAboveMax" // the ratio of limit to request is above the maximum
)

// limitRangeDefaults adds the default limits and requests of the LimitRanges to
// each container that lacks them. The API server applies several LimitRanges in
// an undefined order; here the first by name comes first.
func (c *check) limitRangeDefaults() {
	var before corev1.ResourceRequirements
	for _, lr := range sortedRanges(c.in.LimitRanges) {
		limits, requests := corev1.ResourceList{}, corev1.ResourceList{}
		for _, item := range lr.Spec.Limits {
			if item.Type == corev1.LimitTypeContainer {
				limit, request := defaultsOf(item)
				maps.Copy(limits, limit)
				maps.Copy(requests, request)
			}
		}
		if differ(before.Limits, limits) || differ(before.Requests, requests) {
			c.assume(Assumption{What: LimitRangeOrder})
		}
		before.Limits, before.Requests = filledFrom(before.Limits, limits), filledFrom(before.Requests, requests)
		for _, container := range containers(&c.pod.Spec) {
			container.Resources.Limits = filledFrom(container.Resources.Limits, limits)
			container.Resources.Requests = filledFrom(container.Resources.Requests, requests)
		}
	}
}

// defaultsOf returns the default limits and requests of containers, as the API
// server completes them when it stores a LimitRange: a maximum is the default
// limit; a default limit, or else a minimum, is the default request.
func defaultsOf(item corev1.LimitRangeItem) (limits, requests corev1.ResourceList) {
	limits = filledFrom(maps.Clone(item.Default), item.Max)
	return limits, filledFrom(filledFrom(maps.Clone(item.DefaultRequest), limits), item.Min)
}

// differ reports whether two lists have different amounts of a common resource.
func differ(a, b corev1.ResourceList) bool {
	for name, q := range a {
		if other, has := b[name]; has && q.Cmp(other) != 0 {
			return true
		}
	}
	return false
}

func sortedRanges(all []corev1.LimitRange) []corev1.LimitRange {
	return slices.SortedStableFunc(slices.Values(all),
		func(a, b corev1.LimitRange) int { return strings.Compare(a.Name, b.Name) })
}

// limitRanges checks that each container and the pod are within the bounds.
func (c *check) limitRanges() {
	c.unread(LimitRanger, snapshot.LimitRanges)
	options := helper.PodResourcesOptions{ExcludeOverhead: true, SkipPodLevelResources: !c.version.podLevelResources}
	requests, limits := helper.PodRequests(c.pod, options), helper.PodLimits(c.pod, options)
	for _, lr := range sortedRanges(c.in.LimitRanges) {
		var all []Bound
		for _, item := range lr.Spec.Limits {
			switch item.Type {
			case corev1.LimitTypeContainer:
				for _, container := range containers(&c.pod.Spec) {
					all = append(all, violatedBounds(item, container.Name, container.Resources.Requests,
						container.Resources.Limits)...)
				}
			case corev1.LimitTypePod:
				all = append(all, violatedBounds(item, "", requests, limits)...)
			}
		}
		if len(all) == 0 {
			continue
		}
		r := Refusal{Rule: LimitRanger, Reason: LimitRangeViolated, Name: lr.Name, Bounds: all}
		for _, b := range all {
			r.Remedies = append(r.Remedies, b.remedies()...)
		}
		c.refuse(r)
	}
}

// violatedBounds returns the bounds of an item that the requests and limits violate.
func violatedBounds(item corev1.LimitRangeItem, container string, requests, limits corev1.ResourceList) []Bound {
	var all []Bound
	for _, kind := range []struct {
		bounds corev1.ResourceList
		broken func(Bound) BoundCode
	}{{item.Min, Bound.belowMin}, {item.Max, Bound.aboveMax}, {item.MaxLimitRequestRatio, Bound.aboveRatio}} {
		for _, name := range slices.Sorted(maps.Keys(kind.bounds)) {
			b := Bound{Container: container, Resource: name, Bound: kind.bounds[name],
				Request: amountIn(requests, name), Limit: amountIn(limits, name)}
			if b.Why = kind.broken(b); b.Why != "" {
				all = append(all, b)
			}
		}
	}
	return all
}

// amountIn returns a quantity of a list, or nil if it is missing.
func amountIn(list corev1.ResourceList, name corev1.ResourceName) *resource.Quantity {
	if q, has := list[name]; has {
		return &q
	}
	return nil
}

func (b Bound) belowMin() BoundCode {
	request, limit, bound := b.values()
	switch {
	case b.Request == nil:
		return MinWithoutRequest
	case request < bound:
		return RequestBelowMin
	case b.Limit != nil && limit < bound:
		return LimitBelowMin
	}
	return ""
}

func (b Bound) aboveMax() BoundCode {
	request, limit, bound := b.values()
	switch {
	case b.Limit == nil:
		return MaxWithoutLimit
	case limit > bound:
		return LimitAboveMax
	case request > bound: // a missing request is 0
		return RequestAboveMax
	}
	return ""
}

func (b Bound) aboveRatio() BoundCode {
	request, limit, _ := b.values()
	switch {
	case request == 0:
		return RatioWithoutRequest
	case limit == 0:
		return RatioWithoutLimit
	}
	ratio, most := float64(limit)/float64(request), float64(b.Bound.Value())
	if b.Bound.Value() <= resource.MaxMilliValue {
		ratio, most = ratio*1000, float64(b.Bound.MilliValue())
	}
	if ratio > most {
		return RatioAboveMax
	}
	return ""
}

// values returns request, limit and bound in the same unit: thousandths, or
// whole units if one of them is too large.
func (b Bound) values() (request, limit, bound int64) {
	var r, l resource.Quantity
	if b.Request != nil {
		r = *b.Request
	}
	if b.Limit != nil {
		l = *b.Limit
	}
	if request, limit, bound = r.Value(), l.Value(),
		b.Bound.Value(); max(request, limit, bound) <= resource.MaxMilliValue {
		request, limit, bound = r.MilliValue(), l.MilliValue(), b.Bound.MilliValue()
	}
	return request, limit, bound
}

// remedies returns changes that set the violating value to the bound, and the
// other value too if it would contradict that. For a ratio, the request follows
// the limit.
func (b Bound) remedies() []Remedy {
	set := func(do RemedyCode, to *resource.Quantity) Remedy {
		return Remedy{Do: do, Container: b.Container, Resource: b.Resource, Amount: to}
	}
	request, limit, bound := b.values()
	var all []Remedy
	switch b.Why {
	case MinWithoutRequest, RequestBelowMin, LimitBelowMin:
		if request < bound {
			all = append(all, set(SetRequest, &b.Bound))
		}
		if b.Limit != nil && limit < bound {
			all = append(all, set(SetLimit, &b.Bound))
		}
	case MaxWithoutLimit, LimitAboveMax, RequestAboveMax:
		if b.Limit == nil || limit > bound {
			all = append(all, set(SetLimit, &b.Bound))
		}
		if request > bound {
			all = append(all, set(SetRequest, &b.Bound))
		}
	case RatioWithoutLimit:
		all = append(all, set(SetLimit, b.Request))
	case RatioWithoutRequest:
		if b.Limit != nil && !b.Limit.IsZero() {
			all = append(all, set(SetRequest, b.Limit))
		} else { // any value above 0 will do
			all = append(all, set(SetRequest, nil), set(SetLimit, nil))
		}
	case RatioAboveMax:
		all = append(all, set(SetRequest, b.ratioRequest()))
	}
	return all
}

// ratioRequest returns the smallest request that the limit allows: in
// thousandths for cpu, else in whole units.
func (b Bound) ratioRequest() *resource.Quantity {
	ratio := float64(b.Bound.MilliValue()) / 1000
	unit, scale := b.Limit.MilliValue(), resource.Milli
	if b.Resource != corev1.ResourceCPU {
		unit, scale = b.Limit.Value(), 0
	}
	least := int64(float64(unit) / ratio)
	for float64(unit)/float64(least) > ratio { // the ratio to 0 is infinite
		least++
	}
	return resource.NewScaledQuantity(least, scale)
}
