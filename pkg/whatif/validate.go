package whatif

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Invalid is the API server's refusal of a DaemonSet, in its words.
type Invalid struct {
	Name    string
	Errors  field.ErrorList
	Instead *Change // what would make a refused update strategy a valid one; nil where nothing is known to
}

func (e *Invalid) Error() string {
	return apierrors.NewInvalid(schema.GroupKind{Group: appsv1.GroupName, Kind: "DaemonSet"}, e.Name, e.Errors).Error()
}

// Why the API server refuses an update strategy.
const (
	bothLimits = "may not be set when maxUnavailable is non-zero"
	noLimit    = "cannot be 0 when maxSurge is 0"
)

// Validate returns why the API server of the newest Kubernetes would refuse to
// store new in place of old, or as a new DaemonSet where old is nil, in its
// order.
//
// It knows what an update of a DaemonSet can get wrong by itself: selector,
// limits, strategy; of a new one the metadata; of the template what a Change sets: images, nodeSelector,
// tolerations; and what a merge leaves behind: two types of a handler, a volume
// or a variable's source. The rest of a template it takes for valid, and that
// the defaults are set.
func Validate(old, new *appsv1.DaemonSet) field.ErrorList {
	var errs field.ErrorList
	spec, at := &new.Spec, field.NewPath("spec")
	if old == nil {
		errs = apivalidation.ValidateObjectMeta(&new.ObjectMeta, true, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	}
	if old != nil && !apiequality.Semantic.DeepEqual(old.Spec.Selector, spec.Selector) {
		errs = append(errs, field.Invalid(at.Child("selector"), spec.Selector, "field is immutable"))
	}
	errs = append(errs, metavalidation.ValidateLabelSelector(spec.Selector, metavalidation.LabelSelectorValidationOptions{}, at.Child("selector"))...)
	selector, err := metav1.LabelSelectorAsSelector(spec.Selector)
	if err == nil && !selector.Matches(labels.Set(spec.Template.Labels)) {
		errs = append(errs, field.Invalid(at.Child("template", "metadata", "labels"), spec.Template.Labels, "`selector` does not match template `labels`"))
	}
	if s := spec.Selector; s != nil && len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		errs = append(errs, field.Invalid(at.Child("selector"), s, "empty selector is invalid for daemonset"))
	}
	errs = append(errs, validateTemplate(&spec.Template.Spec, at.Child("template", "spec"))...)
	errs = append(errs, notNegative(spec.MinReadySeconds, at.Child("minReadySeconds"))...)
	errs = append(errs, validateStrategy(&spec.UpdateStrategy, at.Child("updateStrategy"))...)
	if n := spec.RevisionHistoryLimit; n != nil {
		errs = append(errs, notNegative(*n, at.Child("revisionHistoryLimit"))...)
	}
	return errs
}

func notNegative(n int32, at *field.Path) field.ErrorList {
	if n >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, int64(n), "must be greater than or equal to 0")}
}

func validateStrategy(u *appsv1.DaemonSetUpdateStrategy, at *field.Path) field.ErrorList {
	switch {
	case u.Type == appsv1.OnDeleteDaemonSetStrategyType:
		return nil
	case u.Type != appsv1.RollingUpdateDaemonSetStrategyType:
		// The API server prints its own type here, which names its fields so.
		bad := struct {
			Type          appsv1.DaemonSetUpdateStrategyType
			RollingUpdate *struct{ MaxUnavailable, MaxSurge intstr.IntOrString }
		}{Type: u.Type}
		if ru := u.RollingUpdate; ru != nil {
			bad.RollingUpdate = &struct{ MaxUnavailable, MaxSurge intstr.IntOrString }{valueOf(ru.MaxUnavailable), valueOf(ru.MaxSurge)}
		}
		return field.ErrorList{field.NotSupported(at, bad, []appsv1.DaemonSetUpdateStrategyType{appsv1.RollingUpdateDaemonSetStrategyType, appsv1.OnDeleteDaemonSetStrategyType})}
	case u.RollingUpdate == nil:
		return field.ErrorList{field.Required(at.Child("rollingUpdate"), "")}
	}
	at = at.Child("rollingUpdate")
	unavailable, surge := valueOf(u.RollingUpdate.MaxUnavailable), valueOf(u.RollingUpdate.MaxSurge)
	errs := append(validateLimit(unavailable, at.Child("maxUnavailable")), validateLimit(surge, at.Child("maxSurge"))...)
	errs = append(errs, atMostAll(unavailable, at.Child("maxUnavailable"))...)
	errs = append(errs, atMostAll(surge, at.Child("maxSurge"))...)
	switch hasUnavailable, hasSurge := Amount(unavailable) != 0, Amount(surge) != 0; {
	case hasUnavailable && hasSurge:
		errs = append(errs, field.Invalid(at.Child("maxSurge"), surge, bothLimits))
	case !hasUnavailable && !hasSurge:
		errs = append(errs, field.Required(at.Child("maxUnavailable"), noLimit))
	}
	return errs
}

func valueOf(v *intstr.IntOrString) intstr.IntOrString {
	if v == nil {
		return intstr.IntOrString{}
	}
	return *v
}

func validateLimit(v intstr.IntOrString, at *field.Path) field.ErrorList {
	if v.Type == intstr.Int {
		return notNegative(v.IntVal, at)
	}
	var errs field.ErrorList
	for _, message := range validation.IsValidPercent(v.StrVal) {
		errs = append(errs, field.Invalid(at, v, message))
	}
	return errs
}

func atMostAll(v intstr.IntOrString, at *field.Path) field.ErrorList {
	if v.Type == intstr.Int || len(validation.IsValidPercent(v.StrVal)) > 0 || Amount(v) <= 100 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, v, "must not be greater than 100%")}
}

// Amount returns the number of a limit, or of its percentage; 0 for one that
// is no number.
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

// validateTemplate looks at what a Change can set, and at what a merge can
// leave behind: see onlyOne.
func validateTemplate(spec *corev1.PodSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range spec.Volumes {
		errs = append(errs, onlyOne("volume", volumeTypes(&spec.Volumes[i].VolumeSource), at.Child("volumes").Index(i))...)
	}
	for i := range spec.Containers {
		errs = append(errs, validateContainer(&spec.Containers[i], true, at.Child("containers").Index(i))...)
	}
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		sidecar := c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
		errs = append(errs, validateContainer(c, sidecar, at.Child("initContainers").Index(i))...)
	}
	if spec.RestartPolicy != "" && spec.RestartPolicy != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(at.Child("restartPolicy"), spec.RestartPolicy, []corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	if spec.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(at.Child("activeDeadlineSeconds"), "activeDeadlineSeconds in DaemonSet is not Supported"))
	}
	if r := requiredNodes(spec); r != nil && len(r.NodeSelectorTerms) == 0 {
		at := at.Child("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
		errs = append(errs, field.Required(at, "must have at least one node selector term"))
	}
	errs = append(errs, metavalidation.ValidateLabels(spec.NodeSelector, at.Child("nodeSelector"))...)
	for i := range spec.Tolerations {
		errs = append(errs, validateToleration(&spec.Tolerations[i], at.Child("tolerations").Index(i))...)
	}
	return errs
}

// validateContainer looks at handlers only of a container that keeps running:
// any other may have none, which it does not check.
func validateContainer(c *corev1.Container, runs bool, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if c.Image == "" {
		errs = append(errs, field.Required(at.Child("image"), ""))
	}
	for i := range c.Env {
		errs = append(errs, validateSource(&c.Env[i], at.Child("env").Index(i).Child("valueFrom"))...)
	}
	if !runs {
		return errs
	}
	handlerOf := func(p *corev1.Probe) *corev1.ProbeHandler {
		if p == nil {
			return nil
		}
		return &p.ProbeHandler
	}
	hooks := &corev1.Lifecycle{}
	if c.Lifecycle != nil {
		hooks = c.Lifecycle
	}
	for _, h := range []struct {
		union any
		at    *field.Path
	}{
		{hooks.PostStart, at.Child("lifecycle", "postStart")},
		{hooks.PreStop, at.Child("lifecycle", "preStop")},
		{handlerOf(c.LivenessProbe), at.Child("livenessProbe")},
		{handlerOf(c.ReadinessProbe), at.Child("readinessProbe")},
		{handlerOf(c.StartupProbe), at.Child("startupProbe")},
	} {
		set, given := members(h.union)
		if given && len(set) == 0 {
			errs = append(errs, field.Required(h.at, "must specify a handler type"))
		}
		errs = append(errs, onlyOne("handler", set, h.at)...)
	}
	return errs
}

func validateSource(v *corev1.EnvVar, at *field.Path) field.ErrorList {
	switch sources, _ := members(v.ValueFrom); {
	case len(sources) > 0 && v.Value != "":
		return field.ErrorList{field.Invalid(at, "", "may not be specified when `value` is not empty")}
	case len(sources) > 1:
		return field.ErrorList{field.Invalid(at, "", "may not have more than one field specified at a time")}
	}
	return nil
}

// onlyOne refuses every member of a union but the first. Two of them come of a
// merge: where somebody else has changed the live object, as kubectl rollout
// undo does, neither kubectl apply nor a server-side apply removes the member
// that the manifest before did not have.
func onlyOne(what string, members []string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, name := range members {
		if i > 0 {
			errs = append(errs, field.Forbidden(at.Child(name), "may not specify more than 1 "+what+" type"))
		}
	}
	return errs
}

// members returns the fields of a union that are set, by their names in JSON,
// and whether there is a union at all.
func members(union any) (set []string, given bool) {
	v := reflect.ValueOf(union)
	if v.IsNil() {
		return nil, false
	}
	for i, v := 0, v.Elem(); i < v.NumField(); i++ {
		if !v.Field(i).IsNil() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			set = append(set, name)
		}
	}
	return set, true
}

// volumeTypes are the members of a volume. The API server looks at emptyDir
// first.
func volumeTypes(v *corev1.VolumeSource) []string {
	types, _ := members(v)
	if i := slices.Index(types, "emptyDir"); i > 0 {
		types = slices.Insert(slices.Delete(types, i, i+1), 0, "emptyDir")
	}
	return types
}

func requiredNodes(spec *corev1.PodSpec) *corev1.NodeSelector {
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil {
		return nil
	}
	return spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

func validateToleration(t *corev1.Toleration, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if t.Key != "" {
		errs = append(errs, metavalidation.ValidateLabelName(t.Key, at.Child("key"))...)
	}
	if t.Key == "" && t.Operator != corev1.TolerationOpExists {
		errs = append(errs, field.Invalid(at.Child("operator"), t.Operator, "operator must be Exists when `key` is empty, which means \"match all values and all keys\""))
	}
	if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
		errs = append(errs, field.Invalid(at.Child("effect"), t.Effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
	}
	switch t.Operator {
	case corev1.TolerationOpEqual, "":
		if why := validation.IsValidLabelValue(t.Value); len(why) > 0 {
			errs = append(errs, field.Invalid(at.Child("operator"), t.Value, strings.Join(why, ";")))
		}
	case corev1.TolerationOpExists:
		if t.Value != "" {
			errs = append(errs, field.Invalid(at.Child("operator"), t.Value, "value must be empty when `operator` is 'Exists'"))
		}
	case corev1.TolerationOpLt, corev1.TolerationOpGt: // behind a gate
	default:
		errs = append(errs, field.NotSupported(at.Child("operator"), t.Operator, []corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists}))
	}
	switch t.Effect {
	case "", corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
	default:
		errs = append(errs, field.NotSupported(at.Child("effect"), t.Effect, []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}))
	}
	return errs
}
