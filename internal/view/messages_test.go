package view

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-ds/kubectl-ds/internal/screen"
	"github.com/kubectl-ds/kubectl-ds/internal/view/wording"
)

// TestRefusal shortens messages of the API server to the 130 columns that a terminal with 80 columns has for a message.
// It checks that the decisive parts remain.
func TestRefusal(t *testing.T) {
	const columns = 130
	for _, tt := range []struct {
		why, message, want string
	}{
		{
			"a short violation stays whole",
			`pods "agent-x2x4z" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true), hostPath volumes (volume "host")`,
			`violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true), hostPath volumes (volume "host")`,
		},
		{
			"of a long one every violated item stays, without what to set instead",
			`pods "agent-x2x4z" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "agent" must set securityContext.allowPrivilegeEscalation=false), host namespaces (hostNetwork=true)`,
			`violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false, host namespaces (hostNetwork=true)`,
		},
		{
			"nor where, if it is still long",
			`pods "node-exporter-9x7zq" is forbidden: violates PodSecurity "restricted:v1.37": host namespaces (hostNetwork=true, hostPID=true), hostPort (container "node-exporter" uses hostPort 9100), allowPrivilegeEscalation != false (container "node-exporter" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "node-exporter" must set securityContext.capabilities.drop=["ALL"]), restricted volume types (volumes "proc", "sys", "root" use restricted volume type "hostPath"), runAsNonRoot != true (pod or container "node-exporter" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "node-exporter" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")`,
			`violates PodSecurity "restricted:v1.37": host namespaces, hostPort, allowPrivilegeEscalation != false, unrestricted capabilities, restricted volume types, runAsNonRoot != true, seccompProfile`,
		},
		{
			"a quota keeps its numbers, however many",
			`pods "agent-x2x4z" is forbidden: exceeded quota: compute-resources, requested: limits.cpu=500m,limits.memory=512Mi,requests.cpu=250m,requests.memory=256Mi, used: limits.cpu=3900m,limits.memory=7680Mi,requests.cpu=1900m,requests.memory=3840Mi, limited: limits.cpu=4,limits.memory=8Gi,requests.cpu=2,requests.memory=4Gi`,
			`exceeded quota: compute-resources, requested: limits.cpu=500m,limits.memory=512Mi,requests.cpu=250m,requests.memory=256Mi, used: limits.cpu=3900m,limits.memory=7680Mi,requests.cpu=1900m,requests.memory=3840Mi, limited: limits.cpu=4,limits.memory=8Gi,requests.cpu=2,requests.memory=4Gi`,
		},
		{
			"a quota that the pod says too little for",
			`pods "agent-x2x4z" is forbidden: failed quota: compute-resources: must specify limits.cpu for: agent,init; limits.memory for: agent,init; requests.cpu for: agent,init; requests.memory for: agent,init`,
			`failed quota: compute-resources: must specify limits.cpu for: agent,init; limits.memory for: agent,init; requests.cpu for: agent,init; requests.memory for: agent,init`,
		},
		{
			"every limit of a LimitRange",
			`pods "agent-x2x4z" is forbidden: [maximum cpu usage per Container is 200m, but limit is 500m, maximum memory usage per Container is 128Mi, but limit is 512Mi, minimum cpu usage per Container is 100m, but request is 50m]`,
			`[maximum cpu usage per Container is 200m, but limit is 500m, maximum memory usage per Container is 128Mi, but limit is 512Mi, minimum cpu usage per Container is 100m, but request is 50m]`,
		},
		{
			"a webhook that denies: its name and what it says",
			`admission webhook "validation.gatekeeper.sh" denied the request: [psp-host-network-ports] The specified hostNetwork and hostPort are not allowed, pod: agent-x2x4z. Allowed values: {"hostNetwork": false}`,
			`admission webhook "validation.gatekeeper.sh" denied the request: [psp-host-network-ports] The specified hostNetwork and hostPort are not allowed, pod: agent-x2x4z. Allowed values: {"hostNetwork": false}`,
		},
		{
			"a webhook that does not answer: its name, its host and why",
			`Internal error occurred: failed calling webhook "validate.kyverno.svc-fail": failed to call webhook: Post "https://kyverno-svc.kyverno.svc:443/validate/fail?timeout=10s": dial tcp 10.96.113.7:443: connect: connection refused`,
			`failed calling webhook "validate.kyverno.svc-fail": kyverno-svc.kyverno.svc:443: dial tcp 10.96.113.7:443: connect: connection refused`,
		},
		{
			"as versions before 1.26 write it",
			`Internal error occurred: failed calling webhook "sidecar-injector.istio.io": Post https://istio-sidecar-injector.istio-system.svc:443/inject?timeout=30s: context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
			`failed calling webhook "sidecar-injector.istio.io": istio-sidecar-injector.istio-system.svc:443: context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
		},
		{
			"a policy of the API server's own",
			`pods "agent-x2x4z" is forbidden: ValidatingAdmissionPolicy 'no-host-network' with binding 'no-host-network-everywhere' denied request: host network is for the namespace kube-system only; ask the platform team`,
			`ValidatingAdmissionPolicy 'no-host-network' with binding 'no-host-network-everywhere' denied request: host network is for the namespace kube-system only; ask the platform team`,
		},
		{
			"a service account that is missing",
			`pods "agent-" is forbidden: error looking up service account monitoring/node-exporter: serviceaccount "node-exporter" not found`,
			`error looking up service account monitoring/node-exporter: serviceaccount "node-exporter" not found`,
		},
		{
			"a priority class that is missing",
			`pods "agent-x2x4z" is forbidden: no PriorityClass with name system-node-critcal was found`,
			`no PriorityClass with name system-node-critcal was found`,
		},
		{
			"a pod that is not valid",
			`Pod "agent-x2x4z" is invalid: spec.containers[0].volumeMounts[0].name: Not found: "config"`,
			`invalid: spec.containers[0].volumeMounts[0].name: Not found: "config"`,
		},
		{
			"a namespace that is being deleted",
			`pods "agent-x2x4z" is forbidden: unable to create new content in namespace monitoring because it is being terminated`,
			`unable to create new content in namespace monitoring because it is being terminated`,
		},
	} {
		t.Run(tt.why, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, wording.Style{Width: 80}.Refusal(tt.message, columns)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got := (wording.Style{All: true}).Refusal(tt.message, columns); !strings.HasSuffix(tt.message, got) {
				t.Errorf("with --all %q", got)
			}
		})
	}
}

// TestRefusalIsBounded checks that Refusal shortens the long message of a webhook, but keeps its name and the end.
func TestRefusalIsBounded(t *testing.T) {
	message := `admission webhook "validate.kyverno.svc-fail" denied the request: ` +
		strings.Repeat("policy require-labels: rule check-for-labels: ", 30) + "the label team is required"
	got := wording.Style{Width: 80}.Refusal(message, 130)
	if screen.Width(got) > 400 ||
		!strings.HasPrefix(got, `admission webhook "validate.kyverno.svc-fail" denied the request: `) ||
		!strings.HasSuffix(got, "the label team is required") {
		t.Errorf("%d columns: %s", screen.Width(got), got)
	}
}
