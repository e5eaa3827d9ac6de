package stage

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
)

// nameLabel is the label in the selector of NewDaemonSet.
const nameLabel = "app.kubernetes.io/name"

// NewDaemonSet returns a DaemonSet with one container of the same name. It can be changed before
// Create.
func NewDaemonSet(namespace, name, image string) *appsv1.DaemonSet {
	labels := map[string]string{nameLabel: name}
	return &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{nameLabel: name}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: name, Image: image}}},
			},
		},
	}
}

// Create creates the DaemonSet, and its namespace if it does not exist.
func (c *Cluster) Create(ctx context.Context, ds *appsv1.DaemonSet) error {
	if err := c.CreateNamespace(ctx, ds.Namespace); err != nil {
		return err
	}
	_, err := c.Client.AppsV1().DaemonSets(ds.Namespace).Create(ctx, ds, metav1.CreateOptions{})
	return err
}

// CreateNamespace creates a namespace if it does not exist.
func (c *Cluster) CreateNamespace(ctx context.Context, name string) error {
	_, err := c.Client.CoreV1().Namespaces().Create(ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// Update changes the DaemonSet. It repeats the change on a newer version after a conflict.
func (c *Cluster) Update(ctx context.Context, namespace, name string, change func(*appsv1.DaemonSet)) error {
	sets := c.Client.AppsV1().DaemonSets(namespace)
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		ds, err := sets.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(ds)
		_, err = sets.Update(ctx, ds, metav1.UpdateOptions{})
		return err
	})
}

// SetImage starts a rollout by changing the image of the first container.
func (c *Cluster) SetImage(ctx context.Context, namespace, name, image string) error {
	return c.Update(ctx, namespace, name, func(ds *appsv1.DaemonSet) {
		ds.Spec.Template.Spec.Containers[0].Image = image
	})
}

// Pods returns the pods that the DaemonSet owns, including terminating ones.
func (c *Cluster) Pods(ctx context.Context, namespace, name string) ([]corev1.Pod, error) {
	list, err := c.Client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var pods []corev1.Pod
	for _, pod := range list.Items {
		if owner := metav1.GetControllerOf(&pod); owner != nil && owner.Kind == "DaemonSet" && owner.Name == name {
			pods = append(pods, pod)
		}
	}
	return pods, nil
}
