package source_test

import (
	"os"
	"syscall"
)

// memoryOf returns the peak memory of a process in bytes.
func memoryOf(s *os.ProcessState) int64 { return s.SysUsage().(*syscall.Rusage).Maxrss * 1024 }
