//go:build !linux

package source

import "os"

// mostMemory is not known.
func mostMemory(*os.ProcessState) int64 { return 0 }
