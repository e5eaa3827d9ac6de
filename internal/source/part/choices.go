package part

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
)

// Labeled is the name and the labels of an object that a command line can name.
type Labeled struct {
	Name   string
	Labels map[string]string
}

// LatestFirst sorts revisions in place by descending number and returns them.
func LatestFirst(all []appsv1.ControllerRevision) []appsv1.ControllerRevision {
	slices.SortStableFunc(all, func(a, b appsv1.ControllerRevision) int { return int(b.Revision - a.Revision) })
	return all
}
