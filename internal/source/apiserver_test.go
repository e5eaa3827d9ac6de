package source_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-ds/kubectl-ds/internal/source/cluster"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// apiServer implements the parts of the API that a Cluster uses: get and list, with selectors and pages, in protobuf
// or JSON.
type apiServer struct {
	*httptest.Server

	mu       sync.Mutex
	world    world
	requests []string    // "GET /path?query", in order of arrival
	headers  http.Header // headers of the last request
	count    map[string]int

	// answer may respond to a request instead of the server. what is the resource, such as "nodes", or "daemonset"
	// for a single one. n is the number of the request for it, from 1. answer may change the world and return false.
	answer func(s *apiServer, w http.ResponseWriter, what string, n int) bool
	date   func() time.Time // clock of the server; nil omits the Date header
}

func newAPIServer(t testing.TB, w world) *apiServer {
	s := &apiServer{world: w, count: map[string]int{}, date: func() time.Time { return noon }}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// newCluster returns a Cluster for s, with a local clock that is a year ahead.
func newCluster(t testing.TB, s *apiServer) *cluster.Cluster {
	t.Helper()
	c, err := cluster.NewCluster(&rest.Config{Host: s.URL, QPS: -1, UserAgent: "kubectl-ds/test"}, func() time.Time { return noon.AddDate(1, 0, 0) })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method+" "+r.URL.String())
	s.headers = r.Header
	w.Header()["Date"] = nil
	if s.date != nil {
		w.Header().Set("Date", s.date().UTC().Format(http.TimeFormat))
	}
	namespace, resource, name := "", "", ""
	path := r.URL.Path
	for _, group := range []string{"/api/v1/", "/apis/apps/v1/", "/apis/policy/v1/", "/apis/scheduling.k8s.io/v1/", "/apis/node.k8s.io/v1/", "/apis/admissionregistration.k8s.io/v1/", "/apis/storage.k8s.io/v1/", "/apis/operator.openshift.io/v1/", "/apis/coordination.k8s.io/v1/"} {
		path = strings.TrimPrefix(path, group)
	}
	if rest, ok := strings.CutPrefix(path, "namespaces/"); ok && strings.Contains(rest, "/") {
		namespace, path, _ = strings.Cut(rest, "/")
	}
	resource, name, _ = strings.Cut(path, "/")
	what := strings.TrimPrefix(resource, "/")
	if name != "" {
		what = strings.TrimSuffix(resource, "s")
		if strings.HasSuffix(resource, "sses") {
			what = strings.TrimSuffix(resource, "es")
		}
	}
	if r.URL.Path == "/version" {
		what = "version"
	}
	s.count[what]++
	if s.answer != nil && s.answer(s, w, what, s.count[what]) {
		return
	}
	if what == "version" {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"major":"1","minor":"37","gitVersion":"v1.37.1"}`)
		return
	}
	list := map[string]runtime.Object{
		"daemonsets": &appsv1.DaemonSetList{}, "controllerrevisions": &appsv1.ControllerRevisionList{},
		"nodes": &corev1.NodeList{}, "pods": &corev1.PodList{}, "events": &corev1.EventList{},
		"poddisruptionbudgets": &policyv1.PodDisruptionBudgetList{},
		"namespaces":           &corev1.NamespaceList{}, "serviceaccounts": &corev1.ServiceAccountList{}, "resourcequotas": &corev1.ResourceQuotaList{}, "limitranges": &corev1.LimitRangeList{},
		"priorityclasses": &schedulingv1.PriorityClassList{}, "runtimeclasses": &nodev1.RuntimeClassList{},
		"validatingwebhookconfigurations": &admissionv1.ValidatingWebhookConfigurationList{}, "mutatingwebhookconfigurations": &admissionv1.MutatingWebhookConfigurationList{},
		"validatingadmissionpolicies": &admissionv1.ValidatingAdmissionPolicyList{}, "validatingadmissionpolicybindings": &admissionv1.ValidatingAdmissionPolicyBindingList{},
		"mutatingadmissionpolicies": &admissionv1.MutatingAdmissionPolicyList{}, "mutatingadmissionpolicybindings": &admissionv1.MutatingAdmissionPolicyBindingList{},
		"persistentvolumeclaims": &corev1.PersistentVolumeClaimList{}, "persistentvolumes": &corev1.PersistentVolumeList{}, "csinodes": &storagev1.CSINodeList{},
		"kubecontrollermanagers": &metav1.List{}, "leases": &coordinationv1.LeaseList{},
	}[resource]
	if list == nil {
		s.fail(w, http.StatusNotFound, metav1.StatusReasonNotFound, "no such path")
		return
	}
	var found []runtime.Object
	for _, o := range s.world {
		if m := o.(metav1.Object); resourceOf(o) == resource && (namespace == "" || m.GetNamespace() == namespace) && (name == "" || m.GetName() == name) {
			found = append(found, o.DeepCopyObject())
		}
	}
	if name != "" {
		if len(found) == 0 {
			s.fail(w, http.StatusNotFound, metav1.StatusReasonNotFound, fmt.Sprintf("%s.apps %q not found", resource, name))
			return
		}
		s.send(w, r, found[0])
		return
	}
	q := r.URL.Query()
	byLabel, err := labels.Parse(q.Get("labelSelector"))
	byField, err2 := fields.ParseSelector(q.Get("fieldSelector"))
	if err != nil || err2 != nil {
		s.fail(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, "bad selector")
		return
	}
	found = slices.DeleteFunc(found, func(o runtime.Object) bool {
		return !byLabel.Matches(labels.Set(o.(metav1.Object).GetLabels())) || !byField.Matches(fieldsOf(o))
	})
	// in descending order, because the API does not promise an order
	slices.SortFunc(found, func(a, b runtime.Object) int {
		return strings.Compare(b.(metav1.Object).GetNamespace()+"/"+b.(metav1.Object).GetName(), a.(metav1.Object).GetNamespace()+"/"+a.(metav1.Object).GetName())
	})
	from, _ := strconv.Atoi(strings.TrimPrefix(q.Get("continue"), "from-"))
	to := len(found)
	if limit, _ := strconv.Atoi(q.Get("limit")); limit > 0 {
		to = min(to, from+limit)
	}
	if err := meta.SetList(list, found[min(from, to):to]); err != nil {
		panic(err)
	}
	if to < len(found) {
		list.(metav1.ListInterface).SetContinue(fmt.Sprintf("from-%d", to))
		// as in the real API server, which would otherwise have to evaluate all objects
		if q.Get("labelSelector")+q.Get("fieldSelector") == "" {
			list.(metav1.ListInterface).SetRemainingItemCount(new(int64(len(found) - to)))
		}
	}
	s.send(w, r, list)
}

func resourceOf(o runtime.Object) string {
	switch o.(type) {
	case *appsv1.DaemonSet:
		return "daemonsets"
	case *appsv1.ControllerRevision:
		return "controllerrevisions"
	case *corev1.Node:
		return "nodes"
	case *corev1.Pod:
		return "pods"
	case *corev1.Event:
		return "events"
	case *policyv1.PodDisruptionBudget:
		return "poddisruptionbudgets"
	case *corev1.Namespace:
		return "namespaces"
	case *corev1.ServiceAccount:
		return "serviceaccounts"
	case *corev1.PersistentVolumeClaim:
		return "persistentvolumeclaims"
	case *corev1.PersistentVolume:
		return "persistentvolumes"
	case *storagev1.CSINode:
		return "csinodes"
	case *kubeControllerManager:
		return "kubecontrollermanagers"
	case *coordinationv1.Lease:
		return "leases"
	case *corev1.ResourceQuota:
		return "resourcequotas"
	case *corev1.LimitRange:
		return "limitranges"
	case *schedulingv1.PriorityClass:
		return "priorityclasses"
	case *nodev1.RuntimeClass:
		return "runtimeclasses"
	case *admissionv1.ValidatingWebhookConfiguration:
		return "validatingwebhookconfigurations"
	case *admissionv1.MutatingWebhookConfiguration:
		return "mutatingwebhookconfigurations"
	case *admissionv1.ValidatingAdmissionPolicy:
		return "validatingadmissionpolicies"
	case *admissionv1.ValidatingAdmissionPolicyBinding:
		return "validatingadmissionpolicybindings"
	case *admissionv1.MutatingAdmissionPolicy:
		return "mutatingadmissionpolicies"
	case *admissionv1.MutatingAdmissionPolicyBinding:
		return "mutatingadmissionpolicybindings"
	}
	return ""
}

// fieldsOf returns the fields that the real server supports in field selectors.
func fieldsOf(o runtime.Object) fields.Set {
	f := fields.Set{"metadata.name": o.(metav1.Object).GetName(), "metadata.namespace": o.(metav1.Object).GetNamespace()}
	if e, ok := o.(*corev1.Event); ok {
		f["type"] = e.Type
		f["reason"] = e.Reason
		f["involvedObject.kind"] = e.InvolvedObject.Kind
		f["involvedObject.name"] = e.InvolvedObject.Name
	}
	if p, ok := o.(*corev1.Pod); ok {
		f["spec.nodeName"], f["status.phase"], f["status.nominatedNodeName"] = p.Spec.NodeName, string(p.Status.Phase), p.Status.NominatedNodeName
	}
	return f
}

func (s *apiServer) send(w http.ResponseWriter, r *http.Request, o runtime.Object) {
	want, _, _ := strings.Cut(r.Header.Get("Accept"), ",")
	want, as, _ := strings.Cut(want, ";as=")
	if as == "PartialObjectMetadataList;g=meta.k8s.io;v=v1" {
		o = metadataOf(o)
	}
	s.encode(w, http.StatusOK, want, o)
}

// metadataOf returns the list with only the metadata of its objects.
func metadataOf(list runtime.Object) *metav1.PartialObjectMetadataList {
	from := list.(metav1.ListInterface)
	out := &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{Continue: from.GetContinue(), ResourceVersion: from.GetResourceVersion()}}
	out.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("PartialObjectMetadataList"))
	_ = meta.EachListItem(list, func(o runtime.Object) error {
		is := meta.AsPartialObjectMetadata(o.(metav1.Object))
		is.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata"))
		out.Items = append(out.Items, *is)
		return nil
	})
	return out
}

func (s *apiServer) encode(w http.ResponseWriter, code int, contentType string, o runtime.Object) {
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), contentType)
	if !ok {
		panic("no serializer for " + contentType)
	}
	body, err := runtime.Encode(info.Serializer, typed(o))
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", info.MediaType)
	w.WriteHeader(code)
	_, _ = w.Write(body)
}

// fail responds with an error as the API server does.
func (s *apiServer) fail(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	s.expire(w, code, reason, message, "")
}

// expire responds with an error that offers another continue token.
func (s *apiServer) expire(w http.ResponseWriter, code int, reason metav1.StatusReason, message, token string) {
	s.encode(w, code, runtime.ContentTypeJSON, &metav1.Status{ListMeta: metav1.ListMeta{Continue: token}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message})
}

func (s *apiServer) forbid(w http.ResponseWriter, what string) bool {
	s.fail(w, http.StatusForbidden, metav1.StatusReasonForbidden, what+` is forbidden: User "jane" cannot do that`)
	return true
}

// asked returns the number of requests for each resource.
func (s *apiServer) asked() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]int{}
	for k, v := range s.count {
		out[k] = v
	}
	return out
}

// daemonSetOf returns the only DaemonSet with this name. The caller may change it.
func (s *apiServer) daemonSetOf(name string) *appsv1.DaemonSet {
	for _, o := range s.world {
		if ds, ok := o.(*appsv1.DaemonSet); ok && ds.Name == name {
			return ds
		}
	}
	panic("no daemonset " + name)
}

var background = context.Background()
