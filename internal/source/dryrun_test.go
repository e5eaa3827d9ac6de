package source_test

import (
	cmpor "cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/api"
	"github.com/kubectl-ds/kubectl-ds/internal/source/cluster"
	"github.com/kubectl-ds/kubectl-ds/internal/source/manifest"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

// dryServer responds to the requests of DryRun, and records them.
type dryServer struct {
	version  string
	live     *appsv1.DaemonSet // nil if there is no live DaemonSet
	answer   *metav1.Status    // response to the PATCH; nil returns the live object
	sent     []string          // requests other than GET: method, query, content type and body
	warnings []string          // Warning headers in the response to a dry run
}

func (s *dryServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Path == "/version":
		fmt.Fprintf(w, `{"gitVersion":%q}`, s.version)
		return
	case r.Method != http.MethodGet:
		for _, text := range s.warnings {
			w.Header().Add("Warning", text)
		}
		body, _ := io.ReadAll(r.Body)
		s.sent = append(s.sent, r.Method+" "+r.URL.Path+"?"+r.URL.RawQuery+" "+r.Header.Get("Content-Type")+" "+string(body))
		if s.answer != nil {
			w.WriteHeader(int(s.answer.Code))
			_ = json.NewEncoder(w).Encode(s.answer)
			return
		}
	case s.live == nil:
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound, Message: "not found"})
		return
	}
	ds := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "agent"}, Spec: appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{}}}
	if s.live != nil {
		ds = s.live.DeepCopy()
	}
	ds.TypeMeta = metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"}
	_ = json.NewEncoder(w).Encode(ds)
}

func dryRun(t *testing.T, s *dryServer, text string, as ...manifest.Applying) (*manifest.Applied, error) {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	c, err := cluster.NewCluster(&rest.Config{Host: server.URL, QPS: -1}, func() time.Time { return noon })
	if err != nil {
		t.Fatal(err)
	}
	found, err := readManifests(text)
	if err != nil {
		t.Fatal(err)
	}
	m := found[0]
	m.Namespace = "kube-system"
	for _, a := range as {
		m.As = a
	}
	return c.DryRun(background, m)
}

func TestDryRun(t *testing.T) {
	const (
		path   = "PATCH /apis/apps/v1/namespaces/kube-system/daemonsets/agent?dryRun=All&fieldManager="
		strict = "&fieldValidation=Strict"
		obj    = `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"agent","namespace":"kube-system"},"spec":{"selector":{"matchLabels":{"app":"agent"}},` +
			`"template":{"metadata":{"labels":{"app":"agent"}},"spec":{"containers":[{"image":"acme/agent:2","name":"agent"}]}}}}`
		applied = " application/apply-patch+yaml " + obj
		image   = `"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"agent"}],"containers":[{"image":"acme/agent:2","name":"agent"}]}}}}`
	)
	text := strings.Replace(setYAML, "acme/agent:1", "acme/agent:2", 1)
	owner := `{"f:metadata":{"f:labels":{"f:was":{}}},"f:spec":{"f:selector":{}}}`
	for _, tt := range []struct {
		live *appsv1.DaemonSet
		as   manifest.Applying
		want string
		why  string
	}{
		{nil, manifest.Applying{}, "POST /apis/apps/v1/namespaces/kube-system/daemonsets?dryRun=All&fieldManager=kubectl-client-side-apply" + strict + " application/json " + obj, "one that there is not is created, as by kubectl apply"},
		{nil, manifest.Applying{ServerSide: true}, path + "kubectl" + strict + applied, "or applied, where that is asked for"},
		{liveSet(t), manifest.Applying{}, path + "kubectl-client-side-apply" + strict + " application/strategic-merge-patch+json {" + image, "a patch of what is there: nothing is removed"},
		{liveSet(t, lastApplied(t, strings.Replace(setYAML, "name: agent\n", "name: agent\n  labels: {was: here}\n", 1))), manifest.Applying{},
			path + "kubectl-client-side-apply" + strict + ` application/strategic-merge-patch+json {"metadata":{"labels":null},` + image, "kubectl's patch removes what it applied"},
		{liveSet(t, managed("helm", metav1.ManagedFieldsOperationUpdate, 1, owner)), manifest.Applying{},
			path + "helm" + strict + ` application/strategic-merge-patch+json {"metadata":{"labels":null},` + image, "Helm's patch what Helm owns"},
		{liveSet(t, managed("flux", metav1.ManagedFieldsOperationApply, 1, owner)), manifest.Applying{}, path + "flux" + strict + applied, "one who applies is asked in his name"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := &dryServer{version: "v1.37.1", live: tt.live}
			got, err := dryRun(t, s, text, tt.as)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{tt.want}, s.sent); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
			if ds := got.DaemonSet; ds.Name != "agent" || ds.Kind != "" {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestDryRunRefused(t *testing.T) {
	status := func(code int32, reason metav1.StatusReason, message string) *metav1.Status {
		return &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Code: code, Reason: reason, Message: message}
	}
	const what = "server-side dry run of daemonset kube-system/agent: "
	for _, tt := range []struct {
		version    string
		answer     *metav1.Status
		sent       int
		want, hint string
		why        string
	}{
		{"v1.37.1", status(403, metav1.StatusReasonForbidden, `daemonsets.apps "agent" is forbidden: User "jo" cannot patch resource "daemonsets"`), 1,
			what + `daemonsets.apps "agent" is forbidden: User "jo" cannot patch resource "daemonsets"`, "kubectl auth can-i patch daemonsets.apps -n kube-system", "may not"},
		{"v1.37.1", status(422, metav1.StatusReasonInvalid, `DaemonSet.apps "agent" is invalid: spec.selector: Invalid value: field is immutable`), 1,
			what + `DaemonSet.apps "agent" is invalid: spec.selector: Invalid value: field is immutable`, "", "the API's own verdict"},
		{"v1.15.12", nil, 0, what + "not sent: the server is v1.15.12, and a server before v1.16 may apply it for real", "", "an old server"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := &dryServer{version: tt.version, answer: tt.answer, live: liveSet(t)}
			got, err := dryRun(t, s, setYAML)
			e := (*source.RequestError)(nil)
			if !errors.As(err, &e) || err.Error() != tt.want || e.Hint() != tt.hint || len(s.sent) != tt.sent {
				t.Errorf("%v, error %v, %d sent\nwant %s", got, err, len(s.sent), tt.want)
			}
		})
	}
}

// TestDryRunWarnings checks that each warning of the server is returned once, with a success and with an error. There
// are no warnings if kubectl apply would not send a request.
func TestDryRunWarnings(t *testing.T) {
	const twice, other = `299 - "would violate PodSecurity \"restricted:latest\": host namespaces"`, `299 - "duplicate port, \u009b31m \"x\""`
	want := []string{`would violate PodSecurity "restricted:latest": host namespaces`, `duplicate port, u009b31m "x"`}
	refused := &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Code: 422, Reason: metav1.StatusReasonInvalid, Message: "invalid"}
	for _, tt := range []struct {
		headers []string
		text    string
		answer  *metav1.Status
		want    []string
		why     string
	}{
		{[]string{twice, other, twice}, strings.Replace(setYAML, "agent:1", "agent:2", 1), nil, want, "each once, in its order"},
		{[]string{twice, other}, strings.Replace(setYAML, "agent:1", "agent:2", 1), refused, want, "with a refusal"},
		{[]string{`199 - "somebody on the way"`, `299 - ""`}, strings.Replace(setYAML, "agent:1", "agent:2", 1), nil, nil, "what is not the server's, and what says nothing, is none"},
		{[]string{twice}, setYAML, nil, nil, "a patch that changes nothing is never sent in earnest"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			got, err := dryRun(t, &dryServer{version: "v1.37.1", live: liveSet(t), warnings: tt.headers, answer: tt.answer}, tt.text)
			if (err != nil) != (tt.answer != nil) {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Warnings); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestDryRunConflict checks that a conflict has the message of the server.
func TestDryRunConflict(t *testing.T) {
	const field, undo = `.spec.template.spec.containers[name="agent"].image`, `"kubectl-rollout" using apps/v1`
	conflict := &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Code: 409, Reason: metav1.StatusReasonConflict,
		Message: "Apply failed with 1 conflict: conflict with " + undo + ": " + field,
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: metav1.CauseTypeFieldManagerConflict, Message: "conflict with " + undo, Field: field}}}}
	s := &dryServer{version: "v1.37.1", answer: conflict, live: liveSet(t, managed("flux", metav1.ManagedFieldsOperationApply, 1, `{"f:spec":{"f:selector":{}}}`))}
	_, err := dryRun(t, s, setYAML)
	e := &source.ConflictError{}
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&source.ConflictError{Ref: source.Ref{Namespace: "kube-system", Name: "agent"}, Manager: "flux", Conflicts: []source.Conflict{{Field: field, With: undo}}}, e); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if strings.Contains(s.sent[0], "force") {
		t.Errorf("forced: %s", s.sent[0])
	}
}

// TestDryRunPod checks the result for each response to a pod, and whether the response is about the pod.
func TestDryRunPod(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", GenerateName: "agent-"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "agent", Image: "acme/agent:1", Env: []corev1.EnvVar{{Name: "A", Value: "s3cret"}}}}},
	}
	named := &metav1.StatusDetails{Kind: "pods", Name: "agent-"}
	status := func(code int32, reason metav1.StatusReason, message string, details *metav1.StatusDetails) *metav1.Status {
		return &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Code: code, Reason: reason, Message: message, Details: details}
	}
	const path = "/api/v1/namespaces/kube-system/pods?dryRun=All"
	for _, tt := range []struct {
		answer *metav1.Status
		want   snapshot.DryRunAnswer
		why    string
	}{
		{nil, snapshot.DryRunCreated, "it is created"},
		{status(403, metav1.StatusReasonForbidden, `pods "agent-" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)`, named), snapshot.DryRunRejected, "a plugin forbids it"},
		{status(422, metav1.StatusReasonInvalid, `pods "agent-" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`, named), snapshot.DryRunRejected, "a policy does"},
		{status(403, "", `admission webhook "w" denied the request: no`, nil), snapshot.DryRunRejected, "a webhook does, which names no pod"},
		{status(403, metav1.StatusReasonForbidden, `pods is forbidden: User "jo" cannot create resource "pods" in API group "" in the namespace "kube-system"`, &metav1.StatusDetails{Kind: "pods"}), snapshot.DryRunUnknown, "the user may create none"},
		{status(403, metav1.StatusReasonForbidden, `pods "agent-" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: no`, named), snapshot.DryRunUnknown, "or none with an owner"},
		{status(400, metav1.StatusReasonBadRequest, `admission webhook "w" does not support dry run`, nil), snapshot.DryRunUnknown, "a webhook with side effects"},
		{status(500, metav1.StatusReasonInternalError, `Internal error occurred: failed calling webhook "w": no route to host`, nil), snapshot.DryRunUnknown, "a webhook that does not answer"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			s := &podServer{answer: tt.answer}
			server := httptest.NewServer(s)
			t.Cleanup(server.Close)
			c, err := cluster.NewCluster(&rest.Config{Host: server.URL, QPS: -1}, func() time.Time { return noon })
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.DryRunPod(background, pod)
			if err != nil {
				t.Fatal(err)
			}
			want := &snapshot.PodDryRun{Answer: tt.want}
			if tt.answer != nil {
				want.Message = tt.answer.Message
			} else { // the server has added a sidecar
				want.Spec = &corev1.PodSpec{Containers: []corev1.Container{{Name: "agent"}}, InitContainers: []corev1.Container{{Name: "proxy", RestartPolicy: &always}}}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"POST " + path}, s.sent); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDryRunPodNotSent checks that no pod is sent to an old server, because that server would create it.
func TestDryRunPodNotSent(t *testing.T) {
	s := &podServer{version: "v1.15.12"}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	c, err := cluster.NewCluster(&rest.Config{Host: server.URL, QPS: -1}, func() time.Time { return noon })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.DryRunPod(background, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system"}}); err == nil || len(s.sent) > 0 {
		t.Errorf("error %v, sent %v", err, s.sent)
	}
}

// podServer admits a pod and adds a sidecar, or responds with a Status.
type podServer struct {
	version string
	answer  *metav1.Status
	sent    []string
}

func (s *podServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path == "/version" {
		fmt.Fprintf(w, `{"gitVersion":%q}`, cmpor.Or(s.version, "v1.37.1"))
		return
	}
	s.sent = append(s.sent, r.Method+" "+r.URL.Path+"?"+r.URL.RawQuery)
	if s.answer != nil {
		w.WriteHeader(int(s.answer.Code))
		_ = json.NewEncoder(w).Encode(s.answer)
		return
	}
	fmt.Fprint(w, `{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"kube-system","name":"agent-x"},"spec":{"containers":[{"name":"agent","image":"acme/agent:1","env":[{"name":"A","value":"s3cret"}]}],`+
		`"initContainers":[{"name":"proxy","image":"acme/proxy:1","restartPolicy":"Always"}]}}`)
}

// TestOnlyDry checks that the transport sends no request that could change the cluster, whatever client uses it.
func TestOnlyDry(t *testing.T) {
	var sent []string
	transport := cluster.OnlyDry{RoundTripper: roundTrip(func(r *http.Request) (*http.Response, error) {
		sent = append(sent, r.Method+" "+r.URL.RawQuery)
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	})}
	for _, tt := range []struct {
		method, query string
		want          bool
		why           string
	}{
		{"GET", "", true, "to read"},
		{"PATCH", "dryRun=All", true, "a dry run"},
		{"PATCH", "fieldManager=x&dryRun=All", true, "with more besides"},
		{"PATCH", "", false, "in earnest"},
		{"PATCH", "dryRun=", false, "half a dry run"},
		{"PATCH", "dryRun=All&dryRun=None", false, "two minds"},
		{"PATCH", "fieldManager=dryRun=All", false, "a dry run in name"},
		{"POST", "dryRun=All", true, "a dry run that creates nothing"},
		{"POST", "", false, "nothing is created"},
		{"PUT", "dryRun=All", false, "nor replaced"},
		{"DELETE", "dryRun=All", false, "nor deleted"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			sent = nil
			r, err := http.NewRequest(tt.method, "https://server/x?"+tt.query, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			_, err = transport.RoundTrip(r)
			if (err == nil) != tt.want || (len(sent) == 1) != tt.want {
				t.Errorf("%s %s: error %v, sent %v", tt.method, tt.query, err, sent)
			}
		})
	}
}

// TestClusterIsOnlyDry checks that a Cluster uses that transport.
func TestClusterIsOnlyDry(t *testing.T) {
	s := &dryServer{}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	c, err := cluster.NewCluster(&rest.Config{Host: server.URL, QPS: -1}, func() time.Time { return noon })
	if err != nil {
		t.Fatal(err)
	}
	sets := api.Of[appsv1.DaemonSet](c.Clients, "kube-system")
	_, created := sets.Create(background, liveSet(t), metav1.CreateOptions{})
	_, patched := sets.Patch(background, "agent", types.MergePatchType, []byte("{}"), metav1.PatchOptions{})
	deleted := api.Of[corev1.Pod](c.Clients, "kube-system").Delete(background, "p", metav1.DeleteOptions{})
	for what, err := range map[string]error{"create": created, "patch": patched, "delete": deleted} {
		if err == nil || !strings.Contains(err.Error(), "that is not a dry run") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if len(s.sent) > 0 {
		t.Errorf("sent %v", s.sent)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
