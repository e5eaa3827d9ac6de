//go:build unix && !linux

package stage

import "syscall"

// childAttributes gives a child its own process group, so that a Ctrl-C at the terminal does not
// reach it before this process. Only Linux can also kill the child when this process dies.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
