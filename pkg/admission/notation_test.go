package admission

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// The notation of the tables. A namespace is a list of parts, each terminated
// by a semicolon:
//
// ns                                  the namespace exists; without it, it does not
// ns baseline v1.24                   enforces a level, of a version
// ns terminating
// account builder pull=a,b strict=x   a ServiceAccount with imagePullSecrets; strict: its pods may refer to x only;
//                                     lax, odd: the annotation is false, or invalid
// priority high 1000 never default    a PriorityClass; unsaid: without a preemptionPolicy
// runtime vm overhead cpu=250m memory=1 select=a:b tolerate=k
// range r Container min cpu=1 max cpu=2 default cpu=1 request cpu=1 ratio cpu=2
// quota q pods=3/5 cpu=1/?            used/hard; ? is unknown
// quota q pods=3/5 scope BestEffort   or: class In high,low
// hook policy                         a ValidatingAdmissionPolicy
// tried Rejected words of the server  a dry run; Created is followed by containers: tried Created c cpu=1
// no resourcequotas                   they could not be read
//
// A pod is a list of parts too:
//
// c cpu=100m/1 memory=-/1Gi           a container, with request/limit of resources
// init c cpu=1, sidecar c cpu=1       init containers
// all cpu=1/2                         pod-level requests and limits
// hostNetwork, hostPath, privileged   what Pod Security forbids
// secret x                            a volume
// port 80, port 80/UDP, port 80 init  of the last container, of the last init container
// probe 10.0.0.1                      of the last container, to an address
// profile Unconfined, windows         of the pod: AppArmor, and the operating system
// context                             an empty security context of the pod
// grace=-1 deadline=60                seconds
// env x, envFrom x                    a Secret that the last container refers to
// tolerate key=value:NoExecute@60     parts are optional; without =value any value, without a key all keys;
//                                     key~value omits the operator
// account=x priority=high value=5 preempt=Never runtime=vm pull=x select=a:b overhead cpu=1 memory=1
// elsewhere, selected, near           affinity to pods of a named namespace, of selected ones, of its own

func namespaceOf(t *testing.T, text string) (*snapshot.Admission, func(snapshot.What) bool) {
	t.Helper()
	in := &snapshot.Admission{ServiceAccounts: []corev1.ServiceAccount{{ObjectMeta: metav1.ObjectMeta{Name: "default"}}}}
	var lacks []snapshot.What
	for _, part := range parts(text) {
		words := strings.Fields(part)
		switch words[0] {
		case "ns":
			in.Namespace = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns", Labels: map[string]string{}}}
			switch {
			case len(words) > 1 && words[1] == "terminating":
				in.Namespace.Status.Phase = corev1.NamespaceTerminating
			case len(words) > 1:
				in.Namespace.Labels["pod-security.kubernetes.io/enforce"] = words[1]
			}
			if len(words) > 2 {
				in.Namespace.Labels["pod-security.kubernetes.io/enforce-version"] = words[2]
			}
		case "warn":
			in.Namespace.Labels["pod-security.kubernetes.io/warn"] = words[1]
		case "account":
			in.ServiceAccounts = append(in.ServiceAccounts, accountOf(words[1:]))
		case "priority":
			in.PriorityClasses = append(in.PriorityClasses, priorityOf(t, words[1:]))
		case "runtime":
			in.RuntimeClasses = append(in.RuntimeClasses, runtimeOf(t, words[1:]))
		case "range":
			in.LimitRanges = append(in.LimitRanges, rangeOf(t, words[1:]))
		case "quota":
			in.ResourceQuotas = append(in.ResourceQuotas, quotaOf(t, words[1:]))
		case "hook":
			in.Hooks = append(in.Hooks, snapshot.AdmissionHook{Kind: snapshot.ValidatingPolicy, Name: words[1]})
		case "tried":
			_, rest, _ := strings.Cut(part, words[1])
			in.DryRun = &snapshot.PodDryRun{Answer: snapshot.DryRunAnswer(words[1]), Message: strings.TrimSpace(rest)}
			if in.DryRun.Answer == snapshot.DryRunCreated {
				in.DryRun.Message, in.DryRun.Spec = "", &podOf(t, rest).Spec
			}
		case "no":
			lacks = append(lacks, snapshot.What(words[1]))
		default:
			t.Fatalf("%q is no part of a namespace", part)
		}
	}
	return in, func(what snapshot.What) bool { return slices.Contains(lacks, what) }
}

func parts(text string) []string {
	var all []string
	for part := range strings.SplitSeq(text, ";") {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return all
}

func accountOf(words []string) corev1.ServiceAccount {
	a := corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: words[0]}}
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		for name := range strings.SplitSeq(value, ",") {
			if key == "pull" {
				a.ImagePullSecrets = append(a.ImagePullSecrets, corev1.LocalObjectReference{Name: name})
			} else {
				says := map[string]string{"strict": "true", "lax": "false", "odd": "yes"}
				a.Annotations = map[string]string{"kubernetes.io/enforce-mountable-secrets": says[key]}
				a.Secrets = append(a.Secrets, corev1.ObjectReference{Name: name})
			}
		}
	}
	return a
}

func priorityOf(t *testing.T, words []string) schedulingv1.PriorityClass {
	value, err := strconv.Atoi(words[1])
	if err != nil {
		t.Fatal(err)
	}
	policy := corev1.PreemptLowerPriority
	if slices.Contains(words, "never") {
		policy = corev1.PreemptNever
	}
	class := schedulingv1.PriorityClass{
		ObjectMeta: metav1.ObjectMeta{Name: words[0]}, Value: int32(value), GlobalDefault: slices.Contains(words, "default"), PreemptionPolicy: &policy,
	}
	if slices.Contains(words, "unsaid") {
		class.PreemptionPolicy = nil
	}
	return class
}

func runtimeOf(t *testing.T, words []string) nodev1.RuntimeClass {
	r := nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: words[0]}}
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "overhead":
		case "select":
			k, v, _ := strings.Cut(value, ":")
			if schedulingOf(&r).NodeSelector == nil {
				r.Scheduling.NodeSelector = map[string]string{}
			}
			r.Scheduling.NodeSelector[k] = v
		case "tolerate":
			schedulingOf(&r).Tolerations = append(schedulingOf(&r).Tolerations, corev1.Toleration{Key: value, Operator: corev1.TolerationOpExists})
		default:
			if r.Overhead == nil {
				r.Overhead = &nodev1.Overhead{PodFixed: corev1.ResourceList{}}
			}
			maps.Copy(r.Overhead.PodFixed, list(t, w))
		}
	}
	return r
}

func schedulingOf(r *nodev1.RuntimeClass) *nodev1.Scheduling {
	if r.Scheduling == nil {
		r.Scheduling = &nodev1.Scheduling{}
	}
	return r.Scheduling
}

func rangeOf(t *testing.T, words []string) corev1.LimitRange {
	item := corev1.LimitRangeItem{Type: corev1.LimitType(words[1])}
	lists := map[string]*corev1.ResourceList{"min": &item.Min, "max": &item.Max, "default": &item.Default, "request": &item.DefaultRequest, "ratio": &item.MaxLimitRequestRatio}
	var to *corev1.ResourceList
	for _, w := range words[2:] {
		if l, is := lists[w]; is {
			*l = corev1.ResourceList{}
			to = l
			continue
		}
		for name, q := range list(t, w) {
			(*to)[name] = q
		}
	}
	return corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: words[0]}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{item}}}
}

func quotaOf(t *testing.T, words []string) corev1.ResourceQuota {
	q := corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: words[0]}}
	q.Status.Hard, q.Status.Used = corev1.ResourceList{}, corev1.ResourceList{}
	for i := 1; i < len(words); i++ {
		switch words[i] {
		case "scope":
			q.Spec.Scopes = append(q.Spec.Scopes, corev1.ResourceQuotaScope(words[i+1]))
			i++
		case "class":
			r := corev1.ScopedResourceSelectorRequirement{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: corev1.ScopeSelectorOperator(words[i+1])}
			i++
			if i+1 < len(words) {
				r.Values = strings.Split(words[i+1], ",")
				i++
			}
			q.Spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{r}}
		default:
			name, amounts, _ := strings.Cut(words[i], "=")
			used, hard, _ := strings.Cut(amounts, "/")
			q.Status.Hard[corev1.ResourceName(name)] = parse(t, hard)
			if used != "?" {
				q.Status.Used[corev1.ResourceName(name)] = parse(t, used)
			}
		}
	}
	return q
}

func parse(t *testing.T, text string) resource.Quantity {
	t.Helper()
	q, err := resource.ParseQuantity(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return q
}

func list(t *testing.T, text string) corev1.ResourceList {
	t.Helper()
	name, amount, _ := strings.Cut(text, "=")
	return corev1.ResourceList{corev1.ResourceName(name): parse(t, amount)}
}

func podOf(t *testing.T, text string) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", GenerateName: "agent-"}}
	spec := &pod.Spec
	last := func() *corev1.Container {
		if len(spec.Containers) == 0 {
			spec.Containers = []corev1.Container{{Name: "c"}}
		}
		return &spec.Containers[len(spec.Containers)-1]
	}
	for _, part := range parts(text) {
		words := strings.Fields(part)
		key, value, assigned := strings.Cut(words[0], "=")
		switch {
		case assigned:
			assign(t, spec, key, value)
		case key == "hostNetwork":
			spec.HostNetwork = true
		case key == "hostPath":
			spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "logs", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/var/log"}}})
		case key == "secret":
			spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "s", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: words[1]}}})
		case key == "privileged":
			yes := true
			last().SecurityContext = &corev1.SecurityContext{Privileged: &yes}
		case key == "apparmor":
			pod.Annotations = map[string]string{"container.apparmor.security.beta.kubernetes.io/" + last().Name: strings.Join(words[1:], " ")}
		case key == "probe":
			last().ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Host: words[1]}}}
		case key == "profile":
			spec.SecurityContext = &corev1.PodSecurityContext{AppArmorProfile: &corev1.AppArmorProfile{Type: corev1.AppArmorProfileType(words[1])}}
			if len(words) > 2 {
				spec.SecurityContext.AppArmorProfile.LocalhostProfile = &words[2]
			}
		case key == "context":
			spec.SecurityContext = &corev1.PodSecurityContext{}
		case key == "windows":
			spec.OS = &corev1.PodOS{Name: corev1.Windows}
		case key == "linux":
			spec.OS = &corev1.PodOS{Name: corev1.Linux}
		case key == "own": // the last container's AppArmor profile
			last().SecurityContext = &corev1.SecurityContext{AppArmorProfile: &corev1.AppArmorProfile{Type: corev1.AppArmorProfileType(words[1])}}
		case key == "port":
			number, protocol, _ := strings.Cut(words[1], "/")
			n, err := strconv.Atoi(number)
			if err != nil {
				t.Fatal(err)
			}
			of := last
			if slices.Contains(words, "init") {
				of = func() *corev1.Container { return &spec.InitContainers[len(spec.InitContainers)-1] }
			}
			of().Ports = append(of().Ports, corev1.ContainerPort{ContainerPort: int32(n), Protocol: corev1.Protocol(protocol)})
		case key == "elsewhere":
			spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{PodAffinityTerm: corev1.PodAffinityTerm{Namespaces: []string{"other"}}}}}}
		case key == "selected":
			spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{NamespaceSelector: &metav1.LabelSelector{}}}}}
		case key == "near":
			spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{}}}}
		case key == "tolerate":
			spec.Tolerations = append(spec.Tolerations, tolerationOf(t, words[1]))
		case key == "env":
			last().Env = append(last().Env, corev1.EnvVar{Name: "PLAIN", Value: "x"}, corev1.EnvVar{Name: "HOST", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{}}},
				corev1.EnvVar{Name: "KEY", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: words[1]}}}})
		case key == "envFrom":
			last().EnvFrom = append(last().EnvFrom, corev1.EnvFromSource{ConfigMapRef: &corev1.ConfigMapEnvSource{}},
				corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: words[1]}}})
		case key == "overhead":
			spec.Overhead = corev1.ResourceList{}
			for _, w := range words[1:] {
				maps.Copy(spec.Overhead, list(t, w))
			}
		case key == "all":
			r := requirements(t, words[1:])
			spec.Resources = &r
		case key == "init" || key == "sidecar":
			c := corev1.Container{Name: words[1], Resources: requirements(t, words[2:])}
			if key == "sidecar" {
				always := corev1.ContainerRestartPolicyAlways
				c.RestartPolicy = &always
			}
			spec.InitContainers = append(spec.InitContainers, c)
		default:
			spec.Containers = append(spec.Containers, corev1.Container{Name: key, Resources: requirements(t, words[1:])})
		}
	}
	last()
	return pod
}

func tolerationOf(t *testing.T, text string) corev1.Toleration {
	text, seconds, limited := strings.Cut(text, "@")
	text, effect, _ := strings.Cut(text, ":")
	key, value, equal := strings.Cut(text, "=")
	out := corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffect(effect)}
	if equal {
		out.Operator, out.Value = corev1.TolerationOpEqual, value
	}
	if key, value, bare := strings.Cut(key, "~"); bare {
		out.Key, out.Operator, out.Value = key, "", value
	}
	if limited {
		n, err := strconv.ParseInt(seconds, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		out.TolerationSeconds = &n
	}
	return out
}

// became returns the fields of a pod that admission may change, in the
// notation.
func became(pod *corev1.Pod) string {
	var out []string
	add := func(format string, args ...any) { out = append(out, strings.TrimSpace(fmt.Sprintf(format, args...))) }
	resources := func(r *corev1.ResourceRequirements) string {
		var all []string
		names := map[corev1.ResourceName]bool{}
		for name := range r.Requests {
			names[name] = true
		}
		for name := range r.Limits {
			names[name] = true
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			all = append(all, fmt.Sprintf("%s=%s/%s", name, amount(amountIn(r.Requests, name)), amount(amountIn(r.Limits, name))))
		}
		return strings.Join(all, " ")
	}
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			add("%s %s", list[i].Name, resources(&list[i].Resources))
			for _, p := range list[i].Ports {
				add("port %d:%d", p.HostPort, p.ContainerPort)
			}
			if c := list[i].SecurityContext; c != nil && c.AppArmorProfile != nil {
				add("apparmor %s", c.AppArmorProfile.Type)
			}
		}
	}
	s := &pod.Spec
	if s.Resources != nil {
		add("all %s", resources(s.Resources))
	}
	if len(s.Overhead) > 0 {
		add("overhead %s", resourceText(s.Overhead))
	}
	add("account=%s", s.ServiceAccountName)
	for _, p := range s.ImagePullSecrets {
		add("pull=%s", p.Name)
	}
	if s.PriorityClassName != "" {
		add("priority=%s", s.PriorityClassName)
	}
	if s.Priority != nil {
		add("value=%d", *s.Priority)
	}
	if s.PreemptionPolicy != nil {
		add("preempt=%s", *s.PreemptionPolicy)
	}
	if s.TerminationGracePeriodSeconds != nil {
		add("grace=%d", *s.TerminationGracePeriodSeconds)
	}
	if s.EnableServiceLinks == nil || !*s.EnableServiceLinks {
		add("no service links")
	}
	for _, key := range slices.Sorted(maps.Keys(s.NodeSelector)) {
		add("select=%s:%s", key, s.NodeSelector[key])
	}
	for _, x := range s.Tolerations {
		text := "tolerate " + x.Key
		if x.Operator == corev1.TolerationOpEqual {
			text += "=" + x.Value
		}
		if x.Operator == "" {
			text += "~" + x.Value
		}
		if x.Effect != "" {
			text += ":" + string(x.Effect)
		}
		if x.TolerationSeconds != nil {
			text += fmt.Sprintf("@%d", *x.TolerationSeconds)
		}
		add("%s", text)
	}
	return strings.Join(out, "; ")
}

func assign(t *testing.T, spec *corev1.PodSpec, key, value string) {
	switch key {
	case "account":
		spec.ServiceAccountName = value
	case "priority":
		spec.PriorityClassName = value
	case "value":
		n, err := strconv.Atoi(value)
		if err != nil {
			t.Fatal(err)
		}
		n32 := int32(n)
		spec.Priority = &n32
	case "grace", "deadline":
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if key == "grace" {
			spec.TerminationGracePeriodSeconds = &n
		} else {
			spec.ActiveDeadlineSeconds = &n
		}
	case "preempt":
		p := corev1.PreemptionPolicy(value)
		spec.PreemptionPolicy = &p
	case "runtime":
		spec.RuntimeClassName = &value
	case "pull":
		spec.ImagePullSecrets = append(spec.ImagePullSecrets, corev1.LocalObjectReference{Name: value})
	case "select":
		k, v, _ := strings.Cut(value, ":")
		if spec.NodeSelector == nil {
			spec.NodeSelector = map[string]string{}
		}
		spec.NodeSelector[k] = v
	default:
		t.Fatalf("%s is no field of a pod", key)
	}
}

func requirements(t *testing.T, words []string) corev1.ResourceRequirements {
	r := corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}
	for _, w := range words {
		name, amounts, _ := strings.Cut(w, "=")
		request, limit, _ := strings.Cut(amounts, "/")
		if request != "-" {
			r.Requests[corev1.ResourceName(name)] = parse(t, request)
		}
		if limit != "" && limit != "-" {
			r.Limits[corev1.ResourceName(name)] = parse(t, limit)
		}
	}
	return r
}

// said formats a verdict in lines: what rejects the pod and what removes that,
// how many pods each quota admits, what was not checked, and the assumptions
// except DefaultPlugins.
func said(v Verdict) string {
	var lines []string
	for _, r := range v.Refusals {
		line := string(r.Rule) + " " + string(r.Reason)
		for _, word := range []string{r.Name, r.Level, r.Version, r.Field, r.Value, r.Want} {
			if word != "" {
				line += " " + word
			}
		}
		for _, x := range r.Violations {
			line += " [" + strings.TrimSpace(x.What+" "+x.Detail) + "]"
		}
		for _, x := range r.Bounds {
			line += fmt.Sprintf(" [%s %s %s %s: %s/%s]", x.Why, x.Container, x.Resource, &x.Bound, amount(x.Request), amount(x.Limit))
		}
		for _, x := range r.Invalid {
			line += " [" + strings.Join(slices.DeleteFunc([]string{string(x.Why), x.Field, x.Container, string(x.Resource), x.Value, x.Bound}, func(s string) bool { return s == "" }), " ") + "]"
		}
		for _, x := range r.Amounts {
			line += fmt.Sprintf(" [%s +%s %s/%s]", x.Resource, &x.Requested, &x.Used, &x.Hard)
		}
		for _, x := range r.Missing {
			line += fmt.Sprintf(" [%s]", strings.TrimSpace(string(x.Resource)+" "+strings.Join(x.Containers, ",")))
		}
		if r.Message != "" {
			line += ": " + r.Message
		}
		lines = append(lines, line)
		for _, x := range r.Remedies {
			words := []string{"  ", string(x.Do), x.Name, x.Field, x.Value, x.Container, string(x.Resource)}
			if x.Amount != nil {
				words = append(words, x.Amount.String())
			}
			lines = append(lines, strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), " "))
		}
	}
	for _, q := range v.Quotas {
		line := fmt.Sprintf("%s passes %d:", q.Name, q.Passes)
		for _, a := range q.Amounts {
			line += fmt.Sprintf(" %s +%s %s/%s", a.Resource, &a.Requested, &a.Used, &a.Hard)
		}
		lines = append(lines, line)
	}
	lines = append(lines, fmt.Sprintf("passes %d", v.Passes))
	for _, u := range v.Unknown {
		lines = append(lines, fmt.Sprintf("unknown %s %s", u.Rule, u.Lack))
	}
	for _, a := range v.Assumed {
		if a.Hook != nil {
			lines = append(lines, fmt.Sprintf("assumed %s %s %s", a.What, a.Hook.Kind, a.Hook.Name))
		} else if a.What != DefaultPlugins {
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("assumed %s %s%s", a.What, strings.Trim(fmt.Sprint(a.Rules), "[]"), a.Message)))
		}
	}
	return strings.Join(lines, "\n")
}

func amount(q *resource.Quantity) string {
	if q == nil {
		return "-"
	}
	return q.String()
}
