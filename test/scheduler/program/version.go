//go:build !before137

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"

	"github.com/kubectl-ds/kubectl-ds/test/scheduler/wire"
)

type (
	cycleState = fwk.CycleState

	// failed is the error of SchedulePod if no node fits.
	failed struct{ nodes *framework.NodeToStatus }
)

// setGates turns off asynchronous preemption, which affects only when victims are deleted.
func setGates() error {
	return utilfeature.DefaultMutableFeatureGate.SetFromMap(map[string]bool{"SchedulerAsyncPreemption": false, "SchedulerAsyncAPICalls": false})
}

func (i *informer) AddEventHandlerWithOptions(h cache.ResourceEventHandler, _ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(h)
}

func (c *cluster) filter(ctx context.Context, pod *corev1.Pod, node string) (verdict, error) {
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		return verdict{}, err
	}
	_, err = c.SchedulePod(ctx, c.Framework, c.cycle, &framework.QueuedPodInfo{PodInfo: info})
	var no *framework.FitError
	if !errors.As(err, &no) {
		return verdict{fits: err == nil}, err
	}
	c.nodes = no.Diagnosis.NodeToStatus
	status := c.nodes.Get(node)
	if status.Plugin() == "" { // a PreFilter plugin excluded the node
		return verdict{plugin: strings.Join(sets.List(no.Diagnosis.UnschedulablePlugins), " ")}, nil
	}
	return verdict{plugin: status.Plugin(), reasons: status.Reasons(), resolvable: status.Code() == fwk.Unschedulable}, nil
}

func (c *cluster) victims(ctx context.Context, pod *corev1.Pod, node *corev1.Node, pods []*corev1.Pod, budgets []*policyv1.PodDisruptionBudget) (wire.Victims, error) {
	args := &config.DefaultPreemptionArgs{MinCandidateNodesPercentage: 10, MinCandidateNodesAbsolute: 100}
	plugin, err := defaultpreemption.New(ctx, args, c.Framework, feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate))
	if err != nil {
		return wire.Victims{}, err
	}
	info := framework.NewNodeInfo(pods...)
	info.SetNode(node)
	if ok, _ := plugin.PodEligibleToPreemptOthers(ctx, pod, c.nodes.Get(pod.Status.NominatedNodeName)); !ok {
		return wire.Victims{}, nil
	}
	found, _, err := plugin.Evaluator.DryRunPreemption(ctx, c.cycle, pod, []fwk.NodeInfo{info}, budgets, 0, 1)
	if err != nil || len(found) == 0 {
		return wire.Victims{}, err
	}
	return victimsOf(found[0].Victims().Pods, found[0].Victims().NumPDBViolations), nil
}

func (c *cluster) postFilter(ctx context.Context, pod *corev1.Pod, node string) (nominated bool, said string) {
	result, status := c.RunPostFilterPlugins(ctx, c.cycle, pod, c.nodes)
	return result != nil && result.NominatingInfo != nil && result.NominatedNodeName == node, fmt.Sprint(status.Code(), ": ", status.Message())
}

func podsOf(info fwk.NodeInfo) (out []*corev1.Pod) {
	for _, p := range info.GetPods() {
		out = append(out, p.GetPod())
	}
	return out
}
