package e2e

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
)

// lift applies a remedy of a refusal, or all of them if each is about another part. It reports
// whether there was anything to apply.
func (j *admissionJudge) lift(ctx context.Context, k *admissionCase, r admission.Refusal) (bool, error) {
	if len(r.Remedies) == 0 {
		return false, nil
	}
	switch r.Reason {
	case admission.LimitRangeViolated, admission.PodInvalid, admission.QuotaExceeded, admission.QuotaMustSpecify:
		if r.Reason == admission.PodInvalid && slices.ContainsFunc(r.Invalid, func(v admission.Invalid) bool { return v.Why != r.Invalid[0].Why && k.template.Spec.Resources != nil }) {
			return false, nil // depends on both the pod and its containers
		}
		for _, m := range r.Remedies {
			if m.Container == "" && m.Field == "" && m.Name == "" && k.template.Spec.Resources == nil {
				return false, nil // the sum of the containers: the shares are not defined
			}
			if err := j.make(ctx, k, m); err != nil {
				return false, fmt.Errorf("%+v: %w", m, err)
			}
		}
		return true, nil
	}
	m := oneOf(k, r.Remedies...)
	if err := j.make(ctx, k, m); err != nil {
		return false, fmt.Errorf("%+v: %w", m, err)
	}
	return true, nil
}

func (j *admissionJudge) make(ctx context.Context, k *admissionCase, m admission.Remedy) error {
	core, meta := j.c.Client.CoreV1(), metav1.ObjectMeta{Name: m.Name}
	switch m.Do {
	case admission.CreateNamespace:
		k.missing = false
		if err := j.create(ctx, k); err != nil {
			return err
		}
		return j.settle(ctx, k)
	case admission.CreateServiceAccount:
		_, err := core.ServiceAccounts(k.name).Create(ctx, &corev1.ServiceAccount{ObjectMeta: meta}, metav1.CreateOptions{})
		return err
	case admission.CreatePriorityClass:
		_, err := j.c.Client.SchedulingV1().PriorityClasses().Create(ctx, &schedulingv1.PriorityClass{ObjectMeta: meta, Value: 3}, metav1.CreateOptions{})
		return err
	case admission.CreateRuntimeClass:
		_, err := j.c.Client.NodeV1().RuntimeClasses().Create(ctx, &nodev1.RuntimeClass{ObjectMeta: meta, Handler: "made"}, metav1.CreateOptions{})
		return err
	case admission.ListSecret:
		a, err := core.ServiceAccounts(k.name).Get(ctx, m.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		a.Secrets = append(a.Secrets, corev1.ObjectReference{Name: m.Value})
		a.ImagePullSecrets = append(a.ImagePullSecrets, corev1.LocalObjectReference{Name: m.Value})
		_, err = core.ServiceAccounts(k.name).Update(ctx, a, metav1.UpdateOptions{})
		return err
	case admission.SetLevel:
		ns, err := core.Namespaces().Get(ctx, m.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		ns.Labels["pod-security.kubernetes.io/enforce"] = m.Value
		_, err = core.Namespaces().Update(ctx, ns, metav1.UpdateOptions{})
		return err
	case admission.RaiseQuota:
		q, err := core.ResourceQuotas(k.name).Get(ctx, m.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		q.Status.Hard[m.Resource] = *m.Amount
		_, err = core.ResourceQuotas(k.name).UpdateStatus(ctx, q, metav1.UpdateOptions{})
		return err
	case admission.RemoveField:
		return remove(&k.template.Spec, m.Field)
	case admission.SetRequest, admission.SetLimit:
		set(requirementsOf(&k.template.Spec, m.Container), m)
		return nil
	}
	return fmt.Errorf("nobody makes %s", m.Do)
}

var listMember = regexp.MustCompile(`^(.*)\[(\d+)\](\..*)?$`)

// remove removes a field from a template, with the list member that it belongs to.
func remove(spec *corev1.PodSpec, field string) error {
	switch field {
	case "priority":
		spec.Priority = nil
		return nil
	case "preemptionPolicy":
		spec.PreemptionPolicy = nil
		return nil
	case "overhead":
		spec.Overhead = nil
		return nil
	case "runtimeClassName":
		spec.RuntimeClassName = nil
		return nil
	}
	if key, is := strings.CutPrefix(field, "nodeSelector["); is {
		delete(spec.NodeSelector, strings.TrimSuffix(key, "]"))
		return nil
	}
	if i, list, n, ok := ofContainer(field); ok {
		containers := &spec.Containers
		if strings.HasPrefix(field, "initContainers") {
			containers = &spec.InitContainers
		}
		switch c := &(*containers)[i]; list {
		case "ports":
			c.Ports = slices.Delete(c.Ports, n, n+1)
		case "env":
			c.Env = slices.Delete(c.Env, n, n+1)
		case "envFrom":
			c.EnvFrom = slices.Delete(c.EnvFrom, n, n+1)
		}
		return nil
	}
	m := listMember.FindStringSubmatch(field)
	if m == nil {
		return fmt.Errorf("nobody removes %s", field)
	}
	n, err := strconv.Atoi(m[2])
	if err != nil {
		return err
	}
	switch m[1] {
	case "volumes":
		spec.Volumes = slices.Delete(spec.Volumes, n, n+1)
	case "imagePullSecrets":
		spec.ImagePullSecrets = slices.Delete(spec.ImagePullSecrets, n, n+1)
	default:
		return fmt.Errorf("nobody removes %s", field)
	}
	return nil
}

var containerMember = regexp.MustCompile(`^(?:c|initC)ontainers\[(\d+)\]\.(\w+)\[(\d+)\]`)

func ofContainer(field string) (i int, list string, n int, ok bool) {
	m := containerMember.FindStringSubmatch(field)
	if m == nil {
		return 0, "", 0, false
	}
	i, _ = strconv.Atoi(m[1])
	n, _ = strconv.Atoi(m[3])
	return i, m[2], n, true
}

// requirementsOf returns the requirements of a container or of the whole pod.
func requirementsOf(spec *corev1.PodSpec, container string) *corev1.ResourceRequirements {
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			if list[i].Name == container {
				return &list[i].Resources
			}
		}
	}
	return spec.Resources
}

// set sets a request or a limit. If any amount is sufficient, it fits the other one.
func set(r *corev1.ResourceRequirements, m admission.Remedy) {
	if r.Requests == nil {
		r.Requests = corev1.ResourceList{}
	}
	if r.Limits == nil {
		r.Limits = corev1.ResourceList{}
	}
	list, other := r.Requests, r.Limits
	if m.Do == admission.SetLimit {
		list, other = r.Limits, r.Requests
	}
	amount, has := other[m.Resource]
	if !has || amount.IsZero() {
		amount = resource.MustParse("1")
		if m.Resource == corev1.ResourceCPU {
			amount = resource.MustParse("1m")
		}
	}
	if m.Amount != nil {
		amount = *m.Amount
	}
	list[m.Resource] = amount
}
