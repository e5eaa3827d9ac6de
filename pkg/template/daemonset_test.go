package template_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/pkg/template"
)

// TestDefaultDaemonSet has a row for each default outside of the pod template,
// and rows for fields without one.
func TestDefaultDaemonSet(t *testing.T) {
	spec := func(text string) *appsv1.DaemonSet {
		ds := new(appsv1.DaemonSet)
		if err := yaml.UnmarshalStrict([]byte(text), &ds.Spec); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return ds
	}
	const (
		container = "terminationMessagePath: /dev/termination-log, terminationMessagePolicy: File, imagePullPolicy: Always, image: a"
		strategy  = "updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1, maxSurge: 0}}, revisionHistoryLimit: 10"
		pod       = "restartPolicy: Always, dnsPolicy: ClusterFirst, schedulerName: default-scheduler, terminationGracePeriodSeconds: 30, securityContext: {}"
	)
	inPod := func(text string) string { return "{template: {spec: {" + text + "}}}" }
	wantPod := func(text string) string { return "{" + strategy + ", template: {spec: {" + pod + ", " + text + "}}}" }
	for _, tt := range []struct{ version, text, want, why string }{
		{"", "{}", "{" + strategy + ", template: {spec: {" + pod + "}}}", "of an empty one"},
		{"", "{updateStrategy: {rollingUpdate: {maxUnavailable: 0}}, template: {spec: {" + pod + "}}}",
			"{updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 0, maxSurge: 0}}, revisionHistoryLimit: 10, template: {spec: {" + pod + "}}}", "zero is not nothing"},
		{"", "{revisionHistoryLimit: 0, updateStrategy: {type: OnDelete}}", "{revisionHistoryLimit: 0, updateStrategy: {type: OnDelete}, template: {spec: {" + pod + "}}}", "no budget where nothing rolls"},
		{"v1.20.15", "{template: {spec: {" + pod + "}}}", "{updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1}}, revisionHistoryLimit: 10, template: {spec: {" + pod + "}}}", "before there was a surge"},
		{"v1.21.0", "{}", "{" + strategy + ", template: {spec: {" + pod + "}}}", "since there is a surge"},
		{"who knows", "{}", "{" + strategy + ", template: {spec: {" + pod + "}}}", "a version that is none is the newest"},
		{"", inPod("hostNetwork: true, containers: [{" + container + ", ports: [{containerPort: 1}]}]"), wantPod("hostNetwork: true, containers: [{" + container + ", ports: [{containerPort: 1, protocol: TCP}]}]"), "a pod's own, of the newest version"},
		{"v1.27.16", inPod("hostNetwork: true, containers: [{" + container + ", ports: [{containerPort: 1}]}]"), wantPod("hostNetwork: true, containers: [{" + container + ", ports: [{containerPort: 1, hostPort: 1, protocol: TCP}]}]"), "and of another"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			got := spec(tt.text)
			template.DefaultDaemonSet(got, tt.version)
			if diff := cmp.Diff(spec(tt.want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			again := got.DeepCopy()
			template.DefaultDaemonSet(again, tt.version)
			if diff := cmp.Diff(got, again); diff != "" {
				t.Errorf("set twice (-once +twice):\n%s", diff)
			}
		})
	}
}
