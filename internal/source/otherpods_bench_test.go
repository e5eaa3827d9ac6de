package source_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"

	"github.com/kubectl-ds/kubectl-ds/internal/source/cluster"
	"github.com/kubectl-ds/kubectl-ds/pkg/snapshot"
)

const (
	largeNodes = 5000
	largePods  = 50_000

	mostTimesMemory = 2 // maximum factor for the memory of a read with rows
)

// BenchmarkMemory reports the peak memory of a process that reads a DaemonSet on 5,000 nodes, without and with the
// rows of 50,000 other pods. It fails if the ratio is above 2. Each process runs this program again.
func BenchmarkMemory(b *testing.B) {
	server := httptest.NewServer(largeCluster{})
	defer server.Close()
	peak := func(rows bool) float64 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "LARGE_CLUSTER="+server.URL, fmt.Sprintf("LARGE_ROWS=%t", rows))
		out, err := cmd.CombinedOutput()
		kB := peakSize.FindSubmatch(out) // the kernel's value for a child starts with the size of its parent
		if err != nil || kB == nil {
			b.Fatalf("%v: %s", err, out)
		}
		n, _ := strconv.Atoi(string(kB[1]))
		return float64(n) / 1024
	}
	compare(b, peak)
}

// BenchmarkMemoryOfPlan does the same for the whole command: plan-rollout for another image, without and with --fit.
func BenchmarkMemoryOfPlan(b *testing.B) {
	server := httptest.NewServer(largeCluster{})
	defer server.Close()
	plugin := filepath.Join(b.TempDir(), "kubectl-ds")
	if out, err := exec.Command("go", "build", "-o", plugin, "../../cmd/kubectl-ds").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	compare(b, func(fit bool) float64 {
		args := []string{"plan-rollout", "agent", "-n", "kube-system", "--server", server.URL, "--kubeconfig", os.DevNull, "--image", "*=example/agent:2", "-o", "json", fmt.Sprintf("--fit=%t", fit)}
		// started through this program, because the kernel includes the size of the parent
		cmd := exec.Command(os.Args[0], append([]string{plugin}, args...)...)
		cmd.Env = append(os.Environ(), "LARGE_COMMAND=true")
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil {
			b.Fatalf("%v: %s", err, &errs)
		}
		answer := out.String()
		if rows := strings.Contains(answer, `"OtherPodsStay"`); rows != fit || strings.Contains(answer, `"NewPodsFit"`) || !strings.Contains(answer, `"replaces": 5000`) {
			b.Fatalf("with --fit=%t: the answer says something else: %d bytes\n%s", fit, len(answer), &errs)
		}
		kB := peakSize.FindStringSubmatch(errs.String())
		n, _ := strconv.Atoi(kB[1])
		return float64(n) / 1024
	})
}

// compare reports the median of the peak memory of both processes. It fails if the ratio is too high.
func compare(b *testing.B, peak func(with bool) float64) {
	b.Helper()
	var without, with []float64
	for b.Loop() {
		without, with = append(without, peak(false)), append(with, peak(true))
	}
	median := func(all []float64) float64 { slices.Sort(all); return all[len(all)/2] }
	b.ReportMetric(median(without), "without-MB")
	b.ReportMetric(median(with), "with-MB")
	ratio := median(with) / median(without)
	b.ReportMetric(ratio, "ratio")
	if ratio > mostTimesMemory {
		b.Errorf("rows take %.2f times the memory, at most %d are allowed", ratio, mostTimesMemory)
	}
}

var peakSize = regexp.MustCompile(`VmHWM:\s*(\d+) kB`)

// TestMain runs this program as a child process of BenchmarkMemory, BenchmarkMemoryOfPlan or TestEndlessAnswers if
// they request it.
func TestMain(m *testing.M) {
	if address := os.Getenv("LARGE_CLUSTER"); address != "" {
		if err := readLarge(address, os.Getenv("LARGE_ROWS") == "true"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if address := os.Getenv("ENDLESS_CLUSTER"); address != "" {
		sayEndless(address)
		os.Exit(0)
	}
	if os.Getenv("LARGE_COMMAND") != "" {
		os.Exit(runLarge(os.Args[1:]))
	}
	flag.Parse()
	if flag.Lookup("test.fuzz").Value.String() == "" { // the flag also sets the number of fuzz workers
		if err := flag.Set("test.parallel", "16"); err != nil { // parallel tests of this package wait for timeouts
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// runLarge runs a command, and prints the peak memory of its process after its output.
func runLarge(args []string) int {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "KUBE") })
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// only some systems have this field
	used := reflect.ValueOf(cmd.ProcessState.SysUsage()).Elem().FieldByName("Maxrss")
	fmt.Fprintf(os.Stderr, "VmHWM: %d kB\n", used.Int())
	return 0
}

// readLarge reads the cluster at an address, and prints the peak memory of the process.
func readLarge(address string, rows bool) error {
	debug.SetGCPercent(100)
	c, err := cluster.NewCluster(&rest.Config{Host: address, QPS: -1}, func() time.Time { return noon })
	if err != nil {
		return err
	}
	s, err := c.Read(background, agent)
	if err != nil {
		return err
	}
	all := []*snapshot.Snapshot{s}
	if rows {
		if all, err = c.AddOtherPods(background, all, nil); err != nil {
			return err
		}
		if rows := len(all[0].OtherPods.Pods); rows != largePods {
			return fmt.Errorf("%d rows", rows)
		}
	}
	if len(s.Nodes) != largeNodes || len(s.Pods) != largeNodes || len(all[0].Gaps) > 0 {
		return fmt.Errorf("%d nodes, %d pods, gaps %v", len(s.Nodes), len(s.Pods), all[0].Gaps)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return fmt.Errorf("the benchmark needs Linux: %w", err)
	}
	fmt.Printf("%s\n", peakSize.Find(status))
	runtime.KeepAlive(all)
	return nil
}

// largeCluster returns objects with the size of those in real clusters. It creates each page on request.
type largeCluster struct{}

func (largeCluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Date", noon.Format(http.TimeFormat))
	path, q := r.URL.Path, r.URL.Query()
	from, _ := strconv.Atoi(q.Get("continue"))
	page := func(total int, add func(i int)) metav1.ListMeta {
		to := min(total, from+cluster.DefaultPage)
		for i := from; i < to; i++ {
			add(i)
		}
		if to == total {
			return metav1.ListMeta{}
		}
		return metav1.ListMeta{Continue: strconv.Itoa(to)}
	}
	var answer kruntime.Object
	switch {
	case path == "/version":
		fmt.Fprint(w, `{"major":"1","minor":"37","gitVersion":"v1.37.1"}`)
		return
	case strings.HasSuffix(path, "/daemonsets/agent"):
		answer = largeDaemonSet()
	case strings.HasSuffix(path, "/nodes"):
		list := &corev1.NodeList{}
		list.ListMeta = page(largeNodes, func(i int) { list.Items = append(list.Items, largeNode(i)) })
		answer = list
	case strings.HasSuffix(path, "/namespaces/kube-system/pods"):
		list := &corev1.PodList{}
		list.ListMeta = page(largeNodes, func(i int) { list.Items = append(list.Items, largePod("kube-system", "agent", i)) })
		answer = list
	case strings.HasSuffix(path, "/pods"):
		list := &corev1.PodList{}
		list.ListMeta = page(largePods+largeNodes, func(i int) {
			namespace, app := fmt.Sprintf("team-%02d", i%40), fmt.Sprintf("service-%03d", i%700)
			if i >= largePods {
				namespace, app = "kube-system", "agent"
			}
			list.Items = append(list.Items, largePod(namespace, app, i))
		})
		answer = list
	case strings.HasSuffix(path, "/poddisruptionbudgets"):
		list := &policyv1.PodDisruptionBudgetList{}
		for i := range 700 {
			o := policyv1.PodDisruptionBudget{ObjectMeta: largeMeta(fmt.Sprintf("team-%02d", i%40), fmt.Sprintf("service-%03d", i), "")}
			o.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprintf("service-%03d", i)}}
			list.Items = append(list.Items, o)
		}
		answer = list
	case strings.HasSuffix(path, "/controllerrevisions"):
		ds := largeDaemonSet()
		content, _ := json.Marshal(ds.Spec.Template) // a template can always be encoded
		answer = &appsv1.ControllerRevisionList{Items: []appsv1.ControllerRevision{{
			ObjectMeta: largeMeta("kube-system", "agent-1", "agent"), Revision: 1, Data: kruntime.RawExtension{Raw: []byte(`{"spec":{"template":` + strings.Replace(string(content), "{", `{"$patch":"replace",`, 1) + `}}`)},
		}}}
	case strings.HasSuffix(path, "/namespaces/kube-system"):
		answer = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system"}}
	case strings.HasSuffix(path, "/serviceaccounts/default"):
		answer = &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "default"}}
	default:
		answer = emptyLists[path[strings.LastIndexByte(path, '/')+1:]]
	}
	(&apiServer{}).encode(w, http.StatusOK, kruntime.ContentTypeProtobuf, answer)
}

var emptyLists = map[string]kruntime.Object{
	"events": &corev1.EventList{}, "resourcequotas": &corev1.ResourceQuotaList{}, "limitranges": &corev1.LimitRangeList{}, "priorityclasses": &schedulingv1.PriorityClassList{},
	"validatingwebhookconfigurations": &admissionv1.ValidatingWebhookConfigurationList{}, "mutatingwebhookconfigurations": &admissionv1.MutatingWebhookConfigurationList{},
	"validatingadmissionpolicybindings": &admissionv1.ValidatingAdmissionPolicyBindingList{}, "mutatingadmissionpolicybindings": &admissionv1.MutatingAdmissionPolicyBindingList{},
}

func largeDaemonSet() *appsv1.DaemonSet {
	ds := newOne()
	ds.Name, ds.UID, ds.Generation = "agent", "uid-of-ds-agent", 1
	ds.Spec.Selector.MatchLabels = map[string]string{"app": "agent"}
	ds.Spec.Template.Labels = ds.Spec.Selector.MatchLabels
	share := intstr.FromString("10%")
	ds.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType, RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &share}}
	ds.Spec.Template.Spec.Containers = []corev1.Container{{Name: "agent", Image: "example/agent:1", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("500m")}}}}
	return ds
}

func largeMeta(namespace, name, app string) metav1.ObjectMeta {
	at := metav1.NewTime(noon)
	yes := true
	kind := map[bool]string{true: "DaemonSet", false: "ReplicaSet"}[app == "agent"]
	return metav1.ObjectMeta{
		Namespace: namespace, Name: name, UID: types.UID("6b9f0c3e-5a17-4c0e-9d1e-" + name), ResourceVersion: "123456789", CreationTimestamp: at,
		Labels: map[string]string{
			"app": app, "app.kubernetes.io/name": app, "app.kubernetes.io/instance": app + "-production", "app.kubernetes.io/managed-by": "Helm", "pod-template-hash": "5d4f8c7b9d", "controller-revision-hash": "1",
		},
		Annotations:     map[string]string{"checksum/config": strings.Repeat("0123456789abcdef", 4), "cni.example.com/status": strings.Repeat(`{"interface":"eth0","ips":["10.0.0.1"]}`, 6)},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: app + "-5d4f8c7b9d", UID: types.UID("uid-of-ds-" + app), Controller: &yes}},
		ManagedFields: []metav1.ManagedFieldsEntry{
			{Manager: "kube-controller-manager", Operation: "Update", Time: &at, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(strings.Repeat(`{"f:metadata":{"f:labels":{}}}`, 50))},
			{Manager: "kubelet", Operation: "Update", Time: &at, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(strings.Repeat(`{"f:status":{"f:conditions":{}}}`, 40)), Subresource: "status"},
		},
	}
}

func largeNode(i int) corev1.Node {
	n := corev1.Node{ObjectMeta: largeMeta("", fmt.Sprintf("ip-10-0-%d-%d.eu-central-1.compute.internal", i/250, i%250), "node")}
	n.OwnerReferences = nil
	for j := range 15 {
		n.Labels[fmt.Sprintf("topology.example.com/label-%02d", j)] = fmt.Sprintf("value-%d", i%(j+1))
	}
	for j := range 50 {
		n.Status.Images = append(n.Status.Images, corev1.ContainerImage{Names: []string{fmt.Sprintf("registry.example.com/team/image-%d@sha256:%064d", j, j)}, SizeBytes: 1})
	}
	for _, kind := range []corev1.NodeConditionType{corev1.NodeReady, corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure} {
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: kind, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "kubelet is posting ready status", LastTransitionTime: metav1.NewTime(noon)})
	}
	n.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("15890m"), "memory": resource.MustParse("60Gi"), "pods": resource.MustParse("110"), "ephemeral-storage": resource.MustParse("90Gi")}
	n.Status.NodeInfo = corev1.NodeSystemInfo{KubeletVersion: "v1.37.1", KernelVersion: "6.12.30-amd64", ContainerRuntimeVersion: "containerd://2.2.1", OSImage: "Debian GNU/Linux 13", OperatingSystem: "linux", Architecture: "amd64"}
	return n
}

func largePod(namespace, app string, i int) corev1.Pod {
	p := corev1.Pod{ObjectMeta: largeMeta(namespace, fmt.Sprintf("%s-5d4f8c7b9d-%05d", app, i), app)}
	node := i % largeNodes
	p.Spec.NodeName = fmt.Sprintf("ip-10-0-%d-%d.eu-central-1.compute.internal", node/250, node%250)
	priority := int32(1000)
	p.Spec.Priority, p.Spec.SchedulerName, p.Spec.ServiceAccountName = &priority, "default-scheduler", app
	requests := corev1.ResourceList{"cpu": resource.MustParse("250m"), "memory": resource.MustParse("512Mi")}
	for j := range 2 {
		c := corev1.Container{Name: fmt.Sprintf("container-%d", j), Image: "registry.example.com/team/" + app + ":1.2.3", Resources: corev1.ResourceRequirements{Requests: requests, Limits: requests}}
		for k := range 15 {
			c.Env = append(c.Env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%02d", k), Value: "a value of some length"})
		}
		for k := range 4 {
			c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: fmt.Sprintf("volume-%d", k), MountPath: fmt.Sprintf("/var/run/volume-%d", k)})
		}
		p.Spec.Containers = append(p.Spec.Containers, c)
		yes := true
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, ImageID: c.Image + "@sha256:" + strings.Repeat("0", 64), ContainerID: "containerd://" + strings.Repeat("0", 64), Ready: true, Started: &yes,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(noon)}}, AllocatedResources: requests, Resources: &corev1.ResourceRequirements{Requests: requests, Limits: requests},
		})
	}
	for k := range 4 {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: fmt.Sprintf("volume-%d", k), VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: app}}}})
	}
	for k := range 6 {
		p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: fmt.Sprintf("node.kubernetes.io/taint-%d", k), Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute})
	}
	at := metav1.NewTime(noon)
	p.Status.Phase, p.Status.StartTime = corev1.PodRunning, &at
	for _, kind := range []corev1.PodConditionType{corev1.PodReady, corev1.PodInitialized, corev1.PodScheduled, corev1.ContainersReady} {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: at})
	}
	return p
}
