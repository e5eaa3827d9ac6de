package controller

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/kubectl-ds/kubectl-ds/test/oracle/controller/wire"
)

// world is the API server during one sync. It records every write.
type world struct {
	ds        *appsv1.DaemonSet
	pods      cache.Store
	revisions cache.Store

	refuse   bool // reject creates and deletes of pods
	lock     sync.Mutex
	run      wire.Run
	writes   int  // the latest resource version
	conflict bool // an update of an older version was rejected
}

func (w *world) react(action clienttesting.Action) (handled bool, result runtime.Object, err error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	what := action.GetVerb() + " " + action.GetResource().Resource
	if s := action.GetSubresource(); s != "" {
		what += "/" + s
	}
	if w.refuse && (what == "create pods" || what == "delete pods") {
		return true, nil, apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New("the oracle was asked to refuse it"))
	}
	switch what {
	case "get daemonsets":
		return true, w.ds.DeepCopy(), nil
	case "update daemonsets/status":
		result, err = w.writeStatus(action.(clienttesting.UpdateAction).GetObject().(*appsv1.DaemonSet))
	case "create pods":
		result, err = w.createPod(action.(clienttesting.CreateAction).GetObject().(*corev1.Pod))
	case "delete pods":
		w.run.Deletes = append(w.run.Deletes, action.(clienttesting.DeleteAction).GetName())
	case "update pods": // relabels, up to v1.22
		result, err = w.updatePod(action.(clienttesting.UpdateAction).GetObject().(*corev1.Pod))
	case "patch pods":
		result, err = w.patchPod(action.(clienttesting.PatchAction))
	case "get controllerrevisions":
		result, err = w.revision(action.(clienttesting.GetAction).GetName())
	case "create controllerrevisions":
		result, err = w.createRevision(action.(clienttesting.CreateAction).GetObject().(*appsv1.ControllerRevision))
	case "update controllerrevisions":
		result, err = w.updateRevision(action.(clienttesting.UpdateAction).GetObject().(*appsv1.ControllerRevision))
	case "patch controllerrevisions":
		result, err = w.patchRevision(action.(clienttesting.PatchAction))
	case "delete controllerrevisions":
		err = w.deleteRevision(action.(clienttesting.DeleteAction).GetName())
	default:
		w.run.Unforeseen = append(w.run.Unforeseen, what)
		err = fmt.Errorf("%s: not foreseen", what)
	}
	return true, result, err
}

func (w *world) writeStatus(ds *appsv1.DaemonSet) (*appsv1.DaemonSet, error) {
	s := ds.Status
	w.run.Status = &wire.Status{
		Desired: int(s.DesiredNumberScheduled), Current: int(s.CurrentNumberScheduled), Misscheduled: int(s.NumberMisscheduled),
		Ready: int(s.NumberReady), Updated: int(s.UpdatedNumberScheduled), Available: int(s.NumberAvailable), Unavailable: int(s.NumberUnavailable),
		ObservedGeneration: s.ObservedGeneration,
	}
	after := ds.DeepCopy()
	w.written(after)
	return after, nil
}

func (w *world) createPod(p *corev1.Pod) (*corev1.Pod, error) {
	terms := p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	w.run.Creates = append(w.run.Creates, wire.Create{
		Node:       terms[0].MatchFields[0].Values[0],
		Hash:       p.Labels[appsv1.DefaultDaemonSetUniqueLabelKey],
		Generation: p.Labels["pod-template-generation"],
	})
	made := p.DeepCopy()
	made.Name = fmt.Sprintf("%s%d", p.GenerateName, len(w.run.Creates))
	w.written(made)
	return made, nil
}

// patchPod records the changes of owner and hash in a patch.
func (w *world) patchPod(a clienttesting.PatchAction) (*corev1.Pod, error) {
	before, err := w.pod(a.GetName())
	if err != nil {
		return nil, err
	}
	after := &corev1.Pod{}
	if err := patch(before, after, a.GetPatch(), corev1.Pod{}); err != nil {
		return nil, err
	}
	after.Status = before.Status // JSON would cut shifted times to seconds
	return w.writePod(before, after)
}

func (w *world) updatePod(after *corev1.Pod) (*corev1.Pod, error) {
	before, err := w.pod(after.Name)
	if err != nil {
		return nil, err
	}
	if err := w.refuseOlder(corev1.Resource("pods"), before, after); err != nil {
		return nil, err
	}
	return w.writePod(before, after.DeepCopy())
}

// refuseOlder rejects updates of an older version of the object, as the API server does.
func (w *world) refuseOlder(resource schema.GroupResource, present, update metav1.Object) error {
	if update.GetResourceVersion() == present.GetResourceVersion() {
		return nil
	}
	w.conflict = true
	return apierrors.NewConflict(resource, update.GetName(), errors.New("it was written since"))
}

// written gives an object the next resource version.
func (w *world) written(o metav1.Object) {
	w.writes++
	o.SetResourceVersion(strconv.Itoa(w.writes))
}

// tookConflict reports whether an update was rejected since the last call.
func (w *world) tookConflict() bool {
	w.lock.Lock()
	defer w.lock.Unlock()
	took := w.conflict
	w.conflict = false
	return took
}

func (w *world) pod(name string) (*corev1.Pod, error) {
	o, exists, err := w.pods.GetByKey(w.ds.Namespace + "/" + name)
	if err != nil || !exists {
		return nil, apierrors.NewNotFound(corev1.Resource("pods"), name)
	}
	return o.(*corev1.Pod), nil
}

func (w *world) writePod(before, after *corev1.Pod) (*corev1.Pod, error) {
	switch w.changeOfOwner(before, after) {
	case adopted:
		w.run.AdoptedPods = append(w.run.AdoptedPods, after.Name)
	case released:
		w.run.ReleasedPods = append(w.run.ReleasedPods, after.Name)
	default:
		w.run.RelabelledTo[after.Name] = after.Labels[appsv1.DefaultDaemonSetUniqueLabelKey]
	}
	w.written(after)
	return after.DeepCopy(), w.pods.Update(after)
}

func (w *world) revision(name string) (*appsv1.ControllerRevision, error) {
	o, exists, err := w.revisions.GetByKey(w.ds.Namespace + "/" + name)
	if err != nil || !exists {
		return nil, apierrors.NewNotFound(appsv1.Resource("controllerrevisions"), name)
	}
	return o.(*appsv1.ControllerRevision).DeepCopy(), nil
}

func (w *world) createRevision(r *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
	if _, err := w.revision(r.Name); err == nil {
		return nil, apierrors.NewAlreadyExists(appsv1.Resource("controllerrevisions"), r.Name)
	}
	w.run.NewRevisions = append(w.run.NewRevisions, revisionOf(r))
	made := r.DeepCopy()
	w.written(made)
	return made.DeepCopy(), w.revisions.Add(made)
}

func (w *world) updateRevision(r *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
	before, err := w.revision(r.Name)
	if err != nil {
		return nil, err
	}
	if err := w.refuseOlder(appsv1.Resource("controllerrevisions"), before, r); err != nil {
		return nil, err
	}
	w.run.SetRevisions = append(w.run.SetRevisions, revisionOf(r))
	after := r.DeepCopy()
	w.written(after)
	return after.DeepCopy(), w.revisions.Update(after)
}

func (w *world) patchRevision(a clienttesting.PatchAction) (*appsv1.ControllerRevision, error) {
	before, err := w.revision(a.GetName())
	if err != nil {
		return nil, err
	}
	after := &appsv1.ControllerRevision{}
	if err := patch(before, after, a.GetPatch(), appsv1.ControllerRevision{}); err != nil {
		return nil, err
	}
	switch w.changeOfOwner(before, after) {
	case adopted:
		w.run.AdoptedRevs = append(w.run.AdoptedRevs, after.Name)
	case released:
		w.run.ReleasedRevs = append(w.run.ReleasedRevs, after.Name)
	default:
		w.run.Unforeseen = append(w.run.Unforeseen, "patch controllerrevisions "+string(a.GetPatch()))
	}
	w.written(after)
	return after.DeepCopy(), w.revisions.Update(after)
}

func (w *world) deleteRevision(name string) error {
	r, err := w.revision(name)
	if err != nil {
		return err
	}
	w.run.Removed = append(w.run.Removed, name)
	return w.revisions.Delete(r)
}

func revisionOf(r *appsv1.ControllerRevision) wire.Revision {
	return wire.Revision{Name: r.Name, Hash: r.Labels[appsv1.DefaultDaemonSetUniqueLabelKey], Number: r.Revision}
}

type ownerChange int

const (
	sameOwner ownerChange = iota
	adopted
	released
)

func (w *world) changeOfOwner(before, after metav1.Object) ownerChange {
	was, is := w.owns(before), w.owns(after)
	switch {
	case !was && is:
		return adopted
	case was && !is:
		return released
	}
	return sameOwner
}

func (w *world) owns(o metav1.Object) bool {
	ref := metav1.GetControllerOf(o)
	return ref != nil && ref.UID == w.ds.UID
}

// patch applies a strategic merge patch, or a merge patch of labels, which is the same for maps.
func patch(before, after any, change []byte, dataStruct any) error {
	original, err := json.Marshal(before)
	if err != nil {
		return err
	}
	patched, err := strategicpatch.StrategicMergePatch(original, change, dataStruct)
	if err != nil {
		return err
	}
	return json.Unmarshal(patched, after)
}
