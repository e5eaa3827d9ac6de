package e2e

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	admissionclient "k8s.io/client-go/kubernetes/typed/admissionregistration/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// TestRBAC checks that with the roles of docs/rbac every command answers completely or names what
// only a ClusterRole grants, and that every permission in them is used.
func TestRBAC(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newStage(t, stage.Options{})
	must(t, c.AddNodes(ctx, stage.Nodes(12, "node-%02d")...)) // more than are requested one by one
	referred(t, c)
	ds := stage.NewDaemonSet("kube-system", "node-agent", "acme/node-agent:1")
	spec := &ds.Spec.Template.Spec
	spec.ServiceAccountName = "agent"
	spec.Containers[0].Env = []corev1.EnvVar{
		{Name: "A", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}, Key: "a"}}},
		{Name: "B", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "token"}, Key: "b"}}},
	}
	spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	must(t, c.Create(ctx, ds))
	small := ds.DeepCopy()
	small.Name, small.Spec.Template.Spec.NodeName = "small", "node-01"
	small.Spec.Selector.MatchLabels = map[string]string{"app": "small"}
	small.Spec.Template.Labels = small.Spec.Selector.MatchLabels
	must(t, c.Create(ctx, small))
	for _, gone := range []string{"gone-1", "gone-2"} { // their pods are rejected
		refused := stage.NewDaemonSet("kube-system", gone, "acme/node-agent:1")
		refused.Spec.Template.Spec.ServiceAccountName, refused.Spec.Template.Spec.RuntimeClassName = gone, &gone
		must(t, c.Create(ctx, refused))
	}
	must(t, c.WaitRollout(ctx, ds.Namespace, ds.Name))

	apply := func(file, kind string, bind ...string) []rbacv1.PolicyRule {
		path, err := filepath.Abs(filepath.Join("../../docs/rbac", file))
		must(t, err)
		answer(t, c, stage.Admin, "apply", "-n", ds.Namespace, "-f", path)
		answer(t, c, stage.Admin, append([]string{"create", "-n", ds.Namespace}, bind...)...)
		text, err := os.ReadFile(path)
		must(t, err)
		var role rbacv1.ClusterRole
		must(t, yaml.UnmarshalStrict(text, &role))
		if role.Kind != kind {
			t.Fatalf("%s holds a %s", file, role.Kind)
		}
		return role.Rules
	}
	ask := func(user string) map[string]bool {
		name := []string{"-n", ds.Namespace, ds.Name}
		for _, command := range [][]string{
			{"explain"}, {"plan-rollout", "--restart"}, {"history"}, {"snapshot"}, {"explain", "--watch", "--timeout", "5s"}, {"plan-rollout", "--restart", "--fit"},
		} {
			r, err := c.KubectlAs(ctx, user, slices.Concat([]string{"ds"}, command, name)...)
			must(t, err)
			if r.Code != 0 && command[len(command)-1] != "5s" { // that one ends with its timeout
				t.Errorf("%s: %v ended with %d: %s", user, command, r.Code, r.Stderr)
			}
		}
		for _, command := range [][]string{{"plan-rollout", "--restart", "--fit", "small"}, {"explain", "gone-1"}, {"explain"}} {
			r, err := c.KubectlAs(ctx, user, slices.Concat([]string{"ds"}, command, name[:2])...)
			must(t, err)
			if r.Code != 0 {
				t.Errorf("%s: %v ended with %d: %s", user, command, r.Code, r.Stderr)
			}
		}
		used := map[string]bool{}
		log, err := c.AuditLog(ctx)
		must(t, err)
		for _, e := range log {
			if e.User == user && e.Resource != "" && e.Code != http.StatusForbidden {
				used[e.Verb+" "+e.Resource] = true
			}
		}
		return used
	}
	gaps := func(user string, command ...string) []string {
		var plan struct {
			Snapshot struct {
				Gaps []struct{ What, Why string }
			}
		}
		r, err := c.KubectlAs(ctx, user, slices.Concat([]string{"ds"}, command, []string{"-n", ds.Namespace, ds.Name, "-o", "json"})...)
		must(t, err)
		must(t, json.Unmarshal([]byte(r.Stdout), &plan))
		var found []string
		for _, g := range plan.Snapshot.Gaps {
			found = append(found, g.What+" "+g.Why)
		}
		return found
	}

	t.Run("the ClusterRole", func(t *testing.T) {
		rules := apply("clusterrole.yaml", "ClusterRole", "clusterrolebinding", "kubectl-ds", "--clusterrole=kubectl-ds", "--user="+stage.Nobody)
		used := ask(stage.Nobody)
		for _, command := range [][]string{{"explain"}, {"plan-rollout", "--restart", "--fit"}, {"history"}} {
			// History does not request nodes.
			if found := gaps(stage.Nobody, command...); len(found) > 0 && command[0] != "history" {
				t.Errorf("%v lacks %v", command, found)
			}
		}
		answer(t, c, stage.Nobody, "ds", "explain", "-A")
		compareRights(t, rules, used)
	})
	t.Run("the Role", func(t *testing.T) {
		rules := apply("role.yaml", "Role", "rolebinding", "kubectl-ds", "--role=kubectl-ds", "--user="+stage.OneNamespace)
		compareRights(t, rules, ask(stage.OneNamespace))
		want := []string{"nodes Forbidden", "namespaces Forbidden", "priorityclasses Forbidden", "webhooks Forbidden"}
		if found := gaps(stage.OneNamespace, "plan-rollout", "--restart"); !slices.Equal(found, want) {
			t.Errorf("the plan lacks %v, and only a ClusterRole gives %v", found, want)
		}
	})
}

// compareRights checks that the granted requests are exactly those that the rules allow.
func compareRights(t *testing.T, rules []rbacv1.PolicyRule, used map[string]bool) {
	t.Helper()
	given := map[string]bool{}
	for _, r := range rules {
		for _, verb := range r.Verbs {
			for _, of := range r.Resources {
				given[verb+" "+of] = true
			}
		}
	}
	// Requested only if the status differs from the computed one, which does not last here.
	const ofController = "get leases"
	for _, right := range slices.Sorted(maps.Keys(given)) {
		if !used[right] && right != ofController {
			t.Errorf("nobody needs the right to %s", right)
		}
	}
	for _, right := range slices.Sorted(maps.Keys(used)) {
		if !given[right] {
			t.Errorf("%s was asked, and the rules do not give it", right)
		}
	}
}

// referred creates the objects that the DaemonSets refer to, and policies that match their pods.
func referred(t *testing.T, c *stage.Cluster) {
	t.Helper()
	ctx, core, meta := t.Context(), c.Client.CoreV1(), func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
	storage := corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}}
	class := ""
	_, err := core.ConfigMaps("kube-system").Create(ctx, &corev1.ConfigMap{ObjectMeta: meta("settings"), Data: map[string]string{"a": "1"}}, metav1.CreateOptions{})
	must(t, err)
	_, err = core.Secrets("kube-system").Create(ctx, &corev1.Secret{ObjectMeta: meta("token"), Data: map[string][]byte{"b": []byte("2")}}, metav1.CreateOptions{})
	must(t, err)
	_, err = core.ServiceAccounts("kube-system").Create(ctx, &corev1.ServiceAccount{ObjectMeta: meta("agent")}, metav1.CreateOptions{})
	must(t, err)
	limit := int32(3)
	_, err = c.Client.StorageV1().CSINodes().Create(ctx, &storagev1.CSINode{ObjectMeta: meta("node-01"), Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{
		{Name: "disk.example.org", NodeID: "1", Allocatable: &storagev1.VolumeNodeResources{Count: &limit}},
	}}}, metav1.CreateOptions{})
	must(t, err)
	must(t, policies(ctx, c.Client.AdmissionregistrationV1()))
	_, err = core.PersistentVolumes().Create(ctx, &corev1.PersistentVolume{ObjectMeta: meta("disk"), Spec: corev1.PersistentVolumeSpec{
		Capacity: storage.Requests, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "disk.example.org", VolumeHandle: "1"}},
		ClaimRef:               &corev1.ObjectReference{Namespace: "kube-system", Name: "data"},
	}}, metav1.CreateOptions{})
	must(t, err)
	// Nothing binds volumes here: the claim is created bound.
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: meta("data"), Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}, Resources: storage, StorageClassName: &class, VolumeName: "disk",
	}}
	claim.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
	claim, err = core.PersistentVolumeClaims("kube-system").Create(ctx, claim, metav1.CreateOptions{})
	must(t, err)
	claim.Status.Phase = corev1.ClaimBound
	_, err = core.PersistentVolumeClaims("kube-system").UpdateStatus(ctx, claim, metav1.UpdateOptions{})
	must(t, err)
}

// policies creates a policy of each kind that matches pods and admits all of them.
func policies(ctx context.Context, client admissionclient.AdmissionregistrationV1Interface) error {
	meta := metav1.ObjectMeta{Name: "nothing"}
	ignore := admissionv1.Ignore
	matches := &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
		Operations: []admissionv1.OperationType{admissionv1.Create},
		Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
	}}}}
	_, err := client.ValidatingAdmissionPolicies().Create(ctx, &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: meta, Spec: admissionv1.ValidatingAdmissionPolicySpec{
		FailurePolicy: &ignore, MatchConstraints: matches, Validations: []admissionv1.Validation{{Expression: "true"}},
	}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	_, err = client.ValidatingAdmissionPolicyBindings().Create(ctx, &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: meta, Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: meta.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		// For one DaemonSet only: if policies of both kinds match, only these are read.
		MatchResources: &admissionv1.MatchResources{ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "small"}}},
	}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	_, err = client.MutatingAdmissionPolicies().Create(ctx, &admissionv1.MutatingAdmissionPolicy{ObjectMeta: meta, Spec: admissionv1.MutatingAdmissionPolicySpec{
		FailurePolicy: &ignore, MatchConstraints: matches, ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
		Mutations: []admissionv1.Mutation{{PatchType: admissionv1.PatchTypeApplyConfiguration, ApplyConfiguration: &admissionv1.ApplyConfiguration{Expression: "Object{}"}}},
	}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	_, err = client.MutatingAdmissionPolicyBindings().Create(ctx, &admissionv1.MutatingAdmissionPolicyBinding{ObjectMeta: meta, Spec: admissionv1.MutatingAdmissionPolicyBindingSpec{
		PolicyName: meta.Name,
	}}, metav1.CreateOptions{})
	return err
}
