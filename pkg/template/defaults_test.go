package template

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/internal/dstest/draw"
	"github.com/kubectl-ds/kubectl-ds/test/cases"
)

// TestDefault has a row for each default of a pod's spec, and rows for fields
// without one.
func TestDefault(t *testing.T) {
	spec := func(text string) *corev1.PodTemplateSpec {
		t.Helper()
		of := new(corev1.PodTemplateSpec)
		if err := yaml.UnmarshalStrict([]byte(text), &of.Spec); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return of
	}
	const (
		container = "terminationMessagePath: /dev/termination-log, terminationMessagePolicy: File, imagePullPolicy: Always, image: a"
		probe     = "timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3"
		pod       = "restartPolicy: Always, dnsPolicy: ClusterFirst, schedulerName: default-scheduler, terminationGracePeriodSeconds: 30, securityContext: {}"
	)
	wanted := func(text string) string { return pod + ", " + text }
	for _, tt := range []struct{ version, text, want, why string }{
		{"", "", pod, "of an empty one"},
		{"", "restartPolicy: Never, dnsPolicy: Default, schedulerName: a, terminationGracePeriodSeconds: 0, securityContext: {runAsUser: 0}", "restartPolicy: Never, dnsPolicy: Default, schedulerName: a, terminationGracePeriodSeconds: 0, securityContext: {runAsUser: 0}", "what is set stays, zero too"},
		{"who knows", "hostNetwork: true, containers: [{" + container + ", ports: [{containerPort: 1}]}]", wanted("hostNetwork: true, containers: [{" + container + ", ports: [{containerPort: 1, protocol: TCP}]}]"), "a version that is none is the newest"},
		{"", "containers: [{" + container + ", securityContext: {}}]", wanted("containers: [{" + container + ", securityContext: {}}]"), "a mount of /proc is a default of the past"},
		{"", "serviceAccount: a", wanted("serviceAccount: a, serviceAccountName: a"), "two names of one field"},
		{"", "serviceAccount: a, serviceAccountName: b", wanted("serviceAccount: b, serviceAccountName: b"), "of which the newer wins"},
		{"", "overhead: {cpu: 0.0001}, resources: {limits: {cpu: 1.00001}, requests: {memory: 0.5}}", wanted("overhead: {cpu: 1m}, resources: {limits: {cpu: 1001m}, requests: {memory: 500m}}"), "a thousandth is the least"},
		{"", "initContainers: [{image: a}], containers: [{image: a, resources: {limits: {cpu: 0.00001}, requests: {cpu: 0.00001}}}]",
			wanted("initContainers: [{" + container + "}], containers: [{" + container + ", resources: {limits: {cpu: 1m}, requests: {cpu: 1m}}}]"), "of containers of both sorts; limits are no requests in a template"},
		{"", "containers: [{" + container + ", ports: [{containerPort: 1}, {containerPort: 2, protocol: UDP}]}]", wanted("containers: [{" + container + ", ports: [{containerPort: 1, protocol: TCP}, {containerPort: 2, protocol: UDP}]}]"), "a port's protocol"},
		{"", "hostNetwork: true, containers: [{" + container + ", ports: [{containerPort: 1}]}]", wanted("hostNetwork: true, containers: [{" + container + ", ports: [{containerPort: 1, protocol: TCP}]}]"), "a host's port is not written down"},
		{"v1.27.16", "hostNetwork: true, containers: [{" + container + ", ports: [{containerPort: 1}]}]", wanted("hostNetwork: true, containers: [{" + container + ", ports: [{containerPort: 1, hostPort: 1, protocol: TCP}]}]"), "before v1.28 it was"},
		{"v1.27.16", "containers: [{" + container + ", ports: [{containerPort: 1}]}]", wanted("containers: [{" + container + ", ports: [{containerPort: 1, protocol: TCP}]}]"), "on the host's network only"},
		{"v1.28.0-rc.1", "hostNetwork: true, containers: [{" + container + ", ports: [{containerPort: 1}]}]", wanted("hostNetwork: true, containers: [{" + container + ", ports: [{containerPort: 1, protocol: TCP}]}]"), "a candidate is of its release"},
		{"", "containers: [{" + container + ", env: [{name: A, valueFrom: {fieldRef: {fieldPath: p}}}, {name: B, valueFrom: {fileKeyRef: {key: k}}}, {name: C, value: c}]}]",
			wanted("containers: [{" + container + ", env: [{name: A, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: p}}}, {name: B, valueFrom: {fileKeyRef: {key: k, optional: false}}}, {name: C, value: c}]}]"), "where a variable comes from"},
		{"", "containers: [{" + container + ", startupProbe: {exec: {}}, livenessProbe: {httpGet: {port: 1}}, readinessProbe: {grpc: {port: 1}}}]",
			wanted("containers: [{" + container + ", startupProbe: {exec: {}, " + probe + "}, livenessProbe: {httpGet: {port: 1, path: /, scheme: HTTP}, " + probe + "}, readinessProbe: {grpc: {port: 1, service: \"\"}, " + probe + "}}]"), "three probes"},
		{"", "containers: [{" + container + ", livenessProbe: {timeoutSeconds: 2, periodSeconds: 3, successThreshold: 4, failureThreshold: 5}}]",
			wanted("containers: [{" + container + ", livenessProbe: {timeoutSeconds: 2, periodSeconds: 3, successThreshold: 4, failureThreshold: 5}}]"), "of which nothing that is set changes"},
		{"", "containers: [{" + container + ", lifecycle: {postStart: {httpGet: {port: 1}}, preStop: {httpGet: {port: 1, path: /x, scheme: HTTPS}}}}]",
			wanted("containers: [{" + container + ", lifecycle: {postStart: {httpGet: {port: 1, path: /, scheme: HTTP}}, preStop: {httpGet: {port: 1, path: /x, scheme: HTTPS}}}}]"), "hooks"},
		{"", "volumes: [{name: a}, {name: b, hostPath: {path: /}}, {name: c, secret: {}}, {name: d, configMap: {}}, {name: e, downwardAPI: {items: [{path: p, fieldRef: {fieldPath: f}}, {path: q}]}}]",
			wanted("volumes: [{name: a, emptyDir: {}}, {name: b, hostPath: {path: /, type: \"\"}}, {name: c, secret: {defaultMode: 420}}, {name: d, configMap: {defaultMode: 420}}, {name: e, downwardAPI: {defaultMode: 420, items: [{path: p, fieldRef: {apiVersion: v1, fieldPath: f}}, {path: q}]}}]"), "volumes"},
		{"", "volumes: [{name: a, projected: {sources: [{serviceAccountToken: {path: p}}, {downwardAPI: {items: [{path: p, fieldRef: {fieldPath: f}}]}}, {secret: {}}]}}]",
			wanted("volumes: [{name: a, projected: {defaultMode: 420, sources: [{serviceAccountToken: {path: p, expirationSeconds: 3600}}, {downwardAPI: {items: [{path: p, fieldRef: {apiVersion: v1, fieldPath: f}}]}}, {secret: {}}]}}]"), "a projected volume; its parts have no mode"},
		{"", "volumes: [{name: a, ephemeral: {volumeClaimTemplate: {spec: {resources: {requests: {storage: 0.0001}}}}}}, {name: b, image: {reference: a}}, {name: c, ephemeral: {}}]",
			wanted("volumes: [{name: a, ephemeral: {volumeClaimTemplate: {spec: {volumeMode: Filesystem, resources: {requests: {storage: 1m}}}}}}, {name: b, image: {reference: a, pullPolicy: Always}}, {name: c, ephemeral: {}}]"), "newer volumes"},
		{"", "volumes: [{name: a, iscsi: {lun: 0, iqn: i, targetPortal: t}}, {name: b, rbd: {monitors: [], image: i}}, {name: c, azureDisk: {diskName: d, diskURI: u}}, {name: d, scaleIO: {gateway: g, system: s, secretRef: {}}}]",
			wanted("volumes: [{name: a, iscsi: {lun: 0, iqn: i, targetPortal: t, iscsiInterface: default}}, {name: b, rbd: {monitors: [], image: i, pool: rbd, user: admin, keyring: /etc/ceph/keyring}}, {name: c, azureDisk: {diskName: d, diskURI: u, cachingMode: ReadWrite, fsType: ext4, kind: Shared, readOnly: false}}, {name: d, scaleIO: {gateway: g, system: s, secretRef: {}, storageMode: ThinProvisioned, fsType: xfs}}]"), "older volumes"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			got := spec("{" + tt.text + "}")
			Default(got, tt.version)
			if diff := cmp.Diff(spec("{"+tt.want+"}"), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			again := got.DeepCopy()
			Default(again, tt.version)
			if diff := cmp.Diff(got, again); diff != "" {
				t.Errorf("set twice (-once +twice):\n%s", diff)
			}
		})
	}
}

func TestPullPolicy(t *testing.T) {
	for _, tt := range []struct {
		image string
		want  corev1.PullPolicy
		why   string
	}{
		{"agent", corev1.PullAlways, "no tag is the newest"},
		{"agent:latest", corev1.PullAlways, "so is the tag that says so"},
		{"agent:1", corev1.PullIfNotPresent, "another tag is not"},
		{"registry:5000/agent", corev1.PullAlways, "a port is no tag"},
		{"registry:5000/agent:1", corev1.PullIfNotPresent, "a port before a tag"},
		{"agent@sha256:00", corev1.PullIfNotPresent, "a digest is one image for ever"},
		{"agent:latest@sha256:00", corev1.PullAlways, "but the tag is asked first"},
		{"agent:1@sha256:00", corev1.PullIfNotPresent, "a tag and a digest"},
		{"", corev1.PullIfNotPresent, "no image"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			if got := pullPolicy(tt.image); got != tt.want {
				t.Errorf("%q: %s, want %s", tt.image, got, tt.want)
			}
		})
	}
}

func TestDefaulted(t *testing.T) {
	inContainer := func(text string) string {
		if text != "" {
			text = ", " + text
		}
		return "{spec: {containers: [{name: a" + text + "}]}}"
	}
	for _, tt := range []struct {
		old, new string
		want     []bool // for the differences in the order of their paths
		why      string
	}{
		{inContainer("image: x"), inContainer("image: x"), []bool{}, "no difference"},
		{inContainer("image: x"), inContainer("image: z"), []bool{false}, "somebody's change"},
		{inContainer("securityContext: {privileged: true}"), inContainer("securityContext: {privileged: true, procMount: Default}"), []bool{true}, "the upgrade of kubernetes#78633"},
		{inContainer("securityContext: {procMount: Default}"), inContainer("securityContext: {}"), []bool{true}, "and what came after it"},
		{inContainer("securityContext: {}"), inContainer("securityContext: {procMount: Unmasked}"), []bool{false}, "another value"},
		{inContainer("securityContext: {procMount: Unmasked}"), inContainer("securityContext: {procMount: Default}"), []bool{false}, "a default in the place of something"},
		{inContainer(""), inContainer("securityContext: {procMount: Default}"), []bool{false}, "a default in what somebody added"},
		{inContainer("image: x"), inContainer("image: z, terminationMessagePolicy: File"), []bool{false, true}, "a default beside a change"},
		{inContainer("image: 'x:1', terminationMessagePolicy: File"), inContainer("image: 'x:1', imagePullPolicy: IfNotPresent"), []bool{true, true}, "one on each side"},
		{inContainer("image: x"), inContainer("image: x, imagePullPolicy: IfNotPresent"), []bool{false}, "the default of another image"},
		{"{spec: {}}", "{spec: {dnsPolicy: ClusterFirst, hostIPC: true, schedulerName: default-scheduler, securityContext: {}}}", []bool{true, false, true, true}, "of a pod"},
		{"{spec: {}}", "{spec: {securityContext: {runAsUser: 0}}}", []bool{false}, "more than a default"},
		{"{spec: {volumes: [{name: v, hostPath: {path: /}}]}}", "{spec: {volumes: [{name: v, hostPath: {path: /, type: ''}}]}}", []bool{true}, "an empty string"},
		{"{spec: {volumes: []}}", "{spec: {volumes: [{name: v, emptyDir: {}}]}}", []bool{false}, "a new member"},
		{inContainer("livenessProbe: {grpc: {port: 1}}"), inContainer("livenessProbe: {grpc: {port: 1, service: ''}}"), []bool{true}, "a field that the API got later"},
		{"{spec: {hostNetwork: true, containers: [{name: a, ports: [{containerPort: 1, hostPort: 1}]}]}}", "{spec: {hostNetwork: true, containers: [{name: a, ports: [{containerPort: 1}]}]}}", []bool{true}, "a host's port, which v1.28 left out"},
		{"{spec: {hostNetwork: true, containers: [{name: a, ports: [{containerPort: 1}]}]}}", "{spec: {containers: [{name: a, ports: [{containerPort: 1, hostPort: 1}]}]}}", []bool{false, false}, "by who leaves that network, a port is published"},
		{inContainer("ports: [{containerPort: 1, hostPort: 1}]"), inContainer("ports: [{containerPort: 1}]"), []bool{false}, "on the host's network only"},
		{
			"{spec: {hostNetwork: true, containers: [{name: a, ports: [{containerPort: 1, protocol: TCP}, {containerPort: 1, protocol: UDP}]}]}}",
			"{spec: {hostNetwork: true, containers: [{name: a, ports: [{containerPort: 1, hostPort: 1, protocol: TCP}, {containerPort: 1, hostPort: 1, protocol: UDP}]}]}}",
			[]bool{true}, "in a list that is shown whole",
		},
		{
			"{spec: {hostNetwork: true, containers: [{name: a, ports: [{containerPort: 1, protocol: TCP}, {containerPort: 1, protocol: UDP}]}]}}",
			"{spec: {hostNetwork: true, containers: [{name: a, ports: [{containerPort: 1, hostPort: 1, protocol: TCP}, {containerPort: 1, hostPort: 2, protocol: UDP}]}]}}",
			[]bool{false}, "with something else in it",
		},
		{"{spec: {serviceAccount: a, serviceAccountName: b}}", "{spec: {serviceAccount: b, serviceAccountName: b}}", []bool{false}, "what the server would put right, and no side lacks"},
		{"{spec: {tolerations: [{key: a, future: 1}]}}", "{spec: {tolerations: [{key: a}]}}", []bool{false}, "a list with a field that the types do not know"},
		{"{spec: {future: 1}}", "{spec: {}}", []bool{false}, "such a field"},
		{inContainer("tty: false"), inContainer(""), []bool{false}, "what the types leave out is no default"},
		{"{spec: {containers: a}}", "{spec: {containers: a, dnsPolicy: ClusterFirst}}", []bool{false}, "what is no template"},
		{"{$patch: replace, metadata: {creationTimestamp: null}, spec: {}}", "{metadata: {}, spec: {dnsPolicy: ClusterFirst}}", []bool{true}, "in any form"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			old, new := content(t, tt.old), content(t, tt.new)
			there, back := Diff(old, new), Diff(new, old)
			if diff := cmp.Diff(tt.want, Defaulted(there, old, new)); diff != "" {
				t.Errorf("of %v (-want +got):\n%s", there, diff)
			}
			if diff := cmp.Diff(tt.want, Defaulted(back, new, old)); diff != "" {
				t.Errorf("back, of %v (-want +got):\n%s", back, diff)
			}
		})
	}
}

// TestDefaultedLaws checks that everything that the server of a version adds to
// a template counts as a default, in both directions, and that the result for a
// difference does not depend on the others.
func TestDefaultedLaws(t *testing.T) {
	defaults, others := 0, 0
	for seed := range cases.Of(uint64(50)) {
		d := drawn{draw.Draw{Rand: rand.New(rand.NewPCG(seed, 3))}}
		plain := d.Template()
		full := plain.DeepCopy()
		Default(full, draw.Pick(d.Draw, []string{"", "v1.27.16"}))
		edited := full.DeepCopy()
		for range d.IntN(4) {
			d.Edit(edited)
		}
		stored := func(of *corev1.PodTemplateSpec) Content {
			c, err := Of(of, d.OneIn(2))
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		a, b, c := stored(plain), stored(full), stored(edited)
		for _, pair := range [][2]Content{{a, b}, {b, a}} {
			all := Diff(pair[0], pair[1])
			for i, ok := range Defaulted(all, pair[0], pair[1]) {
				if !ok && (all[i].Old.Absent() || all[i].New.Absent()) {
					t.Fatalf("seed %d: no default: %v", seed, all[i])
				}
			}
		}
		all := Diff(a, c)
		for i, ok := range Defaulted(all, a, c) {
			if alone := Defaulted(all[i:i+1], a, c)[0]; alone != ok {
				t.Fatalf("seed %d: a default: %t, and alone %t: %v", seed, ok, alone, all[i])
			}
			if ok {
				defaults++
			} else {
				others++
			}
		}
	}
	if defaults < cases.Least(425) || others < cases.Least(21) {
		t.Errorf("%d defaults and %d other differences: the law does not look at one of them", defaults, others)
	}
}
