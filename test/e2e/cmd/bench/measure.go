//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
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
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", b.floor, "./cmd/floor").CombinedOutput(); err != nil {
		return fmt.Errorf("build the floor: %w\n%s", err, out)
	}
	c, err := b.size.Start(ctx, say)
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

// row is a command that is measured, with what is asked of it. A limit of 0 is none.
type row struct {
	name    string
	args    []string // of kubectl ds
	against []command
	floor   []string // paths that the floor asks for; nil: those of the command
	pairs   int

	cpu, bytes, server, etcd, worst float64 // times the floor's
	memory                          int64   // MB
	requests                        int
	kilobytes                       int64
}

func (b *bench) rows(ctx context.Context) error {
	namespace, name := b.size.Namespace(0), b.size.DaemonSet(0)
	kubectl := func(args ...string) command { return command{filepath.Join(b.runner.stage.BinDir, "kubectl"), args} }
	of := []string{"-n", namespace, name}
	memory := int64(110)
	if b.size.Nodes > 5000 {
		memory = 200
	}
	var agents []string
	for i := range b.size.Namespaces {
		agents = append(agents, "/api/v1/namespaces/"+b.size.Namespace(i)+"/pods?limit=500")
	}
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
		{name: "history", args: append([]string{"history"}, of...), against: []command{kubectl("rollout", "history", "daemonset", "-n", namespace, name)}},
		{name: "explain --node", args: append([]string{"explain", "--node", b.size.Node(4)}, of...), against: []command{kubectl("get", "node", b.size.Node(4))}, requests: 10, kilobytes: 300},
	}
	for i := range rows { // what does the same job, at least in part
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
			cpu: 0.75, server: 1.05, etcd: 1.05, worst: 1.5, memory: 250,
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

// row measures a row, prints it, and notes what it misses.
func (b *bench) row(ctx context.Context, r *row) error {
	ours := command{b.plugin, r.args}
	counted, err := b.runner.counted(ctx, ours)
	if err != nil {
		return err
	}
	if r.floor == nil {
		r.floor = counted.paths
	}
	floor := command{b.floor, r.floor}
	countedFloor, err := b.runner.counted(ctx, floor)
	if err != nil {
		return err
	}
	var of, low []cost
	pairs := r.pairs
	if pairs == 0 || b.pairs < pairs {
		pairs = b.pairs
	}
	through := b.runner
	if b.link {
		l, err := newLink(b.runner.stage, longTrip, thin)
		if err != nil {
			return err
		}
		defer l.close()
		through = &runner{b.runner.stage, l.kubeconfig}
	}
	for i := range pairs {
		turn := []struct {
			c    command
			into *[]cost
		}{{ours, &of}, {floor, &low}}
		if i%2 == 1 { // neither is always the second
			slices.Reverse(turn)
		}
		for _, t := range turn {
			one, err := through.run(ctx, t.c)
			if err != nil {
				return err
			}
			*t.into = append(*t.into, one)
		}
	}
	fmt.Printf("%-28s %8s %8s %7s %9s %8s %9s %8s %7s\n", r.name, "wall", "cpu", "MB", "server", "etcd", "server MB", "requests", "MB rcvd")
	a, f := median(of), median(low)
	print := func(name string, c cost, counted cost) {
		fmt.Printf("  %-26s %8.2f %8.2f %7.0f %9.2f %8.2f %9.0f %8d %7.2f\n", name, c.wall.Seconds(), c.cpu.Seconds(), mb(c.memory), c.server.Seconds(), c.etcd.Seconds(), mb(c.serverPeak), counted.requests, mb(counted.bytes))
	}
	print("kubectl ds", a, counted)
	print("floor", f, countedFloor)
	if b.link {
		b.check(r, "wall time", ratio(a.wall, f.wall), overLink)
		return nil
	}
	for _, other := range r.against {
		c, err := b.runner.counted(ctx, other)
		if err != nil {
			return err
		}
		print(filepath.Base(other.name)+" "+strings.Join(other.args[:min(3, len(other.args))], " "), c, c)
	}
	b.check(r, "client CPU", ratio(a.cpu, f.cpu), r.cpu)
	b.check(r, "bytes", float64(counted.bytes)/float64(countedFloor.bytes), r.bytes)
	b.check(r, "API server CPU", ratio(a.server, f.server), r.server)
	if r.etcd > 0 {
		b.check(r, "API server and etcd CPU", ratio(a.server+a.etcd, f.server+f.etcd), r.etcd)
		worst := 0.0
		for _, one := range of {
			worst = max(worst, ratio(one.server+one.etcd, f.server+f.etcd))
		}
		b.check(r, "… in the worst run", worst, r.worst)
	}
	b.check(r, "peak memory, MB", mb(a.memory), float64(r.memory))
	b.check(r, "requests", float64(counted.requests), float64(r.requests))
	b.check(r, "received, KB", float64(counted.bytes)/1e3, float64(r.kilobytes))
	fmt.Println()
	return nil
}

// A link that is long and thin: how long a byte takes in one direction, how many bytes a second there are, and how many
// times as long as the floor a command may take through it.
const (
	longTrip = 40 * time.Millisecond
	thin     = 20_000_000 / 8
	overLink = 1.2
)

// check prints what came beside what is asked, where something is.
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

// median returns the median of each part.
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
	}
}
