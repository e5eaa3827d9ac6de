package explain

import (
	"cmp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
)

// Unsettled returns the DaemonSets whose status has pods that are not available or not updated, or
// is of a generation before the live one: those with most pods unavailable first, then those with
// most to update, then by namespace and name. It looks at nothing but the statuses.
func Unsettled(all []appsv1.DaemonSet) []appsv1.DaemonSet {
	unavailable := func(ds *appsv1.DaemonSet) int32 { return ds.Status.DesiredNumberScheduled - ds.Status.NumberAvailable }
	notUpdated := func(ds *appsv1.DaemonSet) int32 {
		return ds.Status.DesiredNumberScheduled - ds.Status.UpdatedNumberScheduled
	}
	found := slices.DeleteFunc(slices.Clone(all), func(ds appsv1.DaemonSet) bool {
		return unavailable(&ds) == 0 && notUpdated(&ds) == 0 && ds.Status.ObservedGeneration >= ds.Generation
	})
	slices.SortStableFunc(found, func(a, b appsv1.DaemonSet) int {
		return cmp.Or(cmp.Compare(unavailable(&b), unavailable(&a)), cmp.Compare(notUpdated(&b), notUpdated(&a)),
			strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return found
}
