package source

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// defaults are what the API server writes into a DaemonSet where the manifest
// says nothing, as the API reference has it. Those of its pods are
// template.Default's.
type defaults struct {
	version string
	surge   bool // v1.21: maxSurge
}

// defaultsOf returns those of a server's version, or of the newest when that
// tells nothing.
func defaultsOf(kubernetesVersion string) defaults {
	v, err := version.ParseGeneric(kubernetesVersion)
	return defaults{version: kubernetesVersion, surge: err != nil || v.AtLeast(version.MajorMinor(1, 21))}
}

// set sets every default. It changes nothing that is set.
func (d defaults) set(ds *appsv1.DaemonSet) {
	orPointer(&ds.Spec.RevisionHistoryLimit, 10)
	s := &ds.Spec.UpdateStrategy
	or(&s.Type, appsv1.RollingUpdateDaemonSetStrategyType)
	if s.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		orPointer(&s.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
		orPointer(&s.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
		if d.surge {
			orPointer(&s.RollingUpdate.MaxSurge, intstr.FromInt32(0))
		}
	}
	template.Default(&ds.Spec.Template, d.version)
}

func or[T comparable](field *T, value T) {
	if *field == *new(T) {
		*field = value
	}
}

func orPointer[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
