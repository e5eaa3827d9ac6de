//go:build linux

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/large"
	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

type options struct {
	size, only, plugin string
	pairs              int
	link               bool
	peers              string
}

// bench is a run of measurements.
type bench struct {
	options
	size   large.Size
	only   *regexp.Regexp
	runner *runner
	plugin string
	floor  string
	before string // the plugin of an earlier commit; empty if no row is compared with it
	missed []string
}

func (o options) run(ctx context.Context) (err error) {
	b := &bench{options: o}
	if b.size, err = sizeOf(o.size); err != nil {
		return err
	}
	if b.only, err = regexp.Compile(o.only); err != nil {
		return err
	}
	if b.plugin = o.plugin; b.plugin == "" {
		dir, err := stage.BuildPlugin(ctx)
		if err != nil {
			return err
		}
		b.plugin = filepath.Join(dir, "kubectl-ds")
	}
	programs, err := os.MkdirTemp("", "kubectl-ds-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(programs)
	b.floor = filepath.Join(programs, "floor")
	if err := stage.Build(ctx, b.floor, ".", "./cmd/floor"); err != nil {
		return fmt.Errorf("build the floor: %w", err)
	}
	if b.only.MatchString("history") && !b.link {
		if b.before, err = buildBefore(ctx, programs); err != nil {
			say("history is not compared with an earlier commit: %v", err)
		}
	}
	c, err := b.size.Start(ctx, say, uncompared)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	b.runner = &runner{c, c.Kubeconfig}
	fmt.Printf("%d nodes, %d DaemonSets in %d namespaces, %d other pods\n\n", b.size.Nodes, b.size.DaemonSets, b.size.Namespaces, b.size.Inside+b.size.Outside)
	if err := b.rows(ctx); err != nil {
		return err
	}
	return b.error()
}

// uncompared disables the comparison of the API server's cache with etcd, which runs every five to
// seven minutes since v1.34. For 130,000 pods it takes 20 s of CPU during some measurement.
const uncompared = "--feature-gates=DetectCacheInconsistency=false"

// row is a measured command with its limits. A limit of 0 is none.
type row struct {
	name    string
	args    []string // of kubectl ds
	against []command
	floor   []string // paths for the floor; nil: those that the command requests
	pairs   int

	cpu, bytes, server, etcd, worst float64 // multiples of the floor's
	allocated                       float64 // multiple of what the API server allocates for the floor; its garbage is collected between runs
	memory                          int64   // MB
	requests                        int
	kilobytes                       int64

	beside         *command // runs alternately with the two
	wall, ofBeside float64  // multiple of its wall time, and of its bytes and server CPU
}

func (b *bench) rows(ctx context.Context) error {
	namespace, name := b.size.Namespace(0), b.size.DaemonSet(0)
	kubectl := func(args ...string) command { return command{filepath.Join(b.runner.stage.BinDir, "kubectl"), args} }
	of := []string{"-n", namespace, name}
	settled := []string{"-n", b.size.Namespace(1), b.size.DaemonSet(1)} // the first DaemonSet is in a rollout
	before := func(of []string) *command {
		if b.before == "" {
			return nil
		}
		return &command{b.before, append([]string{"history"}, of...)}
	}
	memory := int64(110)
	if b.size.Nodes > 5000 {
		memory = 200
	}
	var agents []string
	for i := range b.size.Namespaces {
		agents = append(agents, "/api/v1/namespaces/"+b.size.Namespace(i)+"/pods?limit=500")
	}
	kubectlNode := kubectl("get", "node", b.size.Node(4))
	rows := []row{
		{
			name: "explain", args: append([]string{"explain"}, of...), cpu: 0.75, bytes: 1.05, server: 1.05, memory: memory,
			against: []command{
				kubectl("get", "nodes", "-o", "json"),
				kubectl("get", "pods", "-n", namespace, "-l", "app.kubernetes.io/name="+name, "-o", "json"),
				kubectl("describe", "daemonset", "-n", namespace, name), kubectl("get", "nodes"), kubectl("get", "pods", "-n", namespace, "-l", "app.kubernetes.io/name="+name, "-o", "wide"),
			},
		},
		{name: "plan-rollout --restart", args: append([]string{"plan-rollout", "--restart"}, of...), cpu: 0.75, bytes: 1.05, server: 1.05, memory: memory},
		{name: "history", args: append([]string{"history"}, settled...), beside: before(settled), ofBeside: 0.5, against: []command{kubectl("rollout", "history", "daemonset", "-n", namespace, name)}},
		{name: "history of a rollout", args: append([]string{"history"}, of...), beside: before(of)}, // whole pods: the same cost
		{name: "explain --node", args: append([]string{"explain", "--node", b.size.Node(4)}, of...), beside: &kubectlNode, requests: 10, kilobytes: 300, wall: 1.5},
	}
	for i := range rows { // does the same job at least in part
		switch {
		case b.peers == "":
		case rows[i].name == "explain":
			rows[i].against = append(rows[i].against, command{filepath.Join(b.peers, "kubectl-status"), []string{"daemonset", "-n", namespace, name}})
		case rows[i].name == "history":
			rows[i].against = append(rows[i].against, command{filepath.Join(b.peers, "kubectl-revisions"), []string{"get", "daemonset", "-n", namespace, name}})
		}
	}
	if b.size.DaemonSets > 2 {
		rows = append(rows, row{
			name: "explain -A", args: []string{"explain", "-A"}, floor: append(agents, "/api/v1/nodes?limit=500"), pairs: 10,
			cpu: 0.75, server: 1.05, etcd: 1.05, worst: 1.5, allocated: 1.05, memory: 250,
		})
	}
	for _, r := range rows {
		if !b.only.MatchString(r.name) {
			continue
		}
		if err := b.row(ctx, &r); err != nil {
			return err
		}
	}
	return nil
}

// row measures a row, prints it, and records missed limits.
func (b *bench) row(ctx context.Context, r *row) error {
	commands := []command{{b.plugin, r.args}, {b.floor, r.floor}}
	if r.beside != nil && !b.link {
		commands = append(commands, *r.beside)
	}
	counted := make([]cost, len(commands))
	for i := range commands {
		if i == 1 && r.floor == nil {
			commands[i].args = counted[0].paths
		}
		var err error
		if counted[i], err = b.runner.counted(ctx, commands[i]); err != nil {
			return err
		}
	}
	costs, err := b.inTurns(ctx, commands, cmp.Or(r.pairs, b.pairs), r.allocated > 0)
	if err != nil {
		return err
	}
	fmt.Printf("%-28s %8s %8s %7s %9s %8s %9s %8s %7s\n", r.name, "wall", "cpu", "MB", "server", "etcd", "server MB", "requests", "MB rcvd")
	print := func(name string, c cost, counted cost) {
		fmt.Printf("  %-26s %8.2f %8.2f %7.0f %9.2f %8.2f %9.0f %8d %7.2f\n", name, c.wall.Seconds(), c.cpu.Seconds(), mb(c.memory), c.server.Seconds(), c.etcd.Seconds(), mb(c.serverPeak), counted.requests, mb(counted.bytes))
	}
	print("kubectl ds", median(costs[0]), counted[0])
	print("floor", median(costs[1]), counted[1])
	if b.link {
		b.check(r, "wall time", ratio(median(costs[0]).wall, median(costs[1]).wall), overLink)
		return nil
	}
	if len(commands) > 2 {
		print(named(commands[2]), median(costs[2]), counted[2])
	}
	for _, other := range r.against {
		c, err := b.runner.counted(ctx, other)
		if err != nil {
			return err
		}
		print(named(other), c, c)
	}
	b.judge(r, costs, counted)
	fmt.Println()
	return nil
}

// named returns the name of a command in a table.
func named(c command) string {
	return filepath.Base(c.name) + " " + strings.Join(c.args[:min(3, len(c.args))], " ")
}

// inTurns runs each command a number of times, alternating in changing order. If alike is true, the
// garbage of the API server is collected before each run: with 14 GB a collection costs as much as
// a run and would hit any of them. What a run allocates on the server is then counted instead.
func (b *bench) inTurns(ctx context.Context, commands []command, times int, alike bool) ([][]cost, error) {
	through := b.runner
	if b.link {
		l, err := newLink(b.runner.stage, longTrip, thin)
		if err != nil {
			return nil, err
		}
		defer l.close()
		through = &runner{b.runner.stage, l.kubeconfig}
	}
	costs := make([][]cost, len(commands))
	allocated, err := int64(0), error(nil)
	if alike {
		if allocated, err = b.runner.collect(ctx); err != nil {
			return nil, err
		}
	}
	for turn := range times {
		for k := range commands {
			i := k
			if turn%2 == 1 {
				i = len(commands) - 1 - k
			}
			one, err := through.run(ctx, commands[i])
			if err != nil {
				return nil, err
			}
			if alike {
				before := allocated
				if allocated, err = b.runner.collect(ctx); err != nil {
					return nil, err
				}
				one.allocated = allocated - before
			}
			costs[i] = append(costs[i], one)
		}
	}
	return costs, nil
}

// judge prints the limits of a row and records those that are missed.
func (b *bench) judge(r *row, costs [][]cost, counted []cost) {
	a, f := median(costs[0]), median(costs[1])
	b.check(r, "client CPU", ratio(a.cpu, f.cpu), r.cpu)
	b.check(r, "bytes", float64(counted[0].bytes)/float64(counted[1].bytes), r.bytes)
	b.check(r, "API server CPU", ratio(a.server, f.server), r.server)
	if r.etcd > 0 {
		b.check(r, "API server and etcd CPU", ratio(a.server+a.etcd, f.server+f.etcd), r.etcd)
		each := func(of []cost) (ratios []float64) {
			for _, one := range of {
				ratios = append(ratios, ratio(one.server+one.etcd, f.server+f.etcd))
			}
			return ratios
		}
		b.check(r, "… in the worst run", slices.Max(each(costs[0])), r.worst)
		fmt.Printf("    … of each run %.2f, of the floor %.2f\n", each(costs[0]), each(costs[1]))
	}
	b.check(r, "API server allocations", float64(a.allocated)/float64(max(f.allocated, 1)), r.allocated)
	b.check(r, "peak memory, MB", mb(a.memory), float64(r.memory))
	b.check(r, "requests", float64(counted[0].requests), float64(r.requests))
	b.check(r, "received, KB", float64(counted[0].bytes)/1e3, float64(r.kilobytes))
	if len(costs) > 2 {
		other := median(costs[2])
		b.check(r, "wall time, of the other", ratio(a.wall, other.wall), r.wall)
		b.check(r, "bytes, of the other", float64(counted[0].bytes)/float64(counted[2].bytes), r.ofBeside)
		b.check(r, "API server CPU, of it", ratio(a.server, other.server), r.ofBeside)
	}
}

// A slow link: latency in one direction, bytes per second, and the maximum multiple of the floor's
// time for a command.
const (
	longTrip = 40 * time.Millisecond
	thin     = 20_000_000 / 8
	overLink = 1.2
)

// check prints a result with its limit, if there is one.
func (b *bench) check(r *row, what string, is, most float64) {
	if most == 0 {
		return
	}
	verdict := "holds"
	if is > most {
		verdict = "MISSED"
		b.missed = append(b.missed, fmt.Sprintf("%s: %s is %.2f, and %.2f is asked", r.name, what, is, most))
	}
	fmt.Printf("    %-26s %8.2f of %.2f  %s\n", what, is, most, verdict)
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(max(b, time.Millisecond)) }

func mb(bytes int64) float64 { return float64(bytes) / 1e6 }

// median returns the median of each field.
func median(all []cost) cost {
	of := func(part func(cost) int64) int64 {
		var values []int64
		for _, c := range all {
			values = append(values, part(c))
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	return cost{
		wall:       time.Duration(of(func(c cost) int64 { return int64(c.wall) })),
		cpu:        time.Duration(of(func(c cost) int64 { return int64(c.cpu) })),
		server:     time.Duration(of(func(c cost) int64 { return int64(c.server) })),
		etcd:       time.Duration(of(func(c cost) int64 { return int64(c.etcd) })),
		memory:     of(func(c cost) int64 { return c.memory }),
		serverPeak: of(func(c cost) int64 { return c.serverPeak }),
		allocated:  of(func(c cost) int64 { return c.allocated }),
	}
}
