//go:build unix && !linux

package stage

import "syscall"

// childAttributes gives a child its own process group, so that all of it can be signaled and a Ctrl-C at the terminal
// does not reach it before us. Only Linux can also tie the child's life to ours.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
