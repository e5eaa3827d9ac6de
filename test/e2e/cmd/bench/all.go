//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// all runs all measurements, each on its own stage if it needs one, and returns an error with
// everything that missed its limit.
func (o options) all(ctx context.Context) error {
	on := func(size, only string, link bool) func(context.Context) error {
		return func(ctx context.Context) error {
			of := o
			of.size, of.only, of.link = size, only, link
			return of.run(ctx)
		}
	}
	parts := []struct {
		name string
		run  func(context.Context) error
	}{
		{"5,000 nodes", on("5000", "", false)},
		{"15,000 nodes", on("15000", "", false)},
		{"15,000 nodes through a link", on("15000", "^(explain|plan-rollout --restart)$", true)},
		{"a dump of 15,000 nodes", func(ctx context.Context) error { return parse(ctx, 15_000, parsed) }},
		{"a sync", besideController},
		{"recorded snapshots", func(ctx context.Context) error { return growth(ctx, []int{1000, 10_000, 100_000}) }},
		{"--watch", ofSize(watch, "5000")},
		{"every way of making a list", ofSize(agree, "5000")},
	}
	var missed []error
	var table bytes.Buffer
	for _, p := range parts {
		fmt.Printf("\n# %s\n\n", p.name)
		began := time.Now()
		err := p.run(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		verdict := "holds"
		if err != nil {
			fmt.Println(err)
			verdict, missed = "MISSED", append(missed, fmt.Errorf("%s: %w", p.name, err))
		}
		fmt.Fprintf(&table, "%-30s %-8s %6.0f s\n", p.name, verdict, time.Since(began).Seconds())
	}
	fmt.Printf("\n%s", table.String())
	return errors.Join(missed...)
}

// besideController compares the model's sync with that of the real controller.
func besideController(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "Sync$", ".")
	cmd.Dir, cmd.Stdout, cmd.Stderr = filepath.Join("..", "oracle"), os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("make bench ONLY=sync: %w", err)
	}
	return nil
}

// before is the commit to compare history with. Half of its cost for the server is required.
const before = "e3221af"

// buildBefore builds the plugin of that commit into a folder.
func buildBefore(ctx context.Context, folder string) (program string, err error) {
	tree := filepath.Join(folder, "tree")
	if err := os.Mkdir(tree, 0o755); err != nil {
		return "", err
	}
	root := filepath.Join("..", "..")
	archive, err := exec.CommandContext(ctx, "git", "-C", root, "archive", before).Output()
	if err != nil {
		return "", fmt.Errorf("commit %s, which history is compared with: %w", before, err)
	}
	unpack := exec.CommandContext(ctx, "tar", "-x", "-C", tree)
	unpack.Stdin = bytes.NewReader(archive)
	if err := unpack.Run(); err != nil {
		return "", err
	}
	program = filepath.Join(folder, "before")
	return program, stage.Build(ctx, program, tree, "./cmd/kubectl-ds")
}
