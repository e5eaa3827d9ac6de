package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/api"
	"github.com/kubectl-ds/kubectl-ds/internal/source/manifest"
	"github.com/kubectl-ds/kubectl-ds/internal/source/object"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// DryRun sends the manifest to the server as a dry run and returns the resulting DaemonSet, with
// the server's defaults, admission and validation. Nothing is stored. The DaemonSet may not exist
// yet. Use only labels, annotations and spec of the result. If there is an error, the result is nil
// or holds only the warnings.
//
// The request is the one that would apply the manifest: a server-side apply, the patch of kubectl
// apply and Helm 3, or a create; see manifest.Overlay for the choice. The user needs permission to
// patch or create the DaemonSet.
//
// A conflict of a server-side apply that is not forced is a [*source.ConflictError]. Any other
// error is a [*source.RequestError], for example because a mutating webhook does not support dry
// runs, or an [*api.UnreachableError].
func (c *Cluster) DryRun(ctx context.Context, m manifest.Manifest) (*manifest.Applied, error) {
	ctx = withoutLogs(ctx)
	what := fmt.Sprintf("server-side dry run of daemonset %s", m.Ref)
	known, err := c.dryRunVersion(ctx, what)
	if err != nil {
		return nil, err
	}
	live, err := api.Of[appsv1.DaemonSet](c.Clients, m.Namespace).Get(ctx, m.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		live = nil
	case err != nil:
		return nil, c.Refused(ctx, fmt.Sprintf("daemonset %s", m.Ref),
			"kubectl auth can-i get daemonsets.apps -n "+m.Namespace, err)
	}
	p, method, err := patchOf(live, m, known)
	if err != nil {
		return nil, m.Fail(err)
	}
	collected, warnings := api.WithSlot[api.Warned](ctx)
	send := c.dryPatch
	if p.Kind == "" {
		send = c.dryCreate
	}
	ds, err := send(collected, m, p)
	if found := manifest.ConflictsIn(err); len(found) > 0 {
		return &manifest.Applied{Warnings: *warnings}, &source.ConflictError{Ref: m.Ref, Manager: p.Manager,
			Conflicts: found}
	}
	if err != nil {
		return &manifest.Applied{Warnings: *warnings},
			c.Refused(ctx, what, "kubectl auth can-i "+p.AsVerb()+" daemonsets.apps -n "+m.Namespace, err)
	}
	if p.Kind != types.ApplyPatchType && string(p.Body) == "{}" { // kubectl apply does not send it
		*warnings = nil
	}
	if m.As.ServerSide && manifest.Migrate(ds.DeepCopy(), p.Manager) {
		m.As.Force = true // already accepted
		if ds, _, err = manifest.ApplyAs(ds, p.Manager, m); err != nil {
			return nil, m.Fail(err)
		}
		template.DefaultDaemonSet(ds, known)
	}
	object.StripDaemonSet(ds)
	if live != nil {
		manifest.KeepToolRecords(live, ds)
	}
	return &manifest.Applied{DaemonSet: ds, Method: method, Manager: p.Applier(), Warnings: *warnings}, nil
}

// DryRunPod sends a pod to the server as a dry run and returns whether admission accepts it, as the
// current user. Nothing is stored. The server does not call webhooks that do not support dry runs,
// and then its answer is unknown.
//
// Any response is a result. An error is a [*source.RequestError] for rejected credentials or a
// server before v1.16, or an [*api.UnreachableError].
func (c *Cluster) DryRunPod(ctx context.Context, pod *corev1.Pod) (*snapshot.PodDryRun, error) {
	ctx = withoutLogs(ctx)
	what := fmt.Sprintf("server-side dry run of a pod of namespace %s", pod.Namespace)
	if _, err := c.dryRunVersion(ctx, what); err != nil {
		return nil, err
	}
	made, err := c.dryCreatePod(ctx, pod)
	if err == nil {
		return &snapshot.PodDryRun{Answer: snapshot.DryRunCreated, Spec: schedulingSpec(&made.Spec)}, nil
	}
	var status apierrors.APIStatus
	if ctx.Err() != nil || apierrors.IsUnauthorized(err) || !errors.As(err, &status) {
		return nil, c.Refused(ctx, what, "", err)
	}
	answer := &snapshot.PodDryRun{Answer: snapshot.DryRunRejected, Message: message(err)}
	if isAboutUser(status.Status()) || unanswered(status.Status()) {
		answer.Answer = snapshot.DryRunUnknown
	}
	return answer, nil
}

// dryRunVersion returns the server's version. It returns an error for a server before v1.16, because such a server may
// persist the changes of a dry run.
func (c *Cluster) dryRunVersion(ctx context.Context, what string) (string, error) {
	v, err := c.version(ctx)
	if err != nil {
		return "", err
	}
	if known, err := version.ParseGeneric(v.KubernetesVersion); err == nil &&
		known.LessThan(version.MajorMinor(1, 16)) {
		return "", &source.RequestError{What: what,
			Err: fmt.Errorf("not sent: the server is %s, and a server before v1.16 "+
				"may apply it for real", v.KubernetesVersion)}
	}
	return v.KubernetesVersion, nil
}

// isAboutUser reports whether the server forbids the request because of the user: who may not create
// pods, or may not set an owner that blocks its own deletion
// (OwnerReferencesPermissionEnforcement). The authorizer names no pod; admission does.
func isAboutUser(s metav1.Status) bool {
	if s.Reason != metav1.StatusReasonForbidden {
		return false
	}
	return s.Details != nil && s.Details.Kind == "pods" && s.Details.Name == "" ||
		strings.Contains(s.Message, "cannot set blockOwnerDeletion")
}

// unanswered reports whether the server could not decide: a webhook does not support dry runs or
// cannot be called, or the server is overloaded.
func unanswered(s metav1.Status) bool {
	return strings.Contains(s.Message, "does not support dry run") ||
		strings.Contains(s.Message, "failed calling webhook") || s.Code >= http.StatusInternalServerError ||
		s.Code == http.StatusTooManyRequests || s.Code == http.StatusRequestTimeout
}

// schedulingSpec returns s reduced to the fields that decide where the pod fits.
func schedulingSpec(s *corev1.PodSpec) *corev1.PodSpec {
	parts := func(cs []corev1.Container) (out []corev1.Container) {
		for _, c := range cs {
			out = append(out, corev1.Container{Name: c.Name, Resources: c.Resources, Ports: c.Ports,
				RestartPolicy: c.RestartPolicy})
		}
		return out
	}
	return &corev1.PodSpec{
		Containers: parts(s.Containers), InitContainers: parts(s.InitContainers), Resources: s.Resources,
		Overhead: s.Overhead,
		Priority: s.Priority, PriorityClassName: s.PriorityClassName, PreemptionPolicy: s.PreemptionPolicy,
		NodeSelector: s.NodeSelector, Tolerations: s.Tolerations, SchedulerName: s.SchedulerName,
	}
}

// patchOf returns the request that would apply the manifest. Conflicts of a server-side apply are
// left to the server.
func patchOf(live *appsv1.DaemonSet, m manifest.Manifest, kubernetesVersion string) (manifest.Patch,
	manifest.Method, error) {
	if live == nil {
		p := manifest.Patch{Manager: cmp.Or(m.As.Manager, manifest.KubectlClientSide)}
		if m.As.ServerSide {
			p.Kind, p.Manager = types.ApplyPatchType, cmp.Or(m.As.Manager, manifest.KubectlServerSide)
		}
		p.Body = object.Encoded(m.Object(m.Namespace))
		return p, manifest.MethodNew, nil
	}
	if m.As.ServerSide || manifest.AppliedServerSide(live, manifest.ApplierOf(live)) {
		m.As.Force = true
	}
	_, p, method, err := manifest.Merge(live, m, kubernetesVersion)
	return p, method, err
}

// dryCreate, dryCreatePod and dryPatch send the only requests that are not reads; OnlyDry rejects
// them if they lack dryRun=All. The object is sent as it was written, because the API's types would
// lose fields that the server must validate.
func (c *Cluster) dryCreate(ctx context.Context, m manifest.Manifest, p manifest.Patch) (*appsv1.DaemonSet, error) {
	o := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldManager: p.Manager,
		FieldValidation: metav1.FieldValidationStrict}
	ds := &appsv1.DaemonSet{}
	err := c.Clients[appsv1.SchemeGroupVersion].Post().Namespace(m.Namespace).Resource("daemonsets").VersionedParams(&o,
		api.APIParameters()).
		SetHeader("Content-Type", runtime.ContentTypeJSON).Body(p.Body).Do(ctx).Into(ds)
	return ds, err
}

func (c *Cluster) dryCreatePod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	return api.Of[corev1.Pod](c.Clients, pod.Namespace).Create(ctx, pod,
		metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
}

func (c *Cluster) dryPatch(ctx context.Context, m manifest.Manifest, p manifest.Patch) (*appsv1.DaemonSet, error) {
	o := metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}, FieldManager: p.Manager,
		FieldValidation: metav1.FieldValidationStrict}
	if p.Kind == types.ApplyPatchType && m.As.Force {
		o.Force = &m.As.Force
	}
	return api.Of[appsv1.DaemonSet](c.Clients, m.Namespace).Patch(ctx, m.Name, p.Kind, p.Body, o)
}

// OnlyDry is a transport that rejects every request that could change anything.
type OnlyDry struct{ http.RoundTripper }

func (t OnlyDry) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet || slices.Contains([]string{http.MethodPatch, http.MethodPost}, r.Method) &&
		slices.Equal(r.URL.Query()["dryRun"], []string{metav1.DryRunAll}) {
		return t.RoundTripper.RoundTrip(r)
	}
	if r.Body != nil {
		r.Body.Close()
	}
	return nil, errors.New("not sent: a " + r.Method + " that is not a dry run")
}
