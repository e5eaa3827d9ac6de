package source

import (
	"os"
	"syscall"
)

// mostMemory returns the most memory that a process had, in bytes.
func mostMemory(s *os.ProcessState) int64 { return s.SysUsage().(*syscall.Rusage).Maxrss * 1024 }
