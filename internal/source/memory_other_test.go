//go:build !linux

package source_test

import "os"

// memoryOf returns 0, because the peak memory is unknown on this system.
func memoryOf(*os.ProcessState) int64 { return 0 }
