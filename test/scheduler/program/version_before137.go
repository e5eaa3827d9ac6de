//go:build before137

package main

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"github.com/kubectl-ds/kubectl-ds/test/scheduler/wire"
)

type (
	cycleState = *framework.CycleState

	// failed is the error of SchedulePod if no node fits.
	failed struct{ nodes framework.NodeToStatusMap }
)

// setGates does nothing: before v1.32 preemption is synchronous.
func setGates() error { return nil }

func (c *cluster) filter(ctx context.Context, pod *corev1.Pod, node string) (verdict, error) {
	_, err := c.SchedulePod(ctx, c.Framework, c.cycle, pod)
	var no *framework.FitError
	if !errors.As(err, &no) {
		return verdict{fits: err == nil}, err
	}
	c.nodes = no.Diagnosis.NodeToStatusMap
	status, asked := c.nodes[node]
	if !asked { // a PreFilter plugin excluded the node; in these states only this one does
		return verdict{plugin: names.NodeAffinity}, nil
	}
	return verdict{plugin: status.Plugin(), reasons: status.Reasons(), resolvable: status.Code() == framework.Unschedulable}, nil
}

func (c *cluster) victims(ctx context.Context, pod *corev1.Pod, node *corev1.Node, pods []*corev1.Pod, budgets []*policyv1.PodDisruptionBudget) (wire.Victims, error) {
	args := &config.DefaultPreemptionArgs{MinCandidateNodesPercentage: 10, MinCandidateNodesAbsolute: 100}
	plugin, err := defaultpreemption.New(ctx, args, c.Framework, feature.Features{EnablePodDisruptionConditions: true})
	if err != nil {
		return wire.Victims{}, err
	}
	of, ok := plugin.(preemption.Interface)
	if !ok {
		return wire.Victims{}, fmt.Errorf("%T selects no victims", plugin)
	}
	info := framework.NewNodeInfo(pods...)
	info.SetNode(node)
	if ok, _ := of.PodEligibleToPreemptOthers(pod, c.nodes[pod.Status.NominatedNodeName]); !ok {
		return wire.Victims{}, nil
	}
	evaluator := preemption.Evaluator{PluginName: names.DefaultPreemption, Handler: c.Framework, State: c.cycle, Interface: of}
	found, _, err := evaluator.DryRunPreemption(ctx, pod, []*framework.NodeInfo{info}, budgets, 0, 1)
	if err != nil || len(found) == 0 {
		return wire.Victims{}, err
	}
	return victimsOf(found[0].Victims().Pods, found[0].Victims().NumPDBViolations), nil
}

func (c *cluster) postFilter(ctx context.Context, pod *corev1.Pod, node string) (nominated bool, said string) {
	result, status := c.RunPostFilterPlugins(ctx, c.cycle, pod, c.nodes)
	return result != nil && result.NominatingInfo != nil && result.NominatedNodeName == node, fmt.Sprint(status.Code(), ": ", status.Message())
}

func podsOf(info *framework.NodeInfo) (out []*corev1.Pod) {
	for _, p := range info.Pods {
		out = append(out, p.Pod)
	}
	return out
}
