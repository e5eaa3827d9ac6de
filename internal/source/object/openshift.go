package object

import (
	"cmp"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ManagerPath is the object from which OpenShift's operator builds the configuration of kube-controller-manager.
const (
	ManagerPath = "/apis/operator.openshift.io/v1/kubecontrollermanagers/" + ManagerName
	ManagerName = "cluster"
)

// OfManagers is the kind of that object.
var OfManagers = metav1.TypeMeta{APIVersion: "operator.openshift.io/v1", Kind: "KubeControllerManager"}

// DefaultNodeSelector returns the name of a KubeControllerManager, and the default node selector that the operator
// writes from it into the configuration of kube-controller-manager. A user's override takes precedence over the value
// that the operator observed. No operator up to 4.23 observes a value: the Scheduler's spec.defaultNodeSelector goes
// to the API server alone.
func DefaultNodeSelector(raw []byte) (name, selector string, err error) {
	type config struct {
		ProjectConfig struct {
			DefaultNodeSelector *string `json:"defaultNodeSelector"`
		} `json:"projectConfig"`
	}
	var manager struct {
		Metadata struct{ Name string } `json:"metadata"`
		Spec     struct {
			Observed   config `json:"observedConfig"`
			Overridden config `json:"unsupportedConfigOverrides"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(raw, &manager); err != nil {
		return "", "", fmt.Errorf("unusable: %w", err)
	}
	none := ""
	return manager.Metadata.Name, *cmp.Or(manager.Spec.Overridden.ProjectConfig.DefaultNodeSelector,
		manager.Spec.Observed.ProjectConfig.DefaultNodeSelector, &none), nil
}

// Manager has the default node selector of a KubeControllerManager in a dump.
type Manager struct {
	Selector string
	Damage   error
}

// managerOf returns the Manager of a KubeControllerManager, or nil for other objects.
func managerOf(kind metav1.TypeMeta, raw []byte) *Manager {
	if kind != OfManagers {
		return nil
	}
	name, selector, err := DefaultNodeSelector(raw)
	if err == nil && name != ManagerName {
		return nil
	}
	return &Manager{selector, err}
}
