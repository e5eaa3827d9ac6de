package source

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// TestDefaults: what the manifest does not say. The table has a row for each
// default, and rows for what is none.
func TestDefaults(t *testing.T) {
	spec := func(text string) *appsv1.DaemonSet {
		ds := new(appsv1.DaemonSet)
		if err := yaml.UnmarshalStrict([]byte(text), &ds.Spec); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return ds
	}
	const (
		container = "terminationMessagePath: /dev/termination-log, terminationMessagePolicy: File, imagePullPolicy: Always, image: a"
		probe     = "timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3"
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
		{"", inPod("serviceAccount: a"), wantPod("serviceAccount: a, serviceAccountName: a"), "two names of one field"},
		{"", inPod("serviceAccount: a, serviceAccountName: b"), wantPod("serviceAccount: b, serviceAccountName: b"), "of which the newer wins"},
		{"", inPod("overhead: {cpu: 0.0001}, resources: {limits: {cpu: 1.00001}, requests: {memory: 0.5}}"), wantPod("overhead: {cpu: 1m}, resources: {limits: {cpu: 1001m}, requests: {memory: 500m}}"), "a thousandth is the least"},
		{"", inPod("initContainers: [{image: a}], containers: [{image: a, resources: {limits: {cpu: 0.00001}, requests: {cpu: 0.00001}}}]"),
			wantPod("initContainers: [{" + container + "}], containers: [{" + container + ", resources: {limits: {cpu: 1m}, requests: {cpu: 1m}}}]"), "of containers of both sorts; limits are no requests in a template"},
		{"", inPod("containers: [{" + container + ", ports: [{containerPort: 1}, {containerPort: 2, protocol: UDP}]}]"), wantPod("containers: [{" + container + ", ports: [{containerPort: 1, protocol: TCP}, {containerPort: 2, protocol: UDP}]}]"), "a port's protocol"},
		{"", inPod("hostNetwork: true, containers: [{" + container + ", ports: [{containerPort: 1}]}]"), wantPod("hostNetwork: true, containers: [{" + container + ", ports: [{containerPort: 1, protocol: TCP}]}]"), "a host's port is not written down"},
		{"v1.27.16", inPod("hostNetwork: true, containers: [{" + container + ", ports: [{containerPort: 1}]}]"), wantPod("hostNetwork: true, containers: [{" + container + ", ports: [{containerPort: 1, hostPort: 1, protocol: TCP}]}]"), "before v1.28 it was"},
		{"v1.27.16", inPod("containers: [{" + container + ", ports: [{containerPort: 1}]}]"), wantPod("containers: [{" + container + ", ports: [{containerPort: 1, protocol: TCP}]}]"), "on the host's network only"},
		{"v1.28.0-rc.1", inPod("hostNetwork: true, containers: [{" + container + ", ports: [{containerPort: 1}]}]"), wantPod("hostNetwork: true, containers: [{" + container + ", ports: [{containerPort: 1, protocol: TCP}]}]"), "a candidate is of its release"},
		{"", inPod("containers: [{" + container + ", env: [{name: A, valueFrom: {fieldRef: {fieldPath: p}}}, {name: B, valueFrom: {fileKeyRef: {key: k}}}, {name: C, value: c}]}]"),
			wantPod("containers: [{" + container + ", env: [{name: A, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: p}}}, {name: B, valueFrom: {fileKeyRef: {key: k, optional: false}}}, {name: C, value: c}]}]"), "where a variable comes from"},
		{"", inPod("containers: [{" + container + ", startupProbe: {exec: {}}, livenessProbe: {httpGet: {port: 1}}, readinessProbe: {grpc: {port: 1}}}]"),
			wantPod("containers: [{" + container + ", startupProbe: {exec: {}, " + probe + "}, livenessProbe: {httpGet: {port: 1, path: /, scheme: HTTP}, " + probe + "}, readinessProbe: {grpc: {port: 1, service: \"\"}, " + probe + "}}]"), "three probes"},
		{"", inPod("containers: [{" + container + ", livenessProbe: {timeoutSeconds: 2, periodSeconds: 3, successThreshold: 4, failureThreshold: 5}}]"),
			wantPod("containers: [{" + container + ", livenessProbe: {timeoutSeconds: 2, periodSeconds: 3, successThreshold: 4, failureThreshold: 5}}]"), "of which nothing that is set changes"},
		{"", inPod("containers: [{" + container + ", lifecycle: {postStart: {httpGet: {port: 1}}, preStop: {httpGet: {port: 1, path: /x, scheme: HTTPS}}}}]"),
			wantPod("containers: [{" + container + ", lifecycle: {postStart: {httpGet: {port: 1, path: /, scheme: HTTP}}, preStop: {httpGet: {port: 1, path: /x, scheme: HTTPS}}}}]"), "hooks"},
		{"", inPod("volumes: [{name: a}, {name: b, hostPath: {path: /}}, {name: c, secret: {}}, {name: d, configMap: {}}, {name: e, downwardAPI: {items: [{path: p, fieldRef: {fieldPath: f}}, {path: q}]}}]"),
			wantPod("volumes: [{name: a, emptyDir: {}}, {name: b, hostPath: {path: /, type: \"\"}}, {name: c, secret: {defaultMode: 420}}, {name: d, configMap: {defaultMode: 420}}, {name: e, downwardAPI: {defaultMode: 420, items: [{path: p, fieldRef: {apiVersion: v1, fieldPath: f}}, {path: q}]}}]"), "volumes"},
		{"", inPod("volumes: [{name: a, projected: {sources: [{serviceAccountToken: {path: p}}, {downwardAPI: {items: [{path: p, fieldRef: {fieldPath: f}}]}}, {secret: {}}]}}]"),
			wantPod("volumes: [{name: a, projected: {defaultMode: 420, sources: [{serviceAccountToken: {path: p, expirationSeconds: 3600}}, {downwardAPI: {items: [{path: p, fieldRef: {apiVersion: v1, fieldPath: f}}]}}, {secret: {}}]}}]"), "a projected volume; its parts have no mode"},
		{"", inPod("volumes: [{name: a, ephemeral: {volumeClaimTemplate: {spec: {resources: {requests: {storage: 0.0001}}}}}}, {name: b, image: {reference: a}}, {name: c, ephemeral: {}}]"),
			wantPod("volumes: [{name: a, ephemeral: {volumeClaimTemplate: {spec: {volumeMode: Filesystem, resources: {requests: {storage: 1m}}}}}}, {name: b, image: {reference: a, pullPolicy: Always}}, {name: c, ephemeral: {}}]"), "newer volumes"},
		{"", inPod("volumes: [{name: a, iscsi: {lun: 0, iqn: i, targetPortal: t}}, {name: b, rbd: {monitors: [], image: i}}, {name: c, azureDisk: {diskName: d, diskURI: u}}, {name: d, scaleIO: {gateway: g, system: s, secretRef: {}}}]"),
			wantPod("volumes: [{name: a, iscsi: {lun: 0, iqn: i, targetPortal: t, iscsiInterface: default}}, {name: b, rbd: {monitors: [], image: i, pool: rbd, user: admin, keyring: /etc/ceph/keyring}}, {name: c, azureDisk: {diskName: d, diskURI: u, cachingMode: ReadWrite, fsType: ext4, kind: Shared, readOnly: false}}, {name: d, scaleIO: {gateway: g, system: s, secretRef: {}, storageMode: ThinProvisioned, fsType: xfs}}]"), "older volumes"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			got := spec(tt.text)
			defaultsOf(tt.version).set(got)
			if diff := cmp.Diff(spec(tt.want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			again := got.DeepCopy()
			defaultsOf(tt.version).set(again)
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

// TestStoredHasAllDefaults: what a real API server stored lacks none of them.
func TestStoredHasAllDefaults(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("testdata", "overlays", "*.json"))
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var r struct{ Live *appsv1.DaemonSet }
		if err := json.Unmarshal(raw, &r); err != nil {
			t.Fatal(err)
		}
		got := r.Live.DeepCopy()
		defaultsOf("").set(got)
		if diff := cmp.Diff(r.Live, got); diff != "" {
			t.Errorf("%s: (-stored +got):\n%s", file, diff)
		}
	}
}
