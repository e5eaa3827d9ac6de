package e2e

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	gocmp "github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/internal/source/cluster"
	"github.com/kubectl-ds/kubectl-ds/internal/source/part"
	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// TestAdmission compares pkg/admission with the API server's answers to the DaemonSet controller
// for random namespaces and templates. ADMISSION_CASES is their number and ADMISSION_SEED the first
// seed.
func TestAdmission(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	n, seed := number(t, "ADMISSION_CASES", 40), number(t, "ADMISSION_SEED", 1)
	// Without a controller that counts, a quota keeps the numbers of the case.
	c := stage.New(t, stage.Options{ServiceAccounts: true, Controllers: []string{"namespace-controller", "serviceaccount-controller"}})
	j := &admissionJudge{c: c, controller: asController(t, c), reached: map[string]int{}}

	cases := make([]*admissionCase, n)
	for i := range cases {
		cases[i] = drawAdmission(rand.New(rand.NewPCG(uint64(seed), uint64(i))), i)
	}
	// The API server uses caches that lag: create everything before the first case.
	must(t, j.createClasses(ctx))
	must(t, inParallel(cases, func(k *admissionCase) error { return j.create(ctx, k) }))
	must(t, inParallel(cases, func(k *admissionCase) error { return j.settle(ctx, k) }))
	wrong := 0
	for i, k := range cases {
		if i == len(cases)/2 {
			must(t, j.createDefaultClass(ctx)) // half of the cases have no default
		}
		if text, err := j.judge(ctx, k); err != nil {
			t.Fatalf("case %d: %v\n%s", i, err, k)
		} else if text != "" {
			wrong++
			t.Errorf("case %d of seed %d: %s\n%s", i, seed, text, k)
		}
	}
	t.Logf("%d cases of seed %d, %d wrong\n%s%s", n, seed, wrong, j.table(), strings.Join(j.invalid, "\n"))
	for _, r := range admission.Rules {
		if j.reached["first "+string(r)] == 0 {
			t.Errorf("no pod was rejected by %s", r)
		}
	}
	for _, r := range admissionReasons {
		if n >= 200 && j.reached["first "+string(r)] == 0 {
			t.Errorf("no pod was rejected for %s", r)
		}
	}
}

// admissionReasons are the reasons that a real API server can produce.
var admissionReasons = []admission.Reason{
	admission.NamespaceNotFound, admission.NamespaceTerminating, admission.ServiceAccountNotFound, admission.SecretNotAllowed,
	admission.PriorityClassNotFound, admission.PriorityDiffers, admission.PreemptionPolicyDiffers,
	admission.RuntimeClassNotFound, admission.OverheadDiffers, admission.OverheadWithoutClass, admission.NodeSelectorConflicts,
	admission.PodInvalid, admission.LimitRangeViolated, admission.PodSecurityViolated,
	admission.QuotaMustSpecify, admission.QuotaStatusUnknown, admission.QuotaExceeded,
}

func number(t *testing.T, name string, usual int) int {
	t.Helper()
	n, err := strconv.Atoi(cmp.Or(os.Getenv(name), strconv.Itoa(usual)))
	must(t, err)
	return n
}

// asController returns a client with the rights of the DaemonSet controller.
func asController(t *testing.T, c *stage.Cluster) kubernetes.Interface {
	t.Helper()
	config := rest.CopyConfig(c.Config)
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:kube-system:daemon-set-controller",
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"},
	}
	client, err := kubernetes.NewForConfig(config)
	must(t, err)
	return client
}

// inParallel calls f for all, eight at a time, and returns the first error.
func inParallel[E any](all []E, f func(E) error) error {
	var wait sync.WaitGroup
	errs := make([]error, len(all))
	places := make(chan struct{}, 8)
	for i, e := range all {
		wait.Add(1)
		places <- struct{}{}
		go func() {
			defer wait.Done()
			errs[i] = f(e)
			<-places
		}()
	}
	wait.Wait()
	return cmp.Or(errs...)
}

// admissionJudge compares the API server with pkg/admission.
type admissionJudge struct {
	c          *stage.Cluster
	controller kubernetes.Interface
	reached    map[string]int
	invalid    []string // why templates are invalid for a DaemonSet
}

// create creates the namespace of a case with everything in it.
func (j *admissionJudge) create(ctx context.Context, k *admissionCase) error {
	if k.missing {
		return nil
	}
	core := j.c.Client.CoreV1()
	if _, err := core.Namespaces().Create(ctx, k.namespace, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("%w\n%s", err, k)
	}
	for _, a := range k.accounts {
		if _, err := core.ServiceAccounts(k.name).Create(ctx, a, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	for _, lr := range k.ranges {
		if _, err := core.LimitRanges(k.name).Create(ctx, lr, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("%w\n%s", err, k)
		}
	}
	for _, q := range k.quotas {
		made, err := core.ResourceQuotas(k.name).Create(ctx, q, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("%w\n%s", err, k)
		}
		if q.Status.Hard == nil {
			continue // not counted, or counted by a controller
		}
		made.Status = q.Status
		if _, err := core.ResourceQuotas(k.name).UpdateStatus(ctx, made, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("%w\n%s", err, k)
		}
	}
	if k.terminating {
		return core.Namespaces().Delete(ctx, k.name, metav1.DeleteOptions{})
	}
	return nil
}

// settle waits for the ServiceAccount of every namespace, and until the contents of a terminating
// one are gone.
func (j *admissionJudge) settle(ctx context.Context, k *admissionCase) error {
	if k.missing {
		return nil
	}
	return j.c.WaitFor(ctx, "namespace "+k.name, func(ctx context.Context) (bool, error) {
		if k.terminating {
			ns, err := j.c.Client.CoreV1().Namespaces().Get(ctx, k.name, metav1.GetOptions{})
			return err == nil && ns.Status.Phase == corev1.NamespaceTerminating, err
		}
		_, err := j.c.Client.CoreV1().ServiceAccounts(k.name).Get(ctx, "default", metav1.GetOptions{})
		return err == nil, ignoreNotFound(err)
	})
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// read reads what pkg/admission needs, like the plugin.
func (j *admissionJudge) read(ctx context.Context, ds *appsv1.DaemonSet) (*snapshot.Snapshot, error) {
	c, err := cluster.NewCluster(j.c.Config, time.Now)
	if err != nil {
		return nil, err
	}
	all, err := c.AddAdmission(ctx, part.Creation{Of: &snapshot.Snapshot{DaemonSet: ds, KubernetesVersion: "v1.37.1"}})
	if err != nil {
		return nil, err
	}
	if gaps := all[0].Gaps; len(gaps) > 0 {
		return nil, fmt.Errorf("could not be read: %v", gaps)
	}
	return all[0], nil
}

// judge compares both for a case. While the pod is rejected, it applies the remedies of
// pkg/admission and compares again, so that hidden reasons are compared, too. It returns the
// difference, or "".
func (j *admissionJudge) judge(ctx context.Context, k *admissionCase) (string, error) {
	var last *admission.Verdict
	for try := 0; ; try++ {
		invalid := len(j.invalid)
		verdict, text, err := j.ask(ctx, k)
		if try > 0 && len(j.invalid) > invalid {
			return fmt.Sprintf("after the remedies of\n%sthe template is invalid: %s", asYAML(last.Refusals[0]), j.invalid[invalid]), nil
		}
		if try > 0 && err == nil && text != "" { // the API server uses caches that lag
			soon, cancel := context.WithTimeout(ctx, 5*time.Second)
			_ = j.c.WaitFor(soon, "the API server to know what was changed", func(ctx context.Context) (bool, error) {
				_, text, err := j.ask(ctx, k)
				return err != nil || text == "", nil
			})
			cancel()
			verdict, text, err = j.ask(ctx, k)
		}
		if err != nil || text != "" {
			return text, err
		}
		if try == 0 {
			j.count(verdict)
		}
		if verdict.Admitted() {
			return "", nil
		}
		first := verdict.Refusals[0]
		j.reached["first "+string(first.Rule)]++
		j.reached["first "+string(first.Reason)]++
		if last != nil && gocmp.Diff(last.Refusals[0], first) == "" {
			return fmt.Sprintf("after its remedies, there is still\n%s", asYAML(first)), nil
		}
		last = verdict
		if lifted, err := j.lift(ctx, k, first); err != nil || !lifted {
			return "", err
		}
		j.reached["lifted "+string(first.Reason)]++
	}
}

// ask compares both once. If the template is invalid for a DaemonSet, both must admit the pod.
func (j *admissionJudge) ask(ctx context.Context, k *admissionCase) (*admission.Verdict, string, error) {
	ds := k.daemonSet()
	// As the API server stores it: defaulted and valid.
	ds.Namespace = "default"
	ds, err := j.c.Client.AppsV1().DaemonSets("default").Create(ctx, ds, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if apierrors.IsInvalid(err) {
		j.reached["template invalid"]++
		j.invalid = append(j.invalid, k.name+": "+err.Error())
		return &admission.Verdict{}, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	ds.Namespace = k.name
	pod := (&daemonset.State{DaemonSet: ds, History: &daemonset.History{}}).PodFor("node-01")
	s, err := j.read(ctx, ds)
	if err != nil {
		return nil, "", err
	}
	before := pod.DeepCopy()
	verdict := admission.Check(s.Admission, pod, s.KubernetesVersion, s.Lacks)
	if diff := gocmp.Diff(before, pod); diff != "" {
		return nil, "the pod that was given is changed: " + diff, nil
	}

	got, err := j.controller.CoreV1().Pods(k.name).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return &verdict, refused(k, &verdict, err), nil
	}
	if !verdict.Admitted() {
		return &verdict, fmt.Sprintf("the API server admits the pod, and should reject it:\n%s", asYAML(verdict.Refusals)), nil
	}
	withoutToken(&got.Spec)
	if diff := gocmp.Diff(got.Spec, verdict.Pod.Spec, cmpopts.EquateEmpty()); diff != "" {
		return &verdict, "the pod is admitted (-API server +pkg/admission):\n" + diff, nil
	}
	return &verdict, "", nil
}

// refused compares the API server's error with the refusals that may come first: those of the first
// rule, if several objects reject the pod.
func refused(k *admissionCase, v *admission.Verdict, err error) string {
	text := err.Error()
	if v.Admitted() {
		return "the API server rejects the pod, and should admit it: " + text
	}
	var said []string
	for _, r := range v.Refusals {
		if r.Rule != v.Refusals[0].Rule || (r.Reason == admission.QuotaExceeded) != (v.Refusals[0].Reason == admission.QuotaExceeded) {
			continue
		}
		message := inServerWords(r, k)
		if message == normal(text) || r.Reason == admission.PodInvalid && slices.Equal(causes(err), fieldsOf(r)) {
			return ""
		}
		said = append(said, message)
	}
	return fmt.Sprintf("the API server says\n\t%s\nas\n\t%s\nand pkg/admission\n\t%s", text, normal(text), strings.Join(said, "\n\t"))
}

// withoutToken removes the volume of the ServiceAccount's token, which has a random name.
func withoutToken(spec *corev1.PodSpec) {
	isToken := func(name string) bool { return strings.HasPrefix(name, "kube-api-access-") }
	spec.Volumes = slices.DeleteFunc(spec.Volumes, func(v corev1.Volume) bool { return isToken(v.Name) })
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			list[i].VolumeMounts = slices.DeleteFunc(list[i].VolumeMounts, func(m corev1.VolumeMount) bool { return isToken(m.Name) })
		}
	}
}

// limitRangeList matches the part of the API server's message about several limits, whose order is
// random.
var limitRangeList = regexp.MustCompile(`\[(.*)\]$`)

// normal returns the API server's message with random lists sorted.
func normal(text string) string {
	_, after, found := strings.Cut(text, " is forbidden: ")
	if !found {
		return text
	}
	// For a quota with unknown status these are all resources, not those that are exceeded.
	after, _, _ = strings.Cut(after, ", resources: ")
	if m := limitRangeList.FindStringSubmatch(after); m != nil && strings.Contains(after, " per ") {
		parts := strings.Split(m[1], ", ")
		after = joinedSorted(regroup(parts))
	}
	return after
}

// regroup joins what a comma within a sentence has separated.
func regroup(parts []string) []string {
	var out []string
	for _, p := range parts {
		if strings.HasPrefix(p, "but ") && len(out) > 0 {
			out[len(out)-1] += ", " + p
			continue
		}
		out = append(out, p)
	}
	return out
}

func joinedSorted(parts []string) string {
	slices.Sort(parts)
	return strings.Join(slices.Compact(parts), "; ")
}

// causes returns the fields that the API server considers invalid.
func causes(err error) []string {
	status, ok := err.(apierrors.APIStatus)
	if !ok || !apierrors.IsInvalid(err) || status.Status().Details == nil {
		return nil
	}
	var all []string
	for _, c := range status.Status().Details.Causes {
		all = append(all, c.Field)
	}
	slices.Sort(all)
	return slices.Compact(all) // the API server reports it once
}

func fieldsOf(r admission.Refusal) []string {
	var all []string
	for _, v := range r.Invalid {
		all = append(all, v.Field)
	}
	slices.Sort(all)
	return slices.Compact(all) // the API server reports it once
}

// inServerWords returns a refusal in the words of the API server.
func inServerWords(r admission.Refusal, k *admissionCase) string {
	switch r.Reason {
	case admission.NamespaceNotFound:
		return fmt.Sprintf("namespaces %q not found", r.Name)
	case admission.NamespaceTerminating:
		return fmt.Sprintf("unable to create new content in namespace %s because it is being terminated", r.Name)
	case admission.ServiceAccountNotFound:
		return fmt.Sprintf("error looking up service account %s/%s: serviceaccount %q not found", k.name, r.Name, r.Name)
	case admission.PriorityClassNotFound:
		return fmt.Sprintf("no PriorityClass with name %s was found", r.Name)
	case admission.PriorityDiffers:
		return fmt.Sprintf("the integer value of priority (%s) must not be provided in pod spec; priority admission controller computed %s from the given PriorityClass name", r.Value, r.Want)
	case admission.PreemptionPolicyDiffers:
		return fmt.Sprintf("the string value of PreemptionPolicy (%s) must not be provided in pod spec; priority admission controller computed %s from the given PriorityClass name", r.Value, r.Want)
	case admission.RuntimeClassNotFound:
		return fmt.Sprintf("pod rejected: RuntimeClass %q not found", r.Name)
	case admission.OverheadDiffers:
		return "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
	case admission.OverheadWithoutClass:
		return "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
	case admission.NodeSelectorConflicts:
		key := strings.TrimSuffix(strings.TrimPrefix(r.Field, "nodeSelector["), "]")
		return fmt.Sprintf("conflict: runtimeClass.scheduling.nodeSelector[%s] = %s; pod.spec.nodeSelector[%s] = %s", key, r.Want, key, r.Value)
	case admission.SecretNotAllowed:
		return fmt.Sprintf("%s is not allowed because service account %s does not reference that %s", secretInServerWords(r, k), r.Name, secretKind(r))
	case admission.LimitRangeViolated:
		var all []string
		for _, b := range r.Bounds {
			all = append(all, boundInServerWords(b))
		}
		return joinedSorted(all)
	case admission.PodSecurityViolated:
		var all []string
		for _, v := range r.Violations {
			if v.Detail != "" {
				v.What += " (" + v.Detail + ")"
			}
			all = append(all, v.What)
		}
		return fmt.Sprintf("violates PodSecurity %q: %s", r.Level+":"+r.Version, strings.Join(all, ", "))
	case admission.QuotaMustSpecify:
		var all []string
		for _, m := range r.Missing {
			all = append(all, fmt.Sprintf("%s for: %s", m.Resource, strings.Join(m.Containers, ",")))
		}
		return fmt.Sprintf("failed quota: %s: must specify %s", r.Name, strings.Join(all, "; "))
	case admission.QuotaStatusUnknown:
		return "status unknown for quota: " + r.Name
	case admission.QuotaExceeded:
		var requested, used, hard []string
		for _, a := range r.Amounts {
			requested = append(requested, string(a.Resource)+"="+a.Requested.String())
			used = append(used, string(a.Resource)+"="+a.Used.String())
			hard = append(hard, string(a.Resource)+"="+a.Hard.String())
		}
		return fmt.Sprintf("exceeded quota: %s, requested: %s, used: %s, limited: %s", r.Name, strings.Join(requested, ","), strings.Join(used, ","), strings.Join(hard, ","))
	}
	return string(r.Reason)
}

func secretKind(r admission.Refusal) string {
	if strings.HasPrefix(r.Field, "imagePullSecrets") {
		return "imagePullSecret"
	}
	return "secret"
}

var containerField = regexp.MustCompile(`^(c|initC)ontainers\[(\d+)\]\.(env|envFrom)\[(\d+)\]`)

func secretInServerWords(r admission.Refusal, k *admissionCase) string {
	if !strings.HasPrefix(r.Field, "volumes") && !strings.HasPrefix(r.Field, "imagePullSecrets") {
		m := containerField.FindStringSubmatch(r.Field)
		i, _ := strconv.Atoi(m[2])
		n, _ := strconv.Atoi(m[4])
		kind, container := "container", &k.template.Spec.Containers
		if m[1] != "c" {
			kind, container = "init container", &k.template.Spec.InitContainers
		}
		if c := (*container)[i]; m[3] == "env" {
			return fmt.Sprintf("%s %s with envVar %s referencing secret.secretName=%q", kind, c.Name, c.Env[n].Name, r.Value)
		} else {
			return fmt.Sprintf("%s %s with envFrom referencing secret.secretName=%q", kind, c.Name, r.Value)
		}
	}
	if strings.HasPrefix(r.Field, "volumes") {
		return fmt.Sprintf("volume with secret.secretName=%q", r.Value)
	}
	return fmt.Sprintf("%s=%q", r.Field, r.Value)
}

func boundInServerWords(b admission.Bound) string {
	of := "Container"
	if b.Container == "" {
		of = "Pod"
	}
	least := fmt.Sprintf("minimum %s usage per %s is %s", b.Resource, of, b.Bound.String())
	most := fmt.Sprintf("maximum %s usage per %s is %s", b.Resource, of, b.Bound.String())
	ratio := fmt.Sprintf("%s max limit to request ratio per %s is %s", b.Resource, of, b.Bound.String())
	switch b.Why {
	case admission.MinWithoutRequest:
		return least + ".  No request is specified"
	case admission.RequestBelowMin:
		return least + ", but request is " + b.Request.String()
	case admission.LimitBelowMin:
		return least + ", but limit is " + b.Limit.String()
	case admission.MaxWithoutLimit:
		return most + ".  No limit is specified"
	case admission.LimitAboveMax:
		return most + ", but limit is " + b.Limit.String()
	case admission.RequestAboveMax:
		return most + ", but request is " + b.Request.String()
	case admission.RatioWithoutRequest:
		return ratio + ", but no request is specified or request is 0"
	case admission.RatioWithoutLimit:
		return ratio + ", but no limit is specified or limit is 0"
	case admission.RatioAboveMax:
		return ratio + fmt.Sprintf(", but provided ratio is %f", b.Limit.AsApproximateFloat64()/b.Request.AsApproximateFloat64())
	}
	return string(b.Why)
}

// count records the features of a verdict.
func (j *admissionJudge) count(v *admission.Verdict) {
	switch len(v.Refusals) {
	case 0:
		j.reached["admitted"]++
	case 1:
		j.reached["rejected once"]++
	default:
		j.reached["rejected more than once"]++
	}
	for _, r := range v.Refusals {
		j.reached[string(r.Reason)]++
		for _, b := range r.Bounds {
			j.reached[string(r.Reason)+" "+string(b.Why)]++
		}
		for _, i := range r.Invalid {
			j.reached[string(r.Reason)+" "+string(i.Why)]++
		}
		for _, violation := range r.Violations {
			j.reached[string(r.Reason)+" "+violation.What]++
		}
		if r.Level != "" {
			j.reached[string(r.Reason)+" level "+r.Level]++
		}
		for _, a := range r.Amounts {
			j.reached[string(r.Reason)+" "+string(a.Resource)]++
		}
	}
	if len(v.Quotas) > 0 {
		j.reached["counted by a quota"]++
	}
}

// table returns a table of the recorded features.
func (j *admissionJudge) table() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(j.reached)) {
		fmt.Fprintf(&b, "%5d  %s\n", j.reached[name], name)
	}
	return b.String()
}

func asYAML(v any) string {
	text, err := yaml.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
