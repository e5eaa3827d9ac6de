//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/large"
	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// grows is the maximum ratio of CPU time for ten times as many nodes.
const grows = 12

// aTenth is a pattern for a tenth of the nodes of large.Dump, at any size.
const aTenth = "ip-10-*7.*"

// growth measures each command on recorded snapshots of growing clusters. It returns an error if
// one uses more than grows times as much CPU for ten times as many nodes.
func growth(ctx context.Context, sizes []int) (err error) {
	plugin, err := stage.BuildPlugin(ctx)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "kubectl-ds-growth-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	size := large.Size{Namespaces: 1}
	of := []string{"-n", size.Namespace(0), size.DaemonSet(0)}
	commands := [][]string{
		append([]string{"explain"}, of...), append([]string{"explain", "--node", size.Node(4)}, of...), {"explain", "-A"},
		append([]string{"plan-rollout"}, of...), append([]string{"plan-rollout", "--restart"}, of...),
		append([]string{"plan-rollout", "--remove-nodes", aTenth}, of...), append([]string{"plan-rollout", "--node-down", aTenth}, of...),
		append([]string{"history"}, of...), append([]string{"history", "--undo", "1"}, of...), append([]string{"snapshot"}, of...), append([]string{"snapshot", "--redact"}, of...),
	}
	files := make([]string, len(sizes))
	for k, nodes := range sizes {
		if files[k], err = recorded(ctx, filepath.Join(plugin, "kubectl-ds"), folder, nodes, of); err != nil {
			return err
		}
	}
	var missed []string
	for _, args := range commands {
		for k := range sizes[1:] {
			took, err := pairs(ctx, filepath.Join(plugin, "kubectl-ds"), args, files[k:k+2], roundsOf(sizes[k+1]))
			if err != nil {
				return err
			}
			by, most := ratio(took[1].cpu, took[0].cpu), grows*float64(sizes[k+1])/float64(10*sizes[k])
			row := fmt.Sprintf("%7d to %7d nodes  %-78s %5.2f to %5.2f s  %4.0f to %4.0f MB  %.1f of %.1f times as much", sizes[k], sizes[k+1], strings.Join(args, " "),
				took[0].cpu.Seconds(), took[1].cpu.Seconds(), mb(took[0].memory), mb(took[1].memory), by, most)
			if by > most {
				missed = append(missed, row)
				row += "  MISSED"
			}
			fmt.Println(row)
		}
	}
	if len(missed) > 0 {
		return errors.New("grows faster than the cluster:\n" + strings.Join(missed, "\n"))
	}
	return nil
}

// pairs returns the median costs of a command for two files. The runs alternate, because the load
// of the machine changes within minutes.
func pairs(ctx context.Context, program string, args, files []string, rounds int) ([2]cost, error) {
	var runs [2][]cost
	for range rounds {
		for i, file := range files {
			cpu, memory, err := costOf(ctx, program, append(slices.Clone(args), "--from", file, "--max-input", "16Gi"), nil)
			if err != nil {
				return [2]cost{}, err
			}
			runs[i] = append(runs[i], cost{cpu: cpu, memory: memory})
		}
	}
	return [2]cost{median(runs[0]), median(runs[1])}, nil
}

// roundsOf returns the number of runs for a number of nodes. Short runs vary more, so fewer nodes
// need more runs.
func roundsOf(nodes int) int {
	const some, fewer = 7, 3
	if nodes > 10_000 {
		return fewer
	}
	return some
}

// recorded returns the file of a recorded snapshot of a cluster with a number of nodes.
func recorded(ctx context.Context, program, folder string, nodes int, of []string) (string, error) {
	dump, file := filepath.Join(folder, "dump.json"), filepath.Join(folder, fmt.Sprintf("snapshot-%d.json", nodes))
	if err := large.Dump(dump, nodes); err != nil {
		return "", err
	}
	out, err := os.Create(file)
	if err != nil {
		return "", err
	}
	defer out.Close()
	_, _, err = costOf(ctx, program, append([]string{"snapshot", "--from", dump, "--max-input", "16Gi"}, of...), out)
	return file, errors.Join(err, os.Remove(dump))
}

// costOf returns the CPU time and the maximum memory of a command.
func costOf(ctx context.Context, program string, args []string, out *os.File) (time.Duration, int64, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if out != nil {
		cmd.Stdout = out
	}
	if err := cmd.Run(); err != nil {
		return 0, 0, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	s := cmd.ProcessState
	return s.UserTime() + s.SystemTime(), s.SysUsage().(*syscall.Rusage).Maxrss * 1024, nil
}
