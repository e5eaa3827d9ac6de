//go:build linux

// Command bench starts a stage with thousands of nodes and compares the cost of kubectl ds with
// that of kubectl and of a program that only sends the same requests (cmd/floor).
// docs/performance.md explains the numbers. Run it in test/e2e:
//
//	go run ./cmd/bench all
//	go run ./cmd/bench stage 5000
//	go run ./cmd/bench dump FILE 15000
//	go run ./cmd/bench measure -size 5000 -pairs 11 -only 'explain|history'
//	go run ./cmd/bench growth 1000 10000 100000
//	go run ./cmd/bench parse|agree|watch 5000
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/large"
	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	const usage = "usage: bench all [-pairs N] [-peers FOLDER] | bench stage [SIZE] | bench dump FILE NODES | bench growth NODES NODES... | bench parse NODES | bench agree SIZE | bench watch SIZE | bench measure [-size SIZE] [-pairs N] [-only PATTERN] [-link] [-peers FOLDER]"
	if len(args) == 0 {
		return errors.New(usage)
	}
	switch args[0] {
	case "stage":
		name := "5000"
		if len(args) > 1 {
			name = args[1]
		}
		return keep(ctx, name, args[min(2, len(args)):])
	case "dump":
		if len(args) != 3 {
			return errors.New(usage)
		}
		nodes, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		return large.Dump(args[1], nodes)
	case "growth":
		var nodes []int
		for _, arg := range args[1:] {
			n, err := strconv.Atoi(arg)
			if err != nil {
				return err
			}
			nodes = append(nodes, n)
		}
		if len(nodes) < 2 {
			return errors.New(usage)
		}
		return growth(ctx, nodes)
	case "parse":
		if len(args) != 2 {
			return errors.New(usage)
		}
		nodes, err := strconv.Atoi(args[1])
		if err != nil {
			return err
		}
		return parse(ctx, nodes, parsed)
	case "agree", "watch":
		if len(args) != 2 {
			return errors.New(usage)
		}
		return ofSize(map[string]func(context.Context, large.Size) error{"agree": agree, "watch": watch}[args[0]], args[1])(ctx)
	case "measure", "all":
		var o options
		flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
		flags.IntVar(&o.pairs, "pairs", 11, "how often each pair is run")
		flags.StringVar(&o.peers, "peers", "", "a folder with kubectl-status and kubectl-revisions, as built from source: they are measured too")
		if args[0] == "measure" {
			flags.StringVar(&o.size, "size", "5000", "the stage: 5000, 15000 or small")
			flags.StringVar(&o.only, "only", "", "which rows, as a regular expression")
			flags.StringVar(&o.plugin, "plugin", "", "a kubectl-ds to measure in place of this tree's")
			flags.BoolVar(&o.link, "link", false, "through a link of 80 ms and 20 Mbit/s: only the time is compared")
		}
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		if args[0] == "all" {
			return o.all(ctx)
		}
		return o.run(ctx)
	}
	return errors.New(usage)
}

// ofSize runs a measurement on a stage of a size.
func ofSize(run func(context.Context, large.Size) error, name string) func(context.Context) error {
	return func(ctx context.Context) error {
		size, err := sizeOf(name)
		if err != nil {
			return err
		}
		return run(ctx, size)
	}
}

func sizeOf(name string) (large.Size, error) {
	for _, s := range large.Sizes {
		if s.Name == name {
			return s, nil
		}
	}
	return large.Size{}, fmt.Errorf("no size %q", name)
}

// keep starts a stage, prints how to use it, and stops it on an interrupt.
func keep(ctx context.Context, name string, flags []string) (err error) {
	size, err := sizeOf(name)
	if err != nil {
		return err
	}
	plugin, err := stage.BuildPlugin(ctx)
	if err != nil {
		return err
	}
	c, err := size.Start(ctx, say, flags...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	fmt.Printf("# %s in %s; Ctrl-C ends the stage\nexport KUBECONFIG=%s PATH=%s:%s:$PATH\n", size.DaemonSet(0), size.Namespace(0), c.Kubeconfig, plugin, c.BinDir)
	for name, id := range c.Processes() {
		fmt.Printf("# %s is process %d\n", name, id)
	}
	<-ctx.Done()
	return nil
}

func say(format string, values ...any) { fmt.Fprintf(os.Stderr, format+"\n", values...) }
