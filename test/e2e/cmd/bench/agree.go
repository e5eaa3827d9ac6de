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
	"regexp"
	"strings"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/large"
	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// servers are the ways in which an API server produces a list: from its cache with remembered
// pages, from its cache with every page after the first from etcd, and entirely from etcd.
var servers = [][]string{nil, {"--feature-gates=ListFromCacheSnapshot=false"}, {"--watch-cache=false"}}

// inPages are page sizes: kubectl's, odd ones, and everything at once.
var inPages = []string{"500", "333", "0"}

// agree sends the same commands to a stage through each of servers and with every page size. It
// returns an error if two answers differ.
func agree(ctx context.Context, size large.Size) error {
	dir, err := stage.BuildPlugin(ctx)
	if err != nil {
		return err
	}
	first, differ := map[string][]byte{}, []string{}
	for _, flags := range servers {
		c, err := size.Start(ctx, say, flags...)
		if err != nil {
			return err
		}
		for _, args := range questions(size) {
			for _, chunk := range inPages {
				name := fmt.Sprintf("%s, %s", strings.Join(args, " "), strings.Join(append(flags, "--chunk-size "+chunk), ", "))
				answer, err := ask(ctx, c, filepath.Join(dir, "kubectl-ds"), append(args, "--chunk-size", chunk))
				if err != nil {
					return errors.Join(err, c.Close())
				}
				before, known := first[strings.Join(args, " ")]
				switch {
				case !known:
					first[strings.Join(args, " ")] = answer
					name += ": " + fmt.Sprint(len(answer)) + " bytes"
				case bytes.Equal(before, answer):
					name += ": the same"
				default:
					differ = append(differ, name)
					name += ": DIFFERS"
				}
				fmt.Println(name)
			}
		}
		if err := c.Close(); err != nil {
			return err
		}
	}
	if len(differ) > 0 {
		return errors.New("another answer:\n" + strings.Join(differ, "\n"))
	}
	return nil
}

// questions are the commands that read.
func questions(size large.Size) [][]string {
	of := []string{"-n", size.Namespace(0), size.DaemonSet(0)}
	return [][]string{
		append([]string{"explain"}, of...), append([]string{"explain", "--node", size.Node(4)}, of...), {"explain", "-A"},
		append([]string{"plan-rollout"}, of...), append([]string{"plan-rollout", "--restart"}, of...), append([]string{"plan-rollout", "--fit", "--restart"}, of...),
		append([]string{"history"}, of...), append([]string{"history", "--undo", "1"}, of...),
	}
}

// takenAt matches the time of an answer.
var takenAt = regexp.MustCompile(`"takenAt": "([^"]*)"`)

// ask returns the JSON answer of a command without its time.
func ask(ctx context.Context, c *stage.Cluster, program string, args []string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, append(args, "-o", "json", "--request-timeout", "10m")...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.Dir + "/home", "KUBECONFIG=" + c.Kubeconfig}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	for _, at := range takenAt.FindAllSubmatch(out, -1) {
		out = bytes.ReplaceAll(out, at[1], []byte("now")) // a restart contains it too
	}
	return append(out, stderr.Bytes()...), nil
}
