package fit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

func list(pairs ...string) corev1.ResourceList {
	l := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		l[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return l
}

func requesting(pairs ...string) corev1.Container {
	return corev1.Container{Resources: corev1.ResourceRequirements{Requests: list(pairs...)}}
}

// TestOf tests every field, with a pod that sets them all.
func TestOf(t *testing.T) {
	always, never, priority := corev1.ContainerRestartPolicyAlways, corev1.PreemptNever, int32(7)
	sidecar := requesting("cpu", "1")
	sidecar.RestartPolicy, sidecar.Ports = &always, []corev1.ContainerPort{{HostPort: 443}}
	main := requesting("cpu", "2", "memory", "5")
	main.Ports = []corev1.ContainerPort{{HostPort: 80, HostIP: "10.0.0.1", Protocol: corev1.ProtocolUDP}, {ContainerPort: 8080}}
	tolerations := []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpExists}}
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"}, Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{sidecar, requesting("cpu", "9")}, Containers: []corev1.Container{main, requesting("cpu", "500m", "example.com/gpu", "1")},
		Overhead: list("memory", "1"), Priority: &priority, PreemptionPolicy: &never, Tolerations: tolerations,
	}}
	p.Status.NominatedNodeName = "n"
	want := Wanted{
		Namespace: "ns", Name: "p", Priority: 7, NeverPreempts: true, NominatedNode: "n", Tolerations: tolerations,
		Requests:  snapshot.Resources{MilliCPU: 10000, Memory: 6, Scalar: map[corev1.ResourceName]int64{"example.com/gpu": 1}}, // the init container beside the sidecar needs the most
		HostPorts: []snapshot.HostPort{{Port: 443, Sidecar: true}, {IP: "10.0.0.1", Protocol: corev1.ProtocolUDP, Port: 80}},
	}
	if diff := cmp.Diff(want, Of(p), cmpopts.IgnoreUnexported(Wanted{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	preempts := corev1.PreemptLowerPriority
	p = &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{requesting("cpu", "-1", "memory", "1e19")}, PreemptionPolicy: &preempts}}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{AllocatedResources: list("cpu", "5")}}
	want = Wanted{Unreadable: []corev1.ResourceName{"cpu", "memory"}}
	if diff := cmp.Diff(want, Of(p), cmpopts.IgnoreUnexported(Wanted{})); diff != "" {
		t.Errorf("amounts that cannot be counted are named, and what a kubelet allocated to another pod of this name is nothing to it (-want +got):\n%s", diff)
	}
}

// TestUnmodelled tests the properties of a pod that are not checked.
func TestUnmodelled(t *testing.T) {
	claim := func(name string) corev1.Volume {
		return corev1.Volume{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}}
	}
	class, none, terms := "gvisor", "", []corev1.PodAffinityTerm{{}}
	for _, tt := range []struct {
		why     string
		spec    corev1.PodSpec
		volumes []Volume
		want    []Unmodelled
	}{
		{"a claim that only one pod can have", corev1.PodSpec{Volumes: []corev1.Volume{claim("a")}}, []Volume{{Claim: "a", OnePod: true}}, []Unmodelled{VolumeRestrictions}},
		{
			"a feature that nodes declare",
			corev1.PodSpec{Containers: []corev1.Container{{RestartPolicyRules: []corev1.ContainerRestartRule{{Action: corev1.ContainerRestartRuleActionRestartAllContainers}}}}}, nil,
			[]Unmodelled{NodeDeclaredFeatures},
		},
		{"a plain pod has nothing of it", corev1.PodSpec{SchedulerName: corev1.DefaultSchedulerName, Volumes: []corev1.Volume{{}}, Affinity: &corev1.Affinity{}, RuntimeClassName: &none}, nil, nil},
		{
			"affinity to pods that is only preferred",
			corev1.PodSpec{Affinity: &corev1.Affinity{PodAffinity: &corev1.PodAffinity{}, PodAntiAffinity: &corev1.PodAntiAffinity{}}}, nil, nil,
		},
		{
			"affinity", corev1.PodSpec{Affinity: &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}}, nil,
			[]Unmodelled{InterPodAffinity},
		},
		{
			"anti-affinity", corev1.PodSpec{Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}}, nil,
			[]Unmodelled{InterPodAntiAffinity},
		},
		{
			"a spread that the scheduler must keep", corev1.PodSpec{TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{WhenUnsatisfiable: corev1.ScheduleAnyway}, {WhenUnsatisfiable: corev1.DoNotSchedule}}}, nil,
			[]Unmodelled{TopologySpread},
		},
		{"one that it prefers", corev1.PodSpec{TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{WhenUnsatisfiable: corev1.ScheduleAnyway}}}, nil, nil},
		{
			"disks that only one pod can have", corev1.PodSpec{Volumes: []corev1.Volume{{VolumeSource: corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{}}}}}, nil,
			[]Unmodelled{VolumeRestrictions},
		},
		{"of AWS", corev1.PodSpec{Volumes: []corev1.Volume{{VolumeSource: corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{}}}}}, nil, []Unmodelled{VolumeRestrictions}},
		{"of Ceph", corev1.PodSpec{Volumes: []corev1.Volume{{VolumeSource: corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{}}}}}, nil, []Unmodelled{VolumeRestrictions}},
		{"of iSCSI", corev1.PodSpec{Volumes: []corev1.Volume{{VolumeSource: corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{}}}}}, nil, []Unmodelled{VolumeRestrictions}},
		{"a claim of which nothing is known", corev1.PodSpec{Volumes: []corev1.Volume{claim("a"), claim("b")}}, []Volume{{Claim: "a"}}, []Unmodelled{UnboundClaims}},
		{"claims that are known", corev1.PodSpec{Volumes: []corev1.Volume{claim("a"), claim("b")}}, []Volume{{Claim: "a"}, {Claim: "b"}}, nil},
		{
			"a claim that is made with the pod", corev1.PodSpec{Volumes: []corev1.Volume{{VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}}}, nil,
			[]Unmodelled{UnboundClaims},
		},
		{"devices", corev1.PodSpec{ResourceClaims: []corev1.PodResourceClaim{{Name: "gpu"}}}, nil, []Unmodelled{ResourceClaims}},
		{"a RuntimeClass that admission has not merged yet", corev1.PodSpec{RuntimeClassName: &class}, nil, []Unmodelled{RuntimeClassScheduling}},
		{"one that it has", corev1.PodSpec{RuntimeClassName: &class, Overhead: list("cpu", "1")}, nil, nil},
		{"another scheduler", corev1.PodSpec{SchedulerName: "other"}, nil, []Unmodelled{SchedulerName}},
		{"gates", corev1.PodSpec{SchedulingGates: []corev1.PodSchedulingGate{{Name: "example.com/a"}}}, nil, []Unmodelled{SchedulingGates}},
		{"a group", corev1.PodSpec{SchedulingGroup: &corev1.PodSchedulingGroup{}}, nil, []Unmodelled{SchedulingGroup}},
		{"a node that it names itself", corev1.PodSpec{NodeName: "n"}, nil, []Unmodelled{NodeName}},
		{
			"several, in one order", corev1.PodSpec{SchedulerName: "other", NodeName: "n", ResourceClaims: []corev1.PodResourceClaim{{}}, Volumes: []corev1.Volume{claim("a")}}, nil,
			[]Unmodelled{UnboundClaims, ResourceClaims, NodeName, SchedulerName},
		},
	} {
		p := &corev1.Pod{Spec: tt.spec}
		if got := Of(p).WithVolumes(&p.Spec, tt.volumes); !cmp.Equal(got.Unmodelled, tt.want, cmpopts.EquateEmpty()) || !cmp.Equal(got.Volumes, tt.volumes) {
			t.Errorf("%s: %v with %v, want %v", tt.why, got.Unmodelled, got.Volumes, tt.want)
		}
	}
	own := &corev1.Pod{Spec: corev1.PodSpec{Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}}}}
	for _, tt := range []struct {
		name  string
		claim string
		want  []Unmodelled
		why   string
	}{
		{"p", "p-v", nil, "the claim that was made for the pod is known"},
		{"p", "q-v", []Unmodelled{UnboundClaims}, "that of another pod says nothing"},
		{"", "-v", []Unmodelled{UnboundClaims}, "none is made for a pod that does not exist yet"},
	} {
		own.Name = tt.name
		if got := Of(own).WithVolumes(&own.Spec, []Volume{{Claim: tt.claim}}).Unmodelled; !cmp.Equal(got, tt.want, cmpopts.EquateEmpty()) {
			t.Errorf("%s: %v, want %v", tt.why, got, tt.want)
		}
	}
	p := &corev1.Pod{Spec: corev1.PodSpec{Volumes: []corev1.Volume{claim("a")}}}
	if got := Of(p).Unmodelled; !cmp.Equal(got, []Unmodelled{UnboundClaims}) {
		t.Errorf("nobody said what is known of claims, and %v is not looked at", got)
	}
	p.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}}
	if got := Of(p).Unmodelled; !cmp.Equal(got, []Unmodelled{UnboundClaims}) {
		t.Errorf("nobody said what is known of a claim that is made with the pod, and %v is not looked at", got)
	}
}

// TestOfTemplate checks that a pod of a template does not depend on its node.
func TestOfTemplate(t *testing.T) {
	n := parseNode(t, "pods=5 zone=a")
	for _, tt := range []struct {
		why      string
		affinity *corev1.Affinity
		selector map[string]string
		want     Reason
	}{
		{"required affinity that does not match is replaced", required(corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{in("zone", "b")}}), nil, ""},
		{"one that names another node, too", required(corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{in(metav1.ObjectNameField, "m")}}), nil, ""},
		{"the node selector is not", nil, map[string]string{"zone": "b"}, NodeAffinity},
		{"one that matches", nil, map[string]string{"zone": "a"}, ""},
	} {
		w := OfTemplate("ns", &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Affinity: tt.affinity, NodeSelector: tt.selector}})
		if got := ProfileOf("").On(&w, &n); got.Reason != tt.want || w.Namespace != "ns" {
			t.Errorf("%s: %q, want %q", tt.why, got.Reason, tt.want)
		}
	}
}

// TestNamedNodes tests which nodes a required node affinity allows.
func TestNamedNodes(t *testing.T) {
	term := func(all ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchFields: all}
	}
	label := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{in(metav1.ObjectNameField, "n")}}
	not := in(metav1.ObjectNameField, "n")
	not.Operator = corev1.NodeSelectorOpNotIn
	for _, tt := range []struct {
		why      string
		affinity *corev1.Affinity
		want     []string
	}{
		{"none", nil, nil},
		{"nothing about nodes", &corev1.Affinity{}, nil},
		{"nothing required", &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}, nil},
		{"no term", required(), nil},
		{"the terms name nodes", required(term(in(metav1.ObjectNameField, "a")), term(in(metav1.ObjectNameField, "b", "c"))), []string{"a", "b", "c"}},
		{"one that does not leaves all", required(term(in(metav1.ObjectNameField, "a")), label), nil},
		{"what a term asks for must all hold", required(term(in(metav1.ObjectNameField, "a", "b", "c"), in(metav1.ObjectNameField, "b", "c", "d"))), []string{"b", "c"}},
		{"which may be nothing", required(term(in(metav1.ObjectNameField, "a"), in(metav1.ObjectNameField, "b"))), []string{}},
		{"who is not wanted leaves all others", required(term(not)), nil},
		{"another field names no node", required(term(in("metadata.uid", "a"))), nil},
	} {
		if diff := cmp.Diff(tt.want, namedNodes(tt.affinity)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
}

// TestAdmitted tests what the API server adds to pods, but not to templates.
func TestAdmitted(t *testing.T) {
	both := func(limits, requests corev1.ResourceList) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Limits: limits, Requests: requests}
	}
	port := func(container, host int32) corev1.ContainerPort {
		return corev1.ContainerPort{ContainerPort: container, HostPort: host}
	}
	for _, tt := range []struct {
		why       string
		spec, out corev1.PodSpec
	}{
		{
			why:  "a limit is the request where none is given, in init containers, too",
			spec: corev1.PodSpec{InitContainers: []corev1.Container{{Resources: both(list("cpu", "1"), nil)}}, Containers: []corev1.Container{{Resources: both(list("cpu", "2", "memory", "3"), list("cpu", "1"))}}},
			out: corev1.PodSpec{
				InitContainers: []corev1.Container{{Resources: both(list("cpu", "1"), list("cpu", "1"))}},
				Containers:     []corev1.Container{{Resources: both(list("cpu", "2", "memory", "3"), list("cpu", "1", "memory", "3"))}},
			},
		},
		{
			why:  "without limits nothing is added",
			spec: corev1.PodSpec{Containers: []corev1.Container{{Ports: []corev1.ContainerPort{port(80, 0)}}}},
			out:  corev1.PodSpec{Containers: []corev1.Container{{Ports: []corev1.ContainerPort{port(80, 0)}}}},
		},
		{
			why: "on the host's network a port is the node's",
			spec: corev1.PodSpec{
				HostNetwork: true, InitContainers: []corev1.Container{{Ports: []corev1.ContainerPort{port(81, 0)}}},
				Containers: []corev1.Container{{Ports: []corev1.ContainerPort{port(80, 0), port(82, 8082)}}},
			},
			out: corev1.PodSpec{
				HostNetwork: true, InitContainers: []corev1.Container{{Ports: []corev1.ContainerPort{port(81, 81)}}},
				Containers: []corev1.Container{{Ports: []corev1.ContainerPort{port(80, 80), port(82, 8082)}}},
			},
		},
		{
			why:  "a pod that limits itself as a whole requests what its containers do together, and what none of them requests by the limit",
			spec: corev1.PodSpec{Resources: new(both(list("cpu", "4", "memory", "9"), nil)), Containers: []corev1.Container{requesting("cpu", "1"), requesting("cpu", "2")}},
			out: corev1.PodSpec{
				Resources:  new(both(list("cpu", "4", "memory", "9"), list("cpu", "3", "memory", "9"))),
				Containers: []corev1.Container{requesting("cpu", "1"), requesting("cpu", "2")},
			},
		},
		{
			why:  "what it requests as a whole stays",
			spec: corev1.PodSpec{Resources: new(both(list("cpu", "4"), list("cpu", "1"))), Containers: []corev1.Container{requesting("cpu", "2")}},
			out:  corev1.PodSpec{Resources: new(both(list("cpu", "4"), list("cpu", "1"))), Containers: []corev1.Container{requesting("cpu", "2")}},
		},
		{
			why:  "without a limit as a whole nothing is added",
			spec: corev1.PodSpec{Resources: new(both(nil, list("cpu", "3"))), Containers: []corev1.Container{requesting("memory", "2")}},
			out:  corev1.PodSpec{Resources: new(both(nil, list("cpu", "3"))), Containers: []corev1.Container{requesting("memory", "2")}},
		},
		{
			why:  "a resource that pods cannot request as a whole is left to the containers",
			spec: corev1.PodSpec{Resources: new(both(list("cpu", "4"), nil)), Containers: []corev1.Container{requesting("example.com/gpu", "1")}},
			out:  corev1.PodSpec{Resources: new(both(list("cpu", "4"), list("cpu", "4"))), Containers: []corev1.Container{requesting("example.com/gpu", "1")}},
		},
		{
			why:  "huge pages of the containers are no request of the whole; those that it limits are",
			spec: corev1.PodSpec{Resources: new(both(list("cpu", "4", "hugepages-1Gi", "1Gi"), nil)), Containers: []corev1.Container{requesting("cpu", "1", "hugepages-2Mi", "2Mi")}},
			out: corev1.PodSpec{
				Resources:  new(both(list("cpu", "4", "hugepages-1Gi", "1Gi"), list("cpu", "1", "hugepages-1Gi", "1Gi"))),
				Containers: []corev1.Container{requesting("cpu", "1", "hugepages-2Mi", "2Mi")},
			},
		},
	} {
		before := tt.spec.DeepCopy()
		if diff := cmp.Diff(&tt.out, Admitted(&tt.spec)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
		if diff := cmp.Diff(before, &tt.spec); diff != "" {
			t.Errorf("%s: the template itself was changed (-before +after):\n%s", tt.why, diff)
		}
	}
}

// TestRulesOf tests the version that introduced each rule.
func TestRulesOf(t *testing.T) {
	for _, tt := range []struct {
		version string
		want    Profile
	}{
		{"v1.30.4", Profile{}},
		{"v1.32.99", Profile{}},
		{"v1.33.0", Profile{SidecarPorts: true}},
		{"v1.34.0-gke.1", Profile{SidecarPorts: true, UnresolvableRequests: true}},
		{"1.36", Profile{SidecarPorts: true, UnresolvableRequests: true}},
		{"v1.37.0", Profile{true, true, true}},
		{"v1.40.0", Profile{true, true, true}},
		{"", Profile{true, true, true}},
		{"unknown", Profile{true, true, true}},
	} {
		if got := ProfileOf(tt.version); got != tt.want {
			t.Errorf("%q: %+v, want %+v", tt.version, got, tt.want)
		}
	}
}
