// Command program runs the unmodified scheduler of one Kubernetes version, with the default
// plugins: its filters, including nominated pods, and its preemption. The module file with which it
// is built selects the version; versions has one for each. go.mod is that of the newest version,
// for editors and linters.
//
// Nothing runs in the background. The informers are not started; objects are passed to the
// scheduler's event handlers, and one pod goes through SchedulePod and PostFilter once, as in a
// scheduling cycle.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/klog/v2"

	"github.com/kubectl-ds/kubectl-ds/test/scheduler/wire"
)

func main() {
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(in io.Reader, out io.Writer) error {
	if err := setGates(); err != nil {
		return err
	}
	requests, answers := json.NewDecoder(bufio.NewReader(in)), bufio.NewWriter(out)
	for {
		var r wire.Request
		switch err := requests.Decode(&r); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read a request: %w", err)
		}
		answer, err := answer(r)
		if err != nil {
			answer = wire.Answer{Failed: err.Error()}
		}
		if err := json.NewEncoder(answers).Encode(answer); err != nil {
			return fmt.Errorf("write an answer: %w", err)
		}
		if err := answers.Flush(); err != nil {
			return fmt.Errorf("write an answer: %w", err)
		}
	}
}

func answer(r wire.Request) (wire.Answer, error) {
	var s state
	if err := json.Unmarshal(r.State, &s); err != nil {
		return wire.Answer{}, fmt.Errorf("read a state: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c, err := newCluster(ctx, &s)
	if err != nil {
		return wire.Answer{}, err
	}
	v, err := c.filter(ctx, s.Pod, s.Node.Name)
	if err != nil || v.fits {
		return wire.Answer{Fits: v.fits}, err
	}
	a := wire.Answer{Plugin: v.plugin, Reasons: slices.Sorted(slices.Values(v.reasons)), Resolvable: v.resolvable}
	if a.Resolvable {
		dice := rand.New(rand.NewSource(r.Seed))
		for range r.Orders {
			dice.Shuffle(len(s.PodDisruptionBudgets), func(i, j int) {
				s.PodDisruptionBudgets[i], s.PodDisruptionBudgets[j] = s.PodDisruptionBudgets[j], s.PodDisruptionBudgets[i]
			})
			pods := c.podsOn(s.Node.Name)
			dice.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
			victims, err := c.victims(ctx, s.Pod, s.Node, pods, pointers(s.PodDisruptionBudgets))
			if err != nil {
				return wire.Answer{}, err
			}
			a.Victims = append(a.Victims, victims)
		}
	}
	a.Nominated, a.PostFilter = c.postFilter(ctx, s.Pod, s.Node.Name)
	return a, nil
}

func pointers(budgets []policyv1.PodDisruptionBudget) []*policyv1.PodDisruptionBudget {
	out := make([]*policyv1.PodDisruptionBudget, len(budgets))
	for i := range budgets {
		out[i] = &budgets[i]
	}
	return out
}

func victimsOf(pods []*corev1.Pod, violations int64) wire.Victims {
	v := wire.Victims{Violations: int(violations)}
	for _, p := range pods {
		v.Pods = append(v.Pods, p.Namespace+"/"+p.Name)
	}
	slices.Sort(v.Pods)
	return v
}
