//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/kubectl-ds/kubectl-ds/test/e2e/stage"
)

// cost is the cost of one run of a command.
type cost struct {
	wall       time.Duration
	cpu        time.Duration // of the client
	memory     int64         // maximum of the client, in bytes
	server     time.Duration // CPU of the API server during the run
	etcd       time.Duration // CPU of etcd during the run
	bytes      int64         // received over the network; only for counted runs
	requests   int           // only for counted runs
	paths      []string      // requested paths without further pages; only for counted runs
	serverPeak int64
	allocated  int64 // bytes allocated by the API server, if its garbage is collected between runs
}

// command is a program with its arguments.
type command struct {
	name string
	args []string
}

// runner runs commands on a stage.
type runner struct {
	stage *stage.Cluster
	kube  string // kubeconfig
}

// run runs a command once.
func (r *runner) run(ctx context.Context, c command) (cost, error) {
	cmd := exec.CommandContext(ctx, c.name, c.args...)
	cmd.Env = []string{"PATH=" + r.stage.BinDir + ":" + os.Getenv("PATH"), "HOME=" + r.stage.Dir + "/home", "KUBECONFIG=" + r.kube}
	// Its output is discarded: a program starts with as much memory as the one that starts it.
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	processes := r.stage.Processes()
	server, etcd := cpuOf(processes[stage.APIServer]), cpuOf(processes[stage.Etcd])
	resetPeak(processes[stage.APIServer])
	began := time.Now()
	err := cmd.Run()
	out := cost{wall: time.Since(began)}
	if err != nil {
		return out, fmt.Errorf("%s %s: %w\n%s", c.name, strings.Join(c.args, " "), err, stderr.String())
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	out.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	out.memory = usage.Maxrss * 1024
	out.server, out.etcd = cpuOf(processes[stage.APIServer])-server, cpuOf(processes[stage.Etcd])-etcd
	out.serverPeak = peakOf(processes[stage.APIServer])
	return out, nil
}

// collect makes the API server collect its garbage, and returns the number of bytes allocated since
// it started.
func (r *runner) collect(ctx context.Context) (int64, error) {
	raw, err := r.stage.Client.Discovery().RESTClient().Get().AbsPath("/debug/pprof/heap").Param("gc", "1").Param("debug", "1").Do(ctx).Raw()
	if err != nil {
		return 0, fmt.Errorf("ask the API server for its heap: %w", err)
	}
	for line := range bytes.Lines(raw) {
		if n, is := strings.CutPrefix(string(line), "# TotalAlloc = "); is {
			return strconv.ParseInt(strings.TrimSpace(n), 10, 64)
		}
	}
	return 0, errors.New("the API server's heap does not say what was allocated")
}

// counted runs a command once through a proxy that counts bytes, and finds its requests in the
// audit log.
func (r *runner) counted(ctx context.Context, c command) (cost, error) {
	link, err := newLink(r.stage, 0, 0)
	if err != nil {
		return cost{}, err
	}
	defer link.close()
	before, err := r.stage.AuditLog(ctx)
	if err != nil {
		return cost{}, err
	}
	through := &runner{r.stage, link.kubeconfig}
	out, err := through.run(ctx, c)
	if err != nil {
		return out, err
	}
	after, err := r.stage.AuditLog(ctx)
	if err != nil {
		return out, err
	}
	out.bytes = link.received.Load()
	for _, e := range after[len(before):] {
		if e.UserAgent == "stage" || e.User != stage.Admin {
			continue
		}
		out.requests++
		if !strings.Contains(e.URI, "continue=") {
			out.paths = append(out.paths, e.URI)
		}
	}
	return out, nil
}

// ticks is the number of ticks of a process per second, which is 100 on every Linux machine.
const ticks = 100

// cpuOf returns the CPU time of a process.
func cpuOf(process int) time.Duration {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(raw), ") ")
	fields := strings.Fields(after)
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * time.Second / ticks
}

// resetPeak resets the value of peakOf.
func resetPeak(process int) {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", process), []byte("5"), 0)
}

// peakOf returns the maximum memory of a process since resetPeak, in bytes.
func peakOf(process int) int64 {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", process))
	for line := range strings.Lines(string(raw)) {
		if rest, is := strings.CutPrefix(line, "VmHWM:"); is {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n * 1024
		}
	}
	return 0
}
