package large

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Dump writes to a file what "kubectl get ds,nodes,pods,controllerrevisions -o json" prints of a cluster with so many
// nodes and one DaemonSet, all of whose pods run. Who wrote which field is not in it.
func Dump(path string, nodes int) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if e := file.Close(); err == nil {
			err = e
		}
	}()
	w := bufio.NewWriter(file)
	if err := dump(w, nodes); err != nil {
		return err
	}
	return w.Flush()
}

func dump(w io.Writer, nodes int) error {
	size := Size{Nodes: nodes, DaemonSets: 1, Namespaces: 1}
	made := metav1.NewTime(began.Add(-time.Hour))
	ds := daemonSet(size.Namespace(0), size.DaemonSet(0), "v1.9.0")
	ds.UID, ds.Generation, ds.CreationTimestamp = "9c1d5f0e-7c1b-4c55-9a86-0f3d1f6f2b11", 1, made
	ds.Status = appsv1.DaemonSetStatus{
		CurrentNumberScheduled: int32(nodes), DesiredNumberScheduled: int32(nodes), UpdatedNumberScheduled: int32(nodes), NumberReady: int32(nodes), NumberAvailable: int32(nodes), ObservedGeneration: 1,
	}
	const hash = "7d9c8b6f5"
	var template map[string]any
	raw, err := json.Marshal(ds.Spec.Template)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &template); err != nil {
		return err
	}
	template["$patch"] = "replace"
	data, err := json.Marshal(map[string]any{"spec": map[string]any{"template": template}})
	if err != nil {
		return err
	}
	owner := []metav1.OwnerReference{*metav1.NewControllerRef(ds, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))}
	revision := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Namespace: ds.Namespace, Name: ds.Name + "-" + hash, Labels: map[string]string{"app.kubernetes.io/name": ds.Name, appsv1.ControllerRevisionHashLabelKey: hash}, OwnerReferences: owner, CreationTimestamp: made},
		Data:       runtime.RawExtension{Raw: data}, Revision: 1,
	}
	separator := `{"apiVersion":"v1","items":[`
	write := func(apiVersion, kind string, o any) error {
		raw, err := json.Marshal(o)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w, "%s\n{\"apiVersion\":%q,\"kind\":%q,%s", separator, apiVersion, kind, raw[1:])
		separator = ","
		return err
	}
	if err := write("apps/v1", "DaemonSet", ds); err != nil {
		return err
	}
	if err := write("apps/v1", "ControllerRevision", revision); err != nil {
		return err
	}
	for i := range nodes {
		n := node(size.Node(i), i)
		n.UID, n.CreationTimestamp = uid("node", i), made
		if err := write("v1", "Node", n); err != nil {
			return err
		}
	}
	for i := range nodes {
		p := podOf(ds, size.Node(i), hash, "v1.9.0", i)
		p.UID, p.CreationTimestamp = uid("pod", i), metav1.NewTime(p.Status.StartTime.Add(-time.Second))
		p.Status.Phase = corev1.PodRunning
		if err := write("v1", "Pod", p); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, "],\"kind\":\"List\"}\n")
	return err
}
