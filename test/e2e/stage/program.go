package stage

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Program is the name of a program of the control plane.
type Program string

// Programs of a stage, in the order in which they start.
const (
	Etcd              Program = "etcd"
	APIServer         Program = "kube-apiserver"
	ControllerManager Program = "kube-controller-manager"
	Scheduler         Program = "kube-scheduler"
	Kwok              Program = "kwok"
)

// process is a running program. It leads its own process group.
type process struct {
	name    Program
	logPath string
	cmd     *exec.Cmd
	done    chan struct{} // closed when the process has ended

	mu    sync.Mutex
	asked bool  // the end was requested and is not a failure
	err   error // how it ended; set before done is closed
}

// launcher runs functions on a thread that lives as long as this process. The kernel sends the
// parent-death signal when the thread that started a child ends, so children must not be started
// from threads that the runtime may end.
var launcher = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// startProcess starts the program at path and appends its output to dir/NAME.log.
func startProcess(name Program, dir, path string, args []string) (*process, error) {
	logPath := filepath.Join(dir, string(name)+".log")
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()

	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	// A file and not a writer: the log is complete even if this process dies.
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = childAttributes()
	started := make(chan error)
	launcher() <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &process{name: name, logPath: logPath, cmd: cmd, done: make(chan struct{})}
	go func() {
		err := cmd.Wait()
		p.mu.Lock()
		p.err = err
		p.mu.Unlock()
		close(p.done)
	}()
	return p, nil
}

// failure returns nil while the process runs and after a requested end.
func (p *process) failure() error {
	select {
	case <-p.done:
	default:
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked {
		return nil
	}
	return fmt.Errorf("%s ended by itself: %v\n%s", p.name, p.err, tail(p.logPath, 25))
}

// stop ends the process, by force if it has not ended within patience.
func (p *process) stop(patience time.Duration) error {
	p.mu.Lock()
	p.asked = true
	p.mu.Unlock()
	p.signal(syscall.SIGTERM)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		p.signal(syscall.SIGKILL)
	}
	timer.Reset(10 * time.Second)
	select {
	case <-p.done:
		return nil
	case <-timer.C:
		return fmt.Errorf("%s (process %d) does not end", p.name, p.cmd.Process.Pid)
	}
}

// signal sends a signal to the process group. It is not an error if the group is gone.
func (p *process) signal(s syscall.Signal) {
	select {
	case <-p.done:
		return // its number may have been reused
	default:
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, s)
}

// tail returns the last lines of a log.
func tail(path string, lines int) string {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return ""
	}
	if err != nil {
		return err.Error()
	}
	all := bytes.Split(bytes.TrimRight(data, "\n"), []byte("\n"))
	return string(bytes.Join(all[max(0, len(all)-lines):], []byte("\n")))
}
