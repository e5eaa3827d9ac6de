package e2e

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	clientcmd "k8s.io/client-go/tools/clientcmd/api/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// TestServerLacks checks that an API which a server does not have is a named gap if an answer needs
// it, and nothing otherwise. Only without DaemonSets there is no answer. A proxy in front of a real
// API server hides APIs.
func TestServerLacks(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newStage(t, stage.Options{})
	must(t, c.AddNodes(ctx, stage.Nodes(3, "node-%02d")...))
	_, err := c.Client.NodeV1().RuntimeClasses().Create(ctx, &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "gvisor"}, Handler: "runsc"}, metav1.CreateOptions{})
	must(t, err)
	plain := stage.NewDaemonSet("kube-system", "plain", "acme/agent:1")
	sandboxed := stage.NewDaemonSet("kube-system", "sandboxed", "acme/agent:1")
	gvisor := "gvisor"
	sandboxed.Spec.Template.Spec.RuntimeClassName = &gvisor
	stateful := stage.NewDaemonSet("kube-system", "stateful", "acme/agent:1")
	stateful.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	must(t, c.CreateNamespace(ctx, "kube-system"))
	boundClaim(t, c, "kube-system", "data")
	for _, ds := range []*appsv1.DaemonSet{plain, sandboxed, stateful} {
		must(t, c.Create(ctx, ds))
		must(t, c.WaitRollout(ctx, ds.Namespace, ds.Name))
	}

	const explain, all = "explain -n kube-system plain", "explain -A --all"
	plan := func(name string, flags string) string {
		return strings.TrimSpace("plan-rollout -n kube-system " + name + " --image acme/agent:2 " + flags)
	}
	for _, tt := range []struct {
		lacks string
		ask   string
		gaps  string // WHAT WHY CONSEQUENCE of each
		why   string
	}{
		{"/apis/none", explain, "", "nothing is lacked"},
		{"/apis/none", plan("stateful", "--fit"), "", "nothing is lacked"},
		{"/apis/none", plan("plain", "--server-dry-run"), "", "nor for a dry run"},
		{"/apis/policy/v1", explain, "poddisruptionbudgets Failed DisruptionBudgetsUnknown", "before v1.21 there is only v1beta1"},
		{"/apis/policy/v1", all, "poddisruptionbudgets Failed DisruptionBudgetsUnknown", "once for all"},
		{"/apis/policy/v1", plan("plain", ""), "poddisruptionbudgets Failed DisruptionBudgetsUnknown", "nothing else depends on it"},
		{"/apis/policy/v1", plan("plain", "--fit"), "otherpoddisruptionbudgets Failed VictimsAssumed, poddisruptionbudgets Failed DisruptionBudgetsUnknown", "a preemption asks those of others too"},
		{"/apis/policy/v1", "history -n kube-system plain", "", "a history asks for none"},
		{"/apis/scheduling.k8s.io/v1", explain, "", "a settled DaemonSet creates no pod"},
		{"/apis/scheduling.k8s.io/v1", plan("plain", ""), "priorityclasses Failed AdmissionUnchecked", "the priority of a new pod"},
		{"/apis/node.k8s.io/v1", plan("plain", ""), "", "the template names no RuntimeClass"},
		{"/apis/node.k8s.io/v1", plan("sandboxed", ""), "runtimeclasses Failed AdmissionUnchecked", "before v1.20 there is only v1beta1"},
		{"/apis/admissionregistration.k8s.io/v1", plan("plain", ""), "webhooks Failed WebhooksUnknown", "what may reject a new pod"},
		{"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings", plan("plain", ""), "", "a server before v1.30 has no such policies"},
		{"/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings", plan("plain", ""), "", "nor one before v1.36 such"},
		{"/apis/storage.k8s.io/v1", plan("plain", "--fit"), "", "the pods have no volumes"},
		{"/apis/storage.k8s.io/v1", plan("stateful", "--fit"), "csinodes Failed VolumesUnchecked", "how many volumes a node can attach"},
		{"/version", explain, "version Failed RulesAssumed", "the rules of the newest are used"},
		{"/apis/apps/v1/namespaces/kube-system/controllerrevisions", explain, "controllerrevisions Failed RevisionInferred", "which pods are updated"},
		{"/apis/apps/v1/namespaces/kube-system/controllerrevisions", "plan-rollout -n kube-system plain --watch --timeout 1m", "controllerrevisions Failed RevisionInferred", "what the server does not have is not waited for"},
		{"/api/v1/namespaces/kube-system/events", explain, "events Failed CausesReduced", "words of others"},
	} {
		t.Run(strings.TrimPrefix(tt.lacks, "/")+" "+tt.ask, func(t *testing.T) {
			config := without(t, c, stage.Admin, tt.lacks)
			lacking(t, c, config, tt.ask, tt.gaps)
			if t.Failed() {
				t.Log(tt.why)
			}
		})
	}
	t.Run("a snapshot keeps the gap", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "snapshot.json")
		r := kubectlDS(t, c, without(t, c, stage.Admin, "/apis/policy/v1"), "snapshot -n kube-system plain")
		must(t, os.WriteFile(file, []byte(r.Stdout), 0o600))
		lacking(t, c, c.Kubeconfig, "explain plain --from "+file, "poddisruptionbudgets Failed DisruptionBudgetsUnknown")
	})
	for _, ask := range []string{explain, all, plan("plain", ""), "history -n kube-system plain"} {
		t.Run("without DaemonSets: "+ask, func(t *testing.T) {
			r := kubectlDS(t, c, without(t, c, stage.Admin, "/apis/apps/v1"), ask)
			if r.Code != 1 || r.Stdout != "" || !strings.HasPrefix(r.Stderr, "error: daemonset") || !strings.Contains(r.Stderr, "the server could not find the requested resource") {
				t.Errorf("ended with %d\n%s%s", r.Code, r.Stdout, r.Stderr)
			}
		})
	}
}

// TestServiceAccount checks that a ServiceAccount which may read the workloads of its namespace
// gets all answers about them, with the gaps named.
func TestServiceAccount(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newStage(t, stage.Options{ServiceAccounts: true})
	must(t, c.AddNodes(ctx, stage.Nodes(3, "node-%02d")...))
	const namespace = "tenant"
	must(t, c.CreateNamespace(ctx, namespace))
	config := accountConfig(t, c, namespace, "viewer")
	ds := stage.NewDaemonSet(namespace, "agent", "acme/agent:1")
	must(t, c.WaitFor(ctx, "the ServiceAccount of the pods", func(ctx context.Context) (bool, error) {
		_, err := c.Client.CoreV1().ServiceAccounts(namespace).Get(ctx, "default", metav1.GetOptions{})
		return err == nil, nil
	}))
	must(t, c.Create(ctx, ds))
	must(t, c.WaitRollout(ctx, namespace, "agent"))
	must(t, c.SetImage(ctx, namespace, "agent", "acme/agent:2"))
	must(t, c.WaitRollout(ctx, namespace, "agent"))

	const nodes, admission = "nodes Forbidden PlacementUnknown",
		"limitranges Forbidden AdmissionUnchecked, namespaces Forbidden AdmissionUnchecked, nodes Forbidden PlacementUnknown, priorityclasses Forbidden AdmissionUnchecked, " +
			"resourcequotas Forbidden AdmissionUnchecked, serviceaccounts Forbidden AdmissionUnchecked, webhooks Forbidden WebhooksUnknown"
	file := filepath.Join(t.TempDir(), "snapshot.json")
	must(t, os.WriteFile(file, []byte(kubectlDS(t, c, config, "snapshot -n tenant agent").Stdout), 0o600))
	for ask, gaps := range map[string]string{
		"explain -n tenant agent":                                nodes,
		"explain -n tenant --all":                                nodes,
		"history -n tenant agent":                                "",
		"plan-rollout -n tenant agent --image acme/agent:3":      admission,
		"plan-rollout -n tenant agent --to-revision=1":           admission,
		"plan-rollout -n tenant agent --watch --timeout 1m":      nodes,
		"explain agent --from " + file:                           nodes,
		"plan-rollout agent --image acme/agent:3 --from " + file: admission,
	} {
		t.Run(ask, func(t *testing.T) { lacking(t, c, config, ask, gaps) })
	}
	t.Run("a quota that it may read is heeded, though it may not read nodes", func(t *testing.T) {
		_, err := c.Client.CoreV1().ResourceQuotas(namespace).Create(ctx, &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Name: "cpu"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourceRequestsCPU: resource.MustParse("1")}},
		}, metav1.CreateOptions{})
		must(t, err)
		roles := c.Client.RbacV1().Roles(namespace)
		role, err := roles.Get(ctx, "viewer", metav1.GetOptions{})
		must(t, err)
		role.Rules = append(role.Rules, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"resourcequotas"}, Verbs: []string{"list"}})
		_, err = roles.Update(ctx, role, metav1.UpdateOptions{})
		must(t, err)
		must(t, c.WaitFor(ctx, "the right and the quota", func(ctx context.Context) (bool, error) {
			r, err := c.Kubectl(ctx, "--kubeconfig", config, "get", "resourcequotas", "-n", namespace, "-o", "jsonpath={.items[*].status.hard}")
			return r.Code == 0 && r.Stdout != "", err
		}))
		r := kubectlDS(t, c, config, "plan-rollout -n tenant agent --image acme/agent:3 -o json")
		var p struct{ Outcome struct{ Code string } }
		must(t, json.Unmarshal([]byte(r.Stdout), &p))
		if p.Outcome.Code != "Stalls" { // its pods request no CPU, which the quota requires
			t.Errorf("the outcome is %s\n%s", p.Outcome.Code, r.Stdout)
		}
	})
}

// TestTimesOfWrites checks a server before v1.25, whose managed fields keep the time at which a
// field was added. They cannot show when a revision got its number or who wrote last. The order of
// two revisions shows that the older one has the higher number.
func TestTimesOfWrites(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newStage(t, stage.Options{})
	must(t, c.AddNodes(ctx, stage.Nodes(2, "node-%02d")...))
	ds := stage.NewDaemonSet("kube-system", "node-agent", "acme/node-agent:1")
	must(t, c.Create(ctx, ds))
	must(t, c.WaitRollout(ctx, ds.Namespace, ds.Name))
	created := revisions(t, c, ds)[0].CreationTimestamp
	for _, image := range []string{"acme/node-agent:2", "acme/node-agent:1"} {
		must(t, c.WaitFor(ctx, "the next seconds, in which API times are given", func(context.Context) (bool, error) {
			return time.Since(created.Time) > 2*time.Second, nil
		}))
		must(t, c.SetImage(ctx, ds.Namespace, ds.Name, image))
		must(t, c.WaitRollout(ctx, ds.Namespace, ds.Name))
		created = revisions(t, c, ds)[0].CreationTimestamp
	}
	var h struct {
		CurrentSince *time.Time
		Managers     []struct{ Time *time.Time }
		Notes        []struct {
			Code  string
			Facts map[string]any
		}
	}
	must(t, json.Unmarshal([]byte(answer(t, c, stage.Reader, "ds", "history", "-n", ds.Namespace, ds.Name, "-o", "json")), &h))
	told := "ManagedFields"
	if before(25) {
		told = "Order"
	}
	if len(h.Notes) == 0 || h.Notes[0].Code != "TakenUpAgain" || h.Notes[0].Facts["told"] != told || h.Notes[0].Facts["was"] != 1.0 {
		t.Errorf("notes %+v, want that revision 3 was 1, told by %s", h.Notes, told)
	}
	if before(25) != (h.CurrentSince == nil) || before(25) != (h.Managers[0].Time == nil) {
		t.Errorf("current since %v, managers %+v", h.CurrentSince, h.Managers)
	}
	var e struct {
		Status struct{ WrittenAt *time.Time }
	}
	must(t, json.Unmarshal([]byte(answer(t, c, stage.Reader, "ds", "explain", "-n", ds.Namespace, ds.Name, "-o", "json")), &e))
	if before(25) != (e.Status.WrittenAt == nil) {
		t.Errorf("the status was written at %v", e.Status.WrittenAt)
	}
}

// revisions returns the ControllerRevisions by descending number.
func revisions(t *testing.T, c *stage.Cluster, ds *appsv1.DaemonSet) []appsv1.ControllerRevision {
	t.Helper()
	list, err := c.Client.AppsV1().ControllerRevisions(ds.Namespace).List(t.Context(), metav1.ListOptions{})
	must(t, err)
	slices.SortFunc(list.Items, func(a, b appsv1.ControllerRevision) int { return int(b.Revision - a.Revision) })
	return list.Items
}

// lacking asks for text and JSON. There must be an answer with these gaps and with notes on them,
// possibly combined.
func lacking(t *testing.T, c *stage.Cluster, config, ask, gaps string) {
	t.Helper()
	most := 0
	if gaps != "" {
		most = strings.Count(gaps, ",") + 1
	}
	text := kubectlDS(t, c, config, ask)
	lines, notes := strings.Count(text.Stderr, "\n"), strings.Count(text.Stderr, "note: ")
	if text.Code != 0 || text.Stdout == "" || lines != notes || notes > most || notes == 0 && most > 0 {
		t.Errorf("kubectl ds %s ended with %d and %d notes of %d gaps\n%s%s", ask, text.Code, notes, most, text.Stdout, text.Stderr)
	}
	r := kubectlDS(t, c, config, ask+" -o json")
	if r.Code != 0 || r.Stderr != text.Stderr {
		t.Errorf("as JSON it ended with %d\n%s", r.Code, r.Stderr)
	}
	type document struct {
		Snapshot struct{ Gaps []snapshot.Gap }
		Items    []document
	}
	var d document
	must(t, json.NewDecoder(strings.NewReader(r.Stdout)).Decode(&d)) // the first one of --watch
	for _, item := range d.Items {
		d.Snapshot.Gaps = append(d.Snapshot.Gaps, item.Snapshot.Gaps...)
	}
	var got []string
	for _, g := range d.Snapshot.Gaps {
		got = append(got, strings.Join([]string{string(g.What), string(g.Why), string(g.Consequence())}, " "))
	}
	slices.Sort(got)
	if found := strings.Join(slices.Compact(got), ", "); found != gaps {
		t.Errorf("kubectl ds %s: gaps %s, want %s", ask, found, gaps)
	}
}

// kubectlDS runs kubectl ds with a kubeconfig.
func kubectlDS(t *testing.T, c *stage.Cluster, config, ask string) stage.Result {
	t.Helper()
	r, err := c.Kubectl(t.Context(), append([]string{"ds", "--kubeconfig", config}, strings.Fields(ask)...)...)
	must(t, err)
	return r
}

// without returns the kubeconfig of a user for whom a path of the API server, and everything below
// it, does not exist.
func without(t *testing.T, c *stage.Cluster, user, path string) string {
	t.Helper()
	return proxied(t, c, user, func(w http.ResponseWriter, r *http.Request) bool {
		lacks := strings.HasPrefix(r.URL.Path+"/", path+"/")
		if lacks {
			http.Error(w, "404 page not found", http.StatusNotFound)
		}
		return lacks
	})
}

// proxied returns the kubeconfig of a user whose requests pass a function first. A request that the
// function answers does not reach the API server.
func proxied(t *testing.T, c *stage.Cluster, user string, answers func(http.ResponseWriter, *http.Request) bool) string {
	t.Helper()
	target, err := url.Parse(c.URL)
	must(t, err)
	transport, err := rest.TransportFor(&rest.Config{TLSClientConfig: c.Config.TLSClientConfig})
	must(t, err)
	proxy := &httputil.ReverseProxy{Transport: transport, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !answers(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // about clients that disconnect
	server.StartTLS()
	t.Cleanup(server.Close)
	return changedConfig(t, c, user, func(config *clientcmd.Config) {
		certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
		config.Clusters[0].Cluster = clientcmd.Cluster{Server: server.URL, CertificateAuthorityData: certificate}
	})
}

// changedConfig returns the path of a user's kubeconfig with a change.
func changedConfig(t *testing.T, c *stage.Cluster, user string, change func(*clientcmd.Config)) string {
	t.Helper()
	raw, err := os.ReadFile(c.KubeconfigFor(user))
	must(t, err)
	var config clientcmd.Config
	must(t, yaml.Unmarshal(raw, &config))
	change(&config)
	raw, err = yaml.Marshal(config)
	must(t, err)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, os.WriteFile(path, raw, 0o600))
	return path
}

// accountConfig creates a ServiceAccount that may read the workloads of its namespace and returns
// its kubeconfig.
func accountConfig(t *testing.T, c *stage.Cluster, namespace, name string) string {
	t.Helper()
	ctx := t.Context()
	accounts := c.Client.CoreV1().ServiceAccounts(namespace)
	meta := metav1.ObjectMeta{Namespace: namespace, Name: name}
	_, err := accounts.Create(ctx, &corev1.ServiceAccount{ObjectMeta: meta}, metav1.CreateOptions{})
	must(t, err)
	_, err = c.Client.RbacV1().Roles(namespace).Create(ctx, &rbacv1.Role{
		ObjectMeta: meta, Rules: stage.ReadRules([]string{"pods", "events"}, []string{"daemonsets", "controllerrevisions"}),
	}, metav1.CreateOptions{})
	must(t, err)
	_, err = c.Client.RbacV1().RoleBindings(namespace).Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}},
	}, metav1.CreateOptions{})
	must(t, err)
	token, err := accounts.CreateToken(ctx, name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	must(t, err)
	return changedConfig(t, c, stage.Nobody, func(config *clientcmd.Config) {
		config.AuthInfos[0].AuthInfo = clientcmd.AuthInfo{Token: token.Status.Token}
	})
}

// boundClaim creates a PersistentVolumeClaim that is bound to a volume of a CSI driver.
func boundClaim(t *testing.T, c *stage.Cluster, namespace, name string) {
	t.Helper()
	ctx := t.Context()
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}
	volume, err := c.Client.CoreV1().PersistentVolumes().Create(ctx, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: size, AccessModes: modes,
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "csi.example.com", VolumeHandle: name}},
		},
	}, metav1.CreateOptions{})
	must(t, err)
	claims := c.Client.CoreV1().PersistentVolumeClaims(namespace)
	claim, err := claims.Create(ctx, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"}},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: modes, VolumeName: name, Resources: corev1.VolumeResourceRequirements{Requests: size},
		},
	}, metav1.CreateOptions{})
	must(t, err)
	volume.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: namespace, Name: name, UID: claim.UID}
	volume, err = c.Client.CoreV1().PersistentVolumes().Update(ctx, volume, metav1.UpdateOptions{})
	must(t, err)
	volume.Status.Phase = corev1.VolumeBound
	_, err = c.Client.CoreV1().PersistentVolumes().UpdateStatus(ctx, volume, metav1.UpdateOptions{})
	must(t, err)
	claim.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, AccessModes: modes, Capacity: size}
	_, err = claims.UpdateStatus(ctx, claim, metav1.UpdateOptions{})
	must(t, err)
}
