package validate

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest"
)

// TestValidate checks verdicts of the API server. test/e2e compares them with a real one.
func TestValidate(t *testing.T) {
	limits := func(unavailable, surge string) func(*appsv1.DaemonSet) {
		return func(ds *appsv1.DaemonSet) {
			ds.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: dstest.Limit(unavailable), MaxSurge: dstest.Limit(surge)}
		}
	}
	toleration := func(text corev1.Toleration) func(*appsv1.DaemonSet) {
		return func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.Tolerations = []corev1.Toleration{text} }
	}
	container := func(change func(*corev1.Container)) func(*appsv1.DaemonSet) {
		return func(ds *appsv1.DaemonSet) { change(&ds.Spec.Template.Spec.Containers[0]) }
	}
	field := func(path string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: path}}
	}
	const (
		percent = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
		label   = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
	)
	for _, tt := range []struct {
		change func(*appsv1.DaemonSet)
		want   []string
		why    string
	}{
		{func(*appsv1.DaemonSet) {}, nil, "nothing wrong"},
		{limits("1", "0"), nil, "maxUnavailable"},
		{limits("0", "1"), nil, "maxSurge"},
		{limits("100%", "0%"), nil, "all"},
		{limits("500", "0"), nil, "more than there are, as a number"},
		{limits("0", "0"), []string{"spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0"}, "neither"},
		{limits("0%", "0"), []string{"spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0"}, "neither, in percent"},
		{limits("1", "1"), []string{"spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero"}, "both"},
		{limits("101%", "0"), []string{`spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%`}, "more than all"},
		{limits("0", "101%"), []string{`spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "101%": must not be greater than 100%`}, "of surge too"},
		{limits("-1", "0"), []string{"spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: -1: must be greater than or equal to 0"}, "less than none"},
		{limits("0", "-1"), []string{"spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: -1: must be greater than or equal to 0"}, "of surge too"},
		{limits("some", "0"), []string{
			`spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "some": ` + percent,
			"spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0",
		}, "a word, which counts as 0"},
		{limits("1.5%", "0"), []string{
			`spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "1.5%": ` + percent,
			"spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0",
		}, "a broken percentage"},
		{func(ds *appsv1.DaemonSet) {
			ds.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
		}, nil, "OnDelete"},
		{func(ds *appsv1.DaemonSet) {
			limits("1", "1")(ds)
			ds.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType
		}, nil, "whose limits nobody reads"},
		{func(ds *appsv1.DaemonSet) { ds.Spec.UpdateStrategy.Type = "Recreate" }, []string{
			`spec.updateStrategy: Unsupported value: {"Type":"Recreate","RollingUpdate":{"MaxUnavailable":1,"MaxSurge":0}}: supported values: "RollingUpdate", "OnDelete"`,
		}, "another strategy"},
		{func(ds *appsv1.DaemonSet) {
			ds.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: "Recreate"}
		}, []string{
			`spec.updateStrategy: Unsupported value: {"Type":"Recreate","RollingUpdate":null}: supported values: "RollingUpdate", "OnDelete"`,
		}, "without limits"},
		{func(ds *appsv1.DaemonSet) { ds.Spec.UpdateStrategy.RollingUpdate = nil }, []string{
			"spec.updateStrategy.rollingUpdate: Required value",
		}, "limits that nobody defaulted"},
		{func(ds *appsv1.DaemonSet) { ds.Spec.MinReadySeconds = -1 }, []string{"spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0"}, "minReadySeconds"},
		{func(ds *appsv1.DaemonSet) { ds.Spec.RevisionHistoryLimit = new(int32(-1)) }, []string{"spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0"}, "revisionHistoryLimit"},
		{func(ds *appsv1.DaemonSet) { ds.Spec.RevisionHistoryLimit = new(int32(0)) }, nil, "none kept"},
		{func(ds *appsv1.DaemonSet) { ds.Spec.Template.Labels["app"] = "other" }, []string{
			"spec.template.metadata.labels: Invalid value: {\"app\":\"other\"}: `selector` does not match template `labels`",
		}, "a template that does not match"},
		{func(ds *appsv1.DaemonSet) {
			ds.Spec.Selector.MatchLabels["app"], ds.Spec.Template.Labels["app"] = "other", "other"
		}, []string{`spec.selector: Invalid value: {"matchLabels":{"app":"other"}}: field is immutable`}, "another selector"},
		{func(ds *appsv1.DaemonSet) { ds.Spec.Selector.MatchLabels["app"] = "other" }, []string{
			`spec.selector: Invalid value: {"matchLabels":{"app":"other"}}: field is immutable`,
			"spec.template.metadata.labels: Invalid value: {\"app\":\"agent\"}: `selector` does not match template `labels`",
		}, "that does not match either"},
		{func(ds *appsv1.DaemonSet) { ds.Spec.Selector = &metav1.LabelSelector{} }, []string{
			"spec.selector: Invalid value: {}: field is immutable",
			"spec.selector: Invalid value: {}: empty selector is invalid for daemonset",
		}, "an empty one"},
		{func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.Containers[0].Image = "" }, []string{"spec.template.spec.containers[0].image: Required value"}, "no image"},
		{func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.Containers[0].Image = " x" }, nil, "an image with a blank, which only a pod may not have"},
		{func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.NodeSelector = map[string]string{"a": "b c"} }, []string{
			`spec.template.spec.nodeSelector: Invalid value: "b c": ` + label,
		}, "a nodeSelector that no node can meet"},
		{toleration(corev1.Toleration{Key: "a", Operator: "Exists", Effect: "NoExecute"}), nil, "a toleration"},
		{toleration(corev1.Toleration{Key: "a", Value: "b"}), nil, "that equals"},
		{toleration(corev1.Toleration{Operator: "Exists"}), nil, "of everything"},
		{toleration(corev1.Toleration{Value: "a"}), []string{
			"spec.template.spec.tolerations[0].operator: Invalid value: \"\": operator must be Exists when `key` is empty, which means \"match all values and all keys\"",
		}, "a value without a key"},
		{toleration(corev1.Toleration{Key: "a", Operator: "Exists", Value: "b"}), []string{
			"spec.template.spec.tolerations[0].operator: Invalid value: \"b\": value must be empty when `operator` is 'Exists'",
		}, "a value that would not matter"},
		{toleration(corev1.Toleration{Key: "a", Value: "b c"}), []string{`spec.template.spec.tolerations[0].operator: Invalid value: "b c": ` + label}, "a value that no taint can have"},
		{toleration(corev1.Toleration{Key: "a", Operator: "Likes"}), []string{
			`spec.template.spec.tolerations[0].operator: Unsupported value: "Likes": supported values: "Equal", "Exists"`,
		}, "another operator"},
		{toleration(corev1.Toleration{Key: "a", Operator: "Exists", Effect: "Never"}), []string{
			`spec.template.spec.tolerations[0].effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`,
		}, "another effect"},
		{toleration(corev1.Toleration{Key: "a", Operator: "Exists", Effect: "NoSchedule", TolerationSeconds: new(int64(3))}), []string{
			"spec.template.spec.tolerations[0].effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when `tolerationSeconds` is set",
		}, "seconds of what does not evict"},
		// A merge produces this if another client changed the live object, as kubectl rollout undo does.
		{container(func(c *corev1.Container) {
			c.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"x"}}, HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(80), Scheme: "HTTP"}}}
		}), []string{
			"spec.template.spec.containers[0].livenessProbe.httpGet: Forbidden: may not specify more than 1 handler type",
		}, "a probe of two types"},
		{container(func(c *corev1.Container) {
			c.StartupProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(80), Scheme: "HTTP"}, TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}, GRPC: &corev1.GRPCAction{Port: 80}}}
		}), []string{
			"spec.template.spec.containers[0].startupProbe.tcpSocket: Forbidden: may not specify more than 1 handler type",
			"spec.template.spec.containers[0].startupProbe.grpc: Forbidden: may not specify more than 1 handler type",
		}, "of three"},
		{container(func(c *corev1.Container) { c.ReadinessProbe = &corev1.Probe{} }), []string{
			"spec.template.spec.containers[0].readinessProbe: Required value: must specify a handler type",
		}, "of none"},
		{container(func(c *corev1.Container) {
			c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"x"}}, Sleep: &corev1.SleepAction{Seconds: 1}}}
		}), []string{
			"spec.template.spec.containers[0].lifecycle.preStop.sleep: Forbidden: may not specify more than 1 handler type",
		}, "a hook of two types"},
		{container(func(c *corev1.Container) {
			c.Env = []corev1.EnvVar{{Name: "A", Value: "a", ValueFrom: field("metadata.name")}}
		}), []string{
			"spec.template.spec.containers[0].env[0].valueFrom: Invalid value: \"\": may not be specified when `value` is not empty",
		}, "a variable with a value and a source"},
		{container(func(c *corev1.Container) {
			from := field("metadata.name")
			from.ConfigMapKeyRef = &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}, Key: "k"}
			c.Env = []corev1.EnvVar{{Name: "A", Value: "a"}, {Name: "B", ValueFrom: from}}
		}), []string{
			"spec.template.spec.containers[0].env[1].valueFrom: Invalid value: \"\": may not have more than one field specified at a time",
		}, "a variable with two sources"},
		{func(ds *appsv1.DaemonSet) {
			ds.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "a"}, {Name: "b", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/b"}, EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		}, []string{
			"spec.template.spec.volumes[1].hostPath: Forbidden: may not specify more than 1 volume type",
		}, "a volume of two types"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			old := dstest.State("N").DaemonSet
			changed := old.DeepCopy()
			tt.change(changed)
			var got []string
			for _, e := range DaemonSet(old, changed, "") {
				got = append(got, e.Error())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestValidateNew(t *testing.T) {
	old := dstest.State("N").DaemonSet
	if errs := DaemonSet(nil, old, ""); len(errs) > 0 {
		t.Errorf("nothing wrong: %v", errs)
	}
	other := old.DeepCopy()
	other.Spec.Selector.MatchLabels["tier"], other.Spec.Template.Labels["tier"] = "x", "x"
	if errs := DaemonSet(nil, other, ""); len(errs) > 0 {
		t.Errorf("a new DaemonSet has the selector that it wants: %v", errs)
	}
	unnamed := old.DeepCopy()
	unnamed.Namespace, unnamed.Name = "<your-namespace>", "${NAME}"
	var fields []string
	for _, e := range DaemonSet(nil, unnamed, "") {
		fields = append(fields, e.Field)
	}
	if !slices.Equal(fields, []string{"metadata.name", "metadata.namespace"}) {
		t.Errorf("names that nobody filled in: %q", fields)
	}
}

// TestValidateStored checks that DaemonSet omits an error that the live object also has.
func TestValidateStored(t *testing.T) {
	old := dstest.State("N").DaemonSet
	old.Spec.Template.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "lost", MountPath: "/lost"}}
	changed := old.DeepCopy()
	changed.Spec.Template.Spec.Containers[0].Image = "other"
	if errs := DaemonSet(old, changed, ""); len(errs) > 0 {
		t.Errorf("the API server has stored it: %v", errs)
	}
	changed.Spec.Template.Spec.Containers[0].VolumeMounts[0].Name = "other"
	if errs := DaemonSet(old, changed, ""); len(errs) != 1 {
		t.Errorf("another one is an error: %v", errs)
	}
}

// TestValidateVersion checks that rules of later versions do not apply.
func TestValidateVersion(t *testing.T) {
	ds := dstest.State("N").DaemonSet
	term := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "pool", Operator: "In", Values: []string{"a b"}}}}
	ds.Spec.Template.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}},
	}}
	for version, want := range map[string]int{"v1.30.4": 0, "v1.37.1": 1, "": 1} {
		if errs := DaemonSet(nil, ds, version); len(errs) != want {
			t.Errorf("%q: %v", version, errs)
		}
	}
}
