package admission

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// defaultServiceAccount is the ServiceAccount of a pod that names none.
const defaultServiceAccount = "default"

// serviceAccount checks that the ServiceAccount exists. A pod without
// imagePullSecrets gets those of its ServiceAccount.
func (c *check) serviceAccount() {
	spec := &c.pod.Spec
	if spec.ServiceAccountName == "" {
		spec.ServiceAccountName = spec.DeprecatedServiceAccount
	}
	if spec.ServiceAccountName == "" {
		spec.ServiceAccountName = defaultServiceAccount
	}
	spec.DeprecatedServiceAccount = spec.ServiceAccountName
	i := slices.IndexFunc(c.in.ServiceAccounts,
		func(a corev1.ServiceAccount) bool { return a.Name == spec.ServiceAccountName })
	if i < 0 {
		if !c.unread(ServiceAccount, snapshot.ServiceAccounts) {
			c.refuse(Refusal{
				Rule: ServiceAccount, Reason: ServiceAccountNotFound, Name: spec.ServiceAccountName,
				Remedies: []Remedy{{Do: CreateServiceAccount, Name: spec.ServiceAccountName}},
			})
		}
		return
	}
	account := &c.in.ServiceAccounts[i]
	if len(spec.ImagePullSecrets) == 0 {
		for _, s := range account.ImagePullSecrets {
			spec.ImagePullSecrets = append(spec.ImagePullSecrets, corev1.LocalObjectReference{Name: s.Name})
		}
	}
	if enforced, err := strconv.ParseBool(account.Annotations[snapshot.EnforceSecrets]); err == nil && enforced {
		c.mountableSecrets(account)
	}
}

// mountableSecrets checks that the ServiceAccount lists every Secret that the
// pod refers to in volumes, variables and imagePullSecrets. It reports the
// first other one.
func (c *check) mountableSecrets(account *corev1.ServiceAccount) {
	spec := &c.pod.Spec
	refuse := func(field, secret string) {
		c.refuse(Refusal{Rule: ServiceAccount, Reason: SecretNotAllowed, Name: account.Name, Field: field,
			Value: secret, Remedies: []Remedy{
				{Do: ListSecret, Name: account.Name, Value: secret}, {Do: RemoveField, Field: field},
			}})
	}
	listed := func(name string) bool {
		return slices.ContainsFunc(account.Secrets, func(s corev1.ObjectReference) bool { return s.Name == name })
	}
	for i, v := range spec.Volumes {
		if v.Secret != nil && !listed(v.Secret.SecretName) {
			refuse("volumes["+strconv.Itoa(i)+"].secret.secretName", v.Secret.SecretName)
			return
		}
	}
	for _, list := range []struct {
		name       string
		containers []corev1.Container
	}{{"initContainers", spec.InitContainers}, {"containers", spec.Containers}} {
		for i, container := range list.containers {
			at := list.name + "[" + strconv.Itoa(i) + "]"
			for j, e := range container.Env {
				if from := e.ValueFrom; from != nil && from.SecretKeyRef != nil && !listed(from.SecretKeyRef.Name) {
					refuse(at+".env["+strconv.Itoa(j)+"].valueFrom.secretKeyRef.name", from.SecretKeyRef.Name)
					return
				}
			}
			for j, e := range container.EnvFrom {
				if e.SecretRef != nil && !listed(e.SecretRef.Name) {
					refuse(at+".envFrom["+strconv.Itoa(j)+"].secretRef.name", e.SecretRef.Name)
					return
				}
			}
		}
	}
	for i, s := range spec.ImagePullSecrets {
		if !slices.Contains(account.ImagePullSecrets, s) {
			refuse("imagePullSecrets["+strconv.Itoa(i)+"].name", s.Name)
			return
		}
	}
}

// builtIn are the PriorityClasses that every cluster has since v1.11, and that
// cannot be changed.
var builtIn = map[string]int32{"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}

// priority checks that the PriorityClass exists and that the template agrees
// with it. A pod without a class name gets the cluster's default class or, if
// there are several, the one with the lowest value.
func (c *check) priority() {
	class, found := c.priorityClass()
	if !found {
		return
	}
	spec := &c.pod.Spec
	spec.PriorityClassName = class.Name
	if p := spec.Priority; p != nil && *p != class.Value {
		c.refuse(Refusal{
			Rule: Priority, Reason: PriorityDiffers, Name: class.Name,
			Field: "priority", Value: strconv.Itoa(int(*p)), Want: strconv.Itoa(int(class.Value)),
			Remedies: []Remedy{{Do: RemoveField, Field: "priority"}},
		})
		return
	}
	spec.Priority = &class.Value
	if class.PreemptionPolicy == nil {
		return
	}
	if p := spec.PreemptionPolicy; p != nil && *p != *class.PreemptionPolicy {
		c.refuse(Refusal{
			Rule: Priority, Reason: PreemptionPolicyDiffers, Name: class.Name,
			Field: "preemptionPolicy", Value: string(*p), Want: string(*class.PreemptionPolicy),
			Remedies: []Remedy{{Do: RemoveField, Field: "preemptionPolicy"}},
		})
		return
	}
	spec.PreemptionPolicy = class.PreemptionPolicy
}

// priorityClass returns the class of the pod. It has no name if there is none.
func (c *check) priorityClass() (class schedulingv1.PriorityClass, found bool) {
	lower := corev1.PreemptLowerPriority
	name := c.pod.Spec.PriorityClassName
	if name == "" {
		if c.unread(Priority, snapshot.PriorityClasses) {
			return class, false
		}
		class.PreemptionPolicy = &lower
		for _, p := range c.in.PriorityClasses {
			if p.GlobalDefault && (class.Name == "" || p.Value < class.Value) {
				class = *p.DeepCopy()
			}
		}
		return class, true
	}
	for _, p := range c.in.PriorityClasses {
		if p.Name == name {
			return *p.DeepCopy(), true
		}
	}
	if !c.lacks(snapshot.PriorityClasses) {
		c.refuse(Refusal{Rule: Priority, Reason: PriorityClassNotFound, Name: name,
			Remedies: []Remedy{{Do: CreatePriorityClass, Name: name}}})
		return class, false
	}
	if value, is := builtIn[name]; is {
		class.Name, class.Value, class.PreemptionPolicy = name, value, &lower
		return class, true
	}
	c.unread(Priority, snapshot.PriorityClasses)
	return class, false
}

// defaultTolerations adds tolerations that let a pod stay for five minutes on a
// node that is NotReady or unreachable, unless the pod has its own.
func (c *check) defaultTolerations() {
	given := slices.Clone(c.pod.Spec.Tolerations)
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		if slices.ContainsFunc(given, func(t corev1.Toleration) bool {
			return (t.Key == key || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "")
		}) {
			continue
		}
		seconds := int64(300)
		c.pod.Spec.Tolerations = append(c.pod.Spec.Tolerations,
			corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute,
				TolerationSeconds: &seconds})
	}
}

// runtimeClass checks that the RuntimeClass exists, and applies its overhead,
// node selector and tolerations.
func (c *check) runtimeClass() {
	spec := &c.pod.Spec
	if spec.RuntimeClassName == nil {
		return
	}
	name := *spec.RuntimeClassName
	i := slices.IndexFunc(c.in.RuntimeClasses, func(r nodev1.RuntimeClass) bool { return r.Name == name })
	if i < 0 {
		if !c.unread(RuntimeClass, snapshot.RuntimeClasses) {
			c.refuse(Refusal{Rule: RuntimeClass, Reason: RuntimeClassNotFound, Name: name,
				Remedies: []Remedy{{Do: CreateRuntimeClass, Name: name}, {Do: RemoveField, Field: "runtimeClassName"}}})
		}
		return
	}
	class := c.in.RuntimeClasses[i].DeepCopy()
	if class.Overhead != nil {
		if len(spec.Overhead) > 0 && !equality.Semantic.DeepEqual(spec.Overhead, class.Overhead.PodFixed) {
			c.refuse(Refusal{
				Rule: RuntimeClass, Reason: OverheadDiffers, Name: name,
				Field: "overhead", Value: resourceText(spec.Overhead), Want: resourceText(class.Overhead.PodFixed),
				Remedies: []Remedy{{Do: RemoveField, Field: "overhead"}},
			})
			return
		}
		spec.Overhead = class.Overhead.PodFixed
	}
	if class.Scheduling != nil {
		c.schedule(name, class.Scheduling)
	}
}

func (c *check) schedule(class string, s *nodev1.Scheduling) {
	spec := &c.pod.Spec
	for _, key := range slices.Sorted(maps.Keys(s.NodeSelector)) {
		if have, has := spec.NodeSelector[key]; has && have != s.NodeSelector[key] {
			field := "nodeSelector[" + key + "]"
			c.refuse(Refusal{
				Rule: RuntimeClass, Reason: NodeSelectorConflicts, Name: class,
				Field: field, Value: have, Want: s.NodeSelector[key],
				Remedies: []Remedy{{Do: RemoveField, Field: field}},
			})
			return
		}
	}
	for key, value := range s.NodeSelector {
		if spec.NodeSelector == nil {
			spec.NodeSelector = map[string]string{}
		}
		spec.NodeSelector[key] = value
	}
	spec.Tolerations = merged(slices.Concat(spec.Tolerations, s.Tolerations))
}

// merged returns the tolerations without those that another one covers. The
// first of several equal ones stays.
func merged(all []corev1.Toleration) []corev1.Toleration {
	var out []corev1.Toleration
	for i, t := range all {
		covered := slices.ContainsFunc(out, func(o corev1.Toleration) bool { return covers(o, t) }) ||
			slices.ContainsFunc(all[i+1:], func(o corev1.Toleration) bool {
				return !equality.Semantic.DeepEqual(o, t) &&
					covers(o, t)
			})
		if !covered {
			out = append(out, t)
		}
	}
	return out
}

// covers reports whether a tolerates everything that b does.
func covers(a, b corev1.Toleration) bool {
	exists := a.Operator == corev1.TolerationOpExists
	switch {
	case equality.Semantic.DeepEqual(a, b):
		return true
	case a.Key != b.Key && (a.Key != "" || !exists),
		a.Effect != b.Effect && a.Effect != "",
		a.Effect == corev1.TaintEffectNoExecute && a.TolerationSeconds != nil &&
			(b.TolerationSeconds == nil || *b.TolerationSeconds > *a.TolerationSeconds):
		return false
	case a.Operator == corev1.TolerationOpEqual || a.Operator == "":
		return b.Operator == corev1.TolerationOpEqual && a.Value == b.Value
	}
	return exists
}

// overhead rejects an overhead that no RuntimeClass sets.
func (c *check) overhead() {
	spec := &c.pod.Spec
	if spec.Overhead == nil {
		return
	}
	if name := spec.RuntimeClassName; name != nil {
		i := slices.IndexFunc(c.in.RuntimeClasses, func(r nodev1.RuntimeClass) bool { return r.Name == *name })
		if i < 0 || c.in.RuntimeClasses[i].Overhead != nil {
			return // the class was not found, or has set it
		}
	}
	name := ""
	if spec.RuntimeClassName != nil {
		name = *spec.RuntimeClassName
	}
	c.refuse(Refusal{Rule: RuntimeClass, Reason: OverheadWithoutClass, Name: name, Field: "overhead",
		Value: resourceText(spec.Overhead), Remedies: []Remedy{{Do: RemoveField, Field: "overhead"}}})
}

// resourceText formats a list of resources, sorted by name.
func resourceText(list corev1.ResourceList) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(list)) {
		q := list[name]
		all = append(all, string(name)+"="+q.String())
	}
	return strings.Join(all, ",")
}
