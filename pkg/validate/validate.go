package validate

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"
)

// Messages of the API server for maxUnavailable and maxSurge.
const (
	BothLimits = "may not be set when maxUnavailable is non-zero"
	NoLimit    = "cannot be 0 when maxSurge is 0"
)

// DaemonSet returns the errors with which the API server rejects new as an update of old, or as a new DaemonSet if
// old is nil. The order is roughly that of the API server. If kubernetesVersion cannot be parsed, DaemonSet uses the
// rules of the newest version.
//
// DaemonSet omits errors that the pod template of old also has, because the API server accepted them, perhaps with a
// feature gate.
func DaemonSet(old, new *appsv1.DaemonSet, kubernetesVersion string) field.ErrorList {
	errs := errorsOf(old, new, kubernetesVersion, "")
	if old == nil || len(errs) == 0 {
		return errs
	}
	stored := map[string]bool{}
	for _, e := range errorsOf(old, old, kubernetesVersion, "") {
		stored[e.Error()] = true
	}
	return slices.DeleteFunc(errs, func(e *field.Error) bool {
		return strings.HasPrefix(e.Field, "spec.template.spec.") && stored[e.Error()]
	})
}

// errorsOf applies all rules except the row that without names. See check.skipped.
func errorsOf(old, new *appsv1.DaemonSet, kubernetesVersion, without string) field.ErrorList {
	c := &check{old: old, new: new, minor: math.MaxInt, skipped: without}
	if v, err := version.ParseGeneric(kubernetesVersion); err == nil {
		c.minor = int(v.Minor())
	}
	template := field.NewPath("spec", "template")
	objectRules.run(c, new, nil)
	templateRules.run(c, &new.Spec.Template, template)
	c.pod(&new.Spec.Template.Spec, template.Child("spec"))
	strategyRules.run(c, &new.Spec, field.NewPath("spec"))
	return c.errs
}

// pod applies the rules for a pod and its parts, in the order of the API server.
func (c *check) pod(spec *corev1.PodSpec, at *field.Path) {
	c.eachVolume(spec, at.Child("volumes"))
	for i := range spec.Containers {
		c.container(&spec.Containers[i], at.Child("containers").Index(i))
		c.runningContainer(&spec.Containers[i], at.Child("containers").Index(i))
	}
	for i := range spec.InitContainers {
		container, at := &spec.InitContainers[i], at.Child("initContainers").Index(i)
		c.container(container, at)
		if sidecar(container) {
			c.runningContainer(container, at)
		} else {
			initRules.run(c, container, at)
		}
	}
	podRules.run(c, spec, at)
	placeRules.run(c, spec, at)
}

// eachVolume applies the rules for volumes, and records the valid volumes. For the API server, a mount of an invalid
// volume does not refer to a volume.
func (c *check) eachVolume(spec *corev1.PodSpec, at *field.Path) {
	c.volumes = map[string]*corev1.VolumeSource{}
	for i := range spec.Volumes {
		v, before := &spec.Volumes[i], len(c.errs)
		volumeRules.run(c, v, at.Index(i))
		if len(c.errs) == before {
			c.volumes[v.Name] = &v.VolumeSource
		}
	}
}

func (c *check) container(v *corev1.Container, at *field.Path) {
	containerRules.run(c, v, at)
	resourceRules.run(c, &v.Resources, at.Child("resources"))
	if v.SecurityContext != nil {
		securityRules.run(c, v.SecurityContext, at.Child("securityContext"))
	}
}

// runningContainer applies the rules for handlers, which only containers that keep running can have.
func (c *check) runningContainer(v *corev1.Container, at *field.Path) {
	if l := v.Lifecycle; l != nil {
		for _, h := range []struct {
			of   *corev1.LifecycleHandler
			name string
		}{{l.PostStart, "postStart"}, {l.PreStop, "preStop"}} {
			if h.of != nil {
				handlerRules.run(c, handler{h.of, h.of.Exec, h.of.HTTPGet, h.of.TCPSocket, nil, h.of.Sleep},
					at.Child("lifecycle", h.name))
			}
		}
	}
	for _, p := range []struct {
		of    *corev1.Probe
		rules table[*corev1.Probe]
		name  string
	}{{v.LivenessProbe, restartRules, "livenessProbe"}, {v.ReadinessProbe, readinessRules, "readinessProbe"},
		{v.StartupProbe, restartRules, "startupProbe"}} {
		if p.of != nil {
			h := &p.of.ProbeHandler
			handlerRules.run(c, handler{h, h.Exec, h.HTTPGet, h.TCPSocket, h.GRPC, nil}, at.Child(p.name))
			probeRules.run(c, p.of, at.Child(p.name))
			p.rules.run(c, p.of, at.Child(p.name))
		}
	}
}

// sidecar reports whether an init container keeps running.
func sidecar(v *corev1.Container) bool {
	return v.RestartPolicy != nil && *v.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// tables lists all tables with the path of their values in a DaemonSet.
var tables = []struct {
	at string
	lister
}{
	{"", objectRules},
	{"spec", strategyRules},
	{"spec.template", templateRules},
	{"spec.template.spec", podRules},
	{"spec.template.spec", placeRules},
	{"spec.template.spec.volumes[]", volumeRules},
	{"spec.template.spec.containers[]", containerRules},
	{"spec.template.spec.containers[].resources", resourceRules},
	{"spec.template.spec.containers[].securityContext", securityRules},
	{"spec.template.spec.containers[].livenessProbe", handlerRules},
	{"spec.template.spec.containers[].livenessProbe", probeRules},
	{"spec.template.spec.containers[].livenessProbe", restartRules},
	{"spec.template.spec.containers[].readinessProbe", readinessRules},
	{"spec.template.spec.initContainers[]", initRules},
}

type lister interface{ list(at string) []Rule }

var objectRules = table[*appsv1.DaemonSet]{
	{"metadata", "names, labels and annotations must be valid", 0, func(c *check, v *appsv1.DaemonSet, _ *field.Path) {
		at := field.NewPath("metadata")
		if c.old == nil {
			c.add(apivalidation.ValidateObjectMeta(&v.ObjectMeta, true, apivalidation.NameIsDNSSubdomain, at)...)
			return
		}
		c.add(apivalidation.ValidateAnnotations(v.Annotations, at.Child("annotations"))...)
		c.add(metavalidation.ValidateLabels(v.Labels, at.Child("labels"))...)
	}},
	{"spec.selector", "must be a valid label selector, and cannot be changed", 0,
		func(c *check, v *appsv1.DaemonSet, _ *field.Path) {
			at := field.NewPath("spec", "selector")
			if c.old != nil && !apiequality.Semantic.DeepEqual(c.old.Spec.Selector, v.Spec.Selector) {
				c.invalid(at, v.Spec.Selector, "field is immutable")
			}
			c.add(metavalidation.ValidateLabelSelector(v.Spec.Selector,
				metavalidation.LabelSelectorValidationOptions{}, at)...)
		}},
	{"spec.template.metadata.labels", "must match the selector", 0, func(c *check, v *appsv1.DaemonSet, _ *field.Path) {
		selector, err := metav1.LabelSelectorAsSelector(v.Spec.Selector)
		if err == nil && !selector.Matches(labels.Set(v.Spec.Template.Labels)) {
			c.invalid(field.NewPath("spec", "template", "metadata", "labels"), v.Spec.Template.Labels,
				"`selector` does not match template `labels`")
		}
	}},
	{"spec.selector", "must not be empty", 0, func(c *check, v *appsv1.DaemonSet, _ *field.Path) {
		if s := v.Spec.Selector; s != nil && len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
			c.invalid(field.NewPath("spec", "selector"), s, "empty selector is invalid for daemonset")
		}
	}},
}

var strategyRules = table[*appsv1.DaemonSetSpec]{
	{"minReadySeconds", "must be 0 or more", 0, func(c *check, v *appsv1.DaemonSetSpec, at *field.Path) {
		c.notNegative(at.Child("minReadySeconds"), int64(v.MinReadySeconds))
	}},
	{"updateStrategy", "type must be RollingUpdate or OnDelete; RollingUpdate requires rollingUpdate", 0,
		func(c *check, v *appsv1.DaemonSetSpec, at *field.Path) {
			switch u := &v.UpdateStrategy; {
			case u.Type == appsv1.RollingUpdateDaemonSetStrategyType && u.RollingUpdate == nil:
				c.required(at.Child("updateStrategy", "rollingUpdate"), "")
			case u.Type != appsv1.RollingUpdateDaemonSetStrategyType && u.Type != appsv1.OnDeleteDaemonSetStrategyType:
				c.add(unknownStrategy(u, at.Child("updateStrategy")))
			}
		}},
	{"updateStrategy.rollingUpdate",
		"maxUnavailable and maxSurge must be integers of 0 or more, or percentages up to 100%", 0,
		func(c *check, v *appsv1.DaemonSetSpec, at *field.Path) {
			unavailable, surge, is := limits(v)
			if at = at.Child("updateStrategy", "rollingUpdate"); is {
				c.limit(at.Child("maxUnavailable"), unavailable)
				c.limit(at.Child("maxSurge"), surge)
			}
		}},
	{"updateStrategy.rollingUpdate", "exactly one of maxUnavailable and maxSurge must be greater than 0", 0,
		func(c *check, v *appsv1.DaemonSetSpec, at *field.Path) {
			unavailable, surge, is := limits(v)
			switch hasUnavailable, hasSurge := Amount(unavailable) != 0, Amount(surge) != 0; {
			case is && hasUnavailable && hasSurge:
				c.invalid(at.Child("updateStrategy", "rollingUpdate", "maxSurge"), surge, BothLimits)
			case is && !hasUnavailable && !hasSurge:
				c.required(at.Child("updateStrategy", "rollingUpdate", "maxUnavailable"), NoLimit)
			}
		}},
	{"revisionHistoryLimit", "must be 0 or more", 0, func(c *check, v *appsv1.DaemonSetSpec, at *field.Path) {
		if n := v.RevisionHistoryLimit; n != nil {
			c.notNegative(at.Child("revisionHistoryLimit"), int64(*n))
		}
	}},
}

// unknownStrategy returns the error for an unknown strategy type. The API server prints its internal type, which has
// these field names.
func unknownStrategy(u *appsv1.DaemonSetUpdateStrategy, at *field.Path) *field.Error {
	type rolling struct{ MaxUnavailable, MaxSurge intstr.IntOrString }
	bad := struct {
		Type          appsv1.DaemonSetUpdateStrategyType
		RollingUpdate *rolling
	}{Type: u.Type}
	if ru := u.RollingUpdate; ru != nil {
		bad.RollingUpdate = &rolling{valueOf(ru.MaxUnavailable), valueOf(ru.MaxSurge)}
	}
	return field.NotSupported(at, bad, []appsv1.DaemonSetUpdateStrategyType{appsv1.RollingUpdateDaemonSetStrategyType,
		appsv1.OnDeleteDaemonSetStrategyType})
}

// limits returns maxUnavailable and maxSurge. is is false if v has no rollingUpdate.
func limits(v *appsv1.DaemonSetSpec) (unavailable, surge intstr.IntOrString, is bool) {
	u := &v.UpdateStrategy
	if u.Type != appsv1.RollingUpdateDaemonSetStrategyType || u.RollingUpdate == nil {
		return unavailable, surge, false
	}
	return valueOf(u.RollingUpdate.MaxUnavailable), valueOf(u.RollingUpdate.MaxSurge), true
}

func valueOf(v *intstr.IntOrString) intstr.IntOrString {
	if v == nil {
		return intstr.IntOrString{}
	}
	return *v
}

func (c *check) limit(at *field.Path, v intstr.IntOrString) {
	if v.Type == intstr.Int {
		c.notNegative(at, int64(v.IntVal))
		return
	}
	why := validation.IsValidPercent(v.StrVal)
	if len(why) == 0 && Amount(v) > 100 {
		why = []string{"must not be greater than 100%"}
	}
	c.invalid(at, v, why...)
}

// Amount returns a limit as a number. For a percentage, it returns the number before the percent sign. It returns 0
// if there is no number.
func Amount(v intstr.IntOrString) int {
	if v.Type == intstr.Int {
		return int(v.IntVal)
	}
	n, err := strconv.Atoi(strings.TrimSuffix(v.StrVal, "%"))
	if err != nil {
		return 0
	}
	return n
}

// onlyOne adds an error for each member of a union after the first. A merge can produce several members. For example,
// kubectl rollout undo may change the member in the live object. Neither kubectl apply nor server-side apply then
// removes a member that the previous manifest did not have.
func (c *check) onlyOne(at *field.Path, what string, members []string) {
	for i, name := range members {
		if i > 0 {
			c.forbidden(at.Child(name), "may not specify more than 1 "+what+" type")
		}
	}
}

// members returns the JSON names of the fields of a union that are set. All its fields must be pointers or lists.
func members(union any) (set []string) {
	v := reflect.ValueOf(union)
	if v.IsNil() {
		return nil
	}
	for i, v := 0, v.Elem(); i < v.NumField(); i++ {
		if !v.Field(i).IsNil() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			set = append(set, name)
		}
	}
	return set
}
