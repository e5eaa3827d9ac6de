package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-ds/kubectl-ds/internal/source"
	"github.com/kubectl-ds/kubectl-ds/internal/source/cluster"
	"github.com/kubectl-ds/kubectl-ds/internal/source/manifest"
	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// manifests is the folder of the manifests of the overlay's unit tests.
const manifests = "../../internal/source/testdata/manifests"

// gone, as the value of a change, removes the field.
const gone = "(gone)"

// change is a change of a manifest. The words of path are fields, names or numbers of list items,
// or + for a new item.
type change struct{ why, path, value string }

// everywhere are changes that are made to each manifest.
var everywhere = []change{
	{"another image", "spec template spec containers 0 image", "registry.example/changed:2"},
	{"an image without a tag, which is pulled always", "spec template spec containers 0 image", "registry.example/changed"},
	{"one more variable", "spec template spec containers 0 env +", "{name: ADDED, valueFrom: {fieldRef: {fieldPath: status.hostIP}}}"},
	{"one more container", "spec template spec containers +", "{name: added, image: registry.example/added:1, ports: [{containerPort: 1234, hostPort: 1234}], readinessProbe: {tcpSocket: {port: 1234}}}"},
	{"a probe of another sort", "spec template spec containers 0 livenessProbe", "{tcpSocket: {port: 81}, periodSeconds: 3}"},
	{"no probe", "spec template spec containers 0 livenessProbe", gone},
	{"no resources", "spec template spec containers 0 resources", gone},
	{"a limit", "spec template spec containers 0 resources limits", "{memory: 1500000k}"},
	{"no tolerations", "spec template spec tolerations", gone},
	{"one more toleration, in front", "spec template spec tolerations", "[{key: added, operator: Exists}, {operator: Exists, effect: NoSchedule}]"},
	{"hostNetwork off", "spec template spec hostNetwork", gone},
	{"hostNetwork on", "spec template spec hostNetwork", "true"},
	{"one more volume", "spec template spec volumes +", "{name: added}"},
	{"a volume less, the last", "spec template spec volumes -", gone},
	{"another service account", "spec template spec serviceAccountName", "another"},
	{"no service account", "spec template spec serviceAccountName", gone},
	{"an annotation of the template", "spec template metadata annotations example.com/added", "again"},
	{"no securityContext of a container", "spec template spec containers 0 securityContext", gone},
	{"a label of the object", "metadata labels example.com/added", "here"},
	{"no label of the object", "metadata labels", gone},
	{"an annotation of the object", "metadata annotations example.com/added", "here"},
	{"minReadySeconds", "spec minReadySeconds", "17"},
	{"maxUnavailable", "spec updateStrategy", "{type: RollingUpdate, rollingUpdate: {maxUnavailable: 33%}}"},
	{"another strategy", "spec updateStrategy", "{type: OnDelete}"},
	{"no strategy", "spec updateStrategy", gone},
	{"revisionHistoryLimit", "spec revisionHistoryLimit", "2"},
}

// own are changes that are made to one manifest each.
var own = map[string][]change{
	"cni.yaml": {
		{"an init container less", "spec template spec initContainers mount-bpffs", gone},
		{"a variable's value", "spec template spec containers node env LOG_LEVEL value", "debug"},
		{"a variable from elsewhere", "spec template spec containers node env IP", "{name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}"},
		{"a variable less, of the middle", "spec template spec containers node env NODENAME", gone},
		{"grace of 0 no more", "spec template spec terminationGracePeriodSeconds", gone},
		{"a probe's threshold", "spec template spec containers node livenessProbe failureThreshold", gone},
		{"another type of a host path", "spec template spec volumes var-run hostPath type", gone},
		{"envFrom no more", "spec template spec containers node envFrom", gone},
		{"no seccomp profile", "spec template spec securityContext", gone},
	},
	"ebpf.yaml": {
		{"a header of a probe less", "spec template spec containers agent livenessProbe httpGet httpHeaders 1", gone},
		{"a capability more", "spec template spec containers agent securityContext capabilities add +", "SYS_RESOURCE"},
		{"no affinity", "spec template spec affinity", gone},
		{"a port less", "spec template spec containers agent ports peer-service", gone},
		{"a digest no more", "spec template spec containers agent image", "registry.example/ebpf/agent@sha256:0000000000000000000000000000000000000000000000000000000000000000"},
		{"a projected source less", "spec template spec volumes tls projected sources 1", gone},
		{"the mode by default", "spec template spec volumes tls projected defaultMode", gone},
		{"an empty directory in memory", "spec template spec volumes tmp emptyDir medium", "Memory"},
		{"no hook after the start", "spec template spec containers agent lifecycle postStart", gone},
		{"a memory limit only", "spec template spec containers agent resources limits cpu", gone},
		{"cluster DNS by default", "spec template spec dnsPolicy", gone},
	},
	"overlay-net.json": {
		{"the older name of the service account", "spec template spec serviceAccount", "another"},
		{"neither name of it", "spec template spec serviceAccount", gone},
		{"another operating system", "spec template spec affinity nodeAffinity requiredDuringSchedulingIgnoredDuringExecution nodeSelectorTerms 0 matchExpressions 0 values", "[linux, windows]"},
		{"an argument", "spec template spec containers overlayd args +", "--iface=eth0"},
		{"arguments of an init container", "spec template spec initContainers install-cni args", "[-f, a, b]"},
		{"another source of a volume", "spec template spec volumes run", "{name: run, emptyDir: {}}"},
	},
	"csi-node.yaml": {
		{"a sidecar less", "spec template spec containers liveness-probe", gone},
		{"a probe's port", "spec template spec containers block-plugin livenessProbe httpGet port", "9808"},
		{"a value of an expression", "spec template spec affinity nodeAffinity requiredDuringSchedulingIgnoredDuringExecution nodeSelectorTerms 0 matchExpressions 1 values +", "a1.large"},
		{"a toleration less", "spec template spec tolerations 0", gone},
		{"no privileges", "spec template spec containers block-plugin securityContext privileged", gone},
		{"minReadySeconds no more", "spec minReadySeconds", gone},
		{"propagation of a mount", "spec template spec containers block-plugin volumeMounts kubelet-dir mountPropagation", gone},
	},
	"log-bit.yaml": {
		{"the checksum of a changed configuration", "spec template metadata annotations checksum/config", "'0000'"},
		{"a mount of the same volume less", "spec template spec containers log-bit volumeMounts 3", gone},
		{"a port's protocol", "spec template spec containers log-bit ports http protocol", "UDP"},
		{"a probe over TLS", "spec template spec containers log-bit livenessProbe httpGet scheme", "HTTPS"},
	},
	"vector.yaml": {
		{"a quantity in other words", "spec template spec containers vector resources limits memory", "1Gi"},
		{"a quantity finer than a thousandth", "spec template spec containers vector resources requests cpu", "\"0.2001\""},
		{"a sidecar that starts first no more", "spec template spec initContainers", gone},
		{"a surge less", "spec updateStrategy rollingUpdate maxSurge", "1"},
		{"a service to be asked", "spec template spec containers vector livenessProbe grpc service", "ready"},
		{"the audience of a token", "spec template spec volumes token projected sources 0 serviceAccountToken audience", "other"},
		{"how long a token lasts", "spec template spec volumes token projected sources 0 serviceAccountToken expirationSeconds", "7200"},
		{"a volume that was none gets a source", "spec template spec volumes scratch secret", "{secretName: s}"},
		{"a secret's variable by value", "spec template spec containers vector env VECTOR_TOKEN", "{name: VECTOR_TOKEN, value: t}"},
		{"an empty variable without a value", "spec template spec containers vector env EMPTY value", gone},
		{"no host aliases", "spec template spec hostAliases", gone},
		{"no DNS options", "spec template spec dnsConfig", gone},
		{"the group's files", "spec template spec securityContext fsGroup", gone},
	},
	"node-exporter.yaml": {
		{"an argument less", "spec template spec containers node-exporter args 3", gone},
		{"hostPID no more", "spec template spec hostPID", gone},
		{"another port of the host", "spec template spec containers rbac-proxy ports https", "{name: https, containerPort: 9200, hostPort: 9200}"},
		{"the proxy's limits", "spec template spec containers rbac-proxy resources limits", gone},
	},
	"gpu.yaml": {
		{"one of two terms less", "spec template spec affinity nodeAffinity requiredDuringSchedulingIgnoredDuringExecution nodeSelectorTerms 1", gone},
		{"another policy for latest", "spec template spec containers device-plugin imagePullPolicy", "IfNotPresent"},
		{"no runtime class", "spec template spec runtimeClassName", gone},
		{"processes apart", "spec template spec shareProcessNamespace", gone},
	},
	"kube-proxy.yaml": {
		{"defaults that were written down", "spec template spec restartPolicy", gone},
		{"a mode that was written down", "spec template spec volumes kube-proxy configMap defaultMode", gone},
		{"an empty securityContext", "spec template spec securityContext", gone},
		{"a version", "spec template spec containers kube-proxy image", "registry.example/kube-proxy:v1.38.0"},
	},
	"dns-cache.yaml": {
		{"one of two protocols less", "spec template spec containers node-cache ports 1", gone},
		{"another name of a port with two protocols", "spec template spec containers node-cache ports 0 name", "dns-udp"},
		{"a key more", "spec template spec volumes config-volume configMap items +", "{key: stub, path: stub}"},
		{"no keys", "spec template spec volumes config-volume configMap items", gone},
	},
}

// ambiguous are changes that managed fields cannot predict. The API copies each name of the service
// account to the other, so it is unknown which one the manifest had. A manifest with only defaults
// for the strategy looks like one without a strategy, so it is unknown whether they stay under
// another strategy.
var ambiguous = map[string]string{"overlay-net.json": "another service account", "cni.yaml": "another strategy", "kube-proxy.yaml": "another strategy"}

// everything, if set, runs all of it, which takes some minutes.
var everything = os.Getenv("MANIFESTS") == "all"

// TestManifests applies typical manifests with one change after the other and compares what the API
// server stores with the predictions of the overlay and the server-side dry run. There are no
// nodes, because the result does not depend on them.
func TestManifests(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := stage.New(t, stage.Options{})
	cluster, err := cluster.NewCluster(c.Config, time.Now)
	must(t, err)
	version, err := c.Client.Discovery().ServerVersion()
	must(t, err)
	files, err := filepath.Glob(filepath.Join(manifests, "*"))
	must(t, err)
	if len(files) != len(own) || len(files) < 8 {
		t.Fatalf("%d manifests, %d of them with changes of their own; want the same, and at least 8", len(files), len(own))
	}
	for _, by := range appliers(c) {
		t.Run(by.name, func(t *testing.T) {
			t.Parallel()
			must(t, c.CreateNamespace(ctx, by.namespace))
			var total tried
			t.Cleanup(func() { t.Logf("%s", &total) })
			for i, file := range files {
				t.Run(filepath.Base(file), func(t *testing.T) {
					t.Parallel()
					r := &rehearsal{c: c, cluster: cluster, version: version.GitVersion, by: by, name: filepath.Base(file), number: i}
					r.run(t, file)
					t.Logf("%s", &r.tried)
					if r.changed < 6 {
						t.Errorf("%d changes reached the API server, want at least 6", r.changed)
					}
					total.add(r.tried)
				})
			}
		})
	}
}

// tried counts comparisons.
type tried struct{ same, changed, refused, trials, invalid int }

var adding sync.Mutex

func (s *tried) add(o tried) {
	adding.Lock()
	defer adding.Unlock()
	s.same += o.same
	s.changed += o.changed
	s.refused += o.refused
	s.trials += o.trials
	s.invalid += o.invalid
}

func (s *tried) String() string {
	return fmt.Sprintf("applied: %d times nothing changed, %d changes, %d refused; dry runs with one field less: %d, and %d refused",
		s.same, s.changed, s.refused, s.trials, s.invalid)
}

// applier applies a manifest in one of the usual ways.
type applier struct {
	name, namespace string
	method          manifest.Method
	// apply applies the manifest in a file, whose DaemonSet is ds.
	apply func(ctx context.Context, file string, ds map[string]any) error
	// send sends the same requests without a process.
	send func(ctx context.Context, ds map[string]any, o metav1.PatchOptions) (*appsv1.DaemonSet, error)
}

func appliers(c *stage.Cluster) []*applier {
	kubectl := func(namespace string, flags ...string) func(context.Context, string, map[string]any) error {
		return func(ctx context.Context, file string, _ map[string]any) error {
			r, err := c.Kubectl(ctx, append([]string{"apply", "-n", namespace, "-f", file}, flags...)...)
			if err == nil && r.Code != 0 {
				err = fmt.Errorf("kubectl apply: %s", r.Stderr)
			}
			return err
		}
	}
	const byApply, byServer = "by-apply", "by-server"
	h := &helm{c: c, namespace: "by-helm", last: map[string][]byte{}}
	return []*applier{
		{
			name: "kubectl apply", namespace: byApply, method: manifest.MethodLastApplied, apply: kubectl(byApply),
			send: func(ctx context.Context, ds map[string]any, o metav1.PatchOptions) (*appsv1.DaemonSet, error) {
				ds = copyOf(ds)
				edit(ds, change{path: "metadata namespace", value: byApply})
				raw, err := json.Marshal(ds)
				if err != nil {
					return nil, err
				}
				live, err := c.Client.AppsV1().DaemonSets(byApply).Get(ctx, nameOf(ds), metav1.GetOptions{})
				if err != nil {
					return nil, err
				}
				last := live.Annotations[corev1.LastAppliedConfigAnnotation]
				put(ds, []string{"metadata", "annotations", corev1.LastAppliedConfigAnnotation}, string(raw))
				if raw, err = json.Marshal(ds); err != nil {
					return nil, err
				}
				o.FieldManager = "kubectl-client-side-apply"
				return threeWay(ctx, c, live, []byte(last), raw, o)
			},
		},
		{
			name: "kubectl apply --server-side", namespace: byServer, method: manifest.MethodManagedFields, apply: kubectl(byServer, "--server-side"),
			send: func(ctx context.Context, ds map[string]any, o metav1.PatchOptions) (*appsv1.DaemonSet, error) {
				raw, err := json.Marshal(ds)
				if err != nil {
					return nil, err
				}
				o.FieldManager = "kubectl"
				return c.Client.AppsV1().DaemonSets(byServer).Patch(ctx, nameOf(ds), types.ApplyPatchType, raw, o)
			},
		},
		{name: "helm", namespace: h.namespace, method: manifest.MethodManagedFields, apply: h.apply, send: h.send},
	}
}

// threeWay patches like clients that know what they applied last.
func threeWay(ctx context.Context, c *stage.Cluster, live *appsv1.DaemonSet, last, raw []byte, o metav1.PatchOptions) (*appsv1.DaemonSet, error) {
	live.TypeMeta = metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"}
	current, err := json.Marshal(live)
	if err != nil {
		return nil, err
	}
	schema, err := strategicpatch.NewPatchMetaFromStruct(appsv1.DaemonSet{})
	if err != nil {
		return nil, err
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(last, raw, current, schema, true)
	if err != nil {
		return nil, err
	}
	return c.Client.AppsV1().DaemonSets(live.Namespace).Patch(ctx, live.Name, types.StrategicMergePatchType, patch, o)
}

// helm applies like Helm 3, which stores what it applied last.
type helm struct {
	c         *stage.Cluster
	namespace string
	mu        sync.Mutex
	last      map[string][]byte // by the name of the DaemonSet
}

func (h *helm) apply(ctx context.Context, _ string, ds map[string]any) error {
	if h.lastOf(ds) != nil {
		_, err := h.send(ctx, ds, metav1.PatchOptions{})
		return err
	}
	raw, err := h.released(ds)
	if err != nil {
		return err
	}
	h.keep(ds, raw)
	return h.c.Client.AppsV1().RESTClient().Post().Namespace(h.namespace).Resource("daemonsets").Param("fieldManager", "helm").
		SetHeader("Content-Type", "application/json").Body(raw).Do(ctx).Error()
}

func (h *helm) send(ctx context.Context, ds map[string]any, o metav1.PatchOptions) (*appsv1.DaemonSet, error) {
	raw, err := h.released(ds)
	if err != nil {
		return nil, err
	}
	live, err := h.c.Client.AppsV1().DaemonSets(h.namespace).Get(ctx, nameOf(ds), metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	o.FieldManager = "helm"
	got, err := threeWay(ctx, h.c, live, h.lastOf(ds), raw, o)
	if err == nil && len(o.DryRun) == 0 {
		h.keep(ds, raw)
	}
	return got, err
}

func (h *helm) lastOf(ds map[string]any) []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last[nameOf(ds)]
}

func (h *helm) keep(ds map[string]any, raw []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last[nameOf(ds)] = raw
}

// released returns the manifest with what Helm adds to its templates.
func (h *helm) released(ds map[string]any) ([]byte, error) {
	ds = copyOf(ds)
	edit(ds, change{path: "metadata namespace", value: h.namespace})
	edit(ds, change{path: "metadata annotations meta.helm.sh/release-name", value: "release"})
	edit(ds, change{path: "metadata annotations meta.helm.sh/release-namespace", value: h.namespace})
	edit(ds, change{path: "metadata labels app.kubernetes.io/managed-by", value: "Helm"})
	return json.Marshal(ds)
}

// rehearsal compares predictions and results for one manifest and one applier.
type rehearsal struct {
	c       *stage.Cluster
	cluster *cluster.Cluster
	version string // of the API server
	by      *applier
	name    string
	number  int // among the manifests
	dir     string
	last    *appsv1.DaemonSet // as it was last read
	tried

	record recording
}

// recording is the part of a rehearsal that the unit tests of the overlay use.
type recording struct {
	Applier string            `json:"applier"`
	File    string            `json:"file"`
	Live    *appsv1.DaemonSet `json:"live"`
	Steps   []step            `json:"steps"`
}

type step struct {
	Why      string               `json:"why"`
	Manifest map[string]any       `json:"manifest"`
	Spec     appsv1.DaemonSetSpec `json:"spec"`
}

func (r *rehearsal) run(t *testing.T, file string) {
	ctx := t.Context()
	r.dir = t.TempDir()
	text, err := os.ReadFile(file)
	must(t, err)
	text = namespaceLine.ReplaceAll(text, []byte("${1}"+r.by.namespace+"${2}"))
	base := daemonSetIn(t, text)

	// At first there is none.
	path := filepath.Join(r.dir, filepath.Base(file))
	must(t, os.WriteFile(path, text, 0o600))
	m := r.read(t, path)
	want, err := manifest.Overlay(nil, m, r.version)
	must(t, err)
	if want.Method != manifest.MethodNew {
		t.Errorf("the method is %s, want %s", want.Method, manifest.MethodNew)
	}
	dry, err := r.cluster.DryRun(ctx, m)
	must(t, err)
	must(t, r.by.apply(ctx, path, base))
	live := r.live(t, m.Ref, true)
	r.equal(t, "created", want.DaemonSet, live)
	r.equal(t, "created, dry run", dry.DaemonSet, live)
	r.record = recording{Applier: r.by.name, File: r.name, Live: live}

	r.rehearse(t, "the same again", text, base, true)
	if r.by.method == manifest.MethodManagedFields || everything {
		r.lessOfEverything(t, base)
	}
	for i, ch := range slices.Concat(own[r.name], everywhere) {
		changed := copyOf(base)
		if !edit(changed, ch) || r.by.name == "helm" && ambiguous[r.name] == ch.why {
			continue
		}
		// A process is slow. Over all manifests each change in everywhere has one.
		process := (i+r.number)%len(own) == 0 || everything
		if r.rehearse(t, ch.why, toYAML(t, changed), changed, process) {
			r.rehearse(t, ch.why+", and back", text, base, false)
		}
	}
	r.write(t)
}

// rehearse predicts the result of a text, applies it, and compares. It uses a process, if there is
// one, or the requests that it would send. It reports whether the API server accepted it.
func (r *rehearsal) rehearse(t *testing.T, why string, text []byte, ds map[string]any, process bool) bool {
	t.Helper()
	ctx := t.Context()
	path := filepath.Join(r.dir, "manifest"+filepath.Ext(r.name))
	must(t, os.WriteFile(path, text, 0o600))
	m := r.read(t, path)
	before := r.last
	laid, err := manifest.Overlay(before, m, r.version)
	if err != nil {
		t.Errorf("%s: %v", why, err)
		return false
	}
	if laid.Method != r.by.method {
		t.Errorf("%s: the method is %s, want %s", why, laid.Method, r.by.method)
	}
	want := laid.DaemonSet
	back := strings.HasSuffix(why, ", and back")
	dry, dryErr := laid, error(nil)
	if !back {
		dry, dryErr = r.cluster.DryRun(ctx, m)
	}
	if process {
		err = r.by.apply(ctx, path, ds)
	} else {
		_, err = r.by.send(ctx, ds, metav1.PatchOptions{})
	}
	if err != nil {
		if r.refused++; dryErr == nil {
			t.Errorf("%s: refused, but not in the dry run: %v", why, err)
		}
		return false
	}
	if dryErr != nil {
		t.Errorf("%s: only the dry run was refused: %v", why, dryErr)
		return true
	}
	after := r.live(t, m.Ref, process)
	r.equal(t, why, want, after)
	r.equal(t, why+", dry run", dry.DaemonSet, after)

	moves := !equality.Semantic.DeepEqual(before.Spec, want.Spec)
	if moved := after.Generation != before.Generation; moved != moves {
		t.Errorf("%s: generation %d became %d, but the overlay changes the spec: %v", why, before.Generation, after.Generation, moves)
	}
	template := func(ds *appsv1.DaemonSet) string { return ds.Annotations[appsv1.DeprecatedTemplateGeneration] }
	rolls := !equality.Semantic.DeepEqual(before.Spec.Template, want.Spec.Template)
	if rolled := template(after) != template(before); rolled != rolls {
		t.Errorf("%s: the template's generation %s became %s, but the overlay changes the template: %v", why, template(before), template(after), rolls)
	}
	if !moves && equality.Semantic.DeepEqual(before.Labels, want.Labels) && equality.Semantic.DeepEqual(before.Annotations, want.Annotations) {
		r.same++
	} else {
		r.changed++
		if !back && slices.ContainsFunc(own[r.name], func(ch change) bool { return ch.why == why }) {
			r.record.Steps = append(r.record.Steps, step{why, ds, after.Spec})
		}
	}
	return true
}

// lessOfEverything removes each field and each item of the manifest in turn. Nothing is stored.
func (r *rehearsal) lessOfEverything(t *testing.T, base map[string]any) {
	ctx := t.Context()
	var paths [][]string
	var walk func(at []string, v any)
	walk = func(at []string, v any) {
		if len(at) > 0 {
			paths = append(paths, slices.Clone(at))
		}
		switch v := v.(type) {
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				walk(append(at, k), v[k])
			}
		case []any:
			for i := range v {
				walk(append(at, strconv.Itoa(i)), v[i])
			}
		}
	}
	walk([]string{"spec"}, base["spec"])
	walk([]string{"metadata", "labels"}, base["metadata"].(map[string]any)["labels"])
	live := r.last
	for _, path := range paths {
		why := "without " + strings.Join(path, " ")
		less := copyOf(base)
		edit(less, change{path: strings.Join(path, " "), value: gone})
		found, err := manifest.ReadManifests(ctx, []string{"-"}, "", bytes.NewReader(toYAML(t, less)))
		if err != nil {
			continue // it lacks a required field
		}
		m := found[0]
		m.Namespace = r.by.namespace
		want, overlayErr := manifest.Overlay(live, m, r.version)
		got, err := r.by.send(ctx, less, metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		switch {
		case err != nil:
			r.invalid++
		case overlayErr != nil:
			t.Errorf("%s: %v", why, overlayErr)
		default:
			r.trials++
			r.equal(t, why, want.DaemonSet, got)
		}
	}
}

// read returns the only DaemonSet of a file.
func (r *rehearsal) read(t *testing.T, path string) manifest.Manifest {
	t.Helper()
	found, err := manifest.ReadManifests(t.Context(), []string{path}, "", nil)
	must(t, err)
	if len(found) != 1 {
		t.Fatalf("%d DaemonSets in %s", len(found), path)
	}
	if found[0].Namespace == "" {
		found[0].Namespace = r.by.namespace
	}
	return found[0]
}

// live reads the DaemonSet, either like the plugin or with one request.
func (r *rehearsal) live(t *testing.T, ref source.Ref, plugin bool) *appsv1.DaemonSet {
	t.Helper()
	if !plugin {
		ds, err := r.c.Client.AppsV1().DaemonSets(ref.Namespace).Get(t.Context(), ref.Name, metav1.GetOptions{})
		must(t, err)
		r.last = ds
		return ds
	}
	s, err := r.cluster.Read(t.Context(), ref)
	must(t, err)
	r.last = s.DaemonSet
	return r.last
}

// equal compares everything that an overlay promises.
func (r *rehearsal) equal(t *testing.T, why string, want, got *appsv1.DaemonSet) {
	t.Helper()
	if !equality.Semantic.DeepEqual(want.Spec, got.Spec) {
		t.Errorf("%s: the spec\nwas said to be %s\nand is         %s", why, toJSON(t, want.Spec), toJSON(t, got.Spec))
	}
	for _, pair := range [][2]map[string]string{{want.Labels, got.Labels}, {want.Annotations, got.Annotations}} {
		said, is := maps.Clone(pair[0]), maps.Clone(pair[1])
		for _, m := range []map[string]string{said, is} {
			maps.DeleteFunc(m, func(k, v string) bool {
				return k == corev1.LastAppliedConfigAnnotation || k == appsv1.DeprecatedTemplateGeneration ||
					strings.HasPrefix(k, "meta.helm.sh/") || k == "app.kubernetes.io/managed-by"
			})
		}
		if !equality.Semantic.DeepEqual(said, is) {
			t.Errorf("%s: labels or annotations were said to be %v, and are %v", why, said, is)
		}
	}
}

// recorded lists the rehearsals that the unit tests use.
var recorded = map[string]string{
	"vector.yaml kubectl apply":                "vector-apply.json",
	"ebpf.yaml kubectl apply --server-side":    "ebpf-server.json",
	"csi-node.yaml helm":                       "csi-node-helm.json",
	"overlay-net.json kubectl apply":           "overlay-net-apply.json",
	"log-bit.yaml kubectl apply --server-side": "log-bit-server.json",
}

// write writes the recording if the unit tests use it and if recordings are to be written.
func (r *rehearsal) write(t *testing.T) {
	name := recorded[r.name+" "+r.by.name]
	if os.Getenv("RECORD_OVERLAYS") == "" || name == "" {
		return
	}
	raw, err := json.Marshal(r.record)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(manifests, "..", "overlays", name), append(raw, '\n'), 0o644))
}

var namespaceLine = regexp.MustCompile(`(?m)(^ +namespace: |"namespace": ")[a-z-]+("|$)`)

// daemonSetIn returns the DaemonSet of a manifest.
func daemonSetIn(t *testing.T, text []byte) map[string]any {
	t.Helper()
	d := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		var o map[string]any
		if err := d.Decode(&o); err == io.EOF {
			t.Fatal("no DaemonSet")
		} else {
			must(t, err)
		}
		items, _ := o["items"].([]any)
		for _, o := range append(items, o) {
			if o, ok := o.(map[string]any); ok && o["kind"] == "DaemonSet" {
				return o
			}
		}
	}
}

// edit makes a change and reports whether it changed anything.
func edit(o map[string]any, ch change) bool {
	var value any
	if ch.value != gone {
		if err := yaml.Unmarshal([]byte(ch.value), &value); err != nil {
			panic(err)
		}
	}
	before := fmt.Sprint(o)
	put(o, strings.Fields(ch.path), value)
	return fmt.Sprint(o) != before
}

// put returns v with the value at the path, or without it if the value is nil.
func put(v any, path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	word, rest := path[0], path[1:]
	if l, ok := v.([]any); ok || word == "+" {
		i := slices.IndexFunc(l, func(item any) bool { m, _ := item.(map[string]any); return m["name"] == word })
		switch n, err := strconv.Atoi(word); {
		case i >= 0:
		case word == "+":
			return append(slices.Clone(l), value)
		case word == "-":
			i = len(l) - 1
		case err == nil && n < len(l):
			i = n
		default:
			return l
		}
		if l[i] = put(l[i], rest, value); l[i] == nil {
			return slices.Delete(l, i, i+1)
		}
		return l
	}
	m, _ := v.(map[string]any)
	if m == nil && value == nil {
		return v
	}
	if m == nil {
		m = map[string]any{}
	}
	if item := put(m[word], rest, value); item == nil {
		delete(m, word)
	} else {
		m[word] = item
	}
	return m
}

func copyOf(o map[string]any) map[string]any {
	raw, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		panic(err)
	}
	return out
}

func nameOf(o map[string]any) string { return o["metadata"].(map[string]any)["name"].(string) }

func toYAML(t *testing.T, o any) []byte {
	t.Helper()
	text, err := yaml.Marshal(o)
	must(t, err)
	return text
}

func toJSON(t *testing.T, o any) string {
	t.Helper()
	raw, err := json.Marshal(o)
	must(t, err)
	return string(raw)
}
