package stage

import "syscall"

// childAttributes gives a child its own process group, so that all of it can be signaled and a Ctrl-C at the terminal
// does not reach it before us, and makes the kernel kill it when this process dies in any way.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
