package object

import (
	"bytes"
	"encoding/json"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The Lease of kube-controller-manager.
const (
	LeasePath = "/apis/coordination.k8s.io/v1/namespaces/" + metav1.NamespaceSystem + "/leases/" + leaseName
	leaseName = "kube-controller-manager"
)

// LeaseObject has the fields of a Lease that the program reads.
type LeaseObject struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		HolderIdentity       string           `json:"holderIdentity"`
		LeaseDurationSeconds int              `json:"leaseDurationSeconds"`
		AcquireTime          metav1.MicroTime `json:"acquireTime"`
		RenewTime            metav1.MicroTime `json:"renewTime"`
	} `json:"spec"`
}

// Controllers reports whether o is the Lease of kube-controller-manager.
func (o *LeaseObject) Controllers() bool {
	return o.Metadata.Namespace == metav1.NamespaceSystem && o.Metadata.Name == leaseName
}

func (o *LeaseObject) Lease() *snapshot.ControllerLease {
	return &snapshot.ControllerLease{
		Exists: true, Holder: o.Spec.HolderIdentity, DurationSeconds: max(o.Spec.LeaseDurationSeconds, 0),
		AcquiredAt: o.Spec.AcquireTime.UTC(), RenewedAt: o.Spec.RenewTime.UTC(),
	}
}

// LeaseRead is a Lease from a dump.
type LeaseRead struct {
	Is     *snapshot.ControllerLease // nil unless it is the Lease of kube-controller-manager
	Damage error                     // why that Lease cannot be read
}

// leaseOf returns a LeaseRead for a Lease in the namespace of kube-controller-manager. It returns nil for other
// objects: nearly all Leases are those of nodes.
func leaseOf(kind metav1.TypeMeta, raw []byte) *LeaseRead {
	if kind != OfLeases || !bytes.Contains(raw, []byte(metav1.NamespaceSystem)) {
		return nil
	}
	var name struct {
		Metadata struct{ Namespace, Name string } `json:"metadata"`
	}
	if json.Unmarshal(raw, &name) != nil || name.Metadata.Namespace != metav1.NamespaceSystem {
		return nil
	}
	out, is := &LeaseRead{}, LeaseObject{}
	if name.Metadata.Name == leaseName {
		if out.Damage = Explain(raw, &is, json.Unmarshal(raw, &is)); out.Damage == nil {
			out.Is = is.Lease()
		}
	}
	return out
}
