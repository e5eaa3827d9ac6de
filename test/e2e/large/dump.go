package large

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Dump writes a file like the output of "kubectl get ds,nodes,pods,controllerrevisions -o json" for
// a cluster with a number of nodes and the first DaemonSet, without managedFields.
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
	ds := daemonSet(size.Namespace(0), size.DaemonSet(0), tags[1])
	ds.UID, ds.Generation, ds.CreationTimestamp, ds.Status = "9c1d5f0e-7c1b-4c55-9a86-0f3d1f6f2b11", 2, made, size.status(0)
	ds.Status.ObservedGeneration = 2
	of := &owned{ds, [2]string{"5b6f7c8d9", "7d9c8b6f5"}}
	var revisions []*appsv1.ControllerRevision
	for i, tag := range tags {
		r, err := revisionOf(ds, int64(i+1), of.hashes[i], tag)
		if err != nil {
			return err
		}
		r.CreationTimestamp = metav1.NewTime(made.Add(time.Duration(i) * 24 * time.Hour))
		revisions = append(revisions, r)
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
	for _, r := range revisions {
		if err := write("apps/v1", "ControllerRevision", r); err != nil {
			return err
		}
	}
	for i := range nodes {
		n := node(size.Node(i), i)
		n.UID, n.CreationTimestamp = uid("node", i), made
		if err := write("v1", "Node", n); err != nil {
			return err
		}
	}
	for i := range nodes {
		p := size.podOn(0, of, i)
		p.UID, p.CreationTimestamp = uid("pod", i), metav1.NewTime(p.Status.StartTime.Add(-time.Second))
		if err := write("v1", "Pod", p); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "],\"kind\":\"List\"}\n")
	return err
}

// revisionOf returns a revision of a DaemonSet with an image tag, as the controller writes it.
func revisionOf(ds *appsv1.DaemonSet, number int64, hash, tag string) (*appsv1.ControllerRevision, error) {
	of := ds.Spec.Template.DeepCopy()
	of.Spec.Containers[0].Image = image(ds.Name, tag)
	raw, err := json.Marshal(of)
	if err != nil {
		return nil, err
	}
	var template map[string]any
	if err := json.Unmarshal(raw, &template); err != nil {
		return nil, err
	}
	template["$patch"] = "replace"
	data, err := json.Marshal(map[string]any{"spec": map[string]any{"template": template}})
	if err != nil {
		return nil, err
	}
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: ds.Namespace, Name: ds.Name + "-" + hash, Labels: map[string]string{"app.kubernetes.io/name": ds.Name, appsv1.ControllerRevisionHashLabelKey: hash},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(ds, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))},
		},
		Data: runtime.RawExtension{Raw: data}, Revision: number,
	}, nil
}
