//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/large"
	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// Limits for a dump in JSON: explain relative to Python's json.load of the file, and plan-rollout
// relative to explain.
const (
	mostOfLoad    = 1.5
	mostOfExplain = 1.3
	mostOfDump    = 220 // MB

	parsed = 5 // runs of each
)

// parse measures the cost of a dump with a number of nodes. The runs alternate.
func parse(ctx context.Context, nodes, rounds int) (err error) {
	dir, err := stage.BuildPlugin(ctx)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "kubectl-ds-parse-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	dump, size := filepath.Join(folder, "dump.json"), large.Size{Namespaces: 1}
	if err := large.Dump(dump, nodes); err != nil {
		return err
	}
	of := []string{"-n", size.Namespace(0), size.DaemonSet(0), "--from", dump, "--max-input", "16Gi"}
	program := filepath.Join(dir, "kubectl-ds")
	commands := []command{
		{"python3", []string{"-c", "import json, sys; json.load(open(sys.argv[1]))", dump}},
		{program, append([]string{"explain"}, of...)},
		{program, append([]string{"plan-rollout", "--restart"}, of...)},
	}
	costs := make([][]cost, len(commands))
	for range rounds {
		for i, c := range commands {
			cpu, memory, err := costOf(ctx, c.name, c.args, nil)
			if err != nil {
				return err
			}
			costs[i] = append(costs[i], cost{cpu: cpu, memory: memory})
		}
	}
	b := &bench{}
	load, explain, plan := median(costs[0]), median(costs[1]), median(costs[2])
	for i, name := range []string{"json.load", "explain", "plan-rollout --restart"} {
		c := []cost{load, explain, plan}[i]
		fmt.Printf("%-24s %6.2f s of CPU %6.0f MB\n", name, c.cpu.Seconds(), mb(c.memory))
	}
	b.check(&row{name: "explain"}, "CPU, of json.load", ratio(explain.cpu, load.cpu), mostOfLoad)
	b.check(&row{name: "plan-rollout"}, "CPU, of explain", ratio(plan.cpu, explain.cpu), mostOfExplain)
	b.check(&row{name: "explain"}, "peak memory, MB", mb(explain.memory), mostOfDump)
	b.check(&row{name: "plan-rollout"}, "peak memory, MB", mb(plan.memory), mostOfDump)
	return b.error()
}

// error returns what was missed.
func (b *bench) error() error {
	if len(b.missed) == 0 {
		return nil
	}
	return fmt.Errorf("missed:\n  %s", strings.Join(b.missed, "\n  "))
}
