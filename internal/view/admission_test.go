package view

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-ds/kubectl-ds/internal/view/sheet"
	"github.com/kubectl-ds/kubectl-ds/pkg/admission"
	"github.com/kubectl-ds/kubectl-ds/pkg/daemonset"
)

// TestRejections checks the words for each reason why the API server rejects a pod.
func TestRejections(t *testing.T) {
	a := &sheet.Sheet{Header: &daemonset.Header{DaemonSet: daemonset.Ref{Namespace: "ns"}}}
	for _, tt := range []struct {
		reason       admission.Reason
		words, terse string
	}{
		{admission.DryRunRejected, "the API server rejects the new pod in a dry run",
			"the API server rejects the new pod in a dry run"},
		{admission.LimitRangeViolated, `LimitRange "x" in namespace ns: what (why)`,
			`LimitRange "x" rejects every new pod`},
		{admission.NamespaceNotFound, "namespace x does not exist, so no pod can be created there",
			"namespace x does not exist"},
		{admission.NamespaceTerminating, "namespace x is being deleted, so no pod can be created there",
			"namespace x is being deleted"},
		{admission.NodeSelectorConflicts, `spec.f is v, but RuntimeClass "x" wants w`, ""},
		{admission.OverheadDiffers, `spec.f is v, but RuntimeClass "x" has w`, ""},
		{admission.OverheadWithoutClass, "spec.f is set, but no RuntimeClass sets an overhead", ""},
		{admission.PodInvalid, "with the defaults of a pod the template is invalid: what (why)", ""},
		{admission.PodSecurityViolated, "the template does not comply with its namespace: ns enforces the Pod " +
			"Security level baseline of v1.30, which forbids what (why)", "Pod Security rejects every new pod"},
		{admission.PreemptionPolicyDiffers, `spec.f is v, but PriorityClass "x" has w`, ""},
		{admission.PriorityClassNotFound, `the template names PriorityClass "x", which does not exist`,
			`PriorityClass "x" does not exist`},
		{admission.PriorityDiffers, `spec.f is v, but PriorityClass "x" has w`, ""},
		{admission.QuotaExceeded, `ResourceQuota "x" in namespace ns: what (why)`, `ResourceQuota "x" has no room`},
		{admission.QuotaMustSpecify,
			`ResourceQuota "x" in namespace ns counts what (why), which every container must then set`,
			`ResourceQuota "x" rejects every new pod`},
		{admission.QuotaStatusUnknown,
			`the controller has not counted yet what ResourceQuota "x" in namespace ns is used for (what (why))`, ""},
		{admission.RuntimeClassNotFound, `the template names RuntimeClass "x", which does not exist`,
			`RuntimeClass "x" does not exist`},
		{admission.SecretNotAllowed,
			`ServiceAccount "x" allows only the Secrets that it lists, and spec.f refers to v`, ""},
		{admission.ServiceAccountNotFound,
			`the template names ServiceAccount "x", which does not exist in namespace ns`,
			`ServiceAccount "x" does not exist`},
	} {
		r := &admission.Refusal{
			Reason: tt.reason, Name: "x", Level: "baseline", Version: "v1.30", Field: "spec.f", Value: "v", Want: "w",
			Violations: []admission.Violation{{What: "what", Detail: "why"}},
		}
		if words, terse := a.Rejection(r, 0); words != tt.words || terse != tt.terse {
			t.Errorf("%s: %q, %q, want %q, %q", tt.reason, words, terse, tt.words, tt.terse)
		}
	}
	const again = `likely not the template: 2 running pods were admitted with it; PriorityClass "x", which it names, does not exist any more`
	if words, _ := a.Rejection(&admission.Refusal{Reason: admission.PriorityClassNotFound, Name: "x"},
		2); words != again {
		t.Errorf("%q, want %q", words, again)
	}
}

func TestBoundWords(t *testing.T) {
	q := resource.MustParse("2Gi")
	for code, want := range map[admission.BoundCode]string{
		admission.LimitAboveMax:       "the pod limits memory to 2Gi, more than the maximum of 2Gi",
		admission.LimitBelowMin:       "the pod limits memory to 2Gi, less than the minimum of 2Gi",
		admission.MaxWithoutLimit:     "the pod has no limit for memory, and the maximum is 2Gi",
		admission.MinWithoutRequest:   "the pod has no request for memory, and the minimum is 2Gi",
		admission.RatioAboveMax:       "the pod limits memory to 2Gi and requests 2Gi, and the ratio is at most 2Gi",
		admission.RatioWithoutLimit:   "the pod has no limit for memory, and the ratio of limit to request is bounded",
		admission.RatioWithoutRequest: "the pod has no request for memory, and the ratio of limit to request is bounded",
		admission.RequestAboveMax:     "the pod requests memory 2Gi, more than the maximum of 2Gi",
		admission.RequestBelowMin:     "the pod requests memory 2Gi, less than the minimum of 2Gi",
	} {
		if got := sheet.BoundWords(&admission.Bound{Why: code, Resource: "memory", Bound: q, Request: &q,
			Limit: &q}); got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}
