package stage

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientcmd "k8s.io/client-go/tools/clientcmd/api/v1"
	"sigs.k8s.io/yaml"
)

// Users of a stage. Each has a kubeconfig; see Cluster.KubeconfigFor.
const (
	// Admin may do everything.
	Admin = "admin"
	// Reader may get, list and watch what answers need, in all namespaces, and nothing else.
	Reader = "reader"
	// NoNodes is a Reader who may not read nodes.
	NoNodes = "no-nodes"
	// OneNamespace may read daemonsets, controllerrevisions, pods, events and poddisruptionbudgets
	// of the namespaces given to AllowNamespace.
	OneNamespace = "viewer-one-ns"
	// Nobody is authenticated but may do nothing.
	Nobody = "nobody"
)

var users = []string{Admin, Reader, NoNodes, OneNamespace, Nobody}

// token is the token of a user. It need not be secret: the API server listens on the loopback
// address for minutes.
func token(user string) string { return user + "-token" }

// ReadRules returns rules for get, list and watch on resources of the core and apps groups, their
// events, and PodDisruptionBudgets, like the built-in role view.
func ReadRules(core, apps []string) []rbacv1.PolicyRule {
	read := []string{"get", "list", "watch"}
	return []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: core, Verbs: read},
		{APIGroups: []string{"apps"}, Resources: apps, Verbs: read},
		{APIGroups: []string{"policy"}, Resources: []string{"poddisruptionbudgets"}, Verbs: read},
	}
}

// admissionRules returns rules for get, list and watch on what decides about admission of pods in
// all namespaces.
func admissionRules() []rbacv1.PolicyRule {
	read := []string{"get", "list", "watch"}
	return []rbacv1.PolicyRule{
		{APIGroups: []string{"scheduling.k8s.io"}, Resources: []string{"priorityclasses"}, Verbs: read},
		{APIGroups: []string{"node.k8s.io"}, Resources: []string{"runtimeclasses"}, Verbs: read},
		{APIGroups: []string{"admissionregistration.k8s.io"}, Resources: []string{"*"}, Verbs: read},
	}
}

// Allow grants the user rules in every namespace and for cluster-wide resources.
func (c *Cluster) Allow(ctx context.Context, user string, rules ...rbacv1.PolicyRule) error {
	meta := metav1.ObjectMeta{Name: "stage:" + user}
	role := &rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules}
	if _, err := c.Client.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return err
	}
	_, err := c.Client.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}, metav1.CreateOptions{})
	return err
}

// AllowIn grants the user rules in one namespace.
func (c *Cluster) AllowIn(ctx context.Context, namespace, user string, rules ...rbacv1.PolicyRule) error {
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "stage:" + user}
	role := &rbacv1.Role{ObjectMeta: meta, Rules: rules}
	if _, err := c.Client.RbacV1().Roles(namespace).Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return err
	}
	_, err := c.Client.RbacV1().RoleBindings(namespace).Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}, metav1.CreateOptions{})
	return err
}

// AllowNamespace grants OneNamespace access to a namespace.
func (c *Cluster) AllowNamespace(ctx context.Context, namespace string) error {
	err := c.AllowIn(ctx, namespace, OneNamespace,
		ReadRules([]string{"pods", "events"}, []string{"daemonsets", "controllerrevisions"})...)
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// setUpUsers grants the predefined users their rights.
func (c *Cluster) setUpUsers(ctx context.Context) error {
	apps := []string{"daemonsets", "controllerrevisions"}
	core := []string{"pods", "events", "nodes", "namespaces", "serviceaccounts", "resourcequotas", "limitranges", "configmaps", "persistentvolumeclaims"}
	if err := c.Allow(ctx, Reader, append(ReadRules(core, apps), admissionRules()...)...); err != nil {
		return err
	}
	return c.Allow(ctx, NoNodes, ReadRules([]string{"pods", "events"}, apps)...)
}

// KubeconfigFor returns the path of the user's kubeconfig. It panics for an unknown user, which is
// an error in the test.
func (c *Cluster) KubeconfigFor(user string) string {
	for _, known := range users {
		if user == known {
			return filepath.Join(c.Dir, "kubeconfig-"+user)
		}
	}
	panic(fmt.Sprintf("stage: no user %q, only %s", user, strings.Join(users, ", ")))
}

// writeUsers writes the API server's token file and a kubeconfig for each user.
func (c *Cluster) writeUsers(certificate []byte) error {
	var tokens strings.Builder
	for _, user := range users {
		group := "stage-users"
		if user == Admin {
			group = "system:masters"
		}
		fmt.Fprintf(&tokens, "%s,%s,%s,%q\n", token(user), user, user, group)
		config := clientcmd.Config{
			APIVersion:     "v1",
			Kind:           "Config",
			CurrentContext: "stage",
			Clusters: []clientcmd.NamedCluster{{Name: "stage", Cluster: clientcmd.Cluster{
				Server: c.URL, CertificateAuthorityData: certificate,
			}}},
			AuthInfos: []clientcmd.NamedAuthInfo{{Name: user, AuthInfo: clientcmd.AuthInfo{Token: token(user)}}},
			Contexts: []clientcmd.NamedContext{{Name: "stage", Context: clientcmd.Context{
				Cluster: "stage", AuthInfo: user,
			}}},
		}
		data, err := yaml.Marshal(config)
		if err != nil {
			return err
		}
		if err := os.WriteFile(c.KubeconfigFor(user), data, 0o600); err != nil {
			return err
		}
	}
	return os.WriteFile(c.path("tokens.csv"), []byte(tokens.String()), 0o600)
}
