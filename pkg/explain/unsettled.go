package explain

import (
	"cmp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
)

// Unsettled returns the DaemonSets whose status reports pods that are not
// available or not updated, or is for an older generation. It sorts them by the
// number of unavailable pods, then by the number of pods to update, both
// descending, then by namespace and name. It reads only the statuses.
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
